"""Precision and recall of ranked lists, and open-world retrieval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bioeval.document.text import Text
from bioeval.plot.display import CurvesDisplay, OneResultDisplay
from bioeval.plot.plot_style import Style, beside
from bioeval.plot.rank_plots import convention
from bioeval.plot.systems import agreed
from bioeval.views.writers.numbers import score_text

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores


class PrecisionRecallDisplay(CurvesDisplay):
    """Interpolated precision; ``x`` of a curve is the recall level and ``y`` the precision."""

    _plot, _title = "precision_recall", "Precision and recall"
    _x, _y = "recall_level", {"interpolated_precision": ""}
    _x_label, _y_label = "Recall", "Interpolated precision"
    _marked = True

    def _caption(self) -> Sequence[Text]:
        return convention(self.systems)


def precision_recall(data: Any, ax: Axes | None = None, **style: Any) -> PrecisionRecallDisplay:
    """Draw interpolated precision against recall, the mean over the queries.

    The precision at a recall level is the largest at this recall or beyond (Manning, Raghavan and
    Schuetze, Introduction to Information Retrieval, 2008, section 8.4); the lines between the
    eleven levels only join them. Bands are the intervals at each level by itself, where the result
    has them.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.reid` or :func:`bioeval.evaluate`, or
        several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    return PrecisionRecallDisplay.from_results(data).plot(ax, **style)


class GomDisplay(CurvesDisplay):
    """Curves of GOM; ``x`` of a curve is the threshold and ``y`` is mReP or mFR."""

    _plot, _title, _x = "gom", "", "threshold"
    _y: ClassVar = {"mrep": "mReP", "mfr": "mFR"}
    _x_label, _y_label = "Threshold τ", "Mean rate: mReP, mFR"

    def _limits(self) -> dict[str, Any]:
        """Mark the largest mReP of each system."""
        for curve in self.defined:
            if curve.variable == "mrep":
                ds, colour = curve.system.dataset, self.lines_[curve.name].get_color()
                place = float(ds["tau_max"]), float(ds["max_mrep"])
                self.ax_.plot(*place, "o", markersize=5, color=colour, zorder=4)
        return {"ylim": (-0.015, 1.015)}

    def _caption(self) -> Sequence[Text]:
        spans = agreed(self.systems, lambda system: system.text_of("normalised_span"))
        scaled = "distances scaled to 0 ... 1" if spans == "1.0" else ""
        return [agreed(self.systems, lambda system: system.text_of("convention")), scaled]


def gom(data: Any, ax: Axes | None = None, **style: Any) -> GomDisplay:
    """Draw mReP and mFR against the threshold: the figure of GOM.

    A good system has a high mReP over a wide range of thresholds, at which mFR is still low. The
    dot is the largest mReP, at ``tau_max``. Bands are the intervals at each threshold by itself,
    where the result has them. Figure 3 of Wang and others (arXiv:2011.11506, 2020).

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.gom`, ``bioeval.tasks.reid.gom.gom_from_curves``, or
        :func:`bioeval.evaluate` under a card with ``[gom]``; or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    return GomDisplay.from_results(data).plot(ax, **style)


class RankedListsDisplay(OneResultDisplay):
    """The lists of a few queries, nearest first.

    `match` is 1 for a match, 0 for another entry, -1 beyond the list; `within` is the number of
    entries within each threshold; `words` are the measures of each query: over the whole list, and
    at each threshold.
    """

    def __init__(self, dataset: xr.Dataset, name: str = ""):
        """Count what each threshold retrieves, and write the measures."""
        super().__init__(dataset, name)
        self.match = dataset["match"].values
        sign = -1 if dataset.attrs["kind"] != "distance" else 1
        self.thresholds = dataset["threshold"].values  # of distances
        score = sign * dataset["entry_score"].values
        self.within = (score[:, :, None] <= self.thresholds).sum(axis=1)
        self.words = [self._measures(dataset.isel(probe=i)) for i in range(len(self.match))]

    @staticmethod
    def _measures(one: xr.Dataset) -> list[str]:
        precision = float(one["average_precision"])
        if np.isnan(precision):
            return ["-", *map("FR {:.2f}".format, one["fr"].values.tolist())]
        measures = zip(*(one[name].values.tolist() for name in ("rp", "vp", "rep")), strict=True)
        each = ["RP {:.2f} VP {:.2f} ReP {:.2f}".format(*at) for at in measures]
        return [f"AP {precision:.2f}", *each]

    def plot(
        self, ax: Axes | Figure | None = None, *, name: str | None = None, **style: Any
    ) -> Self:
        """Draw the lists. See :func:`bioeval.plot.ranked_lists`."""
        rows, places = self.match.shape
        size = 0.42 * places + 2.2 * len(self.words[0]) + 0.8, 0.5 * rows + 1.4
        if Style.look.is_narrow:
            size = 1.0, 0.3 * rows
        ax = self._begin(ax, style, size)
        matched, other = (Style.colour(Style.hues[x]) for x in ("frr", "far"))
        for shown, edge, face in ((1, matched, matched), (0, other, "white")):
            row, place = np.nonzero(self.match == shown)
            box: dict[str, Any] = {"facecolor": face, "edgecolor": edge, "linewidth": 1.4, **style}
            ax.barh(row, 0.84, 0.72, place + 0.58, **box)
        for k, threshold in enumerate(self.thresholds):
            ends, low = self.within[:, k] + 0.5, np.arange(rows) - 0.46
            line: dict[str, Any] = {"color": Style.text, "linestyle": Style.dash(k)}
            line["label"] = f"retrieved at {score_text(threshold, 'not')}"
            ax.vlines(ends, low, low + 0.92, linewidth=1.6, zorder=3, **line)
        ax.set(xlim=(0.4, places + 0.6), ylim=(rows - 0.4, -0.6))
        ax.set_yticks(np.arange(rows), [f"query {i}" for i in range(rows)])
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        ax.tick_params(length=0)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        beside(ax, [("\n" if Style.look.width else "; ").join(words) for words in self.words])
        self._finish(self._title("Ranked lists", name), ["filled: a match"], "Rank k")
        return self


def ranked_lists(
    scores: Scores,
    ax: Axes | Figure | None = None,
    *,
    thresholds: Sequence[float],
    convention: Any = "market1501",
    budget: int | None = None,
    **style: Any,
) -> RankedListsDisplay:
    """Draw the ranked lists of a few queries, with what each threshold retrieves.

    Beside each list stand its average precision, and RP, VP and ReP at each threshold; of a query
    whose identity is not in the gallery, FR. The picture is that of Figure 2 of arXiv:2011.11506.

    Parameters
    ----------
    scores : Scores
        At most 30 queries against a gallery; the nearest 40 entries of each are drawn.
    ax, **style
        As for :func:`bioeval.plot.roc`; properties are of the boxes.
    thresholds : increasing sequence of float
        Of distances that are not normalised; similarities are negated.
    convention, budget
        As for :func:`bioeval.gom`.
    """
    from bioeval.tasks.reid.ranked_lists import lists_of_queries as lists

    display = RankedListsDisplay(lists(scores, thresholds, convention, budget))
    return display.plot(ax, **style)
