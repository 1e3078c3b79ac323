"""Names written beside their curves, where there is room for them.

Labels are placed when the figure is drawn, so that they fit its size, the limits of its axes and
the resolution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist, allow_rasterization
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform

from bioeval.views.plots.style import SMALL_SIZE, ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# All lengths in points.
_SPACING = 2.0  # between samples of a curve
_GAP = 2.5  # kept free around a label
_NEAR = 9.0  # within which another curve makes a label ambiguous
_APART = 2.5  # a curve is distinct where all others are further off than this
_LEADER = 11.0  # a label further off than this gets a line to its curve
_DISTANCES = (4.0, 8.0, 14.0, 22.0, 34.0, 50.0, 70.0, 95.0)
_ANCHORS = 60
_PROMISING = 500
_SWATCH = 22.0

_OUTSIDE, _TAKEN, _COVERS, _CROSSES = 1e6, 1e5, 2e3, 2e3

_DIRECTIONS = np.array(
    [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)], dtype=float
)


@dataclass(frozen=True)
class Labelled:
    """A curve with its label."""

    text: str  # empty for a curve that is only to be kept free
    colour: Any  # of the curve; the text is darkened where that is needed to read it
    x: np.ndarray  # the line as it is drawn, in the units of the axes
    y: np.ndarray
    at: float = 1.0  # preferred place of the label: 0 the start of the curve, 1 its end
    dash: Any = "-"  # line style of the curve


class _Named(NamedTuple):
    """A label: its text, and a line that leads to the curve or shows its style."""

    text: Text
    line: Line2D


class _Page(NamedTuple):
    """The axes while labels are placed, in pixels."""

    frame: np.ndarray  # left, lower, right and upper end of the axes
    point: float  # pixels of a point of type
    covered: _Coverage  # all curves
    boxes: list[np.ndarray]  # ends of what is already placed


class DirectLabels(Artist):
    """Labels beside the curves of one axes, none over a curve or over another label.

    A label without room near its curve is placed further off, with a thin line to it. A curve
    that coincides with others, or has no room at all, is named in a key in the emptiest place.

    Attributes
    ----------
    texts : list of Text
        One per label; they get their positions when the figure is drawn.
    in_key : list of str
        The labels in the key when the figure was drawn last.
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
        self.in_key: list[str] = []
        self.size = size
        self.set_zorder(5)
        self.set_in_layout(False)
        ax.add_artist(self)
        self.set_clip_on(False)
        self._ground = Rectangle((0, 0), 0, 0, facecolor="white", edgecolor="none", alpha=0.8)
        self._ground.set_figure(ax.figure)
        self._ground.set_transform(IdentityTransform())
        self._named: dict[int, _Named] = {}
        for i, curve in enumerate(self.curves):
            if not curve.text:
                continue
            text = Text(0, 0, curve.text, color=ink(curve.colour), fontsize=size, linespacing=1.15)
            line = Line2D([], [], color=curve.colour, solid_capstyle="butt")
            for artist in (text, line):
                artist.set_figure(ax.figure)
                artist.set_transform(IdentityTransform())
            self._named[i] = _Named(text, line)

    @property
    def texts(self) -> list[Text]:
        """The labels."""
        return [named.text for named in self._named.values()]

    def get_children(self) -> list[Artist]:
        """Return the texts and their lines."""
        return [self._ground, *(a for n in self._named.values() for a in (n.line, n.text))]

    @allow_rasterization  # type: ignore[untyped-decorator]
    def draw(self, renderer: Any) -> None:
        """Find the places and draw."""
        if not self.get_visible() or not self._named:
            return
        self.place(renderer)
        for artist in self.get_children():
            artist.draw(renderer)

    def place(self, renderer: Any) -> None:
        """Give each text its position."""
        ax: Any = self.axes
        point = renderer.points_to_pixels(1.0)
        box = ax.get_window_extent(renderer)
        frame = np.array([box.x0, box.y0, box.x1, box.y1])
        samples = [_samples(ax, curve, frame, _SPACING * point) for curve in self.curves]
        extents = [artist.get_window_extent(renderer) for artist in self.keep_free]
        boxes = [np.array([b.x0, b.y0, b.x1, b.y1]) for b in extents]
        page = _Page(frame, point, _Coverage(np.concatenate(samples), frame, point), boxes)
        key = []
        self._ground.set_visible(False)
        # Single points first: they leave no choice of place.
        for i, named in sorted(self._named.items(), key=lambda item: len(samples[item[0]]) > 2):
            named.line.set_data([], [])
            named.text.set_visible(len(samples[i]) > 0)
            if not len(samples[i]):
                continue
            named.text.set(text=self.curves[i].text, ha="center", va="center")
            extent = named.text.get_window_extent(renderer)
            half = np.array([extent.width, extent.height]) / 2
            rest = [s for j, s in enumerate(samples) if j != i]
            others = _Coverage(np.concatenate([*rest, samples[i][:0]]), frame, point)
            found = _beside(samples[i], self.curves[i].at, half, others, page)
            if found is None:
                key.append(i)
                continue
            centre, anchor = found
            named.text.set_position((centre[0], centre[1]))
            boxes.append(np.concatenate([centre - half, centre + half]))
            edge = np.clip(anchor, centre - half, centre + half)
            if np.hypot(*(anchor - edge)) > _LEADER * point:
                named.line.set_data([edge[0], anchor[0]], [edge[1], anchor[1]])
                named.line.set(linewidth=0.6, linestyle="-")
                for part in np.linspace(0, 1, 12):
                    on_leader = edge + part * (anchor - edge)
                    boxes.append(np.concatenate([on_leader - 3 * point, on_leader + 3 * point]))
        key.sort()
        self.in_key = [self.curves[i].text for i in key]
        if key:
            self._place_key(key, renderer, page)

    def _place_key(self, key: list[int], renderer: Any, page: _Page) -> None:
        """Write the labels of some curves one below the other, each after a piece of its line."""
        point = page.point
        for i in key:
            self._named[i].text.set_text(self.curves[i].text.replace("\n", ", "))
        extents = [self._named[i].text.get_window_extent(renderer) for i in key]
        heights = np.array([e.height for e in extents]) + 3 * point
        width = max(e.width for e in extents) + (_SWATCH + 6) * point
        size = np.array([width, heights.sum()])
        inner = page.frame + np.array([8, 8, -8, -8]) * point
        free = np.maximum(inner[2:] - inner[:2] - size, 0)
        grid = np.stack(np.meshgrid(np.linspace(1, 0, 21), np.linspace(0, 1, 21)), axis=-1)
        right, up = grid.reshape(-1, 2).T
        low = inner[:2] + grid.reshape(-1, 2) * free
        cost = _COVERS * page.covered.inside(low - _GAP * point, low + size + _GAP * point)
        for b in page.boxes:
            near = 3 * _GAP * point  # or a label would read as a row of the key
            cost += _TAKEN * ((low < b[2:] + near) & (low + size > b[:2] - near)).all(axis=1)
        # Where several places are free: near the lower right corner.
        cost += ((1 - right) + up) * 10
        best = int(np.argmin(cost))
        if cost[best] >= _COVERS:  # no place is free: on a ground of its own
            pad = _GAP * point
            self._ground.set(xy=low[best] - pad, width=size[0] + 2 * pad, height=size[1] + 2 * pad)
            self._ground.set_visible(True)
        x, y = low[best] + np.array([0, size[1]])
        for i, height in zip(key, heights, strict=True):
            named, curve = self._named[i], self.curves[i]
            middle = y - height / 2
            named.line.set_data([x, x + _SWATCH * point], [middle, middle])
            named.line.set(linewidth=1.6, linestyle=curve.dash)
            named.text.set(ha="left", va="center")
            named.text.set_position((x + (_SWATCH + 6) * point, middle))
            y -= height


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


def _beside(
    curve: np.ndarray,
    at: float,
    half: np.ndarray,
    others: _Coverage,
    page: _Page,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the best centre of a label and its place on the curve; None where there is no room."""
    frame, point, boxes = page.frame, page.point, page.boxes
    single = len(curve) <= 2
    alone = others.inside(curve - _APART * point, curve + _APART * point) == 0
    if not (single or alone.any()):
        return None
    own = np.arange(len(curve)) if single else np.nonzero(alone)[0]
    index = own[np.unique(np.linspace(0, len(own) - 1, _ANCHORS).round().astype(int))]
    away = abs(index / max(len(curve) - 1, 1) - at)
    slanted = (_DIRECTIONS != 0).all(axis=1)
    centres, anchors, costs = [], [], []
    for distance in _DISTANCES:
        # Corners are as far off as sides.
        step = np.where(slanted, 0.7, 1.0)[:, None] * distance * point
        offset = _DIRECTIONS * (half + step)
        centres.append((curve[index][:, None] + offset).reshape(-1, 2))
        anchors.append(np.repeat(curve[index], len(offset), axis=0))
        costs.append(np.repeat(1.2 * (distance - _DISTANCES[0]) + 25 * away, len(offset)))
    centre, anchor, cost = np.concatenate(centres), np.concatenate(anchors), np.concatenate(costs)
    low, high = centre - half, centre + half
    gap, margin, near = _GAP * point, 2 * point, _NEAR * point
    outside = (low < frame[:2] + margin).any(axis=1) | (high > frame[2:] - margin).any(axis=1)
    cost += _OUTSIDE * outside
    for b in boxes:
        cost += _TAKEN * ((low < b[2:] + gap).all(axis=1) & (high > b[:2] - gap).all(axis=1))
    cost += _COVERS * page.covered.inside(low - gap, high + gap)
    # A label belongs to the curve it is nearest to, and its leader crosses no other.
    cost += 4.0 * np.minimum(others.inside(low - near, high + near), 8)
    # Leaders are tried for the most promising places only.
    promising = np.argsort(cost, kind="stable")[:_PROMISING]
    centre, anchor, cost = centre[promising], anchor[promising], cost[promising]
    edge = np.clip(anchor, centre - half, centre + half)
    for part in np.linspace(0.03, 0.92, 32):
        between = edge + part * (anchor - edge)
        crossed = others.inside(between - point, between + point) > 0
        for b in boxes:
            crossed |= (between > b[:2]).all(axis=1) & (between < b[2:]).all(axis=1)
        # A single point lies on other curves as a rule.
        cost += (3.0 if single else _CROSSES) * crossed
    best = int(np.argmin(cost))
    return (centre[best], anchor[best]) if cost[best] < _COVERS else None


class _Coverage:
    """Number of points in a box, for many boxes: cumulative sums over the cells of a raster."""

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
