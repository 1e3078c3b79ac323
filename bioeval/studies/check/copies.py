"""Copies: the same template twice, under one label or under two."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.base.messages import Message
from bioeval.document.text import Text, say
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.rows import attempted
from bioeval.studies.check.counts import (
    GENUINE,
    IMPOSTOR,
    PERFECT_GENUINE,
    PERFECT_IMPOSTOR,
    SHOWN,
    DataScan,
    perfect_distance,
)
from bioeval.studies.check.findings import Finding, listed, listed_pairs, passed, place_in_words

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
    """Comparisons at the distance of a copy, or near it."""

    impostor: int
    exact: int  # of these, at the distance of a copy
    limit: float  # the largest distance of a near copy from that of a copy
    compared: int
    places: Text
    proven: bool  # whether the templates of some have the same scores with all others
    genuine: int
    genuine_limit: float  # 0 where all are at the distance of a copy
    genuine_places: Text
    of: str  # what the genuine comparisons are of
    fault: bool  # whether so few genuine comparisons are no nature of the scores


def copies_of_matrix(
    scores: Scores, scanned: DataScan, impostor: np.ndarray, on_lattice: bool
) -> Copies | None:
    """Look for copies; `impostor` are sampled impostor distances. None where a copy has no score.

    `on_lattice`: whether scores are in equal steps, of which genuine ones may well be 0.
    """
    perfect = distance_of_copy(scores.kind, scanned.rows[:, 0])
    if math.isnan(perfect):
        return None
    exact, compared = int(scanned.counts[PERFECT_IMPOSTOR]), int(scanned.counts[IMPOSTOR])
    limit = near_limit(impostor - perfect, compared)
    genuine_limit = genuine_near_limit(scanned.genuine - perfect, int(scanned.counts[GENUINE]))
    near, near_genuine = list[tuple[int, int]](), list[tuple[int, int]]()
    rows = np.empty(0, dtype=np.int64)
    if knows_people(scores):
        nearest = abs(scanned.rows[:, 0] - perfect)
        rows = np.flatnonzero(nearest <= max(limit, genuine_limit))
    for i in rows[:_MOST_ROWS].tolist():
        away = abs(attempted(scanned.scores, i, i + 1)[0] - perfect)
        mate = scores.codes.gallery == scores.codes.probe[i]
        for cells, hit in (
            (near, ~mate & (away <= limit) & (away > 0)),
            (near_genuine, mate & (away <= genuine_limit) & (away > 0)),
        ):
            cells += [(i, j) for j in np.flatnonzero(hit).tolist()]
    exact_cells = scanned.cells(PERFECT_IMPOSTOR)
    genuine = int(scanned.counts[PERFECT_GENUINE]) + len(near_genuine)
    return Copies(
        impostor=exact + len(near),
        exact=exact,
        limit=limit if near else 0.0,
        compared=compared,
        places=_named(scores, [*exact_cells, *near]),
        proven=_with_equal_scores(scores, exact_cells, 0.0)
        or _with_equal_scores(scores, near[:SHOWN], 2 * limit),
        genuine=genuine,
        genuine_limit=genuine_limit if near_genuine else 0.0,
        genuine_places=_named(scores, [*scanned.cells(PERFECT_GENUINE), *near_genuine]),
        of=" of different templates",
        fault=genuine < scanned.counts[GENUINE] / 2 and not on_lattice,
    )


def copies_of_pairs(scores: Scores, distances: np.ndarray) -> Copies | None:
    """Look for copies in a list of pairs."""
    known, genuine = np.isfinite(distances), scores.genuine
    copy = distance_of_copy(scores.kind, distances[known])
    if math.isnan(copy):
        return None
    away = abs(distances - copy)
    limit = near_limit(distances[known & ~genuine] - copy, int((known & ~genuine).sum()))
    of_genuine = genuine_near_limit(distances[known & genuine] - copy, int(genuine.sum()))
    exact = np.flatnonzero(~genuine & (away == 0))
    near = np.flatnonzero(~genuine & (away > 0) & (away <= limit))
    copied = np.flatnonzero(genuine & (away <= of_genuine))
    names = scores.pairs.templates
    differ = names is not None and (names.a[copied] != names.b[copied]).all()
    return Copies(
        impostor=len(exact) + len(near),
        exact=len(exact),
        limit=limit if len(near) else 0.0,
        compared=int((~genuine).sum()),
        places=listed_pairs([*exact, *near]),
        proven=False,
        genuine=len(copied),
        genuine_limit=of_genuine if away[copied].any() else 0.0,
        genuine_places=listed_pairs(copied),
        of=" of different templates" if differ else "",
        fault=len(copied) < genuine.sum() / 2,
    )


def copy_finding(scores: Scores, copies: Copies | None) -> Finding:
    """Return the finding of impostor comparisons at the distance of a copy, or of genuine ones."""
    check = "zero-distance"
    if copies is None or not (copies.impostor or copies.genuine):
        return passed(check)
    copy = "distance 0" if scores.kind == "distance" else "similarity 1"
    limit = copies.limit if copies.impostor else copies.genuine_limit
    copy = f"within {limit:.3g} of {copy}" if limit else f"at {copy}"
    if not copies.impostor:
        message = Message("genuine-copies", comparisons=copies.genuine, of=copies.of, copy=copy)
        severity = "warning" if copies.fault else "note"
        return Finding(check, severity, message, copies.genuine, copies.genuine_places)
    about: dict[str, Any] = {"comparisons": copies.impostor, "compared": copies.compared}
    proof = ""
    if copies.proven:
        equal = "equal" if copies.exact else "nearly equal"
        proof = f", and their rows are {equal}: copies of one template"
    message = Message("impostor-copies", **about, copy=copy, proof=proof)
    severity = "error" if copies.proven else "warning"
    return Finding(check, severity, message, copies.impostor, copies.places)


def distance_of_copy(kind: str, distances: np.ndarray) -> float:
    """Return the distance of a copy, NaN where unknown; `distances` include the smallest."""
    perfect = perfect_distance(kind)
    # No distance is below 0, but the largest similarity is a guess.
    beyond = (distances < perfect - _ROUNDING_OF_COPIES).any()
    if beyond and kind in LARGER_IS_CLOSER:
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
    codes = {"row": scores.codes.probe, "column": scores.codes.gallery}
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
        message = Message("templates-repeated", templates=extra, labels=under)
        return Finding("duplicates", "error", message, extra, where)
    message = Message("templates-repeated", templates=extra, labels="")
    return Finding("duplicates", "warning", message, extra, where)


def _equal(side: str, digests: np.ndarray, considered: np.ndarray) -> list[_EqualLines]:
    """Return the lines of each digest that occurs several times among those considered."""
    places = np.flatnonzero(considered)
    order = places[np.argsort(digests[places], kind="stable")]
    cuts = np.flatnonzero(digests[order][1:] != digests[order][:-1]) + 1
    groups = [_EqualLines(side, group) for group in np.split(order, cuts) if len(group) > 1]
    return sorted(groups, key=lambda lines: lines.places[0])


def _named(scores: Scores, cells: Sequence[tuple[int, int]]) -> Text:
    """Return the first cells in words, with their labels and names."""
    named = list[Text]()
    for i, j in cells[:SHOWN]:
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
    return listed(named)


def _with_equal_scores(scores: Scores, cells: Iterable[tuple[int, int]], within: float) -> bool:
    """Whether the templates of the row and of the column of some cell have the same scores."""
    for row, column in cells:
        places = np.flatnonzero(scores.probe_ids == scores.gallery_ids[column])
        if not len(places):
            continue
        both = scores.cells[[row, int(places[0])]].astype(np.float64)
        ids = scores.probe_ids[[row, places[0]]]
        of_row, of_column = both[:, ~np.isin(scores.gallery_ids, ids)]
        atol = max(1e-6 * np.nanmax(np.abs(both), initial=0.0), within)
        close = np.isclose(of_row, of_column, rtol=1e-5, atol=atol, equal_nan=True)
        if len(close) and close.all():
            return True
    return False
