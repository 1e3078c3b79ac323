"""A threshold chosen on some attempts, judged on others: in folds of scores and of pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bioeval.attempts.by_subject import SubjectAttempts
from bioeval.attempts.folds import FoldAttempts, Subset
from bioeval.attempts.judged import Judged
from bioeval.attempts.threshold_rules import Rule, choose
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.base.progress import reporter, rows_reported_to
from bioeval.scores.blocks import BlockReader
from bioeval.scores.matrix import Scores
from bioeval.studies.folds.options import FoldOptions
from bioeval.studies.folds.parts import FoldSide, listed_attempts, parts_of
from bioeval.studies.folds.results import Fold
from bioeval.studies.folds.splits import PairSides, PartSizes, Place, SplitPlan, SplitSides

Folds = dict[Place, Fold]

# Partitions that share a look, times the pairs of folds of each.
SHARED = 1 << 12


def evaluate(
    reader: BlockReader,
    plan: SplitPlan,
    sides: SplitSides | PairSides,
    tasks: Sequence[FoldOptions],
) -> list[Folds]:
    """Evaluate several tasks in every split."""
    drawn = plan.by_parts or any(options.claims is not None for options in tasks)
    known: list[dict[Place, Judged]] = []
    for options in tasks:
        together = options.task == "verification" and not drawn
        known.append(_judged_together(reader, plan, sides, options) if together else {})
    trains = {place for place in plan.splits if any(place not in of_task for of_task in known)}
    reads = bool(trains) or any(options.far_targets is not None for options in tasks)
    sampler = next((x.claims for x in tasks if x.claims is not None), None)
    parts = None
    if isinstance(sides, SplitSides) and reads:
        sets = []
        for place, split in plan.splits.items():
            if place in trains:
                sets.append(sides.places(split.train))
            sets.append(sides.places(split.test))
        parts = parts_of(sides.scores, sets, tasks, reader.about)
    by_task: list[Folds] = [{} for _ in tasks]
    for done, (place, split) in enumerate(plan.splits.items(), 1):
        train, test = FoldSide(None), FoldSide(None)
        with rows_reported_to(None):  # each fold is told of, and not the rows that it reads
            if parts is not None:
                train = next(parts) if place in trains else train
                test = next(parts)
            if sampler is not None:
                train.draw(sampler, done - 1, 0)
                test.draw(sampler, done - 1, 1)
            for options, folds, judged in zip(tasks, by_task, known, strict=True):
                sizes = sides.sizes(split)
                folds[place] = fold_of(train, test, sizes, options, judged.get(place))
                if isinstance(sides, PairSides) and sides.by_subject:
                    folds[place].counts["crossing_pairs"] = sides.crossing(split.test.probes)
        if trains or isinstance(sides, PairSides):
            reporter()(done, len(plan.splits))
    return by_task


def _judged_together(
    reader: BlockReader, plan: SplitPlan, sides: SplitSides | PairSides, options: FoldOptions
) -> dict[Place, Judged]:
    """Choose thresholds of verification in many folds together.

    Other folds are to be read part by part: where templates are in every part, and where a
    subject's fused templates are in several.
    """
    rule = options.distance_rule
    found: dict[Place, Judged] = {}
    if isinstance(sides, PairSides):
        for place, split in plan.splits.items():
            train, test = (
                listed_attempts(sides.scores, sides.pairs_in(part.probes))
                for part in (split.train, split.test)
            )
            found[place] = Judged.of_listed(train, test, rule)
        return found
    together = {}
    for repeat in range(plan.shape[0]):
        codes, parts = _coded(plan, repeat, sides.n)
        alone = sides.n < sides.templates  # templates that are in every part have no code
        if not alone and (options.templates == "single" or sides.keeps_subjects(codes)):
            together[repeat] = codes, parts
    repeats = list(together)
    most = max(1, SHARED // (plan.shape[1] + 1) ** 2)
    looks = range(0, len(repeats), most)
    with rows_reported_to(reporter(), passes=2 * len(looks)):
        for first in looks:
            looked_at = repeats[first : first + most]
            of_folds = FoldAttempts(
                reader,
                options.templates,
                options.fusion,
                [(together[x][0][sides.probe], together[x][0][sides.gallery]) for x in looked_at],
            )
            judged = Judged.of_folds(of_folds, rule, [together[x][1] for x in looked_at])
            for repeat, of_repeat in zip(looked_at, judged, strict=True):
                found |= {(repeat, fold): each for fold, each in enumerate(of_repeat)}
    return found


def _coded(plan: SplitPlan, repeat: int, n: int) -> tuple[np.ndarray, list[tuple[Subset, Subset]]]:
    """Return the fold of each sample, and the training and test part of each fold."""
    if plan.codes is not None:
        code = plan.codes[repeat]
        number = int(code.max()) + 1
        parts = [(Subset(k, inside=False), Subset(k)) for k in range(number)]
        return np.where(code < 0, number, code), parts
    split = plan.splits[repeat, 0]
    code = np.full(n, 2, dtype=np.int64)
    code[split.train.probes], code[split.test.probes] = 1, 0
    return code, [(Subset(1), Subset(0))]


def fold_of(
    train: FoldSide,
    test: FoldSide,
    sizes: PartSizes,
    options: FoldOptions,
    known: Judged | None = None,
) -> Fold:
    """Evaluate a task: choose a threshold on one part, and judge it on the other."""
    if options.task == "verification":
        return _verified(train, test, sizes, options, known)
    trained, tested = train.searched(options), test.searched(options)
    if options.task == "closed_set":
        counts: dict[str, int] = {}
        for prefix, part in (("", tested), ("train_", trained)):
            counts |= {f"{prefix}genuine_attempts": len(part.ranks)}
            counts |= {f"{prefix}skipped": part.skipped}
        made = Fold(np.inf, True, counts, sizes)
    else:
        judged = Judged.of_listed(trained.attempts(), tested.attempts(), options.distance_rule)
        made = Fold.of_judged(judged, sizes)
    made.add_searches(trained, tested, options.ranks)
    if options.far_targets is not None:
        made.points = tested.points(options)
    return made


def _verified(
    train: FoldSide,
    test: FoldSide,
    sizes: PartSizes,
    options: FoldOptions,
    known: Judged | None,
) -> Fold:
    """Evaluate verification of one fold, with its drawn claims."""
    judged = known
    if judged is None:
        rule = options.distance_rule
        trained = train.attempts(options, rule)
        chosen = choose(rule, trained)
        at = chosen.threshold if chosen.defined else -np.inf
        judged = Judged(chosen, trained, test.attempts(options, Rule("fixed", (at,))))
    made = Fold.of_judged(judged, sizes, anew=options.chooses_anew)
    if options.claims is not None:
        for prefix, part in (("", test), ("train_", train)):
            unenrolled = part.unenrolled_probes
            fa, _ = unenrolled.errors_at(judged.chosen.threshold)
            made.counts[f"{prefix}fa_unenrolled"] = fa
            made.counts[f"{prefix}unenrolled_attempts"] = unenrolled.impostor_attempts
    if options.far_targets is not None:
        made.points = test.points(options, judged.test)
    return made


def attempts_by_subject(
    scores: Scores, templates: str = "single", fusion: str = "min"
) -> SubjectAttempts:
    """Return the verification attempts of some scores, by subject."""
    reader = BlockReader(scores)
    return SubjectAttempts(VerificationCounter(reader, templates=templates, fusion=fusion))
