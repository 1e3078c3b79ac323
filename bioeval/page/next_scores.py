"""The scores next to the thresholds of a page: one threshold is printed alike in all its tables."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.messages import Message, message_attrs, messages_of
from bioeval.page.results import PageResults, accepts_larger
from bioeval.results.variables import NEXT
from bioeval.showing.nodes import asked_thresholds

#: The name of a threshold in attributes, and of the curves over it.
_THRESHOLD = "threshold"


def with_shared_next(results: PageResults) -> PageResults:
    """Return results in which equal thresholds of a system have the nearest of their next scores.

    A threshold that was given, and that no result chose, has none: it is printed as it is.
    """
    systems = {x.system for x in results.nodes} | {x.system for x in results.documents}
    shared = {system: _shared(results, system) for system in systems}
    nodes = [x._replace(dataset=_with_next(x.dataset, shared[x.system])) for x in results.nodes]
    documents = [
        x._replace(result=_document_with_next(x.result, shared[x.system]))
        for x in results.documents
    ]
    return PageResults(nodes, documents)


def _shared(results: PageResults, system: str) -> dict[float, float]:
    """Return the next score of each threshold of a system; NaN for any other threshold."""
    chosen, without_next, of_curves = set[float](), set[float](), dict[float, float]()
    nodes = [x for x in results.nodes if x.system == system]
    nearest = max if any(accepts_larger(x.dataset) for x in nodes) else min
    for node in nodes:
        without_next |= {*asked_thresholds(node.dataset)}
    thresholds = [x for node in nodes for x in _thresholds(node.dataset)]
    for document in results.documents:
        if document.system == system:
            threshold = getattr(document.result, "threshold", None)
            if threshold is not None:
                thresholds.append((False, threshold, document.result.threshold_next))
    for is_of_curve, threshold, after in thresholds:
        if math.isnan(after):
            without_next.add(threshold)
            continue
        of_curves[threshold] = nearest(after, of_curves.get(threshold, after))
        if not is_of_curve:
            chosen.add(threshold)
    for threshold in without_next - chosen:
        of_curves[threshold] = math.nan
    return defaultdict(lambda: math.nan, of_curves)


def _thresholds(dataset: xr.Dataset) -> Iterator[tuple[bool, float, float]]:
    """Yield whether a threshold is of a curve, its value and the next score, NaN if not known."""
    for name, variable in dataset.variables.items():
        if variable.attrs.get("shown") == "threshold":
            is_of_curve = name == _THRESHOLD in dataset.dims
            after = dataset.variables.get(f"{name}{NEXT}", np.full(variable.shape, np.nan))
            for threshold, x in zip(variable.values.flat, np.asarray(after).flat, strict=True):
                if not np.isnan(threshold):
                    yield is_of_curve, float(threshold), float(x)
    if isinstance(threshold := dataset.attrs.get(_THRESHOLD), float):  # attribute of a workload
        yield False, threshold, float(dataset.attrs.get(f"{_THRESHOLD}{NEXT}", math.nan))


def _with_next(dataset: xr.Dataset, shared: dict[float, float]) -> xr.Dataset:
    next_of = np.vectorize(lambda threshold: shared[float(threshold)], otypes=[np.float64])
    after = {
        f"{name}{NEXT}": (variable.dims, next_of(variable.values))
        for name, variable in dataset.variables.items()
        if variable.attrs.get("shown") == "threshold"
    }
    dataset = dataset.assign(after)
    if isinstance(threshold := dataset.attrs.get(_THRESHOLD), float):
        dataset = dataset.assign_attrs({f"{_THRESHOLD}{NEXT}": shared[threshold]})
    messages = [_message_with_next(x, shared) for x in messages_of(dataset.attrs)]
    return dataset.assign_attrs(message_attrs(messages)) if messages else dataset


def _message_with_next(message: Message, shared: dict[float, float]) -> Message:
    arguments = dict(message.arguments)
    if isinstance(threshold := arguments.get(_THRESHOLD), float):
        arguments.pop(f"{_THRESHOLD}{NEXT}", None)
        if not math.isnan(shared[threshold]):
            arguments[f"{_THRESHOLD}{NEXT}"] = shared[threshold]
    return Message(message.code, message.about, **arguments)


def _document_with_next(result: Any, shared: dict[float, float]) -> Any:
    if (threshold := getattr(result, "threshold", None)) is not None:
        return replace(result, threshold_next=shared[threshold])
    return result
