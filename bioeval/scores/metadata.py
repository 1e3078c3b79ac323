"""Metadata of templates: names of columns, unknown values, and columns of mappings and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, counted, nearest_name
from bioeval.scores.labels import one_dimensional, read_only
from bioeval.scores.missing import no_value, role_of
from bioeval.scores.orders import natural_places, with_known_order

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
            f"{column!r}, the first is {noun} {int(np.argmax(missing))}; give each one"
        )
    return meta[column]


def known_texts(column: np.ndarray, name: str) -> set[str]:
    """Return the distinct known values of a metadata column as text."""
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
                f"{input_name}[{name!r}] has {len(array)} values; expected {length}, one per "
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
    """Return the index and the columns of a DataFrame of pandas.

    None for another object, and for a DataFrame whose rows are merely numbered.
    """
    index: Any = getattr(table, "index", None)
    columns: Any = getattr(table, "columns", None)
    if getattr(index, "nlevels", 0) != 1 or getattr(columns, "nlevels", 0) != 1:
        return None
    counted = np.asarray(index).dtype.kind in "iu" and np.asarray(columns).dtype.kind not in "iu"
    numbered = counted and index.names == [None]
    if numbered or "RangeIndex" in (type(index).__name__, type(columns).__name__):
        return None
    return np.asarray(index), np.asarray(columns)
