"""Rates as text: what a sentence compares is written so that its order can be seen."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bioeval.document.cells import Rate
from bioeval.document.text import say
from bioeval.views.writers.lines import written


@pytest.mark.parametrize(
    ("rate", "others", "text"),
    [
        (0.00101, (0.001,), "0.101 %"),
        (0.0010004, (0.001,), "0.10004 %"),
        (0.0009999, (0.001,), "0.09999 %"),
        (0.001, (0.001,), "0.1 %"),
        (0.1 + 0.2, (0.3,), "30 %"),  # equal but for the last bit
        (np.float64(0.00101), (0.001,), "0.101 %"),
        (0.00123456, (), "0.123 %"),
        (0.123456, (0.5,), "12.3 %"),
        (0.0, (0.001,), "0 %"),
        (1.2e-8, (1e-8,), "0.0000012 %"),
        (math.nan, (0.1,), "n/a"),
        (0.99875, (), "99.875 %"),
        (0.999996, (), "99.9996 %"),
        (1.0, (), "100 %"),
    ],
)
def test_a_rate_beside_others_shows_which_is_larger(rate, others, text):
    phrase = say("{rate} {first}", rate=Rate(rate), first=Rate(others[0] if others else math.nan))
    assert written(phrase).startswith(text)
