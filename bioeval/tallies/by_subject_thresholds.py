"""Threshold grid for counts by pair of subjects."""

from __future__ import annotations

import numpy as np

from bioeval.scores.blocks import BlockReader
from bioeval.tallies.counters import ImpostorBlock
from bioeval.tallies.counts import VerificationTally
from bioeval.tallies.points import EqualError
from bioeval.tallies.verification_job import VerificationJob

# Up to this many distinct scores, each is a threshold, and nothing is interpolated.
EXACT = 512

# Up to this many impostor scores are sorted; of more, the cells of the tally are used.
_FEW = 1 << 16

# Growth of the number of false accepts from one threshold to the next, at most about this.
_FACTOR = 1.2

# Proportions rejected, for thresholds at which nearly all attempts are accepted.
_REJECTED = np.array([0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001])

# The first thresholds have one more false accept each.
_SINGLE = 10


def choose_thresholds(
    tally: VerificationTally, job: VerificationJob, reader: BlockReader, wanted: np.ndarray
) -> tuple[np.ndarray, bool]:
    """Return increasing thresholds, and whether they are all the distinct scores.

    They are denser around the operating points of the tally, and include the finite ones of
    `wanted`, at which counts must be exact.
    """
    genuine = np.unique(tally.genuine.astype(np.float64))
    total = tally.impostor.total
    if total <= _FEW and len(genuine) <= _FEW:
        scores = [_scores(block) for _, blocks in job.attempts(reader) for block in blocks]
        edges, counts = np.unique(np.concatenate([np.empty(0), *scores]), return_counts=True)
        every = np.union1d(genuine, edges)
        if len(every) <= EXACT:
            return every, True
        reached = np.cumsum(counts)
    else:
        cells = tally.impostor
        edges = cells.grid.edges
        reached = cells.negative_infinite + np.cumsum(cells.counts)
    points = tally.points
    error = EqualError() if points is None else points.equal_error
    chosen = edges  # empty where no impostor score is finite
    if len(edges):
        level = np.concatenate([_levels(total), _around(error.eer * total)])
        chosen = edges[np.minimum(np.searchsorted(reached, level), len(edges) - 1)]
    thresholds = np.union1d(chosen, wanted)
    return thresholds[np.isfinite(thresholds)], False


def _scores(block: ImpostorBlock) -> np.ndarray:
    """Return the impostor scores of a small block."""
    values, start, stop = block
    column = np.arange(values.shape[1])
    foreign = (column < start[:, None]) | (column >= stop[:, None])
    return values[foreign & ~np.isnan(values)].astype(np.float64)


def _levels(total: int) -> np.ndarray:
    """Return numbers of false accepts from 1 to `total`: by ones, then by a constant factor."""
    steps = max(1, int(np.ceil(np.log(max(total, 2) / _SINGLE) / np.log(_FACTOR))))
    ratios = _SINGLE * _FACTOR ** np.arange(steps)
    few, most = np.arange(1, _SINGLE), total * (1 - _REJECTED)
    return np.concatenate([few, ratios[ratios < total], most, [total]])


def _around(count: float) -> np.ndarray:
    """Return numbers of false accepts around that of the equal error rate."""
    if not count > 0:
        return np.empty(0)
    return count * np.geomspace(0.5, 2.0, 33)
