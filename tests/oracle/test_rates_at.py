"""Rates at one threshold: exact of scores, the stricter row and its bracket of results."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
import strategies as own
from hypothesis import given, settings, strategies as st
from named_arguments import raises_about
from twins import one_thread  # noqa: F401

import bioeval as be

INF = math.inf
D = [[0, 1, 4, 6], [1, 0, 5, 3], [4, 5, 0, 2], [6, 3, 2, 0]]
NAMES = ["ann", "ann", "bob", "bob"]
COUNTS = ("ga", "fr", "fa", "gr")
RATES = ("gar", "frr", "far", "grr")


def scores(kind: str = "distance") -> be.Scores:
    values = np.array(D, dtype=float)
    return be.Scores(values if kind == "distance" else -values, NAMES, kind=kind)


@st.composite
def looked_up(draw: st.DrawFn):
    """Draw a small case, the grid of its result, and thresholds to look up in any order."""
    case = draw(own.matrices(dtypes=("float64",), orders=("C",), nans=("raise", "reject")))
    grid = draw(own.thresholds(case))
    asked = draw(st.permutations(draw(own.thresholds(case)).tolist()))
    return case, grid, np.array(asked)


def split(case: own.Case, grid: np.ndarray, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the thresholds that the grid has a row for, and those stricter than all of it."""
    outside = asked < grid[0] if case.kind == "distance" else asked > grid[-1]
    return asked[~outside], asked[outside]


@settings(max_examples=own.examples_of(20))
@given(looked_up())
def test_counts_are_those_of_threshold_used_and_rates_lie_in_the_bracket(drawn):
    case, grid, asked = drawn
    genuine, impostor = naive.attempts_single(**case.naive())[:2]

    def counts(thresholds: np.ndarray) -> list[list[int]]:
        return naive.verification_counts(genuine, impostor, thresholds.tolist(), case.kind)

    data = be.Scores(**case.scores())
    exact = be.at(data, asked)
    np.testing.assert_array_equal(exact.threshold, asked)
    for name, expected in zip(COUNTS, counts(asked), strict=True):
        np.testing.assert_array_equal(exact[name], expected, err_msg=name)
    result = be.verification(data, thresholds=grid, auc=False)
    inside, outside = split(case, grid, asked)
    if len(outside):
        strictest = grid[:1] if case.kind == "distance" else grid[-1:]
        ga, _, fa, _ = counts(strictest)
        if ga[0] + fa[0]:
            with pytest.raises(be.DataError, match="rates are not known"):
                be.at(result, outside)
        else:
            found = be.at(result, outside)
            for name, expected in zip(COUNTS, counts(outside), strict=True):
                np.testing.assert_array_equal(found[name], expected, err_msg=name)
    if not len(inside):
        return
    found = be.at(result, inside)
    used = [
        max(g for g in grid if g <= t)
        if case.kind == "distance"
        else min(g for g in grid if g >= t)
        for t in inside
    ]
    np.testing.assert_array_equal(found.threshold_used, used)
    for name, expected in zip(COUNTS, counts(np.array(used)), strict=True):
        np.testing.assert_array_equal(found[name], expected, err_msg=name)
    true = be.at(data, inside)
    free = [
        not any(min(t, u) <= s <= max(t, u) and s != u for s in (*genuine, *impostor))
        for t, u in zip(inside, used, strict=True)
    ]
    for rate in RATES:
        low, high = found[f"{rate}_at_least"], found[f"{rate}_at_most"]
        assert (np.isnan(true[rate]) | ((low <= true[rate]) & (true[rate] <= high))).all()
        np.testing.assert_array_equal(found[rate].values[free], true[rate].values[free])


@settings(max_examples=own.examples_of(15))
@given(looked_up())
def test_open_set_is_counted_at_the_threshold_and_looked_up_by_the_same_rule(drawn):
    case, grid, asked = drawn
    data = be.Scores(**case.scores())
    exact = be.at(data, asked, task="open_set")
    for i, t in enumerate(asked.tolist()):
        alone = naive.open_set(thresholds=[t], **case.naive())
        assert exact.fa.values[i] == alone.fa[0]
        np.testing.assert_array_equal(exact["di"].values[i], np.array(alone.di[0], dtype=float))
    inside, _ = split(case, grid, asked)
    if not len(inside):
        return
    result = be.open_set(data, thresholds=grid)
    method = "pad" if case.kind == "distance" else "backfill"
    rows, found = result.sel(threshold=inside, method=method), be.at(result, inside)
    true = be.at(data, inside, task="open_set")
    np.testing.assert_array_equal(found.threshold_used, rows.threshold)
    np.testing.assert_array_equal(found.dir, rows.dir)
    for rate in ("far", "dir", "frr"):
        low, high = found[f"{rate}_at_least"], found[f"{rate}_at_most"]
        assert (np.isnan(true[rate]) | ((low <= true[rate]) & (true[rate] <= high))).all()


@pytest.mark.parametrize(
    ("kind", "grid", "t", "used", "following"),
    [
        ("distance", [1, 2, 4, 6], 3.9, 2, 4),  # the nearest would be 4
        ("similarity", [-6, -4, -2, -1], -3.9, -2, -4),
        ("distance", [1, 2, 4, 6], 4, 4, 6),
        ("similarity", [-6, -4, -2, -1], -4, -4, -6),
        ("distance", [1, 2, 4, 6], 99, 6, INF),
        ("similarity", [-6, -4, -2, -1], -99, -6, -INF),
    ],
)
def test_the_stricter_row_is_taken_whichever_is_nearer(kind, grid, t, used, following):
    ds = be.verification(scores(kind), thresholds=grid)
    found = be.at(ds, t)
    assert (float(found.threshold_used), float(found.threshold_next)) == (used, following)
    row = ds.sel(threshold=used)
    for name in (*COUNTS, *RATES):
        assert found[name].item() == row[name].item()
        assert found[name].dtype == row[name].dtype
    assert "threshold" not in found.dims and found.threshold == t
    assert kind[:8] in found.threshold_lookup


def test_before_the_grid_nothing_is_accepted_or_the_rates_are_not_known():
    found = be.at(be.verification(scores()), [-5.0, 3.0])
    assert found.threshold_used.values[0] == -INF
    assert found.ga.values[0] == found.fa.values[0] == 0
    assert found.far_at_most.values[0] == 0.0
    mirror = be.at(be.verification(scores("similarity")), 5.0)
    assert mirror.threshold_used == INF and mirror.fa == 0
    with pytest.raises(be.DataError, match=r"0\.5 is below the first threshold of the results, 1,"):
        be.at(be.verification(scores(), thresholds=[1, 2]), 0.5)
    with pytest.raises(be.DataError, match="above the last threshold"):
        be.at(be.verification(scores("similarity"), thresholds=[-2, -1]), [-1.5, 0])


def test_beyond_the_grid_the_bracket_reaches_to_accepting_all():
    found = be.at(be.verification(scores(), thresholds=[1, 3]), 4.5)
    assert (found.far, found.far_at_least, found.far_at_most) == (0.25, 0.25, 1.0)
    assert (found.grr_at_least, found.grr_at_most) == (0.0, 0.75)


def test_a_tree_has_each_task_with_thresholds():
    tree = be.evaluate(be.simulate(8, 3, random_state=1))
    found = be.at(tree, [4.0, 3.0])
    assert sorted(x.path for x in found.leaves) == [
        "/open_set", "/verification/multi", "/verification/single",
    ]  # fmt: skip
    for path in ("open_set", "verification/multi"):
        alone = be.at(tree[path].to_dataset(), [4.0, 3.0])
        assert found[path].to_dataset().identical(alone)
    exact = be.at(be.simulate(8, 3, random_state=1), [4.0, 3.0], protocol="auto")
    used = found["verification/single"].threshold_used.values
    again = be.at(be.simulate(8, 3, random_state=1), used)
    np.testing.assert_array_equal(found["verification/single"].fa, again.fa)
    assert "closed_set" not in exact.children and "open_set" in exact.children
    with pytest.raises(be.ProtocolError, match=r"no task of these results \(closed_set\)"):
        be.at(tree.filter(lambda x: "cms" in x), 1.0)


def test_gom_is_of_normalised_distances_whatever_the_kind():
    rng = np.random.default_rng(0)
    cameras = {"camera": [1, 2] * 3}, {"camera": [3] * 9}
    values = rng.random((6, 9))
    for kind in ("distance", "similarity"):
        data = be.Scores(
            values, list("aabbxy"), list("aaabbbccc"), kind=kind,
            probe_meta=cameras[0], gallery_meta=cameras[1],
        )  # fmt: skip
        ds = be.gom(data)
        found = be.at(ds, 0.505)
        assert found.threshold_used == 0.5 and found.mrep == ds.mrep.sel(threshold=0.5)
        assert "mrep_at_least" not in found  # ReP may rise and fall
        counted = be.at(data, 0.505, task="gom")
        assert found.far_at_least <= counted.far <= found.far_at_most


@pytest.mark.parametrize("bad", [math.nan, [0.1, math.nan], "0.1", [[1.0]], [], None, True])
def test_what_is_no_threshold_is_refused(bad):
    for result in (scores(), be.verification(scores())):
        with raises_about(be.DataError, "threshold"):
            be.at(result, bad)


def test_tasks_without_a_threshold_and_stray_options_are_refused():
    with pytest.raises(be.ProtocolError, match="no threshold"):
        be.at(scores(), 1.0, task="closed_set")
    with pytest.raises(be.DataError, match="expected one of 'verification', 'open_set'"):
        be.at(scores(), 1.0, task="verify")
    with pytest.raises(be.DataError, match="templates: of scores alone"):
        be.at(be.verification(scores()), 1.0, templates="multi")
    with pytest.raises(be.DataError, match="both given"):
        be.at(scores(), 1.0, task="open_set", protocol="auto")
    with pytest.raises(be.DataError, match="thresholds cannot be given"):
        be.at(scores(), 1.0, thresholds=3)
    with pytest.raises(be.ProtocolError, match="no rates over thresholds"):
        be.at(be.closed_set(scores()), 1.0)
    with pytest.raises(be.ProtocolError, match="only the order"):
        be.at(be.Scores(D, NAMES, kind="order"), 1.0)
    with pytest.raises(be.DataError, match="expected Scores"):
        be.at(D, 1.0)


def test_pairs_repeats_and_options_of_the_task():
    pairs = be.Scores.from_pairs([0.1, 0.2, 0.3, 0.4], [1, 0, 1, 0])
    assert be.at(pairs, 0.35).far == 0.5
    multi = be.at(scores(), [3.0], templates="multi")
    assert multi.templates == "multi" and multi.fa.values.tolist() == [2]
    curves = be.repeat(be.simulate(8, 3), be.partition.SubjectKFold(2), thresholds=[3.0, 4.0, 5.0])
    assert (be.at(curves, 4.5).far == curves.far.sel(threshold=4.0)).all()


@pytest.mark.slow
def test_results_survive_a_file(tmp_path):
    found = be.at(be.verification(scores()), [1.0, 3.0])
    found.to_netcdf(tmp_path / "at.nc", engine="h5netcdf")
    import xarray as xr

    with xr.open_dataset(tmp_path / "at.nc", engine="h5netcdf") as back:
        xr.testing.assert_identical(back.load(), found)
    assert all(x.attrs["long_name"] for x in found.variables.values())
