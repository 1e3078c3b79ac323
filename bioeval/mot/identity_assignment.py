"""Assignment of identities to targets over the whole sequence (IDTP)."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components, min_weight_full_bipartite_matching

#: Largest number of cells of a table that is assigned densely; above, as a sparse table.
DENSE_CELLS = 25_000_000


def most_in_common(target: np.ndarray, identity: np.ndarray, dense_cells: int = DENSE_CELLS) -> int:
    """Return the largest number of overlaps under a one-to-one assignment (IDTP).

    Each target gets at most one identity, and each identity at most one target. The number of
    their overlaps that belong to such pairs is IDTP; since every other box is an error, a match
    of least cost has the most of them.

    Parameters
    ----------
    target, identity : int64 arrays, shape (k,)
        Target and identity of each overlap.

    Examples
    --------
    >>> import numpy as np
    >>> most_in_common(np.array([0, 0, 0, 1]), np.array([5, 5, 6, 5]))
    2
    >>> most_in_common(np.array([0, 0, 0, 1, 1]), np.array([5, 5, 6, 5, 5]))
    3
    """
    if not len(target):
        return 0
    rows, i = np.unique(target, return_inverse=True)
    columns, j = np.unique(identity, return_inverse=True)
    shape = (len(rows), len(columns))
    ones = np.ones(len(i), dtype=np.int64)
    table = sparse.coo_array((ones, (i.reshape(-1), j.reshape(-1))), shape=shape).tocsr()
    table.sum_duplicates()
    total = 0
    for part_rows, part_columns in _parts(table):
        part = table[part_rows][:, part_columns]
        if part.shape[0] * part.shape[1] <= dense_cells:
            cells = part.toarray()
            total += int(cells[linear_sum_assignment(cells, maximize=True)].sum())
        else:
            total += _sparse(part)
    return total


def _parts(table: sparse.csr_array) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the rows and columns of the connected components of a table."""
    n, m = table.shape
    coo = table.tocoo()
    graph = sparse.coo_array((np.ones(coo.nnz), (coo.row, coo.col + n)), shape=(n + m, n + m))
    count, part = connected_components(graph, directed=False)
    order = np.argsort(part, kind="stable")
    starts = np.searchsorted(part[order], np.arange(count + 1))
    nodes = [order[a:b] for a, b in zip(starts[:-1], starts[1:], strict=True)]
    return [(node[node < n], node[node >= n] - n) for node in nodes]


def _sparse(table: sparse.csr_array) -> int:
    """Assign a sparse table: each row gets one more column, of its own, with weight 0.

    scipy's sparse matching requires a column for every row and no zeros, hence the additional
    columns, and 1 added to each entry.
    """
    n = table.shape[0]
    coo = table.tocoo()
    own = np.arange(n)
    wide = sparse.coo_array(
        (
            np.concatenate([coo.data + 1, np.ones(n, dtype=np.int64)]).astype(np.float64),
            (np.concatenate([coo.row, own]), np.concatenate([coo.col, table.shape[1] + own])),
        ),
        shape=(n, table.shape[1] + n),
    ).tocsr()
    a, b = min_weight_full_bipartite_matching(wide, maximize=True)
    return round(float(wide[a, b].sum())) - n
