"""Plots of scores: their distributions, the matrix, and the worst pairs as pictures.

Each of the three public plots is followed by what it uses: :func:`score_distributions`, which draws
an outline for each system and class of attempts, :func:`matrix`, and :func:`worst_pairs`.
"""

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
    MatrixImage,
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
    """Draw the histograms of systems, by name, as :func:`score_distributions` those of scores.

    `style` are properties of the outlines; ``name``, ``title`` and ``figsize`` are taken out of it.
    """
    systems = labelled([System(as_plot_text(name), x.about) for name, x in by_system.items()])
    kind = kind_of(systems, "score_distributions")
    log = require_flag("log", log)
    if not isinstance(thresholds, Mapping | None):
        words = received(thresholds)
        raise DataError(f"thresholds is {words}; expected a mapping of name to threshold")
    style = style or {}

    # The panels with their systems: two systems have a panel each; other numbers of systems, and
    # systems on given axes, share one.
    has_two_panels = len(systems) == 2 and not isinstance(ax, Axes)
    is_stacked = has_two_panels and Style.look.is_narrow
    width, height = SIZE
    if is_stacked:
        height *= _HEIGHT_OF_PANELS
    elif has_two_panels:
        width *= _WIDTH_OF_PANELS
    histograms = dict(zip(systems, by_system.values(), strict=True))
    drawn = {system.name: of_system for system, of_system in histograms.items()}
    plot = Display(systems, ax, style, (width, height), drawn=drawn)
    panels = [(plot.ax_, systems)]
    if has_two_panels:
        second_axes = plot.divide(2, 1) if is_stacked else plot.divide(1, 2)
        panels = [(plot.ax_, systems[:1]), (second_axes, systems[1:])]

    missing: list[str] = []  # of the panels so far
    for axes, systems_of_panel in panels:
        of_panel = {system: histograms[system] for system in systems_of_panel}
        # The title of a panel of its own names the system: its outlines are named by class alone.
        names = {
            system: "" if has_two_panels else joined(plot.name, system.name) for system in of_panel
        }
        _draw_outlines(axes, of_panel, names, style)
        _limit_densities(axes, of_panel, log)
        _mark_thresholds(axes, thresholds or {})
        absences = _absences(of_panel, names)
        # Where nothing at all is drawn, the reasons are in the middle of the axes instead.
        missing += absences
        is_empty = len(missing) == len(CLASSES) * len(systems)
        if is_empty:
            axes.set(xticks=[], yticks=[])
            plot.empty("; ".join(missing))
            absences = []
        heading = "Genuine and impostor scores"
        if has_two_panels:
            name = systems_of_panel[0].name
            heading = f"{heading}: {name}" if axes is plot.ax_ else name
        caption = [_off_axis_in_words(of_panel), *absences]
        x_label, y_label = _score_label(kind), "Density within each class"
        plot.finish(heading, caption, x_label, y_label, axes, systems_of_panel)
    return plot


def _draw_outlines(
    ax: Axes, histograms: _BySystem, names: Mapping[System, str], style: Mapping[str, Any]
) -> None:
    """Draw the histograms of systems in a panel, filled if there is only one system.

    `names` are what a legend calls the systems; empty for the classes alone.
    """
    ax.set_xmargin(0)  # the axis ends with the scores
    is_several = len(histograms) > 1
    # In a legend of many histograms, each system and each line style is named once.
    is_abridged = is_several and len(CLASSES) * len(histograms) > MOST_NAMED
    for class_number, (class_name, word) in enumerate(CLASSES):
        for system_number, (system, by_class) in enumerate(histograms.items()):
            histogram = by_class.of_class(class_name)
            # A colour is taken also by a class without scores, so that the others keep theirs.
            colour = system.colour(system_number if is_several else class_number)
            if not histogram.counts.sum():
                continue
            label = _name_of_outline(names[system], word)
            if is_abridged:
                label = names[system] if class_number == 0 else ""
            outline: dict[str, Any] = {
                "linestyle": Style.dash(class_number),
                "color": colour,
                "linewidth": OUTLINE,
                "zorder": 3,
                **style,
            }
            bins = histogram.density, histogram.edges
            if not is_several:
                ax.stairs(*bins, fill=True, color=outline["color"], alpha=0.18, zorder=2)
            ax.stairs(*bins, label=legend_text(label), **outline)
    if is_abridged:
        for class_number, (_, word) in enumerate(CLASSES):
            dash = Style.dash(class_number)
            ax.plot([], [], color=Style.text, linestyle=dash, label=word.lower())


def _name_of_outline(name_of_system: str, word: str) -> str:
    return f"{name_of_system} {word.lower()}" if name_of_system else word


def _limit_densities(ax: Axes, histograms: _BySystem, log: bool) -> None:
    """Set the limits of the axis of densities; it is from 0 to 1 if there are none."""
    densities = np.empty(0)
    for by_class in histograms.values():
        for class_name, _ in CLASSES:
            histogram = by_class.of_class(class_name)
            if histogram.counts.sum():
                densities = np.append(densities, histogram.density)
    largest = float(densities.max(initial=0.0)) or 1.0
    if log:
        smallest = min(densities[densities > 0], default=_WITHOUT_DENSITY)
        plot_axes.log_axis(ax, "y", _BELOW_SMALLEST * smallest, _ABOVE_LARGEST_OF_LOG * largest)
    else:
        ax.set_ylim(0, _ABOVE_LARGEST * largest)


def _mark_thresholds(ax: Axes, thresholds: Mapping[str, float]) -> None:
    """Draw a line at each finite threshold, with its name in the legend."""
    for number, (text, threshold) in enumerate(thresholds.items()):
        if np.isfinite(require_number("thresholds", threshold)):
            ax.axvline(
                threshold,
                color=Style.text,
                label=legend_text(text),
                linestyle=Style.dash(number + 1),  # the first style is that of genuine scores
                linewidth=0.9,
                zorder=4,
            )


def _absences(histograms: _BySystem, names: Mapping[System, str]) -> list[str]:
    """Return which outlines are missing, with the reasons."""
    absences = []
    for class_name, word in CLASSES:
        for system, by_class in histograms.items():
            histogram = by_class.of_class(class_name)
            if not histogram.counts.sum():
                reason = f"all {histogram.total:,} are infinite" if histogram.total else "none"
                absences.append(f"{_name_of_outline(names[system], word)} scores: {reason}")
    return absences


def _off_axis_in_words(histograms: _BySystem) -> str:
    parts = []
    for class_name, word in CLASSES:
        unplaced = sum(x.of_class(class_name).unplaced for x in histograms.values())
        if unplaced:
            parts.append(f"{unplaced:,} {word.lower()}")
    return f"{' and '.join(parts)} scores lie off the axis" if parts else ""


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
    # A figure of a fixed width is too flat for square cells.
    has_square_cells = is_square and Style.look.width is None
    _draw_cells(ax, picture, has_square_cells, style)
    ax.set(xlim=(0, columns), ylim=(rows, 0))  # the first probe is at the top

    row_starts = _starts_of_runs(picture.row_labels)
    column_starts = _starts_of_runs(picture.column_labels)
    subjects_on_a_side = max(len(row_starts), len(column_starts)) - 1
    if picture.subjects is not None and subjects_on_a_side <= MOST_NAMED_SUBJECTS:
        _name_subjects(ax.yaxis, row_starts, picture.row_labels)
        _name_subjects(ax.xaxis, column_starts, picture.column_labels)
    else:
        for axis in (ax.yaxis, ax.xaxis):
            axis.set_major_locator(MaxNLocator(7, integer=True))
            axis.set_major_formatter("{x:,.0f}")

    size_in_words = f"{rows:,} probes against {columns:,} gallery templates"
    if picture.subjects is not None:
        size_in_words += f" of {counted(picture.subjects, 'subjects')}"
    caption = [size_in_words]
    # The edges are of the blocks, one more than there are blocks.
    across = columns / (len(picture.column_edges) - 1)
    down = rows / (len(picture.row_edges) - 1)
    if max(across, down) > 1:
        caption.append(f"a pixel: mean of about {down:.3g} × {across:.3g}")
    title = plot.of_system("scores sorted by subject")
    plot.finish(title, caption, "Gallery template", "Probe template")
    return plot


def _draw_cells(
    ax: Axes, picture: MatrixImage, has_square_cells: bool, style: Mapping[str, Any]
) -> None:
    """Draw the means of the pixels with their bar of colours, and above them those without one."""
    ax.grid(False)
    place: dict[str, Any] = {
        "extent": (0, len(picture.columns), len(picture.rows), 0),
        "interpolation": "nearest",
        "aspect": "equal" if has_square_cells else "auto",
    }
    means = np.ma.masked_invalid(picture.image)
    cmap = "viridis_r" if picture.kind == "similarity" else "viridis"  # dark is close
    image = ax.imshow(means, **{"cmap": cmap, **place, **style})
    # The states are numbers from 1 on, each in the middle of its colour.
    colours = ListedColormap([colour for _, colour in _STATES.values()])
    has_state = np.ma.masked_equal(picture.state, 0)
    ax.imshow(has_state, cmap=colours, vmin=0.5, vmax=len(_STATES) + 0.5, **place)
    for state, (text, colour) in _STATES.items():
        if (picture.state == state).any():
            ax.plot([], [], "s", color=colour, label=text)
    if means.count():
        plot_axes.colour_bar(ax, image, _score_label(picture.kind))


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
    middles = (starts[1:] + starts[:-1]) / 2
    axis.set_ticks(middles, names, rotation=90 if is_vertical else 0)
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
        system.name: {kind: _first_pairs(system, kind, limit, files) for kind in _ROWS}
        for system in systems
    }
    rows = _rows_of_pairs(by_system)
    pairs_across = max(1, *(len(row) for _, row in rows))
    shape = _shape_of_pictures(rows)

    # The height that pictures and words need at this width, in points.
    width, small = Style.look.width or WIDTH, Style.look.small
    picture_width, picture_height = shape or (1, 1)
    height_of_pair = PICTURE * width / pairs_across * picture_height / picture_width
    height = len(rows) * (height_of_pair + LINES_OF_WORDS * LINE * small) + HEADING * small
    plot = Display(systems, ax, style, (width, height / 72), drawn=by_system)
    ax = plot.ax_
    ax.axis("off")
    title = plot.of_system("Worst pairs") if len(systems) == 1 else "Worst pairs"
    plot.finish(title, ["left: probe, right: gallery template; below: subjects and score"])
    if shape is None:
        plot.empty(files.remark() or NO_IMAGES)
        return plot

    # From here on, sizes are parts of the axes, whose room is known now.
    room_across, room_down = room(ax)
    line_height = LINE * small / room_down
    if len(rows) * LEAST_LINES * line_height > 1:
        raise DataError(f"{len(rows)} lines of pairs need a higher figure; draw fewer systems")
    # Two names and a comma share the width of a pair.
    letters_of_name = max(3, int(room_across / pairs_across / small / LETTER / 2) - 2)
    row_height = 1 / len(rows)
    pair_size = FILLED / pairs_across, row_height - LINES_OF_WORDS * line_height
    words: dict[str, Any] = {"fontsize": small, "color": Style.text}
    for number, (heading, row) in enumerate(rows):
        top = 1 - number * row_height
        bottom = top - row_height + LINES_BELOW * line_height  # of the pictures
        heading_in_words = Style.translated(as_plot_text(heading))
        ax.text(0, top, heading_in_words, va="top", transform=ax.transAxes, **words)
        scores = in_one_precision([pair.score for pair in row], 4)
        for i, (pair, score) in enumerate(zip(row, scores, strict=True)):
            place = (i / pairs_across, bottom, *pair_size)
            panel = ax.inset_axes(place, xticks=[], yticks=[], anchor="NW")
            grey = {"cmap": "gray", "vmin": 0, "vmax": 255}
            panel.imshow(_side_by_side(pair, shape), **{**grey, **style})
            panel.spines[:].set(color=Style.quiet, linewidth=0.6)
            probe = as_plot_text(pair.probe[:letters_of_name])
            gallery = as_plot_text(pair.gallery[:letters_of_name])
            below = Style.translated(f"{probe}, {gallery}\n{score}")
            panel.set_xlabel(below, labelpad=2, **words)
    return plot


#: The rows of the figure, from the top: a heading, and pairs of one system and kind.
_Rows = list[tuple[str, list[ShownPair]]]


def _rows_of_pairs(by_system: Mapping[str, Mapping[str, list[ShownPair]]]) -> _Rows:
    """Return the pairs of all systems and kinds; rows without a pair keep their heading."""
    rows: _Rows = []
    for name, pairs_of_kind in by_system.items():
        for kind, text in _ROWS.items():
            heading = plot_axes.sentence(text)
            if len(by_system) > 1:
                short = short_name(name, LONGEST_TEXT[Style.look.width is not None])
                heading = f"{short}: {text}"
            if not pairs_of_kind[kind]:
                heading = f"{heading}: none"
            rows.append((heading, pairs_of_kind[kind]))
    return rows


def _shape_of_pictures(rows: _Rows) -> tuple[int, int] | None:
    """Return width and height in pixels of the first picture, which all get; None without any."""
    for _, row in rows:
        for pair in row:
            for picture in pair.pictures:
                if picture:
                    return picture.size
    return None


def _side_by_side(pair: ShownPair, shape: tuple[int, int]) -> np.ndarray:
    """Return the pictures of probe and gallery, each padded to `shape`; a missing one is grey."""
    width, height = shape
    has_colour = any(picture and picture.mode != "L" for picture in pair.pictures)
    mode = "RGB" if has_colour else "L"
    both = Image.new(mode, (len(pair.pictures) * width, height), SHADE)
    for side, picture in enumerate(pair.pictures):
        if picture:
            padded = ImageOps.pad(picture.convert(mode), shape, color=SHADE)
            both.paste(padded, (side * width, 0))
    return np.asarray(both)


def _first_pairs(system: System, kind: str, limit: int, images: Images) -> list[ShownPair]:
    """Return the first pairs of a kind in `_ROWS`, each once if it is listed in both directions.

    Both directions have the same two images; pairs without names of images are all kept.
    """
    dataset = system.dataset
    pairs = dataset.isel(pair=dataset["comparison"].values == kind)
    probes = pairs["probe_label"].values.tolist()
    galleries = pairs["gallery_label"].values.tolist()
    scores = pairs["score"].values.tolist()
    columns = [pairs[name].values.tolist() for name in images.columns_of_pairs(dataset)]
    shown: dict[Any, ShownPair] = {}
    for i, score in enumerate(scores):
        names = [str(column[i]) for column in columns]  # of the images of probe and gallery
        key = frozenset(names) if names else i
        if len(shown) == limit or key in shown:
            continue
        probe_picture, gallery_picture = map(images.find, names) if names else (None, None)
        pictures = probe_picture, gallery_picture
        shown[key] = ShownPair(str(probes[i]), str(galleries[i]), score, pictures)
    return list(shown.values())
