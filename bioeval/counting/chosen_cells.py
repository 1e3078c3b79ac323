"""Cells in which impostor scores are counted, chosen by a sample of the scores.

The sample decides how many passes are needed, and never a result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from bioeval.base.memory import at_most
from bioeval.counting.cells import BitCells
from bioeval.counting.moments import moment_scale
from bioeval.kernels.cells import LEAST, SPAN

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
        counts = SampleCounts.from_sample(cells, finite)
        for run in counts.expected_runs(cells, genuine, targets, number_of_scores):
            kept[run] = True
        kept[-1] = False
    return ChosenCells(cells, kept, middle, moment_scale(least, largest))


class SampleCounts(NamedTuple):
    """A sample counted in coarse cells, which are runs of ``1 << shift`` cells from `first` on."""

    first: int  # the first cell with a score
    shift: int
    filled: np.ndarray  # integer (f,): coarse cells with scores, increasing
    upto: np.ndarray  # integer (groups, f): scores of each group in each of these and before

    @classmethod
    def from_sample(cls, cells: BitCells, sample: Sequence[np.ndarray]) -> SampleCounts:
        """Count a sample in groups of its tiles."""
        cells_of_groups = []
        for k in range(min(GROUPS, len(sample))):  # one by one: a sample has millions of scores
            group = np.concatenate(sample[k::GROUPS])
            cells_of_groups.append(cells.cells_of(group).astype(np.uint32))
        first = min(int(x.min()) for x in cells_of_groups)
        last = max(int(x.max()) for x in cells_of_groups)
        shift = max(0, int(last - first + 1).bit_length() - SAMPLE_CELLS.bit_length() + 1)
        width = ((last - first) >> shift) + 1
        coarse = [(x - first) >> shift for x in cells_of_groups]
        tables = np.array([np.bincount(x, minlength=width) for x in coarse])
        filled = np.flatnonzero(tables.any(axis=0))
        return cls(first, shift, filled, np.cumsum(tables[:, filled], axis=1))

    def fars(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the FAR at the end of each filled cell, and its margin of `ERRORS` deviations."""
        sizes = self.upto[:, -1:]
        total = int(sizes.sum())
        fars = self.upto.sum(axis=0) / total
        between_groups = (self.upto / sizes).var(axis=0) / (len(self.upto) - 1)
        return fars, ERRORS * np.sqrt(between_groups + (fars + 1 / total) / total)

    def expected_runs(
        self, cells: BitCells, genuine: GenuineScores, targets: np.ndarray, number_of_scores: int
    ) -> Iterator[slice]:
        """Yield the runs of cells in which points are expected, unless they have many scores."""
        fars, margin = self.fars()
        genuine_cells = (cells.cells_of(genuine.scores) - self.first) >> self.shift
        accepted_genuine = genuine_cells.searchsorted(self.filled, side="right")
        frrs = 1 - accepted_genuine / max(genuine.attempts, 1)
        share_left = min(MOST_KEPT, at_most(MOST_SCORES, 16) / max(number_of_scores, 1))
        # The fewest scores first. Where FAR is FRR is the EER.
        for target in (*sorted({*RARE_TARGETS, *targets.tolist()}), frrs):
            begin = int(np.searchsorted(fars + margin - target, 0))
            end = int(np.searchsorted(fars - margin - target, 0))
            begin, end = max(begin - 2, 0), min(end + 2, len(self.filled) - 1)
            share = float(fars[end] - (fars[begin - 1] if begin else 0))
            if share <= share_left:
                share_left -= share
                start = self.first + (int(self.filled[begin]) << self.shift) if begin else 0
                yield slice(start, self.first + ((int(self.filled[end]) + 1) << self.shift))
