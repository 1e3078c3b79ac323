"""DET: false rejects against false accepts, on axes of normal deviates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator
from scipy.special import ndtr, ndtri

from bioeval.plot import plot_axes
from bioeval.plot.display import Curve, Curves, curves_of
from bioeval.plot.plot_style import SQUARE, Style, styled
from bioeval.plot.rate_plots import (
    SHADED,
    by_far,
    fold_lines,
    folds_in_words,
    mean_curves,
    shade_below,
    smallest_known,
    smallest_rates,
)
from bioeval.plot.systems import joined, value_or_nan
from bioeval.results.support import is_supported
from bioeval.results.variables import TARGETS, percent
from bioeval.showing.text import say

# Ticks of an axis; above a half, they mirror the largest below it.
_TICKS_IN_PER_CENT = (1e-5, 1e-4, 0.001, 0.01, 0.1, 1, 5, 10, 20, 40, 60, 80, 90, 95, 99, 99.9)
TICKS = tuple(tick / 100 for tick in _TICKS_IN_PER_CENT)

# Room that a tick needs, in heights of a letter.
TICK_WIDTH, TICK_HEIGHT = 3.06, 1.3

# Rates of 0 and 1 have no normal deviate, and are drawn at this distance from 0 and 1.
EDGE = 1e-9

# Ends of the axes.
LEAST_END = 0.4  # axes reach at least to this rate
BEYOND_EQUAL_RATES = 1.6  # and by this factor beyond the rate at which a curve has equal rates
BEHIND_TICK = 0.06  # they end behind a tick, by this normal deviate

# Beginnings of the axes.
BEFORE_TICK = 0.7  # axes begin at this part of a tick
LARGEST_FIRST_TICK = 0.01  # which is at most this rate
LOW_WITHOUT_CURVES = 0.001  # smallest rate if there are no curves

SIZE_OF_EER = 4.5  # of its dot, in points

#: The variables of operating points, on both axes of a DET, that must be within the axes.
POINTS = (("far_target", "frr_at_far"), ("far_target", "dir_at_far"), ("far_at_frr", "frr_target"))


class _Limits(NamedTuple):
    """The lowest and the highest rate on each axis of a DET."""

    x: tuple[float, float]
    y: tuple[float, float]

    def contain(self, x: float, y: float) -> bool:
        return self.x[0] < x < self.x[1] and self.y[0] < y < self.y[1]

    def are_crossed_by(self, x: np.ndarray, y: np.ndarray) -> bool:
        """Whether a part of a curve in steps, (points,), is within the axes; `x` increases."""
        ends, lower = np.append(x[1:], x[-1]), np.append(y[1:], y[-1])
        across = (x < self.x[1]) & (ends > self.x[0]) & (y > self.y[0]) & (y < self.y[1])
        down = (ends > self.x[0]) & (ends < self.x[1]) & (lower < self.y[1]) & (y > self.y[0])
        return bool((across | down).any())


@styled
def det(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Curves:
    """Draw the DET: FRR against FAR, in per cent on axes of normal deviates.

    Normally distributed scores give straight lines. The EER is where a curve meets the dotted
    line; it is in the label, and the attainable threshold nearest to it is marked by a dot. The
    axes show all operating points of the result; of its FAR targets, those that the data support.

    A rate of 0 or 1 has no normal deviate; such points lie outside the axes. Rates below one of the
    attempts are shaded. Lines are steps, as in :func:`bioeval.plot.roc`. Bands are the intervals of
    FRR, where the result has them and the curve is on the axes; the interval of no false reject is
    in the result and its table.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of verification or of open-set identification, or several by name. Every
        verification result of a tree is drawn (open set only where there is no verification). Folds
        are drawn as by :func:`roc`.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    curves = curves_of(mean_curves(data), "det", "far", {"frr": ""})
    plot = Curves("det", curves, ax, style, SQUARE, solid=True, label=_with_eer)
    ax = plot.ax_
    limits = _limits_of_axes(plot.defined)
    deviates = {"functions": (deviate, ndtr)}
    ax.set_xscale("function", **deviates)
    ax.set_yscale("function", **deviates)
    ax.set(xlim=limits.x, ylim=limits.y)
    unseen: dict[str, str] = {}
    for curve in plot.defined:
        plot.line(curve, *by_far(curve.x, curve.y), **fold_lines(plot, curve))
        is_below = curve.y < limits.y[0]
        if ((curve.x < limits.x[0]) & is_below).any():
            unseen[curve.name] = "off the axes, both rates are smaller at one threshold"
        elif not limits.are_crossed_by(*by_far(curve.x, curve.y)):
            unseen[curve.name] = "off the axes, one rate is larger at each threshold"
        else:  # the band ends where the curve leaves the axes
            plot.band(curve, curve.x <= curve.x[is_below].min(initial=np.inf))
        at_eer = [value_or_nan(curve.system.dataset, f"{x}_at_eer") for x in ("far", "frr")]
        if limits.contain(*at_eer):
            colour = plot.lines_[curve.name].get_color()
            ax.plot(*at_eer, "o", markersize=SIZE_OF_EER, color=colour, zorder=3)
    # Set the ticks, and shade the rates below the `smallest` ones; return whether there are any.
    room = plot_axes.room(ax)
    is_shaded = False
    for k, (axis, length_of_tick) in enumerate(((ax.xaxis, TICK_WIDTH), (ax.yaxis, TICK_HEIGHT))):
        most_ticks = room[k] / (length_of_tick * Style.look.small)
        axis.set_major_locator(FixedLocator(_ticks(*limits[k], most_ticks)))
        axis.set_major_formatter(lambda rate, _: f"{100 * rate:.9g}")
        axis.set_minor_locator(NullLocator())
        is_shaded |= shade_below(
            axis, smallest_known(rates[k] for rates in [*map(smallest_rates, plot.systems)])
        )
    if len(plot.curves) == 1:  # an empty figure names no curve
        unseen = {x: joined(why, _with_eer(plot.curves[x]), by="; ") for x, why in unseen.items()}
    if limits.x == limits.y and not Style.look.is_flat:
        ax.set_aspect("equal")
    first, last = deviate([max(limits.x[0], limits.y[0]), min(limits.x[1], limits.y[1])]).tolist()
    equal_rates = ndtr(np.linspace(first, last, 50))
    plot.reference(equal_rates, equal_rates)
    return plot.end(
        "DET",
        say("False accept rate, {far} (%)"),
        say("False reject rate, {frr} (%)"),
        last=folds_in_words(plot.systems) + [SHADED] * is_shaded,
        unseen=unseen,
    )


def _limits_of_axes(curves: Sequence[Curve]) -> _Limits:
    """Return the ends of both axes.

    All operating points that the data support, and the point of equal rates, are within the axes.
    """
    points = [(LEAST_END, LEAST_END)]
    for curve in curves:
        equal_rate = BEYOND_EQUAL_RATES * float(np.fmin(curve.x, curve.y).max())
        points.append((equal_rate, equal_rate))
        points += _supported_operating_points(curve.system.dataset)
    last_ticks = [
        next((tick for tick in TICKS if tick >= largest), TICKS[-1])
        for largest in np.nanmax(points, 0)
    ]
    ends = []
    for k, (axis, other_axis) in enumerate((("x", "y"), ("y", "x"))):
        lows = [] if curves else [LOW_WITHOUT_CURVES]
        for curve in curves:
            rate, other_rate = getattr(curve, axis), getattr(curve, other_axis)
            smallest = np.append(rate[other_rate <= last_ticks[1 - k]], 1.0).min()
            lows.append(np.fmax(smallest, smallest_rates(curve.system)[k]))
        first_tick = max((tick for tick in TICKS if tick <= min(lows)), default=TICKS[0])
        begin = BEFORE_TICK * min(LARGEST_FIRST_TICK, first_tick)
        ends.append((begin, float(ndtr(ndtri(last_ticks[k]) + BEHIND_TICK))))
    return _Limits(*ends)


def _supported_operating_points(dataset: xr.Dataset) -> Iterator[tuple[float, float]]:
    if "fold_frr" in dataset:  # every point of the curves of folds is an operating point
        yield float(dataset["far"].max()), float(dataset["fold_frr"].max())
    for x_name, y_name in POINTS:
        if x_name not in dataset or y_name not in dataset:
            continue
        x_rates, y_rates = dataset[x_name], dataset[y_name]
        if y_name == "dir_at_far":
            y_rates = 1 - y_rates.isel(rank=0, missing_dims="ignore")
        if x_rates.ndim == 1 and x_rates.dims == y_rates.dims:
            is_shown = [True] * x_rates.size
            dim = str(x_rates.dims[0])
            if dim in TARGETS:
                rate = y_name if dim == "far_target" else x_name
                targets = dataset[dim].values.tolist()
                is_shown = [is_supported(dataset, rate, {dim: target}) for target in targets]
            yield from compress(
                zip(x_rates.values.tolist(), y_rates.values.tolist(), strict=True), is_shown
            )


def _ticks(low: float, high: float, most: float) -> list[float]:
    """Return the ticks between two rates, at most `most`; larger rates have priority."""
    step = (deviate(high) - deviate(low)) / most
    ticks: list[float] = []
    for tick in reversed(TICKS):
        if low <= tick <= high and not (ticks and deviate(ticks[0]) - deviate(tick) < step):
            ticks.insert(0, tick)
    return ticks


def deviate(rate: Any) -> Any:
    """Return the normal deviate of a rate; 0 and 1 are kept finite."""
    return ndtri(np.clip(rate, EDGE, 1 - EDGE))


def _with_eer(curve: Curve) -> str:
    """Return the name of a curve, with its EER."""
    eer = value_or_nan(curve.system.dataset, "eer")
    return joined(curve.name, "" if np.isnan(eer) else f"EER {percent(eer, 'fine')}")
