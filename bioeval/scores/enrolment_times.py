"""Galleries over time: the templates that are enrolled at the time of each probe.

A template is enrolled from ``enrolled_at`` on and until before ``withdrawn_at``, both columns of
the gallery's metadata; a probe is seen at ``seen_at``. Times are numbers or dates.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from bioeval.base.errors import (
    DataError,
    Part,
)
from bioeval.base.messages import Message
from bioeval.scores.labels import NOT_ENROLLED, plain

#: The columns of times; the last one belongs to the probes.
COLUMNS = ("enrolled_at", "withdrawn_at", "seen_at")


_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf", re.IGNORECASE | re.ASCII)
_MISSING = ("", "nan", "nat", "none")
_EXPECTED = (
    "expected a number, or a date such as 2024-03-31 or 2024-03-31T12:30, without a time zone; "
    "NaN or NaT where there is none"
)


def _read(value: Any) -> int | float | np.datetime64 | None:
    """Return one time, NaN where it is missing; None where it is not a time."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return np.nan
    if isinstance(value, str):
        value = value.strip()
        if value.casefold() in _MISSING:
            return np.nan
        if len(value) < 40 and _NUMBER.fullmatch(value):
            value = int(value) if value.lstrip("+-").isdecimal() else float(value)
        elif not _DATE.fullmatch(value):
            return None
    if isinstance(value, float) or isinstance(value, int) and not isinstance(value, bool):
        if isinstance(value, float) or abs(value) < 1 << 63:
            return value
        return None
    if not isinstance(value, str | datetime.date | np.datetime64):
        return None
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return None
    date: Any = value
    try:
        return np.datetime64(date, "us")
    except (ValueError, OverflowError):
        return None


def _microseconds(column: np.ndarray, input_name: Part) -> np.ndarray:
    """Return dates to the microsecond; finer ones are refused."""
    times = column.astype("datetime64[us]")
    if np.datetime_data(column.dtype)[0] in ("ns", "ps", "fs", "as"):
        inexact = (times.astype(column.dtype) != column) & ~np.isnat(column)
        if inexact.any():
            row = int(np.argmax(inexact))
            raise DataError(
                input_name, f": row {row} is {column[row]}; expected whole microseconds"
            )
    return times


def _refuse(column: np.ndarray, row: int, input_name: Part, why: str = _EXPECTED) -> NoReturn:
    """Raise :class:`DataError` with the row of a time and its value."""
    raise DataError(input_name, f": row {row} is {plain(column[row])!r}; {why}")


class EnrolmentTimes:
    """Times of a gallery and of probes, as whole numbers in one chronological order.

    A missing value, and a missing column, mean always. Raise :class:`DataError` if there is no such
    column, a value is not a time, dates stand beside numbers, or a template is withdrawn before it
    is enrolled.

    - `probe_meta`, `gallery_meta` (mapping of str to ndarray): with ``seen_at`` of the probes;
      ``enrolled_at`` and ``withdrawn_at`` of the gallery
    """

    def __init__(
        self,
        probe_meta: Mapping[str, np.ndarray],
        gallery_meta: Mapping[str, np.ndarray],
        probes: int,
        templates: int,
    ):
        """Number the times of all columns in their common order."""
        times = self.columns_of(probe_meta, gallery_meta)
        if not times:
            raise DataError(
                f"exclude names {NOT_ENROLLED!r}; expected the metadata enrolled_at or "
                "withdrawn_at of the gallery and seen_at of the probes, found none of them"
            )
        self.columns = times
        order = np.unique(_joined([x[x == x] for x in times.values()]))
        last = len(order) + 1

        def places(name: str, length: int, absent: int) -> np.ndarray:
            ranks = np.full(length, absent, dtype=np.int32)
            if name in times:
                there = times[name] == times[name]
                ranks[there] = np.searchsorted(order, times[name][there].astype(order.dtype))
            return ranks

        self.enrolled = places("enrolled_at", templates, -1)
        self.withdrawn = places("withdrawn_at", templates, last)
        self.seen = places("seen_at", probes, -1)
        self.known = self.seen >= 0  # probes whose time is known
        early = self.withdrawn < self.enrolled
        if early.any():
            row = int(np.argmax(early))
            since, until = times["enrolled_at"][row], times["withdrawn_at"][row]
            raise DataError(
                f"{int(early.sum())} templates are withdrawn before they are enrolled, the first "
                f"is row {row}: enrolled_at {since}, withdrawn_at {until}"
            )

    @staticmethod
    def parsed(column: np.ndarray, input_name: Part) -> np.ndarray:
        """Return a column of times as int64, float64 or datetime64[us]; NaN or NaT where missing.

        `input_name` is its name in messages, which also name the row.
        """
        if column.dtype.kind in "iu":
            if column.dtype == np.uint64 and (column > np.iinfo(np.int64).max).any():
                _refuse(column, int(np.argmax(column > np.iinfo(np.int64).max)), input_name)
            return column.astype(np.int64)
        if column.dtype.kind == "f":
            return column.astype(np.float64)
        if column.dtype.kind == "M":
            return _microseconds(column, input_name)
        if column.dtype.kind not in "UO":
            raise DataError(input_name, f" has dtype {column.dtype}; {_EXPECTED}")
        read = [*map(_read, column.tolist())]
        times = np.full(len(read), "NaT", dtype="datetime64[us]")
        for row, value in enumerate(read):
            if isinstance(value, np.datetime64):
                times[row] = value
        dated = not np.isnat(times).all()
        for row, value in enumerate(read):
            if value is None:
                _refuse(column, row, input_name)
            missing = value != value  # NaN or NaT
            if dated and not missing and np.isnat(times[row]):
                _refuse(column, row, input_name, "a number among dates")
        if dated:
            return times
        if all(isinstance(value, int) for value in read):
            return np.array(read, dtype=np.int64)
        for row, value in enumerate(read):
            if isinstance(value, int) and float(value) != value:  # beside a fraction or none at all
                _refuse(column, row, input_name, "which cannot be exact in a column with fractions")
        return np.array(read, dtype=np.float64)

    @staticmethod
    def columns_of(
        probe_meta: Mapping[str, np.ndarray], gallery_meta: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Return the columns of times by name, checked: all of them numbers, or all dates."""
        sides = (("gallery", gallery_meta), ("gallery", gallery_meta), ("probe", probe_meta))
        columns = {}
        for name, (side, meta) in zip(COLUMNS, sides, strict=True):
            if name in meta:
                columns[name] = EnrolmentTimes.parsed(meta[name], f"{side}_meta[{name!r}]")
        dated = {x.dtype.kind == "M": name for name, x in columns.items() if (x == x).any()}
        if len(dated) > 1:
            raise DataError(
                f"{dated[True]} holds dates and {dated[False]} numbers; expected one or the other "
                "in all columns of times"
            )
        if True in dated:
            for name, column in columns.items():
                if column.dtype.kind != "M":  # nothing but missing values
                    columns[name] = np.full(len(column), np.datetime64("NaT", "us"))
        return columns

    def not_enrolled(self, i: Any, j: Any) -> np.ndarray:
        """Return which templates `j` are not enrolled at the time of probes `i`."""
        seen = self.seen[i]
        outside = (self.enrolled[j] > seen) | (self.withdrawn[j] <= seen)
        return outside & self.known[i]

    def sizes(self) -> np.ndarray:
        """Return the number of templates enrolled at the time of each probe."""
        return self._at_once(self.enrolled, self.withdrawn, len(self.enrolled))

    def _at_once(self, start: np.ndarray, stop: np.ndarray, unknown: int) -> np.ndarray:
        """Return how many spans each probe is within; `unknown` where its time is not known."""
        sizes = np.searchsorted(np.sort(start), self.seen, side="right")
        sizes -= np.searchsorted(np.sort(stop), self.seen, side="right")
        return np.where(self.known, sizes, unknown)

    def subject_sizes(self, subject: np.ndarray) -> np.ndarray:
        """Return the number of subjects enrolled at the time of each probe, by code."""
        order = np.lexsort((self.enrolled, subject))
        who = subject[order].astype(np.int64)
        start = self.enrolled[order].astype(np.int64)
        stop = self.withdrawn[order].astype(np.int64)
        # The times of a subject are joined where they meet: each is then enrolled once at a time.
        step = int(self.withdrawn.max()) + 3
        reached = np.maximum.accumulate(who * step + stop)
        new = np.append(True, who[1:] * step + start[1:] > reached[:-1])
        stops = (reached - who * step)[np.append(new[1:], True)]
        return self._at_once(start[new], stops, len(np.unique(subject)))

    @property
    def decide(self) -> bool:
        """Whether there are times of both sides, without which all templates are compared."""
        return "seen_at" in self.columns and len(self.columns) > 1

    def note(self) -> Message:
        """Return the message of the sizes of the galleries, or of the column that is missing."""
        if not self.decide:
            lacking = ["enrolled_at", "withdrawn_at"]
            if "seen_at" not in self.columns:
                lacking = ["seen_at"]
            return Message("enrolment-times-not-used", columns=lacking)
        sizes = self.sizes()
        return Message(
            "enrolled-at-the-time",
            least=int(sizes.min()),
            most=int(sizes.max()),
            templates=len(self.enrolled),
            mean=float(sizes.mean()),
        )


def _joined(columns: list[np.ndarray]) -> np.ndarray:
    """Concatenate times exactly."""
    columns = [x for x in columns if len(x)] or columns[:1]
    joined = np.concatenate(columns)
    if joined.dtype.kind == "f":
        for x in columns:
            if x.dtype.kind == "i" and (x.astype(np.float64).astype(np.int64) != x).any():
                raise DataError(
                    "times beyond 2**53 cannot be compared exactly with fractions; give all "
                    "times as whole numbers, or as dates"
                )
    return joined
