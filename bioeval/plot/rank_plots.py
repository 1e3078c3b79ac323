"""Identification against the rank."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from bioeval.base.arguments import require_integer
from bioeval.base.scalars import CMC
from bioeval.document.text import say
from bioeval.plot import plot_style
from bioeval.plot.display import (
    Curve,
    CurvesDisplay,
    CurveSpec,
    numbered,
    thinned,
)
from bioeval.plot.registry import PLOTS
from bioeval.plot.systems import (
    System,
    identification_details,
    needs_of,
)


class CmcDisplay(CurvesDisplay):
    """CMC curves; ``x`` of a curve is the rank and ``y`` is CMS, one value per rank."""

    spec = CurveSpec("cmc", "CMC", x_label="Rank k")

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of closed-set or re-identification results.

        A result, a tree, or a mapping of name to either; all must be of one kind.
        """
        (rate,) = needs_of(data, PLOTS["cmc"])
        return cls(
            numbered([Curve.of(system, "rank", rate) for system in System.pick(data, "cmc")])
        )

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        log: bool | None = None,
        max_rank: int | None = None,
        **style: Any,
    ) -> Self:
        """Draw the curves. See :func:`cmc`."""
        if max_rank is not None:
            require_integer("max_rank", max_rank, low=1)
        ax = self._start(ax, name, style)
        last, beyond = plot_style.ranks_shown(
            self._changing(), max(int(c.x[-1]) for c in self.curves.values()), max_rank
        )
        if log is None:
            log = last > plot_style.LINEAR_RANKS
        lowest = 1.0
        for curve in self.defined:
            shown = (curve.x <= last) & ~np.isnan(curve.y)
            x, y = curve.x[shown], curve.y[shown]
            lowest = min(lowest, float(y[0] if curve.low is None else curve.low[0]))
            # Each of a few ranks is marked; of a long curve only the corners are drawn.
            few = len(x) <= plot_style.FEW_POINTS
            if not few:
                x, y = thinned(x, y, log)
            self._line(curve, x, y, style, few)
            self._band(curve, shown)
        plot_style.rank_axis(ax, last, log)
        beyond += filter(None, [self._rates_from(lowest if self.lines_ else 0.0)])
        if "cmc" in self.systems[0].dataset:
            return self._finish(
                y_label="Queries matched at rank k or better, CMC(k)",
                terms=("ISO: rank R", f"ISO: {CMC.iso}"),
                details=lambda systems: [System.convention(systems), *beyond],
            )
        return self._finish(
            y_label=say("{Cumulative match score, cms}(k)"),
            terms=("ISO: rank R", ("cms",)),
            details=lambda systems: [*identification_details(systems), *beyond],
        )

    def _changing(self) -> Iterator[np.ndarray]:
        """Yield the curves and their limits, over the ranks."""
        for curve in self.defined:
            yield curve.y
            if curve.low is not None and curve.high is not None:
                yield curve.low
                yield curve.high


def cmc(
    data: Any,
    ax: Axes | None = None,
    *,
    log: bool | None = None,
    max_rank: int | None = None,
    **style: Any,
) -> CmcDisplay:
    """Draw the CMC: the proportion of probes with a mate at rank k or better.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.closed_set`, :func:`bioeval.reid` or
        :func:`bioeval.evaluate`, or several of one kind by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    log : bool, optional
        Whether the axis of the ranks is logarithmic; None: beyond 30 ranks.
    max_rank : int, optional
        The last rank to draw; unless given, the one beyond which no curve changes, or 10.
    **style
        Properties of all lines; ``name`` labels a single system.

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
