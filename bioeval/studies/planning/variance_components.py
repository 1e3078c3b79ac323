"""Variance of a subject's error rate: its components, and the subjects that an interval takes."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.special

#: Probability that the interval of a test is as narrow as planned. In simulations, 93 to 97 % of
#: the intervals are: see docs/uncertainty.md.
ASSURANCE = 0.92

#: More subjects than there are people.
MOST_SUBJECTS = 10_000_000_000


@dataclass(frozen=True)
class Components:
    """Variance components of the error of a genuine pair.

    Attributes
    ----------
    rate : float
        Mean error.
    between : float
        Covariance of two errors of a subject that share no template.
    template : float
        What sharing a template adds to this covariance.
    total : float
        Variance of one error: ``rate (1 - rate)`` if each error is 0 or 1.
    """

    rate: float
    between: float
    template: float
    total: float

    def subject_variance(self, templates: Any, pairs: Any) -> Any:
        """Return the variance of a subject's mean over its pairs.

        ``between + 4 template / templates + (total - between - 2 template) / pairs``, where `pairs`
        are all pairs of the subject's templates. For attempts, `template` is 0, and `pairs` is
        their number.
        """
        residual = self.total - self.between - 2 * self.template
        return self.between + 4 * self.template / templates + residual / pairs


def components_of(errors: Iterable[np.ndarray], *, symmetric: bool) -> Components:
    """Return unbiased estimates of the components, cut off at 0.

    Parameters
    ----------
    errors : iterable of float64 arrays
        For each subject the errors of its pairs, templates of one side by templates of the other;
        NaN where two templates are not compared. All products of two errors have the same weight.
    symmetric : bool
        Whether each pair is in the array twice, as (i, j) and as (j, i).
    """
    return _components_of_sums(_Sums(*np.sum([_sums(x, symmetric) for x in errors], axis=0)))


def components_without_each(errors: Sequence[np.ndarray], *, symmetric: bool) -> list[Components]:
    """Return the components without each subject in turn; not cut off at 0.

    Empty with fewer than three subjects, or if the others of some subject have no genuine pair.
    """
    sums = np.array([_sums(table, symmetric) for table in errors])
    sums_of_others = sums.sum(axis=0) - sums
    without_each = [_Sums(*x) for x in sums_of_others]
    if len(sums) < 3 or not all(x.number > 0 for x in without_each):
        return []
    return [_components_of_sums(x, cut_off=False) for x in without_each]


class _Sums(NamedTuple):
    """Sums over the errors of subjects, which add up over subjects."""

    total: float  # of the errors
    squares: float  # of the squares of errors
    number: float  # of errors
    squared_totals: float  # of the squares of each subject's total
    squared_numbers: float  # of the squares of each subject's number
    shared_products: float  # of products of two errors that share a template
    shared_count: float  # number of these products
    separate_products: float  # of products of two errors of a subject that share no template
    separate_count: float  # number of these products


def _sums(table: np.ndarray, symmetric: bool) -> _Sums:
    is_pair = ~np.isnan(table)
    errors = np.where(is_pair, table, 0.0)
    weight = 0.5 if symmetric else 1.0
    total, squares, number = (weight * x.sum() for x in (errors, errors**2, is_pair))
    shared = _sharing(errors, symmetric)
    shared_count = _sharing(is_pair.astype(float), symmetric)
    separate = total**2 - squares - shared
    separate_count = number * (number - 1) - shared_count
    counts = total**2, number**2, shared, shared_count, separate, separate_count
    return _Sums(total, squares, number, *counts)


def _components_of_sums(sums: _Sums, *, cut_off: bool = True) -> Components:
    """Return the components from sums over the errors of subjects.

    With ``m`` the mean product of errors of two different subjects, an estimate of ``rate^2``:

    - total = mean square of an error - m
    - between = mean product of two errors of a subject that share no template - m
    - template = mean product of two errors that share a template - m - between

    If no subject has two errors without a shared template, between is taken from errors that share
    one, and template is 0. If no subject has two errors, both are 0. With `cut_off`, no variance is
    negative, nor is the residual, ``total - between - 2 template``.
    """
    rate = sums.total / sums.number
    across = rate**2  # the mean product of errors of two different subjects
    if across_count := sums.number**2 - sums.squared_numbers:
        across = (sums.total**2 - sums.squared_totals) / across_count
    total_variance = max(0.0, sums.squares / sums.number - across)
    between = template = 0.0
    if sums.separate_count:
        between = sums.separate_products / sums.separate_count - across
    elif sums.shared_count:
        between = sums.shared_products / sums.shared_count - across
    if cut_off:
        between = min(max(0.0, between), total_variance)
    if sums.separate_count and sums.shared_count:
        template = sums.shared_products / sums.shared_count - across - between
    if cut_off:
        template = min(max(0.0, template), (total_variance - between) / 2)
    return Components(float(rate), float(between), float(template), float(total_variance))


def _sharing(table: np.ndarray, symmetric: bool) -> float:
    """Return the sum of the products of two different entries that share a template."""
    squares = (table**2).sum()
    in_columns = (table.sum(axis=0) ** 2).sum() - squares
    if symmetric:
        return float(in_columns)
    in_rows = (table.sum(axis=1) ** 2).sum() - squares
    return float(in_columns + in_rows)


def beta_kurtosis(rate: float, variance: float) -> float:
    """Return the kurtosis of a beta distribution with this mean and variance."""
    from scipy.stats import beta  # slow to import

    size = max(rate * (1 - rate) / variance - 1, 1e-9)
    return 3 + float(beta.stats(rate * size, (1 - rate) * size, moments="k"))


def subjects_for_width(variance: float, kurtosis: float, width: float, confidence: float) -> int:
    """Return the smallest number of subjects that gives an interval of at most this width.

    `variance` and `kurtosis` are of a subject's mean error; `width` is from end to end. The
    interval is as narrow with the probability `ASSURANCE`. The test will find another variance than
    the planned one: the ratio of both, times its degrees of freedom, is taken as chi-squared, with
    ``2 n / (kurtosis - 1)`` degrees for ``n`` subjects.
    """
    from scipy.stats import chi2  # slow to import

    quantile = float(scipy.special.ndtri(0.5 + confidence / 2))

    def is_narrow(n: int) -> bool:
        degrees = 2 * n / max(kurtosis - 1, 1e-9)
        ratio = chi2.ppf(ASSURANCE, degrees) / degrees
        return bool(2 * quantile * math.sqrt(variance * ratio / n) <= width)

    return 2 + bisect_left(range(2, MOST_SUBJECTS), True, key=is_narrow)
