"""Folds over a matrix, over pairs or part by part; estimators."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bioeval import partition
from bioeval.attempts.by_subject import SubjectAttempts
from bioeval.attempts.folds import FoldAttempts, Subset
from bioeval.attempts.judged import Judged
from bioeval.attempts.lists import Attempts
from bioeval.attempts.passes import count_together
from bioeval.attempts.threshold_rules import Rule
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.base.errors import BioevalWarning, DataError
from bioeval.base.messages import Message
from bioeval.base.progress import reporter, rows_reported_to
from bioeval.partition.base import LabelCodes
from bioeval.scores.blocks import BlockReader
from bioeval.scores.embeddings import as_embeddings, kind_of_metric
from bioeval.scores.matrix import Scores, are_pairs, knows_people, require_scores
from bioeval.scores.pairs import PairScores
from bioeval.scores.provenance import Provenance
from bioeval.studies.calibration.calibration import LOG_ODDS
from bioeval.studies.calibration.counts import LOG2, count_for_calibration
from bioeval.studies.folds.options import FoldOptions
from bioeval.studies.folds.parts import NOTHING, FoldSide, PartAttempts, counted_parts
from bioeval.studies.folds.results import Fold
from bioeval.studies.folds.splits import (
    IndexSet,
    PairSides,
    Part,
    PartSizes,
    Place,
    Split,
    SplitPlan,
    SplitSides,
    plan_of,
    plan_of_scores,
    selected,
)
from bioeval.studies.fusion.fusion import require_systems

Folds = dict[Place, Fold]

# Partitions that share a look, times the pairs of folds of each.
SHARED = 1 << 12

# All data, among the repeats.
ON_ALL = -1


class Evaluated(NamedTuple):
    """The folds by repeat and number, and with `on_all` a threshold chosen on all data."""

    folds: Folds
    on_all: Judged | None


def verify(
    reader: BlockReader, plan: SplitPlan, sides: SplitSides | PairSides, options: FoldOptions
) -> Evaluated:
    """Evaluate verification over a matrix or over listed pairs."""
    if isinstance(sides, PairSides):
        return _verify_pairs(plan, sides, options)
    return _verify_matrix(reader, plan, sides, options)


def _verify_matrix(
    reader: BlockReader, plan: SplitPlan, sides: SplitSides, options: FoldOptions
) -> Evaluated:
    """Evaluate verification over a matrix, as many repeats together as memory allows."""
    scores = sides.scores
    judged: dict[int, list[Judged]] = {}
    together = {}
    apart = []
    for repeat in range(plan.shape[0]):
        coded = _coded(plan, repeat, sides.n)
        alone = sides.n < sides.templates  # templates that are in every part have no code
        if options.templates == "multi" and not alone:
            alone = not sides.keeps_subjects(coded.codes)
        if alone:
            apart.append(repeat)
        else:
            together[repeat] = coded
    if options.on_all:
        together[ON_ALL] = CodedFolds(np.zeros(sides.n, dtype=np.int64), [(Subset(0), Subset(0))])
    repeats = list(together)
    most = max(1, SHARED // (plan.shape[1] + 1) ** 2)
    looks = range(0, len(repeats), most)
    with rows_reported_to(reporter(), passes=2 * (len(looks) + len(apart))):
        for first in looks:
            looked_at = repeats[first : first + most]
            codes, parts = [], []
            for repeat in looked_at:
                coded = together[repeat]
                codes.append((coded.codes[sides.probe], coded.codes[sides.gallery]))
                parts.append(coded.parts)
            of_folds = FoldAttempts(reader, options.templates, options.fusion, codes)
            of_rule = Judged.of_folds(of_folds, options.distance_rule, parts)
            judged |= zip(looked_at, of_rule, strict=True)
        for repeat in apart:
            judged[repeat] = []
            with rows_reported_to(None):
                for fold in range(plan.folds_of(repeat)):
                    train, test = sides.views(plan.split((repeat, fold)))
                    judged[repeat].append(judge_parts(FoldSide(train), FoldSide(test), options))
            reporter()(2 * scores.shape[0], scores.shape[0])  # both passes at once
    folds = {}
    for place in plan.places:
        repeat, fold = place
        sizes = sides.sizes(plan.split(place))
        folds[place] = Fold.of_judged(judged[repeat][fold], sizes, anew=options.chooses_anew)
    if options.far_targets is not None:
        for place, chosen, attempts in counted_parts(scores, sides.tests(plan), [options]):
            tested = FoldSide(selected(scores, chosen), counted=attempts)
            listed = tested.attempts(options) if tested.listed else None
            folds[place].points = tested.points(options, listed)
    return Evaluated(folds, judged[ON_ALL][0] if options.on_all else None)


class CodedFolds(NamedTuple):
    """The fold of each sample, and the training and test part of each fold."""

    codes: np.ndarray
    parts: list[tuple[Subset, Subset]]


def _coded(plan: SplitPlan, repeat: int, n: int) -> CodedFolds:
    """Return the folds of a repeat."""
    if plan.codes is not None:
        code = plan.codes[repeat]
        number = plan.folds_of(repeat)
        parts = [(Subset(k, inside=False), Subset(k)) for k in range(number)]
        return CodedFolds(np.where(code < 0, number, code), parts)
    split = plan.split((repeat, 0))
    code = np.full(n, 2, dtype=np.int64)
    code[split.train], code[split.test] = 1, 0
    return CodedFolds(code, [(Subset(1), Subset(0))])


def listed_attempts(scores: PairScores, index: np.ndarray) -> Attempts:
    """Return some pairs as attempts; failed comparisons are left out."""
    row = scores._distances()
    index = index[row[index] == row[index]]
    genuine = scores.genuine[index]
    return Attempts.listed(row[index[genuine]], row[index[~genuine]])


def _verify_pairs(plan: SplitPlan, sides: PairSides, options: FoldOptions) -> Evaluated:
    """Evaluate verification over listed pairs."""
    folds = {}
    for done, place in enumerate(plan.places, 1):
        split = plan.split(place)
        train = listed_attempts(sides.scores, sides.pairs_in(split.train))
        test = listed_attempts(sides.scores, sides.pairs_in(split.test))
        folds[place] = fold_of_pairs(train, test, sides, split, options)
        reporter()(done, len(plan.places))
    if not options.on_all:
        return Evaluated(folds, None)
    every = listed_attempts(sides.scores, np.arange(sides.scores.shape[0]))
    return Evaluated(folds, Judged.of_listed(every, every, options.distance_rule))


def fold_of_pairs(
    train: Attempts, test: Attempts, sides: PairSides, split: Split, options: FoldOptions
) -> Fold:
    """Evaluate verification of listed pairs, from the attempts of the training and test part."""
    trained, tested = FoldSide(None, pairs=train), FoldSide(None, pairs=test)
    made = fold_of(trained, tested, sides.sizes(split), options)
    if sides.by_subject:
        made.counts["crossing_pairs"] = sides.crossing(split.test)
    return made


def attempts_by_subject(
    scores: Scores, templates: str = "single", fusion: str = "min"
) -> SubjectAttempts:
    """Return the verification attempts of some scores, by subject."""
    reader = BlockReader(scores)
    counter = VerificationCounter(reader, templates=templates, fusion=fusion)
    return SubjectAttempts(counter)


def evaluate_by_parts(
    plan: SplitPlan, sides: SplitSides | PairSides, tasks: Sequence[FoldOptions], about: Provenance
) -> list[Folds]:
    """Evaluate several tasks in every split of a matrix."""
    assert isinstance(sides, SplitSides)  # of pairs there is verification alone, by `verify`
    by_task: list[Folds] = [{} for _ in tasks]
    sampler = None
    for options in tasks:
        sampler = sampler or options.claims
    counted = counted_parts(sides.scores, _both_parts(plan, sides), tasks)
    for done, place in enumerate(plan.places, 1):
        split = plan.split(place)
        with rows_reported_to(None):  # each fold is told of, and not the rows that it reads
            train, test = parts_of(sides.scores, counted, sampler, done - 1, about, split.seen)
            for options, folds in zip(tasks, by_task, strict=True):
                folds[place] = fold_of(train, test, sides.sizes(split), options)
        reporter()(done, len(plan.places))
    return by_task


def _both_parts(plan: SplitPlan, sides: SplitSides) -> Iterator[tuple[Place, IndexSet]]:
    """Yield rows and columns of each training part, and those of its test part after it."""
    for place in plan.places:
        split = plan.split(place)
        yield place, sides.places(split.training)
        yield place, sides.places(split.tested)


def parts_of(
    scores: Scores,
    counted: Iterator[tuple[Place, IndexSet, PartAttempts]],
    sampler: partition.ClaimSampler | None,
    number: int,
    about: Provenance,
    seen: np.ndarray | None,
) -> tuple[FoldSide, FoldSide]:
    """Return the next training part and test part, with claims drawn for each.

    `seen` flags the probes of the test part whose subjects are in the training part, too.
    """
    parts = []
    for part, flags in enumerate((None, seen)):
        _, chosen, attempts = next(counted)
        view = selected(scores, chosen)
        claims = None
        if sampler is not None and view is not None:
            claims = sampler.draw(view, number, part=part)
        parts.append(FoldSide(view, claims, about, attempts, seen=flags))
    return parts[0], parts[1]


def fold_of(train: FoldSide, test: FoldSide, sizes: PartSizes, options: FoldOptions) -> Fold:
    """Evaluate a task: choose a threshold on one part, and judge it on the other."""
    if options.task == "verification":
        return _verified(train, test, sizes, options)
    return _identified(train, test, sizes, options)


def _verified(train: FoldSide, test: FoldSide, sizes: PartSizes, options: FoldOptions) -> Fold:
    """Evaluate verification of one fold, with its drawn claims and seen subjects."""
    judged = judge_parts(train, test, options)
    made = Fold.of_judged(judged, sizes, anew=options.chooses_anew)
    for prefix, part in (("", test), ("train_", train)):
        if options.claims is not None:
            unenrolled = part.unenrolled_probes
            fa, _ = unenrolled.errors_at(judged.chosen.threshold)
            made.counts[f"{prefix}fa_unenrolled"] = fa
            made.counts[f"{prefix}unenrolled_attempts"] = unenrolled.impostor_attempts
    if test.seen is not None:
        if test.seen.listed:
            among = test.seen.attempts(options)
        else:
            assert test.seen.scores is not None  # a part without scores is listed
            among = counted_at(
                judged.chosen.threshold, test.seen.scores, options.templates, options.fusion
            )
        made.counts |= _seen_counts(judged, among)
    if options.far_targets is not None:
        listed = judged.test if train.listed and test.listed else None
        made.points = test.points(options, listed)
    return made


def _identified(train: FoldSide, test: FoldSide, sizes: PartSizes, options: FoldOptions) -> Fold:
    """Evaluate identification of one fold."""
    trained, tested = train.searched(options), test.searched(options)
    if options.task == "closed_set":
        counts = {
            "genuine_attempts": len(tested.ranks),
            "skipped": tested.skipped,
            "train_genuine_attempts": len(trained.ranks),
            "train_skipped": trained.skipped,
        }
        made = Fold(np.inf, True, counts, sizes)
    else:
        judged = Judged.of_listed(trained.attempts(), tested.attempts(), options.distance_rule)
        made = Fold.of_judged(judged, sizes)
        if test.seen is not None:
            made.counts |= _seen_counts(judged, test.seen.searched(options).attempts())
    made = made.with_searches(trained, tested, options.ranks)
    if options.far_targets is not None:
        made.points = tested.points(options)
    return made


def _seen_counts(judged: Judged, seen: Attempts) -> dict[str, int]:
    """Return the attempts and errors of the seen subjects, and of the others in the test part."""
    counts: dict[str, int] = {}
    of_all = _errors_and_attempts(judged, judged.test)
    for name, number in _errors_and_attempts(judged, seen).items():
        counts |= {f"{name}_seen": number, f"{name}_unseen": of_all[name] - number}
    return counts


def _errors_and_attempts(judged: Judged, attempts: Attempts) -> dict[str, int]:
    """Return the counts of some attempts at the chosen threshold."""
    fa = fr = 0
    if judged.chosen.defined:
        fa, fr = attempts.errors_at(judged.chosen.threshold)
    return {
        "fa": fa,
        "fr": fr,
        "genuine_attempts": attempts.genuine_attempts,
        "impostor_attempts": attempts.impostor_attempts,
    }


def judge_parts(train: FoldSide, test: FoldSide, options: FoldOptions) -> Judged:
    """Choose a threshold of verification on one part, and count both parts at it."""
    rule, templates, fusion = options.distance_rule, options.templates, options.fusion
    if train.listed and test.listed:
        return Judged.of_listed(train.attempts(options), test.attempts(options), rule)
    if train.scores is None:
        assert test.scores is not None  # an empty part is listed
        counted = judge_all(test.scores, rule, templates, fusion)
        return Judged.of_listed(NOTHING, counted.test, rule)
    if test.scores is None:
        counted = judge_all(train.scores, rule, templates, fusion)
        return Judged(counted.chosen, counted.train, NOTHING)
    # One pass cannot tell the parts apart: of systems that are trained anew for each fold, and of
    # subjects who are in both parts and fused there.
    judged = judge_all(train.scores, rule, templates, fusion)
    at = judged.chosen.threshold
    return replace(judged, test=counted_at(at, test.scores, templates, fusion))


def judge_all(scores: Scores, rule: Rule, templates: str, fusion: str) -> Judged:
    """Choose a threshold on all scores and count them at it."""
    m, n = scores.shape
    in_one = np.zeros(m, dtype=np.int64), np.zeros(n, dtype=np.int64)
    attempts = FoldAttempts(BlockReader(scores), templates, fusion, [in_one])
    return Judged.of_folds(attempts, rule, [[(Subset(0), Subset(0))]])[0][0]


def counted_at(threshold: float, scores: Scores, templates: str, fusion: str) -> Attempts:
    """Return the numbers of attempts and errors of some scores at one threshold."""
    reader = BlockReader(scores)
    counter = VerificationCounter(reader, templates=templates, fusion=fusion)
    counter.given = np.array([-np.inf if math.isnan(threshold) else threshold])
    (tally,) = count_together(reader, [counter])
    return tally.attempts


class TrainedSystem:
    """Features, their subjects, and an estimator to fit in each fold."""

    unit = "subjects"

    def __init__(
        self, features: Any, splitter: Any, y: Any, meta: Any, estimator: Any, **compared_by: Any
    ):
        """Check features, subjects and estimator; `compared_by` are metric and kind."""
        self.kind = kind_of_metric(**compared_by)
        if isinstance(features, Scores):
            raise DataError(
                "estimator is given with Scores of a finished system; give the features of "
                "the samples, shape (n, f)"
            )
        self.features = as_embeddings(features, "data")
        if y is None:
            raise DataError("y is missing: the subject of each sample, to fit and to divide by")
        n = len(self.features)
        self.labels = LabelCodes(y, "y")
        self.subjects = self.labels.labels
        if len(self.subjects) != n:
            raise DataError(f"y has {len(self.subjects)} subjects for {n} samples; expected {n}")
        for method in ("fit", "transform"):
            if isinstance(estimator, type) or not hasattr(estimator, method):
                raise DataError(
                    f"estimator is {estimator!r}, not an object with {method}(); expected "
                    "a transformer, such as make_pipeline(PCA(50), LinearDiscriminantAnalysis())"
                )
        self.estimator, self.metric = estimator, compared_by["metric"]
        self.plan = plan_of(splitter, n, self.subjects, None, meta)

    def subjects_in_both(self, split: Split) -> int:
        """Return the number of subjects of the test part that are in the training part, too."""
        return split.subjects_in_both(self.labels.codes)

    def fold(self, split: Split, options: FoldOptions) -> tuple[Fold, Scores | None]:
        """Return the evaluation of a split, and the scores of its test part."""
        from sklearn.base import clone

        fitted = clone(self.estimator).fit(self.features[split.fitted], self.subjects[split.fitted])
        train = self.scores(fitted, split.training)
        test = self.scores(fitted, split.tested)
        judged, sizes = FoldSide(test, seen=split.seen), split.sizes(self.labels.codes)
        return fold_of(FoldSide(train), judged, sizes, options), test

    def scores(self, fitted: Any, part: Part) -> Scores | None:
        """Return the scores of some probes against a gallery; None if either is empty."""
        probes, gallery = part
        if not len(probes) or not len(gallery):
            return None
        made = [np.asarray(fitted.transform(self.features[probes])), self.subjects[probes]]
        if gallery is not probes:
            made += [np.asarray(fitted.transform(self.features[gallery])), self.subjects[gallery]]
        return Scores.from_embeddings(*made, metric=self.metric, kind=self.kind)

    def about(self, scores: Scores | None) -> Provenance:
        """Return the provenance of the results."""
        names = frozenset(map(repr, self.labels.values.tolist()))
        n, width = self.features.shape
        origin = scores._origin if scores is not None else ""
        return Provenance(
            name=type(self.estimator).__name__,
            layout="all-against-all",
            kind=self.kind,
            nan="raise",
            probes=n,
            gallery_templates=n,
            gallery_subjects=len(names),
            probe_subjects=names,
            enrolled_subjects=names,
            fingerprints=(f"{n} samples, {width} features labels:{self.labels.digest}",),
            origin=f"{self.estimator!r}; {origin}",
        )


class TransformedScores:
    """Scores, or systems by name, and an estimator of new scores to fit in each fold."""

    def __init__(self, data: Any, splitter: Any, estimator: Any):
        """Divide the first system; the others are divided alike."""
        self.estimator = estimator
        self._named = isinstance(data, Mapping)
        self.systems: dict[str, Scores] = {"": data}
        if self._named:
            self.systems = require_systems(data)
        else:
            require_scores(data, "the data")
        first, *other_systems = self.systems.values()
        self.first = first
        self.plan: SplitPlan
        self.plan, sides = plan_of_scores(first, splitter)
        self.sides: list[SplitSides | PairSides] = [sides]
        for scores in other_systems:
            if isinstance(sides, PairSides) and are_pairs(scores):
                self.sides.append(PairSides(scores, sides.by_subject))
            else:
                self.sides.append(SplitSides(scores, getattr(sides, "ids", ())))

    @property
    def unit(self) -> str:
        """What the parts are numbers of."""
        return unit_of_parts(self.first)

    def subjects_in_both(self, split: Split) -> int | None:
        """Return the number of subjects of the test part that are in the training part, too."""
        return self.sides[0].subjects_in_both(split)

    def fold(self, split: Split, options: FoldOptions) -> tuple[Fold, Scores | None]:
        """Return the evaluation of a split, and the new scores of its test part."""
        with warnings.catch_warnings():  # they are in the result, once
            warnings.simplefilter("ignore", BioevalWarning)
            return self._fold(split, options)

    def _fold(self, split: Split, options: FoldOptions) -> tuple[Fold, Scores | None]:
        """Return the evaluation of a split by a clone of the estimator, fitted in it."""
        from sklearn.base import clone

        sides = self.sides[0]
        views = [of_system.view(split.fitted) for of_system in self.sides]
        train_views, test_views = [], []
        for of_system in self.sides:
            trained, tested = of_system.views(split)
            train_views.append(trained)
            test_views.append(tested)
        fitted = clone(self.estimator).fit(self._input(views, "training"))
        train = self._transformed(fitted, train_views)
        test = self._transformed(fitted, test_views)
        made = train if test is None else test
        if made is not None:
            options = replace(options, kind=made.kind)
        if isinstance(sides, PairSides):
            fold = fold_of_pairs(_all_pairs(train), _all_pairs(test), sides, split, options)
        else:
            judged = FoldSide(test, seen=split.seen)
            fold = fold_of(FoldSide(train), judged, sides.sizes(split), options)
        if options.task == "verification" and options.kind == "llr" and test is not None:
            fold.points |= _cost_of_ratios(test)
        return fold, test

    def _input(self, views: Sequence[Scores | None], part: str) -> Any:
        there = [view for view in views if view is not None]
        if len(there) < len(views):
            raise DataError(f"the {part} part of a split has no scores to fit to")
        if self._named:
            return dict(zip(self.systems, there, strict=True))
        return there[0]

    def _transformed(self, fitted: Any, views: Sequence[Scores | None]) -> Scores | None:
        if None in views:
            return None
        scores = fitted.transform(self._input(views, "test"))
        require_scores(scores, f"the result of {self.estimator!r}.transform")
        return scores

    def about(self, made: Scores | None) -> Provenance:
        """Return the provenance of the results."""
        about = Provenance.of(self.first)
        if made is not None:
            about = replace(about, kind=made.kind)
        prints = [Provenance.of(scores).fingerprints for scores in self.systems.values()]
        return replace(
            about,
            name=" + ".join(self.systems) or about.name,
            fingerprints=tuple(sum(prints, ())),
            origin="; ".join(filter(None, [repr(self.estimator), about.origin])),
        )


def unit_of_parts(scores: Scores) -> str:
    """Return what the sizes of parts are numbers of."""
    return "pairs" if are_pairs(scores) and not knows_people(scores) else "subjects"


def _all_pairs(scores: Scores | None) -> Attempts:
    if are_pairs(scores):
        return listed_attempts(scores, np.arange(scores.shape[0]))
    return NOTHING


def evaluate_fitted(
    system: TrainedSystem | TransformedScores, options: FoldOptions
) -> tuple[Folds, Provenance]:
    """Fit a clone of the estimator in each fold, and evaluate it; also the source of the scores."""
    folds = {}
    about = None
    places = system.plan.places
    remarks: Counter[Message] = Counter()
    for done, place in enumerate(places, 1):
        with rows_reported_to(None):
            folds[place], made = system.fold(system.plan.split(place), options)
        about = about or system.about(made)
        if isinstance(system, TransformedScores) and made is not None:
            remarks.update(made._remarks)
        reporter()(done, len(places))
    assert about is not None  # a plan has a split
    notes = []
    for remark, number in remarks.items():
        notes.append(remark.concerning(f"in {number} of {len(places)} folds"))
    return folds, replace(about, notes=tuple(dict.fromkeys([*about.notes, *notes])))


def _cost_of_ratios(scores: Scores) -> dict[str, float | np.ndarray]:
    """Return Cllr of a test part, and its minimum."""
    counts = count_for_calibration(scores, shifts=LOG_ODDS[_EVEN])
    assert counts.genuine_loss is not None and counts.impostor_loss is not None
    cllr = float(counts.genuine_loss[0] + counts.impostor_loss[0]) / (2 * LOG2)
    pooled = counts.pooled
    least = np.nan if pooled is None else float(pooled.cross_entropy(np.zeros(1))[0])
    return {"cllr": cllr, "min_cllr": least}


# Cllr is the cross-entropy at even odds.
_EVEN = slice(len(LOG_ODDS) // 2, len(LOG_ODDS) // 2 + 1)
