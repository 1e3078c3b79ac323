"""Cells of scores: where they end, and which cells have the scores of joined parts."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bioeval.counting.cells import BitCells
from bioeval.counting.grids import cell_exponent, joint_exponent
from bioeval.counting.order import rounded_down

NUMBERS = st.floats(-1e6, 1e6, width=32)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("centre", "options", "scores"),
    [
        (0, {}, [-3e4, -1.5, -1e-3, 1e-30, 1e-3, 0.7, 1.0, 3e4]),
        # The centre cancels the edge.
        (1, {"count": 1 << 16}, [-0.0625, -0.001, 0.0, 1e-9, 0.03, 0.999]),
    ],
)
def test_a_cell_ends_at_the_largest_number_that_is_in_it(dtype, centre, options, scores):
    cells = BitCells.spanning(np.dtype(dtype), dtype(centre), **options)
    scores = np.array(scores, dtype=dtype)
    places = cells.cells_of(scores)
    ends = cells.edges(places)
    assert (scores <= ends).all()
    last = rounded_down(ends, cells.dtype)
    assert (cells.cells_of(last) == places).all()
    beyond = rounded_down(np.nextafter(ends, np.inf), cells.dtype)
    assert (cells.cells_of(beyond) > places).all()
    if centre == 0:
        np.testing.assert_array_equal(last, cells.approximate_edges(places))


@given(st.lists(st.tuples(NUMBERS, NUMBERS).map(sorted), min_size=1, max_size=4))
def test_joined_parts_have_the_cells_of_the_whole(ranges):
    largest = max(cell_exponent(low, high) for low, high in ranges)
    low, high = min(x for x, _ in ranges), max(x for _, x in ranges)
    assert joint_exponent(largest, ranges) == cell_exponent(low, high)
