"""Confidence intervals of vulnerability: subjects, instruments and attackers resampled together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import xarray as xr
from scipy import sparse

from bioeval.base.errors import Argument, ProtocolError
from bioeval.base.kinds import larger_is_closer
from bioeval.base.memory import require_memory
from bioeval.base.random import seed_sequence
from bioeval.base.scalars import Name
from bioeval.evaluation.attack_points import CountedBonaFide
from bioeval.scores.attacks import AttackedScores
from bioeval.scores.labels import plain
from bioeval.scores.matrix import are_pairs
from bioeval.stats.bootstrap import confidence_limits, open_limits, sample_of
from bioeval.stats.interval_variables import Limits, by_subject, few_people, with_intervals
from bioeval.stats.options import BOOTSTRAPS, IntervalOptions
from bioeval.stats.resampling import QuadraticForms, ratio, subject_weights, weight_columns
from bioeval.tallies.attack_attempts import AttackAttempts
from bioeval.tallies.by_subject import SubjectAttempts

#: Metadata columns of attack rows that are resampled beside their targets.
ALSO_RESAMPLED = ("instrument", "attacker")

_RATES = ("far", "frr", "iapar_max", "iapar_pooled", "riapar")


def with_attack_intervals(
    dataset: xr.Dataset,
    found: CountedBonaFide,
    parts: AttackedScores,
    attacks: AttackAttempts,
    names: dict[str, Name],
    options: IntervalOptions,
) -> xr.Dataset:
    """Return a result with limits of its rates at fixed thresholds.

    A person's genuine, impostor and targeted attempts move with the person: an attack weighs its
    target, times its instrument and its attacker where these are known.
    """
    if are_pairs(parts.bona_fide) or are_pairs(parts.attacks) or any(found.tally.missed):
        raise ProtocolError(
            f"{Argument('interval')} needs a matrix with labels, without {Argument('detection')}"
        )
    if options.method not in BOOTSTRAPS:
        raise ProtocolError(
            f"{Argument('interval', options.method)} takes attempts as independent; expected one "
            f"of {', '.join(BOOTSTRAPS)}"
        )
    people = SubjectAttempts(found.job, found.reader)
    sign = -1.0 if larger_is_closer(parts.bona_fide.kind) else 1.0
    points = ("threshold", "eer_threshold", "threshold_at_far", "threshold_used")
    wanted = np.concatenate([np.ravel(sign * dataset[x].values) for x in points if x in dataset])
    at = np.unique(wanted[np.isfinite(wanted)]) + 0.0
    weights = weight_columns(people.people, options)
    require_memory(
        8 * len(at) * weights.shape[1] * (6 + 3 * len(attacks.names)), "intervals",
        "expected fewer thresholds or replicates",
    )  # fmt: skip
    forms = QuadraticForms(weights, len(at) + 1)
    values, who = people.sweep(at, forms)
    impostors = np.cumsum(forms.totals, axis=0)
    genuine = by_subject(values, who, at, people.people).astype(np.float64) @ weights
    genuine = np.cumsum(genuine, axis=0)
    accepted = _accepted(parts, attacks, people, weights, at, options)
    of_species = ratio(accepted[:-1], accepted[-1])
    rates = {
        "far": ratio(impostors[:-1], impostors[-1]),
        "frr": ratio(genuine[-1] - genuine[:-1], genuine[-1]),
        "iapar_of_species": of_species,
        "iapar_max": np.fmax.reduce(of_species, axis=1),
        "iapar_pooled": ratio(accepted[:-1].sum(axis=1), accepted[-1].sum(axis=0)),
    }
    rates["riapar"] = rates["iapar_max"] + rates["frr"]
    rates["riapar_of_species"] = of_species + rates["frr"][:, None]
    target = parts.attacks.codes.probe[attacks.rows]
    targets = [len(np.unique(target[attacks.species == s])) for s in range(len(attacks.names))]
    trials = {
        "far": people.disjoint_pairs,
        "frr": sample_of(len(np.unique(who))),
        "iapar_max": sample_of(min(targets, default=0)),
        "iapar_pooled": sample_of(len(np.unique(parts.attacks.codes.probe))),
    }
    limits = {name: _limits(drawn, name, trials, options) for name, drawn in rates.items()}
    for s, number in enumerate(targets):
        one = limits["iapar_of_species"]
        for side, bound in enumerate(
            open_limits(
                of_species[:, s, 0], one[0][:, s], one[1][:, s], sample_of(number),
                options.confidence,
            )
        ):  # fmt: skip
            one[side][:, s] = bound
    shown: dict[str, Limits] = {}
    for point, name in zip(("", "_at_eer", "_at_far", "_at_threshold"), points, strict=True):
        if name not in dataset:
            continue
        where = sign * dataset[name].values
        place = np.minimum(np.searchsorted(at, where), max(len(at) - 1, 0))
        known = np.isfinite(where)
        for rate, (low, high) in limits.items():
            if f"{rate}{point}" in dataset and (point != "_at_eer" or rate not in ("far", "frr")):
                shape = known.reshape(known.shape + (1,) * (low.ndim - 1))
                ends = (np.where(shape, x[place], np.nan) for x in (low, high))
                shown[f"{rate}{point}"] = tuple(ends)  # type: ignore[assignment]
    known_names = {
        f"{name}_{side}": Name(f"{end} end of the interval of {name}")
        for name in shown
        for side, end in (("low", "lower"), ("high", "upper"))
    }
    remarks = few_people(people.people, options)
    out = with_intervals(dataset, shown, names | known_names, options, remarks)
    also = [x for x in ALSO_RESAMPLED if x in parts.attacks.probe_meta]
    return out.assign_attrs(
        interval_threshold="thresholds stay in replicates",
        resampled=", ".join(["subjects", *(f"{x}s" for x in also)]),
    )


def _accepted(
    parts: AttackedScores,
    attacks: AttackAttempts,
    people: SubjectAttempts,
    weights: np.ndarray,
    at: np.ndarray,
    options: IntervalOptions,
) -> np.ndarray:
    """Return weighted attempts accepted at thresholds, and all: (t + 1, species, columns)."""
    number = {plain(name): i for i, name in enumerate(people.names)}
    labels = parts.attacks.probe_labels.tolist()
    target = np.array([number[label] for label in labels], dtype=np.int64)[attacks.rows]
    columns = [target]
    factors = [weights.astype(np.float64)]
    for key, name in enumerate(ALSO_RESAMPLED, 1):
        if name not in parts.attacks.probe_meta:
            continue
        values = [plain(x) for x in parts.attacks.probe_meta[name].tolist()]
        known = {value: i for i, value in enumerate(dict.fromkeys(values))}
        columns.append(np.array([known[x] for x in values], dtype=np.int64)[attacks.rows])
        seed = np.random.SeedSequence(
            options.seed.entropy, spawn_key=(*options.seed.spawn_key, key)
        )
        drawn = np.ones((len(known), weights.shape[1]))
        drawn[:, 1 : 1 + options.replicates] = subject_weights(
            len(known), options.replicates, seed_sequence(seed)
        )
        factors.append(drawn)
    units, unit = np.unique(np.stack(columns), axis=1, return_inverse=True)
    weight = np.ones((units.shape[1], weights.shape[1]))
    for factor, column in zip(factors, units, strict=True):
        weight *= factor[column]
    layer, species = np.searchsorted(at, attacks.distances), len(attacks.names)
    place = layer * species + attacks.species
    shape = ((len(at) + 1) * species, units.shape[1])
    ones = np.ones(len(place))
    counts = sparse.coo_matrix((ones, (place, unit.reshape(-1))), shape=shape).tocsr()
    return np.cumsum((counts @ weight).reshape(len(at) + 1, species, -1), axis=0)


def _limits(
    drawn: np.ndarray, name: str, trials: dict[str, int], options: IntervalOptions
) -> Limits:
    """Return the limits of a rate; a sum of two rates has no logit."""
    if name.startswith("riapar") and options.method.endswith("logit"):
        options = replace(options, method=BOOTSTRAPS[0])
    low, high = confidence_limits(drawn, options)
    if name in trials:
        low, high = open_limits(drawn[..., 0], low, high, trials[name], options.confidence)
    return low, high
