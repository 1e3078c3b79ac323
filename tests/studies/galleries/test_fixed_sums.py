"""Sums of chances are exact, and the same in any order."""

from __future__ import annotations

import math

import numpy as np

from bioeval.studies.galleries.fixed_sums import FixedSums


def test_fixed_sums_are_those_of_fractions():
    rng = np.random.default_rng(1)
    values = np.vstack([rng.random((500, 3)) ** 9, np.ones((20, 3)), np.zeros((5, 3))])
    sums = FixedSums.zeros(1, 3)
    sums.add(values, np.zeros(len(values), dtype=np.int64))
    exact = [math.fsum(column) for column in values.T]
    np.testing.assert_allclose(sums.values()[0], exact, rtol=1e-15)
    backwards = FixedSums.zeros(1, 3)
    for part in (values[300:][::-1], values[:300]):
        backwards.add(np.ascontiguousarray(part), np.zeros(len(part), dtype=np.int64))
    np.testing.assert_array_equal(sums.low, backwards.low)
    np.testing.assert_array_equal(sums.high, backwards.high)
