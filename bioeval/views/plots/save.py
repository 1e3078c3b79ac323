"""One plot, written to a file."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import matplotlib

from bioeval.base.errors import DataError, bad_choice
from bioeval.scores.formats.files import replacing

FORMATS = ("png", "pdf", "svg")

# Left out, so that the same figure gives the same file.
_UNDATED: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "ModDate": None},
    "svg": {"Date": None},
}


def save(display: Any, path: str | os.PathLike[str], *, dpi: float = 150) -> Path:
    """Write a plot to a PNG, PDF or SVG file, by the suffix of the path.

    Parameters
    ----------
    display : a display of ``be.plot``, a matplotlib Figure or Axes
    path : path
        Its suffix gives the format: ``.png``, ``.pdf`` or ``.svg``.
    dpi : float
        Pixels per inch, for PNG and for pictures inside PDF and SVG.

    Returns
    -------
    Path
        The file written, completely or not at all; text in SVG and PDF stays text.

    Raises
    ------
    DataError
        If the suffix is another, `display` has no figure, or the folder does not exist.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.roc(be.verification(be.simulate(20, 4)))
    >>> be.plot.save(display, "roc.svg")  # doctest: +SKIP
    """
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise DataError(f"{path}: {bad_choice('the suffix', kind, FORMATS)}")
    figure = _figure(display)
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "bioeval", "pdf.fonttype": 42}
    with replacing(path) as part, matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # drawn as a box
        figure.savefig(
            part, format=kind, dpi=dpi, bbox_inches="tight", pad_inches=0.12,
            metadata=_UNDATED[kind],
        )  # fmt: skip
    return path


def _figure(display: Any) -> Any:
    for candidate in (getattr(display, "figure_", None), getattr(display, "figure", None), display):
        root = getattr(candidate, "figure", candidate)
        if hasattr(root, "savefig"):
            return root
    raise DataError(
        f"{type(display).__name__} has no figure; expected what a function of be.plot returned, "
        "or a matplotlib Figure"
    )
