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
from bioeval.scores.people import ComparedPeople
from bioeval.stats.independent import Interval
from bioeval.stats.limits import percentile
from bioeval.stats.options import BOOTSTRAP, IntervalMethod, trials_of
from bioeval.stats.people import QuadraticForms, linear_forms, ratio


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
    low, high = percentile(values, options.confidence, independent_trials(n))
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
    every = int((left | right).sum())
    return ComparedPeople.of_sides(int(left.sum()), int(right.sum()), every).disjoint
