"""Error rates: ROC, open-set ROC, DET, and FAR and FRR against the threshold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator
from scipy.special import ndtr, ndtri

from bioeval.base.arguments import require_flag
from bioeval.base.errors import DataError, counted
from bioeval.plot import plot_axes
from bioeval.plot.display import Curve, Curves, curves_by_rank, curves_of, legend_text
from bioeval.plot.plot_axes import RATES, SHADE, SIZE, SQUARE, THIN, Style, styled
from bioeval.plot.systems import System, attempts, joined
from bioeval.results.support import is_supported
from bioeval.results.variables import TARGETS, percent
from bioeval.showing.nodes import OVER, unit_of, value_of
from bioeval.showing.numbers import written
from bioeval.showing.text import Term, say, threshold_of
from bioeval.stats.aggregate import aggregate

# A logarithmic axis of rates.
BELOW_SMALLEST = 1.8  # begins below the smallest rate by this factor: shaded rates are visible
LARGEST_BEGIN = 0.1  # begins at most here, so that it has a decade

SHADED = "shaded: below one attempt"
FAR = say("False accept rate, {far}")

# ------------------------------------------------------------------------- curves of folds


def mean_curves(data: Any) -> Any:
    """Return results with results over folds replaced by mean curves at FAR targets.

    The curves of the folds are variables beside the means: ``fold_far`` and so on.
    """
    if isinstance(data, xr.DataTree):
        return data.map_over_datasets(mean_curves)
    if isinstance(data, Mapping) and not isinstance(data, xr.Dataset):
        return {name: mean_curves(result) for name, result in data.items()}
    fold_dims = [dim for dim in OVER if isinstance(data, xr.Dataset) and dim in data.dims]
    if not fold_dims or "part" not in data.dims:
        return data
    if "frr_at_far" in data:
        # The mean of FRR over folds as a curve, beside the curves of the folds.
        results = data.sortby("far_target")
        far = results["far_target"].values
        over_folds = aggregate(results[["frr_at_far", "subjects"]], fold_dims)
        frr = over_folds["frr_at_far"].sel(statistic="mean").values
        low, high = (over_folds[f"frr_at_far_{end}"].values for end in ("low", "high"))
        mean = {"far": far, "frr": frr, "frr_low": low, "frr_high": high}
        mean |= {"gar": 1 - frr, "gar_low": 1 - high, "gar_high": 1 - low}
        fold_frr = results["frr_at_far"].values.reshape(-1, len(far))
        folds = {"far": np.broadcast_to(far, fold_frr.shape), "frr": fold_frr, "gar": 1 - fold_frr}
        variables: dict[str, Any] = {name: ("threshold", x) for name, x in mean.items()}
        variables |= {f"fold_{name}": (("fold", "threshold"), x) for name, x in folds.items()}
        curves = xr.Dataset(variables, attrs={**results.attrs, "far_targets": len(far)})
        for role in ("genuine_attempts", "impostor_attempts"):
            attempts_of_test = float(results[role].sel(part="test").sum())
            curves[role] = round(attempts_of_test / results.sizes.get("repeat", 1))
        return curves
    if data.attrs.get("result_type") != "verification":
        return data.drop_vars(["far", "gar", "frr"], errors="ignore")
    raise DataError(
        "the results have one threshold for each fold; for curves of the folds give "
        "far_targets= to be.cross_evaluate, such as far_targets=[0.001, 0.01, 0.1, 1]"
    )


def folds_in_words(systems: Sequence[System]) -> list[str]:
    first = systems[0].dataset
    if "fold_far" not in first:
        return []
    marks = "small dots" if first.sizes["threshold"] == 1 else "thin lines"
    return [f"{marks}: {counted(first.sizes['fold'], f'{unit_of(first.attrs)}s')}"]


def fold_lines(plot: Curves, curve: Curve, floor: float = 0.0) -> dict[str, Any]:
    """Draw the folds of a mean curve as thin lines; return the properties of the mean's line.

    The properties are empty for a curve without folds. If above 0, `floor` is the smallest FAR of a
    logarithmic axis.
    """
    dataset = curve.system.dataset
    if "fold_far" not in dataset:
        return {}
    folds = zip(dataset["fold_far"].values, dataset[f"fold_{curve.variable}"].values, strict=True)
    plot.cloud(curve, (from_floor(*by_far(*fold), floor) for fold in folds))
    point = {"markersize": 7} if dataset.sizes["threshold"] == 1 else {}
    return {"linewidth": 2.4, "drawstyle": "default", **point}


# ------------------------------------------------------------------------- rates against FAR


def by_far(far: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of a curve in the order of FAR, without repeated points.

    Between two points, curves are steps: a step to the right keeps the rate at the smaller FAR.
    """
    fars, rates = np.asarray(far, dtype=float), np.asarray(rate, dtype=float)
    if len(fars) > 1 and fars[0] > fars[-1]:  # thresholds of similarities: FAR falls
        fars, rates = fars[::-1], rates[::-1]
    is_new = np.ones(len(fars), dtype=bool)
    is_new[1:] = (fars[1:] != fars[:-1]) | (rates[1:] != rates[:-1])
    return fars[is_new], rates[is_new]


def from_floor(x: np.ndarray, y: np.ndarray, floor: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve for a logarithmic FAR axis (without FAR 0).

    The curve starts at the floor, 1 / impostor attempts, with the best rate up to this FAR: a rate
    at FAR 0 is attained at the floor, too.
    """
    points_to_floor = np.searchsorted(x, floor, "right") if floor > 0 else 0
    if not points_to_floor:
        return x, y
    return np.append(floor, x[points_to_floor:]), y[points_to_floor - 1 :]


def smallest_rate(system: System, role: str = "impostor") -> float:
    """Return the smallest rate above 0 of a class, 1 / attempts; NaN without attempts."""
    return 1.0 / (attempts(system.dataset, role) or np.nan)


def smallest_rates(system: System) -> tuple[float, float]:
    return smallest_rate(system), smallest_rate(system, "genuine")


def smallest_known(rates: Iterable[float]) -> float:
    """Return the smallest of the rates that are not NaN; 0 if there are none."""
    return min((rate for rate in rates if not np.isnan(rate)), default=0.0)


def shade_below(axis: Axis, floor: float) -> bool:
    """Shade the rates of an axis below `floor`, 1 / attempts; return whether the axis has any."""
    low = min(axis.get_view_interval())
    if low >= floor:
        return False
    band = axis.axes.axvspan if axis is axis.axes.xaxis else axis.axes.axhspan
    band(low, floor, color=SHADE, linewidth=0, zorder=0)
    return True


def _draw_against_far(plot: Curves, log: bool) -> list[str]:
    ax = plot.ax_
    smallest_far = smallest_known(map(smallest_rate, plot.systems))
    lowest = 1.0
    for curve in plot.defined:
        far, rates = by_far(curve.x, curve.y)
        floor = smallest_rate(curve.system) if log else -np.inf
        far, rates = from_floor(far, rates, floor)
        lowest = min(lowest, float(rates.min()))
        plot.line(curve, far, rates, **fold_lines(plot, curve, floor))
        plot.band(curve, floor=floor)
    caption = folds_in_words(plot.systems)
    if log:
        begin = min(LARGEST_BEGIN, smallest_far / BELOW_SMALLEST) or 1e-3  # if it is not known
        plot_axes.log_axis(ax, "x", begin)
        plot_axes.rate_axis(ax, lowest if plot.defined else 0.0)
        if shade_below(ax.xaxis, smallest_far):
            caption.append(SHADED)
    else:
        ax.set(xlim=RATES, ylim=RATES)
    return caption


@styled
def roc(data: Any, ax: Axes | Figure | None = None, *, log: bool = False, **style: Any) -> Curves:
    """Draw the ROC: GAR against FAR over all thresholds.

    Lines are steps: at each FAR they show the GAR of the nearest threshold in the result whose
    FAR is not larger, never an interpolated one. GAR is over the genuine attempts, FAR over the
    impostor attempts. Bands are the intervals of GAR at each threshold by itself;
    :func:`error_rates` shows how uncertain FAR is there.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.verification` or :func:`bioeval.evaluate`, or several by name.
        Every verification result of a tree is drawn (single- and multi-template, all systems). For
        a result of :func:`bioeval.cross_evaluate` with `far_targets`, a thin line joins the GAR of
        each fold at these targets, and a bold line their means; at a single target they are dots.
    ax : matplotlib Axes, optional
        Axes to draw on; by default, the axes of a new figure.
    log : bool
        Whether the FAR axis is logarithmic. It then ends at one of the impostor attempts: the GAR
        attained at FAR 0 is drawn from there on, and the FAR below is shaded.
    **style
        Properties of all lines, such as ``linewidth=1``, and the words that all plots take.
        ``labels`` rename the systems: a list, or a mapping of name to new name; ``name`` names a
        single one. ``colors`` is a list, used in the order of the legend, or a mapping of the name
        of a system to its colour. ``fontsize`` is the size of the labels in points; the other
        letters follow. ``title`` replaces the title; None leaves it out, and the line below it.
        ``figsize`` is the size of a new figure in inches. ``display.legend()`` draws the legend
        anew.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.roc(be.verification(be.simulate(20, 4)), log=True)
    >>> display.ax_.get_xscale()
    'log'
    """
    log = require_flag("log", log)
    curves = curves_of(mean_curves(data), "roc", "far", {"gar": ""})
    plot = Curves("roc", curves, ax, style, SIZE if log else (5.6, 5.7), solid=True)
    last = _draw_against_far(plot, log)
    for curve in plot.defined:
        far, gar = by_far(curve.x, curve.y)
        auc = value_of(curve.system.dataset, "auc")
        if auc - float(np.diff(far) @ gar[:-1]) > 0.01:  # that can be seen
            why = "scores tie: the area below the steps is less than AUC, which counts a tie half"
            last.append(why)
            break
    if not log:
        plot.reference([0, 1], [0, 1])  # a system that decides at random
        if not Style.look.is_flat:
            plot.ax_.set_box_aspect(1)
    y = say("Genuine accept rate, {gar}")
    return plot.end("ROC", FAR, y, last=last)


@styled
def dir_far(
    data: Any,
    ax: Axes | Figure | None = None,
    *,
    ranks: Sequence[int] | None = None,
    log: bool = False,
    **style: Any,
) -> Curves:
    """Draw DIR against FAR at several ranks: the ROC of open-set identification (watch lists).

    DIR is over the genuine attempts (enrolled probes), FAR over the impostor attempts. Lines are
    steps, as in :func:`bioeval.plot.roc`. Bands are the intervals of DIR at each threshold by
    itself, where the result has them.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.open_set` or :func:`bioeval.evaluate`, or several by name.
    ax, log, **style
        As for :func:`bioeval.plot.roc`.
    ranks : sequence of int, optional
        Ranks with a curve each. Default: 1, 5 and 10, as far as the result has them.
    """
    log = require_flag("log", log)
    curves = curves_by_rank(data, "dir_far", "far", "dir", ranks)
    plot = Curves("dir_far", curves, ax, style, solid=True)
    last = _draw_against_far(plot, log)
    y = say("Detection and identification rate, {dir}")
    return plot.end(say("{dir} against {far}"), FAR, y, last=last)


# ------------------------------------------------------------- FAR and FRR against the threshold


@styled
def error_rates(
    data: Any, ax: Axes | Figure | None = None, *, log: bool = False, **style: Any
) -> Curves:
    """Draw FAR and FRR against the threshold, with the EER where the result has it.

    FAR is over the impostor attempts, FRR over the genuine attempts. The threshold is in the
    units of the scores: FAR grows with a threshold of distances and falls with one of similarities.
    Bands are the intervals at each threshold by itself, where the result has them.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of verification or of open-set identification, or several by name, all of one
        kind of score: thresholds of distances and of similarities have no axis in common.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    log : bool
        Whether the axis of the rates is logarithmic; rates of 0 are then left out.
    """
    log = require_flag("log", log)
    curves = curves_of(data, "error_rates", "threshold", {"far": Term("far"), "frr": Term("frr")})
    plot = Curves("error_rates", curves, ax, style)
    label = plot.over_thresholds(log)
    unseen = {c.name: "0 at each threshold" for c in plot.defined if log and not c.y.any()}
    if log:
        rates = [rate for system in plot.systems for rate in smallest_rates(system)]
        smallest = smallest_known([LARGEST_BEGIN, *rates])
        plot_axes.log_axis(plot.ax_, "y", smallest / BELOW_SMALLEST, 1.3)
    for number, system in enumerate(plot.systems):  # of several, no EER is named
        eer, threshold = (value_of(system.dataset, x) for x in ("eer", "eer_threshold"))
        if not np.isfinite([eer, threshold]).all() or (log and eer <= 0):
            continue
        name = ""
        colour: Any = Style.text
        if len(plot.systems) == 1:
            at = written(threshold_of(system.dataset, "eer_threshold"))
            name = f"EER {percent(eer)} at {at}"
        else:
            colour = system.colour(number)
        plot.ax_.axvline(threshold, color=colour, linewidth=THIN, linestyle=":", zorder=1)
        point: dict[str, Any] = {"markersize": 5, "color": colour, "zorder": 4}
        plot.ax_.plot(threshold, eer, "o", label=legend_text(name), **point)
    return plot.end("Error rates", label, plot.named("Error rate", "far", "frr"), unseen=unseen)


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

#: The variables of operating points, on both axes of a DET, that must be within the axes.
POINTS = (("far_target", "frr_at_far"), ("far_target", "dir_at_far"), ("far_at_frr", "frr_target"))


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
    x_limits, y_limits = limits = _limits_of_axes(plot.defined)
    deviates = {"functions": (deviate, ndtr)}
    ax.set_xscale("function", **deviates)
    ax.set_yscale("function", **deviates)
    ax.set(xlim=x_limits, ylim=y_limits)
    unseen: dict[str, str] = {}
    for curve in plot.defined:
        x, y = by_far(curve.x, curve.y)
        plot.line(curve, x, y, **fold_lines(plot, curve))
        # The parts of the steps that are within the axes: across, and down at the end of each.
        ends, lower = np.append(x[1:], x[-1]), np.append(y[1:], y[-1])
        across = (x < x_limits[1]) & (ends > x_limits[0]) & (y > y_limits[0]) & (y < y_limits[1])
        down = (ends > x_limits[0]) & (ends < x_limits[1])
        down &= (lower < y_limits[1]) & (y > y_limits[0])
        is_below = curve.y < y_limits[0]
        if ((curve.x < x_limits[0]) & is_below).any():
            unseen[curve.name] = "off the axes, both rates are smaller at one threshold"
        elif not (across | down).any():
            unseen[curve.name] = "off the axes, one rate is larger at each threshold"
        else:  # the band ends where the curve leaves the axes
            plot.band(curve, curve.x <= curve.x[is_below].min(initial=np.inf))
        at_eer = [value_of(curve.system.dataset, f"{x}_at_eer") for x in ("far", "frr")]
        if all(low < rate < high for rate, (low, high) in zip(at_eer, limits, strict=True)):
            colour = plot.lines_[curve.name].get_color()
            ax.plot(*at_eer, "o", markersize=4.5, color=colour, zorder=3)
    # Set the ticks, and shade the rates below the smallest ones.
    room = plot_axes.room(ax)
    is_shaded = False
    for k, (axis, length_of_tick) in enumerate(((ax.xaxis, TICK_WIDTH), (ax.yaxis, TICK_HEIGHT))):
        low, high = limits[k]
        most_ticks = room[k] / (length_of_tick * Style.look.small)
        step = (deviate(high) - deviate(low)) / most_ticks
        ticks: list[float] = []
        for tick in reversed(TICKS):  # larger rates have priority
            if low <= tick <= high and not (ticks and deviate(ticks[0]) - deviate(tick) < step):
                ticks.insert(0, tick)
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_major_formatter(lambda rate, _: f"{100 * rate:.9g}")
        axis.set_minor_locator(NullLocator())
        is_shaded |= shade_below(
            axis, smallest_known(rates[k] for rates in [*map(smallest_rates, plot.systems)])
        )
    if len(plot.curves) == 1:  # an empty figure names no curve
        unseen = {x: joined(why, _with_eer(plot.curves[x]), by="; ") for x, why in unseen.items()}
    if x_limits == y_limits and not Style.look.is_flat:
        ax.set_aspect("equal")
    first, last = deviate([max(x_limits[0], y_limits[0]), min(x_limits[1], y_limits[1])]).tolist()
    equal_rates = ndtr(np.linspace(first, last, 50))
    plot.reference(equal_rates, equal_rates)
    return plot.end(
        "DET",
        say("False accept rate, {far} (%)"),
        say("False reject rate, {frr} (%)"),
        last=folds_in_words(plot.systems) + [SHADED] * is_shaded,
        unseen=unseen,
    )


def _limits_of_axes(curves: Sequence[Curve]) -> list[tuple[float, float]]:
    """Return the ends of both axes.

    All operating points that the data support, and the point of equal rates, are within the axes.
    """
    points = [(LEAST_END, LEAST_END)]
    for curve in curves:
        equal_rate = BEYOND_EQUAL_RATES * float(np.fmin(curve.x, curve.y).max())
        points.append((equal_rate, equal_rate))
        dataset = curve.system.dataset
        if "fold_frr" in dataset:  # every point of the curves of folds is an operating point
            points.append((float(dataset["far"].max()), float(dataset["fold_frr"].max())))
        for x_name, y_name in POINTS:
            if x_name not in dataset or y_name not in dataset:
                continue
            x_rates, y_rates = dataset[x_name], dataset[y_name]
            if y_name == "dir_at_far":
                y_rates = 1 - y_rates.isel(rank=0, missing_dims="ignore")
            if x_rates.ndim == 1 and x_rates.dims == y_rates.dims:
                dim = str(x_rates.dims[0])
                rate = y_name if dim == "far_target" else x_name
                values = x_rates.values.tolist(), y_rates.values.tolist()
                for target, *point in zip(dataset[dim].values.tolist(), *values, strict=True):
                    if dim not in TARGETS or is_supported(dataset, rate, {dim: target}):
                        points.append((point[0], point[1]))
    last_ticks = [
        next((tick for tick in TICKS if tick >= largest), TICKS[-1])
        for largest in np.nanmax(points, 0)
    ]
    ends = []
    for k, (axis, other_axis) in enumerate((("x", "y"), ("y", "x"))):
        lows = [] if curves else [0.001]
        for curve in curves:
            rate, other_rate = getattr(curve, axis), getattr(curve, other_axis)
            smallest = np.append(rate[other_rate <= last_ticks[1 - k]], 1.0).min()
            lows.append(np.fmax(smallest, smallest_rates(curve.system)[k]))
        first_tick = max((tick for tick in TICKS if tick <= min(lows)), default=TICKS[0])
        begin = BEFORE_TICK * min(LARGEST_FIRST_TICK, first_tick)
        ends.append((begin, float(ndtr(ndtri(last_ticks[k]) + BEHIND_TICK))))
    return ends


def deviate(rate: Any) -> Any:
    """Return the normal deviate of a rate; 0 and 1 are kept finite."""
    return ndtri(np.clip(rate, EDGE, 1 - EDGE))


def _with_eer(curve: Curve) -> str:
    eer = value_of(curve.system.dataset, "eer")
    return joined(curve.name, "" if np.isnan(eer) else f"EER {percent(eer)}")
