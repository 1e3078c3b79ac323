"""Symmetric matrices, in which each pair of templates is compared in both directions."""

from __future__ import annotations

import numpy as np

from bioeval.scores.matrix import PairScores, Scores

# Cells compared to tell whether a square matrix is symmetric, for the rules of support.
SYMMETRY_SAMPLE = 2048


def is_symmetric(scores: Scores) -> bool:
    """Say whether a square matrix seems symmetric: the same both ways at sampled cells.

    Only the rules of support use it: in a symmetric matrix each pair of templates is counted
    twice, so that half as many attempts are of their own.
    """
    n = scores.shape[0]
    if isinstance(scores, PairScores) or n < 2:
        return False
    if not np.array_equal(scores.probe_ids, scores.gallery_ids):
        return False
    rng = np.random.default_rng(0)
    i = rng.integers(0, n, SYMMETRY_SAMPLE)
    j = (i + rng.integers(1, n, SYMMETRY_SAMPLE)) % n
    mask = scores.mask
    if mask is not None and (mask[i, j] != mask[j, i]).any():
        return False  # each pair once, or so
    return scores.same_both_ways(i, j)
