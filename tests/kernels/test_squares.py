"""The kernels of tiles that serve two sides against plain loops (see ``test_kernels.py``)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bioeval.kernels.fuse import nearest_in_layers, nearest_of_row_layers
from bioeval.kernels.ranks import rank_columns, rank_rows
from bioeval.kernels.squares import Excluded, Mates, leave_out_subjects, take_mates

NAN = np.nan
POOL = [0.0, 0.25, 0.3, 0.5, 0.75, 1.0, 1.4, np.inf]  # few, so that most are tied
#: Templates of each subject, the one with most of them first: alone, equal, unequal.
SIZES = [(1,), (5,), (1, 1, 1), (3, 2, 1), (5, 4, 3, 1, 1), (1,) * 20, (7, *(2,) * 9)]

each_dtype = pytest.mark.parametrize("dtype", ["float64", "float32"])


@pytest.fixture(autouse=True)
def _comparisons():
    """Without the compiler, differences of infinities and of NaN are no error."""
    with np.errstate(invalid="ignore"):
        yield


@each_dtype
@pytest.mark.parametrize("seed", range(14))
@pytest.mark.cases(14)
def test_take_mates(seed, dtype):
    """Of each row: its genuine scores, the best one, where it stands, and how many are as close."""
    rng = np.random.default_rng(seed)
    h, w = 1 + seed, 1 + (5 * seed) % 13
    of_rows, of_columns = rng.integers(-1, 4, h), rng.integers(0, 5, w)
    tile = rng.choice(POOL, (h + 2, w + 1)).astype(dtype)
    places, itself = rng.permutation(30)[:w], rng.integers(-3, w + 2, h)
    number = seed % 3  # of columns of metadata that leave out
    differs = rng.random(number) < 0.3
    codes = rng.integers(0, 3, (number, h)), rng.integers(0, 3, (number, w))
    excluded = Excluded(*codes, differs)
    offsets, genuine = np.arange(h) * w, np.full(h * w, -1, dtype=dtype)
    columns = np.full(h * w, -1)
    best = np.full(h, NAN, dtype=dtype)
    mates = Mates(offsets, genuine, columns, best, *np.zeros((3, h), dtype=np.int64))
    before = tile.copy()
    take_mates(tile, 100, of_rows, of_columns, places, itself, excluded, mates)
    np.testing.assert_array_equal(tile, before)
    for i in range(h):
        mine = [
            j
            for j in range(w)
            if of_columns[j] == of_rows[i]
            and j != itself[i]
            and not any((codes[0][c, i] == codes[1][c, j]) != differs[c] for c in range(number))
        ]
        some, rest = slice(i * w, i * w + len(mine)), slice(i * w + len(mine), (i + 1) * w)
        scores = tile[i, mine].tolist()
        assert genuine[some].tolist() == scores and (genuine[rest] == -1).all()
        assert columns[some].tolist() == [100 + j for j in mine] and (columns[rest] == -1).all()
        nearest = min(scores, default=NAN)
        np.testing.assert_equal(float(mates.best[i]), nearest)
        ties = [int(places[j]) for j, x in zip(mine, scores, strict=True) if x == nearest]
        assert (mates.number[i], mates.tied[i]) == (len(mine), len(ties))
        assert mates.best_place[i] == min(ties, default=0)


@pytest.mark.parametrize("mirrored", [False, True])
def test_leave_out_subjects(mirrored):
    rng = np.random.default_rng(1)
    of_rows, of_columns = rng.integers(-1, 3, 7), rng.integers(0, 3, 7)
    tile = rng.random((9, 8))
    before = tile.copy()
    leave_out_subjects(tile, of_rows, of_columns, NAN, mirrored)
    for i in range(9):
        for j in range(8):
            expected = before[j, i] if mirrored and j < i < 7 else before[i, j]
            if i < 7 and j < 7 and of_rows[i] == of_columns[j]:
                expected = NAN
            np.testing.assert_equal(tile[i, j], expected)


def with_gaps(rng: np.random.Generator, shape: tuple[int, int], dtype: str) -> np.ndarray:
    tile = rng.choice(POOL, shape).astype(dtype)
    tile[rng.random(shape) < 0.2] = NAN
    return tile


@each_dtype
@pytest.mark.parametrize("width", [0, 1, 16, 37])
@pytest.mark.parametrize("columns", [False, True])
def test_ranks_of_rows_and_of_columns(dtype, width, columns):
    """Scores closer than the best mate of a probe, those up to it, all, and the least."""
    rng = np.random.default_rng(width)
    lines = with_gaps(rng, (6, width), dtype)
    best = rng.choice([*POOL, NAN], 6).astype(dtype)
    counts = rng.integers(0, 9, (3, 6)).astype(np.int32)
    other = rng.choice([0.1, 0.6, np.inf], 6).astype(dtype)
    expected = counts.copy(), other.copy()
    tile = np.ascontiguousarray(lines.T) if columns else lines
    (rank_columns if columns else rank_rows)(tile, best, *counts, other)
    for i, line in enumerate(lines.tolist()):
        scores = [x for x in line if not math.isnan(x)]
        expected[0][0, i] += sum(x < best[i] for x in scores)
        expected[0][1, i] += sum(x <= best[i] for x in scores)
        expected[0][2, i] += len(scores)
        expected[1][i] = min([expected[1][i], *scores])
    np.testing.assert_array_equal(counts, expected[0])
    np.testing.assert_array_equal(other, expected[1])


@each_dtype
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_the_nearest_of_templates_in_layers(sizes, dtype):
    """The first template of each subject, then the second of each that has one, and so on."""
    rng = np.random.default_rng(len(sizes))
    layers = [sum(size > k for size in sizes) for k in range(max(sizes))]
    starts = np.cumsum([0, *layers])
    lines = with_gaps(rng, (4, sum(sizes)), dtype)
    expected = np.full((4, len(sizes)), NAN, dtype=dtype)
    for i in range(4):
        for g, size in enumerate(sizes):
            scores = [lines[i, starts[k] + g] for k in range(size)]
            expected[i, g] = min((x for x in scores if not np.isnan(x)), default=NAN)
    nearest = np.empty_like(expected)
    nearest_in_layers(lines, np.array(layers), nearest)
    np.testing.assert_array_equal(nearest, expected)
    turned = np.empty((len(sizes), 4), dtype=dtype)
    nearest_of_row_layers(np.ascontiguousarray(lines.T), np.array(layers), turned)
    np.testing.assert_array_equal(turned.T, expected)
