"""The comparisons of one row as an ordered list of templates or subjects; queries of re-ID.

What is an attempt is read off the blocks that are counted (:class:`BlockReader`); here is said why
some comparisons are not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from bioeval.attempts.tied_places import place_weights
from bioeval.attempts.verification_counter import Claim
from bioeval.base.kinds import larger_is_closer
from bioeval.document.cells import Label, Number, Score
from bioeval.document.text import Enumeration, Text, say
from bioeval.protocol.card import Protocol
from bioeval.protocol.pairs import with_exclusions
from bioeval.scores.arrays import Mask
from bioeval.scores.blocks import BlockReader
from bioeval.scores.labels import plain, template_names
from bioeval.scores.matrix import Scores, codes_of, knows_people
from bioeval.studies.explain.results import (
    GENUINE,
    IMPOSTOR,
    LEFT_OUT,
    Count,
    Entry,
    TaskExplanation,
)
from bioeval.tasks.reid.candidate_lists import Lists, RowReader
from bioeval.tasks.reid.convention import Convention

SELF_COMPARISON = "the probe itself: a template is never compared with itself"

FAILED = "failed comparison (NaN)"


@dataclass(frozen=True)
class Cell:
    """One comparison of a row."""

    column: int  # the gallery template, from 0
    group: int  # its subject, in the order of the gallery
    genuine: bool  # whether it is genuine: of the probe's subject, or so by the mask
    distance: float | None  # smaller is closer; None where it is not an attempt
    score: float | None  # as given; None where it is never read
    why: Text  # why it is not an attempt, or that it failed


class RowCells:
    """Reads the comparisons of a row, as `reader` counts them.

    `original` are the scores before the `card` left out comparisons.
    """

    def __init__(self, reader: BlockReader, original: Scores, card: Protocol):
        """Take the names of the gallery; rows are read on request."""
        self.reader, self.scores = reader, reader.scores
        self.original, self.excluding, self.card = original, with_exclusions(original, card), card
        self.names = template_names(self.scores.gallery_meta, self.scores.shape[1])
        labelled = knows_people(self.scores)
        subjects = self.scores.gallery_labels.tolist() if labelled else []
        self.subjects = list(map(str, subjects)) or [""] * self.scores.shape[1]
        self._known: dict[int, tuple[Cell, ...]] = {}

    def of(self, i: int) -> tuple[Cell, ...]:
        """Return the comparisons of row `i`, in the order of the columns."""
        if i not in self._known:
            self._known = {i: tuple(self._read(i))}
        return self._known[i]

    def _read(self, i: int) -> list[Cell]:
        """Return the comparisons of row `i`, and why some are left out."""
        block = self.reader.block(i, i + 1)
        row, gallery = i - block.low, self.reader.gallery
        raw = self.reader.given.read(i, i + 1)[0].tolist()
        group = np.repeat(np.arange(len(gallery.subjects)), np.diff(gallery.starts)).tolist()
        genuine = np.zeros(len(raw), dtype=bool)
        genuine[block.mate_start[row] : block.mate_stop[row]] = True
        if not knows_people(self.scores) and block.mask is not None:
            genuine = block.mask[row] == Mask.GENUINE
        columns, distances = block.columns[0].tolist(), block.values[row].tolist()
        probe_position, reasons = int(block.probe_position[row]), None
        cells = []
        why: Text
        for position, (column, distance) in enumerate(zip(columns, distances, strict=True)):
            score, why = raw[column], ""
            if position == probe_position:
                score, distance, why = None, math.nan, SELF_COMPARISON
            elif math.isnan(distance):
                reasons = reasons or _Reasons(self, i)
                why = reasons.of(column)
            elif math.isnan(score):
                why = f"{FAILED}: an attempt at an infinite distance"
            usable = distance if not math.isnan(distance) else None
            cells.append(Cell(column, group[position], bool(genuine[position]), usable, score, why))
        return sorted(cells, key=lambda cell: cell.column)


class _Reasons:
    """Reasons why comparisons of a row, other than with the probe itself, are not attempts."""

    def __init__(self, row: RowCells, i: int):
        """Read what leaves comparisons of row `i` out: the mask, rules of the card."""
        self.scores, self.i = row.excluding, i
        self.masked = BlockReader(row.original).given.masked(i, i + 1)[0]
        self.removed = BlockReader(row.scores).given.masked(i, i + 1)[0]
        columns = np.arange(self.scores.shape[1])
        self.excluded = self.scores._excluded(np.full(len(columns), i), columns)
        verification = row.card.verification
        self.pairs = "ordered" if verification is None else verification.pairs

    def of(self, column: int) -> Text:
        """Return the reason of one comparison."""
        if self.masked[column]:
            return "left out by the mask"
        if self.excluded[column]:
            return self._rule(column)
        if self.removed[column]:
            if self.pairs != "ordered":
                return f"no pair of the rule pairs = {self.pairs}"
            return "removed by the convention of re-identification"
        return FAILED

    def _rule(self, column: int) -> Text:
        """Return in words why `exclude` leaves a comparison out, with the values of a column."""
        rows, columns = np.array([self.i]), np.array([column])
        mates = codes_of(self.scores).probe[rows] == codes_of(self.scores).gallery[columns]
        for rule in self.scores._exclusions.rules:
            exclusion = rule.exclusion
            if (rule.holds(rows, columns) & (mates | exclusion.of_all)).all():
                break
        whose = "" if exclusion.of_all else "same subject and "
        values = {
            "name": exclusion.column,
            "probe": plain(self.scores.probe_meta[exclusion.column][self.i]),
            "gallery": plain(self.scores.gallery_meta[exclusion.column][column]),
        }
        if exclusion.values is None and not exclusion.differs:
            return say(f"{whose}same {{name:name}} ({{probe:name}})", **values)
        return say(f"{whose}{{name:name}} {{probe:name}} against {{gallery:name}}", **values)


#: Most templates of a subject whose scores are listed beside its fused score.
MOST_LISTED = 3


@dataclass(frozen=True)
class RowThreshold:
    """A threshold as a distance (None without one), and the rule of acceptance in words."""

    distance: float | None
    kind: str

    def accepts(self, distance: float) -> bool | None:
        """Return whether a distance is accepted; None without a threshold. NaN rejects all."""
        return None if self.distance is None else distance <= self.distance

    @property
    def sign(self) -> int:
        """Factor that turns a distance into a score."""
        return -1 if larger_is_closer(self.kind) else 1


@dataclass(frozen=True)
class Lister:
    """Makes entries of the candidates of a row."""

    row: RowCells
    threshold: RowThreshold
    unit: str
    fusion: str

    def entries(self, candidates: Sequence[Candidate], ties: str) -> list[Entry]:
        """Return the list of candidates, followed by those that are left out."""
        tied = tied_columns(candidates)
        listed = []
        for place, candidate in enumerate(ordered(candidates, ties), start=1):
            assert candidate.distance is not None
            accepted = self.threshold.accepts(candidate.distance)
            is_tied = candidate.column in tied
            entry = self._entry(candidate)
            listed.append(replace(entry, place=place, accepted=accepted, tied=is_tied))
        for candidate in candidates:
            if candidate.distance is None:
                listed.append(self._entry(candidate))
        return listed

    def _entry(self, candidate: Candidate) -> Entry:
        """Return a candidate as an entry without a place."""
        score = candidate.cells[0].score
        reasons = [candidate.why]
        if self.unit == "subject":
            score = None
            if candidate.distance is not None:
                score = self.threshold.sign * candidate.distance + 0.0
                reasons = [candidate.why or self._fused(candidate)]
        role = IMPOSTOR
        if candidate.distance is None:
            role = LEFT_OUT
        elif candidate.genuine:
            role = GENUINE
        return Entry(
            place=None,
            column=candidate.decides,
            template=self.row.names[candidate.decides],
            subject=self.row.subjects[candidate.decides],
            score=score,
            role=role,
            reasons=tuple(filter(None, reasons)),
        )

    def _fused(self, candidate: Candidate) -> Text:
        """Return the templates of which a fused score is made."""
        used = usable(candidate.cells)
        if len(used) < 2:
            return ""
        method, k = Claim("multi", self.fusion).rule
        words = {"min": "nearest", "max": "farthest", "kth": f"number {k} by nearness"}
        method_name = words.get(method, method)
        if len(used) > MOST_LISTED:
            return say("{method} of {used:count templates}", method=method_name, used=len(used))
        scores = [
            say("{name}: {score}", name=Label(self.row.names[c.column]), score=_score(c))
            for c in used
        ]
        return say("{method} of {scores}", method=method_name, scores=Enumeration(scores, ""))


def _score(cell: Cell) -> Text:
    return Score(math.nan if cell.score is None else cell.score)


def adding(
    entry: Entry, accepted: tuple[Count, ...], rejected: tuple[Count, ...], *reasons: Text
) -> Entry:
    """Return an entry that adds to some counters, with reasons put before its own."""
    return replace(
        entry,
        if_accepted=accepted,
        if_rejected=rejected,
        reasons=(*reasons, *entry.reasons),
    )


@dataclass(frozen=True)
class Candidate:
    """An entry of a list: a template, or a subject with its templates.

    `column` is the template that ties of stable order go by, and `decides` the one that is shown;
    `distance` is None where it is not an attempt.
    """

    column: int
    decides: int
    group: int
    genuine: bool
    distance: float | None
    why: Text
    cells: tuple[Cell, ...]


Listed = TypeVar("Listed", Cell, Candidate)


def usable(listed: Iterable[Listed]) -> list[Listed]:
    """Return the comparisons, or candidates, that are attempts."""
    return [each for each in listed if each.distance is not None]


def templates(cells: Iterable[Cell]) -> list[Candidate]:
    """Return each template as a candidate."""
    return [
        Candidate(c.column, c.column, c.group, c.genuine, c.distance, c.why, (c,)) for c in cells
    ]


def by_group(listed: Iterable[Listed]) -> dict[int, list[Listed]]:
    """Return comparisons, or candidates, by their subject."""
    groups: dict[int, list[Listed]] = {}
    for each in listed:
        groups.setdefault(each.group, []).append(each)
    return groups


def subjects(cells: Sequence[Cell], fusion: str) -> list[Candidate]:
    """Return each subject as a candidate, by the fused score of its usable templates."""
    return [_subject(tuple(group), fusion) for group in by_group(cells).values()]


def _subject(cells: tuple[Cell, ...], fusion: str) -> Candidate:
    """Return a subject, shown by the nearest of the templates that decide its score."""
    used, first = usable(cells), cells[0]
    candidate = Candidate(first.column, first.column, first.group, first.genuine, None, "", cells)
    if not used:
        reasons = list[Text]()
        for cell in cells:
            if cell.why not in reasons:
                reasons.append(cell.why)
        gone = "no template of the subject is left ({reasons})"
        return replace(candidate, why=say(gone, reasons=Enumeration(reasons, ";")))
    nearest = decides = min(used, key=lambda cell: (cell.distance, cell.column))
    why, distances = "", [cell.distance for cell in used if cell.distance is not None]
    distance = fused(distances, fusion)
    if distance is None:
        why = f"fewer than {Claim('multi', fusion).rule[1]} usable templates, for fusion {fusion}"
    elif distance in distances:
        decides = min(used, key=lambda cell: (cell.distance != distance, cell.column))
    return replace(
        candidate, column=nearest.column, decides=decides.column, distance=distance, why=why
    )


def fused(distances: Sequence[float], fusion: str) -> float | None:
    """Return the fused distance of a subject's templates.

    None for the k-th smallest of fewer; with infinities of both signs, where a mean is undefined,
    infinity, which rejects at every threshold.

    Examples
    --------
    >>> fused([0.5, 0.25], "min"), fused([0.5, 0.25], "mean"), fused([0.5], "kth:2")
    (0.25, 0.375, None)
    """
    method, k = Claim("multi", fusion).rule
    if method == "min":
        return min(distances)
    if method == "max":
        return max(distances)
    if method == "kth":
        return sorted(distances)[k - 1] if len(distances) >= k else None
    if method == "median":
        inner = sorted(distances)[(len(distances) - 1) // 2 : len(distances) // 2 + 1]
        middle = inner[0] if inner[0] == inner[-1] else 0.5 * inner[0] + 0.5 * inner[-1]
    else:
        from bioeval.kernels.fuse import mean_of

        middle = mean_of([*distances], len(distances))
    return math.inf if math.isnan(middle) else middle


def ordered(candidates: Sequence[Candidate], ties: str) -> list[Candidate]:
    """Return the usable candidates in the order of the list.

    Of equally close ones, those of other subjects are first under pessimistic ties, the probe's own
    under optimistic ties; otherwise, and within, the order is that of the columns.
    """
    sign = {"pessimistic": 1, "optimistic": -1}.get(ties, 0)

    def key(candidate: Candidate) -> tuple[float, int, int]:
        assert candidate.distance is not None
        return candidate.distance, sign * candidate.genuine, candidate.column

    return sorted(usable(candidates), key=key)


class AheadOfMate(NamedTuple):
    """What the rank of a best mate depends on."""

    closer: int  # others that are closer
    tied: int  # others exactly as close
    before: int  # those of the tied in earlier columns
    mates: int  # mates exactly as close, itself among them


def places(ahead: AheadOfMate, ties: str) -> list[tuple[int, float]]:
    """Return the possible ranks of a best mate with their weights."""
    closer, tied, before, mates = np.array(ahead, dtype=np.int64)[:, None]
    _, ranks, weights = place_weights(closer, tied, before, mates, ties)
    return list(zip(ranks.tolist(), weights.tolist(), strict=True))


def tied_columns(candidates: Sequence[Candidate]) -> set[int]:
    """Return the columns of candidates tied with one of the other role."""
    distances: dict[bool, set[float | None]] = {True: set(), False: set()}
    for candidate in usable(candidates):
        distances[candidate.genuine].add(candidate.distance)
    shared = distances[True] & distances[False]
    return {candidate.column for candidate in candidates if candidate.distance in shared}


OF_CMC = "the list of the CMC"
OF_AP = "the list of average precision"


@dataclass(frozen=True)
class Match:
    """A match of a query: its place among the matches, and the non-matches before it or tied."""

    candidate: Candidate
    order: int
    closer: int
    tied: int
    before: int

    @property
    def ahead(self) -> AheadOfMate:
        """What its rank depends on where it is the only match."""
        return AheadOfMate(self.closer, self.tied, self.before, mates=1)

    def rank(self, ties: str) -> int:
        """Return the rank; with expected ties the stable rank."""
        behind = {"pessimistic": self.tied, "optimistic": 0}.get(ties, self.before)
        return self.order + self.closer + behind


@dataclass(frozen=True)
class QueryRow:
    """One query, with the candidate lists of its convention."""

    row: RowCells
    i: int
    lists: Lists

    @property
    def convention(self) -> Convention:
        """The convention."""
        return self.lists.convention

    @property
    def counts_as_zero(self) -> bool:
        """Whether the query is in the means even if no match is left."""
        return self.convention.unmatched == "zero" and not self.lists.left_out[self.i]

    def candidates(self, rule: str) -> list[Candidate]:
        """Return all gallery entries; excluded ones have no distance."""
        lists, i = self.lists, self.i
        scores = lists.scores
        listed = lists.rules[rule].kept[lists.rules[rule].list_index[i]].copy()
        same_identity = lists.identity == lists.query_identity[i]
        if lists.rules[rule].same_camera:
            listed &= ~(same_identity & (lists.camera == lists.query_camera[i]))
        self_column = int(lists.self_column[i])
        if self_column >= 0:
            listed[self_column] = False
        raw_rows = RowReader(scores).given
        raw, values = raw_rows.read(i, i + 1), raw_rows.distances(i, i + 1)[0]
        if scores._has_mask or scores.exclude or np.isnan(values[listed]).any():
            values = RowReader(scores).block(i, i + 1).values[0]
        cells = []
        for column, distance in enumerate(values.tolist()):
            identity, score = int(lists.identity[column]), raw[0, column].item()
            why: Text = ""
            if column == self_column:
                distance, score, why = None, None, SELF_COMPARISON
            elif not listed[column]:
                distance, why = None, self._removed(rule, column)
            elif np.isnan(distance):
                distance, why = None, self.row.of(i)[column].why or FAILED
            elif np.isnan(score):
                why = f"{FAILED}: at an infinite distance"
            elif lists.distractors[identity]:
                why = "distractor"
            cells.append(Cell(column, identity, bool(same_identity[column]), distance, score, why))
        return templates(cells)

    def _removed(self, rule: str, column: int) -> Text:
        """Return why the convention removes an entry."""
        lists = self.lists
        if lists.marked[lists.identity[column]] and self.convention.junk == "remove":
            return "junk: removed by the convention"
        meta = lists.scores.gallery_meta
        camera: Text = ""
        if "camera" in meta:
            camera = say(" ({camera:name})", camera=plain(meta["camera"][column]))
        if rule == "same-camera":
            removed = "same camera{camera} as the query: removed by the convention"
        else:
            removed = "same identity and same camera{camera}: removed by the convention"
        return say(removed, camera=camera)


def matches_of(candidates: Sequence[Candidate]) -> list[Match]:
    """Return the matches of a query in order, nearest first."""
    mates = []
    non_matches = []
    for candidate in ordered(candidates, "stable"):
        if candidate.genuine:
            mates.append(candidate)
        elif candidate.distance is not None:
            non_matches.append((candidate.distance, candidate.column))
    distances, columns = np.array(non_matches, dtype=float).reshape(-1, 2).T
    matches = []
    for order, match in enumerate(mates, start=1):
        tied = distances == match.distance
        closer = int((distances < match.distance).sum())
        before = int((tied & (columns < match.column)).sum())
        matches.append(Match(match, order, closer, int(tied.sum()), before))
    return matches


def ahead_of_first(matches: Sequence[Match]) -> AheadOfMate:
    """Return what the rank of the first match depends on."""
    first = matches[0]
    equal = sum(m.candidate.distance == first.candidate.distance for m in matches)
    return AheadOfMate(first.closer, first.tied, first.before, mates=equal)


def precisions(matches: Sequence[Match], ties: str, form: str) -> list[float]:
    """Return the precision at each match, by a form of average precision."""
    if form != "tied-once" and _undefined(matches, ties):
        return [float("nan")] * len(matches)
    last = {match.candidate.distance: match.order for match in matches}  # of equally close ones
    values = []
    for match in matches:
        rank, order = match.rank(ties), match.order
        precision = order / rank
        if form == "trapezoid":
            earlier = (order - 1) / (rank - 1) if rank > 1 else 1.0
            precision = (earlier + precision) / 2
        elif form == "tied-once":
            order = last[match.candidate.distance]
            precision = order / (order + match.closer + match.tied)
        values.append(precision)
    return values


def _undefined(matches: Sequence[Match], ties: str) -> bool:
    """Whether means over the matches are not defined: with expected ties."""
    return ties == "expected" and any(match.tied for match in matches)


def cmc_counts(
    candidates: Sequence[Candidate], matches: Sequence[Match], convention: Convention
) -> dict[int, list[Count]]:
    """Return the contribution of each match to the CMC, by its column."""
    ties, counts = convention.ties, convention.cmc
    first = matches[0]
    at = first.candidate.column
    if counts == "allshots":
        shares = {}
        for match in matches:
            shares[match.candidate.column] = _shares(places(match.ahead, ties), 1 / len(matches))
        return shares
    if counts == "first-match":
        return {at: _shares(places(ahead_of_first(matches), ties))}
    if counts == "identity-dedup":
        listed = [first.candidate]
        for group in by_group(ordered(candidates, "stable")).values():
            if not group[0].genuine:
                listed.append(group[0])
        return {at: _shares(places(matches_of(listed)[0].ahead, ties))}
    return _single_shots(candidates, matches, convention)


def _single_shots(
    candidates: Sequence[Candidate], matches: Sequence[Match], convention: Convention
) -> dict[int, list[Count]]:
    """Return the probability of each rank where each identity has one entry, drawn uniformly.

    The match is each of them with equal chance; each other identity is closer with the proportion
    of its entries that are, so that the rank is 1 + a sum of independent 0s and 1s.
    """
    if convention.ties == "expected":
        return {}
    groups = by_group(c for c in usable(candidates) if not c.genuine)
    shares = {}
    for match in matches:
        chances = np.ones(1)  # of 0, 1, 2 ... identities that are closer
        for entries in groups.values():
            p = sum(_before(c, match.candidate, convention.ties) for c in entries) / len(entries)
            chances = np.append(chances, 0.0) * (1 - p) + np.append(0.0, chances) * p
        counts = []
        for rank, chance in enumerate(chances.tolist(), start=1):
            if chance:
                counts.append(Count("cmc_count", rank, chance / len(matches)))
        shares[match.candidate.column] = counts
    return shares


def _before(other: Candidate, match: Candidate, ties: str) -> bool:
    """Whether an entry of another identity is before a match."""
    assert other.distance is not None and match.distance is not None
    if other.distance != match.distance:
        return other.distance < match.distance
    return ties == "pessimistic" or (ties == "stable" and other.column < match.column)


def _shares(ranks: Sequence[tuple[int, float]], each: float = 1) -> list[Count]:
    return [Count("cmc_count", rank, weight * each) for rank, weight in ranks]


def explain_query(query: QueryRow) -> list[TaskExplanation]:
    """Return the explanation of a query; two if CMC and average precision have two lists."""
    convention = query.convention
    if convention.ap_removed == convention.removed:
        return [_explained(query, convention.removed, "")]
    return [
        _explained(query, convention.removed, OF_CMC),
        _explained(query, convention.ap_removed, OF_AP),
    ]


def _explained(query: QueryRow, rule: str, role: str) -> TaskExplanation:
    """Return the explanation of a query on one list: of the CMC, of average precision, or both."""
    convention, ties = query.convention, query.convention.ties
    candidates = query.candidates(rule)
    matches = matches_of(candidates)
    adds: dict[int, list[Count]] = {}
    for match in matches:
        adds[match.candidate.column] = []
    reasons = dict[int, Text]()
    if matches and role != OF_AP:
        for column, counts in cmc_counts(candidates, matches, convention).items():
            adds[column] += counts
    if role != OF_CMC:
        parts = precisions(matches, ties, convention.ap)
        for match, precision in zip(matches, parts, strict=True):
            column = match.candidate.column
            adds[column].append(Count("average_precision", None, precision / len(matches)))
            fraction = say(
                "{precision} ({form})", precision=Number(precision, digits=3), form=convention.ap
            )
            if convention.ap == "sum" and precision == precision:
                fraction = say("{order:name}/{rank:name}", order=match.order, rank=match.rank(ties))
            reasons[column] = say(
                "match {order:count} of {matches:count}: precision {fraction}",
                order=match.order,
                matches=len(matches),
                fraction=fraction,
            )
            adds[column] += _cut(match, convention, matches)
        if matches:
            last = matches[-1]
            defined = not _undefined(matches, ties)
            inp = len(matches) / last.rank(ties) if defined else float("nan")
            adds[last.candidate.column].append(Count("inp", None, inp))
    lister = Lister(query.row, RowThreshold(None, query.lists.scores.kind), "template", "min")
    entries = []
    for entry in lister.entries(candidates, "stable" if ties == "expected" else ties):
        if entry.column in adds and entry.place is not None:
            added = tuple(adds[entry.column])
            reason = [reasons[entry.column]] if entry.column in reasons else []
            entry = adding(entry, added, added, *reason)
        entries.append(entry)
    also: tuple[Count, ...] = ()
    remarks: list[Text] = []
    if role != OF_CMC:
        also, remarks = _of_query(query, matches)
    else:
        is_counted = bool(matches) or query.counts_as_zero
        also = (Count("cmc_queries", amount=int(is_counted)),)
        if not matches:
            remarks = [_NO_MATCH_OF_CMC[is_counted]]
    remarks += _ties(matches, ties)
    return TaskExplanation(
        task="reid",
        role=role,
        unit="template",
        rule=_rule(convention, role),
        entries=tuple(entries),
        also=also,
        remarks=tuple(remarks),
    )


def _cut(match: Match, convention: Convention, matches: Sequence[Match]) -> list[Count]:
    """Return the contribution of a match to the average precision of a list cut at rank K."""
    if convention.rank_k is None:
        return []
    over = len(matches)
    if convention.rank_k_over == "smaller":
        over = min(over, convention.rank_k)
    elif convention.rank_k_over == "found":
        over = sum(x.rank(convention.ties) <= convention.rank_k for x in matches)
    rank = match.rank(convention.ties)
    if rank > convention.rank_k:
        return []
    return [Count("rank_k_average_precision", None, match.order / rank / over)]


#: What becomes of a query without a match on the list of the CMC, by whether it is counted.
_NO_MATCH_OF_CMC = {
    True: "No match is left on this list: the query counts as 0 in the CMC.",
    False: "No match is left on this list: the query is left out of the CMC.",
}


def _of_query(query: QueryRow, matches: Sequence[Match]) -> tuple[tuple[Count, ...], list[Text]]:
    """Return the contributions of the query besides those of its matches."""
    if matches:
        return (Count("queries"),), []
    if query.lists.left_out[query.i]:
        note = (
            "The query is junk or a distractor: it matches nothing, and is left out of every mean."
        )
        return (Count("left_out"),), [note]
    gone = "its identity is not in the gallery"
    if query.lists.enrolled[query.i]:
        gone = "every match is removed or failed"
    if query.counts_as_zero:
        return (Count("queries"),), [f"No match is left ({gone}): it counts as 0 in every mean."]
    return (Count("skipped"),), [f"No match is left ({gone}): it is left out of every mean."]


def _ties(matches: Sequence[Match], ties: str) -> list[Text]:
    """Return a note on matches that are tied; none without any."""
    tied = sum(match.tied > 0 for match in matches)
    if not tied:
        return []
    undefined = "; average precision is not defined then (NaN)" if ties == "expected" else ""
    return [
        say(
            "Tie: {tied:count matches} {have} entries of another identity exactly as close. Ties "
            "are {ties}{undefined}.",
            tied=tied,
            have="has" if tied == 1 else "have",
            ties=ties,
            undefined=undefined,
        )
    ]


def _rule(convention: Convention, role: str) -> str:
    """Return what counts on a list, in one sentence."""
    counts = {
        "first-match": "the first match counts in the CMC",
        "allshots": "each match counts in the CMC, with 1 / matches, at its rank among non-matches",
        "single-gallery-shot": "the CMC is the mean over galleries of one entry of each identity",
        "identity-dedup": "the rank of the identity counts in the CMC, each identity once",
    }[convention.cmc]
    precision = "average precision is the mean of the precisions at the matches"
    if convention.ap == "trapezoid":
        precision = "average precision is the mean of (P(k - 1) + P(k)) / 2 at the matches"
    if convention.ap == "tied-once":
        precision += ", equal scores as one threshold"
    return {"": f"{counts}; {precision}", OF_CMC: counts, OF_AP: precision}[role]
