"""One tile of scores that serves two sides: its rows as probes, and its columns as probes.

Of a set compared with itself, each pair of tiles of templates is multiplied once. Its scores are
counted once, for both directions; the ranks, and the scores fused by subject, are those of the rows
and those of the columns. A tile has whole subjects on either side, in layers: the first template of
each subject, then the second of each that has one, and so on, the subjects with most templates
first. So the least score of each subject is found by comparing whole layers.

A tile on the diagonal has all mates of its templates. They are found first; where they were, and
in the columns that fill a tile up, is NaN, which is counted in the first cell and taken out again.
Distances have no sign, so that their bits are ordered as they are, and NaN comes last.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.argument_groups import VerificationTables
from bioeval.kernels.compiling import compiled
from bioeval.kernels.whole_rows import (
    add_pairs,
    add_powers,
    count_closer,
    count_part,
    find_cells,
    find_nearest,
    group_size,
    keep_flagged,
    sum_powers,
    take_back,
)


class TileSide(NamedTuple):
    """One side of a tile: its templates as probes, and their subjects as candidates.

    Bits are those of scores as integers in the same order; see :func:`order_keys`.
    """

    #: float (w,): the score of the best mate, infinity for none; and int (w,): its bits.
    best: np.ndarray
    best_key: np.ndarray
    #: int64 (w,): the place of the best mate in the gallery, and of each template.
    best_place: np.ndarray
    places: np.ndarray
    #: int64 (k,): how many subjects have a first template, a second, and so on; in a tile of whole
    #: rows, where the templates of each subject start, and their number.
    layers: np.ndarray
    #: int32 (w,), added to: others closer than the best mate, as close, and of those before it in
    #: the gallery; int (w,): the bits of the nearest, lowered.
    closer: np.ndarray
    tied: np.ndarray
    tied_before: np.ndarray
    other: np.ndarray
    #: The same among subjects, fused by the nearest.
    subjects_closer: np.ndarray
    subjects_tied: np.ndarray
    subjects_tied_before: np.ndarray


class TileKind(NamedTuple):
    """Which comparisons a tile holds."""

    both: bool  # whether it is counted for its columns too
    diagonal: bool  # whether rows and columns are the same templates
    gaps: bool  # whether some scores are NaN: of a probe and its own subject


class TileOutput(NamedTuple):
    """Findings about the impostor scores of tiles, and where those of this one are written."""

    single: VerificationTables
    multi: VerificationTables
    #: uint8 (cells,), or (0,): 1 for the cells whose scores are looked at one by one.
    single_cells: np.ndarray
    multi_cells: np.ndarray
    #: The number of the tile: its column of the moments. Whole rows have a column each, from there.
    number: Any
    least: np.ndarray  # int (tiles,), written: the bits of the least impostor score of each tile


class WholeRows(NamedTuple):
    """What is known of the rows of a tile that has whole rows, in the order of the gallery."""

    group: np.ndarray  # int64 (h,): the group of the own subject; -1 for none
    #: int32 (h,): how many scores of a row are NaN; and written, how many of the subjects' are.
    missing: np.ndarray
    subjects_missing: np.ndarray
    #: int (2,): bits of scores: those of subjects are above the first and at most the second, or
    #: the tile is not counted; (0,) for any.
    limits: np.ndarray
    signed: bool  # whether some score is negative, so that its bits are not in order


class KeyRange(NamedTuple):
    """Bits of scores as integers: of infinity, and the least and the largest; NaN is above."""

    infinity: Any
    least: Any
    largest: Any


# Scores among which one to be kept is looked for.
FEW = 16


@register_jitable
def order_keys(keys, largest):
    """Let the bits of floats be ordered as the floats are, zero without a sign; or undo it."""
    for j in range(len(keys)):
        keys[j] = keys[j] ^ largest if keys[j] < 0 else keys[j]


@register_jitable
def fuse_rows(keys, height, layers, fused, turn):
    """Write the least score of each subject of the columns, for each row; the largest if turned.

    `turn` (int) is 0, or -1, which turns the order of all integers around. NaN is the largest.
    """
    first = layers[0]
    for i in range(height):
        line = keys[i]
        nearest = fused[i * first : (i + 1) * first]
        for g in range(first):
            nearest[g] = line[g]
        start = first
        for k in range(1, len(layers)):
            size = layers[k]
            layer = line[start : start + size]
            for g in range(size):
                nearest[g] = layer[g] if layer[g] ^ turn < nearest[g] ^ turn else nearest[g]
            start += size


@register_jitable
def fuse_columns(keys, width, layers, fused, turn):
    """Write the least score of each subject of the rows, for each column, as :func:`fuse_rows`."""
    first = layers[0]
    for g in range(first):
        row = keys[g]
        nearest = fused[g * width : (g + 1) * width]
        for j in range(width):
            nearest[j] = row[j]
    start = first
    for k in range(1, len(layers)):
        for g in range(layers[k]):
            row = keys[start + g]
            nearest = fused[g * width : (g + 1) * width]
            for j in range(width):
                nearest[j] = row[j] if row[j] ^ turn < nearest[j] ^ turn else nearest[j]
        start += layers[k]


@register_jitable
def rank_rows(keys, width, side, infinity):
    """Add up for each row the scores closer than its best mate and those as close; find the least.

    Return the least of all rows.
    """
    least = infinity
    for i in range(len(side.best)):
        below, within, low = count_closer(keys[i, :width], side.best_key[i], infinity)
        side.closer[i] += below
        side.tied[i] += within - below
        side.other[i] = low if low < side.other[i] else side.other[i]
        least = low if low < least else least
    return least


@register_jitable
def rank_columns(keys, height, side):
    """Add up for each column the scores closer than its best mate, and those as close."""
    width = len(side.best)
    best = side.best_key
    closer = side.closer
    tied = side.tied
    whole = height - height % 4
    for i in range(0, whole, 4):
        a = keys[i]
        b = keys[i + 1]
        c = keys[i + 2]
        d = keys[i + 3]
        for j in range(width):
            t = best[j]
            closer[j] += np.int32(
                np.int32(np.int32(a[j] < t) + np.int32(b[j] < t))
                + np.int32(np.int32(c[j] < t) + np.int32(d[j] < t))
            )
            tied[j] += np.int32(
                np.int32(np.int32(a[j] == t) + np.int32(b[j] == t))
                + np.int32(np.int32(c[j] == t) + np.int32(d[j] == t))
            )
    for i in range(whole, height):
        a = keys[i]
        for j in range(width):
            closer[j] += np.int32(a[j] < best[j])
            tied[j] += np.int32(a[j] == best[j])


@register_jitable
def take_nearest(fused, subjects, side):
    """Find the least score of each column, from those of the subjects."""
    width = len(side.best)
    other = side.other
    for g in range(subjects):
        row = fused[g * width : (g + 1) * width]
        for j in range(width):
            other[j] = row[j] if row[j] < other[j] else other[j]


@register_jitable
def rank_subjects_of_rows(fused, subjects, side):
    """Add up for each row the subjects closer than its best mate, and those as close."""
    for i in range(len(side.best)):
        key = side.best_key[i]
        line = fused[i * subjects : (i + 1) * subjects]
        closer = np.int32(0)
        tied = np.int32(0)
        for g in range(subjects):
            closer = np.int32(closer + np.int32(line[g] < key))
            tied = np.int32(tied + np.int32(line[g] == key))
        side.subjects_closer[i] += closer
        side.subjects_tied[i] += tied


@register_jitable
def rank_subjects_of_columns(fused, subjects, side):
    """Add up for each column the subjects closer than its best mate, and those as close."""
    width = len(side.best)
    best = side.best_key
    closer = side.subjects_closer
    tied = side.subjects_tied
    for g in range(subjects):
        row = fused[g * width : (g + 1) * width]
        for j in range(width):
            closer[j] += np.int32(row[j] < best[j])
            tied[j] += np.int32(row[j] == best[j])


@register_jitable
def count_ties(line, side, p, candidates):
    """Count the ties of probe `p` before its best mate: of templates, and of subjects in layers.

    Return the number of templates.
    """
    key = side.best_key[p]
    place = side.best_place[p]
    places = candidates.places
    templates = np.int32(0)
    for q in range(len(places)):
        templates += np.int32((line[q] == key) & (places[q] < place))
    side.tied_before[p] += templates
    if templates == 0:
        return
    for g in range(candidates.layers[0]):
        low = np.int64(-1)  # the least score of the subject, and whether it comes before
        before = False
        start = 0
        for k in range(len(candidates.layers)):
            if g >= candidates.layers[k]:
                break
            q = start + g
            if low < 0 or line[q] < low:
                low = np.int64(line[q])
            before |= (line[q] == key) & (places[q] < place)
            start += candidates.layers[k]
        side.subjects_tied_before[p] += np.int32((low == key) & before)


@register_jitable
def count_ties_of_row(line, nearest, side, p, candidates):
    """Count as :func:`count_ties` in a whole row; `nearest` has the least score of each subject."""
    key = side.best_key[p]
    place = side.best_place[p]
    places = candidates.places
    templates = np.int32(0)
    for q in range(len(places)):
        templates += np.int32((line[q] == key) & (places[q] < place))
    side.tied_before[p] += templates
    if templates == 0:
        return
    starts = candidates.layers
    for g in range(len(nearest)):
        if nearest[g] != key:
            continue
        for q in range(starts[g], starts[g + 1]):
            if line[q] == key and places[q] < place:
                side.subjects_tied_before[p] += np.int32(1)
                break


@register_jitable
def extent_of(line, ends, low, high):
    """Return how many keys are of NaN, and the least and the largest of the others."""
    missing = np.int32(0)
    for j in range(len(line)):
        x = line[j]
        missing = np.int32(missing + np.int32(x > ends.infinity))
        low = x if x < low else low
        known = x if x <= ends.infinity else ends.least
        high = known if known > high else high
    return missing, low, high


@register_jitable
def gather_flagged(line, index, flags, few, many):
    """Write the scores in flagged cells; return their number. Pieces have none unless `many`."""
    filled = np.uint64(0)
    if many:
        for p in range(len(line)):
            few[filled] = line[p]
            filled += np.uint64(flags[index[p]])
        return filled
    whole = len(line) - len(line) % FEW
    for start in range(0, whole, FEW):
        cells = index[start : start + FEW]
        some = np.uint8(0)
        for j in range(FEW):
            some |= flags[cells[j]]
        if some == 0:
            continue
        part = line[start : start + FEW]
        for j in range(FEW):
            few[filled] = part[j]
            filled += np.uint64(flags[cells[j]])
    for p in range(whole, len(line)):
        few[filled] = line[p]
        filled += np.uint64(flags[index[p]])
    return filled


@register_jitable
def count_flat(scores, number, missing, tables, flags, tile, scratch, whole_rows):
    """Count the scores of a tile, `number` of them and `missing` NaN, and collect findings.

    Those in flagged cells are looked at one by one: they are kept, or paired with genuine scores.
    The moments of a tile of whole rows are left to :func:`sum_rows`.
    """
    counts, points = tables
    piece = scratch.cells.shape[1]
    with_moments = points.moments.shape[1] > 0 and not whole_rows
    origin = 0.0
    if with_moments:
        points.sums[0] = 0.0
        for p in range(len(scores)):
            if scores[p] == scores[p]:
                origin = np.float64(scores[p]) * points.scale
                break
    many = False
    few = scratch.line[0]
    for start in range(0, len(scores), piece):
        line = scores[start : start + piece]
        index = scratch.cells[0, : len(line)]
        find_cells(line, index, counts.window)
        count_part(line, index, counts, 0, scratch.marked[0])
        if len(flags) > 0:
            filled = gather_flagged(line, index, flags, few, many)
            many = 16 * filled > len(line)
            some = few[:filled]
            if len(points.flags) > 0:
                find_cells(some, index[:filled], counts.window)
                keep_flagged(some, index[:filled], points, 0)
            add_pairs(some, points, 0, scratch)
        if with_moments:
            add_powers(line, points.scale, origin, points.sums[0, 0], points.sums[0, 1])
    take_back(missing, counts, 0)
    if with_moments:
        total = 0.0
        square = 0.0
        for j in range(points.sums.shape[2]):
            total += points.sums[0, 0, j]
            square += points.sums[0, 1, j]
        points.moments[0, tile] = number
        points.moments[1, tile] = origin
        points.moments[2, tile] = total
        points.moments[3, tile] = square


@register_jitable
def count_nan(line):
    """Count the scores that are NaN."""
    missing = np.int64(0)
    for j in range(len(line)):
        missing += np.int64(line[j] != line[j])
    return missing


@register_jitable
def above_diagonal(tile, width, nan):
    """Write NaN where the other direction of a pair is in the tile as well."""
    for i in range(width):
        for j in range(i + 1):
            tile[i, j] = nan


@compiled
def count_tile(tile, keys, rows, columns, kind, wanted, output, fused, fused_keys, scratch, nan):
    """Count a tile for its rows, and for its columns if it serves them too.

    - `tile` (float (h', w'), overwritten on the diagonal): has h rows and w columns of scores, then
      NaN
    - `keys`: the same memory as integers, in the same order: no score has a sign
    - `rows`, `columns` (TileSide)
    - `fused` (float (2, c)), `fused_keys` (the same memory): room for fused scores
    """
    height = len(rows.best)
    width = len(columns.places)
    subjects = columns.layers[0]

    # The ranks of the rows and of the columns, and the nearest of each subject.
    # The least that was written before is infinity.
    output.least[output.number] = rank_rows(keys, width, rows, output.least[output.number])
    of_rows = height * subjects
    same = keys.dtype.type(0)
    fuse_rows(keys, height, columns.layers, fused_keys[0], same)
    if wanted.subject_ranks:
        rank_subjects_of_rows(fused_keys[0], subjects, rows)
    for i in range(height):
        if rows.tied[i] > 0:
            count_ties(keys[i], rows, i, columns)
    of_columns = 0
    if kind.both:
        of_columns = rows.layers[0] * width
        rank_columns(keys, height, columns)
        fuse_columns(keys, width, rows.layers, fused_keys[1], same)
        take_nearest(fused_keys[1], rows.layers[0], columns)
        if wanted.subject_ranks:
            rank_subjects_of_columns(fused_keys[1], rows.layers[0], columns)
        for j in range(width):
            if columns.tied[j] > 0:
                count_ties(keys[:height, j], columns, j, rows)

    if wanted.farthest:  # ranks are those of the nearest templates even so
        turned = keys.dtype.type(-1)
        fuse_rows(keys, height, columns.layers, fused_keys[0], turned)
        if kind.both:
            fuse_columns(keys, width, rows.layers, fused_keys[1], turned)

    # The scores of subjects, of both sides, and those of templates once.
    if wanted.multi:
        every = fused[0, :of_rows]
        if kind.both:
            both = fused.reshape(fused.size)
            for p in range(of_columns):
                both[of_rows + p] = fused[1, p]
            every = both[: of_rows + of_columns]
        missing = count_nan(every) if kind.gaps else np.int64(0)
        number = len(every) - missing
        flags = output.multi_cells
        count_flat(every, number, missing, output.multi, flags, output.number, scratch, False)
    if wanted.single:
        number = np.int64(height * width)
        every = tile[:height].reshape(height * tile.shape[1])
        if kind.diagonal:
            above_diagonal(tile, width, nan)
        if kind.gaps:
            number = len(every) - count_nan(every)
        missing = len(every) - number
        flags = output.single_cells
        count_flat(every, number, missing, output.single, flags, output.number, scratch, False)


@register_jitable
def sum_rows(scores, width, groups, starts, missing, points, first):
    """Write the moments of each row without its own group, in the columns from `first` on.

    Group ``g`` has the scores from ``starts[g]`` to ``starts[g + 1]``, of one score each if there
    are no starts.
    """
    if points.moments.shape[1] == 0:
        return
    for i in range(len(groups)):
        group = groups[i]
        start = max(group, 0)
        stop = group + 1
        if len(starts) > 0:
            stop = starts[group + 1] if group >= 0 else 0
            start = starts[group] if group >= 0 else 0
        line = scores[i * width : (i + 1) * width]
        sum_powers(line, start, stop, points, 0, first + i, width - missing[i])


@compiled
def count_rows(tile, keys, rows, columns, whole, wanted, output, fused, fused_keys, scratch, ends):
    """Count a tile of whole rows, in the order of the gallery; return whether it was counted.

    It is not, and nothing is, if a score of a subject is beyond the limits.

    - `tile` (float (h, n)): the scores, NaN where there is no impostor score
    - `keys`: the same memory as integers, in the same order; another where some score has a sign
    - `rows`, `columns` (TileSide): the layers of the columns are where each subject starts
    - `whole` (WholeRows)
    - `fused` (float (1, c)), `fused_keys` (the same memory): room for the scores of subjects
    - `ends` (KeyRange)
    """
    height = len(rows.best)
    width = len(columns.places)
    starts = columns.layers
    subjects = len(starts) - 1
    size = group_size(starts)
    of_subjects = fused_keys.reshape(fused_keys.size)
    fuses = wanted.multi or wanted.subject_ranks
    limits = whole.limits

    if fuses:
        low = ends.infinity
        high = ends.least
        for i in range(height):
            nearest = of_subjects[i * subjects : (i + 1) * subjects]
            find_nearest(keys[i], starts, size, nearest)
            missing, low, high = extent_of(nearest, ends, low, high)
            whole.subjects_missing[i] = missing
        if len(limits) > 0 and (low <= limits[0] or high > limits[1]):
            return False

    rank_rows(keys, width, rows, ends.infinity)
    if wanted.subject_ranks:
        rank_subjects_of_rows(of_subjects, subjects, rows)
    for i in range(height):
        if rows.tied[i] > 0:
            nearest = of_subjects[i * subjects : (i + 1) * subjects] if fuses else of_subjects[:0]
            count_ties_of_row(keys[i], nearest, rows, i, columns)

    if wanted.multi:
        every_key = of_subjects[: height * subjects]
        if whole.signed:
            order_keys(every_key, ends.largest)
        every = fused.reshape(fused.size)[: height * subjects]
        missing = whole.subjects_missing.sum()
        flags = output.multi_cells
        count_flat(every, 0, missing, output.multi, flags, output.number, scratch, True)
        points = output.multi.points
        sum_rows(
            every, subjects, whole.group, starts[:0], whole.subjects_missing, points, output.number
        )
    if wanted.single:
        every = tile.reshape(tile.size)
        missing = whole.missing.sum()
        flags = output.single_cells
        count_flat(every, 0, missing, output.single, flags, output.number, scratch, True)
        points = output.single.points
        sum_rows(every, width, whole.group, starts, whole.missing, points, output.number)
    return True


class Mates(NamedTuple):
    """What is known of the mates of some probes."""

    offsets: np.ndarray  # int64 (h,): the genuine scores of each are written from there on
    genuine: np.ndarray  # float: written
    best: np.ndarray  # float (h,), written: the score of the best mate; infinity for none
    #: int64 (h,), written: its place in the gallery, how many mates are as close, and how many
    #: there are.
    best_place: np.ndarray
    tied: np.ndarray
    number: np.ndarray


@register_jitable
def copy_row(row, gallery, matrix, line):
    """Write a row in the order of the gallery, similarities as distances; no zero has a sign."""
    order = gallery.order
    sign = matrix.sign
    zero = matrix.zero
    nan = matrix.nan
    if gallery.gathered:
        for p in range(len(line)):
            x = row[order[p]] * sign + zero
            line[p] = x if x == x else nan
    else:
        for p in range(len(line)):
            x = row[p] * sign + zero
            line[p] = x if x == x else nan


@register_jitable
def leave_out(line, mask, matrix):
    """Write NaN where a mask is 0; return how many other cells are refused."""
    refused = np.int32(0)
    for p in range(len(line)):
        x = line[p]
        wrong = (mask[p] != 1) | (matrix.strict & (x != x))
        refused += np.int32((mask[p] != 0) & wrong)
        line[p] = x if mask[p] != 0 else matrix.nan
    return refused


@register_jitable
def take_mates_of_row(line, mask, gallery, matrix, start, stop, itself, mates, i):
    """Write down the mates of row `i`, and NaN and a mask of 0 in their place.

    The mask may have no cells. The probe itself is never refused. Return how many cells are.
    """
    masked = len(mask) > 0
    refused = np.int32(0)
    filled = mates.offsets[i]
    number = np.int64(0)
    for p in range(start, stop):
        x = line[p]
        line[p] = matrix.nan
        there = True
        if masked:
            there = mask[p] != 0
            refused += np.int32(there and p != itself and mask[p] != matrix.genuine)
            mask[p] = 0
        if p == itself or not there:
            continue
        if x != x:
            refused += np.int32(matrix.strict)
            continue
        mates.genuine[filled + number] = x
        place = gallery.places[p]
        if number == 0 or x < mates.best[i]:
            mates.best[i] = x
            mates.best_place[i] = place
            mates.tied[i] = 1
        elif x == mates.best[i]:
            mates.tied[i] += 1
            mates.best_place[i] = min(mates.best_place[i], place)
        number += 1
    mates.number[i] = number
    return refused


@compiled
def arrange_rows(first, last, matrix, gallery, probes, found, tile, keys, ordered, mask, ends):
    """Write the rows ``first:last`` of a matrix as a tile, and what is found of their mates.

    Return how many cells are refused, and the bits of the least and of the largest score.

    - `found` (a pair of Mates and int32 (b,), written): the mates of each row, and how many scores
      are NaN

    - `tile` (float (h, n), written), `keys` (the same memory)
    - `ordered` (int (h, n)): the keys in the order of the scores, written if the least has a sign
    - `mask` (uint8 (n,)): room for a row
    """
    raw = matrix.raw
    masked = len(raw.mask) > 0
    row_mask = mask if masked else mask[:0]
    mates, missing = found
    refused = np.int64(0)
    low = ends.infinity
    high = ends.least
    for i in range(first, last):
        line = tile[i - first]
        copy_row(raw.values[raw.rows[i]], gallery, matrix, line)
        if masked:
            cells = raw.mask[raw.mask_rows[i]]
            for p in range(len(line)):
                row_mask[p] = cells[gallery.order[p]] if gallery.gathered else cells[p]
        group = probes.group[i]
        start = gallery.starts[group] if group >= 0 else 0
        stop = gallery.starts[group + 1] if group >= 0 else 0
        itself = probes.probe_position[i]
        refused += take_mates_of_row(line, row_mask, gallery, matrix, start, stop, itself, mates, i)
        if masked:
            refused += leave_out(line, row_mask, matrix)
        missing[i], low, high = extent_of(keys[i - first], ends, low, high)
        if matrix.strict and not masked:
            refused += missing[i] - (stop - start)
    if low < 0:  # those with a sign are ordered the other way round
        low = ends.infinity
        high = ends.least
        for i in range(last - first):
            for p in range(keys.shape[1]):
                ordered[i, p] = keys[i, p]
            order_keys(ordered[i], ends.largest)
            _, low, high = extent_of(ordered[i], ends, low, high)
    return refused, low, high


@compiled
def fuse_tile(keys, height, width, layers, fused_keys, turn):
    """Fuse the scores of a tile by the subjects of its columns, and of its rows if these have some.

    - `keys` (int (h', w')): bits of scores, of h rows and w columns
    - `layers` (a pair of int64 arrays): the layers of the rows, or (0,) for none; of the columns
    - `fused_keys` (int (2, c), written): see :func:`fuse_rows` and :func:`fuse_columns`
    """
    fuse_rows(keys, height, layers[1], fused_keys[0], turn)
    if len(layers[0]) > 0:
        fuse_columns(keys, width, layers[0], fused_keys[1], turn)


@compiled
def take_mates(tile, of_rows, of_columns, places, itself, same, mates):
    """Write down the mates of the rows of a tile.

    - `of_rows` (int64 (h,)), `of_columns` (int64 (w,)): the subjects
    - `places` (int64 (w,)): the place of each column in the gallery
    - `itself` (int64 (h,)): the column of the probe itself; -1 for none
    - `same` (a pair of int64 (c, h), (c, w)): templates of one subject with an equal code are no
      mates
    - `mates` (Mates)
    """
    for i in range(len(of_rows)):
        filled = 0
        same_best = 0
        least = np.inf
        place = 0
        for j in range(len(of_columns)):
            if of_columns[j] != of_rows[i] or j == itself[i]:
                continue
            x = tile[i, j]
            left_out = False
            for c in range(len(same[0])):
                left_out |= same[0][c, i] == same[1][c, j]
            if left_out:
                continue
            mates.genuine[mates.offsets[i] + filled] = x
            if filled == 0 or x < least:
                least = x
                same_best = 1
                place = places[j]
            elif x == least:
                same_best += 1
                place = min(place, places[j])
            filled += 1
        if filled > 0:
            mates.best[i] = least
            mates.best_place[i] = place
            mates.tied[i] = same_best
            mates.number[i] = filled


@compiled
def leave_out_subjects(tile, of_rows, of_columns, nan, mirrored):
    """Write NaN for pairs of one subject; first copy the part above the diagonal if `mirrored`."""
    if mirrored:
        for i in range(len(of_rows)):
            for j in range(i):
                tile[i, j] = tile[j, i]
    for i in range(len(of_rows)):
        for j in range(len(of_columns)):
            if of_columns[j] == of_rows[i]:
                tile[i, j] = nan
