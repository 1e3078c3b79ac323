"""The kernels of folds against plain loops, compiled and not (see ``test_kernels.py``)."""

from __future__ import annotations

import numpy as np
import pytest

from bioeval.kernels.cells import LEAST, SPAN, cells_of
from bioeval.kernels.folds import count_by_fold, keep_wanted

WINDOW = np.int32(LEAST >> 22 << 22), np.uint32(22), np.uint32((SPAN >> 22) + 2)


@pytest.fixture(autouse=True)
def _overflow():
    """Without the compiler, numbers that wrap around are no error."""
    with np.errstate(over="ignore"):
        yield


def tile_of(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Return scores, some of them NaN, with more rows and columns than are wanted, and cells."""
    rng = np.random.default_rng(3)
    tile = rng.normal(size=(7, 9)).astype(dtype)
    tile[rng.random(tile.shape) < 0.2] = np.nan
    cell = np.empty(tile.size, dtype=np.uint32)
    cells_of(tile.ravel(), tile.dtype.type(0), WINDOW, cell)
    return tile, cell.reshape(tile.shape).astype(int)


each_dtype = pytest.mark.parametrize("dtype", ["float64", "float32"])
each_share = pytest.mark.parametrize("share", [0.0, 0.4, 1.0])


def wanted_of(share: float) -> np.ndarray:
    """Flag some of the cells, never that of NaN."""
    wanted = np.random.default_rng(5).random(int(WINDOW[2]) + 2) < share
    wanted[-1] = False
    return wanted


def assert_kept(tile, cell, wanted, number, scores, places) -> None:
    """Hold the scores that were kept, of five rows and eight columns, to those in wanted cells."""
    expected = [(i, j) for i in range(5) for j in range(8) if wanted[cell[i, j]]]
    assert list(zip(*places[:, :number].tolist(), strict=True)) == expected
    assert scores[:number].tolist() == [tile[x] for x in expected]


@each_dtype
@each_share
def test_count_by_fold(dtype, share):
    """Each score by the fold of its row, by that of its column, and by both if they are one."""
    tile, cell = tile_of(dtype)
    rng = np.random.default_rng(4)
    row_fold, column_fold = rng.integers(0, 3, (2, 5)), rng.integers(0, 3, (2, 8))
    tables = np.ones((3, 2, 3, int(WINDOW[2]) + 2), dtype=np.int64)
    expected, wanted = tables.copy(), wanted_of(share)
    scores, places = np.empty(41, dtype=dtype), np.empty((2, 41), dtype=np.int32)
    number = count_by_fold(
        tile, tile.dtype.type(0), WINDOW, row_fold, column_fold, tuple(tables), wanted, scores,
        *places,
    )  # fmt: skip
    for p in range(2):
        for i in range(5):
            for j in range(8):
                of_row, of_column = row_fold[p, i], column_fold[p, j]
                expected[0, p, of_row, cell[i, j]] += 1
                expected[1, p, of_column, cell[i, j]] += 1
                expected[2, p, of_row, cell[i, j]] += of_row == of_column
    np.testing.assert_array_equal(tables, expected)
    assert_kept(tile, cell, wanted, number, scores, places)


@each_dtype
@each_share
def test_keep_wanted(dtype, share):
    tile, cell = tile_of(dtype)
    scores, places = np.empty(41, dtype=dtype), np.empty((2, 41), dtype=np.int32)
    wanted = wanted_of(share)
    number = keep_wanted(tile, tile.dtype.type(0), WINDOW, wanted, (5, 8), scores, *places)
    assert_kept(tile, cell, wanted, number, scores, places)
