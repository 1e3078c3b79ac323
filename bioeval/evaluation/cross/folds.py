"""Folds over a matrix, over listed pairs or part by part, for all tasks; attacks on them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.arguments import require_callable
from bioeval.base.errors import Argument, ProtocolError
from bioeval.base.progress import reporter
from bioeval.evaluation.cross.options import FoldOptions
from bioeval.evaluation.cross.parts import NOTHING, FoldSide, PartAttempts, counted_parts
from bioeval.evaluation.cross.results import Fold
from bioeval.evaluation.cross.splits import PairSides, Split, SplitPlan, SplitSides
from bioeval.evaluation.ticker import ticker
from bioeval.partition import ClaimSampler
from bioeval.results.dataset import rate
from bioeval.scores.attacks import AttackedScores, parted
from bioeval.scores.blocks import BlockReader, Progress, as_row
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.scores.pairs import PairScores
from bioeval.scores.provenance import Provenance
from bioeval.stats.options import BOOTSTRAPS
from bioeval.tallies.attacks import attack_attempts
from bioeval.tallies.by_fold import FoldSweep, Subset
from bioeval.tallies.by_subject import SubjectAttempts
from bioeval.tallies.index_sets import IndexSet
from bioeval.tallies.judged import (
    Judged,
    counted_at,
    judge_all,
    judge_folds,
    judge_listed,
    judge_two,
)
from bioeval.tallies.threshold_search import Attempts
from bioeval.tallies.verification_job import VerificationJob


def attacked_scores(scores: Scores, column: str) -> AttackedScores:
    """Return bona fide presentations and attacks of a matrix, to be divided by the former."""
    if are_pairs(scores):
        raise ProtocolError(
            f"{Argument('attack')} in folds needs a matrix with a target for each attack; "
            "bioeval.vulnerability evaluates a list of pairs"
        )
    return parted(scores, None, column)


def require_attacks(options: FoldOptions) -> None:
    """Raise :class:`ProtocolError` for options that attacks in folds do not have."""
    if options.task != "verification":
        raise ProtocolError(
            f"{Argument('attack')} is for verification; the task is {options.task_name}"
        )
    if options.claims is not None:
        raise ProtocolError(f"{Argument('attack')} does not go with drawn claims")
    if options.interval in BOOTSTRAPS:
        raise ProtocolError(
            f"{Argument('interval', options.interval)} has no limits of attack rates in folds; "
            f"expected {Argument('interval', 'nadeau-bengio')} or 'quantile'"
        )


def add_attacks(
    found: Mapping[tuple[int, int], Fold],
    plan: SplitPlan,
    sides: SplitSides | PairSides,
    options: FoldOptions,
) -> None:
    """Add the attacks on enrolled people of each test part, against its gallery alone."""
    parts = options.attacks
    assert parts is not None and isinstance(sides, SplitSides)
    target, enrolled = parts.attacks.codes.probe, parts.attacks.codes.gallery
    names = np.unique(parts.species)
    how = {"templates": options.templates, "fusion": options.fusion}
    for place, fold in found.items():
        columns = sides.places(*plan.split(*place).sides[1])[1]
        rows = np.flatnonzero(np.isin(target, enrolled[columns]))
        ia, number = (np.zeros(len(names), dtype=np.int64) for _ in range(2))
        if len(rows):
            view = parts.attacks.select(probes=rows, gallery=columns)
            here = replace(parts, attacks=view, species=parts.species[rows])
            attempts = attack_attempts(here, None, how)
            of = np.searchsorted(names, attempts.names)
            number[of] = attempts.number
            if fold.defined:
                ia[of] = attempts.at_most(np.array([fold.threshold]))[0]
        fold.counts |= {"ia": int(ia.sum()), "attack_attempts": int(number.sum())}
        made = number if fold.defined else 0 * number
        of_species = np.full(len(names), np.nan)
        np.divide(ia, made, out=of_species, where=made > 0)
        largest = float(np.fmax.reduce(of_species, initial=-np.inf))
        largest = largest if made.any() else np.nan
        frr = rate(np.array(fold.counts["fr"]), fold.counts["genuine_attempts"])
        points = {"iapar_max": largest, "riapar": largest + float(frr)}
        fold.points |= {**points, "iapar_of_species": of_species}


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
    job = VerificationJob(reader, templates=templates, fusion=fusion)
    return SubjectAttempts(job)


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
    """Return the attempts of verification of a part, to count at one threshold."""
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
