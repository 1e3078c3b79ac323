"""What holds whatever the scores: no slow twin is needed to know it."""

from __future__ import annotations

from dataclasses import replace

import numba
import numpy as np
import pytest
import strategies as cases
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from result_messages import codes
from strategies import examples_of
from twins import one_thread  # noqa: F401

import bioeval as be

INF = np.inf
RELAXED = settings(
    max_examples=examples_of(60),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
COUNTS = ["ga", "fr", "fa", "gr", "genuine_attempts", "impostor_attempts"]
OPEN_COUNTS = ["di", "fa", "gr", "genuine_attempts", "impostor_attempts", "tied", "target_probes"]
ANY = {"masks": ("none", "labelled")}


def same(a, b, names) -> None:
    for name in names:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def verification(case, t, **options):
    return be.verification(be.Scores(**case.scores()), thresholds=t, **options)


def open_set(case, t, **options):
    return be.open_set(be.Scores(**case.scores()), thresholds=t, max_rank=8, **options)


def closed_set(case, **options):
    options = {"max_rank": 8, "unmated": "skip", **options}
    return be.closed_set(be.Scores(**case.scores()), **options)


# ------------------------------------------------------------------------------- curves


@RELAXED
@given(st.data(), st.sampled_from(cases.FUSIONS), st.sampled_from(cases.TIES))
def test_rates_rise_and_fall_with_the_threshold_and_the_rank(data, fusion, ties):
    case = data.draw(cases.matrices(**ANY))
    t = data.draw(cases.thresholds(case))
    looser = slice(None, None, 1 if case.kind == "distance" else -1)
    for ds in (verification(case, t), verification(case, t, templates="multi", fusion=fusion)):
        for name, sign in (("ga", 1), ("fa", 1), ("fr", -1), ("gr", -1)):
            assert (sign * np.diff(ds[name].values[looser]) >= 0).all(), name
    for unit in cases.UNITS:
        ds = open_set(case, t, rank_unit=unit, fusion=fusion, ties=ties)
        assert (np.diff(ds.dir.values[looser], axis=0)[~np.isnan(ds.dir.values[1:])] >= 0).all()
        assert not (np.diff(ds.dir.values, axis=1) < 0).any()
        assert (np.diff(ds.fa.values[looser]) >= 0).all()
        assert (ds.di.values >= 0).all()
        curve = closed_set(case, rank_unit=unit, fusion=fusion, ties=ties).cms_count.values
        assert (np.diff(curve) >= 0).all()


@RELAXED
@given(st.data(), st.sampled_from(cases.UNITS), st.sampled_from(cases.FUSIONS))
def test_each_pair_of_rates_adds_up_to_one(data, unit, fusion):
    case = data.draw(cases.matrices(**ANY))
    t = data.draw(cases.thresholds(case))
    for ds in (verification(case, t), verification(case, t, templates="multi", fusion=fusion)):
        np.testing.assert_array_equal(ds.ga + ds.fr, np.full(len(t), ds.genuine_attempts))
        np.testing.assert_array_equal(ds.fa + ds.gr, np.full(len(t), ds.impostor_attempts))
        for a, b, attempts in (("gar", "frr", "genuine"), ("far", "grr", "impostor")):
            total = ds[a] + ds[b]
            if ds[f"{attempts}_attempts"] == 0:
                assert np.isnan(ds[a]).all() and np.isnan(ds[b]).all()
            else:
                np.testing.assert_allclose(total, 1, rtol=0, atol=1e-15)
    ds = open_set(case, t, rank_unit=unit, fusion=fusion)
    np.testing.assert_array_equal(ds.fa + ds.gr, np.full(len(t), ds.impostor_attempts))
    np.testing.assert_allclose(ds.dir[:, 0] + ds.frr, 0 * ds.frr + 1, rtol=0, atol=1e-15)
    everything = be.open_set(
        be.Scores(**case.scores()), thresholds=[-INF, INF], rank_unit=unit, fusion=fusion
    )
    loosest = everything.di[-1 if case.kind == "distance" else 0]
    assert loosest.sum() == everything.genuine_attempts
    assert everything.fa.max() == everything.impostor_attempts


@RELAXED
@given(
    st.data(),
    st.sampled_from(cases.UNITS),
    st.sampled_from(cases.FUSIONS),
    st.sampled_from(cases.TIES),
)
def test_closed_set_is_open_set_at_the_infinite_threshold(data, unit, fusion, ties):
    case = data.draw(cases.matrices(**ANY))
    loosest = INF if case.kind == "distance" else -INF
    options = {"rank_unit": unit, "fusion": fusion, "ties": ties}
    ds, closed = open_set(case, [loosest], **options), closed_set(case, **options)
    assert closed.attempts == ds.genuine_attempts and closed.tied == ds.tied
    np.testing.assert_array_equal(closed.cms, ds.dir[0])
    if ties != "expected":
        np.testing.assert_array_equal(closed.cms_count, ds.di[0].cumsum())
    np.testing.assert_allclose(closed.recognition_rate, 1 - ds.frr[0], rtol=0, atol=1e-15)


@RELAXED
@given(st.data(), st.sampled_from(cases.UNITS), st.sampled_from(cases.FUSIONS))
def test_tie_policies_lie_between_the_best_and_the_worst_case(data, unit, fusion):
    case = data.draw(cases.matrices(**ANY))
    options = {"rank_unit": unit, "fusion": fusion}
    t = data.draw(cases.thresholds(case))
    closed = {ties: closed_set(case, ties=ties, **options).cms_count for ties in cases.TIES}
    opened = {ties: open_set(case, t, ties=ties, **options) for ties in cases.TIES}
    opened = {ties: ds.di.cumsum("rank") for ties, ds in opened.items()}
    for curves in (closed, opened):
        for middle in ("stable", "expected"):
            assert (curves["optimistic"] >= curves[middle] - 1e-12).all()
            assert (curves[middle] >= curves["pessimistic"] - 1e-12).all()
    if closed_set(case, **options).tied == 0:
        for ties in cases.TIES:
            np.testing.assert_allclose(closed[ties], closed["pessimistic"], rtol=0, atol=1e-12)
    else:
        longest = 30
        best, worst = (
            closed_set(case, ties=x, **{**options, "max_rank": longest}).cms_count.sum()
            for x in ("optimistic", "pessimistic")
        )
        assert best > worst


@RELAXED
@given(st.data(), st.sampled_from(cases.TIES))
def test_a_subject_never_ranks_behind_its_nearest_template(data, ties):
    case = data.draw(cases.matrices())
    by_template, by_subject = (closed_set(case, rank_unit=u, ties=ties) for u in cases.UNITS)
    assert by_subject.attempts == by_template.attempts
    if ties != "expected":
        assert (by_subject.cms_count >= by_template.cms_count).all()


# ------------------------------------------------------------------------------- the same again


def reordered(case: cases.Case, rows, columns) -> cases.Case:
    def take(labels, index):
        return None if labels is None else [np.asarray(labels, dtype=object)[i] for i in index]

    return replace(
        case,
        values=np.asarray(case.values)[np.ix_(rows, columns)],
        probe_labels=take(case.probe_labels, rows),
        gallery_labels=take(case.gallery_labels, columns),
        mask=None if case.mask is None else case.mask[np.ix_(rows, columns)],
    )


@RELAXED
@given(
    st.data(),
    st.sampled_from(cases.UNITS),
    st.sampled_from(cases.FUSIONS),
    st.sampled_from(cases.TIES),
)
def test_the_order_of_probes_and_gallery_means_nothing(data, unit, fusion, ties):
    case = data.draw(cases.matrices(**ANY))
    m, n = case.values.shape
    rows = data.draw(st.permutations(range(m)))
    columns = list(range(n))
    if case.square:
        columns = rows  # the same templates on both sides
        assume(ties != "stable")
    elif ties != "stable":  # stable ties are the gallery's order
        columns = data.draw(st.permutations(range(n)))
    other = reordered(case, rows, columns)
    t = data.draw(cases.thresholds(case))
    same(verification(case, t), verification(other, t), COUNTS)
    multi = {"templates": "multi", "fusion": fusion}
    same(verification(case, t, **multi), verification(other, t, **multi), COUNTS)
    options = {"rank_unit": unit, "fusion": fusion, "ties": ties}
    a, b = open_set(case, t, **options), open_set(other, t, **options)
    same(a, b, [x for x in OPEN_COUNTS if x != "di"])
    np.testing.assert_allclose(a.di, b.di, rtol=0, atol=1e-12)
    a, b = closed_set(case, **options), closed_set(other, **options)
    np.testing.assert_allclose(a.cms_count, b.cms_count, rtol=0, atol=1e-12)


@RELAXED
@given(
    st.data(),
    st.sampled_from(cases.UNITS),
    st.sampled_from(("min", "max", "kth:1", "kth:2")),
    st.sampled_from(cases.TIES),
)
def test_only_the_order_of_the_scores_matters(data, unit, fusion, ties):
    """No increasing transform changes a rank, or a rate at the transformed thresholds."""
    case = data.draw(cases.matrices(dtypes=("float64", "float32", "int16"), nans=("raise",)))
    old = np.unique(case.values[~np.isnan(case.values.astype(float))].astype(float))
    assume(len(old))
    steps = data.draw(
        st.lists(
            st.sampled_from((2.0**-30, 0.5, 1.0, 1000.0)), min_size=len(old), max_size=len(old)
        )
    )
    new = np.cumsum(steps) - 3.0
    values = case.values.astype(float)
    there = ~np.isnan(values)
    values[there] = new[np.searchsorted(old, values[there])]
    other = replace(case, values=values)
    index = sorted(data.draw(st.sets(st.integers(0, len(old) - 1), min_size=1)))
    t, u = old[index], new[index]
    same(verification(case, t), verification(other, u), COUNTS)
    multi = {"templates": "multi", "fusion": fusion}
    same(verification(case, t, **multi), verification(other, u, **multi), COUNTS)
    options = {"rank_unit": unit, "fusion": fusion, "ties": ties}
    same(open_set(case, t, **options), open_set(other, u, **options), [*OPEN_COUNTS, "ttr", "ftr"])
    same(closed_set(case, **options), closed_set(other, **options), ["cms_count", "tied"])


@RELAXED
@given(
    st.data(),
    st.sampled_from(cases.UNITS),
    st.sampled_from(cases.FUSIONS),
    st.sampled_from(cases.TIES),
)
def test_a_similarity_is_the_mirror_image_of_a_distance(data, unit, fusion, ties):
    case = data.draw(cases.matrices(dtypes=("float32", "float64"), kinds=("distance",), **ANY))
    mirror = replace(case, values=-case.values, kind="similarity")
    t = data.draw(cases.thresholds(case))
    u = -t[::-1] + 0.0

    def flipped(ds):
        return ds.isel(threshold=slice(None, None, -1))

    same(verification(case, t), flipped(verification(mirror, u)), COUNTS)
    multi = {"templates": "multi", "fusion": fusion}
    same(verification(case, t, **multi), flipped(verification(mirror, u, **multi)), COUNTS)
    options = {"rank_unit": unit, "fusion": fusion, "ties": ties}
    a, b = open_set(case, t, **options), flipped(open_set(mirror, u, **options))
    same(a, b, [*OPEN_COUNTS, "ttr", "ttr_identity", "ftr", "frr", "far"])
    same(closed_set(case, **options), closed_set(mirror, **options), ["cms", "tied", "skipped"])
    default, mirrored = (be.verification(be.Scores(**c.scores())) for c in (case, mirror))
    np.testing.assert_array_equal(default.threshold, -mirrored.threshold.values[::-1])
    same(default, flipped(mirrored), COUNTS)


@RELAXED
@given(st.data(), st.sampled_from(cases.FUSIONS))
def test_rejecting_a_failure_is_an_infinite_distance(data, fusion):
    case = data.draw(cases.matrices(dtypes=("float32", "float64"), nans=("reject",), **ANY))
    worst = INF if case.kind == "distance" else -INF
    other = replace(case, values=np.where(np.isnan(case.values), worst, case.values), nan="raise")
    a, b = (be.Scores(**c.scores()) for c in (case, other))
    t = data.draw(cases.thresholds(case))
    same(
        be.verification(a, thresholds=t, templates="multi", fusion=fusion),
        be.verification(b, thresholds=t, templates="multi", fusion=fusion),
        COUNTS,
    )
    same(verification(case, None), verification(other, None), ["threshold", *COUNTS])
    same(open_set(case, t), open_set(other, t), OPEN_COUNTS)


@RELAXED
@given(st.data(), st.sampled_from(cases.FUSIONS), st.sampled_from(cases.UNITS))
def test_excluding_a_failure_is_ignoring_its_cell(data, fusion, unit):
    case = data.draw(cases.matrices(dtypes=("float32", "float64"), nans=("exclude",)))
    labels = case.probe_labels if case.gallery_labels is None else case.gallery_labels
    probes, gallery = (np.array(list(x), dtype=object) for x in (case.probe_labels, labels))
    mask = np.where(probes[:, None] == gallery[None], 2, 1).astype(np.uint8)
    mask[np.isnan(case.values)] = 0
    other = replace(case, mask=mask, nan="raise")
    t = data.draw(cases.thresholds(case))
    for templates in ("single", "multi"):
        options = {"templates": templates, "fusion": fusion}
        same(verification(case, t, **options), verification(other, t, **options), COUNTS)
    options = {"rank_unit": unit, "fusion": fusion}
    same(open_set(case, t, **options), open_set(other, t, **options), [*OPEN_COUNTS, "ttr"])


# ------------------------------------------------------------------------------- parts and wholes


@RELAXED
@given(st.data())
def test_more_templates_help_both_the_genuine_and_the_impostor(data):
    """Fused by the minimum, another template lowers FRR or leaves it, and raises FAR."""
    case = data.draw(cases.matrices(layouts=("rectangular",), nans=("raise",)))
    m, n = case.values.shape
    assume(n > 1)
    left_out = data.draw(st.integers(0, n - 1))
    gallery = list(case.gallery_labels)
    assume(gallery.count(gallery[left_out]) > 1)  # no subject leaves the gallery
    scores = be.Scores(**case.scores())
    fewer = scores.select(gallery=[j for j in range(n) if j != left_out])
    t = data.draw(cases.thresholds(case))
    for task in ("verification", "open_set"):
        if task == "verification":
            a, b = (be.verification(s, thresholds=t, templates="multi") for s in (fewer, scores))
            assert (b.frr <= a.frr).all() or b.genuine_attempts == 0
        else:
            a, b = (be.open_set(s, thresholds=t) for s in (fewer, scores))
        assert (a.genuine_attempts, a.impostor_attempts) == (
            b.genuine_attempts, b.impostor_attempts,
        )  # fmt: skip
        assert (b.fa >= a.fa).all()


@RELAXED
@given(st.data(), st.sampled_from(cases.FUSIONS))
def test_with_one_template_each_there_is_nothing_to_fuse(data, fusion):
    case = data.draw(cases.matrices(layouts=("rectangular",), sizes=[(1,), (1, 1), (1,) * 4]))
    assume(fusion != "kth:2")
    t = data.draw(cases.thresholds(case))
    same(verification(case, t), verification(case, t, templates="multi", fusion=fusion), COUNTS)
    same(
        open_set(case, t), open_set(case, t, rank_unit="subject", fusion=fusion),
        [*OPEN_COUNTS, "ttr", "ftr"],
    )  # fmt: skip


@RELAXED
@given(st.data(), st.sampled_from(cases.UNITS))
def test_both_kinds_of_impostors_are_the_one_and_the_other(data, unit):
    case = data.draw(cases.matrices(layouts=("rectangular",)))
    t = data.draw(cases.thresholds(case))
    a, b, both, auto = (
        open_set(case, t, rank_unit=unit, impostors=x)
        for x in ("unenrolled", "leave-subject-out", "both", "auto")
    )
    np.testing.assert_array_equal(a.fa + b.fa, both.fa)
    assert a.impostor_attempts + b.impostor_attempts == both.impostor_attempts
    unknown = not set(case.probe_labels) <= set(case.gallery_labels)
    same(auto, a if unknown else b, OPEN_COUNTS)
    assert auto.attrs["impostors"] == ("unenrolled" if unknown else "leave-subject-out")
    for ds in (a, b, both):
        same(ds, auto, ["di", "genuine_attempts"])


def test_all_against_all_impostors_are_always_leave_subject_out():
    scores = be.simulate(4, 2, random_state=0)
    plain = be.open_set(scores)
    for impostors in ("auto", "unenrolled", "leave-subject-out", "both"):
        assert be.open_set(scores, impostors=impostors).identical(plain)


# ------------------------------------------------------------------------------- totals


@pytest.mark.parametrize("subjects", [1, 2, 5])
@pytest.mark.parametrize("samples", [1, 2, 4])
def test_equal_sizes_give_the_closed_forms(subjects, samples):
    labels = np.repeat(np.arange(subjects), samples)
    n, s, big_n = len(labels), samples, subjects
    d = np.random.default_rng(0).random((n, n))
    tree = be.evaluate(be.Scores(d, labels))

    def attempts(node):
        ds = tree[node]
        return int(ds.genuine_attempts), int(ds.impostor_attempts)

    mated, others = (n if s > 1 else 0), (n if big_n > 1 else 0)
    assert attempts("verification/single") == (n * (s - 1), n * (big_n - 1) * s)
    assert attempts("verification/multi") == (mated, n * (big_n - 1))
    assert attempts("open_set") == (mated, others)
    assert (tree["closed_set"].attempts, tree["closed_set"].skipped) == (mated, n - mated)
    if mated:
        assert len(tree["closed_set"]["rank"]) == n - 1

    tree = be.evaluate(be.Scores(d, labels, labels.copy()))
    assert attempts("verification/single") == (n * s, n * (big_n - 1) * s)
    assert attempts("verification/multi") == (n, n * (big_n - 1))
    assert attempts("open_set") == (n, others)
    assert (tree["closed_set"].attempts, len(tree["closed_set"]["rank"])) == (n, n)


@RELAXED
@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_unequal_sizes_give_the_sums(sizes, seed):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    n = len(labels)
    scores = be.Scores(rng.random((n, n)), labels)
    single = be.verification(scores, thresholds=[1])
    multi = be.verification(scores, thresholds=[1], templates="multi")
    s = np.array(sizes)
    assert single.genuine_attempts == (s * (s - 1)).sum()
    assert single.impostor_attempts == n * n - (s * s).sum()
    assert multi.genuine_attempts == s[s > 1].sum()
    assert multi.impostor_attempts == n * (len(s) - 1)
    closed = be.closed_set(scores)
    assert (closed.attempts, closed.skipped) == (s[s > 1].sum(), s[s == 1].sum())


DEGENERATE = {
    "one subject": (["a", "a", "a"], None, (6, 0)),
    "singletons only": (["a", "b", "c"], None, (0, 6)),
    "one template": (["a"], None, (0, 0)),
    "none enrolled": (["x", "y", "z"], ["a", "b", "b"], (0, 9)),
    "one enrolled subject": (["a", "a", "a"], ["a", "a", "a"], (9, 0)),
    "one unknown probe": (["x"], ["a"], (0, 1)),
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_a_class_without_attempts_has_no_rate(name, kind):
    probes, gallery, (genuine, impostor) = DEGENERATE[name]
    n = len(probes if gallery is None else gallery)
    d = np.arange(len(probes) * n, dtype=float).reshape(len(probes), n)
    tree = be.evaluate(be.Scores(d, probes, gallery, kind=kind))
    for node in ("verification/single", "verification/multi", "open_set"):
        ds = tree[node]
        expected = [("genuine", genuine, ["frr"]), ("impostor", impostor, ["far", "grr"])]
        for what, attempts, rates in expected:
            found = int(ds[f"{what}_attempts"])
            assert (found == 0) == (attempts == 0)
            if node == "verification/single":
                assert found == attempts
            for rate in rates:
                assert np.isnan(ds[rate]).all() == (attempts == 0)
            assert (f"no-{what}-attempt" in codes(ds)) == (attempts == 0)
        assert len(ds.threshold) >= 1 and ds.fa.dtype == np.int64
        if not (genuine and impostor):
            assert np.isnan(ds.eer)
    closed = tree["closed_set"]
    if genuine:
        assert closed.recognition_rate == (1 if not impostor else closed.recognition_rate)
    else:
        assert closed.attempts == 0 and np.isnan(closed.cms).all()
        assert "no-mated-probe" in codes(closed)


# ------------------------------------------------------------------------------- threads


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.cases(1)
def test_the_number_of_threads_changes_nothing(dtype):
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("this machine has one thread")
    rng = np.random.default_rng(7)
    labels = rng.integers(0, 40, 301)
    d = rng.normal(size=(301, 301)).round(2).astype(dtype)
    d[rng.random(d.shape) < 0.01] = np.nan
    scores = be.Scores(d, labels, nan="reject")
    results = []
    try:
        for threads in (1, 2, numba.config.NUMBA_NUM_THREADS):
            numba.set_num_threads(threads)
            results.append(be.evaluate(scores))
            for fusion in ("mean", "median", "kth:3"):
                results[-1][fusion] = be.verification(scores, templates="multi", fusion=fusion)
            results[-1]["given"] = be.verification(scores, thresholds=np.linspace(-3, 3, 50))
    finally:
        numba.set_num_threads(1)
    assert results[0].identical(results[1]) and results[0].identical(results[2])
