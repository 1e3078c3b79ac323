"""Thresholds on other data: rates of folds, of a threshold study, and of an assured threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.base.errors import counted
from bioeval.plot import plot_axes
from bioeval.plot.display import Display, threshold_label
from bioeval.plot.plot_axes import in_per_cent, note, ticks_across
from bioeval.plot.plot_style import CURVE, THIN, Style, styled
from bioeval.plot.systems import pick
from bioeval.results.variables import percent
from bioeval.showing.cells import threshold_of
from bioeval.showing.header import threshold_rule
from bioeval.showing.messages import sentence_about
from bioeval.showing.nodes import unit_of
from bioeval.showing.text import Term, Text, say
from bioeval.showing.writers.lines import written
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
        ("far", far, Style.dash(far), say("{far}, over {over}", over=ds.attrs["assured_over"])),
        ("frr", frr, Style.dash(frr), say("{frr}")),
    ):
        rates = ds[f"point_{name}"].values
        if np.isfinite(rates).any():
            line: dict[str, Any] = {"color": Style.colour(hue), "linestyle": dash, "linewidth": 1.8}
            label_drawn = plot.write(label) + ": 0 at each threshold" * (not np.nanmax(rates))
            plot.ax_.plot(
                ds["point_threshold"].values, rates, label=label_drawn, **{**line, **style}
            )
