"""Cells that scores are counted in: ranges of float bits, and cells of one width.

Scores are counted in :class:`BitCells`: their range need not be known, and the counts of parts of
the data can be added. The default thresholds are edges of :class:`EvenCells`, to which these counts
are added up at the end. All scores are distances. A cell includes its upper edge and not its lower
one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from bioeval.base.options import most_items
from bioeval.counting.order import float_of, ordinals_of, rounded_down
from bioeval.counting.sorted_scores import moment_scale
from bioeval.kernels import verification as kernel
from bioeval.kernels.verification import LEAST, SPAN

# ---------------------------------------------------------------------------------- ranges of bits

# The number of cells over all keys, whose ends are the thresholds of a curve: they do not depend on
# the cells in which the scores were counted.
EVERY_KEY = 1 << 21

# The key of the largest float32.
LARGEST_KEY = 0x7F7FFFFF


@dataclass(frozen=True, eq=False)
class BitCells:
    """Ranges of the bits of float32 differences from a centre: :mod:`bioeval.kernels.verification`.

    Cell `count` has all scores above the cells, and cell ``count + 1`` all NaN.

    - `low`: the key from which cells begin
    - `shift`: the number of low bits that the keys of a cell differ in
    """

    dtype: np.dtype  # dtype of the scores
    centre: Any  # a number of the dtype
    low: np.int32
    shift: np.uint32
    count: np.uint32

    @classmethod
    def spanning(
        cls,
        dtype: np.dtype,
        centre: Any,
        low: int = LEAST,
        span: int = SPAN,
        count: int = EVERY_KEY,
    ) -> Self:
        """Return about `count` cells over a span of keys; over all keys by default."""
        shift = max(0, (span // count).bit_length())
        span += low - (low >> shift << shift)
        low = low >> shift << shift  # so that ends of cells have few digits
        return cls(dtype, centre, np.int32(low), np.uint32(shift), np.uint32((span >> shift) + 1))

    @property
    def window(self) -> tuple[np.int32, np.uint32, np.uint32]:
        """The argument `cells` of the compiled loops."""
        return self.low, self.shift, self.count

    def cells_of(self, scores: np.ndarray) -> np.ndarray:
        """Return the cell of each score, int64."""
        cell = np.empty(len(scores), dtype=np.uint32)
        same_dtype = np.ascontiguousarray(scores, dtype=self.dtype)
        kernel.cells_of(same_dtype, self.centre, self.window, cell)
        return cell.astype(np.int64)

    def approximate_edges(self, cells: np.ndarray) -> np.ndarray:
        """Return the largest score (float64) of each cell, up to rounding by the centre."""
        key = np.minimum(int(self.low) + ((cells + 1) << int(self.shift)), LARGEST_KEY)
        bits = np.where(key >= 0, key, -key | (1 << 31)).astype(np.uint32)
        return bits.view(np.float32).astype(np.float64) + float(self.centre)

    def edges(self, cells: np.ndarray) -> np.ndarray:
        """Return the largest score (float64) of each cell: a threshold that accepts all its scores.

        The cell of a score never falls as the score grows, so that bisection finds the ends.
        """
        # All float64 are tried: near a centre that is not 0, scores are far closer than keys.
        low, high = (np.full(len(cells), x) for x in ordinals_of(np.array([-np.inf, np.inf])))
        while (low < high).any():
            # The mean, rounded up; the sum of both would overflow.
            middle = (low >> 1) + (high >> 1) + ((low | high) & 1)
            is_inside = self.cells_of(rounded_down(float_of(middle), self.dtype)) <= cells
            low, high = np.where(is_inside, middle, low), np.where(is_inside, high, middle - 1)
        return float_of(low)


# ------------------------------------------------------------------------------ cells of one width

# The most cells of one width between the smallest and the largest score.
CELLS = 1 << 12

# No cell is narrower than this power of two, so that its inverse stays finite.
LEAST_EXPONENT = -1022


@dataclass(frozen=True)
class EvenCells:
    """Consecutive cells of one width: cell ``k`` is ``((k - 1) w, k w]``, ``w = 2 ** exponent``.

    Edges are exact floats, the cell of a score is found without rounding, and two neighbours make
    one cell of the next exponent: counts of parts of the data can be added.
    """

    exponent: int = 0
    first: int = 0
    count: int = 0

    @classmethod
    def covering(cls, low: float, high: float) -> EvenCells:
        """Return the narrowest cells, at most `CELLS` of them, that cover ``low..high``."""
        exponent = cell_exponent(low, high)
        first = cell_of(low, exponent)
        return cls(exponent, first, cell_of(high, exponent) - first + 1)

    @property
    def edges(self) -> np.ndarray:
        """The upper edge of each cell; infinite past the largest float."""
        numbers = self.first + np.arange(self.count, dtype=np.float64)
        with np.errstate(over="ignore"):
            return np.ldexp(numbers, self.exponent)

    def cells_of(self, values: np.ndarray) -> np.ndarray:
        """Return the cell of each value, 0 for the first cell, as a float.

        Beyond the cells, the numbers go on; the cell of an infinite value is infinite.
        """
        with np.errstate(over="ignore"):
            k = np.ceil(np.ldexp(values, -self.exponent))
            return k + (np.ldexp(k, self.exponent) < values) - self.first


@dataclass
class EvenCounts:
    """Scores counted in the narrowest :class:`EvenCells` that cover them, and infinite scores.

    The cells follow from the scores alone, however the data are divided. The first and the last
    cell are not empty.
    """

    cells: EvenCells
    counts: np.ndarray
    negative_infinite: int
    positive_infinite: int

    @classmethod
    def from_upper(
        cls, upper: np.ndarray, counts: np.ndarray, smallest: np.ndarray, *infinite: int
    ) -> EvenCounts:
        """Return the cells of scores that were counted in other cells, to about a cell.

        - `upper` (k,): the largest scores of the other cells, increasing
        - `counts` (k,): their numbers of scores
        - `smallest` (1,) or (0,): the smallest score, if it is known
        - `infinite`: the numbers of scores that are -inf, and that are +inf
        """
        if not len(upper):
            return cls(EvenCells(), np.zeros(0, np.int64), *infinite)
        cells = EvenCells.covering(float(min([*smallest, upper[0]])), float(upper[-1]))
        index = np.clip(cells.cells_of(upper), 0, cells.count - 1).astype(np.int64)
        counts_by_cell = np.bincount(index, counts, minlength=cells.count).astype(np.int64)
        return cls(cells, counts_by_cell, *infinite)

    @property
    def range(self) -> tuple[float, float]:
        """The upper edges of the first and the last cell; (inf, -inf) without finite scores."""
        if not len(self.counts):
            return math.inf, -math.inf
        low, high = self.cells.edges[[0, -1]].tolist()
        # Beyond the largest float, there is no finite edge and no finite score.
        return low, min(high, sys.float_info.max)

    @property
    def ends(self) -> tuple[float, float]:
        """Numbers below and above all finite scores, whose cells are known up to one beside."""
        low, high = self.range
        exponent = self.cells.exponent
        return low - math.ldexp(3.0, exponent), high + math.ldexp(2.0, exponent)


def cell_exponent(low: float, high: float) -> int:
    """Return the exponent of the narrowest cells of which `CELLS` cover ``low..high``.

    It depends on the range alone, and never falls as the range grows.
    """
    largest_magnitude = max(abs(low), abs(high))
    least = LEAST_EXPONENT
    if largest_magnitude > 0:
        # Edges must be exact: no finer than the spacing of floats at the largest score.
        least = max(least, math.frexp(largest_magnitude)[1] - 53)
    exponent = least
    span = math.ldexp(high / 2.0 - low / 2.0, 1 - least) if high > low else 0.0
    if span >= CELLS:
        exponent = least + math.frexp(span / CELLS)[1] - 1
    while cell_of(high, exponent) - cell_of(low, exponent) >= CELLS:
        exponent += 1
    while exponent > least and cell_of(high, exponent - 1) - cell_of(low, exponent - 1) < CELLS:
        exponent -= 1
    return exponent


def joint_exponent(exponent: int, ranges: Sequence[tuple[float, float]]) -> int:
    """Return the least exponent, not below `exponent`, whose cells cover all the ranges.

    The exponent is the same however the data are divided into parts with these ranges.
    """
    ranges = [(low, high) for low, high in ranges if low <= high]
    if not ranges:
        return exponent
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    while cell_of(high, exponent) - cell_of(low, exponent) >= CELLS:
        exponent += 1
    return exponent


def cell_of(value: float, exponent: int) -> int:
    """Return the number ``k`` of the cell ``((k - 1) 2**e, k 2**e]`` of a finite value."""
    k = math.ceil(math.ldexp(value, -exponent))  # exact, unless a tiny value became 0
    return 1 if k == 0 and value > 0 else k


# Cells in which impostor scores are counted, chosen by a sample of the scores.


# About how many cells there are for each genuine score, and the limits of their number: most cells
# have no threshold, so that the others cost little, and all fit into the cache.
CELLS_A_SCORE = 4
LEAST_CELLS = 1 << 16
MOST_CELLS = 1 << 20

# The proportion of scores below all cells, and the proportion above.
TAIL = 2.0**-10

# The number of standard errors of a sample of tiles within which a point is expected.
ERRORS = 4.0

# The number of groups of a sample, whose differences say how far to trust it.
GROUPS = 16

# The number of coarse cells in which a sample is counted.
SAMPLE_CELLS = 1 << 14

# The largest proportion, and the largest number, of scores kept before the points are known.
MOST_KEPT = 1 / 8
MOST_SCORES = 1 << 25

# FAR targets whose scores are always kept: they are few, and often asked for later.
RARE_TARGETS = (0.0, 1e-6, 1e-5, 1e-3)


class GenuineScores(NamedTuple):
    """Genuine scores in increasing order, and the number of genuine attempts that failed."""

    scores: np.ndarray
    missed: int

    @property
    def attempts(self) -> int:
        return len(self.scores) + self.missed


class ChosenCells(NamedTuple):
    """Cells, and an origin and scale for moments: they are summed as ``(score - origin) * scale``.

    The last two cells are for scores above all cells, and for NaN.
    """

    cells: BitCells
    kept: np.ndarray  # bool (cells + 2,): whether the scores of each cell are kept
    origin: float = 0.0
    scale: float = 1.0


def choose_cells(
    sample: Sequence[np.ndarray],
    dtype: np.dtype,
    genuine: GenuineScores,
    number_of_scores: int,
    *,
    targets: np.ndarray | None = None,
    number_of_cells: int | None = None,
) -> ChosenCells:
    """Return cells that span most scores; the few scores beyond are kept.

    Parameters
    ----------
    sample : sequence of ndarray
        Scores of some tiles, NaN where there is none.
    dtype : dtype
        The type of all scores.
    genuine : GenuineScores
    number_of_scores : int
        The number of all impostor scores.
    targets : ndarray, optional
        FAR targets: the scores around them and around the EER are kept; None: no point is sought.
    number_of_cells : int, optional
        About how many cells there are; by default, it follows from the number of genuine scores.
    """
    finite = [x if np.isfinite(x).all() else x[np.isfinite(x)] for x in sample]
    finite = [x for x in finite if len(x)]
    if not finite:
        cells = BitCells.spanning(dtype, dtype.type(0))
        return ChosenCells(cells, np.zeros(int(cells.count) + 2, dtype=bool))
    least = min(float(x.min()) for x in finite)
    largest = max(float(x.max()) for x in finite)
    every_nth = np.concatenate([x[:: max(1, len(x) >> 12)] for x in finite])
    low, middle, high = np.quantile(every_nth, [TAIL, 0.5, 1 - TAIL], method="lower").tolist()
    is_far_from_0 = largest - least < abs(middle) / 64  # such scores differ in few bits
    if number_of_cells is None:
        number_of_cells = 1 << (CELLS_A_SCORE * len(genuine.scores)).bit_length()
        number_of_cells = min(max(number_of_cells, LEAST_CELLS), MOST_CELLS)
    centre = dtype.type(middle if is_far_from_0 else 0)
    # About so many cells from `low` to `high`, and a margin; all keys are too many.
    shift = 1
    every_key = BitCells(dtype, centre, np.int32(LEAST), np.uint32(shift), np.uint32(SPAN >> shift))
    first, last = every_key.cells_of(np.array([low, high])).tolist()
    margin = (last - first) // 8 + 64
    first, last = max(first - margin, 0), min(last + margin, SPAN >> shift)
    span = (last - first) << shift
    cells = BitCells.spanning(dtype, centre, LEAST + (first << shift), span, number_of_cells)
    kept = np.zeros(int(cells.count) + 2, dtype=bool)
    kept[[0, -2]] = True
    if targets is not None and len(finite) > 1:
        for run in _expected_runs(cells, finite, genuine, targets, number_of_scores):
            kept[run] = True
        kept[-1] = False
    return ChosenCells(cells, kept, middle, moment_scale(least, largest))


def _expected_runs(
    cells: BitCells,
    sample: Sequence[np.ndarray],
    genuine: GenuineScores,
    targets: np.ndarray,
    number_of_scores: int,
) -> Iterator[slice]:
    """Yield the runs of cells in which points are expected, unless they have many scores."""
    # Count the sample in groups of its tiles, in coarse cells: runs of `1 << shift` cells.
    cells_of_groups = []
    for k in range(min(GROUPS, len(sample))):  # one by one: a sample has millions of scores
        cells_of_groups.append(cells.cells_of(np.concatenate(sample[k::GROUPS])).astype(np.uint32))
    first = min(int(x.min()) for x in cells_of_groups)
    last = max(int(x.max()) for x in cells_of_groups)
    shift = max(0, int(last - first + 1).bit_length() - SAMPLE_CELLS.bit_length() + 1)
    width = ((last - first) >> shift) + 1
    tables = np.array([np.bincount((x - first) >> shift, minlength=width) for x in cells_of_groups])
    # The coarse cells with scores, and (groups, filled) the scores of each group up to each.
    filled = np.flatnonzero(tables.any(axis=0))
    upto = np.cumsum(tables[:, filled], axis=1)
    # The FAR at the end of each filled cell, and its margin of `ERRORS` standard errors.
    sizes = upto[:, -1:]
    total = int(sizes.sum())
    fars = upto.sum(axis=0) / total
    between_groups = (upto / sizes).var(axis=0) / (len(upto) - 1)
    margin = ERRORS * np.sqrt(between_groups + (fars + 1 / total) / total)
    genuine_cells = (cells.cells_of(genuine.scores) - first) >> shift
    accepted_genuine = genuine_cells.searchsorted(filled, side="right")
    frrs = 1 - accepted_genuine / max(genuine.attempts, 1)
    share_left = min(MOST_KEPT, most_items(MOST_SCORES, 16) / max(number_of_scores, 1))
    # The fewest scores first. Where FAR is FRR is the EER.
    for target in (*sorted({*RARE_TARGETS, *targets.tolist()}), frrs):
        begin = int(np.searchsorted(fars + margin - target, 0))
        end = int(np.searchsorted(fars - margin - target, 0))
        begin, end = max(begin - 2, 0), min(end + 2, len(filled) - 1)
        share = float(fars[end] - (fars[begin - 1] if begin else 0))
        if share <= share_left:
            share_left -= share
            start = first + (int(filled[begin]) << shift) if begin else 0
            yield slice(start, first + ((int(filled[end]) + 1) << shift))
