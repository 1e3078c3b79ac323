"""Arithmetic on points of a ROC; ``AttemptsOfParts`` finds the points.

A point is (threshold, false accepts, false rejects). The first point rejects all; then there is a
point for each distinct score, from strict to loose. Everything is in internal distances. The
definitions are in ``docs/definitions.md``, "Operating points".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.arguments import rate_in, require_numbers
from bioeval.base.errors import DataError, received
from bioeval.base.messages import warn_user
from bioeval.kernels.hull import lower_hull

# The FAR targets that results report by default.
FAR_TARGETS = (0.1, 0.01, 0.001, 0.0001)

# FAR targets that verification under protocol="auto" also reports, if there are so many attempts
# that 30 false accepts are expected.
RARE_TARGETS = (1e-5, 1e-6)


#: Names that label the costs of decisions, which are scalars by prior.
COST_LABELS = ("cost_prior", "cost_miss", "cost_false_accept")


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
    """Return a warning if a FAR or FRR may be meant in per cent, such as 0.5; otherwise "".

    Examples
    --------
    >>> meant_in_per_cent(1.0, "far")
    'FAR 1 is 100 %; for 1 % write 1% or 0.01'
    """
    if not above < rate <= 1:
        return ""
    received_rate = f"{name.upper()} {rate:g} is {per_cent(rate)}"
    return f"{received_rate}; for {rate:g} % write {rate:g}% or {rate / 100:g}"


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


def is_supported(target: Any, attempts: Any) -> Any:
    """Return whether impostor attempts (a number or an array) are enough for a FAR target."""
    return attempts >= 30 / target


def with_rare_targets(targets: np.ndarray, attempts: float) -> np.ndarray:
    """Return FAR targets, and the rare targets that the impostor attempts support."""
    rare = [x for x in RARE_TARGETS if is_supported(x, attempts) and x not in targets]
    return np.append(targets, rare)


def per_cent(rate: float) -> str:
    """Return a round rate in per cent: 0.001 is ``0.1 %``."""
    return f"{100 * rate:.6g} %"


def check_costs(costs: Any) -> np.ndarray:
    """Return costs as an array of rows (p, c_miss, c_fa), or raise :class:`DataError`."""
    array = np.atleast_2d(require_numbers("costs", costs))
    array = array if array.size else np.empty((0, 3))
    is_valid = array.ndim == 2 and array.shape[1] == 3
    is_valid = (
        is_valid and np.isfinite(array).all() and (array >= 0).all() and (array[:, 0] <= 1).all()
    )
    if not is_valid:
        raise DataError(
            f"`costs` is {received(costs)}; expected rows of (prior, c_miss, "
            "c_fa), the prior proportion of genuine attempts in [0, 1] and costs of at least 0"
        )
    return array


@dataclass
class EqualError:
    """The equal error rate, its threshold and its bracket: numbers, or arrays (parts,).

    They are NaN where they are undefined.
    """

    eer: Any = np.nan
    eer_threshold: Any = np.nan
    far_at_eer: Any = np.nan
    frr_at_eer: Any = np.nan
    eer_bracket_low: Any = np.nan
    eer_bracket_high: Any = np.nan
    #: EER if genuine attempts come last among equal scores, and if they come first.
    ends: tuple[Any, Any] = (np.nan, np.nan)

    def values(self) -> dict[str, Any]:
        """Return the numbers of a result by name."""
        values = {**vars(self)}
        del values["ends"]
        return values

    def of_part(self, part: int) -> EqualError:
        """Return the numbers of one part."""
        numbers = {name: float(x[part]) for name, x in self.values().items()}
        return EqualError(**numbers, ends=(float(self.ends[0][part]), float(self.ends[1][part])))


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """Consecutive points of a ROC, from strict to loose."""

    threshold: np.ndarray  # float64 (p,): increasing; NaN or -inf for the point that rejects all
    #: (p,): false accepts and false rejects: integers, or expected numbers under expected ties.
    fa: np.ndarray
    fr: np.ndarray
    genuine: Any  # attempts of each class: a number, or (p,)
    impostor: Any

    @property
    def fars(self) -> np.ndarray:
        """The FAR of all points."""
        return self.fa / self.impostor

    @property
    def frrs(self) -> np.ndarray:
        """The FRR of all points."""
        return self.fr / self.genuine

    @cached_property
    def crossed(self) -> np.ndarray:
        """Whether FAR >= FRR, (p,)."""
        return crossed(self.fa, self.fr, self.genuine, self.impostor)

    def corners(self) -> np.ndarray:
        """Return the indices of the points on the lower-left convex hull of one ROC."""
        indices = np.empty(len(self.fa), dtype=np.int64)
        number = lower_hull(self.fa.astype(np.float64), self.fr.astype(np.float64), indices)
        return indices[:number]

    def equal_error(self) -> EqualError:
        """Return the EER where FAR and FRR cross between two neighbouring points of a ROC."""
        first = int(np.count_nonzero(~self.crossed))
        if first == 0 or first == len(self.fa):
            return EqualError()
        points = (self.threshold, self.fa, self.fr)
        strict, loose = ([x[i : i + 1] for x in points] for i in (first - 1, first))
        return equal_error_between(strict, loose, self.genuine, self.impostor).of_part(0)


@dataclass(frozen=True, eq=False)
class Corners(ErrorCurve):
    """Reject-all and the points at genuine scores, part by part.

    Only these points can have the least cost.
    """

    below: np.ndarray  # int64 (p,): impostor scores below each threshold
    starts: np.ndarray  # int64 (parts + 1,): where parts begin, and the end

    def repeated(self, of_parts: np.ndarray) -> np.ndarray:
        """Return numbers of parts, (parts,), repeated for each point; unchanged if of one part."""
        return of_parts if len(of_parts) == 1 else np.repeat(of_parts, np.diff(self.starts))


#: Up to this number, all whole numbers are float64.
MOST_EXACT = 2**53


def crossed(fa: np.ndarray, fr: np.ndarray, genuine: Any, impostor: Any) -> np.ndarray:
    """Return whether FAR >= FRR at points, exactly if the errors are whole numbers."""
    left = np.multiply(fa, genuine, dtype=np.float64)
    right = np.multiply(fr, impostor, dtype=np.float64)
    is_crossed = left >= right
    if right.max(initial=0) > MOST_EXACT:
        unsure = np.nonzero(np.abs(left - right) <= 1e-12 * right)
        numbers = np.broadcast_arrays(fa, fr, genuine, impostor)
        fa, fr, genuine, impostor = (x[unsure].astype(object) for x in numbers)
        is_crossed[unsure] = fa * genuine >= fr * impostor
    return is_crossed


def without_overflow(genuine: Any, impostor: Any) -> tuple[Any, Any]:
    """Return numbers of attempts by which errors may be multiplied: Python integers, if need be."""
    if np.multiply(genuine, impostor, dtype=np.float64).max() < MOST_EXACT:
        return genuine, impostor
    return np.asarray(genuine).astype(object), np.asarray(impostor).astype(object)


def equal_error_between(
    before: Sequence[np.ndarray],
    after: Sequence[np.ndarray],
    genuine: Any,
    impostor: Any,
    found: Any = True,
) -> EqualError:
    """Return the EER between neighbouring points (threshold, false accepts, false rejects).

    FAR and FRR cross between the two points of each part; NaN where not `found`. Between point 0,
    with F0 = FAR and R0 = FRR, and point 1, the value is ``EER = F0 + lambda (F1 - F0)`` with
    ``lambda = (R0 - F0) / ((F1 - F0) - (R1 - R0))``. The threshold is the attainable neighbour with
    the smaller ``max(FAR, FRR)``, the stricter one in a tie; the bracket is defined as by the
    Fingerprint Verification Competition (Maio et al. 2002, FVC2000, *IEEE TPAMI* 24): the neighbour
    with the smaller FAR + FRR.
    """
    f0 = before[1] / impostor
    r0 = before[2] / genuine
    f1 = after[1] / impostor
    r1 = after[2] / genuine
    weight = (r0 - f0) / np.where(found, (f1 - f0) - (r1 - r0), 1.0)
    # Compare as whole numbers over a common denominator, so that ties are exact.
    genuine, impostor = without_overflow(genuine, impostor)
    a0 = before[1] * genuine
    b0 = before[2] * impostor
    a1 = after[1] * genuine
    b1 = after[2] * impostor
    strict_is_better = np.maximum(a0, b0) <= np.maximum(a1, b1)
    # The loosest point with FRR >= FAR is point 1 where the two are equal there.
    loose_is_closer = (a1 == b1) | (a1 + b1 <= a0 + b0)
    bracket = np.where(loose_is_closer, f1, f0), np.where(loose_is_closer, r1, r0)
    eer, threshold, far, frr, low, high, last, first = np.where(
        found,
        [
            f0 + weight * (f1 - f0),
            np.where(strict_is_better, before[0], after[0]),
            np.where(strict_is_better, f0, f1),
            np.where(strict_is_better, r0, r1),
            np.minimum(*bracket),
            np.maximum(*bracket),
            np.minimum(r0, f1),
            np.maximum(f0, r1),
        ],
        np.nan,
    )
    return EqualError(eer, threshold, far, frr, low, high, (last, first))


def allowed_errors(target: Any, attempts: Any) -> np.ndarray:
    """Return the largest number of errors whose rate is at most a target in [0, 1].

    The number of attempts must not be 0. Rounding of the product is corrected by one error.
    """
    errors = np.asarray(target * attempts).astype(np.int64)
    errors += (errors + 1) / attempts <= target
    errors -= errors / attempts > target
    return errors


# Points of ROCs that are computed together: few enough for the caches.
POINTS_TOGETHER = 1 << 16


def hull_equal_errors(far: np.ndarray, frr: np.ndarray) -> np.ndarray:
    """Return the rates where the hulls of ROCs meet the line FAR = FRR; NaN if they do not.

    The EER on the lower-left convex hull ("ROCCH"): Provost and Fawcett (2001), *Machine Learning*
    42; Brümmer and de Villiers (2013), arXiv:1304.2865.

    FAR and FRR are (ROCs, points), the first point being reject-all, (0, 1). The last point accepts
    most attempts: it is (1, 0) unless some attempts failed.
    """
    rates = np.empty(len(far))
    step = max(1, POINTS_TOGETHER // far.shape[1])
    for low in range(0, len(far), step):
        rows = slice(low, low + step)
        rates[rows] = _hull_equal_errors(far[rows], frr[rows])
    return rates


def _hull_equal_errors(far: np.ndarray, frr: np.ndarray) -> np.ndarray:
    """Find the edge of each hull that crosses the line, from a point on each side of the line.

    While a point is below the edge, the lowest point replaces the end on its side.
    """
    # Indices are into the points of all rows, row after row.
    is_strict = far < frr
    row_start = np.arange(0, far.size, far.shape[1])
    first = is_strict.argmin(axis=1)  # the first point that is not strict, if there is any
    start = row_start + np.maximum(first - 1, 0)
    end = row_start + first
    meets = ~is_strict.take(end)
    while True:
        x0 = far.take(start)
        y0 = frr.take(start)
        x1 = far.take(end)
        y1 = frr.take(end)
        cost = (y0 - y1)[:, None] * far + (x1 - x0)[:, None] * frr
        lowest = row_start + cost.argmin(axis=1)
        is_below = cost.take(lowest) < cost.take(start) * (1 - 1e-14)  # lower by more than rounding
        is_below &= meets
        if not is_below.any():
            break
        on_side = is_strict.take(lowest)
        start = np.where(is_below & on_side, lowest, start)
        end = np.where(is_below & ~on_side, lowest, end)
    gap0 = y0 - x0
    gap1 = y1 - x1
    share = gap0 / np.where(meets & (gap0 > gap1), gap0 - gap1, 1.0)
    return np.where(meets, x0 + share * (x1 - x0), np.nan)


# The largest number of points of nearly the same cost that are compared without rounding.
EXACT_COSTS = 1000


@lru_cache(256)
def costs_of_rates(prior: Any, miss: Any, accept: Any) -> tuple[int, int]:
    """Return the costs of FAR and of FRR, in a common unit in which they are whole numbers."""
    of_far = (1 - Fraction(prior)) * Fraction(accept)
    of_frr = Fraction(prior) * Fraction(miss)
    return of_far.numerator * of_frr.denominator, of_frr.numerator * of_far.denominator


def weights_of_errors(
    costs: Sequence[Any], genuine: np.ndarray, impostor: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the costs of a false accept and of a false reject in each part, as Python integers.

    The unit may differ between parts. `costs` are (p, c_miss, c_fa), perhaps fractions; `genuine`
    and `impostor` (parts,) are the numbers of attempts, which must not be 0.
    """
    of_far, of_frr = costs_of_rates(*costs)
    return of_far * genuine.astype(object), of_frr * impostor.astype(object)


def rounded_weights(accept: np.ndarray, reject: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the costs of errors (parts,) as proportions of the larger cost, float64."""
    larger = np.maximum(np.maximum(accept, reject), 1)
    return (accept / larger).astype(np.float64), (reject / larger).astype(np.float64)


def cheapest(curve: Corners, accept: np.ndarray, reject: np.ndarray) -> np.ndarray:
    """Return the first point of least cost in each part, (parts,).

    `accept` and `reject` are the costs of a false accept and of a false reject. Costs that are
    nearly equal are compared without rounding.
    """
    of_fa, of_fr = map(curve.repeated, rounded_weights(accept, reject))
    cost = of_fa * curve.fa + of_fr * curve.fr
    least = np.minimum.reduceat(cost, curve.starts[:-1])
    near_least = np.flatnonzero(cost <= curve.repeated(least * (1 + 1e-12)))
    bounds = near_least.searchsorted(curve.starts)
    best = near_least[bounds[:-1]]
    for part in np.flatnonzero(bounds[1:] - bounds[:-1] > 1).tolist():
        candidates = near_least[bounds[part] : bounds[part + 1]]
        if len(candidates) > EXACT_COSTS:
            best[part] = candidates[cost[candidates].argmin()]
            continue
        errors = zip(curve.fa[candidates].tolist(), curve.fr[candidates].tolist(), strict=True)
        exact = [accept[part] * fa + reject[part] * fr for fa, fr in errors]
        best[part] = candidates[exact.index(min(exact))]
    return best


def trivial_cost(prior: Any, miss: Any, accept: Any) -> Any:
    """Return the cost of the better trivial decision, to reject all attempts or to accept all.

    A cost divided by it is normalised: a system as good as the prior alone has 1.
    """
    return np.minimum(prior * miss, (1 - prior) * accept)


def normalised_cost(least: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Return least costs (..., costs), divided by the trivial cost of each row of `costs`.

    They are NaN where a trivial decision costs nothing.
    """
    trivial = trivial_cost(*np.transpose(costs))
    return np.where(trivial > 0, least / np.where(trivial > 0, trivial, 1), np.nan)


def least_costs(
    curve: Corners, costs: np.ndarray, genuine: np.ndarray, impostor: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least costs of each part, (parts, costs), and their strictest points.

    A cost is ``p c_miss FRR + (1 - p) c_fa FAR``; the rows of `costs` are (p, c_miss, c_fa), where
    p is the proportion of genuine attempts expected in use. The attempts (parts,) must not be 0.
    """
    best = np.empty((len(genuine), len(costs)), dtype=np.int64)
    least = np.empty(best.shape)
    for k, (prior, miss, accept) in enumerate(costs.tolist()):  # perhaps fractions
        best[:, k] = cheapest(curve, *weights_of_errors((prior, miss, accept), genuine, impostor))
        frr, far = curve.fr[best[:, k]] / genuine, curve.fa[best[:, k]] / impostor
        least[:, k] = float(prior * miss) * frr + float((1 - prior) * accept) * far
    return least, best


class Moments(NamedTuple):
    """Mean and standard deviation of the finite scores of a class; NaN without scores.

    The mean is ``origin + offset``. The two are kept apart, since their sum loses digits if scores
    are far from 0 and close together.
    """

    scale: float = 1.0  # a power of two by which the scores, and the other fields, are multiplied
    origin: float = np.nan  # one of the scores
    offset: float = np.nan  # the mean of the scores, less the origin
    deviation: float = np.nan  # the standard deviation of the scores (``ddof = 0``)


def moment_scale(low: float, high: float) -> float:
    """Return a power of two by which differences in a range become about 1 at most."""
    spread = math.frexp(high / 2 - low / 2)[1] + 1
    # As if the range were wider than the rounding of its ends: no scaled score overflows.
    largest = math.frexp(max(abs(low), abs(high)))[1]
    return 2.0 ** -max(spread, largest - 60, -1000)


def moments_of(scores: np.ndarray) -> Moments:
    """Return the moments of some finite scores, in increasing order."""
    if not len(scores):
        return Moments()
    scale = moment_scale(float(scores[0]), float(scores[-1]))
    scaled = scores * scale
    origin = float(scaled[0])
    scaled -= origin
    mean = float(scaled.sum() / len(scaled))
    scaled -= mean
    spread = np.square(scaled, out=scaled).sum() / len(scaled)
    return Moments(scale, origin, mean, math.sqrt(spread))


def d_prime(genuine: Moments, impostor: Moments) -> float:
    """Return ``|mean_i - mean_g| / sqrt((var_g + var_i) / 2)``; NaN where both variances are 0.

    The variances are over the number of scores (``ddof = 0``): Green and Swets (1966), Signal
    detection theory and psychophysics; Daugman (2000), Technical Report 482, Cambridge.

    The difference of the means is the difference of the origins plus the difference of the offsets,
    which are exact, or nearly so, if scores are close together.
    """
    # In the scale of the wider class no score overflows; scores of the other may underflow.
    scale = min(genuine.scale, impostor.scale)
    genuine_scale = scale / genuine.scale
    impostor_scale = scale / impostor.scale
    spread = math.hypot(genuine.deviation * genuine_scale, impostor.deviation * impostor_scale)
    if not spread > 0:
        return float("nan")
    origins = impostor.origin * impostor_scale - genuine.origin * genuine_scale
    offsets = impostor.offset * impostor_scale - genuine.offset * genuine_scale
    return abs(origins + offsets) / spread * math.sqrt(2)
