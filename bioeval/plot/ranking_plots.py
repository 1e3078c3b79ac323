"""The systems of a ranking, from the best to the worst: values, ranks and letters."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.base.arguments import require_choice, require_text
from bioeval.base.errors import short_name
from bioeval.plot import plot_style
from bioeval.plot.display import Display
from bioeval.plot.plot_style import CURVE, Style, styled
from bioeval.plot.systems import as_plot_text, labels_of, pick
from bioeval.showing.text import Text, say
from bioeval.studies.compare.outcomes import measures_of

# Inches: the width, the height without rows, the height of a row, and the limits of the height.
WIDTH, HEIGHT_WITHOUT_ROWS, HEIGHT_OF_ROW = 9.6, 1.9, 0.36
LEAST_HEIGHT, MOST_HEIGHT = 3.0, 14.0

# The width of the panel of values relative to the panel of ranks; and the most letters of a name,
# by whether the figure is narrow.
VALUES_TO_RANKS, LONGEST_NAME = 1.9, {False: 28, True: 14}

# The axis of ranks: the width of a bar of one rank, the width of a letter behind it as a part of
# the axis, and the most numbers.
WIDTH_OF_RANK, WIDTH_OF_LETTER, MOST_TICKS = 0.7, 0.06, 6


@styled
def ranking(
    data: Any, ax: Axes | Figure | None = None, *, measure: str = "", **style: Any
) -> Display:
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
        Axes whose place is divided into two. Default: the axes of a new figure.
    measure : str, optional
        Name of the measure as it was asked for, such as ``"frr_at_far=0.01"``; by default the
        first.
    **style
        Properties of the points; ``name`` is written in the title.
    """
    results = pick(data, "ranking", single=True, relabel=False)
    ds = results[0].dataset
    by_name = {x.key: x for x in measures_of(ds)}
    if require_text("measure", measure):
        require_choice("measure", measure, list(by_name))
    ranked = by_name[measure or next(iter(by_name))]
    order = [i for i in ranked.order if not np.isnan(ranked.number("", i))]
    number_of_systems, is_narrow = len(order), Style.look.is_narrow
    height = np.clip(
        HEIGHT_WITHOUT_ROWS + HEIGHT_OF_ROW * number_of_systems, LEAST_HEIGHT, MOST_HEIGHT
    )
    plot = Display(results, ax, style, (WIDTH, float(height)))
    left, right = plot.ax_, plot.divide(1, 2, width_ratios=(VALUES_TO_RANKS, 1))
    if not order:
        plot.empty(say("{measure} is not defined", measure=ranked.name))
        right.set_axis_off()
        return plot
    value, value_low, value_high, rank_low, rank_high = (
        np.array([ranked.number(name, i) for i in order])
        for name in ("", "low", "high", "rank_low", "rank_high")
    )
    # A system has its colour in all plots of the same systems, whatever its rank.
    labels = labels_of(ranked.systems, ranked.systems)
    system_colours = [Style.colour(i, names=(name,)) for i, name in enumerate(ranked.systems)]
    colours = [system_colours[i] for i in order]
    longest = LONGEST_NAME[is_narrow]
    shown_names = [labels.get(ranked.systems[i], ranked.systems[i]) for i in order]
    names = [as_plot_text(short_name(name, longest)) for name in shown_names]
    for axes, row_names in ((left, names), (right, [""] * number_of_systems)):
        axes.set(ylim=(number_of_systems - 0.5, -0.5))
        axes.set_yticks(range(number_of_systems), row_names)
        axes.tick_params(axis="y", length=0)
    left.hlines(
        range(number_of_systems), value_low, value_high, color=colours, linewidth=CURVE, zorder=2
    )
    points: dict[str, Any] = {"color": colours, "s": 42, "zorder": 3, **style}
    left.scatter(value, range(number_of_systems), **points)
    left.margins(x=0.04)
    if ranked.scalar.kind == "rate":
        left.xaxis.set_major_formatter(plot_style.in_per_cent)
    bar_colours: Any = [
        colour if low == 1 else Style.rule for low, colour in zip(rank_low, colours, strict=True)
    ]
    width_of_bars, start_of_bars = (
        rank_high - rank_low + WIDTH_OF_RANK,
        rank_low - WIDTH_OF_RANK / 2,
    )
    bars = right.barh(
        range(number_of_systems), width_of_bars, 0.5, start_of_bars, color=bar_colours, zorder=2
    )
    letters = [ranked.letters(i) for i in order]
    right.bar_label(bars, letters, padding=4, fontsize=Style.look.small, color=Style.text)
    right.set_xlim(
        0.5, number_of_systems + 0.5 + WIDTH_OF_LETTER * number_of_systems * max(map(len, letters))
    )
    right.set_xticks(range(1, number_of_systems + 1, -(-number_of_systems // MOST_TICKS)))
    better = "larger" if ranked.scalar.larger_is_better else "smaller"
    label = say("{measure} ({better} is better)", measure=ranked.name, better=better)
    level: Text = ""
    if ranked.limited:
        level = say("{level:rate} intervals", level=float(ds.attrs["confidence"]))
    plot.finish(plot.of_system(say("Ranking by {measure}", measure=ranked.name)), [level], label)
    note = "" if is_narrow else "a shared letter: not told apart"
    plot.finish("Rank", [note], "1 is the best", ax=right)
    return plot
