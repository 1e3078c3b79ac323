"""The thresholds at which attempts are counted, and the measures of curves over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from bioeval.counting.verification import Verified
from bioeval.stats.curve_limits import thresholds_of
from bioeval.stats.error_curves import CurveMeasure, ErrorColumns, corrected_to

#: The most numbers of attempts in memory, by threshold and person: enough for about 8,000 genuine
#: scores of a thousand people.
MOST_CELLS = 1 << 23

# Up to this number, the thresholds that a user asks for are counted; more are read between points.
_MOST_REQUESTED = 64

# The EER is sought where the FAR of the data is at most this factor above or below the EER.
_AROUND = 3.0


class GenuineRows(NamedTuple):
    """Thresholds at the genuine scores, with which measures of a curve are exact for any weights.

    Between two genuine scores FRR does not change. Therefore the least FRR at a FAR, the least
    cost, the hull and the area under the ROC need only the points at genuine scores. FAR and FRR
    cross at a genuine score, too, or between it and the largest score below.
    """

    thresholds: np.ndarray  # increasing distances
    untied: np.ndarray  # the genuine scores among them that no impostor score equals
    exact: bool  # whether measures of these thresholds alone are exact

    @classmethod
    def from_attempts(cls, verified: Verified, most: int) -> Self:
        """Return at most `most` thresholds: if more are needed, evenly spread genuine scores."""
        attempts = verified.attempts
        scores = attempts.points.genuine.distinct()
        below, upto = attempts.impostor.counts_at(attempts.points.genuine)
        untied = scores[below == upto]
        # If attempts failed, a threshold at the last score does not accept all attempts.
        thresholds = np.append(scores, [np.inf] if attempts.missed else [])
        just_below = np.nextafter(scores, -np.inf)
        tied = below < upto
        has_score_below = below > np.append(0, upto[:-1])
        far = below / max(attempts.impostor_attempts, 1)
        eer = verified.points.equal_error.eer
        is_near_eer = has_score_below & (far >= eer / _AROUND) & (far <= eer * _AROUND)
        for is_preceded in (tied | has_score_below, tied | is_near_eer):
            all_needed = np.union1d(thresholds, just_below[is_preceded])
            if len(all_needed) <= most:
                return cls(all_needed, untied, True)
        indices = np.linspace(0, len(scores) - 1, min(len(scores), max(most, 1)))
        return cls(scores[np.unique(indices.astype(np.int64))], untied, False)


@dataclass(frozen=True, eq=False)
class CountedThresholds:
    """The thresholds at which attempts are counted: all scores, or a selection of many scores.

    In a selection, points are interpolated linearly between two thresholds, and each column is
    corrected by the interpolation error of the data themselves.
    """

    verified: Verified  # with its operating points
    usual: np.ndarray  # increasing distances that depend on the scores alone, not on measures
    thresholds: np.ndarray  # increasing: the usual distances, and the thresholds of measures
    genuine_rows: GenuineRows | None  # None if the thresholds are all scores

    @classmethod
    def of_measures(
        cls, verified: Verified, measures: Sequence[CurveMeasure], columns: int
    ) -> CountedThresholds:
        """Return the thresholds for some measures, counted in a number of columns."""
        usual, every_score = thresholds_of(verified)
        if every_score:
            return cls(verified, usual, usual, None)
        thresholds_of_measures = [x.own_thresholds(verified.points) for x in measures]
        marked = np.concatenate([_marked_thresholds(verified), *thresholds_of_measures])
        # The number of rows is the same for all measures, so that no value depends on others.
        rows = GenuineRows.from_attempts(verified, MOST_CELLS // columns - len(usual))
        return cls(verified, usual, _with_finite(usual, marked), rows)

    @property
    def every_score(self) -> bool:
        """Whether the thresholds are all the distinct scores."""
        return self.genuine_rows is None

    @property
    def with_genuine_rows(self) -> np.ndarray:
        """All thresholds, and the thresholds of the genuine rows."""
        if self.genuine_rows is None:
            return self.thresholds
        return np.union1d(self.thresholds, self.genuine_rows.thresholds)

    def untied(self, thresholds: np.ndarray) -> np.ndarray | None:
        """Return which thresholds are genuine scores that no impostor score equals; or None."""
        rows = self.genuine_rows
        return None if rows is None else np.isin(thresholds, rows.untied)

    def measured(
        self, measures: Sequence[CurveMeasure], curve: ErrorColumns, thresholds: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return measures in each column of a curve at `thresholds`; NaN if undefined on the data.

        A measure uses all genuine scores or, if these are too many, the `usual` thresholds, a
        selection of genuine scores and the measure's own thresholds: its value does not depend on
        other measures.
        """
        points = self.verified.points
        rows = self.genuine_rows
        exact = self.every_score
        shared = self.usual
        if rows is not None and np.isin(rows.thresholds, thresholds).all():
            exact = rows.exact
            shared = np.union1d(self.usual, rows.thresholds)
        values = {}
        for measure in measures:
            own = measure.own_thresholds(points)
            targets = measure.targets(points)
            columns = np.empty((len(targets), curve.far.shape[1]))
            for i, target in enumerate(targets):
                errors = curve
                if not exact:
                    used = _with_finite(shared, own[i : i + 1])
                    errors = curve.at_rows(thresholds.searchsorted(used))
                columns[i] = measure.in_columns(errors, target, exact)
            value = points.values.get(measure.name, np.nan)
            values[measure.name] = corrected_to(
                value, columns if measure.of_target else columns[0], measure.scalar.bounds
            )
        return values


def _with_finite(thresholds: np.ndarray, further: np.ndarray) -> np.ndarray:
    return np.union1d(thresholds, further[np.isfinite(further)])


def _marked_thresholds(verified: Verified) -> np.ndarray:
    marked = verified.points.thresholds("threshold_at_far", "threshold_at_frr", "eer_threshold")
    if verified.requested_thresholds is None:
        return marked
    requested = verified.curve[0]
    return np.append(marked, requested if len(requested) <= _MOST_REQUESTED else [])
