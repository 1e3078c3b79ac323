"""Layers of scores against a search for each."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("distinct", [[], [0.0], [-np.inf, -1.0, 0.0, 2.0, np.inf]])
def test_layers(dtype, distinct):
    from bioeval.studies.compare.counts import layers

    values = np.array([-np.inf, -2, -1, -0.5, -0.0, 0, 1, 2, 3, np.inf, np.nan], dtype=dtype)
    expected = [
        -1 if np.isnan(x) else sum(g < x for g in distinct) + sum(g <= x for g in distinct)
        for x in values
    ]
    result = layers(values, np.array(distinct, dtype=dtype))
    assert result.tolist() == expected
    assert result.dtype == np.int64
