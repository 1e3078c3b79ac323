"""ROC: the genuine accept rate against the false accept rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from bioeval.views.plots.direct_labels import Labelled
from bioeval.views.plots.far_curves import FarCurvesDisplay


class RocDisplay(FarCurvesDisplay):
    """ROC curves; ``x`` of a curve is FAR and ``y`` is GAR, one value per threshold."""

    drawn = ("roc", "far", "gar")
    rate = "gar"
    title = "ROC"
    y_label = "Genuine accept rate, GAR"
    size = (5.6, 5.7)

    def _chance(self) -> Sequence[Labelled]:
        ends = np.array([0, 1])
        self.ax_.set_aspect("equal")
        return [self._reference(ends, ends)]


def roc(data: Any, ax: Axes | None = None, *, log: bool = False, **style: Any) -> RocDisplay:
    """Draw the ROC: GAR against FAR over all thresholds.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.verification` or :func:`bioeval.evaluate`, or several by name.
        Of a tree, every verification result is drawn (single- and multi-template, all systems).
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    log : bool
        Whether the FAR axis is logarithmic. It then ends at one of the impostor attempts: the GAR
        attained at FAR 0 is drawn from there on, and the FAR below is shaded.
    **style
        Properties of all lines, such as ``linewidth=1``; ``name`` labels a single system.

    Returns
    -------
    RocDisplay
        With ``curves`` (the arrays), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    Lines are steps: at each FAR they show the GAR of the nearest threshold in the result whose
    FAR is not larger, never an interpolated one. GAR is over the genuine attempts, FAR over the
    impostor attempts. Where the result has intervals, bands are those of GAR at each threshold by
    itself; :func:`error_rates` shows how uncertain FAR is there.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.roc(be.verification(be.simulate(20, 4)), log=True)
    >>> display.ax_.get_xscale()
    'log'
    """
    return RocDisplay.from_results(data).plot(ax, log=log, **style)
