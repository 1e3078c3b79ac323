"""Systems that are fitted in each fold: to the features of training samples, or to their scores."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bioeval.base.errors import BioevalWarning, DataError
from bioeval.base.messages import Message
from bioeval.base.progress import reporter, rows_reported_to
from bioeval.partition.base import LabelCodes
from bioeval.scores.embeddings import as_embeddings, kind_of_metric
from bioeval.scores.matrix import Scores, are_pairs, require_scores
from bioeval.scores.provenance import Provenance
from bioeval.studies.calibration.calibration import LOG_ODDS
from bioeval.studies.calibration.counts import LOG2, count_for_calibration
from bioeval.studies.folds.folds import FoldOptions, Folds, FoldSide, fold_of
from bioeval.studies.folds.splits import (
    PairSides,
    Part,
    PartSizes,
    Split,
    SplitPlan,
    SplitSides,
    plan_of_scores,
)
from bioeval.studies.fusion.fusion import require_systems

#: The scores of the training part and of the test part; None where one is empty.
Views = tuple[Scores | None, Scores | None]


class TrainedSystem:
    """Features, their subjects, and an estimator to fit in each fold."""

    def __init__(
        self, features: Any, splitter: Any, y: Any, meta: Any, estimator: Any, **compared_by: Any
    ):
        """Check features, subjects and estimator; `compared_by` are metric and kind."""
        self.kind, self.metric = kind_of_metric(**compared_by), compared_by["metric"]
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
        self.estimator = estimator
        self.plan = SplitPlan(splitter, n, self.subjects, None, meta)

    def subjects_in_both(self, split: Split) -> int:
        """Return the number of subjects of the test part that are in the training part, too."""
        return split.subjects_in_both(self.labels.codes)

    def sizes(self, split: Split) -> PartSizes:
        """Return the number of subjects in both parts."""
        return split.sizes(self.labels.codes)

    def views(self, split: Split) -> Views:
        """Return the scores of both parts by a clone that is fitted to the training samples."""
        from sklearn.base import clone

        fitted = clone(self.estimator).fit(self.features[split.fitted], self.subjects[split.fitted])
        return self._scores(fitted, split.train), self._scores(fitted, split.test)

    def _scores(self, fitted: Any, part: Part) -> Scores | None:
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
        names = len(self.labels)
        n, width = self.features.shape
        origin = scores._origin if scores is not None else ""
        return Provenance(
            name=type(self.estimator).__name__,
            layout="all-against-all",
            kind=self.kind,
            nan="raise",
            probes=n,
            gallery_templates=n,
            gallery_subjects=names,
            probe_subjects=names,
            enrolled_subjects=names,
            fingerprints=(f"{n} samples, {width} features labels:{self.labels.digest}",),
            origin=f"{self.estimator!r}; {origin}",
        )


class TransformedScores:
    """Scores, or systems by name, and an estimator of new scores to fit in each fold."""

    def __init__(self, data: Any, splitter: Any, estimator: Any):
        """Divide the first system; the others are divided alike."""
        self.estimator, self._named = estimator, isinstance(data, Mapping)
        self.systems: dict[str, Scores] = require_systems(data) if self._named else {"": data}
        self.first, *others = self.systems.values()
        require_scores(self.first, "the data")
        self.plan, sides = plan_of_scores(self.first, splitter)
        self.sides: list[SplitSides | PairSides] = [sides]
        for scores in others:
            if isinstance(sides, PairSides) and are_pairs(scores):
                self.sides.append(PairSides(scores, sides.by_subject))
            else:
                self.sides.append(SplitSides(scores, getattr(sides, "ids", ())))

    def subjects_in_both(self, split: Split) -> int | None:
        """Return the number of subjects of the test part that are in the training part, too."""
        return self.sides[0].subjects_in_both(split)

    def sizes(self, split: Split) -> PartSizes:
        """Return the number of subjects, or of pairs, in both parts."""
        return self.sides[0].sizes(split)

    def views(self, split: Split) -> Views:
        """Return the scores of both parts by a clone that is fitted to the training scores."""
        from sklearn.base import clone

        with warnings.catch_warnings():  # they are in the result, once
            warnings.simplefilter("ignore", BioevalWarning)
            fitted = clone(self.estimator).fit(self._input(Part.of(split.fitted), "training"))
            train, test = (self._transformed(fitted, part) for part in (split.train, split.test))
        return train, test

    def _input(self, part: Part, noun: str) -> Any:
        views = [sides.view(part) for sides in self.sides]
        if any(view is None for view in views):
            raise DataError(f"the {noun} part of a split has no scores to fit to")
        return dict(zip(self.systems, views, strict=True)) if self._named else views[0]

    def _transformed(self, fitted: Any, part: Part) -> Scores | None:
        if any(sides.view(part) is None for sides in self.sides):
            return None
        scores = fitted.transform(self._input(part, "test"))
        require_scores(scores, f"the result of {self.estimator!r}.transform")
        return scores

    def about(self, made: Scores | None) -> Provenance:
        """Return the provenance of the results."""
        about = Provenance.of(self.first)
        prints = [Provenance.of(scores).fingerprints for scores in self.systems.values()]
        return replace(
            about,
            kind=about.kind if made is None else made.kind,
            name=" + ".join(self.systems) or about.name,
            fingerprints=tuple(sum(prints, ())),
            origin="; ".join(filter(None, [repr(self.estimator), about.origin])),
        )


def evaluate_fitted(
    system: TrainedSystem | TransformedScores, options: FoldOptions
) -> tuple[Folds, Provenance]:
    """Fit a clone of the estimator in each fold, and evaluate it; also the source of the scores."""
    folds: Folds = {}
    about = None
    remarks: Counter[Message] = Counter()
    for place, split in system.plan.splits.items():
        with rows_reported_to(None):
            train, test = system.views(split)
            sides = FoldSide.of(train), FoldSide.of(test)
            made = train if test is None else test
            if made is not None:
                options = replace(options, kind=made.kind)
            fold = fold_of(*sides, system.sizes(split), options)
            folds[place] = fold
            if isinstance(system, TransformedScores):
                _add_of_scores(fold, system.sides[0], split, test, options)
                remarks.update(() if test is None else test._remarks)
        about = about or system.about(test)
        reporter()(len(folds), len(system.plan.splits))
    assert about is not None  # a plan has a split
    notes: Sequence[Message] = [
        remark.concerning(f"in {number} of {len(folds)} folds")
        for remark, number in remarks.items()
    ]
    return folds, replace(about, notes=tuple(dict.fromkeys([*about.notes, *notes])))


def _add_of_scores(
    fold: Any,
    sides: SplitSides | PairSides,
    split: Split,
    test: Scores | None,
    options: FoldOptions,
) -> None:
    """Add the pairs of two parts, and the cost of log-likelihood ratios, to a fold of scores."""
    if isinstance(sides, PairSides) and sides.by_subject:
        fold.counts["crossing_pairs"] = sides.crossing(split.test.probes)
    if options.task == "verification" and options.kind == "llr" and test is not None:
        even = slice(len(LOG_ODDS) // 2, len(LOG_ODDS) // 2 + 1)  # Cllr is of even odds
        counts = count_for_calibration(test, shifts=LOG_ODDS[even])
        assert counts.genuine_loss is not None and counts.impostor_loss is not None
        fold.points["cllr"] = float(counts.genuine_loss[0] + counts.impostor_loss[0]) / (2 * LOG2)
        pooled = counts.pooled
        least = np.nan if pooled is None else float(pooled.cross_entropy(np.zeros(1))[0])
        fold.points["min_cllr"] = least
