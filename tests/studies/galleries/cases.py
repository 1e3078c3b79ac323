"""Cases of this study for tests of all studies."""

from systems import scores, square

import bioeval as be

CALLS = {"gallery_size": lambda s: be.gallery_size(s, [3, 6])}
PLOTS = {"gallery_size": lambda i: be.gallery_size(scores(i, 8), [2, 5, 10, 30])}
VARIABLES = {
    "gallery size": lambda: be.gallery_size(square(), [2, 4], thresholds=[5.0]),
    "open set, expected": lambda: be.open_set(square(), gallery="single", thresholds=[5.0, 9.0]),
    "closed set, expected": lambda: be.closed_set(square(), gallery="single"),
}
