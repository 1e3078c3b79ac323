"""Bootstrap weights of subjects, and weighted counts of attempts.

A replicate draws the subjects with replacement, as many as the data have; the weight ``w_a`` of
subject ``a`` is the number of times it was drawn. A genuine attempt of ``a`` counts ``w_a`` times,
an impostor attempt between ``a`` and ``b`` counts ``w_a w_b`` times, and comparisons between copies
of the same subject are left out: the number of impostor attempts of a replicate is a quadratic form
of its weights. Weights and counts are integers and their sums stay far below 2^53, so that every
replicate is exact, whatever the order of summation, the number of threads or the platform.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from bioeval.base.random import Stream
from bioeval.stats.options import IntervalOptions

# Sums of whole numbers below this are exact in float32.
_EXACT_SINGLE = 1 << 24

# With fewer than one nonzero cell in this many, a sparse product is faster than a dense one.
_SPARSE = 24

# Largest number of groups of subjects that are left out in turn, for BCa.
_GROUPS = 1000

# Rows of a matrix product.
_ROWS = 1 << 11

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

    `weights` are integers, float32 of shape (subjects, columns). `totals`, float64 of shape
    (layers, columns), has separate counts, such as those between consecutive thresholds.
    """

    def __init__(self, weights: np.ndarray, layers: int):
        self.weights = weights
        self.totals = np.zeros((layers, weights.shape[1]))
        self._largest = float(weights.max(initial=1))
        self._gathered: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def fresh(self) -> QuadraticForms:
        """Return the same forms before anything was added."""
        return QuadraticForms(self.weights, len(self.totals))

    def counts(self) -> np.ndarray:
        """Return the totals, which are whole numbers."""
        return self.totals.astype(np.int64)

    def include_counts(self, found: np.ndarray) -> None:
        """Add totals of other attempts."""
        self.totals += found

    def add(self, counts: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Add attempts between subjects `left` and `right`, from counts of shape (layers, l, r).

        The count of a subject against itself must be 0.
        """
        number, rows, columns = counts.shape
        size = rows * columns
        flat = counts.reshape(number, size)
        filled = np.count_nonzero(flat, axis=1)
        many = np.nonzero(filled * _SPARSE >= size)[0]
        for layer in np.nonzero((filled > 0) & (filled * _SPARSE < size))[0]:
            table = scipy.sparse.csr_array(counts[layer].astype(self._dtype(counts[layer])))
            self._add_product(np.array([layer]), table, left, right)
        # Several layers in one product: a matrix of few rows is multiplied slowly.
        step = max(1, _ROWS // max(rows, 1))
        for low in range(0, len(many), step):
            layers = many[low : low + step]
            tables = counts[layers].reshape(-1, columns)
            self._add_product(layers, tables.astype(self._dtype(tables)), left, right)

    def add_pairs(self, layer: int, a: np.ndarray, b: np.ndarray, counts: np.ndarray) -> None:
        """Add ``counts[i]`` attempts between ``a[i]`` and ``b[i]``, for each ``i``."""
        if not len(a):
            return
        left, row = np.unique(a, return_inverse=True)
        right, column = np.unique(b, return_inverse=True)
        shape = len(left), len(right)
        table = scipy.sparse.csr_array((counts, (row.reshape(-1), column.reshape(-1))), shape=shape)
        self._add_product(np.array([layer]), table.astype(self._dtype(table)), left, right)

    def _dtype(self, tables: Any) -> type:
        """Return float32 if it holds every sum of the product with the weights exactly."""
        largest = float(tables.sum(axis=1).max(initial=0)) * self._largest
        return np.float32 if largest < _EXACT_SINGLE else np.float64

    def _add_product(
        self, layers: np.ndarray, tables: Any, left: np.ndarray, right: np.ndarray
    ) -> None:
        """Add the quadratic forms of tables stacked one below the other."""
        shape = len(layers), len(left), self.weights.shape[1]
        summed = (tables @ self._rows(right, tables.dtype.type)).reshape(shape)
        weights = self.weights[left]
        for layer, rows in zip(layers, summed, strict=True):
            self.totals[layer] += np.einsum("ij,ij->j", rows, weights, dtype=np.float64)

    def _rows(self, subjects: np.ndarray, dtype: type) -> np.ndarray:
        """Return the weights of some subjects; the last ones are cached."""
        name = dtype.__name__
        if name in self._gathered and np.array_equal(self._gathered[name][0], subjects):
            return self._gathered[name][1]
        rows = self.weights[subjects].astype(dtype)
        self._gathered[name] = subjects.copy(), rows
        return rows


def linear_forms(counts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return ``sum_a counts[t, a] w_a`` for every column of weights, shape (layers, columns).

    `counts` has the shape (layers, subjects), `weights` (subjects, columns).
    """
    out = np.empty((len(counts), weights.shape[1]))
    whole = counts.astype(np.float64)
    step = max(1, _ROOM // max(len(weights), 1))
    for low in range(0, weights.shape[1], step):
        part = slice(low, low + step)
        out[:, part] = whole @ weights[:, part].astype(np.float64)
    return out


def ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return ``part / whole``, NaN where `whole` is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)
