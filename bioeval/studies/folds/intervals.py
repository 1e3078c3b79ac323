"""Rates of all folds together, without each person: thresholds are chosen anew."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bioeval.attempts.by_subject import SubjectAttempts
from bioeval.attempts.threshold_rules import Rule
from bioeval.base.messages import Message
from bioeval.base.registry import scalar_registry
from bioeval.base.scalars import rates_of
from bioeval.stats.limits import jackknife_limits, open_limits
from bioeval.stats.options import IntervalMethod, trials_of
from bioeval.stats.people import AttemptsOfEach, groups_of_people, ratio
from bioeval.studies.folds.folds import TrainingThresholds


@dataclass(frozen=True)
class _Accepted:
    """Attempts of a part that are accepted: none, and up to each of some increasing thresholds.

    The last axis is of all attempts, and of those without each person.

    - `counts` (int64 (2, 1 + thresholds, 1 + people)): genuine and impostor attempts
    - `made` (int64 (2, 1 + people)): accepted or not
    - `mated`: the subjects of the part that have genuine attempts
    """

    thresholds: np.ndarray
    counts: np.ndarray
    made: np.ndarray
    mated: np.ndarray

    @classmethod
    def of(
        cls, attempts: SubjectAttempts, thresholds: np.ndarray, group: np.ndarray, groups: int
    ) -> _Accepted:
        """Count a part; `group` is that of each subject of its attempts."""
        each = AttemptsOfEach(group, groups, len(thresholds) + 1)
        genuine = attempts.pass_over(thresholds, each)
        layers = np.stack([each.accepted_genuine(genuine, thresholds), each.accepted()])
        counts = np.concatenate([np.zeros_like(layers[:, :1]), layers], axis=1)
        return cls(thresholds, counts[:, :-1], counts[:, -1], np.unique(genuine[1]))

    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """Return FAR and FRR, (1 + thresholds, 1 + people)."""
        accepted = ratio(self.counts, np.broadcast_to(self.made[:, None], self.counts.shape))
        return accepted[1], 1 - accepted[0]

    def at(self, row: np.ndarray) -> np.ndarray:
        """Return the accepted attempts, (2, 1 + people), each at a row that may be between two."""
        below = np.floor(row).astype(np.int64)
        above = np.minimum(below + 1, self.counts.shape[1] - 1)
        who = np.arange(len(row))
        left, right = self.counts[:, below, who], self.counts[:, above, who]
        return left + (row - below) * (right - left)


def row_of(rule: Rule, part: _Accepted, exact: bool) -> np.ndarray:
    """Return the row of the threshold that a rule chooses on a part, and without each person.

    The first row accepts nothing; FAR grows along the rows. Where these are not all scores
    (`exact`), thresholds at a FAR, at a FRR and at the EER are between two rows, linearly.
    """
    far, frr = part.rates()
    last = len(far) - 1
    if rule.name in ("cost", "accuracy"):
        of_frr, of_far = part.made.astype(np.float64)
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


@dataclass(frozen=True, eq=False)
class _LeftOutFold:
    """The parts of a fold and its threshold, a distance; without a training part it is given."""

    threshold: float
    attempts: SubjectAttempts  # of the test part
    test: _Accepted
    train: _Accepted | None = None
    every_score: bool = False  # whether the thresholds are all scores of the training part


class LeftOutRates:
    """Verification rates over parts, each at the threshold of its fold, without each person.

    Each person is left out in turn, of the training and of the test part of every fold, and the
    thresholds are chosen anew: limits are those of the pooled rates of new people, with thresholds
    chosen on other people like those of the training parts. A threshold that is given stays.
    Of more than a thousand people, groups of them are left out.
    """

    def __init__(self, everyone: SubjectAttempts, options: IntervalMethod, rule: Rule):
        """Begin without a fold; the attempts of `everyone` number the people."""
        self.options, self.rule = options.for_new_people, rule
        group, self._groups = groups_of_people(everyone.no_person)
        self._number = {name: i for i, name in enumerate(everyone.names)}
        self._group, self._people = group, int((~everyone.no_person).sum())
        self._folds: list[_LeftOutFold] = []

    def add_fixed(self, test: SubjectAttempts, threshold: float) -> None:
        """Add the test part of a fold at a threshold that is given."""
        at = np.array([threshold])[[threshold > -np.inf]]
        self._folds.append(_LeftOutFold(threshold, test, self._count(test, at)))

    def add_chosen(
        self,
        train: SubjectAttempts,
        test: SubjectAttempts,
        threshold: float,
        among: TrainingThresholds,
    ) -> None:
        """Add the parts of a fold; its threshold is one `among` some, NaN rejects everything."""
        judged, learned = (self._count(x, among.thresholds) for x in (test, train))
        self._folds.append(_LeftOutFold(threshold, test, judged, learned, among.every_score))

    def _numbers(self, attempts: SubjectAttempts) -> np.ndarray:
        """Return the numbers of the subjects of a part among all."""
        return np.array([self._number[name] for name in attempts.names], dtype=np.int64)

    def _count(self, attempts: SubjectAttempts, thresholds: np.ndarray) -> _Accepted:
        group = self._group[self._numbers(attempts)]
        return _Accepted.of(attempts, thresholds, group, self._groups)

    def _at_thresholds(self, fold: _LeftOutFold) -> np.ndarray:
        """Return accepted and all attempts of a test part, (2, 2, 1 + people).

        Where none are left to choose a threshold on, there are none.
        """
        row = int(np.searchsorted(fold.test.thresholds, fold.threshold, side="right"))
        if math.isnan(fold.threshold):
            row = 0
        chosen = np.full(self._groups + 1, float(row))
        defined: np.ndarray = np.ones(self._groups + 1, dtype=bool)
        if fold.train is not None:
            learned = fold.train
            defined = np.all(learned.made > 0, axis=0)
            # Who is in no training pair changes no threshold.
            trained = (learned.made != learned.made[:, :1]).any(axis=0)
            chosen = np.where(trained, row_of(self.rule, learned, fold.every_score), chosen)
        at = fold.test.at(np.where(defined, chosen, 0))
        return np.where(defined, np.stack([at, fold.test.made]), 0)

    def rates(self) -> dict[str, tuple[float, float, float]]:
        """Return each rate of all parts together, with its confidence limits."""
        pooled = np.zeros((2, 2, self._groups + 1))  # accepted and all, genuine and impostor
        tested = np.zeros((2, self._groups), dtype=bool)
        trained: np.ndarray = np.zeros(self._groups, dtype=bool)
        subjects: set[int] = set()
        sides: tuple[set[int], set[int]] = set(), set()
        disjoint = 0
        for fold in self._folds:
            pooled += self._at_thresholds(fold)
            tested |= fold.test.made[:, 1:] < fold.test.made[:, :1]
            if fold.train is not None:
                trained |= (fold.train.made[:, 1:] < fold.train.made[:, :1]).any(axis=0)
            attempts = fold.attempts
            number = self._numbers(attempts)
            subjects.update(number[fold.test.mated].tolist())
            disjoint += attempts.disjoint_pairs
            for seen, side in zip(sides, attempts.sides, strict=True):
                seen.update(number[side[~attempts.no_person[side]]].tolist())
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
        genuine_subjects = trials_of(len(subjects))
        left, right = sides
        pairs = min(disjoint, len(left), len(right), len(left | right) // 2)
        mixed = min(pairs, genuine_subjects)
        anew = any(fold.train is not None for fold in self._folds)
        everyone = tested.any(axis=0) | trained  # who changes a rate, or a threshold
        among, tested_pairs, fewest = everyone, everyone, np.inf
        if not anew:  # who has no such attempt changes no such rate
            among, tested_pairs = tested
            fewest = min((len(side) for side in sides if side), default=0)
        of_genuine = genuine_subjects, among, np.inf
        of_impostors = pairs, tested_pairs, fewest
        units = {"far": of_impostors, "grr": of_impostors, "frr": of_genuine, "gar": of_genuine}
        ends = {}
        for scalar in scalar_registry().at_threshold["folds"]:
            trials, people, least = units.get(scalar.name, (mixed, everyone, fewest))
            rate = scalar.scaled(values[scalar.name])
            low, high = jackknife_limits(
                rate[0],
                rate[1:][people],
                self.options.confidence,
                trials,
                least,
                chosen_anew=anew,
            )
            if not anew:
                low, high = open_limits(rate[0], low, high, trials, self.options.confidence)
            ends_of = scalar.unscaled(np.array([low, high])).tolist()
            ends[scalar.name] = float(values[scalar.name][0]), *ends_of
        far, frr = np.array(ends["far"]), np.array(ends["frr"])
        if far[0] in (0, 1) or frr[0] in (0, 1):
            # It is so without each person, which hides how uncertain functions of both rates are.
            for scalar in scalar_registry().at_threshold["folds"]:
                if scalar.of_rates is not None:
                    value, low, high = ends[scalar.name]
                    both = scalar.of_rates(far[1:], frr[1:]).tolist()
                    ends[scalar.name] = value, min(low, *both), max(high, *both)
        return ends

    def remarks(self) -> list[Message]:
        """Return messages where the intervals are unreliable."""
        return self.options.few_people(self._people)
