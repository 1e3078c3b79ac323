"""Operating points: among the thresholds of a result, by folds, in comparisons and in print.

The points of whole data are in tests/counting/test_points.py, their replicates in tests/stats.
"""

import math
from dataclasses import replace

import naive
import numpy as np
import pytest
import strategies
from hypothesis import given, settings, strategies as st
from named_arguments import raises_about
from reference import assert_verification, one_thread  # noqa: F401
from ways import counted_by

import bioeval as be
from bioeval.partition import SubjectKFold
from bioeval.protocol import load

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
    all_points = {x for result in points.values() for x in result} | {0.125}
    for node, result in points.items():
        dataset = tree[node].to_dataset()
        defined = dataset.genuine_attempts > 0 and dataset.impostor_attempts > 0
        thresholds = np.array(sorted(all_points if shared and defined else result))
        assert np.isin(thresholds, dataset.threshold).all(), node
        dataset = dataset.sel(threshold=thresholds)
        if node == "open_set":
            expected = naive.open_set(thresholds=thresholds.tolist(), **case.naive())
            np.testing.assert_array_equal(dataset.fa, expected.fa)
            np.testing.assert_array_equal(dataset.frr, np.array(expected.frr, dtype=float))
            continue
        attempts = ATTEMPTS[node.rpartition("/")[2]](**case.naive())
        assert_verification(dataset, *attempts, case.kind)


@pytest.mark.slow
def test_systems_of_one_kind_share_their_points_and_others_do_not():
    first, second = (be.simulate(8, 3, random_state=seed) for seed in (1, 2))
    other_kind = be.Scores(np.exp(-np.asarray(first.values)), first.probe_labels, kind="similarity")
    systems = {"first": first, "second": second, "other": other_kind}
    alone = {name: be.evaluate(one) for name, one in systems.items()}
    tree = be.evaluate(systems, extra_thresholds=())
    for name, scores in systems.items():
        single = tree[name]["verification/single"].to_dataset()
        for owner, result in alone.items():
            points = {float(x) for node in ("verification/single", "verification/multi", "open_set")
                      for x in (result[node].eer_threshold, result[node].zero_far_threshold
                                if "zero_far_threshold" in result[node] else math.nan)
                      if math.isfinite(x)}  # fmt: skip
            same = (owner == "other") == (name == "other")
            assert (points <= set(single.threshold.values.tolist())) == same, (name, owner)
        attempts = naive.attempts_single(scores.values, scores.probe_labels, kind=scores.kind)
        assert_verification(single, *attempts, scores.kind)


def test_thresholds_that_are_given_stay_as_given_unless_more_are_wanted():
    scores = be.simulate(8, 3, random_state=1)
    grid = [1.0, 2.5, 4.0]
    result = be.evaluate(scores, thresholds=grid)
    for node in ("verification/single", "open_set"):
        np.testing.assert_array_equal(result[node].threshold, grid)
    single = be.verification(scores, thresholds=grid)
    np.testing.assert_array_equal(single.threshold, grid)
    with_extra = be.evaluate(scores, thresholds=grid, extra_thresholds=[3.0])["verification/single"]
    assert {*grid, 3.0, single.eer_threshold.item()} <= set(with_extra.threshold.values.tolist())


@pytest.mark.parametrize("wrong", [[math.nan], [math.inf], "many", [[1.0]]])
def test_extra_thresholds_are_numbers(wrong):
    with raises_about(be.DataError, "extra_thresholds"):
        be.evaluate(be.simulate(4, 2, random_state=1), extra_thresholds=wrong)


FRR_TARGETS = [0.2, 0.0, 1.0]


def ties(kind: str = "distance", seed: int = 0) -> be.Scores:
    """Scores of 12 subjects with ties."""
    rng = np.random.default_rng(seed)
    label = np.repeat(np.arange(12), 3)
    distances = rng.integers(0, 30, (36, 36)) - 8 * (label[:, None] == label)
    return be.Scores(distances if kind == "distance" else -distances, label, kind=kind)


def naive_far(scores: be.Scores) -> list[float]:
    """FAR at each target, of all attempts of a square matrix."""
    attempts = naive.attempts_single(
        scores.values.tolist(), scores.probe_labels.tolist(), kind=scores.kind
    )
    return [float(naive.far_at_frr(*attempts, scores.kind, x)[0]) for x in FRR_TARGETS]


@pytest.mark.parametrize("way", ["listed", "counted"])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.cases(2)
def test_each_fold_has_the_points_of_its_test_part(kind, way):
    scores, splitter = ties(kind), SubjectKFold(3)
    with counted_by(way):
        result = be.cross_evaluate(scores, splitter, frr_targets=FRR_TARGETS)
    assert result.frr_target.values.tolist() == FRR_TARGETS and "frr_at_far" in result
    for fold, (_, test) in enumerate(splitter.split(scores.probe_labels, scores.probe_labels)):
        expected = naive_far(scores.select(probes=test, gallery=test))
        np.testing.assert_allclose(result.far_at_frr[0, fold], expected, atol=1e-12)
    mean = be.aggregate(result, ("repeat", "fold")).far_at_frr.sel(statistic="mean")
    np.testing.assert_allclose(mean, result.far_at_frr.mean(("repeat", "fold")))


def test_a_card_and_an_option_give_the_targets():
    card = load("course-all-vs-all")
    card = replace(card, report=replace(card.report, frr_targets=(0.2,)))
    scores = ties()
    tree = be.evaluate(scores, card)
    assert tree["verification/single"].far_at_frr.values.tolist() == naive_far(scores)[:1]
    assert be.summary(scores, card, frr_targets=[0.0])["verification/multi"][
        "far_at_frr"
    ].keys() == {0.0}
    folds = be.evaluate(scores, "course-kfold", frr_targets=[0.2])
    assert folds["verification/single"].far_at_frr.dims == ("repeat", "fold", "frr_target")
    assert "far_at_frr" not in folds["open_set"]


def test_the_points_of_two_systems_are_compared():
    first, second = be.simulate(30, 3, random_state=1), be.simulate(30, 3, random_state=2)
    options = {"interval": "people", "frr_targets": [0.1, 0.001], "far_targets": []}
    result = be.compare(first, second, **options)
    values = result.far_at_frr.sel(frr_target=0.1).values
    for system, value in zip((first, second), values, strict=True):
        ds = be.verification(system, frr_targets=[0.1])
        assert value == ds.far_at_frr[0]
    assert result.far_at_frr_supported.sel(frr_target=0.001) == 0


def test_targets_that_genuine_attempts_cannot_support_are_said():
    ds = be.verification(be.simulate(30, 3, random_state=1), frr_targets=[0.5, 0.1, 0.001])
    of_frr = {x.code: x.arguments for x in be.messages(ds) if x.arguments.get("chosen") == "frr"}
    message = of_frr["target-uncertain"]
    assert (message["have"], message["targets"]) == ({"people": 30}, [0.5, 0.1])
    assert message["needed"] == [60, 300]
    assert of_frr["target-not-supported"]["targets"] == [0.001]


def test_they_are_of_verification_by_all_templates():
    scores = ties()
    with pytest.raises(be.ProtocolError, match=r"frr_targets\b.* applies to verification only"):
        be.cross_evaluate(scores, SubjectKFold(3), task="open_set", frr_targets=[0.1])
    card = replace(load("course-all-vs-all"), verification=None)
    for protocol in (card, replace(load("course-kfold"), verification=None)):
        with pytest.raises(be.ProtocolError, match=r"frr_targets\b.* applies to verification only"):
            be.evaluate(scores, protocol, frr_targets=[0.1])
