"""Identification against the rank, and against the subjects of a gallery."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from bioeval.base.arguments import require_integer
from bioeval.document.text import Term, Text, say
from bioeval.plot import plot_style
from bioeval.plot.display import Curve, CurvesByRank, CurvesDisplay, numbered
from bioeval.plot.systems import System, agreed


class CmcDisplay(CurvesDisplay):
    """CMC curves; ``x`` of a curve is the rank and ``y`` is CMS, one value per rank."""

    _plot, _title, _x_label = "cmc", "CMC", "Rank k"

    @classmethod
    def _curves_of(cls, systems: Sequence[System]) -> list[Curve]:
        """Return the curves of closed-set or of re-identification results."""
        rate = "cmc" if "cmc" in systems[0].dataset else "cms"
        return numbered([Curve.of(system, "rank", rate) for system in systems])

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        max_rank: int | None = None,
        **style: Any,
    ) -> Self:
        """Draw the curves. See :func:`cmc`."""
        if max_rank is not None:
            require_integer("max_rank", max_rank, low=1)
        ax = self._start(ax, name, style)
        last = max(int(curve.x[-1]) for curve in self.curves.values())
        arrays = [x for c in self.defined for x in (c.y, c.low, c.high) if x is not None]
        last = min(last, max_rank or plot_style.last_change(arrays, last))
        for curve in self.defined:
            shown = (curve.x <= last) & ~np.isnan(curve.y)
            self._line(curve, curve.x[shown], curve.y[shown], style)
            self._band(curve, shown)
        plot_style.rank_axis(ax, last)
        plot_style.rate_axis(ax, min((float(x[0]) for x in arrays), default=0.0))
        if "cmc" in self.systems[0].dataset:
            return self._end(y_label="Queries matched at rank k or better, CMC(k)")
        return self._end(y_label=say("{Cumulative match score, cms}(k)"))

    def _caption(self) -> Sequence[Text]:
        return convention(self.systems) or super()._caption()


def convention(systems: Sequence[System]) -> list[str]:
    """Return the convention of re-identification, as far as all systems agree."""
    if "queries" not in systems[0].dataset:
        return []
    queries = agreed(systems, lambda system: f"{int(system.dataset['queries']):,} queries")
    return [agreed(systems, lambda system: system.text_of("convention")), queries]


def cmc(
    data: Any, ax: Axes | None = None, *, max_rank: int | None = None, **style: Any
) -> CmcDisplay:
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
        The last rank to draw; unless given, the one beyond which no curve changes, or 10. Of more
        than 30, the axis is logarithmic.
    """
    return CmcDisplay.from_results(data).plot(ax, max_rank=max_rank, **style)


class GallerySizeDisplay(CurvesByRank):
    """Curves over gallery sizes; ``x`` of a curve is the size and ``y`` is CMS at one rank."""

    _plot, _title, _x, _y = "gallery_size", Term("cms"), "gallery_size", {"cms": ""}
    _x_label = "Subjects in the gallery, N"
    _y_label = say("{Cumulative match score, cms}")
    _rates = (), ("cms",)
    _marked = True

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`gallery_size`."""
        ax, lowest = self._start(ax, name, style), 1.0
        for curve in self.defined:
            self._line(curve, curve.x, curve.y, {"drawstyle": "default", **style})
            lowest = min(lowest, curve.y.min())
        sizes = [int(x) for curve in self.curves.values() for x in curve.x]
        plot_style.rank_axis(ax, max(sizes), min(sizes), log=True)
        plot_style.rate_axis(ax, lowest if self.lines_ else 0.0)
        return self._end()


def gallery_size(
    data: Any, ax: Axes | None = None, *, ranks: Sequence[int] | None = None, **style: Any
) -> GallerySizeDisplay:
    """Draw CMS against the number of subjects in the gallery.

    Points are exact means over all galleries of as many subjects.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.gallery_size`, or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    ranks : sequence of int, optional
        One curve each; unless given, 1, 5 and 10, as far as the result has them.
    """
    return GallerySizeDisplay.from_results(data, ranks=ranks).plot(ax, **style)
