"""One pass over all scores for the checks of data; median distances to each label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.base.kinds import LARGER_IS_CLOSER, Kind
from bioeval.base.progress import reporter, stage
from bioeval.scores.arrays import Mask, as_distances
from bioeval.scores.excluded import left_out_rows
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.requirements import require_all_scores
from bioeval.scores.rows import rows_per_block, threads_for
from bioeval.scores.symmetry import mixed_bits

#: Places that are kept of each kind of comparison.
SHOWN = 20

# Sampled values, about, and the least and the largest number of sampled rows.
_SAMPLE_VALUES, _SAMPLE_ROWS = 1 << 16, (8, 128)

# The increment of SplitMix64.
_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass
class DataScan:
    """What one pass over the scores finds of each row and column, without templates themselves."""

    #: float64 (m, 4) and (4, n): nearest and farthest finite distance, failed and finite
    #: comparisons.
    rows: np.ndarray
    columns: np.ndarray
    nearest: np.ndarray  # float64 (m, 2): nearest distance to the same label, and to another
    infinite: np.ndarray  # int64 (2,): infinitely near, and infinitely far comparisons
    failed: list[list[int]]  # row and column of the first failed comparisons
    #: uint64 (m, 2) and (n,): of each row a digest, and the number of columns in it (of a probe
    #: that is a column itself without the nearest ones, of which a copy would be one); of each
    #: column a digest of the rows of other probes.
    row_digests: np.ndarray
    column_digests: np.ndarray
    diagonal: np.ndarray  # float64 (m,): of a square matrix
    itself: np.ndarray  # int64 (m,): the column of each probe itself, -1 for none
    sampled: np.ndarray  # int64 (k,): rows of a sample
    sample: np.ndarray  # float64 (k, n): their finite distances, NaN where there is no comparison
    #: float64 (m, 3): of each row, by :func:`label_medians`; empty without labels, and of scores
    #: that are only an order.
    medians: np.ndarray

    def add_rows(self, scores: Scores, low: int, high: int) -> np.ndarray:
        """Add rows ``low:high``; return their distances, NaN where there is no comparison."""
        raw = scores.cells.read(low, high)  # which need not be exact in float64
        values = as_distances(raw, scores.kind, lambda: np.ones(raw.shape, dtype=bool))
        values = np.ascontiguousarray(values, dtype=np.float64)
        place = np.arange(values.shape[1])
        itself = self.itself[low:high, None]
        is_attempt = place != itself
        left_out = left_out_rows(scores, low, high)
        if left_out is not None:
            is_attempt &= ~left_out
        if knows_people(scores):
            genuine = scores.codes.probe[low:high, None] == scores.codes.gallery
        else:
            genuine = scores.cells.read_mask(low, high) == Mask.GENUINE

        # Failed, infinite, nearest and farthest comparisons of rows and of columns.
        failed = is_attempt & np.isnan(values)
        finite = is_attempt & np.isfinite(values)
        self.failed += (np.argwhere(failed)[: SHOWN - len(self.failed)] + [low, 0]).tolist()
        self.infinite += [np.count_nonzero(is_attempt & (values == x)) for x in (-np.inf, np.inf)]
        nearest_values = np.where(finite, values, np.inf)
        farthest_values = np.where(finite, values, -np.inf)
        nearest = self.nearest[low:high]
        nearest[:, 0] = np.where(genuine, nearest_values, np.inf).min(axis=1)
        nearest[:, 1] = np.where(genuine, np.inf, nearest_values).min(axis=1)
        rows, columns = self.rows[low:high], self.columns
        rows[:, 0], rows[:, 1] = nearest_values.min(axis=1), farthest_values.max(axis=1)
        rows[:, 2], rows[:, 3] = failed.sum(axis=1), finite.sum(axis=1)
        columns[0] = np.minimum(columns[0], nearest_values.min(axis=0))
        columns[1] = np.maximum(columns[1], farthest_values.max(axis=0))
        columns[2:] += failed.sum(axis=0), finite.sum(axis=0)

        # Digests of rows and of columns, by which copies are found.
        mixed = _mixed(values)
        is_apart = itself < 0
        is_used = is_apart | ((place != itself) & (values != rows[:, :1]))
        # A number is multiplied by an odd factor of its place, so that order matters to the sum.
        odd = 2 * place.astype(np.uint64) + np.uint64(1)
        self.row_digests[low:high, 0] = (mixed * odd * is_used).sum(axis=1)
        self.row_digests[low:high, 1] = is_used.sum(axis=1)
        odd = 2 * np.arange(low, high).astype(np.uint64) + np.uint64(1)
        self.column_digests += (mixed * odd[:, None])[is_apart[:, 0]].sum(axis=0)

        if len(self.diagonal):
            self.diagonal[low:high] = values[np.arange(high - low), np.arange(low, high)]
        first, last = np.searchsorted(self.sampled, [low, high])
        sampled_rows = self.sampled[first:last] - low
        self.sample[first:last] = np.where(finite[sampled_rows], values[sampled_rows], np.nan)
        return np.where(is_attempt, values, np.nan)


@stage("reading the scores")
def scan(scores: Scores) -> DataScan:
    """Read every score of a matrix once."""
    require_all_scores(scores)
    rows, columns = scores.shape
    least_rows, most_rows = _SAMPLE_ROWS
    sampled = np.unique(
        np.linspace(0, rows - 1, min(rows, most_rows, max(least_rows, _SAMPLE_VALUES // columns)))
    )
    sampled = sampled.astype(np.int64)
    position = scores.gallery_order.probe_position
    judged = rows if knows_people(scores) and scores.kind != "order" else 0
    scanned = DataScan(
        rows=np.empty((rows, 4)),
        columns=np.repeat(np.array([[np.inf], [-np.inf], [0.0], [0.0]]), columns, axis=1),
        nearest=np.empty((rows, 2)),
        infinite=np.zeros(2, dtype=np.int64),
        failed=[],
        row_digests=np.empty((rows, 2), dtype=np.uint64),
        column_digests=np.zeros(columns, dtype=np.uint64),
        diagonal=np.empty(rows if rows == columns else 0),
        itself=np.where(position >= 0, scores.gallery_order.columns[0, position], -1),
        sampled=sampled,
        sample=np.full((len(sampled), columns), np.nan),
        medians=np.empty((judged, 3)),
    )
    order, starts = by_label(scores.codes.gallery, len(scores.codes.values))
    with threads_for(scores):
        step = rows_per_block(scores)
        for low in range(0, rows, step):
            high = min(low + step, rows)
            attempts = scanned.add_rows(scores, low, high)
            if judged:
                labels = scores.codes.probe[low:high]
                scanned.medians[low:high] = label_medians(attempts, order, starts, labels)
            reporter()(high, rows)
    return scanned


def _mixed(values: np.ndarray) -> np.ndarray:
    """Return a hash of 64 bits of each number; all NaN are alike, and both zeros are alike."""
    numbers = np.where(np.isnan(values), np.nan, values) + 0.0
    return mixed_bits(numbers.view(np.uint64) + _ODD)


def by_label(codes: np.ndarray, labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an order of templates by their label; label ``g`` has ``starts[g]:starts[g + 1]``."""
    order = np.argsort(codes, kind="stable")
    return order, np.searchsorted(codes[order], np.arange(labels + 1))


def label_medians(
    values: np.ndarray, order: np.ndarray, starts: np.ndarray, label: np.ndarray
) -> np.ndarray:
    """Return median distances of each row, float64 (b, 3).

    The columns are the median distance to the row's own label, the smallest median distance to
    another label, and the number of this nearest label, the first of equal ones. Without any finite
    distance a median is NaN, and the nearest label -1. The median of an even number of distances is
    the lower of the two in the middle.

    - `values` (float64 (b, n)): distances, NaN where there is no attempt
    - `order`, `starts`: the columns of each label, by :func:`by_label`
    - `label` (int64 (b,)): the label of each row
    """
    rows = np.arange(len(values))
    sizes = np.diff(starts)
    to_label = np.full((len(values), len(sizes)), np.inf)
    # Labels with equally many columns are an array (b, labels, size), sorted at once.
    for size in np.unique(sizes[sizes > 0]).tolist():
        labels = np.flatnonzero(sizes == size)
        cells = values[:, order[starts[labels, None] + np.arange(size)]]
        cells = np.sort(np.where(np.isfinite(cells), cells, np.inf), axis=2)
        middle = (np.isfinite(cells).sum(axis=2) - 1) // 2
        to_label[:, labels] = np.take_along_axis(cells, middle[..., None].clip(0), axis=2)[..., 0]
    medians = np.empty((len(values), 3))
    medians[:, 0] = to_label[rows, label]
    to_label[rows, label] = np.inf  # from here on, only other labels
    medians[:, 2] = to_label.argmin(axis=1)
    medians[:, 1] = to_label.min(axis=1)
    medians[medians[:, 1] == np.inf, 2] = -1
    medians[medians == np.inf] = np.nan
    return medians


def sign_of(kind: Kind) -> float:
    """Return the factor from a score to a distance, and back: -1 where larger scores are closer."""
    return -1.0 if kind in LARGER_IS_CLOSER else 1.0
