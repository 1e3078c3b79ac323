"""Scores between thresholds: of pairs of subjects, of each row, and of templates drawn for a row.

Of each subject one template is drawn: the chance that none is within a threshold is a product over
subjects.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bioeval.kernels.compiling import called_by_loops, compiled, parallel_rows


@called_by_loops
def threshold_of(x, thresholds, base, scale, guide):
    """Return the first of increasing thresholds that is not below `x`.

    The guide narrows the search: a score whose place ``c`` is ``(x - base) * scale``, cut to the
    length of the guide, lies between the thresholds ``guide[c]`` and ``guide[c + 1]``. That holds
    whatever the rounding, since the place of a score never falls as the score grows.
    """
    places = len(guide) - 1
    y = (x - base) * scale
    place = 0
    if y > 0:
        place = places - 1 if y >= places - 1 else np.int64(y)
    low = guide[place]
    high = guide[place + 1]
    while low < high:
        middle = (low + high) // 2
        if thresholds[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def list_pairs(
    block, starts, row_starts, groups, thresholds, base, scale, guide, first, claimed_person, layer,
    count, last,
):  # fmt: skip
    """List the number of impostor scores of each pair of subjects between thresholds.

    - `block`: float (b, n); NaN is no attempt
    - `starts` (int64 (g + 1,)): where the columns of each group begin
    - `row_starts` (int64 (s + 1,)): the rows ``row_starts[k]:row_starts[k + 1]`` are probes of one
      subject
    - `groups` (int32 (g,)): the number of the subject of each group
    - `thresholds`, `base`, `scale`, `guide`: layer ``k`` is above ``thresholds[k - 1]`` and not
      above ``thresholds[k]``; the guide is that of :func:`threshold_of`
    - `first` (int64 (s,)): where the list of each subject of the probes begins
    - `claimed_person`, `layer`: int32, written
    - `count` (int64, written): the subject of the group, the layer, and how many scores there are,
      if any
    - `last` (int64 (s,), written): where the lists end
    """
    table = np.zeros(len(thresholds) + 1, dtype=np.int64)
    filled = np.empty(len(thresholds) + 1, dtype=np.int32)
    for s in range(len(first)):
        at = first[s]
        for g in range(len(groups)):
            number = 0
            for i in range(row_starts[s], row_starts[s + 1]):
                for p in range(starts[g], starts[g + 1]):
                    x = np.float64(block[i, p])
                    if x != x:
                        continue
                    k = threshold_of(x, thresholds, base, scale, guide)
                    if table[k] == 0:
                        filled[number] = k
                        number += 1
                    table[k] += 1
            for j in range(number):
                k = filled[j]
                claimed_person[at] = groups[g]
                layer[at] = k
                count[at] = table[k]
                table[k] = 0
                at += 1
        last[s] = at


@parallel_rows("values")
def count_within(begin, end, values, probes, thresholds, base, scale, guide, counts):
    """Count the values of each row between thresholds; `counts` (rows of `probes`) are added to.

    ``counts[probes[i], k]`` gets those with ``thresholds[k - 1] < value <= thresholds[k]``, without
    NaN; base, scale and guide are those of :func:`threshold_of`.
    """
    for i in range(begin, min(end, len(probes))):
        for j in range(values.shape[1]):
            x = np.float64(values[i, j])
            if x == x:
                counts[probes[i], threshold_of(x, thresholds, base, scale, guide)] += 1


class Grid(NamedTuple):
    """Thresholds, and a guide to find a value among them: the arguments of `threshold_of`."""

    thresholds: np.ndarray  # float64 (t,), increasing
    base: float
    scale: float
    guide: np.ndarray


class Chances(NamedTuple):
    """Chances of each row that a drawn template is within each threshold; all written."""

    anyone: np.ndarray  # float64 (b, t): a template of another subject
    oneself: np.ndarray  # float64 (b, t): one of the row's own
    competitors: np.ndarray  # int64 (b,): other subjects with a usable template


class Near(NamedTuple):
    """The templates of a row within some threshold; int64."""

    bins: np.ndarray  # (n,): the first threshold that each is within
    group: np.ndarray  # (n,)
    ordered: np.ndarray  # (n,), scratch: the groups in the order of the thresholds
    taken: np.ndarray  # (groups,), scratch: templates of each within the threshold reached


@called_by_loops
def cells_within(cells, x):
    """Count the cells up to `x`."""
    count = 0
    for p in range(len(cells)):
        count += cells[p] <= x
    return count


@called_by_loops
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


@called_by_loops
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


@called_by_loops
def row_within(row, block, i, usable, grid, steps, chances):
    """Find the chances of row `i` with the distances `row`."""
    starts, group = block.starts, block.group[i]
    thresholds = grid.thresholds
    groups = len(starts) - 1
    last = len(thresholds)
    competitors = 0
    largest = 0
    for g in range(groups):
        if g != group:
            competitors += usable[g] > 0
            largest = max(largest, usable[g])
    chances.competitors[i] = competitors
    start = starts[group] if group >= 0 else 0
    stop = starts[group + 1] if group >= 0 else 0
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
            if x <= farthest and g != group:
                near.group[count] = g
                near.bins[count] = threshold_of(
                    x, grid.thresholds, grid.base, grid.scale, grid.guide
                )
                count += 1
            p += np.uint64(1)
    if sure > 0:
        chance_within(near, count, usable, steps, anyone[:sure])

    count = 0
    for p in range(start, stop):
        x = row[p]
        if x <= thresholds[last - 1]:
            near.group[count] = group
            near.bins[count] = threshold_of(x, grid.thresholds, grid.base, grid.scale, grid.guide)
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
