"""Small pictures of templates, as data addresses."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass

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
