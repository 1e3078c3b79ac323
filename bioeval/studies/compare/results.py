"""The result of a comparison of systems: values, ranks, letters, and differences of pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.messages import Message, message_attrs
from bioeval.results.dataset import assembled
from bioeval.results.variables import TARGETS, VARIABLES, Variable
from bioeval.stats.options import BOOTSTRAP
from bioeval.stats.simultaneous import Differences, least_discordant

#: The name of the placeholder in the label of a measure, by the dimension of the number.
PLACES = {
    **dict.fromkeys(TARGETS, "target"),
    "cost": "prior",
    "threshold": "threshold",
    "rank": "rank",
}

#: The statistics of each measure, by the ends of the names: ``eer_difference`` belongs to ``eer``.
STATISTICS = {
    "low": Variable("lower end of the interval of the value, by itself"),
    "high": Variable("upper end of the interval of the value, by itself"),
    "supported": Variable(
        "of a measure at targets, costs, thresholds or ranks: 1, or 0 where people or attempts are "
        "too few for the target: no conclusion then; NaN where the measure was not asked for",
        "1",
    ),
    "rank": Variable("place of the value, 1 is the best; equal values have the same one", "1"),
    "rank_low": Variable("smallest rank that the system may have, for all systems together", "1"),
    "rank_high": Variable("largest rank that the system may have, for all systems together", "1"),
    "letters": Variable("systems that share a letter do not differ significantly"),
    "difference": Variable("value of the system minus that of the other system"),
    "difference_low": Variable(
        "lower limit of the difference; the limits hold for all pairs together"
    ),
    "difference_high": Variable(
        "upper limit of the difference; the limits hold for all pairs together"
    ),
    "p_value": Variable(
        "two-sided p-value of the difference, adjusted for the number of pairs", "p"
    ),
    "p_adjusted": Variable(
        "p-value adjusted for the number of measures as well, by Holm's method",
        "p",
        detail="verbose",
    ),
    "separated": Variable(
        "1 where the system is shown to be better than the other one, -1 where it is shown to be "
        "worse, else 0",
        "1",
    ),
    "discordant": Variable(
        "people (of trackers: sequences) on whom the systems decide differently, at least",
        "subjects",
    ),
}

#: The statistics in the unit of the measure.
_IN_UNIT_OF_MEASURE = ("low", "high", "difference", "difference_low", "difference_high")

#: The statistics that tables of two systems show, and tables of more; others are in data alone.
_SHOWN_OF_TWO = ("difference", "separated", "p_value", "p_adjusted")
_SHOWN_OF_MORE = (*_SHOWN_OF_TWO, "rank", "letters")

#: The dimensions that all measures have.
SYSTEMS = {
    "system": Variable("system", label="system"),
    "other_system": Variable("system that is subtracted", label="other system"),
}

#: The variables of a comparison; ``MEASURE`` stands for the name of a measure.
COMPARISON = {
    **SYSTEMS,
    "MEASURE": Variable("value of the system, in the unit of the measure"),
    **{f"MEASURE_{name}": about for name, about in STATISTICS.items()},
}


#: The population that limits hold for, if people are left out as probes and in the gallery.
NEW_PEOPLE = "new people"

#: The population that limits hold for, if people are left out as probes alone.
THIS_GALLERY = "this gallery"

NONE = np.empty(0)


@dataclass(frozen=True, kw_only=True)
class SystemMeasure:
    """One measure of one system."""

    scalar: Variable
    #: float64 (1 + people or groups,): the value, and the value without each person or group.
    columns: np.ndarray
    limits: tuple[float, float]  # the limits of the value by itself
    #: The target, prior, threshold or rank of the measure, by its dimension (see PLACES).
    places: Mapping[str, float] = field(default_factory=dict)
    supported: bool = True  # whether there are enough attempts for the target
    #: float64 (replicates,): the value with people drawn anew; empty unless it is a quantile.
    drawn: np.ndarray = field(default_factory=lambda: NONE)
    #: A number for each person: if two systems have the same, they decide the person's own
    #: attempts alike.
    own: np.ndarray = field(default_factory=lambda: NONE)
    #: The same for attempts of two people, which are in the numbers of both people.
    shared: np.ndarray = field(default_factory=lambda: NONE)
    population: str = NEW_PEOPLE  # the population that the limits hold for

    @property
    def value(self) -> float:
        """The value of the system."""
        return float(self.columns[0])

    @property
    def label(self) -> float:
        """The target, prior, threshold or rank of the measure; NaN without a label."""
        return next(iter(self.places.values()), np.nan)

    @property
    def key(self) -> tuple[str, str]:
        """The name and the label of the measure, unique within a system."""
        return self.scalar.name, f"{self.label:g}"


@dataclass(frozen=True)
class ComparedMeasure:
    """One measure of all systems, and the differences between them."""

    systems: Sequence[SystemMeasure]
    differences: Differences
    discordant: np.ndarray  # int64 (systems, systems): people on whom two systems differ
    method: str  # the method of the limits of differences
    #: P-values that are adjusted for the number of measures as well.
    p_adjusted: np.ndarray = field(default_factory=lambda: NONE)

    @classmethod
    def from_systems(
        cls,
        systems: Sequence[SystemMeasure],
        discordant: np.ndarray,
        confidence: float,
        method: str,
    ) -> ComparedMeasure:
        """Compare a measure of systems; `discordant` counts the people on whom two systems differ.

        `method` is the method of the limits, unless people are drawn again.
        """
        bounds, drawn = systems[0].scalar.bounds, None
        if len(systems[0].drawn):
            drawn = np.stack([x.drawn for x in systems])
            method = BOOTSTRAP
        supported = all(x.supported for x in systems)
        differences = Differences.from_columns(
            np.stack([x.columns for x in systems]),
            (discordant >= least_discordant(confidence)) & supported,
            confidence,
            drawn=drawn,
            widest=bounds[1] - bounds[0],
        )
        return cls(systems, differences, discordant, method)

    @property
    def name(self) -> str:
        """The name of the variable with its values."""
        return self.systems[0].scalar.name

    @property
    def places(self) -> Mapping[str, float]:
        """The target, prior, threshold or rank of the measure, by dimension."""
        return self.systems[0].places

    @cached_property
    def statistics(self) -> dict[str, np.ndarray]:
        """The values and their statistics, by the ends of the names of variables."""
        between = self.differences
        better = self.systems[0].scalar.larger_is_better
        values = np.array([x.value for x in self.systems])
        low, high = np.array([x.limits for x in self.systems]).T
        rank, rank_low, rank_high = between.ranks(better)
        defined = np.flatnonzero(~np.isnan(values))
        order = sorted(defined.tolist(), key=lambda i: (rank[i], i))
        return {
            "": values,
            "low": low,
            "high": high,
            "supported": np.array(int(all(x.supported for x in self.systems))),
            "rank": rank,
            "rank_low": rank_low,
            "rank_high": rank_high,
            "letters": np.array(between.letters(order), dtype=object),
            "difference": between.difference,
            "difference_low": between.low,
            "difference_high": between.high,
            "p_value": between.p,
            "p_adjusted": self.p_adjusted,
            "separated": between.larger if better else -between.larger,
            "discordant": self.discordant,
        }

    def attrs(self, statistic: str) -> dict[str, str | int]:
        """Return the attributes of the variable with the values, or with a statistic of them."""
        scalar = self.systems[0].scalar
        population = self.systems[0].population
        if statistic:
            variable = STATISTICS[statistic]
            if statistic in _IN_UNIT_OF_MEASURE:
                variable = replace(variable, units=scalar.units, decimals=scalar.decimals)
            shown = _SHOWN_OF_TWO if len(self.systems) == 2 else _SHOWN_OF_MORE
            label = scalar.label if statistic in shown else ""
            variable = replace(variable, label=label, measure=self.name, statistic=statistic)
            if statistic != "difference":
                return variable.attrs
            return {
                **variable.attrs,
                "interval_method": self.method,
                "interval_for": population,
            }
        variable = replace(scalar, dims=(), threshold="", shown="", detail="")
        return {**variable.attrs_among(()), "interval_for": population}


def comparison_dataset(
    systems: Sequence[str],
    measures: Sequence[ComparedMeasure],
    attrs: Mapping[str, str | int | float],
    messages: Sequence[Message],
) -> xr.Dataset:
    """Return measures as a dataset over systems and over targets, priors, thresholds and ranks.

    `attrs` describe the data and the options, such as ``confidence`` and ``adjust``.
    """
    # The measures by name, with adjusted p-values and conclusions; the labels by dimension.
    by_name: dict[str, list[ComparedMeasure]] = {}
    labels: dict[str, list[float]] = {}
    p_adjusted = adjusted_for_measures([x.differences.p for x in measures])
    for measure, p_values in zip(measures, p_adjusted, strict=True):
        differences = measure.differences
        if attrs["adjust"] == "holm":
            is_shown = np.nan_to_num(p_values, nan=1.0) <= 1 - float(attrs["confidence"])
            differences = replace(differences, larger=np.where(is_shown, differences.larger, 0))
        concluded = replace(measure, differences=differences, p_adjusted=p_values)
        by_name.setdefault(measure.name, []).append(concluded)
        for dim, label in measure.places.items():
            labels_of_dim = labels.setdefault(dim, [])
            if label not in labels_of_dim:
                labels_of_dim.append(label)

    # The variables: first the values of all measures, then each statistic.
    variables: dict[str, xr.Variable] = {}
    for statistic in ("", *STATISTICS):
        for name, measures_of_name in by_name.items():
            # Only a target may have too few people or attempts.
            if statistic != "supported" or measures_of_name[0].places:
                variable = f"{name}_{statistic}" if statistic else name
                variables[variable] = _variable(measures_of_name, statistic, labels)
    if attrs["adjust"] == "holm":  # tables show the p-values that the conclusions are based on
        for name in by_name:
            variables[f"{name}_p_value"].attrs["detail"] = "verbose"
            del variables[f"{name}_p_adjusted"].attrs["detail"]

    coordinates = {name: np.array(systems, dtype=object) for name in SYSTEMS}
    coordinates |= {dim: np.array(labels_of_dim) for dim, labels_of_dim in labels.items()}
    if "cost" in labels:
        about_prior = VARIABLES["cost_prior"].attrs
        variables["cost_prior"] = xr.Variable(("cost",), coordinates["cost"], about_prior)
    result = {"result_type": "comparison", "task": "comparison of systems"}
    about = {**result, **attrs, **message_attrs(messages)}
    return assembled(variables, SYSTEMS, coordinates, about)


def _variable(
    measures: Sequence[ComparedMeasure], statistic: str, labels: Mapping[str, Sequence[float]]
) -> xr.Variable:
    """Return a statistic of a measure over systems, and over the labels of its dimensions.

    It is NaN, or an empty text, at labels at which the measure was not requested.
    """
    dims = tuple(measures[0].places)
    statistics = [x.statistics[statistic] for x in measures]
    systems_shape = statistics[0].shape
    labels_shape = tuple(len(labels[dim]) for dim in dims)
    dtype = statistics[0].dtype
    is_complete = len(statistics) == np.prod(labels_shape)
    if dtype.kind == "i" and not is_complete:
        dtype = np.dtype(np.float64)
    values = np.empty((*systems_shape, *labels_shape), dtype=dtype)
    if not is_complete:
        values[:] = "" if dtype.kind == "O" else np.nan
    for at_labels, measure in zip(statistics, measures, strict=True):
        index: list[Any] = [labels[dim].index(label) for dim, label in measure.places.items()]
        values[(..., *index)] = at_labels
    all_dims = (*[*SYSTEMS][: len(systems_shape)], *dims)
    return xr.Variable(all_dims, values, measures[0].attrs(statistic))


def adjusted_for_measures(p_by_measure: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the p-values of several measures, adjusted by Holm's step-down method; NaN stays.

    The p-values of a measure are already adjusted for its pairs of systems. In a step, p-values are
    multiplied by the number of measures that remain; a measure is done with when all its pairs
    differ significantly, at its largest p-value. Valid under any dependence: Holm (1979), A simple
    sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 65-70.
    """
    largest = np.sort(
        [np.nanmax(p_values) for p_values in p_by_measure if not np.isnan(p_values).all()]
    )
    remaining = len(largest) - np.arange(len(largest))
    # The smallest level at which a step is reached: the steps before it are done at this level.
    level = np.append(0.0, np.maximum.accumulate(remaining * largest))[: len(largest)]
    all_adjusted = []
    for p_values in p_by_measure:
        steps = np.maximum(p_values[..., None] * remaining, level)
        adjusted = np.minimum(steps, 1.0).min(axis=-1, initial=1.0, where=~np.isnan(steps))
        all_adjusted.append(np.where(np.isnan(p_values), np.nan, adjusted))
    return all_adjusted


def scalar_of(values: xr.DataArray) -> Variable:
    """Return the description of a measure, from the attributes of its values."""
    about = values.attrs
    return Variable(
        about["long_name"],
        about["units"],
        name=str(values.name),
        label=about["label"],
        decimals=about.get("decimals"),
        direction=about["direction"],
    )
