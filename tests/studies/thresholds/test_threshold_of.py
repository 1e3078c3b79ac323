"""The threshold of a study in other studies: its value, its claims, and what cannot follow it."""

import json
from pathlib import Path

import numpy as np
import pytest
from result_messages import codes

import bioeval as be
from bioeval.cli import main


def people(kind="distance", seed=3):
    scores = be.simulate(60, 3, random_state=seed)
    values = np.asarray(scores.values) * (1 if kind == "distance" else -1)
    return be.Scores(values, scores.probe_labels, kind=kind)


@pytest.fixture(scope="module")
def scores():
    return people()


@pytest.fixture(scope="module")
def studies(scores):
    """A study without a promise, and one of multi-template claims with one."""
    multi = {"templates": "multi", "fusion": "mean", "repeats": 1}
    return {
        "single": be.study_threshold(scores, "far=0.05", repeats=1),
        "multi": be.study_threshold(scores, "far=0.1", assure=0.9, **multi),
    }


def naive_rates(scores, threshold):
    """FRR and FAR of claims by the mean score of the claimed subject's templates."""
    label, values = np.asarray(scores.probe_labels), np.asarray(scores.values)
    errors, attempts = {True: 0, False: 0}, {True: 0, False: 0}
    for i in range(len(label)):
        for subject in np.unique(label):
            of_subject = [values[i, j] for j in np.flatnonzero(label == subject) if j != i]
            accepted = sum(of_subject) / len(of_subject) <= threshold
            genuine = label[i] == subject
            attempts[genuine] += 1
            errors[genuine] += accepted != genuine
    return errors[True] / attempts[True], errors[False] / attempts[False]


def same(result, other):
    """Whether two results have the same numbers."""
    assert set(result.variables) == set(other.variables)
    for name in result.variables:
        np.testing.assert_array_equal(result[name].values, other[name].values)


CALLS = {
    "zoo": lambda scores, **how: be.zoo(scores, permutations=50, **how),
    "groups": lambda scores, **how: be.by_group(
        scores, np.where(np.arange(180) % 6 < 3, "a", "b"), **how
    ),
}
OF_STUDIES = [pytest.param(x) for x in CALLS]


@pytest.mark.parametrize("call", OF_STUDIES)
@pytest.mark.parametrize("which", ["single", "multi"])
def test_a_study_is_its_threshold_with_its_claims(scores, studies, call, which):
    study = studies[which]
    at = study["assured_threshold" if which == "multi" else "threshold"].item()
    assert np.isfinite(at)
    how = {"templates": "multi", "fusion": "mean"} if which == "multi" else {}
    result = CALLS[call](scores, threshold=study)
    same(result, CALLS[call](scores, threshold=at, **how))
    assert "study-of-these-data" in codes(result)
    assert result.attrs["templates"] == which
    others = CALLS[call](people(seed=4), threshold=study)
    assert "study-of-these-data" not in codes(others)


def test_the_rates_are_those_of_the_definition(scores, studies):
    study = studies["multi"]
    at = study["assured_threshold"].item()
    frr, far = naive_rates(scores, at)
    rates = be.verification(scores, templates="multi", fusion="mean", thresholds=[at])
    day = {"people_per_day": 100, "impostor_share": 0.5}
    work = be.workload(rates, threshold=study, **day)
    assert work.rate.values.tolist() == [far, frr]
    zoo = be.zoo(scores, threshold=study, permutations=50)
    assert float(zoo.fr.sum() / zoo.genuine_attempts.sum()) == pytest.approx(frr)
    assert study["assured_frr"].item() == pytest.approx(frr)


def test_without_a_promise_it_is_the_chosen_threshold(scores, studies):
    study = studies["multi"].assign(assured_threshold=((), np.nan))
    zoo = be.zoo(scores, threshold=study, permutations=50)
    assert float(zoo.threshold) == float(study.threshold)
    assert zoo.attrs["threshold_of_study"] == "chosen"
    nothing = study.assign(threshold=((), np.nan))
    with pytest.raises(be.DataError, match="could not choose a threshold"):
        be.zoo(scores, threshold=nothing)


def test_similarities_and_float32(scores):
    turned = people("similarity")
    single = be.Scores(np.asarray(turned.values, np.float32), turned.probe_labels, kind=turned.kind)
    study = be.study_threshold(single, "far=0.05", repeats=1)
    zoo = be.zoo(single, threshold=study, permutations=50)
    assert float(zoo.threshold) == float(study.threshold)
    assert zoo.fa_as_probe.sum() == round(float(study.optimistic_far) * 180 * 177)
    with pytest.raises(be.DataError, match="kind similarity, and these are of the kind distance"):
        be.zoo(scores, threshold=study)


@pytest.mark.parametrize("call", OF_STUDIES)
def test_what_cannot_follow_a_study(scores, studies, call):
    with pytest.raises(be.DataError, match="is not that of the study"):
        CALLS[call](scores, threshold=studies["multi"], fusion="max")
    searches = studies["single"].assign(unenrolled_people=((), 3))
    with pytest.raises(be.ProtocolError, match="of a study of searches"):
        CALLS[call](scores, threshold=searches)
    visits = studies["single"].assign_attrs(attempts="visit")
    with pytest.raises(be.BioevalError, match="attempts of several tries|no such column"):
        CALLS[call](scores, threshold=visits)
    with pytest.raises(be.DataError, match="without a threshold of its own"):
        CALLS[call](scores, threshold=be.verification(scores, auc=False))


def test_what_workload_refuses(studies, scores):
    day = {"people_per_day": 100, "impostor_share": 0.5}
    rates = be.verification(scores, thresholds=[4.0])
    with pytest.raises(be.DataError, match="whose templates is multi"):
        be.workload(rates, threshold=studies["multi"], **day)


def test_groups_of_searches_follow_a_study_of_searches():
    scores = be.simulate(60, 3, random_state=3)
    who = np.asarray(scores.probe_labels)
    gallery = np.flatnonzero((np.arange(180) % 3 == 0) & (who < 40))
    searched = scores.select(probes=np.flatnonzero(np.arange(180) % 3 > 0), gallery=gallery)
    study = be.study_threshold(searched, "far=0.2", task="open_set", rank_unit="subject", repeats=1)
    sides = searched.probe_labels, searched.gallery_labels
    group = tuple(np.where(np.asarray(x) % 2, "a", "b") for x in sides)
    ds = be.by_group(searched, group, task="open_set", threshold=study)
    at = float(study.threshold)
    same(ds, be.by_group(searched, group, task="open_set", threshold=at, rank_unit="subject"))
    with pytest.raises(be.ProtocolError, match="of a study of searches"):
        be.by_group(searched, group, threshold=study)


# -------------------------------------------------------------------------- the command line


@pytest.fixture
def files(tmp_path, monkeypatch, scores):
    monkeypatch.chdir(tmp_path)
    sex = np.where(np.arange(180) % 6 < 3, "a", "b")
    values = np.asarray(scores.values)
    np.savez("scores.npz", scores=values, labels=scores.probe_labels, sex=sex)
    study = ["threshold", "scores.npz", "--target", "far=0.1", "--assure", "0.9", "--repeats", "1"]
    assert main([*study, "--templates", "multi", "--out", "study"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["zoo", "--permutations", "50"]),
        pytest.param(["groups", "--by", "sex"]),
    ],
)
def test_the_command_is_the_threshold_with_its_claims(files, capsys, words):
    name, *options = words
    capsys.readouterr()
    assert main([name, "scores.npz", *options, "--threshold-of", "study", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    at = json.loads(Path("study/summary.json").read_text())["assured_threshold"]
    given = ["--threshold", repr(at), "--templates", "multi", "--json"]
    assert main([name, "scores.npz", *options, *given]) == 0
    other = json.loads(capsys.readouterr().out)
    assert result["threshold"] == at
    assert result["rule_of_study"] == "far=0.1"
    for key, value in other.items():
        if key != "messages":
            assert result[key] == value


def test_workload_and_run_have_the_rates_of_the_study(files, capsys):
    study = json.loads(Path("study/summary.json").read_text())
    capsys.readouterr()
    day = ["--people", "100", "--impostors", "0.5"]
    assert main(["workload", "scores.npz", *day, "--threshold-of", "study/results.nc"]) == 0
    assert "the assured threshold of a study (FAR at most 10 %" in capsys.readouterr().out
    assert main(["run", "scores.npz", "--threshold-of", "study", "--json"]) == 0
    tasks = json.loads(capsys.readouterr().out)["tasks"]
    assert "verification/single" not in tasks
    task = tasks["verification/multi"]
    assert task["fixed_threshold"] == study["assured_threshold"]
    assert task["frr_at_fixed"] == study["assured_frr"]
    assert task["far_at_fixed"] == study["assured_far_attempts"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["zoo", "--threshold", "4"], "--threshold and --threshold-of both name the threshold"),
        (["zoo", "--templates", "single"], "--templates is single, and the study of"),
        (["run", "--target", "fixed=4"], "--target and --threshold-of both name the threshold"),
        (["run", "--templates", "single"], "--templates is single, and the study of"),
    ],
)
def test_what_the_command_refuses(files, capsys, words, says):
    name, *options = words
    assert main([name, "scores.npz", *options, "--threshold-of", "study"]) == 2
    assert says in capsys.readouterr().err


def test_a_file_that_is_no_study(files, capsys):
    assert main(["zoo", "scores.npz", "--threshold-of", "scores.npz"]) == 2
    assert "bioeval threshold --out" in capsys.readouterr().err
    assert main(["zoo", "scores.npz", "--threshold-of", "nothing"]) == 2
    assert "nothing" in capsys.readouterr().err


@pytest.mark.slow
def test_folders_go_on_one_page_with_one_threshold(files, capsys):
    study = ["--threshold-of", "study"]
    assert main(["zoo", "scores.npz", "--permutations", "50", *study, "--out", "zoo"]) == 0
    assert main(["run", "scores.npz", *study, "--out", "run"]) == 0
    assert main(["report", "run", "study", "zoo", "--out", "page.html"]) == 0
    text = Path("page.html").read_text()
    assert "These numbers are at another threshold" not in text
    assert "nearest threshold of these results" not in text
