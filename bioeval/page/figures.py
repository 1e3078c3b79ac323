"""The figures of a page as SVG: curves with a mark at the threshold, images of pairs, other plots.

Figures of matplotlib are written small, without styles of their own, in the colours of the page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import escape, unescape
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from bioeval.base.errors import printable
from bioeval.page.threshold import PageRates, PageResults, RatesByThreshold, is_evaluation
from bioeval.plot.det_plots import det
from bioeval.plot.display import Display
from bioeval.plot.files import PlotFile, plot_files, svg_text
from bioeval.plot.plot_style import GRID, PALETTE, SHADE, SHADES, Style
from bioeval.plot.score_plots import draw_histograms
from bioeval.plot.systems import joined
from bioeval.plot.worst_pair_plots import worst_pairs
from bioeval.results.histogram import ScoreHistograms
from bioeval.showing.images import Images
from bioeval.showing.text import Text, say

#: Pairs of each kind, at most, whose pictures are shown.
_MOST_PAIRS = 5

#: Other plots of a page, at most, and histograms of scores among them.
_MOST, _MOST_HISTOGRAMS = 8, 4

#: Plots that are above (the ROC has the rates of the DET), and what the table shows.
_SHOWN = ("worst_pairs", "det", "roc", "error_rates")

#: The rhombus of a mark on a curve, the colour of a line at a threshold, and the number of colours.
_RHOMBUS, _COLOUR_OF_LINE, _NUMBER_OF_COLOURS = "M0 -5L5 0L0 5L-5 0Z", 6, 7

#: Points of an inch, in which the places in a figure are counted.
_POINTS = 72


#: The variables of the style sheet that stand for the colours of plots.
_COLOURS = {
    "#ffffff": "var(--ground)",
    Style.text: "var(--text)",
    Style.quiet: "var(--quiet)",
    Style.rule: "var(--rule)",
    GRID: "var(--grid)",
    SHADE: "var(--panel)",
    **{colour.lower(): f"var(--c{i})" for i, colour in enumerate(PALETTE)},
}
for i in range(len(PALETTE)):  # darker shades are lighter on a dark ground
    for k, shade in enumerate(SHADES[1:], 1):
        mixed = f"var(--{'text' if shade < 0 else 'ground'}) {100 * abs(shade):g}%"
        _COLOURS[to_hex(Style.colour(i, k))] = f"color-mix(in srgb, var(--c{i}), {mixed})"

#: Places are rounded to this part of a point.
STEP = 0.1

_NUMBER = re.compile(r"-?\d+\.\d+")
_STYLE = re.compile(r' style="([^"]*)"')
_LINES = re.compile(r' d="([MLz\d\s.-]*)"')
_CURVES = re.compile(r' d="([^"]*[CQ][^"]*)"')


class PageFigures:
    """The figures of the results of a page, with marks at its threshold."""

    def __init__(self, results: PageResults, rates: PageRates | None, images: Images):
        self.results = results
        self.rates = rates
        self.images = images
        self.is_of_several = len(results.systems) > 1
        self._drawn_so_far = 0
        self._left_out: list[str] = []  # names of plots

    def first(self) -> list[str]:
        """Return the figures of the first view: the DET, and the images of the worst pairs."""
        figures = []
        if self.rates is not None:
            task = self.rates.leader.node.task
            curves = {
                curve: row for curve, row in self.rates.rows.items() if curve.node.task == task
            }
            data = {curve.system: curve.dataset for curve in curves}
            places = [
                (math.nan, math.nan) if row is None else (curve.far[row], curve.frr[row])
                for curve, row in curves.items()
            ]
            figures.append(self._drawn("DET", partial(det, self._alone(data)), places))
        pairs = {x.system: x.dataset for x in self.results.nodes if x.result_type == "worst-pairs"}
        if pairs:
            options: Any = {"images": self.images.column, "image_folder": self.images.folder}
            pictures = partial(worst_pairs, self._alone(pairs), pairs=_MOST_PAIRS, **options)
            figures.append(self._drawn("Worst pairs", pictures))
        return [*filter(None, figures)]

    def other_plots(self) -> list[str]:
        """Return the other figures that the results support, histograms of scores first."""
        figures: list[str] = []
        thresholds: dict[RatesByThreshold, float] = {}
        if self.rates is not None:
            for curve in self.rates.first_curves:
                thresholds[curve] = self.rates.cells(curve)["threshold"].value
        for curve, threshold in thresholds.items():
            if is_evaluation(curve.node):
                if len(figures) == _MOST_HISTOGRAMS:
                    self._left_out.append(f"scores {curve.system}")
                    continue
                histograms = ScoreHistograms.between_thresholds(curve.dataset)
                if len(histograms.by_class) > 1:
                    by_name = {curve.system if self.is_of_several else "": histograms}
                    draw = partial(draw_histograms, by_name)
                    figures.append(self._drawn(f"scores {curve.system}", draw, line=threshold))
        for file in self._files():
            name = " ".join(filter(None, (file.stem.replace("-", " "), file.system)))
            if len(figures) < _MOST:
                figures += filter(None, [self._drawn(name, file.draw)])
            else:
                self._left_out.append(name)
        return figures

    def left_out(self) -> Text:
        """Return which plots the page left out for room, and the command that draws them."""
        if not self._left_out:
            return ""
        return say(
            "Not drawn for room: {plots}. bioeval run FILES --out FOLDER --plots draws them.",
            plots=", ".join(self._left_out),
        )

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
        left_out = _SHOWN if self.rates is not None else _SHOWN[:1]
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
        places: Sequence[tuple[float, float]] = (),
        line: float | None = None,
    ) -> str:
        """Return a figure, with marks at `places`, or with a vertical line at a threshold.

        Empty if nothing can be drawn.
        """
        figure = Figure(layout="constrained")
        display = draw(ax=figure)
        if display.why_empty:
            return ""
        self._drawn_so_far += 1
        label = joined(title, display.caption, by=": ")
        text = svg_of(figure, f"figure-{self._drawn_so_far}", printable(label))
        axes = display.ax_
        marks = [_mark(figure, axes, x, y, i) for i, (x, y) in enumerate(places)]
        if line is not None:
            marks.append(_mark(figure, axes, line, 0.0, _COLOUR_OF_LINE, is_line=True))
        return text.removesuffix("</svg>") + "".join(marks) + "</svg>"


def _mark(
    figure: Figure, axes: Axes, x: float, y: float, colour: int, *, is_line: bool = False
) -> str:
    """Return a mark as SVG, at the edge of the axes if its place is outside of them.

    Empty if its place is not defined.
    """
    box = axes.get_window_extent()
    with np.errstate(all="ignore"):
        pixels = axes.transData.transform((x, y))
    right, up = np.clip(pixels, (box.x0, box.y0), (box.x1, box.y1)) * _POINTS / figure.dpi
    if not (math.isfinite(right) and math.isfinite(up)):
        return ""
    down = _POINTS * figure.get_size_inches()[1] - up
    kind, shape = "mark", _RHOMBUS
    if is_line:
        kind, shape = "limit", f"M0 0V-{_POINTS * box.height / figure.dpi:.0f}"
    place = f"translate({right:.4g} {down:.4g})"
    return f'<path class="{kind} c{colour % _NUMBER_OF_COLOURS}" d="{shape}" transform="{place}"/>'


def svg_of(figure: Figure, name: str, title: str) -> str:
    """Return a figure as an SVG element; `name` is the beginning of all its ids."""
    text = svg_text(figure)
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<defs>\s*<style.*?</defs>", "", text, flags=re.S)
    text = re.sub(r"<!--.*?-->|<title>.*?</title>", "", text, flags=re.S)
    width, height = (72 * side for side in figure.get_size_inches())
    head = (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(title)}" '
        'xmlns:xlink="http://www.w3.org/1999/xlink">'
    )
    text = head + text[text.index(">") + 1 :]
    text = _STYLE.sub(lambda match: _attributes(match[1]), text)
    text = _LINES.sub(lambda match: f' d="{_thinned(match[1])}"', text)
    text = _CURVES.sub(lambda match: f' d="{_rounded(match[1], 2)}"', text)
    text = re.sub(r' (x|y|transform)="([^"]*)"', lambda x: f' {x[1]}="{_rounded(x[2], 2)}"', text)
    text = re.sub(r' transform="rotate\(-?0 [^)]*\)"', "", text)
    used = {*re.findall(r'href="#([^"]*)"', text), *re.findall(r"url\(#([^)]*)\)", text)}
    text = re.sub(r' id="([^"]*)"', lambda x: f' id="{name}-{x[1]}"' * (x[1] in used), text)
    text = re.sub(r"(href=\"|url\()#", rf"\1#{name}-", text)
    return re.sub(r">\s+<", "><", text).replace("</svg>", "").strip() + "</svg>"


def _attributes(style: str) -> str:
    written = ""
    for part in unescape(style).split(";"):
        name, _, value = part.strip().partition(":")
        value = value.strip()
        if not name or name == "font-family" or (name, value) == ("stroke-dashoffset", "0"):
            continue
        written += f' {name}="{escape(_COLOURS.get(value, value))}"'
    return written


def _rounded(text: str, decimals: int) -> str:
    return _NUMBER.sub(lambda x: f"{round(float(x[0]), decimals):g}", text)


def _thinned(path: str) -> str:
    """Return lines in steps of a tenth of a point, without corners that cannot be seen."""
    written = []
    for piece in path.split("M")[1:]:
        numbers = re.findall(r"-?[\d.]+", piece)
        points = np.round(np.array(numbers, dtype=float).reshape(-1, 2) / STEP) * STEP
        written.append(_lines(points) + "z" * ("z" in piece))
    return "".join(written)


def _lines(points: np.ndarray) -> str:
    """Return lines through points; a horizontal or vertical run keeps only its ends."""
    moved = np.append(True, (np.diff(points, axis=0) != 0).any(axis=1))
    points = points[moved]
    if len(points) > 2:
        steps = np.sign(np.diff(points, axis=0))
        same = (steps[1:] == steps[:-1]).all(axis=1) & (steps[1:] == 0).any(axis=1)
        points = points[~np.concatenate([[False], same, [False]])]
    path = f"M{points[0, 0]:.6g} {points[0, 1]:.6g}"
    for (x0, y0), (x, y) in zip(points[:-1].tolist(), points[1:].tolist(), strict=True):
        if y == y0:
            path += f"H{x:.6g}"
        elif x == x0:
            path += f"V{y:.6g}"
        else:
            path += f"L{x:.6g} {y:.6g}"
    return path
