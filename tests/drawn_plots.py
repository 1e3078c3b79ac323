"""Data of every plot, of one to six systems with long names, and where its texts lie."""

import functools
import itertools
from collections.abc import Callable
from typing import Any

from matplotlib.figure import Figure
from matplotlib.text import Text
from study_cases import study_cases
from systems import NAMES, scores

import bioeval as be
from bioeval.plot.systems import PLOTS

#: Plots of one result whatever is given; the others take several by name.
ONE = {name for name, plot in PLOTS.items() if plot.one_system} - {"error_rates"}
ONE |= {"matrix", "ranked_lists"}
MANY = sorted(set(PLOTS) - ONE)


#: The result of the system of a number, by plot.
_RESULTS: dict[str, Callable[[int], Any]] = {
    **dict.fromkeys(("roc", "det", "error_rates"), lambda i: be.verification(scores(i))),
    "dir_far": lambda i: be.open_set(scores(i)),
    "cmc": lambda i: be.closed_set(scores(i, 6)),
    **dict.fromkeys(("score_distributions", "matrix"), scores),
    **study_cases("PLOTS"),
}

#: Plots whose words lie beside each other inside the axes, as near as the data are.
INSIDE = {"groups", "matrix", "ranked_lists", "worst_pairs", "zoo"}

_result = functools.cache(lambda make, i: make(i))


def made_for(name: str, system: int = 0) -> Any:
    """Return the data that a plot draws of the system of a number."""
    return _result(_RESULTS[name], system)


def drawn(name: str, systems: int = 1, **options: Any) -> Any:
    """Return the display of a plot of so many systems, drawn with its canvas."""
    drawings = [made_for(name, i) for i in range(systems)]
    data = drawings[0] if name in ONE else dict(zip(NAMES, drawings, strict=False))
    if name == "ranked_lists":
        options |= {"thresholds": [0.2, 0.6], "convention": "vehicleid"}
    display = getattr(be.plot, name)(data, **options)
    display.figure_.canvas.draw()
    return display


def texts(figure: Figure) -> list[Text]:
    """Return the texts of a figure that are seen; labels of ticks beyond an axis are not."""
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.majorTicks, *axis.minorTicks):
                if not axes.axison or not low <= tick.get_loc() <= high:
                    hidden |= {tick.label1, tick.label2}
            if not axes.axison:
                hidden.add(axis.label)
    visible = [text for text in figure.findobj(Text) if text.get_visible() and text not in hidden]
    return [text for text in visible if text.get_text().strip()]


def overlap(a, b) -> bool:
    """Whether two boxes have more than a pixel in common, across and down."""
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 1.5 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1.5


def holds(figure: Figure, name: str) -> None:
    """Check that texts are inside the figure, do not overlap, and are off the axes."""
    renderer = figure.canvas.get_renderer()
    boxes = {text: Text.get_window_extent(text, renderer) for text in texts(figure)}
    picture = figure.bbox.padded(2)
    for text, box in boxes.items():
        fits = picture.x0 <= box.x0 and box.x1 <= picture.x1
        fits &= picture.y0 <= box.y0 and box.y1 <= picture.y1
        assert fits, f"{text.get_text()!r} leaves the figure"
    frames = [axes.get_window_extent(renderer) for axes in figure.axes if axes.axison]
    labels = [axis.label for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]
    for text in (*figure.texts, *labels):
        for frame in frames:
            if text in boxes:
                assert not overlap(boxes[text], frame), f"{text.get_text()!r} lies on axes"
    for (first_text, first_box), (second_text, second_box) in itertools.combinations(
        boxes.items(), 2
    ):
        if name in INSIDE and first_text.axes is not None and first_text.axes is second_text.axes:
            continue
        assert not overlap(first_box, second_box), (
            f"{first_text.get_text()!r} lies on {second_text.get_text()!r}"
        )
