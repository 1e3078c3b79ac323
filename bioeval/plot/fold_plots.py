"""Rates over folds, partitions, a threshold study, and assured thresholds, and their spread."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.base.errors import counted
from bioeval.plot import plot_axes
from bioeval.plot.display import Curve, Curves, Display, threshold_label
from bioeval.plot.plot_axes import BOTH, CURVE, THIN, Style, in_per_cent, note, styled, ticks_across
from bioeval.plot.systems import System, as_plot_text, joined, pick
from bioeval.results.variables import percent
from bioeval.showing.cells import threshold_of
from bioeval.showing.header import threshold_rule
from bioeval.showing.messages import sentence_about
from bioeval.showing.nodes import OVER, Node, unit_of
from bioeval.showing.rows import Row, label_of, rows_of
from bioeval.showing.text import Term, Text, say, task_of
from bioeval.showing.writers.numbers import Lines, written
from bioeval.stats.aggregate import aggregate
from bioeval.studies.judged_threshold import folds_of, new_people, refusal_of

LETTERS_OF_RATE = 10  # letters of a rate on an axis, with the space to the next rate
MOST_TICKS = 8  # rates on an axis

# In parts of an axis: the room before 0, the end of the vertical axis, and where a target is so far
# to the right that its words are at its left.
BEFORE, BEYOND, TO_THE_RIGHT = 0.03, 1.1, 0.8

# A logarithmic axis reaches beyond the smallest and the largest rate by this factor.
AROUND = 1.3

#: The two points among the folds: mean of the test parts, and rates where thresholds were chosen.
_LOOKS: tuple[dict[str, Any], ...] = (
    {"fmt": "o", "capsize": 4},
    {"fmt": "D", "markerfacecolor": "white", "linewidth": 1.0},
)


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
    undefined = _draw_folds(
        plot,
        style,
        ds.sel(part="test"),
        {
            "test parts, mean": means.sel(part="test"),
            f"training parts, mean{note_on_training}": means.sel(part="train"),
        },
    )
    return _finish_folds(plot, str(ds.attrs["task"]), limits_in_words(ds.attrs), *undefined)


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
    undefined = _draw_folds(plot, style, folds_of(ds), points)
    level = f"{100 * float(ds.attrs['confidence']):g} %"
    bars = [f"filled: {level} interval of the mean over folds (Nadeau and Bengio)"]
    if np.isfinite(chosen["far_low"] + chosen["frr_low"]):
        bars.append(f"hollow: {level} interval at this threshold, by people")
    return _finish_folds(plot, say("{far} and {frr} of a threshold"), *bars, *undefined)


def _draw_folds(
    plot: Display,
    style: Mapping[str, Any],
    folds: xr.Dataset,
    points: Mapping[str, xr.Dataset],
) -> list[Text]:
    """Draw FAR and FRR of each fold, and two points by their labels, in the order of `_LOOKS`.

    The `points` have ``far`` and ``frr``, and may have their limits. Return in words the rates that
    are not defined in all folds.
    """
    ax, ds = plot.ax_, plot.systems[0].dataset
    far, frr = (folds[rate].values.ravel() for rate in ("far", "frr"))
    dots: dict[str, Any] = {"color": Style.colour(Style.rule), "alpha": 0.4, "markersize": 4.5}
    label = f"test part of a {unit_of(ds.attrs)}"
    ax.plot(far, frr, "o", markeredgewidth=0, clip_on=False, label=label, **{**dots, **style})
    for (label, point), look in zip(points.items(), _LOOKS, strict=True):
        _draw_point(plot, point, label, **look)
    ax.set_xlim(left=-BEFORE * ax.get_xlim()[1])
    ax.set_ylim(bottom=-BEFORE * ax.get_ylim()[1], top=BEYOND * ax.get_ylim()[1])
    rule = threshold_rule(ds.attrs)
    if rule.name == "far":
        target = rule.values[0]
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
    return [
        say("{rate} is defined in {part}", rate=Term(name), part=part)
        for name, rates in (("far", far), ("frr", frr))
        if (part := part_of_folds(rates, len(rates), unit_of(ds.attrs)))
    ]


def part_of_folds(rates: np.ndarray, folds: int, unit: str) -> str:
    """Return in how many of all folds a rate is defined, in words; empty if in all of them."""
    defined = int(np.isfinite(rates).sum())
    return "" if defined == folds else f"{defined:,} of {counted(folds, f'{unit}s')}"


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


def _finish_folds(plot: Display, title: Text, *bars: Text) -> Display:
    x_label = plot.named(say("False accept rate, {far}"))
    y_label = plot.named(say("False reject rate, {frr}"))
    plot.finish(plot.of_system(title), bars, x_label, y_label)
    return plot


def limits_in_words(attrs: Mapping[str, Any]) -> str:
    """Return in words the intervals of a result over folds, from its attributes."""
    confidence = f"{100 * float(attrs['confidence']):g} %"
    method = attrs.get("interval_method", "quantile")
    if method == "quantile":
        return f"intervals: the middle {confidence} of the {unit_of(attrs)}s"
    return f"{confidence} intervals of the mean over folds (Nadeau and Bengio)"


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
    refusal = refusal_of(ds)
    if ds.sizes["point"] < 2:
        threshold = written(threshold_of(ds, "assured_threshold"))
        alone = f"only one threshold was evaluated, {threshold}: it is assured"
        plot.empty(alone if refusal is None else sentence_about(refusal))
        plot.finish(plot.of_system("Assured threshold"))
        ax.set(xticks=[], yticks=[])
        return plot
    _draw_rates_of_points(plot, style)
    target = threshold_rule(ds.attrs).values[0]
    ax.axhline(target, color=Style.rule, linewidth=1.0, zorder=1)
    # The words are at the end of the axis at which FAR is large.
    end, offset, side = (1, -4, "right") if ds.attrs["kind"] == "similarity" else (0, 4, "left")
    where: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "ha": side}
    note(ax, f"target {100 * target:g} %", (end, target), (offset, 3), **where)
    for role, variable, dash in (
        ("assured", "assured_threshold", "-"),
        ("these data alone", "threshold", ":"),
    ):
        at = float(ds[variable])
        if np.isfinite(at):
            text = f"{role}: {written(threshold_of(ds, variable))}"
            ax.axvline(at, color=Style.text, linewidth=1.2, linestyle=dash, label=text)
    rates = [ds[f"point_{name}"].values for name in ("far_high", "far", "frr")]
    rates_drawn = np.concatenate([[target], *rates])
    positive = rates_drawn[np.isfinite(rates_drawn) & (rates_drawn > 0)]
    low, high = positive.min() / AROUND, AROUND * positive.max()
    plot_axes.log_axis(ax, "y", float(low), min(1.0, float(high)))
    labels = threshold_label(ds.attrs["kind"]), say("Error rate: {far}, {frr}")
    caption = [f"estimated, for {ds.attrs['assured_for']}"]
    if not np.isfinite(float(ds["assured_threshold"])):
        caption.append("no threshold is assured")
    plot.finish(plot.of_system("Assured threshold"), caption, *labels)
    return plot


def _draw_rates_of_points(plot: Display, style: Mapping[str, Any]) -> None:
    ds = plot.systems[0].dataset
    level = float(ds.attrs["assure"])
    far, frr = Style.hues["far"], Style.hues["frr"]
    for name, hue, dash, label in (
        ("far_high", far, ":", say("{far}, upper limit at {level:rate}", level=level)),
        ("far", far, Style.dash(far), say("{far}, over impostor attempts")),
        ("frr", frr, Style.dash(frr), say("{frr}")),
    ):
        rates = ds[f"point_{name}"].values
        if np.isfinite(rates).any():
            line: dict[str, Any] = {"color": Style.colour(hue), "linestyle": dash, "linewidth": 1.8}
            label_drawn = plot.write(label) + ": 0 at each threshold" * (not np.nanmax(rates))
            plot.ax_.plot(
                ds["point_threshold"].values, rates, label=label_drawn, **{**line, **style}
            )


#: The rates of mean curves, and their names among the curves of a system.
_RATES: dict[str, Text] = {
    "cms": say("{cms}"),
    "far": say("{far}"),
    "frr": say("{frr}"),
    "dir": say("{dir} at rank 1"),
}

WIDTH, HEIGHT_WITHOUT_ROWS, HEIGHT_OF_ROW = 7.2, 1.7, 0.52  # of the figure, in inches
FEWEST_ROWS = 3  # with fewer rows, the figure is as high as with this number

# Rows of scalars, in heights of a row: the room above the first row and below the last; in a row,
# downwards, its axis, its mean and the numbers at its ends; and the highest bar above its axis.
ABOVE_FIRST, BELOW_LAST = 0.7, 0.45
AXIS_AT, MEAN_AT, ENDS_AT, HIGHEST_BAR = 0.1, 0.22, 0.3, 0.62

BARS = 30  # in a row
SCALE = -0.02, 1.02  # limits of the horizontal axis, on which a row is from 0 to 1


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
    is_over_folds = "partitions" not in first.attrs
    if is_over_folds:
        caption = [f"small dots: {unit_of(first.attrs)}s", limits_in_words(first.attrs)]
    else:
        number = counted(int(first.attrs["partitions"]), "partitions")
        caption = [f"{number} of the same people; band: the middle 95 % of them"]
    if "threshold" in first.dims:
        return plot.end("Mean", plot.over_thresholds(), "Rate", caption=caption)
    rates_drawn = [np.ones(1)]
    for curve in plot.defined:
        rates_of_folds = np.empty((0, len(curve.x)))
        if is_over_folds:
            values = curve.system.dataset[curve.variable].sel(part="test").values
            rates_of_folds = values.reshape(-1, len(curve.x))
        _draw_over_ranks(plot, curve, rates_of_folds)
        rates_drawn += [x for x in (curve.y, curve.low, curve.high) if x is not None]
        rates_drawn.extend(rates_of_folds)
    last = max(int(curve.x[-1]) for curve in plot.curves.values())
    if all((np.diff(c.x) == 1).all() for c in plot.defined):  # folds have chosen ranks alone
        last = plot_axes.last_change(rates_drawn, last)
    plot_axes.rank_axis(plot.ax_, last)
    plot_axes.rate_axis(plot.ax_, min(map(np.nanmin, rates_drawn)) if plot.lines_ else 0.0)
    cms = say("Cumulative match score, {cms}(k)")
    dir_ = say("Detection and identification rate, {dir}(k)")
    y = plot.write(cms if "cms" in first else dir_)
    return plot.end("Mean", "Rank k", y, caption=caption)


def _draw_over_ranks(plot: Curves, curve: Curve, rates_of_folds: np.ndarray) -> None:
    """Draw a mean over ranks with its limits, and behind it the folds (folds, ranks), if any.

    Over all ranks, the mean is a line with a band; at chosen ranks, between which rates are
    unknown, and over folds, it is a point with a bar.
    """
    folds = ((curve.x, rates) for rates in rates_of_folds)
    plot.cloud(curve, folds, marker=".", linestyle="none")
    is_defined = np.isfinite(curve.y)
    x, y = curve.x[is_defined], curve.y[is_defined]
    if (np.diff(curve.x) == 1).all() and not len(rates_of_folds):
        plot.line(curve, x, y)
        plot.band(curve, is_defined)
        return
    plot.line(curve, x, y, linestyle="none", marker="o", markersize=7)
    if curve.low is not None and curve.high is not None:
        colour = plot.lines_[curve.name].get_color()
        limits = curve.low[is_defined], curve.high[is_defined]
        plot.ax_.vlines(x, *limits, color=colour, linewidth=CURVE)


def _mean_curves(systems: list[System]) -> list[Curve]:
    curves = []
    for number, system in enumerate(systems):
        means = replace(system, dataset=_mean_rates(system.dataset))
        for rate, word in _RATES.items():
            if rate not in means.dataset:
                continue
            # A curve has the colour of its rate or, with several systems, of its system.
            if means.dataset[rate].dims == ("rank",):
                curve, look = Curve.from_variables(means, "rank", rate), number
            else:
                curve = Curve.from_variables(means, "threshold", rate, word, rank=1)
                look = Style.hues[rate]
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
    scalars = ds.drop_dims("threshold", errors="ignore")
    fold_dims = [str(dim) for dim in OVER if dim in ds.dims]
    statistics = _by_place(rows_of(Node("", "", "", aggregate(scalars, fold_dims))))
    rows_of_folds = (row for row in rows_of(Node("", "", "", scalars)) if _is_shown(row, fold_dims))
    lines = Lines(task_of(ds))
    rows = []
    for place, of_place in _by_place(rows_of_folds).items():
        summary = {row.statistic: row for row in statistics[place]}
        mean = summary["mean"]
        limits = mean.low, mean.high
        if f"{mean.name}_low" not in mean.node.dataset:  # the middle 95 % of the values
            limits = summary["q0.025"].value, summary["q0.975"].value
        label = lines.write(label_of(of_place[0]))
        label += " (in %)" if of_place[0].about["units"] == "proportion" else ""
        values = np.array([row.value for row in of_place])
        rows.append(_Spread(mean.name, label, of_place[0].about, values, mean.value, *limits))
    folds = math.prod(ds.sizes[dim] for dim in OVER if dim in ds.sizes)
    is_in_rows = {row.name for row in rows}
    undefined = [
        say("{rate} is defined in no {unit}", rate=Term(rate), unit=unit_of(ds.attrs))
        for rate in ("far", "frr")
        if rate in ds and rate not in is_in_rows and {*ds[rate].dims} <= {*OVER, "part"}
    ]
    size = WIDTH, HEIGHT_WITHOUT_ROWS + HEIGHT_OF_ROW * max(len(rows), FEWEST_ROWS)
    plot = Display(systems, ax, style, size, drawn={row.label: row.values for row in rows})
    ax = plot.ax_
    ax.set(xlim=SCALE, ylim=(max(len(rows), 1) - BELOW_LAST, -ABOVE_FIRST), xticks=[])
    ax.grid(False)
    ax.spines[["left", "bottom"]].set_visible(False)
    units = [row.about["units"] for row in rows]
    for position, row in enumerate(rows):
        of_unit = [x for x, unit in zip(rows, units, strict=True) if unit == units[position]]
        is_last = row is of_unit[-1]
        _draw_row(ax, position, row, _Scale.from_rows(of_unit), style, is_last=is_last)
    ax.set_yticks(range(len(rows)), [Style.translated(as_plot_text(x.label)) for x in rows])
    ax.tick_params(axis="y", length=0)
    plot_axes.label_rows(ax, [_mean_and_interval(row, folds, unit_of(ds.attrs)) for row in rows])
    if not rows:
        plot.empty("No scalar is defined in any fold")
    intervals = "intervals: the middle 95 %"
    if "partitions" not in ds.attrs:
        intervals = limits_in_words(ds.attrs)
    has_limits = any(np.isfinite(row.low) for row in rows)
    caption: list[Text] = [counted(folds, f"{unit_of(ds.attrs)}s"), *[intervals] * has_limits]
    plot.finish(plot.of_system(str(ds.attrs["task"])), [*caption, *undefined])
    return plot


@dataclass(frozen=True)
class _Spread:
    """The values of a measure in all folds or partitions, its mean and an interval of the mean."""

    name: str
    label: str
    about: Mapping[str, Any]  # attributes of the variable
    values: np.ndarray
    mean: float
    low: float
    high: float


def _is_shown(row: Row, fold_dims: Iterable[str]) -> bool:
    is_measure = "direction" in row.about and {*fold_dims} <= {*row.places}
    is_of_test = row.places.get("part", "test") == "test"
    return is_measure and is_of_test and row.is_brief and row.supported is not False


def _by_place(rows: Iterable[Row]) -> dict[Any, list[Row]]:
    by_place: dict[Any, list[Row]] = {}
    for row in rows:
        point = row.point if row.at else None
        place = row.measure, row.at, point, row.places.get("rank"), row.places.get("part")
        by_place.setdefault(place, []).append(row)
    return by_place


class _Scale(NamedTuple):
    """The axis of all rows of one unit: from 0, the least number, to 1, the largest.

    Rates begin at 0, unless all are above a half. A single number is at 0.5.
    """

    least: float
    width: float  # from the least to the largest number

    @classmethod
    def from_rows(cls, rows: Sequence[_Spread]) -> _Scale:
        numbers = np.array([x for row in rows for x in (row.mean, row.low, row.high, *row.values)])
        least, largest = np.nanmin(numbers), np.nanmax(numbers)
        if rows[0].about["units"] == "proportion" and least <= 0.5:
            least, largest = min(least, 0.0), largest or 0.01
        return cls(least, largest - least)

    def positions(self, numbers: Any) -> np.ndarray:
        shift = np.asarray(numbers) - self.least
        return shift / self.width if self.width else 0 * shift + 0.5

    @property
    def ends(self) -> dict[float, float]:
        return {0.0: self.least, 1.0: self.least + self.width} if self.width else {0.5: self.least}


def _draw_row(
    ax: Axes,
    row_number: int,
    row: _Spread,
    scale: _Scale,
    style: Mapping[str, Any],
    *,
    is_last: bool,
) -> None:
    axis_y, mean_y, ends_y = (row_number + shift for shift in (AXIS_AT, MEAN_AT, ENDS_AT))
    counts, edges = np.histogram(scale.positions(row.values), BARS, (0, 1))
    heights = HIGHEST_BAR * counts / counts.max()
    bars: dict[str, Any] = {"color": Style.rule, "alpha": 0.6, "align": "edge", **style}
    ax.bar(edges[:-1], heights, 1 / BARS, bottom=axis_y - heights, **bars)
    colour = Style.colour(Style.hues.get(row.name, BOTH))
    interval: dict[str, Any] = {"color": colour, "zorder": 3, "marker": "|", "markersize": 8}
    ax.plot(scale.positions([row.low, row.high]), [mean_y] * 2, linewidth=2.4, **interval)
    mean: dict[str, Any] = {"color": colour, "zorder": 3, "markeredgecolor": "white"}
    ax.plot(scale.positions(row.mean), mean_y, "o", markersize=6, **mean)
    ax.plot([0, 1], [axis_y] * 2, color=Style.rule, linewidth=THIN, zorder=1)
    sides = {0.0: "left", 0.5: "center", 1.0: "right"}
    words: dict[str, Any] = {"va": "top", "color": Style.text, "fontsize": Style.look.small}
    for position, number in scale.ends.items() if is_last else ():
        ax.text(position, ends_y, _in_decimals(row, number), ha=sides[position], **words)


def _mean_and_interval(row: _Spread, folds: int, unit: str) -> str:
    interval = ""
    if np.isfinite([row.low, row.high]).all():
        interval = f" [{_in_decimals(row, row.low)}, {_in_decimals(row, row.high)}]"
    part = part_of_folds(row.values, folds, unit)
    return joined(f"{_in_decimals(row, row.mean)}{interval}", part, by="\n")


def _in_decimals(row: _Spread, value: float) -> str:
    is_rate = row.about["units"] == "proportion"
    factor, decimals = (100, 2) if is_rate else (1, row.about.get("decimals", 2))
    return f"{factor * value:.{decimals}f}"
