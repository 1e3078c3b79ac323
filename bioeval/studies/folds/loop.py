"""The evaluation in folds: a threshold is chosen on the training part, and judged on both parts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np

from bioeval import partition
from bioeval.base.arguments import chosen_task, require_array, require_choice
from bioeval.base.errors import DataError, ProtocolError, received
from bioeval.base.kinds import Kind
from bioeval.base.progress import report_rows, reporter, rows_reported_to
from bioeval.counting.folds import FoldAttempts, Subset
from bioeval.counting.masks import (
    MaskedParts,
    PartsOfScores,
    PartTemplates,
    SearchedParts,
    SelectedParts,
    batches,
    masks_pay,
)
from bioeval.counting.operating_points import AttemptsOfParts
from bioeval.counting.reduce import reduce
from bioeval.counting.searches import claims_lost, role_of
from bioeval.counting.sorted_matrix import SortedMatrix
from bioeval.counting.threshold_rules import (
    ChosenThreshold,
    PointsWanted,
    Rule,
    choose_of_parts,
    point_values,
)
from bioeval.counting.thresholds import require_values
from bioeval.counting.verification import Use
from bioeval.partition.samples import LabelCodes
from bioeval.protocol.fields import PlainTies
from bioeval.protocol.tasks import OpenSet
from bioeval.scores.blocks import is_few
from bioeval.scores.embeddings import kind_of_metric
from bioeval.scores.features import FeatureSide, as_embeddings, require_features, titles_of
from bioeval.scores.matrix import Scores, require_subjects
from bioeval.scores.people import knows_people
from bioeval.scores.provenance import Provenance
from bioeval.scores.sides import GivenSide, keys_of
from bioeval.stats.options import IntervalMethod
from bioeval.studies.folds.splits import (
    PairSides,
    Part,
    Samples,
    SamplesToDivide,
    Split,
    SplitPlan,
    SplitSides,
    folds_in_order,
    plan_of_scores,
)

#: The numbers of splits as arrays by name, the splits first.
Numbers = dict[str, np.ndarray]


#: The tasks that have a threshold.
ThresholdTask = Literal["verification", "open_set"]

FoldTask = Literal[ThresholdTask, "closed_set"]
TASKS: tuple[FoldTask, ...] = get_args(FoldTask)


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
        object.__setattr__(self, "task", chosen_task(self.task, TASKS))
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
        is_experiment = isinstance(splitter, partition.Experiment)
        if self.has_threshold:
            self._require_rule(has_no_training_part=is_experiment and not splitter.chooses)
        if self.task == "verification":
            return self
        role = self.search.impostors
        if is_experiment and splitter.has_galleries:
            role = splitter.impostors if role == "auto" else role
        else:
            if scores is None:
                role = role_of("all-against-all", role, all_enrolled=True)
            else:
                all_enrolled = bool(np.isin(scores.codes.probe, scores.codes.gallery).all())
                role = role_of(scores.layout, role, all_enrolled)
        return replace(self, search=replace(self.search, impostors=role))

    def _require_rule(self, *, has_no_training_part: bool) -> None:
        if self.rule.name == "none" and self.far_targets is None:
            raise ProtocolError(
                "without a threshold there are only the operating points of each test part: "
                "give `far_targets`"
            )
        if has_no_training_part and self.rule.name not in ("none", "fixed"):
            raise ProtocolError(
                f"the threshold is to be that of {self.rule.words}, but the experiment has neither "
                "`train` nor `validation` to choose it on; give one of them, "
                "such as `train=0.5`, or a threshold that is fixed; a card with "
                'rule = "none" chooses none'
            )


def parse_ranks(ranks: Any) -> np.ndarray:
    """Return ranks in increasing order as int64, or raise :class:`DataError`."""
    array = np.atleast_1d(require_array("ranks", ranks))
    if array.ndim != 1 or array.dtype.kind not in "iu" or not len(array) or (array < 1).any():
        raise DataError(f"ranks is {received(ranks)}; expected whole numbers from 1 up")
    return np.unique(array).astype(np.int64)


def judged(
    chosen: ChosenThreshold, parts: Sequence[AttemptsOfParts], times: Sequence[int] = (1, 1)
) -> Numbers:
    """Count errors in both parts of splits at the threshold of the split.

    The counts are (splits, part), and 0 without a threshold. `parts` are the attempts of all
    training parts and of all test parts; `times` says how often an attempt counts in either.
    """
    thresholds, is_defined = chosen.threshold, chosen.defined[:, None]
    counts = [(x.genuine_attempts, x.impostor_attempts, *x.errors_at(thresholds)) for x in parts]
    counts_by_part = np.array(counts) * np.reshape(times, (-1, 1, 1))  # (part, count, splits)
    genuine, impostor, fa, fr = counts_by_part.transpose(1, 2, 0)
    return {
        "threshold": thresholds,
        "threshold_next": chosen.next,
        "defined": chosen.defined,
        "genuine_attempts": genuine,
        "impostor_attempts": impostor,
        "ga": (genuine - fr) * is_defined,
        "fr": fr * is_defined,
        "fa": fa * is_defined,
        "gr": (impostor - fa) * is_defined,
    }


def numbers_of_splits(
    train: PartsOfScores, test: PartsOfScores, options: FoldOptions, kind: Kind
) -> Numbers:
    """Choose a threshold on the training part of each split, and judge both parts by it."""
    rule = options.rule.as_distance(kind)  # a fitted system may have another kind
    if options.task != "verification":
        searches = train.searches(options.search), test.searches(options.search)
        galleries = np.stack([train.gallery_subjects, test.gallery_subjects], axis=1)
        return numbers_of_searches(*searches, options, rule) | {"gallery_subjects": galleries}
    fusion = options.fused(kind)
    # Of a single large part, only the attempts that a rule needs are listed.
    trained, times = train.attempts(fusion, PointsWanted.of_rule(rule))
    chosen = choose_of_parts(rule, trained)
    fixed = np.where(chosen.defined, chosen.threshold, -np.inf)
    tested, test_times = test.attempts(fusion, PointsWanted.of_rule(Rule("fixed", tuple(fixed))))
    numbers = judged(chosen, [trained, tested], [times, test_times])
    if options.claims is not None:
        assert isinstance(train, SelectedParts)
        assert isinstance(test, SelectedParts)
        others = [x.unenrolled[fusion] for x in (train, test)]  # by part and split
        splits = [*zip(chosen.threshold, *others, strict=True)]
        accepted = [[np.count_nonzero(x <= t) for x in parts] for t, *parts in splits]
        numbers["fa_unenrolled"] = np.array(accepted)
        numbers["unenrolled_attempts"] = np.array([[*map(len, parts)] for _, *parts in splits])
    if options.far_targets is not None:
        if not test.listed:
            tested, _ = test.attempts(fusion, options.wanted)
        numbers |= options.points(tested)
    return numbers


def numbers_of_searches(
    train: SearchedParts, test: SearchedParts, options: FoldOptions, rule: Rule
) -> Numbers:
    """Choose a threshold on the searches of each training part, and judge both parts by it."""
    parts = train, test
    numbers = {"tied": test.number(test.is_mated & (test.tied > 0))}
    if options.task == "closed_set":
        attempts = _both_parts(x.number(x.is_mated) for x in parts)
        numbers |= {
            "cms_count": _both_parts(x.found(options.ranks)[1] for x in parts),
            "attempts": attempts,
            "skipped": _both_parts(x.number(~x.is_mated) for x in parts),
        }
        if options.far_targets is not None:
            (at_rank_1,) = test.found(np.ones(1, dtype=np.int64))[0].T
            with np.errstate(invalid="ignore"):
                numbers["recognition_rate"] = at_rank_1 / attempts[:, 1]
        return numbers
    roles = [options.search.impostors] * test.parts
    ranked = [x.attempts(x.impostors(roles)) for x in parts]
    at_first = [x.first for x in ranked]
    chosen = choose_of_parts(rule, at_first[0])
    at_rank, up_to_rank = zip(
        *(x.found(options.ranks, chosen.threshold) for x in parts), strict=True
    )
    numbers |= judged(chosen, at_first)
    numbers |= {"di": _both_parts(at_rank), "detected": _both_parts(up_to_rank)}
    numbers["searching"] = test.searching_people(roles)
    if options.far_targets is not None:
        numbers["eer"] = at_first[1].equal_error().eer
        numbers["dir_at_far"], _ = ranked[1].dir_at_far(options.far_targets, options.ranks)
    return numbers


def _both_parts(numbers: Iterable[np.ndarray]) -> np.ndarray:
    """Return the numbers of the training and the test part over (split, part, ...)."""
    return np.stack([*numbers], axis=1)


# Repeats share a pass over the scores; this is the most pairs of folds in all of them.
SHARED = 1 << 12


# ------------------------------------------------------------------------------------- all folds


class FoldedSystem:
    """Scores that are evaluated in folds; derived classes make new scores in each fold."""

    unit = "subjects"  # the unit of the sizes of parts
    is_fitted = False  # whether each fold has new scores, which share no pass with other folds
    sides: Samples

    def __init__(self, scores: Scores, splitter: Any):
        self.plan, self.sides = plan_of_scores(scores, splitter)
        self.scores, self.kind = self.sides.scores, scores.kind  # scores with remarks on the folds
        if scores.layout == "pairs" and not knows_people(scores):
            self.unit = "pairs"

    @cached_property
    def about(self) -> Provenance:
        return Provenance.from_scores(self.scores)

    def about_task(self, options: FoldOptions) -> Provenance:
        about = self.about
        if options.task != "verification":
            about = about.searching(self.scores)
        if options.claims is not None:
            return about
        lost = claims_lost(self.scores, options.fused(self.kind))
        return about.without_claims(*lost, where=" of all data")

    def parts(self, split: Split) -> tuple[Scores | None, Scores | None]:
        """Return the scores of the training and of the test part; None without comparisons."""
        assert isinstance(self.sides, SplitSides | PairSides)
        return self.sides.view(split.train), self.sides.view(split.test)


def joined(numbers: Sequence[Numbers]) -> Numbers:
    return {name: np.concatenate([x[name] for x in numbers]) for name in numbers[0]}


def evaluate_folds(system: FoldedSystem, tasks: Sequence[FoldOptions]) -> list[Numbers]:
    """Evaluate several tasks in every split, and return the numbers of each task.

    See :data:`bioeval.studies.folds.results.SplitNumbers`. The parts of many folds of a matrix are
    masks of a matrix that is sorted once. Verification in other folds of a matrix is counted in
    passes over the scores, where folds can share them. All other parts are selected.
    """
    plan, sides = system.plan, system.sides
    splits = [*plan.splits.values()]
    share_passes = [_share_passes(system, options) for options in tasks]
    places: list[list[PartTemplates]] = []  # of all training parts, and of all test parts
    shape: tuple[int, ...] = (0, 0)
    matrix = None
    masked: list[int] = []  # the numbers of the tasks whose parts are masks
    if not system.is_fitted and isinstance(sides, SplitSides):
        sets = [x.train for x in splits], [x.test for x in splits]
        places = [[*map(sides.indices, parts)] for parts in sets]
        shape = system.scores.shape
        for i, options in enumerate(tasks):
            ranks_people = options.task != "verification" and options.search.rank_unit == "subject"
            if options.claims is None and not ranks_people:
                masked.append(i)
        # A pass over many scores counts all folds in the time in which masks count some.
        passes_pay = all(share_passes[i] for i in masked) and not is_few(math.prod(shape))
        if not passes_pay and masks_pay(system.scores, chain(*places)):
            with suppress(DataError):  # a part may be without this fault, or raises the error
                matrix = SortedMatrix.from_scores(system.scores)
    if matrix is None:
        masked = []
    together = [i for i, share in enumerate(share_passes) if share and i not in masked]
    selected = [i for i in range(len(tasks)) if i not in (*masked, *together)]
    numbers: list[list[Numbers]] = [[] for _ in tasks]
    for i in together:
        numbers[i].append(_count_together(system, tasks[i]))
    tell = reporter()
    with rows_reported_to(None):  # progress counts folds, and not the rows that they read
        if matrix is not None:
            for run in batches(shape, places[0]):
                train, test = (MaskedParts(matrix, x[run]) for x in places)
                for i in masked:
                    numbers[i].append(numbers_of_splits(train, test, tasks[i], system.kind))
                tell(run.stop, len(splits))
        # Selected parts are counted together if their attempts are few enough to be listed.
        runs: Iterable[slice] = (slice(i, i + 1) for i in range(len(splits)))
        if places and all(is_few(len(rows) * len(columns)) for rows, columns in chain(*places)):
            runs = batches(shape, places[0])
        about = None if system.is_fitted else system.about
        claims = next((options.claims for options in tasks if options.claims), None)
        for run in runs if selected else ():
            parts = []
            for part, views in enumerate(zip(*map(system.parts, splits[run]), strict=True)):
                drawn = [
                    claims.draw(view, repeat=number, part=part)
                    if claims and view is not None
                    else None
                    for number, view in enumerate(views, start=run.start)
                ]
                parts.append(SelectedParts(views, about, drawn))
            for i in selected:
                train_and_test = parts[0], parts[1]
                numbers[i].append(numbers_of_splits(*train_and_test, tasks[i], system.kind))
            tell(run.stop, len(splits))
    sizes = [sides.sizes(split) for split in splits]
    sizes_of_parts = {name: np.array([x[name] for x in sizes]) for name in sizes[0]}
    return [joined(x) | sizes_of_parts for x in numbers]


def _count_together(system: FoldedSystem, options: FoldOptions) -> Numbers:
    """Count verification of both parts of all folds of some repeats in each pass."""
    plan, sides = system.plan, system.sides
    assert isinstance(sides, SplitSides)
    rule = options.rule.as_distance(system.kind)
    divisions = [_division(plan, number) for number in range(plan.shape[0])]
    at_once = max(1, SHARED // (plan.shape[1] + 1) ** 2)
    passes = range(0, len(divisions), at_once)
    counted: list[Numbers] = []
    tell, rows = reporter(), system.scores.shape[0]
    with rows_reported_to(tell, passes=2 * len(passes)):
        for first in passes:
            folds, parts = zip(*divisions[first : first + at_once], strict=True)
            folds_of_sides = [(x[sides.sample_of_row], x[sides.sample_of_column]) for x in folds]
            counting = FoldAttempts(options.fused(system.kind), folds_of_sides, parts, rule)
            (attempts,) = reduce(system.scores, counting)
            report_rows(rows, rows)  # the second pass may not be needed
            for train, test in attempts:
                numbers = judged(choose_of_parts(rule, train), [train, test])
                if options.far_targets is not None and counting.few:
                    numbers |= options.points(test)
                counted.append(numbers)
    if options.far_targets is None or counting.few:
        return joined(counted)
    points = []
    with rows_reported_to(None):
        for done, split in enumerate(plan.splits.values(), start=1):
            test = SelectedParts([system.parts(split)[1]], system.about)
            attempts, _ = test.attempts(options.fused(system.kind), options.wanted)
            points.append(options.points(attempts))
            tell(done, len(plan.splits))
    return joined(counted) | joined(points)


def _share_passes(system: FoldedSystem, options: FoldOptions) -> bool:
    """Whether folds may be counted together; other folds must be counted part by part.

    They may in verification of a matrix, but for experiments, drawn claims, data with templates of
    no person, which are in every part, and claims of a person whose templates are in two folds.
    """
    is_of_all_attempts = options.task == "verification" and options.claims is None
    if system.is_fitted or not is_of_all_attempts or system.plan.by_parts:
        return False
    plan, sides = system.plan, system.sides
    if not isinstance(sides, SplitSides) or sides.n != sides.templates:
        return False
    return options.use.templates == "single" or all(
        sides.keeps_subjects(_division(plan, number)[0]) for number in range(plan.shape[0])
    )


def _division(plan: SplitPlan, repeat: int) -> tuple[np.ndarray, list[tuple[Subset, Subset]]]:
    """Return the fold of each sample, int64 (n,), and the training and test part of each fold.

    The parts are subsets of the folds. If every fold trains on all samples that it does not test,
    a sample is in the fold that tests it, and a sample that no fold tests has the next number.
    Else there is one division into 0 (test), 1 (training) and 2 (neither).
    """
    if plan.codes is not None:
        fold_of_sample = plan.codes[repeat]
        folds = int(fold_of_sample.max()) + 1
        parts = [(Subset(k, inside=False), Subset(k)) for k in range(folds)]
        return np.where(fold_of_sample < 0, folds, fold_of_sample), parts
    split = plan.splits[repeat, 0]
    fold_of_sample = np.full(plan.n, 2, dtype=np.int64)
    fold_of_sample[split.train.probes] = 1
    fold_of_sample[split.test.probes] = 0
    return fold_of_sample, [(Subset(1), Subset(0))]


# Systems that are fitted in each fold, to features or to scores of the training part.


class TrainedSystem(FoldedSystem):
    """Features, their subjects, and an estimator that is fitted in each fold."""

    is_fitted = True

    def __init__(
        self, features: Any, splitter: Any, y: Any, meta: Any, estimator: Any, **compared_by: Any
    ):
        """Check features, subjects and estimator; `compared_by` are the options metric and kind."""
        self.kind = kind_of_metric(**compared_by)
        self.metric = compared_by["metric"]
        if isinstance(features, Scores):
            raise DataError(
                "estimator is given with Scores of a finished system; give the features of "
                "the samples, shape (n, f)"
            )
        order = GivenSide(keys_of(features), templates="the features")
        y, meta = order.bring(y, "`y`"), order.bring_each(meta, "meta")
        self.features = as_embeddings(features, "data")
        if y is None:
            raise DataError("y is missing: the subject of each sample, to fit and to divide by")
        samples = len(self.features)
        self.labels = LabelCodes(y, "y")
        self.subjects = self.labels.labels
        if len(self.subjects) != samples:
            raise DataError(
                f"y has {len(self.subjects)} subjects for {samples} samples; expected {samples}"
            )
        require_features(FeatureSide(self.features, self.subjects, "data", titles_of(features)))
        for method in ("fit", "transform"):
            if isinstance(estimator, type) or not hasattr(estimator, method):
                raise DataError(
                    f"estimator is {estimator!r}, not an object with {method}(); expected "
                    "a transformer, such as make_pipeline(PCA(50), LinearDiscriminantAnalysis())"
                )
        self.estimator = estimator
        self._origin = ""  # of the embeddings of the last fold
        divided = SamplesToDivide(samples, self.subjects, meta=meta)
        self.plan = SplitPlan(folds_in_order(splitter, order), divided, given=splitter)
        self._remarks = tuple(order.remarks)
        self.sides = Samples(self.labels.codes)

    def about_task(self, options: FoldOptions) -> Provenance:
        return self.about

    def parts(self, split: Split) -> tuple[Scores | None, Scores | None]:
        """Return both parts, transformed by a clone that is fitted to the training samples."""
        from sklearn.base import clone

        fitted = clone(self.estimator).fit(self.features[split.fitted], self.subjects[split.fitted])
        train, test = (self._scores_of_part(fitted, part) for part in (split.train, split.test))
        if test is not None:
            self._origin = test.origin
        return train, test

    def _scores_of_part(self, fitted: Any, part: Part) -> Scores | None:
        """Return the scores of some probes against a gallery; None if either is empty."""
        probes, gallery = part
        if not len(probes) or not len(gallery):
            return None
        sides = [np.asarray(fitted.transform(self.features[probes])), self.subjects[probes]]
        if gallery is not probes:
            sides += [np.asarray(fitted.transform(self.features[gallery])), self.subjects[gallery]]
        return Scores.from_embeddings(*sides, metric=self.metric, kind=self.kind)

    @property
    def about(self) -> Provenance:
        names = len(self.labels)
        samples, width = self.features.shape
        return Provenance(
            name=type(self.estimator).__name__,
            layout="all-against-all",
            kind=self.kind,
            nan="raise",
            probes=samples,
            gallery_templates=samples,
            gallery_subjects=names,
            probe_subjects=names,
            enrolled_subjects=names,
            people=(names, names, names),
            notes=self._remarks,
            fingerprints=(f"{samples} samples, {width} features labels:{self.labels.digest}",),
            origin=f"{self.estimator!r}; {self._origin}",
        )
