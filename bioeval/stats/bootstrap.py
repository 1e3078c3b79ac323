"""The subject bootstrap of one rate, from counts by subject or by pair of subjects."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.errors import DataError, require_choice
from bioeval.base.random import RandomState
from bioeval.stats.bootstrap_limits import ends, never_closed
from bioeval.stats.interval import Interval
from bioeval.stats.options import BOOTSTRAPS, CONFIDENCE, REPLICATES, Asked
from bioeval.stats.resampling import QuadraticForms, linear_forms, ratio, weight_columns

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
    """Return a rate with an interval by resampling subjects.

    Parameters
    ----------
    errors, attempts : array_like of int, shape (n,) or (n, n)
        Errors and attempts of each subject (genuine attempts: one of subject ``a`` weighs
        ``w_a``), or of each ordered pair of subjects (impostor attempts: one between ``a`` and
        ``b`` weighs ``w_a w_b``). The diagonal of a square is left out: no subject is compared
        with its own copy.
    confidence : float
        Of both sides together.
    replicates : int
        At least 100.
    variant : {"percentile", "bca", "logit"}
        The percentiles of the replicates; the same, bias-corrected and accelerated (Efron 1987);
        or a normal interval on the logit scale with the replicates' standard error.
    random_state : int, None, numpy SeedSequence or numpy Generator
        The same integer gives the same interval on every platform.

    Returns
    -------
    Interval
        With ``replicates``, the rate in each of them (NaN where it has no attempt). Where the
        rate is exactly 0 (or 1), the ends are 0 and a one-sided bound by subjects: for ``n``
        subjects, or ``n`` pairs of whom nobody is in two, ``1 - (1 - confidence) ** (1 / n)``.
        NaN of fewer than two subjects.

    Raises
    ------
    DataError
        If counts are negative, or there are more errors than attempts.

    Notes
    -----
    Bolle, Ratha and Pankanti (2004), "Error analysis of pattern recognition systems: the subsets
    bootstrap", Computer Vision and Image Understanding 93; both persons of an impostor attempt
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
    asked = Asked.of(BOOTSTRAPS[VARIANTS.index(variant)], confidence, replicates, random_state)
    assert asked is not None
    x, n = checked_counts(errors, attempts)
    people = (n > 0) if n.ndim == 1 else n.any(axis=0) | n.any(axis=1)
    who = np.nonzero(people)[0]
    weights = weight_columns(len(who), asked)
    both = np.stack([counts[np.ix_(*[who] * n.ndim)] for counts in (x, n)])
    if n.ndim == 1:
        counted = linear_forms(both, weights)
    else:
        forms, everyone = QuadraticForms(weights, 2), np.arange(len(who))
        forms.add(both, everyone, everyone)
        counted = forms.totals
    values = ratio(counted[0], counted[1])
    low, high = never_closed(values[0], *ends(values, asked), independent_trials(n), confidence)
    drawn = values[1 : 1 + asked.replicates]
    return Interval(
        float(values[0]), float(low), float(high), asked.confidence, asked.method, drawn
    )


def checked_counts(errors: Any, attempts: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return errors and attempts as int64, of subjects or of pairs, the diagonal set to 0."""
    x, n = np.array(errors), np.array(attempts)
    square = n.ndim == 2 and n.shape[0] == n.shape[1]
    if x.shape != n.shape or not (n.ndim == 1 or square):
        raise DataError(
            f"errors has shape {x.shape} and attempts {n.shape}; expected both (n,), one a "
            "subject, or both (n, n), one a pair of subjects"
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
    """Return how many subjects have attempts, or how many pairs share nobody at most."""
    if attempts.ndim == 1:
        return sample_of(int((attempts > 0).sum()))
    left, right = attempts.any(axis=1), attempts.any(axis=0)
    return disjoint_pairs(int(left.sum()), int(right.sum()), int((left | right).sum()))


def sample_of(subjects: int) -> int:
    """Return the number of subjects, 0 for a single one: one person is no sample of people."""
    return subjects if subjects > 1 else 0


def disjoint_pairs(left: int, right: int, people: int) -> int:
    """Return how many pairs of whom nobody is in two can be made, at most.

    Such pairs are independent trials, whatever else there is between the same people.
    """
    return min(left, right, people // 2)
