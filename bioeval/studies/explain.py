"""``be.explain``: the comparisons of one probe in order, and the counter that each adds to.

Of a row of comparisons in order of distance, with the threshold ``t``::

    verification   each genuine comparison adds to GA or FR, each impostor one to FA or GR
    open set       the nearest mate, at rank k, adds to DI(t, k) if it is accepted, and to FR
                   unless it is accepted at rank 1; the nearest of other subjects adds to FA or GR
    closed set     the nearest mate, at rank k, adds to CMS(k) and to all later ranks

Where templates of a subject are fused, each subject is one comparison of the row.

:func:`explain` reads the row, makes its lists (of templates, and of subjects by their fused
scores), and asks for each task what the row adds to its counters. These steps follow in this order,
and last the result.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.errors import DataError, ProtocolError, counted, received
from bioeval.base.kinds import Kind
from bioeval.counting.searches import role_of
from bioeval.counting.threshold_rules import ChosenThreshold, Rule
from bioeval.counting.thresholds import is_accepted, to_user
from bioeval.counting.ties import place_weights
from bioeval.protocol.card import Protocol
from bioeval.protocol.loading import for_layout
from bioeval.protocol.tasks import OpenSet, Ties
from bioeval.results.attributes import about_attrs
from bioeval.scores.attempts import excluded
from bioeval.scores.keys import in_words
from bioeval.scores.labels import plain
from bioeval.scores.masks import Mask
from bioeval.scores.matrix import Scores, require_scores
from bioeval.scores.people import are_enrolled, knows_people
from bioeval.scores.provenance import Provenance
from bioeval.scores.rows import among_distances, read_rows
from bioeval.showing.header import data_fact, rule_in_words, scores_in_words, sides_in_words
from bioeval.showing.numbers import written
from bioeval.showing.printing import Shown
from bioeval.showing.text import (
    Column,
    Enumeration,
    Facts,
    Label,
    Number,
    Picture,
    Score,
    Section,
    Table,
    Text,
    Threshold,
    say,
)
from bioeval.tasks.card_scores import resolve_card
from bioeval.tasks.options import EvaluationOptions
from bioeval.tasks.plan import CardTasks
from bioeval.tasks.verification_task import chosen_threshold

#: The tasks by name: their title, and the heading of the counters in the lists.
_TASKS = {
    "verification/single": ("Verification, single-template", "verification"),
    "verification/multi": ("Verification, multi-template", "verification"),
    "verification/visits": ("Verification, visits", "verification"),
    "verification/claims": ("Verification, claims", "verification"),
    "open_set": ("Open-set identification", "open set"),
    "closed_set": ("Closed-set identification", "closed set"),
}

#: The counters with their symbols, in the order in which they are listed.
_SYMBOLS = {
    "genuine_attempts": "TG",
    "ga": "GA",
    "di": "DI(t, {rank})",
    "fr": "FR",
    "impostor_attempts": "TI",
    "fa": "FA",
    "gr": "GR",
    "attempts": "TA",
    "cms_count": "{cms}({rank})",
    "skipped": "skipped",
}

_LEGEND = (
    "DI(t, k) counts genuine probes that are detected and identified at rank k, and {cms}(k) "
    "probes with a mate at rank k or better. TG, TI and TA are the numbers of attempts."
)

_FAILED = "failed comparison (NaN)"
_FAILED_CLAIM = "failed claim (NaN)"

#: Longer lists are shortened in print. They keep the first places, the places around the threshold,
#: and the first genuine entries.
_LONGEST, _FIRST, _MOST_GENUINE = 16, 6, 10

#: What a row adds to each counter of a task; counters at ranks are a mapping by rank.
Counts = dict[str, Any]

#: What comparisons add to the counters of a task, by their places in the list, from 0.
CountsByPlace = dict[int, Counts]


def explain(
    scores: Scores, probe: int | str, *, threshold: Any = None, protocol: str | Protocol = "auto"
) -> Explanation:
    """Explain one probe: its comparisons in order, and the counter that each of them adds to.

    Parameters
    ----------
    scores : Scores
        A matrix of either layout, or a list of pairs.
    probe : int or str
        Row: its position, from 0, or the name of its template. Names are those of a metadata column
        ``template``, ``name``, ``image`` or ``file``. A text is read as a name first. In a list of
        pairs: the name of a probe, or the position of one of its pairs.
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
        scores: each subject is one claim. Their entries are in order. Its `counts` are what the
        probe adds to the counters of each task; over all probes they sum to the counts of
        :func:`evaluate`.

    Raises
    ------
    DataError
        No such probe or threshold; NaN under ``nan="raise"``.
    ProtocolError
        Top-K lists, and protocols whose rates are not of single rows: folds, several galleries,
        drawn claims, re-identification.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[0, 1, 4, 6], [1, 0, 5, 3], [4, 5, 0, 2], [6, 3, 2, 0]]
    >>> row = be.explain(be.Scores(d, ["ann", "ann", "bob", "bob"]), 1, threshold=3)
    >>> for entry in row.lists["templates"]:
    ...     print(entry.place, entry.template, entry.subject, entry.score, entry.role)
    1 0 ann 1.0 genuine
    2 3 bob 3.0 impostor
    3 2 bob 5.0 impostor
    None 1 ann None left out
    >>> row.counts["verification/single"], row.counts["open_set"]["di"]
    ({'ga': 1, 'fr': 0, 'fa': 1, 'gr': 1}, {1: 1.0})
    """
    require_scores(scores)
    card = resolve_card(scores, protocol)
    if card.has_folds or card.claims is not None:
        has = "folds with different thresholds" if card.has_folds else "drawn claims"
        raise ProtocolError(
            f"protocol {card.name} has {has}; explain the row under "
            f"{for_layout(card.layout).name}, with `threshold` as a number"
        )
    is_order = scores.kind == "order"
    if is_order and threshold is not None:
        raise ProtocolError(
            "`threshold` is given, but these scores are only the order within each row; leave it "
            "out"
        )
    # Within one row, an order is a distance.
    original = scores.replace(kind="distance") if is_order else scores
    tasks = CardTasks(original, card, EvaluationOptions(), automatic=protocol == "auto")
    if tasks.retrieval:
        raise ProtocolError(
            f"protocol {card.name} ranks a gallery for each query; the values of each: "
            f"be.evaluate(..., per_query=True), or bioeval run --protocol {card.name} --per-query"
        )
    evaluated = tasks.scores  # without what the protocol leaves out
    verifying, searching = tasks.verifying, tasks.searching
    if is_order:
        # No threshold compares the rows of an order.
        verifying = {}
        searching = {node: task for node, task in searching.items() if node == "closed_set"}
        used = _Threshold(source="none: the scores are only the order within each row")
    else:
        used = _threshold(tasks, threshold)

    # The comparisons of the probe, and the lists that the tasks need: of templates, or of subjects.
    name, row = _compared(original, evaluated, probe)
    visit = ""
    column = evaluated.claim_attempts.visits_of
    if column in evaluated.probe_meta:
        visit = f"{column} {plain(evaluated.probe_meta[column][row.row])}"
    fusion_of_task: dict[str, str] = {}  # empty for templates
    for node, verification in verifying.items():
        use = verification.use
        fusion_of_task[node] = "" if use.fused is None else use.fusion
    whole_gallery = {node: task for node, task in searching.items() if task.gallery == "all"}
    for node, task in whole_gallery.items():
        fusion_of_task[node] = "" if task.rank_unit == "template" else task.fusion
    ties: Ties = next((task.ties for task in whole_gallery.values()), "pessimistic")
    list_of_fusion: dict[str, _Row] = {}
    for fusion in dict.fromkeys(fusion_of_task.values()):
        compared = _by_subject(evaluated, row, fusion) if fusion else row
        list_of_fusion[fusion] = _in_order(evaluated, compared, ties, used.distance)

    # What the row adds to the counters of each task, and which of its comparisons does.
    counts: dict[str, Counts | None] = {}
    added: dict[str, CountsByPlace] = {}
    for node in verifying:
        counts[node], added[node] = _verification(list_of_fusion[fusion_of_task[node]])
    for node, task in whole_gallery.items():
        searched = list_of_fusion[fusion_of_task[node]]
        if isinstance(task, OpenSet):
            is_impostor = _is_impostor(evaluated, task, row.row)
            counts[node], added[node] = _open_set(searched, task.ties, is_impostor)
        else:
            counts[node], added[node] = _closed_set(searched, task.ties)
    lists: dict[str, tuple[Entry, ...]] = {}
    for fusion, ordered in list_of_fusion.items():
        of_list = {node: x for node, x in added.items() if fusion_of_task[node] == fusion}
        lists[f"subjects, fusion {fusion}" if fusion else "templates"] = _entries(ordered, of_list)

    remarks = [
        f"{_TASKS[node][0]} is not explained: its counts are means over galleries of one "
        "template per subject"
        for node in searching
        if node not in whole_gallery
    ]
    if searching:
        is_probe = np.arange(evaluated.shape[0]) == row.row
        completeness = evaluated.completeness.of_probes(is_probe)
        if completeness.incomplete:
            remarks.append(
                f"The probe was compared with {int(completeness.compared[0]):,} of "
                f"{counted(int(completeness.expected[0]), 'gallery templates')}, and its ranks "
                "count these alone."
            )
    return Explanation(
        probe=row.row,
        name=name,
        visit=visit,
        subject=row.subject,
        data=sides_in_words(about_attrs(Provenance.from_scores(evaluated), "", "", ())),
        kind=scores.kind,
        protocol=card.name,
        system=scores.name or "",
        threshold=used.value,
        threshold_source=used.source,
        threshold_next=used.next,
        lists=lists,
        counts=counts,
        claims=evaluated.claim_attempts.title,
        remarks=tuple(remarks),
    )


class _Threshold(NamedTuple):
    """The threshold of an explanation, and where it comes from."""

    source: Text
    distance: float | None = None  # None without a threshold
    value: float | None = None  # in the units of the scores
    next: float = math.nan  # the nearest score that is not accepted


def _threshold(tasks: CardTasks, threshold: Any) -> _Threshold:
    """Return the threshold of the user, or of a rule on these data; none if it is not defined."""
    scores = tasks.scores
    rule = Rule.parse("eer" if threshold is None else threshold)
    verifying = next(iter(tasks.verifying.values()), None)
    if rule.name == "fixed":
        chosen = ChosenThreshold(rule.as_distance(scores.kind).values[0], True)
        value, following = chosen.in_units(scores.kind).values()
        return _Threshold("as given", chosen.threshold, value, following)
    if verifying is None:
        if threshold is not None:
            raise ProtocolError(
                f"protocol {tasks.card.name} has no verification for a rule to choose on; give "
                "`threshold` as a number"
            )
        return _Threshold("none: the protocol has no verification to choose it on; give a number")

    use = verifying.use
    try:
        chosen = chosen_threshold(scores, rule, templates=use.templates, fusion=use.fusion)
    except ProtocolError:
        if threshold is not None:
            raise
        return _Threshold("none: there are no genuine, or no impostor attempts to choose it on")
    if use.templates == "multi":
        # The lists also show the scores of templates that were fused, which may lie between the
        # threshold and the next fused score.
        chosen = replace(chosen, next=math.nan)
    source = say(
        "where verification ({attempts}) has {rule}, on these data",
        attempts=scores.claim_attempts.title or f"{use.templates}-template",
        rule=rule_in_words(rule),
    )
    value, following = chosen.in_units(scores.kind).values()
    return _Threshold(source, chosen.threshold, value, following)


# The comparisons of a probe.


class _Row(NamedTuple):
    """The comparisons of one probe; the arrays have an item for each of them."""

    row: int  # of the evaluated scores
    subject: str  # of the probe, empty where it is not known
    column: np.ndarray  # int: the gallery template
    template: np.ndarray  # names
    subjects: np.ndarray  # names
    score: np.ndarray  # in the units of the scores
    distance: np.ndarray  # float64, NaN where there is no attempt
    is_genuine: np.ndarray  # bool
    reason: np.ndarray  # text: why there is no attempt, or that it failed
    accepted: np.ndarray | None = None  # bool; None without a threshold

    def taken(self, order: np.ndarray) -> _Row:
        """Return some of the comparisons, in this order."""
        arrays = ("column", "template", "subjects", "score", "distance", "is_genuine", "reason")
        return self._replace(**{name: getattr(self, name)[order] for name in arrays})


def _compared(original: Scores, evaluated: Scores, probe: int | str) -> tuple[str, _Row]:
    """Return the name of a probe, empty for none, and its comparisons.

    `original` has all comparisons, and `evaluated` those that the protocol evaluates.
    """
    is_list = original.layout == "pairs"
    names = in_words(original.probe_names, original.shape[0])
    if is_list and original.pairs.unordered:
        # Either template of a pair may be the probe, which is then brought to the second side.
        name = probe
        if not isinstance(probe, str) and probe in range(len(names)):
            name = names[probe]
        is_first = np.array(in_words(original.gallery_names, len(names))) == str(name)
        evaluated = evaluated.with_pairs(evaluated.pairs.exchanged(is_first))
        names = in_words(evaluated.probe_names, len(names))
    position = _position_of(probe, names, repeats=is_list)
    name = names[position] if names[position] != str(position) else ""
    if is_list:
        return name, _pairs_of(evaluated, position)
    return name, _cells_of(original, evaluated, position)


def _position_of(probe: int | str, names: list[str], *, repeats: bool) -> int:
    """Return the position of a probe, which may be a name; names may repeat if `repeats`."""
    if not isinstance(probe, str):
        position = require_integer("probe", probe, low=0)
    elif probe in names:
        position = names.index(probe)
        if not repeats and names.count(probe) > 1:
            raise DataError(
                f"`probe` is {received(probe)}, the name of {names.count(probe)} templates; give a "
                "position"
            )
    else:
        position = int(probe) if probe.isdecimal() else len(names)
    if position >= len(names):
        raise DataError(
            f"`probe` is {received(probe)}; expected a position from 0 to {len(names) - 1}, or the "
            f"name of a template, such as {names[0]!r}"
        )
    return position


def _pairs_of(scores: Scores, position: int) -> _Row:
    """Return the pairs of the probe of one pair; in a list without names, this pair alone."""
    pairs = scores.pairs
    places = np.array([position])
    templates = places
    if pairs.templates is not None:
        places = np.flatnonzero(pairs.templates.probe == pairs.templates.probe[position])
        templates = pairs.templates.objects()[places, 0]
    subject, subjects = "", np.full(len(places), "")
    if pairs.people is not None:
        people = pairs.people.take(places)
        subject = str(plain(people.values[people.probe[0]]))
        subjects = people.objects()[:, 0]
    score = scores.values[places]
    return _Row(
        row=position,
        subject=subject,
        column=places,
        template=templates,
        subjects=subjects,
        score=score,
        distance=pairs.distances(scores.kind, scores.nan)[places].astype(np.float64),
        is_genuine=scores.genuine[places],
        reason=np.where(np.isnan(score), _FAILED, ""),
    )


def _cells_of(original: Scores, evaluated: Scores, i: int) -> _Row:
    """Return the cells of row `i` of a matrix, with the reason why a cell is left out."""
    columns = np.arange(evaluated.shape[1])
    block = read_rows(evaluated, slice(i, i + 1))
    distance = np.full(len(columns), np.nan)
    distance[block.candidates] = block.values[0]
    is_genuine = np.zeros(len(columns), dtype=bool)
    is_genuine[block.genuine()[1]] = True
    is_itself = evaluated.probe_ids[i] == evaluated.gallery_ids
    score = evaluated.cells.read(i, i + 1)[0]
    was_masked, is_masked = (
        x.cells.read_mask(i, i + 1)[0] == Mask.IGNORE if x.has_mask else np.False_
        for x in (original, evaluated)
    )
    # The first that is true is the reason, of comparisons that are no attempts or that failed.
    exclusions = " or ".join(x.in_words for x in evaluated.exclusions)
    reasons = {
        "the probe itself: a template is never compared with itself": is_itself,
        "left out by the mask": was_masked,
        f"excluded: {exclusions}": excluded(evaluated, np.full(len(columns), i), columns),
        "left out by the protocol": is_masked,
        _FAILED_CLAIM if evaluated.claim_attempts.title else _FAILED: np.isnan(score),
    }
    conditions = [np.broadcast_to(x, columns.shape) for x in reasons.values()]
    subject, subjects = "", [""] * len(columns)
    if knows_people(evaluated):
        subject = str(evaluated.probe_labels[i])
        subjects = [str(label) for label in evaluated.gallery_labels.tolist()]
    return _Row(
        row=i,
        subject=subject,
        column=columns,
        template=np.array(in_words(evaluated.gallery_names, len(columns))),
        subjects=np.array(subjects),
        score=np.where(is_itself, np.nan, score) if is_itself.any() else score,
        distance=distance,
        is_genuine=is_genuine,
        reason=np.select(conditions, [*reasons], ""),
    )


def _by_subject(scores: Scores, row: _Row, fusion: str) -> _Row:
    """Return the comparisons with subjects, whose templates are fused."""
    block = read_rows(scores, slice(row.row, row.row + 1))
    fused = block.by_person(fusion).values[0]  # (subjects,)
    gallery = scores.gallery_order
    # The nearest template of each subject; NaN comes last in a sort.
    order = np.lexsort((row.column[block.candidates], row.distance[block.candidates]))
    subject = np.repeat(np.arange(len(fused)), np.diff(gallery.starts))
    first = np.unique(subject[order], return_index=True)[1]
    nearest = block.candidates[order[first]]
    return row.taken(nearest)._replace(
        score=to_user(fused, scores.kind) + 0.0,
        distance=fused,
        is_genuine=np.arange(len(fused)) == gallery.probe_group[row.row],
        reason=np.where(np.isnan(fused), "no template of the subject is left", ""),
    )


def _in_order(scores: Scores, row: _Row, ties: Ties, threshold: float | None) -> _Row:
    """Return comparisons from near to far, with those that a threshold, a distance, accepts.

    At equal distances, genuine ones come last or first as the ties say, and then columns decide.
    """
    if ties == "pessimistic":
        row = row.taken(np.lexsort((row.column, row.is_genuine, row.distance)))
    elif ties == "optimistic":
        row = row.taken(np.lexsort((row.column, ~row.is_genuine, row.distance)))
    else:
        row = row.taken(np.lexsort((row.column, row.distance)))
    if threshold is None:
        return row
    return row._replace(accepted=is_accepted(row.distance, among_distances(scores, threshold)))


# What a row adds to the counters of a task: in total, and by the place of the comparison in its
# list. The total is None if it depends on a threshold and there is none.


def _verification(row: _Row) -> tuple[Counts | None, CountsByPlace]:
    if row.accepted is None:
        return None, {}
    counts = {"ga": 0, "fr": 0, "fa": 0, "gr": 0}
    added: CountsByPlace = {}
    for k in np.flatnonzero(~np.isnan(row.distance)).tolist():
        if row.is_genuine[k]:
            counter = "ga" if row.accepted[k] else "fr"
        else:
            counter = "fa" if row.accepted[k] else "gr"
        added[k] = {counter: 1}
        counts[counter] += 1
    return counts, added


def _is_impostor(scores: Scores, task: OpenSet, probe: int) -> bool:
    """Return whether a probe is an impostor in open-set identification."""
    enrolled = are_enrolled(scores)
    role = role_of(scores.layout, task.impostors, bool(enrolled.all()))
    if role == "both":
        return True
    return bool(enrolled[probe]) == (role == "leave-subject-out")


def _open_set(row: _Row, ties: Ties, is_impostor: bool) -> tuple[Counts | None, CountsByPlace]:
    counts: Counts = {}
    added: CountsByPlace = {}
    mate, ranks = _mate(row, ties)
    others = np.flatnonzero(~np.isnan(row.distance) & ~row.is_genuine)
    if row.accepted is None and (ranks or (is_impostor and len(others))):
        return None, {}
    if mate is not None:
        of_mate: Counts = {}
        missed: float = 1
        if ranks and row.accepted is not None and row.accepted[mate]:
            of_mate["di"] = ranks
            missed = 1 - ranks.get(1, 0.0)
        if missed > 0:
            of_mate["fr"] = missed
        added[mate] = of_mate
        counts |= {"genuine_attempts": 1, **of_mate}
    if is_impostor and len(others) and row.accepted is not None:
        nearest = int(others[0])
        added[nearest] = {"fa" if row.accepted[nearest] else "gr": 1}
        counts |= {"impostor_attempts": 1, **added[nearest]}
    return counts, added


def _closed_set(row: _Row, ties: Ties) -> tuple[Counts, CountsByPlace]:
    mate, ranks = _mate(row, ties)
    if mate is None:
        return {"skipped": 1}, {}
    if not ranks:  # the mate failed, and has no rank
        return {"attempts": 1}, {}
    return {"attempts": 1, "cms_count": ranks}, {mate: {"cms_count": ranks}}


def _mate(row: _Row, ties: Ties) -> tuple[int | None, dict[int, float]]:
    """Return the place of the nearest mate, and its ranks with their weights; none if it failed.

    There are several ranks only with expected ties, where the weight of a rank is its probability.
    """
    is_attempt = ~np.isnan(row.distance)
    mates = np.flatnonzero(is_attempt & row.is_genuine)
    if not len(mates):
        return None, {}
    best = int(mates[0])
    nearest = row.distance[best]
    if nearest == np.inf:  # it failed
        return best, {}
    others = is_attempt & ~row.is_genuine
    tied = others & (row.distance == nearest)
    _, ranks, weights = place_weights(
        closer=np.array([np.count_nonzero(others & (row.distance < nearest))]),
        tied=np.array([np.count_nonzero(tied)]),
        before=np.array([np.count_nonzero(tied & (row.column < row.column[best]))]),
        mates_tied=np.array([np.count_nonzero(row.distance[mates] == nearest)]),
        ties=ties,
    )
    return best, dict(zip(ranks.tolist(), weights.tolist(), strict=True))


# The result.


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One comparison of a list: with a gallery template, or with a subject.

    Attributes
    ----------
    place : int or None
        Its place in the list, from 1; None if it is left out.
    template, subject : str
        Names of the template and of its subject, which is empty if it is not known. A subject has
        the name of its nearest template.
    score : float or None
        The score in the units of the scores; None where there is none.
    role : str
        ``"genuine"``, ``"impostor"`` or ``"left out"``, which is not an attempt.
    accepted : bool or None
        Whether the threshold accepts the score; None without a threshold.
    adds : dict
        The counters that it adds to by task, such as ``{"open_set": {"di": {1: 1.0}}}``.
    reason : str
        Why it is left out, or that it failed.
    """

    place: int | None
    template: str
    subject: str
    score: float | None
    role: Literal["genuine", "impostor", "left out"]
    accepted: bool | None
    adds: Mapping[str, Counts]
    reason: str


def _entries(row: _Row, added: Mapping[str, CountsByPlace]) -> tuple[Entry, ...]:
    """Return the entries of a list; `added` is by task, of the tasks that use the list."""
    entries = []
    for k, distance in enumerate(row.distance.tolist()):
        is_attempt = not math.isnan(distance)
        role: Literal["genuine", "impostor", "left out"] = "left out"
        accepted = None
        if is_attempt:
            role = "genuine" if row.is_genuine[k] else "impostor"
            if row.accepted is not None:
                accepted = bool(row.accepted[k])
        score = row.score[k].item()
        entry = Entry(
            place=k + 1 if is_attempt else None,
            template=str(row.template[k]),
            subject=str(row.subjects[k]),
            score=None if math.isnan(score) else score,
            role=role,
            accepted=accepted,
            adds={node: by_place[k] for node, by_place in added.items() if k in by_place},
            reason=str(row.reason[k]),
        )
        entries.append(entry)
    return tuple(entries)


@dataclass(frozen=True, kw_only=True, repr=False)
class Explanation(Shown):
    """One row of scores: its sorted lists, and what it adds to the counters of each task.

    Attributes
    ----------
    probe : int
        The row, from 0.
    name, subject : str
        Name and subject of the probe; empty where there is none. The name of an attempt of several
        tries is that of its first try.
    visit : str
        The metadata column of an attempt of several tries with its value, such as ``"visit 3"``;
        else empty.
    data, kind, protocol, system : str
        What is compared, in words; the kind of scores; the card; the name of the scores.
    threshold : float or None
        The threshold in the units of the scores; None if none is given and none can be chosen. NaN
        rejects everything.
    threshold_source : Text
        Where the threshold comes from.
    threshold_next : float
        The nearest score that the threshold does not accept, as in :func:`verification`; NaN if the
        threshold was given.
    lists : dict
        Tuples of :class:`Entry` from near to far, followed by those that are left out: of
        ``"templates"``, and of subjects by their fused scores, such as ``"subjects, fusion best"``.
    counts : dict
        What the row adds to the counters of each task, by their names in :func:`evaluate`. ``di``
        and ``cms_count`` are mappings by the rank of the nearest mate. None if that depends on a
        threshold, and there is none.
    claims : str
        What the claims are, if the row is one of claims; else empty.
    remarks : tuple of str
        What is not explained, and why; also with how much of the gallery the probe was compared.
    """

    probe: int
    name: str
    visit: str
    subject: str
    data: str
    kind: Kind
    protocol: str
    system: str
    threshold: float | None
    threshold_source: Text
    threshold_next: float
    lists: Mapping[str, tuple[Entry, ...]]
    counts: Mapping[str, Counts | None]
    claims: str
    remarks: tuple[str, ...]

    def _records(self) -> list[dict[str, Any]]:
        records = []
        for task, counts in self.counts.items():
            for name, amount in (counts or {}).items():
                of_counter = {"probe": self.probe, "task": task, "measure": name}
                by_rank = amount if isinstance(amount, dict) else {None: amount}
                for rank, value in by_rank.items():
                    records.append({**of_counter, "rank": rank, "value": float(value)})
        return records

    def _document(self) -> dict[str, Any]:
        named = ("system", "data", "kind", "protocol", "probe", "name", "visit", "subject")
        rows = []
        for key, entries in self.lists.items():
            for entry in entries:
                row = {name: x for name, x in vars(entry).items() if name != "adds"}
                adds = {x: written(_in_symbols(entry.adds.get(x, {}))) for x in self.counts}
                rows.append({"list": key, **row, **adds})
        return {
            **{name: getattr(self, name) for name in named},
            "threshold": self.threshold,
            "rows": rows,
            "adds": self._records(),
        }

    def __repr__(self) -> str:
        return f"<Explanation of probe {self.probe}, protocol {self.protocol}; print shows it>"

    def _section(self) -> Section:
        names: list[Text] = [Label(self.visit)] if self.visit else []
        if self.name:
            text = "first try {name:name}" if self.visit else "{name:name}"
            names.append(say(text, name=self.name))
        if self.subject:
            names.append(say("subject {subject:name}", subject=self.subject))
        row = "Attempt" if self.visit else "Probe"
        heading: Text = f"{row} {self.probe}"
        if names:
            of_probe = Enumeration(names, "")
            heading = say("{row} {probe:name} ({names})", row=row, probe=self.probe, names=of_probe)
        threshold = self.threshold_source
        if self.threshold is not None:
            value: Text = "none accepts any (reject all)"
            if not math.isnan(self.threshold):
                value = Threshold(self.threshold, next=self.threshold_next)
            threshold = say("{value}: {source}", value=value, source=self.threshold_source)
        facts = (
            data_fact([self.system], self.data),
            ("Scores", scores_in_words(self.kind, self.protocol)),
            ("Threshold", threshold),
        )
        image = Column("image", "image of the probe")
        picture = Table("probe", [image], [[Picture(self.name)]])
        lists = [self._table_of_list(key, entries) for key, entries in self.lists.items()]

        # What the row adds to each task.
        rows = []
        for task, counts in self.counts.items():
            added: Text = "depends on the threshold"
            if counts is not None:
                added = _in_symbols(counts) or "nothing"
            rows.append((f"Verification, {self.claims}" if self.claims else _TASKS[task][0], added))
        columns = (Column("task", "task"), Column("adds", "adds"))
        notes: tuple[Text, ...] = self.remarks
        if {"open_set", "closed_set"} & {*self.counts}:
            notes += (say(_LEGEND, task="identification"),)
        adds = Table("adds", columns, rows, title="What this row adds", notes=notes)
        return Section("row", heading, (Facts(facts), picture, *lists, adds), task="verification")

    def _table_of_list(self, key: str, entries: tuple[Entry, ...]) -> Table:
        # Long lists are shortened: to the first places, those around the threshold, the first
        # genuine entries, and the first ones that are left out.
        places = range(len(entries))
        accepted = sum(bool(entry.accepted) for entry in entries)
        shown = list(places)
        if len(entries) > _LONGEST:
            genuine = [k for k in places if entries[k].role == "genuine"][:_MOST_GENUINE]
            left_out = [k for k in places if entries[k].place is None][:_FIRST]
            around = range(0)
            if self.threshold is not None:
                around = range(max(0, accepted - 2), min(accepted + 2, len(entries)))
            shown = sorted({*range(_FIRST), *around, *genuine, *left_out})
        notes = []
        if len(shown) < len(entries):
            text = "{hidden:count more} entries, at the places that are not shown"
            notes.append(say(text, hidden=len(entries) - len(shown)))

        tasks = [task for task in self.counts if any(task in x.adds for x in entries)]
        rows: list[list[Text | None]] = []
        for entry in (entries[k] for k in shown):
            rows.append(
                [
                    None if entry.place is None else Number(entry.place, decimals=0),
                    Picture(entry.template),
                    Label(entry.template),
                    Label(entry.subject),
                    None if entry.score is None else Score(float(entry.score)),
                    entry.role,
                    *(_in_symbols(entry.adds[x]) if x in entry.adds else None for x in tasks),
                    entry.reason,
                ]
            )
        if self.threshold is not None:
            # A row for the threshold, after the entries that it accepts.
            score: Text | None = None
            role = "threshold: reject all"
            if not math.isnan(self.threshold):
                score = Threshold(self.threshold, next=self.threshold_next)
                role = "threshold"
            accepted_of_shown = sum(bool(entries[k].accepted) for k in shown)
            rows.insert(
                accepted_of_shown, [None, None, "", "", score, role, *([None] * len(tasks)), ""]
            )
        unit = key.partition(",")[0]
        columns = [
            Column("place", "place"),
            Column("image", "image"),
            Column("template", "template" if unit == "templates" else "by template"),
            Column("subject", "subject"),
            Column("score", self.kind),
            Column("role", "role"),
            *(Column(task.partition("/")[0], _TASKS[task][1]) for task in tasks),
            Column("reason"),
        ]
        title = f"List of {'claims' if self.claims else key}"
        return Table(unit, columns, rows, title=title, notes=notes)


def _in_symbols(counts: Counts) -> Text:
    """Return counters with their amounts, such as ``GA 3, FR 1``; empty without any."""
    texts = []
    for name, symbol in _SYMBOLS.items():
        if name not in counts:
            continue
        by_rank = counts[name] if isinstance(counts[name], dict) else {0: counts[name]}
        for rank, amount in by_rank.items():
            text: Text = symbol
            if "{" in symbol:
                text = say(symbol, task="identification", rank=Label(rank))
            # A comparison adds 1, except where ties share it.
            if amount != 1 or counts.keys() != {name}:
                text = say("{symbol} {n}", symbol=text, n=Number(amount, digits=3))
            texts.append(text)
    return Enumeration(texts, "") if texts else ""
