"""Chance that a drawn template is within each threshold, over random galleries.

Templates are drawn for each probe anew, and of each subject independently, so the chance that
none is within a threshold is a product over subjects. Each row is computed on its own, so that
threads change nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.parallel_rows import parallel_rows


class Grid(NamedTuple):
    """Thresholds, and a guide to find a value among them, as for ``count_thresholds``."""

    thresholds: np.ndarray  # float64 (t,), increasing
    base: float
    scale: float
    guide: np.ndarray


class Chances(NamedTuple):
    """Chances of each row that a drawn template is within each threshold; all written."""

    anyone: np.ndarray  # float64 (b, t): a template of another subject
    oneself: np.ndarray  # float64 (b, t): one of the row's own
    others: np.ndarray  # int64 (b,): other subjects with a usable template


class Near(NamedTuple):
    """The templates of a row within some threshold; int64."""

    bins: np.ndarray  # (n,): the first threshold that each is within
    group: np.ndarray  # (n,)
    ordered: np.ndarray  # (n,), scratch: the groups in the order of the thresholds
    taken: np.ndarray  # (groups,), scratch: templates of each within the threshold reached


@register_jitable
def cells_within(cells, x):
    """Count the cells up to `x`."""
    count = 0
    for p in range(len(cells)):
        count += cells[p] <= x
    return count


@register_jitable
def threshold_of(x, grid):
    """Return the first threshold that is not below `x`."""
    places = len(grid.guide) - 1
    y = (x - grid.base) * grid.scale
    c = 0
    if y > 0:
        c = places - 1 if y >= places - 1 else np.int64(y)
    low = grid.guide[c]
    high = grid.guide[c + 1]
    while low < high:
        middle = (low + high) // 2
        if grid.thresholds[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@register_jitable
def chance_within(near, count, usable, steps, out):
    """Write the chance that a drawn template is within each threshold, of `count` near ones."""
    last = len(out)
    # Templates by threshold: where those of each one end, counted from its start.
    end = np.zeros(last + 1, dtype=np.int64)
    for c in range(count):
        end[near.bins[c] + 1] += 1
    for t in range(last):
        end[t + 1] += end[t]
    for c in range(count):
        near.ordered[end[near.bins[c]]] = near.group[c]
        end[near.bins[c]] += 1
    taken = near.taken
    taken[:] = 0
    total = 0.0
    c = 0
    for t in range(last):
        while c < end[t]:
            g = near.ordered[c]
            step = steps[usable[g] - taken[g]]
            if step == -np.inf:
                out[t:] = 1.0
                return
            total += step
            taken[g] += 1
            c += 1
        out[t] = -np.expm1(total)


@register_jitable
def enough_within(row, start, stop, thresholds, needed):
    """Return the first threshold with `needed` cells within it, a range of cells left out."""
    low = 0
    high = len(thresholds)
    while low < high:
        middle = (low + high) // 2
        x = thresholds[middle]
        if cells_within(row[:start], x) + cells_within(row[stop:], x) < needed:
            low = middle + 1
        else:
            high = middle
    return low


@register_jitable
def row_within(row, block, i, usable, grid, steps, chances):
    """Find the chances of row `i` with the distances `row`."""
    starts, own, itself = block.starts, block.own[i], block.self_position[i]
    thresholds = grid.thresholds
    groups = len(starts) - 1
    last = len(thresholds)
    found = 0
    largest = 0
    for g in range(groups):
        if g != own:
            found += usable[g] > 0
            largest = max(largest, usable[g])
    chances.others[i] = found
    start = starts[own] if own >= 0 else 0
    stop = starts[own + 1] if own >= 0 else 0
    # With this many templates, the chance that none is drawn is below exp(-40): lost beside 1.
    sure = enough_within(row, start, stop, thresholds, 1.0 - 40.0 / steps[largest])
    near = Near(
        np.empty(len(row), dtype=np.int64),
        np.empty(len(row), dtype=np.int64),
        np.empty(len(row), dtype=np.int64),
        np.empty(groups, dtype=np.int64),
    )

    anyone = chances.anyone[i]
    anyone[sure:] = 1.0
    count = 0
    farthest = thresholds[max(sure, 1) - 1]
    p = np.uint64(starts[0])
    for g in range(groups):
        end = np.uint64(starts[g + 1])
        while p < end:
            x = row[p]
            if x <= farthest and g != own:
                near.group[count] = g
                near.bins[count] = threshold_of(x, grid)
                count += 1
            p += np.uint64(1)
    if sure > 0:
        chance_within(near, count, usable, steps, anyone[:sure])

    count = 0
    for p in range(start, stop):
        x = row[p]
        if p != itself and x <= thresholds[last - 1]:
            near.group[count] = own
            near.bins[count] = threshold_of(x, grid)
            count += 1
    chance_within(near, count, usable, steps, chances.oneself[i])


@parallel_rows("block.values")
def within_chances(begin, end, block, usable, grid, steps, chances):
    """Find the chance that a drawn template is within each threshold, for each row.

    The attempts of each row in each group are ``usable[b, groups]``. ``steps[c]`` is the change of
    the logarithm of the chance that no template of a group is drawn, for one more template within a
    threshold where ``c`` were not within before; -inf where that chance becomes zero.
    """
    for i in range(begin, end):
        row = block.values[i]
        row_within(row, block, i, usable[i], grid, steps, chances)
