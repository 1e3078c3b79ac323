"""Lists of scores of the same trials are the systems of one run."""

import json

import numpy as np
import pytest

import bioeval as be
from bioeval.cli import main


@pytest.fixture
def lists(tmp_path):
    """Write the trials, and their scores of two systems in another order."""
    rng = np.random.default_rng(2)
    names = [f"s{i // 4}/{i % 4}" for i in range(40)]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    trials = tmp_path / "trials.txt"
    trials.write_text("".join(f"{int(a[:2] == b[:2])} {a} {b}\n" for a, b in pairs))
    for system, noise in (("a", 0.5), ("b", 1.5)):
        lines = [f"{a} {b} {(a[:2] == b[:2]) + noise * rng.normal():.6f}\n" for a, b in pairs]
        (tmp_path / f"{system}.scores").write_text("".join(rng.permutation(lines)))
    return tmp_path


def test_each_list_is_a_system(lists, capsys):
    options = ["--trials", str(lists / "trials.txt"), "--kind", "similarity"]
    files = [str(lists / f"{system}.scores") for system in "ab"]
    assert main(["run", *files, *options, "--json"]) == 0
    together = json.loads(capsys.readouterr().out)["systems"]
    assert [*together] == ["a", "b"]
    for system, file in zip("ab", files, strict=True):
        scores = be.load(file, trials=lists / "trials.txt", kind="similarity")
        eer = together[system]["tasks"]["verification/single"]["eer"]
        assert eer == be.verification(scores).eer.item()
    assert main(["run", files[0], options[1], *options[2:]]) == 0  # the trials may be unnamed
    assert main(["run", *files, *options[2:]]) == 2  # of two files, the second is the trials
