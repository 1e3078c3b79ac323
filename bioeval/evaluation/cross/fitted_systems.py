"""Estimators of features or of scores, fitted anew to the training part of each fold."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bioeval.base.errors import BioevalWarning, DataError
from bioeval.evaluation.calibration import LOG_ODDS
from bioeval.evaluation.cross.folds import fold_of, fold_of_pairs, listed_attempts
from bioeval.evaluation.cross.options import FoldOptions
from bioeval.evaluation.cross.parts import FoldSide
from bioeval.evaluation.cross.results import Fold
from bioeval.evaluation.cross.splits import (
    PairSides,
    Split,
    SplitPlan,
    SplitSides,
    plan_of,
    plan_of_scores,
)
from bioeval.evaluation.fusion import require_systems
from bioeval.partition.base import LabelCodes
from bioeval.scores.blocks import Progress
from bioeval.scores.embeddings import as_embeddings
from bioeval.scores.labels import as_labels, digest
from bioeval.scores.matrix import Scores, are_pairs, require_scores
from bioeval.scores.provenance import Provenance, describe
from bioeval.tallies.calibration_counts import count_for_calibration
from bioeval.tallies.isotonic import LOG2


class TrainedSystem:
    """Features, their subjects, and an estimator to fit in each fold."""

    unit = "subjects"

    def __init__(
        self, features: Any, splitter: Any, y: Any, meta: Any, estimator: Any, metric: Any
    ):
        if isinstance(features, Scores):
            raise DataError(
                "estimator is given with Scores of a finished system; give the features of "
                "the samples, shape (n, f)"
            )
        self.features = as_embeddings(features, "data")
        if y is None:
            raise DataError("y is missing: the subject of each sample, to fit and to divide by")
        n = len(self.features)
        self.subjects = as_labels(y, "y")
        if len(self.subjects) != n:
            raise DataError(f"y has {len(self.subjects)} subjects for {n} samples; expected {n}")
        for method in ("fit", "transform"):
            if isinstance(estimator, type) or not hasattr(estimator, method):
                raise DataError(
                    f"estimator is {estimator!r}, not an object with {method}(); expected "
                    "a transformer, such as make_pipeline(PCA(50), LinearDiscriminantAnalysis())"
                )
        self.estimator, self.metric = estimator, metric
        self.labels = LabelCodes(self.subjects, "y")
        self.plan = plan_of(splitter, n, self.subjects, None, meta)

    def subjects_in_both(self, split: Split) -> int:
        """Return the number of subjects of the test part that are in the training part, too."""
        return split.subjects_in_both(self.labels.codes)

    def fold(self, split: Split, options: FoldOptions) -> tuple[Fold, Scores | None]:
        """Return the evaluation of a split, and the scores of its test part."""
        from sklearn.base import clone

        samples = self.features[split.fitted], self.subjects[split.fitted]
        fitted = clone(self.estimator).fit(*samples)
        train, test = (self.scores(fitted, *part) for part in split.sides)
        judged, sizes = FoldSide(test, seen=split.seen), split.sizes(self.labels.codes)
        return fold_of(FoldSide(train), judged, sizes, options), test

    def scores(self, fitted: Any, probes: np.ndarray, gallery: np.ndarray) -> Scores | None:
        """Return the scores of some probes against a gallery; None if either is empty."""
        if not len(probes) or not len(gallery):
            return None
        sides = [probes] if gallery is probes else [probes, gallery]
        made = [
            x
            for side in sides
            for x in (np.asarray(fitted.transform(self.features[side])), self.subjects[side])
        ]
        return Scores.from_embeddings(*made, metric=self.metric)

    def about(self, scores: Scores | None) -> Provenance:
        """Return the provenance of the results."""
        names = frozenset(map(repr, self.labels.values.tolist()))
        n, width = self.features.shape
        origin = "" if scores is None else scores.origin
        return Provenance(
            name=type(self.estimator).__name__,
            layout="all-against-all",
            kind="distance",
            nan="raise",
            probes=n,
            gallery_templates=n,
            gallery_subjects=len(names),
            probe_subjects=names,
            enrolled_subjects=names,
            fingerprints=(f"{n} samples, {width} features labels:{digest(self.subjects)}",),
            origin=f"{self.estimator!r}; {origin}",
        )


class TransformedScores:
    """Scores, or systems by name, and an estimator of new scores to fit in each fold."""

    def __init__(self, data: Any, splitter: Any, estimator: Any):
        self.estimator = estimator
        self._named = isinstance(data, Mapping)
        if not self._named:
            require_scores(data, "the data")
        self.systems: dict[str, Scores] = require_systems(data) if self._named else {"": data}
        first, *others = self.systems.values()
        self.first = first
        self.plan: SplitPlan
        self.plan, sides = plan_of_scores(first, splitter)
        self.sides: list[SplitSides | PairSides] = [sides]
        for scores in others:
            if isinstance(sides, PairSides) and are_pairs(scores):
                self.sides.append(PairSides(scores, sides.by_subject))
            else:
                self.sides.append(SplitSides(scores))

    @property
    def unit(self) -> str:
        """What the parts are numbers of."""
        return "pairs" if are_pairs(self.first) and not self.first.knows_subjects else "subjects"

    def subjects_in_both(self, split: Split) -> int | None:
        """Return the number of subjects of the test part that are in the training part, too."""
        return self.sides[0].subjects_in_both(split)

    def fold(self, split: Split, options: FoldOptions) -> tuple[Fold, Scores | None]:
        """Return the evaluation of a split, and the new scores of its test part."""
        with warnings.catch_warnings():  # they are in the result, once
            warnings.simplefilter("ignore", BioevalWarning)
            return self._fold(split, options)

    def _fold(self, split: Split, options: FoldOptions) -> tuple[Fold, Scores | None]:
        from sklearn.base import clone

        sides = self.sides[0]
        fitted = clone(self.estimator).fit(
            self._given([one.view(split.fitted) for one in self.sides], "training")
        )
        if isinstance(sides, PairSides):
            parts = [[one.view(part) for one in self.sides] for part in (split.train, split.test)]
        else:
            both = [one.views(split) for one in self.sides if isinstance(one, SplitSides)]
            parts = [[one[k] for one in both] for k in (0, 1)]
        train, test = (self._transformed(fitted, part) for part in parts)
        made = test if test is not None else train
        options = options if made is None else replace(options, kind=made.kind)
        if isinstance(sides, PairSides):
            found = _pairs(train, test, sides, split, options)
        else:
            judged = FoldSide(test, seen=split.seen)
            found = fold_of(FoldSide(train), judged, sides.sizes(split), options)
        if options.task == "verification" and options.kind == "llr" and test is not None:
            found.points |= _cost_of_ratios(test, options)
        return found, test

    def _given(self, views: list[Scores | None], part: str) -> Any:
        there = [view for view in views if view is not None]
        if len(there) < len(views):
            raise DataError(f"the {part} part of a split has no scores to fit to")
        return dict(zip(self.systems, there, strict=True)) if self._named else there[0]

    def _transformed(self, fitted: Any, views: list[Scores | None]) -> Scores | None:
        if any(view is None for view in views):
            return None
        found = fitted.transform(self._given(views, "test"))
        require_scores(found, f"the result of {self.estimator!r}.transform")
        return found

    def about(self, made: Scores | None) -> Provenance:
        """Return the provenance of the results."""
        about = describe(self.first)
        prints = [describe(scores).fingerprints for scores in self.systems.values()]
        return replace(
            about,
            name=" + ".join(self.systems) or about.name,
            kind=about.kind if made is None else made.kind,
            fingerprints=tuple(sum(prints, ())),
            origin="; ".join(filter(None, [repr(self.estimator), about.origin])),
        )


def evaluate_fitted(
    system: TrainedSystem | TransformedScores, options: FoldOptions, progress: Progress | None
) -> tuple[dict[tuple[int, int], Fold], Provenance]:
    """Fit a clone of the estimator in each fold, and evaluate it; also the source of the scores."""
    found: dict[tuple[int, int], Fold] = {}
    about = None
    places = system.plan.places
    said: Counter[str] = Counter()
    for done, place in enumerate(places, 1):
        found[place], made = system.fold(system.plan.split(*place), options)
        about = about or system.about(made)
        if isinstance(system, TransformedScores) and made is not None:
            said.update(made.remarks)
        if progress is not None:
            progress(done, len(places))
    assert about is not None  # a plan has a split
    notes = [f"{text} (in {number} of {len(places)} folds)" for text, number in said.items()]
    return found, replace(about, notes=tuple(dict.fromkeys([*about.notes, *notes])))


def _pairs(
    train: Scores | None, test: Scores | None, sides: PairSides, split: Split, options: FoldOptions
) -> Fold:
    """Evaluate verification of listed pairs."""
    attempts = [
        listed_attempts(part, np.arange(part.shape[0]))
        if are_pairs(part)
        else FoldSide(None).attempts(options)
        for part in (train, test)
    ]
    pairs = sides.pairs_in(split.train), sides.pairs_in(split.test)
    return fold_of_pairs(attempts, pairs, sides, split, options)


def _cost_of_ratios(scores: Scores, options: FoldOptions) -> dict[str, float | np.ndarray]:
    """Return Cllr of a test part, and its minimum."""
    counts = count_for_calibration(
        scores, templates=options.templates, fusion=options.fusion, shifts=LOG_ODDS[_EVEN]
    )
    assert counts.genuine_loss is not None and counts.impostor_loss is not None
    cllr = float(counts.genuine_loss[0] + counts.impostor_loss[0]) / (2 * LOG2)
    pooled = counts.pooled
    least = np.nan if pooled is None else float(pooled.cross_entropy(np.zeros(1))[0])
    return {"cllr": cllr, "min_cllr": least}


# Cllr is the cross-entropy at even odds.
_EVEN = slice(len(LOG_ODDS) // 2, len(LOG_ODDS) // 2 + 1)
