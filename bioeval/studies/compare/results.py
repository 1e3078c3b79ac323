"""What a comparison of systems results in: values, ranks, letters, and the differences of pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.messages import Message, message_attrs
from bioeval.counting.points import per_cent
from bioeval.document.scalars import name_of_scalar
from bioeval.results.dataset import along, dataset
from bioeval.results.variables import ADDED, COMPARED, VARIABLES, Variable
from bioeval.stats.options import BOOTSTRAP
from bioeval.stats.simultaneous import Differences, least_discordant
from bioeval.studies.compare.wanted import AT_THRESHOLD, CMS_AT_RANK

#: The variables, by what a label is filled with, of the one number that a measure may be at.
PLACES = {"target": "target", "prior": "prior", "threshold": "at_threshold", "rank": "at_rank"}

COMPARISON = {
    "system": Variable("system"),
    "other_system": Variable("system that is subtracted"),
    "measure": Variable("measure that systems are compared by"),
    "scalar": Variable("name of the measure without its target and rank, as frr_at_far"),
    "value_kind": Variable("what a value of the measure is: rate, number or cost"),
    "value_decimals": Variable("decimals of the measure in tables; NaN of a rate in per cent", "1"),
    "larger_is_better": Variable("1 where the system with the larger value is better, else 0", "1"),
    "target": Variable("FAR or FRR target of the measure; NaN without one", "proportion"),
    "prior": Variable(
        "prior probability of a genuine attempt, of a cost; NaN without one", "proportion"
    ),
    "at_threshold": Variable(
        "threshold of a rate at one that was given; NaN without one", "score", shown="threshold"
    ),
    "at_rank": Variable("rank of a CMC, or that lists are cut at; NaN without one", "1"),
    "supported": Variable(
        "1, or 0 where people or attempts are too few for the target: no conclusion then",
        "1",
    ),
    "interval_for": Variable("population that limits and ranks are for"),
    "interval_method": Variable("method of the limits and p-values of differences"),
    "value": Variable("value of the system"),
    "value_low": Variable("lower end of the interval of the value, by itself"),
    "value_high": Variable("upper end of the interval of the value, by itself"),
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
        "p-value adjusted for the number of measures as well, by Holm's method", "p"
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


#: Populations that limits are for: people left out as probes and in the gallery, or as probes
#: alone.
NEW_PEOPLE = "new people"
THIS_GALLERY = "this gallery"

NONE = np.empty(0)


@dataclass(frozen=True, kw_only=True)
class SystemMeasure:
    """One measure of one system."""

    scalar: Variable
    #: float64 (1 + people or groups of them,): the value, and the value without each.
    columns: np.ndarray
    limits: tuple[float, float]  # of the value by itself
    place: str = ""  # one of PLACES, if the measure is at a number
    at: float = np.nan
    supported: bool = True  # whether there are enough attempts for the target
    #: float64 (replicates,): the value with people drawn again; empty of what is no quantile.
    drawn: np.ndarray = field(default_factory=lambda: NONE)
    #: Numbers by person: where they are equal, two systems decide the person's own attempts alike.
    own: np.ndarray = field(default_factory=lambda: NONE)
    #: The same of attempts of two people, which are in the numbers of both.
    shared: np.ndarray = field(default_factory=lambda: NONE)
    population: str = NEW_PEOPLE  # that the limits are for

    @property
    def value(self) -> float:
        """The value of the system."""
        return float(self.columns[0])

    @property
    def key(self) -> tuple[str, str]:
        """What tells the measure from others of the same system."""
        return self.scalar.name, f"{self.at:g}"


@dataclass(frozen=True)
class ComparedMeasure:
    """One measure of all systems, and which of them it can tell apart."""

    systems: Sequence[SystemMeasure]
    differences: Differences
    discordant: np.ndarray  # int64 (systems, systems)
    method: str  # of the limits of differences

    @classmethod
    def of(
        cls,
        systems: Sequence[SystemMeasure],
        discordant: np.ndarray,
        confidence: float,
        method: str,
    ) -> ComparedMeasure:
        """Return a measure with the differences that it can tell apart.

        `method` is that of the limits, unless people are drawn again.
        """
        bounds, drawn = systems[0].scalar.bounds, None
        if len(systems[0].drawn):
            drawn, method = np.stack([x.drawn for x in systems]), BOOTSTRAP
        supported = all(x.supported for x in systems)
        differences = Differences.of(
            np.stack([x.columns for x in systems]),
            (discordant >= least_discordant(confidence)) & supported,
            confidence,
            drawn=drawn,
            widest=bounds[1] - bounds[0],
        )
        return cls(systems, differences, discordant, method)

    @property
    def label(self) -> str:
        """The name of the measure, with the number that it is at."""
        first = self.systems[0]
        text = per_cent(first.at) if first.place == "target" else f"{first.at:g}"
        return name_of_scalar(first.scalar, **{first.place: text})

    def variables(self) -> dict[str, np.ndarray | float | str]:
        """Return the value of each variable of :data:`COMPARISON`, but the adjusted p-value."""
        first, between = self.systems[0], self.differences
        better, decimals = first.scalar.larger_is_better, first.scalar.decimals
        values = np.array([x.value for x in self.systems])
        low, high = np.array([x.limits for x in self.systems]).T
        rank, rank_low, rank_high = between.ranks(better)
        defined = np.flatnonzero(~np.isnan(values))
        order = sorted(defined.tolist(), key=lambda i: (rank[i], i))
        return {
            "scalar": first.scalar.name,
            "value_kind": first.scalar.kind,
            "value_decimals": np.nan if decimals is None else decimals,
            "larger_is_better": int(better),
            **{name: first.at if x == first.place else np.nan for x, name in PLACES.items()},
            "supported": int(all(x.supported for x in self.systems)),
            "interval_for": first.population,
            "interval_method": self.method,
            "value": values,
            "value_low": low,
            "value_high": high,
            "rank": rank,
            "rank_low": rank_low,
            "rank_high": rank_high,
            "letters": np.array(between.letters(order), dtype=object),
            "difference": between.difference,
            "difference_low": between.low,
            "difference_high": between.high,
            "p_value": between.p,
            "separated": between.larger if better else -between.larger,
            "discordant": self.discordant,
        }


_DIMS = {0: ("measure",), 1: ("system", "measure"), 2: ("system", "other_system", "measure")}


def comparison_dataset(
    systems: Sequence[str],
    measures: Sequence[ComparedMeasure],
    attrs: Mapping[str, str | int | float],
    messages: Sequence[Message],
) -> xr.Dataset:
    """Return measures of systems as a dataset over ``system, other_system, measure``.

    `attrs` are those of the data and of the options, such as ``confidence`` and ``adjust``.
    """
    p_adjusted = adjusted_for_measures([x.differences.p for x in measures])
    columns: dict[str, list[np.ndarray]] = {"p_adjusted": p_adjusted}
    for measure, p in zip(measures, p_adjusted, strict=True):
        if attrs["adjust"] == "holm":
            shown = np.nan_to_num(p, nan=1.0) <= 1 - float(attrs["confidence"])
            larger = np.where(shown, measure.differences.larger, 0)
            measure = replace(measure, differences=replace(measure.differences, larger=larger))
        for name, value in measure.variables().items():
            columns.setdefault(name, []).append(np.asarray(value))
    variables: dict[str, Any] = {}
    for name in COMPARISON.keys() & columns.keys():
        stacked = np.stack(columns[name], axis=-1)
        if stacked.dtype.kind == "U":
            stacked = stacked.astype(object)
        variables |= along(_DIMS[stacked.ndim - 1], **{name: stacked})
    names = np.array(systems, dtype=object)
    coordinates = {
        "system": names,
        "other_system": names,
        "measure": np.array([measure.label for measure in measures], dtype=object),
    }
    variables = {name: variables[name] for name in COMPARISON if name in variables}
    result = {"result_type": "comparison", "task": "comparison of systems"}
    return dataset(
        variables, COMPARISON, coordinates, {**result, **attrs, **message_attrs(messages)}
    )


def adjusted_for_measures(p: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return p-values of several measures adjusted by Holm's step-down method; NaN stay.

    Those of a measure are adjusted for its pairs of systems already. They are multiplied by the
    number of measures of which some pair is not told apart: a measure counts as long as its largest
    p-value does not reach the level. Holm (1979), A simple sequentially rejective multiple test
    procedure. Scandinavian Journal of Statistics 6, 65-70. Valid under any dependence.
    """
    largest = np.sort([np.nanmax(x) for x in p if not np.isnan(x).all()])
    left = len(largest) - np.arange(len(largest))
    # The level from which on so many measures are left.
    level = np.append(0.0, np.maximum.accumulate(left * largest))[: len(largest)]
    adjusted = []
    for x in p:
        steps = np.maximum(x[..., None] * left, level)
        adjusted.append(np.minimum(steps, 1.0).min(axis=-1, initial=1.0, where=~np.isnan(steps)))
        adjusted[-1] = np.where(np.isnan(x), np.nan, adjusted[-1])
    return adjusted


def scalar_at(ds: xr.Dataset, place: int) -> Variable:
    """Return the scalar of a measure, by its place in a dataset.

    A measure of a script is known to its dataset alone, which may be read elsewhere.
    """
    name = str(ds["scalar"].values[place])
    if variable := {**AT_THRESHOLD, "cms": CMS_AT_RANK, **ADDED}.get(name):
        return variable
    if name in COMPARED:
        return VARIABLES[name]
    kind, decimals = str(ds["value_kind"].values[place]), ds["value_decimals"].values[place]
    label = str(ds["measure"].values[place])
    return Variable(
        label,
        {"rate": "proportion", "cost": "cost"}.get(kind, "1"),
        name=name,
        label=label.replace("{", "{{").replace("}", "}}"),
        decimals=int(decimals) if decimals == decimals else None,
        larger_is_better=bool(ds["larger_is_better"].values[place]),
    )


def place_of_measure(ds: xr.Dataset, place: int) -> dict[str, Any]:
    """Return what a label of the measure is filled with: its target, prior, threshold or rank."""
    places: dict[str, Any] = {}
    for name, variable in PLACES.items():
        value = float(ds[variable].values[place])
        if value == value:
            places[name] = int(value) if name == "rank" else value
    return places
