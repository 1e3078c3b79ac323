"""The threshold of a page: where it opens, and the rows of all results as it moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError
from bioeval.base.messages import messages_of
from bioeval.counting.threshold_rules import SAME_DATA, Rule
from bioeval.page.next_scores import with_shared_next
from bioeval.page.results import PageResults, accepts_larger
from bioeval.results.support import is_supported
from bioeval.results.trees import THRESHOLD_STUDY
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
    """FAR and FRR of a result at each threshold, from the smallest threshold.

    A curve is equal to itself alone, and so is a key of its own in dictionaries.
    """

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

    def row(self, threshold: float) -> int | None:
        """Return the row of the nearest threshold that is not looser; None if it is not known.

        A threshold beyond the strictest one has the row of the strictest one if all attempts are
        rejected there.
        """
        if np.isnan(threshold):
            return None
        last = len(self.thresholds) - 1
        if self.accepts_larger:
            row = int(np.searchsorted(self.thresholds, threshold, "left"))
            strictest = last
        else:
            row = int(np.searchsorted(self.thresholds, threshold, "right")) - 1
            strictest = 0
        if 0 <= row <= last:
            return row
        rejects_all = self.far[strictest] == 0 and self.frr[strictest] == 1
        return strictest if rejects_all else None

    @property
    def points(self) -> np.ndarray:
        """The rows from the strictest threshold on; of rows with the same rates, the strictest."""
        rows = np.arange(len(self.thresholds))
        rows = rows[:: -1 if self.accepts_larger else 1]
        rows = rows[np.isfinite(self.thresholds[rows])]
        far = self.far[rows]
        frr = self.frr[rows]
        has_new_rates = np.ones(len(rows), dtype=bool)
        has_new_rates[1:] = (far[1:] != far[:-1]) | (frr[1:] != frr[:-1])
        return rows[has_new_rates]

    def row_at_far(self, far: float) -> int | None:
        """Return the row of the loosest point with at most this FAR; None if all have more."""
        points = self.points
        allowed = points[self.far[points] <= far]
        return int(allowed[-1]) if len(allowed) else None

    def cells(self, row: int | None) -> dict[str, Quantity]:
        """Return the threshold and the rates of a row; NaN if the row is None.

        The rates have their intervals.
        """
        if row is None:
            return {"threshold": Threshold(np.nan), **{name: Rate(np.nan) for name in RATES}}
        dataset = self.dataset
        threshold = float(self.thresholds[row])
        next_score = np.nan
        if "threshold_next" in dataset:
            next_score = float(dataset["threshold_next"].values[row])
        cells: dict[str, Quantity] = {"threshold": Threshold(threshold, next=next_score)}
        for name in RATES:
            cell = cell_of(dataset, name, {"threshold": row, "rank": 0})
            if isinstance(cell, Rate):
                cells[name] = cell
        return cells

    def has(self, threshold: float) -> bool:
        """Whether the rates at this very threshold were counted."""
        return bool(np.isin(threshold, self.thresholds))


def values_at(rows: Iterable[int | None], values: np.ndarray) -> np.ndarray:
    """Return the values at some rows; NaN where a row is None."""
    return np.array([np.nan if row is None else values[row] for row in rows], dtype=np.float64)


@dataclass(frozen=True)
class Opening:
    """The threshold of the first system with which the page of results opens, and why."""

    threshold: float
    rule: str  # a rule as studies write it
    why: Text = ""  # the end of "The page opens at the threshold ..."; empty for a study's
    of_study: bool = False  # the answer of a study names it
    about_target: Text = ""  # a sentence about the FAR target that the study was asked for
    is_chosen: bool = True  # on these data

    @staticmethod
    def from_results(results: Any, given: float | None = None) -> Opening | None:
        """Return where a page opens: at `given` unless None; None without rates at thresholds."""
        control = Moving.from_nodes(with_shared_next(PageResults.collected(results)).nodes, given)
        return None if control is None else control.opening


@dataclass(frozen=True)
class Stated:
    """The threshold of a page that a user gave, or that a study or another result used."""

    threshold: Threshold
    why: Text = ""  # the reason of an opening
    of_study: bool = False  # the answer of a study names it
    is_chosen: bool = False  # on these data


@dataclass(frozen=True)
class Moving:
    """The control of a threshold, which moves along the curve of the first system.

    All tasks of a system are at one threshold. Each other system is at its loosest threshold with
    at most the FAR of the first system. A task whose rates were not counted at the threshold with
    which the page opens is left out.

    Attributes
    ----------
    leader : RatesByThreshold
        The curve along which the control moves.
    rows : mapping from RatesByThreshold to sequence of int or None
        The row of each curve at every point of the control; None where it has no such threshold.
    opening : Opening
        Where the page opens.
    start : int
        The point where the page opens.
    stated : mapping from str to Stated
        The threshold that is stated for each system, if any.
    is_given : bool
        Whether a user gave the threshold of all systems.
    """

    leader: RatesByThreshold
    rows: Mapping[RatesByThreshold, Sequence[int | None]]
    opening: Opening
    start: int
    stated: Mapping[str, Stated]
    is_given: bool

    @classmethod
    def from_nodes(cls, nodes: Sequence[Node], given: float | None = None) -> Moving | None:
        """Return the control of a page.

        None without rates over thresholds, or if a stated threshold has none: see
        :func:`uncounted_thresholds`.
        """
        curves = _curves(nodes)
        first_curves = _first_curves(curves)
        if given is not None and not curves:
            raise DataError(
                "`threshold`: no result has FAR and FRR over thresholds; expected results of "
                "verification or of open-set identification, as be.evaluate returns them"
            )
        if not curves or uncounted_thresholds(nodes, given):
            return None
        leader = next(iter(first_curves.values()))
        stated = _stated_thresholds(first_curves, nodes, given)
        opening = _opening(leader, nodes, stated.get(leader.system))
        points, start = _points(leader, opening.threshold)
        rows: dict[RatesByThreshold, Sequence[int | None]] = {}
        for system, first in first_curves.items():
            rows_of_first: list[int | None] = [*points]
            if first is not leader:
                rows_of_first = [first.row_at_far(float(leader.far[row])) for row in points]
                if system in stated:
                    rows_of_first[start] = first.row(stated[system].threshold.value)
            thresholds = values_at(rows_of_first, first.thresholds)
            for curve in curves:
                if curve is first:
                    rows[curve] = rows_of_first
                elif curve.system == system and curve.has(thresholds[start]):
                    rows[curve] = [curve.row(threshold) for threshold in thresholds]
        rows = {curve: rows[curve] for curve in curves if curve in rows}
        return cls(leader, rows, opening, start, stated, given is not None)

    @property
    def first_curves(self) -> list[RatesByThreshold]:
        """The curve of each system whose threshold the other curves of the system follow."""
        first_curves = _first_curves(self.rows)
        return [curve for curve in self.rows if curve is first_curves[curve.system]]

    def cells(self, curve: RatesByThreshold) -> list[dict[str, Quantity]]:
        """Return the threshold and the rates of a curve at each point."""
        stated = self.stated.get(curve.system)
        cells = [curve.cells(row) for row in self.rows[curve]]
        for cell in cells:
            if stated is not None and cell["threshold"].value == stated.threshold.value:
                cell["threshold"] = stated.threshold
        return cells


def uncounted_thresholds(nodes: Sequence[Node], given: float | None) -> dict[str, Threshold]:
    """Return the thresholds stated for systems at which no rates were counted, by system."""
    first_curves = _first_curves(_curves(nodes))
    stated_thresholds = _stated_thresholds(first_curves, nodes, given)
    return {
        system: stated.threshold
        for system, stated in stated_thresholds.items()
        if not first_curves[system].has(stated.threshold.value)
    }


def _curves(nodes: Sequence[Node]) -> list[RatesByThreshold]:
    return [RatesByThreshold(x) for x in nodes if RatesByThreshold.fits(x.dataset)]


def _first_curves(curves: Iterable[RatesByThreshold]) -> dict[str, RatesByThreshold]:
    """Return, by system, the curve whose threshold the system's other curves follow."""
    by_system: dict[str, list[RatesByThreshold]] = {}
    for curve in curves:
        by_system.setdefault(curve.system, []).append(curve)
    place = {path: i for i, path in enumerate(_LEADING_TASKS)}
    return {
        system: min(own, key=lambda curve: place.get(curve.node.task, len(place)))
        for system, own in by_system.items()
    }


def _points(leader: RatesByThreshold, opening: float) -> tuple[list[int], int]:
    points = leader.points
    # Strict thresholds matter most: their points are close, and the distance grows.
    spaced = np.unique(np.geomspace(1, max(len(points), 1), POINTS).round().astype(int)) - 1
    rows = points[spaced].tolist() if len(points) else []
    opening_row = int(np.searchsorted(leader.thresholds, opening))  # the curve has the threshold
    rows = sorted({*rows, opening_row}, reverse=leader.accepts_larger)
    return rows, rows.index(opening_row)


def _stated_thresholds(
    first_curves: Mapping[str, RatesByThreshold], nodes: Sequence[Node], given: float | None
) -> dict[str, Stated]:
    stated = {system: _stated(curve, nodes, given) for system, curve in first_curves.items()}
    return {system: x for system, x in stated.items() if x is not None}


def _of_study(curve: RatesByThreshold, nodes: Sequence[Node]) -> Threshold | None:
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


def _stated(curve: RatesByThreshold, nodes: Sequence[Node], given: float | None) -> Stated | None:
    """Return the threshold stated for a system; None if its results have no single threshold.

    The given threshold comes first, then the thresholds of a study, of promises, of other results.
    """
    if given is not None:
        return Stated(Threshold(given), "the one given")
    if (study := _of_study(curve, nodes)) is not None:
        return Stated(study, of_study=True, is_chosen=True)
    of_promises = dict[float, Stated]()
    of_others = dict[float, Stated]()
    for node in nodes:
        if node.system != curve.system:
            continue
        for threshold in _thresholds_of(node.dataset):
            stated = Stated(Threshold(threshold), "the threshold of these results")
            if node.result_type == "promise":
                of_promises[threshold] = stated
            elif node.dataset.attrs.get("chosen_on") == SAME_DATA:
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
        threshold = dataset.attrs.get("threshold")  # attribute of a workload
    return [float(threshold)] if isinstance(threshold, float) and np.isfinite(threshold) else []


def _opening(curve: RatesByThreshold, nodes: Sequence[Node], stated: Stated | None) -> Opening:
    """Return where a page opens: at the stated threshold, else at a threshold the data support.

    The data support the smallest FAR target for which 30 false accepts are expected with one
    attempt of each pair of people, or else 3; without such a target, the page opens at the equal
    error rate. Where the thresholds of the curve were given, the page opens at the loosest given
    threshold with at most this FAR.
    """
    target, exact_threshold, support = _supported(curve)
    if stated is not None:
        threshold = stated.threshold.value
        about_target: Text = ""
        rules = {x.dataset.attrs.get("threshold_rule") for x in nodes}
        if stated.of_study and str(Rule("far", (float(target),))) in rules:
            text = "The {far} target of {target:rate} is the smallest with {support}."
            about_target = say(text, target=target, support=support)
        return Opening(
            threshold,
            repr(threshold),
            why=stated.why,
            of_study=stated.of_study,
            about_target=about_target,
            is_chosen=stated.is_chosen,
        )
    if not np.isnan(target):
        threshold = exact_threshold
        rule = f"far={target!r}"
        row = curve.row(threshold)
        loosest = "the loosest"
        if not curve.has(threshold):
            row = curve.row_at_far(target)
            loosest = "the loosest of these results"
            if row is not None:
                threshold = float(curve.thresholds[row])
                rule = repr(threshold)
        text = "{which} with {far} at most {target:rate}, the smallest target with {support}"
        if row is not None:
            why = say(text, which=loosest, target=target, support=support)
            return Opening(threshold, rule, why)
    eer = value_of(curve.dataset, "eer_threshold")
    if eer is not None and (row := curve.row(eer)) is not None:
        which = "the threshold of the equal error rate"
        if not curve.has(eer):
            which = "the last one of these results before the equal error rate"
        return Opening(float(curve.thresholds[row]), "eer", which)
    strictest = float(curve.thresholds[next(iter(curve.points), 0)])
    return Opening(strictest, "eer", "the strictest one of these results", is_chosen=False)


def _supported(curve: RatesByThreshold) -> tuple[float, float, str]:
    """Return the smallest FAR target that the data support, its threshold, and their support.

    The support is words such as "enough people or attempts". Target and threshold are NaN, and the
    words are empty, if the data support no target.
    """
    dataset = curve.dataset
    limits = dataset.get("threshold_at_far")
    if limits is None or limits.dims[0] != "far_target":
        return np.nan, np.nan, ""
    thresholds = limits.values.reshape(len(limits), -1)[:, 0].tolist()  # limits at rank 1
    uncertain: list[float] = []
    for message in messages_of(dataset.attrs):
        if message.code == "target-uncertain" and message.arguments["chosen"] == "far":
            uncertain += message.arguments["targets"]
    rate = "dir_at_far" if "dir_at_far" in dataset else "frr_at_far"
    targets = sorted(zip(dataset["far_target"].values.tolist(), thresholds, strict=True))
    for support, excluded in (("enough", uncertain), ("just enough", [])):
        for target, threshold in targets:
            enough = is_supported(dataset, rate, {"far_target": target}) and target not in excluded
            has_row = np.isfinite(threshold) and curve.row(threshold) is not None
            if target > 0 and enough and has_row:
                return target, threshold, f"{support} people or attempts"
    return np.nan, np.nan, ""
