"""Rows of boxes with identity, frame and position, from files, folders and arrays."""

from __future__ import annotations

import configparser
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.arguments import require_integer, require_path
from bioeval.base.errors import (
    Argument,
    DataError,
    Part,
    Words,
    counted,
    nearest_name,
    received,
    require_choice,
)
from bioeval.base.messages import Message
from bioeval.scores.formats.files import existing_file, read_text

#: The order of the columns in the formats that have a name.
LAYOUTS = {
    "motchallenge": ("frame", "id", "left", "top", "width", "height", "flag", "class"),
    "cityflow": ("camera", "id", "frame", "left", "top", "width", "height"),
}

#: Names of columns.
COLUMNS = ("camera", "frame", "id", "left", "top", "width", "height", "flag", "class", "-")

#: Columns that each row has.
NEEDED = ("frame", "id", "left", "top", "width", "height")

# The MOTChallenge format of 2015 has ten columns: world coordinates where later ones have a class.
_OF_2015 = 10

# Above, a float64 does not determine an integer.
_LARGEST_ID = 2**53 - 1

#: Largest number of a frame.
LAST_FRAME = 10**9
_LARGEST_BOX = 1e100

#: Names in a message or an error.
LISTED = 5


def _whole(low: float, high: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: (low <= x) & (x <= high) & (x == np.floor(x))


def _pixels(x: np.ndarray) -> np.ndarray:
    return np.abs(x) <= _LARGEST_BOX


_SIDE = "expected a finite number of pixels"

# Which values a column can have, and how that is said.
_RULES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], str]] = {
    "frame": (_whole(1, LAST_FRAME), f"expected a whole number from 1 to {LAST_FRAME:,}"),
    "id": (_whole(0, _LARGEST_ID), f"expected a whole number from 0 to {_LARGEST_ID:,}"),
    "class": (_whole(-_LARGEST_ID, _LARGEST_ID), "expected a whole number"),
    "flag": (np.isfinite, "expected a number, 0 for a row to ignore"),
    "left": (_pixels, _SIDE),
    "top": (_pixels, _SIDE),
    "width": (lambda x: _pixels(x) & (x >= 0), _SIDE),
    "height": (lambda x: _pixels(x) & (x >= 0), _SIDE),
}


@dataclass(frozen=True)
class Rows:
    """The rows of one file or array; arrays of shape (n,), boxes (n, 4)."""

    place: str  # the file, or other source
    line_word: str
    line: np.ndarray  # int64: the line of each row there, from 1
    camera: np.ndarray  # str: empty if there is one camera only
    frame: np.ndarray  # int64
    identity: np.ndarray  # int64
    box: np.ndarray  # float64: left, top, width, height
    flag: np.ndarray  # float64: 0 where a row of the ground truth is ignored
    category: np.ndarray  # int64: the class, numbered as by MOTChallenge; -1 without one

    def __len__(self) -> int:
        return len(self.frame)

    def where(self, i: int) -> str:
        """Return the file and line of row `i`."""
        return f"{self.place}: {self.line_word} {self.line[i]}"


def parse_columns(columns: Any) -> tuple[str, ...]:
    """Return the names of the columns, given as a name of a format or as the names themselves."""
    if not isinstance(columns, str):
        require_choice("columns", columns, LAYOUTS)
    if columns in LAYOUTS:
        return LAYOUTS[columns]
    names = tuple(columns.replace(",", " ").split())
    if len(names) < 2:
        listed = " or ".join(map(repr, LAYOUTS))
        raise DataError(
            Argument("columns"),
            f" is {received(columns)}; expected {listed}, or the names of the columns in order: "
            f"{', '.join(COLUMNS)}.{nearest_name(columns, LAYOUTS)}",
        )
    for name in names:
        require_choice("a name in columns", name, COLUMNS)
        if name != "-" and names.count(name) > 1:
            raise DataError(f"columns names {name!r} twice; expected each once")
    if lacking := [name for name in NEEDED if name not in names]:
        raise DataError(f"columns lacks {', '.join(lacking)}; expected {', '.join(NEEDED)}")
    return names


def _columns_read(columns: tuple[str, ...], width: int) -> dict[str, int]:
    """Return the index of each column in a table of `width` columns."""
    read = {}
    for i, name in enumerate(columns):
        if name != "-" and (i < width or name in (*NEEDED, "camera")):
            read[name] = i
    if columns == LAYOUTS["motchallenge"] and width >= _OF_2015:
        del read["class"]
    return read


def _least_width(columns: tuple[str, ...]) -> int:
    """Return the number of columns that a row must have."""
    return 1 + max(i for i, name in enumerate(columns) if name in (*NEEDED, "camera"))


def _rows_of(
    numbers: Mapping[str, np.ndarray],
    camera: np.ndarray | None,
    line: np.ndarray,
    place: str,
    line_word: str,
    written: Callable[[int, str], str],
) -> Rows:
    """Return rows of numbers, checked; an error shows a value as it is `written`."""
    n, faults = len(line), []
    for name, values in numbers.items():
        wrong = np.flatnonzero(~_RULES[name][0](values))
        faults += [(int(i), name) for i in wrong[:1]]
    if faults:
        i, name = min(faults, key=lambda fault: fault[0])
        value, expected = float(numbers[name][i]), _RULES[name][1]
        if name in ("width", "height") and -_LARGEST_BOX <= value < 0:
            expected = "expected 0 pixels or more"
        elif name == "frame" and value == 0:
            expected += "; add 1 where frames are counted from 0"
        where = f"{place}: {line_word} {line[i]}"
        raise DataError(f"{where}: {name} is {written(i, name)}; {expected}")
    sides = [numbers[name] for name in ("left", "top", "width", "height")]
    return Rows(
        place=place,
        line_word=line_word,
        line=line.astype(np.int64),
        camera=np.full(n, "") if camera is None else camera,
        frame=numbers["frame"].astype(np.int64),
        identity=numbers["id"].astype(np.int64),
        box=np.ascontiguousarray(np.stack(sides, axis=1), dtype=np.float64),
        flag=numbers.get("flag", np.ones(n)).astype(np.float64),
        category=numbers.get("class", np.full(n, -1)).astype(np.int64),
    )


def _from_array(values: Any, columns: tuple[str, ...], role: Part, of_result: bool) -> Rows:
    """Return the rows of an array with the columns of a file; an empty result found nothing."""
    if isinstance(values, np.ma.MaskedArray):
        raise DataError(role, " is a masked array; give the rows that are meant, such as x[keep]")
    try:
        table = np.asarray(values)
        if table.dtype.kind == "c":
            raise TypeError
        table = table.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(
            role,
            f" is {type(values).__name__} and no table of numbers; expected the path of a file or "
            "folder, an array with a box in each row, or a mapping of names to either",
        ) from None
    least = _least_width(columns)
    if of_result and not table.size:
        table = np.zeros((0, least))
    if table.ndim != 2 or table.shape[1] < least:
        raise DataError(
            role,
            f" has shape {table.shape}; expected a box in each row, with {least} columns or more: "
            f"{', '.join(columns[:least])}",
        )
    read = _columns_read(columns, table.shape[1])
    numbers = {name: table[:, i] for name, i in read.items() if name != "camera"}
    camera = None
    if "camera" in read:
        camera = np.array([f"{x:g}" for x in table[:, read["camera"]]], dtype=str)
    line = np.arange(1, len(table) + 1)
    return _rows_of(
        numbers, camera, line, str(role), "row", lambda i, name: f"{numbers[name][i]:g}"
    )


def read_rows(path: Path, columns: tuple[str, ...], of_result: bool = False) -> Rows:
    """Read a box in each row, comma-separated or by blanks; skip blank lines and ``#``.

    A result without a row is that of a tracker that found nothing; a ground truth is an error.
    """
    empty = of_result and path.is_file() and path.stat().st_size == 0
    text = "" if empty else read_text(existing_file(path, "a file of boxes"))
    lines = text.split("\n")
    kept = [line.lstrip()[:1] not in ("", "#") for line in lines]
    rows, line = list(compress(lines, kept)), np.flatnonzero(kept) + 1
    if not (rows or of_result or "#" in text):
        raise DataError(f"{path}: holds nothing but blank lines; expected a box in each line")
    delimiter = "," if rows and "," in rows[0] else None
    cells = [row.split(delimiter) for row in rows]
    least = _least_width(columns)
    width = len(cells[0]) if cells else least
    for words, number in zip(cells, line.tolist(), strict=True):
        if len(words) != width or len(words) < least:
            separated = f"separated by {'commas' if delimiter else 'blanks'}"
            wanted = f"{width}, as in line {line[0]}"
            if len(words) < least:
                wanted = f"{least} or more: {', '.join(columns[:least])}"
            noun = "column" if len(words) == 1 else "columns"
            raise DataError(
                f"{path}: line {number}: has {len(words)} {noun} {separated}; expected {wanted}"
            )
    read = _columns_read(columns, width)
    camera_at = read.pop("camera", None)
    camera = None
    if camera_at is not None:
        camera = np.array([words[camera_at].strip() for words in cells], dtype=str)
        if (camera == "").any():
            number = line[int(np.argmax(camera == ""))]
            raise DataError(f"{path}: line {number}: camera is empty; expected its name or number")
    table = np.zeros((0, len(read)))
    try:
        if rows:
            usecols = list(read.values())
            table = np.loadtxt(rows, delimiter=delimiter, usecols=usecols, ndmin=2, comments=None)
    except ValueError:
        for words, number in zip(cells, line.tolist(), strict=True):
            for name, i in read.items():
                if not _is_number(words[i]):
                    raise DataError(
                        f"{path}: line {number}: {name} is {received(words[i].strip())}; expected "
                        "a number"
                    ) from None
        raise DataError(
            f"{path}: holds numbers that cannot be read; expected a box in each line"
        ) from None
    numbers = dict(zip(read, table.T, strict=True))
    return _rows_of(
        numbers, camera, line, str(path), "line", lambda i, name: cells[i][read[name]].strip()
    )


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return word.isascii() and "_" not in word


def in_order(names: Iterable[str]) -> list[str]:
    """Return the distinct names of cameras, sorted as numbers if all are numbers."""
    distinct = sorted(set(names))
    if all(name.isascii() and name.isdecimal() for name in distinct):
        return sorted(distinct, key=lambda name: (len(name.lstrip("0")), name.lstrip("0"), name))
    return distinct


def _sequence_length(path: Path) -> int:
    """Read ``seqLength`` from a sequence's seqinfo.ini."""
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(read_text(path))
        stated = parser["Sequence"]["seqLength"]
    except (configparser.Error, KeyError) as error:
        reason = " ".join(str(error).split())
        raise DataError(
            f"{path}: has no length of the sequence ({reason}); expected [Sequence] with "
            "seqLength = a number of frames"
        ) from None
    if not re.fullmatch(r"[0-9]{1,10}", stated) or not 1 <= int(stated) <= LAST_FRAME:
        raise DataError(
            f"{path}: seqLength = {stated[:40]}; expected a whole number from 1 to {LAST_FRAME:,}"
        )
    return int(stated)


@dataclass(frozen=True)
class Pair:
    """The ground truth and the result of a sequence; a single one may have no name."""

    name: str
    truth: Rows
    result: Rows
    frames: int | dict[str, int] | None  # of the sequence, or of each camera
    frames_from: str


@dataclass(frozen=True)
class _Source:
    """An input not yet read."""

    value: Any
    role: Part
    length: int | None = None
    length_from: str = ""

    def rows(self, columns: tuple[str, ...], of_result: bool = False) -> Rows:
        """Read the rows; the columns of a result behind the box are free for the tracker."""
        if of_result:
            columns = tuple("-" if name in ("flag", "class") else name for name in columns)
        if isinstance(self.value, Path):
            return read_rows(self.value, columns, of_result)
        return _from_array(self.value, columns, self.role, of_result)


def names_of_sequences(value: Any, role: Part) -> list[str]:
    """Return the names of the sequences of an input; a single one has no name."""
    return list(_sources(value, role))


def are_trackers(truth: Any, result: Any) -> bool:
    """Whether a mapping holds a result for each of several trackers, and not for each sequence."""
    return isinstance(result, Mapping) and _depth(result) > _depth(truth)


def _depth(value: Any) -> int:
    if isinstance(value, Mapping):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, str | os.PathLike):
        path = Path(value)
        return int(path.is_dir() and _sequence(path) is None)
    return 0


def read_pairs(
    truth: Any,
    result: Any,
    frames: Any,
    columns: tuple[str, ...],
    role: Part,
    only: Collection[str] | None,
) -> tuple[list[Pair], list[Message]]:
    """Return the pairs of ground truth and result, and remarks on skipped results.

    Errors call the result by its `role`. Of some names `only` these are read.
    """
    truths, results = _sources(truth, "truth"), _sources(result, role)
    if ("" in truths) != ("" in results):
        several, single = (role, "truth") if "" in truths else ("truth", role)
        raise DataError(
            several,
            " has several files and ",
            single,
            " is a single one; expected a folder, or a mapping of names, for both",
        )
    if only is None and (lacking := sorted(set(truths) - set(results))):
        place = str(result) if isinstance(result, str | os.PathLike) else "result"
        raise DataError(
            f"{place}: has nothing for {len(lacking)} of {len(truths)} sequences of the ground "
            f"truth: {_some(lacking)}; expected a file <sequence>.txt for each"
            f"{nearest_name(lacking[0], results)}"
        )
    notes = []
    if extra := sorted(set(results) - set(truths)):
        notes.append(Message("results-without-truth", number=len(extra), names=extra[:LISTED]))
    if "" not in truths and isinstance(frames, Mapping):
        for name in map(str, frames):
            if name not in truths:
                raise DataError(
                    Argument("frames"),
                    f" has {name!r}; expected one of the sequences: "
                    f"{_some(sorted(truths))}.{nearest_name(name, truths)}",
                )
    pairs = []
    for name in sorted(truths):
        if only is None or name in only:
            length, source = _length(frames, name, truths[name])
            of_truth, of_result = truths[name].rows(columns), results[name].rows(columns, True)
            pairs.append(Pair(name, of_truth, of_result, length, source))
    return pairs, notes


def _sources(value: Any, role: Part) -> dict[str, _Source]:
    """Return the inputs by name; a single one has the empty name."""
    if isinstance(value, Mapping):
        if not value:
            raise DataError(role, " is an empty mapping; expected names and files or arrays")
        sources = {}
        for name, part in _by_name(value, role).items():
            inside = _sources(part, Words(role, f"[{name!r}]"))
            if "" not in inside:
                raise DataError(
                    role,
                    f"[{name!r}] holds several sequences; expected a file, an array or the folder "
                    "of one sequence",
                )
            sources[name] = inside[""]
        return sources
    if isinstance(value, str | os.PathLike):
        path = require_path(role, value)
        if path.is_dir():
            return _folder(path)
        if not path.exists():
            existing_file(path, "a file of boxes")  # raises, with names that are near
        return {"": _Source(path, role)}
    return {"": _Source(value, role)}


def _by_name(sources: Mapping[Any, Any], role: Part) -> dict[str, Any]:
    """Return a mapping whose keys are text."""
    by_name = {}
    for key, value in sources.items():
        name = str(key)
        if not name or name in by_name:
            raise DataError(
                role,
                f" has the name {name!r}{' twice' if name else ''}; expected each sequence or "
                "camera once, by its name",
            )
        by_name[name] = value
    return by_name


def _folder(folder: Path) -> dict[str, _Source]:
    """Return the file in a sequence's folder, or the sequences in a folder."""
    if (single := _sequence(folder)) is not None:
        return {"": single}
    entries = [entry for entry in sorted(folder.iterdir()) if not entry.name.startswith(".")]
    of_folders = {entry.name: _sequence(entry) for entry in entries if entry.is_dir()}
    sources = {name: source for name, source in of_folders.items() if source is not None}
    if sources:  # text beside folders of sequences is something else, such as a README.txt
        return sources
    for entry in entries:
        name = entry.name.removesuffix(".gz").removesuffix(".txt")
        if entry.name not in (f"{name}.txt", f"{name}.txt.gz") or entry.is_dir():
            continue
        if name in sources:
            raise DataError(f"{folder}: has {name} twice, as {name}.txt and as {name}.txt.gz")
        sources[name] = _Source(entry, str(entry))
    if not sources and (folder / "data").is_dir():  # the results of a tracker, for TrackEval
        return _folder(folder / "data")
    if not sources:
        raise DataError(
            f"{folder}: holds no sequence; expected <sequence>/gt/gt.txt or <sequence>.txt"
        )
    return sources


def _sequence(folder: Path) -> _Source | None:
    """Return the ground truth in a sequence's folder, with its length; None without one."""
    for ending in (".txt", ".txt.gz"):
        file, ini = folder / "gt" / f"gt{ending}", folder / "seqinfo.ini"
        if file.is_file() and ini.is_file():
            return _Source(file, str(file), _sequence_length(ini), f"in {ini}")
        if file.is_file():
            return _Source(file, str(file))
    return None


def _length(frames: Any, name: str, truth: _Source) -> tuple[int | dict[str, int] | None, str]:
    """Return the number of frames of a sequence, and the source of that number."""
    if isinstance(frames, Mapping):
        checked = {}
        for key, value in _by_name(frames, "frames").items():
            role = Words(Argument("frames"), f"[{key!r}]")
            checked[key] = require_integer(role, value, low=1, high=LAST_FRAME)
        if name in checked:
            return checked[name], "given"
        if not name:  # the cameras of a column
            return checked, "given"
    elif frames is not None:
        return require_integer("frames", frames, low=1, high=LAST_FRAME), "given"
    return truth.length, truth.length_from


def _some(names: list[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def frames_of(pair: Pair, cameras: list[str]) -> dict[str, int] | None:
    """Return the length of each camera's recording, if given; no row may be beyond it."""
    if pair.frames is None:
        return None
    lengths = pair.frames
    if not isinstance(lengths, dict):
        lengths = dict.fromkeys(cameras, lengths)
    if lacking := [name for name in cameras if name not in lengths]:
        found = f" has {_some(list(lengths))}; expected one number, for there is one sequence, "
        found += "and it has no name"
        if lacking != [""]:
            found = f" has nothing for {_some(lacking)}; expected a number for each camera"
            found += nearest_name(lacking[0], lengths)
        raise DataError(Argument("frames"), found)
    for rows in (pair.truth, pair.result):
        last = np.array([lengths[name] for name in rows.camera.tolist()], dtype=np.int64)
        beyond = np.flatnonzero(rows.frame > last)
        if len(beyond):
            i = int(beyond[0])
            raise DataError(
                f"{rows.where(i)}: frame is {rows.frame[i]}; expected at most {last[i]}, the "
                f"length that is {pair.frames_from} ({counted(len(beyond), 'rows')} beyond it)"
            )
    return lengths
