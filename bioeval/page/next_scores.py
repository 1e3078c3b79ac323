"""The scores next to the thresholds of a page: one threshold is printed alike in all its tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.messages import Message, message_attrs, messages_of
from bioeval.page.results import PageResults, accepts_larger
from bioeval.results.variables import NEXT
from bioeval.showing.nodes import Node, asked_thresholds

#: The name of a threshold in attributes, and of the curves over it.
_THRESHOLD = "threshold"


def with_shared_next(results: PageResults) -> PageResults:
    """Return results in which equal thresholds of a system have the nearest of their next scores.

    A threshold that was given, and that no result chose, has none: it is printed as it is.
    """
    systems = {x.system for x in results.nodes} | {x.system for x in results.documents}
    by_system = {system: _shared(results, system) for system in systems}
    return PageResults(
        [x._replace(dataset=_with_next(x.dataset, by_system[x.system])) for x in results.nodes],
        [
            x._replace(result=_document_with_next(x.result, by_system[x.system]))
            for x in results.documents
        ],
    )


def _shared(results: PageResults, system: str) -> dict[float, float]:
    """Return the next score of each threshold of a system, NaN of thresholds that were given."""
    chosen, without_next, of_curves = set[float](), set[float](), dict[float, float]()
    nodes = [x for x in results.nodes if x.system == system]
    is_larger = any(accepts_larger(x.dataset) for x in nodes)
    for node in nodes:
        without_next |= {*asked_thresholds(node.dataset)}
    thresholds = [x for node in nodes for x in _thresholds(node)]
    for document in results.documents:
        if document.system == system:
            thresholds += _thresholds_of_document(document.result)
    for is_of_curve, threshold, after in thresholds:
        if math.isnan(after):
            without_next.add(threshold)
            continue
        of_curves[threshold] = (max if is_larger else min)(after, of_curves.get(threshold, after))
        if not is_of_curve:
            chosen.add(threshold)
    return of_curves | dict.fromkeys(without_next - chosen, math.nan)


def _thresholds(node: Node) -> Iterator[tuple[bool, float, float]]:
    """Yield whether a threshold is of a curve, its value and the next score, NaN if not known."""
    dataset = node.dataset
    for name, variable in dataset.variables.items():
        if variable.attrs.get("shown") == "threshold":
            is_of_curve = name == _THRESHOLD in dataset.dims
            after = dataset.variables.get(f"{name}{NEXT}", np.full(variable.shape, np.nan))
            pairs = zip(variable.values.flat, np.asarray(after).flat, strict=True)
            yield from (
                (is_of_curve, float(threshold), float(x))
                for threshold, x in pairs
                if not np.isnan(threshold)
            )
    if isinstance(threshold := dataset.attrs.get(_THRESHOLD), float):  # of a workload
        yield False, threshold, float(dataset.attrs.get(f"{_THRESHOLD}{NEXT}", math.nan))


def _thresholds_of_document(result: Any) -> Iterator[tuple[bool, float, float]]:
    if (confusions := getattr(result, "confusions", None)) is not None:
        yield False, confusions.threshold, confusions.next
    elif (threshold := getattr(result, "threshold", None)) is not None:
        yield False, threshold, result.threshold_next


def _with_next(dataset: xr.Dataset, shared: dict[float, float]) -> xr.Dataset:
    """Return a dataset with these next scores of its thresholds."""
    after = {
        f"{name}{NEXT}": (variable.dims, _looked_up(variable.values, shared))
        for name, variable in dataset.variables.items()
        if variable.attrs.get("shown") == "threshold"
    }
    dataset = dataset.assign(after)
    if isinstance(threshold := dataset.attrs.get(_THRESHOLD), float):
        dataset = dataset.assign_attrs({f"{_THRESHOLD}{NEXT}": shared.get(threshold, math.nan)})
    messages = [_message_with_next(x, shared) for x in messages_of(dataset.attrs)]
    return dataset.assign_attrs(message_attrs(messages)) if messages else dataset


def _message_with_next(message: Message, shared: dict[float, float]) -> Message:
    arguments = dict(message.arguments)
    if isinstance(threshold := arguments.get(_THRESHOLD), float):
        arguments.pop(f"{_THRESHOLD}{NEXT}", None)
        after = shared.get(threshold, math.nan)
        arguments |= {} if math.isnan(after) else {f"{_THRESHOLD}{NEXT}": after}
    return Message(message.code, message.about, **arguments)


def _document_with_next(result: Any, shared: dict[float, float]) -> Any:
    if (confusions := getattr(result, "confusions", None)) is not None:
        after = shared.get(confusions.threshold, math.nan)
        return replace(result, confusions=replace(confusions, next=after))
    if (threshold := getattr(result, "threshold", None)) is not None:
        return replace(result, threshold_next=shared.get(threshold, math.nan))
    return result


def _looked_up(thresholds: np.ndarray, shared: dict[float, float]) -> np.ndarray:
    values = [shared.get(float(threshold), math.nan) for threshold in thresholds.flat]
    return np.array(values, dtype=np.float64).reshape(thresholds.shape)
