"""FAR and FRR against the threshold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from bioeval.base.kinds import larger_is_closer
from bioeval.views.plots import style as look
from bioeval.views.plots.captions import attempts, kind_of, other_term, scalar, threshold_label
from bioeval.views.plots.curves import Captions, CurvesDisplay, curve_of, thinned
from bioeval.views.plots.direct_labels import Labelled
from bioeval.views.plots.select_datasets import pick

# Of more systems than this only one curve each is named, and no EER.
MOST_NAMED = 3

# A longer axis, in widths of the range of nearly all changes of the rates, is cut.
FAR_OFF = 20


class ErrorRatesDisplay(CurvesDisplay):
    """Error rates; ``x`` of a curve is the threshold and ``y`` is FAR or FRR.

    Attributes
    ----------
    kind : str
        ``"distance"`` or ``"similarity"``.
    """

    kind: str

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a result, a tree, or a mapping of name to either."""
        systems = pick(data, "error_rates")
        curves = []
        for number, system in enumerate(systems):
            for i, rate in enumerate(("far", "frr")):
                name = f"{system.name} {rate.upper()}".strip()
                # The rates of one system differ in colour; of several, each has one colour.
                hue = number if len(systems) > 1 else i
                curve = curve_of(system, "threshold", rate, name)
                curves.append(replace(curve, hue=hue, dash=i))
        display = cls(curves)
        display.kind = kind_of(systems, "error_rates")
        return display

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, log: bool = False, **style: Any
    ) -> Self:
        """Draw the curves; `log` makes the axis of the rates logarithmic."""
        ax = self._start(ax, name)
        # Counts change at a threshold: just past it for distances, just before for similarities.
        steps = "steps-pre" if larger_is_closer(self.kind) else "steps-post"
        floors = [0.1]
        for curve in self.defined:
            shown = np.isfinite(curve.x)
            if log:
                role = "genuine" if curve.name.endswith("FRR") else "impostor"
                floors.append(1 / (attempts(curve.system.dataset, role) or 1))
                shown &= curve.y > 0
            line = thinned(curve.x[shown], curve.y[shown])
            self._line(curve, *line, {"drawstyle": steps, **style})
            self._band(curve, shown)
        if log:
            look.log_axis(ax, "y", min(floors) / 1.8, 1.3)
        else:
            ax.set_ylim(-0.015, 1.015)
        if not self.lines_:
            ax.set_xticks([])
        details = ["solid FAR, dashed FRR"] if len(self.systems) > MOST_NAMED else []
        details += self._limit()
        others = self._eer(log)
        crowded = len(self.systems) > MOST_NAMED
        texts = {n: "" if n.endswith("FRR") else self.curves[n].system.name for n in self.lines_}
        similar = larger_is_closer(self.kind)
        at = {n: 0.8 if n.endswith("FAR") != similar else 0.2 for n in self.lines_}
        return self._finish(
            Captions(
                "Error rates", threshold_label(self.kind), "Error rate",
                ("", other_term(self.systems, "far", "frr")),
                details, at=at, texts=texts if crowded else {}, others=others,
            )
        )  # fmt: skip

    def _limit(self) -> list[str]:
        """Leave off the axis what is far from where the rates change, and say so."""
        ends, xs = [], []
        for curve in self.defined:
            known = np.isfinite(curve.x)
            x, sums = curve.x[known], np.cumsum(np.abs(np.diff(curve.y[known])))
            if len(sums) and sums[-1] > 0:
                first, last = np.searchsorted(sums / sums[-1], (0.01, 0.99))
                ends += [x[first], x[last + 1]]
                xs += [x[0], x[-1]]
        if not xs or max(xs) - min(xs) <= FAR_OFF * (max(ends) - min(ends)):
            return []
        (first, last), (low, high) = (min(xs), max(xs)), (min(ends), max(ends))
        low, high = max(first, 2 * low - high), min(last, 2 * high - low)
        self.ax_.set_xlim(low, high)
        off = [f"down to {first:.4g}"] if first < low else []
        off += [f"up to {last:.4g}"] if last > high else []
        return [f"off the axis: thresholds {' and '.join(off)}, where no rate changes by over 1 %"]

    def _eer(self, log: bool) -> list[Labelled]:
        """Mark the EER of each system where the result has it."""
        marks = []
        for system in self.systems:
            eer, threshold = scalar(system.dataset, "eer"), scalar(system.dataset, "eer_threshold")
            if not np.isfinite([eer, threshold]).all() or (log and eer <= 0):
                continue
            several = len(self.systems) > 1
            curve = next(c for c in self.curves.values() if c.system is system)
            colour = look.colour(curve.hue) if several else look.TEXT
            self.ax_.axvline(threshold, color=colour, linewidth=0.8, linestyle=":", zorder=1)
            self.ax_.plot(threshold, eer, "o", markersize=5, color=colour, zorder=4)
            if len(self.systems) > MOST_NAMED:
                continue
            # The colour already names one of several systems.
            where = "" if several else f" at {threshold:.4g}"
            x, y = np.array([threshold]), np.array([eer])
            marks.append(Labelled(f"EER {look.measured(eer)}{where}", colour, x, y))
            marks.append(Labelled("", colour, np.repeat(x, 2), np.array(self.ax_.get_ylim())))
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
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    ErrorRatesDisplay
        With ``curves`` (named ``"FAR"`` and ``"FRR"``, after the system's name where there are
        several), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    FAR is over the impostor attempts, FRR over the genuine attempts. The threshold is in the
    units of the scores: FAR grows with a threshold of distances and falls with one of similarities.
    Bands are the intervals at each threshold by itself, where the result has them.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.error_rates(be.verification(be.simulate(20, 4)))
    >>> list(display.curves)
    ['FAR', 'FRR']
    """
    return ErrorRatesDisplay.from_results(data).plot(ax, log=log, **style)
