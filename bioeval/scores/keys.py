"""Keys of rows: names and numbers, by which whatever has a value for each row is joined to them.

Rows have names (texts), or numbers (an index of integers), or both, or neither (:class:`Keys`).
Names alone may say that a probe and a gallery template are one; numbers never do. The last
functions refuse columns of metadata that may be names, but are not known as such.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.labels import (
    CAMERA_COLUMNS,
    as_objects,
    missing_values,
    normal,
    one_dimensional,
    plain,
    without_type,
)
from bioeval.scores.metadata import LABEL_COLUMNS, NAME_COLUMNS

if TYPE_CHECKING:
    import pandas as pd

# The columns that name templates in any case. Other columns of `NAME_COLUMNS` do so only if each
# value stands once: several faces, and so several templates, may have one photograph.
_OF_TEMPLATES = ("template", "name", "names")

# Columns whose equal values on both sides do not suggest names of templates.
_NO_NAMES = {*CAMERA_COLUMNS, *LABEL_COLUMNS, "session", "group"}

# In fewer rows, two columns may have the same texts by chance.
_FEW_ROWS = 5

# A text that is a whole number, as `str` writes it.
_NUMERAL = re.compile(r"0|-?[1-9][0-9]{0,17}")


@dataclass(frozen=True, eq=False)
class Keys:
    """The keys of rows."""

    names: pd.Index | None = None  # texts, None where a row has none
    numbers: pd.Index | None = None  # whole numbers

    @property
    def merely_count(self) -> bool:
        """Whether rows have the numbers 0, 1, 2 ..., which pandas writes by default."""
        return self.numbers is not None and np.array_equal(self.numbers, np.arange(len(self)))

    @property
    def stated(self) -> str:
        """By what a user has keyed the rows, in words: names or row numbers; empty for neither."""
        if self.names is not None:
            return "names"
        return "" if self.numbers is None or self.merely_count else "row numbers"

    def __len__(self) -> int:
        return len(next(x for x in (self.names, self.numbers) if x is not None))

    def take(self, rows: np.ndarray) -> Keys:
        names = None if self.names is None else self.names[rows]
        numbers = None if self.numbers is None else self.numbers[rows]
        return Keys(names, numbers)

    def completed(self, other: Keys) -> Keys:
        """Return these keys, and those of `other` where there are none."""
        names = other.names if self.names is None else self.names
        numbers = other.numbers if self.numbers is None else self.numbers
        return Keys(names, numbers)


def index_of(values: Any, axis: int = 0) -> Any:
    """Return the index of a pandas object, or the coordinate of an xarray object; None without."""
    if hasattr(values, "iloc"):  # pandas
        return values.axes[axis] if axis < len(values.axes) else None
    dims = getattr(values, "dims", None)
    coords = getattr(values, "coords", None)
    if isinstance(dims, tuple) and coords is not None and axis < len(dims):  # xarray
        return coords[dims[axis]].to_index() if dims[axis] in coords else None
    return None


def keys_of(values: Any, axis: int = 0) -> Keys:
    """Return the keys along an axis: numbers if all are whole numbers, or texts of these."""
    index = index_of(values, axis)
    return Keys() if index is None else as_keys(index)


def as_keys(index: Any) -> Keys:
    if getattr(index, "nlevels", 0) == 1 and index.dtype.kind in "iu" and not index.hasnans:
        return Keys(numbers=index)
    names = as_names(index)
    if names.isna().all():
        return Keys()
    if all(isinstance(x, str) and _NUMERAL.fullmatch(x) for x in names):
        return Keys(numbers=names.astype(np.int64))
    return Keys(names)


def as_names(values: Any) -> pd.Index:
    """Return values as names: texts, tuples of texts, None if missing."""
    import pandas as pd

    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    return pd.Index([_as_name(x) for x in listed], dtype=object, tupleize_cols=False)


def _as_name(value: Any) -> Any:
    value = plain(value)
    if isinstance(value, str | os.PathLike | bytes):
        text = os.fspath(value)
        if isinstance(text, bytes):
            text = text.decode(errors="surrogateescape")
        return normal(text) or None
    if isinstance(value, tuple):
        return tuple(map(_as_name, value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if missing_values(as_objects([value])).any():
        return None
    if isinstance(value, date):  # a date is the same name as its midnight
        return value.isoformat().removesuffix("T00:00:00")
    return str(value)


def places(searched: pd.Index, names: pd.Index) -> np.ndarray:
    """Return the place of each searched name among `names`, -1 if it is not there.

    A missing name (None) equals nothing. Raise if a name stands twice among `names`.
    """
    present = np.flatnonzero(names.notna())
    if names[present].has_duplicates:
        name = names[present][names[present].duplicated()][0]
        raise DataError(f"the name {name!r} stands twice; expected each name once")
    place_in_present = names[present].get_indexer(searched)
    place_in_present[searched.isna()] = -1
    return np.append(present, -1)[place_in_present]  # -1 takes the last entry, -1


def united(names: Any, new_names: Any) -> tuple[list[Any], np.ndarray]:
    """Return names and the `new_names` that are not among them, and the place of each new name."""
    place = places(as_names(new_names), as_names(names))
    added = np.flatnonzero(place < 0)
    place[added] = len(names) + np.arange(len(added))
    return [*names, *(new_names[i] for i in added.tolist())], place


def first_twice(names: pd.Index) -> tuple[Any, list[int]] | None:
    """Return the first name that stands twice, with two of its places; None if there is none."""
    repeated = np.flatnonzero(names.duplicated() & names.notna())
    if not len(repeated):
        return None
    rows = np.flatnonzero(names == names[repeated[0]])
    return names[repeated[0]], rows[:2].tolist()


def in_words(names: pd.Index | None, number: int) -> list[str]:
    """Return the names of templates as text, or their numbers from 0 if they have no names."""
    return [*map(str, range(number) if names is None else names)]


# ------------------------------------------------------------------------------- columns with names


@dataclass(frozen=True, eq=False)
class NamedColumn:
    """A value for each row of a file, and possible names of the rows, the likeliest first."""

    values: np.ndarray
    names: Mapping[str, pd.Index]  # by their sources, which are for messages
    numbers: pd.Index | None = None

    def __len__(self) -> int:
        return len(self.values)


def names_in_columns(columns: Mapping[str, Any]) -> dict[str, pd.Index]:
    """Return the columns of a table that may name its rows."""
    candidates = {}
    for name in NAME_COLUMNS:
        if name not in columns or len(np.shape(columns[name])) != 1:
            continue
        values = one_dimensional(columns[name], name)
        if not counts_rows(values) and not missing_values(values).all():
            candidates[name] = as_names(values)
    return candidates


def declared_names(columns: Mapping[str, Any]) -> pd.Index | None:
    """Return the names in the first column that names templates; None if there is none."""
    for column, names in names_in_columns(columns).items():
        if column in _OF_TEMPLATES or first_twice(names) is None:
            return names
    return None


def counts_rows(values: np.ndarray) -> bool:
    """Whether values count the rows in order from 0 or from 1, as numbers or as texts."""
    if not len(values) or without_type(values[0]) not in (0, 1):
        return False
    first = int(without_type(values[0]))  # of the text "0.0", too
    numbers = [without_type(x) for x in values.tolist()]
    return numbers == [*range(first, first + len(values))]


def are_subjects(keys: Keys, labels: Any) -> bool:
    """Whether keys are the labels of the templates, and so are no keys of templates."""
    if not keys.stated or labels is None or isinstance(labels, NamedColumn):
        return False
    names = as_names(keys.numbers) if keys.names is None else keys.names
    try:
        return as_names(one_dimensional(labels, "labels")).equals(names)
    except DataError:  # raised again where labels are checked
        return False


def numbering_in_other_order(values: Any) -> bool:
    """Whether values are 0..n-1 or 1..n, whole numbers or texts of them, but not in order."""
    numbers = []
    for cell in map(plain, np.asarray(values).tolist()):
        is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
        is_text = isinstance(cell, str) and cell.isascii() and cell.isdigit()
        if not is_text and not (is_number and cell % 1 == 0):
            return False
        numbers.append(int(cell))
    if len(numbers) < 2:
        return False
    first = min(numbers)
    if first not in (0, 1):
        return False
    in_order_of_rows = [*range(first, first + len(numbers))]
    return numbers != in_order_of_rows and sorted(numbers) == in_order_of_rows


# ------------------------------------------------------------------------ columns that may be names


def refuse_other_orders(columns: Mapping[str, Any], names: pd.Index | None) -> None:
    """Raise where two columns, or names, hold the same texts, each once, in different orders."""
    texts = columns_of_distinct_texts(columns)
    if names is not None and not names.isna().any():
        texts = {"": names.tolist(), **texts}
    for (column, first), (other_column, other) in combinations(texts.items(), 2):
        if first != other and {*first} == {*other}:
            named = f"the column {column!r}" if column else "the names of the templates"
            raise DataError(
                f"the column {other_column!r} holds the same texts as {named}, each once, in "
                f"another order: {other[0]!r} in row 0, and {first[0]!r}. Do they name templates? "
                f'Say `names="{other_column}"` if they do, or `names=None` if they do not'
            )


def columns_of_distinct_texts(columns: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the columns that may name templates, as texts."""
    texts = {name: distinct_texts(name, column) for name, column in columns.items()}
    return {name: listed for name, listed in texts.items() if listed}


def distinct_texts(name: str, values: Any) -> list[str]:
    """Return the texts of a column that may name templates, since each stands once; else none."""
    try:
        array = one_dimensional(values.values if isinstance(values, NamedColumn) else values, name)
    except DataError:  # raised again where metadata are checked
        return []
    if name.casefold() in _NO_NAMES or array.dtype.kind not in "UO" or len(array) < _FEW_ROWS:
        return []
    listed = array.tolist()
    are_texts = all(isinstance(x, str) and x for x in listed)
    return listed if are_texts and len({*listed}) == len(listed) else []


def refuse_unknown_names(
    probe: Mapping[str, np.ndarray], gallery: Mapping[str, np.ndarray], labels: tuple[Any, Any]
) -> None:
    """Raise where columns seem to be names of templates, but are not known as such.

    Each text stands once, and is no label, and one side has all texts of the other.
    """
    texts, other_texts = (
        {
            column: listed
            for column, listed in columns_of_distinct_texts(meta).items()
            if not are_subjects(Keys(as_names(listed)), labels_of_side)
        }
        for meta, labels_of_side in zip((probe, gallery), labels, strict=True)
    )
    for (column, first), (other_column, other) in product(texts.items(), other_texts.items()):
        smaller, larger = sorted(({*first}, {*other}), key=len)
        if smaller <= larger:
            raise DataError(
                f"the column {column!r} of the probes and {other_column!r} of the gallery hold the "
                f"same texts, each once, such as {first[0]!r}: do they name templates? Say "
                f'`names="{column}"` if they do, or `names=None` if they do not'
            )
