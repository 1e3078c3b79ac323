"""The options of image files, for the studies that show pictures of templates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bioeval.base.errors import DataError
from bioeval.cli.command import option, option_group

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores


class ImageOptions:
    """The options ``--images`` and ``--images-root``, taken from those of a command."""

    add = staticmethod(
        option_group(
            option(
                "--images NAME",
                "Metadata column of the image files; the page shows pictures of the worst pairs "
                "and of explained rows. The faces of `bioeval example faces` are shown without it.",
            ),
            option(
                "--images-root DIR",
                "Folder of the image files; files outside of it are not read.  [the folder of "
                "DATA]",
            ),
            heading="Output",
        )
    )

    def __init__(self, options: dict[str, Any]):
        self.column: str = options.pop("images") or ""
        self._folder: str | None = options.pop("images_root")

    @property
    def requested(self) -> bool:
        """Whether one of the options is given."""
        return bool(self.column or self._folder)

    def folder(self, data: str) -> Path:
        """Return the folder of image files: the one given, or that of the data."""
        if self._folder is None:
            return Path(data).parent
        if not Path(self._folder).is_dir():
            raise DataError(
                f"{self._folder}: no such folder; --images-root expects the folder of the images"
            )
        return Path(self._folder)

    def require(self, scores: Scores) -> None:
        """Raise :class:`DataError` unless scores have the column, if one is named."""
        if not self.column or scores.layout == "pairs":
            return
        names = [*dict.fromkeys([*scores.probe_meta, *scores.gallery_meta])]
        if self.column not in names:
            have = f"it has {', '.join(names)}" if names else "it has none"
            raise DataError(f"{scores.name}: no metadata column {self.column!r} of images; {have}")
