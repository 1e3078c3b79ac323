"""Distances between embeddings.

Everything is computed in float64 from the embeddings as they are, in blocks of rows, so that only
the result is large. Distances of nearly equal vectors are computed from their difference, where
the expanded form ``|a|^2 + |b|^2 - 2ab`` would lose them: equal embeddings are at distance 0
exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bioeval.errors import DataError, bad_choice

METRICS = ("cosine", "l2", "l1", "linf", "bhattacharyya")

Metric = str | Callable[[np.ndarray, np.ndarray], np.ndarray]

# Values in one block of rows: 32 MiB of float64.
_BLOCK = 1 << 22


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


def distance_matrix(probe: np.ndarray, gallery: np.ndarray, metric: Metric) -> np.ndarray:
    """Return the distance of every probe to every gallery template.

    Parameters
    ----------
    probe : ndarray, shape (m, f)
    gallery : ndarray, shape (n, f)
    metric : {"cosine", "l2", "l1", "linf", "bhattacharyya"} or callable
        A callable gets two blocks, ``(b, f)`` and ``(n, f)``, and returns ``(b, n)`` distances.

    Returns
    -------
    ndarray of float64, shape (m, n)
        NaN in the rows and columns of a template that has a NaN, or whose distance the metric
        does not define (cosine of a zero vector).
    """
    check_metric(metric)
    if probe.shape[1] != gallery.shape[1]:
        raise DataError(
            f"probe embeddings have {probe.shape[1]} features and gallery embeddings "
            f"{gallery.shape[1]}; expected the same number"
        )
    left = _prepare(probe, metric, "probe embeddings")
    right = left if probe is gallery else _prepare(gallery, metric, "gallery embeddings")
    out = np.empty((len(left), len(right)))
    step = max(1, _BLOCK // max(1, len(right)))
    for low in range(0, len(left), step):
        out[low : low + step] = _block(left[low : low + step], right, metric)
    return out


def pair_distances(
    probe: np.ndarray, gallery: np.ndarray, a: np.ndarray, b: np.ndarray, metric: Metric
) -> np.ndarray:
    """Return the distances of the pairs ``(probe[a[i]], gallery[b[i]])`` alone, in float64."""
    check_metric(metric)
    left = _prepare(probe, metric, "probe embeddings")
    right = left if probe is gallery else _prepare(gallery, metric, "gallery embeddings")
    out = np.empty(len(a))
    step = max(1, _BLOCK // left.shape[1])
    for low in range(0, len(a), step):
        x, y = left[a[low : low + step]], right[b[low : low + step]]
        if callable(metric):
            rows = zip(x, y, strict=True)
            out[low : low + step] = [float(metric(u[None], v[None])[0, 0]) for u, v in rows]
        else:
            out[low : low + step] = _aligned(x, y, metric)
    return out


def check_metric(metric: Metric) -> None:
    """Raise :class:`DataError` unless `metric` is a known name or a callable."""
    if not callable(metric) and metric not in METRICS:
        raise DataError(bad_choice("metric", metric, METRICS))


def describe_metric(metric: Metric, embeddings: np.ndarray) -> str:
    """Say in words how scores were made of embeddings."""
    name = getattr(metric, "__name__", "a callable") if callable(metric) else metric
    return f"{embeddings.shape[1]}-dimensional {embeddings.dtype} embeddings, metric {name}"


def _prepare(values: np.ndarray, metric: Metric, what: str) -> np.ndarray:
    """Return what the blocks of a metric work on: unit vectors, square roots, or float64."""
    if callable(metric):
        return values
    x = np.ascontiguousarray(values, dtype=np.float64)
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
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(x / x.sum(axis=1, keepdims=True))
    return x


def _block(x: np.ndarray, y: np.ndarray, metric: Metric) -> np.ndarray:
    if callable(metric):
        out = np.asarray(metric(x, y))
        if out.shape != (len(x), len(y)) or out.dtype.kind not in "biuf":
            raise DataError(
                f"the metric returned shape {out.shape}, dtype {out.dtype}; expected real "
                f"distances of shape {(len(x), len(y))}"
            )
        return out
    if metric in ("l1", "linf"):
        from scipy.spatial.distance import cdist

        out = cdist(x, y, "cityblock" if metric == "l1" else "chebyshev")
        # The largest difference leaves NaN out, and with it a failed template.
        out[np.isnan(x).any(axis=1)] = np.nan
        out[:, np.isnan(y).any(axis=1)] = np.nan
        return out
    products = x @ y.T
    if metric == "bhattacharyya":
        with np.errstate(divide="ignore"):
            return np.maximum(-np.log(products), 0.0)
    # Squared Euclidean distances; unit vectors (cosine) have |a - b|^2 = 2 (1 - ab).
    xx = np.einsum("ij,ij->i", x, x)
    yy = np.einsum("ij,ij->i", y, y)
    total = xx[:, None] + yy[None, :]
    squared = total - 2.0 * products
    near = np.nonzero(squared < 1e-6 * total)
    if len(near[0]):
        step = max(1, _BLOCK // x.shape[1])
        for low in range(0, len(near[0]), step):
            i, j = near[0][low : low + step], near[1][low : low + step]
            difference = x[i] - y[j]
            squared[i, j] = np.einsum("ij,ij->i", difference, difference)
    return squared / 2.0 if metric == "cosine" else np.sqrt(squared)


def _aligned(x: np.ndarray, y: np.ndarray, metric: str) -> np.ndarray:
    if metric == "bhattacharyya":
        with np.errstate(divide="ignore"):
            return np.maximum(-np.log(np.einsum("ij,ij->i", x, y)), 0.0)
    difference = np.abs(x - y)
    if metric == "l1":
        return difference.sum(axis=1)
    if metric == "linf":
        return difference.max(axis=1)
    squared = np.einsum("ij,ij->i", difference, difference)
    return squared / 2.0 if metric == "cosine" else np.sqrt(squared)
