"""What the tests of the whole take of this study."""

import numpy as np
from systems import scores, square

import bioeval as be

CALLS = {"error_discard": lambda s: be.error_discard(s, "quality", threshold="eer")}
PLOTS = {
    "error_discard": lambda i: be.error_discard(
        scores(i), np.random.default_rng(i).random(120), threshold="eer"
    )
}
VARIABLES = {
    "error against discard": lambda: be.error_discard(square(), range(32), threshold="eer")
}
