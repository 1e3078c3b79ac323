"""Metadata of templates: names of columns, columns of mappings and tables, and the order of values.

Values are in the order of numbers, of dates in ISO's form, of an ordered Categorical, or, of texts,
in natural order, 2 before 10.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import DataError, counted, nearest_name, received
from bioeval.scores.labels import no_value, one_dimensional, plain, read_only, role_of

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores

#: Names of the column of subjects; the first that a table has is the column.
LABEL_COLUMNS = ("label", "subject", "identity", "person", "pid", "id", "subject_id")

_IMAGES = (
    *("name", "image", "image_name", "image_path", "image_id", "img_name", "img_path"),
    *("file", "filename", "file_name", "file_path", "path"),
)
#: Columns of names of images, in order of preference.
IMAGE_COLUMNS = (*_IMAGES, *(f"{name}s" for name in _IMAGES))
#: Columns of names of templates, in order of preference.
NAME_COLUMNS = ("template", *IMAGE_COLUMNS)

#: Metadata columns that number the templates of a subject, in order of preference.
NUMBER_COLUMNS = ("impression", "image_number")


def known_column(
    meta: Mapping[str, np.ndarray], column: object, argument: str, noun: str
) -> np.ndarray:
    """Return the metadata column that an argument names; raise unless all its values are known.

    Messages call a row `noun`, whose first word is the side, such as "gallery template".
    """
    if not isinstance(column, str) or column not in meta:
        listed = f"there are {', '.join(meta)}" if meta else "there are none"
        raise DataError(
            f"`{argument}` names {column!r}, but the {noun.split()[0]} metadata have no "
            f"such column; {listed}.{nearest_name(str(column), meta)}"
        )
    missing = no_value(meta[column], role_of(column))
    if missing.any():
        raise DataError(
            f"`{argument}`: {counted(int(missing.sum()), f'{noun}s')} without a value in "
            f"{column!r}, the first is {noun} {int(np.argmax(missing))} (None, NaN or an empty "
            f"text); give each {noun} its value, or leave these rows out"
        )
    return meta[column]


def require_kept(scores: Scores, column: Any, argument: str, *sides: Mapping[str, Any]) -> None:
    """Raise where an argument names a column that was left out of the metadata of both sides."""
    if not isinstance(column, str) or all(column in meta for meta in sides):
        return
    if column in scores._columns_left_out:
        raise DataError(
            f"`{argument}` is {received(column)}, and this column "
            f"{scores._columns_left_out[column]}; give each template one value"
        )


def known_texts(column: np.ndarray, name: str) -> set[str]:
    return set(map(str, column[~no_value(column, role_of(name))].tolist()))


def as_meta(meta: Mapping[str, Any] | None, length: int, input_name: str) -> dict[str, np.ndarray]:
    """Return metadata columns as read-only arrays; raise unless they have the length."""
    if meta is None:
        return {}
    named = columns_of(meta)
    if named is None:
        raise DataError(
            f"{input_name} is {type(meta).__name__}; expected a mapping of name to column, or a "
            "table"
        )
    columns = {}
    for name, column in named.items():
        array = one_dimensional(column, f"{input_name}[{name!r}]")
        if len(array) != length:
            raise DataError(
                f"{input_name}[{name!r}] has {counted(len(array), 'values')}; expected "
                f"{length}, one per "
                "template"
            )
        columns[str(name)] = read_only(with_known_order(array, column), column)
    return columns


def places_in_order(
    meta: Mapping[str, np.ndarray], number: int, names: Any = None
) -> tuple[np.ndarray, str]:
    """Return the place of each template in order, and the column that decides the order.

    Templates are sorted by a column that numbers the templates of a subject, then by their names,
    then by row. Without both columns the name of the column is empty.
    """
    if names is not None:
        meta = {**meta, "template": names.to_numpy()}
    columns_in_use = [
        next((x for x in columns if x in meta and not no_value(meta[x]).any()), "")
        for columns in (NUMBER_COLUMNS, NAME_COLUMNS)
    ]
    keys = [natural_places(meta[x]) for x in reversed(columns_in_use) if x]
    place = np.empty(number, dtype=np.int64)
    place[np.lexsort([np.arange(number), *keys])] = np.arange(number)
    return place, columns_in_use[0] or columns_in_use[1]


def columns_of(table: Any) -> Mapping[str, Any] | None:
    """Return the columns of a mapping or of a table (pandas, polars); None for another object."""
    if isinstance(table, Mapping):
        return table
    names = getattr(table, "column_names", getattr(table, "columns", None))
    if names is None or not hasattr(table, "__getitem__") or not len(names):
        return None
    if not all(isinstance(name, str) for name in names):
        return None
    columns = {name: with_known_order(np.asarray(table[name]), table[name]) for name in names}
    index = getattr(table, "index", None)  # tables of pandas have one
    levels = [x for x in getattr(index, "names", ()) if isinstance(x, str) and x not in columns]
    return {x: np.asarray(index.get_level_values(x)) for x in levels} | columns  # type: ignore[union-attr]


def names_of_table(table: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Return index and columns of a DataFrame of pandas; None if rows are merely numbered."""
    index: Any = getattr(table, "index", None)
    columns: Any = getattr(table, "columns", None)
    if getattr(index, "nlevels", 0) != 1 or getattr(columns, "nlevels", 0) != 1:
        return None
    counted = np.asarray(index).dtype.kind in "iu" and np.asarray(columns).dtype.kind not in "iu"
    numbered = counted and index.names == [None]
    if numbered or "RangeIndex" in (type(index).__name__, type(columns).__name__):
        return None
    return np.asarray(index), np.asarray(columns)


# ------------------------------------------------------------------------------ the order of values


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
        return ranked(values)
    objects = values.tolist()
    kinds = set(map(type, objects))
    if len(kinds) == 1 and not kinds & {str, bytes}:
        try:
            place = {key: i for i, key in enumerate(sorted(set(objects)))}
            return np.array([place[key] for key in objects])
        except TypeError:
            raise _no_order(column, objects[0]) from None
    try:
        return ranked(values.astype(np.float64))
    except (TypeError, ValueError):
        texts = [str(x).strip() for x in objects]
    if (dates := _iso_dates(texts)) is not None:
        return ranked(dates)
    _refuse_other_dates(texts, column)
    form_of_subject: dict[int, str] = {}
    for text, person in zip(texts, subject.tolist(), strict=True):
        form = re.sub("[0-9]+", "0", text)
        if form_of_subject.setdefault(person, form) != form:
            raise _no_order(column, text)
    return natural_places(np.array(texts))


def _refuse_other_dates(texts: Sequence[str], column: str) -> None:
    """Raise where a text is a date or a time whose order as text is not the order in time."""
    for text in texts:
        match = _TWO_READINGS.fullmatch(text)
        if not match and not _IN_WORDS.fullmatch(text):
            continue
        readings = ""
        if match:
            first, second = int(match[1]), int(match[3])
            if max(first, second) <= 12:  # either may be the month
                readings = f", which may be day {first} of month {second} or the reverse"
        raise DataError(
            f"`enrol` orders templates by {column!r}, whose value {text!r} is a date or a time in "
            f"another form than ISO's{readings}; write dates as 2024-04-03 or 2024-04-03T15:30, "
            "and times as 15:30"
        )


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


def ranked(values: np.ndarray) -> np.ndarray:
    return np.unique(values, return_inverse=True)[1].reshape(-1)


def _no_order(column: str, value: Any) -> DataError:
    return DataError(
        f"`enrol` orders templates by {column!r}, whose values such as {value!r} have no order "
        "that is known; expected numbers, dates, times, or an ordered Categorical of pandas"
    )
