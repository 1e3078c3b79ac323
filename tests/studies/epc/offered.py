"""What the tests of the whole take of this study."""

from systems import scores, square

import bioeval as be

OTHER_CALLS = {"epc": "takes two sets of scores"}
PLOTS = {"epc": lambda i: be.epc(scores(i), scores(i + 1))}
VARIABLES = {"expected performance": lambda: be.epc(square(), square(), alphas=[0.5])}
