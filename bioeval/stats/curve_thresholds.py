"""The thresholds along which curves of FAR and FRR are counted.

Few distinct scores are all thresholds. Of many scores, there is a selection, which is dense where
few attempts are accepted, where nearly all are, and around the equal error rate
(:func:`thresholds_of`). Measures of the curve are exact at the genuine scores besides
(:func:`genuine_rows`). :class:`CountedThresholds` has both. All scores are distances.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bioeval.counting.operating_points import Attempts
from bioeval.counting.order import runs
from bioeval.counting.reduce import OfEachBlock, reduce
from bioeval.counting.threshold_rules import VerificationPoints
from bioeval.counting.verification import Verified
from bioeval.stats.error_curves import CurveMeasure, ErrorColumns, corrected_to

#: The most numbers of attempts in memory, by threshold and person: enough for about 8,000 genuine
#: scores of a thousand people.
MOST_CELLS = 1 << 23

# Up to this number, the thresholds that a user asks for are counted; more are read between points.
_MOST_REQUESTED = 64

# The EER is sought where the FAR of the data is at most this factor above or below the EER.
_AROUND = 3.0

# Up to this number of distinct scores, all scores are points of the curves; of more, a selection.
_MOST_POINTS = 512

# Up to this number of scores, scores are sorted; of more, cells of counted scores are used.
_FEW_SCORES = 1 << 16

# The number of false accepts grows by about this factor at most from one threshold to the next.
_GROWTH = 1.2

# Proportions of rejected attempts, for thresholds that accept nearly all attempts.
_REJECTED = np.array([0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001])

# The number of first thresholds that differ by a single false accept.
_SINGLE_STEPS = 10


def thresholds_of(verified: Verified, points: VerificationPoints) -> tuple[np.ndarray, bool]:
    """Return increasing thresholds, and whether they are all the distinct scores.

    The thresholds are denser around the equal error rate, and depend on the scores alone.
    """
    attempts = verified.attempts
    genuine = np.unique(attempts.genuine.astype(np.float64))
    # `edges` are thresholds among which some are selected, and `accepted` the false accepts there.
    if attempts.impostors <= _FEW_SCORES and len(genuine) <= _FEW_SCORES:
        edges, bounds = runs(_sorted_impostors(verified, genuine))
        accepted = bounds[1:]
        distinct = np.union1d(genuine, edges)
        if len(distinct) <= _MOST_POINTS:
            return distinct, True
    else:
        cells = attempts.even_counts
        edges = cells.edges
        accepted = cells.negative_infinite + np.cumsum(cells.counts)
        # Scores with steps are in few cells. Another pass then finds the distinct ones.
        if len(genuine) + np.count_nonzero(cells.counts) <= _MOST_POINTS:
            distinct = np.union1d(genuine, _distinct_impostors(verified))
            if len(distinct) <= _MOST_POINTS:
                return distinct, True

    if len(edges):  # else no impostor score is finite
        wanted = _levels(attempts.impostors)
        accepts_at_eer = points.values["eer"] * attempts.impostors
        if accepts_at_eer > 0:
            wanted = np.append(wanted, accepts_at_eer * np.geomspace(0.5, 2.0, 33))
        edges = edges[np.minimum(np.searchsorted(accepted, wanted), len(edges) - 1)]
    selected = np.unique(edges)
    return selected[np.isfinite(selected)], False


def _sorted_impostors(verified: Verified, genuine: np.ndarray) -> np.ndarray:
    """Return all impostor scores in increasing order, read again if they were only counted."""
    attempts = verified.attempts
    if not attempts.listed:
        finite = OfEachBlock(lambda scores: scores[~np.isnan(scores)], verified.use.fused)
        (scores,) = reduce(verified.scores, finite)
        attempts = Attempts.from_scores(genuine, np.concatenate(scores).astype(np.float64))
    return attempts.impostor.keys


def _distinct_impostors(verified: Verified) -> np.ndarray:
    """Return impostor scores with few repetitions, float64: the distinct ones of each block."""
    attempts = verified.attempts
    if attempts.listed:
        return attempts.impostor.keys.astype(np.float64)
    distinct = OfEachBlock(_distinct, verified.use.fused)
    (scores,) = reduce(verified.scores, distinct)
    return np.concatenate(scores).astype(np.float64)


def _distinct(scores: np.ndarray) -> np.ndarray:
    return np.unique(scores[~np.isnan(scores)])


def _levels(total: int) -> np.ndarray:
    """Return the numbers of accepted scores, of `total`, at which thresholds are selected.

    They grow by ones, then by a factor, and are dense again where nearly all are accepted.
    """
    steps = max(1, int(np.ceil(np.log(max(total, 2) / _SINGLE_STEPS) / np.log(_GROWTH))))
    ratios = _SINGLE_STEPS * _GROWTH ** np.arange(steps)
    by_ones = np.arange(1, _SINGLE_STEPS)
    nearly_all = total * (1 - _REJECTED)
    return np.concatenate([by_ones, ratios[ratios < total], nearly_all, [total]])


def grid_of(distances: np.ndarray) -> np.ndarray:
    """Return increasing distances along a curve: all finite distances, or a selection of many.

    The selection has the outermost distances at both ends; further inside, the number of distances
    beyond each grows by a constant factor.
    """
    ordered = np.sort(distances[np.isfinite(distances)])
    if len(np.unique(ordered)) > _MOST_POINTS:
        numbers_beyond = np.ceil(_levels(len(ordered))).astype(np.int64)
        numbers_beyond = numbers_beyond[numbers_beyond <= len(ordered)]
        ordered = ordered[np.append(numbers_beyond - 1, len(ordered) - numbers_beyond)]
    return np.unique(ordered)


def genuine_rows(
    verified: Verified, points: VerificationPoints, most: int
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return thresholds at which curves are exact for any weights, at most `most`.

    Between two genuine scores FRR does not change. Therefore the least FRR at a FAR, the least
    cost, the hull and the area under the ROC need only the points at genuine scores. FAR and FRR
    cross at a genuine score, too, or between it and the largest score below.

    Returned are increasing distances, the genuine scores that no impostor score equals, and whether
    measures of these thresholds alone are exact. If more than `most` thresholds are needed, evenly
    spread genuine scores are returned, and measures are not exact.
    """
    attempts = verified.attempts
    scores = attempts.points.genuine.distinct()
    # (scores,): impostor scores below each genuine score, and up to it.
    below, upto = attempts.impostor.counts_at(attempts.points.genuine)
    is_tied = below < upto
    untied_scores = scores[~is_tied]
    # If attempts failed, a threshold at the last score does not accept all attempts.
    thresholds = np.append(scores, [np.inf] if attempts.missed else [])

    # The point before a genuine score is needed if it has more false accepts than the genuine score
    # before: if an impostor score is between the two, or is tied with this one.
    just_below = np.nextafter(scores, -np.inf)
    has_impostor_before = below > np.append(0, upto[:-1])
    needed = np.union1d(thresholds, just_below[is_tied | has_impostor_before])
    if len(needed) <= most:
        return needed, untied_scores, True

    # FAR and FRR cross near the EER of the data, so that impostor scores matter there alone.
    far = below / max(attempts.impostor_attempts, 1)
    eer = points.values["eer"]
    is_near_eer = (far >= eer / _AROUND) & (far <= eer * _AROUND)
    needed = np.union1d(thresholds, just_below[is_tied | (has_impostor_before & is_near_eer)])
    if len(needed) <= most:
        return needed, untied_scores, True

    indices = np.linspace(0, len(scores) - 1, min(len(scores), max(most, 1)))
    return scores[np.unique(indices.astype(np.int64))], untied_scores, False


class CountedThresholds:
    """The thresholds at which attempts are counted: all scores, or a selection of many scores.

    In a selection, points are interpolated linearly between two thresholds, and each column is
    corrected by the interpolation error of the data themselves.

    - `usual`: increasing distances that depend on the scores alone, not on measures
    - `thresholds`: increasing; the usual distances, and the thresholds of measures
    - `every_score`: whether the thresholds are all the distinct scores
    - `at_genuine`: those of :func:`genuine_rows`; empty if the thresholds are all scores
    """

    def __init__(
        self,
        verified: Verified,
        points: VerificationPoints,
        measures: Sequence[CurveMeasure],
        columns: int,
    ):
        """Choose thresholds for some measures, to be counted in a number of columns."""
        self._points = points
        self.usual, self.every_score = thresholds_of(verified, points)
        self.thresholds = self.usual
        self.at_genuine = self._untied_scores = np.empty(0)
        self._is_exact = True
        if self.every_score:
            return
        # Rates are exact at operating points, and at a few thresholds that a user asks for.
        values = points.values
        names = "threshold_at_far", "threshold_at_frr", "eer_threshold"
        further = [np.ravel(values[name]) for name in names if name in values]
        further += [measure.own_thresholds(points) for measure in measures]
        if verified.requested_thresholds is not None:
            requested = verified.curve[0]
            if len(requested) <= _MOST_REQUESTED:
                further.append(requested)
        self.thresholds = _with_finite(self.usual, np.concatenate(further))
        # The number of rows is the same for all measures, so that no value depends on others.
        most = MOST_CELLS // columns - len(self.usual)
        self.at_genuine, self._untied_scores, self._is_exact = genuine_rows(verified, points, most)

    def untied(self, thresholds: np.ndarray) -> np.ndarray | None:
        """Return which thresholds are genuine scores that no impostor score equals; or None."""
        return None if self.every_score else np.isin(thresholds, self._untied_scores)

    def measured(
        self, measures: Sequence[CurveMeasure], curve: ErrorColumns, thresholds: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return measures in each column of a curve at `thresholds`; NaN if undefined on the data.

        A measure uses all genuine scores or, if these are too many, the `usual` thresholds, a
        selection of genuine scores and the measure's own thresholds: its value does not depend on
        other measures.
        """
        points = self._points
        is_exact = self.every_score
        shared_thresholds = self.usual
        if not is_exact and np.isin(self.at_genuine, thresholds).all():
            is_exact = self._is_exact
            shared_thresholds = np.union1d(self.usual, self.at_genuine)
        values = {}
        for measure in measures:
            own_thresholds = measure.own_thresholds(points)  # (targets,), or none
            targets = measure.targets(points)
            columns = np.empty((len(targets), curve.far.shape[1]))
            for i, target in enumerate(targets):
                errors = curve
                if not is_exact:
                    used = _with_finite(shared_thresholds, own_thresholds[i : i + 1])
                    errors = curve.at_rows(thresholds.searchsorted(used))
                columns[i] = measure.in_columns(errors, target, is_exact)
            if not measure.of_target:
                columns = columns[0]
            value = points.values.get(measure.name, np.nan)
            values[measure.name] = corrected_to(value, columns, measure.scalar.bounds)
        return values


def _with_finite(thresholds: np.ndarray, further: np.ndarray) -> np.ndarray:
    """Return thresholds and the finite ones of further thresholds, increasing."""
    return np.union1d(thresholds, further[np.isfinite(further)])
