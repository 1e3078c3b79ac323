"""The study of the page "Writing a study" is one folder, and does as the page shows."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from pages import ROOT, blocks

import bioeval as be

PAGE = ROOT / "docs" / "writing-a-study.md"
PLACE = re.compile(r"# bioeval/studies/(\w+)/(\w+\.py)\n")

#: A program in which the studies of a folder are beside those of the package.
PROGRAM = """
import sys
import bioeval.studies
bioeval.studies.__path__.append(sys.argv[1])
from bioeval.cli import main
sys.exit(main(sys.argv[2:]))
"""


def files() -> dict[str, str]:
    """Return the files of the study, by name, without the comment with their place."""
    found = {}
    for block in blocks(PAGE):
        if place := PLACE.match(block.code):
            found["/".join(place.groups())] = block.code.removeprefix(place[0])
    return found


def test_the_study_is_three_files():
    assert len(files()) == 3


@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_the_study_counts_as_plain_loops_do(kind):
    rng = np.random.default_rng(1)
    values, who = rng.integers(0, 6, (24, 24)).astype(float), np.repeat(np.arange(8), 3)
    who[-1] = 8  # has no mate
    values[rng.random((24, 24)) < 0.1] = np.nan
    names: dict = {}
    exec(files()["mate_margin/mate_margin.py"], names)
    found = names["mate_margin"](be.Scores(values, who, kind=kind, nan="exclude"))
    distance = -values if kind == "similarity" else values
    probes, mixed = np.zeros(9, int), np.zeros(9, int)
    for i in range(24):
        there = [j for j in range(24) if j != i and not np.isnan(distance[i, j])]
        mates = [distance[i, j] for j in there if who[j] == who[i]]
        others = [distance[i, j] for j in there if who[j] != who[i]]
        if mates and others:
            probes[who[i]] += 1
            mixed[who[i]] += min(others) < max(mates)
    np.testing.assert_array_equal(found.probes, probes)
    np.testing.assert_array_equal(found.mixed, mixed)
    assert found.rate == mixed.sum() / probes.sum()


@pytest.mark.slow
def test_the_folder_is_all_that_a_study_needs(tmp_path):
    for name, text in files().items():
        path = tmp_path / "studies" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def bioeval(*words: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", PROGRAM, str(tmp_path / "studies"), *words],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip

    (shown,) = [
        block.commands for block in blocks(PAGE, all_of_them=True) if block.language == "console"
    ]
    for command, output in shown:
        said = bioeval(*command.split()[1:])
        assert output == "...\n" or said.split() == output.split()
    assert "mate-margin" in bioeval("--help")
    bioeval("mate-margin", "scores.npz", "--out", "found")
    assert {path.name for path in (tmp_path / "found").iterdir()} == {
        "results.nc", "summary.json", "table.txt", "subjects.csv",
    }  # fmt: skip
