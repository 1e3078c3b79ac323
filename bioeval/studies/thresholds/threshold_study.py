"""Threshold study: a threshold for deployment, its rates with new subjects, and sample sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, get_args

import numpy as np
import xarray as xr

from bioeval import partition
from bioeval.attempts.identification_counter import RankUnit
from bioeval.attempts.threshold_rules import Rule
from bioeval.attempts.thresholds import require_values, to_user
from bioeval.base.arguments import require_integer
from bioeval.base.errors import Argument, DataError, chosen_task
from bioeval.base.messages import Message, messages_of
from bioeval.base.progress import rows_reported
from bioeval.base.random import RandomState
from bioeval.base.registry import names_of
from bioeval.base.scalars import Name
from bioeval.results.dataset import Variables, about_attrs, build
from bioeval.results.layouts import Layout, expanded
from bioeval.results.support import RuleOf
from bioeval.scores.arrays import FusionRule
from bioeval.scores.blocks import BlockReader, require_subjects
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores, are_pairs, codes_of, require_scores
from bioeval.stats.options import IntervalMethod
from bioeval.studies.assurance.assured import (
    ASSURED,
    assured_threshold,
    check_assurance,
    remarks_on,
    require_named_people,
)
from bioeval.studies.assurance.shares import Shares, pair_shares
from bioeval.studies.folds.cross_evaluate import check_task
from bioeval.studies.folds.options import FoldOptions, ThresholdTask
from bioeval.studies.folds.results import Bound, cross_names, fold_dataset
from bioeval.studies.thresholds.counts import (
    ComparisonCounts,
    Counts,
    SearchCounts,
    count_comparisons,
    count_searches,
    number_of_subjects,
)
from bioeval.studies.thresholds.searches import searches_of_people
from bioeval.views.messages import warn_of_kind

STUDY = {
    "threshold": Name("threshold chosen on all data", "score", "threshold T"),
    "optimistic_far": Name("FAR on the data that the threshold was chosen on", iso="FMR"),
    "optimistic_hter": Name("HTER on the data that the threshold was chosen on"),
    "optimistic_frr": Name("FRR on the data that the threshold was chosen on", iso="FNMR"),
    "fold_threshold": Name("threshold chosen on the training part of a fold", "score"),
    "fold_far": Name("FAR on the test part of a fold", iso="FMR"),
    "fold_frr": Name("FRR on the test part of a fold", iso="FNMR"),
    **names_of("verification", "genuine_attempts", "impostor_attempts"),
    "independent_impostors": Name(
        "impostor attempts, each pair of a symmetric matrix once: impostor_pairs", "attempts"
    ),
    **names_of("verification", "impostor_pairs", "subjects", "disjoint_pairs"),
    "unenrolled_people": Name("people of open set who search and are not enrolled", "subjects"),
    "pairs_of_people": Name(
        "pairs of different people that are compared, at most: the rules of 3 and 30 count them",
        "pairs",
    ),
    **ASSURED,
}

for _rate, _iso in (("far", "FMR"), ("frr", "FNMR"), ("hter", "")):
    for _end, _words in (("low", "lower"), ("high", "upper")):
        _long = f"{_words} end of the interval by subject of {_rate.upper()} at this threshold"
        STUDY[f"optimistic_{_rate}_{_end}"] = Name(_long, iso=_iso)

for _rule in ("3", "30"):
    STUDY |= {
        f"subjects_for_{_rule}": Name(
            f"people that the target needs, rule of {_rule}: of a FAR all compared with each "
            "other, templates do not count; of open set, people who are not enrolled",
            "subjects",
        ),
        f"impostors_for_{_rule}": Name(
            f"pairs of people (of open set, searches) required by the rule of {_rule}", "attempts"
        ),
        f"more_for_{_rule}": Name(f"how many of them are missing, rule of {_rule}", "attempts"),
    }


# The statistics of rates on new people.
_ON_NEW = {
    f"{rate}_{key}": entry
    for rate in ("far", "frr", "hter")
    for key, entry in Layout.each_over_folds(cross_names()[rate]).items()
}
STUDY |= _ON_NEW

# Defaults.
FOLDS, REPEATS = 10, 20

_ON_ALL = "all data; its error there is optimistic"

#: Attributes that are those of the evaluation in folds.
_OF_FOLDS = (
    *("splitter", "splitter_class", "splitter_seed"),
    *("confidence", "interval", "threshold_rule", "threshold_rule_in_words"),
)


@leaves_out_attacks
def study_threshold(
    scores: Scores,
    target: Any = "far=0.001",
    *,
    task: ThresholdTask = "verification",
    folds: int | None = None,
    repeats: int | None = None,
    random_state: RandomState = 0,
    fusion: FusionRule = "min",
    rank_unit: RankUnit = "template",
    interval: str | IntervalMethod = "subject-bootstrap",
    assure: float | None = None,
) -> xr.Dataset:
    """Find a threshold for deployment, and the FAR and FRR to expect with new subjects.

    The threshold is chosen on all data. The rates to expect
    are estimated by choosing it many times on some subjects and judging it on the others.

    Parameters
    ----------
    scores : Scores
        A matrix with labels, or a list of pairs, which is divided by its own folds if it has any,
        by its subjects if they are known, else by pair.
    target : float or str
        As `threshold` of :func:`cross_evaluate`: ``"far=0.001"``, ``"eer"`` ...
    task : {"verification", "open_set"}
        ``"open_set"``: searches of a fixed gallery, some of them by people who are not enrolled.
        FAR is the proportion of their searches that raise a false alarm, FRR is 1 - DIR at rank 1,
        and the people who search are divided, while the gallery stays whole.
    folds, repeats : int, optional
        Folds of subjects, and how often they are drawn: 10 and 20 unless given. A list of pairs
        with folds of its own has no others.
    random_state : int, None, numpy.random.SeedSequence, Generator or RandomState
    rank_unit, fusion
        Of open set, as for :func:`bioeval.open_set`.
    interval : "subject-bootstrap" or :class:`bioeval.stats.IntervalMethod`
        Of the rates at the threshold itself; its confidence is that of the other intervals, too.
    assure : float, optional
        A confidence, such as 0.95: find a stricter threshold as well, whose FAR is at most the
        target in people like these with this confidence. The target is a FAR, above 0 and below 1.

    Returns
    -------
    xarray.Dataset
        ``threshold``, and ``optimistic_far``, ``optimistic_frr`` on the data it was chosen on, and
        ``optimistic_hter``, with ``optimistic_far_low`` ... ``optimistic_hter_high``: the rates of
        other subjects of the same population at this very threshold, by the subject bootstrap (NaN
        where the subjects are not known). Expected with new subjects: ``far_mean``, ``far_sd``,
        ``far_pooled``, ``far_low``, ``far_high``, ``far_folds``, and the same of ``frr`` and
        ``hter``. Each fold: ``fold_threshold``, ``fold_far``, ``fold_frr`` over ``repeat, fold``.
        What the data support: ``subjects``, ``pairs_of_people`` (pairs of different people that
        are compared, at most), ``impostor_pairs`` (impostor attempts, each pair of a symmetric
        matrix once; also as ``independent_impostors``), ``disjoint_pairs`` (pairs of subjects of
        which no two share one, on which the bound without an error rests). With a FAR target,
        ``subjects_for_3``, ``subjects_for_30`` (people that the rules of 3 and 30 require, all
        compared with each other), ``impostors_for_3``, ``impostors_for_30`` (their pairs of
        people; impostor pairs, where people are unknown) and ``more_for_3``, ``more_for_30`` (the
        number of these still missing). With a FRR target, ``subjects_for_3``, ``subjects_for_30``.

        Of open set, ``impostor_pairs`` are the searches by people who are not enrolled, in number
        ``unenrolled_people``: the rules count these, and there are no pairs.

        With `assure`: ``assured_threshold``, NaN where none can be promised (:func:`messages` says
        why); ``assured_far``, the mean over pairs of people on these data (of
        open set, over people who are not enrolled),
        ``assured_far_high``, its upper limit, and ``assured_far_attempts``, of all attempts;
        ``assured_frr``, and ``frr_price``, by how much it is larger than ``optimistic_frr``;
        ``assured_people``, the number of people whom the promise rests on;
        and ``people_estimated``, about how many people are needed by a strict threshold, of rates
        ``people_far people_frr``.

    Raises
    ------
    DataError
        Bad options; fewer subjects than folds; a target that cannot be assured.
    ProtocolError
        If the people are not known, which `assure` needs, or if no probe of ``"open_set"`` is of a
        person who is not enrolled in the gallery.

    Notes
    -----
    The loosest threshold with a FAR on the data of at most the target exceeds it in the population
    about every second time. An assured one does with a probability of about ``1 - assure``, as
    measured: see ``docs/uncertainty.md``. That its limit may be looked up at all thresholds in
    turn, from the strictest on, is fixed-sequence testing: Angelopoulos, A. N., and others (2025).
    Learn then test. *Annals of Applied Statistics* 19.

    The rule of 3: n attempts without an error show, at 95 %, an error rate of at most 3 / n. The
    rule of 30: at the rate, 30 errors are expected (Doddington et al. 2000, *Speech Communication*
    31, 225-254), which does not say how exact the rate will be. Both assume independent
    attempts: of a FAR, pairs of people are counted, each once, however many templates it has. They
    share people, so that the rules give the least to ask for.

    Examples
    --------
    >>> import bioeval as be
    >>> ds = be.study_threshold(be.simulate(60, 4, random_state=1), "far=0.01", repeats=5)
    >>> bool(ds.optimistic_far <= 0.01), bool(ds.far_low <= ds.far_mean <= ds.far_high)
    (True, True)
    >>> int(ds.subjects_for_3), int(ds.subjects_for_30)
    (25, 78)
    """
    rule = Rule.parse(target, "target")
    _check_number(scores, "folds", folds, low=2)
    _check_number(scores, "repeats", repeats, low=1)
    folds, repeats = folds or FOLDS, repeats or REPEATS
    require_scores(scores)
    task = chosen_task(task, get_args(ThresholdTask))
    searched = task == "open_set"  # by all enrolled templates of a subject
    if searched:
        scores = searches_of_people(scores)
    if assure is not None:
        assure = check_assurance(assure, rule)
        require_named_people(scores, "an assured threshold")
    require_values(scores, "a threshold")
    options = _fold_options(scores, task, rule, fusion, rank_unit)
    check_task(scores, options)
    method = IntervalMethod.of(interval, ("subject-bootstrap",))
    assert method is not None
    confidence = method.confidence
    reader = BlockReader(scores)
    about = reader.about
    splitter = _splitter(scores, folds, repeats, random_state, task)
    counts: ComparisonCounts | SearchCounts
    remarks: list[Message] = []
    shares: Shares | None = None
    with rows_reported():
        if task == "verification":
            counts = count_comparisons(scores, reader, splitter, options, method)
            remarks += counts.remarks
            studied = "verification"
        else:
            counts = count_searches(scores, reader, splitter, options, method)
            shares = counts.shares
            studied = f"open set, {rank_unit} ranks"
    bound: Bound = "column" if counts.by_subject else ""
    folded = fold_dataset(
        counts.folds, counts.plan.shape, reader.about, options, splitter, confidence, bound=bound
    )
    crossed = expanded(folded)
    variables = _where_chosen(counts, scores.kind)
    variables |= {name: crossed[name].item() for name in _ON_NEW if name in crossed}
    for name in ("threshold", "far", "frr"):
        variables[f"fold_{name}"] = (("repeat", "fold"), crossed[name].values)
    variables |= _needed(counts, rule)
    attrs: dict[str, Any] = {}
    promised = False
    if assure is not None:
        shares = shares or pair_shares(scores, up_to=rule.values[0])
        assured = assured_threshold(shares, rule.values[0], assure)
        values, words = assured.described(scores.kind, variables["optimistic_frr"])
        variables |= values
        attrs |= words | {"assure": assure}
        remarks += remarks_on(assured, scores)
        promised = assured.refusal is None
    attrs |= {name: crossed.attrs[name] for name in _OF_FOLDS if name in crossed.attrs}
    attrs["chosen_on"] = "given" if rule.name == "fixed" else _ON_ALL
    messages = messages_of(crossed.attrs)
    attrs["divided"] = "subjects"
    if searched:
        attrs |= {"rank_unit": rank_unit, "fusion": fusion}
    if not _by_people(scores):
        attrs["divided"] = "pairs"
        messages.append(Message("pairs-divided"))
    messages += remarks
    attrs["optimistic_interval"] = "by resampling subjects, at the same threshold"
    attrs |= {"replicates": method.replicates, "rules_count": counts.RULES_COUNT}
    doubt = None
    if isinstance(counts, ComparisonCounts):
        doubt = counts.doubt(scores, fused=bool(scores._claims))
    if doubt is not None:
        messages.append(doubt)
        warn_of_kind(doubt)
    messages += _reach(counts, rule, promised)
    attrs = about_attrs(about, "threshold-study", f"threshold study, {studied}", messages) | attrs
    coordinates = {name: crossed[name].values for name in ("repeat", "fold")}
    return build(variables, STUDY, coordinates, attrs)


def _check_number(scores: Scores, name: str, number: int | None, *, low: int) -> None:
    """Raise :class:`DataError` for a number of folds below `low`, or beside folds of pairs."""
    if number is None:
        return
    require_integer(name, number, low=low, of_draws=True)
    if are_pairs(scores) and scores.pair_folds is not None:
        raise DataError(Argument(name), f" is {number}, but these pairs define folds; leave it out")


def _where_chosen(counts: Counts, kind: str) -> Variables:
    """Return the threshold to install, with its attempts, units and optimistic rates."""
    chosen, attempts = counts.whole.chosen, counts.whole.test
    genuine, impostor = attempts.genuine_attempts, attempts.impostor_attempts
    far = frr = math.nan
    if chosen.defined:
        fa, fr = attempts.errors_at(chosen.threshold)
        if impostor:
            far = fa / impostor
        if genuine:
            frr = fr / genuine
    variables = {
        "threshold": to_user(chosen.threshold, kind),
        "optimistic_far": far,
        "optimistic_frr": frr,
        "genuine_attempts": genuine,
        "impostor_attempts": impostor,
        "independent_impostors": counts.independent,
        "impostor_pairs": counts.independent,
        **counts.people,
        "optimistic_hter": (far + frr) / 2,
    }
    for rate in ("far", "frr", "hter"):
        _, low, high = counts.by_subject.get(rate, (math.nan, math.nan, math.nan))
        variables |= {f"optimistic_{rate}_low": low, f"optimistic_{rate}_high": high}
    return variables


def _require_units(scores: Scores, folds: int, task: str) -> None:
    """Raise :class:`DataError` where there are fewer subjects, or pairs, than folds."""
    if are_pairs(scores):
        if scores.pair_folds is not None:
            return
    else:
        require_subjects(scores, "a threshold study")
    if task == "open_set":
        number, unit_name = len(np.unique(codes_of(scores).probe)), "subject of probe"
    elif _by_people(scores):
        number, unit_name = number_of_subjects(scores), "subject"
    else:
        number, unit_name = scores.shape[0], "pair"
    if number == 1:
        raise DataError(
            f"there is only one {unit_name}; expected at least one to train on and one to test"
        )
    if number < folds:
        raise DataError(
            Argument("folds"),
            f" is {folds}, but there are only {number} {unit_name}s; each fold needs one to test, "
            f"so give at most {number} folds",
        )


def _fold_options(
    scores: Scores, task: str, rule: Rule, fusion: Any, rank_unit: Any
) -> FoldOptions:
    """Return the evaluation in folds of a study, with the threshold of all data."""
    return FoldOptions(
        task,
        rule,
        fusion=fusion,
        rank_unit=rank_unit,
        impostors="unenrolled",
        kind=scores.kind,
        on_all=True,
    )


def _splitter(
    scores: Scores, folds: int, repeats: int, random_state: RandomState, task: str
) -> Any:
    """Return what divides the people, or the pairs, into folds."""
    _require_units(scores, folds, task)
    if task == "open_set":
        return partition.RepeatedSubjectKFold(
            folds, n_repeats=repeats, random_state=random_state, stratify="enrolled"
        )
    if are_pairs(scores) and scores.pair_folds is not None:
        return partition.PredefinedPairFolds(scores.pair_folds)
    if _by_people(scores):
        return partition.RepeatedSubjectKFold(folds, n_repeats=repeats, random_state=random_state)
    return partition.RepeatedSampleKFold(
        folds, n_repeats=repeats, random_state=random_state, stratify="genuine"
    )


def _by_people(scores: Scores) -> bool:
    """Return whether folds share no subject: else pairs are divided."""
    if not are_pairs(scores):
        return True
    if scores.pair_subjects is None or scores.pair_folds is None:
        return scores.pair_subjects is not None
    codes = scores._pair_codes
    sides = np.concatenate([codes.gallery, codes.probe])
    people = sides[~codes.no_person[sides]].tolist()
    folds = np.tile(scores.pair_folds, 2)[~codes.no_person[sides]].tolist()
    return len(set(zip(people, folds, strict=True))) == len(set(people))


def _needed(counts: ComparisonCounts | SearchCounts, rule: Rule) -> Variables:
    """Return the people that a target needs, and of a FAR their pairs, with those missing."""
    needed: Variables = {}
    if not _limited_by_people(counts, rule):
        return needed
    there = int(counts.there(rule.name))
    for least in (RuleOf(3), RuleOf(30)):
        wanted = least.attempts_for(rule.values[0])
        if counts.subjects:
            needed[f"subjects_for_{least}"] = counts.people_for(wanted, rule.name)
        if rule.name == "far":
            needed[f"impostors_for_{least}"] = wanted
            needed[f"more_for_{least}"] = max(0, wanted - there)
    return needed


def _reach(
    counts: ComparisonCounts | SearchCounts, rule: Rule, promised: bool
) -> Iterator[Message]:
    """Yield a message if the data cannot support the target, or leave it uncertain.

    `promised` is whether there is an assured threshold beside the one that the data alone allow.
    """
    if not _limited_by_people(counts, rule):
        return
    rate, target = rule.name, float(rule.values[0])
    there = counts.there(rate)
    error = {"far": "false accept", "frr": "false reject"}[rate]
    about: dict[str, Any] = {"rate": rate, "target": target}
    if not RuleOf(3).supports(target, there):
        needed = counts.needed(RuleOf(3), rate, target)
        yield Message("target-not-shown", **about, error=error, needed=needed)
    elif not RuleOf(30).supports(target, there):
        code = "unassured-threshold-uncertain" if promised else "threshold-uncertain"
        needed = counts.needed(RuleOf(30), rate, target)
        yield Message(code, **about, errors=f"{error}s", needed=needed)


def _limited_by_people(counts: ComparisonCounts | SearchCounts, rule: Rule) -> bool:
    """Whether the rules of 3 and 30 apply to a target: a FAR, or a FRR of known people."""
    if rule.name not in ("far", "frr") or not rule.values[0] > 0:
        return False
    return counts.limits(rule.name)
