"""The numbers of results: columns of a data frame, and labelled rows of tables.

:class:`NumbersOfDataset` makes of each variable a block of columns, with a row for each number. The
variable ``frr_at_far`` (far_target: 2) and its limits ::

    far_target       0.01  0.001
    frr_at_far       0.12  0.34
    frr_at_far_low   0.08  0.25
    frr_at_far_high  0.17  0.44

are the block ::

    measure     at          point  value  low   high
    frr_at_far  far_target  0.01   0.12   0.08  0.17
    frr_at_far  far_target  0.001  0.34   0.25  0.44

Data frames consist of blocks (:mod:`bioeval.showing.data`); :func:`rows_of` yields their rows for
tables, and :func:`label_of` words the label of a row.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval.counting.threshold_rules import PointsWanted
from bioeval.counting.thresholds import FAR_TARGETS, RARE_TARGETS
from bioeval.results.dataset import Scalars, repeated_over
from bioeval.results.variables import NEXT, SUPPORTED
from bioeval.showing.nodes import Node, asked_thresholds
from bioeval.showing.text import (
    Count,
    Explained,
    Label,
    Number,
    Phrase,
    Quantity,
    Rate,
    Text,
    Threshold,
    cell_of_number,
    fields_of,
    say,
    template_of,
)

#: Tables show every threshold of a curve with at most this many, since so few were chosen by the
#: user.
FEW = 9

#: Columns by name: an array with a value of each row, or the value of all rows.
Block = dict[str, Any]

#: Columns of a frame behind the dimensions.
COLUMNS = (
    *("measure", "statistic", "at", "point", "value", "low", "high", "threshold", "attempts"),
    *("supported", "unit", "flagged", "text"),
)

#: The nearest score that the threshold does not accept: for tables alone.
NEXT_SCORE = "next"

#: Dimensions of curves and of single queries.
CURVES = ("threshold", "localisation_threshold", "recall_level", "probe")

#: Decisions are told apart by their prior, a variable, and not by a coordinate.
_NAMED_BY = {"cost": ("prior", "cost_prior")}

_Dims = tuple[str, ...]


class NumbersOfDataset:
    """The numbers of a dataset, variable by variable, with the labels of their places.

    Without `curves`, they are the numbers at few thresholds, or at the thresholds and ranks that
    were asked for.
    """

    def __init__(self, dataset: xr.Dataset, curves: bool):
        self._variables = dataset.variables
        self._dims = {
            str(name): tuple(map(str, variable.dims)) for name, variable in self._variables.items()
        }
        self._shown = {} if curves else _shown_places(dataset, self._dims)
        self._sizes = {str(dim): size for dim, size in dataset.sizes.items()}
        self._sizes |= {dim: len(places) for dim, places in self._shown.items()}
        self._places_of: dict[_Dims, Block] = {}
        #: The variables with the thresholds of others, by the names of the others.
        self.thresholds: dict[str, str] = {}
        columns_of_others = {variable for _, variable in _NAMED_BY.values()}
        for name in map(str, dataset.data_vars):
            columns_of_others.update(
                f"{name}_{end}" for end in ("low", "high", "flagged", "supported")
            )
            threshold = str(self._variables[name].attrs.get("threshold", ""))
            if self._is_over(threshold, self._dims[name]) and "statistic" not in self._dims[name]:
                self.thresholds[name] = threshold
                if threshold != "threshold":  # the threshold of a whole result has a row
                    columns_of_others.add(threshold)
            if name.endswith(NEXT) and not curves:
                columns_of_others.add(name)
        #: The variables that have rows; limits, thresholds, flags and labels are their columns.
        self.names = [
            name
            for name in map(str, dataset.data_vars)
            if name not in columns_of_others and all(self._sizes[dim] for dim in self._dims[name])
        ]

    def block(self, name: str) -> Block:
        """Return the columns of a variable's rows: arrays, or a value that all rows have."""
        about, dims = self._variables[name].attrs, self._dims[name]
        block: Block = {**self._places(dims), "measure": about.get("measure", name)}
        if "statistic" in about:
            block["statistic"] = about["statistic"]
        if "units" in about:
            block.update(self._columns_of_number(name, block.get("statistic")))
        else:  # a text, or a label that is a number
            block["text"] = self._over(name, dims).astype(object)
            block["value"] = np.full(len(block["text"]), np.nan)
        # A number of two systems is of two different ones, in the order that was computed.
        is_kept = np.ones(len(block["value"]), dtype=bool)
        for dim in dims:
            other = f"other_{dim}"
            if other in dims:
                is_kept &= block[dim] != block[other]
                is_kept &= np.isin(block[dim], self._variables[other].values)
        # A number that may lack support has no row where its support is not known.
        support = f"{block['measure']}{SUPPORTED}"
        if support in self._variables:
            values = self._numbers(support, dims)
            is_kept &= ~np.isnan(values)
            block["supported"] = values == 1
        if is_kept.all():
            return block
        return {k: x[is_kept] if isinstance(x, np.ndarray) else x for k, x in block.items()}

    def _columns_of_number(self, name: str, statistic: Any) -> Block:
        """Return the columns of a number besides its place; only those that the dataset has.

        Along a dimension of statistics, `statistic` is the array of their names.
        """
        about, dims = self._variables[name].attrs, self._dims[name]
        threshold = self.thresholds.get(name, "")
        variable_of = {
            "value": name,
            "low": f"{name}_low",
            "high": f"{name}_high",
            "threshold": threshold,
            NEXT_SCORE: f"{threshold or name}{NEXT}",
        }
        columns: Block = {}
        for column, variable in variable_of.items():
            if self._is_over(variable, dims):
                columns[column] = self._numbers(variable, dims)
        columns["unit"] = about["units"]
        out_of = str(about.get("out_of", "")).split()
        if "statistic" in dims:
            columns["unit"] = np.where(statistic == "number", "partitions", about["units"])
            for end in {"low", "high"} & columns.keys():  # only the mean has limits
                if "statistic" not in self._dims[f"{name}_{end}"]:
                    columns[end] = np.where(statistic == "mean", columns[end], np.nan)
        elif out_of and all(self._is_over(x, dims) for x in out_of):
            columns["attempts"] = np.sum([self._numbers(x, dims) for x in out_of], axis=0)
        flag = f"{name}_flagged"
        if flag in self._variables:
            columns["flagged"] = self._over(flag, dims) == 1
        return columns

    def _is_over(self, name: str, dims: _Dims) -> bool:
        return name in self._dims and {*self._dims[name]} <= {*dims}

    def _places(self, dims: _Dims) -> Block:
        """Return the columns of dimensions; the first of numbers with a unit is `point`."""
        if dims in self._places_of:
            return self._places_of[dims]
        columns = self._places_of[dims] = {}
        for dim, places in zip(dims, np.indices([self._sizes[x] for x in dims]), strict=True):
            column, variable = _NAMED_BY.get(dim, (dim, dim))
            labels, units = np.arange(self._sizes[dim]), ""
            if variable in self._variables:
                labels = self._variables[variable].values
                units = self._variables[variable].attrs.get("units", "")
                if dim in self._shown:
                    labels = labels[self._shown[dim]]
            labels_of_rows = labels[places.ravel()]
            if units and labels.dtype.kind == "f" and "at" not in columns:
                columns["at"] = column
                columns["point"] = labels_of_rows
            else:
                columns[column] = labels_of_rows
        return columns

    def _over(self, name: str, dims: _Dims) -> np.ndarray:
        """Return a variable's values at all places of `dims` (including its dimensions), flat."""
        values = self._variables[name].values
        own_dims = self._dims[name]
        for axis, dim in enumerate(own_dims):
            if dim in self._shown:
                values = values.take(self._shown[dim], axis)
        if own_dims != dims:
            values = repeated_over(own_dims, values, {dim: self._sizes[dim] for dim in dims})
        return values.ravel()

    def _numbers(self, name: str, dims: _Dims) -> np.ndarray:
        return self._over(name, dims).astype(np.float64, copy=False)


def _shown_places(dataset: xr.Dataset, dims: Mapping[str, _Dims]) -> dict[str, np.ndarray]:
    """Return the indices of the shown places, for each dimension with hidden places."""
    # Of curves and of single queries, no place is shown,
    shown = {dim: np.empty(0, dtype=np.intp) for dim in CURVES if dim in dataset.sizes}
    # but the thresholds that were asked for, or few; of ranks, those of a report.
    thresholds = asked_thresholds(dataset)
    if dataset.sizes.get("threshold", np.inf) <= FEW:
        thresholds = dataset["threshold"].values.tolist()
    labels_shown: dict[str, list[Any]] = {"rank": report_ranks(dataset), "threshold": thresholds}
    for dim, labels in labels_shown.items():
        if labels and dim in dataset.variables:
            shown[dim] = np.flatnonzero(np.isin(dataset.variables[dim].values, labels))
    # A dataset with the support of a number was asked for it: all its places are shown.
    for name, dims_of_variable in dims.items():
        if name.endswith(SUPPORTED):
            for dim in dims_of_variable:
                shown.pop(dim, None)
    return shown


def report_ranks(dataset: xr.Dataset) -> list[int]:
    if "rank" not in dataset.dims:
        return []
    ranks = map(int, str(dataset.attrs.get("report_ranks", "")).split())
    return Scalars.shown_ranks(list(ranks), dataset["rank"].values.tolist())


# ------------------------------------------------------------------------------------------- rows

#: Attributes of variables, which describe how they are shown.
Description = Mapping[str, Any]


@dataclass(slots=True)
class Row:
    """A number, or a text, of a result with its place.

    `places` are its labels by dimension, without systems and without the point of the number.
    """

    node: Node
    name: str
    about: Description
    about_threshold: Description
    system: str
    other_system: str  # the system whose number is subtracted
    places: dict[str, Any]
    measure: str
    statistic: str
    at: str
    point: float
    value: float
    low: float
    high: float
    threshold: float
    next: float
    attempts: float
    supported: bool | None
    flagged: bool
    text: Any

    @property
    def is_defined(self) -> bool:
        return self.text is not None or not math.isnan(self.value)

    @property
    def is_asked(self) -> bool:
        """Whether its threshold or its target was asked for.

        Such a number is shown even if the data do not support it.
        """
        dataset = self.node.dataset
        if "rates_at_threshold" in dataset.attrs:  # a threshold study, of the target of its call
            return self.places.get("part") == "all"
        if self.at == "frr_target":  # a result has these only if they were asked for
            return True
        if self.at == "threshold":
            return self.point in asked_thresholds(dataset)
        if self.at != "far_target":
            return False
        if "report_far_targets" in dataset.attrs:
            return True
        # No attribute says so, but targets other than the usual ones were asked for.
        targets = {*dataset.variables["far_target"].values.tolist()}
        return not {*FAR_TARGETS} <= targets <= {*FAR_TARGETS, *RARE_TARGETS}

    @property
    def is_brief(self) -> bool:
        """Whether a short view has the number."""
        dataset = self.node.dataset
        if not self.is_defined or self.places.get("part") == "train":
            return False
        # The usual cost is computed for everybody; other costs were asked for.
        is_only_cost = dataset.sizes.get("cost", 0) == 1 and self.at == "prior"
        if is_only_cost and self.point == PointsWanted.DEFAULT_COSTS[0][0]:
            return False
        # At a threshold, the first rank is enough.
        is_at_threshold = bool(self.at) or "threshold" in self.about
        rank = self.places.get("rank")
        if is_at_threshold and rank is not None and rank != dataset["rank"].values[0]:
            return False
        return "detail" not in self.about or (self.at == "threshold" and self.is_asked)

    @property
    def cell(self) -> Text:
        if self.text is not None:
            return Label(self.text)
        is_of_training = bool(self.statistic) and self.places.get("part") == "train"
        is_limited = not (math.isnan(self.low) or math.isnan(self.high))
        return cell_of_number(
            self.value,
            self.about,
            self.statistic,
            self.attempts,
            interval=(self.low, self.high) if is_limited and not is_of_training else None,
            flagged=self.flagged or self.supported is False,
            next=self.next,
        )

    @property
    def threshold_cell(self) -> Quantity | None:
        """The threshold of the number; None without a threshold, or if the point is a threshold."""
        if math.isnan(self.threshold) or self.at == "threshold" or not self.is_defined:
            return None
        return cell_of_number(self.threshold, self.about_threshold, next=self.next)


#: The last fields of a row, which are columns of a block, with their values if a block lacks them.
_FIELDS = {
    "measure": "",
    "statistic": "",
    "at": "",
    "point": math.nan,
    "value": math.nan,
    "low": math.nan,
    "high": math.nan,
    "threshold": math.nan,
    NEXT_SCORE: math.nan,
    "attempts": math.nan,
    "supported": None,
    "flagged": False,
    "text": None,
}


def rows_of(node: Node, *, data: bool = False) -> Iterator[Row]:
    """Yield the numbers of a dataset that tables have, variable by variable; or all in `data`."""
    numbers = NumbersOfDataset(node.dataset, curves=False)
    variables = node.dataset.variables
    for name in numbers.names:
        about = variables[name].attrs
        measure = about.get("measure")
        if measure in variables and "decimals" in variables[measure].attrs:
            # A statistic has the decimals of its measure.
            about = {"decimals": variables[measure].attrs["decimals"], **about}
        if about.get("detail") == "data" and not data:
            continue
        threshold = numbers.thresholds.get(name)
        about_threshold = variables[threshold].attrs if threshold else {}
        block = numbers.block(name)
        size = len(block["value"])
        columns = {
            column: values.tolist() if isinstance(values, np.ndarray) else [values] * size
            for column, values in block.items()
        }
        dims = [x for x in columns if x not in COLUMNS and x != NEXT_SCORE]
        columns_of_fields = [columns.get(x, [missing] * size) for x, missing in _FIELDS.items()]
        for i, fields in enumerate(zip(*columns_of_fields, strict=True)):
            places = {dim: columns[dim][i] for dim in dims}
            system = node.name_of_system(places.pop("system", ""))
            other = places.pop("other_system", "")
            other_system = node.name_of_system(other) if other else ""
            yield Row(node, name, about, about_threshold, system, other_system, places, *fields)


def label_of(row: Row, *, without: str = "", with_also: bool = True) -> Text:
    """Return the label of a number with its point and its rank, explained by its long name.

    `without` is the dimension of the point where rows of the table have it; another name in use
    is behind it `with_also`.
    """
    about = row.about
    of_measure = row.node.dataset.variables.get(row.measure) if row.statistic else None
    if of_measure is not None and "label" not in about:
        about = of_measure.attrs
    template = str(about.get("label") or row.measure.replace("_", " "))
    named_places = fields_of(template)
    places = _places_of_label(row, named_places, without)
    for name in places:
        if name not in named_places:
            before = " at" if name == "threshold" else ","
            template += f"{before} {name.replace('_', ' ')} {{{name}}}"
    task = _task_of(template)
    label = Phrase(template, places, task)
    also = _also_called(row) if with_also else ""
    text = say("{label} ({also})", label=label, also=also) if also else label
    long_name = str(about.get("long_name", ""))
    explanation = say(template_of(long_name), task=task)
    return Explained(text, explanation, _abbreviation(template, long_name))


def _places_of_label(row: Row, names: Sequence[str], without: str) -> dict[str, Any]:
    """Return the rank and the point of a number for its label, and a symbol for other `names`."""
    places: dict[str, Any] = {}
    if "rank" in row.places and without != "rank":
        places["rank"] = Count(row.places["rank"])
    if row.at and row.at != without:
        place = "target" if row.at.endswith("_target") else row.at
        place = "level" if place == "recall_level" else place
        places[place] = cell_of_point(row.at, row.point)
    for name in names:
        if name in ("target", "rank", "level", "prior", "threshold") and name not in places:
            cut = row.node.dataset.attrs.get(f"{name}_k")
            at_no_rank = "K" if name == "rank" else _EVERY_PLACE[name]
            places[name] = at_no_rank if cut is None else Count(int(cut))
    return places


def _also_called(row: Row) -> str:
    """Return another name in use of a number, at rank 1 only; empty without one.

    Of several names, such as FMR100 and FMR1000, the name with 1 / target; none over several tries.
    """
    names = str(row.about.get("also", "")).split()
    if row.places.get("rank", 1) != 1:
        return ""
    if len(names) < 2 or not row.at:
        return " ".join(names)
    if int(row.node.dataset.attrs.get("most_tries", 1)) > 1:
        return ""
    inverse = f"{1 / row.point:.12g}" if row.point > 0 else ""
    named_by_inverse = (x for x in names if x.lstrip(string.ascii_letters) == inverse)
    return next(named_by_inverse, "")


def _abbreviation(template: str, long_name: str) -> tuple[str, str] | tuple[()]:
    """Return the abbreviation at the beginning of a label with its name in full; () without one."""
    if re.split("[, ]", template)[0] == "EER":
        return "EER", "equal error rate"
    short = re.split(r",| \(", template)[0]
    full = re.split("[:,;]", long_name)[0].removesuffix(f" ({short})")
    is_abbreviation = short.isalnum() and short.isupper() and short not in full
    return (short, full) if is_abbreviation else ()


def _task_of(template: str) -> str:
    """Return the task of the rates of a label: a comparison has rates of several tasks."""
    return "" if {"dir", "cms"}.isdisjoint(fields_of(template)) else "identification"


#: The places of a label where it stands for all of them.
_EVERY_PLACE = {"target": "target", "prior": "p", "rank": "R", "level": "r", "threshold": "T"}


def label_of_measure(row: Row) -> Phrase:
    """Return the label of a measure at any target and rank."""
    template = str(row.about.get("label") or row.measure.replace("_", " "))
    places = {x: y for x, y in _EVERY_PLACE.items() if x in fields_of(template)}
    return Phrase(template, places, _task_of(template))


def label_of_place(coordinates: Mapping[Hashable, Any], dim: str, label: Any) -> Text:
    about = coordinates[dim].attrs if dim in coordinates else {}
    text = about.get(f"label_{label}")
    if text is not None:
        return say(text)
    place = cell_of_point(dim, label)
    # A target is exact, and is not rounded as the numbers of a column are.
    return say("{place}", place=place) if isinstance(place, Rate) else place


def cell_of_point(at: str, point: Any) -> Text:
    """Return the label of a place along a dimension as a cell."""
    if isinstance(point, str):
        return Label(point)
    if at.endswith("_target"):
        return Rate(point, digits=6)
    if at == "threshold":
        return Threshold(point)
    if isinstance(point, float):
        return Number(point, digits=6)
    return Label(point)
