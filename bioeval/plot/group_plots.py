"""The rates of each group of people, or of attempts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from bioeval.base.errors import short_name
from bioeval.document.results import rule_of
from bioeval.document.text import Text, say
from bioeval.plot.display import Display
from bioeval.plot.plot_style import LETTER, Style, colour_bar, in_per_cent, note, room
from bioeval.plot.systems import as_plot_text, pick
from bioeval.results.words import percent

# Most groups that are named; of more, some are.
NAMED = 40

# Colours of a FAR of 0 and of one that is not defined.
ZERO, UNDEFINED = "#f7f7f7", "#d4d4d4"


def groups(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Display:
    """Draw rates by group: FRR of each beside FAR of each pair of groups of people.

    Of groups of attempts, FAR of each is drawn in the same way as FRR.

    Groups are in the order of their names, with their subjects in brackets, never in that of their
    rates. Hollow points and asterisks mark rates that rest on fewer than 30 subjects or 30 expected
    errors. FAR is on a logarithmic scale of colours; cells of 0 are white, undefined ones grey.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.by_group`.
    ax : matplotlib Axes, optional
        Whose place is divided into two; that of a new figure unless given.
    **style
        Properties of the points of FRR; ``name`` names the system in the title.
    """
    systems = pick(data, "groups", single=True)
    ds, narrow = systems[0].dataset, Style.look.is_narrow
    overall = {"frr": float(ds["frr"][-1]), "far": float(ds["far"].values.flat[-1])}
    ds = ds.isel({dim: slice(-1) for dim in ("group", "claimed_group") if dim in ds.dims})
    every = ds["group"].values.tolist()
    high = float(np.clip(2.4 + 0.42 * len(every), 3.4, 11.0))
    plot = Display(systems, ax, style, (5.0, 1.8 * high) if narrow else (10.4, high))
    left = plot.ax_
    right = plot.beside(2, 1) if narrow else plot.beside(1, 2, width_ratios=(1, 1.15))
    longest = 14 if Style.look.width else 24
    # The title takes some of the height, and the names below FAR as much as they are long.
    letters = min(max(len(str(x)) for x in every), longest)
    rows = (0.75 * room(left)[1] - letters * LETTER * Style.look.small) / Style.look.small
    step = -(-len(every) // max(1, min(int(rows / 1.25), NAMED)))
    shown = range(0, len(every), step)
    names = [as_plot_text(short_name(str(every[i]), longest)) for i in shown]
    _draw_rates(left, ds, "frr", overall["frr"], style)
    people = ds["subjects"].values[::step].tolist()
    left.set_yticks(shown, [f"{x} ({n:,})" for x, n in zip(names, people, strict=True)])
    hollow = "hollow: few people or errors"
    caption: list[Text] = [say("at {rule}", rule=rule_of(ds.attrs))]
    if ds["frr_flagged"].values.any():
        caption.append(hollow)
    label = plot.named(say("{False reject rate, frr}"))
    plot.finish(plot.of_system(say("{frr} by group")), caption, label)
    right.set_yticks(shown, names if narrow else [""] * len(names))
    for axes in (left, right):
        axes.tick_params(length=0)
    flagged = bool(ds["far_flagged"].values.any())
    if ds["far"].ndim == 1:
        _draw_rates(right, ds, "far", overall["far"], style)
        label = plot.named(say("{False accept rate, far}"))
        plot.finish(say("{far} by group of the probe"), [hollow] * flagged, label, ax=right)
        return plot
    in_cells = len(every) <= (10 if Style.look.width is None else 5)
    _draw_pairs(right, ds, in_cells)
    turned = max(map(len, names)) * LETTER * Style.look.small > room(right)[0] / len(names) - 4
    right.set_xticks(shown, names, rotation=90 * turned)
    about, unit = "white: 0; grey: not defined", ""
    if in_cells:
        about, unit = "*: few people or errors" * flagged, " (%)"
    labels = "Group of the claimed subject", "Group of the probe" if narrow else ""
    plot.finish(say("{far} by pair of groups{unit}", unit=unit), [about], *labels, right)
    return plot


def _draw_rates(
    ax: Axes, ds: xr.Dataset, rate: str, overall: float, style: Mapping[str, Any]
) -> None:
    """Draw FRR or FAR of each group, from top to bottom, and of all groups together."""
    places = np.arange(ds.sizes["group"])
    flagged, colour = ds[f"{rate}_flagged"].values.astype(bool), Style.colour(Style.hues[rate])
    if f"{rate}_low" in ds:
        ends = ds[f"{rate}_low"], ds[f"{rate}_high"]
        ax.hlines(places, *ends, color=colour, linewidth=1.6, zorder=2)
    for members, face in ((~flagged, colour), (flagged, "white")):
        how: dict[str, Any] = {"color": colour, "markerfacecolor": face, "markersize": 6.5}
        values = ds[rate].values[members]
        ax.plot(values, places[members], "o", **{"zorder": 3, **how, **style})
    ax.set_xlim(0, 1.06 * ax.get_xlim()[1])
    ax.set_ylim(len(places) - 0.5, -0.5)
    if overall == overall:
        ax.axvline(overall, color=Style.rule, linewidth=0.8, linestyle=":", zorder=1)
        away, side = (-4, "right") if overall > 0.6 * ax.get_xlim()[1] else (4, "left")
        text = f"all: {percent(overall, 'fine')}"
        note(ax, text, (overall, 1), (away, -2), va="top", ha=side)
    ax.xaxis.set_major_formatter(in_per_cent)


def _draw_pairs(ax: Axes, ds: xr.Dataset, in_cells: bool) -> None:
    """Draw FAR of each pair of groups, logarithmic; 0 and undefined rates differ."""
    ax.grid(False)
    ax.set_facecolor(UNDEFINED)
    colours = colormaps["cividis"].with_extremes(under=ZERO)
    far = ds["far"].values
    positive = far[far > 0]
    low, high = (positive.min(), positive.max()) if len(positive) else (0.5, 1.0)
    norm = LogNorm(low / 1.5, high * 1.5) if low == high else LogNorm(low, high)
    shown = np.where(far == 0, low / 2, far)
    image = ax.imshow(shown, colours, norm, aspect="auto", interpolation="nearest")
    if in_cells:
        starred = ds["far_flagged"].values
        for (i, j), rate in np.ndenumerate(far):
            text = percent(rate, "fine").removesuffix(" %") if rate else "0"
            text = f"{text}{'*' * starred[i, j]}" if rate == rate else "n/a"
            dark = rate > 0 and norm(rate) < 0.5
            colour = "white" if dark else Style.text
            how: dict[str, Any] = {"color": colour, "fontsize": Style.look.small}
            ax.text(j, i, text, ha="center", va="center", **how)
    elif len(positive):
        bar = colour_bar(ax, image)
        bar.ax.yaxis.set_major_formatter(in_per_cent)
        bar.ax.yaxis.set_minor_formatter("")
        if high < 10 * low:  # no power of ten may be inside
            bar.set_ticks([low, (low * high) ** 0.5, high])
