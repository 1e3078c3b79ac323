"""What the tests of the whole take of this study."""

import numpy as np
from systems import square

import bioeval as be
from bioeval.studies.view_pairs.by_view import BY_VIEW

CALLS = {"by_view": lambda s: be.by_view(s, "group")}
VARIABLES = {
    "views": (lambda: be.by_view(square(), np.arange(len(square().probe_labels)) % 2), BY_VIEW)
}
