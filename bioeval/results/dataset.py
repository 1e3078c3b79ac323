"""Results as numbers by name, stacked over parts, and as datasets described by ``variables``."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from xarray.indexes import PandasIndex

from bioeval.base.errors import joined_messages, message_attrs, messages_of
from bioeval.base.kinds import Kind
from bioeval.base.version import __version__
from bioeval.counting.operating_points import COST_LABELS
from bioeval.counting.thresholds import to_user
from bioeval.results.attributes import SCHEMA
from bioeval.results.variables import (
    GALLERY,
    NEXT,
    QUERY_MEANS,
    RANKS,
    TASKS,
    VERIFICATION,
    Variable,
    described,
)

#: Variables that come first, since ``print(dataset)`` shows only the first and the last six.
FIRST = (
    *("eer", "eer_threshold", "frr_at_far", "dir_at_far", "threshold_at_far", "far_at_frr"),
    *("zero_far", "zero_frr", "recognition_rate", "auc", "min_dcf", "d_prime", "eer_hull"),
    *QUERY_MEANS,
)

#: Variables by name: dimensions and values, or values over the dimensions of their description.
Variables = dict[str, Any]

#: The dimensions, the array and the attributes of a variable.
VariableParts = tuple[Sequence[str], np.ndarray, Mapping[str, Any]]


def variables_over(dims: tuple[str, ...], **values: Any) -> Variables:
    return {name: (dims, x) for name, x in values.items()}


def in_units(values: Variables, kind: Kind) -> Variables:
    """Return operating points with their thresholds in the user's units."""
    thresholds = [x for x in values if described(VERIFICATION, x).units == "score"]
    return values | {name: to_user(values[name], kind) for name in thresholds}


class Scalars(NamedTuple):
    """Numbers of a task: single ones, or over FAR targets, costs or ranks."""

    variables: Variables
    labels: dict[str, np.ndarray]  # labels of the dimensions
    table: Mapping[str, Variable]  # the descriptions of the variables

    @classmethod
    def of_dataset(cls, dataset: xr.Dataset, *, curves: bool = False) -> Scalars:
        """Return the variables of a dataset; variables over the threshold only with `curves`."""
        variables: Variables = {}
        labels: dict[str, np.ndarray] = {}
        for name, variable in dataset.variables.items():
            if name in dataset.dims:
                if curves or name != "threshold":
                    labels[str(name)] = variable.values
            elif curves or "threshold" not in variable.dims:
                variables[str(name)] = tuple(map(str, variable.dims)), variable.values
        return cls(variables, labels, {})

    def arrays(self) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
        """Return dimensions and values of each variable."""
        arrays = {}
        for name, value in in_order(self.variables).items():
            if isinstance(value, tuple):
                dims, values = value
            else:
                values = np.asarray(value)
                dims = described(self.table, name).dims if values.ndim else ()
            arrays[name] = dims, values
        return arrays

    def at_ranks(self, ranks: Sequence[int]) -> Scalars:
        """Return the numbers at the ranks that are shown, by :meth:`shown_ranks`."""
        if "rank" not in self.labels:
            return self
        all_ranks = self.labels["rank"].tolist()
        indices = [all_ranks.index(rank) for rank in self.shown_ranks(ranks, all_ranks)]
        variables: Variables = {}
        for name, (dims, values) in self.arrays().items():
            if "rank" in dims:
                values = values.take(indices, axis=dims.index("rank"))
            variables[name] = dims, values
        return Scalars(variables, {**self.labels, "rank": self.labels["rank"][indices]}, self.table)

    @staticmethod
    def shown_ranks(ranks: Sequence[int], result_ranks: Sequence[int]) -> list[int]:
        """Return the ranks of a result among `ranks`, by default `RANKS`, else its first rank."""
        return [rank for rank in ranks or RANKS if rank in result_ranks] or [*result_ranks[:1]]

    def plain(self, ranks: Sequence[int]) -> dict[str, Any]:
        """Return numbers by name; numbers over FAR targets, costs or shown ranks also by label.

        Numbers over FAR targets and ranks are at rank 1.
        """
        labels: dict[str, list] = {name: x.tolist() for name, x in self.labels.items()}
        numbers: dict[str, Any] = {}
        for name, (dims, value) in self.arrays().items():
            if name.endswith(NEXT):
                continue
            if dims == ("far_target", "rank"):
                dims, value = dims[:1], value[:, 0]
            if not dims:
                numbers[name] = value.item()
            elif len(dims) == 1 and dims[0] in labels and name not in COST_LABELS:
                numbers[name] = dict(zip(labels[dims[0]], value.tolist(), strict=True))
            if dims == ("rank",):
                ranks_to_show = self.shown_ranks(ranks, labels["rank"])
                numbers[name] = {rank: numbers[name][rank] for rank in ranks_to_show}
        return numbers


def threshold_with_next(dataset: xr.Dataset, name: str = "threshold") -> dict[str, float]:
    """Return the arguments of a message: a threshold, and the nearest score that it rejects."""
    arguments = {"threshold": float(dataset[name])}
    after = dataset.get(f"{name}{NEXT}")
    if after is not None and after.notnull():
        arguments["threshold_next"] = float(after)
    return arguments


def in_order(variables: Mapping[str, Any], first: Sequence[str] = FIRST) -> dict[str, Any]:
    """Return the variables with the `first` in front: the order of rows in tables."""
    ordered = {}
    for name in (*first, *variables):
        if name in variables:
            ordered[name] = variables[name]
    return ordered


def rate(count: np.ndarray | int, attempts: int) -> np.ndarray:
    """Return ``count / attempts`` in float64, NaN where there was no attempt."""
    if attempts:
        return np.true_divide(count, attempts)
    return np.full(np.shape(count), np.nan)


def rates_of(scalars: Iterable[Variable], known: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Compute the rates that are not among the `known` numbers.

    A quotient whose counts are not known is left out. Rates without attempts are NaN.
    """
    values_of = dict(known)
    for scalar in sorted(scalars, key=lambda x: x.of_rates is not None):
        if scalar.name in values_of:
            continue
        if scalar.quotient:
            counts, attempts = scalar.quotient
            if values_of.keys() >= {*counts, *attempts}:
                count = sum(values_of[name] for name in counts)
                out_of = sum(values_of[name] for name in attempts)
                values_of[scalar.name] = count / np.where(out_of > 0, out_of, np.nan)
        elif scalar.of_rates is not None:
            values_of[scalar.name] = scalar.of_rates(values_of["far"], values_of["frr"])
    return {name: values for name, values in values_of.items() if name not in known}


def decisions(
    ga: np.ndarray, fa: np.ndarray, genuine: int, impostor: int, more: Sequence[Variable] = ()
) -> Variables:
    """Return rates and counts over the threshold, each rate over the attempts of its own class.

    ``GAR = GA / TG`` and ``FRR = FR / TG`` of TG genuine attempts, ``FAR = FA / TI`` and ``GRR = GR
    / TI`` of TI impostor attempts: ISO/IEC 19795-1 (FNMR, FMR), without failures to acquire.
    """
    fr, gr = genuine - ga, impostor - fa
    rates = {"gar": rate(ga, genuine), "frr": rate(fr, genuine)}
    rates |= {"far": rate(fa, impostor), "grr": rate(gr, impostor)}
    counts = {"ga": ga, "fr": fr, "fa": fa, "gr": gr}
    if more:
        totals = {"genuine_attempts": genuine, "impostor_attempts": impostor}
        rates |= variables_over(("threshold",), **rates_of(more, counts | totals | rates))
    return rates | counts


def dataset(
    variables: Mapping[str, Any],
    table: Mapping[str, Variable],
    coordinates: Mapping[str, np.ndarray],
    attrs: Mapping[str, str | int | float],
    first: Sequence[str] = FIRST,
) -> xr.Dataset:
    """Return a dataset whose variables have the attributes of a table, the `first` in front.

    A variable is a pair of dimensions and values, or values over the dimensions in the table; with
    dimensions, values and attributes it stays as it is.
    """
    described_variables: dict[str, Any] = {}
    names = {*variables, *coordinates}
    for name, value in in_order(variables, first).items():
        if isinstance(value, tuple) and len(value) == 3:
            described_variables[name] = value
            continue
        description = described(table, name)
        if isinstance(value, tuple):
            dims, values = value
        else:
            dims, values = description.dims if np.ndim(value) else (), value
        about = description.attrs
        if not description.variables_named <= names:
            about = description.attrs_among(names)
        described_variables[name] = dims, np.asarray(values), about
    indexes: dict[Any, Any] = {}
    for name, labels in coordinates.items():
        about = described(table, name).attrs
        indexes[name], described_variables[name] = indexed(name, labels, about)
    all_attrs = {**attrs, "bioeval_version": __version__, "schema": SCHEMA}
    return unchecked(described_variables, indexes, all_attrs)


def unchecked(
    variables: Mapping[Any, VariableParts | xr.Variable],
    indexes: dict[Any, Any] | None = None,
    attrs: dict[Any, Any] | None = None,
) -> xr.Dataset:
    """Return a dataset of arrays as they are.

    Coordinates are the variables that have `indexes`, and the prior and the costs along ``cost``.

    This is the only place that uses names which xarray may change: without these names, public
    constructors make an equal dataset. They look for conflicts between variables, by which a whole
    evaluation of few scores takes a sixth longer, and they import dask, if installed, which takes
    up to a second.
    """
    indexes = indexes or {}
    coordinate_names = [*indexes, *(name for name in COST_LABELS if name in variables)]
    others = (name for name in variables if name not in coordinate_names)
    variables = {name: variables[name] for name in (*others, *coordinate_names)}
    try:
        finished: dict[Any, xr.Variable] = {}
        for name, x in variables.items():
            finished[name] = xr.Variable(*x, fastpath=True) if isinstance(x, tuple) else x
        return xr.Dataset._construct_direct(
            finished, {*coordinate_names}, attrs=attrs, indexes=indexes
        )
    except (AttributeError, TypeError):
        checked = {k: xr.Variable(*x) if isinstance(x, tuple) else x for k, x in variables.items()}
        coordinates = {name: checked.pop(name) for name in coordinate_names}
        return xr.Dataset(checked, xr.Coordinates(coordinates, indexes), attrs)


def meta_columns(dataset: xr.Dataset, side: str) -> dict[str, str]:
    """Return the variables of the metadata of a side, by the names of the columns."""
    prefix = f"{side}_meta_"
    variables = [str(x) for x in dataset.data_vars if str(x).startswith(prefix)]
    return {dataset[x].attrs.get("column", x.removeprefix(prefix)): x for x in variables}


def indexed(
    name: str, labels: Any, attrs: Mapping[str, str | int]
) -> tuple[PandasIndex, xr.Variable]:
    """Return the index of a coordinate, and the coordinate."""
    values = np.asarray(labels)
    # The index of a coordinate.
    index: Any = values
    with contextlib.suppress(NotImplementedError, UnicodeEncodeError):  # xarray converts these
        index = pd.Index(values, dtype=object if values.dtype == object else None)
    index = PandasIndex(index, name, coord_dtype=values.dtype)
    coordinate = index.create_variables()[name]
    coordinate.attrs = dict(attrs)
    return index, coordinate


def repeated_over(
    dims: Sequence[Hashable], values: np.ndarray, sizes: Mapping[Hashable, int]
) -> np.ndarray:
    """Return values over `dims`, repeated over all dimensions of `sizes`, in the order of these."""
    own_dims = [dim for dim in sizes if dim in dims]
    values = values.transpose([dims.index(dim) for dim in own_dims])
    values = values.reshape([size if dim in own_dims else 1 for dim, size in sizes.items()])
    return np.broadcast_to(values, [*sizes.values()])


class Stack:
    """The numbers of a task in several parts, put in one by one, with a dimension for the parts.

    If a part lacks a variable, or a label of a dimension, its values are NaN, and counts become
    float64. The prior and the costs of ``cost`` are the same in all parts.
    """

    def __init__(self, parts: int, table: Mapping[str, Variable]):
        self._parts = parts  # number of parts
        self._table = table
        self._labels: dict[str, np.ndarray] = {}  # by dimension
        self._dims: dict[str, tuple[str, ...]] = {}  # of each part, by variable
        self._values: dict[str, np.ndarray] = {}  # float64 (parts, ...): NaN where a part has none
        self._dtypes: dict[str, np.dtype] = {}  # common to the parts
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
            if name not in self._values:
                sizes = []
                for dim, size in zip(dims, values.shape, strict=True):
                    sizes.append(len(self._labels[dim]) if dim in self._labels else size)
                self._values[name] = np.full((self._parts, *sizes), np.nan)
                self._dims[name], self._dtypes[name], self._filled[name] = dims, values.dtype, 0
            self._dtypes[name] = np.result_type(values.dtype, self._dtypes[name])
            self._filled[name] += values.size
            if all(indices_of_labels.get(dim) is None for dim in dims):
                self._values[name][part] = values
                continue
            index: list[Any] = []
            for dim, size in zip(dims, values.shape, strict=True):
                indices = indices_of_labels.get(dim)
                index.append(np.arange(size) if indices is None else indices)
            self._values[name][(part, *np.ix_(*index))] = values

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
            for name, dims in self._dims.items():
                if dim in dims:
                    axis = dims.index(dim) + 1
                    shape = [*self._values[name].shape]
                    shape[axis] = len(new)
                    stack = [self._values[name], np.full(shape, np.nan)]
                    self._values[name] = np.concatenate(stack, axis=axis)
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
        for name, values in self._values.items():
            dims = self._dims[name]
            for axis, dimension in enumerate(dims, 1):
                if dimension in orders:
                    values = values.take(orders[dimension], axis=axis)
            if self._filled[name] == values.size:
                values = values.astype(self._dtypes[name], copy=False)
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
