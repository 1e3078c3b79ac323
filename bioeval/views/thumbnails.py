"""Small pictures of templates, as data addresses."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from dataclasses import dataclass

from bioeval.datasets.face_images import image_of
from bioeval.views.images import Images

# Pixels along the longer side of pictures that are stored without loss, and how others are.
_SMALL, _JPEG = 64, {"quality": 82}


@dataclass(frozen=True)
class Thumbnail:
    """A small picture: its data address and its name, or why there is none."""

    source: str
    text: str
    right = False

    @classmethod
    def of(cls, images: Images, name: str) -> Thumbnail:
        """Return the picture of a name: PNG of a small grey one, JPEG of others."""
        picture = images.find(name)
        if picture is None:
            return cls("", f"{name}: no image; {images.missing[name]}")
        raw = io.BytesIO()
        small = picture.mode == "L" and max(picture.size) <= _SMALL
        picture.save(raw, "PNG" if small else "JPEG", optimize=True, **{} if small else _JPEG)
        data = base64.b64encode(raw.getvalue()).decode("ascii")
        return cls(f"data:image/{'png' if small else 'jpeg'};base64,{data}", name)


def pictures_of_templates(images: Images, names: Iterable[str]) -> dict[str, Thumbnail]:
    """Return the pictures of templates by their names; none where no name stands for one.

    Unless a column of image files is named, other names are passed over.
    """
    named = [*dict.fromkeys(filter(None, names))]
    if not images.column:
        named = [name for name in named if image_of(name) is not None]
    tried = Images(images.column, images.folder)
    pictures = {name: Thumbnail.of(tried, name) for name in named}
    if not any(picture.source for picture in pictures.values()):
        return {}
    images.missing.update(tried.missing)
    return pictures
