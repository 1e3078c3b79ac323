"""The convex hull of the points of a ROC."""

from bioeval.kernels.compiling import compiled


@compiled
def lower_hull(x, y, out):
    """Write the indices of the lower-left hull of the points of a ROC; return their number.

    ::

        for i in points, x increasing and y decreasing:
            while the last two of the hull and i make no left turn:
                hull.pop()
            hull.append(i)

    Andrew's monotone chain (1979). The last of points with the same `x` is taken, and the first of
    points with the same `y`.
    """
    n = 0
    for i in range(len(x)):
        if n > 0 and x[out[n - 1]] == x[i]:
            n -= 1  # the same x further down
        elif n > 0 and y[out[n - 1]] == y[i]:
            continue  # the same y further right
        while n >= 2:
            a = out[n - 2]
            b = out[n - 1]
            turn = (x[b] - x[a]) * (y[i] - y[a]) - (y[b] - y[a]) * (x[i] - x[a])
            if turn > 0:
                break
            n -= 1
        out[n] = i
        n += 1
    return n
