"""True rates of simulated populations in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np

from bioeval.base.arguments import require_integer, require_number, require_numbers
from bioeval.base.errors import Argument, DataError, received, require_choice
from bioeval.base.kinds import PlainKind


def _probabilities(name: str, value: Any) -> np.ndarray:
    """Return `value` as an array, or raise :class:`DataError` unless all of it is in [0, 1]."""
    array = require_numbers(name, value)
    if not ((array >= 0.0) & (array <= 1.0)).all():
        raise DataError(Argument(name), f" is {received(value)}; expected numbers in [0, 1]")
    return array


@dataclass(frozen=True)
class GaussianScores:
    r"""Independent Gaussian genuine and impostor scores, the model of signal detection.

    Impostor scores are N(0, 1). Genuine scores are normal with standard deviation `genuine_sd`
    :math:`= \sigma` and lie :math:`\Delta = d' \sqrt{(1 + \sigma^2) / 2}` nearer: their mean is
    :math:`-\Delta` for distances, :math:`\Delta` for similarities. Every cell of the matrix is
    independent of every other.

    Parameters
    ----------
    d_prime : float
        Decidability: the distance of the two means, over the root of the mean variance.
    genuine_sd : float
        Standard deviation of genuine scores, where that of impostor scores is 1.
    kind : {"distance", "similarity"}
        The two are exact mirror images: only the sign of scores and thresholds differs.

    Notes
    -----
    Written for distances, with :math:`\Phi` the standard normal distribution function, a claim
    is accepted iff :math:`d \le t`, so that

    .. math:: FAR(t) = \Phi(t), \qquad GAR(t) = \Phi((t + \Delta) / \sigma).

    FAR = FRR where :math:`t = -(t + \Delta) / \sigma`, that is :math:`t = -\Delta/(1+\sigma)`.
    A genuine minus an impostor distance is normal with mean :math:`-\Delta` and variance
    :math:`1 + \sigma^2`, so that it is negative with probability
    :math:`\Phi(\Delta/\sqrt{1+\sigma^2}) = \Phi(d'/\sqrt2)`: the AUC [1]_ [2]_.

    **Several templates.** The nearest of `S` independent distances is within `t` with
    probability :math:`1 - (1 - F(t))^S`: multi-template verification with ``min`` fusion, and the
    open-set FAR against `S` templates of each of `N` subjects, :math:`1 - (1 - FAR(t))^{NS}`.

    **Ranks.** Given the distance `x` of the best mate, each of `n` candidates is closer with the
    same probability `p`, independently, so that their number is binomial and

    .. math:: DIR(t, k) = \int_{-\infty}^{t} g(x) \sum_{j<k} \binom{n}{j} p^j (1-p)^{n-j} \, dx

    with `g` the density of the best mate. With one template a subject, `n = N - 1` and
    :math:`p = \Phi(x)`; substituting :math:`x = z - \Delta`, :math:`\sigma = 1`, gives
    :math:`p = \Phi(z - d')` with `z` standard normal. CMS is the case of :math:`t = \infty`: the
    CMC follows from the distributions behind the ROC [3]_ [4]_. Scores are continuous: ties have
    probability 0.

    References
    ----------
    .. [1] Green, D. M., Swets, J. A. (1966). Signal detection theory and psychophysics. Wiley.
    .. [2] Macmillan, N. A., Creelman, C. D. (2005). Detection theory: a user's guide, 2nd
       edition. Erlbaum.
    .. [3] Grother, P., Phillips, P. J. (2004). Models of large population recognition
       performance. CVPR 2004.
    .. [4] Bolle, R. M., Connell, J. H., Pankanti, S., Ratha, N. K., Senior, A. W. (2005). The
       relation between the ROC curve and the CMC. AutoID 2005.

    Examples
    --------
    >>> from bioeval.scores.simulation.closed_forms import GaussianScores
    >>> truth = GaussianScores(d_prime=2.0)
    >>> round(truth.eer, 4), round(truth.auc, 4)
    (0.1587, 0.9214)
    >>> truth.cms([1, 5, 100], subjects=100).round(3)
    array([0.323, 0.622, 1.   ])
    """

    d_prime: float = 2.0
    genuine_sd: float = 1.0
    kind: PlainKind = "distance"

    def __post_init__(self) -> None:
        """Refuse values that are not a model."""
        require_number("d_prime", self.d_prime, low=0.0)
        require_number("genuine_sd", self.genuine_sd, above=0.0)
        require_choice("kind", self.kind, get_args(PlainKind))

    @property
    def _sign(self) -> float:
        return 1.0 if self.kind == "distance" else -1.0

    @property
    def shift(self) -> float:
        r"""The distance :math:`\Delta` of the two means."""
        return self.d_prime * float(np.sqrt((1.0 + self.genuine_sd * self.genuine_sd) / 2.0))

    @property
    def genuine_mean(self) -> float:
        """The mean of genuine scores; that of impostor scores is 0."""
        return -self._sign * self.shift

    def far(self, threshold: Any, templates: int = 1) -> np.ndarray:
        """Return FAR at each threshold; of a claim against `templates`, the nearest counts."""
        count = require_integer("templates", templates, low=1)
        return _any_within(self._distance(threshold), count)

    def grr(self, threshold: Any, templates: int = 1) -> np.ndarray:
        """Return GRR = 1 - FAR at each threshold."""
        return 1.0 - self.far(threshold, templates)

    def gar(self, threshold: Any, templates: int = 1) -> np.ndarray:
        """Return GAR at each threshold; of a claim against `templates` mates, the nearest counts.

        In an all-against-all matrix of `S` templates a subject there are ``S - 1`` mates.
        """
        z = (self._distance(threshold) + self.shift) / self.genuine_sd
        return _any_within(z, require_integer("templates", templates, low=1))

    def frr(self, threshold: Any, templates: int = 1) -> np.ndarray:
        """Return FRR = 1 - GAR at each threshold."""
        return 1.0 - self.gar(threshold, templates)

    def threshold_at_far(self, far: Any) -> np.ndarray:
        """Return the threshold at which single-template FAR has each value, from 0 to 1."""
        from scipy.special import ndtri

        return self._sign * ndtri(_probabilities("far", far))

    @property
    def eer_threshold(self) -> float:
        """The threshold at which single-template FAR and FRR are equal."""
        return -self._sign * self.shift / (1.0 + self.genuine_sd)

    @property
    def eer(self) -> float:
        r""":math:`\Phi(-\Delta / (1 + \sigma))`; :math:`\Phi(-d'/2)` with equal variances."""
        return float(self.far(self.eer_threshold))

    @property
    def auc(self) -> float:
        r""":math:`\Phi(d' / \sqrt 2)`, whatever the variances."""
        from scipy.special import ndtr

        return float(ndtr(self.d_prime / np.sqrt(2.0)))

    def cms(
        self,
        rank: Any,
        subjects: int,
        *,
        templates: int = 1,
        mates: int | None = None,
        rank_unit: str = "template",
    ) -> np.ndarray:
        """Return CMS at each rank, shaped as `rank`: DIR without a threshold.

        `subjects` are in the gallery, the probe's own among them, the others with `templates` each
        and the probe's own with `mates`, itself excluded: `templates` unless given,
        ``templates - 1`` in an all-against-all matrix. `rank_unit` is ``"template"`` or
        ``"subject"``.
        """
        infinity = self._sign * np.inf
        return self.dir(
            infinity, rank, subjects, templates=templates, mates=mates, rank_unit=rank_unit
        )

    def dir(
        self,
        threshold: Any,
        rank: Any,
        subjects: int,
        *,
        templates: int = 1,
        mates: int | None = None,
        rank_unit: str = "template",
    ) -> np.ndarray:
        """Return DIR, shaped as `threshold` and then `rank`; other arguments as for :meth:`cms`."""
        from scipy.integrate import quad_vec
        from scipy.special import log_ndtr
        from scipy.stats import binom

        require_choice("rank_unit", rank_unit, ("template", "subject"))
        other_subjects = require_integer("subjects", subjects, low=1) - 1
        group = require_integer("templates", templates, low=1)
        best_of = require_integer("mates", mates, low=1) if mates is not None else group
        candidates, within = (
            (other_subjects * group, 1) if rank_unit == "template" else (other_subjects, group)
        )
        ranks = np.asarray(rank)
        if ranks.dtype.kind not in "iu" or (ranks < 1).any():
            raise DataError(f"rank is {received(rank)}; expected integers >= 1")

        def of_best_mate(z: float) -> np.ndarray:
            # z is the best mate's place among its mates' distances, in standard deviations.
            log_density = -z * z / 2 - np.log(2 * np.pi) / 2 + (best_of - 1) * log_ndtr(-z)
            closer = _any_within(self.genuine_sd * z - self.shift, within)
            return best_of * np.exp(log_density) * binom.cdf(ranks - 1, candidates, closer)

        # Beyond 12 standard deviations no density is left (1e-32).
        z = (self._distance(threshold) + self.shift) / self.genuine_sd
        out = np.full(z.shape + ranks.shape, np.nan)
        for place, end in np.ndenumerate(np.clip(z, -12.0, 12.0)):
            if not np.isnan(end):
                out[place] = quad_vec(of_best_mate, -12.0, end, epsabs=1e-12, epsrel=1e-12)[0]
        return np.clip(out, 0.0, 1.0)

    def open_set_far(self, threshold: Any, subjects: int, templates: int = 1) -> np.ndarray:
        """Return open-set FAR at each threshold: how often any template is within it.

        `subjects` are those of the impostor's gallery: all `N` for probes that are not enrolled,
        ``N - 1`` where the probe's own subject is left out; each has `templates`.
        """
        group = require_integer("templates", templates, low=1)
        count = require_integer("subjects", subjects, low=0) * group
        return _any_within(self._distance(threshold), count)

    def _distance(self, threshold: Any) -> np.ndarray:
        return self._sign * np.asarray(threshold, dtype=np.float64)


def _any_within(z: Any, count: int) -> np.ndarray:
    """Return the probability that any of `count` standard normal numbers is at most `z`."""
    from scipy.special import log_ndtr, ndtr

    z = np.asarray(z, dtype=np.float64)
    if count == 0:
        return np.zeros_like(z)
    if count == 1:
        return ndtr(z)
    return -np.expm1(count * log_ndtr(-z))


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
    >>> from bioeval.scores.simulation.closed_forms import GaussianEmbeddings
    >>> truth = GaussianEmbeddings(dimensions=16, between=1.0, within=0.6)
    >>> round(truth.eer, 4), round(truth.auc, 4)
    (0.0339, 0.9943)
    """

    dimensions: int = 16
    between: float = 1.0
    within: float = 0.6

    def __post_init__(self) -> None:
        """Refuse values that are not a model."""
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
        return self._chi.ppf(_probabilities("far", far)) * self.impostor_scale

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
