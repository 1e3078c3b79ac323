"""Threshold study: a threshold for deployment, its rates with new subjects, and sample sizes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, get_args

import numpy as np
import xarray as xr

from bioeval import partition
from bioeval.base.arguments import chosen_task, require_integer
from bioeval.base.errors import (
    DataError,
    Message,
    ProtocolError,
    counted,
    message_attrs,
    messages_of,
)
from bioeval.base.kinds import Kind
from bioeval.base.progress import rows_reported, stage
from bioeval.base.random import RandomState
from bioeval.counting.masks import PeopleOfParts, SearchedParts
from bioeval.counting.operating_points import Attempts
from bioeval.counting.searches import Searches, claims_lost, search
from bioeval.counting.threshold_rules import (
    ChosenThreshold,
    PointsWanted,
    Rule,
    choose,
    no_such_threshold,
)
from bioeval.counting.thresholds import require_values, to_user
from bioeval.counting.verification import verify
from bioeval.protocol.fields import RankUnit
from bioeval.protocol.tasks import OpenSet
from bioeval.results.attributes import STUDY_PARTS, THRESHOLD_STUDY, about_attrs, tree_of
from bioeval.results.dataset import Variables, dataset, threshold_with_next, variables_over
from bioeval.results.support import RULES, beyond_scores, people_with
from bioeval.results.variables import (
    COORDINATES,
    FOLDS,
    SUPPORTED,
    VERIFICATION,
    Variable,
    entries,
)
from bioeval.scores.distances import FusionRule, by_closeness, require_use_of_fusion
from bioeval.scores.matrix import Scores, require_scores, require_subjects
from bioeval.scores.people import ComparedPeople, knows_people, people_of_probes, subject_pattern_of
from bioeval.scores.provenance import Provenance
from bioeval.scores.sampled import is_symmetric
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.aggregate import aggregate
from bioeval.stats.options import BY_PEOPLE, IntervalMethod, required_interval
from bioeval.studies.assurance import (
    ASSURED,
    Assured,
    JudgedAttempts,
    SearchesOfOthers,
    assured_threshold,
    check_assurance,
    remarks_on,
    require_named_people,
)
from bioeval.studies.cross_evaluate import (
    FoldOptions,
    ThresholdTask,
    cross_evaluate,
    fold_dataset,
    numbers_of_searches,
)
from bioeval.studies.judged_threshold import answers_of_study, new_people, rates_at
from bioeval.studies.splits import Samples, SplitPlan

# The people that a target of a threshold study needs, and the people that the data have.


class StudyPeople(NamedTuple):
    """The people and impostor attempts that decide whether data support a target."""

    subjects: int  # number of people, of searches only those not enrolled; 0 if unknown
    impostors: int  # number of impostor attempts; each pair of a symmetric matrix counts once
    compared: ComparedPeople | None = None  # None of searches, and if people are unknown
    is_search: bool = False  # whether people who are not enrolled search a gallery

    def limit(self, rule: Rule) -> bool:
        """Whether the number of people limits the targets of a rule."""
        is_of_people = rule.name == "frr" and self.subjects > 0 and not self.is_search
        return (rule.name == "far" or is_of_people) and rule.values[0] > 0

    def in_pairs(self, rule: Rule) -> bool:
        """Whether the rate of a rule is of pairs of people."""
        return rule.name == "far" and not self.is_search

    def independent(self, rule: Rule) -> int:
        """Return the number of independent trials of the rate of a rule."""
        if not self.in_pairs(rule):
            return self.subjects
        pairs = self.impostors if self.compared is None else self.compared.pairs
        return min(self.impostors, pairs)

    def in_words(self) -> dict[str, str]:
        """Return the attribute with the number of people, empty if unknown."""
        if not self.subjects:
            return {}
        text = counted(self.subjects, "people" if self.compared else "people who are not enrolled")
        if self.compared is not None:
            text += f", {counted(self.compared.pairs, 'pairs of people')}"
        return {"people_here": text}


class Needs(NamedTuple):
    """What a target needs, over the rules of 3 and 30, and a message if the data have too few."""

    variables: Variables  # empty unless the rule has a target that the number of people limits
    messages: list[Message]  # at most one

    @property
    def are_shown(self) -> bool:
        """Whether the data can show the target."""
        return all(message.code != "target-not-shown" for message in self.messages)


def needs_of(people: StudyPeople, rule: Rule, *, is_assured: bool) -> Needs:
    """Return the people that a target needs and lacks.

    `is_assured` says whether there is an assured threshold besides the threshold by the rule.
    """
    if not people.limit(rule):
        return Needs({}, [])
    rate = rule.name
    target = float(rule.values[0])
    in_pairs = people.in_pairs(rule)
    independent = people.independent(rule)

    # The variables, over the rules of 3 and 30.
    numbers = [rule_of.attempts_for(target) for rule_of in RULES]
    needed: Variables = {}
    if people.subjects:
        needed["subjects_needed"] = [*map(people_with, numbers)] if in_pairs else numbers
    if rate == "far":
        needed["impostors_needed"] = numbers
        needed["impostors_missing"] = [max(0, number - independent) for number in numbers]
    needed = variables_over(("rule",), **needed)

    # The message on the first rule that the data do not fulfil.
    error = {"far": "false accept", "frr": "false reject"}[rate]
    about: dict[str, Any] = {"rate": rate, "target": target}
    for rule_of, number in zip(RULES, numbers, strict=True):
        if rule_of.supports(target, independent):
            continue
        about["needed"] = _needed_by_unit(people, number, in_pairs=in_pairs)
        if rule_of == 3:
            return Needs(needed, [Message("target-not-shown", **about, error=error)])
        about |= {"errors": f"{error}s", "which": "", "beside": ""}
        if is_assured:
            about["which"] = "by the rule "
            about["beside"] = (
                "; the assured threshold needs fewer people, because its {far} is bounded and not "
                "measured"
            )
        return Needs(needed, [Message("threshold-uncertain", **about)])
    return Needs(needed, [])


def unshown_in_training(
    people: StudyPeople, rule: Rule, folds: xr.Dataset, *, divides_people: bool
) -> Message | None:
    """Return a message if the training parts of the folds do not support the target (rule of 3).

    Thresholds of such parts say little about the threshold of all data, and so do their errors.
    """
    if not people.limit(rule):
        return None
    train, test = (folds["subjects"].sel(part=part).values for part in ("train", "test"))
    share = float((train / np.maximum(train + test, 1)).min())
    target = float(rule.values[0])
    (rule_of, needed_trials) = RULES[0], RULES[0].attempts_for(target)
    independent = people.independent(rule)
    trials = math.floor(share * independent + 1e-9)
    there, needed = {"impostor attempts": trials}, {"impostor attempts": needed_trials}
    if people.subjects and divides_people:
        who = "people who are not enrolled" if people.is_search else "people"
        trials = number = math.floor(share * people.subjects + 1e-9)
        there, needed = {who: number}, {who: needed_trials}
        if people.in_pairs(rule):
            pairs = people.subjects * (people.subjects - 1)
            trials = math.floor(independent * number * (number - 1) / max(pairs, 1) + 1e-9)
            there["pairs of people"] = trials
            needed = {who: people_with(needed_trials), "pairs of people": needed_trials}
    if rule_of.supports(target, trials):
        return None
    return Message(
        "training-cannot-show", rate=rule.name, target=target, there=there, needed=needed
    )


def _needed_by_unit(people: StudyPeople, number: int, *, in_pairs: bool) -> dict[str, int]:
    if not in_pairs:
        return {"people who are not enrolled" if people.is_search else "people": number}
    compared = people.compared
    if compared is None or compared.pairs > people.impostors:
        return {"impostor attempts": number}
    more_people = people_with(number)
    needed = {"people": more_people} if more_people > compared.number else {}
    return needed | {"pairs of people": number}


# The folds of a threshold study: of people, or of pairs whose people are not known.


# The default numbers of folds and of repeats.
USUAL_FOLDS = 10
REPEATS = 20


def require_folds(scores: Scores, name: str, number: int | None, *, low: int) -> None:
    if number is None:
        return
    require_integer(name, number, low=low, of_draws=True)
    if scores.layout == "pairs" and scores.pair_folds is not None:
        raise DataError(f"`{name}` is {number}, but these pairs define folds; leave it out")


def usual_folds(scores: Scores) -> tuple[int, list[Message]]:
    """Return the default number of folds, and a message if the usual number is not possible.

    Each fold has at least two people, or a pair of each class.
    """
    if scores.layout == "pairs" and scores.pair_folds is not None:
        return USUAL_FOLDS, []
    if divides_people(scores) or scores.layout != "pairs":
        available = len(scores.subjects)
        most_folds = len(scores.subjects) // 2
        noun = "people"
    else:
        genuine = int(np.count_nonzero(scores.genuine))
        available = most_folds = min(genuine, len(scores.genuine) - genuine)
        noun = "pairs of the rarer class"
    folds = min(USUAL_FOLDS, max(most_folds, 2))
    if folds == USUAL_FOLDS:
        return folds, []
    return folds, [
        Message("fewer-folds", folds=folds, usual=USUAL_FOLDS, there=available, what=noun)
    ]


def splitter_of_study(
    scores: Scores, folds: int, repeats: int | None, random_state: RandomState, task: ThresholdTask
) -> Any:
    if scores.layout != "pairs":
        require_subjects(scores, "a threshold study")
    drawn: dict[str, Any] = {
        "n_repeats": repeats or REPEATS,
        "shuffle": True,
        "random_state": random_state,
    }
    if task == "open_set":
        return partition.SubjectKFold(folds, **drawn, stratify="enrolled")
    if scores.layout == "pairs" and scores.pair_folds is not None:
        return partition.PredefinedPairFolds(scores.pair_folds)
    if divides_people(scores):
        return partition.SubjectKFold(folds, **drawn)
    return partition.SampleKFold(folds, **drawn, stratify="genuine")


def divides_people(scores: Scores) -> bool:
    """Whether folds divide people; otherwise they divide pairs, and share subjects."""
    if scores.layout != "pairs":
        return True
    if scores.pair_subjects is None or scores.pair_folds is None:
        return scores.pair_subjects is not None
    # Given folds divide people if each person is in one fold.
    codes = scores.codes
    sides = np.concatenate([codes.gallery, codes.probe])
    people = sides[~codes.no_person[sides]].tolist()
    folds = np.tile(scores.pair_folds, 2)[~codes.no_person[sides]].tolist()
    return len(set(zip(people, folds, strict=True))) == len(set(people))


# The threshold of a study with its rates on all data, and its evaluation in folds.


#: The rates of a study.
RATES = ("far", "frr", "hter")

#: Statistics of each rate over the test parts of the folds, besides the mean.
FOLD_STATISTICS = ("sd", "pooled")


class CountedStudy(NamedTuple):
    """The threshold of a study with its rates on all data, and the evaluation in folds."""

    folds: xr.Dataset  # as of `cross_evaluate`
    chosen: ChosenThreshold
    attempts: Attempts  # all attempts, on which the threshold is chosen
    rates: Mapping[str, Any]  # rates of all attempts at the threshold, with limits
    variables: Variables  # numbers of people and pairs
    people: StudyPeople
    messages: Sequence[Message] = ()
    others: SearchesOfOthers | None = None  # None of single comparisons

    def variables_of_all_data(self, kind: Kind) -> Variables:
        """Return the threshold in units of the scores, and numbers of attempts and people."""
        values: Variables = {**self.chosen.in_units(kind)}
        for name in ("genuine_attempts", "impostor_attempts"):
            values[name] = getattr(self.attempts, name)
        return values | self.variables


def count_comparisons(
    scores: Scores, rule: Rule, splitter: Any, interval: IntervalMethod
) -> CountedStudy:
    folds = cross_evaluate(scores, splitter, threshold=rule, interval=_method_over_folds(interval))
    distance_rule = rule.as_distance(scores.kind)
    verified = verify(scores, wanted=PointsWanted.of_rule(distance_rule))
    attempts, compared = verified.attempts, verified.compared
    chosen = choose(distance_rule, attempts)
    pairs = attempts.impostor_attempts // (2 if is_symmetric(scores) else 1)
    subjects = len(scores.subjects) if knows_people(scores) else 0
    rates, messages = _rates_on_all_data(scores, chosen, interval)
    variables: Variables = {"impostor_pairs": pairs}
    if subjects:
        variables["subjects"] = subjects
    if compared is not None:
        variables |= {"disjoint_pairs": compared.disjoint, "pairs_of_people": compared.pairs}
    return CountedStudy(
        folds,
        chosen,
        attempts,
        rates,
        variables,
        StudyPeople(subjects, pairs, compared),
        messages,
    )


def count_searches(
    scores: Scores,
    rule: Rule,
    splitter: Any,
    interval: IntervalMethod,
    search_options: Mapping[str, Any],
) -> CountedStudy:
    """Return a study of open-set identification, of people who are not enrolled."""
    task = OpenSet(impostors="unenrolled", **search_options)
    options = FoldOptions("open_set", rule, _method_over_folds(interval), search=task)
    person = scores.codes.probe
    gallery = int((~scores.codes.no_person[np.unique(scores.codes.gallery)]).sum())
    searches = search(scores, task)
    all_probes = np.arange(len(person))
    whole = _searched_parts(searches, task, person, [all_probes])
    # No threshold accepts a mate at another rank, nor a failed search, which has no distance.
    is_first = whole.rank == 1
    mate = np.where(is_first, searches.mate, np.nan)[whole.is_mated]
    is_impostor = searches.impostor_probes("unenrolled")
    attempts = Attempts.from_scores(mate, searches.other[is_impostor])
    chosen = choose(rule.as_distance(scores.kind), attempts)
    unenrolled = len(np.unique(person[is_impostor]))

    # Folds divide the people who search, enrolled or not alike; the gallery stays whole.
    is_enrolled = np.isin(person, person[searches.mates > 0])
    meta = {"enrolled": np.where(is_enrolled, "yes", "no")}
    plan = SplitPlan(splitter, len(person), person, meta=meta)
    splits = [*plan.splits.values()]
    train, test = (
        _searched_parts(searches, task, person, [x.probes for x in parts])
        for parts in ([x.train for x in splits], [x.test for x in splits])
    )
    numbers = numbers_of_searches(train, test, options, options.rule.as_distance(scores.kind))
    numbers["gallery_subjects"] = np.full((len(splits), 2), gallery)
    sizes = [Samples(person).sizes(split) for split in splits]
    numbers |= {name: np.array([x[name] for x in sizes]) for name in sizes[0]}
    lost = claims_lost(scores, options.fused(scores.kind))
    about = Provenance.from_scores(scores).without_claims(*lost)
    return CountedStudy(
        fold_dataset(numbers, plan, about, options),
        chosen,
        attempts,
        _rates_of_searches(scores, chosen, interval, search_options),
        {
            "impostor_pairs": attempts.impostor_attempts,
            "subjects": len(np.unique(person)),
            "unenrolled_people": unenrolled,
        },
        StudyPeople(unenrolled, attempts.impostor_attempts, is_search=True),
        others=SearchesOfOthers(
            searches.other[is_impostor],
            person[is_impostor],
            np.where(np.isnan(mate), np.inf, mate),
        ),
    )


def _searched_parts(
    searches: Searches, task: OpenSet, person: np.ndarray, parts: Sequence[np.ndarray]
) -> SearchedParts:
    """Return the searches of the whole gallery by the probes of each part.

    `person` (probes,) has the code of the person who searches; all probes are of people.
    """
    chosen, probing, both = [], [], []
    for probes in parts:
        arrays = {k: x[probes] for k, x in vars(searches).items() if isinstance(x, np.ndarray)}
        chosen.append(replace(searches, **arrays))
        probing.append(len(np.unique(person[probes])))
        both.append(len(np.unique(person[probes[searches.enrolled[probes]]])))
    sides = np.array([probing, both])
    people = PeopleOfParts(sides[0], enrolled=sides[1], both=sides[1], every=sides[0])
    return SearchedParts.of_searches(chosen, task.ties, people)


def searches_of_people(scores: Scores) -> Scores:
    """Return scores whose probes are all of people; distractors and junk stay in the gallery.

    Raise :class:`ProtocolError` unless people who are not enrolled search a gallery.
    """
    purpose = (
        "a threshold of open set is for searches of a fixed gallery by people who are not enrolled"
    )
    if scores.layout != "probe-against-gallery":
        raise ProtocolError(
            f"{purpose}; of {scores.layout} the FAR depends on all who are enrolled at once. Give "
            "probes and a gallery"
        )
    is_person = people_of_probes(scores) >= 0
    if np.isin(scores.codes.probe, scores.codes.gallery)[is_person].all():
        raise ProtocolError(f"{purpose}; all people of these probes are enrolled. Give others, too")
    if is_person.all():
        return scores
    return scores.select(probes=np.flatnonzero(is_person))


def _method_over_folds(interval: IntervalMethod) -> IntervalMethod:
    return IntervalMethod("nadeau-bengio", interval.confidence)


@stage("intervals")
def _rates_of_searches(
    scores: Scores,
    chosen: ChosenThreshold,
    interval: IntervalMethod,
    search_options: Mapping[str, Any],
) -> dict[str, Any]:
    from bioeval.tasks.identification import open_set

    if not (chosen.defined and math.isfinite(chosen.threshold)):
        return {}
    searched = open_set(
        scores,
        impostors="unenrolled",
        interval=interval,
        thresholds=[to_user(chosen.threshold, scores.kind)],
        max_rank=1,
        **search_options,
    )
    return {str(name): x.item() for name, x in searched.data_vars.items() if x.size == 1}


@stage("intervals")
def _rates_on_all_data(
    scores: Scores, chosen: ChosenThreshold, interval: IntervalMethod
) -> tuple[dict[str, Any], list[Message]]:
    if not chosen.defined:
        return {}, []
    has_people = knows_people(scores)
    rates, _ = rates_at(scores, chosen.threshold, interval if has_people else None)
    if not has_people:
        return rates, [Message("no-interval-by-subject", pattern=str(subject_pattern_of(scores)))]
    return rates, interval.few_people(len(scores.subjects))


STUDY = {
    "threshold": Variable(
        "threshold chosen on all data",
        "score",
        "threshold T",
        shown="threshold",
        label="threshold by the rule",
        detail="verbose",  # the answer has it
    ),
    **entries(VERIFICATION | FOLDS, *RATES),
    **{
        f"{rate}_{statistic}": replace(
            (VERIFICATION | FOLDS)[rate], name="", measure=rate, statistic=statistic
        )
        for rate in RATES
        for statistic in FOLD_STATISTICS
    },
    **entries(VERIFICATION, "genuine_attempts", "impostor_attempts"),
    **entries(VERIFICATION, "impostor_pairs", "subjects", "disjoint_pairs"),
    "unenrolled_people": Variable(
        "people of open set who search and are not enrolled",
        "subjects",
        label="people not enrolled",
    ),
    "pairs_of_people": Variable(
        "pairs of different people that are compared, at most: the rules of 3 and 30 count them",
        "pairs",
        label="pairs of people",
        detail="verbose",
    ),
    "subjects_needed": Variable(
        "people that the target needs by the rule: of a FAR all compared with each other, "
        "templates do not count; of open set, people who are not enrolled",
        "subjects",
        label="people needed",
    ),
    "impostors_needed": Variable(
        "pairs of people (of open set, searches) required by the rule",
        "attempts",
        label="pairs of people needed",
    ),
    "impostors_missing": Variable(
        "how many of them are missing", "attempts", label="of these, missing"
    ),
    **ASSURED,
}

_CHOSEN_ON_ALL = "all data, so errors are optimistic (too low)"

#: Attributes that a study takes over from the evaluation in folds.
_FOLD_ATTRIBUTES = (
    "splitter",
    "splitter_class",
    "splitter_seed",
    "splitter_record",
    "confidence",
    "interval",
    "threshold_rule",
    "threshold_rule_in_words",
    "too_few_genuine",
    "too_few_impostor",
)


@warns_of_doubts
def study_threshold(
    scores: Scores,
    target: Any = "far=0.001",
    *,
    task: ThresholdTask = "verification",
    folds: int | None = None,
    repeats: int | None = None,
    random_state: RandomState = 0,
    fusion: FusionRule = "best",
    rank_unit: RankUnit = "template",
    interval: str | IntervalMethod = "people",
    assure: float | None = None,
) -> xr.DataTree:
    """Find a threshold for deployment, and the FAR and FRR to expect with new subjects.

    The threshold is chosen on all data. The rates to expect are estimated by choosing it many times
    on some subjects and judging it on the others.

    Parameters
    ----------
    scores : Scores
        A matrix with labels, or a list of pairs, which is divided by its own folds if it has any,
        by its subjects if they are known, else by pair.
    target : float or str
        Rule that chooses the threshold: eer, far=X, frr=X, hter, accuracy, min-dcf=P, cost=P,M,A.
        Or a number, the threshold itself. ``"far=0.001"`` is the smallest FRR with FAR at most
        0.001, ``"frr=0.01"`` the smallest FAR with FRR at most 0.01, ``"hter"`` the smallest (FAR +
        FRR) / 2, ``"min-dcf=0.01"`` the threshold of minDCF at a prior of 0.01, ``"cost=P,M,A"``
        the least cost with the prior P of a genuine attempt, M of a miss and A of a false accept.
    task : {"verification", "open_set"}
        Verification, or searches of a gallery (open_set). FAR of ``"open_set"`` is the proportion
        of the searches of people who are not enrolled that raise a false alarm, FRR is 1 - DIR at
        rank 1, and the people who search are divided, while the gallery stays whole.
    folds : int, optional
        Folds of subjects; by default those of the pairs, or else 10, or as many as have two
        subjects each.
    repeats : int, default: 20
        Number of random divisions into folds.
    random_state : int, None, numpy.random.SeedSequence, Generator or RandomState
        Seed of the divisions.
    rank_unit, fusion
        As for :func:`bioeval.open_set`; only for open set.
    interval : {"people", "subject-bootstrap"} or :class:`bioeval.stats.IntervalMethod`
        Intervals of the rates at the threshold itself; the other intervals have the same
        confidence.
    assure : float, optional
        Also find a threshold whose FAR is at most the target with this confidence, such as 0.95. It
        is a stricter one, in people like these. The target is a FAR, above 0 and below 1.

    Returns
    -------
    xarray.DataTree
        The root has:

        - ``threshold``, chosen on all data
        - ``genuine_attempts`` and ``impostor_attempts`` there
        - ``subjects``, ``pairs_of_people``, ``impostor_pairs``, ``disjoint_pairs``, and for open
          set ``unenrolled_people``: the independent units that the data have

        ``needs`` has what a FAR or FRR target needs over ``rule``, the rules of 3 and 30, as
        numbers:

        - ``subjects_needed``
        - ``impostors_needed`` and ``impostors_missing``, for a FAR target

        ``rates`` has ``far``, ``frr`` and ``hter`` over ``part``, with ``_low`` and ``_high``:

        - ``"all"``: the rates of all data at this threshold, which are optimistic. Their limits
          hold for other subjects of the same population at this very threshold; NaN where the
          subjects are not known.
        - ``"test"``: the rates expected with new subjects, as means over the test parts of the
          folds, with their intervals over folds, ``_sd`` and ``_pooled``

        ``folds`` is the dataset of :func:`cross_evaluate`; :func:`aggregate` over ``("repeat",
        "fold")`` has its means, standard deviations and pooled rates.

        With `assure`, the root also has:

        - ``assured_threshold``: NaN where no threshold is guaranteed (:func:`messages` says why)
        - ``assured_far``, with its upper limit ``assured_far_high``: the FAR there, for open set a
          mean over people who are not enrolled
        - ``assured_far_attempts``, ``assured_frr``, ``frr_price``, ``assured_people``
        - ``people_estimated``: about how many people a guarantee of the target needs, by a strict
          threshold with the FAR ``people_far``

    Raises
    ------
    DataError
        Bad options; fewer subjects than folds; a target that cannot be assured.
    ProtocolError
        If the people are not known, which `assure` needs, or if no probe of ``"open_set"`` is of a
        person who is not enrolled in the gallery.

    Notes
    -----
    The FAR in the population exceeds the target about half of the time at the loosest threshold
    whose FAR on the data meets the target. At an assured threshold it does so with a probability of
    about ``1 - assure``, as measured: see ``docs/uncertainty.md``. The limit may be evaluated at
    one threshold after the other, from the strictest on, because this is fixed-sequence testing:
    Angelopoulos, A. N., and others (2025). Learn then test. *Annals of Applied Statistics* 19.

    The rule of 3: n attempts without an error show, at 95 %, an error rate of at most 3 / n. The
    rule of 30: at the rate, 30 errors are expected (Doddington et al. 2000, *Speech Communication*
    31, 225-254), which does not say how exact the rate will be. Both rules assume independent
    attempts. For a FAR they count each pair of people once, however many templates it has. Pairs
    share people, so that the rules give the least to ask for.

    Examples
    --------
    >>> import bioeval as be
    >>> study = be.study_threshold(be.simulate(60, 4, random_state=1), "far=0.01", repeats=5)
    >>> expected = study["rates"].to_dataset().sel(part="test")
    >>> bool(expected.far_low <= expected.far <= expected.far_high)
    True
    >>> study["folds"].sizes["repeat"], study["needs"].subjects_needed.to_series().to_dict()
    (5, {3: 25, 30: 78})
    """
    rule = Rule.parse(target, "target")
    require_scores(scores)
    require_folds(scores, "folds", folds, low=2)
    require_folds(scores, "repeats", repeats, low=1)
    notes: list[Message] = []
    if folds is None:
        folds, notes = usual_folds(scores)
    task = chosen_task(task, get_args(ThresholdTask))
    is_open_set = task == "open_set"
    if is_open_set:
        require_use_of_fusion(
            fusion, rank_unit == "subject", "study_threshold", 'rank_unit="subject"'
        )
        scores = searches_of_people(scores)
    elif not (isinstance(fusion, str) and fusion == "best"):
        raise ProtocolError(
            '`fusion` has no effect in be.study_threshold without `task="open_set"`; leave it '
            "out, or study claims: be.claim_scores takes `fusion`"
        )
    elif not (isinstance(rank_unit, str) and rank_unit == "template"):
        raise ProtocolError(
            '`rank_unit` has no effect in be.study_threshold without `task="open_set"`; '
            "leave it out"
        )
    if assure is not None:
        assure = check_assurance(assure, rule)
        require_named_people(scores, "an assured threshold")
    require_values(scores, "a threshold")
    method = required_interval(interval, BY_PEOPLE, takes_unit=not (is_open_set and assure))
    splitter = splitter_of_study(scores, folds, repeats, random_state, task)

    # The threshold on all data, and the thresholds of the folds.
    search_options: dict[str, Any] = {}
    with rows_reported():
        if is_open_set:
            search_options = {"rank_unit": rank_unit, "fusion": by_closeness(fusion, scores.kind)}
            counted = count_searches(scores, rule, splitter, method, search_options)
        else:
            counted = count_comparisons(scores, rule, splitter, method)
    assured = None
    if assure is not None:
        if counted.others is None:
            curve = JudgedAttempts(scores, assure, unit=method.unit).far_curve()
        else:
            curve = counted.others.far_curve(assure)
        assured = assured_threshold(curve, rule.values[0])
    return _Study(scores, rule, method, search_options, notes, counted, assured).tree()


@dataclass(frozen=True)
class _Study:
    """What a study found, and the datasets that it makes of it."""

    scores: Scores
    rule: Rule
    method: IntervalMethod
    search_options: Mapping[str, Any]  # empty for verification
    notes: Sequence[Message]  # on the number of folds
    counted: CountedStudy
    assured: Assured | None  # None if no assured threshold was asked for

    def tree(self) -> xr.DataTree:
        counted, rule = self.counted, self.rule
        is_assured = self.assured is not None and self.assured.refusal is None
        needs = needs_of(counted.people, rule, is_assured=is_assured)
        # Each rate of all data, and expected with new subjects: over ``all, test``.
        over_folds = aggregate(counted.folds, ("repeat", "fold"))
        mean_of_tests = over_folds.sel(part="test", statistic="mean")
        rates = {}
        for end in ("", "_low", "_high"):
            far, frr = (counted.rates.get(f"{rate}{end}", math.nan) for rate in ("far", "frr"))
            for rate, on_all in zip(RATES, (far, frr, (far + frr) / 2), strict=True):
                rates[f"{rate}{end}"] = [on_all, mean_of_tests[f"{rate}{end}"].item()]
        for rate, statistic in itertools.product(RATES, FOLD_STATISTICS):
            value = over_folds[rate].sel(part="test", statistic=statistic).item()
            rates[f"{rate}_{statistic}"] = [math.nan, value]
        messages = [*self._messages(rates), *needs.messages]
        study = self._dataset(rates["frr"][0], messages)
        variables = variables_over(("part",), **rates)
        unshown = unshown_in_training(
            counted.people, rule, counted.folds, divides_people=divides_people(self.scores)
        )
        if needs.variables:
            is_shown: dict[str, int] = {str(rule.name): int(needs.are_shown)}
            variables |= variables_over(
                ("part",),
                **{f"{x}{SUPPORTED}": [is_shown.get(x, 1), int(unshown is None)] for x in RATES},
            )
        intervals: dict[str, str | int | float] = {}
        thresholds = counted.folds["threshold"].values
        finite = thresholds[np.isfinite(thresholds)]
        if rule.name == "fixed":
            intervals["fold_thresholds"] = "given"
        elif finite.size:
            intervals["fold_thresholds"] = f"{finite.min():.6g} to {finite.max():.6g}"
        if "far_low" in counted.rates or "frr_low" in counted.rates:
            intervals |= self.method.attrs()
            if unshown is None:
                intervals["interval_of_test"] = "Nadeau and Bengio (approximate) over the folds"
        by_part = _rates_by_part(study, variables, intervals)
        answers = answers_of_study(study, by_part, rule, messages, unshown)
        study.attrs.update(message_attrs(answers, study.attrs))
        nodes = {"": study, "rates": by_part}
        if needs.variables:
            about = {"task": STUDY_PARTS["needs"], **counted.people.in_words(), "detail": "verbose"}
            nodes["needs"] = dataset(needs.variables, STUDY, {"rule": np.array(RULES)}, about)
        return tree_of({**nodes, "folds": counted.folds.assign_attrs(detail="verbose")})

    def _messages(self, rates: Mapping[str, list[float]]) -> Iterator[Message]:
        """Yield the messages on the folds and the thresholds; `rates` are over the parts."""
        has_no_threshold = self.counted.attempts.defined and not self.counted.chosen.defined
        for message in (*messages_of(self.counted.folds.attrs), *self.notes):
            if not (has_no_threshold and message.code == "undefined-in-parts"):
                yield message
        if not divides_people(self.scores):
            yield Message("pairs-divided")
        yield from self.counted.messages
        if has_no_threshold:
            yield Message("no-threshold", why=no_such_threshold(self.rule, self.counted.attempts))
        if self.rule.name == "fixed":
            at = self.rule.values[0], rates["far"][0], rates["frr"][0]
            following = self.counted.attempts.next_scores(self.counted.chosen.threshold)
            yield from beyond_scores(*at, float(following))
        if self.assured is not None:
            yield from remarks_on(self.assured, self.scores)

    def _dataset(self, frr: float, messages: Sequence[Message]) -> xr.Dataset:
        """Return the thresholds; `frr` is the FRR at the threshold by the rule."""
        scores, search_options = self.scores, self.search_options
        variables = self.counted.variables_of_all_data(scores.kind)
        fold_attrs = self.counted.folds.attrs
        attrs: dict[str, Any] = {x: fold_attrs[x] for x in _FOLD_ATTRIBUTES if x in fold_attrs}
        attrs["chosen_on"] = "given" if self.rule.name == "fixed" else _CHOSEN_ON_ALL
        attrs["divided"] = "subjects" if divides_people(scores) else "pairs"
        if self.method.resamples:
            attrs["replicates"] = self.method.replicates
        attrs |= search_options
        if self.assured is not None:
            assured_variables, assured_attrs = self.assured.described(scores.kind, frr)
            variables |= assured_variables
            attrs |= assured_attrs | {"assure": self.assured.curve.judged.confidence}
        about = Provenance.from_scores(scores)
        studied = "single-template verification"
        if about.use_title:
            studied = f"verification, {about.use_title}"
        if search_options:
            about = about.searching(scores)
            studied = f"open set, {search_options['rank_unit']} ranks"
        described = about_attrs(about, THRESHOLD_STUDY, f"threshold study, {studied}", messages)
        return dataset(variables, STUDY, {}, described | attrs)


def _rates_by_part(
    study: xr.Dataset, variables: Variables, attributes: Mapping[str, Any]
) -> xr.Dataset:
    about = {"task": STUDY_PARTS["rates"], **attributes}
    about |= {x: study.attrs[x] for x in ("rank_unit",) if x in study.attrs}  # of searches
    about |= {f"rates_at_{name}": value for name, value in threshold_with_next(study).items()}
    labels = {"all": "same data", "test": new_people(study)}
    table = {**STUDY, "part": replace(COORDINATES["part"], labels=labels)}
    return dataset(variables, table, {"part": np.array(["all", "test"])}, about)
