"""Rates of identification in columns, without each person or with people drawn again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr

from bioeval.base.errors import Message, counted
from bioeval.base.progress import stage
from bioeval.counting.operating_points import Attempts
from bioeval.counting.searches import Searches
from bioeval.counting.searches_without import LeftOut
from bioeval.protocol.fields import ImpostorProbes, Ties
from bioeval.results.support import independent_trials, searching_people
from bioeval.results.variables import CLOSED_SET, OPEN_SET, RANKS
from bioeval.stats.curve_limits import CurveLimits, grid_of, open_at_targets
from bioeval.stats.error_curves import ErrorColumns, ErrorsByRow, corrected_to
from bioeval.stats.jackknife import Limits, RateCurve, percentile
from bioeval.stats.options import IntervalMethod
from bioeval.stats.search_attempts import (
    FEWEST,
    AttemptsOfPeople,
    RatesByRow,
    SearchesOfClass,
    SearchingPeople,
    impostor_attempts_of_new_people,
    rank_changes,
)

#: The most rates, by distance and person or replicate, that are in memory: enough for about 4,000
#: searches of 1,000 people.
MOST_CELLS = 1 << 23


_UNKNOWN: Limits = (np.array(np.nan), np.array(np.nan))


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
        no_person = np.zeros(left_out.units, dtype=bool)
        people = SearchingPeople(left_out.unit_of_probe, no_person, both_sides=True)
        mated = SearchesOfClass.mated(searches, ties, people.person)
        non_mated = SearchesOfClass.non_mated(searches, impostors, people.person)
        return cls(
            options,
            people.attempts(mated, rank_changes(searches, left_out, ties)),
            impostor_attempts_of_new_people(people, non_mated, left_out),
            people=people.number,
            new_people=True,
            has_failed=_has_failed(searches, mated, non_mated),
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
        codes, person = np.unique(subjects, return_inverse=True)
        people = SearchingPeople(person.reshape(-1), codes < 0, both_sides=False)
        mated = SearchesOfClass.mated(searches, ties, people.person)
        non_mated = SearchesOfClass.non_mated(searches, impostors, people.person)
        return cls(
            options,
            people.attempts(mated),
            people.attempts(non_mated),
            people=people.number,
            new_people=False,
            has_failed=_has_failed(searches, mated, non_mated),
            highest_rank=np.iinfo(np.int64).max,
            weights=options.weights(len(codes), codes < 0) if options.resamples else None,
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
        genuine = self.genuine.up_to_rank(rank)
        if (false_accepts := self._far_by_row) is not None:
            assert self.weights is not None
            detected = genuine.by_row(self.grid, self.weights)
            return ErrorsByRow(
                false_accepts.rates,
                1 - detected.rates,
                self.has_failed,
                far_row=false_accepts.row_at_point,
                frr_row=detected.row_at_point,
            )
        missed = 1 - genuine.columns("distance", self.grid, self.weights)
        return ErrorColumns(self._far, missed, self.has_failed)

    @cached_property
    def _far(self) -> np.ndarray:
        return self.impostor.columns("distance", self.grid, self.weights)

    @cached_property
    def _far_by_row(self) -> RatesByRow | None:
        """FAR of replicates, with equal rows stored once; None if the grid is a selection."""
        if self.weights is None or not self._every_score or not len(self.grid):
            return None
        return self.impostor.by_row(self.grid, self.weights)

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
        return self.options.rate_curve(columns, attempts.sample)

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
            attempts = Attempts.with_failures(hits.distance, self.impostor.hits.distance)
            too_loose = attempts.points.far_limits(np.array([far]))[0, 0]  # NaN if no score is
            is_accepted = hits.distance < too_loose
            hits = hits.select(~np.isnan(hits.distance) if np.isnan(too_loose) else is_accepted)
        return np.bincount(hits.person, hits.weight, minlength=len(self.genuine.attempts_of_each))

    def cms(self, ranks: np.ndarray) -> np.ndarray:
        """Return CMS at increasing ranks, (ranks, columns); NaN at ranks whose CMS is unknown."""
        rates = self.genuine.columns("rank", ranks.astype(np.float64), self.weights)
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
        dir_limits = np.full((2, *dataset["dir"].shape), np.nan)
        at_far_limits = np.full((2, *dataset["dir_at_far"].shape), np.nan)
        eer_limits = _UNKNOWN
        targets = dataset["far_target"].values
        confidence = self.options.confidence
        for rank in {*RANKS} & {*dataset["rank"].values[: self.highest_rank].tolist()}:
            missed = 1 - dataset["dir"].values[:, rank - 1]
            at_far = dataset["dir_at_far"].values[:, rank - 1]
            if self.weights is None:
                curve = self.curve(rank)
                errors, frr_curve = curve.curve, curve.frr
                _, at_far_limits[:, :, rank - 1] = self.at_targets(curve, targets, at_far)
            else:
                errors = self._errors(rank)
                frr_curve = self._rate_curve(self.genuine, errors.frr, missed)
                detected = self._dir_at_targets(errors, targets, at_far)
                at_far_limits[:, :, rank - 1] = percentile(detected, confidence, self.genuine.units)
            dir_limits[:, :, rank - 1] = _complement(frr_curve.limits_at(missed))
            if rank == 1 and len(self.grid):
                eers = corrected_to(float(dataset["eer"]), errors.equal_error().eer)
                if self.weights is None:
                    eer_limits = curve.at_equal_error(eers)
                else:
                    units = min(self.genuine.units, self.impostor.units)
                    eer_limits = percentile(eers, confidence, units)
        if self.weights is None:
            far_curve = self._far_limits
        else:
            columns = self._far if self._far_by_row is None else self._far_by_row.rates
            far_curve = self._rate_curve(self.impostor, columns, dataset["far"].values)
        return {
            "far": far_curve.limits_at(dataset["far"].values),
            "frr": _complement((dir_limits[0, :, 0], dir_limits[1, :, 0])),
            "dir": (dir_limits[0], dir_limits[1]),
            "dir_at_far": (at_far_limits[0], at_far_limits[1]),
            "eer": eer_limits,
        }

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
        for first in range(0, weights.shape[1], step):
            drawn = errors.drawn(weights[:, first : first + step])
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


def _complement(limits: Limits) -> Limits:
    low, high = limits
    return 1 - high, 1 - low


def _has_failed(searches: Searches, mated: SearchesOfClass, non_mated: SearchesOfClass) -> bool:
    distances = searches.mate[mated.probe], non_mated.hits.distance
    return any(bool(np.isnan(x).any()) for x in distances)


# Confidence intervals of identification: for new people, or other probes in the same gallery.


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
    options = _of_population(options, left_out)
    if options.by_subject:
        columns = _columns(dataset, searches, subjects, options, left_out)
        low, high = columns.limits_at_ranks(dataset["rank"].values, dataset["cms"].values)
        remarks = columns.messages(dataset.sizes["rank"])
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
        columns = _columns(dataset, searches, subjects, options, left_out)
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
    else:
        genuine = int(dataset["genuine_attempts"])
        impostor = int(dataset["impostor_attempts"])
        low, high = options.independent_limits(dataset["dir"].values * genuine, genuine)
        at_far = options.independent_limits(dataset["dir_at_far"].values * genuine, genuine)
        limits = {
            "dir": (low, high),
            "frr": (1 - high[:, 0], 1 - low[:, 0]),
            "far": options.independent_limits(dataset["fa"].values, impostor),
            "dir_at_far": at_far,
        }
        remarks = [options.independence("probes")]
    limits["grr"] = 1 - limits["far"][1], 1 - limits["far"][0]
    return options.added_to(dataset, limits, OPEN_SET, remarks)


def _columns(
    dataset: xr.Dataset,
    searches: Searches,
    subjects: np.ndarray | None,
    options: IntervalMethod,
    left_out: LeftOut | None,
) -> SearchColumns:
    ties: Ties = dataset.attrs["ties"]
    impostors: ImpostorProbes = dataset.attrs.get("impostors", "auto")
    if left_out is not None:
        return SearchColumns.for_new_people(searches, ties, options, impostors, left_out=left_out)
    return SearchColumns.for_probes(searches, ties, options, impostors, subjects=subjects)


def _of_population(options: IntervalMethod, left_out: LeftOut | None) -> IntervalMethod:
    return options.for_this_gallery if left_out is None else options.for_new_people
