"""The matrix of scores as a picture, sorted by subject."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from bioeval.base.errors import DataError, ProtocolError
from bioeval.scores.arrays import IGNORE
from bioeval.scores.matrix import PairScores, Scores
from bioeval.views.plots import style as look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

# Pixels along the longer side.
PIXELS = 600

# Values read at a time.
BLOCK_VALUES = 1 << 19

EXCLUDED, FAILED, INFINITE = 1, 2, 3

_STATES = {
    EXCLUDED: ("not compared", "#d4d4d4"),
    FAILED: ("NaN: comparison failed", "#D55E00"),
    INFINITE: ("infinite", "#000000"),
}

# Subjects for whose names, for lines between whom, and for marks between whom there is room.
NAMED, RULED, BOUNDED = 24, 40, 120


class MatrixDisplay:
    """A score matrix, reduced to a picture.

    Attributes
    ----------
    image : ndarray
        Mean of the finite scores under each pixel; NaN where there is none. Rows are probes and
        columns gallery templates, both sorted by subject.
    state : uint8 ndarray
        What a pixel without a finite score holds: 1 no comparison (the diagonal of
        all-against-all, masked cells), 2 failed comparisons (NaN), 3 infinite scores; else 0.
    rows, columns : int64 ndarray
        The template that stands at each place.
    row_edges, column_edges : int64 ndarray
        Where the pixels begin and end, in templates.
    """

    ax_: Axes
    figure_: Figure
    image_: AxesImage

    def __init__(
        self,
        image: np.ndarray,
        state: np.ndarray,
        rows: np.ndarray,
        columns: np.ndarray,
        edges: tuple[np.ndarray, np.ndarray],
        scores: Scores,
    ):
        self.image, self.state, self.rows, self.columns = image, state, rows, columns
        self.row_edges, self.column_edges = edges
        self.kind = scores.kind
        self.row_subjects = _runs(scores.probe_labels[rows])
        self.column_subjects = _runs(scores.gallery_labels[columns])
        self.labelled = scores.labelled
        self.over = _over(scores, edges)

    @classmethod
    def from_scores(cls, scores: Scores, pixels: int = PIXELS) -> Self:
        """Reduce the matrix to at most `pixels` a side, reading it once in blocks of rows."""
        if isinstance(scores, PairScores):
            raise ProtocolError("be.plot.matrix needs a matrix; these are fixed pairs")
        if not isinstance(scores, Scores):
            raise DataError(f"be.plot.matrix got {type(scores).__name__}; expected Scores")
        rows, columns = _order(scores)
        edges = _edges(len(rows), pixels), _edges(len(columns), pixels)
        image, state = _reduce(scores, rows, columns, *edges)
        return cls(image, state, rows, columns, edges, scores)

    def plot(self, ax: Axes | None = None, **style: Any) -> Self:
        """Draw the picture. See :func:`matrix`."""
        m, n = len(self.rows), len(self.columns)
        square = 0.4 < m / n < 2.5
        self.ax_ = ax = look.axes_for(ax, (6.6, 6.2) if square else (7.0, 4.6))
        self.figure_ = look.figure_of(ax)
        ax.grid(False)
        similar = self.kind == "similarity"
        picture: dict[str, Any] = {
            "extent": (0, n, m, 0),
            "interpolation": "nearest",
            "aspect": "equal" if square else "auto",
        }
        shown = np.ma.masked_invalid(self.image)
        given = {"cmap": "viridis_r" if similar else "viridis", **picture, **style}
        self.image_ = ax.imshow(shown, **given)
        look.titled(ax, "Scores, sorted by subject", self.over, share=0.86)
        for which in ("x", "y"):
            self._axis(which)
        look.labelled(ax, "Gallery template", "Probe template")
        self._states(picture)
        if shown.count():
            bar = self.figure_.colorbar(self.image_, ax=ax, pad=0.02, aspect=30, shrink=0.9)
            closer = "larger" if similar else "smaller"
            name = "order within the row" if self.kind == "order" else self.kind
            look.bar_labelled(bar, ax, f"{name.capitalize()} ({closer} is closer)")
        return self

    def _states(self, picture: dict[str, Any]) -> None:
        """Colour the pixels without a score, and say in the corner what the colours mean."""
        ax = self.ax_
        colours = ListedColormap([colour for _, colour in _STATES.values()])
        if self.state.any():
            shown = np.ma.masked_equal(self.state, 0)
            ax.imshow(shown, cmap=colours, vmin=0.5, vmax=3.5, **picture)
        small: dict[str, Any] = {
            "textcoords": "offset points",
            "va": "bottom",
            "ha": "right",
            "fontsize": look.SMALL_SIZE,
            "annotation_clip": False,
        }
        beside: Any = ("axes fraction", ax.xaxis.label)
        place = (1.0, 0.0)
        gap = 0.0
        for state, (text, colour) in _STATES.items():
            if (self.state == state).any():
                word = ax.annotate(
                    text, place, (gap, 0), xycoords=beside, color=look.QUIET, **small
                )
                beside = ax.annotate("■", (0, 0), (-3, 0), xycoords=word, color=colour, **small)
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
    return text if len(text) <= 14 else text[:13] + "…"


def _order(scores: Scores) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns sorted by subject, the subjects that are not enrolled last."""
    probe, gallery = scores.codes.probe, scores.codes.gallery
    columns = np.argsort(gallery, kind="stable")
    if probe is gallery:
        return columns, columns
    absent = ~np.isin(probe, gallery)
    return np.lexsort((np.arange(len(probe)), probe, absent)), columns


def _edges(length: int, pixels: int) -> np.ndarray:
    number = min(length, pixels)
    return np.floor(np.linspace(0, length, number + 1)).astype(np.int64)


def _runs(labels: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    """Return where the runs of equal labels begin and end, and the label of each."""
    changed = np.array([True, *(labels[1:] != labels[:-1])]) if len(labels) else np.zeros(0, bool)
    starts = np.nonzero(changed)[0]
    return np.append(starts, len(labels)), labels[starts].tolist()


def _reduce(
    scores: Scores,
    rows: np.ndarray,
    columns: np.ndarray,
    row_edges: np.ndarray,
    column_edges: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of the finite scores under each pixel, and the state of the others.

    Rows are read in the order in which they are stored.
    """
    shape = (len(row_edges) - 1, len(column_edges) - 1)
    total, finite, failed, infinite = (np.zeros(shape) for _ in range(4))
    place = np.empty(len(rows), dtype=np.int64)
    place[rows] = np.arange(len(rows))
    pixel = np.searchsorted(row_edges, place, side="right") - 1
    starts = column_edges[:-1]
    step = max(1, BLOCK_VALUES // len(columns))
    step = max(scores.row_chunk, step // scores.row_chunk * scores.row_chunk)
    for low in range(0, len(rows), step):
        high = min(low + step, len(rows))
        values = scores.read_rows(low, high, columns).astype(np.float64)
        compared = scores.probe_ids[low:high, None] != scores.gallery_ids[columns]
        if scores.mask is not None:
            compared &= scores.read_mask(low, high, columns) != IGNORE
        at = pixel[low:high]
        good = compared & np.isfinite(values)
        for out, what in (
            (total, np.where(good, values, 0.0)),
            (finite, good),
            (failed, compared & np.isnan(values)),
            (infinite, compared & np.isinf(values)),
        ):
            np.add.at(out, at, np.add.reduceat(what.astype(np.float64), starts, axis=1))
    with np.errstate(invalid="ignore"):
        image = total / np.where(finite > 0, finite, np.nan)
    state = np.where(infinite > 0, INFINITE, np.where(failed > 0, FAILED, EXCLUDED))
    return image, np.where(finite > 0, 0, state).astype(np.uint8)


def _over(scores: Scores, edges: tuple[np.ndarray, np.ndarray]) -> list[str]:
    m, n = scores.shape
    name = f"{scores.name}: " if scores.name else ""
    said = f"{name}{m:,} probes against {n:,} gallery templates, {scores.layout}"
    if scores.labelled:
        said += f"; {look.plural(len(scores.subjects), 'subject')}"
    lines = [said]
    across, down = n / (len(edges[1]) - 1), m / (len(edges[0]) - 1)
    if max(across, down) > 1:
        lines.append(f"each pixel: mean of about {down:.3g} × {across:.3g} comparisons")
    return lines


def matrix(
    scores: Scores, ax: Axes | None = None, *, pixels: int = PIXELS, **style: Any
) -> MatrixDisplay:
    """Draw the matrix of scores, probes and gallery sorted by subject.

    Parameters
    ----------
    scores : Scores
        Read once, in blocks of rows.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    pixels : int
        The largest number of pixels a side. Of a larger matrix each pixel is the mean of a block.
    **style
        Properties of the image, such as ``vmin=0``.

    Returns
    -------
    MatrixDisplay
        With ``image``, ``state``, ``rows``, ``columns``, ``ax_``, ``figure_`` and ``image_``.

    Notes
    -----
    Dark is close, for distances and for similarities. What is not compared (a template with
    itself, masked cells) and what failed (NaN) have colours of their own and enter no mean.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.matrix(be.simulate(20, 4))
    >>> display.image.shape
    (80, 80)
    """
    return MatrixDisplay.from_scores(scores, pixels).plot(ax, **style)
