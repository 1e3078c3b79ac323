"""Plots, tables and the command line of drawn galleries and of gallery sizes."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
import xarray as xr
from result_text import as_text
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.cli import main


@pytest.fixture(scope="module")
def scores():
    return be.simulate(20, (1, 4), within=0.9, random_state=1)


def test_cmc_draws_sampled_galleries_behind_their_mean(scores):
    exact = be.closed_set(scores, gallery="single")
    drawn = be.closed_set(scores, gallery="single", sampling=7, random_state=1)
    display = be.plot.cmc({"exact": exact, "sampled": drawn})
    mean = {name: line.get_zorder() for name, line in display.lines_.items()}
    cloud = [line for line in display.ax_.lines if line not in display.lines_.values()]
    assert len(cloud) == 7 and set(mean) == {"exact", "sampled"}
    assert max(line.get_zorder() for line in cloud) < min(mean.values())
    for line, values in zip(cloud, drawn.cms_by_gallery.values, strict=True):
        x, y = line.get_data()
        np.testing.assert_array_equal(y, values[np.asarray(x, dtype=int) - 1])
    low, high = display.ax_.get_ylim()
    assert low < drawn.cms_by_gallery.min() and high > 1
    text = " ".join(t.get_text() for t in display.ax_.texts)
    assert "7 sampled galleries" in text and "1 template a subject" in text
    assert "sampled galleries" not in " ".join(t.get_text() for t in be.plot.cmc(exact).ax_.texts)


@pytest.mark.slow
def test_gallery_size_plot(scores):
    ds = be.gallery_size(scores, [2, 5, 20, 40, 80], thresholds=5)
    display = be.plot.gallery_size(ds, ranks=(1, 5))
    assert list(display.curves) == ["rank 1", "rank 5"]
    curve, line = display.curves["rank 1"], display.lines_["rank 1"]
    np.testing.assert_array_equal(curve.y, ds.cms.sel(rank=1))
    np.testing.assert_array_equal(line.get_xdata(), [2, 5, 20])
    others = [x for x in display.ax_.lines if x not in display.lines_.values()]
    beyond = [x for x in others if len(x.get_xdata()) == 3]
    np.testing.assert_array_equal(beyond[0].get_xdata(), [20, 40, 80])
    np.testing.assert_array_equal(beyond[0].get_ydata(), ds.cms.sel(rank=1)[2:])
    assert beyond[0].get_linestyle() == ":" and beyond[0].get_markerfacecolor() == "white"
    assert any("data end: 20" in t.get_text() for t in display.ax_.texts)
    assert display.ax_.get_xscale() == "log"
    within = be.plot.gallery_size({"a": ds.isel(gallery_size=slice(0, 3)), "b": ds}, ranks=(1,))
    assert list(within.curves) == ["a, rank 1", "b, rank 1"]
    with pytest.raises(be.DataError, match="rank 99"):
        be.plot.gallery_size(ds, ranks=(99,))
    with pytest.raises(be.DataError, match="draws cms"):
        be.plot.gallery_size(be.closed_set(scores))


def test_gallery_size_plot_has_a_cloud_of_sampled_galleries(scores):
    ds = be.gallery_size(scores, [2, 5, 20, 40], thresholds=5, sampling=6, random_state=1)
    display = be.plot.gallery_size(ds, ranks=(1,))
    cloud = [x for x in display.ax_.lines if x.get_alpha() == 0.2]
    assert len(cloud) == 6
    for line, y in zip(cloud, ds.cms_by_gallery.sel(rank=1).values, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), y)
    assert display.ax_.get_ylim()[0] < np.nanmin(ds.cms_by_gallery.sel(rank=1))
    assert any("6 galleries drawn at random" in t.get_text() for t in display.ax_.texts)


def test_other_plots_take_drawn_galleries(scores):
    for options in ({}, {"sampling": 3}):
        ds = be.open_set(scores, gallery="single", thresholds=20, **options)
        assert be.plot.dir_far(ds, ranks=(1,)).lines_
        be.plot.dir_surface(ds)


def test_tables_say_which_galleries(scores):
    exact = be.closed_set(scores, gallery="single")
    drawn = be.open_set(scores, gallery=2, rank_unit="subject", thresholds=[3.0], sampling=4)
    assert "1 template of each subject, exact mean over all galleries" in as_text(exact)
    assert "2 templates of each subject, 4 galleries drawn" in as_text(drawn, 140)
    assert "of each subject" not in as_text(be.closed_set(scores))


def test_tables_give_the_bounds_of_operating_points(scores):
    ds = be.open_set(scores, gallery="single", thresholds=100, far_targets=[0.1, 0.01])
    text = as_text(ds, 200)
    assert "lie within the bounds" in text
    rows = {line[2:38].strip(): line[38:] for line in text.splitlines() if line.startswith("  ")}
    for end in ("at least", "at most"):
        name = end.replace(" ", "_")
        assert f"{100 * ds[f'eer_{name}'].item():.2f} %" in rows[f"EER, rank 1, {end}"]
        for i, target in enumerate(("10 %", "1 %")):
            rate = 100 * ds[f"dir_at_far_{name}"][i, 0].item()
            assert f"{rate:.2f} %" in rows[f"DIR at FAR <= {target}, rank 1, {end}"]
    assert "DIR, rank 1" not in rows  # at thresholds that were not given
    few = be.open_set(scores, gallery="single", thresholds=[3.0], far_targets=[0.1])
    assert "DIR, rank 1 " in as_text(few, 200) and "EER, rank 1, at least" in as_text(few, 200)


# --------------------------------------------------------------------------- command line


@pytest.fixture(scope="module")
def file(scores, tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "scores.npz"
    be.save(scores, path)
    return str(path)


@pytest.mark.slow
def test_command_prints_a_table_and_json(file, scores, capsys):
    assert main(["gallery-size", file, "--sizes", "2,5,20,40", "--thresholds", "4"]) == 0
    text, errors = capsys.readouterr()
    ds = be.gallery_size(scores, [2, 5, 20, 40], thresholds=4)
    assert errors == ""
    for least in ds.least_error_share.sel(gallery_size=[5, 40]).values.ravel():
        assert f"{100 * least:.2f} %" in text
    assert f"{100 * ds.cms.sel(gallery_size=5, rank=1).item():.2f} %" in text
    assert text.count("%  *\n") == 3 and "Errors of the model" in text
    assert main(["gallery-size", file, "--sizes", "2,40", "--json", "--ties", "expected"]) == 0
    document = json.loads(capsys.readouterr().out)
    first, last = document["gallery_sizes"]
    assert (first["extrapolated"], last["extrapolated"]) == (False, True)
    assert document["ties"] == "expected" and len(document["validation"]) == 2
    assert main(["gallery-size", file, "--sizes", "2", "--unenrolled", "0.05,1", "--json"]) == 0
    (only,) = json.loads(capsys.readouterr().out)["least_errors"]
    assert only["least_error_share_1.0"] == 0 and only["least_error_threshold_1.0"] == "-inf"
    assert "least_error_share_0.05" in only


def test_command_says_what_is_not_defined(tmp_path, capsys):
    np.savez(tmp_path / "one.npz", scores=1.0 - np.eye(4), probe_labels=["a"] * 4)
    assert main(["gallery-size", str(tmp_path / "one.npz"), "--sizes", "1,2"]) == 0
    text = capsys.readouterr().out
    assert "nan" not in text and "1 subject," in text and "n/a" in text
    assert "galleries of 2 subjects are extrapolated from the 1 subject" in " ".join(text.split())
    assert "Errors of the model" not in text


@pytest.mark.slow
def test_command_writes_all_or_nothing(file, scores, tmp_path, capsys):
    out = tmp_path / "o"
    given = ["gallery-size", file, "--sizes", "2,10", "--out", str(out), "--plots"]
    assert main([*given, "--unenrolled", "0.2,0.4"]) == 0
    names = sorted(p.name for p in out.iterdir())
    assert names == [
        "cms.csv", "far.csv", "frr.csv", "gallery-size.png", "gallery_sizes.csv",
        "least_errors.csv", "results.nc", "summary.json", "table.txt",
    ]  # fmt: skip
    assert json.loads((out / "summary.json").read_text())["files"] == names
    with open(out / "cms.csv", newline="") as opened:
        rows = list(csv.reader(opened))
    ds = be.gallery_size(scores, [2, 10])
    assert rows[0] == ["rank", "gallery_size_2", "gallery_size_10"]
    np.testing.assert_array_equal(np.array(rows[1:], dtype=float)[:, 2], ds.cms[1])
    with xr.open_dataset(out / "results.nc", engine="h5netcdf") as saved:
        assert saved.unenrolled_share.values.tolist() == [0.2, 0.4]
    capsys.readouterr()
    assert main(["gallery-size", file, "--sizes", "2", "--out", str(out)]) == 2
    assert main(["gallery-size", file, "--sizes", "2", "--out", str(tmp_path / "p")]) == 0
    assert not (tmp_path / "p" / "gallery-size.png").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--sizes", "10,2"], "--sizes is [10, 2]; expected increasing"),
        (["--sizes", "a"], "expected comma-separated whole numbers"),
        (["--plots"], "--plots needs --out"),
        (["--thresholds", "1"], "must be 2 or more"),
        (["--unenrolled", "7"], "expected numbers in [0, 1]"),
    ],
)
def test_command_refuses_what_is_wrong(file, options, says, capsys):
    assert main(["gallery-size", file, *options]) == 2
    errors = capsys.readouterr().err
    assert says in errors and errors.count("\n") == 1
