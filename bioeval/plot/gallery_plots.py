"""Rates against the subjects of a gallery."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from bioeval.document.text import Term, say
from bioeval.plot.display import CurvesDisplay, CurveSpec
from bioeval.plot.systems import System


class GallerySizeDisplay(CurvesDisplay):
    """Curves over gallery sizes; ``x`` of a curve is the size and ``y`` is CMS at one rank."""

    spec = CurveSpec(
        "gallery_size",
        Term("cms"),
        "gallery_size",
        {"cms": ""},
        "Subjects in the gallery, N",
        y_label=say("{Cumulative match score, cms}"),
        terms=("ISO: gallery size N", ("cms",)),
    )

    @classmethod
    def from_results(cls, data: Any, ranks: Sequence[int] = CurveSpec.RANKS) -> Self:
        """Take the curves over gallery sizes of one result, or of several by name."""
        return cls(cls.spec.curves_at(System.pick(data, "gallery_size"), ranks))

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`gallery_size`."""
        self._start(ax, name, style)
        lowest = 1.0
        details = ["means over all galleries of N subjects; the rank counts subjects"]
        for curve in self.defined:
            self._line(curve, curve.x, curve.y, {"drawstyle": "default", **style}, marked=True)
            lowest = float(np.nanmin(curve.y, initial=lowest))
        sizes = np.concatenate([curve.x for curve in self.curves.values()])
        self._rank_axis(int(sizes.max()), True, float(sizes.min()))
        details += filter(None, [self._rates_from(lowest if self.lines_ else 0.0)])
        return self._finish(details=lambda _: details)


def gallery_size(
    data: Any, ax: Axes | None = None, *, ranks: Sequence[int] = CurveSpec.RANKS, **style: Any
) -> GallerySizeDisplay:
    """Draw CMS against the number of subjects in the gallery.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.gallery_size`, or several by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    ranks : sequence of int
        One curve each. Of the default ones, those that the result has.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    GallerySizeDisplay
        With ``curves`` (named ``"rank 1"`` ..., after the system's name where there are several),
        ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    Points are exact means over all galleries of as many subjects.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.gallery_size(be.gallery_size(be.simulate(20, 4), [2, 5, 20]))
    >>> list(display.curves)
    ['rank 1', 'rank 5', 'rank 10']
    """
    return GallerySizeDisplay.from_results(data, ranks).plot(ax, **style)
