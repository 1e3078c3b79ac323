"""Plots of calibration: reliability, Tippett, empirical cross-entropy and Bayes error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from scipy.special import expit

from bioeval.document.text import Text
from bioeval.plot import plot_style
from bioeval.plot.display import Curve, CurvesDisplay, numbered
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import System


class ReliabilityDisplay(CurvesDisplay):
    """Reliability; ``x`` of a curve is the stated posterior, ``y`` the observed one."""

    _plot, _title, _y = "reliability", "Reliability", {"pav_llr": ""}
    _x_label = "Probability of a genuine attempt, as claimed"
    _y_label = "Probability observed, by isotonic regression"
    _size = plot_style.SQUARE

    @classmethod
    def _curves_of(cls, systems: Sequence[System]) -> list[Curve]:
        """Return both posteriors, of a prior of a half, at the ends of the blocks."""
        curves = []
        for system in systems:
            low, high, observed = (
                expit(system.dataset[f"pav_{x}"].values[::-1]) for x in ("low", "high", "llr")
            )
            claimed = np.column_stack([low, high]).ravel()
            curves.append(Curve(system.name, claimed, np.repeat(observed, 2), system))
        return numbered(curves)

    def _limits(self) -> dict[str, Any]:
        self._reference([0, 1], [0, 1])
        if not Style.look.is_flat:
            self.ax_.set_aspect("equal")
        return super()._limits()

    def _caption(self) -> Sequence[Text]:
        return ["prior of a genuine attempt 0.5"]


def reliability(data: Any, ax: Axes | None = None, **style: Any) -> ReliabilityDisplay:
    """Draw the reliability of log-likelihood ratios: stated against observed posteriors.

    The prior is 0.5. The observed posterior is that of isotonic regression: a flat piece is a block
    of scores of equal posterior. Dimitriadis, T., Gneiting, T., Jordan, A. (2021). Stable
    reliability diagrams for probabilistic classifiers. *PNAS* 118 (8).

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.calibration` of log-likelihood ratios, or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    return ReliabilityDisplay.from_results(data).plot(ax, **style)


class TippettDisplay(CurvesDisplay):
    """Tippett plot; ``y`` of a curve is the proportion of a class with a larger ratio."""

    _plot, _title, _x = "tippett", "Tippett plot", "llr"
    _y: ClassVar = {"genuine_above": "genuine", "impostor_above": "impostor"}
    _x_label = "Natural log of the likelihood ratio"
    _y_label = "Proportion of the class with a larger ratio"
    _marked = False

    def _limits(self) -> dict[str, Any]:
        """End where both curves are nearly 0 or 1."""
        self.ax_.axvline(0.0, color=Style.rule, linewidth=0.8, linestyle=":", zorder=1)
        partial = [c.x[(c.y > 0.002) & (c.y < 0.998)] for c in self.defined]
        farthest = np.abs(np.concatenate([np.zeros(1), *partial])).max()
        limit = min(20.0, max(4.0, math.ceil(farthest)))
        return {"ylim": (-0.015, 1.015), "xlim": (-limit, limit)}


def tippett(data: Any, ax: Axes | None = None, **style: Any) -> TippettDisplay:
    """Draw the Tippett plot: the proportions of both classes with a larger likelihood ratio.

    Genuine attempts left of 0 and impostor attempts right of it have misleading ratios. Logarithms
    are natural, as in all results and plots of calibration.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.calibration` of log-likelihood ratios, or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    return TippettDisplay.from_results(data).plot(ax, **style)


class _PriorsDisplay(CurvesDisplay):
    """Errors over the prior, actual and after isotonic regression."""

    _x = "prior_log_odds"
    _x_label = "Natural log of prior odds of a genuine attempt"
    _marked = False
    _by_system = True

    def _limits(self) -> dict[str, Any]:
        """Show the value of the prior alone, a thin line."""
        worst = [c.y[np.isfinite(c.y)].max(initial=0.0) for c in self.defined]
        ends = self.systems[0].dataset["prior_log_odds"].values[[0, -1]]
        return {"xlim": ends, "ylim": (0, min(2.0, 1.05 * max([1.0, *worst])))}

    def _caption(self) -> Sequence[Text]:
        return ["dotted: the prior alone, without any score"]


class EmpiricalCrossEntropyDisplay(_PriorsDisplay):
    """Empirical cross-entropy in bits against the prior log odds."""

    _plot, _title = "empirical_cross_entropy", "Empirical cross-entropy"
    _y: ClassVar = {"ece": "actual", "min_ece": "minimum"}
    _y_label = "Empirical cross-entropy (bits)"

    def _limits(self) -> dict[str, Any]:
        alone = self.systems[0].dataset["reference_ece"]
        self._reference(alone["prior_log_odds"].values, alone.values)
        return super()._limits()


def empirical_cross_entropy(
    data: Any, ax: Axes | None = None, **style: Any
) -> EmpiricalCrossEntropyDisplay:
    """Draw the empirical cross-entropy over priors: actual, and after isotonic regression.

    Where the actual curve is above the dotted one, the ratios do more harm than good at that prior.
    Ramos, D., Gonzalez-Rodriguez, J. (2013). Reliable support: measuring calibration of likelihood
    ratios. *Forensic Science International* 230, 156-169.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.calibration`, or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    return EmpiricalCrossEntropyDisplay.from_results(data).plot(ax, **style)


class BayesErrorDisplay(_PriorsDisplay):
    """Normalised Bayes error rate against the prior log odds."""

    _plot, _title = "bayes_error", "Bayes error"
    _y: ClassVar = {"bayes_error": "actual", "min_bayes_error": "minimum"}
    _y_label = "Normalised Bayes error rate"

    def _limits(self) -> dict[str, Any]:
        self._reference([-10.0, 10.0], [1.0, 1.0])
        return super()._limits()


def bayes_error(data: Any, ax: Axes | None = None, **style: Any) -> BayesErrorDisplay:
    """Draw the normalised Bayes error rate over priors: actual, and at the best threshold.

    Both errors cost 1. The distance between the two curves is what calibration loses at a prior.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.calibration`, or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    return BayesErrorDisplay.from_results(data).plot(ax, **style)
