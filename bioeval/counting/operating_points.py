"""The operating points of attempts: each defined once, as arrays over (part, point).

A point is a threshold at a score: reject all, then each distinct score from strict to loose. FAR
and FRR are whole numbers of errors over whole numbers of attempts, and are compared as such. The
definitions are in ``docs/definitions.md``, "Operating points". Everything here is a distance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bioeval.counting.sorted_scores import SortedScores, along_points


class ChosenThresholds(NamedTuple):
    """The thresholds that a rule chooses, one a part."""

    threshold: np.ndarray  # float64 (parts,)
    defined: np.ndarray  # bool (parts,): whether there were attempts to choose it on
    next: np.ndarray  # float64 (parts,): the nearest score that it rejects


class AttemptsOfParts:
    """The attempts of verification in one part or in many, and their operating points.

    Rates and thresholds are NaN in a part without attempts of both classes. All numbers of a
    result, ``point_values(attempts, wanted, independent)``, are a dict: by the names of
    ``VerificationPoints.values``, arrays (parts,) or (parts, targets), (parts, costs);
    ``choose(rule, attempts)`` returns :class:`ChosenThresholds` of all parts.

    Parameters
    ----------
    genuine, impostor : SortedScores
    missed, missed_impostors : ndarray (parts,), optional
        Attempts without a score, which no threshold accepts; none by default.
    """

    def __init__(
        self,
        genuine: SortedScores,
        impostor: SortedScores,
        missed: Any = 0,
        missed_impostors: Any = 0,
    ):
        self.genuine, self.impostor = genuine, impostor
        self.genuine_attempts = genuine.attempts + missed  # (parts,)
        self.impostor_attempts = impostor.attempts + missed_impostors
        #: bool (parts,): whether both classes have attempts.
        self.defined = (self.genuine_attempts > 0) & (self.impostor_attempts > 0)

    def errors_at(self, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return false accepts and false rejects at thresholds (parts, ...); NaN rejects all."""
        accepted = self.impostor.upto(thresholds)
        taken = self.genuine.upto(thresholds)
        rejects_all = np.isnan(thresholds)
        return (
            np.where(rejects_all, 0, accepted),
            along_points(self.genuine_attempts, taken) - np.where(rejects_all, 0, taken),
        )

    def next_scores(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the nearest score that each threshold (parts, ...) rejects.

        Infinity where there is none, NaN of NaN.
        """
        after = np.minimum(self.genuine.following(thresholds), self.impostor.following(thresholds))
        return np.where(np.isnan(thresholds), np.nan, after)
