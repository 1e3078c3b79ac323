"""Commands that end with exit code 1 by a condition, an error in the data or a refuted promise."""

import contextlib
import io
import re

import click
import numpy as np
import pytest
from commands import COMMANDS, command_of

import bioeval as be
from bioeval.cli import main
from bioeval.showing.conditions import Condition
from bioeval.showing.data import COLUMNS

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
    """Run a command over the files, and return its exit code and its standard error."""
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
        ("frr_at_far=0.1% > 0.9", "too few people or attempts for frr_at_far=0.1%"),
    ],
)
def test_a_run_fails_by_a_number_of_its_table(condition, reason, said):
    code, error = said("run", "few.npz", "--thresholds", "1.0,5.0", "--fail-if", condition)
    assert code == (reason is not None)
    assert (f"bioeval: failed: {condition}: {reason}" in error) == (reason is not None)


#: Forty people; the noise of the scores of "worse" is larger, and "same" is "first" again.
WITHIN = {"first": 0.5, "worse": 0.8, "same": 0.5}


@pytest.fixture
def systems(said, tmp_path):
    """Write the files of systems on the same templates, and return how commands are run."""
    for name, within in WITHIN.items():
        simulated = be.simulate(40, 3, within=within, random_state=1)
        sex = {"sex": np.arange(120) // 3 % 2}
        be.save(be.Scores(simulated.values, simulated.probe_labels, probe_meta=sex), f"{name}.npz")
    return said


@pytest.mark.parametrize(
    ("files", "more", "failed"),
    [
        ("first worse", "", ["worse, eer", "worse, auc"]),
        ("first worse", "--measure eer", ["worse, eer"]),
        ("worse first", "", []),
        ("first same", "", []),
        ("first same worse", "--measure eer", ["worse, eer"]),
        ("worse first same", "", []),
        # Of 40 people nothing is known at this FAR: chosen, it cannot be told.
        ("first same", "--measure frr_at_far=0.0001", ["same, frr_at_far=0.0001"]),
        ("first same", "--measure eer --measure frr_at_far=0.01%", ["same, frr_at_far=0.0001"]),
    ],
)
def test_a_later_system_is_worse_than_the_first_by_more_than_chance(files, more, failed, systems):
    paths = [f"{name}.npz" for name in files.split()]
    code, error = systems("compare", *paths, *more.split(), "--fail-if", "worse")
    reasons = [x for x in error.splitlines() if x.startswith("bioeval: failed: worse: ")]
    assert code == bool(failed) == bool(reasons)
    assert all(any(x.endswith(end) for x in reasons) for end in failed)
    if failed and "--measure" in more:
        assert len(reasons) == len(failed)
    if failed and "0.0" not in more:  # as the comparison itself says
        read = [be.load(x) for x in paths]
        ds = be.compare(dict(zip(files.split(), read, strict=True)), measures="eer")
        worse = ds["eer_separated"].sel(system="first", other_system="worse")
        assert worse.item() == 1


def test_a_measure_of_a_comparison_is_of_the_system_named(systems):
    words = ["compare", "worse.npz", "first.npz", "--measure", "eer", "--fail-if"]
    place = "@system=first"
    worse, first = (float(be.verification(be.load(f"{x}.npz")).eer) for x in ("worse", "first"))
    assert systems(*words, f"eer{place} > {first - 1e-4}")[0] == 1
    assert systems(*words, f"eer{place} > {first + 1e-4}")[0] == 0
    assert systems(*words, f"eer > {worse - 1e-4}")[0] == 1
    place = "@statistic=difference,system=worse"
    code, error = systems(*words, f"eer_high{place} > 0")
    assert code == 1 and "eer_high is 0." in error
    assert systems(*words, f"eer_low{place} < 0")[0] == 0


#: Commands with the words that they need beside a file of scores.
WITH_CONDITIONS = {
    "run": "",
    "compare": "same.npz",
    "check": "",
    "threshold": "--folds 3 --repeats 1",
    "zoo": "--permutations 9",
    "groups": "--by sex",
    "gallery-size": "--sizes 5,20",
    "fuse": "same.npz",
}


@pytest.mark.parametrize("command", WITH_CONDITIONS)
def test_the_example_of_the_help_is_a_condition_of_the_command(command, systems):
    """The form that a command's own help gives is about a number that the command has."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        main([command, "--help"])
    (example,) = re.findall(r'cannot be told: [^"]*"([^"]+)"', " ".join(printed.getvalue().split()))
    words = WITH_CONDITIONS[command].split()
    code, error = systems(command, "first.npz", *words, "--fail-if", example)
    assert code in (0, 1), error


def test_a_task_may_be_named(said):
    assert said("run", "apart.npz", "--fail-if", "closed_set/cms=1 < 1")[0] == 0
    code, error = said("run", "apart.npz", "--fail-if", "closed_set/cms=1 >= 1")
    assert code == 1 and "closed_set/cms=1 >= 1: cms=1 is 1 (closed_set)" in error


def test_a_check_fails_by_its_findings_and_by_errors(said):
    assert said("check", "few.npz", "--fail-if", "errors > 0")[0] == 0
    code, error = said("check", "few.npz", "--fail-if", "count@check=people > 0")
    assert code == 1 and "failed: count@check=people > 0: count is " in error
    assert said("check", "few.npz", "--fail-if", "count@check=names > 0")[0] == 0
    simulated = be.simulate(20, 3, random_state=1)  # whose kind is said to be the other one
    be.save(be.Scores(simulated.values, simulated.probe_labels, kind="similarity"), "wrong.npz")
    code, error = said("check", "wrong.npz")
    assert code == 1 and "failed: an error in the data makes results misleading" in error


def test_a_threshold_fails_by_a_rate_and_a_refuted_promise(said):
    study = ["few.npz", "--target", "1", "--folds", "3", "--repeats", "1"]
    code, error = said("threshold", *study, "--fail-if", "frr@part=all > 0.3")
    assert code == 1 and "frr is 0.333333" in error
    assert said("threshold", *study, "--fail-if", "frr@part=all > 0.34")[0] == 0
    be.save(be.simulate(40, 3, random_state=1), "many.npz")
    at_2 = ["threshold", "many.npz", "--threshold", "2.0"]
    for promise, rule in (("frr=1%", "frr=0.01"), ("far=90%", None)):
        exit_code, error = said(*at_2, "--promise", promise)
        assert exit_code == (rule is not None)
        assert (f"failed: the data refute the promise {rule}" in error) == (rule is not None)
    code, error = said(*at_2, "--promise", "frr=1%", "--promise", "far=90%")
    assert code == 1 and "refute the promise frr=0.01" in error and "far" not in error
    code, error = said(*at_2, "--promise", "far=0.01%", "--promise", "far=90%", "--fail-if", "open")
    assert code == 1 and "failed: open: far=0.0001\n" in error
    assert said(*at_2, "--promise", "far=0.01%")[0] == 0
    assert said(*at_2, "--promise", "far=90%", "--fail-if", "open")[0] == 0
    code, error = said("run", "few.npz", "--fail-if", "open")
    assert code == 2 and "expected MEASURE[=POINT]" in error
    code, error = said("threshold", *study, "--fail-if", "open")
    assert code == 2 and "no verdict" in error


@pytest.mark.parametrize(
    "words",
    [
        "threshold few.npz --on apart.npz --target", "zoo few.npz --permutations 9 --threshold",
        "threshold few.npz --promise far=50% --threshold", "groups few.npz --by sex --threshold",
    ],
)  # fmt: skip
@pytest.mark.parametrize(("at", "failed"), [("0.5", 0), ("612", 0), ("612", 2)])
def test_one_threshold_outside_all_scores_fails(words, at, failed, said):
    """Genuine attempts are at 1 and 5, impostor attempts at 1 and 9; a failed one is rejected."""
    values = distances()
    if failed:
        values[0, 1] = values[2, 5] = np.nan
    succeed = "successful " if failed and "--on" not in words else ""
    sex = {"sex": np.array(list("ffmmff"))}
    be.save(be.Scores(values, WHO, nan="reject", probe_meta=sex), "few.npz")
    code, error = said(*words.split(), at)
    does = "rejects all" if at == "0.5" else f"accepts all {succeed}".strip()
    assert code == 2
    assert f"the threshold {at} {does} attempts of both classes" in error
    assert f"{at} {does}" not in said(*words.split(), "6.5")[1]
    assert said("run", "few.npz", "--thresholds", ",".join(sorted([at, "1.0"])))[0] == 0


def test_a_target_that_failures_make_unreachable_says_so(said):
    values = distances()
    values[0, 1] = np.nan
    be.save(be.Scores(values, WHO, nan="reject"), "failed.npz")
    code, error = said("threshold", "failed.npz", "--target", "frr=10%", "--folds", "3")
    assert code == 2
    assert "because none accepts failed attempts (1 of 6 genuine" in error
    assert "no attempts" not in error


@pytest.mark.parametrize("target", ["far > 0.5", "far@part=test < 0.5", "far_high > 1"])
def test_a_rate_at_a_far_that_people_cannot_show_fails_either_way(target, said):
    few_people = ["threshold", "few.npz", "--far", "0.1%", "--folds", "3", "--repeats", "1"]
    code, error = said(*few_people, "--fail-if", target)
    assert code == 1 and "too few people or attempts" in error
    assert said(*few_people, "--fail-if", "subjects < 3")[0] == 0


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("eer", "expected MEASURE[=POINT]"),
        ("eer > a", "expected MEASURE[=POINT]"),
        ("err > 0.1", "Did you mean 'eer'?"),
        ("foo > 0.1", "--fail-if is 'foo'; expected one of 'eer', 'frr_at_far', "),
        ("frr_at_far > 0.1", "expected one of 'frr_at_far=0.1', 'frr_at_far=0.01'"),
        ("eer@system=b > 0.1", "--fail-if is '@system'; expected one of '@task'"),
        ("eer@task=c > 0.1", "expected one of 'task=verification/single'"),
        ("frr_at_far=0.02 > 0.1", "--fail-if is 'frr_at_far=0.02'; expected one of"),
        ("cms@rank=9999 > 0.1", "expected one of 'rank=1', 'rank=5'"),
        ("cms@rank=first > 0.1", "expected one of 'rank=1', 'rank=5'"),
        ("eer > 5", "eer is from 0 to 1; write 5% for 5 per cent"),
        ("eer_high < -1%", "eer_high is from 0 to 1"),
    ],
)
def test_what_is_no_condition_is_refused(condition, expected, said):
    code, error = said("run", "apart.npz", "--fail-if", condition)
    assert code == 2 and expected in error


def test_a_condition_is_about_the_point_and_the_system_as_written():
    """A small FAR elsewhere does not count, nor does a name that is equal but for its case."""
    scores = be.Scores(distances(), WHO)
    results = {x: be.verification(scores, thresholds=[1.0, 1.0000001, 6.0]) for x in ("a", "A")}
    for system in results.values():
        system["frr"][:] = [0.3, 0.2, 0.1]
    frame = be.to_frame(results)
    for text in ("frr=1.0000001@system=a > 0", "frr=1@system=A > 0"):
        assert len([*Condition.parse(text).reasons(frame)]) == 1
    assert len([*Condition.parse("frr=6@task=Verification/Single > 0").reasons(frame)]) == 2


@pytest.mark.slow
def test_every_number_of_a_frame_can_be_the_number_of_a_condition():
    """Each row is named by all of its labels, numbers too, and its own number decides."""
    scores = be.simulate(10, 4, random_state=3)
    results = [
        be.evaluate(scores),
        be.cross_evaluate(scores, be.partition.SubjectKFold(3)),
        be.study_threshold(scores, target="far=0.1", folds=3, repeats=2),
        be.zoo(scores, permutations=9),
    ]
    named = set()
    for frame in map(be.to_frame, results):
        dims = [x for x in frame if x not in COLUMNS or x == "statistic"]
        for row in frame.groupby("measure").tail(1).to_dict("records"):
            labels = {x: row[x] for x in dims if row[x] == row[x] and row[x] not in (None, "")}
            if np.isnan(row["value"]) or any(set(",=") & set(str(x)) for x in labels.values()):
                continue
            point = "" if np.isnan(row["point"]) else f"={row['point']!r}"
            places = ",".join(f"{dim}={label}" for dim, label in labels.items())
            text = f"{row['task']}/{row['measure']}{point}" + (f"@{places}" if places else "")
            failed = len([*Condition.parse(f"{text} >= {row['value']!r}").reasons(frame)])
            assert failed == 1 and row["supported"] is not False or failed
            if row["supported"] is not False:
                assert not [*Condition.parse(f"{text} < {row['value']!r}").reasons(frame)]
            named |= {*labels}
    assert {"rank", "fold", "repeat", "rule", "subject", "part"} <= named


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_that_takes_one_value_is_given_once(command, capsys):
    """The last of two values, such as of a condition's target, would silently hold."""
    for param in command_of(command).params:
        if isinstance(param, click.Option) and not param.multiple and param.expose_value:
            words = [max(param.opts, key=len)] + ["1"] * (not param.is_flag)
            code = main([command, *words, *words])
            assert code == 2 and f"{words[0]} is given twice" in capsys.readouterr().err
