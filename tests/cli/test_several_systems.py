"""Several systems in one run of ``bioeval run``."""

import json
from pathlib import Path

import pytest
from marked_up import markdown_tables

import bioeval as be
from bioeval.cli import main


@pytest.fixture(scope="module")
def systems() -> dict[str, be.Scores]:
    return {
        "old": be.simulate(12, 3, within=0.9, random_state=1).replace(name="old"),
        "new": be.simulate(12, 3, within=0.5, random_state=2).replace(name="new"),
    }


@pytest.fixture
def inside(systems, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, scores in systems.items():
        be.save(scores, f"{name}.npz")


def printed(capsys, *words: str) -> str:
    assert main(["run", *words]) == 0
    return capsys.readouterr().out


def test_each_system_has_the_numbers_that_it_has_alone(inside, capsys):
    both = json.loads(printed(capsys, "old.npz", "new.npz", "--json"))["systems"]
    assert list(both) == ["old", "new"]
    for name, document in both.items():
        alone = json.loads(printed(capsys, f"{name}.npz", "--json"))
        assert document == alone
    assert both["old"]["tasks"] != both["new"]["tasks"]


def test_what_is_said_of_the_test_of_a_difference(inside, capsys):
    words = ["compare", "old.npz", "new.npz", "--measure", "eer", "--measure", "auc"]
    words += ["--replicates", "100", "--seed", "7", "--out", "both"]
    assert main(words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "p-value" in shown and "adjusted p" not in shown
    assert "bootstrap of people for new people (EER)" in shown
    assert "people for new people (AUC)" in shown
    assert "100 replicates, seed 7" in shown
    summary = json.loads(Path("both/summary.json").read_text())
    assert (summary["replicates"], summary["seed"]) == (100, "7")
    assert main([*words[:-2], "--adjust", "holm"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "adjusted p" in shown and "limits] p-value" not in shown


def test_files_of_one_name_keep_apart(systems, inside, capsys):
    for folder in ("a", "b"):
        Path(folder).mkdir()
        be.save(systems["old" if folder == "a" else "new"], f"{folder}/x.npz")
    both = json.loads(printed(capsys, "a/x.npz", "b/x.npz", "--json"))["systems"]
    assert list(both) == ["a/x.npz", "b/x.npz"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("old.npz", "new.npz", "--name", "x"), "--name is for one system"),
        (("old.npz", "old.npz"), "'old.npz' is given twice"),
        (("old.npz", "new.npz", "labels.csv"), "labels.csv does not"),
    ],
)
def test_what_several_systems_cannot_have(words, problem, inside, capsys):
    assert main(["run", *words]) == 2
    assert problem in capsys.readouterr().err


def test_a_command_for_one_system_names_those_for_several(inside, capsys):
    assert main(["threshold", "old.npz", "new.npz"]) == 2
    assert "bioeval threshold takes one; give both to bioeval compare" in capsys.readouterr().err


def test_every_threshold_has_its_row(systems, inside, capsys):
    found = {x: be.evaluate(s, thresholds=[0.8, 1.2]) for x, s in systems.items()}
    how = ("--thresholds", "0.8,1.2", "--markdown", "--interval", "none")
    printed_table = printed(capsys, "old.npz", "new.npz", *how)
    tables = markdown_tables(printed_table)
    assert tables == markdown_tables(be.to_markdown(found))
    for task, names in (("verification/single", ("far", "frr")), ("open_set", ("far",))):
        of_task = tables[0 if task == "verification/single" else 2]
        heading, *rows = of_task
        assert [x for x in heading if x != "threshold"] == ["", "old", "new"]
        by_label = {row[0]: row for row in rows}
        for place, threshold in enumerate((0.8, 1.2)):
            for name in names:
                row = by_label[f"{name.upper()} at threshold {threshold:g}"]
                for system, dataset in found.items():
                    rate = 100 * float(dataset[task][name][place])
                    printed_rate = float(row[heading.index(system)].strip(" %"))
                    assert printed_rate == pytest.approx(rate, abs=0.006)


def test_no_run_prints_more_than_a_screen(systems, inside, capsys):
    faces = "real.npz"
    assert main(["example", "faces", "--system", "deep", "--out", faces]) == 0
    capsys.readouterr()
    for files in (["old.npz"], ["old.npz", "new.npz"], [faces]):
        assert len(printed(capsys, *files).splitlines()) <= 40
