"""The attempts of open-set identification in one part or in many: mates have a rank."""

from __future__ import annotations

from dataclasses import dataclass
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
        mates = MatesInTable.from_mates(self.mates, self.ranks, limits, ranks)
        # The number of mates that are detected at each target and rank.
        weights = self.mates.weights
        weights = None if weights is None else weights[mates.is_detected]
        detected = np.bincount(mates.cell, weights, minlength=np.prod(mates.shape))
        detected = detected.reshape(mates.shape).cumsum(axis=1).cumsum(axis=2)
        accepted, largest_other = self.others.largest_below(limits)
        loosest = mates.loosest(self.mates.scores(), largest_other)
        is_point = (accepted > 0)[..., None] | (detected > 0)
        threshold = np.where(is_point, loosest, self._reject_all(mates)[:, None])
        attempts = self.every.genuine_attempts[:, None, None]
        rates = np.stack([np.minimum(detected, attempts) / np.maximum(attempts, 1), threshold])
        rates[:, ~self.every.defined] = np.nan
        # From increasing targets back to the order in which the user gave them.
        as_requested = np.empty_like(rates)
        as_requested[:, :, order] = rates
        return as_requested[0], as_requested[1]

    def _reject_all(self, mates: MatesInTable) -> np.ndarray:
        """Return the threshold that rejects all, (parts, ranks); NaN if a score there is -inf."""
        parts, _, ranks = mates.shape
        reject_all = np.full((parts, ranks), -np.inf)
        reject_all[self.others.has_minus_infinity()] = np.nan
        is_minus_infinity = (mates.rank < ranks) & (self.mates.scores() == -np.inf)
        reject_all[mates.part[is_minus_infinity], mates.rank[is_minus_infinity]] = np.nan
        return np.maximum.accumulate(reject_all, axis=1)


@dataclass(frozen=True, eq=False)
class MatesInTable:
    """Where each mate is in a table (parts, FAR targets, ranks); both increase.

    Looser targets and further ranks detect the mate, too.
    """

    shape: tuple[int, int, int]
    part: np.ndarray  # (k,)
    target: np.ndarray  # (k,): the strictest target at which the mate is accepted, or their number
    rank: np.ndarray  # (k,): the first rank at which the mate is found, or the number of ranks

    @classmethod
    def from_mates(
        cls, mates: SortedScores, rank_of_mate: np.ndarray, limits: np.ndarray, ranks: np.ndarray
    ) -> MatesInTable:
        """Return the places of mates, from the first score to reject at targets of each part."""
        part = np.repeat(np.arange(len(limits)), mates.sizes)
        shape = (*limits.shape, len(ranks))
        return cls(shape, part, mates.first_below(limits), ranks.searchsorted(rank_of_mate))

    @cached_property
    def is_detected(self) -> np.ndarray:
        """Which mates are detected at some target and rank."""
        return (self.rank < self.shape[2]) & (self.target < self.shape[1])

    @cached_property
    def cell(self) -> np.ndarray:
        """The index of each detected mate in the flat table."""
        indices = (x[self.is_detected] for x in (self.part, self.target, self.rank))
        return np.ravel_multi_index(tuple(indices), self.shape)

    def loosest(self, scores: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the loosest accepted score of detected mates, and of `others` (parts, targets)."""
        loosest = np.full(np.prod(self.shape), -np.inf)
        loosest[self.cell] = scores[self.is_detected]  # scores increase: the loosest is last
        loosest = loosest.reshape(self.shape)
        loosest[..., 0] = np.fmax(loosest[..., 0], others)
        return np.maximum.accumulate(np.maximum.accumulate(loosest, axis=1), axis=2)
