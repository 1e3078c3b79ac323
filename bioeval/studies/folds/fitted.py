"""Systems that are fitted in each fold, to features or to scores of the training part."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.partition.samples import LabelCodes
from bioeval.scores.embedding_arrays import as_embeddings
from bioeval.scores.features import FeatureSide, require_features, titles_of
from bioeval.scores.matrix import Scores
from bioeval.scores.metrics import kind_of_metric
from bioeval.scores.provenance import Provenance
from bioeval.scores.sides import RowOrder, keys_of
from bioeval.studies.folds.folds import FoldedSystem, FoldSide
from bioeval.studies.folds.options import FoldOptions
from bioeval.studies.folds.splits import (
    Part,
    Samples,
    SamplesToDivide,
    Split,
    SplitPlan,
    folds_in_order,
)


class TrainedSystem(FoldedSystem):
    """Features, their subjects, and an estimator that is fitted in each fold."""

    is_fitted = True

    def __init__(
        self, features: Any, splitter: Any, y: Any, meta: Any, estimator: Any, **compared_by: Any
    ):
        """Check features, subjects and estimator; `compared_by` are the options metric and kind."""
        self.kind = kind_of_metric(**compared_by)
        self.metric = compared_by["metric"]
        if isinstance(features, Scores):
            raise DataError(
                "estimator is given with Scores of a finished system; give the features of "
                "the samples, shape (n, f)"
            )
        order = RowOrder(keys_of(features), templates="the features")
        y, meta = order.bring(y, "`y`"), order.bring_each(meta, "meta")
        self.features = as_embeddings(features, "data")
        if y is None:
            raise DataError("y is missing: the subject of each sample, to fit and to divide by")
        samples = len(self.features)
        self.labels = LabelCodes(y, "y")
        self.subjects = self.labels.labels
        if len(self.subjects) != samples:
            raise DataError(
                f"y has {len(self.subjects)} subjects for {samples} samples; expected {samples}"
            )
        require_features(FeatureSide(self.features, self.subjects, "data", titles_of(features)))
        for method in ("fit", "transform"):
            if isinstance(estimator, type) or not hasattr(estimator, method):
                raise DataError(
                    f"estimator is {estimator!r}, not an object with {method}(); expected "
                    "a transformer, such as make_pipeline(PCA(50), LinearDiscriminantAnalysis())"
                )
        self.estimator = estimator
        self._origin = ""  # of the embeddings of the last fold
        divided = SamplesToDivide(samples, self.subjects, meta=meta)
        self.plan = SplitPlan(folds_in_order(splitter, order), divided, given=splitter)
        self._remarks = tuple(order.remarks)
        self.sides = Samples(self.labels.codes)

    def about_task(self, options: FoldOptions) -> Provenance:
        """Return the provenance of the results, which is the same for all tasks."""
        return self.about

    def parts(self, split: Split) -> tuple[FoldSide, FoldSide]:
        """Return both parts, transformed by a clone that is fitted to the training samples."""
        from sklearn.base import clone

        fitted = clone(self.estimator).fit(self.features[split.fitted], self.subjects[split.fitted])
        train, test = (self._scores_of_part(fitted, part) for part in (split.train, split.test))
        if test is not None:
            self._origin = test.origin
        return FoldSide(lambda: train), FoldSide(lambda: test)

    def _scores_of_part(self, fitted: Any, part: Part) -> Scores | None:
        """Return the scores of some probes against a gallery; None if either is empty."""
        probes, gallery = part
        if not len(probes) or not len(gallery):
            return None
        sides = [np.asarray(fitted.transform(self.features[probes])), self.subjects[probes]]
        if gallery is not probes:
            sides += [np.asarray(fitted.transform(self.features[gallery])), self.subjects[gallery]]
        return Scores.from_embeddings(*sides, metric=self.metric, kind=self.kind)

    @property
    def about(self) -> Provenance:
        """The provenance of the results."""
        names = len(self.labels)
        samples, width = self.features.shape
        return Provenance(
            name=type(self.estimator).__name__,
            layout="all-against-all",
            kind=self.kind,
            nan="raise",
            probes=samples,
            gallery_templates=samples,
            gallery_subjects=names,
            probe_subjects=names,
            enrolled_subjects=names,
            people=(names, names, names),
            notes=self._remarks,
            fingerprints=(f"{samples} samples, {width} features labels:{self.labels.digest}",),
            origin=f"{self.estimator!r}; {self._origin}",
        )
