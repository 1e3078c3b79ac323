"""Plots of closed-set identification, re-identification and tracking.

By rank or gallery: :func:`cmc` and :func:`gallery_size`. Of re-identification:
:func:`precision_recall`, :func:`gom` and :func:`ranked_lists`. Of tracking: :func:`hota`.

All but :func:`ranked_lists` are curves, and have the same steps: the arrays of a result become a
:class:`Curve` or several for each system; ``Curves(...)`` makes the axes; ``plot.draw()`` (in
:func:`cmc` ``plot.line``) draws the curves of ``plot.defined``, those that have a value anywhere;
``plot.end(...)`` writes title, labels and legend, and returns the plot. The decorator ``styled``
sets the sizes and colours in ``Style`` for the time of one plot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bioeval.base.arguments import require_integer
from bioeval.base.errors import counted
from bioeval.plot import plot_axes
from bioeval.plot.display import Curve, Curves, Display, curves_by_rank, curves_of, numbered
from bioeval.plot.plot_axes import CURVE, OUTLINE, Style, styled
from bioeval.plot.systems import System, agreed, by_system, labelled, pick
from bioeval.showing.numbers import threshold_text
from bioeval.showing.text import Term, say

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.scores.matrix import Scores


# Identification against the rank, and against the number of subjects in a gallery.


@styled
def cmc(
    data: Any, ax: Axes | Figure | None = None, *, max_rank: int | None = None, **style: Any
) -> Curves:
    """Draw the CMC: the proportion of probes with a mate at rank k or better.

    CMS is over the probes that have a mate; CMS(1) is the recognition rate. The axis of CMS
    starts at 0 unless everything lies in its upper half. Bands are the intervals at each rank by
    itself, where the result has them.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.closed_set`, :func:`bioeval.reid` or
        :func:`bioeval.evaluate`, or several of one kind by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    max_rank : int, optional
        Last rank to draw. Default: the rank beyond which no curve changes, or 10. Beyond 30 ranks,
        the axis is logarithmic.
    """
    if max_rank is not None:
        require_integer("max_rank", max_rank, low=1)
    systems = pick(data, "cmc")
    of_queries = "cmc" in systems[0].dataset  # only re-identification has `cmc`
    rate = "cmc" if of_queries else "cms"
    curves = numbered([Curve.from_variables(system, "rank", rate) for system in systems])
    plot = Curves("cmc", curves, ax, style)
    # The rates at each rank, (ranks,), of all curves and their confidence limits.
    rates_drawn: list[np.ndarray] = []
    for curve in plot.defined:
        rates_drawn += [rates for rates in (curve.y, curve.low, curve.high) if rates is not None]
    last_rank = max(int(curve.x[-1]) for curve in curves)
    if max_rank is None:
        last_rank = plot_axes.last_change(rates_drawn, last_rank)
    else:
        last_rank = min(last_rank, max_rank)
    for curve in plot.defined:
        is_drawn = (curve.x <= last_rank) & ~np.isnan(curve.y)
        plot.line(curve, curve.x[is_drawn], curve.y[is_drawn])
        plot.band(curve, is_drawn)
    plot_axes.rank_axis(plot.ax_, last_rank)
    # Rates grow with the rank: the smallest is at rank 1.
    lowest = min((float(rates[0]) for rates in rates_drawn), default=0.0)
    plot_axes.rate_axis(plot.ax_, lowest)
    if of_queries:
        y_label = "Queries matched at rank k or better, CMC(k)"
    else:
        y_label = plot.write(say("Cumulative match score, {cms}(k)"))
    return plot.end("CMC", "Rank k", y_label, caption=_conventions(systems))


def _conventions(systems: Sequence[System]) -> list[str]:
    """Return the convention of re-identification, such as ``market1501``, of each system."""
    return by_system(systems, lambda system: system.text_of("convention"))


@styled
def gallery_size(
    data: Any, ax: Axes | Figure | None = None, *, ranks: Sequence[int] | None = None, **style: Any
) -> Curves:
    """Draw CMS against the number of subjects in the gallery.

    Points are exact means over all galleries of as many subjects.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.gallery_size`, or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    ranks : sequence of int, optional
        Ranks with a curve each. Default: 1, 5 and 10, as far as the result has them.
    """
    curves = curves_by_rank(data, "gallery_size", "gallery_size", "cms", ranks)
    plot = Curves("gallery_size", curves, ax, style, marked=True)
    plot.draw()
    sizes = np.concatenate([curve.x for curve in curves])  # numbers of subjects
    plot_axes.rank_axis(plot.ax_, int(sizes.max()), int(sizes.min()), log=True)
    lowest = min([1.0, *(curve.y.min() for curve in plot.defined)])
    plot_axes.rate_axis(plot.ax_, lowest)
    y_label = say("Cumulative match score, {cms}")
    return plot.end(Term("cms"), "Subjects in the gallery, N", y_label)


@styled
def precision_recall(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Curves:
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
    curves = curves_of(data, "precision_recall", "recall_level", {"interpolated_precision": ""})
    plot = Curves("precision_recall", curves, ax, style, marked=True)
    plot.draw()
    caption = _conventions(plot.systems)
    return plot.end("Precision and recall", "Recall", "Interpolated precision", caption=caption)


@styled
def gom(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Curves:
    """Draw mReP and mFR against the threshold: the figure of GOM.

    A good system has a high mReP over a wide range of thresholds, at which mFR is still low. The
    dot is the largest mReP, at ``tau_max``. Bands are the intervals at each threshold by itself,
    where the result has them. Figure 3 of Wang and others (arXiv:2011.11506, 2020).

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.gom`, :func:`bioeval.gom_from_curves`, or
        :func:`bioeval.evaluate` under a card with ``[gom]``; or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    curves = curves_of(data, "gom", "threshold", {"mrep": "mReP", "mfr": "mFR"})
    plot = Curves("gom", curves, ax, style)
    plot.draw(xlim=(None, None))
    for curve in plot.defined:
        if curve.variable == "mrep":
            tau_max = float(curve.system.dataset["tau_max"])
            max_mrep = float(curve.system.dataset["max_mrep"])
            colour = plot.lines_[curve.name].get_color()
            plot.ax_.plot(tau_max, max_mrep, "o", markersize=5, color=colour, zorder=4)
    caption = _conventions(plot.systems)
    # The span that all systems have; empty if they differ.
    span = agreed(plot.systems, lambda system: system.text_of("normalised_span"))
    if span == "1.0":
        caption.append("distances scaled to 0 ... 1")
    return plot.end("", "Threshold τ", "Mean rate: mReP, mFR", caption=caption)


# The figure of ranked lists, in inches.
WIDTH_OF_ENTRY = 0.42
WIDTH_OF_MEASURES = 2.2  # of the words on the measures at one threshold
WIDTH_OF_QUERY = 0.8  # of the name of a query
HEIGHT_OF_LIST = 0.5
HEIGHT_WITHOUT_LISTS = 1.4
HEIGHT_OF_NARROW = 0.3  # of a list, relative to the width of a figure whose width is fixed

# Sizes on the axes: one entry is 1 wide, at its rank, and one list is 1 high, at its query.
WIDTH_OF_BOX, HEIGHT_OF_BOX = 0.84, 0.72  # of an entry
HEIGHT_OF_LINE = 0.92  # of a threshold
AROUND = 0.6  # from the middle of the outermost boxes to the ends of the axes


@styled
def ranked_lists(
    scores: Scores,
    ax: Axes | Figure | None = None,
    *,
    thresholds: Sequence[float],
    convention: Any = "market1501",
    budget: int | None = None,
    **style: Any,
) -> Display:
    """Draw the ranked lists of a few queries, with the entries that each threshold retrieves.

    Beside each list stand its average precision, and RP, VP and ReP at each threshold; of a query
    whose identity is not in the gallery, FR. The picture is that of Figure 2 of arXiv:2011.11506.

    Parameters
    ----------
    scores : Scores
        Scores of at most 30 queries against a gallery; the nearest 40 entries of each are drawn.
    ax, **style
        As for :func:`bioeval.plot.roc`; properties are of the boxes.
    thresholds : increasing sequence of float
        Thresholds of distances that are not normalised; similarities are negated.
    convention, budget
        As for :func:`bioeval.gom`.
    """
    from bioeval.tasks.reid.gom import lists_of_queries

    ds = lists_of_queries(scores, thresholds, convention, budget)
    match = ds["match"].values  # (queries, ranks): 1 match, 0 other entry, -1 beyond the list
    queries, ranks = match.shape
    # How many entries of each list each threshold retrieves, (queries, thresholds).
    sign = 1 if ds.attrs["kind"] == "distance" else -1
    distance = sign * ds["entry_score"].values  # (queries, ranks); NaN beyond the list
    thresholds_drawn = ds["threshold"].values  # distances
    retrieved = (distance[:, :, None] <= thresholds_drawn).sum(axis=1)
    measures = [_measures_in_words(ds.isel(probe=query)) for query in range(queries)]

    if Style.look.is_narrow:
        size = 1.0, HEIGHT_OF_NARROW * queries
    else:
        factor = Style.look.factor  # of the letters
        width = WIDTH_OF_ENTRY * ranks + WIDTH_OF_MEASURES * len(measures[0]) * factor
        size = width + WIDTH_OF_QUERY * factor, HEIGHT_OF_LIST * queries + HEIGHT_WITHOUT_LISTS
    drawn = {"match": match, "within": retrieved, "words": measures}
    plot = Display(labelled([System("", ds)]), ax, style, size, drawn=drawn)
    ax = plot.ax_

    # A box for each entry: filled if it is a match.
    colour_of_match = Style.colour(Style.hues["frr"])
    colour_of_other = Style.colour(Style.hues["far"])
    colours_by_match = (1, colour_of_match, colour_of_match), (0, colour_of_other, "white")
    for is_match, edge, face in colours_by_match:
        query, rank_index = np.nonzero(match == is_match)
        left = rank_index + 1 - WIDTH_OF_BOX / 2  # ranks begin at 1
        box: dict[str, Any] = {"facecolor": face, "edgecolor": edge, "linewidth": OUTLINE}
        ax.barh(query, WIDTH_OF_BOX, HEIGHT_OF_BOX, left, **{**box, **style})

    # In each list a line for each threshold, behind the last entry that it retrieves.
    top = np.arange(queries) - HEIGHT_OF_LINE / 2
    for k, threshold in enumerate(thresholds_drawn):
        line: dict[str, Any] = {"color": Style.text, "linestyle": Style.dash(k), "zorder": 3}
        label = f"retrieved at {threshold_text(threshold)}"
        x = retrieved[:, k] + 0.5  # between two boxes
        ax.vlines(x, top, top + HEIGHT_OF_LINE, linewidth=CURVE, label=label, **line)

    # Ranks below, the first query on top, and its measures on the right.
    ax.set_xlim(1 - AROUND, ranks + AROUND)
    ax.set_ylim(queries - 1 + AROUND, -AROUND)
    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    ax.set_yticks(range(queries), [Style.translated(f"query {i}") for i in range(queries)])
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    # A figure of fixed width has no room for the measures in one line.
    separator = "; " if Style.look.width is None else "\n"
    right_axis = ax.secondary_yaxis("right")
    labels = [Style.translated(separator.join(words)) for words in measures]
    right_axis.set_yticks(range(queries), labels)
    right_axis.tick_params(length=0, labelsize=Style.look.small, labelcolor=Style.text)
    right_axis.spines["right"].set_visible(False)

    caption = [counted(queries, "queries"), "filled: a match"]
    plot.finish(plot.of_system("Ranked lists"), caption, "Rank k")
    return plot


def _measures_in_words(query: xr.Dataset) -> list[str]:
    """Return the average precision of a query, and its measures at each threshold, in words.

    A query whose identity is not in the gallery has no average precision, and FR alone.
    """
    average_precision = float(query["average_precision"])
    if np.isnan(average_precision):
        return ["-", *(f"FR {fr:.2f}" for fr in query["fr"].values.tolist())]
    words = [f"AP {average_precision:.2f}"]
    for k in range(query.sizes["threshold"]):
        rp, vp, rep = (float(query[name][k]) for name in ("rp", "vp", "rep"))
        words.append(f"RP {rp:.2f} VP {vp:.2f} ReP {rep:.2f}")
    return words


@styled
def hota(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Curves:
    """Draw HOTA, detection and association accuracy against the localisation threshold.

    At each threshold HOTA is the geometric mean of DetA and AssA (Luiten et al., 2021). With
    several sequences, the curves show all of them together.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.tracking`, or those of several trackers by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    words = {"hota_at_alpha": "HOTA", "deta_at_alpha": "DetA", "assa_at_alpha": "AssA"}
    curves = curves_of(data, "hota", "localisation_threshold", words)

    def with_mean(curve: Curve) -> str:
        """Return the name of a curve for the legend, with its mean over the thresholds."""
        mean = float(curve.system.dataset[curve.variable.removesuffix("_at_alpha")])
        return curve.name if np.isnan(mean) else f"{curve.name} {100 * mean:.1f} %"

    plot = Curves("hota", curves, ax, style, label=with_mean)
    plot.draw(xlim=(0, 1))
    x_label = "Localisation threshold α: smallest overlap of a match"
    return plot.end("HOTA", x_label, "HOTA, DetA, AssA")
