"""The worst pairs, held to plain loops over all comparisons."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st
from naive_worst_pairs import Pair, worst_pairs as naive_worst_pairs
from strategies import arrange, examples_of, matrices
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.cli.program import main
from bioeval.scores import blocks


def listed(ds: xr.Dataset) -> list[Pair]:
    names = ("comparison", "row", "column", "score")
    return [Pair(*row) for row in zip(*(ds[name].values.tolist() for name in names), strict=True)]


@settings(max_examples=examples_of(18))
@given(data=st.data())
def test_against_the_definition(data):
    case = data.draw(matrices(dtypes=("float32", "float64", "int8"), masks=("none", "labelled")))
    if case.square and data.draw(st.booleans()):
        upper = np.triu(np.ones(case.values.shape, dtype=bool))
        case.values = np.where(upper, case.values, case.values.T)
        case.mask = None if case.mask is None else np.where(upper, case.mask, case.mask.T)
    n = data.draw(st.sampled_from((1, 2, 5, 1000)))
    with pytest.MonkeyPatch.context() as patch:
        if data.draw(st.booleans()):  # several blocks
            patch.setattr(blocks, "LISTED", 0)
            patch.setattr(blocks, "BLOCK_VALUES", 2 * case.values.shape[1])
        ds = be.worst_pairs(be.Scores(**case.scores()), n)
    assert listed(ds) == naive_worst_pairs(n, **case.naive())


@pytest.mark.slow
@settings(max_examples=6)
@given(seed=st.integers(0, 1000), n=st.integers(1, 30), cut=st.integers(1, 29))
def test_permuted_and_merged(seed, n, cut):
    """Another order of templates gives the same pairs, and parts of the rows merge to the whole."""
    rng = np.random.default_rng(seed)
    values, probes, gallery = (
        rng.permutation(30 * 20).reshape(30, 20).astype(float), rng.integers(0, 6, 30),
        rng.integers(0, 5, 20),
    )  # fmt: skip
    scores = be.Scores(values, probes, gallery)
    whole = be.worst_pairs(scores, n)
    i, j = rng.permutation(30), rng.permutation(20)
    other = be.worst_pairs(scores.select(i, j), n)
    np.testing.assert_array_equal(i[other.row], whole.row)
    np.testing.assert_array_equal(j[other.column], whole.column)
    np.testing.assert_array_equal(other.score, whole.score)
    for comparison, sign in (("impostor", 1), ("genuine", -1)):
        parts = [be.worst_pairs(scores.select(probes=k), n) for k in (range(cut), range(cut, 30))]
        result = np.concatenate([x.score[x.comparison == comparison] for x in parts])
        expected = whole.score[whole.comparison == comparison]
        np.testing.assert_array_equal(sign * np.sort(sign * result)[:n], expected)


@pytest.mark.slow
def test_threads_and_ties(monkeypatch):
    """The same on any number of threads, where nearly all scores are tied."""
    import numba

    monkeypatch.setattr(blocks, "SERIAL_CELLS", 0)
    monkeypatch.setattr(blocks, "BLOCK_VALUES", 4000)
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(60), 4)
    values = rng.integers(0, 3, (240, 240)).astype("float32")
    scores = be.Scores(arrange(values, "readonly"), labels, labels, kind="similarity")
    monkeypatch.setattr(blocks, "LISTED", 0)
    result = []
    for threads in (1, min(3, numba.config.NUMBA_NUM_THREADS)):
        numba.set_num_threads(threads)
        result.append(be.worst_pairs(scores, 50))
    numba.set_num_threads(1)
    assert result[0].identical(result[1])
    row, column = np.nonzero((values == 2) & (labels[:, None] != labels))
    first = result[0].isel(pair=slice(50))
    np.testing.assert_array_equal(first.row, row[:50])
    np.testing.assert_array_equal(first.column, column[:50])
    assert (first.score == 2).all() and (result[0].score[50:] == 0).all()
    assert result[0].attrs["pairs"] == "each comparison"


def mislabelled(**options) -> be.Scores:
    """Return scores of three subjects, two of whom are nearer to each other than to themselves."""
    x = np.array([0, 1 + 1j, 1, 1j, 9, 9.5])  # the first four are the corners of a square
    meta = {"session": [1, 1, 2, 2, 1, 2], "camera/side": ["a", None, "b", "a", "b", "a"]}
    return be.Scores(abs(x[:, None] - x), ["ann", "ann", "bob", "bob", "eve", "eve"],
                     probe_meta=meta, **options)  # fmt: skip


def test_exclusions():
    """Excluded pairs are not attempts"""
    scores = mislabelled().excluding("session")
    ds = be.worst_pairs(scores, 9)
    assert ds.row[ds.comparison == "genuine"].values.tolist() == [4]


@pytest.mark.parametrize(
    ("scores", "options", "error", "message"),
    [
        ([0.1], {}, be.DataError, "expected bioeval.Scores"),
        (be.Scores.from_pairs([1, 2], [1, 0]), {}, be.ProtocolError, "sorted by score"),
        (be.Scores([[1, 2]], ["a"], ["a", "b"], kind="order"), {}, be.ProtocolError, "order"),
        (be.Scores([[1, 2]], mask=[[1, 2]]), {}, be.ProtocolError, "labels"),
        (be.Scores([[1, np.nan]], ["a"], ["a", "b"]), {}, be.DataError, "1 NaN"),
        (be.Scores([[1, 2]], ["a"], ["a", "b"]), {"n": 0}, be.DataError, "n is 0"),
    ],
)
def test_bad_input(scores, options, error, message):
    with pytest.raises(error, match=message):
        be.worst_pairs(scores, **options)


@pytest.mark.slow
def test_from_the_command_line(tmp_path, capsys):
    whole = mislabelled()  # whose cameras have None, which is not kept in a file
    session = {"session": whole.probe_meta["session"]}
    scores = be.Scores(whole.values, whole.probe_labels, probe_meta=session)
    be.save(scores, tmp_path / "s.npz")
    out = tmp_path / "out"
    assert (
        main(["run", str(tmp_path / "s.npz"), "--worst", "2", "--verbose", "--out", str(out)]) == 0
    )
    message = capsys.readouterr().out
    assert "Nearest impostor pairs" in message
    assert message == (out / "table.txt").read_text()
    with open(out / "worst_pairs.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    ds = be.worst_pairs(mislabelled(), 2)
    assert [float(row["score"]) for row in rows] == ds.score.values.tolist()
    document = json.loads((out / "summary.json").read_text())
    assert [row["probe_label"] for row in document["worst_pairs"]] == ds.probe_label.values.tolist()
