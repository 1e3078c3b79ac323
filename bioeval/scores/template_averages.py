"""Templates made of several embeddings: means within media first, then over the media."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bioeval.base.errors import DataError, nearest_name
from bioeval.scores.labels import Codes, missing_values

#: Labels and metadata of one side, by name; the labels have the name "".
Columns = dict[str, np.ndarray]


def average_embeddings(
    embeddings: np.ndarray, columns: Mapping[str, np.ndarray], names: Sequence[str], side: str
) -> tuple[np.ndarray, Columns]:
    """Return one embedding for each template, the mean of means within nested groups.

    Of the names ``("template", "media")``: the mean of the rows of each medium of a template, then
    the mean of these over the template's media, so that a video of a hundred frames weighs as much
    as one photograph. Failed rows (any NaN) are left out; a template of none but these is NaN.

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
    tuple of array, shape (templates, f), and dict
        In the order of the first row of each template.
    """
    groups = [_codes(columns, name, side) for name in names]
    templates, first, template = np.unique(groups[0], return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    kept = ~np.isnan(embeddings).any(axis=1)
    values, keys = embeddings[kept], np.column_stack(groups)[kept]
    for depth in range(len(names), 0, -1):
        values, keys = _means(values, keys[:, :depth])
    found = np.full((len(templates), embeddings.shape[1]), np.nan)
    found[np.searchsorted(templates, keys[:, 0])] = values
    shared = {}
    for name, column in columns.items():
        codes = Codes(column, column).gallery
        differ = codes != codes[first][template]
        if not differ.any():
            shared[name] = column[first][order]
        elif not name:
            row = int(np.argmax(differ))
            raise DataError(
                f"{len(np.unique(template[differ]))} {side} templates hold embeddings of several "
                f"subjects; {names[0]} {columns[names[0]][row]!r} has {column[row]!r} in row "
                f"{row} and {column[first][template[row]]!r} in row {first[template[row]]}; "
                "expected one subject per template"
            )
    return found[order], shared


def _codes(columns: Mapping[str, np.ndarray], name: str, side: str) -> np.ndarray:
    if not name or name not in columns:
        there = [column for column in columns if column]
        raise DataError(
            f"average names {name!r}, but the {side} metadata have "
            f"{', '.join(there) or 'no columns'}.{nearest_name(str(name), there)}"
        )
    missing = missing_values(columns[name])
    if missing.any():
        raise DataError(
            f"the {side} metadata {name!r} lack {int(missing.sum())} values, the first at position "
            f"{int(np.argmax(missing))}; every embedding that is averaged needs one"
        )
    return Codes(columns[name], columns[name], name).gallery


def _means(values: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of the rows of each distinct key, in float64, and the keys."""
    if not len(values):
        return values.astype(np.float64), keys
    order = np.lexsort(keys.T[::-1])
    keys = keys[order]
    starts = np.flatnonzero(np.append(True, (keys[1:] != keys[:-1]).any(axis=1)))
    counts = np.diff(np.append(starts, len(keys)))
    sums = np.add.reduceat(values[order].astype(np.float64), starts, axis=0)
    return sums / counts[:, None], keys[starts]
