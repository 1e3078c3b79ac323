"""The systems of a ranking, from the best to the worst: values, ranks and letters."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.base.arguments import require_choice, require_text
from bioeval.base.errors import DataError, short_name
from bioeval.plot import plot_axes
from bioeval.plot.display import Display
from bioeval.plot.plot_axes import CURVE, Style, styled
from bioeval.plot.systems import as_plot_text, joined, labels_of, pick
from bioeval.showing.text import Text, say
from bioeval.studies.compare import measures_of

WIDTH, HEIGHT_WITHOUT_ROWS, HEIGHT_OF_ROW = 9.6, 1.9, 0.36  # of the figure, in inches
LEAST_HEIGHT, MOST_HEIGHT = 3.0, 14.0

VALUES_TO_RANKS = 1.9  # width of the panel of values, relative to the panel of ranks
LONGEST_NAME = {False: 28, True: 14}  # letters of a name, by whether the figure is narrow

WIDTH_OF_RANK = 0.7  # width of the bar of a single rank, in ranks
WIDTH_OF_LETTER = 0.06  # width of a letter behind a bar, as a part of the axis
MOST_TICKS = 6  # numbers on the axis of ranks


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
    if not by_name:
        raise DataError(
            "be.plot.ranking draws the ranks of systems by a measure; these data have no measure "
            "with its differences and ranks, or have it for several results: select one"
        )
    if require_text("measure", measure):
        require_choice("measure", measure, list(by_name))
    ranked = by_name[measure or next(iter(by_name))]
    labels = labels_of(ranked.systems, ranked.systems)
    # A list of colours is used in the order of the data, not of the ranks.
    colours = [Style.colour(i, names=(name,)) for i, name in enumerate(ranked.systems)]
    rows = [i for i in ranked.order if not np.isnan(ranked.number("", i))]
    labels_of_rows = [labels.get(ranked.systems[i], ranked.systems[i]) for i in rows]
    longest = LONGEST_NAME[Style.look.is_narrow]
    names_of_rows = [as_plot_text(short_name(x, longest)) for x in labels_of_rows]
    values, low, high, first, last = (
        np.array([ranked.number(statistic, i) for i in rows])
        for statistic in ("", "low", "high", "rank_low", "rank_high")
    )
    height = np.clip(HEIGHT_WITHOUT_ROWS + HEIGHT_OF_ROW * len(rows), LEAST_HEIGHT, MOST_HEIGHT)
    plot = Display(results, ax, style, (WIDTH, float(height)))
    left, right = plot.ax_, plot.divide(1, 2, width_ratios=(VALUES_TO_RANKS, 1))
    if not rows:
        plot.empty(say("{measure} is not defined", measure=ranked.name))
        right.set_axis_off()
        return plot
    for axes, names in ((left, names_of_rows), (right, [""] * len(rows))):
        axes.set(ylim=(len(rows) - 0.5, -0.5))
        axes.set_yticks(range(len(rows)), names)
        axes.tick_params(axis="y", length=0)
    positions = range(len(rows))
    colours = [colours[i] for i in rows]
    left.hlines(positions, low, high, color=colours, linewidth=CURVE, zorder=2)
    points: dict[str, Any] = {"color": colours, "s": 42, "zorder": 3, **style}
    left.scatter(values, positions, **points)
    left.margins(x=0.04)
    if ranked.scalar.kind == "rate":
        left.xaxis.set_major_formatter(plot_axes.in_per_cent)
    of_ranks: Any = [x if k == 1 else Style.rule for x, k in zip(colours, first, strict=True)]
    widths, starts = last - first + WIDTH_OF_RANK, first - WIDTH_OF_RANK / 2
    bars = right.barh(positions, widths, 0.5, starts, color=of_ranks, zorder=2)
    letters = [*map(ranked.letters, rows)]
    right.bar_label(bars, letters, padding=4, fontsize=Style.look.small, color=Style.text)
    right.set_xlim(0.5, len(rows) + 0.5 + WIDTH_OF_LETTER * len(rows) * max(map(len, letters)))
    right.set_xticks(range(1, len(rows) + 1, -(-len(rows) // MOST_TICKS)))
    better = "larger" if ranked.scalar.larger_is_better else "smaller"
    label = say("{measure} ({better} is better)", measure=ranked.name, better=better)
    level: Text = ""
    if ranked.limited:
        level = say("{level:rate} intervals", level=float(ds.attrs["confidence"]))
    missing = [x for i, x in enumerate(ranked.systems) if np.isnan(ranked.number("", i))]
    undefined = f"not defined: {as_plot_text(joined(*missing))}" if missing else ""
    title = plot.of_system(say("Ranking by {measure}", measure=ranked.name))
    plot.finish(title, [level, undefined], label)
    note = "" if Style.look.is_narrow else "a shared letter: not told apart"
    plot.finish("Rank", [note], "1 is the best", ax=right)
    return plot
