"""``be.Calibrator``: scores as log-likelihood ratios."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from bioeval.base.arguments import require_prior
from bioeval.base.errors import DataError, require_choice
from bioeval.base.kinds import PLURALS, larger_is_closer
from bioeval.evaluation.log_odds import SEPARABLE, LogOdds, ScoreTransformer, fit_log_odds
from bioeval.scores.attacks import without_attacks
from bioeval.scores.derived import derived
from bioeval.scores.matrix import Scores, require_scores
from bioeval.tallies.calibration_counts import CalibrationCounts, count_for_calibration

METHODS = ("logistic", "pav")

#: Rules for the ends of isotonic regression; "raw" ones may be infinite.
ENDS = ("laplace", "raw")


class Calibrator(ScoreTransformer):
    """Calibrated scores: natural log-likelihood ratios, learnt from training scores.

    Parameters
    ----------
    method : {"logistic", "pav"}
        ``"logistic"``: ``l = a s + b``, by prior-weighted logistic regression. ``"pav"``: isotonic
        regression (pool adjacent violators), linear in the posterior between blocks.
    prior : float
        Of a genuine attempt, for which ``"logistic"`` is best; ``"pav"`` does not depend on it.
    ends : {"laplace", "raw"}
        Of ``"pav"``. ``"laplace"``: before pooling, one genuine and one impostor attempt are added
        at each end (Laplace's rule of succession), so that every ratio is finite. ``"raw"``: none
        is added; ratios are infinite beyond the training scores of the other class.

    Attributes
    ----------
    slope_, offset_ : float
        ``a`` and ``b`` of ``"logistic"``, in the units of the scores (``a`` of distances is
        negative).
    separable_ : bool
        Of ``"logistic"``: whether a penalty was needed, since the training classes are separable.
    knots_, ratios_ : float64 arrays
        Of ``"pav"``: finite training scores at the ends of blocks, and the ratios there.
    kind_ : str
        Of the training scores.

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
    Fitted to all single-template attempts, in sweeps over the scores that keep sums and, for
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

    def __init__(self, method: str = "logistic", prior: float = 0.5, ends: str = "laplace"):
        require_choice("method", method, METHODS)
        require_prior(prior)
        require_choice("ends", ends, ENDS)
        self.method, self.prior, self.ends = method, prior, ends

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
        said: list[str] = []
        self._map: _Line | _Steps
        if self.method == "logistic":
            line = fit_log_odds([X], float(self.prior), "logistic calibration")
            self._map = _Line(line)
            self.slope_, self.offset_ = float(line.weights[0]), line.offset
            self.separable_ = line.separable
            if self.separable_:
                said.append(SEPARABLE)
            if (self.slope_ > 0) != larger_is_closer(X.kind):
                said.append(
                    f"of the training scores, {PLURALS[X.kind]}, genuine ones are the farther: "
                    "calibration turns their order round; check `kind`"
                )
        else:
            steps = _Steps(count_for_calibration(X, laplace=self.ends == "laplace"))
            self._map = steps
            self.knots_, self.ratios_ = steps.knots, steps.of(steps.knots)
        self.kind_ = X.kind
        self._remark(said)
        return self

    def transform(self, X: Scores) -> Scores:
        """Return log-likelihood ratios, as scores of ``kind="llr"``.

        Parameters
        ----------
        X : Scores
            Of the kind that was trained on.

        Returns
        -------
        Scores
        """
        kind = self._fitted("kind_")
        require_scores(X, "the data")
        if X.kind != kind:
            raise DataError(
                f"the scores are {PLURALS[X.kind]}, and the training scores were {PLURALS[kind]}"
            )
        fitted = self._map
        raw = ", raw ends" if self.method == "pav" and self.ends == "raw" else ""
        origin = f"{self.method} calibration of {PLURALS[kind]}{raw}"
        made = derived([X], lambda values, _: fitted.of(values[0]), "llr", origin)
        made.remarks = (*X.remarks, *self.remarks_)
        return made


class _Line:
    """A linear map of scores."""

    def __init__(self, fitted: LogOdds):
        self.fitted = fitted

    def of(self, scores: np.ndarray) -> np.ndarray:
        """Return the ratios of scores; NaN stays NaN."""
        return self.fitted.of([scores])


class _Steps:
    """The map of isotonic regression: constant in blocks, the posterior linear between them."""

    def __init__(self, counts: CalibrationCounts):
        pooled = counts.pooled
        if pooled is None:
            missing = "impostor" if len(counts.genuine) else "genuine"
            raise DataError(f"pav calibration needs attempts of both classes; no {missing} attempt")
        self._sign = 1.0 if larger_is_closer(counts.about.kind) else -1.0
        # From the least similar block on, as similarities.
        total = (pooled.genuine + pooled.impostor)[::-1]
        ends = -np.stack([counts.high, counts.low])[:, ::-1]
        self._genuine, self._impostor = pooled.genuine[::-1] / total, pooled.impostor[::-1] / total
        self._shift = math.log(len(counts.genuine) / counts.impostor_attempts)
        knots, block = ends.T.ravel(), np.repeat(np.arange(len(total)), 2)
        there = np.isfinite(knots)
        self._knots, self._block = knots[there], block[there]
        self.knots = self._sign * self._knots[:: int(self._sign)]

    def of(self, scores: np.ndarray) -> np.ndarray:
        """Return the ratios of scores; NaN stays NaN."""
        x = self._sign * scores
        genuine, impostor = (self._between(x, y) for y in (self._genuine, self._impostor))
        with np.errstate(divide="ignore"):
            return np.log(genuine) - np.log(impostor) - self._shift

    def _between(self, x: np.ndarray, share: np.ndarray) -> np.ndarray:
        """Return the proportion of a class at scores; infinite scores have that of the end."""
        if len(self._knots):
            found = _interpolated(x, self._knots, share[self._block])
        else:  # all training scores are infinite
            found = np.where(np.isnan(x), np.nan, share.mean())
        found = np.where(x == np.inf, share[-1], found)
        return np.where(x == -np.inf, share[0], found)


def _interpolated(x: np.ndarray, knots: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Interpolate as `numpy.interp`, between knots of any distance.

    A gap over the largest float overflows, and so does a slope over a subnormal one.
    """
    found = np.interp(x, knots, y)
    with np.errstate(over="ignore"):
        gaps = np.diff(knots)
    for k in np.flatnonzero(np.isinf(gaps) | ((gaps > 0) & (gaps < np.finfo(float).tiny))):
        inside = (x > knots[k]) & (x < knots[k + 1])
        scale = 0.25 if np.isinf(gaps[k]) else 1.0
        share = (scale * x[inside] - scale * knots[k]) / (scale * knots[k + 1] - scale * knots[k])
        found[inside] = y[k] + share * (y[k + 1] - y[k])
    return found
