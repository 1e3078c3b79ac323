"""Parts of scores: some templates of both sides, some pairs, some queries, or cells as pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.arguments import require_array
from bioeval.base.errors import DataError, counted
from bioeval.base.messages import Message
from bioeval.scores.arrays import as_index, named_choice
from bioeval.scores.excluded import excluded
from bioeval.scores.labels import one_dimensional, read_only
from bioeval.scores.listed_templates import places_in_words, require_classes
from bioeval.scores.pairs import PairList
from bioeval.scores.sides import in_order, index_of

if TYPE_CHECKING:
    from bioeval.scores.score_data import AnyScores, ScoreData


def selected(scores: AnyScores, probes: Any, gallery: Any) -> AnyScores:
    """Return a view of some probes and some gallery templates; None for all."""
    rows = None if probes is None else as_index(probes, scores.shape[0], "probes")
    if scores.layout == "pairs":
        pair = np.arange(scores.shape[0]) if rows is None else rows
        keys = scores.pair_keys.take(pair)
        return scores.with_pairs(scores.pairs.select(pair, gallery), pair_keys=keys)
    columns = None
    if gallery is not None:
        columns = as_index(gallery, scores.cells.shape[1], "gallery")
        require_distinct_columns(columns)
    chosen = _part_of_side(scores, "probe", rows) | _part_of_side(scores, "gallery", columns)
    codes = scores.codes.select(rows, columns)
    source = scores._source.select(rows, columns)
    return scores._with(_codes=codes, _source=source, **chosen)


def _part_of_side(scores: ScoreData, side: str, index: np.ndarray | None) -> dict[str, Any]:
    """Return the attributes of some templates of the side ``"probe"`` or ``"gallery"``."""
    if index is None:
        return {}
    meta: Mapping[str, np.ndarray] = getattr(scores, f"{side}_meta")
    return {
        f"{side}_ids": getattr(scores, f"{side}_ids")[index],
        f"{side}_labels": getattr(scores, f"{side}_labels")[index],
        f"_{side}_meta": {name: read_only(column[index]) for name, column in meta.items()},
        f"_{side}_keys": scores.keys(int(side == "gallery")).take(index),
    }


def of_own_columns(scores: AnyScores) -> AnyScores:
    """Return a view of selected columns for which no other columns are computed or inflated."""
    return scores._with(_source=scores.cells.of_own_columns())


def require_distinct_columns(columns: np.ndarray) -> None:
    """Raise :class:`DataError` where a gallery has a template more than once."""
    if (np.diff(columns) <= 0).any() and len(np.unique(columns)) != len(columns):
        raise DataError("gallery selects a template more than once")


def chosen_sides(
    scores: AnyScores, index: tuple[Any, ...], probes: Any, gallery: Any
) -> tuple[AnyScores, Any, Any]:
    """Return the probes and the gallery of the arguments of :meth:`Scores.select`; None for all.

    The returned scores have a remark if a boolean choice with names was taken by place.
    """
    if index:
        if len(index) > 2 or probes is not None or gallery is not None:
            raise DataError(
                "select takes one index of both sides, two of probes and gallery, or the "
                "arguments probes= and gallery="
            )
        if len(index) == 1:
            index = named_choice(index[0]) or index
        if len(index) == 1:
            index = _sides_of_one(scores, index[0])
        probes, gallery = index
    sides = []
    row_keys = scores.pair_keys if scores.layout == "pairs" else scores.keys(0)
    for index, keys, argument in (
        (probes, row_keys, "`probes`"),
        (gallery, scores.keys(1), "`gallery`"),
    ):
        is_choice = getattr(getattr(index, "dtype", None), "kind", "") == "b"
        if is_choice and index_of(index) is not None:  # a choice with keys
            in_scores_order = in_order(index, keys, argument)
            scores = scores.with_remarks(*in_scores_order.remarks)
            index = in_scores_order.values
        is_whole = isinstance(index, slice) and index == slice(None)
        sides.append(None if is_whole else index)
    return scores, sides[0], sides[1]


def _sides_of_one(scores: ScoreData, index: Any) -> tuple[Any, Any]:
    if scores.layout in ("pairs", "top-k"):
        return index, None
    if index is not None and not np.array_equal(scores.probe_ids, scores.gallery_ids):
        probe_count, gallery_count = scores.shape
        raise DataError(
            f"one index takes the same templates on both sides, but the {probe_count:,} probes and "
            f"the {gallery_count:,} gallery templates are not the same; give "
            "scores.select(probes=...) or scores.select(gallery=...)"
        )
    return index, index


def pairs_at(
    scores: ScoreData, probe_index: Any, gallery_index: Any, genuine: Any, pair_folds: Any
) -> tuple[PairList, list[Message]]:
    """Return cells as pairs, and notes on them, for :meth:`bioeval.Scores.at_pairs`."""
    cells, codes = scores.cells, scores.codes
    row = as_index(probe_index, scores.shape[0], "probe_index")
    column = as_index(gallery_index, scores.shape[1], "gallery_index")
    if len(row) != len(column):
        raise DataError(f"probe_index has {len(row)} entries and gallery_index {len(column)}")
    itself = scores.probe_ids[row] == scores.gallery_ids[column]
    _refuse_cells(itself, row, column, "of a template with itself")
    is_nobody = codes.no_person[codes.probe[row]], codes.no_person[codes.gallery[column]]
    are_nobody = is_nobody[0] & is_nobody[1]
    notes = list[Message]()
    if genuine is None:
        if not scores._labelled:
            raise DataError("genuine is missing: these scores have no labels to derive it from")
        if are_nobody.any():
            notes.append(Message("pairs-of-no-person", pairs=int(are_nobody.sum())))
            pair_folds = _of_pairs(pair_folds, ~are_nobody)
            row, column = row[~are_nobody], column[~are_nobody]
            are_nobody = np.zeros(len(row), dtype=bool)
        genuine = codes.probe[row] == codes.gallery[column]
    elif scores._labelled and require_array("genuine", genuine).shape == row.shape:
        require_classes(
            np.asarray(genuine) == 1,
            codes.gallery[column],
            codes.probe[row],
            ~(is_nobody[0] | is_nobody[1]),
            partial(places_in_words, "pair"),
        )
    _refuse_cells(cells.is_ignored(row, column), row, column, "in cells that the mask ignores")
    # Given classes decide pairs of no person.
    is_excluded = excluded(scores, row, column) & ~are_nobody
    _refuse_cells(is_excluded, row, column, f"left out by exclude={', '.join(scores.exclude)}")
    people = None
    if scores._labelled:
        people = np.empty((len(row), 2), dtype=object)
        people[:, 0] = scores.gallery_labels[column]
        people[:, 1] = scores.probe_labels[row]
    pairs = PairList.from_arrays(
        cells.read_cells(row, column), genuine, subjects=people, pair_folds=pair_folds
    )
    ids = np.column_stack([scores.gallery_ids[column], scores.probe_ids[row]])
    return replace(pairs, ids=ids), notes


def _refuse_cells(is_wrong: np.ndarray, row: np.ndarray, column: np.ndarray, which: str) -> None:
    """Raise if any cell of a list is wrong; the message says of the pairs `which` they are."""
    if is_wrong.any():
        first = int(np.argmax(is_wrong))
        raise DataError(
            f"the list has {counted(int(is_wrong.sum()), 'pairs')} {which}, the first is "
            f"pair {first} (row {row[first]}, column {column[first]})"
        )


def _of_pairs(folds: Any, is_chosen: np.ndarray) -> Any:
    """Return the folds of some pairs; unchanged if their number is wrong, for a later error."""
    if folds is None:
        return None
    folds = one_dimensional(folds, "pair_folds")
    return folds[is_chosen] if len(folds) == len(is_chosen) else folds
