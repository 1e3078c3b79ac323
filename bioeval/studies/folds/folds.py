"""A threshold chosen on some attempts, judged on others: in folds of scores and of pairs."""

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

# Partitions that share a pass, times the pairs of folds of each.
SHARED = 1 << 12

NOTHING = Attempts.from_scores(np.empty(0), np.empty(0))

#: Numbers of a split by name, of the training and the test part or of the whole: one row of
#: :data:`bioeval.studies.folds.results.SplitNumbers`.
Fold = dict[str, Any]


# ------------------------------------------------------------------------- one part of the scores


@dataclass(frozen=True)
class Searched(OpenSetPoints):
    """Identification attempts of one part.

    Also the number of probes without a mate, of subjects in the gallery, and of probes whose rank
    equal scores decide.
    """

    skipped: int = 0
    gallery: int = 0
    tied: int = 0

    @classmethod
    def of_part(cls, searches: Searches, how: OpenSet, gallery: int) -> Self:
        """Return the attempts of searches in a gallery of `gallery` subjects."""
        mated = searches.mates > 0
        points = cls.from_searches(searches, how.ties, how.impostors)
        tied = int((searches.tied[mated] > 0).sum())
        return replace(points, skipped=int((~mated).sum()), gallery=gallery, tied=tied)

    def attempts(self) -> Attempts:
        """Return the attempts at rank 1; a mate at another rank is rejected at any threshold."""
        mate = np.full(self.genuine, np.nan)
        first = self.mate[self.ranks == 1]
        mate[: len(first)] = first
        return Attempts.with_failures(mate, self.other)

    def detected(self, threshold: float, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the genuine attempts accepted at a rank, and up to a rank; none at NaN."""
        accepted = self.ranks[self.mate <= threshold]
        return (
            (accepted == ranks[:, None]).sum(axis=1),
            (accepted <= ranks[:, None]).sum(axis=1),
        )

    def points(self, options: FoldOptions) -> Fold:
        """Return the operating points of this part: EER and DIR at FAR, or CMS at rank 1."""
        if options.task == "closed_set":
            first = np.count_nonzero(self.ranks == 1)
            return {"recognition_rate": first / self.genuine if self.genuine else math.nan}
        assert options.far_targets is not None
        dir_, _ = self.at_far(options.far_targets, int(options.ranks[-1]))
        return {"eer": self.equal_error.eer, "dir_at_far": dir_[:, options.ranks - 1]}


class FoldSide:
    """One part of the scores, selected when it is first read; there may be none."""

    def __init__(self, view: Callable[[], Scores | None], about: Provenance | None = None):
        """Take the function that selects the part, and the provenance of the whole."""
        self._view, self._about = view, about
        self._draw: Callable[[Scores], partition.DrawnClaims] | None = None
        self._ranked: dict[tuple[str, str], Searches] = {}

    @cached_property
    def scores(self) -> Scores | None:
        """The scores of the part; None without probes or without a gallery."""
        return self._view()

    @cached_property
    def claims(self) -> partition.DrawnClaims | None:
        """The claims that are its attempts, where they are drawn."""
        if self._draw is None or self.scores is None:
            return None
        return self._draw(self.scores)

    def draw_claims(self, draw: Callable[[Scores], partition.DrawnClaims]) -> None:
        """Take the function that draws the claims of the part from its scores."""
        self._draw = draw

    def attempts(self, options: FoldOptions, rule: Rule) -> Attempts:
        """Return the attempts of verification; of a large part, as far as a rule needs them."""
        if self.scores is None:
            return NOTHING
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
        """Return the operating points of verification, of attempts that the part has.

        They are counted anew if some of their scores are not known.
        """
        if not attempts.listed:
            attempts = self._verified(options, options.wanted).attempts
        return _of_one(options.points(attempts.points))

    def searched(self, options: FoldOptions) -> Searched:
        """Return the attempts of identification."""
        nothing, search_options = np.empty(0), options.search
        if self.scores is None:
            return Searched(nothing, nothing, nothing, 0, nothing)
        key = search_options.rank_unit, search_options.fusion
        if key not in self._ranked:
            self._ranked[key] = search(self.scores, search_options, self._about)
        gallery = len(self.scores.gallery_order.subjects)
        return Searched.of_part(self._ranked[key], search_options, gallery)


# -------------------------------------------------------------------------------------- one fold


def fold_of_searches(trained: Searched, tested: Searched, options: FoldOptions, rule: Rule) -> Fold:
    """Evaluate identification: choose a threshold on the training part; judge both parts by it."""
    parts = trained, tested
    if options.task == "closed_set":
        fold: Fold = {
            "attempts": [part.genuine for part in parts],
            "skipped": [part.skipped for part in parts],
            "cms_count": [part.detected(np.inf, options.ranks)[1] for part in parts],
        }
    else:
        attempts = [part.ranked.first for part in parts]
        chosen = choose_of_parts(rule, attempts[0])
        fold = _of_one(judged(chosen, attempts))
        detected = [part.detected(fold["threshold"], options.ranks) for part in parts]
        fold["di"], fold["detected"] = map(list, zip(*detected, strict=True))
    fold |= {"gallery_subjects": [part.gallery for part in parts], "tied": tested.tied}
    if options.far_targets is not None:
        fold |= tested.points(options)
    return fold


def _verification_of_fold(
    train: FoldSide,
    test: FoldSide,
    options: FoldOptions,
    rule: Rule,
    known: tuple[Attempts, Attempts] | None,
) -> Fold:
    trained = train.attempts(options, rule) if known is None else known[0]
    chosen = choose_of_parts(rule, trained.points)
    fixed = Rule("fixed", (float(chosen.threshold[0]) if chosen.defined[0] else -np.inf,))
    tested = test.attempts(options, fixed) if known is None else known[1]
    fold = _of_one(judged(chosen, [trained.points, tested.points]))
    if options.claims is not None:
        claims = [part.unenrolled(options) for part in (train, test)]
        fold["fa_unenrolled"] = [np.count_nonzero(x <= chosen.threshold) for x in claims]
        fold["unenrolled_attempts"] = [len(x) for x in claims]
    if options.far_targets is not None:
        fold |= test.points(options, tested)
    return fold


# ------------------------------------------------------------------------------------- all folds


class FoldedSystem:
    """What is evaluated in folds: scores as they are given, or made anew in each fold."""

    unit = "subjects"  # what the sizes of parts are numbers of
    together = True  # whether thresholds of many folds may be chosen together
    sides: Samples

    def __init__(self, scores: Scores, splitter: Any):
        self.plan, self.sides = plan_of_scores(scores, splitter)
        self.scores, self.kind = self.sides.scores, scores.kind  # with remarks on the folds
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
        """Return numbers of a fold beside its task and its sizes."""
        return {}


def _of_one(numbers: Numbers) -> Fold:
    return {name: values[0] for name, values in numbers.items()}


def stacked(folds: Sequence[Fold]) -> Numbers:
    """Return the numbers of splits, in their order, as arrays by name."""
    return {name: np.array([fold[name] for fold in folds]) for name in folds[0]}


def evaluate_folds(system: FoldedSystem, tasks: Sequence[FoldOptions]) -> list[Numbers]:
    """Evaluate several tasks in every split: numbers of the splits, of each task.

    See :data:`bioeval.studies.folds.results.SplitNumbers`. Many parts of a matrix are masks of what
    is sorted once; others are selected one by one.
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
    of_matrix = system.together and isinstance(system.sides, SplitSides)
    ranks_people = options.task != "verification" and options.search.rank_unit == "subject"
    return of_matrix and options.claims is None and not ranks_people


def _evaluate_selected(system: FoldedSystem, tasks: Sequence[FoldOptions]) -> list[Numbers]:
    by_task: list[tuple[FoldOptions, list[Fold], dict]] = [
        (options, [], _read_together(system, options)) for options in tasks
    ]
    splits, tell = system.plan.splits, reporter()
    with rows_reported_to(None):  # progress counts folds, and not the rows that they read
        for number, (place, split) in enumerate(splits.items()):
            train, test = system.parts(split)
            sizes = system.sides.sizes(split)
            for options, folds, read_before in by_task:
                rule = options.rule.as_distance(system.kind)
                if options.claims is not None:
                    train.draw_claims(partial(options.claims.draw, repeat=number, part=0))
                    test.draw_claims(partial(options.claims.draw, repeat=number, part=1))
                if options.task == "verification":
                    fold = _verification_of_fold(train, test, options, rule, read_before.get(place))
                else:
                    searched = train.searched(options), test.searched(options)
                    fold = fold_of_searches(*searched, options, rule)
                folds.append(fold | sizes | system.more_of(test, options))
            if any(place not in read_before for _, _, read_before in by_task):
                tell(number + 1, len(splits))
    return [stacked(folds) for _, folds, _ in by_task]


def _read_together(
    system: FoldedSystem, options: FoldOptions
) -> dict[Place, tuple[Attempts, Attempts]]:
    """Return the attempts of verification in training and test part of many folds of a matrix.

    Other folds are to be read part by part: experiments, drawn claims, and where templates are in
    every part, or a subject's fused templates in several.
    """
    plan, sides = system.plan, system.sides
    attempts_of_fold: dict[Place, tuple[Attempts, Attempts]] = {}
    if (
        not system.together
        or options.task != "verification"
        or options.claims is not None
        or plan.by_parts
        or not isinstance(sides, SplitSides)
        or sides.n < sides.templates  # templates that are in every part have no code
    ):
        return attempts_of_fold
    rule, divisions = options.rule.as_distance(system.kind), []
    for repeat in range(plan.shape[0]):
        codes, its = _codes_of_folds(plan, repeat, sides.n)
        if options.use.templates == "single" or sides.keeps_subjects(codes):
            divisions.append((repeat, (codes[sides.probe], codes[sides.gallery]), its))
    at_once = max(1, SHARED // (plan.shape[1] + 1) ** 2)
    passes = range(0, len(divisions), at_once)
    with rows_reported_to(reporter(), passes=2 * len(passes)):
        for first in passes:
            repeats, of_sides, parts = zip(*divisions[first : first + at_once], strict=True)
            counting = FoldAttempts(options.fused(system.kind), of_sides, parts, rule)
            (attempts,) = reduce(system.scores, counting)
            rows = system.scores.shape[0]
            report_rows(rows, rows)  # of a second pass that may not be needed
            for repeat, of_folds in zip(repeats, attempts, strict=True):
                for fold, (train, test) in enumerate(of_folds):
                    attempts_of_fold[repeat, fold] = train, test
    return attempts_of_fold


def _codes_of_folds(
    plan: SplitPlan, repeat: int, n: int
) -> tuple[np.ndarray, list[tuple[Subset, Subset]]]:
    """Return the fold of each sample, int64 (n,), and the training and test part of each fold.

    The parts are subsets of the codes; a sample of no fold has the largest code.
    """
    if plan.codes is not None:
        code = plan.codes[repeat]
        number = int(code.max()) + 1
        parts = [(Subset(k, inside=False), Subset(k)) for k in range(number)]
        return np.where(code < 0, number, code), parts
    split = plan.splits[repeat, 0]
    code = np.full(n, 2, dtype=np.int64)
    code[split.train.probes], code[split.test.probes] = 1, 0
    return code, [(Subset(1), Subset(0))]
