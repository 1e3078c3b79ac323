"""Mates in squares of a product of embeddings, and what of a square is no impostor attempt."""

from typing import NamedTuple

import numpy as np

from bioeval.kernels.compiling import compiled


class SquareMates(NamedTuple):
    """What is known of the mates of some probes."""

    offsets: np.ndarray  # int64 (h,): the genuine scores of each are written from there on
    genuine: np.ndarray  # float: written
    columns: np.ndarray  # int64: written: the column of each


class Excluded(NamedTuple):
    """Codes by which pairs of one subject are no mates: those equal, or unequal where `differs`."""

    probe: np.ndarray  # int64 (c, h)
    gallery: np.ndarray  # int64 (c, w)
    differs: np.ndarray  # bool (c,)


@compiled
def take_mates(tile, first, of_rows, of_columns, itself, excluded, mates):
    """Write down the mates of the rows of a tile, whose columns are numbered from `first` on.

    - `of_rows` (int64 (h,)), `of_columns` (int64 (w,)): the subjects
    - `itself` (int64 (h,)): the column of the probe itself; -1 for none
    - `excluded` (Excluded)
    - `mates` (SquareMates)
    """
    for i in range(len(of_rows)):
        filled = 0
        for j in range(len(of_columns)):
            if of_columns[j] != of_rows[i] or j == itself[i]:
                continue
            left_out = False
            for c in range(len(excluded.differs)):
                equal = excluded.probe[c, i] == excluded.gallery[c, j]
                left_out |= equal != excluded.differs[c]
            if left_out:
                continue
            mates.genuine[mates.offsets[i] + filled] = tile[i, j]
            mates.columns[mates.offsets[i] + filled] = first + j
            filled += 1


@compiled
def leave_out_subjects(tile, of_rows, of_columns, nan, mirrored):
    """Write NaN for pairs of one subject; first copy the part above the diagonal if `mirrored`."""
    if mirrored:
        for i in range(len(of_rows)):
            for j in range(i):
                tile[i, j] = tile[j, i]
    for i in range(len(of_rows)):
        for j in range(len(of_columns)):
            if of_columns[j] == of_rows[i]:
                tile[i, j] = nan
