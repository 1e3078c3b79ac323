"""No command writes over a file that it reads, by whatever name it is called."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import bioeval as be
from bioeval.cli import main

#: Command lines that would write over one of their files. The data are `in.npz` and `in.npy` with
#: its labels; `link.npz` and `hard.npz` are the same file as `in.npz`.
LINES = [
    "report in.npz --out in.npz",
    "report in.npz --out=in.npz",
    "report in.npz --out ./in.npz",
    "report in.npz --out link.npz",
    "report hard.npz --out in.npz",
    "report in.npy --out in.labels.csv",
    "report in.npy --out page.html --labels page.html",
    "report in.npz --protocol card.toml --out card.toml",
    "run in.npz --report in.npz",
    "run in.npz --protocol=card.toml --report card.toml",
    "run in.npy --labels labels.csv --report labels.csv",
    "convert in.npz in.npz",
    "convert in.npz link.npz",
    "convert in.npy in.npz --labels in.npz",
    "fuse in.npz second.npz --out second.npz",
    "fuse in.npz second.npz --train in.npz --train third.npz --out third.npz",
    "run results/results.nc --out results",
    "run in.npz --labels results/table.txt --out results",
]


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scores = be.simulate(4, 2, random_state=1)
    be.save(scores, "in.npz")
    np.save("in.npy", scores.values)
    Path("in.labels.csv").write_text("\n".join(["label", *map(str, scores.probe_labels)]))
    for name in ("second.npz", "third.npz", "page.html", "labels.csv"):
        shutil.copy("in.npz", name)
    shutil.copy("in.labels.csv", "card.toml")
    os.symlink("in.npz", "link.npz")
    os.link("in.npz", "hard.npz")
    (tmp_path / "results").mkdir()
    for name in ("results.nc", "table.txt"):
        shutil.copy("in.npz", f"results/{name}")
    return tmp_path


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("line", LINES)
def test_no_command_writes_over_what_it_reads(in_folder, capsys, line):
    before = contents(in_folder)
    assert main([*line.split(), "--force"]) == 2
    (error_line,) = capsys.readouterr().err.splitlines()
    assert "name another file to write" in error_line
    assert contents(in_folder) == before


@pytest.mark.slow
def test_files_with_names_that_only_run_knows_are_kept(in_folder, capsys):
    """The results are in a folder of their own."""
    os.remove("results/results.nc")
    shutil.copy("in.labels.csv", "results/verification_single_threshold.csv")
    before = contents(in_folder)
    line = "run in.npy --labels results/verification_single_threshold.csv --out results --force"
    assert main(line.split()) == 2
    assert "The results are in results/results-2" in capsys.readouterr().err
    after = contents(in_folder)
    assert {path: after[path] for path in before} == before
    assert (in_folder / "results" / "results-2" / "summary.json").exists()
