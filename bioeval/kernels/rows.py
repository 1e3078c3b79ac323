"""Rows of scores: of a matrix turned into impostor attempts, and of embeddings into distances."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bioeval.kernels.compiling import parallel_rows


@parallel_rows("raw")
def impostors(begin, end, raw, sign, order, starts, genuine, values, failed):
    """Write rows of distances with NaN in place of each probe's own subject; count NaN in `raw`.

    ::

        for i in rows:
            failed[i] = number of NaN in raw[i]
            values[i] = sign * raw[i, order]
            values[i, genuine[starts[i]:starts[i + 1]]] = nan

    `raw` and `values` have the shape (h, w); an empty `order` keeps the columns in their order.
    """
    for i in range(begin, end):
        row, distances = raw[i], values[i]
        missing = np.int32(0)
        if len(order):
            for j in range(len(distances)):
                x = row[order[j]]
                missing += np.int32(x != x)
                distances[j] = sign * x
        else:
            for j in range(len(distances)):
                x = row[j]
                missing += np.int32(x != x)
                distances[j] = sign * x
        failed[i] = missing
        for k in range(starts[i], starts[i + 1]):
            distances[genuine[k]] = np.nan


class Embeddings(NamedTuple):
    """Embeddings of n templates of one side, which are ``exact[rows] * factor[rows]``."""

    exact: np.ndarray  # (N, features)
    factor: np.ndarray  # float64 (N,)
    squared: np.ndarray  # (n,): squared lengths, in the dtype of the products
    rows: np.ndarray  # int64 (n,): rows of `exact` and `factor`


@parallel_rows("products")
def finish_euclidean(begin, end, products, first, x, y, near, cosine):
    """Turn inner products into Euclidean distances, or into cosine distances of unit vectors.

    ::

        for i, j, product in products:
            squared = x.squared[i] + y.squared[j] - 2 * product
            if squared < near * (x.squared[i] + y.squared[j]):
                squared = sum((x.exact[i] - y.exact[j])**2)
            products[i, j] = squared / 2 if cosine else sqrt(squared)

    If the squared distance is small beside the squared lengths, the subtraction has lost
    digits; it is then summed from the differences, in float64. Equal vectors are at 0 exactly.

    - `products` (float (b, m), overwritten): in n columns, from column `first` on
    - `x`, `y` (Embeddings): of b probes and n gallery templates
    - `near` (float): proportion of the squared lengths below which a squared distance is computed
      again
    - `cosine` (bool): halve the squared distance (``1 - cos``) instead of taking its root
    """
    # Constants in the dtype of the products, so that the loops compute in this dtype.
    zero = near - near
    two = (near + near) / near
    half = near / (near + near)
    yy = y.squared
    features = x.exact.shape[1]
    for i in range(begin, end):
        row = products[i, first : first + len(yy)]
        length = x.squared[i]
        lost_digits = np.int64(0)
        for j in range(len(row)):
            total = length + yy[j]
            squared = total - two * row[j]
            lost_digits += squared < near * total
            row[j] = squared
        if lost_digits > 0:
            p = x.rows[i]
            a = x.factor[p]
            for j in range(len(row)):
                if row[j] < near * (length + yy[j]):
                    q = y.rows[j]
                    b = y.factor[q]
                    exact = 0.0
                    for f in range(features):
                        difference = x.exact[p, f] * a - y.exact[q, f] * b
                        exact += difference * difference
                    row[j] = exact
        if cosine:
            for j in range(len(row)):
                row[j] = row[j] * half
        else:
            for j in range(len(row)):
                row[j] = np.sqrt(row[j] if row[j] > zero or row[j] != row[j] else zero)
