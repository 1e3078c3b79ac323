"""What the tests of the whole take of this study."""

from systems import square

import bioeval as be
from bioeval.studies.compare.compare import COMPARISON

OTHER_CALLS = {"compare": "takes several systems", "leaderboard": "reads a folder"}
VARIABLES = {"comparison": (lambda: be.compare(square(), square(), replicates=100), COMPARISON)}
