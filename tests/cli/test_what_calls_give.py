"""A command gives what its call gives, number for number, and its options are arguments of it."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from commands import COMMANDS
from reference import one_thread  # noqa: F401
from small_results import META

import bioeval as be
from bioeval.cli import main

WHO = np.repeat(np.arange(12), 3)
COLUMNS = {name: np.tile(column, 2) for name, column in META.items()}
HALF = np.arange(36) % 3 == 0
GOM = "gom-market1501"
PEOPLE = be.stats.IntervalMethod("people", replicates=200)
REPEATED = be.partition.SubjectKFold(4, n_repeats=3, shuffle=True, random_state=0)


def made(name: str) -> be.Scores:
    """Scores of systems a and b, and of c, where some queries have no enrolled person."""
    drawn = be.simulate(12, 3, within=0.9, random_state="abc".index(name))
    values = np.asarray(drawn.values)
    if name != "c":
        return be.Scores(values, WHO, probe_meta=COLUMNS, name=name)
    rows, columns = HALF, ~HALF & (WHO < 9)
    sides = [{k: x[side] for k, x in COLUMNS.items()} for side in (rows, columns)]
    return be.Scores(
        values[np.ix_(rows, columns)], WHO[rows], WHO[columns], name=name,
        probe_meta=sides[0], gallery_meta=sides[1],
    )  # fmt: skip


def claimed(scores: be.Scores) -> be.Scores:
    """The claims of a system that compares with the mean of the templates of a subject."""
    return be.claim_scores(scores, templates="multi", fusion="mean")


#: Words of lines without a plot, or with an empty one.
WITHOUT_PLOT = {"conventions", "--on", "--promise", "--as-given", "run"}

#: Lines of commands, and the calls of them.
LINES: dict[str, Callable[[be.Scores, be.Scores, be.Scores], Any]] = {
    "compare a.npz b.npz --measure auc --replicates 200": lambda a, b, c: be.compare(
        {"a": a, "b": b}, measures=["auc"], interval=PEOPLE
    ),
    "compare a.npz b.npz --measure auc --templates multi --fusion mean": lambda a, b, c: be.compare(
        {"a": claimed(a), "b": claimed(b)}, measures=["auc"]
    ),
    "groups a.npz --by sex --threshold eer --templates multi --fusion mean": lambda a, b, c: (
        be.by_group(claimed(a), "sex", threshold="eer")
    ),
    "conventions c.npz --card market1501 --card viper": lambda a, b, c: be.conventions(
        c, cards=["market1501", "viper"]
    ),
    "gallery-size a.npz --sizes 2,6 --max-rank 2 --n-thresholds 20": lambda a, b, c: (
        be.gallery_size(a, [2, 6], max_rank=2, n_thresholds=20)
    ),
    "gallery-size a.npz --sizes 2,6 --fusion mean": lambda a, b, c: be.gallery_size(
        a, [2, 6], fusion="mean"
    ),
    "gom c.npz --budget 9": lambda a, b, c: be.gom(c, convention=GOM, budget=9),
    "gom c.npz --as-given": lambda a, b, c: be.gom(c, convention=GOM, scaled=False),
    "groups a.npz --by sex --threshold far=0.2 --interval people": lambda a, b, c: be.by_group(
        a, "sex", threshold="far=0.2", interval="people"
    ),
    "run a.npz --templates multi --fusion mean --rank-unit subject": lambda a, b, c: (
        xr.DataTree.from_dict(
            {
                "verification/multi": be.verification(a, templates="multi", fusion="mean"),
                "open_set": be.open_set(a, rank_unit="subject", fusion="mean"),
            }
        )
    ),
    "run a.npz --single-gallery": lambda a, b, c: xr.DataTree.from_dict(
        {"closed_set": be.closed_set(a, gallery="single")}
    ),
    "run a.npz --folds 4 --repeats 3 --templates single": lambda a, b, c: xr.DataTree.from_dict(
        {"verification/single": be.cross_evaluate(a, REPEATED)}
    ),
    "threshold a.npz --target far=0.1 --folds 3 --repeats 2": lambda a, b, c: be.study_threshold(
        a, "far=0.1", folds=3, repeats=2
    ),
    "threshold a.npz --on b.npz --target min-dcf=0.1": lambda a, b, c: be.judge_threshold(
        a, b, "min-dcf=0.1"
    ),
    "threshold a.npz --promise far=10% --threshold 4": lambda a, b, c: be.check_promise(
        a, 4.0, "far=10%"
    ),
    "threshold a.npz --promise far=1% --promise frr=2% --threshold 4": lambda a, b, c: (
        be.check_promise(a, 4.0, ["far=0.01", "frr=0.02"])
    ),
    "zoo a.npz --threshold far=0.1 --permutations 20 --quantile 0.3": lambda a, b, c: be.zoo(
        a, threshold="far=0.1", permutations=20, quantile=0.3
    ),
}


#: Commands of several calls, of none, or of files of their own.
OTHERS = {
    *("check", "convert", "demo", "example", "explain", "fuse", "info"),
    *("protocols", "report", "run", "simulate", "tracking"),
}  # fmt: skip


def test_every_command_has_a_line_or_is_of_the_others():
    differ = {*COMMANDS} ^ ({line.split()[0] for line in LINES} | OTHERS)
    assert not differ, f"{differ}: a command of one call has a line in LINES."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("systems")
    for name in "abc":
        be.save(made(name), place / f"{name}.npz")
    return place


@pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")
@pytest.mark.parametrize("line", LINES)
@pytest.mark.cases(4)
def test_a_command_gives_what_its_call_gives(line, folder, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    out = tmp_path / "out"
    # 1: a refuted promise; 2: a doubt about the scale, beside the result.
    assert main([*line.split(), "--out", str(out), "--verbose"]) in (0, 1, 2)
    printed = capsys.readouterr().out
    expected = LINES[line](*map(made, "abc"))
    with xr.open_datatree(out / "results.nc", engine="h5netcdf") as tree:
        saved = tree.load()
    if isinstance(expected, xr.Dataset):
        (saved,) = saved.leaves
        expected = xr.DataTree(expected)
    for path, node in expected.subtree_with_keys:
        for name, values in node.data_vars.items():
            if values.dtype.kind in "fiub":
                np.testing.assert_allclose(saved[path][name], values, rtol=1e-12, err_msg=str(name))
    summary = json.loads((out / "summary.json").read_text())
    assert set(summary["files"]) == {x.name for x in out.iterdir()}
    assert (out / "table.txt").read_text().split() == printed.split()
    assert [*out.glob("*.csv")]


def test_curves_are_written_as_columns(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    assert main(["gallery-size", "a.npz", "--sizes", "2,6", "--out", str(tmp_path / "out")]) == 0
    expected = be.gallery_size(made("a"), [2, 6])
    for name, dimension in (("cms", "rank"), ("far", "threshold")):
        table = pd.read_csv(tmp_path / "out" / f"gallery_size_{dimension}.csv")
        np.testing.assert_array_equal(table[dimension], expected[dimension])
        np.testing.assert_allclose(table[f"{name}@gallery_size=6"], expected[name][1], rtol=1e-15)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")
@pytest.mark.parametrize("line", [x for x in LINES if not WITHOUT_PLOT & {*x.split()}])
def test_its_plots_are_beside_its_results(line, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    words = [*line.split(), "--out", str(tmp_path / "out"), "--plots", "--plot-format", "svg"]
    assert main(words) in (0, 1)
    assert [*(tmp_path / "out").glob("*.svg")]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("compare a.npz", "expected two or more"),
        ("explain a.npz", "--probe"),
        ("explain a.npz --probe 99", "--probe is '99'; expected a position from 0 to"),
        ("explain a.npz --probe 1 --threshold nan", "NaN"),
        ("gallery-size a.npz --templates multi", "--templates makes claims"),
        ("gallery-size a.npz --sizes 0", "--sizes is [0]; expected increasing whole numbers"),
        ("gallery-size a.npz --sizes a", "expected comma-separated whole numbers"),
        ("groups a.npz --by sx", "--by is 'sx'"),
        ("groups a.npz --by sex --threshold err", "--threshold is 'err'"),
        ("threshold a.npz --folds 13", "only 12 subjects"),
        ("threshold a.npz --on b.npz --folds 3", "--folds"),
        ("threshold a.npz --on b.npz --target min-dcf", "min-dcf"),
    ],
)
def test_wrong_usage_is_one_line(line, says, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert main(line.split()) == 2
    output = capsys.readouterr()
    assert says in output.err and output.err.count("\n") == 1 and not output.out
