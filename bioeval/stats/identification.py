"""Confidence intervals of identification: for new people, or other probes in the same gallery.

For new people each person is probe and gallery at once. Each is left out in turn, on both sides,
and the rate of the others, in a gallery of one person less, is known from one pass over the scores.
How far these rates are from their mean is how uncertain the rate is by who was drawn: the
jackknife, with an interval on the logit scale.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
import xarray as xr

from bioeval.base.errors import counted
from bioeval.base.kinds import larger_is_closer
from bioeval.base.messages import Message
from bioeval.base.progress import report, stage
from bioeval.counting.identification import Searches, place_weights
from bioeval.counting.left_out import LeftOut
from bioeval.counting.points import allowed_errors
from bioeval.counting.thresholds import to_internal
from bioeval.protocol.tasks import OpenSet
from bioeval.results.support import ComparedPeople, RuleOf
from bioeval.results.variables import CLOSED_SET, OPEN_SET
from bioeval.stats.bootstrap import SubjectMeans
from bioeval.stats.error_curves import ErrorColumns
from bioeval.stats.few_errors import Placed, around_few, few_along, without_contradiction
from bioeval.stats.independent import clopper_pearson, zero_error_bound
from bioeval.stats.limits import Limits, logit_limits
from bioeval.stats.options import IntervalMethod, trials_of
from bioeval.stats.people import VALUES_AT_ONCE, linear_forms, ratio

#: With fewer people, those who are left are no gallery.
FEWEST = 3

# Rounding, as a proportion of what a spread is summed up from.
_ROUNDING = 1e-12

# Less than one attempt, more than rounding.
_HALF = 0.5

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

    def by_distance(self) -> Hits:
        """Return the hits in ascending order of distance."""
        return self.by(np.argsort(self.distance, kind="stable"))

    @property
    def scored(self) -> Hits:
        """The hits that have a distance: others failed, and no threshold accepts them."""
        return self.by(np.flatnonzero(~np.isnan(self.distance)))

    def along(self, place: np.ndarray) -> Placed:
        """Return the hits with their places along a curve."""
        return Placed.of(self.person, place, self.weight)

    def up_to(self, rank: int) -> Hits:
        """Return the hits at `rank` or better, by person and distance."""
        hits = self.within(rank)
        return hits.by(np.lexsort((hits.distance, hits.person)))

    def within(self, rank: int) -> Hits:
        """Return the hits at `rank` or better, in their order."""
        return self.by(np.flatnonzero(self.rank <= rank))


@dataclass(frozen=True)
class _Rate:
    """A proportion of attempts: overall, and without each person."""

    #: What is counted, and how much less that is without each person.
    hits: Hits
    losses: Hits
    attempts: int
    #: int64 (people,): attempts of each person, and attempts without each.
    made: np.ndarray
    without: np.ndarray
    trials: int  # independent trials, which bound a rate of exactly 0 or 1
    options: IntervalMethod
    #: Whether the rates without each person are compared as logits, not in proportion to the rate:
    #: of false accepts, most of which may be of a few people.
    of_logits: bool = False

    def up_to(self, rank: int) -> _Rate:
        """Return the rate of hits at `rank` or better."""
        return replace(self, hits=self.hits.up_to(rank), losses=self.losses.up_to(rank))

    def at(
        self, hits: np.ndarray, losses: np.ndarray, count: int, along: np.ndarray
    ) -> tuple[np.ndarray, Limits]:
        """Return the cumulative rate at some places, with its limits.

        Given are the place of each hit and of each loss, the latter increasing for each person;
        those from `count` on are left out. `along` is the distance or rank of each hit.
        """
        counted = _summed(hits, self.hits.weight, count)
        people = len(self.without)
        if people < FEWEST or not (self.without > 0).all():
            undefined = np.full(count, np.nan)
            rate = counted / self.attempts if self.attempts else undefined
            return np.minimum(rate, 1.0), (undefined, undefined)
        rate = np.minimum(counted / self.attempts, 1.0)
        level = 0.5 + self.options.confidence / 2
        half = scipy.special.stdtrit(people - 1, level) * self._errors(counted, losses)
        low, high = logit_limits(rate, half)
        if self.of_logits:
            low, high = self._limits_of_logits(counted, losses, (low, high))
        # The same rate without each person is no certainty: some others may still differ.
        bound = zero_error_bound(self.trials, self.options.confidence)
        low = np.where(half > 0, low, np.maximum(rate - bound, 0.0))
        high = np.where(half > 0, high, np.minimum(rate + bound, 1.0))
        placed = Placed.of(self.hits.person, along, self.hits.weight)
        # Two people who are taken for each other are one trial.
        proportion = self.trials / max(int((self.made > 0).sum()), 1)
        first, other = few_along(placed, self.made, self.trials)
        few = first.fewer(proportion), other.fewer(proportion)
        ends = without_contradiction(rate, (low, high), few, self.options.confidence)
        if self.of_logits:  # few false accepts say little of how many another gallery has
            ends = ends[0], np.maximum.accumulate(np.fmax(ends[1], high))
        return rate, ends

    def _limits_of_logits(
        self, counted: np.ndarray, losses: np.ndarray, fallback: Limits
    ) -> Limits:
        """Return limits by the spread of the logits of the rates without each person.

        Where some person has all errors, or all attempts without one, the spread is unknown. The
        limits there are the `fallback`, as wide at least as the bound of independent trials of
        which one erred.
        """
        people, count = len(self.without), len(counted)
        low, high = np.empty((2, count))
        quantile = scipy.special.stdtrit(people - 1, 0.5 + self.options.confidence / 2)
        one = float(clopper_pearson(1, self.trials, self.options.confidence)[1])
        place = np.minimum(losses, count)
        order, lost = np.argsort(place, kind="stable"), np.zeros((1, people))
        step = max(1, VALUES_AT_ONCE // people)
        for first in range(0, count, step):
            part = slice(first, min(first + step, count))
            ends = np.searchsorted(place[order], (first, part.stop))
            chosen = order[slice(*ends)]
            layers = np.zeros((part.stop - first, people))
            at = place[chosen] - first, self.losses.person[chosen]
            np.add.at(layers, at, self.losses.weight[chosen])
            lost = lost[-1] + np.cumsum(layers, axis=0)
            remaining = counted[part, None] - lost
            some = (remaining > _HALF).all(axis=1)
            not_all = (remaining < self.without - _HALF).all(axis=1)
            known = some & not_all
            moved = scipy.special.logit(remaining[known] / self.without)
            half = quantile * moved.std(axis=1) * np.sqrt(people - 1)
            middle = scipy.special.logit(counted[part][known] / self.attempts)
            low[part] = np.where(not_all, fallback[0][part], np.minimum(fallback[0][part], 1 - one))
            high[part] = np.where(some, fallback[1][part], np.maximum(fallback[1][part], one))
            low[part][known] = scipy.special.expit(middle - half)
            high[part][known] = scipy.special.expit(middle + half)
        return low, high

    def _errors(self, hits: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Return the standard error at each place.

        The rate without person ``s`` is ``(hits - lost[s]) * share[s]``. What is summed over the
        people are products of ``share - mean(share)`` and ``lost * share``, which change only where
        somebody has a loss.
        """
        person, weight, count = self.losses.person, self.losses.weight, len(hits)
        people, share = len(self.without), 1 / self.without
        uneven = share - share.mean()
        taken = np.cumsum(weight)
        first = np.searchsorted(person, person)  # the first loss of the same person
        taken -= np.append(0.0, taken)[first]
        before = taken - weight
        share_of_loss = share[person]
        lost = _summed(place, weight * share_of_loss, count)
        both = _summed(place, weight * share_of_loss * uneven[person], count)
        steps = (taken**2 - before**2) * share_of_loss**2
        squares = _summed(place, steps, count)
        sizes = _summed(place, np.abs(steps), count)
        constant = hits**2 * (uneven**2).sum()
        spread = constant - 2 * hits * both + squares - lost**2 / people
        spread = np.where(spread > _ROUNDING * (constant + sizes), spread, 0.0)
        return np.sqrt(spread * (people - 1) / people)


def _summed(place: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Return the sums of the values up to each place."""
    inside = place < count
    return np.cumsum(np.bincount(place[inside], values[inside], minlength=count)[:count])


class NewPeople:
    """The attempts of identification, overall and without each person."""

    def __init__(
        self,
        tally: Searches,
        left_out: LeftOut,
        ties: str,
        options: IntervalMethod,
        impostors: str = "auto",
    ):
        """Count the attempts without each person."""
        self.people, self.most = left_out.people, left_out.ranks
        mated = np.flatnonzero(tally.mates > 0)
        probes, ranks, weights = tally.rank_weights(mated, ties)
        hits = left_out.person[probes], tally.mate[probes], ranks, weights
        by_person = np.bincount(left_out.person[mated], minlength=self.people)
        self.genuine = _Rate(
            Hits(*hits),
            Hits.joined(hits, *_moved(tally, left_out, ties)),
            len(mated),
            by_person,
            len(mated) - by_person,
            trials_of(int((by_person > 0).sum())),
            options,
        )
        impostor_rows = tally.impostor_probes(tally.impostor_role(impostors))
        person, nearest = left_out.person[impostor_rows], left_out.nearest[impostor_rows]
        second = left_out.second[impostor_rows]
        #: Of each impostor attempt: the person of the nearest candidate, and the distance of the
        #: nearest candidate of any further person.
        self._candidates = nearest, second
        only = np.isnan(second)  # without that subject there is nobody to be taken for
        one = np.ones(len(impostor_rows))
        # As the second nearest, one that failed is beyond all scores.
        distance = tally.other[impostor_rows]
        distance = np.where(np.isnan(distance), np.inf, distance)
        accepted = person, distance, one, one
        losses = (
            accepted,
            (nearest, distance, one, one),
            (nearest[~only], second[~only], one[~only], -one[~only]),
        )
        by_person = np.bincount(person, minlength=self.people)
        without = by_person + np.bincount(nearest[only], minlength=self.people)
        # False accepts come in pairs: two people who are alike are taken for each other.
        pairs = min(int((by_person > 0).sum()), self.people // 2)
        self.impostor = _Rate(
            Hits(*accepted),
            Hits.joined(*losses),
            len(impostor_rows),
            by_person,
            len(impostor_rows) - without,
            pairs,
            options,
            of_logits=True,
        )

    def without_each(self, targets: np.ndarray, rank: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Return CMS and DIR at each FAR target without each person, at a rank.

        The thresholds are chosen anew among the impostor attempts of the others. The shapes are
        (people,) and (targets, people); NaN where nothing is left.
        """
        rate = self.genuine.up_to(rank)
        hits, losses, people = rate.hits, rate.losses, self.people
        lost = np.bincount(losses.person, losses.weight, minlength=people)
        recognised = ratio(hits.weight.sum() - lost, rate.without)
        limits = self._limits_without_each(targets)
        order = np.argsort(hits.distance, kind="stable")
        distance, taken = hits.distance[order], np.append(0.0, np.cumsum(hits.weight[order]))
        at_far = np.empty((len(targets), people))
        for i, limit in enumerate(limits):
            inside = losses.distance < limit[losses.person]
            lost = np.bincount(losses.person[inside], losses.weight[inside], minlength=people)
            at_far[i] = ratio(taken[np.searchsorted(distance, limit)] - lost, rate.without)
        return recognised, np.where(np.isnan(limits), np.nan, at_far)

    def _limits_without_each(self, targets: np.ndarray) -> np.ndarray:
        """Return the distance below which FAR is at most each target, without each person.

        It is the first that would be one false accept too many; infinite where all may be accepted,
        NaN without an attempt. Shape (targets, people).
        """
        person, first = self.impostor.hits.person, self.impostor.hits.distance
        nearest, second = self._candidates

        def limits_of(distances: np.ndarray) -> np.ndarray:
            attempts = len(distances)
            if not attempts:
                return np.full(len(targets), np.nan)
            allowed = np.array([allowed_errors(float(x), attempts) for x in targets], dtype=int)
            inside = allowed < attempts
            limits = np.full(len(targets), np.inf)
            places = np.unique(allowed[inside])
            if len(places):
                limits[inside] = np.partition(distances, places)[allowed[inside]]
            return limits

        limits = np.repeat(limits_of(first)[:, None], self.people, axis=1)
        affected = np.union1d(person, nearest)
        for a in affected[affected >= 0]:
            rest = np.where(nearest == a, second, first)[person != a]
            limits[:, a] = limits_of(rest[~np.isnan(rest)])
        return limits

    def ranks(self, count: int) -> Limits:
        """Return the limits of CMS at ranks 1 to `count`."""
        rate = self.genuine
        order = np.lexsort((rate.losses.rank, rate.losses.person))
        rate = replace(rate, losses=rate.losses.by(order))
        low, high = rate.at(rate.hits.rank - 1, rate.losses.rank - 1, count, rate.hits.rank)[1]
        beyond = np.arange(count) >= self.most
        return np.where(beyond, np.nan, low), np.where(beyond, np.nan, high)

    def curves(self, grid: np.ndarray, ranks: int) -> dict[str, Limits]:
        """Return the limits of FAR, FRR and DIR at increasing distances."""

        def limits(rate: _Rate) -> Limits:
            hits = np.searchsorted(grid, rate.hits.distance)
            losses = np.searchsorted(grid, rate.losses.distance)
            return rate.at(hits, losses, len(grid), rate.hits.distance)[1]

        low, high = np.full((2, len(grid), ranks), np.nan)
        for k in range(min(ranks, self.most)):
            low[:, k], high[:, k] = limits(self.genuine.up_to(k + 1))
        far = limits(self.impostor.up_to(1))
        return {"far": far, "frr": (1 - high[:, 0], 1 - low[:, 0]), "dir": (low, high)}

    def points(self, targets: np.ndarray, eer: float, ranks: int) -> dict[str, Limits]:
        """Return the limits of DIR at FAR targets, and of the EER."""
        low, high = np.full((2, len(targets), ranks), np.nan)
        ends = np.full(2, np.nan)
        if self.genuine.attempts and self.impostor.attempts:
            accepting = _Accepting(self.impostor.up_to(1))
            for k in range(min(ranks, self.most)):
                at = accepting.of_mates(self.genuine.up_to(k + 1))
                for i, target in enumerate(targets.tolist()):
                    low[i, k], high[i, k] = at.limits(target)
                if not k and not np.isnan(eer):
                    ends = np.array([at.end_of_error(eer, end) for end in (0.0, 1.0)])
        return {"dir_at_far": (low, high), "eer": (ends[0], ends[1])}


def _moved(
    tally: Searches, left_out: LeftOut, ties: str
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Return the hits lost without each subject, and, with negative weights, the hits gained."""
    probe, subject = left_out.probe, left_out.subject
    facts = (tally.closer, tally.tied, tally.tied_before)
    fewer = (left_out.closer, left_out.tied, left_out.before)
    there = [x[probe] for x in facts]
    rest = [x - y for x, y in zip(there, fewer, strict=True)]
    moved = []
    for sign, (closer, tied, before) in ((1.0, there), (-1.0, rest)):
        index, rank, weight = place_weights(closer, tied, before, tally.mates_tied[probe], ties)
        moved.append((subject[index], tally.mate[probe[index]], rank, sign * weight))
    return moved


class _Accepting:
    """Impostor attempts at all thresholds; state ``j`` accepts up to the `j`-th distance.

    It lasts up to the next distance, and state 0 accepts none.
    """

    def __init__(self, rate: _Rate):
        self.distance, counts = np.unique(rate.hits.distance, return_counts=True)
        self.accepted = np.append(0, np.cumsum(counts))
        hits = 1 + np.searchsorted(self.distance, rate.hits.distance)
        losses = 1 + np.searchsorted(self.distance, rate.losses.distance)
        _, (self.low, self.high) = rate.at(hits, losses, len(self.accepted), rate.hits.distance)

    def state(self, target: float) -> int:
        """Return the last state with FAR at most a target."""
        allowed = allowed_errors(float(target), int(self.accepted[-1]))
        return int(np.searchsorted(self.accepted, allowed, side="right")) - 1

    def of_mates(self, rate: _Rate) -> _DirAtFar:
        """Return DIR, at a rank, in each state."""
        hits, losses = (
            np.searchsorted(self.distance, x, side="right") + np.isnan(x)
            for x in (rate.hits.distance, rate.losses.distance)
        )
        dir_, (low, high) = rate.at(hits, losses, len(self.accepted), rate.hits.distance)
        return _DirAtFar(self, dir_, low, high)


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


#: Open-set ranks that have intervals.
RANKS = 10


def closed_set_intervals(
    dataset: xr.Dataset,
    tally: Searches,
    subjects: np.ndarray | None,
    options: IntervalMethod,
    left_out: LeftOut | None = None,
) -> xr.Dataset:
    """Return a result of closed-set identification with confidence intervals.

    `subjects` is the subject of each probe; None for methods that do not need it. With `left_out`,
    intervals by subject are for new people; otherwise the gallery is fixed.
    """
    attempts = int(dataset["attempts"])
    count = dataset.sizes["rank"]
    remarks = []
    options = _of_population(options, left_out)
    if left_out is not None:
        people = NewPeople(tally, left_out, str(dataset.attrs["ties"]), options)
        low, high = people.ranks(count)
        remarks = _without_limits(left_out, count)
    elif options.by_subject:
        probing = _ProbeSubjects(tally, subjects, str(dataset.attrs["ties"]), options)
        hits = probing.genuine
        means, along = probing.of_genuine, hits.along(hits.rank)
        low, high = means.limits_at_ranks(hits.person, hits.rank, hits.weight, count)
        low, high = means.without_contradiction(along, np.arange(1.0, count + 1), (low, high))
        remarks = options.few_people(probing.people)
    else:
        low, high = options.independent_limits(dataset["cms_count"].values, attempts)
        remarks = [options.independence("probes")]
    limits = {"cms": (low, high), "recognition_rate": (low[0], high[0])}
    return options.added_to(dataset, limits, CLOSED_SET, remarks)


def open_set_intervals(
    dataset: xr.Dataset,
    tally: Searches,
    subjects: np.ndarray | None,
    options: IntervalMethod,
    left_out: LeftOut | None = None,
) -> xr.Dataset:
    """Return a result of open-set identification with confidence intervals.

    The first ten ranks have intervals; the others are NaN. `subjects` and `left_out` are as for
    :func:`closed_set_intervals`.
    """
    kind = tally.about.kind
    ranks = min(RANKS, dataset.sizes["rank"])
    options = _of_population(options, left_out)
    if left_out is not None or options.by_subject:
        settings = str(dataset.attrs["ties"]), options, str(dataset.attrs["impostors"])
        by_person: NewPeople | _ProbeSubjects
        if left_out is not None:
            by_person = NewPeople(tally, left_out, *settings)
            remarks = _without_limits(left_out, ranks)
        else:
            by_person = _ProbeSubjects(tally, subjects, *settings)
            remarks = options.few_people(by_person.people)
        grid = to_internal(dataset["threshold"].values, kind)
        limits = by_person.curves(grid, ranks)
        if larger_is_closer(kind):
            limits = {name: (low[::-1], high[::-1]) for name, (low, high) in limits.items()}
        limits |= by_person.points(dataset["far_target"].values, float(dataset["eer"]), ranks)
        remarks += _without_lower_limit(limits, dataset, tally)
    else:
        genuine, impostor = int(dataset["genuine_attempts"]), int(dataset["impostor_attempts"])

        def at_ranks(name: str) -> Limits:
            return options.independent_limits(dataset[name].values[:, :ranks] * genuine, genuine)

        identified = at_ranks("dir")
        limits = {
            "dir": identified,
            "frr": (1 - identified[1][:, 0], 1 - identified[0][:, 0]),
            "far": options.independent_limits(dataset["fa"].values, impostor),
            "dir_at_far": at_ranks("dir_at_far"),
        }
        remarks = [options.independence("probes")]
    for name in ("dir", "dir_at_far"):
        low, high = limits[name]
        beyond = ((0, 0), (0, dataset.sizes["rank"] - ranks))
        low = np.pad(low, beyond, constant_values=np.nan)
        high = np.pad(high, beyond, constant_values=np.nan)
        limits[name] = low, high
    limits["grr"] = 1 - limits["far"][1], 1 - limits["far"][0]
    return options.added_to(dataset, limits, OPEN_SET, remarks)


def _without_lower_limit(
    limits: dict[str, Limits], dataset: xr.Dataset, tally: Searches
) -> list[Message]:
    """Let DIR at a FAR that the people cannot support have the lower limit 0; return a message.

    There may be no threshold in the data that has this FAR in the population.
    """
    targets, attempts = dataset["far_target"].values, int(dataset["impostor_attempts"])
    people = ComparedPeople.searching(tally.about, str(dataset.attrs["impostors"]))
    supported = np.array([RuleOf(3).supports(x, attempts, people) for x in targets], dtype=bool)
    low, high = limits["dir_at_far"]
    unlimited = ~(supported & (targets > 0))
    limits["dir_at_far"] = np.where(unlimited[:, None] & ~np.isnan(low), 0.0, low), high
    if not unlimited.any() or np.isnan(low[unlimited]).all():
        return []
    about = {"end": "lower", "rate": "dir", "limit": 0, "task": "identification"}
    return [Message("limit-not-supported", **about, targets=targets[unlimited].tolist())]


def _of_population(options: IntervalMethod, left_out: LeftOut | None) -> IntervalMethod:
    """Return the options with the population that the intervals are for."""
    return options.for_this_gallery if left_out is None else options.for_new_people


def _without_limits(left_out: LeftOut, ranks: int) -> list[Message]:
    """Return messages of intervals not given: too few people, or too many ranks."""
    people, most = left_out.people, left_out.ranks
    if people < FEWEST:
        why = f"there are {counted(people, 'subjects')}, and at least {FEWEST} are needed"
        return [Message("no-interval", of="rates for new people", why=why)]
    if most < ranks:
        return [Message("no-interval", of=f"ranks above {most:,}", why="it needs more memory")]
    return []


# ------------------------------------------------------------------------- by subject


def identification_replicates(
    tally: Searches,
    subjects: np.ndarray,
    search: OpenSet,
    targets: np.ndarray,
    options: IntervalMethod,
    rank: int = 1,
) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Return CMS and DIR at each FAR target, both at a rank, and sample sizes.

    The rates have the shapes (columns,) and (targets, columns); the sample sizes are the subjects
    with probes, and those with genuine attempts (0 for a single one).
    """
    probing = _ProbeSubjects(tally, subjects, search.ties, options, search.impostors)
    within = probing.genuine.within(rank)
    hits = np.bincount(within.person, within.weight, minlength=len(probing.weights))
    recognised = ratio(linear_forms(hits[None], probing.weights)[0], probing.of_genuine.total)
    at_far = probing.drawn_at_far(targets, rank)
    return recognised, at_far, probing.people, probing.of_genuine.trials


class _ProbeSubjects:
    """Identification attempts by the probe's subject; probes of no person are not resampled."""

    def __init__(
        self,
        tally: Searches,
        subjects: np.ndarray | None,
        ties: str,
        options: IntervalMethod,
        impostors: str = "auto",
    ):
        """Weigh the attempts of each subject in each replicate."""
        if subjects is None:
            raise TypeError(f"{options.method} intervals need the subjects of the probes")
        self.options = options
        who, person = np.unique(subjects, return_inverse=True)
        person = person.reshape(-1)
        no_person, n = who < 0, len(who)
        self.people = int((~no_person).sum())
        chosen = np.nonzero(tally.mates > 0)[0]
        probes, ranks, weights = tally.rank_weights(chosen, ties)
        self.genuine = Hits(person[probes], tally.mate[probes], ranks, weights).by_distance()
        genuine_of = np.bincount(person[chosen], minlength=n)
        impostor_rows = tally.impostor_probes(tally.impostor_role(impostors))
        ones = np.ones(len(impostor_rows))
        self.impostor = Hits(
            person[impostor_rows], tally.other[impostor_rows], ones, ones
        ).by_distance()
        impostor_of = np.bincount(person[impostor_rows], minlength=n)
        self.weights, self.no_person = options.weights(len(no_person), no_person), no_person
        self.of_genuine = SubjectMeans(genuine_of, self.weights, options, no_person)
        self.of_impostor = SubjectMeans(impostor_of, self.weights, options, no_person)

    @stage("intervals of the curves")
    def curves(self, grid: np.ndarray, ranks: int) -> dict[str, Limits]:
        """Return the limits of FAR, FRR and DIR at increasing distances."""
        other = self.impostor
        far = self.of_impostor.limits_along(other.along(other.distance), grid)
        lows, highs = [], []
        for k in range(1, ranks + 1):
            hits = self.genuine.within(k)
            low_k, high_k = self.of_genuine.limits_along(hits.along(hits.distance), grid)
            lows.append(low_k)
            highs.append(high_k)
            report(k, ranks)
        low = np.stack(lows, axis=1)
        high = np.stack(highs, axis=1)
        return {"far": far, "frr": (1 - high[:, 0], 1 - low[:, 0]), "dir": (low, high)}

    def points(self, targets: np.ndarray, eer: float, ranks: int) -> dict[str, Limits]:
        """Return the limits of the operating points, chosen anew in each replicate."""
        unknown = np.full((len(targets), ranks, self.weights.shape[1]), np.nan)
        at_far, errors = unknown, np.full(self.weights.shape[1], np.nan)
        if self.of_genuine.attempts.any() and self.of_impostor.attempts.any():
            drawn = [self.drawn_at_far(targets, rank) for rank in range(1, ranks + 1)]
            at_far, errors = np.stack(drawn, axis=1), self.drawn_error()
        fewer = min(self.of_genuine, self.of_impostor, key=lambda means: means.trials)
        confidence, at_ranks = self.options.confidence, np.full((2, *at_far.shape[:2]), np.nan)
        for k in range(ranks):
            hits = self.genuine.within(k + 1)
            few = self.of_genuine.few(hits.along(hits.distance))
            ends = self.options.limits(at_far[:, k])
            at_ranks[:, :, k] = around_few(at_far[:, k, 0], ends, few, confidence)
        first, other = self.genuine.within(1), self.impostor
        accepted, rejected = self.of_genuine.few(first.along(first.distance))
        low, high = self.options.limits(errors)
        for few in ((rejected, accepted), self.of_impostor.few(other.along(other.distance))):
            low, high = around_few(errors[0], (low, high), few, confidence)
        points = {
            "dir_at_far": (self.of_genuine, (at_ranks[0], at_ranks[1])),
            "eer": (fewer, (low, high)),
        }
        return {
            name: (np.where(of_attempts.trials, x, np.nan), np.where(of_attempts.trials, y, np.nan))
            for name, (of_attempts, (x, y)) in points.items()
        }

    @stage("bootstrap")
    def drawn_at_far(self, targets: np.ndarray, rank: int) -> np.ndarray:
        """Return DIR at FAR targets (targets, columns) at one rank, of all weightings."""
        from bioeval.kernels.detected import detect_at_targets

        mate, other = self.genuine.within(rank).scored, self.impostor.scored
        genuine, impostor = self.of_genuine.total, self.of_impostor.total
        order = np.argsort(targets, kind="stable")
        # The most errors whose rate is at most the target; products may be rounded.
        most = np.floor(np.clip(targets[order], 0.0, 1.0) * impostor[:, None])
        made = np.maximum(impostor, 1.0)[:, None]
        most += (most < impostor[:, None]) & ((most + 1) / made <= targets[order])
        most -= most / made > targets[order]
        detected = np.empty((len(impostor), len(targets)))
        detect_at_targets(
            detected,
            np.ascontiguousarray(self.weights.T),
            most.astype(np.int64),
            (other.person, np.append(other.distance[1:] > other.distance[:-1], True)),
            (mate.person, mate.weight),
            np.append(np.searchsorted(mate.distance, other.distance), len(mate.distance)),
        )
        at_far = np.empty((len(targets), len(impostor)))
        at_far[order] = ratio(detected.T, genuine)
        at_far[at_far > 1 - 1e-12] = 1.0
        return np.where((genuine > 0) & (impostor > 0), at_far, np.nan)

    def drawn_error(self) -> np.ndarray:
        """Return the EER of all weightings (columns)."""
        first, other = self.genuine.within(1).scored, self.impostor.scored
        failed = len(other.distance) < len(self.impostor.distance)
        failed |= bool(np.isnan(self.genuine.distance).any())
        threshold = np.union1d(first.distance, other.distance)
        of_first = np.searchsorted(first.distance, threshold, side="right")
        of_other = np.searchsorted(other.distance, threshold, side="right")
        eer = np.full(self.weights.shape[1], np.nan)
        step = max(1, VALUES_AT_ONCE // (len(threshold) + 1))
        for low in range(0, len(eer), step):
            part = slice(low, low + step)
            weights = self.weights[:, part].astype(np.float64)
            far = ratio(_cumulative(weights, other)[of_other], self.of_impostor.total[part])
            hits = ratio(_cumulative(weights, first)[of_first], self.of_genuine.total[part])
            frr = np.clip(1 - hits, 0.0, 1.0)
            eer[part] = ErrorColumns(far, frr, failed=failed).equal_error()
        return eer


def _cumulative(weights: np.ndarray, attempts: Hits) -> np.ndarray:
    """Return the cumulative weight of the attempts, from 0 to all of them."""
    taken = np.zeros((len(attempts.distance) + 1, weights.shape[1]))
    np.cumsum(weights[attempts.person] * attempts.weight[:, None], axis=0, out=taken[1:])
    return taken
