"""Verification in folds: over a matrix, over parts of it, and over listed pairs."""

from __future__ import annotations

import numpy as np

from bioeval.evaluation.cross.options import FoldOptions
from bioeval.evaluation.cross.results import Fold
from bioeval.evaluation.cross.splits import PairSides, Sides, Split, SplitPlan
from bioeval.scores.blocks import BlockReader, Progress, as_row
from bioeval.scores.matrix import PairScores, Scores
from bioeval.tallies.by_fold.sweep import Part
from bioeval.tallies.by_fold.thresholds import Judged, judge_folds, judge_listed, judge_two
from bioeval.tallies.by_subject import SubjectAttempts
from bioeval.tallies.threshold_search import Attempts
from bioeval.tallies.verification_job import VerificationJob


class _Ticker:
    """Adds up the rows done for a progress callback."""

    def __init__(self, progress: Progress, total: int):
        self.progress, self.done, self.total = progress, 0, total

    def __call__(self, rows: int) -> None:
        self.done = min(self.done + rows, self.total)
        self.progress(self.done, self.total)


def verify_matrix(
    reader: BlockReader,
    plan: SplitPlan,
    sides: Sides,
    options: FoldOptions,
    progress: Progress | None,
) -> dict[tuple[int, int], Fold]:
    """Evaluate verification over a matrix, each repeat in one sweep."""
    scores = sides.scores
    found: dict[tuple[int, int], Fold] = {}
    tick = None
    if progress is not None:
        tick = _Ticker(progress, 2 * plan.shape[0] * scores.shape[0])
    for repeat in range(plan.shape[0]):
        splits = [plan.split(repeat, fold) for fold in range(plan.folds_of(repeat))]
        code, parts = _coded(plan, repeat, sides.n)
        if options.templates == "multi" and not sides.keeps_subjects(code):
            judged = _fold_by_fold(sides, splits, options)
            if tick is not None:
                tick(2 * scores.shape[0])
        else:
            codes = code[sides.probe], code[sides.gallery]
            judged = judge_folds(
                reader, options.distance_rule, parts, codes, options.templates,
                options.fusion, tick,
            )  # fmt: skip
        for fold, (one, split) in enumerate(zip(judged, splits, strict=True)):
            found[repeat, fold] = Fold.of_judged(one, *sides.sizes(split))
    return found


def _coded(plan: SplitPlan, repeat: int, n: int) -> tuple[np.ndarray, list[tuple[Part, Part]]]:
    """Return the fold of each sample, and training and test part of each fold."""
    if plan.codes is not None:
        code = plan.codes[repeat]
        number = plan.folds_of(repeat)
        parts = [(Part(k, inside=False), Part(k)) for k in range(number)]
        return np.where(code < 0, number, code), parts
    split = plan.split(repeat, 0)
    code = np.full(n, 2, dtype=np.int64)
    code[split.train], code[split.test] = 1, 0
    return code, [(Part(1), Part(0))]


def _fold_by_fold(sides: Sides, splits: list[Split], options: FoldOptions) -> list[Judged]:
    """Evaluate each fold by itself, where templates of a subject are fused in several parts."""
    return [judge_views(sides.view(one.train), sides.view(one.test), options) for one in splits]


def judge_views(train: Scores | None, test: Scores | None, options: FoldOptions) -> Judged:
    """Choose a threshold on the training scores, and count both parts at it."""
    if train is None or test is None:
        nothing = Attempts.listed(np.empty(0), np.empty(0))
        only = next((s for s in (train, test) if s is not None), None)
        if only is None:
            return judge_listed(nothing, nothing, options.distance_rule)
        args = (options.distance_rule, options.templates, options.fusion)
        both = judge_two(only, only, *args)
        if train is None:
            return judge_listed(nothing, both.test, options.distance_rule)
        return Judged(both.chosen, both.train, nothing)
    return judge_two(train, test, options.distance_rule, options.templates, options.fusion)


def listed_attempts(scores: PairScores, index: np.ndarray) -> Attempts:
    """Return some pairs as attempts; failed comparisons are left out."""
    row = as_row(scores.values, scores.kind, scores.nan)[0]
    index = index[row[index] == row[index]]
    genuine = scores.genuine[index]
    return Attempts.listed(row[index[genuine]], row[index[~genuine]])


def verify_pairs(
    plan: SplitPlan, sides: PairSides, options: FoldOptions, progress: Progress | None
) -> dict[tuple[int, int], Fold]:
    """Evaluate verification over listed pairs."""
    found: dict[tuple[int, int], Fold] = {}
    for done, (repeat, fold) in enumerate(plan.places, 1):
        split = plan.split(repeat, fold)
        train, test = sides.pairs_in(split.train), sides.pairs_in(split.test)
        parts = [listed_attempts(sides.scores, pairs) for pairs in (train, test)]
        judged = judge_listed(parts[0], parts[1], options.distance_rule)
        made = Fold.of_judged(judged, sides.size_of(train), sides.size_of(test))
        if sides.by_subject:
            made.counts["crossing_pairs"] = sides.crossing(split.test)
        found[repeat, fold] = made
        if progress is not None:
            progress(done, len(plan.places))
    return found


def attempts_by_subject(scores: Scores, templates: str, fusion: str) -> SubjectAttempts:
    """Return the verification attempts of some scores, by subject."""
    reader = BlockReader(scores)
    job = VerificationJob(scores, reader, templates=templates, fusion=fusion)
    return SubjectAttempts(job, reader)
