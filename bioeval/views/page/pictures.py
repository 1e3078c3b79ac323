"""Static plots as SVG in a page: those of matplotlib."""

from __future__ import annotations

import base64
import io
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

from bioeval.base.errors import DataError
from bioeval.views.page.parts import PageItem
from bioeval.views.plots.registry import PLOTS
from bioeval.views.plots.save import save
from bioeval.views.plots.select_datasets import plot_files

# Pixels along the longer side, for a screen with two to each point.
_SIDE = 128


@dataclass(frozen=True)
class Images:
    """A metadata column of image files, and their folder."""

    column: str
    folder: str | os.PathLike[str] = "."

    def heads(self, part: PageItem, dimension: str = "pair") -> list[str]:
        """Return the image variables over a dimension: of pairs, or of suspects."""
        sides = ("probe", "gallery") if dimension == "pair" else (dimension,)
        names = [f"{side}_meta_{self.column.replace('/', '_')}" for side in sides]
        missing = [name for name in names if name not in part.dataset]
        if missing:
            start = "probe_meta_"
            have = [str(k).removeprefix(start) for k in part.dataset if str(k).startswith(start)]
            raise DataError(
                f"the worst pairs have no metadata column {self.column!r} of images; they have "
                f"{', '.join(have) or 'none'}"
            )
        return names

    def columns(
        self, part: PageItem, dimension: str, rows: int
    ) -> Iterator[tuple[str, list[Thumbnail]]]:
        """Yield each column heading over a dimension, and the images of the first rows."""
        for name in self.heads(part, dimension):
            files = part.dataset[name].values[:rows]
            head = f"{name.partition('_')[0].capitalize()} image"
            yield head, [self.thumbnail(str(file)) for file in files]

    def thumbnail(self, name: str) -> Thumbnail:
        """Return the thumbnail of a file; without a source where it cannot be read."""
        try:
            with Image.open(Path(self.folder) / name) as image:
                image.draft("RGB", (2 * _SIDE, 2 * _SIDE))
                small = image.convert("RGB")
                small.thumbnail((_SIDE, _SIDE))
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            return Thumbnail("", f"{name}: no image")
        raw = io.BytesIO()
        small.save(raw, "JPEG", quality=82)
        data = base64.b64encode(raw.getvalue()).decode("ascii")
        return Thumbnail(f"data:image/jpeg;base64,{data}", name)


@dataclass(frozen=True)
class Thumbnail:
    """A small picture: its data address and the name of its file."""

    source: str
    text: str
    right = False


# What the page shows by itself; the surface of DIR is its threshold and its rank.
_LIVE = ("roc", "det", "error_rates", "cmc", "dir_far", "dir_surface", "gom", "attack_scores")

# Words of the names of plots that are abbreviations.
_SHORT = ("apcer", "det", "epc", "epsc", "far", "hota", "iapar", "pad")

#: Pictures of one system each, at most.
MOST = 12


def pictures_of(parts: list[PageItem]) -> Iterator[dict[str, Any]]:
    """Return every static plot: its name, title and SVG as a data address."""
    results: dict[str, dict[str, Any]] = {}
    titles = {}
    for part in parts:
        results.setdefault(part.task, {})[part.system] = part.dataset
        titles[part.task] = part.words
    plots = [plot for plot in PLOTS.values() if plot.name not in _LIVE]
    drawn = 0
    for task, given in results.items():
        data = given if len(given) > 1 else next(iter(given.values()))
        for one in plot_files(data, plots):
            if drawn == MOST:
                return
            drawn += 1
            each = one.stem.replace("_", "-").split("-")
            words = " ".join(word.upper() if word in _SHORT else word for word in each)
            title = " ".join(filter(None, (words, one.system)))
            title = f"{title[0].upper()}{title[1:]}"
            if titles[task].partition(",")[0].lower() not in title.lower():
                title += f": {titles[task]}"
            figure = Figure(layout="constrained")
            one.plot.load().from_results(one.data).plot(figure, **one.options)
            source, wide = as_address(figure)
            yield {
                "plot": one.plot.name,
                "title": title,
                "file": "-".join(filter(None, (one.stem, task.replace("/", "-"), one.system))),
                "source": source,
                "wide": wide,
            }


def as_address(figure: Figure) -> tuple[str, bool]:
    """Return a figure as a data address of SVG, and whether it takes two columns."""
    with tempfile.TemporaryDirectory() as folder:
        raw = save(figure, Path(folder) / "plot.svg").read_bytes()
    width, height = figure.get_size_inches()
    address = "data:image/svg+xml;base64," + base64.b64encode(raw).decode("ascii")
    return address, bool(width > 1.6 * height)
