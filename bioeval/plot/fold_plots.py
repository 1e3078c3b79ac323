"""Folds and repeated partitions: points, curves and scalars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from bioeval.base.errors import counted
from bioeval.document.results import threshold_rule
from bioeval.document.text import Text, say
from bioeval.plot import plot_style
from bioeval.plot.display import Curve, CurvesDisplay, OneResultDisplay
from bioeval.plot.plot_style import Style, in_per_cent, note
from bioeval.plot.systems import System, as_plot_text
from bioeval.results.support import withheld_targets
from bioeval.results.words import percent
from bioeval.views.tasks import Averaged, averaged, unit_of

# ------------------------------------------------------------------------ points of the folds


class FoldsDisplay(OneResultDisplay):
    """FAR and FRR of each fold, their mean with its interval, and the optimistic point."""

    _plot = "folds"
    _fold: ClassVar = ""  # before the names of the values of each fold
    _optimistic: ClassVar = "train_{}_mean"  # the rates where the threshold was chosen

    def __init__(self, dataset: xr.Dataset, name: str = ""):
        super().__init__(dataset, name)
        self.far = dataset[f"{self._fold}far"].values.ravel()
        self.frr = dataset[f"{self._fold}frr"].values.ravel()

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the folds."""
        ax, attrs = self._begin(ax, style), self._dataset.attrs
        title, tested, chosen = self._names()
        each: dict[str, Any] = {"color": Style.rule, "alpha": 0.4, "markersize": 4.5, **style}
        label = f"test part of a {unit_of(attrs)}"
        ax.plot(self.far, self.frr, "o", markeredgewidth=0, clip_on=False, label=label, **each)
        self._point("{}_mean", "{}", tested, fmt="o", capsize=4)
        hollow: dict[str, Any] = {"markerfacecolor": "white", "linewidth": 1.0}
        limits = self._optimistic.removesuffix("_mean")
        self._point(self._optimistic, limits, chosen, fmt="D", **hollow)
        ax.set_xlim(left=-0.03 * ax.get_xlim()[1])
        ax.set_ylim(bottom=-0.03 * ax.get_ylim()[1], top=1.1 * ax.get_ylim()[1])
        self._target(ax)
        ax.locator_params("x", nbins=4 if Style.look.is_narrow else 8)
        ax.xaxis.set_major_formatter(in_per_cent)
        ax.yaxis.set_major_formatter(in_per_cent)
        if not np.isfinite(self.far + self.frr).any():
            plot_style.empty(ax, "No fold has attempts of both classes")
        x = self._named(say("{False accept rate, far}"), "far")
        y = self._named(say("{False reject rate, frr}"), "frr")
        self._finish(self._title(title, name), self._bars(), x, y)
        return self

    def _point(self, value: str, limits: str, label: str, **style: Any) -> None:
        """Draw the mean FAR and FRR of folds with their intervals, if any."""
        middle: dict[str, Any] = {}
        bars: dict[str, Any] = {}
        for axis, rate in (("x", "far"), ("y", "frr")):
            names = (f"{limits.format(rate)}_{end}" for end in ("low", "high"))
            low, high = (float(self._dataset.get(name, np.nan)) for name in names)
            middle[axis] = at = float(self._dataset[value.format(rate)])
            bars[f"{axis}err"] = np.maximum([[at - low], [high - at]], 0)
        how: dict[str, Any] = {"color": Style.text, "markersize": 7, "linewidth": 1.6, **style}
        drawn = self.ax_.errorbar(**middle, **bars, zorder=4, **how)
        drawn.lines[0].set_label(label)  # the legend shows the point without its bars

    def _target(self, ax: Axes) -> None:
        """Draw the FAR target, named at the top."""
        rule = threshold_rule(self._dataset.attrs)
        if rule.name == "far":
            (target,) = rule.values
            ax.axvline(target, color=Style.text, linewidth=0.8, linestyle=":", zorder=1)
            ax.set_xlim(right=max(ax.get_xlim()[1], 1.03 * target))
            right = target > 0.8 * ax.get_xlim()[1]
            step, side = ((-4, -3), "right") if right else ((4, -3), "left")
            note(ax, f"target {percent(target, '.3g')}", (target, 1), step, va="top", ha=side)

    def _bars(self) -> list[str]:
        """Return what the bars are."""
        return [limits_in_words(self._dataset.attrs)]

    def _names(self) -> tuple[Text, str, str]:
        """Return the title, and the names of the points tested and chosen."""
        attrs = self._dataset.attrs
        how = "" if attrs["chosen_on"] == "given" else " (optimistic)"
        return str(attrs["task"]), "test parts, mean", f"training parts, mean{how}"


def limits_in_words(attrs: Mapping[str, Any]) -> str:
    """Return in words the intervals of a result over folds, from its attributes."""
    confidence = f"{100 * float(attrs['confidence']):g} %"
    method = attrs.get("interval_method", "quantile")
    if method == "quantile":
        return f"intervals: the middle {confidence} of the {unit_of(attrs)}s"
    return f"{confidence} intervals of the mean over folds (Nadeau and Bengio)"


def folds(data: Any, ax: Axes | None = None, **style: Any) -> FoldsDisplay:
    """Draw FAR and FRR of each fold, their mean, and the rates where the thresholds were chosen.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.cross_evaluate`, of verification or open set. CMS of a closed
        set, and DIR, at the ranks of the folds: :func:`bioeval.plot.repeated`.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    return FoldsDisplay.from_results(data).plot(ax, **style)


# ------------------------------------------------------------------------------- curves

_RATES: dict[str, Text] = {
    "cms": say("{cms}"),
    "far": say("{far}"),
    "frr": say("{frr}"),
    "dir": say("{dir} at rank 1"),
}


class RepeatedDisplay(CurvesDisplay):
    """Mean curves with their bands; ``x`` of a curve is the rank or the threshold."""

    _plot, _title, _x = "repeated", "Mean", "rank"
    _marked = False

    @classmethod
    def _curves_of(cls, systems: Sequence[System]) -> list[Curve]:
        """Return the mean curves of the systems, of rates over ranks at rank 1."""
        curves = []
        for number, system in enumerate(systems):
            for rate, word in _RATES.items():
                y = f"{rate}_mean"
                if y not in system.dataset or not system.dataset[y].ndim:
                    continue  # one value for all folds
                # The colour and the line style of what it is; of systems, each has its colour.
                over_ranks = system.dataset[y].dims == ("rank",)
                x, look = ("rank", number) if over_ranks else ("threshold", Style.hues[rate])
                curve = Curve.of(system, x, y, "" if over_ranks else word, 1, f"{rate}_")
                hue = number if len(systems) > 1 else look
                curves.append(replace(curve, hue=hue, dash=look))
        return curves

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`repeated`."""
        first = self.systems[0].dataset
        if "threshold" in first.dims:
            return self._end(self._over_thresholds(ax, name, style), "Rate")
        ax, arrays = self._start(ax, name, style), [np.ones(1)]
        for curve in self.defined:
            shown, look = np.isfinite(curve.y), style
            arrays += [x for x in (curve.y, curve.low, curve.high) if x is not None]
            for rate in _rates_of_folds(curve.system):
                folds = curve.system.dataset[rate].values.reshape(-1, len(curve.x))
                self._cloud(curve, ((curve.x, y) for y in folds), marker=".", linestyle="none")
                arrays.extend(folds)
                # Nothing is known between the ranks.
                look = {"linestyle": "none", "marker": "o", "markersize": 7, **style}
            self._line(curve, curve.x[shown], curve.y[shown], look)
            if look is style:
                self._band(curve, shown)
            elif curve.low is not None and curve.high is not None:
                colour = self.lines_[curve.name].get_color()
                ends = (x[shown] for x in (curve.x, curve.low, curve.high))
                ax.vlines(*ends, color=colour, linewidth=1.6)
        last = max(int(curve.x[-1]) for curve in self.curves.values())
        if all((np.diff(c.x) == 1).all() for c in self.defined):  # of folds: chosen ranks
            last = plot_style.last_change(arrays, last)
        plot_style.rank_axis(ax, last)
        plot_style.rate_axis(ax, min(map(np.nanmin, arrays)) if self.lines_ else 0.0)
        cms = say("{Cumulative match score, cms}(k)")
        dir_ = say("{Detection and identification rate, dir}(k)")
        return self._end("Rank k", cms if "cms_mean" in first else dir_)

    def _caption(self) -> Sequence[Text]:
        """Return what the small dots of folds, or the bands over partitions, are."""
        attrs = self.systems[0].dataset.attrs
        if any(map(_rates_of_folds, self.systems)):
            return [f"small dots: {unit_of(attrs)}s", limits_in_words(attrs)]
        number = counted(int(attrs.get("partitions", 0)), "partitions")
        return [f"{number} of the same people; band: the middle 95 % of them"]


def _rates_of_folds(system: System) -> list[str]:
    """Return the rate over ranks that the test part of each fold has; none of other partitions."""
    return [rate for rate in ("cms", "dir") if f"train_{rate}_mean" in system.dataset]


def repeated(data: Any, ax: Axes | None = None, **style: Any) -> RepeatedDisplay:
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
    return RepeatedDisplay.from_results(data).plot(ax, **style)


# --------------------------------------------------------------------- scalars of each fold


class SpreadDisplay(OneResultDisplay):
    """A histogram of each scalar over folds or repeats, with its mean and interval."""

    _plot = "spread"

    def __init__(self, dataset: xr.Dataset, name: str = ""):
        super().__init__(dataset, name)
        withheld = withheld_targets(dataset)
        self._rows = [
            row
            for row in averaged(dataset)
            if len(row.each()) and row.at.get("far_target") not in withheld
        ]
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
        plot_style.beside(ax, [_in_digits(row) for row in self._rows])
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
        mean, low, high = (row.summary(name) for name in ("mean", "low", "high"))
        every = np.array([mean, low, high, *row.each()])
        least, width = np.nanmin(every), np.nanmax(every) - np.nanmin(every)
        ends = {0.0: least, 1.0: least + width} if width else {0.5: least}
        mean, low, high, *values = (every - least) / width if width else 0 * every + 0.5
        counts, edges = np.histogram(values, 30, (0, 1))
        heights = 0.62 * counts / counts.max()
        bars: dict[str, Any] = {"color": Style.rule, "alpha": 0.6, "align": "edge", **style}
        ax.bar(edges[:-1], heights, 1 / 30, bottom=place + 0.1 - heights, **bars)
        colour = Style.colour(Style.hues.get(row.scalar.name, plot_style.BOTH))
        how: dict[str, Any] = {"color": colour, "zorder": 3}
        ax.plot([low, high], [place + 0.22] * 2, marker="|", markersize=8, linewidth=2.4, **how)
        ax.plot(mean, place + 0.22, "o", markersize=6, markeredgecolor="white", **how)
        ax.plot([0, 1], [place + 0.1] * 2, color=Style.rule, linewidth=0.8, zorder=1)  # the axis
        sides = {0.0: "left", 0.5: "center", 1.0: "right"}
        for at, value in ends.items():
            text: dict[str, Any] = {"ha": sides[at], "va": "top", "color": Style.text}
            ax.text(at, place + 0.3, _number(row, value), fontsize=Style.look.small, **text)


def _in_digits(row: Averaged) -> str:
    """Return mean and interval of a row with the decimals of its scalar, a rate in per cent."""
    low, high = row.summary("low"), row.summary("high")
    interval = ""
    if np.isfinite([low, high]).all():
        interval = f" [{_number(row, low)}, {_number(row, high)}]"
    return f"{_number(row, row.summary('mean'))}{interval}"


def _number(row: Averaged, value: float) -> str:
    """Return a value of a row with the decimals of its scalar, a rate in per cent."""
    factor, decimals = (100, 2) if row.scalar.kind == "rate" else (1, row.scalar.decimals)
    return f"{factor * value:.{decimals}f}"


def spread(data: Any, ax: Axes | None = None, **style: Any) -> SpreadDisplay:
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
    return SpreadDisplay.from_results(data).plot(ax, **style)
