"""Identification against the rank, the subjects in the gallery, and threshold with rank."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh

from bioeval.base.arguments import require_flag, require_integer
from bioeval.base.kinds import larger_is_closer
from bioeval.base.scalars import CMC
from bioeval.document import Text, say
from bioeval.views.plots import style as plot_style
from bioeval.views.plots.display import (
    Curve,
    CurvesDisplay,
    CurveSpec,
    Display,
    numbered,
    thinned,
)
from bioeval.views.plots.registry import PLOTS
from bioeval.views.plots.style import Style
from bioeval.views.plots.systems import (
    System,
    attempts,
    identification_details,
    in_words,
    needs_of,
    other_term,
    over,
    title_of,
    undefined,
)


class CmcDisplay(CurvesDisplay):
    """CMC curves; ``x`` of a curve is the rank and ``y`` is CMS, one value per rank."""

    spec = CurveSpec("cmc", "CMC", x_label="Rank k")

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of closed-set or re-identification results.

        A result, a tree, or a mapping of name to either; all must be of one kind.
        """
        (rate,) = needs_of(data, PLOTS["cmc"])
        return cls(
            numbered([Curve.of(system, "rank", rate) for system in System.pick(data, "cmc")])
        )

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        log: bool | None = None,
        max_rank: int | None = None,
        **style: Any,
    ) -> Self:
        """Draw the curves. See :func:`cmc`."""
        if max_rank is not None:
            require_integer("max_rank", max_rank, low=1)
        ax = self._start(ax, name, style)
        last, beyond = plot_style.ranks_shown(
            self._changing(), max(int(c.x[-1]) for c in self.curves.values()), max_rank
        )
        if log is None:
            log = last > plot_style.LINEAR_RANKS
        lowest = 1.0
        for curve in self.defined:
            shown = (curve.x <= last) & ~np.isnan(curve.y)
            x, y = curve.x[shown], curve.y[shown]
            lowest = min(lowest, float(y[0] if curve.low is None else curve.low[0]))
            # Each of a few ranks is marked; of a long curve only the corners are drawn.
            few = len(x) <= plot_style.FEW_POINTS
            if not few:
                x, y = thinned(x, y, log)
            self._line(curve, x, y, style, few)
            self._band(curve, shown)
        plot_style.rank_axis(ax, "x", last, log)
        beyond += filter(None, [self._rates_from(lowest if self.lines_ else 0.0)])
        if "cmc" in self.systems[0].dataset:
            return self._finish(
                y_label="Queries matched at rank k or better, CMC(k)",
                terms=("ISO: rank R", f"ISO: {CMC.iso}"),
                details=lambda systems: [System.convention(systems), *beyond],
            )
        return self._finish(
            y_label=say("{Cumulative match score, cms}(k)"),
            terms=("ISO: rank R", ("cms",)),
            details=lambda systems: [*identification_details(systems), *beyond],
        )

    def _changing(self) -> Iterator[np.ndarray]:
        """Yield the curves and their limits, over the ranks."""
        for curve in self.defined:
            yield curve.y
            if curve.low is not None and curve.high is not None:
                yield curve.low
                yield curve.high


def cmc(
    data: Any,
    ax: Axes | None = None,
    *,
    log: bool | None = None,
    max_rank: int | None = None,
    **style: Any,
) -> CmcDisplay:
    """Draw the CMC: the proportion of probes with a mate at rank k or better.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.closed_set`, :func:`bioeval.reid` or
        :func:`bioeval.evaluate`, or several of one kind by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    log : bool, optional
        Whether the axis of the ranks is logarithmic; None: beyond 30 ranks.
    max_rank : int, optional
        The last rank to draw; unless given, the one beyond which no curve changes, or 10.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    CmcDisplay
        With ``curves`` (the arrays, of all ranks), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    CMS is over the probes that have a mate; CMS(1) is the recognition rate. The axis of CMS
    starts at 0 unless everything lies in its upper half. Bands are the intervals at each rank by
    itself, where the result has them.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.cmc(be.closed_set(be.simulate(20, 4)), max_rank=10)
    >>> display.ax_.get_xlabel()
    'Rank k'
    """
    return CmcDisplay.from_results(data).plot(ax, log=log, max_rank=max_rank, **style)


# The most informative first: where two labels have no room, the earlier one is written.
LEVELS = (0.9, 0.5, 0.99, 0.1, 0.7, 0.95, 0.3)
FAR_MARKS = (0.01, 0.1, 0.001, 0.5)

# The least distance between labels, as a fraction of the axis.
MARK_GAP = 0.026

# Points between the axes and the title for the names of FAR, and the width of a name.
_NAMES, _NAME = 13.0, 46.0

# Cells drawn of a larger surface.
_THRESHOLDS, _RANKS = 400, 200


class DirSurfaceDisplay(Display):
    """The surface DIR(t, k).

    Attributes
    ----------
    threshold, rank : ndarray
    dir : ndarray, shape (threshold, rank)
    far : ndarray
        FAR at each threshold.
    mesh_ : QuadMesh or None
        None where DIR is not defined.
    """

    mesh_: QuadMesh | None = None

    def __init__(self, system: System):
        """Take the arrays of one open-set result."""
        self.system = system
        dataset = system.dataset
        self.threshold = dataset["threshold"].values
        self.rank = dataset["rank"].values
        self.dir = dataset["dir"].transpose("threshold", "rank").values
        self.far = dataset["far"].values
        self.kind = str(dataset.attrs.get("kind", "distance"))
        self._why = undefined(dataset, "dir")
        if not self._why and not np.isfinite(self.threshold).any():
            self._why = "no finite threshold"

    def _write(self, text: Text) -> str:
        """Return a text in the terms of the view of the result."""
        return in_words([self.system])(text)

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the surface of one open-set result, or of a tree that has one."""
        return cls(*System.pick(data, "dir_surface", single=True))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        log: bool | None = None,
        max_rank: int | None = None,
        **style: Any,
    ) -> Self:
        """Draw the surface. See :func:`dir_surface`."""
        if max_rank is not None:
            require_integer("max_rank", max_rank, low=1)
        if log is not None:
            log = require_flag("log", log)
        ax = self._axes(ax, (7.0, 4.8), style)
        self.mesh_ = None
        last, beyond = plot_style.ranks_shown([self.dir], int(self.rank[-1]), max_rank)
        if log is None:
            log = last > plot_style.LINEAR_RANKS
        systems = [replace(self.system, name=name or self.system.name)]
        details = identification_details(systems)
        self._titled(
            title_of(say("{dir}(t, k)"), systems),
            None,
            [*over(systems), *details, *([] if self._why else beyond)],
            share=0.86,
            gap=0.0 if self._why else _NAMES,
        )
        if self._why:
            ax.set(xticks=[], yticks=[])
            self._empty(self._why)
        else:
            self._draw(last, log, style)
        self._labelled(
            self._threshold_label(self.kind),
            *("Rank k", "ISO: threshold T", "ISO: rank R"),
        )
        return self

    def _draw(self, last: int, log: bool, style: dict[str, Any]) -> None:
        """Draw the surface up to the `last` rank, with contours and marks of FAR."""
        ax = self.ax_
        finite = np.nonzero(np.isfinite(self.threshold))[0]
        pick = finite[plot_style.spread(len(finite), _THRESHOLDS, False)]
        ranks = np.nonzero(self.rank <= last)[0]
        ranks = ranks[plot_style.spread(len(ranks), _RANKS, log)]
        t, k, z = self.threshold[pick], self.rank[ranks], self.dir[np.ix_(pick, ranks)].T
        x = _threshold_edges(t, self.kind)
        y = np.append(k - 0.5, last + 0.5)
        properties = {"cmap": "YlGnBu", "vmin": 0.0, "vmax": 1.0, "rasterized": True}
        ax.grid(False)
        self.mesh_ = ax.pcolormesh(x, y, z, **{**properties, **style})
        plot_style.rank_axis(ax, "y", last, log, first=1)
        ax.set_ylim(0.5, last + 0.5)
        ax.set_xlim(x[0], x[-1])
        self._far_marks(x, y, self._contours(x, y, z))
        label = say("{Detection and identification rate, dir}")
        self._colour_bar(self.mesh_, ax, label, other_term([self.system], "dir"))

    def _contours(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Draw where DIR first reaches round values, along the edges of the cells.

        Returns the thresholds of the lines at each rank, shape (lines, ranks); NaN without one.
        """
        ax = self.ax_
        assert self.mesh_ is not None
        labelled: list[float] = []
        lines = np.full((len(LEVELS), len(z)), np.nan)
        for place, level in zip(lines, LEVELS, strict=True):
            line_x, line_y = _staircase(x, y, z >= level, self.kind)
            if not len(line_x):
                continue
            fill = self.mesh_.to_rgba(np.array([level]))[0]
            ink = "#333333"
            if plot_style.luminance(fill) < 0.3:
                ink = "white"
            ax.plot(line_x, line_y, color=ink, linewidth=0.9, zorder=2)
            place[::-1][: len(line_x[::2])] = line_x[::2]
            gap = MARK_GAP * abs(x[-1] - x[0])
            if _near(line_x[0], [x[0], x[-1]], 0.5 * gap) or _near(line_x[0], labelled, gap):
                continue  # the label would overlap the frame, or another
            labelled.append(line_x[0])
            plot_style.note(
                ax,
                f"{level:g}",
                (line_x[0], 1),
                (0, -5),
                rotation=90,
                ha="center",
                va="top",
                color=ink,
                fontsize=Style.look.smallest,
                zorder=3,
                bbox={"facecolor": fill, "edgecolor": "none", "pad": 1.0},
            )
        return lines

    def _far_marks(self, x: np.ndarray, y: np.ndarray, contours: np.ndarray) -> None:
        """Mark the thresholds at which FAR is at most a round number, beside contour lines."""
        width, gap = abs(x[-1] - x[0]), _NAME / plot_style.axes_size(self.ax_)[0]
        least = 1 / max(1, attempts(self.system.dataset, "impostor") or 1)
        marked: list[float] = []
        for mark in FAR_MARKS:
            if mark < least or not (self.far[np.isfinite(self.threshold)] > mark).any():
                continue
            loosest = self._loosest(mark)
            drawn = min(x[0], x[-1]) <= loosest <= max(x[0], x[-1])
            if not drawn or _near(loosest, marked, gap * width):
                continue
            marked.append(loosest)
            # A tick above the frame, and a line from edge to edge but for ranks with a contour.
            free = ~(np.abs(contours - loosest) < 0.5 * MARK_GAP * width).any(axis=0)
            for colour, style in (("white", "-"), (Style.text, (0, (3, 3)))):
                self.ax_.vlines(
                    np.full(int(free.sum()), loosest),
                    y[:-1][free],
                    y[1:][free],
                    color=colour,
                    linewidth=0.9,
                    linestyle=style,
                    zorder=1.8,
                )
            self._note(
                say("{far} {mark}", mark=plot_style.in_per_cent(mark)),
                (loosest, 1),
                (0, 5),
                ha="center",
                va="bottom",
                color=Style.text,
                fontsize=Style.look.smallest,
                annotation_clip=False,
                arrowprops={
                    "arrowstyle": "-",
                    "linewidth": 0.8,
                    "color": Style.text,
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
            )

    def _loosest(self, target: float) -> float:
        """Return the exact threshold of a FAR target at rank 1, if the result has it.

        Else the loosest threshold of the curve with FAR at most the target; NaN without any.
        """
        dataset = self.system.dataset
        if "threshold_at_far" in dataset:
            known = np.isclose(dataset["far_target"].values, target, rtol=1e-9, atol=0)
            exact = dataset["threshold_at_far"]
            if "rank" in exact.dims:
                exact = exact.isel(rank=0)
            if known.any() and exact.dims == ("far_target",):
                return float(exact.values[known][0])
        within = self.threshold[(self.far <= target) & np.isfinite(self.threshold)]
        if not len(within):
            return float("nan")
        if larger_is_closer(self.kind):
            return float(within[0])
        return float(within[-1])


def _near(place: float, places: list[float], distance: float) -> bool:
    """Whether any of the others is nearer than a distance."""
    return any(abs(place - other) < distance for other in places)


def _staircase(
    x: np.ndarray, y: np.ndarray, reached: np.ndarray, kind: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the edge between the cells that have `reached` a level and the others.

    From the last rank down; empty where there is no such edge. `x` and `y` are edges of cells.
    """
    cells, edges = reached, x
    if larger_is_closer(kind):
        cells, edges = reached[:, ::-1], x[::-1]
    if reached.all() or not cells[-1].any():
        return np.empty(0), np.empty(0)
    first = np.where(cells.any(axis=1), cells.argmax(axis=1), len(edges) - 1)
    at = edges[first][::-1]
    line_x, line_y = np.repeat(at, 2), np.repeat(y[::-1], 2)[1:-1]
    # Along the frame, where no threshold reaches the level, there is no line.
    inside = int((first < len(edges) - 1).sum())
    keep = 2 * inside + (inside < len(first))
    return line_x[:keep], line_y[:keep]


def _threshold_edges(t: np.ndarray, kind: str) -> np.ndarray:
    """Return the edges of the cells in which DIR is constant over the threshold."""
    if len(t) == 1:
        half = max(abs(t[0]), 1.0) / 100
        return np.array([t[0] - half, t[0] + half])
    if larger_is_closer(kind):
        return np.append(t[0] - (t[1] - t[0]), t)
    return np.append(t, t[-1] + (t[-1] - t[-2]))


def dir_surface(
    data: Any,
    ax: Axes | None = None,
    *,
    log: bool | None = None,
    max_rank: int | None = None,
    **style: Any,
) -> DirSurfaceDisplay:
    """Draw DIR over thresholds and ranks as a heat map, with contour lines and marks of FAR.

    Parameters
    ----------
    data : Dataset or DataTree
        One result of :func:`bioeval.open_set`, or a tree that holds one.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    log : bool, optional
        Whether the axis of the ranks is logarithmic; None: beyond 30 ranks.
    max_rank : int, optional
        The last rank to draw; unless given, the one beyond which DIR does not change, or 10.
    **style
        Properties of the mesh, such as ``cmap="viridis"``; ``name`` names the system.

    Returns
    -------
    DirSurfaceDisplay
        With ``threshold``, ``rank``, ``dir`` and ``far``, ``ax_``, ``figure_`` and ``mesh_``.

    Notes
    -----
    DIR is over the genuine attempts. Of more thresholds than 400, or more ranks than 200,
    these many are drawn; the arrays of the display are whole.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.dir_surface(be.open_set(be.simulate(20, 4)))
    >>> display.dir.shape == (display.threshold.size, display.rank.size)
    True
    """
    display = DirSurfaceDisplay.from_results(data)
    return display.plot(ax, log=log, max_rank=max_rank, **style)
