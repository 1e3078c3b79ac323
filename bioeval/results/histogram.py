"""Histograms of genuine and impostor scores, from the counts of verification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
import xarray as xr

from bioeval.attempts.counts import VerificationTally
from bioeval.base.kinds import larger_is_closer
from bioeval.results.dataset import about_attrs
from bioeval.scores.arrays import lattice_step

# Least and largest number of bins between the smallest and the largest score of a class.
LEAST_BINS, MOST_BINS = 8, 120

# Bins between the thresholds of a result, at most.
BINS = 60

# Scores further from the middle half than this many times its width have no bin: sentinels, such as
# 1e6 for a failed comparison, would leave one bin for all others.
FAR_OFF = 10

# Steps between scores of which bins are made, at most: more are as good as any score.
_MOST_STEPS = 1 << 20

# A score at the edge of a cell may be by this part of a step above it, where steps are rounded.
_AT_EDGE = 1e-6


@dataclass(frozen=True)
class Histogram:
    """The scores of one class; a bin of distances has its upper edge, of similarities its lower."""

    edges: np.ndarray  # (b + 1,): in the user's units, increasing
    counts: np.ndarray  # int64 (b,): scores in each bin
    total: int  # all scores of the class, with those that have no bin

    @property
    def density(self) -> np.ndarray:
        """Proportion of the class in each bin, divided by the width of the bin."""
        widths = np.diff(self.edges)
        if self.total:
            return self.counts / (widths * self.total)
        return np.zeros(len(self.counts))

    @property
    def unplaced(self) -> int:
        """Number of scores in no bin: infinite ones, and those far from all others."""
        return self.total - int(self.counts.sum())


#: Of a class without scores.
_EMPTY = Histogram(np.arange(2.0), np.zeros(1, dtype=np.int64), 0)


@dataclass(frozen=True)
class ScoreHistograms:
    """Histograms of the scores of one system, by class: genuine, impostor, perhaps attack."""

    by_class: dict[str, Histogram]
    about: xr.Dataset  # attempts of each class; its attributes are the provenance of the scores

    @property
    def genuine(self) -> Histogram:
        """That of the genuine scores."""
        return self.by_class.get("genuine", _EMPTY)

    @property
    def impostor(self) -> Histogram:
        """That of the impostor scores."""
        return self.by_class.get("impostor", _EMPTY)

    @property
    def attack(self) -> Histogram:
        """That of the scores of attack presentations."""
        return self.by_class.get("attack", _EMPTY)

    @classmethod
    def between_thresholds(cls, dataset: xr.Dataset) -> Self:
        """Return those of the counts of a result between its finite thresholds.

        Edges are thresholds, so that counts are exact; attempts beyond the first and the last have
        no bin. Fewer than three thresholds give no histogram.
        """
        at = dataset["threshold"].values
        finite = np.flatnonzero(np.isfinite(at))
        if len(finite) < 3:
            return cls({}, dataset)
        # Evenly over the scores, not by row: there are more thresholds at operating points.
        ends = np.linspace(at[finite[0]], at[finite[-1]], BINS + 1)
        places = np.searchsorted(at[finite], ends).clip(0, len(finite) - 1)
        edges = finite[np.unique(places)]
        accepted = {"genuine": "ga", "impostor": "fa", "attack": "ia"}
        histograms = {}
        for name, counts in accepted.items():
            if counts in dataset and dataset[counts].dims == ("threshold",):
                between = np.abs(np.diff(dataset[counts].values[edges].astype(np.int64)))
                histograms[name] = Histogram(at[edges], between, int(dataset[f"{name}_attempts"]))
        return cls(histograms, dataset)


def score_histograms(tally: VerificationTally) -> ScoreHistograms:
    """Return the histograms of the scores that a tally of verification counts."""
    kind = tally.about.kind
    genuine, impostor = _genuine(tally, kind), _impostor(tally, kind)
    attempts = {"genuine_attempts": genuine.total, "impostor_attempts": impostor.total}
    about = xr.Dataset(attempts, attrs=about_attrs(tally.about, "histogram", "", ()))
    return ScoreHistograms({"genuine": genuine, "impostor": impostor}, about)


def _bins(values: int, spread: float, span: float) -> int:
    """Return the number of bins by the rule of Freedman and Diaconis."""
    if values < 2 or not spread > 0 or not span > 0:
        return LEAST_BINS
    width = 2 * spread / values ** (1 / 3)
    return int(np.clip(np.ceil(span / width), LEAST_BINS, MOST_BINS))


def _lattice(genuine: np.ndarray) -> tuple[float, float]:
    """Return a score and the step between increasing scores; step 0 if there is none."""
    values = np.unique(genuine)
    if len(values) < 2:
        return (0.0, 0.0)
    step = lattice_step(values, LEAST_BINS)
    if (values == np.rint(values)).all() and abs(values).max() <= 2**53:
        step = float(np.gcd.reduce(np.diff(values).astype(np.int64)))
    if step > 0 and np.ptp(values) / step > _MOST_STEPS:
        step = 0.0
    return float(values[0]), step


@dataclass(frozen=True)
class _Attempts:
    """The attempts of a class that make a histogram."""

    total: int
    kind: str

    def without_bins(self) -> Histogram:
        """Return a histogram that has no score in its only bin."""
        return Histogram(np.array([0.0, 1.0]), np.zeros(1, dtype=np.int64), self.total)

    def between(self, edges: np.ndarray, counts: np.ndarray) -> Histogram:
        """Return the histogram of counts between edges (distances)."""
        if larger_is_closer(self.kind):
            edges, counts = 0.0 - edges[::-1], counts[::-1]
        return Histogram(edges, counts.astype(np.int64), self.total)

    def joined(
        self, counts: np.ndarray, bins: int, edges: Callable[[np.ndarray], np.ndarray]
    ) -> Histogram:
        """Join consecutive counts into bins of nearly equal width with edges at places."""
        each = max(1, round(len(counts) / bins))
        number = max(1, round(len(counts) / each))
        cuts = np.rint(np.linspace(0, len(counts), number + 1)).astype(np.int64)
        return self.between(edges(cuts), np.add.reduceat(counts, cuts[:-1]))


def _genuine(tally: VerificationTally, kind: str) -> Histogram:
    """Return bins of one width that follow the steps between the scores."""
    scores = tally.genuine
    attempts = _Attempts(len(scores), kind)
    finite = scores[np.isfinite(scores)].astype(np.float64)
    if not len(finite):
        return attempts.without_bins()
    q1, q3 = finite[len(finite) // 4], finite[(3 * len(finite)) // 4]
    reach = FAR_OFF * (q3 - q1) or np.inf
    finite = finite[(finite >= q1 - reach) & (finite <= q3 + reach)]
    low, high = float(finite[0]), float(finite[-1])
    bins = _bins(len(finite), float(q3 - q1), high - low)
    origin, step = _lattice(finite)
    if high > low and step:
        counts = np.bincount(np.rint((finite - origin) / step).astype(np.int64))
        return attempts.joined(counts, bins, lambda k: origin + (k - 0.5) * step)
    if high > low:
        edges = np.linspace(low, high, bins + 1)
    else:
        half = _half_width(tally, low)
        edges = np.array([low - half, low + half])
    below = np.searchsorted(finite, edges, side="right")
    below[0] = 0  # the first bin includes its lower edge
    return attempts.between(edges, np.diff(below))


def is_coarse(tally: VerificationTally) -> bool:
    """Whether the middle half of the impostor scores lies in a few cells of many.

    Then scores far from all others are counted in cells too wide for the rest.
    """
    cells = tally.attempts.cells
    q1, q3 = _quartiles(cells.counts)
    return len(cells.counts) > 1 and (q3 - q1 + 1) * LEAST_BINS * FAR_OFF < len(cells.counts)


def _quartiles(counts: np.ndarray) -> tuple[int, int]:
    """Return the places of the first and the third quartile."""
    before = np.cumsum(counts)
    q1 = int(np.searchsorted(before, 0.25 * before[-1:].sum()))
    q3 = int(np.searchsorted(before, 0.75 * before[-1:].sum()))
    return q1, q3


def _impostor(tally: VerificationTally, kind: str) -> Histogram:
    """Join whole cells into bins, so that every count is exact."""
    cells = tally.attempts.cells
    attempts = _Attempts(cells.total, kind)
    if not cells.counts.any():
        return attempts.without_bins()
    q1, q3 = _quartiles(cells.counts)
    reach = FAR_OFF * (q3 - q1) or len(cells.counts)
    places = np.flatnonzero(cells.counts)
    places = places[(places >= q1 - reach) & (places <= q3 + reach)]
    counts = cells.counts[places]
    (last,) = _edges(tally, cells.first + places[-1:])
    if len(places) == 1:
        half = _half_width(tally, float(last))
        return attempts.between(np.array([last - half, last + half]), counts)
    bins = _bins(int(counts.sum()), float(max(q3 - q1, 1)), float(np.ptp(places) + 1))
    upper = _edges(tally, cells.first + places)
    width = float(np.ldexp(1.0, cells.exponent))
    origin, step = _impostor_lattice(tally, upper, width)
    if step:
        # Cells hold the lattice at their upper edge or less than a width below it.
        number = np.floor((upper - origin) / step + _AT_EDGE).astype(np.int64)
        of_lattice = np.bincount(number - number[0], counts).astype(np.int64)
        first = origin + number[0] * step
        return attempts.joined(of_lattice, bins, lambda k: first + (k - 0.5) * step)
    whole = np.zeros(np.ptp(places) + 1, dtype=np.int64)
    whole[places - places[0]] = counts
    first = cells.first + places[0] - 1
    return attempts.joined(whole, bins, lambda k: _edges(tally, first + k))


def _impostor_lattice(
    tally: VerificationTally, upper: np.ndarray, width: float
) -> tuple[float, float]:
    """Return the lattice of cells with these upper edges; step 0 if there is none.

    It is that of the genuine scores, or one of whole cells, as whole numbers have it.
    """
    finite = tally.genuine[np.isfinite(tally.genuine)].astype(np.float64)
    origin, step = _lattice(finite)
    if step >= 2 * width:
        steps = (upper - origin) / step
        if (steps - np.floor(steps + _AT_EDGE) < width / step).all():
            return origin, step
    cells = np.rint(np.diff(upper) / width).astype(np.int64)
    lattice = int(np.gcd.reduce(cells))
    return float(upper[0]), lattice * width if lattice > 1 else 0.0


def _edges(tally: VerificationTally, numbers: np.ndarray) -> np.ndarray:
    """Return the upper edges of cells, up to the largest float."""
    largest = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        edges = np.ldexp(numbers.astype(np.float64), tally.attempts.cells.exponent)
    return np.clip(edges, -largest, largest)


def _half_width(tally: VerificationTally, value: float) -> float:
    """Return half the width of a bin of equal scores."""
    finite = tally.genuine[np.isfinite(tally.genuine)].astype(np.float64)
    ends = [value, *finite[:1], *finite[-1:]]
    if len(tally.attempts.cells.counts):
        first = tally.attempts.cells.first
        numbers = np.array([first, first + len(tally.attempts.cells.counts) - 1])
        ends += _edges(tally, numbers).tolist()
    span = max(ends) - min(ends)
    return float(span / 100 if span > 0 else max(abs(value), 1.0) / 100)
