"""The conclusion from each measure of a comparison: the best systems, or why there is none."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.messages import Message, message_attrs, messages_of
from bioeval.showing.text import Text, labelled
from bioeval.studies.compare.results import PLACES, scalar_of
from bioeval.studies.tracking.measures import FEWEST


class MeasureOfSystems:
    """One measure of a comparison, at one label of each of its dimensions."""

    def __init__(self, ds: xr.Dataset, name: str, at: Mapping[str, Any]):
        self.dataset = ds.sel(at) if at else ds
        self._name = name
        self.coordinates = dict(at)
        self.scalar = scalar_of(ds[name])
        self.places = {
            PLACES[dim]: label for dim, label in at.items() if PLACES[dim] in self.scalar.places
        }
        self.systems = ds["system"].values.tolist()
        self.task = "identification" if self.scalar.name == "dir_at_far" else "verification"
        support = f"{name}_supported"
        self.supported = support not in self.dataset or bool(self.dataset[support])
        self.noun = "sequences" if "sequences" in ds.attrs else "people"
        self.least_discordant = int(ds.attrs["least_discordant"])
        self.limited = has_limits(ds)
        rank = self.dataset[f"{name}_rank"].values
        #: Indices of the systems, from the best to the worst; systems without a value come last.
        self.order = sorted(range(len(rank)), key=lambda i: (np.isnan(rank[i]), rank[i], i))
        #: Indices of the systems that no other system is shown to be better than.
        self.best = [i for i in self.order if self.number("rank_low", i) == 1]

    @property
    def key(self) -> str:
        """The name of the measure in data, as it is asked for: ``frr_at_far=0.01``."""
        places = (f"{x:.12g}" for x in self.places.values())
        return "=".join((self.scalar.name, *places))

    @property
    def name(self) -> Text:
        """The name of the measure in tables."""
        return labelled(self.scalar.label, self.places, self.task)

    @property
    def argument(self) -> dict[str, Any]:
        """The measure as an argument of a message."""
        task = {} if self.task == "verification" else {"task": self.task}
        rank = {"rank": self.coordinates["rank"]} if "rank" in self.coordinates else {}
        about = {"measure": self.scalar.name, "label": self.scalar.label, **task}
        return {**about, **self.places, **rank}

    def variable(self, statistic: str) -> str:
        """Return the name of the variable with a statistic; the empty statistic is the value."""
        return f"{self._name}_{statistic}" if statistic else self._name

    def number(self, statistic: str, *systems: int) -> float:
        """Return a statistic of a system, or of a pair of systems."""
        return float(self.dataset[self.variable(statistic)].values[systems])

    def letters(self, i: int) -> str:
        return str(self.dataset[self.variable("letters")].values[i])

    def too_few(self, i: int, j: int) -> bool:
        """Whether two systems differ on too few people to tell which is better."""
        if not self.number("discordant", i, j) and self.number("difference", i, j) == 0:
            return False
        return self.number("discordant", i, j) < self.least_discordant

    @cached_property
    def outcome(self) -> Message:
        """The conclusion from this measure alone."""
        order = [i for i in self.order if not np.isnan(self.number("", i))]
        best = [self.systems[i] for i in sorted(self.best)]
        if not order:
            return Message("systems-not-concluded", why="the values are not defined")
        if not self.limited:
            return Message("systems-not-concluded", why=f"there are fewer than {FEWEST} sequences")
        if not self.supported:
            reason = "these targets need more people or attempts"
            return Message("systems-not-concluded", why=reason)
        if len(best) < len(order):
            worse = [self.systems[i] for i in sorted({*order} - {*self.best})]
            if len(best) == 1:
                return Message("system-better", best=best[0], worse=worse)
            return Message("systems-better", best=best, worse=worse, number=len(worse))
        pairs = itertools.combinations(order, 2)
        if len(order) > 1 and all(self.too_few(i, j) for i, j in pairs):
            fewest = f"fewer than {self.least_discordant} {self.noun}"
            reason = f"the systems differ on {fewest}, too few for a test"
            return Message("systems-not-concluded", why=reason)
        return Message("systems-not-different", systems=self.systems)


def measures_of(ds: xr.Dataset) -> list[MeasureOfSystems]:
    """Return the measures of a comparison, at each target, prior, threshold or rank requested."""
    measures = []
    for name in (str(x) for x in ds.data_vars if f"{x}_difference" in ds):
        dims = [str(dim) for dim in ds[name].dims if dim != "system"]
        combinations = itertools.product(*(ds[dim].values.tolist() for dim in dims))
        for places in (dict(zip(dims, labels, strict=True)) for labels in combinations):
            if not places or bool(ds[f"{name}_supported"].sel(places).notnull()):
                measures.append(MeasureOfSystems(ds, name, places))
    return measures


def with_answers(ds: xr.Dataset) -> xr.Dataset:
    """Return a comparison with the messages that say which systems are better."""
    return ds.assign_attrs(message_attrs(_answers(ds), ds.attrs))


def _answers(ds: xr.Dataset) -> Iterator[Message]:
    uncertain = {
        (f"{x.arguments['rate']}_at_{x.arguments['chosen']}", target)
        for x in messages_of(ds.attrs)
        if x.code == "target-uncertain"
        for target in x.arguments["targets"]
    }
    by_outcome: dict[Message, list[dict[str, Any]]] = {}
    for measure in measures_of(ds):
        by_outcome.setdefault(measure.outcome, []).append(measure.argument)
    for outcome, measures in by_outcome.items():
        about = {**outcome.arguments, "measures": measures}
        doubted = [x for x in measures if (x["measure"], x.get("target")) in uncertain]
        if doubted and "best" in about:
            about["uncertain"] = doubted
        yield Message(outcome.code, **about)


def has_limits(ds: xr.Dataset) -> bool:
    """Whether a comparison has intervals and limits: a comparison over few sequences has none."""
    return "interval_method" in ds.attrs
