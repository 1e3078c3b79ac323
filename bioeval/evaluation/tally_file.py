"""Checks of a tally that was read from a file: nothing in a file is taken on trust."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.scores.about import About
from bioeval.tallies.counts import (
    CellCounts,
    IdentificationTally,
    ThresholdCounts,
    VerificationTally,
)
from bioeval.tallies.points import VerificationPoints
from bioeval.tallies.reid_counts import MatchLists, ReidTally

# The tallies that each task may have, by name.
NODES: dict[str, tuple[str, ...]] = {
    "verification/single": ("VerificationTally",),
    "verification/multi": ("VerificationTally",),
    "open_set": ("IdentificationTally", "GalleryTally"),
    "closed_set": ("IdentificationTally", "GalleryTally"),
    "reid": ("ReidTally",),
}
OPTIONS = {
    *("note", "thresholds", "far_targets", "max_rank", "ties", "impostors", "unmated"),
    *("ap", "unmatched", "rank_k", "rank_k_over"),
}

_WORDS = ("name", "layout", "kind", "nan", "origin", "gallery", "exclude")
_NUMBERS = ("probes", "gallery_templates", "gallery_subjects")
_FLOATS = ("mate", "other", "nearest_mate", "nearest_other")


def complaint(nodes: dict[str, tuple[Any, Any]]) -> str:
    """Return what is wrong with the tallies and options of a file; an empty string if nothing.

    Parameters
    ----------
    nodes : dict of str to (tally, options)
    """
    if not nodes:
        return "it holds no task"
    for node, (tally, options) in nodes.items():
        if node not in NODES:
            return f"it holds an unknown task {node!r}"
        if not isinstance(options, dict) or not set(options) <= OPTIONS:
            return f"the options of {node} are not those of a task"
        if type(tally).__name__ not in NODES[node]:
            return f"{node} does not hold the counts of its task"
        wrong = _about(tally.about)
        if not wrong and isinstance(tally, VerificationTally):
            wrong = _verification(tally)
        if not wrong and isinstance(tally, IdentificationTally):
            wrong = _identification(tally)
        if not wrong and type(tally).__name__ == "GalleryTally":
            wrong = _gallery(tally)
        if not wrong and isinstance(tally, ReidTally):
            wrong = _retrieval(tally)
        if wrong:
            return f"{node}: {wrong}"
    return ""


def _about(about: Any) -> str:
    if type(about) is not About:
        return "the description of its data is missing"
    right = all(isinstance(getattr(about, k), str) for k in _WORDS)
    right = right and all(_whole(getattr(about, k)) for k in _NUMBERS)
    for k in ("probe_subjects", "enrolled_subjects", "fingerprints", "notes"):
        value = getattr(about, k)
        right = right and isinstance(value, (frozenset, tuple))
        right = right and all(isinstance(x, str) for x in value)
    return "" if right else "the description of its data is damaged"


def _verification(tally: VerificationTally) -> str:
    genuine, cells, given = tally.genuine, tally.impostor, tally.given
    if not _array(genuine, "f") or np.isnan(genuine).any() or not _rises(genuine, strictly=False):
        return "the genuine scores are not an increasing list of numbers"
    if type(cells) is not CellCounts or not _counts(cells.counts):
        return "the impostor counts are not whole numbers of at least 0"
    whole = (cells.negative_infinite, cells.positive_infinite)
    if not all(map(_whole, whole)) or not all(
        isinstance(x, int) for x in (cells.first, cells.exponent)
    ):
        return "the cells of the impostor counts are damaged"
    if len(cells.counts) and not (cells.counts[0] and cells.counts[-1]):
        return "the impostor counts have empty cells at their ends"
    if given is not None:
        right = type(given) is ThresholdCounts and _array(given.thresholds, "f")
        right = right and _counts(given.counts) and _rises(given.thresholds, strictly=True)
        if not right or len(given.counts) != len(given.thresholds) + 1:
            return "the counts between thresholds are damaged"
    if tally.points is not None and type(tally.points) is not VerificationPoints:
        return "the operating points are damaged"
    words = (tally.templates, tally.fusion, tally.claims)
    if not all(isinstance(x, str) for x in words) or not _whole(tally.skipped_claims):
        return "the options it was counted with are damaged"
    return ""


def _identification(tally: IdentificationTally) -> str:
    lengths = set()
    for name, value in vars(tally).items():
        if name in ("about", "rank_unit", "fusion"):
            continue
        kind = "f" if name in _FLOATS else "b" if name == "enrolled" else "i"
        if not _array(value, kind) or (kind == "i" and (value < 0).any()):
            return f"{name} is not a list of the right numbers"
        lengths.add(len(value))
    if len(lengths) != 1:
        return "its lists differ in length"
    if not isinstance(tally.rank_unit, str) or not isinstance(tally.fusion, str):
        return "the options it was counted with are damaged"
    return ""


def _gallery(tally: Any) -> str:
    """Check expected counts over drawn galleries."""
    limits = tally.thresholds
    if not _array(limits, "f") or not _rises(limits, strictly=True):
        return "the thresholds are not an increasing list of numbers"
    if tally.ties not in ("pessimistic", "optimistic", "stable", "expected"):
        return "the options it was counted with are damaged"
    numbers = (
        *("genuine", "unmated", "unmated_targets", "targets", "non_targets"),
        *("impostors_enrolled", "impostors_unenrolled", "size"),
    )
    if not all(_whole(getattr(tally, name)) for name in numbers) or tally.size < 1:
        return "its numbers of attempts are damaged"
    if not isinstance(tally.first_unmated, int):
        return "its numbers of attempts are damaged"
    ranks = np.shape(getattr(tally.di, "high", 0))[1:]
    shapes = {"di": (len(limits) + 1, *ranks), "tied": (1, 1), "within": (4, len(limits))}
    for name, shape in shapes.items():
        sums = getattr(tally, name)
        if not all(_table(getattr(sums, part, None), shape) for part in ("high", "low")):
            return f"{name} is not a table of sums"
    return "" if ranks and ranks[0] else "it has no ranks"


def _table(value: Any, shape: tuple[int, ...]) -> bool:
    right = isinstance(value, np.ndarray) and value.dtype == np.int64 and value.shape == shape
    return right and value.ndim == 2 and not (value < 0).any()


def _retrieval(tally: ReidTally) -> str:
    words = ("convention", "removed", "removed_for_ap", "junk", "cmc", "shots_of")
    if not all(isinstance(getattr(tally, name), str) for name in words):
        return "the convention it was counted with is damaged"
    if not _array(tally.enrolled, "b") or not _counts(tally.removed_entries):
        return "what is said of its queries is damaged"
    queries = len(tally.enrolled)
    if len(tally.removed_entries) != queries:
        return "its lists differ in length"
    for lists in (tally.matches, tally.cmc_matches):
        if lists is not None and not _match_lists(lists, queries):
            return "the matches of its queries are damaged"
    shots, identities = tally.shots, tally.identities
    if (shots is None) == (tally.cmc == "single-gallery-shot"):
        return "its single shots are missing, or should not be there"
    if (identities is None) == (tally.cmc == "identity-dedup"):
        return "its ranks of identities are missing, or should not be there"
    if shots is not None and not (
        isinstance(shots, np.ndarray)
        and shots.ndim == 2
        and shots.dtype.kind == "f"
        and len(shots) == queries
        and ((shots >= 0) & (shots <= 1 + 1e-9)).all()
    ):
        return "its single shots are damaged"
    if identities is not None and not (
        isinstance(identities, np.ndarray)
        and identities.dtype.kind == "i"
        and identities.shape == (queries, 3)
        and (identities >= 0).all()
    ):
        return "its ranks of identities are damaged"
    return ""


def _match_lists(lists: MatchLists, queries: int) -> bool:
    if type(lists) is not MatchLists or not _counts(lists.starts):
        return False
    starts = lists.starts
    if len(starts) != queries + 1 or starts[0] != 0 or not _rises(starts, strictly=False):
        return False
    if not _array(lists.distance, "f") or np.isnan(lists.distance).any():
        return False
    counts = (lists.closer, lists.tied, lists.before)
    if not all(_counts(x) for x in counts):
        return False
    return all(len(x) == starts[-1] for x in (lists.distance, *counts))


def _rises(values: np.ndarray, *, strictly: bool) -> bool:
    later, earlier = values[1:], values[:-1]
    return bool((later > earlier if strictly else later >= earlier).all())


def _array(value: Any, kind: str) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == kind


def _counts(value: Any) -> bool:
    return _array(value, "i") and not (value < 0).any()


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
