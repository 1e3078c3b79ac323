"""Threshold study: a threshold for deployment, its rates with new subjects, and sample sizes."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bioeval import partition
from bioeval.base.arguments import check_confidence, require_integer
from bioeval.base.errors import (
    DataError,
    Message,
    counted,
    message_attrs,
    messages_of,
)
from bioeval.base.progress import rows_reported, stage
from bioeval.base.random import RandomState
from bioeval.counting.threshold_rules import (
    PointsWanted,
    Rule,
    choose,
    no_such_threshold,
)
from bioeval.counting.thresholds import require_values
from bioeval.counting.verification import verify
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
from bioeval.scores.matrix import Scores, require_scores, require_subjects
from bioeval.scores.people import ComparedPeople, knows_people, subject_pattern_of
from bioeval.scores.provenance import Provenance
from bioeval.scores.sampled import is_symmetric
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.aggregate import aggregate
from bioeval.stats.options import PEOPLE, IntervalMethod, required_interval
from bioeval.studies.assurance import (
    ASSURED,
    JudgedAttempts,
    assured_threshold,
    kinds_of_people_absent,
    require_named_people,
)
from bioeval.studies.folds.cross_evaluate import cross_evaluate
from bioeval.studies.judged_threshold import answers_of_study, new_people, rates_at

# The people that a target needs, and the people that the data have.


class StudyPeople(NamedTuple):
    """The people and impostor attempts that decide whether data support a target."""

    subjects: int  # number of people; 0 if unknown
    impostors: int  # number of impostor attempts; each pair of a symmetric matrix counts once
    compared: ComparedPeople | None  # None if people are unknown

    def limit(self, rule: Rule) -> bool:
        """Whether the number of people limits the targets of a rule."""
        is_of_people = rule.name == "frr" and self.subjects > 0
        return (rule.name == "far" or is_of_people) and rule.values[0] > 0

    def independent(self, rule: Rule) -> int:
        """Return the number of independent trials of a rule's rate: of FAR, pairs of people."""
        if rule.name != "far":
            return self.subjects
        pairs = self.impostors if self.compared is None else self.compared.pairs
        return min(self.impostors, pairs)


def needs_of(
    people: StudyPeople, rule: Rule, *, is_assured: bool
) -> tuple[Variables, list[Message]]:
    """Return the people that a target needs, over the rules of 3 and 30, and a message on a lack.

    There are no variables unless the number of people limits the targets of the rule. `is_assured`
    says whether there is an assured threshold besides the threshold by the rule.
    """
    if not people.limit(rule):
        return {}, []
    rate = rule.name
    target = float(rule.values[0])
    independent = people.independent(rule)

    # The variables, over the rules of 3 and 30.
    numbers = [rule_of.attempts_for(target) for rule_of in RULES]
    needed: Variables = {}
    if people.subjects:
        needed["subjects_needed"] = numbers if rate == "frr" else [*map(people_with, numbers)]
    if rate == "far":
        needed["impostors_needed"] = numbers
        needed["impostors_missing"] = [max(0, number - independent) for number in numbers]
    needed = variables_over(("rule",), **needed)

    # The message on the first rule that the data do not fulfil.
    error = {"far": "false accept", "frr": "false reject"}[rate]
    about: dict[str, Any] = {"rate": rate, "target": target}
    compared = people.compared
    for rule_of, number in zip(RULES, numbers, strict=True):
        if rule_of.supports(target, independent):
            continue
        about["needed"] = {"people": number}
        if rate == "far":
            about["needed"] = {"impostor attempts": number}
            if compared is not None and compared.pairs <= people.impostors:
                more_people = people_with(number)
                about["needed"] = {"people": more_people} if more_people > compared.number else {}
                about["needed"] |= {"pairs of people": number}
        if rule_of == 3:
            return needed, [Message("target-not-shown", **about, error=error)]
        about |= {"errors": f"{error}s", "which": "", "beside": ""}
        if is_assured:
            about["which"] = "by the rule "
            about["beside"] = (
                "; the assured threshold needs fewer people, because its {far} is bounded and not "
                "measured"
            )
        return needed, [Message("threshold-uncertain", **about)]
    return needed, []


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
        trials = number = math.floor(share * people.subjects + 1e-9)
        there, needed = {"people": number}, {"people": needed_trials}
        if rule.name == "far":
            pairs = people.subjects * (people.subjects - 1)
            trials = math.floor(independent * number * (number - 1) / max(pairs, 1) + 1e-9)
            there["pairs of people"] = trials
            needed = {"people": people_with(needed_trials), "pairs of people": needed_trials}
    if rule_of.supports(target, trials):
        return None
    return Message(
        "training-cannot-show", rate=rule.name, target=target, there=there, needed=needed
    )


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
    scores: Scores, folds: int, repeats: int | None, random_state: RandomState
) -> Any:
    if scores.layout != "pairs":
        require_subjects(scores, "a threshold study")
    drawn: dict[str, Any] = {
        "n_repeats": repeats or REPEATS,
        "shuffle": True,
        "random_state": random_state,
    }
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
    "pairs_of_people": Variable(
        "pairs of different people that are compared, at most: the rules of 3 and 30 count them",
        "pairs",
        label="pairs of people",
        detail="verbose",
    ),
    "subjects_needed": Variable(
        "people that the target needs by the rule: of a FAR all compared with each other, "
        "templates do not count",
        "subjects",
        label="people needed",
    ),
    "impostors_needed": Variable(
        "pairs of people required by the rule",
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
    folds: int | None = None,
    repeats: int | None = None,
    random_state: RandomState = 0,
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
    folds : int, optional
        Folds of subjects; by default those of the pairs, or else 10, or as many as have two
        subjects each.
    repeats : int, default: 20
        Number of random divisions into folds.
    random_state : int, None, numpy.random.SeedSequence, Generator or RandomState
        Seed of the divisions.
    interval : {"people"} or :class:`bioeval.stats.IntervalMethod`
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
        - ``subjects``, ``pairs_of_people``, ``impostor_pairs``, ``disjoint_pairs``: the
          independent units that the data have

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
        - ``assured_far``, with its upper limit ``assured_far_high``: the FAR there
        - ``assured_frr``, ``frr_price``, ``assured_people``

    Raises
    ------
    DataError
        Bad options; fewer subjects than folds; a target that cannot be assured.
    ProtocolError
        If the scores hold only an order.

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
    if assure is not None:
        assure = check_confidence(assure, "assure")
        if rule.name != "far" or not 0 < rule.values[0] < 1:
            raise DataError(
                f"`target` is {rule}; what can be assured is a FAR above 0 and below 1, "
                "such as far=0.01"
            )
        require_named_people(scores, "an assured threshold")
    require_values(scores, "a threshold")
    method = required_interval(interval, (PEOPLE,), takes_unit=True)
    splitter = splitter_of_study(scores, folds, repeats, random_state)
    are_people_divided = divides_people(scores)
    has_people = knows_people(scores)

    # The thresholds of the folds, and the threshold on all data, with its rates there.
    with rows_reported():
        over_folds = IntervalMethod("nadeau-bengio", method.confidence)
        in_folds = cross_evaluate(scores, splitter, threshold=rule, interval=over_folds)
        distance_rule = rule.as_distance(scores.kind)
        verified = verify(scores, wanted=PointsWanted.of_rule(distance_rule))
        attempts, compared = verified.attempts, verified.compared
        chosen = choose(distance_rule, attempts)
        rates_of_all: dict[str, Any] = {}
        if chosen.defined:
            with stage("intervals"):
                on_all, _ = rates_at(scores, chosen.threshold, method if has_people else None)
            rates_of_all = on_all
    notes_on_people: list[Message] = []
    if chosen.defined and has_people:
        notes_on_people = method.few_people(len(scores.subjects))
    elif chosen.defined:
        pattern = str(subject_pattern_of(scores))
        notes_on_people = [Message("no-interval-by-subject", pattern=pattern)]
    pairs = attempts.impostor_attempts // (2 if is_symmetric(scores) else 1)
    subjects = len(scores.subjects) if has_people else 0
    people = StudyPeople(subjects, pairs, compared)
    variables: Variables = {**chosen.in_units(scores.kind)}
    variables |= {x: getattr(attempts, x) for x in ("genuine_attempts", "impostor_attempts")}
    variables["impostor_pairs"] = pairs
    if subjects:
        variables["subjects"] = subjects
    if compared is not None:
        variables |= {"disjoint_pairs": compared.disjoint, "pairs_of_people": compared.pairs}

    # Each rate of all data, and expected with new subjects: over ``all, test``.
    of_tests = aggregate(in_folds, ("repeat", "fold")).sel(part="test")
    means = of_tests.sel(statistic="mean")
    rates: dict[str, list[Any]] = {}
    for end in ("", "_low", "_high"):
        far, frr = (rates_of_all.get(f"{rate}{end}", math.nan) for rate in ("far", "frr"))
        for rate, of_all in zip(RATES, (far, frr, (far + frr) / 2), strict=True):
            rates[f"{rate}{end}"] = [of_all, means[f"{rate}{end}"].item()]
    for rate, statistic in itertools.product(RATES, FOLD_STATISTICS):
        rates[f"{rate}_{statistic}"] = [math.nan, of_tests[rate].sel(statistic=statistic).item()]

    # The messages on the folds and the thresholds, and the assured threshold.
    has_no_threshold = attempts.defined and not chosen.defined
    messages = [
        message
        for message in (*messages_of(in_folds.attrs), *notes)
        if not (has_no_threshold and message.code == "undefined-in-parts")
    ]
    if not are_people_divided:
        messages.append(Message("pairs-divided"))
    messages += notes_on_people
    if has_no_threshold:
        messages.append(Message("no-threshold", why=no_such_threshold(rule, attempts)))
    if rule.name == "fixed":
        at = rule.values[0], rates["far"][0], rates["frr"][0]
        messages += beyond_scores(*at, float(attempts.next_scores(chosen.threshold)))
    attrs: dict[str, Any] = {x: in_folds.attrs[x] for x in _FOLD_ATTRIBUTES if x in in_folds.attrs}
    attrs["chosen_on"] = "given" if rule.name == "fixed" else _CHOSEN_ON_ALL
    attrs["divided"] = "subjects" if are_people_divided else "pairs"
    is_assured = False
    if assure is not None:
        assured, refusal = assured_threshold(
            JudgedAttempts(scores, assure, unit=method.unit), rule.values[0]
        )
        variables |= assured | {"frr_price": assured["assured_frr"] - rates["frr"][0]}
        attrs |= {"assured_for": "people like these", "assure": assure}
        is_assured = refusal is None
        if refusal is not None:
            messages.append(refusal)
        else:
            messages.append(kinds_of_people_absent(assured["assured_people"]))
            if scores.is_derived:
                messages.append(Message("assurance-of-derived-scores", origin=scores.origin))
    needed, lacks = needs_of(people, rule, is_assured=is_assured)
    messages += lacks
    about = Provenance.from_scores(scores)
    studied = "single-template verification"
    if about.use_title:
        studied = f"verification, {about.use_title}"
    described = about_attrs(about, THRESHOLD_STUDY, f"threshold study, {studied}", messages)
    study = dataset(variables, STUDY, {}, described | attrs)

    # The rates by part, and the answer.
    by_part = variables_over(("part",), **rates)
    unshown = unshown_in_training(people, rule, in_folds, divides_people=are_people_divided)
    if needed:
        can_show = all(x.code != "target-not-shown" for x in lacks)
        is_shown: dict[str, int] = {rule.name: int(can_show)}
        support = {f"{x}{SUPPORTED}": [is_shown.get(x, 1), int(unshown is None)] for x in RATES}
        by_part |= variables_over(("part",), **support)
    about_rates: dict[str, Any] = {"task": STUDY_PARTS["rates"]}
    thresholds = in_folds["threshold"].values
    finite = thresholds[np.isfinite(thresholds)]
    if rule.name == "fixed":
        about_rates["fold_thresholds"] = "given"
    elif finite.size:
        about_rates["fold_thresholds"] = f"{finite.min():.6g} to {finite.max():.6g}"
    if "far_low" in rates_of_all or "frr_low" in rates_of_all:
        about_rates |= method.attrs()
        if unshown is None:
            about_rates["interval_of_test"] = "Nadeau and Bengio (approximate) over the folds"
    about_rates |= {f"rates_at_{name}": x for name, x in threshold_with_next(study).items()}
    labels = {"all": "same data", "test": new_people(study)}
    table = {**STUDY, "part": replace(COORDINATES["part"], labels=labels)}
    of_parts = dataset(by_part, table, {"part": np.array(["all", "test"])}, about_rates)
    answers = answers_of_study(study, of_parts, rule, messages, unshown)
    study.attrs.update(message_attrs(answers, study.attrs))
    nodes = {"": study, "rates": of_parts}
    if needed:
        about_needs = {"task": STUDY_PARTS["needs"], "detail": "verbose"}
        if subjects:
            here = counted(subjects, "people")
            if compared is not None:
                here += f", {counted(compared.pairs, 'pairs of people')}"
            about_needs["people_here"] = here
        nodes["needs"] = dataset(needed, STUDY, {"rule": np.array(RULES)}, about_needs)
    return tree_of({**nodes, "folds": in_folds.assign_attrs(detail="verbose")})
