"""The order of the values of a metadata column: numbers, dates, times, months, known orders."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.labels import plain

# The key of a known order in the metadata of a dtype, which selections of the array keep.
_ORDER = "order"

#: Endings of the argument `enrol` that say whether dates begin with the day or with the month.
DAY_FIRST, MONTH_FIRST = "day-first", "month-first"

# Hour, minute, second, and a or p as in 3:15 p.m.
_TIME = r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?\s*([ap])?\.?(?:m\.?)?"
_OF_TIME = re.compile(_TIME, re.IGNORECASE)
_DATE = re.compile(
    rf"(\d{{1,2}})([./-])(\d{{1,2}})\2(\d{{4}}|\d{{2}})(?:[T, ]+{_TIME})?", re.IGNORECASE
)
_YEAR_FIRST = re.compile(r"\d{4}[./-]\d{1,2}[./-]\d{1,2}(?:[T ][0-9:.]+Z?)?")
_MONTHS = "january february march april may june july august september october november december"
_MONTH_NAMES = _MONTHS.split()
_SHORT_MONTHS = [name[:3] for name in _MONTH_NAMES]
_WORD = re.compile(
    r"(?:(?P<day>\d{1,2})\.? )?(?P<month>[a-z]+)\.?(?: (?P<day_after>\d{1,2}),?)?"
    r"(?: (?P<year>\d{4}))?"
)


def places_of_values(
    values: np.ndarray, column: str, subject: np.ndarray, order_of_dates: str = ""
) -> np.ndarray:
    """Return the place of each value in the order of a column, which the argument `enrol` names.

    Raise :class:`DataError` where no order is known. Places matter only among values of the same
    `subject`: texts other than dates and times are in natural order if those of a subject differ in
    their numbers alone. `order_of_dates` is `DAY_FIRST`, `MONTH_FIRST` or empty.
    """
    if order := known_order(values):
        number = {value: i for i, value in enumerate(order)}
        return np.array([number[x] for x in values.tolist()])
    if values.dtype.kind in "biufMm":
        return _ranked(values)
    objects = values.tolist()
    kinds = set(map(type, objects))
    if len(kinds) == 1 and not kinds & {str, bytes}:
        try:
            return _ranked_keys(objects)
        except TypeError:
            raise _no_order(column, objects[0]) from None
    try:
        return _ranked(values.astype(np.float64))
    except (TypeError, ValueError):
        texts = [str(x).strip() for x in objects]
    if all(map(_YEAR_FIRST.fullmatch, texts)):
        return natural_places(np.array(texts))
    for keys in (_dates(texts, column, order_of_dates), _times(texts), _months(texts)):
        if keys is not None:
            return _ranked_keys(keys)
    form_of_subject: dict[int, str] = {}
    for text, person in zip(texts, subject.tolist(), strict=True):
        form = re.sub("[0-9]+", "0", text)
        if form_of_subject.setdefault(person, form) != form:
            raise _no_order(column, text)
    return natural_places(np.array(texts))


def with_known_order(array: np.ndarray, original: Any) -> np.ndarray:
    """Return the array with the order of `original`, if `original` is an ordered Categorical."""
    dtype: Any = getattr(original, "dtype", None)
    if getattr(dtype, "ordered", False) is not True:
        order = known_order(original) if isinstance(original, np.ndarray) else ()
    else:
        order = tuple(map(plain, dtype.categories))
    if not order:
        return array
    return array.view(np.dtype(array.dtype, metadata={_ORDER: order}))


def known_order(array: np.ndarray) -> tuple[Any, ...]:
    """Return the values of a column in their known order; empty without an order."""
    metadata: Mapping[str, Any] = array.dtype.metadata or {}
    return tuple(metadata.get(_ORDER, ()))


def natural_places(names: np.ndarray) -> np.ndarray:
    """Return the place of each name in natural order, 2 before 10; equal names share a place.

    >>> natural_places(np.array(["7_10", "7_2", "10_1"]))
    array([1, 0, 2])
    """
    distinct, number = np.unique(list(map(str, names.tolist())), return_inverse=True)

    def key(i: int) -> list[Any]:
        parts: list[Any] = re.split("([0-9]+)", str(distinct[i]))
        for k in range(1, len(parts), 2):
            digits = parts[k].lstrip("0")
            parts[k] = (len(digits), digits)
        return parts

    natural_place = np.empty(len(distinct), dtype=np.int64)
    natural_place[sorted(range(len(distinct)), key=key)] = np.arange(len(distinct))
    return natural_place[number.reshape(-1)]


def days_of(values: np.ndarray) -> np.ndarray | None:
    """Return the day of each value of a column of dates; None if a value is no date."""
    if values.dtype.kind == "M":
        return values.astype("datetime64[D]")
    objects = values.tolist()
    # A datetime is a date, too.
    if objects and all(isinstance(x, datetime.date) for x in objects):
        return np.array([f"{x:%Y-%m-%d}" for x in objects])
    days = []
    for text in map(str, objects):
        matched = _YEAR_FIRST.fullmatch(text.strip()) or _DATE.fullmatch(text.strip())
        if matched is None:
            return None
        days.append(re.split("[T, ]", text.strip())[0])
    return np.array(days) if days else None


def _ranked(values: np.ndarray) -> np.ndarray:
    return np.unique(values, return_inverse=True)[1].reshape(-1)


def _ranked_keys(keys: Sequence[Any]) -> np.ndarray:
    place = {key: i for i, key in enumerate(sorted(set(keys)))}
    return np.array([place[key] for key in keys])


def _no_order(column: str, value: Any) -> DataError:
    return DataError(
        f"`enrol` orders templates by {column!r}, whose values such as {value!r} have no order "
        "that is known; expected numbers, dates, times, or an ordered Categorical of pandas"
    )


def _seconds(hour: str, minute: str, second: str | None, half: str | None) -> float:
    hours = int(hour)
    if half:
        hours = hours % 12 + (12 if half.lower() == "p" else 0)
    return 3600 * hours + 60 * int(minute) + float(second or 0)


def _times(texts: Sequence[str]) -> list[float] | None:
    """Return the seconds since midnight of times of the day; None if a text is no such time."""
    matches = [_OF_TIME.fullmatch(text) for text in texts]
    return None if None in matches else [_seconds(*x.groups()) for x in matches if x]


def _dates(
    texts: Sequence[str], column: str, order_of_dates: str
) -> list[tuple[float, ...]] | None:
    """Return year, month, day and seconds of dates that end with the year.

    None if a text is no such date. Raise if the day cannot be told from the month.
    """
    matches = [match for text in texts if (match := _DATE.fullmatch(text)) is not None]
    if len(matches) < len(texts):
        return None
    firsts = [int(match[1]) for match in matches]
    seconds = [int(match[3]) for match in matches]
    may_be = {DAY_FIRST: max(seconds) <= 12, MONTH_FIRST: max(firsts) <= 12}
    if not order_of_dates and all(match[2] == "." for match in matches):
        order_of_dates = DAY_FIRST  # a point is written only after a day that comes first
    fitting = [order for order, fits in may_be.items() if fits and order_of_dates in ("", order)]
    if not fitting:
        raise _no_order(column, texts[0])
    if len(fitting) > 1:
        raise DataError(
            f"`enrol`: {texts[0]!r} in {column!r} may have the day or the month first; add "
            f"':{DAY_FIRST}' or ':{MONTH_FIRST}' to the column"
        )
    keys = list[tuple[float, ...]]()
    for match, first, second in zip(matches, firsts, seconds, strict=True):
        day, month = (first, second) if fitting == [DAY_FIRST] else (second, first)
        time = _seconds(match[5], match[6], match[7], match[8]) if match[5] else 0.0
        keys.append((int(match[4]), month, day, time))
    return keys


def _months(texts: Sequence[str]) -> list[tuple[int, ...]] | None:
    """Return year, month and day of dates with an English month; None if a text is no such date.

    A missing year or day is 0.
    """
    keys = list[tuple[int, ...]]()
    for text in texts:
        matched = _WORD.fullmatch(text.lower())
        if matched is None:
            return None
        name = matched["month"]
        if name not in _MONTH_NAMES and name not in (*_SHORT_MONTHS, "sept"):
            return None
        day = matched["day"] or matched["day_after"] or 0
        keys.append((int(matched["year"] or 0), _SHORT_MONTHS.index(name[:3]), int(day)))
    return keys
