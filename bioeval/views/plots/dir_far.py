"""Open-set ROC: the detection and identification rate against the false accept rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bioeval.base.errors import DataError
from bioeval.views.plots import style as look
from bioeval.views.plots.curves import (
    Curve,
    CurvesDisplay,
    by_far,
    end_of,
    far_floor,
    from_floor,
    shade_below_floor,
)
from bioeval.views.plots.roc import left_of
from bioeval.views.plots.select_datasets import (
    System,
    identification_details,
    iso_of,
    pick,
    undefined,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEEDS = {"far": ("threshold",), "dir": ("threshold", "rank")}

RANKS = (1, 5, 10)


class DirFarDisplay(CurvesDisplay):
    """Open-set curves; ``x`` of a curve is FAR and ``y`` is DIR at one rank."""

    @classmethod
    def from_results(cls, data: Any, ranks: Sequence[int] = RANKS) -> Self:
        """Take the curves of an open-set result, a tree, or a mapping of name to either."""
        found = pick(data, "dir_far", NEEDS)
        curves = []
        for number, system in enumerate(found):
            why_not = undefined(system.dataset, "far") or undefined(system.dataset, "dir")
            for i, rank in enumerate(_available(system, ranks)):
                curves.append(
                    Curve(
                        ", ".join(filter(None, (system.name, f"rank {rank}"))),
                        system.dataset["far"].values,
                        system.dataset["dir"].sel(rank=rank).transpose("threshold").values,
                        system,
                        why_not,
                        hue=number if len(found) > 1 else i,
                        dash=i,
                        low=_end_of(system, "dir_low", rank),
                        high=_end_of(system, "dir_high", rank),
                    )
                )
        return cls(curves)

    def plot(self, ax: Axes | None = None, *, log: bool = False, **style: Any) -> Self:
        """Draw the curves; `log` makes the FAR axis logarithmic. See :func:`dir_far`."""
        ax = self._start(ax)
        systems = self.systems
        drawn = {name: c for name, c in self.curves.items() if not c.why_not}
        floors = {name: far_floor(c.system) for name, c in drawn.items()}
        keep_free: list[Any] = []
        lowest = 1.0
        style = {"drawstyle": "steps-post", **style}
        for name, curve in drawn.items():
            x, y = by_far(curve.x, curve.y)
            if log:
                x, y = from_floor(x, y, floors[name])
                lowest = min(lowest, float(y.min()))
            self._line(curve, x, y, style)
            self._band(curve, floors[name] if log else -np.inf)
        look.labelled(
            ax, "False accept rate, FAR", "Detection and identification rate, DIR",
            iso_of(systems, "far"), iso_of(systems, "dir"),
        )  # fmt: skip
        if log:
            look.log_axis(ax, "x", left_of(floors.values()))
            ax.set_ylim(*look.rate_limits(lowest if drawn else 0.0))
            keep_free += shade_below_floor(ax, floors)
        else:
            ax.set(xlim=(-0.015, 1.015), ylim=(-0.015, 1.015))
        self._titled("DIR against FAR", identification_details(systems))
        self._labels(0.15 if log else 0.4, keep_free)
        return self


def _end_of(system: System, name: str, rank: int) -> np.ndarray | None:
    """Return the ends of the intervals at a rank; nothing past the ranks that have them."""
    values = end_of(system.dataset, name, rank=rank)
    return None if values is None or np.isnan(values).all() else values


def _available(system: System, ranks: Sequence[int]) -> list[int]:
    """Return the ranks that the result has; of the default ones, those that are there."""
    have = {int(rank) for rank in system.dataset["rank"].values}
    wanted = [int(rank) for rank in ranks]
    missing = [rank for rank in wanted if rank not in have]
    if missing and tuple(wanted) != RANKS:
        raise DataError(
            f"rank {missing[0]} is not in the result, which has ranks 1 to {max(have)}; evaluate "
            f"with max_rank={max(missing)} or more"
        )
    return [rank for rank in wanted if rank in have]


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
        Properties of all lines.

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
