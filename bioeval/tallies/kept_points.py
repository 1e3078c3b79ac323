"""Operating points of a tally without its scores: from its counts and kept scores.

A point is exact where the kept scores hold it, which is checked: the same bins are needed as by
the search for points in the scores themselves. Any other point has bounds.

A tally of some probes is a sample of those it may be merged with, whose points are elsewhere. How
far cannot be known beforehand; so as many scores are kept as may be, in the order of their distance
from a point, in standard errors of the rates there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.base.scalars import Scalar
from bioeval.tallies.cells import CellGrid
from bioeval.tallies.counts import VerificationTally
from bioeval.tallies.point_search import add_optima, undefined_points
from bioeval.tallies.points import (
    VerificationPoints,
    d_prime,
    moments_of,
    normalised_cost,
    with_rare_targets,
)
from bioeval.tallies.second_pass import LEAST_TARGETS, PointsWanted, Windows
from bioeval.tallies.threshold_search import (
    Attempts,
    crossing_weight,
    distinct,
    optimal_bins,
    within,
)

# The least and the largest possible value of a point; arrays at FAR targets and costs.
Ends = tuple[Any, Any]
Bounds = dict[str, Ends]


def bounds_of_counts(tally: VerificationTally) -> Bounds:
    """Return bounds of EER and AUC from the counts of a tally at cell edges."""
    bins = _Bins(tally)
    if not bins.attempts.defined:
        return dict.fromkeys(("eer", "auc"), (math.nan, math.nan))
    bins.take_scores(np.empty(0))
    return {"eer": bins.equal_error(), "auc": bins.auc()}


def points_of_kept(
    tally: VerificationTally, optima: Sequence[Scalar] = ()
) -> tuple[VerificationPoints, Bounds]:
    """Return the operating points of a tally with kept scores, and bounds of inexact points.

    Inexact points are NaN; those without bounds, of the hull and d', are NaN where `auc` and the
    costs have bounds.
    """
    kept, bins = tally.kept, _Bins(tally)
    assert kept is not None
    # Whether a pair was counted in both directions, by two parts, is unknown.
    square = tally.templates == "single" and tally.about.layout == "all-against-all"
    attempts = tally.impostor.total / (2 if square else 1)
    targets = with_rare_targets(kept.targets, attempts) if kept.rare else kept.targets
    wanted = PointsWanted(targets, kept.costs, every_score=True)
    points = undefined_points(wanted, symmetric=None if square else False)
    if not bins.attempts.defined:
        return points, {}
    bins.take_scores(kept.scores)
    bounds = dict(bins.add_points(points))
    rows = points.thresholds
    if tally.given is None:
        rows = rows[bins.known[bins.attempts.bin_of(rows)]]
        points.add_rows(rows, bins.attempts.false_accepts(rows))
    bounds |= bins.add_optima(points, optima, with_rows=tally.given is None)
    if kept.is_all:
        genuine = bins.attempts.genuine
        classes = genuine[np.isfinite(genuine)], kept.scores.astype(np.float64)
        points.d_prime = d_prime(*map(moments_of, classes))
    return points, bounds


@dataclass(frozen=True)
class _AtFar:
    """FRR and threshold at a FAR target, bounds of the FRR, and whether both are exact."""

    frr: float
    threshold: float
    low: float
    high: float
    exact: bool = False


class _Bins:
    """The attempts of a tally in bins, and in which bins the impostor scores are known."""

    def __init__(self, tally: VerificationTally):
        """Divide the attempts by the scores that were kept."""
        genuine, kept = tally.genuine.astype(np.float64), tally.kept
        attempts = Attempts.of_cells(genuine, tally.impostor)
        held = np.zeros(len(attempts.edges), dtype=bool)
        if kept is not None:
            attempts = Attempts(genuine, *kept.divide(attempts.edges, attempts.counts))
            held = kept.holds(attempts.edges)
        self.attempts, self._held = attempts, held
        self.known = held | attempts.single_valued() | (attempts.counts == 0)
        self.false_rejects = attempts.false_rejects(attempts.edges)

    def take_scores(self, scores: np.ndarray) -> None:
        """Divide bins by the kept scores; other known bins have one value."""
        attempts = self.attempts
        scores = scores.astype(np.float64)
        alone = self.known & ~self._held & (attempts.counts > 0)
        values, counts = attempts.edges[alone], attempts.counts[alone]
        places = np.searchsorted(scores, values)
        weights = np.insert(np.ones(len(scores), dtype=np.int64), places, counts)
        attempts.take_scores(np.insert(scores, places, values), weights)

    def knows(self, wanted: np.ndarray) -> bool:
        """Whether the scores of all the wanted bins are known."""
        return bool(self.known[wanted].all())

    def add_points(self, points: VerificationPoints) -> Iterator[tuple[str, Ends]]:
        """Add the EER, the points at FAR targets, and those without errors of one kind.

        Bounds of those that are not exact are yielded, by name.
        """
        attempts = self.attempts
        if self.knows(attempts.up_to(attempts.crossing_bin())):
            points.equal_error = attempts.equal_error()
        else:
            yield "eer", self.equal_error()
        zero = self._at_far(0.0)
        points.zero_far, points.zero_far_threshold = float(zero.frr), float(zero.threshold)
        if not zero.exact:
            yield "zero_far", (zero.low, zero.high)
        at_far = [self._at_far(x) for x in points.far_target.tolist()]
        points.frr_at_far = np.array([x.frr for x in at_far])
        points.threshold_at_far = np.array([x.threshold for x in at_far])
        if not all(x.exact for x in at_far):
            yield (
                "frr_at_far",
                (np.array([x.low for x in at_far]), np.array([x.high for x in at_far])),
            )
        points.zero_frr_threshold = last = float(attempts.genuine[-1])
        b = int(attempts.bin_of(last))
        if self.known[b]:
            points.zero_frr = int(attempts.false_accepts(last)) / attempts.impostor_attempts
        else:
            yield "zero_frr", tuple(attempts.below[b : b + 2] / attempts.impostor_attempts)

    def equal_error(self) -> Ends:
        """Return bounds of the EER, from the counts at the ends of the bin of the crossing."""
        attempts = self.attempts
        genuine, total = attempts.genuine_attempts, attempts.impostor_attempts
        b = attempts.crossing_bin()
        fr0 = self.false_rejects[b - 1] if b else genuine
        fa0, fa1 = attempts.below[b : b + 2] / total
        return max(fa0, self.false_rejects[b] / genuine), min(fa1, fr0 / genuine)

    def _at_far(self, target: float) -> _AtFar:
        """Return FRR and threshold at a FAR target; the threshold may lie in an earlier bin."""
        attempts = self.attempts
        b = attempts.bin_past(target)
        if self.known[b]:
            frr, threshold = attempts.at_far(target)
            if self.knows(attempts.up_to(b)):
                return _AtFar(frr, threshold, low=frr, high=frr, exact=True)
            return _AtFar(frr, math.nan, low=frr, high=frr)
        high, low = self.false_rejects[b - 1 : b + 1] / attempts.genuine_attempts
        frr = low if low == high else math.nan
        return _AtFar(frr, math.nan, low=low, high=high)

    def auc(self) -> Ends:
        """Return bounds of the AUC, equal where the scores around genuine scores are known."""
        attempts = self.attempts
        genuine, below = attempts.genuine, attempts.below
        b = attempts.bin_of(genuine)
        before = below[b] - attempts.accepted[attempts.first_value(b)]
        left = before + attempts.accepted[attempts.values.searchsorted(genuine, side="left")]
        right = before + attempts.accepted[attempts.values.searchsorted(genuine, side="right")]
        # Twice the impostor scores below each genuine score, ties once: the least and the most.
        known = self.known[b]
        least = np.where(known, left + right, 2 * below[b])
        most = np.where(known, left + right, 2 * below[b + 1])
        pairs = 2 * attempts.genuine_attempts * attempts.impostor_attempts
        return (pairs - int(most.sum())) / pairs, (pairs - int(least.sum())) / pairs

    def add_optima(
        self, points: VerificationPoints, optima: Sequence[Scalar], *, with_rows: bool
    ) -> Iterator[tuple[str, Ends]]:
        """Add AUC, hull EER, optima and least costs; yield bounds of those that are not exact."""
        attempts = self.attempts
        low, high = self.auc()
        if low == high:
            points.auc = low
        else:
            yield "auc", (low, high)
        wanted = optimal_bins(attempts, optima, points.costs)
        if self.knows(wanted):
            genuine = attempts.genuine[within(attempts.genuine, attempts.edges, wanted)]
            add_optima(points, attempts.curve(distinct(genuine)), optima, with_rows=with_rows)
        else:
            low, high = self._least_costs(points.costs)
            yield "min_cost", (low, high)
            yield (
                "min_dcf",
                (normalised_cost(low, points.costs), normalised_cost(high, points.costs)),
            )

    def _least_costs(self, costs: np.ndarray) -> Ends:
        """Return bounds of the least costs: no point is better than the ends of its bin."""
        far = self.attempts.below / self.attempts.impostor_attempts
        frr = self.false_rejects / self.attempts.genuine_attempts
        low, high = np.empty(len(costs)), np.empty(len(costs))
        for i, (p, miss, accept) in enumerate(costs.tolist()):
            reject_all = p * miss * 1.0
            best = p * miss * frr + (1 - p) * accept * far[:-1]
            ends = p * miss * frr + (1 - p) * accept * far[1:]
            low[i], high[i] = min(reject_all, best.min()), min(reject_all, ends.min())
        return low, high


def closest_windows(
    grid: CellGrid,
    counts: np.ndarray,
    genuine: np.ndarray,
    wanted: PointsWanted,
    most: float,
    kept: np.ndarray | None = None,
) -> tuple[Windows, float]:
    """Return windows of the cells closest to the points, and the proportion of scores in them.

    `counts`, shape (cells,), are those of impostor scores, of which at most so many are in the
    windows; `kept` is how many of each cell count for that, by default all.
    """
    if not counts.any():
        return [(-np.inf, np.inf)], 1.0
    if kept is None:
        kept = counts
    chosen = kept == 0
    distance = np.full(len(counts), np.inf)
    for each in _distances(grid, counts, genuine, wanted):
        np.minimum(distance, each, out=distance)
    for cell in np.argsort(distance, kind="stable"):
        if 0 < kept[cell] <= most:
            chosen[cell] = True
            most -= kept[cell]
    ends = grid.boundaries
    ends[0], ends[-1] = -np.inf, np.inf
    change = np.flatnonzero(np.diff(chosen, prepend=False, append=False)).reshape(-1, 2)
    # A window without scores is of no use.
    windows = [(float(ends[a]), float(ends[b])) for a, b in change if kept[a:b].any()]
    return windows, float(kept[chosen].sum() / counts.sum())


def _distances(
    grid: CellGrid, counts: np.ndarray, genuine: np.ndarray, wanted: PointsWanted
) -> Iterator[np.ndarray]:
    """Yield the distance of each cell from each point, in standard errors up to a common factor."""
    total = counts.sum()
    ends = np.append(0, np.cumsum(counts)) / total
    far0, far = ends[:-1], ends[1:]
    for target in (*LEAST_TARGETS, *wanted.targets.tolist()):
        yield _outside(far0 - target, far - target) / np.sqrt(target + 1 / total)
    if not len(genuine):
        return
    within = np.searchsorted(genuine, grid.edges, side="right")
    frr = 1 - within / len(genuine)
    frr0 = np.append(1.0, frr[:-1])
    at = min(int(np.argmax(far >= frr)), len(far) - 1)
    rates = far[at] + frr[at] + 1 / len(genuine)
    yield _outside(far0 - frr0, far - frr) / np.sqrt(rates)
    # The farthest genuine score of others may be anywhere: only its own cell.
    last = far[min(int(np.searchsorted(grid.edges, genuine[-1])), len(far) - 1)]
    yield _outside(far0 - last, far - last) / np.sqrt(1 / total)
    weight = crossing_weight(np.append(0.0, far), np.append(1.0, frr))
    costs = [(p * miss, (1 - p) * accept) for p, miss, accept in wanted.costs.tolist()]
    for miss, accept in [*costs, (1 - weight, weight)]:
        best = int(np.argmin(miss * frr + accept * far))
        more = miss * (frr - frr[best]) + accept * (far0 - far[best])
        error = miss**2 * (abs(frr - frr[best]) + 1 / len(genuine))
        error += accept**2 * (abs(far0 - far[best]) + 1 / total)
        far_off = np.maximum(more, 0) / np.sqrt(error + np.finfo(float).tiny)
        # No farther than the cells behind, seen from the best one: what is kept is in one piece.
        yield np.maximum(np.minimum.accumulate(far_off), np.minimum.accumulate(far_off[::-1])[::-1])


def _outside(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the distance of 0 from increasing intervals; 0 inside."""
    return np.maximum(np.maximum(low, -high), 0)
