"""Embeddings as they are given: checked arrays of features, and means over a template's embeddings.

Features are numbers about a template: no label, name, index or metadata among them. A column is
doubted by its title, or by its numbers: it counts the rows; or it increases by whole numbers from
row to row, or has other whole numbers, among columns that are no whole numbers; or it has one
value for each person, and another value for most other people, while most columns have not. Where
the titles of all columns are a word and a number (``f0``, ``f1`` ...), they are features in any
case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import lgamma, log
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.arguments import joined, require_array
from bioeval.base.errors import DataError, Message, counted
from bioeval.scores.arrays import in_memory, is_stored, wrong_dtype
from bioeval.scores.codes import Codes
from bioeval.scores.labels import CAMERA_COLUMNS, NO_PERSON, are_of_no_person, plain
from bioeval.scores.metadata import LABEL_COLUMNS, NAME_COLUMNS, known_column
from bioeval.scores.sides import index_of

#: Titles of no feature, in lower case.
NO_FEATURES = frozenset(
    ("", "index", "unnamed: 0", "row", "level_0", *LABEL_COLUMNS, *CAMERA_COLUMNS, *NAME_COLUMNS)
    + ("session", "day", "date", "visit", "age", "sex", "gender", "group", "clothes")
    + ("impression", "finger", "medium", "media")
)
_NUMBER = re.compile(r"[0-9]+$")

# In fewer rows, a feature may count the rows, or increase from row to row, by chance.
_FEW_ROWS, _FEW_RISING_ROWS = 5, 8
# In fewer people with several templates, a feature may be constant within people by chance.
_FEW_PEOPLE = 3
# Of so many rows a column is judged before all rows are read.
_FIRST_ROWS = 64
# The largest expected number of columns by which a doubt may be due to chance.
_CHANCE = 0.01


class FeatureSide(NamedTuple):
    """The embeddings of one side, their labels, and the titles of their columns, if they have."""

    values: np.ndarray  # (n, f)
    labels: np.ndarray  # (n,)
    noun: str  # for messages
    titles: Sequence[str] | None = None  # (f,)


def titles_of(values: Any) -> list[str] | None:
    """Return the titles of the columns of a table or of an xarray; None without texts as titles."""
    columns = getattr(values, "columns", None)
    if columns is None and not hasattr(values, "iloc"):
        columns = index_of(values, 1)
    if columns is None or not len(columns) or not any(isinstance(x, str | tuple) for x in columns):
        return None
    return [*map(str, columns)]


def require_features(*sides: FeatureSide) -> None:
    """Raise where a column of the embeddings of both sides does not seem to be a feature."""
    for side in sides:
        for title in _odd_titles(side.titles or ()):
            column = [*(side.titles or ())].index(title)
            raise _error(side, column, "has another title than features have")
    # Titles that are each a word and a number are of features.
    if any(x.titles and all(_NUMBER.sub("", y) not in ("", y) for y in x.titles) for x in sides):
        return
    judged = [x for x in sides if x.values.shape[1] > 1]
    for side in judged:
        for column, why in _by_rows(side)[0]:
            raise _error(side, column, why)
    if len({side.values.shape[1] for side in judged}) == 1:
        for column in _of_people(judged):
            raise _error(judged[0], column, "has one value for each person")
    for side in judged:
        for column in _by_rows(side)[1]:
            raise _error(side, column, "has whole numbers alone, as others have not")


def _error(side: FeatureSide, column: int, why: str) -> DataError:
    width = side.values.shape[1]
    evidence = ", ".join(f"{plain(x)!r}" for x in side.values[:3, column])
    if side.titles is not None:
        title = side.titles[column]
        name = f"the column {title!r} of {width}"
        drop = f'x.drop(columns="{title}")` or, of a file, by `columns={{"{title}": None}}'
        keep = 'x.set_axis([f"f{i}" for i in range(x.shape[1])], axis=1)'
    else:
        name = f"column {column} of {width} (counted from 0)"
        drop = f"np.delete(x, {column}, axis=1)"
        keep = 'pd.DataFrame(x).add_prefix("f")'
    return DataError(
        f"{side.noun}: {name} {why}, such as {evidence} in the first rows, and would be taken for "
        f"a feature. Leave it out, as by `{drop}`; if it is a feature, say so by titles of all "
        f"columns that are a word and a number: `{keep}`, or the first line f0,f1,f2 ... of a text"
    )


def _odd_titles(titles: Sequence[str]) -> list[str]:
    """Return titles that no feature has: known words, and few others among words with numbers."""
    known = [x for x in titles if x.strip().casefold() in NO_FEATURES]
    stems = [_NUMBER.sub("", x) for x in titles]
    numbered = [x for x, stem in zip(titles, stems, strict=True) if x != stem]
    if known or len(numbered) < 3:
        return known
    common = max({*stems}, key=stems.count)
    others = [x for x, stem in zip(titles, stems, strict=True) if stem != common]
    return others if len(others) <= max(1, len(titles) // 8) else []


def _by_rows(side: FeatureSide) -> tuple[list[tuple[int, str]], list[int]]:
    """Return columns that count rows or increase, and why, and few columns of whole numbers."""
    values = side.values
    rows, width = values.shape
    if rows < _FEW_ROWS or values.dtype.kind == "b":
        return [], []
    first_rows = values[:_FIRST_ROWS]
    with np.errstate(invalid="ignore"):
        is_whole = (first_rows == np.floor(first_rows)).all(axis=0)
        rises = np.diff(first_rows.astype(np.float64), axis=0) > 0
        may_rise = np.asarray(rises.all(axis=0))
    are_whole = 2 * is_whole.sum() > width
    if are_whole or rows < _FEW_RISING_ROWS:
        may_rise = np.zeros(width, dtype=bool)
    # Of n whole numbers below n, all differ with the probability n! / n^n.
    by_chance = 2 * width * np.exp(lgamma(rows + 1) - rows * log(rows)) if are_whole else 0.0
    counting, rising, whole = [], [], []
    for i in np.flatnonzero(is_whole):
        column = values[:, i].astype(np.float64)
        low = column.min()
        may_count = by_chance < _CHANCE and low in (0, 1) and column.max() == low + rows - 1
        if may_count and np.array_equal(np.sort(column), np.arange(low, low + rows)):
            counting.append(int(i))
        elif may_rise[i] and (np.diff(column) > 0).all() and (column == np.floor(column)).all():
            rising.append(int(i))
        elif not are_whole and rows >= _FEW_RISING_ROWS and low < column.max():
            # Zeros alone may be a feature that no template has.
            whole += [int(i)] * bool((column == np.floor(column)).all())
    found = [(i, "counts the rows") for i in counting if 2 * len(counting) <= width]
    found += [(i, "increases from row to row") for i in rising if 2 * len(rising) <= width]
    return found, whole if len(whole) <= max(1, width // 8) else []


def _of_people(sides: Sequence[FeatureSide]) -> list[int]:
    """Return the columns that are constant within people, with another value for most people."""
    labels = [str(x) for side in sides for x in side.labels.tolist()]
    is_known = np.concatenate([~are_of_no_person(x.labels, NO_PERSON) for x in sides])
    _, person = np.unique(labels, return_inverse=True)
    known = np.flatnonzero(is_known)
    order = known[np.argsort(person[known], kind="stable")]
    starts = np.flatnonzero(np.diff(person[order], prepend=-1))
    if len(starts) < _FEW_PEOPLE or len(order) - len(starts) < _FEW_PEOPLE:
        return []
    sizes = np.diff(np.append(starts, len(order)))
    starts, sizes = starts[sizes > 1], sizes[sizes > 1]

    def rows(numbers: np.ndarray) -> np.ndarray:
        side = np.searchsorted(np.cumsum([len(x.values) for x in sides]), numbers, side="right")
        first = np.cumsum([0, *(len(x.values) for x in sides)])
        return np.stack([sides[k].values[i - first[k]] for k, i in zip(side, numbers, strict=True)])

    # Most columns are dismissed by two templates of each of a few people.
    few = starts[:_FIRST_ROWS]
    is_constant = (rows(order[few]) == rows(order[few + 1])).all(axis=0)
    width = sides[0].values.shape[1]
    if not is_constant.any() or 2 * is_constant.sum() > width:
        return []
    found = []
    for i in np.flatnonzero(is_constant):
        column = np.concatenate([side.values[:, i] for side in sides])[order]
        everyone = np.flatnonzero(np.diff(person[order], prepend=-1))
        low, high = (f.reduceat(column, everyone) for f in (np.minimum, np.maximum))
        if np.array_equal(low, high) and 2 * len(np.unique(low)) >= len(low):
            found.append(int(i))
    if not found or 2 * len(found) > width:
        return []
    # Features in coarse steps may be constant within all people by chance.
    others = np.setdiff1d(np.arange(width), found)
    usual = float((rows(order[few]) == rows(order[few + 1]))[:, others].mean())
    return found if width * usual ** len(starts) < _CHANCE else []


# -------------------------------------------------------------------------------- arrays, and means


def as_embeddings(values: Any, input_name: str) -> np.ndarray:
    """Return embeddings as a 2-D real array, one row per template."""
    if isinstance(values, np.ma.MaskedArray):
        hidden = counted(np.ma.count_masked(values), "values")
        raise DataError(
            f"{input_name} is a masked array ({hidden} masked); fill it (NaN marks a failed "
            "template)"
        )
    values = joined(values, input_name, 2)
    array = require_array(
        input_name, in_memory(values, input_name) if is_stored(values) else values
    )
    if array.dtype.kind not in "biuf":
        raise wrong_dtype(input_name, array)
    if array.ndim != 2 or 0 in array.shape:
        raise DataError(
            f"{input_name} has shape {array.shape}; expected (templates, features), neither of "
            "them 0"
        )
    return array


def left_out_of(columns: Iterable[str], averaged: Sequence[str]) -> tuple[Message, ...]:
    names = [x for x in columns if x not in averaged]
    return (Message("columns-left-out", columns=names),) if names else ()


def average_embeddings(
    embeddings: np.ndarray, columns: Mapping[str, np.ndarray], names: Sequence[str], side: str
) -> tuple[np.ndarray, dict[str, np.ndarray], dict[str, str]]:
    """Return one embedding for each template, the mean of means within nested groups.

    Templates are in the order of their first rows. Returned are the means (templates, f), NaN if
    all embeddings of the template failed, the columns with a value for each template, and for
    every other column why it is left out.

    For the names ``("template", "media")``, rows are averaged within each medium of a template, and
    the means of media within each template, so that a video of a hundred frames weighs as much as
    one photograph. Failed rows (any NaN) are left out. `columns` are labels, named "", and
    metadata; those that differ within a template are left out.
    """
    meta = {name: column for name, column in columns.items() if name}
    groups = []
    for name in names:
        column = known_column(meta, name, "average", f"{side} embedding")
        groups.append(Codes(column, column, name).gallery)
    _, first_row, template = np.unique(groups[0], return_index=True, return_inverse=True)
    # The mean of means, from the innermost groups of rows to the templates, numbered from 0.
    is_valid = ~np.isnan(embeddings).any(axis=1)
    values = embeddings[is_valid].astype(np.float64)
    keys = np.column_stack([template, *groups[1:]])[is_valid]
    for depth in range(len(names), 0, -1):
        keys = keys[:, :depth]
        if len(values):
            order = np.lexsort(keys.T[::-1])
            keys = keys[order]
            starts = np.flatnonzero(np.append(True, (keys[1:] != keys[:-1]).any(axis=1)))
            counts = np.diff(np.append(starts, len(keys)))
            values = np.add.reduceat(values[order], starts, axis=0) / counts[:, None]
            keys = keys[starts]
    means = np.full((len(first_row), embeddings.shape[1]), np.nan)
    means[keys[:, 0]] = values
    # Labels and metadata with a value for each template.
    order = np.argsort(first_row, kind="stable")
    shared, left_out = {}, {}
    for name, column in columns.items():
        codes = Codes(column, column).gallery
        differ = codes != codes[first_row][template]
        if not differ.any():
            shared[name] = column[first_row][order]
            continue
        row = int(np.argmax(differ))
        first = int(first_row[template[row]])
        template_in_words = f"{names[0]} {plain(columns[names[0]][row])!r}"
        first_value, value = map(plain, column[[first, row]])
        differing = (
            f"{template_in_words} has {first_value!r} in row {first} and {value!r} in row {row}"
        )
        if not name:
            several = counted(len(np.unique(template[differ])), f"{side} templates")
            raise DataError(
                f"embeddings of several subjects in {several}; {differing}; expected one subject "
                "per template"
            )
        left_out[name] = f"differs within a {side} template: {differing}"
    return means[order], shared, left_out
