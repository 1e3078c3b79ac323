"""Intervals of all-against-all identification for new people: each person left out, by hand."""

from __future__ import annotations

import naive
import naive_few_errors
import naive_left_out
import numpy as np
import pytest
import strategies
from hypothesis import given, settings, strategies as st
from result_messages import arguments
from strategies import examples_of
from twins import floats, one_thread  # noqa: F401

import bioeval as be
from bioeval.counting import left_out

SIZES = ((2, 2, 2), (1, 1, 1, 1), (4, 1, 1, 2), (1, 3, 2, 1, 2), (2, 1), (3,))
BY_SUBJECT = {"interval": "subject-bootstrap"}
FEW = {"interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100)}


def assert_limits(ds, name, expected):
    for end, values in zip(("low", "high"), expected, strict=True):
        np.testing.assert_allclose(ds[f"{name}_{end}"], values, rtol=0, atol=1e-9, err_msg=name)


@pytest.mark.slow
@settings(max_examples=examples_of(60))
@given(
    case=strategies.matrices(
        layouts=("square",), nans=("reject", "exclude"), masks=("none", "labelled"), sizes=SIZES
    ),
    unit=st.sampled_from(strategies.UNITS),
    fusion=st.sampled_from(("min", "mean", "kth:2")),
    ties=st.sampled_from(strategies.TIES),
    data=st.data(),
)
def test_limits_are_those_of_taking_each_person_out(case, unit, fusion, ties, data):
    grid = data.draw(strategies.thresholds(case))
    scores, given_ = be.Scores(**case.scores()), case.naive()
    options = {"unit": unit, "fusion": fusion, "ties": ties}
    people, pairs = naive_left_out.trials(given_, options)
    shared = {"rank_unit": unit, "fusion": fusion, "ties": ties, "max_rank": 4, **BY_SUBJECT}

    def opened(part):
        found = naive.open_set(**part, **options, thresholds=grid.tolist(), max_rank=4)
        return found.far, found.dir

    def closed(part):
        return naive.closed_set(**part, **options, unmated="skip", max_rank=4).cms

    far, dir_ = opened(given_)
    apart = naive_left_out.of_each(given_, opened)
    ds = be.open_set(scores, thresholds=grid, **shared)
    expected = [
        naive_left_out.far_limits(x, [a[0][j] for a in apart], pairs) for j, x in enumerate(far)
    ]
    at = [float(-t if scores.kind == "similarity" else t) for t in grid]
    points = list(zip(at, expected, strict=True))
    found = naive_left_out.joined(given_, options, pairs, points)
    in_order = slice(None, None, -1 if scores.kind == "similarity" else 1)
    found = naive_left_out.at_least(found[in_order], expected[in_order])[in_order]
    assert_limits(ds, "far", np.transpose(found))
    for k in range(4):
        expected = [
            naive_left_out.limits(row[k], [a[1][j][k] for a in apart], people)
            for j, row in enumerate(dir_)
        ]
        points = list(zip(at, expected, strict=True))
        found = naive_left_out.joined(given_, options, people, points, rank=k + 1)
        assert_limits(ds.isel(rank=k), "dir", np.transpose(found))
    np.testing.assert_array_equal(ds.frr_low, 1 - ds.dir_high[:, 0])
    np.testing.assert_array_equal(ds.grr_low, 1 - ds.far_high)
    ds = be.closed_set(scores, unmated="skip", **shared)
    apart = naive_left_out.of_each(given_, closed)
    expected = [
        naive_left_out.limits(x, [a[k] for a in apart], people)
        for k, x in enumerate(closed(given_))
    ]
    points = list(zip(ds["rank"].values.tolist(), expected, strict=True))
    expected = naive_left_out.joined(given_, options, people, points, along="rank")
    assert_limits(ds, "cms", np.transpose(expected))


@settings(max_examples=examples_of(30))
@given(
    case=strategies.matrices(
        layouts=("square",), dtypes=("float64",), kinds=("distance",), sizes=SIZES,
        allow_inf=False,
    ),
    unit=st.sampled_from(strategies.UNITS),
    ties=st.sampled_from(("pessimistic", "expected")),
    target=st.sampled_from((0.0, 0.1, 0.3, 0.5, 1.0)),
)  # fmt: skip
def test_limits_at_a_far_take_in_where_its_threshold_may_be(case, unit, ties, target):
    options = {"unit": unit, "fusion": "min", "ties": ties}
    ds = be.open_set(
        be.Scores(**case.scores()), rank_unit=unit, ties=ties, far_targets=[target], max_rank=2,
        **BY_SUBJECT,
    )  # fmt: skip
    expected = [naive_left_out.dir_at_far(case.naive(), target, k, options) for k in (1, 2)]
    assert_limits(ds, "dir_at_far", np.transpose(expected)[:, None])


def test_no_targets_have_no_limits():
    ds = be.open_set(be.simulate(6, 3), far_targets=[], **BY_SUBJECT)
    assert ds.dir_at_far_low.shape[0] == 0 and ds.eer_low <= ds.eer_high


def test_ranks_without_room_have_no_limits(monkeypatch):
    scores = be.simulate(12, 3, within=2.0, random_state=0)
    opened, closed = (f(scores, **BY_SUBJECT) for f in (be.open_set, be.closed_set))
    monkeypatch.setattr(left_out, "MOST_PAIRS", 100)
    fewer = be.closed_set(scores, **BY_SUBJECT)
    some = int(np.isfinite(fewer.cms_low).sum())
    assert 1 < some < 10 and arguments(fewer, "no-interval")["of"] == f"ranks above {some}"
    for name in ("cms_low", "cms_high"):
        np.testing.assert_array_equal(fewer[name][:some], closed[name][:some])
        assert np.isnan(fewer[name][some:]).all()
    fewer = be.open_set(scores, **BY_SUBJECT)
    for name in ("dir_low", "dir_at_far_high"):
        np.testing.assert_array_equal(fewer[name][:, :some], opened[name][:, :some])
        assert np.isnan(fewer[name][:, some:]).all()
    assert fewer.eer_low == opened.eer_low


def sessions_apart(scores):
    """The same scores of two sessions, without pairs of one session."""
    meta = {"session": np.arange(len(scores.probe_labels)) % 2}
    return be.Scores(scores.values, scores.probe_labels, probe_meta=meta, exclude=("session",))


VARIANTS = {
    "interleaved similarities": lambda s: be.Scores(
        -s.values[::-1, ::-1], s.probe_labels[::-1], kind="similarity"
    ).select(np.arange(36) * 5 % 36, np.arange(36) * 7 % 36),
    "sessions apart": sessions_apart,
    "streamed": lambda s: be.simulate_embeddings(12, 3, within=0.9, random_state=5).scores("l2"),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("unit", ["template", "subject"])
@pytest.mark.cases(1)
def test_scores_of_every_kind_are_those_of_evaluating_the_others(variant, unit):
    scores = VARIANTS[variant](be.simulate(12, 3, within=0.9, random_state=5))
    grid = be.open_set(scores, thresholds=9).threshold.values
    options = {"thresholds": grid, "rank_unit": unit, "max_rank": 3}
    ds = be.open_set(scores, **options, **BY_SUBJECT)
    assert ds.attrs["interval_method"] == "subject-jackknife"
    assert ds.attrs["interval_for"] == "new people" and "replicates" not in ds.attrs
    apart = []
    for person in np.unique(scores.probe_labels):
        kept = (np.flatnonzero(x != person) for x in (scores.probe_labels, scores.gallery_labels))
        apart.append(be.open_set(scores.select(*kept), **options))
    some = (ds.far > 0) & (ds.far < 1)
    assert some.sum() > 3
    ranked = be.ranks(scores, rank_unit=unit)
    sign = -1 if scores.kind == "similarity" else 1
    order, at = slice(None, None, sign), np.sort(sign * grid)
    people = scores.probe_labels.tolist()
    mated = ranked.mates.values > 0
    for name, k in (("far", 0), ("dir", 1), ("dir", 2), ("dir", 3)):
        values, others = (
            [x[name].values[order] if not k else x[name].values[order, k - 1] for x in of]
            for of in ([ds], apart)
        )
        place = sign * (ranked.mate_distance if k else ranked.nearest_other).values
        found = ranked.identification_rank.values <= k if k else np.ones(len(people))
        hits, attempts = {}, {}
        for i, person in enumerate(people):
            if mated[i] or not k:
                attempts[person] = attempts.get(person, 0) + 1
                hits.setdefault(person, []).append((place[i], float(found[i])))
        trials = len(attempts) if k else 6
        of_rate = naive_left_out.limits if k else naive_left_out.far_limits
        alone = [of_rate(values[0][j], [x[j] for x in others], trials) for j in range(len(at))]
        points = [(t, *ends) for t, ends in zip(at, alone, strict=True)]
        share = trials / len(attempts)
        expected = naive_few_errors.limits_along(hits, attempts, trials, points, proportion=share)
        if not k:
            expected = naive_left_out.at_least(expected, alone)
        for end, limits in zip(("low", "high"), np.transpose(expected), strict=True):
            ours = ds[f"{name}_{end}"].values[order]
            ours = ours[:, k - 1] if k else ours
            np.testing.assert_allclose(ours, limits, rtol=0, atol=1e-9)


def test_the_interval_of_the_eer_holds_the_rates_whose_frr_may_be_as_large():
    scores = be.simulate(25, 3, within=0.9, random_state=2)
    ds = be.open_set(scores, **BY_SUBJECT)
    low, high = float(ds.eer_low), float(ds.eer_high)
    assert 0 < low < ds.eer < high < 1
    rates = [low - 1e-6, low + 1e-6, high - 1e-6, high + 1e-6]
    at = be.open_set(scores, far_targets=rates, **BY_SUBJECT).isel(rank=0)
    frr_low, frr_high = 1 - at.dir_at_far_high.values, 1 - at.dir_at_far_low.values
    held = (frr_low <= rates) & (rates <= frr_high)
    assert held.tolist() == [False, True, True, False]


@pytest.mark.slow
def test_intervals_are_for_this_gallery_where_it_has_other_people():
    scores = be.simulate(20, 3, random_state=1)
    some = np.flatnonzero(scores.probe_labels <= 10)
    for given_ in (scores.select(probes=some), scores.select(some, np.arange(0, 60, 2))):
        for task, options in ((be.open_set, {}), (be.closed_set, {"unmated": "skip"})):
            ds = task(given_, **FEW, **options)
            assert ds.attrs["interval_for"] == "this gallery" and ds.attrs["replicates"] == 100
            assert ds.attrs["interval_method"] == "subject-bootstrap"
    about = be.verification(scores, **FEW).attrs
    assert (about["interval_unit"], about["interval_for"]) == ("people", "new people")
    about = be.verification(scores, interval="wilson").attrs
    assert (about["interval_unit"], about["interval_for"]) == ("attempts", "new attempts")
    assert be.closed_set(scores, interval="wilson").attrs["interval_for"] == "this gallery"


def test_two_people_are_too_few():
    scores = be.simulate(2, 4, random_state=0)
    for task, names in ((be.open_set, ("far", "dir", "eer")), (be.closed_set, ("cms",))):
        ds = task(scores, **BY_SUBJECT)
        assert arguments(ds, "no-interval")["of"] == "rates for new people"
        assert all(np.isnan(ds[f"{name}_{end}"]).all() for name in names for end in ("low", "high"))
