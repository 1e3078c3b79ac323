"""Disjoint pairs of subjects among the pairs that are compared: independent trials."""

from __future__ import annotations

import numpy as np

from bioeval.kernels.disjoint_units import match_in_order, match_most
from bioeval.scores.columns import PIECE


def disjoint_among(probe_person: np.ndarray, claimed_person: np.ndarray, people: int) -> int:
    """Return the largest number of disjoint pairs of subjects among some pairs.

    Pairs of a subject with itself are left out.
    """
    return int((mates_among(probe_person, claimed_person, people) >= 0).sum()) // 2


def distinct_pairs(probe_person: np.ndarray, claimed_person: np.ndarray, people: int) -> np.ndarray:
    """Return the pairs of two subjects among some pairs, each once in either order, (2, pairs)."""
    key = np.empty(0, dtype=np.int64)
    for begin in range(0, len(probe_person), PIECE):
        a, b = probe_person[begin : begin + PIECE], claimed_person[begin : begin + PIECE]
        low, high = np.minimum(a, b), np.maximum(a, b)
        key = np.concatenate([key, (low.astype(np.int64) * people + high)[low != high]])
        key.sort()  # several times faster than numpy's search for distinct values
        key = key[np.diff(key, prepend=-1) > 0]
    return np.stack([key // max(people, 1), key % max(people, 1)])


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
    # Subjects with few others first: seldom is there more to be gained.
    one, other = pairs[:, np.argsort(degree[pairs].min(axis=0, initial=people))]
    match_in_order(one, other, mate)
    if (mate >= 0).sum() < (degree > 0).sum() - 1:
        both = np.concatenate([pairs, pairs[::-1]], axis=1)
        neighbour = both[1, np.argsort(both[0], kind="stable")]
        match_most(np.append(0, np.cumsum(degree)), neighbour, mate)
    return mate
