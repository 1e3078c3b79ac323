"""The corrected interval of Nadeau and Bengio, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from named_arguments import raises_about
from scipy.stats import t as student

from bioeval.base.errors import DataError
from bioeval.stats import nadeau_bengio


def test_by_hand():
    values = [0.1, 0.3, 0.2, 0.4]
    found = nadeau_bengio(values, test_size=25, train_size=75)
    variance = sum((x - 0.25) ** 2 for x in values) / 3
    half = student.ppf(0.975, 3) * math.sqrt((1 / 4 + 1 / 3) * variance)
    assert found.mean == pytest.approx(0.25)
    assert found.sd == pytest.approx(math.sqrt(variance))
    assert (found.low, found.high) == pytest.approx((0.25 - half, 0.25 + half))
    assert found.folds == 4


def test_it_is_wider_than_the_usual_interval():
    """As if each fold had been drawn anew, the interval would shrink with their number."""
    rng = np.random.default_rng(0)
    few, many = rng.normal(0.1, 0.02, 10), rng.normal(0.1, 0.02, 1000)
    wide = [nadeau_bengio(x, 10, 90) for x in (few, many)]
    least = student.ppf(0.975, 999) * 0.02 * math.sqrt(10 / 90)
    assert wide[1].high - wide[1].mean > 0.9 * least
    usual = student.ppf(0.975, 9) * wide[0].sd / math.sqrt(10)
    assert wide[0].high - wide[0].mean > usual


def test_empty_folds_are_left_out():
    nan = math.nan
    some = nadeau_bengio([[0.1, nan], [0.3, 0.2]], 1, 3)
    assert some == nadeau_bengio([0.1, 0.3, 0.2], 1, 3)
    one = nadeau_bengio([nan, 0.2], 1, 3)
    assert (one.mean, one.folds) == (0.2, 1)
    assert math.isnan(one.sd)
    assert math.isnan(one.low)
    assert math.isnan(nadeau_bengio([nan], 1, 3).mean)
    assert nadeau_bengio([], 1, 3).folds == 0


def test_bad_input_is_refused():
    with raises_about(DataError, "train_size"):
        nadeau_bengio([0.1, 0.2], 1, 0)
    with raises_about(DataError, "confidence"):
        nadeau_bengio([0.1, 0.2], 1, 3, confidence=95)
