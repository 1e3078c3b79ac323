"""Everything at once: each row is read from memory a single time and counted while in cache.

The kernel serves the common case: single- and multi-template verification (nearest template) and
identification, over a matrix of floats without failed comparisons. Scores that it cannot place
(NaN, infinities, values outside the cells) are counted in the outermost cells, or as missing
others, and the caller, who sees them there, counts the block again by the general kernels.

Each step is a plain loop of its own over one row, so that the compiler can vectorise it: scores
are compared as integers of the same width, cells are found without branches and kept in 16 bits,
and counted alternately in two tables, so that two equal scores in a row do not wait for each
other. ``tests/kernels/test_vectorised.py`` looks at the instructions.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit
def count_closer(bits, key, low):
    """Count the scores below `key`, and at most `key`, and find the least, all by their bits.

    The bits of floats are ordered as the floats are, as long as none has a sign.
    """
    below = np.int32(0)
    within = np.int32(0)
    for j in range(len(bits)):
        # The sum of two numbers of 32 bits is one of 64 unless told otherwise.
        below = np.int32(below + np.int32(bits[j] < key))
        within = np.int32(within + np.int32(bits[j] <= key))
        low = bits[j] if bits[j] < low else low
    return below, within, low


@njit
def count_closer_signed(line, bits, best, low, key_mask, key_shift):
    """Do the same where some score is negative; `low` is of bits that are ordered."""
    below = np.int32(0)
    within = np.int32(0)
    for j in range(len(line)):
        below = np.int32(below + np.int32(line[j] < best))
        within = np.int32(within + np.int32(line[j] <= best))
    for j in range(len(bits)):
        key = bits[j] ^ ((bits[j] >> key_shift) & key_mask)
        low = key if key < low else low
    return below, within, low


@njit
def find_cells(line, index, window):
    """Write the cell of each score; those beyond the window into its outermost ones."""
    width, inverse, low, high, first = window
    shift = np.int32(first)
    if inverse >= 1:  # the product is exact
        for p in range(len(line)):
            y = line[p] * inverse
            y = y if y > low else low
            y = y if y < high else high
            index[p] = np.uint16(np.int32(np.ceil(y)) - shift)
    else:
        for p in range(len(line)):
            x = line[p]
            y = x * inverse
            y = y if y > low else low
            y = y if y < high else high
            z = np.ceil(y)
            k = np.int32(z) + np.int32(z * width < x)  # y may have underflowed
            index[p] = np.uint16(k - shift)


@njit
def gather(source, order, line):
    """Write scores in another order."""
    for p in range(len(order)):
        line[p] = source[order[p]]


def _least_of(size):
    """Return a kernel for groups of one size, so common that it is worth a loop of its own."""

    @njit
    def least_of(line, nearest):
        for g in range(len(nearest)):
            part = line[g * size : (g + 1) * size]
            least = part[0]
            for p in range(1, size):
                least = part[p] if part[p] < least else least
            nearest[g] = least

    return least_of


least_of_2 = _least_of(2)
least_of_3 = _least_of(3)
least_of_4 = _least_of(4)
least_of_5 = _least_of(5)
least_of_6 = _least_of(6)
least_of_8 = _least_of(8)
least_of_10 = _least_of(10)


@njit
def find_nearest(line, starts, size, nearest):
    """Write the least score of each group; `size` is that of all groups, 0 if they differ."""
    if size == 2:
        least_of_2(line, nearest)
    elif size == 3:
        least_of_3(line, nearest)
    elif size == 4:
        least_of_4(line, nearest)
    elif size == 5:
        least_of_5(line, nearest)
    elif size == 6:
        least_of_6(line, nearest)
    elif size == 8:
        least_of_8(line, nearest)
    elif size == 10:
        least_of_10(line, nearest)
    else:
        for g in range(len(nearest)):
            part = line[starts[g] : starts[g + 1]]
            least = part[0]
            for p in range(1, len(part)):
                least = part[p] if part[p] < least else least
            nearest[g] = least


@njit
def slot_of(x, cell, limits, firsts, bounds):
    """Return the entry of a table that is divided at given thresholds too.

    With `limits`, one a cell, the cell has an entry for the scores up to its limit and one for
    those above. Otherwise ``firsts[cell]`` is the first of the cell's `bounds`, of which the last
    is its edge.
    """
    if len(limits) > 0:
        return np.uint32(2) * np.uint32(cell) + np.uint32(x > limits[cell])
    low = firsts[cell]
    high = firsts[cell + 1] - np.uint32(1)
    while low < high:
        middle = (low + high) >> np.uint32(1)
        if bounds[middle] < x:
            low = middle + np.uint32(1)
        else:
            high = middle
    return low


@njit
def count_cells(line, index, tables, limits, firsts, bounds):
    """Count each score in one of two tables, in its cell or in its part of the cell."""
    table0 = tables[0]
    table1 = tables[1]
    one = np.int32(1)
    n = len(line)
    half = n // 2
    front = index[:half]
    back = index[half : 2 * half]
    if len(limits) > 0:
        start = line[:half]
        end = line[half : 2 * half]
        two = np.uint32(2)
        for p in range(half):
            a = front[p]
            b = back[p]
            table0[two * np.uint32(a) + np.uint32(start[p] > limits[a])] += one
            table1[two * np.uint32(b) + np.uint32(end[p] > limits[b])] += one
        if 2 * half < n:
            table0[slot_of(line[n - 1], index[n - 1], limits, firsts, bounds)] += one
    elif len(bounds) > 0:
        for p in range(n):
            table0[slot_of(line[p], index[p], limits, firsts, bounds)] += one
    else:
        for p in range(half):
            table0[front[p]] += one
            table1[back[p]] += one
        if 2 * half < n:
            table0[index[n - 1]] += one


@njit
def uncount_cells(line, index, table, limits, firsts, bounds):
    """Take scores out again: those of the probe's own subject."""
    divided = len(limits) > 0 or len(bounds) > 0
    for p in range(len(line)):
        if divided:
            table[slot_of(line[p], index[p], limits, firsts, bounds)] -= np.int32(1)
        else:
            table[index[p]] -= np.int32(1)


@njit(parallel=True, cache=True)
def sweep_rows(
    base, keys, rows, order, places, gathered, negated, starts, own, self_position, infinity,
    key_mask, key_shift,
    want_single, single_window, want_multi, multi_window, want_subject,
    single_parts, multi_parts,
    buffer, key_buffer, cells, fused, single, multi, genuine, offsets,
    mate, closer, tied, before, mates_tied, mates, other, others,
    s_mate, s_closer, s_tied, s_before, s_mates_tied, s_mates, s_other, s_others,
):  # fmt: skip
    """Count rows of a matrix for all tasks.

    Parameters
    ----------
    base : float array, shape (M, N), C-contiguous
    keys : int array, shape (M, N)
        The same memory as integers of the same width.
    rows : int64 array, shape (b,)
        Rows of `base` to count.
    order, places : uint32 and int64 arrays, shape (n,)
        Column of `base`, and place in the gallery, of each position; subjects side by side.
    gathered, negated : bool
        Whether the columns must be put in order, and whether scores are similarities.
    starts : int64 array, shape (g + 1,)
        Group ``g`` stands at positions ``starts[g]:starts[g + 1]``; no group is empty.
    own, self_position : int64 arrays, shape (b,)
        Each row's own group, and its own position; -1 for none.
    infinity : float
        Infinity in the dtype of `base`.
    key_mask, key_shift : int
        The largest integer of the dtype of `keys`, and its number of bits less one.
    single_window, multi_window : float arrays, shape (5,)
        Width and inverse of the cells, first and last number (as floats), and the number that
        is table entry 0; in the dtype of `base`.
    buffer, key_buffer : shape (chunks, n + 1), the same memory; cells : uint16, shape (chunks, n)
    fused : float array, shape (chunks, g)
    single_parts, multi_parts : (limits, firsts, bounds)
        How given thresholds divide the cells, see ``slot_of``; all empty for none.
    single, multi : int32 arrays, shape (chunks, 2, width), added to
    genuine : float array, written at ``offsets[i]`` on; NaN for the probe itself
    mate ... others : as for ``rank_facts``; ``s_...`` the same over subjects
    """
    b = len(rows)
    n = len(places)
    groups = len(starts) - 1
    chunks = cells.shape[0]
    size = starts[1] - starts[0]
    for g in range(groups):
        if starts[g + 1] - starts[g] != size:
            size = 0
            break
    zero = np.int32(0)
    one = np.int32(1)
    for c in prange(chunks):
        index = cells[c]
        nearest = fused[c]
        for i in range(c * b // chunks, (c + 1) * b // chunks):
            line = base[rows[i]]
            if gathered:
                line = buffer[c]
                gather(base[rows[i]], order, line)
            if negated:
                if not gathered:
                    line = buffer[c]
                source = line if gathered else base[rows[i]]
                for p in range(n):
                    line[p] = -source[p]
            bits = key_buffer[c] if gathered or negated else keys[rows[i]]

            # Mates first.
            start = np.int64(0)
            stop = np.int64(0)
            if own[i] >= 0:
                start = starts[own[i]]
                stop = starts[own[i] + 1]
            best = infinity
            count = zero
            same = zero
            best_place = np.int64(0)
            at = offsets[i]
            for p in range(start, stop):
                x = line[p]
                if p == self_position[i]:
                    genuine[at] = np.nan
                    at += 1
                    continue
                genuine[at] = x
                at += 1
                if x != x:
                    continue
                if count == 0 or x < best:
                    best = x
                    same = one
                    best_place = places[p]
                elif x == best:
                    same += one
                    best_place = min(best_place, places[p])
                count += one

            # Then the others: how many are closer, and exactly as close; and the nearest.
            buffer[c, n] = best
            key = key_buffer[c, n]
            below0, within0, low_key = count_closer(bits[:start], key, key_mask)
            below1, within1, low_key = count_closer(bits[stop:n], key, low_key)
            if low_key < 0 or key < 0:  # those with a sign are ordered the other way round
                below0, within0, low_key = count_closer_signed(
                    line[:start], bits[:start], best, key_mask, key_mask, key_shift
                )
                below1, within1, low_key = count_closer_signed(
                    line[stop:n], bits[stop:n], best, low_key, key_mask, key_shift
                )
            n_closer = below0 + below1
            n_within = within0 + within1
            key_buffer[c, n] = low_key ^ ((low_key >> key_shift) & key_mask)
            n_before = zero
            if count > 0 and n_within > n_closer:
                for p in range(n):
                    outside = p < start or p >= stop
                    if outside and line[p] == best and places[p] < best_place:
                        n_before += one
            n_failed = zero
            if not want_single:
                for side in range(2):
                    part = line[:start] if side == 0 else line[stop:n]
                    for j in range(len(part)):
                        n_failed += np.int32(part[j] != part[j])
            mates[i] = count
            others[i] = n - (stop - start) - n_failed
            other[i] = buffer[c, n] if others[i] > 0 else np.nan
            mate[i] = best if count > 0 else np.nan
            closer[i] = n_closer if count > 0 else zero
            tied[i] = n_within - n_closer if count > 0 else zero
            before[i] = n_before
            mates_tied[i] = same

            if want_single:
                find_cells(line[:n], index, single_window)
                count_cells(line[:n], index, single[c], *single_parts)
                uncount_cells(line[start:stop], index[start:stop], single[c, 0], *single_parts)

            if want_multi or want_subject:
                find_nearest(line, starts, size, nearest)

            if want_multi:
                find_cells(nearest, index, multi_window)
                count_cells(nearest, index, multi[c], *multi_parts)
                if own[i] >= 0:
                    mine = slice(own[i], own[i] + 1)
                    uncount_cells(nearest[mine], index[mine], multi[c, 0], *multi_parts)

            if want_subject:
                s_nearer = zero
                s_tie = zero
                s_first = zero
                for g in range(groups):
                    if g != own[i]:
                        s_nearer += np.int32(nearest[g] < best)
                        s_tie += np.int32(nearest[g] == best)
                if count > 0 and s_tie > 0:
                    for g in range(groups):
                        if g == own[i] or nearest[g] != best:
                            continue
                        for p in range(starts[g], starts[g + 1]):
                            if line[p] == best and places[p] < best_place:
                                s_first += one
                                break
                s_mates[i] = one if count > 0 else zero
                s_others[i] = groups - (1 if own[i] >= 0 else 0)
                s_other[i] = other[i]
                s_mate[i] = mate[i]
                s_closer[i] = s_nearer if count > 0 else zero
                s_tied[i] = s_tie if count > 0 else zero
                s_before[i] = s_first
                s_mates_tied[i] = s_mates[i]
