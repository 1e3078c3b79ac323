"""Expected counts over drawn galleries in a tally file."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.studies.galleries.fixed_sums import FixedSums
from bioeval.studies.galleries.random_galleries import GalleryTally

CLASSES = {"GalleryTally": GalleryTally, "FixedSums": FixedSums}

#: Tasks that have such counts.
NODES = ("open_set", "closed_set")


def damage(tally: GalleryTally) -> str:
    """Return what is wrong with counts from a file, or an empty string."""
    limits = tally.thresholds
    increasing = _is_array(limits, "f", 1) and bool((limits[1:] > limits[:-1]).all())
    if not increasing or np.isnan(limits).any():
        return "the thresholds are not an increasing list of numbers"
    if tally.ties not in ("pessimistic", "optimistic", "stable", "expected"):
        return "the options it was counted with are damaged"
    numbers = (
        *("genuine", "unmated", "unmated_targets", "targets", "non_targets"),
        *("impostors_enrolled", "impostors_unenrolled", "fewer_mates", "size"),
    )
    for name in numbers:
        number = getattr(tally, name)
        if type(number) is not int or number < 0:
            return "its numbers of attempts are damaged"
    if tally.size < 1 or not isinstance(tally.first_unmated, int):
        return "its numbers of attempts are damaged"
    ranks = np.shape(getattr(tally.di, "high", 0))[1:]
    shapes = {"di": (len(limits) + 1, *ranks), "tied": (1, 1), "within": (4, len(limits))}
    for name, shape in shapes.items():
        sums = getattr(tally, name)
        for part in ("high", "low"):
            table: Any = getattr(sums, part, None)
            right = _is_array(table, "i", 2) and table.dtype == np.int64 and table.shape == shape
            if not right or (table < 0).any():
                return f"{name} is not a table of sums"
    if ranks and ranks[0]:
        return ""
    return "it has no ranks"


def _is_array(value: Any, kind: str, dimensions: int) -> bool:
    right = isinstance(value, np.ndarray) and value.ndim == dimensions
    return right and value.dtype.kind == kind
