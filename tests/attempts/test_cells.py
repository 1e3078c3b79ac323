"""Cells with exact edges."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import example, given, settings, strategies as st
from strategies import examples_of

from bioeval.attempts.cells import (
    CELLS,
    LEAST_EXPONENT,
    CellGrid,
    cell_exponent,
    cell_of,
    edge_of,
    joint_exponent,
)

INF = math.inf
LARGEST = float(np.finfo(float).max)
TINY = 5e-324

ANY_FLOAT = st.floats(allow_nan=False, allow_infinity=False)
NEAR_FLOATS = st.builds(
    lambda x, k: float(np.float64(x) + k * np.spacing(np.float64(x))),
    st.floats(-1e6, 1e6),
    st.integers(-4, 4),
)
SCORE = st.one_of(
    ANY_FLOAT, NEAR_FLOATS, st.floats(0, 1, width=32), st.integers(-300, 300).map(float)
)


@settings(max_examples=examples_of(300))
@given(SCORE, SCORE)
@example(0.0, 0.0)
@example(TINY, -TINY)
@example(LARGEST, -LARGEST)
@example(1.0, 1.0 + 2**-52)
def test_cells_cover_a_range_in_no_more_than_are_allowed(a, b):
    low, high = min(a, b), max(a, b)
    for cells in (2, 3, 64, CELLS):
        e = cell_exponent(low, high, cells)
        first, last = cell_of(low, e), cell_of(high, e)
        assert last - first < cells
        width = Fraction(2) ** e
        for value, k in ((low, first), (high, last)):
            assert (k - 1) * width < Fraction(value) <= k * width
        finest = max(LEAST_EXPONENT, math.frexp(max(abs(low), abs(high)))[1] - 53)
        if e > finest and (low, high) != (0, 0):  # no finer cells would have done
            assert cell_of(high, e - 1) - cell_of(low, e - 1) >= cells
        grid = CellGrid(e, first, last - first + 1)
        assert cells != CELLS or grid == CellGrid.covering(low, high)
        for place in {0, grid.count - 1, grid.count // 2}:
            k, edge = first + place, edge_of(first + place, e)
            assert Fraction(edge) == k * width if math.isfinite(edge) else k * width > LARGEST
            assert grid.edges[place] == edge and grid.boundaries[place + 1] == edge
        assert grid.boundaries[0] == edge_of(first - 1, e)
        np.testing.assert_array_equal(grid.places_of(np.array([low, high])), [0, last - first])


@settings(max_examples=examples_of(200))
@given(st.lists(SCORE, min_size=2, max_size=6))
def test_a_joint_exponent_is_that_of_the_whole_range(values):
    parts = [sorted(values[:2]), *([x, x] for x in values[2:]), [INF, -INF]]
    exponents = [cell_exponent(*part) for part in parts[:-1]]
    whole = cell_exponent(min(values), max(values))
    assert joint_exponent(max(exponents), [tuple(part) for part in parts]) == whole
    assert joint_exponent(7, [(INF, -INF)]) == 7


@settings(max_examples=examples_of(300))
@given(SCORE, SCORE, SCORE, SCORE)
def test_cells_never_grow_finer_as_the_range_grows(a, b, c, d):
    inner = (min(a, b), max(a, b))
    outer = (min(a, b, c, d), max(a, b, c, d))
    assert cell_exponent(*inner) <= cell_exponent(*outer)


def test_cells_of_infinite_values():
    result = CellGrid(-1022, 0, 1).places_of(np.array([-INF, 0.0, 0.5, 1.0, 1e308, INF]))
    assert result[0] == -INF and result[-1] == INF and result[1] == 0


def test_narrower_cells_cover_the_same_range():
    grid = CellGrid(exponent=-1, first=-3, count=5)
    for bits in range(4):
        narrow = grid.narrower(bits)
        assert narrow.boundaries[[0, -1]].tolist() == grid.boundaries[[0, -1]].tolist()
        assert narrow.edges[(1 << bits) - 1 :: 1 << bits].tolist() == grid.edges.tolist()


def test_cells_are_exact_where_their_numbers_are_whole_numbers_of_the_dtype():
    float32, float64 = np.dtype(np.float32), np.dtype(np.float64)
    assert CellGrid(0, 0, 1000).exact_in(float32)
    for grid in (CellGrid(0, 2**22, 1000), CellGrid(-200, 0, 1000), CellGrid(100, 0, 1000)):
        assert grid.exact_in(float64) and not grid.exact_in(float32)
    assert not CellGrid(0, 2**40, 1000).exact_in(float64)  # numbers are kept in 32 bits
