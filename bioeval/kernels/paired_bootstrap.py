"""Operating points of verification in weighted replicates, exactly.

Between two consecutive genuine scores FRR is constant, so that the EER, FRR at a FAR and the AUC
follow from the impostor attempts counted between genuine scores: no other threshold is needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.parallel_rows import parallel_rows

# Columns that are counted together.
BLOCK = 16


class ReplicatePoints(NamedTuple):
    """The operating points of each replicate; written, NaN where a class has no attempt.

    Attributes
    ----------
    eer, auc : float64 arrays, shape (columns,)
    frr : float64 array, shape (t, columns)
    corners : float64 array, shape (2, n, columns)
        FAR and FRR where all is rejected and at each genuine score, ``n = len(u) + 1``; ``n = 0``
        where they are not needed.
    """

    eer: np.ndarray
    frr: np.ndarray
    auc: np.ndarray
    corners: np.ndarray


@parallel_rows("points.eer")
def replicate_points(begin, end, impostor, genuine, weights, targets, points):
    """Write the operating points of each replicate, from whole-number counts.

    Parameters
    ----------
    impostor : int32 array, shape (k, 4)
        Rows of (layer, one subject, the other subject, attempts). With ``u`` the distinct genuine
        scores in ascending order, layer ``2 j`` lies between ``u[j - 1]`` and ``u[j]``, and layer
        ``2 j + 1`` holds the scores equal to ``u[j]``.
    genuine : int32 array, shape (g, 2)
        Rows of (place of the score in ``u``, subject).
    weights : float64 array, shape (subjects, columns)
        Whole numbers, so that sums below 2^53 are exact.
    targets : float64 array, shape (t,)
    points : ReplicatePoints
    """
    distinct = genuine[-1, 0] + 1 if len(genuine) else 0
    for low in range(begin, end, BLOCK):
        width = min(BLOCK, end - low)
        w = weights[:, low : low + width].copy()
        between = np.zeros((2 * distinct + 1, width))
        for e in range(len(impostor)):
            row = between[impostor[e, 0]]
            left, right = w[impostor[e, 1]], w[impostor[e, 2]]
            made = np.float64(impostor[e, 3])
            for c in range(width):
                row[c] += made * left[c] * right[c]
        own = np.zeros((distinct, width))
        for e in range(len(genuine)):
            row, line = own[genuine[e, 0]], w[genuine[e, 1]]
            for c in range(width):  # sums of whole rows take seconds to compile
                row[c] += line[c]
        for c in range(width):
            _points(between[:, c], own[:, c], targets, low + c, points)


@register_jitable
def _points(between, own, targets, c, points):
    """Write the operating points of one replicate from its counts."""
    eer, frr, auc, corners = points
    eer[c] = auc[c] = np.nan
    frr[:, c] = np.nan
    corners[:, :, c] = np.nan
    total, every, distinct = between.sum(), own.sum(), len(own)
    if total == 0 or every == 0:
        return
    frr[:, c] = 1.0
    if corners.shape[1] > 0:
        corners[0, 0, c], corners[1, 0, c] = 0.0, 1.0
    accepted, rejected, ordered = 0.0, every, 0.0
    crossed = False
    for j in range(distinct + 1):
        accepted += between[2 * j]
        if not crossed and accepted * every >= rejected * total:
            eer[c] = rejected / every
            crossed = True
        if j == distinct:
            break
        tied = between[2 * j + 1]
        ordered += own[j] * (2 * (total - accepted) - tied)
        f0, r0 = accepted / total, rejected / every
        accepted += tied
        rejected -= own[j]
        f1, r1 = accepted / total, rejected / every
        if not crossed and accepted * every >= rejected * total:
            eer[c] = f0 + (r0 - f0) / ((f1 - f0) - (r1 - r0)) * (f1 - f0)
            crossed = True
        if corners.shape[1] > 0:
            corners[0, j + 1, c], corners[1, j + 1, c] = f1, r1
        for t in range(len(targets)):
            if f1 <= targets[t]:
                frr[t, c] = r1
    auc[c] = ordered / (2.0 * total * every)
