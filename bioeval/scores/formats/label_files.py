"""Labels of one side from a file: a CSV file of labels, or a list of names of images.

A list of images is text with a name on each line, or a CSV file with a column of names; its
identities and cameras take the place of a CSV file of labels.

Cells of CSV files stay the text they are: ``007``, ``NA`` and ``1e5`` are labels like any other.
Only blanks around a cell are dropped, since two subjects never differ by these alone. A blank cell
is an unknown value of metadata, as ``""`` is in Python; a label cannot be unknown.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.csv_cells import as_cell, from_cell
from bioeval.base.errors import (
    DataError,
    counted,
    nearest_name,
    require_choice,
)
from bioeval.scores.formats.archive import open_array, require_text
from bioeval.scores.formats.files import (
    content,
    decode,
    decoded_lines,
    existing_file,
    guarded,
    read_bounded,
    text_array,
)
from bioeval.scores.formats.format import ReadOptions, say
from bioeval.scores.formats.spellings import MOST_COLUMNS, is_number, require_few, require_names
from bioeval.scores.image_names import PATTERNS, looks_like, parse_names
from bioeval.scores.labels import IMAGE_COLUMNS, LABEL_COLUMNS, NAME_COLUMNS

_FIRST_LINE = 1 << 16  # characters to look at


@dataclass(frozen=True)
class TextTable:
    """The rows of a CSV file as columns of text."""

    path: Path
    columns: dict[str, list[str]]
    lines: list[int] = field(repr=False)

    def find(self, *names: str) -> str | None:
        """Return the first of `names` that is a column, whatever its case."""
        folded = {column.casefold(): column for column in self.columns}
        for name in names:
            if name in folded:
                return folded[name]
        return None

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the columns as arrays of text."""
        return {k: text_array(cells, f"{self.path}: {k}") for k, cells in self.columns.items()}

    def at(self, row: int) -> str:
        """Return the file and the line of a row, for messages."""
        return f"{self.path}: line {self.lines[row]}"


@dataclass(frozen=True)
class Labels:
    """Identities and metadata of templates, from a CSV file."""

    path: Path
    label: np.ndarray
    meta: dict[str, np.ndarray]
    has_header: bool = True
    column: str = ""  # of the labels, where the reader chose it among several

    def expect(self, count: int, input_name: str) -> None:
        """Raise unless there are `count` labels."""
        if len(self.label) == count:
            return
        hint = ""
        if not self.has_header and len(self.label) == count + 1:
            hint = (
                f" Its first line, {str(self.label[0])!r}, was read as a label: call that column "
                "'label'"
            )
        raise DataError(
            f"{self.path}: {len(self.label)} labels for {count} {input_name}; expected one for "
            f"each.{hint}"
        )

    def require_names(self, meta: Mapping[str, np.ndarray], path: Path) -> None:
        """Raise where the rows have other names than the templates in the file at `path`.

        Labels are those of the templates row by row, so that they would be of others.
        """
        for column in NAME_COLUMNS:
            if column not in self.meta or column not in meta:
                continue
            mine, theirs = ([*map(str, x.tolist())] for x in (self.meta[column], meta[column]))
            differ = [row for row, name in enumerate(mine) if name != theirs[row]]
            if not differ:
                continue
            row = differ[0]
            advice = "expected the names of the same templates in the same order"
            if sorted(mine) == sorted(theirs):
                advice = "both have the same names: bring them into the same order"
            raise DataError(
                f"{self.path}: its column {column!r} and the templates of {path.name} have other "
                f"names in {len(differ):,} of {counted(len(mine), 'rows')}, the first is row {row} "
                f"({mine[row]!r} and {theirs[row]!r}); {advice}"
            )


def side_arguments(probe: Labels | None, gallery: Labels | None) -> dict[str, Any]:
    """Return the labels and metadata of the sides that have some, as arguments of Scores."""
    arguments: dict[str, Any] = {}
    if probe is not None:
        arguments |= {"labels": probe.label, "probe_meta": probe.meta}
    if gallery is not None:
        arguments |= {"gallery_labels": gallery.label, "gallery_meta": gallery.meta}
    return arguments


def read_table(path: str | Path) -> TextTable:
    """Read a CSV file in UTF-8, with a header.

    Cells are separated by commas, or by semicolons or tabs where the first line has no comma.
    A single column has a header only where its first cell is one of `LABEL_COLUMNS`, and otherwise
    an empty name.
    """
    path = existing_file(path, "the CSV file")
    kind = content(path)
    if kind != "text":
        input_name = {"npy": "a NumPy array", "zip": "a zip or .npz file"}.get(kind, kind)
        raise DataError(f"{path}: is {input_name}; expected CSV text in UTF-8")
    text = io.StringIO(decode(read_bounded(path), path), newline="")
    first = text.readline()
    text.seek(0)
    reader = csv.reader(text, delimiter=_mark(first) or ",", strict=True)
    columns: dict[str, list[str]] = {}
    lines = []
    blank = 0  # the first of the blank lines, of which none may be followed by others
    line = 1
    try:
        for row in reader:
            cells = [*map(from_cell, map(str.strip, row))]
            here, line = line, reader.line_num + 1
            if not any(cells):
                blank = blank or here
                continue
            if blank:
                raise DataError(f"{path}: line {blank}: is blank")
            if not columns:
                names = _header(path, here, cells)
                columns = {name: [] for name in names}
                if names is cells:
                    continue
            _append(columns, cells, f"{path}: line {here}")
            lines.append(here)
    except csv.Error as error:
        raise DataError(f"{path}: line {reader.line_num}: {error}; expected CSV") from None
    if not lines:
        held = "holds nothing but blank lines"
        if columns:
            held = "has a header but no rows"
        raise DataError(f"{path}: {held}")
    if len(columns) > 1:  # a single column without a header is called so, too
        columns.pop("", None)
    return TextTable(path, columns, lines)


def _mark(line: str) -> str | None:
    """Return the mark between the cells of a line; None without one."""
    for mark in ",;\t":
        if mark in line:
            return mark
    return None


def _header(path: Path, line: int, cells: list[str]) -> list[str]:
    """Return the names of the columns, from the first line unless that is data already."""
    require_few(cells, f"{path}: line {line}")
    if len(cells) == 1 and cells[0].casefold() not in LABEL_COLUMNS:
        return [""]
    require_names(cells, f"{path}: line {line}")
    return cells


def _append(columns: dict[str, list[str]], cells: list[str], where: str) -> None:
    if len(cells) != len(columns):
        raise DataError(
            f"{where}: {len(cells)} cells; expected {len(columns)} ({', '.join(columns)})"
        )
    for column, cell in zip(columns.values(), cells, strict=True):
        column.append(cell)


def first_numbers(path: Path) -> int:
    """Return how many numbers the first line of a text has, 0 where it has others."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            line = file.readline(_FIRST_LINE)
    except UnicodeDecodeError:
        return 0
    cells = line.split(_mark(line))
    if len(line) == _FIRST_LINE:
        cells.pop()  # cut off
    return len(cells) if all(map(is_number, map(str.strip, cells))) else 0


def matrix_advice(path: Path) -> str:
    """Return advice for a text that begins like a matrix of numbers; ``""`` for any other."""
    if first_numbers(path) < 3:
        return ""  # a list without its header, more likely
    return (
        "begins with a line of numbers, as a matrix does; a matrix of scores needs "
        f"{say('labels')}, and with more than {MOST_COLUMNS:,} columns must be a .npy or .npz file "
        "(in a list of pairs, write the names of the columns in a first line, such as 'genuine "
        "template_a template_b score')"
    )


def read_labels(path: str | Path, meta: Mapping[str, str] | None = None) -> Labels:
    """Read the labels, and every further column as metadata, of a CSV file.

    The labels are a column of `LABEL_COLUMNS`, or the only one of a file without a header. `meta`
    renames columns: ``{"camera": "cam_id"}`` gives the column ``cam_id`` as ``camera``.
    """
    table = read_table(path)
    has_header = "" not in table.columns
    key = table.find("", *LABEL_COLUMNS)
    if key is None:
        raise DataError(
            f"{table.path}: no column of labels; its columns are "
            f"{', '.join(map(repr, table.columns))}, expected one called "
            f"{', '.join(map(repr, LABEL_COLUMNS))}"
        )
    columns = table.arrays()
    label = columns.pop(key)
    for row in np.flatnonzero(label == "")[:1]:
        raise DataError(f"{table.at(row)}: the cell {key!r} is blank; expected a subject")
    chosen = key if len(table.columns) > 1 and key != LABEL_COLUMNS[0] else ""
    labels = Labels(table.path, label, columns, has_header, chosen)
    return _renamed(labels, meta, "no column", "the others are", "none")


def check_cells(values: np.ndarray, input_name: str, named: Path) -> None:
    """Raise where a cell of CSV would not be read back as the same text."""
    for row, value in enumerate(np.asarray(values).tolist()):
        text = str(value)
        if not text or text != text.strip() or "\x00" in text or "\r" in text:
            raise DataError(
                f"{named}: {input_name} {row} is {text!r}; CSV would change this text; save to a "
                ".npz file"
            )


def as_cells(values: Iterable[Any]) -> list[Any]:
    """Return the cells of a column, its text as :func:`as_cell` writes it."""
    return [as_cell(value) if isinstance(value, str) else value for value in values]


def read_side(
    path: str | Path,
    options: ReadOptions,
    meta: Mapping[str, str] | None = None,
) -> Labels:
    """Read the labels of one side: a CSV file, a .npy array, or, with `names_of`, images."""
    path = Path(path)
    if path.is_file() and content(path) == "npy":
        return _array_of_labels(path, options, meta)
    if options.names_of is not None:
        return _renamed(read_names(path, options.names_of), meta)
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
    return Labels(path, array, {})


def labels_of_names(names: np.ndarray, names_of: str, where: str, path: Path) -> Labels:
    """Return the identities and metadata that an array of image names holds."""
    require_choice("names_of", names_of, tuple(PATTERNS))
    if names.dtype.kind == "S":
        names = np.char.decode(names, "utf-8")
    parsed = parse_names(names.tolist(), names_of, where=where)
    return Labels(path, parsed.label, _with_names(parsed.meta, names.tolist()))


def read_names(path: str | Path, names_of: str) -> Labels:
    """Read the identity and the metadata of each image of a list, in its order.

    The list is text with one name on each line, or a CSV file with a column of `IMAGE_COLUMNS`.
    """
    require_choice("names_of", names_of, tuple(PATTERNS))
    path = existing_file(path, "a list of names")
    kind = content(path)
    if kind != "text":
        raise DataError(f"{path}: is {kind}; expected text with a name on each line")
    rest: dict[str, np.ndarray] = {}
    if path.suffix.lower() == ".csv" and names_of != "vehicleid":
        names, rest = _csv_names(path)
    else:
        names = decoded_lines(path)
    parsed = parse_names(names, names_of, where=str(path))
    return Labels(path, parsed.label, {**_with_names(parsed.meta, names), **rest})


def _with_names(meta: Mapping[str, np.ndarray], names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return what names of images say, with the names."""
    if "camera" not in meta:  # lines of an image and its identity
        return {"name": meta["image"], **meta}
    return {"name": np.array([*map(str.strip, names)]), **meta}


def _csv_names(path: Path) -> tuple[list[str], dict[str, np.ndarray]]:
    table = read_table(path)
    key = table.find("", *IMAGE_COLUMNS)
    if key is None:
        columns = list(table.columns)
        if len(columns) == 1:  # a list without a header
            return decoded_lines(path), {}
        raise DataError(
            f"{path}: no column of names; its columns are {', '.join(map(repr, columns))}, "
            f"expected one called {', '.join(map(repr, IMAGE_COLUMNS))}"
        )
    names = table.columns.pop(key)
    if "" in names:
        raise DataError(f"{table.at(names.index(''))}: the cell {key!r} is blank; expected a name")
    return names, table.arrays()


def _renamed(
    labels: Labels,
    meta: Mapping[str, str] | None,
    lacks: str = "these names have no",
    have: str = "they have",
    nothing: str = "nothing but labels",
) -> Labels:
    """Return labels whose metadata columns are renamed by `meta`."""
    new_names = {}
    for name, column in (meta or {}).items():
        if column not in labels.meta:
            raise DataError(
                f"{labels.path}: {lacks} {column!r} (named by {name}={column}); {have} "
                f"{', '.join(map(repr, labels.meta)) or nothing}."
                f"{nearest_name(column, labels.meta)}"
            )
        new_names[column] = name
    columns = {new_names.get(name, name): values for name, values in labels.meta.items()}
    return replace(labels, meta=columns)
