"""The options of image files, for the studies that show pictures of templates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bioeval.base.errors import DataError
from bioeval.cli.command import option, option_group

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores

images_option = option_group(
    option(
        "--images NAME",
        "Metadata column of the image files; the page shows pictures of the worst pairs and of "
        "explained rows. The faces of `bioeval example faces` are shown without it.",
    ),
    option(
        "--images-root DIR",
        "Folder of the image files; files outside of it are not read.  [the folder of DATA]",
    ),
)


def require_images(scores: Scores, column: str) -> None:
    """Raise :class:`DataError` unless scores have the metadata column of images, if it is named."""
    from bioeval.scores.matrix import are_pairs

    if not column or are_pairs(scores):
        return
    names = [*dict.fromkeys([*scores.probe_meta, *scores.gallery_meta])]
    if column not in names:
        have = "it has none"
        if names:
            have = f"it has {', '.join(names)}"
        raise DataError(f"{scores.name}: no metadata column {column!r} of images; {have}")


def image_folder(given: str | None, data: str) -> Path:
    """Return the folder of image files: the one given, or that of the data."""
    if given is not None and not Path(given).is_dir():
        raise DataError(f"{given}: no such folder; --images-root expects the folder of the images")
    if given is None:
        return Path(data).parent
    return Path(given)
