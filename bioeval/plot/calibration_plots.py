"""Plots of calibration: reliability, Tippett, empirical cross-entropy and Bayes error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from bioeval.plot.display import Curve, CurvesDisplay, CurveSpec
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import System
from bioeval.studies.calibration.calibrator import check_prior

_ODDS = "Natural log of prior odds of a genuine attempt"


class ReliabilityDisplay(CurvesDisplay):
    """Reliability; ``x`` of a curve is the stated posterior, ``y`` the observed one."""

    spec = CurveSpec(
        "reliability",
        "Reliability",
        x_label="Probability of a genuine attempt, as claimed",
        y_label="Probability observed, by isotonic regression",
        size=(5.8, 6.0),
    )

    def __init__(self, systems: Sequence[System]):
        self._systems = list(systems)
        super().__init__([])

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the blocks of one calibration result, or of several by name."""
        return cls(System.pick(data, "reliability"))

    def plot(
        self, ax: Axes | None = None, *, prior: float = 0.5, name: str | None = None, **style: Any
    ) -> Self:
        """Draw the curves. See :func:`reliability`."""
        check_prior(prior)
        shift = math.log(prior / (1 - prior))
        super().__init__([_claimed(s, i, shift) for i, s in enumerate(self._systems)])
        ax = self._start(ax, name, style)
        self._lines(style)
        self._diagonal()
        ax.set(**self.spec.limits(self))
        if not Style.look.is_flat:
            ax.set_aspect("equal")
        details = [f"prior of a genuine attempt {prior:g}; dotted: perfect calibration"]
        return self._finish(details=lambda _: details)


def _claimed(system: System, number: int, shift: float) -> Curve:
    """Return the stated posteriors at the ends of the blocks, and the calibrated ones."""
    dataset = system.dataset
    ends = np.stack([dataset["pav_low"].values, dataset["pav_high"].values], axis=1)
    claimed = ends[::-1].ravel()
    observed = np.repeat(dataset["pav_llr"].values[::-1], 2)
    x = _posterior(claimed + shift)
    y = _posterior(observed + shift)
    return Curve(system.name, x, y, system, hue=number, dash=number)


def _posterior(log_odds: np.ndarray) -> np.ndarray:
    return 0.5 * (1 + np.tanh(log_odds / 2))


def reliability(
    data: Any, ax: Axes | None = None, *, prior: float = 0.5, **style: Any
) -> ReliabilityDisplay:
    """Draw the reliability of log-likelihood ratios: stated against observed posteriors.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.calibration` of log-likelihood ratios, or several by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    prior : float
        Of a genuine attempt.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    ReliabilityDisplay
        With ``curves`` (the arrays), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    The observed posterior is that of isotonic regression, so that there are no bins to choose: a
    flat piece is a block of scores of equal posterior. Dimitriadis, T., Gneiting, T., Jordan, A.
    (2021). Stable reliability diagrams for probabilistic classifiers. *PNAS* 118 (8).

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(20, 4)
    >>> ratios = be.Calibrator().fit_transform(scores)
    >>> be.plot.reliability(be.calibration(ratios)).ax_.get_ylabel()
    'Probability observed, by isotonic regression'
    """
    return ReliabilityDisplay.from_results(data).plot(ax, prior=prior, **style)


def _ratios(system: System, x: str, y: str, name: str) -> Curve:
    values = system.dataset[y].values
    why_not = "" if np.isfinite(values).any() else "no attempts of both classes"
    return Curve(name, system.dataset[x].values, values, system, why_not)


class TippettDisplay(CurvesDisplay):
    """Tippett plot; ``y`` of a curve is the proportion of a class with a larger ratio."""

    spec = CurveSpec(
        "tippett",
        "Tippett plot",
        "llr",
        {"genuine_above": "genuine", "impostor_above": "impostor"},
        "Natural log of the likelihood ratio",
        "Proportion of the class with a larger ratio",
        curve=_ratios,
    )

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`tippett`."""
        ax = self._start(ax, name, style)
        for curve in self.defined:
            self._line(curve, curve.x, curve.y, {"drawstyle": "default", **style}, marked=False)
        ax.axvline(0.0, color=Style.rule, linewidth=0.8, linestyle=":", zorder=1)
        partial = [c.x[(c.y > 0.002) & (c.y < 0.998)] for c in self.defined]
        seen = np.abs(np.concatenate([np.zeros(1), *partial])).max()
        limit = min(20.0, max(4.0, math.ceil(seen)))
        ax.set(ylim=(-0.015, 1.015), xlim=(-limit, limit))
        return self._finish()


def tippett(data: Any, ax: Axes | None = None, **style: Any) -> TippettDisplay:
    """Draw the Tippett plot: the proportions of both classes with a larger likelihood ratio.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.calibration` of log-likelihood ratios, or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.

    Returns
    -------
    TippettDisplay
        With ``curves`` (the arrays), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    Genuine attempts left of 0 and impostor attempts right of it have misleading ratios. Logarithms
    are natural, as in all results and plots of calibration.

    Examples
    --------
    >>> import bioeval as be
    >>> ratios = be.Calibrator().fit_transform(be.simulate(20, 4))
    >>> list(be.plot.tippett(be.calibration(ratios)).curves)
    ['genuine', 'impostor']
    """
    return TippettDisplay.from_results(data).plot(ax, **style)


def _up_to_worst(display: CurvesDisplay) -> tuple[float, float]:
    """Return axis limits for errors that include 1, the value of the prior alone."""
    worst = [c.y[np.isfinite(c.y)].max(initial=0.0) for c in display.defined]
    return 0, min(2.0, 1.05 * max([1.0, *worst]))


def _prior_alone(display: CurvesDisplay) -> None:
    reference = display.systems[0].dataset["reference_ece"]
    x, y = reference["prior_log_odds"].values, reference.values
    display._reference(x, y, linewidth=1.0)
    display.ax_.axvline(0.0, color=Style.rule, linewidth=0.8, linestyle=":", zorder=1)


class EmpiricalCrossEntropyDisplay(CurvesDisplay):
    """Empirical cross-entropy in bits against the prior log odds."""

    spec = CurveSpec(
        "empirical_cross_entropy",
        "Empirical cross-entropy",
        "prior_log_odds",
        {"ece": "actual", "min_ece": "minimum"},
        _ODDS,
        "Empirical cross-entropy (bits)",
        details=lambda _: [
            "dotted: the prior alone, without any score; at 0: Cllr and its minimum"
        ],
        curve=_ratios,
        hue_by_system=True,
        marked=False,
        reference=_prior_alone,
        limits=lambda display: {
            "xlim": display.systems[0].dataset["prior_log_odds"].values[[0, -1]],
            "ylim": _up_to_worst(display),
        },
    )


def empirical_cross_entropy(
    data: Any, ax: Axes | None = None, **style: Any
) -> EmpiricalCrossEntropyDisplay:
    """Draw the empirical cross-entropy over priors: actual, and after isotonic regression.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.calibration`, or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.

    Returns
    -------
    EmpiricalCrossEntropyDisplay
        With ``curves`` (the arrays), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    Where the actual curve is above the dotted one, the ratios do more harm than good at that prior.
    Ramos, D., Gonzalez-Rodriguez, J. (2013). Reliable support: measuring calibration of likelihood
    ratios. *Forensic Science International* 230, 156-169.

    Examples
    --------
    >>> import bioeval as be
    >>> ratios = be.Calibrator().fit_transform(be.simulate(20, 4))
    >>> list(be.plot.empirical_cross_entropy(be.calibration(ratios)).curves)
    ['actual', 'minimum']
    """
    return EmpiricalCrossEntropyDisplay.from_results(data).plot(ax, **style)


class BayesErrorDisplay(CurvesDisplay):
    """Normalised Bayes error rate against the prior log odds."""

    spec = CurveSpec(
        "bayes_error",
        "Bayes error",
        "prior_log_odds",
        {"bayes_error": "actual", "min_bayes_error": "minimum"},
        _ODDS,
        "Normalised Bayes error rate",
        details=lambda _: ["dotted: decisions by the prior alone; above it scores do harm"],
        curve=_ratios,
        hue_by_system=True,
        marked=False,
        limits=lambda display: {"xlim": (-10.0, 10.0), "ylim": _up_to_worst(display)},
        reference=lambda display: display._reference(
            np.array([-10.0, 10.0]), np.ones(2), linewidth=1.0
        ),
    )


def bayes_error(data: Any, ax: Axes | None = None, **style: Any) -> BayesErrorDisplay:
    """Draw the normalised Bayes error rate over priors: actual, and at the best threshold.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.calibration`, or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.

    Returns
    -------
    BayesErrorDisplay
        With ``curves`` (the arrays), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    Both errors cost 1. The distance between the two curves is what calibration loses at a prior.

    Examples
    --------
    >>> import bioeval as be
    >>> list(be.plot.bayes_error(be.calibration(be.simulate(20, 4))).curves)
    ['minimum']
    """
    return BayesErrorDisplay.from_results(data).plot(ax, **style)
