"""Re-identification and tracking: precision and recall, GOM, ranked lists, and HOTA."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bioeval.plot.display import Curve, Curves, Display, curves_of
from bioeval.plot.plot_style import CURVE, OUTLINE, Style, label_rows, styled
from bioeval.plot.rank_plots import convention as convention_of
from bioeval.plot.systems import System, agreed, labelled
from bioeval.showing.writers.numbers import threshold_text

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores


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
    return plot.end("Precision and recall", *labels, caption=convention_of(plot.systems))


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
    caption = [agreed(plot.systems, lambda system: system.text_of("convention")), scaled]
    return plot.end("", "Threshold τ", "Mean rate: mReP, mFR", caption=caption)


# Inches of ranked lists: widths of an entry, of the measures at a threshold and of a query's name;
# heights of a list and of all other words; and the shape of the figure if its width is fixed.
WIDTH_OF_ENTRY, WIDTH_OF_MEASURES, WIDTH_OF_QUERY = 0.42, 2.2, 0.8
HEIGHT_OF_LIST, HEIGHT_WITHOUT_LISTS, NARROW_LISTS = 0.5, 1.4, (1.0, 0.3)

# In ranks and in lists: the box of an entry, the line of a threshold, the room around all lists.
WIDTH_OF_BOX, HEIGHT_OF_BOX, HEIGHT_OF_LINE, AROUND = 0.84, 0.72, 0.92, 0.6


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
    from bioeval.tasks.reid.ranked_lists import lists_of_queries

    ds = lists_of_queries(scores, thresholds, convention, budget)
    match, sign = ds["match"].values, -1 if ds.attrs["kind"] != "distance" else 1
    rows, ranks = match.shape
    words = [_measures_in_words(ds.isel(probe=i)) for i in range(rows)]
    width = WIDTH_OF_ENTRY * ranks + WIDTH_OF_MEASURES * len(words[0]) * Style.look.factor
    size = width + WIDTH_OF_QUERY * Style.look.factor, HEIGHT_OF_LIST * rows + HEIGHT_WITHOUT_LISTS
    if Style.look.is_narrow:
        size = NARROW_LISTS[0], NARROW_LISTS[1] * rows
    retrieved = (sign * ds["entry_score"].values[:, :, None] <= ds["threshold"].values).sum(axis=1)
    drawn = {"match": match, "within": retrieved, "words": words}
    plot = Display(labelled([System("", ds)]), ax, style, size, drawn=drawn)
    ax = plot.ax_
    matched, unmatched = (Style.colour(Style.hues[x]) for x in ("frr", "far"))
    for kind, edge, face in ((1, matched, matched), (0, unmatched, "white")):
        row, rank_index = np.nonzero(match == kind)
        box: dict[str, Any] = {"facecolor": face, "edgecolor": edge, "linewidth": OUTLINE, **style}
        ax.barh(row, WIDTH_OF_BOX, HEIGHT_OF_BOX, rank_index + 1 - WIDTH_OF_BOX / 2, **box)
    for k, threshold in enumerate(ds["threshold"].values):  # threshold as a distance
        low = np.arange(rows) - HEIGHT_OF_LINE / 2
        line: dict[str, Any] = {"color": Style.text, "linestyle": Style.dash(k)}
        line["label"] = f"retrieved at {threshold_text(threshold)}"
        ax.vlines(
            retrieved[:, k] + 0.5, low, low + HEIGHT_OF_LINE, linewidth=CURVE, zorder=3, **line
        )
    ax.set(xlim=(1 - AROUND, ranks + AROUND), ylim=(rows - 1 + AROUND, -AROUND))
    ax.set_yticks(np.arange(rows), [f"query {i}" for i in range(rows)])
    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    label_rows(ax, [("\n" if Style.look.width else "; ").join(each) for each in words])
    plot.finish(plot.of_system("Ranked lists"), ["filled: a match"], "Rank k")
    return plot


def _measures_in_words(query: xr.Dataset) -> list[str]:
    precision = float(query["average_precision"])
    if np.isnan(precision):
        return ["-", *map("FR {:.2f}".format, query["fr"].values.tolist())]
    measures = zip(*(query[name].values.tolist() for name in ("rp", "vp", "rep")), strict=True)
    at_thresholds = ["RP {:.2f} VP {:.2f} ReP {:.2f}".format(*at) for at in measures]
    return [f"AP {precision:.2f}", *at_thresholds]


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
    plot = Curves("hota", curves, ax, style, label=_with_mean)
    plot.draw(xlim=(0, 1))
    x_label = "Localisation threshold α: smallest overlap of a match"
    return plot.end("HOTA", x_label, "HOTA, DetA, AssA")


def _with_mean(curve: Curve) -> str:
    mean = float(curve.system.dataset[curve.variable.removesuffix("_at_alpha")])
    return curve.name + ("" if np.isnan(mean) else f" {100 * mean:.1f} %")
