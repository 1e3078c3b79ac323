"""Errors against the proportion of samples that are discarded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from bioeval.base.errors import counted
from bioeval.document.results import rule_of
from bioeval.document.text import Text, say
from bioeval.plot.display import Curve, CurvesDisplay
from bioeval.plot.systems import agreed, joined


class ErrorDiscardDisplay(CurvesDisplay):
    """Curves of quality measures; ``x`` of a curve is the discarded fraction and ``y`` is FRR."""

    _plot, _title, _x, _y = "error_discard", "Error against discard", "fraction", {"frr": ""}
    _x_label = "Discarded fraction of the samples, those of lowest quality"
    _y_label = say("{frr} of the remaining samples")
    _rates = (), ("frr",)
    _marked = False
    _limits = CurvesDisplay._up_to_highest

    def _caption(self) -> Sequence[Text]:
        """Return the samples and the threshold common to all curves."""
        count = agreed(self.systems, lambda x: counted(int(x.dataset["samples"]), "samples"))
        rule = agreed(self.systems, lambda x: self._write(rule_of(x.dataset.attrs)))
        return [count, f"at {rule}" if rule else ""]

    def _label(self, curve: Curve) -> str:
        area = float(curve.system.dataset["pauc"])
        return joined(super()._label(curve), f"pAUC {area:.3f}" if area == area else "")


def error_discard(data: Any, ax: Axes | None = None, **style: Any) -> ErrorDiscardDisplay:
    """Draw error against discard: FRR against the fraction of samples that are discarded.

    A useful measure of quality makes FRR fall from the left end on; one that knows nothing of
    errors leaves it level. The label has the partial area from 0 to 0.2, relative to a level curve.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.error_discard`, or several by name: quality measures of one
        system, or systems.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    return ErrorDiscardDisplay.from_results(data).plot(ax, **style)
