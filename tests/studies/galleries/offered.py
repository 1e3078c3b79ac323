"""What the tests of the whole take of this study."""

from systems import scores, square

import bioeval as be
from bioeval.base import CLOSED_SET, OPEN_SET
from bioeval.studies.galleries.gallery_size import GALLERY_SIZE

CALLS = {
    "gallery_size": lambda s: be.gallery_size(s, [3, 6]),
    "gallery_templates": lambda s: be.gallery_templates(s, [1, 2]),
}
PLOTS = {
    "gallery_size": lambda i: be.gallery_size(scores(i, 8), [2, 5, 10, 30, 100]),
    "gallery_templates": lambda i: be.gallery_templates(scores(i), [1, 2, 3]),
}
VARIABLES = {
    "gallery size": (
        lambda: be.gallery_size(square(), [2, 4, 16], thresholds=[5.0]),
        GALLERY_SIZE,
    ),
    "open set, expected": (
        lambda: be.open_set(square(), gallery="single", thresholds=[5.0, 9.0]),
        OPEN_SET,
    ),
    "open set, drawn": (
        lambda: be.open_set(square(), gallery="single", sampling=3, thresholds=[5.0, 9.0]),
        OPEN_SET,
    ),
    "closed set, expected": (lambda: be.closed_set(square(), gallery="single"), CLOSED_SET),
}
