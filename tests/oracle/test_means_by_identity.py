"""Means by identity against their slow twins, a worked example, and what must always hold."""

from __future__ import annotations

import math

import naive
import naive_identities
import naive_reid
import numpy as np
import pytest
import strategies
from hypothesis import given, strategies as st
from twins import floats, one_thread  # noqa: F401

import bioeval as be

UNITS = st.sampled_from(strategies.UNITS)
TIES = st.sampled_from(strategies.TIES)


def assert_close(found, expected) -> None:
    np.testing.assert_allclose(found, floats(expected), rtol=0, atol=1e-12)


@given(st.data(), UNITS, TIES, st.sampled_from(strategies.IMPOSTORS))
def test_open_set_by_identity(data, unit, ties, impostors):
    case = data.draw(strategies.matrices(masks=("none", "labelled")))
    if case.square:
        impostors = "auto"
    grid = data.draw(strategies.thresholds(case))
    options = {"ties": ties, "impostors": impostors}
    ds = be.open_set(
        be.Scores(**case.scores()), thresholds=grid, rank_unit=unit, average="identity", **options
    )
    sign = naive.sign_of(case.kind)
    options |= {"unit": unit, **case.naive()}
    expected = [naive_identities.open_set(t, sign, **options) for t in grid]
    assert_close(ds.dir_by_identity, [x[0] for x in expected])
    assert_close(ds.grr_by_identity, [x[1] for x in expected])
    assert_close(ds.open_set_score, [x[2] for x in expected])
    genuine, impostor = naive_identities.searches(**options)
    assert ds.genuine_identities == naive_identities.identities(genuine)
    assert ds.impostor_identities == naive_identities.identities(impostor)
    scores = [r.best_mate for _, r in genuine] + [r.nearest_other for _, r in impostor]
    points = [sign * float(x) for x in sorted(set(scores))]
    at_points = [naive_identities.open_set(t, sign, **options)[2] for t in points]
    best = float(ds.best_open_set_score)
    if not genuine or not impostor:
        assert math.isnan(best) and math.isnan(ds.best_open_set_score_threshold)
    else:
        assert best == pytest.approx(max([0.0, *at_points]), abs=1e-12)
        strictest = [t for t, x in zip(points, at_points, strict=True) if x >= best - 1e-12]
        if best > 0:
            assert ds.best_open_set_score_threshold == strictest[0]
        elif not any(math.isinf(t) for t in points):
            assert ds.best_open_set_score_threshold == sign * -math.inf


@given(st.data(), UNITS, TIES)
def test_closed_set_by_identity(data, unit, ties):
    case = data.draw(strategies.matrices(masks=("none", "labelled")))
    ds = be.closed_set(
        be.Scores(**case.scores()),
        rank_unit=unit,
        ties=ties,
        unmated="skip",
        max_rank=5,
        average="identity",
    )
    options = {"unit": unit, "ties": ties, **case.naive()}
    assert_close(ds.cms_by_identity, [naive_identities.cms(k, **options) for k in range(1, 6)])
    np.testing.assert_array_equal(ds.recognition_rate_by_identity, ds.cms_by_identity[0])
    genuine, _ = naive_identities.searches(**options)
    assert ds.identities == naive_identities.identities(genuine)


@given(
    st.data(),
    st.sampled_from(("first-match", "allshots", "single-gallery-shot")),
    st.sampled_from(("pessimistic", "optimistic", "stable")),
    st.sampled_from(("skip", "zero")),
)
def test_reid_by_identity(data, counts, ties, unmatched):
    case = data.draw(strategies.matrices())
    options = {"removed": "none", "ties": ties, "unmatched": unmatched}
    slow = naive_reid.reid(case.naive(), None, counts=counts, **options)
    if not slow.queries:
        return
    ds = be.reid(
        be.Scores(**case.scores()),
        "vehicleid",
        **options,
        cmc=counts,
        max_rank=5,
        rank_k=3,
        average="identity",
        per_query=True,
    )
    expected = []
    for k in range(1, 6):
        expected.append(naive_identities.cmc(k, case.naive(), None, counts=counts, **options))
    assert_close(ds.cmc_by_identity, expected)
    labels = naive.read(**case.naive()).probe_labels
    assert ds.identity.values.tolist() == labels
    for name, each in (
        ("mean_ap", slow.average_precision),
        ("mean_inp", slow.inp),
        ("mrr", slow.reciprocal_rank),
        ("r_precision", slow.query_r_precision),
        ("ndcg", slow.query_ndcg),
    ):
        values = []
        for who, value in zip(labels, each, strict=True):
            if value is not None:
                values.append((who, value))
            elif unmatched == "zero":
                values.append((who, 0))
        assert_close(ds[f"{name}_by_identity"], naive_identities.mean_by_identity(values))
        assert ds.identities == naive_identities.identities(values)


def wildlife() -> tuple[np.ndarray, list[str], list[str]]:
    """Distances of sightings of known and of unknown animals, in unequal numbers."""
    rng = np.random.default_rng(3)
    animals = rng.normal(size=(14, 5))
    database = np.repeat(np.arange(8), rng.integers(1, 6, 8))
    sightings = np.repeat(np.arange(14), rng.integers(1, 9, 14))
    known = animals[database] + 0.7 * rng.normal(size=(len(database), 5))
    seen = animals[sightings] + 0.7 * rng.normal(size=(len(sightings), 5))
    distances = np.linalg.norm(seen[:, None] - known[None], axis=2)
    names = [f"turtle {i}" for i in range(14)]
    return distances, [names[i] for i in sightings], [names[i] for i in database]


def test_the_score_is_that_of_predicted_identities():
    """As AnimalCLEF 2025 scores: the nearest animal if within the threshold, else a new one."""
    distances, sightings, database = wildlife()
    thresholds = np.quantile(distances.min(axis=1), [0.1, 0.4, 0.7, 1.0])
    ds = be.open_set(
        be.Scores(distances, sightings, database), thresholds=thresholds, average="identity"
    )
    for k, t in enumerate(thresholds):
        predicted = []
        for row in distances:
            predicted.append(database[row.argmin()] if row.min() <= t else "new")
        both = naive_identities.of_predictions(sightings, predicted, set(database), "new")
        assert_close(ds.dir_by_identity[k], both[0])
        assert_close(ds.grr_by_identity[k], both[1])
        assert_close(ds.open_set_score[k], math.sqrt(both[0] * both[1]))
    assert ds.genuine_identities == 8
    assert ds.impostor_identities == 6


def test_a_worked_example():
    # ann has three probes of which one is found, bob one that is found; eve and kim are strangers,
    # eve with two probes, one of which is accepted within 2.
    d = [[1, 9], [5, 3], [6, 4], [7, 2], [2, 8], [9, 9], [8, 8]]
    scores = be.Scores(d, ["ann", "ann", "ann", "bob", "eve", "eve", "kim"], ["ann", "bob"])
    ds = be.open_set(scores, thresholds=[2], average="identity")
    assert ds.dir[0, 0] == 2 / 4
    assert ds.dir_by_identity[0] == pytest.approx((1 / 3 + 1) / 2)
    assert ds.grr[0] == pytest.approx(2 / 3)
    assert ds.grr_by_identity[0] == pytest.approx((1 / 2 + 1) / 2)
    assert ds.open_set_score[0] == pytest.approx(math.sqrt(2 / 3 * 3 / 4))


def test_as_many_attempts_of_each_identity_give_the_mean_over_attempts():
    scores = be.simulate(12, 4, random_state=2)
    ds = be.open_set(scores, average="identity")
    np.testing.assert_allclose(ds.dir_by_identity, ds.dir.sel(rank=1), rtol=0, atol=1e-12)
    np.testing.assert_allclose(ds.grr_by_identity, ds.grr, rtol=0, atol=1e-12)
    assert ds.best_open_set_score == ds.open_set_score.max()
    assert float(ds.best_open_set_score_threshold) in ds.threshold.values
    closed = be.closed_set(scores, average="identity")
    np.testing.assert_allclose(closed.cms_by_identity, closed.cms, rtol=0, atol=1e-12)


def test_means_over_attempts_stay_as_they_are():
    distances, sightings, database = wildlife()
    scores = be.Scores(distances, sightings, database)
    both = be.open_set(scores, thresholds=[1.0, 2.0], average="identity")
    plain = be.open_set(scores, thresholds=[1.0, 2.0])
    assert "open_set_score" not in plain and "average" not in plain.attrs
    for name in plain.data_vars:
        np.testing.assert_array_equal(both[name], plain[name])


def test_one_identity_has_no_score_without_an_impostor():
    ds = be.open_set(be.Scores([[1.0]], ["ann"], ["ann"]), thresholds=[1], average="identity")
    assert ds.dir_by_identity[0] == 1
    assert np.isnan(ds.grr_by_identity[0]) and np.isnan(ds.open_set_score[0])
    assert np.isnan(ds.best_open_set_score) and ds.impostor_identities == 0


def test_distractors_and_junk_are_of_no_identity():
    # 0 marks distractors: many people under one label.
    scores = be.Scores([[1, 5], [4, 2], [1, 9], [3, 9]], [1, 2, 0, 7], [1, 2], distractor_ids=[0])
    ds = be.open_set(scores, thresholds=[2], average="identity")
    assert ds.impostor_attempts == 2
    assert ds.impostor_identities == 1
    assert ds.grr[0] == 0.5
    assert ds.grr_by_identity[0] == 1


def test_the_score_between_rows_has_the_limits_of_its_rates():
    rng = np.random.default_rng(0)
    scores = be.Scores(rng.random((30, 14)), np.repeat(np.arange(10), 3), np.repeat(range(7), 2))
    ds = be.open_set(scores, thresholds=[0.05, 0.2, 0.4], average="identity")
    exact = be.open_set(scores, thresholds=[0.1, 0.2], average="identity").open_set_score.values
    between = be.at(ds, [0.1, 0.2])
    low, high = between.open_set_score_at_least.values, between.open_set_score_at_most.values
    assert low[0] <= exact[0] <= high[0] and low[0] < high[0]
    assert low[1] == high[1] == exact[1] == between.open_set_score.values[1]
