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
from PIL import Image

from bioeval.base.arguments import require_integer, require_path, require_text
from bioeval.base.errors import DataError, ProtocolError
from bioeval.base.kinds import larger_is_closer, noun_of
from bioeval.plot.display import Display
from bioeval.plot.plot_style import LETTER, SHADE, Style, room
from bioeval.plot.systems import System, as_plot_text, joined
from bioeval.results.words import in_one_precision
from bioeval.views.images import Images

# Pairs side by side; more are drawn below. A figure is this wide, in inches.
_ACROSS, _WIDE = 5, 7.2

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
    """A pair: labels, score, and pictures (None: there is none to show)."""

    probe: str
    gallery: str
    score: float
    pictures: tuple[Image.Image | None, Image.Image | None]


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
        ratios = [x.height / x.width for pair in self._every() for x in pair.pictures if x]
        aspect = float(np.clip(np.median(ratios), 0.4, 2.0)) if ratios else 1.0
        # Both rows of each of several systems stand beside each other in a flat figure.
        columns = 2 if Style.look.is_flat and len(self.systems) > 1 else 1
        lines = self._lines()
        across = max(1, *(len(pairs) for _, pairs in lines))
        words = 5.0 * Style.look.small  # the points of a heading, two lines below, and gaps
        down = -(-len(lines) // columns)
        wide = Style.look.width or _WIDE
        picture = min(72 * wide / columns / across / 2.3, 80.0) * aspect
        ax = self._begin(ax, style, (wide, (down * (picture + words) + 50) / 72))
        ax.axis("off")
        if len(self.systems) == 1:
            attrs = self.systems[0].dataset.attrs
            name = name or self.systems[0].name or as_plot_text(attrs.get("system", ""))
        caption = ["left: probe, right: gallery template; below: subjects and score"]
        self._finish(joined("Worst pairs", name or "", by=": "), caption)
        size = room(ax)
        step = 1 / columns, 1 / down
        for k, (heading, pairs) in enumerate(lines):
            left, top = (k % columns) * step[0], 1 - (k // columns) * step[1]
            how: dict[str, Any] = {"fontsize": Style.look.small, "color": Style.text, "va": "top"}
            ax.text(left, top, as_plot_text(heading), transform=ax.transAxes, **how)
            high = step[1] - words / size[1]
            cell = step[0] / across
            begin = top - step[1] + 3.6 * Style.look.small / size[1]
            widest = 2 * high * size[1] / aspect / size[0]
            part = min(0.92 * cell, widest)
            scores = in_one_precision([pair.score for pair in pairs], 4)
            for i, pair in enumerate(pairs):
                at = left + i * min(cell, 1.15 * part)
                panel = ax.inset_axes((at, begin, part, max(high, 0.01)))
                letters = int(part * size[0] / 2 / (LETTER * Style.look.small))
                _draw(panel, pair, scores[i], aspect, max(letters, 3), style)
        return self

    def _lines(self) -> list[tuple[str, list[ShownPair]]]:
        """Return the lines of pairs, each with its heading."""
        lines = []
        for system in self.systems:
            for row, title in _ROWS.items():
                who = system.name if len(self.systems) > 1 else ""
                heading = joined(who, f"{title} ({_extreme(system, row)})", by=": ")
                if who and Style.look.width:
                    heading = f"{who}: {row} pairs"
                pairs = self.pairs[system.name][row]
                parts = [pairs[i : i + _ACROSS] for i in range(0, len(pairs), _ACROSS)]
                for i, part in enumerate(parts or [[]]):
                    text = heading if pairs else f"{heading}: none"
                    lines.append(("" if i else text, part))
        return lines


def _draw(
    ax: Axes, pair: ShownPair, score: str, aspect: float, letters: int, style: dict[str, Any]
) -> None:
    """Draw the two pictures of a pair side by side, with their subjects and the score below."""
    for k, picture in enumerate(pair.pictures):
        if picture is None:
            ax.axvspan(k, k + 1, color=SHADE, linewidth=0)
            how: dict[str, Any] = {"fontsize": Style.look.small, "color": Style.quiet}
            ax.text(k + 0.5, aspect / 2, "no image", ha="center", va="center", **how)
            continue
        tall = picture.height / picture.width
        wide, high = min(1.0, aspect / tall), min(aspect, tall)
        left, top = k + (1 - wide) / 2, (aspect - high) / 2
        properties: dict[str, Any] = {"cmap": "gray", "vmin": 0, "vmax": 255, **style}
        ax.imshow(np.asarray(picture), extent=(left, left + wide, top + high, top), **properties)
    ax.set(xlim=(0, 2), ylim=(aspect, 0), aspect="equal", anchor="NW", yticks=[])
    labels = (pair.probe, pair.gallery)
    names = [x if len(x) <= letters else f"{x[: letters - 1]}…" for x in labels]
    ax.set_xticks([0.5, 1.5], [*map(as_plot_text, names)])
    colours: dict[str, Any] = {"labelcolor": Style.quiet, "labelsize": Style.look.small}
    ax.tick_params(length=0, pad=2, **colours)
    ax.set_xlabel(str(score), fontsize=Style.look.small, color=Style.text, labelpad=1)
    ax.spines[:].set(color=Style.quiet, linewidth=0.6)


def _extreme(system: System, row: str) -> str:
    kind = str(system.dataset.attrs["kind"])
    largest = larger_is_closer(kind) == (row == "impostor")
    return f"{'largest' if largest else 'smallest'} {noun_of(kind, plural=True)}"


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
