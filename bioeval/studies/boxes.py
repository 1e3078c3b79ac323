"""Reading boxes with their identities and frames from files, folders and arrays."""

from __future__ import annotations

import configparser
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.arguments import require_integer, require_path
from bioeval.base.errors import DataError, Message, counted, nearest_name
from bioeval.scores.formats.tables import existing_file, is_number, read_text
from bioeval.scores.metadata import columns_of

#: The order of columns.
_COLUMNS = ("frame", "id", "left", "top", "width", "height", "flag", "class")

# Columns that a row may lack, and in which a tracker may write anything.
_OPTIONAL = ("flag", "class")

# Rows with this number of columns or more may have, in place of a class and a visibility, the world
# coordinates of MOTChallenge 2015: metres with decimals, or all -1.
_COLUMNS_WITH_WORLD = 10

# A float64 does not distinguish larger integers.
_LARGEST_ID = 2**53 - 1

#: The largest number of a frame.
LAST_FRAME = 10**9

# The largest coordinate: areas of boxes remain finite.
_LARGEST_COORDINATE = 1e100

#: Number of names that a message or an error lists.
LISTED = 5

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


def _whole(low: float, high: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: (low <= x) & (x <= high) & (x == np.floor(x))


_ID = _whole(0, _LARGEST_ID), f"a whole number from 0 to {_LARGEST_ID:,}"
_CORNER = (lambda x: np.abs(x) <= _LARGEST_COORDINATE), "a finite number of pixels"
_SIDE = (lambda x: (x >= 0) & (x <= _LARGEST_COORDINATE)), "a finite number of pixels, 0 or more"

# The values that a column may have, as a test and in words.
_RULES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], str]] = {
    "frame": (
        _whole(1, LAST_FRAME),
        f"a whole number from 1 to {LAST_FRAME:,} (add 1 where frames are counted from 0)",
    ),
    "id": _ID,
    "class": (_whole(-_LARGEST_ID, _LARGEST_ID), "a whole number"),
    "flag": (np.isfinite, "a number, 0 for a row to ignore"),
    "left": _CORNER,
    "top": _CORNER,
    "width": _SIDE,
    "height": _SIDE,
}


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


def read_boxes(
    value: Any, role: str = "", of_result: bool = False, with_class: bool = False
) -> BoxRows:
    """Read a box in each row of a file or an array.

    - `of_result`: the rows are of a tracker, which may write anything in the columns behind the
      box, and may have no row
    - `with_class`: column 8 is a class, and not a world coordinate
    """
    least = len(_COLUMNS) - len(_OPTIONAL)
    names = _COLUMNS[:least] if of_result else _COLUMNS

    if isinstance(value, Path):
        place = f"{value}: line"
        line, written, columns = _columns_of_text(value, names, least, of_result)
    else:
        if (columns_of_table := columns_of(value)) is not None:
            # The names that a table has, and their columns.
            name_in_table = {name.casefold(): name for name in columns_of_table}
            column_of: dict[str, str] = {}
            for name in names:
                known = [x for x in (name, *_SYNONYMS.get(name, ())) if x in name_in_table]
                if known:
                    column_of[name] = name_in_table[known[0]]
                elif name not in _OPTIONAL:
                    raise DataError(
                        f"{role} is a table without the column {name!r}; its columns are "
                        f"{', '.join(map(repr, columns_of_table))}; expected "
                        f"{', '.join(names[:least])}"
                    )
            names = tuple(column_of)
            value = np.column_stack([columns_of_table[x] for x in column_of.values()])
        place = f"{role}: row"
        array = _rows_of_boxes(value, role, names[:least], of_result)
        line, written = np.arange(1, len(array) + 1), list(array.T)
        columns = written
    numbers = dict(zip(names, columns, strict=False))
    world = False
    if not with_class and "class" in numbers and len(written) >= _COLUMNS_WITH_WORLD:
        # Columns 8 and 9 are a class and a visibility, from 0 to 1 or -1 if unknown; or metres.
        category, visibility = numbers["class"], columns[len(names)]
        is_class = (category >= -1) & (category == np.floor(category))
        is_visibility = ((visibility >= 0) & (visibility <= 1)) | (visibility == -1)
        world = not (is_class & is_visibility).all()
        if world:
            del numbers["class"]
    wrong_cells = []  # the first of each column
    for column, (name, values) in enumerate(numbers.items()):
        wrong_rows = np.flatnonzero(~_RULES[name][0](values))
        wrong_cells += [(int(row), column, name) for row in wrong_rows[:1]]
    if wrong_cells:
        row, column, name = min(wrong_cells)
        cell = written[column][row]
        text = repr(cell) if isinstance(cell, str) else f"{cell:g}"
        raise DataError(f"{place} {line[row]}: {name} is {text}; expected {_RULES[name][1]}")
    no_rows = np.zeros(0)
    sides = [numbers.get(name, no_rows) for name in ("left", "top", "width", "height")]
    return BoxRows(
        place=place,
        line=line,
        frame=numbers.get("frame", no_rows).astype(np.int64),
        identity=numbers.get("id", no_rows).astype(np.int64),
        box=np.ascontiguousarray(np.stack(sides, axis=1), dtype=np.float64),
        flag=numbers.get("flag", np.ones(len(line))),
        category=numbers.get("class", np.full(len(line), -1)).astype(np.int64),
        world=world,
    )


def _rows_of_boxes(value: Any, role: str, names: tuple[str, ...], of_result: bool) -> np.ndarray:
    least, listed = len(names), ", ".join(names)
    try:
        table = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.zeros(())
    if of_result and table.shape and not table.size:
        table = np.zeros((0, least))
    if isinstance(value, np.ma.MaskedArray) or table.ndim != 2 or table.shape[1] < least:
        shape = f" of shape {table.shape}" if table.shape else ""
        raise DataError(
            f"{role} is {type(value).__name__}{shape}; expected the path of a file or folder, an "
            f"array of numbers with {least} columns or more ({listed}), or a mapping of names to "
            "either"
        )
    return table


def _columns_of_text(
    path: Path, names: tuple[str, ...], least: int, of_result: bool
) -> tuple[np.ndarray, list[Any], list[np.ndarray]]:
    """Return the numbers of the lines, and the columns as texts and as numbers, NaN for text.

    Blank lines and lines that begin with # have no box.
    """
    is_empty = of_result and path.is_file() and path.stat().st_size == 0
    text = "" if is_empty else read_text(existing_file(path, "a file of boxes"))
    lines = {
        number: line
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip() and not line.lstrip().startswith("#")
    }
    if not (lines or of_result or "#" in text):
        raise DataError(f"{path}: holds nothing but blank lines; expected a box in each line")
    comma = "," if "," in next(iter(lines.values()), "") else None
    cells = [[cell.strip() for cell in line.split(comma)] for line in lines.values()]
    for number, row in zip(lines, cells, strict=True):
        if len(row) != len(cells[0]) or len(row) < least:
            raise DataError(
                f"{path}: line {number}: has {counted(len(row), 'columns')} separated by "
                f"{'commas' if comma else 'blanks'}; expected {least} or more, as many in each line"
            )
    line = np.array([*lines], dtype=np.int64)
    written = [*map(list, zip(*cells, strict=True))]
    # A column of visibility may follow the named columns.
    numbers = [
        np.array([float(cell) if is_number(cell) else np.nan for cell in column])
        for column in written[: len(names) + 1]
    ]
    return line, written, numbers


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
    if isinstance(value, Mapping):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, str | os.PathLike):
        path = Path(value)
        return int(path.is_dir() and _sequence(path) is None)
    return 0


def sources_of(value: Any, role: str) -> dict[str, SequenceSource]:
    """Return the sequences of an input by name; a single sequence has the empty name."""
    if isinstance(value, Mapping):
        sources = {}
        for key, sequence_input in value.items():
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
    if not isinstance(value, str | os.PathLike):
        return {"": SequenceSource(value, role)}
    path = require_path(role, value)
    if not path.is_dir():
        if not path.exists():
            existing_file(path, "a file of boxes")  # raises an error with similar names
        folder = path.absolute().parent.parent
        if path.absolute() == folder / "gt" / "gt.txt" and (sequence := _sequence(folder)):
            return {"": replace(sequence, value=path)}
        return {"": SequenceSource(path, role)}
    return _sequences_in(path)


def _sequences_in(folder: Path) -> dict[str, SequenceSource]:
    if (single := _sequence(folder)) is not None:
        return {"": single}
    entries = [entry for entry in sorted(folder.iterdir()) if not entry.name.startswith(".")]
    folders = {entry.name: _sequence(entry) for entry in entries if entry.is_dir()}
    sources = {name: source for name, source in folders.items() if source is not None}
    if sources:  # a text file beside folders of sequences is no sequence: it may be a README.txt
        return sources
    files = [entry for entry in entries if entry.suffix == ".txt" and entry.is_file()]
    if not files and (folder / "data").is_dir():  # TrackEval has the results of a tracker there
        return _sequences_in(folder / "data")
    if not files:
        raise DataError(
            f"{folder}: holds no sequence; expected <sequence>/gt/gt.txt or <sequence>.txt"
        )
    return {file.stem: SequenceSource(file, str(file)) for file in files}


def _sequence(folder: Path) -> SequenceSource | None:
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
        if not 1 <= length <= LAST_FRAME:
            raise ValueError(f"seqLength = {length}")
    except (configparser.Error, KeyError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise DataError(
            f"{ini}: has no length of the sequence ({reason}); expected [Sequence] with "
            f"seqLength = a whole number from 1 to {LAST_FRAME:,}"
        ) from None
    return SequenceSource(file, str(file), length, f"in {ini}")


def read_sequences(
    truths: Mapping[str, SequenceSource],
    results: Mapping[str, SequenceSource],
    frames: Mapping[str, int],
    role: str,
    with_class: bool = False,
) -> tuple[list[tuple[str, BoxRows, BoxRows, int | None, str]], list[Message]]:
    """Return each sequence, and remarks on skipped results.

    Of a sequence its name, its ground truth, its result, the number of frames, if known, and the
    place where the number is stated, in words; a single sequence has no name.
    """
    if ("" in truths) != ("" in results):
        several, single = (role, "truth") if "" in truths else ("truth", role)
        raise DataError(
            f"{several} has several files and {single} is a single one; expected a folder, or a "
            "mapping of names, for both"
        )
    if lacking := sorted(set(truths) - set(results)):
        raise DataError(
            f"{role} has nothing for {len(lacking)} of {len(truths)} sequences of the ground "
            f"truth: {', '.join(lacking[:LISTED])}; expected a file <sequence>.txt for each."
            f"{nearest_name(lacking[0], set(results) - set(truths))}"
        )
    notes = []
    if extra := sorted(set(results) - set(truths)):
        notes.append(Message("results-without-truth", number=len(extra), names=extra[:LISTED]))
    sequences = []
    for name, truth in sorted(truths.items()):
        length, source = truth.length, truth.length_from
        if name in frames:
            length, source = frames[name], "given"
        result = results[name]
        truth_rows = read_boxes(truth.value, truth.role, with_class=with_class)
        result_rows = read_boxes(result.value, result.role, of_result=True)
        sequences.append((name, truth_rows, result_rows, length, source))
    return sequences, notes


def frames_given(frames: Any, truths: Mapping[str, SequenceSource]) -> dict[str, int]:
    """Return the checked numbers of frames by the name of the sequence; empty if none is given."""
    if frames is None:
        return {}
    checked = {}
    for key, number in (
        frames if isinstance(frames, Mapping) else dict.fromkeys(truths, frames)
    ).items():
        name = str(key)
        if name not in truths:
            raise DataError(
                f"`frames` has {name!r}; expected a number, or one for each sequence "
                f"by its name.{nearest_name(name, truths)}"
            )
        checked[name] = require_integer("frames", number, low=1, high=LAST_FRAME)
    return checked
