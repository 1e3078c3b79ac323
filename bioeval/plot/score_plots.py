"""Plots of scores: their distributions, and the matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import ListedColormap
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator

from bioeval.base.arguments import require_flag, require_number, require_numbers
from bioeval.base.errors import Argument, DataError, counted
from bioeval.base.kinds import larger_is_closer
from bioeval.plot import plot_style
from bioeval.plot.display import MOST_NAMED, Display, shown
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import System, agreed, as_plot_text, joined, kind_of, over
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
    _class_words: ClassVar = {"genuine": "Genuine", "impostor": "Impostor"}

    def __init__(self, systems: Mapping[str, ScoreHistograms]):
        self.systems = [System(name, each.about) for name, each in systems.items()]
        self.genuine: dict[str, Histogram] = {n: each.genuine for n, each in systems.items()}
        self.impostor: dict[str, Histogram] = {n: each.impostor for n, each in systems.items()}
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
        log, marks = require_flag("log", log), _marks(thresholds)
        ax = self._begin(ax, style)
        ax.set_xmargin(0)  # the axis ends with the scores
        several = len(self.genuine) > 1
        # Of many histograms each system and each line style is named once.
        once = several and len(self.classes) * len(self.genuine) > MOST_NAMED
        missing, heights = [], [np.empty(0)]
        for number, system in enumerate(self.genuine):
            label = joined(name or "", system)
            for i, (word, histograms) in enumerate(self.classes.items()):
                histogram = histograms[system]
                text = f"{label} {word.lower()}" if label else word
                if not histogram.counts.sum():
                    total = histogram.total
                    why = f"all {total:,} are infinite" if total else "none"
                    missing.append(f"{text} scores: {why}")
                    continue
                line: dict[str, Any] = {
                    "color": Style.colour(number if several else i),
                    "linestyle": Style.dash(i),
                }
                line = {"linewidth": 1.4, "zorder": 3, **line, **style}
                heights.append(histogram.density)
                bins = histogram.density, histogram.edges
                if not several:
                    ax.stairs(*bins, fill=True, color=line["color"], alpha=0.18, zorder=2)
                if once:
                    text = "" if i else label
                ax.stairs(*bins, label=shown(text), **line)
        for i, word in enumerate(self.classes) if once else ():
            ax.plot([], [], color=Style.text, linestyle=Style.dash(i), label=word.lower())
        densities = np.concatenate(heights)
        top = float(densities.max(initial=0.0)) or 1.0
        if log:
            low = 0.6 * min(densities[densities > 0], default=1e-3)
            plot_style.log_axis(ax, "y", low, 3 * top)
        else:
            ax.set_ylim(0, 1.1 * top)
        for number, (text, threshold) in enumerate(marks.items()):
            if np.isfinite(threshold):
                self._threshold_line(threshold, text, number)
        if len(missing) == len(self.classes) * len(self.genuine):
            ax.set(xticks=[], yticks=[])
            plot_style.empty(ax, "; ".join(missing))
            missing = []
        caption = [self._over(), *self._unplaced(), *missing]
        labels = self._score_label(self.kind), "Density within each class"
        self.legend_ = self._finish(self._title, caption, *labels)
        return self

    def _over(self) -> str:
        """Return the attempts of the systems, where they are the same."""
        return agreed(self.systems, over)

    def _unplaced(self) -> list[str]:
        """Say how many scores have no bin."""
        counts = []
        for word, histograms in self.classes.items():
            number = sum(histogram.unplaced for histogram in histograms.values())
            if number:
                counts.append(f"{number:,} {word.lower()}")
        return [f"{' and '.join(counts)} scores lie off the axis"] if counts else []


def _marks(
    thresholds: float | Sequence[float] | Mapping[str, float] | None,
) -> dict[str, float]:
    """Return the thresholds to mark, by name."""
    if thresholds is None:
        return {}
    if isinstance(thresholds, Mapping):
        marks = {str(name): require_number("thresholds", x) for name, x in thresholds.items()}
    else:
        numbers = np.unique(require_numbers("thresholds", thresholds)).tolist()
        marks = {f"t = {number:.6g}": number for number in numbers}
    if len(marks) > MOST_MARKS:
        raise DataError(
            Argument("thresholds"),
            f" are {len(marks):,} different numbers, each drawn as a line; give at most"
            f" {MOST_MARKS}",
        )
    return marks


# ---------------------------------------------------------------------------- the matrix

_STATES = {
    EXCLUDED: ("not compared", "#d4d4d4"),
    FAILED: ("NaN: comparison failed", "#D55E00"),
    INFINITE: ("infinite", "#000000"),
}

# Most subjects that are named, and that are separated by lines.
NAMED, RULED = 24, 40


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
        self._labels = source.row_labels, source.column_labels
        self._labelled = source.subjects is not None
        self._over = _compared(source)

    @classmethod
    def from_results(cls, data: MatrixImage) -> Self:
        """Take a matrix that is reduced to pixels."""
        return cls(data)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the picture. See :func:`bioeval.plot.matrix`."""
        m, n = len(self.rows), len(self.columns)
        square = 0.4 < m / n < 2.5
        ax = self._begin(ax, style, (6.6, 6.2) if square else (7.0, 4.6))
        ax.grid(False)
        picture: dict[str, Any] = {"extent": (0, n, m, 0), "interpolation": "nearest"}
        picture["aspect"] = "equal" if square and Style.look.width is None else "auto"
        cmap = "viridis_r" if larger_is_closer(self.kind) else "viridis"
        finite = np.ma.masked_invalid(self.image)
        self.image_ = ax.imshow(finite, **{"cmap": cmap, **picture, **style})
        colours = ListedColormap([colour for _, colour in _STATES.values()])
        ax.imshow(np.ma.masked_equal(self.state, 0), cmap=colours, vmin=0.5, vmax=3.5, **picture)
        for state, (text, colour) in _STATES.items():
            if (self.state == state).any():
                ax.add_line(Line2D([], [], color=colour, marker="s", linestyle="", label=text))
        ax.set(xlim=(0, n), ylim=(m, 0))
        if finite.count():
            bar = self.figure_.colorbar(self.image_, ax=ax, pad=0.02, aspect=30, shrink=0.9)
            label: dict[str, Any] = {"fontsize": Style.look.label, "color": Style.text}
            bar.set_label(self._score_label(self.kind), loc="bottom", **label)
            bar.ax.tick_params(labelsize=Style.look.small, labelcolor=Style.text)
            bar.outline.set_visible(False)
        starts = [*map(_starts, self._labels)]
        named = self._labelled and max(map(len, starts)) - 1 <= NAMED
        for axis, places, labels in zip((ax.yaxis, ax.xaxis), starts, self._labels, strict=True):
            self._name_subjects(axis, places, labels, named)
        title = joined(name or "", "scores sorted by subject", by=": ")
        self._finish(plot_style.sentence(title), self._over, "Gallery template", "Probe template")
        return self

    def _name_subjects(
        self, axis: Axis, starts: np.ndarray, labels: np.ndarray, named: bool
    ) -> None:
        """Separate the subjects, and name them where there is room, else count templates."""
        if self._labelled and 2 < len(starts) <= RULED + 1:
            axis.set_minor_locator(FixedLocator(starts[1:-1].tolist()))
            axis.grid(True, which="minor", color="white", linewidth=0.5, alpha=0.7)
        if not named:
            axis.set_minor_formatter("")
            axis.set_major_locator(MaxNLocator(7, integer=True))
            axis.set_major_formatter("{x:,.0f}")
            return
        names = [as_plot_text(str(label)[:14]) for label in labels[starts[:-1]].tolist()]
        turned = axis is self.ax_.xaxis and len("  ".join(names)) > 48
        size = plot_style.room(self.ax_)[0 if axis is self.ax_.xaxis else 1]
        step = -(-int(1.3 * Style.look.small * len(names)) // max(int(size), 1))  # if turned
        kept = slice(None, None, max(step, 1))
        axis.set_ticks(((starts[1:] + starts[:-1]) / 2)[kept], names[kept])
        axis.set_tick_params(length=0, labelrotation=90 if turned else 0)


def _starts(labels: np.ndarray) -> np.ndarray:
    """Return where each run of equal labels begins, and the end."""
    changed = np.flatnonzero(labels[1:] != labels[:-1]) + 1
    return np.concatenate([[0], changed, [len(labels)]])


def _compared(source: MatrixImage) -> list[str]:
    """Return in words what is compared, and what a pixel stands for."""
    m, n = len(source.rows), len(source.columns)
    whole = f"{m:,} probes against {n:,} gallery templates"
    if source.subjects is not None:
        whole += f" of {counted(source.subjects, 'subjects')}"
    across, down = n / (len(source.column_edges) - 1), m / (len(source.row_edges) - 1)
    if max(across, down) <= 1:
        return [whole]
    return [whole, f"a pixel: mean of about {down:.3g} × {across:.3g}"]
