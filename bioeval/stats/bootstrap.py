"""Intervals by subject: the bootstrap, and in closed form.

A replicate draws the subjects with replacement, as many as the data have; the weight ``w_a`` of
subject ``a`` is the number of times it was drawn. A genuine attempt of ``a`` counts ``w_a`` times,
an impostor attempt between ``a`` and ``b`` counts ``w_a w_b`` times, and comparisons between copies
of the same subject are left out: the number of impostor attempts of a replicate is a quadratic form
of its weights. Weights and counts are integers and their sums stay far below 2^53, so that every
replicate is exact, whatever the order of summation, the number of threads or the platform.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import scipy

from bioeval.base.arguments import require_numbers
from bioeval.base.errors import DataError, require_choice
from bioeval.base.random import RandomState, Stream
from bioeval.kernels.bootstrap import sort_by_layer, weigh_pairs, weigh_shares
from bioeval.scores.provenance import disjoint_pairs
from bioeval.stats.binomial import zero_error_bound
from bioeval.stats.few_errors import FewErrors, Placed, few_along, without_contradiction
from bioeval.stats.limits import Limits, by_subject, normal_limits
from bioeval.stats.options import BOOTSTRAPS, Interval, IntervalOptions, check_confidence
from bioeval.tallies.by_subject import PairCounts, listed_tables

if TYPE_CHECKING:
    from bioeval.stats.limits import SimultaneousBand

# Columns of weights that are weighed at once, at most.
_TILE = 256

# The columns of a tile are a multiple of what fits into an instruction.
_LANES = 32

# With fewer than one nonzero cell in this many, a sparse product is faster than a dense one.
_SPARSE = 24

# Largest number of groups of subjects that are left out in turn, for BCa.
_GROUPS = 1000

# Values of a temporary array.
_ROOM = 1 << 22


def subject_weights(subjects: int, replicates: int, seed: np.random.SeedSequence) -> np.ndarray:
    """Return the number of times each subject is drawn, float32 of shape (subjects, replicates).

    Each column sums to the number of subjects. The same seed gives the same weights on every
    platform.
    """
    stream = Stream(seed, 0)
    out = np.empty((subjects, replicates), dtype=np.float32)
    step = max(1, _ROOM // max(subjects, 1))
    for low in range(0, replicates, step):
        number = min(step, replicates - low)
        drawn = stream.integers(0, subjects - 1, number * subjects)
        drawn += np.repeat(np.arange(number, dtype=np.int64) * subjects, subjects)
        counts = np.bincount(drawn, minlength=number * subjects)
        out[:, low : low + number] = counts.reshape(number, subjects).T
    return out


def weight_columns(
    subjects: int, options: IntervalOptions, no_person: np.ndarray | None = None
) -> np.ndarray:
    """Return weights as float32 of shape (subjects, columns).

    The first column is the data themselves, the only one unless the method resamples. The
    replicates follow, and for BCa the data without each subject, or without each of a thousand
    groups of subjects where there are more. What is of no person, such as all distractors, is not
    resampled: its weight is 1.
    """
    if no_person is not None and no_person.any():
        drawn = weight_columns(int(np.count_nonzero(~no_person)), options)
        weights = np.ones((subjects, drawn.shape[1]), dtype=np.float32)
        weights[~no_person] = drawn
        return weights
    parts = [np.ones((subjects, 1), dtype=np.float32)]
    if subjects > 1 and options.resamples:
        parts.append(subject_weights(subjects, options.replicates, options.seed))
        if options.method.endswith("bca"):
            group = np.arange(subjects) * min(subjects, _GROUPS) // subjects
            left_out = group[:, None] == np.arange(min(subjects, _GROUPS))
            parts.append(1 - left_out.astype(np.float32))
    return np.concatenate(parts, axis=1)


class QuadraticForms:
    """Sums of ``w_a w_b`` over the attempts between ``a`` and ``b``, for each column of weights.

    `weights` are whole numbers, float32 of shape (subjects, columns). `totals`, float64 of shape
    (layers, columns), has separate counts, such as those between consecutive thresholds.
    """

    def __init__(self, weights: np.ndarray, layers: int):
        self.weights, self.layers = weights, layers
        self._largest = int(weights.max(initial=1))
        dtype = np.uint8 if self._largest <= np.iinfo(np.uint8).max else np.uint32
        self._tiles = _tiled(weights.astype(dtype))
        self._clear()

    def _clear(self) -> None:
        tiles, _, width = self._tiles.shape
        self._totals = np.zeros((tiles, self.layers, width))
        self._sums = np.zeros((tiles, width), dtype=np.uint16)

    @property
    def totals(self) -> np.ndarray:
        """The sums of each layer and column."""
        whole = np.moveaxis(self._totals, 0, 1).reshape(self.layers, -1)
        return whole[:, : self.weights.shape[1]]

    def fresh(self) -> QuadraticForms:
        """Return the same forms before anything is added."""
        forms = copy(self)
        forms._clear()
        return forms

    def counts(self) -> np.ndarray:
        """Return the totals, whole numbers."""
        return self.totals.astype(np.int64)

    def include_counts(self, found: np.ndarray) -> None:
        """Add totals of other attempts."""
        self._totals += _tiled(found)

    def add(self, pairs: PairCounts) -> None:
        """Add attempts, each between two subjects."""
        entries = pairs.right, pairs.layer, pairs.count
        by_layer = tuple(map(np.empty_like, entries))
        sort_by_layer(pairs.left, pairs.starts, self.layers, entries, by_layer)
        weigh_pairs(
            pairs.left, pairs.starts, by_layer, self._tiles, self._largest, self._totals, self._sums
        )

    def add_shares(
        self, pairs: tuple[np.ndarray, np.ndarray], layer: np.ndarray, share: np.ndarray
    ) -> None:
        """Add shares of attempts, each between the two subjects of its pair."""
        left = np.ascontiguousarray(pairs[0], dtype=np.int64)
        right = np.ascontiguousarray(pairs[1], dtype=np.int64)
        at = np.ascontiguousarray(layer, dtype=np.int64)
        share = np.asarray(share, dtype=np.float64)
        weigh_shares(left, right, at, share, self._tiles, self._totals)


def _tiled(columns: np.ndarray) -> np.ndarray:
    """Return an array of shape (rows, columns) as tiles of columns, the last padded with 0."""
    rows, number = columns.shape
    tiles = max(1, -(-number // _TILE))
    width = -(-number // (tiles * _LANES)) * _LANES
    whole = np.zeros((rows, tiles * width), dtype=columns.dtype)
    whole[:, :number] = columns
    return np.ascontiguousarray(np.moveaxis(whole.reshape(rows, tiles, width), 1, 0))


def linear_forms(counts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return ``sum_a counts[t, a] w_a`` for every column of weights, shape (layers, columns).

    `counts` has the shape (layers, subjects), `weights` (subjects, columns).
    """
    out = np.empty((len(counts), weights.shape[1]))
    whole = counts.astype(np.float64)
    # Sums of whole numbers are exact in any order.
    if np.count_nonzero(whole) * _SPARSE < whole.size and (whole == np.floor(whole)).all():
        whole = scipy.sparse.csr_array(whole)
    step = max(1, _ROOM // max(len(weights), 1))
    for low in range(0, weights.shape[1], step):
        part = slice(low, low + step)
        out[:, part] = whole @ weights[:, part].astype(np.float64)
    return out


def ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return ``part / whole``, NaN where `whole` is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)


def mansfield_wayman(
    errors: Any, attempts: Any, confidence: float = IntervalOptions.CONFIDENCE
) -> Interval:
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
    if total:
        rate = float(x.sum()) / total
    else:
        rate = np.nan
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
    values: np.ndarray, options: IntervalOptions, trials: int | np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper confidence limits of bootstrapped values, shape (..., columns).

    The columns are those of :func:`bioeval.stats.bootstrap.weight_columns`; a replicate without an
    attempt of a class is NaN and is left out. Limits are NaN without replicates, or where the
    estimate is undefined. Of rates over independent `trials`, a rate of exactly 0 or 1 has a bound.
    """
    estimate = values[..., 0]
    if trials is not None:
        limits = confidence_limits(values, options)
        return open_limits(estimate, *limits, trials, options.confidence)
    drawn = values[..., 1 : 1 + options.replicates]
    if not drawn.shape[-1]:
        return np.full(estimate.shape, np.nan), np.full(estimate.shape, np.nan)
    tail = (1 - options.confidence) / 2
    if options.method.endswith("logit"):
        low, high = _logit(estimate, drawn, tail)
    elif options.method.endswith("bca"):
        low, high = _bca(estimate, drawn, values[..., 1 + options.replicates :], tail)
    else:
        low = quantiles(drawn, np.full(estimate.shape, tail))
        high = quantiles(drawn, np.full(estimate.shape, 1 - tail))
    undefined = np.isnan(estimate)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def quantiles(drawn: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Return a quantile over the last axis, at a level for each row; linear, without NaN."""
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

    def limit(z: float) -> np.ndarray:
        moved = bias + z
        level = scipy.special.ndtr(bias + moved / np.maximum(1 - speed * moved, 1e-3))
        return quantiles(drawn, level)

    z = scipy.special.ndtri(tail)
    return limit(z), limit(-z)


def open_limits(
    estimate: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    trials: int | np.ndarray,
    confidence: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Replace the limits of a rate of exactly 0 or 1 by a one-sided bound.

    Resampling data without errors yields no errors, and the interval [0, 0] would claim certainty.
    The data show only that none of `trials` independent trials (subjects, or disjoint pairs of
    subjects) was an error. Without a trial the limits are NaN.
    """
    bound = zero_error_bound(trials, confidence)
    # Under expected ties a rate is a sum of fractions, and may differ from 1 by rounding.
    none, all_ = estimate <= ROUNDING, estimate >= 1 - ROUNDING
    low = np.where(none, 0.0, np.where(all_, 1 - bound, low))
    high = np.where(none, bound, np.where(all_, 1.0, high))
    return np.where(trials, low, np.nan), np.where(trials, high, np.nan)


BootstrapVariant = Literal["percentile", "bca", "logit"]
VARIANTS: tuple[BootstrapVariant, ...] = get_args(BootstrapVariant)


def subject_bootstrap(
    errors: Any,
    attempts: Any,
    *,
    confidence: float = IntervalOptions.CONFIDENCE,
    replicates: int = IntervalOptions.REPLICATES,
    variant: BootstrapVariant = "percentile",
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
    low, high = confidence_limits(values, options, independent_trials(n))
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
    if subjects > 1:
        return subjects
    return 0


# Values of a temporary array.
ROOM = 1 << 22


class SubjectMeans:
    """The attempts of each subject; their sums give the means in each replicate.

    Each attempt was counted as often as it has `copies`, both directions of a symmetric matrix.
    """

    def __init__(
        self,
        attempts: np.ndarray,
        weights: np.ndarray,
        options: IntervalOptions,
        no_person: np.ndarray | bool = False,
        copies: int = 1,
    ):
        """Sum the attempts in each replicate."""
        self.attempts, self.copies = attempts, copies  # of each subject
        self.weights, self.options = weights, options  # weights of weight_columns
        self.total = linear_forms(attempts[None], weights)[0]  # weighted, of each column
        with_attempts = (attempts > 0) & ~np.asarray(no_person)
        self.trials = sample_of(int(with_attempts.sum()))

    def values(self, sums: np.ndarray) -> np.ndarray:
        """Return the means in each column, shape (k, columns), from sums by subject."""
        return _within_one(ratio(linear_forms(sums, self.weights), self.total))

    def limits(
        self,
        layers: np.ndarray,
        *,
        cumulative: bool = True,
        over: np.ndarray | None = None,
        seen: Callable[[np.ndarray], object] | None = None,
    ) -> Limits:
        """Return the confidence limits of means of values between 0 and 1.

        `layers`, of shape (k, subjects), are sums over the attempts of each subject; each mean is
        of all layers up to its own, unless not `cumulative`, and is divided by its entry of `over`.
        `seen` is called with the means in each column, in parts of some rows.
        """
        if over is None:
            over = np.ones(len(layers))
        if not self.options.resamples:
            sums = (np.cumsum(layers, axis=0) if cumulative else layers) / over[:, None]
            total = self.attempts.sum()
            if total:
                mean = sums.sum(axis=1) / total
            else:
                mean = np.full(len(layers), np.nan)
            both = normal_limits(mean, np.sqrt(ratio_variances(sums, self.attempts)), self.options)
            return open_limits(mean, *both, self.trials, self.options.confidence)
        step = max(1, ROOM // self.weights.shape[1])
        before = np.zeros(self.weights.shape[1])
        lows, highs = [], []
        for low in range(0, len(layers), step):
            sums = linear_forms(layers[low : low + step], self.weights)
            if cumulative:
                sums = before + np.cumsum(sums, 0)
                before = sums[-1]
            sums = sums / over[low : low + step, None]
            values = _within_one(ratio(sums, self.total))
            if seen is not None:
                seen(values)
            below, above = self.drawn_limits(values)
            lows.append(below)
            highs.append(above)
        return np.concatenate(lows), np.concatenate(highs)

    def drawn_limits(self, values: np.ndarray) -> Limits:
        """Return the confidence limits of values between 0 and 1 in each column."""
        return confidence_limits(values, self.options, self.trials)

    def limits_along(
        self, hits: Placed, at: np.ndarray, band: SimultaneousBand | None = None
    ) -> Limits:
        """Return limits of the proportion of hits up to increasing places, added to a `band`."""
        layers = by_subject(hits.place, hits.person, at, len(self.attempts), hits.weight)[:-1]
        limits = self.limits(layers, seen=None if band is None else band.add)
        return self.without_contradiction(hits, at, limits)

    def few(self, hits: Placed) -> tuple[FewErrors, FewErrors]:
        """Return where few subjects have hits, and where few have anything else, along the hits."""
        return few_along(hits, self.attempts, self.trials, self.copies)

    def without_contradiction(
        self, hits: Placed, at: np.ndarray, limits: Limits, *, missed: bool = False
    ) -> Limits:
        """Return the limits at some places so that none contradicts another along the whole curve.

        The bootstrap where five subjects err first is part of the curve, whatever the places are.
        The limits are of the proportion of hits up to each place, or `missed`.
        """
        few = self.few(hits)
        ends = np.array([few[0].place, np.nextafter(-few[1].place, -np.inf)])
        ends = np.unique(ends[np.isfinite(ends)])
        beside = (np.empty(0), np.empty(0))
        if len(ends):
            layers = by_subject(hits.place, hits.person, ends, len(self.attempts), hits.weight)
            beside = self.limits(layers[:-1])
        order = np.argsort(hits.place, kind="stable")
        taken = np.append(0.0, np.cumsum(hits.weight[order]))
        places = np.searchsorted(hits.place[order], np.append(at, ends), side="right")
        rate = _within_one(ratio(taken[places], np.array(self.attempts.sum(), dtype=np.float64)))
        rate = np.concatenate([rate, [few[0].most, 1 - few[1].most]])
        if missed:
            rate, beside, few = 1 - rate, (1 - beside[1], 1 - beside[0]), few[::-1]
        unknown = np.full(2, np.nan)  # there few err
        low = np.concatenate([limits[0], beside[0], unknown])
        high = np.concatenate([limits[1], beside[1], unknown])
        low, high = without_contradiction(rate, (low, high), few, self.options.confidence)
        return low[: len(at)], high[: len(at)]

    def limits_at_ranks(
        self,
        person: np.ndarray,
        rank: np.ndarray,
        weight: np.ndarray,
        count: int,
        *,
        per_rank: bool = False,
        band: SimultaneousBand | None = None,
    ) -> Limits:
        """Return the limits of the proportion of attempts at ranks up to 1 ... `count`.

        The arrays are of each match: its subject, its rank, and its weight or probability. With
        `per_rank` each proportion is divided by its rank. The proportions are added to a `band`.
        """
        # Bounds memory; the ranks before are one layer.
        step = max(1, ROOM // max(len(self.attempts), 1))
        lows, highs = [], []
        for first in range(0, count, step):
            last = min(first + step, count)
            layers = by_subject(
                np.maximum(rank - first, 0).astype(np.float64),
                person,
                np.arange(0.0, last - first + 1),
                len(self.attempts),
                weight,
            )[:-1]
            over = None
            if per_rank:
                over = np.maximum(np.arange(first, last + 1.0), 1.0)
            parts: list[np.ndarray] = []
            seen = None
            if band is not None:
                seen = parts.append
            low, high = self.limits(layers, over=over, seen=seen)
            if band is not None:
                band.add(np.concatenate(parts)[1:])
            lows.append(low[1:])
            highs.append(high[1:])
        return np.concatenate(lows), np.concatenate(highs)


def _within_one(values: np.ndarray) -> np.ndarray:
    """Return means clipped at 1: fractional weights of expected ties may exceed it by rounding."""
    values = np.minimum(values, 1.0)
    return np.where(np.abs(values - 1) < 1e-12, 1.0, values)
