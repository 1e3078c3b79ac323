"""The worst pairs as pictures: impostors that look alike, and genuine pairs that do not."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image, ImageOps

from bioeval.base.arguments import require_integer, require_path, require_text
from bioeval.base.errors import DataError, short_name
from bioeval.plot import plot_style
from bioeval.plot.display import Display
from bioeval.plot.plot_style import LETTER, LINE, SHADE, Style, room, styled
from bioeval.plot.systems import System, as_plot_text, pick
from bioeval.showing.images import Images
from bioeval.showing.writers.numbers import in_one_precision

_ROWS = {"impostor": "nearest impostor pairs", "genuine": "farthest genuine pairs"}

#: Why nothing can be shown, with what to do.
NO_IMAGES = (
    "the worst pairs name no images; give the scores a metadata column of image files, and name it "
    'with images="COLUMN" and their folder with image_folder="FOLDER"'
)


# The width of a picture in points, for each inch of the figure; and the part of its panel that it
# fills.
PICTURE, BESIDE = 36, 0.94

# In lines: the words below a pair, the words around it, and the least height of a pair.
LINES_BELOW, LINES_OF_WORDS, LEAST_LINES = 2.3, 3.5, 4.8

# Inches of the width; and the most letters of a name, by whether the style has a fixed width.
WIDTH, LONGEST_NAME = 7.2, {False: 50, True: 16}

# The height of the words above all pairs, in heights of a letter.
HEADING = 6


@dataclass(frozen=True)
class ShownPair:
    """A pair of templates."""

    probe: str  # the label
    gallery: str  # the label
    score: float
    pictures: tuple[Image.Image | None, Image.Image | None]  # None: there is no picture


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
    small = Style.look.small
    pictures = [x for _, of_row in lines for pair in of_row for x in pair.pictures if x]
    pairs_across = max(1, *(len(of_row) for _, of_row in lines))
    shape = pictures[0].size if pictures else (1, 1)
    width = Style.look.width or WIDTH
    picture_height = PICTURE * width / pairs_across * shape[1] / shape[0]
    height = len(lines) * (picture_height + LINES_OF_WORDS * LINE * small) + HEADING * small
    plot = Display(systems, ax, style, (width, height / 72), drawn=by_system)
    ax = plot.ax_
    ax.axis("off")
    title = plot.of_system("Worst pairs") if len(systems) == 1 else "Worst pairs"
    plot.finish(title, ["left: probe, right: gallery template; below: subjects and score"])
    if not pictures:
        plot.empty(files.remark() or NO_IMAGES)
        return plot
    pair_height = 1 / len(lines)
    line_height = LINE * small / room(ax)[1]  # height of a line of words
    if pair_height < LEAST_LINES * line_height:
        raise DataError(f"{len(lines)} lines of pairs need a higher figure; draw fewer systems")
    letters = max(3, int(room(ax)[0] / pairs_across / small / LETTER / 2) - 2)
    for k, (heading, of_row) in enumerate(lines):
        top = 1 - k * pair_height
        words: dict[str, Any] = {"fontsize": small, "color": Style.text}
        ax.text(0, top, as_plot_text(heading), va="top", transform=ax.transAxes, **words)
        scores = in_one_precision([pair.score for pair in of_row], 4)
        for i, (pair, score) in enumerate(zip(of_row, scores, strict=True)):
            left, bottom = i / pairs_across, top - pair_height + LINES_BELOW * line_height
            position = (
                left,
                bottom,
                BESIDE / pairs_across,
                pair_height - LINES_OF_WORDS * line_height,
            )
            panel = ax.inset_axes(position, xticks=[], yticks=[], anchor="NW")
            properties: dict[str, Any] = {"cmap": "gray", "vmin": 0, "vmax": 255, **style}
            panel.imshow(_side_by_side(pair.pictures, shape), **properties)
            panel.spines[:].set(color=Style.quiet, linewidth=0.6)
            names = [as_plot_text(x[:letters]) for x in (pair.probe, pair.gallery)]
            panel.set_xlabel(f"{', '.join(names)}\n{score}", labelpad=2, **words)
    return plot


def _lines_with_headings(
    by_system: Mapping[str, Mapping[str, list[ShownPair]]],
) -> list[tuple[str, list[ShownPair]]]:
    lines = []
    for name, rows in by_system.items():
        for row, text in _ROWS.items():
            heading = plot_style.sentence(text)
            if len(by_system) > 1:
                heading = f"{short_name(name, LONGEST_NAME[Style.look.width is not None])}: {text}"
            lines.append((heading if rows[row] else f"{heading}: none", rows[row]))
    return lines


def _side_by_side(pictures: tuple[Image.Image | None, ...], shape: tuple[int, int]) -> np.ndarray:
    mode = "RGB" if any(x and x.mode != "L" for x in pictures) else "L"
    joined = Image.new(mode, (len(pictures) * shape[0], shape[1]), SHADE)
    for k, picture in enumerate(pictures):
        if picture:
            joined.paste(ImageOps.pad(picture.convert(mode), shape, color=SHADE), (k * shape[0], 0))
    return np.asarray(joined)


def _worst_pairs_of_row(system: System, row: str, limit: int, images: Images) -> list[ShownPair]:
    dataset = system.dataset
    pairs = dataset.isel(pair=dataset["comparison"].values == row)
    names: Any = ()
    if columns := images.columns_of_pairs(dataset):
        names = list(zip(*(map(str, pairs[x].values.tolist()) for x in columns), strict=True))
    first_seen: dict[Any, ShownPair] = {}
    for i in range(pairs.sizes["pair"]):
        key = frozenset(names[i]) if names else i
        if len(first_seen) < limit and key not in first_seen:
            probe, gallery = (str(pairs[f"{x}_label"][i].item()) for x in ("probe", "gallery"))
            pictures = (
                (images.find(names[i][0]), images.find(names[i][1])) if names else (None,) * 2
            )
            first_seen[key] = ShownPair(probe, gallery, float(pairs["score"][i]), pictures)
    return list(first_seen.values())
