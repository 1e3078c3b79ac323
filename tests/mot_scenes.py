"""Small scenes of tracking, made by hand and at random, and how results are compared."""

import math
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import strategies as st

# One target for three frames. It is lost in the second, where the tracker sees something else;
# in the third, its first identity and a new one that lies better both overlap it.
BOX = (0, 0, 10, 10)
TRUTH = [(1, 1, *BOX), (2, 1, *BOX), (3, 1, *BOX)]
RESULT = [
    (1, 1, *BOX),
    (2, 3, 50, 0, 10, 10),
    (3, 1, 2, 0, 10, 10),  # overlap 8 / 12
    (3, 2, 1, 0, 10, 10),  # overlap 9 / 11
]


def assert_same(ds: xr.Dataset, expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        if isinstance(value, list):
            assert ds[name].dims == ("localisation_threshold",)
            expected_values = np.array(value, dtype=float)
            assert ds[name].values == pytest.approx(expected_values, abs=1e-12, nan_ok=True), name
        elif value is None:
            assert math.isnan(ds[name]), name
        elif isinstance(value, int):
            assert ds[name].dtype == np.int64
            assert int(ds[name]) == value, name
        else:
            assert float(ds[name]) == pytest.approx(float(value), abs=1e-12), name


@st.composite
def scenes(draw: st.DrawFn) -> tuple[list[Any], list[Any]]:
    """A few people on one spot, where boxes compete, seen by one or two cameras."""
    noise = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cameras = draw(st.integers(1, 2))
    truth, result = [], []
    for camera in range(1, cameras + 1):
        for frame in range(1, draw(st.integers(1, 5)) + 1):
            for rows, ids, spread in ((truth, 3, 14), (result, 4, 14)):
                for person in sorted(draw(st.sets(st.integers(1, ids), max_size=3))):
                    left, top = spread * noise.random(2)
                    wide, high = 40 + 10 * noise.random(2)
                    flag, category = 1, -1
                    if cameras == 1:  # the layout with cameras has no flags
                        flag = int(rows is result or noise.random() < 0.8)
                        category = int(noise.choice([1, 1, 1, 2, 3, 6, -1]))
                    rows.append((camera, frame, person, left, top, wide, high, flag, category))
    return truth, result
