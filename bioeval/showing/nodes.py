"""The datasets of results, with their system, condition and task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import xarray as xr

from bioeval.base.errors import DataError
from bioeval.results.dataset import THRESHOLD_STUDY
from bioeval.showing.tasks import TASKS, datasets, system_of


class Node(NamedTuple):
    """A dataset of results, and where it is among them."""

    system: str
    condition: str
    task: str
    dataset: xr.Dataset

    @property
    def result_type(self) -> str:
        """The code of the study, or of the task; empty of a part of a study."""
        return str(self.dataset.attrs.get("result_type", ""))

    @property
    def title(self) -> str:
        """The name of the task in words."""
        return str(self.dataset.attrs.get("task") or self.task or "results")

    @property
    def name(self) -> str:
        """System, condition and task, as far as there are such."""
        return "/".join(filter(None, (self.system, self.condition, self.task)))

    def name_of_system(self, label: Any = "") -> str:
        """Return the system with its condition; a `label` is of one that the dataset is over."""
        return "/".join(filter(None, (self.system, str(label), self.condition)))

    @property
    def columns(self) -> dict[str, str]:
        """The columns of a frame that say where the dataset is."""
        named = {"system": self.system, "condition": self.condition, "task": self.task}
        return {column: text for column, text in named.items() if text or column == "task"}


def nodes_of(results: Any) -> list[Node]:
    """Return the datasets of a result, of several by system, or by system and condition.

    Raise :class:`DataError` if they are something else.
    """
    if isinstance(results, xr.Dataset | xr.DataTree):
        results = {"": results}
    if not isinstance(results, Mapping):
        raise no_result(results)
    nodes: list[Node] = []
    for system, of_system in results.items():
        parts = of_system
        if not isinstance(parts, Mapping) or isinstance(parts, xr.Dataset | xr.DataTree):
            parts = {"": parts}
        for condition, part in parts.items():
            if isinstance(part, Mapping) and not isinstance(part, xr.Dataset | xr.DataTree):
                raise DataError(
                    f"the results of {system}, {condition} are a dict; expected a result, as "
                    "{system: {condition: result}} has it"
                )
            nodes += _nodes_of_result(part, str(system), str(condition))
    if not nodes:
        raise DataError("the results are empty: there is nothing to show")
    return nodes


def _nodes_of_result(result: Any, system: str, condition: str) -> Iterator[Node]:
    """Yield the datasets of one result, of a threshold study its parts.

    Those of a tree of systems have these as their own.
    """
    if not isinstance(result, xr.Dataset | xr.DataTree):
        raise no_result(result)
    for path, dataset in datasets(result):
        if "result_type" not in dataset.attrs:
            raise DataError(
                "the dataset has no attribute `result_type`; expected what a function of bioeval "
                "returned, with its attributes"
            )
        task = _task(dataset)
        if {*TASKS}.isdisjoint(path.split("/")):  # a study, perhaps beside tasks
            own = "/".join(name for name in path.split("/") if name != task)
        else:
            own = system_of(path)
            task = path.removeprefix(own).strip("/")
        name = "/".join(filter(None, (system, own)))
        if isinstance(result, xr.DataTree) and dataset.attrs["result_type"] == THRESHOLD_STUDY:
            study = result.root[f"/{path}"]
            for part in study.subtree:
                below = part.path.removeprefix(study.path.rstrip("/")).rstrip("/")
                yield Node(name, condition, task + below, part.to_dataset())
        else:
            yield Node(name, condition, task, dataset)


def _task(dataset: xr.Dataset) -> str:
    """Return the task of a dataset as its path in a tree would be."""
    task = str(dataset.attrs["result_type"]).replace("-", "_")
    templates = str(dataset.attrs.get("templates", "")) if task == "verification" else ""
    return f"{task}/{templates}" if templates else task


def no_result(results: Any) -> DataError:
    """Return the error of something else than a result."""
    hint = ""
    if hasattr(results, "probe_labels") or hasattr(results, "pair_subjects"):
        hint = "; evaluate scores first, as be.evaluate(scores)"
    return DataError(
        f"results is {type(results).__name__}; expected what a function of bioeval returned: a "
        f"dataset, a tree, a check of data, an explained row, or several datasets by name{hint}"
    )
