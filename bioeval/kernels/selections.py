"""Many selections of one matrix, counted in one call: attempts in order, ranks, operating points.

Scores are their places among the distinct scores of the matrix, counted from the closest: whole
numbers, which are sorted by their digits, whatever the dtype of the scores was. The number of
distinct scores stands for a score that is not there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.compiling import compiled

#: So few numbers are put in order one by one.
FEW = 48

#: What is counted of each selection, by its column.
COUNTED = (
    "genuine", "impostor", "subjects_genuine", "subjects_impostor", "mated", "searches", "hits",
    "open_tied", "enrolled", "unmated", "groups", "probe_subjects", "enrolled_subjects", "longest",
    "closed_tied", "failed", "role",
)  # fmt: skip

#: The columns themselves, in the order of their names.
(
    GENUINE, IMPOSTOR, SUBJECTS_GENUINE, SUBJECTS_IMPOSTOR, MATED, SEARCHES, HITS,
    OPEN_TIED, ENROLLED, UNMATED, GROUPS, PROBE_SUBJECTS, ENROLLED_SUBJECTS, LONGEST,
    CLOSED_TIED, FAILED, ROLE,
) = range(len(COUNTED))  # fmt: skip

#: Columns of the equal error of each selection.
EER, FAR, FRR, BRACKET_LOW, BRACKET_HIGH = range(5)

#: Impostor probes of open set, as numbers: chosen by enrolment, or one of the roles.
AUTO, UNENROLLED, LEAVE_OUT, BOTH = 0, 1, 2, 3


class RankedMatrix(NamedTuple):
    """Scores as places among the distinct ones, with the templates of both sides."""

    places: np.ndarray  # int32 (m, n)
    missing: Any  # the number of distinct scores: the place of a comparison that is no attempt
    #: int64 (m,) and (n,): subject codes.
    probe: np.ndarray
    gallery: np.ndarray
    #: int64 (m,) and (n,): templates, as numbers from 0.
    probe_ids: np.ndarray
    gallery_ids: np.ndarray


class Selections(NamedTuple):
    """Rows and columns of each selection, side by side."""

    #: `rows`, `columns`: int64.
    rows: np.ndarray
    #: `row_starts`, `column_starts`: int64 (k + 1,).
    row_starts: np.ndarray
    columns: np.ndarray
    column_starts: np.ndarray
    cells: np.ndarray  # int64 (k + 1,): where the cells of each selection begin


class SearchRules(NamedTuple):
    """Rules of identification: of open set, then of closed set."""

    #: Whether ranks are among subjects, and whether tied non-mates rank before the mate.
    by_subject: Any
    ties_first: Any
    impostors: Any  # the impostor probes, `AUTO` to `BOTH`
    square: bool  # whether all probes are templates of the gallery
    ranks: np.ndarray  # int64: at which CMS is counted


class SelectionOutput(NamedTuple):
    """Findings of each selection."""

    counts: np.ndarray  # int64 (k, len(COUNTED))
    ranked: np.ndarray  # int64 (k, r), added to: mated probes at each rank or better
    #: int32 (cells,): genuine scores from the front of each selection on, and impostor scores up to
    #: its end, each increasing.
    single: np.ndarray
    multi: np.ndarray
    #: int32 (2 rows,): the same of open set: best mates at rank 1, and nearest non-mates of
    #: impostor probes.
    searches: np.ndarray
    #: int32 (cells,): rows in the order of the gallery, and the nearest template of each subject.
    lines: np.ndarray
    nearest: np.ndarray
    #: int64 (rows,): where each row's own subject starts and stops, and its place among the
    #: subjects, or -1.
    start: np.ndarray
    stop: np.ndarray
    probe_group: np.ndarray
    #: int32 (rows,): nearest mate and nearest non-mate.
    best: np.ndarray
    other: np.ndarray
    #: int64 (2, rows): rank of the nearest mate, of open set and of closed set; 0 without one.
    place: np.ndarray


class AttemptLists(NamedTuple):
    """Increasing genuine and impostor scores of each selection, in one array."""

    places: np.ndarray  # int32
    #: int64 (k, 2): start and stop of each.
    genuine: np.ndarray
    impostor: np.ndarray
    missed: np.ndarray  # int64 (k,): genuine attempts that no threshold accepts


class PointOutput(NamedTuple):
    """Operating points of each selection; thresholds are places, -1 for reject-all."""

    #: float64 (k, 5): EER, FAR and FRR at its threshold, and the bracket; left as they are where
    #: not defined.
    equal_error: np.ndarray
    equal_error_place: np.ndarray  # int64 (k,)
    #: int64 (k, t): genuine attempts accepted at the loosest threshold of each number of errors
    #: allowed.
    accepted: np.ndarray
    places: np.ndarray
    pairs: np.ndarray  # int64 (k,): twice the ordered pairs, ties once
    zero_frr: np.ndarray  # int64 (k,): false accepts at the last genuine score
    #: int64 (3, c): place, false accepts and false rejects of reject-all and at each distinct
    #: genuine score.
    corners: np.ndarray
    corner_starts: np.ndarray  # int64 (k + 1,)


@register_jitable
def sort_places(values, spare, half, digits):
    """Sort whole numbers by their lower and then their upper digit, each of `half` the bits.

    `spare` has space for them, and `digits`, of shape (2, 1 << half), for counts.
    """
    n = len(values)
    if n <= FEW:
        for i in range(1, n):
            x = values[i]
            j = i
            while j > 0 and values[j - 1] > x:
                values[j] = values[j - 1]
                j -= 1
            values[j] = x
        return
    one = np.uint32(1)
    mask = (one << half) - one
    lower = digits[0]
    upper = digits[1]
    for d in range(len(lower)):
        lower[d] = 0
        upper[d] = 0
    for i in range(n):
        x = np.uint32(values[i])
        lower[x & mask] += one
        upper[x >> half] += one
    before = np.uint32(0)
    above = np.uint32(0)
    for d in range(len(lower)):
        number = lower[d]
        lower[d] = before
        before += number
        number = upper[d]
        upper[d] = above
        above += number
    for i in range(n):
        d = np.uint32(values[i]) & mask
        spare[lower[d]] = values[i]
        lower[d] += one
    for i in range(n):
        d = np.uint32(spare[i]) >> half
        values[upper[d]] = spare[i]
        upper[d] += one


@register_jitable
def arrange_gallery(matrix, columns, group, position, order, starts):
    """Put the templates of a subject side by side, subjects by their first; return their number."""
    groups = 0
    starts[0] = 0
    for j in columns:
        code = matrix.gallery[j]
        if group[code] < 0:
            group[code] = groups
            groups += 1
            starts[groups] = 0
        starts[group[code] + 1] += 1
    for g in range(groups):
        starts[g + 1] += starts[g]
    for j in columns:
        g = group[matrix.gallery[j]]
        order[starts[g]] = j
        position[matrix.gallery_ids[j]] = starts[g]
        starts[g] += 1
    for g in range(groups, 0, -1):
        starts[g] = starts[g - 1]
    starts[0] = 0
    return groups


@register_jitable
def is_impostor(enrolled, role):
    """Whether a probe makes an impostor attempt of open set."""
    return role == BOTH or enrolled == (role == LEAVE_OUT)


@register_jitable
def place_probes(matrix, rows, group, seen, probe_group, counts):
    """Find the own subject of each probe, and count subjects."""
    enrolled = 0
    for i in range(len(rows)):
        code = matrix.probe[rows[i]]
        probe_group[i] = group[code]
        enrolled += probe_group[i] >= 0
        if not seen[code]:
            seen[code] = True
            counts[PROBE_SUBJECTS] += 1
            counts[ENROLLED_SUBJECTS] += probe_group[i] >= 0
    for r in rows:
        seen[matrix.probe[r]] = False
    counts[ENROLLED] = enrolled


@register_jitable
def take_mates(line, start, stop, missing, into, filled):
    """Append the genuine scores of a row; return the best, how many there are, and their end."""
    best = missing
    mates = np.int32(0)
    for p in range(start, stop):
        x = line[p]
        if x < missing:
            into[filled] = x
            filled += 1
            mates += np.int32(1)
            best = x if x < best else best
    return best, mates, filled


@register_jitable
def take_impostors(part, best, missing, into, end, low):
    """Put impostor scores before an end; return the new end and the numbers closer, tied, there."""
    closer = np.int32(0)
    tied = np.int32(0)
    there = np.int32(0)
    for p in range(len(part)):
        x = part[p]
        closer += np.int32(x < best)
        tied += np.int32(x == best)
        there += np.int32(x < missing)
        low = x if x < low else low
    begin = end - there
    if there == len(part):
        target = into[begin:end]
        for p in range(len(part)):
            target[p] = part[p]
    else:
        for x in part:
            if x < missing:
                end -= 1
                into[end] = x
    return begin, closer, tied, there, low


@register_jitable
def fuse_nearest_places(line, starts, groups, nearest):
    """Write the nearest template of each subject."""
    for g in range(groups):
        part = line[starts[g] : starts[g + 1]]
        least = part[0]
        for p in range(1, len(part)):
            least = part[p] if part[p] < least else least
        nearest[g] = least


class SelectionScratch(NamedTuple):
    """Memory for the subjects, the templates and the places of one selection.

    It is made outside the kernel, since calls that make arrays take seconds to compile.
    """

    #: `group`, `position`: int64 of -1: for the codes of the subjects and the numbers of the
    #: templates.
    group: np.ndarray
    seen: np.ndarray  # bool of False: for the codes of the subjects
    position: np.ndarray
    #: uint32 (n,), and int64 (n + 2,): for the columns.
    order: np.ndarray
    starts: np.ndarray
    spare: np.ndarray  # int32: for the cells, or twice the rows
    #: uint32 (2, 1 << h): for the counts of digits of `h` bits, half of those of the places.
    digits: np.ndarray
    #: int64 (3,): ends of the lists of single, multi and searches.
    front: np.ndarray
    back: np.ndarray

    @classmethod
    def for_any(cls, matrix: RankedMatrix, chosen: Selections) -> SelectionScratch:
        """Return memory for the largest of some selections."""
        rows, columns, cells = (
            int(np.diff(x).max(initial=0))
            for x in (chosen.row_starts, chosen.column_starts, chosen.cells)
        )
        codes, templates = (
            1 + int(max(x.max(initial=0), y.max(initial=0)))
            for x, y in ((matrix.probe, matrix.gallery), (matrix.probe_ids, matrix.gallery_ids))
        )
        half = (max(int(matrix.missing).bit_length(), 1) + 1) // 2
        return cls(
            group=np.full(codes, -1, dtype=np.int64),
            seen=np.zeros(codes, dtype=np.bool_),
            position=np.full(templates, -1, dtype=np.int64),
            order=np.empty(columns, dtype=np.uint32),
            starts=np.empty(columns + 2, dtype=np.int64),
            spare=np.empty(max(cells, 2 * rows, 1), dtype=np.int32),
            digits=np.empty((2, 1 << half), dtype=np.uint32),
            front=np.zeros(3, dtype=np.int64),
            back=np.zeros(3, dtype=np.int64),
        )


@register_jitable
def count_row(line, starts, groups, probe_group, missing, ends, lists, nearest):
    """Take the attempts of a row; return what its searches find.

    These are: the best mate, the number of mates, the nearest other, and, among templates and
    among subjects, how many others are closer than the best mate, tied with it, and there.
    """
    single, multi = lists
    front, back = ends
    start = starts[probe_group] if probe_group >= 0 else 0
    stop = starts[probe_group + 1] if probe_group >= 0 else 0
    best, mates, front[0] = take_mates(line, start, stop, missing, single, front[0])
    end, closer0, tied0, there0, low = take_impostors(
        line[:start], best, missing, single, back[0], missing
    )
    back[0], closer1, tied1, there1, low = take_impostors(
        line[stop:], best, missing, single, end, low
    )
    templates = (closer0 + closer1, tied0 + tied1, there0 + there1)
    fuse_nearest_places(line, starts, groups, nearest)
    if mates > 0:
        multi[front[1]] = best
        front[1] += 1
    end, closer0, tied0, there0, low = take_impostors(
        nearest[: max(probe_group, 0)], best, missing, multi, back[1], low
    )
    back[1], closer1, tied1, there1, low = take_impostors(
        nearest[probe_group + 1 :], best, missing, multi, end, low
    )
    return best, mates, low, templates, (closer0 + closer1, tied0 + tied1, there0 + there1)


@register_jitable
def count_selection(matrix, chosen, rules, output, scratch, k):
    """Take the attempts of a selection, not yet in order, between the ends in `scratch`."""
    missing = np.int32(matrix.missing)
    first = chosen.row_starts[k]
    rows = chosen.rows[first : chosen.row_starts[k + 1]]
    columns = chosen.columns[chosen.column_starts[k] : chosen.column_starts[k + 1]]
    m = len(rows)
    n = len(columns)
    cells = slice(chosen.cells[k], chosen.cells[k + 1])
    lists = output.single[cells], output.multi[cells]
    searches = output.searches[2 * first : 2 * chosen.row_starts[k + 1]]
    counts = output.counts[k]
    probe_group = output.probe_group[first : chosen.row_starts[k + 1]]
    starts = scratch.starts
    groups = arrange_gallery(
        matrix, columns, scratch.group, scratch.position, scratch.order, starts
    )
    place_probes(matrix, rows, scratch.group, scratch.seen, probe_group, counts)
    role = rules.impostors
    if role == AUTO or rules.square:
        role = LEAVE_OUT if counts[ENROLLED] == m else (BOTH if rules.square else UNENROLLED)
    front = scratch.front
    back = scratch.back
    for task in range(3):
        front[task] = 0
        back[task] = m * n if task < 2 else 2 * m
    for i in range(m):
        row = matrix.places[rows[i]]
        line = output.lines[cells][i * n : (i + 1) * n]
        for p in range(n):
            line[p] = row[scratch.order[p]]
        position = scratch.position[matrix.probe_ids[rows[i]]]
        if position >= 0:
            line[position] = missing
        output.start[first + i] = starts[probe_group[i]] if probe_group[i] >= 0 else 0
        output.stop[first + i] = starts[probe_group[i] + 1] if probe_group[i] >= 0 else 0
        nearest = output.nearest[cells][i * groups : (i + 1) * groups]
        best, mates, low, templates, subjects = count_row(
            line, starts, groups, probe_group[i], missing, (front, back), lists, nearest
        )
        non_mates = templates[2]
        output.best[first + i] = best
        output.other[first + i] = low
        counts[FAILED] += n - (position >= 0) - mates - non_mates
        if non_mates > 0 and is_impostor(probe_group[i] >= 0, role):
            back[2] -= 1
            searches[back[2]] = low
        counts[UNMATED] += probe_group[i] >= 0 and mates == 0
        listed = min(mates, 1) + subjects[2] if rules.by_subject[1] else mates + non_mates
        counts[LONGEST] = max(counts[LONGEST], listed)
        if mates == 0:
            continue
        counts[MATED] += 1
        for task in range(2):
            closer, tied, _ = subjects if rules.by_subject[task] else templates
            rank = 1 + closer + (tied if rules.ties_first[task] else 0)
            output.place[task, first + i] = rank
            counts[OPEN_TIED if task == 0 else CLOSED_TIED] += tied > 0
            if task == 0 and rank == 1:
                searches[front[2]] = best
                front[2] += 1
            if task == 1:
                for t in range(len(rules.ranks)):
                    output.ranked[k, t] += rank <= rules.ranks[t]
    counts[GROUPS] = groups
    counts[ROLE] = role
    for j in columns:
        scratch.group[matrix.gallery[j]] = -1
        scratch.position[matrix.gallery_ids[j]] = -1


@compiled
def count_selections(matrix, chosen, rules, output, scratch):
    """Order the attempts of each selection, and count its searches."""
    half = np.uint32(0)
    while scratch.digits.shape[1] >> half > 1:
        half += np.uint32(1)
    front = scratch.front
    back = scratch.back
    for k in range(len(chosen.cells) - 1):
        count_selection(matrix, chosen, rules, output, scratch, k)
        cells = slice(chosen.cells[k], chosen.cells[k + 1])
        by_task = (
            output.single[cells],
            output.multi[cells],
            output.searches[2 * chosen.row_starts[k] : 2 * chosen.row_starts[k + 1]],
        )
        places = ((GENUINE, IMPOSTOR), (SUBJECTS_GENUINE, SUBJECTS_IMPOSTOR), (HITS, SEARCHES))
        for task in range(3):
            attempts = by_task[task]
            sort_places(attempts[: front[task]], scratch.spare, half, scratch.digits)
            sort_places(attempts[back[task] :], scratch.spare, half, scratch.digits)
            output.counts[k, places[task][0]] = front[task]
            output.counts[k, places[task][1]] = len(attempts) - back[task]


@register_jitable
def find_equal_error(genuine, impostor, attempts, points, k):
    """Find the two points between which FAR and FRR cross; nothing where they do not."""
    impostors = len(impostor)
    a = 0
    b = 0
    zero = -1
    fa0 = 0
    fr0 = attempts
    while a < len(genuine) or b < impostors:
        one = np.int64(genuine[a]) if a < len(genuine) else np.int64(impostor[b])
        if b < impostors:
            one = min(one, np.int64(impostor[b]))
        while a < len(genuine) and genuine[a] == one:
            a += 1
        while b < impostors and impostor[b] == one:
            b += 1
        fr1 = attempts - a
        if b * attempts >= fr1 * impostors:
            f0 = fa0 / impostors
            r0 = fr0 / attempts
            f1 = b / impostors
            r1 = fr1 / attempts
            weight = (r0 - f0) / ((f1 - f0) - (r1 - r0))
            # Compared as integers over a common denominator, so that ties are exact.
            a0 = fa0 * attempts
            b0 = fr0 * impostors
            a1 = b * attempts
            b1 = fr1 * impostors
            stricter = max(a0, b0) <= max(a1, b1)
            looser_side = a1 == b1 or a1 + b1 <= a0 + b0
            points.equal_error[k, EER] = f0 + weight * (f1 - f0)
            points.equal_error[k, FAR] = f0 if stricter else f1
            points.equal_error[k, FRR] = r0 if stricter else r1
            points.equal_error[k, BRACKET_LOW] = min(f1, r1) if looser_side else min(f0, r0)
            points.equal_error[k, BRACKET_HIGH] = max(f1, r1) if looser_side else max(f0, r0)
            points.equal_error_place[k] = zero if stricter else one
            return
        zero = one
        fa0 = b
        fr0 = fr1


@register_jitable
def number_below(ordered, x):
    """Return the number of increasing values below one."""
    low = 0
    high = len(ordered)
    while low < high:
        middle = (low + high) >> 1
        if ordered[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@register_jitable
def find_corners(genuine, impostor, points, k):
    """Write the points at genuine scores, and count the ordered pairs."""
    at = points.corner_starts[k]
    points.corners[0, at] = -1
    points.corners[1, at] = 0
    points.corners[2, at] = len(genuine)
    pairs = 0
    a = 0
    b = 0
    while a < len(genuine):
        first = a
        x = genuine[a]
        while a < len(genuine) and genuine[a] == x:
            a += 1
        while b < len(impostor) and impostor[b] < x:
            b += 1
        below = b
        while b < len(impostor) and impostor[b] == x:
            b += 1
        pairs += (a - first) * (2 * len(impostor) - below - b)
        at += 1
        points.corners[0, at] = x
        points.corners[1, at] = b
        points.corners[2, at] = len(genuine) - a
    points.corner_starts[k + 1] = at + 1
    points.pairs[k] = pairs


@compiled
def find_points(lists, allowed, cornered, points):
    """Find the operating points of each selection that has attempts of both classes.

    `allowed` (int64, shape (k, t)) are numbers of false accepts. The first `cornered` lists have
    corners.
    """
    for k in range(len(lists.missed)):
        genuine = lists.places[lists.genuine[k, 0] : lists.genuine[k, 1]]
        impostor = lists.places[lists.impostor[k, 0] : lists.impostor[k, 1]]
        attempts = len(genuine) + lists.missed[k]
        points.corner_starts[k + 1] = points.corner_starts[k]
        if attempts == 0 or len(impostor) == 0:
            continue
        find_equal_error(genuine, impostor, attempts, points, k)
        for t in range(allowed.shape[1]):
            i = len(impostor)
            g = len(genuine)
            if allowed[k, t] < i:
                past = impostor[allowed[k, t]]
                i = number_below(impostor, past)
                g = number_below(genuine, past)
            place = np.int64(-1)
            if i > 0:
                place = max(place, np.int64(impostor[i - 1]))
            if g > 0:
                place = max(place, np.int64(genuine[g - 1]))
            points.accepted[k, t] = g
            points.places[k, t] = place
        if len(genuine) > 0:
            points.zero_frr[k] = number_below(impostor, genuine[-1] + 1)
        if k < cornered:
            find_corners(genuine, impostor, points, k)
