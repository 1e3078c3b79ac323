"""Confidence intervals of verification: curves and operating points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bioeval.base.errors import Message
from bioeval.base.progress import stage
from bioeval.counting.pair_layers import count_layers
from bioeval.counting.people import GenuineAttempts
from bioeval.counting.verification import Verified
from bioeval.results.support import independent_trials
from bioeval.results.variables import VERIFICATION
from bioeval.scores.people import require_people, units_of_people
from bioeval.stats.curve_limits import CurveLimits, grid_of, open_at_targets, thresholds_of
from bioeval.stats.error_curves import (
    EER,
    AttemptClass,
    CurveMeasure,
    ErrorColumns,
    corrected_to,
    curve_measures,
)
from bioeval.stats.jackknife import Limits, RateCurve, Sample, percentile, student
from bioeval.stats.options import IntervalMethod, trials_of
from bioeval.stats.weighted_sums import (
    AttemptsMade,
    AttemptsOfEach,
    QuadraticForms,
    by_subject,
    groups_of_people,
    kish,
    linear_forms,
    rates_without_each,
    ratio,
)

if TYPE_CHECKING:
    import xarray as xr


#: The most numbers of attempts in memory, by threshold and person: enough for about 8,000 genuine
#: scores of a thousand people.
MOST_CELLS = 1 << 23

#: The most numbers of attempts in memory, by threshold and replicate: enough for about 2,000
#: genuine scores of 2,000 replicates.
MOST_DRAWN = 1 << 22

# Up to this number, the thresholds that a user asks for are counted; more are read between points.
_MOST_REQUESTED = 64

# The EER is sought where the FAR of the data is at most this factor above or below the EER.
_AROUND = 3.0


def genuine_rows(verified: Verified, most: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return thresholds at which curves are exact for any weights, at most `most`.

    Between two genuine scores FRR does not change. Therefore the least FRR at a FAR, the least
    cost, the hull and the area under the ROC need only the points at genuine scores. FAR and FRR
    cross at a genuine score, too, or between it and the largest score below.

    Returned are increasing distances, the genuine scores that no impostor score equals, and whether
    measures of these thresholds alone are exact: if more are needed, there are evenly spread
    genuine scores.
    """
    attempts = verified.attempts
    scores = attempts.points.genuine.distinct()
    below, upto = attempts.impostor.counts_at(attempts.points.genuine)
    untied = scores[below == upto]
    # If attempts failed, a threshold at the last score does not accept all attempts.
    thresholds = np.append(scores, [np.inf] if attempts.missed else [])
    just_below = np.nextafter(scores, -np.inf)
    tied = below < upto
    has_score_below = below > np.append(0, upto[:-1])
    far = below / max(attempts.impostor_attempts, 1)
    eer = verified.points.values["eer"]
    is_near_eer = has_score_below & (far >= eer / _AROUND) & (far <= eer * _AROUND)
    for is_preceded in (tied | has_score_below, tied | is_near_eer):
        all_needed = np.union1d(thresholds, just_below[is_preceded])
        if len(all_needed) <= most:
            return all_needed, untied, True
    indices = np.linspace(0, len(scores) - 1, min(len(scores), max(most, 1)))
    return scores[np.unique(indices.astype(np.int64))], untied, False


class CountedThresholds:
    """The thresholds at which attempts are counted: all scores, or a selection of many scores.

    In a selection, points are interpolated linearly between two thresholds, and each column is
    corrected by the interpolation error of the data themselves.

    - `usual`: increasing distances that depend on the scores alone, not on measures
    - `thresholds`: increasing; the usual distances, and the thresholds of measures
    - `every_score`: whether the thresholds are all the distinct scores
    - `at_genuine`: those of :func:`genuine_rows`; empty if the thresholds are all scores
    """

    def __init__(self, verified: Verified, measures: Sequence[CurveMeasure], columns: int):
        """Choose thresholds for some measures, to be counted in a number of columns."""
        self._points = verified.points
        self.usual, self.every_score = thresholds_of(verified)
        self.thresholds = self.usual
        self.at_genuine = self._untied_scores = np.empty(0)
        self._is_exact = True
        if self.every_score:
            return
        values = verified.points.values
        names = "threshold_at_far", "threshold_at_frr", "eer_threshold"
        marked = [np.ravel(values[x]) for x in names if x in values]
        marked += [x.own_thresholds(verified.points) for x in measures]
        if verified.requested_thresholds is not None:
            requested = verified.curve[0]
            marked.append(requested if len(requested) <= _MOST_REQUESTED else np.empty(0))
        self.thresholds = _with_finite(self.usual, np.concatenate(marked))
        # The number of rows is the same for all measures, so that no value depends on others.
        most = MOST_CELLS // columns - len(self.usual)
        self.at_genuine, self._untied_scores, self._is_exact = genuine_rows(verified, most)

    def untied(self, thresholds: np.ndarray) -> np.ndarray | None:
        """Return which thresholds are genuine scores that no impostor score equals; or None."""
        return None if self.every_score else np.isin(thresholds, self._untied_scores)

    def measured(
        self, measures: Sequence[CurveMeasure], curve: ErrorColumns, thresholds: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return measures in each column of a curve at `thresholds`; NaN if undefined on the data.

        A measure uses all genuine scores or, if these are too many, the `usual` thresholds, a
        selection of genuine scores and the measure's own thresholds: its value does not depend on
        other measures.
        """
        points = self._points
        exact = self.every_score
        shared = self.usual
        if not exact and np.isin(self.at_genuine, thresholds).all():
            exact = self._is_exact
            shared = np.union1d(self.usual, self.at_genuine)
        values = {}
        for measure in measures:
            own = measure.own_thresholds(points)
            targets = measure.targets(points)
            columns = np.empty((len(targets), curve.far.shape[1]))
            for i, target in enumerate(targets):
                errors = curve
                if not exact:
                    used = _with_finite(shared, own[i : i + 1])
                    errors = curve.at_rows(thresholds.searchsorted(used))
                columns[i] = measure.in_columns(errors, target, exact)
            value = points.values.get(measure.name, np.nan)
            values[measure.name] = corrected_to(
                value, columns if measure.of_target else columns[0], measure.scalar.bounds
            )
        return values


def _with_finite(thresholds: np.ndarray, further: np.ndarray) -> np.ndarray:
    return np.union1d(thresholds, further[np.isfinite(further)])


def verification_intervals(
    dataset: xr.Dataset, verified: Verified, options: IntervalMethod
) -> xr.Dataset:
    """Return a result of verification with confidence intervals; `verified` has its counts."""
    counts = {}
    if options.by_subject:
        require_people(verified.scores, method=options.method)
        columns = VerificationColumns(verified, options)
        limits, remarks = columns.limits()
        limits["far"] = columns.curve.far.limits_at(dataset["far"].values)
        limits["frr"] = columns.curve.frr.limits_at(dataset["frr"].values)
        sampled = columns.sampled
        remarks = [*options.few_people(sampled), *options.groups(sampled), *remarks]
        counts["genuine_subjects"] = columns.subjects
    else:
        remarks = [options.independence("attempts")]
        genuine = int(dataset["genuine_attempts"])
        impostor = int(dataset["impostor_attempts"])
        limits = {
            "frr": options.independent_limits(dataset["fr"].values, genuine),
            "far": options.independent_limits(dataset["fa"].values, impostor),
        }
        for name, attempts in (("frr_at_far", genuine), ("far_at_frr", impostor)):
            if name in dataset:
                errors = np.rint(dataset[name].values * attempts)
                limits[name] = options.independent_limits(errors, attempts)
    limits["gar"] = 1 - limits["frr"][1], 1 - limits["frr"][0]
    limits["grr"] = 1 - limits["far"][1], 1 - limits["far"][0]
    return options.added_to(dataset, limits, VERIFICATION, remarks, **counts)


# ------------------------------------------------------------------------- by subject


class Columns(NamedTuple):
    """Rates along thresholds, and measures; the first column has the data."""

    curve: ErrorColumns  # at the `thresholds` of a :class:`CountedThresholds`
    values: dict[str, np.ndarray]  # measures, (..., columns), by name


_NO_COLUMNS = Columns(ErrorColumns(np.empty((0, 0)), np.empty((0, 0))), {})


class VerificationColumns:
    """Verification without each person, or with people drawn again, or both.

    Thresholds that a measure chooses are chosen anew in each column.

    - `units` (people,): the unit with which each person is left out; None: alone
    - `counted_at`: increasing distances; the layers of `made` are between them
    - `made`: impostor attempts of each person; of each group, by layer
    - `without`: without each person, (..., 1 + people); empty if the method resamples
    - `replicates`: with people drawn again, (..., 1 + replicates); empty if nobody is drawn
    """

    @stage("intervals")
    def __init__(
        self,
        verified: Verified,
        options: IntervalMethod,
        measures: Sequence[CurveMeasure] | None = None,
        *,
        drawn: bool | None = None,
    ):
        """Count the attempts of each person, and compute some measures or all.

        People are left out in turn, unless the method resamples them. People are `drawn` again; by
        default, if the method resamples them. `verified` has its operating points.
        """
        people = verified.people
        # The limit of the EER bounds the limit of the AUC.
        all_measures = dict.fromkeys((EER, *(measures or curve_measures())))
        defined = [x for x in all_measures if x.is_defined(verified.points)]
        units = units_of_people(verified.scores, options.unit)
        if units is not None:
            units = units[people.of_code >= 0]  # by person, in the order of codes
        _, groups = groups_of_people(people.no_person, units)
        grid = CountedThresholds(verified, defined, groups + 1)
        counted_at = np.union1d(grid.thresholds, grid.at_genuine)
        drawn_at = counted_at
        weights = None
        is_drawn = options.resamples if drawn is None else drawn
        if is_drawn and units is None:
            weights = options.weights(people.number, people.no_person)
            if len(counted_at) * weights.shape[1] > MOST_DRAWN:
                drawn_at = grid.thresholds
        made = AttemptsMade(people.number)
        if options.resamples:
            counted_at = drawn_at
        else:
            attempts = verified.attempts.impostor_attempts
            made = AttemptsOfEach(people.no_person, len(counted_at) + 1, attempts, units)
        forms = None
        if weights is not None:
            layers = np.append(drawn_at.searchsorted(counted_at), len(drawn_at)).astype(np.int32)
            both_ways = _has_equal_mirrored_scores(verified)
            forms = QuadraticForms(weights, len(drawn_at) + 1, layers, both_ways=both_ways)
        sinks = [made] if forms is None else [made, forms]
        genuine, failed = count_layers(verified, counted_at, *sinks)

        self.verified, self.people, self.options = verified, people, options
        self.units, self.grid, self.counted_at = units, grid, counted_at
        self.genuine, self.made = genuine, made
        self.without = self.replicates = _NO_COLUMNS
        if isinstance(made, AttemptsOfEach):
            self.without = _without_each(defined, grid, made, genuine, counted_at, failed)
        if forms is not None:
            curve = ErrorColumns.weighted(forms, genuine, drawn_at, failed, grid.untied(drawn_at))
            needed = [x for x in defined if options.resamples or x.scalar.quantile]
            values = grid.measured(needed, curve, drawn_at)
            at_grid = curve.at_rows(drawn_at.searchsorted(grid.thresholds))
            self.replicates = Columns(at_grid, values)
        elif is_drawn:
            curve = self.without.curve.drawn(options.weights(groups)[:, 1:])
            needed = [x for x in defined if x.scalar.quantile]
            self.replicates = Columns(curve, grid.measured(needed, curve, grid.thresholds))

    @property
    def sampled(self) -> int:
        """The number of people, or of units in which they are left out."""
        is_person = ~self.people.no_person
        if self.units is None:
            return int(np.count_nonzero(is_person))
        return len(np.unique(self.units[is_person]))

    def by_unit(self, numbers: np.ndarray) -> np.ndarray:
        """Return sums over the people of each unit, of numbers by person without distractors."""
        if self.units is None:
            return numbers
        _, unit = np.unique(self.units[~self.people.no_person], return_inverse=True)
        return np.bincount(unit, numbers)

    @property
    def persons(self) -> AttemptsOfEach:
        """The impostor attempts of each person, or group of people, who is left out."""
        assert isinstance(self.made, AttemptsOfEach)
        return self.made

    @property
    def subjects(self) -> int:
        """The number of subjects with genuine attempts; 0 for a single subject."""
        return trials_of(self.people.count(self.genuine.person))

    @cached_property
    def _samples(self) -> dict[AttemptClass, Sample]:
        people = ~self.people.no_person
        genuine_attempts = np.bincount(self.genuine.person, minlength=len(people))
        probing, claimed = map(self.by_unit, self.made.made[:, people])
        sides = probing, claimed, probing + claimed
        of_probes, of_claimed, of_both = map(kish, sides)
        compared = self.verified.compared
        disjoint = pairs = 0.0
        if compared is not None:  # else no template is of a person
            numbers = of_probes, of_claimed, of_both / 2
            disjoint = min(compared.disjoint, *(x for x in numbers if x), np.inf)
            # Pairs of people with unequal numbers of attempts are worth fewer pairs.
            (p, c, b) = (max(int(np.count_nonzero(x)), 1) for x in sides)
            pairs = compared.pairs * max(of_probes / p * of_claimed / c, (of_both / b) ** 2)
            if self.units is not None:
                pairs *= (self.sampled / max(int(np.count_nonzero(people)), 1)) ** 2
        shares: dict[AttemptClass, np.ndarray | None] = {"genuine": None, "impostor": None}
        if isinstance(self.made, AttemptsOfEach):
            of_group = self.made.shares(genuine_attempts)
            shares = {
                "genuine": of_group[of_group > 0],  # the columns of `_frr`
                "impostor": self.made.impostor_shares,
            }
        return {
            "genuine": Sample(
                len(self.genuine.distance) / (1 + bool(self.verified.points.symmetric)),
                kish(self.by_unit(genuine_attempts[people])),
                1,
                shares["genuine"],
            ),
            "impostor": Sample(
                self._impostor_comparisons,
                disjoint,
                2,
                shares["impostor"],
                most=max(pairs, disjoint),
            ),
        }

    @property
    def _impostor_comparisons(self) -> float:
        return self.verified.attempts.impostor_attempts / (1 + bool(self.verified.points.symmetric))

    # -- limits

    @cached_property
    def curve(self) -> CurveLimits:
        """FAR and FRR at the `usual` thresholds, with their limits."""
        return self._curve(self.options.rate_curve, self.options.confidence)

    def one_sided(self, confidence: float) -> CurveLimits:
        """Return the curve with one-sided limits of this confidence."""
        limits = partial(RateCurve.from_columns, confidence=confidence, one_sided=True)
        return self._curve(limits, confidence)

    def _curve(self, limits: Callable[..., RateCurve], confidence: float) -> CurveLimits:
        columns = self.replicates if self.options.resamples else self.without
        usual = columns.curve.at_rows(self.grid.thresholds.searchsorted(self.grid.usual))
        return CurveLimits(
            usual,
            self.grid.every_score,
            limits(usual.far, self._samples["impostor"], raised=True),
            limits(self._frr, self._samples["genuine"], raised=True),
            confidence,
        )

    @cached_property
    def _frr(self) -> np.ndarray:
        """FRR along the genuine scores alone, (points, columns)."""
        distance, person = self.genuine
        grid = grid_of(distance)
        if self.options.resamples:
            no_person = self.people.no_person
            counts = by_subject(distance, person, grid, len(no_person))
            weights = self.options.weights(len(no_person), no_person)
            genuine_accepted = np.cumsum(linear_forms(counts, weights), axis=0)
            gar = ratio(genuine_accepted[:-1], genuine_accepted[-1])
        else:
            group = self.persons.group[person]
            accepted = np.cumsum(by_subject(distance, group, grid, self.persons.groups + 1), axis=0)
            mated = np.append(accepted[-1, :-1] > 0, False)
            total = accepted.sum(axis=1)
            gar = rates_without_each(
                accepted[:-1, mated], accepted[-1, mated], total[:-1], total[-1]
            )
        return 1 - gar

    def limits(self) -> tuple[dict[str, Limits], list[Message]]:
        limits = {}
        values = (self.replicates if self.options.resamples else self.without).values
        for measure in curve_measures():
            if measure.name in values:
                limits[measure.name] = self._limits_of(measure)
        if "auc" in limits:  # a curve with the EER e has at least an AUC of (1 - e)^2
            low, high = limits["auc"]
            limits["auc"] = np.fmax(low, (1 - limits["eer"][1]) ** 2), high
        remarks: list[Message] = []
        if "frr_at_far" in limits:
            limits["frr_at_far"], remarks = open_at_targets(
                limits["frr_at_far"],
                "upper",
                self.verified.points.wanted.targets,
                independent_trials(self._impostor_comparisons, self.verified.compared),
                rate="frr",
            )
        return limits, remarks

    def _limits_of(self, measure: CurveMeasure) -> Limits:
        samples = self._samples
        confidence = self.options.confidence
        units = min(samples[x].units for x in measure.rate_of or samples)
        if self.options.resamples:
            values = measure.scalar.scaled(self.replicates.values[measure.name])
            low, high = percentile(values, confidence, units)
            return measure.scalar.unscaled(low), measure.scalar.unscaled(high)
        columns = self.without.values[measure.name]
        if len(measure.rate_of) == 2:
            return self.curve.at_equal_error(columns)
        if measure.of_target in ("far", "frr"):
            thresholds = measure.own_thresholds(self.verified.points)
            rates = [*map(self.at_threshold, thresholds)]
            targets = np.asarray(measure.targets(self.verified.points), dtype=np.float64)
            return self.curve.at_targets(measure.of_target, targets, columns, rates)
        return student(columns, confidence, units, measure.scalar.bounds)

    # -- at a threshold

    def at_threshold(self, threshold: float) -> tuple[np.ndarray, np.ndarray]:
        """Return FAR and FRR at a threshold, an internal distance, in columns (1 + people,)."""
        row = -1  # rejects all
        if not np.isnan(threshold):
            row = int(self.grid.thresholds.searchsorted(threshold, side="right")) - 1
        return self.without.curve.at_row(row)

    def errors_of_each(self, threshold: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the false rejects and the false accepts of each person at a threshold.

        A false accept counts for both people. With more than a thousand people, errors are counted
        by group.
        """
        layer = -1 if np.isnan(threshold) else len(self.counted_at)
        if threshold < np.inf:
            layer = int(self.counted_at.searchsorted(threshold, side="right")) - 1
        is_rejected = ~(self.genuine.distance <= threshold)
        group = self.persons.group[self.genuine.person[is_rejected]]
        groups = self.persons.groups
        rejects = np.bincount(group, minlength=groups + 1)[:groups]
        return rejects, self.persons.accepts_of_each(layer)

    def placements_of_each(self) -> np.ndarray:
        """Return, for each person, the pairs of a genuine score and an impostor score below it."""
        distance, person = self.genuine
        distance = np.where(np.isnan(distance), np.inf, distance)  # failures come last
        below = np.asarray(self.verified.attempts.false_accepts(distance), dtype=np.float64)
        groups = self.persons.groups
        return np.bincount(self.persons.group[person], below, minlength=groups + 1)[:groups]


def _without_each(
    measures: Sequence[CurveMeasure],
    grid: CountedThresholds,
    made: AttemptsOfEach,
    genuine: GenuineAttempts,
    counted_at: np.ndarray,
    failed: bool,
) -> Columns:
    """Return rates and measures without each person, computed for some people at a time."""
    untied = grid.untied(counted_at)
    rows = counted_at.searchsorted(grid.thresholds)
    parts = []
    for accepted, genuine_accepted in made.curves(genuine, counted_at):
        curve = ErrorColumns.of_counts(accepted, genuine_accepted, failed, untied)
        values = grid.measured(measures, curve, counted_at)
        parts.append(Columns(curve.at_rows(rows), values))

    def joined(columns: Sequence[np.ndarray]) -> np.ndarray:
        """Return the columns of all parts; the first column, the data, is kept once."""
        further = [x[..., 1:] for x in columns[1:]]
        return np.concatenate([columns[0], *further], axis=-1)

    curve = ErrorColumns(
        joined([part.curve.far for part in parts]),
        joined([part.curve.frr for part in parts]),
        failed,
        parts[0].curve.untied,
    )
    values = {name: joined([part.values[name] for part in parts]) for name in parts[0].values}
    return Columns(curve, values)


def _has_equal_mirrored_scores(verified: Verified) -> bool:
    scores = verified.scores
    if verified.claims is not None or verified.use.fused is not None or scores.layout == "pairs":
        return False
    if not verified.points.symmetric:
        return False
    cells = scores.cells
    if cells.is_stored or cells.embeddings is not None or scores.has_mask or scores.exclude:
        return False
    values = cells.read(0, scores.shape[0])
    return np.array_equal(values, values.T, equal_nan=True)
