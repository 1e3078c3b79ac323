"""Verification by people: the attempts of each pair of people, counted between thresholds."""

import numpy as np

from bioeval.kernels.compiling import compiled
from bioeval.kernels.layers import threshold_of


@compiled
def list_pairs(
    block, starts, row_starts, groups, thresholds, base, scale, guide, first, claimed_person, layer,
    count, last,
):  # fmt: skip
    """List the number of impostor scores of each pair of subjects between thresholds.

    ::

        for s in subjects of probes:
            for g in subjects of the gallery:
                number = Counter(the first threshold that is not below x for x in block of s and g)
                for layer, count in number.items():
                    claimed_person.append(groups[g]), layer.append(layer), count.append(count)

    - `block`: float (b, n); NaN is no attempt
    - `starts` (int64 (g + 1,)): where the columns of each group begin
    - `row_starts` (int64 (s + 1,)): the rows ``row_starts[k]:row_starts[k + 1]`` are probes of one
      subject
    - `groups` (int32 (g,)): the number of the subject of each group
    - `thresholds`, `base`, `scale`, `guide`: layer ``k`` is above ``thresholds[k - 1]`` and not
      above ``thresholds[k]``; the guide is explained in :mod:`bioeval.kernels.layers`
    - `first` (int64 (s,)): where the list of each subject of the probes begins
    - `claimed_person`, `layer` (int32), `count` (int64), written: the subject of the group, the
      layer, and the number of its scores, if any
    - `last` (int64 (s,), written): where the lists end
    """
    table = np.zeros(len(thresholds) + 1, dtype=np.int64)
    filled = np.empty(len(thresholds) + 1, dtype=np.int32)
    for s in range(len(first)):
        entry = first[s]
        for g in range(len(groups)):
            filled_layers = 0
            for i in range(row_starts[s], row_starts[s + 1]):
                for p in range(starts[g], starts[g + 1]):
                    x = np.float64(block[i, p])
                    if x != x:
                        continue
                    k = threshold_of(x, thresholds, base, scale, guide)
                    if table[k] == 0:
                        filled[filled_layers] = k
                        filled_layers += 1
                    table[k] += 1
            for j in range(filled_layers):
                k = filled[j]
                claimed_person[entry] = groups[g]
                layer[entry] = k
                count[entry] = table[k]
                table[k] = 0
                entry += 1
        last[s] = entry
