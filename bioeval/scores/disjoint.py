"""Pairs of subjects that are compared, and disjoint pairs: independent trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bioeval.kernels.disjoint_units import match_in_order, match_most
from bioeval.scores.arrays import row_spans
from bioeval.scores.excluded import attempted_cells
from bioeval.scores.exclusions import NO_PERSON_TWICE

if TYPE_CHECKING:
    from bioeval.scores.score_data import ScoreData

# Pairs that are sorted together: few, so that temporary arrays stay small.
_PAIRS_AT_ONCE = 1 << 17


def disjoint_among(probe_person: np.ndarray, claimed_person: np.ndarray, people: int) -> int:
    """Return the largest number of disjoint pairs of subjects among some pairs.

    Pairs of a subject with itself are left out.
    """
    return int((mates_among(probe_person, claimed_person, people) >= 0).sum()) // 2


def distinct_pairs(probe_person: np.ndarray, claimed_person: np.ndarray, people: int) -> np.ndarray:
    """Return the pairs of two subjects among some pairs, each once in either order, (2, pairs)."""
    key = np.empty(0, dtype=np.int64)
    for begin in range(0, len(probe_person), _PAIRS_AT_ONCE):
        probe, claimed = (
            probe_person[begin : begin + _PAIRS_AT_ONCE],
            claimed_person[begin : begin + _PAIRS_AT_ONCE],
        )
        low, high = np.minimum(probe, claimed), np.maximum(probe, claimed)
        key = np.concatenate([key, (low.astype(np.int64) * people + high)[low != high]])
        key.sort()  # several times faster than np.unique
        key = key[np.diff(key, prepend=-1) > 0]
    return np.stack([key // max(people, 1), key % max(people, 1)])


def pairs_in_cells(scores: ScoreData) -> np.ndarray | None:
    """Return the pairs of subjects that a matrix compares, in the form of :func:`distinct_pairs`.

    None if all pairs are compared. The matrix is read only if a mask, an exclusion or a failure
    that is no attempt may leave out comparisons.
    """
    rules = any(x.exclusion is not NO_PERSON_TWICE for x in scores.exclusions.rules)
    failures = scores.nan == "exclude" and scores.dtype.kind == "f"
    if not (rules or failures or scores.has_mask):
        return None
    codes, (probe_count, gallery_count) = scores.codes, scores.shape
    columns = np.flatnonzero(~codes.no_person[codes.gallery])
    columns = columns[np.argsort(codes.gallery[columns], kind="stable")]  # subject by subject
    subject, starts = np.unique(codes.gallery[columns], return_index=True)
    number = len(codes.values)
    all_compared = True
    pairs = [np.empty((2, 0), dtype=np.int64)]  # the distinct pairs, and the pairs of blocks
    for low, high in row_spans(probe_count if len(columns) else 0, gallery_count, 1 << 22):
        is_cell = attempted_cells(scores, low, high)[:, columns]
        is_compared = np.logical_or.reduceat(is_cell, starts, axis=1)  # (rows, subjects)
        probe = codes.probe[low:high]
        is_other_person = ~codes.no_person[probe][:, None] & (probe[:, None] != subject)
        all_compared &= bool((is_compared | ~is_other_person).all())
        row, group = np.nonzero(is_compared & is_other_person)
        pairs.append(distinct_pairs(probe[row], subject[group], number))
        if sum(x.shape[1] for x in pairs[1:]) > max(_PAIRS_AT_ONCE, pairs[0].shape[1]):
            pairs = [_joined(pairs, number)]
    return None if all_compared else _joined(pairs, number)


def _joined(pairs: list[np.ndarray], people: int) -> np.ndarray:
    joined = np.concatenate(pairs, axis=1)
    return distinct_pairs(joined[0], joined[1], people)


def mates_among(probe_person: np.ndarray, claimed_person: np.ndarray, people: int) -> np.ndarray:
    """Return each subject's partner, or -1, in the largest number of disjoint pairs.

    Parameters
    ----------
    probe_person, claimed_person : int arrays, shape (k,)
        The subjects of each possible pair; pairs of a subject with itself are left out.
    people : int
    """
    pairs = distinct_pairs(probe_person, claimed_person, people)
    degree = np.bincount(pairs.ravel(), minlength=people)
    mate = np.full(people, -1, dtype=np.int64)
    # A greedy choice, with subjects that have few partners first, is nearly always the best.
    person, partner = pairs[:, np.argsort(degree[pairs].min(axis=0, initial=people))]
    match_in_order(person, partner, mate)
    if (mate >= 0).sum() < (degree > 0).sum() - 1:
        directed = np.concatenate([pairs, pairs[::-1]], axis=1)
        neighbour = directed[1, np.argsort(directed[0], kind="stable")]
        match_most(np.append(0, np.cumsum(degree)), neighbour, mate)
    return mate
