"""Multi-template claims: in each row, the distances of a subject's templates fused into one."""

import numpy as np

from bioeval.kernels.compiling import called_by_loops, compiled, parallel_rows

# Rules of fusion; a positive number k is the rule of the k-th smallest distance.
MEDIAN, MEAN, WORST = 0, -1, -2

# From this magnitude on, a sum may overflow.
HUGE = 2.0**960

# The power of two by which such values are multiplied.
SHRUNK = 2.0**-64


@called_by_loops
def sort(values):
    """Sort a few values (Shell's sort; numpy's takes a second to compile)."""
    n = len(values)
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            value = values[i]
            j = i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 3


@called_by_loops
def rounded_sum(values, count):
    """Return the exact sum of finite values, rounded once; their array is overwritten.

    Shewchuk, Adaptive precision floating-point arithmetic (1997), as in ``math.fsum``: the exact
    sum is kept as partial sums without common digits, the smallest first. They are written to the
    start of the array, never beyond what has been read.
    """
    parts = 0
    for k in range(count):
        x = values[k]
        kept = 0
        for j in range(parts):
            y = values[j]
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low != 0.0:
                values[kept] = low
                kept += 1
            x = high
        values[kept] = x
        parts = kept + 1
    total = 0.0
    low = 0.0
    while parts > 0 and low == 0.0:
        parts -= 1
        x = total
        total = x + values[parts]
        low = values[parts] - (total - x)
    # Exactly between two numbers, the next smaller part decides which of them is nearer.
    if parts > 0 and ((low < 0.0 and values[parts - 1] < 0.0) or (low > 0.0 < values[parts - 1])):
        other = total + 2.0 * low
        if other - total == 2.0 * low:
            total = other
    return total


@called_by_loops
def mean_of(values, count):
    """Return the exact sum of the first `count` values, rounded once, divided by their number.

    It is NaN if undefined, and does not depend on the order of the values. Most sums are exact as
    two numbers: the running sum, and the sum of its rounding errors. Otherwise the array is
    overwritten.
    """
    total = 0.0
    errors = 0.0
    exact = True
    for k in range(count):
        x = values[k]
        after = total + x
        change = after - total
        error = (total - (after - change)) + (x - change)
        total = after
        after = errors + error
        change = after - errors
        exact &= (errors - (after - change)) + (error - change) == 0.0  # not if NaN, by overflow
        errors = after
    if exact:
        return (total + errors) / count
    largest = 0.0
    total = 0.0
    for k in range(count):
        largest = max(largest, abs(values[k]))
        total += values[k]
    if largest == np.inf:
        return total
    if largest < HUGE:
        return rounded_sum(values, count) / count
    for k in range(count):
        values[k] *= SHRUNK
    return rounded_sum(values, count) / count / SHRUNK


@parallel_rows("block")
def fuse_groups(begin, end, block, starts, rule, fused):
    """Fuse the templates of each group by the `rule`-th smallest distance, or their mean.

    ::

        for i in rows:
            for g in groups:
                x = [block[i, p] for p in templates of g if not NaN]
                fused[i, g] = sorted(x)[rule - 1]  # or their mean, median, or largest

    The mean is :func:`mean_of`. Infinities of both signs have no mean: the result is then +inf,
    which no finite threshold accepts. The median of an even number is the mean of the two in the
    middle. A group of fewer than `rule` templates is no attempt.

    - `block` (float (b, n)): distances; NaN = no attempt
    - `starts` (int64 (groups + 1,)): group ``g`` has the columns ``starts[g]:starts[g + 1]``
    - `rule`: int; K of ``"kth:K"``, or one of `MEDIAN`, `MEAN` and `WORST`
    - `fused` (float (b, groups), written): NaN without an attempt
    """
    groups = len(starts) - 1
    largest = 0
    for g in range(groups):
        largest = max(largest, starts[g + 1] - starts[g])
    usable = np.empty(largest, dtype=np.float64)
    for i in range(begin, end):
        row = block[i]
        for g in range(groups):
            count = 0
            nearest = np.inf
            farthest = -np.inf
            for p in range(starts[g], starts[g + 1]):
                x = np.float64(row[p])
                if x != x:
                    continue
                usable[count] = x
                count += 1
                farthest = max(farthest, x)
                nearest = min(nearest, x)
            if count == 0 or count < rule:
                fused[i, g] = np.nan
            elif rule == 1:
                fused[i, g] = nearest
            elif rule == WORST:
                fused[i, g] = farthest
            elif rule == MEAN:
                mean = mean_of(usable, count)
                fused[i, g] = mean if mean == mean else np.inf
            else:
                sort(usable[:count])
                if rule > 0:
                    fused[i, g] = usable[rule - 1]
                else:
                    low = usable[(count - 1) // 2]
                    high = usable[count // 2]
                    middle = low if low == high else 0.5 * low + 0.5 * high
                    fused[i, g] = middle if middle == middle else np.inf


def _least_of(size):
    """Return a loop for groups of one size, which the compiler makes fast."""

    def least_of(row, nearest):
        for g in range(len(nearest)):
            templates = row[g * size : (g + 1) * size]
            least = templates[0]
            for p in range(1, size):
                least = templates[p] if templates[p] < least else least
            nearest[g] = least

    # Numba tells compiled functions apart by their qualified name and a number that another process
    # may give, too: of two loops of one name in its cache, one would be run in place of the other.
    least_of.__qualname__ = f"least_of_{size}"
    return called_by_loops(least_of)


least_of_4 = _least_of(4)
least_of_5 = _least_of(5)
least_of_10 = _least_of(10)


@called_by_loops
def least_of_scores(templates):
    """Return the least of the scores that are not NaN; NaN if all are NaN."""
    least = np.nan
    for p in range(len(templates)):
        if templates[p] < least or least != least:
            least = templates[p]
    return least


@parallel_rows("block")
def fuse_nearest(begin, end, block, starts, fused):
    """Write each subject's smallest distance; NaN without an attempt.

    ::

        for i in rows:
            for g in groups:
                fused[i, g] = min(block[i, p] for p in templates of g if not NaN)
    """
    groups = len(starts) - 1
    size = starts[1] - starts[0]
    for g in range(groups):
        if starts[g + 1] - starts[g] != size:
            size = 0
            break
    for i in range(begin, end):
        row = block[i]
        nearest = fused[i]
        if size == 10:  # several times faster than the loop for any size
            least_of_10(row, nearest)
        elif size == 5:
            least_of_5(row, nearest)
        elif size == 4:
            least_of_4(row, nearest)
        else:
            for g in range(groups):
                templates = row[starts[g] : starts[g + 1]]
                least = templates[0]
                for p in range(1, len(templates)):
                    least = templates[p] if templates[p] < least else least
                nearest[g] = least
        # If the first score of a group is NaN, no other was smaller: do these groups again.
        for g in range(groups):
            if nearest[g] != nearest[g]:
                nearest[g] = least_of_scores(row[starts[g] : starts[g + 1]])


@compiled
def nearest_in_layers(tile, layers, fused):
    """Write the least score of each subject of a tile's columns; NaN without an attempt.

    ::

        for row, nearest in zip(tile, fused):
            for k, start in layers:
                for g in range(layers[k]):
                    nearest[g] = least(nearest[g], row[start + g])

    The columns are in layers: the first template of each subject, then the second template of
    each subject that has two, and so on, the subjects with most templates first. `layers` has the
    number of columns of each layer.
    """
    for i in range(tile.shape[0]):
        row = tile[i]
        nearest = fused[i]
        nearest[:] = row[: layers[0]]
        start = layers[0]
        for k in range(1, len(layers)):
            layer = row[start : start + layers[k]]
            for g in range(layers[k]):
                x = layer[g]
                n = nearest[g]
                nearest[g] = x if x < n or n != n else n
            start += layers[k]


@compiled
def nearest_of_row_layers(tile, layers, fused):
    """Write the least scores of each subject of a tile's rows, as one row for each subject.

    ::

        for k, start in layers:
            for g in range(layers[k]):
                fused[g] = least(fused[g], tile[start + g])  # column by column

    The rows are in layers, as the columns of :func:`nearest_in_layers`.
    """
    start = 0
    for k in range(len(layers)):
        for g in range(layers[k]):
            row = tile[start + g]
            nearest = fused[g]
            for j in range(fused.shape[1]):
                x = row[j]
                n = nearest[j]
                nearest[j] = x if k == 0 or x < n or n != n else n
        start += layers[k]
