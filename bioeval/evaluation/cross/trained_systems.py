"""Trained systems: an estimator is fitted anew on the training part of each fold."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.evaluation.cross.by_parts import fold_of
from bioeval.evaluation.cross.options import FoldOptions
from bioeval.evaluation.cross.parts import FoldSide
from bioeval.evaluation.cross.results import Fold
from bioeval.evaluation.cross.splits import Split, plan_of
from bioeval.partition.samples import LabelCodes
from bioeval.scores.blocks import Progress
from bioeval.scores.embeddings import as_embeddings
from bioeval.scores.labels import as_labels, digest
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import Provenance


class TrainedSystem:
    """Features, their subjects, and an estimator to fit in each fold."""

    def __init__(
        self, features: Any, splitter: Any, y: Any, meta: Any, estimator: Any, metric: Any
    ):
        if isinstance(features, Scores):
            raise DataError(
                "estimator is given with Scores, which a system has already made; give the "
                "features of the samples, shape (n, f)"
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

    def sizes(self, split: Split) -> tuple[int, int]:
        """Return the number of subjects in the training part and in the test part."""
        return split.sizes(self.labels.codes)

    def subjects_in_both(self, split: Split) -> int:
        """Return the number of subjects of the test part that are in the training part, too."""
        return split.subjects_in_both(self.labels.codes)

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


def evaluate_trained(
    system: TrainedSystem, options: FoldOptions, progress: Progress | None
) -> tuple[dict[tuple[int, int], Fold], Provenance]:
    """Fit a clone of the estimator in each fold, and evaluate it; also the source of the scores."""
    from sklearn.base import clone

    found: dict[tuple[int, int], Fold] = {}
    about = None
    places = system.plan.places
    for done, (repeat, fold) in enumerate(places, 1):
        split = system.plan.split(repeat, fold)
        fitted = clone(system.estimator)
        fitted = fitted.fit(system.features[split.fitted], system.subjects[split.fitted])
        train, test = (system.scores(fitted, *part) for part in split.sides)
        judged = FoldSide(test, seen=split.seen)
        found[repeat, fold] = fold_of(FoldSide(train), judged, system.sizes(split), options)
        if about is None:
            about = system.about(test)
        if progress is not None:
            progress(done, len(places))
    assert about is not None  # a plan has a split
    return found, about
