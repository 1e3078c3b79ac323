"""Cases of this study for tests of all studies."""

from systems import square

import bioeval as be

CALLS = {"worst_pairs": lambda s: be.worst_pairs(s, 4)}
# The place of each template, and which of several equal pairs is the worst.
BY_ORDER = {"worst_pairs": ("row", "column", "probe_label", "gallery_label", "image_a", "image_b")}
PLOTS = {
    "worst_pairs": lambda i: be.worst_pairs(be.datasets.faces(("eigenfaces", "pixels")[i % 2]), 5)
}
VARIABLES = {"worst pairs": lambda: be.worst_pairs(square(), 2)}
