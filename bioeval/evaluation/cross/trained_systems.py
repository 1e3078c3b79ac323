"""Systems that are trained: fitted on the training subjects of each fold, and on nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.evaluation.cross.splits import Plan, plan_of
from bioeval.partition.samples import Labels
from bioeval.scores.about import About
from bioeval.scores.embeddings import as_embeddings
from bioeval.scores.labels import as_labels, digest
from bioeval.scores.matrix import Scores


class System:
    """Features, their subjects, and an estimator that is fitted anew for each fold."""

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
        self.codes = Labels(self.subjects, "y").codes
        self.plan: Plan = plan_of(splitter, n, self.subjects, None, meta)

    @property
    def count(self) -> int:
        """How many times the system is fitted."""
        return sum(self.plan.folds_of(repeat) for repeat in range(self.plan.shape[0]))

    def scores(self, fitted: Any, samples: np.ndarray) -> Scores | None:
        """Return the scores among some samples."""
        if not len(samples):
            return None
        made = np.asarray(fitted.transform(self.features[samples]))
        return Scores.from_embeddings(made, self.subjects[samples], metric=self.metric)

    def about(self, scores: Scores | None) -> About:
        """Say where the results come from."""
        names = frozenset(map(repr, Labels(self.subjects, "y").values.tolist()))
        n, width = self.features.shape
        origin = "" if scores is None else scores.origin
        return About(
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


def systems_of(
    system: System,
) -> Iterator[tuple[int, int, tuple[Scores | None, Scores | None], tuple[int, int]]]:
    """Yield repeat, fold, the scores of both parts, and how many subjects they are of."""
    from sklearn.base import clone

    for repeat in range(system.plan.shape[0]):
        for fold in range(system.plan.folds_of(repeat)):
            division = system.plan.division(repeat, fold)
            fitted = clone(system.estimator)
            fitted = fitted.fit(system.features[division.fitted], system.subjects[division.fitted])
            views = system.scores(fitted, division.train), system.scores(fitted, division.test)
            sizes = [len(np.unique(system.codes[part])) for part in (division.train, division.test)]
            yield repeat, fold, views, (sizes[0], sizes[1])
