"""FAR and FRR against the threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bioeval.views.plots import style as look
from bioeval.views.plots.curves import Curve, CurvesDisplay, end_of, thinned
from bioeval.views.plots.direct_labels import Labelled
from bioeval.views.plots.select_datasets import (
    attempts,
    iso_of,
    pick,
    scalar,
    shared_kind,
    threshold_label,
    undefined,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEEDS = {"far": ("threshold",), "frr": ("threshold",)}


# Of more systems than this only one curve each is named, and no EER.
MOST_NAMED = 3


class ErrorRatesDisplay(CurvesDisplay):
    """Error rates; ``x`` of a curve is the threshold and ``y`` is FAR or FRR."""

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a result, a tree, or a mapping of name to either."""
        found = pick(data, "error_rates", NEEDS, prefer="gar")
        curves = []
        for number, system in enumerate(found):
            threshold = system.dataset["threshold"].values
            none = "" if np.isfinite(threshold).any() else "no finite threshold"
            for i, rate in enumerate(("far", "frr")):
                curves.append(
                    Curve(
                        f"{system.name} {rate.upper()}".strip(),
                        threshold,
                        system.dataset[rate].values,
                        system,
                        undefined(system.dataset, rate) or none,
                        # Alone, the rates differ in colour; of several systems, each has one.
                        hue=number if len(found) > 1 else i,
                        dash=i,
                        low=end_of(system.dataset, f"{rate}_low"),
                        high=end_of(system.dataset, f"{rate}_high"),
                    )
                )
        display = cls(curves)
        display.kind = shared_kind(found, "error_rates")
        return display

    kind: str = "distance"

    def plot(self, ax: Axes | None = None, *, log: bool = False, **style: Any) -> Self:
        """Draw the curves; `log` makes the axis of the rates logarithmic."""
        ax = self._start(ax)
        systems = self.systems
        # Counts change at a threshold: just past it for distances, just before for similarities.
        steps = "steps-pre" if self.kind == "similarity" else "steps-post"
        style = {"drawstyle": steps, **style}
        floors = []
        for curve in self.curves.values():
            if curve.why_not:
                continue
            finite = np.isfinite(curve.x)
            x, y = curve.x[finite], curve.y[finite]
            if log:
                role = "genuine" if curve.name.endswith("FRR") else "impostor"
                floors.append(1 / (attempts(curve.system.dataset, role) or 1))
                x, y = x[y > 0], y[y > 0]
            self._line(curve, *thinned(x, y), style)
            self._band(curve)
        if log:
            look.log_axis(ax, "y", min([*floors, 0.1]) / 1.8, 1.3)
        else:
            ax.set_ylim(-0.015, 1.015)
        if not self.lines_:
            ax.set_xticks([])
        more = self._eer(log)
        crowded = len(systems) > MOST_NAMED
        texts = {
            name: ("" if name.endswith("FRR") else self.curves[name].system.name)
            if crowded
            else name
            for name in self.lines_
        }
        self._titled("Error rates", ["solid FAR, dashed FRR"] if crowded else ())
        iso = " and ".join(filter(None, (iso_of(systems, "far"), iso_of(systems, "frr"))))
        look.labelled(ax, threshold_label(self.kind), "Error rate", "", iso)
        at = {
            name: (0.8 if name.endswith("FAR") != (self.kind == "similarity") else 0.2)
            for name in self.lines_
        }
        self._labels(at, texts=texts, more=more)
        return self

    def _eer(self, log: bool) -> list[Labelled]:
        """Mark the EER of each system where the result has it."""
        marks = []
        for system in self.systems:
            eer, threshold = (scalar(system.dataset, n) for n in ("eer", "eer_threshold"))
            if not np.isfinite([eer, threshold]).all() or (log and eer <= 0):
                continue
            several = len(self.systems) > 1
            name = next(n for n, c in self.curves.items() if c.system is system)
            hue = look.colour(self.curves[name].hue) if several else look.TEXT
            self.ax_.axvline(threshold, color=hue, linewidth=0.8, linestyle=":", zorder=1)
            self.ax_.plot(threshold, eer, "o", markersize=5, color=hue, zorder=4)
            # Of several systems the colour says whose it is.
            where = "" if several else f" at {look.number(threshold)}"
            at = np.array([threshold]), np.array([eer])
            if len(self.systems) > MOST_NAMED:
                continue
            marks.append(Labelled(f"EER {look.percent(eer)}{where}", hue, *at))
            marks.append(Labelled("", hue, np.repeat(at[0], 2), np.array(self.ax_.get_ylim())))
        return marks


def error_rates(
    data: Any, ax: Axes | None = None, *, log: bool = False, **style: Any
) -> ErrorRatesDisplay:
    """Draw FAR and FRR against the threshold, with the EER where the result holds it.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of verification or of open-set identification, or several by name, all of one
        kind of score: thresholds of distances and of similarities have no axis in common.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    log : bool
        Whether the axis of the rates is logarithmic; rates of 0 are then left out.
    **style
        Properties of all lines.

    Returns
    -------
    ErrorRatesDisplay
        With ``curves`` (named ``"FAR"`` and ``"FRR"``, after the system's name where there are
        several), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    FAR is over the impostor attempts, FRR over the genuine attempts. The threshold stands in the
    user's own units: FAR grows with a threshold of distances and falls with one of similarities.
    Bands are the intervals at each threshold by itself, where the result has them.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.error_rates(be.verification(be.simulate(20, 4)))
    >>> list(display.curves)
    ['FAR', 'FRR']
    """
    return ErrorRatesDisplay.from_results(data).plot(ax, log=log, **style)
