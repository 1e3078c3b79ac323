"""Intervals by subject: the bootstrap.

A replicate draws the subjects with replacement, as many as the data have; the weight ``w_a`` of
subject ``a`` is the number of times it was drawn. A genuine attempt of ``a`` counts ``w_a`` times,
an impostor attempt between ``a`` and ``b`` counts ``w_a w_b`` times, and comparisons between copies
of the same subject are left out: the number of impostor attempts of a replicate is a quadratic form
of its weights. Weights and counts are integers and their sums stay far below 2^53, so that every
replicate is exact, whatever the order of summation, the number of threads or the platform.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.arguments import require_numbers
from bioeval.base.errors import DataError
from bioeval.base.random import RandomState
from bioeval.counting.by_subject import listed_tables
from bioeval.scores.provenance import disjoint_pairs
from bioeval.stats.few_errors import FewErrors, Placed, few_along, without_contradiction
from bioeval.stats.independent import Interval
from bioeval.stats.limits import Limits, groups_of, jackknife_limits, open_limits
from bioeval.stats.options import BOOTSTRAP, IntervalMethod, trials_of
from bioeval.stats.people import VALUES_AT_ONCE, QuadraticForms, by_subject, linear_forms, ratio


def subject_bootstrap(
    errors: Any,
    attempts: Any,
    *,
    confidence: float = IntervalMethod.CONFIDENCE,
    replicates: int = IntervalMethod.REPLICATES,
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
    options = IntervalMethod(BOOTSTRAP, confidence, replicates, random_state)
    x, n = checked_counts(errors, attempts)
    people = (n > 0) if n.ndim == 1 else n.any(axis=0) | n.any(axis=1)
    who = np.nonzero(people)[0]
    weights = options.weights(len(who))
    both = np.stack([counts[np.ix_(*[who] * n.ndim)] for counts in (x, n)])
    if n.ndim == 1:
        counted = linear_forms(both, weights)
    else:
        forms = QuadraticForms(weights, 2)
        for pairs in listed_tables(both):
            forms.add(pairs)
        counted = forms.totals
    values = ratio(counted[0], counted[1])
    low, high = options.limits(values, independent_trials(n))
    drawn = values[1 : 1 + options.replicates]
    return Interval(
        float(values[0]), float(low), float(high), options.confidence, options.method, drawn
    )


def checked_counts(errors: Any, attempts: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return errors and attempts as int64, by subject or by pair, with a diagonal of 0."""
    named_counts = {"errors": errors, "attempts": attempts}
    for name, counts in named_counts.items():
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
    try:
        x, n = x.astype(np.int64), n.astype(np.int64)
    except OverflowError:  # Python's numbers have any size
        raise DataError("errors and attempts; expected counts that int64 holds") from None
    if square:
        np.fill_diagonal(x, 0)
        np.fill_diagonal(n, 0)
    if not ((x >= 0) & (x <= n)).all():
        raise DataError("errors and attempts; expected counts with 0 <= errors <= attempts")
    return x, n


def independent_trials(attempts: np.ndarray) -> int:
    """Return the number of subjects with attempts, or the most disjoint pairs of them."""
    if attempts.ndim == 1:
        return trials_of(int((attempts > 0).sum()))
    left, right = attempts.any(axis=1), attempts.any(axis=0)
    return disjoint_pairs(int(left.sum()), int(right.sum()), int((left | right).sum()))


class SubjectMeans:
    """The attempts of each subject; their sums give the means in each replicate.

    Each attempt was counted as often as it has `copies`, both directions of a symmetric matrix.
    """

    def __init__(
        self,
        attempts: np.ndarray,
        weights: np.ndarray,
        options: IntervalMethod,
        no_person: np.ndarray | bool = False,
        copies: int = 1,
        *,
        jackknife: bool = False,
    ):
        """Sum the attempts in each replicate.

        With `jackknife` the limits are those of the means without each subject, on the logit scale,
        instead of percentiles of the replicates.
        """
        self.attempts, self.copies = attempts, copies  # of each subject
        self.weights, self.options = weights, options  # of options.weights
        self.total = linear_forms(attempts[None], weights)[0]  # weighted, of each column
        with_attempts = (attempts > 0) & ~np.asarray(no_person)
        self.trials = trials_of(int(with_attempts.sum()))
        self._left_out = np.flatnonzero(with_attempts) if jackknife else None

    def values(self, sums: np.ndarray) -> np.ndarray:
        """Return the means in each column, shape (k, columns), from sums by subject."""
        return _within_one(ratio(linear_forms(sums, self.weights), self.total))

    def limits(
        self,
        layers: np.ndarray,
        *,
        cumulative: bool = True,
        over: np.ndarray | None = None,
    ) -> Limits:
        """Return the confidence limits of means of values between 0 and 1.

        `layers`, of shape (k, subjects), are sums over the attempts of each subject; each mean is
        of all layers up to its own, unless not `cumulative`, and is divided by its entry of `over`.
        """
        if over is None:
            over = np.ones(len(layers))
        if self._left_out is not None:
            return self._jackknifed(layers, self._left_out)
        step = max(1, VALUES_AT_ONCE // self.weights.shape[1])
        before = np.zeros(self.weights.shape[1])
        lows, highs = [], []
        for low in range(0, len(layers), step):
            sums = linear_forms(layers[low : low + step], self.weights)
            if cumulative:
                sums = before + np.cumsum(sums, 0)
                before = sums[-1]
            sums = sums / over[low : low + step, None]
            values = _within_one(ratio(sums, self.total))
            below, above = self.drawn_limits(values)
            lows.append(below)
            highs.append(above)
        return np.concatenate(lows), np.concatenate(highs)

    def _jackknifed(self, layers: np.ndarray, left_out: np.ndarray) -> Limits:
        """Return the limits of the means of all layers up to each, without each subject."""
        people = len(left_out)
        if people < 2:
            undefined = np.full(len(layers), np.nan)
            return undefined, undefined
        first = np.flatnonzero(np.diff(groups_of(people), prepend=-1))
        kept = self.attempts.sum() - np.add.reduceat(self.attempts[left_out], first)
        step = max(1, VALUES_AT_ONCE // max(len(self.attempts), 1))
        before = np.zeros(len(self.attempts))
        parts = []
        for low in range(0, len(layers), step):
            sums = before + np.cumsum(layers[low : low + step], axis=0)
            before = sums[-1]
            total = sums.sum(axis=1)
            without = total[:, None] - np.add.reduceat(sums[:, left_out], first, axis=1)
            rate = _within_one(total / self.attempts.sum())
            without = _within_one(without / kept)
            limits = jackknife_limits(rate, without, self.options.confidence, self.trials)
            parts.append(open_limits(rate, *limits, self.trials, self.options.confidence))
        below, above = zip(*parts, strict=True)
        return np.concatenate(below), np.concatenate(above)

    def drawn_limits(self, values: np.ndarray) -> Limits:
        """Return the confidence limits of values between 0 and 1 in each column."""
        return self.options.limits(values, self.trials)

    def limits_along(self, hits: Placed, at: np.ndarray) -> Limits:
        """Return limits of the proportion of hits up to increasing places."""
        layers = by_subject(hits.place, hits.person, at, len(self.attempts), hits.weight)[:-1]
        return self.without_contradiction(hits, at, self.limits(layers))

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
        at_ends = (np.empty(0), np.empty(0))
        if len(ends):
            layers = by_subject(hits.place, hits.person, ends, len(self.attempts), hits.weight)
            at_ends = self.limits(layers[:-1])
        order = np.argsort(hits.place, kind="stable")
        taken = np.append(0.0, np.cumsum(hits.weight[order]))
        places = np.searchsorted(hits.place[order], np.append(at, ends), side="right")
        rate = _within_one(ratio(taken[places], np.array(self.attempts.sum(), dtype=np.float64)))
        rate = np.concatenate([rate, [few[0].most, 1 - few[1].most]])
        if missed:
            rate, at_ends, few = 1 - rate, (1 - at_ends[1], 1 - at_ends[0]), few[::-1]
        unknown = np.full(2, np.nan)  # there few err
        low = np.concatenate([limits[0], at_ends[0], unknown])
        high = np.concatenate([limits[1], at_ends[1], unknown])
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
        proportion: bool = False,
    ) -> Limits:
        """Return the limits of the proportion of attempts at ranks up to 1 ... `count`.

        The arrays are of each match: its subject, its rank, and its weight or probability. With
        `per_rank` each sum is divided by its rank; those that are a `proportion` of the attempts
        do not contradict each other.
        """
        # Bounds memory; the ranks before are one layer.
        step = max(1, VALUES_AT_ONCE // max(len(self.attempts), 1))
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
            over = np.maximum(np.arange(first, last + 1.0), 1.0) if per_rank else None
            low, high = self.limits(layers, over=over)
            lows.append(low[1:])
            highs.append(high[1:])
        limits = np.concatenate(lows), np.concatenate(highs)
        if not proportion:
            return limits
        hits = Placed.of(person, rank, weight)
        return self.without_contradiction(hits, np.arange(1.0, count + 1), limits)


def _within_one(values: np.ndarray) -> np.ndarray:
    """Return means clipped at 1: fractional weights of expected ties may exceed it by rounding."""
    values = np.minimum(values, 1.0)
    return np.where(np.abs(values - 1) < 1e-12, 1.0, values)
