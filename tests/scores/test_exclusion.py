"""Pairs of one subject that agree in a metadata column are left out, in every task."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from limits import streaming
from result_messages import codes
from twins import assert_same_but_d_prime

import bioeval as be
from bioeval.base.errors import DataError, ProtocolError
from bioeval.cli.program import main


def by_hand(values, probe, gallery, removed, square):
    """Return the attempts of all tasks, from the definition: plain loops."""
    genuine, impostor, ranks, multi_genuine = [], [], [], []
    for i, who in enumerate(probe):
        mates, others = [], []
        for j, other in enumerate(gallery):
            if (square and i == j) or (who == other and removed(i, j)):
                continue
            (mates if who == other else others).append(values[i][j])
        genuine += mates
        impostor += others
        if mates:
            multi_genuine.append(min(mates))
            ranks.append(1 + sum(d <= min(mates) for d in others))
    return sorted(genuine), sorted(impostor), ranks, sorted(multi_genuine)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.booleans())
def test_every_task_leaves_them_out(seed, square, shuffled, float64):
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 13)), int(rng.integers(2, 13))
    n = m if square else n
    probe = rng.integers(0, 3, m)
    gallery = probe if square else rng.integers(0, 3, n)
    if not shuffled and not square:
        gallery = np.sort(gallery)
    session = {"p": rng.integers(0, 2, m), "g": rng.integers(0, 2, n)}
    camera = {"p": rng.integers(0, 3, m), "g": rng.integers(0, 3, n)}
    if square:
        session["g"], camera["g"] = session["p"], camera["p"]
    names = [("session",), ("session", "camera")][seed % 2]
    values = rng.integers(0, 4, (m, n)).astype(np.float64 if float64 else np.float32)
    scores = be.Scores(
        values,
        probe.astype(str),
        None if square else gallery.astype(str),
        probe_meta={"session": session["p"], "camera": camera["p"]},
        gallery_meta=None if square else {"session": session["g"], "camera": camera["g"]},
        exclude=names,
    )

    def removed(i, j):
        same_session = session["p"][i] == session["g"][j]
        same_camera = camera["p"][i] == camera["g"][j]
        return same_session or (len(names) == 2 and same_camera)

    genuine, impostor, ranks, nearest = by_hand(values, probe, gallery, removed, square)
    thresholds = [0.0, 1.0, 2.0, 3.0]
    single = be.verification(scores, thresholds=thresholds)
    assert single.genuine_attempts == len(genuine)
    assert single.impostor_attempts == len(impostor)
    assert single.ga.values.tolist() == [sum(d <= t for d in genuine) for t in thresholds]
    assert single.fa.values.tolist() == [sum(d <= t for d in impostor) for t in thresholds]
    multi = be.verification(scores, templates="multi", thresholds=thresholds)
    assert multi.ga.values.tolist() == [sum(d <= t for d in nearest) for t in thresholds]
    closed = be.closed_set(scores, unmated="skip")
    assert closed.attempts == len(ranks)
    for k in closed["rank"].values:
        assert closed.cms_count.sel(rank=k) == sum(r <= k for r in ranks)
    opened = be.open_set(scores, thresholds=thresholds)
    assert opened.genuine_attempts == len(ranks)
    tree = be.evaluate(scores.excluding(*names), "auto") if square else None
    if tree is not None:
        assert tree["verification/single"].genuine_attempts == len(genuine)


def test_failed_comparisons_that_are_left_out_do_not_matter():
    values = np.array([[0, np.nan, 1, 2], [np.nan, 0, 3, 4], [1, 3, 0, 5], [2, 4, 5, 0]])
    meta = {"session": ["a", "a", "b", "b"]}
    scores = be.Scores(values, [1, 1, 1, 2], probe_meta=meta)
    with pytest.raises(DataError, match="2 NaN"):
        be.verification(scores)
    result = be.verification(scores.excluding("session"))
    assert result.genuine_attempts == 4
    assert result.attrs["exclude"] == "session"
    values[0, 2] = np.nan
    with pytest.raises(DataError, match="1 NaN, the first at row 0, column 2"):
        be.verification(be.Scores(values, [1, 1, 1, 2], probe_meta=meta, exclude="session"))
    assert np.isnan(values[0, 1]) and values[0, 0] == 0, "the user's array is left alone"


def test_the_note_goes_when_sessions_are_excluded():
    meta = {"session": [1, 2, 1, 2]}
    scores = be.Scores(np.arange(16.0).reshape(4, 4), [0, 0, 1, 1], probe_meta=meta)
    assert "same-session-counted" in codes(be.closed_set(scores))
    assert "same-session-counted" not in codes(be.closed_set(scores.excluding("session")))


def test_a_view_goes_on_excluding():
    rng = np.random.default_rng(2)
    meta = {"session": rng.integers(0, 2, 12)}
    labels = np.repeat([0, 1, 2], 4)
    scores = be.Scores(rng.random((12, 12)), labels, probe_meta=meta, exclude=("session",))
    rows, columns = np.array([0, 3, 5, 7, 11]), np.array([10, 1, 0, 4, 6, 8])
    view = scores.select(probes=rows, gallery=columns)
    expected = sum(
        labels[i] == labels[j] and i != j and meta["session"][i] != meta["session"][j]
        for i in rows
        for j in columns
    )
    assert be.verification(view).genuine_attempts == expected


def test_streamed_embeddings_exclude_too():
    rng = np.random.default_rng(3)
    x, labels = rng.normal(size=(40, 5)), np.repeat(np.arange(8), 5)
    meta = {"session": np.tile([1, 1, 2, 2, 3], 8)}
    given = {"metric": "l2", "probe_meta": meta, "exclude": ("session",)}
    whole = be.Scores.from_embeddings(x, labels, **given)
    streamed = streaming(x, labels, **given)
    assert streamed._streams
    a, b = be.evaluate(whole), be.evaluate(streamed)
    for node in ("verification/single", "open_set", "closed_set"):
        assert_same_but_d_prime(b[node].to_dataset(), a[node].to_dataset())


@pytest.mark.parametrize("name", ["scores.npz", "scores.npy"])
def test_files_say_what_is_excluded(tmp_path, name):
    meta = {"session": [1, 2, 1, 2]}
    scores = be.Scores(np.arange(16.0).reshape(4, 4), [0, 0, 1, 1], probe_meta=meta)
    be.save(scores.excluding("session"), tmp_path / name)
    again = be.load(tmp_path / name)
    assert again.exclude == ("session",)
    assert be.verification(again).genuine_attempts == 4
    be.save(scores, tmp_path / name)
    assert be.load(tmp_path / name).exclude == ()
    assert be.load(tmp_path / name, exclude="session").exclude == ("session",)


@pytest.mark.slow
def test_the_command_line_excludes(tmp_path, capsys):
    meta = {"session": [1, 2, 1, 2]}
    scores = be.Scores(np.arange(16.0).reshape(4, 4), [0, 0, 1, 1], probe_meta=meta)
    be.save(scores, tmp_path / "x.npz")
    assert main(["run", str(tmp_path / "x.npz")]) == 0
    assert "--exclude session" in " ".join(capsys.readouterr().out.split())
    assert main(["run", str(tmp_path / "x.npz"), "--exclude", "session", "--json"]) == 0
    assert "pairs of the same session" not in capsys.readouterr().out
    assert main(["run", str(tmp_path / "x.npz"), "--exclude", "sesion"]) == 2
    assert "Did you mean 'session'?" in capsys.readouterr().err


def test_wrong_columns_are_refused():
    d = np.ones((2, 2))
    with pytest.raises(
        DataError, match="'session', but the probe metadata have no such column; there are"
    ):
        be.Scores(d, [1, 2], exclude=("session",))
    with pytest.raises(DataError, match="the gallery metadata have no such column"):
        be.Scores(d, [1, 2], [1, 2], probe_meta={"camera": [1, 2]}, exclude=("camera",))
    mask = np.array([[0, 1], [1, 0]])
    with pytest.raises(DataError, match="exclude needs labels"):
        be.Scores(d, mask=mask, probe_meta={"session": [1, 1]}, exclude=("session",))
    with pytest.raises(ProtocolError, match="pair list"):
        be.Scores.from_pairs([0.1], [True]).excluding("session")
    scores = be.Scores(d, [1, 1], probe_meta={"session": [1, 1]}, exclude=("session",))
    with pytest.raises(DataError, match="1 pair left out by exclude=session"):
        scores.at_pairs([0], [1])
