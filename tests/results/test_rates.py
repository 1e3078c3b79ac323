"""Rates follow from counts by their descriptions; some means count queries without a match."""

import math

import numpy as np
import pytest

from bioeval.results.dataset import rates_of
from bioeval.results.query_means import QueryMean
from bioeval.results.variables import Variable, rates_of_folds


def test_rates_follow_from_counts_in_the_order_of_what_they_need():
    wrong = Variable("impostors among the accepted", name="x", quotient=(("fa",), ("fa", "ga")))
    given = {"ga": np.array([0, 3]), "fa": np.array([0, 1]), "grr": np.array([5.0, 5.0])}
    given |= {"fr": 4 - given["ga"], "gr": 10 - given["fa"]}
    given |= {"genuine_attempts": np.array(4), "impostor_attempts": np.array(10)}
    found = rates_of((wrong, *rates_of_folds()), given)
    assert "grr" not in found  # it is given
    expected = {
        "far": [0, 1 / 10], "gar": [0, 3 / 4], "frr": [1, 1 / 4], "accuracy": [10 / 14, 12 / 14],
        "hter": [1 / 2, 0.175], "x": [math.nan, 1 / 4],
    }  # fmt: skip
    assert {*found} == {*expected}
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-15)


def test_a_query_without_a_match_counts_as_0_where_it_is_counted():
    each, matched = np.array([1.0, math.nan, 0.5]), np.array([0, 2])
    skipped, zero = np.array([True, False, True]), np.ones(3, dtype=bool)
    assert QueryMean(skipped, matched, each[matched]).mean == 0.75
    mean = QueryMean(zero, matched, each[matched])
    assert mean.mean == pytest.approx(0.5)
    np.testing.assert_array_equal(mean.each, each)
