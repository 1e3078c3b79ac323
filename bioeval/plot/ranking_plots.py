"""The systems of a ranking, from the best to the worst: values, ranks and letters."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.base.arguments import require_choice, require_text
from bioeval.base.errors import DataError, short_name
from bioeval.plot import plot_axes
from bioeval.plot.display import Display
from bioeval.plot.plot_axes import CURVE, Style, styled
from bioeval.plot.systems import as_plot_text, joined, labels_of, pick
from bioeval.results.variables import Variable
from bioeval.showing.text import Text, labelled, say
from bioeval.studies.compare import PLACES

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
    by_name = _measures_of(ds)
    if not by_name:
        raise DataError(
            "be.plot.ranking draws the ranks of systems by a measure; these data have no measure "
            "with its differences and ranks, or have it for several results: select one"
        )
    if require_text("measure", measure):
        require_choice("measure", measure, list(by_name))
    name, at = by_name[measure or next(iter(by_name))]
    about, values = ds[name].attrs, ds.sel(at)
    scalar = Variable(
        about["long_name"],
        about["units"],
        name=name,
        label=about["label"],
        decimals=about.get("decimals"),
        direction=about["direction"],
    )
    task = "identification" if name == "dir_at_far" else "verification"
    places = {PLACES[dim]: x for dim, x in at.items() if PLACES[dim] in scalar.places}
    in_words = labelled(scalar.label, places, task)
    systems = ds["system"].values.tolist()
    is_defined = values[name].notnull().values
    # The rows: systems from the best to the worst, without those that have no value.
    by_rank = np.argsort(values[f"{name}_rank"].values, kind="stable")
    rows = by_rank[is_defined[by_rank]]
    height = np.clip(HEIGHT_WITHOUT_ROWS + HEIGHT_OF_ROW * len(rows), LEAST_HEIGHT, MOST_HEIGHT)
    plot = Display(results, ax, style, (WIDTH, float(height)))
    left, right = plot.ax_, plot.divide(1, 2, width_ratios=(VALUES_TO_RANKS, 1))
    if not len(rows):
        plot.empty(say("{measure} is not defined", measure=in_words))
        right.set_axis_off()
        return plot
    labels = labels_of(systems, systems)
    longest = LONGEST_NAME[Style.look.is_narrow]
    shown = [as_plot_text(short_name(labels.get(systems[i], systems[i]), longest)) for i in rows]
    for axes, names in ((left, shown), (right, [""] * len(rows))):
        axes.set(ylim=(len(rows) - 0.5, -0.5))
        axes.set_yticks(range(len(rows)), names)
        axes.tick_params(axis="y", length=0)
    positions = range(len(rows))
    # A list of colours is used in the order of the data, not of the ranks.
    of_systems = [Style.colour(i, names=(x,)) for i, x in enumerate(systems)]
    colours = [of_systems[i] for i in rows]
    low, high, first, last, letters = (
        values[f"{name}_{x}"].values[rows]
        for x in ("low", "high", "rank_low", "rank_high", "letters")
    )
    left.hlines(positions, low, high, color=colours, linewidth=CURVE, zorder=2)
    points: dict[str, Any] = {"color": colours, "s": 42, "zorder": 3, **style}
    left.scatter(values[name].values[rows], positions, **points)
    left.margins(x=0.04)
    if scalar.kind == "rate":
        left.xaxis.set_major_formatter(plot_axes.in_per_cent)
    of_ranks: Any = [x if rank == 1 else Style.rule for x, rank in zip(colours, first, strict=True)]
    widths, starts = last - first + WIDTH_OF_RANK, first - WIDTH_OF_RANK / 2
    bars = right.barh(positions, widths, 0.5, starts, color=of_ranks, zorder=2)
    right.bar_label(bars, letters, padding=4, fontsize=Style.look.small, color=Style.text)
    right.set_xlim(0.5, len(rows) + 0.5 + WIDTH_OF_LETTER * len(rows) * max(map(len, letters)))
    right.set_xticks(range(1, len(rows) + 1, -(-len(rows) // MOST_TICKS)))
    better = "larger" if scalar.larger_is_better else "smaller"
    label = say("{measure} ({better} is better)", measure=in_words, better=better)
    level: Text = ""
    if "interval_method" in ds.attrs:
        level = say("{level:rate} intervals", level=float(ds.attrs["confidence"]))
    missing = [x for x, defined in zip(systems, is_defined, strict=True) if not defined]
    undefined = f"not defined: {as_plot_text(joined(*missing))}" if missing else ""
    title = plot.of_system(say("Ranking by {measure}", measure=in_words))
    plot.finish(title, [level, undefined], label)
    note = "" if Style.look.is_narrow else "a shared letter: not told apart"
    plot.finish("Rank", [note], "1 is the best", ax=right)
    return plot


def _measures_of(ds: xr.Dataset) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the measures of a comparison, as they were asked for: the name, and its place."""
    measures = {}
    for name in (str(x) for x in ds.data_vars if {f"{x}_difference", f"{x}_rank"} <= {*ds}):
        if not {*ds[name].dims} <= {"system", *PLACES}:  # results that were joined
            continue
        dims = [str(dim) for dim in ds[name].dims if dim != "system"]
        for labels in itertools.product(*(ds[dim].values.tolist() for dim in dims)):
            at = dict(zip(dims, labels, strict=True))
            if not at or bool(ds[f"{name}_supported"].sel(at).notnull()):
                of_label = Variable("", "", label=ds[name].attrs["label"])
                shown = [f"{x:.12g}" for dim, x in at.items() if PLACES[dim] in of_label.places]
                measures["=".join((name, *shown))] = name, at
    return measures
