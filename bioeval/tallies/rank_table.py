"""Where impostor scores rank among the genuine ones, in a table that stays in the cache."""

from __future__ import annotations

import numpy as np

from bioeval.kernels.sweep_arguments import RankTable
from bioeval.tallies.cells import CellGrid, cell_exponent, cell_of
from bioeval.tallies.threshold_search import distinct

EVERY_BIT = np.iinfo(np.uint64).max

# Cells of a table: so many for each genuine score, and at most; those of one word.
CELLS_A_SCORE, MOST_CELLS, WORD = 128, 1 << 22, 64


def rank_table(genuine: np.ndarray, low: float, high: float, digits: int = 0) -> RankTable:
    """Return the table of increasing genuine scores, for impostor scores about from low to high.

    Scores next to genuine ones are put aside too where these may be off by some last `digits`.
    """
    scores = distinct(genuine)
    grid = _grid_of(scores, low, high)
    number = grid.count // WORD
    places = _places(grid, scores)
    repeats = np.diff(np.searchsorted(genuine, scores), append=len(genuine))
    word = places // WORD
    usual = int(np.argmax(np.bincount(repeats, minlength=2)))  # two where a matrix is symmetric
    bits = _bits(grid, places)
    # The outermost cells hold whatever is beyond the table.
    several = (repeats != usual) | (places == 0) | (places == grid.count - 2)
    several[1:] |= places[1:] == places[:-1]
    bits[word[several]] = EVERY_BIT
    aside = np.zeros(0, dtype=np.uint64)
    if digits:
        finite = scores[np.isfinite(scores)]
        spacing = np.spacing(abs(finite)).astype(np.float64)
        width = 2.0**grid.exponent
        step = int(np.clip(width / spacing.max(initial=width / digits), 1, digits))
        offsets = np.append(np.arange(-digits, digits, step), digits)
        around = finite + offsets[:, None] * spacing
        aside = _bits(grid, _places(grid, around.reshape(-1)))
        aside[word[several]] = EVERY_BIT
    below = np.concatenate([[0], np.cumsum(repeats), [len(genuine)]])
    first = np.searchsorted(word, np.arange(number + 1))
    return RankTable(
        window=grid.window(genuine.dtype),
        bits=bits,
        aside=aside,
        repeats=usual,
        ends=below[first[1:]].astype(np.uint32),
        places=first.astype(np.uint32),
        scores=np.append(scores, genuine.dtype.type(np.inf)),
        below=below.astype(np.uint32),
    )


def _places(grid: CellGrid, scores: np.ndarray) -> np.ndarray:
    """Return the cell of each score; the outermost ones hold those beyond."""
    places = grid.places_of(scores.astype(np.float64))
    return np.clip(places, 0, grid.count - 2).astype(np.int64)


def _bits(grid: CellGrid, places: np.ndarray) -> np.ndarray:
    """Return a bit for each cell, set at places."""
    occupied = np.zeros(grid.count, dtype=bool)
    occupied[places] = True
    return np.packbits(occupied, bitorder="little").view("<u8").astype(np.uint64)


def _grid_of(scores: np.ndarray, low: float, high: float) -> CellGrid:
    """Return narrow cells over the genuine scores, with some around, in whole words."""
    finite = scores[np.isfinite(scores)]
    ends = finite[[0, -1]].tolist() if len(finite) else [0.0, 0.0]
    low, high = (min(max(x, ends[0]), ends[1]) for x in (low, high))
    cells = min(MOST_CELLS, 1 << (CELLS_A_SCORE * len(scores)).bit_length())
    most = min(1 << np.finfo(scores.dtype).nmant, 1 << 30)  # whole numbers, and of 32 bits
    least = max(cell_exponent(low, high, cells), np.finfo(scores.dtype).minexp + 3)
    for exponent in range(least, np.finfo(scores.dtype).maxexp - 32):
        first = cell_of(low, exponent)
        count = cell_of(high, exponent) - first + 4
        grid = CellGrid(exponent, first - 1, (-(-count // WORD) + 1) * WORD)  # the last is beyond
        if max(abs(grid.first), abs(grid.first + grid.count)) + 1 < most:
            return grid
    return CellGrid(0, 0, 2 * WORD)
