"""Limits of all differences together, ranks and letters, against plain loops."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import norm, t
from strategies import examples_of

from bioeval.base.random import seed_sequence
from bioeval.stats.simultaneous import (
    Differences,
    drawn_deviations,
    jackknife_errors,
    letter_sets,
    normal_draws,
)

SEED = seed_sequence(3)


def plain_error(without, i, j):
    """Return the jackknife's standard error of a difference."""
    d = [x - y for x, y in zip(without[i], without[j], strict=True)]
    n, mean = len(d), sum(d) / len(d)
    return math.sqrt((n - 1) / n * sum((x - mean) ** 2 for x in d))


def plain_largest(without, normal, pairs):
    """Return the largest of |sum_a xi_a u_a| over pairs in each draw, u of length 1."""
    largest = []
    for b in range(normal.shape[1]):
        values = []
        for i, j in pairs:
            d = [x - y for x, y in zip(without[i], without[j], strict=True)]
            mean = sum(d) / len(d)
            length = math.sqrt(sum((x - mean) ** 2 for x in d))
            values.append(abs(sum(normal[a, b] * (d[a] - mean) / length for a in range(len(d)))))
        largest.append(max(values))
    return largest


@st.composite
def leaving_out(draw):
    """Values of systems, with each person and without each."""
    k, n = draw(st.integers(2, 5)), draw(st.integers(3, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.uniform(size=k), rng.uniform(size=(k, n))


@settings(max_examples=examples_of(30))
@given(leaving_out(), st.sampled_from([0.9, 0.95]))
def test_limits_are_those_of_plain_loops(case, confidence):
    values, without = case
    k, n = without.shape
    normal = normal_draws(n, SEED)[:, :200]
    made = Differences.of(
        values,
        drawn_deviations(without, normal),
        np.ones((k, k), dtype=bool),
        confidence,
        n - 1,
        spread=jackknife_errors(without),
    )
    pairs = list(itertools.combinations(range(k), 2))
    quantile = np.quantile(plain_largest(without, normal, pairs), confidence)
    if len(pairs) == 1:
        quantile = norm.ppf(0.5 + confidence / 2)
    quantile = t.ppf(norm.cdf(quantile), n - 1)
    for i, j in pairs:
        error = plain_error(without, i, j)
        difference = values[i] - values[j]
        half = quantile * error
        np.testing.assert_allclose(made.low[i, j], difference - half)
        np.testing.assert_allclose(made.high[i, j], difference + half)
        np.testing.assert_allclose(made.low[j, i], -difference - half)
        assert made.larger[i, j] == int(difference > half) - int(difference < -half)
        if len(pairs) == 1:
            assert (made.p[i, j] < 1 - confidence) == (abs(difference) > half)


def test_that_the_draws_have_the_variance_of_the_jackknife():
    without = np.random.default_rng(1).uniform(size=(3, 12))
    drawn = drawn_deviations(without, np.random.default_rng(1).normal(size=(12, 40_000)))
    errors = jackknife_errors(without)
    for i, j in itertools.combinations(range(3), 2):
        assert (drawn[i] - drawn[j]).std() == pytest.approx(errors[i, j], rel=0.02)
        assert errors[i, j] == pytest.approx(plain_error(without, i, j))


def test_that_limits_of_many_are_wider_than_those_of_a_pair():
    rng = np.random.default_rng(2)
    without = rng.uniform(size=(6, 20))
    values = rng.uniform(size=6)
    normal = normal_draws(20, SEED)

    def width(systems):
        made = Differences.of(
            values[systems],
            drawn_deviations(without[systems], normal),
            np.ones((len(systems), len(systems)), dtype=bool),
            0.95,
            19,
            spread=jackknife_errors(without[systems]),
        )
        return made.high[0, 1] - made.low[0, 1]

    assert width([0, 1]) < width([0, 1, 2]) < width(list(range(6)))


def test_that_pairs_that_cannot_be_compared_are_not_told_apart():
    values = np.array([0.1, 0.9, np.nan, 0.1])
    drawn = np.random.default_rng(3).normal(scale=0.01, size=(4, 500))
    drawn -= drawn.mean(axis=1, keepdims=True)
    drawn[2] = np.nan
    drawn[3] = drawn[0]  # always the same
    comparable = ~np.eye(4, dtype=bool)
    made = Differences.of(values, drawn, comparable, 0.95, 30)
    assert made.larger[0, 1] == -1 and made.larger[1, 0] == 1
    assert np.isnan(made.low[0, [2, 3]]).all() and not made.larger[:, 2].any()
    assert made.larger[3, 0] == 0 and np.isnan(made.p[3, 0])
    comparable[0, 1] = comparable[1, 0] = False
    assert Differences.of(values, drawn, comparable, 0.95, 30).larger[0, 1] == 0
    rank, first, last = made.ranks(larger_is_better=False)
    np.testing.assert_array_equal(rank, [1, 3, np.nan, 1])
    np.testing.assert_array_equal(first, [1, 3, np.nan, 1])
    np.testing.assert_array_equal(last, [2, 3, np.nan, 2])
    assert made.letters([0, 3, 1]) == ["a", "b", "", "a"]


@st.composite
def relations(draw):
    k = draw(st.integers(1, 6))
    differ = np.zeros((k, k), dtype=bool)
    for i, j in itertools.combinations(range(k), 2):
        differ[i, j] = differ[j, i] = draw(st.booleans())
    return differ, draw(st.permutations(range(k)))


def covers(sets, differ):
    """Say whether two share a set where they do not differ, and only there."""
    k = len(differ)
    return all(
        any(i in x and j in x for x in sets) == (not differ[i, j])
        for i in range(k)
        for j in range(k)
    )


@settings(max_examples=examples_of(150))
@given(relations())
def test_letters_are_shared_where_systems_cannot_be_told_apart(case):
    differ, order = case
    sets = letter_sets(differ, order)
    assert covers(sets, differ)
    assert order[0] in sets[0]
    for left_out in range(len(sets)):  # none is superfluous
        assert not covers(sets[:left_out] + sets[left_out + 1 :], differ)


def test_that_overlapping_neighbours_have_the_fewest_letters():
    k = 30
    place = np.arange(k)
    differ = np.abs(place[:, None] - place) > 4
    sets = letter_sets(differ, range(k))
    assert sets == [tuple(range(i, i + 5)) for i in range(k - 4)]
