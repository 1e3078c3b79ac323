"""Re-identification: ranks of mates and of identities, and entries within thresholds, by query.

The mates of a row are gathered and sorted; they are few. The row is then read once: only values
up to the farthest mate are collected, so that most of a row costs one comparison. Templates of
the query's own identity are among them and are subtracted again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.compiling import compiled, parallel_rows


class Queries(NamedTuple):
    """A block of queries of re-identification."""

    values: np.ndarray  # float (b, n), C-contiguous: distances to the gallery; NaN = no attempt
    identity: np.ndarray  # int64 (b,): the identity of each query; -1 for none
    self_column: np.ndarray  # int64 (b,): the column that is the query itself; -1 for none
    camera: np.ndarray  # int64 (b,)
    list_index: np.ndarray  # int64 (b,): the list of columns that each query searches


class ListedGallery(NamedTuple):
    """The gallery of re-identification, and the columns of each list."""

    identity: np.ndarray  # int64 (n,): the identity of each column
    #: int64: identity ``c`` has the increasing columns
    #: ``identity_columns[identity_starts[c]:identity_starts[c + 1]]``.
    identity_starts: np.ndarray
    identity_columns: np.ndarray
    camera: np.ndarray  # int64 (n,)
    same_camera: bool  # whether own templates from the query's camera are removed
    #: int64: the columns of list ``l`` are the runs ``run_first[r]:run_stop[r]``, increasing, for
    #: ``r`` in ``run_starts[l]:run_starts[l + 1]``. Columns on no list are ignored.
    run_starts: np.ndarray
    run_first: np.ndarray
    run_stop: np.ndarray


class Mates(NamedTuple):
    """The mates of each query, from near to far (equal ones by column); all written but `offsets`.

    - `offsets` (int64 (b + 1,)): row ``i`` may write places ``offsets[i]:offsets[i + 1]`` of the
      next five
    - `distance`: of the dtype of the values
    - `column`, `closer`, `tied`, `before` (int64): of each mate: its column, the others closer,
      those exactly as close, and those of the latter in an earlier column
    - `usable` (int64 (b,)): usable mates
    - `removed` (int64 (b,)): own templates on the list that are removed
    - `failed` (int64 (b,)): comparisons on the list that are NaN, except with the query itself and
      removed ones
    """

    offsets: np.ndarray
    distance: np.ndarray
    column: np.ndarray
    closer: np.ndarray
    tied: np.ndarray
    before: np.ndarray
    usable: np.ndarray
    removed: np.ndarray
    failed: np.ndarray


# Values compared with the farthest mate at a time, before any of them is collected.
CHUNK = 64

# Up to this many mates, all collected values are compared with each mate; beyond, each value is
# placed among the sorted mates by bisection.
FEW = 64


@register_jitable
def _sort_all(distance, columns):
    """Sort mates by distance, equal ones by column (Shell's sort: no memory, no recursion)."""
    n = len(distance)
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            value = distance[i]
            column = columns[i]
            j = i
            while j >= gap:
                d = distance[j - gap]
                if d < value or (d == value and columns[j - gap] < column):
                    break
                distance[j] = d
                columns[j] = columns[j - gap]
                j -= gap
            distance[j] = value
            columns[j] = column
        gap //= 3


@register_jitable
def _collect(part, last, near, s):
    """Append the values up to the farthest mate, and NaN, to the `s` values of `near`."""
    n = len(part)
    whole = n // CHUNK * CHUNK
    for a in range(0, whole, CHUNK):
        piece = part[a : a + CHUNK]
        hit = np.int32(0)
        for q in range(CHUNK):
            hit += np.int32(not (piece[q] > last))
        if hit > 0:
            for q in range(CHUNK):
                near[s] = piece[q]
                s += np.int64(not (piece[q] > last))
    for q in range(whole, n):
        near[s] = part[q]
        s += np.int64(not (part[q] > last))
    return s


class RankedMates(NamedTuple):
    """The sorted distances of a row's mates, and the values below and exactly at each."""

    distance: np.ndarray
    closer: np.ndarray
    tied: np.ndarray


@register_jitable
def _first_above(values, low, high, x):
    """Return the first place from `low` to `high` whose value is above `x`; `x` is not NaN."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] <= x:
            low = middle + 1
        else:
            high = middle
    return low


@register_jitable
def _count_few(near, ranked):
    """Count the values below, and exactly at, each of a few mates."""
    mates, closer, tied = ranked
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
def _count_many(near, ranked):
    """Count the values below, and exactly at, each of many sorted mates."""
    mates, closer, tied = ranked
    k = len(mates)
    for t in range(k):
        closer[t] = 0
        tied[t] = 0
    for q in range(len(near)):
        x = near[q]
        if x != x:  # no score: neither below nor at any
            continue
        farther = _first_above(mates, 0, k, x)
        if farther < k:
            closer[farther] += 1
        if farther > 0 and mates[farther - 1] == x:
            tied[farther - 1] += 1
    total = np.int64(0)
    for t in range(k):
        total += closer[t]
        closer[t] = total
    for t in range(k - 2, -1, -1):
        if mates[t] == mates[t + 1]:
            tied[t] = tied[t + 1]


@register_jitable
def _listed(gallery, low, high, j):
    """Whether a column is in one of the ordered runs ``low:high``."""
    run = _first_above(gallery.run_stop, low, high, j)  # the first that ends beyond the column
    return run < high and gallery.run_first[run] <= j


@register_jitable
def _removed(queries, gallery, i, j):
    """Whether an own template is removed: it is the query itself or from its camera."""
    return j == queries.self_column[i] or (
        gallery.same_camera and gallery.camera[j] == queries.camera[i]
    )


@register_jitable
def _subtract_same_identity(queries, gallery, i, templates, runs, ranked):
    """Subtract own templates, at `templates` and in the list's `runs`, from the counts of mates."""
    mates, closer, tied = ranked
    k = len(mates)
    # The mates, by their order ...
    t = np.int64(0)
    while t < k:
        e = t
        while e < k and mates[e] == mates[t]:
            e += 1
        for q in range(t, e):
            closer[q] -= t
            tied[q] -= e - t
        t = e
    # ... and those that are removed.
    for p in range(templates[0], templates[1]):
        j = gallery.identity_columns[p]
        if _removed(queries, gallery, i, j) and _listed(gallery, runs[0], runs[1], j):
            x = queries.values[i, j]
            for q in range(k):
                closer[q] -= x < mates[q]
                tied[q] -= x == mates[q]


@register_jitable
def _count_before(row, gallery, templates, runs, distance, place):
    """Count templates of others at the same distance as a mate, in an earlier column."""
    count = np.int64(0)
    for r in range(runs[0], runs[1]):
        if gallery.run_first[r] >= place:
            break
        part = row[gallery.run_first[r] : min(gallery.run_stop[r], place)]
        for q in range(len(part)):
            count += part[q] == distance
    for p in range(templates[0], templates[1]):
        j = gallery.identity_columns[p]
        if j < place and row[j] == distance:
            count -= _listed(gallery, runs[0], runs[1], j)
    return count


@register_jitable
def _rank_row(queries, gallery, written, near, i):
    """Rank the mates of row `i`; `near` has room for its values."""
    row = queries.values[i]
    at = written.offsets[i]
    identity, list_index = queries.identity[i], queries.list_index[i]
    templates = (np.int64(0), np.int64(0))
    if identity >= 0:
        templates = (gallery.identity_starts[identity], gallery.identity_starts[identity + 1])
    runs = (gallery.run_starts[list_index], gallery.run_starts[list_index + 1])

    size = templates[1] - templates[0]
    mates = written.distance[at : at + size]
    places = written.column[at : at + size]
    k = np.int64(0)
    away = np.int64(0)
    unread = np.int64(0)  # NaN on the list that are no failure
    for p in range(templates[0], templates[1]):
        j = gallery.identity_columns[p]
        x = row[j]
        if not _listed(gallery, runs[0], runs[1], j):
            continue
        if _removed(queries, gallery, i, j):
            away += j != queries.self_column[i]
            unread += x != x
        elif x == x:
            mates[k] = x
            places[k] = j
            k += 1
    _sort_all(mates[:k], places[:k])
    written.usable[i] = k
    written.removed[i] = away
    farthest = row.dtype.type(-np.inf)
    if k > 0:
        farthest = mates[k - 1]

    # Collect the values up to the farthest mate; NaN is detected in the same pass.
    s = np.int64(0)
    for r in range(runs[0], runs[1]):
        s = _collect(row[gallery.run_first[r] : gallery.run_stop[r]], farthest, near, s)
    bad = np.int64(0)
    for q in range(s):
        bad += near[q] != near[q]
    written.failed[i] = bad - unread
    if k == 0:
        return
    ranked = RankedMates(mates[:k], written.closer[at : at + k], written.tied[at : at + k])
    if k <= FEW:
        _count_few(near[:s], ranked)
    else:
        _count_many(near[:s], ranked)
    _subtract_same_identity(queries, gallery, i, templates, runs, ranked)
    for t in range(k):
        written.before[at + t] = np.int64(0)
        if ranked.tied[t] > 0:
            written.before[at + t] = _count_before(
                row, gallery, templates, runs, mates[t], places[t]
            )


@parallel_rows("queries.values")
def rank_mates(begin, end, queries, gallery, mates):
    """Rank all mates of each query among the templates of others; ``mates`` is written."""
    near = np.empty(queries.values.shape[1] + 1, queries.values.dtype)
    for i in range(begin, end):
        _rank_row(queries, gallery, mates, near, i)


class TileCandidates(NamedTuple):
    """The candidates that a tile compares with its queries."""

    column: np.ndarray  # int64 (w,): the column of each in the gallery
    #: bool (lists, w): which of them are on each list; (0, w) where all are on every list.
    kept: np.ndarray


class TileMates(NamedTuple):
    """The mates of the queries of a tile, and the candidates around them."""

    #: int64 (h + 1,): those of query ``i`` are ``starts[i]:starts[i + 1]`` of the following.
    starts: np.ndarray
    distance: np.ndarray  # of the dtype of the tile, from near to far; equal ones by column
    column: np.ndarray  # int64: the column of each in the gallery
    list_index: np.ndarray  # int64 (h,): the list of candidates that each query searches
    #: int32, written: candidates closer than the mate, exactly as close, and those of the latter in
    #: an earlier column.
    closer: np.ndarray
    tied: np.ndarray
    before: np.ndarray


@parallel_rows("tile")
def rank_in_tile(begin, end, tile, candidates, mates):
    """Count the candidates of a tile around the mates of each of its queries.

    - `tile` (float (h, w'), overwritten): distances to the candidates, NaN for those of the query's
      identity; and perhaps more columns
    - `candidates` (TileCandidates), `mates` (TileMates)
    """
    width = len(candidates.column)
    near = np.empty(width + 1, tile.dtype)
    for i in range(begin, end):
        low, high = mates.starts[i], mates.starts[i + 1]
        if low == high:
            continue
        row = tile[i, :width]
        if len(candidates.kept) > 0:
            listed = candidates.kept[mates.list_index[i]]
            for j in range(len(row)):
                row[j] = row[j] if listed[j] else np.nan
        s = _collect(row, mates.distance[high - 1], near, np.int64(0))
        ranked = RankedMates(mates.distance[low:high], mates.closer[low:high], mates.tied[low:high])
        if high - low <= FEW:
            _count_few(near[:s], ranked)
        else:
            _count_many(near[:s], ranked)
        for t in range(low, high):
            before = np.int32(0)
            if mates.tied[t] > 0:
                for j in range(len(row)):
                    before += np.int32(
                        (row[j] == mates.distance[t]) & (candidates.column[j] < mates.column[t])
                    )
            mates.before[t] = before


@compiled
def take_own(tile, first, stop, columns, offsets, own):
    """Write down the distances of the queries of a tile to candidates of their identity.

    - `first`, `stop` (int64 (h,)): the places of these candidates, among all that are laid out
    - `columns` (two ints): the places of the columns of the tile
    - `offsets` (int64 (h,)): the distance of the candidate ``first[i]`` is ``own[offsets[i]]``
    """
    begin, end = columns
    for i in range(len(first)):
        low, high = max(first[i], begin), min(stop[i], end)
        for place in range(low, high):
            own[offsets[i] + place - first[i]] = tile[i, place - begin]


class ByGroup(NamedTuple):
    """The candidates of each group of people around the mates of each query; all written.

    int32 (groups, places), with the places of :class:`Mates`: candidates closer than the mate,
    exactly as close, and those of the latter in an earlier column. Those of the query's own group
    include its mates, and say nothing.
    """

    closer: np.ndarray
    tied: np.ndarray
    before: np.ndarray


@parallel_rows("queries.values")
def count_by_group(begin, end, queries, gallery, mates, group, counts):
    """Count the candidates of each group around the mates of each query; ``counts`` is written.

    `group` (int64 (n,)) is that of each column, from 0; -1 for none.
    """
    for i in range(begin, end):
        number = mates.usable[i]
        if number == 0:
            continue
        row = queries.values[i]
        low = mates.offsets[i]
        distance = mates.distance[low : low + number]
        columns = mates.column[low : low + number]
        closer = counts.closer[:, low : low + number]
        tied = counts.tied[:, low : low + number]
        before = counts.before[:, low : low + number]
        for g in range(len(closer)):
            for t in range(number):
                closer[g, t] = tied[g, t] = before[g, t] = 0
        list_index = queries.list_index[i]
        for r in range(gallery.run_starts[list_index], gallery.run_starts[list_index + 1]):
            for j in range(gallery.run_first[r], gallery.run_stop[r]):
                x = row[j]
                g = group[j]
                if not (x <= distance[-1]) or g < 0:
                    continue
                farther = _first_above(distance, 0, number, x)
                if farther < number:
                    closer[g, farther] += 1
                t = farther - 1
                while t >= 0 and distance[t] == x:
                    tied[g, t] += 1
                    before[g, t] += j < columns[t]
                    t -= 1
        for g in range(len(closer)):
            for t in range(1, number):
                closer[g, t] += closer[g, t - 1]


class TiedOrders(NamedTuple):
    """How ties are broken in galleries of one entry of each identity.

    An entry exactly as close ranks before the mate iff its column does (`stable`), or with the
    probability of each node; the distributions are averaged with the weights.
    """

    stable: bool
    nodes: np.ndarray  # float64
    weights: np.ndarray  # float64


@parallel_rows("queries.values")
def rank_identities(begin, end, queries, gallery, mates, group, counts):
    """Count the identities of each group before the best mate of each row, each at its first entry.

    ``counts[i, group[c]]`` gets the other identities ``c`` with an entry closer than the best mate,
    with the nearest entry exactly as close, and those of the latter in an earlier column; 0 without
    a mate.
    """
    # 3 closer, 2 and 1 tied and before or behind
    mark = np.zeros(len(gallery.identity_starts) - 1, np.int8)
    for i in range(begin, end):
        counts[i, :, :] = 0
        if mates.usable[i] == 0:
            continue
        row = queries.values[i]
        best = mates.distance[mates.offsets[i]]
        place = mates.column[mates.offsets[i]]
        list_index = queries.list_index[i]
        for r in range(gallery.run_starts[list_index], gallery.run_starts[list_index + 1]):
            for j in range(gallery.run_first[r], gallery.run_stop[r]):
                x = row[j]
                if x < best:
                    mark[gallery.identity[j]] = 3
                elif x == best:
                    c = gallery.identity[j]
                    mark[c] = max(mark[c], 1 + (j < place))
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


class Entries(NamedTuple):
    """Entries of each identity: the usable ones, those before the mate, and those tied with it."""

    kept: np.ndarray
    first: np.ndarray
    equal: np.ndarray


class EntriesByMate(NamedTuple):
    """Columns up to each mate.

    Those farther than mate ``t - 1``, and at most as far as mate ``t``, are
    ``columns[starts[t]:starts[t + 1]]``; of mates at one distance the first has them. `place` is
    the mate of each column of the gallery.
    """

    starts: np.ndarray
    place: np.ndarray
    columns: np.ndarray


@register_jitable
def _entries_by_mate(queries, gallery, i, distances, kept, by_mate):
    """Count the usable entries of each other identity, and list those up to each mate."""
    starts, place, columns = by_mate
    row = queries.values[i]
    list_index = queries.list_index[i]
    kept[:] = 0
    starts[: len(distances) + 2] = 0
    for r in range(gallery.run_starts[list_index], gallery.run_starts[list_index + 1]):
        for j in range(gallery.run_first[r], gallery.run_stop[r]):
            x = row[j]
            kept[gallery.identity[j]] += x == x
            place[j] = -1
            if x <= distances[-1]:
                place[j] = _first_not_closer(distances, x)
                starts[place[j] + 1] += 1
    for t in range(len(distances)):
        starts[t + 1] += starts[t]
    for r in range(gallery.run_starts[list_index], gallery.run_starts[list_index + 1]):
        for j in range(gallery.run_first[r], gallery.run_stop[r]):
            if place[j] >= 0:
                columns[starts[place[j]]] = j
                starts[place[j]] += 1
    for t in range(len(distances), 0, -1):
        starts[t] = starts[t - 1]
    starts[0] = 0
    if queries.identity[i] >= 0:
        kept[queries.identity[i]] = 0


@register_jitable
def _advance(gallery, row, columns, d, mates, stable, entries):
    """Count the entries of a distance group for one of its mates.

    `mates` are the columns of the mate before it at the same distance, -1 for the first, and of
    this one. Return whether entries of another identity are tied with it.
    """
    before, where = mates
    kept, first, equal = entries
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
def _close_group(gallery, row, columns, d, where, stable, entries):
    """Count the entries tied with the last mate of a distance as closer than all later ones."""
    for j in columns:
        if row[j] == d:
            g = gallery.identity[j]
            entries.first[g] += not stable or j >= where
            entries.equal[g] = 0


@register_jitable
def _add_ranks(node, weight, entries, line, at_rank):
    """Add the distribution of the rank: a sum of independent trials, one for each identity."""
    kept, first, equal = entries
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
def single_shots(begin, end, queries, gallery, mates, orders, at_rank):
    """Rank the match in a gallery of one entry of each identity, over all such galleries.

    Each mate is the one drawn with equal probability; another identity ranks before it with the
    proportion of its entries that do, independently of the others. The number before it is then a
    sum of independent trials, whose distribution is built up trial by trial. ``at_rank[i]`` gets
    the probability of ranks 1 ... K.
    """
    identities = len(gallery.identity_starts) - 1
    entries = Entries(
        np.zeros(identities, np.int64),
        np.zeros(identities, np.int64),
        np.zeros(identities, np.int64),
    )
    most = np.int64(0)
    for i in range(begin, end):
        most = max(most, mates.usable[i])
    by_mate = EntriesByMate(
        np.empty(most + 2, np.int64),
        np.empty(queries.values.shape[1], np.int64),
        np.empty(queries.values.shape[1], np.int64),
    )
    starts, _, columns = by_mate
    line = np.empty(at_rank.shape[1])
    for i in range(begin, end):
        row = queries.values[i]
        at_rank[i, :] = 0.0
        number = mates.usable[i]
        if number == 0:
            continue
        distances = mates.distance[mates.offsets[i] : mates.offsets[i] + number]
        _entries_by_mate(queries, gallery, i, distances, entries.kept, by_mate)
        entries.first[:] = 0
        entries.equal[:] = 0
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
                _close_group(gallery, row, there, distances[group], last, orders.stable, entries)
                group = t
            there = columns[starts[group] : starts[group + 1]]
            mates_here = (before, where)
            some_tied = _advance(gallery, row, there, d, mates_here, orders.stable, entries)
            if some_tied:
                for n in range(len(orders.nodes)):
                    weight = orders.weights[n] / number
                    _add_ranks(orders.nodes[n], weight, entries, line, at_rank[i])
            else:
                _add_ranks(orders.nodes[0], 1.0 / number, entries, line, at_rank[i])


# Values whose places are found at a time, without a branch.
PIECE = 256


class GuidedThresholds(NamedTuple):
    """Thresholds, and a guide that finds the place of a value among them.

    The place of a value is ``(value - base) * scale``, clipped to ``0 ... last``; ``guide[p]`` is
    the first threshold that is not of an earlier place. The entry after the last place is for NaN,
    and leads to ``t + 1``. The first four are of the dtype of the distances.
    """

    values: np.ndarray  # (t + 2,), not decreasing; the last two are infinite, as guards
    base: np.floating
    scale: np.floating
    last: np.floating
    guide: np.ndarray  # int64
    steps: int  # the largest number of thresholds in one place


@register_jitable
def _places(part, base, scale, last, places):
    """Write the place of each value in the guide: 0 ... last, and last + 1 for NaN."""
    zero = scale - scale
    for q in range(len(part)):
        x = part[q]
        y = (x - base) * scale
        p = np.int32(y) if y > zero and y < last else np.int32(0)
        p = np.int32(last) if y >= last else p
        places[q] = p if x == x else np.int32(last) + np.int32(1)


@register_jitable
def _count_run(run, thresholds, places, even, odd):
    """Count the values of a run between thresholds, in two tables alternately."""
    limits = thresholds.values
    for a in range(0, len(run), PIECE):
        part = run[a : a + PIECE]
        _places(part, thresholds.base, thresholds.scale, thresholds.last, places)
        half = len(part) // 2
        for q in range(half):
            k = thresholds.guide[places[q]]
            m = thresholds.guide[places[q + half]]
            for _ in range(thresholds.steps):
                k += np.int64(limits[k] < part[q])
                m += np.int64(limits[m] < part[q + half])
            even[k] += 1
            odd[m] += 1
        if 2 * half < len(part):
            q = len(part) - 1
            k = thresholds.guide[places[q]]
            for _ in range(thresholds.steps):
                k += np.int64(limits[k] < part[q])
            even[k] += 1


@register_jitable
def _subtract_removed(queries, gallery, limits, i, even):
    """Subtract the query itself and the removed templates of its own identity."""
    row = queries.values[i]
    identity = queries.identity[i]
    list_index = queries.list_index[i]
    for p in range(gallery.identity_starts[identity], gallery.identity_starts[identity + 1]):
        j = gallery.identity_columns[p]
        same = gallery.same_camera and gallery.camera[j] == queries.camera[i]
        if j != queries.self_column[i] and not same:
            continue
        for r in range(gallery.run_starts[list_index], gallery.run_starts[list_index + 1]):
            if gallery.run_first[r] <= j and j < gallery.run_stop[r] and row[j] == row[j]:
                even[np.searchsorted(limits, row[j])] -= 1


@parallel_rows("queries.values")
def count_retrieved(begin, end, queries, gallery, thresholds, counts):
    """Count the entries of each query's list between thresholds.

    ``counts[i, k]`` gets those with ``thresholds[k - 1] < value <= thresholds[k]``, without NaN,
    the query itself and removed templates of its own identity.
    """
    width = counts.shape[1]
    places = np.empty(PIECE, np.int32)
    even = np.empty(width + 1, np.int64)  # the last place is for NaN
    odd = np.empty(width + 1, np.int64)
    for i in range(begin, end):
        row = queries.values[i]
        list_index = queries.list_index[i]
        even[:] = 0
        odd[:] = 0
        for r in range(gallery.run_starts[list_index], gallery.run_starts[list_index + 1]):
            run = row[gallery.run_first[r] : gallery.run_stop[r]]
            _count_run(run, thresholds, places, even, odd)
        if queries.identity[i] >= 0:
            _subtract_removed(queries, gallery, thresholds.values[: width - 1], i, even)
        for k in range(width):
            counts[i, k] = even[k] + odd[k]
