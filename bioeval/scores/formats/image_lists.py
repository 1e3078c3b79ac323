"""Labels of one side from a file: a CSV file of labels, or a list of names of images.

A list of images is text with a name on each line, a CSV file with a column of names, or label XML;
its identities and cameras take the place of a CSV file of labels.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, counted, nearest_name, require_choice
from bioeval.scores.formats.archive import open_array, require_text
from bioeval.scores.formats.csv import Labels, read_labels, read_table
from bioeval.scores.formats.files import (
    content,
    decoded_lines,
    existing_file,
    guarded,
    read_bounded,
    text_array,
)
from bioeval.scores.formats.image_names import NAMES_OF, PATTERNS, looks_like, parse_names
from bioeval.scores.formats.options import ReadOptions, say

#: Columns of a CSV file that hold names of images, the first that is there wins.
NAME_COLUMNS = ("name", "image", "image_name", "file", "filename", "path", "img_path")

# What the attributes of an item of label XML are called here; others keep their names.
_PRESENTATION = {"name": "presentation", "file-name": "image"}
_ATTRIBUTES = {"vehicleID": "label", "cameraID": "camera", "imageName": "image"}


def read_side(
    path: str | Path,
    options: ReadOptions,
    meta: Mapping[str, str] | None = None,
    count: int | None = None,
) -> Labels:
    """Read the labels of one side: a CSV file, a .npy array, or, with `names_of`, images.

    An XML file is a list of images or a sigset, with `count` signatures or presentations.
    """
    path = Path(path)
    if path.is_file() and content(path) == "npy":
        return _array_of_labels(path, options, meta)
    if options.names_of is not None:
        return _renamed(read_names(path, options.names_of), meta)
    if path.is_file() and path.stat().st_size and path.suffix.lower() == ".xml":
        return _renamed(_read_xml(path, count), meta)
    labels = read_labels(path, meta)
    if labels.column:
        options.chosen_columns.append(f"subjects from column {labels.column!r} of {path.name}")
    first = str(labels.label[0])
    if not labels.has_header and re.fullmatch(r"\S+\s+\d+\s+\d+", first):
        raise DataError(
            f"{path}: its first line, {first!r}, has an image, its template and its medium, and no "
            f"subject; give the pairs of templates as {say('trials')}, or labels with the columns "
            "label, template and media"
        )
    pattern = looks_like(first)
    if pattern is not None:
        raise DataError(
            f"{path}: its labels are names of images in the form of {pattern}, each a different "
            f"label; give {say('names_of', pattern)} to read the identities"
        )
    return labels


def _array_of_labels(path: Path, options: ReadOptions, meta: Mapping[str, str] | None) -> Labels:
    """Read the labels of one side from a .npy array of text or whole numbers."""
    array = open_array(path, "a .npy array of labels", "text")
    with guarded(path, expected="a .npy array of labels"):
        require_text(array)
        if array.dtype.kind == "S":
            array = np.char.decode(array, "utf-8")
    if array.ndim != 1 or array.dtype.kind not in "Uiu":
        raise DataError(
            f"{path}: has shape {array.shape} and dtype {array.dtype}; expected labels, one "
            "dimension of text or whole numbers"
        )
    for name, column in (meta or {}).items():
        raise DataError(
            f"{path}: has labels alone, and no column {column!r} (named by {name}={column}); "
            "give the labels and metadata as a CSV file"
        )
    array = np.array(array)
    if options.names_of is not None:
        return labels_of_names(array, options.names_of, str(path), path)
    return Labels(path, array, {}, True)


def labels_of_names(names: np.ndarray, names_of: str, where: str, path: Path) -> Labels:
    """Return the identities and metadata that an array of image names holds."""
    require_choice("names_of", names_of, tuple(PATTERNS))
    if names.dtype.kind == "S":
        names = np.char.decode(names, "utf-8")
    found = parse_names(names.tolist(), names_of, where=where)
    return Labels(path, found.label, dict(found.meta), True)


def read_names(path: str | Path, names_of: str) -> Labels:
    """Read the identity and the metadata of each image of a list, in its order.

    The list is text with one name on each line; a CSV file with a column of `NAME_COLUMNS`; or,
    for ``"label-xml"``, a label list of VeRi-776 or AI City.
    """
    require_choice("names_of", names_of, NAMES_OF)
    path = existing_file(path, "a list of names")
    if names_of == "label-xml":
        return _read_xml(path)
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
    others = {k: text_array(v, f"{path}: {k}") for k, v in table.columns.items() if k != key}
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


# ---------------------------------------------------------------- label XML


def _read_xml(path: Path, count: int | None = None) -> Labels:
    """Read a list of VeRi-776 or AI City, or a sigset."""
    elements = xml_elements(path)
    if elements and elements[0][0] == "biometric-signature-set":
        return _sigset(path, elements, count)
    items = [found for name, found in elements if name == "Item"]
    if not items:
        raise DataError(
            f"{path}: holds no <Item imageName=... vehicleID=... cameraID=...>; expected a label "
            "list as VeRi-776 and AI City have them, or a sigset"
        )
    return _label_xml(path, items)


def _sigset(
    path: Path, elements: list[tuple[str, dict[str, str]]], count: int | None = None
) -> Labels:
    """Read the subjects of a sigset: of its signatures or, if there are `count`, presentations.

    BEE has a row of a matrix for each signature, OpenBR one for each presentation.
    """
    subjects: list[str] = []
    images: list[tuple[str, dict[str, str]]] = []
    for name, found in elements[1:]:
        if name.endswith("biometric-signature"):
            subjects.append(found.get("name", "").strip())
            if not subjects[-1]:
                raise DataError(f"{path}: signature {len(subjects)} has no name, its subject")
        elif name == "presentation" and subjects:
            images.append((subjects[-1], found))
    if not subjects:
        raise DataError(f"{path}: holds no <biometric-signature name=...>; expected a sigset")
    if count not in (None, len(subjects), len(images)):
        raise DataError(
            f"{path}: holds {counted(len(subjects), 'signatures')} with "
            f"{counted(len(images), 'presentations')}; expected {count} of either"
        )
    if count != len(subjects) and count == len(images):
        subjects = [who for who, _ in images]
    meta = {}
    if [who for who, _ in images] == subjects:
        for key in (key for key in images[0][1] if all(key in found for _, found in images)):
            column = _PRESENTATION.get(key, key.replace("-", "_"))
            meta[column] = text_array([found[key] for _, found in images], f"{path}: {key}")
    return Labels(path, text_array(subjects, f"{path}: name"), meta, True)


def _label_xml(path: Path, items: list[dict[str, str]]) -> Labels:
    """Read ``<Item imageName= vehicleID= cameraID= />`` from a list of VeRi-776 or AI City."""
    keys = list(items[0])
    for row, item in enumerate(items):
        if list(item) != keys:
            raise DataError(
                f"{path}: item {row + 1} has {', '.join(item) or 'no attributes'}; expected "
                f"{', '.join(keys)}, as the first"
            )
    columns = {_ATTRIBUTES.get(key, key): [item[key] for item in items] for key in keys}
    if "label" not in columns:
        raise DataError(
            f"{path}: its items have {', '.join(keys) or 'no attributes'} and no vehicleID; the "
            "lists of the test part have no identities, so nothing can be evaluated with them"
        )
    label = _as_numbers(columns.pop("label"), path)
    meta = {name: _as_numbers(cells, path) for name, cells in columns.items()}
    return Labels(path, label, meta, True)


def _as_numbers(cells: list[str], path: Path) -> np.ndarray:
    """Return whole numbers as int64, ``c001`` as 1, and everything else as text."""
    stems = [cell[1:] if re.fullmatch(r"c\d{1,9}", cell, re.ASCII) else cell for cell in cells]
    if all(re.fullmatch(r"-?\d{1,18}", stem, re.ASCII) for stem in stems):
        return np.array([int(stem) for stem in stems], dtype=np.int64)
    return text_array(cells, str(path))


def xml_elements(path: Path) -> list[tuple[str, dict[str, str]]]:
    """Return the name, without its prefix, and the attributes of each element of an XML file.

    A document type is refused, and with it every entity that a file could define: there is
    nothing to expand and nothing to fetch.
    """
    from xml.parsers import expat

    path = existing_file(path, "an XML list of labels")
    raw = read_bounded(path)
    elements: list[tuple[str, dict[str, str]]] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        elements.append((name.rpartition(":")[2], attributes))

    def refuse(*_: Any) -> None:
        raise DataError(
            f"{path}: declares a document type (DOCTYPE); bioeval refuses them, for they can "
            "define entities. Take the declaration out"
        )

    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(_as_utf8(raw, path), True)
    except expat.ExpatError as error:
        raise DataError(
            f"{path}: is not well-formed XML ({error}); expected a label list"
        ) from None
    return elements


def _as_utf8(raw: bytes, path: Path) -> bytes:
    """Return XML in UTF-8; expat cannot read the published lists in GB 2312."""
    head = re.match(rb"\s*<\?xml[^>]*encoding=[\"']([A-Za-z0-9._-]{1,40})[\"']", raw[:400])
    encoding = head[1].decode("ascii").lower() if head else "utf-8"
    require_choice(f"{path}: encoding", encoding, ("utf-8", "us-ascii", "ascii", "gb2312", "gbk"))
    try:
        return raw.decode("utf-8-sig" if encoding == "utf-8" else encoding).encode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: is not {encoding} text ({error.reason})") from None
