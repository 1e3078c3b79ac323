"""Lorenz curves of errors: how few subjects make most of them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from bioeval.base.errors import counted
from bioeval.results.zoo import lorenz as lorenz_curve
from bioeval.views.plots import style as look
from bioeval.views.plots.curves import Captions, Curve, CurvesDisplay
from bioeval.views.plots.select_datasets import joined, pick

#: Of each kind of error: its words, the attempts and the Gini coefficient.
_ERRORS = {
    "fr": ("false rejects", "genuine_attempts", "fr_gini"),
    "fa_as_probe": ("false accepts by probe", "impostor_attempts_as_probe", "fa_gini_as_probe"),
    "fa_as_claimed": (
        "false accepts by claim", "impostor_attempts_as_claimed", "fa_gini_as_claimed",
    ),
}  # fmt: skip


class LorenzDisplay(CurvesDisplay):
    """Lorenz curves; ``x`` is the proportion of subjects, ``y`` that of errors."""

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the errors of a result of the zoo, or of a mapping of name to such."""
        systems, curves = pick(data, "lorenz"), []
        for number, system in enumerate(systems):
            for i, (name, (words, of, _)) in enumerate(_ERRORS.items()):
                errors = system.dataset[name].values[system.dataset[of].values > 0]
                why_not = "" if errors.sum() else "no errors"
                x, y = lorenz_curve(errors) if not why_not else (np.empty(0), np.empty(0))
                # Of one system each kind of error has its colour, of several each system.
                hue = number if len(systems) > 1 else i
                curves.append(
                    Curve(joined(system.name, words), x, y, system, why_not, hue=hue, dash=i)
                )
        return cls(curves)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`lorenz`."""
        ax = self._start(ax, name, look.SQUARE)
        ends = np.array([0.0, 1.0])
        diagonal = self._reference(ends, ends, linewidth=0.9, linestyle="-")
        self._lines({"marker": "", **style})
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        texts = {}
        for words, _, gini in _ERRORS.values():
            for curve in self.defined:
                if curve.name.endswith(words):
                    value = float(curve.system.dataset[gini])
                    texts[curve.name] = f"{curve.name}, Gini {value:.2f}"
        return self._finish(
            Captions(
                "Lorenz curves of errors", "Proportion of subjects, those with fewest errors first",
                "Proportion of errors", details=["grey: as many errors of each subject"], at=0.7,
                texts=texts, others=[diagonal],
            )
        )  # fmt: skip

    def _over(self) -> list[str]:
        said = []
        for system in self.systems:
            ds = system.dataset
            subjects = counted(ds.sizes["subject"], "subjects")
            errors = f"{int(ds['fr'].sum()):,} false rejects"
            errors += f", {counted(int(ds['fa_as_probe'].sum()), 'false accepts')}"
            text = f"{subjects}; {errors} at threshold {float(ds['threshold']):.6g}"
            said.append(f"{system.name}: {text}" if system.name else text)
        return said if len(said) < 4 else []


def lorenz(data: Any, ax: Axes | None = None, **style: Any) -> LorenzDisplay:
    """Draw Lorenz curves of errors: how few subjects make how many of them.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.zoo`, or those of several systems by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    LorenzDisplay
        With ``curves`` (of false rejects, and of false accepts by the subject of the probe and by
        the claimed subject), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    Of subjects with attempts, in order of their errors. The Gini coefficient is twice the area
    between a curve and the diagonal (Lorenz 1905; Gini 1912).

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.lorenz(be.zoo(be.simulate(20, 4)))
    >>> list(display.curves)
    ['false rejects', 'false accepts by probe', 'false accepts by claim']
    """
    return LorenzDisplay.from_results(data).plot(ax, **style)
