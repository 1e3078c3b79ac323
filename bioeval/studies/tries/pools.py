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
    - `tries`, `rejected` (int64): number of tries, and number of rejected tries
    - `claims` (int64): number of claims, each of a visit
    """

    probing: np.ndarray
    claimed: np.ndarray
    tries: np.ndarray
    rejected: np.ndarray
    claims: np.ndarray
    people: int

    @classmethod
    def from_scores(cls, scores: Scores, threshold: float) -> Pools:
        """Count the tries of claims at a threshold, a distance.

        Tries of no known person are left out: they may be of several people.
        """
        tries, visit = tries_of(scores)
        codes = tries.codes
        probes, claims_of_probe = tries.shape
        person_of_visit = np.zeros(int(visit.max(initial=-1)) + 1, dtype=np.int64)
        person_of_visit[visit] = codes.probe
        probing, place = np.unique(codes.probe, return_inverse=True)
        place = place.reshape(-1)
        bytes_needed = claims_of_probe * (16 * len(probing) + len(person_of_visit))
        require_memory(
            bytes_needed,
            f"the tries of {probes:,} probes at {claims_of_probe:,} claims",
            "select fewer probes",
        )
        made_tries, rejected = np.zeros((2, len(probing), claims_of_probe), dtype=np.int64)
        is_claimed = np.zeros((len(person_of_visit), claims_of_probe), dtype=bool)
        limit = float(among_distances(tries, threshold))
        columns = tries.gallery_order.columns[0]
        with threads_for(tries):
            for block in blocks_of(tries):
                rows = np.arange(probes)[block.probes]
                is_try = np.empty(block.values.shape, dtype=bool)
                is_try[:, columns] = ~np.isnan(block.values)
                accepted = np.empty_like(is_try)
                accepted[:, columns] = is_accepted(block.values, limit)
                np.add.at(made_tries, place[rows], is_try)
                np.add.at(rejected, place[rows], is_try & ~accepted)
                np.logical_or.at(is_claimed, visit[rows], is_try)
        claims = np.zeros_like(made_tries)
        np.add.at(claims, np.searchsorted(probing, person_of_visit), is_claimed)
        made_tries[codes.no_person[probing]] = 0
        row, column = np.nonzero(made_tries)
        return cls(
            probing[row],
            codes.gallery[column],
            made_tries[row, column],
            rejected[row, column],
            claims[row, column],
            len(codes.values),
        )

    @property
    def is_genuine(self) -> np.ndarray:
        """Whether a person claims to be themselves, (pairs,)."""
        return self.probing == self.claimed

    def all_rejected(self, k: int) -> np.ndarray:
        """Return the probability that k tries, drawn from a pair, are all rejected, (pairs,).

        The share of such choices of k tries, ``C(rejected, k) / C(tries, k)``; NaN of a pair with
        fewer tries.
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
        """Whether there are impostors, and no person who tries is a claimed subject."""
        return bool(
            (self.probing != self.claimed).any() and not np.isin(self.probing, self.claimed).any()
        )

    def judged(self, confidence: float) -> Judged | None:
        """Return the limits of the rate; None with fewer people than `FEWEST`.

        Where the same people try and are claimed, a person is left out on both sides.
        """
        is_impostor = self.probing != self.claimed
        one_side = not is_impostor.any() or self.fixed_gallery
        sides = [self.probing] if one_side else [self.probing, self.claimed]
        person, place = np.unique(np.concatenate(sides), return_inverse=True)
        if len(person) < FEWEST:
            return None
        place, times = place.reshape(-1), len(sides)
        sums = np.bincount(place, np.tile(self.claims * self.value, times))
        claims_of_person = np.bincount(place, np.tile(self.claims, times))
        independent, units = len(person), self.attempts
        if not one_side:
            independent = disjoint_among(self.probing, self.claimed, self.people)
            units = distinct_pairs(self.probing, self.claimed, self.people).shape[1]
        columns = ratio(
            without_each(sums, np.array(self.claims @ self.value)),
            without_each(claims_of_person, np.array(float(self.attempts))),
        )
        columns = np.clip(np.where(np.isnan(columns), self.mean, columns), 0.0, 1.0)
        limits = RateCurve.from_columns(
            columns[None], units, independent, confidence, times, raised=True, one_sided=True
        )
        return Judged(limits, confidence, len(person), 0 if one_side else units)
