"""What the first answers of the program say to somebody who has only its help."""

import pytest

import bioeval as be
from bioeval.cli import main


@pytest.fixture
def said(capsys):
    """Call a command: (exit code, output, errors), each text on one line."""

    def called(*arguments: object) -> tuple[int, str, str]:
        code = main([*map(str, arguments)])
        return code, *(" ".join(text.split()) for text in capsys.readouterr())

    return called


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """Save scores by name in a folder of their own."""
    monkeypatch.chdir(tmp_path)

    def save(name: str, scores: be.Scores) -> str:
        be.save(scores, tmp_path / name)
        return name

    return save


def test_a_rate_that_is_none_is_answered(said):
    code, _, errors = said("run", "s.npz", "--far", "1/0")
    assert code == 2 and "expected a rate (0.01, 1% or 1/100)" in errors


def test_a_far_of_all_attempts_is_remarked(saved, said):
    file = saved("s.npz", be.simulate(6, 3, random_state=1))
    for arguments in (("run", "--far", 1), ("zoo", "--threshold", "far=1")):
        command, *options = arguments
        assert "FAR 1 is 100 %; for 1 % write 1% or 0.01" in said(command, file, *options)[2]
    assert "FRR 1 is 100 %; for 1 % write 1% or 0.01" in said("run", file, "--frr", 1)[2]
    assert "100 %" not in said("run", file, "--far", "0.5", "--far", "1%")[2]
    assert "warning" not in said("run", file, "--frr", "100%")[2]
    remark = "0.01 is taken as a threshold; for a FAR write far=0.01"
    assert remark in said("threshold", file, "--target", "0.01", "--folds", 3)[2]
    assert "FAR 1 is 100 %" in said("threshold", file, "--target", "FAR=1", "--folds", 3)[2]
