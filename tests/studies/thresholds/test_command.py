"""``bioeval threshold --assure`` and ``--claim``: the sentence, the verdict, and wrong use."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import bioeval as be
from bioeval.cli.program import main


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name, seed in (("a.npz", 1), ("b.npz", 2)):
        be.save(be.simulate(70, 2, random_state=seed), name)


STUDY = ["threshold", "a.npz", "--target", "far=10%", "--assure", "0.95", "--repeats", "1"]


@pytest.mark.slow
def test_the_sentence_comes_first_and_is_in_json(files, capsys):
    assert main(STUDY) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert main([*STUDY, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["answer"] in shown
    assert shown.index("Install") < shown.index("Without assurance")
    assert result["assured_far_high"] <= 0.1 < result["assured_far_high"] * 1.5
    installed = re.search(r"Install (\S+)\. With 95 % confidence", shown)[1]
    assert 0 <= result["assured_threshold"] - float(installed) < 1e-5 * result["assured_threshold"]
    study = be.study_threshold(be.load("a.npz"), "far=10%", assure=0.95, repeats=1)
    assert float(study.assured_threshold) == result["assured_threshold"]


@pytest.mark.slow
def test_what_cannot_be_promised_is_a_result(files, capsys):
    study = [*STUDY[:2], "--target", "far=1/1000", "--assure", "0.95"]
    assert main([*study, "--repeats", "1"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "No threshold can be promised" in shown


@pytest.mark.slow
def test_similarities_have_the_same_promise_turned_round(files, capsys):
    scores = be.load("a.npz")
    turned = be.Scores(-scores.values, scores.probe_labels, kind="similarity")
    result, other = (
        be.study_threshold(x, "far=10%", assure=0.95, repeats=1) for x in (scores, turned)
    )
    assert float(other.assured_threshold) == -float(result.assured_threshold)
    assert float(other.assured_far_high) == float(result.assured_far_high)


def test_a_claim_is_shown_refuted_or_open(files, capsys):
    for at, verdict in (("2", "Shown"), ("9", "Refuted")):
        assert main(["threshold", "b.npz", "--threshold", at, "--claim", "far=10%"]) == 0
        assert capsys.readouterr().out.startswith(f"{verdict}: the FAR at {at} is ")
    claim = ["threshold", "b.npz", "--threshold", "4", "--claim", "frr=0.2", "--json"]
    assert main(claim) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["verdict"] in ("shown", "refuted", "open")
    assert result["frr_low"] <= result["frr"] <= result["frr_high"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--claim", "far=1%"], "--claim needs the threshold that it is about: --threshold T"),
        (["--threshold", "3"], "--threshold is for a claim: give --claim far=X too"),
        (["--threshold", "3", "--claim", "eer"], "--claim is eer; expected far=X or frr=X"),
        (["--target", "eer", "--assure", "0.95"], "--target is eer; what can be assured is a FAR"),
        (["--assure", "1"], "--assure"),
    ],
)
def test_wrong_use_is_one_line(files, capsys, words, says):
    assert main(["threshold", "a.npz", *words]) == 2
    error = capsys.readouterr().err.strip()
    assert says in error
    assert error.count("\n") == 0


@pytest.mark.slow
def test_the_page_opens_at_the_assured_threshold(files, tmp_path):
    assert main([*STUDY, "--report", "page.html"]) == 0
    text = re.sub("<[^>]+>", "", (tmp_path / "page.html").read_text())
    threshold = re.search(r"Install ([\d.]+[0-9])", text)
    assert threshold is not None and text.count(threshold[1]) > 2  # in the table, too
    assert "With 95 % confidence, the FAR among people like these is at most 10 %." in text


def test_the_curves_of_a_page_have_the_fusion_and_the_threshold_of_the_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scores = be.simulate(15, 3, random_state=1)
    be.save(scores, "s.npz")
    given = ["--target", "far=0.1", "--repeats", "1", "--folds", "3", "--replicates", "100"]
    fused = ["--templates", "multi", "--fusion", "mean"]
    assert main(["threshold", "s.npz", *given, *fused, "--report", "p.html"]) == 0
    eer = float(be.verification(scores, templates="multi", fusion="mean").eer)
    assert eer != float(be.verification(scores, templates="multi").eer)
    assert f"EER {100 * eer:.2f} %" in Path("p.html").read_text()


def test_a_page_of_infinite_scores_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = np.arange(14).repeat(3)
    be.save(be.Scores(np.full((42, 42), np.inf), labels), "s.npz")
    assert main(["report", "s.npz", "--out", "p.html", "--folds", "0"]) == 0
    assert "<html" in Path("p.html").read_text()


@pytest.mark.slow
def test_a_small_target_is_read_exactly(files, capsys):
    study = ["threshold", "a.npz", "--repeats", "1", "--json", "--target"]
    rules = []
    for written in ("far=1/10000", "far=0.01%", "far=1e-4"):
        assert main([*study, written]) == 0
        rules.append(json.loads(capsys.readouterr().out))
    assert rules[0] == rules[1] == rules[2]
    assert rules[0]["impostors_for_30"] == 300_000
    assert main([*study, "far=1/0"]) == 2
    assert "far=1/0" in capsys.readouterr().err


@pytest.mark.slow
def test_sessions_from_names_leave_out_pairs_of_one_session(files, capsys, tmp_path):
    """An assured threshold of a matrix as text, without pairs of one person and one session."""
    scores = be.simulate(60, 4, random_state=3)
    names = [f"id{k // 4:02d}_day{k % 4 // 2}_{k % 2}" for k in range(240)]
    lines = [",".join(["label", *names])]
    lines += [
        ",".join([name, *map(repr, row.tolist())])
        for name, row in zip(names, scores.values, strict=True)
    ]
    (tmp_path / "m.csv").write_text("\n".join(lines), encoding="utf-8")
    read = ["--kind", "distance", "--subject-from", r"id(?P<subject>\d+)_day(?P<session>\d)_"]
    study = ["threshold", "m.csv", *read, "--exclude", "session", "--target", "far=1/10"]
    assert main([*study, "--assure", "0.95", "--repeats", "1", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["genuine_attempts"] == 60 * 4 * 2
    assert result["assured_far_high"] <= 0.1


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("value", [3.9479866700763275, 0.5843166672898966, -1.23456789, 1e-7, 4.0])
def test_a_threshold_to_install_is_never_looser(kind, value, capsys):
    """Shown for a target that one score alone attains."""
    labels = np.repeat(np.arange(4), 2)
    sign = 1 if kind == "distance" else -1
    values = np.where(labels[:, None] == labels, value, value + sign)
    scores = be.Scores(values, labels, kind=kind)
    ds = be.study_threshold(scores, "frr=0.0", folds=2, repeats=1)
    assert ds.threshold.item() == value
    be.show(ds)
    installed = float(re.search(r"accept where the \w+ [<>]= (\S+)", capsys.readouterr().out)[1])
    assert installed >= value if kind == "similarity" else installed <= value
    assert installed == pytest.approx(value, rel=1e-5)


def test_scores_of_the_wrong_kind_are_doubted_before_any_answer(files, capsys):
    """The files hold similarities and do not say so."""
    for name, seed in (("x", 1), ("y", 2)):
        scores = be.simulate(30, 3, random_state=seed)
        np.save(f"{name}.npy", -np.asarray(scores.values))
        np.savetxt("who.csv", scores.probe_labels, "%d", header="subject", comments="")
    given = ["--labels", "who.csv"]
    for words, answer in (
        (["threshold", "x.npy", "--target", "far=1%", "--repeats", "1"], "where chosen"),
        (["compare", "x.npy", "y.npy", "--replicates", "100"], "FRR at FAR"),
    ):
        assert main([*words, *given]) == 0
        shown = capsys.readouterr().out
        assert "probably of the other kind" in " ".join(shown.split())
        warning = re.compile(r"^Warning( \(.*\))?: ", re.M)  # of two systems with their names
        assert warning.search(shown).start() < shown.index(answer)
        assert main([*words, *given, "--kind", "similarity"]) == 0
        assert not warning.search(capsys.readouterr().out)


@pytest.mark.slow
def test_rates_and_confidences_in_per_cent(files, capsys):
    assert main(["run", "a.npz", "--far", "5%,1/50", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    targets = result["tasks"]["verification/single"]["far_targets"]
    assert {one["far_target"] for one in targets} == {0.05, 0.02}
    assert main([*STUDY[:-3], "95%", "--repeats", "1"]) == 0
    assert "With 95 % confidence" in " ".join(capsys.readouterr().out.split())
    assert main([*STUDY[:-3], "100%", "--repeats", "1"]) == 2
    assert "a number between 0 and 1 (0.95 or 95%)" in capsys.readouterr().err


@pytest.mark.slow
def test_a_claim_next_to_the_rate_is_beyond_more_people(files, capsys):
    far = float(be.check_claim(be.load("a.npz"), 5.0, far=0.5).far)
    given = ["threshold", "a.npz", "--threshold", "5", "--claim"]
    assert main([*given, f"far={far + 1e-6!r}"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "the rate is too near the claim to be settled by more people" in shown
    assert "Valid only if the threshold and the claim were fixed before" in shown
