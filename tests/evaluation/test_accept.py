"""Acceptance strictly beyond a threshold: counts from plain loops, and operating points."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given, strategies as st
from named_arguments import raises_about

import bioeval as be
from bioeval.cli import main

KINDS = ["distance", "similarity", "llr"]


def tied(kind: str = "distance", dtype: type = np.float64, seed: int = 0) -> be.Scores:
    rng = np.random.default_rng(seed)
    label = np.repeat([f"p{i}" for i in range(8)], 3)
    d = rng.integers(0, 20, (24, 24)) - 6 * (label[:, None] == label)
    return be.Scores((d if kind == "distance" else -d).astype(dtype), label, kind=kind)


def beyond(score: float, threshold: float, kind: str) -> bool:
    return score < threshold if kind == "distance" else score > threshold


def classes(scores: be.Scores) -> tuple[list[float], list[float]]:
    genuine: list[float] = []
    impostor: list[float] = []
    values = np.asarray(scores.values, dtype=float)
    for i, mine in enumerate(scores.probe_labels):
        for j, theirs in enumerate(scores.gallery_labels):
            if i != j:
                (genuine if mine == theirs else impostor).append(float(values[i, j]))
    return genuine, impostor


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32])
def test_rates_at_given_thresholds_leave_out_equal_scores(kind, dtype):
    scores = tied(kind, dtype)
    thresholds = np.array([-30, -4, -0.5, 0, 1, 2.5, 7, 12, 40])
    ds = be.verification(scores, thresholds=thresholds, accept="beyond")
    assert ds.threshold.values.tolist() == thresholds.tolist()
    genuine, impostor = classes(scores)
    for t in thresholds:
        at = ds.sel(threshold=t)
        assert at.ga == sum(beyond(x, t, kind) for x in genuine)
        assert at.fa == sum(beyond(x, t, kind) for x in impostor)
    usual = be.verification(scores, thresholds=thresholds)
    assert (usual.fa >= ds.fa).all() and (usual.fa > ds.fa).any()


@pytest.mark.parametrize("kind", KINDS)
def test_operating_points_are_the_same_at_the_next_looser_float(kind):
    scores = tied(kind)
    options = {"far_targets": [0.0, 0.1, 0.5], "frr_targets": [0.2]}
    usual = be.verification(scores, **options)
    ds = be.verification(scores, accept="beyond", **options)
    genuine, impostor = classes(scores)
    for name, values in usual.data_vars.items():
        if values.attrs.get("units") != "score":
            np.testing.assert_array_equal(ds[name], values)
    for target in ds.far_target.values:
        at = ds.sel(far_target=target)
        t = at.threshold_at_far.item()
        assert at.frr_at_far == np.mean([not beyond(x, t, kind) for x in genuine])
        assert np.mean([beyond(x, t, kind) for x in impostor]) <= target
    t = ds.eer_threshold.item()
    assert ds.far_at_eer == np.mean([beyond(x, t, kind) for x in impostor])
    assert ds.frr_at_eer == np.mean([not beyond(x, t, kind) for x in genuine])
    for i, t in enumerate(ds.threshold.values):
        assert ds.fa[i] == sum(beyond(x, t, kind) for x in impostor)
    assert ds.attrs["accept"] == "beyond" and "accept" not in usual.attrs


@given(st.floats(-1e300, 1e300), st.sampled_from(KINDS))
def test_a_given_threshold_comes_back(threshold, kind):
    from bioeval.evaluation.acceptance import looser, stricter

    there = stricter([threshold], kind, "beyond")
    assert beyond(float(there[0]), threshold, kind)
    assert looser(there, kind, "beyond")[0] == threshold


@pytest.mark.parametrize("kind", KINDS)
def test_open_set_and_cards(kind):
    scores = tied(kind)
    thresholds = [-9.0, -3.0, 0.0, 3.0, 9.0]
    ds = be.open_set(scores, thresholds=thresholds, accept="beyond")
    values = np.asarray(scores.values)
    sign = 1 if kind == "distance" else -1
    label = scores.probe_labels
    for t in thresholds:
        accepted = detected = 0
        for i in range(24):
            others = [sign * values[i, j] for j in range(24) if label[j] != label[i]]
            mates = [sign * values[i, j] for j in range(24) if label[j] == label[i] and i != j]
            accepted += min(others) < sign * t
            detected += min(mates) < sign * t and min(mates) < min(others)
        assert ds.fa.sel(threshold=t) == accepted
        assert ds.di.sel(threshold=t, rank=1) == detected
    tree = be.evaluate(scores, thresholds=thresholds, accept="beyond")
    assert tree["open_set"].fa.values.tolist() == ds.fa.values.tolist()
    assert (
        be.at(scores, -3.0, accept="beyond").fa
        == be.verification(scores, thresholds=[-3.0], accept="beyond").fa
    )
    chosen = be.at(scores, ("far", 0.1), accept="beyond")
    assert chosen.far == be.at(scores, ("far", 0.1)).far


def test_intervals_stay_with_their_rows():
    scores, options = be.simulate(12, 3, random_state=1), {"interval": "subject-bootstrap"}
    usual = be.verification(scores, replicates=100, **options)
    ds = be.verification(scores, replicates=100, accept="beyond", **options)
    np.testing.assert_array_equal(ds.far_low, usual.far_low)
    np.testing.assert_array_equal(ds.frr_high, usual.frr_high)


@pytest.mark.parametrize("kind", KINDS[:2])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("thresholds", [None, [1.0, 2.0]])
@pytest.mark.parametrize("genuine", [True, False])
def test_infinite_scores_are_refused(kind, value, thresholds, genuine):
    values = np.array([1.0, 2, 3, 2, 4, 5, 6])
    classes_of = [True] * 3 + [False] * 4
    values[0 if genuine else -1] = value
    pairs = be.Scores.from_pairs(values, classes_of, kind=kind)
    loosest = np.inf if kind == "distance" else -np.inf
    if thresholds and value == loosest and not genuine:  # its rows and points are finite
        be.verification(pairs, thresholds=thresholds, accept="beyond")
        return
    with raises_about(be.DataError, "accept", "nan"):
        be.verification(pairs, thresholds=thresholds, accept="beyond")


def test_what_does_not_apply_is_refused():
    scores = tied()
    with raises_about(be.DataError, "accept"):
        be.verification(scores, accept="below")
    with raises_about(be.DataError, "thresholds"):
        be.verification(scores, thresholds=[-np.inf, 0], accept="beyond")
    assert be.verification(scores, thresholds=[0, np.inf], accept="beyond").gar[-1] == 1
    with raises_about(be.ProtocolError, "accept"):
        be.evaluate(scores, "course-kfold", accept="beyond")
    queries = be.Scores([[1.0, 2]], ["a"], ["a", "b"])
    with raises_about(be.ProtocolError, "accept"):
        be.evaluate(queries, "vehicleid", accept="beyond")
    lists = be.TopKScores([[0, 1]], ["a"], ["a", "b"], distances=[[1.0, 2]])
    with pytest.raises(be.ProtocolError):
        be.open_set(lists, accept="beyond")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("write", [be.to_markdown, be.to_latex])
def test_printed_thresholds_have_the_printed_rates(write, kind, dtype):
    rng = np.random.default_rng(4)
    label = np.repeat(np.arange(8), 3)
    d = np.round(rng.normal(3, 1, (24, 24)) - (label[:, None] == label), 2)
    d = np.where(d < 2, 0, d)  # the next looser float of 0 has no six digits
    scores = be.Scores((d if kind == "distance" else -d).astype(dtype), label, kind=kind)
    given = sorted([1.23456789, 2.5] if kind == "distance" else [-1.23456789, -2.5])
    options = {"far_targets": [0.3, 0.1, 0.05], "frr_targets": [0.2], "thresholds": given}
    text = write(be.verification(scores, accept="beyond", **options))
    genuine, impostor = classes(scores)
    printed = {"FAR": [], "FRR": []}
    for line in text.replace("$-$", "-").replace("\\,\\%", " %").splitlines():
        label_of_row, *cells = re.split(r"[|&]", line.strip("| "))
        rate = re.match(r"(FAR|FRR)\b", label_of_row)
        if rate is None or " = 0" in label_of_row:
            continue
        value, threshold = float(cells[0].replace("%", "")), float(cells[1])
        if rate[1] == "FAR":
            expected = np.mean([beyond(x, threshold, kind) for x in impostor])
        else:
            expected = np.mean([not beyond(x, threshold, kind) for x in genuine])
        assert value == pytest.approx(100 * expected, abs=0.006)
        printed[rate[1]].append(cells[1].strip())
    assert [len(x) for x in printed.values()] == [3, 5]
    assert printed["FAR"][1:] == printed["FRR"][3:] == [str(x) for x in given]


@pytest.mark.parametrize(("kind", "at", "past"), [("distance", "≤", "<"), ("llr", "≥", ">")])
def test_plots_say_which_scores_are_accepted(kind, at, past):
    pytest.importorskip("matplotlib")
    scores = tied(kind)
    for accept, sign in {"at": at, "beyond": past}.items():
        drawn = be.plot.error_rates(be.verification(scores, accept=accept))
        assert f"accepted if {sign} t" in drawn.ax_.get_xlabel()
        drawn = be.plot.dir_surface(be.open_set(scores, accept=accept))
        assert f"accepted if {sign} t" in drawn.ax_.get_xlabel()


def test_the_command(tmp_path, capsys):
    scores, file = tied(), str(tmp_path / "s.npz")
    be.save(scores, file)
    assert main(["run", file, "--accept", "beyond", "--thresholds", "3", "--json"]) == 0
    task = json.loads(capsys.readouterr().out)["tasks"]["verification/single"]
    assert task["accept"] == "beyond"
    assert main(["run", file, "--accept", "beyond"]) == 0
    shown = capsys.readouterr().out
    assert "distances, accepted below the threshold" in shown
    eer = be.verification(scores, accept="beyond").eer_threshold.item()
    assert eer != round(eer) and f" {eer} " in shown
    assert main(["run", file, "--accept", "beyond", "--report", str(tmp_path / "p.html")]) == 2
    assert "leave out --accept" in capsys.readouterr().err
