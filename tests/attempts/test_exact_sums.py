"""Sums of floats are exact, and the same in any order and in any parts."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bioeval.attempts.exact_sums import ExactSums

numbers = st.one_of(
    st.floats(-1e9, 1e9),
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e290, max_value=1e290),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0**-60, 1e16, -1e16, 0.1, 2.0**-990, 2.0**960]),
)


def summed(values) -> ExactSums:
    """Return the sum of numbers, added one by one."""
    sums = ExactSums.zeros(1, 1)
    for x in values:
        one = np.array([[x]])
        sums = sums.reaching(one)
        sums.add(one, np.zeros(1, dtype=np.int64))
    return sums


def same(one: ExactSums, other: ExactSums) -> bool:
    return one.exponent == other.exponent and np.array_equal(one.limbs, other.limbs)


@given(st.lists(numbers, max_size=30), st.randoms(use_true_random=False), st.integers(1, 5))
def test_any_order_and_any_parts_give_the_same_bits(values, random, parts):
    expected, shuffled = summed(values), random.sample(values, len(values))
    cuts = sorted(random.randrange(len(values) + 1) for _ in range(parts - 1))
    pieces = [shuffled[a:b] for a, b in zip([0, *cuts], [*cuts, len(values)], strict=True)]
    with ThreadPoolExecutor(3) as threads:
        merged = [*threads.map(summed, pieces)]
    while len(merged) > 1:
        first, second = (merged.pop(random.randrange(len(merged))) for _ in range(2))
        merged.append(first.merge(second))
    assert same(merged[0], expected)
    assert merged[0].values().tobytes() == expected.values().tobytes()


@given(st.lists(numbers, max_size=30))
def test_a_sum_is_that_of_fsum_but_for_the_last_digit(values):
    whole = [x for x in values if abs(x) >= 2.0**-900 or not x]  # of smaller ones, bits are rounded
    result, exact = float(summed(whole).values()[0, 0]), math.fsum(whole)
    assert abs(Fraction(result) - sum(map(Fraction, whole))) <= Fraction(math.ulp(exact))
    assert (result == 0) == (exact == 0)


def test_numbers_are_added_to_the_rows_that_are_named():
    rng = np.random.default_rng(0)
    values, rows = (
        rng.normal(size=(40, 7)) * 10.0 ** rng.integers(-9, 9, (40, 7)),
        np.arange(40) % 4,
    )
    rows[::5] = -1
    sums = ExactSums.zeros(4, 7).reaching(values)
    sums.add(values, rows)
    for row in range(4):
        exact = [math.fsum(column) for column in values[rows == row].T]
        np.testing.assert_allclose(sums.values()[row], exact, rtol=2.0**-52)
    cut = sums[1:3, 2:]
    assert cut.shape == (2, 5)
    np.testing.assert_array_equal(cut.values(), sums.values()[1:3, 2:])


def test_sums_of_chances_are_those_of_fractions():
    rng = np.random.default_rng(1)
    values = np.vstack([rng.random((500, 3)) ** 9, np.ones((20, 3)), np.zeros((5, 3))])
    sums = ExactSums.of_chances(1, 3)
    sums.add(values, np.zeros(len(values), dtype=np.int64))
    rounded = [sum(Fraction(round(Fraction(x) * 2**60), 2**60) for x in c) for c in values.T]
    assert sums.values()[0].tolist() == list(map(float, rounded))
    parts = []
    for part in (values[300:][::-1], values[:300]):
        parts.append(ExactSums.of_chances(1, 3))
        parts[-1].add(np.ascontiguousarray(part), np.zeros(len(part), dtype=np.int64))
    assert same(reduce(ExactSums.merge, parts), sums)


def test_running_sums_are_those_of_fsum():
    values = np.random.default_rng(2).random((50, 1))
    sums = ExactSums.of_chances(50, 1)
    sums.add(values, np.arange(50))
    exact = [math.fsum(values[: k + 1, 0]) for k in range(50)]
    np.testing.assert_allclose(sums.accumulated(axis=0).values()[:, 0], exact, rtol=2.0**-52)


@pytest.mark.parametrize("largest", [np.finfo(np.float64).max, 2.0**1023])
def test_sums_beyond_float64_are_infinite(largest):
    assert summed([largest, largest]).values() == np.inf
    assert summed([-largest, -largest, largest]).values() == -largest


def test_floats_themselves_do_not_add_alike_in_any_order():
    values = [0.1, 0.2, 0.3]
    assert sum(values) != sum(reversed(values))
    assert same(summed(values), summed(reversed(values)))
