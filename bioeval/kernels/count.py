"""Scores between thresholds: of pairs of subjects, and of each row."""

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.compiling import compiled, parallel_rows


@register_jitable
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
