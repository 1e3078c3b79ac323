"""Counts: exact at every cell edge, and in cells that merge."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from strategies import examples_of
from twins import one_thread  # noqa: F401

from bioeval.attempts.cells import cell_exponent
from bioeval.attempts.counters import CellCounter, ImpostorBlock, ThresholdCounter
from bioeval.attempts.counts import CellCounts

INF = math.inf
LARGEST = float(np.finfo(float).max)

# Scores of every size: neighbours, denormals, both zeros, the ends of the floats, infinities.
VALUES = [
    0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 1e-300, 0.1, 0.1 + 2**-56, 0.1 - 2**-56, 0.25, 0.5,
    1.0, -1.0, 1.0 + 2**-52, 3.0, -7.5, 1e10, 1e300, LARGEST, -LARGEST, INF, -INF,
]  # fmt: skip
SCORE = st.one_of(
    st.sampled_from(VALUES),
    st.floats(allow_nan=False),
    st.floats(-1, 1),
    st.integers(-50, 50).map(float),
)
COUNTED = st.lists(SCORE, max_size=30)


# ------------------------------------------------------------------------------- counting cells


def rows_of(
    values: list[float], data: Any, with_mates: bool = True
) -> list[tuple[np.ndarray, ...]]:
    """Spread scores over blocks of rows, beside genuine ones and NaN that must not count."""
    parts = []
    rest = list(values)
    while rest:
        cut = data.draw(st.integers(1, len(rest)))
        part, rest = rest[:cut], rest[cut:]
        rows = data.draw(st.integers(1, 3))
        width = -(-len(part) // rows)
        block = np.full((rows, width + 3), np.nan)
        starts = np.zeros(rows, dtype=np.int64)
        for i in range(rows):
            row = part[i * width : (i + 1) * width]
            starts[i] = data.draw(st.integers(0, len(row)))
            line = [*row[: starts[i]], 0.3, -1e200, *row[starts[i] :]]
            block[i, : len(line)] = line
        parts.append((block, starts, starts + 2))
    return parts


def counted(values: list[float], data: Any) -> CellCounts:
    counter = CellCounter()
    for part in rows_of(values, data):
        counter.add(ImpostorBlock(*part))
    return counter.cells


def edges_of(cells: CellCounts) -> np.ndarray:
    """Every finite cell edge, and a little beyond the ends."""
    numbers = range(cells.first - 2, cells.first + len(cells.counts) + 2)
    width = Fraction(2) ** cells.exponent
    if width <= 1 and max(map(abs, numbers)) < 2**53:  # exact in float64 at once
        return np.array(numbers) * float(width)
    edges = [k * width for k in numbers]
    return np.array([float(x) for x in edges if abs(x) <= LARGEST], dtype=np.float64)


def at_most(values: list[float], thresholds: np.ndarray) -> list[int]:
    return [sum(x <= t for x in values) for t in thresholds.tolist()]


def assert_counts(cells: CellCounts, values: list[float]) -> None:
    """Hold the counts to the scores at every edge that a score is near, and at the ends."""
    finite = [x for x in values if math.isfinite(x)]
    assert cells.total == len(values)
    assert cells.counts.dtype == np.int64 and (cells.counts >= 0).all()
    assert cells.negative_infinite == values.count(-INF)
    assert cells.positive_infinite == values.count(INF)
    if finite:
        assert cells.exponent == cell_exponent(min(finite), max(finite))
        assert len(cells.counts) <= 8192 and cells.counts[0] > 0 and cells.counts[-1] > 0
        low, high = cells.range  # the upper edges of the first and of the last cell
        width = Fraction(2) ** cells.exponent
        assert Fraction(low) - width < Fraction(min(finite)) <= Fraction(low)
        assert Fraction(high) - width < Fraction(max(finite)) <= Fraction(high)
    else:
        assert cells.range == (INF, -INF) and not len(cells.counts)
    edges = edges_of(cells)
    near = np.searchsorted(edges, finite)  # the edge above each score, and its neighbours
    kept = np.unique(np.clip(np.concatenate([near - 1, near, near + 1, [0]]), 0, len(edges) - 1))
    # Counts are exact at edges, beyond the ends of the range, and at the infinities.
    beyond = [-LARGEST / 2, LARGEST / 2] if all(abs(x) < LARGEST / 4 for x in finite) else []
    thresholds = np.array([-INF, *edges[kept.astype(int)], *finite[-1:], *beyond, INF])
    if finite:
        thresholds[-2 - len(beyond)] = max(finite)
    expected = np.searchsorted(np.sort(values), thresholds, side="right")
    np.testing.assert_array_equal(cells.at_most(thresholds), expected)


def same_counts(a: CellCounts, b: CellCounts) -> None:
    assert (a.exponent, a.first) == (b.exponent, b.first)
    assert (a.negative_infinite, a.positive_infinite) == (b.negative_infinite, b.positive_infinite)
    np.testing.assert_array_equal(a.counts, b.counts)


@pytest.mark.slow
@settings(max_examples=examples_of(200))
@given(st.data(), COUNTED)
@example(None, [])
def test_cell_counts_are_exact_at_every_edge(data, values):
    cells = counted(values, data) if values else CellCounter().cells
    assert_counts(cells, values)


@pytest.mark.parametrize(
    "values",
    [
        [5e-324] * 3 + [0.0] * 2,
        [-5e-324, 5e-324, -0.0],
        [LARGEST, -LARGEST, 0.0, 5e-324, -5e-324],
        [1.0, 1.0 + 2**-52, 1.0 + 2**-51],
        [-1.0, -1.0 - 2**-52],
        [2.0**-1022, 2.0**-1021, 2.0**1023],
        [0.5, INF, INF, -INF],
        [INF],
        np.linspace(-1, 1, 777).tolist(),
        (np.arange(20000) / 8192).tolist(),
        np.random.default_rng(1).normal(size=2000).tolist(),
        (10.0 ** np.arange(-307, 308)).tolist(),
    ],
    ids=lambda values: f"{len(values)} from {values[0]:g}",
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.cases(1)
def test_cell_counts_of_whole_ranges(values, dtype):
    with np.errstate(over="ignore"):
        block = np.array([values], dtype=dtype)
    counter = CellCounter()
    counter.add(ImpostorBlock.of_listed(block[0]))
    assert_counts(counter.cells, block[0].astype(float).tolist())


@pytest.mark.slow
@settings(max_examples=examples_of(150))
@given(st.data(), COUNTED, st.integers(0, 2**32 - 1))
def test_cells_merge_into_those_of_the_whole_in_any_way(data, values, seed):
    if not values:
        return
    whole = counted(values, data)
    rng = np.random.default_rng(seed)
    number = data.draw(st.integers(1, 5))
    part_of = rng.integers(0, number, len(values))
    parts = [
        counted([x for x, p in zip(values, part_of, strict=True) if p == i], data)
        for i in range(number)
    ]
    left = CellCounts()
    for part in parts:
        left = left.merge(part)
    right = CellCounts()
    for i in rng.permutation(number):
        right = parts[i].merge(right)
    pairs = [a.merge(b) for a, b in zip(parts[::2], [*parts[1::2], CellCounts()], strict=False)]
    for merged in (left, right, whole.merge(CellCounts()), CellCounts().merge(whole)):
        same_counts(merged, whole)
    tree = pairs[0]
    for pair in pairs[1:]:
        tree = tree.merge(pair)
    same_counts(tree, whole)


def test_coarser_cells_keep_every_score():
    cells = CellCounter()
    values = [-1.5, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0]
    cells.add(ImpostorBlock.of_listed(np.array(values)))
    fine = cells.cells
    for exponent in range(fine.exponent, 1023, 7):
        coarse = fine.coarsened(exponent)
        assert (coarse.total, coarse.exponent) == (7, exponent)
        assert coarse.counts[0] > 0 and coarse.counts[-1] > 0
        edges = edges_of(coarse)
        np.testing.assert_array_equal(coarse.at_most(edges), at_most(values, edges))
    same_counts(fine.coarsened(fine.exponent), fine)
    empty = CellCounts(negative_infinite=2)
    same_counts(empty.coarsened(5), empty)


@settings(max_examples=examples_of(200))
@given(st.data(), COUNTED, st.lists(SCORE, min_size=1, max_size=12))
def test_counts_between_given_thresholds_are_exact(data, values, thresholds):
    with np.errstate(over="ignore"):
        near = [float(np.nextafter(t, INF)) for t in thresholds[:3]]
    exact = np.array(sorted({t + 0.0 for t in [*thresholds, *near]}))
    counter = ThresholdCounter(exact)
    for part in rows_of(values, data) if values else []:
        counter.add(ImpostorBlock(*part))
    counts = counter.result()
    assert counts.total == len(values)
    np.testing.assert_array_equal(counts.at_most(exact), at_most(values, exact))
    part = data.draw(st.sampled_from([exact[:1], exact[-1:], exact[::2]]))
    np.testing.assert_array_equal(counts.at_most(part), at_most(values, part))
