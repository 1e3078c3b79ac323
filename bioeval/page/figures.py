"""The figures of a page: curves with a mark at the threshold, images of pairs, other plots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from bioeval.base.errors import printable
from bioeval.page.results import PageResults, is_evaluation
from bioeval.page.svg import places_in_svg, svg_of
from bioeval.page.threshold import Moving, RatesByThreshold, values_at
from bioeval.plot.det_plots import det
from bioeval.plot.display import Display
from bioeval.plot.files import PlotFile, plot_files
from bioeval.plot.score_plots import draw_histograms
from bioeval.plot.worst_pair_plots import worst_pairs
from bioeval.results.histogram import ScoreHistograms
from bioeval.showing.images import Images

#: Pairs of each kind, at most, whose pictures are shown.
_MOST_PAIRS = 5

#: Other plots of a page, at most, and histograms of scores among them.
_MOST, _MOST_HISTOGRAMS = 8, 4

#: Plots that are above (the ROC has the rates of the DET), and what the control shows.
_SHOWN = ("worst_pairs", "det", "roc", "error_rates")

#: Marks: a rhombus on a curve; the colour of a line at a threshold, and the number of colours.
_RHOMBUS, _COLOUR_OF_LINE, _COLOURS = "M0 -5L5 0L0 5L-5 0Z", 6, 7

#: Points of an inch, in which the places in a figure are counted.
_POINTS = 72


class PageFigures:
    """The figures of the results of a page; `marks` have their places at each threshold."""

    def __init__(self, results: PageResults, control: Moving | None, images: Images):
        self.results = results
        self.control = control
        self.images = images
        self.is_of_several = len(results.systems) > 1
        self.marks: list[list[Any]] = []
        self._drawn_so_far = 0

    def first(self) -> list[str]:
        """Return the figures of the first view: the DET, and the images of the worst pairs."""
        figures = []
        if self.control is not None:
            task = self.control.leader.node.task
            curves = {x.system: x for x in self.control.rows if x.node.task == task}
            data = {system: curve.dataset for system, curve in curves.items()}
            figures.append(self._drawn("DET", partial(det, self._alone(data)), curves=curves))
        pairs = {x.system: x.dataset for x in self.results.nodes if x.result_type == "worst-pairs"}
        if pairs:
            options: Any = {"images": self.images.column, "image_folder": self.images.folder}
            pictures = partial(worst_pairs, self._alone(pairs), pairs=_MOST_PAIRS, **options)
            figures.append(self._drawn("Worst pairs", pictures))
        return [*filter(None, figures)]

    def other_plots(self) -> list[str]:
        """Return the other figures that the results support, histograms of scores first."""
        figures: list[str] = []
        first_curves = self.control.first_curves if self.control is not None else []
        for curve in first_curves:
            if is_evaluation(curve.node) and len(figures) < _MOST_HISTOGRAMS:
                histograms = ScoreHistograms.between_thresholds(curve.dataset)
                if len(histograms.by_class) > 1:
                    by_name = {curve.system if self.is_of_several else "": histograms}
                    draw = partial(draw_histograms, by_name)
                    figures.append(self._drawn(f"scores {curve.system}", draw, line=curve))
        for file in self._files():
            if len(figures) < _MOST:
                name = " ".join(filter(None, (file.stem.replace("-", " "), file.system)))
                figures += filter(None, [self._drawn(name, file.draw)])
        return figures

    def _alone(self, data: Mapping[str, Any]) -> Any:
        return data if self.is_of_several else next(iter(data.values()))

    def _files(self) -> Iterator[PlotFile]:
        by_task: dict[str, dict[str, dict[str, xr.Dataset]]] = {}
        for node in sorted(self.results.nodes, key=lambda node: not is_evaluation(node)):
            task, _, part = node.task.partition("/")
            if node.task.startswith("threshold_study/"):  # a tree of its parts
                by_task[task][node.system][part] = node.dataset
            else:
                by_task.setdefault(node.task, {})[node.system] = {"/": node.dataset}
        if "verification/single" in by_task:
            by_task.pop("verification/multi", None)
        left_out = _SHOWN if self.control is not None else _SHOWN[:1]
        for by_system in by_task.values():
            data: dict[str, Any] = {}
            for system, parts in by_system.items():
                data[system] = xr.DataTree.from_dict(parts) if len(parts) > 1 else parts["/"]
            for file in plot_files(data if len(data) > 1 else next(iter(data.values())), left_out):
                if not file.log:
                    yield file

    def _drawn(
        self,
        title: str,
        draw: Callable[..., Display],
        curves: Mapping[str, RatesByThreshold] | None = None,
        line: RatesByThreshold | None = None,
    ) -> str:
        """Return a figure, with a mark on every curve of `curves`, or with a `line` at a threshold.

        Empty if nothing can be drawn.
        """
        figure = Figure(layout="constrained")
        display = draw(ax=figure)
        if display.why_empty:
            return ""
        self._drawn_so_far += 1
        text = svg_of(figure, f"figure-{self._drawn_so_far}", printable(title))
        if self.control is None:
            return text
        marks = ""
        axes = display.ax_
        height = _POINTS * axes.get_window_extent().height / figure.dpi
        shape = _RHOMBUS if line is None else f"M0 0V-{height:.0f}"
        for colour, x, y in self._marked(self.control, curves or {}, line):
            name = f"mark-{len(self.marks)}"
            places = places_in_svg(figure, axes, x, y)
            self.marks.append([name, places])
            place = places[self.control.start]
            visibility = 'visibility="hidden"'
            if place is not None:
                visibility = f'transform="translate({place[0]} {place[1]})"'
            kind = "mark" if line is None else "limit"
            marks += (
                f'<path id="{name}" class="{kind} c{colour % _COLOURS}" d="{shape}" {visibility}/>'
            )
        return text.removesuffix("</svg>") + marks + "</svg>"

    @staticmethod
    def _marked(
        control: Moving,
        curves: Mapping[str, RatesByThreshold],
        line: RatesByThreshold | None,
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        for colour, curve in enumerate(curves.values()):
            rows = control.rows[curve]
            yield colour, values_at(rows, curve.far), values_at(rows, curve.frr)
        if line is not None:
            thresholds = values_at(control.rows[line], line.thresholds)
            yield _COLOUR_OF_LINE, thresholds, np.zeros(len(thresholds))
