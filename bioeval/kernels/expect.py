"""Expectations over random galleries: a few templates of each subject, drawn for each probe.

Subjects are drawn from independently, so the number of them that are closer than a mate is a sum
of independent zeros and ones (Poisson-binomial), and the chance that none is within a threshold
is a product. Every row is worked out on its own: threads change nothing.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(cache=True)
def none_drawn(n, taken, size):
    """Return the chance that none of `taken` is among `size` drawn of `n`: C(n-c, g) / C(n, g)."""
    if size == 1:
        return (n - taken) / n
    chance = 1.0
    for r in range(size):
        if n - taken - r <= 0:
            return 0.0
        chance *= (n - taken - r) / (n - r)
    return chance


@njit(cache=True)
def drawn_chance(n, taken, size):
    """Return the chance that any of `taken` is among `size` drawn of `n`."""
    return taken / n if size == 1 else 1.0 - none_drawn(n, taken, size)


@njit(cache=True)
def successes(chance, more, times, u, count, limit, tiny, out, factor, spare):
    """Write the chances of 0, 1, ... successes among independent trials.

    Trial ``s`` succeeds with chance ``chance[s] + u more[s]`` and is made ``times[s]`` times. All
    terms are positive, so nothing cancels, however many trials there are; terms below `tiny` at
    either end are dropped, which keeps the work to the numbers that can happen.

    Parameters
    ----------
    chance, more : float64 arrays, shape (>= count,)
        Each chance below 1.
    times : int64 array, shape (>= count,)
    u : float
    count, limit : int
        Trials, and terms that are wanted.
    tiny : float
    out, factor, spare : float64 arrays, shape (>= limit,)
        The first `limit` of `out` are written; the others are room to work in.
    """
    for k in range(limit):
        out[k] = 0.0
    out[0] = 1.0
    mean = 0.0
    for s in range(count):
        mean += times[s] * (chance[s] + u * more[s])
    if mean > limit and (mean - limit) ** 2 > -2.0 * mean * np.log(tiny):
        out[0] = 0.0  # so few successes have a chance below `tiny` (Chernoff)
        return
    low = 0
    high = 0
    for s in range(count):
        x = chance[s] + u * more[s]
        y = 1.0 - x
        repeats = times[s]
        if repeats >= 8 and repeats * np.log(y) > -600.0:
            # All repeats at once, by their binomial distribution.
            term = y**repeats
            odds = x / y
            width = 0
            past = False
            while width <= repeats and width < limit - low:
                factor[width] = term
                past = width >= repeats * x
                width += 1
                if past and term < tiny:
                    break
                term *= odds * (repeats - width + 1) / width
            top = min(limit - 1, high + width - 1)
            for k in range(low, top + 1):
                spare[k] = 0.0
            for j in range(width):
                held = factor[j]
                if held < tiny:
                    continue
                for k in range(low, min(high, top - j) + 1):
                    spare[k + j] += out[k] * held
            for k in range(low, top + 1):
                out[k] = spare[k]
            high = top
            repeats = 0
        for _ in range(repeats):
            if high + 1 < limit:
                high += 1
            for k in range(high, low, -1):
                out[k] = out[k] * y + out[k - 1] * x
            out[low] *= y
            if high > low and out[high] < tiny:
                out[high] = 0.0
                high -= 1
            if low < high and out[low] < tiny:
                out[low] = 0.0
                low += 1
        while high > low and out[high] < tiny:
            out[high] = 0.0
            high -= 1
        while low < high and out[low] < tiny:
            out[low] = 0.0
            low += 1
        if low == high and out[low] < tiny:
            out[low] = 0.0
            return


@njit(cache=True)
def row_chances(
    row, place, starts, own, itself, size, policy, tiny,
    rules, rule_starts, nodes, node_weights,
    mate, tied, chance,
):  # fmt: skip
    """Do the work of :func:`rank_chances` for one row, in float64."""
    mate[:] = np.nan
    tied[:] = 0.0
    chance[:] = 0.0
    groups = len(starts) - 1
    limit = chance.shape[1]
    if own < 0:
        return
    start = starts[own]
    stop = starts[own + 1]
    # The mates, nearest first; equal ones in gallery order.
    distance = np.empty(stop - start)
    where = np.empty(stop - start, dtype=np.int64)
    count = 0
    for p in range(start, stop):
        x = row[p]
        if p == itself or x != x:
            continue
        at = count
        while at > 0 and (
            distance[at - 1] > x or (distance[at - 1] == x and where[at - 1] > place[p])
        ):
            distance[at] = distance[at - 1]
            where[at] = where[at - 1]
            at -= 1
        distance[at] = x
        where[at] = place[p]
        count += 1
    if count == 0:
        return
    # A mate is the nearest drawn if it is drawn and none of the nearer ones is.
    drawn = min(size, count)
    weight = np.empty(count)
    weight[0] = drawn / count
    used = 1
    for a in range(1, count):
        rest = count - a  # after the mate before this one
        weight[a] = weight[a - 1] * (rest - (drawn - 1)) / rest
        if weight[a] > 0.0:
            used = a + 1
    worst = distance[used - 1]

    trials = np.empty((used, groups))
    more = np.zeros((used, groups))
    times = np.empty((used, groups), dtype=np.int64)
    # Trials with one chance are made together: where each (n, closer) stands among them.
    largest = 0
    for g in range(groups):
        largest = max(largest, starts[g + 1] - starts[g])
    alike = largest if policy != 3 and largest <= 32 else 0
    slot = np.full((used, alike + 1, alike + 1), -1, dtype=np.int32)
    number = np.zeros(used, dtype=np.int64)
    loose = np.zeros(used, dtype=np.int64)
    shift = np.zeros(used, dtype=np.int64)
    untied = np.ones(used)
    closer = np.zeros(used, dtype=np.int64)
    same = np.zeros(used, dtype=np.int64)
    before = np.zeros(used, dtype=np.int64)
    for g in range(groups):
        if g == own:
            continue
        n = 0
        seen = False
        for p in range(starts[g], starts[g + 1]):
            x = row[p]
            n += x == x
            seen |= x <= worst
        if not seen:
            continue
        for a in range(used):
            closer[a] = 0
            same[a] = 0
            before[a] = 0
        for p in range(starts[g], starts[g + 1]):
            x = row[p]
            if not x <= worst:
                continue
            # It is closer than the mates from `far` on, and as close as those before it.
            near = 0
            far = 0
            for a in range(used):
                near += distance[a] < x
                far += distance[a] <= x
            if far < used:
                closer[far] += 1
            for a in range(near, far):
                same[a] += 1
                before[a] += place[p] < where[a]
        take = min(size, n)
        sum_closer = 0
        for a in range(used):
            sum_closer += closer[a]
            if sum_closer + same[a] == 0:
                continue
            if same[a] > 0:
                both = drawn_chance(n, sum_closer + same[a], take)
                untied[a] *= 1.0 - (both - drawn_chance(n, sum_closer, take))
            ahead = sum_closer
            if policy == 1:
                ahead += same[a]
            elif policy == 2:
                ahead += before[a]
            if ahead > n - take:
                shift[a] += 1
                continue
            if alike > 0:
                if ahead == 0:
                    continue
                known = slot[a, n, ahead]
                if known >= 0:
                    times[a, known] += 1
                    continue
                slot[a, n, ahead] = number[a]
            base = drawn_chance(n, ahead, take)
            spare = 0.0
            if policy == 3 and same[a] > 0:
                spare = drawn_chance(n, sum_closer + same[a], take) - base
            if not (base > 0.0 or spare > 0.0):
                continue
            trials[a, number[a]] = base
            more[a, number[a]] = spare
            times[a, number[a]] = 1
            loose[a] += spare > 0.0
            number[a] += 1

    terms = np.empty(limit)
    factor = np.empty(limit)
    held = np.empty(limit)
    for a in range(used):
        mate[a] = distance[a]
        tied[a] = weight[a] * (1.0 - untied[a])
        room = limit - shift[a]
        if room <= 0:
            continue
        if loose[a] == 0:
            successes(trials[a], more[a], times[a], 0.0, number[a], room, tiny, terms, factor, held)
            for k in range(room):
                chance[a, shift[a] + k] = weight[a] * terms[k]
            continue
        # A polynomial of degree `loose`; a rule of n nodes is exact up to degree 2n - 1. Of
        # many trials the polynomial is smooth, and fewer nodes give all digits.
        wanted = min(loose[a] // 2 + 1, 16 + np.int64(6.0 * np.sqrt(loose[a])))
        rule = 0
        while rule < len(rules) - 1 and rules[rule] < wanted:
            rule += 1
        for q in range(rule_starts[rule], rule_starts[rule + 1]):
            successes(
                trials[a], more[a], times[a], nodes[q], number[a], room, tiny, terms,
                factor, held,
            )  # fmt: skip
            for k in range(room):
                chance[a, shift[a] + k] += weight[a] * node_weights[q] * terms[k]


@njit(parallel=True, cache=True)
def rank_chances(
    block, columns, starts, own, self_position, first, size, policy, tiny,
    rules, rule_starts, nodes, node_weights,
    mate, tied, chance,
):  # fmt: skip
    """Find, for each mate of each row, the chance that it is enrolled and stands at each rank.

    Parameters
    ----------
    block : float array, shape (b, n)
        Distances; NaN = no attempt. Group ``g`` stands at ``starts[g]:starts[g + 1]``.
    columns : int64 array, shape (1, n)
        Place of each candidate in the gallery's own order, for stable ties.
    own, self_position : int64 arrays, shape (b,)
        The row's own group, and the template that is the probe itself; -1 for none.
    first : int64 array, shape (b + 1,)
        The mates of row ``i`` are written at ``first[i]:first[i + 1]``.
    size : int
        Templates drawn of each subject; all, where it has fewer.
    policy : int
        Of a subject exactly as close: 0 it ranks behind the mate, 1 before it, 2 by the place of
        its first best template, 3 the mean over all orders.
    tiny : float
        As for :func:`successes`.
    rules, rule_starts, nodes, node_weights
        Gauss-Legendre rules on (0, 1) for policy 3: numbers of nodes, increasing, where each rule
        starts, and all nodes and weights. Where a tied mate stands at ``u`` of the tied places,
        each tied subject stands before it with chance ``u``: the mean over all orders is the
        integral over ``u`` of a polynomial.
    mate : float64 array, shape (first[b],), written
        Distance of each mate, nearest first; NaN where it has no chance to be the nearest drawn.
    tied : float64 array, shape (first[b],), written
        Chance that it is the nearest drawn and some subject is exactly as close.
    chance : float64 array, shape (first[b], k), written
        Chance that it is the nearest drawn and stands at each rank.
    """
    n = block.shape[1]
    for i in prange(block.shape[0]):
        row = np.empty(n)
        for p in range(n):
            row[p] = block[i, p]
        low = first[i]
        high = first[i + 1]
        row_chances(
            row, columns[0], starts, own[i], self_position[i], size, policy, tiny,
            rules, rule_starts, nodes, node_weights,
            mate[low:high], tied[low:high], chance[low:high],
        )  # fmt: skip


@njit(cache=True)
def row_within(
    row, starts, own, itself, size, thresholds, base, scale, guide, steps, anyone, oneself
):  # fmt: skip
    """Do the work of :func:`within_chances` for one row; return the other subjects that count."""
    groups = len(starts) - 1
    places = len(guide) - 1
    last = len(thresholds)
    largest = 0
    for g in range(groups):
        largest = max(largest, starts[g + 1] - starts[g])
    bins = np.empty(largest, dtype=np.int64)
    logs = np.zeros(last + 1)
    mine = np.zeros(last + 1)
    sure = last
    mine_sure = last
    found = 0
    # Where all templates of some other subject are within a threshold, one surely is: what
    # is farther does not matter.
    enough = np.inf
    for g in range(groups):
        if g == own:
            continue
        most = -np.inf
        n = 0
        for p in range(starts[g], starts[g + 1]):
            x = row[p]
            n += x == x
            if x > most:
                most = x
        if n > 0:
            found += 1
            enough = min(enough, most)
    for g in range(groups):
        self_group = g == own
        limit = np.inf if self_group else enough
        n = 0
        total_n = 0
        for p in range(starts[g], starts[g + 1]):
            x = row[p]
            if p == itself or x != x:
                continue
            total_n += 1
            if x > limit:
                continue
            y = (x - base) * scale
            c = 0
            if y > 0:
                c = places - 1 if y >= places - 1 else np.int64(y)
            low = guide[c]
            high = guide[c + 1]
            while low < high:
                middle = (low + high) // 2
                if thresholds[middle] < x:
                    low = middle + 1
                else:
                    high = middle
            at = n
            while at > 0 and bins[at - 1] > low:
                bins[at] = bins[at - 1]
                at -= 1
            bins[at] = low
            n += 1
        if n == 0:
            continue
        target = mine if self_group else logs
        take = min(size, total_n)
        before = 0.0
        for c in range(n):
            if bins[c] >= last:
                break
            if total_n < len(steps):
                step = steps[total_n, c + 1]
            else:
                if c + 1 < n and bins[c + 1] == bins[c]:
                    continue
                left = none_drawn(total_n, c + 1, take)
                step = -np.inf
                if left > 0.0:
                    after = np.log(left)
                    step = after - before
                    before = after
            if step == -np.inf:
                if self_group:
                    mine_sure = min(mine_sure, bins[c])
                else:
                    sure = min(sure, bins[c])
                break
            target[bins[c]] += step
    total = 0.0
    for t in range(last):
        total += logs[t]
        anyone[t] = 1.0 if t >= sure else -np.expm1(total)
    total = 0.0
    for t in range(last):
        total += mine[t]
        oneself[t] = 1.0 if t >= mine_sure else -np.expm1(total)
    return found


@njit(parallel=True, cache=True)
def within_chances(
    block, starts, own, self_position, size, thresholds, base, scale, guide, steps,
    anyone, oneself, others,
):  # fmt: skip
    """Find, for each row and threshold, the chance that a drawn template is within it.

    Parameters
    ----------
    block, starts, own, self_position, size
        As for :func:`rank_chances`.
    thresholds : float64 array, shape (t,), increasing
    base, scale, guide
        The guide into the thresholds, as for ``count_thresholds``.
    steps : float64 array, shape (n + 1, n + 1)
        For groups of at most ``n`` templates: what the ``c``-th of ``n`` templates within a
        threshold adds to the logarithm of the chance that none is drawn; -inf where that chance
        becomes zero. Larger groups are worked out here.
    anyone, oneself : float64 arrays, shape (b, t), written
        Of a template of another subject, and of the row's own.
    others : int64 array, shape (b,), written
        Other subjects with a usable template.
    """
    n = block.shape[1]
    for i in prange(block.shape[0]):
        row = np.empty(n)
        for p in range(n):
            row[p] = block[i, p]
        others[i] = row_within(
            row, starts, own[i], self_position[i], size, thresholds, base, scale, guide, steps,
            anyone[i], oneself[i],
        )  # fmt: skip


@njit(cache=True)
def add_fixed(values, row, scale, shift, high, low):
    """Add chances to sums of whole numbers, which come out the same in any order.

    Parameters
    ----------
    values : float64 array, shape (r, k)
        From 0 to 1.
    row : int64 array, shape (r,)
        The row of the sums that each row is added to; -1 for none.
    scale, shift : int
        A chance is rounded to a multiple of ``1 / scale``; the sums hold its last `shift` bits
        and the bits above them.
    high, low : int64 arrays, shape (rows, k), added to
    """
    mask = (np.int64(1) << shift) - 1
    for r in range(len(row)):
        at = row[r]
        if at < 0:
            continue
        for k in range(values.shape[1]):
            whole = np.int64(np.rint(values[r, k] * scale))
            high[at, k] += whole >> shift
            low[at, k] += whole & mask
