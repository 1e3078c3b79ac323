"""Re-identification and tracking: precision and recall, GOM, ranked lists, and HOTA."""

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
    last_rank = max(int(curve.x[-1]) for curve in curves)
    arrays = [x for c in plot.defined for x in (c.y, c.low, c.high) if x is not None]
    last_rank = min(last_rank, max_rank or plot_axes.last_change(arrays, last_rank))
    for curve in plot.defined:
        is_drawn = (curve.x <= last_rank) & ~np.isnan(curve.y)
        plot.line(curve, curve.x[is_drawn], curve.y[is_drawn])
        plot.band(curve, is_drawn)
    plot_axes.rank_axis(plot.ax_, last_rank)
    plot_axes.rate_axis(plot.ax_, min((float(x[0]) for x in arrays), default=0.0))
    cms = plot.write(say("Cumulative match score, {cms}(k)"))
    label = "Queries matched at rank k or better, CMC(k)" if of_queries else cms
    return plot.end("CMC", "Rank k", label, caption=_conventions(systems))


def _conventions(systems: Sequence[System]) -> list[str]:
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
    sizes = [int(x) for curve in curves for x in curve.x]
    lowest = min([1.0, *(curve.y.min() for curve in plot.defined)])
    plot_axes.rank_axis(plot.ax_, max(sizes), min(sizes), log=True)
    plot_axes.rate_axis(plot.ax_, lowest if plot.defined else 0.0)
    y = say("Cumulative match score, {cms}")
    return plot.end(Term("cms"), "Subjects in the gallery, N", y)


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
    labels = "Recall", "Interpolated precision"
    return plot.end("Precision and recall", *labels, caption=_conventions(plot.systems))


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
            ds, colour = curve.system.dataset, plot.lines_[curve.name].get_color()
            best_point = float(ds["tau_max"]), float(ds["max_mrep"])
            plot.ax_.plot(*best_point, "o", markersize=5, color=colour, zorder=4)
    spans = agreed(plot.systems, lambda system: system.text_of("normalised_span"))
    scaled = "distances scaled to 0 ... 1" if spans == "1.0" else ""
    caption = [*_conventions(plot.systems), scaled]
    return plot.end("", "Threshold τ", "Mean rate: mReP, mFR", caption=caption)


# The figure of ranked lists, in inches.
WIDTH_OF_ENTRY = 0.42
WIDTH_OF_MEASURES = 2.2  # of the words on the measures at one threshold
WIDTH_OF_QUERY = 0.8  # of the name of a query
HEIGHT_OF_LIST = 0.5
HEIGHT_WITHOUT_LISTS = 1.4
HEIGHT_OF_NARROW = 0.3  # of a list, relative to the width of a figure whose width is fixed

# Sizes in ranks across, and in lists down.
WIDTH_OF_BOX, HEIGHT_OF_BOX = 0.84, 0.72  # of an entry
HEIGHT_OF_LINE = 0.92  # of a threshold
AROUND = 0.6  # room around all lists


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
    match = ds["match"].values  # (queries, ranks): 1 for a match, 0 for another entry
    queries, ranks = match.shape
    words = []  # on the measures of each query
    for query_index in range(queries):
        query = ds.isel(probe=query_index)
        if np.isnan(precision := float(query["average_precision"])):
            words.append(["-", *map("FR {:.2f}".format, query["fr"].values.tolist())])
            continue
        measures = zip(*(query[name].values.tolist() for name in ("rp", "vp", "rep")), strict=True)
        at_thresholds = ["RP {:.2f} VP {:.2f} ReP {:.2f}".format(*at) for at in measures]
        words.append([f"AP {precision:.2f}", *at_thresholds])
    distance = ds["entry_score"].values * (1 if ds.attrs["kind"] == "distance" else -1)
    thresholds_drawn = ds["threshold"].values  # distances
    retrieved = (distance[:, :, None] <= thresholds_drawn).sum(axis=1)  # (queries, thresholds)
    drawn = {"match": match, "within": retrieved, "words": words}
    if Style.look.is_narrow:
        size = 1.0, HEIGHT_OF_NARROW * queries
    else:
        factor = Style.look.factor
        width = WIDTH_OF_ENTRY * ranks + WIDTH_OF_MEASURES * len(words[0]) * factor
        size = width + WIDTH_OF_QUERY * factor, HEIGHT_OF_LIST * queries + HEIGHT_WITHOUT_LISTS
    plot = Display(labelled([System("", ds)]), ax, style, size, drawn=drawn)
    ax = plot.ax_
    matched, unmatched = (Style.colour(Style.hues[x]) for x in ("frr", "far"))
    for is_match, edge, face in ((1, matched, matched), (0, unmatched, "white")):
        row, rank_index = np.nonzero(match == is_match)
        box: dict[str, Any] = {"facecolor": face, "edgecolor": edge, "linewidth": OUTLINE, **style}
        ax.barh(row, WIDTH_OF_BOX, HEIGHT_OF_BOX, rank_index + 1 - WIDTH_OF_BOX / 2, **box)
    low = np.arange(queries) - HEIGHT_OF_LINE / 2
    ends = low, low + HEIGHT_OF_LINE
    for k, threshold in enumerate(thresholds_drawn):
        line: dict[str, Any] = {"color": Style.text, "linestyle": Style.dash(k), "zorder": 3}
        line["label"] = f"retrieved at {threshold_text(threshold)}"
        ax.vlines(retrieved[:, k] + 0.5, *ends, linewidth=CURVE, **line)
    ax.set(xlim=(1 - AROUND, ranks + AROUND), ylim=(queries - 1 + AROUND, -AROUND))
    ax.set_yticks(np.arange(queries), [Style.translated(f"query {i}") for i in range(queries)])
    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    beside = [("\n" if Style.look.width else "; ").join(each) for each in words]
    axis = ax.secondary_yaxis("right")
    axis.set_yticks(range(queries), [*map(Style.translated, beside)])
    axis.tick_params(length=0, labelsize=Style.look.small, labelcolor=Style.text)
    axis.spines["right"].set_visible(False)
    caption = [counted(queries, "queries"), "filled: a match"]
    plot.finish(plot.of_system("Ranked lists"), caption, "Rank k")
    return plot


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
    words = {f"{word.lower()}_at_alpha": word for word in ("HOTA", "DetA", "AssA")}
    curves = curves_of(data, "hota", "localisation_threshold", words)

    def with_mean(curve: Curve) -> str:
        mean = float(curve.system.dataset[curve.variable.removesuffix("_at_alpha")])
        return curve.name + ("" if np.isnan(mean) else f" {100 * mean:.1f} %")

    plot = Curves("hota", curves, ax, style, label=with_mean)
    plot.draw(xlim=(0, 1))
    x_label = "Localisation threshold α: smallest overlap of a match"
    return plot.end("HOTA", x_label, "HOTA, DetA, AssA")
