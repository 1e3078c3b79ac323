"""Lists of pairs as arrays of template indices."""

from __future__ import annotations

import numpy as np

from bioeval.base.errors import DataError


def read_pairs(
    array: np.ndarray, what: str, m: int, n: int, itself: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the columns of an array of pairs, checked.

    Parameters
    ----------
    array
        Integers, shape (p, 2 or more): index a, index b, and in the last of further columns 1
        where it is the same subject; the third of four columns is the fold. In a structured
        array, the first two fields are the indices and the fields ``same`` and ``fold`` those
        columns.
    what
        Its name, for messages.
    m, n
        The number of templates that index a and index b choose from.
    itself
        Whether both choose from the same templates, so that a pair (i, i) is an error.

    Returns
    -------
    a, b : ndarray of int64
    same : ndarray of bool, or None where there are only two columns
    """
    if array.dtype.names:
        names = array.dtype.names
        columns = [array[name] for name in names[:2]]
        if "same" in names:
            columns.append(array["same"])
        elif len(names) > 2:
            raise DataError(f"{what} has the fields {', '.join(names)}; expected one called 'same'")
    elif array.ndim == 2:
        columns = [array[:, i] for i in ((0, 1) if array.shape[1] == 2 else (0, 1, -1))]
    else:
        columns = []
    if len(columns) < 2 or len(array) == 0 or any(c.dtype.kind not in "iub" for c in columns):
        raise DataError(
            f"{what} is {array.shape} {array.dtype}; expected integers (pairs, 2 or more): index "
            "a, index b and, last, 1 for the same subject"
        )
    for name, column, count in (("a", columns[0], m), ("b", columns[1], n)):
        wrong = (column < 0) | (column >= count)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"{what}: index {name} of pair {row} is {int(column[row])}; expected 0..{count - 1}"
            )
    a, b = (column.astype(np.int64) for column in columns[:2])
    if itself and (a == b).any():
        row = int(np.argmax(a == b))
        raise DataError(f"{what}: pair {row} compares template {int(a[row])} with itself")
    if len(columns) == 2:
        return a, b, None
    same = columns[2]
    wrong = (same != 0) & (same != 1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"{what}: the last column of pair {row} is {int(same[row])}; expected 1 for the same "
            "subject and 0 for two (the last column says so where there are more than two)"
        )
    return a, b, same.astype(bool)


def folds_of_pairs(array: np.ndarray) -> np.ndarray | None:
    """Return the fold of each pair: the field ``fold``, or the third of four columns; else None."""
    if array.dtype.names:
        return array["fold"] if "fold" in array.dtype.names else None
    return array[:, 2] if array.ndim == 2 and array.shape[1] == 4 else None
