"""The curves of a page as SVG: visible paths, and marks that move; and the plots of matplotlib.

The paths are drawn here, so that they are there on paper and without a script; the script of the
page moves the marks to the places that are stored for each row.
"""

from __future__ import annotations

import base64
import math
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bioeval.base import noun_of
from bioeval.results import histograms_between
from bioeval.studies.page.parts import BOTH, ArrayStore, LivePart, PageItem
from bioeval.tallies import per_cent
from bioeval.views import Images, term_translator
from bioeval.views.plots import plot_files, ranks_shown, save

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
        """Return the places of values; values below the axis are put at its start.

        Those above are at its end; beyond normal deviates they have none.
        """
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
        at = [x for x in self._ticks() if self.low <= x <= self.high]
        ticks: list[tuple[float, str]] = []
        for place, value in zip(self.place(np.array(at)).tolist(), at, strict=True):
            label, before = self._label(value), ticks[-1][1] if ticks else ""
            both = len(label) + len(before)
            room = 3.4 * both + 7 if abs(self.end - self.start) > _TALL else 14
            if not ticks or abs(place - ticks[-1][0]) >= room:
                ticks.append((round(place, 1), label))
        return ticks

    def _ticks(self) -> list[float]:
        if self.scale == "log":
            first = math.log10(self.low)
            last = math.log10(self.high)
            return [10.0**power for power in range(math.ceil(first - 1e-9), math.floor(last) + 1)]
        if self.scale == "probit":
            return [*_DEVIATES, *_NEAR_ONE]
        ticks = list(
            map(float, MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]).tick_values(self.low, self.high))
        )
        if self.first:
            return [self.low, *(x for x in ticks if x > self.low)]
        return ticks

    def _label(self, value: float) -> str:
        if self.percent:
            return per_cent(value)
        if abs(value) > 1e-12:
            return f"{value:g}"
        return "0"


def unit_axis(scale: str, floor: float, places: tuple[float, float], name: str) -> Axis:
    """Return an axis of proportions; a logarithmic or a normal one starts at `floor`."""
    low, high = {"linear": (0.0, 1.0), "log": (floor, 1.0), "probit": (floor, 0.9)}[scale]
    return Axis(scale, low, high, *places, name, percent=True)


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


WIDTH, HEIGHT = 560, 400
LEFT, RIGHT, TOP, BOTTOM = 66, 26, 14, 52
_X = (LEFT, WIDTH - RIGHT)
_Y = (HEIGHT - BOTTOM, TOP)

_BOUNDED = ("roc", "error_rates", "dir_far", "cmc")
_TOGETHER = (
    "The band is simultaneous along the curve; its dashed parts hold at each threshold or rank "
    "alone."
)
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
        names = [curve["name"] for curve in self.keyed]
        wide, high = 46 + 7.2 * max(map(len, names), default=0), 17 * len(names)
        xs = (LEFT + 12, max(LEFT + 12, WIDTH - RIGHT - wide))
        ys = (TOP + 14, HEIGHT - BOTTOM - 12 - 17 * (len(names) - 1))
        places = [(x, y) for y in ys for x in xs[::-1]]

        def covered(place: tuple[float, float]) -> int:
            x, y = place
            return sum(
                int(((px > x - 8) & (px < x + wide) & (py > y - 14) & (py < y + high)).sum())
                for px, py in self.outlines
            )

        best = min(places, key=covered)
        if not covered(best):
            return best
        return (LEFT, HEIGHT + 8)

    @property
    def below(self) -> int:
        """The height of a key that is below the axes."""
        if self.keyed and self.key[1] > HEIGHT:
            return 17 * len(self.keyed) + 8
        return 0

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
        names = ", ".join(dict.fromkeys(curve["name"] for curve in self.curves))
        return f"{self.title}. {self.y.name} against {self.x.name}. Curves: {names}."

    def draw(
        self, name: str, hue: int, dash: int, x: np.ndarray, y: np.ndarray, kind: str = "line"
    ) -> None:
        """Add a curve, thinned; nothing where no rate is defined."""
        if not (np.isfinite(x) & np.isfinite(y)).any():
            return
        self.outlines.append(dense(x, y))
        self.curves.append(
            {
                "name": name,
                "hue": hue % 7,
                "dash": dash % 7,
                "path": path(*thinned(x, y)),
                "kind": kind,
            }
        )

    def limits(
        self, hue: int, x: np.ndarray, low: np.ndarray, high: np.ndarray, inside: np.ndarray | None
    ) -> None:
        """Add confidence limits; those that are not `inside` a simultaneous band, dashed."""
        starts = [0]
        if inside is not None:
            starts = [0, *np.flatnonzero(np.diff(inside)) + 1]
        for first, last in pairwise([*starts, len(x)]):
            part = slice(first, last + 1)  # up to the next part
            apart = inside is not None and not inside[first]
            self.band(hue, x[part], low[part], high[part], "band apart" if apart else "band")

    def band(
        self, hue: int, x: np.ndarray, low: np.ndarray, high: np.ndarray, kind: str = "band"
    ) -> None:
        """Add an area between two curves."""
        finite = np.isfinite(low) & np.isfinite(high) & np.isfinite(x)
        if finite.sum() < 2:
            return
        x, low, high = x[finite], low[finite], high[finite]
        up, down = thinned(*steps_after(x, low)), thinned(*steps_after(x, high))
        whole = np.concatenate([up[0], down[0][::-1]]), np.concatenate([up[1], down[1][::-1]])
        self.curves.append(
            {"name": "", "hue": hue % 7, "dash": 0, "path": path(*whole) + "Z", "kind": kind}
        )

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
        return _short(live.part.system if self.several else live.part.label or live.part.system)

    def hue(self, live: LivePart) -> int:
        """Return the number of the colour of a curve: of a system, or of the templates of one."""
        if self.several:
            return self.hues[live.part.system]
        return int(live.part.task == BOTH[1])


def figures_of(parts: list[LivePart], drawing: Drawing) -> list[PageFigure]:
    """Return the figures of one task, with all systems in one where they share an axis.

    A figure without a curve, such as against a FAR without impostor attempts, is left out.
    """
    figures: list[PageFigure] = []
    rates = [p for p in parts if {"far", "frr", "gar"} <= set(p.columns)]
    tasks = dict.fromkeys(p.part.task for p in rates)
    together = []
    for task in tasks:
        together.append([p for p in rates if p.part.task == task])
    if drawing.several:
        on_one_axis = together
    else:
        on_one_axis = [rates] if rates else []
    for same in on_one_axis:
        figures += [_roc(same, drawing), _det(same, drawing)]
    for same in together:
        for units in dict.fromkeys(p.part.units for p in same):
            figures.append(_error_rates([p for p in same if p.part.units == units], drawing))
    for live in rates:
        histogram = _histogram(live, drawing)
        if histogram is not None:
            figures.append(histogram)
    if directed := [p for p in parts if "dir" in p.ranked and "far" in p.columns]:
        figures.append(_dir_far(directed, drawing))
    if ranked := [p for p in parts if {"cms", "cmc"} & set(p.by_rank)]:
        figures.append(_cmc(ranked, drawing))
    if opened := [p for p in parts if {"mrep", "mfr"} <= set(p.columns)]:
        figures.append(_gom(opened, drawing))
    for fig in figures:
        kinds = {curve["kind"] for curve in fig.curves}
        if kinds & {"band", "band apart"} and fig.plot in _BOUNDED:
            at_once = any(live.part.dataset.attrs.get("band") == "simultaneous" for live in parts)
            said = [fig.note, _TOGETHER if at_once else "", _BAND]
            fig.note = " ".join(filter(None, said))
    return [fig for fig in figures if fig.curves]


def _floor(parts: list[LivePart], name: str) -> float:
    """Return a power of ten below the smallest rate that the attempts can show."""
    totals = [int(p.part.dataset[name]) for p in parts if name in p.part.dataset]
    return 10.0 ** -max(1, int(np.ceil(np.log10(max([10, *totals])))))


def _ascending(live: LivePart) -> slice:
    """Return the rows from the strictest threshold to the loosest."""
    if live.part.accepts_larger:
        return slice(None, None, -1)
    return slice(None)


def _says(parts: list[LivePart], text: str) -> str:
    return term_translator(parts[0].part.dataset)(text)


def _limits(
    fig: PageFigure, rates: Mapping[str, np.ndarray], name: str, hue: int, x: np.ndarray, shown: Any
) -> None:
    """Add the confidence limits of a rate, if it has any, over the rows that are shown."""
    if {f"{name}_low", f"{name}_high"} <= set(rates):
        low = fig.y.place(rates[f"{name}_low"])[shown]
        high = fig.y.place(rates[f"{name}_high"])[shown]
        inside = rates.get(f"{name}_in_band")
        if inside is not None:
            inside = inside[shown] == 1
        fig.limits(hue, x[shown], low, high, inside)


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
    said = list(dict.fromkeys(p.part.words for p in parts))
    if len(said) == 1:
        return said[0]
    return said[0].partition(",")[0]


def _roc(parts: list[LivePart], drawing: Drawing) -> PageFigure:
    floor = _floor(parts, "impostor_attempts")
    x = unit_axis("log", floor, _X, _says(parts, "FAR"))
    low = min(float(np.fmin.reduce(p.columns["gar"])) for p in parts)
    y = Axis("linear", 0.0 if low < 0.97 else 0.9, 1.0, *_Y, _says(parts, "GAR"), percent=True)
    fig = PageFigure("roc", f"ROC: {_about(parts)}", x, y)
    fig.note = f"Logarithmic axis; {x.name} below {x.ticks[0][1]} is drawn at the left edge."
    _rate_curves(fig, parts, drawing, "gar")
    return fig


def _det(parts: list[LivePart], drawing: Drawing) -> PageFigure:
    across, up = _floor(parts, "impostor_attempts"), _floor(parts, "genuine_attempts")
    x = unit_axis("probit", across, _X, _says(parts, "FAR"))
    y = unit_axis("probit", up, _Y, _says(parts, "FRR"))
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
        if fig.y.scale == "probit":
            shown = order[values[order] >= fig.y.low]
        else:
            shown = order
        _limits(fig, live.columns, y, hue, px, shown)
        fig.draw(drawing.name(live), hue, hue, *steps_after(px[order], py[order]))
        _moves(fig, live, hue, drawing, px, py)


def _score_axis(parts: list[LivePart], low: float, high: float) -> Axis:
    noun = noun_of(parts[0].part.kind).capitalize()
    better = "smaller"
    if parts[0].part.accepts_larger:
        better = "larger"
    if not low < high:
        low, high = low - 0.5, high + 0.5
    return Axis("linear", low, high, *_X, f"{noun} ({better} is closer)")


def _finite(values: np.ndarray) -> np.ndarray:
    return values[np.isfinite(values)]


def _error_rates(parts: list[LivePart], drawing: Drawing) -> PageFigure:
    every = _finite(np.concatenate([p.thresholds for p in parts]))
    x = _score_axis(parts, float(every.min()), float(every.max()))
    y = Axis("linear", 0.0, 1.0, *_Y, _says(parts, "Error rate"), percent=True)
    title = _says(parts, "FAR and FRR by threshold")
    fig = PageFigure("error_rates", f"{title}: {parts[0].part.words}", x, y)
    for live in parts:
        hue = 0
        if drawing.several:
            hue = drawing.hue(live)
        shown = np.flatnonzero(np.isfinite(live.thresholds))[_ascending(live)]
        px = x.place(live.thresholds)
        for i, name in enumerate(("far", "frr")):
            colour, dash = (hue, i) if drawing.several else (_COLOURS[name], i)
            py = y.place(live.columns[name])
            _limits(fig, live.columns, name, colour, px, shown)
            label = _says(parts, name.upper())
            if drawing.several:
                label = f"{drawing.name(live)} {label}"
            fig.draw(label, colour, dash, *steps_after(px[shown], py[shown]))
            _moves(fig, live, colour, drawing, px, py)
    _line_at_threshold(fig, parts, drawing)
    return fig


def _line_at_threshold(fig: PageFigure, parts: list[LivePart], drawing: Drawing) -> None:
    """Add a vertical line at the threshold of each group."""
    for group in dict.fromkeys(p.group for p in parts):
        live = next(p for p in parts if p.group == group)
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
    histograms = histograms_between(live.part.dataset)
    if len(histograms) < 2:
        return None
    at = next(iter(histograms.values())).edges
    x = _score_axis([live], float(at[0]), float(at[-1]))
    top = max(float(each.density.max()) for each in histograms.values()) or 1.0
    y = Axis("linear", 0.0, 1.05 * top, *_Y, "Density within each class")
    who = ""
    if drawing.several:
        who = f" ({live.part.system})"
    said = ", ".join([*histograms][:-1]) + f" and {[*histograms][-1]}"
    title = f"{said.capitalize()} scores{who}: {live.part.words}"
    fig = PageFigure("histogram", title, x, y)
    for i, (name, each) in enumerate(histograms.items()):
        px = np.repeat(x.place(at), 2)[1:-1]
        py = np.repeat(y.place(each.density), 2)
        base = y.place(np.zeros(1))
        closed = np.concatenate([px[:1], px, px[-1:]]), np.concatenate([base, py, base])
        fig.curves.append(
            {"name": "", "hue": i, "dash": 0, "path": path(*closed) + "Z", "kind": "band"}
        )
        fig.draw(name.capitalize(), i, i, *closed)
    counts = {name: each.counts.tolist() for name, each in histograms.items()}
    fig.table = {"from": at[:-1].tolist(), "to": at[1:].tolist(), **counts}
    _line_at_threshold(fig, [live], drawing)
    return fig


def _dir_far(parts: list[LivePart], drawing: Drawing) -> PageFigure:
    x = unit_axis("log", _floor(parts, "impostor_attempts"), _X, _says(parts, "FAR"))
    y = Axis("linear", 0.0, 1.0, *_Y, _says(parts, "DIR"), percent=True)
    fig = PageFigure("dir_far", _says(parts, f"DIR against FAR: {parts[0].part.words}"), x, y)
    fig.note = "The mark is at the rank of the page."
    for live in parts:
        hue, order = drawing.hue(live), _ascending(live)
        px = x.place(live.columns["far"])
        ranks = (1,) if drawing.several else (1, 5, 10)
        most = live.ranked["dir"].shape[1]
        for i, rank in enumerate(rank for rank in ranks if rank <= most):
            if not drawing.several:
                name = f"rank {rank}"
            else:
                name = f"{drawing.name(live)}, rank {rank}"
            at_rank = {key: values[:, rank - 1] for key, values in live.ranked.items()}
            if rank == 1:
                _limits(fig, at_rank, "dir", hue, px, order)
            colour = hue if drawing.several else i
            corners = steps_after(px[order], y.place(at_rank["dir"])[order])
            fig.draw(name, colour, colour, *corners)
        _moves(fig, live, hue, drawing, px, y.place(live.ranked["dir"]), "row-rank")
    return fig


def _cmc(parts: list[LivePart], drawing: Drawing) -> PageFigure:
    name = "cmc"
    if all("cms" in p.by_rank for p in parts):
        name = "cms"
    names = [name if name in p.by_rank else "cms" for p in parts]
    every = [p.by_rank[n] for n, p in zip(names, parts, strict=True)]
    most = max(2, min(50, ranks_shown(every, max(p.ranks for p in parts), None)[0]))
    x = Axis("linear", 1.0, float(most), *_X, "Rank k", first=True)
    least = min(float(np.fmin.reduce(p.by_rank[n])) for p, n in zip(parts, names, strict=True))
    low = 0.0
    if np.isfinite(least):
        low = max(0.0, np.floor(10 * least - 0.5) / 10)
    y = Axis("linear", low, 1.0, *_Y, _says(parts, name.upper()), percent=True)
    fig = PageFigure("cmc", f"CMC: {parts[0].part.words}", x, y)
    for live, name in zip(parts, names, strict=True):
        hue, values = drawing.hue(live), live.by_rank[name]
        px, py = x.place(np.arange(1, len(values) + 1)), y.place(values)
        shown = slice(0, most)
        _limits(fig, live.by_rank, name, hue, px, shown)
        fig.draw(drawing.name(live), hue, hue, px[shown], py[shown])
        beyond = np.arange(1, len(values) + 1) > most
        _moves(fig, live, hue, drawing, np.where(beyond, np.nan, px), py, "rank")
    return fig


def _gom(parts: list[LivePart], drawing: Drawing) -> PageFigure:
    every = _finite(np.concatenate([p.thresholds for p in parts]))
    x = Axis("linear", float(every.min()), float(every.max()), *_X, "Threshold")
    rates = {
        name: word
        for name, word in (("mrep", "mReP"), ("mfr", "mFR"))
        if not all(np.isnan(live.columns[name]).all() for live in parts)
    }
    said = " and ".join(rates.values())
    fig = PageFigure(
        "gom", f"GOM: {said} by threshold", x, Axis("linear", 0.0, 1.0, *_Y, said, True)
    )
    for live in parts:
        for i, (name, word) in enumerate(rates.items()):
            colour, dash = (drawing.hue(live), i) if drawing.several else (i, i)
            px, py = x.place(live.thresholds), fig.y.place(live.columns[name])
            if drawing.several:
                word = f"{drawing.name(live)} {word}"
            fig.draw(word, colour, dash, px, py)
            _moves(fig, live, colour, drawing, px, py)
    return fig


# What the page shows by itself; the surface of DIR is its threshold and its rank.
_LIVE = ("roc", "det", "error_rates", "cmc", "dir_far", "dir_surface", "gom", "attack_scores")

# Words of the names of plots that are abbreviations.
_SHORT = ("apcer", "det", "epc", "epsc", "far", "hota", "iapar", "pad")

#: Pictures of one system each, at most.
MOST = 12


def pictures_of(parts: list[PageItem], images: Images) -> Iterator[dict[str, Any]]:
    """Return every static plot: its name, title and SVG as a data address."""
    given = {"images": images.column, "image_folder": images.folder}
    results: dict[str, dict[str, Any]] = {}
    titles = {}
    for part in parts:
        results.setdefault(part.task, {})[part.system] = part.dataset
        titles[part.task] = part.words
    drawn = 0
    for task, of_task in results.items():
        if len(of_task) > 1:
            data = of_task
        else:
            data = next(iter(of_task.values()))
        for one in plot_files(data, _LIVE):
            if drawn == MOST:
                return
            if one.plot.images:
                own = given
            else:
                own = {}
            display = one.plot.load().from_results(one.data, **own)
            if own and display.why_empty:
                continue
            drawn += 1
            each = one.stem.replace("_", "-").split("-")
            words = " ".join(word.upper() if word in _SHORT else word for word in each)
            title = " ".join(filter(None, (words, one.system)))
            title = f"{title[0].upper()}{title[1:]}"
            if titles[task].partition(",")[0].lower() not in title.lower():
                title += f": {titles[task]}"
            figure = Figure(layout="constrained")
            display.plot(figure, **one.options)
            source, wide = as_address(figure)
            yield {
                "plot": one.plot.name,
                "title": title,
                "file": "-".join(filter(None, (one.stem, task.replace("/", "-"), one.system))),
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
