"""Cells of scores: where they end, and which cells have the scores of joined parts."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bioeval.counting.cells import BitCells, cell_exponent, joint_exponent
from bioeval.counting.order import rounded_down

NUMBERS = st.floats(-1e6, 1e6, width=32)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_cell_ends_at_the_largest_number_that_is_in_it(dtype):
    cells = BitCells.spanning(np.dtype(dtype), dtype(0))
    scores = np.array([-3e4, -1.5, -1e-3, 1e-30, 1e-3, 0.7, 1.0, 3e4], dtype=dtype)
    places = cells.cells_of(scores)
    ends = cells.edges(places)
    assert (scores <= ends).all()
    beyond = np.nextafter(ends, np.inf)
    last = rounded_down(ends, cells.dtype)
    np.testing.assert_array_equal(last, cells.approximate_edges(places))  # about 0
    assert (cells.cells_of(last) == places).all()
    assert (cells.cells_of(rounded_down(beyond, cells.dtype)) > places).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_cell_ends_where_it_does_if_the_centre_cancels_the_edge(dtype):
    cells = BitCells.spanning(np.dtype(dtype), dtype(1), count=1 << 16)
    scores = np.array([-0.0625, -0.001, 0.0, 1e-9, 0.03, 0.999], dtype=dtype)
    places = cells.cells_of(scores)
    last = rounded_down(cells.edges(places), cells.dtype)
    assert (cells.cells_of(last) == places).all()
    assert (cells.cells_of(np.nextafter(last, dtype(np.inf))) > places).all()


@given(st.lists(st.tuples(NUMBERS, NUMBERS).map(sorted), min_size=1, max_size=4))
def test_joined_parts_have_the_cells_of_the_whole(ranges):
    largest = max(cell_exponent(low, high) for low, high in ranges)
    low, high = min(x for x, _ in ranges), max(x for _, x in ranges)
    assert joint_exponent(largest, ranges) == cell_exponent(low, high)
