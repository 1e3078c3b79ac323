"""Limits of FAR and FRR along their curves, and of rates whose threshold is chosen on the data.

The threshold is chosen anew without each person. Where few people err that says little: then a rate
has its limits at the threshold, and what it is where the rate that chose the threshold is at its
own limits, which add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bioeval.counting.by_subject import SubjectAttempts
from bioeval.stats.error_curves import ErrorColumns
from bioeval.stats.limits import (
    Limits,
    RateCurve,
    chosen_anew,
    moved_by_many,
    of_sum,
    student,
)


def marks_of(distances: np.ndarray) -> np.ndarray:
    """Return increasing distances along a curve: all finite ones, or of many some.

    Some are the outermost at either end, then by a constant factor of how many are beyond.
    """
    every = np.sort(distances[np.isfinite(distances)])
    if len(np.unique(every)) > SubjectAttempts.EXACT:
        level = np.ceil(SubjectAttempts.levels(len(every))).astype(np.int64)
        level = level[level <= len(every)]
        every = every[np.append(level - 1, len(every) - level)]
    return np.unique(every)


@dataclass(frozen=True)
class CurveLimits:
    """FAR and FRR along a curve with their limits, and the limits of what follows from both.

    The distances of the `curve` depend on the scores alone, and are all of these where it has
    `every_score`.
    """

    curve: ErrorColumns
    every_score: bool
    far: RateCurve
    frr: RateCurve
    confidence: float

    def at_equal_error(self, columns: np.ndarray) -> Limits:
        """Return the limits of the EER, or of that on the hull, `columns` (1 + people,).

        Where few people err they are where the limits of FAR cross those of FRR.
        """
        at = self.curve.far[:, 0], self.curve.frr[:, 0]
        if np.isnan(columns[0]) or not len(at[0]):
            return np.array(np.nan), np.array(np.nan)
        far, frr = (np.column_stack(x.at(y)) for x, y in ((self.far, at[0]), (self.frr, at[1])))
        few = ErrorColumns(far, frr).equal_error()
        if moved_by_many(self.curve.frr[np.argmax(at[0] >= at[1])]):
            return chosen_anew(columns, (few[0], few[1]), self.confidence)
        return np.minimum(few[0], columns[0]), np.maximum(few[1], columns[0])

    def at_targets(
        self,
        of: Literal["far", "frr"],
        columns: np.ndarray,
        rates: Sequence[tuple[np.ndarray, np.ndarray]],
    ) -> Limits:
        """Return the limits of a rate where the other one has targets, (targets, 1 + people).

        The targets are `of` the FAR or the FRR; `rates` are FAR and FRR, (1 + people,) each, at the
        threshold that has each target on the data.
        """
        values, data = columns[:, 0], self.curve.of_columns(slice(0, 1))
        far, frr = np.array(rates).reshape(-1, 2, columns.shape[1]).swapaxes(0, 1)
        if of == "far":
            errors, wanted, ends, rate_at = frr, self.frr, self.far.at(far[:, 0]), data.frr_at_far
        else:
            errors, wanted, ends, rate_at = far, self.far, self.frr.at(frr[:, 0]), data.far_at_frr
        fixed = wanted.at(values)
        low, high = student(columns, self.confidence)
        many = moved_by_many(errors) & np.isfinite(low) & np.isfinite(high)
        low, high = np.minimum(low, values), np.maximum(high, values)
        for i in np.flatnonzero(~many & ~np.isnan(fixed[0])):
            strict, loose = (rate_at(float(end[i]), self.every_score)[0] for end in ends)
            moved = 0.0, min(loose - values[i], 0.0), max(strict - values[i], 0.0)
            low[i], high[i] = of_sum((values[i], fixed[0][i], fixed[1][i]), moved, least=0.0)
        unknown = np.isnan(fixed[0])
        return np.where(unknown, np.nan, low), np.where(unknown, np.nan, np.minimum(high, 1.0))
