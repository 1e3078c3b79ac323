"""The tries of each person at each claim, pooled over visits, and the rates of k tries."""

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
from bioeval.stats.weighted_sums import ratio
from bioeval.stats.weights import without_each
from bioeval.studies.assurance.limits import Judged

#: Limits need at least this number of people.
FEWEST = 3


@dataclass(frozen=True, eq=False)
class Pools:
    """The tries of each person at claims of each subject (or template), over all visits.

    Each array is int64 (pairs,): a pair is a person and a claimed subject with a try.
    """

    probing: np.ndarray  # code of the person
    claimed: np.ndarray  # code of the claimed subject
    tries: np.ndarray  # number of tries
    rejected: np.ndarray  # number of rejected tries
    claims: np.ndarray  # number of claims: a visit makes one claim
    people: int  # number of codes

    @classmethod
    def from_scores(cls, scores: Scores, threshold: float) -> Pools:
        """Count the tries of claims at a threshold, which is a distance.

        Tries of no known person are left out: they may be of several people.
        """
        tries, visit = tries_of(scores)
        codes = tries.codes
        probes, claims_of_probe = tries.shape
        person_of_visit = np.zeros(int(visit.max(initial=-1)) + 1, dtype=np.int64)
        person_of_visit[visit] = codes.probe
        probing, person_of_probe = np.unique(codes.probe, return_inverse=True)
        bytes_needed = claims_of_probe * (16 * len(probing) + len(person_of_visit))
        require_memory(
            bytes_needed,
            f"the tries of {probes:,} probes at {claims_of_probe:,} claims",
            "select fewer probes",
        )
        limit = float(among_distances(tries, threshold))
        number_of_tries, rejected, visit_has_try = _count_tries(
            tries, person_of_probe.reshape(-1), visit, limit
        )
        claims = np.zeros_like(number_of_tries)
        np.add.at(claims, np.searchsorted(probing, person_of_visit), visit_has_try)
        number_of_tries[codes.no_person[probing]] = 0
        row, column = np.nonzero(number_of_tries)
        return cls(
            probing[row],
            codes.gallery[column],
            number_of_tries[row, column],
            rejected[row, column],
            claims[row, column],
            len(codes.values),
        )

    @property
    def is_genuine(self) -> np.ndarray:
        """Whether a person claims to be themselves, (pairs,)."""
        return self.probing == self.claimed

    def all_rejected(self, k: int) -> np.ndarray:
        """Return the probability that k tries, drawn from a pair's, are all rejected, (pairs,).

        It is ``C(rejected, k) / C(tries, k)``; NaN if a pair has fewer than k tries.
        """
        drawn = np.arange(min(k, self.tries.max(initial=0)))
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.maximum(self.rejected[:, None] - drawn, 0) / (self.tries[:, None] - drawn)
            return np.where(self.tries >= k, factors.prod(axis=1), np.nan)

    def rate(self, name: str, k: int) -> Rate:
        """Return the FAR or the FRR of k tries, by its name."""
        is_in_class = self.is_genuine if name == "frr" else ~self.is_genuine
        is_counted = is_in_class & (self.tries >= k)
        rejected = self.all_rejected(k)[is_counted]
        return Rate(
            self.probing[is_counted],
            self.claimed[is_counted],
            self.claims[is_counted],
            rejected if name == "frr" else 1 - rejected,
            self.people,
            left_out=int(np.count_nonzero(is_in_class & ~is_counted)),
        )


def _count_tries(
    tries: Scores, person: np.ndarray, visit: np.ndarray, threshold: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the numbers of tries and of rejected tries, and whether a visit has a try at a claim.

    Their shapes are (people, claims) and (visits, claims). `person` and `visit` have the row of
    each probe in them, (probes,).
    """
    probes, claims = tries.shape
    people = int(person.max(initial=-1)) + 1
    visits = int(visit.max(initial=-1)) + 1
    number_of_tries = np.zeros((people, claims), dtype=np.int64)
    rejected = np.zeros((people, claims), dtype=np.int64)
    visit_has_try = np.zeros((visits, claims), dtype=bool)
    columns = tries.gallery_order.columns[0]
    with threads_for(tries):
        for block in blocks_of(tries):
            rows = np.arange(probes)[block.probes]
            is_try = np.empty(block.values.shape, dtype=bool)
            is_try[:, columns] = ~np.isnan(block.values)
            accepted = np.empty_like(is_try)
            accepted[:, columns] = is_accepted(block.values, threshold)
            np.add.at(number_of_tries, person[rows], is_try)
            np.add.at(rejected, person[rows], is_try & ~accepted)
            np.logical_or.at(visit_has_try, visit[rows], is_try)
    return number_of_tries, rejected, visit_has_try


@dataclass(frozen=True, eq=False)
class Rate:
    """A rate of k tries: the mean over claims of the value of their pair; arrays are (pairs,)."""

    probing: np.ndarray  # code of the person
    claimed: np.ndarray  # code of the claimed subject
    claims: np.ndarray  # number of claims
    value: np.ndarray  # probability of an error in k tries
    people: int  # number of codes
    left_out: int  # number of pairs with fewer than k tries

    @property
    def attempts(self) -> int:
        """The number of claims."""
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

        A person is left out of both sides: wherever they try, and wherever they are claimed. Only
        people who try are left out if nobody does both, or if all claims are genuine.
        """
        is_one_side = not (self.probing != self.claimed).any() or self.fixed_gallery
        sides = [self.probing] if is_one_side else [self.probing, self.claimed]
        people, person = np.unique(np.concatenate(sides), return_inverse=True)
        if len(people) < FEWEST:
            return None
        independent, units = len(people), self.attempts
        if not is_one_side:
            independent = disjoint_among(self.probing, self.claimed, self.people)
            units = distinct_pairs(self.probing, self.claimed, self.people).shape[1]
        columns = self._without_each(person.reshape(-1), len(sides))
        limits = RateCurve.from_columns(
            columns[None], units, independent, confidence, len(sides), raised=True, one_sided=True
        )
        return Judged(limits, confidence, len(people), 0 if is_one_side else units)

    def _without_each(self, person: np.ndarray, sides: int) -> np.ndarray:
        """Return the rate, and the rate without each person, (1 + people,).

        `person` is the index of the person of each pair, side after side, (sides * pairs,): all
        claims of a pair leave with the person of either side.
        """
        sums = np.bincount(person, np.tile(self.claims * self.value, sides))
        claims = np.bincount(person, np.tile(self.claims, sides))
        rates = ratio(
            without_each(sums, np.array(self.claims @ self.value)),
            without_each(claims, np.array(float(self.attempts))),
        )
        # Without a person who is in every pair no claim is left, and the rate is as with them.
        return np.clip(np.where(np.isnan(rates), self.mean, rates), 0.0, 1.0)
