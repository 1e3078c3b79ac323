"""Plots of scores: their distributions, and the matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.ticker import MaxNLocator

from bioeval.base.arguments import require_flag, require_number
from bioeval.base.errors import DataError, counted, received
from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.plot import plot_style
from bioeval.plot.display import MOST_NAMED, Display, shown
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import System, agreed, as_plot_text, joined, kind_of
from bioeval.results.histogram import Histogram, ScoreHistograms
from bioeval.scores.matrix_image import EXCLUDED, FAILED, INFINITE, MatrixImage

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores


class ScoreDistributionsDisplay(Display):
    """Histograms of genuine and impostor scores, by the name of the system."""

    legend_: Legend | None
    _plot, _title = "score_distributions", "Genuine and impostor scores"
    _class_words: ClassVar = {"genuine": "Genuine", "impostor": "Impostor"}

    def __init__(self, systems: Mapping[str, ScoreHistograms]):
        self.systems = [System(name, each.about) for name, each in systems.items()]
        self.genuine: dict[str, Histogram] = {n: each.genuine for n, each in systems.items()}
        self.impostor: dict[str, Histogram] = {n: each.impostor for n, each in systems.items()}
        self.kind = kind_of(self.systems, self._plot)

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
        thresholds: Mapping[str, float] | None = None,
        log: bool = False,
        **style: Any,
    ) -> Self:
        """Draw the histograms. See :func:`bioeval.plot.score_distributions`."""
        log, ax = require_flag("log", log), self._begin(ax, style)
        if not isinstance(thresholds, Mapping | None):
            words = received(thresholds)
            raise DataError(f"thresholds is {words}; expected a mapping of name to threshold")
        ax.set_xmargin(0)  # the axis ends with the scores
        classes = {word: getattr(self, each) for each, word in self._class_words.items()}
        several = len(self.systems) > 1
        # Of many histograms each system and each line style is named once.
        once = several and len(classes) * len(self.systems) > MOST_NAMED
        missing, unplaced, densities = [], [], [np.empty(0)]
        for i, (word, histograms) in enumerate(classes.items()):
            for number, (system, histogram) in enumerate(histograms.items()):
                label = joined(name or "", system)
                text = f"{label} {word.lower()}" if label else word
                if not histogram.counts.sum():
                    why = f"all {histogram.total:,} are infinite" if histogram.total else "none"
                    missing.append(f"{text} scores: {why}")
                    continue
                colour = Style.colour(number if several else i)
                line: dict[str, Any] = {"color": colour, "linestyle": Style.dash(i)}
                line |= {"linewidth": 1.4, "zorder": 3, **style}
                bins = histogram.density, histogram.edges
                densities.append(histogram.density)
                if not several:
                    ax.stairs(*bins, fill=True, color=line["color"], alpha=0.18, zorder=2)
                if once:
                    text = "" if i else label
                ax.stairs(*bins, label=shown(text), **line)
            if number := sum(each.unplaced for each in histograms.values()):
                unplaced.append(f"{number:,} {word.lower()}")
        for i, word in enumerate(classes) if once else ():
            ax.plot([], [], color=Style.text, linestyle=Style.dash(i), label=word.lower())
        heights = np.concatenate(densities)
        top = float(heights.max(initial=0.0)) or 1.0
        if log:
            low = 0.6 * min(heights[heights > 0], default=1e-3)
            plot_style.log_axis(ax, "y", low, 3 * top)
        else:
            ax.set_ylim(0, 1.1 * top)
        for number, (text, threshold) in enumerate((thresholds or {}).items()):
            if np.isfinite(require_number("thresholds", threshold)):
                self._threshold_line(threshold, text, number)
        if len(missing) == len(classes) * len(self.systems):
            ax.set(xticks=[], yticks=[])
            plot_style.empty(ax, "; ".join(missing))
            missing = []
        off = [f"{' and '.join(unplaced)} scores lie off the axis"] if unplaced else []
        labels = self._score_label(self.kind), "Density within each class"
        caption = [agreed(self.systems, self._over), *off, *missing]
        self.legend_ = self._finish(self._title, caption, *labels)
        return self


def score_distributions(
    data: Any,
    ax: Axes | None = None,
    *,
    thresholds: Mapping[str, float] | None = None,
    log: bool = False,
    **style: Any,
) -> ScoreDistributionsDisplay:
    """Draw how genuine and impostor scores are distributed.

    Every comparison of two templates is a score (single-template verification). Each density is
    over the attempts of its own class: the areas are 1, however many more impostor scores there
    are. Counts in bins are exact.

    Parameters
    ----------
    data : Scores, or mapping of str to Scores
        They are counted in one pass in blocks of rows, however large the matrix.
    ax, **style
        As for :func:`bioeval.plot.roc`; properties are of the outlines.
    thresholds : mapping of str to float, optional
        Thresholds to mark, by name.
    log : bool
        Whether the axis of the density is logarithmic, which shows the tails.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.score_distributions(be.simulate(20, 4), thresholds={"vendor": 5.0})
    >>> int(display.impostor[""].counts.sum())
    6080
    """
    from bioeval.tasks.plotted_scores import histograms_of

    display = ScoreDistributionsDisplay.from_results(histograms_of(data))
    return display.plot(ax, thresholds=thresholds, log=log, **style)


# ---------------------------------------------------------------------------- the matrix

_STATES = {
    EXCLUDED: ("not compared", "#d4d4d4"),
    FAILED: ("NaN: comparison failed", "#D55E00"),
    INFINITE: ("infinite", "#000000"),
}

# Most subjects that are named, and separated by lines.
NAMED = 24


class MatrixDisplay(Display):
    """A score matrix, reduced to a picture: rows and columns are sorted by subject.

    Each pixel of `image` is the mean of the finite scores below it, and NaN where there is none;
    its `state` then says why: 1 no comparison, 2 failed comparisons (NaN), 3 infinite scores, else
    0. Pixels begin and end at `row_edges` and `column_edges`, in templates; `rows` and `columns`
    are the templates at each place.
    """

    image_: AxesImage

    def __init__(self, source: MatrixImage):
        self.image, self.state = source.image, source.state
        self.rows, self.columns = source.rows, source.columns
        self.row_edges, self.column_edges = source.row_edges, source.column_edges
        self.kind = source.kind
        self._source = source

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
        cmap = "viridis_r" if self.kind in LARGER_IS_CLOSER else "viridis"
        finite = np.ma.masked_invalid(self.image)
        self.image_ = ax.imshow(finite, **{"cmap": cmap, **picture, **style})
        colours = ListedColormap([colour for _, colour in _STATES.values()])
        ax.imshow(np.ma.masked_equal(self.state, 0), cmap=colours, vmin=0.5, vmax=3.5, **picture)
        for state, (text, colour) in _STATES.items():
            if (self.state == state).any():
                ax.plot([], [], "s", color=colour, label=text)
        ax.set(xlim=(0, n), ylim=(m, 0))
        if finite.count():
            plot_style.colour_bar(ax, self.image_, self._score_label(self.kind))
        labels = self._source.row_labels, self._source.column_labels
        starts = [*map(_starts, labels)]
        few = self._source.subjects is not None and max(map(len, starts)) - 1 <= NAMED
        for axis, places, names in zip((ax.yaxis, ax.xaxis), starts, labels, strict=True):
            if few:  # lines between the subjects
                axis.set_ticks(places[1:-1], minor=True)
                axis.grid(True, which="minor", color="white", linewidth=0.5, alpha=0.7)
                shown = [as_plot_text(str(x)[:14]) for x in names[places[:-1]].tolist()]
                turned = axis is ax.xaxis and len("  ".join(shown)) > 48
                axis.set_ticks((places[1:] + places[:-1]) / 2, shown, rotation=90 * turned)
                axis.set_tick_params(length=0)
            else:
                axis.set_major_locator(MaxNLocator(7, integer=True))
                axis.set_major_formatter("{x:,.0f}")
        title = plot_style.sentence(joined(name or "", "scores sorted by subject", by=": "))
        self._finish(title, self._caption(), "Gallery template", "Probe template")
        return self

    def _caption(self) -> list[str]:
        """Return in words what is compared, and what a pixel stands for."""
        m, n = len(self.rows), len(self.columns)
        whole = f"{m:,} probes against {n:,} gallery templates"
        if self._source.subjects is not None:
            whole += f" of {counted(self._source.subjects, 'subjects')}"
        across, down = n / (len(self.column_edges) - 1), m / (len(self.row_edges) - 1)
        if max(across, down) <= 1:
            return [whole]
        return [whole, f"a pixel: mean of about {down:.3g} × {across:.3g}"]


def _starts(labels: np.ndarray) -> np.ndarray:
    """Return where each run of equal labels begins, and the end."""
    return np.flatnonzero(np.r_[True, labels[1:] != labels[:-1], True])


def matrix(
    scores: Scores, ax: Axes | None = None, *, pixels: int = 600, **style: Any
) -> MatrixDisplay:
    """Draw the matrix of scores, probes and gallery sorted by subject.

    Dark is close, for distances and for similarities. Cells that are not compared (a template with
    itself, masked cells) and failed comparisons (NaN) have colours of their own and enter no mean.

    Parameters
    ----------
    scores : Scores
        Read once, in blocks of rows.
    ax, **style
        As for :func:`bioeval.plot.roc`; properties are of the image, such as ``vmin=0``.
    pixels : int
        The largest number of pixels a side. Of a larger matrix each pixel is the mean of a block.
    """
    from bioeval.tasks.plotted_scores import matrix_image

    return MatrixDisplay.from_results(matrix_image(scores, pixels)).plot(ax, **style)
