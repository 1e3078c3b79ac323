"""HOTA by localisation threshold."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes

from bioeval.plot.display import Curve, CurvesDisplay


class HotaDisplay(CurvesDisplay):
    """HOTA curves; ``x`` is the localisation threshold and ``y`` is HOTA, DetA or AssA."""

    _plot, _title, _x = "hota", "HOTA", "localisation_threshold"
    _y: ClassVar = {
        "hota_by_threshold": "HOTA",
        "deta_by_threshold": "DetA",
        "assa_by_threshold": "AssA",
    }
    _x_label = "Localisation threshold α: smallest overlap of a match"
    _y_label = "HOTA, DetA, AssA"

    def _limits(self) -> dict[str, Any]:
        return {"xlim": (0, 1), "ylim": (-0.015, 1.015)}

    def _label(self, curve: Curve) -> str:
        """Return the name of a curve with its mean over the thresholds."""
        mean = float(curve.system.dataset[curve.variable.removesuffix("_by_threshold")])
        return super()._label(curve) + ("" if np.isnan(mean) else f" {100 * mean:.1f} %")


def hota(data: Any, ax: Axes | None = None, **style: Any) -> HotaDisplay:
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
    return HotaDisplay.from_results(data).plot(ax, **style)
