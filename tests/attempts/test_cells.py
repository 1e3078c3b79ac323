"""Cells with exact edges, and counts in them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import example, given, settings, strategies as st
from strategies import examples_of

from bioeval.attempts.cells import (
    CELLS,
    LEAST_EXPONENT,
    CellCounts,
    CellGrid,
    cell_exponent,
    cell_of,
    edge_of,
    joint_exponent,
)
from bioeval.attempts.counters import ImpostorBlock, ThresholdCounter
from bioeval.attempts.lists import Attempts

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


COUNTED = st.lists(
    st.one_of(SCORE, st.sampled_from([INF, -INF, TINY, -TINY, LARGEST, -LARGEST, -0.0])),
    min_size=1,
    max_size=30,
)


def check_counts(cells: CellCounts, values: list[float]) -> None:
    """Hold the sums of the counts to the scores up to each edge."""
    assert cells.total == len(values)
    infinite = cells.negative_infinite, cells.positive_infinite
    assert infinite == (values.count(-INF), values.count(INF))
    reached = np.append(0, np.cumsum(cells.counts)) + cells.negative_infinite
    edges = cells.grid.boundaries
    expected = np.searchsorted(np.sort(values), edges, side="right")
    finite = np.isfinite(edges)
    np.testing.assert_array_equal(reached[finite], expected[finite])


@settings(max_examples=examples_of(200))
@given(COUNTED)
@example([TINY] * 3 + [0.0] * 2)
@example([LARGEST, -LARGEST, 0.0, TINY, -TINY])
@example([1.0, 1.0 + 2**-52, 1.0 + 2**-51])
@example([2.0**-1022, 2.0**-1021, 2.0**1023])
@example((np.arange(20000) / 8192).tolist())
def test_counts_of_sorted_scores_are_exact_at_every_edge(values):
    cells = Attempts.listed(np.empty(0), np.array(values)).cells
    check_counts(cells, values)
    finite = [x for x in values if math.isfinite(x)]
    if not finite:
        assert cells.range == (INF, -INF) and not len(cells.counts)
        return
    assert cells.exponent == cell_exponent(min(finite), max(finite))
    assert len(cells.counts) <= CELLS and cells.counts[0] > 0 and cells.counts[-1] > 0
    low, high = cells.range
    assert min(finite) <= low and max(finite) <= high
    for exponent in range(cells.exponent, 1023, 101):
        coarse = cells.coarsened(exponent)
        assert coarse.exponent == exponent
        check_counts(coarse, values)
    infinite = cells.negative_infinite, cells.positive_infinite
    wide = np.pad(cells.counts, (0, 3 * CELLS))
    fitted = CellCounts(cells.exponent, cells.first, wide, *infinite).fitted()
    assert (fitted.exponent, fitted.first) == (cells.exponent, cells.first)
    assert fitted.counts.tolist() == cells.counts.tolist()


@settings(max_examples=examples_of(200))
@given(COUNTED, st.lists(SCORE, min_size=1, max_size=12))
def test_counts_between_given_thresholds_are_exact(values, thresholds):
    with np.errstate(over="ignore"):
        near = [float(np.nextafter(t, INF)) for t in thresholds[:3]]
    exact = np.array(sorted({t + 0.0 for t in [*thresholds, *near]}))
    counter, rows = ThresholdCounter(exact), np.full((3, 10), np.nan)
    rows.ravel()[: len(values)] = values
    counter.add(ImpostorBlock.of_rows(rows))
    expected = np.searchsorted(np.sort(values), exact, side="right")
    assert np.cumsum(counter.counts)[:-1].tolist() == expected.tolist()
    assert counter.counts.sum() == len(values)
    by_row = counter.by_row(rows, *np.zeros((2, 3), dtype=np.int64))
    assert by_row.sum(axis=0).tolist() == counter.counts.tolist()
