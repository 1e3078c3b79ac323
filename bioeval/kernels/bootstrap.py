"""Weighted replicates: sums of attempts between pairs of subjects, and exact operating points.

Between two consecutive genuine scores FRR is constant, so that the EER, FRR at a FAR and the AUC
follow from the impostor attempts counted between genuine scores: no other threshold is needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.compiled import parallel_rows


@parallel_rows("left")
def sort_by_layer(begin, end, left, starts, layers, entries, found):
    """Write the entries of each left subject by layer, those with a single attempt first.

    Parameters
    ----------
    left : int64 array, shape (s,)
        The list of each left subject is at ``starts[k]:starts[k + 1]``.
    layers : int
        Their number.
    entries, found : tuples of int32, int32 and int64 arrays, read and written
        Of each entry: the right subject, the layer, and the number of attempts.
    """
    right, layer, count = entries
    right_found, layer_found, count_found = found
    ends = np.zeros(2 * layers + 1, dtype=np.int64)
    for s in range(begin, end):
        ends[:] = 0
        for e in range(starts[s], starts[s + 1]):
            ends[2 * layer[e] + (count[e] != 1) + 1] += 1
        ends[0] = starts[s]
        for k in range(2 * layers):
            ends[k + 1] += ends[k]
        for e in range(starts[s], starts[s + 1]):
            k = 2 * layer[e] + (count[e] != 1)
            at = ends[k]
            right_found[at] = right[e]
            layer_found[at] = layer[e]
            count_found[at] = count[e]
            ends[k] += 1


@parallel_rows("totals")
def weigh_pairs(begin, end, left, starts, entries, weights, largest, totals, sums):
    """Add ``count * w[left] * w[right]`` to the total of a layer, for every column of weights.

    The weights are small whole numbers, so that those of a left subject are added up in 16 bits,
    of four attempts first in 8, and multiplied by its own weight afterwards: many columns fit into
    one instruction. Columns come in tiles, of which all weights stay in cache; each tile is
    computed by one thread.

    Parameters
    ----------
    left, starts, entries
        As :func:`sort_by_layer` leaves them.
    weights : uint8 or uint32 array, shape (tiles, subjects, t)
    largest : int
        The largest weight.
    totals : float64 array, shape (tiles, layers, t), added to
    sums : uint16 array, shape (tiles, t)
        Zeros, and again afterwards.
    """
    right, layer, count = entries
    limit = np.int64(65535)
    quick = 4 * largest <= 255
    for tile in range(begin, end):
        weight = weights[tile]
        part = sums[tile]
        for s in range(len(left)):
            own = weight[left[s]]
            e = starts[s]
            last = starts[s + 1]
            while e < last:
                k = layer[e]
                total = totals[tile, k]
                bound = np.int64(0)  # what a sum cannot exceed
                while e < last and layer[e] == k:
                    four = quick and e + 4 <= last and layer[e + 3] == k and count[e + 3] == 1
                    more = (4 if four else count[e]) * largest
                    first = weight[right[e]]
                    if more > limit:
                        many = np.float64(count[e])
                        for j in range(len(total)):
                            total[j] += many * (np.float64(own[j]) * np.float64(first[j]))
                        e += 1
                        continue
                    if bound + more > limit:
                        for j in range(len(total)):
                            total[j] += np.float64(part[j]) * np.float64(own[j])
                            part[j] = 0
                        bound = np.int64(0)
                    bound += more
                    # Sums and products of few bits are of 64 unless converted.
                    if four:
                        second = weight[right[e + 1]]
                        third = weight[right[e + 2]]
                        fourth = weight[right[e + 3]]
                        for j in range(len(part)):
                            of_four = np.uint8(first[j] + second[j] + third[j] + fourth[j])
                            part[j] = np.uint16(part[j] + of_four)
                        e += 4
                    else:
                        few = np.uint16(count[e])
                        for j in range(len(part)):
                            part[j] = np.uint16(part[j] + np.uint16(few * first[j]))
                        e += 1
                for j in range(len(total)):
                    total[j] += np.float64(part[j]) * np.float64(own[j])
                    part[j] = 0


@parallel_rows("totals")
def weigh_shares(begin, end, left, right, layer, share, weights, totals):
    """Add ``share * w[left] * w[right]`` to the total of a layer, for every column of weights.

    Columns come in tiles; each is computed by one thread, in the order of the entries.

    Parameters
    ----------
    left, right, layer : int64 arrays, shape (entries,)
        The two subjects, and the layer.
    share : float64 array, shape (entries,)
    weights : uint8 or uint32 array, shape (tiles, subjects, t)
    totals : float64 array, shape (tiles, layers, t), added to
    """
    for tile in range(begin, end):
        for e in range(len(share)):
            first, second = weights[tile, left[e]], weights[tile, right[e]]
            total, x = totals[tile, layer[e]], share[e]
            for c in range(len(total)):
                total[c] += x * np.float64(first[c]) * np.float64(second[c])


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
