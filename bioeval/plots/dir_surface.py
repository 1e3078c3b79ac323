"""DIR over thresholds and ranks, as a heat map with contour lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bioeval.plots import style as look
from bioeval.plots.systems import (
    System,
    identification_details,
    iso_of,
    over,
    pick_one,
    threshold_label,
    title_of,
    undefined,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

NEEDS = {"far": ("threshold",), "dir": ("threshold", "rank")}

LEVELS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)
FAR_MARKS = (0.001, 0.01, 0.1, 0.5)

# Cells that are drawn, of however many there are.
THRESHOLDS, RANKS = 400, 200

# Beyond so many ranks, their axis is logarithmic unless told otherwise.
LINEAR = 30


class DirSurfaceDisplay:
    """The surface DIR(t, k).

    Attributes
    ----------
    threshold, rank : ndarray
    dir : ndarray, shape (threshold, rank)
    far : ndarray
        FAR at each threshold.
    ax_, figure_ : Axes and Figure
        Where it was drawn last.
    mesh_ : QuadMesh or None
        None where DIR is not defined.
    """

    ax_: Axes
    figure_: Figure
    mesh_: QuadMesh | None = None

    def __init__(self, system: System):
        self.system = system
        dataset = system.dataset
        self.threshold = dataset["threshold"].values
        self.rank = dataset["rank"].values
        self.dir = dataset["dir"].transpose("threshold", "rank").values
        self.far = dataset["far"].values
        self.kind = str(dataset.attrs.get("kind", "distance"))
        self.why_not = undefined(dataset, "dir")
        if not self.why_not and not np.isfinite(self.threshold).any():
            self.why_not = "no finite threshold"

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the surface of one open-set result, or of a tree that has one."""
        return cls(pick_one(data, "dir_surface", NEEDS))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        log: bool | None = None,
        max_rank: int | None = None,
        **style: Any,
    ) -> Self:
        """Draw the surface. See :func:`dir_surface`."""
        self.ax_ = ax = look.axes_for(ax, (7.0, 4.8))
        self.figure_ = look.figure_of(ax)
        self.mesh_ = None
        last = int(self.rank[-1]) if max_rank is None else min(int(self.rank[-1]), max_rank)
        log = last > LINEAR if log is None else log
        systems = [self.system]
        details = identification_details(systems)
        look.titled(ax, title_of("DIR(t, k)", systems), [*over(systems), *details])
        if self.why_not:
            ax.set(xticks=[], yticks=[])
            look.note(ax, self.why_not[:1].upper() + self.why_not[1:])
        else:
            self._draw(last, log, style)
        look.labelled(ax, threshold_label(self.kind), "Rank k", "threshold T", "rank R")
        return self

    def _draw(self, last: int, log: bool, style: dict[str, Any]) -> None:
        ax = self.ax_
        finite = np.nonzero(np.isfinite(self.threshold))[0]
        pick = finite[_spread(len(finite), THRESHOLDS, False)]
        ranks = np.nonzero(self.rank <= last)[0]
        ranks = ranks[_spread(len(ranks), RANKS, log)]
        t, k, z = self.threshold[pick], self.rank[ranks], self.dir[np.ix_(pick, ranks)].T
        x = _threshold_edges(t, self.kind)
        y = np.append(k - 0.5, last + 0.5)
        given: dict[str, Any] = {"cmap": "YlGnBu", "vmin": 0.0, "vmax": 1.0, "rasterized": True}
        ax.grid(False)
        self.mesh_ = ax.pcolormesh(x, y, z, **{**given, **style})
        look.rank_axis(ax, "y", last, log, first=1)
        ax.set_ylim(0.5, last + 0.5)
        ax.set_xlim(x[0], x[-1])
        self._contours(t, k, z)
        self._far_marks(x)
        bar = self.figure_.colorbar(self.mesh_, ax=ax, pad=0.02, aspect=30)
        bar.set_label(
            "Detection and identification rate, DIR", fontsize=look.LABEL_SIZE, color=look.TEXT
        )
        term = iso_of([self.system], "dir")
        if term:
            bar.ax.set_title(
                f"ISO: {term}", fontsize=look.SMALL_SIZE - 0.5, color=look.QUIET, loc="right"
            )
        bar.ax.tick_params(labelsize=look.TICK_SIZE, color=look.RULE, labelcolor=look.TEXT)
        bar.outline.set_visible(False)

    def _contours(self, t: np.ndarray, k: np.ndarray, z: np.ndarray) -> None:
        levels = [v for v in LEVELS if np.nanmin(z) < v < np.nanmax(z)]
        if not levels or min(z.shape) < 2:
            return
        assert self.mesh_ is not None
        fills = [self.mesh_.cmap(self.mesh_.norm(level)) for level in levels]
        inks = ["white" if look.luminance(fill) < 0.35 else "#333333" for fill in fills]
        lines = self.ax_.contour(t, k, z, levels=levels, colors=inks, linewidths=0.8)
        self.ax_.clabel(
            lines, fmt=lambda v: f"{v:g}", fontsize=look.SMALL_SIZE - 1, inline=True,
            inline_spacing=2, colors=inks,
        )  # fmt: skip

    def _far_marks(self, x: np.ndarray) -> None:
        """Mark the loosest threshold of the result at which FAR is at most a round number."""
        ax = self.ax_
        far, t = self.far, self.threshold
        width = abs(x[-1] - x[0])
        taken: list[float] = []
        for mark in FAR_MARKS:
            within = np.nonzero((far <= mark) & np.isfinite(t))[0]
            if np.isnan(far).all() or not (far[np.isfinite(t)] > mark).any() or not len(within):
                continue
            if mark < 1 / max(1, int(self.system.dataset.get("impostor_attempts", 0) or 1)):
                continue
            loosest = t[within[0]] if self.kind == "similarity" else t[within[-1]]
            near_edge = min(abs(loosest - x[0]), abs(loosest - x[-1])) < 0.02 * width
            if near_edge or any(abs(loosest - other) < 0.045 * width for other in taken):
                continue
            taken.append(float(loosest))
            ax.axvline(loosest, color="#444444", linewidth=0.7, linestyle=(0, (2, 2)))
            ax.annotate(
                f"FAR {look.percent(mark)}", (loosest, 1), (-2, -4),
                xycoords=("data", "axes fraction"), textcoords="offset points", rotation=90,
                ha="right", va="top", fontsize=look.SMALL_SIZE - 0.5, color="#222222",
                bbox={"facecolor": "white", "alpha": 0.65, "edgecolor": "none", "pad": 1.2},
            )  # fmt: skip


def _spread(length: int, most: int, log: bool) -> np.ndarray:
    """Return at most `most` indices of `length`, the first and the last among them."""
    if length <= most:
        return np.arange(length)
    at = np.geomspace(1, length, most) - 1 if log else np.linspace(0, length - 1, most)
    return np.unique(at.round().astype(int))


def _threshold_edges(t: np.ndarray, kind: str) -> np.ndarray:
    """Return the edges of cells in which DIR is what it is at a threshold."""
    if len(t) == 1:
        half = max(abs(t[0]), 1.0) / 100
        return np.array([t[0] - half, t[0] + half])
    if kind == "similarity":
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
        The last rank to draw; all unless given.
    **style
        Properties of the mesh, such as ``cmap="viridis"``.

    Returns
    -------
    DirSurfaceDisplay
        With ``threshold``, ``rank``, ``dir`` and ``far``, ``ax_``, ``figure_`` and ``mesh_``.

    Notes
    -----
    DIR is over the genuine attempts. Of more than 400 thresholds or 200 ranks, so many are picked
    for the picture; the arrays of the display are whole.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.dir_surface(be.open_set(be.simulate(20, 4)))
    >>> display.dir.shape == (display.threshold.size, display.rank.size)
    True
    """
    display = DirSurfaceDisplay.from_results(data)
    return display.plot(ax, log=log, max_rank=max_rank, **style)
