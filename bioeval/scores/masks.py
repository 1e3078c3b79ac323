"""Masks of score matrices: which cells are attempts, and which attempts are genuine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.arguments import require_array
from bioeval.base.array_libraries import joined
from bioeval.base.errors import DataError

if TYPE_CHECKING:
    from bioeval.scores.codes import Codes


class Mask:
    """Values of a mask."""

    IGNORE, IMPOSTOR, GENUINE = 0, 1, 2


def as_mask(mask: Any, shape: tuple[int, int], codes: Codes | None) -> np.ndarray:
    """Return a mask as uint8, checked for its shape and values.

    In a boolean mask, `codes` of the labels decide which cells are genuine.
    """
    array = require_array("mask", joined(mask, "mask", 2))
    if array.shape != shape:
        hint = ": is it transposed? Give mask.T" if array.shape == shape[::-1] else ""
        raise DataError(f"mask has shape {array.shape}; expected {shape}, as the scores{hint}")
    if array.dtype == bool:
        array = _classes_of(array, codes)
    if array.dtype.kind not in "iu":
        raise DataError(
            f"mask has dtype {array.dtype}; expected booleans (True: an attempt), or integers 0 "
            "(ignore), 1 (impostor) and 2 (genuine)"
        )
    if array.min() < 0 or array.max() > 2:
        wrong = (array < 0) | (array > 2)
        row, column = np.unravel_index(int(np.argmax(wrong)), shape)
        raise DataError(
            f"mask has {int(wrong.sum())} values other than 0 (ignore), 1 (impostor) and 2 "
            f"(genuine), the first is {array[row, column]} at row {row}, column {column}"
        )
    return array.astype(np.uint8, copy=False)


def _classes_of(attempts: np.ndarray, codes: Codes | None) -> np.ndarray:
    if codes is None:
        raise DataError(
            "mask is boolean, which says where attempts are and not which are genuine; give "
            "labels, or integers 0 (ignore), 1 (impostor) and 2 (genuine)"
        )
    if not attempts.any():
        raise DataError("mask is False everywhere; expected True where there is an attempt")
    mask = np.zeros(attempts.shape, np.uint8)
    for row, is_attempt in enumerate(attempts):
        genuine = codes.gallery[is_attempt] == codes.probe[row]
        mask[row, is_attempt] = np.where(genuine, Mask.GENUINE, Mask.IMPOSTOR)
    return mask


def subjects_of_mask(mask: np.ndarray, square: bool) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return subjects of the probes and of the gallery, and whether they are consistent.

    Templates that genuine cells connect have one subject; the subjects are inconsistent if two of
    its templates meet in an impostor cell. In a square matrix, row ``i`` and column ``i`` are the
    same template.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    row_count, column_count = mask.shape
    i, j = np.nonzero(mask == Mask.GENUINE)
    if square:
        i = np.append(i, np.arange(row_count))
        j = np.append(j, np.arange(row_count))
    graph = coo_matrix(
        (np.ones(len(i), dtype=np.int8), (i, row_count + j)),
        shape=(row_count + column_count, row_count + column_count),
    )
    _, subject = connected_components(graph, directed=False)
    gallery = subject[row_count:].astype(np.int64)
    probe = subject[:row_count].astype(np.int64) if not square else gallery
    is_consistent = not any(
        (mask[row, gallery == probe[row]] == Mask.IMPOSTOR).any() for row in range(row_count)
    )
    return probe, gallery, is_consistent
