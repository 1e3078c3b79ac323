"""Identities that hold for any scores, without a naive implementation."""

import numba
import numpy as np
import pytest
from reference import one_thread  # noqa: F401
from result_messages import codes

import bioeval as be

# ------------------------------------------------------------------------------- totals


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
    distances = np.arange(len(probes) * n, dtype=float).reshape(len(probes), n)
    tree = be.evaluate(be.Scores(distances, probes, gallery, kind=kind))
    for node in ("verification/single", "verification/multi", "open_set"):
        ds = tree[node]
        expected = [("genuine", genuine, ["frr"]), ("impostor", impostor, ["far", "grr"])]
        for class_name, attempts, rates in expected:
            number = int(ds[f"{class_name}_attempts"])
            assert (number == 0) == (attempts == 0)
            if node == "verification/single":
                assert number == attempts
            for rate in rates:
                assert np.isnan(ds[rate]).all() == (attempts == 0)
            said = [x.arguments["what"] for x in be.messages(ds) if x.code == "no-attempt"]
            assert (f"{class_name} attempt" in said) == (attempts == 0)
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
    distances = rng.normal(size=(301, 301)).round(2).astype(dtype)
    distances[rng.random(distances.shape) < 0.01] = np.nan
    scores = be.Scores(distances, labels, nan="reject")
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
