"""DET: the two error rates against each other, on axes of normal deviates."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from scipy.special import ndtr, ndtri

from bioeval.views.plots import style as look
from bioeval.views.plots.captions import attempts, other_term, scalar
from bioeval.views.plots.curves import Captions, Curve, CurvesDisplay
from bioeval.views.plots.direct_labels import Labelled
from bioeval.views.plots.far_curves import by_far, far_floor

# In per cent; the upper half mirrors the lower.
_LOWER = (1e-5, 1e-4, 0.001, 0.01, 0.1, 1, 5, 10, 20, 40)
TICKS = tuple(t / 100 for t in (*_LOWER, 60, 80, 90, 95, 99, 99.9))

_EDGE = 1e-9

# With more curves the labels leave out the EER.
MOST_MEASURED = 6


def deviate(rate: Any) -> Any:
    """Return the normal deviate of a rate; 0 and 1 are kept finite."""
    return ndtri(np.clip(rate, _EDGE, 1 - _EDGE))


class DetDisplay(CurvesDisplay):
    """DET curves; ``x`` of a curve is FAR and ``y`` is FRR, one value per threshold."""

    drawn = ("det", "far", "frr")

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`det`."""
        ax = self._start(ax, name, look.SQUARE)
        ax.set_xscale("function", functions=(deviate, ndtr))
        ax.set_yscale("function", functions=(deviate, ndtr))
        low_x, low_y, high = self._limits()
        unseen = {
            c.name: "off the axes, both rates are smaller at one threshold"
            for c in self.defined
            if ((c.x < low_x) & (c.y < low_y)).any()
        }
        texts, others = {}, []
        for curve in self.defined:
            self._line(curve, *by_far(curve.x, curve.y), style)
            if curve.name not in unseen:  # as far to the right as the curve is on the axes
                self._band(curve, curve.x <= curve.x[curve.y < low_y].min(initial=np.inf))
            dataset = curve.system.dataset
            eer = scalar(dataset, "eer")
            if eer == eer and len(self.curves) <= MOST_MEASURED:
                texts[curve.name] = f"{curve.name}\nEER {look.measured(eer)}".lstrip("\n")
            far, frr = scalar(dataset, "far_at_eer"), scalar(dataset, "frr_at_eer")
            if low_x < far < high and low_y < frr < high:
                colour = self.lines_[curve.name].get_color()
                ax.plot(far, frr, "o", markersize=4.5, color=colour, zorder=3)
                others.append(Labelled("", "k", np.array([far]), np.array([frr])))
        for axis, low in ((ax.xaxis, low_x), (ax.yaxis, low_y)):
            axis.set_major_locator(FixedLocator([t for t in TICKS if low <= t <= high]))
            axis.set_major_formatter(FuncFormatter(lambda rate, _: _tick(100 * rate)))
            axis.set_minor_locator(NullLocator())
        ax.set(xlim=(low_x, high), ylim=(low_y, high))
        if low_x == low_y:
            ax.set_aspect("equal")
        equal = ndtr(np.linspace(deviate(max(low_x, low_y)), deviate(high), 50))
        others.append(self._reference(equal, equal))
        terms = other_term(self.systems, "far"), other_term(self.systems, "frr")
        return self._finish(
            Captions(
                "DET", "False accept rate, FAR (%)", "False reject rate, FRR (%)", terms,
                unseen=unseen, at=0.5, texts=texts, others=others,
            )
        )  # fmt: skip

    def _limits(self) -> tuple[float, float, float]:
        """Return the lower limits of both axes, and the upper one, which they share."""
        # The worst point on which both rates agree must be well inside.
        worst = max((float(np.fmin(c.x, c.y).max()) for c in self.defined), default=0.0)
        high = next((t for t in TICKS if t >= max(0.4, 1.6 * worst)), TICKS[-1])
        low_x = [_least(c.x, c.y, high, far_floor(c.system)) for c in self.defined]
        low_y = [_least(c.y, c.x, high, _frr_floor(c)) for c in self.defined]
        return _below(low_x), _below(low_y), float(ndtr(ndtri(high) + 0.06))


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
        Properties of all lines; ``name`` labels a single system.

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
