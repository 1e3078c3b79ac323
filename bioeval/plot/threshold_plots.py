"""Threshold studies and assured thresholds."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from bioeval.base.errors import counted
from bioeval.base.kinds import larger_is_closer
from bioeval.document.results import rule_of, threshold_rule
from bioeval.document.text import say
from bioeval.plot.display import OneResultDisplay
from bioeval.plot.fold_plots import FoldsDisplay, FoldsWords, limits_in_words
from bioeval.plot.plot_style import Style
from bioeval.results.words import threshold_text
from bioeval.studies.thresholds.section import new_people, refusal_of
from bioeval.views.messages import sentence_about

# ------------------------------------------------------------------------ points of the folds


class ThresholdStudyDisplay(FoldsDisplay):
    """FAR and FRR of each fold, their mean with its interval, and the optimistic point."""

    _plot, _fold, _optimistic = "threshold_study", "fold_", "optimistic_{}"

    def _words(self) -> FoldsWords:
        """Return what is written on the figure."""
        ds = self._dataset
        number = int(np.isfinite(ds["fold_threshold"]).sum())
        return FoldsWords(
            "Threshold study",
            f"expected of {new_people(ds)}",
            "where it was chosen (optimistic)",
            [
                say(
                    "threshold {threshold}, chosen on all data for {rule}",
                    threshold=f"{ds['threshold'].item():.4g}",
                    rule=rule_of(ds.attrs),
                ),
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
    >>> ds = be.study_threshold(be.simulate(30, 4), "far=0.01", folds=5, repeats=2)
    >>> be.plot.threshold_study(ds).far.shape
    (10,)
    """
    return ThresholdStudyDisplay.from_results(data).plot(ax, **style)


# ----------------------------------------------------------------- curves over partitions


class AssuredDisplay(OneResultDisplay):
    """FAR and FRR near a FAR target, over the threshold.

    Attributes
    ----------
    threshold, far, far_high, frr : ndarray
        The thresholds at which the limit was computed, and the rates there.
    """

    _plot = "assured"

    def __init__(self, dataset: xr.Dataset):
        """Take the thresholds near the target, or the reason why there are none."""
        super().__init__(dataset)
        self.threshold = dataset["point_threshold"].values
        self.far = dataset["point_far"].values
        self.far_high = dataset["point_far_high"].values
        self.frr = dataset["point_frr"].values
        self._why = ""
        if len(self.threshold) < 2:
            refusal = refusal_of(dataset)
            self._why = "only one threshold was evaluated"
            if refusal is not None:
                self._why = sentence_about(refusal)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the rates, the target, and the thresholds with and without assurance."""
        ax, ds = self._axes(ax, style=style), self._dataset
        if self.why_empty:
            self._empty(self.why_empty)
        end, away, side = 0, 4, "left"
        if larger_is_closer(ds.attrs["kind"]):
            end, away, side = 1, -4, "right"
        target = threshold_rule(ds.attrs).values[0]
        far, frr = Style.hues["far"], Style.hues["frr"]
        confidence = f"{100 * float(ds.attrs['assure']):g} %"
        properties = {"linewidth": 1.8, **style}
        over = ds.attrs.get("assured_over", "pairs of people")
        ax.plot(
            self.threshold,
            self.far_high,
            color=Style.colour(far),
            linestyle=":",
            **properties,
            label=self._write(say("{far}, upper limit at {level}", level=confidence)),
        )
        ax.plot(
            self.threshold,
            self.far,
            color=Style.colour(far),
            linestyle=Style.dash(far),
            **properties,
            label=self._write(say("{far}, mean over {over}", over=over)),
        )
        if np.isfinite(self.frr).any():
            ax.plot(
                self.threshold,
                self.frr,
                color=Style.colour(frr),
                linestyle=Style.dash(frr),
                **properties,
                label=self._write(say("{frr}")),
            )
        ax.axhline(target, color=Style.rule, linewidth=1.0, zorder=1)
        ax.annotate(
            f"target {100 * target:g} %",
            (end, target),
            (away, 3),
            xycoords=ax.get_yaxis_transform(),
            textcoords="offset points",
            ha=side,
            fontsize=Style.look.small,
            color=Style.quiet,
        )
        for role, variable, line in (
            ("assured", "assured_threshold", "-"),
            ("these data alone", "threshold", ":"),
        ):
            at = float(ds[variable])
            if np.isfinite(at):
                label = f"{role}: {threshold_text(at)}"
                ax.axvline(at, color=Style.text, linewidth=1.2, linestyle=line, label=label)
        rates = np.concatenate([self.far, self.far_high, self.frr])
        positive = rates[np.isfinite(rates) & (rates > 0)]
        shown = np.append(positive, target)
        self._log_axis(float(shown.min()) / 1.3, min(1.0, float(shown.max()) * 1.3))
        x, y = self._threshold_label(ds.attrs["kind"]), say("Error rate: {far}, {frr}")
        rule = ds.attrs["assured_rule"]
        self._titled("Assured threshold", name, [f"{rule}, for {ds.attrs['assured_for']}"])
        self._legend()
        self._labelled(x, y, "", self._other("far"))
        return self


def assured(data: Any, ax: Axes | None = None, **style: Any) -> AssuredDisplay:
    """Draw what an assured threshold costs: FAR, its upper limit and FRR over the threshold.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.study_threshold` with `assure`.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of the curves.

    Returns
    -------
    AssuredDisplay
        With ``threshold``, ``far``, ``far_high``, ``frr``, ``ax_`` and ``figure_``.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(80, 3, random_state=1)
    >>> ds = be.study_threshold(scores, "far=0.05", folds=5, repeats=2, assure=0.95)
    >>> display = be.plot.assured(ds)
    >>> bool((display.far <= display.far_high).all())
    True
    """
    return AssuredDisplay.from_results(data).plot(ax, **style)
