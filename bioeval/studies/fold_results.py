"""What is asked of an evaluation over folds, and its result.

:class:`FoldOptions` has the task, the rule of the threshold, and the operating points. A fold has
two parts: the threshold is chosen on the training part, and judged on both. From the numbers of
each fold, :func:`fold_dataset` makes the dataset over repeat, fold and part::

    threshold  (repeat, fold)          chosen on the training part
    far, frr   (repeat, fold, part)    at this threshold
    eer        (repeat, fold)          of the test part by itself

and adds messages on folds without attempts, on ties, and on what the data do not support.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
import xarray as xr

from bioeval import partition
from bioeval.base.arguments import chosen_task, require_array, require_choice
from bioeval.base.errors import DataError, Message, ProtocolError, received
from bioeval.base.kinds import Kind
from bioeval.counting.operating_points import COST_LABELS, AttemptsOfParts
from bioeval.counting.searches import role_of
from bioeval.counting.threshold_rules import PointsWanted, Rule, point_values
from bioeval.counting.thresholds import require_values, to_user
from bioeval.counting.verification import Use
from bioeval.partition.any_splitter import record_of
from bioeval.protocol.tasks import OpenSet, PlainTies
from bioeval.results.attributes import about_attrs
from bioeval.results.beyond_scores import beyond_scores, following_scores
from bioeval.results.dataset import FIRST, Variables, dataset, rates_of, variables_over
from bioeval.results.support import independent_searches, support_messages, supported
from bioeval.results.variables import (
    FOLDS,
    NEXT,
    SUPPORTED,
    TASKS,
    VERIFICATION,
    Variable,
    described,
    rates_of_folds,
    rates_of_scripts,
)
from bioeval.scores.matrix import Scores, require_subjects
from bioeval.scores.people import ComparedPeople
from bioeval.scores.provenance import Provenance
from bioeval.stats.aggregate import attrs_of_interval
from bioeval.stats.options import IntervalMethod
from bioeval.stats.weighted_sums import ratio
from bioeval.studies.splits import SplitPlan

#: The numbers of the splits of a plan, as arrays by name. Splits are in the order of `plan.splits`,
#: parts in the order of :data:`PARTS`.
#:
#: Arrays over (split, part, ...):
#:
#: - ``subjects``
#: - verification and open set: ``genuine_attempts impostor_attempts ga fr fa gr``; decisions are 0
#:   without a threshold
#: - drawn claims: ``fa_unenrolled unenrolled_attempts``
#: - open set: ``di`` (exactly at each rank) and ``detected`` (up to each rank)
#: - closed set: ``attempts skipped``, and ``cms_count`` at each rank
#: - open and closed set: ``gallery_subjects``
#:
#: Arrays over (split, ...):
#:
#: - ``threshold`` and ``threshold_next`` (distances), ``defined`` (whether there is a threshold)
#: - the operating points of the test part by itself
#: - ``crossing_pairs``
#: - open set: ``searching``, the people of the test part who search without a mate
#: - for messages: ``shared_subjects`` (in both parts), and ``tied`` (searches of the test part)
Numbers = dict[str, np.ndarray]

#: The default ranks of DIR and CMS.
RANKS = (1, 5, 10)

#: The tasks that have a threshold.
ThresholdTask = Literal["verification", "open_set"]

FoldTask = Literal[ThresholdTask, "closed_set"]
FOLD_TASKS: tuple[FoldTask, ...] = get_args(FoldTask)


@dataclass(frozen=True)
class FoldOptions:
    """Task, threshold rule and attempts of an evaluation in folds; checked when it is made.

    - `ranks`: increasing
    - `search`: its impostors may be ``"auto"`` until the options are :meth:`checked`
    - `far_targets`, `frr_targets`, `priors`: targets and priors of the operating points that each
      test part has by itself; if `far_targets` is None, there are no such points
    """

    task: FoldTask
    rule: Rule
    interval: IntervalMethod
    use: Use = Use()
    search: OpenSet = field(default_factory=OpenSet)
    ranks: np.ndarray = field(default_factory=lambda: np.ones(1, dtype=np.int64))
    far_targets: np.ndarray | None = None
    frr_targets: np.ndarray = field(default_factory=lambda: np.empty(0))
    priors: np.ndarray = field(default_factory=lambda: np.empty(0))
    claims: partition.ClaimSampler | None = None

    def __post_init__(self) -> None:
        """Raise an error if options do not go together."""
        if str(self.task).lower() in ("reid", "re-identification", "gom"):
            raise ProtocolError(
                f"`task` is {self.task!r}; re-identification has no threshold of a "
                'training part: be.repeat(scores, splitter, "market1501") evaluates it in each '
                "partition, and be.show its mean and standard deviation"
            )
        object.__setattr__(self, "task", chosen_task(self.task, FOLD_TASKS))
        require_choice("ties", self.search.ties, PlainTies)
        for name in ("frr_targets", "priors", "claims"):
            value = getattr(self, name)
            if self.task != "verification" and value is not None and np.size(value):
                raise ProtocolError(
                    f"`{name}` applies to verification only; the task is {self.task}"
                )
        if not isinstance(self.claims, partition.ClaimSampler | None):
            raise DataError(
                f"`claims` is {type(self.claims).__name__}; expected a ClaimSampler, "
                "to draw claims for each part"
            )

    def fused(self, kind: Kind) -> str | None:
        """Return the rule by which distances are fused; None if they are not fused."""
        if self.task == "verification":
            return self.use.of_kind(kind).fused
        search = self.search.of_kind(kind)
        return search.fusion if search.rank_unit == "subject" else None

    @property
    def wanted(self) -> PointsWanted:
        """The operating points of test parts of verification."""
        assert self.far_targets is not None
        costs = np.array([(prior, 1.0, 1.0) for prior in self.priors]).reshape(-1, 3)
        return PointsWanted(self.far_targets, costs, True, frr_targets=self.frr_targets)

    def points(self, tests: AttemptsOfParts) -> Numbers:
        """Return the operating points of test parts of verification, the parts first."""
        _, values = point_values(tests, self.wanted, None)
        names = ("eer", "auc", "frr_at_far", "far_at_frr", "min_dcf")
        return {name: values[name] for name in names if name in values}

    @property
    def in_words(self) -> str:
        """The task with its templates, as in the attributes of a result."""
        if self.task == "verification":
            return f"verification, {self.use.templates}-template"
        return f"{self.task_name} identification"

    @property
    def task_name(self) -> str:
        return self.task.replace("_", "-")

    @property
    def has_threshold(self) -> bool:
        return self.task != "closed_set"

    def checked(self, splitter: Any, scores: Scores | None = None) -> FoldOptions:
        """Return the options with the role of impostors decided, which is the same in every part.

        Raise an error unless the scores support the task, and a training part exists on which a
        threshold can be chosen. A system that is trained in each fold has no scores yet.
        """
        if scores is not None:
            self._require_support_of(scores)
        is_experiment = isinstance(splitter, partition.Experiment)
        if self.has_threshold:
            if self.rule.name == "none" and self.far_targets is None:
                raise ProtocolError(
                    "without a threshold there are only the operating points of each test part: "
                    "give `far_targets`"
                )
            lacks_training_part = is_experiment and not splitter.chooses
            if lacks_training_part and self.rule.name not in ("none", "fixed"):
                raise ProtocolError(
                    f"the threshold is to be that of {self.rule.words}, but the experiment has "
                    "neither `train` nor `validation` to choose it on; give one of them, "
                    "such as `train=0.5`, or a threshold that is fixed; a card with "
                    'rule = "none" chooses none'
                )
        if self.task == "verification":
            return self
        role = self.search.impostors
        if is_experiment and splitter.has_galleries:
            if role == "auto":
                role = splitter.impostors
        elif scores is None:  # the samples of a part are all compared with each other
            role = role_of("all-against-all", role, all_enrolled=True)
        else:
            all_enrolled = bool(np.isin(scores.codes.probe, scores.codes.gallery).all())
            role = role_of(scores.layout, role, all_enrolled)
        return replace(self, search=replace(self.search, impostors=role))

    def _require_support_of(self, scores: Scores) -> None:
        """Raise an error unless the scores support the task."""
        is_list = scores.layout == "pairs"
        if self.claims is not None and is_list:
            raise ProtocolError("claims are drawn among templates; a list of pairs has its own")
        if self.has_threshold:
            require_values(scores, f"{self.task_name} in folds")
        if is_list and self.task != "verification":
            raise ProtocolError(
                f"{self.task} needs a gallery to search; a list of pairs supports verification"
            )
        if is_list and self.use.templates == "multi":
            require_subjects(scores, "multi-template")


def parse_ranks(ranks: Any) -> np.ndarray:
    """Return ranks in increasing order as int64, or raise :class:`DataError`."""
    array = np.atleast_1d(require_array("ranks", ranks))
    if array.ndim != 1 or array.dtype.kind not in "iu" or not len(array) or (array < 1).any():
        raise DataError(f"ranks is {received(ranks)}; expected whole numbers from 1 up")
    return np.unique(array).astype(np.int64)


#: Labels of the dimension `part`: the threshold is chosen on the first, and judged on both.
PARTS = ("train", "test")

#: Variables that are described for folds; all others are described as in a single evaluation.
OF_FOLDS: dict[str, Variable] = {
    "gar": replace(VERIFICATION["gar"], detail="data"),
    "grr": replace(VERIFICATION["grr"], detail="data"),
    "threshold": Variable(
        "threshold chosen on the training part",
        "score",
        "threshold T",
        shown="threshold",
        label="threshold",
        detail="verbose",
    ),
    "subjects": Variable(
        "subjects of the part (pairs without subjects: pairs)",
        "subjects",
        label="subjects",
        detail="data",
    ),
    "gallery_subjects": Variable(
        "subjects in the gallery of the part",
        "subjects",
        label="subjects in the gallery",
        detail="data",
    ),
    "crossing_pairs": Variable(
        "pairs of a subject of the test part and one outside it",
        "pairs",
        label="pairs across the parts",
        detail="data",
    ),
}

#: The thresholds, as distances among the numbers of splits.
_THRESHOLDS = ("threshold", "threshold_next")

#: The counts of decisions, which a fold without a threshold does not have.
_DECISIONS = ("ga", "fr", "fa", "gr", "di", "detected", "fa_unenrolled")

# Rates at the threshold of the fold come before operating points of the test part.
_FIRST = ("threshold", "far", "frr", "hter", "dir", "cms", *FIRST)

# A relative difference of gallery sizes up to this is ignored: halves of an odd number differ.
ALIKE = 0.1


def fold_dataset(
    numbers: Numbers,
    plan: SplitPlan,
    about: Provenance,
    options: FoldOptions,
    scores: Scores | None = None,
) -> xr.Dataset:
    """Return counts and rates over ``repeat, fold`` and ``part``.

    NaN are counts of decisions without a threshold, and all values of a fold that a repeat lacks;
    such counts are float64. `scores` are those of all folds, None if each has new ones.
    """
    values = _with_rates(numbers, about.kind, options)
    values |= _support(values, about, options)
    messages = list(_messages(values, plan, options, about))
    if options.rule.name == "fixed" and {"fa", "fr"} <= set(values):
        messages += _messages_on_fixed_threshold(values, options, scores)

    # The variables, and their descriptions.
    scripts = {x.name: x for x in rates_of_scripts()}
    first = {"threshold": OF_FOLDS["threshold"]}
    names = {**first, **VERIFICATION, **FOLDS, **scripts, **TASKS[options.task], **OF_FOLDS}
    variables: Variables = {}
    for name in names:
        if name not in values:
            continue
        for variable in (name, f"{name}{NEXT}", f"{name}{SUPPORTED}"):
            if variable not in values:
                continue
            inner_dims = [dim for dim in described(names, variable).dims if dim != "threshold"]
            has_parts = values[variable].ndim - len(inner_dims) == 2  # (split, part, ...)
            dims = ("repeat", "fold", *(["part"] if has_parts else []), *inner_dims)
            variables[variable] = dims, plan.placed(values[variable])
    if len(options.priors):
        equal = np.ones_like(options.priors)
        costs = (options.priors, equal, equal)
        variables |= variables_over(("cost",), **dict(zip(COST_LABELS, costs, strict=True)))

    # The labels of the dimensions.
    repeats, folds = plan.shape
    labels = {
        "repeat": np.arange(repeats),
        "fold": np.arange(folds),
        "part": np.array(PARTS),
    }
    if options.task != "verification":
        labels["rank"] = options.ranks
    if len(options.frr_targets):
        labels["frr_target"] = options.frr_targets
    if len(options.priors):
        labels["cost"] = options.priors
    if options.far_targets is not None and options.has_threshold:
        labels["far_target"] = options.far_targets
    attrs = _attrs_of_folds(plan, about, options, messages)
    if "shared_subjects" in values:
        attrs["subjects_in_both_parts"] = int(values["shared_subjects"].max())
    return dataset(variables, names, labels, attrs, _FIRST)


def _with_rates(numbers: Numbers, kind: Kind, options: FoldOptions) -> Numbers:
    """Return the numbers with rates, thresholds in units of the scores, and NaN for no decision."""
    values = dict(numbers)
    if options.has_threshold and options.rule.name == "none":
        for name in (*_THRESHOLDS, *_DECISIONS):
            values.pop(name, None)
    elif options.has_threshold:
        for name in _THRESHOLDS:
            values[name] = to_user(values[name], kind)
        has_threshold = values["defined"]  # (splits,)
        if not has_threshold.all():
            for name in values.keys() & _DECISIONS:
                # The splits are the last axis of the transpose.
                values[name] = np.where(has_threshold, values[name].T, np.nan).T
    rates: dict[str, np.ndarray] = {}
    if "fa" in values:
        rates = rates_of((*rates_of_folds(), VERIFICATION["far_unenrolled"]), values)
    for name, count, attempts in (
        ("dir", "detected", "genuine_attempts"),
        ("cms", "cms_count", "attempts"),
    ):
        if count in values:
            rates[name] = ratio(values[count], values[attempts][..., None])  # over ranks
    return values | rates


def _messages_on_fixed_threshold(
    values: Numbers, options: FoldOptions, scores: Scores | None
) -> list[Message]:
    """Return messages on a fixed threshold that accepts all scores or none."""
    threshold = options.rule.values[0]
    far, frr = _pooled(values, "far"), _pooled(values, "frr")
    following = np.full(1, np.nan)
    if scores is not None:
        # FRR of searches has those of a wrong rank, too, and is not 0 if all scores are accepted.
        accepts_most = options.task == "open_set" and far > 0.5
        following = following_scores(scores, [threshold], always=accepts_most)
        if accepts_most and np.isinf(following) and not any(scores.failures):
            frr = 0.0
    return beyond_scores(threshold, far, frr, *following)


def _attrs_of_folds(
    plan: SplitPlan, about: Provenance, options: FoldOptions, messages: Sequence[Message]
) -> dict[str, Any]:
    words = options.in_words
    if options.task == "verification" and about.use_title:
        words = f"verification, {about.use_title}"
    task = f"{words}, in {'repeated experiments' if plan.by_parts else 'folds'}"
    attrs = about_attrs(about, options.task.replace("_", "-"), task, messages)
    attrs["folds"] = plan.digest
    attrs |= record_of(plan.splitter)
    attrs |= attrs_of_interval(options.interval)
    if options.claims is not None:
        attrs["claims"] = repr(options.claims)
    if options.task == "verification":
        attrs |= options.use.of_kind(about.kind).attrs
    else:
        attrs |= options.search.of_kind(about.kind).attrs
    if options.task == "open_set":
        attrs["impostors"] = options.search.impostors
    if options.has_threshold and options.rule.name != "none":
        unit = "repeat" if plan.by_parts else "fold"
        attrs |= options.rule.attrs(f"the {_first_part(plan.splitter)} part of each {unit}")
    return attrs


def _support(values: Numbers, about: Provenance, options: FoldOptions) -> dict[str, np.ndarray]:
    """Return whether each test part has enough independent attempts for each target."""
    if options.far_targets is None or options.task == "closed_set":
        return {}
    genuine = values["genuine_attempts"][:, 1]
    impostor = values["impostor_attempts"][:, 1]
    searched = options.task == "open_set"
    if about.people is not None:
        people = values["subjects"][:, 1]
        genuine = np.minimum(genuine, people)
        if searched:
            impostor = independent_searches(impostor, values["searching"])
        else:
            impostor = np.minimum(impostor, people * (people - 1) // 2)
    at_far = "dir_at_far" if searched else "frr_at_far"
    return {
        f"{at_far}{SUPPORTED}": supported(options.far_targets, impostor),
        f"far_at_frr{SUPPORTED}": supported(options.frr_targets, genuine),
    }


def _pooled(values: Numbers, name: str) -> float:
    """Return a rate of all test parts together; NaN without attempts."""
    count, attempts = {
        "far": ("fa", "impostor_attempts"),
        "frr": ("fr", "genuine_attempts"),
    }[name]
    in_tests = float(values[attempts][:, 1].sum())
    return float(values[count][:, 1].sum()) / in_tests if in_tests else math.nan


def _first_part(splitter: Any) -> str:
    """Return what the part beside the test part is: training or validation."""
    validates = type(splitter).__name__ == "TrainValidationTest"
    if isinstance(splitter, partition.Experiment):
        validates = bool(splitter.validation)
    return "validation" if validates else "training"


def _messages(
    values: Numbers, plan: SplitPlan, options: FoldOptions, about: Provenance
) -> Iterator[Message]:
    splits = len(plan.splits)
    unit = "repeat" if plan.by_parts else "fold"
    genuine = "attempts" if options.task == "closed_set" else "genuine_attempts"
    attempts = {"genuine_attempts": values[genuine][:, 1]}  # attempts of the test parts, by class
    if "impostor_attempts" in values:
        attempts["impostor_attempts"] = values["impostor_attempts"][:, 1]

    # Subjects in both parts, and rates without a value or without spread.
    shared = values.get("shared_subjects", np.zeros(1, dtype=np.int64))
    if shared.any():
        about_parts = {"parts": int(np.count_nonzero(shared)), "number": splits, "unit": unit}
        yield Message("subjects-in-both-parts", subjects=int(shared.max()), **about_parts)
    yield from parts_without_attempts(attempts, splits, unit)
    yield from _messages_on_rates(values, options, attempts, unit)
    if splits == 1:
        yield Message("one-part", unit=unit)

    if "gallery_subjects" in values:
        sizes = values["gallery_subjects"]
        is_apart = np.abs(sizes[:, 0] - sizes[:, 1]) > ALIKE * sizes.max(axis=1)
        if sizes[:, 0].any() and is_apart.any():
            train, test = (np.unique(x).tolist() for x in sizes.T)
            first = _first_part(plan.splitter)
            yield Message("galleries-of-different-sizes", part=first, train=train, test=test)
    skipped = int(values["skipped"][:, 1].sum()) if "skipped" in values else 0
    if skipped and about.layout != "all-against-all":
        yield Message("probes-without-mate", probes=skipped, where=" of the test part")
    if "crossing_pairs" in values and (crossing := int(values["crossing_pairs"].sum())):
        tested = int(sum(counts.sum() for counts in attempts.values()))
        repeats, folds = plan.shape
        left_out = crossing / repeats / min(folds, 2)  # a pair crosses into both of its folds
        yield Message("pairs-across-parts", pairs=round(left_out), tested=round(tested / repeats))

    # Targets that the test parts are too small for, infinite costs, and ties.
    if options.far_targets is not None and options.has_threshold:
        searched = options.task == "open_set"
        people = None
        if about.people is not None:
            people = int(values["subjects"][:, 1].min())
            if searched:
                people = int(values["searching"].min()) or None
        genuine_attempts, impostor_attempts = (int(x.min()) for x in attempts.values())
        messages = support_of_parts(
            options.far_targets,
            options.frr_targets,
            genuine_attempts,
            impostor_attempts,
            people,
            searched=searched,
        )
        for message in messages:
            yield message.concerning(f"smallest test part ({options.in_words})")
    if "tied" in values and (tied := int(values["tied"].sum())):
        probes = int(attempts["genuine_attempts"].sum())
        yield Message("ties-in-partitions", tied=tied, probes=probes, number=splits)


def _messages_on_rates(
    values: Numbers, options: FoldOptions, attempts: Mapping[str, np.ndarray], unit: str
) -> Iterator[Message]:
    for name in ("far", "frr", "cms"):
        if name not in values:
            continue
        rate = values[name][:, 1]
        if rate.ndim > 1:  # over ranks: the others are undefined in the same folds
            rate = rate[:, 0]
        counts = attempts["impostor_attempts" if name == "far" else "genuine_attempts"]
        undefined = np.isnan(rate) & (counts > 0)
        missing = int(undefined.sum())
        if missing:
            # No threshold was chosen, though the training parts may have attempts of all classes.
            reason = "there are no attempts to choose a threshold on"
            if "defined" in values and all(values[x][undefined, 0].all() for x in attempts):
                reason = f"too many comparisons failed for {options.rule.words}"
            yield undefined_in_parts(f"{{{name}}}", missing, len(rate), unit, reason)
    if options.interval.method == "nadeau-bengio":
        yield from _messages_on_spread(values, options, unit)


def _messages_on_spread(values: Numbers, options: FoldOptions, unit: str) -> Iterator[Message]:
    """Yield messages on rates that are equal in all test parts: they have no interval."""
    terms = {"task": "identification"} if options.task == "open_set" else {}
    for name in ("far", "frr", "cms", "eer", "auc"):
        if name not in values:
            continue
        rates = values[name]
        if rates.ndim > 1:  # (splits, part) or (splits, part, ranks); others are of test parts
            rates = rates[:, 1]
        rates_by_rank = rates.reshape(len(rates), -1).T  # (1 or ranks, splits)
        ranks = options.ranks.tolist() if name == "cms" else [1]
        # Each rank by itself: a curve often reaches 100 % at its last ranks.
        ranks_by_value: dict[int | str, list[int]] = {}
        for rank, rates_at_rank in zip(ranks, rates_by_rank, strict=False):
            defined = rates_at_rank[~np.isnan(rates_at_rank)]
            # Equal values may differ by rounding.
            if len(defined) > 1 and np.ptp(defined) <= 1e-12 * defined.max():
                equal = float(defined.max())
                value = int(equal) if equal in (0, 1) else f"{100 * equal:.3g} %"
                ranks_by_value.setdefault(value, []).append(rank)
        for value, ranks_with_value in ranks_by_value.items():
            about: dict[str, Any] = {"rate": name, "value": value, "unit": unit, **terms}
            if name == "cms" and ranks_with_value != [1]:
                about["ranks"] = ranks_with_value
            yield Message("no-spread-between-parts", **about)


def parts_without_attempts(
    attempts: Mapping[str, np.ndarray], number: int, unit: str
) -> Iterator[Message]:
    """Yield messages on parts without an attempt of a class; `attempts` are of parts, by class."""
    for role in ("genuine", "impostor"):
        if f"{role}_attempts" in attempts:
            missing = int(np.count_nonzero(attempts[f"{role}_attempts"] == 0))
            if missing:
                rates = f"rates of {role} attempts"
                reason = f"there is no {role} attempt"
                yield undefined_in_parts(rates, missing, number, unit, reason)


def support_of_parts(
    far_targets: Iterable[float],
    frr_targets: Iterable[float],
    genuine: float,
    impostor: float,
    people: int | None,
    *,
    searched: bool,
) -> list[Message]:
    """Return messages on targets that the smallest part does not support.

    `genuine`, `impostor` and `people` are its numbers of attempts and of people; None if people are
    unknown. The impostors of a search (`searched`) are not compared with each other.
    """
    if searched:
        messages = support_messages(far_targets, impostor, False, "dir at far", people)
    else:
        compared = None if people is None else ComparedPeople.from_sides(people, people, people)
        messages = support_messages(far_targets, impostor, False, "frr at far", compared)
    return messages + support_messages(frr_targets, genuine, False, "far at frr", people)


def undefined_in_parts(
    what: str | list[dict[str, Any]], missing: int, number: int, unit: str, why: str
) -> Message:
    """Return the message that rates are not defined in `missing` of a `number` of parts.

    `what` are the rates in words, or measures with their places.
    """
    rates = {"what" if isinstance(what, str) else "measures": what}
    where = f"{missing:,} of {number:,} {unit}s, so means are over the others"
    if missing == number:
        where = f"any {unit}"
    about = {**rates, "missing": missing, "number": number, "where": where}
    return Message("undefined-in-parts", **about, why=why)


def span(counts: Sequence[int] | np.ndarray) -> str:
    """Return the smallest and the largest of some counts in words."""
    low, high = min(counts), max(counts)
    if low == high:
        return f"{low:,}"
    return f"{low:,} to {high:,}"
