"""Hits of identification by person, and the attempts that are missing without each person.

A mated search has a hit at the distance and the rank of its mate, and a search without a mate is an
impostor attempt, with a hit at the nearest distance. Of each class, :class:`AttemptsOfPeople` has
the hits of all people and, for each person, those that are lost if the person is left out. In an
example, A, B and C search a gallery of all three::

    search   hit at    lost without A             without B   without C
    of A     rank 1    rank 1
    of B     rank 1                               rank 1
    of C     rank 2    rank 2 (rank 1 is gained)              rank 2

The search of C has a template of A before its mate. Without A, its hit at rank 2 is lost, and a hit
at rank 1 is gained. A gained hit is a lost one with the weight -1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from bioeval.counting.searches import Searches
from bioeval.counting.searches_without import LeftOut
from bioeval.counting.ties import place_weights
from bioeval.protocol.tasks import Ties
from bioeval.stats.rate_limits import Sample
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

#: The axis of a curve of hits.
Axis = Literal["distance", "rank"]


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

    def between_points(self, along: Axis, grid: np.ndarray, people: int) -> np.ndarray:
        """Return the hits of each person between points of an increasing grid, (points, people)."""
        return by_subject(getattr(self, along), self.person, grid, people, self.weight)[:-1]


@dataclass(frozen=True, eq=False)
class PeopleLeftOut:
    """Who is left out in which column; a person is a unit, several people, in :class:`LeftOut`.

    If more than a thousand people are left out as probes, some share a column.
    """

    of_probe: np.ndarray  # integer (probes,): the number of each probe's person
    is_person: np.ndarray  # bool (people,): False for templates of no person, which always stay
    column: np.ndarray  # integer (people,): where each is left out; `columns` for who always stays
    columns: int
    in_gallery: bool  # whether people leave the gallery, too

    @classmethod
    def as_new_people(cls, left_out: LeftOut) -> PeopleLeftOut:
        """Leave out each unit as a probe and in the gallery."""
        units = left_out.units
        everyone = np.ones(units, dtype=bool)
        return cls(left_out.unit_of_probe, everyone, np.arange(units), units, in_gallery=True)

    @classmethod
    def as_probes(cls, subjects: np.ndarray) -> PeopleLeftOut:
        """Leave out people as probes alone; `subjects` (probes,) are negative for no person."""
        codes, of_probe = np.unique(subjects, return_inverse=True)
        column, columns = groups_of_people(codes < 0)
        return cls(of_probe.reshape(-1), codes >= 0, column, columns, in_gallery=False)

    def attempts(
        self,
        probes: np.ndarray,
        hits: Hits,
        losses_of_others: Hits | None = None,
        impossible_without: np.ndarray | None = None,
    ) -> AttemptsOfPeople:
        """Return the attempts of probes, and the attempts missing without each person.

        Leaving out a person removes the person's own attempts. If people leave the gallery,
        attempts of other people change as well:

        - `losses_of_others`: the hits that other people lose by leaving a person out, by the person
          left out; gained hits have negative weights
        - `impossible_without`, if an attempt takes a second person: this person, for each attempt
          that nobody else could take part in
        """
        losses = hits._replace(person=self.column[hits.person])
        if losses_of_others is not None:
            losses = losses.joined(losses_of_others)
        person = self.of_probe[probes]
        column_of_lost_attempt = self.column[person]
        sides = 1
        if impossible_without is not None:
            column_of_lost_attempt = np.append(column_of_lost_attempt, impossible_without)
            sides = 2
        attempts_of_each = np.bincount(person, minlength=len(self.is_person))
        attempts_lost = np.bincount(column_of_lost_attempt, minlength=self.columns + 1)
        attempts_lost = attempts_lost[: self.columns]
        # Too few people have no interval; without one of them, the others must be a gallery.
        independent = 0.0
        if self.is_person.sum() >= (FEWEST if self.in_gallery else 2):
            independent = kish(attempts_of_each[self.is_person])
        # In searches of new people, the fewest trials are disjoint pairs: a search involves two
        # people, the person who searches and the nearest other person, and a mean over pairs of
        # people can be divided into means over disjoint pairs (Hoeffding 1963, Journal of the
        # American Statistical Association 58, section 5).
        least = independent / 2 if self.in_gallery else independent
        attempts = float(attempts_of_each.sum())
        shares = attempts_lost / max(attempts, 1.0)
        units = independent / sides
        sample = Sample(attempts, units, sides, shares, least=least, most=units)
        losses = losses.select(losses.person < self.columns)
        return AttemptsOfPeople(hits, attempts_of_each, losses, attempts_lost, sample)


class AttemptsOfPeople(NamedTuple):
    """Attempts of one class by the people who search, and the attempts missing without each."""

    hits: Hits
    attempts_of_each: np.ndarray  # int64 (people who search,)
    losses: Hits  # hits lost by leaving each person out; gained hits have negative weights
    attempts_lost: np.ndarray  # int64 (people left out,): attempts missing without each
    sample: Sample  # how many independent trials the attempts are worth

    def up_to_rank(self, rank: int) -> AttemptsOfPeople:
        """Return the same attempts, of which only hits at `rank` or better are hits."""
        return self._replace(hits=self.hits.up_to_rank(rank), losses=self.losses.up_to_rank(rank))

    def rates_without_each(self, along: Axis, grid: np.ndarray) -> np.ndarray:
        """Return the rate of hits up to each point, and without each person, (points, 1 + people).

        People who have to be left out in groups have a column for each group.
        """
        everyone = self.hits._replace(person=np.zeros_like(self.hits.person))
        hits = everyone.between_points(along, grid, 1)[:, 0]
        lost = self.losses.between_points(along, grid, len(self.attempts_lost))
        totals = np.cumsum(hits), self.attempts_of_each.sum()
        rates = rates_without_each(np.cumsum(lost, axis=0), self.attempts_lost, *totals)
        # Fractional weights of expected ties may exceed 1 by rounding.
        return np.minimum(rates, 1.0)

    def drawn_rates(self, along: Axis, grid: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the rate of hits up to each point with people drawn again, (points, draws).

        `weights` (people, draws) say how often people are drawn.
        """
        hits = self.hits.between_points(along, grid, len(self.attempts_of_each))
        attempts = linear_forms(self.attempts_of_each[None], weights)
        rates = ratio(np.cumsum(linear_forms(hits, weights), axis=0), attempts)
        return np.minimum(rates, 1.0)

    def drawn_rates_by_row(
        self, grid: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the same rates along the distance, (rows, draws), and the row of each point.

        Points with equal numbers of hits share a row. The grid has the distances of all hits;
        before its first point is one that rejects all, and behind the last one that accepts all.
        """
        order = np.argsort(self.hits.distance)
        order = order[: np.count_nonzero(~np.isnan(self.hits.distance))]
        hits = self.hits.select(order)
        attempts = linear_forms(self.attempts_of_each[None], weights)
        is_whole = bool((hits.weight == 1).all())
        is_exact = is_whole and attempts.max(initial=0) < 1 << 24  # float32 counts exactly
        # (hits + 2, columns): no hit, hits up to each distance, and in the last row all attempts.
        sums = np.zeros((len(order) + 2, weights.shape[1]), np.float32 if is_exact else np.float64)
        sums[1:-1] = weights[hits.person]
        if not is_exact:
            sums[1:-1] *= hits.weight[:, None]
        np.cumsum(sums[:-1], axis=0, out=sums[:-1])
        sums[-1] = attempts
        hits_up_to_point = hits.distance.searchsorted(grid, side="right")
        number_of_hits = np.concatenate([[0], hits_up_to_point, [len(sums) - 1]])
        distinct_numbers, row_at_point = np.unique(number_of_hits, return_inverse=True)
        if len(distinct_numbers) < len(sums):
            sums = sums[distinct_numbers]
        rates = ratio(sums, attempts)
        return rates if is_exact else np.minimum(rates, 1.0), row_at_point


def accept_changes(accepts: Hits, probes: np.ndarray, left_out: LeftOut) -> tuple[Hits, np.ndarray]:
    """Return the impostor attempts that change if the nearest person leaves the gallery.

    Where a probe is at 0.1 from subject 7 and at 0.4 from subject 3, its false accept at 0.1 is
    lost without subject 7 and gained at 0.4, with negative weight. With subject 7 alone in the
    gallery, there is no attempt without subject 7: such subjects are returned, too.
    """
    nearest = left_out.nearest[probes]
    second_distance = left_out.second[probes]  # NaN: no other subject
    # Without the unit of the person who searches, there is no search.
    is_other = nearest != left_out.unit_of_probe[probes]
    is_only = is_other & np.isnan(second_distance)
    has_second = is_other & ~is_only
    lost = accepts._replace(person=nearest).select(is_other)
    unit = np.ones(int(has_second.sum()))
    gained = Hits(nearest[has_second], second_distance[has_second], unit, -unit)
    return lost.joined(gained), nearest[is_only]


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
