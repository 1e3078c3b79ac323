"""Curves over many partitions: the mean, and the band of the partitions around it."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from matplotlib.axes import Axes

from bioeval.base.errors import counted
from bioeval.base.kinds import larger_is_closer
from bioeval.views.averaged import unit_of
from bioeval.views.plots import style as look
from bioeval.views.plots.captions import kind_of, other_term, threshold_label
from bioeval.views.plots.cmc import LINEAR
from bioeval.views.plots.curves import Captions, Curve, CurvesDisplay
from bioeval.views.plots.folds import limits_in_words
from bioeval.views.plots.select_datasets import pick

RATES = {"cms": "CMS", "far": "FAR", "frr": "FRR", "dir": "DIR at rank 1"}


class Band(NamedTuple):
    """A mean curve and its band: `x`, `mean`, `low` and `high`, one value per point."""

    name: str
    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


class RepeatedDisplay(CurvesDisplay):
    """Mean curves with their bands; ``x`` of a curve is the rank or the threshold.

    Attributes
    ----------
    bands : dict of str to Band
        The arrays, by name.
    """

    bands: dict[str, Band]

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a result of `repeat` or `cross_evaluate`, or of several by name."""
        curves: list[Curve] = []
        for system in pick(data, "repeated"):
            dataset = system.dataset
            for rate, words in RATES.items():
                if f"{rate}_mean" not in dataset or not dataset[f"{rate}_mean"].ndim:
                    continue  # one value for all folds
                arrays = [dataset[f"{rate}_{key}"] for key in ("mean", "low", "high")]
                mean, low, high = (a.sel(rank=1) if a.ndim > 1 else a for a in arrays)
                x = dataset[mean.dims[0]].values
                ranks = mean.dims == ("rank",)
                name = system.name if ranks else f"{system.name} {words}".strip()
                known = (np.isfinite(x) & np.isfinite(mean.values)).any()
                why_not = "" if known else "no rate is defined in any partition"
                i = len(curves)
                limits = low.values, high.values
                curves.append(Curve(name, x, mean.values, system, why_not, i, i, *limits))
        display = cls(curves)
        display.bands = {
            c.name: Band(c.name, c.x, c.y, c.low, c.high)  # type: ignore[arg-type]
            for c in curves
        }
        return display

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`repeated`."""
        ax = self._start(ax, name)
        first = self.systems[0].dataset
        ranks = "threshold" not in first.dims
        kind = "" if ranks else kind_of(self.systems, "repeated")
        steps = "steps-pre" if larger_is_closer(kind) else "steps-post"
        lowest = 1.0
        for curve in self.defined:
            shown = np.isfinite(curve.x) & np.isfinite(curve.y)
            folds = _folds(curve)
            if folds is None:
                line = {"drawstyle": steps, **style}
                self._line(curve, curve.x[shown], curve.y[shown], line, marked=False)
                self._band(curve, shown)
                folds = np.empty(0)
            else:
                self._draw_folds(curve, folds, style)
            for low in (self.bands[curve.name].low[shown], folds):
                lowest = float(np.nanmin(low, initial=lowest))
        if ranks:
            last = max(int(curve.x[-1]) for curve in self.curves.values())
            look.rank_axis(ax, "x", last, last > LINEAR)
            ax.set_ylim(*look.rate_limits(lowest if self.lines_ else 0.0))
            rate, of = "Cumulative match score, CMS(k)", "cms"
            if "cms_mean" not in first:
                rate, of = "Detection and identification rate, DIR(k)", "dir"
            words = ("Rank k", rate, ("ISO: rank R", other_term(self.systems, of)))
        else:
            ax.set_ylim(-0.015, 1.015)
            words = (threshold_label(kind), "Rate", ("", other_term(self.systems, "far", "frr")))
        return self._finish(Captions("Mean", *words, at=0.3 if ranks else 0.5))

    def _draw_folds(self, curve: Curve, folds: np.ndarray, style: dict[str, Any]) -> None:
        """Draw each fold as a thin line, and the mean with its intervals as a bold one."""
        self._cloud(curve, ((curve.x, y) for y in folds), alpha=0.45, linewidth=0.8, marker=".")
        # Nothing is known between the ranks.
        line = {"drawstyle": "default", "linewidth": 2.4, "markersize": 6, "marker": "o", **style}
        self._line(curve, curve.x, curve.y, line)
        band = self.bands[curve.name]
        # About the middle of each interval: of a band of quantiles the mean may lie outside.
        self.ax_.errorbar(
            band.x, (band.low + band.high) / 2, (band.high - band.low) / 2, fmt="none",
            ecolor=self.lines_[curve.name].get_color(), capsize=4, linewidth=1.6,
        )  # fmt: skip

    def _over(self) -> list[str]:
        attrs = self.systems[0].dataset.attrs
        folds = [len(x) for c in self.curves.values() if (x := _folds(c)) is not None]
        if folds:
            number = counted(max(folds), f"{unit_of(attrs)}s")
            return [f"thin lines: {number}; {limits_in_words(attrs)}"]
        confidence = f"{100 * float(attrs.get('confidence', 0.95)):g} %"
        band = {
            "quantile": f"the middle {confidence} of them",
            "normal": f"mean and standard deviation at {confidence}",
        }[str(attrs.get("band", "quantile"))]
        number = counted(int(attrs.get("partitions", 0)), "partitions")
        return [f"{number} of the same subjects; band: {band}, at each point"]


def _folds(curve: Curve) -> np.ndarray | None:
    """Return the rates of the test part of each fold, a row each; None of other partitions."""
    dataset = curve.system.dataset
    rate = next((rate for rate in ("cms", "dir") if f"train_{rate}_mean" in dataset), None)
    return None if rate is None else dataset[rate].values.reshape(-1, len(curve.x))


def repeated(data: Any, ax: Axes | None = None, **style: Any) -> RepeatedDisplay:
    """Draw the mean curve over many partitions, with their band.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.repeat`, or several of one task by name. Closed set: the CMC.
        Verification: FAR and FRR against the threshold. Open set: FAR and DIR at rank 1. Of
        :func:`bioeval.cross_evaluate`, CMS or DIR at its ranks, with each fold as a thin line.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    RepeatedDisplay
        With ``bands`` (the arrays), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    The band is pointwise and shows the spread over partitions of the same subjects, as the
    result says; it is no confidence interval for other subjects.

    Examples
    --------
    >>> import bioeval as be
    >>> galleries = be.partition.ProbeGallerySplit(1, n_repeats=10, random_state=0)
    >>> ds = be.repeat(be.simulate(20, 4), galleries, task="closed_set")
    >>> be.plot.repeated(ds)
    <RepeatedDisplay ''>
    """
    return RepeatedDisplay.from_results(data).plot(ax, **style)
