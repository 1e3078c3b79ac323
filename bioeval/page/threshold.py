"""The threshold of a page: where it opens, and the rows of all results as it moves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError
from bioeval.base.messages import messages_of
from bioeval.counting.threshold_rules import Rule
from bioeval.page.next_scores import with_shared_next
from bioeval.page.results import PageResults, accepts_larger
from bioeval.results.dataset import THRESHOLD_STUDY
from bioeval.results.support import is_supported
from bioeval.showing.cells import Quantity, Rate, Threshold, cell_of, threshold_of
from bioeval.showing.nodes import Node, asked_thresholds, value_of
from bioeval.showing.text import Text, say

#: The control of the threshold has about so many points of the curve, or fewer.
POINTS = 200

#: The rates that the control changes.
RATES = ("far", "frr")

#: The first of these tasks that a system has leads: its other tasks have the same threshold.
_LEADING_TASKS = ("verification/single", "verification/multi", "open_set")


class RatesByThreshold:
    """FAR and FRR of a result at each threshold, from the smallest."""

    def __init__(self, node: Node):
        self.node = node
        self.system = node.system
        self.dataset = node.dataset
        self.accepts_larger = accepts_larger(node.dataset)
        self.thresholds = node.dataset["threshold"].values.astype(float)
        self.far = node.dataset["far"].values
        self.frr = node.dataset["frr"].values

    @staticmethod
    def fits(dataset: xr.Dataset) -> bool:
        """Whether a result has FAR and FRR at each threshold."""
        return all(x in dataset and dataset[x].dims == ("threshold",) for x in ("far", "frr"))

    def row(self, threshold: float) -> int:
        """Return the row of the nearest threshold that is not looser; -1 if it is not known.

        A threshold beyond the strictest one has the row of the strictest one if all attempts are
        rejected there.
        """
        larger = self.accepts_larger
        last = len(self.thresholds) - 1
        row = int(np.searchsorted(self.thresholds, threshold, "left" if larger else "right"))
        row -= not larger
        if 0 <= row <= last or np.isnan(threshold):
            return -1 if np.isnan(threshold) else row
        strictest = last if larger else 0
        return strictest if self.far[strictest] == 0 and self.frr[strictest] == 1 else -1

    @property
    def points(self) -> np.ndarray:
        """The rows from the strictest threshold on; of rows with the same rates, the strictest."""
        rows = np.arange(len(self.thresholds))
        rows = rows[:: -1 if self.accepts_larger else 1]
        rows = rows[np.isfinite(self.thresholds[rows])]
        far, frr = self.far[rows], self.frr[rows]
        has_new_rates = np.append(True, (far[1:] != far[:-1]) | (frr[1:] != frr[:-1]))
        return rows[has_new_rates[: len(rows)]]

    def row_at_far(self, far: float) -> int:
        """Return the row of the loosest point with at most this FAR; -1 if all points have more."""
        points = self.points
        allowed = points[self.far[points] <= far]
        return int(allowed[-1]) if len(allowed) else -1

    def cells(self, row: int) -> dict[str, Quantity]:
        """Return the threshold of a row, and its rates with their intervals; NaN without a row."""
        dataset = self.dataset
        threshold = float(self.thresholds[row]) if row >= 0 else np.nan
        next = dataset["threshold_next"].values[row] if "threshold_next" in dataset else np.nan
        cells: dict[str, Quantity] = {"threshold": Threshold(threshold, next=float(next))}
        for name in RATES:
            cell = cell_of(dataset, name, {"threshold": row, "rank": 0})
            if isinstance(cell, Rate):
                cells[name] = cell if row >= 0 else Rate(np.nan)
        return cells

    def has(self, threshold: float) -> bool:
        """Whether the rates at this very threshold were counted."""
        return bool(np.isin(threshold, self.thresholds))


@dataclass(frozen=True)
class Opening:
    """The threshold of the first system with which the page of results opens, and why."""

    threshold: float
    rule: str  # as studies take it
    why: Text = ""  # after "the threshold"
    of_study: bool = False  # the answer of a study names it
    is_chosen: bool = True  # on these data

    @staticmethod
    def from_results(results: Any, given: float | None = None) -> Opening | None:
        """Return where a page opens: at `given` unless None; None without rates at thresholds."""
        control = Moving(with_shared_next(PageResults.collected(results)).nodes, given)
        return None if control.leader is None else control.opening


@dataclass(frozen=True)
class Stated:
    """The threshold of a page that a user gave, or that a study or another result used."""

    threshold: Threshold
    why: Text = ""  # after "the threshold"; empty if the answer of a study names the threshold
    is_chosen: bool = False  # on these data


class Moving:
    """The control of a threshold: its points, and the row of each curve at each of them.

    The control moves along the curve of the first system. All tasks of a system are at one
    threshold; each other system is at its loosest threshold with at most the FAR of the first. A
    task whose rates were not counted at the threshold where the page opens is left out. `uncounted`
    has the stated thresholds at which no rates were counted, by system: the page has no control
    then.
    """

    def __init__(self, nodes: list[Node], given: float | None = None):
        self.given = given
        self.curves = [RatesByThreshold(x) for x in nodes if RatesByThreshold.fits(x.dataset)]
        self.leader: RatesByThreshold | None = None
        self.uncounted: dict[str, Threshold] = {}
        #: The threshold that is stated for each system.
        self.opened: dict[str, Stated] = {}
        if given is not None and not self.curves:
            raise DataError(
                "`threshold`: no result has FAR and FRR over thresholds; expected results of "
                "verification or of open-set identification, as be.evaluate returns them"
            )
        for system in dict.fromkeys(x.system for x in self.curves):
            first = self._first_of(system)
            stated = _stated(first, nodes, given)
            if stated is not None:
                self.opened[system] = stated
                if not first.has(stated.threshold.value):
                    self.uncounted[system] = stated.threshold
        if self.uncounted:
            self.curves = []
        if self.curves:
            self._place_points(nodes)

    def _place_points(self, nodes: list[Node]) -> None:
        """Place the points along the curve of the first system, and find each curve's rows."""
        self.leader = leader = self._first_of(self.curves[0].system)
        self.opening = _opening(leader, nodes, self.opened.get(leader.system))
        points = leader.points
        # Strict thresholds matter most: their points are close, and the distance grows.
        spaced = np.unique(np.geomspace(1, max(len(points), 1), POINTS).round().astype(int)) - 1
        rows = [int(x) for x in points[spaced]] if len(points) else []
        opening_row = leader.row(self.opening.threshold)
        rows = sorted({*rows, opening_row}, reverse=leader.accepts_larger)
        self.start = rows.index(opening_row)
        self.rows: dict[int, list[int]] = {}  # of each curve, at each point
        first_of_system = {x.system: self._first_of(x.system) for x in self.curves}
        for system, first in first_of_system.items():
            rows_of_first = rows if first is leader else self._rows_at_far_of(leader, rows, first)
            thresholds = [first.thresholds[row] if row >= 0 else np.nan for row in rows_of_first]
            for curve in self.curves:
                if curve is first:
                    self.rows[id(curve)] = rows_of_first
                elif curve.system == system:
                    self.rows[id(curve)] = [curve.row(threshold) for threshold in thresholds]
        self.curves = [x for x in self.curves if self._is_counted(x, first_of_system[x.system])]

    def _rows_at_far_of(
        self, leader: RatesByThreshold, rows: list[int], curve: RatesByThreshold
    ) -> list[int]:
        """Return the rows of a curve with at most the FAR of the leader at some of its rows.

        Where the page opens, the curve is at the threshold stated for its system, if there is one.
        """
        rows_of_curve = [curve.row_at_far(float(leader.far[row])) for row in rows]
        stated = self.opened.get(curve.system)
        if stated is not None:
            rows_of_curve[self.start] = curve.row(stated.threshold.value)
        return rows_of_curve

    def _is_counted(self, curve: RatesByThreshold, first: RatesByThreshold) -> bool:
        """Whether the rates of a task were counted at the threshold with which its system opens."""
        row = self.row_of(first)
        return curve is first or (row >= 0 and curve.has(float(first.thresholds[row])))

    def is_first_of_system(self, curve: RatesByThreshold) -> bool:
        """Whether the other curves of its system follow the threshold of a curve."""
        return curve is self._first_of(curve.system)

    def _first_of(self, system: str) -> RatesByThreshold:
        curves = [x for x in self.curves if x.system == system]
        place = {path: i for i, path in enumerate(_LEADING_TASKS)}
        return min(curves, key=lambda x: place.get(x.node.task, len(place)))

    def cells(self, curve: RatesByThreshold) -> list[dict[str, Quantity]]:
        """Return the threshold and the rates of a curve at each point."""
        stated = self.opened.get(curve.system)
        cells = [curve.cells(row) for row in self.rows[id(curve)]]
        for cell in cells:
            if stated is not None and cell["threshold"].value == stated.threshold.value:
                cell["threshold"] = stated.threshold
        return cells

    def row_of(self, curve: RatesByThreshold) -> int:
        """Return the row of a curve where the page opens."""
        return self.rows[id(curve)][self.start]


def _of_study(curve: RatesByThreshold, nodes: list[Node]) -> Threshold | None:
    """Return the threshold in the answer of a study of the system; None without such a study."""
    for node in nodes:
        of_searches = "unenrolled_people" in node.dataset
        if node.system != curve.system or node.result_type != THRESHOLD_STUDY:
            continue
        if of_searches == (curve.node.task == "open_set"):
            for name in ("assured_threshold", "threshold"):
                if name in node.dataset and np.isfinite(float(node.dataset[name])):
                    return threshold_of(node.dataset, name)
    return None


def _stated(curve: RatesByThreshold, nodes: list[Node], given: float | None) -> Stated | None:
    """Return the threshold stated for a system; None if its results have no single threshold.

    The given threshold comes first, then the thresholds of a study, of promises, of other results.
    """
    if given is not None:
        return Stated(Threshold(given), "the one given")
    if (study := _of_study(curve, nodes)) is not None:
        return Stated(study)
    of_promises = dict[float, Stated]()
    of_others = dict[float, Stated]()
    for node in nodes:
        if node.system != curve.system:
            continue
        for threshold in _thresholds_of(node.dataset):
            stated = Stated(Threshold(threshold), "that of these results")
            if node.result_type == "promise":
                of_promises[threshold] = stated
            elif str(node.dataset.attrs.get("chosen_on", "")).startswith("the same data"):
                of_others[threshold] = replace(
                    stated, threshold=threshold_of(node.dataset), is_chosen=True
                )
            else:
                of_others.setdefault(threshold, stated)
    candidates = of_promises or of_others
    if len(candidates) != 1:
        return None
    ((threshold, stated),) = candidates.items()
    return stated if of_promises or curve.has(threshold) else None


def _thresholds_of(dataset: xr.Dataset) -> list[float]:
    """Return the threshold of a result; of rates over thresholds, the thresholds asked for.

    Empty if there are several thresholds and none were asked for.
    """
    if RatesByThreshold.fits(dataset):
        requested = asked_thresholds(dataset)
        values = requested or dataset["threshold"].values.tolist()
        return values if requested or len(values) == 1 else []
    threshold = value_of(dataset, "threshold")
    if threshold is None:
        threshold = dataset.attrs.get("threshold")  # of a workload
    return [float(threshold)] if isinstance(threshold, float) and np.isfinite(threshold) else []


def _opening(curve: RatesByThreshold, nodes: list[Node], stated: Stated | None) -> Opening:
    """Return where a page opens: at the stated threshold, else at a threshold the data support.

    The data support the smallest FAR target for which 30 false accepts are expected with one
    attempt of each pair of people, or else 3; without such a target, the page opens at the equal
    error rate. Where the thresholds of the curve were given, the page opens at the loosest given
    threshold with at most this FAR.
    """
    target, exact, support = _supported(curve)
    if stated is not None:
        threshold, why = stated.threshold.value, stated.why
        rules = {x.dataset.attrs.get("threshold_rule") for x in nodes}
        if not why and str(Rule("far", (float(target),))) in rules:
            text = "The {far} target of {target:rate} is the smallest with {support}."
            why = say(text, target=target, support=support)
        is_chosen = stated.is_chosen or not stated.why
        return Opening(threshold, repr(threshold), why, not stated.why, is_chosen)
    if not np.isnan(target):
        threshold = exact
        rule = f"far={target!r}"
        row = curve.row(exact)
        loosest = "the loosest"
        if not curve.has(exact):
            row = curve.row_at_far(target)
            threshold = float(curve.thresholds[row])
            rule = repr(threshold)
            loosest = "the loosest of these results"
        text = "{which} with {far} at most {target:rate}, the smallest target with {support}"
        if row >= 0:
            why = say(text, which=loosest, target=target, support=support)
            return Opening(threshold, rule, why)
    eer = value_of(curve.dataset, "eer_threshold")
    if eer is not None and (row := curve.row(eer)) >= 0:
        why = "that of the equal error rate"
        if not curve.has(eer):
            why = "the last one of these results before the equal error rate"
        return Opening(float(curve.thresholds[row]), "eer", why)
    strictest = float(curve.thresholds[next(iter(curve.points), 0)])
    return Opening(strictest, "eer", "the strictest one of these results", is_chosen=False)


def _supported(curve: RatesByThreshold) -> tuple[float, float, str]:
    """Return the smallest FAR target that the data support, its threshold, and how well in words.

    Target and threshold are NaN, and the words empty, if the data support no target.
    """
    dataset = curve.dataset
    limits = dataset.get("threshold_at_far")
    if limits is None or limits.dims[0] != "far_target":
        return np.nan, np.nan, ""
    thresholds = limits.values.reshape(len(limits), -1)[:, 0].tolist()  # at rank 1
    uncertain: list[float] = []
    for message in messages_of(dataset.attrs):
        if message.code == "target-uncertain" and message.arguments["chosen"] == "far":
            uncertain += message.arguments["targets"]
    rate = "dir_at_far" if "dir_at_far" in dataset else "frr_at_far"
    targets = sorted(zip(dataset["far_target"].values.tolist(), thresholds, strict=True))
    for support, excluded in (("enough", uncertain), ("just enough", [])):
        for target, threshold in targets:
            enough = is_supported(dataset, rate, {"far_target": target}) and target not in excluded
            if target > 0 and enough and np.isfinite(threshold) and curve.row(threshold) >= 0:
                return target, threshold, f"{support} people or attempts"
    return np.nan, np.nan, ""
