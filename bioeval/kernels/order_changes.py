"""Genuine and impostor attempts that two systems rank in another order, and their subjects."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.compiled import compiled


class OrderedAttempts(NamedTuple):
    """Attempts of two systems, with their places in the order of each system's scores.

    Attributes
    ----------
    first, second : int64 arrays, shape (k,)
        Of each system, numbers in the order of its scores; comparable between the classes.
    left, right : int64 arrays, shape (k,)
        The subjects; equal for a genuine attempt.
    """

    first: np.ndarray
    second: np.ndarray
    left: np.ndarray
    right: np.ndarray


@compiled
def mark_order_changes(genuine, start, impostor, found):
    """Mark impostor attempts that change order with a genuine attempt of a group.

    Parameters
    ----------
    genuine : Attempts
        Sorted by group, first and second system.
    start : int64 array, shape (groups + 1,)
        The genuine attempts of group ``i`` are those from ``start[i]`` to ``start[i + 1]``.
    impostor : Attempts
        `left` and `right` are groups.
    found : bool array, shape (k,), written
    """
    first, second = genuine.first, genuine.second
    top, bottom = second.copy(), second.copy()
    for i in range(len(start) - 1):
        _extremes(top[start[i] : start[i + 1]], bottom[start[i] : start[i + 1]])
    for e in range(len(found)):
        found[e] = False
        for i in (impostor.left[e], impostor.right[e]):
            if not found[e] and start[i] < start[i + 1]:
                part = slice(start[i], start[i + 1])
                found[e] = _changes(
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
    number, found, stale = 0, 0, True
    first, second = genuine.first.copy(), genuine.second.copy()
    top, bottom, owner = second.copy(), second.copy(), genuine.left.copy()
    for e in range(len(impostor.first)):
        left, right = impostor.left[e], impostor.right[e]
        if found == len(units) or not (alive[left] and alive[right]):
            continue
        if stale:
            number, stale = 0, False
            for k in range(len(genuine.first)):
                if alive[genuine.left[k]]:
                    first[number], second[number] = genuine.first[k], genuine.second[k]
                    owner[number] = genuine.left[k]
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
        units[found, 0], units[found, 1], units[found, 2] = left, right, other
        alive[left] = alive[right] = alive[other] = False
        found += 1
        stale = True
    return found


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
