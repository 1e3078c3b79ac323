"""The worst pairs: the nearest impostor pairs and the farthest genuine pairs."""

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


def _worst_cells(scores: Scores, n: int, mirrored: bool) -> list[list[np.ndarray]]:
    """Return distances, rows and columns of `n` impostor cells, and of `n` genuine ones.

    In a `mirrored` matrix, two templates may be compared in both directions; each pair is taken
    once.
    """
    # Of each class, the cells with the smallest values so far, by value, row and column: values are
    # distances of impostors, and negative distances of genuine pairs.
    most = n * (1 + mirrored)
    no_index = np.empty(0, dtype=np.int64)
    worst: list[list[np.ndarray]] = [[np.empty(0), no_index, no_index] for _ in range(2)]
    with threads_for(scores):
        for block in blocks_of(scores):
            # If there are enough, a cell of a later row must be worse.
            far, near = (
                np.nextafter(x[-1], -np.inf) if len(x) == most else np.inf for x, *_ in worst
            )
            distances, _ = block.impostors().scores()  # failed comparisons have no score
            i, j = np.nonzero(is_accepted(distances, far))
            impostor = distances[i, j].astype(np.float64), block.probes[i], block.candidates[j]
            row, column, value = block.genuine()
            if block.rejected:
                value = scored(value)
            value = -value.astype(np.float64)
            is_included = value <= near
            genuine = value[is_included], row[is_included], column[is_included]
            for k, new in enumerate((impostor, genuine)):
                cells = [np.concatenate([old, x]) for old, x in zip(worst[k], new, strict=True)]
                if len(cells[0]) > most:
                    is_least = cells[0] <= np.partition(cells[0], most - 1)[most - 1]
                    cells = [x[is_least] for x in cells]
                order = np.lexsort(cells[::-1])[:most]
                worst[k] = [x[order] for x in cells]
    worst[1][0] = -worst[1][0]
    if not mirrored:
        return worst
    for k, (_, row, column) in enumerate(worst):  # the first cell of each pair of templates
        ids = np.sort([scores.probe_ids[row], scores.gallery_ids[column]], axis=0)
        first = np.sort(np.unique(ids, axis=1, return_index=True)[1])[:n]
        worst[k] = [x[first] for x in worst[k]]
    return worst


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
    distance, row, column = map(np.concatenate, zip(impostor, genuine, strict=True))
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
    if (tries := deciding_tries(scores, row, column)) is not None:
        probe_row, probe_meta = tries
        values["try"] = probe_row
    sides = (("probe", probe_meta, probe_row), ("gallery", scores.gallery_meta, column))
    # Names of variables in netCDF have no slash.
    names_without_slash = without_slashes([*scores.probe_meta, *scores.gallery_meta])
    column_of_variable: dict[str, str] = {}  # metadata columns whose names have a slash
    for side, meta, line in sides:
        for name, data in meta.items():
            variable = f"{side}_meta_{names_without_slash[name]}"
            values[variable] = _numbers_or_texts(data[line])
            names[variable] = Variable(f"{name} of the {side} template")
            if name != names_without_slash[name]:
                column_of_variable[variable] = name
    attrs = about_attrs(Provenance.from_scores(scores), "worst-pairs", "worst pairs", [])
    attrs["pairs"] = "each pair once" if mirrored else "each comparison"
    ds = dataset(variables_over(("pair",), **values), names, {"pair": np.arange(len(row))}, attrs)
    for variable, name in column_of_variable.items():
        ds[variable].attrs["column"] = name
    return ds


def _numbers_or_texts(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "biuf":
        return values
    return np.array(list(map(str, values.tolist())), dtype=object)
