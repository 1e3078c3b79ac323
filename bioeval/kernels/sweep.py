"""All tasks at once: each row is read from memory a single time and counted while in cache.

The kernel serves the common case: single- and multi-template verification (nearest template) and
identification, over a matrix of floats without failed comparisons. Scores without a cell (NaN,
infinities, values outside the window) are counted in the outermost cells, or as missing non-mates;
the caller finds them there and counts the block again by the general kernels.

Each step is a plain loop of its own over one row, so that the compiler can vectorise it: scores
are compared as integers of the same width, cells are found without branches and kept in 16 bits,
and counted alternately in two tables, so that two equal scores in a row do not wait for each
other. ``tests/kernels/test_vectorised.py`` reads the instructions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange


class Matrix(NamedTuple):
    """The matrix of scores, and the rows of it to count.

    Attributes
    ----------
    values : float array, shape (M, N), C-contiguous
    keys : int array, shape (M, N)
        The same memory as integers of the same width.
    rows : int64 array, shape (b,)
        Rows of `values` to count.
    negated : bool
        Whether the scores are similarities.
    infinity : float
        Infinity in the dtype of `values`.
    key_mask, key_shift : int
        The largest integer of the dtype of `keys`, and its number of bits less one.
    """

    values: np.ndarray
    keys: np.ndarray
    rows: np.ndarray
    negated: bool
    infinity: Any
    key_mask: Any
    key_shift: Any


class Gallery(NamedTuple):
    """The gallery in the order in which it is counted: the templates of a subject side by side.

    Attributes
    ----------
    order, places : uint32 and int64 arrays, shape (n,)
        Column of the matrix, and place in the gallery, of each position.
    gathered : bool
        Whether the columns must be put in order first.
    starts : int64 array, shape (g + 1,)
        Group ``g`` has the positions ``starts[g]:starts[g + 1]``; no group is empty.
    """

    order: np.ndarray
    places: np.ndarray
    gathered: bool
    starts: np.ndarray


class Probes(NamedTuple):
    """The probe of each row.

    Attributes
    ----------
    own, self_position : int64 arrays, shape (b,)
        Group of the probe's own subject, and the position of the probe itself; -1 for none.
    offsets : int64 array, shape (b + 1,)
        The genuine scores of row ``i`` are written at ``offsets[i]:offsets[i + 1]``.
    """

    own: np.ndarray
    self_position: np.ndarray
    offsets: np.ndarray


class Wanted(NamedTuple):
    """What to count: verification by templates, by subjects, and ranks among subjects."""

    single: bool
    multi: bool
    subject_ranks: bool


class CellTables(NamedTuple):
    """Tables of impostor counts in cells, which given thresholds may divide.

    Attributes
    ----------
    width, inverse, low, high, first : floats of the dtype of the scores
        As for :class:`CellWindow`.
    limits : float array, shape (cells,)
        The threshold of each cell, infinite if it has none: the cell has an entry for the scores
        up to its limit and one for those above. Empty where no thresholds are given.
    firsts, bounds : uint32 array, shape (cells + 1,), and float array
        Instead of limits, where some cell has several thresholds: all edges and thresholds in
        increasing order, and the first of each cell, whose last is its edge. Otherwise empty.
    counts : int32 array, shape (chunks, 2, entries), added to
    """

    width: Any
    inverse: Any
    low: Any
    high: Any
    first: Any
    limits: np.ndarray
    firsts: np.ndarray
    bounds: np.ndarray
    counts: np.ndarray


class Scratch(NamedTuple):
    """Room for one row of each chunk.

    Attributes
    ----------
    line, keys : float and int arrays, shape (chunks, n + 1)
        The same memory.
    cells : uint16 array, shape (chunks, n)
    nearest : float array, shape (chunks, g)
    """

    line: np.ndarray
    keys: np.ndarray
    cells: np.ndarray
    nearest: np.ndarray


@njit
def count_closer(bits, key, low):
    """Count the scores below `key`, and at most `key`, and find the least, all by their bits.

    The bits of floats are ordered as the floats are, as long as none has a sign.
    """
    below = np.int32(0)
    within = np.int32(0)
    for j in range(len(bits)):
        # The sum of two numbers of 32 bits is one of 64 unless converted.
        below = np.int32(below + np.int32(bits[j] < key))
        within = np.int32(within + np.int32(bits[j] <= key))
        low = bits[j] if bits[j] < low else low
    return below, within, low


@njit
def count_closer_signed(line, bits, best, low, key_mask, key_shift):
    """Do the same where some score is negative; `low` is of bits that are ordered."""
    below = np.int32(0)
    within = np.int32(0)
    for j in range(len(line)):
        below = np.int32(below + np.int32(line[j] < best))
        within = np.int32(within + np.int32(line[j] <= best))
    for j in range(len(bits)):
        key = bits[j] ^ ((bits[j] >> key_shift) & key_mask)
        low = key if key < low else low
    return below, within, low


@njit
def find_cells(line, index, window):
    """Write the cell of each score; those beyond the window into its outermost ones."""
    width = window.width
    inverse = window.inverse
    low = window.low
    high = window.high
    shift = np.int32(window.first)
    if inverse >= 1:  # the product is exact
        for p in range(len(line)):
            y = line[p] * inverse
            y = y if y > low else low
            y = y if y < high else high
            index[p] = np.uint16(np.int32(np.ceil(y)) - shift)
    else:
        for p in range(len(line)):
            x = line[p]
            y = x * inverse
            y = y if y > low else low
            y = y if y < high else high
            z = np.ceil(y)
            k = np.int32(z) + np.int32(z * width < x)  # y may have underflowed
            index[p] = np.uint16(k - shift)


def _least_of(size):
    """Return a kernel for groups of one size, so common that it is worth a loop of its own."""

    @njit
    def least_of(line, nearest):
        for g in range(len(nearest)):
            part = line[g * size : (g + 1) * size]
            least = part[0]
            for p in range(1, size):
                least = part[p] if part[p] < least else least
            nearest[g] = least

    return least_of


least_of_2 = _least_of(2)
least_of_3 = _least_of(3)
least_of_4 = _least_of(4)
least_of_5 = _least_of(5)
least_of_6 = _least_of(6)
least_of_8 = _least_of(8)
least_of_10 = _least_of(10)


@njit
def find_nearest(line, starts, size, nearest):
    """Write the least score of each group; `size` is that of all groups, 0 if they differ."""
    if size == 2:
        least_of_2(line, nearest)
    elif size == 3:
        least_of_3(line, nearest)
    elif size == 4:
        least_of_4(line, nearest)
    elif size == 5:
        least_of_5(line, nearest)
    elif size == 6:
        least_of_6(line, nearest)
    elif size == 8:
        least_of_8(line, nearest)
    elif size == 10:
        least_of_10(line, nearest)
    else:
        for g in range(len(nearest)):
            part = line[starts[g] : starts[g + 1]]
            least = part[0]
            for p in range(1, len(part)):
                least = part[p] if part[p] < least else least
            nearest[g] = least


@njit
def entry_of(x, cell, tables):
    """Return the entry of a score in tables whose cells are divided at given thresholds."""
    if len(tables.limits) > 0:
        return np.uint32(2) * np.uint32(cell) + np.uint32(x > tables.limits[cell])
    low = tables.firsts[cell]
    high = tables.firsts[cell + 1] - np.uint32(1)
    while low < high:
        middle = (low + high) >> np.uint32(1)
        if tables.bounds[middle] < x:
            low = middle + np.uint32(1)
        else:
            high = middle
    return low


@njit
def count_cells(line, index, tables, chunk):
    """Count each score in one of two tables, in its cell or in its part of the cell."""
    table0 = tables.counts[chunk, 0]
    table1 = tables.counts[chunk, 1]
    limits = tables.limits
    one = np.int32(1)
    n = len(line)
    half = n // 2
    front = index[:half]
    back = index[half : 2 * half]
    if len(limits) > 0:
        start = line[:half]
        end = line[half : 2 * half]
        two = np.uint32(2)
        for p in range(half):
            a = front[p]
            b = back[p]
            table0[two * np.uint32(a) + np.uint32(start[p] > limits[a])] += one
            table1[two * np.uint32(b) + np.uint32(end[p] > limits[b])] += one
        if 2 * half < n:
            table0[entry_of(line[n - 1], index[n - 1], tables)] += one
    elif len(tables.bounds) > 0:
        for p in range(n):
            table0[entry_of(line[p], index[p], tables)] += one
    else:
        for p in range(half):
            table0[front[p]] += one
            table1[back[p]] += one
        if 2 * half < n:
            table0[index[n - 1]] += one


@njit
def uncount_cells(line, index, tables, chunk):
    """Take scores out again: those of the probe's own subject."""
    table = tables.counts[chunk, 0]
    divided = len(tables.limits) > 0 or len(tables.bounds) > 0
    for p in range(len(line)):
        if divided:
            table[entry_of(line[p], index[p], tables)] -= np.int32(1)
        else:
            table[index[p]] -= np.int32(1)


@njit
def copy_row(row, gallery, negated, line):
    """Write a row in the order of the gallery, similarities as distances."""
    order = gallery.order
    n = len(order)
    if gallery.gathered:
        for p in range(n):
            line[p] = row[order[p]]
        if negated:
            for p in range(n):
                line[p] = -line[p]
    else:
        for p in range(n):
            line[p] = -row[p]


@njit
def find_best_mate(line, places, start, stop, itself, infinity, genuine):
    """Write the genuine scores of a row, NaN for the probe itself, and find the best mate.

    Return its score (infinity for none), its place, how many mates are as close, and how many
    there are.
    """
    best = infinity
    best_place = np.int64(0)
    same = np.int32(0)
    count = np.int32(0)
    for p in range(start, stop):
        x = line[p]
        genuine[p - start] = np.nan if p == itself else x
        if p == itself or x != x:
            continue
        if count == 0 or x < best:
            best = x
            same = np.int32(1)
            best_place = places[p]
        elif x == best:
            same += np.int32(1)
            best_place = min(best_place, places[p])
        count += np.int32(1)
    return best, best_place, same, count


@njit
def count_tied_before(line, places, start, stop, best, best_place):
    """Count the non-mates exactly as close as the best mate, and before it in the gallery."""
    count = np.int32(0)
    for p in range(len(places)):
        outside = p < start or p >= stop
        if outside and line[p] == best and places[p] < best_place:
            count += np.int32(1)
    return count


@njit
def count_nan(part):
    """Count the failed comparisons."""
    count = np.int32(0)
    for j in range(len(part)):
        count += np.int32(part[j] != part[j])
    return count


@njit
def rank_subjects(line, gallery, nearest, own, best, best_place):
    """Count the other subjects closer than the best mate, as close, and of those before it."""
    closer = np.int32(0)
    tied = np.int32(0)
    for g in range(len(nearest)):
        if g != own:
            closer += np.int32(nearest[g] < best)
            tied += np.int32(nearest[g] == best)
    before = np.int32(0)
    if tied > 0:
        for g in range(len(nearest)):
            if g == own or nearest[g] != best:
                continue
            for p in range(gallery.starts[g], gallery.starts[g + 1]):
                if line[p] == best and gallery.places[p] < best_place:
                    before += np.int32(1)
                    break
    return closer, tied, before


@njit
def count_impostors(line, index, start, stop, tables, chunk):
    """Count a row in its cells, and take the probe's own subject out again."""
    find_cells(line, index, tables)
    count_cells(line, index, tables, chunk)
    uncount_cells(line[start:stop], index[start:stop], tables, chunk)


@njit
def group_size(starts):
    """Return the size of all groups; 0 if they differ."""
    size = starts[1] - starts[0]
    for g in range(len(starts) - 1):
        if starts[g + 1] - starts[g] != size:
            return np.int64(0)
    return size


@njit
def sweep_chunk(
    c, matrix, gallery, probes, wanted, single, multi, genuine, facts, subject_facts, scratch
):
    """Count the rows of chunk `c`; the other arguments are those of :func:`sweep_rows`."""
    b = len(matrix.rows)
    n = len(gallery.places)
    groups = len(gallery.starts) - 1
    chunks = scratch.cells.shape[0]
    size = group_size(gallery.starts)
    mask = matrix.key_mask
    copied = gallery.gathered or matrix.negated
    index = scratch.cells[c]
    nearest = scratch.nearest[c]
    for i in range(c * b // chunks, (c + 1) * b // chunks):
        row = matrix.rows[i]
        line = matrix.values[row]
        bits = matrix.keys[row]
        if copied:
            copy_row(line, gallery, matrix.negated, scratch.line[c])
            line = scratch.line[c]
            bits = scratch.keys[c]
        own = probes.own[i]
        start = gallery.starts[own] if own >= 0 else 0
        stop = gallery.starts[own + 1] if own >= 0 else 0

        # Mates first.
        best, best_place, same, mates = find_best_mate(
            line, gallery.places, start, stop, probes.self_position[i], matrix.infinity,
            genuine[probes.offsets[i] : probes.offsets[i + 1]],
        )  # fmt: skip

        # Then the non-mates: how many are closer, and exactly as close; and the nearest.
        scratch.line[c, n] = best
        key = scratch.keys[c, n]
        below0, within0, low_key = count_closer(bits[:start], key, mask)
        below1, within1, low_key = count_closer(bits[stop:n], key, low_key)
        if low_key < 0 or key < 0:  # those with a sign are ordered the other way round
            below0, within0, low_key = count_closer_signed(
                line[:start], bits[:start], best, mask, mask, matrix.key_shift
            )
            below1, within1, low_key = count_closer_signed(
                line[stop:n], bits[stop:n], best, low_key, mask, matrix.key_shift
            )
        closer = below0 + below1
        tied = within0 + within1 - closer
        scratch.keys[c, n] = low_key ^ ((low_key >> matrix.key_shift) & mask)
        others = n - (stop - start)
        if not wanted.single:  # otherwise the cells show the failed comparisons
            others -= count_nan(line[:start]) + count_nan(line[stop:n])
        facts.mates[i] = mates
        facts.mates_tied[i] = same
        facts.mate[i] = best if mates > 0 else np.nan
        facts.others[i] = others
        facts.other[i] = scratch.line[c, n] if others > 0 else np.nan
        facts.closer[i] = closer if mates > 0 else 0
        facts.tied[i] = tied if mates > 0 else 0
        facts.tied_before[i] = 0
        if mates > 0 and tied > 0:
            facts.tied_before[i] = count_tied_before(
                line, gallery.places, start, stop, best, best_place
            )

        if wanted.single:
            count_impostors(line[:n], index, start, stop, single, c)
        if wanted.multi or wanted.subject_ranks:
            find_nearest(line, gallery.starts, size, nearest)
        if wanted.multi:
            count_impostors(nearest, index, max(own, 0), own + 1, multi, c)
        if wanted.subject_ranks:
            closer, tied, before = rank_subjects(line, gallery, nearest, own, best, best_place)
            enrolled = 1 if mates > 0 else 0
            subject_facts.mates[i] = enrolled
            subject_facts.mates_tied[i] = enrolled
            subject_facts.mate[i] = facts.mate[i]
            subject_facts.others[i] = groups - (1 if own >= 0 else 0)
            subject_facts.other[i] = facts.other[i]
            subject_facts.closer[i] = enrolled * closer
            subject_facts.tied[i] = enrolled * tied
            subject_facts.tied_before[i] = enrolled * before


@njit(parallel=True, cache=True)
def sweep_rows(
    matrix, gallery, probes, wanted, single, multi, genuine, facts, subject_facts, scratch
):
    """Count rows of a matrix for all tasks, in chunks of rows side by side.

    Each chunk is counted by a function of its own, since numba drops what a parallel loop writes
    through the fields of a named tuple.

    Impostor counts of single-template and of multi-template verification are added to `single` and
    `multi`; the genuine scores, float of shape (offsets[b],), are written to `genuine`, NaN for the
    probe itself; the ranks among templates are written to `facts`, and those among subjects to
    `subject_facts` where they are wanted.
    """
    for c in prange(scratch.cells.shape[0]):
        sweep_chunk(
            c, matrix, gallery, probes, wanted, single, multi, genuine, facts, subject_facts,
            scratch,
        )  # fmt: skip
