"""Verification: GAR, FRR, FAR and GRR against the threshold."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bioeval.metrics.datasets import about_attrs, build, rate
from bioeval.names import VERIFICATION
from bioeval.tallies import CellCounts, VerificationTally
from bioeval.thresholds import DEFAULT_COUNT, default_grid, to_user, with_infinities


def grid_of(tally: VerificationTally) -> np.ndarray:
    """Return the thresholds of a tally, as increasing distances."""
    impostor, genuine = tally.impostor, tally.genuine
    if not isinstance(impostor, CellCounts):
        return impostor.thresholds
    finite = genuine[np.isfinite(genuine)].astype(np.float64)
    low = min([impostor.low, *finite[:1].tolist()])
    high = max([impostor.high, *finite[-1:].tolist()])
    exponent = impostor.exponent if len(impostor.counts) else None
    negative = impostor.negative_infinite > 0 or bool((genuine == -np.inf).any())
    positive = impostor.positive_infinite > 0 or bool((genuine == np.inf).any())
    return with_infinities(default_grid(low, high, exponent, DEFAULT_COUNT), negative, positive)


def verification_dataset(tally: VerificationTally) -> xr.Dataset:
    """Return counts and rates over the tally's thresholds.

    Each rate is over the attempts of its own class: GAR and FRR over the genuine, FAR and GRR
    over the impostor attempts. A rate without attempts is NaN.
    """
    thresholds = grid_of(tally)
    genuine, impostor = len(tally.genuine), tally.impostor.total
    ga = np.searchsorted(tally.genuine, thresholds, side="right").astype(np.int64)
    fa = tally.impostor.at_most(thresholds)
    kind = tally.about.kind
    if kind == "similarity":
        thresholds, ga, fa = to_user(thresholds, kind)[::-1], ga[::-1], fa[::-1]
    over = ("threshold",)
    gar, far = rate(ga, genuine), rate(fa, impostor)
    variables = {
        "gar": (over, gar),
        "frr": (over, rate(genuine - ga, genuine)),
        "far": (over, far),
        "grr": (over, rate(impostor - fa, impostor)),
        "ga": (over, ga),
        "fr": (over, genuine - ga),
        "fa": (over, fa),
        "gr": (over, impostor - fa),
        "genuine_attempts": ((), np.int64(genuine)),
        "impostor_attempts": ((), np.int64(impostor)),
        "skipped_claims": ((), np.int64(tally.skipped_claims)),
    }
    warnings = []
    if not genuine:
        warnings.append("no genuine attempt: GAR and FRR are not defined (NaN)")
    if not impostor:
        warnings.append("no impostor attempt: FAR and GRR are not defined (NaN)")
    if tally.skipped_claims:
        warnings.append(f"{tally.skipped_claims} claims of subjects not enrolled were left out")
    attrs = about_attrs(tally.about, f"verification, {tally.templates}-template", warnings)
    attrs |= {"templates": tally.templates, "fusion": tally.fusion, "claims": tally.claims}
    return build(variables, VERIFICATION, {"threshold": thresholds}, attrs)
