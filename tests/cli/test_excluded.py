"""Every command that leaves out comparisons says above its table which ones."""

import numpy as np
import pytest

from bioeval.cli import main

SAID = "genuine pairs of the same session"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two systems over 12 subjects with two templates in each of three sessions."""
    rng = np.random.default_rng(0)
    labels, session = np.repeat(np.arange(12), 6), np.tile([1, 1, 2, 2, 3, 3], 12)
    for name in "ab":
        x = rng.normal(size=(12, 8))[labels] + 0.9 * rng.normal(size=(72, 8))
        np.savez(
            tmp_path / f"{name}.npz",
            scores=np.linalg.norm(x[:, None] - x[None], axis=2),
            labels=labels,
            session=session,
            quality=rng.random(72),
            group=np.where(labels % 2, "f", "m"),
        )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def output_of(folder, capsys):
    """Return what a command prints, with single spaces."""

    def run(*arguments):
        assert main([*arguments, "--kind", "distance", "--columns", "session=session"]) == 0
        return " ".join(capsys.readouterr().out.split())

    return run


COMMANDS = {
    "run": "a.npz",
    "compare": "a.npz b.npz --replicates 100",
    "calibration": "a.npz",
    "calibration, logistic": "a.npz --calibrate logistic",
    "fuse": "a.npz b.npz",
    "error-discard": "a.npz --quality quality --columns quality=quality --threshold eer",
    "gallery-size": "a.npz",
    "groups": "a.npz --by group --columns group=group",
    "threshold": "a.npz",
    "zoo": "a.npz",
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.cases(4)
def test_a_command_says_what_is_excluded(command, output_of):
    arguments = [command.partition(",")[0], *COMMANDS[command].split()]
    assert SAID in output_of(*arguments, "--exclude", "session")
    assert SAID not in output_of(*arguments)
