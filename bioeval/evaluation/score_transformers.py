"""The base of estimators that are fitted to scores and give scores, in scikit-learn's form."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Self

from bioeval.base.errors import BioevalWarning, DataError
from bioeval.partition.base import Parameters
from bioeval.scores.matrix import Scores


class ScoreTransformer(Parameters, ABC):
    """An estimator with ``fit`` and ``transform`` on :class:`bioeval.Scores`."""

    @abstractmethod
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to training scores."""

    @abstractmethod
    def transform(self, X: Any) -> Scores:
        """Return new scores."""

    def fit_transform(self, X: Any, y: Any = None) -> Scores:
        """Fit to scores, and return new scores of the same ones.

        Parameters
        ----------
        X : Scores, or mapping of str to Scores
        y : ignored

        Returns
        -------
        Scores
        """
        return self.fit(X).transform(X)

    def __sklearn_tags__(self) -> Any:
        """Return the tags of a transformer, as pipelines of scikit-learn ask for them."""
        from sklearn.base import BaseEstimator

        return BaseEstimator().__sklearn_tags__()

    def _remark(self, said: Iterable[str]) -> None:
        """Warn of what `fit` has found, and keep it for the results of the new scores."""
        self.remarks_ = tuple(said)
        for text in self.remarks_:
            warnings.warn(text, BioevalWarning, stacklevel=3)

    def _fitted(self, name: str) -> Any:
        """Return what `fit` has found, or raise :class:`DataError`."""
        if not hasattr(self, name):
            raise DataError(f"this {type(self).__name__} is not fitted; call fit(training scores)")
        return getattr(self, name)


def transforms_scores(estimator: Any) -> bool:
    """Say whether an estimator takes scores, alone or as the steps of a pipeline."""
    steps = getattr(estimator, "steps", None)
    if steps:
        return all(transforms_scores(step) for _, step in steps)
    return isinstance(estimator, ScoreTransformer)
