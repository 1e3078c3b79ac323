"""Displays: the arrays of a plot with its axes; curves, drawn and labelled on one pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

from bioeval.base.arguments import require_integer, require_list, require_text
from bioeval.base.errors import DataError
from bioeval.base.kinds import LARGER_IS_CLOSER, noun_of
from bioeval.document.results import candidates_in_words
from bioeval.document.text import Text
from bioeval.plot import plot_style
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import (
    System,
    agreed,
    as_plot_text,
    joined,
    kind_of,
    lines_of,
    other_term,
    over,
    steps_of,
    task_in_title,
    undefined,
)
from bioeval.views.writers.lines import Lines, written

# Of several systems that have more curves, each is named once, and what the curves are is named
# beside them.
MOST_NAMED = 4


class Display:
    """The arrays of a plot, with the axes and the figure of its last drawing.

    A plot gives `from_results`, which takes arrays and computes no rate, and `plot`, which begins
    with `_begin`, draws with matplotlib, names what it shows with `_finish`, and returns the
    display. All plots have the properties `figsize` and `title`, which `_begin` takes out of
    `style`. Texts may be templates with terms of the field, as in ``say("{frr} at {far}")``.
    """

    ax_: Axes
    figure_: Figure
    from_results: Callable[..., Any]
    plot: Callable[..., Any]

    _plot: ClassVar[str] = ""  # the public function
    _why: Text = ""  # why nothing can be drawn
    _own_title: str | None = ""  # none if None, and the usual one if empty

    @property
    def why_empty(self) -> str:
        """Why there is nothing to draw; empty if there is something."""
        return self._write(self._why)

    @staticmethod
    def _over(system: System) -> str:
        """Return in words what the rates of a system are over."""
        return over(system)

    def _write(self, text: Text) -> str:
        """Return a text in the terms of the view."""
        return Lines().write(text)

    def _begin(
        self,
        ax: Axes | Figure | None,
        style: dict[str, Any],
        size: tuple[float, float] = plot_style.SIZE,
    ) -> Axes:
        """Begin a drawing in `ax`, in a figure, or in a new figure of this size."""
        self._own_title = style.pop("title", "")
        if self._own_title is not None:
            require_text("title", self._own_title)
        self.ax_ = plot_style.axes_for(ax, size, style.pop("figsize", None))
        self.figure_ = plot_style.figure_of(self.ax_)
        return self.ax_

    def _beside(self, rows: int, columns: int, **ratios: Any) -> Axes:
        """Divide the place of the axes into two; return the second axes."""
        place = self.ax_.get_subplotspec()
        if place is None:
            raise DataError("ax has no place in a grid; give axes of plt.subplots, or a figure")
        parts = place.subgridspec(rows, columns, **ratios)
        self.ax_.set_subplotspec(parts[0])
        return plot_style.axes_for(self.ax_.figure.add_subplot(parts[1]))

    def _finish(
        self,
        title: Text,
        caption: Sequence[Text] = (),
        x: Text = "",
        y: Text = "",
        ax: Axes | None = None,
    ) -> Legend | None:
        """Write the title, one small line below it, the labels of the axes, and the legend."""
        axes, write = ax or self.ax_, self._write
        if self._own_title is not None:
            heading = write(title)
            if self._own_title and axes is self.ax_:
                heading = plot_style.without_formula(self._own_title)
            plot_style.titled(axes, heading, joined(*map(write, caption), by="; "))
        return plot_style.labelled(axes, write(x), write(y))

    @staticmethod
    def _score_label(kind: str) -> str:
        """Return the label of an axis of scores, with the direction of closer scores."""
        noun = "order within the row" if kind == "order" else noun_of(kind)
        closer = "larger" if kind in LARGER_IS_CLOSER else "smaller"
        return f"{plot_style.sentence(noun)} ({closer} is closer)"

    @staticmethod
    def _threshold_label(kind: str) -> str:
        """Return the label of an axis of thresholds, with the rule of acceptance."""
        sign = "≥" if kind in LARGER_IS_CLOSER else "≤"
        return f"Threshold t ({noun_of(kind)}: accepted if {sign} t)"

    def _threshold_line(self, at: float, text: str, number: int = 0) -> None:
        """Draw a threshold as a vertical line over the whole axes, with a name for the legend."""
        how: dict[str, Any] = {"linestyle": Style.dash(number + 1), "linewidth": 0.9, "zorder": 4}
        self.ax_.axvline(at, color=Style.text, label=shown(text), **how)


def shown(text: str) -> str:
    """Return a name for a legend, which leaves out names that begin with an underscore."""
    return f" {text}" if text.startswith("_") else text or "_nolegend_"


class OneResultDisplay(Display):
    """A display of one result."""

    def __init__(self, dataset: xr.Dataset, name: str = ""):
        self._dataset, self._name = dataset, name

    @classmethod
    def from_results(cls, data: Any, **options: Any) -> Self:
        """Take the one result in `data` that the plot draws."""
        (system,) = System.pick(data, cls._plot, single=True)
        return cls(system.dataset, system.group, **options)  # the title names the task

    def _write(self, text: Text) -> str:
        """Return a text in the terms of the view of the result."""
        return lines_of(self._dataset).write(text)

    def _title(self, title: Text, name: str | None) -> str:
        """Return a title with the given name of the system, or its own."""
        name = name or self._name or as_plot_text(self._dataset.attrs.get("system", ""))
        return joined(plot_style.sentence(self._write(title)), name, by=": ")

    def _named(self, label: Text, *rates: str) -> str:
        """Return a label of an axis with the other vocabulary's terms."""
        return named(self._write(label), other_term(self._dataset, *rates))


def named(label: str, term: str) -> str:
    """Return a label with the other vocabulary's term, if there is one."""
    return f"{label} ({term})" if term else label


@dataclass(frozen=True)
class Curve:
    """One curve of a display; `x` and `y` are in the order of the dataset."""

    name: str  # the system and the word, in the lecture's terms; may be empty for a single curve
    x: np.ndarray
    y: np.ndarray
    system: System
    why_not: Text = ""  # why the curve is undefined; empty where it is drawn
    hue: int = 0  # number of its colour
    dash: int = 0  # number of its line style
    shade: int = 0  # number among the curves of one meaning, which share a colour
    low: np.ndarray | None = None  # confidence limits of each y, where the dataset has them
    high: np.ndarray | None = None
    variable: str = ""  # on the vertical axis
    word: Text = ""  # what it is among the curves of its system

    @classmethod
    def of(
        cls,
        system: System,
        x: str,
        y: str,
        word: Text = "",
        rank: int | None = None,
        limits: str = "",
    ) -> Curve:
        """Return the curve of variable `y` against `x`, at one rank where they have ranks.

        `limits` begin the names of its limits, if these are not those of `y`.
        """
        dataset = system.dataset

        def values(variable: str) -> np.ndarray | None:
            if variable not in dataset:
                return None
            array = dataset[variable]
            if rank is not None and array.ndim > 1:
                array = array.sel(rank=rank)
            return array.values

        low, high = (values(f"{limits or f'{y}_'}{end}") for end in ("low", "high"))
        if low is not None and np.isnan(low).all():
            low = high = None
        why = undefined(dataset, x, word) or undefined(dataset, y, word)
        arrays: Any = {"x": values(x), "y": values(y), "low": low, "high": high}
        name = joined(system.name, written(word))
        return cls(name, system=system, why_not=why, variable=y, word=word, **arrays)


class CurvesDisplay(Display):
    """Curves of one or several systems.

    A plot of curves gives the variables and the words below; one that draws more has a method
    `plot` of its own, which begins with `_start`, draws the curves that are `defined` by `_line`
    and `_band`, and returns `_end`. Drawn are, by the names of the `curves`, which have the
    arrays, the `lines_` and the confidence `bands_`; `legend_` names them.
    """

    _title: ClassVar[Text] = ""
    _x: ClassVar[str] = ""  # the variable on the horizontal axis
    #: The variables on the vertical axis, with a word for each.
    _y: ClassVar[Mapping[str, Text]] = {}
    _x_label: ClassVar[Text] = ""
    _y_label: ClassVar[Text] = ""
    #: The rates at both axes, whose terms of the other vocabulary are named.
    _rates: ClassVar[tuple[tuple[str, ...], tuple[str, ...]]] = ((), ())
    _size: ClassVar = plot_style.SIZE
    #: Whether lines are solid and differ in their markers: a dash looks like a step.
    _solid: ClassVar = False
    _by_system: ClassVar = False  # whether lines of a single system differ in style alone
    _single: ClassVar = False  # whether one system alone can be drawn
    _marked: ClassVar[bool | None] = None  # whether points are marked; None: if they are few

    lines_: dict[str, Line2D]
    bands_: dict[str, Any]
    legend_: Legend | None

    def __init__(self, curves: Iterable[Curve]):
        self.curves: dict[str, Curve] = {}
        for curve in curves:
            if curve.name in self.curves:
                raise DataError(f"two curves are called {curve.name!r}; rename one of the systems")
            self.curves[curve.name] = curve

    @classmethod
    def from_results(cls, data: Any, **options: Any) -> Self:
        """Take the curves of a result, a tree, or a mapping of name to either."""
        systems = System.pick(cls._curves_in(data), cls._plot, cls._single)
        return cls(cls._curves_of(systems, **options))

    @staticmethod
    def _curves_in(data: Any) -> Any:
        """Return the results that have curves."""
        return data

    @classmethod
    def _curves_of(cls, systems: Sequence[System]) -> list[Curve]:
        """Return the curves of the systems.

        Of several lines, those of one system have the colour and the line style of what they are;
        of several systems, each has one colour.
        """
        if len(cls._y) == 1:
            ((y, word),) = cls._y.items()
            return numbered([Curve.of(system, cls._x, y, word) for system in systems])
        curves = []
        for number, system in enumerate(systems):
            for i, (y, word) in enumerate(cls._y.items()):
                if y in system.dataset:
                    known = Style.hues.get(y, i)
                    hue = number if len(systems) > 1 or cls._by_system else known
                    curve = Curve.of(system, cls._x, y, word)
                    curves.append(replace(curve, hue=hue, dash=known))
        return curves

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See the function of :mod:`bioeval.plot`."""
        self._start(ax, name, style)
        for curve in self.defined:
            self._line(curve, curve.x, curve.y, {"drawstyle": "default", **style})
            self._band(curve)
        self.ax_.set(**self._limits())
        return self._end()

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
        """Why no curve has values; empty if any has."""
        whys = dict.fromkeys(self._write(curve.why_not) for curve in self.curves.values())
        return "" if self.defined else "; ".join(whys)

    def _write(self, text: Text) -> str:
        """Return a text in the terms of the views of the systems."""
        return lines_of(self.systems[0].dataset).write(text)

    def _limits(self) -> dict[str, Any]:
        """Return the limits of the axes."""
        return {"xlim": (-0.015, 1.015), "ylim": (-0.015, 1.015)}

    def _up_to_highest(self) -> dict[str, Any]:
        """Return the limits of axes for rates that may be small."""
        top = max((float(np.nanmax(c.y)) for c in self.defined), default=1.0) or 1.0
        last = max(float(np.nanmax(c.x)) for c in self.curves.values())
        return {"xlim": (-0.015 * last, 1.015 * last), "ylim": (-0.02 * top, 1.12 * top)}

    def _start(
        self,
        ax: Axes | None,
        name: str | None,
        style: dict[str, Any],
        size: tuple[float, float] | None = None,
    ) -> Axes:
        """Begin a drawing, as `_begin` does; a `name` is for the only system."""
        if name is not None and len(self.systems) > 1:
            raise DataError(
                f"name is {name!r}, but {len(self.systems)} systems are drawn; name each in a "
                "mapping of name to result"
            )
        self._name = name or ""
        self.lines_, self.bands_ = {}, {}
        axes = self._begin(ax, style, size or self._size)
        long_names = normalize_kwargs(style, Line2D)  # linewidth for lw
        style.clear()
        style |= long_names
        return axes

    def _line(self, curve: Curve, x: np.ndarray, y: np.ndarray, style: Mapping[str, Any]) -> None:
        """Draw one curve in steps; each of few points is marked."""
        marked = len(x) <= plot_style.FEW_POINTS if self._marked is None else self._marked
        how: dict[str, Any] = {"color": Style.colour(curve.hue, curve.shade), "linewidth": 1.6}
        how |= {"drawstyle": "steps-post", "solid_joinstyle": "miter"}
        how |= {**self._look(curve.dash, marked), **style}
        (self.lines_[curve.name],) = self.ax_.plot(x, y, **how)

    def _look(self, dash: int, marked: bool) -> dict[str, Any]:
        """Return what tells a line apart from others of its colour: dashes or marks.

        Marks between measured points are hollow, and apart from those of other curves.
        """
        if not self._solid or len(self.curves) == 1:
            mark: dict[str, Any] = {"marker": "o", "markersize": 3.2} if marked else {}
            return {"linestyle": Style.dash(dash), **mark}
        look: dict[str, Any] = {"marker": Style.marker(dash), "markersize": 4.5, "linestyle": "-"}
        if marked:
            return look
        hollow: dict[str, Any] = {"markerfacecolor": "white", "markeredgewidth": 1.2}
        return {**look, **hollow, "markevery": (0.03 + 0.05 * (dash % 7), 0.35)}

    def _over_thresholds(
        self, ax: Axes | None, name: str | None, style: dict[str, Any], log: bool = False
    ) -> str:
        """Draw rates in steps over the thresholds, with their bands; return the axis label.

        For a logarithmic axis, rates of 0 are left out.
        """
        kind = kind_of(self.systems, self._plot)
        self._start(ax, name, style).set_ylim(-0.015, 1.015)
        for curve in self.defined:
            shown = np.isfinite(curve.x) & (curve.y > 0 if log else np.isfinite(curve.y))
            how = {"drawstyle": steps_of(kind), **style}
            self._line(curve, curve.x[shown], curve.y[shown], how)
            self._band(curve, shown)
        return self._threshold_label(kind)

    def _reference(self, x: Any, y: Any) -> None:
        """Draw a thin line to compare the curves with."""
        self.ax_.plot(x, y, color=Style.rule, linewidth=0.9, linestyle=":", zorder=1)

    def _band(self, curve: Curve, shown: Any = True, floor: float = -np.inf) -> None:
        """Draw the confidence limits of a curve where `shown`, in steps like its line.

        Smaller `x` than `floor` are drawn there, for a logarithmic axis.
        """
        if curve.low is None or curve.high is None:
            return
        line, there = self.lines_[curve.name], np.isfinite(curve.x) & shown
        x, low, high = (each[there] for each in (curve.x, curve.low, curve.high))
        if len(x) > 1 and x[0] > x[-1]:
            x, low, high = x[::-1], low[::-1], high[::-1]
        how: dict[str, Any] = {"color": line.get_color(), "alpha": 0.16, "linewidth": 0}
        if (drawstyle := line.get_drawstyle()) != "default":
            how["step"] = drawstyle.removeprefix("steps-")
        band = self.ax_.fill_between(np.maximum(x, floor), low, high, zorder=1.5, **how)
        self.bands_[curve.name] = band

    def _cloud(self, curve: Curve, lines: Iterable[tuple[Any, Any]], **style: Any) -> None:
        """Draw curves of folds behind their mean."""
        how: dict[str, Any] = {"color": Style.colour(curve.hue, curve.shade), "alpha": 0.45}
        for x, y in lines:
            self.ax_.plot(x, y, **{**how, "linewidth": 0.8, "zorder": 1.5, **style})

    def _label(self, curve: Curve) -> str:
        """Return the name of a curve in the legend."""
        return joined(curve.system.name, self._write(curve.word))

    def _caption(self) -> Sequence[Text]:
        """Return what the rates are over, where it is the same for all systems."""
        return [agreed(self.systems, self._over)]

    def _candidates(self) -> list[Text]:
        """Return with how many templates the probes of each system were compared, if not all."""
        systems_of: dict[str, list[str]] = {}
        for system in self.systems:
            systems_of.setdefault(candidates_in_words(system.dataset.attrs), []).append(system.name)
        if len(systems_of) == 1:
            return [*systems_of]
        return [
            joined(joined(*names), words, by=": ") for words, names in systems_of.items() if words
        ]

    def _end(
        self,
        x_label: Text = "",
        y_label: Text = "",
        caption: Sequence[Text] = (),
        unseen: Mapping[str, Text] | None = None,
    ) -> Self:
        """Write the words of the plot, and name its lines.

        Curves that cannot be seen are named with the reason: in the middle of the axes if there are
        no others.
        """
        write, systems = self._write, self.systems
        missing: dict[str, list[str]] = {}
        for name, curve in self.curves.items():
            if why := curve.why_not or (unseen or {}).get(name, ""):
                is_named = write(curve.word) in write(why)
                who = curve.system.name if is_named else self._label(curve)
                missing.setdefault(write(why), []).append(who)
        lines = [joined(joined(*who), why, by=": ") for why, who in missing.items()]
        if sum(map(len, missing.values())) == len(self.curves):
            plot_style.empty(self.ax_, "; ".join(missing if len(missing) == 1 else lines))
            lines = []
        self._name_lines()

        def term(rates: Sequence[str]) -> str:
            """Return the other vocabulary's terms where all systems have the same."""
            return agreed(systems, lambda x: other_term(x.dataset, *rates)) if rates else ""

        attrs = [self.curves[name].system.dataset.attrs for name in self.bands_]
        levels = {100 * float(each["confidence"]) for each in attrs if "confidence" in each}
        bands = [f"bands: {level:g} % at each point" for level in sorted(levels)]
        x, y = write(x_label or self._x_label), write(y_label or self._y_label)
        self.legend_ = self._finish(
            joined(write(self._title), task_in_title(systems), by=": "),
            [*self._caption(), *self._candidates(), *bands, *caption, *lines],
            named(x, term(self._rates[0])),
            named(y, term(self._rates[1])),
        )
        return self

    def _name_lines(self) -> None:
        """Name each line; of many lines of several systems each system and each kind of line."""
        drawn = [self.curves[name] for name in self.lines_]
        kinds = {self._write(curve.word): curve for curve in drawn}
        many = len(self.systems) > 1 and len(kinds) > 1 and len(drawn) > MOST_NAMED
        before = set[str]()
        for curve in drawn:
            text = self._label(curve)
            if many:
                text = "" if curve.system.name in before else curve.system.name
                before.add(curve.system.name)
            self.lines_[curve.name].set_label(shown(joined(self._name, text)))
        for word, curve in kinds.items() if many else ():
            self.ax_.plot([], [], color=Style.text, label=word, **self._look(curve.dash, False))


class CurvesByRank(CurvesDisplay):
    """Curves of one rate at several ranks."""

    @classmethod
    def _curves_of(
        cls, systems: Sequence[System], ranks: Sequence[int] | None = None
    ) -> list[Curve]:
        """Return one curve per system and rank, coloured by system; of one system, in shades."""
        wanted = require_list("ranks", (1, 5, 10) if ranks is None else ranks)
        wanted = [require_integer("ranks", rank, low=1) for rank in wanted]
        if not wanted:
            raise DataError("ranks is empty; expected at least one rank")
        curves = []
        (y,) = cls._y
        for number, system in enumerate(systems):
            have = system.dataset["rank"].values.tolist()
            missing = [rank for rank in wanted if rank not in have]
            if ranks is not None and missing:
                raise DataError(
                    f"rank {missing[0]} is not in the result; it has ranks 1 to {max(have)}; "
                    f"evaluate with max_rank={max(missing)} or more"
                )
            for i, rank in enumerate(rank for rank in wanted if rank in have):
                curve = Curve.of(system, cls._x, y, f"rank {rank}", rank)
                shade = i if len(systems) == 1 else 0
                curves.append(replace(curve, hue=number, shade=shade, dash=i))
        return curves


def numbered(curves: Sequence[Curve]) -> list[Curve]:
    """Give each curve a colour and a line style.

    Of several systems with several variants (single- and multi-template), each system has its
    colour and each variant its line style; else each curve has its own of both.
    """
    groups = [*dict.fromkeys(curve.system.group for curve in curves)]
    variants = [*dict.fromkeys(curve.system.variant for curve in curves)]
    if min(len(groups), len(variants)) < 2:
        return [replace(curve, hue=i, dash=i) for i, curve in enumerate(curves)]
    hue, dash = groups.index, variants.index
    return [replace(c, hue=hue(c.system.group), dash=dash(c.system.variant)) for c in curves]
