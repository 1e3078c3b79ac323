"""Metrics that compare embeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.errors import DataError, received
from bioeval.base.kinds import METRICS, VALUED, Kind, MetricName

#: Other names of these metrics, as SciPy and scikit-learn have them.
_OtherName = Literal["euclidean", "manhattan", "cityblock", "chebyshev"]
_OTHER_NAMES: dict[str, MetricName] = {
    "euclidean": "l2",
    "manhattan": "l1",
    "cityblock": "l1",
    "chebyshev": "linf",
}

#: Metrics of embeddings: a name, or a function of probe and gallery embeddings.
Metric = MetricName | _OtherName | Callable[[np.ndarray, np.ndarray], np.ndarray]

#: Precision in which distances are computed.
FloatType = Literal["float64", "float32"]


def known_metric(metric: Metric) -> Metric:
    """Return the name of a metric in :data:`METRICS`, or the callable itself."""
    if callable(metric):
        return metric
    if isinstance(metric, str):
        metric = _OTHER_NAMES.get(metric, metric)
    require_choice("metric", metric, METRICS)
    return metric


def kind_of_metric(metric: Metric, kind: Kind | None) -> Kind:
    """Return the kind of the scores that a metric gives; with a callable, `kind` must say it."""
    known_metric(metric)
    if callable(metric):
        if kind is None:
            raise DataError(
                "`metric` is a function, and does not say whether smaller or larger "
                'scores are closer; give `kind="distance"` or `kind="similarity"`'
            )
        require_choice("kind", kind, VALUED)
        return kind
    if kind is not None and not (isinstance(kind, str) and kind == "distance"):
        raise DataError(
            f"`kind` is {received(kind)}, but the metric {metric!r} gives distances; "
            "leave the kind out, or give a function as metric"
        )
    return "distance"


def describe_metric(metric: Metric, embeddings: np.ndarray) -> str:
    name = f"metric {metric}"
    if callable(metric):
        name = f"function {getattr(metric, '__name__', type(metric).__name__)}"
    return f"{embeddings.shape[1]}-dimensional {embeddings.dtype} embeddings, {name}"
