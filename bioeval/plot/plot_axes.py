"""Axes and style of all plots: sizes, colours, lines, words, legends and ticks.

A plot is a function under :func:`styled`, which sets the colours, sizes and words of :class:`Style`
while it draws. It takes its axes from :func:`axes_for`, draws on them with matplotlib, and calls
the functions below for everything that is written: :func:`labelled` for the labels of the axes and
the legend, :func:`titled` for the title, :func:`rank_axis` or :func:`rate_axis` for the ticks.

Words are placed before they are drawn, so their sizes are estimates: a line of `n` letters of 8.5
points is about ``n * LETTER * 8.5`` points long, and `k` lines are ``k * LINE * 8.5`` points high.
Lengths are in points (72 an inch) unless a comment says otherwise.
"""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, ParamSpec, TypeVar

import matplotlib
import numpy as np
from matplotlib import ticker
from matplotlib.axes import Axes
from matplotlib.colorbar import Colorbar
from matplotlib.colors import is_color_like, to_rgb
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Annotation
from matplotlib.transforms import ScaledTranslation

from bioeval.base.arguments import (
    require_choice,
    require_list,
    require_listed_numbers,
    require_number,
)
from bioeval.base.errors import BioevalError, DataError, received

# The hues of Okabe and Ito (2008) without the yellow. Purple, orange and sky blue are darker than
# theirs: the contrast of each line with white is at least 3:1 (WCAG 2.2, 1.4.11).
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#C66A9C", "#AA7700", "#2F95D0", "#000000")

# Numbers of colours and line styles, with the same meaning in all plots.
GENUINE = 0
IMPOSTOR = 1
DETECTED = 3  # identification with a threshold
MATCHED = 4  # identification without a threshold
BOTH = 6  # errors of both classes, or estimates

# Curves of one meaning (ranks) have shades of its colour: proportions by which
# they are lighter, or, if negative, darker.
SHADES = (0.0, -0.5, 0.45, -0.75)

# Colour is never the only difference between two lines: they also differ in dashes or, if they are
# steps, in markers, since a dash looks like a step.
DASHES: tuple[Any, ...] = (
    "-",
    (0, (6, 1.8)),
    (0, (1.2, 1.4)),
    (0, (6, 1.6, 1.2, 1.6)),
    (0, (3, 1.4)),
    (0, (6, 1.6, 1.2, 1.6, 1.2, 1.6)),
    (0, (10, 3)),
    (0, (10, 2, 3, 2)),
    (0, (1.2, 3.2)),
    (0, (10, 1.6, 1.2, 1.6, 1.2, 1.6, 1.2, 1.6)),
)
MARKERS = ("s", "^", "D", "v", "P", "X", "<", "o", "*", "p")

GRID, SHADE = "#e8e8e8", "#f3f3f3"  # colours of the grid, and of a shaded part of the axes
SIZE, SQUARE = (6.4, 4.8), (5.8, 6.0)  # of a figure, in inches

# Widths of lines, in points.
CURVE = 1.6  # a curve, an interval
OUTLINE = 1.4  # of a histogram
THIN = 0.8  # a reference, an axis


@dataclass(frozen=True)
class Look:
    """The sizes of a style: type in points, figures in inches."""

    title: float = 11.0
    label: float = 10.0  # font size of the label of an axis
    small: float = 8.5  # font size of all other words
    width: float | None = None  # width of every figure; None: as wide as the plot needs
    # Height of every figure; None: as high as the plot needs at this width.
    height: float | None = None

    @property
    def is_flat(self) -> bool:
        """Whether figures are too flat for square axes."""
        return self.height is not None

    @property
    def is_narrow(self) -> bool:
        """Whether figures are too narrow for panels side by side."""
        return self.width is not None and self.height is None

    @property
    def factor(self) -> float:
        """The size of the letters, relative to the usual size."""
        return self.label / Look.label


#: The styles by name. Letters on a slide have at least 1/30 of its height; a figure on paper has
#: the width and the letters of a journal's column.
LOOKS = {
    "default": Look(),
    "slide": Look(12.0, 10.0, 9.0, width=6.4, height=3.6),
    "paper": Look(8.0, 8.0, 8.0, width=3.5),
}


RGB = tuple[float, float, float]


class Palette:
    """The colours of one plot: the usual ones, or `colors`, a list or a mapping by system.

    The colours of a list are used in the order in which the plot asks for them, and repeated if
    they are too few.
    """

    def __init__(self, colors: Any = None):
        self.by_system: dict[str, RGB] = {}
        self.listed: list[RGB] = []
        #: Places in the list, by number and shade of the colours that the plot has asked for.
        self.places: dict[tuple[int | str, int], int] = {}
        if isinstance(colors, Mapping):
            for name, colour in colors.items():
                self.by_system[str(name)] = _rgb(f"colors[{name!r}]", colour)
        elif colors is not None:
            listed = require_list("colors", colors)
            self.listed = [_rgb(f"colors[{i}]", colour) for i, colour in enumerate(listed)]
            if not listed:
                raise DataError("colors is empty; expected at least one colour")


def _rgb(name: str, colour: Any) -> RGB:
    if not is_color_like(colour):
        raise DataError(
            f"{name} is {received(colour)}; expected a colour of matplotlib, such as 'tab:blue' "
            "or '#0072B2'"
        )
    return to_rgb(colour)


class Translated(str):
    """A text that has the user's words."""


class Style:
    """Colours, line styles and sizes of all plots: ``Style.text``, ``Style.colour(0)``."""

    text = "#222222"  # colour of text
    quiet = "#666666"  # colour of text of less importance
    rule = "#9a9a9a"  # colour of lines that are no curves
    look: ClassVar = LOOKS["default"]  # set by :func:`style`, and scaled while a plot is drawn
    palette: ClassVar = Palette()  # palette of the plot being drawn
    labels: ClassVar[Any] = None  # labels of the systems of this plot, as a user gave them
    #: Other words for words of this plot: labels that name no system, and those that were used.
    words: ClassVar[dict[str, str]] = {}
    used: ClassVar[set[str]] = set()
    #: Number of the colour and line style of each variable: FRR is of genuine attempts.
    hues: ClassVar = {
        **dict.fromkeys(
            ("frr", "frr_at_threshold", "frr_at_far", "genuine_above", "mrep"), GENUINE
        ),
        **dict.fromkeys(("far", "far_at_threshold", "impostor_above", "mfr"), IMPOSTOR),
        **dict.fromkeys(("dir", "deta_at_alpha"), DETECTED),
        **dict.fromkeys(("cms", "assa_at_alpha"), MATCHED),
        **dict.fromkeys(("hter", "hter_w", "eer", "hota_at_alpha"), BOTH),
    }

    @classmethod
    @contextmanager
    def during(
        cls,
        look: Look,
        palette: Palette | None = None,
        labels: Any = None,
        words: Mapping[str, str] | None = None,
    ) -> Iterator[None]:
        """Draw in the sizes of `look`, with colours, labels and words of one plot, in a block."""
        before = cls.look, cls.palette, cls.labels, cls.words, cls.used
        cls.look, cls.palette, cls.labels = look, palette or Palette(), labels
        cls.words, cls.used = dict(words or {}), set()
        try:
            yield
        finally:
            cls.look, cls.palette, cls.labels, cls.words, cls.used = before

    @classmethod
    def translated(cls, text: str) -> str:
        """Return a text of the plot with the user's words, once; longer phrases come first."""
        if not cls.words or isinstance(text, Translated):
            return text

        def replace_word(found: re.Match[str]) -> str:
            cls.used.add(found[0])
            return cls.words[found[0]]

        phrases = "|".join(map(re.escape, sorted(cls.words, key=len, reverse=True)))
        return Translated(re.sub(rf"(?<!\w)(?:{phrases})(?!\w)", replace_word, text))

    @classmethod
    def colour(cls, number: int | str, shade: int = 0, names: Iterable[str] = ()) -> RGB:
        """Return the colour of a curve by its number; colours beyond the palette are greyer.

        Curves of one meaning have one number, and differ in their `shade`. `names` are the names of
        its system, which ``colors=`` may have. Artists without a class or system give their usual
        colour in place of a number.
        """
        palette = cls.palette
        for name in names:
            if name in palette.by_system:
                return palette.by_system[name]
        if palette.listed:
            index = palette.places.setdefault((number, shade), len(palette.places))
            return palette.listed[index % len(palette.listed)]
        if isinstance(number, str):
            return to_rgb(number)
        # Each further round of the palette is nearer to a medium grey, 0.5.
        round_of_palette, index = divmod(number, len(PALETTE))
        rgb = 0.5 + (np.array(to_rgb(PALETTE[index])) - 0.5) * 0.45**round_of_palette
        # A shade is nearer to white, 1.0, or to black, 0.0.
        proportion = SHADES[shade % len(SHADES)]
        end = 1.0 if proportion > 0 else 0.0
        rgb += abs(proportion) * (end - rgb)
        return float(rgb[0]), float(rgb[1]), float(rgb[2])

    @staticmethod
    def dash(number: int) -> Any:
        """Return the line style of a curve by its number; ten differ."""
        return DASHES[number % len(DASHES)]

    @staticmethod
    def marker(number: int) -> str:
        """Return the marker of a solid curve by its number; ten differ."""
        return MARKERS[number % len(MARKERS)]


P = ParamSpec("P")
Drawn = TypeVar("Drawn")


def styled(draw: Callable[P, Drawn]) -> Callable[P, Drawn]:
    """Return a public plot that takes ``colors``, ``fontsize`` and ``labels``.

    Letters have `fontsize`, or else grow with the setting ``font.size`` of matplotlib. If
    matplotlib refuses properties, the error names them.
    """
    arguments = inspect.signature(draw).parameters

    @functools.wraps(draw)
    def draw_styled(*args: P.args, **options: P.kwargs) -> Drawn:
        look = Style.look
        # The looks are made for letters of 10 points, the usual size of matplotlib.
        factor = matplotlib.rcParams["font.size"] / 10.0
        fontsize = options.pop("fontsize", None)
        if fontsize is not None:
            factor = require_number("fontsize", fontsize, low=1, high=100) / look.label
        sizes = {x: factor * getattr(look, x) for x in ("title", "label", "small")}
        palette = Palette(options.pop("colors", None))
        properties = ", ".join(f"{x}={y!r}" for x, y in options.items() if x not in arguments)
        labels = options.pop("labels", None)
        if "label" in options:
            raise DataError("label is no property of a plot; labels=[...] names the systems")

        with Style.during(replace(look, **sizes), palette, labels):
            try:
                display = draw(*args, **options)
            except BioevalError:
                raise
            except (AttributeError, TypeError, ValueError) as error:
                # An error inside matplotlib is about the properties that the user gave, if any.
                *_, last = traceback.extract_tb(error.__traceback__)
                of_matplotlib = Path(matplotlib.__file__).parent in Path(last.filename).parents
                if not properties or not of_matplotlib:
                    raise
                raise DataError(
                    f"be.plot.{draw.__name__} cannot be drawn with {properties}: {error}"
                ) from error
            if Style.words and not Style.used:
                words = ", ".join(map(repr, Style.words))
                raise DataError(f"labels has {words}, but the plot has no such system or word")
            return display

    return draw_styled


def style(name: str) -> AbstractContextManager[object]:
    """Choose the sizes of the plots that are drawn from now on, or in a ``with`` block.

    Colours and lines are the same in all styles. A single plot has another size with `figsize`, and
    no title with ``title=None``. :func:`bioeval.plot.save` keeps these sizes;
    ``dpi=300`` makes 1920 x 1080 pixels of a slide. Settings of matplotlib stay as they are.

    Parameters
    ----------
    name : {"default", "slide", "paper"}
        ``"slide"``: figures of 6.4 x 3.6 inches (16:9), whose letters have at least 1/30 of the
        height: they are read from the last row. ``"paper"``: figures 3.5 inches wide, a column of a
        journal, with letters of 8 points. ``"default"``: each plot as large as it needs to be.

    Returns
    -------
    context manager
        In ``with be.plot.style("slide"):``, the style holds to the end of the block. As a
        statement, until another is chosen.

    Examples
    --------
    >>> import bioeval as be
    >>> result = be.verification(be.simulate(20, 4))
    >>> with be.plot.style("slide"):
    ...     display = be.plot.roc(result)
    >>> display.figure_.get_size_inches().tolist()
    [6.4, 3.6]
    """
    require_choice("style", name, LOOKS)
    restored = ExitStack()
    restored.callback(setattr, Style, "look", Style.look)
    Style.look = LOOKS[name]
    return restored


# Sizes of words, in heights of a letter.
LETTER, BOLD = 0.56, 0.64  # mean width of a letter, and of a bold letter
LINE = 1.3  # distance of lines
LEGEND_KEY = 6  # width of a legend's key, with the space around it
LEGEND_ROW = 1.4  # height of a row of a legend
NUMBERS = 24 / 8.5  # width of the numbers at an axis

FEWEST_LETTERS = 16  # in a line into which a text is folded

# A legend below the axes leaves them at least this part of the height; one beside them takes at
# most this part of the width.
LEAST_AXES, WIDEST_LEGEND = 0.35, 0.45

# Room around the axes of a figure without a layout: left, below, right and above. It is about what
# numbers, labels and a title need, and grows with the letters.
MARGINS = 44, 36, 8, 34
TITLE_GAP = 9  # from the axes to a title without a caption
TICK_PAD = 3.5  # from the axes to the numbers

# Inches by which a figure is higher than the shape of a plot asks for.
HEIGHT_OF_WORDS = 0.8  # if the style has a fixed width: room for the words
HEIGHT_OF_LETTERS = 2.6  # if the letters have twice the size, so that the axes are as large

FREE = 0.015  # part of an axis of rates that is free at either end, for curves at 0 or 1
RATES = -FREE, 1 + FREE

LINEAR_RANKS = 30  # an axis of more ranks is logarithmic
FEW_RANKS = 10  # an axis of as many ranks is not shortened


def axes_for(
    ax: Axes | Figure | None, size: tuple[float, float] = SIZE, figsize: Any = None
) -> Axes:
    """Return `ax`, or axes in a given or a new figure, in the style of all plots.

    A figure has `figsize`, or the size of the style, or the `size` that the plot needs.
    """
    look = Style.look
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure(layout="constrained")
    if isinstance(ax, Figure):
        ax.set_size_inches(_size_of_figure(size, figsize))
        width, height = 72 * ax.get_size_inches()
        left, below, right, above = np.array(MARGINS) * look.factor
        ax.subplotpars.update(left / width, below / height, 1 - right / width, 1 - above / height)
        ax = ax.add_subplot()
    elif not isinstance(ax, Axes):
        raise DataError(f"ax is {received(ax)}; expected axes or a figure of matplotlib")
    elif figsize is not None:
        raise DataError("figsize is the size of a new figure; leave out figsize, or ax")
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set(color=Style.rule, linewidth=THIN)
    ticks: dict[str, Any] = {"color": Style.rule, "labelcolor": Style.text, "width": THIN}
    ax.tick_params(which="both", labelsize=look.small, pad=TICK_PAD * look.factor, **ticks)
    ax.tick_params(which="minor", length=2)
    ax.grid(True, which="major", color=GRID, linewidth=THIN)
    ax.set_axisbelow(True)
    return ax


def _size_of_figure(size: tuple[float, float], figsize: Any) -> tuple[float, float]:
    """Return width and height in inches: `figsize`, or those of the style for a plot of `size`."""
    look = Style.look
    width, height = size
    if figsize is not None:
        expected = "a width and a height in inches, 1 to 100 each"
        width, height = require_listed_numbers(
            "figsize",
            figsize,
            expected,
            lambda x: len(x) == 2 and bool(((x >= 1) & (x <= 100)).all()),
        ).tolist()
        return width, height
    if look.width is None:
        return width, height + (look.factor - 1) * HEIGHT_OF_LETTERS
    if look.height is None:
        return look.width, look.width * height / width + HEIGHT_OF_WORDS
    return look.width, look.height


def figure_of(ax: Axes) -> Figure:
    """Return the figure of `ax`, past any subfigures."""
    return ax.figure.figure


def room(ax: Axes) -> tuple[float, float]:
    """Return the approximate width and height of the axes after layout, in points."""
    box, dpi = ax.get_window_extent(), figure_of(ax).dpi  # in pixels
    ticks = [x.get_text() for x in ax.get_yticklabels()] if ax.axison else []
    letters = max((len(x) for x in ticks if "$" not in x), default=0)  # no formulas such as 10^3
    # The margin has room for numbers and one line of a label: long names and further lines of the
    # label take theirs from the axes.
    names = max(0, LETTER * Style.look.small * letters - NUMBERS * Style.look.small)
    lines = LINE * Style.look.label * ax.get_ylabel().count("\n")
    return 72 * box.width / dpi - names - lines, 72 * box.height / dpi


def folded(text: str, length: float, size: float, letter: float = LETTER) -> str:
    """Break a text into lines of about `length` points; ``95 %`` and ``FAR < 1`` stay together."""
    # A line is not broken at a no-break space, which takes the place of the space before "%" and of
    # the spaces around a sign such as "<".
    text = re.sub(r" (?=%|[<>=≤≥/] )|(?<= [<>=≤≥/]) ", "\u00a0", Style.translated(text))
    columns = max(FEWEST_LETTERS, int(length / (letter * size)))
    text = textwrap.fill(text, columns, break_on_hyphens=False).replace("\u00a0", " ")
    return Translated(text)


def without_formula(text: str) -> str:
    """Return printable text that matplotlib does not read as a formula between dollars."""
    return re.sub(r"(?<!\\)\$", r"\\$", text)


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def note(ax: Axes, text: str, place: tuple[float, float], step: Any, **style: Any) -> Annotation:
    """Write a small text at `place` (data, fraction of the axes), `step` points from it."""
    places = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    properties = {**places, "fontsize": Style.look.small, "color": Style.quiet, **style}
    return ax.annotate(without_formula(Style.translated(text)), place, step, **properties)


def named_line(ax: Axes, x: float, text: str, colour: str, to_the_right: float, down: int) -> None:
    """Draw a vertical line with its name at its top, `down` points from it.

    The name is at the left beyond the part `to_the_right` of the axis.
    """
    ax.axvline(x, color=colour, linewidth=THIN, linestyle=":", zorder=1)
    step, side = (-4, "right") if x > to_the_right * ax.get_xlim()[1] else (4, "left")
    note(ax, text, (x, 1), (step, -down), va="top", ha=side)


def titled(ax: Axes, title: str, caption: str = "") -> None:
    look, wide = Style.look, room(ax)[0]
    lines = folded(caption, wide, look.small) if caption else ""
    pad = TITLE_GAP * look.factor + LINE * look.small * len(lines.splitlines())
    properties: dict[str, Any] = {"fontsize": look.title, "fontweight": "bold", "color": Style.text}
    ax.set_title(folded(title, wide, look.title, BOLD), loc="left", pad=pad, **properties)
    if lines:
        place: dict[str, Any] = {"xycoords": "axes fraction", "va": "bottom", "linespacing": 1.25}
        note(ax, lines, (0, 1), (0, 5), annotation_clip=False, **place)


def labelled(
    ax: Axes, x: str, y: str, grow: bool = False, has_legend: bool = True
) -> Legend | None:
    """Label both axes, and name the labelled artists in a legend, for which a figure may `grow`."""
    size = Style.look.label
    properties: dict[str, Any] = {"fontsize": size, "color": Style.text}
    # The legend is made twice: the label at the left may be as long as the axes above the legend
    # are high, and lines of this label leave less width for the legend.
    height_of_legend, has_grown = 0.0, False
    if has_legend:
        size_before = figure_of(ax).get_size_inches().tolist()
        _, height_of_legend = name_artists(ax, grow)
        has_grown = figure_of(ax).get_size_inches().tolist() != size_before
    ax.set_ylabel(folded(y, room(ax)[1] - height_of_legend, size), loc="bottom", **properties)
    ax.set_xlabel(folded(x, room(ax)[0], size), loc="left", **properties)
    return name_artists(ax, grow, has_grown)[0] if has_legend else None


def make_room(figure: Figure, legend: Legend) -> None:
    """Make a figure as high as a legend below the axes needs.

    Sizes of words are estimates, and a layout makes a square smaller one drawing too late.
    """
    for _ in range(2):
        figure.draw_without_rendering()
        missing = 2 - legend.get_window_extent().y0  # pixels
        if missing > 0:
            width, height = figure.get_size_inches()
            figure.set_size_inches(width, height + missing / figure.dpi)


def name_artists(
    ax: Axes, grow: bool = False, has_grown: bool = False, **style: Any
) -> tuple[Legend | None, float]:
    """Name the labelled artists in a legend; return the legend, and its height below the axes.

    Below the axes is the first choice: there, a layout engine makes room for the legend if this
    leaves the axes enough of the height, if the figure may `grow` downwards, or if it `has_grown`
    for it before. Else the legend is beside the axes of a flat figure or, at last, in the emptiest
    corner of the axes. The height is 0 if the legend is not below. `style` are properties of the
    legend; with a ``loc``, it is inside the axes.
    """
    artists, texts = ax.get_legend_handles_labels()
    if not artists:
        return None, 0.0
    figure = figure_of(ax)
    small = Style.look.small
    width, height = room(ax)

    # The size of the legend below the axes, in as many columns as fit, and beside them in one.
    names_below = [folded(text, width - LEGEND_KEY * small, small) for text in texts]
    longest = max(len(line) for name in names_below for line in name.splitlines())
    columns = int(width / ((LETTER * longest + LEGEND_KEY) * small))
    columns = max(1, min(len(names_below), columns))
    lines_below = sum(1 + name.count("\n") for name in names_below)
    height_below = LEGEND_ROW * small * lines_below / columns
    names_beside = [folded(x, WIDEST_LEGEND * width - LEGEND_KEY * small, small) for x in texts]
    lines_beside = sum(1 + name.count("\n") for name in names_beside)

    has_layout = figure.get_layout_engine() is not None and "loc" not in style
    fits_below = has_grown or height - height_below > LEAST_AXES * height
    fits_beside = Style.look.is_flat and LEGEND_ROW * small * lines_beside < height
    names, height_used = names_below, 0.0
    place: dict[str, Any] = {}  # matplotlib finds the emptiest corner
    if has_layout and not fits_below and fits_beside:
        names = names_beside
        place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0}
    elif has_layout and (fits_below or grow):
        if not fits_below:
            width_in_inches, height_in_inches = figure.get_size_inches()
            figure.set_size_inches(width_in_inches, height_in_inches + height_below / 72)
        height_used = height_below
        # Square axes stay at the top left: the legend is below them, and uses the room they leave.
        ax.set_anchor("NW")
        # Below the numbers, which may be vertical, and the lines of the label of this axis.
        vertical = [len(x.get_text()) for x in ax.get_xticklabels() if x.get_rotation()]
        numbers = small * max([1.0, *(LETTER * letters for letters in vertical)])
        down = numbers + 9 + LINE * Style.look.label * (1 + ax.get_xlabel().count("\n"))
        shift = ScaledTranslation(0, -down / 72, figure.dpi_scale_trans)
        place = {
            "loc": "upper left",
            "bbox_to_anchor": (0, 0),
            "bbox_transform": ax.transAxes + shift,
            "ncols": columns,
            "borderpad": 0.1,
            "borderaxespad": 0,
        }
    properties: dict[str, Any] = {
        "alignment": "left",
        "fontsize": small,
        "labelcolor": Style.text,
        "edgecolor": "none",
        "handlelength": 3.2,
        "labelspacing": 0.35,
        "columnspacing": 1.6,
    }
    return ax.legend(artists, names, **{**properties, **place, **style}), height_used


def colour_bar(ax: Axes, colours: Any, label: str = "") -> Colorbar:
    bar = figure_of(ax).colorbar(colours, ax=ax, pad=0.02, aspect=30, shrink=0.9)
    bar.set_label(
        Style.translated(label), loc="bottom", fontsize=Style.look.label, color=Style.text
    )
    bar.ax.tick_params(labelsize=Style.look.small, labelcolor=Style.text)
    bar.outline.set_visible(False)
    return bar


def empty(ax: Axes, text: str) -> None:
    """Write in the middle of empty axes why nothing is drawn."""
    for drawn in ax.lines:
        drawn.set(visible=False, label="_nolegend_")
    ax.grid(False)
    size = Style.look.label
    words = folded(sentence(text), 0.8 * room(ax)[0], size)
    properties: dict[str, Any] = {"fontsize": size, "color": Style.quiet, "transform": ax.transAxes}
    ax.text(0.5, 0.5, words, ha="center", va="center", linespacing=1.5, **properties)


def in_per_cent(rate: float, _: float = 0) -> str:
    return f"{100 * rate:.3g} %"


def log_axis(ax: Axes, axis_name: str, low: float, high: float = 1.0) -> None:
    """Make an axis logarithmic, from `low` to `high`, with ticks at powers of ten alone."""
    # Limits come first: the scale cannot find any from curves that are 0 everywhere.
    ax.set(**{f"{axis_name}lim": (low, high), f"{axis_name}scale": "log"})
    getattr(ax, f"{axis_name}axis").set_minor_formatter("")


def last_change(curves: Sequence[Any], last: int) -> int:
    """Return the rank beyond which no curve changes, up to the `last`."""
    change = FEW_RANKS
    for curve in curves:  # (ranks,): rank 1 is at index 0
        # Values beyond the end of a curve are NaN, which differ from each other: -1 is no rate.
        changes = np.flatnonzero(np.diff(np.nan_to_num(curve, nan=-1.0)))
        # A change behind index i is at rank i + 2.
        change = max(change, 2 + int(changes.max(initial=-1)))
    return last if change + 1 >= last else change


def rank_axis(ax: Axes, last: int, first: int = 1, log: bool | None = None) -> None:
    """Make an axis of ranks, with whole numbers; a long axis is logarithmic."""
    if log is None:
        log = last > LINEAR_RANKS
    if log:
        margin = (last / first) ** 0.02  # 2 % of the axis at either end
        ax.set(xscale="log", xlim=(first / margin, last * margin))
        if last - first < FEW_RANKS:
            ranks = [*range(first, last + 1)]
        else:  # 1, 2, 5, 10, 20, 50, ...
            ranks = [x * 10**k for k in range(len(str(last))) for x in (1, 2, 5)]
        ax.xaxis.set_major_locator(ticker.FixedLocator(ranks))
        ax.xaxis.set_minor_locator(ticker.NullLocator())
    else:
        margin = 0.02 * max(last - first, 1)
        ax.set_xlim(first - margin, last + margin)
        step = 1 if last <= FEW_RANKS else 5
        ax.set_xticks(sorted({1, *range(step, last + 1, step)}))
    ax.xaxis.set_major_formatter("{x:,.0f}")


def rate_axis(ax: Axes, low: float) -> None:
    """Begin a linear axis of rates at 0 or, if the smallest rate `low` is above a half, below it.

    An axis that does not begin at 0 has a mark at its foot.
    """
    if not 0.5 < low < 1.0:
        ax.set_ylim(RATES)
        return
    # The axis begins at a round number, 0.2 to 1.2 steps below the smallest rate: a step is the
    # largest power of ten with two steps or more from this rate to 1.
    step = 10.0 ** np.floor(np.log10((1 - low) / 2))
    start = np.floor(low / step - 0.2) * step
    free = FREE * (1 - start)
    ax.set_ylim(start - free, 1 + free)
    # Two strokes across the axis, in the shape of a break.
    mark: dict[str, Any] = {"marker": [(-1.0, -0.6), (1.0, 0.6)], "s": 36, "color": Style.text}
    ax.scatter([0, 0], [0.02, 0.05], transform=ax.transAxes, clip_on=False, zorder=5, **mark)
