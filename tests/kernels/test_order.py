"""The order of scores by their bits is that of a comparison."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bioeval.kernels import order
from bioeval.kernels.order import increasing_order

SPECIAL = np.array([0.0, -0.0, 1.0, 5e-324, -5e-324, 1e-45, np.inf, -np.inf, np.nan, -np.nan])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int32])
@pytest.mark.parametrize("how", ["spread", "ties", "odd", "one", "few", "reversed"])
def test_scores_are_in_order_by_the_kernel_and_its_twin(dtype, how, monkeypatch):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=7 if how == "few" else 3000) * 10.0 ** rng.integers(-5, 4)
    if how == "ties":
        scores = np.round(rng.normal(size=3000), 1)
    elif how == "odd" and dtype not in (np.float16, np.int32):
        scores[rng.random(3000) < 0.1] = np.nan
        scores[:500] = rng.choice(SPECIAL, 500)
    elif how == "one":
        scores[:] = -2.5
    elif how == "reversed":
        scores = -np.arange(3000.0)[::-1][::2]
    scores = scores.astype(dtype)
    with monkeypatch.context() as changed:
        changed.setattr(order, "order_words", order.order_words.kernel)
        result = increasing_order(scores)
    assert_array_equal(np.sort(result), np.arange(len(scores)))
    assert_array_equal(scores[result], np.sort(scores))
    monkeypatch.setattr(order, "order_words", order.order_words.twin)
    assert_array_equal(scores[increasing_order(scores)], np.sort(scores))
