"""Plots: the arrays are the dataset's, the axes say what they are, and files appear whole."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from limits import streaming
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from twins import crossed

import bioeval as be
from bioeval import plot
from bioeval.plot import plot_style as style
from bioeval.plot.display import thinned
from bioeval.plot.displays import DISPLAYS
from bioeval.plot.rate_plots import TICKS, by_far, deviate, from_floor
from bioeval.plot.registry import PLOTS
from bioeval.views.terms import in_terms

CURVES = ("roc", "det", "error_rates", "dir_far", "cmc")


@pytest.fixture(autouse=True)
def nothing_left_behind():
    """Every test closes its figures, and no plot touches matplotlib's settings."""
    settings = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == settings


@pytest.fixture(scope="module")
def scores():
    return be.simulate(15, 4, within=0.7, random_state=1)


@pytest.fixture(scope="module")
def tree(scores):
    return be.evaluate(scores)


@pytest.fixture(scope="module")
def single(tree):
    return tree["verification/single"].to_dataset()


@pytest.fixture(scope="module")
def open_set(tree):
    return tree["open_set"].to_dataset()


@pytest.fixture(scope="module")
def systems(tree):
    other = be.evaluate(be.simulate(15, 4, within=0.9, random_state=2))
    return xr.DataTree(children={"good": tree, "bad": other})


@pytest.fixture(scope="module")
def similarity():
    return be.simulate(10, 4, model="gaussian-scores", kind="similarity", random_state=3)


@pytest.fixture(scope="module")
def alone():
    """One subject: no impostor attempt."""
    return be.Scores(np.random.default_rng(0).random((4, 4)), ["ann"] * 4)


def draw(display):
    """Draw for real: labels find their places, and nothing warns."""
    display.figure_.canvas.draw()
    return display


def words(display) -> str:
    """Everything that is written on the axes."""
    ax = display.ax_
    texts = [t.get_text() for t in ax.texts]
    titles = [ax.get_title("left"), ax.get_xlabel(), ax.get_ylabel()]
    return "\n".join([*titles, *texts])


def names_of(display) -> list[str]:
    """The names in the legend of a display."""
    return [text.get_text() for text in display.legend_.get_texts()]


# ----------------------------------------------------------------------------------- arrays


@pytest.mark.slow
def test_curves_hold_the_arrays_of_the_dataset(single, open_set, tree):
    closed = tree["closed_set"].to_dataset()
    (roc,) = plot.roc(single).curves.values()
    np.testing.assert_array_equal(roc.x, single.far)
    np.testing.assert_array_equal(roc.y, single.gar)
    (det,) = plot.det(single).curves.values()
    np.testing.assert_array_equal(det.x, single.far)
    np.testing.assert_array_equal(det.y, single.frr)
    rates = plot.error_rates(single).curves
    assert list(rates) == ["FAR", "FRR"]
    for curve, name in zip(rates.values(), ("far", "frr"), strict=True):
        np.testing.assert_array_equal(curve.x, single.threshold)
        np.testing.assert_array_equal(curve.y, single[name])
    at_ranks = plot.dir_far(open_set, ranks=(1, 3)).curves
    assert list(at_ranks) == ["rank 1", "rank 3"]
    np.testing.assert_array_equal(at_ranks["rank 3"].x, open_set.far)
    np.testing.assert_array_equal(at_ranks["rank 3"].y, open_set["dir"].sel(rank=3))
    (cmc,) = plot.cmc(closed).curves.values()
    np.testing.assert_array_equal(cmc.x, closed["rank"])
    np.testing.assert_array_equal(cmc.y, closed.cms)


@pytest.mark.slow
def test_no_plot_needs_more_than_the_rates(single, open_set):
    """Datasets without operating points, counts and attributes are drawn."""
    bare = xr.Dataset({k: single[k].variable.to_base_variable() for k in ("far", "gar", "frr")})
    bare = bare.assign_coords(threshold=single.threshold.values)
    for function in (plot.roc, plot.det, plot.error_rates):
        draw(function(bare))
    draw(plot.roc(bare, log=True))
    bare = open_set[["far", "dir"]].drop_attrs()
    assert draw(plot.dir_far(bare, log=True)).curves


@pytest.mark.slow
def test_the_roc_is_drawn_in_steps_in_the_order_of_far(single, similarity):
    for dataset in (single, be.verification(similarity)):
        (line,) = plot.roc(dataset).lines_.values()
        assert line.get_drawstyle() == "steps-post"
        x, y = line.get_data()
        assert (np.diff(x) >= 0).all() and (np.diff(y) >= 0).all()
        assert set(zip(x, y, strict=True)) == set(
            zip(dataset.far.values, dataset.gar.values, strict=True)
        )


def test_error_rates_step_where_the_counts_change(similarity, single):
    assert plot.error_rates(single).lines_["FAR"].get_drawstyle() == "steps-post"
    display = plot.error_rates(be.verification(similarity))
    assert display.lines_["FAR"].get_drawstyle() == "steps-pre"
    x, y = display.lines_["FAR"].get_data()
    assert (np.diff(x) > 0).all() and y[0] == 1 and y[-1] == 0
    assert "accepted if ≥ t" in words(display)
    assert "accepted if ≤ t" in words(plot.error_rates(single))


def test_few_points_are_marked(scores):
    few = be.verification(scores, thresholds=[3.0, 4.0, 5.0])
    assert next(iter(plot.roc(few).lines_.values())).get_marker() == "o"
    many = be.verification(scores)
    assert next(iter(plot.roc(many).lines_.values())).get_marker() == "None"


def test_thinning_keeps_every_corner():
    y = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3])
    x, kept = thinned(np.arange(10), y)
    np.testing.assert_array_equal(x, [0, 2, 3, 4, 5, 8, 9])
    np.testing.assert_array_equal(np.interp(np.arange(10), x, kept), y)
    long = np.arange(30_000)
    assert len(thinned(long, long)[0]) <= 5000
    assert thinned(long, long, log=True)[0][-1] == long[-1]


# ------------------------------------------------------------------------------------- axes


def test_a_logarithmic_far_axis_ends_at_one_impostor_attempt(single, open_set):
    for display, dataset in (
        (plot.roc(single, log=True), single),
        (plot.dir_far(open_set, log=True), open_set),
    ):
        floor = 1 / int(dataset.impostor_attempts)
        assert display.ax_.get_xscale() == "log"
        low, high = display.ax_.get_xlim()
        assert low < floor and high == 1
        for line in display.lines_.values():
            assert line.get_xdata().min() == floor
        assert f"FAR < 1 / {int(dataset.impostor_attempts):,}" in words(display)


def test_the_rate_at_far_zero_is_drawn_at_the_floor():
    x = np.array([0.0, 0.0, 0.2, 0.5])
    y = np.array([0.1, 0.3, 0.4, 0.9])
    np.testing.assert_array_equal(from_floor(x, y, 0.1), [[0.1, 0.2, 0.5], [0.3, 0.4, 0.9]])
    # The best at the floor itself, where there is a point.
    np.testing.assert_array_equal(from_floor(x, y, 0.2), [[0.2, 0.5], [0.4, 0.9]])
    np.testing.assert_array_equal(from_floor(x[2:], y[2:], 0.1), [x[2:], y[2:]])
    np.testing.assert_array_equal(from_floor(x[:2], y[:2], 0.1), [[0.1], [0.3]])


def test_points_are_put_in_the_order_of_far_once_each():
    far, rate = np.array([1.0, 0.5, 0.5, 0.0]), np.array([1.0, 0.7, 0.7, 0.2])
    np.testing.assert_array_equal(by_far(far, rate), [[0, 0.5, 1], [0.2, 0.7, 1]])


@pytest.mark.slow
def test_det_axes_are_normal_deviates_in_per_cent(single):
    display = draw(plot.det(single))
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        assert axis.get_scale() == "function"
        ticks = axis.get_majorticklocs()
        assert set(ticks) <= set(TICKS) and 0.01 in ticks and 0.4 in ticks
        shown = [t.get_text() for t in axis.get_ticklabels()]
        assert {"1", "5", "20", "40"} <= set(shown)
    # Equal steps of the normal deviate are equal steps on paper.
    rates = [0.158655, 0.5, 0.841345]
    places = display.ax_.transData.transform([(r, r) for r in rates])
    np.testing.assert_allclose(np.diff(places[:, 0]), np.diff(places[:, 0])[0], rtol=1e-4)
    np.testing.assert_allclose(deviate([0.5, 0.841345]), [0, 1], atol=1e-5)
    assert np.isfinite(deviate([0, 1])).all()


def test_det_axes_show_the_operating_points_of_the_result():
    scores = be.simulate(30, 4, within=1.2, random_state=1)
    ds = be.verification(scores, far_targets=[0.01, 0.3], frr_targets=[0.01])
    assert ds.frr_at_far[0] > 0.7 and ds.far_at_frr[0] > 0.5
    ax = plot.det(ds).ax_
    for x, y in ((0.01, float(ds.frr_at_far[0])), (float(ds.far_at_frr[0]), 0.01)):
        assert ax.get_xlim()[0] < x < ax.get_xlim()[1] and ax.get_ylim()[0] < y < ax.get_ylim()[1]
    usual = be.verification(scores)  # 0.01 % is not supported by 6,960 pairs: 0 false accepts
    assert usual.frr_at_far[1] < plot.det(usual).ax_.get_ylim()[1] < usual.frr_at_far[3]
    searched = be.open_set(scores, far_targets=[0.1])
    assert 1 - searched.dir_at_far[0, 0] < plot.det(searched).ax_.get_ylim()[1]


@pytest.mark.slow
def test_det_ticks_of_small_axes_keep_apart():
    figure, grid = plt.subplots(2, 2)
    ds = be.verification(be.simulate(30, 4, within=1.6, random_state=1), far_targets=[0.001])
    display = plot.det(ds, grid[0, 1])
    figure.canvas.draw()
    for axis, place in ((display.ax_.xaxis, "x"), (display.ax_.yaxis, "y")):
        boxes = [x.get_window_extent() for x in axis.get_ticklabels()]
        ends = sorted((getattr(b, f"{place}0"), getattr(b, f"{place}1")) for b in boxes)
        assert all(last < first for (_, last), (first, _) in itertools.pairwise(ends))


@pytest.mark.parametrize("function", [plot.roc, plot.dir_far])
@pytest.mark.cases(1)
def test_a_logarithmic_axis_by_matplotlib_shows_the_curve(tree, function):
    ax = function(tree).ax_
    assert ax.get_xlim() == pytest.approx((-0.015, 1.015))
    ax.set_xscale("log")
    ax.figure.canvas.draw()
    low, high = ax.get_xlim()
    assert 1e-6 < low < 0.05 < 1 <= high < 2
    assert ax.get_window_extent().height > 0.4 * ax.figure.bbox.height


@pytest.mark.slow
@pytest.mark.parametrize("size", [(6.4, 4.8), (9, 8)])
def test_titles_in_a_grid_without_a_layout_leave_other_axes_free(tree, size):
    figure, grid = plt.subplots(2, 2, figsize=size)
    for function, ax in zip(
        (plot.roc, plot.det, plot.error_rates, plot.dir_far), grid.flat, strict=True
    ):
        one = tree["verification/single"] if function is plot.error_rates else tree
        function(one, ax)
    figure.canvas.draw()
    for k in range(2):
        assert grid[1, k].get_tightbbox().y1 < grid[0, k].get_tightbbox().y0 + 1
        assert grid[0, k].get_tightbbox().y1 <= figure.bbox.y1 + 1
    chosen, grid = plt.subplots(2, 2, gridspec_kw={"hspace": 0.1})
    plot.roc(tree, grid[1, 0])
    assert chosen.subplotpars.hspace == plt.rcParams["figure.subplot.hspace"]
    assert grid[1, 0].get_gridspec().hspace == 0.1


def test_det_labels_give_the_eer(single):
    display = plot.det(single)
    assert names_of(display) == [f"EER {100 * float(single.eer):.2f} %"]
    without = plot.det(single.drop_vars(["eer", "far_at_eer", "frr_at_eer"]))
    assert without.legend_ is None


def test_a_system_without_errors_is_said_to_be_off_the_det():
    perfect = be.verification(be.Scores([[0, 1, 9], [1, 0, 9], [9, 9, 0]], ["a", "a", "b"]))
    assert "both rates are smaller" in words(draw(plot.det(perfect))).lower()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.cases(1)
def test_det_draws_no_band_where_it_draws_no_curve(kind):
    scores = be.simulate(30, 4, within=0.4, random_state=5)
    if kind == "similarity":
        scores = be.Scores(-scores.values, scores.probe_labels, kind=kind)
    tree = be.evaluate(
        scores, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
    )
    single, multi = (tree[f"verification/{x}"].to_dataset() for x in ("single", "multi"))
    assert multi.eer == 0 and single.eer > 0 and (single.frr == 0).any()
    display = draw(plot.det(tree))
    assert list(display.lines_) == ["single-template", "multi-template"]
    assert list(display.bands_) == ["single-template"]
    assert "multi-template: off the axes" in words(display)
    (path,) = display.bands_["single-template"].get_paths()
    last = single.far.values[single.frr.values == 0].min()
    assert path.vertices[:, 0].max() == last < 1
    alone = draw(plot.det(multi))
    assert not alone.bands_ and "bands:" not in words(alone)


def test_error_rates_mark_the_eer(single):
    display = plot.error_rates(single)
    (text,) = (name for name in names_of(display) if "EER" in name)
    assert f"{100 * float(single.eer):.2f} %" in text
    assert f"{float(single.eer_threshold):.4g}" in text
    points = [line.get_xydata().tolist() for line in display.ax_.lines]
    assert [[float(single.eer_threshold), float(single.eer)]] in points
    without = plot.error_rates(single.drop_vars(["eer", "eer_threshold"]))
    assert "EER" not in "".join(names_of(without))


@pytest.mark.slow
@pytest.mark.parametrize("log", [False, True])
def test_axes_say_what_they_show(tree, open_set, log):
    message = words(plot.roc(tree, log=log))
    for word in ("False accept rate, FAR", "Genuine accept rate, GAR", "ISO: FMR", "1 - FNMR"):
        assert word in message
    assert "180 genuine and 3,360 impostor attempts" in message
    assert "60 templates of 15 subjects" in message
    message = words(plot.dir_far(open_set, log=log))
    for word in ("Detection and identification rate, DIR", "ISO: FPIR(N, T)", "TPIR(N, R, T)"):
        assert word in message
    assert "N = 15 for genuine, 14 for impostor attempts" in message
    assert "the rank counts templates; pessimistic ties" in message


def test_error_rates_on_a_logarithmic_axis(single):
    display = draw(plot.error_rates(single, log=True))
    assert display.ax_.get_yscale() == "log"
    assert all((line.get_ydata() > 0).all() for line in display.lines_.values())


@pytest.mark.slow
def test_cmc_ranks_are_whole_and_logarithmic_when_many(tree):
    closed = tree["closed_set"].to_dataset()
    display = draw(plot.cmc(closed, max_rank=10))
    assert display.ax_.get_xscale() == "linear"
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == [str(k) for k in range(1, 11)]
    (line,) = display.lines_.values()
    np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 11))
    assert plot.cmc(closed).ax_.get_xscale() == "linear"
    long = be.closed_set(be.simulate(60, 3))
    assert plot.cmc(long, max_rank=100).ax_.get_xscale() == "log"
    assert plot.cmc(long, max_rank=100, log=False).ax_.get_xscale() == "linear"
    last = long.sizes["rank"]
    end = max(10, style.last_change([long.cms], last))
    assert plot.cmc(long).ax_.get_xlim()[1] == pytest.approx(end, rel=0.05) and end < 100
    assert f"ranks {end + 1} to {last} are left out: nothing changes" in words(plot.cmc(long))
    with pytest.raises(be.DataError, match="max_rank is 0; expected an integer >= 1"):
        plot.cmc(closed, max_rank=0)


@pytest.mark.parametrize(
    ("low", "expected"),
    [(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (0.76, 0.7), (0.975, 0.97), (0.9999, 0.999)],
)
def test_limits_of_rates(low, expected):
    start, end = style.rate_limits(low)
    assert start <= low and end > 1
    assert start == pytest.approx(expected, abs=0.03 * (1 - expected) + 1e-3)


@pytest.mark.slow
def test_powers_of_ten_have_one_notation():
    assert [style.rate_text(10.0**e) for e in (0, -1, -2, -3)] == ["10⁰", "10⁻¹", "10⁻²", "10⁻³"]
    shown = draw(plot.det(be.verification(be.simulate(60, 6)))).ax_.get_xticklabels()
    assert not any("⁻" in t.get_text() or "e" in t.get_text() for t in shown)


@pytest.mark.parametrize(
    ("curves", "last", "given", "shown"),
    [
        ([[0.5, 0.8, 1.0] + [1.0] * 97], 100, None, 10),
        ([[0.5] * 19 + [0.9] * 81, [0.1, 0.2] + [1.0] * 98], 100, None, 20),
        ([[0.5, 0.8, 1.0] + [1.0] * 97], 100, 50, 50),
        ([[0.5, 0.8]], 2, None, 2),
        ([], 40, None, 10),
        ([[0.5] * 15, [0.5] * 40], 40, None, 15),
        ([[0.5] * 15 + [np.nan] * 25], 40, None, 15),
        ([[0.5] * 4, [0.5] * 40], 40, None, 10),
        ([[0.5] * 11], 11, None, 11),
    ],
)
def test_rank_axes_end_where_nothing_changes(curves, last, given, shown):
    result, message = style.ranks_shown(curves, last, given)
    assert result == shown
    assert bool(message) == (shown < last and given is None)


def test_nothing_is_said_about_ranks_that_a_result_does_not_have():
    """CMS is 0.995 from rank 12, and 1 from rank 26."""
    faces = be.datasets.faces("eigenfaces")
    whole, cut = (be.closed_set(faces, max_rank=most) for most in (None, 20))
    assert whole.cms.sel(rank=25) < whole.cms.sel(rank=26)
    assert "ranks 13 to 20 are left out: nothing changes there" in words(plot.cmc(cut))
    assert "ranks 27 to 199 are left out: nothing changes there" in words(plot.cmc(whole))
    both = plot.cmc({"whole": whole, "cut": cut})
    assert "ranks 27 to 199 are left out" in words(both)
    tail = be.closed_set(faces, max_rank=30)
    both = plot.cmc({"a": tail, "b": be.closed_set(be.datasets.faces("deep"))})
    assert "ranks 31 to 199 are left out" in words(both)


@pytest.mark.slow
def test_genuine_and_impostor_have_one_colour_each(single, scores, tree):
    genuine, impostor = (style.Style.colour(x) for x in (style.GENUINE, style.IMPOSTOR))
    rates = plot.error_rates(single).lines_
    ratios = be.calibration(be.Calibrator().fit_transform(scores))
    tippett = plot.tippett(ratios).lines_
    result = [rates["FRR"], tippett["genuine"], rates["FAR"], tippett["impostor"]]
    assert [line.get_color() for line in result] == [genuine, genuine, impostor, impostor]
    outlines = plot.score_distributions(scores).legend_.legend_handles
    assert [x.get_color()[:3] for x in outlines] == [genuine, impostor]


# ------------------------------------------------------------------------- several systems


@pytest.mark.slow
def test_names_of_several_systems(systems, tree, single):
    assert list(plot.roc(tree).curves) == ["single-template", "multi-template"]
    assert list(plot.roc(systems).curves) == [
        "good, single-template", "good, multi-template", "bad, single-template",
        "bad, multi-template",
    ]  # fmt: skip
    assert list(plot.cmc(systems).curves) == ["good", "bad"]
    assert list(plot.roc({"a": single, "b": single}).curves) == ["a", "b"]
    assert list(plot.roc(single).curves) == [""]
    nodes = {name: systems[name]["verification/multi"] for name in ("good", "bad")}
    assert list(plot.det(nodes).curves) == ["good", "bad"]
    assert list(plot.dir_far(systems, ranks=[2]).curves) == ["good, rank 2", "bad, rank 2"]
    assert list(plot.error_rates({"a": single, "b": single}).curves) == [
        "a FAR", "a FRR", "b FAR", "b FRR",
    ]  # fmt: skip


def test_systems_differ_in_colour_and_variants_in_markers(systems):
    """A dash looks like a step: curves in steps are solid."""
    lines = plot.roc(systems).lines_
    colours = {name: line.get_color() for name, line in lines.items()}
    marks = {name: line.get_marker() for name, line in lines.items()}
    good, good_multi, bad, bad_multi = lines
    assert colours[good] == colours[good_multi] != colours[bad] == colours[bad_multi]
    assert marks[good] == marks[bad] != marks[good_multi] == marks[bad_multi]
    assert {line.get_linestyle() for line in lines.values()} == {"-"}


def test_no_two_of_many_curves_look_the_same(single):
    display = plot.roc({f"s{i}": single for i in range(14)})
    lines = display.lines_.values()
    assert len({line.get_color() for line in lines}) == 14
    curves = display.curves.values()
    assert len({(c.hue % 7, str(style.Style.dash(c.dash))) for c in curves}) == 14


def test_every_colour_can_be_read():
    for colour in style.PALETTE:
        assert 1.05 / (style.luminance(style.Style.ink(colour)) + 0.05) >= 4.5
    assert style.Style.ink("#000000") == to_rgb("black")


def test_a_legend_names_all_systems_below_the_axes(single):
    names = ["one", "same", "_hidden", "a system whose name is " + "very " * 9 + "long"]
    display = draw(plot.roc(dict.fromkeys(names, single), log=True))
    assert [" ".join(name.split()) for name in names_of(display)] == names
    box = display.legend_.get_window_extent()
    assert box.y1 < display.ax_.xaxis.get_tightbbox().y0
    assert box.x0 >= 0 and box.x1 <= display.figure_.bbox.x1 and box.y0 >= 0


def test_axes_without_a_layout_have_the_legend_inside(single):
    _, (left, right) = plt.subplots(1, 2)
    plot.roc({"one": single}, left)
    again = draw(plot.roc({"two": single}, left))
    assert names_of(again) == ["one", "two"]
    box, frame = again.legend_.get_window_extent(), left.get_window_extent()
    assert frame.x0 <= box.x0 and box.x1 <= frame.x1
    assert right.get_legend() is None


def test_thresholds_of_different_kinds_share_no_axis(single, similarity, scores):
    other = be.verification(similarity)
    with pytest.raises(be.DataError, match="'a' holds distances, 'b' holds similarities"):
        plot.error_rates({"a": single, "b": other})
    with pytest.raises(be.DataError, match="no common axis"):
        plot.score_distributions({"a": scores, "b": similarity})
    draw(plot.roc({"a": single, "b": other}, log=True))


# ------------------------------------------------------------------------- nothing to draw


@pytest.mark.slow
@pytest.mark.parametrize("name", ["roc", "det", "dir_far"])
@pytest.mark.cases(1)
def test_no_impostor_is_said_on_the_axes(alone, name):
    display = draw(getattr(plot, name)(be.evaluate(alone)))
    assert display.lines_ == {}
    assert "No impostor attempt: FAR is not defined" in words(display)
    if name != "det":
        draw(getattr(plot, name)(be.evaluate(alone), log=True))


@pytest.mark.slow
def test_no_genuine_attempt_is_said_on_the_axes():
    tree = be.evaluate(be.Scores([[0, 1], [1, 0]], ["ann", "bob"]))
    for function, what in (
        (plot.roc, "No genuine attempt: GAR"), (plot.det, "No genuine attempt: FRR"),
        (plot.dir_far, "No genuine attempt: DIR"),
        (plot.cmc, "No probe with a mate: CMS"),
    ):  # fmt: skip
        assert what in words(draw(function(tree)))


@pytest.mark.slow
def test_what_is_defined_is_drawn(alone, scores):
    display = draw(plot.error_rates(be.verification(alone)))
    assert list(display.lines_) == ["FRR"]
    assert "FAR: no impostor attempt: FAR is not defined" in words(display)
    both = {"alone": be.verification(alone), "all": be.verification(scores)}
    display = draw(plot.roc(both, log=True))
    assert list(display.lines_) == ["all"]
    assert "alone: no impostor attempt" in words(display)


def test_scores_without_a_finite_threshold():
    scores = be.Scores([[0, np.inf], [np.inf, 0]], ["ann", "ann"])
    tree = be.evaluate(scores)
    assert "no finite threshold" in words(draw(plot.error_rates(tree)))
    display = draw(plot.score_distributions(scores))
    assert "Genuine scores: all 2 are infinite" in words(display)


# ------------------------------------------------------------------- genuine and impostor scores


def test_more_thresholds_than_can_be_told_apart_are_refused(scores):
    with pytest.raises(be.DataError, match="thresholds are 5,000 different numbers.*at most 30"):
        plot.score_distributions(scores, thresholds=np.arange(5000.0).reshape(50, 100))
    plot.score_distributions(scores, thresholds=np.tile(np.arange(30.0), 200))


def brute(histogram, values, kind):
    """Count values into the bins of a histogram, one by one."""
    counts = np.zeros(len(histogram.counts), dtype=int)
    edges = histogram.edges
    for v in values:
        for b in range(len(counts)):
            low, high = edges[b], edges[b + 1]
            if (low <= v < high) if kind == "similarity" else (low < v <= high):
                counts[b] += 1
    # An end bin holds its own end as well.
    end = -1 if kind == "similarity" else 0
    counts[end] += (values == edges[end]).sum()
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_histograms_count_exactly(kind, similarity, scores):
    given = similarity if kind == "similarity" else scores
    same = given.probe_labels[:, None] == given.gallery_labels
    off = ~np.eye(len(same), dtype=bool)
    values = np.asarray(given.values, dtype=np.float64)
    display = plot.score_distributions(given)
    for histogram, mine in (
        (display.genuine[""], values[same & off]), (display.impostor[""], values[~same]),
    ):  # fmt: skip
        assert histogram.total == len(mine) == histogram.counts.sum()
        np.testing.assert_array_equal(histogram.counts, brute(histogram, mine, kind))
        assert (histogram.density * np.diff(histogram.edges)).sum() == pytest.approx(1)
    assert display.kind == kind
    assert ("larger is closer" if kind == "similarity" else "smaller is closer") in words(display)


@pytest.mark.parametrize(
    ("kind", "step"),
    [("distance", 3), ("similarity", 0.25), ("distance", 0.25), ("similarity", 0.3)],
)
def test_bins_of_scores_in_steps_hold_as_many_steps_as_they_are_wide(kind, step):
    rng = np.random.default_rng(5)
    labels = np.repeat(np.arange(40), 4)
    genuine = labels[:, None] == labels
    steps = rng.integers(0, 70, (160, 160)) + np.where(genuine, 0, 10)
    steps = np.triu(steps) + np.triu(steps, 1).T
    display = plot.score_distributions(be.Scores(steps * step, labels, kind=kind))
    off = ~np.eye(160, dtype=bool)
    for histogram, mine in (
        (display.genuine[""], steps[genuine & off]), (display.impostor[""], steps[~genuine]),
    ):  # fmt: skip
        ends = histogram.edges / step
        np.testing.assert_allclose(ends % 1, 0.5, atol=1e-6)  # between two scores
        assert (ends[0], ends[-1]) == pytest.approx((mine.min() - 0.5, mine.max() + 0.5))
        held = np.rint(np.diff(ends))
        assert len(held) > 5 and np.ptp(held) <= 1
        expected = [((low < mine) & (mine < high)).sum() for low, high in itertools.pairwise(ends)]
        assert histogram.counts.tolist() == expected and histogram.unplaced == 0


@pytest.mark.parametrize(
    ("value", "form"),
    [(1e6, "distance"), (-1e6, "similarity"), (1e300, "pairs"), (-1e6, "streamed")],
)
@pytest.mark.cases(1)
def test_scores_far_from_all_others_leave_the_rest_its_bins(value, form):
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(40), 4)
    same = labels[:, None] == labels
    values = np.clip(rng.normal(np.where(same, 0.2, 0.6), 0.08), 0.01, 0.99)
    far = rng.random(values.shape) < 0.002
    values[far] = value
    off = ~np.eye(160, dtype=bool)
    if form == "pairs":
        scores = be.Scores.from_pairs(values[off], same[off])
    elif form == "streamed":
        scores = streaming(
            np.arange(160.0)[:, None], labels,
            kind="distance",
            metric=lambda a, b: values[np.ix_(a[:, 0].astype(int), b[:, 0].astype(int))],
        )  # fmt: skip
        assert scores._streams
    else:
        kind = "similarity" if form == "similarity" else "distance"
        scores = be.Scores(values, labels, kind=kind)
    display = draw(plot.score_distributions(scores))
    for histogram, of_class in ((display.genuine[""], same & off), (display.impostor[""], ~same)):
        rest = values[of_class & ~far]
        assert histogram.unplaced == (of_class & far).sum()
        assert histogram.counts.sum() == len(rest)
        low, high = histogram.edges[[0, -1]]
        assert rest.min() - 0.01 <= low <= rest.min() and rest.max() <= high <= rest.max() + 0.01
        assert len(histogram.counts) >= 8
    assert display.ax_.get_xlim()[0] >= 0 and display.ax_.get_xlim()[1] <= 1
    assert "scores lie off the axis (infinite, or far from all others)" in words(display)


@pytest.mark.slow
def test_sentinels_lie_off_the_axes_which_say_so():
    rng = np.random.default_rng(6)
    labels = np.repeat(np.arange(20), 4)
    genuine = labels[:, None] == labels
    values = rng.normal(np.where(genuine, 10, 20), 3)
    values[0, 1], values[0, 5] = 1e6, 1e6
    result = be.Scores(values, labels)
    display = draw(plot.score_distributions(result))
    assert (display.genuine[""].unplaced, display.impostor[""].unplaced) == (1, 1)
    assert display.genuine[""].edges[-1] < 100
    assert "1 genuine and 1 impostor scores lie off the axis" in words(display)
    rates = draw(plot.error_rates(be.verification(result, thresholds=[*range(40), 1e6])))
    assert rates.ax_.get_xlim()[1] < 100
    assert "off the axis: thresholds up to 1e+06" in words(rates)


@pytest.mark.slow
def test_distributions_of_pairs_and_of_several(scores, single):
    pairs = be.Scores.from_pairs([0.1, 0.4, 0.2, 0.9], [1, 1, 0, 0])
    assert plot.score_distributions(pairs).genuine[""].total == 2
    threshold = float(single.eer_threshold)
    both = {"a": scores, "b": scores}
    display = draw(plot.score_distributions(both, thresholds={"t": threshold}))
    assert names_of(display) == [
        "a genuine", "a impostor", "b genuine", "b impostor", "t",
    ]  # fmt: skip
    draw(plot.score_distributions(scores, thresholds=[4, 5.0], log=True))
    for wrong, message in (
        (single, "got Dataset; expected Scores"), ({}, "empty mapping"),
    ):  # fmt: skip
        with pytest.raises(be.DataError, match=message):
            plot.score_distributions(wrong)


@pytest.mark.parametrize(
    "values",
    [np.full((4, 4), 0.5), np.zeros((4, 4)), np.arange(16).reshape(4, 4) * 1e-300],
    ids=["equal", "zero", "tiny"],
)
@pytest.mark.cases(1)
def test_distributions_of_odd_scores(values):
    display = draw(plot.score_distributions(be.Scores(values, ["a", "a", "b", "b"])))
    assert display.genuine[""].counts.sum() == 4
    assert display.impostor[""].counts.sum() == 8
    draw(plot.score_distributions(be.Scores(values, ["a", "a", "b", "b"]), log=True))


def test_infinite_scores_are_counted_and_reported(scores):
    values = np.array(scores.values)
    values[0, 5:8] = np.inf
    display = plot.score_distributions(be.Scores(values, scores.probe_labels))
    assert display.impostor[""].unplaced == 3
    assert "3 impostor scores lie off the axis (infinite, or far from all others)" in words(display)


# ---------------------------------------------------------------------------------- matrix


@pytest.mark.slow
def test_matrix_is_sorted_by_subject_without_the_diagonal():
    values = np.arange(16.0).reshape(4, 4)
    display = plot.matrix(be.Scores(values, ["b", "a", "b", "a"]))
    order = [1, 3, 0, 2]
    expected = values[np.ix_(order, order)]
    np.fill_diagonal(expected, np.nan)
    np.testing.assert_array_equal(display.rows, order)
    np.testing.assert_array_equal(display.image, expected)
    np.testing.assert_array_equal(display.state, np.eye(4))
    draw(display)
    assert "not compared" in words(display)
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == ["a", "b"]


@pytest.mark.parametrize(("probes", "gallery"), [(30, 5), (5, 30), (5, 6)])
@pytest.mark.cases(1)
def test_both_axes_of_a_matrix_are_named_or_both_counted(probes, gallery):
    labels = np.arange(probes), np.repeat(np.arange(gallery), 4)
    display = draw(plot.matrix(be.Scores(np.ones((probes, 4 * gallery)), *labels)))
    for axis, subjects in ((display.ax_.xaxis, gallery), (display.ax_.yaxis, probes)):
        shown = [t.get_text() for t in axis.get_ticklabels()]
        named = max(probes, gallery) <= 24
        assert (shown == [str(i) for i in range(subjects)]) == named


def test_matrix_reduces_to_means_of_finite_scores():
    rng = np.random.default_rng(5)
    values = rng.random((23, 17))
    values[3, :] = np.nan
    values[:, 5] = np.inf
    mask = np.ones((23, 17), dtype=np.uint8)
    mask[10:14, 8:] = 0
    probe, gallery = rng.integers(0, 6, 23), rng.integers(0, 4, 17)
    mask[mask > 0] += (probe[:, None] == gallery)[mask > 0].astype(np.uint8)
    scores = be.Scores(values, probe, gallery, mask=mask, nan="exclude")
    display = plot.matrix(scores, pixels=7)
    assert display.image.shape == (7, 7)
    # Subjects that are not enrolled come last.
    enrolled = np.isin(probe[display.rows], gallery)
    assert (np.diff(enrolled.astype(int)) <= 0).all()
    v = np.where(mask == 0, -1.0, values)[np.ix_(display.rows, display.columns)]
    for i, j in np.ndindex(7, 7):
        rows = slice(*display.row_edges[i : i + 2])
        cell = v[rows, slice(*display.column_edges[j : j + 2])]
        good = cell[np.isfinite(cell) & (cell >= 0)]
        if len(good):
            assert display.image[i, j] == pytest.approx(good.mean())
            assert display.state[i, j] == 0
        else:
            worst = 3 if np.isinf(cell).any() else 2 if np.isnan(cell).any() else 1
            assert display.state[i, j] == worst
    assert "each pixel: mean of about 3.29 × 2.43 comparisons" in words(draw(display))


@pytest.mark.slow
def test_matrix_of_other_kinds_of_scores(similarity, tmp_path):
    assert plot.matrix(similarity).image_.get_cmap().name == "viridis_r"
    order = be.Scores([[1, 2, 3], [2, 1, 3]], ["a", "b"], ["a", "b", "c"], kind="order")
    draw(plot.matrix(order))
    unlabelled = be.Scores(np.ones((3, 2)), mask=np.array([[1, 2], [2, 1], [0, 0]], dtype=np.uint8))
    draw(plot.matrix(unlabelled))
    failed = be.Scores(np.full((2, 2), np.nan), ["a", "b"], nan="reject")
    assert "NaN: comparison failed" in words(draw(plot.matrix(failed)))
    with pytest.raises(be.ProtocolError, match="pairs"):
        plot.matrix(be.Scores.from_pairs([0.1, 0.2], [1, 0]))
    with pytest.raises(be.DataError, match="expected Scores"):
        plot.matrix(np.eye(3))


@pytest.mark.slow
def test_large_matrices_need_little_memory(tmp_path):
    values = np.lib.format.open_memmap(tmp_path / "m.npy", "w+", np.float32, (6000, 3000))
    values[:] = np.random.default_rng(0).random((1, 3000), dtype=np.float32)
    scores = be.Scores(values, np.arange(6000) % 1500, np.arange(3000) % 1500)
    small = be.Scores(values[:30, :30], np.arange(30) % 5, np.arange(30) % 5)
    for function in (plot.matrix, plot.score_distributions):
        function(small)  # compiled and imported before memory is watched
        tracemalloc.start()
        function(scores)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 0.7 * values.nbytes, (function, peak / values.nbytes)


# -------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("name", "node", "message"),
    [
        ("roc", "closed_set", "draws far and gar of be.verification, but .* be.plot.cmc draws it"),
        ("roc", "open_set", "has no gar; be.plot.det"),
        ("cmc", "verification/single", "has no cms; be.plot.roc"),
        ("dir_far", "closed_set", "has no far and no dir"),
        ("dir_far", "verification/multi", "has no dir; be.plot.roc, det"),
    ],
)
def test_a_result_of_another_task_is_refused(tree, name, node, message):
    with pytest.raises(be.DataError, match=message):
        getattr(plot, name)(tree[node].to_dataset())
    with pytest.raises(be.DataError, match="no node of the tree"):
        getattr(plot, name)(tree[node])


def test_other_things_are_refused(single, open_set):
    with pytest.raises(be.DataError, match="got list; expected a result of be.verification"):
        plot.roc([single])
    with pytest.raises(be.DataError, match="empty mapping"):
        plot.roc({})
    folds = xr.concat([single, single], "fold")
    with pytest.raises(be.DataError, match="choose a fold first|one threshold for each fold"):
        plot.roc(folds)
    with pytest.raises(be.DataError, match="rank 999 is not in the result.*max_rank=999"):
        plot.dir_far(open_set, ranks=(1, 999))
    with pytest.raises(AttributeError, match="rocc"):
        _ = plot.rocc


def test_default_ranks_are_those_that_are_there(scores):
    assert list(plot.dir_far(be.open_set(scores, max_rank=4)).curves) == ["rank 1"]


# --------------------------------------------------------------------------- axes and files


@pytest.mark.parametrize("name", [*CURVES, "score_distributions", "matrix"])
@pytest.mark.cases(1)
def test_a_given_axis_is_used_and_nothing_else(name, tree, scores):
    figure = Figure(layout="constrained")
    ax = figure.add_subplot()
    data = scores if name in ("score_distributions", "matrix") else tree
    display = getattr(plot, name)(data, ax)
    assert display.ax_ is ax and display.figure_ is figure
    assert plt.get_fignums() == []
    draw(display)


@pytest.mark.slow
def test_a_subfigure_is_used(tree, tmp_path):
    figure = plt.figure(layout="constrained")
    left, right = figure.subfigures(1, 2)
    plot.roc(tree, left.subplots())
    display = plot.cmc(tree, right.subplots())
    assert display.figure_ is figure
    assert plot.save(display, tmp_path / "both.png").stat().st_size > 1000


def test_a_name_labels_a_single_system(single, open_set, systems, scores):
    assert names_of(draw(plot.roc(single, name="mine"))) == ["mine"]
    display = draw(plot.dir_far(open_set, ranks=(1, 2), name="mine"))
    assert names_of(display) == ["mine, rank 1", "mine, rank 2"]
    assert "mine genuine" in names_of(plot.score_distributions(scores, name="mine"))
    with pytest.raises(be.DataError, match="name is 'mine', but 4 systems are drawn"):
        plot.roc(systems, name="mine")


def test_style_reaches_the_lines(tree):
    for line in plot.roc(tree, linewidth=3, alpha=0.5).lines_.values():
        assert line.get_linewidth() == 3 and line.get_alpha() == 0.5


@pytest.mark.slow
def test_axes_of_a_figure_of_many_keep_their_size(systems):
    figure, grid = plt.subplots(2, 2, figsize=(8, 6), layout="constrained")
    plot.roc(systems, grid[0, 0])
    plot.det(systems, grid[0, 1])
    plot.dir_far(systems["good"], grid[1, 0])
    plot.cmc(systems, grid[1, 1])
    figure.canvas.draw()
    for ax in grid.flat:
        assert ax.get_position().height > 0.18 and ax.get_position().width > 0.15


MAGIC = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", MAGIC)
@pytest.mark.cases(1)
def test_files(tree, tmp_path, kind):
    first, second = tmp_path / f"a.{kind}", tmp_path / f"b.{kind}"
    assert plot.save(plot.roc(tree), first) == first
    raw = first.read_bytes()
    assert raw.startswith(MAGIC[kind]) and len(raw) > 4000
    plot.save(plot.roc(tree).figure_, str(second))
    assert second.read_bytes() == raw  # neither a date nor a random number in it
    assert sorted(p.name for p in tmp_path.iterdir()) == [first.name, second.name]
    if kind == "svg":
        text = first.read_text()
        for words_ in ("False accept rate, FAR", "single-template", "ISO: FMR"):
            assert f">{words_}</text>" in text


def test_a_file_appears_whole_or_not_at_all(tree, tmp_path, monkeypatch):
    path = tmp_path / "roc.png"
    path.write_bytes(b"before")

    def fails(self, file, **_):
        file.write(b"half")
        raise OSError("disk full")

    display = plot.roc(tree)
    monkeypatch.setattr(Figure, "savefig", fails)
    with pytest.raises(OSError, match="disk full"):
        plot.save(display, path)
    assert path.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["roc.png"]


def test_files_that_cannot_be_written(tree, tmp_path):
    display = plot.roc(tree)
    with pytest.raises(be.DataError, match="'png', 'pdf', 'svg'"):
        plot.save(display, tmp_path / "roc.gif")
    with pytest.raises(be.DataError, match="no folder"):
        plot.save(display, tmp_path / "none" / "roc.png")
    with pytest.raises(be.DataError, match="dict has no figure"):
        plot.save({}, tmp_path / "roc.png")


@pytest.mark.parametrize("display", DISPLAYS.values(), ids=DISPLAYS)
@pytest.mark.cases(1)
def test_every_display_has_the_same_two_methods(display):
    taken = next(iter(inspect.signature(display.from_results).parameters))
    parameters = inspect.signature(display.plot).parameters
    assert (
        taken in ("data", "dataset")
        and list(parameters)[:2] == ["self", "ax"]
        and parameters["name"].kind is inspect.Parameter.KEYWORD_ONLY
        and list(parameters)[-1] == "style"
    ), (
        f"{display.__name__} has other methods. CONTRIBUTING.md, 'Rules', Plots: a display has "
        "from_results(data) and plot(ax=None, *, name=None, **style)."
    )


@pytest.mark.slow
def test_save_all_writes_what_there_is(tree, scores, systems, tmp_path):
    written = plot.save_all(tree, scores, tmp_path / "plots")
    assert all(path.stat().st_size > 2000 for path in written)
    assert [path.name for path in written] == [
        "roc.png", "roc-log.png", "det.png", "error-rates-single-template.png",
        "error-rates-multi-template.png", "dir-far.png", "dir-far-log.png",
        "cmc.png", "score-distributions.png", "matrix.png",
    ]  # fmt: skip
    assert plt.get_fignums() == []
    few = systems.filter(lambda node: "cms" in node.data_vars or "single" in node.path)
    names = [p.name for p in plot.save_all(few, None, tmp_path / "systems", ("png", "svg"))]
    assert names == [
        f"{name}.{kind}"
        for name in ("roc", "roc-log", "det", "error-rates-good", "error-rates-bad", "cmc")
        for kind in ("png", "svg")
    ]


@pytest.mark.slow
def test_save_all_of_single_tasks(tree, single, tmp_path):
    closed = {"one": tree["closed_set"], "two": tree["closed_set"].to_dataset()}
    assert [p.name for p in plot.save_all(closed, None, tmp_path)] == ["cmc.png"]
    pairs = be.Scores.from_pairs([0.1, 0.4, 0.2, 0.9], [1, 1, 0, 0])
    names = [p.name for p in plot.save_all(be.evaluate(pairs), {"p/q": pairs}, tmp_path)]
    assert names == [
        "roc.png", "roc-log.png", "det.png", "error-rates.png", "score-distributions-p-q.png",
    ]  # fmt: skip
    order = be.Scores([[1, 2], [2, 1]], ["a", "a"], kind="order")
    assert [p.name for p in plot.save_all(be.closed_set(order), order, tmp_path)] == [
        "cmc.png", "matrix.png",
    ]  # fmt: skip
    with pytest.raises(be.DataError, match="'gif'; expected one of 'png'"):
        plot.save_all(single, None, tmp_path, formats=("gif",))
    with pytest.raises(be.DataError, match="is a file"):
        plot.save_all(single, None, tmp_path / "cmc.png")
    with pytest.raises(be.DataError, match="expected Scores, a mapping, or None"):
        plot.save_all(single, single.far, tmp_path)


@pytest.mark.slow
def test_precision_recall_draws_the_levels_of_each_system(tmp_path):
    values = np.random.default_rng(0).random((20, 60))
    people, gallery = np.arange(20) % 8, np.arange(60) % 8
    near = be.Scores(values - 0.4 * (people[:, None] == gallery), people, gallery)
    options = {"interval": "analytic", "max_rank": 5}
    result = {
        "near": be.reid(near, "viper", **options),
        "far": be.reid(be.Scores(values, people, gallery), "viper", **options),
    }
    display = plot.precision_recall(result)
    for name, ds in result.items():
        np.testing.assert_array_equal(display.lines_[name].get_xdata(), ds.recall_level)
        np.testing.assert_array_equal(
            display.lines_[name].get_ydata(), ds.interpolated_precision.values
        )
        assert name in display.bands_
    assert display.ax_.get_xlabel() == "Recall"
    names = [p.name for p in plot.save_all(result, None, tmp_path)]
    assert names == ["cmc.png", "precision-recall.png"]
    with pytest.raises(be.DataError, match="interpolated_precision"):
        plot.precision_recall(be.closed_set(near))


@pytest.mark.slow
def test_save_all_draws_what_single_functions_return(scores, tmp_path):
    sizes = be.gallery_size(scores, [2, 5], thresholds=4)
    galleries = be.partition.ProbeGallerySplit(1, n_repeats=3, random_state=0)
    means = be.repeat(scores, galleries, curves=True)["closed_set"].to_dataset()
    study = be.study_threshold(scores, "eer", folds=3, repeats=1)
    given = {"gallery": sizes, "mean": means, "study": study}
    assert [p.name for p in plot.save_all(given, None, tmp_path)] == [
        "repeated.png", "spread-mean.png", "gallery-size.png", "threshold_study-study.png",
    ]  # fmt: skip


def test_spread_draws_every_scalar_of_each_repeat(scores):
    experiment = be.partition.Experiment(0.5, gallery_templates=1, repeats=12, random_state=0)
    ds = crossed(scores, experiment, interval="quantile", far_targets=(0.1,))
    display = plot.spread(ds)
    expected = {
        "FAR (in %)": ds.far, "FRR (in %)": ds.frr, "HTER (in %)": ds.hter,
        "EER (in %)": ds.eer, "AUC": ds.auc,
        "FRR at FAR <= 10 % (in %)": ds.frr_at_far,
    }  # fmt: skip
    assert list(display.values) == list(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(display.values[name], values.values.ravel())
    ax = display.ax_
    assert [t.get_text() for t in ax.get_yticklabels()] == list(expected)
    texts = [text.get_text() for text in ax.texts]
    assert f"{100 * ds.eer_mean.item():.2f}" in texts
    assert f"[{100 * ds.frr_low.item():.2f}, {100 * ds.frr_high.item():.2f}]" in texts
    heights = sum(bar.get_height() > 0 for bar in ax.patches)
    assert heights >= len(expected)
    assert "12 repeats" in " ".join(texts) and "middle 95 %" in " ".join(texts)
    galleries = be.partition.ProbeGallerySplit(1, n_repeats=5, random_state=0)
    means = be.repeat(scores, galleries)["closed_set"]
    assert list(plot.spread(means).values) == [
        "CMS, rank 1 (in %)",
        "CMS, rank 5 (in %)",
        "CMS, rank 10 (in %)",
    ]


def test_every_plot_of_the_table_is_public():
    """Its function and its display are importable, and known to type checkers."""
    tree = ast.parse(Path(f"{plot.__file__}i").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    static = {alias.name for node in imports for alias in node.names}
    for name, display in DISPLAYS.items():
        assert {name, display.__name__} <= set(plot.__all__) & static
        assert getattr(plot, display.__name__) is display and callable(getattr(plot, name))
    assert {*DISPLAYS} == {*PLOTS}


@pytest.mark.slow
def test_matplotlib_waits_until_it_is_needed(root):
    program = (
        "import sys\nimport bioeval.plot\ndir(bioeval.plot)\n"
        "assert 'matplotlib' not in sys.modules\n"
        "for name in bioeval.plot.__all__:\n    getattr(bioeval.plot, name)\n"
        "assert 'matplotlib' in sys.modules\nassert 'matplotlib.pyplot' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", [*CURVES, "gallery_size", "threshold_study"])
@pytest.mark.cases(1)
def test_pictures_speak_the_words_of_their_data(name, scores, tree):
    """Either vocabulary; the other one's words are in small beside the axes alone."""
    data = {
        "gallery_size": lambda: be.gallery_size(scores, [2, 15]),
        "threshold_study": lambda: be.study_threshold(scores, "far=0.01", folds=3, repeats=1),
        "error_rates": lambda: tree["verification/single"],
    }.get(name, lambda: tree)()
    lecture, iso = {"FAR", "FRR", "GAR", "DIR", "CMS"}, {"FMR", "FNMR", "FPIR", "FNIR", "TPIR"}
    for terms, ours, theirs, beside in (
        ("lecture", lecture, iso, "ISO: "), ("iso", iso, lecture, "lecture: "),
    ):  # fmt: skip
        display = getattr(plot, name)(in_terms(data, terms))
        texts = [text.get_text() for text in display.figure_.findobj(mpl.text.Text)]
        message = set(re.findall(r"\w+", " ".join(t for t in texts if not t.startswith(beside))))
        aside = set(re.findall(r"\w+", " ".join(t for t in texts if t.startswith(beside))))
        assert message & ours and not message & theirs
        assert aside & theirs and not aside & (ours - theirs)


def test_curves_of_templates_that_are_alone_are_drawn_once():
    d = np.array([[1.0, 4, 6], [5, 1, 2], [3, 3, 2.5]])
    display = plot.roc(be.evaluate(be.Scores(d, list("abc"), list("abc"))))
    assert list(display.curves) == [""]
    assert "single- and multi-template" in display.ax_.get_title(loc="left")


def of_folds(seed, **options):
    scores = be.simulate(12, 3, within=0.9, random_state=seed)
    return be.cross_evaluate(scores, be.partition.SubjectKFold(3), **options)


@pytest.mark.parametrize("plot", [be.plot.roc, be.plot.det])
def test_folds_are_thin_lines_with_their_mean(plot):
    """At FAR targets in any order; of several systems each has its colour."""
    targets = [0.5, 0.05, 1, 0.2]
    result = {name: of_folds(i, far_targets=targets) for i, name in enumerate("ab")}
    display = plot(result)
    places = np.argsort(targets)
    assert list(display.lines_) == ["a", "b"]
    for name, ds in result.items():
        frr = ds.frr_at_far.values.reshape(3, 4)[:, places]
        mean, low, high = (
            ds.frr_at_far_summary.sel(statistic=x).values[places] for x in ("mean", "low", "high")
        )
        if plot is be.plot.roc:
            frr, mean, low, high = 1 - frr, 1 - mean, 1 - high, 1 - low
        line = display.lines_[name]
        np.testing.assert_array_equal(line.get_xdata(), np.sort(targets))
        np.testing.assert_allclose(line.get_ydata(), mean)
        curve = display.curves[name]
        np.testing.assert_allclose([curve.low, curve.high], [low, high])
        thin = [x for x in display.ax_.lines if x.get_color() == line.get_color() and x is not line]
        thin = [x.get_ydata() for x in thin if len(x.get_xdata()) == 4]
        np.testing.assert_allclose(thin, frr)
    assert "thin lines: 3 folds; bold: their mean" in words(display)


def test_partitions_are_thin_lines_with_their_mean():
    scores = be.simulate(12, 3, within=0.9, random_state=1)
    splitter = be.partition.ProbeGallerySplit(1, n_repeats=2, random_state=0)
    ds = be.repeat(scores, splitter, curves=True)["verification/single"].to_dataset()
    display = be.plot.roc(ds, log=True)
    assert len(display.ax_.lines) == 3
    np.testing.assert_array_equal(display.curves[""].x, ds.far_mean)
    np.testing.assert_array_equal(display.curves[""].y, 1 - ds.frr_mean)
    assert "thin lines: 2 partitions" in words(display)


def test_folds_of_a_card_are_drawn_by_template():
    tree = be.evaluate(be.simulate(12, 3, within=0.9, random_state=1), "course-kfold")
    assert list(be.plot.roc(tree).lines_) == ["single-template", "multi-template"]


def test_folds_without_targets_say_what_to_give():
    ds = of_folds(1)
    with pytest.raises(be.DataError, match=r"give far_targets= to be\.cross_evaluate"):
        be.plot.roc({"a": ds})
    for part in (ds.isel(repeat=0), ds.isel(repeat=0, fold=0)):
        with pytest.raises(be.DataError, match="give far_targets=|draws it over threshold"):
            be.plot.det(part)


def test_the_axes_of_a_det_hold_the_points_of_every_fold():
    scores = be.simulate(12, 4, within=0.9, random_state=1)
    folds = be.cross_evaluate(scores, be.partition.SubjectKFold(3), far_targets=[0.05, 0.3])
    top = be.plot.det(folds).ax_.get_ylim()[1]
    worst = folds.frr_at_far.max().item()
    assert 0.45 < worst <= top
