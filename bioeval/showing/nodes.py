"""The datasets of results, with their system, condition and task."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, NamedTuple

import xarray as xr

from bioeval.base.errors import DataError
from bioeval.results.dataset import STUDY_PARTS
from bioeval.views.tasks import datasets, system_of


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
    def name(self) -> str:
        """System, condition and task, as far as there are such."""
        return "/".join(filter(None, (self.system, self.condition, self.task)))

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
    """Yield the datasets of one result; those of a tree of systems have these as their own."""
    if not isinstance(result, xr.Dataset | xr.DataTree):
        raise no_result(result)
    study = str(result.attrs.get("result_type", "")) if isinstance(result, xr.DataTree) else ""
    if study:  # with its folds below it
        for node in result.subtree:
            below = node.path.strip("/")
            task = "/".join(filter(None, (study.replace("-", "_"), below)))
            yield Node(system, condition, task, node.to_dataset())
        return
    for path, dataset in datasets(result):
        if "result_type" not in dataset.attrs:
            raise DataError(
                "the dataset has no attribute `result_type`; expected what a function of bioeval "
                "returned, with its attributes"
            )
        own = system_of(path)
        task = path.removeprefix(own).strip("/") or _task(dataset)
        yield Node("/".join(filter(None, (system, own))), condition, task, dataset)


def nodes_of_study(node: Node) -> Iterator[Node]:
    """Yield the parts of a threshold study in one dataset, without its folds."""
    by_dims: dict[tuple[Hashable, ...], list[Hashable]] = {(): [], ("part",): [], ("rule",): []}
    for name, variable in node.dataset.data_vars.items():
        if variable.dims in by_dims:
            by_dims[variable.dims].append(name)
    paths = ("", *(f"/{part}" for part in STUDY_PARTS))
    titles = (node.dataset.attrs["task"], *STUDY_PARTS.values())
    for names, path, title in zip(by_dims.values(), paths, titles, strict=True):
        if names:
            part = node.dataset[names].assign_attrs(task=title)
            yield node._replace(task=f"threshold_study{path}", dataset=part)


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
