"""Confidence intervals of identification: for new people, or other probes in the same gallery.

If each person is both probe and gallery, intervals are for new people: every person is left out in
turn, on both sides. The rates of the other people, in a gallery of one person less, follow from one
pass over the scores. If the gallery has other templates, only the people who search are left out.
Only people who search are drawn again, for the same gallery: copies of a person in the gallery
would find each other.
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
from bioeval.results.support import independent_trials, searching_people
from bioeval.results.variables import CLOSED_SET, OPEN_SET, RANKS
from bioeval.stats.curve_limits import CurveLimits, grid_of, open_at_targets
from bioeval.stats.error_curves import ErrorColumns, ErrorsByRow, corrected_to
from bioeval.stats.limits import Limits, RateCurve, percentile
from bioeval.stats.options import IntervalMethod
from bioeval.stats.people import by_subject, linear_forms, ratio
from bioeval.stats.weights import groups_of_people, kish, without_each

#: The fewest people: without one of them, the others must be a gallery.
FEWEST = 3

#: The most rates, by distance and person or replicate, that are in memory: enough for about 4,000
#: searches of 1,000 people.
MOST_CELLS = 1 << 23


class Hits(NamedTuple):
    """Hits, or impostor attempts; all arrays are (hits,)."""

    person: np.ndarray  # index of the person who searches
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
        return np.cumsum(self.between_points(along, grid, people), axis=0)

    def between_points(
        self, along: Literal["distance", "rank"], grid: np.ndarray, people: int
    ) -> np.ndarray:
        """Return the hits of each person between points of an increasing grid, (points, people)."""
        place = getattr(self, along)
        return by_subject(place, self.person, grid, people, self.weight)[:-1]


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

    def columns(
        self,
        along: Literal["distance", "rank"],
        grid: np.ndarray,
        rank: int | None = None,
        weights: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the rate of hits up to each point: (points, 1 + people), or (points, weights)."""
        hits = self.hits
        losses = self.losses
        if rank is not None:
            hits = hits.up_to_rank(rank)
            losses = losses.up_to_rank(rank)
        if weights is not None:
            # (points, columns): hits of people drawn again, between points and then up to them.
            drawn = linear_forms(
                hits.between_points(along, grid, len(self.attempts_of_each)), weights
            )
            np.cumsum(drawn, axis=0, out=drawn)
            rates = ratio(drawn, linear_forms(self.attempts_of_each[None], weights))
        else:
            # Jackknife: the hits of all, (points,), and without each person, (points, people).
            everyone = hits._replace(person=np.zeros_like(hits.person))
            total = everyone.by_person(along, grid, 1)[:, 0]
            lost = losses.by_person(along, grid, len(self.attempts_lost))
            rates = ratio(
                without_each(lost, total),
                without_each(self.attempts_lost, np.array(self.attempts_of_each.sum())),
            )
        # Fractional weights of expected ties may exceed 1 by rounding.
        return np.where(rates > 1 - 1e-12, np.minimum(rates, 1.0), rates)

    def by_row(
        self, grid: np.ndarray, rank: int | None, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rates of hits at weights, (rows, columns), and the row of each grid point.

        The grid has all distances. The rates are (rows, columns); the second array has the row of
        each point of the grid.
        """
        hits = self.hits if rank is None else self.hits.up_to_rank(rank)
        order = np.argsort(hits.distance)
        order = order[: np.count_nonzero(~np.isnan(hits.distance))]
        distance = hits.distance[order]
        weight = hits.weight[order]
        attempts = linear_forms(self.attempts_of_each[None], weights)
        is_whole = bool((weight == 1).all())
        is_exact = is_whole and attempts.max(initial=0) < 1 << 24  # float32 counts exactly
        # (1 + hits, columns): hits up to each distance, none in the first row.
        sums = np.zeros((1 + len(order), weights.shape[1]), np.float32 if is_exact else np.float64)
        sums[1:] = weights[hits.person[order]]
        if not is_exact:
            sums[1:] *= weight[:, None]
        np.cumsum(sums, axis=0, out=sums)
        # Points of the grid with equal numbers of hits share a row.
        hits_up_to = distance.searchsorted(grid, side="right")
        rows, row = np.unique(hits_up_to, return_inverse=True)
        rates = ratio(sums if len(rows) == len(sums) else sums[rows], attempts)
        if not is_exact:
            rates = np.where(rates > 1 - 1e-12, np.minimum(rates, 1.0), rates)
        return rates, row


@dataclass(frozen=True, eq=False)
class SearchingPeople:
    """The people who search, and the groups in which they are left out.

    - `person` (int64 (m,)): the index of each probe's person
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

    def attempted(
        self,
        hits: Hits,
        probes: np.ndarray,
        moved: Hits | None = None,
        impossible_without: np.ndarray | None = None,
    ) -> AttemptsOfPeople:
        """Return the attempts of probes.

        Leaving out a person removes the person's own attempts. On both sides, attempts of other
        people change as well: `moved` has the hits lost by leaving a person out, and with negative
        weight the hits gained. `impossible_without` is given where a second person takes part in
        each attempt, and has that person for each attempt that nobody else could take part in.
        """
        groups = len(self.no_person)
        group = np.arange(groups)
        fewest = FEWEST
        if not self.both_sides:
            group, groups = groups_of_people(self.no_person)
            fewest = 2
        sides = 1 if impossible_without is None else 2
        attempts_of_each = np.bincount(self.person[probes], minlength=len(self.no_person))
        losses = hits._replace(person=group[hits.person])
        if moved is not None:
            losses = Hits(*map(np.append, losses, moved))
        is_of_person = losses.person < groups  # distractors have the number after the last group
        lost_with = group[self.person[probes]]
        if impossible_without is not None:
            lost_with = np.append(lost_with, impossible_without)
        independent = 0.0
        if self.number >= fewest:
            independent = kish(attempts_of_each[~self.no_person])
        return AttemptsOfPeople(
            hits,
            attempts_of_each,
            losses=Hits(*(x[is_of_person] for x in losses)),
            attempts_lost=np.bincount(lost_with, minlength=groups + 1)[:groups],
            units=independent / sides,
            sides=sides,
            fewest_units=independent / 2 if self.both_sides else independent,
        )


class SearchHits(NamedTuple):
    """Hits of mated and of non-mated searches, and the rows of their probes."""

    mated: np.ndarray
    genuine: Hits
    non_mated: np.ndarray
    impostor: Hits

    @classmethod
    def from_searches(
        cls, searches: Searches, ties: Ties, impostors: ImpostorProbes, person: np.ndarray
    ) -> SearchHits:
        """Return the hits of searches, whose probes are of the people `person`."""
        mated = np.flatnonzero(searches.mates > 0)
        non_mated = searches.impostor_probes(searches.impostor_role(impostors))
        probes, ranks, weights = searches.rank_weights(mated, ties)
        unit = np.ones(len(non_mated))
        return cls(
            mated,
            Hits(person[probes], searches.mate[probes], ranks, weights),
            non_mated,
            Hits(person[non_mated], searches.other[non_mated], unit, unit),
        )


@dataclass(eq=False)
class SearchColumns:
    """Rates of identification in columns: of all people, then without each person or resampled."""

    options: IntervalMethod
    genuine: AttemptsOfPeople
    impostor: AttemptsOfPeople
    people: int  # number of people who can be left out
    new_people: bool  # whether a person leaves the gallery, too
    has_failed: bool  # whether the comparison of a search failed, so that its distance is NaN
    highest_rank: int  # the last rank whose changes are known
    weights: np.ndarray | None = None  # (people, 1 + replicates); None for the jackknife

    @classmethod
    def for_new_people(
        cls,
        searches: Searches,
        ties: Ties,
        options: IntervalMethod,
        impostors: ImpostorProbes = "auto",
        *,
        left_out: LeftOut,
    ) -> SearchColumns:
        """Return the rates without each person of `left_out`, as a probe and in the gallery."""
        no_person = np.zeros(left_out.people, dtype=bool)
        searching = SearchingPeople(left_out.person, no_person, both_sides=True)
        hits = SearchHits.from_searches(searches, ties, impostors, searching.person)
        moved_hits = _moved_hits(searches, left_out, ties)
        false_accepts, impossible_without = _moved_impostors(
            hits.impostor, left_out.nearest[hits.non_mated], left_out.second[hits.non_mated]
        )
        return cls(
            options,
            searching.attempted(hits.genuine, hits.mated, moved_hits),
            searching.attempted(hits.impostor, hits.non_mated, false_accepts, impossible_without),
            people=searching.number,
            new_people=True,
            has_failed=_has_failed(searches, hits),
            highest_rank=left_out.ranks,
        )

    @classmethod
    def for_probes(
        cls,
        searches: Searches,
        ties: Ties,
        options: IntervalMethod,
        impostors: ImpostorProbes = "auto",
        *,
        subjects: np.ndarray | None,
    ) -> SearchColumns:
        """Return the rates without the probes of each person, in the same gallery, or resampled.

        `subjects` has the subject of each probe, negative for a probe of no person.
        """
        if subjects is None:
            raise TypeError(f"{options.method} intervals need the subjects of the probes")
        people, person = np.unique(subjects, return_inverse=True)
        searching = SearchingPeople(person.reshape(-1), people < 0, both_sides=False)
        hits = SearchHits.from_searches(searches, ties, impostors, searching.person)
        weights = None
        if options.resamples:
            weights = options.weights(len(people), searching.no_person)
        return cls(
            options,
            searching.attempted(hits.genuine, hits.mated),
            searching.attempted(hits.impostor, hits.non_mated),
            people=searching.number,
            new_people=False,
            has_failed=_has_failed(searches, hits),
            highest_rank=np.iinfo(np.int64).max,
            weights=weights,
        )

    @cached_property
    def grid(self) -> np.ndarray:
        """Increasing finite distances along the curves: all, or a selection if people are many."""
        distances = self.genuine.hits.distance, self.impostor.hits.distance
        grid = np.unique(np.concatenate(distances))
        columns = len(self.genuine.attempts_lost) if self.weights is None else self.weights.shape[1]
        if len(grid) * columns > MOST_CELLS:
            grid = np.union1d(*map(grid_of, distances))
        return grid[np.isfinite(grid)]

    @cached_property
    def _every_score(self) -> bool:
        distances = np.append(self.genuine.hits.distance, self.impostor.hits.distance)
        return len(np.unique(distances[np.isfinite(distances)])) == len(self.grid)

    def _errors(self, rank: int) -> ErrorColumns:
        """Return FAR and 1 - DIR at a rank along the grid; replicates store equal rows once."""
        if self.weights is not None and self._every_score and len(self.grid):
            far, far_row = self._far_by_row
            detected, row = self.genuine.by_row(self.grid, rank, self.weights)
            return ErrorsByRow(far, 1 - detected, self.has_failed, far_row=far_row, frr_row=row)
        missed = 1 - self.genuine.columns("distance", self.grid, rank, self.weights)
        return ErrorColumns(self._far, missed, self.has_failed)

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
        self, attempts: AttemptsOfPeople, columns: np.ndarray, rates: np.ndarray | None = None
    ) -> RateCurve:
        if self.weights is not None:
            return RateCurve.from_replicates(
                columns, attempts.units, self.options.confidence, rates
            )
        number = float(attempts.attempts_of_each.sum())
        independent = attempts.units, attempts.sides, attempts.fewest_units
        return self.options.rate_curve(columns, number, *independent)

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
        """Return the number of hits of each person up to a rank, (people,).

        With a `far`, hits count up to the loosest threshold that has at most this FAR.
        """
        hits = self.genuine.hits.up_to_rank(rank)
        if far is not None:
            nearest = np.sort(self.impostor.hits.distance)
            fars = np.searchsorted(nearest, nearest, side="right") / max(len(nearest), 1)
            end = np.append(nearest, np.nan)[(fars <= far).sum()]  # the first threshold too loose
            is_accepted = ~np.isnan(hits.distance) if np.isnan(end) else hits.distance < end
            hits = Hits(*(x[is_accepted] for x in hits))
        return np.bincount(hits.person, hits.weight, minlength=len(self.genuine.attempts_of_each))

    def cms(self, ranks: np.ndarray) -> np.ndarray:
        """Return CMS at increasing ranks, (ranks, columns); NaN at ranks whose CMS is unknown."""
        rates = self.genuine.columns("rank", ranks.astype(np.float64), weights=self.weights)
        return np.where((ranks <= self.highest_rank)[:, None], rates, np.nan)

    @cached_property
    def _cms_limits(self) -> RateCurve:
        ranks = grid_of(self.genuine.hits.rank)
        return self._rate_curve(self.genuine, self.cms(ranks[ranks <= self.highest_rank]))

    def limits_at_ranks(self, ranks: np.ndarray, cms: np.ndarray) -> Limits:
        """Return the limits of CMS at ranks, whose values are given."""
        return self._cms_limits.limits_at(np.where(ranks <= self.highest_rank, cms, np.nan))

    @stage("intervals of the curves")
    def limits(self, dataset: xr.Dataset) -> dict[str, Limits]:
        """Return the limits of an open-set result, at the ranks that tables show."""
        limits_at = self._jackknife_limits if self.weights is None else self._replicate_limits
        by_rank = {x: np.full((2, *dataset[x].shape), np.nan) for x in ("dir", "dir_at_far")}
        further: dict[str, Limits] = {}
        for rank in {*RANKS} & {*dataset["rank"].values[: self.highest_rank].tolist()}:
            limits = limits_at(rank, dataset)
            for name, array in by_rank.items():
                array[:, :, rank - 1] = limits.pop(name)
            further |= limits
        low, high = by_rank["dir"]
        return {
            "far": further.get("far") or self._far_limits.limits_at(dataset["far"].values),
            "frr": _complement((low[:, 0], high[:, 0])),
            **{name: (low, high) for name, (low, high) in by_rank.items()},
            "eer": further.get("eer", (np.array(np.nan), np.array(np.nan))),
        }

    def _jackknife_limits(self, rank: int, dataset: xr.Dataset) -> dict[str, Limits]:
        """Return the limits of DIR along the curve and at FAR targets; at rank 1 also of the EER.

        `dataset` has the result at all ranks.
        """
        curve = self.curve(rank)
        targets = dataset["far_target"].values
        limits = {
            "dir": _complement(curve.frr.limits_at(1 - dataset["dir"].values[:, rank - 1])),
            "dir_at_far": self.at_targets(
                curve, targets, dataset["dir_at_far"].values[:, rank - 1]
            )[1],
        }
        if rank == 1 and len(self.grid):
            eers = corrected_to(float(dataset["eer"]), curve.curve.equal_error())
            limits["eer"] = curve.at_equal_error(eers)
        return limits

    def _replicate_limits(self, rank: int, dataset: xr.Dataset) -> dict[str, Limits]:
        """Return the limits of :meth:`_jackknife_limits` by replicates; at rank 1 also of FAR."""
        errors = self._errors(rank)
        missed = 1 - dataset["dir"].values[:, rank - 1]
        of_missed = self._rate_curve(self.genuine, errors.frr, missed)
        targets = dataset["far_target"].values
        detected = self._dir_at_targets(errors, targets, dataset["dir_at_far"].values[:, rank - 1])
        confidence = self.options.confidence
        limits = {
            "dir": _complement(of_missed.limits_at(missed)),
            "dir_at_far": percentile(detected, confidence, self.genuine.units),
        }
        if rank == 1 and len(self.grid):
            eers = corrected_to(float(dataset["eer"]), errors.equal_error())
            units = min(self.genuine.units, self.impostor.units)
            far = dataset["far"].values
            limits["eer"] = percentile(eers, confidence, units)
            limits["far"] = self._rate_curve(self.impostor, errors.far, far).limits_at(far)
        return limits

    def _dir_at_targets(
        self, errors: ErrorColumns, targets: np.ndarray, values: np.ndarray
    ) -> np.ndarray:
        """Return DIR at FAR targets, (targets, columns), with a threshold chosen in each column.

        `values` (targets,) are the exact values of the first column.
        """
        missed = [errors.frr_at_far(float(x), self._every_score) for x in targets]
        return corrected_to(values, 1 - np.reshape(missed, (len(targets), errors.far.shape[1])))

    def at_targets(
        self, curve: CurveLimits, targets: np.ndarray, values: np.ndarray
    ) -> tuple[np.ndarray, Limits]:
        """Return DIR at FAR targets, (targets, columns), and its limits.

        `values` (targets,) are the exact values of the first column.
        """
        rates = curve.curve
        columns = self._dir_at_targets(rates, targets, values)
        rows = (rates.far[:, :1] <= targets).sum(axis=0) - 1
        limits = curve.at_targets("far", 1 - columns, [*map(rates.at_row, rows)])
        return columns, _complement(limits)

    def messages(self, ranks: int) -> list[Message]:
        """Return messages on intervals that are missing or not reliable."""
        if self.new_people and self.people < FEWEST:
            reason = f"{counted(self.people, 'subjects')}, and at least {FEWEST} are needed"
            return [Message("no-interval", of="rates for new people", why=reason)]
        remarks = [] if self.new_people else self.options.groups(self.people)
        remarks += self.options.few_people(self.people)
        if self.highest_rank < ranks:
            ranks_above = f"ranks above {self.highest_rank:,}"
            remarks.append(Message("no-interval", of=ranks_above, why="it needs more memory"))
        return remarks


def _complement(limits: Limits) -> Limits:
    low, high = limits
    return 1 - high, 1 - low


def _has_failed(searches: Searches, hits: SearchHits) -> bool:
    distances = searches.mate[hits.mated], hits.impostor.distance
    return any(bool(np.isnan(x).any()) for x in distances)


def _moved_impostors(
    impostor: Hits, nearest: np.ndarray, second: np.ndarray
) -> tuple[Hits, np.ndarray]:
    """Return false accepts that move when another subject leaves the gallery, by that subject.

    `nearest` has the subject at the distance of each attempt, and `second` the distance of the next
    subject. Where a probe is at 0.1 from subject 7 and at 0.4 from subject 3, its false accept at
    0.1 is lost without subject 7 and gained at 0.4. With subject 7 alone in the gallery, `second`
    is NaN: without this subject there is no attempt, and 7 is in the second array returned.
    """
    is_only = np.isnan(second)
    lost = impostor._replace(person=nearest)
    unit = np.ones(int((~is_only).sum()))
    gained = Hits(nearest[~is_only], second[~is_only], unit, -unit)
    return Hits(*map(np.append, lost, gained)), nearest[is_only]


def _moved_hits(searches: Searches, left_out: LeftOut, ties: Ties) -> Hits:
    """Return hits whose rank changes if another subject is left out, by this subject's index.

    A hit is lost at its rank among all subjects, and gained at its better rank without the subject,
    with negative weight.
    """
    probe = left_out.probe
    subject = left_out.subject
    facts = (searches.closer, searches.tied, searches.tied_before)
    fewer = (left_out.closer, left_out.tied, left_out.before)
    # Candidates beside the best mate for each pair of a probe and a subject, first with the subject
    # in the gallery, then without.
    counts = [x[probe] for x in facts]
    counts_without = [x - y for x, y in zip(counts, fewer, strict=True)]
    moved = []
    for sign, (closer, tied, before) in ((1.0, counts), (-1.0, counts_without)):
        index, rank, weight = place_weights(closer, tied, before, searches.mates_tied[probe], ties)
        mate = searches.mate[probe[index]]
        is_found = ~np.isnan(mate)  # a mate that failed has no rank
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

    `subjects` has the subject of each probe, or is None for methods that do not use it. With
    `left_out`, intervals by subject are for new people; otherwise the gallery is fixed.
    """
    count = dataset.sizes["rank"]
    options = _of_population(options, left_out)
    if options.by_subject:
        ties: Ties = dataset.attrs["ties"]
        columns = _columns(searches, ties, options, "auto", subjects, left_out)
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

    Intervals by subject over ranks are computed at :data:`RANKS`, and NaN at other ranks.
    `subjects` and `left_out` are as for :func:`closed_set_intervals`.
    """
    options = _of_population(options, left_out)
    if options.by_subject:
        ties: Ties = dataset.attrs["ties"]
        impostors: ImpostorProbes = dataset.attrs["impostors"]
        columns = _columns(searches, ties, options, impostors, subjects, left_out)
        limits = columns.limits(dataset)
        remarks = columns.messages(min(max(RANKS), dataset.sizes["rank"]))
        limits["dir_at_far"], unsupported = open_at_targets(
            limits["dir_at_far"],
            "lower",
            dataset["far_target"].values,
            independent_trials(
                int(dataset["impostor_attempts"]), searching_people(searches.about, impostors)
            ),
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


def _columns(
    searches: Searches,
    ties: Ties,
    options: IntervalMethod,
    impostors: ImpostorProbes,
    subjects: np.ndarray | None,
    left_out: LeftOut | None,
) -> SearchColumns:
    if left_out is not None:
        return SearchColumns.for_new_people(searches, ties, options, impostors, left_out=left_out)
    return SearchColumns.for_probes(searches, ties, options, impostors, subjects=subjects)


def _of_population(options: IntervalMethod, left_out: LeftOut | None) -> IntervalMethod:
    return options.for_this_gallery if left_out is None else options.for_new_people
