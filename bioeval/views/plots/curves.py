"""Displays of curves: the arrays of each system, drawn and labelled on one pair of axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import STEP_LOOKUP_MAP
from matplotlib.lines import Line2D

from bioeval.base.errors import DataError
from bioeval.views.plots import style as look
from bioeval.views.plots.captions import in_words, over, title_of, undefined
from bioeval.views.plots.direct_labels import DirectLabels, Labelled
from bioeval.views.plots.display import Display
from bioeval.views.plots.select_datasets import System, joined, pick
from bioeval.views.terms import interval_method

# Corners drawn of a longer curve.
MAX_CORNERS = 5000

# Sampled galleries whose curves are drawn; more would fill the cloud.
CLOUD = 200

RANKS = (1, 5, 10)


@dataclass(frozen=True)
class Curve:
    """One curve of a display; `x` and `y` are in the order of the dataset."""

    name: str  # its label; may be empty for a single curve
    x: np.ndarray
    y: np.ndarray
    system: System
    why_not: str = ""  # why the curve is undefined; empty where it is drawn
    hue: int = 0  # number of its colour
    dash: int = 0  # number of its line style
    low: np.ndarray | None = None  # confidence limits of each y, where the dataset has them
    high: np.ndarray | None = None


def curve_of(
    system: System, x: str, y: str, name: str | None = None, rank: int | None = None
) -> Curve:
    """Return the curve of variable `y` against `x`, at one rank where they have ranks."""
    dataset = system.dataset

    def values(variable: str) -> np.ndarray:
        array = dataset[variable]
        return (array if rank is None or "rank" not in array.dims else array.sel(rank=rank)).values

    why_not = undefined(dataset, x) or undefined(dataset, y)
    if not (why_not or np.isfinite(values(x)).any()):
        why_not = f"no finite {x}"
    low = high = None
    if f"{y}_low" in dataset and not np.isnan(values(f"{y}_low")).all():
        low, high = values(f"{y}_low"), values(f"{y}_high")
    name = system.name if name is None else name
    return Curve(name, values(x), values(y), system, why_not, low=low, high=high)


def curves_at_ranks(
    systems: Sequence[System], x: str, y: str, ranks: Sequence[int]
) -> list[tuple[Curve, int]]:
    """Return one curve per system and rank, with its rank; of the default ranks, those there are.

    Of one system each rank has its colour, of several each system.
    """
    curves = []
    for number, system in enumerate(systems):
        have = system.dataset["rank"].values.tolist()
        missing = [int(rank) for rank in ranks if rank not in have]
        if missing and tuple(ranks) != RANKS:
            raise DataError(
                f"rank {missing[0]} is not in the result, which has ranks 1 to {max(have)}; "
                f"evaluate with max_rank={max(missing)} or more"
            )
        for i, rank in enumerate(int(rank) for rank in ranks if rank in have):
            curve = curve_of(system, x, y, joined(system.name, f"rank {rank}"), rank)
            hue = number if len(systems) > 1 else i
            curves.append((replace(curve, hue=hue, dash=i), rank))
    return curves


@dataclass(frozen=True)
class Captions:
    """The words of a plot, and where the labels of its curves are placed."""

    title: str  # empty for a panel below another one, which has the title and the details
    x: str
    y: str
    terms: tuple[str, str] = ("", "")  # of the axes in the other vocabulary
    details: Sequence[str] = ()  # lines below the title, after the attempts and subjects
    #: Curves that are drawn but lie off the axes, with the reason.
    unseen: Mapping[str, str] = field(default_factory=dict)
    at: float | Mapping[str, float] = 0.4  # preferred place of the labels along the curves, 0 to 1
    texts: Mapping[str, str] = field(default_factory=dict)  # labels other than names of curves
    others: Sequence[Labelled] = ()  # marks and lines that labels avoid, or that have their own
    keep_free: Sequence[Any] = ()  # texts that labels avoid


class CurvesDisplay(Display):
    """Curves of one or several systems.

    Attributes
    ----------
    curves : dict of str to Curve
        The arrays, by name.
    lines_ : dict of str to Line2D
        The lines, by name; without those for which no rate is defined.
    bands_ : dict of str to PolyCollection
        The confidence bands of the lines that have them, by name.
    labels_ : DirectLabels
        The names beside the lines.
    """

    by_itself = "threshold or rank"  # where each interval of a band holds
    drawn: ClassVar[tuple[str, str, str]]  # the plot, and the variables on its axes

    lines_: dict[str, Line2D]
    bands_: dict[str, Any]
    labels_: DirectLabels

    def __init__(self, curves: Iterable[Curve]):
        self.curves: dict[str, Curve] = {}
        for curve in curves:
            if curve.name in self.curves:
                raise DataError(f"two curves are called {curve.name!r}; rename one of the systems")
            self.curves[curve.name] = curve
        self.lines_, self.bands_ = {}, {}

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a result, a tree, or a mapping of name to either."""
        plot, x, y = cls.drawn
        return cls(numbered([curve_of(system, x, y) for system in pick(data, plot)]))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {', '.join(map(repr, self.curves))}>"

    @property
    def systems(self) -> list[System]:
        """The datasets that the curves come from, each once."""
        return list({id(c.system): c.system for c in self.curves.values()}.values())

    @property
    def defined(self) -> list[Curve]:
        """The curves that have values."""
        return [curve for curve in self.curves.values() if not curve.why_not]

    @property
    def why_empty(self) -> str:
        """Why no curve has values; empty where one has."""
        reasons = dict.fromkeys(curve.why_not for curve in self.curves.values())
        return "" if self.defined else "; ".join(reasons)

    def _start(
        self, ax: Axes | None, name: str | None, size: tuple[float, float] = look.SIZE
    ) -> Axes:
        if name is not None and len(self.systems) > 1:
            raise DataError(
                f"name is {name!r}, but {len(self.systems)} systems are drawn; name each in a "
                "mapping of name to result"
            )
        self._name = name or ""
        self.lines_, self.bands_ = {}, {}
        return self._axes(ax, size)

    def _line(
        self, curve: Curve, x: np.ndarray, y: np.ndarray, style: Mapping[str, Any],
        marked: bool | None = None,
    ) -> None:  # fmt: skip
        """Draw one curve in steps; its points are marked if they are few, or as `marked` says."""
        given = {
            "color": look.colour(curve.hue),
            "linestyle": look.dash(curve.dash),
            "linewidth": 1.6,
            "drawstyle": "steps-post",
            "label": joined(self._name, curve.name) or None,
            "solid_joinstyle": "miter",
            **style,
        }
        marked = len(x) <= look.FEW_POINTS if marked is None else marked
        if marked and "marker" not in given:
            given |= {"marker": "o", "markersize": 3.2}
        (self.lines_[curve.name],) = self.ax_.plot(x, y, **given)

    def _lines(self, style: Mapping[str, Any], marked: bool | None = None) -> None:
        """Draw each curve straight from point to point, with its band."""
        for curve in self.defined:
            self._line(curve, curve.x, curve.y, {"drawstyle": "default", **style}, marked)
            self._band(curve)

    def _reference(self, x: np.ndarray, y: np.ndarray, **style: Any) -> Labelled:
        """Draw a thin line to compare the curves with, which their labels avoid."""
        given = {"linewidth": 0.8, "linestyle": ":", **style}
        self.ax_.plot(x, y, color=look.RULE, zorder=1, **given)
        return Labelled("", look.RULE, x, y)

    def _band(self, curve: Curve, shown: np.ndarray | None = None, floor: float = -np.inf) -> None:
        """Draw the confidence limits of a curve, in steps as its line is, at the points `shown`.

        Smaller `x` than `floor` are drawn there, for a logarithmic axis.
        """
        if curve.low is None or curve.high is None:
            return
        line = self.lines_[curve.name]
        shown = np.isfinite(curve.x) & (True if shown is None else shown)
        x, low, high = (np.asarray(v, dtype=float)[shown] for v in (curve.x, curve.low, curve.high))
        if len(x) > 1 and x[0] > x[-1]:
            x, low, high = x[::-1], low[::-1], high[::-1]
        drawn = line.get_drawstyle()
        steps: Any = drawn.removeprefix("steps-") if drawn.startswith("steps-") else None
        self.bands_[curve.name] = self.ax_.fill_between(
            np.maximum(x, floor), low, high, step=steps, color=line.get_color(), alpha=0.16,
            linewidth=0, zorder=1.5,
        )  # fmt: skip

    def _cloud(
        self, curve: Curve, lines: Iterable[tuple[np.ndarray, np.ndarray]], **style: Any
    ) -> None:
        """Draw curves of sampled galleries, or of folds, behind their mean."""
        given = {"color": look.colour(curve.hue), "alpha": 0.2, "linewidth": 0.5, "zorder": 1.5}
        for x, y in lines:
            self.ax_.plot(x, y, **{**given, **style})

    def _finish(self, captions: Captions) -> Self:
        """Write the title, what the rates are over, the axes' names and the lines' labels.

        Curves that cannot be seen are named with the reason: in the middle of the axes if there
        are no others.
        """
        say = in_words(self.systems)
        reasons = {name: c.why_not for name, c in self.curves.items() if c.why_not}
        reasons |= captions.unseen
        remarks = []
        if len(reasons) == len(self.curves):
            same = len(set(reasons.values())) == 1
            texts = [why if same or not name else f"{name}: {why}" for name, why in reasons.items()]
            look.empty(self.ax_, [look.sentence(say(text)) for text in dict.fromkeys(texts)])
        else:
            remarks = [f"{name}: {why}" if name else why for name, why in reasons.items()]
        title, lines = "", remarks
        if captions.title:
            title = title_of(captions.title, self.systems)
            lines = [*self._over(), *captions.details, *self._methods(), *remarks]
        look.titled(self.ax_, say(title), map(say, lines))
        look.labelled(self.ax_, say(captions.x), say(captions.y), *captions.terms)
        named = [
            Labelled(
                joined(self._name, say(captions.texts.get(name, name))),
                line.get_color(),
                *corners(line),
                at=captions.at if isinstance(captions.at, float) else captions.at[name],
                dash=look.dash(self.curves[name].dash),
            )
            for name, line in self.lines_.items()
        ]
        self.labels_ = DirectLabels(self.ax_, [*named, *captions.others], captions.keep_free)
        return self

    def _over(self) -> list[str]:
        """Return what the rates are over."""
        return over(self.systems)

    def _methods(self) -> list[str]:
        """Return the confidence and the method of the bands."""
        said = []
        for name in self.bands_:
            attrs = self.curves[name].system.dataset.attrs
            if "interval_method" in attrs:
                confidence, method = 100 * float(attrs["confidence"]), interval_method(attrs)
                said.append(f"bands: {confidence:g} % at each {self.by_itself} by itself, {method}")
        return list(dict.fromkeys(said))


def numbered(curves: Sequence[Curve]) -> list[Curve]:
    """Give each curve a colour and a line style.

    Of several systems with several variants (single- and multi-template), each system has its
    colour and each variant its line style; else each curve has its own of both.
    """
    groups = list(dict.fromkeys(curve.system.group for curve in curves))
    variants = list(dict.fromkeys(curve.system.variant for curve in curves))
    if min(len(groups), len(variants)) < 2:
        return [replace(curve, hue=i, dash=i) for i, curve in enumerate(curves)]
    return [
        replace(c, hue=groups.index(c.system.group), dash=variants.index(c.system.variant))
        for c in curves
    ]


def corners(line: Line2D) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of a line as it is drawn, steps included."""
    x, y = (np.asarray(v, dtype=float) for v in line.get_data(orig=False))
    steps = line.get_drawstyle()
    if not len(x) or steps == "default":
        return x, y
    out = STEP_LOOKUP_MAP[steps](x, y)
    return np.asarray(out[0]), np.asarray(out[1])


def thinned(x: np.ndarray, y: np.ndarray, log: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve without points that make no corner, and with at most MAX_CORNERS.

    For drawing only. A point in the middle of a run of equal values is left out.
    """
    keep = np.ones(len(x), dtype=bool)
    if len(x) > 2:
        keep[1:-1] = (y[1:-1] != y[:-2]) | (y[1:-1] != y[2:])
    x, y = x[keep], y[keep]
    if len(x) > MAX_CORNERS:
        index = look.spread(len(x), MAX_CORNERS, log)
        x, y = x[index], y[index]
    return x, y
