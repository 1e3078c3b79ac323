"""All tasks at once: each row is read from memory only once, and counted while in cache.

The kernel serves the common case: single- and multi-template verification (nearest template) and
identification, over a matrix of floats. Scores without a cell (infinities, values outside the
window, NaN) are counted in the outermost cells, or as missing non-mates; the caller finds them
there and counts the block again by the general kernels. Where NaN is no attempt, it goes through
the same loops, and is taken out of their sums.

Each step is a plain loop of its own over one row, so that the compiler can vectorise it: scores
are compared as integers of the same width, and cells are found without branches. Scores in cells
with given thresholds, or next to genuine scores, are put aside without branches and compared with
them afterwards. ``tests/kernels/test_vectorised.py`` reads the instructions.

A second pass over the impostor scores alone, :func:`second_pass_of_rows`, keeps scores in windows,
with their places if these are wanted, and adds up pairs by the same functions.
"""

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.compiling import parallel_rows

# Scores among which one to be kept is looked for.
TOGETHER = 16


@register_jitable
def count_closer(bits, key, low):
    """Count the scores below `key` and at most `key`, and find the least, by their bits.

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
def find_cells(line, index, window):
    """Write the cell of each score; scores beyond the window go to its outermost cells."""
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
    """Return a kernel for groups of one size, common enough for a loop of its own."""

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
    """Write the least score of each group; `size` is their common size, 0 if they differ."""
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
    """Count scores in their cells, alternating between two places to avoid waiting."""
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
    """Count scores of unmarked cells; write the positions of the others, without branches."""
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
    """Return the first slot after one whose mark is not below `x`, however far away."""
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
def count_marked(line, index, marked, counts, chunk):
    """Count the scores of marked cells between the marks of their cell."""
    table = counts.cells[chunk]
    marks = counts.marks[chunk]
    at_most = counts.at_most[chunk]
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
def can_keep(line, points, chunk):
    """Whether scores can be kept if they are in windows; keeping is given up where not."""
    fits = points.filled[chunk] >= 0 and points.filled[chunk] + len(line) <= points.kept.shape[1]
    if not fits:
        points.filled[chunk] = -1
    return fits


@register_jitable
def keep_flagged(line, index, points, chunk):
    """Append the scores of flagged cells to the kept scores, without branches."""
    if len(points.flags) == 0 or not can_keep(line, points, chunk):
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
def keep_few_flagged(line, index, points, chunk):
    """Append the scores of flagged cells, where most groups of `TOGETHER` scores have none."""
    if len(points.flags) == 0 or not can_keep(line, points, chunk):
        return
    flags = points.flags
    kept = points.kept[chunk]
    filled = np.uint64(points.filled[chunk])
    whole = len(line) - len(line) % TOGETHER
    for start in range(0, whole, TOGETHER):
        some = line[start : start + TOGETHER]
        cells = index[start : start + TOGETHER]
        any_flag = np.uint8(0)
        for j in range(TOGETHER):
            any_flag |= flags[cells[j]]
        if any_flag == 0:
            continue
        for j in range(TOGETHER):
            kept[filled] = some[j]
            filled += np.uint64(flags[cells[j]])
    for p in range(whole, len(line)):
        kept[filled] = line[p]
        filled += np.uint64(flags[index[p]])
    points.filled[chunk] = np.int64(filled)


@register_jitable
def keep_windows(line, points, chunk, flags):
    """Append the scores in the windows to the kept scores, without branches."""
    if len(points.lows) == 0 or not can_keep(line, points, chunk):
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
        any_inside = np.uint32(0)
        for j in range(len(some)):
            any_inside |= inside[j]
        if any_inside == 0:  # as in most pieces, where windows are narrow
            continue
        for j in range(len(some)):
            kept[filled] = some[j]
            filled += np.uint64(inside[j])
    points.filled[chunk] = np.int64(filled)


@register_jitable
def keep_places(line, points, chunk, places, row, first):
    """Append the scores in the windows, with their rows and positions, without branches.

    The line begins at position `first` of the row. A window from -inf has the scores of -inf too.
    """
    if not can_keep(line, points, chunk):
        return
    kept = points.kept[chunk]
    filled = np.uint64(points.filled[chunk])
    for j in range(len(line)):
        x = line[j]
        inside = False
        for w in range(len(points.lows)):
            low = points.lows[w]
            inside |= ((x > low) | (low == -np.inf)) & (x <= points.highs[w])
        kept[filled] = x
        places[filled, 0] = row
        places[filled, 1] = first + j
        filled += np.uint64(inside)
    points.filled[chunk] = np.int64(filled)


@register_jitable
def ones(word):
    """Return the number of bits set in a word, compiled to one instruction."""
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
    """Return the number of pairs with genuine scores in earlier cells, and of those put aside.

    Most scores are in cells without a genuine score, whose number of smaller ones is that up to the
    end of the word less that in the rest of it. The positions of others are written.
    """
    words = ranks.words
    filled = np.uint64(0)
    before = np.uint64(0)
    after = np.uint64(0)
    for p in range(len(index)):
        cell = np.uint64(index[p])
        word = words[cell >> np.uint64(5)]
        rest = (word & np.uint64(0xFFFFFFFF)) >> (cell & np.uint64(31))
        before += word >> np.uint64(32)
        after += ones(rest)
        marked[filled] = p
        filled += rest & np.uint64(1)
    return np.int64(before) - ranks.repeats * np.int64(after), filled


@register_jitable
def pairs_in_order(line, index, ranks, marked):
    """Return twice the number of pairs of a smaller genuine score and one put aside; ties once.

    The pairs by cell are taken back.
    """
    words = ranks.words
    scores = ranks.scores
    below = ranks.below
    places = ranks.places
    every = np.uint64(0xFFFFFFFF)
    pairs = np.int64(0)
    for q in range(len(marked)):
        p = marked[q]
        x = line[p]
        cell = np.uint64(index[p])
        number = cell >> np.uint64(5)
        bits = words[number] & every
        rest = ones(bits >> (cell & np.uint64(31)))
        end = np.uint64(places[number + np.uint64(1)])
        if bits != every:  # one genuine score is in the cell
            smaller = scores[end - rest]
            pairs += ranks.repeats * (np.int64(x > smaller) + np.int64(x >= smaller))
            continue
        g = np.uint64(places[number])
        # Two steps that take no branch; more are rare.
        g += np.uint64(scores[g] < x)
        g += np.uint64(scores[g] < x)
        if scores[g] < x:
            g = first_not_below(scores, g, end, x)
        equal = np.int64(below[g + np.uint64(1)] - below[g]) * np.int64(scores[g] == x)
        known = np.int64(words[number] >> np.uint64(32)) - ranks.repeats * np.int64(rest)
        pairs += 2 * (np.int64(below[g]) - known) + equal
    return pairs


@register_jitable
def add_pairs(line, points, chunk, scratch):
    """Add up the pairs with genuine scores that are in order."""
    ranks = points.ranks
    if len(ranks.words) == 0:
        return
    index = scratch.cells[chunk, : len(line)]
    find_cells(line, index, ranks.window)
    pairs, filled = pairs_by_cell(index, ranks, scratch.marked[chunk])
    marked = scratch.marked[chunk, :filled]
    points.pairs[chunk] += 2 * pairs + pairs_in_order(line, index, ranks, marked)


@register_jitable
def add_powers(part, scale, origin, sums, squares):
    """Add scaled differences from an origin, and their squares, to several partial sums."""
    lanes = len(sums)
    for start in range(0, len(part), lanes):
        some = part[start : start + lanes]
        for j in range(len(some)):
            x = np.float64(some[j]) * scale - origin
            x = x if x == x else 0.0
            sums[j] += x
            squares[j] += x * x


@register_jitable
def sum_powers(line, start, stop, points, chunk, i, number):
    """Write the sums over the `number` scores of a row without the probe's own subject."""
    if points.moments.shape[1] == 0:
        return
    scale = points.scale
    first = points.sums[chunk, 0]
    second = points.sums[chunk, 1]
    first[:] = 0.0
    second[:] = 0.0
    origin = 0.0
    if number > 0:
        p = 0 if start > 0 else stop
        while line[p] != line[p]:
            p = stop if p + 1 == start else p + 1
        origin = np.float64(line[p]) * scale
        add_powers(line[:start], scale, origin, first, second)
        add_powers(line[stop:], scale, origin, first, second)
    total = 0.0
    square = 0.0
    for j in range(len(first)):
        total += first[j]
        square += second[j]
    points.moments[0, i] = number
    points.moments[1, i] = origin
    points.moments[2, i] = total
    points.moments[3, i] = square


@register_jitable
def count_part(line, index, counts, chunk, marked):
    """Count scores of known cells in their cells and at the marks."""
    table = counts.cells[chunk]
    if counts.marks.shape[1] == 0:
        count_cells(index, table)
        return
    filled = count_unmarked(index, table, marked)
    count_marked(line, index, marked[:filled], counts, chunk)


@register_jitable
def take_back(missing, counts, chunk):
    """Subtract the missing scores (NaN) from the first cell."""
    slot = ~counts.cells[chunk, 0]
    if slot >= 0:
        counts.at_most[chunk, slot, 1] -= missing
    else:
        counts.cells[chunk, 0] -= missing


@register_jitable
def group_size(starts):
    """Return the common size of all groups; 0 if they differ."""
    size = starts[1] - starts[0]
    for g in range(len(starts) - 1):
        if starts[g + 1] - starts[g] != size:
            return np.int64(0)
    return size


@parallel_rows("scratch.cells")
def second_pass_of_rows(begin, end, block, mate_start, mate_stop, points, places, scratch):
    """Read the impostor scores of a block again, NaN for no attempt.

    Row and position of each score kept in a window are written to `places`, an int32 array of shape
    (chunks, room, 2); it has no rows where they are not wanted.
    """
    b = len(block)
    chunks = scratch.cells.shape[0]
    for c in range(begin, end):
        index = scratch.cells[c]
        for i in range(c * b // chunks, (c + 1) * b // chunks):
            if len(points.flags) > 0:
                find_cells(block[i], index, points.frame)
            for side in range(2):
                part = slice(0, mate_start[i]) if side == 0 else slice(mate_stop[i], len(index))
                line = block[i, part]
                keep_few_flagged(line, index[part], points, c)
                if places.shape[1] > 0:
                    keep_places(line, points, c, places[c], i, part.start)
                else:
                    keep_windows(line, points, c, scratch.flags[c])
                add_pairs(line, points, c, scratch)
