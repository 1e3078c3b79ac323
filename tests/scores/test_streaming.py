"""Embeddings without a matrix: the same numbers, whatever the limit, in bounded memory."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import limits
import numpy as np
import pytest
from limits import streaming
from twins import assert_same_but_d_prime

import bioeval as be
from bioeval.scores import embeddings
from bioeval.scores.embeddings import METRICS, EmbeddingSource, same_in_any_tile


def features(n=60, f=12, seed=0, dtype="float64"):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(n // 3), 3)
    x = rng.normal(size=(n // 3, f))[labels] + 0.7 * rng.normal(size=(n, f))
    return np.abs(x).astype(dtype), labels


def both(*args, **options):
    """The same scores as a matrix and streamed."""
    matrix = be.Scores.from_embeddings(*args, **options)
    streamed = streaming(*args, **options)
    assert streamed.streams
    assert not matrix.streams
    return matrix, streamed


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_streamed_distances_are_those_of_the_matrix(metric, dtype):
    x, labels = features()
    matrix, streamed = both(x, labels, metric=metric, dtype=dtype)
    assert streamed.dtype == matrix.dtype == np.dtype(dtype)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(streamed.values, matrix.values, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("metric", ["l2", "l1", "linf"])
@pytest.mark.parametrize("layout", ["square", "shuffled", "gallery", "selected"])
@pytest.mark.cases(1)
def test_streamed_results_are_those_of_the_matrix(metric, layout):
    x, labels = features(90)
    x = np.round(4 * x)  # whole numbers: nothing is rounded, in whatever order it is summed
    rng = np.random.default_rng(1)
    if layout == "gallery":
        order = rng.permutation(len(x))
        given = (x[order[:40]], labels[order[:40]], x[order[40:]], labels[order[40:]])
    elif layout == "shuffled":
        order = rng.permutation(len(x))
        given = (x[order], labels[order])
    else:
        given = (x, labels)
    matrix, streamed = both(*given, metric=metric)
    if layout == "selected":
        rows, columns = rng.permutation(90)[:50], rng.permutation(90)[:70]
        matrix, streamed = (s.select(rows, columns) for s in (matrix, streamed))
    one, other = be.evaluate(matrix), be.evaluate(streamed)
    for node in one.leaves:
        for name, value in node.data_vars.items():
            tolerance = 0 if value.dtype.kind == "i" else 1e-9
            np.testing.assert_allclose(
                other[node.path][name].values, value.values, rtol=tolerance, atol=tolerance,
                err_msg=f"{node.path}/{name}",
            )  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is read from /proc")
def test_peak_memory_stays_under_the_limit():
    """6,000 x 6,000 float64 are 288 MB; the evaluation takes the limit, 100 MB, or little more."""
    program = """
        import re
        from pathlib import Path

        import numpy as np
        from limits import streaming

        import bioeval as be

        def held(name):
            status = Path("/proc/self/status").read_text()
            return int(re.search(rf"{name}:\\s+(\\d+)", status)[1]) / 1024

        rng = np.random.default_rng(0)
        labels = np.repeat(np.arange(1500), 4)
        x = rng.normal(size=(1500, 64))[labels] + rng.normal(size=(6000, 64))
        limit = 100 << 20
        few = streaming(x[:3000], labels[:3000], metric="l2")
        be.evaluate(few, max_rank=20)  # compiles, and loads what is loaded late
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before = held("VmRSS")
        scores = streaming(x, labels, metric="l2", limit=limit)
        assert scores.streams
        tree = be.evaluate(scores, max_rank=20)
        print(int(tree["closed_set"].attempts), held("VmHWM") - before)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True,
        check=True, cwd=Path(limits.__file__).parent,
    )  # fmt: skip
    attempts, grown = done.stdout.split()
    assert attempts == "6000"
    assert float(grown) < 120


@pytest.mark.parametrize(("scale", "dtype"), [(1e-200, "float64"), (1e200, "float64"),
                                              (1e-23, "float32"), (1e20, "float32")])  # fmt: skip
def test_squares_out_of_range_do_not_spoil_distances(scale, dtype):
    x = np.array([[1, 2], [3, 5], [9, 1], [2, 2.0]])
    scores = be.Scores.from_embeddings(x * scale, list("aabb"), metric="l2", dtype=dtype)
    expected = be.Scores.from_embeddings(x, list("aabb"), metric="l2").values
    np.testing.assert_allclose(scores.values.astype(float) / scale, expected, rtol=1e-5)


def tiled(metric, dtype, gallery=False, n=150):
    rng = np.random.default_rng(8)
    x = rng.random((n, 17)).astype(dtype)
    x[40:44] = x[3]
    x[60] = np.nan
    y = rng.random((n - 33, 17)).astype(dtype) if gallery else x
    return EmbeddingSource(x, y, metric, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("gallery", [False, True], ids=["square", "gallery"])
@pytest.mark.cases(2)
def test_a_distance_is_the_same_in_any_rows(metric, dtype, gallery, monkeypatch):
    """To the last bit, whatever is read, and in which order."""
    monkeypatch.setattr(embeddings, "TILE", 32)
    source = tiled(metric, dtype, gallery)
    whole = source.whole()
    assert gallery or np.array_equal(whole, whole.T, equal_nan=True)
    m = len(whole)
    for step in (1, 7, 32, 64, 100, m):
        for low in (*range(0, m, step), 0, *range(m - 1, 0, -50)):
            rows = source[low : low + step]
            assert np.array_equal(rows, whole[low : low + step], equal_nan=True)
    copied = pickle.loads(pickle.dumps(source))
    assert np.array_equal(copied[20:70], whole[20:70], equal_nan=True)
    some = np.arange(30, 77)
    assert np.array_equal(source[some], whole[some], equal_nan=True)
    few = np.array([3, 40, 41, 60, 149])  # computed by themselves
    np.testing.assert_allclose(source.of_rows(few), whole[few], rtol=1e-5, atol=1e-6)
    if same_in_any_tile(17, source.dtype):
        assert np.array_equal(source.of_rows(few), whole[few], equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.cases(2)
def test_streamed_results_are_those_of_the_matrix_in_tiles(dtype, shuffled, monkeypatch):
    monkeypatch.setattr(embeddings, "TILE", 64)
    rng = np.random.default_rng(4)
    labels = np.repeat(np.arange(100), 6)
    x = (rng.normal(size=(100, 24))[labels] + rng.normal(size=(600, 24))).astype(dtype)
    order = rng.permutation(600) if shuffled else np.arange(600)
    found = [
        be.evaluate(streaming(x[order], labels[order], dtype=dtype, limit=limit))
        for limit in ("1 GiB", "1 MiB", "300 kB")
    ]
    for other in found[1:]:
        assert_same_but_d_prime(other, found[0])
