"""The kernels of cells against plain loops, compiled and not (see ``test_kernels.py``)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bioeval.kernels import cells as kernel
from bioeval.kernels.cells import LANES, LEAST, SPAN, TOO_LARGE

INF, NAN = np.inf, np.nan
LARGEST = float(np.finfo(np.float64).max)
POOL = [
    0.0, -0.0, 0.1, 0.25, 0.25 + 2.0**-40, 0.25 - 2.0**-40, 0.5, 1.0, -1.0, 3.0, -7.25, 5e-324,
    1e-40, 3.4028235e38, -3.4028235e38, 1e300, -1e300, LARGEST, -LARGEST, INF, -INF, NAN,
    NAN,
]  # fmt: skip
#: The first key, the bits that are left out, and the number of cells.
WINDOWS = {
    "all": (LEAST, 16, (SPAN >> 16) + 1),
    "wide": (LEAST >> 28 << 28, 28, 16),
    "around a quarter": (0x3E800000 - 40, 2, 20),
    "one": (0x3E7FFFFF, 0, 1),
}
CENTRES = [0.0, 0.25, -1000.0]
FLOATS = ["float64", "float32"]


def key_of(score: float, centre: float) -> int:
    """Number the floats of single precision in order, 0 at zero.

    Return that of the least one not below the difference, less one.
    """
    apart = score - centre
    with np.errstate(over="ignore"):
        single = np.float32(apart)
        if single < apart or single == -INF < apart:
            single = np.nextafter(single, np.float32(INF))
    bits = int(np.abs(single).view(np.int32))
    return (bits if single > 0 else -bits) - 1


def cell_of(score: np.floating, centre: np.floating, window: tuple[int, int, int]) -> int:
    """Return the cell of a score; differences are those of its dtype."""
    low, shift, width = window
    if np.isnan(score):
        return width + 1
    with np.errstate(over="ignore"):
        return min((max(key_of(score, centre), low) - low) >> shift, width)


class Tile:
    """Scores of some rows, and cells to count them in."""

    def __init__(self, window: str, centre: float, dtype: str, width: int = 21):
        rng = np.random.default_rng(width)
        with np.errstate(over="ignore"):
            self.values = rng.choice(POOL, (5, width)).astype(dtype)
        near = rng.random(self.values.shape) < 0.3
        self.values[near] = 0.25 + centre + rng.integers(-90, 90, near.sum()) * 2.0**-27
        self.plain = WINDOWS[window]
        low, shift, width = self.plain
        self.window = np.int32(low), np.uint32(shift), np.uint32(width)
        self.centre = self.values.dtype.type(centre)
        self.cells = [cell_of(x, self.centre, self.plain) for x in self.values.ravel()]
        self.scores = self.values.ravel().tolist()

    def flags(self, share: float) -> np.ndarray:
        """Flag some of the cells, never that of NaN."""
        flags = np.zeros(self.plain[2] + 2, dtype=np.uint8)
        some = np.unique(self.cells)
        flags[some] = np.random.default_rng(1).integers(0, 4, len(some)) * (
            np.random.default_rng(2).random(len(some)) < share
        )
        flags[-1] = 0
        return flags

    def kept(self, flags: np.ndarray) -> list[float]:
        return [x for x, k in zip(self.scores, self.cells, strict=True) if flags[k] & 2]


def each(function):
    """Every window, centre and dtype."""
    for name, values in (("window", WINDOWS), ("centre", CENTRES), ("dtype", FLOATS)):
        function = pytest.mark.parametrize(name, values)(function)
    return function


@pytest.fixture(autouse=True)
def _overflow():
    """Without the compiler, numbers that wrap around and infinite differences are no error."""
    with np.errstate(all="ignore"):
        yield


@each
def test_cells_of(window, centre, dtype):
    tile = Tile(window, centre, dtype)
    cell = np.empty(tile.values.size, dtype=np.uint32)
    kernel.cells_of(tile.values.ravel(), tile.centre, tile.window, cell)
    assert cell.tolist() == tile.cells
    there = ~np.isnan(tile.values.ravel())  # in the order of the scores
    order = np.argsort(tile.values.ravel()[there], kind="stable")
    assert (np.diff(cell[there][order].astype(int)) >= 0).all()


@each
@pytest.mark.parametrize("share", [0.3, 1.0])
@pytest.mark.parametrize("crowd", [0, 30])
@pytest.mark.cases(24)
def test_count_and_keep(window, centre, dtype, share, crowd):
    """Each score in its cell; in some cells also up to marks, and some scores are kept."""
    tile = Tile(window, centre, dtype)
    flags = tile.flags(share)
    marked = [x for x, k in zip(tile.scores, tile.cells, strict=True) if flags[k] & 1][::2]
    marked += [0.25 + centre + k * 2.0**-28 for k in range(crowd)]
    marks = np.unique(np.array(marked, dtype=dtype))
    own = np.array([cell_of(x, tile.centre, tile.plain) for x in marks], dtype=int)
    flags[own] |= 1
    first = np.append(0, np.cumsum(np.bincount(own, minlength=len(flags)))).astype(np.int32)
    table = np.full(len(flags), 5, dtype=np.int32)
    reached = np.full((2, len(marks) + 1), 7, dtype=np.int64)
    room = np.empty(tile.values.size + 1, dtype=dtype)
    number = kernel.count_and_keep(
        tile.values, tile.centre, tile.window, table, flags,
        np.append(marks, marks.dtype.type(INF)), first, np.int32(2), reached, room,
    )  # fmt: skip
    expected = np.full(len(flags), 5)
    np.add.at(expected, tile.cells, 2)
    assert table.tolist() == expected.tolist()
    assert room[:number].tolist() == tile.kept(flags)
    upto, equal = np.full((2, len(marks) + 1), 7)
    for x, k in zip(tile.scores, tile.cells, strict=True):
        if flags[k] & 1:
            m = sum(mark < x for mark in marks.tolist())
            upto[m] += 2
            equal[m] += 2 * (m < len(marks) and marks[m] == x)
    # Equal to infinity, which ends the marks, is nothing that anyone asks for.
    assert reached[0].tolist() == upto.tolist()
    assert reached[1, :-1].tolist() == equal[:-1].tolist()


@each
def test_keep(window, centre, dtype):
    tile = Tile(window, centre, dtype)
    flags, room = tile.flags(0.5), np.empty(tile.values.size + 1, dtype=dtype)
    number = kernel.keep(tile.values, tile.centre, tile.window, flags, room)
    assert room[:number].tolist() == tile.kept(flags)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("width", [1, LANES, 2 * LANES + 5])
@pytest.mark.parametrize("odd", [0.0, 0.3])
def test_add_moments(dtype, width, odd):
    """Number, sum and squares of finite scores, and how many are infinite; not of the largest.

    Half the largest difference of these is returned.
    """
    rng = np.random.default_rng(width)
    tile = rng.normal(3, 1, (4, width)).astype(dtype)
    some = rng.random(tile.shape) < odd
    large = [2.0**120, -(2.0**122)] if dtype == "float32" else [1e300, -LARGEST]
    tile[some] = rng.choice([INF, -INF, NAN, *large], np.count_nonzero(some))
    sums, scale = np.ones(4), 0.5 if dtype == "float64" else 2.0**200
    far = kernel.add_moments(tile, 2.5, scale, sums)
    finite = [float(x) for x in tile.ravel() if math.isfinite(x)]
    near = [(x - 2.5) * scale for x in finite if abs(x * scale - 2.5 * scale) < TOO_LARGE]
    assert far == max((abs(x / 2 - 1.25) for x in finite if abs(x) > 1e30), default=0.0)
    assert sums[0] == 1 + len(near)
    assert sums[1] == pytest.approx(1 + math.fsum(near), rel=1e-13)
    assert sums[2] == pytest.approx(1 + math.fsum(x * x for x in near), rel=1e-13)
    assert sums[3] == 1 + np.count_nonzero(tile == INF)
