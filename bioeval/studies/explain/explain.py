"""``be.explain`` and ``be.step_by_step``: what one row, or each row, adds to the rates."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.errors import DataError, ProtocolError, counted, received
from bioeval.base.kinds import Kind
from bioeval.counting.identification import role_of
from bioeval.counting.threshold_rules import ChosenThreshold, Rule
from bioeval.protocol.card import Protocol
from bioeval.protocol.loading import for_layout
from bioeval.protocol.tasks import OpenSet
from bioeval.results.attributes import about_attrs
from bioeval.scores.matrix import Scores
from bioeval.scores.names import in_words
from bioeval.scores.people import are_enrolled, knows_people
from bioeval.scores.provenance import Provenance
from bioeval.scores.requirements import require_scores
from bioeval.showing.header import rule_in_words
from bioeval.showing.sizes import sides_in_words
from bioeval.showing.text import Text, say
from bioeval.studies.explain.row import RankedList, RowLists
from bioeval.studies.explain.section import Explanation, Steps
from bioeval.studies.explain.tasks import (
    TITLES,
    Contribution,
    Counts,
    closed,
    searched,
    total,
    verified,
)
from bioeval.studies.explain.visits import Visits
from bioeval.tasks.card_scores import resolve_card
from bioeval.tasks.options import EvaluationOptions
from bioeval.tasks.plan import CardTasks
from bioeval.tasks.threshold_choice import chosen_threshold

#: More rows, or more comparisons, are too long to read step by step.
MOST_ROWS = 100
MOST_CELLS = 10_000


class _Threshold(NamedTuple):
    """The threshold of an explanation, or why there is none."""

    source: Text  # where it comes from
    distance: float | None = None
    value: float | None = None  # in the units of the scores
    next: float = math.nan  # the nearest score that is not accepted

    @classmethod
    def from_chosen(cls, chosen: ChosenThreshold, kind: Kind, source: Text) -> Self:
        value, following = chosen.in_units(kind).values()
        return cls(source, chosen.threshold, value, following)


class _Explainer:
    """Explains the rows of some scores under a protocol.

    - `given`: the scores as they were given
    - `scores`: the scores that are evaluated, without what the protocol leaves out
    """

    def __init__(self, scores: Scores, protocol: str | Protocol, threshold: Any):
        require_scores(scores)
        if scores.layout == "pairs":
            raise ProtocolError("a list of pairs has no rows to explain: each pair is one attempt")
        self.given = scores
        card = _explainable_card(scores, protocol)
        is_order = scores.kind == "order"
        if is_order and threshold is not None:
            raise ProtocolError(
                "`threshold` is given, but these scores are only the order within "
                "each row; leave it out"
            )
        if is_order:  # within one row, an order is a distance
            scores = scores.replace(kind="distance")
        self.tasks = CardTasks(scores, card, EvaluationOptions(), automatic=protocol == "auto")
        if self.tasks.retrieval:
            raise ProtocolError(
                f"protocol {card.name} ranks a gallery for each query; the values of each: "
                f"be.evaluate(..., per_query=True), or bioeval run --protocol {card.name} "
                "--per-query"
            )
        self.scores = self.tasks.scores
        self.names = in_words(self.given.probe_names, self.given.shape[0])
        self.visits = None if self.given._tries is None else Visits(self.given)
        self.threshold = _Threshold("none: the scores are only the order within each row")
        if not is_order:
            self.threshold = _threshold(self.tasks, threshold)

        ties = [task.ties for task in self.tasks.searching.values() if task.gallery == "all"]
        tie_rule = ties[0] if ties else "pessimistic"
        self.rows = RowLists(self.scores, scores, self.threshold.distance, tie_rule)

    def row_of(self, probe: int | str) -> int:
        probes = self.given.shape[0]
        if not isinstance(probe, str):
            i = require_integer("probe", probe, low=0)
        elif probe in self.names:
            i = self.names.index(probe)
            if self.names.count(probe) > 1:
                raise DataError(
                    f"`probe` is {received(probe)}, the name of "
                    f"{self.names.count(probe)} templates; give a position"
                )
        elif self.visits is not None and (visit := self.visits.row_of(probe)) is not None:
            i = visit
        elif probe.isdecimal():
            i = int(probe)
        else:
            i = probes
        if i >= probes:
            raise DataError(
                f"`probe` is {received(probe)}; expected a position from 0 to {probes - 1}, "
                f"or the name of a template, such as {self.names[0]!r}"
            )
        return i

    def row(self, i: int) -> Explanation:
        scores = self.scores
        lists = _ListsOfRow(self.rows, i)
        tasks: list[Contribution] = []
        remarks: list[Text] = []
        for node, verifying in self.tasks.verifying.items():
            use = verifying.use
            ranked = lists.ranked("template" if use.fused is None else "subject", use.fusion)
            added = verified(ranked, node, use.fusion)
            tasks.append(replace(added, claims=scores.claims_title))
        for node, task in self.tasks.searching.items():
            if task.gallery == "single":
                remarks.append(
                    f"{TITLES[node]} is not explained: its counts are means over galleries of one "
                    "template per subject"
                )
                continue
            ranked = lists.ranked(task.rank_unit, task.fusion)
            if isinstance(task, OpenSet):
                enrolled = are_enrolled(self.scores)
                role = role_of(scores.layout, task.impostors, bool(enrolled.all()))
                tasks += searched(ranked, task, role, bool(enrolled[i]))
            else:
                tasks.append(closed(ranked, task, scores.layout))

        remarks += self._remarks_on_comparisons(i)
        if self.visits is not None:
            remarks += self.visits.remarks(i, self.rows.templates(i))
        name = self.names[i]
        return Explanation(
            probe=i,
            name=name if name != str(i) else "",
            subject=str(scores.probe_labels[i]) if knows_people(scores) else "",
            data=sides_in_words(about_attrs(Provenance.from_scores(scores), "", "", ())),
            kind=self.given.kind,
            protocol=self.tasks.card.name,
            system=self.given.name or "",
            threshold=self.threshold.value,
            threshold_source=self.threshold.source,
            threshold_next=self.threshold.next,
            lists=lists.in_order,
            tasks=tuple(tasks),
            remarks=tuple(remarks),
        )

    def _remarks_on_comparisons(self, i: int) -> Iterator[Text]:
        completeness = self.scores.completeness.of_probes(np.arange(self.scores.shape[0]) == i)
        if completeness.incomplete and self.tasks.searching:
            yield (
                f"The probe was compared with {int(completeness.compared[0]):,} of "
                f"{counted(int(completeness.expected[0]), 'gallery templates')}, and its ranks "
                "count these alone."
            )


class _ListsOfRow:
    """The lists of one row, which several tasks read; each is made once."""

    def __init__(self, rows: RowLists, i: int):
        self.rows, self.i = rows, i
        self._made: dict[tuple[str, str], RankedList] = {}

    def ranked(self, unit: str, fusion: str) -> RankedList:
        key = (unit, fusion if unit == "subject" else "")
        if key not in self._made:
            if unit == "subject":
                self._made[key] = self.rows.by_subject(self.i, fusion)
            else:
                self._made[key] = self.rows.templates(self.i)
        return self._made[key]

    @property
    def in_order(self) -> tuple[RankedList, ...]:
        return tuple(self._made.values())


def _explainable_card(scores: Scores, protocol: str | Protocol) -> Protocol:
    """Return the card of a protocol; raise :class:`ProtocolError` for rates of other attempts."""
    card = resolve_card(scores, protocol)
    if card.has_folds or card.claims is not None:
        has = "folds with different thresholds" if card.has_folds else "drawn claims"
        raise ProtocolError(
            f"protocol {card.name} has {has}; explain the row under "
            f"{for_layout(card.layout).name}, with `threshold` as a number"
        )
    return card


def _threshold(tasks: CardTasks, threshold: Any) -> _Threshold:
    scores = tasks.scores
    rule = Rule.parse("eer" if threshold is None else threshold)
    if rule.name == "fixed":
        chosen = ChosenThreshold(rule.as_distance(scores.kind).values[0], True)
        return _Threshold.from_chosen(chosen, scores.kind, "as given")
    verifying = next(iter(tasks.verifying.values()), None)
    if verifying is None and threshold is not None:
        raise ProtocolError(
            f"protocol {tasks.card.name} has no verification for a rule to choose on; give "
            "`threshold` as a number"
        )
    if verifying is None:
        return _Threshold("none: the protocol has no verification to choose it on; give a number")
    use = verifying.use
    try:
        chosen = chosen_threshold(scores, rule, templates=use.templates, fusion=use.fusion)
    except ProtocolError:
        if threshold is not None:
            raise
        return _Threshold("none: there are no genuine, or no impostor attempts to choose it on")
    if use.templates == "multi" or scores.claims_title:
        # The lists also show the scores of templates and tries that were fused, which may lie
        # between the threshold and the next score of a claim.
        chosen = replace(chosen, next=math.nan)
    source = say(
        "where verification ({attempts}) has {rule}, on these data",
        attempts=scores.claims_title or f"{use.templates}-template",
        rule=rule_in_words(rule),
    )
    return _Threshold.from_chosen(chosen, scores.kind, source)


def explain(
    scores: Scores, probe: int | str, *, threshold: Any = None, protocol: str | Protocol = "auto"
) -> Explanation:
    """Explain one row: its sorted list, the rank of its mate, and the accepted entries.

    Parameters
    ----------
    scores : Scores
        A matrix of either layout.
    probe : int or str
        Row: its position, from 0, or the name of its template. Names are those of a metadata column
        ``template``, ``name``, ``image`` or ``file``. A text is read as a name first.
    threshold : float, or a rule, optional
        Threshold: a number, or a rule applied to these data; the EER by default. None is ``"eer"``
        where the data have one.
    protocol : str or Protocol
        Card whose tasks are explained: a name (bioeval protocols lists all) or a path; auto: all of
        verification and identification. Re-identification is refused.

    Returns
    -------
    Explanation
        ``print`` shows it as text. Its `lists` are of templates, and of subjects by their fused
        scores: each subject is one claim. Their `entries` are in order. Its `tasks` have the
        `counts` that the row adds to each task, and `why`.

    Raises
    ------
    DataError
        No such probe or threshold; NaN under ``nan="raise"``.
    ProtocolError
        Lists of pairs, top-K lists, and protocols whose rates are not of single rows: folds,
        several galleries, drawn claims, re-identification.

    Notes
    -----
    The rows sum to the counts of :func:`evaluate`: see :func:`step_by_step`. Definitions:
    ``docs/definitions.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[0, 1, 4, 6], [1, 0, 5, 3], [4, 5, 0, 2], [6, 3, 2, 0]]
    >>> row = be.explain(be.Scores(d, ["ann", "ann", "bob", "bob"]), 1, threshold=3)
    >>> for entry in row.lists[0].entries:
    ...     print(entry.place, entry.template, entry.subject, entry.score, entry.role)
    1 0 ann 1 genuine
    2 3 bob 3 impostor
    3 2 bob 5 impostor
    None 1 ann None left out
    """
    explainer = _Explainer(scores, protocol, threshold)
    return explainer.row(explainer.row_of(probe))


def step_by_step(
    scores: Scores, *, threshold: Any = None, protocol: str | Protocol = "auto"
) -> Steps:
    """Explain every row of a small matrix, with the running totals of each counter.

    Parameters
    ----------
    scores, threshold, protocol
        As for :func:`explain`; at most 100 rows and 10,000 comparisons.

    Returns
    -------
    Steps
        ``print`` shows it as text; `walks` are the rows, `totals` the sums after each of them, and
        `rates` those of :func:`evaluate` at the threshold.

    Raises
    ------
    DataError
        A matrix that is too large; otherwise as for :func:`explain`.
    ProtocolError
        As for :func:`explain`.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[0, 1, 4, 6], [1, 0, 5, 3], [4, 5, 0, 2], [6, 3, 2, 0]]
    >>> steps = be.step_by_step(be.Scores(d, ["ann", "ann", "bob", "bob"]), threshold=3)
    >>> steps.rates["verification/single"]["far"], steps.rates["open_set"]["far"]
    (0.25, 0.5)
    """
    explainer = _Explainer(scores, protocol, threshold)
    rows, columns = explainer.scores.shape
    if rows > MOST_ROWS or rows * columns > MOST_CELLS:
        raise DataError(
            f"step by step, {rows:,} x {columns:,} comparisons are too many to read; expected at "
            f"most {MOST_ROWS} rows and {MOST_CELLS:,} comparisons. Take some by "
            "scores.select(...), or explain one probe"
        )
    walks = tuple(map(explainer.row, range(rows)))
    # A task is not summed if one of its rows depends on a threshold that there is not.
    without_counts = {task.task for walk in walks for task in walk.tasks if task.counts is None}
    sums: dict[str, Counts] = {}
    totals = []
    for walk in walks:
        for task in walk.tasks:
            if task.counts is not None and task.task not in without_counts:
                sums[task.task] = total(sums.get(task.task, {}), task.counts)
        totals.append(dict(sums))
    return Steps(walks=walks, totals=tuple(totals), scores=explainer.given)
