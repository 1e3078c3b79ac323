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
            said = [x.arguments["what"] for x in be.messages(ds) if x.code == "no-attempt"]
            assert (f"{what} attempt" in said) == (attempts == 0)
        assert len(ds.threshold) >= 1 and ds.fa.dtype == np.int64
        if not (genuine and impostor):
            assert np.isnan(ds.eer)
    closed = tree["closed_set"]
    if genuine:
        assert closed.recognition_rate == (1 if not impostor else closed.recognition_rate)
    else:
        assert closed.attempts == 0 and np.isnan(closed.cms).all()
        assert "no-attempt" in codes(closed)


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
