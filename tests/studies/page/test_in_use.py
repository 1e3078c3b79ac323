"""The page of a customer for a system in use: its study, its claims, and one answer."""

from __future__ import annotations

import re

import numpy as np
import pytest

import bioeval as be
from bioeval.cli import main

pytestmark = pytest.mark.uses("thresholds", "zoo", "check", "planning", "time")

QUICK = ["--replicates", "100", "--force"]
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
    assert "is the given one" in page and "Threshold study" not in page
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


def test_rates_over_time_join_the_page_of_a_study(inside):
    rng = np.random.default_rng(0)
    scores = be.load("door.npz")
    shape = scores.shape
    scores = be.Scores(
        scores.values,
        scores.probe_labels,
        scores.gallery_labels,
        probe_meta={"seen_at": rng.integers(2020, 2024, shape[0])},
        gallery_meta={"enrolled_at": rng.integers(2018, 2021, shape[1])},
    )
    study = be.study_threshold(scores, "far=5%", repeats=1)
    over_time = be.over_time(scores, [2020, 2022, 2024], threshold=study)
    assert over_time.attrs["exclude"] == "not-enrolled"
    be.report([be.evaluate(scores), study, over_time], "g.html")
    assert "Rates over time" in seen(inside / "g.html")
    other = over_time.assign_attrs(exclude="session, not-enrolled")
    with pytest.raises(be.DataError, match="another choice of excluded comparisons"):
        be.report([be.evaluate(scores), study, other], "h.html")
