"""Data of every plot, of one to six systems with long names, and where its texts lie."""

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.text import Text

import bioeval as be
from bioeval.plot.systems import PLOTS

#: Plots of one result whatever is given; the others take several by name.
ONE = {name for name, plot in PLOTS.items() if plot.one_system} - {"error_rates"}
ONE |= {"matrix", "ranked_lists"}
MANY = sorted(set(PLOTS) - ONE)

NAMES = (
    "ResNet-100, ArcFace, WebFace42M, flip-averaged",
    "ViT-B/16 fine-tuned on faces of two cameras",
    "vendor 3, release 2026-05-17, fast templates",
    "EER 0.02 baseline",
    "fusion of all systems by logistic regression",
    "periocular, left and right eye, infrared light",
)
GROUPS = np.array(["women, 18 to 30 years", "men, 18 to 30 years", "women, over 30 years"])
CUTS = be.partition.ProbeGallerySplit(1, n_repeats=8, random_state=0)


@functools.cache
def scores(i: int = 0, dimensions: int = 20) -> be.Scores:
    """Return scores of system `i`; each system is worse than its predecessor."""
    within = 0.62 + 0.05 * i
    return be.simulate(30, 4, dimensions=dimensions, within=within, random_state=i)


def tracked(i: int) -> Any:
    truth = [(f, k, 20 * k, 0, 10, 10) for f in range(1, 21) for k in (1, 2, 3)]
    shift = np.random.default_rng(i).normal(0, 1 + 0.3 * i, len(truth))
    result = [
        (f, k + 10 * (f > 12 and k == 2), x + dx, y, w, h)
        for (f, k, x, y, w, h), dx in zip(truth, shift, strict=True)
        if (f + k) % 7
    ]
    return be.tracking(truth, result)


def ranking(i: int) -> Any:
    systems = {name: be.simulate(8, 4, random_state=k) for k, name in enumerate("abc")}
    few = be.stats.IntervalMethod("people", replicates=100)
    return be.compare(systems, measures=["eer", "auc"], interval=few)


def lists(i: int) -> be.Scores:
    values = np.random.default_rng(0).random((4, 12))
    return be.Scores(values, [1, 2, 3, 9], np.repeat([1, 2, 3], 4))


#: The result of the system of a number, by plot.
_RESULTS: dict[str, Callable[[int], Any]] = {
    **dict.fromkeys(("roc", "det", "error_rates"), lambda i: be.verification(scores(i))),
    "dir_far": lambda i: be.open_set(scores(i)),
    "cmc": lambda i: be.closed_set(scores(i, 6)),
    **dict.fromkeys(("score_distributions", "matrix"), scores),
    "gom": lambda i: be.gom(scores(i), convention="viper"),
    "precision_recall": lambda i: be.reid(scores(i), "viper"),
    "ranked_lists": lists,
    "zoo": lambda i: be.zoo(scores(i), permutations=100),
    "gallery_size": lambda i: be.gallery_size(scores(i, 8), [2, 5, 10, 30]),
    "ranking": ranking,
    "hota": tracked,
    "worst_pairs": lambda i: be.worst_pairs(be.datasets.faces(("eigenfaces", "pixels")[i % 2]), 5),
    "threshold_study": lambda i: be.study_threshold(scores(1), folds=3, repeats=2),
    "repeated": lambda i: be.repeat(scores(i, 6), CUTS, curves=True)["closed_set"],
    "folds": lambda i: be.cross_evaluate(scores(1), be.partition.SubjectKFold(5)),
    "groups": lambda i: be.by_group(scores(1), GROUPS[np.asarray(scores(1).probe_labels) % 3]),
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
