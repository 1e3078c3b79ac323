"""Comparisons of a matrix that are no attempts, by a mask, by `exclude` or by a protocol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.arguments import require_list, require_text
from bioeval.base.errors import DataError, ProtocolError
from bioeval.scores.arrays import row_spans
from bioeval.scores.cells import ProtocolMask
from bioeval.scores.codes import Codes
from bioeval.scores.exclusions import Exclusion, ExclusionRule, Exclusions
from bioeval.scores.masks import Mask
from bioeval.scores.requirements import require_kept

if TYPE_CHECKING:
    from bioeval.scores.score_data import AnyScores, ScoreData


def as_exclusions(scores: ScoreData, exclude: Sequence[str]) -> tuple[str, ...]:
    """Return the checked forms of `exclude`, whose columns both sides have."""
    texts = [exclude] if isinstance(exclude, str) else require_list("exclude", exclude)
    if texts and scores.layout == "pairs":
        raise ProtocolError("a pair list excludes nothing by metadata; leave the pairs out")
    if texts and scores.layout == "top-k":
        raise ProtocolError(
            "`exclude` needs a matrix of scores: top-K lists leave out by camera alone, with "
            "removed= of bioeval.reid"
        )
    for text in texts:
        require_text("exclude", text)
        exclusion = Exclusion.parse(text)
        sides = (scores.probe_meta, scores.gallery_meta)
        require_kept(scores, exclusion.column, "exclude", *sides)
        exclusion.require(*sides)
    if texts and not scores._labelled:
        raise DataError("exclude needs labels; a mask does not identify subjects")
    return tuple(dict.fromkeys(texts))


def leaving_out(scores: AnyScores, codes: Codes, rules: Sequence[ExclusionRule]) -> AnyScores:
    """Return a view with other codes of subjects, and with further exclusions."""
    texts = (rule.exclusion.text for rule in rules)
    view = scores._with(_codes=codes, exclude=(*scores.exclude, *texts))
    view._set(exclusions=Exclusions([*scores.exclusions.rules, *rules]))
    return view


def excludes_same(scores: ScoreData, column: str) -> bool:
    return not {column, f"all:{column}"}.isdisjoint(scores.exclude)


def excluded(scores: ScoreData, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return which of the cells ``(i, j)`` exclusions leave out, bool (cells,)."""
    mates = scores.codes.probe[i] == scores.codes.gallery[j]
    return np.zeros(len(i), dtype=bool) | scores.exclusions.hold(i, j, mates)


def excluded_rows(
    scores: ScoreData, rows: slice | np.ndarray, order: np.ndarray | None = None
) -> np.ndarray:
    """Return which cells of some rows exclusions leave out, with the columns in `order`."""
    columns = slice(None) if order is None else order
    mates = scores.codes.probe[rows, None] == scores.codes.gallery[columns]
    left_out = scores.exclusions.hold(np.arange(scores.shape[0])[rows, None], columns, mates)
    return np.zeros(mates.shape, dtype=bool) | left_out


def masked(scores: AnyScores, mask: Any) -> AnyScores:
    return scores._with(_source=scores.cells.masked(mask))


def left_out_rows(
    scores: ScoreData, low: int, high: int, order: np.ndarray | None = None
) -> np.ndarray | None:
    """Return which cells of rows ``low:high`` a mask or exclusions leave out.

    None if there is neither.
    """
    left_out = None
    if scores.has_mask:
        left_out = scores.cells.read_mask(low, high, order) == Mask.IGNORE
    if scores.exclusions.rules:
        excluded_cells = excluded_rows(scores, slice(low, high), order)
        left_out = excluded_cells if left_out is None else left_out | excluded_cells
    return left_out


def attempted_cells(scores: ScoreData, low: int, high: int) -> np.ndarray:
    """Return which cells of rows ``low:high`` are neither left out nor excluded failures.

    Cells of a template with itself are among them.
    """
    left_out = left_out_rows(scores, low, high)
    is_attempt = np.ones((high - low, scores.shape[1]), dtype=bool)
    if left_out is not None:
        is_attempt &= ~left_out
    if scores.nan == "exclude" and scores.dtype.kind == "f":
        is_attempt &= ~scores.cells.missing(low, high, failures=True)
    return is_attempt


def failed_cells(scores: ScoreData) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield the rows and columns of failed comparisons, and which of them are genuine.

    Comparisons that a mask or an exclusion leaves out have not failed.
    """
    probe_count, gallery_count = scores.shape
    for low, high in row_spans(probe_count, gallery_count):
        failed = scores.cells.missing(low, high, failures=True)
        if not failed.any():
            continue
        failed &= scores.probe_ids[low:high, None] != scores.gallery_ids
        left_out = left_out_rows(scores, low, high)
        if left_out is not None:
            failed &= ~left_out
        row, column = np.nonzero(failed)
        if scores._labelled:
            genuine = scores.codes.probe[low + row] == scores.codes.gallery[column]
        else:
            genuine = scores.cells.read_mask(low, high)[row, column] == Mask.GENUINE
        yield low + row, column, genuine


def has_rules(scores: ScoreData) -> bool:
    """Whether a protocol leaves out comparisons of two templates."""
    return bool(scores.exclusions.rules) or isinstance(scores.cells.mask, ProtocolMask)


def left_out_by_protocol(scores: ScoreData, rows: np.ndarray) -> np.ndarray:
    """Return which cells of some rows are to have no comparison.

    They compare a template with itself, or a protocol leaves them out.
    """
    left_out = scores.probe_ids[rows, None] == scores.gallery_ids
    if scores.exclusions.rules:
        mates = scores.codes.probe[rows, None] == scores.codes.gallery
        left_out |= scores.exclusions.hold(rows[:, None], slice(None), mates)
    return left_out | scores.cells.removed(rows)
