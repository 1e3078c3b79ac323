"""Copies: the same template twice, under one label or under two."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.kinds import larger_is_closer
from bioeval.base.messages import Message
from bioeval.document.text import Text, say
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores, codes_of, knows_people
from bioeval.studies.check.counts import (
    GENUINE,
    IMPOSTOR,
    PERFECT_GENUINE,
    PERFECT_IMPOSTOR,
    SHOWN,
    DataScan,
    perfect_distance,
)
from bioeval.studies.check.findings import Finding, listed, passed, place_in_words

# Least columns in a digest of a row, of which equal ones are no chance.
_LEAST_COLUMNS = 8

# A near copy is nearer than this part of the usual distance of impostors, and nearer than chance
# allows: by a power law through the least distances of the others, fewer than this number would be.
_NEAR, _CHANCE = 1e-3, 0.01

# Near copies of one label are below this part of every other genuine distance.
_APART = 0.01

# Least sampled distances of impostors for it, least genuine ones that are no near copies, and the
# most rows that are read again.
_LEAST_SAMPLED, _LEAST_GENUINE, _MOST_ROWS = 200, 30, 200

# Similarities above 1 by more than rounding have another scale: the one of a copy is not known.
_ROUNDING_OF_COPIES = 1e-6


class Copies(NamedTuple):
    """Impostor comparisons at the distance of a copy, or near it, and genuine ones near it."""

    exact: int
    near: list[tuple[int, int]]
    limit: float  # the largest distance of a near copy from that of a copy; NaN if unknown
    proven: list[tuple[int, int]]  # cells, of the first, whose templates have the same scores
    near_genuine: list[tuple[int, int]]
    genuine_limit: float


def find_copies(scores: Scores, scanned: DataScan, impostor: np.ndarray) -> Copies:
    """Look for copies under two labels; `impostor` are sampled impostor distances."""
    perfect = distance_of_copy(scores.kind, scanned.rows[:, 0])
    if math.isnan(perfect):
        return Copies(0, [], math.nan, [], [], math.nan)
    exact = int(scanned.counts[PERFECT_IMPOSTOR])
    limit = near_limit(impostor - perfect, int(scanned.counts[IMPOSTOR]))
    genuine_limit = genuine_near_limit(scanned.genuine - perfect, int(scanned.counts[GENUINE]))
    near = []
    near_genuine = []
    rows = np.empty(0, dtype=np.int64)
    if knows_people(scores):
        nearest = abs(scanned.rows[:, 0] - perfect)
        rows = np.flatnonzero(nearest <= max(limit, genuine_limit))
    for i in rows[:_MOST_ROWS].tolist():
        away = abs(scanned.reader.attempted(i, i + 1)[0] - perfect)
        mate = codes_of(scores).gallery == codes_of(scores).probe[i]
        hit = ~mate & (away <= limit) & (away > 0)
        near += [(i, j) for j in np.flatnonzero(hit).tolist()]
        hit = mate & (away <= genuine_limit) & (away > 0)
        near_genuine += [(i, j) for j in np.flatnonzero(hit).tolist()]
    proven = [
        *_with_equal_scores(scores, scanned.cells(PERFECT_IMPOSTOR), 0.0),
        *_with_equal_scores(scores, near[:SHOWN], 2 * limit),
    ]
    return Copies(exact, near, limit, proven, near_genuine, genuine_limit)


def distance_of_copy(kind: str, distances: np.ndarray) -> float:
    """Return the distance of a copy, NaN where unknown; `distances` include the smallest."""
    perfect = perfect_distance(kind)
    # No distance is below 0, but the largest similarity is a guess.
    beyond = (distances < perfect - _ROUNDING_OF_COPIES).any()
    if beyond and larger_is_closer(kind):
        return math.nan
    return perfect


def genuine_near_limit(distances: np.ndarray, comparisons: int) -> float:
    """Return the largest genuine distance of a near copy; 0 where it might be due to chance.

    Those that may be near copies, perhaps many, are not among the distances that chance makes; they
    are far below all others.
    """
    away = abs(distances)
    away = away[away > 0]
    if not len(away):
        return 0.0
    usual = away[away > _NEAR * np.median(away)]
    limit = near_limit(usual, comparisons, least=_LEAST_GENUINE)
    largest = away[away <= limit].max(initial=0.0)
    if largest > _APART * away[away > limit].min(initial=np.inf):
        return 0.0
    return limit


def near_limit(distances: np.ndarray, comparisons: int, least: int = _LEAST_SAMPLED) -> float:
    """Return the largest distance of a near copy; 0 where it might be due to chance."""
    n = len(distances)
    if n < least:
        return 0.0
    low = max(n // 500, min(n // 10, 20))
    high = min(10 * low, n - 1)
    ordered = np.partition(distances, [low, high, n // 2])
    near, far, usual = ordered[[low, high, n // 2]].tolist()
    steps = math.log(far / near) if 0 < near < far < math.inf else 0.0
    if not steps:  # the same distance many times, or failed comparisons
        return 0.0
    power = math.log(high / low) / steps
    return min(_NEAR * usual, near * (_CHANCE * n / (comparisons * low)) ** (1 / power))


class _EqualLines(NamedTuple):
    """Rows, or columns, that are equal."""

    side: str
    places: np.ndarray

    def in_words(self, scores: Scores) -> Text:
        """Return the places of the lines, with the names of their templates."""
        meta = {"row": scores.probe_meta, "column": scores.gallery_meta}[self.side]
        places = listed(place_in_words(i, meta) for i in self.places.tolist())
        return say("{side}s {places}", side=self.side, places=places)


def duplicates_finding(scores: Scores, scanned: DataScan) -> Finding:
    """Return the finding of equal rows and columns: templates that occur twice."""
    varied = scanned.rows[:, 0] < scanned.rows[:, 1]
    enough = scanned.row_digests[:, 1] >= max(_LEAST_COLUMNS, (scores.shape[1] - 2) // 2)
    groups = _equal("row", scanned.row_digests[:, 0], varied & enough)
    if (scanned.self_columns < 0).sum() >= _LEAST_COLUMNS:
        varied = scanned.columns[0] < scanned.columns[1]
        groups += _equal("column", scanned.column_digests, varied)
    codes = {"row": codes_of(scores).probe, "column": codes_of(scores).gallery}
    mixed = [lines for lines in groups if np.ptp(codes[lines.side][lines.places])]
    if not groups:
        return passed("duplicates")
    extra = sum(len(lines.places) - 1 for lines in groups)
    where = listed(lines.in_words(scores) for lines in mixed or groups)
    if mixed and knows_people(scores):
        side, places = mixed[0]
        labels = {"row": scores.probe_labels, "column": scores.gallery_labels}[side][places]
        whose = list(dict.fromkeys(repr(plain(label)) for label in labels))
        under = f" under different labels ({', '.join(whose)})"
        found = Message("templates-repeated", templates=extra, labels=under)
        return Finding("duplicates", "error", found, extra, where)
    found = Message("templates-repeated", templates=extra, labels="")
    return Finding("duplicates", "warning", found, extra, where)


def _equal(side: str, digests: np.ndarray, considered: np.ndarray) -> list[_EqualLines]:
    """Return the lines of each digest that occurs several times among those considered."""
    places = np.flatnonzero(considered)
    order = places[np.argsort(digests[places], kind="stable")]
    cuts = np.flatnonzero(digests[order][1:] != digests[order][:-1]) + 1
    groups = [_EqualLines(side, group) for group in np.split(order, cuts) if len(group) > 1]
    return sorted(groups, key=lambda lines: lines.places[0])


def distance_finding(
    scores: Scores, scanned: DataScan, copies: Copies, on_lattice: bool
) -> Finding:
    """Return the finding of different labels or templates at the distance of a copy."""
    genuine = int(scanned.counts[PERFECT_GENUINE]) + len(copies.near_genuine)
    if genuine and not (copies.exact or copies.near or math.isnan(copies.limit)):
        where = listed(_named(scores, [*scanned.cells(PERFECT_GENUINE), *copies.near_genuine]))
        fault = genuine < scanned.counts[GENUINE] / 2 and not on_lattice
        return genuine_copies(scores, genuine, copies, where, " of different templates", fault)
    cells = [*scanned.cells(PERFECT_IMPOSTOR), *copies.near]
    where = listed(_named(scores, cells))
    return copy_finding(scores, copies, int(scanned.counts[IMPOSTOR]), where)


def genuine_copies(
    scores: Scores, number: int, copies: Copies, where: Text, detail: str, fault: bool
) -> Finding:
    """Return the finding about genuine comparisons at the distance of a copy, or near it."""
    limit = copies.genuine_limit if copies.near_genuine else 0.0
    copy = _copy_in_words(scores, limit)
    message = Message("genuine-copies", comparisons=number, of=detail, copy=copy)
    return Finding("zero-distance", "warning" if fault else "note", message, number, where)


def _copy_in_words(scores: Scores, limit: float) -> str:
    """Return where copies are: at the score of one, or within a limit of it."""
    copy = "distance 0" if scores.kind == "distance" else "similarity 1"
    return f"within {limit:.3g} of {copy}" if limit else f"at {copy}"


def copy_finding(scores: Scores, copies: Copies, compared: int, where: Text) -> Finding:
    """Return the finding about impostor comparisons at the distance of a copy."""
    number = copies.exact + len(copies.near)
    if math.isnan(copies.limit) or not number:
        return passed("zero-distance")
    about: dict[str, Any] = {"comparisons": number, "compared": compared}
    about["copy"] = _copy_in_words(scores, copies.limit if copies.near else 0.0)
    if not copies.proven:
        message = Message("impostor-copies", **about, proof="")
        return Finding("zero-distance", "warning", message, number, where)
    equal = "equal" if copies.exact else "nearly equal"
    about["proof"] = f", and their rows are {equal}: copies of one template"
    message = Message("impostor-copies", **about)
    return Finding("zero-distance", "error", message, number, where)


def _named(scores: Scores, cells: Sequence[tuple[int, int]]) -> list[Text]:
    """Return cells in words, with their labels and names."""
    named = list[Text]()
    for i, j in cells:
        text = say(
            "row {row} column {column}",
            row=place_in_words(i, scores.probe_meta),
            column=place_in_words(j, scores.gallery_meta),
        )
        if knows_people(scores):
            text = say(
                "{place} ({probe:name}, {gallery:name})",
                place=text,
                probe=repr(plain(scores.probe_labels[i])),
                gallery=repr(plain(scores.gallery_labels[j])),
            )
        named.append(text)
    return named


def _with_equal_scores(
    scores: Scores, cells: Iterable[tuple[int, int]], within: float
) -> Iterator[tuple[int, int]]:
    """Yield the cells of which the templates of the row and of the column have the same scores."""
    for row, column in cells:
        places = np.flatnonzero(scores.probe_ids == scores.gallery_ids[column])
        if not len(places):
            continue
        both = scores.select(probes=[row, int(places[0])])._read_rows(0, 2).astype(np.float64)
        ids = scores.probe_ids[[row, places[0]]]
        of_row, of_column = both[:, ~np.isin(scores.gallery_ids, ids)]
        atol = max(1e-6 * np.nanmax(np.abs(both), initial=0.0), within)
        close = np.isclose(of_row, of_column, rtol=1e-5, atol=atol, equal_nan=True)
        if len(close) and close.all():
            yield row, column
