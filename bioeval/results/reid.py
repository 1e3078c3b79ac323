"""Re-identification: CMC, mAP and mINP under a convention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError, MergeError, ProtocolError, require_choice
from bioeval.base.variables import REID
from bioeval.results.average_precision import (
    AP_FORMS,
    average_precision,
    counted_places,
    cut_average_precision,
    first_places,
    inverse_negative_penalty,
)
from bioeval.results.dataset import about_attrs, build, rate
from bioeval.tallies.reid_counts import ReidTally
from bioeval.tallies.tie_policies import TIES, check_max_rank


def reid_dataset(
    tally: ReidTally,
    *,
    max_rank: int = 50,
    ties: str = "stable",
    ap: str = "sum",
    unmatched: str = "skip",
    rank_k: int | None = None,
    rank_k_over: str = "positives",
    per_query: bool = False,
) -> xr.Dataset:
    """Return the measures of re-identification; see :func:`bioeval.reid`."""
    check_max_rank(max_rank)
    require_choice("ties", ties, TIES)
    require_choice("ap", ap, AP_FORMS)
    require_choice("unmatched", unmatched, ("skip", "zero"))
    require_choice("rank_k_over", rank_k_over, ("positives", "smaller"))
    matches = tally.matches
    over = matches if tally.cmc_matches is None else tally.cmc_matches
    found = matches.counts > 0
    total, valid = len(found), int(found.sum())
    queries = total if unmatched == "zero" else valid
    tied = np.bincount(matches.query, matches.tied > 0, minlength=total) > 0

    at = _at_rank(tally, over, ties, max_rank)
    counted = np.cumsum(at)
    if not _fractional(tally, ties):
        counted = np.rint(counted).astype(np.int64)
    warnings = []
    values: dict[str, np.ndarray] = {}
    undefined = ties == "expected" and bool((tied & found).any())
    exact = "stable" if ties == "expected" else ties  # the same where nothing is tied
    nothing = np.full(total, np.nan)
    form_is_free = ap == "tied-once"
    values["average_precision"] = (
        nothing if undefined and not form_is_free else average_precision(matches, exact, ap)
    )
    values["inp"] = nothing if undefined else inverse_negative_penalty(matches, exact)
    if rank_k is not None:
        check_rank_k(rank_k)
        values["rank_k_average_precision"] = (
            nothing if undefined else cut_average_precision(matches, exact, rank_k, rank_k_over)
        )
    if undefined:
        warnings.append(
            f"{int((tied & found).sum())} queries have ties: AP and INP under expected ties are "
            "not offered (NaN); choose stable, pessimistic or optimistic ties"
        )
    means = {"average_precision": "mean_ap", "inp": "mean_inp"}
    means |= {"rank_k_average_precision": "rank_k_mean_ap"} if rank_k is not None else {}
    absent = ~tally.enrolled
    variables: dict[str, Any] = {
        "cmc": (("rank",), rate(counted, queries)),
        "cmc_count": (("rank",), counted),
        **{to: ((), _mean(values[name], found, queries)) for name, to in means.items()},
        "queries": ((), np.int64(queries)),
        "skipped": ((), np.int64(total - queries)),
        "unmatched": ((), np.int64(total - valid)),
        "not_in_gallery": ((), np.int64(absent.sum())),
        "removed": ((), np.int64(tally.removed_entries.sum())),
        "tied": ((), np.int64((tied & found).sum())),
    }
    coordinates = {"rank": np.arange(1, max_rank + 1)}
    if per_query:
        first = np.full(total, np.nan)
        query, rank, weight = first_places(over, ties)
        sums = np.bincount(query, rank * weight, minlength=total)
        first[found] = sums[found]
        each = {
            **values,
            "first_match_rank": first,
            "matches": matches.counts,
            "removed_entries": tally.removed_entries,
        }
        variables |= {name: (("probe",), value) for name, value in each.items()}
        coordinates["probe"] = np.arange(total)
    warnings += _unmatched(total, valid, int(absent.sum()), unmatched)
    attrs = about_attrs(tally.about, "re-identification", warnings)
    attrs |= {
        "convention": tally.convention,
        "removes": tally.removed,
        "removes_for_ap": tally.removed_for_ap,
        "junk": tally.junk,
        "cmc_counts": tally.cmc,
        "ties": ties,
        "ap": ap,
        "unmatched_queries": unmatched,
    }
    if tally.shots_of:
        attrs["single_shots"] = tally.shots_of
    if rank_k is not None:
        attrs |= {"rank_k": int(rank_k), "rank_k_over": rank_k_over}
    return build(variables, REID, coordinates, attrs)


def require_matches(dataset: xr.Dataset) -> None:
    """Raise :class:`ProtocolError` if no query has a match, and say why none has."""
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
        f"no query has a match left: of {total} queries, {absent} have an identity that is not in "
        f"the gallery, and the matches of the other {total - absent} are all removed (removed = "
        f"{rule!r}, junk {dataset.attrs['junk']}) or failed; check the cameras, or choose "
        "another convention"
    )


def check_rank_k(rank_k: Any) -> None:
    """Raise :class:`DataError` unless `rank_k` is a whole number of at least 1."""
    whole = isinstance(rank_k, (int, np.integer)) and not isinstance(rank_k, bool)
    if not whole or rank_k < 1:
        raise DataError(f"rank_k is {rank_k!r}; expected None or a whole number >= 1")


def _fractional(tally: ReidTally, ties: str) -> bool:
    return ties == "expected" or tally.cmc in ("allshots", "single-gallery-shot")


def _mean(values: np.ndarray, found: np.ndarray, queries: int) -> float:
    """Return the mean over the queries; those without a match add nothing."""
    return float(values[found].sum() / queries) if queries else float("nan")


def _at_rank(tally: ReidTally, over: Any, ties: str, max_rank: int) -> np.ndarray:
    """Return how many queries have their counted match exactly at each rank."""
    if tally.cmc == "single-gallery-shot":
        assert tally.shots is not None
        if max_rank > tally.shots.shape[1]:
            raise MergeError(
                f"single gallery shots were counted up to rank {tally.shots.shape[1]}; max_rank is "
                f"{max_rank}: count again"
            )
        return tally.shots[:, :max_rank].sum(axis=0)
    if tally.cmc == "identity-dedup":
        assert tally.identities is not None
        found = over.counts > 0
        closer, tied, before = tally.identities[found].T
        if ties == "expected":
            if tied.any():
                raise ProtocolError(
                    f"{int((tied > 0).sum())} queries have ties: a CMC over distinct identities "
                    "is not offered under expected ties; choose stable, pessimistic or optimistic"
                )
            ties = "stable"
        behind: Mapping[str, Any] = {"pessimistic": tied, "optimistic": 0, "stable": before}
        ranks, weights = 1 + closer + behind[ties], np.ones(len(closer))
    else:
        places = counted_places if tally.cmc == "allshots" else first_places
        _, ranks, weights = places(over, ties)
    kept = ranks <= max_rank
    return np.bincount(ranks[kept] - 1, weights[kept], minlength=max_rank)


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
