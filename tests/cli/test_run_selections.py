"""What ``run`` does with thresholds that are given, and with a gallery that nothing trains."""

import csv
import json

import numpy as np
import pytest

import bioeval as be
from bioeval.cli import main


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = be.simulate(30, 4, random_state=1)
    meta = {"session": np.tile([1, 1, 2, 2], 30)}
    be.save(be.Scores(np.asarray(made.values), made.probe_labels, probe_meta=meta), "m.npz")
    return "m.npz"


def printed(capsys, *args: str) -> str:
    assert main(["run", *args]) == 0
    return capsys.readouterr().out


def test_given_thresholds_are_printed_and_the_curves_stay(file, capsys):
    scores = be.load(file)
    who, values = scores.probe_labels, np.asarray(scores.values)
    other = ~np.eye(len(who), dtype=bool)
    same = (who[:, None] == who) & other
    how = ("--interval", "none", "--out", "o")
    text = printed(capsys, file, "--thresholds", "4,4.5", *how)
    rows = [line.split() for line in text.split("Verification, multi")[0].splitlines()]
    for t in (4.0, 4.5):
        gar = 100 * np.mean(values[same] <= t)
        far = 100 * np.mean(values[other & ~same] <= t)
        for name, rate in (("GAR", gar), ("FAR", far), ("FRR", 100 - gar), ("GRR", 100 - far)):
            assert [name, f"{rate:.2f}", "%", f"{t:.5f}"] in rows
    with open("o/verification_single.csv", encoding="utf-8") as stream:
        thresholds = [float(x["threshold"]) for x in csv.DictReader(stream)]
    assert len(thresholds) > 100
    assert {4.0, 4.5} <= {*thresholds}
    document = json.loads(printed(capsys, file, "--thresholds", "4,4.5", "--json"))
    at = document["tasks"]["verification/single"]["at_thresholds"]
    assert [x["threshold"] for x in at] == [4.0, 4.5]


def test_folds_with_templates_are_of_verification_alone(file, capsys):
    text = printed(capsys, file, "--folds", "3", "--templates", "single")
    assert "Verification, single-template, in folds" in text
    assert "multi-template" not in text
    assert "identification" not in text


def test_a_gallery_without_training_is_one_selection_of_all_people(file, capsys):
    text = printed(capsys, file, "--gallery-templates", "session=1")
    assert "60 probes of 30 subjects against 60 gallery templates of 30 subjects" in text
    assert "120 genuine and 3,480 impostor attempts" in text  # 60 x 2, 60 x 58
    assert "same list" not in text
    scores = be.load(file)
    first = scores.probe_meta["session"] == 1
    alone = be.verification(scores.select(np.flatnonzero(~first), np.flatnonzero(first)))
    assert f"{100 * float(alone.eer):.2f} %" in text.split("EER")[1].splitlines()[0]


def test_people_who_are_not_enrolled_without_training(file, capsys):
    text = printed(capsys, file, "--unenrolled", "10")
    # 20 people x 2 templates enrolled; their 2 others and all 4 of 10 people probe.
    assert "80 probes of 30 subjects against 40 gallery templates of 20 subjects" in text
    assert "impostors are people who are not enrolled" in " ".join(text.split())
    again = printed(capsys, file, "--unenrolled", "10", "--seed", "5")
    assert again != text
    assert "30 subjects against 40 gallery templates of 20 subjects" in again
