"""Legends, labels and notes lie off the data: their boxes against the drawn curves."""

from __future__ import annotations

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn_plots import MANY, ONE, drawn
from matplotlib.cbook import STEP_LOOKUP_MAP
from matplotlib.legend import Legend
from matplotlib.text import Text

#: Plots whose words belong inside their marks: the cells of a heat map, the boxes of a list.
INSIDE = {"attack_potential", "matrix", "ranked_lists", "spread", "zoo"}


@pytest.fixture(autouse=True)
def nothing_left_behind():
    yield
    plt.close("all")


def boxes(axes, renderer):
    """Return the boxes of the texts and keys of axes, by what is written there."""
    result = {}
    for artist in axes.get_children():
        for one in (artist, *artist.get_children()):
            if isinstance(one, Legend) and one.get_visible():
                message = "key: " + ", ".join(t.get_text() for t in one.get_texts())
            elif isinstance(one, Text) and one.get_visible() and one.get_text().strip():
                if one.get_bbox_patch() is not None:
                    continue  # on a ground of its own: the level of a contour, on its line
                message = one.get_text()
            else:
                continue
            if one not in (axes.title, axes._left_title, axes._right_title):
                result[message] = (
                    Text.get_window_extent(one, renderer)
                    if isinstance(one, Text)
                    else one.get_window_extent(renderer)
                )
    return result


def points(line):
    """Return points along a line as drawn, in pixels, a pixel apart or less."""
    x, y = (np.asarray(values, dtype=float) for values in line.get_data(orig=False))
    if len(x) and line.get_drawstyle() != "default":
        x, y = STEP_LOOKUP_MAP[line.get_drawstyle()](x, y)
    with np.errstate(all="ignore"):
        xy = line.get_transform().transform(np.column_stack([x, y]))
    xy = np.clip(xy[np.isfinite(xy).all(axis=1)], -5000, 5000)
    if len(xy) < 2 or line.get_linestyle() == "None":
        return xy
    length = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(xy, axis=0).T))])
    at = np.linspace(0, length[-1], int(length[-1]) + 2)
    return np.column_stack([np.interp(at, length, xy[:, k]) for k in (0, 1)])


def off_the_data(display):
    """Hold that no text or key lies on a curve, on another one, or outside the picture."""
    figure = display.figure_
    renderer = figure.canvas.get_renderer()
    for axes in figure.axes:
        written = boxes(axes, renderer)
        frame = axes.get_window_extent(renderer)
        for line in axes.lines:
            if not line.get_visible() or line.get_zorder() < 1.5 and len(line.get_xdata()) == 2:
                continue  # references, which are thin and grey
            drawn_at = points(line)
            inside = (drawn_at >= frame.min - 1).all(axis=1) & (drawn_at <= frame.max + 1).all(
                axis=1
            )
            for message, box in written.items():
                over = (drawn_at[inside] > box.min) & (drawn_at[inside] < box.max)
                assert not over.all(axis=1).any(), f"{message!r} lies on {line.get_label()!r}"
        for (one, a), (other, b) in itertools.combinations(written.items(), 2):
            apart = a.x1 <= b.x0 + 1 or b.x1 <= a.x0 + 1 or a.y1 <= b.y0 + 1 or b.y1 <= a.y0 + 1
            assert apart, f"{one!r} lies on {other!r}"
        # A first layout of axes of equal scales is off by a few pixels.
        picture = figure.bbox.padded(8)
        for message, box in written.items():
            inside = picture.x0 <= box.x0 and box.x1 <= picture.x1
            assert inside and picture.y0 <= box.y0 and box.y1 <= picture.y1, f"{message!r} is cut"


@pytest.mark.parametrize("name", sorted(ONE - INSIDE))
@pytest.mark.cases(2)
def test_words_of_one_result_lie_off_the_data(name):
    off_the_data(drawn(name))


@pytest.mark.parametrize("name", MANY)
@pytest.mark.cases(2)
def test_names_of_six_systems_lie_off_the_data(name):
    off_the_data(drawn(name, 6))


@pytest.mark.slow
@pytest.mark.parametrize("systems", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("name", MANY)
def test_names_of_several_systems_lie_off_the_data(name, systems):
    off_the_data(drawn(name, systems))
