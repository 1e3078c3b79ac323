"""``bioeval gallery-size``, and what it writes."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
import xarray as xr

import bioeval as be
from bioeval.cli.program import main


@pytest.fixture(scope="module")
def scores():
    return be.simulate(20, 5, random_state=3)


@pytest.fixture(scope="module")
def file(scores, tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "scores.npz"
    be.save(scores, path)
    return str(path)


def test_command_prints_a_table_and_writes_its_files(file, scores, tmp_path, capsys):
    out = tmp_path / "o"
    given = ["gallery-size", file, "--sizes", "5,20", "--max-rank", "5", "--thresholds", "10"]
    assert main([*given, "--json", "--out", str(out)]) == 0
    ds = be.gallery_size(scores, [5, 20], max_rank=5, thresholds=10)
    document = json.loads(capsys.readouterr().out)
    assert [row["gallery_size"] for row in document["gallery_sizes"]] == [5, 20]
    assert document["gallery_sizes"][1]["cms_rank_1"] == ds.cms.values[1, 0]
    with open(out / "cms.csv", newline="") as opened:
        head, *rows = csv.reader(opened)
    assert head == ["rank", "gallery_size_5", "gallery_size_20"]
    np.testing.assert_array_equal(np.array(rows, dtype=float)[:, 2], ds.cms[1])
    with xr.open_dataset(out / "results.nc", engine="h5netcdf") as saved:
        xr.testing.assert_equal(saved.load(), ds)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--sizes", "0"], "--sizes is [0]; expected increasing whole numbers of subjects"),
        (["--sizes", "21"], "--sizes is [21]; expected increasing whole numbers of subjects"),
        (["--sizes", "a"], "expected comma-separated whole numbers"),
    ],
)
def test_command_refuses_what_is_wrong(file, options, says, capsys):
    assert main(["gallery-size", file, *options]) == 2
    errors = capsys.readouterr().err
    assert says in errors and errors.count("\n") == 1
