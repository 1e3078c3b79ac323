"""The operating points of attempts: each is defined once, for all parts, with its costs.

A point is (threshold, false accepts, false rejects): first the threshold that rejects all, then
each distinct score from strict to loose. All scores are distances::

    points = [(-inf, 0, len(genuine))]
    for threshold in sorted({*genuine, *impostor}):
        false_accepts = sum(x <= threshold for x in impostor)
        false_rejects = sum(x > threshold for x in genuine)
        points.append((threshold, false_accepts, false_rejects))

The definitions of operating points are in ``docs/definitions.md``. :class:`AttemptsOfParts` finds
them in sorted scores without a list of all points, for all parts together; FAR and FRR are compared
as quotients of whole numbers. :class:`Attempts` is one part, and :class:`RankedAttempts` are the
attempts of open-set identification, whose mates have a rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from bioeval.counting.grids import EvenCounts, ScoreExtent, grid_over
from bioeval.counting.order import increasing
from bioeval.counting.sorted_scores import FINITE, SortedScores, along_points, d_prime

if TYPE_CHECKING:
    from bioeval.results.variables import Variable


class RankedAttempts:
    """The best mates of enrolled probes, and the nearest non-mates of impostor probes.

    At rank k, a mate beyond rank k is missed.

    - `mates`: the best mates; under expected ties, a probe may have several entries, each with a
      weight
    - `others`: the nearest non-mates of impostor probes
    - `ranks` (k,): the rank of each mate
    - `genuine`, `impostor`, perhaps (parts,): numbers of attempts, including failed attempts
    """

    def __init__(
        self,
        mates: SortedScores,
        ranks: np.ndarray,
        others: SortedScores,
        genuine: Any,
        impostor: Any,
    ):
        self.mates = mates
        self.ranks = ranks
        self.others = others
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
        limits = self.every.far_limits(targets[order])  # (parts, targets): not below a threshold
        shape = (*limits.shape, len(ranks))

        # The place of each mate in a table (parts, targets, ranks), in which both increase: the
        # strictest target that accepts it, and the first rank that finds it. Looser targets and
        # further ranks detect the mate, too.
        part = np.repeat(np.arange(len(limits)), self.mates.sizes)
        target = self.mates.first_below(limits)
        rank = ranks.searchsorted(self.ranks)
        is_detected = (target < shape[1]) & (rank < shape[2])
        cell = np.ravel_multi_index(
            (part[is_detected], target[is_detected], rank[is_detected]), shape
        )
        weights = self.mates.weights
        if weights is not None:
            weights = weights[is_detected]
        detected = np.bincount(cell, weights, minlength=np.prod(shape)).reshape(shape)
        detected = detected.cumsum(axis=1).cumsum(axis=2)
        attempts = self.every.genuine_attempts[:, None, None]
        dir_ = np.minimum(detected, attempts) / np.maximum(attempts, 1)

        # The threshold is the loosest accepted score of a detected mate or of a non-mate.
        scores = self.mates.scores()
        accepted, largest_other = self.others.largest_below(limits)
        threshold = np.full(np.prod(shape), -np.inf)
        threshold[cell] = scores[is_detected]  # scores increase: the loosest is last
        threshold = threshold.reshape(shape)
        # Looser targets and further ranks have this score, too.
        threshold[..., 0] = np.fmax(threshold[..., 0], largest_other)
        threshold = np.maximum.accumulate(np.maximum.accumulate(threshold, axis=1), axis=2)

        # Without an accepted score, the threshold rejects all: -inf, or NaN where some score of a
        # non-mate, or of a mate up to the rank, is -inf.
        reject_all = np.full((len(limits), len(ranks)), -np.inf)
        reject_all[self.others.has_minus_infinity()] = np.nan
        is_minus_infinity = (rank < len(ranks)) & (scores == -np.inf)
        reject_all[part[is_minus_infinity], rank[is_minus_infinity]] = np.nan
        reject_all = np.maximum.accumulate(reject_all, axis=1)
        has_score = (accepted > 0)[..., None] | (detected > 0)
        threshold = np.where(has_score, threshold, reject_all[:, None])

        # From increasing targets back to the order in which the user gave them.
        dir_[~self.every.defined] = threshold[~self.every.defined] = np.nan
        place = np.argsort(order)
        return dir_.take(place, axis=1), threshold.take(place, axis=1)


class Attempts:
    """Genuine and impostor scores in order; ``CountedAttempts`` lists only some impostors.

    The attempts are a single part; `points` finds their operating points.

    - `genuine` (float64): in increasing order, without NaN
    - `missed`, `missed_impostors`: attempts that no threshold accepts, since they failed
    """

    #: Whether every impostor score is known.
    listed: ClassVar[bool] = True

    def __init__(
        self,
        genuine: np.ndarray,
        impostor: SortedScores,
        missed: int = 0,
        missed_impostors: int = 0,
    ):
        genuine_scores = SortedScores.of_scores(genuine)
        self.genuine = genuine_scores.keys
        self.impostor = impostor
        self.points = AttemptsOfParts(genuine_scores, impostor, missed, missed_impostors)
        self.impostors = int(impostor.attempts[0])  # the number of impostor scores
        self.missed = missed
        self.missed_impostors = missed_impostors
        self.genuine_attempts = len(genuine) + missed
        self.impostor_attempts = self.impostors + missed_impostors
        #: Whether both classes have attempts.
        self.defined = self.genuine_attempts > 0 and self.impostor_attempts > 0

    @classmethod
    def from_ordered(
        cls, genuine: np.ndarray, impostor: np.ndarray, missed: int = 0, missed_impostors: int = 0
    ) -> Attempts:
        """Return attempts whose scores are all known, increasing, and not NaN."""
        return cls(genuine, SortedScores.of_scores(impostor), missed, missed_impostors)

    @classmethod
    def from_scores(cls, genuine: np.ndarray, impostor: np.ndarray) -> Attempts:
        """Return listed attempts; NaN is a failed attempt, which has no score."""
        genuine_scores = increasing(genuine)
        impostor_scores = increasing(impostor)
        return cls.from_ordered(
            genuine_scores,
            impostor_scores,
            missed=len(genuine) - len(genuine_scores),
            missed_impostors=len(impostor) - len(impostor_scores),
        )

    # -- counts

    def false_accepts(self, threshold: Any) -> np.ndarray:
        """Return the number of false accepts at each threshold."""
        return self.impostor.upto(np.asarray(threshold)[None])[0]

    def errors_at(self, threshold: float) -> tuple[int, int]:
        """Return the numbers of false accepts and false rejects at a threshold; NaN rejects all."""
        accepted, rejected = self.points.errors_at(np.array([threshold]))
        return int(accepted[0]), int(rejected[0])

    def next_scores(self, thresholds: Any) -> np.ndarray:
        """Return the nearest score that each threshold rejects.

        It is infinity if there is none, and NaN for NaN.
        """
        return self.points.next_scores(np.asarray(thresholds, dtype=np.float64)[None])[0]

    @cached_property
    def even_counts(self) -> EvenCounts:
        """The impostor scores in cells of one width."""
        scores = self.impostor.keys
        negative, high = scores.searchsorted(FINITE).tolist()
        finite = scores[negative:high]
        infinite = negative, len(scores) - high
        return EvenCounts.from_upper(finite, None, finite[:1], *infinite)

    def default_curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Return about 1,000 thresholds over both classes, and the false accepts there."""
        thresholds = grid_over(self.extent())
        return thresholds, self.false_accepts(thresholds)

    def extent(self) -> ScoreExtent:
        """Return the range of the scores of both classes."""
        genuine = ScoreExtent.from_ordered(self.genuine)
        return genuine.joined(ScoreExtent.from_ordered(self.impostor.keys))


#: Names that label the costs of decisions, which are scalars by prior.
COST_LABELS = ("cost_prior", "cost_miss", "cost_false_accept")

# The largest number of points of nearly the same cost that are compared without rounding.
EXACT_COSTS = 1000


@lru_cache(256)
def costs_of_rates(prior: Any, miss: Any, accept: Any) -> tuple[int, int]:
    """Return the costs of FAR and of FRR, in a common unit in which they are whole numbers."""
    of_far = (1 - Fraction(prior)) * Fraction(accept)
    of_frr = Fraction(prior) * Fraction(miss)
    return of_far.numerator * of_frr.denominator, of_frr.numerator * of_far.denominator


def rounded_weights(accept: np.ndarray, reject: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the costs of errors (parts,) as proportions of the larger cost, float64."""
    larger = np.maximum(np.maximum(accept, reject), 1)
    return (accept / larger).astype(np.float64), (reject / larger).astype(np.float64)


def trivial_cost(prior: Any, miss: Any, accept: Any) -> Any:
    """Return the cost of the better trivial decision, to reject all attempts or to accept all.

    A cost divided by it is normalised: a system as good as the prior alone has 1.
    """
    return np.minimum(prior * miss, (1 - prior) * accept)


def mean_cost(costs: Any, far: np.ndarray, frr: np.ndarray) -> np.ndarray:
    """Return ``p c_miss FRR + (1 - p) c_fa FAR``; `costs` are (p, c_miss, c_fa)."""
    prior, miss, accept = costs
    cost = float(prior * miss) * frr
    cost += float((1 - prior) * accept) * far
    return cost


def normalised_cost(least: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Return least costs (..., costs), divided by the trivial cost of each row of `costs`.

    They are NaN where a trivial decision costs nothing.
    """
    trivial = trivial_cost(*np.transpose(costs))
    return np.where(trivial > 0, least / np.where(trivial > 0, trivial, 1), np.nan)


# Up to this number, all whole numbers are float64.
MOST_EXACT = 2**53

# Points of ROCs that are computed together: few enough for the caches.
POINTS_TOGETHER = 1 << 16


@dataclass
class EqualError:
    """The equal error rate, its threshold and its bracket: numbers, or arrays (parts,).

    They are NaN where they are undefined.
    """

    eer: Any = np.nan
    eer_threshold: Any = np.nan
    far_at_eer: Any = np.nan
    frr_at_eer: Any = np.nan
    eer_bracket_low: Any = np.nan
    eer_bracket_high: Any = np.nan
    #: EER if genuine attempts come last among equal scores, and if they come first.
    ends: tuple[Any, Any] = (np.nan, np.nan)

    def values(self) -> dict[str, Any]:
        """Return the numbers of a result by name."""
        values = {**vars(self)}
        del values["ends"]
        return values


class Points(NamedTuple):
    """A point of the ROC of each part, arrays (parts,)."""

    threshold: np.ndarray
    fa: np.ndarray  # false accepts
    fr: np.ndarray  # false rejects


@dataclass(frozen=True, eq=False)
class Corners:
    """Reject-all and the points of a ROC at genuine scores, from strict to loose, part by part.

    Only these points can have the least cost.
    """

    threshold: np.ndarray  # float64 (p,): increasing; NaN or -inf for the point that rejects all
    #: (p,): false accepts and false rejects: integers, or expected numbers under expected ties.
    fa: np.ndarray
    fr: np.ndarray
    genuine: Any  # attempts of each class: a number, or (p,)
    impostor: Any
    below: np.ndarray  # int64 (p,): impostor scores below each threshold
    starts: np.ndarray  # int64 (parts + 1,): where parts begin, and the end


def repeated(of_parts: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return an array (parts,) with an entry for each point; unchanged if there is one part."""
    return of_parts if len(of_parts) == 1 else np.repeat(of_parts, np.diff(starts))


def crossed(fa: np.ndarray, fr: np.ndarray, genuine: Any, impostor: Any) -> np.ndarray:
    """Return whether FAR >= FRR at points, exactly if the errors are whole numbers."""
    left = np.multiply(fa, genuine, dtype=np.float64)
    right = np.multiply(fr, impostor, dtype=np.float64)
    is_crossed = left >= right
    if right.max(initial=0) > MOST_EXACT:
        unsure = np.nonzero(np.abs(left - right) <= 1e-12 * right)
        numbers = np.broadcast_arrays(fa, fr, genuine, impostor)
        fa, fr, genuine, impostor = (x[unsure].astype(object) for x in numbers)
        is_crossed[unsure] = fa * genuine >= fr * impostor
    return is_crossed


def without_overflow(genuine: Any, impostor: Any) -> tuple[Any, Any]:
    """Return numbers of attempts by which errors may be multiplied: Python integers, if need be."""
    if np.multiply(genuine, impostor, dtype=np.float64).max() < MOST_EXACT:
        return genuine, impostor
    return np.asarray(genuine).astype(object), np.asarray(impostor).astype(object)


def equal_error_between(
    before: Points, after: Points, genuine: Any, impostor: Any, is_crossed: Any = True
) -> EqualError:
    """Return the EER between neighbouring points, where FAR and FRR cross in each part.

    It is NaN in parts where they do not, which `is_crossed` says. Between point 0 (`before`), with
    F0 = FAR and R0 = FRR, and point 1 (`after`), the value is ``EER = F0 + lambda (F1 - F0)`` with
    ``lambda = (R0 - F0) / ((F1 - F0) - (R1 - R0))``.

    - The threshold is the point with the smaller ``max(FAR, FRR)``, the stricter one in a tie.
    - The bracket is FAR and FRR at the point with the smaller FAR + FRR, as in the Fingerprint
      Verification Competition (Maio et al. 2002, FVC2000, *IEEE TPAMI* 24).
    """
    f0 = before.fa / impostor
    r0 = before.fr / genuine
    f1 = after.fa / impostor
    r1 = after.fr / genuine
    weight = (r0 - f0) / np.where(is_crossed, (f1 - f0) - (r1 - r0), 1.0)

    # Compare as whole numbers over a common denominator, so that ties are exact.
    genuine, impostor = without_overflow(genuine, impostor)
    a0 = before.fa * genuine
    b0 = before.fr * impostor
    a1 = after.fa * genuine
    b1 = after.fr * impostor
    strict_is_better = np.maximum(a0, b0) <= np.maximum(a1, b1)
    # The loosest point with FRR >= FAR is point 1 where the two are equal there.
    loose_is_closer = (a1 == b1) | (a1 + b1 <= a0 + b0)
    bracket_far = np.where(loose_is_closer, f1, f0)
    bracket_frr = np.where(loose_is_closer, r1, r0)

    def where_crossed(values: np.ndarray) -> np.ndarray:
        return np.where(is_crossed, values, np.nan)

    threshold = np.where(strict_is_better, before.threshold, after.threshold)
    return EqualError(
        eer=where_crossed(f0 + weight * (f1 - f0)),
        eer_threshold=where_crossed(threshold),
        far_at_eer=where_crossed(np.where(strict_is_better, f0, f1)),
        frr_at_eer=where_crossed(np.where(strict_is_better, r0, r1)),
        eer_bracket_low=where_crossed(np.minimum(bracket_far, bracket_frr)),
        eer_bracket_high=where_crossed(np.maximum(bracket_far, bracket_frr)),
        ends=(where_crossed(np.minimum(r0, f1)), where_crossed(np.maximum(f0, r1))),
    )


def allowed_errors(target: Any, attempts: Any) -> np.ndarray:
    """Return the largest number of errors whose rate is at most a target in [0, 1].

    The number of attempts must not be 0. Rounding of the product is corrected by one error.
    """
    errors = np.asarray(target * attempts).astype(np.int64)
    errors += (errors + 1) / attempts <= target
    errors -= errors / attempts > target
    return errors


def pairs_won(genuine: np.ndarray, accepted: np.ndarray, twice_the_impostors: Any) -> np.ndarray:
    """Return twice the pairs of genuine attempts with a farther impostor; equal ones count half.

    `accepted` are the impostors below each genuine score, plus those up to it; it is overwritten.
    Their sum over the scores is the area under the ROC, by the trapezoidal rule.
    """
    np.subtract(twice_the_impostors, accepted, out=accepted)
    accepted *= genuine
    return accepted


def hull_equal_errors(far: np.ndarray, frr: np.ndarray, defined: np.ndarray) -> np.ndarray:
    """Return the rate where the hull of each ROC meets the line FAR = FRR, (ROCs,); NaN if none.

    The EER on the lower-left convex hull ("ROCCH"): Provost and Fawcett (2001), *Machine Learning*
    42; Brümmer and de Villiers (2013), arXiv:1304.2865.

    FAR and FRR are (points, ROCs), the first point being reject-all, (0, 1). The last point accepts
    most attempts: it is (1, 0) unless some attempts failed. ROCs that are not `defined` have NaN.
    """
    rates = np.full(len(defined), np.nan)
    of_defined = np.flatnonzero(defined)
    step = max(1, POINTS_TOGETHER // len(far))
    for low in range(0, len(of_defined), step):
        rocs = of_defined[low : low + step]
        rates[rocs] = _met_by_hulls(far[:, rocs], frr[:, rocs])
    return rates


def _met_by_hulls(far: np.ndarray, frr: np.ndarray) -> np.ndarray:
    """Find the edge of each hull that crosses the line, from a point on each side of the line.

    While a point is below the edge, the lowest point replaces the end on its side.
    """
    roc = np.arange(far.shape[1])
    first_loose = (far < frr).argmin(axis=0)  # the first point that is not strict, if there is any
    last_strict = np.maximum(first_loose - 1, 0)
    # (ROCs,): FAR and FRR at the strict end (0) and at the loose end (1) of the edge.
    far0, frr0 = far[last_strict, roc], frr[last_strict, roc]
    far1, frr1 = far[first_loose, roc], frr[first_loose, roc]
    is_met = far1 >= frr1

    # Where FRR falls in no ROC, FAR alone rises: such points are never the lowest.
    is_corner = np.append(True, (frr[1:] < frr[:-1]).any(axis=1))
    far = np.ascontiguousarray(far[is_corner].T)  # (ROCs, corners)
    frr = np.ascontiguousarray(frr[is_corner].T)
    while True:
        # The edge has all its points at one height, ``FAR (frr0 - frr1) + FRR (far1 - far0)``.
        of_far = frr0 - frr1
        of_frr = far1 - far0
        height = of_far[:, None] * far
        height += of_frr[:, None] * frr
        height_of_edge = of_far * far0 + of_frr * frr0
        lowest = height.argmin(axis=1)
        # Lower by more than rounding.
        is_below = is_met & (height[roc, lowest] < height_of_edge * (1 - 1e-14))
        if not is_below.any():
            break
        lowest_far = far[roc, lowest]
        lowest_frr = frr[roc, lowest]
        is_strict = is_below & (lowest_far < lowest_frr)
        far0 = np.where(is_strict, lowest_far, far0)
        frr0 = np.where(is_strict, lowest_frr, frr0)
        is_loose = is_below & ~is_strict
        far1 = np.where(is_loose, lowest_far, far1)
        frr1 = np.where(is_loose, lowest_frr, frr1)
    # The edge meets the line where the differences FRR - FAR of its ends balance.
    gap0 = frr0 - far0
    gap1 = frr1 - far1
    share = gap0 / np.where(is_met & (gap0 > gap1), gap0 - gap1, 1.0)
    return np.where(is_met, far0 + share * (far1 - far0), np.nan)


class AttemptsOfParts:
    """The attempts of verification in one part or in many, and their operating points.

    Rates and thresholds are NaN in a part that lacks attempts of a class, and where there is no
    such point. All numbers of a result come from
    :func:`bioeval.counting.threshold_rules.point_values`.

    - `missed`, `missed_impostors`, perhaps (parts,): attempts without a score, which no threshold
      accepts; in the open set, also genuine attempts whose mate is not first
    """

    def __init__(
        self,
        genuine: SortedScores,
        impostor: SortedScores,
        missed: Any = 0,
        missed_impostors: Any = 0,
    ):
        self.genuine = genuine
        self.impostor = impostor
        zeros = np.zeros_like(genuine.sizes)
        # (parts,), as all numbers of attempts.
        self.missed = zeros + missed
        self.missed_impostors = zeros + missed_impostors
        self.genuine_attempts = genuine.attempts + missed
        if genuine.weights is not None:  # parts of attempts, which add up to whole numbers
            self.genuine_attempts = np.rint(self.genuine_attempts).astype(np.int64)
        self.impostor_attempts = impostor.attempts + missed_impostors
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

    @classmethod
    def of_cells(
        cls, genuine: np.ndarray, filled: np.ndarray, counts: np.ndarray, *missed: Any
    ) -> Self:
        """Return the attempts of one part, whose scores are the numbers of their cells.

        `genuine` are the increasing cells of genuine scores; `filled` cells have `counts` of
        impostor scores. The cell of a point of the scores is a point of the cells.
        """
        impostor = SortedScores.of_scores(filled, counts)
        return cls(SortedScores.of_scores(genuine), impostor, *missed)

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
        return self.where_defined(accepted / along_points(self._impostor, accepted))

    def frrs(self, rejected: np.ndarray) -> np.ndarray:
        return self.where_defined(rejected / along_points(self._genuine, rejected))

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
        starts = self.genuine.run_starts + np.arange(len(self.defined) + 1)
        # (p - parts,): the corner of each distinct genuine score, after reject-all of its part.
        corners: slice | np.ndarray = slice(1, None)
        if len(self.defined) > 1:
            corners = np.delete(np.arange(starts[-1]), starts[:-1])

        def with_reject_all(of_reject_all: Any, of_scores: np.ndarray) -> np.ndarray:
            """Return the value of reject-all before the values of each part's scores."""
            of_corners = np.empty(starts[-1], of_scores.dtype)
            of_corners[starts[:-1]] = of_reject_all
            of_corners[corners] = of_scores
            return of_corners

        below, upto = self.impostor.counts_at(self.genuine)
        genuine_attempts = repeated(self.genuine_attempts, starts)
        genuine_accepted = with_reject_all(0, self.genuine.upto_distinct())
        return Corners(
            threshold=with_reject_all(self.reject_all, self.genuine.distinct()),
            fa=with_reject_all(0, upto),
            fr=np.maximum(genuine_attempts - genuine_accepted, 0),
            genuine=genuine_attempts,
            impostor=repeated(self.impostor_attempts, starts),
            below=with_reject_all(0, below),
            starts=starts,
        )

    def equal_error(self) -> EqualError:
        """Return the EERs, their thresholds and brackets, (parts,); NaN if they are undefined.

        Point 1 is the first point with FAR >= FRR, and point 0 is the point before it; see
        :func:`equal_error_between`.
        """
        threshold, rejected_before = self.crossing()
        is_crossed = ~np.isnan(threshold) & self.defined
        # Point 1. In other parts, whose values are NaN, any threshold with known counts will do.
        accepted = self.impostor.upto(np.where(is_crossed, threshold, np.inf))
        threshold = np.where(is_crossed, threshold, -np.inf)
        rejected = np.maximum(self.genuine_attempts - self.genuine.upto(threshold), 0)
        after = Points(threshold, accepted, rejected)
        # The threshold of point 0: the largest score of either class below, or else reject-all.
        accepted_before, largest_impostor = self.impostor.largest_below(threshold)
        _, largest_genuine = self.genuine.largest_below(threshold)
        largest_before = np.fmax(largest_impostor, largest_genuine)
        reject_all = np.where(threshold == -np.inf, np.nan, self.reject_all)
        largest_before = np.where(np.isnan(largest_before), reject_all, largest_before)
        before = Points(largest_before, accepted_before, rejected_before)
        # Failures may keep FRR above FAR.
        is_crossed &= crossed(accepted, rejected, self._genuine, self._impostor)
        return equal_error_between(before, after, self._genuine, self._impostor, is_crossed)

    def hull_equal_error(self) -> np.ndarray:
        """Return the EER on the convex hull of each ROC, (parts,)."""
        return hull_equal_errors(*self.with_ends, self.defined)

    def where_defined(self, values: np.ndarray, where: Any = True) -> np.ndarray:
        return np.where(along_points(self.defined, values) & where, values, np.nan)

    def crossing(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the first threshold with FAR >= FRR, and the false rejects before it, (parts,).

        The threshold is NaN if there is none.
        """
        curve = self.corners
        begin = curve.starts[:-1]
        end = curve.starts[1:]
        # (parts,): the first corner with FAR >= FRR, or the end of the part.
        is_crossed = crossed(curve.fa, curve.fr, curve.genuine, curve.impostor)
        first = begin + np.add.reduceat(~is_crossed, begin, dtype=np.int64)
        corner = np.where(first < end, curve.threshold[np.minimum(first, end - 1)], np.nan)
        # Between two corners FRR does not change. FAR crosses it at an impostor score before the
        # corner, if there are as many false accepts as FRR times the attempts, rounded up.
        rejected = curve.fr[np.maximum(first - 1, begin)]
        genuine, impostor = without_overflow(self._genuine, self._impostor)
        false_accepts_to_cross = (-(-rejected * impostor // genuine)).astype(np.int64)
        score = self.impostor.nth(np.maximum(false_accepts_to_cross, 1))
        return np.fmin(corner, score), rejected

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
        return frr, self.where_defined(loosest)

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
        threshold, is_defined = self.at_frr(targets)
        # Reject-all has FAR 0, also where a score of -inf leaves it without a threshold.
        no_score_is_smallest = (self.reject_all == -np.inf)[:, None]
        rejects_all = np.isnan(threshold) | ((threshold == -np.inf) & no_score_is_smallest)
        accepted = self.impostor.upto(np.where(rejects_all, np.inf, threshold))
        far = self.fars(np.where(rejects_all, 0, accepted))
        return self.where_defined(far, is_defined), self.where_defined(threshold, is_defined)

    def zero_frr(self) -> tuple[np.ndarray, np.ndarray]:
        """Return FAR where no genuine attempt is rejected, and the strictest such threshold."""
        largest_genuine = self.genuine.nth(self.genuine.sizes)
        accepts_all = self.missed == 0
        far = self.fars(self.impostor.upto(np.where(accepts_all, largest_genuine, np.inf)))
        threshold = self.where_defined(largest_genuine, accepts_all)
        return self.where_defined(far, accepts_all), threshold

    # -- points that need every score

    def weights_of_errors(self, costs: Sequence[Any] | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the costs of a false accept and of a false reject, (parts,), Python integers.

        The unit may differ between parts. `costs` are (p, c_miss, c_fa), perhaps fractions; None if
        all errors cost the same, as for the largest accuracy.
        """
        if costs is None:
            return np.ones(len(self.defined), object), np.ones(len(self.defined), object)
        of_far, of_frr = costs_of_rates(*costs)
        return of_far * self._genuine.astype(object), of_frr * self._impostor.astype(object)

    def cheapest(self, costs: Sequence[Any] | None) -> np.ndarray:
        """Return the first corner of least cost in each part, (parts,).

        `costs` are as for :meth:`weights_of_errors`. Costs that are nearly equal are compared
        without rounding.
        """
        curve = self.corners
        accept, reject = self.weights_of_errors(costs)
        of_fa, of_fr = (repeated(x, curve.starts) for x in rounded_weights(accept, reject))
        cost = of_fa * curve.fa + of_fr * curve.fr
        least = np.minimum.reduceat(cost, curve.starts[:-1])
        near_least = np.flatnonzero(cost <= repeated(least * (1 + 1e-12), curve.starts))
        bounds = near_least.searchsorted(curve.starts)
        best = near_least[bounds[:-1]]
        for part in np.flatnonzero(np.diff(bounds) > 1).tolist():
            candidates = near_least[bounds[part] : bounds[part + 1]]
            if len(candidates) > EXACT_COSTS:
                best[part] = candidates[cost[candidates].argmin()]
                continue
            errors = zip(curve.fa[candidates].tolist(), curve.fr[candidates].tolist(), strict=True)
            exact_costs = [accept[part] * fa + reject[part] * fr for fa, fr in errors]
            best[part] = candidates[exact_costs.index(min(exact_costs))]
        return best

    def least_costs(self, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the least costs ``p c_miss FRR + (1 - p) c_fa FAR``, and the strictest thresholds.

        The rows of `costs` are (p, c_miss, c_fa), where p is the proportion of genuine attempts
        expected in use; costs and thresholds are (parts, costs).
        """
        curve = self.corners
        best = np.empty((len(self.defined), len(costs)), dtype=np.int64)
        least = np.empty(best.shape)
        for k, row in enumerate(costs.tolist()):  # perhaps fractions
            point = self.cheapest(row)
            far = curve.fa[point] / self._impostor
            frr = curve.fr[point] / self._genuine
            best[:, k] = point
            least[:, k] = mean_cost(row, far, frr)
        return self.where_defined(least), self.where_defined(curve.threshold[best])

    def optimum(self, variable: Variable) -> tuple[np.ndarray, np.ndarray]:
        """Return the best value of a function of FAR and FRR in each part, and its threshold."""
        curve = self.corners
        best = np.full(len(self.defined), np.nan)
        threshold = best.copy()
        for part in np.flatnonzero(self.defined).tolist():
            corners = slice(curve.starts[part], curve.starts[part + 1])
            far = curve.fa[corners] / self._impostor[part]
            frr = curve.fr[corners] / self._genuine[part]
            best[part] = variable.best(far, frr)
            threshold[part] = curve.threshold[corners][variable.place_of_best(far, frr)]
        return best, threshold

    @cached_property
    def with_ends(self) -> tuple[np.ndarray, np.ndarray]:
        """FAR and FRR at the corners and accept-all, (points, parts).

        If attempts failed, nothing accepts all: the last point stands for it. Parts with fewer
        points repeat their last.
        """
        curve = self.corners
        sizes = np.diff(curve.starts)[:, None]
        # (parts, most corners + 1): a row for each part, from strict to loose.
        is_point = np.arange(sizes.max() + 1) < sizes
        failed = self.missed + self.missed_impostors > 0
        far, frr = np.empty((2, *is_point.shape))
        far.T[:] = np.where(failed, self.impostor.attempts / self._impostor, 1.0)
        frr.T[:] = np.where(failed, curve.fr[curve.starts[1:] - 1] / self._genuine, 0.0)
        far[is_point] = curve.fa / repeated(self._impostor, curve.starts)
        frr[is_point] = curve.fr / repeated(self._genuine, curve.starts)
        return far.T, frr.T

    def auc(self) -> np.ndarray:
        """Return the proportion of pairs with the genuine score below; a tie counts one half.

        It is the statistic of Mann and Whitney (1947), *Annals of Mathematical Statistics* 18,
        divided by the number of pairs, and the area under the ROC: Bamber (1975), *J. Mathematical
        Psychology* 12. Failures are after all scores.
        """
        curve = self.corners
        impostors = self.impostor.attempts
        # (corners,): genuine attempts at each distinct score, and their pairs with impostors.
        at_score = np.zeros_like(curve.fr)
        at_score[1:] = curve.fr[:-1] - curve.fr[1:]
        at_score[curve.starts[:-1]] = 0
        accepted = curve.below + curve.fa
        pairs = pairs_won(at_score, accepted, 2 * repeated(impostors, curve.starts))
        twice_the_pairs = np.add.reduceat(pairs, curve.starts[:-1])  # (parts,)
        twice_the_pairs += (2 * self.genuine.attempts + self.missed) * self.missed_impostors
        all_pairs = 2 * self._genuine.astype(object) * self._impostor  # perhaps beyond int64
        return self.where_defined((twice_the_pairs.astype(object) / all_pairs).astype(np.float64))

    def d_prime(self) -> np.ndarray:
        """Return d' of each part, NaN where neither class varies."""
        classes = zip(self.genuine.moments(), self.impostor.moments(), strict=True)
        return self.where_defined(np.array([d_prime(*both) for both in classes]))
