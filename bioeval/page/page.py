"""Write results as one self-contained HTML file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bioeval.base.arguments import (
    require_choice,
    require_list,
    require_number,
    require_path,
    require_text,
)
from bioeval.base.errors import BioevalWarning, DataError, printable
from bioeval.base.replacing import replacing
from bioeval.showing.terms import VOCABULARIES


def report(
    results: Any,
    path: str | os.PathLike[str],
    *,
    threshold: float | None = None,
    title: str = "",
    files: Sequence[str | os.PathLike[str]] = (),
    command: str = "",
    images: str = "",
    image_folder: str | os.PathLike[str] = ".",
    terms: str = "",
) -> Path:
    """Write results as one self-contained HTML page.

    The page has the answer, the rates at a threshold that can be moved, and the DET; folded, the
    tables of all results, plots, notes, and what it was made from. It needs no network, no server,
    and no other file.

    Parameters
    ----------
    results : xarray.Dataset, xarray.DataTree, explained row, or mapping or list of these
        What a function of bioeval returned, several systems by name, or several results of the same
        systems as a list: ``[be.evaluate(scores), be.study_threshold(scores, "far=0.01"),
        be.check_data(scores)]``. A dataset that was loaded from a file is one too. Checks of data
        and rows that :func:`explain` returned have a section each. With a threshold study the
        answer of the page is its threshold, at which the page opens; results at another threshold
        say so. Without one it opens at the threshold of the results if they have one in common, as
        a promise and an evaluation at its threshold have, and the promise is the answer.
    path : path
        The HTML file to write, completely or not at all.
    threshold : float, optional
        Threshold at which the page opens. The results need to have rates at it, as
        ``be.evaluate(scores, extra_thresholds=[threshold])`` has.
    title : str, optional
        Title of the page. Default: the names of the systems.
    files : sequence of paths, optional
        Files that the results were made from; the page has a digest (xxh3_128) of each.
    command : str, optional
        The command or call that makes the page again.
    images : str, optional
        Metadata column of the image files of samples: the worst pairs and the templates of
        explained rows, if the results have them, are shown with small pictures. The faces that come
        with bioeval are shown without it.
    image_folder : path
        The folder of these files. Files outside of it are not read, also by way of a link.
    terms : str, optional
        Terms of rates: ``"lecture"``, or ``"iso"`` for those of ISO/IEC 19795-1. Unless given, they
        are those of the results.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    DataError
        If the results are something else, two results have one name, results of one system are of
        other scores, none has rates over thresholds while `threshold` is given, or `path` cannot be
        written.

    Warns
    -----
    BioevalWarning
        Some images cannot be shown, with their number and the first of them.

    Examples
    --------
    >>> import bioeval as be
    >>> results = be.evaluate(be.simulate(20, 4), interval="people")
    >>> be.report(results, "report.html")  # doctest: +SKIP
    """
    from bioeval.page.contents import page_text
    from bioeval.page.origin import origin_of
    from bioeval.showing.images import Images

    with replacing(path) as part:
        title = printable(require_text("title", title))
        command = printable(require_text("command", command))
        if isinstance(files, str | os.PathLike):
            names = [files]
        else:
            names = require_list("files", files)
        read = [require_path("files", file) for file in names]
        missing = next((file for file in read if not file.exists()), None)
        if missing is not None:
            raise DataError(f"{missing}: no such file")
        folder = require_path("image_folder", image_folder)
        pictures = Images(require_text("images", images), folder if images else None)
        if not isinstance(terms, str) or terms:
            require_choice("terms", terms, VOCABULARIES)
        opening = None if threshold is None else require_number("threshold", threshold)
        text = page_text(results, title, list(origin_of(read, command)), pictures, terms, opening)
        part.write_text(text, encoding="utf-8", newline="\n")
    if pictures.missing:
        warnings.warn(pictures.remark(), BioevalWarning, stacklevel=2)
    return Path(path)
