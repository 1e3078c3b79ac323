"""Limits along curves where few people err: against plain loops, and what never may happen."""

from __future__ import annotations

import math

import naive_few_errors
import naive_jackknife
import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from strategies import examples_of

import bioeval as be
from bioeval.counting.by_subject import PairCounts
from bioeval.stats.bootstrap import SubjectMeans
from bioeval.stats.few_errors import ErringPairs, FewErrors, Placed, around_few
from bioeval.stats.options import IntervalMethod

METHODS = ("subject-bootstrap",)


@st.composite
def hits_of_people(draw):
    """Places of the hits of some people, and their attempts; few places, so that many are equal."""
    people = draw(st.integers(1, 12))
    attempts = draw(st.lists(st.integers(0, 5), min_size=people, max_size=people))
    places = st.one_of(st.integers(0, 6), st.just(-math.inf), st.just(math.inf))
    hits = [draw(st.lists(places, max_size=n)) for n in attempts]
    return attempts, [[float(x) for x in of] for of in hits]


def as_placed(hits):
    person = np.repeat(np.arange(len(hits)), [len(x) for x in hits])
    return Placed.of(person, np.array([x for of in hits for x in of], dtype=float))


@settings(max_examples=examples_of(15))
@example(([2] * 8, [[1.0, 2.0], [1.0], [3.0], [], [5.0, 5.0], [2.0], [4.0, 6.0], []]), METHODS[0])
@example(([1] * 12, [[float(i // 2)] for i in range(12)]), METHODS[0])  # one attempt each
@example(([3], [[1.0, 2.0]]), METHODS[0])  # one person
@given(hits_of_people(), st.sampled_from(METHODS))
def test_limits_along_a_curve_are_those_of_plain_loops(case, method):
    attempts, hits = case
    options = IntervalMethod(method, 0.9, 100)
    number = np.array(attempts)
    means = SubjectMeans(number, options.weights(len(number)), options)
    placed, at = as_placed(hits), np.arange(-1.0, 8.0)
    low, high = means.limits_along(placed, at)
    rate = np.array([(placed.place <= t).sum() for t in at]) / max(number.sum(), 1)
    if not means.trials:
        assert np.isnan(low).all() and np.isnan(high).all()
        return
    order = np.argsort(rate, kind="stable")
    assert (np.diff(low[order]) >= 0).all() and (np.diff(high[order]) >= 0).all()
    assert (low <= rate + 1e-12).all() and (rate <= high + 1e-12).all() or method != METHODS[0]
    assert (high[rate == 0] > 0).all() and (low[rate == 1] < 1).all()
    if method != METHODS[0]:  # where others are not monotone themselves, places between count
        return
    counts = np.array([[sum(x <= t for x in of) for of in hits] for t in at], dtype=float)
    alone = means.limits(counts, cumulative=False)
    points = list(zip(at.tolist(), *(x.tolist() for x in alone), strict=True))
    people = range(len(hits))
    expected = naive_few_errors.limits_along(
        {a: [(x, 1.0) for x in hits[a]] for a in people}, {a: attempts[a] for a in people},
        means.trials, points, 0.9,
    )  # fmt: skip
    np.testing.assert_allclose(np.transpose([low, high]), expected, atol=1e-9)


def labelled(rng, sizes, digits=0):
    """A symmetric matrix of few distinct distances, of people with some templates each."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    where = rng.normal(size=(len(sizes), 3))[labels] + 0.6 * rng.normal(size=(len(labels), 3))
    away = np.linalg.norm(where[:, None] - where, axis=-1)
    return np.round(2 * away, digits), labels


@pytest.mark.parametrize("given", ["symmetric", "both ways", "lists", "not a number"])
def test_limits_of_verification_are_those_of_plain_loops(given):
    rng = np.random.default_rng(4)
    values, labels = labelled(rng, [3, 1, 2, 4, 1, 2, 3, 1, 2, 3, 2, 2, 3])
    n, copies = len(labels), 2
    if given != "symmetric":
        copies = 1
    if given == "both ways":
        values = values + 2.0 * (rng.random((n, n)) < 0.3)
    if given == "not a number":
        gone = rng.random((n, n)) < 0.2
        values[gone | gone.T] = np.nan
        values[0, 5] = 1.0
    if given == "lists":
        left, right = np.triu_indices(n, 1)
        values[np.tril_indices(n)] = np.nan
        pairs = np.stack([labels[left], labels[right]], axis=1)
        scores = be.Scores.from_pairs(
            values[left, right], labels[left] == labels[right], subjects=pairs
        )
    else:
        scores = be.Scores(values, labels, nan="exclude" if np.isnan(values).any() else "raise")
    options = {"interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100)}
    ds = be.verification(scores, thresholds=np.unique(values[values == values]), **options)
    people = range(13)
    genuine, impostor = {a: [] for a in people}, {}
    for i in range(n):
        for j in range(n):
            a, b = int(labels[i]), int(labels[j])
            if i != j and not np.isnan(values[i, j]):
                of = genuine[a] if a == b else impostor.setdefault((min(a, b), max(a, b)), [])
                of.append((float(values[i, j]), 1.0))

    def rate(attempts, t):
        return np.mean([x <= t for some in attempts for x, _ in some])

    trials, tried = 6, [a for a in people if genuine[a]]
    far, gar = [], []
    for t in ds.threshold.values.tolist():
        without = [rate([x for who, x in impostor.items() if a not in who], t) for a in people]
        far.append((t, *naive_jackknife.limits(rate(impostor.values(), t), without, trials)))
        without = [rate([x for who, x in genuine.items() if who != a], t) for a in tried]
        gar.append((t, *naive_jackknife.limits(rate(genuine.values(), t), without, len(tried))))
    made = {a: len(x) for a, x in impostor.items()}
    expected = naive_few_errors.limits_along(impostor, made, trials, far, copies=copies, pairs=True)
    assert len({x for x in expected if 0 < x[0] < x[1] < 1}) > 3
    ends = np.transpose([ds.far_low, ds.far_high])
    # A pair compared in both orders counts as if it were as often in the one as in the other.
    tolerance = {"lists": 0.02, "not a number": 1e-4}.get(given, 1e-9)
    np.testing.assert_allclose(ends, expected, atol=tolerance)
    number = {a: len(of) for a, of in genuine.items()}
    expected = naive_few_errors.limits_along(genuine, number, len(tried), gar, copies=copies)
    np.testing.assert_allclose(np.transpose([ds.gar_low, ds.gar_high]), expected, atol=1e-9)


def test_attempts_may_be_in_any_blocks_and_on_any_thread():
    rng, people = np.random.default_rng(2), 12
    left, right = (x[np.triu_indices(people, 1)] for x in np.indices((people, people)))
    layer, count = rng.integers(0, 30, (66, 2)), rng.integers(1, 3, (66, 2))
    nobody = np.zeros(people, dtype=bool)
    sides = np.arange(people - 1), np.arange(1, people)
    whole, parts = ErringPairs(sides, nobody, 6), ErringPairs(sides, nobody, 6)
    whole.add(PairCounts.of(np.repeat(left, 2), np.repeat(right, 2), layer.ravel(), count.ravel()))
    threads = parts.fresh(), parts.fresh()
    for k in rng.permutation(66).tolist():
        for kept in (slice(1), slice(0), slice(1, 2)):
            a, b, *entries = (np.broadcast_to(x[k], 2)[kept] for x in (left, right, layer, count))
            threads[rng.integers(2)].add(PairCounts.of(a, b, *entries))
    for thread in threads:
        parts.merge(thread)
    made = [(left * people + right, count.sum(axis=1))]
    assert whole.few(made) == parts.few(made)
    assert whole.few(made)[0].below < 1 and not math.isnan(whole.few(made)[1].place)


def test_one_person_near_to_everyone_is_one_pair_in_error():
    """However many errors the person makes, nothing shows how many such people there are."""
    people, templates = 40, 2
    labels = np.repeat(np.arange(people), templates)
    rng = np.random.default_rng(1)
    values = 10 + rng.random((80, 80))
    values = np.where(labels[:, None] == labels, rng.random((80, 80)), np.triu(values, 1))
    values = values + values.T
    near = (labels == 0)[:, None] ^ (labels == 0)
    values[near] = 5 + values[near] / 100
    np.fill_diagonal(values, 0)
    ds = be.verification(be.Scores(values, labels), thresholds=[8.0], interval="subject-bootstrap")
    assert ds.far.item() == pytest.approx(2 / people)
    assert ds.far_low.item() < 0.005 and ds.far_high.item() > 0.15


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.cases(1)
def test_fewer_errors_never_give_a_wider_limit(method):
    scores = be.simulate(20, 4, within=0.55, random_state=1)
    options = {"interval": be.stats.IntervalMethod(method, replicates=100)}
    ds = be.verification(scores, thresholds=40, far_targets=[0.1, 0.03, 0.01, 0.0], **options)
    opened = be.open_set(scores.select(np.arange(80) % 4 < 2, np.arange(80) % 4 > 1), **options)
    curves = [(ds, x) for x in ("far", "frr", "gar", "grr")]
    curves += [(opened, x) for x in ("far", "frr")]
    for data, name in curves:
        rate, low, high = (data[f"{name}{end}"].values for end in ("", "_low", "_high"))
        order = np.argsort(rate, kind="stable")
        for end in (low, high):
            assert (np.diff(end[order]) >= -1e-15).all()
        assert (low <= rate).all() and (rate <= high).all() and (high > low).all()
    people = 1 - 0.05 ** (1 / 20)
    assert (ds.frr_high[ds.frr == 0] < people / 2).all() and (ds.frr == 0).any()
    for target, t in zip(ds.far_target.values, ds.threshold_at_far.values, strict=True):
        at = be.verification(scores, thresholds=[t], **options).isel(threshold=0)
        point = ds.sel(far_target=target)
        if at.frr < 0.02:  # fewer than five people
            assert point.frr_at_far_low <= at.frr_low + 1e-15
            assert point.frr_at_far_high >= at.frr_high - 1e-15


def test_an_operating_point_is_widened_to_its_curve():
    few = FewErrors(100.0, 0.1, 0.08, 3.0), FewErrors(50.0, 0.1, 0.05, 2.0)
    rate, given_ = np.array([0.0, 0.05, 0.2, np.nan]), (0.01, 0.02, 0.15, np.nan)
    low, high = around_few(rate, (np.array(given_) / 2, np.array(given_)), few, 0.95)
    zero, some, most = (naive_few_errors.clopper_pearson(x, 100, 0.95) for x in (0.0, 0.05, 0.08))
    np.testing.assert_allclose(high, [zero[1], some[1], max(most[1], 0.15), np.nan])
    np.testing.assert_allclose(low, [0.0, min(0.01, some[0]), 0.075, np.nan])


def test_the_rows_of_a_person_may_be_in_several_blocks(monkeypatch):
    """As on a machine with other blocks, or where workers count."""
    scores = be.simulate(12, 4, random_state=1).select(np.random.default_rng(3).permutation(48))
    options = {"interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100)}
    whole = be.verification(scores, **options)
    monkeypatch.setattr("bioeval.scores.blocks.BLOCK_VALUES", 300)
    assert be.verification(scores, **options).identical(whole)
