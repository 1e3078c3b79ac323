"""The second pass over the scores, where operating points fall.

The first sweep leaves genuine scores and impostor counts in cells. From those it is known in
which cell each point lies; the second sweep collects the impostor scores of these few cells
alone, and counts the others between the genuine scores.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from bioeval.base.progress import stage
from bioeval.base.scalars import OPTIMA
from bioeval.tallies.cells import edge_of
from bioeval.tallies.counters import CellCounter, ImpostorBlock
from bioeval.tallies.counts import CellCounts, VerificationTally
from bioeval.tallies.points import (
    GenuineRanks,
    VerificationPoints,
    d_prime,
    hull_equal_error,
    min_costs,
    moments_of,
)
from bioeval.tallies.second_pass.between_genuine import GenuineRankCounter, require_same
from bioeval.tallies.second_pass.collect import DistinctCounter, MomentCounter, WindowCollector
from bioeval.tallies.threshold_search import Attempts

# A bin with more scores than this is divided before any is collected.
COLLECT = 1 << 20

Sweep = Callable[[], Iterator[ImpostorBlock]]


@stage("finding operating points")
def refine(
    tally: VerificationTally,
    sweep: Sweep,
    far_targets: Sequence[float] | np.ndarray,
    costs: np.ndarray,
    *,
    symmetric: bool | None,
    auc: bool = True,
) -> VerificationPoints:
    """Return the exact operating points of a tally, by another sweep over its impostor scores."""
    finder = PointFinder(tally, far_targets, costs, symmetric=symmetric, auc=auc)
    finder.prepare(sweep)
    if finder.waits:
        for block in sweep():
            finder.take(*block)
    return finder.points()


class PointFinder:
    """Finds the operating points of one tally; several finders may share a sweep.

    `symmetric` says whether each pair was counted in both directions, None if unknown; `auc`,
    whether to find what takes every impostor score: AUC, d', hull and least costs.
    """

    def __init__(
        self,
        tally: VerificationTally,
        far_targets: Sequence[float] | np.ndarray,
        costs: np.ndarray,
        *,
        symmetric: bool | None,
        auc: bool = True,
    ):
        targets = np.asarray(far_targets, dtype=np.float64)
        genuine, cells = tally.genuine.astype(np.float64), tally.impostor
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
        self._attempts = Attempts.of_cells(genuine, cells)
        self._cells = cells
        self._bins: _BinScores | None = None
        self._ranks: GenuineRankCounter | None = None
        self._moments: MomentCounter | None = None
        if self._attempts.defined:
            self._bins = _BinScores(self._attempts, [0.0, *targets.tolist()])
            if auc:
                self._ranks = GenuineRankCounter(genuine, cells)
                self._moments = MomentCounter(*_ends(cells))

    def prepare(self, sweep: Sweep) -> None:
        """Divide crowded bins, in sweeps of their own; most often there are none."""
        if self._bins is not None:
            self._bins.divide(sweep)
            self._collect = WindowCollector(self._bins.windows, self._cells, self._ranks)

    @property
    def waits(self) -> bool:
        """Whether a sweep is needed."""
        return self._bins is not None and bool(self._bins.windows or self._ranks)

    def take(self, values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> None:
        """Look at a block of impostor scores."""
        if self._bins is None:
            return
        if self._moments is not None:
            self._moments.add(values, start, stop)
        if self.waits:
            self._bins.collected.append(self._collect(values, start, stop))

    def points(self) -> VerificationPoints:
        """Return the points, after every block has been taken."""
        points, attempts = self._points, self._attempts
        if self._bins is None:
            return points
        self._bins.finish()
        points.equal_error = attempts.equal_error()
        for i, target in enumerate(points.far_target):
            points.frr_at_far[i], points.threshold_at_far[i] = attempts.at_far(float(target))
        points.zero_far, points.zero_far_threshold = attempts.at_far(0.0)
        largest = float(attempts.genuine[-1])
        points.zero_frr = int(attempts.false_accepts(largest)) / attempts.impostor_attempts
        points.zero_frr_threshold = largest
        if self._ranks is not None and self._moments is not None:
            self._add_every_score(self._ranks.result(), self._moments)
        return points

    def _add_every_score(self, ranks: GenuineRanks, moments: MomentCounter) -> None:
        points, genuine, cells = self._points, self._attempts.genuine, self._cells
        points.d_prime = d_prime(moments_of(genuine[np.isfinite(genuine)]), moments.result())
        points.auc = ranks.auc()
        _, far, frr = ranks.corner_points()
        points.optima = {x.name: float(x.over_points(far, frr)) for x in OPTIMA}
        points.eer_hull = hull_equal_error(np.append(far, 1.0), np.append(frr, 0.0))
        lowest = genuine[0] == -np.inf or cells.negative_infinite
        reject_all = math.nan if lowest else -math.inf
        points.min_cost, points.min_cost_threshold = min_costs(ranks, points.costs, reject_all)


def _ends(cells: CellCounts) -> tuple[float, float]:
    """Return finite ends of all cells."""
    if not len(cells.counts):
        return 0.0, 0.0
    low, high = cells.grid.boundaries[[0, -1]].clip(-sys.float_info.max, sys.float_info.max)
    return float(low), float(high)


class _BinScores:
    """The impostor scores of the bins where points fall, crowded ones divided first."""

    def __init__(self, attempts: Attempts, targets: Sequence[float]):
        self.attempts, self.targets = attempts, targets
        self.known: dict[tuple[float, float], tuple[np.ndarray, np.ndarray]] = {}
        self.windows: list[tuple[float, float]] = []
        self.collected: list[np.ndarray] = []

    def wanted(self) -> list[int]:
        """Return the bins whose scores are needed: where points fall, and the ones before."""
        attempts = self.attempts
        wanted = attempts.up_to(attempts.crossing_bin())
        for target in self.targets:
            wanted |= attempts.up_to(attempts.bin_past(target))
        wanted[attempts.bin_of(float(attempts.genuine[-1]))] = True
        return np.flatnonzero(wanted & (attempts.counts > 0)).tolist()

    def divide(self, sweep: Sweep) -> None:
        """Divide crowded bins until all that are wanted can be collected."""
        while True:
            missing = [b for b in self.wanted() if not self._is_known(b)]
            counts = self.attempts.counts
            crowded = [b for b in missing if counts[b] > COLLECT]
            if not crowded:
                break
            self._divide(sweep, crowded)
        self.windows = [self.attempts.interval(b) for b in missing]
        self.expected = int(counts[missing].sum())

    def finish(self) -> None:
        """Give the scores to the attempts."""
        none = np.empty(0, dtype=np.float16)  # gives way to the dtype of the scores
        scores = np.sort(np.concatenate([none, *self.collected])).astype(np.float64)
        require_same(len(scores), self.expected)
        parts = [(scores, np.ones(len(scores), dtype=np.int64)), *self.known.values()]
        values, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(values, kind="stable")  # parts in order are merged
        self.attempts.look_into(values[order], weights[order])
        self.collected = []

    def _is_known(self, b: int) -> bool:
        """Say whether the scores of a bin are known, as where it can hold only one value."""
        low, high = self.attempts.interval(b)
        if b == 0 or math.nextafter(low, math.inf) == high:
            self.known[low, high] = np.array([high]), self.attempts.counts[b : b + 1]
        return (low, high) in self.known

    def _divide(self, sweep: Sweep, crowded: list[int]) -> None:
        """Divide crowded bins: into their few distinct scores, or into cells of their own."""
        attempts = self.attempts
        counters = {b: (CellCounter(), DistinctCounter()) for b in crowded}
        collectors = {b: WindowCollector([attempts.interval(b)]) for b in crowded}
        none = np.zeros(1, dtype=np.int64)
        for block in sweep():
            for b, (counter, scores) in counters.items():
                inside = collectors[b](*block)
                if len(inside):
                    counter.add(inside[None], none, none)
                    scores.add(inside)
        for b in sorted(crowded, reverse=True):
            counter, scores = counters[b]
            cells = counter.cells
            if scores.values is not None:
                self.known[attempts.interval(b)] = scores.values, scores.counts
            elif len(cells.counts) > 1:
                self._split_at_cells(b, cells)
            else:  # closer together than the finest cells
                self._halve(sweep, b, scores.low / 2 + scores.high / 2)

    def _split_at_cells(self, b: int, cells: CellCounts) -> None:
        """Divide a bin into cells."""
        low, high = self.attempts.interval(b)
        first = max(low, edge_of(cells.first - 1, cells.exponent))
        edges = np.concatenate([[first], np.minimum(cells.grid.edges, high), [high]])
        self.attempts.split(b, edges, np.concatenate([[0], cells.counts, [0]]))

    def _halve(self, sweep: Sweep, b: int, middle: float) -> None:
        """Divide a bin at one score."""
        low, high = self.attempts.interval(b)
        middle = min(max(middle, math.nextafter(low, math.inf)), math.nextafter(high, -math.inf))
        collect = WindowCollector([(low, middle)])
        below = sum(len(collect(*block)) for block in sweep())
        above = int(self.attempts.counts[b]) - below
        self.attempts.split(b, np.array([middle, high]), np.array([below, above]))


def bin_bounds(tally: VerificationTally) -> dict[str, float]:
    """Return bounds of EER and AUC from a tally alone, from its counts at cell edges."""
    attempts = Attempts.of_cells(tally.genuine.astype(np.float64), tally.impostor)
    if not attempts.defined:
        return dict.fromkeys(("eer_at_least", "eer_at_most", "auc_at_least", "auc_at_most"), np.nan)
    genuine, total = attempts.genuine_attempts, attempts.impostor_attempts
    b = attempts.crossing_bin()
    accepted, rejected = np.cumsum(attempts.counts), attempts.false_rejects(attempts.edges)
    fa0, fr0 = (accepted[b - 1], rejected[b - 1]) if b else (0, genuine)
    inside = np.diff(np.concatenate([[0], genuine - rejected]))
    sure = int(np.dot(inside, total - accepted))  # genuine scores in a lower bin
    undecided = int(np.dot(inside, attempts.counts))
    pairs = genuine * total
    return {
        "eer_at_least": max(fa0 / total, rejected[b] / genuine),
        "eer_at_most": min(accepted[b] / total, fr0 / genuine),
        "auc_at_least": sure / pairs,
        "auc_at_most": (sure + undecided) / pairs,
    }
