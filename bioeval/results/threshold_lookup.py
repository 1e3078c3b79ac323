"""Rates of a result at any threshold, by the row of its grid on the stricter side.

A claim is accepted iff ``d <= t`` (``s >= t``), so that the counts between two thresholds of the
grid are bracketed by theirs. The stricter one is the row taken: the one before for distances, the
one after for similarities. The nearest may be on the wrong side.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import as_float64
from bioeval.base.errors import Argument, DataError, ProtocolError, counted
from bioeval.base.kinds import larger_is_closer
from bioeval.base.scalars import Name
from bioeval.base.variables import COORDINATES
from bioeval.results.dataset import tree_of
from bioeval.tallies.threshold_rules import Rule

#: Rates that grow as the threshold accepts more, and those that fall.
ACCEPTED_WITH_THRESHOLD = ("gar", "far", "dir", "ttr", "ttr_identity", "ftr", "far_unenrolled")

REJECTED_WITH_THRESHOLD = ("frr", "grr")

#: Variables that :func:`bioeval.at` adds to those of a task.
AT = {
    "threshold_used": Name("threshold of the results whose rates are given", "score"),
    "threshold_next": Name("next looser threshold of the results", "score"),
    **{
        f"{rate}_{end}": Name(f"{which} bound of {rate} at the threshold")
        for rate in (*ACCEPTED_WITH_THRESHOLD, *REJECTED_WITH_THRESHOLD)
        for end, which in (("at_least", "lower"), ("at_most", "upper"))
    },
}

_RULES = {
    False: "distances: the last threshold of the results that is not above the one given",
    True: "similarities: the first threshold of the results that is not below the one given",
}
_SHOWN = 3

# Thresholds that are operating points.
_POINTS = ("eer", "zero_far", "zero_frr", "min_cost")


def units_of(dataset: xr.Dataset) -> str:
    """Return the kind and the units of a result's thresholds; equal ones can be shared."""
    metric = re.search(r"metric (\w+)", str(dataset.attrs.get("origin", "")))
    own = str(dataset.get("threshold", xr.DataArray()).attrs.get("units", ""))
    kind = str(dataset.attrs.get("kind", "distance"))
    return " ".join(filter(None, (kind, own, metric[1] if metric else "")))


def operating_points(dataset: xr.Dataset) -> np.ndarray:
    """Return the finite thresholds of a result's operating points, at rank 1."""
    found = [dataset[name] for name in (f"{x}_threshold" for x in _POINTS) if name in dataset]
    if "threshold_at_far" in dataset:
        at_far = dataset["threshold_at_far"]
        found.append(at_far.isel(rank=0) if "rank" in at_far.dims else at_far)
    if "threshold_at_frr" in dataset:
        found.append(dataset["threshold_at_frr"])
    every = np.concatenate([np.empty(0), *(x.values.ravel() for x in found)])
    return np.unique(every[np.isfinite(every)])


def shared_points(trees: Mapping[str, xr.DataTree]) -> dict[str, np.ndarray]:
    """Return for each system the operating points of all systems in its units."""
    leaves = {name: [x.to_dataset() for x in tree.leaves] for name, tree in trees.items()}
    curves = {name: [x for x in found if "threshold" in x.dims] for name, found in leaves.items()}
    every = [x for found in curves.values() for x in found]
    shared = {}
    for name, found in curves.items():
        units = {units_of(x) for x in found}
        points = [operating_points(x) for x in every if units_of(x) in units]
        shared[name] = np.unique(np.concatenate([np.empty(0), *points]))
    return shared


def check_places(threshold: Any) -> np.ndarray:
    """Return thresholds as float64, a scalar or one-dimensional, or raise :class:`DataError`."""
    name = Argument("threshold")
    try:
        array = np.asarray(threshold)
    except (ValueError, TypeError) as error:
        raise DataError(f"{name} is not a number: {error}") from None
    if array.dtype.kind not in "iuf" or array.ndim > 1 or not array.size:
        raise DataError(
            f"{name} has shape {array.shape} and dtype {array.dtype}; expected a number, or a "
            "one-dimensional array of at least one"
        )
    places = as_float64("threshold", threshold)
    if (lacking := np.isnan(places)).any():
        if places.ndim:
            where = f"{name}[{int(np.argmax(lacking))}]"
        else:
            where = str(name)
        raise DataError(f"{where} is NaN; expected a number")
    return places


def threshold_of(dataset: xr.Dataset, rule: Rule) -> float:
    """Return the threshold that a rule names in a result: given, of the EER, or of a target."""
    if rule.name == "fixed":
        return rule.values[0]
    found, targets = np.empty(0), np.empty(0)
    if rule.name == "eer" and "eer_threshold" in dataset:
        found = dataset["eer_threshold"].values.reshape(-1)
    if "threshold_at_far" in dataset:
        targets = dataset["far_target"].values
        at_far = dataset["threshold_at_far"]
        if "rank" in at_far.dims:
            at_far = at_far.isel(rank=0)
        if rule.name == "far":
            found = at_far.values[targets == rule.values[0]]
    if rule.name == "frr" and "threshold_at_frr" in dataset:
        found = dataset["threshold_at_frr"].values[dataset["frr_target"].values == rule.values[0]]
    if not np.isfinite(found).any():
        wrong = f"{Argument('threshold', str(rule))} is not an operating point of these results; "
        if rule.name == "far":
            raise DataError(wrong + other_targets(rule.values[0], targets.tolist()))
        listed = "".join(f", far={x:g}" for x in targets.tolist())
        eer = ", eer" * ("eer_threshold" in dataset)
        raise DataError(
            f"{wrong}expected a number{eer}{listed}. The threshold of another rule is chosen on "
            f'the scores: be.at(scores, "{rule}"), or bioeval threshold SCORES --target {rule}'
        )
    return float(found[0])


def other_targets(target: float, there: list[float]) -> str:
    """Return the FAR targets of a result nearest to a missing one, and the remedy."""
    sides = (
        max((x for x in there if x < target), default=None),
        min((x for x in there if x > target), default=None),
    )
    near = " and ".join(f"far={x:g}" for x in sides if x is not None)
    verb = "is"
    if " and " in near:
        verb = "are"
    return (
        (f"the nearest {verb} {near}; " if near else "they have no FAR target; ")
        + f"evaluate with {Argument('far_targets', [target])} (bioeval run --far {target:g}), or "
        "give the scores"
    )


def rows_at(grid: np.ndarray, threshold: Any, similar: bool) -> Any:
    """Return the rows of increasing thresholds that apply at others, on the stricter side.

    For distances that is -1, for similarities the number of rows.
    """
    if similar:
        return np.searchsorted(grid, threshold, side="left")
    return np.searchsorted(grid, threshold, side="right") - 1


def rates_at(dataset: xr.Dataset, given: np.ndarray | Rule) -> xr.Dataset:
    """Return a result at thresholds of any order, checked by :func:`check_places`, or by a rule."""
    if isinstance(given, Rule):
        threshold = np.array(threshold_of(dataset, given))
    else:
        threshold = given
    similar, grid = _grid(dataset)
    row = rows_at(grid, threshold, similar)
    looser, last = (row - 1, len(grid) - 1) if similar else (row + 1, len(grid) - 1)
    if similar:
        outside = row > last
    else:
        outside = row < 0
    if similar:
        inside = looser >= 0
    else:
        inside = looser <= last
    _refuse_unknown(dataset, grid, threshold, outside, similar)
    # Accepted nowhere before a first row that accepts nothing, and perhaps anything after the last.
    strictest, loosest = (np.inf, -np.inf) if similar else (-np.inf, np.inf)
    place, after = np.clip(row, 0, last), np.clip(looser, 0, last)
    used = np.where(outside, strictest, grid[place])
    loose = np.where(inside, grid[after], loosest)
    found = at_rows(dataset, place, threshold, used)
    found = found.assign(threshold_next=_over(threshold, loose + 0.0, "threshold_next"))
    hit = used == threshold
    for names, accepts in ((ACCEPTED_WITH_THRESHOLD, True), (REJECTED_WITH_THRESHOLD, False)):
        for name in names:
            if name in dataset and "threshold" in dataset[name].dims:
                found = found.assign(_bracket(dataset, found, name, after, hit, inside, accepts))
    found.attrs["threshold_lookup"] = _RULES[similar]
    return found


def at_rows(
    dataset: xr.Dataset, place: np.ndarray, threshold: np.ndarray, used: np.ndarray
) -> xr.Dataset:
    """Return rows of a result for given thresholds, with the thresholds that they `used`."""
    rows: Any = int(place) if threshold.ndim == 0 else place
    found = dataset.isel(threshold=rows)
    return found.assign_coords(
        threshold=_over(threshold, threshold, None, found["threshold"].attrs)
    ).assign(threshold_used=_over(threshold, used + 0.0, "threshold_used"))


def rates_of_tree_at(tree: xr.DataTree, threshold: np.ndarray | Rule) -> xr.DataTree:
    """Return every task of a tree that has thresholds, at these ones, or at its own by a rule."""
    nodes = {node.path.strip("/"): node.to_dataset() for node in tree.leaves}
    curves = {path: ds for path, ds in nodes.items() if "threshold" in ds.dims}
    if not curves:
        listed = ", ".join(path or "/" for path in nodes)
        raise ProtocolError(f"no task of these results ({listed}) has rates over thresholds")
    scales = {ds.attrs.get("task") == "GOM" for ds in curves.values()}
    if len(scales) > 1 and not isinstance(threshold, Rule):
        raise ProtocolError(
            "thresholds of GOM are distances scaled to 0 ... 1, those of other tasks are scores: "
            "look them up in one result, such as tree['gom']"
        )
    found = {}
    for path, ds in curves.items():
        try:
            found[path] = rates_at(ds, threshold)
        except DataError as error:
            raise error.preceded_by(f"{path}: ") from None
    return tree_of(found)


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
    if dataset.attrs.get("task") == "GOM":  # of normalised distances, whatever the scores are
        kind = "distance"
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
    first = dataset.isel(threshold=-1 if similar else 0)
    rates = [x for x in ACCEPTED_WITH_THRESHOLD if x in dataset and "threshold" in dataset[x].dims]
    both = "far" in rates and {"gar", "dir", "ttr"} & set(rates)
    if both and not any((first[name] > 0).any() for name in rates):
        return
    places = np.atleast_1d(threshold)[np.atleast_1d(outside)]
    listed = ", ".join(f"{x:g}" for x in places[:_SHOWN]) + ", ..." * (len(places) > _SHOWN)
    side, end, edge = ("above", "last", grid[-1]) if similar else ("below", "first", grid[0])
    raise DataError(
        f"{Argument('threshold')} {listed} is {side} the {end} threshold of the results, "
        f"{edge:g}, and some attempts are accepted there already, so the rates are not known: "
        "give the scores, or evaluate at the thresholds themselves"
    )


def _bracket(
    dataset: xr.Dataset,
    found: xr.Dataset,
    name: str,
    after: np.ndarray,
    hit: np.ndarray,
    inside: np.ndarray,
    accepts: bool,
) -> dict[str, xr.DataArray]:
    """Return the rates between which the threshold's rate lies; exact on a row of the grid."""
    here = found[name]

    def along(values: np.ndarray) -> xr.DataArray:
        return xr.DataArray(values, dims=("threshold",) * np.ndim(values))

    rows: Any = int(after) if np.ndim(after) == 0 else after
    there = dataset[name].isel(threshold=rows).assign_coords(threshold=found["threshold"])
    there = there.where(along(inside), here * 0.0 + (1.0 if accepts else 0.0))
    there = here.where(along(hit), there)
    low, high = (here, there) if accepts else (there, here)
    ends = {f"{name}_at_least": low, f"{name}_at_most": high}
    for key, values in ends.items():
        ends[key] = values.transpose(*here.dims)
        ends[key].attrs = AT[key].attrs()
    return ends


def _over(
    threshold: np.ndarray, values: np.ndarray, name: str | None, attrs: dict | None = None
) -> xr.Variable:
    """Return values at the thresholds as a variable."""
    dims = ("threshold",) * threshold.ndim
    if attrs is None:
        about = (AT[name] if name else COORDINATES["threshold"]).attrs()
    else:
        about = attrs
    return xr.Variable(dims, values, about)
