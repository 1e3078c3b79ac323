"""Datasets and trees from finished variables, quickly where xarray allows.

The public constructors of xarray copy and align every variable: two thirds of the time of a small
evaluation. Variables of a result are finished and share their coordinates by construction, so that
they can be put in place directly. This takes private names of xarray, which are used in this file
alone, and only where they give the same as the public constructors on a small example.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from xarray.indexes import PandasIndex

#: What another version of xarray may raise where private names differ.
_DIFFERENT = (AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)

Variables = Mapping[str, xr.Variable]
Datasets = Mapping[str, xr.Dataset]


def dataset_of(data: Variables, coords: Variables, attrs: dict[str, Any]) -> xr.Dataset:
    """Return a dataset of variables; coordinates are over their own dimension."""
    make = _direct_dataset if _direct_is_the_same() else xr.Dataset
    return make(data, coords, attrs)


def tree_of(datasets: Datasets) -> xr.DataTree:
    """Return datasets as a tree, by path; their variables are not copied."""
    inner = {path[:i] for path in datasets for i, x in enumerate(path) if x == "/"} | {""}
    inherits = not inner.isdisjoint(datasets)
    make = _public_tree if inherits or not _direct_is_the_same() else _direct_tree
    return make(datasets)


def _public_tree(datasets: Datasets) -> xr.DataTree:
    """Return a tree by public names; `DataTree.from_dict` copies datasets at every level."""
    parts: dict[str, dict[str, xr.Dataset]] = {}
    for path, dataset in datasets.items():
        name, _, rest = path.partition("/")
        parts.setdefault(name, {})[rest] = dataset
    tree = xr.DataTree(datasets.get(""))
    parts.pop("", None)
    tree.children = {name: _public_tree(part) for name, part in parts.items()}
    return tree


def _direct_dataset(data: Variables, coords: Variables, attrs: dict[str, Any]) -> xr.Dataset:
    indexes: dict[Any, Any] = {}
    variables = dict(data)
    for name, variable in coords.items():
        values = variable.values
        # PandasIndex makes one of an array, too, and imports dask to see whether it is one of dask.
        labels = pd.Index(values) if values.dtype.char in "?bhilqBHILQfd" else values
        index = indexes[name] = PandasIndex(labels, name, coord_dtype=values.dtype)
        variables |= index.create_variables({name: variable})
    sizes: dict[Any, int] = {}
    for name, variable in variables.items():
        other = variable.dims == (name,) and name not in coords  # xarray takes it for a coordinate
        for dim, size in zip(variable.dims, variable.shape, strict=True):
            if other or sizes.setdefault(dim, size) != size:
                return xr.Dataset(data, coords, attrs)  # which says what differs
    return xr.Dataset._construct_direct(variables, {*coords}, sizes, attrs or None, indexes)


def _direct_tree(datasets: Datasets) -> xr.DataTree:
    empty = xr.Dataset()
    root = xr.DataTree(empty)
    for path, dataset in datasets.items():
        node = root
        for name in path.split("/"):
            child = node._children.get(name)
            if child is None:
                child = node._children[name] = xr.DataTree(empty)
                child._name, child._parent = name, node
            node = child
        node._set_node_data(dataset)
    return root


@functools.cache
def _direct_is_the_same() -> bool:
    """Whether private names of this xarray give what its public constructors give, tried once."""
    name = {"long_name": "x", "units": "1"}
    coords = {"t": xr.Variable("t", pd.Index([0.5, np.inf]), name)}
    of = functools.partial(xr.Variable, attrs=name, fastpath=True)  # does not look for dask
    data = {"number": of((), np.array(3)), "curve": of(("t", "free"), np.ones((2, 3)))}
    try:
        usual = _public_tree({"a/b": xr.Dataset(data, coords, name)})
        direct = _direct_tree({"a/b": _direct_dataset(data, coords, name)})
        return _parts(usual) == _parts(direct)
    except _DIFFERENT:
        return False


def _parts(tree: xr.DataTree) -> list[Any]:
    """Return all that a tree is made of, in order, as plain values."""
    found: list[Any] = []
    for node in tree.subtree:
        data, parent = node.to_dataset(), node.parent and node.parent.path
        found += [node.path, parent, [*data.attrs.items()], [*data.coords], [*data.sizes.items()]]
        for k, x in data.variables.items():
            found += [k, type(x), x.dims, x.dtype, x.values.tolist(), x.attrs, x.encoding]
        found += [(k, type(x), x.dtype, x.name, [*x]) for k, x in data.indexes.items()]
    return found
