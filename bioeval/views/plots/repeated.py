"""Curves over many partitions: the mean, and the band of the partitions around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from bioeval.base.errors import counted
from bioeval.views.plots import style as look
from bioeval.views.plots.captions import kind_of, other_term, threshold_label
from bioeval.views.plots.cmc import LINEAR
from bioeval.views.plots.curves import Captions, Curve, CurvesDisplay
from bioeval.views.plots.select_datasets import pick

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        """Take the curves of a result of :func:`bioeval.repeat`, or of several by name."""
        curves: list[Curve] = []
        for system in pick(data, "repeated"):
            dataset = system.dataset
            for rate, words in RATES.items():
                if f"{rate}_mean" not in dataset:
                    continue
                arrays = [dataset[f"{rate}_{key}"] for key in ("mean", "low", "high")]
                mean, low, high = (a.sel(rank=1) if rate == "dir" else a for a in arrays)
                x = dataset[mean.dims[0]].values
                name = f"{system.name} {words}".strip() if rate != "cms" else system.name
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
        ranks = "cms_mean" in self.systems[0].dataset
        kind = "" if ranks else kind_of(self.systems, "repeated")
        steps = "steps-pre" if kind == "similarity" else "steps-post"
        lowest = 1.0
        for curve in self.defined:
            shown = np.isfinite(curve.x) & np.isfinite(curve.y)
            line = {"drawstyle": steps, **style}
            self._line(curve, curve.x[shown], curve.y[shown], line, marked=False)
            self._band(curve, shown)
            lowest = float(np.nanmin(self.bands[curve.name].low[shown], initial=lowest))
        if ranks:
            last = max(int(curve.x[-1]) for curve in self.curves.values())
            look.rank_axis(ax, "x", last, last > LINEAR)
            ax.set_ylim(*look.rate_limits(lowest if self.lines_ else 0.0))
            words = (
                "Rank k",
                "Cumulative match score, CMS(k)",
                ("ISO: rank R", other_term(self.systems, "cms")),
            )
        else:
            ax.set_ylim(-0.015, 1.015)
            words = (threshold_label(kind), "Rate", ("", other_term(self.systems, "far", "frr")))
        return self._finish(Captions("Mean", *words, at=0.3 if ranks else 0.5))

    def _over(self) -> list[str]:
        attrs = self.systems[0].dataset.attrs
        confidence = f"{100 * float(attrs.get('confidence', 0.95)):g} %"
        band = {
            "quantile": f"the middle {confidence} of them",
            "normal": f"mean and standard deviation at {confidence}",
        }[str(attrs.get("band", "quantile"))]
        number = counted(int(attrs.get("partitions", 0)), "partitions")
        return [f"{number} of the same subjects; band: {band}, at each point"]


def repeated(data: Any, ax: Axes | None = None, **style: Any) -> RepeatedDisplay:
    """Draw the mean curve over many partitions, with their band.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.repeat`, or several of one task by name. Closed set: the CMC.
        Verification: FAR and FRR against the threshold. Open set: FAR and DIR at rank 1.
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
