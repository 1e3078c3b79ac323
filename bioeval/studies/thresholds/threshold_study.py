"""Threshold study: a threshold for deployment, its rates with new subjects, and sample sizes."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import xarray as xr

from bioeval import DataError, ProtocolError, Scores, open_set, partition, verification
from bioeval.base import (
    Argument,
    Client,
    Name,
    RandomState,
    chosen_task,
    names_of,
    require_integer,
    rows_reported_to,
    stage,
)
from bioeval.document import Message, messages_of
from bioeval.evaluation import digest_of_data, distributable
from bioeval.results import (
    ComparedPeople,
    KindVerdict,
    Layout,
    RuleOf,
    Variables,
    about_attrs,
    attrs_of_data,
    build,
    expanded,
)
from bioeval.scores import (
    BlockReader,
    Enrol,
    FusionRule,
    Progress,
    are_pairs,
    codes_of,
    knows_people,
    leaves_out_attacks,
    require_scores,
    require_subjects,
    threads_for,
)
from bioeval.stats import IntervalOptions, limits_of_claims
from bioeval.studies.assurance.assured import (
    ASSURED,
    Shares,
    assured_threshold,
    check_assurance,
    require_named_people,
)
from bioeval.studies.assurance.pairs_of_people import ClaimShares, SearchShares
from bioeval.studies.assurance.promise import ASSURANCES, AssuranceRule
from bioeval.studies.folds.cross_evaluate import check_task
from bioeval.studies.folds.folds import (
    assured_folds,
    assured_folds_of_claims,
    attempts_by_subject,
    parts_of_claims,
    verify,
)
from bioeval.studies.folds.intervals import PooledRates
from bioeval.studies.folds.options import Assurance, FoldOptions, ThresholdTask
from bioeval.studies.folds.parts import Searched
from bioeval.studies.folds.results import (
    Bound,
    Ends,
    Fold,
    cross_names,
    ends_by_subject,
    fold_dataset,
    refusals,
)
from bioeval.studies.folds.splits import PairSides, SplitPlan, SplitSides, plan_of, plan_of_scores
from bioeval.tallies import (
    IdentificationCounter,
    Judged,
    ListedClaims,
    RankUnit,
    Rule,
    Templates,
    Use,
    count_together,
    is_symmetric,
    list_claims,
    parse_use,
    require_use_of_searches,
    require_values,
    scores_in_use,
    to_user,
)
from bioeval.views import warn_of_kind

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

_ASSURED_ON_NEW: list[str] = []
for _rate, _iso in (("far", "FMR"), ("frr", "FNMR")):
    _long = f"{_rate.upper()} on new people at assured thresholds, first division"
    for _key, _entry in Layout.each_over_folds(Name(_long, iso=_iso)).items():
        _ASSURED_ON_NEW.append(f"assured_{_rate}_{_key}")
        STUDY[f"new_assured_{_rate}_{_key}"] = _entry

THRESHOLDS = ("threshold", "assured_threshold")
RATES = ("far", "frr", "hter")

# Defaults.
FOLDS, REPEATS = 10, 20

_ON_ALL = "all data; its error there is optimistic"

#: Attributes that are those of the evaluation in folds.
_OF_FOLDS = (
    *("splitter", "splitter_class", "splitter_seed"),
    *("confidence", "interval", "threshold_rule", "threshold_rule_in_words"),
)


@leaves_out_attacks
@distributable
def study_threshold(
    scores: Scores,
    target: Any = ("far", 0.001),
    *,
    task: ThresholdTask = "verification",
    folds: int | None = None,
    repeats: int | None = None,
    random_state: RandomState = 0,
    templates: Templates = "single",
    fusion: FusionRule = "min",
    attempts: str | None = None,
    enrol: Enrol = None,
    rank_unit: RankUnit = "template",
    confidence: float = 0.95,
    replicates: int = IntervalOptions.REPLICATES,
    assure: float | None = None,
    assurance: AssuranceRule = "estimated",
    new_gallery: bool = False,
    progress: Progress | None = None,
    client: Client | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> xr.Dataset:
    """Find a threshold for deployment, and the FAR and FRR to expect with new subjects.

    The threshold is chosen on all data. The rates to expect
    are estimated by choosing it many times on some subjects and judging it on the others.

    Parameters
    ----------
    scores : Scores
        A matrix with labels, or a list of pairs, which is divided by its own folds if it has any,
        by its subjects if they are known, else by pair.
    target : str or tuple
        As `threshold` of :func:`cross_evaluate`: ``("far", 0.001)``, ``"eer"`` ...
    task : {"verification", "open_set"}
        ``"open_set"``: searches of a fixed gallery, some of them by people who are not enrolled.
        FAR is the proportion of their searches that raise a false alarm, FRR is 1 - DIR at rank 1,
        and the people who search are divided, while the gallery stays whole.
    folds, repeats : int, optional
        Folds of subjects, and how often they are drawn: 10 and 20 unless given. A list of pairs
        with folds of its own has no others.
    random_state : int, None, numpy.random.SeedSequence, Generator or RandomState
    templates, fusion
        As for :func:`bioeval.verification`.
    attempts : str, optional
        A metadata column of the probes: all probes of a subject with the same value are tries of
        one attempt, accepted if any of them is. Of verification only.
    enrol : int or str, optional
        Which templates of each subject are enrolled; all unless given. A number: that many, any of
        them; rates are means over all choices, made once an attempt, the same for all its tries.
        ``"first:3"``: the first three in the order of the gallery, ``"first:3:taken"`` in that of a
        metadata column; in a matrix of all templates against all the others are the probes.
    rank_unit, fusion
        Of open set, as for :func:`bioeval.open_set`.
    confidence : float
        Confidence level of the intervals.
    replicates : int
        Bootstrap replicates, for the intervals of the rates at the threshold itself.
    assure : float, optional
        A confidence, such as 0.95: find a stricter threshold as well, whose FAR is at most the
        target in people like these with this confidence. The target is a FAR, above 0 and below 1.
    assurance : {"estimated", "guaranteed"}
        ``"estimated"`` is the less strict; how often it is broken was measured in simulations.
        ``"guaranteed"`` holds for any population, and needs more people.
    new_gallery : bool
        Of a gallery of other people than the probes: whether the assurance is to hold for other
        galleries too, of people like its own.
    progress, client, checkpoint
        As for :func:`tally`.

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
        ``people_needed``, with which the guaranteed rule could promise the target at all, if no
        impostor attempt were accepted, and ``people_estimated`` and ``people_guaranteed``, about
        how many each rule needs by a strict threshold, of rates ``people_far people_frr``. Over
        ``assurance``, of both rules: ``promised_threshold promised_far promised_far_high
        promised_frr promised_people``. Of verification also ``new_assured_far_mean`` ...
        ``new_assured_frr_folds``, as of ``far``: expected with new subjects at assured thresholds,
        over the first division.

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
    about every second time. An assured one does with a probability of at most ``1 - assure`` by the
    guaranteed rule, and of about as much, as measured, by the estimated rule: see
    ``docs/uncertainty.md``. The guaranteed limit is that of Hoeffding (1963) for U-statistics,
    *Journal of the American Statistical Association* 58, 13-30; that it may be looked up at all
    thresholds in turn, from the strictest on, is fixed-sequence testing: Angelopoulos, A. N., and
    others (2025). Learn then test. *Annals of Applied Statistics* 19.

    The rule of 3: n attempts without an error show, at 95 %, an error rate of at most 3 / n. The
    rule of 30: at the rate, 30 errors are expected (Doddington et al. 2000, *Speech Communication*
    31, 225-254), which does not say how exact the rate will be. Both assume independent
    attempts: of a FAR, pairs of people are counted, each once, however many templates it has. They
    share people, so that the rules give the least to ask for.

    Examples
    --------
    >>> import bioeval as be
    >>> ds = be.study_threshold(be.simulate(60, 4, random_state=1), ("far", 0.01), repeats=5)
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
    use = parse_use(attempts, "multi" if searched else templates, fusion, enrol, random_state)
    if searched:
        require_use_of_searches(use)
        of_digest = searches_of_people(scores)
        scores = use.enrol.applied(of_digest)
    else:
        of_digest, scores = scores, scores_in_use(scores, use)
    if assure is not None:
        assure = check_assurance(assure, assurance, rule)
        require_named_people(scores, "an assured threshold")
    require_values(scores, "a threshold")
    options = _fold_options(scores, task, rule, templates, fusion, rank_unit)
    confidence = IntervalOptions.check_confidence(confidence)
    check_task(scores, options)
    interval = IntervalOptions.parse("subject-bootstrap", confidence, replicates, random_state)
    assert interval is not None
    reader = BlockReader(scores)
    about = reader.about
    splitter = _splitter(scores, folds, repeats, random_state, task)
    counts: _ComparisonCounts | _SearchCounts
    remarks: list[Message] = []
    shares: Shares | None = None
    with rows_reported_to(progress):
        if task == "verification" and not use.is_plain:
            counts, reader = _listed(scores, use, splitter, options, interval)
            remarks += counts.remarks
            studied = f"{templates}-template"
            shares = ClaimShares(scores, counts.claims, new_gallery=new_gallery)
        elif task == "verification":
            counts = _comparisons(scores, reader, splitter, options, interval)
            remarks += counts.remarks
            studied = f"{templates}-template"
        else:
            counts = _searches(scores, reader, splitter, options, interval)
            shares = counts.shares
            studied = f"open set, {rank_unit} ranks"
    reader.note_failure_codes()
    bound: Bound = "column" if counts.by_subject else ""
    folded = fold_dataset(
        counts.folds, counts.plan.shape, reader.about, options, splitter, confidence, bound=bound
    )
    crossed = expanded(folded)
    variables = _where_chosen(counts, scores.kind)
    variables |= {name: crossed[name].item() for name in _ON_NEW}
    for name in ("threshold", "far", "frr"):
        variables[f"fold_{name}"] = (("repeat", "fold"), crossed[name].values)
    variables |= _needed(counts, rule)
    attrs: dict[str, Any] = {}
    promised = False
    if assure is not None:
        assured = assured_threshold(
            scores,
            rule.values[0],
            assure,
            assurance,
            shares=shares,
            templates=templates,
            fusion=fusion,
            new_gallery=new_gallery,
        )
        values, words = assured.described(scores.kind, variables["optimistic_frr"])
        variables |= values
        attrs |= words | {"assure": assure, "assurance": assurance}
        remarks += assured.messages
        if new_gallery and not assured.resamples_gallery:
            why = "some people of the gallery are also probes, so that both sides are resampled"
            if searched:
                why = "the promise of searches is for this gallery"
            remarks.append(Message("new-gallery-not-used", why=why))
        promised = assured.refusal is None
        if isinstance(counts, _ComparisonCounts) and promised:
            how = Assurance.parse(assure, assurance, rule)
            on_new, refused = _assured_on_new(
                scores, counts, how, options, about, splitter, confidence
            )
            variables |= on_new
            remarks += refused
    elif new_gallery:
        why = "it is about the people for whom a promise holds, and none is asked for"
        remarks.append(Message("new-gallery-not-used", why=why))
    attrs |= {name: crossed.attrs[name] for name in _OF_FOLDS if name in crossed.attrs}
    attrs["chosen_on"] = "given" if rule.name == "fixed" else _ON_ALL
    messages = messages_of(crossed.attrs)
    attrs["divided"] = "subjects"
    if not use.is_plain or use.enrol.number:
        attrs |= attrs_of_data(of_digest)
    attrs |= use.attrs()
    if task == "verification":
        attrs |= {"templates": templates, "fusion": fusion}
    else:
        attrs |= {"rank_unit": rank_unit, "fusion": fusion}
    if isinstance(counts, _ListedCounts):
        attrs["most_tries"] = counts.claims.most_tries
    if not _by_people(scores):
        attrs["divided"] = "pairs"
        messages.append(Message("pairs-divided"))
    messages += remarks
    attrs["optimistic_interval"] = "by resampling subjects, at the same threshold"
    attrs |= {"replicates": interval.replicates, "rules_count": counts.RULES_COUNT}
    doubt = None
    if isinstance(counts, _ComparisonCounts):
        doubt = counts.doubt(scores, fused=templates == "multi")
    if doubt is not None:
        messages.append(doubt)
        warn_of_kind(doubt)
    messages += _reach(counts, rule, promised)
    attrs = about_attrs(about, "threshold-study", f"threshold study, {studied}", messages) | attrs
    coordinates = {name: crossed[name].values for name in ("repeat", "fold")}
    if assure is not None:
        coordinates["assurance"] = np.array(ASSURANCES, dtype=object)
    study = build(variables, STUDY, coordinates, attrs)
    digest = digest_of_data(
        of_digest
    )  # also in the thresholds: a claim about them needs other data
    for part in (study, *(study[name] for name in THRESHOLDS if name in study)):
        part.attrs["data_digest"] = digest
    return study


@dataclass(frozen=True)
class _Counts:
    """Data of a study: attempts in folds and on all data, the people, and their resamples."""

    plan: SplitPlan
    folds: dict[tuple[int, int], Fold]
    whole: Judged
    by_subject: dict[str, Ends]
    independent: int  # impostor attempts, each pair of a symmetric matrix once
    people: Variables  # numbers of people and of what is independent
    subjects: int  # people whose number makes the impostor attempts; 0 if unknown


@dataclass(frozen=True)
class _ComparisonCounts(_Counts):
    """Data of a study of verification: the rules of 3 and 30 count pairs of people of a FAR."""

    RULES_COUNT = "pairs of people, each once, however many templates it has"

    sides: SplitSides | PairSides
    compared: ComparedPeople | None  # where people are known
    remarks: Sequence[Message]

    def limits(self, rate: str) -> bool:
        """Whether the number of people limits a rate."""
        return rate == "far" or self.subjects > 0

    def there(self, rate: str) -> float:
        """Return what there is of what the rules count."""
        if rate == "frr":
            return self.subjects
        if self.compared is None:
            return self.independent
        return min(self.independent, self.compared.pairs)

    def people_for(self, attempts: int, rate: str) -> int:
        """Return the people that a number of attempts needs."""
        return ComparedPeople.least_with(attempts) if rate == "far" else attempts

    def needed(self, least: RuleOf, rate: str, target: float) -> dict[str, int]:
        """Return what a rule needs: people, or impostor pairs where these are fewer."""
        wanted = least.attempts_for(target)
        if rate == "frr":
            return {"people": wanted}
        if self.compared is None or self.compared.pairs > self.independent:
            return {"impostor pairs": wanted}
        enough = ComparedPeople.least_with(wanted)
        if enough <= self.compared.number:
            return {"pairs of people": wanted}
        return {"people": enough, "pairs": wanted}

    def doubt(self, scores: Scores, *, fused: bool) -> Message | None:
        """Return a doubt of the kind of the scores."""
        genuine = self.whole.test.genuine_attempts
        people = min(self.subjects or genuine, genuine)
        eer = self.whole.test.about_equal_error()
        return KindVerdict.doubt(eer, scores.kind, people, fused=fused, metric=scores._metric)


@dataclass(frozen=True)
class _ListedCounts(_ComparisonCounts):
    """Data of a study of verification with several tries, or with some of the templates."""

    claims: ListedClaims


@dataclass(frozen=True)
class _SearchCounts(_Counts):
    """Data of a study of open set: the rules of 3 and 30 count people who are not enrolled."""

    RULES_COUNT = "people who are not enrolled, each once, however often a person searches"

    shares: SearchShares

    def limits(self, rate: str) -> bool:
        """Whether the number of people limits a rate."""
        return rate == "far"

    def there(self, rate: str) -> float:
        """Return what there is of what the rules count."""
        return self.subjects

    def people_for(self, attempts: int, rate: str) -> int:
        """Return the people that a number of attempts needs."""
        return attempts

    def needed(self, least: RuleOf, rate: str, target: float) -> dict[str, int]:
        """Return what a rule needs: people who are not enrolled."""
        return {"people who are not enrolled": least.attempts_for(target)}


def _comparisons(
    scores: Scores,
    reader: BlockReader,
    splitter: Any,
    options: FoldOptions,
    interval: IntervalOptions,
) -> _ComparisonCounts:
    """Count verification."""
    plan, sides = plan_of_scores(scores, splitter)
    folds, whole = verify(reader, plan, sides, options)
    assert whole is not None
    independent, subjects = whole.test.impostor_attempts, _subjects(scores)
    if options.templates == "single" and is_symmetric(scores):
        independent //= 2
    by_subject, remarks = _by_subject(scores, whole, options.templates, options.fusion, interval)
    people, compared = _people(scores, subjects)
    if knows_people(scores):
        attempts = attempts_by_subject(scores, options.templates, options.fusion)
        people["disjoint_pairs"] = attempts.disjoint_pairs
    return _ComparisonCounts(
        plan=plan,
        folds=folds,
        whole=whole,
        by_subject=by_subject,
        independent=independent,
        people=people,
        subjects=subjects,
        sides=sides,
        compared=compared,
        remarks=remarks,
    )


def _people(scores: Scores, subjects: int) -> tuple[Variables, ComparedPeople | None]:
    """Return the numbers of people and of their pairs, where they are known."""
    people: Variables = {}
    if subjects:
        people["subjects"] = subjects
    compared = ComparedPeople.of_scores(scores)
    if compared is not None:
        people["pairs_of_people"] = compared.pairs
    return people, compared


def _listed(
    scores: Scores, use: Use, splitter: Any, options: FoldOptions, interval: IntervalOptions
) -> tuple[_ListedCounts, BlockReader]:
    """Count verification in use, whose claims are listed."""
    plan, sides = plan_of_scores(scores, splitter)
    assert isinstance(sides, SplitSides)  # tries and enrolled templates are of a matrix
    claims, remarks, reader = list_claims(scores, use)
    rule = options.distance_rule
    every: Any = claims  # claims are attempts whose scores have chances
    whole = Judged(claims.chosen_by(rule), every, every)
    subjects = _subjects(scores)
    people, compared = _people(scores, subjects)
    people["disjoint_pairs"] = claims.disjoint_pairs
    by_subject: dict[str, Ends] = {}
    if whole.chosen.defined:
        pooled = PooledRates(scores.subjects.tolist(), interval)
        pooled.add_listed(claims, whole.chosen.threshold)
        limits = {}
        if math.isfinite(whole.chosen.threshold):
            at = np.array([whole.chosen.threshold])
            rates = _rates_at(claims, whole.chosen.threshold)
            for rate, (low, high) in limits_of_claims(claims, at, interval).items():
                limits[rate] = rates[rate], float(low[0]), float(high[0])
        by_subject = ends_by_subject(pooled, limits)
        remarks += pooled.remarks()
    folds = {}
    for place in plan.places:
        train: Any
        test: Any
        train, test = parts_of_claims(claims, scores, sides, plan.split(place))
        judged = Judged(train.chosen_by(rule), train, test)
        folds[place] = Fold.of_judged(judged, sides.sizes(plan.split(place)))
    counts = _ListedCounts(
        plan=plan,
        folds=folds,
        whole=whole,
        by_subject=by_subject,
        independent=claims.impostor_attempts,
        people=people,
        subjects=subjects,
        sides=sides,
        compared=compared,
        remarks=remarks,
        claims=claims,
    )
    return counts, reader


def _rates_at(claims: ListedClaims, threshold: float) -> dict[str, float]:
    """Return FAR and FRR of claims at a threshold; NaN where a class has no claim."""
    fa, fr = claims.errors_at(threshold)
    far, frr = math.nan, math.nan
    if claims.impostor_attempts:
        far = fa / claims.impostor_attempts
    if claims.genuine_attempts:
        frr = fr / claims.genuine_attempts
    return {"far": float(far), "frr": float(frr)}


def _searches(
    scores: Scores,
    reader: BlockReader,
    splitter: Any,
    options: FoldOptions,
    interval: IntervalOptions,
) -> _SearchCounts:
    """Count searches of a fixed gallery."""
    searches = Searches(scores, reader, options)
    plan, whole = searches.plan(splitter), searches.judge_all()
    by_subject = {}
    if whole.chosen.defined and math.isfinite(whole.chosen.threshold):
        by_subject = _by_searcher(scores, whole, options, interval)
    unenrolled = searches.unenrolled_people
    return _SearchCounts(
        plan=plan,
        folds=searches.folds(plan),
        whole=whole,
        by_subject=by_subject,
        independent=whole.test.impostor_attempts,
        people={"subjects": searches.people, "unenrolled_people": unenrolled},
        subjects=unenrolled,
        shares=searches.shares(),
    )


def _check_number(scores: Scores, name: str, number: int | None, *, low: int) -> None:
    """Raise :class:`DataError` for a number of folds below `low`, or beside folds of pairs."""
    if number is None:
        return
    require_integer(name, number, low=low, of_draws=True)
    if are_pairs(scores) and scores.pair_folds is not None:
        raise DataError(Argument(name), f" is {number}, but these pairs define folds; leave it out")


def _assured_on_new(
    scores: Scores,
    counts: _ComparisonCounts,
    assurance: Any,
    options: FoldOptions,
    about: Any,
    splitter: Any,
    confidence: float,
) -> tuple[Variables, list[Message]]:
    """Return the rates at assured thresholds on the test parts of the first division."""
    plan = counts.plan
    first = [place for place in plan.places if place[0] == 0]
    if isinstance(counts, _ListedCounts):
        assert isinstance(counts.sides, SplitSides)
        listed = {}
        for place in first:
            listed[place] = parts_of_claims(counts.claims, scores, counts.sides, plan.split(place))
        made = assured_folds_of_claims(scores, listed, assurance)
    else:
        parts = {place: counts.sides.views(plan.split(place)) for place in first}
        made = assured_folds(parts, assurance, options.templates, options.fusion)
    folds = {place: replace(counts.folds[place], assured=fold) for place, fold in made.items()}
    shape = 1, plan.shape[1]
    dataset = expanded(fold_dataset(folds, shape, about, options, splitter, confidence))
    rates: Variables = {f"new_{name}": ((), dataset[name].item()) for name in _ASSURED_ON_NEW}
    return rates, refusals([*made.values()], "fold")


def _where_chosen(counts: _Counts, kind: str) -> Variables:
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
    for rate in RATES:
        _, low, high = counts.by_subject.get(rate, (math.nan, math.nan, math.nan))
        variables |= {f"optimistic_{rate}_low": low, f"optimistic_{rate}_high": high}
    return variables


@stage("bootstrap")
def _by_subject(
    scores: Scores, whole: Judged, templates: str, fusion: str, interval: IntervalOptions
) -> tuple[dict[str, Ends], Sequence[Message]]:
    """Return the bootstrapped rates at the threshold chosen on all data, and warnings."""
    if not whole.chosen.defined:
        return {}, []
    if not knows_people(scores):
        return {}, [Message("no-interval-by-subject", pattern=str(scores._subject_pattern))]
    pooled = PooledRates(scores.subjects.tolist(), interval)
    with threads_for(scores):
        pooled.add(attempts_by_subject(scores, templates, fusion), whole.chosen.threshold)
    if not math.isfinite(whole.chosen.threshold):
        return ends_by_subject(pooled), pooled.remarks()
    checked: Any = {"interval": interval.method, "templates": templates, "fusion": fusion}
    there = verification(
        scores,
        **checked,
        thresholds=[to_user(whole.chosen.threshold, scores.kind)],
        auc=False,
        confidence=interval.confidence,
        replicates=interval.replicates,
        random_state=interval.seed,
    )
    # One threshold of a curve, which shows how errors are correlated where few people err.
    return ends_by_subject(pooled, _limits_there(there)), pooled.remarks()


@stage("bootstrap")
def _by_searcher(
    scores: Scores, whole: Judged, options: FoldOptions, interval: IntervalOptions
) -> dict[str, Ends]:
    """Return FAR and FRR of open set at the threshold chosen on all data, with their limits."""
    checked: Any = {
        "rank_unit": options.rank_unit,
        "fusion": options.fusion,
        "ties": options.ties,
        "impostors": options.impostors,
        "interval": interval.method,
    }
    there = open_set(
        scores,
        **checked,
        thresholds=[to_user(whole.chosen.threshold, scores.kind)],
        max_rank=1,
        confidence=interval.confidence,
        replicates=interval.replicates,
        random_state=interval.seed,
    )
    return _limits_there(there)


def _limits_there(there: xr.Dataset) -> dict[str, Ends]:
    """Return FAR and FRR of a result at its one threshold, with their limits."""
    limits = {}
    for rate in RATES[:2]:
        low, high = there[f"{rate}_low"].item(), there[f"{rate}_high"].item()
        limits[rate] = there[rate].item(), low, high
    return limits


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
        number, unit_name = _subjects(scores), "subject"
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
    scores: Scores, task: str, rule: Rule, templates: Any, fusion: Any, rank_unit: Any
) -> FoldOptions:
    """Return the evaluation in folds of a study, with the threshold of all data."""
    return FoldOptions(
        task,
        rule,
        templates,
        fusion,
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
    folds = [*scores.pair_folds.tolist()] * 2
    people = scores.pair_subjects.T.ravel().tolist()
    return len(set(zip(people, folds, strict=True))) == len(set(people))


def _needed(counts: _ComparisonCounts | _SearchCounts, rule: Rule) -> Variables:
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


def _subjects(scores: Scores) -> int:
    if are_pairs(scores):
        return len(scores.subjects)
    return len(np.unique(SplitSides(scores).subject))


def _reach(
    counts: _ComparisonCounts | _SearchCounts, rule: Rule, promised: bool
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


def _limited_by_people(counts: _ComparisonCounts | _SearchCounts, rule: Rule) -> bool:
    """Whether the rules of 3 and 30 apply to a target: a FAR, or a FRR of known people."""
    if rule.name not in ("far", "frr") or not rule.values[0] > 0:
        return False
    return counts.limits(rule.name)


def searches_of_people(scores: Scores) -> Scores:
    """Return the searches of people; distractors and junk stay in the gallery.

    Raise :class:`ProtocolError` unless people who are not enrolled search a gallery.
    """
    wanted = (
        "a threshold of open set is for searches of a fixed gallery by people who are not enrolled"
    )
    if are_pairs(scores) or scores.layout != "probe-against-gallery":
        raise ProtocolError(
            f"{wanted}; of {scores.layout} the FAR depends on all who are enrolled at once. Give "
            "probes and a gallery"
        )
    people = scores._probe_people >= 0
    if np.isin(codes_of(scores).probe, codes_of(scores).gallery)[people].all():
        raise ProtocolError(f"{wanted}; all people of these probes are enrolled. Give others, too")
    if people.all():
        return scores
    return scores.select(probes=np.flatnonzero(people))


class Searches:
    """One search of each probe: distance and rank of its mate, or distance of the nearest other.

    - `person` (int64 (m,)): the person of each probe
    - `mated`, `unmated` (int64): probes of people who are enrolled and have a usable mate, and of
      people who are not enrolled
    - `mate`, `ranks`, `other`: of `mated` the distance and the rank of the mate, of `unmated` the
      distance of the nearest
    """

    def __init__(self, scores: Scores, reader: BlockReader, options: FoldOptions):
        """Search for each probe in the whole gallery."""
        (tally,) = count_together(reader, [IdentificationCounter(reader, options.search())])
        enrolled = np.unique(codes_of(scores).gallery)
        self.options, self.gallery = options, int((~scores._no_person[enrolled]).sum())
        self.person = codes_of(scores).probe
        mated = np.flatnonzero(tally.mates > 0)
        self.mated, ranks, _ = tally.rank_weights(mated, options.ties)
        self.ranks, self.mate = np.rint(ranks).astype(np.int64), tally.mate[self.mated]
        self.unmated = tally.impostor_probes("unenrolled")
        self.other = tally.other[self.unmated]

    def shares(self) -> SearchShares:
        """Return the proportions of false alarms, of each person who is not enrolled."""
        genuine = np.where(self.ranks == 1, self.mate, np.inf)
        return SearchShares(self.other, self.person[self.unmated], genuine)

    @property
    def people(self) -> int:
        """Number of people who search."""
        return len(np.unique(self.person))

    @property
    def unenrolled_people(self) -> int:
        """Number of people who search and are not enrolled."""
        return len(np.unique(self.person[self.unmated]))

    def plan(self, splitter: Any) -> SplitPlan:
        """Divide the people who search; those enrolled and those not enrolled alike."""
        enrolled = np.isin(self.person, self.person[self.mated])
        meta = {"enrolled": np.where(enrolled, "yes", "no")}
        return plan_of(splitter, len(self.person), self.person, None, meta)

    def part(self, probes: np.ndarray) -> Searched:
        """Return the searches of some probes."""
        inside = np.zeros(len(self.person), dtype=bool)
        inside[probes] = True
        mated = inside[self.mated]
        number = int(np.count_nonzero(mated))
        return Searched(
            mate=self.mate[mated],
            ranks=self.ranks[mated],
            weights=np.ones(number),
            other=self.other[inside[self.unmated]],
            genuine=number,
            gallery=self.gallery,
        )

    def judge_all(self) -> Judged:
        """Choose a threshold on all searches, and count them at it."""
        attempts = self.part(np.arange(len(self.person))).attempts()
        return Judged.of_listed(attempts, attempts, self.options.distance_rule)

    def folds(self, plan: SplitPlan) -> dict[tuple[int, int], Fold]:
        """Choose a threshold on the searches of some people, and judge it on those of others."""
        folds = {}
        for place in plan.places:
            split = plan.split(place)
            train, test = self.part(split.train), self.part(split.test)
            rule = self.options.distance_rule
            judged = Judged.of_listed(train.attempts(), test.attempts(), rule)
            made = Fold.of_judged(judged, split.sizes(self.person))
            folds[place] = made.with_searches(train, test, self.options.ranks)
        return folds
