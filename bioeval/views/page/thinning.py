"""Curves thinned to what can be seen: the corners of a path in a picture."""

from __future__ import annotations

import numpy as np

#: Places in a picture are rounded to this part of a pixel; that is how far a curve may move.
GRID = 0.25


def thinned(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of a polyline in pixels, without those that cannot be seen.

    Points are rounded to a quarter of a pixel; of a run of points on one horizontal or vertical
    line only the ends stay, where it turns included. The thinned line lies within an eighth of a
    pixel of the other along each axis, everywhere.
    """
    keep = np.isfinite(x) & np.isfinite(y)
    x, y = (np.round(v[keep] / GRID) * GRID for v in (x, y))
    if len(x) < 3:
        return x, y
    moved = np.append(True, (np.diff(x) != 0) | (np.diff(y) != 0))
    x, y = x[moved], y[moved]
    if len(x) < 3:
        return x, y
    steps = np.sign(np.diff(x)), np.sign(np.diff(y))
    straight = np.zeros(len(x), dtype=bool)
    for one, other in (steps, steps[::-1]):
        straight[1:-1] |= (one[:-1] == 0) & (one[1:] == 0) & (other[:-1] == other[1:])
    return x[~straight], y[~straight]


def steps_after(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of steps: each value holds until the next place."""
    if len(x) < 2:
        return x, y
    return np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]


def path(x: np.ndarray, y: np.ndarray) -> str:
    """Return an SVG path through points; horizontal and vertical lines in their short form."""
    if not len(x):
        return ""
    said = [f"M{x[0]:g} {y[0]:g}"]
    for i in range(1, len(x)):
        if y[i] == y[i - 1]:
            said.append(f"H{x[i]:g}")
        elif x[i] == x[i - 1]:
            said.append(f"V{y[i]:g}")
        else:
            said.append(f"L{x[i]:g} {y[i]:g}")
    return "".join(said)


def dense(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points along a polyline that are as close as the words of a key."""
    if len(x) < 2:
        return x, y
    length = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    at = np.linspace(0.0, length[-1], 400)
    return np.interp(at, length, x), np.interp(at, length, y)
