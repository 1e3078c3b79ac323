"""FAR at FRR targets in folds, comparisons, look-ups and what is printed of them.

The points of whole data are in tests/counting/test_points.py, their replicates in tests/stats.
"""

from dataclasses import replace

import naive
import numpy as np
import pytest
from ways import counted_by

import bioeval as be
from bioeval.partition import SubjectKFold
from bioeval.protocol import load

TARGETS = [0.2, 0.0, 1.0]


def ties(kind: str = "distance", seed: int = 0) -> be.Scores:
    """Scores of 12 subjects with ties."""
    rng = np.random.default_rng(seed)
    label = np.repeat(np.arange(12), 3)
    d = rng.integers(0, 30, (36, 36)) - 8 * (label[:, None] == label)
    return be.Scores(d if kind == "distance" else -d, label, kind=kind)


def naive_far(scores: be.Scores) -> list[float]:
    """FAR at each target, of all attempts of a square matrix."""
    both = naive.attempts_single(
        scores.values.tolist(), scores.probe_labels.tolist(), kind=scores.kind
    )
    return [float(naive.far_at_frr(*both, scores.kind, x)[0]) for x in TARGETS]


@pytest.mark.parametrize("way", ["listed", "counted"])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.cases(2)
def test_each_fold_has_the_points_of_its_test_part(kind, way):
    scores, splitter = ties(kind), SubjectKFold(3)
    with counted_by(way):
        result = be.cross_evaluate(scores, splitter, frr_targets=TARGETS)
    assert result.frr_target.values.tolist() == TARGETS and "frr_at_far" in result
    for fold, (_, test) in enumerate(splitter.split(scores.probe_labels, scores.probe_labels)):
        expected = naive_far(scores.select(probes=test, gallery=test))
        np.testing.assert_allclose(result.far_at_frr[0, fold], expected, atol=1e-12)
    mean = result.far_at_frr_summary.sel(statistic="mean")
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
    folds = be.evaluate(scores, "course-kfold", frr_targets=[0.2])["folds"]
    assert folds["verification/single"].far_at_frr.dims == ("repeat", "fold", "frr_target")
    assert "far_at_frr" not in folds["open_set"]


def test_the_points_of_two_systems_are_compared():
    first, second = be.simulate(30, 3, random_state=1), be.simulate(30, 3, random_state=2)
    options = {"interval": "people", "frr_targets": [0.1, 0.001], "far_targets": []}
    result = be.compare(first, second, **options).sel(measure="FAR at FRR <= 10 %")
    for system, value in zip((first, second), result.value.values, strict=True):
        ds = be.verification(system, frr_targets=[0.1])
        assert value == ds.far_at_frr[0]
    both = be.compare(first, second, **options)
    assert both.supported.sel(measure="FAR at FRR <= 0.1 %") == 0


def test_targets_that_genuine_attempts_cannot_support_are_said():
    ds = be.verification(be.simulate(30, 3, random_state=1), frr_targets=[0.5, 0.1, 0.001])
    of_frr = {x.code: x.arguments for x in be.messages(ds) if x.arguments.get("chosen") == "frr"}
    few = of_frr["target-uncertain"]
    assert (few["have"], few["targets"]) == ({"people": 30}, [0.5, 0.1])
    assert few["needed"] == [60, 300]
    assert of_frr["target-not-supported"]["targets"] == [0.001]


def test_they_are_of_verification_by_all_templates():
    scores = ties()
    with pytest.raises(be.ProtocolError, match=r"frr_targets\b.* applies to verification only"):
        be.cross_evaluate(scores, SubjectKFold(3), task="open_set", frr_targets=[0.1])
    card = replace(load("course-all-vs-all"), verification=None)
    for protocol in (card, replace(load("course-kfold"), verification=None)):
        with pytest.raises(be.ProtocolError, match=r"frr_targets\b.* applies to verification only"):
            be.evaluate(scores, protocol, frr_targets=[0.1])
