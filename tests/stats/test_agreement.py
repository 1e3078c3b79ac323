"""Agreement of measures with ratings, held to plain loops and to the definition of its limits."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from named_arguments import raises_about

import bioeval as be


def naive_kendall(x: list[float], y: list[float]) -> float:
    """tau-b, pair by pair."""
    score = tied_x = tied_y = pairs = 0
    for i, j in itertools.combinations(range(len(x)), 2):
        a, b = np.sign(x[i] - x[j]), np.sign(y[i] - y[j])
        score, pairs = score + a * b, pairs + 1
        tied_x, tied_y = tied_x + (a == 0), tied_y + (b == 0)
    return score / math.sqrt((pairs - tied_x) * (pairs - tied_y))


def naive_pearson(x: list[float], y: list[float]) -> float:
    mx, my = sum(x) / len(x), sum(y) / len(y)
    of = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    return of / math.sqrt(sum((a - mx) ** 2 for a in x) * sum((b - my) ** 2 for b in y))


def naive_ranks(x: list[float]) -> list[float]:
    return [sum(b < a for b in x) + (sum(b == a for b in x) + 1) / 2 for a in x]


few = st.integers(0, 4).map(float)


@given(st.integers(5, 9).flatmap(lambda n: st.tuples(
    st.lists(few, min_size=n, max_size=n), st.lists(few, min_size=n, max_size=n)
)))  # fmt: skip
def test_coefficients_are_those_of_the_twin(both):
    x, y = both
    found = be.stats.rank_agreement({"m": x}, y).isel(measure=0)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert all(np.isnan(found[name]) for name in ("spearman", "kendall", "pearson_low"))
        return
    expected = {
        "pearson": naive_pearson(x, y),
        "kendall": naive_kendall(x, y),
        "spearman": naive_pearson(naive_ranks(x), naive_ranks(y)),
    }
    n = len(x)
    for name, r in expected.items():
        assert found[name] == pytest.approx(r, abs=1e-12)
        variance = {"pearson": 1 / (n - 3), "kendall": 0.437 / (n - 4),
                    "spearman": (1 + r * r / 2) / (n - 3)}[name]  # fmt: skip
        if abs(r) > 1 - 1e-9:
            assert np.isnan(found[f"{name}_low"]) and np.isnan(found[f"{name}_high"])
            continue
        for end, sign in (("low", -1), ("high", 1)):
            limit = math.tanh(math.atanh(r) + sign * 1.959963984540054 * math.sqrt(variance))
            assert found[f"{name}_{end}"] == pytest.approx(limit, abs=1e-9)


def test_systems_without_a_value_are_left_out():
    nan = np.nan
    found = be.stats.rank_agreement(
        {"a": [1, 2, nan, 4, 3], "b": [5, 4, 3, 2, 1]}, [1, 2, 3, 4, nan]
    )
    assert found.systems.values.tolist() == [3, 4]
    assert found.spearman.values.tolist() == [1, -1]
    assert found.measure.values.tolist() == ["a", "b"]
    assert np.isnan(found.spearman_low).all()


def test_wrong_input():
    for measures, ratings, says in (
        ({}, [1, 2, 3], "expected a mapping such as"),
        ([1, 2], [1, 2, 3], "expected a mapping such as"),
        ({"a": [1, 2]}, [1, 2, 3], r"measures\['a'\] has 2 values, and there are 3 ratings"),
        ({"a": [1, 2, np.nan]}, [1, 2, 3], "2 systems with the measure and a rating"),
        ({"a": [[1, 2, 3]]}, [1, 2, 3], r"has shape \(1, 3\); expected a list of finite numbers"),
        ({"a": [1, 2, np.inf]}, [1, 2, 3], "infinite values"),
        ({"a": ["x", "y", "z"]}, [1, 2, 3], "a"),
    ):
        with pytest.raises(be.DataError, match=says):
            be.stats.rank_agreement(measures, ratings)
    with raises_about(be.DataError, "confidence"):
        be.stats.rank_agreement({"a": [1, 2, 3]}, [1, 2, 3], confidence=2)


def test_the_curves_of_the_paper(shared):
    """Its twelve systems: measures of GOM from the published curves, with ratings as data."""
    from bioeval.studies.reid.results import gom_from_curves

    about = json.loads((shared / "gom" / "market1501_supervised.json").read_text(encoding="utf-8"))
    rows = about["rows"]
    with np.load(shared / "gom" / "market1501_supervised.npz") as curves:
        names = [str(x) for x in curves["methods"]]
        tau = np.linspace(0, 1, 101)
        results = [
            gom_from_curves(tau, mrep=a, mfr=b, mrp=c, mvp=d)
            for a, b, c, d in zip(*(curves[x] for x in ("mReP", "mFR", "mRP", "mVP")), strict=True)
        ]
    measures = {
        name: [float(ds[name]) for ds in results]
        for name in ("mean_ap", "max_mrep", "mrep_area", "mfr_area")
    }
    assert set(names) == set(rows)
    ratings = [2.1, 2.4, 2.2, 2.9, 3.1, 2.6, 3.0, 3.4, 3.3, 3.6, 3.2, 4.0]  # of nobody: an example
    found = be.stats.rank_agreement(measures, ratings)
    assert (found.systems == len(names)).all()
    for name in ("spearman", "kendall", "pearson"):
        assert (found[f"{name}_low"] < found[name]).all()
        assert (found[name] < found[f"{name}_high"]).all()
