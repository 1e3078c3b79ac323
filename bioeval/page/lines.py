"""Lines of a page: HTML with small pictures of templates."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from html import escape

from bioeval.showing.cells import Picture
from bioeval.showing.images import Images
from bioeval.showing.writers.html import HtmlLines

#: Pixels along the longer side of pictures that are stored without loss, and how others are.
_SMALL, _JPEG = 64, {"quality": 82}


class PageLines(HtmlLines):
    """Lines of HTML with small pictures of templates."""

    def __init__(self, vocabulary: str, task: str, images: Images):
        super().__init__(vocabulary, task)
        self.images = images

    def picture(self, picture: Picture) -> str:
        """Return a small picture of a template; nothing where its name stands for none."""
        name = picture.source
        if isinstance(name, Mapping):  # names by the column of metadata
            column = self.images.column_of(name)
            if not column:
                return ""
            name = name[column]
        elif not self.images.shows(str(name)):
            return ""
        image = self.images.find(name := str(name))
        if image is None:
            return escape(f"{name}: no image; {self.images.missing[name]}")
        raw = io.BytesIO()
        small = image.mode == "L" and max(image.size) <= _SMALL
        image.save(raw, "PNG" if small else "JPEG", optimize=True, **{} if small else _JPEG)
        data = base64.b64encode(raw.getvalue()).decode("ascii")
        source = f"data:image/{'png' if small else 'jpeg'};base64,{data}"
        return f'<img class="thumb" src="{source}" alt="{escape(name)}">'
