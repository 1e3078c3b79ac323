"""Whether groups differ: limits of rates, of their differences, and the tests."""

import itertools

import naive
import naive_groups
import numpy as np
import pytest
from naive_groups import without_totals
from reference import one_thread  # noqa: F401
from result_messages import arguments, codes

import bioeval as be

OPTIONS = {"interval": "people"}


def of_people(seed, people=66, each=2, groups="ab"):
    """Scores of people in groups of equal size, and the group of each template."""
    scores = be.simulate(people, each, random_state=seed)
    return scores, np.array(list(groups))[np.asarray(scores.probe_labels) % len(groups)]


def at_frr(scores, rate):
    labels = np.asarray(scores.probe_labels)
    return float(np.quantile(scores.values[labels[:, None] == labels], 1 - rate))


@pytest.fixture(scope="module")
def compared():
    scores, group = of_people(3, people=99, groups="abc")
    threshold = at_frr(scores, 0.1)
    return (
        scores,
        group,
        threshold,
        without_totals(be.by_group(scores, group, threshold=threshold, **OPTIONS)),
    )


def made_by(scores, group, at):
    """Return the group of each person, and false rejects and false accepts with their people."""
    attempts = naive_groups.attempts(naive.read(scores.values, scores.probe_labels))
    group_of = dict(zip(scores.probe_labels.tolist(), group.tolist(), strict=True))
    rejects = [(a.score > at, (a.probe,)) for a in attempts if a.genuine]
    accepts = [(a.score <= at, (a.probe, a.claimed)) for a in attempts if not a.genuine]
    return group_of, rejects, accepts


def limits_of(made, of, g, trials, level):
    """Return the limits of the rate within a group."""
    own = [(wrong, people) for wrong, people in made if {of[x] for x in people} == {g}]
    return naive_groups.left_out_limits(own, trials, level)


@pytest.mark.slow
def test_limits_of_differences_are_those_of_people_left_out(compared):
    scores, group, threshold, ds = compared
    group_of, rejects, accepts = made_by(scores, group, threshold)
    for name, errors, trials in (("far", accepts, 16), ("frr", rejects, 33)):
        rates = np.diag(ds.far) if name == "far" else ds.frr.values
        for i, j in itertools.combinations(range(3), 2):
            two = [
                (rates[k], *limits_of(errors, group_of, "abc"[k], trials, 1 - 0.05 / 3))
                for k in (i, j)
            ]
            expected = naive_groups.limits_of_difference(*two)
            limits = [ds[f"{name}_difference_{end}"].values[i, j] for end in ("low", "high")]
            np.testing.assert_allclose(limits, expected, rtol=1e-9)


@pytest.mark.slow
def test_groups_are_tested_by_the_largest_deviation_among_permutations():
    scores, group = of_people(2)
    threshold, rng = at_frr(scores, 0.1), np.random.default_rng(1)
    ds = be.by_group(scores, group, threshold=threshold, **OPTIONS)
    group_of, rejects, accepts = made_by(scores, group, threshold)
    for name, errors, number, off in (("frr", rejects, 500, 0.07), ("far", accepts, 60, 0.17)):
        observed, as_large = naive_groups.largest_deviation(errors, group_of), 0
        for _ in range(number):
            drawn = dict(
                zip(group_of, rng.permutation(list(group_of.values())).tolist(), strict=True)
            )
            as_large += naive_groups.largest_deviation(errors, drawn) >= observed * (1 - 1e-9)
        assert 0.1 < ds[f"{name}_groups_p"] < 0.9
        assert ds[f"{name}_groups_p"] == pytest.approx(as_large / number, abs=off)


def test_groups_that_differ_are_shown():
    scores, group = of_people(1, each=4)
    worse = scores.values.copy()
    own = np.asarray(scores.probe_labels)
    mates = (own[:, None] == own) & (group == "b")
    worse[mates & ~np.eye(len(own), dtype=bool)] += 2.0
    ds = be.by_group(be.Scores(worse, own), group, threshold="far=0.02", **OPTIONS)
    assert ds.frr_groups_p == 1 / 2001
    assert ds.frr_difference_low.sel(group="b", other_group="a") > 0
    assert ds.far_groups_p > 0.05


def test_small_groups_are_not_concluded_about():
    scores, _ = of_people(2, people=75)
    small = np.asarray(scores.probe_labels)
    group = np.where(small <= 10, "c", np.where(small % 2, "a", "b"))
    ds = be.by_group(scores, group, threshold="far=0.02", **OPTIONS)
    assert arguments(ds, "groups-of-few-subjects")["groups"] == ["c"]
    assert ds.frr_groups_p > 0
    for rate in ("frr", "far"):
        of_small = ds[f"{rate}_difference_low"].sel(group="c")
        assert of_small.isnull().all() and ds[f"{rate}_letters"].sel(group="c") == ""
        assert (ds[f"{rate}_separated"].sel(group="c") == 0).all()
        assert not np.isnan(ds[f"{rate}_difference_low"].sel(group="a", other_group="b"))
    members = np.flatnonzero(small <= 50)
    few_people = be.Scores(scores.values[np.ix_(members, members)], small[members])
    few_people = be.by_group(few_people, group[members], **OPTIONS)
    assert "groups-not-compared" in codes(few_people)
    assert np.isnan(few_people.frr_groups_p)


def test_many_people_have_no_test_of_far(monkeypatch, compared):
    monkeypatch.setattr("bioeval.studies.group_differences.MOST_TESTED", 60)
    scores, group, threshold, complete = compared
    ds = be.by_group(scores, group, threshold=threshold, **OPTIONS)
    assert np.isnan(ds.far_groups_p) and ds.frr_groups_p == complete.frr_groups_p
    assert "groups-not-compared" in codes(ds)
    assert without_totals(ds).far_low.equals(complete.far_low)


@pytest.mark.slow
@pytest.mark.parametrize("rate", ["frr", "far"])
def test_pairs_are_told_apart_step_by_step(rate):
    """As by Holm: at the level of so many pairs as are not told apart yet."""
    scores, group = of_people(0, people=160, groups="abcd")
    values, labels = scores.values.copy(), np.asarray(scores.probe_labels)
    for group_name, worse in (("b", 0.5), ("c", 1.0), ("d", 1.5)):
        is_member = group == group_name
        values[is_member[:, None] & is_member] += worse if rate == "frr" else -worse
    scores, threshold = be.Scores(values, labels), 4.0
    ds = without_totals(be.by_group(scores, group, threshold=threshold, **OPTIONS))

    def limits(i, j, left):
        rows = np.flatnonzero((group == i) | (group == j))
        method = be.stats.IntervalMethod("people", confidence=1 - 0.05 / left)
        pair = be.by_group(
            scores.select(rows, rows), (group[rows],) * 2, threshold=threshold, interval=method
        )
        place = {"group": i, "other_group": j}
        return [pair[f"{rate}_difference_{end}"].sel(place).item() for end in ("low", "high")]

    pairs = list(itertools.combinations("abcd", 2))
    separated, newly_told = {}, True
    while newly_told and len(separated) < len(pairs):
        left = len(pairs) - len(separated)
        ends = {pair: limits(*pair, left) for pair in pairs if pair not in separated}
        newly_told = {pair: (low > 0) - (high < 0) for pair, (low, high) in ends.items()}
        newly_told = {pair: sign for pair, sign in newly_told.items() if sign}
        separated |= newly_told
    later, letters = 0, dict(zip("abcd", ds[f"{rate}_letters"].values, strict=True))
    for i, j in pairs:
        place = {"group": i, "other_group": j}
        low, high = (ds[f"{rate}_difference_{end}"].sel(place).item() for end in ("low", "high"))
        np.testing.assert_allclose([low, high], limits(i, j, len(pairs)), atol=1e-12)
        assert ds[f"{rate}_separated"].sel(place) == separated.get((i, j), 0)
        assert set(letters[i]).isdisjoint(letters[j]) == ((i, j) in separated)
        later += (i, j) in separated and low <= 0 <= high
    assert 0 < len(separated) < len(pairs) and later, "nothing was at stake"
    rates = ds.frr.values if rate == "frr" else np.diag(ds.far)
    assert "a" in letters["abcd"[rates.argmin()]]
