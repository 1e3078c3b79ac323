"""Sums and counts of impostor scores by row and by column, to be added up by subject.

As in :mod:`bioeval.kernels.count`, the row's own subject is at ``mate_start:mate_stop``, everything
else is an impostor score, NaN no attempt. And random permutations, the random numbers from a
counter (SplitMix64; Steele, Lea and Flood 2014) that is started anew for each.
"""

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.compiling import parallel_rows

#: Columns of the counts of a row; the first three are also those of a column. From `BY_GROUP` on
#: there is a column for each group.
WITHIN, MISSING, INFINITE, BY_GROUP = range(4)


@register_jitable
def add_to_groups(part, group, sums):
    """Add each score to the sum of its column's group."""
    for j in range(len(part)):
        sums[group[j]] += np.float64(part[j])


@register_jitable
def add_to_columns(part, sums):
    """Add each score to the sum of its column."""
    for j in range(len(part)):
        sums[j] += np.float64(part[j])


@register_jitable
def count_accepted(part, threshold, columns):
    """Count the scores within a threshold, by column and in all."""
    total = np.int32(0)
    for j in range(len(part)):
        # The sum of two numbers of 32 bits is one of 64 unless converted.
        hit = np.int32(part[j] <= threshold)
        columns[j] = np.int32(columns[j] + hit)
        total = np.int32(total + hit)
    return total


@register_jitable
def add_with_care(part, group, sums, columns, counts, row):
    """Add the finite scores alone, and count the others: NaN, infinite and by group."""
    for j in range(len(part)):
        x = np.float64(part[j])
        if abs(x) < np.inf:
            sums[group[j]] += x
            columns[j] += x
        else:
            kind = MISSING if x != x else INFINITE
            counts[kind, j] += 1
            row[kind] += 1
            row[BY_GROUP + group[j]] += 1


@parallel_rows("row_sums")
def sum_scores(
    begin, end, block, mates, table, group, threshold, row_sums, row_counts, column_sums,
    column_counts,
):  # fmt: skip
    """Add up impostor scores by row and by column, and count those within a threshold.

    Columns are taken in pieces of the same size, each by one thread, and in a piece the rows in
    order, so that the sums are the same on any number of threads and on any processor.

    - `block`: float (b, n)
    - `mates` (int64 (2, b)): where the columns of the row's own subject begin and end
    - `table` (int64 (b,)): the table of sums by column that the row is added to
    - `group` (int64 (n,)): the group of each column
    - `threshold`: of the dtype of the block
    - `row_sums` (float64 (pieces, b, groups), added to): sums of the finite scores of each group
    - `row_counts` (int64 (pieces, b, `BY_GROUP` + groups), added to): scores within the threshold,
      NaN, infinite, and those of either kind in each group
    - `column_sums` (float64 (tables, n), added to): sums of the finite scores, by table
    - `column_counts` (int32 (tables, 3, n), added to): scores within the threshold, NaN and
      infinite ones, by table
    """
    b, n = block.shape
    pieces, _, groups = row_sums.shape
    sums = np.empty(groups)
    for k in range(begin, end):
        first = k * n // pieces
        last = (k + 1) * n // pieces
        for i in range(b):
            to = table[i]
            row = row_counts[k, i]
            for side in range(2):
                low = first if side == 0 else max(first, mates[1, i])
                high = min(last, mates[0, i]) if side == 0 else last
                if low >= high:
                    continue
                part = block[i, low:high]
                of_part = group[low:high]
                for j in range(groups):
                    sums[j] = 0.0
                add_to_groups(part, of_part, sums)
                total = 0.0
                for j in range(groups):
                    total += sums[j]
                if abs(total) < np.inf:
                    add_to_columns(part, column_sums[to, low:high])
                else:
                    for j in range(groups):
                        sums[j] = 0.0
                    add_with_care(
                        part, of_part, sums, column_sums[to, low:high],
                        column_counts[to, :, low:high], row,
                    )  # fmt: skip
                for j in range(groups):
                    row_sums[k, i, j] += sums[j]
                row[WITHIN] += count_accepted(part, threshold, column_counts[to, WITHIN, low:high])


@register_jitable
def mixed(x):
    """Return the output of SplitMix64 for a state, uint64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@parallel_rows("sums")
def permuted_products(begin, end, first, second, ends, key, sums):
    """Write sums of products of two lists, the second permuted within its parts.

    A part ends before each of the increasing `ends`; lists and sums are int64, `key` is two of
    uint64.
    """
    golden = np.uint64(0x9E3779B97F4A7C15)
    line = np.empty_like(second)
    for r in range(begin, end):
        state = mixed(key[0] ^ mixed(np.uint64(r) + key[1]))
        for k in range(len(second)):  # assignments of slices take seconds to compile
            line[k] = second[k]
        low = 0
        for stop in ends:
            for j in range(stop - 1, low, -1):
                state += golden
                chosen = (mixed(state) >> np.uint64(32)) * np.uint64(j - low + 1)
                k = low + np.int64(chosen >> np.uint64(32))
                line[j], line[k] = line[k], line[j]
            low = stop
        total = 0
        for j in range(len(first)):
            total += first[j] * line[j]
        sums[r] = total
