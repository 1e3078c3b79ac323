"""Differences of each two groups, and their limits."""

import itertools

import naive_groups
import numpy as np
import pytest
from hypothesis import given, strategies as st
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.studies.groups.differences import limits_of_differences

OPTIONS = {"interval": "people"}


def of_people(seed, people=66, groups="ab"):
    scores = be.simulate(people, 2, random_state=seed)
    return scores, np.array(list(groups))[np.asarray(scores.probe_labels) % len(groups)]


def test_letters_join_the_groups_that_are_not_separated():
    scores, group = of_people(2, people=160, groups="abcd")
    values, who = scores.values.copy(), np.asarray(scores.probe_labels)
    mates = (who[:, None] == who) & ~np.eye(len(who), dtype=bool)
    for g, worse in (("b", 1.5), ("d", 3.0)):
        values[mates & (group == g)[:, None]] += worse
    ds = be.by_group(be.Scores(values, who), group, threshold="far=0.02", **OPTIONS)
    separated = 0
    for rate in ("frr", "far"):
        letters = ds[f"{rate}_letters"].values
        for i, j in itertools.combinations(range(4), 2):
            apart = int(ds[f"{rate}_separated"].values[i, j])
            low, high = (ds[f"{rate}_difference_{end}"].values[i, j] for end in ("low", "high"))
            assert apart or low <= 0 <= high
            assert bool(apart) == set(letters[i]).isdisjoint(letters[j])
            separated += bool(apart)
    assert separated >= 4
    order = np.argsort(ds.frr.values, kind="stable")
    assert "a" in str(ds.frr_letters.values[order[0]])


@pytest.mark.parametrize("rate", ["frr", "far"])
@pytest.mark.cases(1)
def test_pairs_are_told_apart_step_by_step(rate):
    """As by Holm: at the level of so many pairs as are not told apart yet."""
    scores, group = of_people(0, people=160, groups="abcd")
    values, who = scores.values.copy(), np.asarray(scores.probe_labels)
    for g, worse in (("b", 0.5), ("c", 1.0), ("d", 1.5)):
        mine = group == g
        values[mine[:, None] & mine] += worse if rate == "frr" else -worse
    scores, at = be.Scores(values, who), 4.0
    ds = be.by_group(scores, group, threshold=at, **OPTIONS)

    def limits(i, j, left):
        rows = np.flatnonzero((group == i) | (group == j))
        method = be.stats.IntervalMethod("people", confidence=1 - 0.05 / left)
        pair = be.by_group(
            scores.select(rows, rows), (group[rows],) * 2, threshold=at, interval=method
        )
        place = {"group": i, "other_group": j}
        return [pair[f"{rate}_difference_{end}"].sel(place).item() for end in ("low", "high")]

    pairs = list(itertools.combinations("abcd", 2))
    told, more = {}, True
    while more and len(told) < len(pairs):
        left = len(pairs) - len(told)
        ends = {pair: limits(*pair, left) for pair in pairs if pair not in told}
        more = {pair: (low > 0) - (high < 0) for pair, (low, high) in ends.items()}
        more = {pair: sign for pair, sign in more.items() if sign}
        told |= more
    later = 0
    for i, j in pairs:
        place = {"group": i, "other_group": j}
        low, high = (ds[f"{rate}_difference_{end}"].sel(place).item() for end in ("low", "high"))
        np.testing.assert_allclose([low, high], limits(i, j, len(pairs)), atol=1e-12)
        assert ds[f"{rate}_separated"].sel(place) == told.get((i, j), 0)
        later += (i, j) in told and low <= 0 <= high
    assert 0 < len(told) < len(pairs) and later, "nothing was at stake"


def test_small_groups_are_not_told_apart():
    scores, _ = of_people(2, people=75)
    small = np.asarray(scores.probe_labels)
    group = np.where(small <= 10, "c", np.where(small % 2, "a", "b"))
    ds = be.by_group(scores, group, threshold="far=0.02", **OPTIONS)
    for rate in ("frr", "far"):
        of_small = ds[f"{rate}_difference_low"].sel(group="c")
        assert of_small.isnull().all() and ds[f"{rate}_letters"].sel(group="c") == ""
        assert (ds[f"{rate}_separated"].sel(group="c") == 0).all()
        assert not np.isnan(ds[f"{rate}_difference_low"].sel(group="a", other_group="b"))


# ------------------------------------------------------------------------- sums of rates


rates = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 10), st.integers(0, 10)).map(
        lambda x: ((x[0] + 10) / 40, x[0] / 40, (x[0] + 10 + x[2]) / 40)
    ),
    min_size=2,
    max_size=4,
)


@given(rates)
def test_limits_of_differences_are_those_of_plain_loops(ends):
    x, low, high = np.array(ends).T
    found = np.array(limits_of_differences(x, (low, high))).T
    pairs = list(itertools.combinations(ends, 2))
    for (one, other), (least, most) in zip(pairs, found.tolist(), strict=True):
        expected = naive_groups.limits_of_difference(one, other)
        assert (least, most) == pytest.approx(expected, abs=1e-12)
        assert least <= one[0] - other[0] + 1e-12 <= most + 2e-12
