"""Counts without some of their scores: what was withdrawn is subtracted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bioeval.base.errors import MergeError
from bioeval.tallies.cells import CELLS
from bioeval.tallies.counts import CellCounts, ThresholdCounts, VerificationTally, require_alike


def subtracted(whole: VerificationTally, part: VerificationTally) -> VerificationTally:
    """Return the counts of a tally without those of a part of its attempts.

    Raises
    ------
    MergeError
        If the part is not in the whole: its scores are others than those that were counted.
    """
    require_alike(whole, part, ("templates", "fusion", "claims", "attempts"))
    given = whole.given
    if given is not None and part.given is not None:
        rest = given.counts - part.given.counts
        _require_within(bool((rest >= 0).all()))
        given = ThresholdCounts(given.thresholds, rest)
    return replace(
        whole,
        genuine=_without(whole.genuine, part.genuine),
        impostor=_cells_without(whole.impostor, part.impostor),
        given=given,
        points=None,
        kept=None,
        people=None,
    )


def grid_is_sure(cells: CellCounts) -> bool:
    """Return whether the cells left are as narrow as those of a count from the beginning.

    They are where their scores do not fit into half as wide ones.
    """
    return not len(cells.counts) or 2 * len(cells.counts) - 2 > CELLS


def _without(values: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Return increasing values without some of them."""
    found, counts = np.unique(values, return_counts=True)
    gone, times = np.unique(some, return_counts=True)
    place = np.searchsorted(found, gone)
    inside = bool((place < len(found)).all()) and bool((found[place] == gone).all())
    _require_within(inside and bool((counts[place] >= times).all()))
    counts[place] -= times
    return np.repeat(found, counts)


def _cells_without(whole: CellCounts, part: CellCounts) -> CellCounts:
    negative = whole.negative_infinite - part.negative_infinite
    positive = whole.positive_infinite - part.positive_infinite
    _require_within(min(negative, positive) >= 0)
    counts = whole.counts.copy()
    if len(part.counts):
        _require_within(part.exponent <= whole.exponent)
        part = part.coarsened(whole.exponent)
        start = part.first - whole.first
        _require_within(start >= 0 and start + len(part.counts) <= len(counts))
        counts[start : start + len(part.counts)] -= part.counts
        _require_within(bool((counts >= 0).all()))
    rest = replace(whole, counts=counts, negative_infinite=negative, positive_infinite=positive)
    return rest.fitted()


def _require_within(right: bool) -> None:
    if not right:
        raise MergeError(
            "the scores to subtract are not among those that were counted: they differ from those "
            "of the tally; count the scores from the beginning"
        )
