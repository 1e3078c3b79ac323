"""What the tests of the whole take of this study."""

import xarray as xr
from systems import square

import bioeval as be
from bioeval.base import names_of

OTHER_CALLS = {"tally": "returns counts"}
UNDER_CARD = {"tally": be.tally}


def merged() -> xr.Dataset:
    """Return a result of counts alone: what takes a second pass is bounded."""
    halves = [be.tally(square().select(probes=rows)) for rows in (range(16), range(16, 32))]
    return halves[0].merge(halves[1]).dataset("verification/single")


VARIABLES = {"without a second pass": (merged, names_of("verification"))}
