"""Differences between people: the zoo of subjects, and the rates of each group."""

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
from bioeval.showing.rows import value_of
from bioeval.showing.text import Text, say
from bioeval.studies.zoo import ANIMALS, NAMED, NO_ANIMAL, highest_rates, number_of_best

SIZE = 6.4, 5.6  # the figure, in inches
FROM_CORNER = 6  # distance of a word from its corner, in points
FROM_POINT = 5  # distance of a name from its point

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
    genuine = ds["genuine_mean"].values
    impostor = ds["impostor_mean"].values
    is_placed = ~(np.isnan(genuine) | np.isnan(impostor))
    number = int(is_placed.sum())
    why_empty = "" if number else "No subject has both genuine and impostor attempts"
    names_drawn: list[Annotation] = []
    options: dict[str, Any] = {"drawn": names_drawn, "why_empty": why_empty}
    plot = Display(systems, ax, style, SIZE, **options)
    ax = plot.ax_
    quantile = float(ds.attrs["quantile"])
    sign = 1 if str(ds.attrs["kind"]) == "similarity" else -1
    size = 24 if number <= 300 else 9  # area of a point, in square points
    animals = ds["animal_of_subject"].values.astype(str)
    for k, (animal, marker) in enumerate(_MARKERS.items()):
        is_member = is_placed & (animals == animal)
        colour = Style.colour(k - 1) if k else Style.rule
        properties = {"s": size, "marker": marker, "linewidth": 0, "color": colour, **style}
        x, y = (ds[name].values[is_member] for name in ("genuine_mean", "impostor_mean"))
        ax.scatter(x, y, **properties)
    count = number_of_best(quantile, number)
    _draw_limits(ax.axvline, _limits(genuine[is_placed], sign, count))
    _draw_limits(ax.axhline, _limits(impostor[is_placed], -sign, count))
    ax.margins(0.12)
    # Write each animal, with its number, into its corner; `sign` is -1 for distances.
    counts = dict(zip(ds["animal"].values.tolist(), ds["animal_count"].values, strict=True))
    for animal, (by_genuine, by_impostor) in ANIMALS.items():
        if animal not in counts:
            continue
        is_right = (by_genuine == "best") == (sign > 0)
        is_top = (by_impostor == "best") == (sign < 0)
        corner = float(is_right), float(is_top)
        offset = -FROM_CORNER if is_right else FROM_CORNER, -FROM_CORNER if is_top else FROM_CORNER
        note(
            ax,
            f"{animal}s {counts[animal]}",
            corner,
            offset,
            color=Style.text,
            fontweight="bold",
            xycoords="axes fraction",
            **_towards(not is_right, not is_top),
        )
    if why_empty:
        ax.text(0.5, 0.5, Style.translated(why_empty), transform=ax.transAxes, ha="center")
    worst = list[int]()
    for errors, rates in zip(ds["errors"].values, ds["rate"].values, strict=True):
        ranked = highest_rates(errors, rates)
        if len({rates[i] for i in ranked[: NAMED + 1]}) > 1 or len(ranked) <= NAMED:
            worst += ranked[:NAMED]  # more who all have the highest rate are not named
    worst = [i for i in list(dict.fromkeys(worst)) if is_placed[i]]
    caption = [
        f"dashed: best and worst {100 * quantile:g} %",
        "named: highest error rates" if worst else "",
    ]
    noun = str(ds.attrs["kind"])
    better, worse = ("larger", "smaller") if sign > 0 else ("smaller", "larger")
    x_label = f"Mean genuine {noun} ({better} is better)"
    y_label = f"Mean impostor {noun} ({worse} is better)"
    plot.finish(plot.of_system("Mean scores of each subject"), caption, x_label, y_label)
    names = ds["subject"].values[worst]
    names_drawn.extend(_name_worst(ax, genuine[worst], impostor[worst], names))
    return plot


def _draw_limits(draw_line: Callable[..., Any], limits: tuple[float, float]) -> None:
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
    is_narrow = Style.look.is_narrow
    height = HEIGHT_WITHOUT_GROUPS + HEIGHT_OF_GROUP * Style.look.factor * ds.sizes["group"]
    height = float(np.clip(height, LEAST_HEIGHT, MOST_HEIGHT))
    size = WIDTH_OF_PANELS * Style.look.factor**0.5, height
    if is_narrow:
        size = WIDTH_OF_PANEL, PANELS_IN_COLUMN * height
    plot = Display(systems, ax, style, size)
    left = plot.ax_
    right = plot.divide(2, 1) if is_narrow else plot.divide(1, 2, width_ratios=(1, PAIRS_TO_RATES))
    # The names of the groups that are named, by the index of the group.
    groups = ds["group"].values.tolist()
    longest, small = LONGEST_NAME[Style.look.width is not None], Style.look.small
    letters = min(max(len(str(group)) for group in groups), longest)
    lines_of_names = (WITHOUT_TITLE * room(left)[1] - letters * LETTER * small) / small
    most_groups = max(1, min(int(lines_of_names / LINE_SPACING), MOST_NAMED))
    names = {
        i: Style.translated(as_plot_text(short_name(str(groups[i]), longest)))
        for i in range(0, len(groups), -(-len(groups) // most_groups))
    }
    positions = [*names]
    _draw_rates(left, ds, "frr", overall_frr, style)
    subjects = ds["subjects"].values[positions].tolist()
    rows = zip(names.values(), subjects, strict=True)
    left.set_yticks(positions, [f"{name} ({number:,})" for name, number in rows])
    caption: list[Text] = [say("at {rule}", rule=rule_in_words(rule_of(ds.attrs)))]
    caption += [HOLLOW] * bool(ds["frr_flagged"].any())
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
    right.set_yticks(positions, [name if is_narrow else "" for name in names.values()])
    for axes in (left, right):
        axes.tick_params(length=0)
    if ds["far"].ndim == 1:
        _draw_rates(right, ds, "far", overall_far, style)
        label = plot.named(say("False accept rate, {far}"))
        caption = [HOLLOW] * bool(ds["far_flagged"].any())
        plot.finish(say("{far} by group of the probe"), caption, label, ax=right)
    else:
        # Draw FAR by pair of groups, with all words; `names` are by the index of the group.
        in_cells = ds.sizes["group"] <= MOST_CELLS[Style.look.width is not None]
        right.grid(False)
        right.set_facecolor(UNDEFINED)
        far = ds["far"].values
        norm = Normalize(0, float(np.nanmax(far, initial=0.0)) or 1.0)
        image = right.imshow(far, COLOURS, norm, aspect="auto", interpolation="nearest")
        if in_cells:
            words: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": small}
            for (i, j), rate in np.ndenumerate(far):
                text = percent(rate).removesuffix(" %") if rate else "0"
                text += "*" * int(ds["far_flagged"].values[i, j])
                text = Style.translated("n/a") if np.isnan(rate) else text
                is_dark = norm(rate) > 0.6
                right.text(j, i, text, color="white" if is_dark else Style.text, **words)
        if not in_cells or Style.look.width is None:  # else the cells say it, and room is scarce
            bar = colour_bar(right, image)
            bar.ax.yaxis.set_major_formatter(in_per_cent)
        longest_name = max(map(len, names.values())) * LETTER * Style.look.small
        is_vertical = longest_name > room(right)[0] / len(names) - 4
        right.set_xticks([*names], [*names.values()], rotation=90 * is_vertical)
        is_starred = in_cells and bool(ds["far_flagged"].any())
        legend: list[Text] = ["*: few people or errors"] * is_starred
        legend.append(_test_in_words(ds, "far"))
        legend += ["grey: not defined"] * bool(np.isnan(far).any())
        title = say("{far} by pair of groups{unit}", unit=" (%)" if in_cells else "")
        y_label = "Group of the probe" if Style.look.is_narrow else ""
        plot.finish(title, legend, "Group of the claimed subject", y_label, right)
    return plot


def _test_in_words(ds: xr.Dataset, rate: str) -> Text:
    p = value_of(ds, f"{rate}_groups_p")
    within = " within groups" * (rate == "far")
    is_narrow = Style.look.width is not None
    return "" if np.isnan(p) or is_narrow else f"equal groups: p = {p:.2g}{within}"


def _draw_rates(
    ax: Axes, ds: xr.Dataset, rate: str, overall: float, style: Mapping[str, Any]
) -> None:
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
