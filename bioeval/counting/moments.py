"""Mean and standard deviation of scores, and d'."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


class Moments(NamedTuple):
    """Mean and standard deviation of the finite scores of a class; NaN without scores.

    The mean is ``origin + offset``. The two are kept apart, since their sum loses digits if scores
    are far from 0 and close together.
    """

    scale: float = 1.0  # a power of two by which the scores, and the other fields, are multiplied
    origin: float = np.nan  # one of the scores
    offset: float = np.nan  # the mean of the scores, less the origin
    deviation: float = np.nan  # the standard deviation of the scores (``ddof = 0``)


def moment_scale(low: float, high: float) -> float:
    """Return a power of two by which differences in a range become about 1 at most."""
    spread = math.frexp(high / 2 - low / 2)[1] + 1
    # As if the range were wider than the rounding of its ends: no scaled score overflows.
    largest = math.frexp(max(abs(low), abs(high)))[1]
    return 2.0 ** -max(spread, largest - 60, -1000)


def moments_of(scores: np.ndarray) -> Moments:
    """Return the moments of some finite scores, in increasing order."""
    if not len(scores):
        return Moments()
    scale = moment_scale(float(scores[0]), float(scores[-1]))
    scaled = scores * scale
    origin = float(scaled[0])
    scaled -= origin
    mean = float(scaled.sum() / len(scaled))
    scaled -= mean
    spread = np.square(scaled, out=scaled).sum() / len(scaled)
    return Moments(scale, origin, mean, math.sqrt(spread))


def d_prime(genuine: Moments, impostor: Moments) -> float:
    """Return ``|mean_i - mean_g| / sqrt((var_g + var_i) / 2)``; NaN where both variances are 0.

    The variances are over the number of scores (``ddof = 0``): Green and Swets (1966), Signal
    detection theory and psychophysics; Daugman (2000), Technical Report 482, Cambridge.

    The difference of the means is the difference of the origins plus the difference of the offsets,
    which are exact, or nearly so, if scores are close together.
    """
    # In the scale of the wider class no score overflows; scores of the other may underflow.
    scale = min(genuine.scale, impostor.scale)
    genuine_scale = scale / genuine.scale
    impostor_scale = scale / impostor.scale
    spread = math.hypot(genuine.deviation * genuine_scale, impostor.deviation * impostor_scale)
    if not spread > 0:
        return float("nan")
    origins = impostor.origin * impostor_scale - genuine.origin * genuine_scale
    offsets = impostor.offset * impostor_scale - genuine.offset * genuine_scale
    return abs(origins + offsets) / spread * math.sqrt(2)
