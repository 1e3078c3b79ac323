"""Displays: the axes of a plot, what is drawn on them, and curves on one pair of axes.

A plot of curves, such as CMC of several systems, is ::

    plot = Curves("cmc", curves_of(data, "cmc", "rank", {"cms": ""}), ax, style)
    plot.draw()
    return plot.end("CMC", "Rank k", "Cumulative match score")

:class:`Display` has the axes and the words of any plot, :class:`Curves` the lines, bands and names
of curves. The functions at the end make the curves of results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

from bioeval.base.arguments import require_integer, require_list, require_text
from bioeval.base.errors import DataError
from bioeval.plot import plot_axes
from bioeval.plot.plot_axes import CURVE, DASHES, RATES, SIZE, THIN, Style
from bioeval.plot.systems import (
    System,
    agreed,
    as_plot_text,
    by_system,
    data_in_words,
    iso_terms,
    joined,
    kind_of,
    lines_of,
    pick,
    task_in_title,
    undefined,
    without_shared_parts,
)
from bioeval.showing.numbers import written
from bioeval.showing.sizes import candidates_in_words
from bioeval.showing.text import Phrase, Term, Text, parts

# The points of a curve are marked up to this number of points.
FEW_POINTS = 40

# Hollow marks along a line, in diagonals of the axes.
FIRST_MARK = 0.03  # where the first mark of the first line is
NEXT_MARK = 0.05  # by how much the first mark of each next line is farther
MARKS = 0.35  # distance between two marks

# Names at the ends of lines take at most this part of the width of the axes.
END_LABELS = 0.3

# If several systems have more curves than this, the legend names each system and each kind of
# curve once, instead of each curve.
MOST_NAMED = 4


class Display:
    """A drawn plot, which computes no rate: all values that it shows are variables of a result.

    A plot picks its `systems`, begins a display, draws on `ax_` with matplotlib, and writes the
    title, caption and labels with `finish`. A display takes `name`, `figsize` and `title`, which
    all plots have, out of `style`. Texts may be templates with terms of the field:
    ``say("{frr} at {far}")``.

    Attributes
    ----------
    ax_, figure_, legend_ : Axes, Figure, Legend or None
        The axes and the figure of the plot, and the legend of the axes.
    drawn : object
        Drawn data that are not variables of the result, such as histograms by system.
    why_empty : str
        Why there is nothing to draw; empty if there is something.
    """

    def __init__(
        self,
        systems: Iterable[System],
        ax: Axes | Figure | None,
        style: dict[str, Any],
        size: tuple[float, float] = SIZE,
        *,
        drawn: Any = None,
        why_empty: str = "",
    ):
        self.systems = list(systems)
        if style.get("name") is not None and len(self.systems) > 1:
            raise DataError(
                f"name is {style['name']!r}, but {len(self.systems)} systems are drawn; name each "
                "in a mapping of name to result"
            )
        name = style.pop("name", None)
        self.name = "" if name is None else as_plot_text(require_text("name", name))
        self._title: str | None = style.pop("title", "")  # empty: the usual title
        if self._title is not None:
            require_text("title", self._title)
        figsize = style.pop("figsize", None)
        self._look, self._words = Style.look, Style.words
        self.ax_ = plot_axes.axes_for(ax, size, figsize)
        self._grows = not isinstance(ax, Axes) and figsize is None
        self.figure_ = plot_axes.figure_of(self.ax_)
        #: Returns a text with the rates of the first system.
        self.write = lines_of(self.systems[0].dataset).write
        self.legend_: Legend | None = None
        self.drawn = drawn
        self.why_empty = why_empty
        #: The words of the figure in one line: its title, the line below it, and its legend.
        self.caption = ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.caption or self.why_empty!r})"

    def divide(self, rows: int, columns: int, **ratios: Any) -> Axes:
        """Divide the axes into two; return the second axes."""
        spec = self.ax_.get_subplotspec()
        if spec is None:
            raise DataError("ax has no place in a grid; give axes of plt.subplots, or a figure")
        parts = spec.subgridspec(rows, columns, **ratios)
        self.ax_.set_subplotspec(parts[0])
        return plot_axes.axes_for(self.ax_.figure.add_subplot(parts[1]))

    def empty(self, why: Text) -> None:
        """Write in the middle of the axes why nothing is drawn."""
        self.why_empty = self.write(why)
        plot_axes.empty(self.ax_, self.why_empty)

    def of_system(self, title: Text) -> str:
        """Return a title that ends with the name of the only system."""
        (system,) = self.systems
        name = self.name or system.group or as_plot_text(system.text_of("system"))
        return joined(plot_axes.sentence(self.write(title)), name, by=": ")

    def finish(
        self,
        title: Text,
        caption: Sequence[Text] = (),
        x: Text = "",
        y: Text = "",
        ax: Axes | None = None,
        systems: Sequence[System] | None = None,
        *,
        has_legend: bool = True,
    ) -> None:
        """Write the title, one small line below it, the labels of the axes, and the legend.

        The line begins with the attempts and people of the `systems`: by default, of all systems
        on the main axes.
        """
        axes, write = ax or self.ax_, self.write
        if systems is None:
            systems = self.systems if axes is self.ax_ else []
        caption = [*(by_system(systems, data_in_words) if systems else []), *caption]
        legend = plot_axes.labelled(axes, write(x), write(y), self._grows, has_legend)
        if self._title is not None:
            heading = write(title)
            if self._title and axes is self.ax_:
                heading = plot_axes.without_formula(self._title)
            plot_axes.titled(axes, heading, joined(*map(write, caption), by="; "))
        if axes is self.ax_:
            self.legend_ = legend
            names = axes.get_legend_handles_labels()[1]
            if legend is not None:
                names = [x.get_text() for x in legend.get_texts()]
            below = joined(*map(write, caption), by="; ")
            words = joined(write(title), below, by=". ")
            words = joined(Style.translated(words), joined(*names), by=". ")
            self.caption = words.replace("\n", " ").replace("\\$", "$")
            if legend is not None and self._grows:
                plot_axes.make_room(self.figure_, legend)

    def legend(self, **style: Any) -> Legend | None:
        """Draw the legend anew, with the current names and properties of the artists.

        `style` are properties of the legend; ``loc="upper right"`` puts it inside the axes.
        """
        with Style.during(self._look, words=self._words):
            self.legend_, _ = plot_axes.name_artists(self.ax_, **style)
        return self.legend_

    def named(self, label: Text, *rates: str) -> str:
        """Return a label with ISO's terms for its rates, in brackets.

        By default, the rates are the terms of its template. Terms are left out if systems differ.
        """
        if isinstance(label, Phrase):
            rates = tuple(x.name for x in parts(label) if isinstance(x, Term))
        terms = agreed(self.systems, lambda x: iso_terms(x.dataset, *rates)) if rates else ""
        return f"{self.write(label)} ({terms})" if terms else self.write(label)


def legend_text(text: str) -> str:
    """Return a name for a legend, which leaves out names that begin with an underscore."""
    return f" {text}" if text.startswith("_") else text or "_nolegend_"


# -------------------------------------------------------------------------------- curves


@dataclass(frozen=True)
class Curve:
    """One curve of a display; `x` and `y` are in the order of the dataset."""

    name: str  # the system and `word`, in the lecture's terms; may be empty for a single curve
    x: np.ndarray
    y: np.ndarray
    system: System
    why_not: Text = ""  # why the curve is undefined; empty if it is drawn
    hue: int = 0  # number of the colour
    dash: int = 0  # number of the line style
    shade: int = 0  # number among curves of the same meaning, which share a colour
    low: np.ndarray | None = None  # lower confidence limit of each y, if the dataset has limits
    high: np.ndarray | None = None  # upper confidence limit of each y
    variable: str = ""  # variable on the vertical axis
    word: Text = ""  # name among the curves of the system

    @classmethod
    def from_variables(
        cls,
        system: System,
        x: str,
        y: str,
        word: Text = "",
        rank: int | None = None,
    ) -> Curve:
        """Return the curve of variable `y` against `x`, at one rank if the variables have ranks."""
        dataset = system.dataset

        def values(variable: str) -> np.ndarray | None:
            if variable not in dataset:
                return None
            array = dataset[variable]
            if rank is not None and array.ndim > 1:
                array = array.sel(rank=rank)
            return array.values

        low, high = (values(f"{y}_{end}") for end in ("low", "high"))
        if low is not None and np.isnan(low).all():
            low = high = None
        why_not = undefined(dataset, x, word) or undefined(dataset, y, word)
        arrays: Any = {"x": values(x), "y": values(y), "low": low, "high": high}
        name = joined(system.name, written(word))
        return cls(name, system=system, why_not=why_not, variable=y, word=word, **arrays)


class Curves(Display):
    """Curves of one or several systems on one pair of axes.

    A plot draws the curves that are `defined` by `line` and `band`, or all of them by `draw`, and
    returns `end`.

    Attributes
    ----------
    curves : dict of str to Curve
        The arrays, by the names of the curves.
    lines_, bands_ : dict
        The lines and their confidence bands, by the same names.
    """

    def __init__(
        self,
        plot: str,
        curves: Iterable[Curve],
        ax: Axes | Figure | None,
        style: dict[str, Any],
        size: tuple[float, float] = SIZE,
        *,
        solid: bool = False,
        marked: bool | None = None,
        label: Callable[[Curve], str] | None = None,
    ):
        """Begin a drawing.

        Lines in steps are `solid`, since a dash looks like a step, and differ in markers. Points
        are `marked`, by default if they are few. `label` returns the name of a curve in the legend.
        """
        self.curves: dict[str, Curve] = {}
        for curve in curves:
            if curve.name in self.curves:
                raise DataError(f"two curves are called {curve.name!r}; rename one of the systems")
            self.curves[curve.name] = curve
        systems = {id(curve.system): curve.system for curve in self.curves.values()}.values()
        super().__init__(systems, ax, style, size)
        self.plot, self.solid, self.marked = plot, solid, marked
        self._label = label or (lambda curve: joined(curve.system.name, self.write(curve.word)))
        self.style = normalize_kwargs(style, Line2D)  # linewidth for lw
        self.lines_: dict[str, Line2D] = {}
        self.bands_: dict[str, Any] = {}
        # Colours are taken in the order of the curves, also of curves that are not drawn.
        self._colours = {
            name: curve.system.colour(curve.hue, curve.shade) for name, curve in self.curves.items()
        }
        self.defined = [curve for curve in self.curves.values() if not curve.why_not]
        #: Whether the legend names each system and each kind of curve once.
        kinds = {self.write(curve.word) for curve in self.defined}
        is_long = len(self.defined) > MOST_NAMED
        self._is_abridged = len(self.systems) > 1 and len(kinds) > 1 and is_long
        whys = dict.fromkeys(self.write(curve.why_not) for curve in self.curves.values())
        self.why_empty = "" if self.defined else "; ".join(whys)

    def draw(self, **limits: Any) -> None:
        """Draw straight lines with their bands, by default on axes from 0 to 1."""
        for curve in self.defined:
            self.line(curve, curve.x, curve.y, drawstyle="default")
            self.band(curve)
        self.ax_.set(**{"xlim": RATES, "ylim": RATES, **limits})

    def over_thresholds(self, log: bool = False) -> str:
        """Draw rates in steps over the thresholds, with their bands; return the axis label.

        For a logarithmic axis, rates of 0 are left out.
        """
        kind = kind_of(self.systems, self.plot)
        # Rates of distances hold from a threshold up to the next, rates of similarities back to the
        # threshold before.
        steps = "steps-pre" if kind == "similarity" else "steps-post"
        self.ax_.set_ylim(RATES)
        for curve in self.defined:
            is_drawn = np.isfinite(curve.x) & (curve.y > 0 if log else np.isfinite(curve.y))
            self.line(curve, curve.x[is_drawn], curve.y[is_drawn], drawstyle=steps)
            self.band(curve, is_drawn)
        sign = "≥" if kind == "similarity" else "≤"
        return f"Threshold t ({kind}: accepted if {sign} t)"

    def line(self, curve: Curve, x: np.ndarray, y: np.ndarray, **properties: Any) -> None:
        """Draw one curve in steps; the points of a curve with few points are marked.

        If several systems have several curves each, a system has its mark and a kind its dashes.
        Marks that are not at points are hollow, and apart from the marks of other curves.
        """
        is_marked = len(x) <= FEW_POINTS if self.marked is None else self.marked
        look: dict[str, Any] = {
            "color": self._colours[curve.name],
            "linewidth": CURVE,
            "drawstyle": "steps-post",
            "solid_joinstyle": "miter",
            "linestyle": Style.dash(curve.dash),
        }
        differs_in_marks = self._is_abridged or (self.solid and len(self.curves) > 1)
        if differs_in_marks:
            number = curve.hue if self._is_abridged else curve.dash
            look.update(marker=Style.marker(number), markersize=4.5)
            if not self._is_abridged:
                look["linestyle"] = "-"
            if not is_marked:
                first_mark = FIRST_MARK + NEXT_MARK * (number % len(DASHES))
                look.update(markerfacecolor="white", markeredgewidth=1.2)
                look["markevery"] = first_mark, MARKS
        elif is_marked:
            look.update(marker="o", markersize=3.2)
        (self.lines_[curve.name],) = self.ax_.plot(x, y, **{**look, **properties, **self.style})

    def reference(self, x: Any, y: Any) -> None:
        """Draw a thin line with which curves are compared."""
        self.ax_.plot(x, y, color=Style.rule, linewidth=0.9, linestyle=":", zorder=1)

    def band(self, curve: Curve, where: Any = True, floor: float = -np.inf) -> None:
        """Draw the confidence limits of a curve, in steps like its line; at a single point, a bar.

        `where` is a mask of its points. Values of `x` below `floor`, the end of a logarithmic axis,
        are drawn at `floor`.
        """
        if curve.low is None or curve.high is None:
            return
        line = self.lines_[curve.name]
        is_drawn = np.isfinite(curve.x) & where
        x, low, high = (values[is_drawn] for values in (curve.x, curve.low, curve.high))
        if len(x) > 1 and x[0] > x[-1]:
            x, low, high = x[::-1], low[::-1], high[::-1]
        limits = np.maximum(x, floor), low, high
        if len(x) == 1:
            self.bands_[curve.name] = self.ax_.vlines(*limits, color=line.get_color())
            return
        properties: dict[str, Any] = {"color": line.get_color(), "alpha": 0.16, "linewidth": 0}
        if (drawstyle := line.get_drawstyle()) != "default":
            properties["step"] = drawstyle.removeprefix("steps-")
        self.bands_[curve.name] = self.ax_.fill_between(*limits, zorder=1.5, **properties)

    def cloud(self, curve: Curve, lines: Iterable[tuple[Any, Any]], **style: Any) -> None:
        """Draw curves of folds behind their mean; a curve of a single point is a dot."""
        properties: dict[str, Any] = {"color": self._colours[curve.name], "alpha": 0.45}
        properties |= {"linewidth": THIN, "zorder": 1.5}
        for line in lines:
            dot = {"marker": "."} if len(line[0]) == 1 else {}
            self.ax_.plot(*line, **{**properties, **dot, **style})

    def end(
        self,
        title: Text,
        x: Text,
        y: Text,
        *,
        caption: Sequence[Text] = (),
        last: Sequence[Text] = (),
        unseen: Mapping[str, Text] | None = None,
    ) -> Curves:
        """Write the words of the plot, and name its lines.

        Below the title are the attempts and people, the `caption`, and the parts of the caption
        that come `last`. Curves that cannot be seen are named with the reason, in the middle of the
        axes if no curve can be seen.
        """
        names = [system.name for system in self.systems]
        shorter, shared = without_shared_parts(names)
        self._name_lines(dict(zip(names, shorter, strict=True)))
        absences = self._absences(unseen or {})

        # The parts of the caption; an empty one is left out.
        candidates = by_system(self.systems, lambda x: candidates_in_words(x.dataset.attrs))
        levels = set()
        for name, drawn in self.bands_.items():
            attrs = self.curves[name].system.dataset.attrs
            if "confidence" in attrs:
                word = "bars" if isinstance(drawn, LineCollection) else "bands"
                levels.add((100 * float(attrs["confidence"]), word))
        self.finish(
            joined(self.write(title), task_in_title(self.systems), by=": "),
            [
                *caption,
                f"names: {shared}" if shared else "",
                *candidates,
                *[f"{word}: {level:g} % at each point" for level, word in sorted(levels)],
                *last,
                *absences,
            ],
            self.named(x),
            self.named(y),
            has_legend=not self._label_ends(),
        )
        return self

    def _name_lines(self, short_names: Mapping[str, str]) -> None:
        """Name each line or, in a long legend, each system and each line style once.

        `short_names` are the names of systems without what all have in common, by the full names.
        """
        unnamed_systems = dict(short_names)
        curve_of_kind: dict[str, Curve] = {}
        for name, line in self.lines_.items():
            curve = self.curves[name]
            system = curve.system.name
            text = short_names[system] + self._label(curve).removeprefix(system)
            if self._is_abridged:
                text = unnamed_systems.pop(system, "")  # at its first line alone
                curve_of_kind[self.write(curve.word)] = curve
            line.set_label(legend_text(joined(self.name, text)))
        for word, curve in curve_of_kind.items():
            dash = Style.dash(curve.dash)
            self.ax_.plot([], [], color=Style.text, label=word, linestyle=dash)

    def _absences(self, unseen: Mapping[str, Text]) -> list[str]:
        """Return the names of curves that cannot be seen with the reasons, for the caption.

        If no curve can be seen, the reasons are written in the middle of the axes instead.
        """
        names_of: dict[str, list[str]] = {}  # of the curves, by the reason
        for key, curve in self.curves.items():
            reason = self.write(curve.why_not or unseen.get(key, ""))
            if reason:
                is_named = self.write(curve.word) in reason
                name = curve.system.name if is_named else self._label(curve)
                names_of.setdefault(reason, []).append(name)
        absences = [joined(joined(*names), reason, by=": ") for reason, names in names_of.items()]
        if sum(map(len, names_of.values())) < len(self.curves):
            return absences
        reasons = names_of if len(names_of) == 1 else absences
        plot_axes.empty(self.ax_, "; ".join(reasons))
        return []

    def _label_ends(self) -> bool:
        """Name several systems at the right ends of their lines, if all names fit beside the axes.

        Return whether they do: then no legend is needed.
        """
        lines = [line for line in self.lines_.values() if line.get_visible()]
        has_layout = self.figure_.get_layout_engine() is not None
        is_named_apart = len(self.ax_.get_legend_handles_labels()[0]) == len(lines)
        if len(self.systems) < 2 or not lines or not is_named_apart:
            return False
        if not has_layout or Style.look.is_flat:
            return False
        # All lines have to end at the same x, in sight.
        (_, right), (bottom, top) = self.ax_.get_xlim(), sorted(self.ax_.get_ylim())
        drawn = [np.asarray(line.get_xydata()) for line in lines]
        last_points = [(float(xy[-1, 0]), float(xy[-1, 1])) for xy in drawn if len(xy)]
        ends = [(x, y) for x, y in last_points if bottom <= y <= top]
        if len(ends) < len(lines) or len({x for x, _ in ends}) > 1:
            return False
        # They end near the right side, so far from each other that their names do not overlap.
        pixels = self.ax_.transData.transform([*ends, (right, top)])
        box = self.ax_.get_window_extent()
        is_at_right = pixels[-1, 0] - pixels[0, 0] < 0.05 * box.width
        width, height = plot_axes.room(self.ax_)
        gaps = np.diff(np.sort(pixels[:-1, 1])) / box.height * height  # in points
        small = Style.look.small
        names = [str(line.get_label()) for line in lines]
        longest = plot_axes.LETTER * small * max(map(len, names))
        is_too_close = gaps.min(initial=np.inf) < plot_axes.LINE * small
        if not is_at_right or is_too_close or longest > END_LABELS * width:
            return False
        for line, end, name in zip(lines, ends, names, strict=True):
            words: dict[str, Any] = {"va": "center", "color": line.get_color()}
            plot_axes.note(self.ax_, name, end, (6, 0), annotation_clip=False, **words)
        return True


def curves_of(data: Any, plot: str, x: str, y: Mapping[str, Text]) -> list[Curve]:
    """Return the curves of the variables `y`, with their names in words, against `x`.

    Lines of a single system have the colour and the line style of their variable. Lines of several
    systems have the colour of their system.
    """
    systems = pick(data, plot)
    if len(y) == 1:
        ((variable, word),) = y.items()
        return numbered([Curve.from_variables(system, x, variable, word) for system in systems])
    curves = []
    for number, system in enumerate(systems):
        for i, (variable, word) in enumerate(y.items()):
            if variable in system.dataset:
                hue_of_variable = Style.hues.get(variable, i)
                hue = hue_of_variable if len(systems) == 1 else number
                curve = Curve.from_variables(system, x, variable, word)
                curves.append(replace(curve, hue=hue, dash=hue_of_variable))
    return curves


def curves_by_rank(
    data: Any, plot: str, x: str, y: str, ranks: Sequence[int] | None
) -> list[Curve]:
    """Return a curve for each system and rank, coloured by system; one system has shades."""
    systems = pick(data, plot)
    requested = require_list("ranks", (1, 5, 10) if ranks is None else ranks)
    requested = [require_integer("ranks", rank, low=1) for rank in requested]
    if not requested:
        raise DataError("ranks is empty; expected at least one rank")
    curves = []
    for number, system in enumerate(systems):
        result_ranks = system.dataset["rank"].values.tolist()
        missing = [rank for rank in requested if rank not in result_ranks]
        if ranks is not None and missing:
            raise DataError(
                f"rank {missing[0]} is not in the result; it has ranks 1 to {max(result_ranks)}; "
                f"evaluate with max_rank={max(missing)} or more"
            )
        for i, rank in enumerate(rank for rank in requested if rank in result_ranks):
            curve = Curve.from_variables(system, x, y, f"rank {rank}", rank)
            shade = i if len(systems) == 1 else 0
            curves.append(replace(curve, hue=number, shade=shade, dash=i))
    return curves


def numbered(curves: Sequence[Curve]) -> list[Curve]:
    """Give each curve a colour and a line style.

    Where several systems have several variants (single- and multi-template), each system has its
    colour and each variant its line style; else every curve has a colour and a line style of its
    own.
    """
    groups = [curve.system.group for curve in curves]
    variants = [curve.system.variant for curve in curves]
    hues, dashes = [*dict.fromkeys(groups)], [*dict.fromkeys(variants)]
    if min(len(hues), len(dashes)) < 2:
        return [replace(curve, hue=i, dash=i) for i, curve in enumerate(curves)]
    return [
        replace(curve, hue=hues.index(group), dash=dashes.index(variant))
        for curve, group, variant in zip(curves, groups, variants, strict=True)
    ]
