"""Curves of a rate against FAR, on a linear or a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.axes import Axes

from bioeval.views.plots import style as look
from bioeval.views.plots.captions import attempts, in_words, other_term
from bioeval.views.plots.curves import Captions, CurvesDisplay
from bioeval.views.plots.direct_labels import Labelled
from bioeval.views.plots.select_datasets import System
from bioeval.views.terms import Speaker


class FarCurvesDisplay(CurvesDisplay):
    """Curves of one rate against FAR; ``x`` of a curve is FAR."""

    rate: ClassVar[str]
    title: ClassVar[str]
    y_label: ClassVar[str]
    size: ClassVar[tuple[float, float]] = look.SIZE

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, log: bool = False, **style: Any
    ) -> Self:
        """Draw the curves. See :func:`bioeval.plot.roc`."""
        ax = self._start(ax, name, look.SIZE if log else self.size)
        floors = {c.name: far_floor(c.system) for c in self.defined}
        lowest = 1.0
        for curve in self.defined:
            x, y = by_far(curve.x, curve.y)
            if log:
                x, y = from_floor(x, y, floors[curve.name])
                lowest = min(lowest, float(y.min()))
            self._line(curve, x, y, style)
            self._band(curve, floor=floors[curve.name] if log else -np.inf)
        others: Sequence[Labelled] = ()
        keep_free: Sequence[Any] = ()
        if log:
            known = [f for f in floors.values() if f == f]
            look.log_axis(ax, "x", min([0.1, *(f / 1.8 for f in known)]) if known else 1e-3)
            ax.set_ylim(*look.rate_limits(lowest if self.defined else 0.0))
            keep_free = shade_below_floor(ax, floors, in_words(self.systems))
        else:
            ax.set(xlim=(-0.015, 1.015), ylim=(-0.015, 1.015))
            others = self._chance()
        terms = other_term(self.systems, "far"), other_term(self.systems, self.rate)
        return self._finish(
            Captions(
                self.title, "False accept rate, FAR", self.y_label, terms, self._details(),
                at=0.15 if log else 0.4, others=others, keep_free=keep_free,
            )
        )  # fmt: skip

    def _chance(self) -> Sequence[Labelled]:
        """Draw the line of a system that decides by chance, where the plot has one."""
        return ()

    def _details(self) -> Sequence[str]:
        return ()


def by_far(far: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of a curve in the order of FAR, without those that repeat another.

    Nothing is known between two points: a step to the right keeps the rate attained at the
    smaller FAR.
    """
    x, y = np.asarray(far, dtype=float), np.asarray(rate, dtype=float)
    if len(x) > 1 and x[0] > x[-1]:  # thresholds of similarities: FAR falls
        x, y = x[::-1], y[::-1]
    keep = np.ones(len(x), dtype=bool)
    keep[1:] = (x[1:] != x[:-1]) | (y[1:] != y[:-1])
    return x[keep], y[keep]


def from_floor(x: np.ndarray, y: np.ndarray, floor: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve for a logarithmic FAR axis, which has no place for FAR 0.

    The rate attained at FAR 0 is attained at the floor as well, one of the impostor attempts: the
    curve starts there, with the best rate attained up to it.
    """
    within = np.nonzero(x <= floor)[0]
    if not len(within):
        return x, y
    first = int(within[-1])
    return np.append(floor, x[first + 1 :]), y[first:]


def far_floor(system: System) -> float:
    """Return one of the impostor attempts, the smallest FAR above 0; NaN without any."""
    count = attempts(system.dataset, "impostor")
    return 1.0 / count if count else float("nan")


def shade_below_floor(ax: Axes, floors: Mapping[str, float], say: Speaker) -> list[Any]:
    """Shade the FAR below one of the impostor attempts; return the text that says so."""
    known = [f for f in floors.values() if f == f]
    if not known:
        return []
    floor = min(known)
    low = min(ax.get_xlim())
    if low >= floor:
        return []
    ax.axvspan(low, floor, color=look.SHADE, linewidth=0, zorder=0)
    same = len({round(1 / f) for f in known}) == 1
    text = say(f"FAR < 1 / {round(1 / floor):,}" if same else "FAR below 1 impostor attempt")
    place = (floor, 1.0)
    return [look.note(ax, text, place, (-3, -6), rotation=90, ha="right", va="top", fontsize=7.5)]
