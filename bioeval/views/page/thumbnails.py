"""Small pictures of samples, for the worst pairs."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from bioeval.base.errors import DataError
from bioeval.views.page.parts import Part

# Pixels along the longer side, for a screen with two to each point.
_SIDE = 128


@dataclass(frozen=True)
class Images:
    """A metadata column of image files, and the folder that they are in."""

    column: str
    folder: str | os.PathLike[str] = "."

    def heads(self, part: Part, dimension: str = "pair") -> list[str]:
        """Return the variables of the column over a dimension: of pairs, or of suspects."""
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
        self, part: Part, dimension: str, rows: int
    ) -> Iterator[tuple[str, list[Thumbnail]]]:
        """Yield each heading over a dimension and the images of the first rows."""
        for name in self.heads(part, dimension):
            files = part.dataset[name].values[:rows]
            head = f"{name.partition('_')[0].capitalize()} image"
            yield head, [self.thumbnail(str(file)) for file in files]

    def thumbnail(self, name: str) -> Thumbnail:
        """Return the image of a file; without a source where it cannot be read."""
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
