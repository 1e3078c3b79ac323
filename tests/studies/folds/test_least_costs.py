"""minDCF of each fold and partition, against loops over the thresholds of its test part."""

import numpy as np
import pytest
from limits import blocks_of
from naive_calibration import min_dcf
from named_arguments import raises_about

import bioeval as be

PRIORS = [0.1, 0.5, 0.01]
FOLDS = be.partition.SubjectKFold(3, shuffle=True, random_state=0)


def least_costs(scores):
    """minDCF at each prior, by trying every threshold on the comparisons of a part."""
    who, values = scores.probe_labels, np.asarray(scores.values, dtype=np.float64)
    sign = 1 if scores.kind == "similarity" else -1  # larger is closer in the twin
    genuine, impostor = [], []
    for i in range(len(who)):
        for j in range(len(who)):
            if i != j:
                (genuine if who[i] == who[j] else impostor).append(sign * values[i, j])
    return [min_dcf(genuine, impostor, prior, (1, 1)) for prior in PRIORS]


def scores_of(kind="distance", dtype=np.float64):
    rng = np.random.default_rng(4)
    who = np.repeat([f"p{i}" for i in range(9)], rng.integers(1, 5, 9))
    values = (rng.normal(1 + (who[:, None] != who), 0.8, (len(who),) * 2) * 4).round() / 4
    return be.Scores((values if kind == "distance" else -values).astype(dtype), who, kind=kind)


def parts_of(scores):
    who = scores.probe_labels
    return [scores[test] for _, test in FOLDS.split(np.zeros(len(who)), who, who)]


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("cells", [0, 1 << 22], ids=["large parts", "listed parts"])
def test_least_costs_of_folds_are_those_of_loops(kind, dtype, cells):
    scores = scores_of(kind, dtype)
    expected = np.array([least_costs(part) for part in parts_of(scores)])
    with blocks_of(listed=cells):
        crossed = be.cross_evaluate(scores, FOLDS, priors=PRIORS)
    assert crossed.min_dcf.dims == ("repeat", "fold", "cost")
    np.testing.assert_allclose(crossed.min_dcf.values[0], expected, atol=1e-12)
    mean, sd = crossed.min_dcf_summary.sel(statistic=["mean", "sd"]).values
    np.testing.assert_allclose(mean, expected.mean(axis=0))
    np.testing.assert_allclose(sd, expected.std(axis=0, ddof=1))


def test_least_costs_of_listed_pairs():
    rng = np.random.default_rng(1)
    genuine = np.tile([True, True, False, False, False], 12)
    values = (rng.normal(1 + ~genuine, 0.7) * 4).round() / 4
    pairs = be.Scores.from_pairs(values, genuine)
    folds = np.arange(60) // 20
    crossed = be.cross_evaluate(pairs, be.partition.PredefinedFolds(folds), priors=PRIORS)
    expected = [
        [
            min_dcf(*(-values[(folds == k) & (genuine == x)] for x in (True, False)), prior, (1, 1))
            for prior in PRIORS
        ]
        for k in range(3)
    ]
    np.testing.assert_allclose(crossed.min_dcf.values[0], expected, atol=1e-12)


def test_a_part_without_genuine_attempts_has_none():
    who = np.array([0, 0, 1, 1, 2, 3])  # the last part has single templates alone
    scores = be.Scores(np.arange(36.0).reshape(6, 6), who)
    folds = be.partition.PredefinedFolds(np.array([0, 0, 0, 0, 1, 1]))
    crossed = be.cross_evaluate(scores, folds, threshold=5.0, priors=PRIORS)
    assert np.isnan(crossed.min_dcf.values[0, 1]).all()
    assert not np.isnan(crossed.min_dcf.values[0, 0]).any()


@pytest.mark.parametrize("priors", [[0], [1], [0.1, 0.1], [-1], "x"])
def test_priors_are_checked(priors):
    with raises_about(be.DataError, "priors"):
        be.cross_evaluate(scores_of(), FOLDS, priors=priors)
    with raises_about(be.ProtocolError, "priors"):
        be.cross_evaluate(scores_of(), FOLDS, task="open_set", priors=[0.1])
