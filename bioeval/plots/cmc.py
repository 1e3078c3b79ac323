"""CMC: the cumulative match score against the rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from bioeval.errors import DataError
from bioeval.plots import style as look
from bioeval.plots.curves import Curve, CurvesDisplay, end_of, numbered, thinned
from bioeval.plots.systems import (
    identification_details,
    iso_of,
    pick,
    undefined,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEEDS = {"cms": ("rank",)}

# Beyond so many ranks, their axis is logarithmic unless told otherwise.
LINEAR = 100


class CmcDisplay(CurvesDisplay):
    """CMC curves; ``x`` of a curve is the rank and ``y`` is CMS, one value a rank."""

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a closed-set result, a tree, or a mapping of name to either."""
        curves = [
            Curve(
                system.name,
                system.dataset["rank"].values,
                system.dataset["cms"].values,
                system,
                undefined(system.dataset, "cms"),
                low=end_of(system.dataset, "cms_low"),
                high=end_of(system.dataset, "cms_high"),
            )
            for system in pick(data, "cmc", NEEDS)
        ]
        return cls(numbered(curves))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        log: bool | None = None,
        max_rank: int | None = None,
        **style: Any,
    ) -> Self:
        """Draw the curves. See :func:`cmc`."""
        if max_rank is not None and max_rank < 1:
            raise DataError(f"max_rank is {max_rank}; expected at least 1")
        ax = self._start(ax)
        systems = self.systems
        last = max(int(c.x[-1]) for c in self.curves.values())
        last = last if max_rank is None else min(last, max_rank)
        log = last > LINEAR if log is None else log
        style = {"drawstyle": "steps-post", **style}
        lowest = 1.0
        for curve in self.curves.values():
            if curve.why_not:
                continue
            shown = curve.x <= last
            x, y = curve.x[shown], curve.y[shown]
            lowest = min(lowest, float(y[0] if curve.low is None else curve.low[0]))
            # Each of a few ranks is marked; of a long curve only the corners are drawn.
            few = len(x) <= look.FEW_POINTS
            if not few:
                x, y = thinned(x, y, log)
            self._line(curve, x, y, style, few)
            self._band(curve, last=last)
        look.rank_axis(ax, "x", last, log)
        ax.set_ylim(*look.rate_limits(lowest if self.lines_ else 0.0))
        details = identification_details(systems)
        self._titled("CMC", details)
        look.labelled(
            ax, "Rank k", "Cumulative match score, CMS(k)",
            "rank R", iso_of(systems, "cms"),
        )  # fmt: skip
        self._labels(0.3)
        return self


def cmc(
    data: Any,
    ax: Axes | None = None,
    *,
    log: bool | None = None,
    max_rank: int | None = None,
    **style: Any,
) -> CmcDisplay:
    """Draw the CMC: the share of probes whose subject stands at rank k or better.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.closed_set` or :func:`bioeval.evaluate`, or several by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    log : bool, optional
        Whether the axis of the ranks is logarithmic; None: beyond 100 ranks.
    max_rank : int, optional
        The last rank to draw; all unless given.
    **style
        Properties of all lines.

    Returns
    -------
    CmcDisplay
        With ``curves`` (the arrays, of all ranks), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    CMS is over the probes that have a mate; CMS(1) is the recognition rate. The axis of CMS
    starts at 0 unless everything lies in its upper half. Bands are the intervals at each rank by
    itself, where the result has them.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.cmc(be.closed_set(be.simulate(20, 4)), max_rank=10)
    >>> display.ax_.get_xlabel()
    'Rank k'
    """
    return CmcDisplay.from_results(data).plot(ax, log=log, max_rank=max_rank, **style)
