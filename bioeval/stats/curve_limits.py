"""Limits of FAR and FRR along their curves, and of rates whose threshold is chosen on the data.

The threshold is chosen anew without each person. Where few people err, the spread of these values
says little: then a rate takes its own limits at the threshold, and its values where the rate that
chose the threshold is at its limits; the two distances add up as squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bioeval.base.messages import Message
from bioeval.counting.order import runs
from bioeval.counting.reduce import OfEachBlock, reduce
from bioeval.counting.sorted_attempts import Attempts
from bioeval.counting.verification import Verified
from bioeval.results.support import RuleOf
from bioeval.stats.error_curves import ErrorColumns
from bioeval.stats.limits import (
    Limits,
    RateCurve,
    chosen_anew,
    limits_of_sum,
    moved_by_many,
    student,
)

# Up to this number of distinct scores, all scores are places of the curves; of more, a selection.
_MOST = 512

# Up to this number of scores, scores are sorted; of more, the cells of the counts are used.
_FEW = 1 << 16

# Growth of the number of false accepts from one threshold to the next, at most about this.
_FACTOR = 1.2

# Proportions rejected, for thresholds at which nearly all attempts are accepted.
_REJECTED = np.array([0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001])

# The number of first thresholds that differ by a single false accept.
_SINGLE = 10


def thresholds_of(verified: Verified) -> tuple[np.ndarray, bool]:
    """Return increasing thresholds, and whether they are all the distinct scores.

    The thresholds are denser around the equal error rate, and depend on the scores alone.
    """
    genuine = np.unique(verified.attempts.genuine.astype(np.float64))
    total = verified.attempts.impostors
    if total <= _FEW and len(genuine) <= _FEW:
        every_score = verified.attempts
        if not every_score.listed:
            finite = OfEachBlock(lambda scores: scores[~np.isnan(scores)], verified.use.fused)
            (scores,) = reduce(verified.scores, finite)
            every_score = Attempts.from_scores(genuine, np.concatenate(scores).astype(np.float64))
        edges, bounds = runs(every_score.impostor.keys)
        accepted = bounds[1:]
        distinct = np.union1d(genuine, edges)
        if len(distinct) <= _MOST:
            return distinct, True
    else:
        impostors = verified.attempts.even_counts
        edges = impostors.cells.edges
        accepted = impostors.negative_infinite + np.cumsum(impostors.counts)
    if len(edges):  # else no impostor score is finite
        around = verified.points.equal_error.eer * total
        level = _levels(total)
        if around > 0:
            level = np.append(level, around * np.geomspace(0.5, 2.0, 33))
        edges = edges[np.minimum(np.searchsorted(accepted, level), len(edges) - 1)]
    distinct = np.unique(edges)
    return distinct[np.isfinite(distinct)], False


def _levels(total: int) -> np.ndarray:
    steps = max(1, int(np.ceil(np.log(max(total, 2) / _SINGLE) / np.log(_FACTOR))))
    ratios = _SINGLE * _FACTOR ** np.arange(steps)
    by_ones = np.arange(1, _SINGLE)
    nearly_all = total * (1 - _REJECTED)
    return np.concatenate([by_ones, ratios[ratios < total], nearly_all, [total]])


def grid_of(distances: np.ndarray) -> np.ndarray:
    """Return increasing distances along a curve: all finite distances, or a selection of many.

    The selection has the outermost at either end, then steps by a constant factor of the number
    beyond.
    """
    ordered = np.sort(distances[np.isfinite(distances)])
    if len(np.unique(ordered)) > _MOST:
        level = np.ceil(_levels(len(ordered))).astype(np.int64)
        level = level[level <= len(ordered)]
        ordered = ordered[np.append(level - 1, len(ordered) - level)]
    return np.unique(ordered)


@dataclass(frozen=True)
class CurveLimits:
    """FAR and FRR along a curve with their limits, and the limits of measures of both.

    The distances of the `curve` depend on the scores alone; with `every_score` they are all
    distinct scores.
    """

    curve: ErrorColumns
    every_score: bool
    far: RateCurve
    frr: RateCurve
    confidence: float

    def at_equal_error(self, columns: np.ndarray) -> Limits:
        """Return the limits of the EER, or of the EER on the hull, `columns` (1 + people,).

        Where few people err, the limits are where the limits of FAR cross the limits of FRR.
        """
        rates = self.curve.far[:, 0], self.curve.frr[:, 0]
        if np.isnan(columns[0]) or not len(rates[0]):
            return np.array(np.nan), np.array(np.nan)
        far = np.column_stack(self.far.limits_at(rates[0]))
        frr = np.column_stack(self.frr.limits_at(rates[1]))
        crossing = ErrorColumns(far, frr).equal_error()
        if moved_by_many(self.curve.frr[np.argmax(rates[0] >= rates[1])]):
            return chosen_anew(columns, (crossing[0], crossing[1]), self.confidence)
        return np.minimum(crossing[0], columns[0]), np.maximum(crossing[1], columns[0])

    def at_targets(
        self,
        of: Literal["far", "frr"],
        columns: np.ndarray,
        rates: Sequence[tuple[np.ndarray, np.ndarray]],
    ) -> Limits:
        """Return the limits of a rate at targets of the other rate, (targets, 1 + people).

        The targets are `of` the FAR or the FRR; `rates` are FAR and FRR, (1 + people,) each, at the
        threshold of every target on the data.
        """
        values = columns[:, 0]
        curve = self.curve
        shape = (len(self.curve.far), len(columns))
        of_data = [np.broadcast_to(x[:, :1], shape) for x in (curve.far, curve.frr)]
        data = ErrorColumns(of_data[0], of_data[1], curve.failed)
        far, frr = np.array(rates).reshape(-1, 2, columns.shape[1]).swapaxes(0, 1)
        if of == "far":
            errors = frr
            curve_limits = self.frr
            rate_at = data.frr_at_far
            ends = self.far.limits_at(far[:, 0])
        else:
            errors = far
            curve_limits = self.far
            rate_at = data.far_at_frr
            ends = self.frr.limits_at(frr[:, 0])
        fixed = curve_limits.limits_at(values)
        low, high = student(columns, self.confidence)
        is_moved_by_many = moved_by_many(errors) & np.isfinite(low) & np.isfinite(high)
        strict, loose = (rate_at(end, self.every_score) - values for end in ends)
        moved = np.zeros(len(values)), np.minimum(loose, 0.0), np.maximum(strict, 0.0)
        below, above = limits_of_sum((values, *fixed), moved, least=0.0)
        low = np.where(is_moved_by_many, np.minimum(low, values), below)
        high = np.where(is_moved_by_many, np.maximum(high, values), np.minimum(above, 1.0))
        unknown = np.isnan(fixed[0])
        return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)


def open_at_targets(
    limits: Limits,
    end: Literal["lower", "upper"],
    targets: np.ndarray,
    trials: float,
    rate: str,
    **about: str,
) -> tuple[Limits, list[Message]]:
    """Return limits (targets, ...) of a rate at FAR targets, open where support is missing.

    There may be no threshold in the data that has this FAR in the population. `trials` is the
    number of independent impostor trials. The message names the `rate`, and its further arguments
    are `about`.
    """
    low, high = limits
    is_defined = ~np.isnan(low)
    enough = [x > 0 and RuleOf(3).supports(x, trials) for x in targets.tolist()]
    further = tuple(range(1, low.ndim))
    unlimited = is_defined & ~np.expand_dims(np.array(enough, dtype=bool), further)
    if end == "lower":
        low = np.where(unlimited, 0.0, low)
    else:
        high = np.where(unlimited, 1.0, high)
    unsupported = targets[unlimited.any(axis=further)].tolist()
    limit = 0 if end == "lower" else 1
    if not unsupported:
        return (low, high), []
    of_rate = {"end": end, "rate": rate, "limit": limit}
    return (low, high), [Message("limit-not-supported", **of_rate, **about, targets=unsupported)]
