"""Histograms of genuine and impostor scores, from the counts of verification."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from bioeval.base.kinds import larger_is_closer
from bioeval.results.dataset import about_attrs
from bioeval.tallies.counts import VerificationTally

# Least and largest number of bins between the smallest and the largest score of a class.
LEAST_BINS, MOST_BINS = 8, 120

# Scores further from the middle half than this many times its width have no bin: sentinels, such as
# 1e6 for a failed comparison, would leave one bin for all others.
FAR_OFF = 10


@dataclass(frozen=True)
class Histogram:
    """The scores of one class.

    A bin of distances includes its upper edge, of similarities its lower.
    """

    edges: np.ndarray  # (b + 1,): in the user's units, increasing
    counts: np.ndarray  # int64 (b,): scores in each bin
    total: int  # all scores of the class, with those that have no bin

    @property
    def density(self) -> np.ndarray:
        """Proportion of the class in each bin, over the width of the bin."""
        widths = np.diff(self.edges)
        return self.counts / (widths * self.total) if self.total else np.zeros(len(self.counts))

    @property
    def unplaced(self) -> int:
        """Scores in no bin: infinite ones, and those far from all others."""
        return self.total - int(self.counts.sum())


@dataclass(frozen=True)
class ScoreHistograms:
    """The scores of both classes of one system."""

    genuine: Histogram
    impostor: Histogram
    about: xr.Dataset  # attempts of both classes; its attributes are the provenance of the scores


def score_histograms(tally: VerificationTally) -> ScoreHistograms:
    """Return the histograms of the scores that a tally of verification counts."""
    kind = tally.about.kind
    genuine, impostor = _genuine(tally, kind), _impostor(tally, kind)
    attempts = {"genuine_attempts": genuine.total, "impostor_attempts": impostor.total}
    about = xr.Dataset(attempts, attrs=about_attrs(tally.about, "", ()))
    return ScoreHistograms(genuine, impostor, about)


def _bins(values: int, spread: float, span: float) -> int:
    """Return the number of bins by the rule of Freedman and Diaconis."""
    if values < 2 or not spread > 0 or not span > 0:
        return LEAST_BINS
    width = 2 * spread / values ** (1 / 3)
    return int(np.clip(np.ceil(span / width), LEAST_BINS, MOST_BINS))


def _step(scores: np.ndarray) -> float:
    """Return the distance that all increasing scores are multiples of, if they are integers."""
    if (scores != np.rint(scores)).any() or abs(scores).max() > 2**53:
        return 0.0
    return float(np.gcd.reduce(np.diff(scores).astype(np.int64)))


def _user(edges: np.ndarray, counts: np.ndarray, total: int, kind: str) -> Histogram:
    if larger_is_closer(kind):
        edges, counts = 0.0 - edges[::-1], counts[::-1]
    return Histogram(edges, counts.astype(np.int64), total)


def _genuine(tally: VerificationTally, kind: str) -> Histogram:
    scores = tally.genuine
    finite = scores[np.isfinite(scores)].astype(np.float64)
    if not len(finite):
        return Histogram(np.array([0.0, 1.0]), np.zeros(1, dtype=np.int64), len(scores))
    q1, q3 = finite[len(finite) // 4], finite[(3 * len(finite)) // 4]
    reach = FAR_OFF * (q3 - q1) or np.inf
    finite = finite[(finite >= q1 - reach) & (finite <= q3 + reach)]
    low, high = float(finite[0]), float(finite[-1])
    bins = _bins(len(finite), float(q3 - q1), high - low)
    step = _step(finite)
    if high > low and step:
        # The upper edge of a bin is in it: the edges are scores.
        width = step * max(1, round((high - low) / step / bins))
        edges = low - step + width * np.arange(np.ceil((high - low + step) / width) + 1)
    elif high > low:
        edges = np.linspace(low, high, bins + 1)
    else:
        half = _half_width(tally, low)
        edges = np.array([low - half, low + half])
    below = np.searchsorted(finite, edges, side="right")
    below[0] = 0  # the first bin includes its lower edge
    return _user(edges, np.diff(below), len(scores), kind)


def _impostor(tally: VerificationTally, kind: str) -> Histogram:
    """Join whole cells into bins, so that every count is exact."""
    cells = tally.impostor
    if not cells.counts.any():
        return Histogram(np.array([0.0, 1.0]), np.zeros(1, dtype=np.int64), cells.total)
    if len(cells.counts) == 1:
        (value,) = _edges(tally, np.array([cells.first]))
        half = _half_width(tally, float(value))
        return _user(np.array([value - half, value + half]), cells.counts, cells.total, kind)
    before = np.cumsum(cells.counts)
    n = int(before[-1])
    q1, q3 = (int(np.searchsorted(before, part * n)) for part in (0.25, 0.75))
    spread = max(q3 - q1, 1)
    below = max(0, q1 - FAR_OFF * spread)
    shown = cells.counts[below : q3 + FAR_OFF * spread + 1]
    shown = shown[: int(np.flatnonzero(shown)[-1]) + 1]
    bins = _bins(n, float(spread), float(len(shown)))
    step = max(1, -(-len(shown) // bins))
    # Whole multiples of the distance between scores, as integers have it: bins hold as many each.
    lattice = int(np.gcd.reduce(np.diff(np.flatnonzero(shown)))) or 1
    step = max(1, round(step / lattice)) * lattice
    starts = np.arange(0, len(shown), step)
    counts = np.add.reduceat(shown, starts)
    # Cells are numbered by their upper edges; the first bin begins at the lower edge of its first.
    numbers = cells.first + below - 1 + np.append(starts, starts[-1] + step)
    return _user(_edges(tally, numbers), counts, cells.total, kind)


def _edges(tally: VerificationTally, numbers: np.ndarray) -> np.ndarray:
    """Return the upper edges of cells, up to the largest float."""
    largest = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        edges = np.ldexp(numbers.astype(np.float64), tally.impostor.exponent)
    return np.clip(edges, -largest, largest)


def _half_width(tally: VerificationTally, value: float) -> float:
    """Return half the width of a bin of equal scores."""
    finite = tally.genuine[np.isfinite(tally.genuine)].astype(np.float64)
    ends = [value, *finite[:1], *finite[-1:]]
    if len(tally.impostor.counts):
        first = tally.impostor.first
        numbers = np.array([first, first + len(tally.impostor.counts) - 1])
        ends += _edges(tally, numbers).tolist()
    span = max(ends) - min(ends)
    return float(span / 100 if span > 0 else max(abs(value), 1.0) / 100)
