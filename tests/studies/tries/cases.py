"""Cases of this study for tests of all studies."""

from systems import square

import bioeval as be

CALLS = {"tries": lambda s: be.tries(s, 1.0, (1, 2))}
TURNED = {"tries": lambda s: be.tries(s, -1.0, (1, 2))}
VARIABLES = {"rates of several tries": lambda: be.tries(square(), 3.0, (1, 2))}
