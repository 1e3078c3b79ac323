"""The pass over all scores of a check of data."""

from __future__ import annotations

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
from bioeval.scores.row_memory import rows_per_block
from bioeval.scores.rows import threads_for
from bioeval.scores.symmetry import mixed_bits
from bioeval.studies.check.label_distances import LabelMedians, TemplatesByLabel

#: Rows, columns or pairs that a finding names, at most.
SHOWN = 20

# Rows are sampled that have about this number of values together.
_SAMPLED_VALUES = 1 << 16

# The smallest and the largest number of sampled rows.
_FEWEST_ROWS, _MOST_ROWS = 8, 128

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


class DataScan:
    """Facts on the `m` rows and `n` columns of a matrix, from one pass over the scores."""

    def __init__(self, scores: Scores):
        """Make room for the facts on a matrix, of which no row is read yet."""
        self.scores = scores
        rows, columns = scores.shape
        self.rows = Comparisons.none(rows)
        self.columns = Comparisons.none(columns)
        #: (m, 2): the nearest distance to the same label, and to another one.
        self.nearest = np.empty((rows, 2))
        #: The numbers of infinitely near, and of infinitely far comparisons.
        self.infinite = np.zeros(2, dtype=np.int64)
        #: Row and column of the first failed comparisons.
        self.failed: list[list[int]] = []

        #: (m,): the column of each probe itself, -1 for none.
        gallery = scores.gallery_order
        position = gallery.probe_position
        self.own_column = np.where(position >= 0, gallery.columns[0, position], -1)
        #: (m,): a digest of each row. If the probe is a gallery template, the digest leaves out its
        #: own column, and the columns at the nearest distance, since one would be its copy.
        self.row_digests = np.empty(rows, dtype=np.uint64)
        #: (m,): the number of columns in the digest of each row.
        self.digested = np.empty(rows, dtype=np.int64)
        #: (n,): a digest of each column, over the probes that are no gallery templates.
        self.column_digests = np.zeros(columns, dtype=np.uint64)

        #: (k,): the rows of a sample, and (k, n) their finite distances, NaN where there is none.
        number = min(rows, _MOST_ROWS, max(_FEWEST_ROWS, _SAMPLED_VALUES // columns))
        self.sampled = np.unique(np.linspace(0, rows - 1, number)).astype(np.int64)
        self.sample = np.full((len(self.sampled), columns), np.nan)
        #: None without labels, and if scores are only an order.
        self.medians: LabelMedians | None = None
        if knows_people(scores) and scores.kind != "order":
            self.medians = LabelMedians.empty(rows)
        self._by_label = TemplatesByLabel.from_codes(scores.codes.gallery, len(scores.codes.values))

    def add_rows(self, low: int, high: int) -> None:
        """Add rows ``low:high``."""
        scores, lines = self.scores, slice(low, high)
        raw = scores.cells.read(low, high)  # raw scores need not be exact in float64
        values = as_distances(raw, scores.kind, lambda: np.ones(raw.shape, dtype=bool))
        values = np.ascontiguousarray(values, dtype=np.float64)
        is_attempt = np.arange(values.shape[1]) != self.own_column[lines, None]
        left_out = left_out_rows(scores, low, high)
        if left_out is not None:
            is_attempt &= ~left_out
        self._count(lines, values, is_attempt)
        self._digest(lines, values)
        if self.medians is not None:
            distances = np.where(is_attempt, values, np.nan)
            labels = scores.codes.probe[lines]
            medians = LabelMedians.from_distances(distances, self._by_label, labels)
            self.medians.put(lines, medians)

    def _count(self, lines: slice, values: np.ndarray, is_attempt: np.ndarray) -> None:
        """Count failed, infinite, nearest and farthest comparisons, and keep sampled rows."""
        scores, low, high = self.scores, lines.start, lines.stop
        failed = is_attempt & np.isnan(values)
        finite = np.where(is_attempt & np.isfinite(values), values, np.nan)
        self.failed += (np.argwhere(failed)[: SHOWN - len(self.failed)] + [low, 0]).tolist()
        self.infinite += [np.count_nonzero(is_attempt & (values == x)) for x in (-np.inf, np.inf)]
        self.rows.add(lines, finite, failed, axis=1)
        self.columns.add(slice(None), finite, failed, axis=0)
        if knows_people(scores):
            genuine = scores.codes.probe[lines, None] == scores.codes.gallery
        else:
            genuine = scores.cells.read_mask(low, high) == Mask.GENUINE
        for i, is_compared in enumerate((genuine, ~genuine)):
            distances = np.where(is_compared, finite, np.nan)
            self.nearest[lines, i] = np.fmin.reduce(distances, axis=1, initial=np.inf)
        first, last = np.searchsorted(self.sampled, [low, high])
        self.sample[first:last] = finite[self.sampled[first:last] - low]

    def _digest(self, lines: slice, values: np.ndarray) -> None:
        """Add rows to the digests, by which copies are found.

        Hashes are added up, each multiplied by an odd factor of its position, so that their order
        matters to the sum. The nearest distances of the rows are known.
        """
        column = np.arange(values.shape[1])
        own_column = self.own_column[lines, None]
        is_in_gallery = own_column >= 0
        is_nearest = values == self.rows.nearest[lines, None]
        is_used = ~is_in_gallery | ((column != own_column) & ~is_nearest)
        hashes = _hashes(values)
        factor = 2 * column.astype(np.uint64) + np.uint64(1)
        self.row_digests[lines] = (hashes * factor * is_used).sum(axis=1)
        self.digested[lines] = is_used.sum(axis=1)
        factor = 2 * np.arange(lines.start, lines.stop).astype(np.uint64) + np.uint64(1)
        self.column_digests += (hashes * factor[:, None])[~is_in_gallery[:, 0]].sum(axis=0)


@stage("reading the scores")
def scan(scores: Scores) -> DataScan:
    """Read every score of a matrix once."""
    require_all_scores(scores)
    scanned = DataScan(scores)
    rows = scores.shape[0]
    with threads_for(scores):
        rows_at_once = rows_per_block(scores)
        for low in range(0, rows, rows_at_once):
            high = min(low + rows_at_once, rows)
            scanned.add_rows(low, high)
            reporter()(high, rows)
    return scanned


def _hashes(values: np.ndarray) -> np.ndarray:
    """Return a hash of 64 bits of each number; all NaN are alike, and both zeros are alike."""
    numbers = np.where(np.isnan(values), np.nan, values) + 0.0
    return mixed_bits(numbers.view(np.uint64) + _ODD)


def sign_of(kind: Kind) -> float:
    """Return the factor between scores and distances: -1 where larger scores are closer, else 1."""
    return -1.0 if kind in LARGER_IS_CLOSER else 1.0
