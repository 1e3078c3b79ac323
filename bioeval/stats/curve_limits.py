"""Limits of FAR and FRR along their curves, and of rates whose threshold is chosen on the data.

The threshold is chosen anew without each person, and the spread of the resulting rates gives their
limits. If few people err, the spread tells little. Then the squares of two distances are added:
from a rate to its limits at the threshold, and from a rate to its values where the rate that chose
the threshold is at its limits.

All scores are distances. In arrays with ``1 + people`` columns, the first column has the rates of
the data, and each other column the rates without one person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bioeval.base.errors import Message
from bioeval.results.support import RuleOf
from bioeval.stats.error_curves import ErrorColumns
from bioeval.stats.jackknife import Limits, limits_of_sum, student_of_logits
from bioeval.stats.rate_limits import RateCurve, chosen_anew, moved_by_many


@dataclass(frozen=True)
class CurveLimits:
    """FAR and FRR along a curve with their limits, and the limits of measures of both.

    The distances of the `curve` depend on the scores alone.
    """

    curve: ErrorColumns
    every_score: bool  # whether the distances of the curve are all distinct scores
    far: RateCurve
    frr: RateCurve
    confidence: float

    def at_equal_error(self, columns: np.ndarray) -> Limits:
        """Return the limits of the EER, or of the EER on the hull, `columns` (1 + people,).

        If few people err, the limits are the points where the limits of FAR and of FRR cross.
        """
        far = self.curve.far[:, 0]
        frr = self.curve.frr[:, 0]
        if np.isnan(columns[0]) or not len(far):
            return np.array(np.nan), np.array(np.nan)
        far_limits = np.column_stack(self.far.limits_at(far))
        frr_limits = np.column_stack(self.frr.limits_at(frr))
        low, high = ErrorColumns(far_limits, frr_limits).equal_error()
        if moved_by_many(self.curve.frr[np.argmax(far >= frr)]):
            return chosen_anew(columns, (low, high), self.confidence)
        return np.minimum(low, columns[0]), np.maximum(high, columns[0])

    def at_targets(
        self,
        of: Literal["far", "frr"],
        targets: np.ndarray,
        columns: np.ndarray,
        rates: Sequence[tuple[np.ndarray, np.ndarray]],
    ) -> Limits:
        """Return the limits of a rate at targets of the other rate, (targets, 1 + people).

        The targets are `of` FAR or of FRR; `rates` are, for each target, FAR and FRR (1 + people,)
        at the threshold that the data choose for the target. If scores have steps, the limits
        include those at a neighbouring step whose rate may be the one nearest to the target.
        """
        values = columns[:, 0]
        # Both (targets, 1 + people).
        far, frr = np.array(rates).reshape(-1, 2, columns.shape[1]).swapaxes(0, 1)
        # The rates of the data, (thresholds, targets): equal columns, one for each target.
        shape = (len(self.curve.far), len(columns))
        data_far = np.broadcast_to(self.curve.far[:, :1], shape)
        data_frr = np.broadcast_to(self.curve.frr[:, :1], shape)
        data = ErrorColumns(data_far, data_frr, self.curve.failed)
        if of == "far":
            errors = frr
            limits_at_threshold = self.frr.limits_at(values)
            rate_at_target = data.frr_at_far
            target_limits = self.far.limits_at(far[:, 0])
        else:
            errors = far
            limits_at_threshold = self.far.limits_at(values)
            rate_at_target = data.far_at_frr
            target_limits = self.frr.limits_at(frr[:, 0])

        # If many people err: the spread of the rates at thresholds that are chosen anew.
        low, high, _ = student_of_logits(columns, self.confidence)
        is_moved_by_many = moved_by_many(errors) & np.isfinite(low) & np.isfinite(high)

        # If few do: the limits at the threshold, and how much the rate changes where the rate that
        # chose the threshold is at its limits.
        strict, loose = (rate_at_target(x, self.every_score) - values for x in target_limits)
        shift = np.zeros(len(values)), np.minimum(loose, 0.0), np.maximum(strict, 0.0)
        below, above = limits_of_sum((values, *limits_at_threshold), shift, least=0.0)

        low = np.where(is_moved_by_many, np.minimum(low, values), below)
        high = np.where(is_moved_by_many, np.maximum(high, values), np.minimum(above, 1.0))
        if self.every_score:
            low_of_step, high_of_step = self._at_next_steps(of, targets)
            low, high = np.fmin(low, low_of_step), np.fmax(high, high_of_step)
        is_unknown = np.isnan(limits_at_threshold[0])
        return np.where(is_unknown, np.nan, low), np.where(is_unknown, np.nan, high)

    def _at_next_steps(self, of: Literal["far", "frr"], targets: np.ndarray) -> Limits:
        """Return the limits of a rate at the scores next to those that the data choose for targets.

        For each target, the data choose the last score at which the rate `of` the target is at most
        the target. Without a person, the same score is mostly chosen; but in the population, it may
        be a neighbour. It is the score before if this rate may be above the target at the chosen
        score, and the score after if it may be at most the target there. Both limits are (targets,)
        and NaN where no neighbour may be chosen.
        """
        # Points in the order in which the rate of the target rises, and the other rate falls.
        far, frr = (x[:, 0] for x in self.curve.with_ends)
        if of == "far":
            target_low, target_high = self.far.limits_at(far)
            low, high = self.frr.limits_at(frr)
            target_rate = far
        else:
            target_low, target_high = self.frr.limits_at(frr[::-1])
            low, high = self.far.limits_at(far[::-1])
            target_rate = frr[::-1]

        chosen = np.zeros(len(targets), dtype=np.int64)  # the first point if none is at most
        for k, target in enumerate(targets):
            at_most = np.flatnonzero(target_rate <= target)
            if len(at_most):
                chosen[k] = at_most[-1]

        # The first point has none before it, and the last point none after it.
        high_before = np.append(np.nan, high[:-1])[chosen]
        low_after = np.append(low[1:], np.nan)[chosen]
        target_low_after = np.append(target_low[1:], np.inf)[chosen]
        may_be_before = target_high[chosen] > targets
        may_be_after = target_low_after <= targets
        return (
            np.where(may_be_after, low_after, np.nan),
            np.where(may_be_before, high_before, np.nan),
        )


def open_at_targets(
    limits: Limits,
    end: Literal["lower", "upper"],
    targets: np.ndarray,
    trials: float,
    rate: str,
    **about: str,
) -> tuple[Limits, list[Message]]:
    """Return limits (targets, ...) of a rate at FAR targets, open if data do not support a target.

    There may be no threshold in the data that has this FAR in the population. The `end` of the
    limits becomes 0 or 1. `trials` is the number of independent impostor trials. The message names
    the `rate`; its further arguments are `about`.
    """
    low, high = limits
    is_supported = [x > 0 and RuleOf(3).supports(x, trials) for x in targets.tolist()]
    other_axes = tuple(range(1, low.ndim))
    is_open = ~np.isnan(low) & ~np.expand_dims(np.array(is_supported, dtype=bool), other_axes)
    limit = 0
    if end == "lower":
        low = np.where(is_open, 0.0, low)
    else:
        limit = 1
        high = np.where(is_open, 1.0, high)
    unsupported = targets[is_open.any(axis=other_axes)].tolist()
    if not unsupported:
        return (low, high), []
    arguments = {"end": end, "rate": rate, "limit": limit}
    return (low, high), [Message("limit-not-supported", **arguments, **about, targets=unsupported)]
