"""One page for a customer: results of one data set together, with one answer and one threshold."""

from __future__ import annotations

import re

import numpy as np
import pytest
from report_text import Answer, Elements, written

import bioeval as be
from bioeval.base.errors import DataError
from bioeval.cli.program import main

QUICK = {
    "interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100),
    "folds": 3,
    "repeats": 1,
}


@pytest.fixture(scope="module")
def scores():
    return be.simulate(30, 4, random_state=2)


@pytest.fixture(scope="module")
def study(scores):
    return be.study_threshold(scores, "far=0.02", **QUICK)


def opened(page: Elements) -> float:
    """The threshold with which a page opens."""
    return float(next(x for _, x in page.tags if x.get("id") == "threshold")["data-value"])


def work(results, **point):
    rates = results["verification/single"].to_dataset()
    return be.workload(rates, people_per_day=2000, impostor_share=0.01, **point)


@pytest.mark.slow
def test_all_results_together_have_one_answer_and_one_threshold(scores, study, tmp_path):
    threshold = study["threshold"].item()
    tree = be.evaluate(scores, extra_thresholds=[threshold])
    zoo = be.zoo(scores, threshold=threshold, permutations=20)
    day = work(tree, threshold=threshold)
    text, page = written([tree, study, be.check_data(scores), day, zoo], tmp_path)
    assert opened(page) == threshold
    first, *others = Answer(text).sentences
    assert first.text.startswith(("Install", "Provisional"))
    assert not any(x.text.startswith(("Install", "Impostors")) for x in others)
    assert "another threshold" not in text
    sections = {attrs.get("id") for tag, attrs in page.tags if tag == "section"}
    assert {"task-threshold_study", "task-workload", "task-zoo", "row-1"} <= sections
    assert text.count(">Made of<") <= 1 and text.count("<dt>Scores</dt>") <= 3
    assert {x["system"] for x in page.numbers if "system" in x} == {"simulated"}


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["eer", "hter", "frr=0.05", 3.2])
def test_the_page_opens_at_the_threshold_of_any_study(rule, scores, tmp_path):
    study = be.study_threshold(scores, rule, **QUICK)
    threshold = study["threshold"].item()
    results = [be.evaluate(scores, extra_thresholds=[threshold]), study]
    _, page = written(results, tmp_path)
    assert opened(page) == threshold


@pytest.mark.slow
def test_a_study_at_another_threshold_names_it(scores, study, tmp_path):
    tree = be.evaluate(scores)
    zoo = be.zoo(scores, threshold=2.5, permutations=20)
    day = work(tree, threshold="far=0.1")
    text, _ = written([tree, study, zoo, day], tmp_path)
    assert text.count("another threshold than the answer of this page") == 2
    seen = re.sub("<[^>]+>", "", text)
    assert seen.count("another threshold than the answer of this page: 2.5, not") == 1
    assert Answer(text).sentences[0].text.startswith(("Install", "Provisional"))


@pytest.mark.slow
def test_each_of_several_systems_is_at_the_threshold_of_its_study(scores, tmp_path):
    results = {}
    for name, seed in (("old", 2), ("new", 3)):
        of_system = be.simulate(30, 4, random_state=seed)
        study = be.study_threshold(of_system, "far=0.02", **QUICK)
        tree = be.evaluate(of_system, extra_thresholds=[study["threshold"].item()])
        results[name] = [tree, study]
    text, _ = written(results, tmp_path)
    used = set()
    for row in Answer(text).rows:
        used |= {float(x["value"]) for x in row.numbers if x.get("variable") == "threshold"}
    assert used == {results[name][1]["threshold"].item() for name in results}
    assert "Each system is at the threshold of its own study" in text


def test_checks_of_several_systems_are_of_the_system_under_whose_name_they_are(scores, tmp_path):
    other = be.simulate(30, 4, random_state=3)
    results = {x: [be.verification(y), be.check_data(y)] for x, y in (("a", scores), ("b", other))}
    text, _ = written(results, tmp_path)
    assert "<h2>Check of a</h2>" in text and "<h2>Check of b</h2>" in text
    results["b"][1] = results["a"][1]
    with pytest.raises(DataError, match="results of 'b' do not belong on one page"):
        be.report(results, tmp_path / "a.html")


@pytest.mark.slow
@pytest.mark.parametrize("study_of", [be.zoo, be.check_data, be.study_threshold])
def test_other_scores_under_the_same_labels_are_refused(study_of, scores, tmp_path):
    other = scores.with_values(scores.values + 0.01, scores.kind)
    with pytest.raises(DataError, match="other scores or other labels"):
        be.report([be.verification(scores), study_of(other)], tmp_path / "a.html")
    be.report([be.verification(scores), study_of(scores)], tmp_path / "a.html")


def test_the_reason_of_a_refusal_is_what_differs(scores, tmp_path):
    fewer = scores.select(probes=range(100))
    with pytest.raises(DataError, match="another number of probes"):
        be.report([be.verification(scores), be.zoo(fewer)], tmp_path / "a.html")
    similar = be.Scores(-scores.values, scores.probe_labels, kind="similarity", name=scores.name)
    with pytest.raises(DataError, match="another kind of scores"):
        be.report([be.verification(scores), be.zoo(similar)], tmp_path / "a.html")


def test_a_comparison_of_other_scores_is_refused(scores, tmp_path):
    def named(name, values):
        return be.Scores(values, scores.probe_labels, kind=scores.kind, name=name)

    a = named("a", scores.values)
    b = named("b", np.sqrt(scores.values))
    other = named("b", scores.values**2)
    pages = {"a": be.verification(a), "b": be.verification(b)}
    be.report(
        [
            pages,
            be.compare(a, b, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)),
        ],
        tmp_path / "a.html",
    )
    with pytest.raises(DataError, match="do not belong on one page"):
        be.report(
            [
                pages,
                be.compare(
                    a, other, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
                ),
            ],
            tmp_path / "a.html",
        )


FAST = ("--interval", "none", "--folds", "3")


@pytest.fixture
def inside(tmp_path, monkeypatch):
    """Write a file of scores into a folder, and work there."""
    monkeypatch.chdir(tmp_path)
    be.save(be.simulate(30, 3, random_state=2), "a.npz")
    return tmp_path


def test_the_command_writes_the_whole_page(inside):
    words = ["--check", "--zoo", "--workload", "people=2000,impostors=0.01", *FAST]
    assert main(["report", "a.npz", "--out", "p.html", *words]) == 0
    text = (inside / "p.html").read_text(encoding="utf-8")
    page = Elements(text)
    assert "another threshold" not in text
    sections = {attrs.get("id") for tag, attrs in page.tags if tag == "section"}
    assert {"task-threshold_study", "task-workload", "task-zoo", "row-1"} <= sections


@pytest.mark.slow
def test_files_of_results_of_one_system_are_one_page(inside):
    assert main(["run", "a.npz", "--out", "run"]) == 0
    assert main(["threshold", "a.npz", "--target", "far=0.02", "--out", "study"]) == 0
    assert main(["zoo", "a.npz", "--out", "zoo"]) == 0
    files = [f"{folder}/results.nc" for folder in ("run", "study", "zoo")]
    assert main(["report", *files, "--out", "p.html"]) == 0
    text = (inside / "p.html").read_text(encoding="utf-8")
    assert Answer(text).sentences[0].text.startswith(("Install", "Provisional"))
    assert "These numbers are at another threshold" in text  # the zoo is at the EER


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--workload", "people=2000"], "expected people=2000,impostors=0.01"),
    ],
)
def test_options_that_do_not_go_together_are_one_line(inside, capsys, words, says):
    assert main(["report", "a.npz", "--out", "p.html", *words]) == 2
    assert says in capsys.readouterr().err


CARD = """
schema = 1
name = "cameras"
title = "Across cameras"
summary = "Verification between cameras"
layout = "all-against-all"
exclude = ["camera"]
[source]
text = "X"
[verification]
"""


@pytest.fixture
def cameras(tmp_path, monkeypatch):
    """Files of two systems, each template of one of two cameras, and a card across cameras."""
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("a", "b")):
        drawn = be.simulate(20, 4, random_state=seed)
        meta = {"camera": np.tile([0, 0, 1, 1], 20)}
        be.save(be.Scores(drawn.values, drawn.probe_labels, probe_meta=meta), f"{name}.npz")
    (tmp_path / "card.toml").write_text(CARD)
    return tmp_path


@pytest.mark.slow
def test_two_systems_under_a_card_are_compared_on_one_page(cameras):
    quick = ["--folds", "0", "--interval", "none", "--replicates", "100", "--force"]
    for card in ("card.toml", "market1501"):
        data = [f"{name}.npz" for name in ("a", "b")]
        if card == "market1501":  # odd templates as probes, even ones as gallery
            for file in data:
                scores = be.load(file)
                odd = np.arange(80) % 2 == 1
                be.save(scores.select(probes=odd, gallery=~odd), file)
        out = f"{card.removesuffix('.toml')}.html"
        assert (
            main(["report", *data, "--protocol", card, "--worst", "2", *quick, "--out", out]) == 0
        )
        assert "Comparison of systems" in (cameras / out).read_text(encoding="utf-8")


def test_results_of_other_comparisons_are_refused(cameras, tmp_path):
    scores = be.load("a.npz")
    of_all = be.verification(scores)
    across = be.study_threshold(be.load("a.npz", exclude=["camera"]), "far=0.05", **QUICK)
    with pytest.raises(DataError, match="another choice of excluded comparisons"):
        be.report([of_all, across], tmp_path / "x.html")
