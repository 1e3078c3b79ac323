"""Everything at once: each row is read from memory a single time and counted while in cache.

The kernel serves the common case: single- and multi-template verification (nearest template) and
identification, over a matrix of floats without failed comparisons. Scores that it cannot place
(NaN, infinities, values outside the cells) are counted in the outermost cells, or as missing
others, and the caller, who sees them there, counts the block again by the general kernels.

Loops are kept apart and plain so that the compiler can vectorise them: comparisons are counted in
32 bits, cells are found without branches and kept in 16 bits, and counted alternately in two
tables, so that two equal scores in a row do not wait for each other.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(parallel=True, cache=True)
def sweep_rows(
    base, keys, rows, order, places, gathered, negated, starts, own, self_position, infinity,
    key_mask, key_shift,
    want_single, single_window, want_multi, multi_window, want_subject,
    want_given, thresholds, lowest, scale, guide, steps,
    buffer, key_buffer, cells, fused, single, multi, single_given, multi_given, genuine, offsets,
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
    order, places : int64 arrays, shape (n,)
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
    want_given : bool
        Whether scores are also counted between given thresholds.
    thresholds : float64 array, shape (t + 1,)
        The last one infinite, as a guard.
    lowest, scale, guide
        As for ``count_thresholds``.
    steps : int
        The largest number of thresholds in one place of the guide.
    single, multi : int32 arrays, shape (chunks, 2, width), added to
    single_given, multi_given : int64 arrays, shape (chunks, t + 1), added to
    genuine : float array, written at ``offsets[i]`` on; NaN for the probe itself
    mate ... others : as for ``rank_facts``; ``s_...`` the same over subjects
    """
    b = len(rows)
    n = len(places)
    groups = len(starts) - 1
    chunks = cells.shape[0]
    places_last = len(guide) - 2
    zero = np.int32(0)
    one = np.int32(1)
    for c in prange(chunks):
        index = cells[c]
        nearest = fused[c]
        for i in range(c * b // chunks, (c + 1) * b // chunks):
            line = base[rows[i]]
            if gathered:
                line = buffer[c]
                source = base[rows[i]]
                for p in range(n):
                    line[p] = source[order[p]]
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

            # Then the others: how many are closer, and exactly as close; and the nearest, by
            # its bits, which are ordered as floats are that have no sign.
            n_closer = zero
            n_within = zero
            low_key = key_mask
            for side in range(2):
                part = line[:start] if side == 0 else line[stop:n]
                for j in range(len(part)):
                    n_closer += np.int32(part[j] < best)
                    n_within += np.int32(part[j] <= best)
                word = bits[:start] if side == 0 else bits[stop:n]
                for j in range(len(word)):
                    low_key = word[j] if word[j] < low_key else low_key
            if low_key < 0:  # some score is negative, and those are ordered the other way round
                low_key = key_mask
                for side in range(2):
                    word = bits[:start] if side == 0 else bits[stop:n]
                    for j in range(len(word)):
                        key = word[j] ^ ((word[j] >> key_shift) & key_mask)
                        low_key = key if key < low_key else low_key
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
                table0 = single[c, 0]
                table1 = single[c, 1]
                width, inverse, low, high, first = single_window
                shift = np.int32(first)
                for p in range(n):
                    x = line[p]
                    y = x * inverse
                    y = y if y > low else low
                    y = y if y < high else high
                    z = np.ceil(y)
                    k = np.int32(z) + np.int32(z * width < x)  # y may have underflowed
                    index[p] = np.uint16(k - shift)
                half = n // 2
                front = index[:half]
                back = index[half : 2 * half]
                for p in range(half):
                    table0[front[p]] += one
                    table1[back[p]] += one
                if 2 * half < n:
                    table0[index[n - 1]] += one
                for p in range(start, stop):
                    table0[index[p]] -= one
                if want_given:
                    between = single_given[c]
                    for p in range(n):
                        value = np.float64(line[p])
                        at_place = (value - lowest) * scale
                        place = np.int64(0)
                        if at_place > 0:
                            place = places_last if at_place >= places_last else np.int64(at_place)
                        # Thresholds of later places are not below the score: nothing is
                        # counted too far, however many steps are taken.
                        lower = guide[place]
                        for _ in range(steps):
                            lower += np.int64(thresholds[lower] < value)
                        between[lower] += 1
                    for p in range(start, stop):
                        value = np.float64(line[p])
                        at_place = (value - lowest) * scale
                        place = np.int64(0)
                        if at_place > 0:
                            place = places_last if at_place >= places_last else np.int64(at_place)
                        # Thresholds of later places are not below the score: nothing is
                        # counted too far, however many steps are taken.
                        lower = guide[place]
                        for _ in range(steps):
                            lower += np.int64(thresholds[lower] < value)
                        between[lower] -= 1

            if want_multi or want_subject:
                for g in range(groups):
                    part = line[starts[g] : starts[g + 1]]
                    least = part[0]
                    for p in range(1, len(part)):
                        least = part[p] if part[p] < least else least
                    nearest[g] = least

            if want_multi:
                table0 = multi[c, 0]
                table1 = multi[c, 1]
                width, inverse, low, high, first = multi_window
                shift = np.int32(first)
                for g in range(groups):
                    x = nearest[g]
                    y = x * inverse
                    y = y if y > low else low
                    y = y if y < high else high
                    z = np.ceil(y)
                    k = np.int32(z) + np.int32(z * width < x)  # y may have underflowed
                    index[g] = np.uint16(k - shift)
                half = groups // 2
                for g in range(half):
                    table0[index[g]] += one
                    table1[index[g + half]] += one
                if 2 * half < groups:
                    table0[index[groups - 1]] += one
                if own[i] >= 0:
                    table0[index[own[i]]] -= one
                if want_given:
                    between = multi_given[c]
                    for g in range(groups):
                        if g == own[i]:
                            continue
                        value = np.float64(nearest[g])
                        at_place = (value - lowest) * scale
                        place = np.int64(0)
                        if at_place > 0:
                            place = places_last if at_place >= places_last else np.int64(at_place)
                        # Thresholds of later places are not below the score: nothing is
                        # counted too far, however many steps are taken.
                        lower = guide[place]
                        for _ in range(steps):
                            lower += np.int64(thresholds[lower] < value)
                        between[lower] += 1

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
