"""Cases of this study for tests of all studies."""

import numpy as np
from systems import scores, square

import bioeval as be

CALLS = {"by_group": lambda s: be.by_group(s, "group", interval="people")}
SIDES = np.array(["women, 18 to 30 years", "men, 18 to 30 years", "women, over 30 years"])
PLOTS = {"groups": lambda i: be.by_group(scores(1), SIDES[np.asarray(scores(1).probe_labels) % 3])}
VARIABLES = {"groups": lambda: be.by_group(square(), square().probe_labels % 2, interval="people")}
