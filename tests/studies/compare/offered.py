"""What the tests of the whole take of this study."""

from systems import square

import bioeval as be
from bioeval.studies.compare.results import COMPARISON

OTHER_CALLS = {"compare": "takes two systems"}


def _ranking():
    systems = {name: be.simulate(8, 4, random_state=i) for i, name in enumerate("abc")}
    return be.compare(
        systems,
        measures=["eer", "auc"],
        interval=be.stats.IntervalMethod("people", replicates=100),
    )


PLOTS = {"ranking": lambda i: _ranking()}
VARIABLES = {
    "comparison": (
        lambda: be.compare(
            square(),
            square(),
            interval=be.stats.IntervalMethod("people", replicates=100),
        ),
        COMPARISON,
    ),
    "comparison of three": (_ranking, COMPARISON),
}
