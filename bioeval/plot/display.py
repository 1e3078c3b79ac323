"""Displays: the arrays of a plot with its axes; curves, drawn and labelled on one pair."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.cbook import normalize_kwargs
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.colorbar import Colorbar
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import StepPatch
from matplotlib.text import Annotation
from matplotlib.ticker import MaxNLocator

from bioeval.base.arguments import require_integer, require_list, require_numbers, require_text
from bioeval.base.errors import Argument, DataError, nearest_name
from bioeval.base.kinds import larger_is_closer, noun_of
from bioeval.document.text import Text, say
from bioeval.plot import plot_style
from bioeval.plot.legend import draw_legend, name_in_legend
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import (
    System,
    as_plot_text,
    in_words,
    joined,
    kind_of,
    lines_of,
    of_each,
    other_term,
    other_term_of,
    over,
    steps_of,
    title_of,
    undefined,
    with_colon,
)
from bioeval.results.words import enumerated, percent
from bioeval.views.terms import interval_method
from bioeval.views.writers.lines import Lines, written


class Display:
    """The arrays of a plot, with the axes and the figure of its last drawing.

    A new plot gives `from_results`, which takes arrays and computes no rate, and `plot`, which
    begins with `_axes`, draws on these, names what it shows, and returns the display. `_axes` takes
    `figsize` and `title`, which all plots have, out of the properties `style`. `_why` says why
    nothing can be drawn. Texts may be templates with terms of the field, as in
    ``say("{frr} at {far}")``; `_write` writes those of a legend. A plot of one result inherits
    `from_results`::

        class AgesDisplay(OneResultDisplay):
            _plot = "ages"  # its name in the registry, with the variables that it needs

            def plot(self, ax=None, *, name=None, **style):
                self._axes(ax, style=style).hist(self._dataset["age"].values, **style)
                self._titled("Ages", name, ["at enrolment"])
                self._labelled("Age (years)", "Subjects")
                return self
    """

    ax_: Axes
    figure_: Figure
    from_results: Callable[..., Any]
    plot: Callable[..., Any]

    _why: Text = ""
    #: The title that was given: none if None, and the usual one if empty.
    _own_title: str | None = ""

    @property
    def why_empty(self) -> str:
        """Why there is nothing to draw; empty if there is something."""
        return self._write(self._why)

    def _write(self, text: Text) -> str:
        """Return a text in the terms of the view."""
        return Lines().write(text)

    def _axes(
        self,
        ax: Axes | Figure | None,
        size: tuple[float, float] = plot_style.SIZE,
        style: dict[str, Any] | None = None,
    ) -> Axes:
        """Begin a drawing in `ax`, in a figure, or in a new figure of this size.

        `figsize` and `title` are taken out of `style`; the rest must be properties of matplotlib,
        and is left to what is drawn.
        """
        style = {} if style is None else style
        figsize, self._own_title = _figsize_and_title(style)
        _require_properties(style, options=inspect.signature(self.plot).parameters)
        self.ax_ = plot_style.axes_for(ax, size, figsize)
        self.figure_ = plot_style.figure_of(self.ax_)
        return self.ax_

    def _more_axes(self, place: Any, **shared: Any) -> Axes:
        """Return further axes at a place of a grid, or with these bounds, in the same style."""
        figure = self.ax_.figure
        add = figure.add_axes if isinstance(place, tuple) else figure.add_subplot
        return plot_style.axes_for(add(place, **shared))

    def _panels(self, number: int) -> tuple[list[Axes], list[Axes]]:
        """Divide the place of the axes into panels one below another; they keep the first place.

        In flat figures up to two are below one another. Returns the panels, and the lowest ones.
        """
        ax = self.ax_
        place, panels = ax.get_subplotspec(), [ax]
        if place is not None:
            columns = 2 if Style.look.is_flat and number > 1 else 1
            parts = place.subgridspec(-(-number // columns), columns)
            ax.set_subplotspec(parts[0])
            for k in range(1, number):
                panels.append(self._more_axes(parts[k], sharex=ax))
            return panels, panels[-columns:]
        left, low, wide, high = ax.get_position().bounds
        gap = 0.06 * high
        each = (high - gap * (number - 1)) / number
        ax.set_position((left, low + (number - 1) * (each + gap), wide, each))
        for k in reversed(range(number - 1)):
            bounds = left, low + k * (each + gap), wide, each
            panels.append(self._more_axes(bounds, sharex=ax))
        return panels, panels[-1:]

    def _axes_size(self) -> tuple[float, float]:
        """Return the approximate width and height of the axes, in points."""
        return plot_style.axes_size(self.ax_)

    @property
    def _is_headed(self) -> bool:
        """Whether one title is above all axes, since the size of the figure was chosen."""
        return plot_style.has_head(self.ax_)

    def _titled(
        self,
        title: Text,
        name: str | None,
        lines: Iterable[Text],
        ax: Axes | None = None,
        gap: float = 0.0,
        share: float = 1.0,
    ) -> None:
        """Write the title with the name of a system, and small lines `gap` points below it.

        `share` is the fraction of the width that a colour bar leaves to the axes.
        """
        if self._own_title is None:
            return
        title = with_colon(self._write(title), name or "")
        if self._own_title and ax in (None, self.ax_):
            title = plot_style.without_formula(self._own_title)
        written_lines = [self._write(line) for line in lines]
        plot_style.titled(ax or self.ax_, title, written_lines, share=share, gap=gap)

    def _labelled(
        self, x: Text, y: Text, term_x: str = "", term_y: str = "", ax: Axes | None = None
    ) -> None:
        """Label the axes, with the other vocabulary's terms in small."""
        plot_style.labelled(ax or self.ax_, self._write(x), self._write(y), term_x, term_y)

    def _note(
        self,
        text: Text,
        place: tuple[float, float],
        step: tuple[float, float],
        ax: Axes | None = None,
        **style: Any,
    ) -> Annotation:
        """Write a small text at a place, `step` points from it."""
        return plot_style.note(ax or self.ax_, self._write(text), place, step, **style)

    _text_width = staticmethod(plot_style.text_width)
    _folded = staticmethod(plot_style.folded)
    _laid_out_size = staticmethod(plot_style.laid_out_size)

    def _columns(self, ax: Axes, columns: Mapping[str, tuple[Sequence[str], str]]) -> None:
        """Write columns of words to the right of axes, by their headings.

        Each has a text for each row of the axes, 0 at the top, and the weight of its letters.
        """
        at, size = 8.0, Style.look.small
        small = {"annotation_clip": False, "ha": "left", "fontsize": size}
        top = max(ax.get_ylim(), key=lambda y: ax.transData.transform((0, y))[1])
        for head, (texts, weight) in columns.items():
            coordinates = ("axes fraction", "data")
            self._note(head, (1, top), (at, 0), ax, xycoords=coordinates, va="bottom", **small)
            for place, text in enumerate(texts):
                style = {"color": Style.text, "fontweight": weight, "va": "center", **small}
                self._note(text, (1, place), (at, 0), ax, xycoords=coordinates, **style)
            lines = "\n".join((head, *texts)).split("\n")
            at += 10 + max(self._text_width(line, size, weight) for line in lines)

    def _empty(self, *lines: Text) -> None:
        """Write sentences on why nothing is drawn, in the middle of empty axes."""
        plot_style.empty(self.ax_, (plot_style.sentence(self._write(line)) for line in lines))

    def _legend(self) -> Legend | None:
        """Name the labelled artists in a legend, below the axes where there is room."""
        return draw_legend(self.ax_)

    def _log_axis(self, low: float, high: float) -> None:
        """Make the axis of rates logarithmic, with ticks at powers of ten."""
        plot_style.log_axis(self.ax_, "y", low, high)

    def _rank_axis(self, last: int, log: bool | None = None, first: float = 1) -> None:
        """Make the axis of ranks, with whole numbers on it; a long one is logarithmic."""
        plot_style.rank_axis(self.ax_, last, log, first)

    _ranks_shown = staticmethod(plot_style.ranks_shown)

    def _rates_from(self, low: float) -> str:
        """Begin the axis of rates at 0, or at a round number below the smallest; return which."""
        return plot_style.rate_axis(self.ax_, low)

    @staticmethod
    def _in_per_cent(axis: Axis) -> None:
        """Write the rates at an axis of matplotlib in per cent."""
        axis.set_major_formatter(lambda rate, _: plot_style.in_per_cent(rate))
        if isinstance(axis, XAxis) and axis.get_scale() == "linear":
            room = plot_style.axes_size(axis.axes)[0] / (6 * Style.look.tick)
            steps = (1, 2, 2.5, 5, 10)
            axis.set_major_locator(MaxNLocator(max(2, min(9, int(room))), steps=steps))

    @staticmethod
    def _score_label(kind: str) -> str:
        """Return the label of an axis of scores, with the direction of closer scores."""
        noun = "order within the row" if kind == "order" else noun_of(kind)
        closer = "larger" if larger_is_closer(kind) else "smaller"
        return f"{plot_style.sentence(noun)} ({closer} is closer)"

    @staticmethod
    def _threshold_label(kind: str) -> str:
        """Return the label of an axis of thresholds, with the rule of acceptance."""
        sign = "≥" if larger_is_closer(kind) else "≤"
        return f"Threshold t ({noun_of(kind)}: accepted if {sign} t)"

    def _threshold_line(self, at: float, text: str, number: int = 0) -> None:
        """Draw a threshold as a vertical line over the whole axes, with a name for the legend."""
        dash = Style.dash(number + 1)
        line = self.ax_.axvline(at, color=Style.text, linewidth=0.9, linestyle=dash, zorder=4)
        name_in_legend(line, text)

    def _rates_in_cells(
        self,
        ax: Axes,
        rates: np.ndarray,
        grounds: np.ndarray,
        starred: np.ndarray,
        sign: bool = True,
    ) -> None:
        """Write the rates of a heat map into its cells, readable on their colours.

        They are in per cent, with the `sign` or without it.
        """
        for (i, j), rate in np.ndenumerate(rates):
            if rate != rate:
                text = "n/a"
            elif rate:
                text = percent(rate, "fine")
                if not sign:
                    text = text.removesuffix(" %")
            else:
                text = "0"
            if starred[i, j] and rate == rate:
                text += "*"
            colour = "white" if plot_style.luminance(grounds[i, j]) < 0.25 else Style.text
            size = Style.look.small
            ax.text(j, i, text, ha="center", va="center", color=colour, fontsize=size)

    def _colour_bar(
        self, colours: Any, ax: Axes, text: Text, term: str = "", **style: Any
    ) -> Colorbar:
        """Draw the colour bar of a picture with its name, and the other vocabulary's in small."""
        bar = self.figure_.colorbar(colours, ax=ax, pad=0.02, aspect=30, **style)
        plot_style.bar_labelled(bar, ax, self._write(text), term)
        return bar


def _figsize_and_title(
    style: dict[str, Any],
) -> tuple[tuple[float, float] | None, str | None]:
    """Take the size of the figure and the title out of the properties of a plot."""
    title = style.pop("title", "")
    if title is not None:
        require_text("title", title)
    figsize = style.pop("figsize", None)
    if figsize is None:
        return None, title
    expected = "a width and a height in inches, 1 to 100 each"

    def valid(sides: np.ndarray) -> bool:
        return len(sides) == 2 and bool(((sides >= 1) & (sides <= 100)).all())

    wide, high = require_numbers("figsize", figsize, expected, valid).tolist()
    return (wide, high), title


def _require_properties(style: Mapping[str, Any], options: Iterable[str]) -> None:
    """Raise :class:`DataError` for a name that matplotlib does not know either."""
    for name in style:
        if name not in _known_properties():
            hint = nearest_name(name, ["figsize", "title", *options])
            hint = hint or nearest_name(name, sorted(_known_properties()))
            raise DataError(
                Argument(name),
                f" is neither an option of this plot nor a property of matplotlib.{hint}",
            )


@functools.cache
def _known_properties() -> frozenset[str]:
    """Return what matplotlib's artists and methods of drawing take: ``linewidth``, ``bins``."""
    names: set[str] = set()
    for artist in (Line2D, StepPatch, PathCollection, QuadMesh, AxesImage, Annotation):
        names |= {name.removeprefix("set_") for name in dir(artist) if name.startswith("set_")}
    for draw in (
        *(Axes.bar, Axes.boxplot, Axes.errorbar, Axes.fill_between, Axes.hist, Axes.imshow),
        *(Axes.pcolormesh, Axes.plot, Axes.scatter, Axes.stairs, Axes.stem, Axes.violinplot),
    ):
        names |= set(inspect.signature(draw).parameters)
    return frozenset(names)


class OneResultDisplay(Display):
    """A display of one result."""

    _plot = ""  # the public function

    def __init__(self, dataset: xr.Dataset):
        self._dataset = dataset

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the one result in `data` that the plot draws."""
        (system,) = System.pick(data, cls._plot, single=True)
        return cls(system.dataset)

    def _write(self, text: Text) -> str:
        """Return a text in the terms of the view of the result."""
        return lines_of(self._dataset).write(text)

    def _other(self, *rates: str) -> str:
        """Return the other vocabulary's terms for rates."""
        return other_term_of(self._dataset, *rates)

    def _titled(
        self,
        title: Text,
        name: str | None,
        lines: Iterable[Text],
        ax: Axes | None = None,
        gap: float = 0.0,
        share: float = 1.0,
    ) -> None:
        """Write the title of the first axes with the given name of the system, or its own."""
        if ax is None:
            name = name or as_plot_text(self._dataset.attrs.get("system", ""))
        super()._titled(plot_style.sentence(self._write(title)), name, lines, ax, gap, share)


# Corners drawn of a longer curve.
MAX_CORNERS = 5000


def most_named() -> int:
    """Return how many curves are named each.

    Of several systems with more, each is named once, and line styles are explained.
    """
    return 4 if Style.look.width is None else 2


@dataclass(frozen=True)
class Curve:
    """One curve of a display; `x` and `y` are in the order of the dataset."""

    name: str  # its label in the lecture's words; may be empty for a single curve
    x: np.ndarray
    y: np.ndarray
    system: System
    why_not: Text = ""  # why the curve is undefined; empty where it is drawn
    hue: int = 0  # number of its colour
    dash: int = 0  # number of its line style
    low: np.ndarray | None = None  # confidence limits of each y, where the dataset has them
    high: np.ndarray | None = None
    variable: str = ""  # on the vertical axis
    word: Text = ""  # the end of its name, where that has terms of the field
    shade: int = 0  # number among the curves of one meaning, which share a colour

    @property
    def label(self) -> Text:
        """Its name, whose terms a view puts into its own."""
        word = written(self.word)
        if not word or not self.name.endswith(word):
            return self.name
        return say("{start}{word}", start=self.name.removesuffix(word), word=self.word)

    @property
    def of_system(self) -> Text:
        """What it is among the curves of its system."""
        return self.word or self.name.removeprefix(self.system.name).lstrip(", ")

    @classmethod
    def of(
        cls, system: System, x: str, y: str, name: str | None = None, rank: int | None = None
    ) -> Curve:
        """Return the curve of variable `y` against `x`, at one rank where they have ranks."""
        dataset = system.dataset

        def values(variable: str) -> np.ndarray:
            array = dataset[variable]
            if rank is not None and "rank" in array.dims:
                array = array.sel(rank=rank)
            return array.values

        why_not = undefined(dataset, x) or undefined(dataset, y)
        if not (why_not or np.isfinite(values(x)).any()):
            why_not = f"no finite {x}"
        low = high = None
        if f"{y}_low" in dataset and not np.isnan(values(f"{y}_low")).all():
            low, high = values(f"{y}_low"), values(f"{y}_high")
        if name is None:
            name = system.name
        curve = cls(name, values(x), values(y), system, why_not, variable=y)
        return replace(curve, low=low, high=high)


def on_unit_axes(display: CurvesDisplay) -> Mapping[str, Any]:
    """Return the axis limits for rates; beyond 0 and 1 an axis has those of its data."""
    limits = {}
    for axis in ("x", "y"):
        values = [getattr(curve, axis) for curve in display.defined]
        if all(np.nanmin(x) >= 0 and np.nanmax(x) <= 1 for x in values):
            limits[f"{axis}lim"] = (-0.015, 1.015)
    return limits


@dataclass(frozen=True)
class CurveSpec:
    """A plot of curves as data: the variables drawn, the axes and the words.

    A new plot gives the first six fields: its name in the registry, its title, the variable on the
    horizontal axis, those drawn against it with a word for each (empty for one alone), and the
    labels of the axes. Bands are drawn of variables with ``_low`` and ``_high``::

        class CostDisplay(CurvesDisplay):
            spec = CurveSpec("cost", "Cost", "prior", {"cost": ""}, "Prior", "Expected cost")

        def cost(data, ax=None, **style):
            return CostDisplay.from_results(data).plot(ax, **style)

    A display that draws more has a method `plot` of its own, for which `limits` and `reference`
    mean nothing: it begins with `_start`, draws the curves that are `defined` by `_line` and
    `_band`, and returns `_finish`.
    """

    RANKS: ClassVar = (1, 5, 10)  # of which those that a result has are drawn by default

    plot: str  # the public function
    title: Text  # empty for a panel below another one, which has the title and the details
    x: str = ""  # the variable on the horizontal axis
    #: Those on the vertical one: their words.
    lines: Mapping[str, Text] = field(default_factory=dict)
    x_label: Text = ""
    y_label: Text = ""
    #: Beside the labels, in small: a text, or rates in the words of the other vocabulary.
    terms: tuple[str | tuple[str, ...], str | tuple[str, ...]] = ("", "")
    #: Lines below the title, after what the rates are over.
    details: Callable[[Sequence[System]], Sequence[Text]] = lambda _: ()
    over: Callable[[Sequence[System]], Sequence[Text]] = over
    over_each: Callable[[xr.Dataset], Text] | None = None  # in place of `over`: of one system
    pointwise_over: str = "threshold or rank"  # where each interval of a band holds
    curve: Callable[[System, str, str, str], Curve] = Curve.of
    text: Callable[[Curve, bool], Text] = lambda curve, _: curve.label  # and of several systems?
    #: Label of the first curve of a system whose other curves have none.
    once: Callable[[Curve], Text] = lambda curve: curve.system.name
    hue_by_system: bool = False  # of a single system too: its lines differ in style alone
    marked: bool | None = None  # whether points are marked; None: if they are few
    size: tuple[float, float] = plot_style.SIZE
    limits: Callable[[Any], Mapping[str, Any]] = on_unit_axes
    #: Draws a line to compare the curves with.
    reference: Callable[[Any], None] | None = None
    # Known when the curves are drawn:
    texts: Mapping[str, Text] = field(default_factory=dict)  # labels other than those by `text`
    unseen: Mapping[str, Text] = field(default_factory=dict)  # curves off the axes, and why
    has_legend: bool = True  # False for a panel above another one with the same curves

    def curves_of(self, systems: Sequence[System]) -> list[Curve]:
        """Return the curves of the systems.

        Of several lines, those of one system have the colour and the line style of what they are;
        of several systems, each has one colour.
        """
        if len(self.lines) == 1:
            (y,) = self.lines
            return numbered([self.curve(system, self.x, y, system.name) for system in systems])
        curves = []
        dashes = line_styles(self.lines)
        for number, system in enumerate(systems):
            for i, (y, word) in enumerate(self.lines.items()):
                if y not in system.dataset:
                    continue
                hue = number
                if len(systems) == 1 and not self.hue_by_system:
                    hue = Style.hues.get(y, i)
                curve = self.curve(system, self.x, y, system.named(written(word)))
                curves.append(replace(curve, hue=hue, dash=dashes[y], word=curve.word or word))
        return curves

    def curves_at(self, systems: Sequence[System], ranks: Sequence[int]) -> list[Curve]:
        """Return one curve per system and rank, coloured by system; of one system, in shades."""
        curves = []
        ranks = [require_integer("ranks", rank, low=1) for rank in require_list("ranks", ranks)]
        if not ranks:
            raise DataError("ranks is empty; expected at least one rank")
        (y,) = self.lines
        for number, system in enumerate(systems):
            have = system.dataset["rank"].values.tolist()
            missing = [rank for rank in ranks if rank not in have]
            if missing and tuple(ranks) != self.RANKS:
                raise DataError(
                    f"rank {missing[0]} is not in the result; it has ranks 1 to {max(have)}; "
                    f"evaluate with max_rank={max(missing)} or more"
                )
            for i, rank in enumerate(rank for rank in ranks if rank in have):
                curve = Curve.of(system, self.x, y, system.named(f"rank {rank}"), rank)
                # Of one system, ranks have shades of its colour.
                shade = i if len(systems) == 1 else 0
                curves.append(replace(curve, hue=number, shade=shade, dash=i))
        return curves


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
    legend_ : Legend or None
        The names of the lines; None where no line has one.
    """

    spec: ClassVar[CurveSpec]

    lines_: dict[str, Line2D]
    bands_: dict[str, Any]
    legend_: Legend | None
    #: Whether lines are solid and differ in their markers: a dash looks like a step.
    _solid: ClassVar = False
    _hollow = False  # whether hollow marks were drawn, which tell curves apart

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
        return cls(cls.spec.curves_of(System.pick(data, cls.spec.plot)))

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See the function of :mod:`bioeval.plot`."""
        ax = self._start(ax, name, style)
        if self.spec.reference:
            self.spec.reference(self)
        self._lines(style, self.spec.marked)
        ax.set(**self.spec.limits(self))
        return self._finish()

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

    def up_to_highest(self) -> dict[str, Any]:
        """Return the axis limits for rates that may be small, over a proportion."""
        top = max((float(np.nanmax(c.y)) for c in self.defined), default=1.0) or 1.0
        return {"xlim": (-0.015, 1.015), "ylim": (-0.02 * top, 1.12 * top)}

    @property
    def why_empty(self) -> str:
        """Why no curve has values; empty if any has."""
        if self.defined:
            return ""
        return "; ".join(dict.fromkeys(map(self._write, self._undefined().values())))

    def _write(self, text: Text) -> str:
        """Return a text in the terms of the views of the systems."""
        return in_words(self.systems)(text)

    def _undefined(self) -> dict[str, Text]:
        """Return why curves have no values, by their names."""
        return {name: curve.why_not for name, curve in self.curves.items() if curve.why_not}

    def _start(
        self,
        ax: Axes | None,
        name: str | None,
        style: dict[str, Any],
        size: tuple[float, float] | None = None,
    ) -> Axes:
        """Begin a drawing, as `_axes` does; a `name` is for the only system.

        Short names of the properties of lines in `style`, such as ``lw``, are written out.
        """
        if name is not None and len(self.systems) > 1:
            raise DataError(
                f"name is {name!r}, but {len(self.systems)} systems are drawn; name each in a "
                "mapping of name to result"
            )
        self._name = name or ""
        self.lines_, self.bands_ = {}, {}
        self._hollow = False
        axes = self._axes(ax, size or self.spec.size, style)
        written_out = normalize_kwargs(style, Line2D)
        style.clear()
        style |= written_out
        return axes

    def _line(
        self,
        curve: Curve,
        x: np.ndarray,
        y: np.ndarray,
        style: Mapping[str, Any],
        marked: bool | None = None,
    ) -> None:
        """Draw one curve in steps; few points are marked, unless `marked` says otherwise."""
        properties = {
            "color": Style.colour(curve.hue, curve.shade),
            "linestyle": Style.dash(curve.dash),
            "linewidth": 1.6,
            "drawstyle": "steps-post",
            "label": joined(self._name, curve.name) or None,
            "solid_joinstyle": "miter",
            **self._above_others(curve),
            **style,
        }
        if marked is None:
            marked = len(x) <= plot_style.FEW_POINTS
        if self._solid and len(self.curves) > 1:
            marker = {"marker": Style.marker(curve.dash), "markersize": 4.5, "linestyle": "-"}
            if not marked:
                # Marks of different curves lie apart, as fractions of the diagonal of the axes.
                # They are hollow, since they are no points that were measured.
                marker["markevery"] = (0.03 + 0.05 * (curve.dash % 7), 0.35)
                marker |= {"markerfacecolor": "white", "markeredgewidth": 1.2}
                self._hollow = True
            properties |= {**marker, **style}
        elif marked and "marker" not in properties:
            properties |= {"marker": "o", "markersize": 3.2}
        (self.lines_[curve.name],) = self.ax_.plot(x, y, **properties)

    def _above_others(self, curve: Curve) -> dict[str, Any]:
        """Return the properties of a line of a plot whose curves may lie on each other.

        An earlier line is wider, so that it shows beside later ones; gaps are white, so that dashes
        show on a line of the same colour.
        """
        if not self.spec.hue_by_system:
            return {}
        later = len(self.curves) - 1 - list(self.curves).index(curve.name)
        gap = {"gapcolor": "white"} if Style.dash(curve.dash) != "-" else {}
        return {"linewidth": 1.2 + 0.7 * min(later, 5), **gap}

    def _lines(self, style: Mapping[str, Any], marked: bool | None = None) -> None:
        """Draw each curve straight from point to point, with its band."""
        for curve in self.defined:
            self._line(curve, curve.x, curve.y, {"drawstyle": "default", **style}, marked)
            self._band(curve)

    def _over_thresholds(
        self,
        ax: Axes | None,
        name: str | None,
        style: dict[str, Any],
        log: bool = False,
        thin: bool = True,
    ) -> str:
        """Draw rates in steps over the thresholds, with their bands; return the axis label.

        For a logarithmic axis, rates of 0 are left out. `thin` draws the corners alone.
        """
        kind = kind_of(self.systems, self.spec.plot)
        self._start(ax, name, style).set_ylim(-0.015, 1.015)
        for curve in self.defined:
            shown = np.isfinite(curve.y)
            if log:
                shown = curve.y > 0
            shown &= np.isfinite(curve.x)
            x, y = curve.x[shown], curve.y[shown]
            if thin:
                x, y = thinned(x, y)
            self._line(curve, x, y, {"drawstyle": steps_of(kind), **style}, self.spec.marked)
            self._band(curve, shown)
        return self._threshold_label(kind)

    def _diagonal(self, **style: Any) -> None:
        """Draw the line from (0, 0) to (1, 1)."""
        ends = np.array([0.0, 1.0])
        self._reference(ends, ends, **style)

    def _reference(self, x: np.ndarray, y: np.ndarray, **style: Any) -> None:
        """Draw a thin reference line."""
        usual = {"color": Style.rule, "linewidth": 0.8, "linestyle": ":", "zorder": 1}
        self.ax_.plot(x, y, **{**usual, **style})

    def _band(self, curve: Curve, shown: np.ndarray | None = None, floor: float = -np.inf) -> None:
        """Draw the confidence limits of a curve where `shown`, in steps like its line.

        Smaller `x` than `floor` are drawn there, for a logarithmic axis.
        """
        if curve.low is None or curve.high is None:
            return
        line = self.lines_[curve.name]
        finite = np.isfinite(curve.x)
        if shown is not None:
            finite &= shown
        x = np.asarray(curve.x, dtype=float)[finite]
        low = np.asarray(curve.low, dtype=float)[finite]
        high = np.asarray(curve.high, dtype=float)[finite]
        if len(x) > 1 and x[0] > x[-1]:
            x, low, high = x[::-1], low[::-1], high[::-1]
        properties: dict[str, Any] = {"color": line.get_color(), "zorder": 1.5}
        drawn = line.get_drawstyle()
        if drawn.startswith("steps-"):
            properties["step"] = drawn.removeprefix("steps-")
        x = np.maximum(x, floor)
        self.bands_[curve.name] = self.ax_.fill_between(
            x, low, high, alpha=0.16, linewidth=0, **properties
        )

    def _cloud(
        self, curve: Curve, lines: Iterable[tuple[np.ndarray, np.ndarray]], **style: Any
    ) -> None:
        """Draw curves of folds behind their mean."""
        properties = {
            "color": Style.colour(curve.hue, curve.shade),
            "alpha": 0.2,
            "linewidth": 0.5,
            "zorder": 1.5,
        }
        for x, y in lines:
            self.ax_.plot(x, y, **{**properties, **style})

    def _finish(self, **drawn: Any) -> Self:
        """Write the title, the sample sizes, the axis labels and the labels of lines.

        Fields of the plot's spec may be given anew. Curves that cannot be seen are named with the
        reason: in the middle of the axes if there are no others.
        """
        spec, systems, write = replace(self.spec, **drawn), self.systems, self._write
        reasons, lines = [], []
        for name, why in {**self._undefined(), **spec.unseen}.items():
            reasons.append(write(why))
            lines.append(with_colon(write(self.curves[name].label), reasons[-1]))
        if len(reasons) == len(self.curves):
            texts = dict.fromkeys(reasons)
            if len(texts) > 1:
                texts = dict.fromkeys(lines)
            self._empty(*texts)
            lines = []
        title = ""
        if spec.title:
            title = title_of(spec.title, systems)
            each = spec.over_each
            if each is None:
                numbers = spec.over(systems)
            else:
                numbers = of_each(systems, lambda dataset: write(each(dataset)))
            about = [*numbers, *spec.details(systems), *self._methods()]
            lines = [*map(write, about), *lines]
        labels, styles = self._once_a_system()
        if spec.title:
            if self._hollow and not styles:
                lines.append("hollow marks only tell the curves apart")
            styles += self._same_curves()
        labels |= spec.texts
        self._titled(title, None, [*styles, *lines])
        for name, line in self.lines_.items():
            text = write(labels.get(name, spec.text(self.curves[name], len(systems) > 1)))
            name_in_legend(line, joined(self._name, text))
        self.legend_ = self._legend() if spec.has_legend else None
        self._labelled(
            spec.x_label,
            spec.y_label,
            _term(spec.terms[0], systems),
            _term(spec.terms[1], systems),
        )
        return self

    def _once_a_system(self) -> tuple[dict[str, Text], list[str]]:
        """Return the labels of curves of which several systems have many, and the line styles.

        Each system is named at its first curve; what its curves are is said by their style.
        """
        labels: dict[str, Text] = {}
        styles = {}
        named = set[int]()
        for name in self.lines_:
            curve = self.curves[name]
            labels[name] = ""
            if id(curve.system) not in named:
                labels[name] = self.spec.once(curve)
            named.add(id(curve.system))
            words = plot_style.marker_words if self._solid else Style.dash_words
            styles[self._write(curve.of_system)] = words(curve.dash)
        if len(self.systems) == 1 or len(labels) <= most_named() or len(styles) < 2:
            return {}, []
        return labels, ["; ".join(f"{dash}: {word}" for word, dash in styles.items())]

    def _same_curves(self) -> list[str]:
        """Return which curves are the same, so that one hides the other."""
        same: list[list[Curve]] = []
        for curve in self.defined:
            for group in same:
                if all(
                    np.array_equal(getattr(curve, axis), getattr(group[0], axis), equal_nan=True)
                    for axis in ("x", "y")
                ):
                    group.append(curve)
                    break
            else:
                same.append([curve])
        lines, several = [], len(self.systems) > 1
        for group in same:
            if len(group) < 2:
                continue
            of_one = len({id(curve.system) for curve in group}) == 1
            names = [self._write(c.of_system if of_one else c.label) for c in group]
            whose = f"{group[0].system.name}: " if of_one and several else ""
            lines.append(f"{whose}{enumerated(names)} are the same curve")
        return lines

    def _methods(self) -> list[str]:
        """Return the confidence and the method of the bands."""
        methods = []
        for name in self.bands_:
            attrs = self.curves[name].system.dataset.attrs
            if "interval_method" in attrs:
                confidence = 100 * float(attrs["confidence"])
                extent = f"at each {self.spec.pointwise_over} alone"
                methods.append(f"bands: {confidence:g} % {extent}, {interval_method(attrs)}")
        return list(dict.fromkeys(methods))


def line_styles(variables: Iterable[str]) -> dict[str, int]:
    """Return the number of the line style of each variable: that of what it is, or a free one."""
    numbers: dict[str, int] = {}
    for variable in variables:
        free = (i for i in range(len(plot_style.DASHES)) if i not in numbers.values())
        known = Style.hues.get(variable)
        if known is None or known in numbers.values():
            known = next(free)
        numbers[variable] = known
    return numbers


def numbered(curves: Sequence[Curve]) -> list[Curve]:
    """Give each curve a colour and a line style.

    Of several systems with several variants (single- and multi-template), each system has its
    colour and each variant its line style; else each curve has its own of both.
    """
    hues: dict[str, int] = {}
    dashes: dict[str, int] = {}
    for curve in curves:
        hues.setdefault(curve.system.group, len(hues))
        dashes.setdefault(curve.system.variant, len(dashes))
    if min(len(hues), len(dashes)) < 2:
        return [replace(curve, hue=i, dash=i) for i, curve in enumerate(curves)]
    return [replace(c, hue=hues[c.system.group], dash=dashes[c.system.variant]) for c in curves]


def _term(term: str | tuple[str, ...], systems: Sequence[System]) -> str:
    """Return the text beside a label: as given, or the other vocabulary's term for rates."""
    return term if isinstance(term, str) else other_term(systems, *term)


def thinned(x: np.ndarray, y: np.ndarray, log: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve without points that are not corners, with at most MAX_CORNERS.

    For drawing only. A point in the middle of a run of equal values is left out.
    """
    keep = np.ones(len(x), dtype=bool)
    if len(x) > 2:
        keep[1:-1] = (y[1:-1] != y[:-2]) | (y[1:-1] != y[2:])
    x, y = x[keep], y[keep]
    if len(x) > MAX_CORNERS:
        index = plot_style.spread(len(x), MAX_CORNERS, log)
        x, y = x[index], y[index]
    return x, y
