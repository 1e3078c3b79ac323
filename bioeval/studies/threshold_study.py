"""Thresholds for deployment: chosen on all data, judged in folds, and assured.

A study of a threshold::

    threshold = choose(rule, all attempts)  # to install; its errors on these data are optimistic
    for train, test in folds of people:  # the errors to expect on new people
        t = choose(rule, attempts of train)
        far, frr = rates of test at t

:func:`study_threshold` is followed by its folds, its counts, the people that a target needs, and
its messages. One training set and one test set are in :mod:`bioeval.studies.judged_threshold`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, get_args

import numpy as np
import xarray as xr

from bioeval import partition
from bioeval.base.arguments import check_confidence, chosen_task, require_integer
from bioeval.base.errors import (
    DataError,
    Message,
    ProtocolError,
    counted,
    message_attrs,
    messages_of,
    received,
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
from bioeval.protocol.tasks import OpenSet, RankUnit
from bioeval.results.attributes import STUDY_PARTS, THRESHOLD_STUDY, about_attrs, tree_of
from bioeval.results.beyond_scores import beyond_scores
from bioeval.results.dataset import Variables, dataset, threshold_with_next, variables_over
from bioeval.results.support import RULES, independent_trials, people_with
from bioeval.results.variables import COORDINATES, FOLDS, SUPPORTED, VERIFICATION, Variable, entries
from bioeval.scores.distances import FusionRule, by_closeness, require_use_of_fusion
from bioeval.scores.matrix import Scores, require_scores, require_subjects
from bioeval.scores.people import (
    ComparedPeople,
    knows_people,
    people_of_probes,
    require_people,
    subject_pattern_of,
)
from bioeval.scores.provenance import Provenance
from bioeval.scores.sampled import KIND_DOUBTS, is_symmetric
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.aggregate import aggregate
from bioeval.stats.options import BY_PEOPLE, IntervalMethod, required_interval
from bioeval.studies.assurance import (
    ASSURED,
    REFUSED,
    JudgedAttempts,
    JudgedSearches,
    assured_threshold,
    remarks_on,
)
from bioeval.studies.cross_evaluate import cross_evaluate, numbers_of_searches
from bioeval.studies.fold_results import FoldOptions, ThresholdTask, fold_dataset
from bioeval.studies.splits import Samples, SplitPlan
from bioeval.tasks.identification import open_set
from bioeval.tasks.verification_task import verification

#: The rates of a study.
RATES = ("far", "frr", "hter")

#: Statistics of each rate over the test parts of the folds, besides the mean.
FOLD_STATISTICS = ("sd", "pooled")

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
    for name, number, low in (("folds", folds, 2), ("repeats", repeats, 1)):
        if number is None:
            continue
        require_integer(name, number, low=low, of_draws=True)
        if scores.layout == "pairs" and scores.pair_folds is not None:
            raise DataError(f"`{name}` is {number}, but these pairs define folds; leave it out")
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
        assure = check_confidence(assure, "assure")
        if rule.name != "far" or not 0 < rule.values[0] < 1:
            raise DataError(
                f"`target` is {received(target)}; what can be assured is a FAR above 0 and below "
                "1, such as far=0.01"
            )
        require_people(scores, "an assured threshold")
    require_values(scores, "a threshold")
    method = required_interval(interval, BY_PEOPLE, takes_unit=not (is_open_set and assure))
    splitter = splitter_of_study(scores, folds, repeats, random_state, task)

    # The threshold on all data, and the thresholds of the folds.
    with rows_reported():
        if is_open_set:
            search_options = {"rank_unit": rank_unit, "fusion": by_closeness(fusion, scores.kind)}
            counts = count_searches(scores, rule, splitter, method, search_options)
        else:
            counts = count_comparisons(scores, rule, splitter, method)
    curve: JudgedAttempts | JudgedSearches | None = None
    assured: dict[str, float] = {}
    refusal = None
    if assure is not None:
        if counts.others is None:
            curve = JudgedAttempts(scores, assure, unit=method.unit)
        else:
            curve = JudgedSearches(counts.attempts, *counts.others, assure)
        assured, refusal = assured_threshold(curve, rule.values[0])
    divides = divides_people(scores)
    needed, lacking, unshown = needs_of(
        counts, rule, is_assured=curve is not None and refusal is None, divides=divides
    )
    rates = _rates_by_part(counts)
    far_of_all, frr_of_all = rates["far"][0], rates["frr"][0]

    # The messages on the folds and the thresholds.
    messages = _messages_on_folds(counts, rule, notes, divides=divides)
    if rule.name == "fixed":
        following = counts.attempts.next_scores(counts.chosen.threshold)
        messages += beyond_scores(rule.values[0], far_of_all, frr_of_all, float(following))
    if refusal is not None:
        messages.append(refusal)
    elif curve is not None:
        messages += remarks_on(curve, assured, scores)
    messages += lacking

    # The root: the thresholds.
    variables: Variables = counts.chosen.in_units(scores.kind)
    for name in ("genuine_attempts", "impostor_attempts"):
        variables[name] = getattr(counts.attempts, name)
    variables |= counts.variables
    fold_attrs = counts.folds.attrs
    attrs: dict[str, Any] = {x: fold_attrs[x] for x in _FOLD_ATTRIBUTES if x in fold_attrs}
    attrs["chosen_on"] = "given" if rule.name == "fixed" else _CHOSEN_ON_ALL
    attrs["divided"] = "subjects" if divides else "pairs"
    if method.resamples:
        attrs["replicates"] = method.replicates
    attrs |= counts.search_options
    if curve is not None:
        thresholds = ("assured_threshold", "assured_threshold_next")
        in_units = {name: to_user(assured[name], scores.kind) for name in thresholds}
        variables |= assured | in_units | {"frr_price": assured["assured_frr"] - frr_of_all}
        against = " against this gallery" if curve.fixed_gallery else ""
        attrs |= {"assured_for": f"people like these{against}", "assured_over": curve.over}
        attrs["assure"] = curve.far.confidence
    about = Provenance.from_scores(scores)
    studied = "single-template verification"
    if about.use_title:
        studied = f"verification, {about.use_title}"
    if counts.search_options:
        about = about.searching(scores)
        studied = f"open set, {rank_unit} ranks"
    described = about_attrs(about, THRESHOLD_STUDY, f"threshold study, {studied}", messages)
    study = dataset(variables, STUDY, {}, described | attrs)

    # The rates, and the messages that answer.
    of_rates = variables_over(("part",), **rates)
    if needed:
        is_lacking = any(x.code == "target-not-shown" for x in lacking)
        is_shown: dict[str, int] = {str(rule.name): int(not is_lacking)}
        of_rates |= variables_over(
            ("part",),
            **{f"{x}{SUPPORTED}": [is_shown.get(x, 1), int(unshown is None)] for x in RATES},
        )
    attrs = {"task": STUDY_PARTS["rates"]}
    fold_thresholds = counts.folds["threshold"].values
    fold_thresholds = fold_thresholds[np.isfinite(fold_thresholds)]
    if rule.name == "fixed":
        attrs["fold_thresholds"] = "given"
    elif fold_thresholds.size:
        attrs["fold_thresholds"] = f"{fold_thresholds.min():.6g} to {fold_thresholds.max():.6g}"
    if "far_low" in counts.rates or "frr_low" in counts.rates:
        attrs |= method.attrs()
        if unshown is None:
            attrs["interval_of_test"] = "Nadeau and Bengio (approximate) over the folds"
    if "rank_unit" in study.attrs:  # of searches
        attrs["rank_unit"] = study.attrs["rank_unit"]
    attrs |= {f"rates_at_{name}": value for name, value in threshold_with_next(study).items()}
    labels = {"all": "same data", "test": new_people(study)}
    table = {**STUDY, "part": replace(COORDINATES["part"], labels=labels)}
    by_part = dataset(of_rates, table, {"part": np.array(["all", "test"])}, attrs)
    answers = answers_of_study(study, by_part, rule, messages, unshown)
    study.attrs.update(message_attrs(answers, study.attrs))

    nodes = {"": study, "rates": by_part}
    if needed:
        nodes["needs"] = _needs_dataset(counts, needed)
    return tree_of({**nodes, "folds": counts.folds.assign_attrs(detail="verbose")})


def _rates_by_part(counts: CountedStudy) -> dict[str, list[float]]:
    """Return each rate of all data, and expected with new subjects: over ``all, test``."""
    over_folds = aggregate(counts.folds, ("repeat", "fold")).sel(part="test")
    mean_of_tests = over_folds.sel(statistic="mean")
    rates: dict[str, list[float]] = {}
    for end in ("", "_low", "_high"):
        far = counts.rates.get(f"far{end}", math.nan)
        frr = counts.rates.get(f"frr{end}", math.nan)
        of_all_data = {"far": far, "frr": frr, "hter": (far + frr) / 2}
        for rate in RATES:
            rates[f"{rate}{end}"] = [of_all_data[rate], mean_of_tests[f"{rate}{end}"].item()]
    for rate in RATES:
        for statistic in FOLD_STATISTICS:
            value = over_folds[rate].sel(statistic=statistic).item()
            rates[f"{rate}_{statistic}"] = [math.nan, value]
    return rates


def _messages_on_folds(
    counts: CountedStudy, rule: Rule, notes: Sequence[Message], *, divides: bool
) -> list[Message]:
    """Return the messages on the folds, which `divides` says are of people, and on the counts."""
    messages = [*messages_of(counts.folds.attrs), *notes]
    has_no_threshold = counts.attempts.defined and not counts.chosen.defined
    if has_no_threshold:  # a message below says so of all data, and so of the folds
        messages = [message for message in messages if message.code != "undefined-in-parts"]
    if not divides:
        messages.append(Message("pairs-divided"))
    messages += counts.messages
    if has_no_threshold:
        messages.append(Message("no-threshold", why=no_such_threshold(rule, counts.attempts)))
    return messages


def _needs_dataset(counts: CountedStudy, needed: Variables) -> xr.Dataset:
    """Return the people that a target needs, and in words the people of the data."""
    attrs = {"task": STUDY_PARTS["needs"]}
    if counts.people and counts.compared is None:
        attrs["people_here"] = counted(counts.people, "people who are not enrolled")
    elif counts.people and counts.compared is not None:
        pairs = counted(counts.compared.pairs, "pairs of people")
        attrs["people_here"] = f"{counted(counts.people, 'people')}, {pairs}"
    attrs["detail"] = "verbose"
    return dataset(needed, STUDY, {"rule": np.array(RULES)}, attrs)


# The folds of a threshold study: of people, or of pairs whose people are not known.


# The default numbers of folds and of repeats.
USUAL_FOLDS = 10
REPEATS = 20


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


class CountedStudy(NamedTuple):
    """The threshold of a study with its rates on all data, and the evaluation in folds."""

    folds: xr.Dataset  # as of `cross_evaluate`
    chosen: ChosenThreshold
    attempts: Attempts  # all attempts, on which the threshold is chosen
    rates: Mapping[str, Any]  # rates of all attempts at the threshold, with limits
    variables: Variables  # numbers of people and pairs
    #: Number of people, of searches only those not enrolled; 0 if unknown.
    people: int
    compared: ComparedPeople | None = None  # None of searches, and if people are unknown
    messages: Sequence[Message] = ()
    search_options: Mapping[str, Any] = {}  # empty of verification
    #: Of searches by people who are not enrolled: the nearest distances, and the people.
    others: tuple[np.ndarray, np.ndarray] | None = None


def count_comparisons(
    scores: Scores, rule: Rule, splitter: Any, interval: IntervalMethod
) -> CountedStudy:
    over_folds = IntervalMethod("nadeau-bengio", interval.confidence)
    folds = cross_evaluate(scores, splitter, threshold=rule, interval=over_folds)
    distance_rule = rule.as_distance(scores.kind)
    verified = verify(scores, wanted=PointsWanted.of_rule(distance_rule))
    attempts, compared = verified.attempts, verified.compared
    chosen = choose(distance_rule, attempts)
    has_people = knows_people(scores)
    people = len(scores.subjects) if has_people else 0
    rates: Mapping[str, Any] = {}
    messages: list[Message] = []
    if chosen.defined:
        with stage("intervals"):
            rates, _ = rates_at(scores, chosen.threshold, interval if has_people else None)
        messages = interval.few_people(people)
        if not has_people:
            pattern = str(subject_pattern_of(scores))
            messages = [Message("no-interval-by-subject", pattern=pattern)]
    pairs = attempts.impostor_attempts // (2 if is_symmetric(scores) else 1)
    variables: Variables = {"impostor_pairs": pairs}
    if people:
        variables["subjects"] = people
    if compared is not None:
        variables |= {"disjoint_pairs": compared.disjoint, "pairs_of_people": compared.pairs}
    return CountedStudy(folds, chosen, attempts, rates, variables, people, compared, messages)


def count_searches(
    scores: Scores,
    rule: Rule,
    splitter: Any,
    interval: IntervalMethod,
    search_options: Mapping[str, Any],
) -> CountedStudy:
    """Return a study of open-set identification, of people who are not enrolled."""
    task = OpenSet(impostors="unenrolled", **search_options)
    over_folds = IntervalMethod("nadeau-bengio", interval.confidence)
    options = FoldOptions("open_set", rule, over_folds, search=task)
    distance_rule = rule.as_distance(scores.kind)
    person = scores.codes.probe

    # The attempts of all searches, and the threshold. No threshold accepts a mate at another rank,
    # nor a failed search, which has no distance.
    searches = search(scores, task)
    whole = _searched_parts(searches, task, person, [np.arange(len(person))])
    mate = np.where(whole.rank == 1, searches.mate, np.nan)[whole.is_mated]
    is_impostor = searches.impostor_probes("unenrolled")
    attempts = Attempts.from_scores(mate, searches.other[is_impostor])
    chosen = choose(distance_rule, attempts)

    # Folds divide the people who search, enrolled or not alike; the gallery stays whole.
    is_enrolled = np.isin(person, person[searches.mates > 0])
    meta = {"enrolled": np.where(is_enrolled, "yes", "no")}
    plan = SplitPlan(splitter, len(person), person, meta=meta)
    splits = [*plan.splits.values()]
    train = _searched_parts(searches, task, person, [split.train.probes for split in splits])
    test = _searched_parts(searches, task, person, [split.test.probes for split in splits])
    numbers = numbers_of_searches(train, test, options, distance_rule)
    enrolled_people = np.unique(scores.codes.gallery)
    gallery_subjects = int((~scores.codes.no_person[enrolled_people]).sum())
    numbers["gallery_subjects"] = np.full((len(splits), 2), gallery_subjects)
    sizes = [Samples(person).sizes(split) for split in splits]
    for name in sizes[0]:
        numbers[name] = np.array([sizes_of_split[name] for sizes_of_split in sizes])
    lost = claims_lost(scores, options.fused(scores.kind))
    about = Provenance.from_scores(scores).without_claims(*lost)
    folds = fold_dataset(numbers, plan, about, options)

    # The rates of all data at the threshold, with limits.
    rates: dict[str, Any] = {}
    if chosen.defined and math.isfinite(chosen.threshold):
        with stage("intervals"):
            searched = open_set(
                scores,
                impostors="unenrolled",
                interval=interval,
                thresholds=[to_user(chosen.threshold, scores.kind)],
                max_rank=1,
                **search_options,
            )
        rates = {str(name): x.item() for name, x in searched.data_vars.items() if x.size == 1}

    unenrolled = len(np.unique(person[is_impostor]))
    variables = {
        "impostor_pairs": attempts.impostor_attempts,
        "subjects": len(np.unique(person)),
        "unenrolled_people": unenrolled,
    }
    return CountedStudy(
        folds,
        chosen,
        attempts,
        rates,
        variables,
        people=unenrolled,
        search_options=search_options,
        others=(searches.other[is_impostor], person[is_impostor]),
    )


def _searched_parts(
    searches: Searches, task: OpenSet, person: np.ndarray, parts: Sequence[np.ndarray]
) -> SearchedParts:
    """Return the searches of the whole gallery by the probes of each part.

    `person` (probes,) has the code of the person who searches; all probes are of people.
    """
    searches_of_parts, probing, enrolled = [], [], []
    for probes in parts:
        arrays = {k: x[probes] for k, x in vars(searches).items() if isinstance(x, np.ndarray)}
        searches_of_parts.append(replace(searches, **arrays))
        probing.append(len(np.unique(person[probes])))
        enrolled.append(len(np.unique(person[probes[searches.enrolled[probes]]])))
    # Of the people of a part, only those who search it are counted.
    probing_people, enrolled_people = np.array([probing, enrolled])
    people = PeopleOfParts(
        probing_people, enrolled=enrolled_people, both=enrolled_people, every=probing_people
    )
    return SearchedParts.of_searches(searches_of_parts, task.ties, people)


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


# The people that a target needs, and the people that the data have.


class _LimitedTarget(NamedTuple):
    """A target that the number of people limits, and what the data have for it."""

    rate: str  # "far" or "frr"
    value: float
    people: int  # who take part; of searches, those who are not enrolled; 0 if unknown
    who: str  # these people in words
    in_pairs: bool  # whether a trial is a pair of people, as for FAR of verification
    compared: ComparedPeople | None
    impostors: int  # impostor attempts, each pair of templates once

    @property
    def independent(self) -> float:
        """The number of independent trials: a FAR has no more than there are pairs of people."""
        if self.in_pairs:
            return independent_trials(self.impostors, self.compared)
        return self.people


def needs_of(
    study: CountedStudy, rule: Rule, *, is_assured: bool, divides: bool
) -> tuple[Variables, list[Message], Message | None]:
    """Return the people that a target needs by the rules of 3 and 30, and messages on too few.

    - the variables over ``rule``, empty unless the number of people limits the target
    - at most one message, on the first rule that the data do not fulfil; `is_assured` says whether
      there is an assured threshold besides the threshold by the rule
    - a message if the training parts of the folds, which `divides` says are of people, do not
      support the target by the rule of 3: thresholds of such parts say little about the threshold
      of all data, and so do their errors
    """
    is_search = study.others is not None
    is_of_people = rule.name == "frr" and study.people > 0 and not is_search
    if not (rule.name == "far" or is_of_people) or not rule.values[0] > 0:
        return {}, [], None
    target = _LimitedTarget(
        rate=rule.name,
        value=float(rule.values[0]),
        people=study.people,
        who="people who are not enrolled" if is_search else "people",
        in_pairs=rule.name == "far" and not is_search,
        compared=study.compared,
        impostors=study.variables["impostor_pairs"],
    )
    numbers = [rule_of.attempts_for(target.value) for rule_of in RULES]
    needed: Variables = {}
    if target.people:
        needed["subjects_needed"] = [*map(people_with, numbers)] if target.in_pairs else numbers
    if target.rate == "far":
        needed["impostors_needed"] = numbers
        needed["impostors_missing"] = [max(0, x - target.independent) for x in numbers]
    return (
        variables_over(("rule",), **needed),
        _messages_on_target(target, is_assured=is_assured),
        _message_on_training_parts(target, study.folds, divides=divides),
    )


def _messages_on_target(target: _LimitedTarget, *, is_assured: bool) -> list[Message]:
    """Return a message on the first rule that the data do not fulfil; none if they fulfil both."""
    unfulfilled = [x for x in RULES if not x.supports(target.value, target.independent)]
    if not unfulfilled:
        return []
    number = unfulfilled[0].attempts_for(target.value)
    needed = {target.who: number}
    if target.in_pairs:
        needed = {"impostor attempts": number}
        if target.compared is not None and target.compared.pairs <= target.impostors:
            # Pairs of people are what is too few. They need no more people if not all of the
            # people are compared with each other.
            enough = people_with(number)
            needed = {"people": enough} if enough > target.compared.number else {}
            needed["pairs of people"] = number
    about: dict[str, Any] = {"rate": target.rate, "target": target.value, "needed": needed}
    error = {"far": "false accept", "frr": "false reject"}[target.rate]
    if unfulfilled[0] == 3:
        return [Message("target-not-shown", **about, error=error)]
    about |= {"errors": f"{error}s", "which": "", "beside": ""}
    if is_assured:
        about["which"] = "by the rule "
        about["beside"] = (
            "; the assured threshold needs fewer people, because its {far} is bounded and not "
            "measured"
        )
    return [Message("threshold-uncertain", **about)]


def _message_on_training_parts(
    target: _LimitedTarget, folds: xr.Dataset, *, divides: bool
) -> Message | None:
    """Return a message if training parts do not support a target by the rule of 3."""
    number = RULES[0].attempts_for(target.value)
    # The smallest training part, as a share of all people.
    train = folds["subjects"].sel(part="train").values
    test = folds["subjects"].sel(part="test").values
    share = float((train / np.maximum(train + test, 1)).min())

    # The trials of this part; 1e-9 is for rounding.
    trials = math.floor(share * target.independent + 1e-9)
    present, needed = {"impostor attempts": trials}, {"impostor attempts": number}
    if target.people and divides:
        trials = people = math.floor(share * target.people + 1e-9)
        present, needed = {target.who: people}, {target.who: number}
        if target.in_pairs:
            # Pairs of people become fewer as the square of the people.
            all_pairs = max(target.people * (target.people - 1), 1)
            trials = math.floor(target.independent * people * (people - 1) / all_pairs + 1e-9)
            present["pairs of people"] = trials
            needed = {target.who: people_with(number), "pairs of people": number}
    if RULES[0].supports(target.value, trials):
        return None
    return Message(
        "training-cannot-show",
        rate=target.rate,
        target=target.value,
        there=present,
        needed=needed,
    )


# The messages of threshold studies and judged thresholds that say which threshold to install.


#: A FAR on new people misses its target clearly if it is more than this many times the target.
CLEARLY = 1.1


def answers_of_study(
    study: xr.Dataset,
    rates: xr.Dataset,
    rule: Rule,
    messages: Sequence[Message],
    unshown: Message | None,
) -> list[Message]:
    """Return messages on which threshold to install, and on a target that new people miss.

    `rates` are the rates of all data and of the test parts; `messages` are all messages of a study.
    With `unshown`, the message that training parts are too small, nothing is said of new people.
    """
    answers = _thresholds(study, rates, rule, [x for x in messages if not x.about], unshown)
    test_rates = rates.sel(part="test")
    far = float(test_rates["far"])
    target = float(rule.values[0]) if rule.name == "far" else 0.0
    if target and far > CLEARLY * target and unshown is None:
        about: dict[str, Any] = {"people": new_people(study), "rate": far, "times": far / target}
        about["target"] = target
        low = float(test_rates["far_low"])
        if low <= target:
            about["low"] = low
        answers.append(Message("target-missed", **about))
    if "unenrolled_people" in study:
        return [Message(x.code, **x.arguments, task="identification") for x in answers]
    return answers


def _thresholds(
    study: xr.Dataset,
    rates: xr.Dataset,
    rule: Rule,
    messages: Sequence[Message],
    unshown: Message | None,
) -> list[Message]:
    # No threshold is of use if the kind of the scores, or the labels, are likely wrong.
    if any(x.code in KIND_DOUBTS and x.code != "near-chance" for x in messages):
        reason = "impostor scores are nearer than genuine scores; correct the kind or the labels"
        return [Message("nothing-to-install", why=f"{reason} as the warning says, and run again")]

    # No threshold can be chosen.
    by_code = {x.code: x for x in messages}
    if math.isnan(study["threshold"]) and math.isnan(rates["hter"].sel(part="all")):
        reason = "there are no attempts of both classes to choose it on"
        if "no-threshold" in by_code:
            reason = str(by_code["no-threshold"].arguments["why"])
        return [Message("nothing-to-install", why=reason)]

    # What to expect on new people, or the message that nothing can be said of them.
    on_new: dict[str, Any] = {"people": new_people(study), "unshown": unshown}
    if unshown is None:
        on_new = _expected(study, rates.sel(part="test"), rule, messages)

    # An assured threshold was asked for.
    refusal = next((by_code[code] for code in REFUSED if code in by_code), None)
    if refusal is not None:
        people: dict[str, float] = {}
        if refusal.code == "too-few-people-to-promise" and study["people_estimated"].notnull():
            people = {
                "people": int(study["people_estimated"]),
                "people_far": float(study["people_far"]),
            }
        return [
            Message("no-threshold-promised", why=refusal, **people),
            threshold_accepts(study, "Without assurance", **on_new),
        ]
    if "assured_threshold" in study:
        cost: dict[str, float] = {}
        if study["frr_price"] > 0:
            cost = {
                "frr_without": float(rates["frr"].sel(part="all")),
                "frr_here": float(study["assured_frr"]),
            }
        return [
            Message(
                "install-threshold",
                **threshold_with_next(study, "assured_threshold"),
                confidence=float(study.attrs["assure"]),
                target=float(rule.values[0]),
                people=str(study.attrs["assured_for"]),
                far_here=float(study["assured_far"]),
                far_high=float(study["assured_far_high"]),
                **cost,
            )
        ]

    # The threshold by the rule, which is provisional if the data are too few.
    if "target-not-shown" in by_code:
        # What is missing for an expectation is missing for the target.
        return [threshold_accepts(study, "Provisional", why=by_code["target-not-shown"])]
    if "subjects" not in study and rule.name != "fixed":
        reason = "the people are unknown: many pairs may come from the same few people"
        return [threshold_accepts(study, "Provisional", why=reason, **on_new)]
    return [threshold_accepts(study, "Given" if rule.name == "fixed" else "Chosen", **on_new)]


def _expected(
    study: xr.Dataset, on_new: xr.Dataset, rule: Rule, messages: Sequence[Message]
) -> dict[str, Any]:
    """Return the rates to expect on new people; empty if neither rate has an interval.

    In place of a rate without an interval, the message that says why is returned. The FAR target is
    returned, too, if the FAR may be above it.
    """
    without_spread = [x for x in messages if x.code == "no-spread-between-parts"]
    expected: dict[str, Any] = {}
    for name in ("far", "frr"):
        new, low, high = (float(on_new[f"{name}{end}"]) for end in ("", "_low", "_high"))
        if not math.isnan(low):
            expected |= {f"{name}_new": new, f"{name}_low": low, f"{name}_high": high}
        for message in without_spread:
            if message.arguments["rate"] == name:
                expected[f"{name}_without"] = message
    # A rate with an interval has three entries, and one without it a message. With fewer than four,
    # neither rate has an interval, or one is not defined.
    if len(expected) < 4:
        return {}
    expected["people"] = new_people(study)
    if rule.name == "far" and expected.get("far_high", 0) > rule.values[0]:
        expected["target"] = float(rule.values[0])
    return expected


def threshold_accepts(result: xr.Dataset, status: str, **about: Any) -> Message:
    """Return the message that says which scores the threshold of a result accepts.

    `status` says what the threshold is: chosen, given, provisional or without assurance. It is
    followed by further arguments: why it is provisional, and the rates to expect.
    """
    kind: Kind = result.attrs["kind"]
    threshold = float(result["threshold"])
    if math.isnan(threshold) or threshold == to_user(-math.inf, kind):
        return Message("threshold-accepts-nothing", status=status)
    return Message(
        "threshold-accepts",
        status=status,
        scores=kind,
        sign=">=" if kind == "similarity" else "<=",
        **threshold_with_next(result),
        **about,
    )


def new_people(study: xr.Dataset) -> str:
    """Return for whom the rates of test parts are expected: new people, or new pairs."""
    divided = str(study.attrs.get("divided", "subjects"))
    return "new people" if divided == "subjects" else f"new {divided}"


def rates_at(
    scores: Scores,
    threshold: float,
    interval: IntervalMethod | None = None,
    costs: Sequence[Any] = (),
) -> tuple[dict[str, Any], xr.Dataset]:
    """Return errors, rates and limits at a distance, and the result of verification there.

    A distance that is NaN rejects all. If the distance accepts all or nothing, the rates are no
    estimates, and have no limits.
    """
    is_finite = math.isfinite(threshold)
    accepts_all = threshold == np.inf
    verified = verification(
        scores,
        interval=interval,
        # A distance that rejects all is not counted; any other one stands in for it.
        thresholds=[to_user(threshold, scores.kind) if is_finite or accepts_all else 0.0],
        costs=costs or [(0.5, 1, 1)],
        far_targets=(),
        auc=bool(costs),
    )
    genuine, impostor = int(verified["genuine_attempts"]), int(verified["impostor_attempts"])
    rates: dict[str, Any] = {"genuine_attempts": genuine, "impostor_attempts": impostor}
    if is_finite or accepts_all:
        rates |= {name: verified[name].values[0].item() for name in ("far", "frr", "fa", "fr")}
    else:
        rates |= {"fa": 0, "fr": genuine}
        rates |= {"far": 0.0 if impostor else math.nan, "frr": 1.0 if genuine else math.nan}
    for name in ("far_low", "far_high", "frr_low", "frr_high"):
        has_limit = is_finite and name in verified
        rates[name] = verified[name].values[0].item() if has_limit else math.nan
    return rates, verified
