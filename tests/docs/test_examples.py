"""The scripts of docs/examples run as they are, and write the files that they name."""

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
    """Return the EER of each system with its interval, as in the table of the result."""
    cells = {}
    for name in ("eigenfaces", "deep"):
        scores = be.datasets.faces(name, people="unseen")
        ds = be.verification(scores, interval="people")
        row = next(x for x in be.to_markdown(ds).splitlines() if x.startswith("| EER "))
        cells[f"{name}: EER"] = row.split("|")[2]
    return cells


def figures_of_own_kfold() -> dict[str, str]:
    """Return FAR and FRR over folds, and the EER over partitions, by calls of the package."""
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


#: Figures of the package that scripts print, by the words before them.
FIGURES = {"course_faces": figures_of_course_faces, "own_kfold": figures_of_own_kfold}
#: Endings of the files that a script writes, and names in its docstring.
WRITTEN = "html|tex|png|csv|scores|trials"
NUMBER = re.compile(r"\d+\.\d+")


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_runs(script, tmp_path):
    process = subprocess.run(
        [sys.executable, "-W", "error", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr
    docstring = script.read_text("utf-8").split('"""')[1]
    named_files = re.findall(rf"\w[\w-]*\.(?:{WRITTEN})", docstring)
    assert {path.name for path in tmp_path.iterdir()} == {*named_files}
    if script.stem in FIGURES:
        for words, figures in FIGURES[script.stem]().items():
            line = next(x for x in process.stdout.splitlines() if x.startswith(words))
            assert NUMBER.findall(line) == NUMBER.findall(figures), line


def row_starting_with(label: str, text: str) -> list[str]:
    return next(x for x in text.splitlines() if x.strip().startswith(label)).split()


@pytest.mark.slow
def test_the_commands_of_an_example_give_its_figures(tmp_path, monkeypatch, capsys):
    """The lists that speaker_lists.py makes give the same numbers on the command line."""
    script = ROOT / "docs" / "examples" / "speaker_lists.py"
    process = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    monkeypatch.chdir(tmp_path)
    docstring = script.read_text("utf-8").split('"""')[1].replace("\\\\\n", " ")
    lines = [line for line in docstring.splitlines() if line.startswith("    bioeval ")]
    printed: dict[str, list[str]] = {}  # by command
    for _, command, *options in map(shlex.split, lines):
        assert main([command, *options]) == 0, capsys.readouterr().err
        printed.setdefault(command, []).append(capsys.readouterr().out)
    assert [*printed] == ["threshold", "run"]
    (output,) = printed["threshold"]
    label = "DCF (actual)"
    assert row_starting_with(label, output) == row_starting_with(label, process.stdout)
    assert "minDCF at prior 0.05" in printed["run"][0]


def test_each_example_has_a_link():
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert SCRIPTS and all(f"(examples/{script.name})" in page for script in SCRIPTS)
