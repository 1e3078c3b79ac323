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
            genuine_distance, impostor_distance = (
                scores.pair_distances(scores.values[x]) for x in (genuine, impostor)
            )
            return cls(
                genuine_distance[~np.isnan(genuine_distance)],
                impostor_distance[~np.isnan(impostor_distance)],
                len(np.unique(probe)),
            )
        scores = sample_of(scores)
        block = read_rows(scores, slice(0, scores.shape[0]))
        give_back(scores)
        probe, _, genuine_distance = block.genuine()
        impostor_distance = block.impostors().values
        impostor_distance = impostor_distance[~np.isnan(impostor_distance)]
        people = len(np.unique(scores.codes.probe[probe]))
        return cls(
            evenly_spaced(genuine_distance, _GENUINE),
            evenly_spaced(impostor_distance, _IMPOSTOR),
            people,
        )


def sample_of(scores: Scores, *, with_diagonal: bool = False) -> Scores:
    """Return sampled probes against sampled mates and sampled templates of the gallery.

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
    cells, (probe_count, gallery_count) = scores.cells, scores.shape
    limit = _PROBES
    if cells.are_computed:
        limit = min(limit, max(_FEW, probe_count // _PROPORTION))
    if cells.is_stored or (cells.streams and cells.mask is not None):
        limit = max(1, min(limit, _CELLS // gallery_count))
    if not cells.is_stored:
        return evenly_spaced(np.arange(probe_count), limit)
    chunk = cells.row_chunk
    first = evenly_spaced(
        np.arange(0, probe_count, chunk), min(_CHUNKS, max(1, probe_count // chunk // _PROPORTION))
    )
    rows = first[:, None] + np.arange(min(chunk, max(1, limit // len(first))))
    return rows[rows < probe_count]


def evenly_spaced(values: np.ndarray, limit: int) -> np.ndarray:
    """Return at most `limit` values, evenly spaced among all."""
    if len(values) <= limit:
        return values
    return values[np.linspace(0, len(values) - 1, limit).astype(np.int64)]
