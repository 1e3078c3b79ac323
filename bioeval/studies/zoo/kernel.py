"""Sums and counts of impostor scores by row and by column, and random permutations.

The random numbers are from a counter (SplitMix64; Steele, Lea and Flood 2014) that is started anew
for each permutation.
"""

import numpy as np

from bioeval.kernels.compiling import called_by_loops, parallel_rows


@parallel_rows("row_sums")
def add_scores(
    begin, end, values, table, group, row_sums, row_lacking, column_sums, column_lacking
):  # fmt: skip
    """Add up the finite scores of a block of rows, by row and by column; NaN is no attempt.

    ::

        for i, j, x in values, without NaN and infinite scores:
            row_sums[piece of j, i, group[j]] += x
            column_sums[table[i], j] += x

    Columns are divided into pieces of the same size. One thread adds up a piece, row by row, so
    that the sums are the same on any number of threads.

    - `values`: float (b, n)
    - `table` (int64 (b,)): the table of sums by column that the row is added to
    - `group` (int64 (n,)): the group of each column
    - `row_sums` (float64 (pieces, b, groups), added to): sums of each group
    - `row_lacking` (int64 (pieces, b, groups + 1), added to): numbers of NaN and infinite scores,
      which are in no sum, and last of infinite ones alone
    - `column_sums` (float64 (tables, n), added to): sums of each table
    - `column_lacking` (int64 (tables + 1, n), added to): numbers of NaN and infinite scores
      of each table, and last of infinite ones alone
    """
    b, n = values.shape
    pieces, _, groups = row_sums.shape
    for k in range(begin, end):
        first = k * n // pieces
        last = (k + 1) * n // pieces
        columns = group[first:last]
        infinite_of_column = column_lacking[-1, first:last]
        for i in range(b):
            row = values[i, first:last]
            sums = row_sums[k, i]
            lacking = row_lacking[k, i]
            sums_of_column = column_sums[table[i], first:last]
            lacking_of_column = column_lacking[table[i], first:last]
            for j in range(len(row)):
                x = np.float64(row[j])
                if abs(x) < np.inf:
                    sums[columns[j]] += x
                    sums_of_column[j] += x
                else:
                    lacking[columns[j]] += 1
                    lacking_of_column[j] += 1
                    if x == x:
                        lacking[groups] += 1
                        infinite_of_column[j] += 1


@called_by_loops
def mixed(x):
    """Return the output of SplitMix64 for a state, uint64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@parallel_rows("sums")
def permuted_products(begin, end, first, second, ends, key, sums):
    """Write sums of products of two lists, the second permuted within its strata.

    ::

        for r in permutations:
            permuted = second, each stratum in random order
            sums[r] = sum(x * y for x, y in zip(first, permuted))

    A stratum ends before each of the increasing `ends`; lists and sums are int64, and `key` has
    two numbers, uint64, that seed the permutations.
    """
    golden = np.uint64(0x9E3779B97F4A7C15)
    permuted = np.empty_like(second)
    for r in range(begin, end):
        state = mixed(key[0] ^ mixed(np.uint64(r) + key[1]))
        for k in range(len(second)):  # assignments of slices take seconds to compile
            permuted[k] = second[k]
        low = 0
        for stop in ends:
            for j in range(stop - 1, low, -1):
                state += golden
                chosen = (mixed(state) >> np.uint64(32)) * np.uint64(j - low + 1)
                k = low + np.int64(chosen >> np.uint64(32))
                permuted[j], permuted[k] = permuted[k], permuted[j]
            low = stop
        total = 0
        for j in range(len(first)):
            total += first[j] * permuted[j]
        sums[r] = total
