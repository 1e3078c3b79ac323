"""Embeddings in the form in which they are compared."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from bioeval.base.errors import DataError
from bioeval.kernels.distance import Embeddings
from bioeval.scores.arrays import row_spans, writable_alias
from bioeval.scores.blas_threads import padded

#: Values that are computed together: 32 MiB of float64.
VALUES_AT_ONCE = 1 << 22


@dataclass
class Side:
    """The embeddings of one side, in the form in which they are compared."""

    #: (n, f), in the dtype of the distances: the vectors whose products are computed. Unit vectors
    #: (cosine), square roots of proportions (Bhattacharyya), otherwise the embeddings.
    vectors: np.ndarray
    #: float32 or float64 (n, f): ``exact * factor[:, None]`` are `vectors` before rounding, from
    #: which near pairs are computed.
    exact: np.ndarray
    factor: np.ndarray  # float (n,)
    squared: np.ndarray  # float (n,): the squared lengths of `vectors`; NaN of a failed template

    def __getitem__(self, rows: Any) -> Self:
        vectors = self.vectors[rows]
        exact = vectors if self.exact is self.vectors else self.exact[rows]
        return replace(
            self, vectors=vectors, exact=exact, factor=self.factor[rows], squared=self.squared[rows]
        )

    @cached_property
    def padded_vectors(self) -> np.ndarray:
        template_count, features = self.vectors.shape
        rows = padded(template_count)
        if rows == template_count:
            return self.vectors
        return np.concatenate(
            [self.vectors, np.zeros((rows - template_count, features), self.vectors.dtype)]
        )

    @cached_property
    def for_kernels(self) -> Any:
        exact, factor = map(writable_alias, map(np.ascontiguousarray, (self.exact, self.factor)))
        return Embeddings(exact, factor, self.squared, np.arange(len(self.squared)))


def scaled_sides(
    probe: np.ndarray, gallery: np.ndarray, metric: str, dtype: np.dtype
) -> tuple[tuple[Side, Side], float]:
    """Return both sides as they are compared, and the factor by which embeddings are multiplied.

    The factor keeps the squares of Euclidean distances in range. If both sides are the same array,
    they are one :class:`Side`.
    """
    floats = [_as_floats(probe, metric, "probe embeddings", dtype)]
    if probe is not gallery:
        floats.append(_as_floats(gallery, metric, "gallery embeddings", dtype))
    scale = _scale_of(floats, dtype) if metric == "l2" else 1.0
    if scale != 1.0:
        floats = [x * x.dtype.type(scale) for x in floats]
    sides = [_side(x, metric, dtype) for x in floats]
    return (sides[0], sides[-1]), scale


def _scale_of(sides: list[np.ndarray], dtype: np.dtype) -> float:
    """Return a power of two by which embeddings are multiplied so that squares stay in range."""
    largest = max(float(np.nanmax(np.abs(x), initial=0.0)) for x in sides)
    info = np.finfo(dtype)
    exponent = math.frexp(largest)[1]
    is_in_range = info.minexp // 4 < exponent < info.maxexp // 2 - 16
    if largest == 0 or is_in_range:
        return 1.0
    # For subnormal numbers the power would overflow; the largest power brings them into range.
    return 2.0 ** min(-exponent, info.maxexp - 1)


def _as_floats(values: np.ndarray, metric: str, input_name: str, dtype: np.dtype) -> np.ndarray:
    """Return checked embeddings as float32 or float64, which holds their values exactly."""
    fits_in_float32 = values.dtype.itemsize <= 2 or values.dtype == np.float32
    # Unit vectors are made in float64, by blocks, so that the embeddings may be float32: `_units`.
    are_made_unit = metric in ("cosine", "bhattacharyya")
    is_narrow = fits_in_float32 and (are_made_unit or dtype != np.float64)
    floats: np.ndarray = np.ascontiguousarray(values, dtype=np.float32 if is_narrow else np.float64)
    checked = floats
    if not are_made_unit:  # distances are as long as embeddings, which may overflow in their dtype
        with np.errstate(over="ignore"):
            checked = floats.astype(dtype, copy=False)
    infinite = np.isinf(checked).any(axis=1)
    if infinite.any():
        raise DataError(
            f"{input_name}: {int(infinite.sum())} rows hold infinite values, the first is row "
            f"{int(np.argmax(infinite))}; mark failed templates with NaN"
        )
    if metric == "bhattacharyya" and (floats < 0).any():
        row = int(np.argmax((floats < 0).any(axis=1)))
        raise DataError(
            f"{input_name}: row {row} has negative values; the Bhattacharyya distance is defined "
            "for non-negative features (histograms)"
        )
    return floats


def _side(embeddings: np.ndarray, metric: str, dtype: np.dtype) -> Side:
    exact = embeddings
    factor = np.ones(len(embeddings))
    if metric in ("l1", "linf"):  # no products: the lengths say which templates failed, and no more
        squared = np.where(np.isnan(embeddings).any(axis=1), np.nan, factor)
        return Side(embeddings, embeddings, factor, squared)
    if metric == "l2":
        vectors = embeddings.astype(dtype, copy=False)
    else:
        vectors, exact, factor = _units(embeddings, metric, dtype)
    return Side(vectors, exact, factor, np.einsum("ij,ij->i", vectors, vectors))


def _units(
    embeddings: np.ndarray, metric: str, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return `vectors`, `exact` and `factor` of a :class:`Side` with unit vectors."""
    vectors = np.empty(embeddings.shape, dtype)
    length = np.empty(len(embeddings))
    ones = np.ones(len(embeddings))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        for low, high in row_spans(len(embeddings), embeddings.shape[1], VALUES_AT_ONCE):
            rows = slice(low, high)
            block = embeddings[rows].astype(np.float64, copy=False)
            vectors[rows], length[rows] = _unit(block, metric)
        factor = 1 / length
        if dtype == np.float64:
            return vectors, vectors, ones
        if metric == "bhattacharyya":
            return vectors, np.sqrt(embeddings / length[:, None]), ones
        if np.isinf(factor[length > 0]).any():  # the length is too short for an inverse in float64
            return vectors, embeddings / length[:, None], ones
        return vectors, embeddings, factor


def _unit(embeddings: np.ndarray, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors (n, f) and their divisors (n,): lengths, or sums of features."""
    if metric == "bhattacharyya":
        total = embeddings.sum(axis=1, keepdims=True)
        return np.sqrt(embeddings / total), total[:, 0]
    scale = np.abs(embeddings).max(axis=1, keepdims=True)  # keeps the squares in range
    embeddings = embeddings / scale
    length = np.sqrt(np.einsum("ij,ij->i", embeddings, embeddings))
    return embeddings / length[:, None], scale[:, 0] * length
