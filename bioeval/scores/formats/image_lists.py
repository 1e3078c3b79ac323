"""Labels of one side from a file: a CSV file of labels, or a list of names of images.

A list of images is text with a name on each line, a CSV file with a column of names, or label XML;
its identities and cameras take the place of a CSV file of labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bioeval.base.errors import DataError, nearest_name, require_choice
from bioeval.scores.formats.csv import Labels, read_labels, read_table
from bioeval.scores.formats.files import content, decoded_lines, existing_file
from bioeval.scores.formats.image_names import NAMES_OF, PATTERNS, looks_like, parse_names
from bioeval.scores.formats.label_xml import read_label_xml
from bioeval.scores.formats.options import ReadOptions, say

#: Columns of a CSV file that hold names of images, the first that is there wins.
NAME_COLUMNS = ("name", "image", "image_name", "file", "filename", "path", "img_path")


def read_side(
    path: str | Path, options: ReadOptions, meta: Mapping[str, str] | None = None
) -> Labels:
    """Read the labels of one side: a CSV file of labels or, with `names_of`, a list of images."""
    if options.names_of is not None:
        return _renamed(read_names(path, options.names_of), meta)
    path = Path(path)
    if path.is_file() and path.stat().st_size and path.suffix.lower() == ".xml":
        return _renamed(read_names(path, "label-xml"), meta)
    labels = read_labels(path, meta)
    pattern = looks_like(str(labels.label[0]))
    if pattern is not None:
        raise DataError(
            f"{path}: its labels are names of images in the form of {pattern}, each a label of its "
            f"own; say {say('names_of', pattern)} to read the identities"
        )
    return labels


def labels_of_names(names: np.ndarray, names_of: str, where: str, path: Path) -> Labels:
    """Return the identities and metadata in an array of names of images."""
    require_choice("names_of", names_of, tuple(PATTERNS))
    if names.dtype.kind == "S":
        names = np.char.decode(names, "utf-8")
    found = parse_names(names.tolist(), names_of, where=where)
    return Labels(path, found.label, dict(found.meta), True)


def read_names(path: str | Path, names_of: str) -> Labels:
    """Read a list of images.

    Parameters
    ----------
    path
        Text with one name on each line; a CSV file with a column of `NAME_COLUMNS`; or, for
        ``"label-xml"``, a label list of VeRi-776 or AI City.
    names_of
        One of `NAMES_OF`.

    Returns
    -------
    Labels
        The identity and the metadata of each image, in the order of the list.
    """
    require_choice("names_of", names_of, NAMES_OF)
    path = existing_file(path, "a list of names")
    if names_of == "label-xml":
        return read_label_xml(path)
    found = content(path)
    if found != "text":
        raise DataError(f"{path}: is {found}; expected text with a name on each line")
    others: dict[str, np.ndarray] = {}
    if path.suffix.lower() == ".csv" and names_of != "vehicleid":
        names, others = _csv_names(path)
    else:
        names = decoded_lines(path)
    parsed = parse_names(names, names_of, where=str(path))
    return Labels(path, parsed.label, {**parsed.meta, **others}, True)


def _csv_names(path: Path) -> tuple[list[str], dict[str, np.ndarray]]:
    """Return the names in a CSV file, and its further columns."""
    table = read_table(path, headerless="")
    key = "" if "" in table.columns else table.find(*NAME_COLUMNS)
    if key is None:
        columns = list(table.columns)
        if len(columns) == 1:  # a list without a header
            return decoded_lines(path), {}
        raise DataError(
            f"{path}: no column of names; its columns are {', '.join(map(repr, columns))}, "
            f"expected one called {', '.join(map(repr, NAME_COLUMNS))}"
        )
    others = {k: np.array(v) for k, v in table.columns.items() if k != key}
    return table.columns[key], others


def _renamed(labels: Labels, meta: Mapping[str, str] | None) -> Labels:
    """Return labels whose metadata columns are renamed by `meta`."""
    for name, column in (meta or {}).items():
        if column not in labels.meta:
            raise DataError(
                f"{labels.path}: these names have no {column!r} (named by {name}={column}); they "
                f"have {', '.join(map(repr, labels.meta)) or 'nothing but labels'}."
                f"{nearest_name(column, labels.meta)}"
            )
    renamed = {column: name for name, column in (meta or {}).items()}
    columns = {renamed.get(name, name): values for name, values in labels.meta.items()}
    return Labels(labels.path, labels.label, columns, labels.has_header)


def read_tracks(path: str | Path) -> dict[str, int]:
    """Read a track list of AI City: on each line, the names of the images of one track.

    Returns
    -------
    dict of str to int
        The track of each image, numbered from 1 as the lines are.

    Raises
    ------
    DataError
        If an image is in two tracks.
    """
    path = existing_file(path, "a track list")
    found: dict[str, int] = {}
    for number, line in enumerate(decoded_lines(path), 1):
        for name in line.split():
            if name in found:
                raise DataError(
                    f"{path}: line {number}: {name!r} is in track {found[name]} as well"
                )
            found[name] = number
    if not found:
        raise DataError(f"{path}: holds no names; expected the images of a track on each line")
    return found
