"""The systems of a ranking, from the best to the worst: values, ranks and letters."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.base.errors import require_choice, short_name
from bioeval.document.text import say
from bioeval.plot import plot_style
from bioeval.plot.display import OneResultDisplay
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import System, as_plot_text, joined
from bioeval.studies.compare.section import MeasureOfSystems


class RankingDisplay(OneResultDisplay):
    """The value of each system with its interval, and the ranks that it may have.

    Attributes
    ----------
    measure : str
        The measure that is drawn.
    systems : list of str
        From the best to the worst.
    value, value_low, value_high, rank_low, rank_high : ndarray, shape (systems,)
        In this order.
    letters : list of str
    ranks_ax_ : Axes
        The axes of the ranks, to the right of those of the values.
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

    @classmethod
    def from_results(cls, data: Any, measure: str = "") -> Self:
        """Take one measure of a ranking."""
        (system,) = System.pick(data, cls._plot, single=True)
        return cls(system.dataset, system.name, measure)

    def plot(
        self, ax: Axes | Figure | None = None, *, name: str | None = None, **style: Any
    ) -> Self:
        """Draw both panels. See :func:`ranking`."""
        size = 9.6, float(np.clip(1.9 + 0.36 * len(self.systems), 3.0, 14.0))
        left = self._begin(ax, style, size)
        right = self.ranks_ax_ = self._beside(1, 2, width_ratios=(1.9, 1))
        if not self.systems:
            self._why = say("{measure} is not defined", measure=self._ranked.name)
            plot_style.empty(left, self.why_empty)
            right.set_axis_off()
            return self
        places = np.arange(len(self.systems))
        for axes in (left, right):
            axes.set_ylim(len(places) - 0.5, -0.5)
            axes.tick_params(axis="y", length=0)
        longest = 14 if Style.look.is_narrow else 28
        left.set_yticks(places, [as_plot_text(short_name(str(x), longest)) for x in self.systems])
        right.set_yticks(places, [""] * len(places))
        lines = self.value_low, self.value_high
        left.hlines(places, *lines, color=self._colours, linewidth=1.6, zorder=2)
        for place, value, colour in zip(places, self.value, self._colours, strict=True):
            how: dict[str, Any] = {"color": colour, "markersize": 6.5, "zorder": 3, **style}
            left.plot([value], [place], "o", **how)
        left.margins(x=0.04)
        if self._ranked.scalar.kind == "rate":
            self._in_per_cent(left.xaxis)
        self._ranks(right)
        better = "larger" if self._ranked.scalar.larger_is_better else "smaller"
        label = say("{measure} ({better} is better)", measure=self._ranked.name, better=better)
        level = say("{level:rate} intervals", level=float(self._dataset.attrs["confidence"]))
        title = self._write(say("Ranking by {measure}", measure=self._ranked.name))
        title = joined(title, as_plot_text(name) if name else "", by=": ")
        narrow = Style.look.is_narrow
        self._finish(title, [level], label)
        about = "" if narrow else "a shared letter: not told apart"
        self._finish("Rank", [about], "1 is the best", ax=right)
        return self

    def _ranks(self, ax: Axes) -> None:
        """Draw the ranks that each system may have as bars, and write the letters beside them."""
        number = len(self.systems)
        colours: Any = [
            colour if low == 1 else Style.rule
            for low, colour in zip(self.rank_low, self._colours, strict=True)
        ]
        wide, left = self.rank_high - self.rank_low + 0.7, self.rank_low - 0.35
        bars = ax.barh(range(number), wide, left=left, height=0.5, color=colours, zorder=2)
        ax.bar_label(bars, self.letters, padding=4, fontsize=Style.look.small, color=Style.text)
        ax.set_xlim(0.5, number + 0.5 + 0.06 * number * max(map(len, self.letters)))
        ax.set_xticks(range(1, number + 1, -(-number // 6)))


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

    Returns
    -------
    RankingDisplay
        With ``measure``, ``systems``, ``value``, ``rank_low``, ``rank_high``, ``letters``, ``ax_``,
        ``ranks_ax_`` and ``figure_``.

    Examples
    --------
    >>> import bioeval as be
    >>> systems = {f"spread {x}": be.simulate(40, 3, within=x) for x in (0.4, 0.5, 0.6)}
    >>> display = be.plot.ranking(be.compare(systems, measures=["eer"]))
    >>> display.systems
    ['spread 0.4', 'spread 0.5', 'spread 0.6']
    """
    return RankingDisplay.from_results(data, measure=measure).plot(ax, **style)
