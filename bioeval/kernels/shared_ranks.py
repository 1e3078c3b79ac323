"""Counts of non-mates around mates, for ranks of mates that sites share.

The mates of a probe are found beforehand, at any site; each site counts its own candidates around
them, and the counts of all sites add up.
"""

from __future__ import annotations

from bioeval.kernels.compiled import parallel_rows


@parallel_rows("values")
def count_around(
    begin, end, values, identity, own, kept, which, place, starts, distance, bound, closer, tied,
    before,
):  # fmt: skip
    """Count the candidates of other identities around the mates of each row.

    Parameters
    ----------
    values : float array, shape (b, n)
        Distances; NaN = no attempt.
    identity : int64 array, shape (n,)
    own, which : int64 arrays, shape (b,)
        The row's identity, and its list of candidates.
    kept : bool array, shape (lists, n)
        The candidates of each list.
    place : int64 array, shape (1, n) or (b, n)
        The candidates' places in the gallery.
    starts : int64 array, shape (b + 1,)
        The mates of row ``i`` are ``starts[i]:starts[i + 1]`` of the following.
    distance : float64 array
        From near to far.
    bound : int64 array
        Candidates exactly as close are before the mate if their place is below.
    closer, tied, before : int64 arrays, written
        Candidates closer than the mate, exactly as close, and those of the latter before it.
    """
    shared = place.shape[0] == 1
    for i in range(begin, end):
        low, high = starts[i], starts[i + 1]
        if low == high:
            continue
        for t in range(low, high):
            closer[t] = 0
            tied[t] = 0
            before[t] = 0
        row, places, listed = values[i], place[0 if shared else i], kept[which[i]]
        farthest = distance[high - 1]
        for j in range(len(row)):
            x = row[j]
            if not (x <= farthest) or identity[j] == own[i] or not listed[j]:
                continue
            first, last = low, high  # the first mate that is farther
            while first < last:
                middle = (first + last) // 2
                if distance[middle] <= x:
                    first = middle + 1
                else:
                    last = middle
            if first < high:
                closer[first] += 1
            t = first - 1
            while t >= low and distance[t] == x:
                tied[t] += 1
                before[t] += places[j] < bound[t]
                t -= 1
        total = closer[low]
        for t in range(low + 1, high):
            total += closer[t]
            closer[t] = total
