"""Reading the boxes of sequences from files, folders and arrays, for :func:`bioeval.tracking`.

:func:`sources_of` finds the sequences of an input, and :func:`read_sequences` reads the ground
truth and the result of each. A row is one box of one identity in one frame, in pixels::

    frame, id, left, top, width, height, flag, class, visibility
    1,     3,  794,  247, 71,    174,    1,    1,     0.8

A row of the ground truth is ignored if its flag is 0; both flag and class may be lacking. A tracker
may write anything behind the height.
"""

from __future__ import annotations

import configparser
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.arguments import require_integer, require_path
from bioeval.base.errors import DataError, Message, counted, nearest_name
from bioeval.scores.formats.tables import is_number
from bioeval.scores.formats.texts import existing_file, read_text
from bioeval.scores.metadata import columns_of

# The largest number of a frame.
_LAST_FRAME = 10**9

#: Number of names that a message or an error lists.
LISTED = 5


@dataclass(frozen=True)
class SequenceSource:
    """A file or an array of one sequence that is not yet read."""

    value: Any
    role: str  # how errors name it
    length: int | None = None  # number of frames, if a file states it
    length_from: str = ""  # place where the length is stated, in words


def are_trackers(truth: Any, result: Any) -> bool:
    """Whether a mapping holds results of several trackers instead of results of sequences."""
    return isinstance(result, Mapping) and _depth(result) > _depth(truth)


def _depth(value: Any) -> int:
    """Return how many levels of names are above a single sequence."""
    if isinstance(value, Mapping):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, str | os.PathLike):
        path = Path(value)
        is_folder_of_sequences = path.is_dir() and _truth_in(path) is None
        return 1 if is_folder_of_sequences else 0
    return 0


def sources_of(value: Any, role: str) -> dict[str, SequenceSource]:
    """Return the sequences of an input by name; a single sequence has the empty name."""
    if isinstance(value, Mapping):
        return _sources_by_name(value, role)
    if not isinstance(value, str | os.PathLike):
        return {"": SequenceSource(value, role)}
    path = require_path(role, value)
    if path.is_dir():
        return _sequences_in(path)
    if not path.exists():
        existing_file(path, "a file of boxes")  # raises an error with similar names
    # The file of a ground truth, if its folder is that of a sequence, has a length as well.
    folder = path.absolute().parent.parent
    if path.absolute() == folder / "gt" / "gt.txt":
        truth = _truth_in(folder)
        if truth is not None:
            return {"": replace(truth, value=path)}
    return {"": SequenceSource(path, role)}


def _sources_by_name(inputs: Mapping[Any, Any], role: str) -> dict[str, SequenceSource]:
    sources: dict[str, SequenceSource] = {}
    for key, sequence_input in inputs.items():
        name = str(key)
        sources_of_entry = sources_of(sequence_input, f"{role}[{name!r}]")
        if not name or name in sources or "" not in sources_of_entry:
            raise DataError(
                f"{role} has {name!r}, twice or for several sequences; expected each sequence "
                "once, by its name, with a file, an array or the folder of one sequence"
            )
        sources[name] = sources_of_entry[""]
    if not sources:
        raise DataError(f"{role} is an empty mapping; expected names and files or arrays")
    return sources


def _sequences_in(folder: Path) -> dict[str, SequenceSource]:
    truth = _truth_in(folder)
    if truth is not None:
        return {"": truth}
    entries = [entry for entry in sorted(folder.iterdir()) if not entry.name.startswith(".")]
    sources = {}
    for entry in entries:
        truth = _truth_in(entry) if entry.is_dir() else None
        if truth is not None:
            sources[entry.name] = truth
    if sources:  # a text file beside folders of sequences is no sequence: it may be a README.txt
        return sources
    files = [entry for entry in entries if entry.suffix == ".txt" and entry.is_file()]
    if files:
        return {file.stem: SequenceSource(file, str(file)) for file in files}
    if (folder / "data").is_dir():  # TrackEval has the results of a tracker there
        return _sequences_in(folder / "data")
    raise DataError(f"{folder}: holds no sequence; expected <sequence>/gt/gt.txt or <sequence>.txt")


def _truth_in(folder: Path) -> SequenceSource | None:
    """Return the ground truth in the folder of a sequence; None without a file ``gt/gt.txt``."""
    file, ini = folder / "gt" / "gt.txt", folder / "seqinfo.ini"
    if not file.is_file():
        return None
    if not ini.is_file():
        return SequenceSource(file, str(file))
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(read_text(ini))
        length = int(parser["Sequence"]["seqLength"])
        if not 1 <= length <= _LAST_FRAME:
            raise ValueError(f"seqLength = {length}")
    except (configparser.Error, KeyError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise DataError(
            f"{ini}: has no length of the sequence ({reason}); expected [Sequence] with "
            f"seqLength = a whole number from 1 to {_LAST_FRAME:,}"
        ) from None
    return SequenceSource(file, str(file), length, f"in {ini}")


def frames_of_sequences(frames: Any, truths: Mapping[str, SequenceSource]) -> dict[str, int]:
    """Return the checked option `frames` by the name of the sequence; empty if it is None."""
    if frames is None:
        return {}
    by_name = frames if isinstance(frames, Mapping) else dict.fromkeys(truths, frames)
    checked = {}
    for key, number in by_name.items():
        name = str(key)
        if name not in truths:
            raise DataError(
                f"`frames` has {name!r}; expected a number, or one for each sequence "
                f"by its name.{nearest_name(name, truths)}"
            )
        checked[name] = require_integer("frames", number, low=1, high=_LAST_FRAME)
    return checked


@dataclass(frozen=True)
class BoxRows:
    """The rows of one file or array, (n,)."""

    place: str  # the name of the source, and its word for a row: ``gt.txt: line``
    line: np.ndarray  # int64: number of the line or row in the source, from 1
    frame: np.ndarray  # int64
    identity: np.ndarray  # int64
    box: np.ndarray  # float64 (n, 4): left, top, width, height
    flag: np.ndarray  # float64: 0 if a row of the ground truth is ignored
    category: np.ndarray  # int64: the class; -1 without one
    world: bool  # whether column 8 is a world coordinate instead of a class

    def __len__(self) -> int:
        return len(self.frame)

    def where(self, i: int) -> str:
        """Return the file and line of row `i`."""
        return f"{self.place} {self.line[i]}"


class SequenceRows(NamedTuple):
    """The rows of one sequence."""

    name: str  # empty for a single sequence
    truth: BoxRows
    result: BoxRows
    frames: int | None  # the number of frames, if it is known
    frames_from: str  # the place where the number is stated, in words


def read_sequences(
    truths: Mapping[str, SequenceSource],
    results: Mapping[str, SequenceSource],
    frames: Mapping[str, int],
    role: str,
    with_class: bool = False,
) -> tuple[list[SequenceRows], list[Message]]:
    """Read each sequence of the ground truth; also return messages on results that are skipped.

    `frames` are from :func:`frames_of_sequences`, and errors call the results `role`.
    """
    if ("" in truths) != ("" in results):
        several, single = (role, "truth") if "" in truths else ("truth", role)
        raise DataError(
            f"{several} has several files and {single} is a single one; expected a folder, or a "
            "mapping of names, for both"
        )
    lacking = sorted(set(truths) - set(results))
    extra = sorted(set(results) - set(truths))
    if lacking:
        raise DataError(
            f"{role} has nothing for {len(lacking)} of {len(truths)} sequences of the ground "
            f"truth: {', '.join(lacking[:LISTED])}; expected a file <sequence>.txt for each."
            f"{nearest_name(lacking[0], set(extra))}"
        )
    messages = []
    if extra:
        messages.append(Message("results-without-truth", number=len(extra), names=extra[:LISTED]))
    sequences = []
    for name, truth in sorted(truths.items()):
        length, length_from = truth.length, truth.length_from
        if name in frames:  # the user knows better than the file
            length, length_from = frames[name], "given"
        result = results[name]
        truth_rows = read_boxes(truth.value, truth.role, with_class=with_class)
        result_rows = read_boxes(result.value, result.role, of_result=True)
        sequences.append(SequenceRows(name, truth_rows, result_rows, length, length_from))
    return sequences, messages


#: The order of columns.
_COLUMNS = ("frame", "id", "left", "top", "width", "height", "flag", "class")

# Columns that a row may lack, and in which a tracker may write anything.
_OPTIONAL = ("flag", "class")

# The columns that every row has.
_REQUIRED = _COLUMNS[: -len(_OPTIONAL)]

# Other names of the columns of a table, in motmetrics and in MOTChallenge.
_SYNONYMS = {
    "frame": ("frameid", "frame_id"),
    "left": ("x", "bb_left"),
    "top": ("y", "bb_top"),
    "width": ("w", "bb_width"),
    "height": ("h", "bb_height"),
    "flag": ("confidence", "conf"),
    "class": ("classid", "class_id"),
}

# Rows with this number of columns or more may have, in place of a class and a visibility, the world
# coordinates of MOTChallenge 2015: metres with decimals, or all -1.
_COLUMNS_WITH_WORLD = 10

# A float64 does not distinguish larger integers.
_LARGEST_ID = 2**53 - 1

# The largest coordinate: areas of boxes remain finite.
_LARGEST_COORDINATE = 1e100


def _are_whole(x: np.ndarray, low: float, high: float) -> np.ndarray:
    return (low <= x) & (x <= high) & (x == np.floor(x))


_CORNER = (lambda x: np.abs(x) <= _LARGEST_COORDINATE), "a finite number of pixels"
_SIDE = (lambda x: (x >= 0) & (x <= _LARGEST_COORDINATE)), "a finite number of pixels, 0 or more"

# The values that a column may have, as a test and in words. NaN, for text, passes no test.
_RULES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], str]] = {
    "frame": (
        partial(_are_whole, low=1, high=_LAST_FRAME),
        f"a whole number from 1 to {_LAST_FRAME:,} (add 1 where frames are counted from 0)",
    ),
    "id": (
        partial(_are_whole, low=0, high=_LARGEST_ID),
        f"a whole number from 0 to {_LARGEST_ID:,}",
    ),
    "class": (partial(_are_whole, low=-_LARGEST_ID, high=_LARGEST_ID), "a whole number"),
    "flag": (np.isfinite, "a number, 0 for a row to ignore"),
    "left": _CORNER,
    "top": _CORNER,
    "width": _SIDE,
    "height": _SIDE,
}


class _Table(NamedTuple):
    """The columns of a file or an array with n rows."""

    place: str  # as in BoxRows
    line: np.ndarray  # int64 (n,): as in BoxRows
    names: tuple[str, ...]  # the names of the first columns, if there are that many
    cells: list[Any]  # every column as it is written: n texts, or n numbers
    numbers: list[np.ndarray]  # the columns as float64 (n,), NaN for text; of a file only the first


def read_boxes(
    value: Any, role: str = "", of_result: bool = False, with_class: bool = False
) -> BoxRows:
    """Read a box in each row of a file or an array.

    - `of_result`: the rows are of a tracker, which may write anything in the columns behind the
      box, and may have no row
    - `with_class`: column 8 is a class, and not a world coordinate
    """
    names = _REQUIRED if of_result else _COLUMNS
    if isinstance(value, Path):
        table = _table_of_file(value, names, of_result)
    else:
        table = _table_of_array(value, role, names, of_result)
    columns = dict(zip(table.names, table.numbers, strict=False))
    world = "class" in columns and not with_class and _has_world_coordinates(table)
    if world:
        del columns["class"]
    _require_values(table, columns)

    # An empty file has no columns, and a result neither flags nor classes.
    n = len(table.line)
    empty = np.zeros(0)
    box = [columns.get(name, empty) for name in ("left", "top", "width", "height")]
    return BoxRows(
        place=table.place,
        line=table.line,
        frame=columns.get("frame", empty).astype(np.int64),
        identity=columns.get("id", empty).astype(np.int64),
        box=np.ascontiguousarray(np.stack(box, axis=1), dtype=np.float64),
        flag=columns.get("flag", np.ones(n)),
        category=columns.get("class", np.full(n, -1)).astype(np.int64),
        world=world,
    )


def _has_world_coordinates(table: _Table) -> bool:
    """Whether columns 8 and 9 are metres, and not a class and a visibility.

    A visibility is from 0 to 1, or -1 if it is unknown.
    """
    if len(table.cells) < _COLUMNS_WITH_WORLD:
        return False
    category, visibility = table.numbers[len(_COLUMNS) - 1 : len(_COLUMNS) + 1]
    is_class = (category >= -1) & (category == np.floor(category))
    is_visibility = ((visibility >= 0) & (visibility <= 1)) | (visibility == -1)
    return not (is_class & is_visibility).all()


def _require_values(table: _Table, columns: Mapping[str, np.ndarray]) -> None:
    """Raise an error about the first cell, line by line, with a value that is not possible."""
    wrong_cells = []  # the first of each column
    for place, (name, values) in enumerate(columns.items()):
        is_possible, _ = _RULES[name]
        wrong_rows = np.flatnonzero(~is_possible(values))
        if wrong_rows.size:
            wrong_cells.append((int(wrong_rows[0]), place, name))
    if not wrong_cells:
        return
    row, place, name = min(wrong_cells)
    cell = table.cells[place][row]
    text = repr(cell) if isinstance(cell, str) else f"{cell:g}"
    _, expected = _RULES[name]
    raise DataError(f"{table.place} {table.line[row]}: {name} is {text}; expected {expected}")


def _table_of_array(value: Any, role: str, names: tuple[str, ...], of_result: bool) -> _Table:
    """Return the columns of an array, or the named columns of a table of pandas."""
    columns_by_name = columns_of(value)
    if columns_by_name is not None:
        names, value = _named_columns(columns_by_name, role, names)
    expected = len(_REQUIRED)
    try:
        array = np.asarray(value)
        array = np.zeros(()) if array.dtype.kind == "c" else array.astype(np.float64)
    except (TypeError, ValueError):
        array = np.zeros(())
    if of_result and array.shape and not array.size:  # a tracker may find nothing
        array = np.zeros((0, expected))
    if isinstance(value, np.ma.MaskedArray) or array.ndim != 2 or array.shape[1] < expected:
        shape = f" of shape {array.shape}" if array.shape else ""
        raise DataError(
            f"{role} is {type(value).__name__}{shape}; expected the path of a file or folder, an "
            f"array of numbers with {expected} columns or more ({', '.join(_REQUIRED)}), or a "
            "mapping of names to either"
        )
    line = np.arange(1, len(array) + 1)
    columns = list(array.T)
    return _Table(f"{role}: row", line, names, columns, columns)


def _named_columns(
    columns: Mapping[str, Any], role: str, names: tuple[str, ...]
) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the names of boxes that a table has, and the columns, (n, names)."""
    name_in_table = {name.casefold(): name for name in columns}
    found: dict[str, Any] = {}
    for name in names:
        for synonym in (name, *_SYNONYMS.get(name, ())):
            if synonym in name_in_table:
                found[name] = columns[name_in_table[synonym]]
                break
        if name not in found and name not in _OPTIONAL:
            raise DataError(
                f"{role} is a table without the column {name!r}; its columns are "
                f"{', '.join(map(repr, columns))}; expected {', '.join(_REQUIRED)}"
            )
    return tuple(found), np.column_stack(list(found.values()))


def _table_of_file(path: Path, names: tuple[str, ...], of_result: bool) -> _Table:
    """Return the columns of a file; blank lines and lines that begin with # have no box."""
    is_empty = path.is_file() and path.stat().st_size == 0
    text = ""
    if not (is_empty and of_result):  # a tracker may find nothing
        text = read_text(existing_file(path, "a file of boxes"))
    lines = {
        number: line
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip() and not line.lstrip().startswith("#")
    }
    if not (lines or of_result or "#" in text):
        raise DataError(f"{path}: holds nothing but blank lines; expected a box in each line")
    first_line = next(iter(lines.values()), "")
    separator = "," if "," in first_line else None  # None: any number of blanks
    rows = [[cell.strip() for cell in line.split(separator)] for line in lines.values()]
    expected = len(_REQUIRED)
    for number, row in zip(lines, rows, strict=True):
        if len(row) != len(rows[0]) or len(row) < expected:
            raise DataError(
                f"{path}: line {number}: has {counted(len(row), 'columns')} separated by "
                f"{'commas' if separator else 'blanks'}; expected {expected} or more, as many in "
                "each line"
            )
    cells = list(map(list, zip(*rows, strict=True)))
    # A column of visibility may follow the named columns.
    numbers = [
        np.array([float(cell) if is_number(cell) else np.nan for cell in column])
        for column in cells[: len(names) + 1]
    ]
    return _Table(f"{path}: line", np.array([*lines], dtype=np.int64), names, cells, numbers)
