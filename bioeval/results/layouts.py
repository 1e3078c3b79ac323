"""The layout of results over folds or partitions: statistics on a dimension, a column a target.

Views read a variable for each statistic of a rate, and targets on a dimension: :func:`expanded`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError
from bioeval.results.dataset import SCHEMA, in_order
from bioeval.results.variables import (
    COORDINATES,
    NOT_POOLED,
    VERIFICATION,
    Variable,
)

_TRAINING = "train_"

# What describes a dimension of results over partitions.
_PLACES = {**COORDINATES, "cost": VERIFICATION["cost_prior"]}

Results = TypeVar("Results", xr.Dataset, xr.DataTree)


class FoldLayout:
    """The layout of results over folds or partitions, and the statistics of a rate in it."""

    #: Statistics over all folds, in their order; those of training parts have `_TRAINING` before.
    STATISTICS: ClassVar = {
        "mean": "mean over folds",
        "sd": "standard deviation over folds",
        "se": "standard error of the mean, sd over the root of the folds, as in tables of LFW; too "
        "small, for folds share their training parts",
        "pooled": "counts of all folds summed",
        "low": "lower end of the interval over folds",
        "high": "upper end of the interval over folds",
        "folds": "number of folds in which it is defined",
        "repeats_mean": "mean of the means of the repeats",
        "repeats_sd": "standard deviation of the means of the repeats",
    }

    @classmethod
    def each_over_folds(cls, rate: Variable) -> dict[str, Variable]:
        """Describe each statistic of a rate over folds."""
        described = {}
        for key, words in cls.STATISTICS.items():
            units = "folds" if key == "folds" else rate.units
            described[key] = Variable(f"{rate.long_name}; {words}", units, rate.iso)
        return described


def expanded(results: Results) -> Results:
    """Return results over folds or partitions as views read them; others are returned as they are.

    Parameters
    ----------
    results : xarray.Dataset or xarray.DataTree
        Results of :func:`bioeval.cross_evaluate` or :func:`bioeval.repeat`, or of
        :func:`bioeval.evaluate` by a card with folds.

    Returns
    -------
    xarray.Dataset or xarray.DataTree
        Of folds, a variable for each statistic: ``far_mean`` is ``far_summary`` at the statistic
        ``"mean"``, ``train_far_mean`` at ``"train_mean"``. Of partitions, variables over
        ``far_target``, ``rank`` and ``cost``: ``frr_at_far`` at 0.01 is ``frr_at_far_0.01``.

    Raises
    ------
    DataError
        If a newer version of bioeval saved them.
    """
    if isinstance(results, xr.DataTree):
        known = [node for node in results.subtree if "schema" in node.attrs]
        for node in known:
            _require_schema(node.attrs)
        if any(_is_compact(node.dataset) for node in known):
            return results.map_over_datasets(expanded)
        return results  # to map over a tree takes much longer than to look at it
    _require_schema(results.attrs)
    if not _is_compact(results):
        return results
    coords = {str(name): x.variable for name, x in results.coords.items()}
    coords.pop("statistic", None)
    if "statistic" in results.dims:
        data = _by_statistic(results)
    else:
        data, places = _over_places(results)
        coords |= places
    return xr.Dataset(in_order(data), coords, dict(results.attrs))


def _require_schema(attrs: Mapping[Any, Any]) -> None:
    schema = int(attrs.get("schema", SCHEMA))
    if schema != SCHEMA:
        raise DataError(
            f"the results are of schema {schema}; this version of bioeval reads schema {SCHEMA}. "
            "Use a newer bioeval"
        )


def _is_compact(dataset: xr.Dataset) -> bool:
    """Whether statistics, or places of partitions, are along a dimension."""
    return "statistic" in dataset.dims or any("over" in x.attrs for x in dataset.variables.values())


_Variables = dict[str, xr.Variable]


def _by_statistic(dataset: xr.Dataset) -> _Variables:
    """Return the variables of results over folds, one for each statistic."""
    labels = dataset["statistic"].values.tolist()
    variables = {}
    summaries = {}
    for name, x in dataset.data_vars.items():
        if "statistic" in x.dims:
            summaries[str(name).removesuffix("_summary")] = x.variable
        else:
            variables[str(name)] = x.variable
    rates = sorted(summaries, key=[*variables, *summaries].index)
    parts = itertools.product(("", _TRAINING), rates)
    for part, rate in sorted(parts, key=lambda place: place[1] in NOT_POOLED):
        values = dict(zip(labels, summaries[rate].values, strict=True))
        if np.isnan(values.get(f"{part}folds", np.nan)).all():
            continue  # a rate of the test part alone
        statistics, dims = summaries[rate].attrs, summaries[rate].dims[1:]
        words = statistics["long_name"]
        if part:
            words = f"on the training part: {words}"
        for key, about in FoldLayout.each_over_folds(Variable(words, statistics["units"])).items():
            if (key == "pooled" and rate in NOT_POOLED) or f"{part}{key}" not in values:
                continue
            statistic = np.asarray(values[f"{part}{key}"])
            if key == "folds":
                statistic = statistic.astype(np.int64)
            variables[f"{part}{rate}_{key}"] = xr.Variable(
                dims, statistic, {**statistics, **about.attrs}, fastpath=True
            )
    return variables


def _over_places(dataset: xr.Dataset) -> tuple[_Variables, _Variables]:
    """Return the variables of results over partitions, and their FAR targets, ranks and costs."""
    columns: dict[str, dict[tuple, xr.Variable]] = {}
    for name, x in dataset.data_vars.items():
        of, over = str(x.attrs.get("of", name)), str(x.attrs.get("over", "")).split()
        if of != name and of in dataset:
            continue  # at ranks of a curve
        columns.setdefault(of, {})[tuple(x.attrs[dim] for dim in over)] = x.variable
    variables = {}
    coords = {}
    for name, column in columns.items():
        first = next(iter(column.values()))
        dims = str(first.attrs.get("over", "")).split()
        if not dims:
            variables[name] = first
            continue
        labels = [list(dict.fromkeys(places)) for places in zip(*column, strict=True)]
        for dim, places in zip(dims, labels, strict=True):
            described = xr.Variable(dim, places, _PLACES[dim].attrs)
            if dim == "cost":
                variables["cost_prior"] = described
            else:
                coords[dim] = described
        attrs = dict(first.attrs)
        for name_of_place in ("of", "over", *dims):
            attrs.pop(name_of_place, None)
        attrs["long_name"] = str(attrs["long_name"]).rsplit("; ", len(dims))[0]
        values = np.stack([x.values for x in column.values()], axis=-1)
        shape = (len(first), *map(len, labels))
        variables[name] = xr.Variable(("partition", *dims), values.reshape(shape), attrs)
    return variables, coords
