"""Style of all plots: colours, lines and sizes; matplotlib's settings do not change."""

from __future__ import annotations

import functools
import inspect
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, ParamSpec, TypeVar

import matplotlib
import numpy as np
from matplotlib.colors import is_color_like, to_rgb

from bioeval.base.arguments import require_choice, require_list, require_number
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

    def scaled(self, factor: float) -> Look:
        """Return the look with letters larger by a factor."""
        sizes = (factor * size for size in (self.title, self.label, self.small))
        return replace(self, **dict(zip(("title", "label", "small"), sizes, strict=True)))


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
        self._listed: list[RGB] = []
        #: Places in the list, by number and shade of the colours that the plot has asked for.
        self._places: dict[tuple[int | str, int], int] = {}
        if isinstance(colors, Mapping):
            for name, colour in colors.items():
                self.by_system[str(name)] = _rgb(f"colors[{name!r}]", colour)
        elif colors is not None:
            listed = require_list("colors", colors)
            self._listed = [_rgb(f"colors[{i}]", colour) for i, colour in enumerate(listed)]
            if not listed:
                raise DataError("colors is empty; expected at least one colour")

    def colour(self, number: int | str, shade: int, names: Iterable[str]) -> RGB:
        """Return a colour by its number and shade, or by the names of its system.

        Artists without a class or system give their usual colour in place of a number.
        """
        for name in names:
            if name in self.by_system:
                return self.by_system[name]
        if self._listed:
            index = self._places.setdefault((number, shade), len(self._places))
            return self._listed[index % len(self._listed)]
        if isinstance(number, str):
            return to_rgb(number)
        round_of_palette, index = divmod(number, len(PALETTE))
        rgb = 0.5 + (np.array(to_rgb(PALETTE[index])) - 0.5) * 0.45**round_of_palette
        lighter = SHADES[shade % len(SHADES)]
        rgb += abs(lighter) * (float(lighter > 0) - rgb)
        return float(rgb[0]), float(rgb[1]), float(rgb[2])


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
    def use(cls, look: Look) -> None:
        """Draw from now on in the sizes of `look`."""
        cls.look = look

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
        its system, which ``colors=`` may have.
        """
        return cls.palette.colour(number, shade, names)

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

#: The setting ``font.size`` of matplotlib for which the looks are made.
USUAL_FONTSIZE = 10.0


def styled(draw: Callable[P, Drawn]) -> Callable[P, Drawn]:
    """Return a public plot that takes ``colors``, ``fontsize`` and ``labels``.

    Letters have `fontsize`, or else grow with the setting ``font.size`` of matplotlib. If
    matplotlib refuses properties, the error names them.
    """
    arguments = inspect.signature(draw).parameters

    @functools.wraps(draw)
    def draw_styled(*args: P.args, **options: P.kwargs) -> Drawn:
        look, fontsize = Style.look, options.pop("fontsize", None)
        factor = matplotlib.rcParams["font.size"] / USUAL_FONTSIZE
        if fontsize is not None:
            factor = require_number("fontsize", fontsize, low=1, high=100) / look.label
        palette = Palette(options.pop("colors", None))
        properties = ", ".join(f"{x}={y!r}" for x, y in options.items() if x not in arguments)
        if "label" in options:
            raise DataError("label is no property of a plot; labels=[...] names the systems")
        with Style.during(look.scaled(factor), palette, options.pop("labels", None)):
            try:
                display = draw(*args, **options)
                if Style.words and not Style.used:
                    words = ", ".join(map(repr, Style.words))
                    raise DataError(f"labels has {words}; no system and no word of the plot is so")
                return display
            except BioevalError:
                raise
            except (AttributeError, TypeError, ValueError) as error:
                *_, last = traceback.extract_tb(error.__traceback__)
                of_matplotlib = Path(matplotlib.__file__).parent in Path(last.filename).parents
                if not properties or not of_matplotlib:
                    raise
                raise DataError(
                    f"be.plot.{draw.__name__} cannot be drawn with {properties}: {error}"
                ) from error

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
    restored.callback(Style.use, Style.look)
    Style.use(LOOKS[name])
    return restored
