"""Closed forms where each person is a Gaussian cloud of embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bioeval.base.arguments import require_integer, require_number, require_probability


@dataclass(frozen=True)
class GaussianEmbeddings:
    r"""Gaussian clouds compared by the Euclidean distance (``metric="l2"``).

    A template of a person is the person's centre, :math:`N(0, b^2)` in each dimension, plus
    noise, :math:`N(0, w^2)` in each.

    Parameters
    ----------
    dimensions : int
    between : float
        :math:`b`, the spread of the centres, in each dimension.
    within : float
        :math:`w`, the spread of a person's templates. Offsets of sessions add in quadrature
        where the two templates are of different sessions: ``hypot(within, session_sd)``.

    Notes
    -----
    The difference of two templates of one person is :math:`N(0, 2 w^2)` in each of `D`
    dimensions, of two persons :math:`N(0, 2 (w^2 + b^2))`. A squared distance over its variance
    is therefore chi-square with `D` degrees of freedom, in both classes:

    .. math:: GAR(t) = F_D(t^2 / 2w^2), \qquad FAR(t) = F_D(t^2 / 2(w^2 + b^2)).

    The ratio of two such squares is `F` distributed, which gives the AUC. The rates are averages
    over persons: attempts of one person are not independent, so that a simulated matrix is
    further from them than its number of pairs suggests.

    Examples
    --------
    >>> from bioeval.scores.simulation.gaussian_embeddings import GaussianEmbeddings
    >>> truth = GaussianEmbeddings(dimensions=16, between=1.0, within=0.6)
    >>> round(truth.eer, 4), round(truth.auc, 4)
    (0.0339, 0.9943)
    """

    dimensions: int = 16
    between: float = 1.0
    within: float = 0.6

    def __post_init__(self) -> None:
        """Refuse what is not a model."""
        require_integer("dimensions", self.dimensions, low=1)
        require_number("between", self.between, low=0.0)
        require_number("within", self.within, above=0.0)

    @property
    def genuine_scale(self) -> float:
        r"""Standard deviation :math:`\sqrt2 w` of genuine differences, in each dimension."""
        return float(np.sqrt(2.0) * self.within)

    @property
    def impostor_scale(self) -> float:
        r"""Standard deviation :math:`\sqrt{2(w^2 + b^2)}` of impostor differences."""
        return float(np.sqrt(2.0) * np.hypot(self.within, self.between))

    def far(self, threshold: Any) -> np.ndarray:
        """Return FAR at each threshold, of single-template verification."""
        return self._chi.cdf(np.asarray(threshold, dtype=np.float64) / self.impostor_scale)

    def grr(self, threshold: Any) -> np.ndarray:
        """Return GRR = 1 - FAR at each threshold."""
        return self._chi.sf(np.asarray(threshold, dtype=np.float64) / self.impostor_scale)

    def gar(self, threshold: Any) -> np.ndarray:
        """Return GAR at each threshold, of single-template verification."""
        return self._chi.cdf(np.asarray(threshold, dtype=np.float64) / self.genuine_scale)

    def frr(self, threshold: Any) -> np.ndarray:
        """Return FRR = 1 - GAR at each threshold."""
        return self._chi.sf(np.asarray(threshold, dtype=np.float64) / self.genuine_scale)

    def threshold_at_far(self, far: Any) -> np.ndarray:
        """Return the threshold at which FAR has each value, from 0 to 1."""
        return self._chi.ppf(require_probability("far", far)) * self.impostor_scale

    @cached_property
    def eer_threshold(self) -> float:
        """The threshold at which FAR and FRR are equal."""
        from scipy.optimize import brentq

        # At either median one rate is 1/2, the other at most that.
        median = self._chi.median()
        low, high = median * self.genuine_scale, median * self.impostor_scale
        if low == high:
            return float(low)
        return float(brentq(lambda t: self.far(t) - self.frr(t), low, high, xtol=1e-14 * high))

    @property
    def eer(self) -> float:
        """The rate at which FAR and FRR are equal."""
        return float(self.far(self.eer_threshold))

    @property
    def auc(self) -> float:
        """The probability that a genuine distance is smaller than an impostor distance."""
        from scipy.stats import f

        ratio = (self.genuine_scale / self.impostor_scale) ** 2
        return float(f.sf(ratio, self.dimensions, self.dimensions))

    @property
    def d_prime(self) -> float:
        """The distance of the two mean distances, over the root of their mean variance."""
        difference = (self.impostor_scale - self.genuine_scale) * self._chi.mean()
        variance = (self.impostor_scale**2 + self.genuine_scale**2) / 2.0 * self._chi.var()
        return float(difference / np.sqrt(variance))

    @property
    def _chi(self) -> Any:
        from scipy.stats import chi

        return chi(self.dimensions)
