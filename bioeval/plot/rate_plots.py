"""Error rates: ROC, DET, the open-set ROC, and FAR and FRR against the threshold."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from scipy.special import ndtr, ndtri

from bioeval.base.arguments import require_flag
from bioeval.base.errors import DataError, counted
from bioeval.document.text import Term, Text, say
from bioeval.plot import plot_style
from bioeval.plot.display import Curve, CurvesDisplay, CurveSpec, most_named
from bioeval.plot.legend import name_in_legend
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import (
    System,
    attempts,
    identification_details,
    joined,
    kind_of,
    scalar,
)
from bioeval.results.layouts import expanded
from bioeval.results.support import wanted_targets
from bioeval.results.words import percent
from bioeval.views.tasks import unit_of

# ------------------------------------------------------------------------- curves of folds


def mean_curves(data: Any) -> Any:
    """Return results in which those over folds are mean curves, beside ``fold_far`` and so on.

    Of :func:`bioeval.repeat` they are means at each threshold, of :func:`bioeval.cross_evaluate`
    at each FAR target.
    """
    if isinstance(data, xr.DataTree):
        return data.map_over_datasets(mean_curves)
    if isinstance(data, Mapping) and not isinstance(data, xr.Dataset):
        return {name: mean_curves(result) for name, result in data.items()}
    if not isinstance(data, xr.Dataset) or {"fold", "partition"}.isdisjoint(data.dims):
        return data
    if "partition" in data.dims and not {"far_mean", "frr_mean"} <= {*data}:
        return data
    results = expanded(data)
    variables = {}
    attrs = dict(results.attrs)
    if "partition" in results.dims:
        for name in ("far", "frr"):
            for key, into in (("mean", ""), ("low", "_low"), ("high", "_high")):
                variables[f"{name}{into}"] = results[f"{name}_{key}"].values
            variables[f"fold_{name}"] = results[name].values
        frr, low, high = (variables[f"frr{key}"] for key in ("", "_low", "_high"))
        variables |= {"gar": 1 - frr, "gar_low": 1 - high, "gar_high": 1 - low}
        variables["fold_gar"] = 1 - variables["fold_frr"]
    elif "frr_at_far_mean" in results:
        order = np.argsort(results["far_target"].values)
        mean = results["frr_at_far_mean"].values[order]
        low = results["frr_at_far_low"].values[order]
        high = results["frr_at_far_high"].values[order]
        frr = results["frr_at_far"].values.reshape(-1, len(order))[:, order]
        far = results["far_target"].values[order]
        attrs["far_targets"] = len(far)
        variables = {"far": far, "fold_far": np.broadcast_to(far, frr.shape)}
        variables |= {"frr": mean, "frr_low": low, "frr_high": high, "fold_frr": frr}
        variables |= {
            "gar": 1 - mean,
            "gar_low": 1 - high,
            "gar_high": 1 - low,
            "fold_gar": 1 - frr,
        }
    elif results.attrs.get("result_type") == "verification":
        raise DataError(
            "the results have one threshold for each fold; for curves of the folds give "
            "far_targets= to be.cross_evaluate, such as far_targets=[0.001, 0.01, 0.1, 1]"
        )
    else:
        return results.drop_vars(["far", "gar", "frr"], errors="ignore")
    dims = {1: ("threshold",), 2: ("fold", "threshold")}
    curves = xr.Dataset({k: (dims[x.ndim], x) for k, x in variables.items()}, attrs=attrs)
    for role in ("genuine_attempts", "impostor_attempts"):
        divisions = results.sizes.get("repeat", results.sizes.get("partition", 1))
        curves[role] = round(float(results[role].sum()) / divisions)
    return curves


def folds_in_words(systems: Sequence[System]) -> list[str]:
    """Return how many folds are drawn, if any are."""
    first = systems[0].dataset
    if "fold_far" not in first:
        return []
    number = counted(first.sizes["fold"], f"{unit_of(first.attrs)}s")
    bands = ""
    if "partitions" in first.attrs:
        bands = "; bands: 95 % of them at each threshold"
    return [f"thin lines: {number}; bold: their mean{bands}"]


# ------------------------------------------------------------------------- rates against FAR


class FarCurvesDisplay(CurvesDisplay):
    """Curves of one rate against FAR; ``x`` of a curve is FAR."""

    _solid: ClassVar = True

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, log: bool = False, **style: Any
    ) -> Self:
        """Draw the curves. See :func:`bioeval.plot.roc`."""
        log = require_flag("log", log)
        ax = self._start(ax, name, style, plot_style.SIZE if log else None)
        floors = {c.name: floor_of(c.system) for c in self.defined}
        lowest = 1.0
        for curve in self.defined:
            x, y = by_far(curve.x, curve.y)
            floor = -np.inf
            if log:
                floor = floors[curve.name]
                x, y = from_floor(x, y, floor)
                lowest = min(lowest, float(y.min()))
            self._line(curve, x, y, draw_folds(self, curve, style, floor))
            self._band(curve, floor=floor)
        if log:
            # Room for what is shaded below.
            low = min(0.1, least(floors.values()) / (3.0 if Style.look.is_narrow else 1.8)) or 1e-3
            plot_style.log_axis(ax, "x", low)
            starts = self._rates_from(lowest if self.defined else 0.0)
            shaded = shade_below(ax.xaxis, floors.values(), self._write(say("{far}")))
            if shaded:
                small = {"ha": "right", "va": "top", "fontsize": Style.look.smallest}
                place = (least(floors.values()), 1.0)
                plot_style.note(ax, shaded, place, (-3, -6), rotation=90, **small)
            details = self.spec.details
            return self._finish(details=lambda systems: [*details(systems), starts])
        if self.spec.reference:
            self.spec.reference(self)
        ax.set(**self.spec.limits(self))
        # With ax.set_xscale("log") the limits are those of the rates above 0.
        ax.set_xmargin(0.015)
        ax.set_autoscalex_on(True)
        return self._finish()


def _chance(display: CurvesDisplay) -> None:
    """Draw the line of a system that decides at random, in a square."""
    floor = least([floor_of(curve.system) for curve in display.defined], none=0.1)
    rates = np.append(0, np.geomspace(floor, 1, 50))  # for either scale
    if not Style.look.is_flat:
        display.ax_.set_box_aspect(1)
    display._reference(rates, rates)


class RocDisplay(FarCurvesDisplay):
    """ROC curves; ``x`` of a curve is FAR and ``y`` is GAR, one value per threshold."""

    spec = CurveSpec(
        "roc",
        "ROC",
        "far",
        {"gar": ""},
        say("{False accept rate, far}"),
        say("{Genuine accept rate, gar}"),
        terms=(("far",), ("gar",)),
        size=(5.6, 5.7),
        reference=_chance,
        details=folds_in_words,
    )

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a result, a tree, or a mapping of name to either."""
        return super().from_results(mean_curves(data))


class DirFarDisplay(FarCurvesDisplay):
    """Open-set curves; ``x`` of a curve is FAR and ``y`` is DIR at one rank."""

    spec = CurveSpec(
        "dir_far",
        say("{dir} against {far}"),
        "far",
        {"dir": ""},
        say("{False accept rate, far}"),
        say("{Detection and identification rate, dir}"),
        terms=(("far",), ("dir",)),
        details=identification_details,
    )

    @classmethod
    def from_results(cls, data: Any, ranks: Sequence[int] = CurveSpec.RANKS) -> Self:
        """Take the curves of an open-set result, a tree, or a mapping of name to either."""
        return cls(cls.spec.curves_at(System.pick(data, "dir_far"), ranks))


def draw_folds(
    display: CurvesDisplay, curve: Curve, style: Mapping[str, Any], floor: float = 0.0
) -> Mapping[str, Any]:
    """Draw each fold of a mean curve as a thin line, if it has any; return the style of the mean.

    Above 0, `floor` is the smallest FAR of a logarithmic axis.
    """
    dataset, (rate,) = curve.system.dataset, display.spec.lines
    if f"fold_{rate}" not in dataset:
        return style
    lines = []
    for far, y in zip(dataset["fold_far"].values, dataset[f"fold_{rate}"].values, strict=True):
        x, y = by_far(far, y)
        if floor > 0:
            x, y = from_floor(x, y, floor)
        lines.append((x, y))
    between = "default" if "far_targets" in dataset.attrs else "steps-post"
    display._cloud(curve, lines, alpha=0.45, linewidth=0.8, drawstyle=between)
    return {"linewidth": 2.4, "drawstyle": between, **style}


def by_far(far: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of a curve in the order of FAR, without repeated points.

    Nothing is known between two points: a step to the right keeps the rate attained at the
    smaller FAR.
    """
    x, y = np.asarray(far, dtype=float), np.asarray(rate, dtype=float)
    if len(x) > 1 and x[0] > x[-1]:  # thresholds of similarities: FAR falls
        x, y = x[::-1], y[::-1]
    keep = np.ones(len(x), dtype=bool)
    keep[1:] = (x[1:] != x[:-1]) | (y[1:] != y[:-1])
    return x[keep], y[keep]


def from_floor(x: np.ndarray, y: np.ndarray, floor: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve for a logarithmic FAR axis (without FAR 0).

    The rate attained at FAR 0 is attained at the floor as well, one of the impostor attempts: the
    curve starts there, with the best rate attained up to it.
    """
    within = np.nonzero(x <= floor)[0]
    if not len(within):
        return x, y
    first = int(within[-1])
    return np.append(floor, x[first + 1 :]), y[first:]


def floor_of(system: System, role: str = "impostor") -> float:
    """Return the smallest rate above 0 of a class, one of its attempts; NaN without any."""
    count = attempts(system.dataset, role)
    if count:
        return 1.0 / count
    return float("nan")


def least(floors: Iterable[float], none: float = 0.0) -> float:
    """Return the smallest of the floors that are known, or `none`."""
    return min((floor for floor in floors if floor == floor), default=none)


def shade_below(axis: Axis, floors: Iterable[float], rate: str) -> str:
    """Shade rates that are smaller than one of the attempts, and return what is shaded."""
    ax, known = axis.axes, [floor for floor in floors if floor == floor]
    floor, low = least(known), min(axis.get_view_interval())
    if low >= floor:
        return ""
    band = ax.axvspan if isinstance(axis, XAxis) else ax.axhspan
    band(low, floor, color=plot_style.SHADE, linewidth=0, zorder=0)
    if len({round(1 / each) for each in known}) == 1:
        return f"{rate} < 1 / {round(1 / floor):,}"
    return f"{rate} below 1 attempt"


def roc(data: Any, ax: Axes | None = None, *, log: bool = False, **style: Any) -> RocDisplay:
    """Draw the ROC: GAR against FAR over all thresholds.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.verification` or :func:`bioeval.evaluate`, or several by name.
        Of a tree, every verification result is drawn (single- and multi-template, all systems).
        Of :func:`bioeval.cross_evaluate` with `far_targets`, GAR of each fold at these is a thin
        line and their mean a bold one, straight between these; of :func:`bioeval.repeat`, each
        partition.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    log : bool
        Whether the FAR axis is logarithmic. It then ends at one of the impostor attempts: the GAR
        attained at FAR 0 is drawn from there on, and the FAR below is shaded.
    **style
        Properties of all lines, such as ``linewidth=1``; ``name`` labels a single system,
        ``figsize`` is the size of a new figure in inches, and ``title=None`` leaves out the title
        and the lines below it.

    Returns
    -------
    RocDisplay
        With ``curves`` (the arrays), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    Lines are steps: at each FAR they show the GAR of the nearest threshold in the result whose
    FAR is not larger, never an interpolated one. All are solid, since a dash looks like a step;
    several differ in colours and markers. GAR is over the genuine attempts, FAR over the
    impostor attempts. Where the result has intervals, bands are those of GAR at each threshold by
    itself; :func:`error_rates` shows how uncertain FAR is there.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.roc(be.verification(be.simulate(20, 4)), log=True)
    >>> display.ax_.get_xscale()
    'log'
    """
    return RocDisplay.from_results(data).plot(ax, log=log, **style)


def dir_far(
    data: Any,
    ax: Axes | None = None,
    *,
    ranks: Sequence[int] = CurveSpec.RANKS,
    log: bool = False,
    **style: Any,
) -> DirFarDisplay:
    """Draw DIR against FAR at several ranks: the ROC of open-set identification (watch lists).

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.open_set` or :func:`bioeval.evaluate`, or several by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    ranks : sequence of int
        One curve each. Of the default ones, those that the result has.
    log : bool
        Whether the FAR axis is logarithmic, as in :func:`bioeval.plot.roc`.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    DirFarDisplay
        With ``curves`` (named ``"rank 1"`` ..., after the system's name where there are several),
        ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    DIR is over the genuine attempts (enrolled probes), FAR over the impostor attempts. Lines are
    steps, as in :func:`bioeval.plot.roc`. Bands are the intervals of DIR at each threshold by
    itself, where the result has them.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.dir_far(be.open_set(be.simulate(20, 4)), ranks=(1, 3))
    >>> list(display.curves)
    ['rank 1', 'rank 3']
    """
    return DirFarDisplay.from_results(data, ranks).plot(ax, log=log, **style)


# --------------------------------------------------------------------------------------- DET

# In per cent; the upper half mirrors the lower.
_LOWER = (1e-5, 1e-4, 0.001, 0.01, 0.1, 1, 5, 10, 20, 40)
TICKS = tuple(t / 100 for t in (*_LOWER, 60, 80, 90, 95, 99, 99.9))

_EDGE = 1e-9

# With more curves the labels leave out the EER.
MOST_MEASURED = 6


def deviate(rate: Any) -> Any:
    """Return the normal deviate of a rate; 0 and 1 are kept finite."""
    return ndtri(np.clip(rate, _EDGE, 1 - _EDGE))


class DetDisplay(CurvesDisplay):
    """DET curves; ``x`` of a curve is FAR and ``y`` is FRR, one value per threshold."""

    spec = CurveSpec(
        "det",
        "DET",
        "far",
        {"frr": ""},
        say("{False accept rate, far} (%)"),
        say("{False reject rate, frr} (%)"),
        terms=(("far",), ("frr",)),
        size=plot_style.SQUARE,
        details=folds_in_words,
    )
    _eer: ClassVar = ("eer", "EER")  # the variable of the point on the diagonal, and its name
    _dots: ClassVar = "dots: EER"  # what is said of the points on the curves
    #: What is on the axes.
    _rates: ClassVar[tuple[Text, Text]] = (say("{far}"), say("{frr}"))
    #: The rates of operating points on both axes, which are within the axes.
    _points: ClassVar[tuple[tuple[str, str], ...]] = (
        ("far_target", "frr_at_far"),
        ("far_target", "dir_at_far"),
        ("far_at_frr", "frr_target"),
    )
    _solid: ClassVar = True

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a result, a tree, or a mapping of name to either."""
        return super().from_results(mean_curves(data))

    def _floors(self, system: System) -> tuple[float, float]:
        """Return the smallest rates above 0 of both axes."""
        return floor_of(system), floor_of(system, "genuine")

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`det`."""
        ax = self._start(ax, name, style)
        ax.set_xscale("function", functions=(deviate, ndtr))
        ax.set_yscale("function", functions=(deviate, ndtr))
        low_x, low_y, high_x, high_y = self._limits()
        unseen, texts = {}, {}
        dots = ""
        for curve in self.defined:
            x, y = by_far(curve.x, curve.y)
            self._line(curve, x, y, draw_folds(self, curve, style))
            if ((curve.x < low_x) & (curve.y < low_y)).any():
                unseen[curve.name] = "off the axes, both rates are smaller at one threshold"
            else:  # as far to the right as the curve is on the axes
                self._band(curve, curve.x <= curve.x[curve.y < low_y].min(initial=np.inf))
            dataset = curve.system.dataset
            eer, called = scalar(dataset, self._eer[0]), self._eer[1]
            if eer == eer and len(self.curves) <= MOST_MEASURED:
                texts[curve.name] = joined(curve.name, f"{called} {percent(eer, 'fine')}")
            far, frr = scalar(dataset, "far_at_eer"), scalar(dataset, "frr_at_eer")
            if low_x < far < high_x and low_y < frr < high_y:
                colour = self.lines_[curve.name].get_color()
                ax.plot(far, frr, "o", markersize=4.5, color=colour, zorder=3)
                dots = self._dots
        wide, tall = plot_style.axes_size(ax)
        ax.xaxis.set_major_locator(FixedLocator(_ticks(low_x, high_x, wide / 26)))
        ax.yaxis.set_major_locator(FixedLocator(_ticks(low_y, high_y, tall / 11)))

        def as_percent(rate: float, _: int) -> str:
            return np.format_float_positional(100 * rate, precision=9, trim="-")

        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(FuncFormatter(as_percent))
            axis.set_minor_locator(NullLocator())
        ax.set(xlim=(low_x, high_x), ylim=(low_y, high_y))
        if low_x == low_y and high_x == high_y and not Style.look.is_flat:
            ax.set_aspect("equal")
        floors = [self._floors(curve.system) for curve in self.defined]
        shaded = [
            shade_below(ax.xaxis, [x for x, _ in floors], self._write(self._rates[0])),
            shade_below(ax.yaxis, [y for _, y in floors], self._write(self._rates[1])),
        ]
        below, details = joined(*shaded), self.spec.details
        about = "; ".join(filter(None, [dots, below and f"shaded: {below}"]))
        first, last = max(low_x, low_y), min(high_x, high_y)
        equal = ndtr(np.linspace(deviate(first), deviate(last), 50))
        self._reference(equal, equal)
        return self._finish(unseen=unseen, texts=texts, details=lambda x: [*details(x), about])

    def _limits(self) -> tuple[float, float, float, float]:
        """Return the lower limits of both axes, and their upper limits."""
        points = [(0.4, 0.4)]
        for curve in self.defined:
            # The worst point on which both rates agree must be well inside.
            worst = 1.6 * float(np.fmin(curve.x, curve.y).max())
            points.append((worst, worst))
            for point in self._operating_points(curve.system.dataset):
                if not np.isnan(point).any():
                    points.append(point)
        most_x, most_y = np.max(points, axis=0)
        high_x, high_y = _tick_above(most_x), _tick_above(most_y)
        low_x, low_y = [], []
        for curve in self.defined:
            floor_x, floor_y = self._floors(curve.system)
            low_x.append(_least(curve.x, curve.y, high_y, floor_x))
            low_y.append(_least(curve.y, curve.x, high_x, floor_y))
        high_x = float(ndtr(ndtri(high_x) + 0.06))
        high_y = float(ndtr(ndtri(high_y) + 0.06))
        return _below(low_x), _below(low_y), high_x, high_y

    def _operating_points(self, dataset: xr.Dataset) -> Iterator[tuple[float, float]]:
        """Yield both rates of the points shown: of default FAR targets, the supported ones."""
        if "far_targets" in dataset.attrs:  # of folds: every point of the curves is one
            frr = dataset["fold_frr"].values.max(axis=0)
            yield from zip(dataset["far"].values, frr, strict=True)
            return
        made = scalar(dataset, "impostor_pairs")
        if made != made:
            made = attempts(dataset, "impostor") or np.inf
        for x_name, y_name in self._points:
            if x_name not in dataset or y_name not in dataset:
                continue
            x, y = dataset[x_name], dataset[y_name]
            if y_name == "dir_at_far":
                y = 1 - y.isel(rank=0)
            if x.ndim != 1 or x.dims != y.dims:
                continue
            wanted = [True] * len(x)
            if x.dims == ("far_target",):
                wanted = wanted_targets(dataset["far_target"].values.tolist(), made)
            points = zip(x.values.tolist(), y.values.tolist(), strict=True)
            yield from itertools.compress(points, wanted)


def _least(rate: np.ndarray, other: np.ndarray, high: float, floor: float) -> float:
    """Return the smallest rate to show, among points whose other rate is shown."""
    shown = rate[other <= high]
    if len(shown):
        return max(float(shown.min()), floor)
    return floor


def _tick_above(rate: float) -> float:
    """Return the smallest tick that is not below a rate, or the last one."""
    return min((tick for tick in TICKS if tick >= rate), default=TICKS[-1])


def _below(rates: list[float]) -> float:
    smallest = min(rates, default=0.001)
    return 0.7 * min(0.01, max((t for t in TICKS if t <= smallest), default=TICKS[0]))


def _ticks(low: float, high: float, most: float) -> list[float]:
    """Return the ticks between two rates, with room for `most` labels, the larger rates first."""
    step = (deviate(high) - deviate(low)) / most
    kept: list[float] = []
    for tick in reversed(TICKS):
        if low <= tick <= high and not (kept and deviate(kept[0]) - deviate(tick) < step):
            kept.insert(0, tick)
    return kept


def det(data: Any, ax: Axes | None = None, **style: Any) -> DetDisplay:
    """Draw the DET: FRR against FAR, both in per cent on axes of normal deviates.

    Normally distributed scores give straight lines. The EER is where a curve meets the dotted
    line; where the result holds it, it is in the label (of up to six curves), and the
    attainable threshold nearest to it is marked by a dot. The axes show all operating points of the
    result; of the default FAR targets, those that the impostor attempts support.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of verification or of open-set identification, or several by name. Of a tree,
        every verification result is drawn (open set only where there is no verification). Folds
        are drawn as by :func:`roc`.
    ax, **style
        As for :func:`bioeval.plot.roc`.

    Returns
    -------
    DetDisplay
        With ``curves`` (the arrays), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    A rate of 0 or 1 has no normal deviate; such points lie outside the axes. Rates below one of the
    attempts are shaded. Lines are steps, as in :func:`bioeval.plot.roc`. Bands are the intervals of
    FRR, where the result has them and the curve is on the axes; the interval of no false reject is
    in the result and its table.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.det(be.verification(be.simulate(20, 4)))
    >>> display.ax_.get_xlabel()
    'False accept rate, FAR (%)'
    """
    return DetDisplay.from_results(data).plot(ax, **style)


# ------------------------------------------------------------- FAR and FRR against the threshold

# A longer axis, in widths of the range of nearly all changes of the rates, is cut.
FAR_OFF = 20


class ErrorRatesDisplay(CurvesDisplay):
    """Error rates; ``x`` of a curve is the threshold and ``y`` is FAR or FRR.

    Attributes
    ----------
    kind : str
        ``"distance"`` or ``"similarity"``.
    """

    kind: str
    spec = CurveSpec(
        "error_rates",
        "Error rates",
        "threshold",
        {"far": Term("far"), "frr": Term("frr")},
        y_label="Error rate",
        terms=("", ("far", "frr")),
        curve=lambda system, x, y, _: Curve.of(system, x, y, f"{system.name} {y.upper()}".strip()),
    )

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a result, a tree, or a mapping of name to either."""
        display = super().from_results(data)
        display.kind = kind_of(display.systems, "error_rates")
        return display

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, log: bool = False, **style: Any
    ) -> Self:
        """Draw the curves; `log` makes the axis of the rates logarithmic."""
        log = require_flag("log", log)
        label = self._over_thresholds(ax, name, style, log)
        if log:
            floors = [0.1]
            for curve in self.defined:
                role = "genuine" if curve.variable == "frr" else "impostor"
                floors.append(1 / (attempts(curve.system.dataset, role) or 1))
            plot_style.log_axis(self.ax_, "y", min(floors) / 1.8, 1.3)
        if not self.lines_:
            self.ax_.set_xticks([])
        details = self._limit()
        self._mark_eer(log)
        return self._finish(x_label=label, details=lambda _: details)

    def _limit(self) -> list[str]:
        """Limit the axis to the range where rates change, and return a note on the rest."""
        ends, xs = [], []
        for curve in self.defined:
            known = np.isfinite(curve.x)
            x, sums = curve.x[known], np.cumsum(np.abs(np.diff(curve.y[known])))
            if len(sums) and sums[-1] > 0:
                first, last = np.searchsorted(sums / sums[-1], (0.01, 0.99))
                ends += [x[first], x[last + 1]]
                xs += [x[0], x[-1]]
        if not xs or max(xs) - min(xs) <= FAR_OFF * (max(ends) - min(ends)):
            return []
        first, last = min(xs), max(xs)
        low, high = min(ends), max(ends)
        low, high = max(first, 2 * low - high), min(last, 2 * high - low)
        self.ax_.set_xlim(low, high)
        off = []
        if first < low:
            off.append(f"down to {first:.4g}")
        if last > high:
            off.append(f"up to {last:.4g}")
        return [f"off the axis: thresholds {' and '.join(off)}; no rate changes there by over 1 %"]

    def _mark_eer(self, log: bool) -> None:
        """Mark the EER of each system where the result has it."""
        for system in self.systems:
            eer, threshold = scalar(system.dataset, "eer"), scalar(system.dataset, "eer_threshold")
            if not np.isfinite([eer, threshold]).all() or (log and eer <= 0):
                continue
            text = f"EER {percent(eer, 'fine')}"
            if len(self.systems) == 1:
                text += f" at {threshold:.4g}"
                colour: Any = Style.text
            else:  # the colour names the system
                curve = next(c for c in self.curves.values() if c.system is system)
                colour = Style.colour(curve.hue)
            self.ax_.axvline(threshold, color=colour, linewidth=0.8, linestyle=":", zorder=1)
            (point,) = self.ax_.plot(threshold, eer, "o", markersize=5, color=colour, zorder=4)
            if len(self.curves) <= most_named():
                name_in_legend(point, text)


def error_rates(
    data: Any, ax: Axes | None = None, *, log: bool = False, **style: Any
) -> ErrorRatesDisplay:
    """Draw FAR and FRR against the threshold, with the EER where the result has it.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of verification or of open-set identification, or several by name, all of one
        kind of score: thresholds of distances and of similarities have no axis in common.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    log : bool
        Whether the axis of the rates is logarithmic; rates of 0 are then left out.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    ErrorRatesDisplay
        With ``curves`` (named ``"FAR"`` and ``"FRR"``, after the system's name where there are
        several), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    FAR is over the impostor attempts, FRR over the genuine attempts. The threshold is in the
    units of the scores: FAR grows with a threshold of distances and falls with one of similarities.
    Bands are the intervals at each threshold by itself, where the result has them.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.error_rates(be.verification(be.simulate(20, 4)))
    >>> list(display.curves)
    ['FAR', 'FRR']
    """
    return ErrorRatesDisplay.from_results(data).plot(ax, log=log, **style)
