"""``bioeval compare`` with a list of trials as its last file."""

import json

import numpy as np

from bioeval.cli import main


def test_the_last_file_may_have_the_trials_of_all_systems(tmp_path, capsys):
    rng = np.random.default_rng(1)
    pairs = [(f"s{i}-0", f"s{j}-1") for i in range(12) for j in range(12)]
    for name in ("a", "b", "c"):
        lines = (f"{x} {y} {rng.normal(2.0 * (x[:-2] == y[:-2])):.4f}\n" for x, y in pairs)
        (tmp_path / f"{name}.txt").write_text("".join(lines))
    marks = (f"{int(x[:-2] == y[:-2])} {x} {y}\n" for x, y in pairs)
    (tmp_path / "trials").write_text("".join(marks))
    files = [str(tmp_path / f"{name}.txt") for name in ("a", "b", "c")]
    trials = str(tmp_path / "trials")
    given = ["--kind", "similarity", "--subject-from", r"(s\d+)-", "--measure", "eer"]
    given += ["--replicates", "200", "--json"]
    for systems in (files[:2], files):
        assert main(["compare", *systems, *given, "--trials", trials]) == 0
        expected = json.loads(capsys.readouterr().out)
        assert main(["compare", *systems, trials, *given]) == 0
        assert json.loads(capsys.readouterr().out) == expected
    assert main(["compare", files[0], trials, *given]) == 2
    assert "one system is given" in capsys.readouterr().err
