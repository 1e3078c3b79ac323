"""What is wrong with a log is said first: the column, the role or the line, and then what to do."""

import re

import numpy as np
import pytest

import bioeval as be
from bioeval.cli import main

ROLES = {
    "subject_a": "claimed",
    "subject_b": "person",
    "template": "template",
    "probe": "probe",
    "distance": "score",
}


@pytest.fixture
def log(tmp_path):
    """A log of four people, eight templates and 16 comparisons."""
    rng = np.random.default_rng(1)
    lines = ["claimed,person,template,probe,score"]
    for probe in range(4):
        for template in range(4):
            score = f"{rng.random() + (probe != template):.6f}"
            lines.append(f"s{template},s{probe},t{template},p{probe},{score}")
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def said(path, **roles) -> str:
    """Return the error of a log whose columns have these roles; empty if the log is read."""
    try:
        be.load(path, columns={k: v for k, v in (ROLES | roles).items() if v})
    except be.DataError as error:
        return str(error).partition(f"{path}: ")[2]
    return ""


def test_columns_that_are_exchanged_are_named(log):
    expected = "line 2: person is 's0'; expected a number, or another column as `columns="
    assert said(log, distance="person", subject_b="score").startswith(expected)


@pytest.mark.parametrize("name", ["Claimed", "claimed_", "claimd"])
def test_no_column_is_advised_that_has_a_role(name, log):
    """With the column of the other subject, every comparison would be genuine."""
    text = said(log, subject_b=name)
    assert text.startswith(f"no column '{name}'") and "mean 'claimed'" not in text
    assert "mean 'person'" in said(log, subject_b="persn")


def test_a_header_that_is_repeated_is_named(log):
    lines = log.read_text().splitlines()
    log.write_text("\n".join([*lines, *lines]) + "\n")
    assert said(log) == "line 18: repeats the names of the columns; leave the line out"


def test_a_line_without_an_end_is_a_truncated_file(log):
    text = log.read_text()
    log.write_text(text[: text.rindex(",p3")])
    assert said(log).startswith("the last line has 3 of 5 cells and no end; the file is truncated")
    log.write_text(text.rstrip("\n"))  # all cells are there
    assert not said(log)
    log.write_text(text[: text.rindex(",p3")] + "\n")
    assert said(log).startswith("line 17: 3 cells; expected 5")


def test_a_word_for_a_failure_is_advised_to_be_a_blank(log, capsys):
    log.write_text(re.sub(r"0\.\d+$", "ERR", log.read_text(), flags=re.M))
    assert "of a comparison that failed the cell is blank" in said(log)
    assert main(["run", str(log), "--failed", "ERR"]) == 2
    assert "'ERR'; expected a number such as -1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("role", "column", "meant"),
    [("suject_b", "person", "subject_b"), ("distanc", "score", "distance")],
)
def test_a_typo_in_a_role_is_named(role, column, meant, log):
    text = said(log, **{role: column, meant: None})
    assert text == f'`columns={{"{role}": "{column}"}}` names no role; did you mean {meant!r}?'
    assert not said(log, site="person")  # metadata may be called anything else
