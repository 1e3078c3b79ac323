"""Thresholds at the genuine scores, with which measures of a curve are exact for any weights.

Between two genuine scores FRR does not change. Therefore the least FRR at a FAR, the least cost,
the hull and the area under the ROC need only the points at genuine scores. FAR and FRR cross at a
genuine score, too, or between it and the largest score below.
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
        """Return at most `most` thresholds: if more are needed, evenly spread genuine scores."""
        attempts = verified.attempts
        scores = attempts.points.genuine.distinct()
        below, upto = attempts.impostor.counts_at(attempts.points.genuine)
        untied = scores[below == upto]
        # If attempts failed, a threshold at the last score does not accept all attempts.
        rows = np.append(scores, [np.inf] if attempts.missed else [])
        just_below = np.nextafter(scores, -np.inf)
        tied = below < upto
        has_score_below = below > np.append(0, upto[:-1])
        far = below / max(attempts.impostor_attempts, 1)
        eer = verified.points.equal_error.eer
        is_near_eer = has_score_below & (far >= eer / _AROUND) & (far <= eer * _AROUND)
        for is_preceded in (tied | has_score_below, tied | is_near_eer):
            thresholds = np.union1d(rows, just_below[is_preceded])
            if len(thresholds) <= most:
                return cls(thresholds, untied, True)
        indices = np.linspace(0, len(scores) - 1, min(len(scores), max(most, 1)))
        return cls(scores[np.unique(indices.astype(np.int64))], untied, False)
