"""Rates at a threshold that was given beforehand: a target that needs no part to choose it on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import Argument, DataError, ProtocolError
from bioeval.base.messages import Message, message_attrs
from bioeval.base.random import RandomState
from bioeval.base.registry import names_of
from bioeval.base.variables import IntervalMethod
from bioeval.document import messages_of_result
from bioeval.protocol.card import Decision, Protocol
from bioeval.results.dataset import tree_of
from bioeval.scores.matrix import Scores
from bioeval.stats.options import IntervalOptions
from bioeval.tallies.threshold_rules import Rule

#: The rates at a given threshold, by the variable over the threshold and its rank that they are of.
_RATES = {"frr_at_fixed": "frr", "far_at_fixed": "far", "dir_at_fixed": "dir"}
_OF_TASK = {
    "verification": ("frr_at_fixed", "far_at_fixed"),
    "open_set": ("dir_at_fixed", "far_at_fixed"),
}

#: Attributes of the intervals of a result.
_OF_INTERVALS = (
    *("interval_method", "confidence", "interval_unit", "interval_for", "replicates", "band"),
)


@dataclass(frozen=True)
class Target:
    """The target of an evaluation, with the options of the intervals at a given threshold."""

    rule: Rule
    confidence: float
    replicates: int
    random_state: RandomState

    @classmethod
    def parse(
        cls, target: Any, confidence: float, replicates: int, random_state: RandomState
    ) -> Target | None:
        """Return the target that was given; None without one."""
        if target is None:
            return None
        return cls(Rule.parse(target, Argument("target")), confidence, replicates, random_state)

    @property
    def threshold(self) -> float:
        """The given threshold; raise where the rule would choose one."""
        if self.rule.name != "fixed":
            raise ProtocolError(
                Argument("target", str(self.rule)),
                " chooses a threshold, and an evaluation without folds has no part to choose it "
                "on. For the rates at a threshold of your own give ",
                Argument("thresholds"),
                ", or with intervals ",
                Argument("target", "fixed=T"),
                f'; be.study_threshold(scores, "{self.rule}"), or bioeval threshold FILE --target '
                f"{self.rule}, chooses one and tries it on other people",
            )
        (threshold,) = self.rule.values
        if not np.isfinite(threshold):
            raise DataError(Argument("target", str(self.rule)), "; expected a finite threshold")
        return threshold

    @staticmethod
    def method(scores: Scores) -> IntervalMethod:
        """Return the method of the intervals at the threshold where no other is asked for.

        They are over people; without these, attempts are taken as independent.
        """
        return "subject-bootstrap" if scores._knows_subjects else "wilson"

    def interval(self, scores: Scores) -> IntervalOptions:
        """Return the intervals at the threshold where an evaluation has no others."""
        options = IntervalOptions.parse(
            self.method(scores), self.confidence, self.replicates, self.random_state
        )
        assert options is not None
        return options

    def decision_of(self, card: Protocol) -> Protocol:
        """Return a card of folds or experiments whose threshold is chosen by this rule."""
        return with_decision(card, self.rule)


def with_decision(card: Protocol, rule: Rule) -> Protocol:
    """Return a card whose threshold is chosen by a rule."""
    fields: dict[str, Any] = {}
    if rule.name == "cost":
        fields["cost"] = rule.values
    elif rule.name == "fixed":
        fields["value"] = rule.values[0]
    elif rule.name in ("far", "frr"):
        fields[rule.name] = rule.values[0]
    return replace(card, decision=Decision(rule=rule.name, **fields))


def rates_added(dataset: xr.Dataset, at: xr.Dataset, task: str, threshold: float) -> xr.Dataset:
    """Return a result with the rates of a result `at` one threshold, as numbers of their own."""
    row = at.isel(threshold=0)
    if "rank" in row.dims:
        row = row.isel(rank=0, drop=True)
    names = names_of(task)
    variables: dict[str, Any] = {
        "fixed_threshold": ((), np.float64(threshold), names["fixed_threshold"].attrs())
    }
    for name in _OF_TASK[task]:
        for end in ("", "_low", "_high"):
            if (rate := f"{_RATES[name]}{end}") in row:
                value = np.float64(row[rate].item())
                variables[f"{name}{end}"] = ((), value, names[f"{name}{end}"].attrs())
    dataset = _with_limits_of(dataset, at)
    of_intervals = {k: at.attrs[k] for k in _OF_INTERVALS if k in at.attrs}
    known = messages_of_result(dataset)
    more: list[Message] = [x for x in messages_of_result(at) if x not in known]
    attrs = {**of_intervals, **dataset.attrs, "target": f"fixed={threshold!r}"}
    return dataset.assign(variables).assign_attrs(attrs | message_attrs(more, dataset.attrs))


def _with_limits_of(dataset: xr.Dataset, at: xr.Dataset) -> xr.Dataset:
    """Return a result whose curves have the limits of `at` in its row, if they have limits there.

    On a curve, limits are interpolated between thresholds at which people were resampled.
    """
    row = np.flatnonzero(dataset["threshold"].values == at["threshold"].values[0])
    if not len(row):
        return dataset
    limits = {}
    for name, curve in dataset.data_vars.items():
        of_curve = str(name).endswith(("_low", "_high")) and "threshold" in curve.dims
        if of_curve and name in at:
            values = curve.values.copy()
            place = tuple(row if dim == "threshold" else slice(None) for dim in curve.dims)
            values[place] = at[name].transpose(*curve.dims).values
            limits[name] = curve.copy(data=values)
    return dataset.assign(limits)


def rates_added_to_tasks(tree: xr.DataTree, at: xr.DataTree, threshold: float) -> xr.DataTree:
    """Return the results of all tasks with their rates at a threshold, where they have one."""
    of_tasks = {node.path.strip("/"): node.to_dataset() for node in tree.leaves}
    rates = {node.path.strip("/"): node.to_dataset() for node in at.leaves}
    found = False
    for path in of_tasks:
        task = next((x for x in _OF_TASK if x in path.split("/")), None)
        if task is not None and path in rates and "far" in rates[path]:
            of_tasks[path] = rates_added(of_tasks[path], rates[path], task, threshold)
            found = True
    if not found:
        raise ProtocolError(
            Argument("target", f"fixed={threshold:g}"),
            " is of verification and open-set identification, and these results have neither "
            f"({', '.join(of_tasks)}); leave it out",
        )
    return tree_of(of_tasks)
