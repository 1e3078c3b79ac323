"""Arithmetic on points of a ROC; ``AttemptsOfParts`` finds the points.

A point is (threshold, false accepts, false rejects). The first point rejects all; then there is a
point for each distinct score, from strict to loose. Everything is in internal distances. The
definitions are in ``docs/definitions.md``, "Operating points".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

# Up to this number, all whole numbers are float64.
MOST_EXACT = 2**53

# Points of ROCs that are computed together: few enough for the caches.
POINTS_TOGETHER = 1 << 16


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
        numbers = {name: float(x[part]) for name, x in self.values().items()}
        return EqualError(**numbers, ends=(float(self.ends[0][part]), float(self.ends[1][part])))


class Points(NamedTuple):
    """A point of the ROC of each part, arrays (parts,)."""

    threshold: np.ndarray
    fa: np.ndarray  # false accepts
    fr: np.ndarray  # false rejects


@dataclass(frozen=True, eq=False)
class Corners:
    """Reject-all and the points of a ROC at genuine scores, from strict to loose, part by part.

    Only these points can have the least cost.
    """

    threshold: np.ndarray  # float64 (p,): increasing; NaN or -inf for the point that rejects all
    #: (p,): false accepts and false rejects: integers, or expected numbers under expected ties.
    fa: np.ndarray
    fr: np.ndarray
    genuine: Any  # attempts of each class: a number, or (p,)
    impostor: Any
    below: np.ndarray  # int64 (p,): impostor scores below each threshold
    starts: np.ndarray  # int64 (parts + 1,): where parts begin, and the end

    @cached_property
    def crossed(self) -> np.ndarray:
        """Whether FAR >= FRR, (p,)."""
        return crossed(self.fa, self.fr, self.genuine, self.impostor)

    def repeated(self, of_parts: np.ndarray) -> np.ndarray:
        return repeated(of_parts, self.starts)


def repeated(of_parts: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return an array (parts,) with an entry for each point; unchanged if there is one part."""
    return of_parts if len(of_parts) == 1 else np.repeat(of_parts, np.diff(starts))


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
    before: Points, after: Points, genuine: Any, impostor: Any, found: Any = True
) -> EqualError:
    """Return the EER between neighbouring points, where FAR and FRR cross in each part.

    It is NaN where it is not `found`. Between point 0 (`before`), with F0 = FAR and R0 = FRR, and
    point 1 (`after`), the value is ``EER = F0 + lambda (F1 - F0)`` with ``lambda = (R0 - F0) /
    ((F1 - F0) - (R1 - R0))``.

    - The threshold is the point with the smaller ``max(FAR, FRR)``, the stricter one in a tie.
    - The bracket is FAR and FRR at the point with the smaller FAR + FRR, as in the Fingerprint
      Verification Competition (Maio et al. 2002, FVC2000, *IEEE TPAMI* 24).
    """
    f0 = before.fa / impostor
    r0 = before.fr / genuine
    f1 = after.fa / impostor
    r1 = after.fr / genuine
    weight = (r0 - f0) / np.where(found, (f1 - f0) - (r1 - r0), 1.0)
    # Compare as whole numbers over a common denominator, so that ties are exact.
    genuine, impostor = without_overflow(genuine, impostor)
    a0 = before.fa * genuine
    b0 = before.fr * impostor
    a1 = after.fa * genuine
    b1 = after.fr * impostor
    strict_is_better = np.maximum(a0, b0) <= np.maximum(a1, b1)
    # The loosest point with FRR >= FAR is point 1 where the two are equal there.
    loose_is_closer = (a1 == b1) | (a1 + b1 <= a0 + b0)
    bracket = np.where(loose_is_closer, f1, f0), np.where(loose_is_closer, r1, r0)
    eer, threshold, far, frr, low, high, last, first = np.where(
        found,
        [
            f0 + weight * (f1 - f0),
            np.where(strict_is_better, before.threshold, after.threshold),
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
    first_loose = is_strict.argmin(axis=1)  # the first point that is not strict, if there is any
    start = row_start + np.maximum(first_loose - 1, 0)
    end = row_start + first_loose
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
        is_strict_end = is_strict.take(lowest)
        start = np.where(is_below & is_strict_end, lowest, start)
        end = np.where(is_below & ~is_strict_end, lowest, end)
    gap0 = y0 - x0
    gap1 = y1 - x1
    share = gap0 / np.where(meets & (gap0 > gap1), gap0 - gap1, 1.0)
    return np.where(meets, x0 + share * (x1 - x0), np.nan)
