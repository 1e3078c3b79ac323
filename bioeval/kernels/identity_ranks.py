"""Where the query's identity stands among identities: each once, or one template of each drawn."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

# Odd constants of splitmix64, which turns a counter into random bits.
STEP = np.uint64(0x9E3779B97F4A7C15)
MIX_A = np.uint64(0xBF58476D1CE4E5B9)
MIX_B = np.uint64(0x94D049BB133111EB)


@njit(cache=True)
def _random_bits(state, key):
    """Return 64 random bits that depend on a state and a key alone."""
    z = state + STEP * (np.uint64(key) + np.uint64(1))
    z = (z ^ (z >> np.uint64(30))) * MIX_A
    z = (z ^ (z >> np.uint64(27))) * MIX_B
    return z ^ (z >> np.uint64(31))


@njit(cache=True)
def _uniform(state, key):
    """Return a number in [0, 1) that depends on a state and a key alone."""
    return np.float64(_random_bits(state, key) >> np.uint64(11)) / 9007199254740992.0


@njit(parallel=True, cache=True)
def rank_identities(
    rows, identity, own, run_starts, run_first, run_stop, which, offsets, distance, column, found,
    seen, counts,
):  # fmt: skip
    """Count the identities before the best mate of each row, each at its first entry.

    Parameters
    ----------
    rows : float array, shape (b, n); identity : int64 array, shape (n,)
    own, run_starts, run_first, run_stop, which, offsets, distance, column, found
        As for ``rank_mates``, which has filled the last three.
    seen : int8 array, shape (chunks, identities), zeros on entry and return
    counts : int64 array, shape (b, 3), written
        Other identities with an entry closer than the best mate, with the nearest entry exactly
        as close, and those of the latter in an earlier column; 0 without a mate.
    """
    b = len(rows)
    chunks = len(seen)
    for c in prange(chunks):
        mark = seen[c]
        for i in range(b * c // chunks, b * (c + 1) // chunks):
            counts[i, :] = 0
            if found[i] == 0:
                continue
            row = rows[i]
            best = distance[offsets[i]]
            place = column[offsets[i]]
            for r in range(run_starts[which[i]], run_starts[which[i] + 1]):
                for j in range(run_first[r], run_stop[r]):
                    x = row[j]
                    if x < best:
                        mark[identity[j]] = 3
                    elif x == best:
                        level = 2 if j < place else 1
                        mark[identity[j]] = max(mark[identity[j]], level)
            if own[i] >= 0:
                mark[own[i]] = 0
            for g in range(len(mark)):
                level = mark[g]
                if level == 3:
                    counts[i, 0] += 1
                elif level > 0:
                    counts[i, 1] += 1
                    counts[i, 2] += level == 2
                mark[g] = 0


@njit(parallel=True, cache=True)
def single_shots(
    rows, identity, own, run_starts, run_first, run_stop, which, offsets, distance, column, found,
    stable, nodes, weights, repeats, seed, keys,
    near, size, nearer, level, place, at_rank,
):  # fmt: skip
    """Rank the match in a gallery of one entry of each identity, over all such galleries.

    Each mate is the one that was drawn with equal probability; another identity stands before it
    with the share of its entries that do, independently of the others. The number before it is
    then a sum of independent trials, whose distribution is built up trial by trial.

    Parameters
    ----------
    rows, identity, own, run_starts, run_first, run_stop, which, offsets, distance, column, found
        As for ``rank_identities``.
    stable : bool
        Whether an entry exactly as close stands before iff its column does.
    nodes, weights : float64 arrays
        Otherwise: such an entry stands before with the probability of each node, and the
        distributions are averaged with the weights.
    repeats : int
        0: exactly. Else: that many galleries are drawn for each row.
    seed : int; keys : int64 array, shape (b,)
        What a row's draws depend on, and nothing else.
    near : int64 array, shape (chunks, n + 1)
    size, nearer, level : int64 arrays, shape (chunks, identities), zeros on entry and return
    place : float64 array, shape (chunks, K)
    at_rank : float64 array, shape (b, K), written
        Probability, or share of the draws, of ranks 1 ... K.
    """
    b = len(rows)
    chunks = len(size)
    ranks = at_rank.shape[1]
    for c in prange(chunks):
        kept = size[c]
        first = nearer[c]
        equal = level[c]
        line = place[c]
        columns = near[c]
        for i in range(b * c // chunks, b * (c + 1) // chunks):
            row = rows[i]
            at_rank[i, :] = 0.0
            mates = found[i]
            if mates == 0:
                continue
            state = _random_bits(np.uint64(seed), keys[i])
            last = distance[offsets[i] + mates - 1]
            kept[:] = 0
            s = np.int64(0)
            for r in range(run_starts[which[i]], run_starts[which[i] + 1]):
                for j in range(run_first[r], run_stop[r]):
                    x = row[j]
                    kept[identity[j]] += x == x
                    columns[s] = j
                    s += np.int64(x <= last)
            if own[i] >= 0:
                kept[own[i]] = 0
            for t in range(mates):
                d = distance[offsets[i] + t]
                where = column[offsets[i] + t]
                first[:] = 0
                equal[:] = 0
                some_tied = False
                for q in range(s):
                    j = columns[q]
                    x = row[j]
                    if x < d or (stable and x == d and j < where):
                        first[identity[j]] += 1
                    elif x == d and not stable:
                        equal[identity[j]] += 1
                        some_tied = some_tied or kept[identity[j]] > 0
                if repeats > 0:
                    for n in range(repeats):
                        if np.int64(_uniform(state, 2 * n) * mates) != t:
                            continue
                        draw = _random_bits(state, 2 * n + 1)
                        tie = nodes[0]
                        if len(nodes) > 1:  # the mate's own place among the tied
                            tie = _uniform(draw, 2 * len(kept))
                        before = 0
                        for g in range(len(kept)):
                            if first[g] + equal[g] == 0 or kept[g] == 0:
                                continue
                            entry = np.int64(_uniform(draw, 2 * g) * kept[g])
                            early = _uniform(draw, 2 * g + 1) < tie
                            if entry < first[g] + (equal[g] if early else 0):
                                before += 1
                        if before < ranks:
                            at_rank[i, before] += 1.0 / repeats
                    continue
                for node in range(len(nodes) if some_tied else 1):
                    line[:] = 0.0
                    line[0] = 1.0
                    top = 0
                    for g in range(len(kept)):
                        if kept[g] == 0 or first[g] + equal[g] == 0:
                            continue
                        p = (first[g] + nodes[node] * equal[g]) / kept[g]
                        top = min(top + 1, ranks - 1)
                        for r in range(top, 0, -1):
                            line[r] = line[r] * (1.0 - p) + line[r - 1] * p
                        line[0] *= 1.0 - p
                    weight = (weights[node] if some_tied else 1.0) / mates
                    for r in range(ranks):
                        at_rank[i, r] += weight * line[r]
            kept[:] = 0
            first[:] = 0
            equal[:] = 0
