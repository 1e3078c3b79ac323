"""The ranking of systems by measures: values, differences, ranks and letters, as a dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval.attempts.points import per_cent
from bioeval.base.messages import Message, message_attrs
from bioeval.base.scalars import Name, Scalar
from bioeval.document.scalars import name_of_scalar
from bioeval.results.dataset import along, build
from bioeval.stats.simultaneous import Differences
from bioeval.studies.compare.described import DESCRIBED, describe

RANKING = {
    "system": Name("system"),
    "other_system": Name("system that is subtracted"),
    "measure": Name("measure that systems are ranked by"),
    "scalar": Name("name of the measure without its target and rank, as frr_at_far"),
    **DESCRIBED,
    "target": Name("FAR or FRR target of the measure; NaN without one"),
    "prior": Name("prior probability of a genuine attempt, of a cost; NaN without one"),
    "at_threshold": Name("threshold of a rate at one that was given; NaN without one", "score"),
    "at_rank": Name("rank of a CMC, or that lists are cut at; NaN without one", "rank"),
    "supported": Name(
        "1, or 0 where the attempts are too few for the FAR or FRR target: no conclusion then"
    ),
    "interval_for": Name("population that limits and ranks are for"),
    "value": Name("value of the system"),
    "value_low": Name("lower end of the interval of the value, by itself"),
    "value_high": Name("upper end of the interval of the value, by itself"),
    "rank": Name("place of the value, 1 is the best; equal values have the same one", "rank"),
    "rank_low": Name("smallest rank that the system may have, for all systems together", "rank"),
    "rank_high": Name("largest rank that the system may have, for all systems together", "rank"),
    "letters": Name("systems that share a letter do not differ significantly"),
    "difference": Name("value of the system minus that of the other system"),
    "difference_low": Name("lower limit of the difference; the limits hold for all pairs together"),
    "difference_high": Name(
        "upper limit of the difference; the limits hold for all pairs together"
    ),
    "p_value": Name("two-sided p-value of the difference, adjusted for the number of pairs"),
    "separated": Name(
        "1 where the system is shown to be better than the other one, -1 where it is shown to be "
        "worse, else 0"
    ),
}


@dataclass(frozen=True, kw_only=True)
class RankedMeasure:
    """One measure of all systems, and which of them it can tell apart."""

    scalar: Scalar
    values: np.ndarray  # float64 (systems,), NaN where it is not defined
    limits: tuple[np.ndarray, np.ndarray]  # of each value by itself
    differences: Differences
    target: float = np.nan  # FAR or FRR target
    prior: float = np.nan  # of a cost
    threshold: float = np.nan  # that was given
    rank: int = 0  # of a CMC, or that lists are cut at
    supported: bool = True
    population: str = "new people"  # that the limits are for

    @property
    def label(self) -> str:
        """The name of the measure, with its target, prior, threshold or rank."""
        places = {"target": per_cent(self.target), "prior": f"{self.prior:g}"}
        places |= {"rank": str(self.rank), "threshold": f"{self.threshold:g}"}
        return name_of_scalar(self.scalar, **places)

    def variables(self) -> dict[str, np.ndarray | float | str]:
        """Return the value of each variable of :data:`RANKING`."""
        better = self.scalar.larger_is_better
        rank, first, last = self.differences.ranks(better)
        defined = np.flatnonzero(~np.isnan(self.values))
        order = sorted(defined.tolist(), key=lambda i: (rank[i], i))
        limits, between = self.limits, self.differences
        return {
            "scalar": self.scalar.name,
            **describe(self.scalar),
            "target": self.target,
            "prior": self.prior,
            "at_threshold": self.threshold,
            "at_rank": self.rank or np.nan,
            "supported": int(self.supported),
            "interval_for": self.population,
            "value": self.values,
            "value_low": limits[0],
            "value_high": limits[1],
            "rank": rank,
            "rank_low": first,
            "rank_high": last,
            "letters": np.array(between.letters(order), dtype=object),
            "difference": between.difference,
            "difference_low": between.low,
            "difference_high": between.high,
            "p_value": between.p,
            "separated": between.larger if better else -between.larger,
        }


_DIMS = {1: ("system", "measure"), 2: ("system", "other_system", "measure")}


def ranking_dataset(
    systems: Sequence[str],
    measures: Sequence[RankedMeasure],
    attrs: Mapping[str, str | int | float],
    messages: Sequence[Message],
) -> xr.Dataset:
    """Return measures of systems as a dataset over ``system, other_system, measure``.

    `attrs` are those of the data and of the options; ``result_type`` is set here.
    """
    columns: dict[str, list[np.ndarray]] = {}
    for measure in measures:
        for name, value in measure.variables().items():
            columns.setdefault(name, []).append(np.asarray(value))
    variables: dict[str, Any] = {}
    for name, values in columns.items():
        stacked = np.stack(values, axis=-1)
        if stacked.dtype.kind == "U":
            stacked = stacked.astype(object)
        dims = _DIMS.get(values[0].ndim, ("measure",))
        variables |= along(dims, **{name: stacked})
    names = np.array(systems, dtype=object)
    coordinates = {
        "system": names,
        "other_system": names,
        "measure": np.array([measure.label for measure in measures], dtype=object),
    }
    result = {"result_type": "ranking", "task": "comparison of several systems"}
    return build(variables, RANKING, coordinates, {**result, **attrs, **message_attrs(messages)})
