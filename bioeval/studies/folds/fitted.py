"""Systems that are fitted in each fold, to features or to scores of the training part."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from bioeval.base.errors import BioevalWarning, DataError
from bioeval.base.messages import Message
from bioeval.partition.samples import LabelCodes
from bioeval.scores.embedding_arrays import as_embeddings
from bioeval.scores.joining import RowOrder
from bioeval.scores.matrix import Scores
from bioeval.scores.metrics import kind_of_metric
from bioeval.scores.provenance import Provenance
from bioeval.studies.folds.folds import FoldedSystem, FoldSide
from bioeval.studies.folds.options import FoldOptions
from bioeval.studies.folds.splits import (
    PairSides,
    Part,
    Samples,
    SamplesToDivide,
    Split,
    SplitPlan,
    SplitSides,
)
from bioeval.studies.fusion.fusion import SystemFusion, require_systems


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
        order = RowOrder(features, templates="the features")
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
        for method in ("fit", "transform"):
            if isinstance(estimator, type) or not hasattr(estimator, method):
                raise DataError(
                    f"estimator is {estimator!r}, not an object with {method}(); expected "
                    "a transformer, such as make_pipeline(PCA(50), LinearDiscriminantAnalysis())"
                )
        self.estimator = estimator
        self._origin = ""  # of the embeddings of the last fold
        self.plan = SplitPlan(splitter, SamplesToDivide(samples, self.subjects, meta=meta))
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
            fingerprints=(f"{samples} samples, {width} features labels:{self.labels.digest}",),
            origin=f"{self.estimator!r}; {self._origin}",
        )


class FusedSystems(FoldedSystem):
    """The scores of systems by name, and a fusion of them that is fitted in each fold."""

    is_fitted = True
    sides: SplitSides | PairSides
    scores: Scores

    def __init__(self, data: Any, splitter: Any, fusion: SystemFusion):
        """Divide the first system; the other systems are divided alike."""
        self.fusion = fusion
        self.systems = require_systems(data)
        first, *further = self.systems.values()
        super().__init__(first, splitter)
        sides = self.sides
        self._sides_of_systems: list[SplitSides | PairSides] = [sides]
        for scores in further:
            if isinstance(sides, PairSides) and scores.layout == "pairs":
                self._sides_of_systems.append(PairSides(scores, sides.by_subject))
            else:
                self._sides_of_systems.append(SplitSides(scores, getattr(sides, "ids", ())))
        self._remarks: Counter[Message] = Counter()

    def parts(self, split: Split) -> tuple[FoldSide, FoldSide]:
        """Return both parts, transformed by a clone that is fitted to the training scores."""
        from sklearn.base import clone

        with warnings.catch_warnings():  # the result has each warning once, as a message
            warnings.simplefilter("ignore", BioevalWarning)
            training = self._views(Part.of_one_set(split.fitted))
            if training is None:
                raise DataError("the training part of a split has no scores to fit to")
            fitted = clone(self.fusion).fit(training)
            train, test = (
                None if (views := self._views(part)) is None else fitted.transform(views)
                for part in (split.train, split.test)
            )
        transformed = train if test is None else test
        if transformed is not None:
            self.kind = transformed.kind
        if test is not None:
            self._remarks.update(test.remarks)
        return FoldSide(lambda: train), FoldSide(lambda: test)

    def _views(self, part: Part) -> dict[str, Scores] | None:
        """Return the scores of a part by system; None if the part has none."""
        views = {}
        for name, sides in zip(self.systems, self._sides_of_systems, strict=True):
            view = sides.view(part)
            if view is None:
                return None
            views[name] = view
        return views

    @property
    def about(self) -> Provenance:
        """The provenance of the results."""
        about = Provenance.from_scores(self.scores)
        systems = map(Provenance.from_scores, self.systems.values())
        folds = len(self.plan.splits)
        notes = [x.concerning(f"in {n} of {folds} folds") for x, n in self._remarks.items()]
        return replace(
            about,
            kind=self.kind,
            name=" + ".join(self.systems),
            fingerprints=tuple(x for system in systems for x in system.fingerprints),
            origin="; ".join(filter(None, [repr(self.fusion), about.origin])),
            notes=tuple(dict.fromkeys([*about.notes, *notes])),
        )
