"""Threshold study: FAR and FRR of each fold's test part, and their mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import counted
from bioeval.views.plots.folds import FoldsDisplay, limits_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ThresholdStudyDisplay(FoldsDisplay):
    """FAR and FRR of each fold, their mean with its interval, and the optimistic point.

    Attributes
    ----------
    far, frr : ndarray
        One value per fold.
    counts : ndarray
        Number of folds at each point drawn last.
    ax_, figure_ : Axes and Figure
        Where they were drawn last.
    """

    _plot, _fold, _optimistic = "threshold_study", "fold_", "optimistic_{}"

    def _words(self) -> tuple[str, str, str, list[str]]:
        ds = self._dataset
        divided = str(ds.attrs.get("divided", "subjects"))
        number = int(np.isfinite(ds["fold_threshold"]).sum())
        return (
            "Threshold study",
            f"expected of new {'people' if divided == 'subjects' else divided}",
            "where it was chosen (optimistic)",
            [
                f"threshold {ds['threshold'].item():.4g} by "
                f"{ds.attrs['threshold_rule_in_words']}, chosen on all data",
                f"{counted(number, 'folds')}; {limits_in_words(ds.attrs)}, and by subject",
            ],
        )


def threshold_study(data: Any, ax: Axes | None = None, **style: Any) -> ThresholdStudyDisplay:
    """Draw the error rates to expect of a threshold with new people.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.study_threshold`.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of the points of the folds.

    Returns
    -------
    ThresholdStudyDisplay
        With ``far`` and ``frr`` (one value per fold), ``ax_`` and ``figure_``.

    Examples
    --------
    >>> import bioeval as be
    >>> ds = be.study_threshold(be.simulate(30, 4), ("far", 0.01), folds=5, repeats=2)
    >>> be.plot.threshold_study(ds).far.shape
    (10,)
    """
    return ThresholdStudyDisplay.from_results(data).plot(ax, **style)
