"""Genuine and impostor scores, as two histograms on one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError
from bioeval.scores.blocks import BlockReader
from bioeval.scores.matrix import Scores
from bioeval.tallies.counts import VerificationTally
from bioeval.tallies.sweep import run_jobs
from bioeval.tallies.verification_job import VerificationJob
from bioeval.views.plots import style as look
from bioeval.views.plots.direct_labels import DirectLabels, Labelled
from bioeval.views.plots.select_datasets import one_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Bins between the smallest and the largest score of a class: never fewer or more.
LEAST_BINS, MOST_BINS = 8, 120

NODE = "verification/single"


@dataclass(frozen=True)
class Histogram:
    """The scores of one class.

    Attributes
    ----------
    edges : ndarray, shape (b + 1,)
        In the user's units, increasing.
    counts : int64 ndarray, shape (b,)
        Scores in each bin. Of distances a bin holds its upper edge, of similarities its lower.
    total : int
        All scores of the class, those without a place on the axis (infinite ones) as well.
    """

    edges: np.ndarray
    counts: np.ndarray
    total: int

    @property
    def density(self) -> np.ndarray:
        """Share of the class in each bin over the bin's width; the class's own denominator."""
        widths = np.diff(self.edges)
        return self.counts / (widths * self.total) if self.total else np.zeros(len(self.counts))

    @property
    def unplaced(self) -> int:
        """Scores that have no place on the axis."""
        return self.total - int(self.counts.sum())


class ScoreDistributionsDisplay:
    """Histograms of genuine and impostor scores.

    Attributes
    ----------
    genuine, impostor : dict of str to Histogram
        By the name of the system; one system given as it is has the name ``""``.
    kind : str
        ``"distance"`` or ``"similarity"``.
    ax_, figure_ : Axes and Figure
        Where they were drawn last.
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        genuine: Mapping[str, Histogram],
        impostor: Mapping[str, Histogram],
        kind: str,
        over: Sequence[str] = (),
    ):
        self.genuine, self.impostor, self.kind = dict(genuine), dict(impostor), kind
        self.over = list(over)

    @classmethod
    def from_scores(cls, data: Any) -> Self:
        """Count the scores of a Scores, or take a tally's counts, or those of a mapping of them."""
        several = isinstance(data, Mapping) and not isinstance(data, (xr.Dataset, xr.DataTree))
        given = dict(data) if several else {"": data}
        if not given:
            raise DataError("be.plot.score_distributions got an empty mapping; expected name: data")
        tallies = {str(name): _tally(value) for name, value in given.items()}
        kind = one_kind(
            {name: tally.about.kind for name, tally in tallies.items()}, "score_distributions"
        )
        genuine = {name: _genuine(tally, kind) for name, tally in tallies.items()}
        impostor = {name: _impostor(tally, kind) for name, tally in tallies.items()}
        return cls(genuine, impostor, kind, _over(tallies))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        thresholds: float | Sequence[float] | Mapping[str, float] | None = None,
        log: bool = False,
        **style: Any,
    ) -> Self:
        """Draw the histograms. See :func:`score_distributions`."""
        self.ax_ = ax = look.axes_for(ax)
        self.figure_ = look.figure_of(ax)
        labels: list[Labelled] = []
        missing = []
        for number, name in enumerate(self.genuine):
            for i, (word, histogram) in enumerate(
                (("Genuine", self.genuine[name]), ("Impostor", self.impostor[name]))
            ):
                said = f"{name} {word.lower()}" if name else word
                if not histogram.counts.sum():
                    some = f"all {histogram.total:,} are infinite" if histogram.total else "none"
                    missing.append(f"{said} scores: {some}")
                    continue
                hue = look.colour(number if len(self.genuine) > 1 else i)
                labels.append(self._draw(histogram, said, hue, i, log, style))
        densities = np.concatenate(
            [h.density for h in (*self.genuine.values(), *self.impostor.values())]
        )
        top = float(densities.max()) or 1.0
        if log:
            look.log_axis(ax, "y", 0.6 * min(densities[densities > 0], default=1e-3), 3 * top)
        else:
            ax.set_ylim(0, 1.1 * top)
        labels += self._mark(thresholds)
        remarks = self._unplaced()
        if len(missing) == 2 * len(self.genuine):
            ax.set(xticks=[], yticks=[])
            look.empty(ax, missing)
        else:
            remarks += missing
        self.labels_ = DirectLabels(ax, labels)
        look.titled(ax, "Genuine and impostor scores", [*self.over, *remarks])
        better = "larger" if self.kind == "similarity" else "smaller"
        look.labelled(
            ax, f"{self.kind.capitalize()} ({better} is closer)", "Density within each class"
        )
        return self

    def _draw(
        self,
        histogram: Histogram,
        text: str,
        hue: Any,
        dash: int,
        log: bool,
        style: Mapping[str, Any],
    ) -> Labelled:
        density = histogram.density
        several = len(self.genuine) > 1
        if not several:
            self.ax_.stairs(density, histogram.edges, fill=True, color=hue, alpha=0.18, zorder=2)
        given = {"color": hue, "linewidth": 1.4, "linestyle": look.dash(dash), "label": text}
        self.ax_.stairs(density, histogram.edges, **{**given, "zorder": 3, **style})
        x = np.repeat(histogram.edges, 2)
        y = np.concatenate([[0], np.repeat(density, 2), [0]])
        height = np.log(np.fmax(y, 0.5 * density[density > 0].min())) if log else y
        return Labelled(text, hue, x, y, at=_along(x, height, int(np.argmax(y)) + 1))

    def _mark(self, thresholds: Any) -> list[Labelled]:
        """Draw thresholds as vertical lines."""
        if thresholds is None:
            return []
        if isinstance(thresholds, Mapping):
            marks = {str(k): float(v) for k, v in thresholds.items()}
        else:
            marks = {
                f"t = {look.number(float(t))}": float(t) for t in np.atleast_1d(thresholds).tolist()
            }
        low, high = self.ax_.get_ylim()
        drawn = []
        for text, t in marks.items():
            if not np.isfinite(t):
                continue
            self.ax_.axvline(t, color=look.TEXT, linewidth=0.9, linestyle=(0, (4, 2)), zorder=4)
            ends = np.array([low, high])
            drawn.append(Labelled(text, look.TEXT, np.array([t, t]), ends, at=0.97))
        return drawn

    def _unplaced(self) -> list[str]:
        said = []
        for word, histograms in (("genuine", self.genuine), ("impostor", self.impostor)):
            number = sum(h.unplaced for h in histograms.values())
            if number:
                said.append(f"{number:,} {word}")
        return [f"{' and '.join(said)} scores lie off the axis (infinite)"] if said else []


def _along(x: np.ndarray, y: np.ndarray, corner: int) -> float:
    """Return how far along a line, measured on a square plot, a corner lies."""
    wide, tall = np.ptp(x) or 1.0, np.ptp(y) or 1.0
    length = np.concatenate([[0], np.cumsum(np.hypot(np.diff(x) / wide, np.diff(y) / tall))])
    return float(length[min(corner, len(length) - 1)] / (length[-1] or 1.0))


def _tally(data: Any) -> VerificationTally:
    """Return counts of single-template verification, counted in one sweep where need be."""
    if isinstance(data, VerificationTally):
        return data
    parts = getattr(data, "parts", None)
    if parts is not None:
        if NODE not in parts:
            raise DataError(f"the tally holds {', '.join(parts)}, but not {NODE}")
        return parts[NODE].tally
    if not isinstance(data, Scores):
        raise DataError(
            f"be.plot.score_distributions got {type(data).__name__}; expected Scores, a Tally, or "
            "a mapping of name to either"
        )
    reader = BlockReader(data)
    return run_jobs(data, reader, [VerificationJob(data, reader)])[0]


def _over(tallies: Mapping[str, VerificationTally]) -> list[str]:
    said = []
    for name, tally in tallies.items():
        about = tally.about
        text = (
            f"{len(tally.genuine):,} genuine and "
            f"{look.plural(tally.impostor.total, 'impostor attempt')}"
        )
        if about.gallery_subjects and about.layout == "all-against-all":
            text += f"; {look.plural(about.gallery_subjects, 'subject')}"
        elif about.gallery_subjects:
            text += f"; {len(about.probe_subjects):,} probe and {about.gallery_subjects:,} gallery"
            text += " subjects"
        label = name or about.name
        said.append(f"{label}: {text}" if label else text)
    return said


# ------------------------------------------------------------------------------------- binning


def _bins(values: int, spread: float, span: float) -> int:
    """Return how many bins suit so many values (Freedman and Diaconis)."""
    if values < 2 or not spread > 0 or not span > 0:
        return LEAST_BINS
    width = 2 * spread / values ** (1 / 3)
    return int(np.clip(np.ceil(span / width), LEAST_BINS, MOST_BINS))


def _user(edges: np.ndarray, counts: np.ndarray, total: int, kind: str) -> Histogram:
    if kind == "similarity":
        edges, counts = 0.0 - edges[::-1], counts[::-1]
    return Histogram(edges, counts.astype(np.int64), total)


def _genuine(tally: VerificationTally, kind: str) -> Histogram:
    scores = tally.genuine
    finite = scores[np.isfinite(scores)].astype(np.float64)
    if not len(finite):
        return Histogram(np.array([0.0, 1.0]), np.zeros(1, dtype=np.int64), len(scores))
    low, high = float(finite[0]), float(finite[-1])
    q1, q3 = finite[len(finite) // 4], finite[(3 * len(finite)) // 4]
    bins = _bins(len(finite), float(q3 - q1), high - low)
    if high > low:
        edges = np.linspace(low, high, bins + 1)
    else:
        half = _half_width(tally, low)
        edges = np.array([low - half, low + half])
    below = np.searchsorted(finite, edges, side="right")
    below[0] = 0  # the first bin holds its lower edge as well
    return _user(edges, np.diff(below), len(scores), kind)


def _impostor(tally: VerificationTally, kind: str) -> Histogram:
    """Join cells, whole ones only, into bins: every count stays exact."""
    cells = tally.impostor
    if not cells.counts.any():
        return Histogram(np.array([0.0, 1.0]), np.zeros(1, dtype=np.int64), cells.total)
    if len(cells.counts) == 1:
        (value,) = _edges(tally, np.array([cells.first]))
        half = _half_width(tally, float(value))
        return _user(np.array([value - half, value + half]), cells.counts, cells.total, kind)
    before = np.cumsum(cells.counts)
    n = int(before[-1])
    q1, q3 = (int(np.searchsorted(before, share * n)) for share in (0.25, 0.75))
    bins = _bins(n, float(max(q3 - q1, 1)), float(len(cells.counts)))
    step = max(1, -(-len(cells.counts) // bins))
    starts = np.arange(0, len(cells.counts), step)
    counts = np.add.reduceat(cells.counts, starts)
    # A cell is known by its upper edge; the first bin begins at the lower edge of its first cell.
    numbers = cells.first - 1 + np.append(starts, starts[-1] + step)
    return _user(_edges(tally, numbers), counts, cells.total, kind)


def _edges(tally: VerificationTally, numbers: np.ndarray) -> np.ndarray:
    """Return the upper edges of cells, none past the largest float."""
    largest = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        edges = np.ldexp(numbers.astype(np.float64), tally.impostor.exponent)
    return np.clip(edges, -largest, largest)


def _half_width(tally: VerificationTally, value: float) -> float:
    """Return half the width of the bin of scores that are all the same."""
    finite = tally.genuine[np.isfinite(tally.genuine)].astype(np.float64)
    ends = [value, *finite[:1], *finite[-1:]]
    if len(tally.impostor.counts):
        first = tally.impostor.first
        numbers = np.array([first, first + len(tally.impostor.counts) - 1])
        ends += _edges(tally, numbers).tolist()
    span = max(ends) - min(ends)
    return float(span / 100 if span > 0 else max(abs(value), 1.0) / 100)


def score_distributions(
    data: Any,
    ax: Axes | None = None,
    *,
    thresholds: float | Sequence[float] | Mapping[str, float] | None = None,
    log: bool = False,
    **style: Any,
) -> ScoreDistributionsDisplay:
    """Draw how genuine and impostor scores are distributed.

    Parameters
    ----------
    data : Scores, Tally, or mapping of str to either
        Scores are counted in one sweep in blocks of rows, however large the matrix. A tally must
        hold ``verification/single``.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    thresholds : float, sequence of float, or mapping of str to float, optional
        Thresholds to mark, with their names.
    log : bool
        Whether the axis of the density is logarithmic, which shows the tails.
    **style
        Properties of the outlines.

    Returns
    -------
    ScoreDistributionsDisplay
        With ``genuine`` and ``impostor`` (edges, counts and density), ``ax_`` and ``figure_``.

    Notes
    -----
    Every comparison of two templates is a score (single-template verification). Each density is
    over the attempts of its own class: the areas are 1, however many more impostor scores there
    are. Counts in bins are exact.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.score_distributions(be.simulate(20, 4), thresholds={"vendor": 5.0})
    >>> int(display.impostor[""].counts.sum())
    6080
    """
    display = ScoreDistributionsDisplay.from_scores(data)
    return display.plot(ax, thresholds=thresholds, log=log, **style)
