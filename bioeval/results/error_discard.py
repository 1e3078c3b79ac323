"""Error against discard: FRR and FAR of what is left when samples of low quality are discarded."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bioeval.base.variables import ERROR_DISCARD
from bioeval.results.dataset import about_attrs, build
from bioeval.tallies.by_quality import DiscardTally
from bioeval.tallies.thresholds import to_user

#: The pAUC is of fractions up to this one.
LAST = 0.2

#: How the numbers differ from the published program.
DEPARTURES = (
    "fractions are of samples, not of comparisons; the area is of trapezoids, not of steps; "
    "samples of equal quality are discarded in their order, not together"
)


def error_discard_dataset(
    tally: DiscardTally, fractions: np.ndarray, threshold: float, cuts: np.ndarray, samples: int
) -> xr.Dataset:
    """Return the rates over discarded fractions; the tally begins with a step that discards none.

    `threshold` is a distance, `cuts` the numbers of samples discarded at the fractions.
    """
    over = ("fraction",)
    rates = {
        "frr": _rate(tally.false_rejects, tally.genuine_attempts),
        "far": _rate(tally.false_accepts, tally.impostor_attempts),
    }
    counts = {
        "fr": tally.false_rejects,
        "fa": tally.false_accepts,
        "genuine_attempts": tally.genuine_attempts,
        "impostor_attempts": tally.impostor_attempts,
    }
    area = pauc(np.append(0.0, fractions), rates["frr"])
    variables = {
        **{name: (over, values[1:]) for name, values in {**rates, **counts}.items()},
        "discarded": (over, cuts),
        "samples": ((), np.int64(samples)),
        "threshold": ((), to_user(threshold, tally.about.kind)),
        "pauc": ((), area),
    }
    remarks = []
    for name, attempt in (("frr", "genuine"), ("far", "impostor")):
        gone = np.isnan(rates[name][1:])
        if gone.any():
            first = fractions[np.argmax(gone)]
            remarks.append(
                f"no {attempt} attempt is left from a discarded fraction of {first:g} on: "
                f"{name.upper()} is not defined (NaN)"
            )
    if np.isnan(area):
        why = "FRR is 0 with all samples" if rates["frr"][0] == 0 else (
            f"the fractions end before {LAST}" if fractions[-1] < LAST else "FRR is not defined"
        )  # fmt: skip
        remarks.append(f"pAUC is not defined (NaN): {why}")
    attrs = about_attrs(tally.about, "verification, single-template", remarks)
    attrs |= {"discard_order": DEPARTURES, "pauc_up_to": LAST}
    return build(variables, ERROR_DISCARD, {"fraction": fractions}, attrs)


def _rate(errors: np.ndarray, attempts: np.ndarray) -> np.ndarray:
    return np.where(attempts > 0, errors / np.maximum(attempts, 1), np.nan)


def pauc(fractions: np.ndarray, frr: np.ndarray) -> float:
    """Return the area under FRR up to `LAST`, by trapezoids, over that of a constant FRR.

    `fractions` do not fall and begin with 0. FRR at `LAST` is interpolated where it is no fraction.
    """
    if not frr[0] > 0 or fractions[-1] < LAST:
        return np.nan
    inside = int(np.searchsorted(fractions, LAST))
    x, y = fractions[:inside], frr[:inside]
    at = np.interp(LAST, fractions[inside - 1 : inside + 1], frr[inside - 1 : inside + 1])
    if fractions[inside] == LAST:
        at = frr[inside]
    return float(np.trapezoid(np.append(y, at), np.append(x, LAST)) / (LAST * frr[0]))
