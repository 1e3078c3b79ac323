"""Cases of this study for tests of all studies."""

from systems import scores, square

import bioeval as be

CALLS = {"zoo": lambda s: be.zoo(s, threshold="far=0.1")}
# The halves of a person's templates.
BY_ORDER = {"zoo": ("correlation", "p")}
PLOTS = {"zoo": lambda i: be.zoo(scores(i), permutations=100)}
VARIABLES = {"zoo": lambda: be.zoo(square(), permutations=9)}
