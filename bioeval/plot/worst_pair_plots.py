"""The worst pairs as pictures: impostors that look alike, and genuine pairs that do not."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image, ImageOps

from bioeval.base.arguments import require_integer, require_path, require_text
from bioeval.base.errors import DataError, short_name
from bioeval.plot import plot_axes
from bioeval.plot.display import Display
from bioeval.plot.plot_axes import LETTER, LINE, room
from bioeval.plot.plot_style import SHADE, Style, styled
from bioeval.plot.systems import System, as_plot_text, pick
from bioeval.showing.images import Images
from bioeval.showing.writers.numbers import in_one_precision

_ROWS = {"impostor": "nearest impostor pairs", "genuine": "farthest genuine pairs"}

#: Why nothing can be shown, with what to do.
NO_IMAGES = (
    "the worst pairs name no images; give the scores a metadata column of image files, and name it "
    'with images="COLUMN" and their folder with image_folder="FOLDER"'
)


WIDTH = 7.2  # of the figure, in inches
LONGEST_NAME = {False: 50, True: 16}  # letters, by whether the style has a fixed width

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
    lines = _lines_with_headings(by_system)
    plot = Display(systems, ax, style, _size_in_inches(lines), drawn=by_system)
    ax = plot.ax_
    ax.axis("off")
    title = plot.of_system("Worst pairs") if len(systems) == 1 else "Worst pairs"
    plot.finish(title, ["left: probe, right: gallery template; below: subjects and score"])
    if not any(line.pictures for line in lines):
        plot.empty(files.remark() or NO_IMAGES)
        return plot
    if len(lines) * LEAST_LINES * _line_height(ax) > 1:
        raise DataError(f"{len(lines)} lines of pairs need a higher figure; draw fewer systems")
    _draw_lines(ax, lines, style)
    return plot


class _Line(NamedTuple):
    """A row of pairs of one system and one kind."""

    heading: str
    pairs: list[ShownPair]

    @property
    def pictures(self) -> list[Image.Image]:
        return [x for pair in self.pairs for x in pair.pictures if x]


def _lines_with_headings(by_system: Mapping[str, Mapping[str, list[ShownPair]]]) -> list[_Line]:
    lines = []
    for name, pairs_of_row in by_system.items():
        for row, text in _ROWS.items():
            heading = plot_axes.sentence(text)
            if len(by_system) > 1:
                heading = f"{short_name(name, LONGEST_NAME[Style.look.width is not None])}: {text}"
            pairs = pairs_of_row[row]
            lines.append(_Line(heading if pairs else f"{heading}: none", pairs))
    return lines


def _pairs_across(lines: list[_Line]) -> int:
    return max(1, *(len(line.pairs) for line in lines))


def _shape(lines: list[_Line]) -> tuple[int, int]:
    """Return the width and the height in pixels of all pictures, which the first picture has."""
    return next((x.size for line in lines for x in line.pictures), (1, 1))


def _size_in_inches(lines: list[_Line]) -> tuple[float, float]:
    width, small = Style.look.width or WIDTH, Style.look.small
    pixels_across, pixels_down = _shape(lines)
    picture_height = PICTURE * width / _pairs_across(lines) * pixels_down / pixels_across
    points = len(lines) * (picture_height + LINES_OF_WORDS * LINE * small) + HEADING * small
    return width, points / 72


def _line_height(ax: Axes) -> float:
    return LINE * Style.look.small / room(ax)[1]


def _draw_lines(ax: Axes, lines: list[_Line], style: Mapping[str, Any]) -> None:
    small, shape, pairs_across = Style.look.small, _shape(lines), _pairs_across(lines)
    words: dict[str, Any] = {"fontsize": small, "color": Style.text}
    images: dict[str, Any] = {"cmap": "gray", "vmin": 0, "vmax": 255, **style}
    letters_of_name = max(3, int(room(ax)[0] / pairs_across / small / LETTER / 2) - 2)
    # Parts of the axes.
    pair_height, line_height = 1 / len(lines), _line_height(ax)
    size = FILLED / pairs_across, pair_height - LINES_OF_WORDS * line_height
    for k, line in enumerate(lines):
        top = 1 - k * pair_height
        bottom = top - pair_height + LINES_BELOW * line_height
        heading = Style.translated(as_plot_text(line.heading))
        ax.text(0, top, heading, va="top", transform=ax.transAxes, **words)
        scores = in_one_precision([pair.score for pair in line.pairs], 4)
        for i, (pair, score) in enumerate(zip(line.pairs, scores, strict=True)):
            position = i / pairs_across, bottom, *size
            panel = ax.inset_axes(position, xticks=[], yticks=[], anchor="NW")
            panel.imshow(_side_by_side(pair.pictures, shape), **images)
            panel.spines[:].set(color=Style.quiet, linewidth=0.6)
            names = [as_plot_text(x[:letters_of_name]) for x in (pair.probe, pair.gallery)]
            below = Style.translated(f"{', '.join(names)}\n{score}")
            panel.set_xlabel(below, labelpad=2, **words)


def _side_by_side(pictures: tuple[Image.Image | None, ...], shape: tuple[int, int]) -> np.ndarray:
    mode = "RGB" if any(x and x.mode != "L" for x in pictures) else "L"
    joined = Image.new(mode, (len(pictures) * shape[0], shape[1]), SHADE)
    for k, picture in enumerate(pictures):
        if picture:
            joined.paste(ImageOps.pad(picture.convert(mode), shape, color=SHADE), (k * shape[0], 0))
    return np.asarray(joined)


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
