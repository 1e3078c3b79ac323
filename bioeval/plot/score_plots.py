"""Plots of scores: distributions, the matrix, ranked lists, and one row step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.colors import ListedColormap
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from bioeval.base.arguments import require_flag, require_number, require_numbers
from bioeval.base.errors import Argument, DataError, counted
from bioeval.base.kinds import larger_is_closer
from bioeval.plot import plot_style
from bioeval.plot.display import Display, most_named
from bioeval.plot.legend import name_in_legend
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import (
    System,
    as_plot_text,
    joined,
    kind_of,
    over,
    with_colon,
)
from bioeval.results.histogram import Histogram, ScoreHistograms
from bioeval.scores.matrix_image import EXCLUDED, FAILED, INFINITE, MatrixImage

# Most thresholds that are marked beside the histograms: of more no line can be told from the next.
MOST_MARKS = 30


class ScoreDistributionsDisplay(Display):
    """Histograms of genuine and impostor scores.

    Attributes
    ----------
    genuine, impostor : dict of str to Histogram
        By the name of the system, which is ``""`` for a single system given without one.
    kind : str
        ``"distance"`` or ``"similarity"``.
    legend_ : Legend or None
        The names of the histograms; None where there are none.
    """

    legend_: Legend | None
    _plot, _title = "score_distributions", "Genuine and impostor scores"
    _off = "infinite, or far from all others"  # where scores lie that have no bin
    _class_words: ClassVar = {"genuine": "Genuine", "impostor": "Impostor"}

    def __init__(self, systems: Mapping[str, ScoreHistograms]):
        self.systems = []
        self.genuine: dict[str, Histogram] = {}
        self.impostor: dict[str, Histogram] = {}
        for name, histograms in systems.items():
            self.systems.append(System(name, histograms.about))
            self.genuine[name] = histograms.genuine
            self.impostor[name] = histograms.impostor
        self.kind = kind_of(self.systems, self._plot)

    @property
    def classes(self) -> dict[str, dict[str, Histogram]]:
        """The histograms of each class, by the name of the system."""
        return {word: getattr(self, name) for name, word in self._class_words.items()}

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the histograms of one system, or of several by name."""
        if isinstance(data, ScoreHistograms):
            return cls({"": data})
        return cls({as_plot_text(name): histograms for name, histograms in data.items()})

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        thresholds: float | Sequence[float] | Mapping[str, float] | None = None,
        log: bool = False,
        **style: Any,
    ) -> Self:
        """Draw the histograms. See :func:`bioeval.plot.score_distributions`."""
        log = require_flag("log", log)
        ax = self._axes(ax, style=style)
        ax.set_xmargin(0)  # the axis ends with the scores
        several = len(self.genuine) > 1
        # Of many histograms each system is named once, and the line styles are explained.
        once = len(self.classes) * len(self.genuine) > most_named() and several
        missing = []
        for number, system in enumerate(self.genuine):
            label = joined(name or "", system)
            for i, (word, histograms) in enumerate(self.classes.items()):
                histogram = histograms[system]
                text = f"{label} {word.lower()}" if label else word
                if not histogram.counts.sum():
                    some = "none"
                    if histogram.total:
                        some = f"all {histogram.total:,} are infinite"
                    missing.append(f"{text} scores: {some}")
                    continue
                colour = Style.colour(number if several else i)  # of a class, as of its errors
                line = {"color": colour, "linestyle": Style.dash(i), **style}
                density, edges = histogram.density, histogram.edges
                if not several:
                    ax.stairs(density, edges, fill=True, color=line["color"], alpha=0.18, zorder=2)
                outline = ax.stairs(density, edges, **{"linewidth": 1.4, "zorder": 3, **line})
                if once:
                    text = label if i == 0 else ""
                name_in_legend(outline, text)
        self._limit(log)
        self._mark(thresholds)
        remarks = self._unplaced()
        if once:
            styles = (f"{Style.dash_words(i)}: {x.lower()}" for i, x in enumerate(self.classes))
            remarks.insert(0, "; ".join(styles))
        if len(missing) == len(self.classes) * len(self.genuine):
            ax.set(xticks=[], yticks=[])
            plot_style.empty(ax, missing)
        else:
            remarks += missing
        self._titled(self._title, None, [*self._over(), *remarks])
        self.legend_ = self._legend()
        self._labelled(self._score_label(self.kind), "Density within each class")
        return self

    def _over(self) -> list[str]:
        """Return the attempts and subjects of the systems, in words."""
        return over(self.systems)

    def _limit(self, log: bool) -> None:
        """Fit the axis of the density to the highest and, if logarithmic, the lowest bin."""
        each = []
        for histograms in self.classes.values():
            each += [histogram.density for histogram in histograms.values()]
        densities = np.concatenate(each)
        top = float(densities.max()) or 1.0
        if log:
            low = 0.6 * min(densities[densities > 0], default=1e-3)
            plot_style.log_axis(self.ax_, "y", low, 3 * top)
        else:
            self.ax_.set_ylim(0, 1.1 * top)

    def _mark(self, thresholds: float | Sequence[float] | Mapping[str, float] | None) -> None:
        """Draw thresholds as vertical lines."""
        marks: list[tuple[str, float]] = []
        if isinstance(thresholds, Mapping):
            for name, threshold in thresholds.items():
                marks.append((str(name), require_number("thresholds", threshold)))
        elif thresholds is not None:
            for threshold in np.unique(require_numbers("thresholds", thresholds)).tolist():
                marks.append((f"t = {threshold:.4g}", threshold))
        if len(marks) > MOST_MARKS:
            raise DataError(
                Argument("thresholds"),
                f" are {len(marks):,} different numbers, each drawn as a line; give at most"
                f" {MOST_MARKS}",
            )
        for number, (text, threshold) in enumerate(marks):
            if np.isfinite(threshold):
                self._threshold_line(threshold, text, number)

    def _unplaced(self) -> list[str]:
        """Say how many scores have no bin."""
        counts = []
        for word, histograms in self.classes.items():
            number = sum(histogram.unplaced for histogram in histograms.values())
            if number:
                counts.append(f"{number:,} {word.lower()}")
        if counts:
            return [f"{' and '.join(counts)} scores lie off the axis ({self._off})"]
        return []


# ---------------------------------------------------------------------------- the matrix

_STATES = {
    EXCLUDED: ("not compared", "#d4d4d4"),
    FAILED: ("NaN: comparison failed", "#D55E00"),
    INFINITE: ("infinite", "#000000"),
}

# Most subjects that are named, separated by lines, and separated by ticks.
NAMED, RULED, BOUNDED = 24, 40, 120


class MatrixDisplay(Display):
    """A score matrix, reduced to a picture.

    Attributes
    ----------
    image : ndarray
        Mean of the finite scores under each pixel; NaN where there is none. Rows are probes and
        columns gallery templates, both sorted by subject.
    state : uint8 ndarray
        The pixels without a finite score: 1 no comparison (the diagonal of all-against-all,
        masked cells), 2 failed comparisons (NaN), 3 infinite scores; else 0.
    rows, columns : int64 ndarray
        The template at each place.
    row_edges, column_edges : int64 ndarray
        Where the pixels begin and end, in templates.
    image_ : AxesImage
        The picture drawn last.
    """

    image_: AxesImage

    def __init__(self, source: MatrixImage):
        self.image, self.state = source.image, source.state
        self.rows, self.columns = source.rows, source.columns
        self.row_edges, self.column_edges = source.row_edges, source.column_edges
        self.kind = source.kind
        self.row_subjects = _runs(source.row_labels)
        self.column_subjects = _runs(source.column_labels)
        self.labelled = source.subjects is not None
        self._over = _compared(source)

    @classmethod
    def from_results(cls, data: MatrixImage) -> Self:
        """Take a matrix that is reduced to pixels."""
        return cls(data)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the picture. See :func:`bioeval.plot.matrix`."""
        m, n = len(self.rows), len(self.columns)
        square = 0.4 < m / n < 2.5
        ax = self._axes(ax, (6.6, 6.2) if square else (7.0, 4.6), style)
        ax.grid(False)
        similar = larger_is_closer(self.kind)
        picture = {
            "extent": (0, n, m, 0),
            "interpolation": "nearest",
            "aspect": "equal" if square and Style.look.width is None else "auto",
        }
        shown = np.ma.masked_invalid(self.image)
        properties = {"cmap": "viridis_r" if similar else "viridis", **picture, **style}
        self.image_ = ax.imshow(shown, **properties)
        title = f"{name}: scores" if name else "Scores"
        self._titled(f"{title}, sorted by subject", None, self._over, share=0.86)
        self._name_subjects(ax.xaxis, self.column_subjects)
        self._name_subjects(ax.yaxis, self.row_subjects)
        ax.set(xlim=(0, n), ylim=(m, 0))
        self._labelled("Gallery template", "Probe template")
        self._states(picture)
        if shown.count():
            self._colour_bar(self.image_, ax, self._score_label(self.kind), shrink=0.9)
        return self

    def _states(self, picture: dict[str, Any]) -> None:
        """Colour the pixels without a score, and explain the colours in the corner."""
        ax = self.ax_
        colours = ListedColormap([colour for _, colour in _STATES.values()])
        if self.state.any():
            shown = np.ma.masked_equal(self.state, 0)
            ax.imshow(shown, cmap=colours, vmin=0.5, vmax=3.5, **picture)
        small: dict[str, Any] = {"va": "bottom", "ha": "right", "annotation_clip": False}
        anchor: Any = ("axes fraction", ax.xaxis.label)
        place = (1.0, 0.0)
        gap = 0.0
        for state, (text, colour) in _STATES.items():
            if (self.state == state).any():
                word = plot_style.note(ax, text, place, (gap, 0), xycoords=anchor, **small)
                anchor = plot_style.note(
                    ax, "■", (0, 0), (-3, 0), xycoords=word, color=colour, **small
                )
                place, gap = (0, 0), -9

    def _name_subjects(self, axis: XAxis | YAxis, subjects: tuple[np.ndarray, list[Any]]) -> None:
        """Name the subjects where there is room along both axes, else count templates."""
        starts, names = subjects
        axis.set_minor_locator(NullLocator())
        if self.labelled and 1 < len(names) <= BOUNDED:
            axis.set_minor_locator(FixedLocator(starts[1:-1].tolist()))
            if len(names) <= RULED:
                axis.grid(True, which="minor", color="white", linewidth=0.5, alpha=0.7)
        axis.set_tick_params(which="minor", length=2 if len(names) > NAMED else 5)
        if self.labelled and max(len(self.column_subjects[1]), len(self.row_subjects[1])) <= NAMED:
            centres = ((starts[1:] + starts[:-1]) / 2).tolist()
            axis.set_major_locator(FixedLocator(centres))
            # A name needs the height of its letters, along either axis once it is turned.
            least = 9 * int(starts[-1]) / (0.8 * min(plot_style.axes_size(self.ax_)))
            shown = {}
            for centre, name, width in zip(centres, names, np.diff(starts), strict=True):
                if width >= least:
                    shown[centre] = _short(name)
            axis.set_major_formatter(FuncFormatter(lambda at, _: shown.get(at, "")))
            axis.set_tick_params(length=0)
            longest = max(map(len, shown.values()), default=0)
            if axis is self.ax_.xaxis and longest * len(names) > 60:
                axis.set_tick_params(labelrotation=90)
        else:
            axis.set_major_locator(MaxNLocator(7, integer=True))
            axis.set_major_formatter(FuncFormatter(lambda at, _: f"{at:,.0f}"))
            axis.set_tick_params(length=3)


def _short(name: object) -> str:
    text = str(name)
    return as_plot_text(text if len(text) <= 14 else text[:13] + "…")


def _runs(labels: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    """Return the start, the end and the label of each run of equal labels."""
    if len(labels):
        changed = np.array([True, *(labels[1:] != labels[:-1])])
    else:
        changed = np.zeros(0, bool)
    starts = np.nonzero(changed)[0]
    return np.append(starts, len(labels)), labels[starts].tolist()


def _compared(source: MatrixImage) -> list[str]:
    """Return in words what is compared, and what a pixel stands for."""
    m, n = len(source.rows), len(source.columns)
    statement = f"{m:,} probes against {n:,} gallery templates, {source.layout}"
    if source.subjects is not None:
        statement += f"; {counted(source.subjects, 'subjects')}"
    lines = [with_colon(as_plot_text(source.name or ""), statement)]
    across, down = n / (len(source.column_edges) - 1), m / (len(source.row_edges) - 1)
    if max(across, down) > 1:
        lines.append(f"each pixel: mean of about {down:.3g} × {across:.3g} comparisons")
    return lines
