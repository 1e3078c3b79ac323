"""The zoo: each subject by its mean genuine and its mean impostor score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from bioeval.plot.display import Display
from bioeval.plot.plot_axes import note
from bioeval.plot.plot_style import THIN, Style, styled
from bioeval.plot.systems import as_plot_text, pick
from bioeval.studies.zoo import ANIMALS, NAMED, NO_ANIMAL, highest_rates, number_of_best

# With more subjects, points are smaller.
_MANY = 300

SIZE = 6.4, 5.6  # the figure, in inches
POINT = 24  # area, in square points
SMALL_POINT = 9  # area of one of many points
CIRCLE = 46  # area of the circle around a named subject
FROM_CORNER = 6  # distance of a word from its corner, in points
FROM_POINT = 5  # distance of a name from its point

# The part of the axes that is left free around the points.
AROUND = 0.12

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
    size = POINT if np.count_nonzero(is_placed) <= _MANY else SMALL_POINT
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
    ax.margins(AROUND)
    _name_corners(ax, ds, sign)
    if why_empty:
        ax.text(0.5, 0.5, Style.translated(why_empty), transform=ax.transAxes, ha="center")
    worst = list[int]()
    for errors, rates in zip(ds["errors"].values, ds["rate"].values, strict=True):
        ranked = highest_rates(errors, rates, len(rates))
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


def _name_corners(ax: Axes, ds: xr.Dataset, sign: int) -> None:
    """Write each animal, with its number, into its corner; `sign` is -1 for distances."""
    counts = dict(zip(ds["animal"].values.tolist(), ds["animal_count"].values, strict=True))
    for animal, (by_genuine, by_impostor) in ANIMALS.items():
        if animal not in counts:
            continue
        is_right = (by_genuine == "best") == (sign > 0)
        is_top = (by_impostor == "best") == (sign < 0)
        corner = float(is_right), float(is_top)
        offset = -FROM_CORNER if is_right else FROM_CORNER, -FROM_CORNER if is_top else FROM_CORNER
        properties: dict[str, Any] = {"color": Style.text, "fontweight": "bold"}
        properties |= {"xycoords": "axes fraction", **_towards(not is_right, not is_top)}
        note(ax, f"{animal}s {counts[animal]}", corner, offset, **properties)


def _name_worst(ax: Axes, x: np.ndarray, y: np.ndarray, names: np.ndarray) -> list[Annotation]:
    """Circle the worst subjects, and write their names beside them.

    A name is on the side of the middle of the axes, and above or below, away from the nearest other
    name.
    """
    ax.scatter(x, y, s=CIRCLE, facecolors="none", edgecolors=Style.text, linewidth=1.0, zorder=4)
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
