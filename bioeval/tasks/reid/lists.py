"""Measures of top-K lists: CMC and average precision, exactly, up to the depth of the lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_integer
from bioeval.base.errors import ProtocolError
from bioeval.base.messages import Message
from bioeval.counting.identification import check_max_rank
from bioeval.protocol.card import Protocol
from bioeval.results.dataset import about_attrs, along, dataset, rate, tree_of
from bioeval.results.query_means import (
    OF_MATCH,
    OF_QUERY,
    MatchCurve,
    QueryMean,
    QueryMeasures,
)
from bioeval.results.variables import QUERY_MEANS, REID, Variable, entries
from bioeval.scores.matrix import Scores
from bioeval.scores.people import people_of_probes, require_people
from bioeval.stats.options import IntervalMethod
from bioeval.tasks.options import EvaluationOptions
from bioeval.tasks.reid.candidates import Candidates
from bioeval.tasks.reid.convention import Convention, convention_of
from bioeval.tasks.reid.counts import (
    RECALL_LEVELS,
    ReidCounts,
    ranked_curves,
    without_match,
)
from bioeval.tasks.reid.intervals import query_mean_intervals
from bioeval.tasks.reid.matches import (
    MatchLists,
    average_precision,
    cut_average_precision,
    cut_messages,
    interpolated_precision,
    match_sum,
    ranks_of,
)

TOP_K = {
    **entries(REID, "cmc", "cmc_count", *QUERY_MEANS, "precision_at_k"),
    **entries(REID, "identity"),
    **entries(REID, "recall_at_k", "interpolated_precision", "queries", "subjects", "skipped"),
    **entries(REID, "left_out"),
    **entries(REID, "rank_k_average_precision", *(OF_QUERY[name] for name in OF_MATCH)),
    "rank_k": Variable("rank K at which lists are cut"),
    "beyond_lists": Variable("queries with more matches than a list has places", "queries"),
    "first_match_rank": Variable("rank of the first match; NaN where none is listed"),
}


def refused_thresholds() -> ProtocolError:
    """Return the error that lists have no sets that are retrieved within thresholds."""
    return ProtocolError(
        "`thresholds`: lists that are cut do not hold all that is within a threshold; "
        "leave them out, or give a matrix of scores"
    )


#: The only values of these fields of a convention that lists support.
_SUPPORTED = {"cmc": "first-match", "ap": "sum", "removed_for_ap": "as-above", "ties": "stable"}


def evaluate_lists(scores: Scores, card: Protocol, options: EvaluationOptions) -> xr.DataTree:
    """Evaluate top-K lists under a card of re-identification."""
    options.refuse_unused(card)
    ranks = " ".join(map(str, card.report.ranks))
    if options.thresholds is not None:
        raise refused_thresholds()
    rules = convention_of(card, max_rank=options.max_rank)
    how: dict[str, Any] = {"max_rank": options.max_rank, "per_query": options.per_query}
    dataset = lists_dataset(scores, rules, options.interval, **how)
    return tree_of({"reid": dataset.assign_attrs(protocol=card.name, report_ranks=ranks)})


def lists_dataset(
    scores: Scores, rules: Convention, limits: IntervalMethod | None, **how: Any
) -> xr.Dataset:
    """Return the result of :func:`reid_of_lists`, with confidence intervals if wanted."""
    dataset, measures = reid_of_lists(scores, rules, **how)
    if limits is None:
        return dataset
    if limits.by_subject:
        require_people(scores, method=limits.method)
    return query_mean_intervals(dataset, measures, people_of_probes(scores), TOP_K, limits)


def reid_of_lists(
    scores: Scores, rules: Convention, *, max_rank: int | None = None, per_query: bool = False
) -> tuple[xr.Dataset, QueryMeasures]:
    """Evaluate top-K lists by a convention; return the result and each query's contribution.

    A ProtocolError if lists do not support the convention. `max_rank` None takes the convention's,
    or the last rank covered by all lists if that is less.

    The average precision of a list is cut at the convention's `rank_k`, else as far as all lists
    are known. A removed entry leaves its place to the next, so a list covers fewer ranks. Tang et
    al., CityFlow (CVPR 2019), "rank-K mAP".
    """
    for name, word in _SUPPORTED.items():
        if getattr(rules, name) != word:
            raise ProtocolError(
                f"the convention {rules.name} has {name} = {getattr(rules, name)!r}; top-K "
                f"lists do not determine it; give {word!r}, or a matrix of scores"
            )
    check_max_rank(max_rank, scores.shape[1])
    candidates = Candidates(scores, rules)
    counts = ReidCounts.of(candidates)
    matches, left_out = counts.matches, candidates.left_out
    positives, ranks = matches.positives, ranks_of(matches, "stable")
    valid = positives > 0
    counted = valid | ((rules.unmatched == "zero") & ~left_out)
    queries = int(counted.sum())
    if not queries:
        raise ProtocolError(
            f"none of the {len(scores.indices)} queries has a match in the gallery that the "
            f"convention leaves it (removed = {rules.removed!r}); check that both sides use the "
            "same labels, and the cameras"
        )
    listed, query = np.flatnonzero(matches.counts), np.flatnonzero(valid)
    first = ranks[matches.starts[listed]]
    places = matches.counts if matches.others is None else matches.counts + matches.others
    cmc_reach = _reach(places, valid & (matches.counts == 0))
    last = _rank("max_rank", max_rank, cmc_reach, scores.depth)
    cmc = MatchCurve(counted, listed, first, np.ones(len(listed)))
    at_rank = cmc.counts(last).astype(np.int64)

    open_ = valid & (matches.counts < positives)
    ap_reach, complete = _reach(places, open_), not open_.any()
    cut = _rank("rank_k", rules.rank_k, ap_reach, scores.depth)
    curves = ranked_curves(
        matches, counted, "stable", last, positives, precision_over=rules.precision_over
    )
    unknown = np.arange(1, last + 1) > (last if ap_reach is None else ap_reach)

    at_k = cut_average_precision(matches, "stable", cut, rules.rank_k_over)
    values = {"rank_k_mean_ap": at_k}
    if complete:
        values["mean_ap"] = average_precision(matches, "stable")
        values["interpolated_precision"] = interpolated_precision(matches, "stable")
    each_query = {}
    behind_all = scores.gallery_size - candidates.removed_entries(rules.removed) - candidates.itself
    ends = [
        _with_unlisted(matches, end) for end in (behind_all - positives + matches.counts, places)
    ]
    for name in OF_MATCH:
        far, near = (match_sum(end, "stable", name) for end in ends)
        each_query[name] = each = np.where(far == near, near, np.nan)
        if not np.isnan(each[query]).any():
            values[name] = each
    means = {name: QueryMean(counted, query, x[query]) for name, x in values.items()}
    skipped = int((~valid & ~left_out).sum())
    notes: list[Message] = [*cut_messages(positives, cut, rules.rank_k_over)]
    if skipped:
        treatment = "left out" if rules.unmatched == "skip" else "counted as 0"
        notes.append(without_match(skipped, 0, treatment))
    if not complete:
        lost = [x.label for x in QUERY_MEANS.values() if x.name not in means]
        notes.append(Message("matches-beyond-lists", what=lost))
    if unknown.any():
        what = [f"precision and recall beyond rank {int(ap_reach or 0)}"]
        notes.append(Message("matches-beyond-lists", what=what))
    over_ranks = {}
    for name, curve in curves.items():
        over_ranks[name] = np.where(unknown, np.nan, curve.means(last))
    known = {name: mean.mean for name, mean in means.items()}
    levels = known.pop("interpolated_precision", np.full(len(RECALL_LEVELS), np.nan))
    variables = {
        "cmc": (("rank",), rate(at_rank, queries)),
        "cmc_count": (("rank",), at_rank),
        "rank_k": cut,
        **dict.fromkeys(("mean_ap", *OF_MATCH), np.nan),
        **known,
        **along(("rank",), **over_ranks),
        "interpolated_precision": (("recall_level",), levels),
        "queries": queries,
        "subjects": len(np.unique(candidates.identity[counted])),
        "skipped": skipped,
        "left_out": int(left_out.sum()),
        "beyond_lists": int((positives > scores.depth).sum()),
    }
    coordinates = {"rank": np.arange(1, last + 1), "recall_level": RECALL_LEVELS}
    if per_query:
        first_rank = np.full(len(valid), np.nan)
        first_rank[listed] = first
        variables["rank_k_average_precision"] = (("probe",), at_k)
        variables["first_match_rank"] = (("probe",), first_rank)
        for name, each in each_query.items():
            variables[OF_QUERY[name]] = (("probe",), each)
        coordinates["probe"] = np.arange(len(valid))
        variables["identity"] = ("probe",), candidates.labels()
    measures = QueryMeasures(cmc, means, curves)
    attrs = about_attrs(candidates.about(), "top-k", "top-K lists", notes)
    attrs |= {"depth": scores.depth, **rules.attrs(), "ties": "listed"}
    result = dataset(variables, TOP_K, coordinates, attrs)
    if max_rank is None:
        result = result.isel(rank=slice(rules.max_rank))
    return result, measures


def _reach(places: np.ndarray, open_: np.ndarray) -> int | None:
    """Return the last rank that every list covers, None for all; `open_` masks cut queries."""
    return int(places[open_].min()) if open_.any() else None


def _with_unlisted(matches: MatchLists, end: np.ndarray) -> MatchLists:
    """Return all matches, those that are not listed right behind a rank of each query."""
    positives = matches.positives
    number = positives - matches.counts
    beyond = np.repeat(np.arange(len(number)), number)
    place = np.arange(1, len(beyond) + 1) - np.repeat(np.cumsum(number) - number, number)
    order = np.argsort(np.append(matches.query, beyond), kind="stable")
    ranks = np.append(ranks_of(matches, "stable"), end[beyond] + place)[order]
    none = np.zeros_like(ranks)
    starts = np.append(0, np.cumsum(positives))
    lists = MatchLists(starts, ranks.astype(np.float64), ranks, none, none)
    lists.closer = ranks - lists.order
    return lists


def _rank(name: str, requested: int | None, reach: int | None, depth: int) -> int:
    """Return a given rank, or the last one covered by every list."""
    if requested is None:
        if reach == 0:
            raise ProtocolError(
                f"a list of {depth} places covers no rank: every entry is removed for its "
                "query, or it is empty; give longer lists, or a matrix of scores"
            )
        return depth if reach is None else reach
    rank = require_integer(name, requested, low=1)
    if reach is not None and rank > reach:
        raise ProtocolError(
            f"`{name}` is {rank}, but a list covers only {reach} ranks (of its {depth} "
            f"places, less those removed); expected at most {reach}, longer lists, or a matrix of "
            "scores"
        )
    return rank
