"""HOTA by localisation threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.plot.display import Curve, Curves, curves_of


def hota(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Curves:
    """Draw HOTA, detection and association accuracy against the localisation threshold.

    At each threshold HOTA is the geometric mean of DetA and AssA (Luiten et al., 2021). Of several
    sequences, the curves are of the whole.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.tracking`, or those of several trackers by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    words = {f"{word.lower()}_by_threshold": word for word in ("HOTA", "DetA", "AssA")}
    curves = curves_of(data, "hota", "localisation_threshold", words)
    plot = Curves("hota", curves, ax, style, label=_with_mean)
    plot.draw(xlim=(0, 1))
    x = "Localisation threshold α: smallest overlap of a match"
    return plot.end("HOTA", x, "HOTA, DetA, AssA")


def _with_mean(curve: Curve) -> str:
    """Return the name of a curve with its mean over the thresholds."""
    mean = float(curve.system.dataset[curve.variable.removesuffix("_by_threshold")])
    return curve.name + ("" if np.isnan(mean) else f" {100 * mean:.1f} %")
