"""Tests of whether subjects differ: do goats, lambs and wolves exist?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2, rankdata, tiecorrect

from bioeval.base.random import Stream
from bioeval.kernels.draw import permuted_products

# Fewer subjects are not tested.
LEAST_SUBJECTS = 8

# Fewer subjects are not permuted among themselves alone.
LEAST_TOGETHER = 4


@dataclass(frozen=True)
class HalvesTest:
    """Rank correlation of two halves over subjects, its one-sided p, and how many subjects.

    The two numbers are NaN where fewer than `LEAST_SUBJECTS` have both halves.
    """

    correlation: float
    p_value: float
    subjects: int


def halves_test(
    first: np.ndarray, second: np.ndarray, sizes: np.ndarray, permutations: int, stream: Stream
) -> HalvesTest:
    """Test whether the means of two halves of each subject's attempts go together.

    Spearman's correlation over subjects; `second` is permuted among subjects of one size, whose
    means of second halves have the same distribution, so that the test is exact. Sizes of fewer
    than `LEAST_TOGETHER` subjects are joined with the next. Subjects with a NaN are left out.
    """
    known = ~(np.isnan(first) | np.isnan(second))
    number = int(known.sum())
    if number < LEAST_SUBJECTS:
        return HalvesTest(math.nan, math.nan, number)
    # Twice the ranks are whole numbers, and so are sums of their products: ties are exact.
    a, b = ((2 * rankdata(x[known])).astype(np.int64) - 1 for x in (first, second))
    order = np.argsort(sizes[known], kind="stable")
    a, b = a[order], b[order]
    observed, products = int(a @ b), np.empty(permutations, dtype=np.int64)
    ends = _ends(sizes[known])
    permuted_products(a, b, ends, stream.words(2), products)
    reached = int((products >= observed).sum())
    spread = math.sqrt(a.var() * b.var())
    covariance = observed / number - float(a.mean() * b.mean())
    correlation = covariance / spread if spread > 0 else math.nan
    return HalvesTest(correlation, (1 + reached) / (1 + permutations), number)


def _ends(sizes: np.ndarray) -> np.ndarray:
    """Return where groups of subjects end who are in the order of their sizes."""
    ends, stops = [0], np.cumsum(np.unique(sizes, return_counts=True)[1])
    for stop in stops.tolist():
        if stop - ends[-1] >= LEAST_TOGETHER:
            ends.append(stop)
    return np.array([*ends[1:-1], len(sizes)], dtype=np.int64)


def kruskal_wallis(values: np.ndarray, groups: np.ndarray) -> float:
    """Return the p-value of the test of Kruskal and Wallis; NaN for one group or one value.

    That of :func:`scipy.stats.kruskal`, which takes long for many groups; `groups` are codes.
    """
    number = np.bincount(groups)
    number, n = number[number > 0], len(values)
    if len(number) < 2 or values.min() == values.max():
        return math.nan
    ranks = rankdata(values)
    sums = np.bincount(groups, ranks)[np.unique(groups)]
    h = 12 / (n * (n + 1)) * float((sums**2 / number).sum()) - 3 * (n + 1)
    return float(chi2.sf(h / tiecorrect(ranks), len(number) - 1))
