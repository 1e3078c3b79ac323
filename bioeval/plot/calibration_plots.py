"""Plots of calibration: reliability, Tippett, empirical cross-entropy and Bayes error."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.special import expit

from bioeval.plot.display import Curve, Curves, curves_of, numbered
from bioeval.plot.plot_style import SQUARE, THIN, Style, styled
from bioeval.plot.systems import pick

# A proportion is nearly 0, or nearly 1, if it is within this distance.
_NEARLY = 0.002

# The smallest and the largest end of an axis of natural logarithms.
_LIMITS_OF_END = 4.0, 20.0

# An axis of errors ends above its largest error by this factor, but never beyond the largest end:
# larger errors are all far worse than the prior alone, whose error is at most 1.
_ABOVE_ERRORS, _LARGEST_END = 1.05, 2.0


def _posterior(dataset: xr.Dataset, name: str) -> np.ndarray:
    return expit(dataset[name].values[::-1])


@styled
def reliability(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Curves:
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
    curves = []
    for system in pick(data, "reliability"):
        low = _posterior(system.dataset, "pav_low")
        high = _posterior(system.dataset, "pav_high")
        observed = _posterior(system.dataset, "pav_llr")
        # A block of scores is a flat piece between two claimed posteriors.
        claimed = np.column_stack([low, high]).ravel()
        curves.append(Curve(system.name, claimed, np.repeat(observed, 2), system))
    plot = Curves("reliability", numbered(curves), ax, style, SQUARE)
    plot.draw()
    plot.reference([0, 1], [0, 1])
    if not Style.look.is_flat:
        plot.ax_.set_aspect("equal")
    return plot.end(
        "Reliability",
        "Probability of a genuine attempt, as claimed",
        "Probability observed, by isotonic regression",
        caption=["prior of a genuine attempt 0.5"],
    )


@styled
def tippett(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Curves:
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
    labels = {"genuine_above": "genuine", "impostor_above": "impostor"}
    plot = Curves("tippett", curves_of(data, "tippett", "llr", labels), ax, style, marked=False)
    # The axis ends where both curves are nearly 0 or 1.
    between = [c.x[(c.y > _NEARLY) & (c.y < 1 - _NEARLY)] for c in plot.defined]
    farthest = np.abs(np.concatenate([np.zeros(1), *between])).max()
    limit = float(np.clip(math.ceil(farthest), *_LIMITS_OF_END))
    plot.draw(xlim=(-limit, limit))
    plot.ax_.axvline(0.0, color=Style.rule, linewidth=THIN, linestyle=":", zorder=1)
    x_label = "Natural log of the likelihood ratio"
    y_label = "Proportion of the class with a larger ratio"
    return plot.end("Tippett plot", x_label, y_label)


def _draw_over_priors(
    name: str, error: str, data: Any, ax: Any, style: Any, *, title: str, y_label: str
) -> Curves:
    labels = {error: "actual", f"min_{error}": "minimum"}
    curves = curves_of(data, name, "prior_log_odds", labels, alike=False)
    plot = Curves(name, curves, ax, style, marked=False)
    first = plot.systems[0].dataset
    priors = first["prior_log_odds"].values
    largest = [c.y[np.isfinite(c.y)].max(initial=0.0) for c in plot.defined]
    end = min(_LARGEST_END, _ABOVE_ERRORS * max([1.0, *largest]))
    plot.draw(xlim=priors[[0, -1]], ylim=(0, end))
    plot.reference(priors, first["reference_ece"] if error == "ece" else np.ones(len(priors)))
    caption = ["dotted: the prior alone, without any score"]
    x_label = "Natural log of prior odds of a genuine attempt"
    return plot.end(title, x_label, y_label, caption=caption)


@styled
def empirical_cross_entropy(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Curves:
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
    title = "Empirical cross-entropy"
    return _draw_over_priors(
        "empirical_cross_entropy", "ece", data, ax, style, title=title, y_label=f"{title} (bits)"
    )


@styled
def bayes_error(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Curves:
    """Draw the normalised Bayes error rate over priors: actual, and at the best threshold.

    Both errors cost 1. The distance between the two curves is what calibration loses at a prior.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.calibration`, or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    y_label = "Normalised Bayes error rate"
    return _draw_over_priors(
        "bayes_error", "bayes_error", data, ax, style, title="Bayes error", y_label=y_label
    )
