"""The numbers of a page: text, all digits and meaning of each."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bioeval.views.page import words
from bioeval.views.page.parts import PageItem

#: Types of arrays that a browser has, by the name that the page gives them.
_TYPES = {"f8": np.float64, "u2": np.uint16, "u4": np.uint32}


class ArrayStore:
    """Collects arrays; equal ones are stored once."""

    def __init__(self) -> None:
        self._block = bytearray()
        self._places: dict[bytes, dict] = {}

    def add(self, values: np.ndarray) -> dict:
        """Store numbers as float64 and return their place.

        Where few values repeat, as in rates at ranks and thresholds, each is stored once, with its
        places.
        """
        values = np.ascontiguousarray(values, dtype=np.float64)
        place: dict
        unique, inverse = np.unique(values, return_inverse=True, equal_nan=True)
        if len(unique) <= len(values.ravel()) // 4 and len(unique) < 1 << 16:
            place = {"values": self._put(unique, "f8"), "at": self._put(inverse.ravel(), "u2")}
        else:
            place = {"values": self._put(values.ravel(), "f8")}
        return {**place, "shape": list(values.shape)}

    def pixels(self, values: np.ndarray) -> dict:
        """Store places in a picture, in tenths of a unit; NaN becomes a place outside."""
        tenths = np.where(np.isfinite(values), np.clip(np.round(10 * values), 0, 65534), 65535)
        return {"values": self._put(tenths.ravel(), "u2"), "shape": list(values.shape)}

    def text(self) -> str:
        """Return the block, compressed, as base64."""
        return base64.b64encode(zlib.compress(bytes(self._block), 9)).decode("ascii")

    def _put(self, values: np.ndarray, name: str) -> list:
        """Append an array and return its type, its first byte and its length."""
        raw = np.ascontiguousarray(values).astype(np.dtype(_TYPES[name]).newbyteorder("<"))
        key = name.encode() + raw.tobytes()
        if key not in self._places:
            self._block += bytes(-len(self._block) % 8)
            self._places[key] = {"at": [name, len(self._block), raw.size]}
            self._block += raw.tobytes()
        return self._places[key]["at"]


#: How a number is written; the script of the page has the same.
FORMATS = {"count": words.count, "score": words.score}


#: Rows of a table that a page shows at once.
LONG = 24


@dataclass(frozen=True)
class Number:
    """A number on a page; a live number changes with the threshold or the rank."""

    part: PageItem
    variable: str
    value: Any
    shape: str = "score"  # percent, points, count, score, out-of, times
    decimals: int = 2
    live: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)  # further data attributes
    strong: bool = False  # an estimate in a sentence, not the end of its interval
    unit: bool = True  # whether a proportion has its sign of per cent
    right = True  # where it is set in a cell

    @property
    def text(self) -> str:
        """The number as text for the reader."""
        if isinstance(self.value, str):
            return self.value
        if self.shape == "points":
            return words.percent(float(self.value), self.decimals).replace(" %", " pp")
        if self.shape == "percent":
            text = words.percent(float(self.value), self.decimals)
            return text if self.unit else text.removesuffix(" %")
        return FORMATS[self.shape](float(self.value))

    @property
    def attributes(self) -> dict[str, str]:
        """The data attributes of its element."""
        given = {
            "task": self.part.task,
            "variable": self.variable,
            "system": self.part.system,
            "value": words.digits(self.value),
            **{key: words.digits(value) for key, value in self.more.items()},
        }
        if self.live:
            given |= {"live": "", "format": self.shape, "decimals": str(self.decimals)}
            given |= {} if self.unit else {"bare": ""}
        return {f"data-{key.replace('_', '-')}": value for key, value in given.items()}


@dataclass(frozen=True)
class Text:
    """A text on a page with attributes besides its words."""

    text: str
    title: str = ""  # what it means at length
    used: int | None = None  # the moving part whose threshold it is
    right: bool = False  # whether it is set flush right, as a number is
    code: bool = False
    rank: bool = False  # whether it is the rank of the page
    digits: str = ""  # all digits of a number that is of no dataset
    warns: bool = False  # a promise that is not kept
    strong: bool = False
    swatch: bool = False  # whether it is a system, with its colour before it


@dataclass(frozen=True)
class Bounded:
    """A number with its interval, in one cell."""

    number: Number
    low: Number | None = None
    high: Number | None = None
    warns: bool = False  # a promise that is not kept
    right = True


@dataclass(frozen=True)
class PageTable:
    """A table of a page: column headings, and rows of numbers and texts."""

    name: str  # of the file that it is saved as
    caption: str
    heads: list[str]
    rows: list[list[Any]]
    note: str = ""
    live: bool = False
    folds: bool = True  # whether it is folded where it is long
    closed: bool = False  # folded, long or not

    def trimmed(self) -> PageTable:
        """Return the table without columns that are empty."""
        kept = [i for i in range(len(self.heads)) if any(row[i] != "" for row in self.rows)]
        rows = [[row[i] for i in kept] for row in self.rows]
        return replace(self, heads=[self.heads[i] for i in kept], rows=rows)

    @property
    def numeric(self) -> set[int]:
        """The columns that hold numbers."""
        return {
            i for row in self.rows for i, cell in enumerate(row) if getattr(cell, "right", False)
        }

    @property
    def folded(self) -> bool:
        """Whether the table is long, and collapsed until it is opened."""
        return self.closed or (len(self.rows) > LONG and self.folds and not self.live)


def shape_of(part: PageItem, name: str, dtype_kind: str) -> str:
    """Return the format of a variable."""
    units = str(part.dataset[name].attrs.get("units", "")) if name in part.dataset else ""
    if units != "score" and words.is_rate(name, units):
        return "percent"
    return "count" if dtype_kind in "iub" or units in ("attempts", "probes") else "score"


def attempts_of(part: PageItem, name: str) -> int:
    """Return the number of attempts below a rate; 0 where unknown."""
    return int(part.dataset[name]) if name in part.dataset and not part.dataset[name].ndim else 0
