"""Arrays of embeddings: their checks, and the means of the embeddings of a template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bioeval.base.arguments import require_array
from bioeval.base.array_libraries import joined
from bioeval.base.errors import DataError, counted
from bioeval.scores.arrays import in_memory, is_stored, wrong_dtype
from bioeval.scores.codes import Codes
from bioeval.scores.labels import plain
from bioeval.scores.metadata import LABEL_COLUMNS, known_column


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


# In fewer rows, a feature may count the rows, or have one value for each person, by chance.
_FEW_ROWS = 5
# Names of a first column that is no feature.
_NO_FEATURES = ("", "index", "unnamed: 0", "row", *LABEL_COLUMNS)


def names_features(columns: Any) -> bool:
    """Whether the names of columns are texts, and the first is no name of an index or a label."""
    names = [*columns]
    named = bool(names) and all(isinstance(x, str) and not x.isdigit() for x in names)
    return named and names[0].strip().casefold() not in _NO_FEATURES


def require_features(values: np.ndarray, labels: np.ndarray, input_name: str) -> None:
    """Raise where the first column of embeddings is an index of the rows, or their labels."""
    rows, columns = values.shape
    if rows < _FEW_ROWS or columns < 2:
        return
    first = values[:, 0]
    about = ""
    if first.min() in (0, 1) and np.array_equal(np.sort(first), first.min() + np.arange(rows)):
        about = "counts the rows"
    elif _identifies_people(values, labels):
        about = "has one value for each person, which no other column has"
    if about:
        raise DataError(
            f"{input_name}: the first of {columns} columns {about}, and would be taken for a "
            "feature; leave it out (`x[:, 1:]`), or give a table whose columns have names if it "
            "is one"
        )


def _identifies_people(values: np.ndarray, labels: np.ndarray) -> bool:
    """Whether the first column has a value for each person, and no other column has."""
    if len(np.unique(values[:, 0])) == len(values):
        return False
    _, person = np.unique([*map(str, labels.tolist())], return_inverse=True)
    order = np.argsort(person, kind="stable")
    starts = np.flatnonzero(np.diff(person[order], prepend=-1))
    if not 2 < len(starts) < len(order):
        return False

    def is_constant(column: np.ndarray) -> bool:
        sorted_by_person = column[order]
        low = np.minimum.reduceat(sorted_by_person, starts)
        return np.array_equal(low, np.maximum.reduceat(sorted_by_person, starts))

    value_of_person = values[order[starts], 0]
    if len(np.unique(value_of_person)) < len(starts) or not is_constant(values[:, 0]):
        return False
    return not any(is_constant(values[:, i]) for i in range(1, values.shape[1]))


#: Labels and metadata of one side, by name; the labels have the name "".
Columns = dict[str, np.ndarray]


def average_embeddings(
    embeddings: np.ndarray, columns: Mapping[str, np.ndarray], names: Sequence[str], side: str
) -> tuple[np.ndarray, Columns, dict[str, str]]:
    """Return one embedding for each template, the mean of means within nested groups.

    For the names ``("template", "media")``, rows are averaged within each medium of a template, and
    the means of media within each template, so that a video of a hundred frames weighs as much as
    one photograph. Failed rows (any NaN) are left out; a template with failed rows alone is NaN.

    Parameters
    ----------
    embeddings : array, shape (n, f)
    columns : mapping of str to array, shape (n,)
        Labels (named "") and metadata; columns that differ within a template are left out.
    names : sequence of str
        The metadata columns of the groups, outermost first.
    side : str
        "probe" or "gallery", for messages.

    Returns
    -------
    tuple of array, shape (templates, f), and two dict
        The means, in the order of the first row of each template; the columns with a value for
        each template; and for every other column why it is left out.
    """
    meta = {name: column for name, column in columns.items() if name}
    groups = []
    for name in names:
        column = known_column(meta, name, "average", f"{side} embedding")
        groups.append(Codes(column, column, name).gallery)
    templates, first, template = np.unique(groups[0], return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    is_valid = ~np.isnan(embeddings).any(axis=1)
    values = embeddings[is_valid]
    keys = np.column_stack(groups)[is_valid]
    for depth in range(len(names), 0, -1):
        values, keys = _means_by_key(values, keys[:, :depth])
    means = np.full((len(templates), embeddings.shape[1]), np.nan)
    means[np.searchsorted(templates, keys[:, 0])] = values
    shared = {}
    left_out = {}
    for name, column in columns.items():
        codes = Codes(column, column).gallery
        differ = codes != codes[first][template]
        if not differ.any():
            shared[name] = column[first][order]
            continue
        row = int(np.argmax(differ))
        before = int(first[template[row]])
        if not name:
            templates_that_differ = counted(len(np.unique(template[differ])), f"{side} templates")
            raise DataError(
                f"embeddings of several subjects in {templates_that_differ}; {names[0]} "
                f"{columns[names[0]][row]!r} has {column[row]!r} in row {row} and "
                f"{column[before]!r} in row {before}; expected one subject per template"
            )
        clip = plain(columns[names[0]][row])
        values = [*map(plain, column[[before, row]])]
        left_out[name] = (
            f"differs within a {side} template: {names[0]} {clip!r} has {values[0]!r} in row "
            f"{before} and {values[1]!r} in row {row}"
        )
    return means[order], shared, left_out


def _means_by_key(values: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of the rows with equal keys, and each key once, in order."""
    if not len(values):
        return values.astype(np.float64), keys
    order = np.lexsort(keys.T[::-1])
    keys = keys[order]
    starts = np.flatnonzero(np.append(True, (keys[1:] != keys[:-1]).any(axis=1)))
    counts = np.diff(np.append(starts, len(keys)))
    sums = np.add.reduceat(values[order].astype(np.float64), starts, axis=0)
    return sums / counts[:, None], keys[starts]
