"""Symmetric matrices, in which each pair of templates is compared in both directions."""

from __future__ import annotations

import functools

import numpy as np

from bioeval.scores.matrix import Scores, are_pairs
from bioeval.scores.working_memory import give_back, is_mapped

# Templates whose comparisons with each other say whether a square matrix is symmetric: few, since
# of a stored matrix their rows are read.
SYMMETRY_SAMPLE = 64


def is_symmetric(scores: Scores) -> bool:
    """Say whether a square matrix seems symmetric: the same both ways among sampled templates.

    Only the rules of support use it: in a symmetric matrix each pair of templates is counted
    twice, so that half as many attempts are of their own.
    """
    n = scores.shape[0]
    if are_pairs(scores) or n < 2:
        return False
    if not np.array_equal(scores.probe_ids, scores.gallery_ids):
        return False
    # Of a stored matrix, templates whose rows are in one chunk.
    sample = _sample(min(n, max(scores.row_chunk, SYMMETRY_SAMPLE)) if scores.is_stored else n)
    some = scores.select(probes=sample, gallery=sample)
    times = some.enrolment_times
    if times is not None:
        outside = times.not_enrolled(np.arange(len(sample))[:, None], slice(None))
        if (outside != outside.T).any():
            return False
    if some.has_mask:
        mask = some.read_mask(0, len(sample))
        if (mask != mask.T).any():
            return False  # each pair once, or so
    if scores.streams:
        return not callable(scores.base.metric)  # the named metrics are symmetric
    step = 1 if is_mapped(scores) else len(sample)
    parts = []
    for low in range(0, len(sample), step):
        parts.append(some.read_rows(low, low + step))
        give_back(scores)
    values = np.concatenate(parts)
    return bool(((values == values.T) | ((values != values) & (values.T != values.T))).all())


@functools.lru_cache
def _sample(n: int) -> np.ndarray:
    """Return a few numbers below `n`, in order."""
    sample = np.random.default_rng(0).choice(n, min(n, SYMMETRY_SAMPLE), replace=False)
    return np.sort(sample)
