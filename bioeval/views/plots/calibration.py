"""Plots of calibration: reliability, Tippett, empirical cross-entropy and Bayes error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from bioeval.base.arguments import require_prior
from bioeval.views.plots import style as look
from bioeval.views.plots.curves import Captions, Curve, CurvesDisplay
from bioeval.views.plots.select_datasets import System, joined, pick

_ODDS = "Prior log odds of a genuine attempt (natural)"


class _LinesDisplay(CurvesDisplay):
    """Plain lines, several of each system: the first is solid and has the label."""

    variables: tuple[tuple[str, str], ...] = ()  # of each line, with its name
    x = "prior_log_odds"
    plot_name = ""

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a result of calibration, or of a mapping of name to such."""
        curves = []
        for number, system in enumerate(pick(data, cls.plot_name)):
            found = [(v, name) for v, name in cls.variables if v in system.dataset]
            for variable, name in found:
                values = system.dataset[variable].values
                why_not = "" if np.isfinite(values).any() else "no attempts of both classes"
                dash = [v for v, _ in cls.variables].index(variable)
                label = joined(system.name, name)
                x = system.dataset[cls.x].values
                curves.append(Curve(label, x, values, system, why_not, hue=number, dash=dash))
        return cls(curves)


class ReliabilityDisplay(CurvesDisplay):
    """Reliability; ``x`` of a curve is the posterior that is claimed, ``y`` the one observed."""

    def __init__(self, systems: Sequence[System]):
        self._systems = list(systems)
        super().__init__([])

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the blocks of a result of calibration, or of a mapping of name to such."""
        return cls(pick(data, "reliability"))

    def plot(
        self, ax: Axes | None = None, *, prior: float = 0.5, name: str | None = None, **style: Any
    ) -> Self:
        """Draw the curves. See :func:`reliability`."""
        require_prior(prior)
        shift = math.log(prior / (1 - prior))
        super().__init__([_claimed(s, i, shift) for i, s in enumerate(self._systems)])
        ax = self._start(ax, name, look.SQUARE)
        self._lines(style)
        ends = np.array([0.0, 1.0])
        diagonal = self._reference(ends, ends)
        ax.set(xlim=(-0.015, 1.015), ylim=(-0.015, 1.015))
        ax.set_aspect("equal")
        return self._finish(
            Captions(
                "Reliability", "Probability of a genuine attempt, as claimed",
                "Probability observed, by isotonic regression",
                details=[f"prior of a genuine attempt {prior:g}; dotted: perfect calibration"],
                others=[diagonal],
            )
        )  # fmt: skip


def _claimed(system: System, number: int, shift: float) -> Curve:
    """Return the posteriors of the ends of the blocks, and those that the blocks should have."""
    dataset = system.dataset
    ends, pooled = ("pav_low", "pav_high"), dataset["pav_llr"].values[::-1]
    claimed = np.stack([dataset[end].values[::-1] for end in ends], axis=1).ravel()
    observed = np.repeat(pooled, 2)
    x, y = (_posterior(llr + shift) for llr in (claimed, observed))
    return Curve(system.name, x, y, system, hue=number, dash=number)


def _posterior(log_odds: np.ndarray) -> np.ndarray:
    return 0.5 * (1 + np.tanh(log_odds / 2))


class TippettDisplay(_LinesDisplay):
    """Tippett plot; ``y`` of a curve is the proportion of a class with a larger ratio."""

    plot_name, x = "tippett", "llr"
    variables = (("genuine_above", "genuine"), ("impostor_above", "impostor"))

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`tippett`."""
        ax = self._start(ax, name)
        for curve in self.defined:
            x = curve.x / math.log(10)
            self._line(curve, x, curve.y, {"drawstyle": "default", **style}, marked=False)
        ax.axvline(0.0, color=look.RULE, linewidth=0.8, linestyle=":", zorder=1)
        partial = [c.x[(c.y > 0.002) & (c.y < 0.998)] for c in self.defined]
        seen = np.abs(np.concatenate([np.zeros(1), *partial])).max() / math.log(10)
        limit = min(10.0, max(2.0, math.ceil(seen)))
        ax.set(ylim=(-0.015, 1.015), xlim=(-limit, limit))
        return self._finish(
            Captions(
                "Tippett plot", "Likelihood ratio (log10)",
                "Proportion of the class with a larger ratio",
                at={n: 0.35 if n.endswith("impostor") else 0.65 for n in self.lines_},
            )
        )  # fmt: skip


class EmpiricalCrossEntropyDisplay(_LinesDisplay):
    """Empirical cross-entropy in bits against the prior log odds."""

    plot_name = "empirical_cross_entropy"
    variables = (("ece", "actual"), ("min_ece", "minimum"))

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`empirical_cross_entropy`."""
        ax = self._start(ax, name)
        self._lines(style, marked=False)
        reference = self.systems[0].dataset["reference_ece"]
        x, y = reference["prior_log_odds"].values, reference.values
        prior = self._reference(x, y, linewidth=1.0)
        worst = [c.y[np.isfinite(c.y)].max(initial=0.0) for c in self.defined]
        ax.set(xlim=(x[0], x[-1]), ylim=(0, min(2.0, 1.05 * max([1.0, *worst]))))
        ax.axvline(0.0, color=look.RULE, linewidth=0.8, linestyle=":", zorder=1)
        return self._finish(
            Captions(
                "Empirical cross-entropy", _ODDS, "Empirical cross-entropy (bits)",
                details=["dotted: the prior alone, without any score; at 0: Cllr and its minimum"],
                others=[prior], at=0.62,
            )
        )  # fmt: skip


class BayesErrorDisplay(_LinesDisplay):
    """Normalised Bayes error rate against the prior log odds."""

    plot_name = "bayes_error"
    variables = (("bayes_error", "actual"), ("min_bayes_error", "minimum"))

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`bayes_error`."""
        ax = self._start(ax, name)
        self._lines(style, marked=False)
        x = np.array([-10.0, 10.0])
        prior = self._reference(x, np.ones(2), linewidth=1.0)
        worst = [c.y[np.isfinite(c.y)].max(initial=0.0) for c in self.defined]
        ax.set(xlim=x, ylim=(0, min(2.0, 1.05 * max([1.0, *worst]))))
        return self._finish(
            Captions(
                "Bayes error", _ODDS, "Normalised Bayes error rate",
                details=["dotted: decisions by the prior alone; above it scores do harm"],
                others=[prior], at=0.45,
            )
        )  # fmt: skip


def reliability(
    data: Any, ax: Axes | None = None, *, prior: float = 0.5, **style: Any
) -> ReliabilityDisplay:
    """Draw the reliability of log-likelihood ratios: posterior claimed and posterior observed.

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


def tippett(data: Any, ax: Axes | None = None, **style: Any) -> TippettDisplay:
    """Draw the Tippett plot: the proportions of both classes with a larger likelihood ratio.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.calibration` of log-likelihood ratios, or several by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    TippettDisplay
        With ``curves`` (the arrays; natural logarithms), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    Genuine attempts left of 0 and impostor attempts right of it have misleading ratios.

    Examples
    --------
    >>> import bioeval as be
    >>> ratios = be.Calibrator().fit_transform(be.simulate(20, 4))
    >>> list(be.plot.tippett(be.calibration(ratios)).curves)
    ['genuine', 'impostor']
    """
    return TippettDisplay.from_results(data).plot(ax, **style)


def empirical_cross_entropy(
    data: Any, ax: Axes | None = None, **style: Any
) -> EmpiricalCrossEntropyDisplay:
    """Draw the empirical cross-entropy over priors: actual, and after isotonic regression.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.calibration`, or several by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single system.

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


def bayes_error(data: Any, ax: Axes | None = None, **style: Any) -> BayesErrorDisplay:
    """Draw the normalised Bayes error rate over priors: actual, and at the best threshold.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.calibration`, or several by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single system.

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
