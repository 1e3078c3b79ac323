"""The figures of :func:`bioeval.summary`, as blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.registry import scalar_registry
from bioeval.base.scalars import CMC, MIN_DCF, QUERY_MEANS, Scalar
from bioeval.results.blocks import Block, Note, Sentence, Table, Title
from bioeval.results.words import threshold_text
from bioeval.tallies.points import per_cent
from bioeval.views.tasks import with_unit


def summary_blocks(results: Mapping[str, Any]) -> Iterator[Block]:
    """Yield the figures of each task of a summary, of one or of several systems."""
    tasks: dict[str, Mapping[str, Any]] = {}
    for name, task_or_tasks in results.items():
        several = all(isinstance(x, Mapping) for x in task_or_tasks.values())
        if several:
            tasks |= {f"{name}: {k}": x for k, x in task_or_tasks.items()}
        else:
            tasks[name] = task_or_tasks
    for i, (task, numbers) in enumerate(tasks.items()):
        if i:
            yield Sentence()
        yield Title(task)
        heads, rows, counts = ["", "value"], [], []
        shown = list(figures(numbers))
        if any(figure.at is not None for figure in shown):
            heads.append("threshold")
        for figure in shown:
            cells = [figure.label, figure.written(figure.value)]
            if "threshold" in heads:
                cells.append(threshold_text(None if figure.at is None else float(figure.at)))
            rows.append(cells)
        yield Table(heads, rows, reworded="labels")
        for name, number in numbers.items():
            if name.endswith("attempts") or name == "queries":
                counts.append(f"{name.replace('_', ' ')}: {number:,}")
        yield Note(", ".join(counts), exact=True)


class Figure(NamedTuple):
    """One number of a summary, or its values over partitions."""

    label: str
    value: Any
    at: Any  # its threshold
    percent: bool

    def written(self, value: float) -> str:
        """Return one of its values as text."""
        if np.isnan(value):
            return "n/a"
        if self.percent:
            return f"{100 * value:.2f}"
        return f"{value:.4f}"


def figures(numbers: Mapping[str, Any]) -> Iterator[Figure]:
    """Yield each figure of a summary that has a label."""
    known = {**scalar_registry().averaged, "min_dcf": MIN_DCF, "cmc": CMC, **QUERY_MEANS}
    for name, value in numbers.items():
        scalar = known.get(name)
        if scalar is None or not scalar.label or name == "recognition_rate":
            continue
        each = {"": value} if not isinstance(value, Mapping) else value
        at = numbers.get(scalar.threshold or "", numbers.get("threshold_at_far"))
        for place, number in each.items():
            label = scalar.label
            if name.endswith(("_at_far", "_at_frr")):
                label = label.format(target=per_cent(float(place)))
            elif "{" in label:
                label = label.format(prior=place, rank="K" if place == "" else place)
            elif place != "":
                label = f"{label}, rank {place}"
            label = with_unit(label, scalar.percent)
            yield Figure(label, number, _at(at, place, scalar), scalar.percent)


def _at(at: Any, place: Any, scalar: Scalar) -> Any:
    """Return the threshold of a figure at its place; None without one."""
    if isinstance(at, Mapping):
        return at.get(place)
    if scalar.threshold:
        return at
    return None
