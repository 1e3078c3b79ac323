"""Exact operating points of replicates, and attempts that two systems rank in another order.

Between two consecutive genuine scores FRR is constant, so that the EER, FRR at a FAR and the AUC
follow from the impostor attempts counted between genuine scores: no other threshold is needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.compiling import compiled, parallel_rows

# Columns that are counted together.
BLOCK = 16


class ReplicatePoints(NamedTuple):
    """The operating points of each replicate; written, NaN where a class has no attempt."""

    #: `eer`, `auc`: float64 (columns,).
    eer: np.ndarray
    frr: np.ndarray  # float64 (t, columns)
    auc: np.ndarray
    #: float64 (2, n, columns): FAR and FRR where all is rejected and at each genuine score, ``n =
    #: len(u) + 1``; ``n = 0`` where they are not needed.
    corners: np.ndarray


@parallel_rows("points.eer")
def replicate_points(begin, end, impostor, genuine, weights, targets, points):
    """Write the operating points of each replicate, from whole-number counts.

    - `impostor` (int32 (k, 4)): rows of (layer, one subject, the other subject, attempts). With
      ``u`` the distinct genuine scores in ascending order, layer ``2 j`` lies between ``u[j - 1]``
      and ``u[j]``, and layer ``2 j + 1`` holds the scores equal to ``u[j]``
    - `genuine` (int32 (g, 2)): rows of (place of the score in ``u``, subject)
    - `weights` (float64 (subjects, columns)): whole numbers, so that sums below 2^53 are exact
    - `targets`: float64 (t,)
    - `points`: ReplicatePoints
    """
    distinct = genuine[-1, 0] + 1 if len(genuine) else 0
    for low in range(begin, end, BLOCK):
        width = min(BLOCK, end - low)
        w = weights[:, low : low + width].copy()
        between = np.zeros((2 * distinct + 1, width))
        for e in range(len(impostor)):
            row = between[impostor[e, 0]]
            one, other = w[impostor[e, 1]], w[impostor[e, 2]]
            made = np.float64(impostor[e, 3])
            for c in range(width):
                row[c] += made * one[c] * other[c]
        at_genuine = np.zeros((distinct, width))
        for e in range(len(genuine)):
            row, line = at_genuine[genuine[e, 0]], w[genuine[e, 1]]
            for c in range(width):  # sums of whole rows take seconds to compile
                row[c] += line[c]
        for c in range(width):
            _points(between[:, c], at_genuine[:, c], targets, low + c, points)


@register_jitable
def _points(between, at_genuine, targets, c, points):
    """Write the operating points of one replicate from its counts."""
    eer, frr, auc, corners = points
    eer[c] = auc[c] = np.nan
    frr[:, c] = np.nan
    corners[:, :, c] = np.nan
    total, every, distinct = between.sum(), at_genuine.sum(), len(at_genuine)
    if total == 0 or every == 0:
        return
    frr[:, c] = 1.0
    if corners.shape[1] > 0:
        corners[0, 0, c], corners[1, 0, c] = 0.0, 1.0
    accepted, rejected, ordered = 0.0, every, 0.0
    crossed = False
    for j in range(distinct + 1):
        accepted += between[2 * j]
        if not crossed and accepted * every >= rejected * total:
            eer[c] = rejected / every
            crossed = True
        if j == distinct:
            break
        tied = between[2 * j + 1]
        ordered += at_genuine[j] * (2 * (total - accepted) - tied)
        f0, r0 = accepted / total, rejected / every
        accepted += tied
        rejected -= at_genuine[j]
        f1, r1 = accepted / total, rejected / every
        if not crossed and accepted * every >= rejected * total:
            eer[c] = f0 + (r0 - f0) / ((f1 - f0) - (r1 - r0)) * (f1 - f0)
            crossed = True
        if corners.shape[1] > 0:
            corners[0, j + 1, c], corners[1, j + 1, c] = f1, r1
        for t in range(len(targets)):
            if f1 <= targets[t]:
                frr[t, c] = r1
    auc[c] = ordered / (2.0 * total * every)


class OrderedAttempts(NamedTuple):
    """Attempts of two systems, with their places in the order of each system's scores."""

    #: int64 (k,): of each system, numbers in the order of its scores; comparable between the
    #: classes.
    first: np.ndarray
    second: np.ndarray
    #: int64 (k,): the subjects; equal for a genuine attempt.
    probe_person: np.ndarray
    claimed_person: np.ndarray


@compiled
def mark_order_changes(genuine, start, impostor, marked):
    """Mark impostor attempts that change order with a genuine attempt of a group.

    - `genuine` (Attempts): sorted by group, first and second system
    - `start` (int64 (groups + 1,)): the genuine attempts of group ``i`` are those from ``start[i]``
      to ``start[i + 1]``
    - `impostor` (Attempts): `probe_person` and `claimed_person` are groups
    - `marked`: bool (k,), written
    """
    first, second = genuine.first, genuine.second
    top, bottom = second.copy(), second.copy()
    for i in range(len(start) - 1):
        _extremes(top[start[i] : start[i + 1]], bottom[start[i] : start[i + 1]])
    for e in range(len(marked)):
        marked[e] = False
        for i in (impostor.probe_person[e], impostor.claimed_person[e]):
            if not marked[e] and start[i] < start[i + 1]:
                part = slice(start[i], start[i + 1])
                marked[e] = _changes(
                    first[part], second[part], top[part], bottom[part],
                    impostor.first[e], impostor.second[e],
                )  # fmt: skip


@compiled
def take_order_changes(genuine, impostor, alive, units):
    """Take disjoint sets of subjects of a genuine and an impostor attempt in another order.

    Parameters
    ----------
    genuine : Attempts
        Sorted by first and second system.
    impostor : Attempts
        Taken one after the other.
    alive : bool array, shape (subjects,), changed
        The subjects that are in no set so far.
    units : int64 array, shape (n, 3), written
        The subjects of each set, at most `n`; the last is that of the genuine attempt.

    Returns
    -------
    int
    """
    number, taken, stale = 0, 0, True
    first, second = genuine.first.copy(), genuine.second.copy()
    top, bottom, owner = second.copy(), second.copy(), genuine.probe_person.copy()
    for e in range(len(impostor.first)):
        probe_person, claimed_person = impostor.probe_person[e], impostor.claimed_person[e]
        if taken == len(units) or not (alive[probe_person] and alive[claimed_person]):
            continue
        if stale:
            number, stale = 0, False
            for k in range(len(genuine.first)):
                if alive[genuine.probe_person[k]]:
                    first[number], second[number] = genuine.first[k], genuine.second[k]
                    owner[number] = genuine.probe_person[k]
                    number += 1
            for k in range(number):  # assignments of slices take seconds to compile
                top[k] = bottom[k] = second[k]
            _extremes(top[:number], bottom[:number])
        x, y = impostor.first[e], impostor.second[e]
        if number == 0 or not _changes(
            first[:number], second[:number], top[:number], bottom[:number], x, y
        ):
            continue
        other = len(alive)
        for k in range(number):
            if (first[k] > x) - (first[k] < x) != (second[k] > y) - (second[k] < y):
                other = min(other, owner[k])
        units[taken, 0], units[taken, 1], units[taken, 2] = probe_person, claimed_person, other
        alive[probe_person] = alive[claimed_person] = alive[other] = False
        taken += 1
        stale = True
    return taken


@register_jitable
def _extremes(top, bottom):
    """Replace each value by the largest up to it, and by the smallest from it on."""
    for k in range(1, len(top)):
        top[k] = max(top[k], top[k - 1])
    for k in range(len(bottom) - 2, -1, -1):
        bottom[k] = min(bottom[k], bottom[k + 1])


@register_jitable
def _changes(first, second, top, bottom, x, y):
    """Whether an attempt ``(x, y)`` is in another order with any of some sorted attempts."""
    low = np.searchsorted(first, x)
    high = np.searchsorted(first, x, side="right")
    if low > 0 and top[low - 1] >= y:
        return True
    if high < len(first) and bottom[high] <= y:
        return True
    return low < high and (second[low] != y or second[high - 1] != y)
