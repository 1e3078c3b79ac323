"""``bioeval threshold --assure`` and ``--promise``: the sentence, the verdict, and wrong use."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from json_rows import row

import bioeval as be
from bioeval.cli import main


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name, seed in (("a.npz", 1), ("b.npz", 2)):
        be.save(be.simulate(70, 2, random_state=seed), name)


def test_a_claim_is_shown_refuted_or_open(files, capsys):
    for threshold, verdict in (("3", "Shown"), ("6", "Refuted")):
        end = main(["threshold", "b.npz", "--threshold", threshold, "--promise", "far=10%"])
        assert end == (verdict == "Refuted")
        assert f"\n{verdict}: the FAR at {threshold} is " in capsys.readouterr().out
    promise = ["threshold", "b.npz", "--threshold", "4", "--promise", "frr=0.2", "--json"]
    assert main(promise) == 0
    result = json.loads(capsys.readouterr().out)
    assert row(result, "verdict", promise="frr=0.2")["text"] in ("shown", "refuted", "open")
    frr = row(result, "frr")
    assert frr["low"] <= frr["value"] <= frr["high"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--promise", "far=1%"], "--promise needs the threshold that it is about: --threshold T"),
        (["--threshold", "3"], "--threshold is for a promise: give --promise far=X"),
        (["--threshold", "3", "--promise", "eer"], "--promise is 'eer'; expected far=X or frr=X"),
        (
            ["--target", "eer", "--assure", "0.95"],
            "--target is 'eer'; what can be assured is a FAR",
        ),
        (["--assure", "1"], "--assure"),
    ],
)
def test_wrong_use_is_one_line(files, capsys, words, says):
    assert main(["threshold", "a.npz", *words]) == 2
    error = capsys.readouterr().err.strip()
    assert says in error
    assert error.count("\n") == 0


@pytest.mark.slow
def test_a_page_of_infinite_scores_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = np.arange(14).repeat(3)
    be.save(be.Scores(np.full((42, 42), np.inf), labels), "s.npz")
    assert main(["report", "s.npz", "--out", "p.html", "--folds", "0"]) == 0
    assert "<html" in Path("p.html").read_text()


def test_scores_of_the_wrong_kind_are_doubted_before_any_answer(files, capsys):
    """The files hold similarities and do not say so."""
    for name, seed in (("x", 1), ("y", 2)):
        scores = be.simulate(30, 3, random_state=seed)
        np.save(f"{name}.npy", -np.asarray(scores.values))
        np.savetxt("who.csv", scores.probe_labels, "%d", header="subject", comments="")
    arguments = ["--labels", "who.csv"]
    for words, answer in (
        (["threshold", "x.npy", "--target", "far=1%", "--repeats", "1"], "all data"),
        (["compare", "x.npy", "y.npy", "--replicates", "100"], "FRR at FAR"),
    ):
        assert main([*words, *arguments]) == 0
        printed = capsys.readouterr().out
        assert "probably of the other kind" in " ".join(printed.split())
        warning = re.compile(r"^Warning( \(.*\))?: ", re.M)  # of two systems with their names
        assert warning.search(printed).start() < printed.index(answer)
        assert main([*words, *arguments, "--kind", "similarity"]) == 0
        assert not warning.search(capsys.readouterr().out)
