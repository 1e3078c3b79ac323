"""The curves of a page as SVG: visible paths, and marks that move; and the plots of matplotlib.

The paths are drawn here, so that they are there on paper and without a script; the script of the
page moves the marks to the places that are stored for each row.
"""

from __future__ import annotations

import base64
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bioeval.attempts.points import per_cent
from bioeval.base.kinds import noun_of
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Term, Text, say
from bioeval.page.parts import (
    BOTH,
    ArrayStore,
    LivePart,
    PageItem,
    attempts_of,
    grouped,
)
from bioeval.plot.files import display_of, plot_files, save
from bioeval.results.histogram import ScoreHistograms
from bioeval.views.images import Images
from bioeval.views.sections.evaluation import is_identification
from bioeval.views.terms import words_of
from bioeval.views.writers.lines import Lines

# Ticks of an axis of normal deviates, as proportions.
_DEVIATES = (1e-6, 1e-5, 1e-4, 0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98)
_NEAR_ONE = (0.995, 0.999)


# A longer axis lies: its labels stand side by side.
_TALL = 400


@dataclass(frozen=True)
class Axis:
    """One axis: ``linear``, ``log``, or ``probit`` (normal deviates)."""

    scale: str
    low: float
    high: float
    start: float  # place of `low` in the picture
    end: float  # place of `high`
    name: str
    percent: bool = False  # whether ticks are in per cent
    first: bool = False  # whether the beginning has a tick

    def place(self, values: np.ndarray) -> np.ndarray:
        """Return places of values; beyond the axis its ends, beyond normal deviates none."""
        values = np.asarray(values, dtype=float)
        clipped = np.clip(values, self.low, self.high)
        if self.scale == "probit":
            clipped = np.where(values > self.high, np.nan, clipped)
        low = self._scaled(self.low)
        high = self._scaled(self.high)
        at = self._scaled(clipped)
        return self.start + (at - low) / (high - low) * (self.end - self.start)

    def _scaled(self, values: np.ndarray | float) -> np.ndarray:
        if self.scale == "log":
            return np.log10(values)
        if self.scale == "probit":
            return scipy.special.ndtri(values)
        return np.asarray(values)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """The places of the ticks and their labels."""
        at = np.array(self._ticks())
        at = at[(self.low <= at) & (at <= self.high)]
        ticks = []
        before, least = "", -math.inf
        for place, value in zip(self.place(at).tolist(), at.tolist(), strict=True):
            label, room = self._label(value), 14.0
            if abs(self.end - self.start) > _TALL:
                room = 3.4 * (len(label) + len(before)) + 7
            if abs(place - least) >= room:
                before, least = label, round(place, 1)
                ticks.append((least, label))
        return ticks

    def _ticks(self) -> list[float]:
        """Return ticks of a scale, some of them perhaps outside of the axis."""
        if self.scale == "log":
            first = math.ceil(math.log10(self.low) - 1e-9)
            last = math.floor(math.log10(self.high))
            return [10.0**power for power in range(first, last + 1)]
        if self.scale == "probit":
            return [*_DEVIATES, *_NEAR_ONE]
        locator = MaxNLocator(6, steps=[1, 2, 2.5, 5, 10])
        ticks = np.asarray(locator.tick_values(self.low, self.high), dtype=float)
        if self.first:
            return [self.low, *ticks[ticks > self.low]]
        return ticks.tolist()

    def _label(self, value: float) -> str:
        if self.percent:
            return per_cent(value)
        if abs(value) > 1e-12:
            return f"{value:g}"
        return "0"


WIDTH, HEIGHT = 560, 400
LEFT, RIGHT, TOP, BOTTOM = 66, 26, 14, 52


def across(scale: str, low: float, high: float, name: str, **how: bool) -> Axis:
    """Return the horizontal axis of a figure."""
    return Axis(scale, low, high, LEFT, WIDTH - RIGHT, name, **how)


def upwards(name: str, scale: str = "linear", low: float = 0.0, high: float = 1.0) -> Axis:
    """Return the vertical axis of a figure, of proportions."""
    return Axis(scale, low, high, HEIGHT - BOTTOM, TOP, name, percent=True)


#: Places in a picture are rounded to this part of a pixel; that is how far a curve may move.
GRID = 0.25


def thinned(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of a polyline in pixels, without those that cannot be seen.

    Points are rounded to a quarter of a pixel; of a run of points on one horizontal or vertical
    line only the ends stay, where it turns included. The thinned line lies within an eighth of a
    pixel of the other along each axis, everywhere.
    """
    keep = np.isfinite(x) & np.isfinite(y)
    x = np.round(x[keep] / GRID) * GRID
    y = np.round(y[keep] / GRID) * GRID
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
    """Return points along a polyline that are dense enough to find room for the key."""
    if len(x) < 2:
        return x, y
    length = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    at = np.linspace(0.0, length[-1], 400)
    return np.interp(at, length, x), np.interp(at, length, y)


_BOUNDED = ("roc", "error_rates", "dir_far", "cmc")
_BAND = (
    "Where there are no errors, the band is the bound from the number of people and may be wide."
)

#: Colours of the two classes, and of the rates of their errors.
GENUINE, IMPOSTOR = 0, 1
_COLOURS = {"far": IMPOSTOR, "frr": GENUINE}


@dataclass
class PageFigure:
    """One picture: axes, curves, marks."""

    plot: str  # what it is, as data-plot
    title: str
    x: Axis
    y: Axis
    curves: list[dict[str, Any]] = field(default_factory=list)
    marks: list[dict[str, Any]] = field(default_factory=list)  # of operating points
    movers: list[dict[str, Any]] = field(default_factory=list)
    outlines: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    note: str = ""
    table: dict[str, Any] | None = None  # of a histogram: its bins, for the CSV file
    file: str = ""  # its name, and its id in the page

    width, left, right, top = WIDTH, LEFT, RIGHT, TOP

    @cached_property
    def key(self) -> tuple[float, float]:
        """Where the key begins: in a corner without curves, or else below the axes."""
        names = list(map(itemgetter("name"), self.keyed))
        wide, high = 46 + 7.2 * max(map(len, names), default=0), 17 * len(names)
        for y in (TOP + 14, HEIGHT - BOTTOM - 12 - 17 * (len(names) - 1)):
            for x in (max(LEFT + 12, WIDTH - RIGHT - wide), LEFT + 12):
                if not self._covers(x - 8, x + wide, y - 14, y + high):
                    return x, y
        return LEFT, HEIGHT + 8

    def _covers(self, left: float, right: float, top: float, bottom: float) -> bool:
        """Whether a curve passes through a rectangle."""
        for x, y in self.outlines:
            if ((x > left) & (x < right) & (y > top) & (y < bottom)).any():
                return True
        return False

    @property
    def below(self) -> int:
        """The height of a key that is below the axes."""
        return 17 * len(self.keyed) + 8 if self.keyed and self.key[1] > HEIGHT else 0

    @property
    def height(self) -> int:
        """The height of the picture."""
        return HEIGHT + self.below

    @property
    def bottom(self) -> int:
        """The height of the area below the horizontal axis."""
        return BOTTOM + self.below

    @property
    def keyed(self) -> list[dict[str, Any]]:
        """The curves in the key; a single curve needs no key."""
        named = [curve for curve in self.curves if curve["name"]]
        if len(named) > 1:
            return named
        return []

    @property
    def description(self) -> str:
        """Description of the picture in words."""
        names = ", ".join(dict.fromkeys(map(itemgetter("name"), self.curves)))
        return f"{self.title}. {self.y.name} against {self.x.name}. Curves: {names}."

    def draw(
        self, name: str, hue: int, dash: int, x: np.ndarray, y: np.ndarray, stepped: bool = True
    ) -> None:
        """Add a curve of steps or lines, thinned; nothing where no rate is defined."""
        if stepped:
            x, y = steps_after(x, y)
        if not (np.isfinite(x) & np.isfinite(y)).any():
            return
        self.outlines.append(dense(x, y))
        x, y = thinned(x, y)
        self.curves.append(
            {"name": name, "hue": hue % 7, "dash": dash % 7, "path": path(x, y), "kind": "line"}
        )

    def fill(self, hue: int, x: np.ndarray, y: np.ndarray) -> None:
        """Add the area inside a line."""
        self.curves.append(
            {"name": "", "hue": hue % 7, "dash": 0, "path": path(x, y) + "Z", "kind": "band"}
        )

    def band(self, hue: int, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        """Add an area between two curves of steps."""
        finite = np.isfinite(low) & np.isfinite(high) & np.isfinite(x)
        if finite.sum() < 2:
            return
        there = np.array(thinned(*steps_after(x[finite], low[finite])))
        back = np.array(thinned(*steps_after(x[finite], high[finite])))[:, ::-1]
        corners = np.hstack([there, back])
        self.fill(hue, corners[0], corners[1])

    def mark(self, hue: int, x: float, y: float, text: str) -> None:
        """Mark an operating point."""
        px = round(float(self.x.place(np.array(x))), 1)
        py = round(float(self.y.place(np.array(y))), 1)
        if math.isfinite(px) and math.isfinite(py):
            self.marks.append({"x": px, "y": py, "hue": hue % 7, "text": text})


# Letters of a name in a key, at most: what is between its ends is left out.
_LETTERS = 40


def _short(name: str) -> str:
    if len(name) <= _LETTERS:
        return name
    return f"{name[: _LETTERS // 2]} ... {name[-_LETTERS // 2 + 5 :]}"


@dataclass(frozen=True)
class Drawing:
    """Properties shared by all figures of a page: array store, and number of systems."""

    store: ArrayStore
    hues: dict[str, int]
    several: bool

    def name(self, live: LivePart) -> str:
        """Return the label of the curve of a part; of several systems a section has one each."""
        if self.several or not live.part.label:
            return _short(live.part.system)
        return _short(live.part.label)

    def hue(self, live: LivePart) -> int:
        """Return the number of the colour of a curve: of a system, or of the templates of one."""
        if self.several:
            return self.hues[live.part.system]
        return int(live.part.task == BOTH[1])


def figures_of(parts: list[LivePart], drawing: Drawing) -> list[PageFigure]:
    """Return the figures of one task, with all systems in one where they share an axis.

    A figure without a curve, such as against a FAR without impostor attempts, is left out.
    """
    figures = []
    rates, directed, ranked, opened = [], [], [], []
    for live in parts:
        if {"far", "frr", "gar"} <= set(live.columns):
            rates.append(live)
        if "dir" in live.ranked and "far" in live.columns:
            directed.append(live)
        if {"cms", "cmc"} & set(live.by_rank):
            ranked.append(live)
        if {"mrep", "mfr"} <= set(live.columns):
            opened.append(live)
    together = list(grouped(rates, lambda live: live.part.task).values())
    on_one_axis = [rates] if rates and not drawing.several else together
    for same in on_one_axis:
        figures += [_roc(same, drawing), _det(same, drawing)]
    for same in together:
        for in_units in grouped(same, lambda live: live.part.units).values():
            figures.append(_error_rates(in_units, drawing))
    for live in rates:
        histogram = _histogram(live, drawing)
        if histogram is not None:
            figures.append(histogram)
    if directed:
        figures.append(_dir_far(directed, drawing))
    if ranked:
        figures.append(_cmc(ranked, drawing))
    if opened:
        figures.append(_gom(opened, drawing))
    for fig in figures:
        kinds = set(map(itemgetter("kind"), fig.curves))
        if "band" in kinds and fig.plot in _BOUNDED:
            fig.note = " ".join(filter(None, [fig.note, _BAND]))
    return [fig for fig in figures if fig.curves]


def _floor(parts: list[LivePart], name: str) -> float:
    """Return a power of ten below the smallest rate that the attempts can show."""
    most = max(attempts_of(live.part, name) for live in parts)
    return 10.0 ** -max(1, int(np.ceil(np.log10(max(10, most)))))


def _ascending(live: LivePart) -> slice:
    """Return the rows from the strictest threshold to the loosest."""
    return slice(None, None, -1) if live.part.accepts_larger else slice(None)


def _says(parts: list[LivePart], text: Text) -> str:
    """Return a text in the words of the first part."""
    dataset = parts[0].part.dataset
    task = rates_are_of(dataset.attrs, searches=is_identification(dataset))
    return Lines(words_of(dataset), task).write(text)


def _limits(
    fig: PageFigure, rates: Mapping[str, np.ndarray], name: str, hue: int, x: np.ndarray, shown: Any
) -> None:
    """Add the confidence limits of a rate, if it has any, over the rows that are shown."""
    if {f"{name}_low", f"{name}_high"} <= set(rates):
        low = fig.y.place(rates[f"{name}_low"])[shown]
        high = fig.y.place(rates[f"{name}_high"])[shown]
        fig.band(hue, x[shown], low, high)


def _moves(
    fig: PageFigure,
    live: LivePart,
    hue: int,
    drawing: Drawing,
    x: np.ndarray,
    y: np.ndarray,
    by: str = "row",
) -> None:
    """Add a mark that moves with a row or a rank."""
    fig.movers.append(
        {
            "part": live.number,
            "hue": hue % 7,
            "by": by,
            "x": drawing.store.pixels(x),
            "y": drawing.store.pixels(y),
            "xs": x,
            "ys": y,
        }
    )


def _about(parts: list[LivePart]) -> str:
    """Return the subject of the curves of a figure in words."""
    first, *others = grouped(parts, lambda live: live.part.words)
    return "verification" if others else first


def _least(curves: Iterable[np.ndarray]) -> float:
    """Return the smallest value of some curves."""
    return float(min(map(np.fmin.reduce, curves)))


def _roc(parts: list[LivePart], drawing: Drawing) -> PageFigure:
    """Return the GAR against the FAR; the axis of a high GAR starts at 90 %."""
    floor = _floor(parts, "impostor_attempts")
    x = across("log", floor, 1.0, _says(parts, say("{far}")), percent=True)
    low = 0.0 if _least(live.columns["gar"] for live in parts) < 0.97 else 0.9
    y = upwards(_says(parts, say("{gar}")), low=low)
    fig = PageFigure("roc", f"ROC: {_about(parts)}", x, y)
    fig.note = f"Logarithmic axis; {x.name} below {x.ticks[0][1]} is drawn at the left edge."
    _rate_curves(fig, parts, drawing, "gar")
    return fig


def _det(parts: list[LivePart], drawing: Drawing) -> PageFigure:
    """Return the FRR against the FAR on axes of normal deviates, with the EER of each system."""
    floor = _floor(parts, "impostor_attempts")
    x = across("probit", floor, 0.9, _says(parts, say("{far}")), percent=True)
    y = upwards(_says(parts, say("{frr}")), "probit", _floor(parts, "genuine_attempts"), 0.9)
    fig = PageFigure("det", f"DET: {_about(parts)}", x, y)
    fig.note = (
        "Axes of normal deviates; the circle is the equal error rate. Rates below an axis are "
        "drawn at its edge, without a band."
    )
    _rate_curves(fig, parts, drawing, "frr")
    for live in parts:
        ds = live.part.dataset
        if "far_at_eer" in ds and "eer" in ds:
            far = float(ds["far_at_eer"])
            frr = float(ds["frr_at_eer"])
            fig.mark(drawing.hue(live), far, frr, f"EER of {live.part.system}")
    return fig


def _rate_curves(fig: PageFigure, parts: list[LivePart], drawing: Drawing, y: str) -> None:
    """Draw a rate of each system against its FAR."""
    for live in parts:
        hue, values = drawing.hue(live), live.columns[y]
        px, py = fig.x.place(live.columns["far"]), fig.y.place(values)
        order = np.arange(len(values))[_ascending(live)]
        # Off an axis of normal deviates there is no curve that a band could be around.
        shown = order[values[order] >= fig.y.low] if fig.y.scale == "probit" else order
        _limits(fig, live.columns, y, hue, px, shown)
        fig.draw(drawing.name(live), hue, hue, px[order], py[order])
        _moves(fig, live, hue, drawing, px, py)


def _score_axis(part: PageItem, low: float, high: float) -> Axis:
    """Return an axis of scores; its label tells the direction of close ones."""
    noun = noun_of(part.kind).capitalize()
    better = "larger" if part.accepts_larger else "smaller"
    if not low < high:
        low, high = low - 0.5, high + 0.5
    return across("linear", low, high, f"{noun} ({better} is closer)")


def _ends(parts: list[LivePart]) -> tuple[float, float]:
    """Return the smallest and the largest finite threshold of some parts."""
    every = np.concatenate([live.thresholds for live in parts])
    finite = every[np.isfinite(every)]
    return float(finite.min()), float(finite.max())


def _error_rates(parts: list[LivePart], drawing: Drawing) -> PageFigure:
    """Return FAR and FRR by threshold; one system has the colours of the classes."""
    low, high = _ends(parts)
    x = _score_axis(parts[0].part, low, high)
    y = upwards(_says(parts, "Error rate"))
    title = _says(parts, say("{far} and {frr} by threshold"))
    fig = PageFigure("error_rates", f"{title}: {parts[0].part.words}", x, y)
    for live in parts:
        shown = np.flatnonzero(np.isfinite(live.thresholds))[_ascending(live)]
        px = x.place(live.thresholds)
        for dash, name in enumerate(("far", "frr")):
            label, colour = _says(parts, Term(name)), _COLOURS[name]
            if drawing.several:
                label, colour = f"{drawing.name(live)} {label}", drawing.hue(live)
            py = y.place(live.columns[name])
            _limits(fig, live.columns, name, colour, px, shown)
            fig.draw(label, colour, dash, px[shown], py[shown])
            _moves(fig, live, colour, drawing, px, py)
    _line_at_threshold(fig, parts, drawing)
    return fig


def _line_at_threshold(fig: PageFigure, parts: list[LivePart], drawing: Drawing) -> None:
    """Add a vertical line at the threshold of each group."""
    for live, *_ in grouped(parts, lambda live: live.group).values():
        fig.movers.append(
            {
                "part": live.number,
                "hue": drawing.hue(live) % 7,
                "by": "threshold",
                "low": fig.x.low,
                "high": fig.x.high,
                "start": fig.x.start,
                "end": fig.x.end,
            }
        )


def _histogram(live: LivePart, drawing: Drawing) -> PageFigure | None:
    """Return the counts of each class between thresholds of the dataset, as histograms."""
    histograms = ScoreHistograms.between_thresholds(live.part.dataset).by_class
    if len(histograms) < 2:
        return None
    at = next(iter(histograms.values())).edges
    x = _score_axis(live.part, float(at[0]), float(at[-1]))
    top = max(float(each.density.max()) for each in histograms.values()) or 1.0
    y = replace(upwards("Density within each class", high=1.05 * top), percent=False)
    who = f" ({live.part.system})" if drawing.several else ""
    *classes, last = histograms
    said = f"{', '.join(classes)} and {last}"
    title = f"{said.capitalize()} scores{who}: {live.part.words}"
    fig = PageFigure("histogram", title, x, y)
    fig.table = {"from": at[:-1].tolist(), "to": at[1:].tolist()}
    px = np.repeat(x.place(at), 2)
    base = y.place(np.zeros(1))
    for i, (name, each) in enumerate(histograms.items()):
        py = np.concatenate([base, np.repeat(y.place(each.density), 2), base])
        fig.fill(i, px, py)
        fig.draw(name.capitalize(), i, i, px, py, stepped=False)
        fig.table[name] = each.counts.tolist()
    _line_at_threshold(fig, [live], drawing)
    return fig


def _dir_far(parts: list[LivePart], drawing: Drawing) -> PageFigure:
    """Return DIR against FAR: of several systems at rank 1, of one at ranks 1, 5 and 10."""
    floor = _floor(parts, "impostor_attempts")
    x = across("log", floor, 1.0, _says(parts, say("{far}")), percent=True)
    y = upwards(_says(parts, say("{dir}")))
    title = say("{dir} against {far}: {words}", words=parts[0].part.words)
    fig = PageFigure("dir_far", _says(parts, title), x, y)
    fig.note = "The mark is at the rank of the page."
    for live in parts:
        hue, order = drawing.hue(live), _ascending(live)
        px = x.place(live.columns["far"])
        dirs = y.place(live.ranked["dir"])
        at_1 = {name: values[:, 0] for name, values in live.ranked.items() if values.shape[1]}
        _limits(fig, at_1, "dir", hue, px, order)
        ranks = [1] if drawing.several else [1, 5, 10]
        for i, rank in enumerate(ranks):
            if rank > dirs.shape[1]:
                break
            name, colour = f"rank {rank}", i
            if drawing.several:
                name, colour = f"{drawing.name(live)}, {name}", hue
            fig.draw(name, colour, colour, px[order], dirs[order, rank - 1])
        _moves(fig, live, hue, drawing, px, dirs, "row-rank")
    return fig


def _cmc(parts: list[LivePart], drawing: Drawing) -> PageFigure:
    """Return the CMC of some parts: CMS where all have it, and of those without another rate."""
    name = "cms" if all("cms" in live.by_rank for live in parts) else "cmc"
    names, curves = [], []
    for live in parts:
        names.append(name if name in live.by_rank else "cms")
        curves.append(live.by_rank[names[-1]])
    most = max(2, min(50, max(10, last_change(curves)), max(live.ranks for live in parts)))
    x = across("linear", 1.0, float(most), "Rank k", first=True)
    least, low = _least(curves), 0.0
    if np.isfinite(least):
        low = max(0.0, np.floor(10 * least - 0.5) / 10)
    rate = _says(parts, Term("cms")) if name == "cms" else "CMC"  # the standard has no CMC
    fig = PageFigure("cmc", f"CMC: {parts[0].part.words}", x, upwards(rate, low=low))
    for live, name, values in zip(parts, names, curves, strict=True):
        hue, ranks = drawing.hue(live), np.arange(1, len(values) + 1)
        px, py = x.place(ranks), fig.y.place(values)
        shown = slice(0, most)
        _limits(fig, live.by_rank, name, hue, px, shown)
        fig.draw(drawing.name(live), hue, hue, px[shown], py[shown], stepped=False)
        _moves(fig, live, hue, drawing, np.where(ranks > most, np.nan, px), py, "rank")
    return fig


def last_change(curves: list[np.ndarray]) -> int:
    """Return the rank beyond which no curve changes."""
    last = 1
    for values in curves:
        moves = np.abs(np.diff(values)) > 0
        last = max(last, 2 + int(np.flatnonzero(moves).max(initial=-1)))
    return last


def _gom(parts: list[LivePart], drawing: Drawing) -> PageFigure:
    """Return the rates of GOM by threshold, without one that no part has."""
    low, high = _ends(parts)
    rates = {}
    for name, word in (("mrep", "mReP"), ("mfr", "mFR")):
        if not np.isnan(np.concatenate([live.columns[name] for live in parts])).all():
            rates[name] = word
    said = " and ".join(rates.values())
    x = across("linear", low, high, "Threshold")
    fig = PageFigure("gom", f"GOM: {said} by threshold", x, upwards(said))
    for live in parts:
        px = x.place(live.thresholds)
        for i, (name, word) in enumerate(rates.items()):
            colour = i
            if drawing.several:
                word, colour = f"{drawing.name(live)} {word}", drawing.hue(live)
            py = fig.y.place(live.columns[name])
            fig.draw(word, colour, i, px, py, stepped=False)
            _moves(fig, live, colour, drawing, px, py)
    return fig


# What the page shows by itself.
_LIVE = ("roc", "det", "error_rates", "cmc", "dir_far", "gom", "attack_scores")

# Words of the names of plots that are abbreviations.
_SHORT = ("apcer", "det", "epc", "far", "hota", "iapar", "pad")

#: Pictures of one system each, at most.
MOST = 12


def pictures_of(parts: list[PageItem], images: Images) -> Iterator[dict[str, Any]]:
    """Return every static plot: its name, title and SVG as a data address."""
    given = {"images": images.column, "image_folder": images.folder}
    results: dict[str, dict[str, Any]] = {}
    first: dict[str, PageItem] = {}
    for part in parts:
        results.setdefault(part.task, {})[part.system] = part.dataset
        first.setdefault(part.task, part)
    drawn = 0
    for task, of_task in results.items():
        data = next(iter(of_task.values())) if len(of_task) == 1 else of_task
        for drawing in plot_files(data, _LIVE):
            if drawn == MOST:
                return
            options = given if drawing.plot.images else {}
            display = display_of(drawing.plot.name).from_results(drawing.data, **options)
            if options and display.why_empty:
                continue
            drawn += 1
            words = drawing.stem.replace("_", "-").split("-")
            for i, word in enumerate(words):
                if word in _SHORT:
                    words[i] = word.upper()
            title = " ".join(filter(None, (*words, drawing.system)))
            title = f"{title[0].upper()}{title[1:]}"
            of_type = first[task].dataset.attrs.get("result_type")
            if drawing.plot.name.replace("_", "-") != of_type:
                title += f": {first[task].words}"
            figure = Figure(layout="constrained")
            display.plot(figure, **drawing.options)
            source, wide = as_address(figure)
            file = filter(None, (drawing.stem, task.replace("/", "-"), drawing.system))
            yield {
                "plot": drawing.plot.name,
                "title": title,
                "file": "-".join(file),
                "source": source,
                "wide": wide,
            }


def as_address(figure: Figure) -> tuple[str, bool]:
    """Return a figure as a data address of SVG, and whether it takes two columns."""
    with tempfile.TemporaryDirectory() as folder:
        raw = save(figure, Path(folder) / "plot.svg").read_bytes()
    width, height = figure.get_size_inches()
    address = "data:image/svg+xml;base64," + base64.b64encode(raw).decode("ascii")
    return address, bool(width > 1.6 * height)
