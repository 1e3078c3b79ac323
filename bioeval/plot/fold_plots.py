"""Rates over folds and partitions, and of a threshold study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.base.errors import counted
from bioeval.plot import plot_axes
from bioeval.plot.display import Curve, Curves, Display
from bioeval.plot.plot_axes import CURVE, Style, in_per_cent, styled
from bioeval.plot.systems import System, pick
from bioeval.results.variables import percent
from bioeval.showing.header import rule_of
from bioeval.showing.rows import OVER, unit_of
from bioeval.showing.text import Term, Text, say
from bioeval.stats.aggregate import aggregate
from bioeval.studies.threshold_study import new_people

# In parts of an axis: the room before 0, the end of the vertical axis, and where a target is so far
# to the right that its words are at its left.
BEFORE, BEYOND, TO_THE_RIGHT = 0.03, 1.1, 0.8

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
    names = [str(name) for name in ds.data_vars if "folds/" in str(name)]
    of_folds = xr.Dataset({name.removeprefix("folds/"): ds[name] for name in names})
    undefined = _draw_folds(plot, style, of_folds, points)
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
        middle: dict[str, Any] = {}
        bars: dict[str, Any] = {}
        for axis, rate in (("x", "far"), ("y", "frr")):
            low, high = (float(point.get(f"{rate}_{end}", np.nan)) for end in ("low", "high"))
            middle[axis] = value = float(point[rate])
            bars[f"{axis}err"] = np.maximum([[value - low], [high - value]], 0)
        properties: dict[str, Any] = {"color": Style.colour(Style.text), "markersize": 7}
        drawn = ax.errorbar(
            **middle, **bars, zorder=4, **properties, **{"linewidth": CURVE, **look}
        )
        drawn.lines[0].set_label(label)  # the legend shows the point without its bars
    ax.set_xlim(left=-BEFORE * ax.get_xlim()[1])
    ax.set_ylim(bottom=-BEFORE * ax.get_ylim()[1], top=BEYOND * ax.get_ylim()[1])
    rule = rule_of(ds.attrs)
    if rule.name == "far":
        target = rule.values[0]
        ax.set_xlim(right=max(ax.get_xlim()[1], (1 + BEFORE) * target))
        text = f"target {percent(target, '.3g')}"
        plot_axes.named_line(ax, target, text, Style.text, TO_THE_RIGHT, 3)
    width = plot_axes.LETTER * Style.look.small * 10  # letters of a rate and the space behind it
    ax.locator_params("x", nbins=min(8, int(plot_axes.room(ax)[0] / width)))
    ax.xaxis.set_major_formatter(in_per_cent)
    ax.yaxis.set_major_formatter(in_per_cent)
    if not np.isfinite(far + frr).any():
        plot.empty("No fold has attempts of both classes")
    number, unit = len(far), f"{unit_of(ds.attrs)}s"
    undefined: list[Text] = []
    for name, rates in (("far", far), ("frr", frr)):
        if (defined := int(np.isfinite(rates).sum())) < number:
            part = f"{defined:,} of {counted(number, unit)}"
            undefined.append(say("{rate} is defined in {part}", rate=Term(name), part=part))
    return undefined


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


#: The rates of mean curves, and their names among the curves of a system.
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
        plot.cloud(curve, ((curve.x, x) for x in rates_of_folds), marker=".", linestyle="none")
        is_defined = np.isfinite(curve.y)
        x, mean = curve.x[is_defined], curve.y[is_defined]
        if (np.diff(curve.x) == 1).all() and not len(rates_of_folds):
            plot.line(curve, x, mean)
            plot.band(curve, is_defined)
        else:  # a point with a bar: rates between chosen ranks are unknown
            plot.line(curve, x, mean, linestyle="none", marker="o", markersize=7)
            if curve.low is not None and curve.high is not None:
                limits = curve.low[is_defined], curve.high[is_defined]
                colour = plot.lines_[curve.name].get_color()
                plot.ax_.vlines(x, *limits, color=colour, linewidth=CURVE)
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


def _mean_curves(systems: list[System]) -> list[Curve]:
    curves = []
    for number, system in enumerate(systems):
        dataset = system.dataset
        fold_dims = [str(dim) for dim in OVER if dim in dataset.dims]
        if "part" in dataset.dims:
            averaged = aggregate(dataset, fold_dims).sel(statistic="mean", part="test")
        else:
            rates = dataset[[rate for rate in _RATES if rate in dataset]]
            if "dir" in rates:  # FRR is 1 - DIR at rank 1
                rates = rates.drop_vars("frr").assign(dir=rates["dir"].sel(rank=1, drop=True))
            averaged = aggregate(rates, fold_dims, interval="quantile").sel(statistic="mean")
        single = [rate for rate in _RATES if rate in averaged and not averaged[rate].ndim]
        means = replace(system, dataset=averaged.drop_vars(single))
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
