"""Commands that end with exit code 1 by a condition, an error in the data or a refuted promise."""

import numpy as np
import pytest

import bioeval as be
from bioeval.cli import main

#: Three people with two templates: of 6 genuine attempts 2 are at distance 5, and of 24 impostor
#: attempts 2 at distance 1; all others are at 1 and 9. At a threshold of 1, FRR is 1/3, FAR 1/12.
WHO = np.repeat(["a", "b", "c"], 2)


def distances() -> np.ndarray:
    values = np.where(WHO[:, None] == WHO, 1.0, 9.0)
    np.fill_diagonal(values, 0.0)
    values[0, 1] = values[1, 0] = 5.0
    values[0, 2] = values[2, 0] = 1.0
    return values


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """Run a command over the files, and return its exit code and what standard error has."""
    monkeypatch.chdir(tmp_path)
    be.save(be.Scores(distances(), WHO), "few.npz")
    be.save(be.Scores(np.where(WHO[:, None] == WHO, 1.0, 9.0), WHO), "apart.npz")

    def run(*words: str) -> tuple[int, str]:
        code = main([*words])
        return code, capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("frr=1 > 0.33", "frr=1 is 0.333333 (verification/single)"),
        ("frr=1 > 34%", None),
        ("far=1<=1/12", "far=1 is 0.0833333 (verification/single)"),
        ("far=1 < 1/12", None),
        ("frr_at_far=0.1% > 0.9", "too few people or attempts for frr_at_far=0.001"),
    ],
)
def test_a_run_fails_by_a_number_of_its_table(condition, reason, said):
    code, error = said("run", "few.npz", "--thresholds", "1.0,5.0", "--fail-if", condition)
    assert code == (reason is not None)
    assert (f"bioeval: failed: {condition}: {reason}" in error) == (reason is not None)


def test_each_system_that_fails_is_named(said):
    words = ["few.npz", "apart.npz", "--fail-if", "eer > 0.01"]
    for command in ("run", "compare"):
        code, error = said(command, *words)
        assert code == 1 and "(few" in error and "apart" not in error
    assert said("compare", *words[:2], "--fail-if", "eer > 0.9")[0] == 0


def test_a_task_may_be_named(said):
    assert said("run", "apart.npz", "--fail-if", "closed_set/cms=1 < 1")[0] == 0
    code, error = said("run", "apart.npz", "--fail-if", "closed_set/cms=1 >= 1")
    assert code == 1 and "closed_set/cms=1 >= 1: cms=1 is 1 (closed_set)" in error


def test_a_check_fails_by_its_findings_and_by_errors(said):
    assert said("check", "few.npz", "--fail-if", "errors > 0")[0] == 0
    code, error = said("check", "few.npz", "--fail-if", "people > 0")
    assert code == 1 and "failed: people > 0: people is " in error
    simulated = be.simulate(20, 3, random_state=1)  # whose kind is said to be the other one
    be.save(be.Scores(simulated.values, simulated.probe_labels, kind="similarity"), "wrong.npz")
    code, error = said("check", "wrong.npz")
    assert code == 1 and "failed: an error in the data makes results misleading" in error


def test_a_threshold_fails_by_a_rate_and_a_refuted_promise(said):
    study = ["few.npz", "--target", "1", "--folds", "3", "--repeats", "1"]
    code, error = said("threshold", *study, "--fail-if", "optimistic_frr > 0.3")
    assert code == 1 and "optimistic_frr is 0.333333" in error
    assert said("threshold", *study, "--fail-if", "optimistic_frr > 0.34")[0] == 0
    be.save(be.simulate(40, 3, random_state=1), "many.npz")
    at_2 = ["threshold", "many.npz", "--threshold", "2.0"]
    for promise, rule in (("frr=1%", "frr=0.01"), ("far=90%", None)):
        found, error = said(*at_2, "--promise", promise)
        assert found == (rule is not None)
        assert (f"failed: the data refute the promise {rule}" in error) == (rule is not None)
    code, error = said(*at_2, "--promise", "frr=1%", "--promise", "far=90%")
    assert code == 1 and "refute the promise frr=0.01" in error and "far" not in error
    code, error = said(*at_2, "--promise", "far=0.01%", "--promise", "far=90%", "--fail-if", "open")
    assert code == 1 and "failed: open: the data leave the promise far=0.0001 open" in error
    assert said(*at_2, "--promise", "far=0.01%")[0] == 0
    assert said(*at_2, "--promise", "far=90%", "--fail-if", "open")[0] == 0
    code, error = said("run", "few.npz", "--fail-if", "open")
    assert code == 2 and "which is of promises" in error


@pytest.mark.parametrize(
    "words",
    [
        ["threshold", "few.npz", "--on", "apart.npz", "--target"],
        ["threshold", "few.npz", "--promise", "far=50%", "--threshold"],
        ["zoo", "few.npz", "--permutations", "9", "--threshold"],
        ["groups", "few.npz", "--by", "sex", "--threshold"],
        ["workload", "few.npz", "--people", "9", "--impostors", "0.1", "--threshold"],
    ],
)
@pytest.mark.parametrize("at", ["0.5", "612"])
def test_one_threshold_outside_all_scores_fails(words, at, said):
    """Genuine attempts are at 1 and 5, impostor attempts at 1 and 9."""
    sex = {"sex": np.array(list("ffmmff"))}
    be.save(be.Scores(distances(), WHO, probe_meta=sex), "few.npz")
    code, error = said(*words, at)
    does = "rejects" if at == "0.5" else "accepts"
    assert code == 1
    assert f"the threshold {at} {does} all attempts of both classes" in error
    assert said("run", "few.npz", "--thresholds", ",".join(sorted([at, "1.0"])))[0] == 0


def test_a_target_that_failures_make_unreachable_says_so(said):
    values = distances()
    values[0, 1] = np.nan
    be.save(be.Scores(values, WHO, nan="reject"), "failed.npz")
    code, error = said("threshold", "failed.npz", "--target", "frr=10%", "--folds", "3")
    assert code == 1
    assert "none has FRR at most 10 %, because none accepts 1 of 6 genuine" in error
    assert "no attempts" not in error


@pytest.mark.parametrize("target", ["far_mean > 0.5", "far_mean < 0.5", "frr_high > 1"])
def test_a_rate_at_a_far_that_people_cannot_show_fails_either_way(target, said):
    few = ["threshold", "few.npz", "--far", "0.1%", "--folds", "3", "--repeats", "1"]
    code, error = said(*few, "--fail-if", target)
    assert code == 1 and "too few people or attempts" in error
    assert said(*few, "--fail-if", "subjects < 3")[0] == 0


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("eer", "expected NAME > X"),
        ("eer > a", "expected NAME > X"),
        ("err > 0.1", "--fail-if is 'err'; expected one of 'eer'"),
        ("frr_at_far=0.02 > 0.1", "--fail-if is 'frr_at_far=0.02'; expected one of"),
    ],
)
def test_what_is_no_condition_is_refused(condition, expected, said):
    code, error = said("run", "apart.npz", "--fail-if", condition)
    assert code == 2 and expected in error
