"""Evaluation part by part: both parts of a split are read once, for all tasks."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bioeval.base.progress import reporter
from bioeval.evaluation.cross.counted_parts import PartAttempts, counted_parts
from bioeval.evaluation.cross.options import FoldOptions
from bioeval.evaluation.cross.parts import NOTHING, FoldSide
from bioeval.evaluation.cross.results import Fold
from bioeval.evaluation.cross.splits import SplitPlan, SplitSides
from bioeval.partition import ClaimSampler
from bioeval.scores.blocks import Progress
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import Provenance
from bioeval.tallies.by_fold.thresholds import (
    Judged,
    counted_at,
    judge_all,
    judge_listed,
    judge_two,
)
from bioeval.tallies.index_sets import IndexSet
from bioeval.tallies.threshold_search import Attempts

Folds = dict[tuple[int, int], Fold]


def evaluate_by_parts(
    plan: SplitPlan,
    sides: SplitSides,
    tasks: Sequence[FoldOptions],
    about: Provenance,
    progress: Progress | None,
) -> list[Folds]:
    """Evaluate several tasks in every split."""
    found: list[Folds] = [{} for _ in tasks]
    sampler = next((options.claims for options in tasks if options.claims is not None), None)
    both = ((place, plan.split(*place).sides) for place in plan.places)
    every = ((place, sides.places(*part)) for place, parts in both for part in parts)
    counted = counted_parts(sides.scores, every, tasks)
    for done, place in enumerate(plan.places, 1):
        split = plan.split(*place)
        train, test = parts_of(sides.scores, counted, sampler, done - 1, about, split.seen)
        for options, folds in zip(tasks, found, strict=True):
            folds[place] = fold_of(train, test, sides.sizes(split), options)
        if progress is not None:
            reporter(progress)(done, len(plan.places))
    return found


def parts_of(
    scores: Scores,
    counted: Iterator[tuple[Any, IndexSet, PartAttempts]],
    sampler: ClaimSampler | None,
    number: int,
    about: Provenance,
    seen: np.ndarray | None,
) -> tuple[FoldSide, FoldSide]:
    """Return the next training part and test part, with claims drawn for each.

    `seen` flags the probes of the test part whose subjects are in the training part, too.
    """
    parts = []
    for which, (_, chosen, attempts) in enumerate(itertools.islice(counted, 2)):
        view = scores.select(*chosen) if all(map(len, chosen)) else None
        claims = None
        if sampler is not None and view is not None:
            claims = sampler.draw(view, number, part=which)
        parts.append(FoldSide(view, claims, about, attempts, seen=seen if which else None))
    return parts[0], parts[1]


def fold_of(train: FoldSide, test: FoldSide, sizes: tuple[int, int], options: FoldOptions) -> Fold:
    """Evaluate a task: choose a threshold on one part, and judge it on the other."""
    if options.task == "verification":
        return _verified(train, test, sizes, options)
    return _identified(train, test, sizes, options)


def _verified(
    train: FoldSide, test: FoldSide, sizes: tuple[int, int], options: FoldOptions
) -> Fold:
    judged = judge_parts(train, test, options)
    made = Fold.of_judged(judged, *sizes)
    for prefix, part in (("", test), ("train_", train)):
        if options.claims is not None:
            unenrolled_probes = part.unenrolled_probes
            made.counts[f"{prefix}fa_unenrolled"] = judged.chosen.counts(unenrolled_probes)[0]
            made.counts[f"{prefix}unenrolled_attempts"] = unenrolled_probes.impostor_attempts
    if test.seen is not None:
        among = attempts_at(test.seen, judged.chosen.threshold, options)
        made.counts |= _seen_counts(judged, among)
    if options.far_targets is not None:
        listed = judged.test if train.listed and test.listed else None
        made.points = test.points(options, listed)
    return made


def _identified(
    train: FoldSide, test: FoldSide, sizes: tuple[int, int], options: FoldOptions
) -> Fold:
    trained, tested = train.searched(options), test.searched(options)
    closed = options.task == "closed_set"
    if closed:
        made, threshold = Fold(np.nan, True, {}, *sizes), np.inf
    else:
        judged = judge_listed(trained.attempts(), tested.attempts(), options.distance_rule)
        made, threshold = Fold.of_judged(judged, *sizes), judged.chosen.threshold
        if test.seen is not None:
            made.counts |= _seen_counts(judged, test.seen.searched(options).attempts())
    made.galleries = trained.gallery, tested.gallery
    for prefix, part in (("", tested), ("train_", trained)):
        if closed:
            made.counts[f"{prefix}genuine_attempts"] = len(part.ranks)
            made.counts[f"{prefix}skipped"] = part.skipped
        made.detected[prefix] = part.detected(threshold, options.ranks, made.defined)
    if options.far_targets is not None:
        made.points = tested.points(options)
    return made


def attempts_at(part: FoldSide, threshold: float, options: FoldOptions) -> Attempts:
    """Return the attempts of verification of a part, which may be counted at one threshold."""
    if part.listed:
        return part.attempts(options)
    assert part.scores is not None  # a part without scores is listed
    return counted_at(threshold, part.scores, options.templates, options.fusion)


def _seen_counts(judged: Judged, seen: Attempts) -> dict[str, int]:
    """Return the attempts and errors of the seen subjects, and of the others in the test part."""
    counts: dict[str, int] = {}
    found = []
    for attempts in (seen, judged.test):
        errors = judged.chosen.counts(attempts) if judged.chosen.defined else (0, 0)
        found.append((*errors, attempts.genuine_attempts, attempts.impostor_attempts))
    names = ("fa", "fr", "genuine_attempts", "impostor_attempts")
    for name, one, every in zip(names, *found, strict=True):
        counts |= {f"{name}_seen": one, f"{name}_unseen": every - one}
    return counts


def judge_parts(train: FoldSide, test: FoldSide, options: FoldOptions) -> Judged:
    """Choose a threshold of verification on one part, and count both parts at it."""
    rule = options.distance_rule
    if train.listed and test.listed:
        return judge_listed(train.attempts(options), test.attempts(options), rule)
    args = rule, options.templates, options.fusion
    if train.scores is not None and test.scores is not None:
        return judge_two(train.scores, test.scores, *args)
    only = train.scores if train.scores is not None else test.scores
    assert only is not None  # neither part is too large to be listed where it is empty
    both = judge_all(only, *args)
    if train.scores is None:
        return judge_listed(NOTHING, both.test, rule)
    return Judged(both.chosen, both.train, NOTHING)
