"""Tests and limits of all differences together, ranks and letters, against plain loops."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import norm, t
from strategies import examples_of

from bioeval.stats.simultaneous import Differences, letter_sets


def plain_difference(one, other):
    """Return the difference of two systems, its standard error, and the degrees of freedom."""
    differences = [x - y for x, y in zip(one[1:], other[1:], strict=True)]
    n, mean = len(differences), sum(differences) / len(differences)
    squares = [(x - mean) ** 2 for x in differences]
    varies = sum(x**2 for x in squares) - sum(squares) ** 2 / n
    freedom = min(2 * sum(squares) ** 2 / varies, n - 1) if varies > 0 else n - 1
    return one[0] - other[0], math.sqrt((n - 1) / n * sum(squares)), max(freedom, 1)


def plain_holm(p, level):
    """Return which hypotheses are rejected: from the smallest p-value on, while it is small."""
    rejected = [False] * len(p)
    for step, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if p[i] > level / (len(p) - step):
            break
        rejected[i] = True
    return rejected


@st.composite
def leaving_out(draw):
    """Values of systems, and the values without each person."""
    k, n = draw(st.integers(2, 5)), draw(st.integers(3, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.uniform(size=(k, 1)) + np.column_stack(
        [np.zeros(k), draw(st.sampled_from([0.01, 0.1])) * rng.normal(size=(k, n))]
    )


@settings(max_examples=examples_of(60))
@given(leaving_out(), st.sampled_from([0.9, 0.95]), st.booleans())
def test_limits_and_tests_are_those_of_plain_loops(columns, confidence, again):
    k = len(columns)
    drawn = np.random.default_rng(k).normal(size=(k, 50)) if again else None
    result = Differences.from_columns(columns, np.ones((k, k), dtype=bool), confidence, drawn=drawn)
    pairs = list(itertools.combinations(range(k), 2))
    p_values = []
    for i, j in pairs:
        away, error, freedom = plain_difference(columns[i], columns[j])
        below = above = error
        if again:
            drawn_difference = drawn[i] - drawn[j]
            ends = np.quantile(drawn_difference, [(1 - confidence) / 2, (1 + confidence) / 2])
            normal = norm.ppf((1 + confidence) / 2)
            below, above = (away - ends[0]) / normal, (ends[1] - away) / normal
            below, above = (max(x, np.std(drawn_difference, ddof=1)) for x in (below, above))
        times = t.ppf(1 - (1 - confidence) / 2 / len(pairs), freedom)
        np.testing.assert_allclose(result.low[i, j], away - times * below)
        np.testing.assert_allclose(result.high[i, j], away + times * above)
        np.testing.assert_allclose(result.low[j, i], -away - times * above)
        p_values.append(2 * t.sf(abs(away) / (below if away > 0 else above), freedom))
    for (i, j), rejected in zip(pairs, plain_holm(p_values, 1 - confidence), strict=True):
        sign = 1 if columns[i, 0] > columns[j, 0] else -1
        assert result.larger[i, j] == sign * rejected == -result.larger[j, i]
        assert (result.p[i, j] <= 1 - confidence) == rejected


def test_that_pairs_that_cannot_be_compared_are_not_told_apart():
    columns = np.array([0.1, 0.9, np.nan, 0.1])[:, None] + np.zeros(31)
    columns[:, 1:] += np.random.default_rng(3).normal(scale=0.001, size=(4, 30))
    columns[3] = columns[0]  # always the same
    comparable = ~np.eye(4, dtype=bool)
    result = Differences.from_columns(columns, comparable, 0.95)
    assert result.larger[0, 1] == -1 and result.larger[1, 0] == 1
    assert np.isnan(result.low[0, [2, 3]]).all() and not result.larger[:, 2].any()
    assert result.larger[3, 0] == 0 and np.isnan(result.p[3, 0])
    rank, first, last = result.ranks(larger_is_better=False)
    np.testing.assert_array_equal(rank, [1, 3, np.nan, 1])
    np.testing.assert_array_equal(first, [1, 3, np.nan, 1])
    np.testing.assert_array_equal(last, [2, 3, np.nan, 2])
    assert result.letters([0, 3, 1]) == ["a", "b", "", "a"]
    comparable[0, 1] = comparable[1, 0] = False
    assert Differences.from_columns(columns, comparable, 0.95).larger[0, 1] == 0


def test_that_nobody_left_out_and_too_few_replicates_give_no_limits():
    together = np.ones((2, 2), dtype=bool)
    alone = np.array([[0.1], [0.9]])
    assert np.isnan(Differences.from_columns(alone, together, 0.95).p).all()
    columns = np.array([[0.1, 0.0, 0.1, 0.2], [0.9, 0.7, 0.9, 0.8]])
    drawn = np.array([[0.1, np.nan, np.nan], [0.9, np.nan, 0.8]])
    assert np.isnan(Differences.from_columns(columns, together, 0.95, drawn=drawn).p).all()
    assert np.isfinite(Differences.from_columns(columns, together, 0.95).p[0, 1])


def test_limits_end_at_the_largest_possible_difference():
    columns = np.array([[0.1, 0.0, 0.9, 0.2], [0.9, 0.1, 0.2, 0.8]])
    result = Differences.from_columns(columns, np.ones((2, 2), dtype=bool), 0.95, widest=1.0)
    assert (result.low[0, 1], result.high[0, 1]) == (-1, 1)
    assert result.difference[0, 1] == pytest.approx(-0.8)


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
