"""Mates in squares of a product of embeddings, and what of a square is no impostor attempt."""

from typing import NamedTuple

import numpy as np

from bioeval.kernels.compiling import compiled


class Mates(NamedTuple):
    """What is known of the mates of some probes."""

    offsets: np.ndarray  # int64 (h,): the genuine scores of each are written from there on
    genuine: np.ndarray  # float: written
    columns: np.ndarray  # int64: written: the column of each
    best: np.ndarray  # float (h,), written: the score of the best mate
    #: int64 (h,), written: its place in the gallery, how many mates are as close, and how many
    #: there are.
    best_place: np.ndarray
    tied: np.ndarray
    number: np.ndarray


class Excluded(NamedTuple):
    """Codes by which pairs of one subject are no mates: those equal, or unequal where `differs`."""

    probe: np.ndarray  # int64 (c, h)
    gallery: np.ndarray  # int64 (c, w)
    differs: np.ndarray  # bool (c,)


@compiled
def take_mates(tile, first, of_rows, of_columns, places, itself, excluded, mates):
    """Write down the mates of the rows of a tile, whose columns are numbered from `first` on.

    - `of_rows` (int64 (h,)), `of_columns` (int64 (w,)): the subjects
    - `places` (int64 (w,)): the place of each column in the gallery
    - `itself` (int64 (h,)): the column of the probe itself; -1 for none
    - `excluded` (Excluded)
    - `mates` (Mates)
    """
    for i in range(len(of_rows)):
        filled = 0
        same_best = 0
        least = np.inf
        place = 0
        for j in range(len(of_columns)):
            if of_columns[j] != of_rows[i] or j == itself[i]:
                continue
            x = tile[i, j]
            left_out = False
            for c in range(len(excluded.differs)):
                equal = excluded.probe[c, i] == excluded.gallery[c, j]
                left_out |= equal != excluded.differs[c]
            if left_out:
                continue
            mates.genuine[mates.offsets[i] + filled] = x
            mates.columns[mates.offsets[i] + filled] = first + j
            if filled == 0 or x < least:
                least = x
                same_best = 1
                place = places[j]
            elif x == least:
                same_best += 1
                place = min(place, places[j])
            filled += 1
        if filled > 0:
            mates.best[i] = least
            mates.best_place[i] = place
            mates.tied[i] = same_best
            mates.number[i] = filled


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
