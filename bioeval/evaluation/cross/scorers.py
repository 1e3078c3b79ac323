"""Scorers for scikit-learn: the recognition performance of transformed samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, counted, require_choice
from bioeval.evaluation.identification import closed_set
from bioeval.evaluation.verification import verification
from bioeval.scores.embeddings import kind_of_metric, known_metric
from bioeval.scores.matrix import Scores
from bioeval.tallies.points import check_far_targets

# Measures, and whether smaller is better.
MEASURES = {"eer": True, "frr_at_far": True, "auc": False, "recognition_rate": False}


# Labels of the two classes of pairs; True and False are the numbers 1 and 0.
_CLASSES_OF_PAIRS = {
    *("genuine", "impostor", "imposter", "target", "nontarget", "non-target", "match", "nonmatch"),
    *("non-match", "mated", "non-mated", "same", "different", "true", "false"),
}
_NUMBERS_OF_PAIRS: tuple[set, ...] = ({0, 1}, {-1, 1}, {"0", "1"})


@dataclass(frozen=True, repr=False)
class Scorer:
    """A scorer of estimators by their transformed samples; see :func:`make_scorer`.

    It is immutable, so that a clone is the scorer itself; it can be pickled if its metric can.

    Examples
    --------
    >>> import bioeval as be
    >>> be.eer_scorer
    make_scorer('eer', metric='cosine')
    """

    measure: str
    metric: Any
    templates: str
    far_target: float
    kind: str = "distance"

    def __sklearn_clone__(self) -> Scorer:
        return self

    def __repr__(self) -> str:
        options = f"metric={self.metric!r}"
        if self.kind != "distance":
            options += f", kind={self.kind!r}"
        if self.templates != "single":
            options += f", templates={self.templates!r}"
        if self.measure == "frr_at_far":
            options += f", far_target={self.far_target!r}"
        return f"make_scorer({self.measure!r}, {options})"

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return the score of an estimator; larger is better.

        Parameters
        ----------
        estimator : fitted estimator
            Its ``transform`` gives the embeddings.
        X : array_like, shape (n, f)
        y : sequence of hashable, shape (n,)
            The subject of each sample.

        Raises
        ------
        DataError
            If `y` is missing or holds no subjects: the two classes of pairs (True and False, 0 and
            1, genuine and impostor), or a label of its own for each sample. scikit-learn puts NaN
            in its place and warns, unless ``error_score="raise"``.
        """
        if y is None:
            raise DataError("y is missing: the scorer needs the subject of each sample")
        if not hasattr(estimator, "transform"):
            raise DataError(
                f"{type(estimator).__name__} has no transform(); expected one that returns the "
                "embeddings to compare"
            )
        _require_subjects(np.asarray(y), getattr(estimator, "classes_", ()))
        made = np.asarray(estimator.transform(X), dtype=np.float64)
        scores = Scores.from_embeddings(made, np.asarray(y), metric=self.metric, kind=self.kind)
        if self.measure == "recognition_rate":
            value = float(closed_set(scores, max_rank=1).recognition_rate)
        else:
            result = verification(
                scores,
                templates=self.templates,
                far_targets=(self.far_target,),
                auc=self.measure == "auc",
            )
            value = float(result[self.measure].values.ravel()[0])
        return -value if MEASURES[self.measure] else value


def _require_subjects(y: np.ndarray, classes: Sequence[Any]) -> None:
    """Raise :class:`DataError` where labels are those of pairs, or differ in every sample.

    `classes` are the labels that the estimator was fitted to, if it has some: where these are
    more than two, they are no classes of pairs.
    """
    if y.ndim != 1 or len(y) < 2:
        return
    labels = dict.fromkeys(y.tolist())
    words = {str(x).strip().casefold() for x in labels}
    named = words <= _CLASSES_OF_PAIRS
    if len(labels) == 2 and len(classes) <= 2 and (named or set(labels) in _NUMBERS_OF_PAIRS):
        first, second = map(repr, labels)
        raise DataError(
            f"y has the labels {first} and {second} of genuine and impostor pairs; expected "
            "the subject of each sample. If they are two people, give them other names"
        )
    if len(labels) == len(y):
        raise DataError(
            f"y has a different label for each of {counted(len(y), 'samples')}; expected the "
            "subject of each sample, with several samples of a subject"
        )


def make_scorer(
    measure: str = "eer",
    *,
    metric: Any = "cosine",
    kind: str | None = None,
    templates: str = "single",
    far_target: float = 0.001,
) -> Scorer:
    """Return a scorer ``scorer(estimator, X, y)`` for ``cross_val_score`` and ``GridSearchCV``.

    The estimator transforms the samples of the test part, which are compared all against all;
    ``y`` are their subjects. Divide by subject, with :class:`SubjectKFold` (or any splitter of
    groups, ``groups=y``): otherwise the subjects tested were trained on.

    Parameters
    ----------
    measure : {"eer", "frr_at_far", "auc", "recognition_rate"}
        Error rates are negated, so that larger is better. NaN where a test part has no attempt
        of a class, as of a single subject.
    metric, kind
        As for :meth:`bioeval.Scores.from_embeddings`: a callable needs its kind.
    templates : {"single", "multi"}
        As for :func:`bioeval.verification`.
    far_target : float
        FAR target of ``"frr_at_far"``.

    Returns
    -------
    Scorer

    Examples
    --------
    >>> import numpy as np, bioeval as be
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.model_selection import cross_val_score
    >>> rng = np.random.default_rng(0)
    >>> person = np.repeat(np.arange(20), 5)
    >>> x = rng.normal(size=(20, 30))[person] + rng.normal(size=(100, 30))
    >>> folds = be.partition.SubjectKFold(4)
    >>> found = cross_val_score(PCA(10), x, person, cv=folds, scoring=be.make_scorer("eer"))
    >>> found.shape, bool((found <= 0).all())
    ((4,), True)
    """
    require_choice("measure", measure, MEASURES)
    require_choice("templates", templates, ("single", "multi"))
    kind = kind_of_metric(known_metric(metric), kind)
    check_far_targets([far_target])
    return Scorer(measure, metric, templates, float(far_target), kind)


eer_scorer = make_scorer("eer")
