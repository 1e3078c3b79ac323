"""The numbers of a dataset, variable by variable, as the columns of a frame."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from bioeval.results.variables import NEXT, SUPPORTED
from bioeval.showing.tasks import FEW, asked_thresholds, report_ranks

#: Columns by name: an array, or what all rows of the block have.
Block = dict[str, Any]

#: Columns behind the dimensions.
COLUMNS = (
    *("measure", "statistic", "at", "point", "value", "low", "high", "threshold", "attempts"),
    *("supported", "unit", "flagged", "text"),
)

#: Columns for tables alone: the nearest score that the threshold does not accept.
UNEXPORTED = ("next",)

Dims = tuple[str, ...]

#: Dimensions of curves and of single queries.
CURVES = (
    *("threshold", "localisation_threshold", "prior_log_odds", "llr", "pav_block", "recall_level"),
    *("probe", "point"),
)

#: Decisions are told apart by their prior, a variable, and not by a coordinate.
_NAMED_BY = {"cost": ("prior", "cost_prior")}


class NumbersOfDataset:
    """The numbers of a dataset with the labels of their places.

    Without `curves` they are those of few thresholds, or of the thresholds and ranks asked for.
    """

    def __init__(self, dataset: xr.Dataset, curves: bool):
        self._dataset = dataset
        self._variables = dataset.variables
        self._curves = curves
        self._columns: dict[Dims, Block] = {}

    def names(self) -> Iterator[str]:
        """Yield the variables that have rows, in the order of the dataset."""
        for name in map(str, self._dataset.data_vars):
            if name not in self._partners and self._size(self._dims(name)):
                yield name

    def blocks(self) -> Iterator[Block]:
        """Yield the columns of each variable, in the order of the dataset."""
        yield from map(self.block, self.names())

    @cached_property
    def _partners(self) -> set[str]:
        """The variables that are columns of others: limits, thresholds, flags and labels."""
        found = {variable for _, variable in _NAMED_BY.values()}
        for name in map(str, self._dataset.data_vars):
            partners = {f"{name}_{x}" for x in ("low", "high", "flagged", "supported")}
            found |= partners & {*self._variables}
            threshold = self.threshold_of(name)
            if threshold and threshold != "threshold":
                found.add(threshold)
            if name.endswith(NEXT) and not self._curves:
                found.add(name)
        return found

    def block(self, name: str) -> Block:
        """Return the columns of a variable."""
        about, dims = self._variables[name].attrs, self._dims(name)
        block: Block = {**self._places(dims), "measure": about.get("measure", name)}
        if "statistic" in about:
            block["statistic"] = about["statistic"]
        if "units" in about:
            block |= self._values(name, dims, block)
        else:  # a text, or a label that is a number
            block["value"] = np.full(self._size(dims), np.nan)
            block["text"] = self._over(name, dims).astype(object)
        return self._rows_with_numbers(block, dims)

    def _values(self, name: str, dims: Dims, places: Block) -> Block:
        """Return the columns of numbers: unit, value, limits, threshold, attempts, support."""
        unit = self._variables[name].attrs["units"]
        block: Block = {"unit": unit}
        if "statistic" in dims:
            block["unit"] = np.where(places["statistic"] == "number", "partitions", unit)
        block["value"] = self._numbers(name, dims)
        for end in ("low", "high"):
            if (limit := f"{name}_{end}") in self._variables:
                block[end] = self._limits(limit, dims)
        threshold = self.threshold_of(name)
        if threshold:
            block["threshold"] = self._numbers(threshold, dims)
        after = f"{threshold or name}{NEXT}"
        if after in self._variables and {*self._dims(after)} <= {*dims}:
            block["next"] = self._numbers(after, dims)
        block["attempts"] = self._attempts(name, dims)
        if f"{name}_flagged" in self._variables:
            block["flagged"] = self._over(f"{name}_flagged", dims) == 1
        return block

    def _rows_with_numbers(self, block: Block, dims: Dims) -> Block:
        """Return the rows of numbers that there can be, with their support if they need it.

        Nothing is compared with itself, and no total with what it is of; where the support is
        missing, a number was not asked for.
        """
        kept = np.ones(self._size(dims), dtype=bool)
        for dim in dims:
            if (other := f"other_{dim}") in dims:
                kept &= block[dim] != block[other]
                kept &= np.isin(block[dim], self._variables[other].values)
        if (support := f"{block['measure']}{SUPPORTED}") in self._variables:
            values = self._numbers(support, dims)
            kept &= ~np.isnan(values)
            block["supported"] = values == 1
        if kept.all():
            return block
        return {k: x[kept] if isinstance(x, np.ndarray) else x for k, x in block.items()}

    # ------------------------------------------------------------------------------------- places

    @cached_property
    def _shown(self) -> dict[str, np.ndarray]:
        """The places along a dimension that are shown, where it is not all of them."""
        if self._curves:
            return {}
        shown = {dim: np.empty(0, dtype=np.intp) for dim in CURVES if dim in self._dataset.sizes}
        wanted: dict[str, list[Any]] = {"rank": report_ranks(self._dataset)}
        wanted["threshold"] = asked_thresholds(self._dataset)
        if self._dataset.sizes.get("threshold", np.inf) <= FEW:
            wanted["threshold"] = self._dataset["threshold"].values.tolist()
        for dim, labels in wanted.items():
            if labels and dim in self._variables:
                shown[dim] = np.flatnonzero(np.isin(self._variables[dim].values, labels))
        # Where the support of a number is said, it was asked for.
        supports = (x for x in map(str, self._variables) if x.endswith(SUPPORTED))
        asked = {dim for name in supports for dim in self._dims(name)}
        return {dim: places for dim, places in shown.items() if dim not in asked}

    def _dims(self, name: str) -> Dims:
        return tuple(map(str, self._variables[name].dims))

    def _shape(self, dims: Dims) -> tuple[int, ...]:
        sizes = self._dataset.sizes
        return tuple(len(self._shown[x]) if x in self._shown else sizes[x] for x in dims)

    def _size(self, dims: Dims) -> int:
        return int(np.prod(self._shape(dims), dtype=np.int64))

    def _places(self, dims: Dims) -> Block:
        """Return the columns of dimensions; the first of numbers with a unit is `point`."""
        if dims not in self._columns:
            columns: Block = {}
            for dim, places in zip(dims, np.indices(self._shape(dims)), strict=True):
                column, variable = _NAMED_BY.get(dim, (dim, dim))
                labels, is_point = self._labels(dim, variable)
                if is_point and "at" not in columns:
                    columns |= {"at": column, "point": labels[places.ravel()]}
                else:
                    columns[column] = labels[places.ravel()]
            self._columns[dims] = columns
        return self._columns[dims]

    def _labels(self, dim: str, variable: str) -> tuple[np.ndarray, bool]:
        """Return the labels that are shown, and whether they are numbers with a unit."""
        if variable not in self._variables:
            labels, units = np.arange(self._dataset.sizes[dim]), ""
        else:
            labels = self._variables[variable].values
            units = self._variables[variable].attrs.get("units", "")
        if dim in self._shown:
            labels = labels[self._shown[dim]]
        return labels, bool(units) and labels.dtype.kind == "f"

    # ------------------------------------------------------------------------------------- values

    def _over(self, name: str, dims: Dims) -> np.ndarray:
        """Return the values of a variable at all places of `dims`, among which its own are."""
        variable = self._variables[name]
        values, own = variable.values, self._dims(name)
        for axis, dim in enumerate(own):
            if dim in self._shown:
                values = values.take(self._shown[dim], axis)
        if own != dims:
            values = values.transpose(sorted(range(len(own)), key=lambda i: dims.index(own[i])))
            shape = [n if dim in own else 1 for dim, n in zip(dims, self._shape(dims), strict=True)]
            values = np.broadcast_to(values.reshape(shape), self._shape(dims))
        return values.ravel()

    def _numbers(self, name: str, dims: Dims) -> np.ndarray:
        return self._over(name, dims).astype(np.float64, copy=False)

    def _limits(self, name: str, dims: Dims) -> np.ndarray | None:
        """Return limits; those of a mean are beside the mean, and no other statistic."""
        if not {*self._dims(name)} <= {*dims}:
            return None
        limits = self._numbers(name, dims)
        if "statistic" in dims and "statistic" not in self._dims(name):
            return np.where(self._places(dims)["statistic"] == "mean", limits, np.nan)
        return limits

    def threshold_of(self, name: str) -> str:
        """Return the variable with the threshold of a rate; empty without one."""
        threshold, dims = str(self._variables[name].attrs.get("threshold", "")), self._dims(name)
        if threshold not in self._variables or "statistic" in dims:
            return ""
        return threshold if {*self._dims(threshold)} <= {*dims} else ""

    def _attempts(self, name: str, dims: Dims) -> np.ndarray | None:
        """Return the denominator of a proportion; None of statistics, and without one."""
        names = str(self._variables[name].attrs.get("out_of", "")).split()
        if not names or "statistic" in dims:
            return None
        if not all(x in self._variables and {*self._dims(x)} <= {*dims} for x in names):
            return None
        return np.sum([self._numbers(x, dims) for x in names], axis=0)
