"""Rates over folds and partitions, and of a threshold study.

:func:`folds` and :func:`threshold_study` draw FAR and FRR at a threshold: a dot for each fold, and
two points, the mean of the test parts and where the thresholds were chosen. :func:`repeated` draws
the mean of curves over many partitions, or over folds.
"""

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
from bioeval.showing.nodes import OVER, unit_of
from bioeval.showing.text import Term, Text, say
from bioeval.stats.aggregate import aggregate
from bioeval.studies.threshold_study import new_people

# In parts of an axis:
BEFORE = 0.03  # the room before 0, so that points at 0 are whole
BEYOND = 1.1  # the end of the vertical axis, above the bars
TO_THE_RIGHT = 0.8  # the words of a target beyond this part are at its left

#: The looks of two points: the mean of the test parts, and where thresholds were chosen.
_TESTED: dict[str, Any] = {"fmt": "o", "capsize": 4, "linewidth": CURVE}
_CHOSEN: dict[str, Any] = {"fmt": "D", "markerfacecolor": "white", "linewidth": 1.0}

LETTERS_OF_RATE = 10  # a rate in per cent at the axis, with the space behind it
MOST_RATES = 8  # numbers on the axis of FAR


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
    means = aggregate(ds, ("repeat", "fold"))
    means = means.assign({rate: means[rate].sel(statistic="mean") for rate in ("far", "frr")})
    test_parts = ds.sel(part="test")
    _draw_folds(plot, test_parts, style)
    _draw_point(plot.ax_, means.sel(part="test"), "test parts, mean", _TESTED)
    note_on_training = "" if ds.attrs["chosen_on"] == "given" else " (optimistic)"
    label_of_training = f"training parts, mean{note_on_training}"
    _draw_point(plot.ax_, means.sel(part="train"), label_of_training, _CHOSEN)
    caption = [limits_in_words(ds.attrs), *_undefined_in_words(test_parts, ds.attrs)]
    return _finish_folds(plot, str(ds.attrs["task"]), test_parts, caption)


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
    names = [str(name) for name in ds.data_vars if "folds/" in str(name)]
    test_parts = xr.Dataset({name.removeprefix("folds/"): ds[name] for name in names})
    chosen = ds.sel(part="all")
    _draw_folds(plot, test_parts, style)
    _draw_point(plot.ax_, ds.sel(part="test"), f"expected of {new_people(ds)}", _TESTED)
    _draw_point(plot.ax_, chosen, "where it was chosen (optimistic)", _CHOSEN)
    level = f"{100 * float(ds.attrs['confidence']):g} %"
    caption: list[Text] = [f"filled: {level} interval of the mean over folds (Nadeau and Bengio)"]
    if np.isfinite(chosen["far_low"] + chosen["frr_low"]):
        caption.append(f"hollow: {level} interval at this threshold, by people")
    caption += _undefined_in_words(test_parts, ds.attrs)
    return _finish_folds(plot, say("{far} and {frr} of a threshold"), test_parts, caption)


def _draw_folds(plot: Display, folds: xr.Dataset, style: Mapping[str, Any]) -> None:
    """Draw a dot for each fold; `folds` has ``far`` and ``frr`` of the test parts."""
    dots: dict[str, Any] = {"color": Style.colour(Style.rule), "alpha": 0.4, "markersize": 4.5}
    dots["label"] = f"test part of a {unit_of(plot.systems[0].dataset.attrs)}"
    far, frr = folds["far"].values.ravel(), folds["frr"].values.ravel()
    plot.ax_.plot(far, frr, "o", markeredgewidth=0, clip_on=False, **{**dots, **style})


def _draw_point(ax: Axes, rates: xr.Dataset, label: str, look: Mapping[str, Any]) -> None:
    """Draw FAR and FRR as one point, with a bar across and a bar upward where they have limits."""
    drawn = ax.errorbar(
        float(rates["far"]),
        float(rates["frr"]),
        xerr=_lengths_of_bar(rates, "far"),
        yerr=_lengths_of_bar(rates, "frr"),
        zorder=4,
        color=Style.colour(Style.text),
        markersize=7,
        **look,
    )
    drawn.lines[0].set_label(label)  # the legend shows the point without its bars


def _lengths_of_bar(rates: xr.Dataset, rate: str) -> np.ndarray:
    """Return how far the limits are below and above a rate, (2, 1); NaN without limits.

    No length is negative, which matplotlib refuses.
    """
    value = float(rates[rate])
    low = float(rates.get(f"{rate}_low", np.nan))
    high = float(rates.get(f"{rate}_high", np.nan))
    return np.maximum([[value - low], [high - value]], 0)


def _undefined_in_words(folds: xr.Dataset, attrs: Mapping[str, Any]) -> list[Text]:
    """Return a text on each rate that is not defined in all folds."""
    number = folds["far"].size
    texts: list[Text] = []
    for name in ("far", "frr"):
        defined = int(np.isfinite(folds[name].values).sum())
        if defined < number:
            part = f"{defined:,} of {counted(number, f'{unit_of(attrs)}s')}"
            texts.append(say("{rate} is defined in {part}", rate=Term(name), part=part))
    return texts


def _finish_folds(plot: Display, title: Text, folds: xr.Dataset, caption: list[Text]) -> Display:
    """Mark the target, and write the words: the last step, after all dots and points are drawn.

    The limits that matplotlib has chosen for them are widened here.
    """
    ax = plot.ax_
    right, top = ax.get_xlim()[1], ax.get_ylim()[1]
    ax.set_xlim(left=-BEFORE * right)
    ax.set_ylim(bottom=-BEFORE * top, top=BEYOND * top)
    rule = rule_of(plot.systems[0].dataset.attrs)
    if rule.name == "far":
        target = rule.values[0]
        # The target may be beyond the rates of all folds.
        ax.set_xlim(right=max(right, (1 + BEFORE) * target))
        text = f"target {percent(target, '.3g')}"
        plot_axes.named_line(ax, target, text, Style.text, TO_THE_RIGHT, 3)
    # As many numbers on the axis of FAR as stand side by side.
    width_of_rate = plot_axes.LETTER * Style.look.small * LETTERS_OF_RATE
    width, _ = plot_axes.room(ax)
    ax.locator_params("x", nbins=min(MOST_RATES, int(width / width_of_rate)))
    ax.xaxis.set_major_formatter(in_per_cent)
    ax.yaxis.set_major_formatter(in_per_cent)
    has_both_classes = np.isfinite(folds["far"].values + folds["frr"].values)
    if not has_both_classes.any():
        plot.empty("No fold has attempts of both classes")
    x_label = plot.named(say("False accept rate, {far}"))
    y_label = plot.named(say("False reject rate, {frr}"))
    plot.finish(plot.of_system(title), caption, x_label, y_label)
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

    rates_drawn = [np.ones(1)]  # the axes have a rate also if no curve is defined
    for curve in plot.defined:
        # Curves over partitions have a band; those over folds have a dot for each fold instead.
        rates_of_folds = _rates_of_folds(curve) if is_over_folds else np.empty((0, len(curve.x)))
        plot.cloud(curve, [(curve.x, y) for y in rates_of_folds], marker=".", linestyle="none")
        if _has_all_ranks(curve) and not len(rates_of_folds):
            _draw_curve(plot, curve)
        else:
            _draw_bars(plot, curve)
        rates_drawn += [rates for rates in (curve.y, curve.low, curve.high) if rates is not None]
        rates_drawn.extend(rates_of_folds)

    last = max(int(curve.x[-1]) for curve in plot.curves.values())
    # The axis ends where no curve changes any more, which is not known between chosen ranks.
    if all(_has_all_ranks(curve) for curve in plot.defined):
        last = plot_axes.last_change(rates_drawn, last)
    plot_axes.rank_axis(plot.ax_, last)
    smallest = min(map(np.nanmin, rates_drawn)) if plot.lines_ else 0.0
    plot_axes.rate_axis(plot.ax_, smallest)
    cms = say("Cumulative match score, {cms}(k)")
    dir_ = say("Detection and identification rate, {dir}(k)")
    y_label = plot.write(cms if "cms" in first else dir_)
    return plot.end("Mean", "Rank k", y_label, caption=caption)


def _has_all_ranks(curve: Curve) -> bool:
    """Whether a curve has each rank up to its last; curves of folds have chosen ranks alone."""
    return bool((np.diff(curve.x) == 1).all())


def _rates_of_folds(curve: Curve) -> np.ndarray:
    """Return the rates in the test parts, (folds, ranks); repetitions follow each other."""
    rates = curve.system.dataset[curve.variable].sel(part="test").values
    return rates.reshape(-1, len(curve.x))


def _draw_curve(plot: Curves, curve: Curve) -> None:
    """Draw the mean at all ranks as a line with its band."""
    is_defined = np.isfinite(curve.y)
    plot.line(curve, curve.x[is_defined], curve.y[is_defined])
    plot.band(curve, is_defined)


def _draw_bars(plot: Curves, curve: Curve) -> None:
    """Draw the mean at each rank as a point with a bar: between chosen ranks, it is unknown."""
    is_defined = np.isfinite(curve.y)
    ranks = curve.x[is_defined]
    look: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 7}
    plot.line(curve, ranks, curve.y[is_defined], **look)
    if curve.low is not None and curve.high is not None:
        colour = plot.lines_[curve.name].get_color()
        low, high = curve.low[is_defined], curve.high[is_defined]
        plot.ax_.vlines(ranks, low, high, color=colour, linewidth=CURVE)


def _mean_curves(systems: list[System]) -> list[Curve]:
    """Return the curves of the mean rates of all systems, with their colours and line styles.

    A curve has the line style of its rate, and its colour if there is one system alone; else it has
    the colour of its system. Curves over ranks, one a system, have no style of a rate.
    """
    curves = []
    for number, system in enumerate(systems):
        means = replace(system, dataset=_mean_rates(system.dataset))
        for rate, word in _RATES.items():
            if rate not in means.dataset:
                continue
            if means.dataset[rate].dims == ("rank",):
                curve = Curve.from_variables(means, "rank", rate)
                style_number = number
            else:
                curve = Curve.from_variables(means, "threshold", rate, word, rank=1)
                style_number = Style.hues[rate]
            hue = number if len(systems) > 1 else style_number
            # The system of the curve is the one with the rates of each fold.
            curves.append(replace(curve, system=system, hue=hue, dash=style_number))
    return curves


def _mean_rates(ds: xr.Dataset) -> xr.Dataset:
    """Return the rates that are curves, averaged over folds or partitions, with their limits."""
    dims = [str(dim) for dim in OVER if dim in ds.dims]
    if "part" in ds.dims:
        means = aggregate(ds, dims).sel(statistic="mean", part="test")
    else:
        rates = ds[[rate for rate in _RATES if rate in ds]]
        if "dir" in rates:  # FRR is 1 - DIR at rank 1
            rates = rates.drop_vars("frr").assign(dir=rates["dir"].sel(rank=1, drop=True))
        means = aggregate(rates, dims, interval="quantile").sel(statistic="mean")
    single_numbers = [rate for rate in _RATES if rate in means and not means[rate].ndim]
    return means.drop_vars(single_numbers)
