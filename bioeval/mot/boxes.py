"""Rows of boxes with identity, frame and position, and the line of each in its file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.base.errors import Argument, DataError, bad_choice, nearest_name

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
    line_word: str = "line"

    def __len__(self) -> int:
        return len(self.frame)

    def where(self, i: int) -> str:
        """Return the file and line of row `i`."""
        return f"{self.places[self.place[i]]}: {self.line_word} {self.line[i]}"


def parse_columns(columns: Any) -> tuple[str, ...]:
    """Return the names of the columns, given as a name of a format or as the names themselves."""
    if not isinstance(columns, str):
        raise DataError(bad_choice("columns", columns, LAYOUTS))
    if columns in LAYOUTS:
        return LAYOUTS[columns]
    names = tuple(columns.replace(",", " ").split())
    if len(names) < 2:
        listed = " or ".join(repr(layout) for layout in LAYOUTS)
        raise DataError(
            f"{Argument('columns')} is {columns!r}; expected {listed}, or the names of the "
            f"columns in order: {', '.join(COLUMNS)}.{nearest_name(columns, LAYOUTS)}"
        )
    for name in names:
        if name not in COLUMNS:
            raise DataError(bad_choice("a name in columns", name, COLUMNS))
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
    read = {name: i for i, name in enumerate(columns) if name != "-"}
    if columns == LAYOUTS["motchallenge"] and width >= _OF_2015:
        del read["class"]
    return {name: i for name, i in read.items() if i < width or name in (*NEEDED, "camera")}


def least_width(columns: tuple[str, ...]) -> int:
    """Return the number of columns that a row must have."""
    return 1 + max(i for i, name in enumerate(columns) if name in (*NEEDED, "camera"))


def complaint(name: str, value: float) -> str:
    """Return the values expected in a column; None if the value is one of them."""
    valid, expected = _RULES[name]
    if valid(np.array([value]))[0]:
        return ""
    if name in ("width", "height") and value < 0 and abs(value) <= _LARGEST_BOX:
        return "expected 0 pixels or more"
    return expected


def first_fault(numbers: dict[str, np.ndarray]) -> tuple[int, str] | None:
    """Return the first row with an invalid number, and the name of its column."""
    good = {name: _RULES[name][0](values) for name, values in numbers.items()}
    faults = ((int(np.argmin(mask)), name) for name, mask in good.items() if not mask.all())
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
    whole = {
        name: numbers[name].astype(np.int64) for name in ("frame", "id", "class") if name in numbers
    }
    sides = [numbers[name] for name in ("left", "top", "width", "height")]
    return Rows(
        places=[place],
        place=np.zeros(n, dtype=np.int64),
        line=line.astype(np.int64),
        camera=np.full(n, "") if camera is None else camera,
        frame=whole["frame"],
        identity=whole["id"],
        box=np.ascontiguousarray(np.stack(sides, axis=1), dtype=np.float64),
        flag=numbers.get("flag", np.ones(n)).astype(np.float64),
        category=whole.get("class", np.full(n, -1, dtype=np.int64)),
        line_word=line_word,
    )


def from_array(values: Any, columns: tuple[str, ...], what: str) -> Rows:
    """Return the rows of an array with the columns of a file."""
    if isinstance(values, np.ma.MaskedArray):
        raise DataError(f"{what} is a masked array; give the rows that are meant, such as x[keep]")
    try:
        table = np.asarray(values)
        if table.dtype.kind == "c":
            raise TypeError
        table = table.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"{what} is {type(values).__name__} and no table of numbers; expected the path of a "
            "file or folder, an array with a box in each row, or a mapping of names to either"
        ) from None
    least = least_width(columns)
    if table.ndim != 2 or table.shape[1] < least:
        raise DataError(
            f"{what} has shape {table.shape}; expected a box in each row, with {least} columns or "
            f"more: {', '.join(columns[:least])}"
        )
    read = columns_read(columns, table.shape[1])
    numbers = {name: table[:, i] for name, i in read.items() if name != "camera"}
    line = np.arange(1, len(table) + 1)
    if (fault := first_fault(numbers)) is not None:
        i, name = fault
        value = float(numbers[name][i])
        raise DataError(f"{what}: row {i + 1}: {name} is {value:g}; {complaint(name, value)}")
    camera = None
    if "camera" in read:
        camera = np.array([f"{x:g}" for x in table[:, read["camera"]]], dtype=str)
    return build(numbers, camera, line, what, "row")


def joined(cameras: Mapping[str, Rows]) -> Rows:
    """Return the rows of several cameras as those of one scene."""
    parts = list(cameras.values())
    offsets = np.cumsum([0, *(len(part.places) for part in parts)])
    same = ("line", "frame", "identity", "box", "flag", "category")
    return Rows(
        places=[place for part in parts for place in part.places],
        place=np.concatenate([p.place + at for p, at in zip(parts, offsets, strict=False)]),
        camera=np.repeat(list(cameras), [len(part) for part in parts]),
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in same},
        line_word=parts[0].line_word,
    )


def in_order(names: Iterable[str]) -> list[str]:
    """Return the distinct names of cameras, sorted as numbers if all are numbers."""
    distinct = sorted(set(names))
    if all(name.isascii() and name.isdecimal() for name in distinct):
        return sorted(distinct, key=lambda name: (len(name.lstrip("0")), name.lstrip("0"), name))
    return distinct
