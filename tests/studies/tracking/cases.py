"""Cases of this study for tests of all studies."""

from typing import Any

import numpy as np
import xarray as xr

import bioeval as be

OTHER_CALLS = {"tracking": "takes boxes"}


def tracked(i: int, **options: Any) -> Any:
    truth = [(f, k, 20 * k, 0, 10, 10) for f in range(1, 21) for k in (1, 2, 3)]
    shift = np.random.default_rng(i).normal(0, 1 + 0.3 * i, len(truth))
    result = [
        (f, k + 10 * (f > 12 and k == 2), x + dx, y, w, h)
        for (f, k, x, y, w, h), dx in zip(truth, shift, strict=True)
        if (f + k) % 7
    ]
    return be.tracking(truth, result, **options)


def two_boxes() -> xr.Dataset:
    boxes = np.array([[1, 1, 0, 0, 2, 2], [2, 1, 0, 0, 2, 2]], dtype=float)
    return be.tracking(boxes, boxes)


PLOTS = {"hota": tracked}
VARIABLES = {"tracking": two_boxes}
