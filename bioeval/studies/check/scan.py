"""The pass over all scores of a check of data, and the median distances to each label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from bioeval.base.kinds import LARGER_IS_CLOSER, Kind
from bioeval.base.progress import reporter, stage
from bioeval.scores.distances import as_distances
from bioeval.scores.excluded import left_out_rows
from bioeval.scores.masks import Mask
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.requirements import require_all_scores
from bioeval.scores.rows import rows_per_block, threads_for
from bioeval.scores.symmetry import mixed_bits

#: Rows, columns or pairs that a finding names, at most.
SHOWN = 20

# Number of sampled values, about, and the least and the largest number of sampled rows.
_SAMPLE_VALUES, _SAMPLE_ROWS = 1 << 16, (8, 128)

# The increment of SplitMix64.
_ODD = np.uint64(0x9E3779B97F4A7C15)


class Comparisons(NamedTuple):
    """The comparisons of each row, or of each column, without a template with itself."""

    nearest: np.ndarray  # float64: smallest finite distance, inf without one
    farthest: np.ndarray  # float64: largest finite distance, -inf without one
    failed: np.ndarray  # int64: number of failed comparisons
    finite: np.ndarray  # int64: number of comparisons with a finite score

    @classmethod
    def none(cls, size: int) -> Self:
        """Return arrays to which the comparisons of `size` rows or columns can be added."""
        counts = np.zeros((2, size), dtype=np.int64)
        return cls(np.full(size, np.inf), np.full(size, -np.inf), *counts)

    def add(self, lines: slice, values: np.ndarray, failed: np.ndarray, axis: int) -> None:
        """Add comparisons along an axis to these lines; `values` that are not finite are NaN."""
        nearest = np.fmin.reduce(values, axis=axis, initial=np.inf)
        farthest = np.fmax.reduce(values, axis=axis, initial=-np.inf)
        self.nearest[lines] = np.minimum(self.nearest[lines], nearest)
        self.farthest[lines] = np.maximum(self.farthest[lines], farthest)
        self.failed[lines] += failed.sum(axis=axis)
        self.finite[lines] += (~np.isnan(values)).sum(axis=axis)


@dataclass
class DataScan:
    """Facts on the `m` rows and `n` columns of a matrix, from one pass over the scores."""

    rows: Comparisons
    columns: Comparisons
    nearest: np.ndarray  # float64 (m, 2): nearest distance to the same label, and to another
    infinite: np.ndarray  # int64 (2,): numbers of infinitely near, and infinitely far comparisons
    failed: list[list[int]]  # row and column of the first failed comparisons
    #: uint64 (m,): a digest of each row. If the probe is a gallery template, the digest leaves out
    #: its own column, and the columns at the nearest distance, since one of them would be its copy.
    row_digests: np.ndarray
    digested: np.ndarray  # int64 (m,): number of columns in the digest of each row
    column_digests: np.ndarray  # uint64 (n,): over the probes that are no gallery templates

    own_column: np.ndarray  # int64 (m,): the column of each probe itself, -1 for none
    sampled: np.ndarray  # int64 (k,): the rows of a sample
    sample: np.ndarray  # float64 (k, n): their finite distances, NaN where there is none
    #: float64 (m, 3): see :func:`label_medians`; empty without labels, and if scores are only an
    #: order.
    medians: np.ndarray

    def add_rows(self, scores: Scores, low: int, high: int) -> np.ndarray:
        """Add rows ``low:high``; return their distances, NaN where there is no comparison."""
        raw = scores.cells.read(low, high)  # raw scores need not be exact in float64
        values = as_distances(raw, scores.kind, lambda: np.ones(raw.shape, dtype=bool))
        values = np.ascontiguousarray(values, dtype=np.float64)
        column = np.arange(values.shape[1])
        own_column = self.own_column[low:high, None]
        is_attempt = column != own_column
        left_out = left_out_rows(scores, low, high)
        if left_out is not None:
            is_attempt &= ~left_out
        if knows_people(scores):
            genuine = scores.codes.probe[low:high, None] == scores.codes.gallery
        else:
            genuine = scores.cells.read_mask(low, high) == Mask.GENUINE

        # Failed, infinite, nearest and farthest comparisons.
        failed = is_attempt & np.isnan(values)
        finite = np.where(is_attempt & np.isfinite(values), values, np.nan)
        self.failed += (np.argwhere(failed)[: SHOWN - len(self.failed)] + [low, 0]).tolist()
        self.infinite += [np.count_nonzero(is_attempt & (values == x)) for x in (-np.inf, np.inf)]
        self.rows.add(slice(low, high), finite, failed, axis=1)
        self.columns.add(slice(None), finite, failed, axis=0)
        for i, is_compared in enumerate((genuine, ~genuine)):
            distances = np.where(is_compared, finite, np.nan)
            self.nearest[low:high, i] = np.fmin.reduce(distances, axis=1, initial=np.inf)

        # Digests, by which copies are found. Hashes are added up, each multiplied by an odd factor
        # of its position, so that their order matters to the sum.
        hashes = _hashes(values)
        is_in_gallery = own_column >= 0
        is_nearest = values == self.rows.nearest[low:high, None]
        is_used = ~is_in_gallery | ((column != own_column) & ~is_nearest)
        factor = 2 * column.astype(np.uint64) + np.uint64(1)
        self.row_digests[low:high] = (hashes * factor * is_used).sum(axis=1)
        self.digested[low:high] = is_used.sum(axis=1)
        factor = 2 * np.arange(low, high).astype(np.uint64) + np.uint64(1)
        self.column_digests += (hashes * factor[:, None])[~is_in_gallery[:, 0]].sum(axis=0)

        first, last = np.searchsorted(self.sampled, [low, high])
        self.sample[first:last] = finite[self.sampled[first:last] - low]
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
        rows=Comparisons.none(rows),
        columns=Comparisons.none(columns),
        nearest=np.empty((rows, 2)),
        infinite=np.zeros(2, dtype=np.int64),
        failed=[],
        row_digests=np.empty(rows, dtype=np.uint64),
        digested=np.empty(rows, dtype=np.int64),
        column_digests=np.zeros(columns, dtype=np.uint64),
        own_column=np.where(position >= 0, scores.gallery_order.columns[0, position], -1),
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


def _hashes(values: np.ndarray) -> np.ndarray:
    """Return a hash of 64 bits of each number; all NaN are alike, and both zeros are alike."""
    numbers = np.where(np.isnan(values), np.nan, values) + 0.0
    return mixed_bits(numbers.view(np.uint64) + _ODD)


def by_label(codes: np.ndarray, labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the templates in the order of their labels, and where each label starts in the order.

    The templates of label ``g`` are ``order[starts[g] : starts[g + 1]]``.
    """
    order = np.argsort(codes, kind="stable")
    return order, np.searchsorted(codes[order], np.arange(labels + 1))


def label_medians(
    values: np.ndarray, order: np.ndarray, starts: np.ndarray, label: np.ndarray
) -> np.ndarray:
    """Return median distances of each row to labels, float64 (b, 3).

    The columns are the median distance to the row's own label, the smallest median distance to
    another label, and the code of this nearest label, the smallest of several. Without any finite
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
    """Return the factor between scores and distances: -1 where larger scores are closer, else 1."""
    return -1.0 if kind in LARGER_IS_CLOSER else 1.0
