"""The results of a page, its threshold, and the table of the rates of all results at it.

A reader of a page moves one threshold, and all tasks of all systems show their rates at it. This
file decides where the threshold is when the page opens, and what "at it" means for each result:

1. :class:`PageResults` collects the results by system, and refuses those of other scores.
2. :class:`RatesByThreshold` is the curve of a result: FAR and FRR at each threshold. The first
   system leads; in each system, the first of `_LEADING_TASKS` that it has leads.
3. :class:`PageThreshold` is where the page opens: a threshold that was given or that the results
   state, else one that the data support.
4. :class:`PageRates` follows it: all tasks of the first system are at this threshold, another
   system is at its loosest threshold with at most the same FAR, or at one that its results state.

If system ``a`` opens at 0.42 with FAR 0.10 %, and FAR of ``b`` is 0.08 % at 5.1 and 0.12 % at 5.2,
then all tasks of ``b`` are at 5.1. :func:`rates_table` is the table of these rates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError, counted, messages_of, printable
from bioeval.counting.threshold_rules import SAME_DATA, Rule
from bioeval.results.attributes import THRESHOLD_STUDY
from bioeval.results.support import is_supported
from bioeval.results.variables import TASKS as VARIABLES_OF_TASKS
from bioeval.scores.provenance import exclusions_of
from bioeval.showing.markup import HtmlLines
from bioeval.showing.nodes import Node, asked_thresholds, nodes_of, value_of
from bioeval.showing.numbers import printed
from bioeval.showing.printing import Shown
from bioeval.showing.text import (
    Label,
    Quantity,
    Rate,
    Term,
    Text,
    Threshold,
    cell_of,
    say,
    threshold_of,
)

#: The name of the system of results that name no system.
_UNNAMED = "results"

#: The type of results that are of several systems.
COMPARISON = "comparison"

#: Name of the attribute that says how a system's data differ from the other systems' data.
NOT_SHARED = "not_shared"

#: Dimensions of parts, and of statistics over parts, with the titles of their sections.
SUMMARIES = {"statistic": "Statistics", "fold": "Folds", "partition": "Partitions"}


class Document(NamedTuple):
    """A check of data, or an explained row, with the name of its system and a name of its own."""

    system: str
    name: str
    result: Any


@dataclass(frozen=True)
class PageResults:
    """The datasets and the documents of a page; each system has results of the same scores only."""

    nodes: list[Node]
    documents: list[Document]

    @classmethod
    def collected(cls, results: Any) -> PageResults:
        """Return results as nodes and documents.

        Results that name no system belong to the only system that other results name, if any.
        """
        nodes: list[Node] = []
        documents: list[Document] = []
        try:
            for given_name, result in _named_results(results, ""):
                if isinstance(result, Shown):
                    text = printable(given_name)
                    documents.append(Document(text, text, result))
                else:
                    nodes += nodes_of({given_name: result})
        except RecursionError:
            text = "`results` contains itself; expected results, or lists of them"
            raise DataError(text) from None

        # The systems of nodes.
        for i, node in enumerate(nodes):
            system = node.system or str(node.dataset.attrs.get("system", "")) or _UNNAMED
            nodes[i] = node._replace(system=printable(system))
        named = {x.system for x in nodes if x.result_type != COMPARISON} - {_UNNAMED}
        if len(named) == 1:
            only = next(iter(named))
            nodes = [x._replace(system=only) if x.system == _UNNAMED else x for x in nodes]

        # The systems of documents: a document that was given by the name of a system has no other
        # name. Else its system is the one that it states, the only one of the page, or its name.
        systems = _systems(nodes)
        for i, document in enumerate(documents):
            if document.system in systems:
                documents[i] = document._replace(name="")
                continue
            only = systems[0] if len(systems) == 1 else ""
            system = str(getattr(document.result, "system", "")) or only or document.name
            documents[i] = document._replace(system=printable(system or _UNNAMED))

        if not nodes and not documents:
            raise DataError(
                "the results hold no dataset; expected the result of a function of bioeval"
            )
        places: set[tuple[str, str, bool]] = set()
        for node in nodes:
            place = node.system, node.task, "fold" in node.dataset.dims
            if place in places:
                raise DataError(
                    f"two results are called {node.task!r} of {node.system!r}; name the systems in "
                    "a mapping of name to result, or with --name"
                )
            places.add(place)
        page_results = cls(nodes, documents)
        _refuse_other_data(page_results)
        return page_results

    @property
    def systems(self) -> list[str]:
        """The systems in their order; comparisons count only if there is nothing else."""
        return _systems(self.nodes, self.documents)

    @property
    def evaluated(self) -> list[Node]:
        return list(filter(is_evaluation, self.nodes))


def _systems(nodes: Sequence[Node], documents: Sequence[Document] = ()) -> list[str]:
    names = [x.system for x in nodes if x.result_type != COMPARISON]
    names += [x.system for x in documents]
    return list(dict.fromkeys(names or [x.system for x in nodes]))


def is_evaluation(node: Node) -> bool:
    """Whether a dataset is of a task of an evaluation, and neither of a study nor over parts."""
    is_over_parts = not SUMMARIES.keys().isdisjoint(node.dataset.dims)
    return not is_over_parts and node.task.partition("/")[0] in VARIABLES_OF_TASKS


def doubts_of_systems(nodes: list[Node]) -> list[Text]:
    """Return a sentence on each system whose attempts differ from the first system's."""
    doubts: dict[str, Text] = {}
    first_of_task: dict[str, tuple[str, Text]] = {}  # the first system, and its attempts in words
    for node in filter(is_evaluation, nodes):
        genuine = value_of(node.dataset, "genuine_attempts")
        impostor = value_of(node.dataset, "impostor_attempts")
        if np.isnan(genuine) or np.isnan(impostor):
            continue
        text = "{genuine:count} genuine and {impostor:count}"
        counts = say(text, genuine=genuine, impostor=impostor)
        first_system, first_counts = first_of_task.setdefault(node.task, (node.system, counts))
        doubt: Text = str(node.dataset.attrs.get(NOT_SHARED, ""))
        if not doubt and counts != first_counts:
            doubt = say(
                "{a} and {b} have different attempts: {a} {of_a} impostor, {b} {of_b}",
                a=Label(first_system),
                b=Label(node.system),
                of_a=first_counts,
                of_b=counts,
            )
        if doubt:
            template = "{text}. Rates are of different data; bioeval compare uses the common data"
            doubts.setdefault(node.system, say(template, text=doubt))
    return list(doubts.values())


def _named_results(results: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(results, xr.Dataset | xr.DataTree | Shown):
        yield name, results
    elif isinstance(results, list | tuple):
        for result in results:
            yield from _named_results(result, name)
    elif isinstance(results, Mapping):
        for key, result in results.items():
            yield from _named_results(result, str(key))
    else:
        raise DataError(
            f"a report got {type(results).__name__}; expected a Dataset or a DataTree of "
            "results, a check of data, a row of be.explain, or a mapping of name to these; "
            "be.report(be.evaluate(scores)) is the page of scores"
        )


class _Source(NamedTuple):
    """The scores that a result of a system was made of."""

    title: str  # of the result
    system: str
    fingerprint: str  # of scores and labels
    exclusions: set[str] | None = None  # None: the result does not state them


def _refuse_other_data(results: PageResults) -> None:
    """Raise :class:`DataError` unless all results of a system are of the same scores.

    Results without a fingerprint are not checked.
    """
    # Comparisons come last, so that an error names the result of a system as the first.
    sources: list[_Source] = []
    sources_of_comparisons: list[_Source] = []
    for node in results.nodes:
        attrs = node.dataset.attrs
        title = str(attrs.get("task", "")) or node.task.replace("_", " ")
        title = title[:1].upper() + title[1:]
        fingerprint = str(attrs.get("fingerprint", ""))
        if node.result_type == COMPARISON:
            systems = node.dataset["system"].values.tolist()
            fingerprints = fingerprint.split("; ")  # of each system
            if len(systems) == len(fingerprints):
                for system, of_system in zip(systems, fingerprints, strict=True):
                    sources_of_comparisons.append(_Source(title, system, of_system))
        elif fingerprint:
            exclusions = {*exclusions_of(attrs)} if "exclude" in attrs else None
            sources.append(_Source(title, node.system, fingerprint, exclusions))
    for document in results.documents:
        fingerprint = getattr(document.result, "fingerprint", "")
        if fingerprint:
            sources.append(_Source(document.name or "Results", document.system, fingerprint))

    first_of_system: dict[str, _Source] = {}
    for source in [*sources, *sources_of_comparisons]:
        first = first_of_system.setdefault(source.system, source)
        is_same = source.fingerprint == first.fingerprint
        if source.exclusions is not None:
            is_same = is_same and source.exclusions == (first.exclusions or set())
        if not is_same:
            raise DataError(
                f"results of {source.system!r} do not belong on one page: {source.title!r} has "
                f"other scores, labels or excluded comparisons than {first.title!r}. Make both "
                "from the same scores, or name them as two systems in a mapping of name to results"
            )


#: The rates at the threshold.
RATES = ("far", "frr")

#: The first of these tasks that a system has leads: its other tasks have the same threshold.
_LEADING_TASKS = (
    *(f"verification/{x}" for x in ("single", "multi", "visits", "claims")),
    "open_set",
)


class RatesByThreshold:
    """FAR and FRR of a result at each threshold, from the smallest threshold.

    A curve is equal to itself alone, and so is a key of its own in dictionaries.
    """

    def __init__(self, node: Node):
        self.node = node
        self.system = node.system
        self.dataset = node.dataset
        kind = node.dataset.attrs.get("kind", "distance")
        self.accepts_larger = kind == "similarity"  # at or above the threshold
        self.thresholds = node.dataset["threshold"].values.astype(float)
        self.far = node.dataset["far"].values
        self.frr = node.dataset["frr"].values

    @staticmethod
    def fits(dataset: xr.Dataset) -> bool:
        """Whether a result has FAR and FRR at each threshold."""
        return all(x in dataset and dataset[x].dims == ("threshold",) for x in ("far", "frr"))

    def row(self, threshold: float) -> int | None:
        """Return the row of the nearest threshold that is not looser; None if it is not known.

        A threshold beyond the strictest one has the row of the strictest one if all attempts are
        rejected there.
        """
        if np.isnan(threshold):
            return None
        last = len(self.thresholds) - 1
        if self.accepts_larger:
            row = int(np.searchsorted(self.thresholds, threshold, "left"))
            strictest = last
        else:
            row = int(np.searchsorted(self.thresholds, threshold, "right")) - 1
            strictest = 0
        if 0 <= row <= last:
            return row
        rejects_all = self.far[strictest] == 0 and self.frr[strictest] == 1
        return strictest if rejects_all else None

    @property
    def points(self) -> np.ndarray:
        """The rows from the strictest threshold on; of rows with the same rates, the strictest."""
        rows = np.arange(len(self.thresholds))
        rows = rows[:: -1 if self.accepts_larger else 1]
        rows = rows[np.isfinite(self.thresholds[rows])]
        far = self.far[rows]
        frr = self.frr[rows]
        has_new_rates = np.ones(len(rows), dtype=bool)
        has_new_rates[1:] = (far[1:] != far[:-1]) | (frr[1:] != frr[:-1])
        return rows[has_new_rates]

    def row_at_far(self, far: float) -> int | None:
        """Return the row of the loosest point with at most this FAR; None if all have more."""
        points = self.points
        allowed = points[self.far[points] <= far]
        return int(allowed[-1]) if len(allowed) else None

    def cells(self, row: int | None) -> dict[str, Quantity]:
        """Return the threshold and the rates of a row; NaN if the row is None.

        The rates have their intervals.
        """
        if row is None:
            return {"threshold": Threshold(np.nan), **{name: Rate(np.nan) for name in RATES}}
        dataset = self.dataset
        threshold = float(self.thresholds[row])
        next_score = np.nan
        if "threshold_next" in dataset:
            next_score = float(dataset["threshold_next"].values[row])
        cells: dict[str, Quantity] = {"threshold": Threshold(threshold, next=next_score)}
        for name in RATES:
            cell = cell_of(dataset, name, {"threshold": row, "rank": 0})
            if isinstance(cell, Rate):
                cells[name] = cell
        return cells

    def has(self, threshold: float) -> bool:
        """Whether the rates at this very threshold were counted."""
        return bool(np.isin(threshold, self.thresholds))


@dataclass(frozen=True)
class PageThreshold:
    """The threshold of a system on a page, and why it is this one."""

    threshold: Threshold
    rule: str  # a rule as studies write it
    why: Text = ""  # the end of "The rates are at the threshold ..."; empty for a study's
    of_study: bool = False  # the answer of a study names it
    about_target: Text = ""  # a sentence about the FAR target that the study was asked for
    is_chosen: bool = False  # on these data

    @staticmethod
    def from_results(results: Any, given: float | None = None) -> PageThreshold | None:
        """Return the threshold of a page: `given` unless None; None without rates at thresholds."""
        rates = PageRates.from_nodes(PageResults.collected(results).nodes, given)
        return None if rates is None else rates.opening


@dataclass(frozen=True)
class PageRates:
    """The rates of a page, at the threshold of the first system.

    All tasks of a system are at one threshold. Each other system is at its loosest threshold with
    at most the FAR of the first system, unless one is stated for it. A task whose rates were not
    counted at the threshold of its system is left out.
    """

    leader: RatesByThreshold  # the curve of the first system
    rows: Mapping[RatesByThreshold, int | None]  # of each curve; None without such a threshold
    opening: PageThreshold  # of the first system
    stated: Mapping[str, PageThreshold]  # by system, where one is stated
    is_given: bool  # whether a user gave the threshold of all systems

    @classmethod
    def from_nodes(cls, nodes: Sequence[Node], given: float | None = None) -> PageRates | None:
        """Return the rates of a page.

        None without rates over thresholds, or if a stated threshold has none: see
        :func:`uncounted_thresholds`.
        """
        curves = _curves(nodes)
        if given is not None and not curves:
            raise DataError(
                "`threshold`: no result has FAR and FRR over thresholds; expected results of "
                "verification or of open-set identification, as be.evaluate returns them"
            )
        if not curves or uncounted_thresholds(nodes, given):
            return None
        first_curves = _first_curves(curves)
        leader = next(iter(first_curves.values()))
        stated = _stated_thresholds(first_curves, nodes, given)
        opening = _opening(leader, nodes, stated.get(leader.system))
        # The curve has this very threshold: uncounted ones were refused above.
        row_of_leader = int(np.searchsorted(leader.thresholds, opening.threshold.value))

        rows: dict[RatesByThreshold, int | None] = {}
        for system, first in first_curves.items():
            if first is leader:
                row_of_first: int | None = row_of_leader
            elif system in stated:
                row_of_first = first.row(stated[system].threshold.value)
            else:
                row_of_first = first.row_at_far(float(leader.far[row_of_leader]))
            threshold = np.nan if row_of_first is None else float(first.thresholds[row_of_first])
            for curve in curves:
                if curve is first:
                    rows[curve] = row_of_first
                elif curve.system == system and curve.has(threshold):
                    rows[curve] = curve.row(threshold)
        in_order = {curve: rows[curve] for curve in curves if curve in rows}
        return cls(leader, in_order, opening, stated, given is not None)

    @property
    def first_curves(self) -> list[RatesByThreshold]:
        """The curve of each system whose threshold the other curves of the system follow."""
        first_curves = _first_curves(self.rows)
        return [curve for curve in self.rows if curve is first_curves[curve.system]]

    def cells(self, curve: RatesByThreshold) -> dict[str, Quantity]:
        """Return the threshold and the rates of a curve; all tasks print one threshold alike."""
        cells = curve.cells(self.rows[curve])
        stated = self.stated.get(curve.system)
        if stated is not None and cells["threshold"].value == stated.threshold.value:
            return cells | {"threshold": stated.threshold}
        # A threshold is printed so that it separates the scores next to it. The next score of all
        # tasks is the nearest one, which is the largest below a threshold of similarities.
        next_scores: list[float] = []
        for other, row in self.rows.items():
            if other.system == curve.system:
                next_scores.append(other.cells(row)["threshold"].next)
        nearest = max if curve.accepts_larger else min
        next_score = nearest((x for x in next_scores if not np.isnan(x)), default=np.nan)
        return cells | {"threshold": Threshold(cells["threshold"].value, next=next_score)}


def uncounted_thresholds(nodes: Sequence[Node], given: float | None) -> dict[str, Threshold]:
    """Return the thresholds stated for systems at which no rates were counted, by system."""
    first_curves = _first_curves(_curves(nodes))
    stated_thresholds = _stated_thresholds(first_curves, nodes, given)
    return {
        system: stated.threshold
        for system, stated in stated_thresholds.items()
        if not first_curves[system].has(stated.threshold.value)
    }


def _curves(nodes: Sequence[Node]) -> list[RatesByThreshold]:
    return [RatesByThreshold(x) for x in nodes if RatesByThreshold.fits(x.dataset)]


def _first_curves(curves: Iterable[RatesByThreshold]) -> dict[str, RatesByThreshold]:
    """Return, by system, the curve whose threshold the system's other curves follow."""
    by_system: dict[str, list[RatesByThreshold]] = {}
    for curve in curves:
        by_system.setdefault(curve.system, []).append(curve)
    place = {path: i for i, path in enumerate(_LEADING_TASKS)}
    return {
        system: min(own, key=lambda curve: place.get(curve.node.task, len(place)))
        for system, own in by_system.items()
    }


def _stated_thresholds(
    first_curves: Mapping[str, RatesByThreshold], nodes: Sequence[Node], given: float | None
) -> dict[str, PageThreshold]:
    """Return the thresholds of the systems whose results state a single one, by system.

    The given threshold comes first, then that of a study, of promises, of other results.
    """
    stated: dict[str, PageThreshold] = {}
    for system, curve in first_curves.items():
        threshold: PageThreshold | None
        if given is not None:
            threshold = PageThreshold(Threshold(given), repr(given), "the one given")
        else:
            own_nodes = [node for node in nodes if node.system == system]
            threshold = _threshold_of_study(curve, own_nodes)
            threshold = threshold or _threshold_of_results(curve, own_nodes)
        if threshold is not None:
            stated[system] = threshold
    return stated


def _threshold_of_study(curve: RatesByThreshold, nodes: Iterable[Node]) -> PageThreshold | None:
    """Return the threshold that the answer of a study names, for the attempts of a curve."""
    for node in nodes:
        is_of_searches = "unenrolled_people" in node.dataset
        is_of_attempts = is_of_searches == (curve.node.task == "open_set")
        if node.result_type != THRESHOLD_STUDY or not is_of_attempts:
            continue
        for name in ("assured_threshold", "threshold"):
            if name in node.dataset and np.isfinite(float(node.dataset[name])):
                study = threshold_of(node.dataset, name)
                return PageThreshold(study, repr(study.value), of_study=True, is_chosen=True)
    return None


def _threshold_of_results(curve: RatesByThreshold, nodes: Iterable[Node]) -> PageThreshold | None:
    """Return the only threshold of promises or, without any, of the other results of a system.

    None if there are several. A threshold of other results counts only if the curve has it.
    """
    of_promises: dict[float, PageThreshold] = {}
    of_others: dict[float, PageThreshold] = {}
    for node in nodes:
        for threshold in _thresholds_of(node.dataset):
            why = "the threshold of these results"
            stated = PageThreshold(Threshold(threshold), repr(threshold), why)
            if node.result_type == "promise":
                of_promises[threshold] = stated
            elif node.dataset.attrs.get("chosen_on") == SAME_DATA:
                # It comes before an equal one that was given: this result has the score next to it.
                chosen = threshold_of(node.dataset)
                of_others[threshold] = replace(stated, threshold=chosen, is_chosen=True)
            else:
                of_others.setdefault(threshold, stated)
    candidates = of_promises or of_others
    if len(candidates) != 1:
        return None
    ((threshold, only),) = candidates.items()
    return only if of_promises or curve.has(threshold) else None


def _thresholds_of(dataset: xr.Dataset) -> list[float]:
    """Return the threshold of a result or, of rates over thresholds, those that were asked for."""
    if not RatesByThreshold.fits(dataset):
        threshold = value_of(dataset, "threshold")
        return [threshold] if np.isfinite(threshold) else []
    if dataset.sizes["threshold"] == 1:
        return asked_thresholds(dataset) or dataset["threshold"].values.tolist()
    return asked_thresholds(dataset)


def _opening(
    curve: RatesByThreshold, nodes: Sequence[Node], stated: PageThreshold | None
) -> PageThreshold:
    """Return the threshold of a page: the stated threshold, else one that the data support.

    That is the loosest threshold of the smallest FAR target that the data support; without such a
    target, the threshold of the equal error rate. Where the thresholds of the curve were given, the
    page has the loosest given threshold with at most this FAR.
    """
    target = _supported_target(curve)
    if stated is not None:
        rules = {x.dataset.attrs.get("threshold_rule") for x in nodes}
        if stated.of_study and target and str(Rule("far", (float(target.far),))) in rules:
            text = "The {far} target of {target:rate} is the smallest with {support}."
            about_target = say(text, target=target.far, support=target.support)
            return replace(stated, about_target=about_target)
        return stated

    if target:
        text = "{which} with {far} at most {target:rate}, the smallest target with {support}"
        if curve.has(target.threshold):
            rule, which, row = f"far={target.far!r}", "the loosest", curve.row(target.threshold)
        else:
            which, row = "the loosest of these results", curve.row_at_far(target.far)
            rule = "" if row is None else repr(float(curve.thresholds[row]))
        if row is not None:
            why = say(text, which=which, target=target.far, support=target.support)
            return _page_threshold(curve, row, rule, why)
    eer_threshold = value_of(curve.dataset, "eer_threshold")
    row = curve.row(eer_threshold)
    if row is not None:
        which = "the threshold of the equal error rate"
        if not curve.has(eer_threshold):
            which = "the last one of these results before the equal error rate"
        return _page_threshold(curve, row, "eer", which)
    strictest = int(next(iter(curve.points), 0))
    which = "the strictest one of these results"
    return _page_threshold(curve, strictest, "eer", which, is_chosen=False)


def _page_threshold(
    curve: RatesByThreshold, row: int, rule: str, why: Text, *, is_chosen: bool = True
) -> PageThreshold:
    threshold = curve.cells(row)["threshold"]
    assert isinstance(threshold, Threshold)
    return PageThreshold(threshold, rule, why, is_chosen=is_chosen)


class _SupportedTarget(NamedTuple):
    """A FAR target that the data support."""

    far: float
    threshold: float  # the loosest with at most this FAR
    support: str  # in words


def _supported_target(curve: RatesByThreshold) -> _SupportedTarget | None:
    """Return the smallest FAR target that the data support, if there is one above 0.

    For this target, 30 false accepts are expected with one attempt of each pair of people. Without
    such a target, it is the smallest one for which 3 are expected, which a message calls uncertain.
    """
    dataset = curve.dataset
    limits = dataset.get("threshold_at_far")
    if limits is None or limits.dims[0] != "far_target":
        return None
    uncertain: list[float] = []
    for message in messages_of(dataset.attrs):
        if message.code == "target-uncertain" and message.arguments["chosen"] == "far":
            uncertain += message.arguments["targets"]

    rate = "dir_at_far" if "dir_at_far" in dataset else "frr_at_far"
    thresholds = limits.values.reshape(len(limits), -1)[:, 0].tolist()  # (targets,), at rank 1
    targets = dataset["far_target"].values.tolist()
    smallest_uncertain = None
    for far, threshold in sorted(zip(targets, thresholds, strict=True)):
        if far <= 0 or not is_supported(dataset, rate, {"far_target": far}):
            continue
        if not np.isfinite(threshold) or curve.row(threshold) is None:
            continue
        if far not in uncertain:
            return _SupportedTarget(far, threshold, "enough people or attempts")
        if smallest_uncertain is None:
            words = "just enough people or attempts"
            smallest_uncertain = _SupportedTarget(far, threshold, words)
    return smallest_uncertain


def rates_table(rates: PageRates, is_of_several: bool, lines: HtmlLines) -> dict[str, Any]:
    """Return the table of the rates: a row for each system, or each task of a single system.

    The EER has a column where each row has one. Attempts and people stand below the table, or in
    columns where rows differ in them.
    """
    curves = rates.first_curves if is_of_several else [*rates.rows]
    attempts = {curve: _attempts_in_words(curve) for curve in curves}
    people: dict[RatesByThreshold, str] = {}
    for curve in curves:
        subjects = value_of(curve.dataset, "subjects")
        people[curve] = counted(int(subjects), "people") if np.isfinite(subjects) else ""

    # The columns: names, the threshold and its rates, and what the rows do not have in common.
    has_task = len({curve.node.task for curve in curves}) > 1
    has_eer = all(np.isfinite(value_of(curve.dataset, "eer")) for curve in curves)
    heads = ["system"] if is_of_several else []
    if has_task:
        heads.append("task")
    heads += ["threshold", *(lines.write(Term(rate)) for rate in RATES)]
    if has_eer:
        heads.append("EER")
    columns_of_words: list[dict[RatesByThreshold, str]] = []
    words_in_common: list[str] = []
    for head, words in (("attempts", attempts), ("people", people)):
        distinct = {*words.values()}
        if len(distinct) == 1:
            words_in_common += (text for text in distinct if text)
        elif all(distinct):
            heads.append(head)
            columns_of_words.append(words)

    rows = []
    for curve in curves:
        names = [curve.system] if is_of_several else []
        if has_task:
            names.append(str(curve.dataset.attrs["task"]))
        cells = rates.cells(curve)
        texts = [_text_of(cells.get(name), lines) for name in ("threshold", *RATES)]
        if has_eer:
            texts.append(_text_of(cell_of(curve.dataset, "eer"), lines))
        texts += (escape(words[curve]) for words in columns_of_words)
        rows.append({"names": [escape(printable(name)) for name in names], "cells": texts})

    notes: list[Text] = []
    if words_in_common:
        notes.append(f"{' of '.join(words_in_common)}.")
    if is_of_several:
        notes += _notes_on_thresholds(rates)
    if "far_low" in rates.leader.dataset:
        text = (
            "In brackets: {level:rate} intervals at this very threshold; those of {frr} at a "
            "{far} allow for another choice of it."
        )
        level = float(rates.leader.dataset.attrs.get("confidence", 0.95))
        notes.append(say(text, level=level))
    return {"heads": heads, "rows": rows, "note": " ".join(map(lines.write, notes))}


def _attempts_in_words(curve: RatesByThreshold) -> str:
    genuine = value_of(curve.dataset, "genuine_attempts")
    impostor = value_of(curve.dataset, "impostor_attempts")
    if not np.isfinite(genuine + impostor):
        return ""
    return f"{int(genuine):,} genuine and {counted(int(impostor), 'impostor attempts')}"


def _notes_on_thresholds(rates: PageRates) -> list[Text]:
    """Return at which threshold each of several systems is."""
    opening = rates.opening
    if opening.of_study:
        notes: list[Text] = ["Each system is at the threshold of its own study."]
        return [*notes, opening.about_target] if opening.about_target else notes
    if rates.is_given:
        return ["All systems are at the threshold that was given."]
    if {curve.system for curve in rates.rows} == {*rates.stated}:
        return ["Each system is at the threshold of its own results."]
    text = (
        "Each system is at its own threshold: {leader:name} at {why}, the others at the loosest "
        "with this {far}."
    )
    return [say(text, leader=rates.leader.system, why=opening.why)]


def _text_of(cell: Quantity | Label | None, lines: HtmlLines) -> str:
    """Return a number as text whose only line break is before its interval."""
    text = "" if cell is None or isinstance(cell, Label) else lines.number("".join(printed(cell)))
    return text.replace(" %", "\u00a0%").replace(", ", ",\u00a0")
