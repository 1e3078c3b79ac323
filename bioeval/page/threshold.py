"""The threshold of a page, and the table of the rates of all results at it."""

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
from bioeval.showing.numbers import printed
from bioeval.showing.printing import Shown
from bioeval.showing.rows import Node, asked_thresholds, nodes_of, value_of
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

# The results of a page by system and task, and whether they belong together.


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
        for i, node in enumerate(nodes):
            system = node.system or str(node.dataset.attrs.get("system", "")) or _UNNAMED
            nodes[i] = node._replace(system=printable(system))
        named = {x.system for x in nodes if x.result_type != COMPARISON} - {_UNNAMED}
        if len(named) == 1:
            only = next(iter(named))
            nodes = [x._replace(system=only) if x.system == _UNNAMED else x for x in nodes]
        systems = _systems(nodes)
        for i, document in enumerate(documents):
            if document.system in systems:
                documents[i] = document._replace(name="")
                continue
            # The system that the document states, the only one of the page, or the name.
            only = systems[0] if len(systems) == 1 else ""
            system = str(getattr(document.result, "system", "")) or only or document.name
            documents[i] = document._replace(system=printable(system or _UNNAMED))
        if not nodes and not documents:
            raise DataError(
                "the results hold no dataset; expected the result of a function of bioeval"
            )
        names = set[Any]()
        for node in nodes:
            name = node.system, node.task, "fold" in node.dataset.dims
            if name in names:
                raise DataError(
                    f"two results are called {node.task!r} of {node.system!r}; name the systems in "
                    "a mapping of name to result, or with --name"
                )
            names.add(name)
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
    first: dict[str, tuple[str, Text]] = {}
    for node in filter(is_evaluation, nodes):
        genuine, impostor = (
            value_of(node.dataset, f"{x}_attempts") for x in ("genuine", "impostor")
        )
        if np.isnan(genuine + impostor):
            continue
        counts = say(
            "{genuine:count} genuine and {impostor:count}", genuine=genuine, impostor=impostor
        )
        system, counts_of_first = first.setdefault(node.task, (node.system, counts))
        text: Text = str(node.dataset.attrs.get(NOT_SHARED, ""))
        if not text and counts != counts_of_first:
            text = say(
                "{a} and {b} have different attempts: {a} {of_a} impostor, {b} {of_b}",
                a=Label(system),
                b=Label(node.system),
                of_a=counts_of_first,
                of_b=counts,
            )
        if text:
            template = "{text}. Rates are of different data; bioeval compare uses the common data"
            doubts.setdefault(node.system, say(template, text=text))
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


def _refuse_other_data(results: PageResults) -> None:
    """Raise :class:`DataError` unless all results of a system are of the same scores.

    Results without a fingerprint are not checked.
    """
    # Title, system, fingerprint and exclusions. Comparisons have a fingerprint of each system, and
    # come last; they and documents state no exclusions.
    stated: list[tuple[str, str, str, set[str] | None]] = []
    compared: list[tuple[str, str, str, set[str] | None]] = []
    for node in results.nodes:
        attrs = node.dataset.attrs
        title = str(attrs.get("task", "")) or node.task.replace("_", " ")
        title = title[:1].upper() + title[1:]
        fingerprint = str(attrs.get("fingerprint", ""))
        if node.result_type == COMPARISON:
            systems, texts = node.dataset["system"].values.tolist(), fingerprint.split("; ")
            if len(systems) == len(texts):
                compared += [(title, *x, None) for x in zip(systems, texts, strict=True)]
        elif fingerprint:
            exclusions = {*exclusions_of(attrs)} if "exclude" in attrs else None
            stated.append((title, node.system, fingerprint, exclusions))
    for document in results.documents:
        if fingerprint := getattr(document.result, "fingerprint", ""):
            stated.append((document.name or "Results", document.system, fingerprint, None))
    first_of_system: dict[str, tuple[str, str, set[str]]] = {}
    for title, system, fingerprint, exclusions in [*stated, *compared]:
        first = first_of_system.setdefault(system, (title, fingerprint, exclusions or set()))
        if fingerprint != first[1] or (exclusions is not None and exclusions != first[2]):
            raise DataError(
                f"results of {system!r} do not belong on one page: {title!r} has other "
                f"scores, labels or excluded comparisons than {first[0]!r}. Make both from "
                "the same scores, or name them as two systems in a mapping of name to results"
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
        first_curves = _first_curves(curves)
        if given is not None and not curves:
            raise DataError(
                "`threshold`: no result has FAR and FRR over thresholds; expected results of "
                "verification or of open-set identification, as be.evaluate returns them"
            )
        if not curves or uncounted_thresholds(nodes, given):
            return None
        leader = next(iter(first_curves.values()))
        stated = _stated_thresholds(first_curves, nodes, given)
        opening = _opening(leader, nodes, stated.get(leader.system))
        # The curve has the threshold.
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
        rows = {curve: rows[curve] for curve in curves if curve in rows}
        return cls(leader, rows, opening, stated, given is not None)

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
        nearest = max if curve.accepts_larger else min
        tasks = (x.cells(row) for x, row in self.rows.items() if x.system == curve.system)
        next_scores = [x["threshold"].next for x in tasks if isinstance(x["threshold"], Threshold)]
        known = [x for x in next_scores if not np.isnan(x)]
        threshold = Threshold(cells["threshold"].value, next=nearest(known, default=np.nan))
        return cells | {"threshold": threshold}


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
    stated = {system: _stated(curve, nodes, given) for system, curve in first_curves.items()}
    return {system: x for system, x in stated.items() if x is not None}


def _stated(
    curve: RatesByThreshold, nodes: Sequence[Node], given: float | None
) -> PageThreshold | None:
    """Return the threshold stated for a system; None if its results have no single threshold.

    The given threshold comes first, then the thresholds of a study, of promises, of other results.
    """
    if given is not None:
        return PageThreshold(Threshold(given), repr(given), "the one given")
    for node in nodes:  # the threshold in the answer of a study of the system
        of_searches = "unenrolled_people" in node.dataset
        is_of_system = node.system == curve.system and node.result_type == THRESHOLD_STUDY
        if is_of_system and of_searches == (curve.node.task == "open_set"):
            for name in ("assured_threshold", "threshold"):
                if name in node.dataset and np.isfinite(float(node.dataset[name])):
                    study = threshold_of(node.dataset, name)
                    return PageThreshold(study, repr(study.value), of_study=True, is_chosen=True)
    of_promises = dict[float, PageThreshold]()
    of_others = dict[float, PageThreshold]()
    for node in nodes:
        if node.system != curve.system:
            continue
        # The threshold of a result; of rates over thresholds, those that were asked for.
        thresholds = asked_thresholds(node.dataset)
        if not RatesByThreshold.fits(node.dataset):
            single = value_of(node.dataset, "threshold")
            thresholds = [single] if np.isfinite(single) else []
        elif not thresholds and node.dataset.sizes["threshold"] == 1:
            thresholds = node.dataset["threshold"].values.tolist()
        for threshold in thresholds:
            why = "the threshold of these results"
            stated = PageThreshold(Threshold(threshold), repr(threshold), why)
            if node.result_type == "promise":
                of_promises[threshold] = stated
            elif node.dataset.attrs.get("chosen_on") == SAME_DATA:
                of_others[threshold] = replace(
                    stated, threshold=threshold_of(node.dataset), is_chosen=True
                )
            else:
                of_others.setdefault(threshold, stated)
    candidates = of_promises or of_others
    if len(candidates) != 1:
        return None
    ((threshold, stated),) = candidates.items()
    return stated if of_promises or curve.has(threshold) else None


def _opening(
    curve: RatesByThreshold, nodes: Sequence[Node], stated: PageThreshold | None
) -> PageThreshold:
    """Return the threshold of a page: the stated threshold, else one that the data support.

    The data support the smallest FAR target for which 30 false accepts are expected with one
    attempt of each pair of people, or else 3; without such a target, the page has the threshold of
    the equal error rate. Where the thresholds of the curve were given, the page has the loosest
    given threshold with at most this FAR.
    """
    dataset = curve.dataset
    # The smallest FAR target that the data support, its threshold, and their support in words.
    target, exact_threshold, support = np.nan, np.nan, ""
    limits = dataset.get("threshold_at_far")
    if limits is not None and limits.dims[0] == "far_target":
        thresholds = limits.values.reshape(len(limits), -1)[:, 0].tolist()  # limits at rank 1
        uncertain: list[float] = []
        for message in messages_of(dataset.attrs):
            if message.code == "target-uncertain" and message.arguments["chosen"] == "far":
                uncertain += message.arguments["targets"]
        rate = "dir_at_far" if "dir_at_far" in dataset else "frr_at_far"
        targets = sorted(zip(dataset["far_target"].values.tolist(), thresholds, strict=True))
        supported = [
            (x, threshold)
            for x, threshold in targets
            if x > 0
            and is_supported(dataset, rate, {"far_target": x})
            and np.isfinite(threshold)
            and curve.row(threshold) is not None
        ]
        certain = [x for x in supported if x[0] not in uncertain]
        if supported:
            target, exact_threshold = (certain or supported)[0]
            support = f"{'enough' if certain else 'just enough'} people or attempts"
    if stated is not None:
        rules = {x.dataset.attrs.get("threshold_rule") for x in nodes}
        if stated.of_study and str(Rule("far", (float(target),))) in rules:
            text = "The {far} target of {target:rate} is the smallest with {support}."
            return replace(stated, about_target=say(text, target=target, support=support))
        return stated

    def at(row: int, rule: str, why: Text, *, is_chosen: bool = True) -> PageThreshold:
        threshold = curve.cells(row)["threshold"]
        assert isinstance(threshold, Threshold)
        return PageThreshold(threshold, rule, why, is_chosen=is_chosen)

    if not np.isnan(target):
        rule = f"far={target!r}"
        row = curve.row(exact_threshold)
        loosest = "the loosest"
        if not curve.has(exact_threshold):
            row = curve.row_at_far(target)
            loosest = "the loosest of these results"
            if row is not None:
                rule = repr(float(curve.thresholds[row]))
        text = "{which} with {far} at most {target:rate}, the smallest target with {support}"
        if row is not None:
            return at(row, rule, say(text, which=loosest, target=target, support=support))
    eer = value_of(dataset, "eer_threshold")
    if (row := curve.row(eer)) is not None:
        which = "the threshold of the equal error rate"
        if not curve.has(eer):
            which = "the last one of these results before the equal error rate"
        return at(row, "eer", which)
    row = int(next(iter(curve.points), 0))
    return at(row, "eer", "the strictest one of these results", is_chosen=False)


def rates_table(rates: PageRates, is_of_several: bool, lines: HtmlLines) -> dict[str, Any]:
    """Return the table of the rates: a row for each system, or each task of a single system.

    The EER has a column where each row has one. Attempts and people stand below the table, or in
    columns where rows differ in them.
    """
    curves = rates.first_curves if is_of_several else [*rates.rows]
    keys: dict[str, Any] = {"system": lambda curve: curve.system} if is_of_several else {}
    if len({x.node.task for x in curves}) > 1:
        keys["task"] = lambda curve: str(curve.dataset.attrs["task"])
    has_eer = all(np.isfinite(value_of(x.dataset, "eer")) for x in curves)
    attempts, people = dict.fromkeys(curves, ""), dict.fromkeys(curves, "")
    for curve in curves:
        genuine, impostor, subjects = (
            value_of(curve.dataset, x)
            for x in ("genuine_attempts", "impostor_attempts", "subjects")
        )
        if np.isfinite(genuine + impostor):
            of_impostors = counted(int(impostor), "impostor attempts")
            attempts[curve] = f"{int(genuine):,} genuine and {of_impostors}"
        if np.isfinite(subjects):
            people[curve] = counted(int(subjects), "people")
    different = {
        heading: texts
        for heading, texts in (("attempts", attempts), ("people", people))
        if all(texts.values()) and len({*texts.values()}) > 1
    }
    rows = []
    for curve in curves:
        cells = rates.cells(curve)
        names = [escape(printable(key(curve))) for key in keys.values()]
        texts = [_text_of(cells.get(name), lines) for name in ("threshold", *RATES)]
        texts += [_text_of(cell_of(curve.dataset, "eer"), lines)] * has_eer
        texts += [escape(x[curve]) for x in different.values()]
        rows.append({"names": names, "cells": texts})
    heads = [*keys, "threshold", *(lines.write(Term(x)) for x in RATES)]
    heads += ["EER"] * has_eer + list(different)
    common = [{*x.values()} for x in (attempts, people)]
    sample = " of ".join(x for (x,) in (x for x in common if len(x) == 1) if x)
    notes: list[Text] = [f"{sample}."] * bool(sample)
    opening = rates.opening
    if is_of_several and opening.of_study:
        notes.append("Each system is at the threshold of its own study.")
        notes += [opening.about_target] if opening.about_target else []
    elif is_of_several and rates.is_given:
        notes.append("All systems are at the threshold that was given.")
    elif is_of_several and {x.system for x in rates.rows} == {*rates.stated}:
        notes.append("Each system is at the threshold of its own results.")
    elif is_of_several:
        text = (
            "Each system is at its own threshold: {leader:name} at {why}, the others at the "
            "loosest with this {far}."
        )
        notes.append(say(text, leader=rates.leader.system, why=opening.why))
    if "far_low" in rates.leader.dataset:
        text = (
            "In brackets: {level:rate} intervals at this very threshold; those of {frr} at a "
            "{far} allow for another choice of it."
        )
        level = float(rates.leader.dataset.attrs.get("confidence", 0.95))
        notes.append(say(text, level=level))
    return {"heads": heads, "rows": rows, "note": " ".join(map(lines.write, notes))}


def _text_of(cell: Quantity | Label | None, lines: HtmlLines) -> str:
    """Return a number as text whose only line break is before its interval."""
    text = "" if cell is None or isinstance(cell, Label) else lines.number("".join(printed(cell)))
    return text.replace(" %", "\u00a0%").replace(", ", ",\u00a0")
