"""The attempts of open-set identification in one part or in many: mates have a rank."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from bioeval.counting.operating_points import AttemptsOfParts
from bioeval.counting.sorted_scores import SortedScores


class RankedAttempts:
    """The best mates of enrolled probes, and the nearest non-mates of impostor probes.

    At a rank, mates that are beyond it are missed.

    Parameters
    ----------
    mates : SortedScores
        The best mates; a probe may be several entries with a weight each, under expected ties.
    ranks : ndarray of int (k,)
        The rank of each mate.
    others : SortedScores
    genuine, impostor : int or ndarray (parts,)
        Numbers of attempts, with failed ones.
    """

    def __init__(
        self,
        mates: SortedScores,
        ranks: np.ndarray,
        others: SortedScores,
        genuine: Any,
        impostor: Any,
    ):
        self.mates, self.ranks, self.others = mates, ranks, others
        self._genuine = genuine
        self._failed = impostor - others.sizes
        #: The attempts with mates at any rank.
        self.every = AttemptsOfParts(mates, others, genuine - mates.attempts, self._failed)

    @cached_property
    def first(self) -> AttemptsOfParts:
        """The attempts at rank 1."""
        mates = self.mates.select(self.ranks <= 1)
        return AttemptsOfParts(mates, self.others, self._genuine - mates.attempts, self._failed)

    def dir_at_far(self, targets: np.ndarray, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the largest DIR with FAR at most targets at increasing ranks, and the thresholds.

        Both are (parts, targets, ranks); each threshold is the loosest score of a mate at the rank
        or better, or of a non-mate. See :meth:`AttemptsOfParts.at_far`.
        """
        order = np.argsort(targets, kind="stable")
        limits = self.every.far_limits(targets[order])
        shape = (*limits.shape, len(ranks))
        # (k,), of each mate: the part, the strictest target at which the mate is accepted, and the
        # first rank at which it is detected.
        strictest = self.mates.first_below(limits)
        column = ranks.searchsorted(self.ranks)
        part = np.repeat(np.arange(len(limits)), self.mates.sizes)
        is_ranked = column < len(ranks)
        is_detected = is_ranked & (strictest < len(targets))
        # Its place in a flat table (parts, targets, ranks).
        cell = np.ravel_multi_index(
            (part[is_detected], strictest[is_detected], column[is_detected]), shape
        )
        weights = None if self.mates.weights is None else self.mates.weights[is_detected]
        detected = np.bincount(cell, weights, minlength=np.prod(shape)).reshape(shape)
        # Looser targets and further ranks detect these mates, too.
        detected = detected.cumsum(axis=1).cumsum(axis=2)
        loosest = np.full(detected.size, -np.inf)
        scores = self.mates.scores()
        loosest[cell] = scores[is_detected]  # in increasing order: the loosest stays
        loosest = loosest.reshape(shape)
        accepted, last = self.others.largest_below(limits)
        loosest[..., 0] = np.fmax(loosest[..., 0], last)
        loosest = np.maximum.accumulate(np.maximum.accumulate(loosest, axis=1), axis=2)
        # Rejecting all is no point of a rank of which a score has the value -inf.
        reject_all = np.full((shape[0], shape[2]), -np.inf)
        reject_all[self.others.has_minus_infinity()] = np.nan
        is_lowest = is_ranked & (scores == -np.inf)
        reject_all[part[is_lowest], column[is_lowest]] = np.nan
        reject_all = np.maximum.accumulate(reject_all, axis=1)
        is_point = (accepted > 0)[..., None] | (detected > 0)
        attempts = self.every.genuine_attempts[:, None, None]
        rates = np.minimum(detected, attempts) / np.maximum(attempts, 1)
        rates = np.stack([rates, np.where(is_point, loosest, reject_all[:, None])])
        rates[:, ~self.every.defined] = np.nan
        # From increasing targets back to the order in which the user gave them.
        in_order = np.empty_like(rates)
        in_order[:, :, order] = rates
        return in_order[0], in_order[1]
