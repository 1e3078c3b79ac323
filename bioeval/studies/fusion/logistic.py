"""Logistic fusion: the weights of systems by a logistic regression.

The loss of the regression, of the class of an attempt on the scores of several systems, is
minimised over all attempts by Newton's method. Each step reads all scores, and keeps only their
sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bioeval.base.errors import DataError, counted
from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.scores.matrix import Scores
from bioeval.studies.fusion.several_systems import LogisticSums, SeveralSystems, Spread

#: The factor of the squared weights in the penalised loss, where the classes are separable.
PENALTY = 1e-6

# The most steps of Newton's method, which converges in about ten where there is a minimum.
_MOST_STEPS = 60

# The step is the last one if its squared Newton decrement is at most this proportion of the loss.
_CONVERGED = 1e-10

# Larger weights of standardised scores mean that the loss has its minimum at infinity.
_LARGEST_WEIGHT = 1e4


@dataclass(frozen=True)
class LinearMap:
    """A linear map of the scores of each system, as they were given, to one score.

    The new score is ``sum_k weights[k] s_k + offset``. `separable` tells that the loss was
    penalised, since the training classes are separable.
    """

    weights: np.ndarray
    offset: float
    separable: bool

    def fused(self, scores: Sequence[np.ndarray]) -> np.ndarray:
        """Return the new scores, from the scores of each system."""
        total: np.ndarray | float = self.offset
        for weight, values in zip(self.weights.tolist(), scores, strict=True):
            if weight:
                total = total + weight * values
            else:  # a weight of 0 leaves out infinite scores, too
                total = total + np.where(np.isnan(values), values, 0.0)
        return np.asarray(total)


def fit_log_odds(systems: Sequence[Scores]) -> LinearMap:
    """Fit a logistic regression to the attempts of both classes, weighted to a prior of one half.

    The new scores are log-odds, and the loss is their cross-entropy: Bruemmer and du Preez (2006).
    Where the classes are separable, a small penalty keeps the weights finite.
    """
    purpose = "logistic fusion"
    attempts = SeveralSystems(systems, purpose)
    number = len(systems)
    origin = np.empty(number)
    inverse = np.empty(number)
    signs = np.ones(number)
    for k, spread in enumerate(attempts.spreads()):
        require_spread(spread, purpose)
        origin[k], inverse[k] = spread.mean, 1 / spread.sd
        if systems[k].kind not in LARGER_IS_CLOSER:
            signs[k] = -1.0

    def logistic(weights: np.ndarray) -> _LossAt:
        return _loss_at(weights, attempts.logistic(origin, inverse, weights))

    start = np.zeros(number + 1)
    weights, separable = _newton(logistic, start, 0.0)
    if separable:
        weights, _ = _newton(logistic, start, PENALTY)
    scale = weights[:-1] * inverse
    offset = float(weights[-1] - scale @ origin)
    return LinearMap(scale * signs, offset, separable)


def require_spread(spread: Spread, purpose: str) -> None:
    """Raise :class:`DataError` unless some finite scores of training data differ."""
    if not spread.number:
        raise DataError(
            f"{purpose} needs attempts with finite scores, and the training data have none"
        )
    if not spread.sd > 0:
        raise DataError(
            f"{purpose} needs scores that differ, and all {counted(spread.number, 'scores')} of "
            f"the training data are equal (standard deviation 0)"
        )


class _LossAt(NamedTuple):
    """The loss at some weights, and its derivatives by them."""

    value: float
    gradient: np.ndarray
    hessian: np.ndarray
    separates: bool  # whether the weights separate the classes


def _loss_at(weights: np.ndarray, sums: LogisticSums) -> _LossAt:
    for number, name in zip(sums.number, ("impostor", "genuine"), strict=True):
        if not number:
            raise DataError(
                f"the training data have no {name} attempt with finite scores; expected "
                "some of both classes"
            )
    class_weights = 0.5 / sums.number
    separates = bool(np.any(weights[:-1])) and bool(sums.low[1] >= sums.high[0])
    loss = float((class_weights * sums.loss).sum())
    gradient = (class_weights[:, None] * sums.gradient).sum(axis=0)
    hessian = (class_weights[:, None, None] * sums.hessian).sum(axis=0)
    return _LossAt(loss, gradient, hessian, separates)


def _newton(
    loss: Callable[[np.ndarray], _LossAt], weights: np.ndarray, penalty: float
) -> tuple[np.ndarray, bool]:
    """Return the weights of least loss, and whether they diverge.

    They can diverge only without a `penalty`.
    """
    is_penalised = np.append(np.ones(len(weights) - 1), 0.0)  # all weights but the offset

    def penalised(point: np.ndarray) -> _LossAt:
        unpenalised = loss(point)
        return unpenalised._replace(
            value=unpenalised.value + penalty * float(is_penalised @ point**2),
            gradient=unpenalised.gradient + 2 * penalty * is_penalised * point,
            hessian=unpenalised.hessian + np.diag(2 * penalty * is_penalised),
        )

    current = penalised(weights)
    for _ in range(_MOST_STEPS):
        if not penalty and (current.separates or abs(weights).max() > _LARGEST_WEIGHT):
            return weights, True
        step = np.linalg.lstsq(current.hessian, current.gradient, rcond=None)[0]
        if float(current.gradient @ step) <= _CONVERGED * current.value:
            # Convergence is quadratic here: after the last step only rounding errors are left.
            weights = weights - step
            break
        # Halve the step until the loss does not grow.
        for halving in range(30):
            moved = weights - step / 2**halving
            trial = penalised(moved)
            if trial.value <= current.value:
                break
        else:
            break
        weights = moved
        current = trial
    return weights, not penalty and (current.separates or abs(weights).max() > _LARGEST_WEIGHT)
