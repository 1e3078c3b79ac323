"""Plots of scores: their distributions, the matrix, and the worst pairs as pictures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from PIL import Image, ImageOps

from bioeval.base.arguments import (
    require_flag,
    require_integer,
    require_number,
    require_path,
    require_text,
)
from bioeval.base.errors import DataError, counted, received, short_name
from bioeval.plot import plot_axes
from bioeval.plot.display import MOST_NAMED, Display, legend_text
from bioeval.plot.plot_axes import LETTER, LINE, LOOKS, OUTLINE, SHADE, SIZE, Style, room, styled
from bioeval.plot.systems import (
    System,
    as_plot_text,
    joined,
    kind_of,
    labelled,
    pick,
)
from bioeval.results.histogram import ScoreHistograms
from bioeval.showing.images import Images
from bioeval.showing.numbers import in_one_precision
from bioeval.tasks.plotted_scores import (
    EXCLUDED,
    FAILED,
    INFINITE,
    histograms_of,
    matrix_image,
)

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
    return draw_histograms(histograms_of(data), ax, style, thresholds=thresholds, log=log)


#: Classes of attempts, and their names.
CLASSES = (("genuine", "Genuine"), ("impostor", "Impostor"))

_WIDTH_OF_PANELS = 1.6  # of two panels side by side, in widths of one
_HEIGHT_OF_PANELS = 1.7  # of two panels one below the other, in heights of one

# A logarithmic axis of densities begins at this part of the smallest density, or of a stand-in.
_BELOW_SMALLEST, _WITHOUT_DENSITY = 0.6, 1e-3
# Axes of densities, linear or logarithmic, end above the largest density by these factors.
_ABOVE_LARGEST, _ABOVE_LARGEST_OF_LOG = 1.1, 3

#: The histograms of the systems of a panel.
_BySystem = Mapping[System, ScoreHistograms]


def draw_histograms(
    by_system: Mapping[str, ScoreHistograms],
    ax: Axes | Figure | None = None,
    style: dict[str, Any] | None = None,
    *,
    thresholds: Mapping[str, float] | None = None,
    log: bool = False,
) -> Display:
    systems = labelled([System(as_plot_text(name), x.about) for name, x in by_system.items()])
    kind = kind_of(systems, "score_distributions")
    log = require_flag("log", log)
    if not isinstance(thresholds, Mapping | None):
        words = received(thresholds)
        raise DataError(f"thresholds is {words}; expected a mapping of name to threshold")
    style = style or {}
    histograms = dict(zip(systems, by_system.values(), strict=True))
    in_panels = len(systems) == 2 and not isinstance(ax, Axes)  # more systems share one panel
    drawn = {system.name: x for system, x in histograms.items()}
    width, height = SIZE
    if in_panels and Style.look.is_narrow:
        height *= _HEIGHT_OF_PANELS
    elif in_panels:
        width *= _WIDTH_OF_PANELS
    plot = Display(systems, ax, style, (width, height), drawn=drawn)
    panels: dict[Axes, _BySystem] = {plot.ax_: histograms}
    if in_panels:
        second = plot.divide(2, 1) if Style.look.is_narrow else plot.divide(1, 2)
        of_panels = ({system: x} for system, x in histograms.items())
        panels = dict(zip((plot.ax_, second), of_panels, strict=True))
    missing: list[str] = []
    for axes, of_panel in panels.items():
        name = None if in_panels else plot.name  # the title of a panel names its system
        densities, absences, off_axis = _draw_outlines(axes, of_panel, name, style)
        missing += absences
        top = float(densities.max(initial=0.0)) or 1.0
        if log:
            begin = _BELOW_SMALLEST * min(densities[densities > 0], default=_WITHOUT_DENSITY)
            plot_axes.log_axis(axes, "y", begin, _ABOVE_LARGEST_OF_LOG * top)
        else:
            axes.set_ylim(0, _ABOVE_LARGEST * top)
        for number, (text, threshold) in enumerate((thresholds or {}).items()):
            if np.isfinite(require_number("thresholds", threshold)):
                line: dict[str, Any] = {"color": Style.text, "label": legend_text(text)}
                line |= {"linestyle": Style.dash(number + 1), "linewidth": 0.9, "zorder": 4}
                axes.axvline(threshold, **line)
        is_empty = len(missing) == len(CLASSES) * len(systems)
        if is_empty:
            axes.set(xticks=[], yticks=[])
            plot.empty("; ".join(missing))
        caption = [off_axis, *([] if is_empty else absences)]
        heading = "Genuine and impostor scores"
        if in_panels:
            (system,) = of_panel
            heading = f"{heading}: {system.name}" if axes is plot.ax_ else system.name
        labels = _score_label(kind), "Density within each class"
        plot.finish(heading, caption, *labels, axes, [*of_panel])
    return plot


def _draw_outlines(
    ax: Axes,
    histograms: _BySystem,
    name: str | None,
    style: Mapping[str, Any],
) -> tuple[np.ndarray, list[str], str]:
    """Draw the histograms of systems in a panel, filled if there is only one system.

    Names of curves begin with the `name` of the plot; if it is None, they are the names of classes.
    Return the densities of the bins of all histograms, the classes without finite scores with the
    reasons, and the numbers of scores off the axis in words.
    """
    ax.set_xmargin(0)  # the axis ends with the scores
    is_several = len(histograms) > 1
    # In a legend of many histograms, each system and each line style is named once.
    is_abridged = is_several and len(CLASSES) * len(histograms) > MOST_NAMED
    missing = []
    off_axis = []
    densities = [np.empty(0)]
    for class_number, (class_name, word) in enumerate(CLASSES):
        for system_number, (system, by_class) in enumerate(histograms.items()):
            histogram = by_class.of_class(class_name)
            label = "" if name is None else joined(name, system.name)
            text = f"{label} {word.lower()}" if label else word
            colour = system.colour(system_number if is_several else class_number)
            if not histogram.counts.sum():
                reason = f"all {histogram.total:,} are infinite" if histogram.total else "none"
                missing.append(f"{text} scores: {reason}")
                continue
            densities.append(histogram.density)
            outline: dict[str, Any] = {"linestyle": Style.dash(class_number), "color": colour}
            outline |= {"linewidth": OUTLINE, "zorder": 3, **style}
            bins = histogram.density, histogram.edges
            if not is_several:
                ax.stairs(*bins, fill=True, color=outline["color"], alpha=0.18, zorder=2)
            if is_abridged:
                text = "" if class_number else label
            ax.stairs(*bins, label=legend_text(text), **outline)
        if unplaced := sum(x.of_class(class_name).unplaced for x in histograms.values()):
            off_axis.append(f"{unplaced:,} {word.lower()}")
    for class_number, (_, word) in enumerate(CLASSES) if is_abridged else ():
        ax.plot([], [], color=Style.text, linestyle=Style.dash(class_number), label=word.lower())
    words = f"{' and '.join(off_axis)} scores lie off the axis" if off_axis else ""
    return np.concatenate(densities), missing, words


def _score_label(kind: str) -> str:
    noun = "order within the row" if kind == "order" else kind
    closer = "larger" if kind == "similarity" else "smaller"
    return f"{plot_axes.sentence(noun)} ({closer} is closer)"


# ---------------------------------------------------------------------------- the matrix

#: Words and colour of pixels without a mean, by state.
_STATES = {
    EXCLUDED: ("not compared", "#d4d4d4"),
    FAILED: ("NaN: comparison failed", "#D55E00"),
    INFINITE: ("infinite", "#000000"),
}

MOST_NAMED_SUBJECTS = 24  # more subjects are neither named nor separated by lines
LONGEST_NAME = 14  # letters of a name
LETTERS_ACROSS = 48  # of all names written side by side, in the default style

LEAST_SQUARE = 0.4  # least ratio of the sides of a matrix that has square pixels


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
    picture = matrix_image(scores, pixels)
    rows, columns = len(picture.rows), len(picture.columns)
    is_square = LEAST_SQUARE < rows / columns < 1 / LEAST_SQUARE
    size = (6.6, 6.5) if is_square else (7.0, 4.6)
    plot = Display(labelled([System("", xr.Dataset())]), ax, style, size, drawn=picture)
    ax = plot.ax_
    ax.grid(False)
    aspect = "equal" if is_square and Style.look.width is None else "auto"
    extent = 0, columns, rows, 0
    properties: dict[str, Any] = {"extent": extent, "interpolation": "nearest", "aspect": aspect}
    cmap = "viridis_r" if picture.kind == "similarity" else "viridis"
    means = np.ma.masked_invalid(picture.image)
    image = ax.imshow(means, **{"cmap": cmap, **properties, **style})
    colours = ListedColormap([colour for _, colour in _STATES.values()])
    ax.imshow(np.ma.masked_equal(picture.state, 0), cmap=colours, vmin=0.5, vmax=3.5, **properties)
    for state, (text, colour) in _STATES.items():
        if (picture.state == state).any():
            ax.plot([], [], "s", color=colour, label=text)
    if means.count():
        plot_axes.colour_bar(ax, image, _score_label(picture.kind))
    ax.set(xlim=(0, columns), ylim=(rows, 0))
    starts = _starts_of_runs(picture.row_labels), _starts_of_runs(picture.column_labels)
    subjects = max(map(len, starts)) - 1  # on the side with more
    if picture.subjects is not None and subjects <= MOST_NAMED_SUBJECTS:
        _name_subjects(ax.yaxis, starts[0], picture.row_labels)
        _name_subjects(ax.xaxis, starts[1], picture.column_labels)
    else:
        for axis in (ax.yaxis, ax.xaxis):
            axis.set_major_locator(MaxNLocator(7, integer=True))
            axis.set_major_formatter("{x:,.0f}")
    caption = [f"{rows:,} probes against {columns:,} gallery templates"]
    if picture.subjects is not None:
        caption[0] += f" of {counted(picture.subjects, 'subjects')}"
    across, down = columns / (len(picture.column_edges) - 1), rows / (len(picture.row_edges) - 1)
    if max(across, down) > 1:
        caption.append(f"a pixel: mean of about {down:.3g} × {across:.3g}")
    title = plot.of_system("scores sorted by subject")
    plot.finish(title, caption, "Gallery template", "Probe template")
    return plot


def _name_subjects(axis: Axis, starts: np.ndarray, labels: np.ndarray) -> None:
    """Name the subjects along an axis of templates, with lines between the subjects.

    `starts` are :func:`_starts_of_runs` of the `labels` of the templates.
    """
    axis.set_ticks(starts[1:-1], minor=True)
    axis.grid(True, which="minor", color="white", linewidth=0.5, alpha=0.7)
    subjects = labels[starts[:-1]].tolist()
    names = [as_plot_text(str(subject)[:LONGEST_NAME]) for subject in subjects]
    most_letters = LETTERS_ACROSS * LOOKS["default"].small / Style.look.small
    is_vertical = axis is axis.axes.xaxis and len("  ".join(names)) > most_letters
    axis.set_ticks((starts[1:] + starts[:-1]) / 2, names, rotation=90 * is_vertical)
    axis.set_tick_params(length=0)


def _starts_of_runs(labels: np.ndarray) -> np.ndarray:
    """Return the index at which each run of equal labels begins, and the number of labels."""
    return np.flatnonzero(np.r_[True, labels[1:] != labels[:-1], True])


_ROWS = {"impostor": "nearest impostor pairs", "genuine": "farthest genuine pairs"}

#: Why nothing can be shown, with what to do.
NO_IMAGES = (
    "the worst pairs name no images; give the scores a metadata column of image files, and name it "
    'with images="COLUMN" and their folder with image_folder="FOLDER"'
)


WIDTH = 7.2  # of the figure, in inches
LONGEST_TEXT = {False: 50, True: 16}  # letters, by whether the style has a fixed width

PICTURE = 36  # width of a picture, in points for each inch of the figure
FILLED = 0.94  # part of the width of its place that a pair fills

# In lines of words: below a pair, below and above a pair, and the least height of a pair.
LINES_BELOW, LINES_OF_WORDS, LEAST_LINES = 2.3, 3.5, 4.8

HEADING = 6  # height of the words above all pairs, in heights of a letter


@dataclass(frozen=True)
class ShownPair:
    """A pair of templates, by the labels of their subjects."""

    probe: str
    gallery: str
    score: float
    pictures: tuple[Image.Image | None, ...]  # of probe and gallery; None: there is no picture


@styled
def worst_pairs(
    results: Any,
    ax: Axes | Figure | None = None,
    *,
    pairs: int = 5,
    images: str | None = None,
    image_folder: str | os.PathLike[str] | None = ".",
    **style: Any,
) -> Display:
    """Draw the images of the nearest impostor pairs and of the farthest genuine pairs.

    Beside the image of the probe is that of the gallery template. Below them are their subjects and
    the score. A pair that is listed in both directions is drawn once.

    Parameters
    ----------
    results : Dataset, DataTree, or mapping of str to either
        The result of :func:`bioeval.worst_pairs`.
    ax : matplotlib Axes, optional
        Axes to draw on; by default, the axes of a new figure.
    pairs : int
        Pairs of each kind, at most.
    images : str, optional
        Metadata column that names the images. Unless given: the column with names of the faces that
        come with bioeval, or else ``image``, where its files exist.
    image_folder : path or None
        Folder of image files, outside of which none is read. None: no files at all.
    **style
        Properties of the images, such as ``cmap="bone"``; ``name`` names a single system.

    """
    systems = pick(results, "worst_pairs")
    limit = require_integer("pairs", pairs, low=1)
    column = require_text("images", images) if images is not None else ""
    folder = require_path("image_folder", image_folder) if image_folder is not None else None
    files = Images(column, folder)
    by_system = {
        x.name: {row: _worst_pairs_of_row(x, row, limit, files) for row in _ROWS} for x in systems
    }
    lines: list[tuple[str, list[ShownPair]]] = []  # a heading and pairs of one system and kind
    for name, pairs_of_row in by_system.items():
        for row, text in _ROWS.items():
            heading = plot_axes.sentence(text)
            if len(by_system) > 1:
                short = short_name(name, LONGEST_TEXT[Style.look.width is not None])
                heading = f"{short}: {text}"
            lines.append((heading if pairs_of_row[row] else f"{heading}: none", pairs_of_row[row]))
    pictures = [x for _, row in lines for pair in row for x in pair.pictures if x]
    shape = pictures[0].size if pictures else (1, 1)  # in pixels; all pictures have it
    pairs_across = max(1, *(len(row) for _, row in lines))
    width, small = Style.look.width or WIDTH, Style.look.small
    picture_height = PICTURE * width / pairs_across * shape[1] / shape[0]
    points = len(lines) * (picture_height + LINES_OF_WORDS * LINE * small) + HEADING * small
    plot = Display(systems, ax, style, (width, points / 72), drawn=by_system)
    ax = plot.ax_
    ax.axis("off")
    title = plot.of_system("Worst pairs") if len(systems) == 1 else "Worst pairs"
    plot.finish(title, ["left: probe, right: gallery template; below: subjects and score"])
    if not pictures:
        plot.empty(files.remark() or NO_IMAGES)
        return plot
    line_height = LINE * small / room(ax)[1]  # as a part of the axes, as are all sizes below
    if len(lines) * LEAST_LINES * line_height > 1:
        raise DataError(f"{len(lines)} lines of pairs need a higher figure; draw fewer systems")
    words: dict[str, Any] = {"fontsize": small, "color": Style.text}
    letters_of_name = max(3, int(room(ax)[0] / pairs_across / small / LETTER / 2) - 2)
    pair_height = 1 / len(lines)
    size = FILLED / pairs_across, pair_height - LINES_OF_WORDS * line_height
    for k, (heading, row_of_pairs) in enumerate(lines):
        top = 1 - k * pair_height
        bottom = top - pair_height + LINES_BELOW * line_height
        heading = Style.translated(as_plot_text(heading))
        ax.text(0, top, heading, va="top", transform=ax.transAxes, **words)
        scores = in_one_precision([pair.score for pair in row_of_pairs], 4)
        for i, (pair, score) in enumerate(zip(row_of_pairs, scores, strict=True)):
            mode = "RGB" if any(x and x.mode != "L" for x in pair.pictures) else "L"
            both = Image.new(mode, (len(pair.pictures) * shape[0], shape[1]), SHADE)
            for side, picture in enumerate(pair.pictures):
                if picture:
                    padded = ImageOps.pad(picture.convert(mode), shape, color=SHADE)
                    both.paste(padded, (side * shape[0], 0))
            position = i / pairs_across, bottom, *size
            panel = ax.inset_axes(position, xticks=[], yticks=[], anchor="NW")
            panel.imshow(np.asarray(both), **{"cmap": "gray", "vmin": 0, "vmax": 255, **style})
            panel.spines[:].set(color=Style.quiet, linewidth=0.6)
            names = [as_plot_text(x[:letters_of_name]) for x in (pair.probe, pair.gallery)]
            below = Style.translated(f"{', '.join(names)}\n{score}")
            panel.set_xlabel(below, labelpad=2, **words)
    return plot


def _worst_pairs_of_row(system: System, row: str, limit: int, images: Images) -> list[ShownPair]:
    """Return the first pairs of a row of `_ROWS`, each once if it is listed in both directions."""
    dataset = system.dataset
    pairs = dataset.isel(pair=dataset["comparison"].values == row)
    names: list[Any] = [None] * pairs.sizes["pair"]  # of the images of probe and gallery
    if columns := images.columns_of_pairs(dataset):
        names = list(zip(*(map(str, pairs[x].values.tolist()) for x in columns), strict=True))
    labels = zip(*(pairs[f"{x}_label"].values.tolist() for x in ("probe", "gallery")), strict=True)
    scores = pairs["score"].values.tolist()
    shown: dict[Any, ShownPair] = {}
    for i, ((probe, gallery), score) in enumerate(zip(labels, scores, strict=True)):
        key = frozenset(names[i]) if names[i] else i
        if len(shown) < limit and key not in shown:
            pictures = (*map(images.find, names[i]),) if names[i] else (None, None)
            shown[key] = ShownPair(str(probe), str(gallery), score, pictures)
    return list(shown.values())
