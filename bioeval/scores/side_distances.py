"""Distances between two sides of embeddings, by the named metrics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bioeval.kernels.distance import Embeddings
from bioeval.scores.arrays import row_spans
from bioeval.scores.embedding_sides import VALUES_AT_ONCE, Side

#: A squared distance below this share of the squared lengths is summed from the differences.
NEAR = {"float64": 1e-6, "float32": 1e-3}

# Values that stay in the cache of a core: 512 KiB of float64.
_CACHED_VALUES = 1 << 16


def products_of(probe: Side, gallery: Side, buffer: np.ndarray) -> np.ndarray:
    """Return the products of all vectors of both sides, in the memory of `buffer`."""
    shape = len(probe.vectors), len(gallery.vectors)
    products = buffer[: math.prod(shape)].reshape(shape)
    rows, columns = probe.padded_vectors, gallery.padded_vectors
    if shape == (len(rows), len(columns)):
        np.matmul(rows, columns.T, out=products)
    else:
        products[...] = np.matmul(rows, columns.T)[: shape[0], : shape[1]]
    return products


def coordinate_distances(probe: Side, gallery: Side, metric: str) -> np.ndarray:
    """Return the distances ``"l1"`` or ``"linf"``, (m, n), float64."""
    from scipy.spatial.distance import cdist

    name = "cityblock" if metric == "l1" else "chebyshev"
    distances = cdist(probe.exact, gallery.exact, name)
    # The largest difference (linf) passes over NaN, which marks failed templates.
    distances[np.isnan(probe.exact).any(axis=1)] = np.nan
    distances[:, np.isnan(gallery.exact).any(axis=1)] = np.nan
    return distances


def finish_few(
    products: np.ndarray, first: int, x: Embeddings, y: Embeddings, near: Any, cosine: bool
) -> None:
    """Turn products into distances as :func:`finish_euclidean` does, bit for bit, uncompiled."""
    products = products[:, first : first + len(y.squared)]
    total = x.squared[:, None] + y.squared
    products *= -2
    products += total
    total *= near
    pairs = np.argwhere(products < total)
    for low, high in row_spans(len(pairs), x.exact.shape[1], VALUES_AT_ONCE):
        row, column = pairs[low:high].T
        i, j = x.rows[row], y.rows[column]
        difference = x.exact[i] * x.factor[i, None]
        difference = difference - y.exact[j] * y.factor[j, None]
        # A cumulative sum adds feature after feature, as the loop does.
        products[row, column] = np.square(difference).cumsum(axis=1)[:, -1]
    if cosine:
        products *= 0.5
    else:
        np.sqrt(np.maximum(products, 0, out=products), out=products)


def bhattacharyya_distances(
    products: np.ndarray, probe: Side, gallery: Side, near_share: np.floating
) -> np.ndarray:
    """Return Bhattacharyya distances, ``-log(product)``.

    A product near 1 is one less half the squared difference of the vectors.
    """
    near_cells = np.flatnonzero(products > 1 - near_share)
    with np.errstate(divide="ignore"):
        distances = np.maximum(-np.log(products), 0.0)
    for low, high in row_spans(len(near_cells), probe.exact.shape[1], _CACHED_VALUES):
        i, j = np.divmod(near_cells[low:high], distances.shape[1])
        difference = probe.exact[i]
        difference -= gallery.exact[j]
        distances[i, j] = -np.log1p(-np.einsum("ij,ij->i", difference, difference) / 2)
    return distances


def distances_of_pairs(probe: Side, gallery: Side, metric: str) -> np.ndarray:
    """Return the distances between corresponding rows of the two sides, float64 (n,)."""
    probe_vectors = probe.exact * probe.factor[:, None]
    gallery_vectors = gallery.exact * gallery.factor[:, None]
    with np.errstate(over="ignore"):
        difference = np.abs(probe_vectors - gallery_vectors)
        if metric == "l1":
            return difference.sum(axis=1)
    if metric == "linf":
        return difference.max(axis=1)
    squared = np.einsum("ij,ij->i", difference, difference)
    if metric == "bhattacharyya":
        with np.errstate(divide="ignore"):
            product_of_pair = np.einsum("ij,ij->i", probe_vectors, gallery_vectors)
            far = np.maximum(-np.log(product_of_pair), 0.0)
        is_near = squared < 2 * NEAR["float64"]
        return np.where(is_near, -np.log1p(-np.where(is_near, squared, 0.0) / 2), far)
    if metric == "cosine":
        return squared / 2.0
    return np.sqrt(squared)
