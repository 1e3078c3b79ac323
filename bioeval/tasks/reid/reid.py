"""Re-identification: CMC, mAP, mINP of all candidates of each query, or of top-K lists.

Of top-K lists, CMC and average precision are exact up to the depth of the lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_flag, require_integer
from bioeval.base.errors import Message, ProtocolError, messages_of
from bioeval.base.progress import rows_reported
from bioeval.counting.mate_ranks import MatchLists
from bioeval.counting.searches import check_max_rank
from bioeval.counting.thresholds import check_thresholds, require_values, to_internal
from bioeval.protocol.card import Protocol
from bioeval.protocol.pairs import with_exclusions
from bioeval.protocol.tasks import (
    ApForm,
    Cmc,
    Junk,
    PrecisionOver,
    RankKOver,
    Removed,
    RemovedForAp,
    Ties,
    Unmatched,
)
from bioeval.results.attributes import about_attrs
from bioeval.results.dataset import dataset, rate, variables_over
from bioeval.results.query_means import OF_MATCH, OF_QUERY, QueryMean, QueryMeasures
from bioeval.results.variables import QUERY_MEANS, REID, Variable, entries
from bioeval.scores.matrix import Scores, require_scores
from bioeval.showing.messages import sentence_about, warns_of_doubts
from bioeval.stats.options import IntervalMethod, IntervalName, interval_of
from bioeval.tasks.options import EvaluationOptions
from bioeval.tasks.reid.candidates import Candidates, Convention, Named, convention_of
from bioeval.tasks.reid.gom import plan_gom
from bioeval.tasks.reid.measures import (
    NO_MATCH,
    RECALL_LEVELS,
    ReidCounts,
    average_precision,
    cut_average_precision,
    cut_messages,
    interpolated_precision,
    match_sum,
    ranked_curves,
    ranks_of,
    without_match,
)

TOP_K = {
    **entries(REID, "cmc", "cmc_count", *QUERY_MEANS, "precision_at_k"),
    **entries(REID, "identity"),
    **entries(REID, "recall_at_k", "interpolated_precision", "queries", "subjects", "skipped"),
    **entries(REID, "unmatched", "left_out"),
    **entries(REID, "rank_k_average_precision", *(OF_QUERY[name] for name in OF_MATCH)),
    "rank_k": Variable(
        "rank K at which lists are cut", "1", label="rank K of the lists", detail="verbose"
    ),
    "beyond_lists": Variable(
        "queries with more matches than a list has places",
        "queries",
        label="queries with more matches than places",
        detail="verbose",
    ),
    "first_match_rank": Variable("rank of the first match; NaN where none is listed", "1"),
}

#: The only values of these fields of a convention that lists support.
_SUPPORTED = {"cmc": "first-match", "ap": "sum", "removed_for_ap": "as-above", "ties": "stable"}


@dataclass(eq=False, kw_only=True)
class ListCounts(ReidCounts):
    """Counts of top-K lists, and the measures that the lists determine.

    For average precision, all lists are cut at the convention's `rank_k`, or else at the last rank
    that all lists cover (Tang et al., CityFlow, CVPR 2019: "rank-K mAP"). A list covers a rank less
    for each entry that is removed, since the next entry has its rank.
    """

    cmc_ranks: int  # the CMC is computed up to this rank
    shown_ranks: int  # the result has the ranks up to this one
    rank_k: int  # the rank at which lists are cut for their average precision
    list_lengths: np.ndarray  # int64 (queries,): the ranks that the list of each query covers
    #: The last rank that all lists that lack a match cover, up to which precision and recall are
    #: known; None if every match is listed: all ranks are known.
    known_ranks: int | None

    table: ClassVar[Mapping[str, Variable]] = TOP_K

    @classmethod
    def of_lists(
        cls,
        scores: Scores,
        rules: Convention,
        max_rank: int | None = None,
        *,
        per_query: bool = False,
    ) -> ListCounts:
        """Count lists under a convention, up to `max_rank` or the last rank that all lists cover.

        Raise :class:`ProtocolError` if lists do not determine the measures of the convention.
        """
        for name, word in _SUPPORTED.items():
            if getattr(rules, name) != word:
                raise ProtocolError(
                    f"the convention {rules.name} has {name} = {getattr(rules, name)!r}; top-K "
                    f"lists do not determine it; give {word!r}, or a matrix of scores"
                )
        check_max_rank(max_rank, scores.shape[1])
        ranked = ReidCounts.from_candidates(Candidates(scores, rules), per_query=per_query)
        matches = ranked.matches
        if not ranked.in_means(matches).any():
            raise ProtocolError(
                f"none of the {len(scores.indices)} queries has a match in the gallery that the "
                f"convention leaves it (removed = {rules.removed!r}); check that both sides use "
                "the same labels, and the cameras"
            )
        lengths = matches.counts
        if matches.others is not None:
            lengths = matches.counts + matches.others
        # A match that a list lacks is somewhere behind its end: precision is known up to the
        # shortest such list. The CMC needs the first match alone: it is known up to the shortest
        # list that lacks all matches.
        lacks_match = matches.counts < matches.positives
        lists_no_match = lacks_match & (matches.counts == 0)
        known_ranks = _shortest(lengths[lacks_match])
        cmc_ranks = _checked_rank("max_rank", max_rank, _shortest(lengths[lists_no_match]), scores)
        shown_ranks = cmc_ranks
        if max_rank is None:
            shown_ranks = min(cmc_ranks, rules.max_rank)
        list_fields = {
            "cmc_ranks": cmc_ranks,
            "shown_ranks": shown_ranks,
            "rank_k": _checked_rank("rank_k", rules.rank_k, known_ranks, scores),
            "list_lengths": lengths,
            "known_ranks": known_ranks,
        }
        return cls(**vars(ranked) | list_fields)

    @cached_property
    def _values_of_queries(self) -> dict[str, np.ndarray]:
        """The value of each query by the name of the mean, NaN where its list leaves it open."""
        candidates, matches = self.candidates, self.matches
        rules, scores = candidates.rules, candidates.scores
        at_k = cut_average_precision(matches, "stable", self.rank_k, rules.rank_k_over)
        values = {"rank_k_mean_ap": at_k}
        if self.known_ranks is None:
            values["mean_ap"] = average_precision(matches, "stable")
            values["interpolated_precision"] = interpolated_precision(matches, "stable")
        gallery = scores.gallery_size - candidates.removed_entries(rules.removed)
        non_matches = gallery - candidates.in_gallery - matches.positives
        best = _with_unlisted(matches, self.list_lengths)
        worst = _with_unlisted(matches, non_matches + matches.counts)
        for name in OF_MATCH:  # shares are monotone in the rank: the extremes decide
            at_worst = match_sum(worst, "stable", name)
            at_best = match_sum(best, "stable", name)
            values[name] = np.where(at_worst == at_best, at_best, np.nan)
        return values

    def measures(self, *, curves: bool = True) -> QueryMeasures:
        """Return the measures that the lists determine, with the value of each query."""
        matches, rules = self.matches, self.candidates.rules
        in_means = self.in_means(matches)
        query = np.flatnonzero(matches.positives)
        means = {}
        for name, values in self._values_of_queries.items():
            if not np.isnan(values[query]).any():
                means[name] = QueryMean(in_means, query, values[query])
        over_ranks = ranked_curves(
            matches,
            in_means,
            "stable",
            self.cmc_ranks,
            matches.positives,
            precision_over=rules.precision_over,
        )
        return QueryMeasures(self._cmc("stable"), means, over_ranks)

    def dataset(self) -> xr.Dataset:
        """Return the measures of top-K lists; see :func:`bioeval.reid`."""
        candidates = self.candidates
        positives = self.matches.positives
        measures = self.measures()
        in_means = self.in_means(self.matches)
        queries = int(in_means.sum())
        searching = int((~candidates.left_out).sum())
        unmatched = int(((positives == 0) & ~candidates.left_out).sum())
        means = {name: mean.mean for name, mean in measures.means.items()}
        interpolated = means.pop("interpolated_precision", np.full(len(RECALL_LEVELS), np.nan))
        at_rank = measures.cmc.counts(self.cmc_ranks).astype(np.int64)
        # Precision and recall over the ranks, NaN at ranks at which they are not known.
        known_curves = {x: curve.means(self.cmc_ranks) for x, curve in measures.curves.items()}
        if self.known_ranks is not None:
            for values in known_curves.values():
                values[self.known_ranks :] = np.nan
        variables = {
            "cmc": (("rank",), rate(at_rank, queries)),
            "cmc_count": (("rank",), at_rank),
            "rank_k": self.rank_k,
            **dict.fromkeys(("mean_ap", *OF_MATCH), np.nan),
            **means,
            **variables_over(("rank",), **known_curves),
            "interpolated_precision": (("recall_level",), interpolated),
            "queries": queries,
            "subjects": len(np.unique(candidates.identity[in_means])),
            "skipped": searching - queries,
            "unmatched": unmatched,
            "left_out": int(candidates.left_out.sum()),
            "beyond_lists": int((positives > candidates.scores.depth).sum()),
        }
        ranks = np.arange(1, self.cmc_ranks + 1)
        coordinates = {"rank": ranks, "recall_level": RECALL_LEVELS}
        if self.per_query:
            of_queries = self._values_of_queries
            numbers = {"rank_k_average_precision": of_queries["rank_k_mean_ap"]}
            numbers["first_match_rank"] = self._first_match_rank()
            numbers |= {OF_QUERY[name]: of_queries[name] for name in OF_MATCH}
            variables |= variables_over(("probe",), **numbers, identity=self.candidates.labels())
            coordinates["probe"] = np.arange(len(in_means))
        # Messages on queries with too many matches or none, and on unknown numbers.
        rules = self.candidates.rules
        messages = cut_messages(self.matches.positives, self.rank_k, rules.rank_k_over)
        if unmatched:
            treatment = "left out" if rules.unmatched == "skip" else "counted as 0"
            messages.append(without_match(unmatched, 0, treatment))
        if self.known_ranks is not None:
            unknown = [x.label for x in QUERY_MEANS.values() if x.name not in measures.means]
            messages.append(Message("matches-beyond-lists", what=unknown))
            if self.known_ranks < self.cmc_ranks:
                unknown = [f"precision and recall beyond rank {self.known_ranks}"]
                messages.append(Message("matches-beyond-lists", what=unknown))
        attrs = about_attrs(candidates.about(), "top-k", "top-K lists", messages)
        attrs |= {"depth": candidates.scores.depth, **candidates.rules.attrs(), "ties": "listed"}
        return dataset(variables, TOP_K, coordinates, attrs).isel(rank=slice(self.shown_ranks))


def _shortest(list_lengths: np.ndarray) -> int | None:
    """Return the length of the shortest of some lists, None of no list."""
    return int(list_lengths.min()) if len(list_lengths) else None


def _with_unlisted(matches: MatchLists, end: np.ndarray) -> MatchLists:
    """Return all matches of each query; matches that its list lacks come behind rank `end`.

    With `end` (queries,) the end of the list, the lacking matches have the best ranks that are
    possible; with `end` the end of the gallery, the worst. A query with a match at rank 2 of a list
    of 5, and one more match that the list lacks, has the ranks 2 and 6 at best.
    """
    positives = matches.positives
    unlisted = positives - matches.counts
    query = np.repeat(np.arange(len(unlisted)), unlisted)  # of each lacking match
    unlisted_before = np.cumsum(unlisted) - unlisted  # of earlier queries
    position = np.arange(1, len(query) + 1) - np.repeat(unlisted_before, unlisted)
    # Listed and lacking matches are sorted by query; within a query, the listed ones stay first.
    order = np.argsort(np.append(matches.query, query), kind="stable")
    ranks = np.append(ranks_of(matches, "stable"), end[query] + position)[order]
    starts = np.append(0, np.cumsum(positives))
    earlier_matches = np.arange(len(ranks)) - np.repeat(starts[:-1], positives)
    no_ties = np.zeros_like(ranks)
    return MatchLists(
        starts,
        distance=ranks.astype(np.float64),  # a match is as far as its rank: none is tied
        closer=ranks - 1 - earlier_matches,
        tied=no_ties,
        before=no_ties,
    )


def _checked_rank(name: str, requested: int | None, covered: int | None, scores: Scores) -> int:
    """Return the `requested` rank, checked, or, if it is None, the last rank that is covered.

    `name` is the name of the argument. All lists that matter cover the ranks up to `covered`, or,
    if it is None, up to their depth.
    """
    depth = scores.depth
    if requested is None:
        if covered == 0:
            raise ProtocolError(
                f"a list of {depth} places covers no rank: every entry is removed for its "
                "query, or it is empty; give longer lists, or a matrix of scores"
            )
        return depth if covered is None else covered
    rank = require_integer(name, requested, low=1)
    if covered is not None and rank > covered:
        raise ProtocolError(
            f"`{name}` is {rank}, but a list covers only {covered} ranks (of its {depth} places, "
            f"less those removed); expected at most {covered}, longer lists, or a matrix of scores"
        )
    return rank


@warns_of_doubts
def reid(
    scores: Scores,
    convention: Named = "market1501",
    *,
    max_rank: int | None = None,
    ties: Ties | None = None,
    rank_k: int | None = None,
    rank_k_over: RankKOver | None = None,
    precision_over: PrecisionOver | None = None,
    ap: ApForm | None = None,
    unmatched: Unmatched | None = None,
    removed: Removed | None = None,
    removed_for_ap: RemovedForAp | None = None,
    junk: Junk | None = None,
    junk_ids: Sequence[int] | None = None,
    distractor_ids: Sequence[int | str] | None = None,
    cmc: Cmc | None = None,
    thresholds: Any = None,
    interval: IntervalName | IntervalMethod | None = None,
    per_query: bool = False,
) -> xr.Dataset:
    """Evaluate re-identification under a convention: CMC, mAP and mINP.

    Every keyword left out takes the value of the card: see ``bioeval protocols market1501``, and
    ``docs/reid.md`` for how the conventions differ.

    Parameters
    ----------
    scores : Scores
        Queries against a gallery, or all against all. Metadata ``camera`` on both sides, where
        the convention uses cameras. Top-K lists (:meth:`Scores.from_top_k`) are evaluated by a
        convention as far as lists determine it: ``rank_k`` is then the rank at which all are cut.
    convention : str, path or Protocol
        The name or the path of a card with a ``[reid]`` section.
    max_rank : int
        The last rank of the CMC. Beyond the gallery's end it keeps its last value.
    ties : {"stable", "pessimistic", "optimistic", "expected"}
        Rank of a non-match exactly as close as a match. ``"expected"``: the mean over all orders of
        the tied, of the CMC, NDCG, R-precision, and precision and recall at a rank; the other means
        are then not defined where there are ties.
    rank_k : int
        Also report the mean AP of lists cut at this rank.
    rank_k_over : {"positives", "smaller", "found"}
        The denominator: the number of matches, the smaller of that number and K, or the number of
        matches within K.
    precision_over : {"rank", "smaller"}
        The denominator of ``precision_at_k``: K, or the smaller of K and the number of matches.
    ap : {"sum", "trapezoid", "tied-once"}
        The form of average precision.
    unmatched : {"skip", "zero"}
        Whether a query without a match is excluded from all means, or counts as 0.
    removed : {"same-id-same-camera", "same-camera", "none"}
        Gallery entries removed from a query's list.
    removed_for_ap : {"as-above", "same-id-same-camera", "none"}
        The same for average precision and INP, if their list is not the CMC's.
    junk : {"remove", "keep"}
        Whether gallery entries of `junk_ids` leave every list, or stay as wrong entries.
    junk_ids : sequence of int
    distractor_ids : sequence of int or str
        Identities that mark distractors, which stay as wrong entries, beside those of no person
        that the scores know, as by the names of images (Market-1501's 0). Neither junk nor
        distractors match any query; as queries they are left out of all means, counted in
        ``left_out``, and named in a warning.
    cmc : {"first-match", "allshots", "single-gallery-shot", "identity-dedup"}
        The entries that a CMC counts.
    thresholds : float or increasing array of float, optional
        Thresholds in the units of the scores: also return precision, recall and F1 of the entries
        that each query retrieves within each threshold, on the list of average precision.
    interval
        As for :func:`verification`: intervals of all means over the queries. All queries of an
        identity are left out together; the gallery is fixed. ``"wilson"`` and
        ``"clopper-pearson"``: of the CMC alone.
    per_query : bool
        Also return ``average_precision``, ``first_match_rank``, ``matches``, ``removed_entries``,
        the value of each other mean, as ``inp``, the label, ``identity``, and the name of the
        ``template``, if any, of each query, over ``probe``.

    Returns
    -------
    xarray.Dataset
        - ``cmc``, ``cmc_count``, ``precision_at_k`` and ``recall_at_k`` over ``rank``
        - ``interpolated_precision`` over ``recall_level``, 0, 0.1 ... 1
        - ``precision``, ``recall`` and ``f1`` over ``threshold``, with `thresholds`: means over the
          queries
        - ``micro_f1`` over ``threshold``, with `thresholds`: of the entries of all queries together
        - ``mean_ap`` and the other means over queries of ``docs/variables.md``
        - ``rank_k_mean_ap``, with `rank_k`
        - ``queries``: the denominator
        - ``cmc_queries``: the denominator of the CMC, if its list is another than the list of
          average precision
        - ``skipped``, ``unmatched``, ``not_in_gallery``, ``tied``: numbers of queries
        - ``left_out``: queries that are junk or distractors
        - ``removed``: gallery entries removed, over all queries

        With an interval, the means have ``_low`` and ``_high``.

    Raises
    ------
    CardError
        If there is no such convention.
    DataError
        Bad options; NaN under ``nan="raise"``.
    ProtocolError
        If cameras are needed and not given, or no query has a match left.

    Notes
    -----
    ``be.to_frame(result, curves=True)`` has all queries of ``per_query=True``.

    Definitions: ``docs/reid.md``, with the sources of each convention. The rows are never sorted:
    the matches of a query are, and one pass of the row counts what ranks before each.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.Scores(
    ...     [[1, 2, 3, 4, 5]], [7], [7, 8, 7, 9, 7],
    ...     probe_meta={"camera": [1]}, gallery_meta={"camera": [1, 1, 2, 2, 3]},
    ... )
    >>> result = be.reid(scores, max_rank=3)
    >>> result.cmc.values, float(result.mean_ap), float(result.mean_inp)
    (array([0., 1., 1.]), 0.5, 0.5)
    """
    require_scores(scores)
    rules = convention_of(
        convention,
        max_rank=max_rank,
        ties=ties,
        rank_k=rank_k,
        rank_k_over=rank_k_over,
        precision_over=precision_over,
        ap=ap,
        unmatched=unmatched,
        removed=removed,
        removed_for_ap=removed_for_ap,
        junk=junk,
        junk_ids=junk_ids,
        distractor_ids=distractor_ids,
        cmc=cmc,
    )
    scores = with_exclusions(scores, rules)
    per_query = require_flag("per_query", per_query)
    interval_method = interval_of(interval, takes_unit=True)
    counting = plan_reid(scores, rules, thresholds, max_rank)
    with rows_reported():
        counts = counting(per_query=per_query)
    result = counts.dataset()
    require_matches(result)
    return result if interval_method is None else counts.with_intervals(result, interval_method)


def plan_reid(
    scores: Scores,
    rules: Convention,
    thresholds: Any = None,
    max_rank: int | None = None,
) -> Callable[..., ReidCounts]:
    """Check a convention, and return the function that counts the candidates of queries under it.

    With increasing `thresholds`, in the units of the scores, the entries within each threshold are
    counted, too. `max_rank` is the last rank of top-K lists.
    """
    if scores.layout == "top-k":
        if thresholds is not None:
            raise ProtocolError(
                "`thresholds`: lists that are cut do not hold all that is within a threshold; "
                "leave them out, or give a matrix of scores"
            )
        return partial(ListCounts.of_lists, scores, rules, max_rank)
    taus = None
    if thresholds is not None:
        require_values(scores, "retrieval within a threshold")
        taus = to_internal(check_thresholds(thresholds), scores.kind)
    candidates = Candidates(scores, rules)
    place = "max_rank" if "max_rank" in rules.changed else f"protocol {rules.name}: [reid] max_rank"
    check_max_rank(rules.max_rank, scores.shape[1], place)
    return partial(ReidCounts.from_candidates, candidates, taus)


def plan_retrieval(
    section: str, scores: Scores, card: Protocol, options: EvaluationOptions
) -> Callable[[], ReidCounts]:
    """Check a card's `section`, ``reid`` or ``gom``, and return the function that counts it."""
    if section == "gom":
        thresholds = options.thresholds if card.only_retrieval else None
        return plan_gom(scores, card, thresholds, max_rank=options.max_rank)
    rules = convention_of(card, max_rank=options.max_rank)
    taus: Any = None if scores.layout == "top-k" else card.curve.thresholds
    if card.only_retrieval and card.gom is None and options.thresholds is not None:
        taus = options.thresholds
    counting = plan_reid(scores, rules, taus, options.max_rank)
    return partial(counting, per_query=options.per_query)


def require_matches(dataset: xr.Dataset) -> None:
    """Raise :class:`ProtocolError` with the reason if no query is in the means."""
    if int(dataset["queries"]):
        return
    message = next(x for x in messages_of(dataset.attrs) if x.code == NO_MATCH)
    raise ProtocolError(sentence_about(message))
