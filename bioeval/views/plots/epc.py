"""The expected performance curve: HTER on a test set against the weight of FAR."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from bioeval.views.plots.captions import other_term
from bioeval.views.plots.curves import Captions, CurvesDisplay


class EpcDisplay(CurvesDisplay):
    """Expected performance curves; ``x`` of a curve is alpha and ``y`` is HTER."""

    drawn = ("epc", "alpha", "hter")

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`epc`."""
        ax = self._start(ax, name)
        self._lines(style, marked=False)
        highest = max((float(np.nanmax(c.y)) for c in self.defined), default=1.0)
        ax.set_xlim(-0.015, 1.015)
        ax.set_ylim(-0.02 * highest, 1.12 * highest or 1.0)
        return self._finish(
            Captions(
                "EPC", "Weight of FAR, alpha (that of FRR: 1 - alpha)",
                "Half total error rate on the test set, HTER",
                (other_term(self.systems, "far", "frr"), ""),
                ["each threshold minimises alpha FAR + (1 - alpha) FRR on the development set"],
            )
        )  # fmt: skip


def epc(data: Any, ax: Axes | None = None, **style: Any) -> EpcDisplay:
    """Draw the expected performance curve: HTER on a test set against the weight of FAR.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.epc`, or several by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    EpcDisplay
        With ``curves``, ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    Thresholds are chosen on the development set, one for each weight, so that systems are compared
    as they would be used. Bengio and Mariethoz 2004.

    Examples
    --------
    >>> import bioeval as be
    >>> dev, test = be.simulate(40, 4, random_state=1), be.simulate(40, 4, random_state=2)
    >>> display = be.plot.epc({"ours": be.epc(dev, test)})
    >>> len(display.curves["ours"].x)
    101
    """
    return EpcDisplay.from_results(data).plot(ax, **style)
