"""Identification against the rank, and against the number of subjects in the gallery."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from bioeval.base.arguments import require_integer
from bioeval.results.reid import REID
from bioeval.views.plots import style as look
from bioeval.views.plots.captions import convention, identification_details
from bioeval.views.plots.curves import (
    CLOUD,
    RANKS,
    Curve,
    CurvesDisplay,
    CurveSpec,
    curve_of,
    curves_at_ranks,
    numbered,
    thinned,
)
from bioeval.views.plots.direct_labels import Labelled
from bioeval.views.plots.registry import PLOTS
from bioeval.views.plots.select_datasets import needs_of, pick


class CmcDisplay(CurvesDisplay):
    """CMC curves; ``x`` of a curve is the rank and ``y`` is CMS, one value per rank."""

    spec = CurveSpec("cmc", "CMC", x_label="Rank k", at=0.3)

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
        if max_rank is not None:
            require_integer("max_rank", max_rank, low=1)
        ax = self._start(ax, name)
        last, beyond = look.ranks_shown(
            self._changing(), max(int(c.x[-1]) for c in self.curves.values()), max_rank
        )
        log = last > look.LINEAR_RANKS if log is None else log
        lowest, clouds = 1.0, set()
        for curve in self.defined:
            shown = curve.x <= last
            x, y = curve.x[shown], curve.y[shown]
            if "cms_by_gallery" in curve.system.dataset:
                galleries = (
                    curve.system.dataset["cms_by_gallery"].transpose("repeat", "rank").values
                )
                clouds |= {len(galleries)} - {0}
                galleries = galleries[:CLOUD, shown]
                self._cloud(curve, (thinned(x, g, log) for g in galleries), drawstyle="steps-post")
                lowest = min(lowest, float(galleries.min(initial=1.0)))
            lowest = min(lowest, float(y[0] if curve.low is None else curve.low[0]))
            # Each of a few ranks is marked; of a long curve only the corners are drawn.
            few = len(x) <= look.FEW_POINTS
            self._line(curve, *((x, y) if few else thinned(x, y, log)), style, few)
            self._band(curve, shown)
        look.rank_axis(ax, "x", last, log)
        ax.set_ylim(*look.rate_limits(lowest if self.lines_ else 0.0))
        if "cmc" in self.systems[0].dataset:
            return self._finish(
                y_label="Queries matched at rank k or better, CMC(k)",
                terms=("ISO: rank R", f"ISO: {REID['cmc'].iso}"),
                details=lambda systems: [convention(systems), *beyond],
            )
        number = f"{min(clouds):,}" if len(clouds) == 1 else "the"
        thin = [f"thin lines: {number} sampled galleries"] * bool(clouds) + beyond
        return self._finish(
            y_label="Cumulative match score, CMS(k)", terms=("ISO: rank R", ("cms",)),
            details=lambda systems: [*identification_details(systems), *thin],
        )  # fmt: skip

    def _changing(self) -> Iterator[np.ndarray]:
        """Yield the curves, their limits and those of sampled galleries, over the ranks."""
        for curve in self.defined:
            yield from (y for y in (curve.y, curve.low, curve.high) if y is not None)
            if "cms_by_gallery" in curve.system.dataset:
                yield curve.system.dataset["cms_by_gallery"].transpose("repeat", "rank").values


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
    spec = CurveSpec(
        "gallery_size", "CMS", x_label="Subjects in the gallery, N",
        y_label="Cumulative match score, CMS", terms=("ISO: gallery size N", ("cms",)), at=0.3,
    )  # fmt: skip

    @classmethod
    def from_results(cls, data: Any, ranks: Sequence[int] = RANKS) -> Self:
        """Take the curves over gallery sizes of one result, or of several by name."""
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
        return self._finish(details=lambda _: details, others=others, keep_free=keep_free)

    def _extrapolated(self, curve: Curve, start: int, exact: int) -> Labelled:
        """Draw the modelled part, hollow and dotted, after the last exact point."""
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
