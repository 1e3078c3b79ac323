"""Intervals by attempts and by subject, against scipy, formulas written out, and brute force."""

import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from limits import people_drawn
from named_arguments import raises_about

import bioeval as be
from bioeval import stats
from bioeval.counting.pair_layers import PairCounts
from bioeval.stats import impostor_sums
from bioeval.stats.curve_thresholds import grid_of
from bioeval.stats.impostor_sums import QuadraticForms

# ------------------------------------------------------------------ independent attempts


def test_no_attempt_has_no_interval():
    for method in (stats.wilson, stats.clopper_pearson):
        low, high = method([0, 1], [0, 4])
        assert np.isnan([low[0], high[0]]).all() and 0 < low[1] < high[1] < 1


@pytest.mark.parametrize("bad", [(2, 1), (-1, 3), (float("nan"), 3), ("x", 3), ([1, 2], [1, 2, 3])])
def test_counts_that_cannot_be_are_refused(bad):
    for method in (stats.wilson, stats.clopper_pearson):
        with pytest.raises(
            be.DataError, match="`attempts` is .* errors|do not broadcast|`errors` is 'x'"
        ):
            method(*bad)


@pytest.mark.parametrize("bad", [0, 1, 95, -0.1, "0.95", None, True, float("nan")])
def test_a_confidence_is_between_0_and_1(bad):
    with raises_about(be.DataError, "confidence"):
        stats.wilson(1, 2, bad)


def test_bounds_without_an_error():
    # 1 - p is the chance that one trial shows nothing: (1 - bound) ** n = 5 %.
    assert (1 - stats.zero_error_bound(50)) ** 50 == pytest.approx(0.05)
    assert stats.zero_error_bound(50) == pytest.approx(
        stats.clopper_pearson(0, 50, side="upper")[1]
    )
    assert stats.zero_error_bound(0) == 1
    assert stats.rule_of_3(1000) == pytest.approx(stats.zero_error_bound(1000), rel=0.01)
    assert stats.rule_of_3([2, 0]).tolist() == [1, 1]
    assert stats.rule_of_30([0.01, 0]).tolist() == [3000, math.inf]


def pairs(n: int, most: int):
    return hnp.arrays(np.int64, (n, n), elements=st.integers(0, most), fill=st.nothing())


# ------------------------------------------------------------------ resampling


@pytest.mark.slow
@given(
    errors=pairs(9, 2),
    density=st.sampled_from([1.0, 0.05]),
    scale=st.sampled_from([0, 1, 6000, 1 << 14, 1 << 30]),
    few=st.booleans(),
)
def test_lists_and_their_parts_agree(errors, density, scale, few):
    """Sums of 8 and 16 bits would overflow, with the first or after several counts.

    Sums of few products are sparse, in 32 bits as long as these are exact.
    """
    with mock.patch.object(impostor_sums, "_FEW_PRODUCTS", (1 << 27) * few):
        check_lists_and_their_parts(errors, density, scale)


def check_lists_and_their_parts(errors, density, scale):
    np.fill_diagonal(errors, 0)
    if not scale:  # single attempts, of which four are weighed at once
        errors, scale = np.minimum(errors, 1), 1
    errors[np.random.default_rng(0).random(errors.shape) > density] = 0
    weights = people_drawn(9, 40, seed=1)
    lists, parts = (QuadraticForms(weights, 2) for _ in range(2))
    both_ways = np.stack([errors, errors.T]) * scale
    for layer, table in enumerate(both_ways):
        rows, columns = np.nonzero(table)
        lists.add(
            PairCounts.from_entries(rows, columns, np.full(len(rows), layer), table[rows, columns])
        )
        for low in range(0, len(rows), 5):  # the entries of a subject apart
            part = slice(low, low + 5)
            entries = (
                rows[part],
                columns[part],
                np.full(len(rows[part]), layer),
                table[rows, columns][part],
            )
            parts.add(PairCounts.from_entries(*entries))
    expected = np.einsum("kij,ir,jr->kr", both_ways, *[weights.astype(int)] * 2)
    for forms in (lists, parts):
        assert forms.totals.tolist() == expected.tolist()


def test_attempts_both_ways_are_weighed_one_way():
    table = np.random.default_rng(4).integers(0, 3, (6, 6))
    table = np.triu(table, 1) + np.triu(table, 1).T
    weights = people_drawn(6, 40, seed=1)
    forms = QuadraticForms(weights, 1, both_ways=True)
    rows, columns = np.nonzero(table)
    forms.add(PairCounts.from_entries(rows, columns, np.zeros_like(rows), table[rows, columns]))
    expected = np.einsum("ij,ir,jr->r", table, *[weights.astype(int)] * 2)
    assert forms.totals[0].tolist() == expected.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("largest", [63, 64, 255, 256])
def test_many_single_attempts_are_weighed_without_overflow(largest, monkeypatch):
    monkeypatch.setattr(impostor_sums, "_FEW_PRODUCTS", 0)
    weights = np.random.default_rng(2).integers(largest - 3, largest + 1, (3000, 5))
    forms, other_people = QuadraticForms(weights.astype(np.float32), 1), np.arange(1, 3000)
    single, first = np.ones(2999, dtype=np.int64), np.zeros(2999, dtype=np.int64)
    forms.add(PairCounts.from_entries(first, other_people, first, single))
    assert forms.totals[0].tolist() == (weights[0] * weights[1:].sum(axis=0)).tolist()


def test_the_draws_are_the_same_everywhere():
    weights = people_drawn(5, 4, seed=0)
    assert weights.sum(axis=0).tolist() == [5] * 4
    assert weights.astype(int).T.tolist() == GOLDEN


GOLDEN = [[1, 1, 1, 1, 1], [1, 1, 0, 2, 1], [2, 0, 0, 0, 3], [1, 0, 3, 1, 0]]


@pytest.mark.parametrize("task", [be.open_set, be.closed_set])
@pytest.mark.parametrize("method", ["wilson", "clopper-pearson"])
def test_expected_hits_that_exceed_all_searches_by_a_rounding_have_limits(task, method):
    distances = np.random.default_rng(4).integers(0, 3, (6, 6))
    scores = be.Scores(distances, np.repeat(np.arange(3), 2))
    result = task(scores, ties="expected", interval=method)
    name = "dir" if task is be.open_set else "cms"
    assert result[f"{name}_high"].values.max() == 1


SIZES = {"test_size": 1, "train_size": 3}


def test_empty_folds_are_left_out_of_their_mean():
    nan = math.nan
    of_two_repeats = stats.nadeau_bengio([[0.1, nan], [0.3, 0.2]], **SIZES)
    assert of_two_repeats == stats.nadeau_bengio([0.1, 0.3, 0.2], **SIZES)
    of_one_fold = stats.nadeau_bengio([nan, 0.2], **SIZES)
    assert (of_one_fold.mean, of_one_fold.folds) == (0.2, 1)
    assert math.isnan(of_one_fold.sd) and math.isnan(of_one_fold.low)
    assert math.isnan(stats.nadeau_bengio([nan], **SIZES).mean)
    assert stats.nadeau_bengio([], **SIZES).folds == 0
    for argument, wrong in (("train_size", {"train_size": 0}), ("confidence", {"confidence": 95})):
        with raises_about(be.DataError, argument):
            stats.nadeau_bengio([0.1, 0.2], **{**SIZES, **wrong})


def test_limits_of_a_normalised_cost_do_not_depend_on_its_unit():
    scores = be.simulate(30, 3, random_state=1)
    in_one_unit, two = (
        be.verification(scores, costs=[(0.1, unit, unit)], interval="people") for unit in (1.0, 2.0)
    )
    for name in ("min_dcf", "min_dcf_low", "min_dcf_high"):
        np.testing.assert_allclose(in_one_unit[name], two[name], rtol=1e-12)


def test_people_of_many_claims_have_the_limits_of_few(monkeypatch):
    scores = be.simulate(12, 3, random_state=1)
    options = {"templates": "multi", "fusion": "mean", "interval": "people"}
    few_claims = be.verification(scores, **options)
    monkeypatch.setattr("bioeval.counting.pair_layers.FEW_ATTEMPTS", 0)
    many_claims = be.verification(scores, **options)
    names = [name for name in few_claims.variables if str(name).endswith(("_low", "_high"))]
    assert len(names) > 10
    for name in names:
        np.testing.assert_array_equal(few_claims[name], many_claims[name])


def test_a_curve_of_many_distances_has_places_that_few_or_nearly_all_are_up_to():
    grid = grid_of(np.arange(1.0, 10_001.0))
    further_places = np.array([10, 20, 50, 100, 200, 500, 1000])  # 0.1 to 10 % of them
    for chosen in (
        np.arange(1, 10),
        10_001 - np.arange(1, 10),
        10_000 - further_places,
        further_places + 1,
    ):
        assert np.isin(chosen, grid).all()
