"""Distances between embeddings.

Distances are computed in blocks of rows, in float64 or float32, and the whole
matrix is never needed: :class:`EmbeddingSource` computes the rows that are read, and forgets them.
Distances of nearly equal vectors are computed from their difference, where the expanded form
``|a|^2 + |b|^2 - 2ab`` would lose them: equal embeddings are at distance 0 exactly (but for
``bhattacharyya``, where they may be a rounding away).

All distances of a probe, to mates and non-mates, come from the same matrix product, so that its
ranks are consistent. The last digits of a product depend on the linear algebra library and on the
size of the block: templates with equal embeddings may differ there from each other, and a streamed
matrix from one that was made whole. In float32 a distance is good to about 1e-6 of the lengths of
its vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, bad_choice, require_choice

METRICS = ("cosine", "l2", "l1", "linf", "bhattacharyya")

Metric = str | Callable[[np.ndarray, np.ndarray], np.ndarray]

# Values in one block of rows: 32 MiB of float64.
_BLOCK = 1 << 22

# Multiples of the rows and columns that kernels of linear algebra compute together.
_TILE_ROWS, _TILE_COLUMNS = 64, 192


def as_embeddings(values: Any, what: str) -> np.ndarray:
    """Return embeddings as a 2-D real array, one row a template."""
    if isinstance(values, np.ma.MaskedArray):
        raise DataError(f"{what} is a masked array; fill it (NaN marks a failed template)")
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise DataError(f"{what} has dtype {array.dtype}; expected real numbers")
    if array.ndim != 2 or 0 in array.shape:
        raise DataError(
            f"{what} has shape {array.shape}; expected (templates, features), neither of them 0"
        )
    return array


class EmbeddingSource:
    """The matrix of distances between embeddings, computed row by row as it is read.

    `probe` has the shape (m, f) and `gallery` (n, f). A callable metric gets two blocks, ``(b, f)``
    and ``(n, f)``, and returns ``(b, n)`` distances; they are computed and given in `dtype`.
    """

    ndim = 2

    def __init__(
        self, probe: np.ndarray, gallery: np.ndarray, metric: Metric, dtype: str = "float64"
    ):
        check_metric(metric)
        require_choice("dtype", dtype, ("float64", "float32"))
        if probe.shape[1] != gallery.shape[1]:
            raise DataError(
                f"probe embeddings have {probe.shape[1]} features and gallery embeddings "
                f"{gallery.shape[1]}; expected the same number"
            )
        self.metric, self.dtype = metric, np.dtype(dtype)
        #: Both sides as they were given.
        self.given = probe, gallery
        sides = [_prepare(probe, metric, "probe embeddings", self.dtype)]
        if probe is not gallery:
            sides.append(_prepare(gallery, metric, "gallery embeddings", self.dtype))
        self.shape = (len(probe), len(gallery))
        self._scale = _scale_of(sides) if metric == "l2" else 1.0
        if self._scale != 1.0:
            sides = [x * x.dtype.type(self._scale) for x in sides]
        self._left, self._right = sides[0], sides[-1]
        if metric in ("cosine", "l2"):
            self._lengths = np.einsum("ij,ij->i", self._right, self._right)

    @property
    def features(self) -> int:
        """The number of features of an embedding."""
        return self._right.shape[1]

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Return the distances of some probes (a slice or indices) to the whole gallery."""
        x = self._left[rows]
        if x.ndim == 1:
            return self._block(x[None])[0]
        return self._block(x)

    def among(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the distances of some probes to some of the gallery.

        They are most often those of the whole rows to the last bit, but need not be.
        """
        return self._block(self._left[rows], columns)

    def of_columns(self, columns: np.ndarray) -> EmbeddingSource:
        """Return the same probes against some of the gallery, which alone are computed."""
        return _SomeColumns(self, columns)

    def whole(self) -> np.ndarray:
        """Return all rows."""
        m, n = self.shape
        out = np.empty((m, n), dtype=self.dtype)
        step = max(1, _BLOCK // n)
        for low in range(0, m, step):
            out[low : low + step] = self[low : low + step]
        return out

    def pairs(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the distances of the pairs ``(a[i], b[i])`` alone, in float64."""
        out = np.empty(len(a))
        step = max(1, _BLOCK // self._left.shape[1])
        for low in range(0, len(a), step):
            x, y = self._left[a[low : low + step]], self._right[b[low : low + step]]
            if callable(self.metric):
                rows = zip(x, y, strict=True)
                values = [float(self.metric(u[None], v[None])[0, 0]) for u, v in rows]
                out[low : low + step] = values
            else:
                out[low : low + step] = _aligned(x, y, self.metric)
        return self._unscaled(out)

    def _block(self, x: np.ndarray, columns: Any = slice(None)) -> np.ndarray:
        y, metric = self._right[columns], self.metric
        if callable(metric):
            out = np.asarray(metric(x, y))
            if out.shape != (len(x), len(y)) or out.dtype.kind not in "biuf":
                raise DataError(
                    f"the metric returned shape {out.shape}, dtype {out.dtype}; expected real "
                    f"distances of shape {(len(x), len(y))}"
                )
            return out.astype(self.dtype, copy=False)
        if metric in ("l1", "linf"):
            from scipy.spatial.distance import cdist

            name = "cityblock" if metric == "l1" else "chebyshev"
            out = cdist(x, y, name).astype(self.dtype, copy=False)
            # The largest difference leaves NaN out, and with it a failed template.
            out[np.isnan(x).any(axis=1)] = np.nan
            out[:, np.isnan(y).any(axis=1)] = np.nan
            return out
        products = x @ y.T
        if metric == "bhattacharyya":
            with np.errstate(divide="ignore"):
                return np.maximum(-np.log(products), 0.0)
        from bioeval.kernels.distance import finish_euclidean

        x = np.ascontiguousarray(x)
        lengths = np.einsum("ij,ij->i", x, x)
        near = self.dtype.type(NEAR[self.dtype.name])
        finish_euclidean(products, x, y, lengths, self._lengths[columns], near, metric == "cosine")
        return self._unscaled(products)

    def _unscaled(self, distances: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return distances if self._scale == 1.0 else distances / self.dtype.type(self._scale)


class _SomeColumns(EmbeddingSource):
    """Some columns of distances.

    Products are filled up to whole tiles of a linear algebra library, so that its kernels compute
    them as those of whole rows; most often they are the same to the last bit.
    """

    def __init__(self, source: EmbeddingSource, columns: np.ndarray):
        self.__dict__.update(source.__dict__)
        self.shape = (source.shape[0], len(columns))
        filled = columns if callable(source.metric) else _filled(columns, _TILE_COLUMNS)
        self._right = source._right[filled]
        if source.metric in ("cosine", "l2"):
            self._lengths = source._lengths[filled]

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Return the distances of some probes (a slice or indices) to these columns."""
        x = self._left[rows]
        if x.ndim == 1:
            return self[np.arange(self.shape[0])[rows][None]][0]
        y = x if callable(self.metric) else x[_filled(np.arange(len(x)), _TILE_ROWS)]
        return np.ascontiguousarray(self._block(y)[: len(x), : self.shape[1]])


def _filled(index: np.ndarray, tile: int) -> np.ndarray:
    """Return indices with the last one repeated, up to a multiple of a tile."""
    return np.append(index, np.repeat(index[-1:], -len(index) % tile))


def _scale_of(sides: list[np.ndarray]) -> float:
    """Return a power of two that keeps squares in range; 1 where they are."""
    largest = max(float(np.nanmax(np.abs(x), initial=0.0)) for x in sides)
    info = np.finfo(sides[0].dtype)
    exponent = math.frexp(largest)[1]
    inside = info.minexp // 4 < exponent < info.maxexp // 2 - 16
    # Of subnormal numbers the power would overflow; the largest one brings them into range.
    return 1.0 if largest == 0 or inside else 2.0 ** min(-exponent, info.maxexp - 1)


# Share of the squared lengths below which a squared distance is summed from the differences.
NEAR = {"float64": 1e-6, "float32": 1e-3}


def check_metric(metric: Metric) -> None:
    """Raise :class:`DataError` unless `metric` is a known name or a callable."""
    if not callable(metric) and metric not in METRICS:
        raise DataError(bad_choice("metric", metric, METRICS))


def describe_metric(metric: Metric, embeddings: np.ndarray) -> str:
    """Describe how scores were computed from embeddings."""
    name = getattr(metric, "__name__", "a callable") if callable(metric) else metric
    return f"{embeddings.shape[1]}-dimensional {embeddings.dtype} embeddings, metric {name}"


def _prepare(
    values: np.ndarray, metric: Metric, what: str, dtype: np.dtype | type = np.float64
) -> np.ndarray:
    """Return what the blocks of a metric work on: unit vectors, square roots, or plain floats."""
    if callable(metric):
        return values
    with np.errstate(over="ignore"):
        x = np.ascontiguousarray(values, dtype=dtype)
    infinite = np.isinf(x).any(axis=1)
    if infinite.any():
        raise DataError(
            f"{what}: {int(infinite.sum())} rows hold infinite values, the first is row "
            f"{int(np.argmax(infinite))}; mark failed templates with NaN"
        )
    if metric == "cosine":
        with np.errstate(invalid="ignore", divide="ignore"):
            scale = np.abs(x).max(axis=1, keepdims=True)  # keeps the squares in range
            x = x / scale
            return x / np.sqrt(np.einsum("ij,ij->i", x, x))[:, None]
    if metric == "bhattacharyya":
        if (x < 0).any():
            row = int(np.argmax((x < 0).any(axis=1)))
            raise DataError(
                f"{what}: row {row} has negative values; the Bhattacharyya distance is defined "
                "for non-negative features (histograms)"
            )
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            return np.sqrt(x / x.sum(axis=1, keepdims=True))
    return x


def _aligned(x: np.ndarray, y: np.ndarray, metric: str) -> np.ndarray:
    if metric == "bhattacharyya":
        with np.errstate(divide="ignore"):
            return np.maximum(-np.log(np.einsum("ij,ij->i", x, y)), 0.0)
    with np.errstate(over="ignore"):
        difference = np.abs(x - y)
        if metric == "l1":
            return difference.sum(axis=1)
    if metric == "linf":
        return difference.max(axis=1)
    squared = np.einsum("ij,ij->i", difference, difference)
    return squared / 2.0 if metric == "cosine" else np.sqrt(squared)
