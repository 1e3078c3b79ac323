"""Re-identification: CMC, mAP and mINP under a convention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from warnings import warn

import numpy as np
import xarray as xr

from bioeval.base import scalars
from bioeval.base.arguments import require_integer
from bioeval.base.errors import BioevalWarning, MergeError, ProtocolError, require_choice
from bioeval.base.scalars import Name
from bioeval.base.variables import by_name, ends
from bioeval.results.dataset import about_attrs, build, rate
from bioeval.results.query_means import (
    AP_FORMS,
    TENTHS,
    MatchCurve,
    QueryMean,
    QueryMeasures,
    RetrievedSets,
    average_precision,
    counted_places,
    cut_average_precision,
    cut_warnings,
    first_places,
    interpolated_precision,
    inverse_negative_penalty,
    match_places,
)
from bioeval.tallies.identification_job import TIES, check_max_rank
from bioeval.tallies.reid_counts import MatchLists, ReidTally
from bioeval.tallies.thresholds import to_user

REID = {
    "cmc": scalars.CMC,
    "cmc_count": Name(
        "queries whose first counted match is at rank R or better, or expected number", "queries"
    ),
    **by_name(scalars.QUERY_MEANS),
    **by_name(scalars.RANKED_LISTS),
    "interpolated_precision": scalars.INTERPOLATED_PRECISION,
    **by_name(scalars.RETRIEVED_SETS),
    "queries": Name("queries that the means are over", "queries"),
    "subjects": Name("identities of all queries: independent trials", "subjects"),
    "skipped": Name("queries without a match, left out of the means", "queries"),
    "unmatched": Name("queries that have no match left", "queries"),
    "not_in_gallery": Name("of these, queries whose identity is not in the gallery", "queries"),
    "removed": Name("gallery entries excluded for a query, summed over queries", "comparisons"),
    "tied": Name("queries with a non-match tied with one of their matches", "queries"),
    "average_precision": Name("average precision; NaN without a match"),
    "inp": Name("matches over the rank of the last one; NaN without a match"),
    "rank_k_average_precision": Name("average precision of the cut list; NaN without a match"),
    "first_match_rank": Name("rank of the first match; NaN without one"),
    "matches": Name("matches of the query that are not excluded", "entries"),
    "removed_entries": Name("gallery entries excluded for the query", "entries"),
}

_RANKED = (
    *("cmc", "mean_ap", "mean_inp", "rank_k_mean_ap"),
    *("precision_at_k", "recall_at_k", "interpolated_precision"),
)

REID |= ends(REID, (*_RANKED, "precision", "recall", "f1"))


@dataclass(frozen=True)
class ReidOptions:
    """Options of the measures of re-identification, checked; see :func:`bioeval.reid`."""

    max_rank: int = 50
    ties: str = "stable"
    ap: str = "sum"
    unmatched: str = "skip"
    rank_k: int | None = None
    rank_k_over: str = "positives"
    per_query: bool = False

    def __post_init__(self) -> None:
        check_max_rank(self.max_rank)
        require_choice("ties", self.ties, TIES)
        require_choice("ap", self.ap, AP_FORMS)
        require_choice("unmatched", self.unmatched, ("skip", "zero"))
        require_choice("rank_k_over", self.rank_k_over, ("positives", "smaller"))
        if self.rank_k is not None:
            require_integer("rank_k", self.rank_k, low=1)


def reid_dataset(tally: ReidTally, options: ReidOptions) -> xr.Dataset:
    """Return the measures of re-identification; see :func:`bioeval.reid`."""
    ties = options.ties
    found = tally.matches.counts > 0
    total, valid = len(found), int(found.sum())
    queries = total if options.unmatched == "zero" else valid
    ambiguous = _ambiguous(tally)

    measures = reid_measures(tally, options)
    counted = measures.cmc.counts(options.max_rank)
    if ties != "expected" and tally.cmc not in ("allshots", "single-gallery-shot"):
        counted = np.rint(counted).astype(np.int64)
    absent = int((~tally.enrolled).sum())
    variables: dict[str, Any] = {
        "cmc": (("rank",), rate(counted, queries)),
        "cmc_count": (("rank",), counted),
        **{name: (_OVER.get(name, ()), x.mean) for name, x in measures.means.items()},
        **{name: (("rank",), x.means(options.max_rank)) for name, x in measures.curves.items()},
        "queries": queries,
        "skipped": total - queries,
        "unmatched": total - valid,
        "not_in_gallery": absent,
        "removed": tally.removed_entries.sum(),
        "tied": ambiguous,
    }
    if tally.about.people:
        variables["subjects"] = len(tally.about.probe_subjects)
    coordinates = {"rank": np.arange(1, options.max_rank + 1), "recall_level": RECALL_LEVELS}
    if (sets := _sets(tally)) is not None and tally.thresholds is not None:
        variables["micro_f1"] = ("threshold",), _in_order(sets.micro_f1(), tally)
        coordinates["threshold"] = _in_order(to_user(tally.thresholds, tally.about.kind), tally)
    if options.per_query:
        first = np.full(total, np.nan)
        query, rank, weight = first_places(tally.cmc_matches or tally.matches, ties)
        sums = np.bincount(query, rank * weight, minlength=total)
        first[found] = sums[found]
        each_query = {
            **{of: measures.means[k].each for k, of in _OF_QUERY.items() if k in measures.means},
            "first_match_rank": first,
            "matches": tally.matches.counts,
            "removed_entries": tally.removed_entries,
        }
        variables |= {name: (("probe",), value) for name, value in each_query.items()}
        coordinates["probe"] = np.arange(total)
    warnings = []
    if ties == "expected" and ambiguous:
        warnings.append(
            f"{ambiguous} queries have ties: AP, INP and interpolated precision under expected "
            "ties are not offered (NaN); choose stable, pessimistic or optimistic ties"
        )
    if options.rank_k is not None:
        warnings += cut_warnings(tally.matches.counts, options.rank_k, options.rank_k_over)
    warnings += _unmatched(total, valid, absent, options.unmatched)
    attrs = about_attrs(tally.about, "re-identification", warnings)
    attrs |= {
        "convention": tally.convention,
        "removes": tally.removed,
        "removes_for_ap": tally.removed_for_ap,
        "junk": tally.junk,
        "cmc_counts": tally.cmc,
        "ties": ties,
        "ap": options.ap,
        "unmatched_queries": options.unmatched,
    }
    if tally.shots_of:
        attrs["single_shots"] = tally.shots_of
    if options.rank_k is not None:
        attrs |= {"rank_k": int(options.rank_k), "rank_k_over": options.rank_k_over}
    return build(variables, REID, coordinates, attrs)


#: The recall levels of interpolated precision.
RECALL_LEVELS = np.arange(TENTHS + 1) / TENTHS

#: Dimensions of means that are not single numbers.
_OVER = {
    "interpolated_precision": ("recall_level",),
    **{name: ("threshold",) for name in ("precision", "recall", "f1")},
}

#: Means over the queries, and the variable that has the value of each query.
_OF_QUERY = {
    "mean_ap": "average_precision",
    "mean_inp": "inp",
    "rank_k_mean_ap": "rank_k_average_precision",
}


def reid_measures(tally: ReidTally, options: ReidOptions) -> QueryMeasures:
    """Return the measures of re-identification, by the contribution of each query."""
    counted = (tally.matches.counts > 0) | (options.unmatched == "zero")
    curves = ranked_curves(
        tally.matches, counted, options.ties, options.max_rank, tally.matches.counts
    )
    return QueryMeasures(_curve(tally, options, counted), _means(tally, options, counted), curves)


def ranked_curves(
    matches: MatchLists, counted: np.ndarray, ties: str, max_rank: int, positives: np.ndarray
) -> dict[str, MatchCurve]:
    """Return precision and recall over the ranks; `positives` are the matches in the gallery."""
    query, rank, weight = match_places(matches, ties, max_rank)
    return {
        "precision_at_k": MatchCurve(counted, query, rank, weight, per_rank=True),
        "recall_at_k": MatchCurve(counted, query, rank, weight / positives[query]),
    }


def _ambiguous(tally: ReidTally) -> int:
    """Return the number of queries with a non-match tied with one of their matches."""
    return len(np.unique(tally.matches.query[tally.matches.tied > 0]))


def _means(tally: ReidTally, options: ReidOptions, counted: np.ndarray) -> dict[str, QueryMean]:
    """Return the means, curves over the ranks left out; NaN if ties leave them undefined."""
    matches, expected = tally.matches, options.ties == "expected"
    ties = "stable" if expected else options.ties  # the same without ties
    undefined = expected and _ambiguous(tally) > 0
    nothing = np.full(len(matches.counts), np.nan)
    no_levels = np.full((len(nothing), TENTHS + 1), np.nan)
    values = {"mean_ap": nothing, "mean_inp": nothing, "interpolated_precision": no_levels}
    if not undefined or options.ap == "tied-once":
        values["mean_ap"] = average_precision(matches, ties, options.ap)
    if not undefined:
        values["mean_inp"] = inverse_negative_penalty(matches, ties)
        values["interpolated_precision"] = interpolated_precision(matches, ties)
    if options.rank_k is not None:
        values["rank_k_mean_ap"] = (
            nothing
            if undefined
            else cut_average_precision(matches, ties, options.rank_k, options.rank_k_over)
        )
    query = np.flatnonzero(matches.counts)
    means = {name: QueryMean(counted, query, each[query]) for name, each in values.items()}
    if (sets := _sets(tally)) is not None:
        for name, mean in sets.measures(counted).items():
            means[name] = replace(mean, values=_in_order(mean.values, tally))
    return means


def _sets(tally: ReidTally) -> RetrievedSets | None:
    """Return the measures of entries retrieved within thresholds, if these were counted."""
    if tally.thresholds is None or tally.retrieved is None:
        return None
    return RetrievedSets(tally.matches, tally.retrieved, tally.thresholds)


def _in_order(values: np.ndarray, tally: ReidTally) -> np.ndarray:
    """Return values over increasing distances in the order of the user's thresholds."""
    return values[..., ::-1] if tally.about.kind == "similarity" else values


def warn_of_cut_lists(result: xr.Dataset) -> None:
    """Warn where a query has more matches than fit into a list cut at rank K."""
    for message in str(result.attrs["warnings"]).splitlines():
        if "places of a cut list" in message:
            warn(message, BioevalWarning, stacklevel=3)


def require_matches(dataset: xr.Dataset) -> None:
    """Raise :class:`ProtocolError` with the reason if no query has a match."""
    total = int(dataset.attrs["probes"])
    if int(dataset["unmatched"]) < total:
        return
    absent = int(dataset["not_in_gallery"])
    if absent == total:
        raise ProtocolError(
            f"no identity of the {total} queries is in the gallery, so there is nothing to rank; "
            "check that both sides use the same labels"
        )
    rule = dataset.attrs["removes"]
    raise ProtocolError(
        f"no query has a match left. The gallery lacks the identity of {absent} of {total} "
        f"queries; all matches of the other {total - absent} are removed (removed = {rule!r}, "
        f"junk {dataset.attrs['junk']}) or failed; check the cameras, or choose another "
        "convention"
    )


def _curve(tally: ReidTally, options: ReidOptions, counted: np.ndarray) -> MatchCurve:
    """Return the counted matches of the queries."""
    over = tally.matches if tally.cmc_matches is None else tally.cmc_matches
    ties, max_rank = options.ties, options.max_rank
    if tally.cmc == "single-gallery-shot":
        assert tally.shots is not None
        if max_rank > tally.shots.shape[1]:
            raise MergeError(
                f"single gallery shots were counted up to rank {tally.shots.shape[1]}; max_rank is "
                f"{max_rank}: count again"
            )
        query, place = np.indices((len(counted), max_rank)).reshape(2, -1)
        return MatchCurve(counted, query, 1 + place, tally.shots[:, :max_rank].reshape(-1))
    if tally.cmc == "identity-dedup":
        assert tally.identities is not None
        query = np.flatnonzero(over.counts)
        closer, tied, before = tally.identities[query].T
        if ties == "expected":
            if tied.any():
                raise ProtocolError(
                    f"{int((tied > 0).sum())} queries have ties: a CMC over distinct identities "
                    "is not offered under expected ties; choose stable, pessimistic or optimistic"
                )
            ties = "stable"
        behind: Mapping[str, Any] = {"pessimistic": tied, "optimistic": 0, "stable": before}
        return MatchCurve(counted, query, 1 + closer + behind[ties], np.ones(len(closer)))
    places = counted_places if tally.cmc == "allshots" else first_places
    return MatchCurve(counted, *places(over, ties))


def _unmatched(total: int, valid: int, absent: int, unmatched: str) -> list[str]:
    if valid == total:
        return []
    if not valid:
        why = "no query has a match: nothing can be ranked"
        return [why + (" (NaN)" if unmatched == "skip" else ", and every mean is 0")]
    gone = total - valid - absent
    parts = [f"{absent} whose identity is not in the gallery"] if absent else []
    parts += [f"{gone} whose every match is removed"] if gone > 0 else []
    what = "left out" if unmatched == "skip" else "counted as 0 in every mean"
    return [f"{total - valid} queries have no match and were {what}: {' and '.join(parts)}"]
