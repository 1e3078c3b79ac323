"""The systems of a ranking, from the best to the worst: values, ranks and letters."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.base.errors import require_choice, short_name
from bioeval.document.text import Text, say
from bioeval.plot.display import OneResultDisplay
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import System, as_plot_text
from bioeval.studies.compare.section import MeasureOfSystems

# Letters of a name that are written, and ranks on the axis.
_NAME, _RANKS = 28, 6


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

    def __init__(self, dataset: xr.Dataset, measure: str = ""):
        super().__init__(dataset)
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

        def numbers(name: str) -> np.ndarray:
            return np.array([ranked.number(name, i) for i in order])

        self.value, self.value_low = numbers("value"), numbers("value_low")
        self.value_high = numbers("value_high")
        self.rank_low, self.rank_high = numbers("rank_low"), numbers("rank_high")

    @classmethod
    def from_results(cls, data: Any, measure: str = "") -> Self:
        """Take one measure of a ranking."""
        (system,) = System.pick(data, cls._plot, single=True)
        return cls(system.dataset, measure)

    def plot(
        self, ax: Axes | Figure | None = None, *, name: str | None = None, **style: Any
    ) -> Self:
        """Draw both panels. See :func:`ranking`."""
        number = len(self.systems)
        left = self._axes(ax, (9.6, float(np.clip(1.9 + 0.36 * number, 3.0, 14.0))), style)
        place = left.get_subplotspec()
        if place is None:
            x, y, wide, tall = left.get_position().bounds
            left.set_position((x, y, 0.6 * wide, tall))
            self.ranks_ax_ = self._more_axes((x + 0.68 * wide, y, 0.32 * wide, tall))
        else:
            parts = place.subgridspec(1, 2, width_ratios=(1.9, 1))
            left.set_subplotspec(parts[0])
            self.ranks_ax_ = self._more_axes(parts[1])
        if not number:
            self._empty(say("{measure} is not defined.", measure=self._ranked.name))
            self.ranks_ax_.set_axis_off()
            return self
        attrs = self._dataset.attrs
        level, method = float(attrs["confidence"]), str(attrs["interval_method"])
        of_value = "{level:rate} interval of each value, {method}"
        lines: list[Text] = [say(of_value, level=level, method=method)]
        title = say("Ranking by {measure}", measure=self._ranked.name)
        right: list[Text] = [say("all together, {level:rate}", level=level)]
        if (self.rank_low > 1).any():
            right.append("coloured bars: may be the best")
        if self._is_headed:
            lines.append(say("ranks that each may have: {level:rate}, all together", level=level))
            lines += right[1:]
        lines.append("systems that share a letter cannot be told apart")
        self._titled(title, as_plot_text(name) if name else None, lines)
        if not self._is_headed:
            self._titled("May have rank", None, right, self.ranks_ax_)
        self._values(left, style)
        self._ranks()
        return self

    def _values(self, ax: Axes, style: dict[str, Any]) -> None:
        """Draw the values with their intervals, and name the systems."""
        places = np.arange(len(self.systems))
        values, low, high = self.value, self.value_low, self.value_high
        ax.hlines(places, low, high, color=self._colours, linewidth=1.6, zorder=2)
        for place, value, colour in zip(places, values, self._colours, strict=True):
            properties: dict[str, Any] = {"color": colour, "markersize": 6.5, "zorder": 3, **style}
            ax.plot([value], [place], "o", **properties)
        longest = _NAME // 2 if Style.look.is_narrow else _NAME
        names = [as_plot_text(short_name(str(x), longest)) for x in self.systems]
        ax.set_yticks(places, names)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(len(places) - 0.5, -0.5)
        ends = np.concatenate([values, low[~np.isnan(low)], high[~np.isnan(high)]])
        room = 0.04 * (ends.max() - ends.min() or 1.0)
        ax.set_xlim(ends.min() - room, ends.max() + room)
        if self._ranked.scalar.kind == "rate":
            self._in_per_cent(ax.xaxis)
        better = "larger is better" if self._ranked.scalar.larger_is_better else "smaller is better"
        self._labelled(say("{measure} ({better})", measure=self._ranked.name, better=better), "")

    def _ranks(self) -> None:
        """Draw the ranks that each system may have as bars, and write the letters beside them."""
        ax, number = self.ranks_ax_, len(self.systems)
        places = np.arange(number)
        colours: list[Any] = []
        for low, colour in zip(self.rank_low, self._colours, strict=True):
            colours.append(colour if low == 1 else Style.rule)
        ax.barh(
            places,
            self.rank_high - self.rank_low + 0.7,
            left=self.rank_low - 0.35,
            height=0.5,
            color=colours,
            zorder=2,
        )
        for place, letters, end in zip(places, self.letters, self.rank_high, strict=True):
            ax.annotate(
                letters,
                (end + 0.35, place),
                (4, 0),
                textcoords="offset points",
                va="center",
                fontsize=Style.look.small,
                color=Style.text,
            )
        ax.set_xlim(0.5, number + 0.5 + 0.06 * number * max(map(len, self.letters)))
        ax.set_xticks(range(1, number + 1, -(-number // _RANKS)))
        ax.set_yticks(places, [""] * number)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(number - 0.5, -0.5)
        self._labelled("Rank (1 is the best)", "", ax=ax)


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
