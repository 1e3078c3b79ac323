"""A sample of attempts, by which scores are judged before all of them are counted."""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.blocks import is_few
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people, mate_cells
from bioeval.scores.row_memory import give_back
from bioeval.scores.rows import read_rows
from bioeval.scores.selecting import of_own_columns, selected

_PROBES = 256  # the most probes of a sample
_MATES = 256  # the most columns of their mates
_OTHERS = 64  # the most columns from everywhere

# The most cells that are read if only whole rows can be read.
_CELLS = 1 << 22

# If rows take time, since they are computed or inflated, one row or chunk in this number is read.
_ONE_OF = 16
_CHUNKS = 8  # the most chunks that are read
_LEAST_ROWS = 16  # the rows that are computed in any case

_GENUINE = 1 << 12  # the most genuine attempts of a sample
_IMPOSTOR = 1 << 14  # the most impostor attempts of a sample


class SampledAttempts(NamedTuple):
    """The distances of a sample of attempts, without failures."""

    genuine: np.ndarray
    impostor: np.ndarray
    people: int  # the number of people of genuine attempts; of the attempts if people are unknown

    @classmethod
    def from_scores(cls, scores: Scores) -> Self | None:
        """Read a sample of attempts; None if the scores cannot be counted."""
        scores = scores._with(nan="exclude")
        try:
            return cls._read(scores)
        except DataError:  # raised again where all scores are counted
            return None

    @classmethod
    def _read(cls, scores: Scores) -> Self:
        if scores.layout == "pairs":
            return cls._read_pairs(scores)
        sample = sample_of(scores)
        block = read_rows(sample, slice(0, sample.shape[0]))
        give_back(sample)
        genuine = block.genuine()
        impostor_distance = block.impostors().values
        return cls(
            evenly_spaced(genuine.distance, _GENUINE),
            evenly_spaced(impostor_distance[~np.isnan(impostor_distance)], _IMPOSTOR),
            len(np.unique(sample.codes.probe[genuine.probe])),
        )

    @classmethod
    def _read_pairs(cls, scores: Scores) -> Self:
        genuine = evenly_spaced(np.flatnonzero(scores.genuine), _GENUINE)
        impostor = evenly_spaced(np.flatnonzero(~scores.genuine), _IMPOSTOR)
        probe = scores.codes.probe[genuine] if knows_people(scores) else genuine
        genuine_distance, impostor_distance = (
            scores.pair_distances(scores.values[x]) for x in (genuine, impostor)
        )
        return cls(
            genuine_distance[~np.isnan(genuine_distance)],
            impostor_distance[~np.isnan(impostor_distance)],
            len(np.unique(probe)),
        )


def sample_of(scores: Scores, *, with_diagonal: bool = False) -> Scores:
    """Return sampled probes against sampled mates and sampled templates of the gallery.

    With the diagonal, the gallery also has the column of each probe's row. A matrix of few scores
    is returned unchanged.
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
    cells = scores.cells
    probe_count, gallery_count = scores.shape
    limit = _PROBES
    if cells.are_computed:
        limit = min(limit, max(_LEAST_ROWS, probe_count // _ONE_OF))
    if cells.is_stored or (cells.streams and cells.mask is not None):
        limit = max(1, min(limit, _CELLS // gallery_count))
    if not cells.is_stored:
        return evenly_spaced(np.arange(probe_count), limit)
    chunk = cells.row_chunk
    chunk_count = min(_CHUNKS, max(1, probe_count // chunk // _ONE_OF))
    first = evenly_spaced(np.arange(0, probe_count, chunk), chunk_count)
    rows = first[:, None] + np.arange(min(chunk, max(1, limit // len(first))))
    return rows[rows < probe_count]


def evenly_spaced(values: np.ndarray, limit: int) -> np.ndarray:
    if len(values) <= limit:
        return values
    return values[np.linspace(0, len(values) - 1, limit).astype(np.int64)]
