"""Limits of the rates of attacks and of their detection, by leaving out people and instruments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError
from bioeval.counting.thresholds import to_internal
from bioeval.results.variables import Variable
from bioeval.stats.curve_limits import grid_of
from bioeval.stats.error_curves import ErrorColumns
from bioeval.stats.limits import Limits, RateCurve, limits_of_sum, made_rising
from bioeval.stats.options import IntervalMethod, trials_of
from bioeval.stats.weighted_sums import by_subject, ratio
from bioeval.stats.weights import groups_of, kish, without_each
from bioeval.studies.attacks.presentations import BONA_FIDE, Presentations
from bioeval.studies.attacks.scores import (
    ALL_AT_ONCE,
    AttackAttempts,
    AttackedScores,
    with_pooled_and_largest,
)
from bioeval.tasks.verification_task import verification

if TYPE_CHECKING:
    from bioeval.studies.attacks.vulnerability import AttackCounts

#: Metadata columns of attack rows: besides each target, each of their values is left out in turn.
ALSO_LEFT_OUT = ("instrument", "attacker")

# By the ending of the names of rates: the variable that has their thresholds.
_THRESHOLD_NAMES = {
    "": "threshold",
    "_at_eer": "eer_threshold",
    "_at_far": "threshold_at_far",
    "_at_threshold": "threshold_used",
}


@dataclass(frozen=True, eq=False)
class AcceptedAttempts:
    """How many attempts of one class each distance accepts, also without each unit in turn.

    Units are people or objects. An attempt belongs to a unit of each kind, such as to a person and
    to an instrument.

    - `rates`: for each kind, the rate and the rate without each unit, (distances, 1 + units)
    - `attempts`: number of attempts
    - `effective_units`: for each kind, the effective number of units (Kish); 0 with a single unit
    """

    rates: Sequence[np.ndarray]
    attempts: int
    effective_units: Sequence[float]

    @classmethod
    def from_distances(cls, distances: np.ndarray, units: Sequence[np.ndarray]) -> AcceptedAttempts:
        """Count attempts; `units` has, for each kind, the unit of each attempt.

        A distance that is NaN is never accepted.
        """
        thresholds = grid_of(distances)
        rates = []
        effective_units = []
        for names in units:
            unit_names, unit, attempts_of_unit = np.unique(
                names, return_inverse=True, return_counts=True
            )
            group = groups_of(len(unit_names))[unit.reshape(-1)]
            groups = int(group.max(initial=-1)) + 1
            # (thresholds + 1, 1 + groups): accepted attempts of all, and without each group of
            # units (jackknife); the last row has all attempts.
            counts = without_each(
                np.cumsum(by_subject(distances, group, thresholds, groups), axis=0)
            )
            rates.append(ratio(counts[:-1], counts[-1]))
            effective_units.append(kish(attempts_of_unit) if trials_of(len(unit_names)) else 0.0)
        return cls(rates, len(distances), effective_units)

    def curve(self, confidence: float) -> RateCurve:
        """Return the limits of the rate as a function of the rate."""
        curves = [
            RateCurve.from_columns(x, self.attempts, units, confidence, sides=1)
            for x, units in zip(self.rates, self.effective_units, strict=True)
        ]
        rate = curves[0].rate
        # The variances due to the kinds of units add up: the limits are those of a sum of the rate,
        # taken as exact, and of a deviation by each kind, which is estimated as 0.
        deviations = [(0.0, x.low - rate, x.high - rate) for x in curves]
        low, high = limits_of_sum((rate, rate, rate), *deviations, least=0.0)
        return RateCurve(rate, *made_rising(low, np.minimum(high, 1.0)))


def class_limits(
    classes: Sequence[AcceptedAttempts], rates: np.ndarray, confidence: float
) -> Limits:
    """Return the limits of the rate of each class, (..., classes)."""
    limits = [x.curve(confidence).limits_at(rates[..., i]) for i, x in enumerate(classes)]
    low, high = (np.stack(ends, axis=-1) for ends in zip(*limits, strict=True))
    return low, high


def largest_limits(
    classes: Sequence[AcceptedAttempts], rates: np.ndarray, confidence: float
) -> Limits:
    """Return the limits of the largest of the true rates of classes; `rates` are (..., classes).

    The largest lower limit is too high if any lower limit is above its rate: each lower limit is
    at the level ``1 - (1 - confidence) / classes`` (Bonferroni). The largest upper limit is too low
    only if the upper limit of the largest rate is, and needs no correction. Limits are NaN if a
    limit of a class is NaN, or without a class.
    """
    if not classes:
        return np.full(rates.shape[:-1], np.nan), np.full(rates.shape[:-1], np.nan)
    low, _ = class_limits(classes, rates, 1 - (1 - confidence) / len(classes))
    _, high = class_limits(classes, rates, confidence)
    return low.max(axis=-1), high.max(axis=-1)


def presentation_limits(
    data: Presentations,
    units: Mapping[str, np.ndarray],
    options: IntervalMethod,
    distances: np.ndarray,
    targets: np.ndarray,
) -> dict[str, Limits]:
    """Return the limits of APCER and BPCER at distances, of the D-EER, and of BPCER at targets.

    `units` are the people and the instruments of the presentations; `targets` are APCER targets.
    """
    if not units:
        raise DataError(
            f'`interval="{options.method}"` leaves out people or objects; give '
            "`subjects` or `instrument`"
        )
    *species, bona_fide = (_accepted_presentations(data, units, code) for code in data.classes)
    classes = _DetectionClasses(data, species, bona_fide)
    limits: dict[str, Limits] = {
        "apcer": classes.apcer_limits(distances, options.confidence),
        "bpcer": classes.bpcer_limits(distances, options.confidence),
    }

    # The rates at points that APCER and BPCER choose: an end may miss because of either of the two,
    # each with half of the probability. The lower limits of both give the lower end.
    points = data.points.threshold
    confidence_of_each = (1 + options.confidence) / 2
    largest_apcer = classes.largest_apcer_limits(points, confidence_of_each)
    bpcer = classes.bpcer_limits(points, confidence_of_each)
    ends = [*zip(largest_apcer, bpcer, strict=True)]
    if not np.isnan(data.d_eer.eer):
        low, high = (
            np.array(ErrorColumns(x[1:, None], y[1:, None]).equal_error()[0]) for x, y in ends
        )
        limits["d_eer"] = low, high
    low, high = (_bpcer_at_targets(x, y, targets) for x, y in ends)
    limits["bpcer_at_apcer"] = low, high
    return limits


class _DetectionClasses(NamedTuple):
    """The presentations of each class, counted also without each unit in turn."""

    data: Presentations
    species: list[AcceptedAttempts]
    bona_fide: AcceptedAttempts

    def bpcer_limits(self, distances: np.ndarray, confidence: float) -> Limits:
        bpcer = self.data.rates(distances)["bpcer"]
        return self.bona_fide.curve(confidence).complement().limits_at(bpcer)

    def largest_apcer_limits(self, distances: np.ndarray, confidence: float) -> Limits:
        apcer = self.data.apcer_of_species(distances)[:, self.data.in_apcer]
        return largest_limits([*compress(self.species, self.data.in_apcer)], apcer, confidence)

    def apcer_limits(self, distances: np.ndarray, confidence: float) -> Limits:
        """Return limits (distances, labels of species); NaN for the pooled APCER."""
        of_species = class_limits(self.species, self.data.apcer_of_species(distances), confidence)
        of_largest = self.largest_apcer_limits(distances, confidence)
        of_pooled = np.full((len(distances), 1), np.nan)
        low, high = (
            np.concatenate([x, of_pooled, largest[:, None]], axis=1)
            for x, largest in zip(of_species, of_largest, strict=True)
        )
        return low, high


def _accepted_presentations(
    data: Presentations, units: Mapping[str, np.ndarray], code: int
) -> AcceptedAttempts:
    is_member = data.members(code)
    units_of_class = [
        x[is_member] for name, x in units.items() if code != BONA_FIDE or name == "subjects"
    ]
    return AcceptedAttempts.from_distances(
        data.distances[is_member], units_of_class or [np.arange(is_member.sum())]
    )


def _bpcer_at_targets(apcer: np.ndarray, bpcer: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return BPCER at the loosest point with APCER at most each target; both rates are limits."""
    # APCER grows with the distance; the point before the first distance rejects all attempts.
    point = np.searchsorted(apcer, targets, side="right")
    bpcer_at = np.append(1.0, bpcer)[point]
    return np.where(np.isnan(apcer).any() | np.isnan(bpcer_at), np.nan, bpcer_at)


def with_limits_of_attacks(
    dataset: xr.Dataset,
    counts: AttackCounts,
    attacked: AttackedScores,
    names: dict[str, Variable],
    options: IntervalMethod,
) -> xr.Dataset:
    """Return a result with limits of its rates at fixed thresholds.

    An attack is left out with its target, and with its instrument and its attacker if known.
    """
    threshold_names = {ending: name for ending, name in _THRESHOLD_NAMES.items() if name in dataset}
    thresholds = np.unique(
        np.concatenate([dataset[name].values.ravel() for name in threshold_names.values()])
    )
    thresholds = thresholds[np.isfinite(thresholds)]
    columns = [name for name in ALSO_LEFT_OUT if name in attacked.attacks.probe_meta]
    limits = _limits_of_rates(thresholds, counts, attacked, columns, options)
    limits_by_name: dict[str, Any] = {}
    for ending, name in threshold_names.items():
        limits_by_name |= _limits_at_point(
            dataset, limits, thresholds, ending, dataset[name].values
        )
    few_people = options.few_people(counts.verified.people.number)
    objects = [f"{name}s" for name in columns]
    return options.added_to(dataset, limits_by_name, names, few_people).assign_attrs(
        interval_threshold="thresholds stay",
        left_out=", ".join(["subjects", *objects]),
        interval_of_largest=ALL_AT_ONCE,
        interval_for=f"new {' and '.join(['people', *objects])}",
    )


def _limits_of_rates(
    thresholds: np.ndarray,
    counts: AttackCounts,
    attacked: AttackedScores,
    columns: Sequence[str],
    options: IntervalMethod,
) -> dict[str, Limits]:
    """Return the limits of FAR, FRR, IAPAR and RIAPAR at thresholds, by the name of the rate.

    `columns` are the metadata columns whose values are left out besides the targets.
    """
    use: Any = counts.verified.use
    bona_fide = verification(
        attacked.bona_fide,
        templates=use.templates,
        fusion=use.fusion,
        thresholds=thresholds,
        far_targets=(),
        costs=(),
        auc=False,
        interval=options.for_new_people,
    )
    far, frr = (
        (bona_fide[f"{x}_low"].values, bona_fide[f"{x}_high"].values) for x in ("far", "frr")
    )
    attacks = attacked.attacks
    units = [attacks.codes.probe, *(attacks.probe_meta[name] for name in columns)]
    distances = to_internal(thresholds, attacked.bona_fide.kind)
    iapar, iapar_limits = _iapar_with_limits(counts.attacks, units, distances, options.confidence)
    # RIAPAR is the sum of IAPAR and FRR.
    rate, low, high = (x[:, None] for x in (bona_fide["frr"].values, *frr))
    riapar = limits_of_sum((iapar, *iapar_limits), (rate, low, high), least=0.0)
    return {"far": far, "frr": frr, "iapar": iapar_limits, "riapar": riapar}


def _iapar_with_limits(
    attacks: AttackAttempts, units: Sequence[np.ndarray], distances: np.ndarray, confidence: float
) -> tuple[np.ndarray, Limits]:
    """Return IAPAR of each species, pooled and the largest, (distances, species + 2), with limits.

    `units` has, for each kind of unit, the unit of each attack row: first the targets.
    """
    unit_of_attempts = [
        np.unique(x.astype(str), return_inverse=True)[1][attacks.row] for x in units
    ]
    all_attempts = AcceptedAttempts.from_distances(attacks.distance, unit_of_attempts)
    species = [
        AcceptedAttempts.from_distances(
            attacks.distance[attacks.species == i],
            [unit[attacks.species == i] for unit in unit_of_attempts],
        )
        for i in range(len(attacks.names))
    ]
    accepted = attacks.accepted(distances)
    rates = ratio(accepted, attacks.attempt_counts)
    pooled = ratio(accepted.sum(axis=1), attacks.attempt_counts.sum())
    has_attempts = attacks.attempt_counts > 0
    tried_species = [*compress(species, has_attempts)]
    low, high = (
        np.concatenate([of_species, of_pooled[:, None], of_largest[:, None]], axis=1)
        for of_species, of_pooled, of_largest in zip(
            class_limits(species, rates, confidence),
            all_attempts.curve(confidence).limits_at(pooled),
            largest_limits(tried_species, rates[:, has_attempts], confidence),
            strict=True,
        )
    )
    return with_pooled_and_largest(rates, pooled), (low, high)


def _limits_at_point(
    dataset: xr.Dataset,
    limits: Mapping[str, Limits],
    thresholds: np.ndarray,
    ending: str,
    point_thresholds: np.ndarray,
) -> dict[str, Any]:
    """Return the limits of the rates of an operating point, by name; NaN without a threshold.

    `limits` are at the increasing `thresholds`, which include the `point_thresholds`; the names of
    the rates at the point have this `ending`.
    """
    # A threshold that is not finite has the index of another one, and limits of NaN.
    index = np.minimum(np.searchsorted(thresholds, point_thresholds), max(len(thresholds) - 1, 0))
    limits_by_name: dict[str, Any] = {}
    for rate, ends in limits.items():
        name = f"{rate}{ending}"
        if name not in dataset or name in ("far_at_eer", "frr_at_eer"):
            continue
        shape = point_thresholds.shape + (1,) * (ends[0].ndim - 1)
        is_finite = np.isfinite(point_thresholds).reshape(shape)
        limits_by_name[name] = tuple(np.where(is_finite, x[index], np.nan) for x in ends)
    return limits_by_name
