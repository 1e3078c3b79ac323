"""Threshold study: a threshold for deployment, its rates with new subjects, and sample sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import xarray as xr

from bioeval.base.arguments import chosen_task
from bioeval.base.messages import Message, message_attrs, messages_of
from bioeval.base.progress import rows_reported
from bioeval.base.random import RandomState
from bioeval.counting.threshold_rules import Rule, no_such_threshold
from bioeval.counting.thresholds import require_values
from bioeval.protocol.choices import RankUnit
from bioeval.results.attributes import about_attrs
from bioeval.results.dataset import Variables, dataset, threshold_with_next, variables_over
from bioeval.results.support import RULES, beyond_scores
from bioeval.results.trees import STUDY_PARTS, THRESHOLD_STUDY, tree_of
from bioeval.results.variables import (
    COORDINATES,
    FOLDS,
    SUPPORTED,
    VERIFICATION,
    Variable,
    entries,
)
from bioeval.scores.fusion_rules import FusionRule, by_closeness
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import Provenance
from bioeval.scores.requirements import require_scores
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.options import BY_PEOPLE, IntervalMethod, required_interval
from bioeval.studies.assurance.assured import (
    ASSURED,
    Assured,
    assured_threshold,
    check_assurance,
    remarks_on,
    require_named_people,
)
from bioeval.studies.assurance.judged_rates import JudgedAttempts
from bioeval.studies.folds.options import ThresholdTask
from bioeval.studies.thresholds.answers import answers_of_study, new_people
from bioeval.studies.thresholds.study_counts import (
    FOLD_STATISTICS,
    RATES,
    CountedStudy,
    count_comparisons,
    count_searches,
    searches_of_people,
)
from bioeval.studies.thresholds.study_folds import (
    divides_people,
    require_folds,
    splitter_of_study,
    usual_folds,
)
from bioeval.studies.thresholds.study_people import needs_of

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
        scores = searches_of_people(scores)
    if assure is not None:
        assure = check_assurance(assure, rule)
        require_named_people(scores, "an assured threshold")
    require_values(scores, "a threshold")
    method = required_interval(interval, BY_PEOPLE)
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
            curve = JudgedAttempts(scores, assure).far_curve()
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
        rates = counted.rates_by_part()
        messages = [*self._messages(rates), *needs.messages]
        study = self._dataset(rates["frr"][0], messages)
        variables = variables_over(("part",), **rates)
        if needs.variables:
            variables[f"{rule.name}{SUPPORTED}"] = int(needs.are_shown)
        intervals = _attributes_of_intervals(counted, rule, self.method)
        by_part = _rates_by_part(study, variables, intervals)
        answers = answers_of_study(study, by_part, rule, messages)
        study.attrs.update(message_attrs(answers, study.attrs))
        nodes = {"": study, "rates": by_part}
        if needs.variables:
            about = {"task": STUDY_PARTS["needs"], **counted.people.in_words(), "detail": "verbose"}
            nodes["needs"] = dataset(needs.variables, STUDY, {"rule": np.array(RULES)}, about)
        return tree_of({**nodes, "folds": counted.folds.assign_attrs(detail="verbose")})

    def _messages(self, rates: Mapping[str, list[float]]) -> Iterator[Message]:
        """Yield the messages on the folds and the thresholds; `rates` are over the parts."""
        yield from _messages_of_folds(self.counted, self.rule, self.scores, self.notes)
        if self.rule.name == "fixed":
            yield from beyond_scores(self.rule.values[0], rates["far"][0], rates["frr"][0])
        if self.assured is not None:
            yield from remarks_on(self.assured, self.scores)

    def _dataset(self, frr: float, messages: Sequence[Message]) -> xr.Dataset:
        """Return the thresholds; `frr` is the FRR at the threshold by the rule."""
        scores, search_options = self.scores, self.search_options
        variables = self.counted.variables_of_all_data(scores.kind)
        attrs = _attributes_of_folds(self.counted, self.rule, scores, self.method)
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


def _attributes_of_folds(
    counted: CountedStudy, rule: Rule, scores: Scores, method: IntervalMethod
) -> dict[str, Any]:
    fold_attrs = counted.folds.attrs
    attrs: dict[str, Any] = {x: fold_attrs[x] for x in _FOLD_ATTRIBUTES if x in fold_attrs}
    attrs["chosen_on"] = "given" if rule.name == "fixed" else _CHOSEN_ON_ALL
    attrs["divided"] = "subjects" if divides_people(scores) else "pairs"
    if method.resamples:
        attrs["replicates"] = method.replicates
    return attrs


def _messages_of_folds(
    counted: CountedStudy, rule: Rule, scores: Scores, notes: Sequence[Message]
) -> Iterator[Message]:
    has_no_threshold = counted.attempts.defined and not counted.chosen.defined
    for message in (*messages_of(counted.folds.attrs), *notes):
        if not (has_no_threshold and message.code == "undefined-in-parts"):
            yield message
    if not divides_people(scores):
        yield Message("pairs-divided")
    yield from counted.messages
    if has_no_threshold:
        yield Message("no-threshold", why=no_such_threshold(rule, counted.attempts))


def _rates_by_part(
    study: xr.Dataset, variables: Variables, attributes: Mapping[str, Any]
) -> xr.Dataset:
    about = {"task": STUDY_PARTS["rates"], **attributes}
    about |= {x: study.attrs[x] for x in ("rank_unit",) if x in study.attrs}  # of searches
    about |= {f"rates_at_{name}": value for name, value in threshold_with_next(study).items()}
    labels = {"all": "same data", "test": new_people(study)}
    table = {**STUDY, "part": replace(COORDINATES["part"], labels=labels)}
    return dataset(variables, table, {"part": np.array(["all", "test"])}, about)


def _attributes_of_intervals(
    counted: CountedStudy, rule: Rule, method: IntervalMethod
) -> dict[str, str | int | float]:
    attrs: dict[str, str | int | float] = {}
    thresholds = counted.folds["threshold"].values
    finite = thresholds[np.isfinite(thresholds)]
    if rule.name == "fixed":
        attrs["fold_thresholds"] = "given"
    elif finite.size:
        attrs["fold_thresholds"] = f"{finite.min():.6g} to {finite.max():.6g}"
    if "far_low" in counted.rates or "frr_low" in counted.rates:
        attrs |= method.attrs()
        attrs["interval_of_test"] = "Nadeau and Bengio (approximate) over the folds"
    return attrs
