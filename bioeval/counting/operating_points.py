"""The operating points of attempts: each is defined once, for all parts.

A point is a threshold: first the threshold that rejects all, then each distinct score from strict
to loose. FAR and FRR are compared as quotients of whole numbers. The definitions are in
``docs/definitions.md``, "Operating points". All scores are distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bioeval.counting.costs import least_costs
from bioeval.counting.moments import d_prime
from bioeval.counting.points import (
    Corners,
    EqualError,
    Points,
    allowed_errors,
    crossed,
    equal_error_between,
    hull_equal_errors,
    repeated,
    without_overflow,
)
from bioeval.counting.sorted_scores import SortedScores, along_points

if TYPE_CHECKING:
    from bioeval.results.variables import Variable


class AttemptsOfParts:
    """The attempts of verification in one part or in many, and their operating points.

    Rates and thresholds are NaN in a part that lacks attempts of a class, and where there is no
    such point. All numbers of a result come from
    :func:`bioeval.counting.wanted_points.point_values`.

    Parameters
    ----------
    genuine, impostor : SortedScores
    missed, missed_impostors : int or ndarray (parts,), optional
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
        none = np.zeros_like(genuine.sizes)
        self.missed = none + missed
        self.missed_impostors = none + missed_impostors  # (parts,)
        self.genuine_attempts = genuine.attempts + missed  # (parts,)
        if genuine.weights is not None:  # the sum of the weights is a whole number
            self.genuine_attempts = np.rint(self.genuine_attempts).astype(np.int64)
        self.impostor_attempts = impostor.attempts + missed_impostors
        #: bool (parts,): whether both classes have attempts.
        self.defined = (self.genuine_attempts > 0) & (self.impostor_attempts > 0)
        # (parts,): denominators, not 0.
        self._genuine = np.maximum(self.genuine_attempts, 1)
        self._impostor = np.maximum(self.impostor_attempts, 1)

    @classmethod
    def of_lists(
        cls, genuine: Sequence[np.ndarray], impostor: Sequence[np.ndarray], *missed: Any
    ) -> Self:
        """Return the attempts of parts, from a list of increasing scores for every part."""
        distances = np.unique(np.concatenate([np.empty(0), *genuine, *impostor]))
        lists = (SortedScores.of_parts(x, distances) for x in (genuine, impostor))
        return cls(*lists, *missed)

    # -- errors at thresholds

    def errors_at(self, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return false accepts and false rejects at thresholds (parts, ...); NaN rejects all."""
        rejects_all = np.isnan(thresholds)
        accepted = np.where(rejects_all, 0, self.impostor.upto(thresholds))
        genuine_accepted = np.where(rejects_all, 0, self.genuine.upto(thresholds))
        return accepted, along_points(self.genuine_attempts, genuine_accepted) - genuine_accepted

    def next_scores(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the nearest score that each threshold (parts, ...) rejects.

        It is infinity if there is none, and NaN for NaN.
        """
        after = self.impostor.following(thresholds, self.genuine.following(thresholds))
        return np.where(np.isnan(thresholds), np.nan, after)

    def fars(self, accepted: np.ndarray) -> np.ndarray:
        return self._where_defined(accepted / along_points(self._impostor, accepted))

    def frrs(self, rejected: np.ndarray) -> np.ndarray:
        return self._where_defined(rejected / along_points(self._genuine, rejected))

    def _where_defined(self, values: np.ndarray, where: Any = True) -> np.ndarray:
        return np.where(along_points(self.defined, values) & where, values, np.nan)

    # -- points

    @cached_property
    def reject_all(self) -> np.ndarray:
        """The threshold that rejects all, (parts,): -inf, or NaN where some score is -inf."""
        return np.where(
            self.genuine.has_minus_infinity() | self.impostor.has_minus_infinity(), np.nan, -np.inf
        )

    @cached_property
    def corners(self) -> Corners:
        """Reject-all and the points at genuine scores: only they can have the least cost."""
        genuine = self.genuine
        reject_all = genuine.run_starts[:-1]  # before the distinct genuine scores of each part
        starts = genuine.run_starts + np.arange(len(self.defined) + 1)
        below, upto = self.impostor.counts_at(genuine)
        genuine_attempts = repeated(self.genuine_attempts, starts)
        genuine_accepted = np.insert(genuine.upto_distinct(), reject_all, 0)
        return Corners(
            np.insert(genuine.distinct(), reject_all, self.reject_all),
            np.insert(upto, reject_all, 0),
            np.maximum(genuine_attempts - genuine_accepted, 0),
            genuine_attempts,
            repeated(self.impostor_attempts, starts),
            np.insert(below, reject_all, 0),
            starts,
        )

    def equal_error(self) -> EqualError:
        """Return the equal error rates, their thresholds and brackets, (parts,).

        Point 1 is the first point, from strict to loose, with FAR >= FRR, and point 0 is the point
        before it; :func:`bioeval.counting.points.equal_error_between` interpolates.
        """
        threshold, rejected_before = self._crossing()
        is_crossed = ~np.isnan(threshold) & self.defined
        accepted = self.impostor.upto(np.where(is_crossed, threshold, np.inf))
        threshold = np.where(is_crossed, threshold, -np.inf)
        rejected = np.maximum(self.genuine_attempts - self.genuine.upto(threshold), 0)
        # The threshold of point 0: the largest score of either class below, or else reject-all.
        accepted_before, largest_before = self.impostor.largest_below(threshold)
        largest_before = np.fmax(largest_before, self.genuine.largest_below(threshold)[1])
        reject_all = np.where(threshold == -np.inf, np.nan, self.reject_all)
        largest_before = np.where(np.isnan(largest_before), reject_all, largest_before)
        # Failures may keep FRR above FAR.
        is_crossed &= crossed(accepted, rejected, self._genuine, self._impostor)
        before = Points(largest_before, accepted_before, rejected_before)
        after = Points(threshold, accepted, rejected)
        return equal_error_between(before, after, self._genuine, self._impostor, is_crossed)

    def _crossing(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the first threshold with FAR >= FRR, and the false rejects before it, (parts,).

        The threshold is NaN if there is none.
        """
        curve = self.corners
        begin = curve.starts[:-1]
        end = curve.starts[1:]
        # (parts,): the first corner with FAR >= FRR, or the end of the part.
        first = begin + np.add.reduceat(~curve.crossed, begin, dtype=np.int64)
        # Between two corners FRR does not change: as many false accepts are needed to cross it.
        rejected = curve.fr[np.maximum(first - 1, begin)]
        genuine, impostor = without_overflow(self._genuine, self._impostor)
        false_accepts_to_cross = (-(-rejected * impostor // genuine)).astype(np.int64)
        corner = np.where(first < end, curve.threshold[np.minimum(first, end - 1)], np.nan)
        return np.fmin(corner, self.impostor.nth(np.maximum(false_accepts_to_cross, 1))), rejected

    def at_far(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest FRR with FAR at most each target, and the loosest threshold.

        The first impostor score that would raise FAR above the target must be rejected, and with it
        all genuine scores from there on. The threshold is the largest score of either class before.
        """
        limits = np.where(self.defined[:, None], self.far_limits(targets), -np.inf)
        _, last_impostor = self.impostor.largest_below(limits)
        genuine_accepted, last_genuine = self.genuine.largest_below(limits)
        loosest = np.fmax(last_impostor, last_genuine)
        # If a score is -inf, no threshold rejects all.
        reject_all = np.where(limits == -np.inf, np.nan, -np.inf)
        loosest = np.where(np.isnan(loosest), reject_all, loosest)
        frr = self.frrs(along_points(self.genuine_attempts, genuine_accepted) - genuine_accepted)
        return frr, self._where_defined(loosest)

    def far_limits(self, targets: np.ndarray) -> np.ndarray:
        """Return the first impostor score to reject at each target, (parts, targets), or NaN."""
        allowed = allowed_errors(targets, self._impostor[:, None])
        return self.impostor.nth(allowed + 1)

    def at_frr(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the strictest thresholds with FRR at most targets, and whether they are defined.

        A threshold is a genuine score, or rejects all (NaN if a score is -inf). It is undefined
        where failures keep FRR above the target.
        """
        attempts = self._genuine[:, None]
        needed = attempts - allowed_errors(targets, attempts)
        strictest = np.where(needed > 0, self.genuine.nth(needed), self.reject_all[:, None])
        return strictest, (needed <= self.genuine.sizes[:, None]) & self.defined[:, None]

    def far_at_frr(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest FAR with FRR at most each target, and the strictest threshold."""
        threshold, defined = self.at_frr(targets)
        # Reject-all has FAR 0, also where a score of -inf leaves it without a threshold.
        is_strict = np.isnan(threshold)
        is_strict |= (threshold == -np.inf) & (self.reject_all == -np.inf)[:, None]
        accepted = self.impostor.upto(np.where(is_strict, np.inf, threshold))
        far = self.fars(np.where(is_strict, 0, accepted))
        return self._where_defined(far, defined), self._where_defined(threshold, defined)

    def zero_frr(self) -> tuple[np.ndarray, np.ndarray]:
        """Return FAR where no genuine attempt is rejected, and the strictest such threshold."""
        largest_genuine = self.genuine.nth(self.genuine.sizes)
        accepts_all = self.missed == 0
        far = self.fars(self.impostor.upto(np.where(accepts_all, largest_genuine, np.inf)))
        threshold = self._where_defined(largest_genuine, accepts_all)
        return self._where_defined(far, accepts_all), threshold

    # -- points that need every score

    def least_costs(self, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the least costs ``p c_miss FRR + (1 - p) c_fa FAR``, and the strictest thresholds.

        The rows of `costs` are (p, c_miss, c_fa), where p is the proportion of genuine attempts
        expected in use; costs and thresholds are (parts, costs).
        """
        least, best = least_costs(self.corners, costs, self._genuine, self._impostor)
        return self._where_defined(least), self._where_defined(self.corners.threshold[best])

    def optimum(self, variable: Variable) -> tuple[np.ndarray, np.ndarray]:
        """Return the best value of a function of FAR and FRR in each part, and its threshold."""
        curve = self.corners
        values = np.full((2, len(self.defined)), np.nan)
        for part in np.flatnonzero(self.defined).tolist():
            corners = slice(curve.starts[part], curve.starts[part + 1])
            far = curve.fa[corners] / self._impostor[part]
            frr = curve.fr[corners] / self._genuine[part]
            values[0, part] = variable.best(far, frr)
            values[1, part] = curve.threshold[corners][variable.place_of_best(far, frr)]
        return values[0], values[1]

    def hull_equal_error(self) -> np.ndarray:
        """Return the EER on the convex hull of each ROC."""
        curve = self.corners
        sizes = np.diff(curve.starts)[:, None]
        # (parts, most corners + 1): a row for each part, from strict to loose.
        is_point = np.arange(sizes.max() + 1) < sizes
        # Rows are filled up with accept-all, or with the loosest point if attempts failed.
        failed = self.missed + self.missed_impostors > 0
        far, frr = np.empty((2, *is_point.shape))
        far.T[:] = np.where(failed, self.impostor.attempts / self._impostor, 1.0)
        frr.T[:] = np.where(failed, curve.fr[curve.starts[1:] - 1] / self._genuine, 0.0)
        far[is_point] = curve.fa / curve.repeated(self._impostor)
        frr[is_point] = curve.fr / curve.repeated(self._genuine)
        rates = np.full(len(self.defined), np.nan)
        rates[self.defined] = hull_equal_errors(far[self.defined], frr[self.defined])
        return rates

    def auc(self) -> np.ndarray:
        """Return the proportion of pairs with the genuine score below; a tie counts one half.

        It is the statistic of Mann and Whitney (1947), *Annals of Mathematical Statistics* 18,
        divided by the number of pairs, and the area under the ROC: Bamber (1975), *J. Mathematical
        Psychology* 12. Failures are after all scores.
        """
        curve = self.corners
        impostors = self.impostor.attempts
        # (corners,): genuine attempts at each distinct score, and twice the number of their pairs
        # with a farther impostor, where an equal impostor counts one half.
        at_score = np.zeros_like(curve.fr)
        at_score[1:] = curve.fr[:-1] - curve.fr[1:]
        at_score[curve.starts[:-1]] = 0
        pairs = at_score * (2 * curve.repeated(impostors) - curve.below - curve.fa)
        twice_the_pairs = np.add.reduceat(pairs, curve.starts[:-1])  # (parts,)
        twice_the_pairs += (2 * self.genuine.attempts + self.missed) * self.missed_impostors
        all_pairs = 2 * self._genuine.astype(object) * self._impostor  # perhaps beyond int64
        return self._where_defined((twice_the_pairs.astype(object) / all_pairs).astype(np.float64))

    def d_prime(self) -> np.ndarray:
        """Return d' of each part, NaN where neither class varies."""
        classes = zip(self.genuine.moments(), self.impostor.moments(), strict=True)
        return self._where_defined(np.array([d_prime(*both) for both in classes]))
