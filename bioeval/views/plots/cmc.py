"""CMC: the cumulative match score, or the CMC of re-identification, against the rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bioeval.base.errors import DataError
from bioeval.views.plots import style as look
from bioeval.views.plots.curves import Curve, CurvesDisplay, end_of, numbered, thinned
from bioeval.views.plots.select_datasets import (
    System,
    identification_details,
    iso_of,
    pick,
    undefined,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEEDS = {"cms": ("rank",)}
NEEDS_REID = {"cmc": ("rank",)}

REPEAT = "repeat"

# Of so many sampled galleries the curves are drawn; more would fill the cloud.
CLOUD = 200

# Beyond so many ranks, their axis is logarithmic unless told otherwise.
LINEAR = 100


class CmcDisplay(CurvesDisplay):
    """CMC curves; ``x`` of a curve is the rank and ``y`` is CMS, one value a rank."""

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of closed-set or re-identification results.

        A result, a tree, or a mapping of name to either; all must be of one kind.
        """
        name, needs = ("cmc", NEEDS_REID) if of_reid(data) else ("cms", NEEDS)
        curves = [
            Curve(
                system.name,
                system.dataset["rank"].values,
                system.dataset[name].values,
                system,
                undefined(system.dataset, name),
                low=end_of(system.dataset, f"{name}_low"),
                high=end_of(system.dataset, f"{name}_high"),
            )
            for system in pick(data, "cmc", needs)
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
            first = float(y[0] if curve.low is None else curve.low[0])
            lowest = min(lowest, first, self._cloud(curve, shown, log))
            # Each of a few ranks is marked; of a long curve only the corners are drawn.
            few = len(x) <= look.FEW_POINTS
            if not few:
                x, y = thinned(x, y, log)
            self._line(curve, x, y, style, few)
            self._band(curve, last=last)
        look.rank_axis(ax, "x", last, log)
        ax.set_ylim(*look.rate_limits(lowest if self.lines_ else 0.0))
        if "cmc" in systems[0].dataset:
            self._titled("CMC", _convention(systems))
            look.labelled(
                ax, "Rank k", "Queries matched at rank k or better, CMC(k)",
                "rank R", iso_of(systems, "cmc"),
            )  # fmt: skip
        else:
            details = identification_details(systems)
            clouds = {c.system.dataset.sizes[REPEAT] for c in self.curves.values() if _drawn(c)}
            if clouds:
                number = f"{clouds.pop():,}" if len(clouds) == 1 else "the"
                details = [*details, f"thin lines: {number} sampled galleries"]
            self._titled("CMC", details)
            look.labelled(
                ax, "Rank k", "Cumulative match score, CMS(k)",
                "rank R", iso_of(systems, "cms"),
            )  # fmt: skip
        self._labels(0.3)
        return self

    def _cloud(self, curve: Curve, shown: np.ndarray, log: bool) -> float:
        """Draw the curves of sampled galleries behind their mean; return the smallest CMS."""
        if not _drawn(curve):
            return 1.0
        galleries = curve.system.dataset["cms_by_gallery"].transpose(REPEAT, "rank").values
        galleries = galleries[:CLOUD, shown]
        for y in galleries:
            self.ax_.plot(
                *thinned(curve.x[shown], y, log), color=look.colour(curve.hue), alpha=0.22,
                linewidth=0.5, drawstyle="steps-post", zorder=1.5,
            )  # fmt: skip
        return float(galleries.min())


def _drawn(curve: Curve) -> bool:
    """Say whether there are curves of sampled galleries to draw."""
    return not curve.why_not and "cms_by_gallery" in curve.system.dataset


def of_reid(data: Any) -> bool:
    """Say whether there is a CMC of re-identification in the data, and none of a closed set."""
    import xarray as xr

    if isinstance(data, xr.Dataset):
        return "cmc" in data and "cms" not in data
    if isinstance(data, xr.DataTree):
        names = {str(name) for node in data.subtree for name in node.data_vars}
        return "cmc" in names and "cms" not in names
    if isinstance(data, Mapping) and data:
        return all(of_reid(one) for one in data.values())
    return False


def _convention(systems: list[System]) -> list[str]:
    """Say what the curves are over, as far as all of them agree."""
    attrs = [system.dataset.attrs for system in systems]

    def agreed(name: str, words: Callable[[str], str]) -> str:
        said = {str(a.get(name, "")) for a in attrs}
        return words(said.pop()) if len(said) == 1 and "" not in said else ""

    queries = {int(system.dataset["queries"]) for system in systems}
    parts = [
        agreed("convention", str),
        agreed("cmc_counts", lambda x: "" if x == "first-match" else f"counts {x}"),
        agreed("ties", lambda x: f"{x} ties"),
        f"{queries.pop():,} queries" if len(queries) == 1 else "",
    ]
    return ["; ".join(filter(None, parts))]


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
        A result of :func:`bioeval.closed_set`, :func:`bioeval.reid` or
        :func:`bioeval.evaluate`, or several of one kind by name.
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
