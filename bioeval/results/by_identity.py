"""Means by identity: over the attempts of each identity first, then over the identities.

A mean over attempts weighs an identity by its number of attempts; a mean by identity weighs all
the same. Counts are kept for each number of attempts that an identity may have, so that a rate by
identity is computed from whole numbers, once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from bioeval.tallies.counts import IdentificationTally
from bioeval.tallies.identities import ProbeIdentities

#: Means over all attempts alone, or by identity beside them.
Average = Literal["attempt", "identity"]


class IdentityMeans:
    """The attempts of each identity, and means over these and then over the identities."""

    def __init__(self, people: ProbeIdentities, counted: np.ndarray):
        """Count the attempts of each identity; `counted` is a mask of the probes that make one.

        Probes of nobody, such as distractors, are left out.
        """
        self.counted = counted & ~people.nobody
        self.identity = people.codes  # of each probe
        size = int(self.identity.max(initial=-1)) + 1
        #: int64 (identities,): how many of its probes count.
        self.attempts = np.bincount(self.identity[self.counted], minlength=size)
        self.number = int((self.attempts > 0).sum())

    def weights(self, probe: np.ndarray) -> np.ndarray:
        """Return one over the number of attempts of the identity of each probe; 0 of no attempt."""
        attempts = np.maximum(self.attempts[self.identity[probe]], 1)
        return np.where(self.counted[probe], 1 / attempts, 0.0)

    def of_each(self, probe: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the mean of each identity over its attempts; a probe without a value has 0."""
        kept = self.counted[probe]
        sums = np.bincount(self.identity[probe[kept]], values[kept], minlength=len(self.attempts))
        return sums / np.maximum(self.attempts, 1)

    def mean(self, probe: np.ndarray, values: np.ndarray) -> float:
        """Return the mean by identity of the values of some probes; others that count have 0."""
        if not self.number:
            return float("nan")
        return float(self.of_each(probe, values)[self.attempts > 0].sum() / self.number)

    def up_to(
        self, probe: np.ndarray, place: np.ndarray, weight: np.ndarray, count: int
    ) -> np.ndarray:
        """Return the rate by identity of hits up to each of the first `count` places.

        The arrays are of each hit: its probe, its place along a curve, and its weight.
        """
        if not self.number:
            return np.full(count, np.nan)
        kept = self.counted[probe] & (place < count)
        place, weight = place[kept], weight[kept]
        attempts = self.attempts[self.identity[probe[kept]]]
        total = np.zeros(count)
        for size in np.unique(attempts):
            hits = attempts == size
            total += np.cumsum(np.bincount(place[hits], weight[hits], minlength=count)) / size
        return np.minimum(total / self.number, 1.0)  # expected ties round


@dataclass(frozen=True)
class OpenSetByIdentity:
    """Open-set identification by identity, at rank 1."""

    genuine: IdentityMeans
    impostor: IdentityMeans
    #: Of the best mates at rank 1: probe, distance and weight.
    probe: np.ndarray
    mate: np.ndarray
    weight: np.ndarray
    #: Of the impostor attempts: probe and distance of the nearest candidate.
    searched: np.ndarray
    other: np.ndarray

    @classmethod
    def of(
        cls, tally: IdentificationTally, people: ProbeIdentities, ties: str, role: str
    ) -> OpenSetByIdentity:
        """Return the searches of a tally, of probes of these identities."""
        mated = tally.mates > 0
        probe, rank, weight = tally.rank_weights(np.flatnonzero(mated), ties)
        first = rank == 1
        searched = tally.impostor_probes(role)
        return cls.of_searches(
            people,
            mated,
            (probe[first], tally.mate[probe[first]], weight[first]),
            (searched, tally.other[searched]),
        )

    @classmethod
    def of_searches(
        cls,
        people: ProbeIdentities,
        mated: np.ndarray,
        first: tuple[np.ndarray, np.ndarray, np.ndarray],
        other: tuple[np.ndarray, np.ndarray],
    ) -> OpenSetByIdentity:
        """Return searches by a mask of the probes with a mate, and facts of some probes.

        `first` has probe, distance and weight of the best mates at rank 1, `other` probe and
        distance of the impostor attempts.
        """
        makes_attempt = np.zeros(len(mated), dtype=bool)
        makes_attempt[other[0]] = True
        genuine = IdentityMeans(people, mated)
        return cls(genuine, IdentityMeans(people, makes_attempt), *first, *other)

    def rates(self, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return DIR at rank 1 and GRR by identity at increasing distances."""
        count = len(grid)
        place = np.searchsorted(grid, self.mate)
        detected = self.genuine.up_to(self.probe, place, self.weight, count)
        place = np.searchsorted(grid, self.other)
        ones = np.ones(len(place))
        return detected, 1.0 - self.impostor.up_to(self.searched, place, ones, count)

    def curves(self, grid: np.ndarray) -> dict[str, np.ndarray]:
        """Return the variables over increasing distances."""
        detected, rejected = self.rates(grid)
        return {
            "dir_by_identity": detected,
            "grr_by_identity": rejected,
            "open_set_score": np.sqrt(detected * rejected),
        }

    @cached_property
    def best(self) -> tuple[float, float]:
        """The largest open-set score, and the strictest threshold with it, as a distance.

        The score rises only where another mate is accepted, so that only these distances matter.
        """
        if not (self.genuine.number and self.impostor.number):
            return float("nan"), float("nan")
        points = np.unique(self.mate[self.genuine.counted[self.probe]])
        scores = self.curves(points)["open_set_score"]
        if not scores.any():
            accepted_always = (self.mate == -np.inf).any() or (self.other == -np.inf).any()
            return 0.0, float("nan") if accepted_always else float("-inf")
        place = int(np.argmax(scores >= scores.max() * (1 - 1e-12)))  # but for rounding
        return float(scores[place]), float(points[place])
