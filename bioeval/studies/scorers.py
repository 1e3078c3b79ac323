"""Scorers for scikit-learn, which measure how well transformed samples are recognised.

A scorer is called as ``scorer(estimator, X, y)``::

    embeddings = estimator.transform(X)  # (samples, features)
    scores = be.Scores.from_embeddings(embeddings, y)  # all against all; y: the subject of each
    return -be.verification(scores).eer  # or another measure; larger is better
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bioeval.base.arguments import require_choice, require_flag
from bioeval.base.errors import DataError, counted
from bioeval.base.kinds import Kind
from bioeval.base.options import require_memory
from bioeval.counting.order import increasing
from bioeval.counting.reduce import OfEachBlock, reduce
from bioeval.counting.thresholds import check_targets, to_user
from bioeval.counting.verification import CollectAttempts
from bioeval.scores.embeddings import Metric, kind_of_metric
from bioeval.scores.joining import in_order
from bioeval.scores.keys import keys_of
from bioeval.scores.matrix import Scores, require_scores
from bioeval.tasks.identification import closed_set
from bioeval.tasks.verification_task import verification

Measure = Literal["eer", "frr_at_far", "auc", "recognition_rate"]

# Whether a smaller value of a measure is better.
MEASURES: dict[Measure, bool] = {
    "eer": True,
    "frr_at_far": True,
    "auc": False,
    "recognition_rate": False,
}

#: A measure of the user: a function of all genuine and all impostor scores.
OwnMeasure = Callable[[np.ndarray, np.ndarray], Any]


# Labels of the two classes of pairs; True and False are equal to 1 and 0.
_CLASSES_OF_PAIRS: tuple[set, ...] = ({0, 1}, {-1, 1}, {"0", "1"}, {"genuine", "impostor"})


@dataclass(frozen=True, repr=False)
class Scorer:
    """A scorer of estimators by their transformed samples; see :func:`make_scorer`.

    It is immutable; it can be pickled if its metric and its measure can.

    Examples
    --------
    >>> import bioeval as be
    >>> be.eer_scorer
    make_scorer('eer', metric='cosine')
    """

    measure: Measure | OwnMeasure
    metric: Metric
    far_target: float
    kind: Kind = "distance"
    larger_is_better: bool = True

    def __sklearn_clone__(self) -> Scorer:
        return self

    def __repr__(self) -> str:
        """Write the call that makes it, without the options that have their defaults."""
        options = f"metric={self.metric!r}"
        if self.kind != "distance":
            options += f", kind={self.kind!r}"
        if self.measure == "frr_at_far":
            options += f", far_target={self.far_target!r}"
        if isinstance(self.measure, str):
            return f"make_scorer({self.measure!r}, {options})"
        if not self.larger_is_better:
            options += ", larger_is_better=False"
        return f"make_scorer({getattr(self.measure, '__name__', repr(self.measure))}, {options})"

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
        subjects = np.asarray(in_order(y, keys_of(X), "`y`", templates="`X`").values)
        _require_subjects(subjects, estimator)
        embeddings = np.asarray(estimator.transform(X), dtype=np.float64)
        return self.of_scores(
            Scores.from_embeddings(embeddings, subjects, metric=self.metric, kind=self.kind)
        )

    def of_scores(self, scores: Scores) -> float:
        """Return the score of a system by its scores; larger is better.

        Parameters
        ----------
        scores : Scores
            Scores of any kind; the metric of the scorer is not used.
        """
        require_scores(scores)
        if not isinstance(self.measure, str):
            value = self._own_measure(scores, self.measure)
            return value if self.larger_is_better else -value
        if self.measure == "recognition_rate":
            value = float(closed_set(scores, max_rank=1).recognition_rate)
        else:
            result = verification(scores, far_targets=(self.far_target,), auc=self.measure == "auc")
            value = float(result[self.measure].values.ravel()[0])
        return -value if MEASURES[self.measure] else value

    def _own_measure(self, scores: Scores, measure: OwnMeasure) -> float:
        """Return the value of a function of the user; NaN if a class has no attempt."""
        rows, columns = (*scores.shape, 1)[:2]  # a list of pairs has one column
        of_all = f"{rows:,} x {columns:,} scores"
        require_memory(8 * rows * columns, of_all, "expected fewer templates")

        # All genuine and all impostor scores, in order of their distances.
        attempts, impostors_of_blocks = reduce(
            scores, CollectAttempts(), OfEachBlock(lambda values: increasing(values.ravel()))
        )
        impostor = np.sort(np.concatenate([np.empty(0), *impostors_of_blocks]))
        classes = []
        for distances, failed in (
            (attempts.genuine, attempts.missed),
            (impostor, attempts.missed_impostors),
        ):
            with_failures = np.append(distances, np.full(failed, np.inf)).astype(np.float64)
            classes.append(to_user(with_failures, scores.kind))
        genuine_scores, impostor_scores = classes
        if not len(genuine_scores) or not len(impostor_scores):
            return float("nan")

        result = measure(genuine_scores, impostor_scores)
        # Tests of SciPy return an object with a statistic.
        value = getattr(result, "statistic", result)
        try:
            return float(np.asarray(value).item())
        except (TypeError, ValueError):
            raise DataError(
                f"the function given as `measure` returned {type(value).__name__}; expected a "
                "number"
            ) from None


def _require_subjects(subjects: np.ndarray, estimator: Any) -> None:
    """Raise :class:`DataError` if labels are those of pairs, or if all labels are different."""
    if subjects.ndim != 1 or len(subjects) <= 1:
        return
    # Two labels are taken for labels of pairs, unless the estimator knows more classes.
    labels = dict.fromkeys(subjects.tolist())
    if len(getattr(estimator, "classes_", ())) <= 2 and set(labels) in _CLASSES_OF_PAIRS:
        first, second = map(repr, labels)
        raise DataError(
            f"y has the labels {first} and {second} of genuine and impostor pairs; "
            "expected the subject of each sample. If they are two people, give them other "
            "names"
        )
    if len(labels) == len(subjects):
        raise DataError(
            "y has a different label for each of "
            f"{counted(len(subjects), 'samples')}; expected the subject of each sample, "
            "with several samples of a subject"
        )


def make_scorer(
    measure: Measure | OwnMeasure = "eer",
    *,
    metric: Metric = "cosine",
    kind: Kind | None = None,
    far_target: float = 0.001,
    larger_is_better: bool | None = None,
) -> Scorer:
    """Return a scorer ``scorer(estimator, X, y)`` for ``cross_val_score`` and ``GridSearchCV``.

    The estimator transforms the samples of the test part, which are compared all against all;
    ``y`` are their subjects. Divide by subject, with :class:`SubjectKFold` (or any splitter of
    groups, ``groups=y``): otherwise the subjects tested were trained on.

    Parameters
    ----------
    measure : {"eer", "frr_at_far", "auc", "recognition_rate"} or callable
        Error rates are negated, so that larger is better. NaN where a test part has no attempt
        of a class, as of a single subject. Or a function of two arrays, the scores of all genuine
        and of all impostor attempts of verification (distances, unless `kind` is another), that
        returns a number or a result of SciPy with a ``statistic``. It takes all scores at once.
    metric, kind
        As for :meth:`bioeval.Scores.from_embeddings`: a callable needs its kind.
    far_target : float
        FAR target of ``"frr_at_far"``.
    larger_is_better : bool, optional
        Whether larger values of a function as `measure` are better, as by default; other values are
        negated.

    Returns
    -------
    Scorer
        ``scorer.of_scores(scores)`` gives the measure of :class:`Scores`.

    Raises
    ------
    DataError
        Bad options.

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

    How far apart are genuine and impostor scores on average?

    >>> from scipy.stats import wasserstein_distance
    >>> apart = be.make_scorer(wasserstein_distance, metric="l2")
    >>> bool((cross_val_score(PCA(10), x, person, cv=folds, scoring=apart) > 1).all())
    True
    """
    if not callable(measure):
        require_choice("measure", measure, MEASURES)
        if larger_is_better is not None:
            raise DataError(
                f"`larger_is_better` is for a function; whether a larger {measure} is "
                "better is known"
            )
    kind = kind_of_metric(metric, kind)
    (target,) = check_targets([far_target], "far_target")
    larger = True
    if larger_is_better is not None:
        larger = require_flag("larger_is_better", larger_is_better)
    return Scorer(measure, metric, float(target), kind, larger)


eer_scorer = make_scorer("eer")
