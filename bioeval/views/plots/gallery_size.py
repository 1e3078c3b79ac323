"""Identification against the number of subjects in the gallery."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from bioeval.views.plots import style as look
from bioeval.views.plots.captions import other_term
from bioeval.views.plots.curves import CLOUD, RANKS, Captions, Curve, CurvesDisplay, curves_at_ranks
from bioeval.views.plots.direct_labels import Labelled
from bioeval.views.plots.select_datasets import pick

# Line styles without the dotted one, which is for extrapolation.
DASHES = (0, 1, 3, 6)


class GallerySizeDisplay(CurvesDisplay):
    """Curves over gallery sizes; ``x`` of a curve is the size and ``y`` is CMS at one rank.

    Attributes
    ----------
    ranks : dict of str to int
        The rank of each curve.
    """

    ranks: dict[str, int]

    @classmethod
    def from_results(cls, data: Any, ranks: Sequence[int] = RANKS) -> Self:
        """Take the curves of a result over gallery sizes, or a mapping of name to such."""
        found = curves_at_ranks(pick(data, "gallery_size"), "gallery_size", "cms", ranks)
        display = cls(replace(curve, dash=DASHES[curve.dash % len(DASHES)]) for curve, _ in found)
        display.ranks = {curve.name: rank for curve, rank in found}
        return display

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`gallery_size`."""
        ax = self._start(ax, name)
        lowest, exact_up_to, others = 1.0, set(), []
        details = ["means over all galleries of N subjects; ranks count subjects"]
        for curve in self.defined:
            dataset = curve.system.dataset
            if "cms_by_gallery" in dataset:
                galleries = dataset["cms_by_gallery"].sel(rank=self.ranks[curve.name]).values
                self._cloud(curve, ((curve.x, y) for y in galleries[:CLOUD]))
                lowest = float(np.nanmin(galleries[:CLOUD], initial=lowest))
                details[1:] = [f"thin lines: {len(galleries):,} galleries drawn at random"]
            exact = int((~dataset["extrapolated"].values.astype(bool)).sum())
            line = {"drawstyle": "default", **style}
            self._line(curve, curve.x[:exact], curve.y[:exact], line, marked=True)
            if exact < len(curve.x):
                others.append(self._extrapolated(curve, max(exact - 1, 0), exact))
                exact_up_to.add(int(dataset.attrs["exact_up_to"]))
            lowest = float(np.nanmin(curve.y, initial=lowest))
        sizes = np.concatenate([curve.x for curve in self.curves.values()])
        look.rank_axis(ax, "x", int(sizes.max()), True, float(sizes.min()))
        ax.set_ylim(*look.rate_limits(lowest if self.lines_ else 0.0))
        keep_free = []
        if len(exact_up_to) == 1:
            (end,) = exact_up_to
            ax.axvline(end, color=look.RULE, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
            keep_free.append(look.note(ax, f"data end: {end:,}", (end, 0), (3, 6), va="bottom"))
        if exact_up_to:
            details.append("dotted, hollow: extrapolated by a beta-binomial model")
        return self._finish(
            Captions(
                "CMS", "Subjects in the gallery, N", "Cumulative match score, CMS",
                ("ISO: gallery size N", other_term(self.systems, "cms")), details,
                at=0.3, others=others, keep_free=keep_free,
            )
        )  # fmt: skip

    def _extrapolated(self, curve: Curve, start: int, exact: int) -> Labelled:
        """Draw the modelled part, hollow and dotted, from the last exact point on."""
        x, y = curve.x[start:], curve.y[start:]
        self.ax_.plot(
            x, y, linestyle=":", linewidth=1.1, color=look.colour(curve.hue), marker="o",
            markersize=3.6, markerfacecolor="white", markevery=list(range(exact - start, len(x))),
            zorder=1.9,
        )  # fmt: skip
        return Labelled("", look.RULE, x, y)


def gallery_size(
    data: Any, ax: Axes | None = None, *, ranks: Sequence[int] = RANKS, **style: Any
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
        ``ax_``, ``figure_`` and ``lines_`` (of the exact parts).

    Notes
    -----
    Up to the number of subjects in the data, points are exact means over all smaller galleries;
    beyond, they come from the model that the result names, and are drawn hollow on dotted lines.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.gallery_size(be.gallery_size(be.simulate(20, 4), [2, 5, 20, 50]))
    >>> list(display.curves)
    ['rank 1', 'rank 5', 'rank 10']
    """
    return GallerySizeDisplay.from_results(data, ranks).plot(ax, **style)
