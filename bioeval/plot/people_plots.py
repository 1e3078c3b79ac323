"""Differences between people: the zoo of subjects, and the rates of each group.

:func:`zoo` draws a point for each subject, by its mean scores, and names the animals.
:func:`groups` draws two panels: FRR, a row for each group, and FAR of each pair of groups in
colours, or FAR of each group in the same way as FRR.

A plot begins with ``Display(...)``, which has the axes; ``plot.finish`` writes title, caption and
labels of a panel. The decorator ``styled`` sets sizes and colours in ``Style`` while it is
drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from bioeval.base.errors import short_name
from bioeval.plot.display import Display
from bioeval.plot.plot_axes import (
    CURVE,
    LETTER,
    THIN,
    Style,
    colour_bar,
    in_per_cent,
    named_line,
    note,
    room,
    styled,
)
from bioeval.plot.systems import System, as_plot_text, pick
from bioeval.results.variables import percent
from bioeval.showing.header import rule_in_words, rule_of
from bioeval.showing.nodes import value_of
from bioeval.showing.text import Text, say
from bioeval.studies.zoo import ANIMALS, NAMED, NO_ANIMAL, highest_rates, number_of_best

SIZE = 6.4, 5.6  # the figure, in inches
FROM_CORNER = 6  # distance of a word from its corner, in points
FROM_POINT = 5  # distance of a name from its point

#: In the order of their colours; the first are the usual subjects, in grey.
_MARKERS = {NO_ANIMAL: "o", "dove": "o", "worm": "s", "chameleon": "^", "phantom": "D"}


@styled
def zoo(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Display:
    """Draw each subject by its mean genuine and mean impostor score, and name the animals.

    The plot of Yager and Dunstone (2010), "The biometric menagerie", IEEE TPAMI 32(2). Subjects
    outside the dashed lines on both axes are animals; `docs/who-fails.md` says what each means.
    Named are the three subjects with the highest rates of each kind of error.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.zoo`.
    ax, **style
        As for :func:`bioeval.plot.roc`; properties are of the points.
    """
    systems = pick(data, "zoo", single=True)
    ds = systems[0].dataset
    genuine = ds["genuine_mean"].values  # (subjects,)
    impostor = ds["impostor_mean"].values
    is_placed = ~(np.isnan(genuine) | np.isnan(impostor))
    number = int(is_placed.sum())
    why_empty = "" if number else "No subject has both genuine and impostor attempts"
    names_drawn: list[Annotation] = []  # `drawn` of the display; filled at the end
    plot = Display(systems, ax, style, SIZE, drawn=names_drawn, why_empty=why_empty)
    ax = plot.ax_

    # A point for each subject, with the marker and colour of its animal.
    size = 24 if number <= 300 else 9  # area of a point, in square points
    animals = ds["animal_of_subject"].values.astype(str)
    for k, (animal, marker) in enumerate(_MARKERS.items()):
        is_member = is_placed & (animals == animal)
        colour = Style.rule if animal == NO_ANIMAL else Style.colour(k - 1)
        properties = {"s": size, "marker": marker, "linewidth": 0, "color": colour}
        ax.scatter(genuine[is_member], impostor[is_member], **{**properties, **style})

    # Lines at the best and the worst subjects of each axis.
    quantile = float(ds.attrs["quantile"])
    kind = str(ds.attrs["kind"])
    sign = 1 if kind == "similarity" else -1  # of a better genuine score
    count = number_of_best(quantile, number)
    _draw_limits(ax.axvline, _limits(genuine[is_placed], sign, count))
    _draw_limits(ax.axhline, _limits(impostor[is_placed], -sign, count))
    ax.margins(0.12)

    # Each animal, with its number, in its corner.
    counts = dict(zip(ds["animal"].values.tolist(), ds["animal_count"].values, strict=True))
    for animal, (by_genuine, by_impostor) in ANIMALS.items():
        if animal not in counts:
            continue
        is_right = (by_genuine == "best") == (sign > 0)
        is_top = (by_impostor == "best") == (sign < 0)
        corner = float(is_right), float(is_top)
        across = -FROM_CORNER if is_right else FROM_CORNER
        up = -FROM_CORNER if is_top else FROM_CORNER
        look: dict[str, Any] = {"color": Style.text, "fontweight": "bold"}
        look.update(_towards(not is_right, not is_top), xycoords="axes fraction")
        note(ax, f"{animal}s {counts[animal]}", corner, (across, up), **look)
    if why_empty:
        ax.text(0.5, 0.5, Style.translated(why_empty), transform=ax.transAxes, ha="center")

    # The subjects with the highest rates of each kind of error.
    worst: list[int] = []
    for errors, rates in zip(ds["errors"].values, ds["rate"].values, strict=True):
        ranked = highest_rates(errors, rates)
        # If there are more, and all have the same rate, none is worse than others.
        if len(ranked) <= NAMED or len({rates[i] for i in ranked[: NAMED + 1]}) > 1:
            worst += [i for i in ranked[:NAMED] if is_placed[i]]
    worst = list(dict.fromkeys(worst))  # once, though among the worst in both errors

    caption = [f"dashed: best and worst {100 * quantile:g} %"]
    if worst:
        caption.append("named: highest error rates")
    better, worse = ("larger", "smaller") if sign > 0 else ("smaller", "larger")
    x_label = f"Mean genuine {kind} ({better} is better)"
    y_label = f"Mean impostor {kind} ({worse} is better)"
    plot.finish(plot.of_system("Mean scores of each subject"), caption, x_label, y_label)
    # Names are placed last: on which side of its point a name is depends on the final axes.
    names = ds["subject"].values[worst]
    names_drawn.extend(_name_worst(ax, genuine[worst], impostor[worst], names))
    return plot


def _draw_limits(draw_line: Callable[..., Any], limits: tuple[float, float]) -> None:
    """Draw dashed lines by ``ax.axvline`` or ``ax.axhline``."""
    for limit in limits:
        if np.isfinite(limit):
            draw_line(limit, color=Style.rule, linewidth=THIN, linestyle="--", zorder=1)


def _name_worst(ax: Axes, x: np.ndarray, y: np.ndarray, names: np.ndarray) -> list[Annotation]:
    """Circle the worst subjects, and write their names beside them.

    A name is on the side of the middle of the axes, and above or below, away from the nearest other
    name.
    """
    ax.scatter(x, y, s=46, facecolors="none", edgecolors=Style.text, linewidth=1.0, zorder=4)
    ax.autoscale_view()
    # Coordinates of the axes, from 0 to 1.
    positions = ax.transLimits.transform(np.column_stack([x, y]))
    labels = []
    for k, name in enumerate(names.tolist()):
        distance = np.hypot(*(positions - positions[k]).T)
        distance[k] = np.inf
        nearest = int(np.argmin(distance))
        # The sides of the point on which the name is written.
        is_left = bool(positions[k, 0] > 0.5)
        is_below = bool((y[k], k) < (y[nearest], nearest))
        offset = -FROM_POINT if is_left else FROM_POINT, -FROM_POINT if is_below else FROM_POINT
        properties: dict[str, Any] = {"xycoords": "data", "color": Style.text, "zorder": 5}
        properties |= _towards(not is_left, not is_below)
        labels.append(note(ax, as_plot_text(name), (x[k], y[k]), offset, **properties))
    return labels


def _towards(right: bool, up: bool) -> dict[str, str]:
    """Return the alignment of a text that extends to the right or left, and up or down."""
    return {"ha": "left" if right else "right", "va": "bottom" if up else "top"}


def _limits(values: np.ndarray, sign: int, count: int) -> tuple[float, float]:
    """Return the midpoints that separate the `count` best and the `count` worst values.

    The largest values are the best if `sign` is 1, and the smallest if it is -1. Midpoints are
    NaN if `count` is 0, or all values.
    """
    if not count:
        return np.nan, np.nan
    from_best = np.append(-sign * np.sort(-sign * values), np.nan)
    next_index = np.array([count, len(values) - count])
    best, worst = (from_best[next_index - 1] / 2 + from_best[next_index] / 2).tolist()
    return best, worst


MOST_NAMED = 40  # groups; if there are more, every second, third ... is named

# By whether the style has a fixed width.
MOST_CELLS = {False: 10, True: 5}  # groups whose rates are written in the cells
LONGEST_NAME = {False: 24, True: 14}  # letters of a name

# Sizes of the figure, in inches.
WIDTH_OF_PANEL, WIDTH_OF_PANELS = 5.0, 10.4
HEIGHT_WITHOUT_GROUPS, HEIGHT_OF_GROUP = 2.4, 0.42
LEAST_HEIGHT, MOST_HEIGHT = 3.4, 11.0  # of a panel
PANELS_IN_COLUMN = 1.8  # height of two panels one below the other, in heights of a panel
PAIRS_TO_RATES = 1.15  # width of the panel of pairs, relative to the panel of rates

LINE_SPACING = 1.25  # from one name to the next, in lines
WITHOUT_TITLE = 0.75  # part of the height that the title leaves

BEYOND = 1.06  # factor by which an axis of rates is longer than matplotlib makes it
# Beyond this part of the axis, the text on the rate of all groups is at the left of its line.
TO_THE_RIGHT = 0.6

# Colours of FAR, from white at 0, so that equal groups look alike; and of an undefined FAR.
COLOURS, UNDEFINED = "Blues", "#d4d4d4"

HOLLOW = "hollow: few people or errors"


@styled
def groups(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Display:
    """Draw rates by group: FRR of each beside FAR of each pair of groups of people.

    FAR of groups of attempts is drawn in the same way as FRR.

    Groups are in the order of their names, with their subjects in brackets, never in that of their
    rates. Hollow points and asterisks mark rates that rest on fewer than 30 subjects or 30 expected
    errors. The colours of FAR begin at 0, which is white; grey cells are not defined.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.by_group`.
    ax : matplotlib Axes, optional
        Axes whose place is divided into two. Default: the axes of a new figure.
    **style
        Properties of the points of FRR; ``name`` names the system in the title.
    """
    systems = pick(data, "groups", single=True)
    ds = systems[0].dataset
    # The last group is of all people or attempts.
    overall_frr = float(ds["frr"][-1])
    overall_far = float(ds["far"].values.flat[-1])
    ds = ds.isel({dim: slice(-1) for dim in ("group", "claimed_group") if dim in ds.dims})

    # Two panels side by side, or one below the other.
    is_narrow = Style.look.is_narrow
    height = HEIGHT_WITHOUT_GROUPS + HEIGHT_OF_GROUP * Style.look.factor * ds.sizes["group"]
    height = float(np.clip(height, LEAST_HEIGHT, MOST_HEIGHT))
    size = WIDTH_OF_PANELS * Style.look.factor**0.5, height
    if is_narrow:
        size = WIDTH_OF_PANEL, PANELS_IN_COLUMN * height
    plot = Display(systems, ax, style, size)
    left = plot.ax_
    right = plot.divide(2, 1) if is_narrow else plot.divide(1, 2, width_ratios=(1, PAIRS_TO_RATES))

    # The names that have room, by the index of their group: of every second or third group ...
    groups = ds["group"].values.tolist()
    longest, small = LONGEST_NAME[Style.look.width is not None], Style.look.small
    letters = min(max(len(str(group)) for group in groups), longest)
    lines_of_names = (WITHOUT_TITLE * room(left)[1] - letters * LETTER * small) / small
    most_groups = max(1, min(int(lines_of_names / LINE_SPACING), MOST_NAMED))
    step = -(-len(groups) // most_groups)  # rounded up
    names: dict[int, str] = {}
    for i in range(0, len(groups), step):
        names[i] = Style.translated(as_plot_text(short_name(str(groups[i]), longest)))
    positions = [*names]

    # The left panel: FRR.
    _draw_rates(left, ds, "frr", overall_frr, style)
    subjects = ds["subjects"].values[positions].tolist()
    rows = zip(names.values(), subjects, strict=True)
    left.set_yticks(positions, [f"{name} ({number:,})" for name, number in rows])
    caption: list[Text] = [say("at {rule}", rule=rule_in_words(rule_of(ds.attrs)))]
    if ds["frr_flagged"].any():
        caption.append(HOLLOW)
    caption.append(_test_in_words(ds, "frr"))
    # On a slide, the panel is too narrow for the attempts and people.
    counted_systems: list[System] | None = None
    if Style.look.width is not None and not is_narrow:
        counted_systems = []
    plot.finish(
        plot.of_system(say("{frr} by group")),
        caption,
        plot.named(say("False reject rate, {frr}")),
        systems=counted_systems,
    )

    # The right panel: FAR by group, or by pair of groups.
    right.set_yticks(positions, [name if is_narrow else "" for name in names.values()])
    for axes in (left, right):
        axes.tick_params(length=0)
    if ds["far"].ndim == 1:
        _draw_rates(right, ds, "far", overall_far, style)
        label = plot.named(say("False accept rate, {far}"))
        caption = [HOLLOW] if ds["far_flagged"].any() else []
        plot.finish(say("{far} by group of the probe"), caption, label, ax=right)
    else:
        _draw_pairs(plot, right, ds, names)
    return plot


def _draw_pairs(plot: Display, ax: Axes, ds: xr.Dataset, names: Mapping[int, str]) -> None:
    """Draw FAR by pair of groups, with all words; `names` are by the index of the group.

    A row is a group of probes, and a column a group of claimed subjects.
    """
    has_fixed_width = Style.look.width is not None
    small = Style.look.small
    far = ds["far"].values  # (groups, claimed groups)
    is_flagged = ds["far_flagged"].values.astype(bool)
    ax.grid(False)
    ax.set_facecolor(UNDEFINED)
    norm = Normalize(0, float(np.nanmax(far, initial=0.0)) or 1.0)
    image = ax.imshow(far, COLOURS, norm, aspect="auto", interpolation="nearest")

    # Few groups: each rate in its cell, in a colour that is read on the colour of the cell.
    in_cells = ds.sizes["group"] <= MOST_CELLS[has_fixed_width]
    if in_cells:
        words: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": small}
        for (row, column), rate in np.ndenumerate(far):
            if np.isnan(rate):
                text = Style.translated("n/a")
            else:
                text = percent(rate).removesuffix(" %") if rate else "0"
                text += "*" if is_flagged[row, column] else ""
            colour = "white" if norm(rate) > 0.6 else Style.text
            ax.text(column, row, text, color=colour, **words)
    if not in_cells or not has_fixed_width:  # else the cells say it, and room is scarce
        bar = colour_bar(ax, image)
        bar.ax.yaxis.set_major_formatter(in_per_cent)

    # Names below the columns are vertical if they are wider than a column.
    longest_name = max(map(len, names.values())) * LETTER * small
    is_vertical = longest_name > room(ax)[0] / len(names) - 4
    ax.set_xticks([*names], [*names.values()], rotation=90 if is_vertical else 0)

    caption: list[Text] = []
    if in_cells and is_flagged.any():
        caption.append("*: few people or errors")
    caption.append(_test_in_words(ds, "far"))
    if np.isnan(far).any():
        caption.append("grey: not defined")
    title = say("{far} by pair of groups{unit}", unit=" (%)" if in_cells else "")
    y_label = "Group of the probe" if Style.look.is_narrow else ""
    plot.finish(title, caption, "Group of the claimed subject", y_label, ax)


def _test_in_words(ds: xr.Dataset, rate: str) -> Text:
    """Return the p-value of equal groups; empty without a test, or if the width is fixed."""
    p = value_of(ds, f"{rate}_groups_p")
    if np.isnan(p) or Style.look.width is not None:
        return ""
    return f"equal groups: p = {p:.2g}" + (" within groups" if rate == "far" else "")


def _draw_rates(
    ax: Axes, ds: xr.Dataset, rate: str, overall: float, style: Mapping[str, Any]
) -> None:
    """Draw FRR or FAR of each group as a point with its interval, and a line at the overall rate.

    The first group is on top. Points that rest on little are hollow.
    """
    positions = np.arange(ds.sizes["group"])
    flagged = ds[f"{rate}_flagged"].values.astype(bool)
    colour = Style.colour(Style.hues[rate])
    if f"{rate}_low" in ds:
        ends = ds[f"{rate}_low"], ds[f"{rate}_high"]
        ax.hlines(positions, *ends, color=colour, linewidth=CURVE, zorder=2)
    points: dict[str, Any] = {"color": colour, "markersize": 6.5, "zorder": 3}
    for is_member, face in ((~flagged, colour), (flagged, "white")):
        values = ds[rate].values[is_member]
        ax.plot(values, positions[is_member], "o", **{**points, "markerfacecolor": face, **style})
    ax.set_xlim(0, BEYOND * ax.get_xlim()[1])
    ax.set_ylim(len(positions) - 0.5, -0.5)
    if not np.isnan(overall):
        named_line(ax, overall, f"all: {percent(overall)}", Style.rule, TO_THE_RIGHT, 2)
    ax.xaxis.set_major_formatter(in_per_cent)
