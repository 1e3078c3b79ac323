"""The threshold search: the bins in which an operating point can lie, and the exact point.

Genuine scores are known one by one, impostor scores are counted in bins. These say in which few
bins a point can lie; with the impostor scores of those alone, the point is exact. Everything here
is a distance.
"""

from __future__ import annotations

import functools
import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bioeval.attempts.counts import CellCounts
from bioeval.attempts.points import (
    EqualError,
    ErrorCurve,
    allowed_errors,
    crossed,
    hull_equal_error,
    hull_of,
)
from bioeval.base.scalars import Scalar
from bioeval.kernels.order import increasing_order
from bioeval.scores.blocks import SMALL_CELLS

# How much worse a bin may seem, for rounding.
SLACK = 1e-9

Objective = Callable[[np.ndarray, np.ndarray], np.ndarray]


def objectives(
    optima: Sequence[Scalar], costs: np.ndarray, weights: Sequence[float]
) -> Iterator[Objective]:
    """Yield functions of FAR and FRR whose minima are `optima`, least costs, or on the hull.

    The hull is least where FAR has one of the `weights` and FRR the rest.
    """
    for scalar in optima:
        sign = -1.0 if scalar.best == "max" else 1.0
        assert scalar.of_rates is not None
        yield functools.partial(_signed, sign, scalar.of_rates)
    for p, miss, accept in [*costs.astype(float).tolist(), *((1 - w, 1.0, 1.0) for w in weights)]:
        yield functools.partial(_weighted, p * miss, (1 - p) * accept)


def _signed(sign: float, rates: Objective, far: np.ndarray, frr: np.ndarray) -> np.ndarray:
    return sign * rates(far, frr)


def _weighted(miss: float, accept: float, far: np.ndarray, frr: np.ndarray) -> np.ndarray:
    return miss * frr + accept * far


def optimal_bins(attempts: Attempts, optima: Sequence[Scalar], costs: np.ndarray) -> np.ndarray:
    """Return the bins with genuine scores in which an optimum or a least cost can lie, as flags."""
    accepted, rejected = np.cumsum(attempts.counts), attempts.false_rejects(attempts.edges)
    far0 = (accepted - attempts.counts) / attempts.impostor_attempts
    far, frr = accepted / attempts.impostor_attempts, rejected / attempts.genuine_attempts
    held = np.diff(rejected, prepend=attempts.genuine_attempts) < 0
    known = np.append(0.0, far), np.append(1.0, frr)
    wanted = np.zeros(len(far), dtype=bool)
    for objective in objectives(optima, costs, ()):
        best = float(objective(*known).min())
        wanted |= objective(far0, frr) <= best + SLACK * abs(best)
    weights, least = _supporting(*known)
    lowest = hull_equal_error(np.append(0.0, far0), np.append(1.0, frr))
    # The least of the hull is concave in the weight, and linear between the weights of corners. It
    # is largest where it may reach the lowest possible largest value: from one weight to another.
    # Bins that may be below it somewhere there are so at one of these or at a corner between.
    near = np.flatnonzero(least >= lowest - SLACK)
    some = [(weights[i], least[i]) for i in near]
    for i, beside in ((near[0], near[0] - 1), (near[-1], near[-1] + 1)):
        if 0 <= beside < len(weights):
            part = (lowest - SLACK - least[beside]) / (least[i] - least[beside])
            some.append((weights[beside] + part * (weights[i] - weights[beside]), lowest))
    for weight, cost in some:
        wanted |= weight * far0 + (1 - weight) * frr <= cost + SLACK
    return wanted & held


def crossing_weight(far: np.ndarray, frr: np.ndarray) -> float:
    """Return the weight of FAR whose least cost is where the hull meets the line FAR = FRR."""
    weights, least = _supporting(far, frr)
    return float(weights[np.argmax(least)])


def _supporting(far: np.ndarray, frr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of FAR at which two corners of the hull cost the same, and that cost."""
    x, y = np.append(far, 1.0), np.append(frr, 0.0)
    corners = hull_of(x, y)
    x, y = x[corners], y[corners]
    across, down = np.diff(x), -np.diff(y)
    weights = np.concatenate([[1.0], down / (down + across), [0.0]])
    cost = weights[1:-1] * x[:-1] + (1 - weights[1:-1]) * y[:-1]
    return weights, np.concatenate([[x[0]], cost, [y[-1]]])


_LARGEST = np.finfo(np.float64).max


@dataclass
class Attempts:
    """Attempts by class: single genuine scores, and impostor scores counted in bins."""

    genuine: np.ndarray  # float64 (g,): increasing
    #: float64 (b,): upper edges of the bins, increasing, the last one infinite: bin ``k`` is
    #: ``(edges[k - 1], edges[k]]``, and the first one has no lower end.
    edges: np.ndarray
    counts: np.ndarray  # int64 (b,): impostor scores in each bin
    #: float64 (v,): the distinct impostor scores of the bins that were looked into, increasing.
    values: np.ndarray = field(default_factory=lambda: np.empty(0))
    #: int64 (v + 1,): how many impostor scores there are of the `values` before each, and of all.
    accepted: np.ndarray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    #: Attempts that no threshold accepts: in open set genuine ones whose mate is not first.
    missed: int = 0
    missed_impostors: int = 0
    #: int64 (b + 1,): how many impostor scores there are in the bins before each, and in all.
    below: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.below = _from_zero(self.counts)

    @classmethod
    def listed(
        cls, genuine: np.ndarray, impostor: np.ndarray, missed: int = 0, missed_impostors: int = 0
    ) -> Attempts:
        """Take scores that are all known, without NaN."""
        both = _increasing(genuine), _increasing(impostor)
        return cls.ordered(*both, missed, missed_impostors)

    @classmethod
    def ordered(
        cls, genuine: np.ndarray, impostor: np.ndarray, missed: int = 0, missed_impostors: int = 0
    ) -> Attempts:
        """Take scores that are all known, float64 and increasing."""
        counts = np.array([len(impostor)])
        made = cls(
            genuine, np.array([np.inf]), counts, missed=missed, missed_impostors=missed_impostors
        )
        made.values, starts = runs(impostor)
        made.accepted = np.append(starts, len(impostor))
        return made

    @classmethod
    def of_cells(
        cls, genuine: np.ndarray, cells: CellCounts, missed: tuple[int, int] = (0, 0)
    ) -> Attempts:
        """Take impostor counts in cells; the first bin holds -inf only, and the last +inf only."""
        inner = np.zeros(1)
        if len(cells.counts):
            inner = cells.grid.boundaries
        edges = np.concatenate([[-np.inf], np.minimum(inner, _LARGEST), [_LARGEST, np.inf]])
        before, after = [cells.negative_infinite, 0], [0, cells.positive_infinite]
        counts = np.concatenate([before, cells.counts, after]).astype(np.int64)
        return cls(genuine, edges, counts, missed=missed[0], missed_impostors=missed[1])

    def take_scores(self, values: np.ndarray, weights: np.ndarray) -> None:
        """Take the impostor scores of some bins, in increasing order."""
        self.values, starts = runs(values)
        self.accepted = _from_zero(weights)[np.append(starts, len(values))]

    def split(self, b: int, edges: np.ndarray, counts: np.ndarray) -> None:
        """Replace a bin by several; the last upper edge is that of the bin."""
        self.edges = np.concatenate([self.edges[:b], edges, self.edges[b + 1 :]])
        self.counts = np.concatenate([self.counts[:b], counts, self.counts[b + 1 :]])
        self.below = _from_zero(self.counts)

    def divide(self, at: np.ndarray, up_to: np.ndarray) -> None:
        """Divide bins at scores, increasing, by the impostor scores up to each."""
        edges = np.concatenate([self.edges, at])
        order = np.argsort(edges, kind="stable")
        reached = np.concatenate([self.below[1:], up_to])[order]
        self.edges, first = np.unique(edges[order], return_index=True)
        self.counts = np.diff(reached[first], prepend=0)
        self.below = _from_zero(self.counts)

    # -- counts

    @property
    def genuine_attempts(self) -> int:
        """Number of genuine attempts."""
        return len(self.genuine) + self.missed

    @property
    def impostor_attempts(self) -> int:
        """Number of impostor attempts."""
        return int(self.below[-1]) + self.missed_impostors

    @property
    def defined(self) -> bool:
        """Whether both classes have attempts."""
        return self.genuine_attempts > 0 and self.impostor_attempts > 0

    def false_rejects(self, threshold: Any) -> Any:
        """Return the number of genuine attempts rejected at thresholds."""
        return self.genuine_attempts - self.genuine.searchsorted(threshold, side="right")

    def false_accepts(self, threshold: Any) -> np.ndarray:
        """Return the number of impostor attempts accepted at thresholds in known bins."""
        b = self.bin_of(threshold)
        stop = self.values.searchsorted(threshold, side="right")
        return self.below[b] + self.accepted[stop] - self.accepted[self.first_value(b)]

    def errors_at(self, threshold: float) -> tuple[int, int]:
        """Return the numbers of false accepts and false rejects at a threshold; NaN rejects all."""
        if math.isnan(threshold):
            return 0, self.genuine_attempts
        return int(self.false_accepts(threshold)), int(self.false_rejects(threshold))

    # -- bins

    def bin_of(self, values: Any) -> Any:
        """Return the bin of each value."""
        return self.edges.searchsorted(values)

    def first_value(self, b: Any) -> Any:
        """Return the place of the first of `values` that is not below each bin."""
        return np.where(b == 0, 0, self.values.searchsorted(self.edges[b - 1], side="right"))

    def interval(self, b: int) -> tuple[float, float]:
        """Return the ends of a bin; the lower one is excluded (except -inf)."""
        return float(self.edges[b - 1]) if b else -np.inf, float(self.edges[b])

    def single_valued(self) -> np.ndarray:
        """Return the bins that can hold only one value, as flags."""
        with np.errstate(over="ignore"):
            return np.append(True, np.nextafter(self.edges[:-1], np.inf) == self.edges[1:])

    def genuine_at_ends(self) -> np.ndarray:
        """Return the bins with no genuine score but at their upper edge, as flags."""
        before = self.genuine.searchsorted(self.edges[:-1], side="right")
        return self.genuine.searchsorted(self.edges) == np.append(0, before)

    def genuine_within(self, b: int) -> np.ndarray:
        """Return the distinct genuine scores in a bin."""
        low, high = self.interval(b)
        first = self.genuine.searchsorted(low, side="right") if b else 0
        return distinct(self.genuine[first : self.genuine.searchsorted(high, side="right")])

    def crossing_bin(self) -> int:
        """Return the first bin at whose upper edge FAR >= FRR."""
        bins, has_crossed = range(len(self.counts) - 1), self._crossing()
        return bisect_left(bins, True, key=lambda b: has_crossed(self.below[b + 1], self.edges[b]))

    def _crossing(self) -> Callable[[Any, Any], bool]:
        """Return whether FAR >= FRR at a threshold, a function of its false accepts and of it."""
        attempts, place = (self.genuine_attempts, self.impostor_attempts), self.genuine.searchsorted
        return lambda accepted, threshold: crossed(
            int(accepted), attempts[0] - int(place(threshold, side="right")), *attempts
        )

    def allowed_errors(self, target: float) -> int:
        """Return the largest number of false accepts whose FAR is at most a target."""
        return allowed_errors(target, self.impostor_attempts)

    def bin_past(self, target: float) -> int:
        """Return the bin of the first false accept above a FAR target, or the last bin."""
        allowed = self.allowed_errors(target)
        past = int(self.below[1:].searchsorted(allowed, side="right"))
        return min(past, len(self.counts) - 1)

    def up_to(self, b: int) -> np.ndarray:
        """Return, as flags, a bin and those before it back to the last with scores.

        That is where the points of the bin are, and the last point before them.
        """
        filled = np.flatnonzero(self.counts[:b])
        wanted = np.zeros(len(self.counts), dtype=bool)
        wanted[(filled[-1] if len(filled) else 0) : b + 1] = True
        return wanted

    def about_equal_error(self) -> float:
        """Return about the EER, to the width of a bin; NaN without attempts of both classes."""
        if not self.defined or not len(self.genuine):
            return np.nan
        at = np.unique(np.quantile(self.genuine, np.linspace(0, 1, 501), method="lower"))
        bins = self.bin_of(at)
        listed = len(self.accepted) > 1 and len(self.counts) == 1
        if listed:
            fa = self.false_accepts(at)
        else:
            fa = (self.below[bins] + self.below[bins + 1]) / 2
        far, frr = fa / self.impostor_attempts, self.false_rejects(at) / self.genuine_attempts
        nearest = int(np.argmin(np.abs(far - frr)))
        return float(far[nearest] + frr[nearest]) / 2

    # -- points

    @property
    def reject_all(self) -> float:
        """The threshold that rejects everything: -inf; NaN where some score has that very value."""
        counted = self.edges[0] == -np.inf and self.counts[0] > 0
        lowest = counted or -np.inf in (*self.genuine[:1], *self.values[:1])
        if lowest:
            return math.nan
        return -math.inf

    def curve(
        self, threshold: np.ndarray, fa: np.ndarray | None = None, *, reject_all: bool = True
    ) -> ErrorCurve:
        """Return the operating points at increasing scores, after reject-all if it is one."""
        if fa is None:
            fa = self.false_accepts(threshold)
        fr = self.false_rejects(threshold)
        if reject_all:
            threshold = np.append(self.reject_all, threshold)
            fa, fr = np.append(0, fa), np.append(self.genuine_attempts, fr)
        return ErrorCurve(threshold, fa, fr, self.genuine_attempts, self.impostor_attempts)

    def equal_error(self) -> EqualError:
        """Return the equal error rate; the scores of its bins must be known."""
        b = self.crossing_bin()
        start, stop = int(self.first_value(b)), int(self.first_value(b + 1))
        before, has_crossed = self.below[b] - self.accepted[start], self._crossing()
        # The first impostor score where the rates have crossed: they may have before it, at a
        # genuine score past the impostor score before.
        i = bisect_left(
            range(stop),
            True,
            start,
            key=lambda i: has_crossed(before + self.accepted[i + 1], self.values[i]),
        )
        near = self.values[max(0, i - 1) : i + (i < stop)]
        first = self.genuine.searchsorted(near[0], side="right") if i else 0
        last = self.genuine.searchsorted(near[-1] if i < stop else self.edges[b], side="right")
        points = distinct(np.sort(np.concatenate([near, self.genuine[first:last]])))
        return self.curve(points, reject_all=i == 0).equal_error()

    def corners(self, wanted: np.ndarray | None = None) -> ErrorCurve:
        """Return reject-all and the points at genuine scores: only they can have the least cost.

        Those in `wanted` bins, or in all; they were looked into.
        """
        of_bins = slice(None) if wanted is None else within(self.genuine, self.edges, wanted)
        first = wanted is None or bool(wanted[0])
        return self.curve(distinct(self.genuine[of_bins]), reject_all=first)

    def pairs(self) -> int:
        """Return twice the pairs with the genuine score below, ties once; all bins known."""
        sides = (self.values.searchsorted(self.genuine, side=x) for x in ("left", "right"))
        return int(sum((self.accepted[-1] - self.accepted[place]).sum() for place in sides))

    def auc(self) -> float:
        """Return the proportion of pairs with the genuine score below, ties as one half."""
        return self.pairs() / (2 * self.genuine_attempts * self.impostor_attempts)

    def at_far(self, target: float) -> tuple[float, float]:
        """Return the smallest FRR with FAR at most `target`, and the loosest threshold.

        The bin past the target, and the last one before it that has scores, were looked into.
        """
        b = self.bin_past(target)
        allowed = self.allowed_errors(target) - self.below[b]
        inside = allowed + self.accepted[self.first_value(b)]
        i = int(self.accepted.searchsorted(inside, side="right")) - 1
        past = self.values[i] if i < len(self.values) else np.nan  # after all genuine scores
        g = int(self.genuine.searchsorted(past))
        frr = (self.genuine_attempts - g) / self.genuine_attempts
        if not i and not g:  # reject-all, which is no point where a score is -inf
            return frr, float("nan" if past == -np.inf else "-inf")
        return frr, float(max([*self.values[i - 1 : i], *self.genuine[g - 1 : g]]))

    def at_frr(self, target: float) -> float | None:
        """Return the strictest threshold with FRR at most `target`; None if there is none.

        It is a genuine score, or rejects all: NaN where some score is -inf.
        """
        attempts = self.genuine_attempts
        needed = attempts - allowed_errors(target, attempts)
        if needed > len(self.genuine):
            return None
        if needed:
            return float(self.genuine[needed - 1])
        return self.reject_all

    def far_at_frr(self, target: float) -> tuple[float, float]:
        """Return the smallest FAR with FRR at most `target`, and the strictest threshold.

        The bin of the threshold was looked into. Both are NaN where attempts that no threshold
        accepts keep FRR above the target.
        """
        threshold = self.at_frr(target)
        if threshold is None:
            return math.nan, math.nan
        # Reject-all is a point, with FAR 0, where a score of -inf leaves it without a threshold.
        accepted = 0
        if not math.isnan(threshold):
            accepted = int(self.false_accepts(threshold))
        return accepted / self.impostor_attempts, threshold


def _increasing(scores: np.ndarray) -> np.ndarray:
    """Return scores in increasing order, without NaN, as float64."""
    few = len(scores) <= SMALL_CELLS
    ordered = (scores[increasing_order(scores)] if few else np.sort(scores)).astype(np.float64)
    return ordered[: ordered.searchsorted(np.nan)]  # NaN is last


def _from_zero(counts: np.ndarray) -> np.ndarray:
    """Return the sums of the counts before each place, and the total."""
    sums = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=sums[1:])
    return sums


def runs_of(wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last place of each run of set flags."""
    steps = np.diff(wanted.astype(np.int8), prepend=0, append=0)
    return np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) - 1


def within(values: np.ndarray, edges: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the places of increasing values that are in wanted bins."""
    first, last = runs_of(wanted)
    starts = np.where(first > 0, np.searchsorted(values, edges[first - 1], side="right"), 0)
    stops = np.searchsorted(values, edges[last], side="right")
    runs = [np.arange(*ends) for ends in zip(starts.tolist(), stops.tolist(), strict=True)]
    return np.concatenate([np.empty(0, dtype=np.int64), *runs])


def distinct(ordered: np.ndarray) -> np.ndarray:
    """Return the distinct values of an increasing array."""
    return runs(ordered)[0]


def runs(ordered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values of an increasing array, and the first place of each."""
    first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    return ordered[starts], starts
