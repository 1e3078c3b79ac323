"""Facts of some probes of a tally: taken, replaced, put one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bioeval.tallies.counts import IdentificationTally
from bioeval.tallies.shared_mates import MateLists

FACTS = ("enrolled", "mate", "closer", "tied", "tied_before", "mates_tied", "mates", "other",
         "others", "nearest_mate", "nearest_other")  # fmt: skip


def of_rows(tally: IdentificationTally, rows: Any) -> IdentificationTally:
    """Return the facts of some probes."""
    chosen: dict[str, Any] = {name: getattr(tally, name)[rows] for name in FACTS}
    return replace(tally, **chosen)


def with_rows(
    tally: IdentificationTally, rows: np.ndarray, found: IdentificationTally
) -> IdentificationTally:
    """Return the facts of all probes, those of some of them as found."""
    changed: dict[str, Any] = {}
    for name in FACTS:
        changed[name] = getattr(tally, name).copy()
        changed[name][rows] = getattr(found, name)
    return replace(tally, **changed)


def joined(parts: Sequence[IdentificationTally]) -> IdentificationTally:
    """Return the probes of all parts in order."""
    both: dict[str, Any] = {
        name: np.concatenate([getattr(x, name) for x in parts]) for name in FACTS
    }
    return replace(parts[0], **both)


def mates_of(tally: IdentificationTally) -> MateLists:
    """Return the mates of a tally as those of site 0, before all others."""
    has = np.flatnonzero(tally.mates > 0)
    none = np.zeros(len(has), dtype=np.int64)
    return MateLists.of(len(tally.mates), has, tally.mate[has], none, none, True)


def untouched(tally: IdentificationTally, found: IdentificationTally) -> np.ndarray:
    """Return the probes that have neither a mate nor a candidate as near as theirs among others.

    `found` are the facts of the same probes against other columns.
    """
    return (found.mates == 0) & ~(found.other <= tally.mate)


def around_old_mates(tally: IdentificationTally, found: IdentificationTally) -> IdentificationTally:
    """Return facts against other columns as those of no candidate near the mates of a tally."""
    zero = np.zeros_like(found.closer)
    none: dict[str, Any] = dict.fromkeys(("closer", "tied", "tied_before", "mates_tied"), zero)
    return replace(found, mate=np.where(tally.mates > 0, tally.mate, np.nan), **none)
