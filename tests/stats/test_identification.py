"""Intervals of identification for one gallery: probes of resampled people, recounted by hand.

Those of all-against-all results are for new people: ``test_new_people.py``.
"""

from __future__ import annotations

from fractions import Fraction

import naive
import naive_few_errors
import numpy as np
import pytest
import strategies
from hypothesis import example, given, settings, strategies as st
from limits import few_replicates
from result_messages import arguments
from strategies import examples_of

import bioeval as be
from bioeval import stats
from bioeval.base.random import Stream, seed_sequence
from bioeval.counting.identification import search as search_all
from bioeval.protocol.tasks import OpenSet, Search
from bioeval.results.identification import closed_set_dataset, open_set_dataset
from bioeval.scores.blocks import BlockReader
from bioeval.stats.identification import (
    closed_set_intervals,
    identification_replicates,
    open_set_intervals,
)

TARGETS = (0.5, 0.2, 0.0)
REPLICATES = 7


def people_of(scores):
    return scores._codes.values[np.unique(scores._codes.probe)].tolist()


def by_hand(case, scores, unit, ties, impostors):
    """Rates of each replicate: CMS by rank, FAR and DIR by threshold, DIR at FAR, EER."""
    data = naive.read(**case.naive())
    found = naive.ranked(data, unit, "min", ties)
    if data.all_against_all:
        playing = [True] * len(found)
    else:
        if impostors == "auto":
            some = any(not r.enrolled for r in found)
            impostors = "unenrolled" if some else "leave-subject-out"
        playing = [
            impostors == "both" or r.enrolled == (impostors == "leave-subject-out") for r in found
        ]
    people = people_of(scores)
    weights = Stream(seed_sequence(3), 0).resampled(len(people), REPLICATES)
    for r in range(REPLICATES):
        genuine, nearest = [], []
        for probe, of, plays in zip(found, data.probe_labels, playing, strict=True):
            for _ in range(int(weights[people.index(of), r])):
                if probe.rank is not None:
                    genuine.append(probe)
                if plays and probe.nearest_other is not None:
                    nearest.append(probe.nearest_other)
        yield genuine, nearest


def rates(genuine, nearest, grid, ranks):
    share = [naive.rate(sum(naive.within(g.rank, k) for g in genuine), len(genuine)) for k in ranks]
    far = [naive.rate(sum(e <= t for e in nearest), len(nearest)) for t in grid]
    dir_ = [
        [
            naive.rate(
                sum(naive.within(g.rank, k) for g in genuine if g.best_mate <= t), len(genuine)
            )
            for k in ranks
        ]
        for t in grid
    ]
    at_far, eer = np.full(len(TARGETS), np.nan), np.nan
    if genuine and nearest:
        points = [naive.Point(None, Fraction(0), Fraction(1))]
        for t in sorted({*nearest, *(g.best_mate for g in genuine)}):
            hits = sum(naive.within(g.rank, 1) for g in genuine if g.best_mate <= t)
            far_t = Fraction(sum(e <= t for e in nearest), len(nearest))
            points.append(naive.Point(t, far_t, 1 - Fraction(hits) / len(genuine)))
        for i, x in enumerate(TARGETS):
            at_far[i] = max(1 - p.frr for p in points if naive.at_most(p.far, x))
        eer = float(naive.crossing(points).value)
    floats = [np.array(x, dtype=float) for x in (share, far, dir_)]
    return (*floats, at_far, eer)


def quantiles(values):
    """Percentiles as numpy has them, a replicate without attempts left out."""
    values = np.asarray(values, dtype=float)
    out = []
    for share in (0.025, 0.975):
        flat = values.reshape(len(values), -1)
        kept = [column[~np.isnan(column)] for column in flat.T]
        ends = [np.quantile(k, share) if len(k) else np.nan for k in kept]
        out.append(np.array(ends).reshape(values.shape[1:]))
    return out


def limits_by_hand(given, drawn, grid, ranks):
    """The limits of CMS, of DIR at each rank, and of FAR, from their replicates."""
    found, data, impostors, _ = given
    labels = data.probe_labels
    mated = [(r, of) for r, of in zip(found, labels, strict=True) if r.rank is not None]
    some = any(not r.enrolled for r in found)
    roles = {"auto": "unenrolled" if some else "leave-subject-out"}.get(impostors, impostors)
    others = [
        (r, of)
        for r, of in zip(found, labels, strict=True)
        if r.nearest_other is not None
        and (
            data.all_against_all or roles == "both" or r.enrolled == (roles == "leave-subject-out")
        )
    ]
    curves = [("cms", None, mated, list(ranks)), ("far", None, others, grid.tolist())]
    curves += [("dir", k, mated, grid.tolist()) for k in ranks]
    for name, k, attempts, places in curves:
        hits, number = {}, {}
        for r, of in attempts:
            number[of] = number.get(of, 0) + 1
            if name == "cms":
                weights = r.rank if isinstance(r.rank, dict) else {r.rank: 1}
                new = [(float(x), float(w)) for x, w in weights.items()]
            elif name == "far":
                new = [(float(r.nearest_other), 1.0)]
            else:
                new = [(float(r.best_mate), float(naive.within(r.rank, k)))]
            hits.setdefault(of, []).extend(new)
        values = np.array(drawn[name], dtype=float)
        low, high = quantiles(values if k is None else values[..., k - 1])
        trials = len(number) if len(number) > 1 else 0
        points = list(zip(places, low.tolist(), high.tolist(), strict=True))
        yield name, k, naive_few_errors.limits_along(hits, number, trials, points)


@settings(max_examples=examples_of(25))
@example(  # the expected ranks of a tie sum up to a little less than 1
    case=strategies.Case(
        values=np.array([[0.0] * 9] * 3 + [[0.0] * 8 + [1.0]] + [[0.0] * 9], dtype=np.float16),
        probe_labels=[7, 7, 7, 7, -3],
        gallery_labels=[7, -3, -3, -3, 100, 100, 0, 42, 42],
        kind="distance",
        nan="reject",
        mask=None,
    ),
    unit="template",
    ties="expected",
    impostors="auto",
)
@given(
    case=strategies.matrices(nans=("reject", "exclude"), kinds=("distance",)),
    unit=st.sampled_from(["template", "subject"]),
    ties=st.sampled_from(["pessimistic", "optimistic", "expected"]),
    impostors=st.sampled_from(["auto", "both"]),
)
def test_intervals_are_those_of_resampled_probes(case, unit, ties, impostors):
    scores = be.Scores(**case.scores())
    reader = BlockReader(scores)
    tally = search_all(reader, Search(rank_unit=unit))
    interval = few_replicates("subject-bootstrap", REPLICATES)
    grid = np.array([-1.0, 0.1, 0.5, 2.0])
    opened = open_set_dataset(
        tally, thresholds=grid, ties=ties, impostors=impostors, far_targets=TARGETS
    )
    closed = closed_set_dataset(tally, ties=ties, unmated="skip")
    if len(people_of(scores)) < 2:
        assert np.isnan(
            closed_set_intervals(closed, tally, scores._codes.probe, interval).cms_low
        ).all()
        return
    ranks = range(1, min(10, opened.sizes["rank"]) + 1)
    replicates = by_hand(case, scores, unit, ties, impostors)
    share, far, dir_, at_far, eer = zip(*(rates(*x, grid, ranks) for x in replicates), strict=True)
    opened = open_set_intervals(opened, tally, scores._codes.probe, interval)
    closed = closed_set_intervals(closed, tally, scores._codes.probe, interval)
    everyone = naive.read(**case.naive())
    found = naive.ranked(everyone, unit, "min", ties)
    given_ = found, everyone, impostors, TARGETS
    values = {"cms": share, "dir": dir_, "far": far}
    for name, k, expected in limits_by_hand(given_, values, grid, ranks):
        ds = closed if name == "cms" else opened
        for end, limits in zip(("low", "high"), np.transpose(expected), strict=True):
            ours = ds[f"{name}_{end}"].values
            ours = ours[: len(limits)] if k is None else ours[:, k - 1]
            np.testing.assert_allclose(ours, limits, atol=1e-9)
    search = OpenSet(rank_unit=unit, ties=ties, impostors=impostors)
    _, drawn, _, _ = identification_replicates(
        tally, scores._codes.probe, search, np.array(TARGETS), interval
    )
    if not np.isnan(opened.eer):
        np.testing.assert_allclose(drawn[:, 1:].T, np.array(at_far), atol=1e-12)
        if not np.isnan(opened.eer_low) and 0 < opened.eer < 1:
            low, high = np.ravel(quantiles(np.array(eer)[:, None]))
            # Where few err, they are those of the curves.
            assert opened.eer_low <= low + 1e-12
            assert opened.eer_high >= high - 1e-12


@pytest.fixture(scope="module")
def scores():
    return be.simulate(40, 3, random_state=3, within=0.8)


@pytest.mark.parametrize("method", stats.METHODS)
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.cases(1)
def test_intervals_hold_their_values(scores, method, kind):
    given = scores
    if kind == "similarity":
        given = be.Scores(-scores.values, scores.probe_labels, kind=kind)
    options = {"interval": be.stats.IntervalMethod(method, replicates=200)}
    opened, closed = be.open_set(given, **options), be.closed_set(given, **options)
    for ds, names in ((opened, ("far", "frr", "grr", "dir", "dir_at_far")), (closed, ("cms",))):
        for name in names:
            low, value, high = (ds[f"{name}{end}"] for end in ("_low", "", "_high"))
            if "rank" in low.dims and ds is opened:
                assert np.isnan(low.isel(rank=slice(10, None))).all()
                low, value, high = (x.isel(rank=slice(0, 10)) for x in (low, value, high))
            assert (low >= 0).all() and (high <= 1).all() and (low < high).all(), name
            assert ((low <= value + 1e-9) & (value <= high + 1e-9)).all(), name
    assert closed.recognition_rate_low == closed.cms_low[0]
    by_subject = method not in ("wilson", "clopper-pearson")
    assert ("eer_low" in opened) == by_subject
    if by_subject:
        assert opened.eer_low < opened.eer < opened.eer_high
    np.testing.assert_array_equal(opened.grr_low, 1 - opened.far_high)


@pytest.mark.parametrize("method", stats.METHODS)
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.cases(1)
def test_points_and_curves_say_the_same_of_a_rate(method, kind):
    easy, hard = (be.simulate(30, 3, random_state=0, within=w) for w in (0.2, 0.9))
    if kind == "similarity":
        easy, hard = (be.Scores(-s.values, s.probe_labels, kind=kind) for s in (easy, hard))
    options = {"interval": be.stats.IntervalMethod(method, replicates=200)}
    opened, closed = be.open_set(easy, **options), be.closed_set(easy, **options)
    assert (opened.dir_at_far == 1).all() and closed.recognition_rate == 1
    all_ = (opened.dir.values == 1)[:, 0]
    assert 10 < all_.sum() < len(all_)
    bound = closed.cms_low[0].item()
    low = opened.dir_low.values[all_][:, :10]
    assert (closed.cms_low == bound).all()
    np.testing.assert_allclose(opened.frr_high.values[all_], 1 - low[:, 0])
    if method.startswith("subject"):
        np.testing.assert_allclose(bound, 0.05 ** (1 / 30))  # at no rank do five people err
        assert (low > bound).all() and (low == low[0]).all()  # but at stricter thresholds
        # The threshold of a point is uncertain as well.
        assert (opened.dir_at_far_low.values[:, :10] <= low[0]).all()
        return
    assert (low == bound).all()
    assert (opened.dir_at_far_low.values[:, :10] == bound).all()
    targets = (0.5, 0.1, 0.03)
    ds = be.open_set(hard, far_targets=targets, **options)
    for i in range(len(targets)):
        for k in range(5):
            at = [ds.threshold_at_far[i, k].item()]
            alone = be.open_set(hard, thresholds=at, **options).isel(threshold=0, rank=k)
            assert alone.dir == ds.dir_at_far[i, k]
            for end in ("low", "high"):
                expected = alone[f"dir_{end}"]
                np.testing.assert_allclose(ds[f"dir_at_far_{end}"][i, k], expected, atol=1e-12)


def test_the_gallery_stays():
    """A gallery's own subjects are never drawn: only those who probe count as people."""
    scores = be.simulate(60, 1, layout="probe-against-gallery", probes=2, random_state=1)
    few = scores.select(probes=scores.probe_labels <= 4)
    ds = be.closed_set(few, interval="subject-bootstrap")
    assert ds.attrs["interval_method"] == "subject-bootstrap"
    assert ds.attrs["interval_for"] == "this gallery"
    assert arguments(ds, "interval-of-few-subjects")["subjects"] == 4
    found = be.ranks(few).identification_rank.values.reshape(4, 2) == 1
    # Of 4 people, who are too few to show what correlates within them.
    low, high = naive_few_errors.clopper_pearson(found.mean(), 4, 0.95)
    np.testing.assert_allclose((ds.cms_low[0], ds.cms_high[0]), (low, high))
    many = scores.select(probes=scores.probe_labels <= 40)
    ds = be.closed_set(many, interval="subject-bootstrap")
    found = be.ranks(many).identification_rank.values.reshape(40, 2) == 1
    expected = stats.subject_bootstrap(found.sum(axis=1), np.full(40, 2))
    assert (ds.cms_low[0], ds.cms_high[0]) == tuple(expected)


def test_many_ranks_are_taken_in_parts(scores, monkeypatch):
    scores = scores.select(np.arange(120) % 3 == 0, np.arange(120) % 3 > 0)
    whole = be.closed_set(
        scores, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
    )
    monkeypatch.setattr("bioeval.stats.bootstrap.VALUES_AT_ONCE", 40 * 7)
    parts = be.closed_set(
        scores, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
    )
    np.testing.assert_array_equal(whole.cms_low, parts.cms_low)
    np.testing.assert_array_equal(whole.cms_high, parts.cms_high)


@pytest.mark.slow
def test_an_evaluation_rests_on_the_same_draws(scores):
    options = {
        "interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100, random_state=5)
    }
    tree = be.evaluate(scores, **options)
    for node, task in (
        ("verification/single", be.verification),
        ("open_set", be.open_set),
        ("closed_set", be.closed_set),
    ):
        alone, together = task(scores, **options), tree[node].to_dataset()
        for name in alone.data_vars:
            if name in ("frr_at_far", "threshold_at_far") or "far_target" in alone[name].dims:
                continue  # an evaluation may report other targets
            np.testing.assert_array_equal(alone[name], together[name], err_msg=str(name))
        resampled = node == "verification/single"
        method = "subject-bootstrap" if resampled else "subject-jackknife"
        assert together.attrs["interval_method"] == method
        assert together.attrs["protocol"] == "course-all-vs-all"


def test_a_mask_alone_has_no_people():
    mask = np.array([[0, 2, 1, 1], [2, 0, 1, 1], [1, 1, 0, 2], [1, 1, 2, 0]])
    scores = be.Scores(np.arange(16.0).reshape(4, 4), mask=mask)
    for task in (be.open_set, be.closed_set, be.evaluate):
        with pytest.raises(be.ProtocolError, match="a mask does not"):
            task(scores, interval="subject-bootstrap")
    assert "cms_low" in be.closed_set(scores, interval="wilson")


@pytest.mark.parametrize("gallery", ["new people", "this gallery"])
def test_a_far_that_the_searches_cannot_support_leaves_dir_without_a_lower_limit(gallery):
    scores = be.simulate(25, 4, within=0.5, random_state=1)
    if gallery == "this gallery":
        scores = scores.select(np.arange(100) % 4 < 2, np.arange(100) % 4 > 1)
    few = be.stats.IntervalMethod("subject-bootstrap", replicates=100)
    ds = be.open_set(scores, far_targets=[0.2, 0.01], interval=few)
    assert (ds.dir_at_far_low.sel(far_target=0.01, rank=1) == 0) and ds.impostor_attempts < 300
    assert ds.dir_at_far_low.sel(far_target=0.2, rank=1) > 0
    assert arguments(ds, "limit-not-supported")["targets"] == [0.01]
