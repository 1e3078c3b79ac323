"""Identification probe by probe: rank and score of the best mate, nearest non-mate, ties."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bioeval.base.variables import RANKS
from bioeval.results.dataset import about_attrs, build
from bioeval.tallies.counts import IdentificationTally
from bioeval.tallies.thresholds import to_user
from bioeval.tallies.tie_policies import rank_weights


def ranks_dataset(tally: IdentificationTally, ties: str) -> xr.Dataset:
    """Return rank, scores and candidates of each probe."""
    chosen = np.nonzero(tally.mates > 0)[0]
    probes, ranks, weights = rank_weights(tally, chosen, ties)
    rank = np.full(len(tally.mate), np.nan)
    rank[chosen] = np.bincount(probes, weights * ranks, minlength=len(rank))[chosen]
    kind = tally.about.kind
    over = ("probe",)
    variables = {
        "identification_rank": (over, rank),
        "mate_distance": (over, to_user(tally.mate, kind)),
        "nearest_other": (over, to_user(tally.other, kind)),
        "closer": (over, tally.closer),
        "tied": (over, tally.tied),
        "mates": (over, tally.mates),
        "others": (over, tally.others),
        "enrolled": (over, tally.enrolled.astype(np.int64)),
    }
    attrs = about_attrs(tally.about, "ranks of the best mates", [])
    attrs |= {"rank_unit": tally.rank_unit, "fusion": tally.fusion, "ties": ties}
    return build(variables, RANKS, {"probe": np.arange(len(rank))}, attrs)
