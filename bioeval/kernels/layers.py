"""The layer of a score between thresholds: a step of loops that count at many thresholds."""

import numpy as np

from bioeval.kernels.compiling import called_by_loops


@called_by_loops
def threshold_of(x, thresholds, base, scale, guide):
    """Return the index of the first of the increasing thresholds that is not below `x`.

    The guide narrows the search. The place ``c`` of a score is ``(x - base) * scale``, cut to the
    length of the guide, and the index is between ``guide[c]`` and ``guide[c + 1]``. Rounding does
    no harm, since the place never falls as the score grows.
    """
    places = len(guide) - 1
    y = (x - base) * scale
    place = 0
    if y > 0:
        place = places - 1 if y >= places - 1 else np.int64(y)
    low = guide[place]
    high = guide[place + 1]
    while low < high:
        middle = (low + high) // 2
        if thresholds[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low
