"""A second look at the scores, where an operating point falls.

The first sweep leaves genuine scores and impostor counts in cells. From those it is known in
which cell each point lies; the second sweep collects the impostor scores of these few cells
alone, and counts the others between the genuine scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from bioeval.base.scalars import OPTIMA
from bioeval.tallies.attempts import CellCounter, ImpostorBlock
from bioeval.tallies.bins import Bins
from bioeval.tallies.counts import CellCounts, VerificationTally
from bioeval.tallies.points import (
    Curve,
    EqualError,
    Gaps,
    VerificationPoints,
    allowed_false_accepts,
    crossed,
    d_prime,
    equal_error,
    hull_equal_error,
    min_costs,
)
from bioeval.tallies.second_pass.between_genuine import GapCounter, require_same
from bioeval.tallies.second_pass.collect import Collector, DistinctCounter, MomentCounter, collect

# A cell with more scores than this is counted in finer cells before any is collected.
COLLECT = 1 << 20

Sweep = Callable[[], Iterator[ImpostorBlock]]


def refine(
    tally: VerificationTally,
    sweep: Sweep,
    far_targets: Sequence[float] | np.ndarray,
    costs: np.ndarray,
    *,
    symmetric: bool,
    auc: bool = True,
) -> VerificationPoints:
    """Return the operating points of a tally, exact, from another sweep over its scores.

    Parameters
    ----------
    tally, far_targets, costs, symmetric, auc
        As for :class:`PointFinder`.
    sweep : callable
        Starts a sweep over the impostor scores that the tally counted.
    """
    finder = PointFinder(tally, far_targets, costs, symmetric=symmetric, auc=auc)
    finder.prepare(sweep)
    if finder.waits:
        for block in sweep():
            finder.take(*block)
    return finder.points()


class PointFinder:
    """Finds the operating points of one tally; several finders may share a sweep.

    Parameters
    ----------
    tally : VerificationTally
    far_targets : sequence of float
    costs : float64 array, shape (c, 3)
    symmetric : bool
        Whether each pair was counted in both directions.
    auc : bool
        Whether to find what takes every impostor score: AUC, d', hull and least costs.
    """

    def __init__(
        self,
        tally: VerificationTally,
        far_targets: Sequence[float] | np.ndarray,
        costs: np.ndarray,
        *,
        symmetric: bool,
        auc: bool = True,
    ):
        targets = np.asarray(far_targets, dtype=np.float64)
        self._genuine = tally.genuine.astype(np.float64)
        self._points = VerificationPoints(
            far_target=targets,
            frr_at_far=np.full(len(targets), np.nan),
            threshold_at_far=np.full(len(targets), np.nan),
            costs=costs,
            min_cost=np.full(len(costs), np.nan),
            min_cost_threshold=np.full(len(costs), np.nan),
            symmetric=symmetric,
            every_score=auc,
        )
        self._search: _Search | None = None
        self._moments: MomentCounter | None = None
        if len(self._genuine) and tally.impostor.total:
            gaps = GapCounter(self._genuine, tally.impostor) if auc else None
            self._search = _Search(self._genuine, tally.impostor, targets, gaps)
            self._moments = MomentCounter() if auc else None

    def prepare(self, sweep: Sweep) -> None:
        """Narrow crowded cells, in sweeps of their own; most often there are none."""
        if self._search is not None:
            self._search.narrow(sweep)

    @property
    def waits(self) -> bool:
        """Whether a sweep is needed."""
        return self._search is not None and bool(self._search.windows or self._search.gaps)

    def take(self, values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> None:
        """Look at a block of impostor scores."""
        if self._search is None:
            return
        if self._moments is not None:
            self._moments.add(values, start, stop)
        self._search.take(values, start, stop)

    def points(self) -> VerificationPoints:
        """Return the points, after every block has been taken."""
        points, search, genuine = self._points, self._search, self._genuine
        if search is None:
            return points
        search.finish()
        points.equal_error = search.equal_error()
        for i, target in enumerate(points.far_target):
            points.frr_at_far[i], points.threshold_at_far[i] = search.at_far(float(target))
        points.zero_far, points.zero_far_threshold = search.at_far(0.0)
        points.zero_frr = search.far_at_most(float(genuine[-1]))
        points.zero_frr_threshold = float(genuine[-1])
        if search.gaps is not None and self._moments is not None:
            self._add_every_score(points, search, search.gaps.result(), self._moments)
        return points

    def _add_every_score(
        self, points: VerificationPoints, search: _Search, gaps: Gaps, moments: MomentCounter
    ) -> None:
        finite = self._genuine[np.isfinite(self._genuine)]
        points.d_prime = d_prime(_moments(finite), moments.result())
        points.auc = gaps.auc()
        _, far, frr = gaps.best_points()
        points.optima = {x.name: float(x.over_points(far, frr)) for x in OPTIMA}
        points.eer_hull = hull_equal_error(np.append(far, 1.0), np.append(frr, 0.0))
        points.min_cost, points.min_cost_threshold = min_costs(
            gaps, points.costs, search.reject_all()
        )


def _distinct(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values of sorted scores, and how many there are of each."""
    starts = np.nonzero(np.diff(scores, prepend=np.nan) != 0)[0]
    return scores[starts], np.diff(starts, append=len(scores))


def _moments(scores: np.ndarray) -> tuple[float, float]:
    """Return mean and variance; NaN of nothing, infinite where the squares overflow.

    Taken from one of the scores, so that equal scores have no variance at all.
    """
    if not len(scores):
        return np.nan, np.nan
    with np.errstate(over="ignore", invalid="ignore"):
        shifted = scores - scores[0]
        return float(scores[0] + shifted.mean()), float(shifted.var())


class _Search:
    """Finds the bins where points fall, narrows and collects them, and reads off the points."""

    def __init__(
        self,
        genuine: np.ndarray,
        cells: CellCounts,
        targets: np.ndarray,
        gaps: GapCounter | None = None,
    ):
        self.genuine, self.gaps = genuine, gaps
        self.cells = cells
        self.total = cells.total
        self.bins = Bins.of(cells)
        self.allowed = {allowed_false_accepts(t, self.total) for t in [0.0, *targets.tolist()]}
        self.found: dict[tuple[float, float], tuple[np.ndarray, np.ndarray]] = {}
        self.windows: list[tuple[float, float]] = []
        self.collected: list[np.ndarray] = []
        self.lowest = bool(genuine[0] == -np.inf or cells.negative_infinite)

    # -- which bins

    def crossing_bin(self) -> int:
        """Return the first bin at whose upper edge FAR >= FRR."""
        taken = self.bins.cumulative()
        rejected = len(self.genuine) - np.searchsorted(self.genuine, self.bins.edges, "right")
        low, high = 0, len(taken) - 1
        while low < high:
            middle = (low + high) // 2
            if crossed(taken[middle], rejected[middle], len(self.genuine), self.total):
                high = middle
            else:
                low = middle + 1
        return low

    def bin_past(self, allowed: int) -> int | None:
        """Return the bin of the first false accept that is not allowed; None if all are."""
        if allowed >= self.total:
            return None
        return int(np.searchsorted(self.bins.cumulative(), allowed, side="right"))

    def bin_of(self, score: float) -> int:
        """Return the bin that a score lies in."""
        return int(np.searchsorted(self.bins.edges, score))

    def wanted(self) -> list[int]:
        """Return the bins whose scores are needed: where points fall, and the ones before."""
        chosen = {self.crossing_bin(), *map(self.bin_past, self.allowed)}
        if None in chosen:  # everything may be accepted: the largest score is wanted
            chosen = chosen - {None} | {self.bins.last_filled_before(len(self.bins.counts))}
        before = {self.bins.last_filled_before(b) for b in chosen if b is not None}
        before.add(self.bin_of(float(self.genuine[-1])))
        return sorted(b for b in chosen | before if b is not None and self.bins.counts[b])

    # -- sweeps

    def narrow(self, sweep: Sweep) -> None:
        """Narrow crowded bins until what is wanted can be collected; say what that is."""
        while True:
            missing = [b for b in self.wanted() if not self._single(b)]
            crowded = [b for b in missing if self.bins.counts[b] > COLLECT]
            if not crowded:
                break
            self._narrow(sweep, crowded)
        self.windows = [(self.bins.low(b), float(self.bins.edges[b])) for b in missing]
        self.expected = sum(int(self.bins.counts[b]) for b in missing)
        self.collect = Collector(self.windows, self.cells, self.gaps)

    def take(self, values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> None:
        """Collect what is wanted of a block."""
        if self.windows or self.gaps is not None:
            self.collected.append(self.collect(values, start, stop))

    def finish(self) -> None:
        """Sort what was collected into its bins."""
        none = np.empty(0, dtype=np.float16)  # gives way to the dtype of the scores
        scores = np.sort(np.concatenate([none, *self.collected])).astype(np.float64)
        self.collected = []
        require_same(len(scores), self.expected)
        for low, high in self.windows:
            first, last = np.searchsorted(scores, [low, high], side="right")
            self.found[low, high] = _distinct(scores[first:last])

    def _single(self, b: int) -> bool:
        """Note the score of a bin that can hold only one value, and say if it does."""
        low, high = self.bins.low(b), float(self.bins.edges[b])
        if (low, high) in self.found:
            return True
        if not (b == 0 or math.nextafter(low, math.inf) == high):
            return False
        self.found[low, high] = np.array([high]), np.array([self.bins.counts[b]])
        return True

    def _narrow(self, sweep: Sweep, crowded: list[int]) -> None:
        """Divide crowded bins: into their few distinct scores, or into cells of their own."""
        counters = {b: CellCounter() for b in crowded}
        tallies = {b: DistinctCounter() for b in crowded}
        none = np.zeros(1, dtype=np.int64)
        for values, start, stop in sweep():
            for b in crowded:
                window = [(self.bins.low(b), float(self.bins.edges[b]))]
                inside = collect(values, start, stop, window)
                if len(inside):
                    counters[b].add(inside[None], none, none)
                    tallies[b].add(inside)
        for b in sorted(crowded, reverse=True):
            low, high = self.bins.low(b), float(self.bins.edges[b])
            distinct, cells = tallies[b], counters[b].result()
            if distinct.values is not None:
                self.found[low, high] = distinct.values, distinct.counts
            elif len(cells.counts) > 1:
                self.bins = self.bins.split(b, cells)
            else:  # closer together than the finest cells
                self._halve(sweep, b, distinct.low / 2 + distinct.high / 2)

    def _halve(self, sweep: Sweep, b: int, middle: float) -> None:
        """Divide a bin at one score."""
        low, high = self.bins.low(b), float(self.bins.edges[b])
        middle = min(max(middle, math.nextafter(low, math.inf)), math.nextafter(high, -math.inf))
        count = sum(len(collect(*block, [(low, middle)])) for block in sweep())
        self.bins = Bins(
            np.insert(self.bins.edges, b, middle),
            np.insert(self.bins.counts, b, count),
        )
        self.bins.counts[b + 1] -= count

    # -- points

    def reject_all(self) -> float:
        """Return the threshold that rejects everything; NaN if a score has that very value."""
        return float("nan") if self.lowest else float("-inf")

    def curve(self, b: int) -> Curve:
        """Return the points of a bin, after the last point before it."""
        low, high = self.bins.low(b), float(self.bins.edges[b])
        values, counts = self.found.get((low, high), (np.empty(0), np.empty(0, dtype=np.int64)))
        if b == 0:
            inside = self.genuine[self.genuine == -np.inf]
            before = 0
        else:
            before = int(np.searchsorted(self.genuine, low, side="right"))
            inside = self.genuine[before : np.searchsorted(self.genuine, high, side="right")]
        threshold = np.union1d(values, inside)
        base = int(self.bins.counts[:b].sum())
        taken = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        fa = base + taken[np.searchsorted(values, threshold, side="right")]
        fr = len(self.genuine) - np.searchsorted(self.genuine, threshold, side="right")
        return Curve(
            np.concatenate([[self._threshold_before(b, before)], threshold]),
            np.concatenate([[base], fa]),
            np.concatenate([[len(self.genuine) - before], fr]),
            len(self.genuine),
            self.total,
        )

    def _threshold_before(self, b: int, genuine_before: int) -> float:
        """Return the largest score before a bin, of either class, or the reject-all threshold."""
        scores = []
        if genuine_before:
            scores.append(float(self.genuine[genuine_before - 1]))
        filled = self.bins.last_filled_before(b)
        if filled is not None:
            window = (self.bins.low(filled), float(self.bins.edges[filled]))
            scores.append(float(self.found[window][0][-1]))
        return max(scores) if scores else self.reject_all()

    def far_at_most(self, threshold: float) -> float:
        """Return the FAR at a threshold in one of the bins that were collected."""
        b = self.bin_of(threshold)
        window = (self.bins.low(b), float(self.bins.edges[b]))
        values, counts = self.found.get(window, (np.empty(0), np.empty(0, dtype=np.int64)))
        inside = int(counts[values <= threshold].sum())
        return (int(self.bins.counts[:b].sum()) + inside) / self.total

    def equal_error(self) -> EqualError:
        """Return the equal error rate."""
        return equal_error(self.curve(self.crossing_bin()))

    def at_far(self, target: float) -> tuple[float, float]:
        """Return the smallest FRR with FAR at most `target`, and the loosest threshold."""
        allowed = allowed_false_accepts(target, self.total)
        b = self.bin_past(allowed)
        if b is None:
            return 0.0, self._threshold_before(len(self.bins.counts), len(self.genuine))
        curve = self.curve(b)
        last = int(np.searchsorted(curve.fa, allowed, side="right")) - 1
        return curve.frr(last), float(curve.threshold[last])


def bin_bounds(tally: VerificationTally) -> dict[str, float]:
    """Return what a tally alone says of EER and AUC: bounds, from counts at cell edges."""
    genuine = tally.genuine.astype(np.float64)
    cells, total = tally.impostor, tally.impostor.total
    nothing = dict.fromkeys(("eer_at_least", "eer_at_most", "auc_at_least", "auc_at_most"), np.nan)
    if not len(genuine) or not total:
        return nothing
    search = _Search(genuine, cells, np.empty(0))
    b = search.crossing_bin()
    taken = search.bins.cumulative()
    rejected = len(genuine) - np.searchsorted(genuine, search.bins.edges, side="right")
    fa0, fr0 = (taken[b - 1], rejected[b - 1]) if b else (0, len(genuine))
    far0, frr0 = fa0 / total, fr0 / len(genuine)
    far1, frr1 = taken[b] / total, rejected[b] / len(genuine)
    inside = np.diff(np.concatenate([[0], len(genuine) - rejected]))
    sure = int(np.dot(inside, total - taken))  # genuine scores in a closer cell
    open_ = int(np.dot(inside, search.bins.counts))
    pairs = len(genuine) * total
    return {
        "eer_at_least": max(far0, frr1),
        "eer_at_most": min(far1, frr0),
        "auc_at_least": sure / pairs,
        "auc_at_most": (sure + open_) / pairs,
    }
