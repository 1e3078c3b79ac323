"""The page of a customer for a system in use: its study, its claims, and one answer."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import xarray as xr

import bioeval as be
from bioeval.cli import main

QUICK = ["--replicates", "100", "--force"]
OUT = ["--out", "door.html"]
USE = {"templates": "multi", "attempts": "session"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Scores of a door, and studies of it that enrol any two templates, or the first two."""
    folder = tmp_path_factory.mktemp("door")
    for name, seed in (("door", 1), ("others", 2)):
        scores = be.simulate(
            30, 4, layout="probe-against-gallery", probes=4, sessions=2, random_state=seed
        )
        be.save(scores, folder / f"{name}.npz")
    for name, enrol in (("any", "2"), ("first", "first:2")):
        words = [*(f"--{key}={value}" for key, value in USE.items()), f"--enrol={enrol}"]
        out = ["--repeats", "1", "--out", str(folder / name)]
        done = main(["threshold", str(folder / "door.npz"), "--target", "far=5%", *words, *out])
        assert done == 0
    return folder


@pytest.fixture
def inside(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def seen(path) -> str:
    text = re.sub(r"<(script|style).*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.S)
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def value_of(path, variable) -> float:
    """The first number of a variable of verification on a page."""
    text = path.read_text(encoding="utf-8")
    for tag in re.findall(r"<[^>]*data-value=[^>]*>", text):
        found = dict(re.findall(r'data-([a-z-]+)="([^"]*)"', tag))
        if found.get("variable") == variable and found.get("task") == "verification/multi":
            return float(found["value"])
    raise AssertionError(variable)


@pytest.mark.parametrize(("study", "enrol"), [("any", 2), ("first", "first:2")])
def test_the_page_of_a_study_is_about_its_claims(inside, study, enrol):
    words = ["--zoo", "--check", "--workload", "people=180,impostors=0.01", "--out", "a.html"]
    assert main(["report", "door.npz", "--threshold-study", study, *words, *QUICK]) == 0
    page, scores = seen(inside / "a.html"), be.load("door.npz")
    expected = be.study_threshold(scores, "far=5%", repeats=1, enrol=enrol, **USE)
    assert value_of(inside / "a.html", "far") == expected.optimistic_far
    assert value_of(inside / "a.html", "frr") == expected.optimistic_frr
    for title in ("Threshold study, multi-template", "Workload", "Zoo", "Who is confused with"):
        assert title in page
    assert "Open-set identification" not in page.partition("in plain words")[0]
    assert "another threshold" not in page


def test_a_rule_takes_the_use_as_options(inside):
    words = [*(f"--{key}={value}" for key, value in USE.items()), "--enrol", "first:2"]
    study = ["--threshold-study", "far=5%", "--out", "b.html"]
    assert main(["report", "door.npz", *study, *words, *QUICK]) == 0
    scores = be.load("door.npz")
    expected = be.study_threshold(scores, "far=5%", repeats=1, enrol="first:2", **USE)
    assert value_of(inside / "b.html", "far") == expected.optimistic_far


def test_a_study_beside_its_scores_gives_one_answer(inside):
    assert main(["report", "any", "door.npz", "--out", "c.html", *QUICK]) == 0
    page = seen(inside / "c.html")
    assert page.count("Install") == 1
    assert "door - bioeval report" in page
    assert value_of(inside / "c.html", "far") <= 0.05


def test_the_study_of_other_people_gives_its_threshold_alone(inside):
    words = ["--threshold-study", "first", "--out", "d.html"]
    assert main(["report", "others.npz", *words, *QUICK]) == 0
    page = seen(inside / "d.html")
    rule = "the threshold of a study (the smallest FRR with FAR at most 5 %), chosen on other data."
    assert rule in opening(inside / "d.html")
    assert "Threshold study" not in page
    scores, study = be.load("others.npz"), be.load("door.npz")
    at = be.study_threshold(study, "far=5%", repeats=1, enrol="first:2", **USE).threshold.item()
    exact = be.verification(scores, enrol="first:2", thresholds=[at], **USE)
    assert value_of(inside / "d.html", "far_at_fixed") == exact.far.item()


def test_saved_results_have_the_name_of_the_system(inside):
    run = ["run", "door.npz", "--threshold-of", "first", "--out", "of-run", *QUICK[2:]]
    assert main(run) == 0
    assert main(["report", "of-run", "first", "--out", "e.html", *QUICK[2:]]) == 0
    assert "door - bioeval report" in seen(inside / "e.html")
    words = ["report", "of-run", "first", "--name", "gate", "--out", "e.html", *QUICK[2:]]
    assert main(words) == 0
    assert "gate - bioeval report" in seen(inside / "e.html")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--attempts", "session"], "--attempts needs --threshold-study"),
        (["--threshold-study", "first", "--enrol", "3"], "is not that of the study, first:2"),
        (["--threshold-study", "first", "--assure", "0.9"], "is a study that has one"),
        (["--threshold-study", "none.nc"], "none.nc: no such file"),
        (["--threshold-study", "first", "others.npz"], "of one system; there are 2"),
        (["--threshold-study", "first", "--explain", "1"], "--explain explains single"),
    ],
)
def test_wrong_use_is_one_line(inside, capsys, words, says):
    assert main(["report", "door.npz", *words, "--out", "f.html", *QUICK]) == 2
    assert says in capsys.readouterr().err


def opening(path) -> str:
    """The sentences at the top of a page."""
    text = re.sub(r"<(script|style).*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.S)
    said = text.partition('<div class="answer">')[2].partition("</div>")[0]
    return " ".join(re.sub(r"<[^>]+>", "", said).split())


def study_in(folder):
    return xr.load_dataset(folder / "results.nc", engine="h5netcdf")


def test_a_refused_guarantee_leaves_one_threshold(inside):
    words = [*(f"--{key}={value}" for key, value in USE.items()), "--enrol=2", "--repeats=1"]
    assured = ["--target=far=5%", "--assure=0.95", "--guaranteed", "--out=refused"]
    assert main(["threshold", "door.npz", *words, *assured]) == 0
    assert main(["report", "door.npz", "--threshold-study", "refused", *QUICK, *OUT]) == 0
    said = opening(inside / "door.html")
    study = study_in(inside / "refused")
    assert math.isnan(study.assured_threshold)
    chosen = f"{study.threshold.item():.10f}"[:5]
    assert "No threshold can be guaranteed" in said and "nstall" not in said
    assert "without the guarantee" in said and "It is without a promise." in said
    at = re.findall(r"threshold that this page opens with, (\S+),|At the threshold (\S+),", said)
    assert len(at) == 2 and all("".join(x).startswith(chosen) for x in at)


@pytest.mark.parametrize("folds", [3, 5])
def test_rates_on_new_people_are_of_the_rule_and_the_divisions_that_are_said(inside, folds):
    words = [*(f"--{key}={value}" for key, value in USE.items()), "--enrol=2", "--repeats=2"]
    words += ["--target=far=30%", f"--folds={folds}", "--force"]
    assert main(["threshold", "door.npz", *words, "--assure=0.9", "--out=assured"]) == 0
    study = study_in(inside / "assured")
    assert np.isfinite(study.assured_threshold) and study.new_assured_far_folds == folds
    assert main(["report", "door.npz", "--threshold-study", "assured", *QUICK, *OUT]) == 0
    said = opening(inside / "door.html")
    assert "On new people, " in said
    assert (
        "by thresholds that promise a FAR of at most 30 % with 90 % confidence, chosen on other "
        f"people in 1 division into {folds} folds." in said
    )
    assert main(["threshold", "door.npz", *words, "--out=chosen"]) == 0
    assert main(["report", "door.npz", "--threshold-study", "chosen", *QUICK, *OUT]) == 0
    rule = "by the smallest FRR with FAR at most 30 %, chosen on other people"
    assert f"{rule} in 2 divisions into {folds} folds." in opening(inside / "door.html")


def test_a_given_threshold_is_not_called_chosen(inside):
    words = [*(f"--{key}={value}" for key, value in USE.items()), "--enrol=2"]
    study = ["--threshold-study", "fixed=0.7", *words]
    assert main(["report", "door.npz", *study, *QUICK, *OUT]) == 0
    said = opening(inside / "door.html")
    assert "On new people" in said and "chosen" not in said
    assert "at the threshold 0.7, which was given, over " in said


@pytest.mark.parametrize("assured", [True, False])
def test_other_data_open_with_the_threshold_of_the_study_its_promise_and_the_rates(inside, assured):
    words = [*(f"--{key}={value}" for key, value in USE.items()), "--enrol=2", "--repeats=1"]
    promise = ["--assure=0.9"] if assured else []
    study = ["--target=far=30%", "--out=one", "--force"]
    assert main(["threshold", "door.npz", *words, *promise, *study]) == 0
    report = ["--threshold-study", "one", "--zoo"]
    assert main(["report", "others.npz", *report, *QUICK, *OUT]) == 0
    said = opening(inside / "door.html")
    which = "the assured one of a study" if assured else "the threshold of a study (the smallest"
    promised = (
        "The study promises, with 90 % confidence, that the FAR among people like its own is at "
        "most 30 %."
        if assured
        else "The study makes no promise."
    )
    order = ["The threshold that this page opens with", which, "chosen on other data.", promised]
    places = [said.index(x) for x in [*order, "At the threshold", "of impostor attempts"]]
    assert places == sorted(places) and places[0] == 0
    if "of all false rejects" in said:
        assert said.index("of all false rejects") > places[-1]


def test_a_study_of_these_very_data_is_not_of_others(inside):
    report = ["--threshold-study", "any", "--zoo"]
    assert main(["report", "door.npz", *report, *QUICK, *OUT]) == 0
    said = opening(inside / "door.html")
    assert "other data" not in said and "The study" not in said


@pytest.mark.parametrize("terms", ["lecture", "iso"])
def test_transactions_have_far_and_frr_in_both_vocabularies(inside, terms, capsys):
    capsys.readouterr()
    for words in (
        ["run", "door.npz", "--threshold-of", "any", "--terms", terms],
        ["zoo", "door.npz", "--threshold-of", "any", "--terms", terms],
        ["threshold", "door.npz", "--target=far=5%", "--attempts=session", "--terms", terms],
    ):
        assert main(words) == 0
        text = capsys.readouterr().out
        assert "false rejects" in text if words[0] == "zoo" else " FRR " in text
        assert "FNMR" not in text and "FMR" not in text and "false match" not in text
    report = ["report", "door.npz", "--threshold-study", "any", "--zoo", "--terms", terms]
    assert main([*report, *QUICK, *OUT]) == 0
    page = seen(inside / "door.html").partition("in plain words")[0]
    assert "FRR" in page
    assert "FNMR" not in page and not re.search(r"\bFMR\b", page)


def test_single_attempts_have_the_terms_of_the_standard(inside, capsys):
    capsys.readouterr()
    for words in (["--templates=multi", "--enrol=2"], ["--templates=multi"], []):
        assert main(["threshold", "door.npz", "--target=far=5%", *words, "--terms=iso"]) == 0
        text = capsys.readouterr().out
        assert " FNMR " in text and " FRR " not in text.replace("FNMR is FRR", "")


def test_the_protocol_in_words_is_that_of_the_claims(inside):
    assert main(["report", "door.npz", "--threshold-study", "any", *QUICK, *OUT]) == 0
    words = seen(inside / "door.html").partition("in plain words")[2]
    assert "Evaluated here: each try compares a probe with any 2 templates" in words
    assert "multi: a claim" in words and "single: one comparison" not in words
    assert "Open-set identification (1:N" not in words and "Closed-set" not in words
    assert "attempts session: a metadata column" in words
    assert main(["report", "door.npz", *QUICK, *OUT]) == 0
    words = seen(inside / "door.html").partition("in plain words")[2]
    assert "Evaluated here" not in words and "Open-set identification (1:N" in words


def test_a_threshold_has_the_same_digits_in_all_tables_of_a_page(inside):
    """Rounded to the stricter side: 0.123456789 of distances is 0.123456."""
    assert main(["report", "door.npz", *QUICK, *OUT]) == 0
    text = (inside / "door.html").read_text(encoding="utf-8")
    exact = be.verification(be.load("door.npz"), thresholds=[1.0]).eer_threshold.item()
    shown = set(re.findall(rf'data-value="{exact!r}">([^<]*)</span>', text))
    assert len(shown) == 1
    assert float(shown.pop()) <= exact
