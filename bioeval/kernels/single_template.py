"""Galleries with one template of each subject, drawn uniformly.

The template is drawn for each probe anew, and of each subject independently. The number of subjects
closer than a mate is thus a sum of independent trials (Poisson-binomial). Each row is computed on
its own, so that threads change nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bioeval.kernels.compiling import called_by_loops, parallel_rows
from bioeval.kernels.layers import threshold_of

# Tie policies: a subject exactly as close as the mate ranks behind it, before it, by the place of
# its first best template, or in all orders on average.
OPTIMISTIC, PESSIMISTIC, STABLE, EXPECTED = range(4)

# Chances below this are left out of a sum of many: far below the last bit of any result.
TINY = 1e-24


class GroupedBlock(NamedTuple):
    """A block of probes against a gallery grouped by subject."""

    values: np.ndarray  # float (b, n): distances, grouped by subject; NaN = no attempt
    #: int64 (n,): place of each candidate in the gallery's own order, for stable ties.
    columns: np.ndarray
    #: int64 (groups + 1,): group ``g`` has the candidates ``starts[g]:starts[g + 1]``.
    starts: np.ndarray
    group: np.ndarray  # int64 (b,): the group of the row's subject, -1 for none


class Rules(NamedTuple):
    """Gauss-Legendre rules on (0, 1), for expected ties.

    If a tied mate is at ``u`` of the tied places, each tied subject ranks before it with chance
    ``u``: the mean over all orders is the integral over ``u`` of a polynomial.
    """

    sizes: np.ndarray  # int64: numbers of nodes, increasing
    starts: np.ndarray  # int64: where the nodes of each rule start
    nodes: np.ndarray  # float64
    weights: np.ndarray  # float64


class ExpectedRanks(NamedTuple):
    """Expected ranks of the mates of each row, nearest first; all written but `first`.

    The mates of row ``i`` are at ``first[i]:first[i + 1]`` of the other arrays, float64 with a
    place a mate: `distance` (NaN beyond the usable mates), and the chances that the mate is drawn
    and some subject is exactly as close (`tied`), and that the mate is drawn and at each rank
    (`chance`, shape (n, k)).
    """

    first: np.ndarray  # int64 (b + 1,)
    distance: np.ndarray
    tied: np.ndarray
    chance: np.ndarray


class Trials(NamedTuple):
    """Independent trials, ``chance + u more`` each: does the other subject rank before the mate?"""

    chance: np.ndarray  # float64 (groups,)
    more: np.ndarray  # float64 (groups,)
    times: np.ndarray  # int64 (groups,): how often each trial is made


@called_by_loops
def out_of_reach(mean, trials, limit):
    """Whether fewer than `limit` successes surely have a chance below `TINY`.

    Chernoff's bound: of `trials` independent trials with `mean` successes, at most ``k`` succeed
    with chance at most ``exp(-trials D)``, where ``D`` is the relative entropy of ``k / trials`` to
    ``mean / trials``. It falls as `mean` grows, which may thus be any lower bound.
    """
    most = limit - 1
    if mean <= most:
        return False
    if mean >= trials:
        return True
    bound = (trials - most) * np.log((trials - most) / (trials - mean))
    if most > 0:
        bound += most * np.log(most / mean)
    return bound > -np.log(TINY)


@called_by_loops
def add_times(target, source, factor):
    """Add a multiple of one array to another."""
    for k in range(len(source)):
        target[k] += source[k] * factor


@called_by_loops
def one_more(target, source, below, y, x):
    """Write ``source y + below x``."""
    for k in range(len(target)):
        target[k] = source[k] * y + below[k] * x


@called_by_loops
def binomial_terms(x, repeats, factor, most):
    """Write the chances of 0, 1, ... successes in `repeats` trials of chance `x`.

    Return their number, at most `most`: a term beyond the mean and below `TINY` is the last.
    """
    y = 1.0 - x
    term = y**repeats
    odds = x / y
    width = 0
    while width <= repeats and width < most:
        factor[width] = term
        is_beyond_mean = width >= repeats * x
        width += 1
        if is_beyond_mean and term < TINY:
            break
        term *= odds * (repeats - width + 1) / width
    return width


@called_by_loops
def successes(trials, count, u, limit, terms):
    """Write the chances of 0, 1, ... successes in the first `count` trials.

    All terms are positive, so nothing cancels, however many trials there are; terms below `TINY`
    at either end are dropped, which keeps the work to the numbers that can happen. The first
    `limit` are written to the first row of `terms`; its other two rows are scratch.
    """
    chance, more, times = trials.chance, trials.more, trials.times
    out, factor, spare = terms[0], terms[1], terms[2]
    out[:limit] = 0.0
    mean = 0.0
    made = 0
    for s in range(count):
        mean += times[s] * (chance[s] + u * more[s])
        made += times[s]
    if out_of_reach(mean, made, limit):
        return
    # The chances so far are now[low : high + 1]; the next ones are written to `then`.
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
            width = binomial_terms(x, repeats, factor, limit - low)
            top = min(limit - 1, high + width - 1)
            then[low : top + 1] = 0.0
            for j in range(width):
                stop = min(high, top - j) + 1
                if factor[j] >= TINY and stop > low:
                    add_times(then[low + j : stop + j], now[low:stop], factor[j])
            now, then = then, now
            high = top
            repeats = 0
        # One repeat after the other.
        for _ in range(repeats):
            top = min(limit - 1, high + 1)
            now[top] = now[top] if top == high else 0.0
            then[low] = now[low] * y
            one_more(then[low + 1 : top + 1], now[low + 1 : top + 1], now[low:top], y, x)
            now, then = then, now
            high = top
            if high > low and now[high] < TINY:
                high -= 1
            if low < high and now[low] < TINY:
                low += 1
        # Negligible ends are dropped.
        while high > low and now[high] < TINY:
            high -= 1
        while low < high and now[low] < TINY:
            low += 1
        if low == high and now[low] < TINY:
            break
    # The terms in between are in `now`, which may be either of the two arrays.
    for k in range(low, high + 1):
        spare[k] = now[k]
    for k in range(limit):
        out[k] = spare[k] if low <= k <= high else 0.0


@called_by_loops
def closer_and_same(cells, x):
    """Count the cells below `x` and those equal to it."""
    closer = 0
    same = 0
    for p in range(len(cells)):
        closer += cells[p] < x
        same += cells[p] == x
    return closer, same


@called_by_loops
def closer_of_each(row, starts, x, closer):
    """Write the number of cells of each group below `x`."""
    p = np.uint64(starts[0])  # unsigned, so that no index need be checked for being negative
    for g in range(len(starts) - 1):
        count = 0
        stop = np.uint64(starts[g + 1])
        while p < stop:
            count += row[p] < x
            p += np.uint64(1)
        closer[g] = count


@called_by_loops
def usable_mates(row, block, i, distance, where):
    """Write the mates of a row, nearest first and ties in gallery order; return their number."""
    count = 0
    for p in range(block.starts[block.group[i]], block.starts[block.group[i] + 1]):
        x = row[p]
        if x != x:
            continue
        place = block.columns[p]
        at = count
        while at > 0 and (
            distance[at - 1] > x or (distance[at - 1] == x and where[at - 1] > place)
        ):
            distance[at] = distance[at - 1]
            where[at] = where[at - 1]
            at -= 1
        distance[at] = x
        where[at] = place
        count += 1
    return count


@called_by_loops
def trials_of_each(row, block, policy, x, place, ties, usable, closer, number, trials):
    """Write the trial of each subject; `ties` says whether any is tied with the mate.

    Return the trials written, the subjects certain to rank before the mate, the trials that depend
    on the place of a tied mate, and the chance that no subject is exactly as close.
    """
    shift = 0
    loose = 0
    kinds = 0
    untied = 1.0
    for g in range(len(usable)):
        n = usable[g]
        if n == 0:
            continue
        ahead = closer[g]
        spare = 0.0
        same = 0
        for p in range(block.starts[g], block.starts[g + 1] if ties else block.starts[g]):
            same += row[p] == x
            ahead += policy == STABLE and row[p] == x and block.columns[p] < place
        if same > 0:
            equal = (closer[g] + same) / n - closer[g] / n
            untied *= 1.0 - equal
            ahead += same if policy == PESSIMISTIC else 0
            spare = equal if policy == EXPECTED else 0.0
        if spare == 0.0 and len(number) > 1:
            number[n, ahead] += 1
        elif ahead == n:
            shift += 1
        elif ahead > 0 or spare > 0.0:
            trials.chance[kinds] = ahead / n
            trials.more[kinds] = spare
            trials.times[kinds] = 1
            kinds += 1
            loose += spare > 0.0
    return kinds, shift, loose, untied


@called_by_loops
def repeated_trials(number, kinds, trials):
    """Append one repeated trial for all subjects that have the same chance.

    ``number[n, c]`` counts those with ``n`` usable templates of which ``c`` are ahead, and is
    emptied. Return the trials written, and the subjects certain to rank before the mate.
    """
    shift = 0
    for n in range(len(number)):
        for ahead in range(n + 1):
            times = number[n, ahead]
            number[n, ahead] = 0
            if ahead == 0 or times == 0:
                continue
            if ahead == n:
                shift += times
            else:
                trials.chance[kinds] = ahead / n
                trials.more[kinds] = 0.0
                trials.times[kinds] = times
                kinds += 1
    return kinds, shift


@called_by_loops
def add_ranks(trials, kinds, loose, rules, weight, terms, chance):
    """Add the distribution of the number of successes, times a weight, to the ranks."""
    if loose == 0:
        successes(trials, kinds, 0.0, len(chance), terms)
        for k in range(len(chance)):
            chance[k] = weight * terms[0, k]
        return
    # A polynomial of degree `loose`; a rule of n nodes is exact up to degree 2n - 1. Of
    # many trials the polynomial is smooth, and fewer nodes give all digits.
    wanted = min(loose // 2 + 1, 16 + np.int64(6.0 * np.sqrt(loose)))
    rule = 0
    while rule < len(rules.sizes) - 1 and rules.sizes[rule] < wanted:
        rule += 1
    for q in range(rules.starts[rule], rules.starts[rule + 1]):
        successes(trials, kinds, rules.nodes[q], len(chance), terms)
        for k in range(len(chance)):
            chance[k] += weight * rules.weights[q] * terms[0, k]


@called_by_loops
def rank_row(row, block, i, usable, policy, rules, ranks):
    """Rank the mates of row `i` with the distances `row`."""
    low = ranks.first[i]
    high = ranks.first[i + 1]
    mate, tied, chance = ranks.distance[low:high], ranks.tied[low:high], ranks.chance[low:high]
    mate[:] = np.nan
    tied[:] = 0.0
    chance[:] = 0.0
    group = block.group[i]
    if group < 0:
        return
    # The mates, each of which is drawn with chance `weight`.
    start = block.starts[group]
    stop = block.starts[group + 1]
    distance = np.empty(stop - start)
    where = np.empty(stop - start, dtype=np.int64)
    count = usable_mates(row, block, i, distance, where)
    if count == 0:
        return
    weight = 1.0 / count
    # The other subjects, and room for their trials.
    groups = len(usable)
    usable[group] = 0
    largest = 0
    competitors = 0
    for g in range(groups):
        largest = max(largest, usable[g])
        competitors += usable[g] > 0
    limit = chance.shape[1]
    trials = Trials(np.empty(groups), np.empty(groups), np.empty(groups, dtype=np.int64))
    closer = np.empty(groups, dtype=np.int64)
    # Trials with one chance are made together, unless subjects have many templates.
    alike = largest if largest <= 32 else 0
    number = np.zeros((alike + 1, alike + 1), dtype=np.int64)
    terms = np.empty((3, limit))
    for a in range(count):
        x = distance[a]
        mate[a] = x
        # Mates that are surely first, or surely beyond the ranks that are asked, need no trials.
        left, left_same = closer_and_same(row[:start], x)
        right, right_same = closer_and_same(row[stop:], x)
        below, ties = left + right, left_same + right_same
        # A subject is closer with at least the chance of one template to be the one drawn.
        beyond = largest > 0 and out_of_reach(below / largest, competitors, limit)
        if beyond and ties == 0:
            continue
        if below + ties == 0:
            chance[a, 0] = weight
            continue
        # A trial for each other subject.
        closer_of_each(row, block.starts, x, closer)
        kinds, shift, loose, untied = 0, 0, 0, 1.0
        if alike > 0 and ties == 0:
            closer[group] = 0
            for g in range(groups):
                number[usable[g], closer[g]] += 1
        else:
            kinds, shift, loose, untied = trials_of_each(
                row, block, policy, x, where[a], ties > 0, usable, closer, number, trials
            )
        kinds, certain = repeated_trials(number, kinds, trials)
        shift += certain
        tied[a] = weight * (1.0 - untied)
        if beyond or shift >= limit:
            continue
        add_ranks(trials, kinds, loose, rules, weight, terms, chance[a, shift:])


@parallel_rows("block.values")
def rank_chances(begin, end, block, usable, policy, rules, ranks):
    """Find the chance of each mate of each row to be enrolled and at each rank.

    ::

        for i in rows:
            for a in mates of i, each enrolled with chance 1 / mates:
                ahead = [closer templates of g / usable[i, g] for g in other subjects]
                chance[a] = the distribution of the number of successes in trials of these chances

    The attempts of each row in each group are ``usable[b, groups]``. Ties are ranked by
    `policy`; `rules` serves expected ties alone; `ranks` is written.
    """
    for i in range(begin, end):
        row = block.values[i]
        rank_row(row, block, i, usable[i].copy(), policy, rules, ranks)


# ---------------------------------------------------------------------- within thresholds


class Grid(NamedTuple):
    """Thresholds, and a guide to find a value among them: the arguments of `threshold_of`."""

    thresholds: np.ndarray  # float64 (t,), increasing
    base: float
    scale: float
    guide: np.ndarray


class Chances(NamedTuple):
    """Chances of each row that a drawn template is within each threshold; all written."""

    anyone: np.ndarray  # float64 (b, t): a template of another subject
    oneself: np.ndarray  # float64 (b, t): a template of the row's own subject
    competitors: np.ndarray  # int64 (b,): other subjects with a usable template


class Near(NamedTuple):
    """The templates of a row within some threshold; int64."""

    bins: np.ndarray  # (n,): the first threshold that each template is within
    group: np.ndarray  # (n,)
    ordered: np.ndarray  # (n,), scratch: the groups in the order of the thresholds
    taken: np.ndarray  # (groups,), scratch: templates of each within the threshold reached


@called_by_loops
def cells_within(cells, x):
    """Count the cells up to `x`."""
    count = 0
    for p in range(len(cells)):
        count += cells[p] <= x
    return count


@called_by_loops
def chance_within(near, count, usable, steps, out):
    """Write the chance that a drawn template is within each threshold.

    `count` templates of `near` are within some threshold.
    """
    last = len(out)
    # Templates by threshold: where the templates of each threshold end, counted from their start.
    end = np.zeros(last + 1, dtype=np.int64)
    for c in range(count):
        end[near.bins[c] + 1] += 1
    for t in range(last):
        end[t + 1] += end[t]
    for c in range(count):
        near.ordered[end[near.bins[c]]] = near.group[c]
        end[near.bins[c]] += 1
    taken = near.taken
    taken[:] = 0
    total = 0.0
    c = 0
    for t in range(last):
        while c < end[t]:
            g = near.ordered[c]
            step = steps[usable[g] - taken[g]]
            if step == -np.inf:
                out[t:] = 1.0
                return
            total += step
            taken[g] += 1
            c += 1
        out[t] = -np.expm1(total)


@called_by_loops
def enough_within(row, start, stop, thresholds, needed):
    """Return the first threshold with `needed` cells within it, a range of cells left out."""
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


@called_by_loops
def row_within(row, block, i, usable, grid, steps, chances):
    """Find the chances of row `i` with the distances `row`."""
    starts, group = block.starts, block.group[i]
    thresholds = grid.thresholds
    groups = len(starts) - 1
    last = len(thresholds)
    competitors = 0
    largest = 0
    for g in range(groups):
        if g != group:
            competitors += usable[g] > 0
            largest = max(largest, usable[g])
    chances.competitors[i] = competitors
    start = starts[group] if group >= 0 else 0
    stop = starts[group + 1] if group >= 0 else 0
    # With this many templates, the chance that none is drawn is below exp(-40): lost beside 1.
    sure = enough_within(row, start, stop, thresholds, 1.0 - 40.0 / steps[largest])
    near = Near(
        np.empty(len(row), dtype=np.int64),
        np.empty(len(row), dtype=np.int64),
        np.empty(len(row), dtype=np.int64),
        np.empty(groups, dtype=np.int64),
    )

    anyone = chances.anyone[i]
    anyone[sure:] = 1.0
    count = 0
    farthest = thresholds[max(sure, 1) - 1]
    p = np.uint64(starts[0])
    for g in range(groups):
        end = np.uint64(starts[g + 1])
        while p < end:
            x = row[p]
            if x <= farthest and g != group:
                near.group[count] = g
                near.bins[count] = threshold_of(
                    x, grid.thresholds, grid.base, grid.scale, grid.guide
                )
                count += 1
            p += np.uint64(1)
    if sure > 0:
        chance_within(near, count, usable, steps, anyone[:sure])

    count = 0
    for p in range(start, stop):
        x = row[p]
        if x <= thresholds[last - 1]:
            near.group[count] = group
            near.bins[count] = threshold_of(x, grid.thresholds, grid.base, grid.scale, grid.guide)
            count += 1
    chance_within(near, count, usable, steps, chances.oneself[i])


@parallel_rows("block.values")
def within_chances(begin, end, block, usable, grid, steps, chances):
    """Find the chance that a drawn template is within each threshold, for each row.

    ::

        for i in rows:
            for t in thresholds:
                none = 1
                for g in other subjects than that of the row:
                    none *= 1 - (templates of g within t) / usable[i, g]
                anyone[i, t] = 1 - none

    `oneself` is the same chance for the row's own subject alone. ``steps[c]`` is the change of the
    logarithm of the chance that no template of a group is drawn, for one more template within a
    threshold where ``c`` were not within before; -inf where that chance becomes zero.
    """
    for i in range(begin, end):
        row = block.values[i]
        row_within(row, block, i, usable[i], grid, steps, chances)
