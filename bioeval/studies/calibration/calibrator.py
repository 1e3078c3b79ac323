"""``be.Calibrator``: scores as log-likelihood ratios, by logistic or isotonic regression.

The loss of the logistic regression, of the class of an attempt on the scores of one or several
systems, is minimised over all attempts by Newton's method. Each step reads all scores, and keeps
only their sums.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np

from bioeval.base.arguments import require_choice, require_number
from bioeval.base.errors import DataError, counted, received
from bioeval.base.kinds import LARGER_IS_CLOSER, noun_of
from bioeval.base.messages import Message
from bioeval.partition.base import Parameters
from bioeval.scores.bona_fide import without_attacks
from bioeval.scores.matrix import Scores
from bioeval.scores.people import LearntFrom
from bioeval.scores.requirements import require_scores
from bioeval.showing.messages import warn_of
from bioeval.studies.calibration.counts import CalibrationCounts, count_for_calibration
from bioeval.studies.calibration.several_systems import (
    LogisticSums,
    SeveralSystems,
    Spread,
    derived_scores,
)


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

    def _learnt(self, systems: Iterable[Scores], remarks: Iterable[Message]) -> None:
        self._learnt_from = [*map(LearntFrom.from_scores, systems)]
        self.remarks_ = tuple(remarks)
        warn_of(self.remarks_)

    def _remarks_on(self, systems: Iterable[Scores], model: str) -> dict[Message, None]:
        remarks = dict.fromkeys(self.remarks_)
        # A fusion by a fixed rule has learnt from no scores.
        for training, scores in zip(self._learnt_from, systems, strict=False):
            for message in training.people_in(without_attacks(scores)):
                if message.arguments["who"] == "all attempts":
                    message = Message("trained-on-same-scores", model=model)
                remarks[message] = None
        return remarks

    def _fitted(self, name: str) -> Any:
        if not hasattr(self, name):
            raise DataError(f"this {type(self).__name__} is not fitted; call fit(training scores)")
        return getattr(self, name)


def transforms_scores(estimator: Any) -> bool:
    """Whether an estimator is a score transformer of this package, or a pipeline of such steps."""
    steps = getattr(estimator, "steps", None)
    if steps:
        return all(transforms_scores(step) for _, step in steps)
    return isinstance(estimator, ScoreTransformer)


#: The factor of the squared weights in the penalised loss, where the classes are separable.
PENALTY = 1e-6

SEPARABLE = Message("training-scores-separable")

# The most steps of Newton's method, which converges in about ten where there is a minimum.
_MOST_STEPS = 60

# The step is the last one if its squared Newton decrement is at most this proportion of the loss.
_CONVERGED = 1e-10

# Larger weights of standardised scores mean that the loss has its minimum at infinity.
_LARGEST_WEIGHT = 1e4


@dataclass(frozen=True)
class LogOdds:
    """A linear map of the scores of each system, as they were given, to log-likelihood ratios.

    The ratio is ``l = sum_k weights[k] s_k + offset``. `separable` tells that the loss was
    penalised, since the training classes are separable.
    """

    weights: np.ndarray
    offset: float
    separable: bool

    def ratios(self, scores: Sequence[np.ndarray]) -> np.ndarray:
        """Return the log-likelihood ratios, from the scores of each system."""
        total: np.ndarray | float = self.offset
        for weight, values in zip(self.weights.tolist(), scores, strict=True):
            if weight:
                total = total + weight * values
            else:  # a weight of 0 leaves out infinite scores, too
                total = total + np.where(np.isnan(values), values, 0.0)
        return np.asarray(total)


def fit_log_odds(systems: Sequence[Scores], prior: float, purpose: str) -> LogOdds:
    """Fit a logistic regression to the attempts of both classes, weighted to a prior.

    The loss is the cross-entropy of ``l + logit(prior)``, with ``l`` the ratio of
    :class:`LogOdds`: Bruemmer and du Preez (2006). Where the classes are separable, a
    small penalty keeps the weights finite. Errors name the `purpose` of the scores.
    """
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
    shift = math.log(prior / (1 - prior))

    def logistic(weights: np.ndarray) -> _LossAt:
        return _loss_at(weights, attempts.logistic(origin, inverse, weights), prior)

    start = np.append(np.zeros(number), shift)
    weights, separable = _newton(logistic, start, 0.0)
    if separable:
        weights, _ = _newton(logistic, start, PENALTY)
    scale = weights[:-1] * inverse
    offset = float(weights[-1] - scale @ origin - shift)
    return LogOdds(scale * signs, offset, separable)


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


def _loss_at(weights: np.ndarray, sums: LogisticSums, prior: float) -> _LossAt:
    for number, name in zip(sums.number, ("impostor", "genuine"), strict=True):
        if not number:
            raise DataError(
                f"the training data have no {name} attempt with finite scores; expected "
                "some of both classes"
            )
    class_weights = np.array([1 - prior, prior]) / sums.number
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


CalibrationMethod = Literal["logistic", "pav"]
METHODS: tuple[CalibrationMethod, ...] = get_args(CalibrationMethod)


class Calibrator(ScoreTransformer):
    """Calibrated scores: natural log-likelihood ratios, learnt from training scores.

    Parameters
    ----------
    method : {"logistic", "pav"}
        ``"logistic"``: ``l = a s + b``, by prior-weighted logistic regression. ``"pav"``: isotonic
        regression (pool adjacent violators), linear in the posterior between blocks; one attempt of
        each class is added at each end before pooling (Laplace's rule of succession), so that
        every ratio is finite.
    prior : float
        Prior for which logistic calibration is best. It is the probability of a genuine attempt;
        ``"pav"`` does not depend on it.

    Attributes
    ----------
    slope_, offset_ : float
        ``a`` and ``b`` of ``"logistic"``, in the units of the scores (``a`` of distances is
        negative).
    separable_ : bool
        Of ``"logistic"``: whether a penalty was needed, since the training classes are separable.
    knots_, ratios_ : float64 arrays
        Finite training scores at the ends of blocks, and the ratios there, by ``"pav"``.
    kind_ : str
        Kind of the training scores.

    Warns
    -----
    BioevalWarning
        If the training classes are separable, or genuine scores are the farther; results of the
        calibrated scores say so too.

    Raises
    ------
    DataError
        If a class has no attempt, all scores are equal, or other scores than trained on are given.

    Notes
    -----
    Fitted to all single-template attempts, in passes over the scores that keep sums and, for
    ``"pav"``, the genuine scores. Clonable; as `estimator` of :func:`cross_evaluate` it is fitted
    to the training part of each fold. Bruemmer and du Preez (2006); ``docs/calibration.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(40, 4, random_state=1)
    >>> calibrator = be.Calibrator("logistic", prior=0.1).fit(scores)
    >>> calibrator.slope_ < 0, calibrator.transform(scores).kind
    (True, 'llr')
    """

    def __init__(self, method: CalibrationMethod = "logistic", prior: float = 0.5):
        require_choice("method", method, METHODS)
        if require_number("prior", prior, above=0.0, high=1.0) == 1:
            raise DataError(f"prior is {received(prior)}; expected a probability below 1")
        self.method, self.prior = method, prior

    def fit(self, X: Scores, y: Any = None) -> Self:
        """Learn the map from training scores, without their attack presentations.

        Parameters
        ----------
        X : Scores
        y : ignored

        Returns
        -------
        Calibrator
        """
        require_scores(X, "the data")
        X = without_attacks(X)
        remarks = []
        self._map: LogOdds | _IsotonicMap
        if self.method == "logistic":
            line = fit_log_odds([X], float(self.prior), "logistic calibration")
            self._map = line
            self.slope_ = float(line.weights[0])
            self.offset_ = line.offset
            self.separable_ = line.separable
            if self.separable_:
                remarks.append(SEPARABLE)
            if (self.slope_ > 0) != (X.kind in LARGER_IS_CLOSER):
                scores = noun_of(X.kind, plural=True)
                remarks.append(Message("calibration-turns-order", scores=scores))
        else:
            isotonic = _IsotonicMap(count_for_calibration(X, laplace=True))
            self._map = isotonic
            self.knots_ = isotonic.knots
            self.ratios_ = isotonic.ratios([isotonic.knots])
        self.kind_ = X.kind
        self._learnt([X], remarks)
        return self

    def transform(self, X: Scores) -> Scores:
        """Return log-likelihood ratios, as scores of ``kind="llr"``.

        Parameters
        ----------
        X : Scores
            Scores of the same kind as the training scores.

        Returns
        -------
        Scores
        """
        kind = self._fitted("kind_")
        require_scores(X, "the data")
        if X.kind != kind:
            raise DataError(
                f"the scores are {noun_of(X.kind, plural=True)}, and the training scores were "
                f"{noun_of(kind, plural=True)}"
            )
        fitted = self._map
        origin = f"{self.method} calibration of {noun_of(kind, plural=True)}"
        ratios = derived_scores([X], lambda values, _: fitted.ratios(values), "llr", origin)
        return ratios.with_remarks(*self._remarks_on([X], "calibration"))


class _IsotonicMap:
    """The map of isotonic regression to log-likelihood ratios.

    The posterior probability is constant within a block, and linear between the blocks. Blocks are
    in order of increasing similarity, which is the negative distance.

    - `knots`: the finite scores at the ends of blocks, as they were given
    - `_genuine`, `_impostor` (blocks,): proportions of the attempts in each block
    - `_knots`, `_block` (knots,): the similarity of each knot, increasing, and its block
    """

    def __init__(self, counts: CalibrationCounts):
        if counts.isotonic is None:
            missing = "impostor" if len(counts.genuine) else "genuine"
            raise DataError(f"pav calibration needs attempts of both classes; no {missing} attempt")
        self._sign = 1.0 if counts.about.kind in LARGER_IS_CLOSER else -1.0
        pooled, low, high, _ = counts.isotonic
        total = (pooled.genuine + pooled.impostor)[::-1]
        ends = -np.stack([high, low])[:, ::-1]
        self._genuine = pooled.genuine[::-1] / total
        self._impostor = pooled.impostor[::-1] / total
        self._shift = math.log(len(counts.genuine) / counts.impostor_attempts)
        knots = ends.T.ravel()
        block = np.repeat(np.arange(len(total)), 2)
        is_finite = np.isfinite(knots)
        self._knots = knots[is_finite]
        self._block = block[is_finite]
        self.knots = self._sign * self._knots[:: int(self._sign)]

    def ratios(self, scores: Sequence[np.ndarray]) -> np.ndarray:
        """Return the log-likelihood ratios of a single system's scores; NaN stays NaN."""
        similarity = self._sign * scores[0]
        genuine = self._share_at(similarity, self._genuine)
        impostor = self._share_at(similarity, self._impostor)
        with np.errstate(divide="ignore"):
            return np.log(genuine) - np.log(impostor) - self._shift

    def _share_at(self, similarity: np.ndarray, share: np.ndarray) -> np.ndarray:
        if len(self._knots):
            values = np.interp(similarity, self._knots, share[self._block])
        else:  # all training scores are infinite
            values = np.where(np.isnan(similarity), np.nan, share.mean())
        values = np.where(similarity == np.inf, share[-1], values)
        return np.where(similarity == -np.inf, share[0], values)
