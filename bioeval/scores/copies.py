"""Copies of a probe in the gallery, and scores of any layout as the test of copies reads them."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.base.messages import Message
from bioeval.scores.cells import Cells
from bioeval.scores.distances import as_distances
from bioeval.scores.excluded import left_out_rows
from bioeval.scores.people import columns_of_probes
from bioeval.scores.same import (
    ENOUGH,
    LEAST_ROWS,
    MOST,
    ONE_OF,
    Copies,
    Scored,
    judged_copies,
    people_of,
)

# What was found in scores that are still in use.
_FOUND: WeakKeyDictionary[Any, Copies | None] = WeakKeyDictionary()


def find_copies(scores: Any) -> Copies | None:
    """Return how many probes seem to be gallery templates that are not known by name.

    None if the scores cannot tell. Comparisons that are left out do not count. The answer is kept
    as long as the scores are in use.
    """
    if scores not in _FOUND:
        is_judged = scores._labelled and not scores.claims and not scores._own_entries_are_stated
        if scores.layout == "pairs":
            is_judged = scores.pairs.templates is not None and scores.pairs.people is not None
        _FOUND[scores] = judged_copies(scored_of(scores)) if is_judged else None
    return _FOUND[scores]


def copies_notes(scores: Any) -> list[Message]:
    """Return the doubt that every call reports, if there are many copies."""
    copies = find_copies(scores)
    return [copies.message(scores.layout)] if copies is not None and copies.are_many else []


def scored_of(scores: Any) -> Scored:
    """Return scores of any layout as the test of :mod:`bioeval.scores.same` reads them."""
    if scores.layout == "pairs":
        return Scored.of_pairs(scores.pairs, scores.kind, scores.codes)
    if scores.layout == "top-k":
        partner = columns_of_probes(scores)
        return Scored.of_lists(scores.lists, scores.kind, scores.codes, partner)
    cells, codes = scores.cells, scores.codes

    def read(rows: np.ndarray, columns: np.ndarray | None, without: bool) -> np.ndarray:
        part = scores.select(probes=rows, gallery=columns)
        raw = part.cells.read(0, len(rows))
        values = -np.array(as_distances(raw, scores.kind, lambda: np.zeros(raw.shape, bool)))
        values = values.astype(np.float64, copy=False)
        if without:
            values[part.probe_ids[:, None] == part.gallery_ids] = np.nan
            if (is_left_out := left_out_rows(part, 0, len(rows))) is not None:
                values[is_left_out] = np.nan
        return values

    most = min(MOST, max(ENOUGH, scores.shape[0] // ONE_OF))
    if cells.streams:  # each row is computed
        most = min(most, max(LEAST_ROWS, scores.shape[0] // ONE_OF // 2))
    return Scored(
        (len(codes.probe), len(codes.gallery)),
        people_of(codes),
        columns_of_probes(scores),
        read,
        scores.kind in LARGER_IS_CLOSER,
        most,
        max(cells.row_chunk, most) if cells.is_stored and cells.row_chunk > 1 else None,
        scores.kind == "order",
        _vectors(cells),
    )


def _vectors(cells: Cells) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the embeddings of both sides of a matrix; None if the scores come from elsewhere."""
    if cells.embeddings is None:
        return None
    probe, gallery = cells.embeddings.embeddings
    rows = slice(None) if cells.rows is None else cells.rows
    columns = slice(None) if cells.columns is None else cells.columns
    return probe[rows], gallery[columns]
