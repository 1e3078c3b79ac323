"""Rates of identification in columns, without each person or with people drawn again.

If each person is both probe and gallery, every person is left out in turn, on both sides. The rates
of the other people, in a gallery of one person less, follow from one pass over the scores. If the
gallery has other templates, only the people who search are left out.

Of three people, with the best mates of A and B at rank 1 and that of C at rank 2, behind a template
of A, the CMS at rank 1 is in columns::

    all   without A   without B   without C
    2/3         2/2         1/2         2/2    (without A, C is at rank 1, too)

:func:`search_intervals` makes limits of such columns. :class:`SearchColumns` makes the columns of a
rate from the hits of each person, and those lost without each (:class:`AttemptsOfPeople`). In
:class:`DrawnSearchColumns`, people are drawn again.

A mated search has a hit at the distance and the rank of its mate, and a search without a mate is an
impostor attempt, with a hit at the nearest distance. In the example, hits are lost and gained::

    search   hit at    lost without A             without B   without C
    of A     rank 1    rank 1
    of B     rank 1                               rank 1
    of C     rank 2    rank 2 (rank 1 is gained)              rank 2

A gained hit is a lost one with the weight -1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import xarray as xr

from bioeval.base.errors import Message, counted
from bioeval.base.progress import stage
from bioeval.counting.operating_points import Attempts
from bioeval.counting.searches import Searches
from bioeval.counting.searches_without import LeftOut
from bioeval.counting.ties import place_weights
from bioeval.protocol.tasks import ImpostorProbes, Ties
from bioeval.results.support import independent_trials, searching_people
from bioeval.results.variables import CLOSED_SET, OPEN_SET, RANKS
from bioeval.stats.curve_limits import CurveLimits, open_at_targets
from bioeval.stats.curve_thresholds import grid_of
from bioeval.stats.error_curves import ErrorColumns, ErrorColumnsByRow, corrected_to
from bioeval.stats.jackknife import Limits, percentile
from bioeval.stats.options import IntervalMethod
from bioeval.stats.rate_limits import RateCurve, Sample
from bioeval.stats.weighted_sums import (
    by_subject,
    groups_of_people,
    kish,
    linear_forms,
    rates_without_each,
    ratio,
)

#: The most rates, by distance and person or replicate, that are in memory: enough for about 4,000
#: searches of 1,000 people.
MOST_CELLS = 1 << 23


_UNKNOWN: Limits = (np.array(np.nan), np.array(np.nan))


def search_intervals(
    dataset: xr.Dataset,
    searches: Searches,
    subjects: np.ndarray | None,
    options: IntervalMethod,
    left_out: LeftOut | None = None,
) -> xr.Dataset:
    """Return a result of closed-set or open-set identification with confidence intervals.

    `subjects` has the subject of each probe, or is None for methods that do not use it. With
    `left_out`, intervals by subject are for new people; otherwise the gallery is fixed. In the open
    set, intervals by subject over ranks are computed at :data:`RANKS`, and NaN at other ranks.
    """
    options = options.for_this_gallery if left_out is None else options.for_new_people
    if not options.by_subject:
        limits = _independent_limits(dataset, options)
        remarks = [options.independence("probes")]
    else:
        ties: Ties = dataset.attrs["ties"]
        impostors: ImpostorProbes = dataset.attrs.get("impostors", "auto")
        columns_of = DrawnSearchColumns if options.resamples else SearchColumns
        columns = columns_of(searches, ties, options, impostors, subjects, left_out)
        if "cms" in dataset:
            low, high = columns.limits_at_ranks(dataset["rank"].values, dataset["cms"].values)
            limits = {"cms": (low, high), "recognition_rate": (low[0], high[0])}
            remarks = columns.messages(dataset.sizes["rank"])
        else:
            limits = columns.limits(dataset)
            people = searching_people(searches.about, dataset.attrs["impostors"])
            limits["dir_at_far"], unsupported = open_at_targets(
                limits["dir_at_far"],
                "lower",
                dataset["far_target"].values,
                independent_trials(int(dataset["impostor_attempts"]), people),
                rate="dir",
                task="identification",
            )
            remarks = columns.messages(min(max(RANKS), dataset.sizes["rank"])) + unsupported
    if "cms" in dataset:
        return options.added_to(dataset, limits, CLOSED_SET, remarks)
    limits["grr"] = _complement(limits["far"])
    return options.added_to(dataset, limits, OPEN_SET, remarks)


def _independent_limits(dataset: xr.Dataset, options: IntervalMethod) -> dict[str, Limits]:
    """Return the limits of rates of a result as if all searches were independent."""
    if "cms" in dataset:
        attempts = int(dataset["attempts"])
        low, high = options.independent_limits(dataset["cms_count"].values, attempts)
        return {"cms": (low, high), "recognition_rate": (low[0], high[0])}
    genuine, impostor = int(dataset["genuine_attempts"]), int(dataset["impostor_attempts"])
    low, high = options.independent_limits(dataset["dir"].values * genuine, genuine)
    detected_at_far = dataset["dir_at_far"].values * genuine
    return {
        "dir": (low, high),
        "frr": (1 - high[:, 0], 1 - low[:, 0]),
        "far": options.independent_limits(dataset["fa"].values, impostor),
        "dir_at_far": options.independent_limits(detected_at_far, genuine),
    }


def _complement(limits: Limits) -> Limits:
    low, high = limits
    return 1 - high, 1 - low


class SearchColumns:
    """Rates of identification in columns: of all people, then without each person.

    - `genuine`, `impostor`: the attempts, and those that are missing without each person
    - `people`: the number of people who can be left out
    - `new_people`: whether a person leaves the gallery, too
    - `highest_rank`: the last rank whose changes are known
    """

    def __init__(
        self,
        searches: Searches,
        ties: Ties,
        options: IntervalMethod,
        impostors: ImpostorProbes,
        subjects: np.ndarray | None,
        left_out: LeftOut | None,
    ):
        """Leave out each person of `left_out`, as a probe and in the gallery.

        Without `left_out`, the gallery stays, and people are left out as probes; `subjects` has the
        subject of each probe, negative for a probe of no person.
        """
        self.options = options
        self.new_people = left_out is not None
        self.highest_rank = np.iinfo(np.int64).max if left_out is None else left_out.ranks
        if left_out is not None:
            people = PeopleLeftOut.as_new_people(left_out)
        elif subjects is not None:
            people = PeopleLeftOut.as_probes(subjects)
        else:
            raise TypeError(f"{options.method} intervals need the subjects of the probes")
        self._is_person = people.is_person
        self.people = int(people.is_person.sum())

        mated = np.flatnonzero(searches.mates > 0)
        probe, rank, weight = searches.rank_weights(mated, ties)
        hits = Hits(people.of_probe[probe], searches.mate[probe], rank, weight)
        non_mated = searches.impostor_probes(searches.impostor_role(impostors))
        # An impostor attempt has no rank: at rank 1, it counts at every rank.
        unit = np.ones(len(non_mated))
        accepts = Hits(people.of_probe[non_mated], searches.other[non_mated], unit, unit)
        if left_out is None:
            self.genuine = people.attempts(mated, hits)
            self.impostor = people.attempts(non_mated, accepts)
        else:
            self.genuine = people.attempts(mated, hits, rank_changes(searches, left_out, ties))
            changes, only_other = accept_changes(accepts, non_mated, left_out)
            self.impostor = people.attempts(non_mated, accepts, changes, only_other)
        distances = searches.mate[mated], accepts.distance
        # Whether the comparison of a search failed, so that its distance is NaN.
        self._has_failed = any(bool(np.isnan(x).any()) for x in distances)

    def _rates(self, attempts: AttemptsOfPeople, along: Axis, grid: np.ndarray) -> np.ndarray:
        """Return the rate of hits up to each point, (points, columns)."""
        return attempts.rates_without_each(along, grid)

    @property
    def _columns(self) -> int:
        """The number of columns of a rate, without the first one."""
        return len(self.genuine.attempts_lost)

    @cached_property
    def grid(self) -> np.ndarray:
        """Increasing finite distances along the curves: all, or a selection if people are many."""
        distances = self.genuine.hits.distance, self.impostor.hits.distance
        grid = np.unique(np.concatenate(distances))
        if len(grid) * self._columns > MOST_CELLS:
            grid = np.union1d(*map(grid_of, distances))
        return grid[np.isfinite(grid)]

    @cached_property
    def _every_score(self) -> bool:
        distances = np.append(self.genuine.hits.distance, self.impostor.hits.distance)
        return len(np.unique(distances[np.isfinite(distances)])) == len(self.grid)

    @cached_property
    def _far(self) -> np.ndarray:
        return self._rates(self.impostor, "distance", self.grid)

    def errors(self, rank: int) -> ErrorColumns:
        """Return FAR and 1 - DIR at a rank along the grid."""
        detected = self._rates(self.genuine.up_to_rank(rank), "distance", self.grid)
        return ErrorColumns(self._far, 1 - detected, self._has_failed)

    @cached_property
    def _far_limits(self) -> RateCurve:
        return self.options.rate_curve(self._far, self.impostor.sample)

    def curve(self, rank: int = 1) -> CurveLimits:
        """Return FAR and 1 - DIR at a rank, along the grid, with their limits."""
        errors = self.errors(rank)
        frr_limits = self.options.rate_curve(errors.frr, self.genuine.sample)
        confidence = self.options.confidence
        return CurveLimits(errors, self._every_score, self._far_limits, frr_limits, confidence)

    def hits_of_each(self, rank: int, far: float | None = None) -> np.ndarray:
        """Return the number of hits of each person up to a rank, (people,).

        With a `far`, hits count up to the loosest threshold that has at most this FAR.
        """
        hits = self.genuine.hits.up_to_rank(rank)
        if far is not None:
            attempts = Attempts.from_scores(hits.distance, self.impostor.hits.distance)
            too_loose = attempts.points.far_limits(np.array([far]))[0, 0]  # NaN if no score is
            is_accepted = hits.distance < too_loose
            hits = hits.select(~np.isnan(hits.distance) if np.isnan(too_loose) else is_accepted)
        return np.bincount(hits.person, hits.weight, minlength=len(self.genuine.attempts_of_each))

    def cms(self, ranks: np.ndarray) -> np.ndarray:
        """Return CMS at increasing ranks, (ranks, columns); NaN at ranks whose CMS is unknown."""
        rates = self._rates(self.genuine, "rank", ranks.astype(np.float64))
        return np.where((ranks <= self.highest_rank)[:, None], rates, np.nan)

    @cached_property
    def _cms_limits(self) -> RateCurve:
        ranks = grid_of(self.genuine.hits.rank)
        columns = self.cms(ranks[ranks <= self.highest_rank])
        return self.options.rate_curve(columns, self.genuine.sample)

    def limits_at_ranks(self, ranks: np.ndarray, cms: np.ndarray) -> Limits:
        """Return the limits of CMS at ranks, whose values are given."""
        return self._cms_limits.limits_at(np.where(ranks <= self.highest_rank, cms, np.nan))

    @stage("intervals of the curves")
    def limits(self, dataset: xr.Dataset) -> dict[str, Limits]:
        """Return the limits of an open-set result, at the ranks that tables show."""
        # (2, thresholds, ranks) and (2, targets, ranks): low and high limits.
        dir_limits = np.full((2, *dataset["dir"].shape), np.nan)
        at_far_limits = np.full((2, *dataset["dir_at_far"].shape), np.nan)
        eer_limits = _UNKNOWN
        for rank in dataset["rank"].values[: self.highest_rank].tolist():
            if rank not in RANKS:
                continue
            limits = self._limits_of_rank(rank, dataset)
            dir_limits[:, :, rank - 1], at_far_limits[:, :, rank - 1], of_eer = limits
            if rank == 1:
                eer_limits = of_eer
        return {
            "far": self._limits_of_far(dataset["far"].values),
            "frr": _complement((dir_limits[0, :, 0], dir_limits[1, :, 0])),
            "dir": (dir_limits[0], dir_limits[1]),
            "dir_at_far": (at_far_limits[0], at_far_limits[1]),
            "eer": eer_limits,
        }

    def _limits_of_far(self, far: np.ndarray) -> Limits:
        return self._far_limits.limits_at(far)

    def _limits_of_rank(self, rank: int, dataset: xr.Dataset) -> tuple[Limits, Limits, Limits]:
        """Return the limits of DIR at thresholds, of DIR at FAR targets, and of EER, at a rank.

        EER is defined at rank 1.
        """
        missed = 1 - dataset["dir"].values[:, rank - 1]
        curve = self.curve(rank)
        _, at_far_limits = self.at_targets(
            curve, dataset["far_target"].values, dataset["dir_at_far"].values[:, rank - 1]
        )
        eer_limits = _UNKNOWN
        if rank == 1 and len(self.grid):
            eers = corrected_to(float(dataset["eer"]), curve.curve.equal_error())
            eer_limits = curve.at_equal_error(eers)
        return _complement(curve.frr.limits_at(missed)), at_far_limits, eer_limits

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
        limits = curve.at_targets("far", targets, 1 - columns, [*map(rates.at_row, rows)])
        return columns, _complement(limits)

    def drawn_at_targets(
        self, targets: np.ndarray, values: np.ndarray, is_person: np.ndarray
    ) -> np.ndarray:
        """Return DIR at FAR targets of rank 1 with people drawn again, (targets, replicates).

        Without one person, scores with steps keep their threshold; with people drawn again they do
        not. `is_person` (people,) has the people who are drawn.
        """
        errors = self.curve().curve
        is_kept = np.append(True, is_person)
        errors = ErrorColumns(errors.far[:, is_kept], errors.frr[:, is_kept], errors.failed)
        weights = self.options.weights(int(is_person.sum()))[:, 1:]
        step = max(1, MOST_CELLS // max(len(self.grid), 1))
        parts = []
        # No draw needs the thresholds behind the one at which its FAR exceeds all targets.
        most, rows = targets.max(initial=0.0), np.arange(len(errors.far))
        behind = int((errors.far[:, 0] <= 2 * most).sum())
        for first in range(0, weights.shape[1], step):
            of_draws = weights[:, first : first + step]
            drawn = errors.at_rows(rows[: behind + 1]).drawn(of_draws)
            while behind < len(rows) and (drawn.far[-1] <= most).any():
                behind = 2 * behind + 1
                drawn = errors.at_rows(rows[: behind + 1]).drawn(of_draws)
            parts.append(self._dir_at_targets(drawn, targets, values)[:, 1:])
        return np.concatenate(parts, axis=1) if parts else np.empty((len(targets), 0))

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


class DrawnSearchColumns(SearchColumns):
    """Rates of identification in columns: of all people, then with the probing people drawn again.

    `weights` (people, 1 + replicates) say how often people are drawn. The gallery stays.
    """

    @cached_property
    def weights(self) -> np.ndarray:
        return self.options.weights(len(self._is_person), ~self._is_person)

    def _rates(self, attempts: AttemptsOfPeople, along: Axis, grid: np.ndarray) -> np.ndarray:
        return attempts.drawn_rates(along, grid, self.weights)

    @property
    def _columns(self) -> int:
        return self.weights.shape[1]

    # If all distances are in the grid, curves have many equal rows, which are stored once.

    @property
    def _has_rows(self) -> bool:
        return self._every_score and len(self.grid) > 0

    @cached_property
    def _far_by_row(self) -> tuple[np.ndarray, np.ndarray]:
        return self._by_row(self.impostor)

    def _by_row(self, attempts: AttemptsOfPeople) -> tuple[np.ndarray, np.ndarray]:
        """Return the rates of hits, (rows, columns), and the row of each point and of both ends."""
        rates, rows = attempts.drawn_rates_by_row(self.grid, self.weights)
        if self._has_failed:
            # No threshold accepts all: the last row is that of the last threshold again.
            rows = np.append(rows[:-1], rows[-2])
        return rates, rows

    def errors(self, rank: int) -> ErrorColumns:
        if not self._has_rows:
            return super().errors(rank)
        far, far_rows = self._far_by_row
        detected, frr_rows = self._by_row(self.genuine.up_to_rank(rank))
        return ErrorColumnsByRow(
            far, 1 - detected, self._has_failed, far_row=far_rows, frr_row=frr_rows
        )

    def _limits_of_far(self, far: np.ndarray) -> Limits:
        columns = self._far_by_row[0] if self._has_rows else self._far
        return self._percentiles_of(columns, self.impostor, far)

    def _percentiles_of(
        self, columns: np.ndarray, attempts: AttemptsOfPeople, rates: np.ndarray
    ) -> Limits:
        """Return the limits of rates, which are computed only around these rates."""
        confidence = self.options.confidence
        return RateCurve.from_replicates(
            columns, attempts.sample.units, confidence, rates
        ).limits_at(rates)

    def _limits_of_rank(self, rank: int, dataset: xr.Dataset) -> tuple[Limits, Limits, Limits]:
        missed = 1 - dataset["dir"].values[:, rank - 1]
        confidence = self.options.confidence
        errors = self.errors(rank)
        frr_limits = self._percentiles_of(errors.frr, self.genuine, missed)
        detected_at_far = self._dir_at_targets(
            errors, dataset["far_target"].values, dataset["dir_at_far"].values[:, rank - 1]
        )
        at_far_limits = percentile(detected_at_far, confidence, self.genuine.sample.units)
        eer_limits = _UNKNOWN
        if rank == 1 and len(self.grid):
            eers = corrected_to(float(dataset["eer"]), errors.equal_error())
            units = min(self.genuine.sample.units, self.impostor.sample.units)
            eer_limits = percentile(eers, confidence, units)
        return _complement(frr_limits), at_far_limits, eer_limits


# ------------------------------------------------------------------------- hits by person


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
