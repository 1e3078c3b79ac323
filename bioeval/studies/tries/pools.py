"""The tries of each person at each claim, pooled over visits, and the rates of k of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.base.memory import require_memory
from bioeval.counting.thresholds import is_accepted
from bioeval.scores.claim_scores import tries_of
from bioeval.scores.disjoint import disjoint_among, distinct_pairs
from bioeval.scores.matrix import Scores
from bioeval.scores.rows import among_distances, blocks_of, threads_for
from bioeval.stats.limits import RateCurve
from bioeval.stats.people import ratio
from bioeval.stats.weights import without_each
from bioeval.studies.assurance.limits import Judged

#: Fewer people show no spread.
FEWEST = 3


@dataclass(frozen=True, eq=False)
class Pools:
    """The tries of each person with each claimed subject, or template, of all visits together.

    Each array is (pairs,), of the pairs with a try:

    - `probing`, `claimed` (int64): codes of the two people
    - `tries`, `rejected` (int64): number of tries, and of those that the threshold rejects
    - `claims` (int64): number of claims, each of a visit
    """

    probing: np.ndarray
    claimed: np.ndarray
    tries: np.ndarray
    rejected: np.ndarray
    claims: np.ndarray
    people: int

    @classmethod
    def of(cls, scores: Scores, threshold: float) -> Pools:
        """Count the tries of scores, or of the claims made of them, at a distance.

        Tries of no person are left out: they may be of several people.
        """
        tries, visit = tries_of(scores)
        codes = tries.codes
        m, n = tries.shape
        person_of_visit = np.zeros(int(visit.max(initial=-1)) + 1, dtype=np.int64)
        person_of_visit[visit] = codes.probe
        probing, place = np.unique(codes.probe, return_inverse=True)
        place = place.reshape(-1)
        needed = n * (16 * len(probing) + len(person_of_visit))
        require_memory(needed, f"the tries of {m:,} probes at {n:,} claims", "select fewer probes")
        every, rejected = np.zeros((2, len(probing), n), dtype=np.int64)
        is_claimed = np.zeros((len(person_of_visit), n), dtype=bool)
        limit = float(among_distances(tries, threshold))
        columns = tries.gallery_order.columns[0]
        with threads_for(tries):
            for block in blocks_of(tries):
                rows = np.arange(m)[block.probes]
                made = np.empty(block.values.shape, dtype=bool)
                made[:, columns] = ~np.isnan(block.values)
                accepted = np.empty_like(made)
                accepted[:, columns] = is_accepted(block.values, limit)
                np.add.at(every, place[rows], made)
                np.add.at(rejected, place[rows], made & ~accepted)
                np.logical_or.at(is_claimed, visit[rows], made)
        claims = np.zeros_like(every)
        np.add.at(claims, np.searchsorted(probing, person_of_visit), is_claimed)
        every[codes.no_person[probing]] = 0
        row, column = np.nonzero(every)
        return cls(
            probing[row],
            codes.gallery[column],
            every[row, column],
            rejected[row, column],
            claims[row, column],
            len(codes.values),
        )

    @property
    def is_genuine(self) -> np.ndarray:
        """Whether a person claims to be themselves, (pairs,)."""
        return self.probing == self.claimed

    def all_rejected(self, k: int) -> np.ndarray:
        """Return the share of the choices of k tries of a pair that are all rejected, (pairs,).

        That is ``C(rejected, k) / C(tries, k)``; NaN of a pair with fewer tries.
        """
        left = np.arange(min(k, self.tries.max(initial=0)))
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.maximum(self.rejected[:, None] - left, 0) / (self.tries[:, None] - left)
            return np.where(self.tries >= k, factors.prod(axis=1), np.nan)

    def rate(self, name: str, k: int) -> Rate:
        """Return the FAR or the FRR of k tries, by its name."""
        of_class = self.is_genuine if name == "frr" else ~self.is_genuine
        enough = of_class & (self.tries >= k)
        rejected = self.all_rejected(k)[enough]
        return Rate(
            self.probing[enough],
            self.claimed[enough],
            self.claims[enough],
            rejected if name == "frr" else 1 - rejected,
            self.people,
            left_out=int(np.count_nonzero(of_class & ~enough)),
        )


@dataclass(frozen=True, eq=False)
class Rate:
    """A rate of k tries: the mean over claims of the value of their pair.

    `left_out` is the number of pairs with fewer tries.
    """

    probing: np.ndarray
    claimed: np.ndarray
    claims: np.ndarray
    value: np.ndarray
    people: int
    left_out: int

    @property
    def attempts(self) -> int:
        """Number of claims."""
        return int(self.claims.sum())

    @property
    def mean(self) -> float:
        """The rate; NaN without a claim."""
        return float(self.claims @ self.value / self.attempts) if self.attempts else float("nan")

    @property
    def fixed_gallery(self) -> bool:
        """Whether nobody who tries is claimed by others: the people of the gallery stay."""
        return bool(
            (self.probing != self.claimed).any() and not np.isin(self.probing, self.claimed).any()
        )

    def judged(self, confidence: float) -> Judged | None:
        """Return the limits of the rate; None of fewer people than `FEWEST`.

        A person leaves both sides, where the same people try and are claimed.
        """
        apart = self.probing != self.claimed
        one_side = not apart.any() or self.fixed_gallery
        sides = [self.probing] if one_side else [self.probing, self.claimed]
        person, place = np.unique(np.concatenate(sides), return_inverse=True)
        if len(person) < FEWEST:
            return None
        place, times = place.reshape(-1), len(sides)
        sums = np.bincount(place, np.tile(self.claims * self.value, times))
        numbers = np.bincount(place, np.tile(self.claims, times))
        independent, units = len(person), self.attempts
        if not one_side:
            independent = disjoint_among(self.probing, self.claimed, self.people)
            units = distinct_pairs(self.probing, self.claimed, self.people).shape[1]
        columns = ratio(
            without_each(sums, np.array(self.claims @ self.value)),
            without_each(numbers, np.array(float(self.attempts))),
        )
        columns = np.clip(np.where(np.isnan(columns), self.mean, columns), 0.0, 1.0)
        limits = RateCurve.from_columns(
            columns[None], units, independent, confidence, times, raised=True, one_sided=True
        )
        return Judged(limits, confidence, len(person), 0 if one_side else units)
