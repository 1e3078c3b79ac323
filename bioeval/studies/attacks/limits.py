"""Intervals of attacks and of their detection: people and instruments are resampled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from scipy.sparse import coo_array

from bioeval.base.errors import Argument, DataError
from bioeval.base.memory import require_memory
from bioeval.counting.by_subject import SubjectAttempts
from bioeval.counting.thresholds import to_user
from bioeval.results.variables import Variable
from bioeval.scores.labels import plain
from bioeval.stats.error_curves import ErrorColumns
from bioeval.stats.independent import korn_graubard, largest_limits, sum_limits
from bioeval.stats.limits import Limits, open_limits, percentile
from bioeval.stats.options import IntervalMethod, trials_of
from bioeval.stats.people import ratio
from bioeval.studies.attacks.presentations import BONA_FIDE, Presentations
from bioeval.studies.attacks.scores import AttackedScores, in_order_of_scores
from bioeval.tasks.verification_task import verification

if TYPE_CHECKING:
    from bioeval.studies.attacks.vulnerability import Counts

#: What the limits of the largest rate of several species are by, as attributes of results.
KORN_GRAUBARD = "Korn and Graubard, all species at once"

_POINTS = 1000  # thresholds of a curve whose crossing is resampled, about the most

#: Metadata columns of attack rows that are resampled beside their targets.
ALSO_RESAMPLED = ("instrument", "attacker")

# The thresholds of a result, by the end of the names of the rates there.
_THRESHOLDS = {
    "": "threshold",
    "_at_eer": "eer_threshold",
    "_at_far": "threshold_at_far",
    "_at_threshold": "threshold_used",
}


def drawn(units: int, options: IntervalMethod, key: int, columns: int) -> np.ndarray:
    """Return how often each of so many units is drawn, (units, columns): the data come first.

    Columns beyond the replicates, such as those without a person, have each unit once.
    """
    weights = np.ones((units, columns))
    if units > 1:
        seed = options.seed
        sequence = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, key))
        replicates = slice(1 + options.replicates)
        weights[:, replicates] = replace(options, random_state=sequence).weights(units)[
            :, replicates
        ]
    return weights


def drawn_variance(drawn: np.ndarray, units: np.ndarray | int) -> np.ndarray:
    """Return the variance of a rate from its replicates, the last axis, over so many units.

    Replicates of ``n`` units vary ``(n - 1) / n`` times as much as the rate does.
    """
    units = np.asarray(units)
    there = ~np.isnan(drawn)
    number = np.maximum(there.sum(axis=-1), 1)
    mean = np.where(there, drawn, 0.0).sum(axis=-1) / number
    squares = np.where(there, (drawn - mean[..., None]) ** 2, 0.0).sum(axis=-1)
    return squares / number * units / np.maximum(units - 1, 1)


def joined(codes: list[np.ndarray], weights: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the unit of each attempt, and the weights of units.

    A unit is a combination of codes, such as a person with an instrument; its weight is the product
    of theirs.
    """
    pairs, unit = np.unique(np.stack(codes), axis=1, return_inverse=True)
    product = np.prod([w[x] for w, x in zip(weights, pairs, strict=True)], axis=0)
    return unit.reshape(-1), product


def independent(codes: list[np.ndarray]) -> int:
    """Return the fewest distinct values of any code; 0 for one, which cannot be resampled."""
    return trials_of(min(len(np.unique(x)) for x in codes))


def accepted_of_units(
    distances: np.ndarray, unit: np.ndarray, weights: np.ndarray, at: np.ndarray
) -> np.ndarray:
    """Return weighted numbers accepted at increasing distances, by column of weights.

    The first row is that of reject-all, and the last one that of all. NaN is never accepted.
    """
    layer, shape = np.searchsorted(at, distances), (len(at) + 1, len(weights))
    counts = coo_array((np.ones(len(unit)), (layer, unit)), shape=shape).tocsr()
    reached = np.cumsum(counts @ weights, axis=0)
    return np.concatenate([np.zeros((1, weights.shape[1])), reached])


def species_limits(
    rate: np.ndarray,
    variance: np.ndarray,
    attempts: np.ndarray,
    units: np.ndarray,
    largest_of: np.ndarray,
    confidence: float,
) -> tuple[Limits, Limits]:
    """Return the limits of rates of species, (thresholds, species), and of the largest of some."""
    level = (1 + confidence) / 2
    low, high = open_limits(
        rate, *korn_graubard(rate, variance, attempts, units, level), units, confidence
    )
    lowest = highest = np.full(len(rate), np.nan)
    if largest_of.any():
        some = rate[:, largest_of], variance[:, largest_of], attempts[largest_of], units[largest_of]
        lowest, highest = largest_limits(*some, level)[0], high[:, largest_of].max(axis=1)
    return (low, high), (lowest, highest)


def along(low: np.ndarray, high: np.ndarray) -> Limits:
    """Return limits along increasing rates, the first axis, that are monotone as the rates are."""
    return np.minimum.accumulate(low[::-1])[::-1], np.maximum.accumulate(high)


def along_falling(low: np.ndarray, high: np.ndarray) -> Limits:
    """Return the same along falling rates."""
    low, high = along(low[::-1], high[::-1])
    return low[::-1], high[::-1]


def _sampled_points(every: np.ndarray, crossing: float) -> np.ndarray:
    """Return at most about 1,000 increasing thresholds, all of those around a crossing."""
    if len(every) <= _POINTS:
        return every
    spread = np.linspace(0, len(every) - 1, _POINTS // 2).astype(np.int64)
    near = np.searchsorted(every, crossing) + np.arange(-_POINTS // 4, _POINTS // 4)
    return every[np.union1d(spread, np.clip(near, 0, len(every) - 1))]


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
            f"{Argument('interval', options.method)} resamples people or objects; give "
            f"{Argument('subjects')} or {Argument('instrument')}"
        )
    curve = _sampled_points(data.points.threshold[1:], data.d_eer.eer_threshold)
    every = np.unique(np.concatenate([places[~np.isnan(places)], curve]))
    columns, trials, rate, variance = 1 + options.replicates, [], [], []
    for i in data.classes:
        here, codes, weights = data.members(i), [], []
        if "subjects" in units:
            codes.append(units["subjects"][here])
            weights.append(drawn(int(units["subjects"].max()) + 1, options, 0, columns))
        if i != BONA_FIDE and "instrument" in units:
            codes.append(np.unique(units["instrument"][here], return_inverse=True)[1])
            weights.append(drawn(len(np.unique(codes[-1])), options, 1 + i, columns))
        if not codes:
            codes.append(np.arange(here.sum()))
            weights.append(drawn(int(here.sum()), options, 0, columns))
        counts = accepted_of_units(data.distances[here], *joined(codes, weights), every)
        accepted, number = counts[:-1], counts[-1]
        replicates = ratio(number - accepted if i == BONA_FIDE else accepted, number)
        trials.append(independent(codes))
        rate.append(replicates[:, 0])
        variance.append(drawn_variance(replicates[:, 1:], trials[-1]))
    apcer, bpcer = np.stack(rate[:-1], axis=1), rate[-1]
    of_species = np.stack(variance[:-1], axis=1), data.number[:-1], np.array(trials[:-1])
    of_bona_fide = variance[-1], data.number[-1], trials[-1]
    confidence = options.confidence
    each, largest = species_limits(apcer, *of_species, data.counted, confidence)
    one_sided = korn_graubard(bpcer, *of_bona_fide, (1 + confidence) / 2)
    of_rates = {
        "bpcer": open_limits(bpcer, *one_sided, trials[-1], confidence),
        "apcer_of_species": each,
        "apcer": largest,
    }
    # The first place is that of reject-all.
    place = np.where(np.isnan(places), 0, 1 + np.searchsorted(every, places))
    shown, back = np.unique(place, return_inverse=True)
    limits: dict[str, Limits] = {}
    for name, (low, high) in of_rates.items():
        low, high = (along_falling if name == "bpcer" else along)(low[shown], high[shown])
        limits[name] = low[back], high[back]
    # Half of what may miss at an end is that of APCER, half that of BPCER.
    level = 1 - (1 - confidence) / 4
    falling = (np.full(len(bpcer), np.nan),) * 2
    rising = along_falling(*korn_graubard(bpcer, *of_bona_fide, level))
    over = data.counted
    if over.any():
        variances, number, units_of = of_species
        falling = along(
            *largest_limits(apcer[:, over], variances[:, over], number[over], units_of[over], level)
        )
    if not np.isnan(data.d_eer.eer):
        largest_apcer = np.fmax.reduce(apcer[:, over], axis=1)
        curves = np.stack([largest_apcer, *falling], axis=1), np.stack([bpcer, *rising], axis=1)
        # What thresholds between the points change there moves the limits, as it does the data.
        errors = ErrorColumns(curves[0][1:], curves[1][1:]).equal_error()
        errors = np.clip(errors + (data.d_eer.eer - errors[0]), 0.0, 1.0)
        limits["d_eer"] = errors[1], errors[2]
    ends = []
    for ends_of_apcer, ends_of_bpcer in zip(falling, rising, strict=True):
        # APCER grows with the distance; before the first is the point that rejects all.
        within = np.searchsorted(ends_of_apcer, targets, side="right")
        at = np.append(1.0, ends_of_bpcer)[within]
        ends.append(np.where(np.isnan(ends_of_apcer).any() | np.isnan(at), np.nan, at))
    limits["bpcer_at_apcer"] = ends[0], ends[1]
    return limits


def with_limits(
    dataset: xr.Dataset,
    counts: Counts,
    parts: AttackedScores,
    names: dict[str, Variable],
    options: IntervalMethod,
) -> xr.Dataset:
    """Return a result with limits of its rates at fixed thresholds.

    A person's genuine, impostor and targeted attempts move with the person: an attack weighs its
    target, times its instrument and its attacker where these are known.
    """
    attacks, confidence, kind = counts.attacks, options.confidence, parts.bona_fide.kind
    people = SubjectAttempts(counts.verifying)
    wanted = {
        point: to_user(dataset[name].values, kind)
        for point, name in _THRESHOLDS.items()
        if name in dataset
    }
    at = np.unique(np.concatenate(list(map(np.ravel, wanted.values()))))
    at = at[np.isfinite(at)]
    weights = options.weights(people.people)
    require_memory(
        8 * len(at) * weights.shape[1] * (6 + 3 * len(attacks.names)),
        "intervals",
        "expected fewer thresholds or replicates",
    )
    place_of = {plain(name): place for place, name in enumerate(people.names)}
    labels = parts.attacks.probe_labels.tolist()
    codes = [np.array([place_of[x] for x in labels])[attacks.row]]
    factors = [weights.astype(np.float64)]
    also = [name for name in ALSO_RESAMPLED if name in parts.attacks.probe_meta]
    for name in also:
        values = [plain(x) for x in parts.attacks.probe_meta[name].tolist()]
        place_of = {value: place for place, value in enumerate(dict.fromkeys(values))}
        codes.append(np.array([place_of[x] for x in values])[attacks.row])
        key = 1 + ALSO_RESAMPLED.index(name)
        factors.append(drawn(len(place_of), options, key, weights.shape[1]))
    unit, unit_weights = joined(codes, factors)

    members = [attacks.species == s for s in range(len(attacks.names))]
    of_attacks = np.stack(
        [accepted_of_units(attacks.distance[x], unit[x], unit_weights, at)[1:] for x in members]
    )
    pooled = of_attacks.sum(axis=0)
    of_species = ratio(of_attacks[:, :-1], of_attacks[:, -1:]).swapaxes(0, 1)
    targets = len(np.unique(parts.attacks.codes.probe))
    order = in_order_of_scores(kind)
    use: dict[str, Any] = asdict(counts.verifying.use)
    bona_fide = verification(
        parts.bona_fide,
        **use,
        thresholds=to_user(at, kind)[order],
        far_targets=(),
        costs=(),
        auc=False,
        interval=options.for_new_people,
    )
    limits: dict[str, Limits] = {
        x: (bona_fide[f"{x}_low"].values[order], bona_fide[f"{x}_high"].values[order])
        for x in ("far", "frr")
    }
    pooled_rate = ratio(pooled[:-1], pooled[-1])
    limits["iapar_pooled"] = percentile(pooled_rate, confidence, trials_of(targets))
    rate, replicates = of_species[..., 0], of_species[..., 1 : 1 + options.replicates]
    units = np.array([independent([x[here] for x in codes]) for here in members])
    variance = drawn_variance(replicates, units)
    each, largest = species_limits(
        rate, variance, attacks.number, units, attacks.number > 0, confidence
    )
    limits["iapar_of_species"], limits["iapar_max"] = along(*each), along(*largest)
    frr, (low, high) = bona_fide["frr"].values[order], limits["frr"]
    limits["riapar"] = sum_limits(
        (np.fmax.reduce(rate, axis=1), *limits["iapar_max"]), (frr, low, high)
    )
    limits["riapar_of_species"] = sum_limits(
        (rate, *limits["iapar_of_species"]), (frr[:, None], low[:, None], high[:, None])
    )
    shown: dict[str, Any] = {}
    for point, where in wanted.items():
        place = np.minimum(np.searchsorted(at, where), max(len(at) - 1, 0))
        for name, ends in limits.items():
            variable = f"{name}{point}"
            if variable not in dataset or variable in ("far_at_eer", "frr_at_eer"):
                continue
            known = np.isfinite(where).reshape(where.shape + (1,) * (ends[0].ndim - 1))
            shown[variable] = tuple(np.where(known, end[place], np.nan) for end in ends)
    names = dict(names)
    for name in shown:
        names[f"{name}_low"] = Variable(f"lower end of the interval of {name}")
        names[f"{name}_high"] = Variable(f"upper end of the interval of {name}")
    out = options.added_to(dataset, shown, names, options.few_people(people.people))
    also = [f"{name}s" for name in also]
    return out.assign_attrs(
        interval_threshold="thresholds stay in replicates",
        resampled=", ".join(["subjects", *also]),
        iapar_interval=KORN_GRAUBARD,
        interval_for=f"new {' and '.join(['people', *also])}",
    )
