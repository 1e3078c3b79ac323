"""Rank of the query's identity among identities, by first entries or by drawn entries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.parallel_rows import parallel_rows

# Odd constants of splitmix64, which turns a counter into random bits.
STEP = np.uint64(0x9E3779B97F4A7C15)
MIX_A = np.uint64(0xBF58476D1CE4E5B9)
MIX_B = np.uint64(0x94D049BB133111EB)


class Draws(NamedTuple):
    """Galleries of one entry of each identity: how they are drawn, and how ties are broken.

    An entry exactly as close ranks before the mate iff its column does (`stable`), or with the
    probability of each node; the distributions are averaged with the weights.
    """

    stable: bool
    nodes: np.ndarray  # float64
    weights: np.ndarray  # float64
    repeats: int  # galleries drawn for each row; 0: the exact mean over all galleries
    seed: int
    keys: np.ndarray  # int64 (b,): random numbers of a row depend on the seed and its key alone


@register_jitable
def _random_bits(state, key):
    """Return 64 random bits that depend only on a state and a key."""
    z = state + STEP * (np.uint64(key) + np.uint64(1))
    z = (z ^ (z >> np.uint64(30))) * MIX_A
    z = (z ^ (z >> np.uint64(27))) * MIX_B
    return z ^ (z >> np.uint64(31))


@register_jitable
def _uniform(state, key):
    """Return a number in [0, 1) that depends only on a state and a key."""
    return np.float64(_random_bits(state, key) >> np.uint64(11)) / 9007199254740992.0


@parallel_rows("queries.values")
def rank_identities(begin, end, queries, gallery, mates, counts):
    """Count the identities before the best mate of each row, each at its first entry.

    ``counts[i]`` gets the other identities with an entry closer than the best mate, with the
    nearest entry exactly as close, and those of the latter in an earlier column; 0 without a mate.
    """
    # 3 closer, 2 and 1 tied and before or behind
    mark = np.zeros(len(gallery.own_starts) - 1, np.int8)
    for i in range(begin, end):
        counts[i, :] = 0
        if mates.found[i] == 0:
            continue
        row = queries.values[i]
        best = mates.distance[mates.offsets[i]]
        place = mates.column[mates.offsets[i]]
        which = queries.which[i]
        for r in range(gallery.run_starts[which], gallery.run_starts[which + 1]):
            for j in range(gallery.run_first[r], gallery.run_stop[r]):
                x = row[j]
                if x < best:
                    mark[gallery.identity[j]] = 3
                elif x == best:
                    g = gallery.identity[j]
                    mark[g] = max(mark[g], 2 if j < place else 1)
        if queries.own[i] >= 0:
            mark[queries.own[i]] = 0
        for g in range(len(mark)):
            level = mark[g]
            if level == 3:
                counts[i, 0] += 1
            elif level > 0:
                counts[i, 1] += 1
                counts[i, 2] += level == 2
            mark[g] = 0


@register_jitable
def _entries_within(queries, gallery, i, farthest, kept, columns):
    """Write the columns up to the farthest mate, and the usable entries of each other identity."""
    row = queries.values[i]
    which = queries.which[i]
    kept[:] = 0
    count = np.int64(0)
    for r in range(gallery.run_starts[which], gallery.run_starts[which + 1]):
        for j in range(gallery.run_first[r], gallery.run_stop[r]):
            x = row[j]
            kept[gallery.identity[j]] += x == x
            columns[count] = j
            count += np.int64(x <= farthest)
    if queries.own[i] >= 0:
        kept[queries.own[i]] = 0
    return count


@register_jitable
def _add_draws(draws, state, mate, mates, kept, first, equal, at_rank):
    """Add the drawn galleries in which `mate`, one of `mates`, is the mate drawn."""
    for n in range(draws.repeats):
        if np.int64(_uniform(state, 2 * n) * mates) != mate:
            continue
        draw = _random_bits(state, 2 * n + 1)
        tie = draws.nodes[0]
        if len(draws.nodes) > 1:  # the mate's own place among the tied
            tie = _uniform(draw, 2 * len(kept))
        before = 0
        for g in range(len(kept)):
            if first[g] + equal[g] == 0 or kept[g] == 0:
                continue
            entry = np.int64(_uniform(draw, 2 * g) * kept[g])
            early = _uniform(draw, 2 * g + 1) < tie
            if entry < first[g] + (equal[g] if early else 0):
                before += 1
        if before < len(at_rank):
            at_rank[before] += 1.0 / draws.repeats


@register_jitable
def _add_exactly(node, weight, kept, first, equal, line, at_rank):
    """Add the distribution of the rank: a sum of independent trials, one for each identity."""
    ranks = len(at_rank)
    line[:] = 0.0
    line[0] = 1.0
    top = 0
    for g in range(len(kept)):
        if kept[g] == 0 or first[g] + equal[g] == 0:
            continue
        p = (first[g] + node * equal[g]) / kept[g]
        top = min(top + 1, ranks - 1)
        for r in range(top, 0, -1):
            line[r] = line[r] * (1.0 - p) + line[r - 1] * p
        line[0] *= 1.0 - p
    for r in range(ranks):
        at_rank[r] += weight * line[r]


@parallel_rows("queries.values")
def single_shots(begin, end, queries, gallery, mates, draws, at_rank):
    """Rank the match in a gallery of one entry of each identity, over all such galleries.

    Each mate is the one drawn with equal probability; another identity ranks before it with the
    proportion of its entries that do, independently of the others. The number before it is then a
    sum of independent trials, whose distribution is built up trial by trial. ``at_rank[i]`` gets
    the probability, or proportion of the draws, of ranks 1 ... K.
    """
    identities = len(gallery.own_starts) - 1
    kept = np.zeros(identities, np.int64)  # usable entries of each identity,
    first = np.zeros(identities, np.int64)  # those before the mate,
    equal = np.zeros(identities, np.int64)  # and those tied with it
    columns = np.empty(queries.values.shape[1] + 1, np.int64)
    line = np.empty(at_rank.shape[1])
    for i in range(begin, end):
        row = queries.values[i]
        at_rank[i, :] = 0.0
        number = mates.found[i]
        if number == 0:
            continue
        state = _random_bits(np.uint64(draws.seed), draws.keys[i])
        farthest = mates.distance[mates.offsets[i] + number - 1]
        s = _entries_within(queries, gallery, i, farthest, kept, columns)
        for t in range(number):
            d = mates.distance[mates.offsets[i] + t]
            where = mates.column[mates.offsets[i] + t]
            first[:] = 0
            equal[:] = 0
            some_tied = False
            for q in range(s):
                j = columns[q]
                x = row[j]
                if x < d or (draws.stable and x == d and j < where):
                    first[gallery.identity[j]] += 1
                elif x == d and not draws.stable:
                    g = gallery.identity[j]
                    equal[g] += 1
                    some_tied = some_tied or kept[g] > 0
            if draws.repeats > 0:
                _add_draws(draws, state, t, number, kept, first, equal, at_rank[i])
                continue
            for n in range(len(draws.nodes) if some_tied else 1):
                weight = (draws.weights[n] if some_tied else 1.0) / number
                _add_exactly(draws.nodes[n], weight, kept, first, equal, line, at_rank[i])
