"""Threshold studies, assured thresholds, and errors at thresholds of another set over a weight."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.document.results import threshold_of, threshold_rule
from bioeval.document.text import Text, say
from bioeval.plot import plot_style
from bioeval.plot.display import CurvesDisplay, OneResultDisplay
from bioeval.plot.fold_plots import FoldsDisplay
from bioeval.plot.plot_style import Style
from bioeval.studies.thresholds.section import new_people, refusal_of
from bioeval.views.messages import sentence_about
from bioeval.views.writers.lines import written


class ThresholdStudyDisplay(FoldsDisplay):
    """FAR and FRR of each fold, their mean with its interval, and the optimistic point."""

    _plot, _fold, _optimistic = "threshold_study", "fold_", "optimistic_{}"

    def _bars(self) -> list[str]:
        ds = self._dataset
        level = f"{100 * float(ds.attrs['confidence']):g} %"
        bars = [f"filled: {level} interval of the mean over folds (Nadeau and Bengio)"]
        if "optimistic_far_low" in ds:
            bars.append(f"hollow: {level} interval at this threshold, by people")
        return bars

    def _names(self) -> tuple[Text, str, str]:
        expected = f"expected of {new_people(self._dataset)}"
        return say("{far} and {frr} of a threshold"), expected, "where it was chosen (optimistic)"


def threshold_study(data: Any, ax: Axes | None = None, **style: Any) -> ThresholdStudyDisplay:
    """Draw the error rates to expect of a threshold with new people.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.study_threshold`.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    return ThresholdStudyDisplay.from_results(data).plot(ax, **style)


class AssuredDisplay(OneResultDisplay):
    """FAR and FRR near a FAR target, over the threshold.

    Attributes
    ----------
    threshold, far, far_high, frr : ndarray
        The thresholds at which the limit was computed, and the rates there.
    """

    _plot = "assured"

    def __init__(self, dataset: xr.Dataset, name: str = ""):
        """Take the thresholds near the target, or the reason why there are none."""
        super().__init__(dataset, name)
        self.threshold = dataset["point_threshold"].values
        self.far = dataset["point_far"].values
        self.far_high = dataset["point_far_high"].values
        self.frr = dataset["point_frr"].values
        if len(self.threshold) < 2:
            refusal = refusal_of(dataset)
            alone = "only one threshold was evaluated"
            self._why = alone if refusal is None else sentence_about(refusal)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the rates, the target, and the thresholds with and without assurance."""
        ax, ds = self._begin(ax, style), self._dataset
        if self.why_empty:
            plot_style.empty(ax, self.why_empty)
        target = threshold_rule(ds.attrs).values[0]
        level, over = float(ds.attrs["assure"]), ds.attrs.get("assured_over", "pairs of people")
        far, frr = Style.hues["far"], Style.hues["frr"]
        for rates, hue, dash, label in (
            (self.far_high, far, ":", say("{far}, upper limit at {level:rate}", level=level)),
            (self.far, far, Style.dash(far), say("{far}, mean over {over}", over=over)),
            (self.frr, frr, Style.dash(frr), say("{frr}")),
        ):
            if np.isfinite(rates).any():
                how: dict[str, Any] = {
                    "color": Style.colour(hue),
                    "linestyle": dash,
                    "linewidth": 1.8,
                    **style,
                }
                ax.plot(self.threshold, rates, label=self._write(label), **how)
        ax.axhline(target, color=Style.rule, linewidth=1.0, zorder=1)
        end, away, side = (
            (1, -4, "right") if ds.attrs["kind"] in LARGER_IS_CLOSER else (0, 4, "left")
        )
        place: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "ha": side}
        plot_style.note(ax, f"target {100 * target:g} %", (end, target), (away, 3), **place)
        for role, variable, line in (
            ("assured", "assured_threshold", "-"),
            ("these data alone", "threshold", ":"),
        ):
            at = float(ds[variable])
            if np.isfinite(at):
                text = f"{role}: {written(threshold_of(ds, variable))}"
                ax.axvline(at, color=Style.text, linewidth=1.2, linestyle=line, label=text)
        rates = np.concatenate([self.far, self.far_high, self.frr, [target]])
        shown = rates[np.isfinite(rates) & (rates > 0)]
        high = min(1.0, 1.3 * float(shown.max()))
        plot_style.log_axis(ax, "y", float(shown.min()) / 1.3, high)
        labels = self._threshold_label(ds.attrs["kind"]), say("Error rate: {far}, {frr}")
        title = self._title("Assured threshold", name)
        self._finish(title, [f"estimated, for {ds.attrs['assured_for']}"], *labels)
        return self


def assured(data: Any, ax: Axes | None = None, **style: Any) -> AssuredDisplay:
    """Draw what an assured threshold costs: FAR, its upper limit and FRR over the threshold.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.study_threshold` with `assure`.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    return AssuredDisplay.from_results(data).plot(ax, **style)


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
