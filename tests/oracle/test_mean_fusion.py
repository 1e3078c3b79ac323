"""Fusion by the mean: the exact sum of the scores, rounded once, over their number."""

import math
from itertools import permutations

import naive
import numpy as np
import pytest
from reference import one_thread  # noqa: F401

import bioeval as be

MULTI = {"templates": "multi", "fusion": "mean"}


def assert_mean(distances, expected, dtype=float):
    """Two neighbouring thresholds find the mean to the last bit."""
    scores = be.Scores(np.array([distances], dtype=dtype), ["ann"], ["ann"] * len(distances))
    below = np.nextafter(expected, -math.inf)
    ds = be.verification(scores, thresholds=[below, expected], **MULTI)
    assert ds.gar.values.tolist() == [0.0, 1.0], (distances, expected)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.cases(1)
def test_the_mean_is_the_rounded_exact_sum_over_the_number(dtype):
    rng = np.random.default_rng(3)
    for size in (2, 5, 33):
        for spread in (0, 16, 150):
            scores = rng.normal(size=size) * 2.0 ** rng.integers(-spread, spread + 1, size)
            with np.errstate(over="ignore"):
                scores = scores.astype(dtype)
            scores = np.where(np.isfinite(scores), scores, dtype == "float16").astype(dtype)
            expected = math.fsum(scores.tolist()) / size
            assert expected == naive.fuse(scores.tolist(), "mean")
            assert_mean(scores, expected, dtype)
            assert_mean(rng.permutation(scores), expected, dtype)


@pytest.mark.parametrize(
    "distances",
    [
        [1.0, 2.0**-53, 2.0**-53],  # one by one, both are lost
        [1.0, 2.0**-53, 2.0**-120],  # between two numbers, and a little more
        [1.0, 2.0**-53, -(2.0**-120)],
        [-1.0, -(2.0**-53), -(2.0**-120)],
        [1e300, 1.0, -1e300],
        [1e308, 1.0, -1e308],
        [1.5e308, 1.6e308],
        [1.7e308] * 7,
        [-1.5e308, -1.6e308, 2.0],
        [1.7e308, 1.7e308, -1.7e308],
        [5e-324, 5e-324, 5e-324],
    ],
)
def test_the_mean_of_scores_of_any_size(distances):
    expected = naive.fuse(distances, "mean")
    assert math.isfinite(expected)
    for order in set(permutations(distances)):
        assert_mean(order, expected)
