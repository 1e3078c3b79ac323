"""Counts of the same probes in two parts of a gallery: added, where the mates were shared."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from bioeval.base.errors import MergeError
from bioeval.scores.about import about_of_union
from bioeval.tallies.counts import IdentificationTally, VerificationTally, require_alike
from bioeval.tallies.reid_counts import GomTally, MatchLists, ReidTally, require_same_entries

# What the parts of a gallery have in common, and the nearest of either.
_SAME = ("mate",)
_NEAREST = ("other", "nearest_mate", "nearest_other")


def union_of_tallies(mine: Any, theirs: Any) -> Any:
    """Return the counts of the same probes against both parts of a gallery.

    Attempts of verification add up. The ranks of the shared mates do, too.
    """
    about = about_of_union(mine.about, theirs.about)
    if isinstance(mine, VerificationTally):
        return replace(mine.merge(theirs), about=about)
    if isinstance(mine, IdentificationTally):
        require_alike(mine, theirs, ("rank_unit", "fusion"))
        return replace(mine, about=about, **facts_of_union(mine, theirs))
    rules = ("convention", "removed", "junk")
    if isinstance(mine, ReidTally):
        require_alike(mine, theirs, (*rules, "removed_for_ap", "cmc"))
    elif isinstance(mine, GomTally):
        require_alike(mine, theirs, (*rules, "variant", "low", "high"))
    else:
        raise MergeError(f"a {type(mine).__name__} has no parts of a gallery")
    return replace(mine, about=about, **_entries(mine, theirs))


def facts_of_union(mine: IdentificationTally, theirs: IdentificationTally) -> dict[str, Any]:
    """Return the facts of each probe over both parts."""
    found: dict[str, Any] = {}
    for f in fields(mine):
        a, b = getattr(mine, f.name), getattr(theirs, f.name)
        if not isinstance(a, np.ndarray):
            continue
        if f.name in _SAME:
            _require_same(np.array_equal(a, b, equal_nan=True))
            found[f.name] = a
        elif f.name in _NEAREST:
            found[f.name] = np.fmin(a, b)
        else:
            found[f.name] = a | b if a.dtype == bool else a + b
    return found


def _entries(mine: Any, theirs: Any) -> dict[str, Any]:
    """Return the entries and the ranks of matches over both parts."""
    require_same_entries(mine.thresholds, theirs.thresholds)
    found: dict[str, Any] = {
        "enrolled": mine.enrolled | theirs.enrolled,
        "removed_entries": mine.removed_entries + theirs.removed_entries,
    }
    if mine.retrieved is not None:
        found["retrieved"] = mine.retrieved + theirs.retrieved
    for name in ("matches", "cmc_matches"):
        lists = getattr(mine, name, None)
        if lists is not None:
            found[name] = _matches(lists, getattr(theirs, name))
    return found


def _matches(mine: MatchLists, theirs: MatchLists) -> MatchLists:
    _require_same(
        np.array_equal(mine.starts, theirs.starts)
        and np.array_equal(mine.distance, theirs.distance)
    )
    names = ("closer", "tied", "before")
    return replace(mine, **{x: getattr(mine, x) + getattr(theirs, x) for x in names})


def _require_same(same: bool) -> None:
    if not same:
        raise MergeError("parts of a gallery that counted around different mates; share them anew")
