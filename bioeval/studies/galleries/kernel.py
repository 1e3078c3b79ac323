"""Random galleries: a few templates of each subject, or fewer subjects.

Templates are drawn for each probe anew, and of each subject independently. The number of subjects
closer than a mate is thus a sum of independent trials (Poisson-binomial), and the chance that none
is within a threshold a product over subjects. Each row is computed on its own, so that threads
change nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels import compiled, parallel_rows

# Tie policies: a subject exactly as close as the mate ranks behind it, before it, by the place of
# its first best template, or in all orders on average.
OPTIMISTIC, PESSIMISTIC, STABLE, EXPECTED = range(4)


class GroupedBlock(NamedTuple):
    """A block of probes against a gallery grouped by subject."""

    values: np.ndarray  # float (b, n): distances, grouped by subject; NaN = no attempt
    #: int64 (n,): place of each candidate in the gallery's own order, for stable ties.
    columns: np.ndarray
    #: int64 (groups + 1,): group ``g`` has the candidates ``starts[g]:starts[g + 1]``.
    starts: np.ndarray
    #: int64 (b,): the group of the row's subject, and the candidate that is the probe itself; -1
    #: for none.
    group: np.ndarray
    probe_position: np.ndarray


class Draw(NamedTuple):
    """How galleries are drawn, and how they are ranked."""

    size: int  # templates drawn of each subject; all, if it has fewer
    policy: int  # the tie policy
    tiny: float  # chances below this are dropped from either end of a distribution
    in_order: bool  # whether the usable scores of each group increase, before those that are not


class Rules(NamedTuple):
    """Gauss-Legendre rules on (0, 1), for expected ties.

    If a tied mate is at ``u`` of the tied places, each tied subject ranks before it with chance
    ``u``: the mean over all orders is the integral over ``u`` of a polynomial.
    """

    sizes: np.ndarray  # int64: numbers of nodes, increasing
    starts: np.ndarray  # int64: where the nodes of each rule start
    nodes: np.ndarray  # float64
    weights: np.ndarray  # float64


class MateRanks(NamedTuple):
    """Expected ranks of the mates of each row, nearest first; all written but `first`.

    Those of row ``i`` are at ``first[i]:first[i + 1]`` of the others, float64 with a place a mate:
    `distance` (NaN if it cannot be the nearest drawn), and the chances that it is the nearest drawn
    and some subject is exactly as close (`tied`), and that it is the nearest drawn and at each rank
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


@compiled
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


@register_jitable
def drawn_chance(n, taken, size):
    """Return the chance that any of `taken` is among `size` drawn of `n`."""
    return taken / n if size == 1 else 1.0 - none_drawn(n, taken, size)


@register_jitable
def out_of_reach(mean, trials, limit, tiny):
    """Whether fewer than `limit` successes surely have a chance below `tiny`.

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


@register_jitable
def add_times(target, source, factor):
    """Add a multiple of one array to another."""
    for k in range(len(source)):
        target[k] += source[k] * factor


@register_jitable
def one_more(target, source, below, y, x):
    """Write ``source y + below x``."""
    for k in range(len(target)):
        target[k] = source[k] * y + below[k] * x


@register_jitable
def successes(trials, count, u, limit, tiny, terms):
    """Write the chances of 0, 1, ... successes in the first `count` trials.

    All terms are positive, so nothing cancels, however many trials there are; terms below `tiny`
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
    if out_of_reach(mean, made, limit, tiny):
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
    # The terms in between are in `now`, which may be either of the two arrays.
    for k in range(low, high + 1):
        spare[k] = now[k]
    for k in range(limit):
        out[k] = spare[k] if low <= k <= high else 0.0


@register_jitable
def closer_and_same(cells, x):
    """Count the cells below `x` and those equal to it."""
    closer = 0
    same = 0
    for p in range(len(cells)):
        closer += cells[p] < x
        same += cells[p] == x
    return closer, same


@register_jitable
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


@register_jitable
def cells_below(cells, x, equal):
    """Count the cells below `x`, or up to it, of increasing ones."""
    low = 0
    high = len(cells)
    while low < high:
        middle = (low + high) // 2
        if cells[middle] < x or (equal and cells[middle] == x):
            low = middle + 1
        else:
            high = middle
    return low


@register_jitable
def closer_in_order(row, starts, usable, x, closer):
    """Write the number of increasing cells of each group below `x`; return the sum and the ties."""
    below = 0
    same = 0
    for g in range(len(usable)):
        cells = row[starts[g] : starts[g] + usable[g]]
        closer[g] = cells_below(cells, x, False)
        below += closer[g]
        same += cells_below(cells, x, True) - closer[g]
    return below, same


@register_jitable
def usable_mates(row, block, i, distance, where):
    """Write the mates of a row, nearest first and ties in gallery order; return their number."""
    count = 0
    for p in range(block.starts[block.group[i]], block.starts[block.group[i] + 1]):
        x = row[p]
        if p == block.probe_position[i] or x != x:
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


@register_jitable
def nearest_drawn(weight, size):
    """Write the chance of each mate to be the nearest drawn; return how many have a chance."""
    count = len(weight)
    drawn = min(size, count)
    weight[0] = drawn / count
    used = 1
    for a in range(1, count):
        rest = count - a  # after the mate before this one
        weight[a] = weight[a - 1] * (rest - (drawn - 1)) / rest
        if weight[a] > 0.0:
            used = a + 1
    return used


@register_jitable
def trials_of_each(row, block, draw, x, place, ties, usable, closer, number, trials):
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
        take = min(draw.size, n)
        ahead = closer[g]
        spare = 0.0
        same = 0
        for p in range(block.starts[g], block.starts[g + 1] if ties else block.starts[g]):
            same += row[p] == x
            ahead += draw.policy == STABLE and row[p] == x and block.columns[p] < place
        if same > 0:
            both = drawn_chance(n, closer[g] + same, take)
            equal = both - drawn_chance(n, closer[g], take)
            untied *= 1.0 - equal
            ahead += same if draw.policy == PESSIMISTIC else 0
            spare = equal if draw.policy == EXPECTED else 0.0
        if spare == 0.0 and len(number) > 1:
            number[n, ahead] += 1
        elif ahead > n - take:
            shift += 1
        elif ahead > 0 or spare > 0.0:
            trials.chance[kinds] = drawn_chance(n, ahead, take)
            trials.more[kinds] = spare
            trials.times[kinds] = 1
            kinds += 1
            loose += spare > 0.0
    return kinds, shift, loose, untied


@register_jitable
def repeated_trials(number, size, kinds, trials):
    """Append one repeated trial for all subjects that have the same chance.

    ``number[n, c]`` counts those with ``n`` usable templates of which ``c`` are ahead, and is
    emptied. Return the trials written, and the subjects certain to rank before the mate.
    """
    shift = 0
    for n in range(len(number)):
        take = min(size, n)
        for ahead in range(n + 1):
            times = number[n, ahead]
            number[n, ahead] = 0
            if ahead > n - take:
                shift += times
            elif ahead > 0 and times > 0:
                trials.chance[kinds] = drawn_chance(n, ahead, take)
                trials.more[kinds] = 0.0
                trials.times[kinds] = times
                kinds += 1
    return kinds, shift


@register_jitable
def add_ranks(trials, kinds, loose, rules, tiny, weight, terms, chance):
    """Add the distribution of the number of successes, times a weight, to the ranks."""
    if loose == 0:
        successes(trials, kinds, 0.0, len(chance), tiny, terms)
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
        successes(trials, kinds, rules.nodes[q], len(chance), tiny, terms)
        for k in range(len(chance)):
            chance[k] += weight * rules.weights[q] * terms[0, k]


@register_jitable
def rank_row(row, block, i, usable, draw, rules, ranks):
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
    start = block.starts[group]
    stop = block.starts[group + 1]
    distance = np.empty(stop - start)
    where = np.empty(stop - start, dtype=np.int64)
    count = usable_mates(row, block, i, distance, where)
    if count == 0:
        return
    weight = np.empty(count)
    used = nearest_drawn(weight, draw.size)
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
    for a in range(used):
        x = distance[a]
        mate[a] = x
        if draw.in_order:
            below, ties = closer_in_order(row, block.starts, usable, x, closer)
        else:
            left, left_same = closer_and_same(row[:start], x)
            right, right_same = closer_and_same(row[stop:], x)
            below, ties = left + right, left_same + right_same
        # A subject is closer with at least the chance of one template to be the one drawn.
        beyond = largest > 0 and out_of_reach(below / largest, competitors, limit, draw.tiny)
        if beyond and ties == 0:
            continue
        if below + ties == 0:
            chance[a, 0] = weight[a]
            continue
        if not draw.in_order:
            closer_of_each(row, block.starts, x, closer)
        kinds, shift, loose, untied = 0, 0, 0, 1.0
        if alike > 0 and ties == 0:
            closer[group] = 0
            for g in range(groups):
                number[usable[g], closer[g]] += 1
        else:
            kinds, shift, loose, untied = trials_of_each(
                row, block, draw, x, where[a], ties > 0, usable, closer, number, trials
            )
        kinds, certain = repeated_trials(number, draw.size, kinds, trials)
        shift += certain
        tied[a] = weight[a] * (1.0 - untied)
        if beyond or shift >= limit:
            continue
        add_ranks(trials, kinds, loose, rules, draw.tiny, weight[a], terms, chance[a, shift:])


@parallel_rows("block.values")
def rank_chances(begin, end, block, usable, draw, rules, ranks):
    """Find the chance of each mate of each row to be enrolled and at each rank.

    The attempts of each row in each group are ``usable[b, groups]``; `rules` serves expected ties
    alone; `ranks` is written.
    """
    for i in range(begin, end):
        row = block.values[i]
        rank_row(row, block, i, usable[i].copy(), draw, rules, ranks)


class Grid(NamedTuple):
    """Thresholds, and a guide to find a value among them, as for ``count_thresholds``."""

    thresholds: np.ndarray  # float64 (t,), increasing
    base: float
    scale: float
    guide: np.ndarray


class Chances(NamedTuple):
    """Chances of each row that a drawn template is within each threshold; all written."""

    anyone: np.ndarray  # float64 (b, t): a template of another subject
    oneself: np.ndarray  # float64 (b, t): one of the row's own
    competitors: np.ndarray  # int64 (b,): other subjects with a usable template


class Near(NamedTuple):
    """The templates of a row within some threshold; int64."""

    bins: np.ndarray  # (n,): the first threshold that each is within
    group: np.ndarray  # (n,)
    ordered: np.ndarray  # (n,), scratch: the groups in the order of the thresholds
    taken: np.ndarray  # (groups,), scratch: templates of each within the threshold reached


@register_jitable
def cells_within(cells, x):
    """Count the cells up to `x`."""
    count = 0
    for p in range(len(cells)):
        count += cells[p] <= x
    return count


@register_jitable
def threshold_of(x, grid):
    """Return the first threshold that is not below `x`."""
    places = len(grid.guide) - 1
    y = (x - grid.base) * grid.scale
    c = 0
    if y > 0:
        c = places - 1 if y >= places - 1 else np.int64(y)
    low = grid.guide[c]
    high = grid.guide[c + 1]
    while low < high:
        middle = (low + high) // 2
        if grid.thresholds[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@register_jitable
def chance_within(near, count, usable, steps, out):
    """Write the chance that a drawn template is within each threshold, of `count` near ones."""
    last = len(out)
    # Templates by threshold: where those of each one end, counted from its start.
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


@register_jitable
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


@register_jitable
def row_within(row, block, i, usable, grid, steps, chances):
    """Find the chances of row `i` with the distances `row`."""
    starts, group, probe_position = block.starts, block.group[i], block.probe_position[i]
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
                near.bins[count] = threshold_of(x, grid)
                count += 1
            p += np.uint64(1)
    if sure > 0:
        chance_within(near, count, usable, steps, anyone[:sure])

    count = 0
    for p in range(start, stop):
        x = row[p]
        if p != probe_position and x <= thresholds[last - 1]:
            near.group[count] = group
            near.bins[count] = threshold_of(x, grid)
            count += 1
    chance_within(near, count, usable, steps, chances.oneself[i])


@parallel_rows("block.values")
def within_chances(begin, end, block, usable, grid, steps, chances):
    """Find the chance that a drawn template is within each threshold, for each row.

    The attempts of each row in each group are ``usable[b, groups]``. ``steps[c]`` is the change of
    the logarithm of the chance that no template of a group is drawn, for one more template within a
    threshold where ``c`` were not within before; -inf where that chance becomes zero.
    """
    for i in range(begin, end):
        row = block.values[i]
        row_within(row, block, i, usable[i], grid, steps, chances)


@compiled
def add_counts(candidates, kind, table):
    """Add to ``table[kind, t, c]`` the rows with `c` candidates at threshold `t`; kind -1: none."""
    for i in range(len(kind)):
        if kind[i] < 0:
            continue
        for t in range(candidates.shape[1]):
            table[kind[i], t, candidates[i, t]] += 1


@compiled
def drawn_marked(population, drawn, weights, limit, out):
    """Mix hypergeometric distributions of the number of marked among `drawn` of a population.

    Marked subjects are added one by one: if `j` of the first `r` are drawn, the next one is drawn
    with chance ``(drawn - j) / (population - r)``. All terms are positive. Row ``a`` of `out`,
    shape (a, limit), gets the mixture by ``weights[a]``, those of 0, 1, ... marked subjects.
    """
    row = np.zeros(limit)
    row[0] = 1.0
    out[:, :] = 0.0
    for r in range(weights.shape[1]):
        for a in range(len(weights)):
            if weights[a, r] != 0.0:
                for j in range(min(limit, r + 1)):
                    out[a, j] += weights[a, r] * row[j]
        rest = population - r
        if rest <= 0:
            break
        for j in range(min(limit - 1, r + 1), -1, -1):
            stay = 1.0 - min(max((drawn - j) / rest, 0.0), 1.0)
            row[j] *= stay
            if j > 0:
                row[j] += row[j - 1] * min(max((drawn - j + 1) / rest, 0.0), 1.0)


# Random numbers come from a counter (SplitMix64; Steele, Lea and Flood 2014), started anew for each
# probe and gallery, so that neither threads nor the order of the rows change a draw.


class Facts(NamedTuple):
    """The outcome of each search in each gallery; all written.

    The first two are float64 of shape (r, b), NaN without a template; the others int64.
    """

    mate: np.ndarray  # nearest drawn template of the own subject
    other: np.ndarray  # and of the others
    closer: np.ndarray  # (r, b): subjects closer than the mate
    tied: np.ndarray  # (r, b): exactly as close
    tied_before: np.ndarray  # (r, b): of these, with an earlier place
    mates: np.ndarray  # (b,): 1 if the own subject has a usable template, else 0
    competitors: np.ndarray  # (b,): other subjects with one


@register_jitable
def mixed(x):
    """Return the output of SplitMix64 for a state, uint64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@register_jitable
def below(word, count):
    """Return a whole number below `count` (< 2**31), from the upper half of a random word."""
    return np.int64(((word >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@register_jitable
def draw_row(row, block, i, probe, size, key, facts):
    """Rank the subject of row `i` with the distances `row`."""
    starts, group, place = block.starts, block.group[i], block.columns
    groups = len(starts) - 1
    golden = np.uint64(0x9E3779B97F4A7C15)
    usable = np.empty(len(row), dtype=np.int64)
    begin = np.empty(groups + 1, dtype=np.int64)
    held = 0
    competitors = 0
    for g in range(groups):
        begin[g] = held
        for p in range(starts[g], starts[g + 1]):
            if p != block.probe_position[i] and row[p] == row[p]:
                usable[held] = p
                held += 1
        competitors += g != group and held > begin[g]
    begin[groups] = held
    has_mate = group >= 0 and begin[group + 1] > begin[group]
    facts.mates[i] = 1 if has_mate else 0
    facts.competitors[i] = competitors
    seed = mixed(key[0] ^ mixed(np.uint64(probe) + key[1]))
    for r in range(len(facts.mate)):
        state = mixed(seed + np.uint64(r) * golden)
        best = np.inf
        best_place = np.int64(-1)
        nearest = np.inf
        n_closer = 0
        n_tied = 0
        n_before = 0
        # The own subject first, then the others in order.
        for turn in range(-1, groups):
            g = group if turn < 0 else turn
            if (turn < 0 and not has_mate) or (turn >= 0 and g == group):
                continue
            left = begin[g + 1] - begin[g]
            if left == 0:
                continue
            x = np.inf
            where = np.int64(-1)
            if size == 1:
                if left > 1:
                    state += golden
                    at = usable[begin[g] + below(mixed(state), left)]
                else:
                    at = usable[begin[g]]
                x = row[at]
                where = place[at]
            else:
                wanted = min(size, left)
                for c in range(begin[g], begin[g + 1]):
                    if wanted == 0:
                        break
                    if wanted < left:
                        state += golden
                        if below(mixed(state), left) >= wanted:
                            left -= 1
                            continue
                    left -= 1
                    wanted -= 1
                    y = row[usable[c]]
                    column = place[usable[c]]
                    if where < 0 or y < x or (y == x and column < where):
                        x = y
                        where = column
            if turn < 0:
                best = x
                best_place = where
                continue
            nearest = min(nearest, x)
            if has_mate:
                n_closer += x < best
                if x == best:
                    n_tied += 1
                    n_before += where < best_place
        facts.mate[r, i] = best if has_mate else np.nan
        facts.other[r, i] = nearest if competitors > 0 else np.nan
        facts.closer[r, i] = n_closer
        facts.tied[r, i] = n_tied
        facts.tied_before[r, i] = n_before


@parallel_rows("block.values")
def draw_facts(begin, end, block, probe, size, key, facts):
    """Rank each row's subject in galleries of `size` templates of each subject, drawn at random.

    A row's random numbers follow from its number `probe` and the seed `key`, two of uint64.
    """
    for i in range(begin, end):
        row = block.values[i]
        draw_row(row, block, i, probe[i], size, key, facts)
