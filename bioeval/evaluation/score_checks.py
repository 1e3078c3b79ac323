"""Checks of a matrix of scores, from one pass over them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bioeval.base.errors import counted
from bioeval.base.kinds import larger_is_closer
from bioeval.evaluation.distribution_checks import kind_finding, ties_finding
from bioeval.kernels.data_scan import (
    FAILED,
    FARTHEST,
    GENUINE,
    IMPOSTOR,
    NEAREST,
    PERFECT_GENUINE,
    PERFECT_IMPOSTOR,
)
from bioeval.results.findings import Finding, listed
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores
from bioeval.scores.sentinels import REMEDY
from bioeval.tallies.data_scan import SHOWN, DataScan

# Least columns in a digest of a row, of which equal ones are no chance.
_LEAST_COLUMNS = 8

# Differences of the two directions within this part of the largest score are rounding.
_ROUNDING = 1e-5

# Up to this proportion of comparisons that differ from the other direction are an exception.
_DAMAGED = 0.05

_FAILED_REMEDY = (
    'say what a failed comparison means: `nan="reject"` (an attempt at an infinite distance) or '
    '`nan="exclude"` (no attempt)'
)


def score_checks(scores: Scores, found: DataScan) -> Iterator[Finding]:
    """Yield the findings of a pass over a matrix."""
    valued = scores.kind != "order"
    yield _failed(scores, found)
    if not scores.streams:
        yield _sentinels(found)
    yield _duplicates(scores, found)
    if valued:
        yield _perfect(scores, found)
    if len(found.lines):
        yield _symmetry(scores, found)
    if valued:
        impostor, sample = _samples(scores, found)
        yield kind_finding(scores, found.genuine, impostor, _diagonal(scores, found))
        yield ties_finding(sample)


def _failed(scores: Scores, found: DataScan) -> Finding:
    """Comparisons that failed, and templates of which all did."""
    infinite = int(found.counts[FARTHEST] + found.counts[NEAREST])
    where = listed(_cells(found, FAILED))
    lost = [
        f"all of row {i}" for i in np.flatnonzero((found.rows[:, 0] > found.rows[:, 1])
        & (found.rows[:, 2] > 1))[:SHOWN]
    ]  # fmt: skip
    number = int(found.counts[FAILED])
    return failures(scores, number, listed([*lost, where] if lost else [where]), infinite,
                     int(found.counts[NEAREST]))  # fmt: skip


def failures(scores: Scores, failed: int, where: str, infinite: int, nearest: int) -> Finding:
    """Return the finding about numbers of failed and infinite comparisons."""
    message = f"{counted(failed, 'comparisons')} failed (NaN)" if failed else ""
    if failed:
        if scores.nan == "raise":
            return Finding("failed", "error", message, failed, where, _FAILED_REMEDY)
        meaning = {"reject": "rejected at every threshold", "exclude": "left out"}[scores.nan]
        return Finding("failed", "note", f"{message}, and are {meaning}", failed, where)
    if nearest:
        return Finding(
            "failed", "warning", f"{counted(nearest, 'comparisons')} are infinitely near", nearest,
            "", "they are accepted at every finite threshold: check that they are meant to be",
        )  # fmt: skip
    if infinite:
        return Finding(
            "failed", "note",
            f"{counted(infinite, 'comparisons')} infinitely far: accepted at no finite threshold",
            infinite,
        )  # fmt: skip
    return Finding("failed", "ok", "every comparison has a finite score")


def _sentinels(found: DataScan) -> Finding:
    """Rows, columns and values that stand for failed comparisons."""
    seen = found.watch.found()
    lines = [f"row {i}" for i in seen.rows] + [f"column {j}" for j in seen.columns]
    if lines:
        values = np.unique(np.concatenate([seen.row_values, seen.column_values]))
        one = listed(f"{x:.6g}" for x in values)
        return Finding(
            "sentinels", "error",
            f"{listed(lines) if len(lines) == 1 else f'{len(lines):,} rows or columns'} "
            f"{'holds' if len(lines) == 1 else 'hold'} one value in every comparison: {one}",
            len(lines), listed(lines), REMEDY,
        )  # fmt: skip
    if seen.value is not None:
        where = listed(f"row {i}, column {j}" for i, j in seen.hits)
        of = counted(seen.compared, "sampled comparisons")
        return far_finding(seen.value, len(seen.hits), of, where)
    return Finding("sentinels", "ok", "no constant row or column, no value far from all others")


def far_finding(value: float, shared: int, of: str, where: str) -> Finding:
    """Return the finding of a value far from all others."""
    message = f"{shared:,} of {of} have the score {value:.6g}, far from all others"
    return Finding("sentinels", "error", message, shared, where, REMEDY)


def _duplicates(scores: Scores, found: DataScan) -> Finding:
    """Equal rows and columns: templates that are there twice."""
    varied = found.rows[:, 0] < found.rows[:, 1]
    enough = found.row_digests[:, 1] >= max(_LEAST_COLUMNS, (scores.shape[1] - 2) // 2)
    rows = _equal(found.row_digests[:, 0], varied & enough)
    groups = [("row", group, scores.codes.probe) for group in rows]
    if (found.watch.itself < 0).sum() >= _LEAST_COLUMNS:
        varied = found.columns[0] < found.columns[1]
        groups += [
            ("column", g, scores.codes.gallery) for g in _equal(found.column_digests, varied)
        ]
    if not groups:
        return Finding("duplicates", "ok", "no two rows are equal")
    extra = sum(len(g) - 1 for _, g, _ in groups)
    mixed = [x for x in groups if len(np.unique(x[2][x[1]])) > 1]
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


def _equal(digests: np.ndarray, considered: np.ndarray) -> list[np.ndarray]:
    """Return the places of each digest that several of those considered have."""
    places = np.flatnonzero(considered)
    order = places[np.argsort(digests[places], kind="stable")]
    cuts = np.flatnonzero(digests[order][1:] != digests[order][:-1]) + 1
    return sorted((np.sort(g) for g in np.split(order, cuts) if len(g) > 1), key=lambda g: g[0])


def _perfect(scores: Scores, found: DataScan) -> Finding:
    """Comparisons of different labels, or of different templates, at the distance of a copy."""
    impostor = int(found.counts[PERFECT_IMPOSTOR])
    copies = any(
        _copies(scores, *cell) for cell in found.places[PERFECT_IMPOSTOR][: min(impostor, SHOWN)]
    )
    where = listed(_named_cells(scores, found, PERFECT_IMPOSTOR))
    if impostor:
        total = int(found.counts[IMPOSTOR])
        return zero_impostors(scores, impostor, total, where, copies)
    genuine = int(found.counts[PERFECT_GENUINE])
    if genuine:
        share = genuine / found.counts[GENUINE]
        return Finding(
            "zero-distance", "warning" if share < 0.5 else "note",
            f"{counted(genuine, 'genuine comparisons')} of different templates "
            f"{_have_perfect(scores, genuine)}", genuine,
            listed(_named_cells(scores, found, PERFECT_GENUINE)),
            "copies of one template are no attempts: leave them out",
        )  # fmt: skip
    return zero_impostors(scores, 0, 0, "", False)


def _have_perfect(scores: Scores, number: int) -> str:
    perfect = "distance 0" if scores.kind == "distance" else "similarity 1"
    return f"{'has' if number == 1 else 'have'} {perfect}"


def zero_impostors(scores: Scores, number: int, of: int, where: str, copies: bool) -> Finding:
    """Return the finding about impostor comparisons at the distance of a copy."""
    if not number:
        return Finding("zero-distance", "ok", "no two templates are at the distance of a copy")
    what = ", and their rows are equal: copies of one template" if copies else ""
    return Finding(
        "zero-distance", "error" if copies else "warning",
        f"{number:,} of {counted(of, 'impostor comparisons')} {_have_perfect(scores, number)}"
        f"{what}", number, where,
        "look at these templates: the labels differ, the scores say one person; be.worst_pairs, or "
        "bioeval run --worst 20, lists the nearest pairs",
    )  # fmt: skip


def _copies(scores: Scores, row: int, column: int) -> bool:
    """Say whether the template of a row and that of a column have the same scores."""
    places = np.flatnonzero(scores.probe_ids == scores.gallery_ids[column])
    if not len(places):
        return False
    both = scores.select(probes=[int(row), int(places[0])]).read_rows(0, 2).astype(np.float64)
    ids = scores.probe_ids[[row, places[0]]]
    one, other = both[:, ~np.isin(scores.gallery_ids, ids)]
    scale = np.nanmax(np.abs(both), initial=0.0)
    close = np.isclose(one, other, rtol=1e-5, atol=1e-6 * scale, equal_nan=True)
    return len(one) >= 1 and bool(close.all())


def mirrored(found: DataScan) -> bool:
    """Say whether both directions of a pair have one score, but for rounding."""
    gap, scale = _gaps(found)
    return bool(gap.max(initial=0.0) <= _ROUNDING * scale)


def _gaps(found: DataScan) -> tuple[np.ndarray, float]:
    """Return the differences between both directions, and the largest finite distance."""
    forth, back, lines = found.forth, found.back, found.lines
    with np.errstate(invalid="ignore"):
        gap = np.where(forth == back, 0.0, np.abs(forth - back))
    gap[np.isnan(forth) & np.isnan(back)] = 0.0
    gap[np.isnan(gap)] = np.inf
    gap[np.arange(len(lines)), lines] = 0.0
    finite = forth[np.isfinite(forth)]
    return gap, float(np.abs(finite).max(initial=0.0))


def _symmetry(scores: Scores, found: DataScan) -> Finding:
    """Whether both directions of a pair have one score."""
    gap, scale = _gaps(found)
    number, of = int((gap > 0).sum()), gap.size - len(gap)
    if not number:
        return Finding("symmetry", "ok", "both directions of a pair have the same score")
    k, j = np.unravel_index(int(np.argmax(gap)), gap.shape)
    sign = -1.0 if larger_is_closer(scores.kind) else 1.0
    one, other = (f"{0.0 + sign * x[k, j]:.6g}" for x in (found.forth, found.back))
    where = f"row {found.lines[k]}, column {j}: {one}, the other way round {other}"
    said = f"{number:,} of {of:,} comparisons differ from those the other way round"
    if gap.max() <= _ROUNDING * scale:
        return Finding("symmetry", "note", f"{said}, by rounding alone", number, where)
    if number <= _DAMAGED * of:
        return Finding(
            "symmetry", "warning", f"{said}, where all others agree", number, where,
            "these comparisons may be damaged: make them again",
        )  # fmt: skip
    return Finding(
        "symmetry", "note", said, number, where,
        "both directions are attempts, as a comparison that is not symmetric makes them",
    )  # fmt: skip


def _samples(scores: Scores, found: DataScan) -> tuple[np.ndarray, np.ndarray]:
    """Return sampled impostor distances, and sampled scores, each pair of templates once."""
    watch = found.watch
    sign = -1.0 if larger_is_closer(scores.kind) else 1.0
    sample = watch.sample.copy()
    if len(found.diagonal):  # each pair of templates in one direction
        for k, row in enumerate(watch.sampled):
            sample[k, watch.sampled[watch.sampled < row]] = np.nan
    other = scores.codes.probe[watch.sampled][:, None] != scores.codes.gallery[None]
    if not scores.labelled:
        other = np.isfinite(sample)
    impostor = sign * sample[other & np.isfinite(sample)]
    return impostor, sample[np.isfinite(sample)]


def _diagonal(scores: Scores, found: DataScan) -> int:
    """Return 1 where a template is nearest to itself, -1 where it is farthest, 0 if unknown."""
    diagonal = found.diagonal
    rows = found.rows[np.isfinite(diagonal)]
    finite = diagonal[np.isfinite(diagonal)]
    if len(finite) < 2 or scores.streams:
        return 0
    near = (finite <= rows[:, 0]).mean()
    far = (finite >= rows[:, 1]).mean()
    return int(near > 0.9) - int(far > 0.9)


def _cells(found: DataScan, what: int) -> list[str]:
    kept = found.places[what][: min(int(found.counts[what]), SHOWN)]
    return [f"row {i}, column {j}" for i, j in kept]


def _named_cells(scores: Scores, found: DataScan, what: int) -> list[str]:
    """Return cells with their labels."""
    cells = _cells(found, what)
    if not scores.labelled:
        return cells
    kept = found.places[what][: len(cells)]
    labels = [(plain(scores.probe_labels[i]), plain(scores.gallery_labels[j])) for i, j in kept]
    return [f"{x} ({a!r}, {b!r})" for x, (a, b) in zip(cells, labels, strict=True)]
