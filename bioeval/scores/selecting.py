"""Parts of scores: some templates of both sides, some pairs, some queries, or cells as pairs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.arguments import require_array
from bioeval.base.errors import DataError, counted
from bioeval.base.messages import Message
from bioeval.scores.arrays import as_index, named_choice
from bioeval.scores.excluded import excluded
from bioeval.scores.joining import in_order
from bioeval.scores.labels import fixed, one_dimensional
from bioeval.scores.listed_templates import places, require_classes
from bioeval.scores.names import index_of
from bioeval.scores.pairs import PairList

if TYPE_CHECKING:
    from bioeval.scores.score_data import AnyScores, ScoreData


def selected(scores: AnyScores, probes: Any, gallery: Any) -> AnyScores:
    """Return a view of some probes and some gallery templates; None for all."""
    rows = None if probes is None else as_index(probes, scores.shape[0], "probes")
    if scores.layout == "pairs":
        pair = np.arange(scores.shape[0]) if rows is None else rows
        names = None if scores.pair_names is None else scores.pair_names[pair]
        return scores.with_pairs(scores.pairs.select(pair, gallery), pair_names=names)
    columns = None
    if gallery is not None:
        columns = as_index(gallery, scores.cells.shape[1], "gallery")
        require_each_once(columns)
    chosen: dict[str, Any] = {}
    if rows is not None:
        chosen |= {"probe_ids": scores.probe_ids[rows], "probe_labels": scores.probe_labels[rows]}
        chosen["_probe_meta"] = {k: fixed(v[rows]) for k, v in scores.probe_meta.items()}
        if scores.probe_names is not None:
            chosen["_probe_names"] = scores.probe_names[rows]
    if columns is not None:
        chosen["gallery_ids"] = scores.gallery_ids[columns]
        chosen["gallery_labels"] = scores.gallery_labels[columns]
        chosen["_gallery_meta"] = {k: fixed(v[columns]) for k, v in scores.gallery_meta.items()}
        if scores.gallery_names is not None:
            chosen["_gallery_names"] = scores.gallery_names[columns]
    codes = scores.codes.select(rows, columns)
    source = scores._source.select(rows, columns)
    return scores._with(_codes=codes, _source=source, **chosen)


def of_own_columns(scores: AnyScores) -> AnyScores:
    """Return a view of selected columns for which no other columns are computed or inflated."""
    return scores._with(_source=scores.cells.of_own_columns())


def require_each_once(columns: np.ndarray) -> None:
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
    row_names = scores.pair_names if scores.layout == "pairs" else scores.probe_names
    for index, names, argument in (
        (probes, row_names, "`probes`"),
        (gallery, scores.gallery_names, "`gallery`"),
    ):
        is_choice = getattr(getattr(index, "dtype", None), "kind", "") == "b"
        if is_choice and index_of(index) is not None:  # a choice with the names of templates
            in_scores_order = in_order(index, names, argument)
            scores = scores.with_remarks(*in_scores_order.remarks)
            index = in_scores_order.values
        sides.append(_unless_all(index))
    return scores, sides[0], sides[1]


def _unless_all(index: Any) -> Any:
    return None if isinstance(index, slice) and index == slice(None) else index


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
    i = as_index(probe_index, scores.shape[0], "probe_index")
    j = as_index(gallery_index, scores.shape[1], "gallery_index")
    if len(i) != len(j):
        raise DataError(f"probe_index has {len(i)} entries and gallery_index {len(j)}")

    def refuse(wrong: np.ndarray, input_name: str) -> None:
        if wrong.any():
            first = int(np.argmax(wrong))
            raise DataError(
                f"the list has {counted(int(wrong.sum()), 'pairs')} {input_name}, the first is "
                f"pair {first} (row {i[first]}, column {j[first]})"
            )

    refuse(scores.probe_ids[i] == scores.gallery_ids[j], "of a template with itself")
    is_nobody = codes.no_person[codes.probe[i]], codes.no_person[codes.gallery[j]]
    are_nobody = is_nobody[0] & is_nobody[1]
    notes = list[Message]()
    if genuine is None:
        if not scores._labelled:
            raise DataError("genuine is missing: these scores have no labels to derive it from")
        if are_nobody.any():
            notes.append(Message("pairs-of-no-person", pairs=int(are_nobody.sum())))
            i, j = i[~are_nobody], j[~are_nobody]
            if pair_folds is not None:
                pair_folds = one_dimensional(pair_folds, "pair_folds")
                if len(pair_folds) == len(are_nobody):
                    pair_folds = pair_folds[~are_nobody]
            are_nobody = are_nobody[~are_nobody]
        genuine = codes.probe[i] == codes.gallery[j]
    elif scores._labelled and require_array("genuine", genuine).shape == i.shape:
        require_classes(
            np.asarray(genuine) == 1,
            codes.probe[i],
            codes.gallery[j],
            ~(is_nobody[0] | is_nobody[1]),
            lambda rows: places("pair", rows),
        )
    refuse(cells.is_ignored(i, j), "in cells that the mask ignores")
    is_excluded = excluded(scores, i, j) & ~are_nobody  # given classes decide pairs of no person
    refuse(is_excluded, f"left out by exclude={', '.join(scores.exclude)}")
    people = None
    if scores._labelled:
        people = np.empty((len(i), 2), dtype=object)
        people[:, 0], people[:, 1] = scores.gallery_labels[j], scores.probe_labels[i]
    pairs = PairList.from_arrays(
        cells.read_cells(i, j), genuine, subjects=people, pair_folds=pair_folds
    )
    ids = np.column_stack([scores.gallery_ids[j], scores.probe_ids[i]])
    return replace(pairs, ids=ids), notes
