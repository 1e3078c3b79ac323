"""Histograms of genuine and impostor scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import xarray as xr

from bioeval.base.kinds import Kind

# The least and the largest number of bins between the smallest and the largest score of a class.
LEAST_BINS, MOST_BINS = 8, 120

# The most bins between the thresholds of a result.
BINS = 60

# Scores further from the middle half than this many times its width have no bin: with sentinels,
# such as 1e6 for a failed comparison, all other scores would be in one bin.
FAR_OFF = 10

# The most steps for each score: with more, any floats would be in equal steps.
_STEPS_PER_SCORE = 8

# The largest distance of a difference from a whole number of steps, in steps.
_STEP_ROUNDING = 1e-3


@dataclass(frozen=True)
class Histogram:
    """The scores of one class.

    A bin of distances includes its upper edge, a bin of similarities its lower edge.
    """

    edges: np.ndarray  # (b + 1,): in the user's units, increasing
    counts: np.ndarray  # int64 (b,): scores in each bin
    total: int  # all scores of the class, including scores in no bin

    @classmethod
    def of_distances(cls, edges: np.ndarray, counts: np.ndarray, total: int, kind: Kind) -> Self:
        """Return the histogram of counts between increasing distances, in the user's units."""
        if kind == "similarity":
            edges, counts = 0.0 - edges[::-1], counts[::-1]
        return cls(edges, counts, total)

    @property
    def density(self) -> np.ndarray:
        """Proportion of the class in each bin, divided by the width of the bin."""
        widths = np.diff(self.edges)
        if self.total:
            return self.counts / (widths * self.total)
        return np.zeros(len(self.counts))

    @property
    def unplaced(self) -> int:
        """Number of scores in no bin: infinite scores, and scores far from the middle half."""
        return self.total - int(self.counts.sum())


#: The histogram of a class without scores.
_EMPTY = Histogram(np.arange(2.0), np.zeros(1, dtype=np.int64), 0)


@dataclass(frozen=True)
class ScoreHistograms:
    """Histograms of the scores of one system, by class: genuine and impostor."""

    by_class: dict[str, Histogram]
    about: xr.Dataset  # attempts of each class; its attributes are the provenance of the scores

    def of_class(self, name: str) -> Histogram:
        """Return the histogram of a class, empty for a class without scores."""
        return self.by_class.get(name, _EMPTY)

    @classmethod
    def between_thresholds(cls, dataset: xr.Dataset) -> Self:
        """Return the histograms of the attempts of a result between its finite thresholds.

        Edges are thresholds, so that counts are exact. Attempts beyond the first or last edge have
        no bin. Fewer than three thresholds give no histogram.
        """
        thresholds = dataset["threshold"].values
        finite = np.flatnonzero(np.isfinite(thresholds))
        if len(finite) < 3:
            return cls({}, dataset)
        # Edges are spread evenly over scores, not over rows: operating points have more thresholds.
        even = np.linspace(thresholds[finite[0]], thresholds[finite[-1]], BINS + 1)
        indices = np.searchsorted(thresholds[finite], even).clip(0, len(finite) - 1)
        edges = finite[np.unique(indices)]  # indices among the thresholds
        histograms = {}
        for name, accepted in (("genuine", "ga"), ("impostor", "fa")):
            if accepted in dataset and dataset[accepted].dims == ("threshold",):
                counts = np.abs(np.diff(dataset[accepted].values[edges].astype(np.int64)))
                attempts = int(dataset[f"{name}_attempts"])
                histograms[name] = Histogram(thresholds[edges], counts, attempts)
        return cls(histograms, dataset)


def edges_of(scores: np.ndarray, ends: tuple[float, float] | None = None) -> np.ndarray:
    """Return the edges of bins of one width for increasing scores, leaving out those far off.

    The width follows the rule of Freedman and Diaconis (1981), ``2 IQR / n^(1/3)``. If scores are
    on a lattice, such as whole numbers, the width is a whole number of steps. The scores may be a
    sample of scores that reach to `ends`.
    """
    scores = scores[np.isfinite(scores)].astype(np.float64)
    if not len(scores):
        return _EMPTY.edges
    q1, q3 = scores[len(scores) // 4], scores[3 * len(scores) // 4]
    reach = FAR_OFF * (q3 - q1) or np.inf
    nearest_end, farthest_end = q1 - reach, q3 + reach  # scores beyond them have no bin
    scores = scores[(scores >= nearest_end) & (scores <= farthest_end)]
    low, high = scores[0], scores[-1]
    if ends is not None:
        low, high = min(low, max(ends[0], nearest_end)), max(high, min(ends[1], farthest_end))
    span = high - low
    if not 0 < span < np.inf:  # one bin around a single score
        half = max(abs(low), 1.0) / 100
        return np.array([low - half, high + half])
    bins = LEAST_BINS
    if q3 > q1:
        width = 2 * (q3 - q1) / len(scores) ** (1 / 3)
        bins = int(np.clip(np.ceil(span / width), LEAST_BINS, MOST_BINS))
    if step := _lattice_step(np.unique(scores)):
        width = step * max(1, round(span / step / bins))
        low = scores[0] - step * (np.ceil((scores[0] - low) / step) + 0.5)
        return low + width * np.arange(int((high - low) // width) + 2)
    edges = np.linspace(low, high, bins + 1)
    edges[0] = np.nextafter(low, -np.inf)  # the first bin has the smallest score
    return edges


def _lattice_step(values: np.ndarray) -> float:
    """Return the step by which increasing scores differ, such as 0.01 of scores with two decimals.

    0 if they are not in equal steps, or are fewer than `LEAST_BINS`; whole numbers are in steps.
    """
    if (values == np.rint(values)).all() and abs(values).max() <= 2**53:
        return float(np.gcd.reduce(np.diff(values).astype(np.int64)))
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = np.diff(values)
        step = float(gaps.min(initial=np.inf))
        if len(values) < LEAST_BINS or not 0 < step < np.inf:
            return 0.0
        steps = gaps / step
        if not steps.sum() <= _STEPS_PER_SCORE * len(values):
            return 0.0
        whole_steps = np.rint(steps)
        if not (abs(steps - whole_steps) <= _STEP_ROUNDING).all():
            return 0.0
        # The mean of all steps is more exact than a single step.
        return float((values[-1] - values[0]) / whole_steps.sum())
