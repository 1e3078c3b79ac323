"""Arithmetic on points of a ROC; the points themselves are those of ``Attempts``.

A point is (threshold, false accepts, false rejects). The first one rejects all; then there is
one for each distinct score, from strict to loose. Everything is in internal distances. The
definitions are in ``docs/definitions.md``, "Operating points".
"""

from __future__ import annotations

import functools
import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.arguments import rate_in, require_numbers
from bioeval.base.errors import DataError, received
from bioeval.base.messages import warn_user
from bioeval.kernels.hull import lower_hull

# The FAR targets that results report by default.
FAR_TARGETS = (0.1, 0.01, 0.001, 0.0001)

# FAR targets that verification under protocol="auto" also reports, where there are attempts enough
# to expect 30 false accepts.
RARE_TARGETS = (1e-5, 1e-6)


#: What labels the costs of decisions, which are scalars by prior.
COSTS = ("cost_prior", "cost_miss", "cost_false_accept")


def check_targets(targets: Any, name: str = "far_targets") -> np.ndarray:
    """Return FAR or FRR targets, or raise :class:`DataError` unless all are in [0, 1].

    A target may be a text: ``"1%"``.
    """
    listed = [targets] if isinstance(targets, str) else targets
    try:
        if isinstance(listed, list | tuple):
            listed = [rate_in(x) if isinstance(x, str) else x for x in listed]
        array = np.atleast_1d(require_numbers(name, listed))
    except (DataError, ValueError):
        array = np.array([np.nan])
    if array.ndim != 1 or not ((array >= 0) & (array <= 1)).all():
        raise DataError(
            f"`{name}` is {received(targets)}; expected rates in [0, 1], as 0.01 or '1%'"
        )
    if (array > 0.5).any():
        written = [targets] if isinstance(targets, str) else np.atleast_1d(targets).tolist()
        plain = [x for x, text in zip(array, written, strict=True) if "%" not in str(text)]
        warn_of_per_cent(plain, name.partition("_")[0])
    return array


def meant_in_per_cent(rate: float, name: str, above: float = 0.5) -> str:
    """Return a warning of a FAR or FRR that may be meant in per cent, as one half; else "".

    Examples
    --------
    >>> meant_in_per_cent(1.0, "far")
    'FAR 1 is 100 %; for 1 % write 1% or 0.01'
    """
    if not above < rate <= 1:
        return ""
    wrong = f"{name.upper()} {rate:g} is {per_cent(rate)}"
    return f"{wrong}; for {rate:g} % write {rate:g}% or {rate / 100:g}"


def warn_of_per_cent(rates: Iterable[float], name: str) -> None:
    """Issue a warning at the user's line for each rate that may be meant in per cent."""
    for rate in rates:
        if warning := meant_in_per_cent(rate, name):
            warn_user(warning)


def check_priors(priors: Any) -> np.ndarray:
    """Return priors as an array, or raise :class:`DataError` unless all are between 0 and 1."""
    array = require_numbers(
        "priors",
        priors,
        "probabilities of a genuine attempt above 0 and below 1",
        lambda array: ((array > 0) & (array < 1)).all(),
    )
    if len(np.unique(array)) < len(array):
        raise DataError(f"`priors` is {received(priors)}; expected each prior once")
    return array


def with_rare_targets(targets: np.ndarray, attempts: float) -> np.ndarray:
    """Return FAR targets with the rare ones that the impostor attempts support."""
    rare = [x for x in RARE_TARGETS if attempts >= 30 / x and x not in targets]
    return np.append(targets, rare)


def per_cent(rate: float) -> str:
    """Return a round rate in per cent: 0.001 is ``0.1 %``."""
    return f"{100 * rate:.6g} %"


def check_costs(costs: Any) -> np.ndarray:
    """Return costs as an array of rows (p, c_miss, c_fa), or raise :class:`DataError`."""
    array = np.atleast_2d(require_numbers("costs", costs))
    array = array if array.size else np.empty((0, 3))
    good = array.ndim == 2 and array.shape[1] == 3
    good = good and np.isfinite(array).all() and (array >= 0).all() and (array[:, 0] <= 1).all()
    if not good:
        raise DataError(
            f"`costs` is {received(costs)}; expected rows of (prior, c_miss, "
            "c_fa), the prior proportion of genuine attempts in [0, 1] and costs of at least 0"
        )
    return array


@dataclass
class EqualError:
    """The equal error rate, its threshold and its bracket; NaN where undefined."""

    eer: float = np.nan
    eer_threshold: float = np.nan
    far_at_eer: float = np.nan
    frr_at_eer: float = np.nan
    eer_bracket_low: float = np.nan
    eer_bracket_high: float = np.nan
    #: Where FAR and FRR cross if among equal scores genuine attempts come last, and first.
    ends: tuple[float, float] = (np.nan, np.nan)

    def values(self) -> dict[str, Any]:
        """Return the numbers of a result by name."""
        values = {**vars(self)}
        del values["ends"]
        return values


@dataclass(frozen=True)
class ErrorCurve:
    """Consecutive points of a ROC, from strict to loose."""

    threshold: np.ndarray  # float64 (p,): increasing; NaN or -inf for the point that rejects all
    #: (p,): false accepts and false rejects: integers, or expected counts under expected ties.
    fa: np.ndarray
    fr: np.ndarray
    #: Attempts of each class.
    genuine: int
    impostor: int

    @property
    def fars(self) -> np.ndarray:
        """The FAR of all points."""
        return self.fa / self.impostor

    @property
    def frrs(self) -> np.ndarray:
        """The FRR of all points."""
        return self.fr / self.genuine

    def corners(self) -> np.ndarray:
        """Return the places of the corners of the lower-left convex hull."""
        chosen = np.empty(len(self.fa), dtype=np.int64)
        number = lower_hull(self.fa.astype(np.float64), self.fr.astype(np.float64), chosen)
        return chosen[:number]

    def equal_error(self) -> EqualError:
        """Return the EER where FAR and FRR cross between two neighbouring points."""
        attempts = self.genuine, self.impostor
        first = bisect_left(
            range(len(self.fa)),
            True,
            key=lambda i: crossed(self.fa[i].item(), self.fr[i].item(), *attempts),
        )
        if first == 0 or first == len(self.fa):
            return EqualError()
        every = self.threshold, self.fa, self.fr
        zero, one = ([x[i].item() for x in every] for i in (first - 1, first))
        return equal_error_between(zero, one, *attempts)


def crossed(fa: float, fr: float, genuine: int, impostor: int) -> bool:
    """Whether FAR >= FRR, without rounding where the errors are whole numbers of Python."""
    return fa * genuine >= fr * impostor


def equal_error_between(
    zero: Sequence[float], one: Sequence[float], genuine: int, impostor: int
) -> EqualError:
    """Return the EER between neighbouring points (threshold, false accepts, false rejects).

    FAR and FRR cross between them. The value is interpolated; the threshold is the attainable
    neighbour with the smaller ``max(FAR, FRR)``, the stricter one in a tie; the bracket is that of
    the Fingerprint Verification Competition (Maio et al. 2002): the neighbour with the smaller
    FAR + FRR.
    """
    f0, r0, f1, r1 = zero[1] / impostor, zero[2] / genuine, one[1] / impostor, one[2] / genuine
    weight = (r0 - f0) / ((f1 - f0) - (r1 - r0))
    # Compare as integers over a common denominator, so that ties are exact.
    a0, b0, a1, b1 = zero[1] * genuine, zero[2] * impostor, one[1] * genuine, one[2] * impostor
    strict = max(a0, b0) <= max(a1, b1)
    # The loosest point with FRR >= FAR is point 1 where the two are equal there.
    side = (f1, r1) if a1 == b1 or a1 + b1 <= a0 + b0 else (f0, r0)
    return EqualError(
        eer=f0 + weight * (f1 - f0),
        eer_threshold=zero[0] if strict else one[0],
        far_at_eer=f0 if strict else f1,
        frr_at_eer=r0 if strict else r1,
        eer_bracket_low=min(side),
        eer_bracket_high=max(side),
        ends=(min(r0, f1), max(f0, r1)),
    )


def allowed_errors(target: float, attempts: int) -> int:
    """Return the largest number of errors among some attempts whose rate is at most `target`."""
    c = int(min(max(target, 0.0), 1.0) * attempts)
    while c < attempts and (c + 1) / attempts <= target:
        c += 1
    while c > 0 and c / attempts > target:
        c -= 1
    return c


# Points of ROCs that are looked at together: few enough for the caches.
POINTS_TOGETHER = 1 << 16


def hull_equal_errors(far: np.ndarray, frr: np.ndarray) -> np.ndarray:
    """Return where the hulls of ROCs meet the line FAR = FRR; NaN where one does not.

    FAR and FRR, (ROCs, points), are from reject-all, (0, 1), to loose. The last point accepts most:
    it is (1, 0) unless some attempts failed.
    """
    rates = np.empty(len(far))
    step = max(1, POINTS_TOGETHER // far.shape[1])
    for low in range(0, len(far), step):
        some = slice(low, low + step)
        rates[some] = _hull_equal_errors(far[some], frr[some])
    return rates


def _hull_equal_errors(far: np.ndarray, frr: np.ndarray) -> np.ndarray:
    """Find the edge of each hull that crosses the line, from the points on both sides of it.

    While a point is below the edge, the lowest one takes the place of the end on its side.
    """
    is_strict = far < frr
    end = np.argmin(is_strict, axis=1)  # the first of the other points, if there is one
    rates = np.full(len(far), np.nan)
    roc = np.flatnonzero(~is_strict[np.arange(len(far)), end])
    end = end[roc]
    start = end - 1
    while len(roc):
        x, y, row = far[roc], frr[roc], np.arange(len(roc))
        x0, y0, x1, y1 = x[row, start], y[row, start], x[row, end], y[row, end]
        gap0, gap1 = y0 - x0, y1 - x1
        rates[roc] = x0 + gap0 / (gap0 - gap1) * (x1 - x0)
        cost = (y0 - y1)[:, None] * x + (x1 - x0)[:, None] * y
        lowest = np.argmin(cost, axis=1)
        is_below = cost[row, lowest] < cost[row, start] * (1 - 1e-14)  # by more than rounding
        roc, start, end, lowest = (every[is_below] for every in (roc, start, end, lowest))
        strict = is_strict[roc, lowest]
        start, end = np.where(strict, lowest, start), np.where(strict, end, lowest)
    return rates


# Points of nearly the same cost that are compared without rounding.
EXACT_COSTS = 1000


@functools.lru_cache(256)
def costs_of_attempts(
    costs: tuple[float, ...], genuine: int, impostor: int
) -> tuple[Fraction, Fraction]:
    """Return the costs of one false accept and of one false reject.

    `costs` are (p, c_miss, c_fa); `genuine` and `impostor` the attempts of each class, not 0.
    """
    prior, miss, accept = map(Fraction, costs)
    return (1 - prior) * accept / int(impostor), prior * miss / int(genuine)


def total_cost(fa: Any, fr: Any, per_accept: Fraction, per_reject: Fraction) -> Any:
    """Return the cost of false accepts and false rejects, rounded."""
    return float(per_accept) * np.asarray(fa) + float(per_reject) * np.asarray(fr)


def cheapest(fa: np.ndarray, fr: np.ndarray, per_accept: Fraction, per_reject: Fraction) -> int:
    """Return the first point of least cost; near ties are compared without rounding."""
    cost = total_cost(fa, fr, per_accept, per_reject)
    near = np.flatnonzero(cost <= cost.min() * (1 + 1e-12))
    if not 1 < len(near) <= EXACT_COSTS:
        return int(np.argmin(cost))
    exact = [per_accept * int(fa[i]) + per_reject * int(fr[i]) for i in near]
    return int(near[exact.index(min(exact))])


def trivial_cost(prior: Any, miss: Any, accept: Any) -> Any:
    """Return the cost of the better trivial decision, to reject all attempts or to accept all.

    A cost divided by it is normalised: a system as good as the prior alone has 1.
    """
    return np.minimum(prior * miss, (1 - prior) * accept)


def normalised_cost(least: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Return costs (..., costs) over the trivial cost of each row (p, c_miss, c_fa) of `costs`.

    NaN where a trivial decision costs nothing.
    """
    trivial = trivial_cost(*np.transpose(costs))
    return np.where(trivial > 0, least / np.where(trivial > 0, trivial, 1), np.nan)


def min_costs(curve: ErrorCurve, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the least costs ``p c_miss FRR + (1 - p) c_fa FAR``, and their strictest points.

    The rows of `costs` are (p, c_miss, c_fa), p the proportion of genuine attempts expected in use.
    """
    fa, fr, attempts = curve.fa, curve.fr, (curve.genuine, curve.impostor)
    best = np.empty(len(costs), dtype=np.int64)
    least = np.empty(len(costs))
    for i, (p, miss, accept) in enumerate(costs.tolist()):  # perhaps fractions
        of_frr, of_far = p * miss, (1 - p) * accept
        cost = float(of_far / attempts[1]) * fa + float(of_frr / attempts[0]) * fr
        near = np.flatnonzero(cost <= cost.min() * (1 + 1e-12))
        best[i] = near[0]
        if len(near) > 1:
            best[i] = cheapest(fa, fr, *costs_of_attempts((p, miss, accept), *attempts))
        frr, far = float(fr[best[i]]) / attempts[0], float(fa[best[i]]) / attempts[1]
        least[i] = of_frr * frr + of_far * far
    return least, best


class Moments(NamedTuple):
    """Mean and standard deviation of the finite scores of a class; NaN without scores.

    The mean is ``origin + offset``, the two kept apart: where scores differ by less than the
    spacing of floats around them can hold of a mean, their sum would lose the digits that the
    difference of two means needs.
    """

    scale: float = 1.0  # a power of two that the scores were multiplied by; the others are scaled
    origin: float = np.nan  # one of the scores
    offset: float = np.nan  # their mean, less the origin
    deviation: float = np.nan  # their standard deviation (``ddof = 0``)


def moment_scale(low: float, high: float) -> float:
    """Return a power of two that scales differences in a range to about 1 at most."""
    spread = math.frexp(high / 2 - low / 2)[1] + 1
    # Scores apart by more than their own rounding: none overflows, however narrow the range.
    largest = math.frexp(max(abs(low), abs(high)))[1]
    return 2.0 ** -max(spread, largest - 60, -1000)


def moments_of(scores: np.ndarray, weights: np.ndarray | None = None) -> Moments:
    """Return the moments of some finite scores, in increasing order, each as often as weighted."""
    if not len(scores):
        return Moments()
    scale = moment_scale(float(scores[0]), float(scores[-1]))
    scaled = scores * scale
    shifted = scaled - scaled[0]
    weights = np.ones(len(scores)) if weights is None else weights.astype(np.float64)
    number = weights.sum()
    mean = float((weights * shifted).sum() / number)
    spread = float((weights * (shifted - mean) ** 2).sum() / number)
    return Moments(scale, float(scaled[0]), mean, math.sqrt(spread))


def d_prime(genuine: Moments, impostor: Moments) -> float:
    """Return ``|mean_i - mean_g| / sqrt((var_g + var_i) / 2)``; NaN where both variances are 0.

    The difference of the means is that of the origins and that of the offsets, each of which is
    exact, or nearly, where scores are close together.
    """
    # The scale of the wider class: no score is too large in it, and the narrower may vanish.
    scale = min(genuine.scale, impostor.scale)
    g, i = scale / genuine.scale, scale / impostor.scale
    spread = math.hypot(genuine.deviation * g, impostor.deviation * i)
    if not spread > 0:
        return float("nan")
    origins = impostor.origin * i - genuine.origin * g
    offsets = impostor.offset * i - genuine.offset * g
    return abs(origins + offsets) / spread * math.sqrt(2)
