"""The kernels of folds by tiles against plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from twins import one_thread  # noqa: F401

from bioeval.attempts.cells import CellGrid, cell_of
from bioeval.kernels.folds import (
    FEW,
    FoldTables,
    KeptCells,
    PlacedCells,
    count_placed,
    find_tile_cells,
)
from bioeval.kernels.tiles import fuse_tile

GRID = CellGrid(-3, 0, 12)  # up to 1.25; the first and the last cell are open
EDGE = float(GRID.edges[-2])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("share", [0.02, 0.5, 1.0])
@pytest.mark.parametrize("top", [EDGE, math.inf, 0.125])
@pytest.mark.parametrize("limits", [(0.125, 0.5), (-math.inf, 0.25), (math.inf, -math.inf)])
@pytest.mark.parametrize("width", [1, 3 * FEW, 5 * FEW + 3])
@pytest.mark.cases(20)
def test_find_tile_cells(dtype, share, top, limits, width):
    """Scores up to the top with their cells; those in the window; the ends of all."""
    rng = np.random.default_rng(width)
    shape = height, _ = 7, width + 4
    near = rng.integers(0, 24, shape) / 16  # half of them at an edge
    values = np.where(rng.random(shape) < share, near, rng.choice([3.0, 1e9, np.inf], shape))
    values = values.astype(dtype)
    values[rng.random(shape) < 0.1] = np.nan
    values[:, width:] = np.nan
    keys = values.view(dtype.replace("float", "int"))
    rows, positions = (rng.permutation(99)[:n].astype(np.int32) for n in (height, width))
    room, begun = height * width + 1, 5
    placed = PlacedCells(
        *np.full((2, room + begun), -1, dtype=np.int32), np.full(room + begun, 77, dtype=np.uint16)
    )
    kept = KeptCells(
        np.array(limits, dtype=dtype), np.empty(room, dtype), *np.empty((2, room), dtype=np.int32)
    )
    number, number_kept, missing, least, largest = find_tile_cells(
        values, keys, rows, positions, GRID.window(values.dtype), values.dtype.type(top), begun,
        placed, kept, np.array(np.inf, dtype=dtype).view(keys.dtype)[()],
    )  # fmt: skip
    expected, inside, finite, failed = [], [], [], 0
    for i in range(height):
        for p in range(width):
            x = float(values[i, p])
            failed += math.isnan(x)
            if math.isfinite(x):
                finite.append(x)
            if x <= top:
                k = 11 if math.isinf(x) else min(max(cell_of(x, -3), 0), 11)
                expected.append((rows[i], positions[p], k))
                if limits[0] < x <= limits[1]:
                    inside.append((x, rows[i], positions[p]))
    assert (placed.cells[:begun] == 77).all()
    found = zip(*(x[begun:number] for x in placed), strict=True)
    assert sorted(tuple(map(int, x)) for x in found) == sorted(tuple(map(int, x)) for x in expected)
    found = zip(*(x[:number_kept] for x in kept[1:]), strict=True)
    assert sorted(tuple(map(float, x)) for x in found) == sorted(
        tuple(map(float, x)) for x in inside
    )
    assert missing == failed
    if finite:
        ends = np.array([least, largest], dtype=keys.dtype).view(dtype).tolist()
        assert ends == [min(finite), max(finite)]


@pytest.mark.parametrize("number", [0, 1, 40, 41])
def test_count_placed(number):
    """Each score in one cell of each table: by both folds, by one of them, or within folds."""
    rng = np.random.default_rng(number)
    width = 5
    rows, positions = rng.integers(0, 9, (2, number)).astype(np.int32)
    cells = rng.integers(0, width, number).astype(np.uint16)
    folds = [rng.integers(0, 3, (2, 9)), rng.integers(0, 4, (2, 9))]
    shapes = [(0, 3, 3, False), (1, 4, 1, False), (1, 1, 4, False), (1, 4, 1, True)]
    layout, begin, expected = [], 0, []
    for part, f, g, within in shapes:
        layout.append((part, begin, g * width * (f > 1), width * (g > 1), within))
        begin += f * g * width
        table = np.zeros((f, g, width), dtype=int)
        probe, gallery = folds[part]
        for row, position, cell in zip(rows, positions, cells, strict=True):
            a, b = probe[row], gallery[position]
            if not within or a == b:
                table[a if f > 1 else 0, b if g > 1 else 0, cell] += 1
        expected.append(table.reshape(-1))
    tables = FoldTables(
        *(np.array([both[side] for both in folds], dtype=np.int32) for side in (0, 1)),
        np.array(layout, dtype=np.int64),
        np.zeros(begin, dtype=np.int32),
    )
    count_placed(number, PlacedCells(rows, positions, cells), tables)
    assert tables.counts.tolist() == np.concatenate(expected).tolist()


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("turn", [0, -1])
def test_fuse_tile(both, turn):
    """The least, or the largest, score of each subject, whose templates are in layers."""
    rng = np.random.default_rng(1)
    layers = [np.array([3, 2, 1]), np.array([4, 4, 1])]
    tile = rng.random((8, 12))
    fused = np.full((2, 60), -1.0)
    fuse_tile(
        tile.view(np.int64), 6, 9, (layers[0] if both else layers[0][:0], layers[1]),
        fused.view(np.int64), np.int64(turn),
    )  # fmt: skip
    chosen = min if turn == 0 else max

    def templates(sizes, subject):
        starts = [0, *np.cumsum(sizes)]
        return [starts[k] + subject for k in range(len(sizes)) if subject < sizes[k]]

    of_rows = [[chosen(tile[i, templates(layers[1], g)]) for g in range(4)] for i in range(6)]
    assert fused[0, : 6 * 4].reshape(6, 4).tolist() == of_rows
    of_columns = [[chosen(tile[templates(layers[0], g), j]) for j in range(9)] for g in range(3)]
    assert not both or fused[1, : 3 * 9].reshape(3, 9).tolist() == of_columns
