"""Counts of genuine, impostor and attack attempts, the points of all three, and their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import xarray as xr

from bioeval.attempts.by_subject import SubjectAttempts
from bioeval.attempts.counts import VerificationTally
from bioeval.attempts.finding import PointsWanted, points_of
from bioeval.attempts.lists import Attempts
from bioeval.attempts.passes import count_together
from bioeval.attempts.points import EqualError, VerificationPoints
from bioeval.attempts.threshold_rules import Rule, choose
from bioeval.attempts.thresholds import to_user
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.base.errors import Argument, ProtocolError
from bioeval.base.memory import require_memory
from bioeval.base.progress import rows_reported_to
from bioeval.base.random import Stream
from bioeval.base.scalars import Name
from bioeval.base.variables import Bootstrap
from bioeval.results.dataset import Variables, rate
from bioeval.scores.blocks import BlockReader
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores, are_pairs, codes_of
from bioeval.scores.provenance import Provenance
from bioeval.stats.bootstrap import ratio
from bioeval.stats.effective_number import drawn_variance, korn_graubard, largest_limits, sum_limits
from bioeval.stats.options import IntervalMethod
from bioeval.stats.replicates import open_limits
from bioeval.stats.verification import ErrorColumns
from bioeval.studies.attacks.counts import AttackAttempts
from bioeval.studies.attacks.intervals import KORN_GRAUBARD, along, crossings, sampled_points
from bioeval.studies.attacks.scores import AttackedScores


@dataclass(eq=False)
class CountedBonaFide:
    """Bona fide attempts, and the same with the attack attempts among the impostors."""

    tally: VerificationTally
    negatives: Attempts  # with the attacks
    counter: VerificationCounter
    reader: BlockReader
    about: Provenance
    options: Mapping[str, str]

    @property
    def attempts(self) -> Attempts:
        """The bona fide attempts."""
        return self.tally.attempts


def count_bona_fide(
    bona_fide: Scores,
    passing: np.ndarray | None,
    options: Mapping[str, str],
    thresholds: Any,
    attacks: AttackAttempts,
    wanted: PointsWanted,
) -> CountedBonaFide:
    """Count the attempts of bona fide presentations; rows that do not pass are never accepted."""
    view, missed = bona_fide, (0, 0)
    none_passes = passing is not None and not passing.any()
    if passing is not None and not passing.all():
        rejected = bona_fide.select(probes=np.flatnonzero(~passing))
        reader = BlockReader(rejected)
        counter = VerificationCounter(reader, **options)
        with rows_reported_to(None):
            (tally,) = count_together(reader, [counter])
        missed = len(tally.genuine), tally.impostors
        if not none_passes:
            view = bona_fide.select(probes=np.flatnonzero(passing))
    all_missed = missed[0], missed[1] + int(attacks.missed.sum())
    reader = BlockReader(view)
    counter = VerificationCounter(reader, thresholds=thresholds, **options)
    of_all = counter.fresh()
    of_all.more_impostors, of_all.given = attacks.pooled, None
    counter.missed, of_all.missed = missed, all_missed
    tally, negatives = count_together(reader, [counter, of_all], wanted)
    attempts, every = tally.attempts, negatives.attempts
    if none_passes:
        attempts = Attempts.listed(np.empty(0), np.empty(0), *missed)
        every = Attempts.listed(np.empty(0), attacks.pooled, *all_missed)
        tally = replace(tally, accepted=0 * tally.accepted)
    return CountedBonaFide(
        tally=replace(tally, attempts=attempts),
        negatives=every,
        counter=counter,
        reader=reader,
        about=reader.about if view is bona_fide else BlockReader(bona_fide).about,
        options=options,
    )


@dataclass(eq=False)
class ClassCounts:
    """Counts of the three classes at thresholds whose counts are exact, and the points."""

    bona_fide: CountedBonaFide
    attacks: AttackAttempts
    points: VerificationPoints
    sasv_eer: float
    weights: np.ndarray

    def __post_init__(self) -> None:
        """Take the numbers of attempts."""
        attempts = self.bona_fide.attempts
        self.genuine, self.impostor = attempts.genuine_attempts, attempts.impostor_attempts

    def grid(self, at: float, thresholds_fixed: bool) -> np.ndarray:
        """Return the thresholds of the result: with those of points, unless they are given."""
        more = np.empty(0)
        if not thresholds_fixed:
            more = np.append(self.points.thresholds, at)
        return np.union1d(self.bona_fide.tally.thresholds, more[np.isfinite(more)])

    def ga(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the genuine attempts accepted; NaN rejects all."""
        accepted = np.searchsorted(self.bona_fide.tally.genuine, thresholds, side="right")
        return np.where(np.isnan(thresholds), 0, accepted).astype(np.int64)

    def fa(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the impostor attempts accepted; NaN rejects all."""
        tally = self.bona_fide.tally
        out = np.zeros(len(thresholds), dtype=np.int64)
        known = np.isin(thresholds, tally.thresholds)
        out[known] = tally.accepted[np.searchsorted(tally.thresholds, thresholds[known])]
        rest = ~known & ~np.isnan(thresholds) & (thresholds != -np.inf)
        out[rest] = tally.attempts.false_accepts(thresholds[rest])
        return out

    def at(
        self,
        point: str,
        names: Sequence[str],
        thresholds: np.ndarray,
        dims: tuple[str, ...] = (),
        defined: bool | None = None,
    ) -> Variables:
        """Return rates at thresholds, as variables of a point; NaN where it is not defined."""
        if defined is None:
            defined = self.genuine > 0 and self.impostor > 0
        flat = thresholds.reshape(-1)
        frr = rate(self.genuine - self.ga(flat), self.genuine)
        rates = {"far": rate(self.fa(flat), self.impostor), "frr": frr}
        rates |= self.attacks.rates(flat, frr)
        variables = {}
        for name in names:
            values = rates[name].reshape(thresholds.shape)
            if not defined:
                values = np.full_like(values, np.nan)
            variables[f"{name}_at_{point}"] = dims, values
        return variables

    @property
    def attack_eer(self) -> float:
        """The EER of genuine against attack attempts; NaN where a class has none."""
        return attack_error(self.bona_fide, self.attacks).eer

    @property
    def min_a_dcf(self) -> float:
        """The least normalised cost over reject-all and the genuine scores.

        Between two genuine scores only false accepts and accepted attacks change.
        """
        attacks = int(self.attacks.number.sum())
        if not (self.genuine and self.impostor and attacks):
            return math.nan
        tar, non, spf = self.weights
        scores, _, accepted = self.bona_fide.attempts.at_genuine
        frr, far = (self.genuine - self.ga(scores)) / self.genuine, accepted / self.impostor
        iapar = self.attacks.at_most(scores).sum(axis=1) / attacks
        cost = tar * frr + non * far + spf * iapar
        return float(min(tar, cost.min(initial=np.inf)) / min(tar, non + spf))


def attack_error(bona_fide: CountedBonaFide, attacks: AttackAttempts) -> EqualError:
    """Return the crossing of FRR and the pooled IAPAR; NaN where a class has no attempt."""
    tally, rejected = bona_fide.tally, int(attacks.missed.sum())
    attempts = Attempts.listed(tally.genuine, attacks.pooled, tally.attempts.missed, rejected)
    if attempts.defined:
        return attempts.equal_error()
    return EqualError()


def points_wanted(targets: np.ndarray, rule: Rule | None, kind: str) -> PointsWanted:
    """Return the points that a result needs: at its FAR targets, and those of a rule."""
    rows = None
    if rule is not None and rule.name == "far":
        targets = np.append(targets, rule.values)
    elif rule is not None and rule.name == "fixed":
        rows = np.array(rule.as_distance(kind).values)
    return PointsWanted(targets, np.empty((0, 3)), False, rows=rows)


def find_points(
    bona_fide: CountedBonaFide,
    attacks: AttackAttempts,
    wanted: PointsWanted,
    weights: np.ndarray,
    rule: Rule | None,
) -> tuple[ClassCounts, float]:
    """Return the counts and points of all classes, and the threshold that was chosen, or NaN."""
    attempts, at = bona_fide.attempts, math.nan
    if rule is not None:
        chosen = choose(rule.as_distance(bona_fide.reader.scores.kind), attempts)
        at = chosen.threshold
        if not chosen.defined and not attempts.defined:
            raise ProtocolError(
                Argument("threshold", str(rule)),
                " is chosen on genuine and impostor attempts, but they do not define it; give a "
                "number",
            )
    points = points_of(attempts, wanted, symmetric=None, with_rows=False)
    negatives = bona_fide.negatives
    sasv_eer = negatives.equal_error().eer if negatives.defined else math.nan
    return ClassCounts(bona_fide, attacks, points, sasv_eer, weights), float(at)


#: Metadata columns of attack rows that are resampled beside their targets.
ALSO_RESAMPLED = ("instrument", "attacker")

# The thresholds of a result, by the end of the names of the rates there.
_THRESHOLDS = {
    "": "threshold",
    "_at_eer": "eer_threshold",
    "_at_far": "threshold_at_far",
    "_at_threshold": "threshold_used",
}


def with_attack_intervals(
    dataset: xr.Dataset,
    bona_fide: CountedBonaFide,
    parts: AttackedScores,
    attacks: AttackAttempts,
    names: dict[str, Name],
    options: IntervalMethod,
) -> xr.Dataset:
    """Return a result with limits of its rates at fixed thresholds.

    A person's genuine, impostor and targeted attempts move with the person: an attack weighs its
    target, times its instrument and its attacker where these are known.
    """
    if (
        are_pairs(parts.bona_fide)
        or are_pairs(parts.attacks)
        or bona_fide.attempts.missed
        or bona_fide.attempts.missed_impostors
    ):
        raise ProtocolError(
            Argument("interval"), " needs a matrix with labels, without ", Argument("detection")
        )
    if not options.resamples:
        raise ProtocolError(
            Argument("interval", options.method),
            f" takes attempts as independent; expected one of {', '.join(get_args(Bootstrap))}",
        )
    people = SubjectAttempts(bona_fide.counter)
    wanted = {}
    for point, name in _THRESHOLDS.items():
        if name in dataset:
            wanted[point] = to_user(dataset[name].values, parts.bona_fide.kind)
    at = np.unique(np.concatenate(list(map(np.ravel, wanted.values()))))
    at = at[np.isfinite(at)]
    weights = options.weights(people.people)
    require_memory(
        8 * len(at) * weights.shape[1] * (6 + 3 * len(attacks.names)),
        "intervals",
        "expected fewer thresholds or replicates",
    )
    errors = ErrorColumns.of(people, at, weights)
    frr = errors.frr
    genuine, who = errors.genuine
    accepted = _accepted(parts, attacks, people, weights, at, options)
    of_species = ratio(accepted[:-1], accepted[-1])
    rates = {
        "far": errors.far,
        "frr": frr,
        "iapar_pooled": ratio(accepted[:-1].sum(axis=1), accepted[-1].sum(axis=0)),
    }
    target = codes_of(parts.attacks).probe[attacks.rows]
    trials = {
        "far": people.disjoint_pairs,
        "frr": options.trials_of(len(np.unique(who))),
        "iapar_pooled": options.trials_of(len(np.unique(codes_of(parts.attacks).probe))),
    }
    limits = {name: options.limits(drawn, trials[name]) for name, drawn in rates.items()}
    limits |= _limits_of_species(of_species, attacks.number, _units(parts, attacks), options)
    iapar, (low, high) = of_species[..., 0], limits["frr"]
    largest = np.fmax.reduce(iapar, axis=1)
    limits["riapar"] = sum_limits((largest, *limits["iapar_max"]), (frr[:, 0], low, high))
    limits["riapar_of_species"] = sum_limits(
        (iapar, *limits["iapar_of_species"]), (frr[:, :1], low[:, None], high[:, None])
    )
    shown = {}
    for point, where in wanted.items():
        place = np.minimum(np.searchsorted(at, where), max(len(at) - 1, 0))
        known = np.isfinite(where)
        for name, (low, high) in limits.items():
            variable = f"{name}{point}"
            if variable not in dataset or variable in ("far_at_eer", "frr_at_eer"):
                continue
            there = known.reshape(known.shape + (1,) * (low.ndim - 1))
            shown[variable] = (
                np.where(there, low[place], np.nan),
                np.where(there, high[place], np.nan),
            )
    if not math.isnan(attack_eer := float(dataset["attack_eer"])):
        every = np.unique(np.concatenate([genuine, attacks.pooled]))
        curve = sampled_points(
            every[np.isfinite(every)], attack_error(bona_fide, attacks).eer_threshold
        )
        accepted = _accepted(parts, attacks, people, weights, curve, options).sum(axis=1)
        iapar = ratio(accepted[:-1], accepted[-1])
        error = crossings(iapar, errors.frr_at(curve), attack_eer)
        few = options.trials_of(min(len(np.unique(who)), len(np.unique(target))))
        low, high = options.limits(error, few)
        shown["attack_eer"] = np.asarray(low), np.asarray(high)
    names = dict(names)
    for name in shown:
        names[f"{name}_low"] = Name(f"lower end of the interval of {name}")
        names[f"{name}_high"] = Name(f"upper end of the interval of {name}")
    remarks = options.few_people(people.people)
    out = options.added_to(dataset, shown, names, remarks)
    also = [f"{x}s" for x in ALSO_RESAMPLED if x in parts.attacks.probe_meta]
    return out.assign_attrs(
        interval_threshold="thresholds stay in replicates",
        resampled=", ".join(["subjects", *also]),
        iapar_interval=KORN_GRAUBARD,
        interval_for=f"new {' and '.join(['people', *also])}",
    )


def _accepted(
    parts: AttackedScores,
    attacks: AttackAttempts,
    people: SubjectAttempts,
    weights: np.ndarray,
    at: np.ndarray,
    options: IntervalMethod,
) -> np.ndarray:
    """Return weighted attempts accepted at thresholds, and all: (t + 1, species, columns)."""
    from scipy import sparse

    labels = parts.attacks.probe_labels.tolist()
    columns = [_places_among(map(plain, people.names), labels)[attacks.rows]]
    factors = [weights.astype(np.float64)]
    for key, name in enumerate(ALSO_RESAMPLED, 1):
        if name not in parts.attacks.probe_meta:
            continue
        values = list(map(plain, parts.attacks.probe_meta[name].tolist()))
        known = dict.fromkeys(values)
        columns.append(_places_among(known, values)[attacks.rows])
        seed = np.random.SeedSequence(
            options.seed.entropy, spawn_key=(*options.seed.spawn_key, key)
        )
        drawn = np.ones((len(known), weights.shape[1]))
        resampled = Stream(seed, 0).resampled(len(known), options.replicates)
        drawn[:, 1 : 1 + options.replicates] = resampled
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


def _places_among(distinct: Iterable[Any], values: list[Any]) -> np.ndarray:
    place_of = {value: place for place, value in enumerate(distinct)}
    return np.array([place_of[value] for value in values], dtype=np.int64)


def _units(parts: AttackedScores, attacks: AttackAttempts) -> np.ndarray:
    """Return the fewest targets, instruments or attackers of each species."""
    sides = [codes_of(parts.attacks).probe[attacks.rows]]
    for name in ALSO_RESAMPLED:
        if name in parts.attacks.probe_meta:
            values = list(map(plain, parts.attacks.probe_meta[name].tolist()))
            sides.append(_places_among(dict.fromkeys(values), values)[attacks.rows])
    fewest = []
    for s in range(len(attacks.names)):
        here = attacks.species == s
        fewest.append(min(len(np.unique(side[here])) for side in sides))
    return np.array(fewest)


def _limits_of_species(
    drawn: np.ndarray, attempts: np.ndarray, units: np.ndarray, options: IntervalMethod
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the limits of IAPAR of species and of the largest, at increasing thresholds."""
    one_sided = (1 + options.confidence) / 2
    rate, variance = drawn[..., 0], drawn_variance(drawn[..., 1 : 1 + options.replicates], units)
    low, high = open_limits(
        rate,
        *korn_graubard(rate, variance, attempts, units, one_sided),
        np.where(units > 1, units, 0),
        options.confidence,
    )
    made = np.flatnonzero(attempts > 0)
    lowest = highest = np.full(len(rate), np.nan)
    if len(made):
        of_rates = rate[:, made], variance[:, made], attempts[made], units[made]
        lowest, highest = largest_limits(*of_rates, one_sided)[0], high[:, made].max(axis=1)
    return {"iapar_of_species": along(low, high), "iapar_max": along(lowest, highest)}
