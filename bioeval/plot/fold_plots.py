"""Folds and repeated partitions: points, curves and scalars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from bioeval.base.errors import counted
from bioeval.document.results import threshold_rule
from bioeval.document.text import Text, say
from bioeval.plot.display import Curve, CurvesDisplay, CurveSpec, OneResultDisplay
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import System, as_plot_text
from bioeval.results.words import percent
from bioeval.studies.folds.section import threshold_of_folds
from bioeval.views.tasks import Averaged, averaged, unit_of
from bioeval.views.writers.lines import written

# ------------------------------------------------------------------------ points of the folds

# The largest diameter of a point, in points of type.
LARGEST = 20.0


class FoldsWords(NamedTuple):
    """The title, the names of the points tested and chosen, and the lines below the title."""

    title: str
    tested: str
    chosen: str
    lines: Sequence[Text]


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
    _fold = ""  # before the names of the values of each fold
    _optimistic = "train_{}_mean"  # the rates where the threshold was chosen

    def __init__(self, dataset: xr.Dataset):
        super().__init__(dataset)
        self.far = dataset[f"{self._fold}far"].values.ravel()
        self.frr = dataset[f"{self._fold}frr"].values.ravel()

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the folds."""
        ax = self._axes(ax, style=style)
        known = np.isfinite(self.far) & np.isfinite(self.frr)
        if not known.any():
            self._empty("No fold has attempts of both classes")
        words = self._words()
        self._folds(known, style)
        middle = f"{{}}_{_estimate(self._dataset.attrs)}"
        self._point(middle, "{}", words.tested, fmt="o", color=Style.text, zorder=4)
        self._point(
            self._optimistic,
            self._optimistic.removesuffix("_mean"),
            words.chosen,
            fmt="D",
            color=Style.text,
            linewidth=1.0,
            capsize=0,
            markerfacecolor="white",
            markeredgewidth=1.6,
            zorder=5,
        )
        ax.margins(0.06)
        ax.set_xlim(left=-0.03 * ax.get_xlim()[1])
        ax.set_ylim(bottom=-0.03 * ax.get_ylim()[1], top=1.1 * ax.get_ylim()[1])
        self._target()
        for axis in (ax.xaxis, ax.yaxis):
            self._in_per_cent(axis)
        x, y = say("{False accept rate, far}"), say("{False reject rate, frr}")
        self._titled(words.title, name, words.lines)
        self._legend()
        self._labelled(x, y, self._other("far"), self._other("frr"))
        return self

    def _point(self, value: str, limits: str, label: str, **style: Any) -> None:
        """Draw the mean FAR and FRR of folds with their intervals, if any."""
        ds = self._dataset
        far, frr = float(ds[value.format("far")]), float(ds[value.format("frr")])
        bars = []
        for rate, middle in (("far", far), ("frr", frr)):
            low = float(ds.get(f"{limits.format(rate)}_low", np.nan))
            high = float(ds.get(f"{limits.format(rate)}_high", np.nan))
            both = [[max(0.0, middle - low)], [max(0.0, high - middle)]]
            bars.append(both if np.isfinite(both).all() else None)
        properties = {"markersize": 7, "capsize": 4, "linewidth": 1.6, **style}
        drawn = self.ax_.errorbar([far], [frr], xerr=bars[0], yerr=bars[1], **properties)
        drawn.lines[0].set_label(label)  # the legend shows the point without its bars

    def _folds(self, known: np.ndarray, style: dict[str, Any]) -> None:
        """Draw each distinct point once, its area proportional to its number of folds."""
        there = np.column_stack([self.far[known], self.frr[known]])
        places, self.counts = np.unique(there, axis=0, return_counts=True)
        most = int(self.counts.max(initial=1))
        properties = {
            "color": Style.rule,
            "markersize": min(4.5, LARGEST / most**0.5),
            "alpha": 0.65,
        }
        properties = {**properties, "zorder": 2, "linewidths": 0, "clip_on": False, **style}
        size = properties.pop("markersize")
        unit = unit_of(self._dataset.attrs)
        label = f"test part of a {unit}"
        if most > 1:
            label = f"test parts; area: how many (1 to {most})"
        areas = size**2 * self.counts
        self.ax_.scatter(places[:, 0], places[:, 1], areas, label="_folds", **properties)
        self.ax_.plot(
            [],
            [],
            "o",
            color=properties["color"],
            alpha=properties["alpha"],
            markersize=4.5,
            markeredgewidth=0,
            label=label,
        )

    def _target(self) -> None:
        """Draw the FAR target, named at the top."""
        rule = threshold_rule(self._dataset.attrs)
        if rule.name != "far":
            return
        (target,) = rule.values
        self.ax_.axvline(target, color=Style.text, linewidth=0.8, linestyle=":", zorder=1)
        low, high = self.ax_.get_xlim()
        self.ax_.set_xlim(low, max(high, 1.03 * target))
        share = (target - low) / (self.ax_.get_xlim()[1] - low)
        away, side = 4, "left"
        if share > 0.8:
            away, side = -4, "right"
        self._note(f"target {percent(target, '.3g')}", (target, 1), (away, -3), va="top", ha=side)

    def _words(self) -> FoldsWords:
        """Return what is written on the figure."""
        attrs = self._dataset.attrs
        chosen = "training parts, mean"
        if attrs["chosen_on"] != "given":
            chosen = f"{chosen} (optimistic)"
        number = int(np.isfinite(self._dataset["threshold"]).sum())
        return FoldsWords(
            str(attrs["task"]),
            f"test parts, {_estimate(attrs)}",
            chosen,
            [
                threshold_of_folds(attrs),
                f"{counted(number, f'{unit_of(attrs)}s')}; {limits_in_words(attrs)}",
            ],
        )


def limits_in_words(attrs: Mapping[str, Any]) -> str:
    """Return in words the intervals of a result over folds, from its attributes."""
    confidence = f"{100 * float(attrs['confidence']):g} %"
    if attrs.get("interval_method") == "quantile":
        return f"intervals: the middle {confidence} of the {unit_of(attrs)}s"
    rate_name = "mean over folds (Nadeau and Bengio)"
    if _estimate(attrs) == "pooled":
        rate_name = f"pooled rate ({attrs['interval_method']})"
    return f"{confidence} intervals: of the {rate_name}"


def _estimate(attrs: Mapping[str, Any]) -> str:
    """Return the name of the summary that a result has the interval of."""
    spread = attrs.get("interval_method", "quantile") in ("nadeau-bengio", "quantile")
    if spread:
        return "mean"
    return "pooled"


def folds(data: Any, ax: Axes | None = None, **style: Any) -> FoldsDisplay:
    """Draw FAR and FRR of each fold, their mean, and the rates where the thresholds were chosen.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.cross_evaluate`, of verification or open set.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of the points of the folds.

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


RATES: dict[str, Text] = {
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


def _of_partitions(systems: Sequence[System]) -> list[str]:
    """Return in words what the thin lines of folds, or the bands over partitions, are."""
    attrs = systems[0].dataset.attrs
    folds = map(_folds, systems)
    lines = max((len(each) for each in folds if each is not None), default=0)
    if lines:
        number = counted(lines, f"{unit_of(attrs)}s")
        return [f"thin lines: {number}; {limits_in_words(attrs)}"]
    number = counted(int(attrs.get("partitions", 0)), "partitions")
    return [f"{number} of the same subjects; band: the middle 95 % of them, at each point"]


def _at_rank_1(dataset: xr.Dataset, rate: str) -> list[xr.DataArray]:
    """Return the mean of a rate and its limits, of rates over ranks at rank 1."""
    arrays = []
    for key in ("mean", "low", "high"):
        array = dataset[f"{rate}_{key}"]
        arrays.append(array.sel(rank=1) if array.ndim > 1 else array)
    return arrays


class RepeatedDisplay(CurvesDisplay):
    """Mean curves with their bands; ``x`` of a curve is the rank or the threshold.

    Attributes
    ----------
    bands : dict of str to Band
        The arrays, by name.
    """

    bands: dict[str, Band]
    spec = CurveSpec("repeated", "Mean", over=_of_partitions, marked=False)

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a result of `repeat` or `cross_evaluate`, or of several by name."""
        curves: list[Curve] = []
        systems = System.pick(data, "repeated")
        for number, system in enumerate(systems):
            dataset = system.dataset
            for rate, words in RATES.items():
                if f"{rate}_mean" not in dataset or not dataset[f"{rate}_mean"].ndim:
                    continue  # one value for all folds
                mean, low, high = _at_rank_1(dataset, rate)
                x = dataset[mean.dims[0]].values
                name, word = system.name, words
                if mean.dims == ("rank",):
                    word = ""
                else:
                    name = f"{name} {written(word)}".strip()
                why_not = ""
                if not (np.isfinite(x) & np.isfinite(mean.values)).any():
                    why_not = "no rate is defined in any partition"
                # The colour and the line style of what it is; of systems, each has its colour.
                dash = Style.hues[rate] if word else number
                hue = dash if len(systems) == 1 else number
                limits = low.values, high.values
                curves.append(
                    Curve(name, x, mean.values, system, why_not, hue, dash, *limits, word=word)
                )
        display = cls(curves)
        display.bands = {}
        for c in curves:
            display.bands[c.name] = Band(c.name, c.x, c.y, c.low, c.high)  # type: ignore[arg-type]
        return display

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`repeated`."""
        first = self.systems[0].dataset
        if "threshold" in first.dims:
            label = self._over_thresholds(ax, name, style, thin=False)
            return self._finish(x_label=label, y_label="Rate", terms=("", ("far", "frr")))
        ax, lowest = self._start(ax, name, style), 1.0
        for curve in self.defined:
            shown = np.isfinite(curve.x) & np.isfinite(curve.y)
            folds = _folds(curve.system)
            if folds is None:
                self._line(curve, curve.x[shown], curve.y[shown], style, marked=False)
                self._band(curve, shown)
                folds = np.empty(0)
            else:
                self._draw_folds(curve, folds, style)
            for low in (self.bands[curve.name].low[shown], folds):
                lowest = float(np.nanmin(low, initial=lowest))
        arrays = []
        for band in self.bands.values():
            arrays += [band.mean, band.low, band.high]
        most = max(int(curve.x[-1]) for curve in self.curves.values())
        whole = all((np.diff(c.x) == 1).all() for c in self.defined)  # of folds: chosen ranks
        last, beyond = self._ranks_shown(arrays, most, None if whole else most)
        self._rank_axis(last)
        beyond = [*beyond, self._rates_from(lowest if self.lines_ else 0.0)]
        rate, of = say("{Cumulative match score, cms}(k)"), "cms"
        if "cms_mean" not in first:
            rate, of = say("{Detection and identification rate, dir}(k)"), "dir"
        return self._finish(
            x_label="Rank k",
            y_label=rate,
            terms=("ISO: rank R", (of,)),
            details=lambda _: beyond,
        )

    def _draw_folds(self, curve: Curve, folds: np.ndarray, style: dict[str, Any]) -> None:
        """Draw each fold as a thin line, and the mean with its intervals as a bold one."""
        self._cloud(curve, ((curve.x, y) for y in folds), alpha=0.45, linewidth=0.8, marker=".")
        # Nothing is known between the ranks.
        line = {"drawstyle": "default", "linewidth": 2.4, "markersize": 6, "marker": "o", **style}
        self._line(curve, curve.x, curve.y, line)
        band = self.bands[curve.name]
        # About the middle of each interval: of a band of quantiles the mean may lie outside.
        self.ax_.errorbar(
            band.x,
            (band.low + band.high) / 2,
            (band.high - band.low) / 2,
            fmt="none",
            ecolor=self.lines_[curve.name].get_color(),
            capsize=4,
            linewidth=1.6,
        )


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
    ax_, figure_ : Axes and Figure
        Where they were drawn last.
    """

    _plot = "spread"

    def __init__(self, dataset: xr.Dataset):
        super().__init__(dataset)
        self._rows = [row for row in averaged(dataset) if len(row.each())]
        self.values = {row.label: row.each() for row in self._rows}

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw a row for each scalar."""
        size = 7.2, 1.7 + 0.52 * max(len(self._rows), 3)
        ax = self._axes(ax, size, style)
        rows = max(len(self._rows), 1)
        ax.set(xlim=(-0.02, 1.02), ylim=(rows - 0.45, -0.7))
        ax.set_xticks([])
        ax.grid(False)
        for side in ("left", "bottom"):
            ax.spines[side].set_visible(False)
        for place, row in enumerate(self._rows):
            self._row(place, row, style)
        ax.set_yticks(range(len(self._rows)), [as_plot_text(row.label) for row in self._rows])
        ax.tick_params(axis="y", length=0)
        if not self._rows:
            self._empty("No scalar is defined in any fold")
        attrs = self._dataset.attrs
        sizes = self._dataset.sizes
        number = sizes.get("partition", sizes.get("repeat", 1) * sizes.get("fold", 1))
        lines = [
            f"{counted(number, f'{unit_of(attrs)}s')}; {_limits(attrs)}",
            "each row on its own scale, from the smallest to the largest value or limit",
        ]
        self._titled(str(attrs["task"]), name, lines)
        if self._rows:
            band = "interval"
            if "partitions" in attrs:
                band = "middle 95 %"
            means = [_in_digits(row, row.summary("mean")) for row in self._rows]
            both = [(row, row.summary("low"), row.summary("high")) for row in self._rows]
            intervals = [
                f"[{_in_digits(row, low)}, {_in_digits(row, high)}]"
                if np.isfinite([low, high]).all()
                else "-"
                for row, low, high in both
            ]
            self._columns(ax, {"mean": (means, "bold"), band: (intervals, "normal")})
        return self

    def _row(self, place: int, row: Averaged, style: dict[str, Any]) -> None:
        """Draw the histogram of a row, its mean and its interval, on an axis that holds them."""
        values = row.each()
        mean, low, high = (row.summary(name) for name in ("mean", "low", "high"))
        known = np.isfinite([low, high]).all()
        ends = [*values, low, high] if known else values
        least = float(np.min(ends))
        width = float(np.max(ends)) - least

        def across(x: Any) -> Any:
            if width:
                return (np.asarray(x) - least) / width
            return np.full(np.shape(x), 0.5)

        counts, edges = np.histogram(across(values), BARS, (0, 1))
        properties = {"color": Style.rule, "alpha": 0.6, "linewidth": 0, "align": "edge", **style}
        heights = HEIGHT * counts / counts.max()
        self.ax_.bar(
            edges[:-1], heights, np.diff(edges), bottom=place + 0.1 - heights, **properties
        )
        line, colour = place + 0.22, Style.colour(Style.hues.get(row.scalar.name, Style.both))
        if known:
            ends = across([low, high])
            self.ax_.plot(ends, [line] * 2, color=colour, linewidth=2.4, zorder=3)
            self.ax_.plot(ends, [line] * 2, "|", color=colour, markersize=8, zorder=3)
        self.ax_.plot(
            across([mean]),
            [line],
            "o",
            color=colour,
            markersize=6,
            markeredgecolor="white",
            markeredgewidth=0.8,
            zorder=4,
        )


def _in_digits(row: Averaged, value: float) -> str:
    """Return a value of a row with the decimals of its scalar, a rate in per cent."""
    if row.scalar.kind == "rate":
        return f"{100 * value:.2f}"
    return f"{value:.{row.scalar.decimals}f}"


def _limits(attrs: Mapping[str, Any]) -> str:
    """Return in words the mean and the interval of a result of `cross_evaluate` or `repeat`."""
    if "partitions" in attrs:
        return "point: mean; line: middle 95 %"
    return f"point: mean; {limits_in_words(attrs)}"


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
