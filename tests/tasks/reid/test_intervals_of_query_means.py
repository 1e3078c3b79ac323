"""Intervals of re-identification and GOM: queries of resampled people, against naive_reid.py."""

from fractions import Fraction

import numpy as np
import pytest
from named_arguments import raises_about
from reference import one_thread  # noqa: F401
from ways import counted_by

import bioeval as be
from bioeval import stats


@pytest.fixture(scope="module")
def scores():
    """Four queries for each of 30 people, against further templates, from two cameras."""
    crowd = be.simulate_embeddings(30, 8, within=1.2, random_state=5)
    values, labels = crowd.scores("l2").values, crowd.labels
    camera = np.tile([1, 2, 1, 2], 30)
    query = np.tile([True] * 4 + [False] * 4, 30)
    return be.Scores(
        values[np.ix_(query, ~query)], labels[query], labels[~query],
        probe_meta={"camera": camera}, gallery_meta={"camera": camera},
    )  # fmt: skip


def test_independent_queries(scores):
    binomial = be.reid(scores, interval="clopper-pearson")
    low, high = stats.clopper_pearson(binomial.cmc_count[0], 120)
    assert (binomial.cmc_low[0], binomial.cmc_high[0]) == (low, high)
    assert "mean_ap_low" not in binomial
    assert "no-interval" in [message.code for message in be.messages(binomial)]


def test_a_perfect_system_has_the_bound_by_subjects():
    rows = np.repeat(np.arange(12), 2)
    values = (rows[:, None] != np.arange(12)).astype(float)
    ds = be.reid(be.Scores(values, rows, np.arange(12)), "vehicleid", interval="people")
    bound = 0.05 ** Fraction(1, 12)
    for name in ("mean_ap", "mean_inp", "cmc"):
        assert float(np.min(ds[f"{name}_low"])) == pytest.approx(bound)
        assert float(np.max(ds[f"{name}_high"])) == 1


def test_lists_and_matrices_have_the_same_intervals(scores):
    order = np.argsort(scores.values, axis=1, kind="stable")[:, :100]
    lists = be.Scores.from_top_k(order, scores.probe_labels, scores.gallery_labels)
    options = {"interval": "people", "rank_k": 50}
    ours, matrix = (be.reid(x, "cityflow", max_rank=20, **options) for x in (lists, scores))
    for name in ("cmc_low", "cmc_high", "rank_k_mean_ap_low", "rank_k_mean_ap_high"):
        np.testing.assert_allclose(ours[name], matrix[name], atol=1e-12)
    tree = be.evaluate(lists, "cityflow", interval="people")
    assert "cmc_low" in tree["reid"]
    assert not any("confidence interval" in x.sentence for x in be.messages(tree["reid"]))


def test_one_person_has_no_interval():
    single = be.Scores([[0.1, 0.2], [0.3, 0.1]], [1, 1], [1, 2])
    ds = be.reid(single, "vehicleid", interval="people")
    assert np.isnan(ds.mean_ap_low)
    assert "interval-of-few-subjects" in [message.code for message in be.messages(ds)]
    with raises_about(be.DataError, "interval"):
        be.gom(single, convention="vehicleid", interval="bootstrap")


@pytest.mark.slow
def test_limits_of_many_scores_are_those_of_few():
    """People are left out of blocks that are counted as of scores that are sorted at once."""
    crowd = be.simulate(9, 6, within=0.9, random_state=1)
    values = np.round(4 * crowd.values) / 4  # with ties
    query, camera = np.arange(54) % 6 < 2, np.arange(54) % 4
    labels = crowd.probe_labels
    scores = be.Scores(
        values[np.ix_(query, ~query)], labels[query], labels[~query],
        probe_meta={"camera": camera[query]}, gallery_meta={"camera": camera[~query]},
    )  # fmt: skip
    options = {"protocol": "market1501", "measures": ["mean_ap", "cmc=1"]}
    worse = scores.values + np.random.default_rng(0).integers(0, 3, scores.shape) / 4
    two_systems = scores, scores.with_values(worse, "distance")
    of_sorted = be.compare(*two_systems, **options)
    with counted_by("counted"):
        of_counted = be.compare(*two_systems, **options)
    assert of_counted.identical(of_sorted)
