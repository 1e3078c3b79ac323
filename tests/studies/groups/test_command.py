"""The commands groups, epc and error-discard: tables, documents, files, plots and errors."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.__main__ import main


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("groups")
    scores = be.simulate(40, 4, random_state=2)
    sex = ["fm"[x % 2] for x in scores.probe_labels]
    meta = {"sex": sex, "sharp": np.arange(160.0), "flat": np.ones(160), "row": np.arange(160)}
    made = be.Scores(scores.values, scores.probe_labels, probe_meta=meta)
    be.save(made, folder / "s.npz")
    be.save(be.simulate(40, 4, random_state=3), folder / "t.npz")
    return made, str(folder / "s.npz"), str(folder / "t.npz")


@pytest.mark.slow
def test_groups(files, tmp_path, capsys):
    scores, file, _ = files
    out = tmp_path / "o"
    given = ["groups", file, "--by", "sex", "--threshold", "5.0"]
    more = ["--interval", "subject-bootstrap", "--replicates", "100"]
    assert main([*given, *more, "--out", str(out), "--plots"]) == 0
    text = capsys.readouterr().out
    ds = be.by_group(
        scores,
        "sex",
        threshold=5.0,
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
    )
    assert f"{100 * ds.frr[1].item():.2f}" in text and f"{ds.fdr.item():.4g}" in text
    assert "chosen on these" not in text
    assert {x.name for x in out.iterdir()} == {
        "differences_of_groups.csv", "far_of_pairs.csv", "groups.csv", "groups.png", "measures.csv",
        "pairs.csv", "rates.csv", "results.nc", "summary.json", "table.txt",
    }  # fmt: skip
    with open(out / "pairs.csv", encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    assert [float(x["far"]) for x in rows] == ds.far.values.ravel().tolist()
    document = json.loads((out / "summary.json").read_text())
    assert document["groups"][0]["fr"] == ds.fr[0] and document["garbe"] == ds.garbe
    assert main(["groups", file, "--by", "sex", "--json", "--terms", "iso"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["threshold"] == be.verification(scores).eer_threshold


@pytest.mark.slow
def test_error_discard(files, tmp_path, capsys):
    scores, file, _ = files
    out = tmp_path / "o"
    given = ["error-discard", file, "--quality", "sharp", "--quality", "flat"]
    assert main([*given, "--threshold", "far=0.01", "--out", str(out), "--plots"]) == 0
    ds = be.error_discard(scores, "sharp", threshold="far=0.01")
    assert f"{ds.pauc.item():.4f}" in capsys.readouterr().out
    assert {x.name for x in out.iterdir()} == {
        "curves.csv", "error-discard.png", "measures.csv", "results.nc", "summary.json",
        "table.txt",
    }  # fmt: skip
    curves = json.loads((out / "summary.json").read_text())["curves"]
    assert [x["frr"] for x in curves if x["quality"] == "sharp"] == ds.frr.values.tolist()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["groups", "{}", "--by", "sx"], "--by is 'sx'"),
        (["groups", "{}", "--by", "row"], "subject 1 is in the groups 0, 1, 2, 3"),
        (["groups", "{}", "--by", "sex", "--threshold", "err"], "--threshold is 'err'"),
        (["groups", "{}", "--by", "sex", "--alpha", "2"], "--alpha is 2.0"),
        (["error-discard", "{}", "--quality", "sex", "--threshold", "1"], "--quality is 'm'"),
        (["error-discard", "{}", "--quality", "sharp", "--threshold", "1", "--fractions", "2"],
         "--fractions is (2.0,)"),
    ],
)  # fmt: skip
@pytest.mark.cases(1)
def test_wrong_input_is_one_line_and_code_2(files, given, said, capsys):
    assert main([word.format(files[1]) for word in given]) == 2
    errors = capsys.readouterr().err
    assert said in errors and errors.count("\n") == 1
