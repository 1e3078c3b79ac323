"""Scores in equal steps: whole numbers, decimals, distances of binary codes."""

from __future__ import annotations

import numpy as np

# At least one in so many steps is a score: all floats of a narrow type are in steps, too.
_SPARSE = 8

# Differences are whole steps within this part of one.
_ROUNDING = 1e-3


def lattice_step(values: np.ndarray, least: int, power: int = 1) -> float:
    """Return the step of at least `least` increasing scores; 0 where there is none.

    With `power` 2 of the squares of positive scores, such as Euclidean distances of codes.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = np.diff(values**power)
        step = float(gaps.min(initial=np.inf))
        if len(values) < least or not 0 < step < np.inf:
            return 0.0
        steps = gaps / step
        if not steps.sum() <= _SPARSE * len(values):
            return 0.0
        whole = np.rint(steps)
        if not (abs(steps - whole) <= _ROUNDING).all():
            return 0.0
        # The mean step is free of the rounding of one.
        return float((values[-1] ** power - values[0] ** power) / whole.sum())
