"""The scores next to the thresholds of a page: one threshold is printed alike in all its tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bioeval.page.items import Item
from bioeval.results.variables import NEXT
from bioeval.views.tasks import asked_thresholds


def with_shared_next(items: list[Item]) -> list[Item]:
    """Return results in which equal thresholds of a system have the nearest of their next scores.

    A threshold that was given, and that no result chose, has none: it is printed as it is.
    """
    return [_with_next(x, _shared([y for y in items if y.system == x.system])) for x in items]


def _shared(items: list[Item]) -> dict[float, float]:
    """Return the next score of each threshold, NaN of one that was given."""
    chosen, given, of_curves = set[float](), set[float](), dict[float, float]()
    for x in items:
        given |= {*asked_thresholds(x.dataset)}
        nearer = max if x.larger else min
        for name, at, after in _thresholds(x):
            if math.isnan(after):
                given.add(at)
                continue
            of_curves[at] = nearer(after, of_curves.get(at, after))
            if name != "threshold" or "threshold" not in x.dataset.dims:
                chosen.add(at)
    return of_curves | dict.fromkeys(given - chosen, math.nan)


def _thresholds(item: Item) -> Iterator[tuple[str, float, float]]:
    """Yield the name of each threshold, its value and the next score, NaN where it is not known."""
    dataset = item.dataset
    for name, variable in dataset.variables.items():
        if variable.attrs.get("shown") == "threshold":
            after = dataset.variables.get(f"{name}{NEXT}", np.full(variable.shape, np.nan))
            pairs = zip(variable.values.flat, np.asarray(after).flat, strict=True)
            yield from ((str(name), float(at), float(x)) for at, x in pairs if not np.isnan(at))
    if isinstance(at := dataset.attrs.get("threshold"), float):  # of a workload
        yield "threshold", at, float(dataset.attrs.get(f"threshold{NEXT}", math.nan))
    if (confusions := getattr(item.result, "confusions", None)) is not None:
        yield "threshold", confusions.threshold, confusions.next
    elif (at := getattr(item.result, "threshold", None)) is not None:
        yield "threshold", at, item.result.threshold_next


def _with_next(item: Item, shared: dict[float, float]) -> Item:
    """Return a result with these next scores of its thresholds."""
    dataset, result = item.dataset, item.result
    after = {
        f"{name}{NEXT}": (variable.dims, _looked_up(variable.values, shared))
        for name, variable in dataset.variables.items()
        if variable.attrs.get("shown") == "threshold"
    }
    dataset = dataset.assign(after)
    if isinstance(at := dataset.attrs.get("threshold"), float):
        dataset = dataset.assign_attrs({f"threshold{NEXT}": shared.get(at, math.nan)})
    if (confusions := getattr(result, "confusions", None)) is not None:
        after_it = shared.get(confusions.threshold, math.nan)
        result = replace(result, confusions=replace(confusions, next=after_it))
    elif (at := getattr(result, "threshold", None)) is not None:
        result = replace(result, threshold_next=shared.get(at, math.nan))
    return replace(item, dataset=dataset, result=result)


def _looked_up(thresholds: np.ndarray, shared: dict[float, float]) -> np.ndarray:
    values = [shared.get(float(at), math.nan) for at in thresholds.flat]
    return np.array(values, dtype=np.float64).reshape(thresholds.shape)
