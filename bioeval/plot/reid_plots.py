"""Precision and recall of ranked lists, and open-world retrieval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from bioeval.base.arguments import require_list, require_text
from bioeval.base.errors import DataError, counted
from bioeval.document.text import Text
from bioeval.plot.display import CurvesDisplay, OneResultDisplay
from bioeval.plot.plot_style import Style
from bioeval.plot.rank_plots import convention
from bioeval.plot.systems import agreed
from bioeval.results.words import threshold_text

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

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.reid` or :func:`bioeval.evaluate`, or
        several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.

    Returns
    -------
    PrecisionRecallDisplay
        With ``curves`` (the arrays), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    The precision at a recall level is the largest at this recall or beyond (Manning, Raghavan and
    Schuetze, Introduction to Information Retrieval, 2008, section 8.4); the lines between the
    eleven levels only join them. Bands are the intervals at each level by itself, where the result
    has them.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.precision_recall(be.reid(be.simulate(20, 4), "viper"))
    >>> len(display.curves[""].x)
    11
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

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.gom`, ``bioeval.tasks.reid.results.gom_from_curves``, or
        :func:`bioeval.evaluate` under a card with ``[gom]``; or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.

    Returns
    -------
    GomDisplay
        With ``curves`` (named ``"mReP"`` and ``"mFR"``, after the system's name where there are
        several), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    A good system has a high mReP over a wide range of thresholds, at which mFR is still low. The
    dot is the largest mReP, at ``tau_max``. Bands are the intervals at each threshold by itself,
    where the result has them. Figure 3 of Wang and others (arXiv:2011.11506, 2020).

    Examples
    --------
    >>> import bioeval as be
    >>> a = be.gom_from_curves([0, 0.5, 1], mrep=[0, 0.6, 0.4], mfr=[0, 0.2, 1])
    >>> b = be.gom_from_curves([0, 0.5, 1], mrep=[0, 0.7, 0.5], mfr=[0, 0.1, 1])
    >>> list(be.plot.gom({"old": a, "new": b}).curves)
    ['old, mReP', 'old, mFR', 'new, mReP', 'new, mFR']
    """
    return GomDisplay.from_results(data).plot(ax, **style)


_MATCH, _OTHER = Style.colour(Style.hues["frr"]), Style.colour(Style.hues["far"])


class RankedListsDisplay(OneResultDisplay):
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

    def __init__(self, dataset: xr.Dataset, name: str = ""):
        """Count what each threshold retrieves, and write the measures."""
        super().__init__(dataset, name)
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
        precision = float(one["average_precision"])
        if np.isnan(precision):
            return ["-", *map("FR {:.2f}".format, one["fr"].values.tolist())]
        measures = zip(*(one[name].values.tolist() for name in ("rp", "vp", "rep")), strict=True)
        each = ["RP {:.2f} VP {:.2f} ReP {:.2f}".format(*at) for at in measures]
        return [f"AP {precision:.2f}", *each]

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
        size = 0.42 * places + 2.2 * len(self.words[0]) + 0.8, 0.5 * rows + 1.4
        if Style.look.is_narrow:
            size = 1.0, 0.3 * rows
        ax = self._begin(ax, style, size)
        for i, j in np.argwhere(self.match >= 0):
            matches = self.match[i, j] == 1
            edge = Style.colour(Style.hues["frr" if matches else "far"])
            box: dict[str, Any] = {
                "facecolor": edge if matches else "white",
                "edgecolor": edge,
                "linewidth": 1.4,
            }
            ax.add_patch(Rectangle((j + 0.58, i - 0.36), 0.84, 0.72, **{**box, **style}))
        for k, threshold in enumerate(self.thresholds):
            ends, low = self.within[:, k] + 0.5, np.arange(rows) - 0.46
            label = f"retrieved at {threshold_text(threshold)}"
            how: dict[str, Any] = {
                "color": Style.text,
                "linestyle": Style.dash(k),
                "linewidth": 1.6,
                "zorder": 3,
            }
            ax.vlines(ends, low, low + 0.92, label=label, **how)
        ax.set(xlim=(0.4, places + 0.6), ylim=(rows - 0.4, -0.6))
        names = require_list("queries", queries or [f"query {i}" for i in range(rows)])
        for word in names:
            require_text("queries", word)
        if len(names) != rows:
            raise DataError(
                f"queries has {counted(len(names), 'names')} for {rows:,} queries; expected a name "
                "for each"
            )
        ax.set_yticks(np.arange(rows), names)
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        ax.tick_params(length=0)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        beside = ax.secondary_yaxis("right")
        by = "\n" if Style.look.width else "; "
        beside.set_yticks(np.arange(rows), [by.join(words) for words in self.words])
        beside.tick_params(length=0, labelsize=Style.look.small, labelcolor=Style.text)
        beside.spines["right"].set_visible(False)
        self._finish(self._title("Ranked lists", name), ["filled: a match"], "Rank k")
        return self


def ranked_lists(
    scores: Scores,
    ax: Axes | None = None,
    *,
    thresholds: Sequence[float],
    convention: Any = "market1501",
    budget: int | None = None,
    queries: Sequence[str] | None = None,
    **style: Any,
) -> RankedListsDisplay:
    """Draw the ranked lists of a few queries, with what each threshold retrieves.

    Parameters
    ----------
    scores : Scores
        At most 30 queries against a gallery; the nearest 40 entries of each are drawn.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    thresholds : increasing sequence of float
        Of distances that are not normalised; similarities are negated.
    convention, budget
        As for :func:`bioeval.gom`.
    queries : sequence of str, optional
        Names of the queries.
    **style
        Properties of the boxes; ``name`` names the system.

    Returns
    -------
    RankedListsDisplay
        With ``match``, ``within``, ``words``, ``ax_`` and ``figure_``.

    Notes
    -----
    Beside each list stand its average precision, and RP, VP and ReP at each threshold; of a query
    whose identity is not in the gallery, FR. The picture is that of Figure 2 of arXiv:2011.11506.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[0.1, 0.2, 0.4, 0.7, 0.8], [0.4, 0.7, 0.75, 0.8, 0.9]]
    >>> display = be.plot.ranked_lists(
    ...     be.Scores(d, [1, 9], [1, 1, 1, 2, 3]), thresholds=[0.3, 0.6], convention="vehicleid")
    >>> display.words[0]
    ['AP 1.00', 'RP 1.00 VP 0.67 ReP 0.82', 'RP 1.00 VP 1.00 ReP 1.00']
    """
    from bioeval.tasks.reid.ranked_lists import ranked_lists as lists

    display = RankedListsDisplay.from_results(lists(scores, thresholds, convention, budget))
    return display.plot(ax, queries=queries, **style)
