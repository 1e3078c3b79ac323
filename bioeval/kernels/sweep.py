"""All tasks at once: each row is read from memory a single time and counted while in cache.

The kernel serves the common case: single- and multi-template verification (nearest template) and
identification, over a matrix of floats without failed comparisons. Scores without a cell (NaN,
infinities, values outside the window) are counted in the outermost cells, or as missing non-mates;
the caller finds them there and counts the block again by the general kernels.

Each step is a plain loop of its own over one row, so that the compiler can vectorise it: scores
are compared as integers of the same width, and cells are found without branches. Scores in cells
with given thresholds, or next to genuine scores, are put aside without branches and compared with
them afterwards. ``tests/kernels/test_vectorised.py`` reads the instructions.

Another look at the impostor scores alone, :func:`look_at_rows`, keeps scores in windows and adds up
pairs by the same functions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.argument_groups import CellWindow
from bioeval.kernels.side_by_side import side_by_side


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
    """Tables of impostor counts in cells, in some of which thresholds are marked.

    Attributes
    ----------
    width, inverse, low, high, first : floats of the dtype of the scores
        As for :class:`CellWindow`.
    cells : int32 array, shape (chunks, cells), added to
        The count of each cell; of a cell with marks, the number of its first slot, inverted.
    marks : float array, shape (chunks, slots, 2)
        The marks of each marked cell, increasing, each cell's followed by infinity, are in the
        first of each two places.
    at_most : int array, shape (chunks, slots, 2), added to
        The same memory; the second places have the scores of the cell that are at most a mark and
        not at most the one before.
    """

    width: Any
    inverse: Any
    low: Any
    high: Any
    first: Any
    cells: np.ndarray
    marks: np.ndarray
    at_most: np.ndarray


class RankTable(NamedTuple):
    """Where scores rank among the genuine ones.

    Attributes
    ----------
    window : float array, shape (5,)
        The numbers of a :class:`CellWindow` of narrow cells, 64 of them a word.
    bits : uint64 array, shape (words,)
        The cells of each word that hold a genuine score; all where it is not one score in each
        cell, with the usual repeats.
    aside : uint64 array, shape (words,) or (0,)
        The cells whose scores are put aside, where those are not the same.
    repeats : int
        Genuine scores of the same value, in most words.
    ends : uint32 array, shape (words,)
        Genuine scores up to the end of each word.
    places : uint32 array, shape (words + 1,)
        Distinct genuine scores up to the beginning of each word, and of all.
    scores : array of the dtype of the scores, shape (u + 1,)
        The distinct genuine scores, increasing, and infinity.
    below : uint32 array, shape (u + 2,)
        Genuine scores below each of them; all, and all.
    """

    window: np.ndarray
    bits: np.ndarray
    aside: np.ndarray
    repeats: int
    ends: np.ndarray
    places: np.ndarray
    scores: np.ndarray
    below: np.ndarray


class PointTables(NamedTuple):
    """What is found of operating points besides counts; arrays of length 0 for what is not wanted.

    Attributes
    ----------
    flags : uint8 array, shape (cells,)
        1 for cells whose scores are kept: those in which the scores are counted, but for
        `shift` bits of their number.
    frame : float array, shape (5,)
        The numbers of the :class:`CellWindow` of these cells.
    lows, highs : float arrays, shape (w,)
        Scores above the one and at most the other are kept.
    kept : float array, shape (chunks, room), written
    filled : int64 array, shape (chunks,), added to
        Scores kept; -1 where there was not room for all.
    window, bits, aside, repeats, ends, places, scores, below
        As for :class:`RankTable`.
    pairs : int64 array, shape (chunks,), added to
        Twice the pairs of a genuine score and a larger impostor score, equal ones counted once.
    later : float array, shape (chunks, room), written
        Scores put aside, whose pairs are not among them; for a table with `aside`.
    deferred : int64 array, shape (chunks,), added to
        How many there are; -1 where there was not room for all.
    scale : float
        A power of two by which scores are multiplied for their moments.
    sums : float64 array, shape (chunks, 2, lanes)
        Room for as many sums side by side, whose order is the same on any processor.
    moments : float64 array, shape (3, b), written
        One of the scores of each row, the origin; the sum of the differences from it, so that a
        mean close to it keeps its digits; and the sum of their squares. Shape (3, 0) for none.
    """

    flags: np.ndarray
    shift: Any
    frame: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    kept: np.ndarray
    filled: np.ndarray
    window: np.ndarray
    bits: np.ndarray
    aside: np.ndarray
    repeats: int
    ends: np.ndarray
    places: np.ndarray
    scores: np.ndarray
    below: np.ndarray
    pairs: np.ndarray
    later: np.ndarray
    deferred: np.ndarray
    scale: float
    sums: np.ndarray
    moments: np.ndarray


class VerificationTables(NamedTuple):
    """Both for the impostor scores of one task: :class:`CellTables` and :class:`PointTables`."""

    width: Any
    inverse: Any
    low: Any
    high: Any
    first: Any
    cells: np.ndarray
    marks: np.ndarray
    at_most: np.ndarray
    flags: np.ndarray
    shift: Any
    frame: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    kept: np.ndarray
    filled: np.ndarray
    window: np.ndarray
    bits: np.ndarray
    aside: np.ndarray
    repeats: int
    ends: np.ndarray
    places: np.ndarray
    scores: np.ndarray
    below: np.ndarray
    pairs: np.ndarray
    later: np.ndarray
    deferred: np.ndarray
    scale: float
    sums: np.ndarray
    moments: np.ndarray


class Scratch(NamedTuple):
    """Room for one row of each chunk.

    Attributes
    ----------
    line, keys : float and int arrays, shape (chunks, n + 1)
        The same memory.
    cells : uint32 array, shape (chunks, n)
    marked : uint32 array, shape (chunks, n + 2)
        Positions of scores in marked cells.
    flags : uint32 array, shape (chunks, piece)
        Which scores of a piece are kept.
    nearest : float array, shape (chunks, g)
    """

    line: np.ndarray
    keys: np.ndarray
    cells: np.ndarray
    marked: np.ndarray
    flags: np.ndarray
    nearest: np.ndarray


@register_jitable
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


@register_jitable
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


@register_jitable
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
            index[p] = np.uint32(np.int32(np.ceil(y)) - shift)
    else:
        for p in range(len(line)):
            x = line[p]
            y = x * inverse
            y = y if y > low else low
            y = y if y < high else high
            z = np.ceil(y)
            k = np.int32(z) + np.int32(z * width < x)  # y may have underflowed
            index[p] = np.uint32(k - shift)


def _least_of(size):
    """Return a kernel for groups of one size, so common that it is worth a loop of its own."""

    @register_jitable
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


@register_jitable
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


@register_jitable
def count_cells(index, table):
    """Count scores in their cells; two places far apart, since equal ones wait for each other."""
    one = np.int32(1)
    half = len(index) // 2
    front = index[:half]
    back = index[half : 2 * half]
    for p in range(half):
        table[front[p]] += one
        table[back[p]] += one
    if 2 * half < len(index):
        table[index[2 * half]] += one


@register_jitable
def count_unmarked(index, table, marked):
    """Count the scores of unmarked cells; write the positions of the others, without branches."""
    one = np.int32(1)
    sign = np.int32(31)
    half = len(index) // 2
    front = index[:half]
    back = index[half : 2 * half]
    filled = np.uint64(0)
    for p in range(half):
        a = table[front[p]]
        table[front[p]] = a + one + (a >> sign)
        marked[filled] = p
        filled += np.uint64(-(a >> sign))
        b = table[back[p]]
        table[back[p]] = b + one + (b >> sign)
        marked[filled] = half + p
        filled += np.uint64(-(b >> sign))
    if 2 * half < len(index):
        a = table[index[2 * half]]
        table[index[2 * half]] = a + one + (a >> sign)
        marked[filled] = 2 * half
        filled += np.uint64(-(a >> sign))
    return filled


@register_jitable
def slot_after(marks, slot, x):
    """Return the first slot after one whose mark is not below `x`, as far away as it may be."""
    step = np.uint32(1)
    last = np.uint32(len(marks) - 1)
    while slot + step < last and marks[slot + step, 0] < x:
        slot += step
        step += step
    low = slot + np.uint32(1)
    high = min(slot + step, last)
    while low < high:
        middle = (low + high) >> np.uint32(1)
        if marks[middle, 0] < x:
            low = middle + np.uint32(1)
        else:
            high = middle
    return low


@register_jitable
def count_marked(line, index, marked, tables, chunk):
    """Count the scores of marked cells between the marks of their cell."""
    table = tables.cells[chunk]
    marks = tables.marks[chunk]
    at_most = tables.at_most[chunk]
    for q in range(len(marked)):
        p = marked[q]
        x = line[p]
        slot = np.uint32(~table[index[p]])
        # Two steps that take no branch; more are so rare that one costs little.
        slot = np.uint32(slot + np.uint32(marks[slot, 0] < x))
        slot = np.uint32(slot + np.uint32(marks[slot, 0] < x))
        if marks[slot, 0] < x:
            slot = slot_after(marks, slot, x)
        at_most[slot, 1] += 1


@register_jitable
def has_room(line, points, chunk):
    """Say whether scores can be kept if they are in windows, and give up where not."""
    room = points.filled[chunk] >= 0 and points.filled[chunk] + len(line) <= points.kept.shape[1]
    if not room:
        points.filled[chunk] = -1
    return room


@register_jitable
def keep_flagged(line, index, points, chunk):
    """Append the scores of flagged cells to those kept, without branches."""
    if len(points.flags) == 0 or not has_room(line, points, chunk):
        return
    flags = points.flags
    shift = points.shift
    kept = points.kept[chunk]
    filled = np.uint64(points.filled[chunk])
    for p in range(len(line)):
        kept[filled] = line[p]
        filled += np.uint64(flags[index[p] >> shift])
    points.filled[chunk] = np.int64(filled)


@register_jitable
def keep_windows(line, points, chunk, flags):
    """Append the scores in the windows to those kept, without branches."""
    if len(points.lows) == 0 or not has_room(line, points, chunk):
        return
    lows = points.lows
    highs = points.highs
    kept = points.kept[chunk]
    filled = np.uint64(points.filled[chunk])
    for start in range(0, len(line), len(flags)):
        some = line[start : start + len(flags)]
        inside = flags[: len(some)]
        for j in range(len(some)):
            inside[j] = np.uint32(0)
        for w in range(len(lows)):
            low = lows[w]
            high = highs[w]
            for j in range(len(some)):
                inside[j] |= np.uint32((some[j] > low) & (some[j] <= high))
        for j in range(len(some)):
            kept[filled] = some[j]
            filled += np.uint64(inside[j])
    points.filled[chunk] = np.int64(filled)


@register_jitable
def window_of(numbers):
    """Return a window of cells, given as an array."""
    return CellWindow(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])


@register_jitable
def ones(word):
    """Return the number of bits set in a word; compiled to one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@register_jitable
def first_not_below(scores, low, high, x):
    """Return the first place from `low` to `high` whose score is not below `x`."""
    while low < high:
        middle = (low + high) >> np.uint64(1)
        if scores[middle] < x:
            low = middle + np.uint64(1)
        else:
            high = middle
    return low


@register_jitable
def pairs_by_cell(index, ranks, marked):
    """Return the number of pairs with genuine scores in cells before, and how many are put aside.

    Most scores are in cells without a genuine score, whose number of smaller ones is that up to the
    end of the word less that in the rest of it. The positions of others are written.
    """
    bits = ranks.bits
    aside = ranks.aside
    ends = ranks.ends
    last = np.uint64(63)
    filled = np.uint64(0)
    before = np.int64(0)
    after = np.int64(0)
    if len(aside) == 0:
        for p in range(len(index)):
            cell = np.uint64(index[p])
            rest = bits[cell >> np.uint64(6)] >> (cell & last)
            before += np.int64(ends[cell >> np.uint64(6)])
            after += np.int64(ones(rest))
            marked[filled] = p
            filled += rest & np.uint64(1)
    else:
        for p in range(len(index)):
            cell = np.uint64(index[p])
            rest = bits[cell >> np.uint64(6)] >> (cell & last)
            before += np.int64(ends[cell >> np.uint64(6)])
            after += np.int64(ones(rest))
            marked[filled] = p
            filled += (aside[cell >> np.uint64(6)] >> (cell & last)) & np.uint64(1)
    return before - ranks.repeats * after, filled


@register_jitable
def pairs_of_cell(cell, ranks):
    """Return the number of genuine scores that a score was paired with for its cell."""
    word = np.uint64(cell) >> np.uint64(6)
    rest = ones(ranks.bits[word] >> (np.uint64(cell) & np.uint64(63)))
    return np.int64(ranks.ends[word]) - ranks.repeats * np.int64(rest)


@register_jitable
def pairs_in_order(line, index, ranks, marked):
    """Return twice the number of pairs of a smaller genuine score and one put aside, ties once.

    The pairs by cell are taken back.
    """
    bits = ranks.bits
    scores = ranks.scores
    below = ranks.below
    places = ranks.places
    pairs = np.int64(0)
    for q in range(len(marked)):
        p = marked[q]
        x = line[p]
        cell = np.uint64(index[p])
        word = cell >> np.uint64(6)
        rest = ones(bits[word] >> (cell & np.uint64(63)))
        end = np.uint64(places[word + np.uint64(1)])
        g = np.uint64(places[word]) if bits[word] == ~np.uint64(0) else end - rest
        # Two steps that take no branch; more are rare.
        g += np.uint64(scores[g] < x)
        g += np.uint64(scores[g] < x)
        if scores[g] < x:
            g = first_not_below(scores, g, end, x)
        equal = np.int64(below[g + np.uint64(1)] - below[g]) * np.int64(scores[g] == x)
        pairs += 2 * (np.int64(below[g]) - pairs_of_cell(cell, ranks)) + equal
    return pairs


@register_jitable
def keep_aside(line, index, points, chunk, marked):
    """Append the scores put aside to those whose pairs are found later; return less their pairs."""
    filled = points.deferred[chunk]
    if filled < 0 or filled + len(marked) > points.later.shape[1]:
        points.deferred[chunk] = -1
        return np.int64(0)
    later = points.later[chunk]
    pairs = np.int64(0)
    for q in range(len(marked)):
        later[filled + q] = line[marked[q]]
        pairs -= 2 * pairs_of_cell(index[marked[q]], points)
    points.deferred[chunk] = filled + len(marked)
    return pairs


@register_jitable
def add_pairs(line, points, chunk, scratch):
    """Add up the pairs in order with genuine scores."""
    if len(points.bits) == 0:
        return
    index = scratch.cells[chunk, : len(line)]
    find_cells(line, index, window_of(points.window))
    pairs, filled = pairs_by_cell(index, points, scratch.marked[chunk])
    marked = scratch.marked[chunk, :filled]
    pairs *= 2
    if len(points.aside) == 0:
        pairs += pairs_in_order(line, index, points, marked)
    else:
        pairs += keep_aside(line, index, points, chunk, marked)
    points.pairs[chunk] += pairs


@register_jitable
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


@register_jitable
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


@register_jitable
def count_tied_before(line, places, start, stop, best, best_place):
    """Count the non-mates exactly as close as the best mate, and before it in the gallery."""
    count = np.int32(0)
    for p in range(len(places)):
        outside = p < start or p >= stop
        if outside and line[p] == best and places[p] < best_place:
            count += np.int32(1)
    return count


@register_jitable
def count_nan(part):
    """Count the failed comparisons."""
    count = np.int32(0)
    for j in range(len(part)):
        count += np.int32(part[j] != part[j])
    return count


@register_jitable
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


@register_jitable
def count_part(line, index, tables, chunk, marked):
    """Count some scores, whose cells are known, in their cells and at the marks."""
    table = tables.cells[chunk]
    if tables.marks.shape[1] == 0:
        count_cells(index, table)
        return
    filled = count_unmarked(index, table, marked)
    count_marked(line, index, marked[:filled], tables, chunk)


@register_jitable
def count_impostors(line, start, stop, tables, chunk, scratch):
    """Count a row, but for the probe's own subject."""
    index = scratch.cells[chunk, : len(line)]
    marked = scratch.marked[chunk]
    find_cells(line, index, tables)
    count_part(line[:start], index[:start], tables, chunk, marked)
    count_part(line[stop:], index[stop:], tables, chunk, marked)
    keep_flagged(line[:start], index[:start], tables, chunk)
    keep_flagged(line[stop:], index[stop:], tables, chunk)
    add_pairs(line[:start], tables, chunk, scratch)
    add_pairs(line[stop:], tables, chunk, scratch)


@register_jitable
def add_powers(part, scale, origin, sums, squares):
    """Add scaled differences from an origin, and their squares, into as many sums as there are."""
    lanes = len(sums)
    for start in range(0, len(part), lanes):
        some = part[start : start + lanes]
        for j in range(len(some)):
            x = np.float64(some[j]) * scale - origin
            sums[j] += x
            squares[j] += x * x


@register_jitable
def sum_powers(line, start, stop, tables, chunk, i):
    """Write the sums over a row, but for the probe's own subject."""
    if tables.moments.shape[1] == 0:
        return
    scale = tables.scale
    first = tables.sums[chunk, 0]
    second = tables.sums[chunk, 1]
    first[:] = 0.0
    second[:] = 0.0
    origin = 0.0
    if start > 0 or stop < len(line):
        origin = np.float64(line[0] if start > 0 else line[stop]) * scale
        add_powers(line[:start], scale, origin, first, second)
        add_powers(line[stop:], scale, origin, first, second)
    total = 0.0
    square = 0.0
    for j in range(len(first)):
        total += first[j]
        square += second[j]
    tables.moments[0, i] = origin
    tables.moments[1, i] = total
    tables.moments[2, i] = square


@register_jitable
def group_size(starts):
    """Return the size of all groups; 0 if they differ."""
    size = starts[1] - starts[0]
    for g in range(len(starts) - 1):
        if starts[g + 1] - starts[g] != size:
            return np.int64(0)
    return size


@register_jitable
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
            count_impostors(line[:n], start, stop, single, c, scratch)
            sum_powers(line[:n], start, stop, single, c, i)
        if wanted.multi or wanted.subject_ranks:
            find_nearest(line, gallery.starts, size, nearest)
        if wanted.multi:
            count_impostors(nearest, max(own, 0), own + 1, multi, c, scratch)
            sum_powers(nearest, max(own, 0), own + 1, multi, c, i)
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


@side_by_side("scratch.cells")
def sweep_rows(
    begin,
    end,
    matrix,
    gallery,
    probes,
    wanted,
    single,
    multi,
    genuine,
    facts,
    subject_facts,
    scratch,
):
    """Count rows of a matrix for all tasks, those of the chunks ``begin:end`` of `scratch`.

    Impostor counts of single-template and of multi-template verification are added to `single` and
    `multi`; the genuine scores, float of shape (offsets[b],), are written to `genuine`, NaN for the
    probe itself; the ranks among templates are written to `facts`, and those among subjects to
    `subject_facts` where they are wanted.
    """
    for c in range(begin, end):
        sweep_chunk(
            c, matrix, gallery, probes, wanted, single, multi, genuine, facts, subject_facts,
            scratch,
        )  # fmt: skip


@register_jitable
def look_at_chunk(c, block, own_start, own_stop, points, scratch):
    """Look at the rows of chunk `c`."""
    b = len(block)
    chunks = scratch.cells.shape[0]
    for i in range(c * b // chunks, (c + 1) * b // chunks):
        line = block[i]
        start = own_start[i]
        stop = own_stop[i]
        index = scratch.cells[c]
        if len(points.flags) > 0:
            find_cells(line, index, window_of(points.frame))
        keep_flagged(line[:start], index[:start], points, c)
        keep_flagged(line[stop:], index[stop:], points, c)
        keep_windows(line[:start], points, c, scratch.flags[c])
        keep_windows(line[stop:], points, c, scratch.flags[c])
        add_pairs(line[:start], points, c, scratch)
        add_pairs(line[stop:], points, c, scratch)


@side_by_side("scratch.cells")
def look_at_rows(begin, end, block, own_start, own_stop, points, scratch):
    """Look again at the impostor scores of a block, NaN for no attempt."""
    for c in range(begin, end):
        look_at_chunk(c, block, own_start, own_stop, points, scratch)
