"""Error rates: ROC, DET, the open-set ROC, and FAR and FRR against the threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress
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
from bioeval.plot import plot_style
from bioeval.plot.display import Curve, Curves, curves_by_rank, curves_of, legend_text
from bioeval.plot.plot_style import RATES, SIZE, SQUARE, THIN, Style, styled
from bioeval.plot.systems import System, attempts, joined, value_or_nan
from bioeval.results.support import is_supported
from bioeval.results.variables import TARGETS
from bioeval.results.words import percent
from bioeval.showing.cells import threshold_of
from bioeval.showing.nodes import OVER, unit_of
from bioeval.showing.text import Term, Text, say
from bioeval.showing.writers.lines import written
from bioeval.stats.aggregate import aggregate

# ------------------------------------------------------------------------- curves of folds

# Points: the width of the line of a mean over folds, and the size of its dot at a single target.
_WIDTH_OF_MEAN, _SIZE_OF_MEAN = 2.4, 7


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
        return _mean_curve(data.sortby("far_target"), fold_dims)
    if data.attrs.get("result_type") != "verification":
        return data.drop_vars(["far", "gar", "frr"], errors="ignore")
    raise DataError(
        "the results have one threshold for each fold; for curves of the folds give "
        "far_targets= to be.cross_evaluate, such as far_targets=[0.001, 0.01, 0.1, 1]"
    )


def _mean_curve(results: xr.Dataset, fold_dims: list[str]) -> xr.Dataset:
    """Return the mean of FRR over folds as a curve, beside the curves of the folds.

    Points are FAR targets, in the dimension ``threshold``.
    """
    number = results.sizes["far_target"]
    far = results["far_target"].values
    over_folds = aggregate(results[["frr_at_far", "subjects"]], fold_dims)
    mean = over_folds["frr_at_far"].sel(statistic="mean").values
    low = over_folds["frr_at_far_low"].values
    high = over_folds["frr_at_far_high"].values
    variables = {"far": far, "frr": mean, "frr_low": low, "frr_high": high}
    variables |= {"gar": 1 - mean, "gar_low": 1 - high, "gar_high": 1 - low}
    fold_frr = results["frr_at_far"].values.reshape(-1, number)  # a row for each fold
    fold_far = np.broadcast_to(far, fold_frr.shape)
    variables |= {"fold_far": fold_far, "fold_frr": fold_frr, "fold_gar": 1 - fold_frr}
    dims = {1: ("threshold",), 2: ("fold", "threshold")}
    attrs = {**results.attrs, "far_targets": number}
    curves = xr.Dataset({k: (dims[x.ndim], x) for k, x in variables.items()}, attrs=attrs)
    for role in ("genuine_attempts", "impostor_attempts"):
        attempts_of_test = float(results[role].sel(part="test").sum())
        curves[role] = round(attempts_of_test / results.sizes.get("repeat", 1))
    return curves


def folds_in_words(systems: Sequence[System]) -> list[str]:
    """Return how many folds are drawn, if any are."""
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
    point = {"markersize": _SIZE_OF_MEAN} if dataset.sizes["threshold"] == 1 else {}
    return {"linewidth": _WIDTH_OF_MEAN, "drawstyle": "default", **point}


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
    """Return the smallest FAR and the smallest FRR above 0."""
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
    band(low, floor, color=plot_style.SHADE, linewidth=0, zorder=0)
    return True


# Inches of the figure of a square ROC.
_SQUARE_ROC = 5.6, 5.7

# A logarithmic axis begins below the smallest rate, so that the shaded rates are visible, and ends
# above 1, by these factors; it begins at most at the third number, so that it has a decade.
_BELOW_SMALLEST, _ABOVE_1, _LARGEST_SMALLEST = 1.8, 1.3, 0.1

# The beginning of a logarithmic axis if no smallest rate is known.
_BEGIN_OF_UNKNOWN = 1e-3

_SHADED = "shaded: below one attempt"
_FAR = say("{False accept rate, far}")


def _draw_against_far(plot: Curves, log: bool) -> list[str]:
    """Draw curves against FAR; return the last parts of the caption."""
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
        begin = min(_LARGEST_SMALLEST, smallest_far / _BELOW_SMALLEST) or _BEGIN_OF_UNKNOWN
        plot_style.log_axis(ax, "x", begin)
        plot_style.rate_axis(ax, lowest if plot.defined else 0.0)
        if shade_below(ax.xaxis, smallest_far):
            caption.append(_SHADED)
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
    plot = Curves("roc", curves, ax, style, SIZE if log else _SQUARE_ROC, solid=True)
    last = _draw_against_far(plot, log)
    if not log:
        plot.reference([0, 1], [0, 1])  # a system that decides at random
        if not Style.look.is_flat:
            plot.ax_.set_box_aspect(1)
    y = say("{Genuine accept rate, gar}")
    return plot.end("ROC", _FAR, y, last=last)


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
    y = say("{Detection and identification rate, dir}")
    return plot.end(say("{dir} against {far}"), _FAR, y, last=last)


# --------------------------------------------------------------------------------------- DET

# Ticks in per cent; the upper half mirrors the lower half.
_LOWER = (1e-5, 1e-4, 0.001, 0.01, 0.1, 1, 5, 10, 20, 40)
TICKS = tuple(t / 100 for t in (*_LOWER, 60, 80, 90, 95, 99, 99.9))

# The width and the height that a tick needs, in heights of a letter.
TICK_WIDTH, TICK_HEIGHT = 3.06, 1.3

# Rates of 0 and 1 have no normal deviate, and are drawn at this distance.
_EDGE = 1e-9

# Both axes of a DET reach at least to this rate, and beyond the largest rate at which FAR and FRR
# are equal by this factor, so that the point of equal rates is well inside.
_LEAST_HIGH, _BEYOND_AGREEMENT = 0.4, 1.6

# The smallest rate on axes without curves.
_LOW_WITHOUT_CURVES = 0.001

# Axes begin at this part of their smallest tick, or of a tick at 1 % if that is smaller, and end
# behind their largest tick by this normal deviate.
_BEFORE_TICK, _LARGEST_FIRST_TICK, _BEHIND_TICK = 0.7, 0.01, 0.06

# The size of the dot at the EER, in points.
_SIZE_OF_EER = 4.5

DET_LABELS = say("{False accept rate, far} (%)"), say("{False reject rate, frr} (%)")


def deviate(rate: Any) -> Any:
    """Return the normal deviate of a rate; 0 and 1 are kept finite."""
    return ndtri(np.clip(rate, _EDGE, 1 - _EDGE))


#: The variables of operating points, on both axes of a DET, that must be within the axes.
POINTS = (("far_target", "frr_at_far"), ("far_target", "dir_at_far"), ("far_at_frr", "frr_target"))


def draw_det(
    plot: Curves,
    smallest_rates_of: Callable[[System], tuple[float, float]],
    points: Iterable[tuple[str, str]],
) -> dict[str, Any]:
    """Draw curves on axes of normal deviates, with their EER; return words for `Curves.end`.

    `smallest_rates_of` returns the smallest rates of a system above 0, on both axes; `points` are
    variables of operating points, which must be within the axes.
    """
    ax = plot.ax_
    limits = _limits_of_axes(plot.defined, smallest_rates_of, points)
    (low_x, high_x), (low_y, high_y) = limits
    deviates = {"functions": (deviate, ndtr)}
    ax.set_xscale("function", **deviates)
    ax.set_yscale("function", **deviates)
    ax.set(xlim=limits[0], ylim=limits[1])
    unseen: dict[str, Text] = {}
    for curve in plot.defined:
        plot.line(curve, *by_far(curve.x, curve.y), **fold_lines(plot, curve))
        if ((curve.x < low_x) & (curve.y < low_y)).any():
            unseen[curve.name] = "off the axes, both rates are smaller at one threshold"
        else:  # the band ends where the curve leaves the axes
            plot.band(curve, curve.x <= curve.x[curve.y < low_y].min(initial=np.inf))
        far, frr = (value_or_nan(curve.system.dataset, f"{x}_at_eer") for x in ("far", "frr"))
        if low_x < far < high_x and low_y < frr < high_y:
            colour = plot.lines_[curve.name].get_color()
            ax.plot(far, frr, "o", markersize=_SIZE_OF_EER, color=colour, zorder=3)
    # (axes, systems)
    smallest = np.array([smallest_rates_of(system) for system in plot.systems]).T
    room = plot_style.room(ax)
    is_shaded = False
    for k, (axis, length) in enumerate(((ax.xaxis, TICK_WIDTH), (ax.yaxis, TICK_HEIGHT))):
        axis.set_major_locator(
            FixedLocator(_ticks(*limits[k], room[k] / (length * Style.look.small)))
        )
        axis.set_major_formatter(lambda rate, _: f"{100 * rate:.9g}")
        axis.set_minor_locator(NullLocator())
        is_shaded |= shade_below(axis, smallest_known(smallest[k]))
    if limits[0] == limits[1] and not Style.look.is_flat:
        ax.set_aspect("equal")
    first, last = deviate([max(low_x, low_y), min(high_x, high_y)]).tolist()
    equal_rates = ndtr(np.linspace(first, last, 50))
    plot.reference(equal_rates, equal_rates)
    caption = folds_in_words(plot.systems) + ([_SHADED] if is_shaded else [])
    return {"last": caption, "unseen": unseen}


def with_eer(curve: Curve, variable: str = "eer", called: str = "EER") -> str:
    """Return the name of a curve, with its EER."""
    eer = value_or_nan(curve.system.dataset, variable)
    return joined(curve.name, "" if np.isnan(eer) else f"{called} {percent(eer, 'fine')}")


def _limits_of_axes(
    curves: Sequence[Curve],
    smallest_rates_of: Callable[[System], tuple[float, float]],
    variables: Iterable[tuple[str, str]],
) -> list[tuple[float, float]]:
    """Return the lowest and the highest rate of the x axis and of the y axis.

    All operating points that the data support, and the point of equal rates, are within the axes.
    """
    points = [(_LEAST_HIGH, _LEAST_HIGH)]
    for curve in curves:
        agreement = _BEYOND_AGREEMENT * float(np.fmin(curve.x, curve.y).max())
        points.append((agreement, agreement))
        points += _supported_operating_points(curve.system.dataset, variables)
    high = [next((t for t in TICKS if t >= largest), TICKS[-1]) for largest in np.nanmax(points, 0)]
    ends = []
    for k, (axis, other_axis) in enumerate((("x", "y"), ("y", "x"))):
        lows = [] if curves else [_LOW_WITHOUT_CURVES]
        for curve in curves:
            rate, other_rate = getattr(curve, axis), getattr(curve, other_axis)
            smallest = np.append(rate[other_rate <= high[1 - k]], 1.0).min()
            lows.append(np.fmax(smallest, smallest_rates_of(curve.system)[k]))
        first_tick = max((t for t in TICKS if t <= min(lows)), default=TICKS[0])
        begin = _BEFORE_TICK * min(_LARGEST_FIRST_TICK, first_tick)
        ends.append((begin, float(ndtr(ndtri(high[k]) + _BEHIND_TICK))))
    return ends


def _supported_operating_points(
    dataset: xr.Dataset, variables: Iterable[tuple[str, str]]
) -> Iterator[tuple[float, float]]:
    if "fold_frr" in dataset:  # every point of the curves of folds is an operating point
        yield float(dataset["far"].max()), float(dataset["fold_frr"].max())
    for x_name, y_name in variables:
        if x_name not in dataset or y_name not in dataset:
            continue
        x_rates, y_rates = dataset[x_name], dataset[y_name]
        if y_name == "dir_at_far":
            y_rates = 1 - y_rates.isel(rank=0)
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
    plot = Curves("det", curves, ax, style, SQUARE, solid=True, label=with_eer)
    words = draw_det(plot, smallest_rates, POINTS)
    return plot.end("DET", *DET_LABELS, **words)


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
    if log:
        rates = [rate for system in plot.systems for rate in smallest_rates(system)]
        smallest = smallest_known([_LARGEST_SMALLEST, *rates])
        plot_style.log_axis(plot.ax_, "y", smallest / _BELOW_SMALLEST, _ABOVE_1)
    for number, system in enumerate(plot.systems):  # mark the EER, if the result has it
        eer = value_or_nan(system.dataset, "eer")
        threshold = value_or_nan(system.dataset, "eer_threshold")
        if not np.isfinite([eer, threshold]).all() or (log and eer <= 0):
            continue
        colour: Any = system.colour(number)
        text = ""
        if len(plot.systems) == 1:
            threshold_words = written(threshold_of(system.dataset, "eer_threshold"))
            colour, text = Style.text, f"EER {percent(eer, 'fine')} at {threshold_words}"
        plot.ax_.axvline(threshold, color=colour, linewidth=THIN, linestyle=":", zorder=1)
        point: dict[str, Any] = {"markersize": 5, "color": colour, "zorder": 4}
        plot.ax_.plot(threshold, eer, "o", label=legend_text(text), **point)
    return plot.end("Error rates", label, plot.named("Error rate", "far", "frr"))
