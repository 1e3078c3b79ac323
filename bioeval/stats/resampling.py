"""Bootstrap weights of subjects, and weighted counts of attempts.

A replicate draws the subjects with replacement, as many as the data have; the weight ``w_a`` of
subject ``a`` is the number of times it was drawn. A genuine attempt of ``a`` counts ``w_a`` times,
an impostor attempt between ``a`` and ``b`` counts ``w_a w_b`` times, and comparisons between copies
of the same subject are left out: the number of impostor attempts of a replicate is a quadratic form
of its weights. Weights and counts are integers and their sums stay far below 2^53, so that every
replicate is exact, whatever the order of summation, the number of threads or the platform.
"""

from __future__ import annotations

from copy import copy

import numpy as np
import scipy

from bioeval.base.random import Stream
from bioeval.kernels.bootstrap import sort_by_layer, weigh_pairs, weigh_shares
from bioeval.stats.options import IntervalOptions
from bioeval.tallies.by_subject import PairCounts

# Columns of weights that are weighed at once, at most.
_TILE = 256

# The columns of a tile are a multiple of what fits into an instruction.
_LANES = 32

# With fewer than one nonzero cell in this many, a sparse product is faster than a dense one.
_SPARSE = 24

# Largest number of groups of subjects that are left out in turn, for BCa.
_GROUPS = 1000

# Values of a temporary array.
_ROOM = 1 << 22


def subject_weights(subjects: int, replicates: int, seed: np.random.SeedSequence) -> np.ndarray:
    """Return the number of times each subject is drawn, float32 of shape (subjects, replicates).

    Each column sums to the number of subjects. The same seed gives the same weights on every
    platform.
    """
    stream = Stream(seed, 0)
    out = np.empty((subjects, replicates), dtype=np.float32)
    step = max(1, _ROOM // max(subjects, 1))
    for low in range(0, replicates, step):
        number = min(step, replicates - low)
        drawn = stream.integers(0, subjects - 1, number * subjects)
        drawn += np.repeat(np.arange(number, dtype=np.int64) * subjects, subjects)
        counts = np.bincount(drawn, minlength=number * subjects)
        out[:, low : low + number] = counts.reshape(number, subjects).T
    return out


def weight_columns(subjects: int, options: IntervalOptions) -> np.ndarray:
    """Return weights as float32 of shape (subjects, columns).

    The first column is the data themselves. The replicates follow, and for BCa the data without
    each subject, or without each of a thousand groups of subjects where there are more.
    """
    parts = [np.ones((subjects, 1), dtype=np.float32)]
    if subjects > 1:
        parts.append(subject_weights(subjects, options.replicates, options.seed))
        if options.method.endswith("bca"):
            group = np.arange(subjects) * min(subjects, _GROUPS) // subjects
            left_out = group[:, None] == np.arange(min(subjects, _GROUPS))
            parts.append(1 - left_out.astype(np.float32))
    return np.concatenate(parts, axis=1)


class QuadraticForms:
    """Sums of ``w_a w_b`` over the attempts between ``a`` and ``b``, for each column of weights.

    `weights` are whole numbers, float32 of shape (subjects, columns). `totals`, float64 of shape
    (layers, columns), has separate counts, such as those between consecutive thresholds.
    """

    def __init__(self, weights: np.ndarray, layers: int):
        self.weights, self.layers = weights, layers
        self._largest = int(weights.max(initial=1))
        dtype = np.uint8 if self._largest <= np.iinfo(np.uint8).max else np.uint32
        self._tiles = _tiled(weights.astype(dtype))
        self._clear()

    def _clear(self) -> None:
        tiles, _, width = self._tiles.shape
        self._totals = np.zeros((tiles, self.layers, width))
        self._sums = np.zeros((tiles, width), dtype=np.uint16)

    @property
    def totals(self) -> np.ndarray:
        """The sums of each layer and column."""
        whole = np.moveaxis(self._totals, 0, 1).reshape(self.layers, -1)
        return whole[:, : self.weights.shape[1]]

    def fresh(self) -> QuadraticForms:
        """Return the same forms before anything is added."""
        found = copy(self)
        found._clear()
        return found

    def counts(self) -> np.ndarray:
        """Return the totals, whole numbers."""
        return self.totals.astype(np.int64)

    def include_counts(self, found: np.ndarray) -> None:
        """Add totals of other attempts."""
        self._totals += _tiled(found)

    def add(self, pairs: PairCounts) -> None:
        """Add attempts, each between two subjects."""
        entries = pairs.right, pairs.layer, pairs.count
        by_layer = tuple(map(np.empty_like, entries))
        sort_by_layer(pairs.left, pairs.starts, self.layers, entries, by_layer)
        weigh_pairs(
            pairs.left, pairs.starts, by_layer, self._tiles, self._largest, self._totals, self._sums
        )


def _tiled(columns: np.ndarray) -> np.ndarray:
    """Return an array of shape (rows, columns) as tiles of columns, the last padded with 0."""
    rows, number = columns.shape
    tiles = max(1, -(-number // _TILE))
    width = -(-number // (tiles * _LANES)) * _LANES
    whole = np.zeros((rows, tiles * width), dtype=columns.dtype)
    whole[:, :number] = columns
    return np.ascontiguousarray(np.moveaxis(whole.reshape(rows, tiles, width), 1, 0))


def weighted_shares(
    weights: np.ndarray,
    pairs: tuple[np.ndarray, np.ndarray],
    layer: np.ndarray,
    share: np.ndarray,
    layers: int,
) -> np.ndarray:
    """Return the sums of ``share * w_a * w_b`` of each layer, shape (layers, columns).

    `pairs` are the subjects of each share; `weights` are whole numbers of shape (subjects,
    columns).
    """
    dtype = np.uint8 if weights.max(initial=1) <= np.iinfo(np.uint8).max else np.uint32
    tiles = _tiled(weights.astype(dtype))
    totals = np.zeros((len(tiles), layers, tiles.shape[2]))
    left, right, at = (np.ascontiguousarray(x, dtype=np.int64) for x in (*pairs, layer))
    weigh_shares(left, right, at, np.asarray(share, dtype=np.float64), tiles, totals)
    return np.moveaxis(totals, 0, 1).reshape(layers, -1)[:, : weights.shape[1]]


def linear_forms(counts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return ``sum_a counts[t, a] w_a`` for every column of weights, shape (layers, columns).

    `counts` has the shape (layers, subjects), `weights` (subjects, columns).
    """
    out = np.empty((len(counts), weights.shape[1]))
    whole = counts.astype(np.float64)
    # Sums of whole numbers are exact in any order.
    if np.count_nonzero(whole) * _SPARSE < whole.size and (whole == np.floor(whole)).all():
        whole = scipy.sparse.csr_array(whole)
    step = max(1, _ROOM // max(len(weights), 1))
    for low in range(0, weights.shape[1], step):
        part = slice(low, low + step)
        out[:, part] = whole @ weights[:, part].astype(np.float64)
    return out


def ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return ``part / whole``, NaN where `whole` is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)
