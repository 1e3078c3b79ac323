"""Comparison of any number of systems: a ranking by each measure."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import xarray as xr

from bioeval.attempts.by_subject import SubjectAttempts
from bioeval.base.errors import BioevalError, DataError, received
from bioeval.base.messages import Message
from bioeval.base.progress import reporter, rows_reported_to
from bioeval.base.version import __version__
from bioeval.protocol.pairs import with_exclusions
from bioeval.results.support import KindVerdict
from bioeval.scores.bona_fide import without_attacks
from bioeval.scores.matrix import Scores, are_pairs, codes_of
from bioeval.stats.options import IntervalMethod
from bioeval.stats.simultaneous import Differences, drawn_deviations, jackknife_errors, normal_draws
from bioeval.studies.compare.limits import least_discordant
from bioeval.studies.compare.measures import ComparedRetrieval, ComparedSystem
from bioeval.studies.compare.options import ComparisonOptions
from bioeval.studies.compare.paired_systems import aligned, numbered_as
from bioeval.studies.compare.ranking import RankedMeasure, ranking_dataset
from bioeval.studies.compare.systems import (
    SystemMeasure,
    discordant_people,
    retrieval_of,
    system_measures,
)
from bioeval.tasks.reid.convention import column_warnings
from bioeval.views.messages import warn_of_kind

#: Scores, or what reads them when it is called, so that one system at a time is in memory.
System: TypeAlias = Scores | Callable[[], Scores]


def rank_systems(
    systems: Mapping[str, System],
    options: ComparisonOptions,
    require_same: Callable[[Any, Any], None],
    compare_two: Callable[[Scores, Scores], xr.Dataset],
) -> xr.Dataset:
    """Return the measures of systems with their ranks, and the differences of all pairs.

    `require_same` raises unless two systems have the same data. Of two systems, the limits of the
    difference are those of `compare_two`.
    """
    if len(systems) < 2:
        raise DataError(f"a comparison needs two systems or more, and {len(systems)} is given")
    measured = _Measured(systems, options, require_same)
    normal = functools.cache(lambda people: normal_draws(people, options.interval.seed))
    ranked = [_ranked(row, options.interval, normal) for row in measured.rows()]
    if len(measured.names) == 2:
        ranked = _as_compared(ranked, compare_two(*measured.pair()))
    ranked = _adjusted(ranked, options)
    return ranking_dataset(measured.names, ranked, measured.attrs(), measured.messages)


class _OtherDataError(DataError):
    """A system has other data than the first one."""


class _Measured:
    """All systems, measured one after another on the templates that they have in common."""

    def __init__(
        self,
        systems: Mapping[str, System],
        options: ComparisonOptions,
        require_same: Callable[[Any, Any], None],
    ):
        """Read and measure the systems; twice where a later one lacks some templates."""
        self.options, self.require_same = options, require_same
        self.systems, self.names = systems, list(systems)
        self.measures: list[list[SystemMeasure]] = []
        self.details: dict[str, Any] = {}
        self._of_systems: dict[Message, list[str]] = {}
        self._in_common: list[Message] = []
        self._attempts: dict[tuple[int, ...], list[str]] = {}
        self._left_out: dict[str, Message] = {}
        self._ranked: set[str] = set()  # names of the measures that all have
        self._unlike: list[str] = []  # those that have other data than the first
        self._first = self.names[0]  # the first one that is not left out
        reference: Scores | None = None
        while True:
            reference, complete = self._measure(systems, reference)
            if len(self._unlike) > len(self.names):  # most systems are like each other
                reason = f"it has other data than {len(self._unlike)} systems"
                for name in self.names:
                    self._left_out[name] = Message("system-left-out", system=name, reason=reason)
                for name in self._unlike:
                    del self._left_out[name]
                reference, self._unlike = None, []
            elif complete:
                break

    def _measure(
        self, systems: Mapping[str, System], reference: Scores | None
    ) -> tuple[Scores, bool]:
        """Measure all systems; return what they have in common, and whether all had it."""
        complete = True
        self.measures, self._of_systems, self.names = [], {}, []
        self.details, self._in_common, self._attempts = {}, [], {}
        for name, system in systems.items():
            if name in self._left_out:
                continue
            try:
                scores = self._read(name, system)
                common = scores
                if reference is not None and scores is not reference:
                    common, scores = self._aligned(reference, name, scores)
                same = reference is None or common.shape == reference.shape
                if complete and same:
                    self._add(name, scores)
            except BioevalError as error:
                if not self.options.leave_out:
                    if name in str(error):
                        raise
                    raise type(error)(f"{name}: ", *error.args) from error
                if isinstance(error, _OtherDataError):
                    self._unlike.append(name)
                self._left_out[name] = Message("system-left-out", system=name, reason=str(error))
                continue
            self.names.append(name)
            if reference is None:
                self._first = name
            elif not same:  # those measured before have too many
                complete = False
            reference = common
        if reference is None or len(self.names) < 2 and len(self._unlike) < 2:
            raise DataError(
                "two systems or more are needed for a comparison, and all but "
                f"{len(self.names)} are left out: ",
                "; ".join(f"{name}: {x.arguments['reason']}" for name, x in self._left_out.items()),
            )
        return reference, complete

    def rows(self) -> list[list[SystemMeasure]]:
        """Return each measure of all systems; those that not all have are left out."""
        by_key = [{(x.scalar.name, x.at_text): x for x in each} for each in self.measures]
        rows = [
            [each[key] for each in by_key] for key in by_key[0] if all(key in x for x in by_key)
        ]
        if not rows:
            raise DataError(
                "none of the measures is defined for all systems: lists that end before the last "
                "match have no mAP, and pairs no identification"
            )
        self._ranked = {row[0].scalar.name for row in rows}
        return rows

    def pair(self) -> list[Scores]:
        """Read the two systems that are left again, with what they have in common."""
        return [self._read(name, self.systems[name]) for name in self.names]

    def _read(self, name: str, system: System) -> Scores:
        scores = system() if callable(system) and not isinstance(system, Scores) else system
        if not isinstance(scores, Scores):
            raise DataError(
                f"the system {name} is {received(scores)}; expected bioeval.Scores, or a function "
                "that reads them"
            )
        scores = without_attacks(scores)
        if self.options.rules is not None:
            scores = with_exclusions(scores, self.options.protocol)
        SubjectAttempts.require_people(scores)
        return scores

    def _aligned(self, reference: Scores, name: str, scores: Scores) -> tuple[Scores, Scores]:
        """Return what the reference and a system have in common, in the order of the reference."""
        try:
            common, scores, apart = aligned(reference, scores, (self._first, name))
            self.require_same(common, scores)
        except DataError as error:
            raise _OtherDataError(f"{name} is not like {self._first}: {error}") from None
        for message in apart:
            if number := int(message.arguments["left_out_b"]):
                what = message.arguments["what"]
                self._in_common.append(
                    Message("not-in-all", system=name, left_out=number, what=what)
                )
        return common, numbered_as(common, scores)

    def _add(self, name: str, scores: Scores) -> None:
        """Measure a system."""
        options = self.options
        with rows_reported_to(reporter()):
            if options.rules is not None:
                self._add_retrieval(name, options.count_queries(scores))
                return
            system, measures = system_measures(
                scores, options.count, options.wanted, options.interval, options.gallery
            )
        self._keep(name, system, measures)
        self._say(name, column_warnings(scores))

    def _add_retrieval(self, name: str, system: ComparedRetrieval) -> None:
        self._keep(name, system, retrieval_of(system, self.options.wanted, self.options.interval))

    def _keep(
        self,
        name: str,
        system: ComparedSystem | ComparedRetrieval,
        measures: Sequence[SystemMeasure],
    ) -> None:
        """Keep the measures of a system, and what is said of it."""
        scores = system.scores
        self.measures.append(list(measures))
        self._attempts.setdefault(tuple(system.attempts), []).append(name)
        self._say(name, [*scores._remarks, *system.remarks])
        for measure in measures:
            if measure.scalar.name == "eer":
                fused = bool(scores._claims)
                doubt = KindVerdict.doubt(
                    measure.value, scores.kind, system.people, fused=fused, metric=scores._metric
                )
                if doubt is not None:
                    self._say(name, [doubt])
                    warn_of_kind(doubt.concerning(name))
        if not self.details:
            sides = {"probes": scores.shape[0]}
            if not are_pairs(scores):
                codes = codes_of(scores)
                sides["probe_subjects"] = len(np.unique(codes.probe))
                sides["gallery_templates"] = scores.shape[1]
                sides["gallery_subjects"] = len(np.unique(codes.gallery))
            self.details = {
                "layout": scores.layout,
                **sides,
                "subjects": system.people,
                **system.details,
            }

    def _say(self, name: str, messages: Sequence[Message]) -> None:
        for message in dict.fromkeys(messages):
            self._of_systems.setdefault(message, []).append(name)

    @property
    def messages(self) -> list[Message]:
        """What is to be said of the systems, what concerns all of them once."""
        several = []
        for message, names in self._of_systems.items():
            if len(names) == len(self.names):
                several.append(message)
            else:
                several += [message.concerning(name) for name in names]
        people = int(self.details["subjects"])
        few = self.options.interval.few_people(people)
        undefined = [x.name for x in self.options.wanted.chosen or () if x.name not in self._ranked]
        if undefined:
            few = [*few, Message("measures-not-defined", measures=list(dict.fromkeys(undefined)))]
        return [*self._left_out.values(), *self._apart(), *self._in_common, *few, *several]

    def _apart(self) -> Iterator[Message]:
        """Yield which systems have other attempts than the first one."""
        (first, _), *others = self._attempts.items()
        for attempts, names in others:
            yield Message(
                "attempts-of-systems",
                systems=names,
                first=self._first,
                attempts=list(attempts),
                attempts_of_first=list(first),
            )

    def attrs(self) -> dict[str, str | int | float]:
        """Return the attributes of the data and of the options."""
        interval = self.options.interval
        return {
            **self.details,
            **interval.attrs(),
            "adjust": self.options.adjust,
            "least_discordant": least_discordant(interval.confidence),
            "bioeval_version": __version__,
        }


def _ranked(
    systems: Sequence[SystemMeasure],
    interval: IntervalMethod,
    normal: Callable[[int], np.ndarray],
) -> RankedMeasure:
    """Return one measure of all systems, with the differences that it can tell apart.

    `normal` returns the normal draws for a number of people.
    """
    first, k = systems[0], len(systems)
    values = np.array([x.value for x in systems])
    supported = all(x.supported for x in systems)
    enough = discordant_people(systems) >= least_discordant(interval.confidence)
    comparable = enough & ~np.eye(k, dtype=bool)
    if not supported:
        comparable[:] = False
    draws = _Draws.of(systems, normal)
    comparable &= draws.known[:, None] & draws.known
    widest = first.scalar.bounds[1] - first.scalar.bounds[0]
    return RankedMeasure(
        scalar=first.scalar,
        values=values,
        limits=(
            np.array([x.limits[0] for x in systems]),
            np.array([x.limits[1] for x in systems]),
        ),
        differences=Differences.of(
            values,
            draws.deviations,
            comparable,
            interval.confidence,
            draws.freedom,
            spread=draws.spread,
            error=draws.errors,
            widest=widest,
        ),
        target=first.target,
        prior=first.prior,
        threshold=first.threshold,
        rank=first.rank,
        supported=supported,
        population=first.population,
    )


@dataclass(frozen=True)
class _Draws:
    """Draws of the errors of a measure of all systems, with the same people in each."""

    deviations: np.ndarray  # (systems, draws)
    spread: np.ndarray | None  # (systems, systems): of the draws, unless it is that of a sample
    errors: np.ndarray | None  # (systems, systems): standard errors, unless the spread
    freedom: int
    known: np.ndarray  # (systems,): whether the system has draws

    @classmethod
    def of(cls, systems: Sequence[SystemMeasure], normal: Callable[[int], np.ndarray]) -> _Draws:
        """Take the draws of the jackknife, those of the bootstrap where nobody is left out.

        Where thresholds are chosen anew the jackknife's errors may be too small: the larger of both
        are taken. Replicates of a fixed gallery miss what another gallery changes, and add up with
        the jackknife's errors, as squares.
        """
        k, rule = len(systems), systems[0].scalar.jackknife
        people = min(len(x.without) for x in systems)
        resampled = None
        if min(len(x.drawn) for x in systems):
            drawn = np.stack([x.drawn for x in systems])
            known = ~np.isnan(drawn).all(axis=1)
            mean = np.nanmean(np.where(known[:, None], drawn, 0.0), axis=1, keepdims=True)
            deviations = np.where(known[:, None], drawn - mean, 0.0)
            drawn_people = max(people, min(len(x.own) for x in systems), 2)
            resampled = cls(deviations, None, None, drawn_people - 1, known)
        if people < 2:
            nothing = cls(np.zeros((k, 0)), None, None, 0, np.zeros(k, dtype=bool))
            return resampled or nothing
        without = np.stack([x.without for x in systems])
        known = ~np.isnan(without).any(axis=1)
        without = np.where(known[:, None], without, 0.0)
        spread = errors = jackknife_errors(without)
        if rule != "alone" and resampled is not None:
            apart = resampled.deviations[:, None] - resampled.deviations
            of_replicates = np.sqrt(np.nanmean(apart**2, axis=-1))
            if systems[0].drawn_for == systems[0].population:
                errors = np.fmax(errors, of_replicates)
            else:
                errors = np.hypot(errors, of_replicates)
            known &= resampled.known
        return cls(drawn_deviations(without, normal(people)), spread, errors, people - 1, known)


def _as_compared(ranked: Sequence[RankedMeasure], compared: xr.Dataset) -> list[RankedMeasure]:
    """Return measures with the limits that a comparison of the two systems has."""
    labels = compared["measure"].values.tolist()
    out = []
    for measure in ranked:
        row = compared.isel(measure=labels.index(measure.label))
        better = int(row["better"])
        larger = better if measure.scalar.larger_is_better else -better
        low, high = float(row["difference_low"]), float(row["difference_high"])

        def square(value: float, other: float) -> np.ndarray:
            return np.array([[np.nan, value], [other, np.nan]])

        p = float(row["p_value"])
        differences = replace(
            measure.differences,
            low=square(low, -high),
            high=square(high, -low),
            p=square(p, p),
            larger=np.array([[0, larger], [-larger, 0]]),
        )
        out.append(replace(measure, differences=differences))
    return out


def _adjusted(ranked: Sequence[RankedMeasure], options: ComparisonOptions) -> list[RankedMeasure]:
    """Return measures in which fewer systems are told apart, adjusted for the number of measures.

    Holm's step-down method over the families of pairs: a p-value, which is adjusted for the pairs,
    is multiplied by the number of measures of which some pair is not told apart.
    """
    if options.adjust != "holm":
        return list(ranked)
    alpha = 1 - options.interval.confidence
    tested = [m for m in ranked if not np.isnan(m.differences.p).all()]
    factor = len(tested)
    while True:
        open_ = [m for m in tested if np.nanmax(m.differences.p) * factor > alpha]
        if len(open_) >= factor or not open_:
            break
        factor = len(open_)
    adjusted = []
    for measure in ranked:
        between = measure.differences
        kept = np.nan_to_num(between.p, nan=1.0) * max(factor, 1) <= alpha
        larger = np.where(kept, between.larger, 0)
        adjusted.append(replace(measure, differences=replace(between, larger=larger)))
    return adjusted
