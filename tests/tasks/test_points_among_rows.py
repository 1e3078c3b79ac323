"""Operating points are among the thresholds of a result, with the counts of the definition."""

import math

import naive
import numpy as np
import pytest
import strategies
from hypothesis import given, settings, strategies as st
from named_arguments import raises_about
from twins import assert_verification, one_thread  # noqa: F401
from ways import counted_by

import bioeval as be

TARGETS = (0.3, 0.05)
ATTEMPTS = {"single": naive.attempts_single, "multi": naive.attempts_multi}


def points_of(case: strategies.Case, templates: str) -> list[float]:
    """The finite thresholds of EER, ZeroFMR, ZeroFNMR and FAR targets, by the definition."""
    args = *ATTEMPTS[templates](**case.naive()), case.kind
    points = naive.roc_points(*args)
    result = [naive.eer(*args).threshold, *(p.threshold for p in points if p.frr == 0)][:2]
    result += [naive.threshold_at_far(*args, x) for x in (0.0, *TARGETS)]
    return [float(x) for x in result if math.isfinite(x)]


def drawn_cases():
    return strategies.matrices(
        dtypes=("float32", "float64", "int8"), orders=("C",), nans=("exclude",)
    )


@pytest.mark.slow
@pytest.mark.parametrize("way", ["listed", "counted"])
@settings(max_examples=strategies.examples_of(40))
@given(case=drawn_cases(), shared=st.booleans())
def test_every_point_is_a_row_and_every_row_has_its_counts(way, case, shared):
    """With few scores, which are put in order, and with many, which are counted."""
    scores = be.Scores(**case.scores())
    options = {"far_targets": TARGETS, **({"extra_thresholds": [0.125]} if shared else {})}
    with counted_by(way):
        tree = be.evaluate(scores, **options)
    points = {f"verification/{x}": points_of(case, x) for x in ATTEMPTS}
    searches = naive.open_set_points(**case.naive())
    points["open_set"] = [] if not searches else [
        float(x)
        for x in (
            naive.open_set_eer(**case.naive()).threshold,
            *(naive.dir_at_far(target, 1, **case.naive())[1] for target in TARGETS),
        )
        if math.isfinite(x)
    ]  # fmt: skip
    every = {x for result in points.values() for x in result} | {0.125}
    for node, result in points.items():
        dataset = tree[node].to_dataset()
        defined = dataset.genuine_attempts > 0 and dataset.impostor_attempts > 0
        at = np.array(sorted(every if shared and defined else result))
        assert np.isin(at, dataset.threshold).all(), node
        dataset = dataset.sel(threshold=at)
        if node == "open_set":
            expected = naive.open_set(thresholds=at.tolist(), **case.naive())
            np.testing.assert_array_equal(dataset.fa, expected.fa)
            np.testing.assert_array_equal(dataset.frr, np.array(expected.frr, dtype=float))
            continue
        attempts = ATTEMPTS[node.rpartition("/")[2]](**case.naive())
        assert_verification(dataset, *attempts, case.kind)


@pytest.mark.slow
def test_systems_of_one_kind_share_their_points_and_others_do_not():
    first, second = (be.simulate(8, 3, random_state=seed) for seed in (1, 2))
    other = be.Scores(np.exp(-np.asarray(first.values)), first.probe_labels, kind="similarity")
    systems = {"first": first, "second": second, "other": other}
    alone = {name: be.evaluate(one) for name, one in systems.items()}
    tree = be.evaluate(systems, extra_thresholds=())
    for name, scores in systems.items():
        single = tree[name]["verification/single"].to_dataset()
        for of, result in alone.items():
            points = {float(x) for node in ("verification/single", "verification/multi", "open_set")
                      for x in (result[node].eer_threshold, result[node].zero_far_threshold
                                if "zero_far_threshold" in result[node] else math.nan)
                      if math.isfinite(x)}  # fmt: skip
            same = (of == "other") == (name == "other")
            assert (points <= set(single.threshold.values.tolist())) == same, (name, of)
        made = naive.attempts_single(scores.values, scores.probe_labels, kind=scores.kind)
        assert_verification(single, *made, scores.kind)


def test_thresholds_that_are_given_stay_as_given_unless_more_are_wanted():
    scores = be.simulate(8, 3, random_state=1)
    grid = [1.0, 2.5, 4.0]
    result = be.evaluate(scores, thresholds=grid)
    for node in ("verification/single", "open_set"):
        np.testing.assert_array_equal(result[node].threshold, grid)
    single = be.verification(scores, thresholds=grid)
    np.testing.assert_array_equal(single.threshold, grid)
    more = be.evaluate(scores, thresholds=grid, extra_thresholds=[3.0])["verification/single"]
    assert {*grid, 3.0, single.eer_threshold.item()} <= set(more.threshold.values.tolist())


@pytest.mark.parametrize("wrong", [[math.nan], [math.inf], "many", [[1.0]]])
def test_extra_thresholds_are_numbers(wrong):
    with raises_about(be.DataError, "extra_thresholds"):
        be.evaluate(be.simulate(4, 2, random_state=1), extra_thresholds=wrong)
