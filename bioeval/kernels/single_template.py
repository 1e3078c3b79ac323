"""Galleries with one template of each subject, drawn uniformly.

The template is drawn for each probe anew, and for each subject independently. The number of
subjects closer than a mate is thus a sum of independent trials (Poisson-binomial).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bioeval.kernels.compiling import called_by_loops, parallel_rows
from bioeval.kernels.layers import threshold_of

# Where a subject exactly as close as the mate ranks: behind it, before it, by the gallery order of
# their templates, or in all orders on average.
OPTIMISTIC, PESSIMISTIC, STABLE, EXPECTED = range(4)

# Chances below this are left out of sums: they are far below the last bit of any result.
TINY = 1e-24


class GroupedBlock(NamedTuple):
    """A block of probes against a gallery grouped by subject."""

    values: np.ndarray  # float (b, n): distances, grouped by subject; NaN = no attempt
    #: int64 (n,): position of each candidate in the gallery's own order, for stable ties.
    columns: np.ndarray
    #: int64 (groups + 1,): group ``g`` has the candidates ``starts[g]:starts[g + 1]``.
    starts: np.ndarray
    group: np.ndarray  # int64 (b,): the group of the row's subject, -1 for none


class Rules(NamedTuple):
    """Gauss-Legendre rules on (0, 1), for expected ties.

    In a random order, a tied mate is at a uniform position ``u`` in 0 ... 1 and each tied subject
    ranks before it with chance ``u``: the mean over all orders is the integral of a polynomial.
    """

    sizes: np.ndarray  # int64: numbers of nodes, increasing
    starts: np.ndarray  # int64: where the nodes of each rule start
    nodes: np.ndarray  # float64
    weights: np.ndarray  # float64


class ExpectedRanks(NamedTuple):
    """Expected ranks of n mates, which are ``first[i]:first[i + 1]`` for row ``i``, nearest first.

    All but `first` are float64 and written.
    """

    first: np.ndarray  # int64 (b + 1,)
    distance: np.ndarray  # (n,): of each mate; NaN behind the usable mates of a row
    tied: np.ndarray  # (n,): chance that the mate is drawn, and some subject is exactly as close
    chance: np.ndarray  # (n, ranks): chance that the mate is drawn, and at the rank


class Trials(NamedTuple):
    """Independent trials: a success is a subject that ranks before the mate.

    With a tied mate at position ``u``, the chance of a success is ``chance + u more``.
    """

    chance: np.ndarray  # float64 (groups,): proportion of templates that are surely before the mate
    more: np.ndarray  # float64 (groups,): proportion of templates that are tied with the mate
    times: np.ndarray  # int64 (groups,): how often each trial is made


@called_by_loops
def out_of_reach(mean, trials, limit):
    """Whether the chance of fewer than `limit` successes is surely below `TINY`.

    Chernoff's bound: of `trials` independent trials with `mean` expected successes, the chance of
    at most ``k`` successes is at most ``exp(-trials D)``, where ``D`` is the relative entropy of
    ``k / trials`` to ``mean / trials``. The bound falls as the mean grows, so that `mean` may be
    any lower bound of it.
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
    """Write the chances after one more trial, of chance `x`: ``source y + below x``, y = 1 - x."""
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

    The chances of fewer than `limit` successes are written to the first row of `terms`; the other
    two rows are scratch. All terms are positive, so that nothing cancels. Terms below `TINY` at
    either end are dropped, which saves most of the work.
    """
    chance, more, times = trials.chance, trials.more, trials.times
    out, factor, spare = terms[0], terms[1], terms[2]
    out[:limit] = 0.0
    mean = 0.0
    trials_made = 0
    for s in range(count):
        mean += times[s] * (chance[s] + u * more[s])
        trials_made += times[s]
    if out_of_reach(mean, trials_made, limit):
        return
    # The chances so far are current[low : high + 1]; the next chances are written to `following`.
    current, following = out, spare
    current[0] = 1.0
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
            following[low : top + 1] = 0.0
            for j in range(width):
                stop = min(high, top - j) + 1
                if factor[j] >= TINY and stop > low:
                    add_times(following[low + j : stop + j], current[low:stop], factor[j])
            current, following = following, current
            high = top
            repeats = 0
        # One repeat after the other.
        for _ in range(repeats):
            top = min(limit - 1, high + 1)
            current[top] = current[top] if top == high else 0.0
            following[low] = current[low] * y
            one_more(
                following[low + 1 : top + 1], current[low + 1 : top + 1], current[low:top], y, x
            )
            current, following = following, current
            high = top
            if high > low and current[high] < TINY:
                high -= 1
            if low < high and current[low] < TINY:
                low += 1
        # Negligible ends are dropped.
        while high > low and current[high] < TINY:
            high -= 1
        while low < high and current[low] < TINY:
            low += 1
        if low == high and current[low] < TINY:
            break
    # The other chances are in `current`, which may be either of the two arrays.
    for k in range(low, high + 1):
        spare[k] = current[k]
    for k in range(limit):
        out[k] = spare[k] if low <= k <= high else 0.0


@called_by_loops
def closer_and_tied(distances, x):
    """Count the distances below `x`, and the distances equal to it."""
    closer = 0
    tied = 0
    for p in range(len(distances)):
        closer += distances[p] < x
        tied += distances[p] == x
    return closer, tied


@called_by_loops
def closer_of_each(row, starts, x, closer):
    """Write the number of distances of each group below `x`."""
    p = np.uint64(starts[0])  # unsigned, so that no index need be checked for being negative
    for g in range(len(starts) - 1):
        count = 0
        stop = np.uint64(starts[g + 1])
        while p < stop:
            count += row[p] < x
            p += np.uint64(1)
        closer[g] = count


@called_by_loops
def usable_mates(row, block, i, distance, position):
    """Write the mates of a row, nearest first and ties in gallery order; return their number."""
    count = 0
    for p in range(block.starts[block.group[i]], block.starts[block.group[i] + 1]):
        x = row[p]
        if x != x:
            continue
        x_position = block.columns[p]
        k = count
        while k > 0 and (
            distance[k - 1] > x or (distance[k - 1] == x and position[k - 1] > x_position)
        ):
            distance[k] = distance[k - 1]
            position[k] = position[k - 1]
            k -= 1
        distance[k] = x
        position[k] = x_position
        count += 1
    return count


@called_by_loops
def trials_of_each(row, block, policy, x, place, has_ties, usable, closer, number, trials):
    """Write the trial of each subject; `has_ties` says whether any is tied with the mate.

    Return the number of trials written, of subjects certain to rank before the mate, and of trials
    that depend on the position of a tied mate, and the chance that no subject is exactly as close.
    """
    surely_before = 0
    place_dependent = 0
    written = 0
    untied = 1.0
    for g in range(len(usable)):
        n = usable[g]
        if n == 0:
            continue
        ahead = closer[g]
        tie_chance = 0.0
        equal_templates = 0
        for p in range(block.starts[g], block.starts[g + 1] if has_ties else block.starts[g]):
            equal_templates += row[p] == x
            ahead += policy == STABLE and row[p] == x and block.columns[p] < place
        if equal_templates > 0:
            equal_chance = (closer[g] + equal_templates) / n - closer[g] / n
            untied *= 1.0 - equal_chance
            ahead += equal_templates if policy == PESSIMISTIC else 0
            tie_chance = equal_chance if policy == EXPECTED else 0.0
        if tie_chance == 0.0 and len(number) > 1:
            number[n, ahead] += 1
        elif ahead == n:
            surely_before += 1
        elif ahead > 0 or tie_chance > 0.0:
            trials.chance[written] = ahead / n
            trials.more[written] = tie_chance
            trials.times[written] = 1
            written += 1
            place_dependent += tie_chance > 0.0
    return written, surely_before, place_dependent, untied


@called_by_loops
def repeated_trials(number, written, trials):
    """Append one repeated trial for all subjects that have the same chance.

    ``number[n, c]`` counts the subjects with ``n`` usable templates of which ``c`` are ahead, and
    is emptied. Return the number of trials written, and of subjects certain to rank before the
    mate.
    """
    surely_before = 0
    for n in range(len(number)):
        for ahead in range(n + 1):
            times = number[n, ahead]
            number[n, ahead] = 0
            if ahead == 0 or times == 0:
                continue
            if ahead == n:
                surely_before += times
            else:
                trials.chance[written] = ahead / n
                trials.more[written] = 0.0
                trials.times[written] = times
                written += 1
    return written, surely_before


@called_by_loops
def add_ranks(trials, written, place_dependent, rules, weight, terms, chance):
    """Add the chances of 0, 1, ... successes, times a weight, to the chances of the ranks."""
    if place_dependent == 0:
        successes(trials, written, 0.0, len(chance), terms)
        for k in range(len(chance)):
            chance[k] = weight * terms[0, k]
        return
    # A polynomial of degree `place_dependent`; a rule of n nodes is exact up to degree 2n - 1. Of
    # many trials the polynomial is smooth, and fewer nodes give all digits.
    wanted = min(place_dependent // 2 + 1, 16 + np.int64(6.0 * np.sqrt(place_dependent)))
    rule = 0
    while rule < len(rules.sizes) - 1 and rules.sizes[rule] < wanted:
        rule += 1
    for q in range(rules.starts[rule], rules.starts[rule + 1]):
        successes(trials, written, rules.nodes[q], len(chance), terms)
        for k in range(len(chance)):
            chance[k] += weight * rules.weights[q] * terms[0, k]


@called_by_loops
def other_subjects(usable, group):
    """Return how many subjects but `group` have usable templates, and the most templates of one."""
    competitors = 0
    largest = 0
    for g in range(len(usable)):
        if g != group:
            competitors += usable[g] > 0
            largest = max(largest, usable[g])
    return competitors, largest


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
    position = np.empty(stop - start, dtype=np.int64)
    count = usable_mates(row, block, i, distance, position)
    if count == 0:
        return
    weight = 1.0 / count
    # The other subjects, and room for their trials.
    groups = len(usable)
    usable[group] = 0
    competitors, largest = other_subjects(usable, group)
    limit = chance.shape[1]
    trials = Trials(np.empty(groups), np.empty(groups), np.empty(groups, dtype=np.int64))
    closer = np.empty(groups, dtype=np.int64)
    # Trials with one chance are made together, unless subjects have many templates.
    most_templates = largest if largest <= 32 else 0
    number = np.zeros((most_templates + 1, most_templates + 1), dtype=np.int64)
    terms = np.empty((3, limit))
    for a in range(count):
        x = distance[a]
        mate[a] = x
        # Mates that are surely first, or surely beyond the last rank, need no trials.
        left, left_tied = closer_and_tied(row[:start], x)
        right, right_tied = closer_and_tied(row[stop:], x)
        templates_before, ties_with_mate = left + right, left_tied + right_tied
        # A closer template is drawn with chance 1 / largest at least.
        is_beyond = largest > 0 and out_of_reach(templates_before / largest, competitors, limit)
        if is_beyond and ties_with_mate == 0:
            continue
        if templates_before + ties_with_mate == 0:
            chance[a, 0] = weight
            continue
        # A trial for each other subject.
        closer_of_each(row, block.starts, x, closer)
        written, surely_before, place_dependent, untied = 0, 0, 0, 1.0
        if most_templates > 0 and ties_with_mate == 0:
            closer[group] = 0
            for g in range(groups):
                number[usable[g], closer[g]] += 1
        else:
            has_ties = ties_with_mate > 0
            written, surely_before, place_dependent, untied = trials_of_each(
                row, block, policy, x, position[a], has_ties, usable, closer, number, trials
            )
        written, certain = repeated_trials(number, written, trials)
        surely_before += certain
        tied[a] = weight * (1.0 - untied)
        if is_beyond or surely_before >= limit:
            continue
        add_ranks(trials, written, place_dependent, rules, weight, terms, chance[a, surely_before:])


@parallel_rows("block.values")
def rank_chances(begin, end, block, usable, policy, rules, ranks):
    """Find the chance that each mate of each row is enrolled, and is at each rank.

    ::

        for i in rows:
            for a in mates of i, each enrolled with chance 1 / mates:
                ahead = [closer templates of g / usable[i, g] for g in other subjects]
                chance[a] = the distribution of the number of successes in trials of these chances

    `usable` (int64 (b, groups)) has the number of attempts of each row with each group. `policy`
    is the treatment of ties; `rules` are used for expected ties alone; `ranks` is written.
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

    anyone: np.ndarray  # float64 (b, t): some template of another subject
    oneself: np.ndarray  # float64 (b, t): the template of the row's own subject
    competitors: np.ndarray  # int64 (b,): other subjects with a usable template


class Near(NamedTuple):
    """The templates of a row within some threshold; int64."""

    bins: np.ndarray  # (n,): the first threshold that each template is within
    group: np.ndarray  # (n,)
    ordered: np.ndarray  # (n,), scratch: the groups in the order of the thresholds
    taken: np.ndarray  # (groups,), scratch: templates of each group within the current threshold


@called_by_loops
def number_within(distances, x):
    """Count the distances up to `x`."""
    count = 0
    for p in range(len(distances)):
        count += distances[p] <= x
    return count


@called_by_loops
def chance_within(near, count, usable, steps, out):
    """Write the chance that a drawn template is within a threshold, from `count` near templates."""
    thresholds = len(out)
    # Sort the groups of the templates by threshold: `end` is where each threshold's groups end.
    end = np.zeros(thresholds + 1, dtype=np.int64)
    for c in range(count):
        end[near.bins[c] + 1] += 1
    for t in range(thresholds):
        end[t + 1] += end[t]
    for c in range(count):
        near.ordered[end[near.bins[c]]] = near.group[c]
        end[near.bins[c]] += 1
    taken = near.taken
    taken[:] = 0
    total = 0.0
    c = 0
    for t in range(thresholds):
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
    """Return the first threshold with `needed` distances within it, without ``start:stop``."""
    low = 0
    high = len(thresholds)
    while low < high:
        middle = (low + high) // 2
        x = thresholds[middle]
        if number_within(row[:start], x) + number_within(row[stop:], x) < needed:
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
    number_of_thresholds = len(thresholds)
    competitors, largest = other_subjects(usable, group)
    chances.competitors[i] = competitors
    start = starts[group] if group >= 0 else 0
    stop = starts[group + 1] if group >= 0 else 0
    # With so many templates, the chance that none is drawn is below exp(-40), nothing beside 1.
    first_sure = enough_within(row, start, stop, thresholds, 1.0 - 40.0 / steps[largest])
    near = Near(
        np.empty(len(row), dtype=np.int64),
        np.empty(len(row), dtype=np.int64),
        np.empty(len(row), dtype=np.int64),
        np.empty(groups, dtype=np.int64),
    )

    anyone = chances.anyone[i]
    anyone[first_sure:] = 1.0
    count = 0
    farthest = thresholds[max(first_sure, 1) - 1]
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
    if first_sure > 0:
        chance_within(near, count, usable, steps, anyone[:first_sure])

    count = 0
    for p in range(start, stop):
        x = row[p]
        if x <= thresholds[number_of_thresholds - 1]:
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

    `oneself` is the same chance for the row's own subject alone. `steps` has logarithms: if a group
    has ``c`` templates beyond a threshold, one more template within it adds ``steps[c]`` to the
    logarithm of the chance that the drawn template is beyond it; -inf if none is left.
    """
    for i in range(begin, end):
        row = block.values[i]
        row_within(row, block, i, usable[i], grid, steps, chances)
