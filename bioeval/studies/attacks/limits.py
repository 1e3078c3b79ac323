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
from bioeval.studies.attacks.scores import AttackedScores, with_pooled_and_largest
from bioeval.tasks.verification_task import verification

if TYPE_CHECKING:
    from bioeval.studies.attacks.vulnerability import AttackCounts

#: What the limits of the largest rate of several species are by, as attributes of results.
ALL_AT_ONCE = "all species at once"

#: Metadata columns of attack rows that are left out beside their targets.
ALSO_LEFT_OUT = ("instrument", "attacker")

# The thresholds of a result, by the end of the names of the rates there.
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
    def of(cls, distances: np.ndarray, units: Sequence[np.ndarray]) -> AcceptedAttempts:
        """Count attempts, of which `units` has the unit of each kind; NaN is never accepted."""
        at, columns, numbers = grid_of(distances), [], []
        for names in units:
            who, unit, made = np.unique(names, return_inverse=True, return_counts=True)
            group = groups_of(len(who))[unit.reshape(-1)]
            groups = int(group.max(initial=-1)) + 1
            counts = without_each(np.cumsum(by_subject(distances, group, at, groups), axis=0))
            columns.append(ratio(counts[:-1], counts[-1]))
            numbers.append(kish(made) if trials_of(len(who)) else 0.0)
        return cls(columns, len(distances), numbers)

    def curve(self, confidence: float) -> RateCurve:
        """Return the limits of the rate as a function of it.

        What kinds of units add to its variance adds up.
        """
        curves = [
            RateCurve.from_columns(x, self.attempts, units, confidence, sides=1)
            for x, units in zip(self.columns, self.units, strict=True)
        ]
        rate = curves[0].rate
        away = [(0.0, x.low - rate, x.high - rate) for x in curves]
        low, high = limits_of_sum((rate, rate, rate), *away, least=0.0)
        return RateCurve(rate, *rising(low, np.minimum(high, 1.0)))


def of_each(classes: Sequence[AcceptedAttempts], rates: np.ndarray, confidence: float) -> Limits:
    """Return the limits of rates (..., classes)."""
    both = [x.curve(confidence).limits_at(rates[..., i]) for i, x in enumerate(classes)]
    low, high = (np.stack(ends, axis=-1) for ends in zip(*both, strict=True))
    return low, high


def of_largest(classes: Sequence[AcceptedAttempts], rates: np.ndarray, confidence: float) -> Limits:
    """Return the limits of the largest of several true rates, (..., classes).

    The largest lower limit misses if one of all is above its rate: each is at the level ``1 - (1 -
    confidence) / number``. The largest upper limit misses only if that of the largest rate does: it
    needs no such correction. Limits are NaN where those of a rate are, or without a class.
    """
    if not len(classes):
        return np.full(rates.shape[:-1], np.nan), np.full(rates.shape[:-1], np.nan)
    low, _ = of_each(classes, rates, 1 - (1 - confidence) / len(classes))
    _, high = of_each(classes, rates, confidence)
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
        here = data.members(i)
        known = [x[here] for name, x in units.items() if i != BONA_FIDE or name == "subjects"]
        classes.append(AcceptedAttempts.of(data.distances[here], known or [np.arange(here.sum())]))
    *species, bona_fide = classes
    over, confidence = data.counted, options.confidence
    some = [x for x, heard in zip(species, over, strict=True) if heard]

    def limits_at(at: np.ndarray, confidence: float) -> tuple[Limits, Limits]:
        """Return the limits of the largest APCER and of BPCER at distances."""
        rates = data.rates(at)
        largest = of_largest(some, data.of_species(rates["apcer"])[:, over], confidence)
        return largest, bona_fide.curve(confidence).complement().limits_at(rates["bpcer"])

    largest, limits_of_bpcer = limits_at(places, confidence)
    unknown = np.full((len(places), 1), np.nan)  # of the pooled rate
    alone = of_each(species, data.of_species(data.rates(places)["apcer"]), confidence)
    low, high = (
        np.concatenate([each, unknown, of_all[:, None]], axis=1)
        for each, of_all in zip(alone, largest, strict=True)
    )
    limits: dict[str, Limits] = {"apcer": (low, high), "bpcer": limits_of_bpcer}
    # Half of what may miss at an end is that of APCER, half that of BPCER.
    points = data.points
    falling, rising_ = limits_at(points.threshold, (1 + confidence) / 2)
    if not np.isnan(data.d_eer.eer):
        ends = [
            ErrorColumns(apcer[1:, None], bpcer[1:, None]).equal_error()[0]
            for apcer, bpcer in zip(falling, rising_, strict=True)
        ]
        limits["d_eer"] = np.array(ends[0]), np.array(ends[1])
    ends = []
    for ends_of_apcer, ends_of_bpcer in zip(falling, rising_, strict=True):
        # APCER grows with the distance; before the first is the point that rejects all.
        within = np.searchsorted(ends_of_apcer, targets, side="right")
        at = np.append(1.0, ends_of_bpcer)[within]
        ends.append(np.where(np.isnan(ends_of_apcer).any() | np.isnan(at), np.nan, at))
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

    An attack leaves with its target, and with its instrument and its attacker where these are
    known.
    """
    attacks, confidence, kind = counts.attacks, options.confidence, parts.bona_fide.kind
    also = [name for name in ALSO_LEFT_OUT if name in parts.attacks.probe_meta]
    columns = [parts.attacks.codes.probe, *(parts.attacks.probe_meta[name] for name in also)]
    units = [np.unique(x.astype(str), return_inverse=True)[1][attacks.row] for x in columns]
    together = AcceptedAttempts.of(attacks.distance, units)
    species = []
    for i in range(len(attacks.names)):
        here = attacks.species == i
        species.append(AcceptedAttempts.of(attacks.distance[here], [x[here] for x in units]))
    wanted = {point: name for point, name in _THRESHOLDS.items() if name in dataset}
    at = np.unique(np.concatenate([dataset[name].values.ravel() for name in wanted.values()]))
    at = at[np.isfinite(at)]
    use: Any = counts.verified.use
    bona_fide = verification(
        parts.bona_fide,
        templates=use.templates,
        fusion=use.fusion,
        thresholds=at,
        far_targets=(),
        costs=(),
        auc=False,
        interval=options.for_new_people,
    )
    accepted, number = attacks.accepted(to_internal(at, kind)), attacks.number
    rates, made = ratio(accepted, number), number > 0
    limits: dict[str, Limits] = {
        x: (bona_fide[f"{x}_low"].values, bona_fide[f"{x}_high"].values) for x in ("far", "frr")
    }
    pooled = ratio(accepted.sum(axis=1), number.sum())
    iapar = with_pooled_and_largest(rates, pooled)
    alone = of_each(species, rates, confidence)
    of_all = together.curve(confidence).limits_at(pooled)
    some = [species[i] for i in np.flatnonzero(made)]
    largest = of_largest(some, rates[:, made], confidence)
    low, high = (
        np.concatenate([each, one[:, None], most[:, None]], axis=1)
        for each, one, most in zip(alone, of_all, largest, strict=True)
    )
    limits["iapar"] = low, high
    frr = bona_fide["frr"].values[:, None]
    frr_low, frr_high = (x[:, None] for x in limits["frr"])
    limits["riapar"] = limits_of_sum((iapar, low, high), (frr, frr_low, frr_high), least=0.0)
    shown: dict[str, Any] = {}
    for point, threshold in wanted.items():
        where = dataset[threshold].values
        place = np.minimum(np.searchsorted(at, where), max(len(at) - 1, 0))
        for name, ends in limits.items():
            variable = f"{name}{point}"
            if variable not in dataset or variable in ("far_at_eer", "frr_at_eer"):
                continue
            known = np.isfinite(where).reshape(where.shape + (1,) * (ends[0].ndim - 1))
            shown[variable] = tuple(np.where(known, end[place], np.nan) for end in ends)
    out = options.added_to(dataset, shown, names, options.few_people(counts.verified.people.number))
    also = [f"{name}s" for name in also]
    return out.assign_attrs(
        interval_threshold="thresholds stay",
        left_out=", ".join(["subjects", *also]),
        interval_of_largest=ALL_AT_ONCE,
        interval_for=f"new {' and '.join(['people', *also])}",
    )
