"""The attempts of open-set identification in one part or in many: mates have a rank."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from bioeval.counting.operating_points import AttemptsOfParts
from bioeval.counting.sorted_scores import SortedScores


class RankedAttempts:
    """The best mates of enrolled probes, and the nearest non-mates of impostor probes.

    At rank k, a mate beyond rank k is missed.

    Parameters
    ----------
    mates : SortedScores
        The best mates; under expected ties, a probe may have several entries, each with a weight.
    ranks : ndarray of int (k,)
        The rank of each mate.
    others : SortedScores
    genuine, impostor : int or ndarray (parts,)
        Numbers of attempts, including failed attempts.
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
        """Return the largest DIR with FAR at most each target, and its threshold, at each rank.

        Both are (parts, targets, ranks); ranks increase. A threshold is the loosest score of a mate
        at the rank or better, or of a non-mate. See :meth:`AttemptsOfParts.at_far`.
        """
        order = np.argsort(targets, kind="stable")
        limits = self.every.far_limits(targets[order])
        shape = (*limits.shape, len(ranks))
        # (k,): the strictest target at which each mate is accepted, the first rank at which it is
        # detected, and its part.
        strictest = self.mates.first_below(limits)
        rank_index = ranks.searchsorted(self.ranks)
        part = np.repeat(np.arange(len(limits)), self.mates.sizes)
        is_ranked = rank_index < len(ranks)
        is_detected = is_ranked & (strictest < len(targets))
        # The mate's index in a flat table (parts, targets, ranks).
        cell = np.ravel_multi_index(
            (part[is_detected], strictest[is_detected], rank_index[is_detected]), shape
        )
        weights = None if self.mates.weights is None else self.mates.weights[is_detected]
        detected = np.bincount(cell, weights, minlength=np.prod(shape)).reshape(shape)
        # Looser targets and further ranks detect these mates, too.
        detected = detected.cumsum(axis=1).cumsum(axis=2)
        loosest = np.full(detected.size, -np.inf)
        scores = self.mates.scores()
        loosest[cell] = scores[is_detected]  # scores increase: the loosest is written last
        loosest = loosest.reshape(shape)
        accepted, largest_other = self.others.largest_below(limits)
        loosest[..., 0] = np.fmax(loosest[..., 0], largest_other)
        loosest = np.maximum.accumulate(np.maximum.accumulate(loosest, axis=1), axis=2)
        # If a score is -inf at a rank, no threshold rejects all.
        reject_all = np.full((shape[0], shape[2]), -np.inf)
        reject_all[self.others.has_minus_infinity()] = np.nan
        is_minus_infinity = is_ranked & (scores == -np.inf)
        reject_all[part[is_minus_infinity], rank_index[is_minus_infinity]] = np.nan
        reject_all = np.maximum.accumulate(reject_all, axis=1)
        is_point = (accepted > 0)[..., None] | (detected > 0)
        attempts = self.every.genuine_attempts[:, None, None]
        rates = np.minimum(detected, attempts) / np.maximum(attempts, 1)
        rates = np.stack([rates, np.where(is_point, loosest, reject_all[:, None])])
        rates[:, ~self.every.defined] = np.nan
        # From increasing targets back to the order in which the user gave them.
        as_requested = np.empty_like(rates)
        as_requested[:, :, order] = rates
        return as_requested[0], as_requested[1]
