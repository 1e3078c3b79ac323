"""Confidence intervals of all-against-all identification for new people.

Each person is probe and gallery at once. Each is left out in turn, on both sides, and the rate of
the others, in a gallery of one person less, is known from one pass over the scores. How far these
rates are from their mean is how uncertain the rate is by who was drawn: the jackknife, with an
interval on the logit scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
import xarray as xr

from bioeval.results.open_set import impostor_probes, impostor_role
from bioeval.stats.bands import SimultaneousBand, with_enough
from bioeval.stats.binomial import zero_error_bound
from bioeval.stats.bootstrap import logit_limits, open_limits, sample_of
from bioeval.stats.interval_variables import Limits
from bioeval.stats.options import IntervalOptions
from bioeval.stats.resampling import weight_columns
from bioeval.stats.subject_means import ROOM
from bioeval.tallies.counts import IdentificationTally
from bioeval.tallies.identification_job import place_weights, rank_weights
from bioeval.tallies.left_out import LeftOut
from bioeval.tallies.points import allowed_errors

#: With fewer people, those who are left are no gallery.
FEWEST = 3

# Rounding, as a proportion of what a spread is summed up from.
_ROUNDING = 1e-12

# Halvings of the range in which an end of the interval of the EER is.
_HALVINGS = 40


@dataclass(frozen=True)
class Hits:
    """Hits, or attempts, with their person, distance, rank and weight."""

    person: np.ndarray
    distance: np.ndarray
    rank: np.ndarray
    weight: np.ndarray

    @classmethod
    def joined(cls, *parts: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]) -> Hits:
        """Concatenate hits."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def by(self, index: np.ndarray) -> Hits:
        """Return some hits, or all hits in another order."""
        return Hits(self.person[index], self.distance[index], self.rank[index], self.weight[index])

    def up_to(self, rank: int) -> Hits:
        """Return the hits at `rank` or better, by person and distance."""
        found = self.within(rank)
        return found.by(np.lexsort((found.distance, found.person)))

    def within(self, rank: int) -> Hits:
        """Return the hits at `rank` or better, in their order."""
        return self.by(np.flatnonzero(self.rank <= rank))


@dataclass(frozen=True)
class _Rate:
    """A proportion of attempts: overall, and without each person.

    Attributes
    ----------
    hits, losses : Hits
        What is counted, and how much less that is without each person.
    attempts : int
    without : int64 array, shape (people,)
        Attempts without each person.
    trials : int
        Independent trials, which bound a rate of exactly 0 or 1.
    """

    hits: Hits
    losses: Hits
    attempts: int
    without: np.ndarray
    trials: int
    options: IntervalOptions

    def in_band(
        self, hits: np.ndarray, losses: np.ndarray, count: int, pointwise: Limits
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the limits of a simultaneous band, and which places are in it; else as `at`.

        What a person changes is that person's part of the jackknife's standard error. Weighted by
        one less than how often the person is drawn, these parts add up to the deviation of a
        replicate, and the quantile is widened as Student's is beyond the normal one.
        """
        people, options = len(self.without), self.options
        level = 0.5 + options.confidence / 2
        factor = float(scipy.special.stdtrit(people - 1, level) / scipy.special.ndtri(level))
        band = SimultaneousBand(self.attempts, options, factor)
        draws = weight_columns(people, options)[:, 1 : 1 + options.replicates].astype(np.float64)
        draws = (draws - 1) * np.sqrt(people / (people - 1))
        place = np.minimum(losses, count)
        order = np.argsort(place, kind="stable")
        found = np.minimum(_summed(hits, self.hits.weight, count) / max(self.attempts, 1), 1.0)
        lost, step = np.zeros(people), max(1, ROOM // max(people, options.replicates))
        for first in range(0, count, step):
            last = min(first + step, count)
            ends = np.searchsorted(place[order], (first, last))
            part = order[slice(*ends)]
            layers = np.zeros((last - first, people))
            at = place[part] - first, self.losses.person[part]
            np.add.at(layers, at, self.losses.weight[part])
            layers = lost + np.cumsum(layers, axis=0)
            lost = layers[-1]
            rate = found[first:last]
            without = (rate[:, None] * self.attempts - layers) / self.without
            change = (people - 1) / people * (without.mean(axis=1)[:, None] - without)
            inside = with_enough(rate, self.attempts)
            slope = np.ones(len(rate))
            deviate = scipy.special.ndtri(rate[inside])
            slope[inside] = np.exp(-(deviate**2) / 2) / np.sqrt(2 * np.pi)  # the normal density
            change = change / slope[:, None]
            spread = np.sqrt((change**2).sum(axis=1) * people / (people - 1))
            spread[spread < _ROUNDING] = 0.0
            band.add_deviations(rate, spread, change[inside] @ draws)
        low, high = band.limits(pointwise)
        return low, high, band.inside

    def up_to(self, rank: int) -> _Rate:
        """Return the rate of hits at `rank` or better."""
        parts = self.hits.up_to(rank), self.losses.up_to(rank)
        return _Rate(*parts, self.attempts, self.without, self.trials, self.options)

    def at(self, hits: np.ndarray, losses: np.ndarray, count: int) -> tuple[np.ndarray, Limits]:
        """Return the cumulative rate at some places, with its limits.

        Given are the place of each hit and of each loss, the latter increasing for each person;
        those from `count` on are left out.
        """
        found = _summed(hits, self.hits.weight, count)
        people = len(self.without)
        if people < FEWEST or not (self.without > 0).all():
            undefined = np.full(count, np.nan)
            rate = found / self.attempts if self.attempts else undefined
            return np.minimum(rate, 1.0), (undefined, undefined)
        rate = np.minimum(found / self.attempts, 1.0)
        level = 0.5 + self.options.confidence / 2
        half = scipy.special.stdtrit(people - 1, level) * self._errors(found, losses)
        low, high = logit_limits(rate, half)
        # The same rate without each person is no certainty: some others may still differ.
        bound = zero_error_bound(self.trials, self.options.confidence)
        low = np.where(half > 0, low, np.maximum(rate - bound, 0.0))
        high = np.where(half > 0, high, np.minimum(rate + bound, 1.0))
        return rate, open_limits(rate, low, high, self.trials, self.options.confidence)

    def _errors(self, found: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Return the standard error at each place.

        The rate without person ``s`` is ``(found - lost[s]) * share[s]``. What is summed over the
        people are products of ``share - mean(share)`` and ``lost * share``, which change only where
        somebody has a loss.
        """
        person, weight, count = self.losses.person, self.losses.weight, len(found)
        people, share = len(self.without), 1 / self.without
        uneven = share - share.mean()
        taken = np.cumsum(weight)
        first = np.searchsorted(person, person)  # the first loss of the same person
        taken -= np.append(0.0, taken)[first]
        before = taken - weight
        of = share[person]
        lost = _summed(place, weight * of, count)
        both = _summed(place, weight * of * uneven[person], count)
        steps = (taken**2 - before**2) * of**2
        squares, sizes = (_summed(place, x, count) for x in (steps, np.abs(steps)))
        constant = found**2 * (uneven**2).sum()
        spread = constant - 2 * found * both + squares - lost**2 / people
        spread = np.where(spread > _ROUNDING * (constant + sizes), spread, 0.0)
        return np.sqrt(spread * (people - 1) / people)


def _summed(place: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Return the sums of the values up to each place."""
    inside = place < count
    return np.cumsum(np.bincount(place[inside], values[inside], minlength=count)[:count])


class NewPeople:
    """The attempts of all-against-all identification, overall and without each person."""

    def __init__(
        self,
        tally: IdentificationTally,
        left_out: LeftOut,
        ties: str,
        options: IntervalOptions,
        impostors: str = "auto",
    ):
        self.people, self.most = left_out.people, left_out.ranks
        mated = np.flatnonzero(tally.mates > 0)
        probes, ranks, weights = rank_weights(tally, mated, ties)
        own = left_out.person[probes], tally.mate[probes], ranks, weights
        by_person = np.bincount(left_out.person[mated], minlength=self.people)
        self.genuine = _Rate(
            Hits(*own), Hits.joined(own, *_moved(tally, left_out, ties)), len(mated),
            len(mated) - by_person, sample_of(int((by_person > 0).sum())), options,
        )  # fmt: skip
        others = impostor_probes(tally, impostor_role(tally, impostors))
        person, nearest = left_out.person[others], left_out.nearest[others]
        second = left_out.second[others]
        only = np.isnan(second)  # without that subject there is nobody to be taken for
        one = np.ones(len(others))
        accepted = person, tally.other[others], one, one
        losses = (
            accepted,
            (nearest, tally.other[others], one, one),
            (nearest[~only], second[~only], one[~only], -one[~only]),
        )
        by_person = np.bincount(person, minlength=self.people)
        without = by_person + np.bincount(nearest[only], minlength=self.people)
        # False accepts come in pairs: two people who are alike are taken for each other.
        pairs = min(int((by_person > 0).sum()), self.people // 2)
        self.impostor = _Rate(
            Hits(*accepted), Hits.joined(*losses), len(others), len(others) - without, pairs,
            options,
        )  # fmt: skip

    def ranks(self, count: int) -> Limits:
        """Return the limits of CMS at ranks 1 to `count`."""
        rate = self.genuine
        order = np.lexsort((rate.losses.rank, rate.losses.person))
        rate = _Rate(
            rate.hits, rate.losses.by(order), rate.attempts, rate.without, rate.trials, rate.options
        )
        low, high = rate.at(rate.hits.rank - 1, rate.losses.rank - 1, count)[1]
        beyond = np.arange(count) >= self.most
        return np.where(beyond, np.nan, low), np.where(beyond, np.nan, high)

    def band_of_ranks(
        self, count: int, pointwise: Limits
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the simultaneous band of CMS, and which ranks are in it, up to those known."""
        known, rate = min(count, self.most), self.genuine
        low, high, inside = *(np.array(x) for x in pointwise), np.zeros(count, dtype=bool)
        if known and not np.isnan(low[0]):
            places = rate.hits.rank - 1, rate.losses.rank - 1
            ends = low[:known], high[:known]
            low[:known], high[:known], inside[:known] = rate.in_band(*places, known, ends)
        return low, high, inside

    def curves(
        self, grid: np.ndarray, ranks: int, inside: dict[str, np.ndarray]
    ) -> dict[str, Limits]:
        """Return the limits of FAR, FRR and DIR at increasing distances.

        Where the bands of curves are simultaneous, `inside` gets which points are in them.
        """

        def limits(rate: _Rate) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            hits, losses = (np.searchsorted(grid, x.distance) for x in (rate.hits, rate.losses))
            low, high = rate.at(hits, losses, len(grid))[1]
            if rate.options.simultaneous and not np.isnan(low).any():
                return rate.in_band(hits, losses, len(grid), (low, high))
            return low, high, np.zeros(len(grid), dtype=bool)

        *far, far_inside = limits(self.impostor.up_to(1))
        unknown = np.full(len(grid), np.nan)
        found = [
            limits(self.genuine.up_to(k))
            if k <= self.most
            else (unknown, unknown, np.zeros(len(grid), dtype=bool))
            for k in range(1, ranks + 1)
        ]
        low, high, there = (np.stack(x, axis=1) for x in zip(*found, strict=True))
        if self.genuine.options.simultaneous:
            inside |= {"far": far_inside, "frr": there[:, 0], "dir": there}
        return {"far": (far[0], far[1]), "frr": (1 - high[:, 0], 1 - low[:, 0]), "dir": (low, high)}

    def points(self, dataset: xr.Dataset, ranks: int) -> dict[str, Limits]:
        """Return the limits of DIR at FAR targets, and of the EER."""
        targets, eer = dataset["far_target"].values, float(dataset["eer"])
        low, high = np.full((2, len(targets), ranks), np.nan)
        ends = np.full(2, np.nan)
        if self.genuine.attempts and self.impostor.attempts:
            accepting = _Accepting(self.impostor.up_to(1))
            for k in range(min(ranks, self.most)):
                at = accepting.of_mates(self.genuine.up_to(k + 1))
                low[:, k], high[:, k] = np.transpose([at.limits(x) for x in targets.tolist()])
                if not k and not np.isnan(eer):
                    ends = np.array([at.end_of_error(eer, end) for end in (0.0, 1.0)])
        return {"dir_at_far": (low, high), "eer": (ends[0], ends[1])}


def _moved(
    tally: IdentificationTally, left_out: LeftOut, ties: str
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Return the hits lost without each subject, and, with negative weights, the hits gained."""
    probe, subject = left_out.probe, left_out.subject
    facts = (tally.closer, tally.tied, tally.tied_before)
    fewer = (left_out.closer, left_out.tied, left_out.before)
    there = [x[probe] for x in facts]
    rest = [x - y for x, y in zip(there, fewer, strict=True)]
    found = []
    for sign, (closer, tied, before) in ((1.0, there), (-1.0, rest)):
        index, rank, weight = place_weights(closer, tied, before, tally.mates_tied[probe], ties)
        found.append((subject[index], tally.mate[probe[index]], rank, sign * weight))
    return found


class _Accepting:
    """Impostor attempts at all thresholds; state ``j`` accepts up to the `j`-th distance.

    It lasts up to the next distance, and state 0 accepts none.
    """

    def __init__(self, rate: _Rate):
        self.distance, counts = np.unique(rate.hits.distance, return_counts=True)
        self.accepted = np.append(0, np.cumsum(counts))
        hits, losses = (
            1 + np.searchsorted(self.distance, x.distance) for x in (rate.hits, rate.losses)
        )
        _, (self.low, self.high) = rate.at(hits, losses, len(self.accepted))

    def state(self, target: float) -> int:
        """Return the last state with FAR at most a target."""
        allowed = allowed_errors(float(target), int(self.accepted[-1]))
        return int(np.searchsorted(self.accepted, allowed, side="right")) - 1

    def of_mates(self, rate: _Rate) -> _DirAtFar:
        """Return DIR, at a rank, in each state."""
        hits, losses = (
            np.searchsorted(self.distance, x.distance, side="right")
            for x in (rate.hits, rate.losses)
        )
        found, (low, high) = rate.at(hits, losses, len(self.accepted))
        return _DirAtFar(self, found, low, high)


@dataclass(frozen=True)
class _DirAtFar:
    """DIR at the end of each state of FAR, with its limits at a given threshold."""

    far: _Accepting
    rate: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def limits(self, target: float) -> tuple[float, float]:
        """Return the limits of DIR at the threshold of a FAR target.

        The interval of FAR at the threshold chosen says between which rates another threshold
        may have been chosen. How far DIR moves from the one to the other, one impostor distance
        beyond on both sides, and how uncertain it is at a given threshold, add up as squares.
        """
        far, last = self.far, len(self.rate) - 1
        if np.isnan(far.high).any() or np.isnan(self.high).any():
            return np.nan, np.nan
        chosen = far.state(target)
        strict = far.state(far.low[chosen]) - 1
        loose = min(far.state(max(far.high[chosen], target)) + 1, last)
        here = self.rate[chosen]
        below = here - (self.rate[strict] if strict >= 0 else 0.0)
        return (
            max(here - float(np.hypot(below, here - self.low[chosen])), 0.0),
            min(here + float(np.hypot(self.rate[loose] - here, self.high[chosen] - here)), 1.0),
        )

    def end_of_error(self, eer: float, end: float) -> float:
        """Return the rate farthest towards `end` that FRR may have at this FAR."""

        def holds(rate: float) -> bool:
            low, high = self.limits(rate)
            return 1 - high <= rate <= 1 - low

        inside, outside = eer, end
        if np.isnan(self.limits(eer)[0]):
            return np.nan
        if holds(outside):
            return outside
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if holds(middle) else (inside, middle)
        return inside
