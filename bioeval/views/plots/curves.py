"""Displays of curves: the arrays of each system, drawn on one pair of axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from matplotlib.cbook import STEP_LOOKUP_MAP

from bioeval.base.errors import DataError
from bioeval.views.plots import style as look
from bioeval.views.plots.direct_labels import DirectLabels, Labelled
from bioeval.views.plots.select_datasets import System, attempts, over, title_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# No line needs more corners than this to look right.
MAX_CORNERS = 5000


@dataclass(frozen=True)
class Curve:
    """One curve of a display.

    Attributes
    ----------
    name : str
        What its label says; may be empty where it is the only one.
    x, y : ndarray
        As the dataset has them, in the order of the dataset.
    system : System
        Where they come from.
    why_not : str
        Why there is nothing to draw; empty where there is.
    hue, dash : int
        Numbers of its colour and of its line style.
    low, high : ndarray, optional
        Ends of the interval of each `y`, where the dataset has them.
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    system: System
    why_not: str = ""
    hue: int = 0
    dash: int = 0
    low: np.ndarray | None = None
    high: np.ndarray | None = None


class CurvesDisplay:
    """Curves of one or several systems.

    Attributes
    ----------
    curves : dict of str to Curve
        The arrays, by name.
    ax_, figure_ : Axes and Figure
        Where they were drawn last.
    lines_ : dict of str to Line2D
        The lines, by name; without those for which no rate is defined.
    bands_ : dict of str to PolyCollection
        The intervals of the lines that have them, by name.
    labels_ : DirectLabels
        The names beside the lines.
    """

    ax_: Axes
    figure_: Figure
    lines_: dict[str, Line2D]
    bands_: dict[str, Any]
    labels_: DirectLabels

    def __init__(self, curves: Iterable[Curve]):
        self.curves = _by_name(curves)
        self.lines_, self.bands_ = {}, {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {', '.join(map(repr, self.curves))}>"

    @property
    def systems(self) -> list[System]:
        """The datasets that the curves come from, each once."""
        return list({id(c.system): c.system for c in self.curves.values()}.values())

    def plot(self, ax: Axes | None = None, **style: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; the axes of a new figure unless given.
        **style
            Properties of all lines, such as ``linewidth=1``.

        Returns
        -------
        The display itself.
        """
        raise NotImplementedError

    def _start(self, ax: Axes | None, size: tuple[float, float] = look.SIZE) -> Axes:
        self.ax_ = look.axes_for(ax, size)
        self.figure_ = look.figure_of(self.ax_)
        self.lines_, self.bands_ = {}, {}
        return self.ax_

    def _titled(
        self, what: str, details: Sequence[str] = (), unseen: Mapping[str, str] | None = None
    ) -> None:
        """Write the title, what the rates are over, and which curves cannot be seen, and why.

        Where none can be seen, the reason stands in the middle of the axes.
        """
        reasons = {name: c.why_not for name, c in self.curves.items() if c.why_not}
        reasons |= unseen or {}
        remarks = []
        if len(reasons) == len(self.curves):
            same = len(set(reasons.values())) == 1
            texts = [why if same or not name else f"{name}: {why}" for name, why in reasons.items()]
            look.empty(self.ax_, [look.sentence(text) for text in dict.fromkeys(texts)])
        else:
            remarks = [f"{name}: {why}" if name else why for name, why in reasons.items()]
        systems = self.systems
        bands = self._methods()
        look.titled(self.ax_, title_of(what, systems), [*over(systems), *details, *bands, *remarks])

    def _methods(self) -> list[str]:
        """Say what the bands are."""
        attrs = [self.curves[name].system.dataset.attrs for name in self.bands_]
        said = [
            f"bands: {100 * float(a['confidence']):g} % at each threshold or rank by itself, "
            f"{a['interval_method']}"
            for a in attrs
        ]
        return list(dict.fromkeys(said))

    def _band(self, curve: Curve, floor: float = -np.inf, last: float = np.inf) -> None:
        """Draw the intervals of a curve that is drawn, in steps as it is.

        Parameters
        ----------
        floor : float
            What is further left is drawn there, for a logarithmic axis.
        last : float
            The last `x` to draw.
        """
        if curve.low is None or curve.high is None:
            return
        line = self.lines_[curve.name]
        shown = np.isfinite(curve.x) & (curve.x <= last)
        x, low, high = (np.asarray(v, dtype=float)[shown] for v in (curve.x, curve.low, curve.high))
        if len(x) > 1 and x[0] > x[-1]:
            x, low, high = x[::-1], low[::-1], high[::-1]
        drawn = line.get_drawstyle()
        steps: Any = drawn.removeprefix("steps-") if drawn.startswith("steps-") else None
        self.bands_[curve.name] = self.ax_.fill_between(
            np.maximum(x, floor), low, high, step=steps, color=line.get_color(), alpha=0.16,
            linewidth=0, zorder=1.5,
        )  # fmt: skip

    def _line(
        self,
        curve: Curve,
        x: np.ndarray,
        y: np.ndarray,
        style: Mapping[str, Any],
        marked: bool | None = None,
    ) -> None:
        """Draw one curve; its points are marked where they are few, unless `marked` says."""
        given = {
            "color": look.colour(curve.hue),
            "linestyle": look.dash(curve.dash),
            "linewidth": 1.6,
            "label": curve.name or None,
            "solid_joinstyle": "miter",
            **style,
        }
        marked = len(x) <= look.FEW_POINTS if marked is None else marked
        if marked and "marker" not in given:
            given |= {"marker": "o", "markersize": 3.2}
        (self.lines_[curve.name],) = self.ax_.plot(x, y, **given)

    def _labels(
        self,
        at: float | Mapping[str, float],
        keep_free: Sequence[Any] = (),
        texts: Mapping[str, str] | None = None,
        more: Sequence[Labelled] = (),
    ) -> None:
        """Name the lines; a single nameless one gets no label."""
        texts = {name: name for name in self.lines_} if texts is None else texts
        curves = [
            Labelled(
                texts.get(name, ""),
                line.get_color(),
                *corners(line),
                at=at if isinstance(at, float) else at[name],
                dash=look.dash(self.curves[name].dash),
            )
            for name, line in self.lines_.items()
        ]
        self.labels_ = DirectLabels(self.ax_, [*curves, *more], keep_free)


def numbered(curves: Sequence[Curve]) -> list[Curve]:
    """Give each curve a colour and a line style.

    Where several systems have several variants (single- and multi-template), colours tell the
    systems and line styles the variants; else both tell the curves.
    """
    groups = list(dict.fromkeys(curve.system.group for curve in curves))
    variants = list(dict.fromkeys(curve.system.variant for curve in curves))
    if min(len(groups), len(variants)) < 2:
        return [replace(curve, hue=i, dash=i) for i, curve in enumerate(curves)]
    return [
        replace(c, hue=groups.index(c.system.group), dash=variants.index(c.system.variant))
        for c in curves
    ]


def end_of(dataset: Any, name: str, **at: int) -> np.ndarray | None:
    """Return one end of the intervals of a curve, or None where the dataset has none."""
    return dataset[name].sel(at).values if name in dataset else None


def _by_name(curves: Iterable[Curve]) -> dict[str, Curve]:
    out: dict[str, Curve] = {}
    for curve in curves:
        if curve.name in out:
            raise DataError(f"two curves are called {curve.name!r}; give the systems other names")
        out[curve.name] = curve
    return out


def corners(line: Line2D) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of a line as it is drawn, steps included."""
    x, y = (np.asarray(v, dtype=float) for v in line.get_data(orig=False))
    steps = line.get_drawstyle()
    if not len(x) or steps == "default":
        return x, y
    out = STEP_LOOKUP_MAP[steps](x, y)
    return np.asarray(out[0]), np.asarray(out[1])


def by_far(far: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of a curve in the order of FAR, those that repeat another left out.

    Between two points nothing is known but what lies at them: a step to the right holds what is
    attained at the smaller FAR.
    """
    x, y = np.asarray(far, dtype=float), np.asarray(rate, dtype=float)
    if len(x) > 1 and x[0] > x[-1]:  # thresholds of similarities: FAR falls
        x, y = x[::-1], y[::-1]
    keep = np.ones(len(x), dtype=bool)
    keep[1:] = (x[1:] != x[:-1]) | (y[1:] != y[:-1])
    return x[keep], y[keep]


def from_floor(x: np.ndarray, y: np.ndarray, floor: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve for a logarithmic FAR axis, which has no place for FAR 0.

    What is attained at FAR 0 is attained at the floor as well, so the curve starts there, with
    the best that is attained up to it.

    Parameters
    ----------
    x, y : ndarray
        FAR, increasing, and a rate.
    floor : float
        One of the impostor attempts.
    """
    within = np.nonzero(x <= floor)[0]
    if not len(within):
        return x, y
    first = int(within[-1])
    return np.append(floor, x[first + 1 :]), y[first:]


def far_floor(system: System) -> float:
    """Return the smallest FAR above 0 that the impostor attempts allow; NaN without any."""
    count = attempts(system.dataset, "impostor")
    return 1.0 / count if count else float("nan")


def thinned(x: np.ndarray, y: np.ndarray, log: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve without points that make no corner, and with at most MAX_CORNERS.

    For drawing only. A point in the middle of a run of equal values is left out.
    """
    keep = np.ones(len(x), dtype=bool)
    if len(x) > 2:
        keep[1:-1] = (y[1:-1] != y[:-2]) | (y[1:-1] != y[2:])
    x, y = x[keep], y[keep]
    if len(x) > MAX_CORNERS:
        if log:
            at = np.geomspace(1, len(x), MAX_CORNERS) - 1
        else:
            at = np.linspace(0, len(x) - 1, MAX_CORNERS)
        index = np.unique(at.round().astype(int))
        x, y = x[index], y[index]
    return x, y


def shade_below_floor(ax: Axes, floors: Mapping[str, float], which: str = "x") -> list[Any]:
    """Shade the FAR that no impostor attempt supports, and say so."""
    known = [f for f in floors.values() if f == f]
    if not known:
        return []
    floor = min(known)
    low, _ = sorted(ax.get_xlim())
    if low >= floor:
        return []
    ax.axvspan(low, floor, color=look.SHADE, linewidth=0, zorder=0)
    same = len({round(1 / f) for f in known}) == 1
    text = f"FAR < 1 / {round(1 / floor):,}" if same else "FAR below 1 impostor attempt"
    return [
        ax.annotate(
            text, (floor, 1), (-3, -6), xycoords=("data", "axes fraction"),
            textcoords="offset points", rotation=90, ha="right", va="top",
            fontsize=look.SMALL_SIZE - 0.5, color=look.QUIET,
        )
    ]  # fmt: skip
