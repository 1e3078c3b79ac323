"""Checks of scores: of a matrix from one pass over it, and of a list of pairs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from bioeval.base.errors import counted
from bioeval.base.kinds import PLURALS, larger_is_closer
from bioeval.evaluation.copy_checks import (
    Copies,
    copy_finding,
    distance_finding,
    distance_of_copy,
    duplicates_finding,
    find_copies,
    genuine_copies,
    near_limit,
)
from bioeval.evaluation.label_checks import same_labels
from bioeval.evaluation.label_errors import label_error_finding
from bioeval.evaluation.verification import verification
from bioeval.kernels.data_scan import FAILED, FARTHEST, NEAREST
from bioeval.results.findings import SEVERITIES, Finding, listed
from bioeval.results.support import judge_kind
from bioeval.scores.arrays import lattice_step
from bioeval.scores.failure_codes import REMEDY, EndValue, end_values
from bioeval.scores.matrix import Scores
from bioeval.scores.pairs import PairScores
from bioeval.tallies.data_scan import SHOWN, DataScan


def pair_checks(scores: PairScores) -> Iterator[Finding]:
    """Yield the findings of a list of pairs."""
    values = scores.values.astype(np.float64)
    sign = -1.0 if larger_is_closer(scores.kind) else 1.0
    failed = np.flatnonzero(np.isnan(values))
    infinite = np.flatnonzero(np.isinf(values))
    yield failures(
        scores, len(failed), listed(f"pair {i}" for i in failed[:SHOWN]), len(infinite),
        int((sign * values == -np.inf).sum()),
    )  # fmt: skip
    known = np.isfinite(values)
    finite, impostor = values[known], ~scores.genuine[known]
    ends = end_values(finite, impostor, scores.kind, copies=True)
    hits = [np.flatnonzero(values == end.value) for end in ends]
    yield end_finding(
        zip(ends, map(len, hits), strict=True), counted(len(values), "pairs"),
        listed(f"pair {i}" for places in hits for i in places),
    ) or Finding("sentinels", "ok", "no value at an end is shared by many")  # fmt: skip
    if scores.kind == "order":
        return
    distances = sign * values
    copy = distance_of_copy(scores.kind, distances[known])
    limit = near_limit(distances[known][impostor] - copy, int(impostor.sum()))
    exact, near = (
        np.flatnonzero(~scores.genuine & where)
        for where in (distances == copy, (distances != copy) & (abs(distances - copy) <= limit))
    )
    limit = math.nan if math.isnan(copy) else limit
    copies = Copies(len(exact), [(int(i), 0) for i in near], limit, [])
    where = listed(f"pair {i}" for i in [*exact, *near])
    own = np.flatnonzero(scores.genuine & (distances == copy))
    if len(own) and not len(exact) and not len(near):
        yield _genuine_copies(scores, own)
    else:
        yield copy_finding(scores, copies, int((~scores.genuine).sum()), where)
    known = ~np.isnan(values)
    yield kind_finding(
        scores, distances[known & scores.genuine], distances[known & ~scores.genuine], 0
    )
    yield ties_finding(finite)
    yield Finding("label-errors", "ok", "not looked for in a list of pairs: it takes a matrix")


def _genuine_copies(scores: PairScores, places: np.ndarray) -> Finding:
    """Return the finding about genuine pairs at the distance of a copy."""
    names = scores.templates
    differ = names is not None and (names.a[places] != names.b[places]).all()
    fault = len(places) < scores.genuine.sum() / 2
    what = " of different templates" if differ else ""
    where = listed(f"pair {i}" for i in places)
    return genuine_copies(scores, len(places), where, what, fault=fault)


# The most scores of a class by which the kind is judged.
_MOST_JUDGED = 200_000

# Ties are noted beyond this proportion of the scores; so few distinct scores are coarse.
_TIED, _COARSE = 0.05, 100

#: As many distinct scores in equal steps are the nature of whole numbers and of codes.
LEAST_LATTICE = 16


def kind_finding(
    scores: Scores, genuine: np.ndarray, impostor: np.ndarray, diagonal: int
) -> Finding:
    """Return the finding about the kind of the scores."""
    if not len(genuine) or not len(impostor):
        message = f"{PLURALS[scores.kind]}; not checked without both classes"
        return Finding("kind", "ok", message)
    genuine, impostor = (x[:: max(1, len(x) // _MOST_JUDGED)] for x in (genuine, impostor))
    both = np.concatenate([genuine, impostor])
    flags = np.arange(len(both)) < len(genuine)
    eer = float(verification(Scores.from_pairs(both, flags), auc=False, far_targets=()).eer)
    people = min(len(genuine), len(scores.subjects) or len(genuine))
    severity, message, remedy = judge_kind(eer, scores.kind, people, diagonal=diagonal)
    count = len(both) if eer > 0.5 else 0
    return Finding("kind", severity, message, count, "", remedy)


def ties_finding(sample: np.ndarray) -> Finding:
    """Return the finding about scores that several comparisons share."""
    values, counts = np.unique(sample, return_counts=True)
    if len(values) < 2:
        return Finding("ties", "ok", "too few scores to look for ties")
    tied = float(counts[counts > 1].sum() / counts.sum())
    message = f"{100 * tied:.3g} % of {len(sample):,} scores share their value with another"
    if tied <= _TIED:
        return Finding("ties", "ok", message)
    top = int(np.argmax(counts))
    where = f"{values[top]:.6g} is {100 * counts[top] / counts.sum():.3g} % of them"
    message += f", {len(values):,} distinct scores"
    remedy = (
        "ties change ranks and thresholds: choose their treatment with `ties` (pessimistic "
        "by default)"
    )
    if step := lattice_step(values, LEAST_LATTICE):
        message += f" in steps of {step:.6g}"
    elif values[0] >= 0 and lattice_step(values, LEAST_LATTICE, 2):
        message += ", square roots of equal steps"
    elif len(values) < min(_COARSE, len(sample) // 4):
        remedy = "quantised scores have few thresholds; give them with more digits. " + remedy
        return Finding("ties", "warning", message, int(counts[counts > 1].sum()), where, remedy)
    return Finding("ties", "note", message, int(counts[counts > 1].sum()), where, remedy)


# Differences of the two directions within this part of the largest score are rounding.
_ROUNDING = 1e-5

# Templates are compared with themselves where at least this proportion is nearest to itself, in at
# least this number of rows.
_ITSELF, _TELLING_ROWS = 0.95, 12

# Up to this proportion of comparisons that differ from the other direction are an exception.
_DAMAGED = 0.05

_CUT_OFF_REMEDY = (
    "scores are cut off there, or failed comparisons have this score: inspect some of them"
)
_FAILED_REMEDY = (
    'choose how to treat failed comparisons: `nan="reject"` (as attempts at an infinite '
    'distance) or `nan="exclude"` (no attempt)'
)


def score_checks(scores: Scores, found: DataScan) -> Iterator[Finding]:
    """Yield the findings of a pass over a matrix."""
    valued = scores.kind != "order"
    impostor, sample = _samples(scores, found)
    copies = find_copies(scores, found, impostor)
    yield _failed(scores, found)
    if not scores.streams:
        yield _sentinels(scores, found, impostor if copies.exact and not copies.proven else None)
    yield duplicates_finding(scores, found, copies)
    ties = ties_finding(sample)
    if valued:
        yield distance_finding(
            scores, found, copies, on_lattice=lattice_step(np.unique(sample), LEAST_LATTICE) > 0
        )
    if len(found.lines):
        yield _symmetry(scores, found)
    if valued:
        yield kind_finding(scores, found.genuine, impostor, _diagonal(scores, found))
        yield ties
    if len(found.medians):
        yield label_error_finding(scores, found.medians)


def _failed(scores: Scores, found: DataScan) -> Finding:
    """Return the finding about failed comparisons, and templates without any other."""
    infinite = int(found.counts[FARTHEST] + found.counts[NEAREST])
    where = listed(f"row {i}, column {j}" for i, j in found.cells(FAILED))
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


def _sentinels(scores: Scores, found: DataScan, scattered: np.ndarray | None) -> Finding:
    """Return the finding about rows, columns and values that stand for failed comparisons.

    `scattered` are sampled impostor distances, where some are at the distance of a copy and none is
    known to be of one.
    """
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
    ends, hits = list(seen.ends), list(seen.hits)
    if scattered is not None:
        sign = -1.0 if larger_is_closer(scores.kind) else 1.0
        impostor = np.ones(len(scattered), dtype=bool)
        for end in end_values(sign * scattered, impostor, scores.kind, copies=True):
            if end.accepted and end not in ends:
                places = np.argwhere(found.watch.sample == end.value)
                ends.append(end)
                hits.append(np.column_stack([found.watch.sampled[places[:, 0]], places[:, 1]]))
    where = listed(f"row {i}, column {j}" for places in hits for i, j in places)
    of = counted(seen.compared, "sampled comparisons")
    return end_finding(zip(ends, map(len, hits), strict=True), of, where) or Finding(
        "sentinels", "ok", "no constant row or column, no extreme value that many scores share"
    )


def end_finding(ends: Iterable[tuple[EndValue, int]], of: str, where: str) -> Finding | None:
    """Return the finding of values at the ends of the range, with their numbers; else None."""
    found = list(ends)
    if not found:
        return None
    said = [
        f"{shared:,} of {of} have the score {end.value:.6g}, {end.how}" for end, shared in found
    ]
    severity = max((end.severity for end, _ in found), key=SEVERITIES.index)
    return Finding(
        "sentinels", severity, "; ".join(said), sum(shared for _, shared in found), where,
        _CUT_OFF_REMEDY if severity == "note" else REMEDY,
    )  # fmt: skip


def mirrored(found: DataScan) -> bool:
    """Whether both directions of a pair have one score, but for rounding."""
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
    """Return the finding about whether both directions of a pair have one score."""
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
            "symmetry", "warning", f"{said}; all others agree", number, where,
            "these comparisons may be damaged: make them again",
        )  # fmt: skip
    return Finding(
        "symmetry", "note", said, number, where,
        "both directions are attempts, as a comparison that is not symmetric makes them",
    )  # fmt: skip


def _samples(scores: Scores, found: DataScan) -> tuple[np.ndarray, np.ndarray]:
    """Return sampled impostor distances and sampled scores, each pair of templates once."""
    watch = found.watch
    sign = -1.0 if larger_is_closer(scores.kind) else 1.0
    sample = watch.sample.copy()
    if found.same:  # each pair of templates in one direction
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
    if not found.same or scores.streams or np.isfinite(diagonal).sum() < 2:
        return 0
    known = np.isfinite(diagonal)
    near = (diagonal[known] <= found.rows[known, 0]).mean()
    far = (diagonal[known] >= found.rows[known, 1]).mean()
    return int(near > 0.9) - int(far > 0.9)


def compared_with_themselves(scores: Scores, found: DataScan) -> bool:
    """Whether probe and gallery template of one place are equal, by their scores.

    They are nearest to each other, where the subject has other templates in the gallery, and have
    one score, or there are enough of them.
    """
    if not scores.labelled or found.same or not len(found.diagonal) or not same_labels(scores):
        return False
    several = np.bincount(scores.codes.gallery)[scores.codes.gallery] > 1
    told = several & np.isfinite(found.diagonal)
    diagonal, nearest = found.diagonal[told], found.rows[told, 0]
    if len(diagonal) < 2 or (diagonal <= nearest).mean() <= _ITSELF:
        return False
    scale = abs(found.rows[told, :2]).max()
    return len(diagonal) >= _TELLING_ROWS or bool(np.ptp(diagonal) <= _ROUNDING * scale)
