"""The worst pairs: the impostors that are nearest, the genuine ones that are farthest."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from bioeval.attempts.cells import is_accepted
from bioeval.attempts.thresholds import require_values, to_user
from bioeval.base.arguments import require_integer
from bioeval.base.errors import ProtocolError
from bioeval.base.progress import rows_reported
from bioeval.base.scalars import Name
from bioeval.results.dataset import about_attrs, along, build
from bioeval.scores.blocks import Block, BlockReader, threads_for
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores, are_pairs, codes_of, knows_people

WORST_PAIRS = {
    "pair": Name("worst pair: the nearest impostors, then the farthest genuine ones"),
    "comparison": Name("impostor or genuine", ""),
    "row": Name("row of the probe in the matrix"),
    "column": Name("column of the gallery template in the matrix"),
    "probe_label": Name("subject of the probe", ""),
    "gallery_label": Name("subject of the gallery template", ""),
    "score": Name("score of the pair", "score"),
    "label_error": Name(
        "whether the two subjects are nearer to each other than to themselves, as after an error "
        "of labels"
    ),
}


# The columns of a data frame that come first; metadata, such as the names of images, come last.
_COLUMNS = ("score", "probe_label", "gallery_label", "label_error", "row", "column")


class WorstPairs(xr.Dataset):
    """The worst pairs."""

    __slots__ = ()

    def to_dataframe(self, dim_order: Sequence[Hashable] | None = None) -> pd.DataFrame:
        """Return the pairs as a table: impostor and genuine apart, each with the worst first.

        Its index is ``comparison`` and ``place``, from 1. Metadata, such as the names of images,
        are the last columns.
        """
        frame = super().to_dataframe(dim_order)
        if "comparison" not in frame:
            return frame
        place = frame.groupby("comparison", sort=False).cumcount() + 1
        frame = frame.set_index(["comparison", place.rename("place")])
        first = [name for name in _COLUMNS if name in frame]
        return frame[list(dict.fromkeys([*first, *frame]))]


class LeastCells:
    """The `most` smallest values that were added, in order of value, row and column."""

    def __init__(self, most: int):
        self.most = most
        self.value = np.empty(0)
        self.row = self.column = np.empty(0, dtype=np.int64)

    @property
    def limit(self) -> float:
        """The largest value that a cell of a later row may have to be included."""
        if len(self.value) < self.most:
            return np.inf
        return np.nextafter(self.value[-1], -np.inf)

    def add(self, value: np.ndarray, row: np.ndarray, column: np.ndarray) -> None:
        """Add some cells, without NaN."""
        value = np.concatenate([self.value, value.astype(np.float64)])
        row, column = np.concatenate([self.row, row]), np.concatenate([self.column, column])
        if len(value) > self.most:
            near = value <= np.partition(value, self.most - 1)[self.most - 1]
            value, row, column = value[near], row[near], column[near]
        order = np.lexsort((column, row, value))[: self.most]
        self.value, self.row, self.column = value[order], row[order], column[order]

    def without_mirrored(self, scores: Scores, most: int) -> None:
        """Keep each pair of templates once, at its first place, up to `most` pairs."""
        ids = np.stack([scores.probe_ids[self.row], scores.gallery_ids[self.column]])
        _, first = np.unique(np.sort(ids, axis=0), axis=1, return_index=True)
        first = np.sort(first)[:most]
        self.value, self.row, self.column = self.value[first], self.row[first], self.column[first]


def worst_cells(reader: BlockReader, n: int, mirrored: bool) -> tuple[LeastCells, LeastCells]:
    """Return the `n` nearest impostor cells, and the `n` farthest genuine ones.

    The values of the one are distances; those of the other are negated distances.

    Of a `mirrored` matrix, in which two templates may be compared both ways, each pair of templates
    is taken once.
    """
    scores, most = reader.scores, n * (1 + mirrored)
    impostor, genuine = LeastCells(most), LeastCells(most)
    with threads_for(scores):
        for block in reader.blocks():
            _add_impostors(impostor, block)
            _add_genuine(genuine, block)
    if mirrored:
        impostor.without_mirrored(scores, n)
        genuine.without_mirrored(scores, n)
    return impostor, genuine


def _add_impostors(cells: LeastCells, block: Block) -> None:
    impostors = block.impostors()
    row, position = np.nonzero(is_accepted(impostors, cells.limit))
    cells.add(impostors[row, position], block.low + row, _columns(block, row, position))


def _add_genuine(cells: LeastCells, block: Block) -> None:
    row, position = mate_cells(block)
    value = -block.values[row, position].astype(np.float64)
    near = value <= cells.limit  # which NaN is not
    row, position, value = row[near], position[near], value[near]
    cells.add(value, block.low + row, _columns(block, row, position))


def mate_cells(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Return row and position of the cells of each probe's own subject, except the probe."""
    row, position = block.same_subject_cells()
    other = position != block.probe_position[row]
    return row[other], position[other]


def _columns(block: Block, row: np.ndarray, position: np.ndarray) -> np.ndarray:
    return np.broadcast_to(block.columns, block.values.shape)[row, position]


@leaves_out_attacks
def worst_pairs(
    scores: Scores,
    n: int = 20,
) -> WorstPairs:
    """Return the nearest impostor pairs and the farthest genuine pairs.

    Parameters
    ----------
    scores : Scores
        A matrix of either layout, with labels.
    n : int
        Number of pairs of each kind, at most; all of them where there are fewer.

    Returns
    -------
    WorstPairs
        An ``xarray.Dataset`` of which ``to_dataframe()`` is the table of the pairs.
        Over ``pair``, nearest impostors first, then the farthest genuine pairs: ``comparison``
        (``"impostor"``, ``"genuine"``), ``row column`` in the matrix, ``probe_label
        gallery_label score label_error``, and each metadata column as ``probe_meta_<name>`` and
        ``gallery_meta_<name>``. Labels and metadata other than numbers are text.

    Raises
    ------
    DataError
        Bad options; NaN under ``nan="raise"``.
    ProtocolError
        Order-only scores, lists of pairs, top-K lists, and scores with a mask but no labels.

    Notes
    -----
    Ties are in order of row, then column. Comparisons that are not attempts (a template with
    itself, masked, excluded, NaN under ``nan="exclude"``) are left out; failed ones under
    ``nan="reject"`` are at an infinite distance. Where the same templates are on both sides
    (all-against-all), each pair of templates is listed once, symmetric or not: in its worse
    direction, or the first of two equal ones: the attribute ``pairs`` is ``"each
    pair once"``, else ``"each comparison"``.

    Label errors: `label_error` marks an impostor pair if every score between templates of its two
    subjects, in both directions, is strictly nearer than every genuine score within either of the
    two, and each of the two has a genuine score, which takes two templates (against another
    gallery: one on either side). It is False for genuine pairs, which have one subject. The rows of
    the pairs' subjects are read again for it.

    Single templates under a wrong label are found by :func:`check_data`.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[0, 6, 2, 3], [6, 0, 1, 4], [2, 1, 0, 5], [3, 4, 5, 0]]
    >>> ds = be.worst_pairs(be.Scores(d, ["ann", "ann", "bob", "bob"]), 1)
    >>> ds.row.values, ds.column.values, ds.score.values
    (array([1, 0]), array([2, 1]), array([1., 6.]))
    >>> ds.label_error.values
    array([ True, False])
    >>> ds.to_dataframe().score.to_dict()
    {('impostor', 1): 1.0, ('genuine', 1): 6.0}
    """
    reader = BlockReader(scores)
    n = require_integer("n", n, low=1)
    require_values(scores, "the list of worst pairs")
    if are_pairs(scores):
        raise ProtocolError("worst pairs are of a matrix; a list of pairs can be sorted by score")
    if not knows_people(scores):
        raise ProtocolError(
            "worst pairs need the labels of probes and gallery; a mask alone does not name subjects"
        )
    mirrored = bool(np.isin(scores.probe_ids, scores.gallery_ids).any())
    with rows_reported():
        impostor, genuine = worst_cells(reader, n, mirrored)
    row = np.concatenate([impostor.row, genuine.row])
    column = np.concatenate([impostor.column, genuine.column])
    distance = np.concatenate([impostor.value, -genuine.value])
    count = len(impostor.row)
    error = np.zeros(len(row), dtype=bool)
    error[:count] = _label_errors(scores, row[:count], column[:count])
    kinds = np.repeat(np.array(["impostor", "genuine"], dtype=object), [count, len(row) - count])
    values = {
        "comparison": kinds,
        "row": row,
        "column": column,
        "probe_label": _storable(scores.probe_labels[row]),
        "gallery_label": _storable(scores.gallery_labels[column]),
        "score": to_user(distance, scores.kind),
        "label_error": error,
    }
    names = dict(WORST_PAIRS)
    sides = (("probe", scores.probe_meta, row), ("gallery", scores.gallery_meta, column))
    for side, meta, place in sides:
        for name, data in meta.items():
            key = f"{side}_meta_{name.replace('/', '_')}"  # netCDF names have no slash
            values[key] = _storable(data[place])
            names[key] = Name(f"{name} of the {side} template", "")
    attrs = about_attrs(reader.about, "worst-pairs", "worst pairs", [])
    attrs["pairs"] = "each pair once" if mirrored else "each comparison"
    dataset = build(along(("pair",), **values), names, {"pair": np.arange(len(row))}, attrs)
    return WorstPairs(dataset.data_vars, dataset.coords, dataset.attrs)


def _label_errors(scores: Scores, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Return for impostor pairs whether the subjects are nearer to each other than themselves."""
    codes = codes_of(scores)
    sides = np.sort(np.stack([codes.probe[row], codes.gallery[column]], 1), axis=1)
    pairs, back = np.unique(sides, axis=0, return_inverse=True)
    wrong = np.array([_mutually_nearer(scores, pair) for pair in pairs], dtype=bool)
    return wrong[back.reshape(-1)]


def _mutually_nearer(scores: Scores, subjects: np.ndarray) -> bool:
    """Whether two subjects fulfil the rule of label errors."""
    codes = codes_of(scores)
    probes = np.flatnonzero(np.isin(codes.probe, subjects))
    gallery = np.flatnonzero(np.isin(codes.gallery, subjects))
    part = scores.select(probes, gallery)
    block = BlockReader(part).block(0, len(probes))
    row, position = mate_cells(block)
    within, across = block.values[row, position], block.values.copy()
    for i in range(len(probes)):
        across[i, block.mate_start[i] : block.mate_stop[i]] = np.nan
    known = ~np.isnan(within)
    if len(np.unique(codes_of(part).probe[row[known]])) < 2:
        return False
    return bool(np.nanmax(across) < within[known].min())


def _storable(values: np.ndarray) -> np.ndarray:
    """Return values as numbers or text, as netCDF needs them."""
    if values.dtype.kind in "biuf":
        return values
    return np.array(list(map(str, values.tolist())), dtype=object)
