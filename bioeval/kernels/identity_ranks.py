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
def _first_not_closer(distances, x):
    """Return the place of the first of increasing distances that is at least `x`."""
    low, high = np.int64(0), np.int64(len(distances))
    while low < high:
        middle = (low + high) // 2
        if distances[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@register_jitable
def _entries_by_mate(queries, gallery, i, distances, kept, starts, place, columns):
    """Count the usable entries of each other identity, and list those up to each mate.

    ``columns[starts[t]:starts[t + 1]]`` get the columns farther than mate ``t - 1``, and at most as
    far as mate ``t``; of mates at one distance the first has them.
    """
    row = queries.values[i]
    which = queries.which[i]
    kept[:] = 0
    starts[: len(distances) + 2] = 0
    for r in range(gallery.run_starts[which], gallery.run_starts[which + 1]):
        for j in range(gallery.run_first[r], gallery.run_stop[r]):
            x = row[j]
            kept[gallery.identity[j]] += x == x
            place[j] = -1
            if x <= distances[-1]:
                place[j] = _first_not_closer(distances, x)
                starts[place[j] + 1] += 1
    for t in range(len(distances)):
        starts[t + 1] += starts[t]
    for r in range(gallery.run_starts[which], gallery.run_starts[which + 1]):
        for j in range(gallery.run_first[r], gallery.run_stop[r]):
            if place[j] >= 0:
                columns[starts[place[j]]] = j
                starts[place[j]] += 1
    for t in range(len(distances), 0, -1):
        starts[t] = starts[t - 1]
    starts[0] = 0
    if queries.own[i] >= 0:
        kept[queries.own[i]] = 0


@register_jitable
def _advance(gallery, row, columns, d, mates, stable, kept, counts):
    """Count the entries of a distance group for one of its mates.

    `mates` are the columns of the mate before it at the same distance, -1 for the first, and of
    this one; `counts` are the entries before it and tied with it, by identity. Return whether
    entries of another identity are tied with it.
    """
    before, where = mates
    first, equal = counts
    tied = False
    for j in columns:
        g = gallery.identity[j]
        if row[j] < d:
            first[g] += before < 0
        elif stable:
            first[g] += before <= j < where
        elif before < 0:
            equal[g] += 1
        tied = tied or (not stable and row[j] == d and kept[g] > 0)
    return tied


@register_jitable
def _close_group(gallery, row, columns, d, where, stable, first, equal):
    """Count the entries tied with the last mate of a distance as closer than all later ones."""
    for j in columns:
        if row[j] == d:
            g = gallery.identity[j]
            first[g] += j >= where if stable else 1
            equal[g] = 0


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
    most = np.int64(0)
    for i in range(begin, end):
        most = max(most, mates.found[i])
    starts = np.empty(most + 2, np.int64)
    place = np.empty(queries.values.shape[1], np.int64)
    columns = np.empty(queries.values.shape[1], np.int64)
    line = np.empty(at_rank.shape[1])
    for i in range(begin, end):
        row = queries.values[i]
        at_rank[i, :] = 0.0
        number = mates.found[i]
        if number == 0:
            continue
        state = _random_bits(np.uint64(draws.seed), draws.keys[i])
        distances = mates.distance[mates.offsets[i] : mates.offsets[i] + number]
        _entries_by_mate(queries, gallery, i, distances, kept, starts, place, columns)
        first[:] = 0
        equal[:] = 0
        group = np.int64(0)  # the first mate at this distance
        for t in range(number):
            d = distances[t]
            where = mates.column[mates.offsets[i] + t]
            before = np.int64(-1)
            if t > 0 and distances[t - 1] == d:
                before = mates.column[mates.offsets[i] + t - 1]
            elif t > 0:
                last = mates.column[mates.offsets[i] + t - 1]
                there = columns[starts[group] : starts[group + 1]]
                _close_group(
                    gallery, row, there, distances[group], last, draws.stable, first, equal
                )
                group = t
            there = columns[starts[group] : starts[group + 1]]
            some_tied = _advance(
                gallery, row, there, d, (before, where), draws.stable, kept, (first, equal)
            )
            if draws.repeats > 0:
                _add_draws(draws, state, t, number, kept, first, equal, at_rank[i])
                continue
            for n in range(len(draws.nodes) if some_tied else 1):
                weight = (draws.weights[n] if some_tied else 1.0) / number
                _add_exactly(draws.nodes[n], weight, kept, first, equal, line, at_rank[i])
