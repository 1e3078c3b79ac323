"""What follows from the description of a scalar: rates from counts, means over queries."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bioeval.base.scalars import MATCH_SUMS, VERIFICATION_RATES, MeanOverQueries, Scalar, rates_of
from bioeval.results.query_means import QueryMean

FIRST_RANK = MeanOverQueries(
    "mean rank of the first match", name="mean_first_rank", label="mean first rank",
    of_match=lambda place, rank, number: np.where(place == 1, rank, 0.0),
    of_query=("first_rank", "rank of the first match"), kind="number", decimals=2,
    bounds=(1.0, math.inf), larger_is_better=False,
)  # fmt: skip


def test_rates_follow_from_counts_in_the_order_of_what_they_need():
    wrong = Scalar("impostors among the accepted", name="x", quotient=(("fa",), ("fa", "ga")))
    given = {"ga": np.array([0, 3]), "fa": np.array([0, 1]), "grr": np.array([5.0, 5.0])}
    given |= {"fr": 4 - given["ga"], "gr": 10 - given["fa"]}
    given |= {"genuine_attempts": np.array(4), "impostor_attempts": np.array(10)}
    found = rates_of((*VERIFICATION_RATES, wrong), given)
    assert "grr" not in found  # it is given
    expected = {
        "far": [0, 1 / 10], "gar": [0, 3 / 4], "frr": [1, 1 / 4], "accuracy": [10 / 14, 12 / 14],
        "hter": [1 / 2, 0.175], "x": [math.nan, 1 / 4],
    }  # fmt: skip
    assert {*found} == {*expected}
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-15)


def test_a_mean_that_is_no_proportion_has_bounds_and_no_value_of_unmatched_queries(monkeypatch):
    monkeypatch.setitem(MATCH_SUMS, "mean_first_rank", FIRST_RANK)
    each, matched = np.array([1.0, math.nan, 4.0]), np.array([0, 2])
    skipped, zero = np.array([True, False, True]), np.ones(3, dtype=bool)
    found = QueryMean.of("mean_first_rank", each, skipped, matched, 7)
    assert found.mean == 2.5
    assert found.scalar.bounds == (1.0, 7.0)
    assert found.scalar.scaled(found.values).tolist() == [0, 0.5]
    assert np.isnan(QueryMean.of("mean_first_rank", each, zero, matched, 7).mean)
    assert QueryMean.of("mrr", each, zero, matched, 7).mean == pytest.approx(5 / 3)


def test_a_scalar_that_is_not_in_per_cent_has_decimals():
    with pytest.raises(TypeError, match="x is not in per cent"):
        Scalar("x", name="x", kind="number")
