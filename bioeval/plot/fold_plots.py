"""Folds and repeated partitions: points, curves and scalars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from bioeval.base.errors import counted
from bioeval.document.results import threshold_rule
from bioeval.document.text import Text, say
from bioeval.plot import plot_style
from bioeval.plot.display import Curve, CurvesDisplay, OneResultDisplay
from bioeval.plot.plot_style import Style, note
from bioeval.plot.systems import System, as_plot_text, joined
from bioeval.results.words import percent
from bioeval.views.tasks import Averaged, averaged, unit_of
from bioeval.views.writers.lines import written

# ------------------------------------------------------------------------ points of the folds


class FoldsDisplay(OneResultDisplay):
    """FAR and FRR of each fold, their mean with its interval, and the optimistic point.

    Attributes
    ----------
    far, frr : ndarray
        One value per fold.
    counts : ndarray
        Number of folds at each point drawn last.
    """

    counts: np.ndarray

    _plot = "folds"
    _fold: ClassVar = ""  # before the names of the values of each fold
    _optimistic: ClassVar = "train_{}_mean"  # the rates where the threshold was chosen

    def __init__(self, dataset: xr.Dataset, name: str = ""):
        super().__init__(dataset, name)
        self.far = dataset[f"{self._fold}far"].values.ravel()
        self.frr = dataset[f"{self._fold}frr"].values.ravel()

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the folds."""
        ax = self._begin(ax, style)
        title, tested, chosen = self._names()
        self._folds(ax, style)
        self._point(f"{{}}_{_estimate(self._dataset.attrs)}", "{}", tested, fmt="o", capsize=4)
        hollow: dict[str, Any] = {"markerfacecolor": "white", "markeredgewidth": 1.6}
        limits = self._optimistic.removesuffix("_mean")
        self._point(self._optimistic, limits, chosen, fmt="D", linewidth=1.0, **hollow)
        ax.margins(0.06)
        ax.set_xlim(left=-0.03 * ax.get_xlim()[1])
        ax.set_ylim(bottom=-0.03 * ax.get_ylim()[1], top=1.1 * ax.get_ylim()[1])
        self._target(ax)
        for axis in (ax.xaxis, ax.yaxis):
            self._in_per_cent(axis)
        if not len(self.counts):
            plot_style.empty(ax, "No fold has attempts of both classes")
        x = self._named(say("{False accept rate, far}"), "far")
        y = self._named(say("{False reject rate, frr}"), "frr")
        self._finish(self._title(title, name), [limits_in_words(self._dataset.attrs)], x, y)
        return self

    def _point(self, value: str, limits: str, label: str, **style: Any) -> None:
        """Draw the mean FAR and FRR of folds with their intervals, if any."""
        ds = self._dataset
        middle = [float(ds[value.format(rate)]) for rate in ("far", "frr")]
        bars: list[Any] = []
        for rate, at in zip(("far", "frr"), middle, strict=True):
            ends = [f"{limits.format(rate)}_{end}" for end in ("low", "high")]
            low, high = (float(ds.get(end, np.nan)) for end in ends)
            both = [[max(0.0, at - low)], [max(0.0, high - at)]]
            bars.append(both if np.isfinite(both).all() else None)
        how: dict[str, Any] = {
            "color": Style.text,
            "markersize": 7,
            "linewidth": 1.6,
            "zorder": 4,
            **style,
        }
        x, y = middle
        drawn = self.ax_.errorbar([x], [y], xerr=bars[0], yerr=bars[1], **how)
        drawn.lines[0].set_label(label)  # the legend shows the point without its bars

    def _folds(self, ax: Axes, style: dict[str, Any]) -> None:
        """Draw each distinct point once, its area proportional to its number of folds."""
        there = np.column_stack([self.far, self.frr])
        there = there[np.isfinite(there).all(axis=1)]
        places, self.counts = np.unique(there, axis=0, return_counts=True)
        most = int(self.counts.max(initial=1))
        label = f"test part of a {unit_of(self._dataset.attrs)}"
        if most > 1:
            label = f"test parts; area: how many (1 to {most})"
        how: dict[str, Any] = {
            "color": Style.rule,
            "alpha": 0.65,
            "zorder": 2,
            "linewidths": 0,
            **style,
        }
        size = how.pop("markersize", min(4.5, 20 / most**0.5))
        ax.scatter(places[:, 0], places[:, 1], size**2 * self.counts, clip_on=False, **how)
        key: dict[str, Any] = {"color": how["color"], "alpha": how["alpha"], "markersize": 4.5}
        ax.plot([], [], "o", markeredgewidth=0, label=label, **key)

    def _target(self, ax: Axes) -> None:
        """Draw the FAR target, named at the top."""
        rule = threshold_rule(self._dataset.attrs)
        if rule.name != "far":
            return
        (target,) = rule.values
        ax.axvline(target, color=Style.text, linewidth=0.8, linestyle=":", zorder=1)
        low, high = ax.get_xlim()
        high = max(high, 1.03 * target)
        ax.set_xlim(low, high)
        away, side = (-4, "right") if target - low > 0.8 * (high - low) else (4, "left")
        text = f"target {percent(target, '.3g')}"
        note(ax, text, (target, 1), (away, -3), va="top", ha=side)

    def _names(self) -> tuple[str, str, str]:
        """Return the title, and the names of the points tested and chosen."""
        attrs = self._dataset.attrs
        how = "" if attrs["chosen_on"] == "given" else " (optimistic)"
        tested = f"test parts, {_estimate(attrs)}"
        return str(attrs["task"]), tested, f"training parts, mean{how}"


def limits_in_words(attrs: Mapping[str, Any]) -> str:
    """Return in words the intervals of a result over folds, from its attributes."""
    confidence = f"{100 * float(attrs['confidence']):g} %"
    method = attrs.get("interval_method", "quantile")
    if method == "quantile":
        return f"intervals: the middle {confidence} of the {unit_of(attrs)}s"
    if _estimate(attrs) == "pooled":
        return f"{confidence} intervals of the pooled rate ({method})"
    return f"{confidence} intervals of the mean over folds (Nadeau and Bengio)"


def _estimate(attrs: Mapping[str, Any]) -> str:
    """Return the name of the summary that a result has the interval of."""
    spread = attrs.get("interval_method", "quantile") in ("nadeau-bengio", "quantile")
    return "mean" if spread else "pooled"


def folds(data: Any, ax: Axes | None = None, **style: Any) -> FoldsDisplay:
    """Draw FAR and FRR of each fold, their mean, and the rates where the thresholds were chosen.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.cross_evaluate`, of verification or open set.
    ax, **style
        As for :func:`bioeval.plot.roc`.

    Returns
    -------
    FoldsDisplay
        With ``far`` and ``frr`` (one value per fold), ``ax_`` and ``figure_``.

    Notes
    -----
    CMS of a closed set, and DIR, at the ranks of the folds: :func:`bioeval.plot.repeated`.

    Examples
    --------
    >>> import bioeval as be
    >>> ds = be.cross_evaluate(be.simulate(30, 4), be.partition.SubjectKFold(5))
    >>> be.plot.folds(ds).far.shape
    (5,)
    """
    return FoldsDisplay.from_results(data).plot(ax, **style)


# ------------------------------------------------------------------------------- curves

_RATES: dict[str, Text] = {
    "cms": say("{cms}"),
    "far": say("{far}"),
    "frr": say("{frr}"),
    "dir": say("{dir} at rank 1"),
}


class Band(NamedTuple):
    """A mean curve and its band: `x`, `mean`, `low` and `high`, one value per point."""

    name: str
    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


def _folds(system: System) -> np.ndarray | None:
    """Return the rates of the test part of each fold, one row each; None for other partitions."""
    dataset = system.dataset
    for rate in ("cms", "dir"):
        if f"train_{rate}_mean" in dataset:
            return dataset[rate].values.reshape(-1, dataset.sizes["rank"])
    return None


class RepeatedDisplay(CurvesDisplay):
    """Mean curves with their bands; ``x`` of a curve is the rank or the threshold.

    Attributes
    ----------
    bands : dict of str to Band
        The arrays, by name.
    """

    _plot, _title = "repeated", "Mean"
    _marked = False

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a result of `repeat` or `cross_evaluate`, or of several by name."""
        systems = System.pick(data, "repeated")
        return cls(c for i, x in enumerate(systems) for c in cls._of(x, i, len(systems) > 1))

    @classmethod
    def _of(cls, system: System, number: int, several: bool) -> list[Curve]:
        """Return the mean curves of a system, of rates over ranks at rank 1."""
        dataset, curves = system.dataset, []
        for rate, word in _RATES.items():
            if f"{rate}_mean" not in dataset or not dataset[f"{rate}_mean"].ndim:
                continue  # one value for all folds
            arrays = [dataset[f"{rate}_{key}"] for key in ("mean", "low", "high")]
            mean, low, high = (x.sel(rank=1) if x.ndim > 1 else x for x in arrays)
            over_ranks = mean.dims == ("rank",)
            x = dataset[mean.dims[0]].values
            known = (np.isfinite(x) & np.isfinite(mean.values)).any()
            # The colour and the line style of what it is; of systems, each has its colour.
            dash = number if over_ranks else Style.hues[rate]
            word = "" if over_ranks else word
            curve = Curve(joined(system.name, written(word)), x, mean.values, system)
            why = "" if known else "no rate is defined in any partition"
            looks: dict[str, Any] = {"hue": number if several else dash, "dash": dash, "word": word}
            limits: dict[str, Any] = {"low": low.values, "high": high.values}
            curves.append(replace(curve, why_not=why, **looks, **limits))
        return curves

    @property
    def bands(self) -> dict[str, Band]:
        """The mean curves with their limits."""
        curves = self.curves.values()
        return {c.name: Band(c.name, c.x, c.y, *map(np.asarray, (c.low, c.high))) for c in curves}

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`repeated`."""
        first = self.systems[0].dataset
        if "threshold" in first.dims:
            return self._end(self._over_thresholds(ax, name, style), "Rate")
        ax, lowest = self._start(ax, name, style), 1.0
        for curve in self.defined:
            folds = _folds(curve.system)
            if folds is None:
                shown = np.isfinite(curve.x) & np.isfinite(curve.y)
                self._line(curve, curve.x[shown], curve.y[shown], style)
                self._band(curve, shown)
                folds = np.empty(0)
            else:
                self._draw_folds(curve, folds, style)
            for low in (np.asarray(curve.low), folds):
                lowest = float(np.nanmin(low, initial=lowest))
        last = max(int(curve.x[-1]) for curve in self.curves.values())
        if all((np.diff(c.x) == 1).all() for c in self.defined):  # of folds: chosen ranks
            arrays = [x for band in self.bands.values() for x in (band.mean, band.low, band.high)]
            last = plot_style.last_change(arrays, last)
        plot_style.rank_axis(ax, last)
        plot_style.rate_axis(ax, lowest if self.lines_ else 0.0)
        rate = say("{Cumulative match score, cms}(k)")
        if "cms_mean" not in first:
            rate = say("{Detection and identification rate, dir}(k)")
        return self._end("Rank k", rate)

    def _draw_folds(self, curve: Curve, folds: np.ndarray, style: dict[str, Any]) -> None:
        """Draw each fold as a thin line, and the mean with its intervals as a bold one."""
        self._cloud(curve, ((curve.x, y) for y in folds), marker=".")
        # Nothing is known between the ranks.
        line: dict[str, Any] = {
            "drawstyle": "default",
            "linewidth": 2.4,
            "markersize": 6,
            "marker": "o",
            **style,
        }
        self._line(curve, curve.x, curve.y, line)
        band = self.bands[curve.name]
        # About the middle of each interval: of a band of quantiles the mean may lie outside.
        middle, half = (band.low + band.high) / 2, (band.high - band.low) / 2
        how: dict[str, Any] = {
            "ecolor": self.lines_[curve.name].get_color(),
            "capsize": 4,
            "linewidth": 1.6,
        }
        self.ax_.errorbar(band.x, middle, half, fmt="none", **how)

    def _caption(self) -> Sequence[Text]:
        """Return what the thin lines of folds, or the bands over partitions, are."""
        attrs = self.systems[0].dataset.attrs
        lines = max((len(x) for x in map(_folds, self.systems) if x is not None), default=0)
        if lines:
            return [f"thin lines: {counted(lines, f'{unit_of(attrs)}s')}", limits_in_words(attrs)]
        number = counted(int(attrs.get("partitions", 0)), "partitions")
        return [f"{number} of the same people; band: the middle 95 % of them"]

    def _intervals(self) -> list[str]:
        return []


def repeated(data: Any, ax: Axes | None = None, **style: Any) -> RepeatedDisplay:
    """Draw the mean curve over many partitions, with its band.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A node of :func:`bioeval.repeat` with curves, or several of one task by name. Closed set:
        the CMC.
        Verification: FAR and FRR against the threshold. Open set: FAR and DIR at rank 1. Of
        :func:`bioeval.cross_evaluate`, CMS or DIR at its ranks, with each fold as a thin line.
    ax, **style
        As for :func:`bioeval.plot.roc`.

    Returns
    -------
    RepeatedDisplay
        With ``bands`` (the arrays), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    The band is pointwise and shows the spread over partitions of the same subjects, as the
    result says; it is no confidence interval for other subjects.

    Examples
    --------
    >>> import bioeval as be
    >>> galleries = be.partition.ProbeGallerySplit(1, n_repeats=10, random_state=0)
    >>> tree = be.repeat(be.simulate(20, 4), galleries, curves=True)
    >>> be.plot.repeated(tree["closed_set"])
    <RepeatedDisplay ''>
    """
    return RepeatedDisplay.from_results(data).plot(ax, **style)


# --------------------------------------------------------------------- scalars of each fold

# Bars of the histogram of a row, and the height of the highest, of 1 that a row has.
BARS, HEIGHT = 30, 0.62


class SpreadDisplay(OneResultDisplay):
    """A histogram of each scalar over folds or repeats, with its mean and interval.

    Attributes
    ----------
    values : dict of str to ndarray
        The values of each scalar, by its label; folds where it is not defined are left out.
    """

    _plot = "spread"

    def __init__(self, dataset: xr.Dataset, name: str = ""):
        super().__init__(dataset, name)
        self._rows = [row for row in averaged(dataset) if len(row.each())]
        self.values = {row.label: row.each() for row in self._rows}

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw a row for each scalar, on its own scale."""
        number = len(self._rows)
        ax = self._begin(ax, style, (7.2, 1.7 + 0.52 * max(number, 3)))
        ax.set(xlim=(-0.02, 1.02), ylim=(max(number, 1) - 0.45, -0.7), xticks=[])
        ax.grid(False)
        ax.spines[["left", "bottom"]].set_visible(False)
        for place, row in enumerate(self._rows):
            self._row(ax, place, row, style)
        ax.set_yticks(range(number), [as_plot_text(row.label) for row in self._rows])
        ax.tick_params(axis="y", length=0)
        beside = ax.secondary_yaxis("right")
        beside.set_yticks(range(number), [_in_digits(row) for row in self._rows])
        beside.tick_params(length=0, labelsize=Style.look.small, labelcolor=Style.text)
        beside.spines["right"].set_visible(False)
        if not self._rows:
            plot_style.empty(ax, "No scalar is defined in any fold")
        attrs, sizes = self._dataset.attrs, self._dataset.sizes
        number = sizes.get("partition", sizes.get("repeat", 1) * sizes.get("fold", 1))
        line = "intervals: the middle 95 %" if "partitions" in attrs else limits_in_words(attrs)
        caption = [counted(number, f"{unit_of(attrs)}s"), line]
        self._finish(self._title(str(attrs["task"]), name), caption)
        return self

    def _row(self, ax: Axes, place: int, row: Averaged, style: dict[str, Any]) -> None:
        """Draw the histogram of a row, its mean and its interval, on an axis that holds them."""
        values = row.each()
        mean, low, high = (row.summary(name) for name in ("mean", "low", "high"))
        known = np.isfinite([low, high]).all()
        ends = [*values, low, high] if known else values
        least, width = float(np.min(ends)), float(np.ptp(ends))

        def across(x: Any) -> Any:
            return (np.asarray(x) - least) / width if width else np.full(np.shape(x), 0.5)

        counts, edges = np.histogram(across(values), BARS, (0, 1))
        heights = HEIGHT * counts / counts.max()
        how: dict[str, Any] = {
            "color": Style.rule,
            "alpha": 0.6,
            "linewidth": 0,
            "align": "edge",
            **style,
        }
        ax.bar(edges[:-1], heights, np.diff(edges), bottom=place + 0.1 - heights, **how)
        line = place + 0.22
        colour = Style.colour(Style.hues.get(row.scalar.name, plot_style.BOTH))
        if known:
            interval: dict[str, Any] = {"color": colour, "zorder": 3, "linewidth": 2.4}
            ax.plot(across([low, high]), [line] * 2, marker="|", markersize=8, **interval)
        point: dict[str, Any] = {"markersize": 6, "markeredgecolor": "white", "zorder": 4}
        ax.plot(across([mean]), [line], "o", color=colour, **point)


def _in_digits(row: Averaged) -> str:
    """Return mean and interval of a row with the decimals of its scalar, a rate in per cent."""
    factor, decimals = (100, 2) if row.scalar.kind == "rate" else (1, row.scalar.decimals)
    mean, low, high = (row.summary(name) * factor for name in ("mean", "low", "high"))
    if not np.isfinite([low, high]).all():
        return f"{mean:.{decimals}f}"
    return f"{mean:.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]"


def spread(data: Any, ax: Axes | None = None, **style: Any) -> SpreadDisplay:
    """Draw how each scalar varies over folds or repeats: EER, HTER, FRR at FAR, DIR, CMS ...

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.cross_evaluate`, or a node of :func:`bioeval.repeat`.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of the bars of the histograms.

    Returns
    -------
    SpreadDisplay
        With ``values`` (the values of each scalar by its label), ``ax_`` and ``figure_``.

    Notes
    -----
    The spread over repeats shows what depends on the draw of parts, galleries and claims, among
    the same subjects. It is no confidence interval for other subjects.

    Examples
    --------
    >>> import bioeval as be
    >>> experiment = be.partition.Experiment(0.5, gallery_templates=1, repeats=20, random_state=0)
    >>> ds = be.cross_evaluate(be.simulate(20, 4), experiment, interval="quantile")
    >>> list(be.plot.spread(ds).values)[:3]
    ['FAR (in %)', 'FRR (in %)', 'HTER (in %)']
    """
    return SpreadDisplay.from_results(data).plot(ax, **style)
