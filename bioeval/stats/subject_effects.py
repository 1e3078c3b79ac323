"""Tests of whether subjects differ: do goats, lambs and wolves exist?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bioeval.base.random import Stream

# Fewer subjects are not tested.
LEAST_SUBJECTS = 8

# Values in one set of permutations.
_BLOCK = 1 << 20


@dataclass(frozen=True)
class HalvesTest:
    """Rank correlation of two halves over subjects, its one-sided p, and how many subjects.

    The two numbers are NaN where fewer than `LEAST_SUBJECTS` have both halves.
    """

    correlation: float
    p_value: float
    subjects: int


def halves_test(
    first: np.ndarray, second: np.ndarray, templates: np.ndarray, permutations: int, stream: Stream
) -> HalvesTest:
    """Test whether the means of two halves of each subject's attempts go together.

    Spearman's correlation over subjects; `second` is permuted within quartiles of the number of
    `templates`, whose halves have means of different variance. Subjects with a NaN are left out.
    """
    known = ~(np.isnan(first) | np.isnan(second))
    number = int(known.sum())
    if number < LEAST_SUBJECTS:
        return HalvesTest(math.nan, math.nan, number)
    # Twice the ranks are whole numbers, and so are sums of their products: ties are exact.
    a, b = (_doubled_ranks(x[known]) for x in (first, second))
    sizes = templates[known]
    quartile = np.searchsorted(np.quantile(sizes, (0.25, 0.5, 0.75)), sizes)
    order = np.argsort(quartile, kind="stable")
    a, b, quartile = a[order], b[order], quartile[order]
    observed = a @ b
    reached, step = 0, max(1, _BLOCK // number)
    for low in range(0, permutations, step):
        shape = min(step, permutations - low), number
        keys = quartile + stream.uniforms(shape[0] * number).reshape(shape)
        reached += int((b[np.argsort(keys, axis=1)] @ a >= observed).sum())
    spread = math.sqrt(a.var() * b.var())
    covariance = float(observed) / number - a.mean() * b.mean()
    correlation = covariance / spread if spread > 0 else math.nan
    return HalvesTest(correlation, (1 + reached) / (1 + permutations), number)


def _doubled_ranks(values: np.ndarray) -> np.ndarray:
    """Return twice the ranks, from 0, tied values at the middle of their places."""
    ordered = np.sort(values)
    ends = (np.searchsorted(ordered, values, side=side) for side in ("left", "right"))
    return np.sum(list(ends), axis=0).astype(np.float64)
