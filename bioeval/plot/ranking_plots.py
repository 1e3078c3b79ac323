"""The systems of a ranking, from the best to the worst: values, ranks and letters."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.base.arguments import require_choice
from bioeval.base.errors import short_name
from bioeval.document.text import Text, say
from bioeval.plot import plot_style
from bioeval.plot.display import OneResultDisplay
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import as_plot_text, joined
from bioeval.studies.compare.section import MeasureOfSystems


class RankingDisplay(OneResultDisplay):
    """The value of each system with its interval, and the ranks that it may have.

    All arrays are from the best to the worst system; `ranks_ax_` is to the right of the values.
    """

    ranks_ax_: Axes
    _plot = "ranking"

    def __init__(self, dataset: xr.Dataset, name: str = "", measure: str = ""):
        super().__init__(dataset, name)
        labels = dataset["measure"].values.tolist()
        if measure:
            require_choice("measure", measure, labels)
        self.measure = measure or labels[0]
        self._ranked = ranked = MeasureOfSystems(dataset, labels.index(self.measure))
        order = [i for i in ranked.order if not np.isnan(ranked.number("value", i))]
        self.systems = [ranked.systems[i] for i in order]
        self.letters = [ranked.letters(i) for i in order]
        # A system has its colour in all plots of the same systems, whatever its rank.
        self._colours = [Style.colour(i) for i in order]
        names = ("value", "value_low", "value_high", "rank_low", "rank_high")
        self.value, self.value_low, self.value_high, self.rank_low, self.rank_high = (
            np.array([ranked.number(each, i) for i in order]) for each in names
        )

    def plot(
        self, ax: Axes | Figure | None = None, *, name: str | None = None, **style: Any
    ) -> Self:
        """Draw both panels. See :func:`ranking`."""
        number, narrow = len(self.systems), Style.look.is_narrow
        size = 9.6, float(np.clip(1.9 + 0.36 * number, 3.0, 14.0))
        left = self._begin(ax, style, size)
        right = self.ranks_ax_ = self._beside(1, 2, width_ratios=(1.9, 1))
        if not self.systems:
            self._why = say("{measure} is not defined", measure=self._ranked.name)
            plot_style.empty(left, self.why_empty)
            right.set_axis_off()
            return self
        longest = 14 if narrow else 28
        names = [as_plot_text(short_name(str(x), longest)) for x in self.systems]
        for axes, shown in ((left, names), (right, [""] * number)):
            axes.set(ylim=(number - 0.5, -0.5))
            axes.set_yticks(range(number), shown)
            axes.tick_params(axis="y", length=0)
        ends: dict[str, Any] = {"color": self._colours, "linewidth": 1.6, "zorder": 2}
        left.hlines(range(number), self.value_low, self.value_high, **ends)
        points: dict[str, Any] = {"color": self._colours, "s": 42, "zorder": 3, **style}
        left.scatter(self.value, range(number), **points)
        left.margins(x=0.04)
        if self._ranked.scalar.kind == "rate":
            left.xaxis.set_major_formatter(plot_style.in_per_cent)
        colours: Any = [
            colour if low == 1 else Style.rule
            for low, colour in zip(self.rank_low, self._colours, strict=True)
        ]
        wide, start = self.rank_high - self.rank_low + 0.7, self.rank_low - 0.35
        bars = right.barh(range(number), wide, 0.5, start, color=colours, zorder=2)
        right.bar_label(bars, self.letters, padding=4, fontsize=Style.look.small, color=Style.text)
        right.set_xlim(0.5, number + 0.5 + 0.06 * number * max(map(len, self.letters)))
        right.set_xticks(range(1, number + 1, -(-number // 6)))
        measure = self._ranked.name
        better = "larger" if self._ranked.scalar.larger_is_better else "smaller"
        label = say("{measure} ({better} is better)", measure=measure, better=better)
        level: Text = ""
        if self._ranked.limited:
            level = say("{level:rate} intervals", level=float(self._dataset.attrs["confidence"]))
        title = self._write(say("Ranking by {measure}", measure=measure))
        title = joined(title, as_plot_text(name) if name else "", by=": ")
        self._finish(title, [level], label)
        about = "" if narrow else "a shared letter: not told apart"
        self._finish("Rank", [about], "1 is the best", ax=right)
        return self


def ranking(
    data: Any, ax: Axes | Figure | None = None, *, measure: str = "", **style: Any
) -> RankingDisplay:
    """Draw the systems of a ranking, from the best to the worst.

    On the left is the value of each system with its interval; on the right are bars from the first
    to the last rank that the system may have, for all systems together, and letters: systems that
    share one cannot be told apart. Each system has its colour of the other plots, by its place in
    the data; bars that do not begin at rank 1 are grey.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.compare` of systems by name.
    ax : matplotlib Axes, optional
        Whose place is divided into two; that of a new figure unless given.
    measure : str, optional
        The label of the measure, one of ``data["measure"]``; by default the first.
    **style
        Properties of the points; ``name`` is written in the title.
    """
    return RankingDisplay.from_results(data, measure=measure).plot(ax, **style)
