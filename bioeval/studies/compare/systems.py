"""The measures of one system, with what says how sure each is: replicates, and people left out.

Systems are measured one after another, with the same draws of the same people: what is kept of
each are a number for each replicate and for each person. Two systems, or many, are compared by
them afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from bioeval.attempts.left_out import LeftOut
from bioeval.attempts.thresholds import to_internal
from bioeval.base.progress import rows_reported_to
from bioeval.base.random import Stream
from bioeval.base.registry import scalar_registry
from bioeval.base.scalars import Scalar
from bioeval.results.measure import Measure
from bioeval.results.support import RuleOf
from bioeval.scores.blocks import threads_for
from bioeval.scores.matrix import Scores, are_pairs, codes_of
from bioeval.stats.error_curves import CurveMeasure, curve_measures
from bioeval.stats.identification import FEWEST, NewPeople, identification_replicates
from bioeval.stats.jackknife import jackknife_limits, student_limits
from bioeval.stats.options import IntervalMethod
from bioeval.stats.verification import Replicates, limits_at_threshold, limits_of_measures
from bioeval.studies.compare.measures import (
    GROUPS,
    NEW_PEOPLE,
    THIS_GALLERY,
    ComparedRetrieval,
    ComparedSystem,
    PairedMeasure,
    place_of,
)
from bioeval.studies.compare.wanted import (
    AT_THRESHOLD,
    CMS_AT_RANK,
    WantedMeasures,
)
from bioeval.tasks.reid.intervals import QuerySubjects

# The stream of the random order of people in groups.
_GROUPED = 2

# A difference of numbers by which two systems are told to decide alike.
_ROUNDING = 1e-9

#: Numbers of the same people by which two systems may be told to decide differently.
NONE = np.empty(0)


@dataclass(frozen=True, kw_only=True)
class SystemMeasure:
    """One measure of one system."""

    scalar: Scalar
    value: float
    limits: tuple[float, float]  # of the value by itself
    target: float = np.nan  # FAR or FRR target
    prior: float = np.nan  # of a cost
    threshold: float = np.nan  # that was given
    rank: int = 0  # of a CMC, or that lists are cut at
    #: float64 (replicates,): the value with people resampled; empty where limits need none.
    drawn: np.ndarray = field(default_factory=lambda: NONE)
    #: float64 (people or groups of them,): the value without each; empty where nobody can be.
    without: np.ndarray = field(default_factory=lambda: NONE)
    #: Numbers by person: where they are equal, two systems decide the person's own attempts alike.
    own: np.ndarray = field(default_factory=lambda: NONE)
    #: The same of attempts of two people, which are in the numbers of both.
    shared: np.ndarray = field(default_factory=lambda: NONE)
    made: float = np.inf  # attempts that a target needs
    population: str = NEW_PEOPLE  # that the limits are for
    drawn_for: str = NEW_PEOPLE  # the population of the replicates

    @property
    def at(self) -> float:
        """The target, prior, threshold or rank; NaN without one."""
        return place_of(self.target, self.prior, self.threshold, self.rank)

    @property
    def at_text(self) -> str:
        """The same as text, by which measures of two systems are found."""
        return f"{self.at:g}"

    @property
    def supported(self) -> bool:
        """Whether there are enough attempts for the target."""
        return RuleOf(3).supports(self.target, self.made)


def system_measures(
    scores: Scores,
    count: Callable[[Scores], ComparedSystem],
    wanted: WantedMeasures,
    interval: IntervalMethod,
    gallery: str,
) -> tuple[ComparedSystem, list[SystemMeasure]]:
    """Count the attempts of a system, and return its measures.

    `count` counts the tasks that are asked for; `gallery` is as in :func:`bioeval.compare`.
    """
    system = count(scores)
    measures: list[SystemMeasure] = []
    with threads_for(scores):
        if system.claimed is not None and wanted.verification:
            measures += verification_of(system, wanted, interval)
        if system.searched is not None and wanted.identification:
            measures += identification_of(system, wanted, interval, gallery)
    measures += functions_of(scores, wanted.functions, interval)
    return system, in_order(measures, wanted)


T = TypeVar("T", SystemMeasure, PairedMeasure)


def in_order(measures: Sequence[T], wanted: WantedMeasures) -> list[T]:
    """Return the measures that are asked for, in the order in which they are."""
    place = [wanted.place_of(x.scalar.name, x.at) for x in measures]
    asked = [i for i in range(len(measures)) if place[i] >= 0]
    return [measures[i] for i in sorted(asked, key=place.__getitem__)]


# ------------------------------------------------------------------------- verification


def verification_of(
    system: ComparedSystem, wanted: WantedMeasures, interval: IntervalMethod
) -> Iterator[SystemMeasure]:
    """Yield the measures of verification, with thresholds chosen anew in each replicate."""
    tally, points = system.claimed, system.points
    given = np.sort(to_internal(system.thresholds, system.scores.kind))
    measures = curves_asked_for(system, wanted)
    drawn = Replicates.of(tally, system.by_subject(), given, interval, measures)
    limits = limits_of_measures(tally, drawn, interval)
    for measure in measures:
        values = np.atleast_2d(drawn.values[measure.name])
        without = np.atleast_2d(drawn.values_without[measure.name])
        low, high = map(np.atleast_1d, limits[measure.name])
        targets: Sequence[float] = [np.nan]
        if measure.targets is not None:
            targets = measure.targets(points).tolist()
        at = [np.nan] * len(targets)
        if measure.thresholds is not None:
            at = np.atleast_1d(measure.thresholds(points)).tolist()
        for i, target in enumerate(targets):
            own, shared = _decisions(drawn, measure, at[i])
            yield SystemMeasure(
                scalar=measure.scalar,
                value=float(values[i, 0]),
                limits=(float(low[i]), float(high[i])),
                drawn=values[i, 1:],
                without=without[i, 1:],
                own=own,
                shared=shared,
                prior=target if measure.of_target == "prior" else np.nan,
                target=target if measure.of_target in ("far", "frr") else np.nan,
                made={"far": system.impostors, "frr": system.genuine}.get(
                    measure.of_target, np.inf
                ),
            )
    yield from _rates_at_thresholds(system, wanted, drawn, given, interval)


def _decisions(
    drawn: Replicates, measure: CurveMeasure, threshold: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers by which people are decided alike: rejects and accepts, or placements."""
    if measure.thresholds is None:
        return drawn.placements_of_each(), NONE
    rejects, accepts = drawn.errors_of_each(threshold)
    own = rejects if "genuine" in measure.rate_of or not measure.rate_of else NONE
    shared = accepts if "impostor" in measure.rate_of or not measure.rate_of else NONE
    return own, shared


def _rates_at_thresholds(
    system: ComparedSystem,
    wanted: WantedMeasures,
    drawn: Replicates,
    given: np.ndarray,
    interval: IntervalMethod,
) -> Iterator[SystemMeasure]:
    """Yield FRR and FAR at thresholds that were given."""
    for name, scalar in AT_THRESHOLD.items():
        rate = name.partition("_")[0]
        for threshold in wanted.numbers(name):
            (at,) = to_internal(np.array([threshold]), system.scores.kind)
            place = drawn.place_of(at)
            if rate == "frr":
                value = float(drawn.frr[np.searchsorted(given, at), 0])
            else:
                value = float(drawn.far[place, 0]) if place >= 0 else 0.0
            rates = getattr(drawn.without, rate)
            without = np.full(rates.shape[1], 1.0 if rate == "frr" else 0.0)
            if place >= 0:
                without = rates[place]
            rejects, accepts = drawn.errors_of_each(at)
            low, high = limits_at_threshold(system.claimed, drawn, at, interval)[rate]
            yield SystemMeasure(
                scalar=scalar,
                value=value,
                limits=(float(low), float(high)),
                without=without[1:],
                own=rejects if rate == "frr" else NONE,
                shared=accepts if rate == "far" else NONE,
                threshold=threshold,
            )


# ------------------------------------------------------------------------- identification


def identification_of(
    system: ComparedSystem, wanted: WantedMeasures, interval: IntervalMethod, gallery: str
) -> Iterator[SystemMeasure]:
    """Yield the recognition rate, CMS at ranks, and DIR at each FAR target at rank 1."""
    scores, search, tally = system.scores, system.search, system.searched
    codes = codes_of(scores)
    person = np.where(scores._probe_people < 0, -1, codes.probe)
    ranks = sorted({1, *wanted.ranks})
    who = LeftOut.subjects_of(scores)
    for_new = gallery == "new" and int((~scores._no_person[who]).sum()) >= FEWEST
    people: NewPeople | None = None
    if for_new:
        with rows_reported_to(None):
            left_out = LeftOut.of(tally, system.reader, search.ties, ranks=ranks[-1])
        people = NewPeople(tally, left_out, search.ties, interval.for_new_people, search.impostors)
    population = NEW_PEOPLE if for_new else THIS_GALLERY
    targets = system.targets
    for rank in ranks:
        found, at_far, _, trials = identification_replicates(
            tally, person, search, targets[: len(targets) * (rank == 1)], interval, rank
        )
        hits, at_hits = system.hits_within(rank)
        low, high = (float(x[0]) for x in interval.limits(found[None], trials))
        if rank == 1:
            at_low, at_high = interval.limits(at_far, trials)
        without, at_far_without = NONE, [NONE] * len(targets)
        if people is not None:
            persons = ~scores._no_person[who]
            left_out_values, left_out_at_far = people.without_each(targets, rank)
            without, at_far_without = left_out_values[persons], list(left_out_at_far[:, persons])
            low, high = (float(x[-1]) for x in people.ranks(rank))
            at_low, at_high = (x[:, 0] for x in people.points(targets, np.nan, 1)["dir_at_far"])
        recognised = SystemMeasure(
            scalar=scalar_registry()["recognition_rate"],
            value=float(found[0]),
            limits=(low, high),
            drawn=found[1:],
            without=without,
            own=_by_person(person, hits),
            population=population,
            drawn_for=THIS_GALLERY,
        )
        if rank == 1:
            yield recognised
        if rank in wanted.ranks:
            yield replace(recognised, scalar=CMS_AT_RANK, rank=rank)
        if rank > 1 or scores.kind == "order":
            continue
        for i, target in enumerate(targets.tolist()):
            supported = RuleOf(3).supports(target, system.impostor_searches) and target > 0
            lowest = float(at_low[i])
            if not supported and not np.isnan(lowest):
                lowest = 0.0
            yield SystemMeasure(
                scalar=scalar_registry()["dir_at_far"],
                value=float(at_far[i, 0]),
                limits=(lowest, float(at_high[i])),
                drawn=at_far[i, 1:],
                without=at_far_without[i],
                own=_by_person(person, at_hits[i]),
                target=target,
                made=system.impostor_searches or np.inf,
                population=population,
                drawn_for=THIS_GALLERY,
            )


def _by_person(person: np.ndarray, hits: np.ndarray) -> np.ndarray:
    """Return the sums of hits of each person as whole numbers of 2^-20."""
    known = person >= 0
    return np.rint(np.bincount(person[known], hits[known]) * 2.0**20)


# ------------------------------------------------------------------------- re-identification


def retrieval_of(
    system: ComparedRetrieval, wanted: WantedMeasures, interval: IntervalMethod
) -> list[SystemMeasure]:
    """Return the means over the queries of re-identification."""
    codes = codes_of(system.scores)
    person = np.where(system.scores._probe_people < 0, -1, codes.probe)
    owners = QuerySubjects(person, system.counted, interval)
    without: dict[tuple[str, int], np.ndarray] = {}
    if system.groups:
        numbers = Stream(interval.seed, _GROUPED).permutation(len(codes.values))
        without = system.without_each(numbers)
    measures = []
    for (name, rank), mean in system.measures.items():
        scalar = scalar_registry()[name]
        over, sums = owners.means_over(mean.counted), owners.sums(mean)
        drawn = mean.scalar.unscaled(over.values(sums)[0])
        left_out = without.get((name, rank), NONE)
        low, high = map(mean.scalar.unscaled, over.limits(sums, cumulative=False))
        ends = float(low[0]), float(high[0])
        if len(left_out):
            ends = limits_without(mean.scalar, float(drawn[0]), left_out, over.trials, interval)
        measures.append(
            SystemMeasure(
                scalar=scalar,
                value=float(drawn[0]),
                limits=ends,
                drawn=drawn[1 : 1 + interval.replicates],
                without=left_out,
                own=_by_person(person, np.nan_to_num(mean.each) + mean.counted),
                rank=rank,
                population=NEW_PEOPLE if len(left_out) else THIS_GALLERY,
                drawn_for=THIS_GALLERY,
            )
        )
    return in_order(measures, wanted)


# ------------------------------------------------------------------------- any number of scores


def functions_of(
    scores: Scores, functions: Sequence[tuple[Measure, float]], interval: IntervalMethod
) -> Iterator[SystemMeasure]:
    """Yield numbers of the scores, computed anew without each group of people."""
    if not functions:
        return
    groups = _Groups(scores, interval)
    for measure, prior in functions:
        value = measure.of(scores, prior)
        without = np.array([measure.of(x, prior) for x in groups])
        yield SystemMeasure(
            scalar=measure.scalar,
            value=value,
            limits=limits_without(measure.scalar, value, without, groups.number, interval),
            without=without,
            own=without - value,
            prior=prior,
        )


@dataclass(frozen=True)
class _Groups:
    """Scores without each of some groups of people, on all sides."""

    scores: Scores
    interval: IntervalMethod

    @cached_property
    def people(self) -> np.ndarray:
        """The codes of the subjects, in random order."""
        known = codes_of(self.scores)
        codes = np.union1d(known.probe, known.gallery)
        if not are_pairs(self.scores):
            codes = codes[~self.scores._no_person[codes]]
        return codes[Stream(self.interval.seed, _GROUPED).permutation(len(codes))]

    @property
    def number(self) -> int:
        """Number of groups: that of the people up to twice :data:`GROUPS`."""
        return len(self.people) if len(self.people) <= 2 * GROUPS else GROUPS

    def __iter__(self) -> Iterator[Scores]:
        for group in np.array_split(self.people, self.number):
            codes = codes_of(self.scores)
            probes, gallery = (~np.isin(x, group) for x in (codes.probe, codes.gallery))
            if are_pairs(self.scores):
                yield self.scores.select(np.flatnonzero(probes & gallery))
            else:
                yield self.scores.select(
                    probes=np.flatnonzero(probes), gallery=np.flatnonzero(gallery)
                )


def limits_without(
    scalar: Scalar, value: float, without: np.ndarray, trials: int, interval: IntervalMethod
) -> tuple[float, float]:
    """Return the limits of a value from its values without each of some groups of people.

    Those of a value between finite bounds are on the logit scale; else they are of Student's t.
    """
    if np.isnan(value) or len(without) < 2 or np.isnan(without).any():
        return np.nan, np.nan
    if np.isfinite(scalar.bounds).all():
        low, high = jackknife_limits(
            scalar.scaled(np.array(value)),
            scalar.scaled(without),
            interval.confidence,
            max(trials, 1),
        )
        return float(scalar.unscaled(low)), float(scalar.unscaled(high))
    return student_limits(value, without, interval.confidence, scalar.bounds)


def discordant_people(systems: Sequence[SystemMeasure]) -> np.ndarray:
    """Return how many people, at least, each two systems decide differently, int64 (k, k).

    A decision on two people is in the numbers of both: so those who differ in such decisions alone
    are counted as half as many.
    """
    k = len(systems)
    numbers = np.zeros((k, k), dtype=np.int64)
    for i in range(k):
        for j in range(i):
            own = _differ(systems[i].own, systems[j].own)
            shared = _differ(systems[i].shared, systems[j].shared)
            if len(own) and len(shared):
                shared = shared & ~own
            numbers[i, j] = numbers[j, i] = own.sum() + (shared.sum() + 1) // 2
    return numbers


def _differ(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return where numbers differ, those that are not defined in one of both as well."""
    if len(one) != len(other):
        return np.ones(max(len(one), len(other)), dtype=bool)
    size = np.maximum(1.0, np.fmax(np.abs(one), np.abs(other)))
    return (np.abs(one - other) > _ROUNDING * size) | (np.isnan(one) != np.isnan(other))


# ------------------------------------------------------------------------- of two systems


def curves_asked_for(system: ComparedSystem, wanted: WantedMeasures) -> list[CurveMeasure]:
    """Return the measures of verification that are asked for, as far as they are defined."""
    return [
        x
        for x in curve_measures()
        if x.is_defined(system.points)
        and (x.usual if wanted.chosen is None else wanted.asks(x.name))
        and "comparison" in x.scalar.results
    ]


def other_measures(
    a: ComparedSystem,
    b: ComparedSystem,
    wanted: WantedMeasures,
    interval: IntervalMethod,
    gallery: str,
) -> Iterator[PairedMeasure]:
    """Yield rates at given thresholds, CMS at ranks and numbers of scores of two systems."""
    for one, other in zip(*(_others_of(x, wanted, interval, gallery) for x in (a, b)), strict=True):
        discordant = int(discordant_people([one, other])[0, 1])
        yield PairedMeasure(
            scalar=one.scalar,
            values=np.stack([_columns(x, interval) for x in (one, other)]),
            trials=min(len(one.without), len(other.without)),
            attempt=2 * _ROUNDING,
            discordant=discordant,
            reordered=discordant,
            prior=one.prior,
            threshold=one.threshold,
            rank=one.rank,
            population=one.population,
            drawn_for=one.population,
        )


def _others_of(
    system: ComparedSystem, wanted: WantedMeasures, interval: IntervalMethod, gallery: str
) -> list[SystemMeasure]:
    measures: list[SystemMeasure] = []
    with threads_for(system.scores):
        if system.claimed is not None and wanted.asks(*AT_THRESHOLD):
            measures += verification_of(system, wanted, interval)
        if system.searched is not None and wanted.asks(CMS_AT_RANK.name):
            measures += identification_of(system, wanted, interval, gallery)
    others = [CMS_AT_RANK, *AT_THRESHOLD.values()]
    measures = [x for x in measures if any(x.scalar is other for other in others)]
    return measures + list(functions_of(system.scores, wanted.functions, interval))


def _columns(measure: SystemMeasure, interval: IntervalMethod) -> np.ndarray:
    """Return the value, the replicates, NaN without any, and the values without each person."""
    drawn = measure.drawn
    if not len(drawn):
        drawn = np.full(interval.replicates, np.nan)
    return np.concatenate([[measure.value], drawn, measure.without])
