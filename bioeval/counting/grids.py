"""Counts of impostor scores between given thresholds, and scores gathered from blocks."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bioeval.counting.thresholds import grid_over


def grid_over_attempts(
    scores: Iterable[np.ndarray], number: int | None, count: int | None = None
) -> np.ndarray:
    """Return a given number of thresholds over scores that come in parts, or about `count`."""
    low, high, negative, positive = np.inf, -np.inf, False, False
    for some in scores:
        finite = some[np.isfinite(some)]
        if len(finite):
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
        negative |= bool((some == -np.inf).any())
        positive |= bool((some == np.inf).any())
    return grid_over(low, high, negative, positive, number=number, count=count)


# Places of the guide into thresholds: at least this many, and about four a threshold.
LEAST_GUIDE, LARGEST_GUIDE = 1 << 12, 1 << 20


def guide_to(thresholds: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Return base, scale and first threshold of each place; see `threshold_of`."""
    places = min(LARGEST_GUIDE, max(LEAST_GUIDE, 1 << (4 * len(thresholds)).bit_length()))
    finite = thresholds[np.isfinite(thresholds)]
    base = float(finite[0]) if len(finite) else 0.0
    with np.errstate(all="ignore"):
        scale = 1.0
        if len(finite) > 1:
            scale = float(np.float64(places - 1) / (finite[-1] - base))
        place = (thresholds - base) * scale
    if not np.isfinite(scale):
        scale, place = 0.0, np.zeros(len(thresholds))
    place = np.where(place > 0, np.minimum(place, places - 1), 0).astype(np.int64)
    return base, scale, np.searchsorted(place, np.arange(places + 1))
