"""Attempts by people: pairs of people counted between thresholds, and sums of resampled people."""

import numpy as np

from bioeval.kernels.compiling import compiled, parallel_rows
from bioeval.kernels.layers import threshold_of


@parallel_rows("probe_people")
def sort_by_layer(begin, end, probe_people, starts, layers, entries, ordered):
    """Sort the entries of each person's probes by layer, entries of a single attempt first.

    ::

        for k in people of probes:
            mine = slice(starts[k], starts[k + 1])
            ordered[mine] = sorted(entries[mine], key=lambda x: (x.layer, x.count != 1))

    - `probe_people` (int64 (s,)): the entries of person ``k`` are at ``starts[k]:starts[k + 1]``
    - `layers` (int): the number of layers
    - `entries`, `ordered` (tuples of int32, int32 and int64 arrays, read and written): the claimed
      person, the layer, and the number of attempts of each entry
    """
    claimed_person, layer, count = entries
    ordered_claimed, ordered_layer, ordered_count = ordered
    ends = np.zeros(2 * layers + 1, dtype=np.int64)
    for s in range(begin, end):
        ends[:] = 0
        for e in range(starts[s], starts[s + 1]):
            ends[2 * layer[e] + (count[e] != 1) + 1] += 1
        ends[0] = starts[s]
        for k in range(2 * layers):
            ends[k + 1] += ends[k]
        for e in range(starts[s], starts[s + 1]):
            k = 2 * layer[e] + (count[e] != 1)
            position = ends[k]
            ordered_claimed[position] = claimed_person[e]
            ordered_layer[position] = layer[e]
            ordered_count[position] = count[e]
            ends[k] += 1


@parallel_rows("totals")
def weigh_pairs(begin, end, probe_people, starts, entries, weights, largest, totals, sums):
    """Add ``count * w[probe] * w[claimed]`` to the total of a layer, for each column of weights.

    ::

        for s in people of probes:
            for e in range(starts[s], starts[s + 1]):
                pair = weights[:, probe_people[s]] * weights[:, claimed_person[e]]
                totals[:, layer[e]] += count[e] * pair

    The weights are small whole numbers. The weights of the people that one person claims are
    added up in 16 bits, four attempts at a time in 8 bits, and then multiplied by the person's own
    weight: many columns fit into one instruction. Columns come in tiles, so that all weights of a
    tile stay in the cache; each tile is computed by one thread.

    - `probe_people`, `starts`, `entries`: as :func:`sort_by_layer` leaves them
    - `weights`: uint8 or uint32 (tiles, subjects, t)
    - `largest` (int): the largest weight
    - `totals`: float64 (tiles, layers, t), added to
    - `sums` (uint16 (tiles, t)): scratch, all 0 before and after
    """
    claimed_person, layer, count = entries
    limit = np.int64(65535)
    four_fit = 4 * largest <= 255
    for tile in range(begin, end):
        weight = weights[tile]
        tile_sums = sums[tile]
        for s in range(len(probe_people)):
            probe_weight = weight[probe_people[s]]
            e = starts[s]
            stop = starts[s + 1]
            while e < stop:
                k = layer[e]
                total = totals[tile, k]
                bound = np.int64(0)  # the largest possible sum
                while e < stop and layer[e] == k:
                    # Entries of a single attempt come first: the fourth tells of all four.
                    takes_four = (
                        four_fit and e + 4 <= stop and layer[e + 3] == k and count[e + 3] == 1
                    )
                    added = (4 if takes_four else count[e]) * largest
                    first = weight[claimed_person[e]]
                    if added > limit:
                        many = np.float64(count[e])
                        for j in range(len(total)):
                            total[j] += many * (np.float64(probe_weight[j]) * np.float64(first[j]))
                        e += 1
                        continue
                    if bound + added > limit:
                        for j in range(len(total)):
                            total[j] += np.float64(tile_sums[j]) * np.float64(probe_weight[j])
                            tile_sums[j] = 0
                        bound = np.int64(0)
                    bound += added
                    # Sums and products of small integers have 64 bits unless they are converted.
                    if takes_four:
                        second = weight[claimed_person[e + 1]]
                        third = weight[claimed_person[e + 2]]
                        fourth = weight[claimed_person[e + 3]]
                        for j in range(len(tile_sums)):
                            sum_of_four = np.uint8(first[j] + second[j] + third[j] + fourth[j])
                            tile_sums[j] = np.uint16(tile_sums[j] + sum_of_four)
                        e += 4
                    else:
                        few = np.uint16(count[e])
                        for j in range(len(tile_sums)):
                            tile_sums[j] = np.uint16(tile_sums[j] + np.uint16(few * first[j]))
                        e += 1
                for j in range(len(total)):
                    total[j] += np.float64(tile_sums[j]) * np.float64(probe_weight[j])
                    tile_sums[j] = 0


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


@compiled
def add_by_person(
    values, row_group, column_group, thresholds, base, scale, guide, weight, total, of_group,
    row_attempts, column_attempts,
):  # fmt: skip
    """Add the impostor scores of a block between thresholds, in all and by group of people.

    ::

        for i, j, x in values, without NaN:
            k = the first threshold that is not below x
            total[k] += weight
            for g in {row_group[i], column_group[j]}:
                of_group[k, g] += weight

    - `values`: float (b, n), or more; NaN is no attempt
    - `row_group` (int64 (b,)), `column_group` (int64 (n,)): the groups of rows and columns
    - `thresholds`, `base`, `scale`, `guide`: as in :func:`list_pairs`
    - `weight` (int): the number of attempts that a score stands for
    - `total` (int64 (layers,)), `of_group` (integer (layers, groups)), added to
    - `row_attempts` (int64 (b,)), `column_attempts` (int64 (n,)), added to: the scores of each row
      and column
    """
    for i in range(len(row_group)):
        g = row_group[i]
        for j in range(len(column_group)):
            x = np.float64(values[i, j])
            if x != x:
                continue
            k = threshold_of(x, thresholds, base, scale, guide)
            total[k] += weight
            of_group[k, g] += weight
            if column_group[j] != g:
                of_group[k, column_group[j]] += weight
            row_attempts[i] += 1
            column_attempts[j] += 1
