"""Bounds of operating points of which only the rates at some thresholds are known."""

from __future__ import annotations

import numpy as np


def bounds_between(
    far: np.ndarray, dir_: np.ndarray, every: np.ndarray, targets: np.ndarray
) -> tuple[float, float, np.ndarray, np.ndarray]:
    """Return bounds of EER and of DIR at FAR targets from the rates at the thresholds.

    Both rates grow with the threshold. Before the first threshold nothing need be accepted, and
    beyond the last one everything is.
    """
    shape = (len(targets), dir_.shape[1])
    if np.isnan(far).any() or np.isnan(dir_).any():
        return np.nan, np.nan, np.full(shape, np.nan), np.full(shape, np.nan)
    far = np.concatenate([[0.0], far, [1.0]])
    dir_ = np.concatenate([np.zeros((1, dir_.shape[1])), dir_, every[None]])
    frr = 1.0 - dir_[:, 0]
    crossed = int(np.argmax(far >= frr))
    low = float(max(far[crossed - 1], frr[crossed]))
    high = float(min(far[crossed], frr[crossed - 1]))
    last = np.array([np.nonzero(far <= target)[0][-1] for target in targets], dtype=np.int64)
    return low, high, dir_[last], dir_[np.minimum(last + 1, len(far) - 1)]
