"""Thresholds on other data: folds and partitions, studies, and promises."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.base.errors import counted
from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.plot import plot_style
from bioeval.plot.display import Curve, Curves, Display, threshold_label
from bioeval.plot.plot_style import CURVE, THIN, Style, in_per_cent, note, styled, ticks_across
from bioeval.plot.systems import System, as_plot_text, pick
from bioeval.results.words import percent
from bioeval.showing.cells import threshold_of
from bioeval.showing.header import threshold_rule
from bioeval.showing.labels import label_of
from bioeval.showing.messages import sentence_about
from bioeval.showing.nodes import OVER, Node, unit_of
from bioeval.showing.rows import Row, rows_of
from bioeval.showing.terms import task_of, words_of
from bioeval.showing.text import Text, say
from bioeval.showing.writers.lines import Lines, written
from bioeval.stats.aggregate import aggregate
from bioeval.studies.thresholds.answers import folds_of, new_people, refusal_of

# ------------------------------------------------------------------------ points of the folds

# The letters of a rate on an axis, with the space to the next rate, and the most rates on an axis.
LETTERS_OF_RATE, MOST_TICKS = 10, 8

# The room before 0 and after the largest rate, in parts of the axis, and the part of the axis
# beyond which the words about the target are at its left.
BEFORE, BEYOND, TO_THE_RIGHT = 0.03, 1.1, 0.8


@styled
def folds(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Display:
    """Draw FAR and FRR of each fold, their mean, and the rates where the thresholds were chosen.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.cross_evaluate`, of verification or open set. CMS of a closed
        set, and DIR, at the ranks of the folds: :func:`bioeval.plot.repeated`.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    plot = Display(pick(data, "folds", single=True), ax, style)
    ds = plot.systems[0].dataset
    note_on_training = "" if ds.attrs["chosen_on"] == "given" else " (optimistic)"
    means = aggregate(ds, ("repeat", "fold"))
    means = means.assign({rate: means[rate].sel(statistic="mean") for rate in ("far", "frr")})
    _draw_folds(
        plot,
        style,
        ds.sel(part="test"),
        {
            "test parts, mean": means.sel(part="test"),
            f"training parts, mean{note_on_training}": means.sel(part="train"),
        },
    )
    return _finish_folds(plot, str(ds.attrs["task"]), limits_in_words(ds.attrs))


@styled
def threshold_study(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Display:
    """Draw the error rates to expect of a threshold with new people.

    Parameters
    ----------
    data : DataTree
        A result of :func:`bioeval.study_threshold`.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    plot = Display(pick(data, "threshold_study", single=True), ax, style)
    ds = plot.systems[0].dataset
    chosen = ds.sel(part="all")
    points = {
        f"expected of {new_people(ds)}": ds.sel(part="test"),
        "where it was chosen (optimistic)": chosen,
    }
    _draw_folds(plot, style, folds_of(ds), points)
    level = f"{100 * float(ds.attrs['confidence']):g} %"
    bars = [f"filled: {level} interval of the mean over folds (Nadeau and Bengio)"]
    if np.isfinite(chosen["far_low"] + chosen["frr_low"]):
        bars.append(f"hollow: {level} interval at this threshold, by people")
    return _finish_folds(plot, say("{far} and {frr} of a threshold"), *bars)


def _draw_folds(
    plot: Display,
    style: Mapping[str, Any],
    folds: xr.Dataset,
    points: Mapping[str, xr.Dataset],
) -> None:
    """Draw FAR and FRR of each fold, and two points, by their labels.

    The `points` have ``far`` and ``frr``, and may have their limits.
    """
    ax, ds = plot.ax_, plot.systems[0].dataset
    far, frr = (folds[rate].values.ravel() for rate in ("far", "frr"))
    dots: dict[str, Any] = {"color": Style.colour(Style.rule), "alpha": 0.4, "markersize": 4.5}
    label = f"test part of a {unit_of(ds.attrs)}"
    ax.plot(far, frr, "o", markeredgewidth=0, clip_on=False, label=label, **{**dots, **style})
    looks: list[dict[str, Any]] = [
        {"fmt": "o", "capsize": 4},
        {"fmt": "D", "markerfacecolor": "white", "linewidth": 1.0},
    ]
    for (label, point), look in zip(points.items(), looks, strict=True):
        _draw_point(plot, point, label, **look)
    ax.set_xlim(left=-BEFORE * ax.get_xlim()[1])
    ax.set_ylim(bottom=-BEFORE * ax.get_ylim()[1], top=BEYOND * ax.get_ylim()[1])
    rule = threshold_rule(ds.attrs)
    if rule.name == "far":
        (target,) = rule.values
        ax.axvline(target, color=Style.text, linewidth=THIN, linestyle=":", zorder=1)
        ax.set_xlim(right=max(ax.get_xlim()[1], (1 + BEFORE) * target))
        is_right = target > TO_THE_RIGHT * ax.get_xlim()[1]
        offset, side = ((-4, -3), "right") if is_right else ((4, -3), "left")
        note(ax, f"target {percent(target, '.3g')}", (target, 1), offset, va="top", ha=side)
    ax.locator_params("x", nbins=min(MOST_TICKS, int(ticks_across(ax, LETTERS_OF_RATE))))
    ax.xaxis.set_major_formatter(in_per_cent)
    ax.yaxis.set_major_formatter(in_per_cent)
    if not np.isfinite(far + frr).any():
        plot.empty("No fold has attempts of both classes")


def _draw_point(plot: Display, point: xr.Dataset, label: str, **style: Any) -> None:
    middle: dict[str, Any] = {}
    bars: dict[str, Any] = {}
    for axis, rate in (("x", "far"), ("y", "frr")):
        low, high = (float(point.get(f"{rate}_{end}", np.nan)) for end in ("low", "high"))
        middle[axis] = value = float(point[rate])
        bars[f"{axis}err"] = np.maximum([[value - low], [high - value]], 0)
    properties: dict[str, Any] = {"color": Style.colour(Style.text), "markersize": 7}
    properties |= {"linewidth": CURVE, **style}
    drawn = plot.ax_.errorbar(**middle, **bars, zorder=4, **properties)
    drawn.lines[0].set_label(label)  # the legend shows the point without its bars


def _finish_folds(plot: Display, title: Text, *bars: str) -> Display:
    x_label = plot.named(say("{False accept rate, far}"))
    y_label = plot.named(say("{False reject rate, frr}"))
    plot.finish(plot.of_system(title), bars, x_label, y_label)
    return plot


def limits_in_words(attrs: Mapping[str, Any]) -> str:
    """Return in words the intervals of a result over folds, from its attributes."""
    confidence = f"{100 * float(attrs['confidence']):g} %"
    method = attrs.get("interval_method", "quantile")
    if method == "quantile":
        return f"intervals: the middle {confidence} of the {unit_of(attrs)}s"
    return f"{confidence} intervals of the mean over folds (Nadeau and Bengio)"


# ------------------------------------------------------------------------------- curves

_RATES: dict[str, Text] = {
    "cms": say("{cms}"),
    "far": say("{far}"),
    "frr": say("{frr}"),
    "dir": say("{dir} at rank 1"),
}


@styled
def repeated(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Curves:
    """Draw the mean curve over many partitions, with its band.

    The band is pointwise and shows the spread over partitions of the same subjects; it is no
    confidence interval for other subjects.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A node of :func:`bioeval.repeat` with curves, or several of one task by name. Closed set:
        the CMC. Verification: FAR and FRR against the threshold. Open set: FAR and DIR at rank 1.
        Of :func:`bioeval.cross_evaluate`, CMS or DIR at its ranks, with each fold as a small dot.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    systems = pick(data, "repeated")
    plot = Curves("repeated", _mean_curves(systems), ax, style, marked=False)
    first = plot.systems[0].dataset
    number = counted(int(first.attrs.get("partitions", 0)), "partitions")
    caption = [f"{number} of the same people; band: the middle 95 % of them"]
    is_over_folds = "partitions" not in first.attrs
    if is_over_folds:
        caption = [f"small dots: {unit_of(first.attrs)}s", limits_in_words(first.attrs)]
    if "threshold" in first.dims:
        return plot.end("Mean", plot.over_thresholds(), "Rate", caption=caption)
    arrays = [np.ones(1)]
    for curve in plot.defined:
        is_defined = np.isfinite(curve.y)
        arrays += [x for x in (curve.y, curve.low, curve.high) if x is not None]
        if is_over_folds:
            values = curve.system.dataset[curve.variable].sel(part="test").values
            values_of_folds = values.reshape(-1, len(curve.x))
            plot.cloud(curve, ((curve.x, y) for y in values_of_folds), marker=".", linestyle="none")
            arrays.extend(values_of_folds)
        # Between chosen ranks, rates are unknown.
        points: dict[str, Any] = {}
        if (np.diff(curve.x) != 1).any() or is_over_folds:
            points = {"linestyle": "none", "marker": "o", "markersize": 7}
        plot.line(curve, curve.x[is_defined], curve.y[is_defined], **points)
        if not points:
            plot.band(curve, is_defined)
        elif curve.low is not None and curve.high is not None:
            ends = (x[is_defined] for x in (curve.x, curve.low, curve.high))
            plot.ax_.vlines(*ends, color=plot.lines_[curve.name].get_color(), linewidth=CURVE)
    last = max(int(curve.x[-1]) for curve in plot.curves.values())
    if all((np.diff(c.x) == 1).all() for c in plot.defined):  # folds have chosen ranks alone
        last = plot_style.last_change(arrays, last)
    plot_style.rank_axis(plot.ax_, last)
    plot_style.rate_axis(plot.ax_, min(map(np.nanmin, arrays)) if plot.lines_ else 0.0)
    cms = say("{Cumulative match score, cms}(k)")
    dir_ = say("{Detection and identification rate, dir}(k)")
    y = plot.write(cms if "cms" in first else dir_)
    return plot.end("Mean", "Rank k", y, caption=caption)


def _mean_curves(systems: list[System]) -> list[Curve]:
    curves = []
    for number, system in enumerate(systems):
        means = replace(system, dataset=_mean_rates(system.dataset))
        for rate, word in _RATES.items():
            if rate not in means.dataset:
                continue
            # A curve has the colour of its rate or, with several systems, of its system.
            over_ranks = means.dataset[rate].dims == ("rank",)
            x_variable, look = ("rank", number) if over_ranks else ("threshold", Style.hues[rate])
            curve = Curve.from_variables(means, x_variable, rate, "" if over_ranks else word, 1)
            hue = number if len(systems) > 1 else look
            curves.append(replace(curve, system=system, hue=hue, dash=look))
    return curves


def _mean_rates(dataset: xr.Dataset) -> xr.Dataset:
    fold_dims = [str(dim) for dim in OVER if dim in dataset.dims]
    if "part" in dataset.dims:
        means = aggregate(dataset, fold_dims).sel(statistic="mean", part="test")
    else:
        rates = dataset[[rate for rate in _RATES if rate in dataset]]
        if "dir" in rates:  # FRR is 1 - DIR at rank 1
            rates = rates.drop_vars("frr").assign(dir=rates["dir"].sel(rank=1, drop=True))
        means = aggregate(rates, fold_dims, interval="quantile").sel(statistic="mean")
    return means.drop_vars([rate for rate in _RATES if rate in means and not means[rate].ndim])


# --------------------------------------------------------------------- scalars of each fold

# Inches: the width, the height without rows, the height of a row; and the fewest rows with room.
WIDTH, HEIGHT_WITHOUT_ROWS, HEIGHT_OF_ROW, FEWEST_ROWS = 7.2, 1.7, 0.52, 3

# In heights of a row: the room above the first row and below the last; downwards in a row, the
# positions of its axis, its mean and the values at its ends; and the highest bar above its axis.
ABOVE_FIRST, BELOW_LAST = 0.7, 0.45
AXIS_AT, MEAN_AT, ENDS_AT, HIGHEST_BAR = 0.1, 0.22, 0.3, 0.62

# The number of bars in a row, and the limits of the horizontal axis, on which a row is from 0 to 1.
BARS, SCALE = 30, (-0.02, 1.02)


@styled
def spread(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Display:
    """Draw how each scalar varies over folds or repeats: EER, HTER, FRR at FAR, DIR, CMS ...

    The spread over repeats shows what depends on the draw of parts, galleries and claims, among
    the same subjects. It is no confidence interval for other subjects.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.cross_evaluate`, or a node of :func:`bioeval.repeat`.
    ax, **style
        As for :func:`bioeval.plot.roc`; properties are of the bars.
    """
    systems = pick(data, "spread", single=True)
    ds = systems[0].dataset
    rows = _spreads_of_measures(ds)
    number = len(rows)
    size = WIDTH, HEIGHT_WITHOUT_ROWS + HEIGHT_OF_ROW * max(number, FEWEST_ROWS)
    plot = Display(systems, ax, style, size, drawn={row.label: row.each for row in rows})
    ax = plot.ax_
    ax.set(xlim=SCALE, ylim=(max(number, 1) - BELOW_LAST, -ABOVE_FIRST), xticks=[])
    ax.grid(False)
    ax.spines[["left", "bottom"]].set_visible(False)
    for position, row in enumerate(rows):
        _draw_row(ax, position, row, style)
    ax.set_yticks(range(number), [as_plot_text(row.label) for row in rows])
    ax.tick_params(axis="y", length=0)
    plot_style.label_rows(ax, [_mean_and_interval(row) for row in rows])
    if not rows:
        plot.empty("No scalar is defined in any fold")
    attrs, sizes = ds.attrs, ds.sizes
    number = math.prod(sizes[dim] for dim in OVER if dim in sizes)
    interval_words = (
        "intervals: the middle 95 %" if "partitions" in attrs else limits_in_words(attrs)
    )
    caption = [counted(number, f"{unit_of(attrs)}s"), interval_words]
    plot.finish(plot.of_system(str(attrs["task"])), caption)
    return plot


@dataclass(frozen=True)
class _Spread:
    """The values of a measure in all folds or partitions, its mean and an interval of the mean."""

    name: str
    label: str
    about: Mapping[str, Any]  # attributes of the variable
    each: np.ndarray  # the values
    mean: float
    low: float
    high: float


def _spreads_of_measures(dataset: xr.Dataset) -> list[_Spread]:
    scalars = dataset.drop_dims("threshold", errors="ignore")
    fold_dims = [str(dim) for dim in OVER if dim in dataset.dims]
    statistics: dict[Any, dict[str, Row]] = {}
    for row in rows_of(Node("", "", "", aggregate(scalars, fold_dims))):
        statistics.setdefault(_place_of(row), {})[row.statistic] = row
    values: dict[Any, list[Row]] = {}
    for row in rows_of(Node("", "", "", scalars)):
        is_measured = "direction" in row.about and {*fold_dims} <= {*row.places}
        of_test = row.places.get("part", "test") == "test"
        if is_measured and of_test and row.is_brief and row.supported is not False:
            values.setdefault(_place_of(row), []).append(row)
    lines = Lines(words_of(dataset), task_of(dataset))
    spreads = []
    for place, rows in values.items():
        summary = statistics[place]
        mean = summary["mean"]
        limits = mean.low, mean.high
        if f"{mean.name}_low" not in mean.node.dataset:  # the middle 95 % of the values
            limits = summary["q0.025"].value, summary["q0.975"].value
        label = lines.write(label_of(rows[0]))
        label += " (in %)" if rows[0].about["units"] == "proportion" else ""
        numbers = np.array([row.value for row in rows])
        spreads.append(_Spread(mean.name, label, rows[0].about, numbers, mean.value, *limits))
    return spreads


def _place_of(row: Row) -> Any:
    point = row.point if row.at else None
    return row.measure, row.at, point, row.places.get("rank"), row.places.get("part")


def _draw_row(ax: Axes, position: int, row: _Spread, style: Mapping[str, Any]) -> None:
    numbers = np.array([row.mean, row.low, row.high, *row.each])
    least, width = np.nanmin(numbers), np.nanmax(numbers) - np.nanmin(numbers)
    ends = {0.0: least, 1.0: least + width} if width else {0.5: least}
    mean, low, high, *values = (numbers - least) / width if width else 0 * numbers + 0.5
    counts, edges = np.histogram(values, BARS, (0, 1))
    heights = HIGHEST_BAR * counts / counts.max()
    bars: dict[str, Any] = {"color": Style.rule, "alpha": 0.6, "align": "edge", **style}
    ax.bar(edges[:-1], heights, 1 / BARS, bottom=position + AXIS_AT - heights, **bars)
    colour = Style.colour(Style.hues.get(row.name, plot_style.BOTH))
    properties: dict[str, Any] = {"color": colour, "zorder": 3}
    ax.plot(
        [low, high], [position + MEAN_AT] * 2, marker="|", markersize=8, linewidth=2.4, **properties
    )
    ax.plot(mean, position + MEAN_AT, "o", markersize=6, markeredgecolor="white", **properties)
    ax.plot(
        [0, 1], [position + AXIS_AT] * 2, color=Style.rule, linewidth=THIN, zorder=1
    )  # the axis
    sides = {0.0: "left", 0.5: "center", 1.0: "right"}
    for end, value in ends.items():
        text: dict[str, Any] = {"ha": sides[end], "va": "top", "color": Style.text}
        ax.text(
            end,
            position + ENDS_AT,
            _in_decimals(row, value),
            fontsize=Style.look.small,
            **text,
        )


def _mean_and_interval(row: _Spread) -> str:
    interval = ""
    if np.isfinite([row.low, row.high]).all():
        interval = f" [{_in_decimals(row, row.low)}, {_in_decimals(row, row.high)}]"
    return f"{_in_decimals(row, row.mean)}{interval}"


def _in_decimals(row: _Spread, value: float) -> str:
    is_rate = row.about["units"] == "proportion"
    factor, decimals = (100, 2) if is_rate else (1, row.about.get("decimals", 2))
    return f"{factor * value:.{decimals}f}"


# --------------------------------------------------------------------------------------- promises

# The factor between the outermost rates and the ends of the logarithmic axis.
AROUND = 1.3


@styled
def assured(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Display:
    """Draw the costs of an assured threshold: FAR, its upper limit and FRR over the threshold.

    Parameters
    ----------
    data : DataTree
        A result of :func:`bioeval.study_threshold` with `assure`.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    plot = Display(pick(data, "assured", single=True), ax, style)
    ax, ds = plot.ax_, plot.systems[0].dataset
    threshold = ds["point_threshold"].values
    if len(threshold) < 2:
        refusal = refusal_of(ds)
        alone = "only one threshold was evaluated"
        plot.empty(alone if refusal is None else sentence_about(refusal))
    target = threshold_rule(ds.attrs).values[0]
    level, unit = float(ds.attrs["assure"]), ds.attrs["assured_over"]
    arrays = [np.array([target])]
    for name, dash, label in (
        ("far_high", ":", say("{far}, upper limit at {level:rate}", level=level)),
        ("far", "", say("{far}, over {over}", over=unit)),
        ("frr", "", say("{frr}")),
    ):
        rates, hue = ds[f"point_{name}"].values, Style.hues[name[:3]]
        arrays.append(rates)
        if np.isfinite(rates).any():
            properties: dict[str, Any] = {
                "color": Style.colour(hue),
                "linestyle": dash or Style.dash(hue),
            }
            ax.plot(
                threshold,
                rates,
                label=plot.write(label),
                **{**properties, "linewidth": 1.8, **style},
            )
    ax.axhline(target, color=Style.rule, linewidth=1.0, zorder=1)
    end, offset, side = (1, -4, "right") if ds.attrs["kind"] in LARGER_IS_CLOSER else (0, 4, "left")
    where: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "ha": side}
    note(ax, f"target {100 * target:g} %", (end, target), (offset, 3), **where)
    for role, variable, line_style in (
        ("assured", "assured_threshold", "-"),
        ("these data alone", "threshold", ":"),
    ):
        value = float(ds[variable])
        if np.isfinite(value):
            text = f"{role}: {written(threshold_of(ds, variable))}"
            ax.axvline(value, color=Style.text, linewidth=1.2, linestyle=line_style, label=text)
    rates_drawn = np.concatenate(arrays)
    positive = rates_drawn[np.isfinite(rates_drawn) & (rates_drawn > 0)]
    plot_style.log_axis(
        ax, "y", float(positive.min()) / AROUND, min(1.0, AROUND * float(positive.max()))
    )
    labels = threshold_label(ds.attrs["kind"]), say("Error rate: {far}, {frr}")
    caption = [f"estimated, for {ds.attrs['assured_for']}"]
    plot.finish(plot.of_system("Assured threshold"), caption, *labels)
    return plot
