"""Measures of top-K lists: CMC and average precision, exactly, up to the depth of the lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
import xarray as xr

from bioeval import DataError, ProtocolError, TopKScores
from bioeval.base import (
    MATCH_SUMS,
    QUERY_MEANS,
    Argument,
    Name,
    names_of,
    received,
    require_choice,
    require_flag,
    require_integer,
)
from bioeval.document import Message
from bioeval.results import (
    MatchCurve,
    QueryMean,
    QueryMeasures,
    about_attrs,
    along,
    build,
    rate,
)
from bioeval.scores import Codes, Provenance, codes_of
from bioeval.studies.reid.convention import (
    REMOVED,
    Convention,
    Junk,
    Removed,
    cameras_of,
    left_out_notes,
    left_out_queries,
)
from bioeval.studies.reid.counts import query_labels
from bioeval.studies.reid.matches import (
    MatchLists,
    PrecisionOver,
    RankKOver,
    Unmatched,
    cut_messages,
    interpolated_precision,
    match_sum,
)
from bioeval.studies.reid.results import (
    _RANKED,
    RECALL_LEVELS,
    REID,
    ranked_curves,
    warn_of_cut_lists,
)
from bioeval.tallies import check_max_rank

TOP_K = {
    **names_of(REID, "cmc", "cmc_count", *QUERY_MEANS, "precision_at_k"),
    **names_of(REID, "identity"),
    **names_of(REID, "recall_at_k", "interpolated_precision", "queries", "subjects", "skipped"),
    **names_of(REID, "left_out"),
    "rank_k_average_precision": REID["rank_k_average_precision"],
    **{scalar.of_query[0]: scalar.each for scalar in MATCH_SUMS.values()},
    "rank_k": Name("rank K at which lists are cut"),
    "beyond_lists": Name("queries with more matches than a list has places", "queries"),
    "first_match_rank": Name("rank of the first match; NaN where none is listed"),
}

for _name in _RANKED:
    TOP_K |= TOP_K[_name].ends_of(_name)


@dataclass(frozen=True)
class TopKOptions:
    """Options of the measures of top-K lists, checked; see :func:`top_k`."""

    removed: str
    junk: str
    junk_ids: Sequence[int]
    unmatched: str
    rank_k: int | None
    rank_k_over: str
    max_rank: int | None
    per_query: bool
    distractor_ids: Sequence[int] = ()
    precision_over: str = "rank"

    def __post_init__(self) -> None:
        check_max_rank(self.max_rank)
        require_choice("removed", self.removed, REMOVED)
        require_choice("junk", self.junk, get_args(Junk))
        require_choice("unmatched", self.unmatched, get_args(Unmatched))
        require_choice("rank_k_over", self.rank_k_over, get_args(RankKOver))
        require_choice("precision_over", self.precision_over, get_args(PrecisionOver))


def top_k(
    scores: TopKScores,
    *,
    removed: Removed = "none",
    junk: Junk = "keep",
    junk_ids: Sequence[int] = (-1,),
    unmatched: Unmatched = "skip",
    rank_k: int | None = None,
    rank_k_over: RankKOver = "positives",
    precision_over: PrecisionOver = "rank",
    max_rank: int | None = None,
    per_query: bool = False,
) -> xr.Dataset:
    """Evaluate top-K lists: CMC and rank-K mean average precision.

    Parameters
    ----------
    scores : TopKScores
    removed : {"none", "same-id-same-camera", "same-camera"}
        Entries removed from a query's list. The rules of cameras need the metadata ``camera`` on
        both sides.
    junk : {"keep", "remove"}
        Whether entries with one of `junk_ids` count as non-matches, or are removed. A query of one
        matches nothing, and is left out.
    junk_ids : sequence of int
    unmatched : {"skip", "zero"}
        A query without a match in the gallery is left out of the means and counted, or counts 0.
    rank_k : int, optional
        Where the average precision of a list is cut; None takes as far as all lists are known,
        which is K where nothing is removed.
    rank_k_over : {"positives", "smaller", "found"}
        The average precision of a cut list divides by all matches in the gallery (AI City), by
        the smaller one of their number and `rank_k`, or by the number of matches within `rank_k`
        (torchmetrics; 0 without one).
    precision_over : {"rank", "smaller"}
        ``precision_at_k`` divides by K, or by the smaller one of K and the number of matches in
        the gallery (Open Metric Learning).
    max_rank : int, optional
        The last rank of the CMC; None takes every rank covered by all lists.
    per_query : bool
        Whether to add ``rank_k_average_precision``, ``first_match_rank``, the value of each other
        mean, as ``inp``, and the label, ``identity``, of each query, over ``probe``.

    Returns
    -------
    xarray.Dataset
        ``cmc`` over ``rank``; scalars ``rank_k_mean_ap``, ``rank_k``, ``queries``, ``skipped``,
        ``left_out``, ``beyond_lists``; ``precision_at_k`` and ``recall_at_k`` over ``rank``, NaN
        beyond the ranks that every list with unlisted matches covers; and, of the whole gallery,
        ``mean_ap`` and ``interpolated_precision`` over ``recall_level``, NaN unless every match of
        every query is listed, and the other means over queries, NaN unless the lists determine it
        for every query (``mrr``: unless a match of each is listed).

    Raises
    ------
    ProtocolError
        If some list does not cover a given rank, or cameras are needed and missing.
    DataError
        If an option has an unknown value.

    Warns
    -----
    BioevalWarning
        If a query has more matches than fit into a list cut at `rank_k`: then even a perfect list
        has an average precision below 1, unless `rank_k_over` is another than ``"positives"``.

    Notes
    -----
    A removed entry leaves its place to the next, so a list covers fewer ranks.
    Definitions: Tang et al., CityFlow (CVPR 2019), "rank-K mAP"; Zheng et al. (ICCV 2015) for the
    rule of cameras; ``docs/formats.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> lists = be.TopKScores([[2, 1], [0, 1]], ["ann", "bob"], ["ann", "bob", "ann"])
    >>> result = be.top_k(lists)
    >>> result.cmc.values, float(result.rank_k_mean_ap)
    (array([0.5, 1. ]), 0.5)
    """
    if not isinstance(scores, TopKScores):
        raise DataError(f"scores is {type(scores).__name__}; expected bioeval.TopKScores")
    options = TopKOptions(
        removed,
        junk,
        junk_ids,
        unmatched,
        rank_k,
        rank_k_over,
        max_rank,
        require_flag("per_query", per_query),
        precision_over=precision_over,
    )
    result, _ = _lists_dataset(scores, options)
    warn_of_cut_lists(result)
    return result


#: The only values of these fields of a convention that lists support.
_SUPPORTED = {"cmc": "first-match", "ap": "sum", "removed_for_ap": "as-above", "ties": "stable"}


def reid_of_lists(
    scores: TopKScores, rules: Convention, *, max_rank: int | None = None, per_query: bool = False
) -> tuple[xr.Dataset, QueryMeasures]:
    """Evaluate top-K lists by a convention; return the result and each query's contribution.

    A ProtocolError if lists do not support the convention. `max_rank` None takes the convention's,
    or the last rank covered by all lists if that is less.
    """
    for name, word in _SUPPORTED.items():
        if getattr(rules, name) != word:
            raise ProtocolError(
                f"the convention {rules.name} has {name} = {getattr(rules, name)!r}; top-K "
                f"lists do not determine it; give {word!r}, or a matrix of scores"
            )
    options = TopKOptions(
        removed=rules.removed,
        junk=rules.junk,
        junk_ids=rules.junk_ids,
        unmatched=rules.unmatched,
        rank_k=rules.rank_k,
        rank_k_over=rules.rank_k_over,
        precision_over=rules.precision_over,
        max_rank=max_rank,
        per_query=require_flag("per_query", per_query),
        distractor_ids=rules.distractor_ids,
    )
    result, measures = _lists_dataset(scores, options)
    if not int(result["queries"]):
        raise ProtocolError(
            f"none of the {len(scores.indices)} queries has a match in the gallery that the "
            f"convention leaves it (removed = {rules.removed!r}); check that both sides use the "
            "same labels, and the cameras"
        )
    if max_rank is None:
        result = result.isel(rank=slice(rules.max_rank))
    result.attrs |= {
        "convention": rules.name,
        "removes": rules.removed,
        "junk": rules.junk_in_words,
        "cmc_counts": rules.cmc,
        "ties": "listed",
        "ap": rules.ap,
        "unmatched_queries": rules.unmatched,
    }
    if rules.changed:
        result.attrs["changed"] = ", ".join(rules.changed)
    return result, measures


def _lists_dataset(scores: TopKScores, options: TopKOptions) -> tuple[xr.Dataset, QueryMeasures]:
    """Return the measures of top-K lists, see :func:`top_k`, and each query's contribution."""
    check_max_rank(options.max_rank, scores.shape[1])
    junk = junk_codes(scores, options.junk_ids)
    if options.junk == "keep":
        junk = []
    distractor_ids = (*options.distractor_ids, *scores.distractor_ids)
    left_out = left_out_queries(scores, (*options.junk_ids, *distractor_ids))
    lists = listed_matches(scores, options.removed, junk, left_out)
    valid = lists.positives > 0
    counted = valid | ((options.unmatched == "zero") & ~left_out)
    queries = int(counted.sum())

    cmc_reach = lists.reach(valid & (lists.first == 0))
    last = _rank("max_rank", options.max_rank, cmc_reach, scores.depth)
    listed, query = np.flatnonzero(lists.first), np.flatnonzero(valid)
    cmc = MatchCurve(counted, listed, lists.first[listed], np.ones(len(listed)))
    counts = cmc.counts(last).astype(np.int64)

    ap_reach = lists.reach(valid & (lists.listed < lists.positives))
    cut = _rank("rank_k", options.rank_k, ap_reach, scores.depth)
    over = total = np.where(valid, lists.positives, 1)
    if options.rank_k_over == "smaller":
        over = np.minimum(total, cut)
    elif options.rank_k_over == "found":
        over = np.maximum((lists.hits & (lists.ranks <= cut)).sum(axis=1), 1)
    at_k = lists.precisions(cut) / over
    matches = lists.matches()
    curves = ranked_curves(
        matches, counted, "stable", last, total, precision_over=options.precision_over
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
    size = scores.gallery_size
    means = {name: QueryMean.of(name, x, counted, query, size) for name, x in values.items()}
    beyond = int((lists.positives > scores.depth).sum())
    skipped = int((~valid & ~left_out).sum())
    about = Provenance.of(scores)
    notes: list[Message] = [*cut_messages(lists.positives, cut, options.rank_k_over)]
    notes += left_out_notes(scores, distractor_ids, options.junk_ids)
    if skipped:
        treatment = "left out" if options.unmatched == "skip" else "counted as 0"
        notes.append(Message("queries-without-match", queries=skipped, treatment=treatment))
    if not complete:
        lost = [x.label for x in QUERY_MEANS.values() if x.name not in means]
        notes.append(Message("matches-beyond-lists", measures=lost))
    if unknown.any():
        notes.append(Message("precision-up-to-rank", rank=int(ap_reach or 0)))
    over_ranks = {}
    for name, curve in curves.items():
        over_ranks[name] = np.where(unknown, np.nan, curve.means(last))
    variables = {
        "cmc": (("rank",), rate(counts, queries)),
        "cmc_count": (("rank",), counts),
        "rank_k_mean_ap": means["rank_k_mean_ap"].mean,
        "rank_k": cut,
        **dict.fromkeys(("mean_ap", *MATCH_SUMS), np.nan),
        **along(("rank",), **over_ranks),
        "interpolated_precision": (("recall_level",), np.full(len(RECALL_LEVELS), np.nan)),
        "queries": queries,
        "subjects": len(np.unique(scores._codes.probe[counted])),
        "skipped": skipped,
        "left_out": int(left_out.sum()),
        "beyond_lists": beyond,
    }
    if complete:
        levels = means["interpolated_precision"].mean
        variables["interpolated_precision"] = (("recall_level",), levels)
    for name in ("mean_ap", *MATCH_SUMS):
        if name in means:
            variables[name] = means[name].mean
    coordinates = {"rank": np.arange(1, last + 1), "recall_level": RECALL_LEVELS}
    if options.per_query:
        ranks = np.where(lists.first > 0, lists.first, np.nan)
        variables["rank_k_average_precision"] = (("probe",), np.where(valid, at_k, np.nan))
        variables["first_match_rank"] = (("probe",), ranks)
        for name, each in each_query.items():
            variables[MATCH_SUMS[name].of_query[0]] = (("probe",), each)
        coordinates["probe"] = np.arange(len(valid))
        variables["identity"] = ("probe",), query_labels(scores)
    measures = QueryMeasures(cmc, means, curves)
    attrs = about_attrs(about, "top-k", "top-K lists", notes)
    attrs |= {
        "depth": scores.depth,
        "removed": options.removed,
        "junk": options.junk,
        "unmatched": options.unmatched,
        "rank_k_over": options.rank_k_over,
        "precision_over": options.precision_over,
    }
    return build(variables, TOP_K, coordinates, attrs), measures


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
        for name in MATCH_SUMS:
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


def listed_matches(
    scores: TopKScores, removed: str, junk: list[int], left_out: np.ndarray
) -> ListedMatches:
    """Return the matches along each list, without entries that a rule removes, and junk.

    Queries that are left out have none.
    """
    gallery = codes_of(scores).gallery
    query = np.where(left_out, -1, codes_of(scores).probe)
    index = scores.indices
    is_listed = index >= 0
    same_identity = gallery[index] == query[:, None]
    kept = is_listed & ~np.isin(gallery, junk)[index]
    usable = ~np.isin(gallery, junk)
    size = int(max(query.max(), gallery.max())) + 1
    positives = np.where(left_out, 0, np.bincount(gallery[usable], minlength=size)[query])
    candidates = np.full(len(query), int(usable.sum()))
    if removed != "none":
        cameras = Codes(*cameras_of(scores), "cameras")
        same_camera = cameras.gallery[index] == cameras.probe[:, None]
        kept &= ~(same_camera & (same_identity | (removed == "same-camera")))
        width = int(max(cameras.probe.max(), cameras.gallery.max())) + 1
        seen, count = np.unique(
            gallery[usable] * width + cameras.gallery[usable], return_counts=True
        )
        wanted = query * width + cameras.probe
        at = np.minimum(np.searchsorted(seen, wanted), len(seen) - 1)
        here = np.zeros(len(query), dtype=np.int64)
        if len(seen):
            here = np.where(seen[at] == wanted, count[at], 0)
        positives = positives - here
        whole = np.bincount(cameras.gallery[usable], minlength=width)[cameras.probe]
        candidates = candidates - (whole if removed == "same-camera" else here)
    # A query that is a gallery entry itself is no match of its own, unless a rule removed it.
    entry = scores._entry_of_query
    is_entry = (entry >= 0) & usable[entry]
    if removed != "none":
        is_entry &= cameras.gallery[entry] != cameras.probe
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


def junk_codes(scores: TopKScores, junk_ids: Sequence[int]) -> list[int]:
    """Return the codes of the junk ids; labels from text files are text."""
    if isinstance(junk_ids, str) or not isinstance(junk_ids, Iterable):
        raise DataError(
            f"junk_ids is {received(junk_ids)}; expected a sequence, such as ({junk_ids!r},)"
        )
    labels = list(junk_ids)
    codes = map(codes_of(scores).code, [*labels, *map(str, labels)])
    return sorted({*codes} - {-1})


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
            Argument(name),
            f" is {rank}, but a list covers only {reach} ranks (of its {depth} places, less those "
            f"removed); expected at most {reach}, longer lists, or a matrix of scores",
        )
    return rank
