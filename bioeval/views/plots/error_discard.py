"""Error against discard: FRR of what is left when samples of low quality are discarded."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from bioeval.base.errors import counted
from bioeval.views.plots.captions import agreed, other_term
from bioeval.views.plots.curves import Captions, Curve, CurvesDisplay, numbered
from bioeval.views.plots.select_datasets import System, pick


class ErrorDiscardDisplay(CurvesDisplay):
    """Curves of quality measures; ``x`` of a curve is the discarded fraction and ``y`` is FRR."""

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take a result of :func:`bioeval.error_discard`, or a mapping of name to such."""
        return cls(numbered([_curve(system) for system in pick(data, "error_discard")]))

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`error_discard`."""
        ax = self._start(ax, name)
        self._lines(style, marked=False)
        highest = max((float(np.nanmax(c.y)) for c in self.defined), default=0.0) or 1.0
        last = max(float(curve.x[-1]) for curve in self.curves.values())
        ax.set_xlim(-0.015 * last, 1.015 * last)
        ax.set_ylim(-0.02 * highest, 1.12 * highest)
        areas = {name: float(c.system.dataset["pauc"]) for name, c in self.curves.items()}
        texts = {
            name: f"{name}\npAUC {area:.3f}".lstrip() if area == area else name
            for name, area in areas.items()
        }
        return self._finish(
            Captions(
                "Error against discard",
                "Discarded fraction of the samples, those of lowest quality",
                "False reject rate of what is left, FRR",
                ("", other_term(self.systems, "frr")),
                ["pAUC: area from 0 to 0.2 over that of an FRR that stays as it is"], texts=texts,
            )
        )  # fmt: skip

    def _over(self) -> list[str]:
        """Return the samples and the threshold, where all curves agree."""
        samples = {int(system.dataset["samples"]) for system in self.systems}
        rule = agreed(self.systems, "threshold_rule_in_words")
        given = agreed(self.systems, "chosen_on") == "given"
        said = [counted(samples.pop(), "samples")] if len(samples) == 1 else []
        said.append(f"at {rule}{'' if given else ' of all attempts'}" if rule else "")
        return ["; ".join(filter(None, said))]


def _curve(system: System) -> Curve:
    dataset = system.dataset
    y = dataset["frr"].values
    why = "no genuine attempt: FRR is not defined" if np.isnan(y).all() else ""
    return Curve(system.name, dataset["fraction"].values, y, system, why)


def error_discard(data: Any, ax: Axes | None = None, **style: Any) -> ErrorDiscardDisplay:
    """Draw error against discard: FRR against the fraction of samples that are discarded.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.error_discard`, or several by name: quality measures of one
        system, or systems.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single curve.

    Returns
    -------
    ErrorDiscardDisplay
        With ``curves``, ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    A useful measure of quality makes FRR fall from the left end on; one that knows nothing of
    errors leaves it level. The label has the partial area from 0 to 0.2, relative to a level curve.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(20, 4)
    >>> display = be.plot.error_discard(be.error_discard(scores, range(80), threshold="eer"))
    >>> len(display.curves[""].x)
    51
    """
    return ErrorDiscardDisplay.from_results(data).plot(ax, **style)
