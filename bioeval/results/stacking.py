"""Numbers of several parts, joined as arrays with a further dimension."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bioeval.base.messages import joined_messages, message_attrs, messages_of
from bioeval.counting.operating_points import COST_LABELS
from bioeval.results.dataset import Scalars, dataset, in_order
from bioeval.results.variables import GALLERY, TASKS, Variable


class _Column(NamedTuple):
    """A variable of all parts."""

    dims: tuple[str, ...]
    values: np.ndarray  # float64 (parts, ...): NaN where a part lacks a value
    dtype: np.dtype  # common dtype of the parts


class Stack:
    """The numbers of a task in several parts, put in one by one, with a dimension for the parts.

    If a part lacks a variable, or a label of a dimension, its values are NaN, and counts become
    float64. The prior and the costs of ``cost`` are the same in all parts.
    """

    def __init__(self, parts: int, table: Mapping[str, Variable]):
        self._parts = parts  # number of parts
        self._table = table
        self._labels: dict[str, np.ndarray] = {}  # by dimension
        self._columns: dict[str, _Column] = {}  # by variable
        self._filled: dict[str, int] = {}  # number of values put in, by variable
        self._alike: dict[str, Any] = {}  # variables that are the same in all parts

    def put(self, part: int, numbers: Scalars) -> None:
        arrays = numbers.arrays()
        indices_of_labels = {
            dim: self._indices_of(dim, labels) for dim, labels in numbers.labels.items()
        }
        for name, (dims, values) in arrays.items():
            if name in COST_LABELS:
                self._alike[name] = dims, values
                continue
            column = self._column(name, dims, values)
            self._filled[name] += values.size
            if all(indices_of_labels.get(dim) is None for dim in dims):
                column.values[part] = values
                continue
            index: list[Any] = []
            for dim, size in zip(dims, values.shape, strict=True):
                indices = indices_of_labels.get(dim)
                index.append(np.arange(size) if indices is None else indices)
            column.values[(part, *np.ix_(*index))] = values

    def _column(self, name: str, dims: tuple[str, ...], values: np.ndarray) -> _Column:
        if name not in self._columns:
            sizes = []
            for dim, size in zip(dims, values.shape, strict=True):
                sizes.append(len(self._labels[dim]) if dim in self._labels else size)
            missing = np.full((self._parts, *sizes), np.nan)
            self._columns[name] = _Column(dims, missing, values.dtype)
            self._filled[name] = 0
        column = self._columns[name]
        if values.dtype != column.dtype:
            column = column._replace(dtype=np.result_type(values.dtype, column.dtype))
            self._columns[name] = column
        return column

    def _indices_of(self, dim: str, labels: np.ndarray) -> np.ndarray | None:
        """Return the indices of labels along a dimension, to which new labels are appended.

        None if the labels are all labels of the dimension, in their order.
        """
        stacked = self._labels.setdefault(dim, labels)
        if stacked is labels or np.array_equal(stacked, labels):
            return None
        new = labels[~np.isin(labels, stacked)]
        if len(new):
            stacked = np.append(stacked, new)
            self._labels[dim] = stacked
            for name, column in self._columns.items():
                if dim in column.dims:
                    axis = column.dims.index(dim) + 1
                    shape = [*column.values.shape]
                    shape[axis] = len(new)
                    missing = np.full(shape, np.nan)
                    values = np.concatenate([column.values, missing], axis=axis)
                    self._columns[name] = column._replace(values=values)
        order = np.argsort(stacked, kind="stable")
        return order[np.searchsorted(stacked, labels, sorter=order)]

    def result(self, dim: str, labels_of_parts: np.ndarray) -> Scalars:
        """Return the numbers with a dimension in front, labelled by the parts.

        Thresholds and ranks increase.
        """
        labels = dict(self._labels)
        labels.pop("cost", None)
        orders = {}
        for dimension_name in {"threshold", "rank"} & labels.keys():
            order = np.argsort(labels[dimension_name], kind="stable")
            if (np.diff(order) != 1).any():
                orders[dimension_name] = order
                labels[dimension_name] = labels[dimension_name][order]
        variables: dict[str, Any] = {}
        for name, (dims, values, dtype) in self._columns.items():
            for axis, dimension in enumerate(dims, 1):
                if dimension in orders:
                    values = values.take(orders[dimension], axis=axis)
            if self._filled[name] == values.size:
                values = values.astype(dtype, copy=False)
            variables[name] = (dim, *dims), values
        labels[dim] = labels_of_parts
        return Scalars(in_order(variables | self._alike), labels, self._table)


# Results over several galleries.


#: The name of the mean, as one of the galleries.
MEAN = "mean"


def over_galleries(results: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """Return the results of one task in several galleries, by name, as a result over ``gallery``.

    Sizes of the galleries become variables; other attributes stay if all galleries have the same.
    """
    first = next(iter(results.values()))
    table = {**TASKS[str(first.attrs["result_type"]).replace("-", "_")], **GALLERY}
    sizes = [name for name in GALLERY if isinstance(first.attrs.get(name), int)]
    stack = Stack(len(results), table)
    for index, result in enumerate(results.values()):
        numbers = Scalars.of_dataset(result, curves=True)
        numbers.variables.update({name: np.int64(result.attrs[name]) for name in sizes})
        stack.put(index, numbers)
    numbers = stack.result("gallery", np.array([*results]))
    attrs: dict[str, Any] = {}
    for key, value in first.attrs.items():
        if key not in sizes and all(value == x.attrs.get(key) for x in results.values()):
            attrs[str(key)] = value
    messages = joined_messages({name: messages_of(x.attrs) for name, x in results.items()})
    attrs |= {"galleries": " ".join(results), **message_attrs(messages)}
    return dataset(numbers.variables, table, numbers.labels, attrs)
