"""Plots of scores: their distributions, and the matrix."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bioeval.base.arguments import require_flag, require_number
from bioeval.base.errors import DataError, counted, received
from bioeval.base.kinds import LARGER_IS_CLOSER, noun_of
from bioeval.plot import plot_style
from bioeval.plot.display import MOST_NAMED, Display, legend_text
from bioeval.plot.plot_style import LOOKS, OUTLINE, SIZE, Style, styled
from bioeval.plot.systems import (
    System,
    agreed,
    as_plot_text,
    attempts_in_words,
    joined,
    kind_of,
    labelled,
)
from bioeval.results.histogram import ScoreHistograms
from bioeval.scores.matrix_image import EXCLUDED, FAILED, INFINITE, MatrixImage

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores


@styled
def score_distributions(
    data: Any,
    ax: Axes | Figure | None = None,
    *,
    thresholds: Mapping[str, float] | None = None,
    log: bool = False,
    **style: Any,
) -> Display:
    """Draw how genuine and impostor scores are distributed.

    Every comparison of two templates is a score (single-template verification). Each density is
    over the attempts of its own class: the areas are 1, however many more impostor scores there
    are. Counts in bins are exact.

    Parameters
    ----------
    data : Scores, or mapping of str to Scores
        They are counted in one pass in blocks of rows, however large the matrix. Two systems have
        a panel each; other numbers of systems, and systems on a given `ax`, share one.
    ax, **style
        As for :func:`bioeval.plot.roc`; properties are of the outlines.
    thresholds : mapping of str to float, optional
        Thresholds to mark, by name.
    log : bool
        Whether the axis of the density is logarithmic, which shows the tails.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.score_distributions(be.simulate(20, 4), thresholds={"vendor": 5.0})
    >>> int(display.drawn[""].of_class("impostor").counts.sum())
    6080
    """
    from bioeval.tasks.plotted_scores import histograms_of

    return draw_histograms(histograms_of(data), ax, style, thresholds=thresholds, log=log)


# This number of systems have a panel each; other numbers of systems share one panel.
_SYSTEMS_WITH_PANELS = 2

# The size of two panels relative to one panel: side by side, or one below the other.
_WIDTH_OF_PANELS, _HEIGHT_OF_PANELS = 1.6, 1.7

# The opacity of a filled histogram.
_OPACITY = 0.18

# A logarithmic axis begins at this part of the smallest density; the second number is taken for
# the density if there is none.
_BELOW_SMALLEST, _WITHOUT_DENSITY = 0.6, 1e-3

# Axes end above the largest density by these factors.
_ABOVE_LARGEST, _ABOVE_LARGEST_OF_LOG = 1.1, 3


def draw_histograms(
    by_system: Mapping[str, ScoreHistograms],
    ax: Axes | Figure | None = None,
    style: dict[str, Any] | None = None,
    *,
    title: str = "Genuine and impostor scores",
    classes: Sequence[tuple[str, str]] = (("genuine", "Genuine"), ("impostor", "Impostor")),
    about: Callable[[System], str] = attempts_in_words,
    thresholds: Mapping[str, float] | None = None,
    log: bool = False,
) -> Display:
    """Draw the histograms of systems by name; `classes` are classes and their names in words.

    `about` returns the attempts of a system in words.
    """
    systems = labelled(
        [System(as_plot_text(name), x.about) for name, x in by_system.items()],
    )
    kind = kind_of(systems, "score_distributions")
    log = require_flag("log", log)
    if not isinstance(thresholds, Mapping | None):
        words = received(thresholds)
        raise DataError(f"thresholds is {words}; expected a mapping of name to threshold")
    in_panels = len(systems) == _SYSTEMS_WITH_PANELS and not isinstance(ax, Axes)
    is_narrow = Style.look.is_narrow
    width, height = SIZE
    if in_panels and is_narrow:
        height *= _HEIGHT_OF_PANELS
    elif in_panels:
        width *= _WIDTH_OF_PANELS
    style = style or {}
    histograms = dict(zip(systems, by_system.values(), strict=True))
    drawn = {system.name: x for system, x in histograms.items()}
    plot = Display(systems, ax, style, (width, height), drawn=drawn)
    panels = [plot.ax_]
    if in_panels:
        panels.append(plot.divide(2, 1) if is_narrow else plot.divide(1, 2))
    missing: list[str] = []
    for axes, system in zip(panels, systems, strict=False):
        panel_histograms = {system: histograms[system]} if in_panels else histograms
        name = None if in_panels else plot.name  # the title of a panel names its system
        densities, absences, off = _draw_outlines(axes, panel_histograms, classes, name, style)
        missing += absences
        _limit_densities(axes, densities, log)
        for number, (text, threshold) in enumerate((thresholds or {}).items()):
            if np.isfinite(require_number("thresholds", threshold)):
                plot.threshold_line(threshold, text, number, axes)
        if len(missing) == len(classes) * len(systems):
            axes.set(xticks=[], yticks=[])
            plot.empty("; ".join(missing))
            absences = []
        heading = system.name if in_panels and axes is not plot.ax_ else title
        if in_panels and axes is plot.ax_:
            heading = f"{title}: {system.name}"
        caption = [agreed([*panel_histograms], about), *off, *absences]
        plot.finish(heading, caption, _score_label(kind), "Density within each class", axes)
    return plot


def _draw_outlines(
    ax: Axes,
    histograms: Mapping[System, ScoreHistograms],
    classes: Sequence[tuple[str, str]],
    name: str | None,
    style: Mapping[str, Any],
) -> tuple[np.ndarray, list[str], list[str]]:
    """Draw the histograms of systems, filled if there is only one system.

    Names of curves begin with the `name` of the plot; if it is None, they are the names of classes.
    Return all densities, the classes without finite scores with the reasons, and a text on scores
    off the axis.
    """
    ax.set_xmargin(0)  # the axis ends with the scores
    is_several = len(histograms) > 1
    # In a legend of many histograms, each system and each line style is named once.
    is_abridged = is_several and len(classes) * len(histograms) > MOST_NAMED
    missing = []
    unplaced = []
    densities = [np.empty(0)]
    for i, (class_name, word) in enumerate(classes):
        histograms_of_class = {system: x.of_class(class_name) for system, x in histograms.items()}
        for number, (system, histogram) in enumerate(histograms_of_class.items()):
            label = "" if name is None else joined(name, system.name)
            text = f"{label} {word.lower()}" if label else word
            colour = system.colour(number) if is_several else system.colour(i)
            if not histogram.counts.sum():
                reason = f"all {histogram.total:,} are infinite" if histogram.total else "none"
                missing.append(f"{text} scores: {reason}")
                continue
            densities.append(histogram.density)
            bins = histogram.density, histogram.edges
            outline: dict[str, Any] = {
                "linestyle": Style.dash(i),
                "linewidth": OUTLINE,
                "zorder": 3,
            }
            outline |= {"color": colour, **style}
            if not is_several:
                ax.stairs(*bins, fill=True, color=outline["color"], alpha=_OPACITY, zorder=2)
            if is_abridged:
                text = "" if i else label
            ax.stairs(*bins, label=legend_text(text), **outline)
        if off_axis := sum(x.unplaced for x in histograms_of_class.values()):
            unplaced.append(f"{off_axis:,} {word.lower()}")
    for i, (_, word) in enumerate(classes) if is_abridged else ():
        ax.plot([], [], color=Style.text, linestyle=Style.dash(i), label=word.lower())
    off_axis_words = [f"{' and '.join(unplaced)} scores lie off the axis"] if unplaced else []
    return np.concatenate(densities), missing, off_axis_words


def _limit_densities(ax: Axes, densities: np.ndarray, log: bool) -> None:
    top = float(densities.max(initial=0.0)) or 1.0
    if log:
        begin = _BELOW_SMALLEST * min(densities[densities > 0], default=_WITHOUT_DENSITY)
        plot_style.log_axis(ax, "y", begin, _ABOVE_LARGEST_OF_LOG * top)
    else:
        ax.set_ylim(0, _ABOVE_LARGEST * top)


def _score_label(kind: str) -> str:
    noun = "order within the row" if kind == "order" else noun_of(kind)
    closer = "larger" if kind in LARGER_IS_CLOSER else "smaller"
    return f"{plot_style.sentence(noun)} ({closer} is closer)"


# ---------------------------------------------------------------------------- the matrix

_STATES = {
    EXCLUDED: ("not compared", "#d4d4d4"),
    FAILED: ("NaN: comparison failed", "#D55E00"),
    INFINITE: ("infinite", "#000000"),
}

# The most subjects that are named, and separated by lines; the most letters of a name, and of all
# names that are written side by side.
NAMED, LETTERS_OF_NAME, LETTERS_OF_NAMES = 24, 14, 48

# The least ratio of sides of a matrix with square pixels; inches of its figure, and of any other.
LEAST_SQUARE, SQUARE_MATRIX, WIDE_MATRIX = 0.4, (6.6, 6.5), (7.0, 4.6)


@styled
def matrix(
    scores: Scores, ax: Axes | Figure | None = None, *, pixels: int = 600, **style: Any
) -> Display:
    """Draw the matrix of scores, probes and gallery sorted by subject.

    Dark is close, for distances and for similarities. Cells that are not compared (a template with
    itself, masked cells) and failed comparisons (NaN) have colours of their own and enter no mean.

    Parameters
    ----------
    scores : Scores
        Read once, in blocks of rows.
    ax, **style
        As for :func:`bioeval.plot.roc`; properties are of the image, such as ``vmin=0``.
    pixels : int
        The largest number of pixels a side. Each pixel of a larger matrix is the mean of a block.
    """
    from bioeval.tasks.plotted_scores import matrix_image

    picture = matrix_image(scores, pixels)
    rows, columns = len(picture.rows), len(picture.columns)
    is_square = LEAST_SQUARE < rows / columns < 1 / LEAST_SQUARE
    size = SQUARE_MATRIX if is_square else WIDE_MATRIX
    plot = Display(labelled([System("", xr.Dataset())]), ax, style, size, drawn=picture)
    ax = plot.ax_
    ax.grid(False)
    properties: dict[str, Any] = {"extent": (0, columns, rows, 0), "interpolation": "nearest"}
    properties["aspect"] = "equal" if is_square and Style.look.width is None else "auto"
    cmap = "viridis_r" if picture.kind in LARGER_IS_CLOSER else "viridis"
    finite = np.ma.masked_invalid(picture.image)
    image = ax.imshow(finite, **{"cmap": cmap, **properties, **style})
    colours = ListedColormap([colour for _, colour in _STATES.values()])
    ax.imshow(np.ma.masked_equal(picture.state, 0), cmap=colours, vmin=0.5, vmax=3.5, **properties)
    for state, (text, colour) in _STATES.items():
        if (picture.state == state).any():
            ax.plot([], [], "s", color=colour, label=text)
    ax.set(xlim=(0, columns), ylim=(rows, 0))
    if finite.count():
        plot_style.colour_bar(ax, image, _score_label(picture.kind))
    labels = picture.row_labels, picture.column_labels
    starts = [*map(_starts_of_runs, labels)]
    is_named = picture.subjects is not None and max(map(len, starts)) - 1 <= NAMED
    most_letters = LETTERS_OF_NAMES * LOOKS["default"].small / Style.look.small
    for axis, places, names in zip((ax.yaxis, ax.xaxis), starts, labels, strict=True):
        if is_named:  # lines between the subjects
            axis.set_ticks(places[1:-1], minor=True)
            axis.grid(True, which="minor", color="white", linewidth=0.5, alpha=0.7)
            first_labels = names[places[:-1]].tolist()
            labels_shown = [as_plot_text(str(x)[:LETTERS_OF_NAME]) for x in first_labels]
            is_vertical = axis is ax.xaxis and len("  ".join(labels_shown)) > most_letters
            axis.set_ticks((places[1:] + places[:-1]) / 2, labels_shown, rotation=90 * is_vertical)
            axis.set_tick_params(length=0)
        else:
            axis.set_major_locator(MaxNLocator(7, integer=True))
            axis.set_major_formatter("{x:,.0f}")
    title = plot.of_system("scores sorted by subject")
    plot.finish(title, _sizes_in_words(picture), "Gallery template", "Probe template")
    return plot


def _sizes_in_words(picture: MatrixImage) -> list[str]:
    rows, columns = len(picture.rows), len(picture.columns)
    sizes = f"{rows:,} probes against {columns:,} gallery templates"
    if picture.subjects is not None:
        sizes += f" of {counted(picture.subjects, 'subjects')}"
    across, down = columns / (len(picture.column_edges) - 1), rows / (len(picture.row_edges) - 1)
    if max(across, down) <= 1:
        return [sizes]
    return [sizes, f"a pixel: mean of about {down:.3g} × {across:.3g}"]


def _starts_of_runs(labels: np.ndarray) -> np.ndarray:
    """Return the index at which each run of equal labels begins, and the number of labels."""
    return np.flatnonzero(np.r_[True, labels[1:] != labels[:-1], True])
