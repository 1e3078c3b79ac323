"""Output at 80 columns: lines wrap between words, and a table never joins or cuts numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

import bioeval as be
from bioeval.cli.program import main


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    labels = np.repeat(np.arange(20), 3)
    rng = np.random.default_rng(1)
    scores = be.Scores(rng.random((60, 60)) + 0.6 * (labels[:, None] != labels), labels)
    be.save(scores, "s.npz")
    be.save(scores.with_values(scores.values**2, scores.kind), "t.npz")


def output(capsys, *words: str) -> list[str]:
    assert main(list(words)) == 0
    return capsys.readouterr().out.splitlines()


WORKLOAD = ("workload", "s.npz", "--impostors", "0.01", "--far", "0.01", "--replicates", "100")


@pytest.mark.parametrize(
    "words",
    [
        (*WORKLOAD, "--people", "100"),
        (*WORKLOAD, "--people", "1000000000000"),
        ("sample-size", "s.npz"),
        ("sample-size", "s.npz", "--far", "1e-12"),
        ("convert", "--list"),
        ("threshold", "s.npz", "--target", "far=0.01"),
        ("compare", "s.npz", "t.npz", "--replicates", "100"),
    ],
    ids=lambda words: " ".join(words),
)
@pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")
@pytest.mark.cases(4)
def test_no_line_is_wider_than_80_columns(words, capsys):
    lines = output(capsys, *words)
    assert [line for line in lines if len(line) > 80] == []
    assert [line for line in lines if "…" in line] == []


@pytest.mark.slow
def test_numbers_of_a_wide_table_stay_apart(capsys):
    text = "\n".join(output(capsys, *WORKLOAD, "--people", "1000000000000"))
    found = re.findall(r"\d[\d,]*,\d{3}\b", text)
    assert found
    assert all(re.fullmatch(r"\d{1,3}(,\d{3})+", number) for number in found)
