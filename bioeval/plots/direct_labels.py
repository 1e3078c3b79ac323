"""Names written beside their curves, where there is room for them.

Places are looked for when the figure is drawn, so that they fit whatever the size of the figure,
the limits of its axes and the resolution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist, allow_rasterization
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform

from bioeval.plots.style import SMALL_SIZE, ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# All lengths in points.
_SPACING = 2.0  # between samples of a curve
_GAP = 2.5  # kept free around a label
_NEAR = 9.0  # within which another curve makes a label ambiguous
_DISTANCES = (4.0, 8.0, 14.0, 22.0, 34.0, 50.0, 70.0)
_ANCHORS = 48

_DIRECTIONS = np.array(
    [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)], dtype=float
)


@dataclass(frozen=True)
class Labelled:
    """A curve that may bear a label.

    Attributes
    ----------
    text : str
        Empty for a curve that is only to be kept free.
    colour : colour
        Of the curve; the text is darkened where that is needed to read it.
    x, y : ndarray
        The line as it is drawn, in the units of the axes.
    at : float
        Where the label would best stand: 0 the start of the curve, 1 its end.
    """

    text: str
    colour: Any
    x: np.ndarray
    y: np.ndarray
    at: float = 1.0


class DirectLabels(Artist):
    """Labels beside the curves of one axes, none over a curve or over another label.

    A label that finds no room near its curve stands further off, with a thin line to it.

    Attributes
    ----------
    texts : list of Text
        One a label; they get their positions when the figure is drawn.
    """

    def __init__(
        self,
        ax: Axes,
        curves: Sequence[Labelled],
        keep_free: Sequence[Artist] = (),
        size: float = SMALL_SIZE + 0.5,
    ):
        super().__init__()
        self.curves = [c for c in curves if len(c.x)]
        self.keep_free = list(keep_free)
        self.set_zorder(5)
        self.set_in_layout(False)
        ax.add_artist(self)
        self.set_clip_on(False)
        figure = ax.figure
        self.texts = []
        self.leaders = []
        for curve in self.curves:
            if not curve.text:
                continue
            text = Text(
                0, 0, curve.text, color=ink(curve.colour), fontsize=size, ha="center", va="center"
            )
            leader = Line2D([], [], color=curve.colour, linewidth=0.6, solid_capstyle="butt")
            for artist in (text, leader):
                artist.set_figure(figure)
                artist.set_transform(IdentityTransform())
            self.texts.append(text)
            self.leaders.append(leader)

    def get_children(self) -> list[Artist]:
        """Return the texts and their leaders."""
        return [*self.texts, *self.leaders]

    @allow_rasterization
    def draw(self, renderer: Any) -> None:
        """Find the places and draw."""
        if not self.get_visible() or not self.texts:
            return
        self.place(renderer)
        for leader in self.leaders:
            leader.draw(renderer)
        for text in self.texts:
            text.draw(renderer)

    def place(self, renderer: Any) -> None:
        """Give each text its position."""
        ax = self.axes
        assert ax is not None
        point = renderer.points_to_pixels(1.0)
        box = ax.get_window_extent(renderer)
        frame = np.array([box.x0, box.y0, box.x1, box.y1])
        samples = [_samples(ax, curve, frame, _SPACING * point) for curve in self.curves]
        boxes = [
            np.array([b.x0, b.y0, b.x1, b.y1])
            for b in (artist.get_window_extent(renderer) for artist in self.keep_free)
        ]
        number = 0
        for own, curve in enumerate(self.curves):
            if not curve.text:
                continue
            text, leader = self.texts[number], self.leaders[number]
            number += 1
            leader.set_data([], [])
            text.set_visible(len(samples[own]) > 0)
            if not text.get_visible():
                continue
            extent = text.get_window_extent(renderer)
            half = np.array([extent.width, extent.height]) / 2
            centre, anchor, far = _best(samples, own, half, boxes, frame, point, curve.at)
            text.set_position(tuple(centre))
            boxes.append(np.concatenate([centre - half, centre + half]))
            if far:
                edge = np.clip(anchor, centre - half, centre + half)
                leader.set_data([edge[0], anchor[0]], [edge[1], anchor[1]])


def _samples(ax: Axes, curve: Labelled, frame: np.ndarray, spacing: float) -> np.ndarray:
    """Return points along a curve in pixels, evenly spaced, those inside the axes."""
    with np.errstate(all="ignore"):
        xy = ax.transData.transform(np.column_stack([curve.x, curve.y]).astype(float))
    xy = xy[np.isfinite(xy).all(axis=1)]
    if not len(xy):
        return xy
    # Far outside is outside: keeps the number of samples small.
    wide = np.array([frame[2] - frame[0], frame[3] - frame[1]])
    xy = np.clip(xy, frame[:2] - wide, frame[2:] + wide)
    length = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(xy, axis=0).T))])
    places = np.linspace(0.0, length[-1], min(6000, int(length[-1] / spacing) + 2))
    points = np.column_stack([np.interp(places, length, xy[:, i]) for i in (0, 1)])
    inside = (points >= frame[:2] - 1).all(axis=1) & (points <= frame[2:] + 1).all(axis=1)
    return points[inside]


def _best(
    samples: list[np.ndarray],
    own: int,
    half: np.ndarray,
    boxes: list[np.ndarray],
    frame: np.ndarray,
    point: float,
    at: float,
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return the best centre of a label, its anchor on the curve, and if it needs a leader."""
    curve = samples[own]
    index = np.unique(np.linspace(0, len(curve) - 1, _ANCHORS).round().astype(int))
    place = index / max(len(curve) - 1, 1)
    everything = _Coverage(np.concatenate(samples), frame, point)
    rest = [s for i, s in enumerate(samples) if i != own]
    others = _Coverage(np.concatenate(rest or [curve[:0]]), frame, point)
    centres, anchors, costs = [], [], []
    for distance in _DISTANCES:
        offset = _DIRECTIONS * (half + distance * point)
        # Corners stand as far off as sides.
        slanted = (_DIRECTIONS != 0).all(axis=1)
        offset[slanted] = _DIRECTIONS[slanted] * (half + 0.7 * distance * point)
        for i, share in zip(index, place, strict=True):
            centres.append(curve[i] + offset)
            anchors.append(np.repeat(curve[i][None], len(offset), axis=0))
            costs.append(
                np.full(len(offset), 1.2 * (distance - _DISTANCES[0]) + 30 * abs(share - at))
            )
    centre, anchor, cost = np.concatenate(centres), np.concatenate(anchors), np.concatenate(costs)
    low, high = centre - half, centre + half
    gap = _GAP * point
    margin = 2 * point
    outside = (low < frame[:2] + margin).any(axis=1) | (high > frame[2:] - margin).any(axis=1)
    cost = cost + 1e6 * outside
    for b in boxes:
        hit = (low < b[2:] + gap).all(axis=1) & (high > b[:2] - gap).all(axis=1)
        cost = cost + 1e5 * hit
    cost = cost + 2e3 * everything.inside(low - gap, high + gap)
    # A label belongs to the curve it is nearest to.
    near = _NEAR * point
    cost = cost + 4.0 * np.minimum(others.inside(low - near, high + near), 8)
    best = int(np.argmin(cost))
    edge = np.clip(anchor[best], low[best], high[best])
    far = float(np.hypot(*(anchor[best] - edge))) > 11 * point
    return centre[best], anchor[best], far


class _Coverage:
    """How many points lie in a box, for many boxes: a table of sums over cells of a raster."""

    def __init__(self, points: np.ndarray, frame: np.ndarray, cell: float):
        self.low, self.cell = frame[:2] - cell, cell
        self.shape = np.ceil((frame[2:] - self.low) / cell).astype(int) + 1
        table = np.zeros(self.shape + 1)
        if len(points):
            at = np.clip(((points - self.low) / cell).astype(int), 0, self.shape - 1)
            np.add.at(table, tuple(at.T + 1), 1)
        self.table = table.cumsum(axis=0).cumsum(axis=1)

    def inside(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return the number of points in each box, to the width of a cell."""
        a = np.clip(np.floor((low - self.low) / self.cell).astype(int), 0, self.shape)
        b = np.clip(np.ceil((high - self.low) / self.cell).astype(int), 0, self.shape)
        t = self.table
        return t[b[:, 0], b[:, 1]] - t[a[:, 0], b[:, 1]] - t[b[:, 0], a[:, 1]] + t[a[:, 0], a[:, 1]]
