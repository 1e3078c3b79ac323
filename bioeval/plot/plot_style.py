"""Style of all plots: colours, axes, titles, ticks and notes; matplotlib's own stays as it is."""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar
from weakref import WeakSet

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Annotation
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator
from matplotlib.transforms import ScaledTranslation, Transform

from bioeval.base.arguments import require_flag
from bioeval.base.errors import DataError, received, require_choice

# Okabe and Ito (2008), without the yellow, which is too light for a line on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

#: What a number means in all plots, as a colour of the palette and as a line style: genuine and
#: impostor attempts, attacks (further species count on), and identification with and without a
#: threshold. The last is of errors of both classes, and of estimates.
GENUINE, IMPOSTOR, ATTACK, DETECTED, MATCHED, BOTH = 0, 1, 2, 3, 4, 6

# Curves of one meaning (species of attacks, ranks) have shades of its colour: by how much the
# second and further ones are lighter, or darker where negative, as a proportion.
SHADES = (0.0, -0.5, 0.45, -0.75)

# Colour is never the only difference between two lines.
DASHES: tuple[Any, ...] = (
    "-",
    (0, (6, 1.8)),
    (0, (1.2, 1.4)),
    (0, (6, 1.6, 1.2, 1.6)),
    (0, (3, 1.4)),
    (0, (6, 1.6, 1.2, 1.6, 1.2, 1.6)),
    (0, (10, 3)),
)
_DASHES = (
    "solid",
    "dashed",
    "dotted",
    "dash-dotted",
    "short dashes",
    "dash-dot-dotted",
    "long dashes",
)

# Lines in steps are solid, since a dash looks like a step: their markers differ.
MARKERS = ("s", "^", "D", "v", "P", "X", "<")
_MARKERS = (
    "squares",
    "triangles",
    "diamonds",
    "triangles down",
    "pluses",
    "crosses",
    "triangles left",
)

GRID = "#e8e8e8"
SHADE = "#f3f3f3"

# Of a curve with no more points, each is marked.
FEW_POINTS = 40

SIZE = (6.4, 4.8)
SQUARE = (5.8, 6.0)


@dataclass(frozen=True)
class Look:
    """The sizes of a style: type in points, figures in inches."""

    title: float = 11.0
    label: float = 10.0  # of an axis
    tick: float = 9.0
    legend: float = 8.5
    small: float = 8.0
    smallest: float = 7.5
    width: float | None = None  # of every figure; None: as wide as the plot needs
    height: float | None = None  # of every figure; None: what the plot needs at this width

    @property
    def is_flat(self) -> bool:
        """Whether figures are too flat for square axes, and for panels one below another."""
        return self.height is not None

    @property
    def is_narrow(self) -> bool:
        """Whether figures are too narrow for panels side by side."""
        return self.width is not None and self.height is None


#: The styles by name. Letters of a slide have at least 1/30 of its height; those on paper are those
#: of a column of a journal.
LOOKS = {
    "default": Look(),
    "slide": Look(12.0, 10.0, 9.0, 9.0, 9.0, 9.0, width=6.4, height=3.6),
    "paper": Look(8.0, 8.0, 8.0, 8.0, 8.0, 8.0, width=3.5),
}

# Inches that the words around the axes need more on paper, where they are larger beside the axes;
# of plots that are higher than wide, which have more room.
_WORDS_ON_PAPER, _WORDS_OF_HIGH = 1.0, 0.6


class Style:
    """Colours, line styles and sizes of all plots: ``Style.text``, ``Style.colour(0)``."""

    text = "#222222"  # of what is read
    quiet = "#666666"  # of what is read last
    rule = "#9a9a9a"  # of lines that are no curves
    shades = len(SHADES)  # of a colour, before they repeat
    both = BOTH  # the number of errors of both classes, and of estimates
    look: ClassVar = LOOKS["default"]  # set by :func:`style`
    #: The numbers of what is drawn, by variable: FRR is of genuine attempts.
    hues: ClassVar = {
        **dict.fromkeys(
            ("frr", "frr_at_threshold", "frr_at_far", "bpcer", "fr", "genuine_above"), GENUINE
        ),
        **dict.fromkeys(
            ("far", "far_at_threshold", "fa_as_probe", "fa_as_claimed", "impostor_above"), IMPOSTOR
        ),
        "iapar_pooled": ATTACK,
        **dict.fromkeys(("dir", "deta_by_threshold"), DETECTED),
        **dict.fromkeys(("cms", "assa_by_threshold"), MATCHED),
        **dict.fromkeys(("hter", "hter_w", "eer", "hota_by_threshold"), BOTH),
    }

    @staticmethod
    def colour(number: int, shade: int = 0) -> tuple[float, float, float]:
        """Return the colour of a curve by its number; those beyond the palette are greyer.

        Curves of one meaning have one number, and differ in their `shade`.
        """
        turn, place = divmod(number, len(PALETTE))
        rgb = np.array(to_rgb(PALETTE[place]))
        rgb = 0.5 + (rgb - 0.5) * 0.45**turn
        lighter = SHADES[shade % len(SHADES)]
        towards = 1.0 if lighter > 0 else 0.0
        rgb = rgb + abs(lighter) * (towards - rgb)
        return float(rgb[0]), float(rgb[1]), float(rgb[2])

    @staticmethod
    def dash(number: int) -> Any:
        """Return the line style of a curve by its number; it shifts when the colours repeat."""
        return DASHES[(number + number // len(PALETTE)) % len(DASHES)]

    @staticmethod
    def dash_words(number: int) -> str:
        """Return the name of the line style of a curve."""
        return _DASHES[DASHES.index(Style.dash(number))]

    @staticmethod
    def marker(number: int) -> str:
        """Return the marker of a solid curve by its number; it shifts when the colours repeat."""
        return MARKERS[(number + number // len(PALETTE)) % len(MARKERS)]

    @staticmethod
    def ink(colour: Any) -> tuple[float, float, float]:
        """Return a colour dark enough to be read as text on white (contrast 4.5 : 1)."""
        rgb = np.array(to_rgb(colour))
        while (1.05 / (luminance(rgb) + 0.05)) < 4.5:
            rgb = rgb * 0.94
        return float(rgb[0]), float(rgb[1]), float(rgb[2])


def marker_words(number: int) -> str:
    """Return the name of the marker of a solid curve."""
    return _MARKERS[MARKERS.index(Style.marker(number))]


def luminance(rgb: Any) -> float:
    """Return the relative luminance of a colour, 0 (black) to 1 (white)."""
    c = np.asarray(rgb, dtype=float)[:3]
    linear = np.where(c <= 0.03928, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


class _Chosen:
    """A style that was chosen; leaving a ``with`` block brings the one before it back."""

    def __init__(self, before: Look):
        self._before = before

    def __enter__(self) -> None:
        """Nothing: the style is chosen already."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Choose the style before it again."""
        Style.look = self._before


def style(name: str) -> _Chosen:
    """Choose the sizes of the plots that are drawn from now on, or in a ``with`` block.

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

    Raises
    ------
    DataError
        If there is no style of this name.

    Notes
    -----
    Colours and lines are the same in all styles. A single plot has another size with `figsize`, and
    no title with ``title=None``. :func:`bioeval.plot.save` keeps these sizes exactly;
    ``dpi=300`` makes 1920 x 1080 pixels of a slide. Settings of matplotlib stay as they are.

    Examples
    --------
    >>> import bioeval as be
    >>> result = be.verification(be.simulate(20, 4))
    >>> with be.plot.style("slide"):
    ...     display = be.plot.roc(result)
    >>> display.figure_.get_size_inches().tolist()
    [6.4, 3.6]
    """
    before = Style.look
    require_choice("style", name, LOOKS)
    Style.look = LOOKS[name]
    return _Chosen(before)


# ---------------------------------------------------------------------------------- axes

# Figures of a size that was chosen, by a style or for one plot. A file keeps it.
SIZED: WeakSet[Figure] = WeakSet()


def size_of_figure(
    size: tuple[float, float], figsize: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Return the size of a figure in inches: as given, by the style, or as the plot needs it."""
    if figsize is not None:
        return figsize
    look, (wide, high) = Style.look, size
    if look.width is None:
        return size
    words = _WORDS_OF_HIGH if high > wide else _WORDS_ON_PAPER
    return look.width, look.height or look.width * high / wide + words


def axes_for(
    ax: Axes | Figure | None,
    size: tuple[float, float] = SIZE,
    figsize: tuple[float, float] | None = None,
) -> Axes:
    """Return `ax`, or axes in a given figure, or in a new figure of `size`, or of `figsize`."""
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure(layout="constrained")
    if not isinstance(ax, Axes | Figure):
        raise DataError(f"ax is {received(ax)}; expected axes or a figure of matplotlib")
    if isinstance(ax, Figure):
        if figsize is not None or Style.look.width is not None:
            SIZED.add(ax)
        ax.set_size_inches(size_of_figure(size, figsize))
        ax = ax.add_subplot()
    elif figsize is not None:
        raise DataError("figsize is the size of a new figure; leave out figsize, or ax")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set(color=Style.rule, linewidth=0.8)
    ax.tick_params(
        which="both",
        color=Style.rule,
        labelcolor=Style.text,
        labelsize=Style.look.tick,
        width=0.8,
    )
    ax.tick_params(which="minor", length=2)
    ax.grid(True, which="major", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    return ax


def figure_of(ax: Axes) -> Figure:
    """Return the figure of `ax`, past any subfigures."""
    return ax.figure.figure


def axes_size(ax: Axes) -> tuple[float, float]:
    """Return the approximate width and height of the axes after layout, in points.

    A legend that has been drawn below them is taken off the height.
    """
    figure, part = figure_of(ax), ax.get_subplotspec()
    place = ax.get_position()
    factor = 1.0
    if figure.get_layout_engine() is not None:
        if part is not None and ax.figure is figure:  # the same before and after a layout
            place = part.get_position(figure)
        other_axes = [a for a in figure.axes if a is not ax and a.get_label() != "<colorbar>"]
        factor = 0.85 if other_axes else 1.1
    wide, high = figure.get_size_inches() * 72 * factor
    legend, below = ax.get_legend(), 0.0
    if legend is not None:
        with warnings.catch_warnings():
            # A letter that the font lacks is drawn as a box; only its size is wanted here.
            warnings.filterwarnings("ignore", "Glyph .* missing from")
            box = legend.get_window_extent()
        if box.y1 < ax.get_window_extent().y0:
            below = box.height / figure.dpi * 72
    return float(place.width * wide), float(place.height * high - below)


def scale(ax: Axes) -> float:
    """Return the factor of text sizes: below 1 on small axes, unless a style was chosen."""
    if Style.look.width is not None:
        return 1.0
    wide, high = axes_size(ax)
    return float(np.clip(min(wide / 300, high / 220), 0.8, 1.0))


def _wrapped(text: str, columns: int) -> list[str]:
    """Break a line, at semicolons if possible."""
    parts = re.sub("(?<!;) ", "\u00a0", text)
    rows = textwrap.wrap(parts, columns, break_long_words=False, break_on_hyphens=False)
    if max(map(len, rows), default=0) > columns:
        rows = textwrap.wrap(together(text), columns, break_on_hyphens=False)
    return [row.replace("\u00a0", " ") for row in rows]


def titled(
    ax: Axes, title: str, over: Iterable[str] = (), share: float = 1.0, gap: float = 0.0
) -> None:
    """Write the title and, small below it, the sample sizes of the plot.

    `share` is the fraction of the width that a colour bar leaves to the axes, `gap` the points
    between the axes and the text, besides the usual ones. Both are above the whole of a figure
    whose size was chosen.
    """
    figure = figure_of(ax)
    if has_head(ax):
        _head(figure, title, "; ".join(filter(None, over)))
        return
    width, size = share * axes_size(ax)[0], scale(ax)
    title_size, small = Style.look.title * size, Style.look.small * size
    if figure in SIZED:  # beside other axes, below the head of the figure
        title_size = Style.look.label
    columns = max(24, int(width / (small * 0.52)))
    lines = []
    for line in over:
        lines += _wrapped(line, columns)
    heading = textwrap.fill(
        title, max(18, int(width / (title_size * 0.56))), break_on_hyphens=False
    )
    pad = 8 + gap + 1.35 * small * len(lines)
    _widen_gap(ax, pad + 1.25 * title_size * (1 + heading.count("\n")))
    text_style: Any = {"fontsize": title_size, "fontweight": "bold", "color": Style.text}
    ax.set_title(heading, loc="left", pad=pad, **text_style)
    if lines:
        note(
            ax,
            "\n".join(lines),
            (0, 1),
            (0, 6 + gap),
            xycoords="axes fraction",
            fontsize=small,
            va="bottom",
            ha="left",
            linespacing=1.3,
            annotation_clip=False,
        )


# Points between the head of a figure and its edges, and most lines of a head.
_EDGE, _MOST_FLAT, _MOST_NARROW = 5.0, 5, 7


def _constrained(figure: Figure) -> ConstrainedLayoutEngine | None:
    """Return the layout engine of a figure, if it is one that makes room for words."""
    engine = figure.get_layout_engine()
    return engine if isinstance(engine, ConstrainedLayoutEngine) else None


def has_head(ax: Axes) -> bool:
    """Return whether the title of axes is above a whole figure, whose size was chosen."""
    figure = figure_of(ax)
    return figure in SIZED and ax is figure.axes[0] and _constrained(figure) is not None


def _head(figure: Figure, title: str, details: str) -> None:
    """Write the title and small lines at the top of a figure, and keep the axes below them."""
    look, engine = Style.look, _constrained(figure)
    wide, high = 72 * figure.get_size_inches()
    room = wide - 2 * _EDGE
    heading = folded(title, room, look.title, "bold")
    rows = folded(details, room, look.small)
    most = max((_MOST_FLAT if look.is_flat else _MOST_NARROW) - len(heading), 2)
    if len(rows) > most and look.width is not None:
        rows = [*rows[: most - 1], f"{rows[most - 1].rstrip(' ;')} …"]
    above = _EDGE
    for lines, size, weight, colour in (
        (heading, look.title, "bold", Style.text),
        (rows, look.small, "normal", Style.quiet),
    ):
        for line in lines:
            above += 1.3 * size
            place = _EDGE / wide, 1 - (above - 0.3 * size) / high
            words = figure.text(*place, line, va="baseline", color=colour, fontsize=size)
            words.set(fontweight=weight, in_layout=False)
    if engine is not None:
        engine.set(rect=(0, 0, 1, 1 - (above + 2) / high))


def text_width(text: str, size: float, weight: str = "normal") -> float:
    """Return the width of a line of text in points; letters on a grid of pixels are wider."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        font = FontProperties(size=size, weight=weight)
        wide, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return 1.03 * float(wide)


def together(text: str) -> str:
    """Return a text in which ``1 / 200``, ``FAR < 1`` and ``95 %`` are never broken."""
    return re.sub(r" (?=%|[<>=≤≥/] )|(?<= [<>=≤≥/]) ", "\u00a0", text)


def folded(text: str, length: float, size: float, weight: str = "normal") -> list[str]:
    """Break a text into lines that are no longer than `length` points, between its words."""
    rows: list[str] = []
    for part in re.split("[ \\n\\t]+", together(text).strip()):
        word = part.replace("\u00a0", " ")
        longer = f"{rows[-1]} {word}" if rows else word
        if rows and text_width(longer, size, weight) <= length:
            rows[-1] = longer
        else:
            rows.append(word)
    return rows


# Points below axes, for the labels of their ticks and of their x axis.
_BELOW = 38.0


def _widen_gap(ax: Axes, above: float) -> None:
    """Widen the gaps of a figure without a layout engine for `above` points of title.

    Chosen gaps stay as they are: those of the grid itself, and those below the default.
    """
    figure, place = ax.figure, ax.get_subplotspec()
    if place is None or figure_of(ax).get_layout_engine() is not None:
        return
    place, pars = place.get_topmost_subplotspec(), figure.subplotpars
    grid = place.get_gridspec()
    chosen = [getattr(grid, name, None) for name in ("hspace", "top", "bottom")]
    if chosen != [None] * 3 or pars.hspace < rcParams["figure.subplot.hspace"]:
        return
    high = figure.bbox.height / figure_of(ax).dpi * 72
    if place.rowspan.start == 0:
        figure.subplots_adjust(top=max(pars.bottom + 0.1, min(pars.top, 1 - (above + 2) / high)))
        return
    free, gaps = (pars.top - pars.bottom) * high, (grid.nrows - 1) * (above + _BELOW)
    if gaps < 0.7 * free:
        hspace = (above + _BELOW) / ((free - gaps) / grid.nrows)
        figure.subplots_adjust(hspace=max(pars.hspace, hspace))


def labelled(ax: Axes, x: str, y: str, term_x: str = "", term_y: str = "") -> None:
    """Label both axes, with the other vocabulary's terms in small where there is room.

    A name such as "False accept rate, FAR" is cut to "FAR" where there is little room, and one
    without a short form has two lines.
    """
    size = Style.look.label * scale(ax)
    below = ax.set_xlabel(x, loc="left", fontsize=size, color=Style.text)
    y_label = ax.set_ylabel(y, loc="bottom", fontsize=size, color=Style.text)
    wide, high = laid_out_size(ax)
    below.set_text(_name(x, wide, size))
    _lower_legend(ax, 1.3 * size * below.get_text().count("\n"))
    y_label.set_text(_name(y, high, size))
    _add_term(ax, below, term_x, wide)
    _add_term(ax, y_label, term_y, high)


def _lower_legend(ax: Axes, points: float) -> None:
    """Move a legend below the axes down."""
    legend = ax.get_legend()
    if legend is not None and points and legend.get_bbox_to_anchor().height == 0:
        down = ScaledTranslation(0, -points / 72, figure_of(ax).dpi_scale_trans)
        legend.set_bbox_to_anchor((0, 0), legend_place(ax) + down)


def legend_place(ax: Axes, x_label: bool = True) -> Transform:
    """Return where a legend below axes begins, below the labels of ticks and the `x_label`."""
    drop = Style.look.tick + Style.look.label + 19.0
    if not x_label:
        drop -= 1.6 * Style.look.label
    return ax.transAxes + ScaledTranslation(0, -drop / 72, figure_of(ax).dpi_scale_trans)


def laid_out_size(ax: Axes) -> tuple[float, float]:
    """Return the width and height of the axes, in points, with what is drawn so far."""
    figure = figure_of(ax)
    engine = _constrained(figure)
    if engine is None or ax.figure is not figure:
        return axes_size(ax)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from|constrained_layout not applied")
        engine.execute(figure)
    box = ax.get_window_extent()
    return 72 * box.width / figure.dpi, 72 * box.height / figure.dpi


def _name(text: str, length: float, size: float) -> str:
    """Return a label that fits: the whole, its short form, or the whole in two lines."""
    if text_width(text, size) <= length:
        return text
    short = text.rpartition(", ")[2]
    if short != text and " " not in short.removesuffix(" (%)"):
        return short
    return "\n".join(folded(text, max(length, 0.55 * text_width(text, size)), size))


def _add_term(ax: Axes, label: Any, term: str, length: float) -> None:
    """Write the other vocabulary's term after the label of an axis."""
    size = max(label.get_fontsize() - 2.5, Style.look.smallest * scale(ax))
    if not term or "\n" in label.get_text():
        return
    taken = text_width(label.get_text(), label.get_fontsize()) + 7
    upright, wide = label.get_rotation() > 45, text_width(term, size)
    style = {"xycoords": label, "fontsize": size, "va": "bottom", "annotation_clip": False}
    if wide > length - taken:  # on a line of its own, if there is room for one
        if upright and wide <= length and Style.look.width is None and _constrained(figure_of(ax)):
            note(ax, term, (0, 0), (-1, 0), rotation=90, ha="right", **style)
        return
    if upright:
        note(ax, term, (1, 1), (-0.7, 7), rotation=90, ha="right", **style)
    else:
        note(ax, term, (1, 0), (7, 0.7), rotation=0, ha="left", **style)


def bar_labelled(bar: Any, ax: Axes, text: str, term: str = "") -> None:
    """Name the colour bar of `ax`, with the other vocabulary's `term` in small."""
    size = Style.look.label * scale(ax)
    bar.set_label(text, loc="bottom", fontsize=size, color=Style.text)
    high = laid_out_size(bar.ax)[1]
    label = bar.ax.yaxis.label
    label.set_text(_name(text, high, size))
    bar.ax.tick_params(
        labelsize=Style.look.tick, color=Style.rule, labelcolor=Style.text, width=0.8
    )
    bar.outline.set_visible(False)
    _add_term(bar.ax, label, term, high)


def empty(ax: Axes, lines: Iterable[str]) -> None:
    """Write in the middle of empty axes why nothing is drawn."""
    columns = max(16, int(0.8 * axes_size(ax)[0] / (Style.look.label * 0.52)))
    rows = []
    for line in lines:
        rows += textwrap.wrap(line, columns)
    for drawn in ax.lines:
        drawn.set_visible(False)
    ax.grid(False)
    ax.text(
        0.5,
        0.5,
        "\n".join(rows),
        transform=ax.transAxes,
        ha="center",
        va="center",
        fontsize=Style.look.label,
        color=Style.quiet,
        linespacing=1.5,
    )


def without_formula(text: str) -> str:
    """Return printable text that matplotlib does not read as a formula between dollars."""
    return re.sub(r"(?<!\\)\$", r"\\$", text)


def sentence(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def note(
    ax: Axes, text: str, place: tuple[float, float], step: tuple[float, float], **style: Any
) -> Annotation:
    """Write a small text at `place` (data, fraction of the axes), `step` points from it."""
    places = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    properties = {**places, "fontsize": Style.look.small, "color": Style.quiet, **style}
    return ax.annotate(without_formula(text), place, step, **properties)


# --------------------------------------------------------------------------------- ticks


# Between ticks of a linear axis of ranks.
_STEPS = (1, 5, *(k * 10**e for e in range(1, 9) for k in (1, 2, 5)))

# The axis of more ranks is logarithmic by default; one with so few is not shortened.
LINEAR_RANKS, FEW_RANKS = 30, 10

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def in_per_cent(rate: float) -> str:
    """Return a rate in per cent with three digits, and never as a power of ten."""
    if not np.isfinite(rate):
        return f"{rate}"
    return f"{np.format_float_positional(float(f'{100 * rate:.3g}'), trim='-')} %"


def rate_text(value: float) -> str:
    """Return a power of ten as a tick label: 10⁰, 10⁻¹, 10⁻² ..."""
    return "10" + str(round(np.log10(value))).translate(_SUPERSCRIPT)


def log_axis(ax: Axes, axis_name: str, low: float, high: float = 1.0) -> None:
    """Make an axis logarithmic, from `low` to `high`, with ticks at powers of ten."""
    axis = getattr(ax, f"{axis_name}axis")
    ax.set(**{f"{axis_name}scale": "log", f"{axis_name}lim": (low, high)})
    axis.set_major_locator(LogLocator(numticks=10))
    axis.set_major_formatter(FuncFormatter(lambda value, _: rate_text(value)))
    axis.set_minor_locator(LogLocator(subs=range(2, 10), numticks=100))
    axis.set_minor_formatter(NullFormatter())


def last_change(curves: Iterable[Any], last: int) -> int:
    """Return the rank beyond which no curve changes up to the `last`.

    The last axis of each curve is over the ranks. What follows the end of a curve is not known: a
    curve that ends before the last rank is shown to its end.
    """
    change = 1
    for curve in curves:
        by_rank = np.atleast_2d(np.asarray(curve, dtype=float))
        by_rank = by_rank.reshape(-1, by_rank.shape[-1])
        moves = np.abs(np.diff(by_rank, axis=1)) > 0
        change = max(change, 2 + int(np.flatnonzero(moves.any(axis=0)).max(initial=-1)))
        end = 1 + int(np.flatnonzero(~np.isnan(by_rank).all(axis=0)).max(initial=-1))
        if end < last:
            change = max(change, end)
    return change


def ranks_shown(curves: Iterable[Any], last: int, max_rank: int | None) -> tuple[int, list[str]]:
    """Return the last rank to show of `last`, and what is said about ranks that are left out.

    That is `max_rank`, or else the one beyond which no curve changes. Nothing is said about
    ranks beyond the `last`, which the results do not have.
    """
    if max_rank is not None:
        return min(last, max_rank), []
    shown = min(last, max(FEW_RANKS, last_change(curves, last)))
    if shown + 1 >= last:  # a single rank is not worth the words
        return last, []
    return shown, [f"ranks {shown + 1:,} to {last:,} are left out: nothing changes there"]


def rank_axis(ax: Axes, last: int, log: bool | None = None, first: float = 1) -> None:
    """Make the axis of ranks, with whole numbers on it; by default a long one is logarithmic."""
    log = last > LINEAR_RANKS if log is None else require_flag("log", log)
    if log:
        ax.set_xscale("log")
        tens = 10 ** np.arange(0, int(np.log10(max(last, 1))) + 1)
        if last < 1000:
            tens = np.outer(tens, (1, 2, 5)).ravel()
        ticks = tens[tens <= last].tolist()
    else:
        step = next(s for s in _STEPS if last / s <= 10 or s == _STEPS[-1])
        ticks = sorted({1, *range(step, last + 1, step)})
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.xaxis.set_minor_locator(NullLocator())
    if log:
        margin = (last / first) ** 0.02
        limits = (first / margin, last * margin)
    else:
        margin = 0.02 * max(last - first, 1)
        limits = (first - margin, last + margin)
    ax.set_xlim(limits)


def rate_limits(low: float) -> tuple[float, float]:
    """Return the limits of a linear axis of rates whose smallest value is `low`.

    From 0, or from a round number if all lie in the upper half and some below 1.
    """
    if not 0.5 < low < 1.0:
        return -0.015, 1.015
    steps = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
    step = next((step for step in steps if 1 - low > 2 * step), steps[-1])
    start = np.floor((low - 0.04 * (1 - low)) / step) * step
    return float(start - 0.015 * (1 - start)), float(1 + 0.015 * (1 - start))


def rate_axis(ax: Axes, low: float) -> str:
    """Limit a linear axis of rates whose smallest value is `low`; return what is said about it.

    An axis that does not start at 0 has a mark at its foot.
    """
    start, end = rate_limits(low)
    ax.set_ylim(start, end)
    if start <= 0:
        return ""
    looks: Any = {"marker": [(-1.0, -0.6), (1.0, 0.6)], "s": 36, "color": Style.text}
    looks |= {"linewidth": 1.0, "clip_on": False, "zorder": 5, "transform": ax.transAxes}
    ax.scatter([0, 0], [0.02, 0.05], **looks)
    return f"the vertical axis starts at {(start + 0.015 * end) / 1.015:.3g}, not at 0"


def spread(length: int, most: int, log: bool = False) -> np.ndarray:
    """Return at most `most` evenly spaced indices below `length`, with the first and the last."""
    if length <= most:
        return np.arange(length)
    at = np.geomspace(1, length, most) - 1 if log else np.linspace(0, length - 1, most)
    return np.unique(at.round().astype(int))
