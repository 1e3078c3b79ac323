"""The systems of a ranking, from the best to the worst: values, ranks and letters."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.base.arguments import require_choice, require_text
from bioeval.base.errors import DataError, short_name
from bioeval.plot import plot_axes
from bioeval.plot.display import Display
from bioeval.plot.plot_axes import CURVE, RGB, Style, styled
from bioeval.plot.systems import as_plot_text, joined, labels_of, pick
from bioeval.showing.text import Phrase, Text, fields_of, labelled, say
from bioeval.studies.comparison import PLACES

# Of the figure, in inches. A few rows still leave room for the words beside the axes; very many
# rows are drawn closer, so that the figure fits on a page.
WIDTH, HEIGHT_WITHOUT_ROWS, HEIGHT_OF_ROW = 9.6, 1.9, 0.36
LEAST_HEIGHT, MOST_HEIGHT = 3.0, 14.0

VALUES_TO_RANKS = 1.9  # width of the panel of values, relative to the panel of ranks
LONGEST_NAME, LONGEST_IF_NARROW = 28, 14  # letters of a name, so that the values have most room

WIDTH_OF_RANK = 0.7  # width of the bar of a single rank, in ranks: bars of neighbours do not touch
WIDTH_OF_LETTER = 0.06  # width of a letter behind a bar, as a part of the axis
MOST_TICKS = 6  # numbers on the axis of ranks, so that they do not touch in the smaller panel


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
    chosen = _chosen_measure(ds, measure)
    ranked = _ranked_systems(ds, chosen)
    number = ranked.sizes["system"]
    height = np.clip(HEIGHT_WITHOUT_ROWS + HEIGHT_OF_ROW * number, LEAST_HEIGHT, MOST_HEIGHT)
    plot = Display(results, ax, style, (WIDTH, float(height)))
    left, right = plot.ax_, plot.divide(1, 2, width_ratios=(VALUES_TO_RANKS, 1))
    if not number:
        plot.empty(say("{measure} is not defined", measure=chosen.in_words))
        right.set_axis_off()
        return plot

    # Names are written at the left panel alone.
    systems, in_rows = ds["system"].values.tolist(), ranked["system"].values.tolist()
    labels = labels_of(systems, systems)
    longest = LONGEST_IF_NARROW if Style.look.is_narrow else LONGEST_NAME
    names = [as_plot_text(short_name(labels.get(name, name), longest)) for name in in_rows]
    _begin_rows(left, names)
    _begin_rows(right, [""] * number)
    # A list of colours is used in the order of the data, not of the ranks.
    colour_of = {name: Style.colour(i, names=(name,)) for i, name in enumerate(systems)}
    colours = [colour_of[name] for name in in_rows]
    _draw_values(left, ranked, chosen.variable, colours, style)
    _draw_ranks(right, ranked, chosen.variable, colours)

    better = ds[chosen.variable].attrs["direction"]
    label = say("{measure} ({better} is better)", measure=chosen.in_words, better=better)
    level: Text = ""
    if "interval_method" in ds.attrs:
        level = say("{level:rate} intervals", level=float(ds.attrs["confidence"]))
    missing = [name for name in systems if name not in in_rows]
    undefined = f"not defined: {as_plot_text(joined(*missing))}" if missing else ""
    title = plot.of_system(say("Ranking by {measure}", measure=chosen.in_words))
    plot.finish(title, [level, undefined], label)
    note = "" if Style.look.is_narrow else "a shared letter: not told apart"
    plot.finish("Rank", [note], "1 is the best", ax=right)
    return plot


@dataclass(frozen=True)
class _Measure:
    """A measure of a comparison at one target, prior, threshold or rank."""

    variable: str  # name of its values in the dataset
    label: str  # template of its name in words, such as "{frr} at {far} <= {target}"
    place: Mapping[str, Any]  # label of each dimension, such as {"far_target": 0.01}; may be empty

    @property
    def shown_place(self) -> dict[str, Any]:
        """The numbers that the label has, by its placeholders, such as ``{"target": 0.01}``."""
        numbers = {PLACES[dim]: number for dim, number in self.place.items()}
        return {name: numbers[name] for name in numbers if name in fields_of(self.label)}

    @property
    def requested_as(self) -> str:
        """The words by which it was asked for, such as ``"frr_at_far=0.01"``."""
        return "=".join([self.variable, *(f"{x:.12g}" for x in self.shown_place.values())])

    @property
    def in_words(self) -> Phrase:
        # FAR of DIR is that of searches.
        task = "identification" if self.variable == "dir_at_far" else "verification"
        return labelled(self.label, self.shown_place, task)


def _chosen_measure(ds: xr.Dataset, requested: str) -> _Measure:
    """Return the measure that a user asks for; for an empty text, the first."""
    by_request = {measure.requested_as: measure for measure in _measures_of(ds)}
    if not by_request:
        raise DataError(
            "be.plot.ranking draws the ranks of systems by a measure; these data have no measure "
            "with its differences and ranks, or have it for several results: select one"
        )
    if require_text("measure", requested):
        require_choice("measure", requested, list(by_request))
    return by_request[requested or next(iter(by_request))]


def _measures_of(ds: xr.Dataset) -> list[_Measure]:
    """Return the measures that have ranks, each at all places at which it was asked for."""
    measures = []
    for name in map(str, ds.data_vars):
        if f"{name}_difference" not in ds.data_vars or f"{name}_rank" not in ds.data_vars:
            continue
        dims = [str(dim) for dim in ds[name].dims if dim != "system"]
        if not set(dims) <= set(PLACES):  # results that were joined
            continue
        # A measure without dimensions has one combination of labels, which is empty.
        for labels in itertools.product(*(ds[dim].values.tolist() for dim in dims)):
            place = dict(zip(dims, labels, strict=True))
            # Measures share the labels of a dimension. Where this one was not asked for, its
            # support is NaN; a value may be NaN elsewhere, too.
            if not place or bool(ds[f"{name}_supported"].sel(place).notnull()):
                measures.append(_Measure(name, ds[name].attrs["label"], place))
    return measures


def _ranked_systems(ds: xr.Dataset, measure: _Measure) -> xr.Dataset:
    """Return the data at the place of a measure: systems with a value, from best to worst."""
    at_place = ds.sel(measure.place)
    best_first = np.argsort(at_place[f"{measure.variable}_rank"].values, kind="stable")
    is_defined = at_place[measure.variable].notnull().values
    return at_place.isel(system=best_first[is_defined[best_first]])


def _begin_rows(ax: Axes, names: Sequence[str]) -> None:
    """Give the axes one row for each name, the first at the top."""
    ax.set(ylim=(len(names) - 0.5, -0.5))
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0)


def _draw_values(
    ax: Axes, ranked: xr.Dataset, name: str, colours: list[RGB], style: Mapping[str, Any]
) -> None:
    """Draw the value of each row with its interval; `style` is of the points."""
    low, high = ranked[f"{name}_low"].values, ranked[f"{name}_high"].values
    ax.hlines(range(len(colours)), low, high, color=colours, linewidth=CURVE, zorder=2)
    points: dict[str, Any] = {"color": colours, "s": 42, "zorder": 3, **style}
    ax.scatter(ranked[name].values, range(len(colours)), **points)
    ax.margins(x=0.04)
    if ranked[name].attrs["units"] == "proportion":
        ax.xaxis.set_major_formatter(plot_axes.in_per_cent)


def _draw_ranks(ax: Axes, ranked: xr.Dataset, name: str, colours: list[RGB]) -> None:
    """Draw a bar from the first to the last rank of each row, and its letters behind the bar."""
    number = len(colours)
    first, last = ranked[f"{name}_rank_low"].values, ranked[f"{name}_rank_high"].values
    letters = ranked[f"{name}_letters"].values
    # A bar lies around its ranks, so that a single rank is seen.
    starts, widths = first - WIDTH_OF_RANK / 2, last - first + WIDTH_OF_RANK
    is_best = first == 1
    of_bars: Any = [colours[i] if is_best[i] else Style.rule for i in range(number)]
    bars = ax.barh(range(number), widths, 0.5, starts, color=of_bars, zorder=2)
    ax.bar_label(bars, letters, padding=4, fontsize=Style.look.small, color=Style.text)
    # Behind a bar that ends at the last rank, there is room for the longest letters.
    room_for_letters = WIDTH_OF_LETTER * number * max(map(len, letters))
    ax.set_xlim(0.5, number + 0.5 + room_for_letters)
    ax.set_xticks(range(1, number + 1, math.ceil(number / MOST_TICKS)))
