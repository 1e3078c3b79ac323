"""Assignment of identities to targets over the whole sequence (IDTP)."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import min_weight_full_bipartite_matching


def most_in_common(target: np.ndarray, identity: np.ndarray) -> int:
    """Return the largest number of overlaps under a one-to-one assignment (IDTP).

    `target` and `identity` are those of each overlap. Each target gets at most one identity, and
    each identity at most one target. The number of their overlaps that belong to such pairs is
    IDTP; since every other box is an error, a match of least cost has the most of them.
    """
    if not len(target):
        return 0
    rows, i = np.unique(target, return_inverse=True)
    columns, j = np.unique(identity, return_inverse=True)
    n, m = len(rows), len(columns)
    # A target may be left without identity: it has a further column of its own, of weight 1,
    # and the weight of an identity is 1 more than their overlaps.
    places = (
        np.concatenate([i.reshape(-1), np.arange(n)]),
        np.concatenate([j.reshape(-1), m + np.arange(n)]),
    )
    table = sparse.coo_array((np.ones(len(places[0])), places), shape=(n, m + n)).tocsr()
    table.sum_duplicates()
    table.data[table.indices < m] += 1
    weight = table[min_weight_full_bipartite_matching(table, maximize=True)].sum()
    return round(float(weight)) - n
