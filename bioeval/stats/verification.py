"""Confidence intervals of verification: curves and operating points.

:func:`verification_intervals` adds the limits to a result. Limits by subject follow from columns
(:class:`VerificationColumns`): FAR, FRR and each measure of all people in column 0, and in each
further column without one person (the jackknife), or with people drawn again (the bootstrap). With
three people, FAR at thresholds 0.1 and 0.2 may be::

           all   without A   without B   without C
    0.1   0.02        0.03        0.00        0.03
    0.2   0.10        0.12        0.05        0.11

All columns follow from one pass over the scores, which counts the attempts of each person, or of
each pair of people, between thresholds (:mod:`bioeval.stats.curve_thresholds`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bioeval.base.errors import Message
from bioeval.base.progress import stage
from bioeval.counting.pair_layers import count_layers
from bioeval.counting.threshold_rules import VerificationPoints
from bioeval.counting.verification import Verified
from bioeval.results.support import independent_trials
from bioeval.results.variables import VERIFICATION
from bioeval.scores.people import require_people, units_of_people
from bioeval.stats.curve_limits import CurveLimits, open_at_targets
from bioeval.stats.curve_thresholds import CountedThresholds, grid_of
from bioeval.stats.error_curves import EER, CurveMeasure, ErrorColumns, curve_measures
from bioeval.stats.impostor_sums import ImpostorsOfGroups, ImpostorsOfPeople, QuadraticForms
from bioeval.stats.jackknife import Limits, percentile, student
from bioeval.stats.options import IntervalMethod, trials_of
from bioeval.stats.rate_limits import RateCurve, Sample
from bioeval.stats.weighted_sums import (
    by_subject,
    groups_of_people,
    kish,
    linear_forms,
    rates_without_each,
    ratio,
)

if TYPE_CHECKING:
    import xarray as xr


#: The most numbers of attempts in memory, by threshold and replicate: enough for about 2,000
#: genuine scores of 2,000 replicates.
MOST_DRAWN = 1 << 22


def verification_intervals(
    dataset: xr.Dataset,
    verified: Verified,
    points: VerificationPoints,
    options: IntervalMethod,
) -> xr.Dataset:
    """Return a result of verification with confidence intervals, from its counts and points."""
    counts = {}
    if options.by_subject:
        require_people(verified.scores, method=options.method)
        columns = VerificationColumns(verified, points, options)
        limits_of = VerificationLimits(columns)
        limits, remarks = limits_of.measures()
        limits["far"] = limits_of.curve.far.limits_at(dataset["far"].values)
        limits["frr"] = limits_of.curve.frr.limits_at(dataset["frr"].values)
        sampled = columns.sampled
        remarks = [*options.few_people(sampled), *options.groups(sampled), *remarks]
        counts["genuine_subjects"] = trials_of(columns.people.count(columns.genuine.person))
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
    - `counted_at`: increasing distances; the layers of `impostors` are between them
    - `impostors`: impostor attempts of each person and, unless the method resamples, of each group
      of people who are left out together, by layer
    - `without`: without each person, (..., 1 + people); empty if the method resamples
    - `replicates`: with people drawn again, (..., 1 + replicates); empty if nobody is drawn
    """

    @stage("intervals")
    def __init__(
        self,
        verified: Verified,
        points: VerificationPoints,
        options: IntervalMethod,
        measures: Sequence[CurveMeasure] | None = None,
        *,
        drawn: bool | None = None,
    ):
        """Count the attempts of each person, and compute some measures or all.

        People are left out in turn, unless the method resamples them. People are `drawn` again; by
        default, if the method resamples them.
        """
        self.verified = verified
        self.points = points
        self.options = options
        self.people = verified.people
        no_person = self.people.no_person
        self.units = units_of_people(verified.scores, options.unit)
        if self.units is not None:
            self.units = self.units[self.people.of_code >= 0]  # by person, in the order of codes
        _, groups = groups_of_people(no_person, self.units)

        # The limit of the EER bounds the limit of the AUC.
        all_measures = dict.fromkeys((EER, *(measures or curve_measures())))
        defined = [x for x in all_measures if x.is_defined(points)]
        self.grid = CountedThresholds(verified, points, defined, groups + 1)
        self.counted_at = np.union1d(self.grid.thresholds, self.grid.at_genuine)

        # If people alone are drawn, each replicate is counted from its attempts; drawn units follow
        # from the columns without each unit.
        is_drawn = options.resamples if drawn is None else drawn
        forms = None
        drawn_at = self.counted_at
        if is_drawn and self.units is None:
            weights = options.weights(self.people.number, no_person)
            if len(drawn_at) * weights.shape[1] > MOST_DRAWN:
                drawn_at = self.grid.thresholds
            if options.resamples:
                self.counted_at = drawn_at
            forms = self._forms(weights, drawn_at)

        # One pass counts the attempts for all columns.
        self.impostors = ImpostorsOfPeople(self.people.number)
        if not options.resamples:
            attempts = verified.attempts.impostor_attempts
            layers = len(self.counted_at) + 1
            self.impostors = ImpostorsOfGroups(no_person, layers, attempts, self.units)
        sinks = [self.impostors] if forms is None else [self.impostors, forms]
        self.genuine, failed = count_layers(verified, self.counted_at, *sinks)

        self.without = self.replicates = _NO_COLUMNS
        if not options.resamples:
            self.without = self._without_each(defined, failed)
        quantiles = [x for x in defined if x.scalar.quantile]
        if forms is not None:
            needed = defined if options.resamples else quantiles
            self.replicates = self._drawn_people(forms, drawn_at, needed, failed)
        elif is_drawn:
            curve = self.without.curve.drawn(options.weights(groups)[:, 1:])
            values = self.grid.measured(quantiles, curve, self.grid.thresholds)
            self.replicates = Columns(curve, values)

    def _forms(self, weights: np.ndarray, drawn_at: np.ndarray) -> QuadraticForms:
        """Return the empty sums of impostor attempts with people drawn again, at thresholds."""
        # Between two of the thresholds, there may be several counted layers.
        layer_of_counted = np.append(drawn_at.searchsorted(self.counted_at), len(drawn_at))
        return QuadraticForms(
            weights,
            len(drawn_at) + 1,
            layer_of_counted.astype(np.int32),
            both_ways=_has_equal_mirrored_scores(self.verified, self.points),
        )

    def _drawn_people(
        self,
        forms: QuadraticForms,
        drawn_at: np.ndarray,
        measures: Sequence[CurveMeasure],
        failed: bool,
    ) -> Columns:
        """Return rates and measures with people drawn again, from their counts at thresholds."""
        untied = self.grid.untied(drawn_at)
        curve = ErrorColumns.weighted(forms, self.genuine, drawn_at, failed, untied)
        values = self.grid.measured(measures, curve, drawn_at)
        rows = drawn_at.searchsorted(self.grid.thresholds)
        return Columns(curve.at_rows(rows), values)

    def _without_each(self, measures: Sequence[CurveMeasure], failed: bool) -> Columns:
        """Return rates and measures without each person, computed for some people at a time."""
        untied = self.grid.untied(self.counted_at)
        rows = self.counted_at.searchsorted(self.grid.thresholds)
        parts = []
        for accepted, genuine_accepted in self.left_out.curves(self.genuine, self.counted_at):
            curve = ErrorColumns.of_counts(accepted, genuine_accepted, failed, untied)
            values = self.grid.measured(measures, curve, self.counted_at)
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

    @property
    def left_out(self) -> ImpostorsOfGroups:
        """The impostor attempts of each person, or group of people, who is left out."""
        assert isinstance(self.impostors, ImpostorsOfGroups)
        return self.impostors

    # -- people who are left out

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
        if np.isnan(threshold):
            layer = -1  # rejects all
        elif threshold < np.inf:
            layer = int(self.counted_at.searchsorted(threshold, side="right")) - 1
        else:
            layer = len(self.counted_at)  # accepts all, also beyond the largest counted threshold
        is_rejected = ~(self.genuine.distance <= threshold)
        rejects = self._sum_by_group(self.genuine.person[is_rejected])
        return rejects, self.left_out.accepts_of_each(layer)

    def placements_of_each(self) -> np.ndarray:
        """Return, for each person, the pairs of a genuine score and an impostor score below it."""
        distance, person = self.genuine
        distance = np.where(np.isnan(distance), np.inf, distance)  # failures come last
        below = np.asarray(self.verified.attempts.false_accepts(distance), dtype=np.float64)
        return self._sum_by_group(person, below)

    def _sum_by_group(self, person: np.ndarray, numbers: np.ndarray | None = None) -> np.ndarray:
        """Return the sum of numbers, 1 by default, over the people of each group left out."""
        groups = self.left_out.groups
        # The last sum is of templates of no person, who are never left out.
        return np.bincount(self.left_out.group[person], numbers, minlength=groups + 1)[:groups]


class VerificationLimits:
    """The limits of FAR and FRR along the curve, and of measures, from columns.

    A limit depends on how many independent trials the attempts of each class are worth: see
    :class:`~bioeval.stats.rate_limits.Sample`.
    """

    def __init__(self, columns: VerificationColumns):
        self.counted = columns
        self.options = columns.options
        #: The rates and measures from whose spread limits are computed.
        self.used = columns.replicates if columns.options.resamples else columns.without

    @property
    def _directions(self) -> int:
        """How often each comparison is among the attempts: twice in a symmetric matrix."""
        return 1 + bool(self.counted.points.symmetric)

    @property
    def _impostor_comparisons(self) -> float:
        return self.counted.verified.attempts.impostor_attempts / self._directions

    @cached_property
    def _genuine_sample(self) -> Sample:
        is_person = ~self.counted.people.no_person
        attempts_of_person = np.bincount(self.counted.genuine.person, minlength=len(is_person))
        shares = np.empty(0)
        if not self.options.resamples:
            shares = self.counted.left_out.shares(attempts_of_person)
            shares = shares[shares > 0]  # the columns of `_frr`
        units = kish(self.counted.by_unit(attempts_of_person[is_person]))
        attempts = len(self.counted.genuine.distance) / self._directions
        return Sample(attempts, units, 1, shares, least=units, most=units)

    @cached_property
    def _impostor_sample(self) -> Sample:
        disjoint, pairs = self._effective_pairs()
        shares = np.empty(0) if self.options.resamples else self.counted.left_out.impostor_shares
        attempts = self._impostor_comparisons
        return Sample(attempts, disjoint, 2, shares, least=disjoint, most=max(pairs, disjoint))

    def _effective_pairs(self) -> tuple[float, float]:
        """Return the effective numbers of disjoint pairs of people, and of pairs, or of units.

        Both numbers are 0 if no template is of a person.
        """
        compared = self.counted.verified.compared
        if compared is None:
            return 0.0, 0.0
        is_person = ~self.counted.people.no_person
        # (people,), or (units,): attempts as the probe, as the person claimed, and as either.
        of_probe, of_claimed = map(
            self.counted.by_unit, self.counted.impostors.attempts[:, is_person]
        )
        of_either = of_probe + of_claimed
        probing = kish(of_probe)
        claimed = kish(of_claimed)
        either = kish(of_either)

        # Each person is in one disjoint pair: there are no more pairs than people of a side.
        limits = probing, claimed, either / 2
        disjoint = min([compared.disjoint, *(x for x in limits if x)])

        # Pairs of people with unequal numbers of attempts are worth fewer pairs: of each side, as
        # many fewer as the effective number of people is smaller than the number of people.
        people_probing, people_claimed, people_either = (
            max(int(np.count_nonzero(x)), 1) for x in (of_probe, of_claimed, of_either)
        )
        by_sides = probing / people_probing * claimed / people_claimed
        pairs = compared.pairs * max(by_sides, (either / people_either) ** 2)
        if self.counted.units is not None:
            # The compared pairs are of people, of whom a unit may have several.
            pairs *= (self.counted.sampled / max(int(np.count_nonzero(is_person)), 1)) ** 2
        return disjoint, pairs

    @cached_property
    def curve(self) -> CurveLimits:
        """FAR and FRR at the `usual` thresholds, with their limits."""
        return self._curve(self.options.rate_curve, self.options.confidence)

    def one_sided(self, confidence: float) -> CurveLimits:
        """Return the curve with one-sided limits of this confidence."""
        miss = 1 - confidence
        limits = partial(RateCurve.from_columns, miss=miss, miss_at_ends=miss)
        return self._curve(limits, confidence)

    def _curve(self, limits: Callable[..., RateCurve], confidence: float) -> CurveLimits:
        rows = self.counted.grid.thresholds.searchsorted(self.counted.grid.usual)
        usual = self.used.curve.at_rows(rows)
        return CurveLimits(
            usual,
            self.counted.grid.every_score,
            limits(usual.far, self._impostor_sample, raised=True),
            limits(self._frr, self._genuine_sample, raised=True),
            confidence,
        )

    @cached_property
    def _frr(self) -> np.ndarray:
        """FRR along the genuine scores alone, (points, columns)."""
        distance, person = self.counted.genuine
        scores = grid_of(distance)
        if self.options.resamples:
            no_person = self.counted.people.no_person
            counts = by_subject(distance, person, scores, len(no_person))
            weights = self.options.weights(len(no_person), no_person)
            accepted = np.cumsum(linear_forms(counts, weights), axis=0)  # the last row has all
            return 1 - ratio(accepted[:-1], accepted[-1])
        groups = self.counted.left_out.groups
        counts = by_subject(distance, self.counted.left_out.group[person], scores, groups + 1)
        accepted = np.cumsum(counts, axis=0)  # (points + 1, groups + 1); the last row has all
        total = accepted.sum(axis=1)
        # Without a group that has no genuine attempt, nothing changes; the last column is of
        # templates of no person.
        is_left_out = np.append(accepted[-1, :-1] > 0, False)
        of_group = accepted[:, is_left_out]
        return 1 - rates_without_each(of_group[:-1], of_group[-1], total[:-1], total[-1])

    def measures(self) -> tuple[dict[str, Limits], list[Message]]:
        """Return the limits of the measures by name, and messages on limits that are open."""
        limits = {}
        for measure in curve_measures():
            if measure.name in self.used.values:
                limits[measure.name] = self._limits_of(measure)
        if "auc" in limits:  # a curve with the EER e has at least an AUC of (1 - e)^2
            low, high = limits["auc"]
            limits["auc"] = np.fmax(low, (1 - limits["eer"][1]) ** 2), high
        remarks: list[Message] = []
        if "frr_at_far" in limits:
            limits["frr_at_far"], remarks = open_at_targets(
                limits["frr_at_far"],
                "upper",
                self.counted.points.wanted.targets,
                independent_trials(self._impostor_comparisons, self.counted.verified.compared),
                rate="frr",
            )
        return limits, remarks

    def _limits_of(self, measure: CurveMeasure) -> Limits:
        confidence = self.options.confidence
        units_by_class = {
            "genuine": self._genuine_sample.units,
            "impostor": self._impostor_sample.units,
        }
        # A cost or an area, which is the rate of no class, depends on both.
        units = min(units_by_class[x] for x in measure.rate_of or units_by_class)
        columns = self.used.values[measure.name]
        if self.options.resamples:
            low, high = percentile(measure.scalar.scaled(columns), confidence, units)
            return measure.scalar.unscaled(low), measure.scalar.unscaled(high)
        if len(measure.rate_of) == 2:  # an equal error rate
            return self.curve.at_equal_error(columns)
        if measure.of_target in ("far", "frr"):
            points = self.counted.points
            rates = [self.counted.at_threshold(x) for x in measure.own_thresholds(points)]
            targets = np.asarray(measure.targets(points), dtype=np.float64)
            return self.curve.at_targets(measure.of_target, targets, columns, rates)
        return student(columns, confidence, units, measure.scalar.bounds)


def _has_equal_mirrored_scores(verified: Verified, points: VerificationPoints) -> bool:
    """Whether each comparison has an attempt in both directions with the same score.

    It is judged for a matrix in memory alone: others would be read once more, which costs more time
    than to weigh both directions.
    """
    scores = verified.scores
    if verified.claims is not None or verified.use.fused is not None or scores.layout == "pairs":
        return False
    if not points.symmetric:
        return False
    cells = scores.cells
    if cells.is_stored or cells.embeddings is not None or scores.has_mask or scores.exclude:
        return False
    values = cells.read(0, scores.shape[0])
    return np.array_equal(values, values.T, equal_nan=True)
