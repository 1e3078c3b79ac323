"""Names of templates: each side of scores has an index of names, or none."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.labels import as_objects, missing_values, one_dimensional, plain, without_type
from bioeval.scores.metadata import NAME_COLUMNS, columns_of

if TYPE_CHECKING:
    import pandas as pd

# The columns that name templates in any case. Other columns of `NAME_COLUMNS` do so only if each
# value stands once: several faces, and so several templates, may have one photograph.
_OF_TEMPLATES = ("template", "name", "names")

#: The pattern that messages show if no pattern fits the names.
EXAMPLE_PATTERN = r"id(\d+)/"


def as_names(values: Any) -> pd.Index:
    """Return values as names: text, whole numbers or other comparable values, None if missing."""
    import pandas as pd

    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    return pd.Index([_as_name(x) for x in listed], dtype=object, tupleize_cols=False)


def _as_name(value: Any) -> Any:
    value = plain(value)
    if isinstance(value, str | os.PathLike):
        return os.fspath(value) or None
    if isinstance(value, bytes):
        return value.decode(errors="surrogateescape") or None
    if isinstance(value, tuple):
        return tuple(map(_as_name, value))
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None if missing_values(as_objects([value])).any() else value


def places(searched: pd.Index, names: pd.Index) -> np.ndarray:
    """Return the place of each searched name among `names`, -1 if it is not there.

    A number equals its text, and a missing name (None) equals nothing. Raise if a name stands twice
    among `names`.
    """
    if {searched.inferred_type, names.inferred_type} not in ({"string"}, {"integer"}):
        searched, names = as_texts(searched), as_texts(names)
    present = np.flatnonzero(names.notna())
    if names[present].has_duplicates:
        name = names[present][names[present].duplicated()][0]
        raise DataError(f"the name {name!r} stands twice; expected each name once")
    place = names[present].get_indexer(searched)
    place[searched.isna()] = -1
    return np.append(present, -1)[place]


def united(names: Sequence[Any], new_names: Sequence[Any]) -> tuple[list[Any], np.ndarray]:
    """Return names and the `new_names` that are not among them, and the place of each new name."""
    place = places(as_names(new_names), as_names(names))
    added = np.flatnonzero(place < 0)
    place[added] = len(names) + np.arange(len(added))
    return [*names, *(new_names[i] for i in added.tolist())], place


def as_texts(names: pd.Index) -> pd.Index:
    return as_names([str(x) if isinstance(x, Number) else x for x in names])


def first_twice(names: pd.Index) -> tuple[Any, list[int]] | None:
    """Return the first name that stands twice, with two of its places; None if there is none."""
    texts = as_texts(names)
    repeated = np.flatnonzero(texts.duplicated() & texts.notna())
    if not len(repeated):
        return None
    rows = np.flatnonzero(texts == texts[repeated[0]])
    return names[repeated[0]], rows[:2].tolist()


@dataclass(frozen=True, eq=False)
class NamedColumn:
    """A value for each row of a table, and possible names of the rows, the likeliest first."""

    values: np.ndarray
    names: tuple[pd.Index, ...]
    sources: tuple[str, ...]  # source of each of `names`, for messages

    def __len__(self) -> int:
        return len(self.values)


def index_of(values: Any, axis: int = 0) -> Any:
    """Return the index of a pandas object, or the coordinate of an xarray object, along an axis.

    None if there is none.
    """
    if hasattr(values, "iloc"):
        return values.axes[axis] if axis < len(values.axes) else None
    dims = getattr(values, "dims", None)
    coords = getattr(values, "coords", None)
    if isinstance(dims, tuple) and coords is not None and axis < len(dims):
        return coords[dims[axis]].to_index() if dims[axis] in coords else None
    return None


def counts_in_order(index: Any) -> bool:
    """Whether an index counts the rows from 0, as pandas does by default."""
    if getattr(index, "nlevels", 1) != 1 or index.dtype.kind not in "iuf":
        return False
    return np.array_equal(index, np.arange(len(index)))


def index_names(values: Any, axis: int = 0) -> pd.Index | None:
    """Return the names in an index; None if there is none, or if it merely counts the rows."""
    index = index_of(values, axis)
    if index is None or counts_in_order(index):
        return None
    names = as_names(index)
    return None if names.isna().all() else names


def row_names(values: Any) -> tuple[pd.Index, ...]:
    """Return the possible names of rows, likeliest first: an index, else columns of names."""
    if isinstance(values, NamedColumn):
        return values.names
    index = index_names(values)
    if index is not None:
        return (index,)
    columns = columns_of(values) or {} if hasattr(values, "iloc") else {}
    return tuple(names_in_columns(columns).values())


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
    return next(
        (
            names
            for column, names in names_in_columns(columns).items()
            if column in _OF_TEMPLATES or first_twice(names) is None
        ),
        None,
    )


def counts_rows(values: np.ndarray) -> bool:
    """Whether values count the rows in order from 0 or from 1, as numbers or as texts."""
    if not len(values) or without_type(values[0]) not in (0, 1):
        return False
    first = without_type(values[0])
    return [*map(without_type, values.tolist())] == [*range(first, first + len(values))]


def names_of_given(names: Any, side: int) -> pd.Index | None:
    """Return the names of a side that the argument `names` lists; None if it lists none."""
    if names is None or isinstance(names, str):
        return None
    listed = names[side] if isinstance(names, tuple) and len(names) == 2 else names
    return None if listed is None else as_names(one_dimensional(listed, "`names`"))


def numbering_in_other_order(values: Any) -> bool:
    """Whether values are 0..n-1 or 1..n, whole numbers or texts of them, but not in order."""
    cells = [*map(plain, np.asarray(values).tolist())]
    numbers = [*map(_whole, cells)]
    if len(numbers) < 2 or None in numbers:
        return False
    first = min(numbers)
    counted = range(first, first + len(numbers)) if first in (0, 1) else range(0)
    return sorted(numbers) == [*counted] != numbers


def _whole(cell: Any) -> Any:
    if isinstance(cell, str):
        return int(cell) if cell.isascii() and cell.isdigit() else None
    if isinstance(cell, bool) or not isinstance(cell, (int, float)) or cell % 1 != 0:
        return None
    return int(cell)


def other_order(where: str, values: Any) -> DataError:
    """Return the error of rows that have no names, and are numbered otherwise by `where`."""
    cells = [*map(plain, np.asarray(values).tolist())]
    first = int(min(map(int, cells)))
    row = next(i for i, cell in enumerate(cells) if int(cell) != first + i)
    return DataError(
        f"{where} numbers the rows in another order: row {row} has {cells[row]!r}, expected "
        f"{first + row}, and the scores have no names by which rows could be found. Sort the rows "
        "by these numbers, or drop them if the rows are in the order of the scores"
    )


def are_subjects(names: pd.Index | None, labels: Any) -> bool:
    """Whether names are the labels of the templates, and so do not name templates."""
    if names is None or labels is None or isinstance(labels, NamedColumn):
        return False
    try:
        labels_as_names = as_names(one_dimensional(labels, "labels"))
    except DataError:  # raised again where labels are checked
        return False
    return as_texts(labels_as_names).equals(as_texts(names))


def are_labels_or_row_numbers(
    sides: tuple[pd.Index | None, pd.Index | None], labels: tuple[Any, Any]
) -> bool:
    """Whether the names of both sides are the labels of their templates, or merely count them."""
    named = [(names, x) for names, x in zip(sides, labels, strict=True) if names is not None]
    merely_count = all(counts_rows(np.array(names)) for names, _ in named)
    return merely_count or all(are_subjects(names, x) for names, x in named)


def require_each_once(names: pd.Index | None, side: str) -> None:
    """Raise :class:`DataError` where two templates of a side of a matrix have one name."""
    twice = None if names is None else first_twice(names)
    if twice is None:
        return
    name, rows = twice
    raise DataError(
        f"the name {plain(name)!r} stands twice, in {side}s {', '.join(map(str, rows))}; equal "
        "names are one template, and a matrix has each template once: give each its own name, "
        "drop the index or call the column otherwise if it does not name templates, or make one "
        "template of several embeddings by `average`"
    )


def in_words(names: pd.Index | None, number: int) -> list[str]:
    """Return the names of templates as text, or their numbers from 0 if they have no names."""
    return [*map(str, range(number) if names is None else names)]


def example(names: Iterable[Any]) -> str:
    return next((repr(plain(x)) for x in names if x is not None), "none")


def subject_pattern(names: Sequence[str], truth: tuple[np.ndarray, ...] = ()) -> str:
    r"""Return a pattern that takes the subject from names of templates; an example if none fits.

    `truth` are the places in `names` of both sides of some pairs, and whether the pairs are
    genuine; the pattern must then give equal subjects to genuine pairs alone.

    Examples
    --------
    >>> subject_pattern(["s1-1", "s1-2", "s2-1", "s2-2"])
    '^(.+)-\\d+$'
    """
    # The subject is a folder, the part before a last number, or the part before a first - or _.
    patterns = ["^([^/]+)/", "/([^/]+)/[^/]+$"]
    patterns += [r"^(.+)-\d+$", r"^(.+)-\d+\.\w+$", r"^(.+)_\d+$", r"^(.+)_\d+\.\w+$"]
    patterns += [r"([^/-]+)-[^/]*$", r"([^/_]+)_[^/]*$"]
    sample = names[:10_000] if not truth else names
    for pattern in patterns:
        matches = [re.search(pattern, str(name)) for name in sample]
        subjects = [match[1] for match in matches if match]
        if len(subjects) < len(sample) or not 1 < len(set(subjects)) <= len(sample) / 2:
            continue
        person = np.unique(subjects, return_inverse=True)[1].reshape(-1)
        if not truth or ((person[truth[0]] == person[truth[1]]) == truth[2]).all():
            return pattern
    return EXAMPLE_PATTERN
