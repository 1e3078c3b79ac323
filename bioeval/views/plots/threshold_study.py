"""Threshold study: FAR and FRR of each fold's test part, and their mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bioeval.base.errors import counted
from bioeval.views.plots import style as look
from bioeval.views.plots.select_datasets import pick_one
from bioeval.views.terms import speaker

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The largest diameter of a point, in points of type.
LARGEST = 20.0


class ThresholdStudyDisplay:
    """FAR and FRR of each fold, their mean with its interval, and the optimistic point.

    Attributes
    ----------
    far, frr : ndarray
        One value per fold.
    counts : ndarray
        Number of folds at each point drawn last.
    ax_, figure_ : Axes and Figure
        Where they were drawn last.
    """

    counts: np.ndarray
    ax_: Axes
    figure_: Figure

    def __init__(self, dataset: xr.Dataset):
        self._dataset = dataset
        self.far = dataset["fold_far"].values.ravel()
        self.frr = dataset["fold_frr"].values.ravel()

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take a result of :func:`bioeval.study_threshold`."""
        return cls(pick_one(data, "threshold_study").dataset)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the study. See :func:`threshold_study`."""
        self.ax_ = ax = look.axes_for(ax)
        self.figure_ = look.figure_of(ax)
        ds = self._dataset
        v = {str(k): ds[k].item() for k in ds.data_vars if not ds[k].ndim}
        known = np.isfinite(self.far) & np.isfinite(self.frr)
        if not known.any():
            look.empty(ax, ["No fold has attempts of both classes"])
        self._folds(known, style)
        divided = str(ds.attrs.get("divided", "subjects"))
        new = "people" if divided == "subjects" else divided
        blue, red = look.colour(0), look.colour(1)
        ax.errorbar(
            [v["far_mean"]], [v["frr_mean"]], xerr=self._bars(v, "far", "far_mean"),
            yerr=self._bars(v, "frr", "frr_mean"), fmt="o", color=blue, markersize=7, capsize=4,
            linewidth=1.6, label=f"expected of new {new}", zorder=4,
        )  # fmt: skip
        ax.errorbar(
            [v["optimistic_far"]], [v["optimistic_frr"]], xerr=self._bars(v, "optimistic_far"),
            yerr=self._bars(v, "optimistic_frr"), fmt="D", markersize=7, color=red, linewidth=1.0,
            markerfacecolor="white", markeredgewidth=1.6, label="where it was chosen (optimistic)",
            zorder=5,
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
        name = name or str(ds.attrs.get("system", ""))
        title = f"Threshold study: {name}" if name else "Threshold study"
        look.titled(ax, title, map(say, self._over()))
        ax.legend(
            loc="upper left" if crowded else "upper right", fontsize=look.SMALL_SIZE, frameon=False
        )
        return self

    def _folds(self, known: np.ndarray, style: dict[str, Any]) -> None:
        """Draw each distinct point once, its area proportional to its number of folds."""
        there = np.column_stack([self.far[known], self.frr[known]])
        places, self.counts = np.unique(there, axis=0, return_counts=True)
        most = int(self.counts.max(initial=1))
        given = {"color": look.RULE, "markersize": min(4.5, LARGEST / most**0.5), "alpha": 0.65}
        given = {**given, "zorder": 2, "linewidths": 0, "clip_on": False, **style}
        size = given.pop("markersize")
        label = "test part of a fold"
        if most > 1:
            label = f"test parts of folds; area: how many (1 to {most})"
        areas = size**2 * self.counts
        self.ax_.scatter(places[:, 0], places[:, 1], areas, label="_folds", **given)
        self.ax_.plot(
            [], [], "o", color=given["color"], alpha=given["alpha"], markersize=4.5,
            markeredgewidth=0, label=label,
        )  # fmt: skip

    @staticmethod
    def _bars(v: dict[str, float], rate: str, middle: str = "") -> list[list[float]] | None:
        """Return the distances of confidence limits from the value; None without an interval."""
        low, high = v.get(f"{rate}_low", np.nan), v.get(f"{rate}_high", np.nan)
        both = [[max(0.0, v[middle or rate] - low)], [max(0.0, high - v[middle or rate])]]
        return both if np.isfinite(both).all() else None

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

    def _over(self) -> list[str]:
        ds = self._dataset
        attrs = ds.attrs
        number = int(np.isfinite(ds["fold_threshold"]).sum())
        return [
            f"threshold {ds['threshold'].item():.4g} by "
            f"{attrs['threshold_rule_in_words']}, chosen on all data",
            f"{counted(number, 'folds')}; {100 * attrs['confidence']:g} % intervals: of the "
            "mean over folds (Nadeau and Bengio), and by subject",
        ]


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
