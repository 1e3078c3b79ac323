"""Cells that scores are counted in, so that few of very many scores must be kept and sorted.

All scores are distances. The key of a score is a whole number: the bits of its float32 difference
from a centre, in the order of the scores. A cell is a range of ``1 << shift`` keys, and includes
its upper edge but not its lower one. With centre 0, keys from `low` = 0x3F800000, which is the key
of 1.0, and shift 23, the cells are::

    cell 0: all scores up to 2    cell 1: (2, 4]    cell 2: (4, 8]    ...

Cells of one definition can be counted in parts of the data, and the counts added.

:class:`BitCells` defines cells. :func:`choose_cells` chooses them by a sample of the scores, before
the scores are counted, and says of which cells the scores are to be kept: those in which an
operating point is expected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bioeval.base.options import most_items
from bioeval.counting.order import float_of, ordinals_of, rounded_down
from bioeval.counting.sorted_scores import moment_scale
from bioeval.kernels import verification as kernel
from bioeval.kernels.verification import LEAST, SPAN

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


# ------------------------------------------------------------------- cells chosen by a sample

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


def choose_cells(
    sample: Sequence[np.ndarray],
    dtype: np.dtype,
    genuine: np.ndarray,
    genuine_attempts: int,
    number_of_scores: int,
    *,
    targets: np.ndarray | None = None,
    number_of_cells: int | None = None,
) -> tuple[BitCells, np.ndarray, tuple[float, float]]:
    """Return cells that span most scores; the few scores beyond are kept.

    The second value says of which cells the scores are kept, bool (cells + 2,): the last two are
    for scores above all cells, and for NaN. The third is an origin and a scale for moments.

    - `sample`: impostor scores of some tiles, NaN where there is none
    - `genuine`: the increasing scores of `genuine_attempts`, some of which may have failed
    - `number_of_scores`: of all impostor scores, of which the sample is a part
    - `targets`: FAR targets; the scores around them and around the EER are kept, unless it is None
    - `number_of_cells`: about how many; by default, it follows from the number of genuine scores
    """
    finite = [x if np.isfinite(x).all() else x[np.isfinite(x)] for x in sample]
    finite = [x for x in finite if len(x)]
    if not finite:
        cells = BitCells.spanning(dtype, dtype.type(0))
        return cells, np.zeros(int(cells.count) + 2, dtype=bool), (0.0, 1.0)

    least = min(float(x.min()) for x in finite)
    largest = max(float(x.max()) for x in finite)
    every_nth = np.concatenate([x[:: max(1, len(x) >> 12)] for x in finite])
    low, middle, high = np.quantile(every_nth, [TAIL, 0.5, 1 - TAIL], method="lower").tolist()

    # Scores that are far from 0 and close together have few different keys, unless their middle
    # becomes the centre.
    is_far_from_0 = largest - least < abs(middle) / 64
    centre = dtype.type(middle if is_far_from_0 else 0)
    if number_of_cells is None:
        number_of_cells = 1 << (CELLS_A_SCORE * len(genuine)).bit_length()
        number_of_cells = min(max(number_of_cells, LEAST_CELLS), MOST_CELLS)
    cells = _cells_between(low, high, dtype, centre, number_of_cells)

    # The scores below the first cell are counted in it.
    is_kept = np.zeros(int(cells.count) + 2, dtype=bool)
    is_kept[0] = is_kept[-2] = True
    # Groups of a single tile have no differences that say how far to trust it.
    if targets is not None and len(finite) > 1:
        curve = _SampleCurve.from_sample(cells, finite)
        frrs = curve.frrs(cells.cells_of(genuine), genuine_attempts)
        # Where FAR is FRR is the EER.
        levels = [*sorted({*RARE_TARGETS, *targets.tolist()}), frrs]
        for run in curve.runs_around(levels, number_of_scores):
            is_kept[run] = True
        is_kept[-1] = False
    return cells, is_kept, (middle, moment_scale(least, largest))


def _cells_between(
    low: float, high: float, dtype: np.dtype, centre: Any, number_of_cells: int
) -> BitCells:
    """Return about so many cells from one score to another, with a margin at both ends."""
    # The keys of both scores, halved: the number of all keys is too large for 32 bits.
    shift = 1
    every_key = BitCells(dtype, centre, np.int32(LEAST), np.uint32(shift), np.uint32(SPAN >> shift))
    first, last = every_key.cells_of(np.array([low, high])).tolist()
    # A sample does not have the outermost scores: an eighth more, and some if both keys are equal.
    margin = (last - first) // 8 + 64
    first = max(first - margin, 0)
    last = min(last + margin, SPAN >> shift)
    span = (last - first) << shift
    return BitCells.spanning(dtype, centre, LEAST + (first << shift), span, number_of_cells)


@dataclass(frozen=True, eq=False)
class _SampleCurve:
    """The FAR along the scores of a sample, by which the cells of a threshold are estimated.

    The sample is counted in coarse cells: coarse cell ``k`` is the run of ``1 << shift`` cells from
    cell ``first + (k << shift)``.
    """

    first: int
    shift: int
    filled: np.ndarray  # int64 (filled,): the coarse cells with scores, increasing
    fars: np.ndarray  # float64 (filled,): FAR at the upper edge of each filled coarse cell
    margins: np.ndarray  # float64 (filled,): how far FAR may be from that of all scores

    @classmethod
    def from_sample(cls, cells: BitCells, sample: Sequence[np.ndarray]) -> Self:
        """Count the finite scores of some tiles, in groups of tiles."""
        cells_of_groups = []
        for k in range(min(GROUPS, len(sample))):  # one by one: a sample has millions of scores
            group = np.concatenate(sample[k::GROUPS])
            cells_of_groups.append(cells.cells_of(group).astype(np.uint32))
        first = min(int(x.min()) for x in cells_of_groups)
        last = max(int(x.max()) for x in cells_of_groups)
        shift = max(0, int(last - first + 1).bit_length() - SAMPLE_CELLS.bit_length() + 1)
        width = ((last - first) >> shift) + 1
        # (groups, coarse cells): numbers of scores.
        counts = [np.bincount((x - first) >> shift, minlength=width) for x in cells_of_groups]
        tables = np.array(counts)
        filled = np.flatnonzero(tables.any(axis=0))
        # (groups, filled): the scores of each group up to each filled cell.
        upto = np.cumsum(tables[:, filled], axis=1)
        sizes = upto[:, -1:]
        total = int(sizes.sum())
        fars = upto.sum(axis=0) / total
        # The variance between groups, plus that of independent scores: the first is 0 where all
        # groups agree, and ``1 / total`` keeps the second above 0.
        between_groups = (upto / sizes).var(axis=0) / (len(upto) - 1)
        margins = ERRORS * np.sqrt(between_groups + (fars + 1 / total) / total)
        return cls(first, shift, filled, fars, margins)

    def frrs(self, genuine_cells: np.ndarray, genuine_attempts: int) -> np.ndarray:
        """Return the FRR at the upper edge of each filled coarse cell, (filled,)."""
        coarse_cells = (genuine_cells - self.first) >> self.shift
        accepted_genuine = coarse_cells.searchsorted(self.filled, side="right")
        return 1 - accepted_genuine / max(genuine_attempts, 1)

    def runs_around(
        self, levels: Sequence[float | np.ndarray], number_of_scores: int
    ) -> Iterator[slice]:
        """Yield the run of cells in which FAR may reach each level, a number or (filled,).

        All runs together have a limited share of the scores: a level whose run has more than is
        left is left out. The levels of fewest scores should be first.
        """
        share_left = min(MOST_KEPT, most_items(MOST_SCORES, 16) / max(number_of_scores, 1))
        for level in levels:
            begin = int(np.searchsorted(self.fars + self.margins - level, 0))
            end = int(np.searchsorted(self.fars - self.margins - level, 0))
            # Two cells more at both ends, since a threshold may be in an empty cell between two.
            begin = max(begin - 2, 0)
            end = min(end + 2, len(self.filled) - 1)
            share = float(self.fars[end] - (self.fars[begin - 1] if begin else 0))
            if share <= share_left:
                share_left -= share
                # The first run includes the cells below the sample.
                start = self.first + (int(self.filled[begin]) << self.shift) if begin else 0
                yield slice(start, self.first + ((int(self.filled[end]) + 1) << self.shift))
