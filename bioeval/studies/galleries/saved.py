"""Expected counts over drawn galleries in a tally file."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.studies.galleries.random_galleries import GalleryTally
from bioeval.tallies import ExactSums

CLASSES = {"GalleryTally": GalleryTally}

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
    ranks = np.shape(getattr(tally.di, "limbs", 0))[2:]
    shapes = {"di": (len(limits) + 1, *ranks), "tied": (1, 1), "within": (4, len(limits))}
    for name, shape in shapes.items():
        sums, empty = getattr(tally, name), ExactSums.of_chances(*shape)
        right = type(sums) is ExactSums and sums.exponent == empty.exponent
        right = right and _is_array(sums.limbs, "i", 3) and sums.limbs.dtype == np.int64
        if not right or sums.limbs.shape != empty.limbs.shape or (sums.limbs < 0).any():
            return f"{name} is not a table of sums"
    if ranks and ranks[0]:
        return ""
    return "it has no ranks"


def _is_array(value: Any, kind: str, dimensions: int) -> bool:
    right = isinstance(value, np.ndarray) and value.ndim == dimensions
    return right and value.dtype.kind == kind
