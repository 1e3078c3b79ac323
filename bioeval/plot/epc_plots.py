"""Errors at thresholds of another set, over a weight."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from bioeval.document.text import say
from bioeval.plot.display import CurvesDisplay


class EpcDisplay(CurvesDisplay):
    """Expected performance curves; ``x`` of a curve is alpha and ``y`` is HTER."""

    _plot, _title, _x, _y = "epc", "EPC", "alpha", {"hter": ""}
    _x_label = say("Weight of {far}, alpha (that of {frr}: 1 - alpha)")
    _y_label = "Half total error rate on the test set, HTER"
    _rates = ("far", "frr"), ()
    _marked = False
    _limits = CurvesDisplay._up_to_highest


def epc(data: Any, ax: Axes | None = None, **style: Any) -> EpcDisplay:
    """Draw the expected performance curve: HTER on a test set against the weight of FAR.

    Thresholds are chosen on the development set, one for each weight, so that systems are compared
    as they would be used. Bengio and Mariethoz 2004.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.epc`, or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    return EpcDisplay.from_results(data).plot(ax, **style)
