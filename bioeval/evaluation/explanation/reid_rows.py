"""One query under re-identification: its matches, their ranks, and the precision at each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bioeval.evaluation.explanation.entries import (
    FAILED,
    ITSELF,
    Candidate,
    Cell,
    Lister,
    RowCells,
    RowThreshold,
    adding,
    ordered,
    places,
    templates,
)
from bioeval.protocol.reid import Convention
from bioeval.results.explanation import Count, TaskExplanation
from bioeval.scores.blocks import as_distances
from bioeval.scores.labels import plain
from bioeval.tallies.reid_jobs import Lists, RowReader

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

    def candidates(self, rule: str) -> list[Candidate]:
        """Return all gallery entries; excluded ones have no distance."""
        lists, i = self.lists, self.i
        scores = lists.scores
        listed = lists.rules[rule].kept[lists.rules[rule].which[i]].copy()
        own = lists.identity == lists.own[i]
        if lists.rules[rule].same_camera:
            listed &= ~(own & (lists.camera == lists.query_camera[i]))
        itself = int(lists.self_column[i])
        if itself >= 0:
            listed[itself] = False
        raw = scores.read_rows(i, i + 1)
        values = as_distances(raw, scores.kind)[0]
        if scores.has_mask or scores.exclude or np.isnan(values[listed]).any():
            values = RowReader(scores).block(i, i + 1).values[0]
        found = []
        for column, distance in enumerate(values.tolist()):
            score, why, usable = raw[0, column].item(), "", bool(listed[column])
            if column == itself:
                score, why = None, ITSELF
            elif not usable:
                why = self._removed(rule, column)
            elif np.isnan(distance):
                cells = {cell.column: cell.why for cell in self.row.of(i)}
                why, usable = cells[column] or FAILED, False
            elif np.isnan(score):
                why = f"{FAILED}: at an infinite distance"
            elif self.row.subjects[column] in map(str, lists.distractor_ids):
                why = "distractor"
            found.append(
                Cell(
                    column, int(lists.identity[column]), bool(own[column]),
                    distance if usable else None, score, why,
                )
            )  # fmt: skip
        return templates(found)

    def _removed(self, rule: str, column: int) -> str:
        """Return why the convention removes an entry."""
        lists = self.lists
        if lists.marked[lists.identity[column]] and self.convention.junk == "remove":
            return "junk: removed by the convention"
        camera = self._camera(column)
        if rule == "same-camera":
            return f"same camera{camera} as the query: removed by the convention"
        return f"same identity and same camera{camera}: removed by the convention"

    def _camera(self, column: int) -> str:
        meta = self.lists.scores.gallery_meta
        return f" ({plain(meta['camera'][column])})" if "camera" in meta else ""


def matches_of(candidates: Sequence[Candidate]) -> list[Match]:
    """Return the matches of a query in order, nearest first."""
    usable = ordered(candidates, "stable")
    others = [c for c in usable if not c.own]
    found = []
    for order, match in enumerate((c for c in usable if c.own), start=1):
        assert match.distance is not None
        closer = sum(c.distance is not None and c.distance < match.distance for c in others)
        tied = [c for c in others if c.distance == match.distance]
        before = sum(c.column < match.column for c in tied)
        found.append(Match(match, order, closer, len(tied), before))
    return found


def precisions(matches: Sequence[Match], ties: str, form: str) -> list[float]:
    """Return the precision at each match, by a form of average precision."""
    found = []
    for match in matches:
        rank, order = match.rank(ties), match.order
        precision = order / rank
        if form == "trapezoid":
            earlier = (order - 1) / (rank - 1) if rank > 1 else 1.0
            precision = (earlier + precision) / 2
        elif form == "tied-once":
            same = [m.order for m in matches if m.candidate.distance == match.candidate.distance]
            precision = max(same) / (max(same) + match.closer + match.tied)
        elif ties == "expected" and any(m.tied for m in matches):
            precision = float("nan")
        found.append(precision)
    if ties == "expected" and form == "trapezoid" and any(m.tied for m in matches):
        return [float("nan")] * len(found)
    return found


def cmc_counts(
    candidates: Sequence[Candidate], matches: Sequence[Match], convention: Convention
) -> dict[int, list[Count]]:
    """Return the contribution of each match to the CMC, by its column."""
    ties, counts = convention.ties, convention.cmc
    first = matches[0]
    at = first.candidate.column
    if counts == "allshots":
        return {
            m.candidate.column: _shares(
                places((m.closer, m.tied, m.before, 1), ties), 1 / len(matches)
            )
            for m in matches
        }
    if counts == "first-match":
        equal = sum(m.candidate.distance == first.candidate.distance for m in matches)
        facts = first.closer, first.tied, first.before, equal
        return {at: _shares(places(facts, ties))}
    if counts == "identity-dedup":
        of_each: dict[int, Candidate] = {}
        for candidate in ordered(candidates, "stable"):
            of_each.setdefault(candidate.group, candidate)
        nearest = [c for c in of_each.values() if not c.own]
        best = first.candidate
        closer = [c for c in nearest if _closer(c, best)]
        tied = [c for c in nearest if c.distance == best.distance]
        before = sum(c.column < best.column for c in tied)
        return {at: _shares(places((len(closer), len(tied), before, 1), ties))}
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
    groups: dict[int, list[Candidate]] = {}
    for candidate in candidates:
        if not candidate.own and candidate.distance is not None:
            groups.setdefault(candidate.group, []).append(candidate)
    found = {}
    for match in matches:
        chances = [1.0]  # of 0, 1, 2 ... identities that are closer
        for entries in groups.values():
            p = sum(_before(c, match.candidate, convention.ties) for c in entries) / len(entries)
            chances = [
                a * (1 - p) + b * p for a, b in zip([*chances, 0.0], [0.0, *chances], strict=True)
            ]
        found[match.candidate.column] = [
            Count("cmc_count", rank, chance / len(matches))
            for rank, chance in enumerate(chances, start=1)
            if chance
        ]
    return found


def _before(other: Candidate, match: Candidate, ties: str) -> bool:
    if other.distance != match.distance:
        return _closer(other, match)
    return ties == "pessimistic" or (ties == "stable" and other.column < match.column)


def _closer(one: Candidate, other: Candidate) -> bool:
    return one.distance is not None and other.distance is not None and one.distance < other.distance


def _shares(ranks: Sequence[tuple[int, float]], each: float = 1) -> list[Count]:
    return [Count("cmc_count", rank, weight * each) for rank, weight in ranks]


def explain_query(query: QueryRow) -> list[TaskExplanation]:
    """Return the explanation of a query; two if CMC and average precision have two lists."""
    convention = query.convention
    one_list = convention.ap_removed == convention.removed
    if one_list:
        return [_explained(query, convention.removed, "")]
    return [
        _explained(query, convention.removed, OF_CMC),
        _explained(query, convention.ap_removed, OF_AP),
    ]


def _explained(query: QueryRow, rule: str, which: str) -> TaskExplanation:
    convention, ties = query.convention, query.convention.ties
    candidates = query.candidates(rule)
    matches = matches_of(candidates)
    adds: dict[int, list[Count]] = {m.candidate.column: [] for m in matches}
    reasons: dict[int, str] = {}
    if matches and which != OF_AP:
        for column, counts in cmc_counts(candidates, matches, convention).items():
            adds[column] += counts
    if which != OF_CMC:
        parts = precisions(matches, ties, convention.ap)
        for match, precision in zip(matches, parts, strict=True):
            column = match.candidate.column
            adds[column].append(Count("average_precision", None, precision / len(matches)))
            reasons[column] = _precision(match, precision, convention, len(matches))
            adds[column] += _cut(match, convention, len(matches))
        if matches:
            last = matches[-1]
            unclear = ties == "expected" and any(m.tied for m in matches)
            inp = float("nan") if unclear else len(matches) / last.rank(ties)
            adds[last.candidate.column].append(Count("inp", None, inp))
    lister = Lister(query.row, RowThreshold(None, query.lists.scores.kind), "template", "min")
    entries = []
    for entry in lister.entries(candidates, "stable" if ties == "expected" else ties):
        if entry.column in adds and entry.place is not None:
            given = tuple(adds[entry.column])
            entry = adding(entry, given, given, reasons.get(entry.column, ""))
        entries.append(entry)
    also, notes = ((), []) if which == OF_CMC else _of_query(query, matches)
    if which == OF_CMC and not matches:
        notes = ["No match is left on this list: the CMC finds none."]
    notes += _ties(matches, ties)
    return TaskExplanation(
        task="reid",
        role=which,
        unit="template",
        rule=_rule(convention, which),
        entries=tuple(entries),
        also=also,
        notes=tuple(notes),
    )


def _precision(match: Match, precision: float, convention: Convention, number: int) -> str:
    """Return in words the contribution of a match to average precision."""
    if convention.ap == "sum" and precision == precision:
        rank = match.rank(convention.ties)
        return f"match {match.order} of {number}: precision {match.order}/{rank}"
    return f"match {match.order} of {number}: precision {precision:.3g} ({convention.ap})"


def _cut(match: Match, convention: Convention, number: int) -> list[Count]:
    """Return the contribution of a match to the average precision of a list cut at rank K."""
    if convention.rank_k is None:
        return []
    over = number if convention.rank_k_over == "positives" else min(number, convention.rank_k)
    rank = match.rank(convention.ties)
    if rank > convention.rank_k:
        return []
    return [Count("rank_k_average_precision", None, match.order / rank / over)]


def _of_query(query: QueryRow, matches: Sequence[Match]) -> tuple[tuple[Count, ...], list[str]]:
    """Return the contributions of the query besides those of its matches."""
    if matches:
        return (Count("queries"),), []
    gone = "its identity is not in the gallery"
    if query.lists.enrolled[query.i]:
        gone = "every match is removed or failed"
    if query.convention.unmatched == "zero":
        return (Count("queries"),), [f"No match is left ({gone}): it counts as 0 in every mean."]
    return (Count("skipped"),), [f"No match is left ({gone}): it is left out of every mean."]


def _ties(matches: Sequence[Match], ties: str) -> list[str]:
    tied = [m for m in matches if m.tied]
    if not tied:
        return []
    what = "1 match has" if len(tied) == 1 else f"{len(tied)} matches have"
    undefined = "; average precision is not defined then (NaN)" if ties == "expected" else ""
    others = "entries of another identity exactly as close"
    return [f"Tie: {what} {others}. Ties are {ties}{undefined}."]


def _rule(convention: Convention, which: str) -> str:
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
    parts = {"": [counts, precision], OF_CMC: [counts], OF_AP: [precision]}[which]
    return "; ".join(parts)
