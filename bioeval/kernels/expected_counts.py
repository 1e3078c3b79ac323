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
def out_of_reach(mean, trials, limit, tiny):
    """Say whether fewer than `limit` successes surely have a chance below `tiny`.

    Chernoff's bound: of `trials` independent ones with `mean` successes, at most ``k`` succeed
    with chance at most ``exp(-trials D)``, where ``D`` is the relative entropy of ``k / trials``
    to ``mean / trials``. It falls as `mean` grows, which may thus be any lower bound.
    """
    most = limit - 1
    if mean <= most:
        return False
    if mean >= trials:
        return True
    bound = (trials - most) * np.log((trials - most) / (trials - mean))
    if most > 0:
        bound += most * np.log(most / mean)
    return bound > -np.log(tiny)


@njit(cache=True)
def add_times(target, source, factor):
    """Add a multiple of one array to another."""
    for k in range(len(source)):
        target[k] += source[k] * factor


@njit(cache=True)
def one_more(target, source, below, y, x):
    """Write ``source y + below x``."""
    for k in range(len(target)):
        target[k] = source[k] * y + below[k] * x


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
    out[:limit] = 0.0
    mean = 0.0
    trials = 0
    for s in range(count):
        mean += times[s] * (chance[s] + u * more[s])
        trials += times[s]
    if out_of_reach(mean, trials, limit, tiny):
        return
    now, then = out, spare
    now[0] = 1.0
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
            then[low : top + 1] = 0.0
            for j in range(width):
                stop = min(high, top - j) + 1
                if factor[j] >= tiny and stop > low:
                    add_times(then[low + j : stop + j], now[low:stop], factor[j])
            now, then = then, now
            high = top
            repeats = 0
        for _ in range(repeats):
            top = min(limit - 1, high + 1)
            now[top] = now[top] if top == high else 0.0
            then[low] = now[low] * y
            one_more(then[low + 1 : top + 1], now[low + 1 : top + 1], now[low:top], y, x)
            now, then = then, now
            high = top
            if high > low and now[high] < tiny:
                high -= 1
            if low < high and now[low] < tiny:
                low += 1
        while high > low and now[high] < tiny:
            high -= 1
        while low < high and now[low] < tiny:
            low += 1
        if low == high and now[low] < tiny:
            break
    # What lies between is in `now`, which may be either of the two.
    for k in range(low, high + 1):
        spare[k] = now[k]
    for k in range(limit):
        out[k] = spare[k] if low <= k <= high else 0.0


@njit(cache=True)
def closer_and_same(cells, x):
    """Count the cells below `x` and those equal to it."""
    closer = 0
    same = 0
    for p in range(len(cells)):
        closer += cells[p] < x
        same += cells[p] == x
    return closer, same


@njit(cache=True)
def cells_within(cells, x):
    """Count the cells that are not above `x`."""
    count = 0
    for p in range(len(cells)):
        count += cells[p] <= x
    return count


@njit(cache=True)
def usable_of_each(row, starts, itself, usable):
    """Write how many cells of each group are attempts; the probe itself is not."""
    whole = cells_within(row, np.inf) == len(row)  # without NaN
    for g in range(len(starts) - 1):
        usable[g] = starts[g + 1] - starts[g]
        for p in range(starts[g], starts[g] if whole else starts[g + 1]):
            usable[g] -= row[p] != row[p]
    for g in range(len(starts) - 1):
        if starts[g] <= itself < starts[g + 1]:
            usable[g] -= row[itself] == row[itself]


@njit(cache=True)
def closer_of_each(row, starts, x, closer):
    """Write how many cells of each group are below `x`."""
    p = np.uint64(starts[0])  # unsigned, so that no index need be checked for being negative
    for g in range(len(starts) - 1):
        count = 0
        stop = np.uint64(starts[g + 1])
        while p < stop:
            count += row[p] < x
            p += np.uint64(1)
        closer[g] = count


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
    # The usable templates of each other subject.
    usable = np.empty(groups, dtype=np.int64)
    usable_of_each(row, starts, itself, usable)
    usable[own] = 0
    largest = 0
    others = 0
    for g in range(groups):
        largest = max(largest, usable[g])
        others += usable[g] > 0

    trials = np.empty(groups)
    more = np.empty(groups)
    times = np.empty(groups, dtype=np.int64)
    closer = np.empty(groups, dtype=np.int64)
    # Trials with one chance are made together: how many have each (n, closer).
    alike = largest if largest <= 32 else 0
    number = np.zeros((alike + 1, alike + 1), dtype=np.int64)
    terms = np.empty(limit)
    factor = np.empty(limit)
    held = np.empty(limit)
    for a in range(used):
        x = distance[a]
        mate[a] = x
        left, left_same = closer_and_same(row[:start], x)
        right, right_same = closer_and_same(row[stop:], x)
        ties = left_same + right_same
        # A subject is closer with at least the chance of one template to be the one drawn.
        beyond = largest > 0 and out_of_reach((left + right) / largest, others, limit, tiny)
        if beyond and ties == 0:
            continue
        if left + right + ties == 0:
            chance[a, 0] = weight[a]
            continue
        closer_of_each(row, starts, x, closer)
        shift = 0
        loose = 0
        kinds = 0
        untied = 1.0
        plain = alike > 0 and ties == 0
        if plain:
            closer[own] = 0
            for g in range(groups):
                number[usable[g], closer[g]] += 1
        for g in range(0 if not plain else groups, groups):
            n = usable[g]
            if n == 0:
                continue
            take = min(size, n)
            ahead = closer[g]
            spare = 0.0
            if ties > 0:
                same = 0
                for p in range(starts[g], starts[g + 1]):
                    same += row[p] == x
                    ahead += policy == 2 and row[p] == x and place[p] < where[a]
                if same > 0:
                    both = drawn_chance(n, closer[g] + same, take)
                    equal = both - drawn_chance(n, closer[g], take)
                    untied *= 1.0 - equal
                    ahead += same if policy == 1 else 0
                    spare = equal if policy == 3 else 0.0
            if spare == 0.0 and alike > 0:
                number[n, ahead] += 1
            elif ahead > n - take:
                shift += 1
            elif ahead > 0 or spare > 0.0:
                trials[kinds] = drawn_chance(n, ahead, take)
                more[kinds] = spare
                times[kinds] = 1
                kinds += 1
                loose += spare > 0.0
        for n in range(alike + 1):
            take = min(size, n)
            for ahead in range(n + 1):
                held_times = number[n, ahead]
                number[n, ahead] = 0
                if ahead > n - take:
                    shift += held_times
                elif ahead > 0 and held_times > 0:
                    trials[kinds] = drawn_chance(n, ahead, take)
                    more[kinds] = 0.0
                    times[kinds] = held_times
                    kinds += 1
        tied[a] = weight[a] * (1.0 - untied)
        room = limit - shift
        if beyond or room <= 0:
            continue
        if loose == 0:
            successes(trials, more, times, 0.0, kinds, room, tiny, terms, factor, held)
            for k in range(room):
                chance[a, shift + k] = weight[a] * terms[k]
            continue
        # A polynomial of degree `loose`; a rule of n nodes is exact up to degree 2n - 1. Of
        # many trials the polynomial is smooth, and fewer nodes give all digits.
        wanted = min(loose // 2 + 1, 16 + np.int64(6.0 * np.sqrt(loose)))
        rule = 0
        while rule < len(rules) - 1 and rules[rule] < wanted:
            rule += 1
        for q in range(rule_starts[rule], rule_starts[rule + 1]):
            successes(trials, more, times, nodes[q], kinds, room, tiny, terms, factor, held)
            for k in range(room):
                chance[a, shift + k] += weight[a] * node_weights[q] * terms[k]


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
def threshold_of(x, thresholds, base, scale, guide):
    """Return the first threshold that is not below `x`."""
    places = len(guide) - 1
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
    return low


@njit(cache=True)
def chance_within(bins, group, count, usable, steps, ordered, taken, out):
    """Write the chance that a drawn template is within each threshold.

    Parameters
    ----------
    bins, group : int64 arrays, shape (>= count,)
        Of each template that counts, the first threshold that it is within, and its group.
    count : int
    usable : int64 array, shape (groups,)
        Templates of each group, also those beyond all thresholds.
    steps
        As for :func:`within_chances`.
    ordered, taken : int64 arrays, shape (>= count,) and (groups,)
        Room to work in.
    out : float64 array, shape (t,), written
    """
    last = len(out)
    # Templates by threshold: where those of each one end, counted from its start.
    end = np.zeros(last + 1, dtype=np.int64)
    for c in range(count):
        end[bins[c] + 1] += 1
    for t in range(last):
        end[t + 1] += end[t]
    for c in range(count):
        ordered[end[bins[c]]] = group[c]
        end[bins[c]] += 1
    taken[:] = 0
    total = 0.0
    c = 0
    for t in range(last):
        while c < end[t]:
            g = ordered[c]
            step = steps[usable[g] - taken[g]]
            if step == -np.inf:
                out[t:] = 1.0
                return
            total += step
            taken[g] += 1
            c += 1
        out[t] = -np.expm1(total)


@njit(cache=True)
def enough_within(row, start, stop, thresholds, needed):
    """Return the first threshold with `needed` cells within it, those of a range left out."""
    low = 0
    high = len(thresholds)
    while low < high:
        middle = (low + high) // 2
        x = thresholds[middle]
        if cells_within(row[:start], x) + cells_within(row[stop:], x) < needed:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def row_within(
    row, starts, own, itself, thresholds, base, scale, guide, steps, anyone, oneself
):  # fmt: skip
    """Do the work of :func:`within_chances` for one row; return the other subjects that count."""
    groups = len(starts) - 1
    last = len(thresholds)
    usable = np.empty(groups, dtype=np.int64)
    usable_of_each(row, starts, itself, usable)
    found = 0
    largest = 0
    for g in range(groups):
        if g != own:
            found += usable[g] > 0
            largest = max(largest, usable[g])
    start = starts[own] if own >= 0 else 0
    stop = starts[own + 1] if own >= 0 else 0
    # So many templates leave none drawn with a chance below exp(-40), which is lost beside 1.
    sure = enough_within(row, start, stop, thresholds, 1.0 - 40.0 / steps[largest])
    bins = np.empty(len(row), dtype=np.int64)
    group = np.empty(len(row), dtype=np.int64)
    ordered = np.empty(len(row), dtype=np.int64)
    taken = np.empty(groups, dtype=np.int64)

    anyone[sure:] = 1.0
    count = 0
    farthest = thresholds[max(sure, 1) - 1]
    p = np.uint64(starts[0])
    for g in range(groups):
        end = np.uint64(starts[g + 1])
        while p < end:
            x = row[p]
            if x <= farthest and g != own:
                group[count] = g
                bins[count] = threshold_of(x, thresholds, base, scale, guide)
                count += 1
            p += np.uint64(1)
    if sure > 0:
        chance_within(bins, group, count, usable, steps, ordered, taken, anyone[:sure])

    count = 0
    for p in range(start, stop):
        x = row[p]
        if p != itself and x <= thresholds[last - 1]:
            group[count] = own
            bins[count] = threshold_of(x, thresholds, base, scale, guide)
            count += 1
    chance_within(bins, group, count, usable, steps, ordered, taken, oneself)
    return found


@njit(parallel=True, cache=True)
def within_chances(
    block, starts, own, self_position, thresholds, base, scale, guide, steps,
    anyone, oneself, others,
):  # fmt: skip
    """Find, for each row and threshold, the chance that a drawn template is within it.

    Parameters
    ----------
    block, starts, own, self_position
        As for :func:`rank_chances`.
    thresholds : float64 array, shape (t,), increasing
    base, scale, guide
        The guide into the thresholds, as for ``count_thresholds``.
    steps : float64 array, shape (n + 1,)
        What one more template within a threshold adds to the logarithm of the chance that none
        of its group is drawn, by the templates of the group that were not within; -inf where that
        chance becomes zero.
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
            row, starts, own[i], self_position[i], thresholds, base, scale, guide, steps,
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
