"""Rates of a result at any threshold, by the row of its grid on the stricter side.

A claim is accepted iff ``d <= t`` (``s >= t``), so that the counts between two thresholds of the
grid are bracketed by theirs. The stricter one is the row taken: the one before for distances, the
one after for similarities. The nearest may be on the wrong side.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import as_float64, require_array
from bioeval.base.errors import (
    Argument,
    DataError,
    ProtocolError,
    Words,
    counted,
)
from bioeval.base.kinds import larger_is_closer
from bioeval.base.scalars import Name
from bioeval.results.dataset import tree_of
from bioeval.tallies.threshold_rules import Rule

#: Rates that grow as the threshold accepts more, and those that fall.
ACCEPTED_WITH_THRESHOLD = ("gar", "far", "dir", "ttr", "ttr_identity", "ftr", "far_unenrolled")

REJECTED_WITH_THRESHOLD = ("frr", "grr")

#: Variables that :func:`bioeval.at` adds to those of a task.
AT = {
    "threshold_used": Name("threshold of the results whose rates are given", "score"),
    "threshold_next": Name("next looser threshold of the results", "score"),
}
for _rate in (*ACCEPTED_WITH_THRESHOLD, *REJECTED_WITH_THRESHOLD):
    AT[f"{_rate}_at_least"] = Name(f"lower bound of {_rate} at the threshold")
    AT[f"{_rate}_at_most"] = Name(f"upper bound of {_rate} at the threshold")

_RULES = {
    False: "distances: the last threshold of the results that is not above the one given",
    True: "similarities: the first threshold of the results that is not below the one given",
}
_SHOWN = 3

# Thresholds that are operating points.
_POINTS = ("eer_threshold", "zero_far_threshold", "zero_frr_threshold", "min_cost_threshold")


@dataclass(frozen=True)
class ResultThresholds:
    """The thresholds of a result: their units, its operating points, that of a rule."""

    dataset: xr.Dataset

    @property
    def units(self) -> str:
        """Kind and units of the thresholds; equal ones can be shared."""
        units = self.dataset.get("threshold", xr.DataArray()).attrs.get("units", "")
        attrs = self.dataset.attrs
        words = str(attrs.get("kind", "distance")), str(units), str(attrs.get("metric", ""))
        return " ".join(filter(None, words))

    @property
    def far_targets(self) -> np.ndarray:
        """The FAR targets; empty without any."""
        if "far_target" in self.dataset.dims:
            return self.dataset["far_target"].values
        return np.empty(0)

    def operating_points(self) -> np.ndarray:
        """Return the finite thresholds of the operating points, at rank 1."""
        dataset, points = self.dataset, [np.empty(0)]
        for name in _POINTS:
            if name in dataset:
                points.append(dataset[name].values.ravel())
        if "threshold_at_far" in dataset:
            points.append(_at_rank_1(dataset["threshold_at_far"]).ravel())
        if "threshold_at_frr" in dataset:
            points.append(dataset["threshold_at_frr"].values.ravel())
        every = np.concatenate(points)
        return np.unique(every[np.isfinite(every)])

    def of_rule(self, rule: Rule) -> float:
        """Return the threshold that a rule names: given, of the EER, or of a target."""
        if rule.name == "fixed":
            return rule.values[0]
        dataset, thresholds = self.dataset, np.empty(0)
        if rule.name == "eer" and "eer_threshold" in dataset:
            thresholds = dataset["eer_threshold"].values.reshape(-1)
        if rule.name == "far" and "threshold_at_far" in dataset:
            at_far = _at_rank_1(dataset["threshold_at_far"])
            thresholds = at_far[self.far_targets == rule.values[0]]
        if rule.name == "frr" and "threshold_at_frr" in dataset:
            at_frr = dataset["threshold_at_frr"].values
            thresholds = at_frr[dataset["frr_target"].values == rule.values[0]]
        if not np.isfinite(thresholds).any():
            given_rule = Argument("threshold", str(rule))
            wrong = Words(given_rule, " is not an operating point of these results; ")
            if rule.name == "far":
                raise DataError(wrong, self.other_targets(rule.values[0]))
            listed = "".join(f", far={x:g}" for x in self.far_targets.tolist())
            eer = ", eer" if "eer_threshold" in dataset else ""
            raise DataError(
                wrong,
                f"expected a number{eer}{listed}. The threshold of another rule is chosen on the "
                f'scores: be.at(scores, "{rule}"), or bioeval threshold SCORES --target {rule}',
            )
        return float(thresholds[0])

    def other_targets(self, target: float) -> Words:
        """Return the FAR targets nearest to a missing one, and the remedy."""
        known = np.unique(self.far_targets)
        nearest = [*known[known < target][-1:], *known[known > target][:1]]
        near = "they have no FAR target"
        if len(nearest) == 1:
            near = f"the nearest is far={nearest[0]:g}"
        elif nearest:
            near = f"the nearest are far={nearest[0]:g} and far={nearest[1]:g}"
        return Words(
            f"{near}; evaluate with ",
            Argument("far_targets", [target]),
            f" (bioeval run --far {target:g}), or give the scores",
        )


def _at_rank_1(at_far: xr.DataArray) -> np.ndarray:
    """Return the values at FAR targets, of identification those at rank 1."""
    if "rank" in at_far.dims:
        at_far = at_far.isel(rank=0)
    return at_far.values


def shared_points(trees: Mapping[str, xr.DataTree]) -> dict[str, np.ndarray]:
    """Return for each system the operating points of all systems in its units."""
    curves: dict[str, list[ResultThresholds]] = {}
    for name, tree in trees.items():
        leaves = [leaf.to_dataset() for leaf in tree.leaves]
        curves[name] = [ResultThresholds(leaf) for leaf in leaves if "threshold" in leaf.dims]
    every = list(itertools.chain.from_iterable(curves.values()))
    shared = {}
    for name, lookups in curves.items():
        units = {task.units for task in lookups}
        points = [task.operating_points() for task in every if task.units in units]
        shared[name] = np.unique(np.concatenate([np.empty(0), *points]))
    return shared


def check_places(threshold: Any) -> np.ndarray:
    """Return thresholds as float64, a scalar or one-dimensional, or raise :class:`DataError`."""
    name = Argument("threshold")
    array = require_array(name, threshold)
    if array.dtype.kind not in "iuf" or array.ndim > 1 or not array.size:
        raise DataError(
            name,
            f" has shape {array.shape} and dtype {array.dtype}; expected a number, or a "
            "one-dimensional array of at least one",
        )
    places = as_float64("threshold", threshold)
    if (lacking := np.isnan(places)).any():
        where = f"[{int(np.argmax(lacking))}]" if places.ndim else ""
        raise DataError(name, f"{where} is NaN; expected a number")
    return places


def rates_at(dataset: xr.Dataset, given_thresholds: np.ndarray | Rule) -> xr.Dataset:
    """Return a result at thresholds of any order, checked by :func:`check_places`, or by a rule."""
    if isinstance(given_thresholds, Rule):
        threshold = np.array(ResultThresholds(dataset).of_rule(given_thresholds))
    else:
        threshold = given_thresholds
    similar, grid = _grid(dataset)
    last = len(grid) - 1
    # The row of a threshold is that of the nearest one on the stricter side, perhaps outside.
    if similar:
        row = np.searchsorted(grid, threshold, side="left")
        looser = row - 1
        outside, inside = row > last, looser >= 0
        strictest, loosest = np.inf, -np.inf
    else:
        row = np.searchsorted(grid, threshold, side="right") - 1
        looser = row + 1
        outside, inside = row < 0, looser <= last
        strictest, loosest = -np.inf, np.inf
    _refuse_unknown(dataset, grid, threshold, outside, similar)
    # Accepted nowhere before a first row that accepts nothing, and perhaps anything after the last.
    place, after = np.clip(row, 0, last), np.clip(looser, 0, last)
    used = np.where(outside, strictest, grid[place])
    loose = np.where(inside, grid[after], loosest)
    rates = at_rows(dataset, place, threshold, used)
    rates = rates.assign(threshold_next=_over(threshold, loose + 0.0, AT["threshold_next"].attrs()))
    next_rows = _LooserRows(row=after, there=inside, needed=used != threshold)
    for name in _curves(dataset, ACCEPTED_WITH_THRESHOLD):
        rates = rates.assign(_bracket(dataset[name], rates[name], next_rows, accepts=True))
    for name in _curves(dataset, REJECTED_WITH_THRESHOLD):
        rates = rates.assign(_bracket(dataset[name], rates[name], next_rows, accepts=False))
    rates.attrs["threshold_lookup"] = _RULES[similar]
    return rates


def _curves(dataset: xr.Dataset, names: Iterable[str]) -> list[str]:
    """Return the names of rates that a result has over thresholds."""
    return [x for x in names if x in dataset and "threshold" in dataset[x].dims]


def at_rows(
    dataset: xr.Dataset, place: np.ndarray, threshold: np.ndarray, used: np.ndarray
) -> xr.Dataset:
    """Return rows of a result for given thresholds, with the thresholds that they `used`."""
    rates = dataset.isel(threshold=_one_or_many(place))
    coordinate = _over(threshold, threshold, rates["threshold"].attrs)
    return rates.assign_coords(threshold=coordinate).assign(
        threshold_used=_over(threshold, used + 0.0, AT["threshold_used"].attrs())
    )


def _one_or_many(rows: np.ndarray) -> np.ndarray | int:
    """Return rows as xarray selects them: a single one without a dimension."""
    return rows if np.ndim(rows) else int(rows)


def rates_of_tree_at(tree: xr.DataTree, threshold: np.ndarray | Rule) -> xr.DataTree:
    """Return every task of a tree that has thresholds, at these ones, or at its own by a rule."""
    curves = {}
    scales, more_nodes = set(), []
    for leaf in tree.leaves:
        path = leaf.path.strip("/")
        if "threshold" in leaf.dims:
            curves[path] = leaf.to_dataset()
            scales.add(leaf.attrs.get("result_type") == "gom")
        else:
            more_nodes.append(path or "/")
    if not curves:
        listed = ", ".join(more_nodes)
        raise ProtocolError(f"no task of these results ({listed}) has rates over thresholds")
    if len(scales) > 1 and not isinstance(threshold, Rule):
        raise ProtocolError(
            "thresholds of GOM are distances scaled to 0 ... 1, those of other tasks are scores: "
            "look them up in one result, such as tree['gom']"
        )
    rates = {}
    for path, ds in curves.items():
        try:
            rates[path] = rates_at(ds, threshold)
        except DataError as error:
            raise error.preceded_by(f"{path}: ") from None
    return tree_of(rates)


def _grid(dataset: xr.Dataset) -> tuple[bool, np.ndarray]:
    """Return whether larger is closer, and the increasing thresholds of a result."""
    if "threshold" not in dataset.dims:
        task = dataset.attrs.get("task", "these results")
        raise ProtocolError(f"{task}: no rates over thresholds, so none can be looked up")
    if "threshold" not in dataset.coords:
        raise DataError("the dimension threshold has no coordinate: its thresholds are not known")
    grid = dataset["threshold"].values.astype(np.float64)
    if not (len(grid) and (np.diff(grid) > 0).all()):
        raise DataError(
            f"the results have {counted(len(grid), 'thresholds')} that do not increase; expected "
            "those of a task, in their order"
        )
    kind = dataset.attrs.get("kind")
    if dataset.attrs.get("result_type") == "gom":
        kind = "distance"  # normalised, whatever the scores are
    if kind is None:
        raise DataError(
            "the results do not say whether scores are distances or similarities (attribute kind)"
        )
    return larger_is_closer(str(kind)), grid


def _refuse_unknown(
    dataset: xr.Dataset, grid: np.ndarray, threshold: np.ndarray, outside: np.ndarray, similar: bool
) -> None:
    """Raise if rates beyond the strictest threshold of the grid are not known to be 0."""
    if not outside.any():
        return
    place, side, end = 0, "below", "first"
    if similar:
        place, side, end = -1, "above", "last"
    first = dataset.isel(threshold=place)
    rates = _curves(dataset, ACCEPTED_WITH_THRESHOLD)
    both = "far" in rates and {"gar", "dir", "ttr"} & set(rates)
    if both and not any((first[name] > 0).any() for name in rates):
        return
    places = np.atleast_1d(threshold)[np.atleast_1d(outside)]
    listed = ", ".join(f"{x:g}" for x in places[:_SHOWN])
    if len(places) > _SHOWN:
        listed += ", ..."
    raise DataError(
        Argument("threshold"),
        f" {listed} is {side} the {end} threshold of the results, {grid[place]:g}, and some "
        "attempts are accepted there already, so the rates are not known: give the scores, or "
        "evaluate at the thresholds themselves",
    )


@dataclass(frozen=True)
class _LooserRows:
    """The rows of a grid next to those that apply to thresholds, on the looser side."""

    row: np.ndarray  # within the grid
    there: np.ndarray  # whether the grid has such a row
    needed: np.ndarray  # whether the threshold lies between two rows, and on none


def _bracket(
    curve: xr.DataArray, here: xr.DataArray, looser: _LooserRows, *, accepts: bool
) -> dict[str, xr.DataArray]:
    """Return the rates between which the threshold's rate lies; exact on a row of the grid.

    `here` has the rates of a `curve` at the rows that apply; it grows with what it `accepts`.
    """

    def along(values: np.ndarray) -> xr.DataArray:
        return xr.DataArray(values, dims=("threshold",) * np.ndim(values))

    there = curve.isel(threshold=_one_or_many(looser.row))
    there = there.assign_coords(threshold=here["threshold"])
    there = there.where(along(looser.there), here * 0.0 + float(accepts))
    there = there.where(along(looser.needed), here)
    low, high = there, here
    if accepts:
        low, high = here, there
    ends = {f"{curve.name}_at_least": low, f"{curve.name}_at_most": high}
    for key, values in ends.items():
        ends[key] = values.transpose(*here.dims)
        ends[key].attrs = AT[key].attrs()
    return ends


def _over(threshold: np.ndarray, values: np.ndarray, attrs: Mapping[Any, Any]) -> xr.Variable:
    """Return values at the thresholds as a variable."""
    return xr.Variable(("threshold",) * threshold.ndim, values, attrs)
