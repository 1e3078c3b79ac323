"""The datasets of results, and their places: system, condition and task.

Results are one dataset, a tree of tasks, or several of them by system, or by system and condition.
:func:`nodes_of` lists them as nodes: datasets with the names of their system, condition and task.
For ``{"ours": {"day": be.verification(by_day), "night": be.verification(by_night)}}``, they are ::

    system  condition  task
    ours    day        verification/single
    ours    night      verification/single

Rows of numbers follow from nodes (:mod:`bioeval.showing.rows`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError
from bioeval.counting.operating_points import COST_LABELS
from bioeval.results.attributes import THRESHOLD_STUDY, require_schema, study_in_one
from bioeval.results.beyond_scores import note_thresholds_beyond_scores
from bioeval.results.variables import TASKS as TABLES, VARIABLES, Variable, described
from bioeval.stats.aggregate import each_gallery

#: Results that are records: their dimension, and the variables that each record has.
RECORDS = {
    "worst-pairs": ("pair", ("comparison", "score", "row", "probe_label", "gallery_label")),
    "ranks": ("probe", ("identification_rank",)),
    "conventions": ("card", ("why_not",)),
}

#: Dimensions over which means and other statistics are shown in place of single values.
OVER = ("repeat", "fold", "partition")

#: The ends of titles that are true of results over these dimensions alone.
_ENDS = {
    ", over partitions": OVER,
    ", in folds": ("repeat", "fold"),
    ", in repeated experiments": ("repeat", "fold"),
}


#: Dimensions whose labels are points of measures, and the coordinates that label them.
_POINTS: dict[str, tuple[str, ...]] = {
    **{x: (x,) for x in ("far_target", "frr_target", "rank", "threshold")},
    "cost": COST_LABELS,
}


class Node(NamedTuple):
    """A dataset of results, and its place among them: system, condition and task."""

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
        title = str(self.dataset.attrs.get("task") or self.task or "results")
        for end, dims in _ENDS.items():
            if {"statistic", *dims}.isdisjoint(self.dataset.dims):
                title = title.removesuffix(end)
        return title

    @property
    def record(self) -> str:
        """The dimension of records; empty of other results, and of records that are changed."""
        dim, needed = RECORDS.get(self.result_type, ("", ()))
        variables = self.dataset.variables
        is_unchanged = all(name in variables and variables[name].dims == (dim,) for name in needed)
        return dim if is_unchanged else ""

    @property
    def selected(self) -> dict[str, Any]:
        """The labels of the places that were selected, by dimension: ``{"partition": 3}``."""
        return {
            str(name): coordinate.item()
            for name, coordinate in self.dataset.coords.items()
            if not coordinate.ndim and name != "system"
        }

    @property
    def changes(self) -> list[str]:
        """Sentences on what a user did to a result, of which its attributes say nothing."""
        attrs, dims = self.dataset.attrs, self.dataset.dims
        sentences = []
        is_task = self.result_type.replace("-", "_") in TABLES
        was_over_parts = not attrs.keys().isdisjoint(("partitions", "splitter_class", "experiment"))
        is_over_parts = not {*dims, *self.selected}.isdisjoint((*OVER, "statistic"))
        if is_task and was_over_parts and not is_over_parts:
            sentences.append(
                f"The {unit_of(attrs)}s of these results were reduced to one number, such as their "
                "mean: no number here is of a single evaluation."
            )
        # A dimension of bioeval has a described coordinate (but costs, whose labels are variables):
        # any other one comes from joining results, which keeps the attributes of the first.
        coordinates = self.dataset.coords
        joined = [
            dim
            for dim in map(str, dims)
            if dim != "cost" and not (dim in coordinates and coordinates[dim].attrs)
        ]
        if joined:
            names = " and ".join(dim.replace("_", " ") for dim in joined)
            sentences.append(
                f"The header and the notes may be those of the first result along {names} alone."
            )
        return sentences

    @property
    def name(self) -> str:
        """System, condition and task, joined by slashes."""
        return _path(self.system, self.condition, self.task)

    def name_of_system(self, label: Any = "") -> str:
        """Return the name of a system with its condition; `label` is its label in the dataset."""
        return _path(self.system, str(label), self.condition)

    @property
    def columns(self) -> dict[str, str]:
        columns = {"system": self.system, "condition": self.condition, "task": self.task}
        return {column: text for column, text in columns.items() if text or column == "task"}


def _path(*names: str) -> str:
    """Return names joined by slashes; empty names are left out."""
    return "/".join(filter(None, names))


def nodes_of(results: Any) -> list[Node]:
    """Return the datasets of a result, of several by system, or by system and condition.

    Raise :class:`DataError` for anything else.
    """
    if isinstance(results, xr.Dataset | xr.DataTree):
        results = {"": results}
    if not _is_plain_mapping(results):
        raise no_result(results)
    nodes: list[Node] = []
    for system, of_system in results.items():
        by_condition = of_system if _is_plain_mapping(of_system) else {"": of_system}
        for condition, result in by_condition.items():
            if _is_plain_mapping(result):
                raise DataError(
                    f"the results of {system}, {condition} are a dict; expected a result, as "
                    "{system: {condition: result}} has it"
                )
            nodes += _nodes_of_result(result, str(system), str(condition))
    if not nodes:
        raise DataError("the results are empty: there is nothing to show")
    return nodes


def _is_plain_mapping(results: Any) -> bool:
    """Whether results are a dictionary; datasets and trees are mappings, too."""
    return isinstance(results, Mapping) and not isinstance(results, xr.Dataset | xr.DataTree)


def _nodes_of_result(result: Any, system: str, condition: str) -> Iterator[Node]:
    """Yield the datasets of one result; a threshold study is split into its parts.

    In a tree of systems, the path of a dataset names system and task: `a/verification/single` is of
    the system `a` and the task `verification/single`. A study of the system is at `a/zoo`.
    """
    if not isinstance(result, xr.Dataset | xr.DataTree):
        raise no_result(result)
    for path, dataset in datasets(result):
        if "result_type" not in dataset.attrs:
            raise DataError(
                "the dataset has no attribute `result_type`; expected what a function of bioeval "
                "returned, with its attributes (`keep_attrs=True` keeps them in computations)"
            )
        result_type = str(dataset.attrs["result_type"])
        if result_type not in RECORDS:
            dataset = _with_points(dataset)

        # The task is in the path; of a study, or of a single dataset, it is the type of the result.
        system_in_tree, task = system_and_task(path)
        if not task:
            task = result_type.replace("-", "_")
            if task == "verification" and dataset.attrs.get("templates"):
                task = f"{task}/{dataset.attrs['templates']}"
            system_in_tree = "/".join(name for name in path.split("/") if name != task)

        # A system that was selected in a comparison of systems is the label of a scalar.
        label = ""
        if "system" in dataset.coords and not dataset.coords["system"].ndim:
            label = str(dataset.coords["system"].item())
        name = _path(system, system_in_tree, label)
        if isinstance(result, xr.DataTree) and result_type == THRESHOLD_STUDY:
            study = result.root[f"/{path}"]
            for part in study.subtree:
                # "" for the study itself, or "/part".
                path_in_study = part.path.removeprefix(study.path.rstrip("/")).rstrip("/")
                yield Node(name, condition, task + path_in_study, part.to_dataset())
        else:
            yield Node(name, condition, task, dataset)


def _with_points(dataset: xr.Dataset) -> xr.Dataset:
    """Return a dataset with a dimension of size 1 for each selected target, rank or threshold.

    So ``result.sel(far_target=0.01)`` has the rows, with their points, that it would have had
    before the selection. Costs that were selected by their prior are such points, too.
    """
    task = str(dataset.attrs.get("result_type", "")).replace("-", "_")
    table = TABLES.get(task, VARIABLES)
    for dim, labels in _POINTS.items():
        if labels[0] not in dataset.coords or dataset[labels[0]].ndim:
            continue
        variables: dict[Any, xr.Variable] = {}
        for name, variable in dataset.variables.items():
            measure = str(variable.attrs.get("measure", name))
            if name in labels or dim in _dims_of_measure(table, measure):
                dims = *variable.dims, dim
                values = variable.values[..., np.newaxis]
                variables[name] = xr.Variable(dims, values, variable.attrs)
        dataset = dataset.assign(variables)
    return dataset


def _dims_of_measure(table: Mapping[str, Variable], measure: str) -> tuple[str, ...]:
    """Return the dimensions that a measure has in every result; none for a user's own variable."""
    try:
        return described(table, measure).dims
    except KeyError:
        return ()


def no_result(results: Any) -> DataError:
    hint = ""
    if hasattr(results, "probe_labels") or hasattr(results, "pair_subjects"):
        hint = "; evaluate scores first, as be.evaluate(scores)"
    return DataError(
        f"results is {type(results).__name__}; expected what a function of bioeval returned: a "
        f"dataset, a tree, a check of data, an explained row, or several datasets by name{hint}"
    )


# The title of single- and multi-template verification that are equal.
_BOTH = "verification, single- and multi-template (one template per subject)"


def distinct_tasks(results: Mapping[str, xr.Dataset]) -> dict[str, xr.Dataset]:
    """Return the datasets of tasks; equal single- and multi-template verification is one task."""
    path_of_multi: dict[str, str] = {}
    for path, dataset in results.items():
        if dataset.attrs.get("templates") == "multi":
            path_of_multi[path.removesuffix("multi")] = path
    distinct = dict(results)
    for path, dataset in results.items():
        other = path_of_multi.get(path.removesuffix("single"))
        if dataset.attrs.get("templates") != "single" or other is None:
            continue
        # Attempts are compared first: they mostly differ, and xarray loads dask for datasets.
        attempts = "impostor_attempts"
        multi = results[other]
        are_known = attempts in dataset and attempts in multi
        if are_known and not np.array_equal(dataset[attempts].values, multi[attempts].values):
            continue
        if dataset.equals(multi):
            del distinct[other]
            distinct[path] = dataset.assign_attrs(task=_BOTH)
    return distinct


def distinct_nodes(nodes: Sequence[Node]) -> list[Node]:
    """Return nodes without the tasks that :func:`distinct_tasks` leaves out."""
    by_name = distinct_tasks({node.name: node.dataset for node in nodes})
    return [x._replace(dataset=by_name[x.name]) for x in nodes if x.name in by_name]


def unit_of(attrs: Any) -> str:
    """Return the unit of a result: folds, repeats of an experiment, or other partitions."""
    if "partitions" in attrs:
        return "partition"
    if "experiment" in attrs:
        return "repeat"
    return "fold"


#: The nodes of an evaluation, in the order in which they are shown.
TASKS = (
    *("verification", "single", "multi", "visits", "claims"),
    *("open_set", "closed_set", "reid", "gom"),
)


def datasets(tree: xr.DataTree | xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
    """Yield the path and the dataset of each task, in the order of display.

    A threshold study is one dataset: see :func:`study_in_one`. Each of several galleries, and the
    mean over them, takes the place of a system.
    """
    by_system: dict[str, list[tuple[str, xr.Dataset]]] = {}
    for path, dataset in _datasets(tree):
        system, task = system_and_task(path)
        if "gallery" not in dataset.dims:
            by_system.setdefault(system, []).append((path, dataset))
            continue
        for name, of_gallery in each_gallery(dataset).items():
            path_of_gallery = _path(system, name, task)
            system_of_gallery, _ = system_and_task(path_of_gallery)
            by_system.setdefault(system_of_gallery, []).append((path_of_gallery, of_gallery))
    for datasets_of_system in by_system.values():
        yield from datasets_of_system


def _datasets(tree: xr.DataTree | xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
    require_schema(tree.attrs)
    if isinstance(tree, xr.Dataset):
        yield "", tree
        return
    if tree.attrs.get("result_type") == THRESHOLD_STUDY:
        yield tree.path.strip("/"), study_in_one(tree)
        return
    if tree.data_vars:
        yield tree.path.strip("/"), tree.to_dataset()
    place = {name: i for i, name in enumerate(TASKS)}  # systems and studies come first
    for node in sorted(tree.children.values(), key=lambda x: place.get(str(x.name), -1)):
        yield from _datasets(node)


def system_and_task(path: str) -> tuple[str, str]:
    """Return the parts of a path before and from the task on: `a/b/open_set` -> `a/b`, `open_set`.

    The system is empty if there is only one.
    """
    names = path.split("/")
    first = next((i for i, name in enumerate(names) if name in TASKS), len(names))
    return "/".join(names[:first]), "/".join(names[first:])


def with_asked_thresholds(tree: xr.DataTree, thresholds: Sequence[float]) -> xr.DataTree:
    """Return results whose tables show the rates at these thresholds of their curves."""
    listed = " ".join(repr(float(x)) for x in thresholds)
    by_path = {}
    for node in tree.subtree:
        dataset = node.to_dataset()
        if "threshold" in dataset.coords:
            dataset.attrs["report_thresholds"] = listed
            note_thresholds_beyond_scores(dataset, thresholds)
        by_path[node.path] = dataset
    return xr.DataTree.from_dict(by_path)


def asked_thresholds(dataset: xr.Dataset) -> list[float]:
    """Return the thresholds of a result's curves that were asked for."""
    return list(map(float, str(dataset.attrs.get("report_thresholds", "")).split()))


def value_of(dataset: xr.Dataset, name: str) -> float:
    """Return the number of a variable; NaN if the dataset has no such single number."""
    if name not in dataset or dataset[name].ndim:
        return math.nan
    return float(dataset[name].item())
