"""Verification in folds: over a matrix, over parts of it, and over listed pairs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bioeval.base.arguments import require_callable
from bioeval.evaluation.cross.by_parts import judge_parts
from bioeval.evaluation.cross.counted_parts import counted_parts
from bioeval.evaluation.cross.options import FoldOptions
from bioeval.evaluation.cross.parts import FoldSide
from bioeval.evaluation.cross.results import Fold
from bioeval.evaluation.cross.splits import PairSides, Split, SplitPlan, SplitSides
from bioeval.evaluation.ticker import ticker
from bioeval.scores.blocks import BlockReader, Progress, as_row
from bioeval.scores.matrix import Scores
from bioeval.scores.pairs import PairScores
from bioeval.tallies.by_fold.partition import Subset
from bioeval.tallies.by_fold.sweep import FoldSweep
from bioeval.tallies.by_fold.thresholds import Judged, judge_folds, judge_listed
from bioeval.tallies.by_subject import SubjectAttempts
from bioeval.tallies.threshold_search import Attempts
from bioeval.tallies.verification_job import VerificationJob

# Partitions that share a look, times the pairs of folds of each.
SHARED = 1 << 12

# All data, among the repeats.
ON_ALL = -1


class Evaluated(NamedTuple):
    """The folds by repeat and number, and with `on_all` a threshold chosen on all data."""

    folds: dict[tuple[int, int], Fold]
    on_all: Judged | None


def verify(
    reader: BlockReader,
    plan: SplitPlan,
    sides: SplitSides | PairSides,
    options: FoldOptions,
    progress: Progress | None,
) -> Evaluated:
    """Evaluate verification over a matrix or over listed pairs."""
    if isinstance(sides, PairSides):
        return _verify_pairs(plan, sides, options, progress)
    return _verify_matrix(reader, plan, sides, options, progress)


def _verify_matrix(
    reader: BlockReader,
    plan: SplitPlan,
    sides: SplitSides,
    options: FoldOptions,
    progress: Progress | None,
) -> Evaluated:
    """Evaluate verification over a matrix, as many repeats together as memory allows."""
    scores = sides.scores
    judged: dict[int, list[Judged]] = {}
    coded = {repeat: _coded(plan, repeat, sides.n) for repeat in range(plan.shape[0])}
    if options.on_all:
        coded[ON_ALL] = np.zeros(sides.n, dtype=np.int64), [(Subset(0), Subset(0))]
    if options.templates == "multi":
        apart = [repeat for repeat, x in coded.items() if not sides.keeps_subjects(x[0])]
    else:
        apart = []
    together = [repeat for repeat in coded if repeat not in apart]
    most = max(1, SHARED // (plan.shape[1] + 1) ** 2)
    looks = [together[i : i + most] for i in range(0, len(together), most)]
    tick = ticker(progress, 2 * (len(looks) + len(apart)) * scores.shape[0])
    for some in looks:
        codes = [(coded[x][0][sides.probe], coded[x][0][sides.gallery]) for x in some]
        sweep = FoldSweep(reader, options.templates, options.fusion, codes)
        parts = [coded[x][1] for x in some]
        judged |= zip(some, judge_folds(sweep, options.distance_rule, parts, tick), strict=True)
    for repeat in apart:
        splits = [plan.split(repeat, fold) for fold in range(plan.folds_of(repeat))]
        parts_of = (map(FoldSide, sides.views(split)) for split in splits)
        judged[repeat] = [judge_parts(train, test, options) for train, test in parts_of]
        tick(2 * scores.shape[0])
    found: dict[tuple[int, int], Fold] = {}
    for repeat, fold in plan.places:
        sizes = sides.sizes(plan.split(repeat, fold))
        found[repeat, fold] = Fold.of_judged(judged[repeat][fold], *sizes)
    if options.far_targets is not None:
        tests = ((place, sides.places(*plan.split(*place).sides[1])) for place in plan.places)
        for place, chosen, attempts in counted_parts(scores, tests, [options]):
            view = scores.select(*chosen) if all(map(len, chosen)) else None
            test = FoldSide(view, counted=attempts)
            listed = test.attempts(options) if test.listed else None
            found[place].points = test.points(options, listed)
    return Evaluated(found, judged[ON_ALL][0] if options.on_all else None)


def _coded(plan: SplitPlan, repeat: int, n: int) -> tuple[np.ndarray, list[tuple[Subset, Subset]]]:
    """Return the fold of each sample, and the training and test part of each fold."""
    if plan.codes is not None:
        code = plan.codes[repeat]
        number = plan.folds_of(repeat)
        parts = [(Subset(k, inside=False), Subset(k)) for k in range(number)]
        return np.where(code < 0, number, code), parts
    split = plan.split(repeat, 0)
    code = np.full(n, 2, dtype=np.int64)
    code[split.train], code[split.test] = 1, 0
    return code, [(Subset(1), Subset(0))]


def listed_attempts(scores: PairScores, index: np.ndarray) -> Attempts:
    """Return some pairs as attempts; failed comparisons are left out."""
    row = as_row(scores.values, scores.kind, scores.nan)[0]
    index = index[row[index] == row[index]]
    genuine = scores.genuine[index]
    return Attempts.listed(row[index[genuine]], row[index[~genuine]])


def _verify_pairs(
    plan: SplitPlan, sides: PairSides, options: FoldOptions, progress: Progress | None
) -> Evaluated:
    """Evaluate verification over listed pairs."""
    progress = require_callable("progress", progress)
    found: dict[tuple[int, int], Fold] = {}
    for done, (repeat, fold) in enumerate(plan.places, 1):
        split = plan.split(repeat, fold)
        train, test = sides.pairs_in(split.train), sides.pairs_in(split.test)
        parts = [listed_attempts(sides.scores, pairs) for pairs in (train, test)]
        found[repeat, fold] = fold_of_pairs(parts, (train, test), sides, split, options)
        if progress is not None:
            progress(done, len(plan.places))
    if not options.on_all:
        return Evaluated(found, None)
    every = listed_attempts(sides.scores, np.arange(sides.scores.shape[0]))
    return Evaluated(found, judge_listed(every, every, options.distance_rule))


def fold_of_pairs(
    attempts: list[Any],
    pairs: tuple[np.ndarray, np.ndarray],
    sides: PairSides,
    split: Split,
    options: FoldOptions,
) -> Fold:
    """Evaluate verification of listed pairs, from the attempts of the training and test part."""
    judged = judge_listed(attempts[0], attempts[1], options.distance_rule)
    made = Fold.of_judged(judged, *map(sides.size_of, pairs))
    if options.far_targets is not None:
        made.points = FoldSide(None).points(options, judged.test)
    if sides.by_subject:
        made.counts["crossing_pairs"] = sides.crossing(split.test)
    return made


def attempts_by_subject(scores: Scores, templates: str, fusion: str) -> SubjectAttempts:
    """Return the verification attempts of some scores, by subject."""
    reader = BlockReader(scores)
    job = VerificationJob(scores, reader, templates=templates, fusion=fusion)
    return SubjectAttempts(job, reader)
