"""GOM: retrieval and verification within a threshold, for open-world re-identification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base import scalars
from bioeval.base.arguments import require_integer
from bioeval.base.errors import DataError, require_choice
from bioeval.base.scalars import Name
from bioeval.base.variables import by_name, ends
from bioeval.base.version import __version__
from bioeval.results.dataset import about_attrs, build, rate
from bioeval.results.query_means import (
    MatchCurve,
    QueryMean,
    QueryMeasures,
    RetrievedSets,
    average_precision,
    first_places,
    inverse_negative_penalty,
    ranks_of,
)
from bioeval.results.reid import REID
from bioeval.tallies.reid_counts import GomTally
from bioeval.tallies.thresholds import check_thresholds

GOM = {
    "mrp": Name("mean ranking precision: AP of the retrieved entries, over the matches retrieved"),
    "mvp": Name("mean verification precision: TP / (TP + FN + FP)"),
    "mrep": Name("mean re-identification precision: sqrt(VP RP)"),
    "mfr": Name("mean false rate of the queries without a match: min(FP / B, 1)"),
    **by_name(scalars.RETRIEVED_SETS),
    "dir": Name("queries with a match within the threshold, at rank R or better"),
    "far": Name("false accept rate: queries not in the gallery with any retrieved entry"),
    "ttr": Name("true target rate: queries with a match in the gallery and any retrieved entry"),
    "ttr_identity": Name("queries with a match in the gallery and a retrieved match"),
    "ftr": Name("false target rate, the same proportion as FAR"),
    **by_name(scalars.GOM_POINTS),
    "mean_ap": REID["mean_ap"],
    "mean_inp": REID["mean_inp"],
    "cmc": REID["cmc"],
    "queries": Name("queries that mRP, mVP and mReP are over", "queries"),
    "open_queries": Name("queries not in the gallery (denominator of mFR)", "queries"),
    "skipped": Name("queries whose matches are all removed, in neither set", "queries"),
    "removed": REID["removed"],
    "rp": Name("ranking precision; NaN without a match"),
    "vp": Name("verification precision; NaN without a match"),
    "rep": Name("re-identification precision; NaN without a match"),
    "fr": Name("false rate; NaN where the identity is in the gallery"),
}

GOM |= ends(
    GOM,
    (
        *("mrp", "mvp", "mrep", "precision", "recall", "f1", "mfr", "far", "ttr", "ttr_identity"),
        *("ftr", "mrep_area", "mfr_area", "max_mrep", "max_mvp", "max_f1"),
        *("mean_ap", "mean_inp", "cmc"),
    ),
)

VARIANTS = ("paper", "reference")

# Curves may be published with two decimals.
_ROUNDED = 0.006

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
    means["micro_f1"] = _sets(tally).micro_f1()
    variables: dict[str, Any] = {
        **{name: (("threshold",), values) for name, values in means.items()},
        "dir": (("threshold", "rank"), rate(identified, valid)),
        **{name: value for name, value in (summary(tau, means) | scalars).items()},
        "cmc": (("rank",), rate(cmc.counts(max_rank), valid)),
        "queries": measures.means["mrep"].counted.sum(),
        "open_queries": absent.sum(),
        "skipped": (~found & ~absent).sum(),
        "removed": tally.removed_entries.sum(),
    }
    coordinates = {"threshold": tau, "rank": np.arange(1, max_rank + 1)}
    if options.per_query:
        for name in ("rp", "vp", "rep", "fr"):
            variables[name] = (("probe", "threshold"), measures.means[f"m{name}"].each)
        coordinates["probe"] = np.arange(len(found))
    attrs = about_attrs(tally.about, "GOM", missing_warnings(found, absent, options.variant))
    attrs |= {
        "variant": options.variant,
        "budget": int(options.budget),
        "ties": options.ties,
        "normalised_low": float(tally.low),
        "normalised_high": float(tally.high),
        "normalised_span": float(tally.high - tally.low),
        "convention": tally.convention,
        "removes": tally.removed,
        "junk": tally.junk,
    }
    return build(variables, GOM, coordinates, attrs)


def gom_measures(tally: GomTally, options: GomOptions) -> QueryMeasures:
    """Return the measures of GOM that are means over queries, by each query's contribution."""
    matches, ties = tally.matches, options.ties
    found, absent = matches.counts > 0, ~tally.enrolled
    capped = options.variant == "reference"
    counted = found | capped
    sets = _sets(tally)
    rp, vp = _per_threshold(sets, ties, capped=capped)
    something = tally.retrieved > 0

    def over(counted: np.ndarray, has: np.ndarray, values: np.ndarray) -> QueryMean:
        return QueryMean(counted, np.flatnonzero(has), values[has])

    means = {
        "mrp": over(counted, found, rp),
        "mvp": over(counted, found, vp),
        "mrep": over(counted, found, np.sqrt(rp * vp)),
        **sets.measures(counted),
        "mfr": over(absent, absent, np.minimum(tally.retrieved / options.budget, 1.0)),
        "far": over(absent, absent, something),
        "ttr": over(found, found, something),
        "ttr_identity": over(found, found, _own_within(tally)),
        "ftr": over(absent, absent, something),
        "mean_ap": over(counted, found, average_precision(matches, ties)),
        "mean_inp": over(counted, found, inverse_negative_penalty(matches, ties)),
    }
    return QueryMeasures(MatchCurve(found, *first_places(matches, ties)), means)


def gom_from_curves(
    threshold: Any,
    *,
    mrep: Any,
    mfr: Any,
    mrp: Any = None,
    mvp: Any = None,
    cmc: Any = None,
    name: str = "",
) -> xr.Dataset:
    """Return the measures of GOM that follow from published or saved curves.

    Parameters
    ----------
    threshold : increasing array of float, shape (t,)
        Of distances on the scale 0 ... 1.
    mrep : array of float, shape (t,)
        Mean re-identification precision: the mean over the queries of ``sqrt(RP VP)``. It does not
        follow from `mrp` and `mvp`: the root of the product of two means is larger than the mean
        of the roots, unless all queries have the same.
    mfr : array of float, shape (t,)
        Mean false rate of the queries whose identity is not in the gallery; NaN throughout if
        there are none.
    mrp, mvp : array of float, shape (t,), optional
        Mean ranking precision and mean verification precision.
    cmc : array of float, optional
        The CMC at ranks 1, 2 ...
    name : str
        Name of the system.

    Returns
    -------
    xarray.Dataset
        The curves over ``threshold`` and ``rank`` as they are given, with the names that
        :func:`gom` gives them, and the scalars ``mrep_area mfr_area tau_max tau_nz max_mrep``;
        with `mvp` ``max_mvp``; with `mrp` at a threshold of 1, where everything is retrieved,
        ``mean_ap``. Rates and areas are proportions.

    Raises
    ------
    DataError
        If a curve is not one of proportions at each threshold, a CMC falls, or `mrep` is larger
        than the root of `mrp` times `mvp`, which no queries give.

    Notes
    -----
    Definitions: Re-identification = Retrieval + Verification: Back to Essence and Forward with a
    New Metric (arXiv:2011.11506, 2020), whose Table 3 follows from the curves that its authors
    published; ``docs/reid.md``, "GOM".

    Examples
    --------
    >>> import bioeval as be
    >>> found = be.gom_from_curves([0, 0.5, 1], mrep=[0, 0.6, 0.4], mfr=[0, 0.2, 1])
    >>> float(found.max_mrep), float(found.tau_max), float(found.mfr_area)
    (0.6, 0.5, 0.35)
    """
    first = threshold[0] if isinstance(threshold, (tuple, list)) and threshold else threshold
    tau = None if isinstance(first, str) else check_thresholds(threshold)
    if not isinstance(tau, np.ndarray):
        raise DataError(
            f"threshold is {threshold!r}; expected an increasing array of numbers, one threshold "
            "for each value of the curves"
        )
    given = {"mrep": mrep, "mfr": mfr, "mrp": mrp, "mvp": mvp}
    needed = ("mrep", "mfr")
    means = {k: _curve(k, v, len(tau)) for k, v in given.items() if v is not None or k in needed}
    for key, values in means.items():
        lacking = np.isnan(values)
        if lacking.any() and (key != "mfr" or not lacking.all()):
            at = int(np.argmax(lacking))
            raise DataError(f"{key}[{at}] is NaN; expected a proportion at each threshold")
    if "mrp" in means and "mvp" in means:
        beyond = means["mrep"] - np.sqrt(means["mrp"] * means["mvp"])
        if (beyond > _ROUNDED).any():
            i = int(np.argmax(beyond))
            raise DataError(
                f"mrep[{i}] = {means['mrep'][i]:g} is larger than the root of mrp[{i}] = "
                f"{means['mrp'][i]:g} times mvp[{i}] = {means['mvp'][i]:g}; a mean of roots never "
                "is: check that the curves are of the same queries"
            )
    scalars = summary(tau, means)
    if "mrp" in means and (at_one := np.flatnonzero(tau == 1.0)).size:
        scalars["mean_ap"] = means["mrp"][at_one[0]]
    variables: dict[str, Any] = {k: (("threshold",), values) for k, values in means.items()}
    variables |= {k: value for k, value in scalars.items()}
    coordinates = {"threshold": tau}
    if cmc is not None:
        values = _curve("cmc", cmc)
        if not (np.diff(values) >= 0).all():
            raise DataError("cmc falls, or holds NaN; expected the CMC at ranks 1, 2 ...")
        variables["cmc"], coordinates["rank"] = (("rank",), values), np.arange(1, len(values) + 1)
    attrs = {
        "task": "GOM",
        "system": name,
        "origin": "curves",
        "bioeval_version": __version__,
        "warnings": "",
    }
    return build(variables, GOM, coordinates, attrs)


def _curve(name: str, values: Any, length: int | None = None) -> np.ndarray:
    """Return a curve of proportions as float64."""
    expected = "a list of proportions" if length is None else f"{length} numbers, one per threshold"
    try:
        found = np.asarray(values)
    except ValueError as error:
        raise DataError(f"{name} is not an array: {error}; expected {expected}") from None
    right = found.dtype.kind in "iuf" and found.ndim == 1
    if not right or found.size != (length or max(1, found.size)):
        raise DataError(
            f"{name} has shape {found.shape} and dtype {found.dtype}; expected {expected}"
        )
    wrong = (found < 0) | (found > 1)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise DataError(
            f"{name}[{i}] = {found[i]:g}; expected proportions from 0 to 1 (divide per cent by 100)"
        )
    return found.astype(np.float64)


def summary(tau: np.ndarray, means: dict[str, np.ndarray]) -> dict[str, np.float64]:
    """Return areas, maxima and their thresholds of ``mvp mrep mfr f1`` over `tau`.

    NaN where there are no queries.
    """
    nan = np.float64(np.nan)
    mrep, mfr = means["mrep"], means["mfr"]
    ranked, opened = not np.isnan(mrep).any(), not np.isnan(mfr).any()
    bounded = bool(np.isfinite(tau).all())
    found = {
        "mrep_area": np.float64(np.trapezoid(mrep, tau)) if bounded else nan,
        "mfr_area": np.float64(np.trapezoid(mfr, tau)) if bounded else nan,
        "tau_max": tau[int(np.argmax(mrep))] if ranked else nan,
        "tau_nz": tau[int(np.argmax(mfr > 0))] if opened and (mfr > 0).any() else nan,
        "max_mrep": mrep.max() if ranked else nan,
    }
    if "mvp" in means:
        found["max_mvp"] = means["mvp"].max() if ranked else nan
    if "f1" in means:
        found["max_f1"] = means["f1"].max() if ranked else nan
        found["tau_f1"] = tau[int(np.argmax(means["f1"]))] if ranked else nan
    return found


def _sets(tally: GomTally) -> RetrievedSets:
    return RetrievedSets(tally.matches, tally.retrieved, tally.thresholds)


def _per_threshold(sets: RetrievedSets, ties: str, *, capped: bool) -> tuple[np.ndarray, ...]:
    """Return RP and VP of each query at each threshold."""
    matches, hits = sets.matches, sets.hits
    ranks = ranks_of(matches, ties)
    listed = sets.retrieved.astype(np.float64)
    if capped:
        last = np.zeros(len(listed))
        some = matches.counts > 0
        last[some] = ranks[matches.starts[1:][some] - 1]
        listed = np.minimum(listed, last[:, None])
    with np.errstate(invalid="ignore", divide="ignore"):
        rp = np.where(hits > 0, sets.sums(matches.order / ranks) / hits, 0.0)
        return rp, hits / (listed - hits + sets.positives)


def _own_within(tally: GomTally) -> np.ndarray:
    """Return, for each query and threshold, whether a match is within it."""
    matches = tally.matches
    nearest = np.full(len(matches.counts), np.inf)
    found = matches.counts > 0
    nearest[found] = matches.distance[matches.starts[:-1][found]]
    return found[:, None] & (nearest[:, None] <= tally.thresholds[None])


def missing_warnings(found: np.ndarray, absent: np.ndarray, variant: str) -> list[str]:
    """Return warnings of queries in no mean, and of measures without a query."""
    said = []
    lost = int((~found & ~absent).sum())
    if lost and variant == "paper":
        said.append(f"{lost} queries have only removed matches and are in neither set of queries")
    if not found.any():
        said.append("no query has a match: mRP, mVP and mReP are not defined (NaN)")
    if not absent.any():
        said.append("the identity of every query is in the gallery, so mFR is not defined (NaN)")
    return said
