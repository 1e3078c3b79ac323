"""Rates over folds: with subjects resampled, and the mean where training parts overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.base import rates_of, require_number, require_numbers, scalar_registry
from bioeval.stats import (
    IntervalOptions,
    QuadraticForms,
    by_subject,
    jackknife_limits,
    linear_forms,
    ratio,
)
from bioeval.tallies import PairCounts, Rule, SubjectAttempts, count_together


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
        values, people = attempts.pass_over(at, _Renumbered(self._forms, number, rejects))
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
        drawn = rates_of(scalar_registry().at_threshold["folds"], counts | totals)
        drawn["hter"] = (drawn["far"] + 1 - drawn["gar"]) / 2
        subjects = self.options.trials_of(int((self._genuine.sum(axis=0) > 0).sum()))
        left, right_ = self._seen
        pairs = min(self._pairs, len(left), len(right_), len(left | right_) // 2)
        trials = {"far": pairs, "grr": pairs, "frr": subjects, "gar": subjects}
        ends = {}
        for scalar in scalar_registry().at_threshold["folds"]:
            values = scalar.scaled(drawn[scalar.name])
            number = trials.get(scalar.name, min(pairs, subjects))
            low, high = map(scalar.unscaled, self.options.limits(values, number))
            ends[scalar.name] = float(drawn[scalar.name][0]), float(low), float(high)
        return ends

    def remarks(self) -> list[str]:
        """Return warnings where the intervals are unreliable."""
        return self.options.few_people(len(self._number))


@dataclass(frozen=True)
class _Accepted:
    """Attempts of a part that are accepted: none, and up to each of some increasing thresholds.

    - `counts` (int64 (2, 1 + thresholds)): genuine and impostor attempts of all
    - `counts_of` (int64 (2, 1 + thresholds, people)): those that leave with each person
    - `made` (int64 (2,)), `made_of` (int64 (2, people)): accepted or not
    """

    counts: np.ndarray
    counts_of: np.ndarray
    made: np.ndarray
    made_of: np.ndarray

    @classmethod
    def of(
        cls, attempts: SubjectAttempts, thresholds: np.ndarray, number: np.ndarray, people: int
    ) -> _Accepted:
        """Count the attempts; `number` is that of each subject of the part among all people."""
        sink = _Leaving(len(thresholds) + 1, people, number)
        values, who = attempts.pass_over(thresholds, sink)
        genuine = np.zeros((len(thresholds) + 1, people), dtype=np.int64)
        genuine[:, number] = by_subject(values, who, thresholds, len(number))
        layers_of = np.stack([genuine, sink.leaving])
        layers = np.stack([genuine.sum(axis=1), sink.totals])
        none = np.zeros((2, 1, people), dtype=np.int64)
        counts_of = np.concatenate([none, np.cumsum(layers_of, axis=1)], axis=1)
        counts = np.concatenate([none[:, :, 0], np.cumsum(layers, axis=1)], axis=1)
        return cls(counts[:, :-1], counts_of[:, :-1], counts[:, -1], counts_of[:, -1])

    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """Return FAR and FRR without each person, (1 + thresholds, people)."""
        made = (self.made[:, None] - self.made_of)[:, None]
        accepted = ratio(
            self.counts[:, :, None] - self.counts_of, np.broadcast_to(made, self.counts_of.shape)
        )
        return accepted[1], 1 - accepted[0]

    def at(self, row: np.ndarray) -> np.ndarray:
        """Return the accepted attempts without each person, (2, people).

        Each person has a row of its own, which may be between two.
        """
        below = np.floor(row).astype(np.int64)
        above = np.minimum(below + 1, self.counts.shape[1] - 1)
        who = np.arange(len(row))
        left = self.counts[:, below] - self.counts_of[:, below, who]
        right = self.counts[:, above] - self.counts_of[:, above, who]
        return left + (row - below) * (right - left)


def row_of(rule: Rule, part: _Accepted, exact: bool) -> np.ndarray:
    """Return the row of the threshold that a rule chooses on a part without each person.

    The first row accepts nothing; FAR grows along the rows. Where these are not all scores
    (`exact`), thresholds at a FAR, at a FRR and at the EER are between two rows, linearly.
    """
    far, frr = part.rates()
    last = len(far) - 1
    if rule.name in ("cost", "accuracy"):
        of_frr, of_far = (part.made[:, None] - part.made_of).astype(np.float64)
        if rule.name == "cost":
            prior, miss, accept = rule.values
            of_frr, of_far = prior * miss, (1 - prior) * accept
        cost = np.round(of_frr * frr + of_far * far, 12)  # equal but for rounding
        return np.argmin(cost, axis=0).astype(np.float64)
    if rule.name == "far":
        difference = far - rule.values[0]
        before = (difference <= 0).sum(axis=0) - 1
    elif rule.name == "frr":
        difference = rule.values[0] - frr
        before = np.maximum((difference < 0).sum(axis=0) - 1, 0)
    else:
        difference = far - frr
        before = np.maximum((difference < 0).sum(axis=0) - 1, 0)
    after = np.minimum(before + 1, last)
    columns = np.arange(far.shape[1])
    if not exact:
        left, right = difference[before, columns], difference[after, columns]
        inside = (left < 0) & (right > left)
        step = np.where(inside, -left / np.where(inside, right - left, 1.0), 0.0)
        return before + np.clip(step, 0.0, 1.0)
    if rule.name == "far":
        chosen = before
    elif rule.name == "frr":
        chosen = after
    else:
        larger = np.maximum(far, frr)
        chosen = np.where(larger[before, columns] <= larger[after, columns], before, after)
    return chosen.astype(np.float64)


class LeftOutRates:
    """Verification rates over parts, each at the threshold that its training part chooses.

    Each person is left out in turn, of the training and of the test part of every fold, and the
    thresholds are chosen anew: limits are those of the pooled rates of new people, with thresholds
    chosen on other people like those of the training parts.
    """

    def __init__(self, subjects: Sequence, options: IntervalOptions, rule: Rule):
        self.options, self.rule = options.for_new_people, rule
        self._number = {name: i for i, name in enumerate(subjects)}
        people = len(self._number)
        self._pooled = np.zeros((2, 2))  # accepted and all, of genuine and impostor attempts
        self._without = np.zeros((2, 2, people))
        self._tested = np.zeros((2, people), dtype=bool)
        self._pairs = 0
        self._seen: tuple[set[int], set[int]] = set(), set()

    def add(self, train: SubjectAttempts, test: SubjectAttempts, threshold: float) -> None:
        """Count the parts of a fold; its threshold is a distance, NaN rejects everything."""
        (tally,) = count_together(train.reader, [train.counter.fresh()])
        wanted = np.array([threshold])
        wanted = wanted[np.isfinite(wanted)]
        nodes, exact = train.thresholds(tally, wanted)
        people = len(self._number)

        def counted(part: SubjectAttempts) -> tuple[_Accepted, np.ndarray]:
            number = np.array([self._number[name] for name in part.names], dtype=np.int64)
            return _Accepted.of(part, nodes, number, people), number

        learned, _ = counted(train)
        judged, number = counted(test)
        row = 0
        if len(wanted):
            row = int(np.searchsorted(nodes, wanted[0])) + 1
        # Who is in no training pair changes no threshold; without some there is none to choose on.
        chosen = np.where(learned.made_of.any(axis=0), row_of(self.rule, learned, exact), row)
        defined = (learned.made[:, None] > learned.made_of).all(axis=0)
        chosen = np.where(defined, chosen, 0)
        self._pooled += np.stack([judged.counts[:, row], judged.made])
        left = np.stack([judged.at(chosen), judged.made[:, None] - judged.made_of])
        self._without += np.where(defined, left, 0)
        self._tested |= judged.made_of > 0
        self._pairs += test.disjoint_pairs
        for seen, side in zip(self._seen, test.sides, strict=True):
            seen.update(number[side].tolist())

    def rates(self) -> dict[str, tuple[float, float, float]]:
        """Return each rate of all parts together, with its confidence limits."""
        there = self._tested.any(axis=0)
        pooled = np.concatenate([self._pooled[:, :, None], self._without[:, :, there]], axis=2)
        (accepted, accepted_impostors), (genuine, impostors) = pooled
        counts = {
            "ga": accepted,
            "fr": genuine - accepted,
            "fa": accepted_impostors,
            "gr": impostors - accepted_impostors,
            "genuine_attempts": genuine,
            "impostor_attempts": impostors,
        }
        values = rates_of(scalar_registry().at_threshold["folds"], counts)
        values["hter"] = (values["far"] + 1 - values["gar"]) / 2
        subjects = self.options.trials_of(int(self._tested[0].sum()))
        left, right = self._seen
        pairs = min(self._pairs, len(left), len(right), len(left | right) // 2)
        trials = {"far": pairs, "grr": pairs, "frr": subjects, "gar": subjects}
        ends = {}
        for scalar in scalar_registry().at_threshold["folds"]:
            scaled = scalar.scaled(values[scalar.name])
            number = trials.get(scalar.name, min(pairs, subjects))
            low, high = jackknife_limits(
                scaled[0], scaled[1:], self.options.confidence, number, chosen_anew=True
            )
            ends_of = scalar.unscaled(np.array([low, high])).tolist()
            ends[scalar.name] = float(values[scalar.name][0]), *ends_of
        return ends

    def remarks(self) -> list[str]:
        """Return warnings where the intervals are unreliable."""
        return self.options.few_people(len(self._number))


class _Leaving:
    """A sink of impostor attempts in each layer: of all, and those that leave with each person."""

    def __init__(self, layers: int, people: int, number: np.ndarray):
        self.people, self.number = people, number
        self.totals = np.zeros(layers, dtype=np.int64)
        self.leaving = np.zeros((layers, people), dtype=np.int64)

    def add(self, pairs: PairCounts) -> None:
        """Add attempts of pairs of subjects."""
        layer = pairs.layer.astype(np.int64)
        self.totals += np.bincount(layer, pairs.count, len(self.totals)).astype(np.int64)
        for side in (pairs.left_of_each, pairs.right):
            place = layer * self.people + self.number[side]
            counts = np.bincount(place, pairs.count, self.leaving.size).astype(np.int64)
            self.leaving += counts.reshape(self.leaving.shape)


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
