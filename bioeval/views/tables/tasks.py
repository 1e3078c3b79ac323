"""The tasks of an evaluation: their datasets, their order and the systems they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import xarray as xr

from bioeval.results.dataset import shown_ranks

#: The nodes of an evaluation, in the order in which they are shown.
TASKS = ("verification", "single", "multi", "open_set", "closed_set", "reid", "gom")


def datasets(tree: xr.DataTree | xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
    """Return the path and the dataset of each task, in the order of display."""
    if isinstance(tree, xr.Dataset):
        yield "", tree
        return
    if tree.data_vars:
        yield tree.path.strip("/"), tree.to_dataset()
    children = list(tree.children.values())
    place = {name: i for i, name in enumerate(TASKS)}
    for node in sorted(children, key=lambda node: place.get(str(node.name), -1)):
        yield from datasets(node)


def systems(paths: Iterable[str]) -> list[str]:
    """Return the systems that the paths of tasks belong to."""
    return list(dict.fromkeys(system_of(path) for path in paths))


def system_of(path: str) -> str:
    """Return the part of a path before the task: the system, if there are several."""
    parts = path.split("/")
    first = next((i for i, part in enumerate(parts) if part in TASKS), len(parts))
    return "/".join(parts[:first])


def report_ranks(dataset: xr.Dataset) -> list[int]:
    """Return the ranks to show: those of the protocol card that the results reach."""
    if "rank" not in dataset.coords:
        return []
    said = [int(word) for word in str(dataset.attrs.get("report_ranks", "")).split()]
    return shown_ranks(said, dataset["rank"].values.tolist())


def value_of(dataset: xr.Dataset, name: str) -> float | None:
    """Return the value of a variable without dimensions; None if there is none."""
    if name not in dataset or dataset[name].ndim:
        return None
    return float(dataset[name].item())
