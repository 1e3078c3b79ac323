"""Random galleries of fewer subjects: candidates within thresholds, and number closer."""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(parallel=True, cache=True)
def candidates_within(block, own_start, own_stop, thresholds, base, scale, guide, found):
    """Count, for each row and threshold, the candidates of other subjects within it.

    Parameters
    ----------
    block : float array, shape (b, g)
        Fused distances; NaN = no attempt. The row's own subject is at ``own_start:own_stop``.
    thresholds, base, scale, guide
        As for ``count_thresholds``.
    found : int64 array, shape (b, t), written
    """
    places = len(guide) - 1
    last = len(thresholds)
    for i in prange(block.shape[0]):
        row = block[i]
        for t in range(last):
            found[i, t] = 0
        for j in range(len(row)):
            x = np.float64(row[j])
            if x != x or (j >= own_start[i] and j < own_stop[i]):
                continue
            y = (x - base) * scale
            c = 0
            if y > 0:
                c = places - 1 if y >= places - 1 else np.int64(y)
            low = guide[c]
            high = guide[c + 1]
            while low < high:
                middle = (low + high) // 2
                if thresholds[middle] < x:
                    low = middle + 1
                else:
                    high = middle
            if low < last:
                found[i, low] += 1
        for t in range(1, last):
            found[i, t] += found[i, t - 1]


@njit(cache=True)
def add_counts(found, kind, table):
    """Add to ``table[kind, t, c]`` the rows with `c` candidates at threshold `t`; kind -1: none."""
    for i in range(len(kind)):
        if kind[i] < 0:
            continue
        for t in range(found.shape[1]):
            table[kind[i], t, found[i, t]] += 1


@njit(cache=True)
def drawn_marked(population, drawn, weights, limit, out):
    """Mix the hypergeometric distributions of 0, 1, ... marked subjects.

    Marked subjects are added one by one: if `j` of the first `r` are drawn, the next one is drawn
    with chance ``(drawn - j) / (population - r)``. All terms are positive.

    Parameters
    ----------
    population, drawn : int
        Number of subjects, and number drawn.
    weights : float64 array, shape (a, marked)
        Weights of 0, 1, ... marked subjects, for each mixture.
    limit : int
        Number of terms.
    out : float64 array, shape (a, limit), written
        Chance of 0, 1, ... marked subjects drawn, for each mixture.
    """
    row = np.zeros(limit)
    row[0] = 1.0
    out[:, :] = 0.0
    for r in range(weights.shape[1]):
        for a in range(len(weights)):
            if weights[a, r] != 0.0:
                for j in range(min(limit, r + 1)):
                    out[a, j] += weights[a, r] * row[j]
        rest = population - r
        if rest <= 0:
            break
        for j in range(min(limit - 1, r + 1), -1, -1):
            stay = 1.0 - min(max((drawn - j) / rest, 0.0), 1.0)
            row[j] *= stay
            if j > 0:
                row[j] += row[j - 1] * min(max((drawn - j + 1) / rest, 0.0), 1.0)
