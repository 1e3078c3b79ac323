"""Confidence intervals of verification: curves and operating points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.messages import Message
from bioeval.base.progress import stage
from bioeval.counting.people import count_layers
from bioeval.counting.verification import Verified
from bioeval.results.support import independent_trials
from bioeval.results.variables import VERIFICATION
from bioeval.scores.people import People, require_people
from bioeval.stats.curve_limits import CurveLimits, grid_of, open_at_targets, thresholds_of
from bioeval.stats.error_curves import (
    EER,
    AttemptClass,
    CurveMeasure,
    ErrorColumns,
    corrected_to,
    curve_measures,
)
from bioeval.stats.genuine_rows import GenuineRows
from bioeval.stats.limits import Limits, RateCurve, percentile, student
from bioeval.stats.options import IntervalMethod, trials_of
from bioeval.stats.weighted_sums import (
    AttemptsMade,
    AttemptsOfEach,
    QuadraticForms,
    by_subject,
    linear_forms,
    ratio,
)
from bioeval.stats.weights import groups_of_people, kish, without_each

if TYPE_CHECKING:
    import xarray as xr

#: The most numbers of attempts in memory, by threshold and person, and by threshold and replicate:
#: enough for about 8,000 genuine scores of a thousand people, and 2,000 of 2,000 replicates.
MOST_CELLS = 1 << 23
MOST_DRAWN = 1 << 22


def verification_intervals(
    dataset: xr.Dataset,
    verified: Verified,
    options: IntervalMethod,
) -> xr.Dataset:
    """Return a result of verification with confidence intervals; `verified` has its counts."""
    subjects = None
    if not options.by_subject:
        limits, remarks = _independent(dataset, options)
    else:
        require_people(verified.scores, method=options.method)
        columns = VerificationColumns.count(verified, options)
        limits, remarks = columns.limits()
        limits |= {"far": columns.curve.far.limits_at(dataset["far"].values)}
        limits |= {"frr": columns.curve.frr.limits_at(dataset["frr"].values)}
        people = int(np.count_nonzero(~columns.people.no_person))
        remarks = [*options.few_people(people), *options.groups(people), *remarks]
        subjects = columns.subjects
    limits |= {
        "gar": (1 - limits["frr"][1], 1 - limits["frr"][0]),
        "grr": (1 - limits["far"][1], 1 - limits["far"][0]),
    }
    out = options.added_to(dataset, limits, VERIFICATION, remarks)
    if subjects is None:
        return out
    import xarray as xr

    attrs = VERIFICATION["genuine_subjects"].attrs
    number = np.asarray(subjects, np.int64)
    return out.assign(genuine_subjects=xr.Variable((), number, attrs, fastpath=True))


# ------------------------------------------------------------------------- independent attempts


def _independent(
    dataset: xr.Dataset, options: IntervalMethod
) -> tuple[dict[str, Limits], list[Message]]:
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
class VerificationColumns:
    """Verification without each person, or with people drawn again, or both.

    The first of all columns has the data. Thresholds that a measure chooses are chosen anew.
    """

    verified: Verified
    people: People
    options: IntervalMethod
    thresholds: np.ndarray  # increasing distances
    usual: np.ndarray  # thresholds that depend on the scores alone, not on measures
    every_score: bool  # whether the thresholds are all the distinct scores
    genuine_rows: GenuineRows | None  # None if the thresholds are all scores
    counted_at: np.ndarray  # the thresholds, and the thresholds of the genuine rows
    genuine: tuple[np.ndarray, np.ndarray]  # distances and subjects of genuine attempts
    made: AttemptsMade  # impostor attempts of each person; of each group, by `counted_at`
    without: ErrorColumns = field(init=False)  # FAR and FRR without each person
    drawn: ErrorColumns | None = None  # FAR and FRR in each replicate
    values: dict[str, np.ndarray] = field(default_factory=dict)  # measures (..., 1 + people)
    #: Measures (..., 1 + replicates).
    drawn_values: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    @stage("intervals")
    def count(
        cls,
        verified: Verified,
        options: IntervalMethod,
        measures: Sequence[CurveMeasure] | None = None,
        *,
        drawn: bool | None = None,
    ) -> VerificationColumns:
        """Count the attempts of each person, and compute some measures or all.

        People are left out in turn, unless the method resamples them. People are `drawn` again; by
        default, if the method resamples them. If there are more distinct scores than thresholds,
        points are interpolated linearly between two thresholds, and each column is corrected by the
        interpolation error of the data themselves. `verified` has its operating points.
        """
        # Choose measures, and thresholds at which attempts are counted.
        points = verified.points
        measures = measures or curve_measures()
        # The limit of the EER bounds the limit of the AUC.
        measures = [x for x in dict.fromkeys((EER, *measures)) if x.is_defined(points)]
        score_thresholds, every_score = thresholds_of(verified)
        people = verified.people
        thresholds = score_thresholds
        counted_at = score_thresholds
        _, groups = groups_of_people(people.no_person)
        genuine_rows = None
        if not every_score:
            thresholds_of_measures = [x.own_thresholds(points) for x in measures]
            thresholds = with_finite(
                score_thresholds,
                np.concatenate([_marked_thresholds(verified), *thresholds_of_measures]),
            )
            # The number of rows is the same for all measures, so that no value depends on others.
            genuine_rows = GenuineRows.from_attempts(
                verified, MOST_CELLS // (groups + 1) - len(score_thresholds)
            )
            counted_at = np.union1d(thresholds, genuine_rows.thresholds)

        # Count impostor attempts of each person and, if people are drawn, of each replicate.
        forms = None
        drawn_at = counted_at
        if options.resamples if drawn is None else drawn:
            weights = options.weights(people.number, people.no_person)
            if len(counted_at) * weights.shape[1] > MOST_DRAWN:
                drawn_at = thresholds
            if options.resamples:
                counted_at = drawn_at
            layers = np.append(drawn_at.searchsorted(counted_at), len(drawn_at)).astype(np.int32)
            both_ways = _has_equal_mirrored_scores(verified)
            forms = QuadraticForms(weights, len(drawn_at) + 1, layers, both_ways=both_ways)
        attempts_made: AttemptsMade = AttemptsMade(people.number)
        if not options.resamples:
            attempts_made = AttemptsOfEach(people.no_person, len(counted_at) + 1)
        sinks = [attempts_made] if forms is None else [attempts_made, forms]
        distances, owners, failed = count_layers(verified, counted_at, *sinks)

        # Compute measures without each person, and of each replicate.
        columns = cls(
            verified,
            people,
            options,
            thresholds,
            score_thresholds,
            every_score,
            genuine_rows,
            counted_at,
            (distances, owners),
            attempts_made,
        )
        if not options.resamples:
            columns._without_each(measures, failed)
        if forms is not None:
            untied = columns._untied(drawn_at)
            curve = ErrorColumns.weighted(forms, columns.genuine, drawn_at, failed, untied)
            needed = [x for x in measures if options.resamples or x.scalar.quantile]
            columns.drawn_values = columns._measured(needed, curve, drawn_at)
            columns.drawn = curve.at_rows(drawn_at.searchsorted(thresholds))
        return columns

    @property
    def persons(self) -> AttemptsOfEach:
        """The impostor attempts of each person, or group of people, who is left out."""
        assert isinstance(self.made, AttemptsOfEach)
        return self.made

    def _untied(self, thresholds: np.ndarray) -> np.ndarray | None:
        """Return which thresholds are genuine scores that no impostor score equals; or None."""
        rows = self.genuine_rows
        return None if rows is None else np.isin(thresholds, rows.untied)

    def _without_each(self, measures: Sequence[CurveMeasure], failed: bool) -> None:
        thresholds = self.counted_at
        untied = self._untied(self.counted_at)
        rows = thresholds.searchsorted(self.thresholds)
        parts = []
        curves = []
        for accepted, genuine_accepted in self.persons.curves(self.genuine, thresholds):
            curve = ErrorColumns.of_counts(accepted, genuine_accepted, failed, untied)
            parts.append(self._measured(measures, curve, thresholds))
            curves.append(curve.at_rows(rows))

        def joined(columns: Sequence[np.ndarray]) -> np.ndarray:
            """Return the columns of all parts; the first column, the data, is kept once."""
            further = [x[..., 1:] for x in columns[1:]]
            return np.concatenate([columns[0], *further], axis=-1)

        far, frr = (joined([getattr(x, rate) for x in curves]) for rate in ("far", "frr"))
        self.without = ErrorColumns(far, frr, failed, curves[0].untied)
        self.values = {name: joined([x[name] for x in parts]) for name in parts[0]}

    def _measured(
        self, measures: Sequence[CurveMeasure], curve: ErrorColumns, at: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return measures in each column of a curve at thresholds; NaN if undefined on the data.

        A measure uses all genuine scores or, if these are too many, the `usual` thresholds, a
        selection of genuine scores and the measure's own thresholds: its value does not depend on
        other measures.
        """
        points = self.verified.points
        rows = self.genuine_rows
        values = {}
        exact = self.every_score
        shared = self.usual
        if rows is not None and np.isin(rows.thresholds, at).all():
            exact = rows.exact
            shared = np.union1d(self.usual, rows.thresholds)
        for measure in measures:
            chosen = measure.own_thresholds(points)
            targets = measure.targets(points)
            at_targets = np.empty((len(targets), curve.far.shape[1]))
            for i, target in enumerate(targets):
                errors = curve
                if not exact:
                    thresholds = with_finite(shared, chosen[i : i + 1])
                    errors = curve.at_rows(np.searchsorted(at, thresholds))
                at_targets[i] = measure.in_columns(errors, target, exact)
            columns = at_targets if measure.of_target else at_targets[0]
            value = points.values.get(measure.name, np.nan)
            values[measure.name] = corrected_to(value, columns, measure.scalar.bounds)
        return values

    # -- units

    @property
    def subjects(self) -> int:
        """The number of subjects with genuine attempts; 0 for a single subject."""
        return trials_of(self.people.count(self.genuine[1]))

    @cached_property
    def _units(self) -> dict[AttemptClass, float]:
        """The effective number of independent people, or of disjoint pairs, of each class."""
        people = ~self.people.no_person
        genuine_attempts = np.bincount(self.genuine[1], minlength=len(people))
        probing, claimed = self.made.made[:, people]
        sides = kish(probing), kish(claimed), kish(probing + claimed) / 2
        compared = self.verified.compared  # None if no template is of a person
        disjoint = 0 if compared is None else compared.disjoint
        pairs = min(disjoint, *(x for x in sides if x), np.inf)
        return {"genuine": kish(genuine_attempts[people]), "impostor": pairs}

    # -- limits

    @cached_property
    def curve(self) -> CurveLimits:
        """FAR and FRR at the `usual` thresholds, with their limits."""
        curve = self.drawn if self.options.resamples else self.without
        assert curve is not None
        usual = curve.at_rows(np.searchsorted(self.thresholds, self.usual))
        far, frr = self._rate_curves(usual.far, self.options.rate_curve)
        return CurveLimits(usual, self.every_score, far, frr, self.options.confidence)

    def one_sided(self, confidence: float) -> CurveLimits:
        """Return the curve with one-sided limits of this confidence."""

        def limits(columns: np.ndarray, made: float, units: float, **about: Any) -> RateCurve:
            return RateCurve.from_columns(columns, made, units, confidence, **about, one_sided=True)

        usual = self.curve.curve
        far, frr = self._rate_curves(usual.far, limits)
        return CurveLimits(usual, self.every_score, far, frr, confidence)

    def _rate_curves(
        self, far: np.ndarray, limits: Callable[..., RateCurve]
    ) -> tuple[RateCurve, RateCurve]:
        copies = copies_of(self.verified)
        units = self._units
        impostors = self.verified.attempts.impostor_attempts / copies
        return (
            limits(far, impostors, units["impostor"], sides=2, raised=True),
            limits(
                self._frr, len(self.genuine[0]) / copies, units["genuine"], sides=1, raised=True
            ),
        )

    @cached_property
    def _frr(self) -> np.ndarray:
        values, people = self.genuine
        grid = grid_of(values)
        if self.options.resamples:
            number = len(self.people.no_person)
            weights = self.options.weights(number, self.people.no_person)
            counts = by_subject(values, people, grid, number)
            genuine_accepted = np.cumsum(linear_forms(counts, weights), axis=0)
        else:
            group = self.persons.group[people]
            groups = self.persons.groups
            counts = np.cumsum(by_subject(values, group, grid, groups + 1), axis=0)
            mated = np.append(counts[-1, :-1] > 0, False)
            genuine_accepted = without_each(counts[:, mated], counts.sum(axis=1))
        return 1 - ratio(genuine_accepted[:-1], genuine_accepted[-1])

    def limits(self) -> tuple[dict[str, Limits], list[Message]]:
        """Return the limits of each measure, and messages."""
        limits = {}
        values = self.drawn_values if self.options.resamples else self.values
        for measure in curve_measures():
            if measure.name in values:
                limits[measure.name] = self._limits_of(measure)
        if "auc" in limits:  # a curve with the EER e has at least an AUC of (1 - e)^2
            low, high = limits["auc"]
            limits["auc"] = np.fmax(low, (1 - limits["eer"][1]) ** 2), high
        remarks: list[Message] = []
        if "frr_at_far" in limits:
            impostors = self.verified.attempts.impostor_attempts / copies_of(self.verified)
            limits["frr_at_far"], remarks = open_at_targets(
                limits["frr_at_far"],
                "upper",
                self.verified.points.wanted.targets,
                independent_trials(impostors, self.verified.compared),
                rate="frr",
            )
        return limits, remarks

    def _limits_of(self, measure: CurveMeasure) -> Limits:
        units_of_classes = self._units
        confidence = self.options.confidence
        units = min(units_of_classes[x] for x in measure.rate_of or units_of_classes)
        if self.options.resamples:
            values = measure.scalar.scaled(self.drawn_values[measure.name])
            low, high = percentile(values, confidence, units)
            return measure.scalar.unscaled(low), measure.scalar.unscaled(high)
        columns = self.values[measure.name]
        if len(measure.rate_of) == 2:
            return self.curve.at_equal_error(columns)
        if measure.of_target in ("far", "frr"):
            thresholds = measure.own_thresholds(self.verified.points)
            rates = [*map(self.at_threshold, thresholds)]
            return self.curve.at_targets(measure.of_target, columns, rates)
        return student(columns, confidence, units, measure.scalar.bounds)

    # -- at a threshold

    def row_of(self, threshold: float) -> int:
        """Return the index of the last of :attr:`thresholds` up to a threshold; -1 rejects all."""
        if np.isnan(threshold):
            return -1
        return int(np.searchsorted(self.thresholds, threshold, side="right")) - 1

    def at_threshold(self, threshold: float) -> tuple[np.ndarray, np.ndarray]:
        """Return FAR and FRR at a threshold, an internal distance, in columns (1 + people,)."""
        return self.without.at_row(self.row_of(threshold))

    def errors_of_each(self, threshold: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the false rejects and the false accepts of each person at a threshold.

        A false accept counts for both people. With more than a thousand people, errors are counted
        by group.
        """
        layer = -1 if np.isnan(threshold) else len(self.counted_at)
        if threshold < np.inf:
            layer = int(self.counted_at.searchsorted(threshold, side="right")) - 1
        values, people = self.genuine
        rejected = ~(values <= threshold)
        groups = self.persons.groups
        rejects = np.bincount(self.persons.group[people[rejected]], minlength=groups + 1)[:groups]
        return rejects, self.persons.accepts_of_each(layer)

    def placements_of_each(self) -> np.ndarray:
        """Return, for each person, the pairs of a genuine score and an impostor score below it."""
        distances, people = self.genuine
        distances = np.where(np.isnan(distances), np.inf, distances)  # failures come last
        below = np.asarray(self.verified.attempts.false_accepts(distances), dtype=np.float64)
        groups = self.persons.groups
        return np.bincount(self.persons.group[people], below, minlength=groups + 1)[:groups]


def copies_of(verified: Verified) -> int:
    """Return how often each comparison is counted: twice in a symmetric matrix."""
    return 2 if verified.points.symmetric else 1


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


def with_finite(thresholds: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return increasing thresholds, and the finite numbers among `wanted`."""
    return np.union1d(thresholds, wanted[np.isfinite(wanted)])


def _marked_thresholds(verified: Verified) -> np.ndarray:
    given_thresholds = (
        verified.curve[0] if verified.requested_thresholds is not None else np.empty(0)
    )
    thresholds_of_points = verified.points.thresholds(
        "threshold_at_far", "threshold_at_frr", "eer_threshold"
    )
    return np.append(thresholds_of_points, given_thresholds if len(given_thresholds) <= 64 else [])
