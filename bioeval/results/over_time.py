"""Rates over time, and genuine scores by the age of templates, as datasets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from bioeval.base.errors import counted
from bioeval.base.variables import AGEING, OVER_TIME
from bioeval.results.dataset import Variables, about_attrs, build
from bioeval.results.open_set import impostor_probes, impostor_role
from bioeval.scores.about import About
from bioeval.tallies.by_time import AttemptsOverTime
from bioeval.tallies.cells import is_accepted
from bioeval.tallies.counts import IdentificationTally
from bioeval.tallies.threshold_rules import Rule
from bioeval.tallies.thresholds import to_user
from bioeval.tallies.tie_policies import rank_weights
from bioeval.tallies.time_bins import TimeBins


def rates(count: np.ndarray, attempts: np.ndarray) -> np.ndarray:
    """Return ``count / attempts`` of each bin, NaN where there was no attempt."""
    return np.divide(count, attempts, out=np.full(np.shape(count), np.nan), where=attempts > 0)


def by_bin(codes: np.ndarray, bins: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the number, or the sum of weights, in each bin; -1 is in none."""
    inside = codes >= 0
    found = np.bincount(codes[inside], None if weights is None else weights[inside], bins)
    whole = weights is None or weights.dtype.kind in "biu"
    return found.astype(np.int64) if whole else found


def over_time_dataset(
    found: AttemptsOverTime,
    bins: TimeBins,
    sizes: tuple[np.ndarray, np.ndarray],
    about: About,
    ranks: Sequence[int],
    ties: str,
) -> xr.Dataset:
    """Return the rates of each bin; `sizes` are the templates and subjects enrolled by probe."""
    over, codes, count = ("time",), bins.codes, len(bins)
    bin_of = codes[found.row]
    genuine = by_bin(bin_of, count)
    fr = genuine - by_bin(bin_of, count, is_accepted(found.values, found.threshold))
    probes = by_bin(codes, count)
    variables: Variables = {
        "time_end": (over, _stored(bins.edges[1:])),
        "probes": (over, probes),
        "frr": (over, rates(fr, genuine)),
        "fr": (over, fr),
        "genuine_attempts": (over, genuine),
        "far": (over, rates(found.false_accepts, found.impostor_attempts)),
        "fa": (over, found.false_accepts),
        "impostor_attempts": (over, found.impostor_attempts),
        "gallery_templates": (over, rates(by_bin(codes, count, sizes[0]), probes)),
        "gallery_subjects": (over, rates(by_bin(codes, count, sizes[1]), probes)),
        "threshold": ((), to_user(np.float64(found.threshold), about.kind)),
        "probes_outside": ((), np.int64((codes < 0).sum())),
    }
    coordinates = {"time": _stored(bins.edges[:-1])}
    if found.ranks is not None:
        variables |= _searches(found, codes, count, ranks, ties)
        coordinates["rank"] = np.asarray(ranks, dtype=np.int64)
    attrs = about_attrs(about, "rates over time", [])
    return build(variables, OVER_TIME, coordinates, attrs)


def _searches(
    found: AttemptsOverTime, codes: np.ndarray, count: int, ranks: Sequence[int], ties: str
) -> Variables:
    """Return identification in each bin."""
    tally = found.ranks
    assert tally is not None
    mated, weights = identified(tally, found.threshold, ranks, ties)
    searches = by_bin(codes[mated], count)
    hits = {
        name: np.stack([by_bin(codes[mated], count, w) for w in each], axis=1)
        for name, each in weights.items()
    }
    others = impostor_probes(tally, impostor_role(tally, "auto"))
    accepted = is_accepted(tally.other[others], found.threshold)
    non_mated = by_bin(codes[others], count)
    fa = by_bin(codes[others], count, accepted)
    both = ("time", "rank")
    return {
        **{name: (both, rates(x, np.broadcast_to(searches[:, None], x.shape)))
           for name, x in hits.items()},
        **{f"{name}_count": (both, x) for name, x in hits.items()},
        "mated_searches": (("time",), searches),
        "open_set_far": (("time",), rates(fa, non_mated)),
        "open_set_fa": (("time",), fa),
        "non_mated_searches": (("time",), non_mated),
    }  # fmt: skip


def identified(
    tally: IdentificationTally, threshold: float, ranks: Sequence[int], ties: str
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the mated probes, and whether each is identified by each rank (``cms``, ``dir``).

    ``dir`` is within the threshold too. Under expected ties they are probabilities.
    """
    mated = np.nonzero(tally.mates > 0)[0]
    probe, rank, weight = rank_weights(tally, mated, ties)
    place = np.searchsorted(mated, probe)
    cms = np.stack([np.bincount(place, weight * (rank <= k), len(mated)) for k in ranks])
    if ties != "expected":
        cms = cms.astype(np.int64)
    return mated, {"dir": cms * is_accepted(tally.mate[mated], threshold), "cms": cms}


def ageing_dataset(
    found: AttemptsOverTime, bins: TimeBins, about: About, fitted: Variables
) -> xr.Dataset:
    """Return genuine scores by bins of age; the codes of the bins are of each genuine score."""
    over, codes, count = ("age",), bins.codes, len(bins)
    genuine = by_bin(codes, count)
    fr = genuine - by_bin(codes, count, is_accepted(found.values, found.threshold))
    finite = np.isfinite(found.values)
    score = to_user(found.values, about.kind)
    inside = np.where(finite, codes, -1)
    number = by_bin(inside, count)
    mean = rates(by_bin(inside, count, score), number)
    away = np.where(finite, score - mean[inside], 0.0) if count else score
    spread = np.sqrt(rates(by_bin(inside, count, away**2), number))
    variables: Variables = {
        "age_end": (over, bins.edges[1:].astype(np.float64)),
        "genuine_attempts": (over, genuine),
        "fr": (over, fr),
        "frr": (over, rates(fr, genuine)),
        "genuine_mean": (over, mean),
        "genuine_sd": (over, spread),
        "threshold": ((), to_user(np.float64(found.threshold), about.kind)),
        "non_finite": ((), np.int64((~finite).sum())),
        **fitted,
    }
    attrs = about_attrs(about, "ageing of templates", [])
    return build(variables, AGEING, {"age": bins.edges[:-1].astype(np.float64)}, attrs)


def threshold_attrs(rule: Rule) -> tuple[dict[str, str], list[str]]:
    """Return the attributes of a threshold, and a warning where it was chosen on these data."""
    if rule.name == "fixed":
        return {"threshold_rule": f"{rule.values[0]:g}, given", "chosen_on": "given"}, []
    said = f"the threshold was chosen on these data ({rule.words}): rates at it are optimistic"
    return {"threshold_rule": str(rule), "chosen_on": "all data"}, [said]


def outside_warning(number: int, total: int, what: str) -> list[str]:
    """Return a warning about what is in no bin."""
    if not number:
        return []
    return [f"{counted(number, what)} of {total:,} are in no bin, or have no time"]


def _stored(edges: np.ndarray) -> np.ndarray:
    """Return edges as files keep them: float64, or dates in nanoseconds."""
    return edges.astype("datetime64[ns]" if edges.dtype.kind == "M" else np.float64)
