"""The thresholds of a result: its operating points, and the threshold of a rule."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError
from bioeval.counting.threshold_rules import Rule

# Operating points that are single thresholds.
_POINTS = ("eer_threshold", "zero_far_threshold", "zero_frr_threshold", "min_cost_threshold")

#: The variable with the threshold of each rule that names an operating point, and its targets.
_POINTS_OF_RULES = {
    "eer": ("eer_threshold", ""),
    "far": ("threshold_at_far", "far_target"),
    "frr": ("threshold_at_frr", "frr_target"),
}


@dataclass(frozen=True)
class ResultThresholds:
    """The thresholds of a result: units, operating points, and the threshold of a rule."""

    dataset: xr.Dataset

    @property
    def units(self) -> str:
        """Kind, units and metric of the thresholds, which are shared only if these agree."""
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
        dataset = self.dataset
        points = [np.empty(0)]
        for name in _POINTS:
            if name in dataset:
                points.append(dataset[name].values.ravel())
        if "threshold_at_far" in dataset:
            points.append(_at_rank_1(dataset["threshold_at_far"]).ravel())
        if "threshold_at_frr" in dataset:
            points.append(dataset["threshold_at_frr"].values.ravel())
        thresholds = np.concatenate(points)
        return np.unique(thresholds[np.isfinite(thresholds)])

    def of_rule(self, rule: Rule) -> float:
        """Return the threshold of a rule: a given number, or a threshold by EER or target."""
        if rule.name == "fixed":
            return rule.values[0]
        dataset = self.dataset
        thresholds = np.empty(0)
        variable, target = _POINTS_OF_RULES.get(rule.name, ("", ""))
        if variable in dataset:
            thresholds = _at_rank_1(dataset[variable]).reshape(-1)
            if target:
                thresholds = thresholds[dataset[target].values == rule.values[0]]
        if not np.isfinite(thresholds).any():
            given_rule = f'`threshold="{rule}"`'
            problem = f"{given_rule} is not an operating point of these results; "
            if rule.name == "far":
                raise DataError(f"{problem}{self.other_targets(rule.values[0])}")
            targets_in_words = "".join(f", far={x:g}" for x in self.far_targets.tolist())
            eer = ", eer" if "eer_threshold" in dataset else ""
            raise DataError(
                f"{problem}expected a number{eer}{targets_in_words}. The threshold of another rule "
                f"is chosen on the scores: bioeval threshold SCORES --target {rule}"
            )
        return float(thresholds[0])

    def other_targets(self, target: float) -> str:
        """Return the nearest FAR targets to a missing FAR target, and the remedy, in words."""
        targets = np.unique(self.far_targets)
        nearest = [*targets[targets < target][-1:], *targets[targets > target][:1]]
        words = "they have no FAR target"
        if len(nearest) == 1:
            words = f"the nearest is far={nearest[0]:g}"
        elif nearest:
            words = f"the nearest are far={nearest[0]:g} and far={nearest[1]:g}"
        return (
            f"{words}; evaluate with `far_targets={[target]}` (bioeval run --far "
            f"{target:g}), or give the scores"
        )


def _at_rank_1(at_far: xr.DataArray) -> np.ndarray:
    """Return the values at FAR targets (far_target,).

    Values of identification are at rank 1.
    """
    if "rank" in at_far.dims:
        at_far = at_far.isel(rank=0)
    return at_far.values


def shared_points(trees: Mapping[str, xr.DataTree]) -> dict[str, np.ndarray]:
    """Return for each system the operating points of all systems in its units."""
    curves: dict[str, list[ResultThresholds]] = {}
    for name, tree in trees.items():
        leaves = [leaf.to_dataset() for leaf in tree.leaves]
        curves[name] = [ResultThresholds(leaf) for leaf in leaves if "threshold" in leaf.dims]
    all_lookups = list(itertools.chain.from_iterable(curves.values()))
    shared = {}
    for name, lookups in curves.items():
        units = {task.units for task in lookups}
        points = [task.operating_points() for task in all_lookups if task.units in units]
        shared[name] = np.unique(np.concatenate([np.empty(0), *points]))
    return shared
