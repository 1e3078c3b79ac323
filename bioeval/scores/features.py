"""Embeddings as they are given: doubtful columns, checked arrays, and means over a template.

A table of embeddings easily holds a column that is no feature, such as a label or an index:

    label  row     f0     f1
        7    0   0.31  -1.20
        7    1   0.28  -1.13
        9    2  -0.85   0.44

:func:`require_features` doubts a column for one of these reasons, in this order:

1. Its title is a known one, such as ``session``, or not a word and a number as other titles are.
2. Its numbers count the rows, or are whole and increase from row to row.
3. It has one value for each person, and another value for most other people.
4. It has whole numbers alone.

A reason of the numbers counts only if most columns do not give it too. Where the titles of all
columns are a word and a number (``f0``, ``f1`` ...), their numbers are not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import lgamma, log
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.arguments import joined, require_array
from bioeval.base.errors import DataError, Message, counted
from bioeval.scores.arrays import in_memory, wrong_dtype
from bioeval.scores.codes import Codes
from bioeval.scores.keys import index_of
from bioeval.scores.labels import CAMERA_COLUMNS, NO_PERSON, are_of_no_person, plain
from bioeval.scores.metadata import LABEL_COLUMNS, NAME_COLUMNS, known_column
from bioeval.scores.stored import is_stored

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
# At most one of so many columns is unlike the others; more of them are features of another kind.
_RARE = 8
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
    # Pandas numbers the columns of a table without titles.
    if columns is None or not any(isinstance(title, str | tuple) for title in columns):
        return None
    return [*map(str, columns)]


def require_features(*sides: FeatureSide) -> None:
    """Raise where a column of the embeddings of both sides does not seem to be a feature."""
    for side in sides:
        titles = list(side.titles or ())
        odd_titles = _odd_titles(titles)
        if odd_titles:
            column = titles.index(odd_titles[0])
            raise _error(side, column, "has another title than features have")
    if any(_are_numbered(side.titles or ()) for side in sides):
        return  # the user says by the titles that all columns are features

    # A column is judged beside the others, so there must be others.
    judged = [side for side in sides if side.values.shape[1] > 1]
    whole_columns = [_whole_columns(side) for side in judged]
    for side, (counting, rising, _) in zip(judged, whole_columns, strict=True):
        if counting:
            raise _error(side, counting[0], "counts the rows")
        if rising:
            raise _error(side, rising[0], "increases from row to row")
    if len({side.values.shape[1] for side in judged}) == 1:
        columns = _columns_of_people(judged)
        if columns:
            raise _error(judged[0], columns[0], "has one value for each person")
    for side, (_, _, others) in zip(judged, whole_columns, strict=True):
        if others:
            raise _error(side, others[0], "has whole numbers alone, as others have not")


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


def _are_numbered(titles: Sequence[str]) -> bool:
    """Whether there are titles, and each is a word and a number."""
    return bool(titles) and all(_NUMBER.sub("", title) not in ("", title) for title in titles)


def _odd_titles(titles: Sequence[str]) -> list[str]:
    """Return titles that no feature has: known words, and few others among words with numbers."""
    known_titles = [title for title in titles if title.strip().casefold() in NO_FEATURES]
    stems = [_NUMBER.sub("", title) for title in titles]
    numbered = sum(title != stem for title, stem in zip(titles, stems, strict=True))
    # Less than three numbered titles, such as "left1" and "left2", do not make a rule.
    if known_titles or numbered < 3:
        return known_titles
    usual_stem = max({*stems}, key=stems.count)
    others = [title for title, stem in zip(titles, stems, strict=True) if stem != usual_stem]
    return others if len(others) <= max(1, len(titles) // _RARE) else []


def _whole_columns(side: FeatureSide) -> tuple[list[int], list[int], list[int]]:
    """Return the columns of whole numbers: that count rows, that increase, and few others.

    A list is empty where so many columns belong in it that they may well be features.
    """
    values = side.values
    rows, width = values.shape
    if rows < _FEW_ROWS or values.dtype.kind == "b":
        return [], [], []
    # Most columns are dismissed by their first rows.
    first_rows = values[:_FIRST_ROWS]
    with np.errstate(invalid="ignore"):
        begins_whole = (first_rows == np.floor(first_rows)).all(axis=0)
    # Features that are counts or quantized are whole numbers too: then only counting is odd.
    mostly_whole = 2 * begins_whole.sum() > width
    # Of n whole numbers below n, all differ with the probability n! / n^n. Twice, since they may
    # begin at 0 or at 1.
    expected_by_chance = 0.0
    if mostly_whole:
        expected_by_chance = 2 * width * np.exp(lgamma(rows + 1) - rows * log(rows))

    counting, rising, others = [], [], []
    for i in np.flatnonzero(begins_whole).tolist():
        column = values[:, i].astype(np.float64)
        low, high = column.min(), column.max()
        may_count = expected_by_chance < _CHANCE and low in (0, 1) and high == low + rows - 1
        if may_count and np.array_equal(np.sort(column), np.arange(low, low + rows)):
            counting.append(i)
            continue
        if mostly_whole or rows < _FEW_RISING_ROWS or (column != np.floor(column)).any():
            continue
        with np.errstate(invalid="ignore"):  # differences of infinite values
            is_rising = (np.diff(column) > 0).all()
        if is_rising:
            rising.append(i)
        elif low < high:  # zeros alone may be a feature that no template has
            others.append(i)
    return (
        counting if 2 * len(counting) <= width else [],
        rising if 2 * len(rising) <= width else [],
        others if len(others) <= max(1, width // _RARE) else [],
    )


def _columns_of_people(sides: Sequence[FeatureSide]) -> list[int]:
    """Return the columns that are constant within people, with another value for most people.

    All sides have the same number of columns. Their rows are numbered together, side after side.
    """
    labels = [str(label) for side in sides for label in side.labels.tolist()]
    is_person = np.concatenate([~are_of_no_person(side.labels, NO_PERSON) for side in sides])
    _, person = np.unique(labels, return_inverse=True)
    # The rows of people in order, person by person, and where each person begins among them.
    order = np.flatnonzero(is_person)
    order = order[np.argsort(person[order], kind="stable")]
    starts = np.flatnonzero(np.diff(person[order], prepend=-1))
    if len(starts) < _FEW_PEOPLE or len(order) - len(starts) < _FEW_PEOPLE:
        return []
    template_counts = np.diff(np.append(starts, len(order)))
    several_starts = starts[template_counts > 1]  # of people with several templates

    # Most columns are dismissed by two templates of each of a few people.
    few_starts = several_starts[:_FIRST_ROWS]
    first, second = _rows_of(sides, order[few_starts]), _rows_of(sides, order[few_starts + 1])
    is_same = first == second  # (people, columns)
    may_be_label = is_same.all(axis=0)
    width = len(may_be_label)
    if not may_be_label.any() or 2 * may_be_label.sum() > width:
        return []
    found = []
    for i in np.flatnonzero(may_be_label).tolist():
        column = np.concatenate([side.values[:, i] for side in sides])[order]
        low, high = np.minimum.reduceat(column, starts), np.maximum.reduceat(column, starts)
        if np.array_equal(low, high) and 2 * len(np.unique(low)) >= len(low):
            found.append(i)
    if not found or 2 * len(found) > width:
        return []
    # Features in coarse steps may be constant within all people by chance. How often two templates
    # of a person have the same value is seen in the other columns.
    others = np.setdiff1d(np.arange(width), found)
    same_by_chance = float(is_same[:, others].mean())
    expected_by_chance = width * same_by_chance ** len(several_starts)
    return found if expected_by_chance < _CHANCE else []


def _rows_of(sides: Sequence[FeatureSide], rows: np.ndarray) -> np.ndarray:
    """Return some rows of the embeddings, (rows, columns); they are numbered side after side."""
    ends = np.cumsum([len(side.values) for side in sides])
    picked = []
    for row, number in zip(rows, np.searchsorted(ends, rows, side="right"), strict=True):
        values = sides[number].values
        first_row = ends[number] - len(values)
        picked.append(values[row - first_row])
    return np.stack(picked)


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
    is_valid = ~np.isnan(embeddings).any(axis=1)
    keys = np.column_stack([template, *groups[1:]])[is_valid]
    means = np.full((len(first_row), embeddings.shape[1]), np.nan)
    valid_templates, means_of_valid = _nested_means(embeddings[is_valid].astype(np.float64), keys)
    means[valid_templates] = means_of_valid

    # Labels and metadata with a value for each template, which is the value of its first row.
    order = np.argsort(first_row, kind="stable")
    shared, left_out = {}, {}
    for name, column in columns.items():
        codes = Codes(column, column).gallery
        differs = codes != codes[first_row][template]  # (rows,)
        if not differs.any():
            shared[name] = column[first_row][order]
            continue
        row = int(np.argmax(differs))
        first = int(first_row[template[row]])
        name_of_template = plain(columns[names[0]][row])
        evidence = (
            f"{names[0]} {name_of_template!r} has {plain(column[first])!r} in row {first} and "
            f"{plain(column[row])!r} in row {row}"
        )
        if not name:
            several = counted(len(np.unique(template[differs])), f"{side} templates")
            raise DataError(
                f"embeddings of several subjects in {several}; {evidence}; expected one subject "
                "per template"
            )
        left_out[name] = f"differs within a {side} template: {evidence}"
    return means[order], shared, left_out


def _nested_means(values: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the templates that have rows, and the means of each, (templates, f).

    A row of `keys` (n, depth) is the template, the group within the template, and so on, of a row
    of `values` (n, f). Rows are averaged in the innermost groups first, then the means of groups in
    the groups around them, and last in each template.
    """
    for depth in range(keys.shape[1], 0, -1):
        keys = keys[:, :depth]
        if not len(keys):
            break  # all embeddings failed
        order = np.lexsort(keys.T[::-1])  # the last key of lexsort is the first to sort by
        keys, values = keys[order], values[order]
        is_first_of_group = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))
        starts = np.flatnonzero(is_first_of_group)
        counts = np.diff(np.append(starts, len(keys)))
        values = np.add.reduceat(values, starts, axis=0) / counts[:, None]
        keys = keys[starts]
    return keys[:, 0], values
