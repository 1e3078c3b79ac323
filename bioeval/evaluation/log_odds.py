"""Logistic regression of the class of an attempt on the scores of one or several systems.

Minimised exactly over all attempts, by Newton's method: each step is a sweep over the scores, of
which nothing is kept but sums.
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bioeval.base.errors import BioevalWarning, DataError, counted
from bioeval.base.kinds import larger_is_closer
from bioeval.partition.base import Parameters
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.tallies.several_systems import SeveralSystems, Spread


class ScoreTransformer(Parameters, ABC):
    """An estimator with ``fit`` and ``transform`` on :class:`bioeval.Scores`."""

    @abstractmethod
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to training scores."""

    @abstractmethod
    def transform(self, X: Any) -> Scores:
        """Return new scores."""

    def fit_transform(self, X: Any, y: Any = None) -> Scores:
        """Fit to scores, and return the new scores of the same comparisons.

        Parameters
        ----------
        X : Scores, or mapping of str to Scores
        y : ignored

        Returns
        -------
        Scores
        """
        return self.fit(X).transform(X)

    def __sklearn_tags__(self) -> Any:
        """Return the tags of a transformer, for pipelines of scikit-learn."""
        from sklearn.base import BaseEstimator

        return BaseEstimator().__sklearn_tags__()

    def _remark(self, said: Iterable[str]) -> None:
        """Warn of a finding of `fit`, and keep it for the results of the new scores."""
        self.remarks_ = tuple(said)
        for text in self.remarks_:
            warnings.warn(text, BioevalWarning, stacklevel=3)

    def _fitted(self, name: str) -> Any:
        """Return what `fit` has learnt, or raise :class:`DataError`."""
        if not hasattr(self, name):
            raise DataError(f"this {type(self).__name__} is not fitted; call fit(training scores)")
        return getattr(self, name)


def transforms_scores(estimator: Any) -> bool:
    """Whether an estimator takes scores, alone or as the steps of a pipeline."""
    steps = getattr(estimator, "steps", None)
    if steps:
        return all(transforms_scores(step) for _, step in steps)
    return isinstance(estimator, ScoreTransformer)


#: Weight of the squared weights of standardised scores, where the classes are separable.
PENALTY = 1e-6

SEPARABLE = (
    "the genuine and impostor scores of the training data are separable: the logistic regression "
    f"has no finite solution, and a penalty of {PENALTY:g} on its squared weights keeps them "
    "finite; ratios far from 0 rest on the penalty, not on data"
)

# Newton's method converges in about ten steps where there is a minimum.
_STEPS = 60

# Squared Newton decrement, as a proportion of the loss, from which one more step is the last.
_CLOSE = 1e-10

# Blocks of rows in which Newton's method begins.
_SAMPLE = 8

# Weights of standardised scores that only a minimum at infinity leads to.
_RUNAWAY = 1e4


@dataclass(frozen=True)
class LogOdds:
    """``l = sum_k weights[k] s_k + offset``, of scores in the user's units."""

    weights: np.ndarray
    offset: float
    separable: bool

    def of(self, scores: Sequence[np.ndarray]) -> np.ndarray:
        """Return the log-likelihood ratios of scores of all systems."""
        total: np.ndarray | float = self.offset
        for weight, values in zip(self.weights.tolist(), scores, strict=True):
            total = total + (weight * values if weight else np.where(np.isnan(values), values, 0.0))
        return np.asarray(total)


def fit_log_odds(systems: Sequence[Scores], prior: float, what: str) -> LogOdds:
    """Fit a logistic regression, the classes weighted to a prior, to attempts of both.

    The loss is that of ``l + logit(prior)``. Where the classes are separable, a small penalty keeps
    the weights finite.
    """
    attempts = SeveralSystems(systems, what)
    spreads = attempts.spreads()
    for spread in spreads:
        require_spread(spread, what)
    origin = np.array([spread.mean for spread in spreads])
    inverse = np.array([1 / spread.sd for spread in spreads])
    shift = math.log(prior / (1 - prior))
    logistic = _Loss(attempts, origin, inverse, prior)
    start = np.append(np.zeros(len(systems)), shift)
    weights, separable = _newton(logistic, _near(logistic, start), 0.0)
    if separable:
        weights, _ = _newton(logistic, start, PENALTY)
    scale = weights[:-1] * inverse
    offset = float(weights[-1] - scale @ origin - shift)
    signs = np.array([1.0 if larger_is_closer(s.kind) else -1.0 for s in systems])
    return LogOdds(scale * signs, offset, separable)


def require_spread(spread: Spread, what: str) -> None:
    """Raise :class:`DataError` unless some finite scores of training data differ."""
    if not spread.number:
        raise DataError(
            f"{what} needs attempts with finite scores, and the training data have none"
        )
    if not spread.sd > 0:
        raise DataError(
            f"{what} needs scores that differ, and all {counted(spread.number, 'scores')} of the "
            f"training data are equal (standard deviation 0)"
        )


class _Loss:
    """The mean loss, with gradient and Hessian, over both classes by their weights."""

    def __init__(
        self, attempts: SeveralSystems, origin: np.ndarray, inverse: np.ndarray, prior: float
    ):
        self.attempts, self.origin, self.inverse = attempts, origin, inverse
        self.shares = 1 - prior, prior
        self.every = 1  # of the blocks of rows, one in so many

    def at(self, weights: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, bool]:
        """Return loss, gradient, Hessian, and whether the weights separate the classes."""
        both = self.attempts.logistic(self.origin, self.inverse, weights, self.every)
        for found, name in zip(both, ("impostor", "genuine"), strict=True):
            if not found.number:
                raise DataError(
                    f"the training data have no {name} attempt with finite scores; expected "
                    "some of both classes"
                )
        loss, gradient, hessian = 0.0, np.zeros(len(weights)), np.zeros((len(weights),) * 2)
        for found, share in zip(both, self.shares, strict=True):
            each = share / found.number
            loss += each * found.loss
            gradient += each * found.gradient
            hessian += each * found.hessian
        impostor, genuine = both
        apart = bool(np.any(weights[:-1])) and genuine.low >= impostor.high
        return loss, gradient, hessian, apart


def _near(loss: _Loss, start: np.ndarray) -> np.ndarray:
    """Return a starting point: the minimum over some blocks of a large matrix, if there is one.

    That saves most of the sweeps over the whole, and changes its minimum no more than rounding.
    """
    sample, first = copy(loss), loss.attempts.systems[0]
    if are_pairs(first):
        return start
    sample.every = first.shape[0] // loss.attempts.rows_per_block // _SAMPLE
    if sample.every < 2:
        return start
    try:
        weights, separable = _newton(sample, start, 0.0)
    except DataError:  # no attempt of one class among them
        return start
    return start if separable else weights


def _newton(loss: _Loss, weights: np.ndarray, penalty: float) -> tuple[np.ndarray, bool]:
    """Return the weights of least loss, and whether they diverge."""
    slopes = np.append(np.ones(len(weights) - 1), 0.0)  # the offset bears no penalty

    def at(point: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, bool]:
        value, gradient, hessian, apart = loss.at(point)
        value += penalty * float(slopes @ point**2)
        return (
            value,
            gradient + 2 * penalty * slopes * point,
            hessian + np.diag(2 * penalty * slopes),
            apart,
        )

    value, gradient, hessian, apart = at(weights)
    for _ in range(_STEPS):
        if not penalty and (apart or abs(weights).max() > _RUNAWAY):
            return weights, True
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        if float(gradient @ step) <= _CLOSE * value:
            # Convergence is quadratic here: the last step leaves nothing but rounding.
            weights = weights - step
            break
        for halving in range(30):
            moved = weights - step / 2**halving
            found = at(moved)
            if found[0] <= value:
                break
        else:
            break
        weights = moved
        value, gradient, hessian, apart = found
    return weights, not penalty and (apart or abs(weights).max() > _RUNAWAY)
