"""The scripts of docs/examples run as they are, and write what they say."""

import re
import shlex
import subprocess
import sys

import pytest
from pages import ROOT

import bioeval as be
from bioeval.cli import main

SCRIPTS = sorted((ROOT / "docs" / "examples").glob("*.py"))


def figures_of_course_faces() -> dict[str, str]:
    """Return the EER of each system and its interval, as the table of the result has them."""
    cells = {}
    for name in ("eigenfaces", "deep"):
        scores = be.datasets.faces(name, people="unseen")
        ds = be.verification(scores, interval="people")
        row = next(x for x in be.to_markdown(ds).splitlines() if x.startswith("| EER "))
        cells[f"{name}: EER"] = row.split("|")[2]
    return cells


def figures_of_own_kfold() -> dict[str, str]:
    """Return FAR and FRR over folds, and the EER over partitions, as the calls for them do."""
    scores = be.datasets.faces("eigenfaces")
    folds = be.cross_evaluate(scores, be.partition.SubjectKFold(5), threshold="far=0.05")
    splitter = be.partition.SubjectShuffleSplit(100, test_size=0.5, random_state=0)
    halves = be.repeat(scores, splitter)["verification/single"].eer.values
    means = [folds[rate].sel(part="test").mean().item() for rate in ("far", "frr")]
    spread = [100 * halves.mean(), 100 * halves.std(ddof=1)]
    return {
        "by the loop": "{:.4f} {:.4f}".format(*means),
        "EER of 100 halves": "{:.2f} {:.2f}".format(*spread),
    }


#: What scripts print in words of their own, from the tool's own figures.
FIGURES = {"course_faces": figures_of_course_faces, "own_kfold": figures_of_own_kfold}
#: Endings of the files that a script names where it says what it writes.
WRITTEN = "html|tex|png|csv|scores|trials|cohort"
NUMBER = re.compile(r"\d+\.\d+")


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_runs(script, tmp_path):
    process = subprocess.run(
        [sys.executable, "-W", "error", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr
    promised = re.findall(rf"\w[\w-]*\.(?:{WRITTEN})", script.read_text("utf-8").split('"""')[1])
    assert {path.name for path in tmp_path.iterdir()} == {*promised}
    for words, figures in FIGURES.get(script.stem, dict)().items():
        line = next(x for x in process.stdout.splitlines() if x.startswith(words))
        assert NUMBER.findall(line) == NUMBER.findall(figures), line


@pytest.mark.slow
def test_the_commands_of_an_example_give_its_figures(tmp_path, monkeypatch, capsys):
    """The lists that speaker_lists.py makes give the same numbers on the command line."""
    script = ROOT / "docs" / "examples" / "speaker_lists.py"
    process = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    monkeypatch.chdir(tmp_path)
    about = script.read_text("utf-8").split('"""')[1].replace("\\\\\n", " ")
    commands = [shlex.split(line) for line in about.splitlines() if line.startswith("    bioeval ")]
    names = [words[1] for words in commands]
    assert names == ["normalise", "normalise", "threshold", "calibration", "run"]
    printed = []
    for words in commands:
        assert main(words[1:]) == 0, capsys.readouterr().err
        printed.append(capsys.readouterr().out)
    for label, output in (("DCF (actual)", printed[2]), ("0.01 ", printed[3])):
        rows = [
            next(x for x in text.splitlines() if x.strip().startswith(label)).split()
            for text in (process.stdout, output)
        ]
        assert rows[0] == rows[1]
    assert "minDCF at prior 0.05" in printed[4]


def test_each_example_has_a_link():
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert SCRIPTS and all(f"(examples/{script.name})" in page for script in SCRIPTS)
