"""Arrays of embeddings: their checks, and the means of the embeddings of a template."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.arguments import require_array
from bioeval.base.array_libraries import joined
from bioeval.base.errors import DataError, counted
from bioeval.base.messages import Message
from bioeval.scores.arrays import in_memory, is_stored, wrong_dtype
from bioeval.scores.codes import Codes
from bioeval.scores.labels import plain
from bioeval.scores.metadata import known_column


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


class AveragedEmbeddings(NamedTuple):
    """One embedding for each template, in the order of the first row of each template."""

    means: np.ndarray  # (templates, f); NaN if all embeddings of the template failed
    columns: dict[str, np.ndarray]  # labels, named "", and metadata with a value for each template
    left_out: dict[str, str]  # for every other column why it is left out


def left_out_of(columns: Iterable[str], averaged: Sequence[str]) -> tuple[Message, ...]:
    """Return the message of columns that averaging leaves out, but for the `averaged` groups."""
    names = [x for x in columns if x not in averaged]
    return (Message("columns-left-out", columns=names),) if names else ()


class _TemplatesOfRows(NamedTuple):
    """The template of each embedding; templates are numbered from 0."""

    template: np.ndarray  # int64 (n,)
    first_row: np.ndarray  # int64 (templates,)


def average_embeddings(
    embeddings: np.ndarray, columns: Mapping[str, np.ndarray], names: Sequence[str], side: str
) -> AveragedEmbeddings:
    """Return one embedding for each template, the mean of means within nested groups.

    For the names ``("template", "media")``, rows are averaged within each medium of a template, and
    the means of media within each template, so that a video of a hundred frames weighs as much as
    one photograph. Failed rows (any NaN) are left out.

    Parameters
    ----------
    embeddings : array, shape (n, f)
    columns : mapping of str to array, shape (n,)
        Labels (named "") and metadata; columns that differ within a template are left out.
    names : sequence of str
        The metadata columns of the groups, outermost first.
    side : str
        "probe" or "gallery", for messages.
    """
    meta = {name: column for name, column in columns.items() if name}
    groups = []
    for name in names:
        column = known_column(meta, name, "average", f"{side} embedding")
        groups.append(Codes(column, column, name).gallery)
    _, first_row, template = np.unique(groups[0], return_index=True, return_inverse=True)
    templates = _TemplatesOfRows(template, first_row)
    order = np.argsort(first_row, kind="stable")
    means = _means_of_templates(embeddings, np.column_stack([template, *groups[1:]]))
    shared = {}
    left_out = {}
    for name, column in columns.items():
        why = _difference_within(templates, name, column, (names[0], columns[names[0]]), side)
        if why:
            left_out[name] = why
        else:
            shared[name] = column[first_row][order]
    return AveragedEmbeddings(means[order], shared, left_out)


def _means_of_templates(embeddings: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the mean of means of each template, (templates, f).

    The columns of `groups` (n, depth) number the groups of the rows, outermost first.
    """
    is_valid = ~np.isnan(embeddings).any(axis=1)
    values = embeddings[is_valid]
    keys = groups[is_valid]
    for depth in range(groups.shape[1], 0, -1):
        values, keys = _means_by_key(values, keys[:, :depth])
    means = np.full((int(groups[:, 0].max()) + 1, embeddings.shape[1]), np.nan)
    means[keys[:, 0]] = values
    return means


def _difference_within(
    templates: _TemplatesOfRows,
    name: str,
    column: np.ndarray,
    named_templates: tuple[str, np.ndarray],
    side: str,
) -> str:
    """Return why a column has no value for each template, in words; empty if it has.

    `named_templates` are the name and the values (n,) of the column of templates. Raise
    :class:`DataError` if labels, whose `name` is empty, differ.
    """
    codes = Codes(column, column).gallery
    differ = codes != codes[templates.first_row][templates.template]
    if not differ.any():
        return ""
    row = int(np.argmax(differ))
    first = int(templates.first_row[templates.template[row]])
    template = f"{named_templates[0]} {plain(named_templates[1][row])!r}"
    values = [*map(plain, column[[first, row]])]
    differing = f"{template} has {values[0]!r} in row {first} and {values[1]!r} in row {row}"
    if not name:
        several = counted(len(np.unique(templates.template[differ])), f"{side} templates")
        raise DataError(
            f"embeddings of several subjects in {several}; {differing}; expected one subject per "
            "template"
        )
    return f"differs within a {side} template: {differing}"


def _means_by_key(values: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if not len(values):
        return values.astype(np.float64), keys
    order = np.lexsort(keys.T[::-1])
    keys = keys[order]
    starts = np.flatnonzero(np.append(True, (keys[1:] != keys[:-1]).any(axis=1)))
    counts = np.diff(np.append(starts, len(keys)))
    sums = np.add.reduceat(values[order].astype(np.float64), starts, axis=0)
    return sums / counts[:, None], keys[starts]
