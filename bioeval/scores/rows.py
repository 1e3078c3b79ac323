"""Rows of a matrix as blocks of attempts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NoReturn

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.memory import memory_limited
from bioeval.base.options import OPTIONS
from bioeval.base.progress import report, reporter
from bioeval.base.threads import at_most
from bioeval.scores.blocks import Block, is_few
from bioeval.scores.distances import as_distances, with_failures
from bioeval.scores.excluded import excluded, excluded_rows, failed_cells, left_out_rows
from bioeval.scores.gallery_order import GalleryOrder
from bioeval.scores.labels import plain
from bioeval.scores.masks import Mask
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.row_memory import give_back, rows_per_block

# Fewer cells than this are counted on one thread: a second thread would cost more time than it
# saves.
SERIAL_CELLS = 1 << 18

# A matrix of one set of templates has few scores up to this many times the cells of a matrix of two
# sets, since at most half of its cells are sorted.
ALL_AGAINST_ALL = 4


@contextmanager
def threads_for(scores: Scores) -> Iterator[None]:
    """Count on the threads of the options inside, or on one thread if scores are few.

    The counts are the same on any number of threads.
    """
    is_small = math.prod(scores.shape) < SERIAL_CELLS
    limited = memory_limited(scores._memory_limit) if scores._limited else nullcontext()
    with at_most(1 if is_small else OPTIONS["threads"] or math.inf), limited:
        yield


def attempted(scores: Scores, low: int, high: int) -> np.ndarray:
    """Return the distances of rows ``low:high``, float64 (h, n), with NaN for no attempt."""
    raw = scores.cells.read(low, high)
    values = as_distances(raw, scores.kind, lambda: np.ones(raw.shape, dtype=bool))
    values = np.array(values, dtype=np.float64, order="C")
    values[scores.probe_ids[low:high, None] == scores.gallery_ids] = np.nan
    left_out = left_out_rows(scores, low, high)
    if left_out is not None:
        values[left_out] = np.nan
    return values


def distances_at(scores: Scores, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return as_distances(scores.cells.read_cells(rows, columns)[None], scores.kind)[0]


def blocks_of(scores: Scores, *, reported: bool = True) -> Iterator[Block]:
    """Yield all rows in blocks, in order; if `reported`, to the option `progress` too."""
    tell = reporter() if reported else report
    probe_count = scores.shape[0]
    step = rows_per_block(scores)
    for low in range(0, probe_count, step):
        high = min(low + step, probe_count)
        yield read_rows(scores, slice(low, high))
        give_back(scores)
        tell(high, probe_count)


def read_rows(
    scores: Scores, rows: slice | np.ndarray, gallery: GalleryOrder | None = None
) -> Block:
    """Return some rows, a slice or indices, as a block of genuine and impostor attempts.

    Columns are in the order of `gallery`, by default subject by subject.
    """
    gallery = scores.gallery_order if gallery is None else gallery
    cells = scores.cells
    low, high = 0, len(scores.probe_ids[rows])
    if isinstance(rows, slice):
        low, high = rows.start, rows.stop
    else:
        cells = cells.select(rows, None)
    raw = cells.read(low, high, gallery.order)
    mask = None if cells.mask is None else cells.read_mask(low, high, gallery.order)
    left_out = _cells_left_out(scores, gallery, rows, mask)

    def unread() -> np.ndarray:
        is_left_out = np.zeros(raw.shape, dtype=bool)
        for cells_left_out in left_out:
            is_left_out[cells_left_out] = True
        return is_left_out

    values = as_distances(raw, scores.kind, unread)
    if np.may_share_memory(values, raw):  # the memory may be the user's
        values = values.copy()
    for cells_left_out in left_out:
        values[cells_left_out] = 0  # a NaN here is no failed attempt
    values = _by_policy(scores, values)
    for cells_left_out in left_out:
        values[cells_left_out] = np.nan
    if knows_people(scores):
        row, position = gallery.same_subject_cells(rows)
    else:
        assert mask is not None
        row, position = np.nonzero(mask == Mask.GENUINE)
    return Block(
        values,
        np.arange(scores.shape[0])[rows, None],
        gallery.columns,
        low,
        gallery.lines,
        few=has_few(scores),
        rejected=scores.nan == "reject",
        mated=(row, position),
    )


def _cells_left_out(
    scores: Scores, gallery: GalleryOrder, rows: slice | np.ndarray, mask: np.ndarray | None
) -> list[Any]:
    """Return the cells that are no attempts, as places or as flags that index a block of `rows`."""
    own_position = gallery.probe_position[rows]
    has_own = np.flatnonzero(own_position >= 0)
    left_out: list[Any] = [(has_own, own_position[has_own])]
    if scores.exclusions.rules:
        left_out.append(_excluded(scores, gallery, rows))
    if mask is not None:
        _check_mask(scores, gallery, mask, rows)
        left_out.append(mask == Mask.IGNORE)
    return left_out


def _by_policy(scores: Scores, values: np.ndarray) -> np.ndarray:
    if scores.nan == "reject":
        failed = np.isnan(values)
        if failed.any() or (values == np.inf).any():
            return with_failures(values, failed)
    elif scores.nan == "raise":
        with np.errstate(invalid="ignore"):  # the minimum is NaN if any value is
            if np.isnan(values.min(initial=np.inf)):
                raise_nan(scores)
    return values


def _excluded(scores: Scores, gallery: GalleryOrder, rows: slice | np.ndarray) -> Any:
    """Return the cells that `exclude` leaves out, as an index: a mask, or rows and positions."""
    order = gallery.order
    if scores.exclusions.of_all:
        return excluded_rows(scores, rows, order)
    row, position = gallery.same_subject_cells(rows)
    probe = np.arange(scores.shape[0])[rows][row]
    is_excluded = excluded(scores, probe, position if order is None else order[position])
    return row[is_excluded], position[is_excluded]


def _check_mask(
    scores: Scores, order: GalleryOrder, mask: np.ndarray, rows: slice | np.ndarray
) -> None:
    if not scores._labelled:
        return
    codes = scores.codes
    is_nobody = codes.no_person
    probe = codes.probe[rows]
    gallery = codes.gallery[order.columns[0]]
    is_genuine = probe[:, None] == gallery
    classes = np.where(is_genuine, Mask.GENUINE, Mask.IMPOSTOR)
    wrong = (mask != Mask.IGNORE) & (mask != classes)
    # These are no attempts, whatever the mask says.
    wrong &= ~(is_nobody[probe][:, None] & is_nobody[gallery])
    wrong &= np.arange(mask.shape[1]) != order.probe_position[rows][:, None]
    if wrong.any():
        place, position = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        row = int(np.arange(scores.shape[0])[rows][place])
        column = int(order.columns[0, position])
        raise DataError(
            f"the mask contradicts the labels, first at row {row}, column {column} (mask "
            f"{mask[place, position]}, labels {plain(scores.probe_labels[row])!r} and "
            f"{plain(scores.gallery_labels[column])!r}); give booleans (True: an attempt), mark "
            "what to leave out with 0, or give the mask without labels"
        )


def raise_nan(scores: Scores) -> NoReturn:
    """Raise with the number of NaN among the attempts, and the cell of the first."""
    failed = [cells for cells in failed_cells(scores) if len(cells[0])]
    row, column, _ = failed[0]  # the caller has found a NaN
    count = sum(len(row) for row, _, _ in failed)
    raise DataError(
        f"the scores hold {count} NaN, the first at row {row[0]}, column {column[0]}; choose "
        'how to treat failed comparisons: `nan="reject"` (as attempts that no threshold accepts) '
        'or `nan="exclude"` (no attempt)'
    )


def has_few(scores: Scores) -> bool:
    cells = math.prod(scores.shape)
    return is_few(-(-cells // ALL_AGAINST_ALL) if scores.layout == "all-against-all" else cells)


def among_distances(scores: Scores, threshold: Any) -> Any:
    """Return thresholds as distances of blocks have them: an infinite one accepts no failure."""
    if scores.nan == "reject":
        return np.minimum(threshold, np.finfo(np.float64).max)
    return threshold
