"""Limits from rates without each person, against plain loops."""

from __future__ import annotations

import itertools

import naive_jackknife
import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from strategies import examples_of

import bioeval as be
from bioeval.counting.by_subject import PairCounts
from bioeval.stats.limits import jackknife_limits
from bioeval.stats.people import AttemptsOfEach

RATES = st.floats(0, 1).map(lambda x: round(x, 3))


@settings(max_examples=examples_of(60))
@example(([0.1, 0.1, 0.1], 0.1), 3, 0.9, 3)  # nobody makes a difference
@example(([0.0, 0.2, 0.2], 0.1), 3, 0.9, 3)  # one makes all errors
@example(([0.1, 0.2, 0.2], 0.15), 5, 0.9, 1)  # one person on a side
@given(
    st.tuples(st.lists(RATES, min_size=2, max_size=9), RATES),
    st.integers(1, 9),
    st.sampled_from([0.9, 0.95]),
    st.integers(1, 12),
)
def test_limits_are_those_of_plain_loops(case, trials, confidence, fewest):
    without, rate = case
    low, high = jackknife_limits(np.array([rate]), np.array([without]), confidence, trials, fewest)
    expected = naive_jackknife.limits(rate, without, trials, confidence, fewest)
    np.testing.assert_allclose((low[0], high[0]), expected, atol=1e-9)


def matrix(rng, probes, gallery, apart=2.0):
    """Distances of the templates of people, whose numbers on both sides may be the same."""
    centre = rng.normal(size=(max(*probes, *gallery) + 1, 4))
    left = centre[probes] + 0.5 * rng.normal(size=(len(probes), 4))
    right = centre[gallery] + 0.5 * rng.normal(size=(len(gallery), 4))
    return np.linalg.norm(left[:, None] - right, axis=-1)


@pytest.mark.parametrize("who", ["both sides", "other people", "distractors"])
def test_a_person_leaves_every_side(who):
    rng = np.random.default_rng(5)
    probes, gallery = np.repeat(np.arange(14), 2), np.repeat(np.arange(14), 2)
    if who == "other people":
        gallery = np.repeat(np.arange(14, 26), 2)
    if who == "distractors":  # who are in the gallery alone
        probes = np.repeat(np.arange(10), 2)
    distractors = [10, 11, 12, 13] if who == "distractors" else []
    values = matrix(rng, probes, gallery)
    scores = be.Scores(values, probes, gallery, distractor_ids=distractors)
    at = float(np.quantile(values, 0.3))
    ds = be.verification(
        scores,
        thresholds=[at],
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
    )
    people = sorted({*probes.tolist(), *gallery.tolist()} - {*distractors})

    def rate(gone=None):
        pairs = [
            (i, j)
            for i, j in itertools.product(range(len(probes)), range(len(gallery)))
            if probes[i] != gallery[j] and gone not in (probes[i], gallery[j])
        ]
        return np.mean([values[pair] <= at for pair in pairs])

    trials = {"both sides": 7, "other people": 12, "distractors": 5}[who]
    fewest = {"both sides": 14, "other people": 12, "distractors": 10}[who]
    without = [rate(a) for a in people]
    expected = naive_jackknife.limits(rate(), without, trials, 0.95, fewest)
    np.testing.assert_allclose((ds.far_low.item(), ds.far_high.item()), expected, atol=1e-9)


def test_auc_leaves_out_each_person():
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(9), 2)
    values = np.round(matrix(rng, labels, labels), 1)
    values = np.triu(values, 1) + np.triu(values, 1).T  # at most 512 scores: exact
    ds = be.verification(
        be.Scores(values, labels),
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
    )
    i, j = np.triu_indices(18, 1)

    def area(gone=None):
        there = (labels[i] != gone) & (labels[j] != gone)
        same = labels[i] == labels[j]
        genuine, impostor = values[i, j][there & same], values[i, j][there & ~same]
        above = impostor[:, None] > genuine
        return np.mean(above + 0.5 * (impostor[:, None] == genuine))

    expected = naive_jackknife.limits(area(), [area(a) for a in range(9)], 4)
    np.testing.assert_allclose((ds.auc_low.item(), ds.auc_high.item()), expected, atol=1e-9)


@pytest.mark.parametrize("groups", [3, 1000])
def test_attempts_of_each_person_or_group(monkeypatch, groups):
    monkeypatch.setattr("bioeval.stats.limits.GROUPS", groups)
    rng, people = np.random.default_rng(2), 7
    no_person = np.arange(people) == 3
    whole = AttemptsOfEach.of_people(no_person, 5)
    table = rng.integers(0, 4, size=(5, people, people)) * ~np.eye(people, dtype=bool)
    for left in range(people):
        layer, right = np.nonzero(table[:, left])
        row = PairCounts.of(np.full(len(layer), left), right, layer, table[layer, left, right])
        whole.add(row)
    total = np.cumsum(table.sum(axis=(1, 2)))
    expected = [total]
    of_each = [0, 0, -1, 1, 1, 2, 2] if groups == 3 else [0, 1, -1, 2, 3, 4, 5]
    of_each[2:4] = of_each[3], -1  # the fourth is no person
    for group in range(max(of_each) + 1):
        a = [i for i, x in enumerate(of_each) if x == group]
        rest = np.delete(np.delete(table, a, axis=1), a, axis=2)
        expected.append(np.cumsum(rest.sum(axis=(1, 2))))
    np.testing.assert_array_equal(whole.accepted(), np.transpose(expected))
