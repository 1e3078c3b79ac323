"""Rates of all folds together, without each person: thresholds are chosen anew."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bioeval.base.messages import Message
from bioeval.counting.by_subject import SubjectAttempts
from bioeval.counting.threshold_rules import Rule
from bioeval.results.dataset import rates_of
from bioeval.results.variables import rates_of_folds
from bioeval.stats.limits import chosen_anew, of_rate, student
from bioeval.stats.options import IntervalMethod, trials_of
from bioeval.stats.people import AttemptsOfEach, ratio
from bioeval.stats.weights import groups_of_people
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
        self._group, self._groups = groups_of_people(everyone.no_person)
        self._number = {name: i for i, name in enumerate(everyone.names)}
        self._people = int((~everyone.no_person).sum())
        # Accepted and all, genuine and impostor attempts, and without each group.
        self._pooled = np.zeros((2, 2, self._groups + 1))
        self._tested = np.zeros((2, self._groups), dtype=bool)
        self._trained: np.ndarray = np.zeros(self._groups, dtype=bool)
        self._mated: set[int] = set()
        self._sides: tuple[set[int], set[int]] = set(), set()
        self._disjoint, self._anew = 0, False

    def add(
        self,
        test: SubjectAttempts,
        threshold: float,
        train: SubjectAttempts | None = None,
        among: TrainingThresholds | None = None,
    ) -> None:
        """Add the test part of a fold; its threshold, a distance, is one `among` some of `train`.

        NaN rejects everything. Without a training part the threshold is given.
        """
        thresholds = np.array([threshold])[[threshold > -np.inf]]
        if among is not None:
            thresholds = among.thresholds
        number = np.array([self._number[name] for name in test.names], dtype=np.int64)
        judged = _Accepted.of(test, thresholds, self._group[number], self._groups)
        row = 0
        if not math.isnan(threshold):
            row = int(np.searchsorted(thresholds, threshold, side="right"))
        chosen = np.full(self._groups + 1, float(row))
        defined: np.ndarray = np.ones(self._groups + 1, dtype=bool)
        if train is not None and among is not None:
            of_train = np.array([self._number[name] for name in train.names], dtype=np.int64)
            learned = _Accepted.of(train, thresholds, self._group[of_train], self._groups)
            # Where none are left to choose a threshold on, there is none.
            defined = np.all(learned.made > 0, axis=0)
            # Who is in no training pair changes no threshold.
            trained = (learned.made != learned.made[:, :1]).any(axis=0)
            chosen = np.where(trained, row_of(self.rule, learned, among.every_score), chosen)
            self._trained |= trained[1:]
            self._anew = True
        at = judged.at(np.where(defined, chosen, 0))
        self._pooled += np.where(defined, np.stack([at, judged.made]), 0)
        self._tested |= judged.made[:, 1:] < judged.made[:, :1]
        self._mated.update(number[judged.mated].tolist())
        self._disjoint += test.disjoint_pairs
        for seen, side in zip(self._sides, test.sides, strict=True):
            seen.update(number[side[~test.no_person[side]]].tolist())

    def rates(self) -> dict[str, tuple[float, float, float]]:
        """Return each rate of all parts together, with its confidence limits."""
        (accepted, accepted_impostors), (genuine, impostors) = self._pooled
        counts = {
            "ga": accepted,
            "fr": genuine - accepted,
            "fa": accepted_impostors,
            "gr": impostors - accepted_impostors,
            "genuine_attempts": genuine,
            "impostor_attempts": impostors,
        }
        values = rates_of(rates_of_folds(), counts)
        values["hter"] = (values["far"] + 1 - values["gar"]) / 2
        genuine_subjects, anew = trials_of(len(self._mated)), self._anew
        left, right = self._sides
        pairs = min(self._disjoint, len(left), len(right), len(left | right) // 2)
        mixed = min(pairs, genuine_subjects)
        everyone = self._tested.any(axis=0) | self._trained  # who changes a rate, or a threshold
        among, tested_pairs = everyone, everyone
        if not anew:  # who has no such attempt changes no such rate
            among, tested_pairs = self._tested
        of_genuine = genuine_subjects, among, float(genuine[0]), 1
        of_impostors = pairs, tested_pairs, float(impostors[0]), 2
        of_rates = {"far": of_impostors, "grr": of_impostors, "frr": of_genuine, "gar": of_genuine}
        ends = {}
        for scalar in rates_of_folds():
            confidence = self.options.confidence
            if scalar.name in of_rates:
                units, people, made, sides = of_rates[scalar.name]
                columns = values[scalar.name][np.append(True, people)]
                low, high = of_rate(columns, made, units, confidence, sides)
                if anew:
                    low, high = chosen_anew(columns, (low, high), confidence)
            else:
                columns = values[scalar.name][np.append(True, everyone)]
                low, high = student(columns, confidence, mixed, scalar.bounds)
            ends[scalar.name] = float(values[scalar.name][0]), float(low), float(high)
        far, frr = np.array(ends["far"]), np.array(ends["frr"])
        if far[0] in (0, 1) or frr[0] in (0, 1):
            # It is so without each person, which hides how uncertain functions of both rates are.
            for scalar in rates_of_folds():
                if scalar.of_rates is not None:
                    value, below, above = ends[scalar.name]
                    both = scalar.of_rates(far[1:], frr[1:]).tolist()
                    ends[scalar.name] = value, min(below, *both), max(above, *both)
        return ends

    def remarks(self) -> list[Message]:
        """Return messages where the intervals are unreliable."""
        return self.options.few_people(self._people)
