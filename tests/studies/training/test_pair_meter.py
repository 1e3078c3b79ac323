"""Pairs batch by batch, against ``be.summary`` of all of them at once."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bioeval as be

NUMBER = 200
RNG = np.random.default_rng(5)
GENUINE = RNG.random(NUMBER) < 0.2
SCORES = np.round(RNG.normal(size=NUMBER) + 1.5 * GENUINE, 2)  # some are tied

NODE = "verification/single/"

#: Sums over the scores in their order.
ROUNDED = "verification/single/d_prime"

pytestmark = pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")


def expected(scores=SCORES, genuine=GENUINE, **options) -> dict:
    pairs = be.Scores.from_pairs(scores, genuine, **options)
    numbers = {}
    for name, value in be.summary(pairs)["verification/single"].items():
        at = {f"_{key}": x for key, x in value.items()} if isinstance(value, dict) else {"": value}
        numbers |= {f"{NODE}{name}{key}": x for key, x in at.items()}
    return numbers


def fill(meter, order=range(NUMBER), cuts=(), scores=SCORES, genuine=GENUINE):
    for rows in np.split(np.array(order, dtype=int), sorted(cuts)):
        meter.update(scores[rows], genuine[rows])
    return meter


def same(a: dict, b: dict) -> bool:
    """Whether numbers are equal: NaN to NaN, d' but for rounding, others to the last bit."""
    if a.keys() != b.keys():
        return False
    if ROUNDED in a and a[ROUNDED] != pytest.approx(b[ROUNDED], rel=1e-12, nan_ok=True):
        return False
    return all(a[k] == b[k] or (a[k] != a[k] and b[k] != b[k]) for k in a if k != ROUNDED)


ORDERS = st.permutations(range(NUMBER))
CUTS = st.lists(st.integers(0, NUMBER), max_size=5)


@given(ORDERS, CUTS, st.sampled_from(["f2", "f4", "f8"]), st.sampled_from(["similarity", "llr"]))
def test_the_numbers_are_those_of_all_pairs(order, cuts, dtype, kind):
    scores = SCORES.astype(dtype)
    meter = fill(be.PairMeter(kind), order, cuts, scores)
    numbers = meter.compute()
    assert same(numbers, expected(scores, kind=kind))
    whole = fill(be.PairMeter(kind), scores=scores)
    assert numbers == whole.compute()  # d' as well: no batch decides it
    assert {*map(type, numbers.values())} == {int, float}


@given(ORDERS, st.integers(0, NUMBER))
def test_processes_merge(order, cut):
    ranks = [fill(be.PairMeter("similarity"), rows) for rows in (order[:cut], order[cut:])]
    whole = be.PairMeter("similarity")
    whole.merge(ranks[1].state_dict())
    whole.merge(ranks[0])
    assert same(whole.compute(), expected(kind="similarity"))


@given(ORDERS, CUTS, st.integers(1, NUMBER))
def test_points_are_exact_or_in_their_bracket(order, cuts, keep):
    meter = be.PairMeter("similarity", keep=keep)
    for rows in np.split(np.array(order), sorted(cuts)):
        fill(meter, rows)
        meter.state_dict()  # counts now: batches of few pairs wait
    numbers, exact = meter.compute(), expected(kind="similarity")
    assert len(meter.state_dict()["scores"]) <= keep
    for name, value in numbers.items():
        if "_at_least" in name:
            assert value <= exact[name.replace("_at_least", "")]
        elif "_at_most" in name:
            assert value >= exact[name.replace("_at_most", "")]
        elif value == value:
            assert value == exact[name] or name == ROUNDED


@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_the_rates_are_those_of_verification(kind):
    result = fill(be.PairMeter(kind)).result()
    whole = be.verification(be.Scores.from_pairs(SCORES, GENUINE, kind=kind))
    for name in ("eer", "frr_at_far", "auc", "min_cost", "genuine_attempts", "eer_threshold"):
        np.testing.assert_array_equal(result[name], whole[name])
    at = whole.threshold.values[np.isin(whole.threshold, result.threshold)]
    for name in ("far", "frr", "fa", "ga"):
        np.testing.assert_array_equal(result[name].sel(threshold=at), whole[name].sel(threshold=at))


@pytest.mark.parametrize("infinity", [-np.inf, np.inf])
def test_infinite_scores(infinity):
    scores = SCORES.copy()
    scores[[1, 3, 20]] = infinity
    scores[[GENUINE.argmax(), GENUINE.argmin()]] = infinity
    meter = fill(be.PairMeter("similarity"), cuts=[5, 60], scores=scores)
    assert same(meter.compute(), expected(scores, kind="similarity"))


@pytest.mark.parametrize("nan", ["reject", "exclude"])
def test_nan_is_treated_as_by_scores(nan):
    scores = SCORES.copy()
    scores[[2, GENUINE.argmax()]] = np.nan
    meter = fill(be.PairMeter("similarity", nan=nan), cuts=[5, 60], scores=scores)
    assert same(meter.compute(), expected(scores, kind="similarity", nan=nan))
    meter = be.PairMeter()
    with pytest.raises(be.DataError, match="2 of 200 scores are NaN"):
        meter.update(scores, GENUINE)
    with pytest.raises(be.DataError, match="no pairs yet"):
        meter.compute()


@pytest.mark.parametrize("genuine", [True, False])
def test_one_class(genuine):
    flags = np.full(NUMBER, genuine)
    meter = fill(be.PairMeter("similarity"), cuts=[9], genuine=flags)
    assert same(meter.compute(), expected(genuine=flags, kind="similarity"))


def test_a_state_goes_round():
    meter = fill(be.PairMeter("similarity", far_targets=[0.1]), cuts=[50])
    state = pickle.loads(pickle.dumps(meter.state_dict()))
    assert {*map(type, state.values())} <= {np.ndarray, int, str, bool}
    again = fill(be.PairMeter("similarity", far_targets=[0.1]), cuts=[9])
    again.load_state_dict(state)
    assert again.compute() == meter.compute()
    again.reset()
    with pytest.raises(be.DataError, match="no pairs yet"):
        again.compute()


def test_many_small_batches():
    meter = be.PairMeter("similarity")
    for low in range(0, NUMBER, 2):
        meter.update(SCORES[low : low + 2].tolist(), GENUINE[low : low + 2].tolist())
    meter.update([], [])
    assert same(meter.compute(), expected(kind="similarity"))


def test_what_does_not_merge():
    meter = fill(be.PairMeter("similarity"))
    with pytest.raises(be.DataError, match="kind"):
        meter.merge(fill(be.PairMeter("distance")))
    with pytest.raises(be.DataError, match="far_targets|rare"):
        meter.merge(be.PairMeter("similarity", far_targets=[0.1]))
    with pytest.raises(be.DataError, match="itself"):
        meter.merge(meter)
    with pytest.raises(be.DataError, match="cannot be merged"):
        meter.merge(3)
    with pytest.raises(be.DataError, match="no state of a PairMeter"):
        meter.load_state_dict({"kind": "similarity"})
    assert same(meter.compute(), expected(kind="similarity"))


def test_options_are_checked():
    for options in ({"kind": "near"}, {"keep": 0}, {"nan": "ignore"}, {"far_targets": [2]}):
        with pytest.raises(be.DataError):
            be.PairMeter(**options)
    with pytest.raises(be.DataError, match="genuine"):
        be.PairMeter().update([0.1, 0.2], [True])
