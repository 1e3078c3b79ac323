"""Thresholds at the genuine scores, with which measures of a curve are exact for any weights.

Between two genuine scores FRR does not change: the least FRR at a FAR, the least cost, the hull and
the area under the ROC need the points at genuine scores alone. FAR and FRR cross there, too, or
between the largest score below a genuine one and this one.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from bioeval.counting.verification import Verified

# The EER is sought where the FAR of the data is at most this factor above or below the EER.
_AROUND = 3.0


class GenuineRows(NamedTuple):
    """Increasing distances, and whether measures of these distances alone are exact."""

    thresholds: np.ndarray
    #: The genuine scores among the thresholds that no impostor score equals.
    untied: np.ndarray
    exact: bool

    @classmethod
    def from_attempts(cls, verified: Verified, most: int) -> Self:
        """Return at most `most` rows, evenly among the genuine scores where there are more."""
        attempts = verified.attempts
        scores = attempts.points.genuine.distinct()
        below, upto = attempts.impostor.counts_at(attempts.points.genuine)
        untied = scores[below == upto]
        # Where attempts failed, a threshold at the last score accepts less than all attempts.
        rows = np.append(scores, [np.inf] if attempts.missed else [])
        before = np.nextafter(scores, -np.inf)
        tied = below < upto
        has_score_below = below > np.append(0, upto[:-1])
        far = below / max(attempts.impostor_attempts, 1)
        eer = verified.points.equal_error.eer
        is_near_eer = has_score_below & (far >= eer / _AROUND) & (far <= eer * _AROUND)
        for is_preceded in (tied | has_score_below, tied | is_near_eer):
            thresholds = np.union1d(rows, before[is_preceded])
            if len(thresholds) <= most:
                return cls(thresholds, untied, True)
        places = np.linspace(0, len(scores) - 1, min(len(scores), max(most, 1)))
        return cls(scores[np.unique(places.astype(np.int64))], untied, False)
