"""Precision against recall of ranked lists: interpolated precision at eleven recall levels."""

from __future__ import annotations

from typing import Any, Self

from matplotlib.axes import Axes

from bioeval.views.plots import style as look
from bioeval.views.plots.captions import convention
from bioeval.views.plots.curves import Captions, CurvesDisplay


class PrecisionRecallDisplay(CurvesDisplay):
    """Interpolated precision; ``x`` of a curve is the recall level and ``y`` the precision."""

    by_itself = "recall level"
    drawn = ("precision_recall", "recall_level", "interpolated_precision")

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`precision_recall`."""
        ax = self._start(ax, name)
        self._lines(style, marked=True)
        ax.set_xlim(-0.015, 1.015)
        ax.set_ylim(*look.rate_limits(0.0))
        title, x, y = "Precision and recall", "Recall", "Interpolated precision"
        return self._finish(Captions(title, x, y, details=[convention(self.systems)], at=0.3))


def precision_recall(data: Any, ax: Axes | None = None, **style: Any) -> PrecisionRecallDisplay:
    """Draw interpolated precision against recall, the mean over the queries.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.reid`, :func:`bioeval.top_k` or :func:`bioeval.evaluate`, or
        several by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single system.

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
