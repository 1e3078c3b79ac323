"""Expected counts over drawn galleries in a tally file."""

from __future__ import annotations

import numpy as np

from bioeval.studies.galleries.random_galleries import GalleryTally
from bioeval.tallies import is_increasing, is_table, is_whole

CLASS = GalleryTally

#: Tasks that have such counts.
NODES = ("open_set", "closed_set")


def damage(tally: GalleryTally) -> str:
    """Return what is wrong with counts from a file, or an empty string."""
    limits = tally.thresholds
    if not is_increasing(limits):
        return "the thresholds are not an increasing list of numbers"
    if tally.ties not in ("pessimistic", "optimistic", "stable", "expected"):
        return "the options it was counted with are damaged"
    numbers = (
        *("genuine", "unmated", "unmated_targets", "targets", "non_targets"),
        *("impostors_enrolled", "impostors_unenrolled", "fewer_mates", "size"),
    )
    if not all(is_whole(getattr(tally, name)) for name in numbers) or tally.size < 1:
        return "its numbers of attempts are damaged"
    if not isinstance(tally.first_unmated, int):
        return "its numbers of attempts are damaged"
    ranks = np.shape(getattr(tally.di, "high", 0))[1:]
    shapes = {"di": (len(limits) + 1, *ranks), "tied": (1, 1), "within": (4, len(limits))}
    for name, shape in shapes.items():
        sums = getattr(tally, name)
        if not all(is_table(getattr(sums, part, None), shape) for part in ("high", "low")):
            return f"{name} is not a table of sums"
    if ranks and ranks[0]:
        return ""
    return "it has no ranks"
