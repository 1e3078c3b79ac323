"""GOM: retrieval and verification within a threshold, for open-world re-identification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_integer
from bioeval.base.errors import require_choice
from bioeval.base.variables import GOM
from bioeval.results.average_precision import (
    average_precision,
    first_places,
    inverse_negative_penalty,
    ranks_of,
)
from bioeval.results.dataset import about_attrs, build, rate
from bioeval.results.query_means import MatchCurve, QueryMean, QueryMeasures
from bioeval.tallies.reid_counts import GomTally

VARIANTS = ("paper", "reference")

GOM_TIES = ("stable", "pessimistic", "optimistic")


@dataclass(frozen=True)
class GomOptions:
    """Options of the measures of GOM, checked; see :func:`bioeval.gom`."""

    budget: int = 3000
    variant: str = "paper"
    ties: str = "stable"
    max_rank: int = 10
    per_query: bool = False

    def __post_init__(self) -> None:
        require_choice("variant", self.variant, VARIANTS)
        require_choice("ties", self.ties, GOM_TIES)
        require_integer("budget", self.budget, low=1)
        require_integer("max_rank", self.max_rank, low=1)


def gom_dataset(tally: GomTally, options: GomOptions) -> xr.Dataset:
    """Return the measures of GOM; see :func:`bioeval.gom`."""
    max_rank, tau, matches = options.max_rank, tally.thresholds, tally.matches
    found, absent = matches.counts > 0, ~tally.enrolled
    measures = gom_measures(tally, options)
    cmc = measures.cmc
    means = {name: measure.mean for name, measure in measures.means.items()}
    within = np.searchsorted(tau, matches.distance[matches.starts[cmc.query]])
    kept = (within < len(tau)) & (cmc.rank <= max_rank)
    flat = within[kept] * max_rank + cmc.rank[kept] - 1
    identified = np.bincount(flat, minlength=len(tau) * max_rank).reshape(len(tau), max_rank)
    identified = identified.cumsum(axis=0).cumsum(axis=1)
    valid = int(found.sum())
    scalars = {name: means.pop(name) for name in ("mean_ap", "mean_inp")}
    variables: dict[str, Any] = {
        **{name: (("threshold",), values) for name, values in means.items()},
        "dir": (("threshold", "rank"), rate(identified, valid)),
        **{name: ((), value) for name, value in (summary(tau, means) | scalars).items()},
        "cmc": (("rank",), rate(cmc.counts(max_rank), valid)),
        "queries": ((), np.int64(measures.means["mrep"].counted.sum())),
        "open_queries": ((), np.int64(absent.sum())),
        "skipped": ((), np.int64((~found & ~absent).sum())),
        "removed": ((), np.int64(tally.removed_entries.sum())),
    }
    coordinates = {"threshold": tau, "rank": np.arange(1, max_rank + 1)}
    if options.per_query:
        for name in ("rp", "vp", "rep", "fr"):
            variables[name] = (("probe", "threshold"), measures.means[f"m{name}"].each)
        coordinates["probe"] = np.arange(len(found))
    attrs = about_attrs(tally.about, "GOM", _warnings(found, absent, options.variant))
    attrs |= {
        "variant": options.variant,
        "budget": int(options.budget),
        "ties": options.ties,
        "normalised_low": float(tally.low),
        "normalised_span": float(tally.span),
    }
    return build(variables, GOM, coordinates, attrs)


def gom_measures(tally: GomTally, options: GomOptions) -> QueryMeasures:
    """Return the measures of GOM that are over queries, by what each query adds to them."""
    matches, ties = tally.matches, options.ties
    found, absent = matches.counts > 0, ~tally.enrolled
    capped = options.variant == "reference"
    counted = found | capped
    rp, vp, precision, recall = _per_threshold(tally, ties, capped=capped)
    something = tally.retrieved > 0

    def over(counted: np.ndarray, has: np.ndarray, values: np.ndarray) -> QueryMean:
        return QueryMean(counted, np.flatnonzero(has), values[has])

    means = {
        "mrp": over(counted, found, rp),
        "mvp": over(counted, found, vp),
        "mrep": over(counted, found, np.sqrt(rp * vp)),
        "precision": over(counted, found, precision),
        "recall": over(counted, found, recall),
        "mfr": over(absent, absent, np.minimum(tally.retrieved / options.budget, 1.0)),
        "far": over(absent, absent, something),
        "ttr": over(found, found, something),
        "ttr_identity": over(found, found, _own_within(tally)),
        "ftr": over(absent, absent, something),
        "mean_ap": over(counted, found, average_precision(matches, ties)),
        "mean_inp": over(counted, found, inverse_negative_penalty(matches, ties)),
    }
    return QueryMeasures(MatchCurve(found, *first_places(matches, ties)), means)


def summary(tau: np.ndarray, means: dict[str, np.ndarray]) -> dict[str, np.float64]:
    """Return areas, maxima and their thresholds of ``mvp``, ``mrep``, ``mfr`` over `tau`.

    NaN where there are no queries.
    """
    nan = np.float64(np.nan)
    mrep, mfr = means["mrep"], means["mfr"]
    ranked, opened = not np.isnan(mrep).any(), not np.isnan(mfr).any()
    bounded = bool(np.isfinite(tau).all())
    return {
        "mrep_area": np.float64(np.trapezoid(mrep, tau)) if bounded else nan,
        "mfr_area": np.float64(np.trapezoid(mfr, tau)) if bounded else nan,
        "tau_max": tau[int(np.argmax(mrep))] if ranked else nan,
        "tau_nz": tau[int(np.argmax(mfr > 0))] if opened and (mfr > 0).any() else nan,
        "max_mrep": mrep.max() if ranked else nan,
        "max_mvp": means["mvp"].max() if ranked else nan,
    }


def _per_threshold(
    tally: GomTally, ties: str, *, capped: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return RP, VP, precision and recall of each query at each threshold."""
    matches, retrieved = tally.matches, tally.retrieved
    shape = retrieved.shape
    within = np.searchsorted(tally.thresholds, matches.distance)
    inside = within < shape[1]
    flat = matches.query[inside] * shape[1] + within[inside]
    size = shape[0] * shape[1]

    def up_to(weights: np.ndarray) -> np.ndarray:
        return np.bincount(flat, weights[inside], minlength=size).reshape(shape).cumsum(axis=1)

    ranks = ranks_of(matches, ties)
    hits = np.rint(up_to(np.ones(len(ranks))))
    with np.errstate(invalid="ignore", divide="ignore"):
        rp = np.where(hits > 0, up_to(matches.order / ranks) / hits, 0.0)
        listed = retrieved.astype(np.float64)
        if capped:
            last = np.zeros(shape[0])
            some = matches.counts > 0
            last[some] = ranks[matches.starts[1:][some] - 1]
            listed = np.minimum(listed, last[:, None])
        positives = matches.counts[:, None].astype(np.float64)
        vp = hits / (listed - hits + positives)
        precision = np.where(retrieved > 0, hits / retrieved, 0.0)
        return rp, vp, precision, hits / positives


def _own_within(tally: GomTally) -> np.ndarray:
    """Return, for each query and threshold, whether a match is within it."""
    matches = tally.matches
    nearest = np.full(len(matches.counts), np.inf)
    found = matches.counts > 0
    nearest[found] = matches.distance[matches.starts[:-1][found]]
    return found[:, None] & (nearest[:, None] <= tally.thresholds[None])


def _warnings(found: np.ndarray, absent: np.ndarray, variant: str) -> list[str]:
    said = []
    lost = int((~found & ~absent).sum())
    if lost and variant == "paper":
        said.append(f"{lost} queries whose every match is removed are in neither set of queries")
    if not found.any():
        said.append("no query has a match: mRP, mVP and mReP are not defined (NaN)")
    if not absent.any():
        said.append("every query's identity is in the gallery: mFR is not defined (NaN)")
    return said
