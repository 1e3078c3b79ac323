"""Masks: which cells of a matrix are attempts and, without labels, which attempts are genuine.

A mask is a matrix of the shape of the scores, with the values of :class:`Mask`. Subjects may
follow from it: here, probe 0 and probe 2 have the same mates in the gallery, so that these three
rows are of two subjects::

    mask            subjects of the probes    subjects of the gallery
    2 1 2           0                         0 1 0
    1 2 1           1
    2 1 2           0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.arguments import joined, require_array
from bioeval.base.errors import DataError, counted

if TYPE_CHECKING:
    from bioeval.scores.codes import Codes


class Mask:
    """Values of a mask."""

    IGNORE, IMPOSTOR, GENUINE = 0, 1, 2


def as_mask(mask: Any, shape: tuple[int, int], codes: Codes | None) -> np.ndarray:
    """Return a checked mask as uint8; in a boolean mask, `codes` decide which are genuine."""
    array = require_array("mask", joined(mask, "mask", 2))
    if array.shape != shape:
        hint = ": is it transposed? Give mask.T" if array.shape == shape[::-1] else ""
        raise DataError(f"mask has shape {array.shape}; expected {shape}, as the scores{hint}")
    if array.dtype == bool:
        if codes is None:
            raise DataError(
                "mask is boolean, which says where attempts are and not which are genuine; give "
                "labels, or integers 0 (ignore), 1 (impostor) and 2 (genuine)"
            )
        if not array.any():
            raise DataError("mask is False everywhere; expected True where there is an attempt")
        array = _with_classes(array, codes)
    if array.dtype.kind not in "iu":
        raise DataError(
            f"mask has dtype {array.dtype}; expected booleans (True: an attempt), or integers 0 "
            "(ignore), 1 (impostor) and 2 (genuine)"
        )
    if array.min() < 0 or array.max() > 2:
        wrong = (array < 0) | (array > 2)
        place = np.unravel_index(int(np.argmax(wrong)), shape)
        raise DataError(
            f"mask has {counted(wrong.sum(), 'values')} other than 0 (ignore), 1 (impostor) and 2 "
            f"(genuine), the first is {array[place]} at row {place[0]}, column {place[1]}"
        )
    return array.astype(np.uint8, copy=False)


def _with_classes(is_attempt: np.ndarray, codes: Codes) -> np.ndarray:
    """Return a mask of the attempts; those of two templates of one subject are genuine."""
    mask = np.zeros(is_attempt.shape, np.uint8)
    for row, columns in enumerate(is_attempt):  # row by row: no comparison of the whole matrix
        genuine = codes.gallery[columns] == codes.probe[row]
        mask[row, columns] = np.where(genuine, Mask.GENUINE, Mask.IMPOSTOR)
    return mask


def subjects_of_mask(mask: np.ndarray, square: bool) -> tuple[tuple[np.ndarray, np.ndarray], bool]:
    """Return subjects of the probes and of the gallery, and whether they are consistent.

    Templates that genuine cells connect have one subject; the subjects are inconsistent if two of
    its templates meet in an impostor cell. In a square matrix, row ``i`` and column ``i`` are the
    same template.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    row_count, column_count = mask.shape
    row, column = np.nonzero(mask == Mask.GENUINE)
    if square:
        row = np.append(row, np.arange(row_count))
        column = np.append(column, np.arange(row_count))
    # A graph whose nodes are the rows, then the columns; an edge is a genuine cell.
    nodes = row_count + column_count
    edges = row, row_count + column
    graph = coo_matrix((np.ones(len(row), dtype=np.int8), edges), shape=(nodes, nodes))
    _, subject = connected_components(graph, directed=False)
    gallery = subject[row_count:].astype(np.int64)
    probe = subject[:row_count].astype(np.int64) if not square else gallery
    is_consistent = not any(
        (mask[i, gallery == probe[i]] == Mask.IMPOSTOR).any() for i in range(row_count)
    )
    return (probe, gallery), is_consistent
