"""HOTA with its detection and association accuracy against the localisation threshold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from matplotlib.axes import Axes

from bioeval.base.errors import counted
from bioeval.views.plots.curves import Captions, CurvesDisplay, curve_of
from bioeval.views.plots.select_datasets import joined, pick

_MEASURES = {"HOTA": "hota", "DetA": "deta", "AssA": "assa"}


class HotaDisplay(CurvesDisplay):
    """HOTA curves; ``x`` is the localisation threshold and ``y`` is HOTA, DetA or AssA."""

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a result of tracking, or of a mapping of name to such."""
        systems = pick(data, "hota")
        curves = []
        for number, system in enumerate(systems):
            for i, (measure, name) in enumerate(_MEASURES.items()):
                curve = curve_of(
                    system, "localisation_threshold", f"{name}_by_threshold",
                    joined(system.name, measure),
                )  # fmt: skip
                if curve.why_not:
                    curve = replace(curve, why_not="nothing is matched")
                # Of one tracker each measure has its colour, of several each tracker.
                hue = number if len(systems) > 1 else i
                curves.append(replace(curve, hue=hue, dash=i))
        return cls(curves)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`hota`."""
        ax = self._start(ax, name)
        self._lines(style)
        ax.set(xlim=(0, 1), ylim=(-0.015, 1.015))
        details = ["per cent: means over the thresholds"]
        if len(self.systems) > 1:
            details.insert(0, "solid HOTA, dashed DetA, dotted AssA")
        texts = {label: self._text(label) for label in self.lines_}
        return self._finish(
            Captions(
                "HOTA", "Localisation threshold α: smallest overlap of a match",
                "HOTA, DetA, AssA", details=["; ".join(details)], at=0.3, texts=texts,
            )
        )  # fmt: skip

    def _text(self, label: str) -> str:
        """Return the label of a curve; of several trackers, HOTA alone has one."""
        measure = label.rpartition(", ")[2]
        if len(self.systems) > 1 and measure != "HOTA":
            return ""
        return f"{label} {100 * float(self.curves[label].system.dataset[_MEASURES[measure]]):.1f} %"

    def _over(self) -> list[str]:
        """Return the boxes compared; of several systems the ground truth, if all have the same."""
        said = []
        for system in self.systems:
            truth, result = (
                f"{counted(int(system.dataset[who]), who)} in "
                f"{counted(int(system.dataset[boxes]), 'boxes')}"
                for who, boxes in (("targets", "truth_boxes"), ("identities", "result_boxes"))
            )
            said.append(f"{truth} against {result}" if len(self.systems) == 1 else truth)
        return said[:1] if len(set(said)) == 1 else []


def hota(data: Any, ax: Axes | None = None, **style: Any) -> HotaDisplay:
    """Draw HOTA, detection and association accuracy against the localisation threshold.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.tracking`, or those of several trackers by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    HotaDisplay
        With ``curves`` (the arrays; named ``"HOTA"``, ``"DetA"`` and ``"AssA"``, after the
        tracker's name where there are several), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    At each threshold HOTA is the geometric mean of DetA and AssA (Luiten et al., 2021). Of several
    sequences, the curves are of the whole.

    Examples
    --------
    >>> import bioeval as be
    >>> truth = [(f, 1, 0, 0, 10, 10) for f in range(1, 9)]
    >>> result = [(f, 1 if f < 5 else 2, 1, 0, 10, 10) for f in range(1, 9)]
    >>> display = be.plot.hota(be.tracking(truth, result))
    >>> display.curves["AssA"].y[[0, -1]].tolist()
    [0.5, 0.0]
    """
    return HotaDisplay.from_results(data).plot(ax, **style)
