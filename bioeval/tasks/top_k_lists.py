"""Measures of top-K lists: CMC and average precision, exactly, up to the depth of the lists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_flag, require_integer
from bioeval.base.errors import Argument, ProtocolError
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
from bioeval.scores.matrix import codes_of
from bioeval.scores.provenance import Provenance, camera_notes
from bioeval.scores.top_k import TopKScores
from bioeval.tasks.plan import EvaluationOptions
from bioeval.tasks.reid.convention import (
    Convention,
    camera_codes,
    convention_of,
    left_out_notes,
    left_out_queries,
)
from bioeval.tasks.reid.counts import query_labels
from bioeval.tasks.reid.intervals import query_mean_intervals
from bioeval.tasks.reid.matches import (
    MatchLists,
    cut_messages,
    interpolated_precision,
    match_sum,
)
from bioeval.tasks.reid.results import (
    RECALL_LEVELS,
    ranked_curves,
    without_match,
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
        f"{Argument('thresholds')}: lists that are cut do not hold all that is within a threshold; "
        "leave them out, or give a matrix of scores"
    )


#: The only values of these fields of a convention that lists support.
_SUPPORTED = {"cmc": "first-match", "ap": "sum", "removed_for_ap": "as-above", "ties": "stable"}


def evaluate(scores: TopKScores, card: Protocol, options: EvaluationOptions) -> xr.DataTree:
    """Evaluate top-K lists under a card of re-identification."""
    options.refuse_unused(card)
    ranks = " ".join(map(str, card.report.ranks))
    if options.thresholds is not None:
        raise refused_thresholds()
    rules = convention_of(card, max_rank=options.max_rank)
    dataset, measures = reid_of_lists(
        scores, rules, max_rank=options.max_rank, per_query=options.per_query
    )
    if options.interval is not None:
        dataset = query_mean_intervals(
            dataset, measures, scores._probe_people, TOP_K, options.interval
        )
    return tree_of({"reid": dataset.assign_attrs(protocol=card.name, report_ranks=ranks)})


def reid_of_lists(
    scores: TopKScores, rules: Convention, *, max_rank: int | None = None, per_query: bool = False
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
    distractor_ids = (*rules.distractor_ids, *scores.distractor_ids)
    left_out = left_out_queries(scores, (*rules.junk_ids, *distractor_ids))
    lists = listed_matches(scores, rules, left_out)
    valid = lists.positives > 0
    counted = valid | ((rules.unmatched == "zero") & ~left_out)
    queries = int(counted.sum())
    if not queries:
        raise ProtocolError(
            f"none of the {len(scores.indices)} queries has a match in the gallery that the "
            f"convention leaves it (removed = {rules.removed!r}); check that both sides use the "
            "same labels, and the cameras"
        )

    cmc_reach = lists.reach(valid & (lists.first == 0))
    last = _rank("max_rank", max_rank, cmc_reach, scores.depth)
    listed, query = np.flatnonzero(lists.first), np.flatnonzero(valid)
    cmc = MatchCurve(counted, listed, lists.first[listed], np.ones(len(listed)))
    counts = cmc.counts(last).astype(np.int64)

    ap_reach = lists.reach(valid & (lists.listed < lists.positives))
    cut = _rank("rank_k", rules.rank_k, ap_reach, scores.depth)
    over = total = np.where(valid, lists.positives, 1)
    if rules.rank_k_over == "smaller":
        over = np.minimum(total, cut)
    elif rules.rank_k_over == "found":
        over = np.maximum((lists.hits & (lists.ranks <= cut)).sum(axis=1), 1)
    at_k = lists.precisions(cut) / over
    matches = lists.matches()
    curves = ranked_curves(
        matches, counted, "stable", last, total, precision_over=rules.precision_over
    )
    unknown = np.arange(1, last + 1) > (last if ap_reach is None else ap_reach)

    complete = bool((lists.listed >= lists.positives).all())
    whole = lists.precisions(None) / total
    values = {"rank_k_mean_ap": at_k}
    if complete:
        levels = interpolated_precision(matches, "stable")
        values |= {"mean_ap": whole, "interpolated_precision": levels}
    each_query = {}
    for name, (far, near) in lists.match_sums().items():
        each_query[name] = each = np.where(far == near, near, np.nan)
        if not np.isnan(each[query]).any():
            values[name] = each
    means = {name: QueryMean(counted, query, x[query]) for name, x in values.items()}
    beyond = int((lists.positives > scores.depth).sum())
    skipped = int((~valid & ~left_out).sum())
    about = Provenance.of(scores)
    notes: list[Message] = [*cut_messages(lists.positives, cut, rules.rank_k_over)]
    notes += left_out_notes(scores, distractor_ids, rules.junk_ids)
    if rules.removed != "none":
        notes += camera_notes(scores, camera_codes(scores), rules.removed == "same-camera")
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
        "cmc": (("rank",), rate(counts, queries)),
        "cmc_count": (("rank",), counts),
        "rank_k": cut,
        **dict.fromkeys(("mean_ap", *OF_MATCH), np.nan),
        **known,
        **along(("rank",), **over_ranks),
        "interpolated_precision": (("recall_level",), levels),
        "queries": queries,
        "subjects": len(np.unique(scores._codes.probe[counted])),
        "skipped": skipped,
        "left_out": int(left_out.sum()),
        "beyond_lists": beyond,
    }
    coordinates = {"rank": np.arange(1, last + 1), "recall_level": RECALL_LEVELS}
    if require_flag("per_query", per_query):
        ranks = np.where(lists.first > 0, lists.first, np.nan)
        variables["rank_k_average_precision"] = (("probe",), np.where(valid, at_k, np.nan))
        variables["first_match_rank"] = (("probe",), ranks)
        for name, each in each_query.items():
            variables[OF_QUERY[name]] = (("probe",), each)
        coordinates["probe"] = np.arange(len(valid))
        variables["identity"] = ("probe",), query_labels(scores)
    measures = QueryMeasures(cmc, means, curves)
    attrs = about_attrs(about, "top-k", "top-K lists", notes)
    attrs |= {"depth": scores.depth, **rules.attrs(), "ties": "listed"}
    result = dataset(variables, TOP_K, coordinates, attrs)
    if max_rank is None:
        result = result.isel(rank=slice(rules.max_rank))
    return result, measures


@dataclass(frozen=True)
class ListedMatches:
    """The matches along each list."""

    kept: np.ndarray  # (q, k): whether an entry is on the query's list
    hits: np.ndarray  # (q, k): whether an entry is a match on the query's list
    ranks: np.ndarray  # (q, k): its rank on that list
    positives: np.ndarray  # (q,): matches in the gallery
    listed: np.ndarray  # (q,): those of them that are listed
    first: np.ndarray  # (q,): the rank of the first of these, 0 without any
    depth: np.ndarray  # (q,): number of ranks that the list covers
    candidates: np.ndarray  # (q,): entries of the gallery on the query's list, listed or not

    def reach(self, open_: np.ndarray) -> int | None:
        """Return the last rank covered by every list, None for all; `open_` masks cut queries."""
        return int(self.depth[open_].min()) if open_.any() else None

    def matches(self) -> MatchLists:
        """Return the matches on the lists, by their ranks."""
        return _by_ranks(self.ranks[self.hits], self.listed)

    def match_sums(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return the measures of each query that are sums over its matches, by name.

        With unlisted matches behind all others, and right behind the list.
        """
        unlisted = self.positives - self.listed
        beyond = np.repeat(np.arange(len(unlisted)), unlisted)
        place = np.arange(1, len(beyond) + 1) - np.repeat(np.cumsum(unlisted) - unlisted, unlisted)
        order = np.argsort(np.append(np.nonzero(self.hits)[0], beyond), kind="stable")

        def behind(end: np.ndarray) -> MatchLists:
            ranks = np.append(self.ranks[self.hits], end[beyond] + place)
            return _by_ranks(ranks[order], self.positives)

        far, near = behind(self.candidates - unlisted), behind(self.depth)
        sums = {}
        for name in OF_MATCH:
            sums[name] = match_sum(far, "stable", name), match_sum(near, "stable", name)
        return sums

    def precisions(self, cut: int | None) -> np.ndarray:
        """Return the sum of the precisions at the matches, up to a rank, for each query."""
        hits = self.hits
        if cut is not None:
            hits = hits & (self.ranks <= cut)
        precision = np.cumsum(hits, axis=1) / np.maximum(self.ranks, 1)
        return np.where(hits, precision, 0.0).sum(axis=1)


def _by_ranks(ranks: np.ndarray, counts: np.ndarray) -> MatchLists:
    """Return matches by their ranks, `counts` of each query."""
    starts = np.concatenate([[0], np.cumsum(counts)])
    none = np.zeros_like(ranks)
    lists = MatchLists(starts, ranks.astype(np.float64), ranks, none, none)
    lists.closer = ranks - lists.order
    return lists


def listed_matches(scores: TopKScores, rules: Convention, left_out: np.ndarray) -> ListedMatches:
    """Return the matches along each list, without entries that a convention removes.

    Queries that are left out have none.
    """
    codes, removed = codes_of(scores).labelled, rules.removed
    gallery, query = codes.gallery, np.where(left_out, -1, codes.probe)
    index = scores.indices
    same_identity = gallery[index] == query[:, None]
    usable = np.ones(len(gallery), dtype=bool)
    if rules.junk == "remove":
        usable = ~codes.of_no_person(rules.junk_ids)[gallery]
    kept = (index >= 0) & usable[index]
    size = int(max(query.max(), gallery.max())) + 1
    positives = np.where(left_out, 0, np.bincount(gallery[usable], minlength=size)[query])
    candidates = np.full(len(query), int(usable.sum()))
    if removed != "none":
        cameras = camera_codes(scores)
        searching, enrolled = cameras.probe + 2, cameras.gallery + 2  # unknown ones, 1 and 0
        same_camera = enrolled[index] == searching[:, None]
        kept &= ~(same_camera & (same_identity | (removed == "same-camera")))
        width = len(cameras.values) + 2
        seen, count = np.unique(gallery[usable] * width + enrolled[usable], return_counts=True)
        wanted = query * width + searching
        at = np.minimum(np.searchsorted(seen, wanted), len(seen) - 1)
        here = np.zeros(len(query), dtype=np.int64)
        if len(seen):
            here = np.where(seen[at] == wanted, count[at], 0)
        positives = positives - here
        whole = np.bincount(enrolled[usable], minlength=width)[searching]
        candidates = candidates - (whole if removed == "same-camera" else here)
    # A query that is a gallery entry itself is no match of its own, unless a rule removed it.
    entry = scores._entry_of_query
    is_entry = (entry >= 0) & usable[entry] & ~left_out
    if removed != "none":
        is_entry &= enrolled[entry] != searching
    positives = positives - is_entry
    candidates = candidates - is_entry
    hits = kept & same_identity
    ranks = np.cumsum(kept, axis=1)
    any_hit = hits.any(axis=1)
    rows = np.arange(len(index))
    return ListedMatches(
        kept=kept,
        hits=hits,
        ranks=ranks,
        positives=positives,
        listed=hits.sum(axis=1),
        first=np.where(any_hit, ranks[rows, np.argmax(hits, axis=1)], 0),
        depth=ranks[:, -1],
        candidates=candidates,
    )


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
            f"{Argument(name)} is {rank}, but a list covers only {reach} ranks (of its {depth} "
            f"places, less those removed); expected at most {reach}, longer lists, or a matrix of "
            "scores"
        )
    return rank
