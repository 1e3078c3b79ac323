"""Errors against the proportion of samples that are discarded."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.base.errors import counted
from bioeval.document.results import rule_of
from bioeval.document.text import say
from bioeval.plot.display import Curve, Curves, curves_of
from bioeval.plot.systems import agreed, joined


def error_discard(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Curves:
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
    curves = curves_of(data, "error_discard", "fraction", {"frr": ""})
    plot = Curves("error_discard", curves, ax, style, marked=False, label=_with_area)
    plot.draw(**plot.up_to_highest())
    count = agreed(plot.systems, lambda x: counted(int(x.dataset["samples"]), "samples"))
    rule = agreed(plot.systems, lambda x: plot.write(rule_of(x.dataset.attrs)))
    return plot.end(
        "Error against discard",
        "Discarded fraction of the samples, those of lowest quality",
        say("{frr} of the remaining samples"),
        caption=[count, f"at {rule}" if rule else ""],
    )


def _with_area(curve: Curve) -> str:
    area = float(curve.system.dataset["pauc"])
    return joined(curve.name, f"pAUC {area:.3f}" if area == area else "")
