"""A few attempts from everywhere, by which scores are judged before all of them are counted."""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.blocks import is_few
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people, mate_cells
from bioeval.scores.rows import give_back, read_rows
from bioeval.scores.selecting import of_own_columns, selected

# Of many scores: probes, columns of their mates, and columns from everywhere.
_PROBES, _MATES, _OTHERS = 256, 256, 64

# Cells of whole rows that are read where columns cannot be read alone; chunks of a container; and
# one of how many chunks, or of computed rows, of which there are at least a few.
_CELLS, _CHUNKS, _PROPORTION, _FEW = 1 << 22, 8, 16, 16


# Genuine and impostor attempts, at most.
_GENUINE, _IMPOSTOR = 1 << 12, 1 << 14


class SampledAttempts(NamedTuple):
    """Some attempts from everywhere, without failures."""

    genuine: np.ndarray  # distances
    impostor: np.ndarray
    people: int  # of genuine attempts; their number where people are unknown

    @classmethod
    def from_scores(cls, scores: Scores) -> Self | None:
        """Read some attempts; None of scores that cannot be counted."""
        scores = scores._with(nan="exclude")
        try:
            return cls._read(scores)
        except DataError:  # raised again where all scores are counted
            return None

    @classmethod
    def _read(cls, scores: Scores) -> Self:
        if scores.layout == "pairs":
            genuine = evenly_spaced(np.flatnonzero(scores.genuine), _GENUINE)
            impostor = evenly_spaced(np.flatnonzero(~scores.genuine), _IMPOSTOR)
            probe = scores.codes.probe[genuine] if knows_people(scores) else genuine
            near, far = (scores.pair_distances(scores.values[x]) for x in (genuine, impostor))
            return cls(near[~np.isnan(near)], far[~np.isnan(far)], len(np.unique(probe)))
        scores = sample_of(scores)
        block = read_rows(scores, slice(0, scores.shape[0]))
        give_back(scores)
        probe, _, near = block.genuine()
        far = block.impostors().values
        far = far[~np.isnan(far)]
        people = len(np.unique(scores.codes.probe[probe]))
        return cls(evenly_spaced(near, _GENUINE), evenly_spaced(far, _IMPOSTOR), people)


def sample_of(scores: Scores, *, with_diagonal: bool = False) -> Scores:
    """Return some probes of a matrix against some of their mates and templates from everywhere.

    With the diagonal, also against the templates at their own places. Few scores are all of them.
    """
    if is_few(math.prod(scores.shape)):
        return scores
    rows = _rows(scores)
    _, mates = mate_cells(scores, rows)
    columns = [
        evenly_spaced(np.unique(mates), _MATES),
        evenly_spaced(np.arange(scores.shape[1]), _OTHERS),
    ]
    columns += [rows] if with_diagonal else []
    return of_own_columns(selected(scores, rows, np.unique(np.concatenate(columns))))


def _rows(scores: Scores) -> np.ndarray:
    """Return probes from everywhere; of a container, those of a few of its chunks."""
    cells, (m, n) = scores.cells, scores.shape
    most = _PROBES
    if cells.are_computed:
        most = min(most, max(_FEW, m // _PROPORTION))
    if cells.is_stored or (cells.streams and cells.mask is not None):
        most = max(1, min(most, _CELLS // n))
    if not cells.is_stored:
        return evenly_spaced(np.arange(m), most)
    chunk = cells.row_chunk
    first = evenly_spaced(np.arange(0, m, chunk), min(_CHUNKS, max(1, m // chunk // _PROPORTION)))
    rows = first[:, None] + np.arange(min(chunk, max(1, most // len(first))))
    return rows[rows < m]


def evenly_spaced(values: np.ndarray, most: int) -> np.ndarray:
    """Return at most so many values, evenly spaced among all."""
    if len(values) <= most:
        return values
    return values[np.linspace(0, len(values) - 1, most).astype(np.int64)]
