"""The command morphing: tables, documents, files, plots and errors."""

from __future__ import annotations

import json

import numpy as np
import pytest

import bioeval as be
from bioeval.cli import main


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(1)
    people = np.repeat(np.arange(12), 2)
    meta = {"contributor_1": np.arange(10), "contributor_2": np.arange(10) + 2}
    for name in "ab":
        values = rng.uniform(1, 9, (24, 10))
        morphs = be.Scores(values, people, [f"m{j}" for j in range(10)], gallery_meta=meta)
        be.save(morphs, tmp_path / f"{name}.npz")
    be.save(be.simulate(20, 3, random_state=1), tmp_path / "bona.npz")
    return [str(tmp_path / x) for x in ("a.npz", "b.npz", "bona.npz")]


def test_document_files_plots_and_page(files, tmp_path, capsys):
    out, page = tmp_path / "out", tmp_path / "page.html"
    given = ["morphing", files[0], "--bona-fide", files[2], "--threshold", "far=0.1"]
    assert main([*given, "--out", str(out), "--plots", "--report", str(page), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    ds = be.morphing(be.load(files[0]), bona_fide=be.load(files[2]), threshold=("far", 0.1))
    assert result["mmpmr_at_threshold"] == float(ds.mmpmr_at_threshold)
    assert [x["rmmr_at_far"] for x in result["far_targets"]] == ds.rmmr_at_far.values.tolist()
    assert [x["map"] for x in result["map"]] == ds["map"].values.ravel().tolist()
    assert sorted(x.name for x in out.iterdir()) == [
        "attack-potential.png", "curve.csv", "far_targets.csv", "map.csv", "points.csv",
        "potential.csv", "results.nc", "summary.json", "table.txt",
    ]  # fmt: skip
    assert "MMPMR" in page.read_text()


def test_table_of_two_systems(files, capsys):
    assert (
        main(["morphing", *files[:2], "--threshold", "4", "--interval", "subject-bootstrap"]) == 0
    )
    text = capsys.readouterr().out
    for words in ("a, b", "2 systems", "2 attempts", "threshold used, given"):
        assert words in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--threshold", "far=0.1"], "needs the impostors of --bona-fide"),
        (["--bona-fide", "{2}", "--bona-fide", "{2}"], "--bona-fide is given 2 times for 1 system"),
        (["--threshold", "eer"], "expected a number or far=X"),
    ],
)
def test_wrong_options_are_named(options, said, files, capsys):
    assert main(["morphing", files[0], *(x.format(*files) for x in options)]) == 2
    assert said in capsys.readouterr().err
