"""Checks for copies: templates that occur twice, exactly or nearly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bioeval.base.errors import counted
from bioeval.kernels.data_scan import GENUINE, IMPOSTOR, PERFECT_GENUINE, PERFECT_IMPOSTOR
from bioeval.results.findings import Finding, listed
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores
from bioeval.tallies.data_scan import SHOWN, DataScan, attempted, perfect_distance

# Least columns in a digest of a row, of which equal ones are no chance.
_LEAST_COLUMNS = 8

# A near copy is nearer than this part of the usual distance of impostors, and nearer than chance
# allows: by a power law through the least distances of the others, fewer than this number would be.
_NEAR, _CHANCE = 1e-3, 0.01

# Least sampled distances of impostors for it, and the most rows that are read again.
_LEAST_SAMPLED, _MOST_ROWS = 200, 200

# Similarities above 1 by more than rounding have another scale: the one of a copy is not known.
_ROUNDING = 1e-6


class Copies(NamedTuple):
    """Impostor comparisons at the distance of a copy, or near it."""

    exact: int
    near: list[tuple[int, int]]
    limit: float  # the largest distance of a near copy from that of a copy; NaN if unknown
    proven: list[tuple[int, int]]  # cells, of the first, whose templates have the same scores


def find_copies(scores: Scores, found: DataScan, impostor: np.ndarray) -> Copies:
    """Look for copies under two labels; `impostor` are sampled impostor distances."""
    perfect = distance_of_copy(scores.kind, found.rows[:, 0])
    if math.isnan(perfect):
        return Copies(0, [], math.nan, [])
    exact = int(found.counts[PERFECT_IMPOSTOR])
    limit = near_limit(impostor - perfect, int(found.counts[IMPOSTOR]))
    near: list[tuple[int, int]] = []
    rows = np.flatnonzero(abs(found.rows[:, 0] - perfect) <= limit) if scores.labelled else ()
    for i in rows[:_MOST_ROWS] if limit else ():
        away = abs(attempted(scores, i, i + 1)[0] - perfect)
        hit = (away <= limit) & (away > 0) & (scores.codes.gallery != scores.codes.probe[i])
        near += [(int(i), int(j)) for j in np.flatnonzero(hit)]
    proven = [cell for cell in found.cells(PERFECT_IMPOSTOR) if _alike(scores, *cell, 0.0)]
    proven += [cell for cell in near[:SHOWN] if _alike(scores, *cell, 2 * limit)]
    return Copies(exact, near, limit, proven)


def distance_of_copy(kind: str, distances: np.ndarray) -> float:
    """Return the distance of a copy, NaN where unknown; `distances` include the smallest."""
    perfect = perfect_distance(kind)
    beyond = kind == "similarity" and (distances < perfect - _ROUNDING).any()
    return math.nan if beyond else perfect


def near_limit(distances: np.ndarray, comparisons: int) -> float:
    """Return the largest distance of a near copy; 0 where it might be due to chance."""
    n = len(distances)
    if n < _LEAST_SAMPLED:
        return 0.0
    low = max(n // 500, 20)
    high = min(10 * low, n - 1)
    ordered = np.partition(distances, [low, high, n // 2])
    near, far, usual = ordered[[low, high, n // 2]].tolist()
    if not 0 < near < far:
        return 0.0
    power = math.log(high / low) / math.log(far / near)
    return min(_NEAR * usual, near * (_CHANCE * n / (comparisons * low)) ** (1 / power))


def duplicates_finding(scores: Scores, found: DataScan, copies: Copies) -> Finding:
    """Return the finding of equal rows and columns: templates that occur twice."""
    varied = found.rows[:, 0] < found.rows[:, 1]
    enough = found.row_digests[:, 1] >= max(_LEAST_COLUMNS, (scores.shape[1] - 2) // 2)
    rows = _equal(found.row_digests[:, 0], varied & enough)
    groups = [("row", group, scores.codes.probe) for group in rows]
    if (found.watch.itself < 0).sum() >= _LEAST_COLUMNS:
        varied = found.columns[0] < found.columns[1]
        groups += [
            ("column", g, scores.codes.gallery) for g in _equal(found.column_digests, varied)
        ]
    mixed = [x for x in groups if len(np.unique(x[2][x[1]])) > 1]
    near = [cell for cell in copies.proven if cell in copies.near]
    if near and not mixed:
        return _near_duplicates(scores, near, copies.limit)
    if not groups:
        return Finding("duplicates", "ok", "no two rows are equal")
    extra = sum(len(g) - 1 for _, g, _ in groups)
    where = listed(f"{side}s {listed(g)}" for side, g, _ in mixed or groups)
    message = f"{counted(extra, 'templates')} {'is' if extra == 1 else 'are'} there more than once"
    message += " (equal rows or columns)"
    if mixed and scores.labelled:
        names = scores.probe_labels if mixed[0][0] == "row" else scores.gallery_labels
        whose = " and ".join(dict.fromkeys(repr(plain(names[i])) for i in mixed[0][1]))
        return Finding(
            "duplicates", "error", f"{message}, under different labels: {whose}", extra, where,
            "correct the labels, or leave the copies out: they count as the nearest impostors",
        )  # fmt: skip
    return Finding(
        "duplicates", "warning", message, extra, where,
        "leave the copies out: they are compared with each other, and flatter the system",
    )  # fmt: skip


def _near_duplicates(scores: Scores, cells: Sequence[tuple[int, int]], limit: float) -> Finding:
    """Return the finding of rows that are nearly equal, under different labels."""
    pairs = {
        tuple(sorted((i, int(np.flatnonzero(scores.probe_ids == scores.gallery_ids[j])[0]))))
        for i, j in cells
    }
    first = sorted(pairs)[0]
    whose = " and ".join(repr(plain(scores.probe_labels[i])) for i in first)
    return Finding(
        "duplicates", "error",
        f"{counted(len(pairs), 'pairs')} of templates {_have(len(pairs))} equal rows but for "
        f"{2 * limit:.3g}, under different labels: {whose}",
        len(pairs), listed(f"rows {i}, {j}" for i, j in sorted(pairs)),
        "correct the labels, or leave the copies out: they count as the nearest impostors",
    )  # fmt: skip


def _equal(digests: np.ndarray, considered: np.ndarray) -> list[np.ndarray]:
    """Return the places of each digest that occurs several times among those considered."""
    places = np.flatnonzero(considered)
    order = places[np.argsort(digests[places], kind="stable")]
    cuts = np.flatnonzero(digests[order][1:] != digests[order][:-1]) + 1
    return sorted((np.sort(g) for g in np.split(order, cuts) if len(g) > 1), key=lambda g: g[0])


def distance_finding(scores: Scores, found: DataScan, copies: Copies, on_lattice: bool) -> Finding:
    """Return the finding of different labels or templates at the distance of a copy."""
    genuine = int(found.counts[PERFECT_GENUINE])
    if genuine and not (copies.exact or copies.near or math.isnan(copies.limit)):
        where = listed(_named(scores, found.cells(PERFECT_GENUINE)))
        fault = genuine < found.counts[GENUINE] / 2 and not on_lattice
        return genuine_copies(scores, genuine, where, " of different templates", fault=fault)
    cells = [*found.cells(PERFECT_IMPOSTOR), *copies.near]
    where = listed(_named(scores, cells))
    return copy_finding(scores, copies, int(found.counts[IMPOSTOR]), where)


def genuine_copies(
    scores: Scores, number: int, where: str, what: str = "", *, fault: bool
) -> Finding:
    """Return the finding about genuine comparisons at the distance of a copy."""
    return Finding(
        "zero-distance", "warning" if fault else "note",
        f"{counted(number, 'genuine comparisons')}{what} {_have(number)} {_of_copy(scores)}",
        number, where, "leave copies of a template out; they are not attempts",
    )  # fmt: skip


def copy_finding(scores: Scores, copies: Copies, of: int, where: str) -> Finding:
    """Return the finding about impostor comparisons at the distance of a copy."""
    number = copies.exact + len(copies.near)
    if math.isnan(copies.limit):
        return Finding("zero-distance", "ok", "not checked: the score of a copy is not known")
    if not number:
        return Finding("zero-distance", "ok", "no two templates are at the distance of a copy")
    said = f"{_have(number)} {_of_copy(scores)}"
    if copies.near:
        said = f"{'is' if number == 1 else 'are'} within {copies.limit:.3g} of {_of_copy(scores)}"
    if copies.proven:
        equal = "equal" if copies.exact else "nearly equal"
        said += f", and their rows are {equal}: copies of one template"
    return Finding(
        "zero-distance", "error" if copies.proven else "warning",
        f"{number:,} of {counted(of, 'impostor comparisons')} {said}", number, where,
        "inspect these templates: their labels differ, but their scores are those of one person; "
        "be.worst_pairs, or bioeval run --worst 20, lists the nearest pairs",
    )  # fmt: skip


def _of_copy(scores: Scores) -> str:
    return "distance 0" if scores.kind == "distance" else "similarity 1"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _named(scores: Scores, cells: Sequence[tuple[int, int]]) -> list[str]:
    """Return cells in words, with their labels."""
    named = [f"row {i}, column {j}" for i, j in cells]
    if not scores.labelled:
        return named
    labels = [(plain(scores.probe_labels[i]), plain(scores.gallery_labels[j])) for i, j in cells]
    return [f"{x} ({a!r}, {b!r})" for x, (a, b) in zip(named, labels, strict=True)]


def _alike(scores: Scores, row: int, column: int, within: float) -> bool:
    """Whether the template of a row and that of a column have the same scores."""
    places = np.flatnonzero(scores.probe_ids == scores.gallery_ids[column])
    if not len(places):
        return False
    both = scores.select(probes=[row, int(places[0])]).read_rows(0, 2).astype(np.float64)
    ids = scores.probe_ids[[row, places[0]]]
    one, other = both[:, ~np.isin(scores.gallery_ids, ids)]
    scale = np.nanmax(np.abs(both), initial=0.0)
    close = np.isclose(one, other, rtol=1e-5, atol=max(1e-6 * scale, within), equal_nan=True)
    return len(one) >= 1 and bool(close.all())
