"""The result of a comparison: values, ranks and letters of systems, and differences of each two.

A system has one value of each measure, and the value without each person (:class:`SystemMeasure`).
:class:`ComparedMeasure` tests the differences of all pairs of systems by one measure, and
:func:`comparison_dataset` makes the dataset. Of three systems, EER may be::

    system   eer     rank   rank_low   rank_high   letters
    a        0.021   1      1          1           a
    b        0.034   2      2          3           b
    c        0.036   3      2          3           b

Systems of scores, rankings of re-identification, and trackers are compared alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import xarray as xr

from bioeval.base.errors import Message, message_attrs
from bioeval.results.dataset import dataset
from bioeval.results.variables import COORDINATES, TARGETS, Variable
from bioeval.stats.options import BOOTSTRAP
from bioeval.stats.simultaneous import Differences, least_discordant

#: Limits of measures of tracking need at least this number of sequences.
FEWEST_SEQUENCES = 12

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
    "t": Variable("t of the corrected resampled t-test, of results over folds", "1", decimals=3),
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
_SHOWN_OF_TWO = ("difference", "t", "separated", "p_value", "p_adjusted")
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


@dataclass(frozen=True)
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
    def label(self) -> float:
        """The target, prior, threshold or rank of the measure; NaN without a label."""
        return next(iter(self.places.values()), np.nan)


#: Arrays (systems,) or (systems, systems), by the ends of the names of variables.
_Statistics: TypeAlias = dict[str, np.ndarray]


@dataclass(frozen=True)
class ComparedMeasure:
    """One measure of all systems, and the differences between them."""

    scalar: Variable
    values: np.ndarray  # float64 (systems,)
    limits: np.ndarray  # float64 (systems, 2): the limits of each value by itself
    differences: Differences
    method: str  # the method of the limits of differences
    population: str  # the population that the limits hold for
    #: int64 (systems, systems): people on whom two systems differ; None of results over folds.
    discordant: np.ndarray | None = None
    t: np.ndarray | None = None  # float64 (systems, systems): of results over folds
    #: The target, prior, threshold or rank of the measure, by its dimension (see PLACES).
    places: Mapping[str, float] = field(default_factory=dict)
    supported: bool = True  # whether there are enough attempts for the target

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
        first = systems[0]
        smallest, largest = first.scalar.bounds
        supported = all(x.supported for x in systems)
        columns = np.stack([x.columns for x in systems])
        differences = Differences.from_columns(
            columns,
            (discordant >= least_discordant(confidence)) & supported,
            confidence,
            drawn=np.stack([x.drawn for x in systems]) if len(first.drawn) else None,
            widest=largest - smallest,
        )
        return cls(
            first.scalar,
            columns[:, 0],
            np.array([x.limits for x in systems]),
            differences,
            BOOTSTRAP if len(first.drawn) else method,
            first.population,
            discordant,
            places=first.places,
            supported=supported,
        )

    @property
    def name(self) -> str:
        return self.scalar.name

    def statistics(self, p_adjusted: np.ndarray, *, adjust: bool, confidence: float) -> _Statistics:
        """Return the values and their statistics, by the ends of the names of variables.

        `p_adjusted` are the p-values adjusted for the number of measures as well; conclusions are
        based on them if `adjust`.
        """
        between = self.differences
        if adjust:
            is_shown = np.nan_to_num(p_adjusted, nan=1.0) <= 1 - confidence
            between = replace(between, larger=np.where(is_shown, between.larger, 0))
        better = self.scalar.larger_is_better
        rank, rank_low, rank_high = between.ranks(better)
        defined = np.flatnonzero(~np.isnan(self.values))
        order = sorted(defined.tolist(), key=lambda i: (rank[i], i))
        optional = {"t": self.t, "discordant": self.discordant}
        return {
            "": self.values,
            "low": self.limits[:, 0],
            "high": self.limits[:, 1],
            "supported": np.array(int(self.supported)),
            "rank": rank,
            "rank_low": rank_low,
            "rank_high": rank_high,
            "letters": np.array(between.letters(order), dtype=object),
            "difference": between.difference,
            "difference_low": between.low,
            "difference_high": between.high,
            "p_value": between.p,
            "p_adjusted": p_adjusted,
            "separated": between.larger if better else -between.larger,
            **{name: values for name, values in optional.items() if values is not None},
        }


def comparison_dataset(
    systems: Sequence[str],
    measures: Sequence[ComparedMeasure],
    attrs: Mapping[str, str | int | float],
    messages: Sequence[Message],
) -> xr.Dataset:
    """Return measures over systems and over targets, priors, thresholds and ranks, with answers.

    `attrs` describe the data and the options, such as ``confidence`` and ``adjust``.
    """
    # The measures by name, each with its statistics; the labels by dimension.
    by_name: dict[str, list[tuple[ComparedMeasure, _Statistics]]] = {}
    labels: dict[str, list[float]] = {}
    is_adjusted, confidence = attrs["adjust"] == "holm", float(attrs["confidence"])
    all_adjusted = adjusted_for_measures([x.differences.p for x in measures])
    for measure, p_adjusted in zip(measures, all_adjusted, strict=True):
        statistics = measure.statistics(p_adjusted, adjust=is_adjusted, confidence=confidence)
        by_name.setdefault(measure.name, []).append((measure, statistics))
        for dim, label in measure.places.items():
            labels_of_dim = labels.setdefault(dim, [])
            if label not in labels_of_dim:
                labels_of_dim.append(label)

    # The variables: first the values of all measures, then each statistic.
    variables: dict[str, tuple[tuple[str, ...], np.ndarray, dict[str, Any]]] = {}
    for statistic, (name, of_name) in itertools.product(("", *STATISTICS), by_name.items()):
        first, statistics = of_name[0]
        # Only a target may have too few people or attempts.
        if statistic not in statistics or (statistic == "supported" and not first.places):
            continue
        arrays = [statistics_at_label[statistic] for _, statistics_at_label in of_name]
        places = [measure.places for measure, _ in of_name]
        dims = (*[*SYSTEMS][: arrays[0].ndim], *first.places)
        variables[f"{name}_{statistic}" if statistic else name] = (
            dims,
            _over_labels(arrays, places, labels),
            _attrs_of_statistic(statistic, first, len(systems), is_adjusted),
        )

    coordinates = {name: np.array(systems, dtype=object) for name in SYSTEMS}
    coordinates |= {dim: np.array(labels_of_dim) for dim, labels_of_dim in labels.items()}
    if "cost" in labels:
        variables["cost_prior"] = ("cost",), coordinates["cost"], COORDINATES["cost_prior"].attrs
    all_attrs = {
        "result_type": "comparison",
        "task": "comparison of systems",
        **attrs,
        **message_attrs(messages),
    }
    ds = dataset(variables, SYSTEMS, coordinates, all_attrs, first=())
    outcomes = [
        (_outcome(statistics, systems, attrs), measure)
        for of_name in by_name.values()
        for measure, statistics in of_name
    ]
    return ds.assign_attrs(message_attrs(_answers(outcomes, messages), ds.attrs))


def _over_labels(
    arrays: Sequence[np.ndarray],
    places: Sequence[Mapping[str, float]],
    labels: Mapping[str, Sequence[float]],
) -> np.ndarray:
    """Return a statistic of a measure, whose arrays are at some places, over all labels.

    The dimensions of the labels are last: (systems, labels) or (systems, systems, labels). Where
    the measure was not asked for, the value is NaN, or an empty text.
    """
    shape_of_labels = tuple(len(labels[dim]) for dim in places[0])
    is_complete = len(arrays) == np.prod(shape_of_labels)
    dtype = arrays[0].dtype
    if dtype.kind == "i" and not is_complete:
        dtype = np.dtype(np.float64)
    values = np.empty((*arrays[0].shape, *shape_of_labels), dtype=dtype)
    if not is_complete:
        values[:] = "" if dtype.kind == "O" else np.nan
    for array, place in zip(arrays, places, strict=True):
        index: list[Any] = [labels[dim].index(label) for dim, label in place.items()]
        values[(..., *index)] = array
    return values


def _attrs_of_statistic(
    statistic: str, measure: ComparedMeasure, systems: int, is_adjusted: bool
) -> dict[str, Any]:
    """Return the attributes of a statistic of a measure, or of its values, which are ``""``."""
    scalar = measure.scalar
    limits_for = {"interval_for": measure.population}
    if not statistic:
        about = replace(scalar, dims=(), threshold="", shown="", detail="")
        return {**about.attrs_among(()), **limits_for}
    about = STATISTICS[statistic]
    if statistic in _IN_UNIT_OF_MEASURE:
        about = replace(about, units=scalar.units, decimals=scalar.decimals)
    shown = _SHOWN_OF_TWO if systems == 2 else _SHOWN_OF_MORE
    label = scalar.label if statistic in shown else ""
    about = replace(about, label=label, measure=measure.name, statistic=statistic)
    attrs = about.attrs
    if statistic == "difference":
        attrs = {**attrs, "interval_method": measure.method, **limits_for}
    # Tables show the p-values that the conclusions are based on.
    if is_adjusted and statistic == "p_value":
        attrs["detail"] = "verbose"
    if is_adjusted and statistic == "p_adjusted":
        del attrs["detail"]
    return attrs


def _answers(
    outcomes: Sequence[tuple[Message, ComparedMeasure]], messages: Sequence[Message]
) -> list[Message]:
    """Return the messages that say which systems are better, with all measures that say the same.

    A measure at a target that one of the `messages` calls uncertain is listed as such.
    """
    uncertain = set()
    for message in messages:
        if message.code == "target-uncertain":
            name = f"{message.arguments['rate']}_at_{message.arguments['chosen']}"
            uncertain |= {(name, target) for target in message.arguments["targets"]}
    measures_by_outcome: dict[Message, list[dict[str, Any]]] = {}
    for outcome, measure in outcomes:
        scalar = measure.scalar
        argument: dict[str, Any] = {"measure": measure.name, "label": scalar.label}
        if measure.name == "dir_at_far":
            argument["task"] = "identification"
        for dim, label in measure.places.items():
            if PLACES[dim] in (*scalar.places, "rank"):
                argument[PLACES[dim]] = label
        measures_by_outcome.setdefault(outcome, []).append(argument)
    answers = []
    for outcome, measures in measures_by_outcome.items():
        about = {**outcome.arguments, "measures": measures}
        doubted = [x for x in measures if (x["measure"], x.get("target")) in uncertain]
        if doubted and "best" in about:
            about["uncertain"] = doubted
        answers.append(Message(outcome.code, **about))
    return answers


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


def _outcome(
    statistics: _Statistics, systems: Sequence[str], attrs: Mapping[str, str | int | float]
) -> Message:
    """Return the conclusion from a measure alone: the best systems, or why there is none."""
    rank, rank_low = statistics["rank"], statistics["rank_low"]
    order = [i for i in np.argsort(rank, kind="stable").tolist() if not np.isnan(rank[i])]
    if not order:
        return Message("systems-not-concluded", why="the values are not defined")
    if "interval_method" not in attrs:  # too few sequences have no intervals and limits
        why = f"there are fewer than {FEWEST_SEQUENCES} sequences"
        return Message("systems-not-concluded", why=why)
    if not statistics["supported"]:
        why = "these targets need more people or attempts"
        return Message("systems-not-concluded", why=why)
    # The systems that no other system is shown to be better than.
    best = [systems[i] for i in sorted(order) if rank_low[i] == 1]
    worse = [systems[i] for i in sorted(order) if rank_low[i] != 1]
    if len(best) == 1 and worse:
        return Message("system-better", best=best[0], worse=worse)
    if worse:
        return Message("systems-better", best=best, worse=worse, number=len(worse))
    # Two systems that differ, but on too few people to tell which is better.
    least = int(attrs["least_discordant"]) if "discordant" in statistics else 0
    too_few = []
    for pair in itertools.combinations(order, 2) if least else ():
        number = statistics["discordant"][pair]
        is_equal = not number and statistics["difference"][pair] == 0
        too_few.append(number < least and not is_equal)
    if too_few and all(too_few):
        noun = "sequences" if "sequences" in attrs else "people"
        why = f"the systems differ on fewer than {least} {noun}, too few for a test"
        return Message("systems-not-concluded", why=why)
    return Message("systems-not-different", systems=list(systems))
