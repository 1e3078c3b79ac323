"""Results as trees of datasets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import xarray as xr

#: The type of a threshold study. A node below the study has the folds, with their messages.
THRESHOLD_STUDY = "threshold-study"

#: The nodes below a threshold study, and their titles.
STUDY_PARTS = {
    "rates": "rates on the same data and on new people, in folds",
    "needs": "people needed for the target",
}


def study_in_one(study: xr.DataTree) -> xr.Dataset:
    """Return a threshold study as one dataset; variables of test parts are named by their path.

    So ``folds/far`` over ``repeat, fold`` is beside ``far`` over ``part``, and the people needed
    for the target are over ``rule``.
    """
    variables: dict[str, Any] = {}
    for name in STUDY_PARTS:
        if name in study.children:
            variables |= {str(x): array for x, array in study[name].to_dataset().data_vars.items()}
    folds = study["folds"].to_dataset().sel(part="test", drop=True)
    variables |= {f"folds/{name}": values for name, values in folds.data_vars.items()}
    return study.to_dataset().assign(variables)


def tree_of(datasets: Mapping[str, xr.Dataset]) -> xr.DataTree:
    """Return datasets as a tree, by path, in their order; the datasets are not copied."""
    # DataTree.from_dict would put the shallow paths first, and so verification/single last.
    datasets_below: dict[str, dict[str, xr.Dataset]] = {}
    for path, dataset in datasets.items():
        name, _, below = path.partition("/")
        if name:
            datasets_below.setdefault(name, {})[below] = dataset
    children = {name: tree_of(part) for name, part in datasets_below.items()}
    return tree_above(children, datasets.get(""))


def tree_above(
    children: Mapping[str, xr.DataTree], dataset: xr.Dataset | None = None
) -> xr.DataTree:
    """Return a tree above `children`, with the data of `dataset`; nothing is copied.

    The constructor of xarray would copy each variable and compare labels with labels of parents,
    which have none: this takes a sixth of an evaluation of few scores. A test compares both.
    """
    dataset = xr.Dataset() if dataset is None else dataset
    node = xr.DataTree.__new__(xr.DataTree)
    node._set_node_data(dataset)
    node._parent = None
    node._name = None
    node._children = dict(children)
    for name, child in children.items():
        child._parent, child._name = node, name
    return node


def without_slashes(names: Iterable[str], mark: str = "_") -> dict[str, str]:
    """Return names for a tree or for netCDF, with a mark for each slash; names stay distinct.

    >>> without_slashes(["a/b", "a_b"])
    {'a/b': 'a_b_', 'a_b': 'a_b'}
    """
    listed = list(dict.fromkeys(names))
    used = {name for name in listed if "/" not in name}
    new_names = {name: name or mark for name in listed}
    for name in listed:
        if "/" in name:
            unused = name.replace("/", mark)
            while unused in used:
                unused += mark
            used.add(unused)
            new_names[name] = unused
    return new_names
