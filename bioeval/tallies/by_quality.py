"""Verification attempts by the lower quality of their two samples."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from bioeval.kernels.discard import count_by_lower
from bioeval.kernels.folds import Rows
from bioeval.scores.about import About
from bioeval.scores.blocks import BlockReader, Progress, threads_for
from bioeval.tallies.cells import is_accepted
from bioeval.tallies.counters import gather


@dataclass
class DiscardTally:
    """Attempts that are left when samples are discarded; int64 arrays, shape (steps,)."""

    about: About
    false_rejects: np.ndarray
    genuine_attempts: np.ndarray
    false_accepts: np.ndarray
    impostor_attempts: np.ndarray


def count_by_quality(
    reader: BlockReader,
    places: tuple[np.ndarray, np.ndarray],
    cuts: np.ndarray,
    threshold: float,
    progress: Progress | None = None,
) -> DiscardTally:
    """Count the attempts left when the first so many samples are discarded, in one look.

    Parameters
    ----------
    reader : BlockReader
    places : pair of int64 arrays, shape (m,) and (n,)
        The place of each probe and gallery template among all samples, the lowest quality first.
    cuts : int64 array, shape (steps,)
        Numbers of samples that are discarded, not falling.
    threshold : float
        A distance; NaN rejects everything.
    """
    gallery = reader.gallery
    # Code k: left at the first k steps, and discarded at the next.
    probe, template = (np.searchsorted(cuts, side, side="right") for side in places)
    if gallery.order is not None:
        template = template[gallery.order]
    steps = len(cuts) + 1
    genuine = np.zeros((steps, 2), dtype=np.int64)
    tables = np.zeros((numba.get_num_threads(), steps, 2), dtype=np.int64)
    with threads_for(reader.scores):
        for block in reader.blocks(progress):
            own = block.own_start, block.own_stop, block.self_position
            code = probe[block.low : block.low + len(block.values)]
            count_by_lower(Rows(block.values, *own), code, template, threshold, tables)
            value, row, position = gather(block.values, *own)
            lower = np.minimum(code[row], template[position])
            np.add.at(genuine, (lower, (~is_accepted(value, threshold)).astype(np.int64)), 1)
    reader.note_sentinels()
    # Left at step k: those with a code above k.
    left = [np.cumsum(x[::-1], axis=0)[::-1][1:] for x in (genuine, tables.sum(axis=0))]
    mates, others = left
    return DiscardTally(
        reader.about, mates[:, 1], mates.sum(axis=1), others[:, 0], others.sum(axis=1)
    )
