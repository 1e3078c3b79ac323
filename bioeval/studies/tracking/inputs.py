"""Rows of boxes with identity, frame and position, from files, folders and arrays."""

from __future__ import annotations

import configparser
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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

#: Columns of the MOTChallenge format of 2015, which has world coordinates where later ones have
#: a class.
_OF_2015 = 10

# Above, a float64 does not determine an integer.
_LARGEST_ID = 2**53 - 1

#: Largest number of a frame.
LAST_FRAME = 10**9
_LARGEST_BOX = 1e100


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
    """The rows of one file, or of several of one scene; arrays of shape (n,), boxes (n, 4)."""

    places: list[str]  # the files, or other sources
    place: np.ndarray  # int64: the source of each row
    line: np.ndarray  # int64: its line there, from 1
    camera: np.ndarray  # str: empty if there is one camera only
    frame: np.ndarray  # int64
    identity: np.ndarray  # int64
    box: np.ndarray  # float64: left, top, width, height
    flag: np.ndarray  # float64: 0 where a row of the ground truth is ignored
    category: np.ndarray  # int64: the class, numbered as by MOTChallenge; -1 without one
    line_word: str

    def __len__(self) -> int:
        return len(self.frame)

    def where(self, i: int) -> str:
        """Return the file and line of row `i`."""
        return f"{self.places[self.place[i]]}: {self.line_word} {self.line[i]}"


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
    lacking = [name for name in NEEDED if name not in names]
    if lacking:
        raise DataError(f"columns lacks {', '.join(lacking)}; expected {', '.join(NEEDED)}")
    return names


def columns_read(columns: tuple[str, ...], width: int) -> dict[str, int]:
    """Return the index of each column in a table of `width` columns.

    In the format of 2015 the eighth of ten columns is a world coordinate, not a class.
    """
    read = {}
    for i, name in enumerate(columns):
        if name != "-" and (i < width or name in (*NEEDED, "camera")):
            read[name] = i
    if columns == LAYOUTS["motchallenge"] and width >= _OF_2015:
        del read["class"]
    return read


def least_width(columns: tuple[str, ...]) -> int:
    """Return the number of columns that a row must have."""
    return 1 + max(i for i, name in enumerate(columns) if name in (*NEEDED, "camera"))


def complaint(name: str, value: float) -> str:
    """Return the values expected in a column; empty if the value is one of them."""
    valid, expected = _RULES[name]
    if valid(np.array([value]))[0]:
        return ""
    if name in ("width", "height") and value < 0 and abs(value) <= _LARGEST_BOX:
        return "expected 0 pixels or more"
    if name == "frame" and value == 0:
        return f"{expected}; add 1 where frames are counted from 0"
    return expected


def first_fault(numbers: dict[str, np.ndarray]) -> tuple[int, str] | None:
    """Return the first row with an invalid number, and the name of its column."""
    faults = []
    for name, values in numbers.items():
        valid, _ = _RULES[name]
        wrong = np.flatnonzero(~valid(values))
        if len(wrong):
            faults.append((int(wrong[0]), name))
    return min(faults, default=None)


def build(
    numbers: dict[str, np.ndarray],
    camera: np.ndarray | None,
    line: np.ndarray,
    place: str,
    line_word: str = "line",
) -> Rows:
    """Return rows of checked numbers."""
    n = len(line)
    sides = [numbers[name] for name in ("left", "top", "width", "height")]
    return Rows(
        places=[place],
        place=np.zeros(n, dtype=np.int64),
        line=line.astype(np.int64),
        camera=np.full(n, "") if camera is None else camera,
        frame=numbers["frame"].astype(np.int64),
        identity=numbers["id"].astype(np.int64),
        box=np.ascontiguousarray(np.stack(sides, axis=1), dtype=np.float64),
        flag=numbers.get("flag", np.ones(n)).astype(np.float64),
        category=numbers.get("class", np.full(n, -1)).astype(np.int64),
        line_word=line_word,
    )


def from_array(values: Any, columns: tuple[str, ...], role: Part, of_result: bool) -> Rows:
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
    least = least_width(columns)
    if of_result and not table.size:
        table = np.zeros((0, least))
    if table.ndim != 2 or table.shape[1] < least:
        raise DataError(
            role,
            f" has shape {table.shape}; expected a box in each row, with {least} columns or more: "
            f"{', '.join(columns[:least])}",
        )
    read = columns_read(columns, table.shape[1])
    numbers = {name: table[:, i] for name, i in read.items() if name != "camera"}
    line = np.arange(1, len(table) + 1)
    if (fault := first_fault(numbers)) is not None:
        i, name = fault
        value = float(numbers[name][i])
        raise DataError(role, f": row {i + 1}: {name} is {value:g}; {complaint(name, value)}")
    camera = None
    if "camera" in read:
        camera = np.array([f"{x:g}" for x in table[:, read["camera"]]], dtype=str)
    return build(numbers, camera, line, str(role), "row")


def joined(cameras: Mapping[str, Rows]) -> Rows:
    """Return the rows of several cameras as those of one scene."""
    places: list[str] = []
    place = []
    parts = cameras.values()
    for rows in parts:
        place.append(rows.place + len(places))
        places += rows.places
    columns = {}
    for name in ("line", "frame", "identity", "box", "flag", "category"):
        columns[name] = np.concatenate([getattr(rows, name) for rows in parts])
    return Rows(
        places=places,
        place=np.concatenate(place),
        camera=np.repeat(list(cameras), list(map(len, parts))),
        line_word=next(iter(parts)).line_word,
        **columns,
    )


def in_order(names: Iterable[str]) -> list[str]:
    """Return the distinct names of cameras, sorted as numbers if all are numbers."""
    distinct = sorted(set(names))
    if all(name.isascii() and name.isdecimal() for name in distinct):
        return sorted(distinct, key=lambda name: (len(name.lstrip("0")), name.lstrip("0"), name))
    return distinct


def read_rows(path: Path, columns: tuple[str, ...], of_result: bool = False) -> Rows:
    """Read a box in each row, comma-separated or by blanks; skip blank lines and ``#``.

    A result without a row is that of a tracker that found nothing; a ground truth is an error.
    """
    empty = of_result and path.is_file() and path.stat().st_size == 0
    text = "" if empty else read_text(existing_file(path, "a file of boxes"))
    lines = text.split("\n")
    kept = list(map(_is_row, lines))
    rows, line = list(compress(lines, kept)), np.flatnonzero(kept) + 1
    if not (rows or of_result or "#" in text):
        raise DataError(f"{path}: holds nothing but blank lines; expected a box in each line")
    delimiter, width = None, least_width(columns)
    if rows:
        delimiter = "," if "," in rows[0] else None
        width = len(rows[0].split(delimiter))
    read = columns_read(columns, width)
    place_of_camera = read.pop("camera", None)
    table = dict.fromkeys(read, np.zeros(0))
    readable = True
    if rows:
        places = list(read.values())
        try:
            numbers = np.loadtxt(rows, delimiter=delimiter, usecols=places, ndmin=2, comments=None)
            table = dict(zip(read, numbers.T, strict=True))
        except ValueError:
            readable = False
    camera = None
    if place_of_camera is not None and readable:
        camera = np.array([row.split(delimiter)[place_of_camera].strip() for row in rows], str)
    unnamed = camera is not None and (camera == "").any()
    # A row of another length is incomplete, or has a flag that the others lack.
    ragged = len({len(row.split(delimiter)) for row in rows}) > 1
    if not readable or unnamed or ragged or first_fault(table) is not None:
        raise _fault(path, rows, line, columns, delimiter, width)
    return build(table, camera, line, str(path))


def _is_row(line: str) -> bool:
    """Whether a line is neither blank nor a remark."""
    return line.lstrip()[:1] not in ("", "#")


def _fault(
    path: Path,
    rows: list[str],
    lines: np.ndarray,
    columns: tuple[str, ...],
    delimiter: str | None,
    width: int,
) -> DataError:
    """Return the error for the first malformed row."""
    least = least_width(columns)
    separator = "commas" if delimiter else "blanks"
    for row, line in zip(rows, lines, strict=True):
        where = f"{path}: line {line}"
        words = row.split(delimiter)
        noun = "column" if len(words) == 1 else "columns"
        width_text = f"{len(words)} {noun} separated by {separator}"
        if len(words) < least:
            named = ", ".join(columns[:least])
            return DataError(f"{where}: has {width_text}; expected {least} or more: {named}")
        if len(words) != width:
            return DataError(f"{where}: has {width_text}; expected {width}, as in line {lines[0]}")
        for name, i in columns_read(columns, width).items():
            word = words[i].strip()
            if name == "camera":
                if not word:
                    return DataError(f"{where}: camera is empty; expected its name or number")
                continue
            try:
                if not word.isascii() or "_" in word:
                    raise ValueError
                value = float(word)
            except ValueError:
                return DataError(f"{where}: {name} is {received(word)}; expected a number")
            if problem := complaint(name, value):
                return DataError(f"{where}: {name} is {word}; {problem}")
    return DataError(f"{path}: holds numbers that cannot be read; expected a box in each line")


def sequence_length(path: Path) -> int:
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


_ENDINGS = (".txt", ".txt.gz")
#: Names in a message or an error.
LISTED = 5


@dataclass(frozen=True)
class Pair:
    """The ground truth and the result of a sequence, if given; a single one may have no name."""

    name: str
    truth: Rows
    result: Rows
    frames: int | dict[str, int] | None
    frames_from: str


@dataclass(frozen=True)
class _Source:
    """An input not yet read."""

    value: Any
    role: Part
    length: int | None = None
    length_from: str = ""

    def truth(self, columns: tuple[str, ...]) -> Rows:
        return self._rows(columns, of_result=False)

    def result(self, columns: tuple[str, ...]) -> Rows:
        """Read a result, whose columns behind the box are free for the tracker."""
        read = tuple("-" if name in ("flag", "class") else name for name in columns)
        return self._rows(read, of_result=True)

    def _rows(self, columns: tuple[str, ...], of_result: bool) -> Rows:
        if isinstance(self.value, Path):
            return read_rows(self.value, columns, of_result)
        return from_array(self.value, columns, self.role, of_result)


def names_of_sequences(value: Any, role: Part) -> list[str]:
    """Return the names of the sequences, or cameras, of an input; a single one has no name."""
    return list(_sources(value, role))


def read_pairs(
    truth: Any,
    result: Any,
    frames: Any,
    columns: tuple[str, ...],
    parts: str,
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
    if only is None:
        _require_all(truths, results, result, parts)
    extra = sorted(set(results) - set(truths))
    notes = []
    if extra:
        skipped = Message("results-without-truth", number=len(extra), names=extra[:LISTED])
        notes.append(skipped)
    if "" not in truths and isinstance(frames, Mapping):
        for name in map(str, frames):
            if name not in truths:
                raise DataError(
                    Argument("frames"),
                    f" has {name!r}; expected one of the {parts}: "
                    f"{_some(sorted(truths))}.{nearest_name(name, truths)}",
                )
    if only is not None:
        truths = {name: source for name, source in truths.items() if name in only}
    if "" not in truths and parts == "cameras":
        if "camera" in columns:
            raise DataError(
                Argument("parts", "cameras"),
                " takes a file for each camera; expected no column camera",
            )
        return [_one_scene(truths, results, frames, columns)], notes
    pairs = []
    for name in sorted(truths):
        length, source = _length(frames, name, truths[name])
        truth_rows, result_rows = truths[name].truth(columns), results[name].result(columns)
        pairs.append(Pair(name, truth_rows, result_rows, length, source))
    return pairs, notes


def _one_scene(
    truths: dict[str, _Source], results: dict[str, _Source], frames: Any, columns: tuple[str, ...]
) -> Pair:
    """Return the pair of a scene, from the files of its cameras."""
    names = in_order(truths)
    lengths = {}
    lacking = []
    for name in names:
        length, _ = _length(frames, name, truths[name])
        if isinstance(length, int):
            lengths[name] = length
        else:
            lacking.append(name)
    if lengths and lacking:
        raise DataError(
            Argument("frames"),
            f" has nothing for {_some(lacking)}; expected a number for each camera",
        )
    _, frames_from = _length(frames, names[0], truths[names[0]])
    return Pair(
        name="",
        truth=joined({name: truths[name].truth(columns) for name in names}),
        result=joined({name: results[name].result(columns) for name in names}),
        frames=lengths or None,
        frames_from=frames_from,
    )


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
    single = _sequence(folder)
    if single is not None:
        return {"": single}
    entries = [entry for entry in sorted(folder.iterdir()) if not entry.name.startswith(".")]
    sources = {}
    for entry in entries:
        if entry.is_dir() and (source := _sequence(entry)) is not None:
            sources[entry.name] = source
    if not sources:
        sources = _files(folder, entries)
    if not sources and (folder / "data").is_dir():  # the results of a tracker, for TrackEval
        return _folder(folder / "data")
    if not sources:
        raise DataError(
            f"{folder}: holds no sequence; expected <sequence>/gt/gt.txt or <sequence>.txt"
        )
    return sources


def _files(folder: Path, entries: Sequence[Path]) -> dict[str, _Source]:
    """Return the sequences that are a file each.

    Beside folders of sequences, text is something else, such as a README.txt.
    """
    sources = {}
    for entry in entries:
        name = entry.name.removesuffix(".gz").removesuffix(".txt")
        if entry.name not in (f"{name}.txt", f"{name}.txt.gz") or entry.is_dir():
            continue
        if name in sources:
            raise DataError(f"{folder}: has {name} twice, as {name}.txt and as {name}.txt.gz")
        sources[name] = _Source(entry, str(entry))
    return sources


def _sequence(folder: Path) -> _Source | None:
    """Return the ground truth in a sequence's folder, with its length; None without one."""
    for ending in _ENDINGS:
        file = folder / "gt" / f"gt{ending}"
        if file.is_file():
            ini = folder / "seqinfo.ini"
            if ini.is_file():
                return _Source(file, str(file), sequence_length(ini), f"in {ini}")
            return _Source(file, str(file))
    return None


def _require_all(
    truths: dict[str, _Source], results: dict[str, _Source], names: Any, parts: str
) -> None:
    """Raise :class:`DataError` unless each ground truth has a result."""
    lacking = sorted(set(truths) - set(results))
    if lacking:
        place = str(names) if isinstance(names, str | os.PathLike) else "result"
        singular = {"sequences": "sequence", "cameras": "camera"}[parts]
        raise DataError(
            f"{place}: has nothing for {len(lacking)} of {len(truths)} {parts} of the ground "
            f"truth: {_some(lacking)}; expected a file <{singular}>.txt for each"
            f"{nearest_name(lacking[0], results)}"
        )


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
    if isinstance(pair.frames, dict):
        lacking = [name for name in cameras if name not in pair.frames]
        if lacking == [""]:
            raise DataError(
                Argument("frames"),
                f" has {_some(list(pair.frames))}; expected one number, for there is one "
                "sequence, and it has no name",
            )
        if lacking:
            raise DataError(
                Argument("frames"),
                f" has nothing for {_some(lacking)}; expected a number for each "
                f"camera{nearest_name(lacking[0], pair.frames)}",
            )
        lengths = dict(pair.frames)
    else:
        lengths = dict.fromkeys(cameras, pair.frames)
    for rows in (pair.truth, pair.result):
        last = np.zeros(len(rows), dtype=np.int64)
        for name, length in lengths.items():
            last[rows.camera == name] = length
        beyond = np.flatnonzero(rows.frame > last)
        if len(beyond):
            i = int(beyond[0])
            raise DataError(
                f"{rows.where(i)}: frame is {rows.frame[i]}; expected at most {last[i]}, the "
                f"length that is {pair.frames_from} ({len(beyond)} rows are beyond)"
            )
    return lengths
