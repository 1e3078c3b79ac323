"""Confidence intervals of verification: curves and operating points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bioeval.base.kinds import larger_is_closer
from bioeval.base.messages import Message
from bioeval.base.progress import stage
from bioeval.counting.by_subject import SubjectAttempts
from bioeval.counting.points import VerificationPoints
from bioeval.counting.thresholds import to_internal
from bioeval.counting.verification import Verified
from bioeval.results.support import ComparedPeople, RuleOf
from bioeval.results.variables import verification_variables
from bioeval.stats.bootstrap import SubjectMeans
from bioeval.stats.error_curves import EER, AttemptClass, CurveMeasure, ErrorColumns, curve_measures
from bioeval.stats.few_errors import (
    ErringPairs,
    FewErrors,
    Placed,
    around_few,
    without_contradiction,
)
from bioeval.stats.limits import Limits, jackknife_limits, open_limits
from bioeval.stats.options import IntervalMethod, trials_of
from bioeval.stats.people import AttemptsOfEach

if TYPE_CHECKING:
    import xarray as xr

# Where few people err, of each class of attempts.
_FewOf = dict[AttemptClass, tuple[FewErrors, FewErrors]]


def verification_intervals(
    dataset: xr.Dataset,
    tally: Verified,
    attempts: SubjectAttempts | None,
    options: IntervalMethod,
) -> xr.Dataset:
    """Return a result of verification with confidence intervals.

    `tally` has its operating points; `attempts`, of the same counter, may be None for methods that
    do not need the subjects.
    """
    units: dict[str, int] = {}
    if not options.by_subject:
        limits, remarks = _independent(dataset, options)
    elif attempts is None:
        raise TypeError(f"{options.method} intervals need the attempts by subject")
    else:
        limits, remarks, units = _resampled(dataset, tally, attempts, options)
    limits |= {
        "gar": (1 - limits["frr"][1], 1 - limits["frr"][0]),
        "grr": (1 - limits["far"][1], 1 - limits["far"][0]),
    }
    names = verification_variables()
    out = options.added_to(dataset, limits, names, remarks)
    return out.assign({name: ((), np.int64(n), names[name].attrs) for name, n in units.items()})


# ------------------------------------------------------------------------- independent attempts


def _independent(
    dataset: xr.Dataset, options: IntervalMethod
) -> tuple[dict[str, Limits], list[Message]]:
    """Return intervals that assume independent attempts."""
    genuine = int(dataset["genuine_attempts"])
    impostor = int(dataset["impostor_attempts"])
    limits = {
        "frr": options.independent_limits(dataset["fr"].values, genuine),
        "far": options.independent_limits(dataset["fa"].values, impostor),
    }
    if "frr_at_far" in dataset:
        errors = np.rint(dataset["frr_at_far"].values * genuine)
        limits["frr_at_far"] = options.independent_limits(errors, genuine)
    if "far_at_frr" in dataset:
        errors = np.rint(dataset["far_at_frr"].values * impostor)
        limits["far_at_frr"] = options.independent_limits(errors, impostor)
    return limits, [options.independence("attempts")]


# ------------------------------------------------------------------------- by subject


@dataclass
class Replicates:
    """Verification rates of the data and of each replicate, one column each."""

    tally: Verified
    attempts: SubjectAttempts
    options: IntervalMethod
    thresholds: np.ndarray  # increasing distances
    exact: bool  # whether they are all the distinct scores
    columns: ErrorColumns  # at these thresholds
    persons: AttemptsOfEach  # impostor attempts of each person, or group of people, by threshold
    without: ErrorColumns  # a column for the data, and one without each person
    few_far: tuple[FewErrors, FewErrors]  # false accepts of few pairs of people, and rejections
    #: Operating points (..., columns), chosen anew in each column.
    values: dict[str, np.ndarray] = field(default_factory=dict)
    #: The same without each person, after a column for the data.
    values_without: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    @stage("bootstrap")
    def of(
        cls,
        tally: Verified,
        attempts: SubjectAttempts,
        options: IntervalMethod,
        measures: Sequence[CurveMeasure] | None = None,
    ) -> Replicates:
        """Return the rates of verification with subjects resampled, and some measures or all.

        Operating points are chosen anew in each replicate, as on the data themselves. Where there
        are more distinct scores than thresholds, they are interpolated linearly between two
        thresholds, and every replicate is corrected by the interpolation error of the data
        themselves. `tally` has its operating points, and `attempts` are of the same counter.
        """
        points, measures = tally.points, measures or curve_measures()
        assert points is not None
        # The limit of the EER bounds that of the AUC.
        measures = [x for x in dict.fromkeys((EER, *measures)) if x.is_defined(points)]
        usual, exact = attempts.thresholds(tally)
        thresholds = usual
        if not exact:
            own = [x.own_thresholds(points) for x in measures]
            thresholds = with_finite(usual, np.concatenate([_wanted(tally), *own]))
        weights = options.weights(len(attempts.no_person), attempts.no_person)
        erring = ErringPairs(attempts.sides, attempts.no_person, attempts.disjoint_pairs)
        persons = AttemptsOfEach.of_people(attempts.no_person, len(thresholds) + 1)
        errors = ErrorColumns.of(attempts, thresholds, weights, (erring, persons))
        replicates = cls(
            tally,
            attempts,
            options,
            thresholds,
            exact,
            errors,
            persons,
            errors.without_each(persons, thresholds),
            erring.few(attempts.made(), copies_of(tally)),
        )
        for curve, values in (
            (errors, replicates.values),
            (replicates.without, replicates.values_without),
        ):
            for measure in measures:  # an undefined point is so in every column
                name, value = measure.name, replicates._measured(measure, curve, usual, points)
                on_the_data = np.asarray(measure.on_the_data(points))
                moved = on_the_data[..., None] - value[..., :1]
                values[name] = np.clip(value + moved, *measure.scalar.bounds)
                values[name][..., 0] = on_the_data
        return replicates

    @cached_property
    def subjects(self) -> int:
        """Independent trials of genuine attempts: subjects that have any."""
        return trials_of(self.attempts.persons_among(self.columns.genuine[1]))

    @property
    def mixed(self) -> int:
        """Independent trials of both classes: subjects, or disjoint pairs of subjects."""
        return min(self.subjects, self.attempts.disjoint_pairs)

    @property
    def jackknife(self) -> bool:
        """Whether rates have limits without each person: percentiles hold those of few too seldom.

        So they do an AUC close to 1.
        """
        return self.options.method == "subject-bootstrap"

    def _measured(
        self,
        measure: CurveMeasure,
        curve: ErrorColumns,
        usual: np.ndarray,
        points: VerificationPoints,
    ) -> np.ndarray:
        """Return a measure in each column of a curve.

        It is taken from the `usual` thresholds and its own alone, so that it is the same whatever
        else is asked for.
        """
        if self.exact:
            return measure.in_columns(curve, points, True)
        values = []
        for one in measure.one_by_one(points):
            thresholds = with_finite(usual, measure.own_thresholds(one))
            rows = np.searchsorted(self.thresholds, thresholds)
            values.append(measure.in_columns(curve.of_rows(rows), one, False))
        return np.concatenate(values) if values else measure.in_columns(curve, points, False)

    def place_of(self, threshold: float) -> int:
        """Return the number of the last of :attr:`thresholds` up to one, -1 of reject-all."""
        if np.isnan(threshold):
            return -1
        return int(np.searchsorted(self.thresholds, threshold, side="right")) - 1

    def errors_of_each(self, threshold: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the false rejects and the false accepts of each person at a threshold.

        A false accept is one of both people. Of more than a thousand people they are those of
        groups.
        """
        layer = self.place_of(threshold)
        if threshold == np.inf:
            layer = len(self.thresholds)
        values, people = self.columns.genuine
        rejected = ~(values <= threshold)
        groups = self.persons.groups
        rejects = np.bincount(self.persons.group[people[rejected]], minlength=groups + 1)[:groups]
        taken = self.persons.accepted()
        accepts = taken[layer, :1] - taken[layer, 1:] if layer >= 0 else np.zeros(groups)
        return rejects, accepts.astype(np.int64)

    def placements_of_each(self) -> np.ndarray:
        """Return the sum of the numbers of impostor attempts below each person's genuine ones."""
        distances, people = self.columns.genuine
        distances = np.where(np.isnan(distances), np.inf, distances)  # a failure is after all
        below = np.asarray(self.tally.attempts.false_accepts(distances), dtype=np.float64)
        groups = self.persons.groups
        return np.bincount(self.persons.group[people], below, minlength=groups + 1)[:groups]

    def frr_limits(self, grid: np.ndarray, frr: Limits | None = None) -> Limits:
        """Return the limits of FRR at increasing distances, from those at each distance alone."""
        return self._curve(frr is None).frr_limits(grid, frr)

    def far_limits(self, far: np.ndarray, *, jackknife: bool) -> Limits:
        """Return the limits of FAR at some of its values."""
        if jackknife:
            rate, without = self.without.far[:, 0], self.without.far[:, 1:]
            trials, fewest = self.attempts.disjoint_pairs, self.attempts.fewest
            at = jackknife_limits(rate, without, self.options.confidence, trials, fewest)
        else:
            at = self.options.limits(self.columns.far)
        return interpolated(far, self.columns.far[:, 0], at, self.few_far, self.options)

    def at_threshold(self, threshold: float) -> dict[str, Limits]:
        """Return the limits of FAR and FRR at a threshold, an internal distance."""
        place = self.place_of(threshold)
        far = self.columns.far[[place], 0] if place >= 0 else np.zeros(1)
        limits = {
            "frr": self.frr_limits(np.array([threshold])),
            "far": self.far_limits(far, jackknife=True),
        }
        return {name: (low[0], high[0]) for name, (low, high) in limits.items()}

    def _curve(self, jackknife: bool) -> _Genuine:
        columns = self.columns
        copies = copies_of(self.tally)
        return _Genuine.of(columns.genuine, columns.weights, self.options, copies, jackknife)

    def limits(self) -> tuple[dict[str, Limits], list[Message]]:
        """Return the limits of each measure, and messages."""
        few_of: _FewOf = {"genuine": self._curve(self.jackknife).few, "impostor": self.few_far}
        limits = {}
        for measure in curve_measures():
            if measure.name not in self.values:
                continue
            rule = measure.scalar.jackknife
            if measure.rate_of:
                limits[measure.name] = self._limits_of_rate(measure, few_of)
            elif self.jackknife and rule:
                low, high = self._point_without_each(measure)
                if rule == "wider":
                    drawn = self._percentiles(measure)
                    low, high = np.fmin(low, drawn[0]), np.fmax(high, drawn[1])
                limits[measure.name] = low, high
            else:
                limits[measure.name] = self._percentiles(measure)
        if "auc" in limits:  # a curve with the EER e has an AUC of (1 - e)^2 at least
            low, high = limits["auc"]
            limits["auc"] = np.fmax(low, (1 - limits["eer"][1]) ** 2), high
        return limits, _without_upper_limit(limits, self.tally)

    def _percentiles(self, measure: CurveMeasure) -> Limits:
        """Return the limits of a measure by its replicates alone."""
        scalar = measure.scalar
        low, high = self.options.limits(scalar.scaled(self.values[measure.name]), self.mixed)
        return scalar.unscaled(low), scalar.unscaled(high)

    def _limits_of_rate(self, measure: CurveMeasure, few_of: _FewOf) -> Limits:
        """Return the limits of a rate of errors: where few people err, from these alone."""
        of_class = {"genuine": self.subjects, "impostor": self.attempts.disjoint_pairs}
        curves = [few_of[x] for x in measure.rate_of]
        trials = min(of_class[x] for x in measure.rate_of)
        values = self.values[measure.name]
        x = values[..., 0]
        low, high = self.options.limits(values)
        if self.jackknife:
            many = ~np.any([few[0].at(x) | few[1].at(1 - x) for few in curves], axis=0)
            without_each = self._point_without_each(measure)
            low = np.where(many, np.fmin(low, without_each[0]), low)
            high = np.where(many, np.fmax(high, without_each[1]), high)
        for few in curves:
            low, high = around_few(x, (low, high), few, self.options.confidence)
        return np.where(trials, low, np.nan), np.where(trials, high, np.nan)

    def _point_without_each(self, measure: CurveMeasure) -> Limits:
        """Return the limits of a measure, chosen anew without each person."""
        values, confidence = self.values_without[measure.name], self.options.confidence
        value, without, fewest = values[..., 0], values[..., 1:], self.attempts.fewest
        # A cost is no proportion of trials.
        anew = measure.scalar.kind == "cost"
        limits = jackknife_limits(value, without, confidence, self.mixed, fewest, chosen_anew=anew)
        return open_limits(value, *limits, self.mixed, confidence)


def copies_of(tally: Verified) -> int:
    """Return how often each comparison was counted: twice in a symmetric matrix."""
    return 2 if tally.points is not None and tally.points.symmetric else 1


def with_finite(thresholds: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return increasing thresholds with the finite ones of those `wanted`."""
    return np.union1d(thresholds, wanted[np.isfinite(wanted)])


def _wanted(tally: Verified) -> np.ndarray:
    """Return the thresholds of the operating points, and the user's if they are few."""
    points = tally.points
    assert points is not None
    given_thresholds = tally.curve[0] if tally.given is not None else np.empty(0)
    at_targets = points.threshold_at_far, points.threshold_at_frr
    chosen = [*at_targets, [points.equal_error.eer_threshold]]
    return np.concatenate([*chosen, given_thresholds if len(given_thresholds) <= 64 else []])


def _resampled(
    dataset: xr.Dataset,
    tally: Verified,
    attempts: SubjectAttempts,
    options: IntervalMethod,
) -> tuple[dict[str, Limits], list[Message], dict[str, int]]:
    """Return limits by resampling subjects, messages, and numbers of trials."""
    grid = to_internal(dataset["threshold"].values, tally.about.kind)
    drawn = Replicates.of(tally, attempts, options)
    limits, remarks = drawn.limits()
    frr = None
    if not drawn.jackknife:
        frr = options.limits(drawn.columns.frr_at(grid), drawn.subjects)
    limits["frr"] = drawn.frr_limits(grid, frr)
    limits["far"] = drawn.far_limits(_grid_far(dataset, tally), jackknife=drawn.jackknife)
    if larger_is_closer(tally.about.kind):
        for name in ("far", "frr"):
            limits[name] = limits[name][0][::-1], limits[name][1][::-1]
    people = attempts.persons_among(np.arange(attempts.people))
    return limits, [*options.few_people(people), *remarks], {"genuine_subjects": drawn.subjects}


def _without_upper_limit(limits: dict[str, Limits], tally: Verified) -> list[Message]:
    """Let FRR at each FAR that the people cannot support have the upper limit 1; return a message.

    There may be no threshold in the data that has this FAR in the population.
    """
    assert tally.points is not None
    if "frr_at_far" not in limits:
        return []
    targets, attempts = tally.points.far_target, tally.attempts.impostor_attempts / copies_of(tally)
    people = ComparedPeople.of_tally(tally)
    supported = np.array([RuleOf(3).supports(x, attempts, people) for x in targets], dtype=bool)
    low, high = limits["frr_at_far"]
    unlimited = ~(supported & (targets > 0)) & ~np.isnan(high)
    limits["frr_at_far"] = low, np.where(unlimited, 1.0, high)
    if not unlimited.any():
        return []
    about = {"end": "upper", "rate": "frr", "limit": 1}
    return [Message("limit-not-supported", **about, targets=targets[unlimited].tolist())]


def _grid_far(dataset: xr.Dataset, tally: Verified) -> np.ndarray:
    """Return the FAR at the thresholds of a result, from strict to loose."""
    far = dataset["far"].values
    if larger_is_closer(tally.about.kind):
        return far[::-1]
    return far


def interpolated(
    rate: np.ndarray,
    known: np.ndarray,
    at: Limits,
    few: tuple[FewErrors, FewErrors],
    options: IntervalMethod,
) -> Limits:
    """Return limits at rates, interpolated linearly between those `at` known rates of the curve.

    Without any known rate, from 0 to 1; where `few` pairs of people err, from these alone.
    """
    defined = ~np.isnan(known) & ~np.isnan(at[0]) & (known > 0) & (known < 1)
    every = np.append(rate, known)
    low, high = at[0][defined], at[1][defined]
    known, first = np.unique(known[defined], return_index=True)
    low = np.interp(every, np.append(0.0, known), np.append(0.0, low[first]))
    high = np.interp(every, np.append(known, 1.0), np.append(high[first], 1.0))
    low, high = without_contradiction(every, (low, high), few, options.confidence)
    return low[: len(rate)], high[: len(rate)]


@dataclass(frozen=True)
class _Genuine:
    """The genuine attempts by subject, along the thresholds that accept them."""

    means: SubjectMeans
    accepted: Placed

    @classmethod
    def of(
        cls,
        attempts: tuple[np.ndarray, ...],
        weights: np.ndarray,
        options: IntervalMethod,
        copies: int,
        jackknife: bool = False,
    ) -> _Genuine:
        """Count the genuine attempts of each subject, at their distances."""
        distances, people = attempts
        number = np.bincount(people, minlength=len(weights))
        means = SubjectMeans(number, weights, options, copies=copies, jackknife=jackknife)
        return cls(means, Placed.of(people, distances))

    @property
    def few(self) -> tuple[FewErrors, FewErrors]:
        """Where few people are rejected, and where few are accepted."""
        accepted, rejected = self.means.few(self.accepted)
        return rejected, accepted

    def frr_limits(self, grid: np.ndarray, frr: Limits | None = None) -> Limits:
        """Return the limits of FRR at increasing distances, from those at each distance alone."""
        if frr is None:
            low, high = self.means.limits_along(self.accepted, grid)
            return 1 - high, 1 - low
        return self.means.without_contradiction(self.accepted, grid, frr, missed=True)
