"""Whether groups differ: limits of all rates together, of the measures, and the tests."""

import itertools
import math

import naive
import naive_groups
import numpy as np
import pytest
from hypothesis import given, strategies as st
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.base.random import Stream, seed_sequence
from bioeval.studies.groups import differences
from bioeval.studies.groups.measures import (
    INEQUITY,
    geomean_limits,
    gini_limits,
    inequity,
    quotient_limits,
    range_limits,
)

OPTIONS = {"interval": "people"}


def of_people(seed, people=66, each=2, **more):
    """Scores of people in two groups of equal size."""
    scores = be.simulate(people, each, random_state=seed, **more)
    return scores, np.where(np.asarray(scores.probe_labels) % 2, "a", "b")


@pytest.fixture(scope="module")
def compared():
    scores, group = of_people(3)
    who = np.asarray(scores.probe_labels)
    at = float(np.quantile(scores.values[who[:, None] == who], 0.9))  # FRR 20 %
    return scores, group, at, be.by_group(scores, group, threshold=at, **OPTIONS)


def made_by(scores, group, at):
    """Return false rejects and false accepts within groups, each with its people."""
    attempts = naive_groups.attempts(naive.read(scores.values, scores.probe_labels))
    of = dict(zip(scores.probe_labels.tolist(), group.tolist(), strict=True))
    rejects = [(a.score > at, (a.probe,)) for a in attempts if a.genuine]
    accepts = [(a.score <= at, (a.probe, a.claimed)) for a in attempts if not a.genuine]
    return of, rejects, [a for a in accepts if of[a[1][0]] == of[a[1][1]]]


def in_group(made, of, g):
    """Return the attempts of a group by whether they are errors."""
    own = {True: [], False: []}
    for wrong, people in made:
        if of[people[0]] == g:
            own[wrong].append(people)
    return own


def test_rates_have_limits_by_leaving_out_each_person_of_a_group(compared):
    scores, group, at, ds = compared
    of, rejects, accepts = made_by(scores, group, at)
    level = 0.95 ** (1 / 2)
    for g in "ab":
        for name, made, trials in (("frr", rejects, 33), ("far", accepts, 16)):
            expected = naive_groups.left_out_limits(in_group(made, of, g), trials, level)
            ends = [ds[f"{name}_simultaneous_{end}"].sel(group=g) for end in ("low", "high")]
            np.testing.assert_allclose(ends, expected, rtol=1e-9)


def test_measures_have_the_values_within_limits_of_all_rates(compared):
    scores, group, at, ds = compared
    of, rejects, accepts = made_by(scores, group, at)
    level = 0.95 ** (1 / 4)
    low, high = np.empty((2, 2, 2))
    for g, i in (("a", 0), ("b", 1)):
        for j, (made, trials) in enumerate(((accepts, 16), (rejects, 33))):
            ends = naive_groups.left_out_limits(in_group(made, of, g), trials, level)
            low[j, i], high[j, i] = ends
    least = np.maximum(0, low.max(axis=1) - high.min(axis=1)).mean()
    most = np.maximum(high[:, 0] - low[:, 1], high[:, 1] - low[:, 0]).mean()
    np.testing.assert_allclose([ds.fdr_low, ds.fdr_high], [1 - most, 1 - least], rtol=1e-9)
    for name in INEQUITY:
        assert ds[f"{name}_low"] <= ds[name] <= ds[f"{name}_high"]


@pytest.mark.slow
def test_a_statistic_is_the_largest_deviation_in_standard_errors(compared):
    scores, group, at, ds = compared
    of, rejects, accepts = made_by(scores, group, at)
    people = sorted(of)
    codes = np.array(["ab".index(of[x]) for x in people])
    drawn = [codes, codes[np.random.default_rng(1).permutation(len(codes))]]
    for groups in drawn:
        by_name = dict(zip(people, groups.tolist(), strict=True))
        errors, attempts = np.zeros((2, len(people)))
        for wrong, (person,) in rejects:
            errors[people.index(person)] += wrong
            attempts[people.index(person)] += 1
        result = differences.largest_deviation(
            groups[:, None], 2, errors[:, None], attempts[:, None], 1
        )
        np.testing.assert_allclose(result, naive_groups.largest_deviation(rejects, by_name))
    counts = be.stats.people_counts(scores, [at])
    assert counts.people == people
    pairs = differences.PairsOfGroups(counts, codes)
    assert pairs.tables is not None
    tables = np.zeros_like(pairs.tables)
    for wrong, sides in made_by(scores, np.full_like(group, "a"), at)[2]:
        left, right = (people.index(x) for x in sides)
        for table, counted in zip(tables, (wrong, 1), strict=True):
            table[left, right] += counted
            table[right, left] += counted
    np.testing.assert_array_equal(pairs.tables, tables)
    p_value = differences.far_differs(pairs.tables, codes, Stream(seed_sequence(0), 2))
    assert p_value == ds.far_groups_p
    reached = 0
    stream = Stream(seed_sequence(0), 2)
    accepts = made_by(scores, np.full_like(group, "a"), at)[2]
    observed = naive_groups.largest_deviation(accepts, of)
    for _ in range(20):
        by_name = dict(zip(people, codes[stream.permutation(len(codes))].tolist(), strict=True))
        reached += naive_groups.largest_deviation(accepts, by_name) >= observed
    assert abs(reached / 20 - p_value) < 0.35


def test_groups_that_differ_are_shown():
    scores, group = of_people(1, each=4)
    worse = scores.values.copy()
    own = np.asarray(scores.probe_labels)
    mates = (own[:, None] == own) & (group == "b")
    worse[mates & ~np.eye(len(own), dtype=bool)] += 2.0
    ds = be.by_group(be.Scores(worse, own), group, threshold="far=0.02", **OPTIONS)
    assert ds.frr_groups_p == 1 / 2001 and ds.frr_max_over_min_low > 1 and ds.fdr_high < 1
    assert ds.far_groups_p > 0.05


def test_small_groups_are_not_concluded_about():
    scores, _ = of_people(2, people=75)
    small = np.asarray(scores.probe_labels)
    group = np.where(small <= 10, "c", np.where(small % 2, "a", "b"))
    ds = be.by_group(scores, group, threshold="far=0.02", **OPTIONS)
    (left_out,) = (x for x in be.messages(ds) if x.code == "groups-of-few-subjects")
    assert left_out.arguments["groups"] == ["c"]
    assert np.isnan(ds.frr_simultaneous_low.sel(group="c"))
    assert ds.far_max_over_min_high == math.inf and ds.frr_groups_p > 0
    chosen = np.flatnonzero(small <= 50)
    few = be.Scores(scores.values[np.ix_(chosen, chosen)], small[chosen])
    few = be.by_group(few, group[chosen], **OPTIONS)
    assert "groups-not-compared" in [message.code for message in be.messages(few)]
    assert np.isnan(few.frr_groups_p) and np.isnan(few.fdr_low)


def test_many_people_have_no_test_of_far(monkeypatch, compared):
    monkeypatch.setattr(differences, "MOST_TESTED", 60)
    scores, group, at, whole = compared
    ds = be.by_group(scores, group, threshold=at, **OPTIONS)
    assert np.isnan(ds.far_groups_p) and ds.frr_groups_p == whole.frr_groups_p
    assert "groups-not-compared" in [message.code for message in be.messages(ds)]
    assert ds.far_simultaneous_low.equals(whole.far_simultaneous_low)


def test_one_person_with_all_errors_is_no_spread():
    one = differences.PeopleOfRate(
        3, 60, np.eye(20, dtype=int)[0] * 3, np.full(20, 3), 20, np.arange(20)
    )
    low, high = be.stats.clopper_pearson(1, 20)
    assert one.limits(0.95) == (pytest.approx(low), pytest.approx(high))
    every = {True: [(0,)] * 3, False: [(x,) for x in range(1, 20) for _ in range(3)]}
    assert one.limits(0.95) == pytest.approx(naive_groups.left_out_limits(every, 20, 0.95))
    none = differences.PeopleOfRate(0, 60, np.zeros(20, int), np.full(20, 3), 20, np.arange(20))
    bound = be.stats.zero_error_bound(20)  # one-sided: no rate is below 0
    assert none.limits(0.95) == (0.0, pytest.approx(bound))
    right = differences.PeopleOfRate(60, 60, np.full(20, 3), np.full(20, 3), 20, np.arange(20))
    assert right.limits(0.95) == (pytest.approx(1 - bound), 1.0)


limits_of_rates = st.lists(
    st.tuples(st.integers(1, 8), st.integers(0, 4)).map(lambda x: (x[0] / 12, sum(x) / 12)),
    min_size=2, max_size=4,
)  # fmt: skip


@given(limits_of_rates)
def test_limits_of_measures_are_the_extremes_over_all_rates_within(ends):
    low, high = np.array(ends).T
    steps = [np.linspace(a, b, 5) for a, b in ends]
    vectors = np.array(list(itertools.product(*steps))).T
    measured = inequity(vectors, vectors, 0.5)
    for (least, most), name, exact in (
        (range_limits(low, high), "fdr", True),
        (quotient_limits(low, high), "far_max_over_min", True),
        (geomean_limits(low, high), "far_max_over_geomean", True),
        (gini_limits(low, high), "garbe", False),
    ):
        values = measured[name]
        if name == "fdr":
            values = 1 - values
        assert (values >= least - 1e-12).all() and (values <= most + 1e-12).all()
        np.testing.assert_allclose(values.max(), most, atol=1e-12 if exact else 0.35)
        assert values.min() <= least + 0.15  # between the steps


@given(st.lists(st.integers(1, 8), min_size=2, max_size=4), st.integers(0, 6))
def test_bounds_of_garbe_are_attained_by_limits_in_one_order(places, width):
    low = np.array(places) / 20
    high = low + width / 20
    corners = np.array(list(itertools.product(*zip(low, high, strict=True)))).T
    values = inequity(corners, corners, 0.5)["garbe"]
    np.testing.assert_allclose(gini_limits(low, high)[1], values.max(), atol=1e-12)
