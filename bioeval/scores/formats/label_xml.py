"""Label lists in XML, as VeRi-776 and AI City publish them.

XML is read with no entities, no document type and nothing fetched.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, require_choice
from bioeval.scores.formats.csv import Labels
from bioeval.scores.formats.files import existing_file

# What the attributes of an item of a label list are called here; others keep their names.
_ATTRIBUTES = {"vehicleID": "label", "cameraID": "camera", "imageName": "image"}


MAX_XML_BYTES = 1 << 28


def read_label_xml(path: Path) -> Labels:
    """Read ``<Item imageName= vehicleID= cameraID= />`` from a list of VeRi-776 or AI City."""
    items = xml_items(path)
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
    label = _as_numbers(columns.pop("label"))
    return Labels(path, label, {name: _as_numbers(cells) for name, cells in columns.items()}, True)


def _as_numbers(cells: list[str]) -> np.ndarray:
    """Return whole numbers as int64, ``c001`` as 1, and everything else as text."""
    stems = [cell[1:] if re.fullmatch(r"c\d{1,9}", cell, re.ASCII) else cell for cell in cells]
    if all(re.fullmatch(r"-?\d{1,18}", stem, re.ASCII) for stem in stems):
        return np.array([int(stem) for stem in stems], dtype=np.int64)
    return np.array(cells)


def xml_items(path: Path) -> list[dict[str, str]]:
    """Return the attributes of each ``<Item/>`` of an XML file.

    A document type is refused, and with it every entity that a file could define: there is
    nothing to expand and nothing to fetch.
    """
    from xml.parsers import expat

    path = existing_file(path, "an XML list of labels")
    with open(path, "rb") as file:
        raw = file.read(MAX_XML_BYTES + 1)
    if len(raw) > MAX_XML_BYTES:
        raise DataError(f"{path}: is larger than {MAX_XML_BYTES >> 20} MiB; expected a label list")
    items: list[dict[str, str]] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if name == "Item":
            items.append(attributes)

    def refuse(*_: Any) -> None:
        raise DataError(
            f"{path}: declares a document type (DOCTYPE), with which a file could define entities; "
            "bioeval reads none. Take the declaration out"
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
    if not items:
        raise DataError(
            f"{path}: holds no <Item imageName=... vehicleID=... cameraID=...>; expected a label "
            "list as VeRi-776 and AI City have them"
        )
    return items


def _as_utf8(raw: bytes, path: Path) -> bytes:
    """Return XML in UTF-8: the published lists are in GB 2312, which expat does not know."""
    head = re.match(rb"\s*<\?xml[^>]*encoding=[\"']([A-Za-z0-9._-]{1,40})[\"']", raw[:400])
    encoding = head[1].decode("ascii").lower() if head else "utf-8"
    require_choice(f"{path}: encoding", encoding, ("utf-8", "us-ascii", "ascii", "gb2312", "gbk"))
    try:
        return raw.decode("utf-8-sig" if encoding == "utf-8" else encoding).encode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: is not {encoding} text ({error.reason})") from None
