"""The measures of one system in a comparison, as they are asked for.

:class:`WantedMeasures` reads ``measures=["eer", "min_dcf=0.01"]``. :func:`by_attempts` measures
verification and identification, and :func:`by_queries` re-identification: each value, and the value
without each person, from one pass over the scores.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.arguments import require_choice, require_text
from bioeval.base.errors import (
    DataError,
    Message,
    ProtocolError,
    backquoted,
    counted,
    enumerated,
    messages_of,
    received,
)
from bioeval.base.progress import rows_reported
from bioeval.counting.searches import Searches, Searching
from bioeval.counting.searches_without import LeftOut
from bioeval.counting.threshold_rules import PointsWanted
from bioeval.counting.thresholds import to_internal
from bioeval.counting.verification import Verified, Verifying, count, to_verify
from bioeval.protocol.tasks import OpenSet
from bioeval.results.beyond_scores import beyond_scores, following_scores
from bioeval.results.measure import Measure
from bioeval.results.query_means import QueryMean, QueryMeasures
from bioeval.results.support import RuleOf, independent_trials, searching_people, support_messages
from bioeval.results.variables import COORDINATES, QUERY_MEANS, VARIABLES, Variable, best_values
from bioeval.scores.distances import order_of
from bioeval.scores.matrix import Scores, require_all_scores
from bioeval.scores.people import left_out_with, people_of_probes, units_of_people
from bioeval.scores.provenance import camera_notes, too_few_notes
from bioeval.scores.rows import threads_for
from bioeval.scores.sampled import is_symmetric
from bioeval.stats.error_curves import curve_measures
from bioeval.stats.jackknife import student
from bioeval.stats.options import IntervalMethod
from bioeval.stats.search_columns import FEWEST, SearchColumns
from bioeval.stats.verification import VerificationColumns, VerificationLimits
from bioeval.stats.weighted_sums import ratio
from bioeval.studies.comparison import (
    COMPARISON,
    NEW_PEOPLE,
    NONE,
    STATISTICS,
    THIS_GALLERY,
    SystemMeasure,
)
from bioeval.tasks.reid.candidates import Candidates, Convention
from bioeval.tasks.reid.intervals import QueryReplicates
from bioeval.tasks.reid.measures import means_without_groups
from bioeval.tasks.reid.reid import plan_reid, require_matches

#: The rates at a threshold that is given.
AT_THRESHOLD = {
    f"{name}_at_threshold": replace(
        VARIABLES[name],
        name=f"{name}_at_threshold",
        label=f"{{{name}}} at threshold {{threshold}}",
    )
    for name in ("frr", "far")
}

#: The same rates, each system at a threshold of its own.
AT_THRESHOLDS = {
    f"{name}_at_thresholds": replace(
        VARIABLES[name],
        name=f"{name}_at_thresholds",
        label=f"{{{name}}} at the threshold of each system",
        dims=(),
        threshold="",
    )
    for name in ("frr", "far")
}

#: CMS at a rank.
CMS_AT_RANK = replace(VARIABLES["cms"], label="{cms}({rank})")

#: The measures of identification.
IDENTIFICATION = ("recognition_rate", "cms", "dir_at_far")

#: For each measure with a number behind ``=``: a word for the number; and an example if a number
#: must be given, None if the targets of the call are the default.
_NUMBERS: dict[str, tuple[str, float | None]] = {
    "frr_at_far": ("a FAR target", None),
    "dir_at_far": ("a FAR target", None),
    "far_at_frr": ("an FRR target", None),
    "min_dcf": ("a prior", 0.01),
    **dict.fromkeys(("cms", "cmc"), ("a rank", 5)),
    "dir": ("a rank", None),  # of results over folds
    **dict.fromkeys(AT_THRESHOLD, ("a threshold", 0.5)),
    **dict.fromkeys(AT_THRESHOLDS, ("a threshold for each system", 0.5)),
}

# Number of groups of people: a function of the scores is computed anew without each group.
_GROUPS_OF_FUNCTIONS = 20

# The same of re-identification.
_GROUPS_OF_QUERIES = 100

# The ranks of the CMC that are compared by default.
_RANKS = (1, 5)

# The attributes of a result of re-identification that say how it was evaluated.
_DETAILS = ("convention", "removes", "junk", "cmc_counts", "ties", "ap", "unmatched_queries")


class Wanted(NamedTuple):
    """One measure that is asked for."""

    name: str
    at: float | None = None  # its target, prior, threshold or rank
    function: Measure | None = None  # a measure of scores, None of all other measures
    thresholds: tuple[float, ...] = ()  # a threshold for each system


def parse_measure(measure: Any, known: Sequence[str]) -> Wanted:
    """Read ``"frr_at_far=0.01"``, or take a :class:`Measure`, or a function.

    `known` are the names of all measures.
    """
    if isinstance(measure, Measure):
        if measure.name in known:
            raise DataError(
                f"`measures` has a Measure called {measure.name}, and there is one "
                "of this name already"
            )
        return Wanted(measure.name, function=measure)
    if callable(measure):
        name = getattr(measure, "__name__", "")
        name = name if name.isidentifier() else "measure"  # a lambda has no name
        return Wanted(name, function=Measure(name, measure))

    name, equals, number = require_text("measures", measure).casefold().partition("=")
    name = name.replace("-", "_")
    text = name + equals + number
    if name in QUERY_MEANS and name not in known:
        raise DataError(
            f"`measures` has {name}, a measure of re-identification; give "
            '`protocol="market1501"` or another card of it'
        )
    if "cmc" in known and (rank := re.fullmatch(r"(?:rank|top|cmc)[-_@]?(\d+)", name)):
        raise DataError(f"`measures` has {name}; expected cmc={rank[1]}")
    require_choice("a measure of `measures`", name, known)
    noun, example = _NUMBERS.get(name, ("", None))
    if not equals:
        if example is not None:
            raise DataError(
                f"`measures` has {name}, which needs {noun}; expected as in {name}={example}"
            )
        return Wanted(name)
    if name in AT_THRESHOLDS:
        try:
            thresholds = tuple(map(float, number.split(":")))
        except ValueError:
            thresholds = ()
        if not thresholds or not np.isfinite(thresholds).all():
            raise DataError(
                f"`measures` has {received(text)}; expected {noun} behind =, as in {name}=0.4:7.2"
            )
        return Wanted(name, thresholds=thresholds)
    is_percentage = number.endswith("%")
    try:
        value = float(number.removesuffix("%")) / (100 if is_percentage else 1)
    except ValueError:
        value = np.nan
    is_valid = 0 <= value <= 1  # a target
    if noun == "":
        is_valid = False
    elif noun == "a rank":
        is_valid = value >= 1 and value == np.floor(value) < np.inf
    elif noun == "a threshold":
        is_valid = bool(np.isfinite(value)) and not is_percentage
    elif noun == "a prior":
        is_valid = 0 < value < 1
    if not is_valid:
        expected = f"{noun} behind =" if noun else f"{name} alone"
        expected = expected.replace("a rank", "a whole number from 1")
        raise DataError(f"`measures` has {received(text)}; expected {expected}")
    return Wanted(name, value)


@dataclass(frozen=True)
class WantedMeasures:
    """All measures that a comparison is asked for."""

    chosen: tuple[Wanted, ...]
    far_targets: np.ndarray
    frr_targets: np.ndarray

    @classmethod
    def parse(
        cls,
        measures: Sequence[Any] | str | None,
        far_targets: np.ndarray,
        frr_targets: np.ndarray,
        *,
        systems: int,
        retrieval: bool,
    ) -> WantedMeasures:
        """Read the measures of re-identification, or of verification and identification.

        `systems` is the number of systems.
        """
        if measures is None:
            usual = [x.name for x in curve_measures() if x.usual]
            names = (
                [*QUERY_MEANS, "cmc"] if retrieval else [*usual, "recognition_rate", "dir_at_far"]
            )
            return cls(tuple(map(Wanted, names)), far_targets, frr_targets)
        if isinstance(measures, str) or callable(measures) or isinstance(measures, Measure):
            measures = [measures]
        names = ["cmc", *QUERY_MEANS]
        if not retrieval:
            names = [*(x.name for x in curve_measures()), *AT_THRESHOLD, *AT_THRESHOLDS]
            names += IDENTIFICATION
        chosen = [parse_measure(measure, names) for measure in measures]
        if not chosen:
            raise DataError("`measures` is empty; expected names such as eer")
        used = {*COORDINATES, *COMPARISON}
        used |= {f"{x.name}_{statistic}" for x in chosen for statistic in STATISTICS}
        for wanted in chosen:
            if wanted.name in used:
                raise DataError(
                    f"`measures` has a function called {wanted.name}, and results have this name "
                    'already; give be.Measure("other_name", function)'
                )
            if "/" in wanted.name:
                raise DataError(
                    f"`measures` has a function called {wanted.name}; expected a name without a "
                    "slash, which no variable of a netCDF file can have"
                )
            if wanted.thresholds and len(wanted.thresholds) != systems:
                raise DataError(
                    f"`measures` has {counted(len(wanted.thresholds), 'thresholds')} in "
                    f"{wanted.name} for {counted(systems, 'systems')}; expected a threshold for "
                    "each system"
                )
        of_each = {(x.name, x.thresholds) for x in chosen if x.thresholds}
        if twice := [x for x in AT_THRESHOLDS if sum(x == name for name, _ in of_each) > 1]:
            raise DataError(
                f"`measures` has {twice[0]} twice; expected it once, and a comparison of its own "
                "for other thresholds"
            )

        def targets(default: np.ndarray, *names: str) -> np.ndarray:
            """Return the targets of these measures; a bare name has the default targets."""
            requested = [x.at for x in chosen if x.name in names]
            stated = np.unique([x for x in requested if x is not None]).astype(np.float64)
            return np.union1d(default, stated) if None in requested else stated

        return cls(
            tuple(chosen),
            targets(far_targets, "frr_at_far", "dir_at_far"),
            targets(frr_targets, "far_at_frr"),
        )

    def asks(self, *names: str) -> bool:
        """Whether any of these measures is compared."""
        return any(x.name in names for x in self.chosen)

    def numbers(self, name: str) -> list[float]:
        """Return the targets, thresholds or ranks at which a measure is asked for, in order."""
        return [x.at for x in self.chosen if x.name == name and x.at is not None]

    def notes(self) -> list[Message]:
        """Return a message on each threshold at which only one of FRR and FAR is compared."""
        rates: dict[tuple[Any, ...], list[str]] = {}
        for x in self.chosen:
            if x.name in AT_THRESHOLD or x.name in AT_THRESHOLDS:
                rates.setdefault((x.at, x.thresholds), []).append(x.name)
        notes = []
        for (at, thresholds), names in rates.items():
            if len({*names}) == 1:
                rate, _, end = names[0].partition("_")
                other = "far" if rate == "frr" else "frr"
                numbers = ":".join(f"{x:.12g}" for x in thresholds or (at,))
                about = {"rate": rate, "other": other, "measure": f"{other}_{end}={numbers}"}
                notes.append(Message("one-rate-at-threshold", **about))
        return notes

    def in_order(self, measures: Sequence[SystemMeasure]) -> list[SystemMeasure]:
        in_order: dict[int, SystemMeasure] = {}  # each measure once
        for wanted in self.chosen:
            for measure in measures:
                is_at_number = wanted.at in (None, measure.label) or np.isnan(measure.label)
                if wanted.name == measure.scalar.name and is_at_number:
                    in_order[id(measure)] = measure
        return list(in_order.values())


# The measures of one system: verification, identification and functions of scores.


@dataclass(frozen=True)
class MeasuredSystem:
    """All measures of a system, and messages on it."""

    measures: list[SystemMeasure]
    people: int  # number of people who are left out in turn
    attempts: tuple[int, ...]  # number of attempts of each class
    details: dict[str, str]  # attributes that say how attempts are evaluated
    messages: list[Message]
    fingerprint: str = ""  # of all scores of the system
    #: The number of what other systems lack, and is left out, by its name.
    left_out: Mapping[str, int] = field(default_factory=dict)


class AtThreshold(NamedTuple):
    """A rate at a threshold that is given."""

    name: str  # in AT_THRESHOLD or AT_THRESHOLDS
    threshold: float
    #: Empty for a threshold of each system, which is no place at which systems are compared.
    places: Mapping[str, float]


def by_attempts(
    scores: Scores,
    wanted: WantedMeasures,
    search: OpenSet,
    interval: IntervalMethod,
    place: int,
) -> MeasuredSystem:
    """Measure a system, whose place among the systems is `place`."""
    require_all_scores(scores)
    at_thresholds: list[AtThreshold] = []
    for name in AT_THRESHOLD:
        for threshold in wanted.numbers(name):
            at_thresholds.append(AtThreshold(name, threshold, {"threshold": threshold}))
    for x in wanted.chosen:
        if x.thresholds:
            at_thresholds.append(AtThreshold(x.name, x.thresholds[place], {}))
    verifying = _verification_to_count(scores, wanted, at_thresholds)
    searching = _searching_to_count(scores, wanted, search)
    functions = [x.function for x in wanted.chosen if x.function is not None]
    if not (verifying or searching or functions):
        raise ProtocolError(
            "there is nothing to compare: pairs and claims have no identification, and scores "
            "that hold only an order no verification"
        )

    # One pass over the scores counts both tasks.
    reducers = searching.reducers if searching else ()
    verified, facts = count(scores, [verifying] if verifying else [], *reducers)
    codes = scores.codes
    people = len(codes.people(codes.probe))
    measures: list[SystemMeasure] = []
    attempts: list[int] = []
    details: dict[str, str] = {}
    messages: list[Message] = []
    with threads_for(scores):
        for verification in verified:
            of_task, messages_of_task = _measured_verification(
                verification, wanted, interval, at_thresholds
            )
            measures += of_task
            messages += messages_of_task
            attempts.append(verification.attempts.genuine_attempts)
            attempts.append(verification.attempts.impostor_attempts)
            people = int((~verification.people.no_person).sum())
            if not scores.claims:
                details["templates"] = "single"
        if searching:
            searches = searching.result(*facts)
            of_task, messages_of_task = _measured_searches(
                searches, scores, wanted, search, interval
            )
            measures += of_task
            messages += messages_of_task
            attempts.append(int((searches.mates > 0).sum()))
            details |= {name: search[name] for name in ("rank_unit", "ties", "impostors")}
    if functions:
        everyone = codes.people(codes.probe, codes.gallery)
        groups, details["jackknifed"] = groups_left_out(len(everyone), _GROUPS_OF_FUNCTIONS)
        for function in functions:
            measures.append(_measured_function(function, scores, everyone, groups, interval))
    measures = wanted.in_order(measures)
    if any(x.scalar.name in IDENTIFICATION for x in measures):
        messages += scores.completeness.messages()
    messages += camera_notes(scores)
    return MeasuredSystem(measures, people, tuple(attempts), details, messages)


def _verification_to_count(
    scores: Scores, wanted: WantedMeasures, at_thresholds: Sequence[AtThreshold]
) -> Verifying | None:
    """Return what a pass over the scores counts for verification; None if it is not compared."""
    names = (*(x.name for x in curve_measures()), *AT_THRESHOLD, *AT_THRESHOLDS)
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
    thresholds = np.unique([x.threshold for x in at_thresholds])
    return to_verify(scores, wanted=points, thresholds=thresholds if len(thresholds) else None)


def _searching_to_count(
    scores: Scores, wanted: WantedMeasures, search: OpenSet
) -> Searching | None:
    """Return what a pass over the scores counts for identification; None if it is not compared.

    Options of identification then have no effect, and are refused.
    """
    if scores.layout == "pairs" or scores.claims:
        data = "pairs" if scores.layout == "pairs" else "claims"
        remedy = "or give a matrix"
        refuse_unused(search, f"on {data}, which have no identification", remedy)
        return None
    if not wanted.asks(*IDENTIFICATION):
        remedy = f"or compare a measure of identification, such as {IDENTIFICATION[0]}"
        refuse_unused(search, "on these measures, of which none is of identification", remedy)
        return None
    return Searching(scores, search)


def refuse_unused(search: OpenSet, where: str, remedy: str, **targets: bool) -> None:
    """Raise for options of identification, and `targets` that are given, which have no effect."""
    names = ("fusion", "rank_unit", "ties", "impostors")
    unused = [name for name in names if search[name] != OpenSet()[name]]
    unused += [name for name, is_given in targets.items() if is_given]
    if unused:
        verb, out = ("has", "it") if len(unused) == 1 else ("have", "them")
        raise ProtocolError(
            f"{enumerated(map(backquoted, unused))} {verb} no effect {where}; leave {out} out, "
            f"{remedy}"
        )


def _measured_function(
    function: Measure, scores: Scores, everyone: np.ndarray, groups: int, interval: IntervalMethod
) -> SystemMeasure:
    """Return a function of the scores, also without each of the groups of `everyone`."""
    codes = scores.codes
    columns = np.empty(1 + groups)
    columns[0] = function.value_of(scores)
    for g in range(groups):
        group = everyone[g::groups]
        probe_stays = ~np.isin(codes.probe, group)
        gallery_stays = ~np.isin(codes.gallery, group)
        if scores.layout == "pairs":
            remaining = scores.select(np.flatnonzero(probe_stays & gallery_stays))
        else:
            remaining = scores.select(np.flatnonzero(probe_stays), np.flatnonzero(gallery_stays))
        columns[1 + g] = function.value_of(remaining)
    return SystemMeasure(
        scalar=function.scalar,
        columns=columns,
        limits=limits_without(function.scalar, columns, groups, interval),
        own=columns[1:] - columns[0],
    )


def _measured_verification(
    verified: Verified,
    wanted: WantedMeasures,
    interval: IntervalMethod,
    at_thresholds: Sequence[AtThreshold],
) -> tuple[list[SystemMeasure], list[Message]]:
    """Return the measures of verification, and messages on them.

    A target that independent trials do not support has no limits, as in
    :func:`bioeval.verification`.
    """
    points = verified.find_points(
        symmetric=False, with_thresholds=verified.requested_thresholds is None
    )
    # In a symmetric matrix, each pair of templates is one attempt.
    symmetric = is_symmetric(verified.scores)
    genuine = verified.attempts.genuine_attempts / (1 + symmetric)
    impostor = verified.attempts.impostor_attempts / (1 + symmetric)
    compared = verified.compared
    people = None if compared is None else compared.number
    messages: list[Message] = []
    if impostor:
        if wanted.asks("frr_at_far"):
            messages += support_messages(
                wanted.far_targets, impostor, symmetric, "frr at far", compared
            )
        messages += support_messages(wanted.frr_targets, genuine, symmetric, "far at frr", people)
    trials = {
        "frr": independent_trials(genuine, people),
        "far": independent_trials(impostor, compared),
    }
    requested = [x for x in curve_measures() if wanted.asks(x.name) and x.is_defined(points)]
    has_quantiles = any(x.scalar.quantile for x in requested)
    counted = VerificationColumns(verified, points, interval, requested, drawn=has_quantiles)

    # Measures at thresholds that are chosen anew without each person, or at none.
    measures: list[SystemMeasure] = []
    limits_of = VerificationLimits(counted)
    limits, _ = limits_of.measures()
    for measure in requested:
        columns = np.atleast_2d(counted.without.values[measure.name])
        drawn = None
        if measure.scalar.quantile:
            drawn = np.atleast_2d(counted.replicates.values[measure.name])
        low, high = map(np.atleast_1d, limits[measure.name])
        dim = {"far": "far_target", "frr": "frr_target", "prior": "cost"}.get(measure.of_target)
        # A rate is of genuine or of impostor attempts, and other measures are of both.
        of_genuine = "genuine" in measure.rate_of or not measure.rate_of
        of_impostor = "impostor" in measure.rate_of or not measure.rate_of
        for i, target in enumerate(measure.numbers(points)):
            # By person, the false rejects and false accepts at the threshold of this target; a
            # measure without a threshold has placements of genuine attempts.
            if measure.threshold:
                thresholds = measure.own_thresholds(points)
                rejects, accepts = counted.errors_of_each(float(thresholds[i]))
                own = rejects if of_genuine else NONE
                shared = accepts if of_impostor else NONE
            else:
                own, shared = counted.placements_of_each(), NONE
            measures.append(
                SystemMeasure(
                    scalar=measure.scalar,
                    columns=columns[i],
                    limits=(float(low[i]), float(high[i])),
                    places={dim: target} if dim else {},
                    supported=RuleOf(3).supports(target, trials.get(measure.of_target, np.inf)),
                    drawn=NONE if drawn is None else drawn[i, 1:],
                    own=own,
                    shared=shared,
                )
            )

    # Rates at thresholds that are given.
    for name, threshold, places in at_thresholds:
        distance = float(to_internal(np.array([threshold]), verified.scores.kind)[0])
        far, frr = counted.at_threshold(distance)
        rejects, accepts = counted.errors_of_each(distance)
        if name.startswith("frr"):
            columns, curve, own, shared = frr, limits_of.curve.frr, rejects, NONE
        else:
            columns, curve, own, shared = far, limits_of.curve.far, NONE, accepts
        low, high = curve.limits_at(columns[0])
        following = following_scores(verified.scores, [threshold])
        messages += beyond_scores(threshold, float(far[0]), float(frr[0]), *following)
        measures.append(
            SystemMeasure(
                scalar={**AT_THRESHOLD, **AT_THRESHOLDS}[name],
                columns=columns,
                limits=(float(low), float(high)),
                places=places,
                own=own,
                shared=shared,
            )
        )
    return measures, messages


def _measured_searches(
    searches: Searches,
    scores: Scores,
    wanted: WantedMeasures,
    search: OpenSet,
    interval: IntervalMethod,
) -> tuple[list[SystemMeasure], list[Message]]:
    order = order_of(search.of_kind(scores.kind).fusion)
    messages = [*too_few_notes(*searches.about.too_few, order)]
    mated = int((searches.mates > 0).sum())
    # The searches without a mate, from which a FAR is computed, and who make them.
    role = searches.impostor_role(search.impostors)
    non_mated = len(searches.impostor_probes(role)) if scores.kind != "order" and mated else 0
    people = searching_people(searches.about, role)
    if non_mated and wanted.asks("dir_at_far"):
        messages += support_messages(wanted.far_targets, non_mated, False, "dir at far", people)

    # Each person is left out as probe and in the gallery; of few people, as probe alone.
    cms_ranks = {int(x) for x in wanted.numbers("cms")}
    ranks = sorted({1, *cms_ranks})
    units = units_of_people(scores, interval.unit)
    subjects = LeftOut.codes_of_units(scores)
    is_person = ~scores.codes.no_person[subjects]
    if units is not None:
        is_person = np.isin(LeftOut.codes_of_units(scores, units), units[subjects[is_person]])
    person = without_each = None
    is_used: slice | np.ndarray = slice(None)
    if int(is_person.sum()) < FEWEST:
        population = THIS_GALLERY
        person = people_of_probes(scores)
        person = left_out_with(scores, person, interval.unit)
    else:
        population = NEW_PEOPLE
        is_used = np.append(True, is_person)  # columns without a distractor are not used
        with rows_reported(to=None):
            without_each = LeftOut.from_searches(
                searches, scores, search.ties, ranks=ranks[-1], units=units
            )
    arguments = searches, search.ties, interval, search.impostors
    counted = SearchColumns(*arguments, person, without_each)

    measures = []
    for rank in ranks:
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
            measures.append(recognised)
        if rank in cms_ranks:
            measures.append(replace(recognised, scalar=CMS_AT_RANK, places={"rank": rank}))
    if scores.kind == "order" or not len(wanted.far_targets):
        return measures, messages

    # DIR at rank 1 at each FAR target.
    trials = independent_trials(non_mated or np.inf, people)
    hits = np.array([counted.hits_of_each(1, target) for target in wanted.far_targets])
    value = ratio(hits.sum(axis=1), np.array(mated if non_mated else 0))
    at_far, (at_low, at_high) = counted.at_targets(counted.curve(), wanted.far_targets, value)
    drawn = np.empty((len(value), 0))
    if counted.new_people:
        drawn = counted.drawn_at_targets(wanted.far_targets, value, is_person)
    for i, target in enumerate(wanted.far_targets.tolist()):
        supported = RuleOf(3).supports(target, trials)
        lowest = float(at_low[i])
        if not (supported and target > 0 and non_mated) and not np.isnan(lowest):
            lowest = 0.0
        measures.append(
            SystemMeasure(
                scalar=VARIABLES["dir_at_far"],
                columns=at_far[i, is_used],
                limits=(lowest, float(at_high[i])),
                places={"far_target": target, "rank": 1},
                # Limits of 0 and 1: with so few searches, the threshold may be anywhere.
                supported=supported and not (lowest == 0 and at_high[i] == 1),
                drawn=drawn[i],
                own=as_whole_numbers(hits[i]),
                population=population,
            )
        )
    return measures, messages


def as_whole_numbers(hits: np.ndarray) -> np.ndarray:
    """Return fractions of hits in units of 2^-20, so that equal fractions are exactly equal."""
    return np.rint(hits * 2.0**20)


def groups_left_out(people: int, most: int) -> tuple[int, str]:
    """Return the number of groups of people that are left out in turn, and who they are, in words.

    `most` groups, or a group for each person: up to twice as many people, since groups of one
    person and of two would not weigh the same. In the order of their names, people are assigned to
    the groups in turn.
    """
    groups = people if people <= 2 * most else most
    return groups, "each person" if groups >= people else f"each of {groups} groups of people"


def limits_without(
    scalar: Variable, columns: np.ndarray, trials: int, interval: IntervalMethod
) -> tuple[float, float]:
    """Return the limits of a value by the jackknife over groups of people.

    `columns` are the value, and the values without each group. The limits are Student's; if the
    value has finite bounds, they are computed on the logit scale.
    """
    if len(columns) < 3 or np.isnan(columns).any():
        return np.nan, np.nan
    low, high = student(columns, interval.confidence, max(trials, 1), scalar.bounds)
    return float(low), float(high)


# The measures of re-identification of one system, which are means over its queries.


def by_queries(
    scores: Scores, rules: Convention, wanted: WantedMeasures, interval: IntervalMethod
) -> MeasuredSystem:
    counts = plan_reid(scores, rules)()
    dataset, measures = counts.dataset(), counts.measures(curves=False)
    if rules.unmatched == "skip":
        require_matches(dataset)
    ranks = sorted({int(x) for x in wanted.numbers("cmc")}) or _RANKS
    rank_k = rules.rank_k or int(dataset.get("rank_k", 0))  # where lists are cut, or 0

    def means_of(measures: QueryMeasures) -> dict[tuple[str, int], QueryMean]:
        """Return the means that are defined, by name and rank: 0 for means over the whole list."""
        means: dict[tuple[str, int], QueryMean] = {}
        for name in QUERY_MEANS:
            if (mean := measures.means.get(name)) is not None:
                means[name, rank_k if name == "rank_k_mean_ap" else 0] = mean
        for rank in ranks:
            if rank <= dataset.sizes["rank"]:
                means["cmc", rank] = measures.cmc.up_to_rank(rank)
        return means

    means = means_of(measures)
    details = {name: dataset.attrs[name] for name in _DETAILS}
    codes = scores.codes
    no_person = codes.of_no_person((*scores.no_person_ids, *rules.junk_ids, *rules.distractor_ids))

    # The means without each group of people, as probes and in the gallery; not of few people, and
    # not of top-K lists, whose gallery is fixed: entries after the last of a list are not known.
    searching = int((~no_person[np.unique(codes.probe)]).sum())
    means_without: dict[tuple[str, int], np.ndarray] | None = None
    if searching >= FEWEST and scores.layout != "top-k":
        groups, details["jackknifed"] = groups_left_out(searching, _GROUPS_OF_QUERIES)
        # People who search, and people who are only enrolled, are spread evenly over the groups.
        group_of_code = np.full(len(codes.values), -1)  # -1 for no person
        is_searching = np.isin(np.arange(len(group_of_code)), codes.probe)
        for is_in_role in (is_searching, ~is_searching):
            people = np.flatnonzero(is_in_role & ~no_person)
            group_of_code[people] = np.arange(len(people)) % groups
        short_rules = replace(rules, max_rank=min(rules.max_rank, max(ranks)))
        with rows_reported(to=None):
            values = means_without_groups(
                scores, short_rules, group_of_code, means_of, [*means.values()]
            )
        means_without = dict(zip(means, values, strict=True))

    # The measures, with limits by these groups, or else by people who search this gallery.
    is_person = ~no_person[codes.probe]
    queries = QueryReplicates(np.where(is_person, codes.probe, -1), measures.counted, interval)
    system_measures = []
    for (name, rank), mean in means.items():
        columns = queries.replicate_mean(mean)[0]
        low, high = map(float, queries.limits(columns, mean.counted))
        if means_without is not None:
            columns = np.append(columns[0], means_without[name, rank])
            trials = round(queries.independent_people(mean.counted))
            low, high = limits_without(VARIABLES[name], columns, trials, interval)
        # A counted query adds 1 to its person, so that systems with other queries differ.
        decided = np.nan_to_num(mean.by_query) + mean.counted
        system_measures.append(
            SystemMeasure(
                VARIABLES[name],
                columns,
                (low, high),
                {"rank": rank} if rank else {},
                own=as_whole_numbers(np.bincount(codes.probe[is_person], decided[is_person])),
                population=THIS_GALLERY if means_without is None else NEW_PEOPLE,
            )
        )
    messages = messages_of(dataset.attrs)
    about = Candidates(scores, rules).about()
    if about.searched is not None:
        messages = [*messages, *about.lists.messages()]
    return MeasuredSystem(
        wanted.in_order(system_measures),
        len(np.unique(codes.probe[measures.counted])),
        (int(dataset["queries"]),),
        details,
        messages,
    )
