"""The evaluation in folds: a threshold is chosen on the training part, and judged on both parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, Self, get_args

import numpy as np

from bioeval import partition
from bioeval.base.arguments import chosen_task, require_array, require_choice
from bioeval.base.errors import DataError, ProtocolError, received
from bioeval.base.kinds import Kind
from bioeval.base.progress import Tell, report_rows, reporter, rows_reported_to
from bioeval.counting.folds import FoldAttempts, Subset
from bioeval.counting.identification import Searches, claims_lost, role_of, search
from bioeval.counting.masks import MaskedParts, SearchedParts, batches, masks_pay
from bioeval.counting.operating_points import Attempts, AttemptsOfParts
from bioeval.counting.reduce import reduce
from bioeval.counting.sorted_matrix import SortedMatrix, may_be_sorted
from bioeval.counting.threshold_rules import (
    ChosenThreshold,
    PointsWanted,
    Rule,
    choose_of_parts,
    point_values,
)
from bioeval.counting.thresholds import require_values
from bioeval.counting.verification import Use, Verified, verify
from bioeval.partition.samples import LabelCodes
from bioeval.protocol.fields import PlainTies
from bioeval.protocol.tasks import OpenSet
from bioeval.results.identification import OpenSetPoints
from bioeval.scores.blocks import is_few
from bioeval.scores.embeddings import kind_of_metric
from bioeval.scores.features import FeatureSide, as_embeddings, require_features, titles_of
from bioeval.scores.matrix import Scores, require_subjects
from bioeval.scores.people import knows_people, people_of_probes
from bioeval.scores.provenance import Provenance
from bioeval.scores.sides import GivenSide, keys_of
from bioeval.stats.options import IntervalMethod
from bioeval.studies.folds.splits import (
    IndexSet,
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


# The numbers of many folds of a matrix that is sorted once; see ``counting/masks.py``.


#: The parts of a fold: training and test.
Both = tuple[MaskedParts, MaskedParts]


class MaskedFolds:
    """Folds of a sorted matrix; training and test parts are masks of its rows and columns."""

    def __init__(self, matrix: SortedMatrix, plan: SplitPlan, sides: SplitSides, kind: Kind):
        self.matrix, self.sides, self.kind = matrix, sides, kind
        self.splits = [*plan.splits.values()]

    @classmethod
    def from_scores(
        cls, scores: Scores, plan: SplitPlan, sides: SplitSides, *, in_passes: bool
    ) -> MaskedFolds | None:
        """Return the folds of scores; None if it is cheaper to do without.

        Folds may be counted together `in_passes` over the scores, or else every part is selected.
        """
        if not may_be_sorted(scores):
            return None
        cells = math.prod(scores.shape)
        parts = [part for split in plan.splits.values() for part in (split.train, split.test)]
        cells_of_parts = sum(len(part.probes) * len(part.gallery) for part in parts)
        # A pass over many scores counts all folds in the time in which masks count some.
        if not masks_pay(cells, len(plan.splits), cells_of_parts) or (
            in_passes and not is_few(cells)
        ):
            return None
        try:
            return cls(SortedMatrix.from_scores(scores), plan, sides, scores.kind)
        except DataError:  # a part may be without this fault, or raises the error itself
            return None

    def numbers(self, options: FoldOptions, tell: Tell) -> Numbers:
        """Return the numbers of a task in every split."""
        counted: list[Numbers] = []
        rule = options.rule.as_distance(self.kind)
        for batch in batches(self.matrix, (train for train, _ in self._indices)):
            train, test = zip(*self._indices[batch], strict=True)
            parts = MaskedParts(self.matrix, train), MaskedParts(self.matrix, test)
            if options.task == "verification":
                numbers = self._verification(parts, options, rule)
            else:
                numbers = self._identification(parts, options, rule)
            counted.append(numbers | self._number_of_subjects(parts, self.splits[batch]))
            tell(batch.stop, len(self.splits))
        return {name: np.concatenate([x[name] for x in counted]) for name in counted[0]}

    @cached_property
    def _indices(self) -> list[tuple[IndexSet, IndexSet]]:
        indices = self.sides.indices
        return [(indices(split.train), indices(split.test)) for split in self.splits]

    def _verification(self, parts: Both, options: FoldOptions, rule: Rule) -> Numbers:
        fusion = options.fused(self.kind)
        attempts, times = zip(*(x.attempts(fusion) for x in parts), strict=True)
        numbers = judged(choose_of_parts(rule, attempts[0]), attempts, times)
        if options.far_targets is None:
            return numbers
        return numbers | options.points(attempts[1])

    def _identification(self, parts: Both, options: FoldOptions, rule: Rule) -> Numbers:
        searches = [x.searches(options.search.ties) for x in parts]
        if options.task == "closed_set":
            numbers = self._closed_set(searches, options)
        else:
            numbers = self._open_set(searches, options, rule)
        test = searches[1]
        return numbers | {
            "gallery_subjects": _both_parts(
                [np.count_nonzero(x.enrolled, axis=1) * x.rows.any(axis=1) for x in parts]
            ),
            "tied": test.number(test.is_mated & (test.tied > 0)),
        }

    def _closed_set(self, searches: Sequence[SearchedParts], options: FoldOptions) -> Numbers:
        test = searches[1]
        attempts = _both_parts([x.number(x.is_mated) for x in searches])
        numbers = {
            "cms_count": _both_parts([x.found(options.ranks)[1] for x in searches]),
            "attempts": attempts,
            "skipped": _both_parts([x.number(~x.is_mated) for x in searches]),
        }
        if options.far_targets is None:
            return numbers
        (at_rank_1,) = test.found(np.ones(1, dtype=np.int64))[0].T
        with np.errstate(invalid="ignore"):
            return numbers | {"recognition_rate": at_rank_1 / attempts[:, 1]}

    def _open_set(
        self, searches: Sequence[SearchedParts], options: FoldOptions, rule: Rule
    ) -> Numbers:
        roles = [options.search.impostors] * len(self.splits)
        open_set = [x.attempts(x.impostors(roles[: len(x.parts)])) for x in searches]
        attempts = [x.first for x in open_set]
        chosen = choose_of_parts(rule, attempts[0])
        detected = [x.found(options.ranks, chosen.threshold) for x in searches]
        at_rank, up_to_rank = map(_both_parts, zip(*detected, strict=True))
        numbers = judged(chosen, attempts) | {"di": at_rank, "detected": up_to_rank}
        numbers["searching"] = searches[1].searching_people(roles[: len(searches[1].parts)])
        if options.far_targets is None:
            return numbers
        dir_at_far, _ = open_set[1].dir_at_far(options.far_targets, options.ranks)
        return numbers | {"eer": attempts[1].equal_error().eer, "dir_at_far": dir_at_far}

    def _number_of_subjects(self, parts: Both, splits: Sequence[Split]) -> Numbers:
        if any(split.fitted is not split.train.probes for split in splits):
            sizes = [self.sides.sizes(split) for split in splits]
            return {name: np.array([x[name] for x in sizes]) for name in sizes[0]}
        train, test = ((x.probing + x.enrolled > 0) & self.matrix.is_person for x in parts)
        subjects = _both_parts([x.sum(axis=1) for x in (train, test)])
        return {"subjects": subjects, "shared_subjects": (train & test).sum(axis=1)}


def _both_parts(numbers: Sequence[np.ndarray]) -> np.ndarray:
    """Return the numbers of the training and the test part over (split, part, ...)."""
    return np.stack(numbers, axis=1)


# Repeats share a pass over the scores; this is the most pairs of folds in all of them.
SHARED = 1 << 12

NO_ATTEMPTS = Attempts.from_scores(np.empty(0), np.empty(0))

#: The numbers of one split by name, of both parts or of the whole split: one row of the arrays in
#: :data:`bioeval.studies.folds.results.SplitNumbers`.
Fold = dict[str, Any]


# ------------------------------------------------------------------------- one part of the scores


@dataclass(frozen=True)
class Searched(OpenSetPoints):
    """The identification attempts of one part."""

    skipped: int = 0  # number of probes without a mate
    gallery: int = 0  # number of subjects in the gallery
    tied: int = 0  # number of probes whose rank is decided by equal scores
    searching: int = 0  # number of people who search without a mate

    @classmethod
    def of_part(cls, searches: Searches, task: OpenSet, gallery: int, person: np.ndarray) -> Self:
        """Return the attempts of searches in a gallery of `gallery` subjects.

        `person` has the subject code of each probe, -1 for no person.
        """
        is_mated = searches.mates > 0
        points = cls.from_searches(searches, task.ties, task.impostors)
        tied = int((searches.tied[is_mated] > 0).sum())
        is_impostor = {"unenrolled": ~searches.enrolled, "leave-subject-out": searches.enrolled}
        impostors = np.unique(person[is_impostor.get(task.impostors, slice(None))])
        return replace(
            points,
            skipped=int((~is_mated).sum()),
            gallery=gallery,
            tied=tied,
            searching=int(np.count_nonzero(impostors >= 0)),
        )

    def attempts(self) -> Attempts:
        """Return the attempts at rank 1; any threshold rejects a mate at another rank."""
        mate = np.full(self.genuine, np.nan)
        first = self.mate_distance[self.ranks == 1]
        mate[: len(first)] = first
        return Attempts.with_failures(mate, self.impostor_distances)

    def found(self, ranks: np.ndarray, threshold: float = np.inf) -> tuple[np.ndarray, np.ndarray]:
        """Return how many mates that a threshold accepts are at each rank, and up to it.

        The threshold is a distance; NaN accepts none.
        """
        accepted = self.ranks[self.mate_distance <= threshold]
        is_at_rank, is_up_to_rank = accepted == ranks[:, None], accepted <= ranks[:, None]
        return is_at_rank.sum(axis=1), is_up_to_rank.sum(axis=1)

    def points(self, options: FoldOptions) -> Fold:
        """Return the operating points of this part: EER and DIR at FAR, or CMS at rank 1."""
        if options.task == "closed_set":
            at_rank_1 = np.count_nonzero(self.ranks == 1)
            return {"recognition_rate": at_rank_1 / self.genuine if self.genuine else math.nan}
        assert options.far_targets is not None
        dir_, _ = self.at_far(options.far_targets, int(options.ranks[-1]))
        return {"eer": self.equal_error.eer, "dir_at_far": dir_[:, options.ranks - 1]}


class FoldSide:
    """One part of a split, whose scores are selected when they are first needed."""

    def __init__(self, view: Callable[[], Scores | None], about: Provenance | None = None):
        """Take the function that selects the scores, and the provenance of all scores."""
        self._view, self._about = view, about
        self._draw: Callable[[Scores], partition.DrawnClaims] | None = None
        self._searches: dict[tuple[str, str], Searches] = {}  # searches by unit of ranks and fusion

    @cached_property
    def scores(self) -> Scores | None:
        """The scores of the part; None without probes or without a gallery."""
        return self._view()

    @cached_property
    def claims(self) -> partition.DrawnClaims | None:
        """The claims that are drawn as the attempts of the part; None if all attempts count."""
        if self._draw is None or self.scores is None:
            return None
        return self._draw(self.scores)

    def draw_claims(self, draw: Callable[[Scores], partition.DrawnClaims]) -> None:
        """Take the function that draws the claims of the part from its scores."""
        self._draw = draw

    def attempts(self, options: FoldOptions, rule: Rule) -> Attempts:
        """Return the attempts of verification; of a large part, only attempts that a rule needs."""
        if self.scores is None:
            return NO_ATTEMPTS
        return self._verified(options, PointsWanted.of_rule(rule)).attempts

    def _verified(self, options: FoldOptions, wanted: PointsWanted | None = None) -> Verified:
        assert self.scores is not None
        return verify(
            self.scores, options.use, claims=self.claims, wanted=wanted, about=self._about
        )

    def unenrolled(self, options: FoldOptions) -> np.ndarray:
        """Return the scores of drawn claims by probes who are not enrolled."""
        scores = None if self.scores is None else self._verified(options).unenrolled
        return np.empty(0) if scores is None else scores

    def points(self, options: FoldOptions) -> Fold:
        """Return the operating points of verification, for which the part is counted."""
        attempts = NO_ATTEMPTS
        if self.scores is not None:
            attempts = self._verified(options, options.wanted).attempts
        return _single(options.points(attempts.points))

    def searched(self, options: FoldOptions) -> Searched:
        """Return the attempts of identification."""
        task = options.search
        if self.scores is None:
            none = np.empty(0)
            return Searched(none, none, none, 0, none)
        key = task.rank_unit, task.fusion
        if key not in self._searches:
            self._searches[key] = search(self.scores, task, self._about)
        gallery = len(self.scores.gallery_order.subjects)
        person = people_of_probes(self.scores)
        return Searched.of_part(self._searches[key], task, gallery, person)


# -------------------------------------------------------------------------------------- one fold


def fold_of_searches(train: Searched, test: Searched, options: FoldOptions, rule: Rule) -> Fold:
    """Evaluate identification: choose a threshold on the training part; judge both parts by it."""
    parts = train, test
    if options.task == "closed_set":
        fold = {
            "attempts": [part.genuine for part in parts],
            "skipped": [part.skipped for part in parts],
            "cms_count": [part.found(options.ranks)[1] for part in parts],
        }
    else:
        attempts = [part.ranked.first for part in parts]
        counts = _single(judged(choose_of_parts(rule, attempts[0]), attempts))
        detected = [part.found(options.ranks, counts["threshold"]) for part in parts]
        at_rank, up_to_rank = zip(*detected, strict=True)
        fold = counts | {"searching": test.searching, "di": at_rank, "detected": up_to_rank}
    fold |= {"gallery_subjects": [part.gallery for part in parts], "tied": test.tied}
    return fold if options.far_targets is None else fold | test.points(options)


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

    def parts(self, split: Split) -> tuple[FoldSide, FoldSide]:
        """Return the training part and the test part."""
        assert isinstance(self.sides, SplitSides | PairSides)
        view, about = self.sides.view, self.about
        train, test = partial(view, split.train), partial(view, split.test)
        return FoldSide(train, about), FoldSide(test, about)


def _single(numbers: Numbers) -> Fold:
    return {name: values[0] for name, values in numbers.items()}


def stacked(folds: Sequence[Fold]) -> Numbers:
    """Return the numbers of splits as arrays by name, the splits first."""
    return {name: np.array([fold[name] for fold in folds]) for name in folds[0]}


def evaluate_folds(system: FoldedSystem, tasks: Sequence[FoldOptions]) -> list[Numbers]:
    """Evaluate several tasks in every split, and return the numbers of each task.

    See :data:`bioeval.studies.folds.results.SplitNumbers`. Many parts of a matrix are evaluated as
    masks of a matrix that is sorted once; other parts are selected one by one.
    """
    masked, tell = None, reporter()
    maskable = [options for options in tasks if _may_be_masked(system, options)]
    if maskable:
        plan, sides = system.plan, system.sides
        assert isinstance(sides, SplitSides)
        in_passes = all(_share_passes(system, options) for options in maskable)
        masked = MaskedFolds.from_scores(system.scores, plan, sides, in_passes=in_passes)
    if masked is None:
        return _evaluate_selected(system, tasks)
    return [
        masked.numbers(options, tell)
        if _may_be_masked(system, options)
        else _evaluate_selected(system, [options])[0]
        for options in tasks
    ]


def _may_be_masked(system: FoldedSystem, options: FoldOptions) -> bool:
    is_matrix = not system.is_fitted and isinstance(system.sides, SplitSides)
    ranks_people = options.task != "verification" and options.search.rank_unit == "subject"
    return is_matrix and options.claims is None and not ranks_people


def _evaluate_selected(system: FoldedSystem, tasks: Sequence[FoldOptions]) -> list[Numbers]:
    """Evaluate tasks in every split; count folds together, as far as they can be."""
    counted = {
        i: _count_together(system, x) for i, x in enumerate(tasks) if _share_passes(system, x)
    }
    selected = [i for i in range(len(tasks)) if i not in counted]
    folds: list[list[Fold]] = [[] for _ in tasks]
    plan, tell = system.plan, reporter()
    with rows_reported_to(None):  # progress counts folds, and not the rows that they read
        for done, split in enumerate(plan.splits.values() if selected else (), start=1):
            train, test = system.parts(split)
            for i in selected:
                fold = _selected_fold(system, tasks[i], train, test, number=len(folds[i]))
                folds[i].append(fold | system.sides.sizes(split))
            tell(done, len(plan.splits))
    return [counted[i] if i in counted else stacked(x) for i, x in enumerate(folds)]


def _selected_fold(
    system: FoldedSystem, options: FoldOptions, train: FoldSide, test: FoldSide, number: int
) -> Fold:
    """Evaluate one split by itself; `train` and `test` are its parts, `number` its place."""
    rule = options.rule.as_distance(system.kind)  # a fitted system may have another kind
    if options.claims is not None:
        for part, side in enumerate((train, test)):
            side.draw_claims(partial(options.claims.draw, repeat=number, part=part))
    if options.task != "verification":
        return fold_of_searches(train.searched(options), test.searched(options), options, rule)
    # Choose a threshold on the training part; judge both parts by it.
    train_attempts = train.attempts(options, rule)
    chosen = choose_of_parts(rule, train_attempts.points)
    fixed = Rule("fixed", (float(chosen.threshold[0]) if chosen.defined[0] else -np.inf,))
    test_attempts = test.attempts(options, fixed)
    fold = _single(judged(chosen, [train_attempts.points, test_attempts.points]))
    if options.claims is not None:
        unenrolled = [part.unenrolled(options) for part in (train, test)]
        fold["fa_unenrolled"] = [np.count_nonzero(x <= chosen.threshold) for x in unenrolled]
        fold["unenrolled_attempts"] = [len(x) for x in unenrolled]
    if options.far_targets is not None:
        if test_attempts.listed:
            fold |= _single(options.points(test_attempts.points))
        else:
            fold |= test.points(options)
    return fold


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
    numbers = {name: np.concatenate([x[name] for x in counted]) for name in counted[0]}
    splits = [*plan.splits.values()]
    if options.far_targets is not None and not counting.few:
        points = []
        with rows_reported_to(None):
            for done, split in enumerate(splits, start=1):
                points.append(system.parts(split)[1].points(options))
                tell(done, len(splits))
        numbers |= stacked(points)
    return numbers | stacked([sides.sizes(split) for split in splits])


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

    def parts(self, split: Split) -> tuple[FoldSide, FoldSide]:
        """Return both parts, transformed by a clone that is fitted to the training samples."""
        from sklearn.base import clone

        fitted = clone(self.estimator).fit(self.features[split.fitted], self.subjects[split.fitted])
        train, test = (self._scores_of_part(fitted, part) for part in (split.train, split.test))
        if test is not None:
            self._origin = test.origin
        return FoldSide(lambda: train), FoldSide(lambda: test)

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
