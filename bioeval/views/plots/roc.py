"""ROC: the genuine accept rate against the false accept rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bioeval.views.plots import style as look
from bioeval.views.plots.curves import (
    Curve,
    CurvesDisplay,
    by_far,
    end_of,
    far_floor,
    from_floor,
    numbered,
    shade_below_floor,
)
from bioeval.views.plots.direct_labels import Labelled
from bioeval.views.plots.select_datasets import iso_of, pick, undefined

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEEDS = {"far": ("threshold",), "gar": ("threshold",)}


class RocDisplay(CurvesDisplay):
    """ROC curves; ``x`` of a curve is FAR and ``y`` is GAR, one value a threshold."""

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a verification result, a tree, or a mapping of name to either."""
        curves = [
            Curve(
                system.name,
                system.dataset["far"].values,
                system.dataset["gar"].values,
                system,
                undefined(system.dataset, "far") or undefined(system.dataset, "gar"),
                low=end_of(system.dataset, "gar_low"),
                high=end_of(system.dataset, "gar_high"),
            )
            for system in pick(data, "roc", NEEDS)
        ]
        return cls(numbered(curves))

    def plot(self, ax: Axes | None = None, *, log: bool = False, **style: Any) -> Self:
        """Draw the curves; `log` makes the FAR axis logarithmic. See :func:`roc`."""
        ax = self._start(ax, look.SIZE if log else (5.6, 5.7))
        systems = self.systems
        drawn = {name: c for name, c in self.curves.items() if not c.why_not}
        floors = {name: far_floor(c.system) for name, c in drawn.items()}
        keep_free: list[Any] = []
        lowest = 1.0
        style = {"drawstyle": "steps-post", **style}
        for name, curve in drawn.items():
            x, y = by_far(curve.x, curve.y)
            if log:
                x, y = from_floor(x, y, floors[name])
                lowest = min(lowest, float(y.min()))
            self._line(curve, x, y, style)
            self._band(curve, floors[name] if log else -np.inf)
        look.labelled(
            ax, "False accept rate, FAR", "Genuine accept rate, GAR",
            iso_of(systems, "far"), iso_of(systems, "gar"),
        )  # fmt: skip
        more = []
        if log:
            look.log_axis(ax, "x", left_of(floors.values()))
            ax.set_ylim(*look.rate_limits(lowest if drawn else 0.0))
            keep_free += shade_below_floor(ax, floors)
        else:
            ax.set(xlim=(-0.015, 1.015), ylim=(-0.015, 1.015), aspect="equal")
            ax.plot([0, 1], [0, 1], color=look.RULE, linewidth=0.8, linestyle=":", zorder=1)
            more.append(Labelled("", look.RULE, np.array([0, 1]), np.array([0, 1])))
        self._titled("ROC")
        self._labels(0.15 if log else 0.4, keep_free, more=more)
        return self


def left_of(floors: Any) -> float:
    """Return where a logarithmic FAR axis starts: left of the smallest floor."""
    known = np.array([f for f in floors if f == f])
    return min(float(known.min()) / 1.8, 0.1) if len(known) else 1e-3


def roc(data: Any, ax: Axes | None = None, *, log: bool = False, **style: Any) -> RocDisplay:
    """Draw the ROC: GAR against FAR over all thresholds.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.verification` or :func:`bioeval.evaluate`, or several by name.
        Of a tree, every verification result is drawn (single- and multi-template, all systems).
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    log : bool
        Whether the FAR axis is logarithmic. It then ends at one of the impostor attempts: what is
        attained at FAR 0 is drawn from there on, and what lies below is shaded.
    **style
        Properties of all lines, such as ``linewidth=1``.

    Returns
    -------
    RocDisplay
        With ``curves`` (the arrays), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    Lines are steps: at each FAR stands the GAR of the nearest threshold in the result whose FAR is
    not larger, never an interpolated one. GAR is over the genuine attempts, FAR over the impostor
    attempts. Where the result has intervals, bands are those of GAR at each threshold by itself;
    how uncertain FAR is there, :func:`error_rates` shows.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.roc(be.verification(be.simulate(20, 4)), log=True)
    >>> display.ax_.get_xscale()
    'log'
    """
    return RocDisplay.from_results(data).plot(ax, log=log, **style)
