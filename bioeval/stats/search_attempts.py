"""Attempts of the people who search, and the attempts that are missing without each person.

If each person is both probe and gallery, every person is left out in turn, on both sides. The rates
of the other people, in a gallery of one person less, follow from one pass over the scores. If the
gallery has other templates, only the people who search are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from bioeval.counting.searches import Searches
from bioeval.counting.searches_without import LeftOut
from bioeval.counting.ties import place_weights
from bioeval.protocol.fields import ImpostorProbes, Ties
from bioeval.stats.jackknife import Sample
from bioeval.stats.weighted_sums import (
    by_subject,
    groups_of_people,
    kish,
    linear_forms,
    rates_without_each,
    ratio,
)

#: The fewest people: without one of them, the others must be a gallery.
FEWEST = 3


class Hits(NamedTuple):
    """Hits of mated searches, or impostor attempts of non-mated ones; all arrays are (hits,)."""

    person: np.ndarray  # index of the person who searches
    distance: np.ndarray  # NaN: no threshold accepts the hit
    rank: np.ndarray
    weight: np.ndarray  # a fraction of a hit under expected ties; negative for a gained hit

    def select(self, is_kept: np.ndarray) -> Hits:
        return Hits(*(x[is_kept] for x in self))

    def joined(self, other: Hits) -> Hits:
        return Hits(*map(np.append, self, other))

    def up_to_rank(self, rank: int) -> Hits:
        return self.select(self.rank <= rank)

    def between_points(
        self, along: Literal["distance", "rank"], grid: np.ndarray, people: int
    ) -> np.ndarray:
        """Return the hits of each person between points of an increasing grid, (points, people)."""
        return by_subject(getattr(self, along), self.person, grid, people, self.weight)[:-1]


class RatesByRow(NamedTuple):
    """Rates along a grid, in which points with equal numbers of hits share a row."""

    rates: np.ndarray  # (rows, columns)
    row_at_point: np.ndarray  # (points,)


class AttemptsOfPeople(NamedTuple):
    """Attempts of one class by the people who search, and the attempts missing without each person.

    The smallest effective number, `fewest_units`, counts disjoint pairs in searches of new people:
    a search involves two people, the person who searches and the nearest other person, and a mean
    over pairs of people can be divided into means over disjoint pairs (Hoeffding 1963, Journal of
    the American Statistical Association 58, section 5).
    """

    hits: Hits
    attempts_of_each: np.ndarray  # int64 (people who search,)
    losses: Hits  # hits lost by leaving each person out; gained hits have negative weights
    attempts_lost: np.ndarray  # int64 (people left out,): attempts missing without each
    units: float  # independent people, or pairs of people (Kish's effective number)
    sides: int  # number of people whose leaving removes an attempt
    fewest_units: float

    @property
    def sample(self) -> Sample:
        """The attempts, and how many independent trials they are worth."""
        attempts = float(self.attempts_of_each.sum())
        shares = self.attempts_lost / max(attempts, 1.0)
        return Sample(attempts, self.units, self.sides, shares, self.fewest_units)

    def up_to_rank(self, rank: int) -> AttemptsOfPeople:
        """Return the same attempts, of which only hits at `rank` or better are hits."""
        return self._replace(hits=self.hits.up_to_rank(rank), losses=self.losses.up_to_rank(rank))

    def columns(
        self, along: Literal["distance", "rank"], grid: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        """Return the rate of hits up to each point, at weights of people or without each person.

        The rates are (points, columns of weights); without weights, (points, 1 + people).
        """
        if weights is not None:
            hits = self.hits.between_points(along, grid, len(self.attempts_of_each))
            attempts = linear_forms(self.attempts_of_each[None], weights)
            rates = ratio(np.cumsum(linear_forms(hits, weights), axis=0), attempts)
        else:
            everyone = self.hits._replace(person=np.zeros_like(self.hits.person))
            hits = everyone.between_points(along, grid, 1)[:, 0]
            lost = self.losses.between_points(along, grid, len(self.attempts_lost))
            totals = np.cumsum(hits), self.attempts_of_each.sum()
            rates = rates_without_each(np.cumsum(lost, axis=0), self.attempts_lost, *totals)
        # Fractional weights of expected ties may exceed 1 by rounding.
        return np.minimum(rates, 1.0)

    def by_row(self, grid: np.ndarray, weights: np.ndarray) -> RatesByRow:
        """Return the rates of hits at weights of people; the grid has the distances of all hits."""
        order = np.argsort(self.hits.distance)
        order = order[: np.count_nonzero(~np.isnan(self.hits.distance))]
        hits = self.hits.select(order)
        attempts = linear_forms(self.attempts_of_each[None], weights)
        is_whole = bool((hits.weight == 1).all())
        is_exact = is_whole and attempts.max(initial=0) < 1 << 24  # float32 counts exactly
        # (1 + hits, columns): hits up to each distance, none in the first row.
        sums = np.zeros((1 + len(order), weights.shape[1]), np.float32 if is_exact else np.float64)
        sums[1:] = weights[hits.person]
        if not is_exact:
            sums[1:] *= hits.weight[:, None]
        np.cumsum(sums, axis=0, out=sums)
        hits_up_to_point = hits.distance.searchsorted(grid, side="right")
        distinct_numbers, row_at_point = np.unique(hits_up_to_point, return_inverse=True)
        if len(distinct_numbers) < len(sums):
            sums = sums[distinct_numbers]
        rates = ratio(sums, attempts)
        return RatesByRow(rates if is_exact else np.minimum(rates, 1.0), row_at_point)


class SearchesOfClass(NamedTuple):
    """The mated or the non-mated searches, with their hits or impostor attempts."""

    probe: np.ndarray  # int64 (searches,): index of the probe
    hits: Hits

    @classmethod
    def mated(cls, searches: Searches, ties: Ties, person: np.ndarray) -> SearchesOfClass:
        """Return the searches of probes with mates; `person` (probes,) is the person of each."""
        mated = np.flatnonzero(searches.mates > 0)
        probe, rank, weight = searches.rank_weights(mated, ties)
        return cls(mated, Hits(person[probe], searches.mate[probe], rank, weight))

    @classmethod
    def non_mated(
        cls, searches: Searches, impostors: ImpostorProbes, person: np.ndarray
    ) -> SearchesOfClass:
        """Return the searches of impostors; `person` (probes,) is the person of each probe."""
        probe = searches.impostor_probes(searches.impostor_role(impostors))
        unit = np.ones(len(probe))
        return cls(probe, Hits(person[probe], searches.other[probe], unit, unit))


@dataclass(frozen=True, eq=False)
class SearchingPeople:
    """The people who search, and the groups in which they are left out.

    - `person` (int64 (probes,)): the index of each probe's person
    - `no_person` (bool (people,)): whether the index is no person, who is never left out
    - `both_sides`: whether a person is left out of the gallery, too
    """

    person: np.ndarray
    no_person: np.ndarray
    both_sides: bool

    @property
    def number(self) -> int:
        """The number of people who can be left out."""
        return int((~self.no_person).sum())

    @cached_property
    def _groups(self) -> tuple[np.ndarray, int]:
        """The group with which each index is left out, (people,), and the number of groups.

        On both sides, each person is a group. Otherwise an index that is no person has the number
        after the last group.
        """
        if self.both_sides:
            return np.arange(len(self.no_person)), len(self.no_person)
        return groups_of_people(self.no_person)

    def attempts(
        self,
        searches: SearchesOfClass,
        losses_of_others: Hits | None = None,
        impossible_without: np.ndarray | None = None,
    ) -> AttemptsOfPeople:
        """Return the attempts of searches, and the attempts missing without each person.

        Leaving out a person removes the person's own attempts. On both sides, attempts of other
        people change as well:

        - `losses_of_others`: the hits that other people lose by leaving a person out, by the person
          left out; gained hits have negative weights
        - `impossible_without`, if an attempt takes a second person: this person, for each attempt
          that nobody else could take part in
        """
        group, groups = self._groups
        losses = searches.hits._replace(person=group[searches.hits.person])
        if losses_of_others is not None:
            losses = losses.joined(losses_of_others)
        searching = self.person[searches.probe]
        group_of_lost_attempt = group[searching]
        sides = 1
        if impossible_without is not None:
            group_of_lost_attempt = np.append(group_of_lost_attempt, impossible_without)
            sides = 2
        attempts_of_each = np.bincount(searching, minlength=len(self.no_person))
        independent = 0.0
        if self.number >= (FEWEST if self.both_sides else 2):
            independent = kish(attempts_of_each[~self.no_person])
        return AttemptsOfPeople(
            searches.hits,
            attempts_of_each,
            losses=losses.select(losses.person < groups),
            attempts_lost=np.bincount(group_of_lost_attempt, minlength=groups + 1)[:groups],
            units=independent / sides,
            sides=sides,
            fewest_units=independent / 2 if self.both_sides else independent,
        )


def impostor_attempts_of_new_people(
    people: SearchingPeople, searches: SearchesOfClass, left_out: LeftOut
) -> AttemptsOfPeople:
    """Return the impostor attempts, of which each moves if the nearest person leaves the gallery.

    Where a probe is at 0.1 from subject 7 and at 0.4 from subject 3, its false accept at 0.1 is
    lost without subject 7 and gained at 0.4. With subject 7 alone in the gallery, there is no
    attempt without subject 7.
    """
    nearest = left_out.nearest[searches.probe]
    second_distance = left_out.second[searches.probe]  # NaN: no other subject
    # Without the unit of the person who searches, there is no search.
    is_other = nearest != left_out.unit_of_probe[searches.probe]
    is_only = is_other & np.isnan(second_distance)
    has_second = is_other & ~is_only
    lost = searches.hits._replace(person=nearest).select(is_other)
    unit = np.ones(int(has_second.sum()))
    gained = Hits(nearest[has_second], second_distance[has_second], unit, -unit)
    return people.attempts(searches, lost.joined(gained), nearest[is_only])


def rank_changes(searches: Searches, left_out: LeftOut, ties: Ties) -> Hits:
    """Return the hits whose rank changes if another subject is left out, by this subject's index.

    A hit is lost at its rank among all subjects, and gained at its better rank without the subject,
    with negative weight.
    """
    # Candidates beside the best mate for each pair of a probe and a subject: with the subject in
    # the gallery, and the candidates that are the subject's.
    probe = left_out.probe
    candidates = [x[probe] for x in (searches.closer, searches.tied, searches.tied_before)]
    of_subject = (left_out.closer, left_out.tied, left_out.before)
    without_subject = [x - y for x, y in zip(candidates, of_subject, strict=True)]
    changes = []
    for sign, (closer, tied, before) in ((1.0, candidates), (-1.0, without_subject)):
        pair, rank, weight = place_weights(closer, tied, before, searches.mates_tied[probe], ties)
        mate = searches.mate[probe[pair]]
        hits = Hits(left_out.unit[pair], mate, rank, sign * weight)
        changes.append(hits.select(~np.isnan(mate)))  # a mate that failed has no rank
    lost, gained = changes
    return lost.joined(gained)
