"""Images of samples: the picture that a name stands for, shipped or a file below a folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import xarray as xr
from PIL import Image

from bioeval.base.errors import DataError, counted, short_name
from bioeval.datasets.face_images import SCHEME, image_of
from bioeval.results.dataset import meta_columns

#: Pixels along the longer side that are read, for a screen with two to each point.
SIDE = 128

#: What is read: formats whose reader starts no other program.
_FORMATS = ("PNG", "JPEG", "PPM", "BMP", "GIF", "TIFF", "WEBP", "JPEG2000")

#: The metadata column of the files of images, unless another is named.
COLUMN = "image"


class NoImageError(DataError):
    """A name that stands for no image that may be shown."""


@dataclass(frozen=True)
class Images:
    """Pictures by name: the faces that come with bioeval, and the image files below a folder."""

    column: str = ""  # the metadata column that names them; empty for the one that is found
    #: No file outside of it is read, also by way of a link or of ``..``; None: no files at all.
    folder: str | os.PathLike[str] | None = "."
    missing: dict[str, str] = field(default_factory=dict)  # names without a picture, and why
    _images: dict[str, Image.Image | None] = field(default_factory=dict, repr=False)

    def find(self, name: str) -> Image.Image | None:
        """Return the picture of a name, grey or RGB; None where there is none to show."""
        if name not in self._images:
            self._images[name] = None
            try:
                grey = image_of(name)
                if grey is None and name.startswith(SCHEME):
                    raise NoImageError("bioeval has no face of this name")
                face = None if grey is None else Image.fromarray(grey)
                self._images[name] = self._of_file(name) if face is None else face
            except NoImageError as error:
                self.missing[name] = str(error)
        return self._images[name]

    def columns_of_pairs(self, dataset: xr.Dataset) -> list[str]:
        """Return the variables of the images of probe and gallery; none where no column names any.

        Without a name for the column, it is one with the faces that come with bioeval, or else
        ``image`` if a file exists.
        """
        probe, gallery = (meta_columns(dataset, side) for side in ("probe", "gallery"))
        if self.column and self.column not in probe.keys() & gallery.keys():
            raise DataError(
                f"the worst pairs have no metadata column {self.column!r} of images; they have "
                f"{', '.join(probe) or 'none'}"
            )
        if self.column:
            return [probe[self.column], gallery[self.column]]
        names_of = {}
        for column in (x for x in probe if x in gallery):
            sides = [dataset[x] for x in (probe[column], gallery[column])]
            texts = [x.values.tolist() for x in sides if x.dtype.kind in "OUT"]
            names_of[column] = {str(name) for names in texts for name in names}
        for column, names in names_of.items():
            if any(image_of(name) is not None for name in names):
                return [probe[column], gallery[column]]
        files = Images(folder=self.folder)
        if any(files.find(name) is not None for name in sorted(names_of.get(COLUMN, ()))):
            return [probe[COLUMN], gallery[COLUMN]]
        return []

    def column_of(self, names: Mapping[str, Any]) -> str:
        """Return the column of the image of a template with these names by column; empty for none.

        Without a name for the column, it is one with a face that comes with bioeval.
        """
        if not self.column:
            return next((x for x, name in names.items() if image_of(str(name)) is not None), "")
        if self.column not in names:
            raise DataError(
                f"there is no metadata column {self.column!r} of images; these templates have "
                f"{', '.join(names) or 'none'}"
            )
        return self.column

    def shows(self, name: str) -> bool:
        """Whether a name that may be another one stands for an image."""
        if not self.column:
            return image_of(name) is not None
        return Images(self.column, self.folder).find(name) is not None

    def remark(self) -> str:
        """Return a sentence on the names without a picture; empty if no picture is missing."""
        if not self.missing:
            return ""
        first, reason = next(iter(self.missing.items()))
        return (
            f"{counted(len(self.missing), 'images')} could not be shown, such as "
            f"{short_name(first)}: {reason}"
        )

    def _of_file(self, name: str) -> Image.Image:
        if self.folder is None:
            raise NoImageError("no column of image files is named")
        root = Path(os.path.realpath(self.folder))
        try:
            path = Path(os.path.realpath(root / name))
            if not path.is_relative_to(root):
                raise NoImageError("it is outside the folder of images")
            # Open a regular file; a fifo or a device is refused, and never waited for.
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
            number = os.open(path, flags | getattr(os, "O_BINARY", 0))
            if not stat.S_ISREG(os.fstat(number).st_mode):
                os.close(number)
                raise NoImageError("it is not a regular file")
            with os.fdopen(number, "rb") as file, Image.open(file, formats=_FORMATS) as image:
                image.draft("RGB", (2 * SIDE, 2 * SIDE))
                small = image.convert("L" if image.mode in ("1", "L") else "RGB")
                small.thumbnail((SIDE, SIDE))
        except FileNotFoundError as error:
            raise NoImageError("there is no such file") from error
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            if isinstance(error, NoImageError):
                raise
            raise NoImageError("it is not an image that can be read") from error
        return small
