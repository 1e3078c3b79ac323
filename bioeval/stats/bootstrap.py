"""Intervals by subject, of counts by subject or by pair: the bootstrap, and in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from bioeval.base.arguments import require_numbers
from bioeval.base.errors import DataError, require_choice
from bioeval.base.random import RandomState
from bioeval.scores.provenance import disjoint_pairs
from bioeval.stats.binomial import zero_error_bound
from bioeval.stats.options import (
    BOOTSTRAPS,
    CONFIDENCE,
    REPLICATES,
    Interval,
    IntervalOptions,
    check_confidence,
)
from bioeval.stats.resampling import QuadraticForms, linear_forms, ratio, weight_columns
from bioeval.tallies.by_subject import listed_tables


def mansfield_wayman(errors: Any, attempts: Any, confidence: float = CONFIDENCE) -> Interval:
    """Return a rate with the normal interval of its variance by subject.

    Parameters
    ----------
    errors, attempts : array_like of int, shape (n,) or (n, n)
        Errors and attempts of each subject (genuine attempts), or of each ordered pair of
        subjects (impostor attempts, the diagonal left out).
    confidence : float
        Two-sided confidence level.

    Returns
    -------
    Interval
        Clipped to [0, 1]. For a rate of exactly 0 or 1, a one-sided bound by subjects. NaN where
        fewer than two subjects (for pairs, four) have attempts.

    Notes
    -----
    Mansfield and Wayman (2002), Best Practices in Testing and Reporting Performance of Biometric
    Devices 2.01, appendix B: the ratio estimator for genuine attempts; for pairs the variance
    after Bickel, in which attempts are correlated when they share a subject. For equal numbers of
    attempts this is their formula; for unequal ones, errors are replaced by
    ``errors - rate * attempts``. Where that variance is not positive, which happens in small
    samples, the larger estimate is used that counts the covariance of a pair with itself twice.

    Examples
    --------
    >>> from bioeval import stats
    >>> found = stats.mansfield_wayman([0, 1, 0, 2, 0, 1], [4, 4, 4, 4, 4, 4])
    >>> print(f"{found.estimate:.3f} [{found.low:.3f}, {found.high:.3f}]")
    0.167 [0.003, 0.330]
    """
    x, n = checked_counts(errors, attempts)
    confidence = check_confidence(confidence)
    total, trials = float(n.sum()), independent_trials(n)
    rate = float(x.sum()) / total if total else np.nan
    spread = np.sqrt(variance(x, n))
    half = scipy.special.ndtri(0.5 + confidence / 2) * spread
    limits = np.array(max(rate - half, 0.0)), np.array(min(rate + half, 1.0))
    low, high = open_limits(np.array(rate), *limits, trials, confidence)
    return Interval(rate, float(low), float(high), confidence, "mansfield-wayman (by subject)")


def variance(errors: np.ndarray, attempts: np.ndarray) -> float:
    """Return the variance of ``errors.sum() / attempts.sum()``; NaN for too few subjects."""
    total = float(attempts.sum())
    if not total:
        return float("nan")
    away = errors - attempts * (float(errors.sum()) / total)
    if errors.ndim == 1:
        return float(ratio_variances(errors[None], attempts)[0])
    n = int((attempts.any(axis=0) | attempts.any(axis=1)).sum())
    if n < 4:
        return float("nan")
    shared = float(((away.sum(axis=0) + away.sum(axis=1)) ** 2).sum())
    itself = float((away * (away + away.T)).sum())
    scale = n * (n - 1) / ((n - 2) * (n - 3)) / total**2
    return max(shared - itself, 0.0) * scale or shared / total**2


def ratio_variances(errors: np.ndarray, attempts: np.ndarray) -> np.ndarray:
    """Return the variances of several rates over the same attempts.

    Parameters
    ----------
    errors : array, shape (k, subjects)
    attempts : array, shape (subjects,)

    Returns
    -------
    float64 array, shape (k,)
        NaN for fewer than two subjects with attempts.
    """
    total, n = float(attempts.sum()), int((attempts > 0).sum())
    if n < 2:
        return np.full(len(errors), np.nan)
    away = errors - attempts * (errors.sum(axis=1) / total)[:, None]
    return n / (n - 1) * (away**2).sum(axis=1) / total**2


# Far below one error in any countable number of attempts.
ROUNDING = 1e-12


def confidence_limits(
    values: np.ndarray, options: IntervalOptions
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper confidence limits of bootstrapped values, shape (..., columns).

    The columns are those of :func:`bioeval.stats.resampling.weight_columns`; a replicate without an
    attempt of a class is NaN and is left out. Limits are NaN without replicates, or where the
    estimate is undefined.
    """
    estimate = values[..., 0]
    drawn = values[..., 1 : 1 + options.replicates]
    if not drawn.shape[-1]:
        return np.full(estimate.shape, np.nan), np.full(estimate.shape, np.nan)
    tail = (1 - options.confidence) / 2
    if options.method.endswith("logit"):
        low, high = _logit(estimate, drawn, tail)
    elif options.method.endswith("bca"):
        low, high = _bca(estimate, drawn, values[..., 1 + options.replicates :], tail)
    else:
        low, high = (
            quantiles(drawn, np.full(estimate.shape, tail)),
            quantiles(drawn, np.full(estimate.shape, 1 - tail)),
        )
    undefined = np.isnan(estimate)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def rate_limits(
    values: np.ndarray, trials: int, options: IntervalOptions
) -> tuple[np.ndarray, np.ndarray]:
    """Return the confidence limits of bootstrapped rates; bounds of rates of exactly 0 or 1."""
    limits = confidence_limits(values, options)
    return open_limits(values[..., 0], *limits, trials, options.confidence)


def quantiles(drawn: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Return a quantile over the last axis, at a level for each row, ignoring NaN.

    Linear between order statistics, as numpy does by default.
    """
    ordered = np.sort(drawn, axis=-1)  # NaN last
    number = (~np.isnan(ordered)).sum(axis=-1)
    place = np.clip(level, 0, 1) * np.maximum(number - 1, 0)
    place = np.where(np.isnan(place), 0.0, place)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(number - 1, 0))
    first = np.take_along_axis(ordered, below[..., None], axis=-1)[..., 0]
    second = np.take_along_axis(ordered, above[..., None], axis=-1)[..., 0]
    return np.where(np.isnan(level), np.nan, first + (place - below) * (second - first))


def _logit(estimate: np.ndarray, drawn: np.ndarray, tail: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a normal interval on the logit scale, with the replicates' standard error."""
    there = ~np.isnan(drawn)
    number = np.maximum(there.sum(axis=-1), 1)
    mean = np.where(there, drawn, 0.0).sum(axis=-1) / number
    spread = np.where(there, (drawn - mean[..., None]) ** 2, 0.0).sum(axis=-1) / number
    return logit_limits(estimate, -scipy.special.ndtri(tail) * np.sqrt(spread))


def logit_limits(estimate: np.ndarray, half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an interval on the logit scale; `half` is half its width on the scale of rates."""
    inside = (estimate > 0) & (estimate < 1)
    p = np.where(inside, estimate, 0.5)
    half = half / (p * (1 - p))
    middle = scipy.special.logit(p)
    low, high = scipy.special.expit(middle - half), scipy.special.expit(middle + half)
    return np.where(inside, low, estimate), np.where(inside, high, estimate)


def _bca(
    estimate: np.ndarray, drawn: np.ndarray, without: np.ndarray, tail: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bias-corrected and accelerated interval of Efron (1987)."""
    at = estimate[..., None]
    number = np.maximum((~np.isnan(drawn)).sum(axis=-1), 1)
    below = ((drawn < at).sum(axis=-1) + 0.5 * (drawn == at).sum(axis=-1)) / number
    bias = scipy.special.ndtri(np.clip(below, 1 / (number + 1), number / (number + 1)))
    there = ~np.isnan(without)
    mean = np.where(there, without, 0.0).sum(axis=-1) / np.maximum(there.sum(axis=-1), 1)
    away = np.where(there, mean[..., None] - without, 0.0)
    squares = (away**2).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        speed = np.where(squares > 0, (away**3).sum(axis=-1) / (6 * squares**1.5), 0.0)
    levels = []
    for z in (scipy.special.ndtri(tail), -scipy.special.ndtri(tail)):
        moved = bias + z
        levels.append(scipy.special.ndtr(bias + moved / np.maximum(1 - speed * moved, 1e-3)))
    return quantiles(drawn, levels[0]), quantiles(drawn, levels[1])


def open_limits(
    estimate: np.ndarray, low: np.ndarray, high: np.ndarray, trials: int, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Replace the limits of a rate of exactly 0 or 1 by a one-sided bound.

    Resampling data without errors yields no errors, and the interval [0, 0] would claim certainty.
    The data show only that none of `trials` independent trials (subjects, or disjoint pairs of
    subjects) was an error. Without a trial the limits are NaN.
    """
    if not trials:
        return np.full(np.shape(estimate), np.nan), np.full(np.shape(estimate), np.nan)
    bound = float(zero_error_bound(trials, confidence))
    # Under expected ties a rate is a sum of fractions, and may differ from 1 by rounding.
    none, all_ = estimate <= ROUNDING, estimate >= 1 - ROUNDING
    low = np.where(none, 0.0, np.where(all_, 1 - bound, low))
    high = np.where(none, bound, np.where(all_, 1.0, high))
    return low, high


VARIANTS = ("percentile", "bca", "logit")


def subject_bootstrap(
    errors: Any,
    attempts: Any,
    *,
    confidence: float = CONFIDENCE,
    replicates: int = REPLICATES,
    variant: str = "percentile",
    random_state: RandomState = 0,
) -> Interval:
    """Return a rate with its interval by the subject bootstrap.

    Parameters
    ----------
    errors, attempts : array_like of int, shape (n,) or (n, n)
        Errors and attempts of each subject (genuine attempts: an attempt of subject ``a`` has
        the weight ``w_a``), or of each ordered pair of subjects (impostor attempts: an attempt
        between ``a`` and ``b`` has the weight ``w_a w_b``). The diagonal of a square is ignored:
        no subject is an impostor to itself.
    confidence : float
        Two-sided confidence level.
    replicates : int
        Number of replicates, at least 100.
    variant : {"percentile", "bca", "logit"}
        Percentiles of the replicates; the same, bias-corrected and accelerated (Efron 1987);
        or a normal interval on the logit scale with the replicates' standard error.
    random_state : int, None, numpy SeedSequence, Generator or RandomState
        The same integer gives the same interval on every platform.

    Returns
    -------
    Interval
        With ``replicates``, the rate in each replicate (NaN for a replicate without attempts).
        Where the rate is exactly 0 (or 1), one limit is the rate itself and the other a one-sided
        bound: for ``n`` subjects, or ``n`` disjoint pairs of subjects,
        ``1 - (1 - confidence) ** (1 / n)``. NaN for fewer than two subjects.

    Raises
    ------
    DataError
        If a count is negative, or errors exceed attempts.

    Notes
    -----
    Bolle, Ratha and Pankanti (2004), "Error analysis of pattern recognition systems: the subsets
    bootstrap", Computer Vision and Image Understanding 93; both subjects of an impostor attempt
    are resampled. See ``docs/uncertainty.md``.

    Examples
    --------
    >>> import numpy as np
    >>> from bioeval import stats
    >>> errors = np.zeros((40, 40), dtype=int)
    >>> errors[3, 5] = errors[5, 3] = errors[8, 20] = errors[3, 7] = 2
    >>> attempts = np.full((40, 40), 4)
    >>> found = stats.subject_bootstrap(errors, attempts)
    >>> print(f"{found.estimate:.5f} [{found.low:.5f}, {found.high:.5f}]")
    0.00128 [0.00000, 0.00491]
    """
    require_choice("variant", variant, VARIANTS)
    method = BOOTSTRAPS[VARIANTS.index(variant)]
    options = IntervalOptions.parse(method, confidence, replicates, random_state)
    assert options is not None
    x, n = checked_counts(errors, attempts)
    people = (n > 0) if n.ndim == 1 else n.any(axis=0) | n.any(axis=1)
    who = np.nonzero(people)[0]
    weights = weight_columns(len(who), options)
    both = np.stack([counts[np.ix_(*[who] * n.ndim)] for counts in (x, n)])
    if n.ndim == 1:
        counted = linear_forms(both, weights)
    else:
        forms = QuadraticForms(weights, 2)
        for pairs in listed_tables(both):
            forms.add(pairs)
        counted = forms.totals
    values = ratio(counted[0], counted[1])
    low, high = rate_limits(values, independent_trials(n), options)
    drawn = values[1 : 1 + options.replicates]
    return Interval(
        float(values[0]), float(low), float(high), options.confidence, options.method, drawn
    )


def checked_counts(errors: Any, attempts: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return errors and attempts as int64, by subject or by pair, with a diagonal of 0."""
    given = {"errors": errors, "attempts": attempts}
    for name, counts in given.items():
        require_numbers(name, counts)
    x, n = np.array(errors), np.array(attempts)
    square = n.ndim == 2 and n.shape[0] == n.shape[1]
    if x.shape != n.shape or not (n.ndim == 1 or square):
        raise DataError(
            f"errors has shape {x.shape} and attempts {n.shape}; expected both (n,), a value for "
            "each subject, or both (n, n), a value for each pair of subjects"
        )
    for name, counts in (("errors", x), ("attempts", n)):
        if counts.dtype.kind not in "biu" and not (counts == np.floor(counts)).all():
            raise DataError(f"{name} has dtype {counts.dtype}; expected whole numbers")
    x, n = x.astype(np.int64), n.astype(np.int64)
    if square:
        np.fill_diagonal(x, 0)
        np.fill_diagonal(n, 0)
    if not ((x >= 0) & (x <= n)).all():
        raise DataError("errors and attempts; expected counts with 0 <= errors <= attempts")
    return x, n


def independent_trials(attempts: np.ndarray) -> int:
    """Return the number of subjects with attempts, or the most disjoint pairs of them."""
    if attempts.ndim == 1:
        return sample_of(int((attempts > 0).sum()))
    left, right = attempts.any(axis=1), attempts.any(axis=0)
    return disjoint_pairs(int(left.sum()), int(right.sum()), int((left | right).sum()))


def sample_of(subjects: int) -> int:
    """Return the sample size in subjects: 0 for one subject, since one cannot be resampled."""
    return subjects if subjects > 1 else 0
