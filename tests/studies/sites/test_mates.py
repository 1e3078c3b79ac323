"""A square matrix of one template per subject on each side: genuine on the diagonal."""

from __future__ import annotations

import numpy as np
import pytest

import bioeval as be
from bioeval.cli import main


@pytest.fixture
def square(tmp_path):
    """A file of scores, whose subjects are in an array of a name of its own."""
    path = tmp_path / "square.npz"
    scores = np.random.default_rng(1).random((30, 30)) + 1.0 - np.eye(30)
    np.savez(path, scores=scores, subject=np.arange(30))
    return str(path)


BOTH = ("--probe-labels", "subject", "--gallery-labels", "subject")


@pytest.fixture
def run(capsys):
    """Call a command: (exit code, output, errors), each text on one line."""

    def called(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        return code, *(" ".join(text.split()) for text in capsys.readouterr())

    return called


def test_labels_of_both_sides_are_advised(square, run):
    code, _, errors = run("run", square)
    assert code == 2
    assert "say --probe-labels subject and --gallery-labels subject" in errors
    with pytest.raises(be.DataError, match='probe_labels_key="subject" and gallery_labels_key='):
        be.load(square)


def test_they_give_results_without_the_opposite_advice(square, run):
    code, output, errors = run("run", square, *BOTH)
    assert code == 0
    assert "gallery-labels" not in output + errors
    assert "CMS, rank 1" in output


@pytest.mark.parametrize(
    "command",
    [
        ("run", "{}", "--labels", "subject"),
        ("threshold", "{}", "--labels", "subject"),
        ("gallery-size", "{}", "--labels", "subject"),
        ("compare", "{}", "{}", "--labels", "subject"),
    ],
    ids=lambda command: command[0],
)
def test_nobody_with_a_mate_is_an_error(command, square, run):
    code, _, errors = run(*(word.format(square) for word in command))
    assert code == 2
    assert "no subject has two templates" in errors
    assert "--probe-labels ... --gallery-labels ..." in errors


def test_names_of_templates_are_taken_for_labels(tmp_path, run):
    path = tmp_path / "m.csv"
    rows = [f"{name},0,1,2,3" for name in ("a_1", "a_2", "b_1", "b_2")]
    path.write_text("\n".join(["label,a_1,a_2,b_1,b_2", *rows]))
    code, _, errors = run("run", str(path), "--kind", "distance")
    assert code == 2 and "gallery-labels" not in errors
    assert r"names of templates, give --subject-from '^(.+)_\d+$'" in errors
    assert run("run", str(path), "--kind", "distance", "--subject-from", r"^(.+)_\d+$")[0] == 0


def test_a_matrix_of_several_templates_has_one_list_of_labels(tmp_path, run):
    path = tmp_path / "square.npz"
    np.savez(path, scores=np.ones((4, 4)), subject=[1, 1, 2, 2])
    _, _, errors = run("run", str(path))
    assert "say --labels subject" in errors and "--probe-labels" not in errors
