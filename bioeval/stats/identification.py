"""Confidence intervals of identification: for new people, or other probes in the same gallery.

For new people each person is probe and gallery at once. Every person is left out in turn, on both
sides, and the rate of the other people, in a gallery of one person less, is known from one pass
over the scores. In a gallery of other templates only the people who search are left out. Where
people are drawn again, people who search are drawn, for this gallery: copies of a person in the
gallery would find each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import xarray as xr

from bioeval.base.errors import counted
from bioeval.base.messages import Message
from bioeval.base.progress import stage
from bioeval.counting.identification import Searches, place_weights
from bioeval.counting.left_out import LeftOut
from bioeval.protocol.choices import ImpostorProbes, Ties
from bioeval.results.support import searching_people
from bioeval.results.variables import CLOSED_SET, OPEN_SET, RANKS
from bioeval.stats.curve_limits import CurveLimits, grid_of, open_at_targets
from bioeval.stats.error_curves import ErrorColumns, ErrorsByRow, moved_to
from bioeval.stats.limits import Limits, RateCurve, percentile
from bioeval.stats.options import IntervalMethod
from bioeval.stats.people import by_subject, linear_forms, ratio
from bioeval.stats.weights import groups_of_people, kish, without_each

#: With fewer people, the people who are left are no gallery.
FEWEST = 3

#: The most rates by distance and person, or replicate, in memory: about 4,000 searches of 1,000
#: people.
MOST_CELLS = 1 << 23


class Hits(NamedTuple):
    """Hits, or attempts; all arrays are (hits,)."""

    person: np.ndarray  # number of the person who searches
    distance: np.ndarray  # NaN: no threshold accepts the hit
    rank: np.ndarray
    weight: np.ndarray  # a fraction of a hit under expected ties; negative for a gained hit

    def up_to_rank(self, rank: int) -> Hits:
        """Return the hits at `rank` or better."""
        return Hits(*(x[self.rank <= rank] for x in self))

    def by_person(
        self, along: Literal["distance", "rank"], grid: np.ndarray, people: int
    ) -> np.ndarray:
        """Return the hits of each person up to points of an increasing grid, (points, people)."""
        return np.cumsum(self.of_each(along, grid, people), axis=0)

    def of_each(
        self, along: Literal["distance", "rank"], grid: np.ndarray, people: int
    ) -> np.ndarray:
        """Return the hits of each person between points of an increasing grid, (points, people)."""
        place = getattr(self, along)
        return by_subject(place, self.person, grid, people, self.weight)[:-1]


class Attempted(NamedTuple):
    """Attempts of one class by the people who search, and the attempts missing without each person.

    The smallest effective number, `least`, is of disjoint pairs in searches of new people: a search
    is of two people, the person who searches and the nearest other person, and a mean over pairs of
    people can be divided into means over disjoint pairs (Hoeffding 1963, Journal of the American
    Statistical Association 58, section 5).
    """

    hits: Hits
    made: np.ndarray  # int64 (people who search,): attempts of each
    losses: Hits  # missing without each person, by the person left out; gained: negative weights
    leaving: np.ndarray  # int64 (people left out,): attempts missing without each
    units: float  # independent people, or pairs of people (Kish's effective number)
    sides: int  # people with whom an attempt is missing
    least: float

    def columns(
        self,
        along: Literal["distance", "rank"],
        grid: np.ndarray,
        rank: int | None = None,
        weights: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the rate of hits up to each point, (points, 1 + people), or at weights."""
        hits = self.hits
        losses = self.losses
        if rank is not None:
            hits = hits.up_to_rank(rank)
            losses = losses.up_to_rank(rank)
        if weights is not None:
            # (points, columns): hits of people drawn again, between points and then up to them.
            drawn = linear_forms(hits.of_each(along, grid, len(self.made)), weights)
            np.cumsum(drawn, axis=0, out=drawn)
            rates = ratio(drawn, linear_forms(self.made[None], weights))
        else:
            # Jackknife: the hits of all, (points,), and without each person, (points, people).
            everyone = hits._replace(person=np.zeros_like(hits.person))
            total = everyone.by_person(along, grid, 1)[:, 0]
            lost = losses.by_person(along, grid, len(self.leaving))
            rates = ratio(
                without_each(lost, total), without_each(self.leaving, np.array(self.made.sum()))
            )
        # Fractional weights of expected ties may exceed 1 by rounding.
        return np.where(rates > 1 - 1e-12, np.minimum(rates, 1.0), rates)

    def by_row(
        self, grid: np.ndarray, rank: int | None, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rate of hits at weights, with a row for each distinct value along the grid.

        The grid has all distances. Beside the rates (rows, columns), the row of each point
        of the grid.
        """
        hits = self.hits if rank is None else self.hits.up_to_rank(rank)
        order = np.argsort(hits.distance)
        order = order[: np.count_nonzero(~np.isnan(hits.distance))]
        distance = hits.distance[order]
        weight = hits.weight[order]
        attempts = linear_forms(self.made[None], weights)
        is_whole = bool((weight == 1).all())
        is_exact = is_whole and attempts.max(initial=0) < 1 << 24  # in 32 bits
        # (1 + hits, columns): hits up to each distance, none in the first row.
        sums = np.zeros((1 + len(order), weights.shape[1]), np.float32 if is_exact else np.float64)
        sums[1:] = weights[hits.person[order]]
        if not is_exact:
            sums[1:] *= weight[:, None]
        np.cumsum(sums, axis=0, out=sums)
        # Points of the grid with equal numbers of hits share a row.
        number = distance.searchsorted(grid, side="right")
        rows, row = np.unique(number, return_inverse=True)
        rates = ratio(sums if len(rows) == len(sums) else sums[rows], attempts)
        if not is_exact:
            rates = np.where(rates > 1 - 1e-12, np.minimum(rates, 1.0), rates)
        return rates, row


_NOBODY = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class SearchingPeople:
    """The people who search, and the groups in which they are left out.

    - `person` (int64 (m,)): the person of each probe
    - `no_person` (bool (people,)): who is no person, and always stays
    - `both_sides`: whether a person leaves the gallery, too
    """

    person: np.ndarray
    no_person: np.ndarray
    both_sides: bool

    @property
    def number(self) -> int:
        """The number of people who can be left out."""
        return int((~self.no_person).sum())

    def attempted(
        self,
        hits: Hits,
        probes: np.ndarray,
        sides: int = 1,
        moved: Hits | None = None,
        also: np.ndarray = _NOBODY,
    ) -> Attempted:
        """Return the attempts of probes.

        Without a person, other people's hits that are `moved`, and the attempts of `also` (an entry
        for each: the person), are missing besides the person's own.
        """
        groups = len(self.no_person)
        group = np.arange(groups)
        fewest = FEWEST
        if not self.both_sides:
            group, groups = groups_of_people(self.no_person)
            fewest = 2
        attempts_of_each = np.bincount(self.person[probes], minlength=len(self.no_person))
        losses = hits._replace(person=group[hits.person])
        if moved is not None:
            losses = Hits(*map(np.append, losses, moved))
        is_of_person = losses.person < groups  # distractors have the number after the last group
        leaving = np.append(group[self.person[probes]], also)
        independent = 0.0
        if self.number >= fewest:
            independent = kish(attempts_of_each[~self.no_person])
        return Attempted(
            hits,
            attempts_of_each,
            Hits(*(x[is_of_person] for x in losses)),
            np.bincount(leaving, minlength=groups + 1)[:groups],
            independent / sides,
            sides,
            independent / 2 if self.both_sides else independent,
        )


class SearchColumns:
    """The attempts of identification, with all people and without each person."""

    def __init__(
        self,
        searches: Searches,
        ties: Ties,
        options: IntervalMethod,
        impostors: ImpostorProbes = "auto",
        *,
        subjects: np.ndarray | None = None,
        left_out: LeftOut | None = None,
    ):
        """Take the attempts of each person: of `left_out` on both sides, else of the probes.

        `subjects` has the subject of each probe, negative for a probe of no person.
        """
        self.options = options
        self.new_people = left_out is not None
        self.weights: np.ndarray | None = None
        if left_out is not None:
            no_person = np.zeros(left_out.people, dtype=bool)
            searching = SearchingPeople(left_out.person, no_person, both_sides=True)
            self.most = left_out.ranks
        elif subjects is not None:
            people, person = np.unique(subjects, return_inverse=True)
            searching = SearchingPeople(person.reshape(-1), people < 0, both_sides=False)
            self.most = np.iinfo(np.int64).max
            if options.resamples:
                self.weights = options.weights(len(people), searching.no_person)
        else:
            raise TypeError(f"{options.method} intervals need the subjects of the probes")
        self.people = searching.number
        mated = np.flatnonzero(searches.mates > 0)
        rows = searches.impostor_probes(searches.impostor_role(impostors))
        distances = searches.mate[mated], searches.other[rows]
        self._failed = any(bool(np.isnan(x).any()) for x in distances)
        probes, ranks, weights = searches.rank_weights(mated, ties)
        genuine = Hits(searching.person[probes], searches.mate[probes], ranks, weights)
        unit = np.ones(len(rows))
        impostor = Hits(searching.person[rows], searches.other[rows], unit, unit)
        if left_out is None:
            self.genuine = searching.attempted(genuine, mated)
            self.impostor = searching.attempted(impostor, rows)
            return
        moved = _moved_hits(searches, left_out, ties)
        self.genuine = searching.attempted(genuine, mated, moved=moved)
        nearest = left_out.nearest[rows]
        second = left_out.second[rows]
        is_only = np.isnan(second)  # without that subject there is nobody to be taken for
        # Without the nearest subject, the attempt moves to the second distance.
        closest = impostor._replace(person=nearest)
        further = Hits(nearest[~is_only], second[~is_only], unit[~is_only], -unit[~is_only])
        moved = Hits(*map(np.append, closest, further))
        # False accepts come in pairs: two people who are alike are taken for each other.
        self.impostor = searching.attempted(impostor, rows, 2, moved, nearest[is_only])

    @cached_property
    def grid(self) -> np.ndarray:
        """Increasing finite distances along the curves: all, or a selection where people are many.

        The distances depend on the scores alone.
        """
        distances = self.genuine.hits.distance, self.impostor.hits.distance
        grid = np.unique(np.concatenate(distances))
        columns = len(self.genuine.leaving) if self.weights is None else self.weights.shape[1]
        if len(grid) * columns > MOST_CELLS:
            grid = np.union1d(*map(grid_of, distances))
        return grid[np.isfinite(grid)]

    @cached_property
    def _every_score(self) -> bool:
        distances = np.append(self.genuine.hits.distance, self.impostor.hits.distance)
        return len(np.unique(distances[np.isfinite(distances)])) == len(self.grid)

    def _errors(self, rank: int) -> ErrorColumns:
        """Return FAR and 1 - DIR at a rank along the grid; equal rows once, of replicates."""
        if self.weights is not None and self._every_score and len(self.grid):
            far, far_row = self._far_by_row
            detected, row = self.genuine.by_row(self.grid, rank, self.weights)
            return ErrorsByRow(far, 1 - detected, self._failed, far_row=far_row, frr_row=row)
        missed = 1 - self.genuine.columns("distance", self.grid, rank, self.weights)
        return ErrorColumns(self._far, missed, self._failed)

    @cached_property
    def _far(self) -> np.ndarray:
        return self.impostor.columns("distance", self.grid, weights=self.weights)

    @cached_property
    def _far_by_row(self) -> tuple[np.ndarray, np.ndarray]:
        assert self.weights is not None
        return self.impostor.by_row(self.grid, None, self.weights)

    @cached_property
    def _far_limits(self) -> RateCurve:
        return self._rate_curve(self.impostor, self._far)

    def _rate_curve(
        self, attempts: Attempted, columns: np.ndarray, rates: np.ndarray | None = None
    ) -> RateCurve:
        if self.weights is not None:
            return RateCurve.from_replicates(
                columns, attempts.units, self.options.confidence, rates
            )
        attempts_made = float(attempts.made.sum())
        independent = attempts.units, attempts.sides, attempts.least
        return self.options.rate_curve(columns, attempts_made, *independent)

    def curve(self, rank: int = 1) -> CurveLimits:
        """Return FAR and 1 - DIR at a rank, along the grid, with their limits."""
        errors = self._errors(rank)
        return CurveLimits(
            errors,
            self._every_score,
            self._far_limits,
            self._rate_curve(self.genuine, errors.frr),
            self.options.confidence,
        )

    def hits_of_each(self, rank: int, far: float | None = None) -> np.ndarray:
        """Return the hits of each person up to a rank, (people,).

        With a `far`, those below the loosest threshold that has at most this FAR.
        """
        hits = self.genuine.hits.up_to_rank(rank)
        if far is not None:
            nearest = np.sort(self.impostor.hits.distance)
            fars = np.searchsorted(nearest, nearest, side="right") / max(len(nearest), 1)
            end = np.append(nearest, np.nan)[(fars <= far).sum()]  # the first that is too loose
            is_accepted = ~np.isnan(hits.distance) if np.isnan(end) else hits.distance < end
            hits = Hits(*(x[is_accepted] for x in hits))
        return np.bincount(hits.person, hits.weight, minlength=len(self.genuine.made))

    def cms(self, ranks: np.ndarray) -> np.ndarray:
        """Return CMS at increasing ranks, (ranks, columns); NaN at ranks that are not known."""
        rates = self.genuine.columns("rank", ranks.astype(np.float64), weights=self.weights)
        return np.where((ranks <= self.most)[:, None], rates, np.nan)

    @cached_property
    def _cms_limits(self) -> RateCurve:
        ranks = grid_of(self.genuine.hits.rank)
        return self._rate_curve(self.genuine, self.cms(ranks[ranks <= self.most]))

    def limits_at_ranks(self, ranks: np.ndarray, cms: np.ndarray) -> Limits:
        """Return the limits of CMS at ranks, whose values are given."""
        return self._cms_limits.limits_at(np.where(ranks <= self.most, cms, np.nan))

    @stage("intervals of the curves")
    def limits(self, dataset: xr.Dataset) -> dict[str, Limits]:
        """Return the limits of an open-set result, at the ranks that tables show."""
        limits = {x: np.full((2, *dataset[x].shape), np.nan) for x in ("dir", "dir_at_far")}
        eer: Limits = (np.array(np.nan), np.array(np.nan))
        far = dataset["far"].values
        targets = dataset["far_target"].values
        far_limits: Limits | None = None
        for rank in {*RANKS} & {*dataset["rank"].values[: self.most].tolist()}:
            missed = 1 - dataset["dir"].values[:, rank - 1]
            values = dataset["dir_at_far"].values[:, rank - 1]
            if self.weights is None:
                curve = self.curve(rank)
                errors = curve.curve
                of_missed = curve.frr
                at_targets = self.at_targets(curve, targets, values)[1]
            else:
                errors = self._errors(rank)
                of_missed = self._rate_curve(self.genuine, errors.frr, missed)
                columns = self._detected(errors, targets, values)
                at_targets = percentile(columns, self.options.confidence, self.genuine.units)
            highest, lowest = of_missed.limits_at(missed)
            limits["dir"][:, :, rank - 1] = 1 - lowest, 1 - highest
            limits["dir_at_far"][:, :, rank - 1] = at_targets
            if rank == 1 and len(self.grid):
                columns = moved_to(float(dataset["eer"]), errors.equal_error())
                if self.weights is None:
                    eer = curve.at_equal_error(columns)
                else:
                    units = min(self.genuine.units, self.impostor.units)
                    eer = percentile(columns, self.options.confidence, units)
                    far_limits = self._rate_curve(self.impostor, errors.far, far).limits_at(far)
        low, high = limits["dir"]
        return {
            "far": far_limits or self._far_limits.limits_at(far),
            "frr": (1 - high[:, 0], 1 - low[:, 0]),
            **{name: (low, high) for name, (low, high) in limits.items()},
            "eer": eer,
        }

    def _detected(
        self, errors: ErrorColumns, targets: np.ndarray, values: np.ndarray
    ) -> np.ndarray:
        """Return DIR at FAR targets in columns, whose values are given.

        Thresholds are chosen anew in each column.
        """
        missed = [errors.frr_at_far(float(x), self._every_score) for x in targets]
        return moved_to(values, 1 - np.reshape(missed, (len(targets), errors.far.shape[1])))

    def at_targets(
        self, curve: CurveLimits, targets: np.ndarray, values: np.ndarray
    ) -> tuple[np.ndarray, Limits]:
        """Return DIR at FAR targets in columns, whose values are given, and its limits.

        Thresholds are chosen anew in each column.
        """
        rates = curve.curve
        columns = self._detected(rates, targets, values)
        rows = (rates.far[:, :1] <= targets).sum(axis=0) - 1
        lowest, highest = curve.at_targets("far", 1 - columns, [*map(rates.at_row, rows)])
        return columns, (1 - highest, 1 - lowest)

    def messages(self, ranks: int) -> list[Message]:
        """Return messages of intervals not given, or not reliable."""
        if self.new_people and self.people < FEWEST:
            reason = f"{counted(self.people, 'subjects')}, and at least {FEWEST} are needed"
            return [Message("no-interval", of="rates for new people", why=reason)]
        remarks = [] if self.new_people else self.options.groups(self.people)
        remarks += self.options.few_people(self.people)
        if self.most < ranks:
            ranks_above = f"ranks above {self.most:,}"
            remarks.append(Message("no-interval", of=ranks_above, why="it needs more memory"))
        return remarks


def _moved_hits(searches: Searches, left_out: LeftOut, ties: Ties) -> Hits:
    """Return hits that move when another subject leaves the gallery, by the subject left out.

    A hit is missing at its rank among all subjects; its better rank without the subject is a gain,
    of negative weight.
    """
    probe = left_out.probe
    subject = left_out.subject
    facts = (searches.closer, searches.tied, searches.tied_before)
    fewer = (left_out.closer, left_out.tied, left_out.before)
    # Of each pair of a probe and a subject: candidates beside the best mate, with the subject and
    # without.
    counts = [x[probe] for x in facts]
    counts_without = [x - y for x, y in zip(counts, fewer, strict=True)]
    moved = []
    for sign, (closer, tied, before) in ((1.0, counts), (-1.0, counts_without)):
        index, rank, weight = place_weights(closer, tied, before, searches.mates_tied[probe], ties)
        mate = searches.mate[probe[index]]
        is_found = ~np.isnan(mate)  # a mate that failed is at no rank
        hits = (subject[index], mate, rank, sign * weight)
        moved.append(tuple(x[is_found] for x in hits))
    return Hits(*map(np.append, *moved))


def closed_set_intervals(
    dataset: xr.Dataset,
    searches: Searches,
    subjects: np.ndarray | None,
    options: IntervalMethod,
    left_out: LeftOut | None = None,
) -> xr.Dataset:
    """Return a result of closed-set identification with confidence intervals.

    `subjects` is the subject of each probe; None for methods that do not need it. With `left_out`,
    intervals by subject are for new people; otherwise the gallery is fixed.
    """
    count = dataset.sizes["rank"]
    options = _of_population(options, left_out)
    if options.by_subject:
        ties: Ties = dataset.attrs["ties"]
        columns = SearchColumns(searches, ties, options, subjects=subjects, left_out=left_out)
        low, high = columns.limits_at_ranks(dataset["rank"].values, dataset["cms"].values)
        remarks = columns.messages(count)
    else:
        attempts = int(dataset["attempts"])
        low, high = options.independent_limits(dataset["cms_count"].values, attempts)
        remarks = [options.independence("probes")]
    limits = {"cms": (low, high), "recognition_rate": (low[0], high[0])}
    return options.added_to(dataset, limits, CLOSED_SET, remarks)


def open_set_intervals(
    dataset: xr.Dataset,
    searches: Searches,
    subjects: np.ndarray | None,
    options: IntervalMethod,
    left_out: LeftOut | None = None,
) -> xr.Dataset:
    """Return a result of open-set identification with confidence intervals.

    Intervals by subject over ranks are at :data:`RANKS`, and NaN at other ranks. `subjects` and
    `left_out` are as for :func:`closed_set_intervals`.
    """
    options = _of_population(options, left_out)
    if options.by_subject:
        ties: Ties = dataset.attrs["ties"]
        impostors: ImpostorProbes = dataset.attrs["impostors"]
        columns = SearchColumns(
            searches, ties, options, impostors, subjects=subjects, left_out=left_out
        )
        limits = columns.limits(dataset)
        remarks = columns.messages(min(max(RANKS), dataset.sizes["rank"]))
        limits["dir_at_far"], unsupported = open_at_targets(
            limits["dir_at_far"],
            "lower",
            dataset["far_target"].values,
            int(dataset["impostor_attempts"]),
            searching_people(searches.about, impostors),
            rate="dir",
            task="identification",
        )
        remarks += unsupported
    else:
        genuine, impostor = int(dataset["genuine_attempts"]), int(dataset["impostor_attempts"])

        def of_genuine(name: str) -> Limits:
            return options.independent_limits(dataset[name].values * genuine, genuine)

        low, high = of_genuine("dir")
        limits = {
            "dir": (low, high),
            "frr": (1 - high[:, 0], 1 - low[:, 0]),
            "far": options.independent_limits(dataset["fa"].values, impostor),
            "dir_at_far": of_genuine("dir_at_far"),
        }
        remarks = [options.independence("probes")]
    limits["grr"] = 1 - limits["far"][1], 1 - limits["far"][0]
    return options.added_to(dataset, limits, OPEN_SET, remarks)


def _of_population(options: IntervalMethod, left_out: LeftOut | None) -> IntervalMethod:
    return options.for_this_gallery if left_out is None else options.for_new_people
