"""The measures of one system, by which systems are compared.

Systems are measured one after another. The value of each measure and its value without each person
are kept. For measures at thresholds that are chosen on the data, the value in each replicate is
kept as well; replicates draw people anew, the same people for all systems.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from bioeval.base.errors import ProtocolError
from bioeval.base.messages import Message
from bioeval.base.progress import rows_reported_to
from bioeval.counting.identification import Searches, Searching
from bioeval.counting.left_out import LeftOut
from bioeval.counting.thresholds import to_internal
from bioeval.counting.verification import Verified, count
from bioeval.counting.wanted_points import PointsWanted
from bioeval.protocol.tasks import OpenSet
from bioeval.results.measure import Measure
from bioeval.results.support import RuleOf, independent_trials, searching_people, support_messages
from bioeval.results.variables import VARIABLES, Variable, best_values
from bioeval.scores.fusion_rules import order_of
from bioeval.scores.matrix import Scores
from bioeval.scores.people import people_of_probes
from bioeval.scores.requirements import require_all_scores
from bioeval.scores.rows import threads_for
from bioeval.scores.score_notes import too_few_notes
from bioeval.scores.symmetry import is_symmetric
from bioeval.stats.error_curves import CurveMeasure, curve_measures
from bioeval.stats.limits import student
from bioeval.stats.options import IntervalMethod
from bioeval.stats.search_attempts import FEWEST
from bioeval.stats.search_columns import SearchColumns
from bioeval.stats.verification import VerificationColumns
from bioeval.stats.weighted_sums import ratio
from bioeval.studies.compare.results import NEW_PEOPLE, NONE, THIS_GALLERY, SystemMeasure
from bioeval.studies.compare.wanted import (
    AT_THRESHOLD,
    CMS_AT_RANK,
    IDENTIFICATION,
    WantedMeasures,
)

# Number of groups of people: a function of the scores is computed anew without each group.
_GROUPS = 20


@dataclass(frozen=True)
class MeasuredSystem:
    """All measures of a system, and messages on it."""

    measures: list[SystemMeasure]
    people: int  # number of people who are left out in turn
    attempts: tuple[int, ...]  # number of attempts of each class
    details: dict[str, str]  # attributes that say how attempts are evaluated
    messages: list[Message]


class _MeasuredTask(NamedTuple):
    """The measures of one task, and messages on them."""

    measures: list[SystemMeasure]
    attempts: list[int]  # number of attempts of each class
    messages: list[Message]


def by_attempts(
    scores: Scores, wanted: WantedMeasures, search: OpenSet, interval: IntervalMethod
) -> MeasuredSystem:
    """Measure verification, identification and functions of scores, as far as they are defined."""
    require_all_scores(scores)
    verifying = _verifying(scores, wanted)
    searching = None
    if not (scores.layout == "pairs" or scores.claims) and wanted.asks(*IDENTIFICATION):
        searching = Searching(scores, search)
    if not (verifying or searching or wanted.functions):
        raise ProtocolError(
            "there is nothing to compare: pairs and claims have no identification, and scores "
            "that hold only an order no verification"
        )

    # One pass over the scores counts both tasks.
    reducers = searching.reducers if searching else ()
    facts = count(scores, [verifying] if verifying else [], *reducers)
    tasks: list[_MeasuredTask] = []
    people = len(scores.codes.people(scores.codes.probe))
    with threads_for(scores):
        if verifying:
            tasks.append(_measured_verification(verifying, wanted, interval))
            people = int((~verifying.people.no_person).sum())
        if searching:
            searches = searching.result(*facts)
            tasks.append(_measured_searches(searches, scores, wanted, search, interval))

    measures = [x for task in tasks for x in task.measures]
    details = {}
    if verifying and not scores.claims:
        details["templates"] = "single"
    if searching:
        details |= {name: search[name] for name in ("rank_unit", "ties", "impostors")}
    if wanted.functions:
        codes = scores.codes
        everyone = codes.people(codes.probe, codes.gallery)
        groups = number_of_groups(len(everyone), _GROUPS)
        details["jackknifed"] = left_out_in_words(len(everyone), groups)
        measures += _own_functions(scores, wanted.functions, everyone, groups, interval)
    attempts = tuple(number for task in tasks for number in task.attempts)
    messages = [message for task in tasks for message in task.messages]
    return MeasuredSystem(wanted.in_order(measures), people, attempts, details, messages)


def _verifying(scores: Scores, wanted: WantedMeasures) -> Verified | None:
    """Return verification, to be counted; None without values or if no measure of it is wanted."""
    names = (*(x.name for x in curve_measures()), *AT_THRESHOLD)
    if scores.kind == "order" or not wanted.asks(*names):
        return None
    priors = sorted(set(wanted.numbers("min_dcf")))
    points = PointsWanted(
        wanted.far_targets,
        np.array([(prior, 1, 1) for prior in priors]).reshape(-1, 3),
        True,
        frr_targets=wanted.frr_targets,
        optima=best_values(),
    )
    thresholds = np.unique([x for name in AT_THRESHOLD for x in wanted.numbers(name)])
    return Verified(scores, wanted=points, thresholds=thresholds if len(thresholds) else None)


def _measured_verification(
    verified: Verified, wanted: WantedMeasures, interval: IntervalMethod
) -> _MeasuredTask:
    verified.find_points(symmetric=False, with_thresholds=verified.requested_thresholds is None)
    attempts = [verified.attempts.genuine_attempts, verified.attempts.impostor_attempts]
    # In a symmetric matrix, each pair of templates is one attempt.
    symmetric = is_symmetric(verified.scores)
    genuine, impostor = (number / (1 + symmetric) for number in attempts)
    compared = verified.compared
    people = None if compared is None else compared.number
    messages: list[Message] = []
    if impostor and wanted.asks("frr_at_far"):
        messages += support_messages(
            wanted.far_targets, impostor, symmetric, "frr at far", compared
        )
    if impostor:
        messages += support_messages(wanted.frr_targets, genuine, symmetric, "far at frr", people)
    trials = {
        "frr": independent_trials(genuine, people),
        "far": independent_trials(impostor, compared),
    }
    requested = []
    for measure in curve_measures():
        is_requested = wanted.chosen is not None or measure.usual
        if is_requested and wanted.asks(measure.name) and measure.is_defined(verified.points):
            requested.append(measure)
    has_quantiles = any(x.scalar.quantile for x in requested)
    counted = VerificationColumns.count(verified, interval, requested, drawn=has_quantiles)
    measures = [
        *_curve_measures(counted, requested, trials),
        *_measures_at_thresholds(counted, wanted),
    ]
    return _MeasuredTask(measures, attempts, messages)


def _curve_measures(
    counted: VerificationColumns, measures: Sequence[CurveMeasure], trials: dict[str, float]
) -> Iterator[SystemMeasure]:
    """Yield the measures at thresholds that are chosen anew without each person, or at none.

    `trials` has the number of independent trials for each rate that a target may be of. A target
    that the trials do not support has no limits, as in :func:`bioeval.verification`.
    """
    points = counted.verified.points
    limits, _ = counted.limits()
    for measure in measures:
        columns = np.atleast_2d(counted.without.values[measure.name])
        drawn = None
        if measure.scalar.quantile:
            drawn = np.atleast_2d(counted.replicates.values[measure.name])
        low, high = map(np.atleast_1d, limits[measure.name])
        for i, target in enumerate(measure.numbers(points)):
            own, shared = _decisions(counted, measure, i)
            dim = {"far": "far_target", "frr": "frr_target", "prior": "cost"}.get(measure.of_target)
            yield SystemMeasure(
                scalar=measure.scalar,
                columns=columns[i],
                limits=(float(low[i]), float(high[i])),
                places={dim: target} if dim else {},
                supported=RuleOf(3).supports(target, trials.get(measure.of_target, np.inf)),
                drawn=NONE if drawn is None else drawn[i, 1:],
                own=own,
                shared=shared,
            )


def _measures_at_thresholds(
    counted: VerificationColumns, wanted: WantedMeasures
) -> Iterator[SystemMeasure]:
    kind = counted.verified.scores.kind
    for name, scalar in AT_THRESHOLD.items():
        rate = name.partition("_")[0]
        for threshold in wanted.numbers(name):
            distance = float(to_internal(np.array([threshold]), kind)[0])
            far, frr = counted.at_threshold(distance)
            columns, curve = (far, counted.curve.far) if rate == "far" else (frr, counted.curve.frr)
            rejects, accepts = counted.errors_of_each(distance)
            low, high = curve.limits_at(columns[0])
            yield SystemMeasure(
                scalar=scalar,
                columns=columns,
                limits=(float(low), float(high)),
                places={"threshold": threshold},
                own=rejects if rate == "frr" else NONE,
                shared=accepts if rate == "far" else NONE,
            )


def _decisions(
    counted: VerificationColumns, measure: CurveMeasure, index: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers by person of own and of shared attempts, see :class:`SystemMeasure`.

    They are false rejects and false accepts at the threshold of one value of the measure, at
    `index`; a measure without a threshold has placements of genuine attempts.
    """
    if not measure.threshold:
        return counted.placements_of_each(), NONE
    thresholds = measure.own_thresholds(counted.verified.points)
    rejects, accepts = counted.errors_of_each(float(thresholds[index]))
    own = rejects if "genuine" in measure.rate_of or not measure.rate_of else NONE
    shared = accepts if "impostor" in measure.rate_of or not measure.rate_of else NONE
    return own, shared


class _NonMated(NamedTuple):
    """The searches without a mate, from which a FAR is computed."""

    searches: int
    people: int | None  # number of people who make them, None if unknown


def _measured_searches(
    searches: Searches,
    scores: Scores,
    wanted: WantedMeasures,
    search: OpenSet,
    interval: IntervalMethod,
) -> _MeasuredTask:
    too_few = too_few_notes(*searches.about.too_few, order_of(search.of_kind(scores.kind).fusion))
    messages = [*too_few]
    mated = int((searches.mates > 0).sum())
    role = searches.impostor_role(search.impostors)
    number = len(searches.impostor_probes(role)) if scores.kind != "order" and mated else 0
    non_mated = _NonMated(number, searching_people(searches.about, role))
    if number and wanted.asks("dir_at_far"):
        messages += support_messages(
            wanted.far_targets, number, False, "dir at far", non_mated.people
        )
    cms_ranks = {int(x) for x in wanted.numbers("cms")}
    without_each = _SearchesWithoutEach.from_searches(
        searches, scores, search, interval, ranks=max({1, *cms_ranks})
    )
    measures = [*_measures_at_ranks(without_each, cms_ranks)]
    if scores.kind != "order" and len(wanted.far_targets):
        measures += _measures_of_dir(without_each, wanted.far_targets, mated, non_mated)
    return _MeasuredTask(measures, [mated], messages)


class _SearchesWithoutEach(NamedTuple):
    """Searches without each person, left out as probe and in the gallery, or as probe alone."""

    counted: SearchColumns
    is_used: slice | np.ndarray  # columns without a distractor are not used
    population: str

    @classmethod
    def from_searches(
        cls,
        searches: Searches,
        scores: Scores,
        search: OpenSet,
        interval: IntervalMethod,
        ranks: int,
    ) -> Self:
        """Count up to a number of `ranks`; few people are left out as probes alone."""
        is_person = ~scores.codes.no_person[LeftOut.subjects_of(scores)]
        arguments = searches, search.ties, interval, search.impostors
        if int(is_person.sum()) < FEWEST:
            person = np.where(people_of_probes(scores) < 0, -1, scores.codes.probe)
            counted = SearchColumns.for_probes(*arguments, subjects=person)
            return cls(counted, slice(None), THIS_GALLERY)
        with rows_reported_to(None):
            left_out = LeftOut.from_searches(searches, scores, search.ties, ranks=ranks)
        counted = SearchColumns.for_new_people(*arguments, left_out=left_out)
        return cls(counted, np.append(True, is_person), NEW_PEOPLE)


def _measures_at_ranks(
    without_each: _SearchesWithoutEach, cms_ranks: set[int]
) -> Iterator[SystemMeasure]:
    counted, is_used, population = without_each
    for rank in sorted({1, *cms_ranks}):
        cms = counted.cms(np.array([rank]))[0]
        low, high = counted.limits_at_ranks(np.array(rank), cms[0])
        recognised = SystemMeasure(
            scalar=VARIABLES["recognition_rate"],
            columns=cms[is_used],
            limits=(float(low), float(high)),
            own=as_whole_numbers(counted.hits_of_each(rank)),
            population=population,
        )
        if rank == 1:
            yield recognised
        if rank in cms_ranks:
            yield replace(recognised, scalar=CMS_AT_RANK, places={"rank": rank})


def _measures_of_dir(
    without_each: _SearchesWithoutEach, far_targets: np.ndarray, mated: int, non_mated: _NonMated
) -> Iterator[SystemMeasure]:
    """Yield DIR at rank 1 at each FAR target; `mated` is the number of searches with a mate."""
    counted, is_used, population = without_each
    trials = independent_trials(non_mated.searches or np.inf, non_mated.people)
    hits = np.array([counted.hits_of_each(1, target) for target in far_targets])
    searches = mated if non_mated.searches else 0
    value = ratio(hits.sum(axis=1), np.array(searches))
    at_far, (at_low, at_high) = counted.at_targets(counted.curve(), far_targets, value)
    for i, target in enumerate(far_targets.tolist()):
        supported = RuleOf(3).supports(target, trials)
        lowest = float(at_low[i])
        if not (supported and target > 0 and non_mated.searches) and not np.isnan(lowest):
            lowest = 0.0
        yield SystemMeasure(
            scalar=VARIABLES["dir_at_far"],
            columns=at_far[i, is_used],
            limits=(lowest, float(at_high[i])),
            places={"far_target": target, "rank": 1},
            # Limits of 0 and 1: with so few searches, the threshold may be anywhere.
            supported=supported and not (lowest == 0 and at_high[i] == 1),
            own=as_whole_numbers(hits[i]),
            population=population,
        )


def as_whole_numbers(hits: np.ndarray) -> np.ndarray:
    """Return fractions of hits in units of 2^-20, so that equal fractions are exactly equal."""
    return np.rint(hits * 2.0**20)


def _own_functions(
    scores: Scores,
    functions: Sequence[Measure],
    people: np.ndarray,
    groups: int,
    interval: IntervalMethod,
) -> Iterator[SystemMeasure]:
    for measure in functions:
        value = measure.value_of(scores)
        remaining = _without_groups(scores, people, groups)
        values_without = np.array([measure.value_of(x) for x in remaining])
        yield SystemMeasure(
            scalar=measure.scalar,
            columns=np.append(value, values_without),
            limits=limits_without(measure.scalar, value, values_without, groups, interval),
            own=values_without - value,
        )


def number_of_groups(people: int, most: int) -> int:
    """Return the number of groups of people that are left out in turn: `most`, or one per person.

    Up to twice as many people, each person is a group: groups of one person and of two would not
    weigh the same. In the order of their names, people are assigned to the groups in turn.
    """
    return people if people <= 2 * most else most


def left_out_in_words(people: int, groups: int) -> str:
    """Return who is left out in turn, for the attribute ``jackknifed``."""
    return "each person" if groups >= people else f"each of {groups} groups of people"


def _without_groups(scores: Scores, people: np.ndarray, groups: int) -> Iterator[Scores]:
    codes = scores.codes
    for first in range(groups):
        group = people[first::groups]
        probe_stays, gallery_stays = ~np.isin(codes.probe, group), ~np.isin(codes.gallery, group)
        if scores.layout == "pairs":
            yield scores.select(np.flatnonzero(probe_stays & gallery_stays))
        else:
            yield scores.select(np.flatnonzero(probe_stays), np.flatnonzero(gallery_stays))


def limits_without(
    scalar: Variable, value: float, without: np.ndarray, trials: int, interval: IntervalMethod
) -> tuple[float, float]:
    """Return the limits of a value by the jackknife over groups of people.

    `without` are the values without each group. The limits are Student's; if the value has finite
    bounds, they are computed on the logit scale.
    """
    if np.isnan(value) or len(without) < 2 or np.isnan(without).any():
        return np.nan, np.nan
    columns = np.append(value, without)
    low, high = student(columns, interval.confidence, max(trials, 1), scalar.bounds)
    return float(low), float(high)
