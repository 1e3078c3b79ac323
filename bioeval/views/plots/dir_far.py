"""Open-set ROC: the detection and identification rate against the false accept rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from matplotlib.axes import Axes

from bioeval.views.plots.captions import identification_details
from bioeval.views.plots.curves import RANKS, curves_at_ranks
from bioeval.views.plots.far_curves import FarCurvesDisplay
from bioeval.views.plots.select_datasets import pick


class DirFarDisplay(FarCurvesDisplay):
    """Open-set curves; ``x`` of a curve is FAR and ``y`` is DIR at one rank."""

    rate = "dir"
    title = "DIR against FAR"
    y_label = "Detection and identification rate, DIR"

    @classmethod
    def from_results(cls, data: Any, ranks: Sequence[int] = RANKS) -> Self:
        """Take the curves of an open-set result, a tree, or a mapping of name to either."""
        return cls(
            curve for curve, _ in curves_at_ranks(pick(data, "dir_far"), "far", "dir", ranks)
        )

    def _details(self) -> Sequence[str]:
        return identification_details(self.systems)


def dir_far(
    data: Any,
    ax: Axes | None = None,
    *,
    ranks: Sequence[int] = RANKS,
    log: bool = False,
    **style: Any,
) -> DirFarDisplay:
    """Draw DIR against FAR at several ranks: the ROC of open-set identification (watch lists).

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.open_set` or :func:`bioeval.evaluate`, or several by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    ranks : sequence of int
        One curve each. Of the default ones, those that the result has.
    log : bool
        Whether the FAR axis is logarithmic, as in :func:`bioeval.plot.roc`.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    DirFarDisplay
        With ``curves`` (named ``"rank 1"`` ..., after the system's name where there are several),
        ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    DIR is over the genuine attempts (enrolled probes), FAR over the impostor attempts. Lines are
    steps, as in :func:`bioeval.plot.roc`. Bands are the intervals of DIR at each threshold by
    itself, where the result has them.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.dir_far(be.open_set(be.simulate(20, 4)), ranks=(1, 3))
    >>> list(display.curves)
    ['rank 1', 'rank 3']
    """
    return DirFarDisplay.from_results(data, ranks).plot(ax, log=log, **style)
