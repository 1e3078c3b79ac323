"""Folds and threshold studies: FAR and FRR of each test part, and their mean."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from bioeval.base.errors import counted
from bioeval.views.averaged import unit_of
from bioeval.views.plots import style as look
from bioeval.views.plots.display import OneResultDisplay
from bioeval.views.terms import speaker

# The largest diameter of a point, in points of type.
LARGEST = 20.0


class FoldsDisplay(OneResultDisplay):
    """FAR and FRR of each fold, their mean with its interval, and the optimistic point.

    Attributes
    ----------
    far, frr : ndarray
        One value per fold.
    counts : ndarray
        Number of folds at each point drawn last.
    """

    counts: np.ndarray

    _plot = "folds"
    _fold = ""  # before the names of the values of each fold
    _optimistic = "train_{}_mean"  # the rates where the threshold was chosen

    def __init__(self, dataset: xr.Dataset):
        super().__init__(dataset)
        self.far, self.frr = (
            dataset[f"{self._fold}{rate}"].values.ravel() for rate in ("far", "frr")
        )

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the folds."""
        ax = self._axes(ax)
        ds = self._dataset
        v = {str(k): ds[k].item() for k in ds.data_vars if not ds[k].ndim}
        known = np.isfinite(self.far) & np.isfinite(self.frr)
        if not known.any():
            look.empty(ax, ["No fold has attempts of both classes"])
        title, tested, chosen, lines = self._words()
        self._folds(known, style)
        middle = f"{{}}_{_estimate(ds.attrs)}"
        self._point(v, middle, "{}", tested, fmt="o", color=look.colour(0), zorder=4)
        self._point(
            v, self._optimistic, self._optimistic.removesuffix("_mean"), chosen, fmt="D",
            color=look.colour(1), linewidth=1.0, capsize=0, markerfacecolor="white",
            markeredgewidth=1.6, zorder=5,
        )  # fmt: skip
        ax.margins(0.06)
        ax.set_xlim(left=-0.03 * ax.get_xlim()[1])
        ax.set_ylim(bottom=-0.03 * ax.get_ylim()[1], top=1.2 * ax.get_ylim()[1])
        crowded = self._target()
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(lambda value, _: look.percent(value))
        say = speaker(ds)
        names = say("False accept rate, FAR"), say("False reject rate, FRR")
        look.labelled(ax, *names, say.other("far"), say.other("frr"))
        self._titled(title, name, map(say, lines))
        ax.legend(
            loc="upper left" if crowded else "upper right", fontsize=look.SMALL_SIZE, frameon=False
        )
        return self

    def _point(
        self, v: dict[str, float], value: str, limits: str, label: str, **style: Any
    ) -> None:
        """Draw FAR and FRR of several folds with their intervals, as far as there are any."""
        bars: list[Any] = []
        for rate in ("far", "frr"):
            middle = v[value.format(rate)]
            low, high = (v.get(f"{limits.format(rate)}_{end}", np.nan) for end in ("low", "high"))
            both = [[max(0.0, middle - low)], [max(0.0, high - middle)]]
            bars.append(both if np.isfinite(both).all() else None)
        given = {"markersize": 7, "capsize": 4, "linewidth": 1.6, "label": label, **style}
        x, y = ([v[value.format(rate)]] for rate in ("far", "frr"))
        self.ax_.errorbar(x, y, xerr=bars[0], yerr=bars[1], **given)

    def _folds(self, known: np.ndarray, style: dict[str, Any]) -> None:
        """Draw each distinct point once, its area proportional to its number of folds."""
        there = np.column_stack([self.far[known], self.frr[known]])
        places, self.counts = np.unique(there, axis=0, return_counts=True)
        most = int(self.counts.max(initial=1))
        given = {"color": look.RULE, "markersize": min(4.5, LARGEST / most**0.5), "alpha": 0.65}
        given = {**given, "zorder": 2, "linewidths": 0, "clip_on": False, **style}
        size = given.pop("markersize")
        unit = unit_of(self._dataset.attrs)
        label = f"test part of a {unit}"
        if most > 1:
            label = f"test parts of {unit}s; area: how many (1 to {most})"
        areas = size**2 * self.counts
        self.ax_.scatter(places[:, 0], places[:, 1], areas, label="_folds", **given)
        self.ax_.plot(
            [], [], "o", color=given["color"], alpha=given["alpha"], markersize=4.5,
            markeredgewidth=0, label=label,
        )  # fmt: skip

    def _target(self) -> bool:
        """Draw the FAR target, named at the top; return whether it is in the way of a legend."""
        name, _, value = str(self._dataset.attrs.get("threshold_rule", "")).partition("=")
        if name != "far" or not value:
            return False
        target = float(value)
        self.ax_.axvline(target, color=look.TEXT, linewidth=0.8, linestyle=":", zorder=1)
        low, high = self.ax_.get_xlim()
        self.ax_.set_xlim(low, max(high, 1.03 * target))
        share = (target - low) / (self.ax_.get_xlim()[1] - low)
        right = share > 0.8
        look.note(
            self.ax_, f"target {look.percent(target)}", (target, 1), (-4 if right else 4, -3),
            va="top", ha="right" if right else "left",
        )  # fmt: skip
        return share > 0.4

    def _words(self) -> tuple[str, str, str, list[str]]:
        """Return the title, the names of the two means, and the lines below the title."""
        attrs = self._dataset.attrs
        given = attrs["chosen_on"] == "given"
        number = int(np.isfinite(self._dataset["threshold"]).sum())
        return (
            look.sentence(str(attrs["task"])),
            f"test parts, {_estimate(attrs)}",
            "training parts, mean" + ("" if given else " (optimistic)"),
            [
                f"threshold by {attrs['threshold_rule_in_words']}, {attrs['chosen_on']}",
                f"{counted(number, f'{unit_of(attrs)}s')}; {limits_in_words(attrs)}",
            ],
        )


class ThresholdStudyDisplay(FoldsDisplay):
    """FAR and FRR of each fold, their mean with its interval, and the optimistic point."""

    _plot, _fold, _optimistic = "threshold_study", "fold_", "optimistic_{}"

    def _words(self) -> tuple[str, str, str, list[str]]:
        ds = self._dataset
        divided = str(ds.attrs.get("divided", "subjects"))
        number = int(np.isfinite(ds["fold_threshold"]).sum())
        return (
            "Threshold study",
            f"expected of new {'people' if divided == 'subjects' else divided}",
            "where it was chosen (optimistic)",
            [
                f"threshold {ds['threshold'].item():.4g} by "
                f"{ds.attrs['threshold_rule_in_words']}, chosen on all data",
                f"{counted(number, 'folds')}; {limits_in_words(ds.attrs)}, and by subject",
            ],
        )


def limits_in_words(attrs: Any) -> str:
    """Return what the intervals of a result over folds are, from its attributes."""
    confidence = f"{100 * float(attrs['confidence']):g} %"
    if attrs.get("interval_method") == "quantile":
        return f"intervals: the middle {confidence} of the {unit_of(attrs)}s"
    what = "mean over folds (Nadeau and Bengio)"
    if _estimate(attrs) == "pooled":
        what = f"pooled rate ({attrs['interval_method']})"
    return f"{confidence} intervals: of the {what}"


def _estimate(attrs: Any) -> str:
    """Return of which of its summaries a result has the interval."""
    spread = attrs.get("interval_method", "quantile") in ("nadeau-bengio", "quantile")
    return "mean" if spread else "pooled"


def folds(data: Any, ax: Axes | None = None, **style: Any) -> FoldsDisplay:
    """Draw FAR and FRR of each fold, their mean, and the rates where the thresholds were chosen.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.cross_evaluate`, of verification or open set.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of the points of the folds.

    Returns
    -------
    FoldsDisplay
        With ``far`` and ``frr`` (one value per fold), ``ax_`` and ``figure_``.

    Notes
    -----
    CMS of a closed set, and DIR, at the ranks of the folds: :func:`bioeval.plot.repeated`.

    Examples
    --------
    >>> import bioeval as be
    >>> ds = be.cross_evaluate(be.simulate(30, 4), be.partition.SubjectKFold(5))
    >>> be.plot.folds(ds).far.shape
    (5,)
    """
    return FoldsDisplay.from_results(data).plot(ax, **style)


def threshold_study(data: Any, ax: Axes | None = None, **style: Any) -> ThresholdStudyDisplay:
    """Draw the error rates to expect of a threshold with new people.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.study_threshold`.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of the points of the folds.

    Returns
    -------
    ThresholdStudyDisplay
        With ``far`` and ``frr`` (one value per fold), ``ax_`` and ``figure_``.

    Examples
    --------
    >>> import bioeval as be
    >>> ds = be.study_threshold(be.simulate(30, 4), ("far", 0.01), folds=5, repeats=2)
    >>> be.plot.threshold_study(ds).far.shape
    (10,)
    """
    return ThresholdStudyDisplay.from_results(data).plot(ax, **style)
