"""DET: the two error rates against each other, on axes of normal deviates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from scipy.special import ndtr, ndtri

from bioeval.views.plots import style as look
from bioeval.views.plots.curves import Curve, CurvesDisplay, by_far, end_of, far_floor, numbered
from bioeval.views.plots.direct_labels import Labelled
from bioeval.views.plots.select_datasets import attempts, iso_of, pick, scalar, undefined

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEEDS = {"far": ("threshold",), "frr": ("threshold",)}

# In per cent; the upper half mirrors the lower.
_LOWER = (1e-5, 1e-4, 0.001, 0.01, 0.1, 1, 5, 10, 20, 40)
TICKS = tuple(t / 100 for t in (*_LOWER, 60, 80, 90, 95, 99, 99.9))

_EDGE = 1e-9


def deviate(rate: Any) -> Any:
    """Return the normal deviate of a rate; 0 and 1 are kept finite."""
    return ndtri(np.clip(rate, _EDGE, 1 - _EDGE))


# Of more curves than this the labels do not tell the EER.
MOST_MEASURED = 6


class DetDisplay(CurvesDisplay):
    """DET curves; ``x`` of a curve is FAR and ``y`` is FRR, one value a threshold."""

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a result, a tree, or a mapping of name to either."""
        curves = [
            Curve(
                system.name,
                system.dataset["far"].values,
                system.dataset["frr"].values,
                system,
                undefined(system.dataset, "far") or undefined(system.dataset, "frr"),
                low=end_of(system.dataset, "frr_low"),
                high=end_of(system.dataset, "frr_high"),
            )
            for system in pick(data, "det", NEEDS, prefer="gar")
        ]
        return cls(numbered(curves))

    def plot(self, ax: Axes | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`det`."""
        ax = self._start(ax, look.SQUARE)
        systems = self.systems
        for which in ("x", "y"):
            set_scale = ax.set_xscale if which == "x" else ax.set_yscale
            set_scale("function", functions=(deviate, ndtr))
        low_x, low_y, high = self._limits()
        style = {"drawstyle": "steps-post", **style}
        unseen = self._off_axes(low_x, low_y)
        texts, points = {}, []
        for name, curve in self.curves.items():
            if curve.why_not:
                continue
            x, y = by_far(curve.x, curve.y)
            self._line(curve, x, y, style)
            if name not in unseen:  # as far to the right as the curve is on the axes
                self._band(curve, last=float(curve.x[curve.y < low_y].min(initial=np.inf)))
            eer = scalar(curve.system.dataset, "eer")
            crowded = len(self.curves) > MOST_MEASURED
            measured = "" if eer != eer or crowded else f"EER {look.percent(eer)}"
            texts[name] = "\n".join(filter(None, (name, measured)))
            at = tuple(scalar(curve.system.dataset, f"{rate}_at_eer") for rate in ("far", "frr"))
            if low_x < at[0] < high and low_y < at[1] < high:
                ax.plot(*at, "o", markersize=4.5, color=self.lines_[name].get_color(), zorder=3)
                points.append(Labelled("", "k", np.array(at[:1]), np.array(at[1:])))
        for axis, low in ((ax.xaxis, low_x), (ax.yaxis, low_y)):
            axis.set_major_locator(FixedLocator([t for t in TICKS if low <= t <= high]))
            axis.set_major_formatter(FuncFormatter(lambda rate, _: _tick(100 * rate)))
            axis.set_minor_locator(NullLocator())
        ax.set(xlim=(low_x, high), ylim=(low_y, high))
        if low_x == low_y:
            ax.set_aspect("equal")
        line = np.linspace(deviate(max(low_x, low_y)), deviate(high), 50)
        ax.plot(ndtr(line), ndtr(line), color=look.RULE, linewidth=0.8, linestyle=":", zorder=1)
        points.append(Labelled("", "k", ndtr(line), ndtr(line)))
        self._titled("DET", (), unseen)
        look.labelled(
            ax, "False accept rate, FAR (%)", "False reject rate, FRR (%)",
            iso_of(systems, "far"), iso_of(systems, "frr"),
        )  # fmt: skip
        self._labels(0.5, (), texts, points)
        return self

    def _limits(self) -> tuple[float, float, float]:
        """Return the lower limits of both axes, and the upper one, which they share."""
        drawn = [c for c in self.curves.values() if not c.why_not]
        # The worst point on which both rates agree must be well inside.
        worst = max((float(np.fmin(c.x, c.y).max()) for c in drawn), default=0.0)
        high = next((t for t in TICKS if t >= max(0.4, 1.6 * worst)), TICKS[-1])
        low_x = [_least(c.x, c.y, high, far_floor(c.system)) for c in drawn]
        low_y = [_least(c.y, c.x, high, _frr_floor(c)) for c in drawn]
        return _below(low_x), _below(low_y), float(ndtr(ndtri(high) + 0.06))

    def _off_axes(self, low_x: float, low_y: float) -> dict[str, str]:
        """Say which curves are so good that nothing of them is on the axes."""
        return {
            name: "off the axes, both rates are smaller at one threshold"
            for name, curve in self.curves.items()
            if not curve.why_not and ((curve.x < low_x) & (curve.y < low_y)).any()
        }


def _least(rate: np.ndarray, other: np.ndarray, high: float, floor: float) -> float:
    """Return the smallest rate to show, of the points whose other rate is shown."""
    shown = rate[other <= high]
    return max(float(shown.min()), floor) if len(shown) else floor


def _below(rates: list[float]) -> float:
    smallest = min(rates, default=0.001)
    return 0.7 * min(0.01, max((t for t in TICKS if t <= smallest), default=TICKS[0]))


def _tick(percent: float) -> str:
    return f"{percent:g}" if percent >= 0.0009 else look.rate_text(percent)


def _frr_floor(curve: Curve) -> float:
    count = attempts(curve.system.dataset, "genuine")
    return 1.0 / count if count else float("nan")


def det(data: Any, ax: Axes | None = None, **style: Any) -> DetDisplay:
    """Draw the DET: FRR against FAR, both in per cent on axes of normal deviates.

    Normally distributed scores give straight lines. The EER is where a curve meets the dotted
    line; where the result holds it, it is in the label (of up to six curves), and the
    attainable threshold nearest to it is marked by a dot.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of verification or of open-set identification, or several by name. Of a tree,
        every verification result is drawn (open set only where there is no verification).
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines.

    Returns
    -------
    DetDisplay
        With ``curves`` (the arrays), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    A rate of 0 or 1 has no normal deviate; such points lie outside the axes. Lines are steps, as
    in :func:`bioeval.plot.roc`. Bands are the intervals of FRR, where the result has them and the
    curve is on the axes; the interval of no false reject is in the result and its table.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.det(be.verification(be.simulate(20, 4)))
    >>> display.ax_.get_xlabel()
    'False accept rate, FAR (%)'
    """
    return DetDisplay.from_results(data).plot(ax, **style)
