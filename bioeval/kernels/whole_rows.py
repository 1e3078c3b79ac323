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
def count_closer_signed(line, bits, best, low, key_mask, key_shift):
    """Count as :func:`count_closer` where some score is negative."""
    below = np.int32(0)
    within = np.int32(0)
    for j in range(len(line)):
        below = np.int32(below + np.int32(line[j] < best))
        within = np.int32(within + np.int32(line[j] <= best))
    for j in range(len(bits)):
        key = bits[j] ^ ((bits[j] >> key_shift) & key_mask)
        low = key if (key < low) & (line[j] == line[j]) else low
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
def mend_nearest(line, starts, nearest):
    """Write the least score of groups that begin with NaN; NaN for groups of NaN alone."""
    for g in range(len(nearest)):
        if nearest[g] != nearest[g]:
            for p in range(starts[g] + 1, starts[g + 1]):
                if line[p] == line[p] and not line[p] >= nearest[g]:
                    nearest[g] = line[p]


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
    elif negated:
        for p in range(n):
            line[p] = -row[p]
    else:
        for p in range(n):  # assignments of slices take seconds to compile
            line[p] = row[p]


@register_jitable
def leave_out(line, mask, expected, matrix):
    """Write NaN where a mask is 0; return how many other cells are refused."""
    nan = matrix.nan
    strict = matrix.strict
    refused = np.int32(0)
    for p in range(len(line)):
        x = line[p]
        wrong = (mask[p] != expected) | (strict & (x != x))
        refused += np.int32((mask[p] != 0) & wrong)
        line[p] = x if mask[p] != 0 else nan
    return refused


@register_jitable
def apply_mask(line, matrix, i, gallery, start, stop, probe_position, mask):
    """Write NaN where the mask of row `i` is 0; return how many cells are refused.

    The row is put in order in `mask`. The probe itself is never refused.
    """
    row = matrix.raw.mask[matrix.raw.mask_rows[i]]
    if gallery.gathered:
        order = gallery.order
        for p in range(len(line)):
            mask[p] = row[order[p]]
        row = mask
    end = probe_position if probe_position >= 0 else stop
    after = probe_position + 1 if probe_position >= 0 else stop
    refused = leave_out(line[:start], row[:start], np.uint8(1), matrix)
    refused += leave_out(line[start:end], row[start:end], matrix.genuine, matrix)
    refused += leave_out(line[after:stop], row[after:stop], matrix.genuine, matrix)
    return refused + leave_out(line[stop:], row[stop:], np.uint8(1), matrix)


@register_jitable
def find_best_mate(line, places, start, stop, probe_position, infinity, genuine):
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
        genuine[p - start] = np.nan if p == probe_position else x
        if p == probe_position or x != x:
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
    """Count the non-mates tied with the best mate and before it in the gallery."""
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
def rank_subjects(line, gallery, nearest, probe_group, best, best_place):
    """Count the other subjects closer than the best mate, tied with it, and tied before it."""
    closer = np.int32(0)
    tied = np.int32(0)
    for g in range(len(nearest)):
        if g != probe_group:
            closer += np.int32(nearest[g] < best)
            tied += np.int32(nearest[g] == best)
    before = np.int32(0)
    if tied > 0:
        for g in range(len(nearest)):
            if g == probe_group or nearest[g] != best:
                continue
            for p in range(gallery.starts[g], gallery.starts[g + 1]):
                if line[p] == best and gallery.places[p] < best_place:
                    before += np.int32(1)
                    break
    return closer, tied, before


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
def count_impostors(line, start, stop, missing, tables, chunk, scratch, i):
    """Count row `i` (`missing` scores are NaN) without the probe's subject; collect findings."""
    counts, points = tables
    index = scratch.cells[chunk, : len(line)]
    marked = scratch.marked[chunk]
    find_cells(line, index, counts.window)
    count_part(line[:start], index[:start], counts, chunk, marked)
    count_part(line[stop:], index[stop:], counts, chunk, marked)
    take_back(missing, counts, chunk)
    # Nothing is looked for: of short rows, what follows would take longer than what is above.
    if len(points.flags) + len(points.ranks.words) + points.moments.shape[1] == 0:
        return
    keep_flagged(line[:start], index[:start], points, chunk)
    keep_flagged(line[stop:], index[stop:], points, chunk)
    add_pairs(line[:start], points, chunk, scratch)
    add_pairs(line[stop:], points, chunk, scratch)
    sum_powers(line, start, stop, points, chunk, i, len(line) - (stop - start) - missing)


@register_jitable
def group_size(starts):
    """Return the common size of all groups; 0 if they differ."""
    size = starts[1] - starts[0]
    for g in range(len(starts) - 1):
        if starts[g + 1] - starts[g] != size:
            return np.int64(0)
    return size


@parallel_rows("scratch.cells")
def count_whole_rows(begin, end, matrix, gallery, probes, wanted, output, scratch):
    """Count the rows of a matrix in the chunks ``begin:end`` of `scratch` for all tasks."""
    raw = matrix.raw
    b, gaps = len(raw.rows), matrix.gaps
    n, groups = len(gallery.places), len(gallery.starts) - 1
    chunks = scratch.cells.shape[0]
    size = group_size(gallery.starts)
    mask = matrix.key_mask
    shift = matrix.key_shift
    masked = len(raw.mask) > 0
    copied = gallery.gathered or matrix.negated or masked
    facts = output.facts
    for c in range(begin, end):
        nearest = scratch.nearest[c]
        for i in range(c * b // chunks, (c + 1) * b // chunks):
            line = raw.values[raw.rows[i]]
            bits = matrix.keys[raw.rows[i]]
            if copied:
                copy_row(line, gallery, matrix.negated, scratch.line[c])
                line = scratch.line[c]
                bits = scratch.keys[c]
            line = line[:n]
            bits = bits[:n]
            group = probes.group[i]
            start = gallery.starts[group] if group >= 0 else 0
            stop = gallery.starts[group + 1] if group >= 0 else 0
            probe_position = probes.probe_position[i]
            if masked:
                output.refused[i] = apply_mask(
                    line, matrix, i, gallery, start, stop, probe_position, scratch.mask[c]
                )

            # Mates first.
            best, best_place, same, mates = find_best_mate(
                line, gallery.places, start, stop, probe_position, matrix.infinity,
                output.genuine[probes.offsets[i] : probes.offsets[i + 1]],
            )  # fmt: skip

            # Then the non-mates: how many are closer, and exactly as close; and the nearest.
            scratch.line[c, n] = best
            key = scratch.keys[c, n]
            below0, within0, low = count_closer(bits[:start], key, mask)
            below1, within1, low = count_closer(bits[stop:], key, low)
            if low < 0 or key < 0:  # those with a sign are ordered the other way round
                below0, within0, low = count_closer_signed(
                    line[:start], bits[:start], best, mask, mask, shift
                )
                below1, within1, low = count_closer_signed(
                    line[stop:], bits[stop:], best, low, mask, shift
                )
            closer = below0 + below1
            tied = within0 + within1 - closer
            scratch.keys[c, n] = low ^ ((low >> shift) & mask)
            missing = np.int32(0)
            if gaps or not wanted.single:  # otherwise the cells show what is NaN
                missing = count_nan(line[:start]) + count_nan(line[stop:])
            non_mates = n - (stop - start) - missing
            facts.mates[i] = mates
            facts.mates_tied[i] = same
            facts.mate[i] = best if mates > 0 else np.nan
            facts.others[i] = non_mates
            facts.other[i] = scratch.line[c, n] if non_mates > 0 else np.nan
            facts.closer[i] = closer if mates > 0 else 0
            facts.tied[i] = tied if mates > 0 else 0
            facts.tied_before[i] = 0
            if mates > 0 and tied > 0:
                facts.tied_before[i] = count_tied_before(
                    line, gallery.places, start, stop, best, best_place
                )

            if wanted.single:
                count_impostors(line, start, stop, missing, output.single, c, scratch, i)
            start, stop = max(group, 0), group + 1
            missing = np.int32(0)
            if wanted.multi or wanted.subject_ranks:
                find_nearest(line, gallery.starts, size, nearest)
                if gaps:
                    mend_nearest(line, gallery.starts, nearest)
                    missing = count_nan(nearest[:start]) + count_nan(nearest[stop:])
            if wanted.multi:
                count_impostors(nearest, start, stop, missing, output.multi, c, scratch, i)
            if wanted.subject_ranks:
                closer, tied, before = rank_subjects(
                    line, gallery, nearest, group, best, best_place
                )
                of_subjects = output.subject_facts
                enrolled = 1 if mates > 0 else 0
                of_subjects.mates[i] = of_subjects.mates_tied[i] = enrolled
                of_subjects.mate[i] = facts.mate[i]
                of_subjects.others[i] = groups - (stop - start) - missing
                of_subjects.other[i] = facts.other[i]
                of_subjects.closer[i] = enrolled * closer
                of_subjects.tied[i] = enrolled * tied
                of_subjects.tied_before[i] = enrolled * before


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
