"""Random galleries: a few templates of each subject, drawn for each probe and each gallery.

And random permutations. Random numbers come from a counter (SplitMix64; Steele, Lea and Flood
2014), started anew for each probe and gallery, or permutation, so that neither threads nor the
order of the rows change a draw.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.compiled import parallel_rows


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
    others: np.ndarray  # (b,): other subjects with one


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
    starts, own, place = block.starts, block.own[i], block.columns
    groups = len(starts) - 1
    golden = np.uint64(0x9E3779B97F4A7C15)
    usable = np.empty(len(row), dtype=np.int64)
    begin = np.empty(groups + 1, dtype=np.int64)
    held = 0
    found = 0
    for g in range(groups):
        begin[g] = held
        for p in range(starts[g], starts[g + 1]):
            if p != block.self_position[i] and row[p] == row[p]:
                usable[held] = p
                held += 1
        found += g != own and held > begin[g]
    begin[groups] = held
    has_mate = own >= 0 and begin[own + 1] > begin[own]
    facts.mates[i] = 1 if has_mate else 0
    facts.others[i] = found
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
            g = own if turn < 0 else turn
            if (turn < 0 and not has_mate) or (turn >= 0 and g == own):
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
        facts.other[r, i] = nearest if found > 0 else np.nan
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


@parallel_rows("sums")
def permuted_products(begin, end, first, second, ends, key, sums):
    """Write sums of products of two lists, the second permuted within its parts.

    A part ends before each of the increasing `ends`; lists and sums are int64, `key` is two of
    uint64.
    """
    golden = np.uint64(0x9E3779B97F4A7C15)
    line = np.empty_like(second)
    for r in range(begin, end):
        state = mixed(key[0] ^ mixed(np.uint64(r) + key[1]))
        for k in range(len(second)):  # assignments of slices take seconds to compile
            line[k] = second[k]
        low = 0
        for stop in ends:
            for j in range(stop - 1, low, -1):
                state += golden
                k = low + below(mixed(state), j - low + 1)
                line[j], line[k] = line[k], line[j]
            low = stop
        total = 0
        for j in range(len(first)):
            total += first[j] * line[j]
        sums[r] = total
