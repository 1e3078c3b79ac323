"""Scores of attempts, by rows of a matrix."""

from __future__ import annotations

import numpy as np

from bioeval.scores.arrays import IGNORE
from bioeval.scores.blocks import as_distances
from bioeval.scores.matrix import Scores


def attempted(scores: Scores, low: int, high: int) -> np.ndarray:
    """Return the distances of rows ``low:high`` in float64, NaN where there is no attempt."""
    raw = scores._read_rows(low, high)
    values = as_distances(raw, scores.kind, lambda: np.ones(raw.shape, dtype=bool))
    values = np.array(values, dtype=np.float64, order="C")
    values[scores.probe_ids[low:high, None] == scores.gallery_ids] = np.nan
    if scores._has_mask:
        values[scores._read_mask(low, high) == IGNORE] = np.nan
    if scores.exclude:
        rows, columns = np.nonzero(scores._codes.probe[low:high, None] == scores._codes.gallery)
        gone = scores._excluded(low + rows, columns)
        values[rows[gone], columns[gone]] = np.nan
        if scores._enrolment_times is not None:
            rows = np.arange(low, high)[:, None]
            values[scores._enrolment_times.not_enrolled(rows, slice(None))] = np.nan
    return values
