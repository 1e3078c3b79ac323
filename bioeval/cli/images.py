"""The options of image files, for the studies that show pictures of templates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bioeval.base.errors import DataError
from bioeval.cli.command import option, option_group

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores


IMAGES = option_group(
    option(
        "--images NAME",
        "Metadata column of the image files; the page shows pictures of the worst pairs and of "
        "explained rows. The faces of `bioeval example faces` are shown without it.",
    ),
    option(
        "--images-root DIR",
        "Folder of the image files; files outside of it are not read.  [the folder of DATA]",
    ),
    heading="Output",
)


def image_folder(root: str | None, data: str) -> Path:
    """Return the folder of image files: `root` if given, else the folder of the data."""
    if root is None:
        return Path(data).parent
    if not Path(root).is_dir():
        raise DataError(f"{root}: no such folder; --images-root expects the folder of the images")
    return Path(root)


def require_images(scores: Scores, column: str) -> None:
    """Raise :class:`DataError` if a metadata column is named that the scores lack."""
    if not column or scores.layout == "pairs":
        return
    names = [*dict.fromkeys([*scores.probe_meta, *scores.gallery_meta])]
    if column not in names:
        have = f"it has {', '.join(names)}" if names else "it has none"
        raise DataError(f"{scores.name}: no metadata column {column!r} of images; {have}")
