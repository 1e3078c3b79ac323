"""The order of the values of a metadata column: numbers, dates in ISO's form, known orders."""

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

# The start of a date, or of a time of a day, in ISO's form.
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
# Dates that end with the year, and dates and times with words.
_TWO_READINGS = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})\b.*")
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_IN_WORDS = re.compile(rf"(.*[^a-z])?(({_MONTHS})[a-z]*([^a-z].*)?|[ap]\.?m\.?)", re.IGNORECASE)


def places_of_values(values: np.ndarray, column: str, subject: np.ndarray) -> np.ndarray:
    """Return the place of each value in the order of a column, which the argument `enrol` names.

    Raise :class:`DataError` where no order is known. Places matter only among values of the same
    `subject`: texts other than dates are in natural order if those of a subject differ in their
    numbers alone.
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
    if (dates := _iso_dates(texts)) is not None:
        return _ranked(dates)
    for text in texts:
        _refuse_other_dates(column, text)
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
    dates = _iso_dates([str(x).strip() for x in objects])
    return None if dates is None else dates.astype("datetime64[D]")


def _iso_dates(texts: Sequence[str]) -> np.ndarray | None:
    """Return dates, and times, in ISO's form as datetime64 in UTC; None if a text is no such."""
    import pandas as pd

    if not texts or not all(map(_ISO.match, texts)):
        return None
    try:
        dates = pd.to_datetime(texts, format="ISO8601", utc=True)
    except ValueError:
        return None
    return dates.tz_localize(None).to_numpy()


def _refuse_other_dates(column: str, text: str) -> None:
    """Raise for a date, or a time, whose order as text would not be its order in time."""
    readings = ""
    if match := _TWO_READINGS.fullmatch(text):
        first, second = int(match[1]), int(match[3])
        if max(first, second) <= 12:
            readings = f", which may be day {first} of month {second} or the reverse"
    elif not _IN_WORDS.fullmatch(text):
        return
    raise DataError(
        f"`enrol` orders templates by {column!r}, whose value {text!r} is a date or a time in "
        f"another form than ISO's{readings}; write dates as 2024-04-03 or 2024-04-03T15:30, and "
        "times as 15:30"
    )


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
