"""Rates over folds: with subjects resampled, and the mean where training parts overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.base import SCALARS, require_number, require_numbers
from bioeval.stats import (
    IntervalOptions,
    QuadraticForms,
    by_subject,
    linear_forms,
)
from bioeval.tallies import PairCounts, SubjectAttempts


@dataclass(frozen=True)
class RepeatedMean:
    """The mean of a rate over folds, with its interval.

    Attributes
    ----------
    mean : float
        Over the folds that are not NaN.
    sd : float
        Standard deviation between these folds (``ddof = 1``).
    low, high : float
        The interval; NaN with fewer than two folds.
    folds : int
        Number of folds that are not NaN.
    """

    mean: float
    sd: float
    low: float
    high: float
    folds: int


def nadeau_bengio(
    values: Any, test_size: float, train_size: float, *, confidence: float = 0.95
) -> RepeatedMean:
    """Return the mean over folds with the interval of Nadeau and Bengio.

    The training parts of folds overlap, so their rates are not independent, and the usual
    standard error of a mean is too small. Nadeau and Bengio replace ``1 / J`` by
    ``1 / J + test_size / train_size``: with the variance ``s^2`` between the ``J`` folds,
    the interval is ``mean +- t(J - 1) sqrt((1 / J + test_size / train_size) s^2)``.

    Parameters
    ----------
    values : array_like
        The rate in each fold, of all repeats. NaN marks a fold whose class had no attempt; it is
        left out.
    test_size, train_size : float
        Sizes of the two parts of a fold, in subjects (in pairs where the folds are of pairs).
    confidence : float
        In (0, 1).

    Returns
    -------
    RepeatedMean

    Raises
    ------
    DataError
        If a size is not positive, or the confidence not inside (0, 1).

    Notes
    -----
    A heuristic without a proven coverage; the dependence of pairs that share subjects enters
    only through the spread between folds. The limits are not clipped to [0, 1]. Nadeau, C.,
    Bengio, Y. (2003). Inference for the generalization error. *Machine Learning* 52, 239-281,
    equation 10; for repeated folds: Bouckaert, R. R., Frank, E. (2004), PAKDD.

    Examples
    --------
    >>> from bioeval.stats import nadeau_bengio
    >>> found = nadeau_bengio([0.02, 0.04, 0.03, 0.03], test_size=10, train_size=30)
    >>> round(found.mean, 3), round(found.low, 4), round(found.high, 4)
    (0.03, 0.0102, 0.0498)
    """
    from scipy.special import stdtrit

    test = require_number("test_size", test_size, above=0)
    train = require_number("train_size", train_size, above=0)
    confidence = IntervalOptions.check_confidence(confidence)
    array = require_numbers("values", values).ravel()
    array = array[~np.isnan(array)]
    n = len(array)
    if n:
        mean = float(array.mean())
    else:
        mean = float("nan")
    if n < 2:
        return RepeatedMean(mean, float("nan"), float("nan"), float("nan"), n)
    sd = float(array.std(ddof=1))
    half = float(stdtrit(n - 1, 0.5 + confidence / 2)) * sd * (1 / n + test / train) ** 0.5
    return RepeatedMean(mean, sd, mean - half, mean + half, n)


class PooledRates:
    """Bootstrapped verification rates over parts, each at its own threshold.

    The attempts of all parts are pooled: a subject that is drawn twice counts twice in every
    part. The thresholds are fixed; the uncertainty from choosing them is not included. `subjects`
    are the distinct ones of all parts, which are resampled.
    """

    def __init__(self, subjects: Sequence, options: IntervalOptions):
        self.options = options
        self._number = {name: i for i, name in enumerate(subjects)}
        self._weights = options.weights(len(self._number))
        self._forms = QuadraticForms(self._weights, 2)
        self._genuine = np.zeros((2, len(self._number)), dtype=np.int64)
        self._pairs = 0
        self._seen: tuple[set[int], set[int]] = set(), set()

    def add(self, attempts: SubjectAttempts, threshold: float) -> None:
        """Count the attempts of a part at a threshold, a distance; NaN rejects everything."""
        number = np.array([self._number[name] for name in attempts.names], dtype=np.int64)
        rejects = math.isnan(threshold)
        at = np.array([-np.inf if rejects else threshold])
        values, people = attempts.sweep(at, _Renumbered(self._forms, number, rejects))
        counts = by_subject(values, people, at, len(number))
        if rejects:
            counts = np.stack([np.zeros_like(counts[0]), counts.sum(axis=0)])
        self._genuine[:, number] += counts.astype(np.int64)  # each subject is listed once
        self._pairs += attempts.disjoint_pairs
        for seen, side in zip(self._seen, attempts.sides, strict=True):
            seen.update(number[side].tolist())

    def rates(self) -> dict[str, tuple[float, float, float]]:
        """Return each rate of all parts together, with its confidence limits."""
        genuine = linear_forms(self._genuine, self._weights)
        impostor = self._forms.totals
        both = genuine.sum(axis=0), impostor.sum(axis=0)
        counts = dict(zip(("ga", "fr", "fa", "gr"), (*genuine, *impostor), strict=True))
        totals = {"genuine_attempts": both[0], "impostor_attempts": both[1]}
        drawn = SCALARS.rates_of(SCALARS.at_threshold["folds"], counts | totals)
        drawn["hter"] = (drawn["far"] + 1 - drawn["gar"]) / 2
        subjects = self.options.trials_of(int((self._genuine.sum(axis=0) > 0).sum()))
        left, right_ = self._seen
        pairs = min(self._pairs, len(left), len(right_), len(left | right_) // 2)
        trials = {"far": pairs, "grr": pairs, "frr": subjects, "gar": subjects}
        ends = {}
        for scalar in SCALARS.at_threshold["folds"]:
            values = scalar.scaled(drawn[scalar.name])
            number = trials.get(scalar.name, min(pairs, subjects))
            low, high = map(scalar.unscaled, self.options.limits(values, number))
            ends[scalar.name] = float(drawn[scalar.name][0]), float(low), float(high)
        return ends

    def remarks(self) -> list[str]:
        """Return warnings where the intervals are unreliable."""
        return self.options.few_people(len(self._number))


class _Renumbered:
    """A sink that maps the subjects of a part to the subjects of all parts."""

    def __init__(self, forms: QuadraticForms, number: np.ndarray, rejects: bool):
        self.forms, self.number, self.rejects = forms, number, rejects

    def fresh(self) -> _Renumbered:
        return _Renumbered(self.forms.fresh(), self.number, self.rejects)

    def counts(self) -> np.ndarray:
        return self.forms.counts()

    def include_counts(self, found: np.ndarray) -> None:
        self.forms.include_counts(found)

    def add(self, pairs: PairCounts) -> None:
        if self.rejects:
            pairs = pairs.in_layers(np.ones_like(pairs.layer))
        self.forms.add(pairs.renumbered(self.number))
