"""Limits of means by identity: each identity is one observation, drawn or left out."""

from __future__ import annotations

import math

import naive_identities
import naive_jackknife
import naive_left_out
import numpy as np
import pytest
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.stats.options import IntervalOptions

BY_IDENTITY = ("dir_by_identity", "grr_by_identity", "open_set_score")


def uneven(seed: int, people: int, templates: int) -> tuple[np.ndarray, list[str]]:
    """Distances, all against all, of people with unequal numbers of templates."""
    rng = np.random.default_rng(seed)
    label = np.repeat(np.arange(people), rng.integers(1, templates + 1, people))
    points = rng.normal(size=(people, 3))[label] + 0.6 * rng.normal(size=(len(label), 3))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    return distances, [f"p{i}" for i in label]


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("unit", ["template", "subject"])
def test_limits_for_new_people_are_of_the_means_without_each(kind, unit):
    distances, labels = uneven(4, 9, 4)
    sign = 1 if kind == "distance" else -1
    thresholds = np.sort(sign * np.quantile(distances, [0.02, 0.06, 0.2]))
    scores = be.Scores(sign * distances, labels, kind=kind)
    ds = be.open_set(
        scores, thresholds=thresholds, rank_unit=unit, average="identity",
        interval="subject-bootstrap",
    )  # fmt: skip
    assert ds.attrs["interval_for"] == "new people"
    case = {
        "values": (sign * distances).tolist(), "probe_labels": labels, "mask": None, "kind": kind,
    }  # fmt: skip
    genuine, impostors = int(ds.genuine_identities), int(ds.impostor_identities) // 2
    trials = dict(zip(BY_IDENTITY, (genuine, impostors, min(genuine, impostors)), strict=True))
    for k, t in enumerate(thresholds):

        def rates(part, t=t):
            return naive_identities.open_set(t, sign, unit=unit, **part)

        without = naive_left_out.of_each(case, rates)
        for i, name in enumerate(BY_IDENTITY):
            expected = naive_jackknife.limits(
                float(rates(case)[i]), [float(x[i]) for x in without], trials[name]
            )
            found = ds[f"{name}_low"].values[k], ds[f"{name}_high"].values[k]
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9, err_msg=name)
    closed = be.closed_set(
        scores, rank_unit=unit, average="identity", max_rank=3, interval="subject-bootstrap"
    )
    for k in range(3):

        def cms(part, k=k):
            return naive_identities.cms(k + 1, unit=unit, **part)

        without = [float(x) for x in naive_left_out.of_each(case, cms)]
        expected = naive_jackknife.limits(float(cms(case)), without, genuine)
        found = closed.cms_by_identity_low.values[k], closed.cms_by_identity_high.values[k]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    assert closed.recognition_rate_by_identity_low == closed.cms_by_identity_low[0]


def of_a_fixed_gallery() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances, probes and gallery of twelve people and six who are not enrolled."""
    rng = np.random.default_rng(7)
    enrolled = np.repeat(np.arange(12), rng.integers(1, 5, 12))
    probes = np.repeat(np.arange(18), rng.integers(1, 6, 18))
    distances = rng.random((len(probes), len(enrolled)))
    distances[probes[:, None] == enrolled] *= 0.5
    return distances, probes, enrolled


def values_of_people(threshold: float) -> tuple[dict[int, float], dict[int, float]]:
    """The proportion detected of each enrolled person, and rejected of each other one."""
    distances, probes, enrolled = of_a_fixed_gallery()
    genuine, impostor = naive_identities.searches(
        values=distances.tolist(), probe_labels=probes.tolist(), gallery_labels=enrolled.tolist()
    )
    detected: dict[int, list[int]] = {}
    for who, r in genuine:
        detected.setdefault(who, []).append(r.rank == 1 and r.best_mate <= threshold)
    rejected: dict[int, list[int]] = {}
    for who, r in impostor:
        rejected.setdefault(who, []).append(r.nearest_other > threshold)
    return (
        {who: sum(each) / len(each) for who, each in detected.items()},
        {who: sum(each) / len(each) for who, each in rejected.items()},
    )


THRESHOLDS = (0.01, 0.03)


def mean(values: dict[int, float], but: int | None = None) -> float:
    kept = [value for who, value in values.items() if who != but]
    return sum(kept) / len(kept)


def test_of_a_fixed_gallery_people_are_left_out_as_probes():
    ds = be.open_set(
        be.Scores(*of_a_fixed_gallery()), thresholds=THRESHOLDS, average="identity",
        interval="subject-bootstrap",
    )  # fmt: skip
    assert ds.attrs["interval_for"] == "this gallery"
    for k, t in enumerate(THRESHOLDS):
        both = values_of_people(t)
        for name, values in zip(BY_IDENTITY[:2], both, strict=True):
            without = [mean(values, who) for who in values]
            expected = naive_jackknife.limits(mean(values), without, len(values))
            found = ds[f"{name}_low"].values[k], ds[f"{name}_high"].values[k]
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9, err_msg=name)
        without = [math.sqrt(mean(both[0], who) * mean(both[1], who)) for who in range(18)]
        score = math.sqrt(mean(both[0]) * mean(both[1]))
        expected = naive_jackknife.limits(score, without, min(map(len, both)))
        found = ds.open_set_score_low.values[k], ds.open_set_score_high.values[k]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", ["subject-bootstrap-bca", "subject-bootstrap-logit"])
def test_of_a_fixed_gallery_people_are_drawn(method):
    ds = be.open_set(
        be.Scores(*of_a_fixed_gallery()), thresholds=THRESHOLDS, average="identity",
        interval=method, replicates=200,
    )  # fmt: skip
    options = IntervalOptions.parse(method, replicates=200)
    for k, t in enumerate(THRESHOLDS):
        both = values_of_people(t)
        drawn = []
        for column in options.weights(18).T.astype(int):
            means = []
            for values in both:
                number = sum(int(column[who]) for who in values)
                total = sum(int(column[who]) * value for who, value in values.items())
                means.append(total / number if number else math.nan)
            drawn.append((*means, math.sqrt(means[0] * means[1])))
        trials = (len(both[0]), len(both[1]), min(map(len, both)))
        for name, values, number in zip(BY_IDENTITY, np.transpose(drawn), trials, strict=True):
            expected = np.ravel(options.limits(values[None], number))
            if name == "grr_by_identity":
                expected = 1 - np.ravel(options.limits(1 - values[None], number))[::-1]
            found = ds[f"{name}_low"].values[k], ds[f"{name}_high"].values[k]
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9, err_msg=name)


def test_analytic_limits_have_none_of_the_score():
    distances, labels = uneven(4, 9, 4)
    scores = be.Scores(distances[:12, 12:], labels[:12], labels[12:])
    ds = be.open_set(scores, thresholds=[1.0], average="identity", interval="analytic")
    assert "grr_by_identity_low" in ds and "open_set_score_low" not in ds


def test_independent_attempts_have_no_limits_by_identity():
    distances, labels = uneven(4, 9, 4)
    scores = be.Scores(distances, labels)
    ds = be.open_set(scores, thresholds=[1.0], average="identity", interval="wilson")
    assert "far_low" in ds and "grr_by_identity_low" not in ds


def test_means_over_queries_by_identity_leave_each_out():
    rng = np.random.default_rng(9)
    enrolled = np.repeat(np.arange(10), 3)
    queries = np.repeat(np.arange(10), rng.integers(1, 6, 10))
    distances = rng.random((len(queries), len(enrolled)))
    distances[queries[:, None] == enrolled] *= 0.7
    ds = be.reid(
        be.Scores(distances, queries, enrolled), "vehicleid", average="identity", max_rank=4,
        per_query=True, interval="subject-bootstrap", replicates=200,
    )  # fmt: skip
    for name, each in (
        ("mean_ap_by_identity", ds.average_precision.values),
        ("mrr_by_identity", ds.reciprocal_rank.values),
    ):
        values = {who: each[queries == who].mean() for who in range(10)}
        expected = naive_jackknife.limits(mean(values), [mean(values, who) for who in values], 10)
        found = float(ds[f"{name}_low"]), float(ds[f"{name}_high"])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    first = ds.first_match_rank.values
    for k in range(1, 5):
        values = {who: (first[queries == who] <= k).mean() for who in range(10)}
        assert ds.cmc_by_identity[k - 1] == pytest.approx(mean(values))
        expected = naive_jackknife.limits(mean(values), [mean(values, who) for who in values], 10)
        found = ds.cmc_by_identity_low.values[k - 1], ds.cmc_by_identity_high.values[k - 1]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
