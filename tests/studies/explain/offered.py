"""What the tests of the whole take of this study."""

from systems import scores

import bioeval as be

CALLS = {"explain": lambda s: be.explain(s, 5).document()}
PLOTS = {"row_walk": lambda i: be.explain(scores(), 0)}
