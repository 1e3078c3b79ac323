"""Re-identification: ranks of mates and of identities, and entries within thresholds, by query.

The mates of a row are known and sorted; they are few. The row is then read once: only values up to
the farthest mate are collected, so that most of a row costs one comparison. Templates of the
query's own identity are among them and are subtracted again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.compiling import parallel_rows


@register_jitable
def threshold_of(x, thresholds, base, scale, guide):
    """As in `bioeval.kernels.count`: the compiler sees no change of another file."""
    places = len(guide) - 1
    y = (x - base) * scale
    place = 0
    if y > 0:
        place = places - 1 if y >= places - 1 else np.int64(y)
    low = guide[place]
    high = guide[place + 1]
    while low < high:
        middle = (low + high) // 2
        if thresholds[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


class Queries(NamedTuple):
    """Some queries of re-identification."""

    #: float (b, n'), C-contiguous: distances to the candidates, perhaps with more columns behind
    #: them; NaN = no attempt.
    values: np.ndarray
    identity: np.ndarray  # int64 (b,): whose columns are no candidates; -1 for none
    list_index: np.ndarray  # int64 (b,): the list of columns that each query searches


class Columns(NamedTuple):
    """The candidates of some queries."""

    place: np.ndarray  # int64 (n,): the column of each in the gallery
    identity: np.ndarray  # int64 (n,)
    #: int64: identity ``c`` has the increasing columns
    #: ``of_identity[identity_starts[c]:identity_starts[c + 1]]``.
    identity_starts: np.ndarray
    of_identity: np.ndarray
    kept: np.ndarray  # bool (lists, n): the columns of each list


class Mates(NamedTuple):
    """The mates of some queries, from near to far (equal ones by column); the counts are written.

    Those of query ``i`` are ``starts[i]:starts[i + 1]``.
    """

    starts: np.ndarray  # int64 (b + 1,)
    distance: np.ndarray  # of the dtype of the values
    column: np.ndarray  # int64: in the gallery
    #: int64: the others closer, those exactly as close, and those of the latter in an earlier
    #: column of the gallery.
    closer: np.ndarray
    tied: np.ndarray
    before: np.ndarray


# Values compared with the farthest mate at a time, before any of them is collected.
CHUNK = 64

# Up to this many mates, all collected values are compared with each mate; beyond, each value is
# placed among the sorted mates by bisection.
FEW = 64


@register_jitable
def _collect(row, kept, last, near, wanted):
    """Write the values of a list up to the farthest mate, and NaN; return their number.

    `wanted` (uint8 (CHUNK,)) is written.
    """
    s = np.int64(0)
    rest = len(row) // CHUNK * CHUNK
    for a in range(0, rest, CHUNK):
        piece, listed = row[a : a + CHUNK], kept[a : a + CHUNK]
        number = np.int32(0)
        for q in range(CHUNK):
            some = np.int32(not (piece[q] > last)) & np.int32(listed[q])
            wanted[q] = some
            number += some
        if number > 0:
            for q in range(CHUNK):
                near[s] = piece[q]
                s += wanted[q]
    for q in range(rest, len(row)):
        wanted[q - rest] = np.int32(not (row[q] > last)) & np.int32(kept[q])
    for q in range(rest, len(row)):
        near[s] = row[q]
        s += wanted[q - rest]
    return s


@register_jitable
def _first_above(values, x):
    """Return the first place of increasing values that is above `x`, which is not NaN."""
    low, high = np.int64(0), np.int64(len(values))
    while low < high:
        middle = (low + high) // 2
        if values[middle] <= x:
            low = middle + 1
        else:
            high = middle
    return low


@register_jitable
def _count_few(near, mates, closer, tied):
    """Count the values below, and exactly at, each of a few mates."""
    for t in range(len(mates)):
        d = mates[t]
        before = np.int32(0)
        same = np.int32(0)
        for q in range(len(near)):
            before += np.int32(near[q] < d)
            same += np.int32(near[q] == d)
        closer[t] = before
        tied[t] = same


@register_jitable
def _count_many(near, mates, closer, tied):
    """Count the values below, and exactly at, each of many sorted mates."""
    k = len(mates)
    closer[:] = 0
    tied[:] = 0
    for q in range(len(near)):
        x = near[q]
        if x != x:  # no score: neither below nor at any
            continue
        farther = _first_above(mates, x)
        if farther < k:
            closer[farther] += 1
        if farther > 0 and mates[farther - 1] == x:
            tied[farther - 1] += 1
    for t in range(1, k):
        closer[t] += closer[t - 1]
    for t in range(k - 2, -1, -1):
        if mates[t] == mates[t + 1]:
            tied[t] = tied[t + 1]


@parallel_rows("queries.values")
def rank_mates(begin, end, queries, columns, mates, failed):
    """Rank the mates of each query among the candidates; `mates` is written.

    `failed` (int64 (b,), written) are the candidates at a distance of NaN; it is empty where there
    are none.
    """
    n = len(columns.place)
    near, wanted = np.empty(n + 1, queries.values.dtype), np.empty(CHUNK, np.uint8)
    for i in range(begin, end):
        low, high = mates.starts[i], mates.starts[i + 1]
        if low == high and len(failed) == 0:
            continue
        row = queries.values[i, :n]
        kept = columns.kept[queries.list_index[i]]
        distance = mates.distance[low:high]
        closer, tied = mates.closer[low:high], mates.tied[low:high]
        farthest = distance[-1] if low < high else row.dtype.type(-np.inf)
        s = _collect(row, kept, farthest, near, wanted)
        if high - low <= FEW:
            _count_few(near[:s], distance, closer, tied)
        else:
            _count_many(near[:s], distance, closer, tied)
        bad = np.int64(0)
        if len(failed) > 0:
            for q in range(s):
                bad += near[q] != near[q]
        first, stop = np.int64(0), np.int64(0)
        if queries.identity[i] >= 0:
            first = columns.identity_starts[queries.identity[i]]
            stop = columns.identity_starts[queries.identity[i] + 1]
        own = columns.of_identity[first:stop]
        for j in own:
            if kept[j]:
                x = row[j]
                bad -= x != x
                for t in range(len(distance)):
                    closer[t] -= x < distance[t]
                    tied[t] -= x == distance[t]
        if len(failed) > 0:
            failed[i] = bad
        for t in range(low, high):
            before = np.int64(0)
            if mates.tied[t] > 0:
                d, place = mates.distance[t], mates.column[t]
                for j in range(n):
                    before += np.int64(kept[j] & (row[j] == d) & (columns.place[j] < place))
                for j in own:
                    before -= np.int64(kept[j] & (row[j] == d) & (columns.place[j] < place))
            mates.before[t] = before


class ByGroup(NamedTuple):
    """The candidates of each group of people around the mates of each query; all written.

    int32 (groups, mates): candidates closer than the mate, exactly as close, and those of the
    latter in an earlier column. Those of the query's own group include its mates, and say nothing.
    """

    closer: np.ndarray
    tied: np.ndarray
    before: np.ndarray


@parallel_rows("queries.values")
def count_by_group(begin, end, queries, columns, mates, group, counts):
    """Count the candidates of each group around the mates of each query; ``counts`` is written.

    `group` (int64 (n,)) is that of each column, from 0; -1 for none.
    """
    for i in range(begin, end):
        low, high = mates.starts[i], mates.starts[i + 1]
        if low == high:
            continue
        row = queries.values[i]
        kept = columns.kept[queries.list_index[i]]
        distance, place = mates.distance[low:high], mates.column[low:high]
        closer, tied = counts.closer[:, low:high], counts.tied[:, low:high]
        before = counts.before[:, low:high]
        closer[:] = 0
        tied[:] = 0
        before[:] = 0
        for j in range(len(kept)):
            x = row[j]
            g = group[j]
            if not (x <= distance[-1]) or g < 0 or not kept[j]:
                continue
            farther = _first_above(distance, x)
            if farther < len(distance):
                closer[g, farther] += 1
            t = farther - 1
            while t >= 0 and distance[t] == x:
                tied[g, t] += 1
                before[g, t] += j < place[t]
                t -= 1
        for t in range(1, len(distance)):
            closer[:, t] += closer[:, t - 1]


@parallel_rows("queries.values")
def rank_identities(begin, end, queries, columns, mates, group, counts):
    """Count the identities of each group before the best mate of each row, each at its first entry.

    ``counts[i, group[c]]`` gets the other identities ``c`` with an entry closer than the best mate,
    with the nearest entry exactly as close, and those of the latter in an earlier column; 0 without
    a mate.
    """
    # 3 closer, 2 and 1 tied and before or behind
    mark = np.zeros(len(columns.identity_starts) - 1, np.int8)
    for i in range(begin, end):
        counts[i, :, :] = 0
        if mates.starts[i] == mates.starts[i + 1]:
            continue
        row = queries.values[i]
        kept = columns.kept[queries.list_index[i]]
        best, place = mates.distance[mates.starts[i]], mates.column[mates.starts[i]]
        for j in range(len(kept)):
            x = row[j]
            if x <= best and kept[j]:
                c = columns.identity[j]
                mark[c] = 3 if x < best else max(mark[c], 1 + (j < place))
        if queries.identity[i] >= 0:
            mark[queries.identity[i]] = 0
        for c in range(len(mark)):
            level = mark[c]
            if level == 3:
                counts[i, group[c], 0] += 1
            elif level > 0:
                counts[i, group[c], 1] += 1
                counts[i, group[c], 2] += level == 2
            mark[c] = 0


class TiedOrders(NamedTuple):
    """How ties are broken in galleries of one entry of each identity.

    An entry exactly as close ranks before the mate iff its column does (`stable`), or with the
    probability of each node; the distributions are averaged with the weights.
    """

    stable: bool
    nodes: np.ndarray  # float64
    weights: np.ndarray  # float64


class Entries(NamedTuple):
    """Entries of each identity: the usable ones, those before the mate, and those tied with it."""

    usable: np.ndarray
    first: np.ndarray
    equal: np.ndarray


@register_jitable
def _add_ranks(node, weight, entries, line, at_rank):
    """Add the distribution of the rank: a sum of independent trials, one for each identity."""
    usable, first, equal = entries
    ranks = len(at_rank)
    line[:] = 0.0
    line[0] = 1.0
    top = 0
    for g in range(len(usable)):
        if usable[g] == 0 or first[g] + equal[g] == 0:
            continue
        p = (first[g] + node * equal[g]) / usable[g]
        top = min(top + 1, ranks - 1)
        for r in range(top, 0, -1):
            line[r] = line[r] * (1.0 - p) + line[r - 1] * p
        line[0] *= 1.0 - p
    for r in range(ranks):
        at_rank[r] += weight * line[r]


@parallel_rows("queries.values")
def single_shots(begin, end, queries, columns, mates, orders, at_rank):
    """Rank the match in a gallery of one entry of each identity, over all such galleries.

    Each mate is the one drawn with equal probability; another identity ranks before it with the
    proportion of its entries that do, independently of the others. The number before it is then a
    sum of independent trials, whose distribution is built up trial by trial. ``at_rank[i]`` gets
    the probability of ranks 1 ... K.
    """
    counts = np.zeros((3, len(columns.identity_starts) - 1), np.int64)
    entries = Entries(counts[0], counts[1], counts[2])
    near = np.empty(len(columns.place), np.int64)  # columns of others up to the farthest mate
    line = np.empty(at_rank.shape[1])
    for i in range(begin, end):
        at_rank[i, :] = 0.0
        low, high = mates.starts[i], mates.starts[i + 1]
        if low == high:
            continue
        row = queries.values[i]
        kept = columns.kept[queries.list_index[i]]
        entries.usable[:] = 0
        s = np.int64(0)
        for j in range(len(kept)):
            if kept[j] and columns.identity[j] != queries.identity[i]:
                entries.usable[columns.identity[j]] += row[j] == row[j]
                near[s] = j
                s += row[j] <= mates.distance[high - 1]
        for t in range(low, high):
            d, place = mates.distance[t], mates.column[t]
            entries.first[:] = 0
            entries.equal[:] = 0
            some_tied = False
            for j in near[:s]:
                g = columns.identity[j]
                if row[j] < d or (orders.stable and row[j] == d and j < place):
                    entries.first[g] += 1
                elif row[j] == d and not orders.stable:
                    entries.equal[g] += 1
                    some_tied = True
            if some_tied:
                for n in range(len(orders.nodes)):
                    weight = orders.weights[n] / (high - low)
                    _add_ranks(orders.nodes[n], weight, entries, line, at_rank[i])
            else:
                _add_ranks(orders.nodes[0], 1.0 / (high - low), entries, line, at_rank[i])


@parallel_rows("queries.values")
def count_retrieved(begin, end, queries, columns, thresholds, guide, counts):
    """Count the columns of each query's list between thresholds.

    ``counts[i, k]`` gets those with ``thresholds[k - 1] < value <= thresholds[k]``, without NaN;
    `guide` is that of :func:`bioeval.kernels.count.threshold_of`.
    """
    base, scale, first = guide
    for i in range(begin, end):
        counts[i, :] = 0
        row = queries.values[i]
        kept = columns.kept[queries.list_index[i]]
        for j in range(len(kept)):
            x = np.float64(row[j])
            if kept[j] and x == x:
                counts[i, threshold_of(x, thresholds, base, scale, first)] += 1


@parallel_rows("values")
def finite_range(begin, end, values, self_column, low, high):
    """Find the least and the greatest finite value of each row, but for its own column (or -1)."""
    for i in range(begin, end):
        row = values[i]
        least, most = np.inf, -np.inf
        for side in range(2):
            part = row[: max(self_column[i], 0)] if side == 0 else row[self_column[i] + 1 :]
            for x in part:
                if x < least and x > -np.inf:
                    least = x
                if x > most and x < np.inf:
                    most = x
        low[i], high[i] = least, most
