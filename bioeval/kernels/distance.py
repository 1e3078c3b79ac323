"""Inner products to distances, in place; distances that lost digits are computed again."""

from __future__ import annotations

import numpy as np

from bioeval.kernels.side_by_side import side_by_side


@side_by_side("products")
def finish_euclidean(begin, end, products, x, y, xx, yy, near, cosine):
    """Turn inner products into Euclidean distances, or into cosine distances of unit vectors.

    If the squared distance is small beside the squared lengths, the subtraction has lost digits;
    it is then summed from the differences, in float64. Equal vectors are at 0 exactly.

    Parameters
    ----------
    products : float array, shape (b, n), overwritten
    x, y : float arrays, shape (b, f) and (n, f)
    xx, yy : float arrays, shape (b,) and (n,)
        Squared lengths.
    near : float
        Proportion of the squared lengths below which a squared distance is computed again.
    cosine : bool
        Halve the squared distance (``1 - cos``) instead of taking its root.
    """
    # Constants of the dtype of the products, which keep the loops in it.
    zero = near - near
    two = (near + near) / near
    features = x.shape[1]
    for i in range(begin, end):
        row = products[i]
        length = xx[i]
        close = np.int64(0)
        for j in range(len(row)):
            total = length + yy[j]
            squared = total - two * row[j]
            close += squared < near * total
            row[j] = squared
        if close > 0:
            for j in range(len(row)):
                if row[j] < near * (length + yy[j]):
                    exact = 0.0
                    for f in range(features):
                        difference = np.float64(x[i, f]) - np.float64(y[j, f])
                        exact += difference * difference
                    row[j] = exact
        if cosine:
            for j in range(len(row)):
                row[j] = row[j] / two
        else:
            for j in range(len(row)):
                row[j] = np.sqrt(row[j] if row[j] > zero or row[j] != row[j] else zero)
