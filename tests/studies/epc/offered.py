"""What the tests of the whole take of this study."""

from systems import attacked, scores, spoofed, square

import bioeval as be
from bioeval.studies.epc.epc import EPC, EPSC

OTHER_CALLS = dict.fromkeys(("epc", "epsc"), "takes two sets of scores")
PLOTS = {
    "epc": lambda i: be.epc(scores(i), scores(i + 1)),
    "epsc": lambda i: be.epsc(spoofed(i), spoofed(i + 1)),
}
VARIABLES = {
    "expected performance": (lambda: be.epc(square(), square(), alphas=[0.5]), EPC),
    "expected performance and spoofability": (
        lambda: be.epsc(attacked(), attacked(), omegas=[0.5]),
        EPSC,
    ),
}
