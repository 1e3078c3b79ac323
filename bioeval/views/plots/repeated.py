"""Curves over many partitions: the mean, and the band of the partitions around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError
from bioeval.views.plots import style as look
from bioeval.views.plots.curves import corners
from bioeval.views.plots.direct_labels import DirectLabels, Labelled
from bioeval.views.plots.select_datasets import one_kind, threshold_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RATES = {
    "cms": ("rank", "CMS"),
    "far": ("threshold", "FAR"),
    "frr": ("threshold", "FRR"),
    "dir": ("threshold", "DIR at rank 1"),
}


@dataclass(frozen=True)
class Band:
    """A mean curve and its band: `x`, `mean`, `low` and `high`, one value a point."""

    name: str
    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


class RepeatedDisplay:
    """Mean curves with their bands.

    Attributes
    ----------
    bands : dict of str to Band
        The arrays, by name.
    ax_, figure_ : Axes and Figure
        Where they were drawn last.
    lines_ : dict of str to Line2D
        The mean curves.
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, bands: Mapping[str, Band], about: xr.Dataset, over: str, kind: str):
        self.bands, self._about, self._over, self._kind = dict(bands), about, over, kind
        self.lines_: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"<RepeatedDisplay {', '.join(map(repr, self.bands))}>"

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a result of :func:`bioeval.repeat`, or of several by name."""
        given = {"": data} if isinstance(data, xr.Dataset) else data
        if not isinstance(given, Mapping) or not given:
            raise DataError(
                f"be.plot.repeated got {type(data).__name__}; expected a result of be.repeat, or "
                "a mapping of name to result"
            )
        bands: dict[str, Band] = {}
        overs, kinds = set(), {}
        for name, ds in given.items():
            rates = [r for r in RATES if isinstance(ds, xr.Dataset) and f"{r}_low" in ds]
            rates = [r for r in rates if RATES[r][0] in ds[f"{r}_low"].dims]
            if not rates:
                raise DataError(
                    "be.plot.repeated draws mean curves over partitions, as be.repeat gives them; "
                    f"{name or 'the dataset'} has none"
                )
            kinds[name] = str(ds.attrs.get("kind", "distance"))
            for rate in rates:
                over, words = RATES[rate]
                overs.add(over)
                parts = [ds[f"{rate}_{key}"] for key in ("mean", "low", "high")]
                parts = [p.sel(rank=1) if rate == "dir" else p for p in parts]
                label = f"{name} {words}".strip() if over == "threshold" else str(name)
                bands[label] = Band(label, ds[over].values, *(p.values for p in parts))
        if len(overs) > 1:
            raise DataError("be.plot.repeated: curves over ranks and over thresholds do not mix")
        over = overs.pop()
        kind = one_kind(kinds, "repeated") if over == "threshold" else "distance"
        return cls(bands, next(iter(given.values())), over, kind)

    def plot(self, ax: Axes | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`repeated`."""
        self.ax_ = ax = look.axes_for(ax)
        self.figure_ = look.figure_of(ax)
        self.lines_ = {}
        steps = "post" if self._over == "rank" or self._kind == "distance" else "pre"
        lowest = 1.0
        for i, (name, band) in enumerate(self.bands.items()):
            shown = np.isfinite(band.x) & np.isfinite(band.mean)
            if not shown.any():
                continue
            x, low, high = band.x[shown], band.low[shown], band.high[shown]
            given = {"color": look.colour(i), "linestyle": look.dash(i), "linewidth": 1.6, **style}
            if self._over == "rank":
                lowest = min(lowest, float(np.nanmin(low)))
            ax.fill_between(x, low, high, step=steps, color=given["color"], alpha=0.18, linewidth=0)  # type: ignore[arg-type]
            (self.lines_[name],) = ax.plot(
                x, band.mean[shown], drawstyle=f"steps-{steps}", label=name or None, **given
            )
        self._finish(lowest)
        return self

    def _finish(self, lowest: float) -> None:
        ax, attrs = self.ax_, self._about.attrs
        if self._over == "rank":
            last = max(int(band.x[-1]) for band in self.bands.values())
            look.rank_axis(ax, "x", last, last > 100)
            ax.set_ylim(*look.rate_limits(lowest if self.lines_ else 0.0))
            look.labelled(ax, "Rank k", "Cumulative match score, CMS(k)", "rank R")
        else:
            ax.set_ylim(-0.015, 1.015)
            look.labelled(ax, threshold_label(self._kind), "Rate")
        if not self.lines_:
            look.empty(ax, ["No rate is defined in any partition"])
        share = f"{100 * float(attrs.get('confidence', 0.95)):g} %"
        band = {
            "quantile": f"the middle {share} of them",
            "normal": f"mean and standard deviation at {share}",
        }[str(attrs.get("band", "quantile"))]
        number = look.plural(int(attrs.get("partitions", 0)), "partition")
        look.titled(
            ax,
            f"Mean: {attrs.get('task', '')}",
            [f"{number} of the same subjects; band: {band}, at each point"],
        )
        at = 0.3 if self._over == "rank" else 0.5
        named = [
            Labelled(name, line.get_color(), *corners(line), at=at)
            for name, line in self.lines_.items()
        ]
        self.labels_ = DirectLabels(ax, named, [])


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
        Properties of all lines.

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
