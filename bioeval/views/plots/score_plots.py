"""Plots of scores: distributions, the matrix, ranked lists, and one row step by step."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from bioeval.base.arguments import (
    require_flag,
    require_list,
    require_number,
    require_numbers,
    require_text,
)
from bioeval.base.errors import DataError, counted
from bioeval.base.kinds import larger_is_closer
from bioeval.results.explanation import GENUINE, IMPOSTOR, LEFT_OUT, RowExplanation
from bioeval.results.histogram import Histogram, ScoreHistograms
from bioeval.results.words import threshold_text
from bioeval.scores.matrix_image import EXCLUDED, FAILED, INFINITE, MatrixImage
from bioeval.views.images import Images, pictures_of_templates
from bioeval.views.plots import style as look
from bioeval.views.plots.direct_labels import DirectLabels, Labelled, threshold_line
from bioeval.views.plots.display import MOST_NAMED, Display
from bioeval.views.plots.systems import (
    System,
    as_plot_text,
    joined,
    kind_of,
    over,
    score_label,
    without_formula,
)
from bioeval.views.tables.explanation import ShownList, lists_of, templates_of
from bioeval.views.tables.layout import score as score_text


class ScoreDistributionsDisplay(Display):
    """Histograms of genuine and impostor scores.

    Attributes
    ----------
    genuine, impostor : dict of str to Histogram
        By the name of the system, which is ``""`` for a single system given without one.
    kind : str
        ``"distance"`` or ``"similarity"``.
    labels_ : DirectLabels
        The names beside the histograms.
    """

    labels_: DirectLabels
    _plot, _title = "score_distributions", "Genuine and impostor scores"
    _off = "infinite, or far from all others"  # where scores lie that have no bin

    def __init__(self, systems: Mapping[str, ScoreHistograms]):
        self.systems = [System(name, system.about) for name, system in systems.items()]
        self.kind = kind_of(self.systems, self._plot)
        self.genuine = {name: system.genuine for name, system in systems.items()}
        self.impostor = {name: system.impostor for name, system in systems.items()}

    @property
    def classes(self) -> dict[str, dict[str, Histogram]]:
        """The histograms of each class, by the name of the system."""
        return {"Genuine": self.genuine, "Impostor": self.impostor}

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the histograms of one system, or of several by name."""
        if isinstance(data, ScoreHistograms):
            return cls({"": data})
        return cls({as_plot_text(name): one for name, one in data.items()})

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
        ax = self._axes(ax)
        ax.set_xmargin(0)  # the axis ends with the scores
        several = len(self.genuine) > 1
        # Of many histograms each system is named once, and the line styles are explained.
        once = len(self.classes) * len(self.genuine) > MOST_NAMED and several
        labels: list[Labelled] = []
        missing = []
        for number, system in enumerate(self.genuine):
            label = joined(name or "", system)
            for i, (word, histograms) in enumerate(self.classes.items()):
                histogram = histograms[system]
                text = f"{label} {word.lower()}" if label else word
                if not histogram.counts.sum():
                    some = f"all {histogram.total:,} are infinite" if histogram.total else "none"
                    if histogram.coarse:
                        some = "cells too wide, because of scores far off; draw the Scores"
                    missing.append(f"{text} scores: {some}")
                    continue
                colour = look.colour(number if several else i)  # of a class, as of its errors
                line = {"color": colour, "linestyle": look.dash(i), "label": text, **style}
                x, y = _outline(ax, histogram, line, fill=not several)
                shown = text if not once else label * (i == 0)
                labels.append(Labelled(shown, colour, x, y, _peak(x, y, log), look.dash(i)))
        self._limit(log)
        labels += self._mark(thresholds)
        styles = (f"{look.dash_words(i)}: {x.lower()}" for i, x in enumerate(self.classes))
        remarks = ["; ".join(styles)] * once + self._unplaced()
        if len(missing) == len(self.classes) * len(self.genuine):
            ax.set(xticks=[], yticks=[])
            look.empty(ax, missing)
        else:
            remarks += missing
        self.labels_ = DirectLabels(ax, labels)
        look.titled(ax, self._title, [*self._over(), *remarks])
        look.labelled(ax, score_label(self.kind), "Density within each class")
        return self

    def _over(self) -> list[str]:
        return over(self.systems)

    def _limit(self, log: bool) -> None:
        """Fit the axis of the density to the highest and, if logarithmic, the lowest bin."""
        histograms = [h for one in self.classes.values() for h in one.values()]
        densities = np.concatenate([histogram.density for histogram in histograms])
        top = float(densities.max()) or 1.0
        if log:
            low = 0.6 * min(densities[densities > 0], default=1e-3)
            look.log_axis(self.ax_, "y", low, 3 * top)
        else:
            self.ax_.set_ylim(0, 1.1 * top)

    def _mark(
        self, thresholds: float | Sequence[float] | Mapping[str, float] | None
    ) -> list[Labelled]:
        """Draw thresholds as vertical lines."""
        if isinstance(thresholds, Mapping):
            marks = {str(k): require_number("thresholds", v) for k, v in thresholds.items()}
        else:
            given = [] if thresholds is None else thresholds
            given = np.ravel(require_numbers("thresholds", given)).tolist()
            marks = {f"t = {float(t):.4g}": float(t) for t in given}
        return [threshold_line(self.ax_, t, text) for text, t in marks.items() if np.isfinite(t)]

    def _unplaced(self) -> list[str]:
        said = []
        for word, histograms in self.classes.items():
            number = sum(h.unplaced for h in histograms.values())
            if number:
                said.append(f"{number:,} {word.lower()}")
        return [f"{' and '.join(said)} scores lie off the axis ({self._off})"] if said else []


def _outline(
    ax: Axes, histogram: Histogram, line: Mapping[str, Any], fill: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Draw a histogram; return the corners of its outline."""
    density, edges = histogram.density, histogram.edges
    if fill:
        ax.stairs(density, edges, fill=True, color=line["color"], alpha=0.18, zorder=2)
    ax.stairs(density, edges, **{"linewidth": 1.4, "zorder": 3, **line})
    return np.repeat(edges, 2), np.concatenate([[0], np.repeat(density, 2), [0]])


def _peak(x: np.ndarray, y: np.ndarray, log: bool) -> float:
    """Return the place of the peak along a histogram's outline, measured on a square plot."""
    corner = int(np.argmax(y)) + 1
    height = np.log(np.fmax(y, 0.5 * y[y > 0].min())) if log else y
    wide, tall = np.ptp(x) or 1.0, np.ptp(height) or 1.0
    length = np.concatenate([[0], np.cumsum(np.hypot(np.diff(x) / wide, np.diff(height) / tall))])
    return float(length[min(corner, len(length) - 1)] / (length[-1] or 1.0))


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
        ax = self._axes(ax, (6.6, 6.2) if square else (7.0, 4.6))
        ax.grid(False)
        similar = larger_is_closer(self.kind)
        picture: dict[str, Any] = {
            "extent": (0, n, m, 0),
            "interpolation": "nearest",
            "aspect": "equal" if square else "auto",
        }
        shown = np.ma.masked_invalid(self.image)
        given = {"cmap": "viridis_r" if similar else "viridis", **picture, **style}
        self.image_ = ax.imshow(shown, **given)
        title = f"{name}: scores" if name else "Scores"
        look.titled(ax, f"{title}, sorted by subject", self._over, share=0.86)
        for which in ("x", "y"):
            self._axis(which)
        look.labelled(ax, "Gallery template", "Probe template")
        self._states(picture)
        if shown.count():
            bar = self.figure_.colorbar(self.image_, ax=ax, pad=0.02, aspect=30, shrink=0.9)
            look.bar_labelled(bar, ax, score_label(self.kind))
        return self

    def _states(self, picture: dict[str, Any]) -> None:
        """Colour the pixels without a score, and explain the colours in the corner."""
        ax = self.ax_
        colours = ListedColormap([colour for _, colour in _STATES.values()])
        if self.state.any():
            shown = np.ma.masked_equal(self.state, 0)
            ax.imshow(shown, cmap=colours, vmin=0.5, vmax=3.5, **picture)
        small: dict[str, Any] = {"va": "bottom", "ha": "right", "annotation_clip": False}
        beside: Any = ("axes fraction", ax.xaxis.label)
        place = (1.0, 0.0)
        gap = 0.0
        for state, (text, colour) in _STATES.items():
            if (self.state == state).any():
                word = look.note(ax, text, place, (gap, 0), xycoords=beside, **small)
                beside = look.note(ax, "■", (0, 0), (-3, 0), xycoords=word, color=colour, **small)
                place, gap = (0, 0), -9

    def _axis(self, which: str) -> None:
        """Name the subjects where there is room along both axes, else count templates."""
        ax = self.ax_
        axis = ax.xaxis if which == "x" else ax.yaxis
        starts, names = self.column_subjects if which == "x" else self.row_subjects
        length = int(starts[-1])
        axis.set_minor_locator(NullLocator())
        if self.labelled and 1 < len(names) <= BOUNDED:
            axis.set_minor_locator(FixedLocator(starts[1:-1].tolist()))
            if len(names) <= RULED:
                axis.grid(True, which="minor", color="white", linewidth=0.5, alpha=0.7)
        axis.set_tick_params(which="minor", length=2 if len(names) > NAMED else 5)
        both = self.column_subjects, self.row_subjects
        if self.labelled and max(len(subjects) for _, subjects in both) <= NAMED:
            centres = (starts[1:] + starts[:-1]) / 2
            axis.set_major_locator(FixedLocator(centres.tolist()))
            # A name needs the height of its letters, along either axis once it is turned.
            least = 9 * length / (0.8 * min(look.room(ax)))
            wide = np.diff(starts) >= least
            texts = [_short(name) if fits else "" for name, fits in zip(names, wide, strict=True)]
            shown = dict(zip(centres.tolist(), texts, strict=True))
            axis.set_major_formatter(FuncFormatter(lambda at, _: shown.get(at, "")))
            axis.set_tick_params(length=0)
            if which == "x" and max(map(len, shown.values())) * len(names) > 60:
                ax.tick_params(axis="x", labelrotation=90)
        else:
            axis.set_major_locator(MaxNLocator(7, integer=True))
            axis.set_major_formatter(FuncFormatter(lambda at, _: f"{at:,.0f}"))
            axis.set_tick_params(length=3)
        (ax.set_xlim if which == "x" else ax.set_ylim)(
            *((0, length) if which == "x" else (length, 0))
        )


def _short(name: Any) -> str:
    text = str(name)
    return as_plot_text(text if len(text) <= 14 else text[:13] + "…")


def _runs(labels: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    """Return the start, the end and the label of each run of equal labels."""
    changed = np.array([True, *(labels[1:] != labels[:-1])]) if len(labels) else np.zeros(0, bool)
    starts = np.nonzero(changed)[0]
    return np.append(starts, len(labels)), labels[starts].tolist()


def _compared(source: MatrixImage) -> list[str]:
    m, n = len(source.rows), len(source.columns)
    said = f"{m:,} probes against {n:,} gallery templates, {source.layout}"
    if source.subjects is not None:
        said += f"; {counted(source.subjects, 'subjects')}"
    lines = [f"{as_plot_text(source.name)}: {said}" if source.name else said]
    across, down = n / (len(source.column_edges) - 1), m / (len(source.row_edges) - 1)
    if max(across, down) > 1:
        lines.append(f"each pixel: mean of about {down:.3g} × {across:.3g} comparisons")
    return lines


_MATCH, _OTHER = look.PALETTE[look.GENUINE], look.PALETTE[look.IMPOSTOR]


class RankedListsDisplay(Display):
    """The lists of a few queries, nearest first.

    Attributes
    ----------
    match : int array, shape (queries, places)
        1 for a match, 0 for another entry, -1 beyond the list.
    within : int array, shape (queries, thresholds)
        Number of entries within each threshold.
    words : list of list of str
        The measures of each query: over the whole list, and at each threshold.
    """

    def __init__(self, dataset: xr.Dataset):
        self._dataset = dataset
        self.match = dataset["match"].values
        sign = -1 if dataset.attrs["kind"] != "distance" else 1
        self.thresholds = dataset["threshold"].values  # of distances
        score = sign * dataset["entry_score"].values
        self.within = (score[:, :, None] <= self.thresholds).sum(axis=1)
        self.words = [self._measures(dataset.isel(probe=i)) for i in range(len(self.match))]

    @classmethod
    def from_results(cls, data: xr.Dataset) -> Self:
        """Take the lists of some queries."""
        return cls(data)

    @staticmethod
    def _measures(one: xr.Dataset) -> list[str]:
        found = float(one["average_precision"])
        if np.isnan(found):
            return ["-", *(f"FR {float(x):.2f}" for x in one["fr"].values)]
        at = zip(*(one[name].values.tolist() for name in ("rp", "vp", "rep")), strict=True)
        return [f"AP {found:.2f}", *(f"RP {a:.2f} VP {b:.2f} ReP {c:.2f}" for a, b, c in at)]

    def plot(
        self,
        ax: Axes | Figure | None = None,
        *,
        name: str | None = None,
        queries: Sequence[str] | None = None,
        **style: Any,
    ) -> Self:
        """Draw the lists. See :func:`bioeval.plot.ranked_lists`."""
        rows, places = self.match.shape
        ax = self._axes(ax, (0.42 * places + 1.9 * len(self.words[0]) + 0.8, 0.42 * rows + 1.4))
        for i, j in zip(*np.nonzero(self.match >= 0), strict=True):
            own = self.match[i, j] == 1
            box = {
                "facecolor": _MATCH if own else "white",
                "edgecolor": _MATCH if own else _OTHER,
                "linewidth": 1.4,
                **style,
            }
            ax.add_patch(Rectangle((j + 0.58, i - 0.36), 0.84, 0.72, **box))
            ax.text(j + 1, i, "+" if own else "-", ha="center", va="center",
                    color="white" if own else _OTHER, fontsize=look.LABEL_SIZE)  # fmt: skip
        for k in range(len(self.thresholds)):
            for i, end in enumerate(self.within[:, k]):
                ax.plot([end + 0.5] * 2, [i - 0.46, i + 0.46], color=look.TEXT, linewidth=1.6,
                        linestyle=look.dash(k), zorder=3)  # fmt: skip
        self._write(ax, places)
        ax.set_xlim(0.4, places + 1.0 + 4.6 * len(self.words[0]))
        ax.set_ylim(rows - 0.4, -0.9)
        ax.set_xticks(np.arange(1, places + 1))
        shown = (
            [f"query {i}" for i in range(rows)]
            if queries is None
            else require_list("queries", queries)
        )
        for word in shown:
            require_text("queries", word)
        if len(shown) != rows:
            raise DataError(
                f"queries has {counted(len(shown), 'names')} for {rows:,} queries; expected a name "
                "for each"
            )
        ax.set_yticks(np.arange(rows), shown)
        ax.set_xlabel("Rank k", fontsize=look.LABEL_SIZE, loc="left")
        ax.grid(visible=False)
        for side in ax.spines.values():
            side.set_visible(False)
        name = name or str(self._dataset.attrs["system"])
        lines = ["filled: a match; bars: entries that each threshold retrieves"]
        look.titled(ax, f"Ranked lists: {name}" if name else "Ranked lists", lines)
        return self

    def _write(self, ax: Axes, places: int) -> None:
        """Write the measures beside the lists, under what they are over."""
        heads = ["whole list", *(f"at {threshold_text(x)}" for x in self.thresholds)]
        for column, head in enumerate(heads):
            x = places + 1.0 + (0 if column == 0 else 2.4 + 5.2 * (column - 1))
            ax.text(x, -0.7, head, fontsize=look.SMALL_SIZE, color=look.QUIET, va="center")
            for i, words in enumerate(self.words):
                ax.text(x, i, words[column], fontsize=look.SMALL_SIZE, color=look.TEXT, va="center")


#: Of each role: colour (Okabe and Ito), and marker, so that colour is never the only difference.
_ROLES = {
    GENUINE: (look.PALETTE[0], "o", True),
    IMPOSTOR: (look.PALETTE[1], "s", False),
    LEFT_OUT: (look.RULE, "x", True),
}

# Inches of a line of a list, of one with a picture, and of a head with the words around it.
_LINE, _PICTURED, _AROUND = 0.26, 0.36, 1.5

# Points of a picture beside a name, and of that of the probe.
_SMALL, _LARGE = 24.0, 46.0

# Points of the axes, and of a letter of the names on their left.
_AXES, _NAME_LETTER = 250.0, 5.2

# Points between the columns of words, by the longest word.
_LETTER, _GAP = 4.6, 14.0


class RowWalkDisplay(Display):
    """The lists of one row.

    Attributes
    ----------
    walk : RowExplanation
    lists : list of ShownList
        As they are drawn, long ones shortened.
    axes_ : list of Axes
        One for each list.
    """

    axes_: list[Axes]

    def __init__(self, walk: RowExplanation):
        self.walk = walk
        self.lists = lists_of(walk)
        faces = Images(folder=None)
        found = {
            name: faces.find(name) for name in pictures_of_templates(faces, templates_of(walk))
        }
        self._faces = {name: face for name, face in found.items() if face is not None}

    @classmethod
    def from_results(cls, data: RowExplanation) -> Self:
        """Take an explained row."""
        return cls(data)

    def plot(
        self, ax: Axes | Figure | None = None, *, name: str | None = None, **style: Any
    ) -> Self:
        """Draw the lists. See :func:`row_walk`."""
        if name is not None:
            require_text("name", name)
        line = _PICTURED if self._faces else _LINE
        high = [line * max(len(x.lines), 1) + _LINE * _extra(x) + _AROUND for x in self.lists]
        first = self._axes(ax, (self._wide(), sum(high) + 0.2))
        self.axes_ = [first]
        place = first.get_subplotspec()
        if len(high) > 1 and place is not None:
            parts = place.subgridspec(len(high), 1, height_ratios=high)
            first.set_subplotspec(parts[0])
            self.axes_ += [
                look.axes_for(self.figure_.add_subplot(parts[k])) for k in range(1, len(high))
            ]
        title = f"{name}: {self.walk.title}" if name else self.walk.title
        for k, (axes, shown) in enumerate(zip(self.axes_, self.lists, strict=False)):
            what = "subjects" if shown.unit == "subject" else "templates"
            if shown.tasks[0].task == "reid":
                what = shown.tasks[0].role.removeprefix("the list of ") or "gallery entries"
            heading = f"{as_plot_text(title)}: list of {what}" if k == 0 else f"List of {what}"
            rows = max(head.count(",") + 1 for head in shown.heads)
            look.titled(axes, heading, self._over() if k == 0 else (), gap=12.0 * rows)
            self._draw(axes, shown, style)
        self._face(first, self.walk.name, 1, "axes fraction", (-_LARGE / 2 - 6, 34), _LARGE)
        return self

    def _face(
        self, ax: Axes, name: str, y: float, across: str, step: tuple[float, float], size: float
    ) -> None:
        """Draw the picture of a template, if it has one, beside a place of the left edge."""
        if name not in self._faces:
            return
        pixels = (round(2 * size),) * 2  # two to a point
        shown = self._faces[name].resize(pixels) if pixels[0] < 64 else self._faces[name]
        grey = np.asarray(shown)
        picture = OffsetImage(grey, zoom=size / grey.shape[0], cmap="gray", norm=Normalize(0, 255))
        box = AnnotationBbox(
            picture, (0, y), step, xycoords=("axes fraction", across), boxcoords="offset points",
            frameon=False, pad=0, annotation_clip=False,
        )  # fmt: skip
        ax.add_artist(box)

    def _over(self) -> list[str]:
        walk = self.walk
        said = [as_plot_text(walk.system)] if walk.system else []
        said += [walk.layout, f"protocol {walk.protocol}"]
        lines = ["; ".join(said)]
        if walk.threshold is not None and not math.isnan(walk.threshold):
            lines.append(f"threshold {threshold_text(walk.threshold)}: {walk.threshold_is}")
        return lines

    def _draw(self, ax: Axes, shown: ShownList, style: dict[str, Any]) -> None:
        """Draw one list, the first place on top."""
        n = len(shown.lines)
        ax.set_ylim(max(n, 1) + 0.5, 0.5)
        ax.grid(False)
        ax.spines["left"].set_visible(False)
        threshold = self.walk.threshold
        low, high = self._ends()
        margin = 0.06 * (high - low) or 0.5
        left, right = low - margin, high + margin
        if threshold is not None and math.isfinite(threshold):  # room for words on either side
            least = 0.2 * (right - left)
            left, right = min(left, threshold - least), max(right, threshold + least)
        ax.set_xlim(left, right)
        self._names(ax, shown)
        for y, line in enumerate(shown.lines, start=1):
            colour, marker, filled = _ROLES[line.role]
            if line.score is None:
                ax.text(
                    0.5, y, "⋮", transform=ax.get_yaxis_transform(), ha="center", va="center",
                    color=look.QUIET,
                )  # fmt: skip
                continue
            score = min(max(line.score, left), right)
            if math.isnan(line.score):
                score = left if larger_is_closer(self.walk.kind) else right
            if not math.isfinite(line.score):
                look.note(
                    ax, score_text(line.score), (score, y), (-8 if score == right else 8, 0),
                    xycoords="data", ha="right" if score == right else "left", va="center",
                )  # fmt: skip
            ax.hlines(y, left, score, color=look.GRID, linewidth=1.0, zorder=1)
            ax.plot(
                [score], [y], marker=marker, markersize=6.5, linestyle="", zorder=3,
                clip_on=False, **{"color": colour, "markerfacecolor": colour if filled else "white",
                                  "markeredgewidth": 1.4, **style},
            )  # fmt: skip
        self._threshold(ax, shown, threshold)
        self._words(ax, shown)
        look.labelled(ax, score_label(self.walk.kind), "")
        ax.xaxis.set_major_locator(MaxNLocator(6, integer=self.walk.kind == "order"))
        below = [*shown.left_out]
        if shown.conditional:
            below.append("a | b: a if accepted, b if rejected")
        if below:
            look.note(
                ax, "\n".join(row for text in below for row in _wrapped(text)), (0, 0), (0, -36),
                xycoords="axes fraction", va="top", annotation_clip=False,
            )  # fmt: skip

    def _wide(self) -> float:
        """Return the width of a picture in inches: names, axes and words."""
        words = max(_columns(shown)[-1][2] + _length(_columns(shown)[-1]) for shown in self.lists)
        names = max(len(name) for shown in self.lists for name in ["", *_names(shown)])
        faces = _SMALL + 8 if self._faces else 0.0
        return max(8.2, (names * _NAME_LETTER + faces + _AXES + words) / 72)

    def _ends(self) -> tuple[float, float]:
        """Return the smallest and the largest finite score of all lists and the threshold."""
        scores = [self.walk.threshold, *(x.score for part in self.lists for x in part.lines)]
        finite = [x for x in scores if x is not None and math.isfinite(x)]
        return (min(finite), max(finite)) if finite else (0.0, 1.0)

    def _names(self, ax: Axes, shown: ShownList) -> None:
        """Name the entries on the left: place, template and subject."""
        texts = list(map(as_plot_text, _names(shown)))
        ax.yaxis.set_major_locator(FixedLocator(list(range(1, len(texts) + 1))))
        ax.yaxis.set_minor_locator(NullLocator())
        ax.set_yticklabels(texts)
        ax.tick_params(axis="y", length=0)
        if self._faces:
            ax.tick_params(axis="y", pad=_SMALL + 8)
        for y, (label, line) in enumerate(
            zip(ax.get_yticklabels(), shown.lines, strict=True), start=1
        ):
            label.set_color(look.ink(_ROLES[line.role][0]))
            if line.number == 1:
                self._face(ax, line.template, y, "data", (-_SMALL / 2 - 4, 0), _SMALL)

    def _threshold(self, ax: Axes, shown: ShownList, threshold: float | None) -> None:
        """Draw the threshold, and the line between the accepted and the rejected."""
        if threshold is None or shown.tasks[0].task == "reid":
            return
        y = (shown.accepted or 0) + 0.5
        ax.axhline(y, color=look.TEXT, linewidth=1.0, linestyle=(0, (4, 2)), zorder=2)
        at = threshold
        if not math.isfinite(threshold):
            at = ax.get_xlim()[int(larger_is_closer(self.walk.kind) != (threshold > 0))]
        else:
            ax.axvline(threshold, color=look.TEXT, linewidth=1.0, linestyle="-", zorder=2)
        # Of an ordered list, these two corners beside the threshold hold no score.
        side = -1 if larger_is_closer(self.walk.kind) else 1
        for word, way in (("accepted", 1), ("rejected", -1)):
            look.note(
                ax, word, (at, y), (4 * side * way, 2 * way), xycoords="data",
                ha="left" if side * way > 0 else "right", va="bottom" if way > 0 else "top",
                annotation_clip=False,
            )  # fmt: skip

    def _words(self, ax: Axes, shown: ShownList) -> None:
        """Write the columns of words on the right: role, and counters by task."""
        given: dict[str, Any] = {"ha": "left", "annotation_clip": False, "linespacing": 1.2}
        for head, texts, at in _columns(shown):
            rows = head.replace(", ", "\n")
            look.note(ax, rows, (1, 1), (at, 4), xycoords="axes fraction", va="bottom", **given)
            for y, (text, line) in enumerate(zip(texts, shown.lines, strict=True), start=1):
                quiet = text in ("-", "left out") or not head
                look.note(
                    ax, without_formula(text), (1, y), (at, 0), xycoords=("axes fraction", "data"),
                    color=look.QUIET if quiet else look.ink(_ROLES[line.role][0]), va="center",
                    **given,
                )  # fmt: skip


def _names(shown: ShownList) -> list[str]:
    """Return the names of the entries: place, template and subject."""
    texts = []
    for line in shown.lines:
        first, second = line.template, line.subject
        if shown.unit == "subject":
            first, second = line.subject, f"by {line.template}"
        if line.number > 1:
            texts.append(line.template)
        else:
            texts.append(f"{line.place}.  {_cut(first)}" + f" ({_cut(second)})" * bool(second))
    return texts


def _columns(shown: ShownList) -> list[tuple[str, list[str], float]]:
    """Return the columns of words: heading, texts, and start in points."""
    found = [("role", [line.role_text for line in shown.lines], _GAP)]
    texts = [(head, [x.cells[k] for x in shown.lines]) for k, head in enumerate(shown.heads)]
    if any(line.reason for line in shown.lines):
        texts.append(("", [textwrap.shorten(x.reason, 60) for x in shown.lines]))
    for head, words in texts:
        found.append((head, words, found[-1][2] + _length(found[-1]) + _GAP))
    return found


def _length(column: tuple[str, list[str], float]) -> float:
    """Return the width of a column of words in points."""
    head, texts, _ = column
    return _LETTER * max([*map(len, texts), *map(len, head.split(", "))])


def _cut(text: str) -> str:
    return text if len(text) <= 18 else text[:17] + "…"


def _extra(shown: ShownList) -> float:
    """Return the lines of text below a list."""
    texts: Sequence[str] = [*shown.left_out, *(["a | b"] if shown.conditional else [])]
    return 0.65 * sum(len(_wrapped(text)) for text in texts)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(without_formula(text), 105)


def row_walk(
    data: RowExplanation, ax: Axes | Figure | None = None, *, name: str | None = None, **style: Any
) -> RowWalkDisplay:
    """Draw one row: its ordered list with roles, the threshold, and the counters.

    Parameters
    ----------
    data : Explanation
        What :func:`bioeval.explain` returns.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given. Other lists of the row, such as that
        of subjects, are drawn below the first.
    name : str, optional
        The system, for the title.
    **style
        Properties of the markers.

    Returns
    -------
    RowWalkDisplay
        With ``lists``, ``ax_``, ``axes_`` and ``figure_``.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.row_walk(be.explain(be.simulate(4, 3), 2))
    >>> [shown.unit for shown in display.lists]
    ['template', 'subject']
    """
    return RowWalkDisplay.from_results(data).plot(ax, name=name, **style)
