"""The worst pairs: the nearest impostor pairs and the farthest genuine pairs.

The definition, by the cells of the matrix::

    impostor = sorted((distance, row, column) for each impostor attempt)[:n]
    genuine = sorted((-distance, row, column) for each genuine attempt)[:n]

If templates are on both sides, a pair of templates may have two cells, of which the first counts.
"""

from __future__ import annotations

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_integer
from bioeval.base.errors import ProtocolError
from bioeval.base.progress import rows_reported
from bioeval.counting.thresholds import is_accepted, require_values, to_user
from bioeval.results.attributes import about_attrs, without_slashes
from bioeval.results.dataset import dataset, variables_over
from bioeval.results.variables import Variable
from bioeval.scores.claim_scores import deciding_tries
from bioeval.scores.distances import scored
from bioeval.scores.matrix import Scores, require_all_scores
from bioeval.scores.people import knows_people
from bioeval.scores.provenance import Provenance
from bioeval.scores.rows import blocks_of, threads_for
from bioeval.showing.messages import warns_of_doubts

WORST_PAIRS = {
    "pair": Variable(
        "worst pair: the nearest impostors, then the farthest genuine ones", "1", label="pair"
    ),
    "comparison": Variable("impostor or genuine", label="comparison"),
    "row": Variable("row of the probe in the matrix", "1", label="row"),
    "column": Variable("column of the gallery template in the matrix", "1", label="column"),
    "try": Variable("row, in the matrix that claims were made of, of the try that decided", "1"),
    "probe_label": Variable("subject of the probe", label="probe"),
    "gallery_label": Variable("subject of the gallery template", label="gallery"),
    "score": Variable("score of the pair", "score", label="score"),
}


@warns_of_doubts
def worst_pairs(scores: Scores, n: int = 20) -> xr.Dataset:
    """Return the nearest impostor pairs and the farthest genuine pairs.

    Parameters
    ----------
    scores : Scores
        A matrix of either layout, with labels.
    n : int
        Number of pairs of each kind, at most; all of them where there are fewer.

    Returns
    -------
    xarray.Dataset
        Variables over ``pair``, nearest impostors first, then the farthest genuine pairs:

        - ``comparison``: ``"impostor"`` or ``"genuine"``
        - ``row`` and ``column`` in the matrix
        - ``probe_label``, ``gallery_label`` and ``score``
        - ``probe_meta_<name>`` and ``gallery_meta_<name>``: each metadata column, with ``_`` for a
          slash and its name as the attribute ``column``
        - ``try``, where claims have several tries: the nearest try, which decided, as a row of the
          matrix from which claims were made; the metadata of the probe are the metadata of this row

        Labels and metadata other than numbers are text.

    Raises
    ------
    DataError
        Bad options; NaN under ``nan="raise"``.
    ProtocolError
        Order-only scores, lists of pairs, top-K lists, and scores with a mask but no labels.

    Notes
    -----
    - Ties are in order of row, then column.
    - Comparisons that are not attempts (a template with itself, masked, excluded) are left out, and
      failed ones, which have no score.
    - Where the same templates are on both sides (all-against-all), each pair of templates is listed
      once, symmetric or not: in its worse direction, or the first of two equal ones. The attribute
      ``pairs`` is then ``"each pair once"``, else ``"each comparison"``.

    Look at these pairs to find templates under a wrong label, and people with two names.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[0, 6, 2, 3], [6, 0, 1, 4], [2, 1, 0, 5], [3, 4, 5, 0]]
    >>> ds = be.worst_pairs(be.Scores(d, ["ann", "ann", "bob", "bob"]), 1)
    >>> ds.row.values, ds.column.values, ds.score.values
    (array([1, 0]), array([2, 1]), array([1., 6.]))
    """
    require_all_scores(scores)
    n = require_integer("n", n, low=1)
    require_values(scores, "the list of worst pairs")
    if scores.layout == "pairs":
        raise ProtocolError("worst pairs are of a matrix; a list of pairs can be sorted by score")
    if not knows_people(scores):
        raise ProtocolError(
            "worst pairs need the labels of probes and gallery; a mask alone does not name subjects"
        )

    mirrored = bool(np.isin(scores.probe_ids, scores.gallery_ids).any())
    with rows_reported():
        impostor, genuine = _worst_cells(scores, n, mirrored)
    numbers = [len(impostor[0]), len(genuine[0])]
    distance, row, column = (np.concatenate(both) for both in zip(impostor, genuine, strict=True))
    values = {
        "comparison": np.repeat(np.array(["impostor", "genuine"], dtype=object), numbers),
        "row": row,
        "column": column,
        "probe_label": _numbers_or_texts(scores.probe_labels[row]),
        "gallery_label": _numbers_or_texts(scores.gallery_labels[column]),
        "score": to_user(distance, scores.kind),
    }

    # The metadata of both templates; the probe of claims of several tries is the deciding try.
    names = dict(WORST_PAIRS)
    probe_meta, probe_row = scores.probe_meta, row
    tries = deciding_tries(scores, row, column)
    if tries is not None:
        probe_row, probe_meta = tries
        values["try"] = probe_row
    sides = (("probe", probe_meta, probe_row), ("gallery", scores.gallery_meta, column))
    # Names of variables in netCDF have no slash.
    names_without_slash = without_slashes([*scores.probe_meta, *scores.gallery_meta])
    column_of_variable: dict[str, str] = {}  # metadata columns whose names have a slash
    for side, meta, template in sides:
        for name, data in meta.items():
            variable = f"{side}_meta_{names_without_slash[name]}"
            values[variable] = _numbers_or_texts(data[template])
            names[variable] = Variable(f"{name} of the {side} template")
            if name != names_without_slash[name]:
                column_of_variable[variable] = name
    attrs = about_attrs(Provenance.from_scores(scores), "worst-pairs", "worst pairs", [])
    attrs["pairs"] = "each pair once" if mirrored else "each comparison"
    ds = dataset(variables_over(("pair",), **values), names, {"pair": np.arange(len(row))}, attrs)
    for variable, name in column_of_variable.items():
        ds[variable].attrs["column"] = name
    return ds


#: Cells of the matrix: their values, rows and columns, each (cells,).
Cells = tuple[np.ndarray, np.ndarray, np.ndarray]


def _worst_cells(scores: Scores, n: int, mirrored: bool) -> tuple[Cells, Cells]:
    """Return `n` impostor cells and `n` genuine cells, with distances as their values.

    In a `mirrored` matrix, two templates may be compared in both directions; each pair is taken
    once.
    """
    # Of each class, the cells with the smallest values so far: values are distances of impostors,
    # and negative distances of genuine pairs. Of `n` pairs in both directions, all cells are kept.
    most = 2 * n if mirrored else n
    no_index = np.empty(0, dtype=np.int64)
    impostor: Cells = np.empty(0), no_index, no_index
    genuine: Cells = np.empty(0), no_index, no_index
    with threads_for(scores):
        for block in blocks_of(scores):
            distances, _ = block.impostors().scores()  # failed comparisons have no score
            i, j = np.nonzero(is_accepted(distances, _largest_needed(impostor, most)))
            value = distances[i, j].astype(np.float64)
            impostor = _smallest(impostor, (value, block.probes[i], block.candidates[j]), most)

            row, column, distance = block.genuine()
            if block.rejected:
                distance = scored(distance)
            value = -distance.astype(np.float64)
            is_needed = value <= _largest_needed(genuine, most)
            genuine = _smallest(
                genuine, (value[is_needed], row[is_needed], column[is_needed]), most
            )
    value, row, column = genuine
    genuine = -value, row, column
    if mirrored:
        return _each_pair_once(scores, impostor, n), _each_pair_once(scores, genuine, n)
    return impostor, genuine


def _largest_needed(cells: Cells, most: int) -> float:
    """Return the largest value with which a cell of a later row is among the smallest."""
    values = cells[0]
    if len(values) < most:
        return np.inf
    # Of equal values, those of earlier rows come first.
    return np.nextafter(values[-1], -np.inf)


def _smallest(cells: Cells, further: Cells, most: int) -> Cells:
    """Return the cells with the smallest values, `most` at most, by value, row and column."""
    value, row, column = (np.concatenate(both) for both in zip(cells, further, strict=True))
    if len(value) > most:  # a partition is faster than a sort of all
        is_small = value <= np.partition(value, most - 1)[most - 1]
        value, row, column = value[is_small], row[is_small], column[is_small]
    order = np.lexsort((column, row, value))[:most]
    return value[order], row[order], column[order]


def _each_pair_once(scores: Scores, cells: Cells, n: int) -> Cells:
    """Return the first `n` cells without those of a pair of templates that is in an earlier one."""
    value, row, column = cells
    pairs = np.sort([scores.probe_ids[row], scores.gallery_ids[column]], axis=0)  # (2, cells)
    _, first_of_pair = np.unique(pairs, axis=1, return_index=True)
    kept = np.sort(first_of_pair)[:n]
    return value[kept], row[kept], column[kept]


def _numbers_or_texts(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "biuf":
        return values
    return np.array(list(map(str, values.tolist())), dtype=object)
