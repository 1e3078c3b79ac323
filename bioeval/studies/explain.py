"""``be.explain``: the comparisons of one probe in order, and the counter that each adds to.

Of a row of comparisons in order of distance, with the threshold ``t``::

    verification   each genuine comparison adds to GA or FR, each impostor one to FA or GR
    open set       the nearest mate, at rank k, adds to DI(t, k) if it is accepted, and to FR
                   unless it is accepted at rank 1; the nearest of other subjects adds to FA or GR
    closed set     the nearest mate, at rank k, adds to CMS(k) and to all later ranks

Where templates of a subject are fused, each subject is one comparison of the row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
from bioeval.scores.arrays import Mask
from bioeval.scores.attempts import excluded
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores, require_scores
from bioeval.scores.people import are_enrolled, knows_people
from bioeval.scores.provenance import Provenance
from bioeval.scores.rows import among_distances, read_rows
from bioeval.scores.sides import in_words
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
    **{f"verification/{x}": (f"Verification, {x}", "verification") for x in ("visits", "claims")},
    "open_set": ("Open-set identification", "open set"),
    "closed_set": ("Closed-set identification", "closed set"),
}

#: The counters with their symbols, in the order in which they are listed.
_SYMBOLS = {
    **{"genuine_attempts": "TG", "ga": "GA", "di": "DI(t, {rank})", "fr": "FR"},
    **{"impostor_attempts": "TI", "fa": "FA", "gr": "GR"},
    **{"attempts": "TA", "cms_count": "{cms}({rank})", "skipped": "skipped"},
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
    given = scores.replace(kind="distance") if is_order else scores
    tasks = CardTasks(given, card, EvaluationOptions(), automatic=protocol == "auto")
    if tasks.retrieval:
        raise ProtocolError(
            f"protocol {card.name} ranks a gallery for each query; the values of each: "
            f"be.evaluate(..., per_query=True), or bioeval run --protocol {card.name} --per-query"
        )
    kept = tasks.scores  # without what the protocol leaves out
    verifying, searching = tasks.verifying, tasks.searching
    if is_order:  # no threshold compares its rows
        verifying, searching = {}, {x: y for x, y in searching.items() if x == "closed_set"}
    limit, value, after = None, None, math.nan
    source: Text = "none: the scores are only the order within each row"
    if not is_order:
        limit, value, after, source = _threshold(tasks, threshold)

    # The comparisons of the probe, and the lists of subjects of the same row.
    name, compared = _compared(given, kept, probe)
    visit = ""
    if (column := kept.visits_of) in kept.probe_meta:
        visit = f"{column} {plain(kept.probe_meta[column][compared.row])}"
    ties = [task.ties for task in searching.values() if task.gallery == "all"]
    lists: dict[str, _Row] = {}

    def listed(unit: str, fusion: str) -> _Row:
        key = "templates" if unit == "template" else f"subjects, fusion {fusion}"
        if key not in lists:
            row = compared if unit == "template" else _by_subject(kept, compared, fusion)
            # Comparisons from near to far, at equal distances as the ties say, then by column.
            sign = {"pessimistic": 1, "optimistic": -1}.get((ties[0] if ties else "pessimistic"), 0)
            row = row.taken(np.lexsort((row.column, sign * row.is_genuine, row.distance)))
            accepted = None
            if limit is not None:
                accepted = is_accepted(row.distance, among_distances(kept, limit))
            lists[key] = row._replace(accepted=accepted, adds=[{} for _ in row.column])
        return lists[key]

    # What each comparison adds to the counters of each task.
    counts: dict[str, Counts | None] = {}
    remarks: list[str] = []
    for node, verification in verifying.items():
        use = verification.use
        row = listed("template" if use.fused is None else "subject", use.fusion)
        of_task = {"ga": 0, "fr": 0, "fa": 0, "gr": 0}
        for k in np.flatnonzero(~np.isnan(row.distance)).tolist():
            if row.accepted is not None:
                outcomes = ("fr", "ga") if row.is_genuine[k] else ("gr", "fa")
                counter = outcomes[int(row.accepted[k])]
                row.adds[k][node] = {counter: 1}
                of_task[counter] += 1
        counts[node] = None if row.accepted is None else of_task
    for node, task in searching.items():
        if task.gallery == "single":
            remarks.append(
                f"{_TASKS[node][0]} is not explained: its counts are means over galleries of one "
                "template per subject"
            )
            continue
        row = listed(task.rank_unit, task.fusion)
        if isinstance(task, OpenSet):
            enrolled = are_enrolled(kept)
            role = role_of(kept.layout, task.impostors, bool(enrolled.all()))
            is_enrolled = bool(enrolled[compared.row])
            is_impostor = role == "both" or is_enrolled == (role == "leave-subject-out")
            counts[node] = _open_set(row, task.ties, is_impostor)
            continue
        best, ranks = _mate(row, task.ties)
        counts[node] = {"skipped": 1} if best is None else {"attempts": 1}
        if best is not None and ranks:
            row.adds[best][node] = {"cms_count": ranks}
            counts[node] = {"attempts": 1, "cms_count": ranks}
    if searching:
        completeness = kept.completeness.of_probes(np.arange(kept.shape[0]) == compared.row)
        if completeness.incomplete:
            remarks.append(
                f"The probe was compared with {int(completeness.compared[0]):,} of "
                f"{counted(int(completeness.expected[0]), 'gallery templates')}, and its ranks "
                "count these alone."
            )
    return Explanation(
        probe=compared.row,
        name=name,
        visit=visit,
        subject=compared.subject,
        data=sides_in_words(about_attrs(Provenance.from_scores(kept), "", "", ())),
        kind=scores.kind,
        protocol=card.name,
        system=scores.name or "",
        threshold=value,
        threshold_source=source,
        threshold_next=after,
        lists={key: row.entries() for key, row in lists.items()},
        counts=counts,
        claims=kept.claims_title,
        remarks=tuple(remarks),
    )


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


class _Row(NamedTuple):
    """The comparisons of one probe; the arrays and lists have an item for each of them."""

    row: int  # of the evaluated scores
    subject: str  # of the probe, empty where it is not known
    column: np.ndarray  # int: the gallery template
    template: np.ndarray  # names
    subjects: np.ndarray  # names
    score: np.ndarray  # in the units of the scores
    distance: np.ndarray  # float64, NaN where there is no attempt
    is_genuine: np.ndarray  # bool
    reason: np.ndarray  # text
    accepted: np.ndarray | None = None  # bool; None without a threshold
    adds: Sequence[dict[str, Counts]] = ()

    def taken(self, order: np.ndarray) -> _Row:
        """Return some of the comparisons, in this order."""
        return _Row(self.row, self.subject, *(x[order] for x in self[2:9]))

    def entries(self) -> tuple[Entry, ...]:
        entries = []
        for k, distance in enumerate(self.distance.tolist()):
            is_attempt, score = not math.isnan(distance), self.score[k].item()
            accepted = None
            if is_attempt and self.accepted is not None:
                accepted = bool(self.accepted[k])
            entry = Entry(
                place=k + 1 if is_attempt else None,
                template=str(self.template[k]),
                subject=str(self.subjects[k]),
                score=None if math.isnan(score) else score,
                role=("impostor", "genuine")[int(self.is_genuine[k])] if is_attempt else "left out",
                accepted=accepted,
                adds=self.adds[k],
                reason=str(self.reason[k]),
            )
            entries.append(entry)
        return tuple(entries)


def _threshold(tasks: CardTasks, threshold: Any) -> tuple[float | None, float | None, float, Text]:
    """Return a threshold as a distance, in units of the scores, with its next score and source."""
    scores = tasks.scores
    rule = Rule.parse("eer" if threshold is None else threshold)
    source: Text = "as given"
    verifying = next(iter(tasks.verifying.values()), None)
    if rule.name == "fixed":
        chosen = ChosenThreshold(rule.as_distance(scores.kind).values[0], True)
    elif verifying is None:
        if threshold is not None:
            raise ProtocolError(
                f"protocol {tasks.card.name} has no verification for a rule to choose on; give "
                "`threshold` as a number"
            )
        source = "none: the protocol has no verification to choose it on; give a number"
        return None, None, math.nan, source
    else:
        use = verifying.use
        try:
            chosen = chosen_threshold(scores, rule, templates=use.templates, fusion=use.fusion)
        except ProtocolError:
            if threshold is not None:
                raise
            source = "none: there are no genuine, or no impostor attempts to choose it on"
            return None, None, math.nan, source
        if use.templates == "multi":
            # The lists also show the scores of templates that were fused, which may lie between the
            # threshold and the next fused score.
            chosen = replace(chosen, next=math.nan)
        source = say(
            "where verification ({attempts}) has {rule}, on these data",
            attempts=scores.claims_title or f"{use.templates}-template",
            rule=rule_in_words(rule),
        )
    value, after = chosen.in_units(scores.kind).values()
    return chosen.threshold, value, after, source


def _compared(given: Scores, kept: Scores, probe: int | str) -> tuple[str, _Row]:
    """Return the name of a probe, empty for none, and its comparisons."""
    is_list = given.layout == "pairs"
    names = in_words(given.probe_names, given.shape[0])
    if is_list and given.pairs.unordered:
        # Either template of a pair may be the probe, which is then brought to the second side.
        name = probe if isinstance(probe, str) or probe not in range(len(names)) else names[probe]
        is_first = np.array(in_words(given.gallery_names, len(names))) == str(name)
        kept = kept.with_pairs(kept.pairs.exchanged(is_first))
        names = in_words(kept.probe_names, len(names))
    if not isinstance(probe, str):
        i = require_integer("probe", probe, low=0)
    elif probe in names:
        i = names.index(probe)
        if not is_list and names.count(probe) > 1:
            raise DataError(
                f"`probe` is {received(probe)}, the name of {names.count(probe)} templates; give a "
                "position"
            )
    else:
        i = int(probe) if probe.isdecimal() else len(names)
    if i >= len(names):
        raise DataError(
            f"`probe` is {received(probe)}; expected a position from 0 to {len(names) - 1}, or the "
            f"name of a template, such as {names[0]!r}"
        )
    name = names[i] if names[i] != str(i) else ""
    if is_list:  # the pairs of this probe; of a list without names, this pair alone
        pairs = kept.pairs
        places = np.array([i])
        if pairs.templates is not None:
            places = np.flatnonzero(pairs.templates.probe == pairs.templates.probe[i])
        people = None if pairs.people is None else pairs.people.take(places)
        score = kept.values[places]
        return name, _Row(
            row=i,
            subject="" if people is None else str(plain(people.values[people.probe[0]])),
            column=places,
            template=places if pairs.templates is None else pairs.templates.objects()[places, 0],
            subjects=np.full(len(places), "") if people is None else people.objects()[:, 0],
            score=score,
            distance=pairs.distances(kept.kind, kept.nan)[places].astype(np.float64),
            is_genuine=kept.genuine[places],
            reason=np.where(np.isnan(score), _FAILED, ""),
        )
    columns = np.arange(kept.shape[1])
    block = read_rows(kept, slice(i, i + 1))
    distance = np.full(len(columns), np.nan)
    distance[block.candidates] = block.values[0]
    is_genuine = np.zeros(len(columns), dtype=bool)
    is_genuine[block.genuine()[1]] = True
    is_itself = kept.probe_ids[i] == kept.gallery_ids
    score = kept.cells.read(i, i + 1)[0]
    was_masked, is_masked = (
        x.cells.read_mask(i, i + 1)[0] == Mask.IGNORE if x.has_mask else np.False_
        for x in (given, kept)
    )
    # The first that is true is the reason, of comparisons that are no attempts or that failed.
    exclusions = " or ".join(x.in_words for x in kept.exclusions)
    reasons = {
        "the probe itself: a template is never compared with itself": is_itself,
        "left out by the mask": was_masked,
        f"excluded: {exclusions}": excluded(kept, np.full(len(columns), i), columns),
        "left out by the protocol": is_masked,
        _FAILED_CLAIM if kept.claims_title else _FAILED: np.isnan(score),
    }
    conditions = [np.broadcast_to(x, columns.shape) for x in reasons.values()]
    has_people = knows_people(kept)
    labels = [*map(str, kept.gallery_labels.tolist())] if has_people else [""] * len(columns)
    return name, _Row(
        row=i,
        subject=str(kept.probe_labels[i]) if has_people else "",
        column=columns,
        template=np.array(in_words(kept.gallery_names, len(columns))),
        subjects=np.array(labels),
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
        np.array([np.count_nonzero(others & (row.distance < nearest))]),
        np.array([np.count_nonzero(tied)]),
        np.array([np.count_nonzero(tied & (row.column < row.column[best]))]),
        np.array([np.count_nonzero(row.distance[mates] == nearest)]),
        ties,
    )
    return best, dict(zip(ranks.tolist(), weights.tolist(), strict=True))


def _open_set(row: _Row, ties: Ties, is_impostor: bool) -> Counts | None:
    """Return what a row adds to open-set identification; None if that depends on a threshold."""
    counts: Counts = {}
    best, ranks = _mate(row, ties)
    others = np.flatnonzero(~np.isnan(row.distance) & ~row.is_genuine)
    if row.accepted is None and (ranks or (is_impostor and len(others))):
        return None
    if best is not None:
        is_accepted = bool(ranks) and row.accepted is not None and bool(row.accepted[best])
        missed = 1 - ranks.get(1, 0.0) if is_accepted else 1
        added: Counts = {"di": ranks} if is_accepted else {}
        if missed > 0:
            added["fr"] = missed
        row.adds[best]["open_set"] = added
        counts |= {"genuine_attempts": 1, **added}
    if is_impostor and len(others) and row.accepted is not None:
        added = {"fa" if row.accepted[others[0]] else "gr": 1}
        row.adds[others[0]]["open_set"] = added
        counts |= {"impostor_attempts": 1, **added}
    return counts


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
                by_rank = amount if isinstance(amount, dict) else {None: amount}
                of_counter = {"probe": self.probe, "task": task, "measure": name}
                records += [
                    {**of_counter, "rank": k, "value": float(x)} for k, x in by_rank.items()
                ]
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
        # Long lists are shortened.
        shown = [*range(len(entries))]
        accepted = sum(bool(entry.accepted) for entry in entries)
        if len(entries) > _LONGEST:
            genuine = [k for k in shown if entries[k].role == "genuine"][:_MOST_GENUINE]
            left_out = [k for k in shown if entries[k].place is None][:_FIRST]
            around = range(max(0, accepted - 2), min(accepted + 2, len(entries)))
            around = around if self.threshold is not None else range(0)
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
            rejects_all = math.isnan(self.threshold)
            at = None if rejects_all else Threshold(self.threshold, next=self.threshold_next)
            role = "threshold: reject all" if rejects_all else "threshold"
            line: list[Text | None] = [None, None, "", "", at, role, *([None] * len(tasks)), ""]
            rows.insert(sum(bool(entries[k].accepted) for k in shown), line)
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
        amounts = counts.get(name, {})
        for rank, amount in (amounts if isinstance(amounts, dict) else {0: amounts}).items():
            text = say(symbol, task="identification", rank=Label(rank)) if "{" in symbol else symbol
            # A comparison adds 1, except where ties share it.
            share = say("{symbol} {n}", symbol=text, n=Number(amount, digits=3))
            texts.append(text if counts.keys() == {name} and amount == 1 else share)
    return Enumeration(texts, "") if texts else ""
