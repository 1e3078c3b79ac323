"""Spread: how each scalar varies over folds or repeats."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from bioeval.base.errors import counted
from bioeval.views.averaged import Averaged, averaged, unit_of
from bioeval.views.plots import style as look
from bioeval.views.plots.display import OneResultDisplay
from bioeval.views.plots.folds import limits_in_words
from bioeval.views.plots.select_datasets import as_plot_text

# Bars of the histogram of a row, and the height of the highest, of 1 that a row has.
BARS, HEIGHT = 30, 0.62

# Height of a row's label above its middle; columns of its mean and its interval.
MIDDLE, MEAN, ENDS = 0.12, 1.18, 1.39


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
        size = look.SIZE[0] + 0.8, 1.7 + 0.52 * max(len(self._rows), 3)
        ax = self._axes(ax, size)
        top = max(len(self._rows), 1)
        ax.set(xlim=(-0.15, 1.7), ylim=(-0.5, top + 0.05))
        ax.set_xticks([])
        ax.grid(False)
        for side in ("left", "bottom"):
            ax.spines[side].set_visible(False)
        places = range(len(self._rows))[::-1]
        for place, row in zip(places, self._rows, strict=True):
            self._row(place, row, style)
        labels = [as_plot_text(row.label) for row in self._rows]
        ax.set_yticks([place + MIDDLE for place in places], labels)
        for x, text in ((MEAN, "mean"), (ENDS, "interval")) if labels else ():
            ax.text(x, top - 0.1, text, fontsize=look.SMALL_SIZE, color=look.QUIET, va="center")
        ax.tick_params(axis="y", length=0)
        if not self._rows:
            look.empty(ax, ["No scalar is defined in any fold"])
        attrs = self._dataset.attrs
        title = look.sentence(str(attrs["task"]))
        number = self._dataset["genuine_attempts"].size
        lines = [
            f"{counted(number, f'{unit_of(attrs)}s')}; {_limits(attrs)}",
            "each row on a scale of its own, from its smallest value to its largest",
        ]
        self._titled(title, name, lines)
        return self

    def _row(self, place: int, row: Averaged, style: dict[str, Any]) -> None:
        """Draw the histogram of a row, its ends, mean and interval, and write the numbers."""
        values = row.each()
        least, most = float(values.min()), float(values.max())
        width = most - least

        def across(x: Any) -> Any:
            return (np.asarray(x) - least) / width if width else np.full(np.shape(x), 0.5)

        counts, edges = np.histogram(across(values), BARS, (0, 1))
        given = {"color": look.RULE, "alpha": 0.6, "linewidth": 0, "align": "edge", **style}
        heights = HEIGHT * counts / counts.max()
        self.ax_.bar(edges[:-1], heights, np.diff(edges), bottom=place - 0.1, **given)
        line = place - 0.19
        self.ax_.plot([0, 1], [line] * 2, color=look.GRID, linewidth=0.8, zorder=1)
        mean, low, high = (row.summary(key) for key in ("mean", "low", "high"))
        if np.isfinite([low, high]).all():
            inside = np.clip(across([low, high]), 0, 1)
            self.ax_.plot(inside, [line] * 2, color=look.colour(0), linewidth=2.4, zorder=3)
        self.ax_.plot(
            across([mean]), [line], "o", color=look.colour(0), markersize=6,
            markeredgecolor="white", markeredgewidth=0.8, zorder=4,
        )  # fmt: skip
        ends = [(0, least, "right"), (1, most, "left")] if width else []
        for x, value, side in ends:
            self._write(x + (0.015 if x else -0.015), line, row, [value], side, look.QUIET)
        self._write(MEAN, place + MIDDLE, row, [mean], "left", look.TEXT, fontweight="bold")
        if np.isfinite([low, high]).all():
            self._write(ENDS, place + MIDDLE, row, [low, high], "left", look.TEXT)

    def _write(
        self, x: float, y: float, row: Averaged, values: list[float], side: str, colour: str,
        **style: Any,
    ) -> None:  # fmt: skip
        """Write a value, or the two ends of an interval."""
        digits = row.scalar.decimals
        texts = [f"{100 * v:.2f}" if row.scalar.percent else f"{v:.{digits}f}" for v in values]
        text = texts[0] if len(texts) == 1 else f"[{texts[0]}, {texts[1]}]"
        self.ax_.text(
            x, y, text, ha=side, va="center", fontsize=look.SMALL_SIZE, color=colour, **style
        )


def _limits(attrs: Any) -> str:
    """Return what mean and interval are, for a result of `cross_evaluate` or of `repeat`."""
    if "band" not in attrs:
        return f"point: mean; {limits_in_words(attrs)}"
    confidence = f"{100 * float(attrs['confidence']):g} %"
    what = f"middle {confidence}" if attrs["band"] == "quantile" else f"normal band at {confidence}"
    return f"point: mean; line: {what}"


def spread(data: Any, ax: Axes | None = None, **style: Any) -> SpreadDisplay:
    """Draw how each scalar varies over folds or repeats: EER, HTER, FRR at FAR, DIR, CMS ...

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.cross_evaluate` or of :func:`bioeval.repeat`.
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
    ['FAR, %', 'FRR, %', 'HTER, %']
    """
    return SpreadDisplay.from_results(data).plot(ax, **style)
