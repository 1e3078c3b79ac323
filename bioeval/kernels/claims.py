"""Multi-template claims: the distances of each subject's templates fused into one a row."""

import numpy as np

from bioeval.kernels.compiling import called_by_loops, compiled, parallel_rows

# Rules of fusion, besides the `k`-th smallest distance, which is `k`.
MEDIAN, MEAN, WORST = 0, -1, -2

# From this magnitude on a sum may overflow: the values are then multiplied by this power of two.
HUGE, SHRUNK = 2.0**960, 2.0**-64


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
    """Return the exact sum of finite values, rounded once; their array is used up.

    Shewchuk, Adaptive precision floating-point arithmetic (1997), as in ``math.fsum``: partial sums
    without common digits, the smallest first, hold the exact sum. They stand at the start of the
    array, which has always been read farther than it is written.
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
    """Return the exact sum of some values, rounded once, over their number; NaN if undefined.

    The mean does not depend on the order of the values. Most sums are exact as two numbers: the
    running sum, and the sum of its rounding errors. Else the array is used up.
    """
    total = 0.0
    rest = 0.0
    exact = True
    for k in range(count):
        x = values[k]
        after = total + x
        change = after - total
        lost = (total - (after - change)) + (x - change)
        total = after
        after = rest + lost
        change = after - rest
        exact &= (rest - (after - change)) + (lost - change) == 0.0  # not if NaN, by overflow
        rest = after
    if exact:
        return (total + rest) / count
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

    The mean is :func:`mean_of`; infinities of both signs have none, and the result is then
    +inf, accepted at no finite threshold. The median of an even number is the mean of the two
    in the middle. A group of fewer than `rule` templates is no attempt.

    - `block` (float (b, n)): distances; NaN = no attempt. Group ``g`` is at ``starts[g]:starts[g +
      1]``
    - `starts`: int64 (g + 1,)
    - `rule`: int; K of ``"kth:K"``, or one of `MEDIAN`, `MEAN` and `WORST`
    - `fused` (float (b, g), written): NaN where no template is left
    """
    groups = len(starts) - 1
    largest = 0
    for g in range(groups):
        largest = max(largest, starts[g + 1] - starts[g])
    held = np.empty(largest, dtype=np.float64)
    for i in range(begin, end):
        row = block[i]
        for g in range(groups):
            count = 0
            best = np.inf
            worst = -np.inf
            for p in range(starts[g], starts[g + 1]):
                x = np.float64(row[p])
                if x != x:
                    continue
                held[count] = x
                count += 1
                worst = max(worst, x)
                best = min(best, x)
            if count == 0 or count < rule:
                fused[i, g] = np.nan
            elif rule == 1:
                fused[i, g] = best
            elif rule == WORST:
                fused[i, g] = worst
            elif rule == MEAN:
                mean = mean_of(held, count)
                fused[i, g] = mean if mean == mean else np.inf
            else:
                sort(held[:count])
                if rule > 0:
                    fused[i, g] = held[rule - 1]
                else:
                    low = held[(count - 1) // 2]
                    high = held[count // 2]
                    middle = low if low == high else 0.5 * low + 0.5 * high
                    fused[i, g] = middle if middle == middle else np.inf


def _least_of(size):
    """Return a kernel for groups of one size, common enough for a loop of its own."""

    @called_by_loops
    def least_of(line, nearest):
        for g in range(len(nearest)):
            part = line[g * size : (g + 1) * size]
            least = part[0]
            for p in range(1, size):
                least = part[p] if part[p] < least else least
            nearest[g] = least

    return least_of


least_of_4 = _least_of(4)
least_of_5 = _least_of(5)
least_of_10 = _least_of(10)


@called_by_loops
def least_of_scores(part):
    """Return the least of a few scores that are not NaN; NaN if all are."""
    least = np.nan
    for p in range(len(part)):
        if part[p] < least or least != least:
            least = part[p]
    return least


@parallel_rows("block")
def fuse_nearest(begin, end, block, starts, fused):
    """Write each subject's smallest distance; NaN where no template is left.

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
        if size == 10:  # known sizes are several times faster; any other is found as well
            least_of_10(row, nearest)
        elif size == 5:
            least_of_5(row, nearest)
        elif size == 4:
            least_of_4(row, nearest)
        else:
            for g in range(groups):
                part = row[starts[g] : starts[g + 1]]
                least = part[0]
                for p in range(1, len(part)):
                    least = part[p] if part[p] < least else least
                nearest[g] = least
        # A NaN is never smaller, nor is anything smaller than a NaN: those groups again.
        for g in range(groups):
            if nearest[g] != nearest[g]:
                nearest[g] = least_of_scores(row[starts[g] : starts[g + 1]])


@compiled
def nearest_in_layers(tile, layers, fused):
    """Write the least score of each subject of the columns of a tile; NaN without any.

    ::

        for row, nearest in zip(tile, fused):
            for k, start in layers:
                for g in range(layers[k]):
                    nearest[g] = least(nearest[g], row[start + g])

    The columns are in layers: the first template of each subject, then the second of each that
    has one, and so on, the subjects with most templates first; `layers` has the number of
    columns of each layer.
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
    """Write the least score of each subject of the rows of a tile, one row a subject.

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
