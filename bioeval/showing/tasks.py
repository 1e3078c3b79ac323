"""The tasks of results: datasets, their order and systems."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.results.dataset import THRESHOLD_STUDY, Scalars, require_schema, study_in_one
from bioeval.results.support import note_thresholds_beyond_scores
from bioeval.showing.galleries import each_gallery

# The title of single- and multi-template verification that are equal.
_BOTH = "verification, single- and multi-template (one template per subject)"


def each_once(results: Mapping[str, xr.Dataset]) -> dict[str, xr.Dataset]:
    """Return the datasets of tasks; equal single- and multi-template verification is one task."""
    distinct = dict(results)
    for path, single in results.items():
        multi = distinct.get(f"{path.removesuffix('single')}multi")
        if not path.endswith("single") or multi is None or not _equal(single, multi):
            continue
        del distinct[f"{path.removesuffix('single')}multi"]
        distinct[path] = single.assign_attrs(task=_BOTH)
    return distinct


def _equal(single: xr.Dataset, multi: xr.Dataset) -> bool:
    """Whether two datasets are equal; the attempts first, for xarray loads dask to compare."""
    name = "impostor_attempts"
    have_attempts = name in single and name in multi
    if have_attempts and not np.array_equal(single[name].values, multi[name].values):
        return False
    return single.equals(multi)


#: Dimensions whose values are summed up.
OVER = ("repeat", "fold", "partition")


def unit_of(attrs: Any) -> str:
    """Return the unit of a result: folds, repeats of an experiment, or other partitions."""
    if "partitions" in attrs:
        return "partition"
    if "experiment" in attrs:
        return "repeat"
    return "fold"


#: Up to this number of thresholds each has its rows: they were given.
FEW = 9

#: The nodes of an evaluation, in the order in which they are shown.
TASKS = ("verification", "single", "multi", "open_set", "closed_set", "reid", "gom", "tries")


def datasets(tree: xr.DataTree | xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
    """Yield the path and the dataset of each task, in the order of display.

    A threshold study is one dataset: see :func:`study_in_one`. Several galleries, and their mean,
    are as systems.
    """
    yield from _galleries_as_systems(dict(_datasets(tree))).items()


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
    children = list(tree.children.values())
    place = {name: i for i, name in enumerate(TASKS)}
    for node in sorted(children, key=lambda node: place.get(str(node.name), -1)):
        yield from _datasets(node)


def _galleries_as_systems(results: Mapping[str, xr.Dataset]) -> dict[str, xr.Dataset]:
    """Return results by path; every gallery of several, and their mean, is a system."""
    if not any("gallery" in dataset.dims for dataset in results.values()):
        return dict(results)
    by_path = {}
    for path, dataset in results.items():
        if "gallery" not in dataset.dims:
            by_path[path] = dataset
            continue
        system = system_of(path)
        for name, of_gallery in each_gallery(dataset).items():
            names = system, name, path.removeprefix(system).strip("/")
            by_path["/".join(filter(None, names))] = of_gallery
    order = list(dict.fromkeys(map(system_of, by_path)))
    return dict(sorted(by_path.items(), key=lambda item: order.index(system_of(item[0]))))


def system_of(path: str) -> str:
    """Return the part of a path before the task: the system, if there are several."""
    names = itertools.takewhile(lambda part: part not in TASKS, path.split("/"))
    return "/".join(names)


def report_ranks(dataset: xr.Dataset) -> list[int]:
    """Return the ranks to show: the ranks of the protocol card that the results reach."""
    if "rank" not in dataset.coords:
        return []
    ranks = map(int, str(dataset.attrs.get("report_ranks", "")).split())
    return Scalars.shown_ranks(list(ranks), dataset["rank"].values.tolist())


def with_asked_thresholds(tree: xr.DataTree, thresholds: Sequence[float]) -> xr.DataTree:
    """Return results whose tables show the rates at these thresholds of their curves."""
    listed = " ".join(repr(float(x)) for x in thresholds)
    datasets = {}
    for node in tree.subtree:
        dataset = node.to_dataset()
        if "threshold" in dataset.coords:
            dataset.attrs["report_thresholds"] = listed
            note_thresholds_beyond_scores(dataset, thresholds)
        datasets[node.path] = dataset
    return xr.DataTree.from_dict(datasets)


def asked_thresholds(dataset: xr.Dataset) -> list[float]:
    """Return the thresholds of a result's curves that were asked for."""
    return list(map(float, str(dataset.attrs.get("report_thresholds", "")).split()))


def value_of(dataset: xr.Dataset, name: str) -> float | None:
    """Return the value of a variable without dimensions; None if there is none."""
    if name not in dataset or dataset[name].ndim:
        return None
    return float(dataset[name].item())
