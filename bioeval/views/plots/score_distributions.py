"""Genuine and impostor scores, as two histograms on one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from bioeval.base.kinds import larger_is_closer, noun_of
from bioeval.results.histogram import Histogram, ScoreHistograms
from bioeval.views.plots import style as look
from bioeval.views.plots.captions import kind_of, over
from bioeval.views.plots.direct_labels import DirectLabels, Labelled
from bioeval.views.plots.display import Display
from bioeval.views.plots.select_datasets import System, as_plot_text, joined


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

    def __init__(self, systems: Mapping[str, ScoreHistograms]):
        self.systems = [System(name, system.about) for name, system in systems.items()]
        self.kind = kind_of(self.systems, "score_distributions")
        self.genuine = {name: system.genuine for name, system in systems.items()}
        self.impostor = {name: system.impostor for name, system in systems.items()}

    @classmethod
    def from_results(cls, data: ScoreHistograms | Mapping[str, ScoreHistograms]) -> Self:
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
        ax = self._axes(ax)
        ax.set_xmargin(0)  # the axis ends with the scores
        several = len(self.genuine) > 1
        labels: list[Labelled] = []
        missing = []
        for number, system in enumerate(self.genuine):
            label = joined(name or "", system)
            for i, (word, histogram) in enumerate(
                (("Genuine", self.genuine[system]), ("Impostor", self.impostor[system]))
            ):
                text = f"{label} {word.lower()}" if label else word
                if not histogram.counts.sum():
                    some = f"all {histogram.total:,} are infinite" if histogram.total else "none"
                    if histogram.coarse:
                        some = "cells too wide, because of scores far off; draw the Scores"
                    missing.append(f"{text} scores: {some}")
                    continue
                colour = look.colour(number if several else i)
                line = {"color": colour, "linestyle": look.dash(i), "label": text, **style}
                x, y = _outline(ax, histogram, line, fill=not several)
                labels.append(Labelled(text, colour, x, y, at=_peak(x, y, log)))
        self._limit(log)
        labels += self._mark(thresholds)
        remarks = self._unplaced()
        if len(missing) == 2 * len(self.genuine):
            ax.set(xticks=[], yticks=[])
            look.empty(ax, missing)
        else:
            remarks += missing
        self.labels_ = DirectLabels(ax, labels)
        look.titled(ax, "Genuine and impostor scores", [*over(self.systems), *remarks])
        better = "larger" if larger_is_closer(self.kind) else "smaller"
        noun = noun_of(self.kind).capitalize()
        look.labelled(ax, f"{noun} ({better} is closer)", "Density within each class")
        return self

    def _limit(self, log: bool) -> None:
        """Fit the axis of the density to the highest and, if logarithmic, the lowest bin."""
        histograms = [*self.genuine.values(), *self.impostor.values()]
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
            marks = {str(k): float(v) for k, v in thresholds.items()}
        else:
            given = [] if thresholds is None else np.atleast_1d(thresholds).tolist()
            marks = {f"t = {float(t):.4g}": float(t) for t in given}
        drawn = []
        for text, t in marks.items():
            if np.isfinite(t):
                self.ax_.axvline(t, color=look.TEXT, linewidth=0.9, linestyle=(0, (4, 2)), zorder=4)
                ends = np.array(self.ax_.get_ylim())
                drawn.append(Labelled(text, look.TEXT, np.array([t, t]), ends, at=0.97))
        return drawn

    def _unplaced(self) -> list[str]:
        said = []
        for word, histograms in (("genuine", self.genuine), ("impostor", self.impostor)):
            number = sum(h.unplaced for h in histograms.values())
            if number:
                said.append(f"{number:,} {word}")
        where = "infinite, or far from all others"
        return [f"{' and '.join(said)} scores lie off the axis ({where})"] if said else []


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
    """Return how far along its outline, measured on a square plot, a histogram has its peak."""
    corner = int(np.argmax(y)) + 1
    height = np.log(np.fmax(y, 0.5 * y[y > 0].min())) if log else y
    wide, tall = np.ptp(x) or 1.0, np.ptp(height) or 1.0
    length = np.concatenate([[0], np.cumsum(np.hypot(np.diff(x) / wide, np.diff(height) / tall))])
    return float(length[min(corner, len(length) - 1)] / (length[-1] or 1.0))
