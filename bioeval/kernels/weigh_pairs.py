"""Sums of attempts between pairs of subjects, weighted by both, in each replicate."""

from __future__ import annotations

import numpy as np

from bioeval.kernels.side_by_side import side_by_side


@side_by_side("totals")
def weigh_pairs(
    begin, end, left, starts, right, layer, count, weights, largest, totals, sums, bounds
):  # fmt: skip
    """Add ``count * w[left] * w[right]`` to the total of a layer, for every column of weights.

    The weights are small whole numbers, so that those of a left subject are added up in 16 bits
    and multiplied by its own weight afterwards: many columns fit into one instruction. Columns
    come in tiles, of which all weights stay in cache; each tile is computed by one thread.

    Parameters
    ----------
    left : int64 array, shape (s,)
        The list of each left subject is at ``starts[k]:starts[k + 1]``.
    right, layer : int32 arrays
    count : int64 array
        Each entry: the right subject, the layer, and the number of attempts.
    weights : uint8 or uint32 array, shape (tiles, subjects, t)
    largest : int
        The largest weight.
    totals : float64 array, shape (tiles, layers, t), added to
    sums : uint16 array, shape (tiles, layers, t)
        Zeros, and again afterwards.
    bounds : int64 array, shape (tiles, layers)
        Zeros, and again afterwards: what a sum cannot exceed.
    """
    limit = np.int64(65535)
    filled = np.empty(totals.shape[1], dtype=np.int32)
    for tile in range(begin, end):
        weight = weights[tile]
        bound = bounds[tile]
        for s in range(len(left)):
            own = weight[left[s]]
            number = 0
            for e in range(starts[s], starts[s + 1]):
                k = layer[e]
                other = weight[right[e]]
                largest_sum = count[e] * largest
                if largest_sum > limit:
                    total = totals[tile, k]
                    many = np.float64(count[e])
                    for j in range(len(total)):
                        total[j] += many * (np.float64(own[j]) * np.float64(other[j]))
                    continue
                part = sums[tile, k]
                if bound[k] == 0:
                    filled[number] = k
                    number += 1
                elif bound[k] + largest_sum > limit:
                    total = totals[tile, k]
                    for j in range(len(total)):
                        total[j] += np.float64(part[j]) * np.float64(own[j])
                        part[j] = 0
                    bound[k] = 0
                bound[k] += largest_sum
                few = np.uint16(count[e])
                for j in range(len(part)):
                    # Products and sums of 16 bits are of 64 unless converted.
                    part[j] = np.uint16(part[j] + np.uint16(few * other[j]))
            for i in range(number):
                k = filled[i]
                total = totals[tile, k]
                part = sums[tile, k]
                for j in range(len(total)):
                    total[j] += np.float64(part[j]) * np.float64(own[j])
                    part[j] = 0
                bound[k] = 0
