"""The worst pairs as pictures: impostors that look alike, and genuine pairs that do not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image

from bioeval.base.arguments import require_integer, require_path, require_text
from bioeval.base.errors import DataError, ProtocolError
from bioeval.base.kinds import larger_is_closer, noun_of
from bioeval.plot.display import Display
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import System, as_plot_text
from bioeval.results.words import in_one_precision
from bioeval.views.images import Images

# Pairs side by side; more are drawn below. A page is this wide, in inches.
_ACROSS, _WIDE = 5, 7.2

# The gap between two pairs, by the width of a picture, and the largest width in points.
_GAP, _LARGEST = 0.3, 80.0

# Points between two rows, and around the head of a figure.
_BETWEEN, _AROUND = 7.0, 52.0

_LETTER = 0.56  # width of a letter, by its height

_ROWS = {
    "impostor": "Impostor pairs with the nearest scores",
    "genuine": "Genuine pairs with the farthest scores",
}


#: Why nothing can be shown, with what to do.
NO_IMAGES = (
    "the worst pairs name no images; give the scores a metadata column of image files, and name it "
    'with images="COLUMN" and their folder with image_folder="FOLDER"'
)


@dataclass(frozen=True)
class ShownPair:
    """A pair: labels, score, pictures (None: there is none to show), and doubt of its labels."""

    probe: str
    gallery: str
    score: float
    pictures: tuple[Image.Image | None, Image.Image | None]
    doubtful: bool


class WorstPairsDisplay(Display):
    """The nearest impostor pairs and the farthest genuine pairs, with their images.

    Attributes
    ----------
    pairs : dict of str to dict of str to list of ShownPair
        By the name of the system and ``"impostor"`` or ``"genuine"``, the worst pair first; each
        with ``probe``, ``gallery`` (labels), ``score`` and ``pictures``.
    """

    def __init__(self, systems: list[System], pairs: int, images: Images):
        self.systems = systems
        most = require_integer("pairs", pairs, low=1)
        self.pairs: dict[str, dict[str, list[ShownPair]]] = {}
        for system in systems:
            rows = {row: _shown(system, row, most, images) for row in _ROWS}
            self.pairs[system.name] = rows
        if not any(any(pair.pictures) for pair in self._every()):
            self._why = images.remark() or NO_IMAGES

    @classmethod
    def from_results(
        cls,
        data: Any,
        pairs: int = 5,
        images: str | None = None,
        image_folder: str | os.PathLike[str] | None = ".",
    ) -> Self:
        """Take the pairs of a result, a tree, or a mapping of name to either."""
        column = require_text("images", images) if images is not None else ""
        folder = None
        if image_folder is not None:
            folder = require_path("image_folder", image_folder)
        source = Images(column, folder)
        return cls(System.pick(data, "worst_pairs"), pairs, source)

    def _every(self) -> Iterator[ShownPair]:
        for rows in self.pairs.values():
            yield from chain.from_iterable(rows.values())

    def plot(
        self, ax: Axes | Figure | None = None, *, name: str | None = None, **style: Any
    ) -> Self:
        """Draw the pairs. See :func:`bioeval.plot.worst_pairs`."""
        if name is not None:
            require_text("name", name)
        new_figure = not isinstance(ax, Axes)
        # The height of most pictures, by their width.
        ratios = [x.height / x.width for pair in self._every() for x in pair.pictures if x]
        aspect = float(np.clip(np.median(ratios), 0.4, 2.0)) if ratios else 1.0
        longest = 1
        for rows in self.pairs.values():
            longest = max(longest, *map(len, rows.values()))
        across = min(longest, _ACROSS)
        # Both rows of each of several systems stand beside each other in a flat figure.
        columns = 2 if Style.look.is_flat and len(self.pairs) > 1 else 1
        words, lines = self._lines(across, columns)

        def side_in(wide: float, height: float) -> float:
            widest = (wide / columns - 12) / ((2 + _GAP) * across - _GAP)
            return max(min(widest, _LARGEST, (height - words) / (lines * aspect)), 12.0)

        page = Style.look.width or _WIDE
        wide = 72 * page
        height = words + lines * side_in(wide, np.inf) * aspect + _AROUND
        if new_figure and Style.look.is_narrow:
            style.setdefault("figsize", (page, height / 72))
        ax = self._axes(ax, (page, height / 72), style)
        wide, height = self._axes_size()
        if new_figure:
            wide, height = 72 * self.figure_.get_size_inches()
            wide, height = wide - 12, height - _AROUND
        side = side_in(wide + 12 * columns, height)
        high = words + lines * side * aspect
        ax.set(xlim=(0, wide), ylim=(high, 0), anchor="NW")
        ax.set_aspect("equal")
        ax.axis("off")
        y = 0.0
        for system in self.systems:
            if len(self.pairs) > 1:
                y = self._head(y, system.name, fontsize=Style.look.label, fontweight="bold")
            top, lowest = y, y
            for k, (row, title) in enumerate(_ROWS.items()):
                left = (k % columns) * wide / columns
                text = title if columns > 1 else f"{title} ({_extreme(system, row)})"
                y = self._head(top if columns > 1 else lowest, text, left)
                y = self._row(y, self.pairs[system.name][row], side, aspect, style, left, across)
                lowest = max(lowest, y)
            y = lowest
        self._title(name)
        return self

    def _lines(self, across: int, columns: int) -> tuple[float, int]:
        """Return the points that words and gaps take, and the number of lines of pictures."""
        lines, words = 0, 0.0
        for rows in self.pairs.values():
            if len(self.pairs) > 1:
                words += _head_height()
            numbers = [max(-(-len(row) // across), 1) for row in rows.values()]
            if columns > 1:
                numbers = [max(numbers)]
            for number in numbers:
                words += _head_height() + number * (2 * _line_height() + _BETWEEN)
                lines += number
        return words, lines

    def _title(self, name: str | None) -> None:
        """Write the title with the name of a single system."""
        if len(self.systems) == 1:
            attrs = self.systems[0].dataset.attrs
            name = name or self.systems[0].name or as_plot_text(attrs.get("system", ""))
        details = ["left: probe, right: gallery template; below: their subjects, and the score"]
        if any(pair.doubtful for pair in self._every()):
            details.append("labels?: two subjects nearer to each other than to themselves")
        self._titled("Worst pairs", name, details)

    def _head(self, y: float, text: str, left: float = 0.0, **style: Any) -> float:
        """Write a heading at a height; return the height below it."""
        below = y + _head_height()
        properties = {"fontsize": Style.look.tick, "color": Style.text, **style}
        self.ax_.text(left, below - 5, as_plot_text(text), va="baseline", ha="left", **properties)
        return below

    def _row(
        self,
        y: float,
        pairs: list[ShownPair],
        side: float,
        aspect: float,
        style: dict[str, Any],
        left: float,
        across: int,
    ) -> float:
        """Draw pairs side by side, `across` of them in a line; return the height below them."""
        high, line = side * aspect, _line_height()
        below = high + 2 * line + _BETWEEN
        if not pairs:
            self._word(left, y + high / 2, "none", ha="left")
        scores = in_one_precision([pair.score for pair in pairs], 4)
        for i, pair in enumerate(pairs):
            x, top = left + (i % across) * (2 + _GAP) * side, y + (i // across) * below
            longest = max(int(0.96 * side / (_LETTER * Style.look.small)), 3)
            for k, label in enumerate((pair.probe, pair.gallery)):
                self._picture(x + k * side, top, (side, high), pair.pictures[k], style)
                self._word(x + (k + 0.5) * side, top + high + 0.55 * line, _cut(label, longest))
            frame = Rectangle(
                (x, top), 2 * side, high, fill=False, edgecolor=Style.quiet, linewidth=0.6
            )
            frame.set(clip_on=False, zorder=3)
            self.ax_.add_patch(frame)
            words = f"{scores[i]}, labels?" if pair.doubtful else scores[i]
            self._word(x + side, top + high + 1.55 * line, words, color=Style.text)
        return y + max(-(-len(pairs) // across), 1) * below

    def _picture(
        self, x: float, y: float, size: tuple[float, float], picture: Any, style: dict[str, Any]
    ) -> None:
        """Draw a picture inside a place of this size, or that there is none."""
        wide, high = size
        if picture is None:
            self.ax_.add_patch(Rectangle((x, y), wide, high, color="#f3f3f3", clip_on=False))
            self._word(x + wide / 2, y + high / 2, "no image")
            return
        factor = min(wide / picture.width, high / picture.height)
        w, h = factor * picture.width, factor * picture.height
        left, top = x + (wide - w) / 2, y + (high - h) / 2
        properties = {
            "cmap": "gray",
            "vmin": 0,
            "vmax": 255,
            "interpolation": "antialiased",
            **style,
        }
        limits = self.ax_.get_xlim(), self.ax_.get_ylim()
        extent = (left, left + w, top + h, top)
        self.ax_.imshow(np.asarray(picture), extent=extent, clip_on=False, zorder=2, **properties)
        self.ax_.set(xlim=limits[0], ylim=limits[1])

    def _word(self, x: float, y: float, text: str, **style: Any) -> None:
        properties = {
            "ha": "center",
            "va": "center",
            "fontsize": Style.look.small,
            "color": Style.quiet,
        }
        self.ax_.text(x, y, as_plot_text(text), **{**properties, **style})


def _head_height() -> float:
    """Return the points that a heading takes."""
    return Style.look.tick + 8.0


def _line_height() -> float:
    """Return the points that a line of words below a pair takes."""
    return Style.look.small + 2.5


def _extreme(system: System, row: str) -> str:
    kind = str(system.dataset.attrs["kind"])
    largest = larger_is_closer(kind) == (row == "impostor")
    return f"{'largest' if largest else 'smallest'} {noun_of(kind, plural=True)}"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _shown(system: System, row: str, most: int, images: Images) -> list[ShownPair]:
    """Return the worst pairs of a row; of a pair that is listed in both directions, the first."""
    dataset = system.dataset
    column = images.column_of_pairs(dataset)
    of_row = dataset.isel(pair=dataset["comparison"].values == row)
    names: Any = ()
    if column:
        probe, gallery = Images(column).columns(dataset, ("probe", "gallery"))
        names = (
            list(map(str, of_row[probe].values.tolist())),
            list(map(str, of_row[gallery].values.tolist())),
        )
    shown: dict[Any, ShownPair] = {}
    for i, key in enumerate(_keys(of_row, names)):
        if len(shown) == most:
            break
        if key in shown:
            continue
        pair = of_row.isel(pair=i)
        pictures: Any = (None, None)
        if column:
            pictures = images.find(names[0][i]), images.find(names[1][i])
        shown[key] = ShownPair(
            probe=str(pair["probe_label"].item()),
            gallery=str(pair["gallery_label"].item()),
            score=float(pair["score"]),
            pictures=pictures,
            doubtful=bool(pair["label_error"]),
        )
    return list(shown.values())


def _keys(pairs: xr.Dataset, names: Any) -> list[Any]:
    """Return what tells a pair from others, in either direction: its images."""
    if names:
        return list(map(frozenset, zip(*names, strict=True)))
    return list(range(pairs.sizes["pair"]))


def worst_pairs(
    results: Any,
    ax: Axes | Figure | None = None,
    *,
    pairs: int = 5,
    images: str | None = None,
    image_folder: str | os.PathLike[str] = ".",
    **style: Any,
) -> WorstPairsDisplay:
    """Draw the images of the nearest impostor pairs and of the farthest genuine pairs.

    Parameters
    ----------
    results : Dataset, DataTree, or mapping of str to either
        The result of :func:`bioeval.worst_pairs`.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    pairs : int
        Pairs of each kind, at most.
    images : str, optional
        Metadata column that names the images. Unless given: the column with names of the faces that
        come with bioeval, or else ``image``, where its files exist.
    image_folder : path
        Folder of image files. Files outside of it are not read.
    **style
        Properties of the images, such as ``cmap="bone"``; ``name`` names a single system.

    Returns
    -------
    WorstPairsDisplay
        With ``pairs``, ``ax_`` and ``figure_``.

    Raises
    ------
    DataError
        If there is no such column, or none of its images can be read.
    ProtocolError
        If the pairs name no images.

    Notes
    -----
    Beside the image of the probe is that of the gallery template. Below them are their subjects and
    the score. A pair that is listed in both directions is drawn once.

    Examples
    --------
    >>> import bioeval as be
    >>> worst = be.worst_pairs(be.datasets.faces("eigenfaces"), 5)
    >>> display = be.plot.worst_pairs(worst, pairs=3)
    >>> [(pair.probe, pair.gallery) for pair in display.pairs[""]["impostor"]]
    [('s23', 's26'), ('s29', 's39'), ('s29', 's39')]
    """
    display = WorstPairsDisplay.from_results(results, pairs, images, image_folder)
    if display.why_empty:
        kind = ProtocolError if display.why_empty == NO_IMAGES else DataError
        raise kind(f"be.plot.worst_pairs: {display.why_empty}")
    return display.plot(ax, **style)
