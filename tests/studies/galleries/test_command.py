"""``bioeval gallery-templates``, and its plot."""

from __future__ import annotations

import csv
import json

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr
from rendered import require_names_kept

import bioeval as be
from bioeval.cli import main
from bioeval.studies.galleries import size_section, templates_section

mpl.use("Agg")


@pytest.fixture(scope="module")
def scores():
    return be.simulate(20, 5, random_state=3)


@pytest.fixture(scope="module")
def file(scores, tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "scores.npz"
    be.save(scores, path)
    return str(path)


def test_sections_keep_names_and_terms(scores):
    small = scores.select(probes=range(40), gallery=range(40))

    def templates(name):
        ds = be.gallery_templates(small, [1, 5], sampling=3)
        return templates_section.section({"": ds.assign_attrs(system=name)})

    def size(name):
        ds = be.gallery_size(small, [2, 12], thresholds=5)
        return size_section.section({"": ds.assign_attrs(system=name)})

    require_names_kept(templates)
    require_names_kept(size)


@pytest.mark.slow
def test_command_prints_a_table_and_json(file, scores, capsys):
    given = ["gallery-templates", file, "--templates", "1,3,5", "--far", "0.1", "--far", "0.01"]
    assert main(given) == 0
    text, errors = capsys.readouterr()
    ds = be.gallery_templates(scores, [1, 3, 5], far_targets=[0.1, 0.01])
    assert errors == ""
    message = " ".join(text.split())
    assert (
        f"Rates at one threshold, {float(ds.threshold_used):.6g}: with more templates, FRR falls"
        in message
    )
    assert "threshold was chosen for the equal error rate, with 1 template per subject" in message
    for one in (ds.sel(gallery_templates=n) for n in (1, 3, 5)):
        frr, far = float(one.frr_at_threshold), float(one.far_at_threshold)
        assert f"{100 * frr:.2f} % {100 * far:.2f} %" in message
        assert f"{100 * float(one.eer):.2f} % {100 * float(one.frr_at_far[0]):.2f} %" in message
    assert "exact means over all choices of templates" in message
    assert main([*given, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["gallery_templates"] for row in document["by_templates"]] == [1, 3, 5]
    assert document["at_equal_far"][1]["frr_at_far_0.01"] == ds.frr_at_far.values[1, 1]
    assert document["identification"][2]["cms_rank_1"] == ds.cms.values[2, 0]
    assert document["threshold_used"] == float(ds.threshold_used)


def test_other_fusions_and_words(file, scores, capsys):
    given = ["gallery-templates", file, "--templates", "1,2", "--fusion", "mean", "--terms", "iso"]
    assert main([*given, "--threshold", "far=0.01"]) == 0
    message = " ".join(capsys.readouterr().out.split())
    assert "lower" not in message and "FMR <= 10 %" in message
    assert "chosen for the smallest FNMR with FMR at most 1 %, with 1 template" in message
    drawn = ["gallery-templates", file, "--templates", "2", "--sampling", "5", "--seed", "1"]
    assert main(drawn) == 0
    assert "means over 5 galleries drawn for each probe" in capsys.readouterr().out


@pytest.mark.slow
def test_command_writes_its_files(file, scores, tmp_path, capsys):
    out = tmp_path / "o"
    given = ["gallery-templates", file, "--templates", "1,4", "--out", str(out), "--plots"]
    assert main(given) == 0
    names = sorted(path.name for path in out.iterdir())
    assert names == [
        "at_equal_far.csv", "by_templates.csv", "cms.csv", "far.csv", "frr.csv",
        "gallery-templates.png", "identification.csv", "open_set_far.csv", "results.nc",
        "summary.json", "table.txt", "thresholds.csv",
    ]  # fmt: skip
    ds = be.gallery_templates(scores, [1, 4])
    with open(out / "by_templates.csv", newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert [float(row["frr_at_threshold"]) for row in rows] == ds.frr_at_threshold.values.tolist()
    with open(out / "frr.csv", newline="") as opened:
        head, *rows = csv.reader(opened)
    assert head == ["threshold", "templates_1", "templates_4"]
    np.testing.assert_array_equal(np.array(rows, dtype=float)[:, 2], ds.frr[1])
    with xr.open_dataset(out / "results.nc", engine="h5netcdf") as saved:
        xr.testing.assert_equal(saved.load(), ds)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--templates", "0"], "--templates is [0]; expected increasing whole numbers"),
        (["--templates", "6"], "--templates has 6, but no subject has more than 5 templates"),
        (["--templates", "a"], "expected comma-separated whole numbers"),
        (["--templates", "1,2", "--fusion", "kth:2"], "--fusion is 'kth:2', but 1 template of"),
        (["--threshold", "hter"], "--threshold is 'hter'; expected a number, 'eer' or"),
        (["--plots"], "--plots needs --out"),
    ],
)
def test_command_refuses_what_is_wrong(file, options, says, capsys):
    assert main(["gallery-templates", file, *options]) == 2
    errors = capsys.readouterr().err
    assert says in errors and errors.count("\n") == 1


def test_plot(scores):
    ds = be.gallery_templates(scores, [1, 3, 5], far_targets=[0.1, 0.02])
    display = be.plot.gallery_templates(ds)
    expected = {
        "FRR, one threshold": ds.frr_at_threshold,
        "FAR, one threshold": ds.far_at_threshold,
        "FRR at FAR 2 %": ds.frr_at_far.sel(far_target=0.02),
    }
    assert list(display.curves) == list(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(display.lines_[name].get_xdata(), [1, 3, 5])
        np.testing.assert_array_equal(display.lines_[name].get_ydata(), values)
    texts = " ".join(text.get_text() for text in display.ax_.texts)
    assert f"{float(ds.threshold_used):.6g}" in texts and "all choices of templates" in texts
    assert "ISO: FNMR and FMR" in texts + display.ax_.get_ylabel()
    two = be.plot.gallery_templates({"a": ds, "b": ds.isel(gallery_templates=[0, 2])})
    assert len(two.curves) == 6
    with pytest.raises(be.DataError, match="frr_at_threshold"):
        be.plot.gallery_templates(be.closed_set(scores))
