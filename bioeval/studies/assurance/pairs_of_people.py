"""Impostor attempts by pair of people at the strictest thresholds, each pair of people alike.

What is counted is, of each pair of people, the proportion of its attempts that are accepted, both
directions together; its mean over pairs is the FAR of a pair of people drawn at random.
"""

from __future__ import annotations

import math

import numpy as np

from bioeval.attempts.by_subject import PairCounts, SubjectAttempts, summed
from bioeval.attempts.cells import is_accepted
from bioeval.attempts.counts import VerificationTally
from bioeval.attempts.passes import count_together
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.base.messages import Message
from bioeval.scores.blocks import BlockReader, threads_for
from bioeval.scores.matrix import Scores, are_pairs, codes_of
from bioeval.studies.assurance.promise import PeopleMeans


def _too_few(people: int, who: str) -> Message:
    """Return the refusal of data with too few people to leave one out."""
    return Message("too-few-people-to-resample", people=people, who=who, needed=3)


class AttainableThresholds:
    """Thresholds at impostor scores, the layers, and at genuine scores between them."""

    thresholds: np.ndarray
    genuine: np.ndarray
    beyond: float

    def loosest(self, layer: int) -> float:
        """Return the loosest score, genuine or impostor, that accepts what a layer accepts.

        Minus infinity, which rejects all, where no score is below the first impostor score; NaN
        where that is itself minus infinity.
        """
        after = layer + 1
        end = self.thresholds[after] if after < len(self.thresholds) else np.inf
        genuine = self.genuine[: np.searchsorted(self.genuine, end)]
        if after == len(self.thresholds) and self.beyond < np.finfo(np.float64).max:
            genuine = genuine[genuine <= self.beyond]
        genuine = genuine[np.isfinite(genuine)]
        layer_threshold = self.thresholds[layer] if layer >= 0 else -np.inf
        if layer < 0 and end == -np.inf:
            return math.nan
        return float(max(layer_threshold, genuine[-1] if len(genuine) else -np.inf))

    def frr(self, threshold: float) -> float:
        """Return the proportion of genuine attempts that a threshold rejects; NaN rejects all."""
        if not len(self.genuine):
            return math.nan
        return float((~(self.genuine <= threshold)).mean())


class PairShares(AttainableThresholds):
    """Proportions accepted of pairs of people, at each impostor score up to a limit.

    - `scores` (Scores): with people
    - `rate` (float): the mean, and the proportion of all attempts, are known for every threshold
      where they are at most this, at least
    - `at` (float): in place of a rate: the one distance at which the mean is wanted
    - `templates`, `fusion`: as for :func:`bioeval.verification`
    - `new_gallery` (bool): of a gallery of other people than the probes: whether its people stand
      for others too
    - `thresholds` (float64 (k,)): the distinct impostor scores, as increasing distances
    - `mean` (float64 (k,)): the mean over pairs of people at each of them
    - `accepted` (float64 (k,)): the proportion of all impostor attempts
    - `sides` (list of int64): the people who are resampled, together or side by side
    - `fixed_gallery` (bool): whether the people of the gallery are not
    - `independent` (int): number of pairs of people that are independent
    - `exact` (bool): whether all attempts are independent
    - `beyond` (float): the next impostor score is above this one
    - `genuine` (float64): genuine scores, increasing; those of rejected comparisons are infinite
    - `of_person` (int64): the person of each
    - `fewest` (int or None): people on the smaller side, where some are on both and others on one
    - `refusal` (Message or None): why nothing can be promised; None where something can
    """

    over, event = "pairs of people", "of the impostor attempts are accepted"

    def __init__(
        self,
        scores: Scores,
        rate: float | None = None,
        *,
        at: float | None = None,
        templates: str,
        fusion: str,
        new_gallery: bool = False,
    ):
        """Count the impostors of each pair of people up to a mean `rate`, or up to a distance."""
        reader = BlockReader(scores)
        counter = VerificationCounter(reader, templates=templates, fusion=fusion)
        self.about = reader.about
        attempts = SubjectAttempts(counter)
        self.people = attempts.people
        if at is not None:
            self.beyond = at
            with threads_for(scores):
                self._collect(attempts, np.array([at]))
        else:
            assert rate is not None  # one of both is given
            (tally,) = count_together(reader, [counter])
            self._collect_up_to(rate, attempts, tally)
        self._who(scores, attempts, new_gallery)

    # -- counting

    def _collect_up_to(
        self, rate: float, attempts: SubjectAttempts, tally: VerificationTally
    ) -> None:
        """Count the attempts up to a distance at which the mean is above a rate."""
        cells = tally.attempts.cells
        reached = cells.negative_infinite + np.cumsum(cells.counts)
        edges = np.append(cells.grid.edges, np.finfo(np.float64).max)
        share = 2 * rate
        while True:
            place = min(int(np.searchsorted(reached, share * cells.total)), len(reached))
            self.beyond = float(edges[place])
            with threads_for(attempts.scores):
                near = _impostors_up_to(attempts, self.beyond)
                lowest = np.full(min(int(cells.negative_infinite), 1), -np.inf)
                self._collect(attempts, np.unique(np.append(lowest, near)))
            if place == len(reached) or (np.minimum(self.mean, self.accepted) > rate).any():
                return
            share *= 4

    def _collect(self, attempts: SubjectAttempts, thresholds: np.ndarray) -> None:
        """Count the attempts of each pair of people up to each of some distances."""
        self.thresholds = thresholds
        sink = _Entries(attempts.no_person, len(self.thresholds))
        values, people = attempts.pass_over(self.thresholds, sink)
        order = np.argsort(values, kind="stable")
        self.genuine, self.of_person = values[order], people[order]
        low, high, layer, count = sink.entries()
        self._total, self.impostors = sink.total, int(sink.total.sum())
        self._low, self._high, self._layer = low, high, layer
        self._share = count / self._total[low, high]
        self.pairs = int(np.count_nonzero(self._total))
        k = len(self.thresholds)
        mean = np.cumsum(np.bincount(layer, self._share, k))
        self.mean = mean / max(self.pairs, 1)
        self.accepted = np.cumsum(np.bincount(layer, count, k)) / max(self.impostors, 1)

    def _who(self, scores: Scores, attempts: SubjectAttempts, new_gallery: bool) -> None:
        """Find who is resampled, and how many pairs of people are independent."""
        there = self._total > 0
        self._partners = there.sum(axis=0) + there.sum(axis=1)
        known = self._partners > 0
        n = int(known.sum())
        self.refusal: Message | None = None
        self.exact, self.fixed_gallery = False, False
        self.fewest: int | None = None
        probe_people, gallery_people = attempts.sides
        probing = np.isin(np.arange(self.people), probe_people) & known
        enrolled = np.isin(np.arange(self.people), gallery_people) & known
        self.sides = [np.flatnonzero(known)]
        self.independent = n // 2
        if are_pairs(scores):
            codes = codes_of(scores)
            of_people = ~(codes.no_person[codes.probe] | codes.no_person[codes.gallery])
            probe, enrolled_person = codes.probe[of_people], codes.gallery[of_people]
            once = np.bincount(probe, minlength=len(codes.values))
            other = enrolled_person[enrolled_person != probe]
            once += np.bincount(other, minlength=len(codes.values))
            self.exact = bool(once.max(initial=0) == 1)
            if self.pairs < n * (n - 1) // 2:
                self._of_missing_pairs()
            if self.exact:
                self.independent = self.pairs
        elif (probing == enrolled).all() or (probing & enrolled).any():
            # Who is enrolled alone, or probes alone, has fewer partners than the others.
            if (probing != enrolled).any():
                self.fewest = int(min(probing.sum(), enrolled.sum()))
            if self.pairs < n * (n - 1) // 2:
                self._of_missing_pairs()
        else:
            sides = np.flatnonzero(probing), np.flatnonzero(enrolled)
            self.sides = list(sides) if new_gallery else [sides[0]]
            self.independent = min(map(len, self.sides))
            self.fixed_gallery = not new_gallery
            if new_gallery and self.pairs < len(sides[0]) * len(sides[1]):
                self._of_missing_pairs()
        fewest = min(map(len, self.sides))
        if self.fewest is not None and self.fewest < min(fewest, 3):
            self.refusal = _too_few(self.fewest, "people on one side of the comparisons")
        elif fewest < 3:
            self.refusal = _too_few(n, "people with impostor attempts")

    def _of_missing_pairs(self) -> None:
        """Existing pairs can be divided into this many sets of disjoint pairs, plus one."""
        self.independent = self.pairs // (int(self._partners.max(initial=0)) + 1)

    # -- uncertainty

    def means(self, layers: np.ndarray) -> PeopleMeans:
        """Return the means at increasing layers, and how each depends on single people."""
        layers = np.asarray(layers)
        step = np.searchsorted(layers, self._layer)
        kept = step < len(layers)
        low, high, step = self._low[kept], self._high[kept], step[kept]
        share, n, k = self._share[kept], self.people, len(layers)
        total = np.bincount(step, share, k).cumsum()
        both = np.concatenate([step * n + low, step * n + high])
        sums = np.bincount(both, np.tile(share, 2), k * n).reshape(k, n).cumsum(axis=0)
        some = np.concatenate(self.sides)
        return PeopleMeans.of(
            total,
            self.pairs,
            sums[:, some],
            self._partners[some],
            number=self.pairs,
            independent=self.independent,
            sides=tuple(map(len, self.sides)),
            of_pairs=True,
            fewest=self.fewest,
        )


class _Entries:
    """A sink that keeps the attempts of pairs of people up to the last threshold.

    Attempts with a distractor or junk, which are no people, are left out.
    """

    def __init__(self, no_person: np.ndarray, layers: int):
        self.no_person, self.layers = no_person, layers
        self.people = people = len(no_person)
        self.total = np.zeros((people, people), dtype=np.int64)  # above the diagonal
        self._keys = [np.empty(0, dtype=np.int64)]  # of layer and pair
        self._counts = [np.empty(0, dtype=np.int64)]

    def add(self, pairs: PairCounts) -> None:
        pair = pairs.keys(self.people)
        of_people = ~(self.no_person[pairs.probe_person] | self.no_person[pairs.claimed_person])
        near = of_people & (pairs.layer < self.layers)
        np.add.at(self.total.reshape(-1), pair[of_people], pairs.count[of_people])
        self._keys.append(pairs.layer[near].astype(np.int64) * self.people**2 + pair[near])
        self._counts.append(pairs.count[near])

    def entries(self) -> tuple[np.ndarray, ...]:
        """Return both people, the layer and the number of attempts of each entry."""
        key, count = summed(np.concatenate(self._keys), np.concatenate(self._counts))
        layer, pair = np.divmod(key, max(self.people, 1) ** 2)
        return *np.divmod(pair, max(self.people, 1)), layer, count


def _impostors_up_to(attempts: SubjectAttempts, limit: float) -> np.ndarray:
    """Return the impostor scores at most a distance."""
    scores = attempts.scores
    if are_pairs(scores):
        row = scores._distances().astype(np.float64)
        return row[~scores.genuine & (row <= limit)]
    parts = (impostors for _, impostors in attempts.counter.parts())
    return np.concatenate([np.empty(0), *(x[is_accepted(x, limit)] for x in parts)])


class SearchShares(AttainableThresholds):
    """Proportions of searches that raise a false alarm, of each person who is not enrolled.

    The gallery is fixed, so that these people are independent. The attributes are those of
    :class:`PairShares`, with people in the place of pairs of people.
    """

    over = "people who are not enrolled"
    event = "of the searches by people who are not enrolled raise a false alarm"
    fixed_gallery, exact = True, False
    beyond = float(np.finfo(np.float64).max)

    def __init__(self, other: np.ndarray, person: np.ndarray, genuine: np.ndarray):
        """Take of each search by a person not enrolled the nearest distance, and the person.

        `genuine` are the distances of mates, infinite where they are not at rank 1.
        """
        self.thresholds, layer = np.unique(other, return_inverse=True)
        _, person = np.unique(person, return_inverse=True)
        self._layer, self._person = layer.reshape(-1), person.reshape(-1)
        self._searches_per_person = np.bincount(self._person)
        n, k = len(self._searches_per_person), len(self.thresholds)
        self.pairs = self.independent = n
        self.sides, self.impostors = [np.arange(n)], len(other)
        self.refusal = _too_few(n, self.over) if n < 3 else None
        share = 1 / self._searches_per_person[self._person]
        mean = np.cumsum(np.bincount(self._layer, share, k)) / max(n, 1)
        accepted = np.cumsum(np.bincount(self._layer, minlength=k)) / max(self.impostors, 1)
        self.mean, self.accepted = np.minimum(mean, 1.0), np.minimum(accepted, 1.0)
        self.genuine = np.sort(genuine, kind="stable")

    def means(self, layers: np.ndarray) -> PeopleMeans:
        """Return the means at increasing layers, and how each depends on single people."""
        n, k = self.pairs, len(layers)
        step = np.searchsorted(layers, self._layer)
        kept = step < k
        alarms = np.bincount(step[kept] * n + self._person[kept], minlength=k * n)
        rates = alarms.reshape(k, n).cumsum(axis=0) / self._searches_per_person
        rates = np.minimum(rates, 1.0)
        return PeopleMeans.of(
            rates.sum(axis=1), n, rates, np.ones(n), number=n, independent=n, sides=(n,)
        )
