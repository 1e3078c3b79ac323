"""The evaluation in folds: a threshold is chosen on the training part, and judged on both parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from bioeval import partition
from bioeval.base.progress import report_rows, reporter, rows_reported_to
from bioeval.counting.folds import FoldAttempts, Subset
from bioeval.counting.identification import Searches, search
from bioeval.counting.reduce import reduce
from bioeval.counting.sorted_attempts import Attempts
from bioeval.counting.threshold_rules import Rule, choose_of_parts
from bioeval.counting.verification import Verified, verify
from bioeval.counting.wanted_points import PointsWanted
from bioeval.protocol.tasks import OpenSet
from bioeval.results.identification import OpenSetPoints
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.provenance import Provenance
from bioeval.studies.folds.masked import MaskedFolds
from bioeval.studies.folds.options import FoldOptions, Numbers, judged
from bioeval.studies.folds.splits import (
    PairSides,
    Place,
    Samples,
    Split,
    SplitPlan,
    SplitSides,
    plan_of_scores,
)

# Partitions that share a pass over the scores, times the pairs of folds in each, at most.
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

    @classmethod
    def of_part(cls, searches: Searches, task: OpenSet, gallery: int) -> Self:
        """Return the attempts of searches in a gallery of `gallery` subjects."""
        is_mated = searches.mates > 0
        points = cls.from_searches(searches, task.ties, task.impostors)
        tied = int((searches.tied[is_mated] > 0).sum())
        return replace(points, skipped=int((~is_mated).sum()), gallery=gallery, tied=tied)

    def attempts(self) -> Attempts:
        """Return the attempts at rank 1; any threshold rejects a mate at another rank."""
        mate = np.full(self.genuine, np.nan)
        first = self.mate_distance[self.ranks == 1]
        mate[: len(first)] = first
        return Attempts.with_failures(mate, self.impostor_distances)

    def detected(self, threshold: float, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of mates accepted exactly at each rank, and up to each rank.

        `threshold` is a distance; NaN accepts none.
        """
        accepted = self.ranks[self.mate_distance <= threshold]
        return (
            (accepted == ranks[:, None]).sum(axis=1),
            (accepted <= ranks[:, None]).sum(axis=1),
        )

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

    def points(self, options: FoldOptions, attempts: Attempts) -> Fold:
        """Return the operating points of verification.

        The `attempts` of the part are counted anew if some of their scores are not known.
        """
        if not attempts.listed:
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
        return Searched.of_part(self._searches[key], task, gallery)


# -------------------------------------------------------------------------------------- one fold


def fold_of_searches(train: Searched, test: Searched, options: FoldOptions, rule: Rule) -> Fold:
    """Evaluate identification: choose a threshold on the training part; judge both parts by it."""
    parts = train, test
    if options.task == "closed_set":
        fold: Fold = {
            "attempts": [part.genuine for part in parts],
            "skipped": [part.skipped for part in parts],
            "cms_count": [part.detected(np.inf, options.ranks)[1] for part in parts],
        }
    else:
        attempts = [part.ranked.first for part in parts]
        chosen = choose_of_parts(rule, attempts[0])
        fold = _single(judged(chosen, attempts))
        detected = [part.detected(fold["threshold"], options.ranks) for part in parts]
        fold["di"], fold["detected"] = map(list, zip(*detected, strict=True))
    fold |= {"gallery_subjects": [part.gallery for part in parts], "tied": test.tied}
    if options.far_targets is not None:
        fold |= test.points(options)
    return fold


def _verification_of_fold(
    train: FoldSide,
    test: FoldSide,
    options: FoldOptions,
    rule: Rule,
    counted: tuple[Attempts, Attempts] | None,
) -> Fold:
    """Choose a threshold on the training part; judge both parts by it.

    `counted` has the attempts of both parts, if they were counted together with other folds.
    """
    train_attempts = train.attempts(options, rule) if counted is None else counted[0]
    chosen = choose_of_parts(rule, train_attempts.points)
    fixed = Rule("fixed", (float(chosen.threshold[0]) if chosen.defined[0] else -np.inf,))
    test_attempts = test.attempts(options, fixed) if counted is None else counted[1]
    fold = _single(judged(chosen, [train_attempts.points, test_attempts.points]))
    if options.claims is not None:
        unenrolled = [part.unenrolled(options) for part in (train, test)]
        fold["fa_unenrolled"] = [np.count_nonzero(x <= chosen.threshold) for x in unenrolled]
        fold["unenrolled_attempts"] = [len(x) for x in unenrolled]
    if options.far_targets is not None:
        fold |= test.points(options, test_attempts)
    return fold


# ------------------------------------------------------------------------------------- all folds


class FoldedSystem:
    """Scores that are evaluated in folds; derived classes make new scores in each fold."""

    unit = "subjects"  # the unit of the sizes of parts
    can_share_passes = True  # whether attempts of many folds may be counted in one pass
    sides: Samples

    def __init__(self, scores: Scores, splitter: Any):
        self.plan, self.sides = plan_of_scores(scores, splitter)
        self.scores, self.kind = self.sides.scores, scores.kind  # scores with remarks on the folds
        if scores.layout == "pairs" and not knows_people(scores):
            self.unit = "pairs"

    @cached_property
    def about(self) -> Provenance:
        """The provenance of the results."""
        return Provenance.from_scores(self.scores)

    def parts(self, split: Split) -> tuple[FoldSide, FoldSide]:
        """Return the training part and the test part."""
        assert isinstance(self.sides, SplitSides | PairSides)
        view, about = self.sides.view, self.about
        train, test = partial(view, split.train), partial(view, split.test)
        return FoldSide(train, about), FoldSide(test, about)

    def more_of(self, test: FoldSide, options: FoldOptions) -> Fold:
        """Return further numbers of a fold, besides the numbers of its task and its sizes."""
        return {}


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
    if any(_may_be_masked(system, options) for options in tasks):
        assert isinstance(system.sides, SplitSides)
        masked = MaskedFolds.from_scores(system.scores, system.plan, system.sides)
    if masked is None:
        return _evaluate_selected(system, tasks)
    return [
        masked.numbers(options, tell)
        if _may_be_masked(system, options)
        else _evaluate_selected(system, [options])[0]
        for options in tasks
    ]


def _may_be_masked(system: FoldedSystem, options: FoldOptions) -> bool:
    is_matrix = system.can_share_passes and isinstance(system.sides, SplitSides)
    ranks_people = options.task != "verification" and options.search.rank_unit == "subject"
    return is_matrix and options.claims is None and not ranks_people


def _evaluate_selected(system: FoldedSystem, tasks: Sequence[FoldOptions]) -> list[Numbers]:
    by_task: list[tuple[FoldOptions, list[Fold], dict]] = [
        (options, [], _counted_together(system, options)) for options in tasks
    ]
    splits, tell = system.plan.splits, reporter()
    with rows_reported_to(None):  # progress counts folds, and not the rows that they read
        for number, (place, split) in enumerate(splits.items()):
            train, test = system.parts(split)
            sizes = system.sides.sizes(split)
            for options, folds, counted in by_task:
                rule = options.rule.as_distance(system.kind)
                if options.claims is not None:
                    train.draw_claims(partial(options.claims.draw, repeat=number, part=0))
                    test.draw_claims(partial(options.claims.draw, repeat=number, part=1))
                if options.task == "verification":
                    fold = _verification_of_fold(train, test, options, rule, counted.get(place))
                else:
                    searched = train.searched(options), test.searched(options)
                    fold = fold_of_searches(*searched, options, rule)
                folds.append(fold | sizes | system.more_of(test, options))
            if any(place not in counted for _, _, counted in by_task):
                tell(number + 1, len(splits))
    return [stacked(folds) for _, folds, _ in by_task]


def _counted_together(
    system: FoldedSystem, options: FoldOptions
) -> dict[Place, tuple[Attempts, Attempts]]:
    """Count verification in many folds of a matrix; return the attempts of both parts by fold.

    Other folds must be counted part by part: folds of experiments and of drawn claims, of data with
    templates that are in every part, and folds that divide the templates of a subject to be fused.
    """
    plan, sides = system.plan, system.sides
    attempts_of_fold: dict[Place, tuple[Attempts, Attempts]] = {}
    if (
        not system.can_share_passes
        or options.task != "verification"
        or options.claims is not None
        or plan.by_parts
        or not isinstance(sides, SplitSides)
        or sides.n < sides.templates  # templates that are in every part have no code
    ):
        return attempts_of_fold
    rule, divisions = options.rule.as_distance(system.kind), []
    for repeat in range(plan.shape[0]):
        codes, parts_of_folds = _codes_of_folds(plan, repeat, sides.n)
        if options.use.templates == "single" or sides.keeps_subjects(codes):
            folds_of_sides = codes[sides.probe], codes[sides.gallery]
            divisions.append((repeat, folds_of_sides, parts_of_folds))
    at_once = max(1, SHARED // (plan.shape[1] + 1) ** 2)
    passes = range(0, len(divisions), at_once)
    with rows_reported_to(reporter(), passes=2 * len(passes)):
        for first in passes:
            repeats, codes_of_sides, parts = zip(*divisions[first : first + at_once], strict=True)
            counting = FoldAttempts(options.fused(system.kind), codes_of_sides, parts, rule)
            (attempts,) = reduce(system.scores, counting)
            rows = system.scores.shape[0]
            report_rows(rows, rows)  # the second pass may not be needed
            for repeat, attempts_of_folds in zip(repeats, attempts, strict=True):
                for fold, (train, test) in enumerate(attempts_of_folds):
                    attempts_of_fold[repeat, fold] = train, test
    return attempts_of_fold


def _codes_of_folds(
    plan: SplitPlan, repeat: int, n: int
) -> tuple[np.ndarray, list[tuple[Subset, Subset]]]:
    """Return a code for each sample, int64 (n,), and the training and test part of each fold.

    The parts are subsets of the codes. If every fold trains on all samples that it does not test,
    the code is the fold that tests the sample, and a sample that no fold tests has the largest
    code. Else there is one fold, with the codes 0 (test), 1 (training) and 2 (neither).
    """
    if plan.codes is not None:
        code = plan.codes[repeat]
        folds = int(code.max()) + 1
        parts = [(Subset(k, inside=False), Subset(k)) for k in range(folds)]
        return np.where(code < 0, folds, code), parts
    split = plan.splits[repeat, 0]
    code = np.full(n, 2, dtype=np.int64)
    code[split.train.probes], code[split.test.probes] = 1, 0
    return code, [(Subset(1), Subset(0))]
