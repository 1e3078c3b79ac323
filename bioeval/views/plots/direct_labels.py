"""Labels written beside their curves, or in a key where there is room: inside or below the axes.

Labels are placed when the figure is drawn, so that they fit its size, the limits of its axes and
the resolution.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from matplotlib.artist import Artist, allow_rasterization
from matplotlib.axes import Axes
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox, IdentityTransform

from bioeval.views.plots.style import Style, figure_of

# All lengths in points.
_SPACING = 2.0  # between samples of a curve
_GAP = 2.5  # kept free around a label
_NEAR = 9.0  # within which another curve makes a label ambiguous
_APART = 2.5  # a curve is distinct where all others are further off than this
_DISTANCES = (4.0, 8.0, 14.0, 22.0)  # of a label from its curve
_ANCHORS = 60  # places along a curve
_SIZE = Style.small + 0.5

_TAKEN, _COVERS = 1e5, 2e3

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


class _Page(NamedTuple):
    """The axes in pixels, while labels are placed."""

    frame: np.ndarray  # left, lower, right and upper end of the axes
    point: float  # pixels of a point of type
    covered: _Coverage  # all curves
    boxes: list[np.ndarray]  # ends of what is already placed


class _Placed(Artist):
    """An artist of axes that is placed when it is drawn, and when the layout asks for its size."""

    def __init__(self, ax: Axes):
        super().__init__()
        self.set_zorder(5)
        ax.add_artist(self)
        self.set_clip_on(False)
        self._below: Legend | None = None  # a key below the axes

    def place(self, renderer: Any) -> None:
        """Find the places of drawn artists."""
        raise NotImplementedError

    def get_tightbbox(self, renderer: Any = None) -> Bbox | None:
        """Return the place of the key below the axes; None where all is inside them."""
        if not self.get_visible():
            return None
        renderer = renderer or cast("Any", figure_of(cast("Axes", self.axes)))._get_renderer()
        self.place(renderer)
        if self._below is None:
            return None
        return self._below.get_window_extent(renderer)

    @allow_rasterization  # type: ignore[untyped-decorator]
    def draw(self, renderer: Any) -> None:
        """Find the places, and draw."""
        if self.get_visible():
            self.place(renderer)
            for artist in self.get_children():
                artist.draw(renderer)


class KeyBelow(_Placed):
    """The key of labelled artists, below the axes."""

    def __init__(self, ax: Axes):
        super().__init__(ax)
        self._lines, texts = ax.get_legend_handles_labels()
        self._texts = list(texts)

    def get_children(self) -> list[Artist]:
        """Return the key."""
        if self._below is None:
            return []
        return [self._below]

    def place(self, renderer: Any) -> None:
        """Make the key below the axes."""
        ax = cast("Axes", self.axes)
        for columns in (2, 1):
            key = _key(ax, self._lines, self._texts, renderer, columns)
            if key.get_window_extent(renderer).width <= _place_of(ax).width:
                break
        _put_below(key, ax, renderer)
        self._below = key


class DirectLabels(_Placed):
    """Labels beside the curves of one axes, not over a curve or another label.

    A curve that coincides with others, or has no room beside it, is named in a key in the emptiest
    place. Where no place is empty, all curves are named in a key below the axes, provided that the
    figure has a layout that makes room for it; with an `heir`, of the same curves on axes further
    down, below those. `in_key` has the labels that were in a key when the figure was drawn last.
    """

    def __init__(self, ax: Axes, curves: Sequence[Labelled], keep_free: Sequence[Artist] = ()):
        """Label curves on axes; artists to `keep_free` are covered by no label."""
        super().__init__(ax)
        self.curves = [c for c in curves if len(c.x)]
        self.keep_free = list(keep_free)
        self.in_key: list[str] = []
        self.heir: DirectLabels | None = None
        self._inherits = False
        self._seen: tuple[Any, ...] = ()
        self._key: Legend | None = None
        self._named: dict[int, Text] = {}
        for i, curve in enumerate(self.curves):
            if curve.text:
                text = Text(
                    0,
                    0,
                    curve.text,
                    color=Style.ink(curve.colour),
                    fontsize=_SIZE,
                    linespacing=1.15,
                    ha="center",
                    va="center",
                )
                text.set_figure(ax.figure)
                text.set_transform(IdentityTransform())
                self._named[i] = text

    @property
    def texts(self) -> list[Text]:
        """The labels; their positions are set when the figure is drawn."""
        return list(self._named.values())

    @property
    def key(self) -> Legend | None:
        """The key drawn last, inside the axes or below them."""
        return self._key

    def get_children(self) -> list[Artist]:
        """Return the labels and the key."""
        if self._key is None:
            return [*self.texts]
        return [*self.texts, self._key]

    def place(self, renderer: Any) -> None:
        """Set the position of each label, or make it a row of the key."""
        ax: Any = self.axes
        point = renderer.points_to_pixels(1.0)
        box = ax.get_window_extent(renderer)
        view = *ax.viewLim.extents, ax.get_xscale(), ax.get_yscale()
        seen = (*box.extents, *view, *_place_of(ax).extents, point, self._inherits)
        if not self._named or seen == self._seen:  # as the layout has found it
            if self._below is not None:
                _put_below(self._below, ax, renderer)
            return
        self._seen, self._key, self._below = seen, None, None
        frame = box.extents
        samples = [_samples(ax, curve, frame, _SPACING * point) for curve in self.curves]
        boxes = [np.array(x.get_window_extent(renderer).extents) for x in self.keep_free]
        page = _Page(frame, point, _Coverage(np.concatenate(samples), frame, point), boxes)
        key = []
        # Single points first: they leave no choice of place.
        for i, text in sorted(self._named.items(), key=lambda item: len(samples[item[0]]) > 2):
            text.set_visible(len(samples[i]) > 0)
            if not len(samples[i]):
                continue
            extent = text.get_window_extent(renderer)
            half = np.array([extent.width, extent.height]) / 2
            rest = [*samples[:i], samples[i][:0], *samples[i + 1 :]]
            others = _Coverage(np.concatenate(rest), frame, point)
            centre = _beside(samples[i], self.curves[i].at, half, others, page)
            if centre is None:
                key.append(i)
                text.set_visible(False)
                continue
            text.set_position((centre[0], centre[1]))
            boxes.append(np.concatenate([centre - half, centre + half]))
        leaves = self._inherits
        if key and not leaves:
            self._key = self._keyed(key, renderer)
            fits = _put_inside(self._key, page, renderer)
            leaves = not fits and figure_of(ax).get_layout_engine() is not None
        if self.heir is not None:
            self.heir._inherits = leaves
        if leaves:
            key = []
            for i, text in self._named.items():
                text.set_visible(False)
                if len(samples[i]):
                    key.append(i)
            self._key = None
            if self.heir is None:
                self._key = self._below = self._keyed(key, renderer)
                _put_below(self._below, ax, renderer)
        self.in_key = [self.curves[i].text for i in sorted(key)]

    def _keyed(self, key: list[int], renderer: Any) -> Legend:
        """Return the key of some curves."""
        lines, texts = [], []
        for i in sorted(key):
            curve = self.curves[i]
            style: Any = {"linestyle": "", "marker": "o", "markersize": 4.5}
            if len(curve.x) > 1:
                style = {"linestyle": curve.dash, "linewidth": 1.6}
            lines.append(Line2D([], [], color=curve.colour, **style))
            texts.append(", ".join(curve.text.splitlines()))
        legend = _key(cast("Axes", self.axes), lines, texts, renderer)
        for text, line in zip(legend.get_texts(), lines, strict=True):
            text.set_color(Style.ink(line.get_color()))
        return legend


def _key(
    ax: Axes, lines: Sequence[Any], texts: Sequence[str], renderer: Any, columns: int = 1
) -> Legend:
    """Return a key, with lines of its texts that fit the place of the axes."""
    wide = _place_of(ax).width / renderer.points_to_pixels(1.0)
    letters = max(16, int((wide - 4 * _SIZE) / (0.53 * _SIZE)))
    legend = Legend(
        ax,
        lines,
        ["-"] * len(texts),
        loc="lower left",
        borderaxespad=0,
        borderpad=0.1,
        fontsize=_SIZE,
        handlelength=2.6,
        handletextpad=0.7,
        labelspacing=0.35,
        facecolor="white",
        edgecolor="none",
        framealpha=0.8,
        labelcolor=Style.text,
        numpoints=1,
        ncols=columns,
    )
    # Given only here, since a legend leaves out labels that begin with an underscore.
    for text, words in zip(legend.get_texts(), texts, strict=True):
        text.set_text(textwrap.fill(words, letters, break_on_hyphens=False))
    return legend


def _place_of(ax: Axes) -> Bbox:
    """Return the place of axes in pixels; axes of equal scales fill a part of it."""
    return ax.get_position(original=True).transformed(ax.figure.transSubfigure)


def _put_inside(legend: Legend, page: _Page, renderer: Any) -> bool:
    """Put a key in the emptiest place of the axes; return whether nothing else is there."""
    point = page.point
    extent = legend.get_window_extent(renderer)
    size = np.array([extent.width, extent.height])
    inner = page.frame + np.array([8, 8, -8, -8]) * point
    free = inner[2:] - inner[:2] - size
    grid = np.stack(np.meshgrid(np.linspace(1, 0, 21), np.linspace(0, 1, 21)), axis=-1)
    right, up = grid.reshape(-1, 2).T
    low = inner[:2] + grid.reshape(-1, 2) * np.maximum(free, 0)
    cost = _COVERS * page.covered.inside(low - _GAP * point, low + size + _GAP * point)
    for b in page.boxes:
        near = 3 * _GAP * point  # or a label would read as a row of the key
        cost += _TAKEN * ((low < b[2:] + near) & (low + size > b[:2] - near)).all(axis=1)
    # Where several places are free: near the lower right corner.
    cost += ((1 - right) + up) * 10
    best = int(np.argmin(cost))
    fits = bool(cost[best] < _COVERS and (free >= 0).all())
    legend.set_frame_on(not fits)  # over curves: on a ground of its own
    legend.set_bbox_to_anchor(tuple(low[best]), transform=IdentityTransform())
    return fits


def _put_below(legend: Legend, ax: Axes, renderer: Any) -> None:
    """Put a key below the axes and their label, from their left end on."""
    legend.set_frame_on(False)
    point = renderer.points_to_pixels(1.0)
    frame, size = ax.get_window_extent(renderer), legend.get_window_extent(renderer)
    axis = ax.xaxis.get_tightbbox(renderer)
    top = (frame.y0 if axis is None else min(axis.y0, frame.y0)) - 5 * point
    place = _place_of(ax)
    left = min(frame.x0, max(place.x0, place.x1 - size.width))
    legend.set_bbox_to_anchor((left, top - size.height), transform=IdentityTransform())


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
    x = np.interp(places, length, xy[:, 0])
    points = np.column_stack([x, np.interp(places, length, xy[:, 1])])
    inside = (points >= frame[:2] - 1).all(axis=1) & (points <= frame[2:] + 1).all(axis=1)
    return points[inside]


def _beside(
    curve: np.ndarray, at: float, half: np.ndarray, others: _Coverage, page: _Page
) -> np.ndarray | None:
    """Return the best centre of a label; None without room beside the curve."""
    frame, point, boxes = page.frame, page.point, page.boxes
    single = len(curve) <= 2
    alone = others.inside(curve - _APART * point, curve + _APART * point) == 0
    if not (single or alone.any()):
        return None
    if single:
        places = np.arange(len(curve))
    else:
        places = np.nonzero(alone)[0]
    index = places[np.unique(np.linspace(0, len(places) - 1, _ANCHORS).round().astype(int))]
    away = abs(index / max(len(curve) - 1, 1) - at)
    # Corners are as far off as sides.
    step = np.where((_DIRECTIONS != 0).all(axis=1), 0.7, 1.0)[:, None] * point
    offsets = [_DIRECTIONS * (half + distance * step) for distance in _DISTANCES]
    centre = (curve[index][None, :, None] + np.array(offsets)[:, None]).reshape(-1, 2)
    cost = 1.2 * np.subtract(_DISTANCES, _DISTANCES[0])[:, None] + 25 * away
    cost = np.repeat(cost.ravel(), len(_DIRECTIONS))
    low, high = centre - half, centre + half
    gap, margin, near = _GAP * point, 2 * point, _NEAR * point
    cost += _TAKEN * (low < frame[:2] + margin).any(axis=1)
    cost += _TAKEN * (high > frame[2:] - margin).any(axis=1)
    for b in boxes:
        cost += _TAKEN * ((low < b[2:] + gap).all(axis=1) & (high > b[:2] - gap).all(axis=1))
    cost += _COVERS * page.covered.inside(low - gap, high + gap)
    # A label belongs to the curve it is nearest to, and no other is between them.
    cost += 4.0 * np.minimum(others.inside(low - near, high + near), 8)
    anchor = np.tile(np.repeat(curve[index], len(_DIRECTIONS), axis=0), (len(_DISTANCES), 1))
    edge = np.clip(anchor, low, high)
    for part in np.linspace(0, 0.9, 8):
        between = edge + part * (anchor - edge)
        crossed = others.inside(between - point, between + point) > 0
        # A single point lies on other curves as a rule.
        cost += (3.0 if single else _COVERS) * crossed
    best = int(np.argmin(cost))
    if cost[best] < _COVERS:
        return centre[best]
    return None


class _Coverage:
    """Number of points in a box, for many boxes: cumulative sums over the cells of a raster."""

    def __init__(self, points: np.ndarray, frame: np.ndarray, cell: float):
        self.low, self.cell = frame[:2] - cell, cell
        self.shape = np.ceil((frame[2:] - self.low) / cell).astype(int) + 1
        at = np.clip(((points - self.low) / cell).astype(int), 0, self.shape - 1)
        table = np.zeros(self.shape + 1)
        np.add.at(table, tuple(at.T + 1), 1)
        self.table = table.cumsum(axis=0).cumsum(axis=1)

    def inside(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return the number of points in each box, to the width of a cell."""
        a = np.clip(np.floor((low - self.low) / self.cell).astype(int), 0, self.shape)
        b = np.clip(np.ceil((high - self.low) / self.cell).astype(int), 0, self.shape)
        t = self.table
        return t[b[:, 0], b[:, 1]] - t[a[:, 0], b[:, 1]] - t[b[:, 0], a[:, 1]] + t[a[:, 0], a[:, 1]]
