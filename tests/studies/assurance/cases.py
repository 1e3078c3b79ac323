"""Cases of this study for tests of all studies."""

import numpy as np

import bioeval as be


def middle(values) -> float:
    """Return the middle score; of an even number, the lower of the two middle scores."""
    return float(np.nanquantile(values, 0.5, method="lower"))


CALLS = {"check_promise": lambda s: be.check_promise(s, middle(s.values), "far=0.1")}
TURNED = {"check_promise": lambda s: be.check_promise(s, -middle(-s.values), "far=0.1")}
