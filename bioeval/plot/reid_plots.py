"""Precision and recall of ranked lists, and open-world retrieval."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from bioeval.base.arguments import require_list, require_text
from bioeval.base.errors import DataError, counted
from bioeval.plot.display import CurvesDisplay, CurveSpec, Display
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import System
from bioeval.results.words import threshold_text

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores


class PrecisionRecallDisplay(CurvesDisplay):
    """Interpolated precision; ``x`` of a curve is the recall level and ``y`` the precision."""

    spec = CurveSpec(
        "precision_recall",
        "Precision and recall",
        "recall_level",
        {"interpolated_precision": ""},
        "Recall",
        "Interpolated precision",
        details=lambda systems: [System.convention(systems)],
        pointwise_over="recall level",
        marked=True,
    )


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


#: Width and height of a figure of its own.
_SIZE = (6.4, 6.8)


class _Panel(CurvesDisplay):
    """Curves of mFR over the thresholds, on the lower pair of axes."""

    spec = CurveSpec("gom", "", "threshold", {"mfr": ""}, y_label="Mean false rate, mFR")


class GomDisplay(CurvesDisplay):
    """Curves of GOM; ``x`` of a curve is the threshold and ``y`` is mReP.

    Attributes
    ----------
    false_rate : a display
        The curves of mFR, with axes of its own below those of mReP.
    """

    false_rate: _Panel
    spec = CurveSpec("gom", "", "threshold", {"mrep": ""}, y_label="Mean re-ID precision, mReP")

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a result, a tree, or a mapping of name to either."""
        systems = System.pick(data, "gom")
        display = cls(cls.spec.curves_of(systems))
        display.false_rate = _Panel(_Panel.spec.curves_of(systems))
        return display

    @property
    def why_empty(self) -> str:
        """Why there is neither mReP nor mFR; empty where one of them is drawn."""
        return "" if self.false_rate.defined else super().why_empty

    def plot(
        self, ax: Axes | Figure | None = None, *, name: str | None = None, **style: Any
    ) -> Self:
        """Draw the curves. See :func:`gom`."""
        panels: dict[str, CurvesDisplay] = {"mReP": self, "mFR": self.false_rate}
        shown = [word for word, panel in panels.items() if panel.defined] or ["mReP"]
        size = _SIZE if len(shown) > 1 else self.spec.size
        self._axes(ax, size, style)
        own_title = self._own_title
        x_label = "Threshold τ"
        if System.agreed(self.systems, "normalised_span") != "1.0":
            x_label += ", distances scaled to 0 ... 1"
        details = _details(self, [super().why_empty, self.false_rate.why_empty])
        places, lowest_places = self._panels(len(shown))
        for place, word in zip(places, shown, strict=True):
            panel, last = panels[word], word == shown[-1]
            lowest = place in lowest_places
            panel._start(place, name, style)
            panel._own_title = own_title
            panel._lines(style)
            place.set_ylim(-0.015, 1.015)
            if panel is self:  # a dot at the largest mReP of each system
                for curve in self.defined:
                    dataset, colour = curve.system.dataset, self.lines_[curve.name].get_color()
                    tau, largest = float(dataset["tau_max"]), float(dataset["max_mrep"])
                    self.ax_.plot(tau, largest, "o", markersize=4, color=colour, zorder=4)
            title = " and ".join(shown) if word == shown[0] else ""
            below = x_label if lowest else ""
            panel._finish(title=title, x_label=below, details=lambda _: details, has_legend=last)
            place.tick_params(labelbottom=lowest)
        return self


def _details(display: GomDisplay, lacking: list[str]) -> list[str]:
    """Return the convention and the numbers of queries, so far as all systems agree."""
    facts = [
        System.agreed(display.systems, "convention"),
        System.agreed(display.systems, "budget", "B = {}"),
    ]
    if System.agreed(display.systems, "variant") == "reference":
        facts.append("as the authors' program")
    queries = set()
    for system in display.systems:
        if "open_queries" in system.dataset:
            queries.add((int(system.dataset["queries"]), int(system.dataset["open_queries"])))
    if len(queries) == 1:
        ranked, absent = queries.pop()
        facts.append(f"mReP over {counted(ranked, 'queries')}, mFR over {absent:,}")
    dots = "dots: largest mReP, at tau_max" if display.defined else ""
    return ["; ".join(filter(None, facts)), dots, *lacking]


def gom(data: Any, ax: Axes | Figure | None = None, **style: Any) -> GomDisplay:
    """Draw mReP and mFR against the threshold: the figure of GOM.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.gom`, ``bioeval.tasks.reid.results.gom_from_curves``, or
        :func:`bioeval.evaluate` under a card with ``[gom]``; or several by name.
    ax : matplotlib Axes, optional
        Whose place is divided into two; that of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    GomDisplay
        With ``curves`` (of mReP) and ``false_rate.curves`` (of mFR), ``ax_`` and
        ``false_rate.ax_``, ``figure_`` and ``lines_``. A panel in which no system has values is
        left out, and the lines below the title say why.

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
    ['old', 'new']
    """
    return GomDisplay.from_results(data).plot(ax, **style)


_MATCH, _OTHER = Style.colour(Style.hues["frr"]), Style.colour(Style.hues["far"])


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
        """Count what each threshold retrieves, and write the measures."""
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
        precision = float(one["average_precision"])
        if np.isnan(precision):
            return ["-", *map("FR {:.2f}".format, one["fr"].values.tolist())]
        words = [f"AP {precision:.2f}"]
        for i in range(one.sizes["threshold"]):
            rp, vp, rep = one["rp"].values[i], one["vp"].values[i], one["rep"].values[i]
            words.append(f"RP {rp:.2f} VP {vp:.2f} ReP {rep:.2f}")
        return words

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
        size = 0.42 * places + 1.9 * len(self.words[0]) + 0.8, 0.42 * rows + 1.4
        if Style.look.is_narrow:
            size = 1.0, 0.15 * rows
        ax = self._axes(ax, size, style)
        for i, j in np.argwhere(self.match >= 0):
            sign, edge = "-", _OTHER
            face: Any = "white"
            ink: Any = _OTHER
            if self.match[i, j] == 1:
                sign, face, edge, ink = "+", _MATCH, _MATCH, "white"
            box = {"facecolor": face, "edgecolor": edge, "linewidth": 1.4, **style}
            ax.add_patch(Rectangle((j + 0.58, i - 0.36), 0.84, 0.72, **box))
            ax.text(
                j + 1,
                i,
                sign,
                ha="center",
                va="center",
                fontsize=Style.look.label,
                color=ink,
            )
        for k in range(len(self.thresholds)):
            for i, end in enumerate(self.within[:, k]):
                ax.plot(
                    [end + 0.5] * 2,
                    [i - 0.46, i + 0.46],
                    color=Style.text,
                    linewidth=1.6,
                    linestyle=Style.dash(k),
                    zorder=3,
                )
        ax.set_xlim(0.4, places + 0.6)
        ax.set_ylim(rows - 0.4, -0.6)
        if queries is None:
            shown = [f"query {i}" for i in range(rows)]
        else:
            shown = require_list("queries", queries)
        for word in shown:
            require_text("queries", word)
        if len(shown) != rows:
            raise DataError(
                f"queries has {counted(len(shown), 'names')} for {rows:,} queries; expected a name "
                "for each"
            )
        ax.set_yticks(np.arange(rows), shown)
        ax.tick_params(length=0)
        ax.grid(visible=False)
        for side in ax.spines.values():
            side.set_visible(False)
        name = name or str(self._dataset.attrs["system"])
        lines = ["filled: a match; bars: entries that each threshold retrieves"]
        self._titled("Ranked lists", name, lines)
        heads = ["whole list", *(f"at {threshold_text(x)}" for x in self.thresholds)]
        columns: dict[str, tuple[list[str], str]] = {}
        for column, head in enumerate(heads):
            texts = [words[column] for words in self.words]
            if Style.look.is_narrow:  # a measure on each line
                texts = [re.sub(r"(?<=\d) ", "\n", text) for text in texts]
            columns[head] = texts, "normal"
        self._columns(ax, columns)
        self._labelled("Rank k", "")
        each = 2.4 * Style.look.tick * places / self._laid_out_size(ax)[0]
        ax.set_xticks(np.arange(1, places + 1, math.ceil(each)))
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
