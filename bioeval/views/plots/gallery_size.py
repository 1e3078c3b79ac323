"""Identification against the number of subjects in the gallery."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bioeval.base.errors import DataError
from bioeval.views.plots import style as look
from bioeval.views.plots.curves import Curve, CurvesDisplay
from bioeval.views.plots.select_datasets import iso_of, pick, undefined

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEEDS = {"cms": ("gallery_size", "rank"), "extrapolated": ("gallery_size",)}

RANKS = (1, 5, 10)

BY_GALLERY = "cms_by_gallery"

# Of so many sampled galleries the curves are drawn; more would fill the cloud.
CLOUD = 200

# Line styles without the dotted one, which is for what is extrapolated.
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
        found = pick(data, "gallery_size", NEEDS)
        curves, rank_of = [], {}
        for number, system in enumerate(found):
            have = set(system.dataset["rank"].values.tolist())
            wanted = [rank for rank in ranks if rank in have]
            if len(wanted) < len(ranks) and tuple(ranks) != RANKS:
                missing = next(rank for rank in ranks if rank not in have)
                raise DataError(
                    f"rank {missing} is not in the result, which has ranks 1 to {max(have)}"
                )
            for i, rank in enumerate(wanted):
                name = ", ".join(filter(None, (system.name, f"rank {rank}")))
                rank_of[name] = rank
                curves.append(
                    Curve(
                        name,
                        system.dataset["gallery_size"].values,
                        system.dataset["cms"].sel(rank=rank).values,
                        system,
                        undefined(system.dataset, "cms"),
                        hue=number if len(found) > 1 else i,
                        dash=DASHES[i % len(DASHES)],
                    )
                )
        made = cls(curves)
        made.ranks = rank_of
        return made

    def plot(self, ax: Axes | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`gallery_size`."""
        ax = self._start(ax)
        lowest, exact_up_to = 1.0, []
        drawn = [curve for curve in self.curves.values() if not curve.why_not]
        for curve in drawn:
            beyond = curve.system.dataset["extrapolated"].values.astype(bool)
            exact = int((~beyond).sum())
            lowest = min(lowest, self._cloud(ax, curve))
            self._line(curve, curve.x[:exact], curve.y[:exact], style, marked=True)
            if beyond.any():
                # From the last exact point on, hollow and dotted: a model, not the data.
                start = max(exact - 1, 0)
                hue = look.colour(curve.hue)
                ax.plot(
                    curve.x[start:], curve.y[start:], linestyle=":", linewidth=1.1, color=hue,
                    marker="o", markersize=3.6, markerfacecolor="white",
                    markevery=list(range(exact - start, len(curve.x) - start)), zorder=1.9,
                )  # fmt: skip
                exact_up_to.append(int(curve.system.dataset.attrs["exact_up_to"]))
            known = curve.y[~np.isnan(curve.y)]
            lowest = min(lowest, float(known.min(initial=1.0)))
        sizes = np.concatenate([curve.x for curve in self.curves.values()])
        look.rank_axis(ax, "x", int(sizes.max()), True, float(sizes.min()))
        ax.set_ylim(*look.rate_limits(lowest if drawn else 0.0))
        keep_free = self._rule(ax, exact_up_to)
        details = ["means over all galleries of that many subjects; ranks count subjects"]
        clouds = [c for c in drawn if BY_GALLERY in c.system.dataset]
        if clouds:
            number = clouds[0].system.dataset.sizes["repeat"]
            details.append(f"thin lines: {number:,} galleries drawn at random")
        if exact_up_to:
            details.append("dotted, hollow: extrapolated by a beta-binomial model")
        self._titled("CMS", details)
        look.labelled(
            ax, "Subjects in the gallery, N", "Cumulative match score, CMS",
            "gallery size N", iso_of(self.systems, "cms"),
        )  # fmt: skip
        self._labels(0.3, keep_free)
        return self

    def _cloud(self, ax: Axes, curve: Curve) -> float:
        """Draw the CMS of sampled galleries behind their mean; return the smallest."""
        dataset = curve.system.dataset
        if BY_GALLERY not in dataset:
            return 1.0
        galleries = dataset[BY_GALLERY].sel(rank=self.ranks[curve.name]).values[:CLOUD]
        for y in galleries:
            ax.plot(
                curve.x, y, color=look.colour(curve.hue), alpha=0.2, linewidth=0.5, zorder=1.5
            )  # fmt: skip
        return float(np.nanmin(galleries, initial=1.0))

    def _rule(self, ax: Axes, exact_up_to: list[int]) -> list[Any]:
        """Mark where the data end."""
        if len(set(exact_up_to)) != 1:
            return []
        size = exact_up_to[0]
        ax.axvline(size, color=look.RULE, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        return [
            ax.annotate(
                f"data end: {size:,}", (size, 0), (3, 6), xycoords=("data", "axes fraction"),
                textcoords="offset points", ha="left", va="bottom",
                fontsize=look.SMALL_SIZE, color=look.QUIET,
            )
        ]  # fmt: skip


def gallery_size(
    data: Any,
    ax: Axes | None = None,
    *,
    ranks: Sequence[int] = RANKS,
    **style: Any,
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
        Properties of all lines.

    Returns
    -------
    GallerySizeDisplay
        With ``curves`` (named ``"rank 1"`` ..., after the system's name where there are several),
        ``ax_``, ``figure_`` and ``lines_`` (of the exact parts).

    Notes
    -----
    Up to the subjects there are, points are exact means over all smaller galleries; beyond, they
    come from the model that the result names, and are drawn hollow on dotted lines.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.gallery_size(be.gallery_size(be.simulate(20, 4), [2, 5, 20, 50]))
    >>> list(display.curves)
    ['rank 1', 'rank 5', 'rank 10']
    """
    return GallerySizeDisplay.from_results(data, ranks).plot(ax, **style)
