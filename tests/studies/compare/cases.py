"""Cases of this study for tests of all studies."""

from systems import square

import bioeval as be

FEW = be.stats.IntervalMethod("people", replicates=100)
OTHER_CALLS = {"compare": "takes two systems"}


def _ranking():
    systems = {name: be.simulate(8, 4, random_state=i) for i, name in enumerate("abc")}
    return be.compare(systems, measures=["eer", "auc"], interval=FEW)


PLOTS = {"ranking": lambda i: _ranking()}
VARIABLES = {
    "comparison": lambda: be.compare(square(), square(), interval=FEW),
    "comparison of three": _ranking,
}
