"""CMC: the cumulative match score, or the CMC of re-identification, against the rank."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from bioeval.base.errors import DataError
from bioeval.results.reid import REID
from bioeval.views.plots import style as look
from bioeval.views.plots.captions import convention, identification_details, other_term
from bioeval.views.plots.curves import (
    CLOUD,
    Captions,
    Curve,
    CurvesDisplay,
    curve_of,
    numbered,
    thinned,
)
from bioeval.views.plots.registry import PLOTS
from bioeval.views.plots.select_datasets import needs_of, pick

# The axis of more ranks is logarithmic by default.
LINEAR = 100


class CmcDisplay(CurvesDisplay):
    """CMC curves; ``x`` of a curve is the rank and ``y`` is CMS, one value per rank."""

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of closed-set or re-identification results.

        A result, a tree, or a mapping of name to either; all must be of one kind.
        """
        (rate,) = needs_of(data, PLOTS["cmc"])
        return cls(numbered([curve_of(system, "rank", rate) for system in pick(data, "cmc")]))

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
        if max_rank is not None and max_rank < 1:
            raise DataError(f"max_rank is {max_rank}; expected at least 1")
        ax = self._start(ax, name)
        systems = self.systems
        last = max(int(c.x[-1]) for c in self.curves.values())
        last = last if max_rank is None else min(last, max_rank)
        log = last > LINEAR if log is None else log
        lowest = 1.0
        for curve in self.defined:
            shown = curve.x <= last
            x, y = curve.x[shown], curve.y[shown]
            galleries = _galleries(curve)[:, shown]
            self._cloud(curve, (thinned(x, g, log) for g in galleries), drawstyle="steps-post")
            first = float(y[0] if curve.low is None else curve.low[0])
            lowest = min(lowest, first, float(galleries.min(initial=1.0)))
            # Each of a few ranks is marked; of a long curve only the corners are drawn.
            few = len(x) <= look.FEW_POINTS
            self._line(curve, *((x, y) if few else thinned(x, y, log)), style, few)
            self._band(curve, shown)
        look.rank_axis(ax, "x", last, log)
        ax.set_ylim(*look.rate_limits(lowest if self.lines_ else 0.0))
        if "cmc" in systems[0].dataset:
            label, theirs = "Queries matched at rank k or better, CMC(k)", f"ISO: {REID['cmc'].iso}"
            details = [convention(systems)]
        else:
            label, theirs = "Cumulative match score, CMS(k)", other_term(systems, "cms")
            details = self._details()
        terms = "ISO: rank R", theirs
        return self._finish(Captions("CMC", "Rank k", label, terms, details, at=0.3))

    def _details(self) -> list[str]:
        details = identification_details(self.systems)
        clouds = {len(g) for curve in self.defined if len(g := _galleries(curve, None))}
        if clouds:
            number = f"{clouds.pop():,}" if len(clouds) == 1 else "the"
            details.append(f"thin lines: {number} sampled galleries")
        return details


def _galleries(curve: Curve, most: int | None = CLOUD) -> np.ndarray:
    """Return the CMS of sampled galleries, one row each."""
    if "cms_by_gallery" not in curve.system.dataset:
        return np.empty((0, len(curve.x)))
    return curve.system.dataset["cms_by_gallery"].transpose("repeat", "rank").values[:most]


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
        Whether the axis of the ranks is logarithmic; None: beyond 100 ranks.
    max_rank : int, optional
        The last rank to draw; all unless given.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    CmcDisplay
        With ``curves`` (the arrays, of all ranks), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    CMS is over the probes that have a mate; CMS(1) is the recognition rate. Where galleries were
    sampled, the curve of each is drawn thin behind their mean; give the exact mean beside them, as
    ``{"exact": ..., "sampled": ...}``, to see it lie within. The axis of CMS starts at 0 unless
    everything lies in its upper half. Bands are the intervals at each rank by itself, where the
    result has them.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.cmc(be.closed_set(be.simulate(20, 4)), max_rank=10)
    >>> display.ax_.get_xlabel()
    'Rank k'
    """
    return CmcDisplay.from_results(data).plot(ax, log=log, max_rank=max_rank, **style)
