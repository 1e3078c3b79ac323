"""Rates against the subjects of a gallery."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from matplotlib.axes import Axes

from bioeval.document.text import Term, say
from bioeval.plot import plot_style
from bioeval.plot.display import CurvesDisplay
from bioeval.plot.systems import System


class GallerySizeDisplay(CurvesDisplay):
    """Curves over gallery sizes; ``x`` of a curve is the size and ``y`` is CMS at one rank."""

    _plot, _title, _x, _y = "gallery_size", Term("cms"), "gallery_size", {"cms": ""}
    _x_label = "Subjects in the gallery, N"
    _y_label = say("{Cumulative match score, cms}")
    _rates = (), ("cms",)
    _marked = True

    @classmethod
    def from_results(cls, data: Any, ranks: Sequence[int] | None = None) -> Self:
        """Take the curves over gallery sizes of one result, or of several by name."""
        return cls(cls._curves_at(System.pick(data, "gallery_size"), ranks))

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
    return GallerySizeDisplay.from_results(data, ranks).plot(ax, **style)
