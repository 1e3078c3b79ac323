"""Identification against the rank, and against the number of subjects in a gallery."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.base.arguments import require_integer
from bioeval.plot import plot_axes
from bioeval.plot.display import Curve, Curves, curves_by_rank, numbered
from bioeval.plot.plot_style import styled
from bioeval.plot.systems import System, agreed, pick
from bioeval.showing.text import Term, say


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
    return plot.end("CMC", "Rank k", label, caption=convention(systems) or None)


def convention(systems: Sequence[System]) -> list[str]:
    """Return the convention of re-identification and its queries, as far as all systems agree."""
    if "queries" not in systems[0].dataset:
        return []
    queries = agreed(systems, lambda system: f"{int(system.dataset['queries']):,} queries")
    return [agreed(systems, lambda system: system.text_of("convention")), queries]


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
