"""Limits of attacks and of their detection: people and instruments are left out in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError
from bioeval.counting.thresholds import to_internal
from bioeval.results.variables import Variable
from bioeval.stats.curve_limits import grid_of
from bioeval.stats.error_curves import ErrorColumns
from bioeval.stats.limits import Limits, RateCurve, limits_of_sum, rising
from bioeval.stats.options import IntervalMethod, trials_of
from bioeval.stats.people import by_subject, ratio
from bioeval.stats.weights import groups_of, kish, without_each
from bioeval.studies.attacks.presentations import BONA_FIDE, Presentations
from bioeval.studies.attacks.scores import (
    AttackAttempts,
    AttackedScores,
    with_pooled_and_largest,
)
from bioeval.tasks.verification_task import verification

if TYPE_CHECKING:
    from bioeval.studies.attacks.vulnerability import AttackCounts

#: The method of the limits of the largest rate of several species, an attribute of results.
ALL_AT_ONCE = "all species at once"

#: Metadata columns of attack rows that are left out beside their targets.
ALSO_LEFT_OUT = ("instrument", "attacker")

# The thresholds of a result, by the end of the names of the rates at the threshold.
_THRESHOLDS = {
    "": "threshold",
    "_at_eer": "eer_threshold",
    "_at_far": "threshold_at_far",
    "_at_threshold": "threshold_used",
}


@dataclass(frozen=True, eq=False)
class AcceptedAttempts:
    """The rate at which attempts of one class are accepted, along distances, without each unit.

    An attempt may be of several kinds of units, such as a person and an instrument.

    - `columns`: of each kind, the rate and the rate without each unit, (distances, 1 + units)
    - `attempts`: number of attempts
    - `units`: of each kind how many units with equal numbers of attempts there are; 0 for one
    """

    columns: Sequence[np.ndarray]
    attempts: int
    units: Sequence[float]

    @classmethod
    def from_distances(cls, distances: np.ndarray, units: Sequence[np.ndarray]) -> AcceptedAttempts:
        """Count attempts; `units` has, for each kind, the unit of each attempt.

        A distance that is NaN is never accepted.
        """
        thresholds = grid_of(distances)
        columns = []
        numbers = []
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
            columns.append(ratio(counts[:-1], counts[-1]))
            numbers.append(kish(attempts_of_unit) if trials_of(len(unit_names)) else 0.0)
        return cls(columns, len(distances), numbers)

    def curve(self, confidence: float) -> RateCurve:
        """Return the limits of the rate as a function of the rate.

        The variances due to the kinds of units add up.
        """
        curves = [
            RateCurve.from_columns(x, self.attempts, units, confidence, sides=1)
            for x, units in zip(self.columns, self.units, strict=True)
        ]
        rate = curves[0].rate
        # The rate without an error of its own, and a deviation of 0 by each kind of units.
        deviations = [(0.0, x.low - rate, x.high - rate) for x in curves]
        low, high = limits_of_sum((rate, rate, rate), *deviations, least=0.0)
        return RateCurve(rate, *rising(low, np.minimum(high, 1.0)))


def class_limits(
    classes: Sequence[AcceptedAttempts], rates: np.ndarray, confidence: float
) -> Limits:
    """Return the limits of the rate of each class (..., classes)."""
    limits = [x.curve(confidence).limits_at(rates[..., i]) for i, x in enumerate(classes)]
    low, high = (np.stack(ends, axis=-1) for ends in zip(*limits, strict=True))
    return low, high


def largest_limits(
    classes: Sequence[AcceptedAttempts], rates: np.ndarray, confidence: float
) -> Limits:
    """Return the limits of the largest of several true rates, (..., classes).

    The largest lower limit misses if any lower limit is above its rate: lower limits are at the
    level ``1 - (1 - confidence) / number`` (Bonferroni). The largest upper limit misses only if the
    upper limit of the largest rate does, and needs no such correction. Limits are NaN if the limits
    of a rate are NaN, or without a class.
    """
    if not len(classes):
        return np.full(rates.shape[:-1], np.nan), np.full(rates.shape[:-1], np.nan)
    low, _ = class_limits(classes, rates, 1 - (1 - confidence) / len(classes))
    _, high = class_limits(classes, rates, confidence)
    return low.max(axis=-1), high.max(axis=-1)


def presentation_limits(
    data: Presentations,
    units: Mapping[str, np.ndarray],
    options: IntervalMethod,
    places: np.ndarray,
    targets: np.ndarray,
) -> dict[str, Limits]:
    """Return the limits of rates at distances, of ``d_eer``, and of ``bpcer_at_apcer``."""
    if not units:
        raise DataError(
            f'`interval="{options.method}"` leaves out people or objects; give '
            "`subjects` or `instrument`"
        )
    classes = []
    for i in data.classes:
        is_member = data.members(i)
        units_of_class = [
            x[is_member] for name, x in units.items() if i != BONA_FIDE or name == "subjects"
        ]
        classes.append(
            AcceptedAttempts.from_distances(
                data.distances[is_member], units_of_class or [np.arange(is_member.sum())]
            )
        )
    *species, bona_fide = classes
    confidence = options.confidence
    is_counted = data.counted
    counted_species = [x for x, is_in in zip(species, is_counted, strict=True) if is_in]

    def limits_at(distances: np.ndarray, confidence: float) -> tuple[Limits, Limits]:
        rates = data.rates(distances)
        largest = largest_limits(
            counted_species, data.of_species(rates["apcer"])[:, is_counted], confidence
        )
        return largest, bona_fide.curve(confidence).complement().limits_at(rates["bpcer"])

    largest, limits_of_bpcer = limits_at(places, confidence)
    unknown = np.full((len(places), 1), np.nan)  # of the pooled rate
    alone = class_limits(species, data.of_species(data.rates(places)["apcer"]), confidence)
    low, high = (
        np.concatenate([each, unknown, of_all[:, None]], axis=1)
        for each, of_all in zip(alone, largest, strict=True)
    )
    limits: dict[str, Limits] = {"apcer": (low, high), "bpcer": limits_of_bpcer}
    # Of the probability that an end misses, half is due to APCER and half to BPCER.
    falling, rising_ = limits_at(data.points.threshold, (1 + confidence) / 2)
    if not np.isnan(data.d_eer.eer):
        ends = [
            ErrorColumns(apcer[1:, None], bpcer[1:, None]).equal_error()[0]
            for apcer, bpcer in zip(falling, rising_, strict=True)
        ]
        limits["d_eer"] = np.array(ends[0]), np.array(ends[1])
    ends = []
    for ends_of_apcer, ends_of_bpcer in zip(falling, rising_, strict=True):
        # APCER grows with the distance; the point before the first distance rejects all attempts.
        point = np.searchsorted(ends_of_apcer, targets, side="right")
        bpcer = np.append(1.0, ends_of_bpcer)[point]
        ends.append(np.where(np.isnan(ends_of_apcer).any() | np.isnan(bpcer), np.nan, bpcer))
    limits["bpcer_at_apcer"] = ends[0], ends[1]
    return limits


def with_limits_of_attacks(
    dataset: xr.Dataset,
    counts: AttackCounts,
    parts: AttackedScores,
    names: dict[str, Variable],
    options: IntervalMethod,
) -> xr.Dataset:
    """Return a result with limits of its rates at fixed thresholds.

    An attack leaves with its target, and with its instrument and its attacker if known.
    """
    threshold_names = {point: name for point, name in _THRESHOLDS.items() if name in dataset}
    thresholds = np.unique(
        np.concatenate([dataset[name].values.ravel() for name in threshold_names.values()])
    )
    thresholds = thresholds[np.isfinite(thresholds)]
    use: Any = counts.verified.use
    bona_fide = verification(
        parts.bona_fide,
        templates=use.templates,
        fusion=use.fusion,
        thresholds=thresholds,
        far_targets=(),
        costs=(),
        auc=False,
        interval=options.for_new_people,
    )
    limits: dict[str, Limits] = {
        x: (bona_fide[f"{x}_low"].values, bona_fide[f"{x}_high"].values) for x in ("far", "frr")
    }
    also = [name for name in ALSO_LEFT_OUT if name in parts.attacks.probe_meta]
    columns = [parts.attacks.codes.probe, *(parts.attacks.probe_meta[name] for name in also)]
    distances = to_internal(thresholds, parts.bona_fide.kind)
    iapar, (low, high) = _iapar_with_limits(counts.attacks, columns, distances, options.confidence)
    limits["iapar"] = low, high
    frr, frr_low, frr_high = (x[:, None] for x in (bona_fide["frr"].values, *limits["frr"]))
    limits["riapar"] = limits_of_sum((iapar, low, high), (frr, frr_low, frr_high), least=0.0)
    by_name: dict[str, Any] = {}
    for point, name in threshold_names.items():
        by_name |= _limits_at_point(dataset, limits, thresholds, point, dataset[name].values)
    few_people = options.few_people(counts.verified.people.number)
    also = [f"{name}s" for name in also]
    return options.added_to(dataset, by_name, names, few_people).assign_attrs(
        interval_threshold="thresholds stay",
        left_out=", ".join(["subjects", *also]),
        interval_of_largest=ALL_AT_ONCE,
        interval_for=f"new {' and '.join(['people', *also])}",
    )


def _iapar_with_limits(
    attacks: AttackAttempts, columns: Sequence[np.ndarray], distances: np.ndarray, confidence: float
) -> tuple[np.ndarray, Limits]:
    """Return IAPAR of each species, of all and the largest, (distances, species + 2).

    `columns` have, for each row of attacks, its target and further units that leave with it.
    """
    units = [np.unique(x.astype(str), return_inverse=True)[1][attacks.row] for x in columns]
    together = AcceptedAttempts.from_distances(attacks.distance, units)
    species = []
    for i in range(len(attacks.names)):
        is_species = attacks.species == i
        species.append(
            AcceptedAttempts.from_distances(
                attacks.distance[is_species], [x[is_species] for x in units]
            )
        )
    accepted = attacks.accepted(distances)
    rates = ratio(accepted, attacks.number)
    pooled = ratio(accepted.sum(axis=1), attacks.number.sum())
    alone = class_limits(species, rates, confidence)
    of_all = together.curve(confidence).limits_at(pooled)
    has_attempts = attacks.number > 0
    tried_species = [species[i] for i in np.flatnonzero(has_attempts)]
    largest = largest_limits(tried_species, rates[:, has_attempts], confidence)
    low, high = (
        np.concatenate([by_species, pooled_end[:, None], largest_end[:, None]], axis=1)
        for by_species, pooled_end, largest_end in zip(alone, of_all, largest, strict=True)
    )
    return with_pooled_and_largest(rates, pooled), (low, high)


def _limits_at_point(
    dataset: xr.Dataset,
    limits: Mapping[str, Limits],
    thresholds: np.ndarray,
    point: str,
    point_thresholds: np.ndarray,
) -> dict[str, Any]:
    """Return the limits of the rates of an operating point, by name; NaN without a threshold.

    `limits` are at the increasing `thresholds`; the names of the rates end with `point`.
    """
    place = np.minimum(np.searchsorted(thresholds, point_thresholds), max(len(thresholds) - 1, 0))
    limits_by_name: dict[str, Any] = {}
    for name, ends in limits.items():
        variable = f"{name}{point}"
        if variable not in dataset or variable in ("far_at_eer", "frr_at_eer"):
            continue
        is_finite = np.isfinite(point_thresholds).reshape(
            point_thresholds.shape + (1,) * (ends[0].ndim - 1)
        )
        limits_by_name[variable] = tuple(np.where(is_finite, x[place], np.nan) for x in ends)
    return limits_by_name
