"""Evaluation of re-identification under a convention, and GOM."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_flag
from bioeval.base.errors import DataError, ProtocolError
from bioeval.base.kinds import larger_is_closer
from bioeval.base.progress import rows_reported
from bioeval.counting.identification import PlainTies, Ties, check_max_rank
from bioeval.counting.thresholds import check_thresholds, require_values, to_user
from bioeval.protocol.card import Protocol
from bioeval.protocol.loading import load
from bioeval.protocol.pairs import with_exclusions
from bioeval.results.dataset import Scalars
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores, require_all_scores, require_scores, require_subjects
from bioeval.scores.people import require_people
from bioeval.stats.options import IntervalMethod, IntervalName, interval_of
from bioeval.tasks.options import EvaluationOptions
from bioeval.tasks.reid.convention import (
    Cmc,
    Junk,
    Removed,
    RemovedForAp,
    convention_of,
    with_options,
)
from bioeval.tasks.reid.counts import GomCounts, ReidCounts, plan_gom, plan_reid
from bioeval.tasks.reid.intervals import query_mean_intervals
from bioeval.tasks.reid.matches import ApForm, PrecisionOver, RankKOver, Unmatched
from bioeval.tasks.reid.results import (
    GOM,
    REID,
    gom_dataset,
    gom_measures,
    reid_dataset,
    reid_measures,
    require_matches,
    warn_of_cut_lists,
)

Named: TypeAlias = str | os.PathLike[str] | Protocol

GomVariant = Literal["paper", "reference"]

# Thresholds of GOM, unless others are given: 0, 1/100 ... 1.
TAUS = 101


@leaves_out_attacks
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
    distractor_ids: Sequence[int] | None = None,
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
    distractor_ids : sequence of int
        Identities that mark distractors, which stay as wrong entries, beside those that the names
        of images mark (Market-1501's 0). Neither junk nor distractors match any query; as queries
        they are left out of all means, counted in ``left_out``, and named in a warning.
    cmc : {"first-match", "allshots", "single-gallery-shot", "identity-dedup"}
        What a CMC counts.
    thresholds : float or increasing array of float, optional
        In the units of the scores: also return precision, recall and F1 of the entries that each
        query retrieves within each threshold, on the list of average precision.
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
        ``cmc``, ``cmc_count``, ``precision_at_k`` and ``recall_at_k`` over ``rank``;
        ``interpolated_precision`` over ``recall_level``, 0, 0.1 ... 1; with `thresholds`
        ``precision``, ``recall``, ``f1`` (means over the queries) and ``micro_f1`` (of the entries
        of all queries together) over ``threshold``; ``mean_ap`` and the other means over queries
        of ``docs/variables.md``, ``rank_k_mean_ap`` with `rank_k`; ``queries`` (the denominator),
        ``cmc_queries`` (that of the CMC, if its list is another than that of average precision),
        ``skipped``, ``unmatched``, ``not_in_gallery``, ``left_out`` (queries that are junk or
        distractors), ``removed`` (gallery entries removed, over all queries) and ``tied``.
        With an interval: ``_low`` and ``_high`` of the means.

    Raises
    ------
    CardError
        If there is no such convention.
    DataError
        Bad options; NaN under ``nan="raise"``.
    ProtocolError
        If cameras are needed and not given, or no query has a match left.

    Warns
    -----
    BioevalWarning
        If a query has more matches than `rank_k`, over ``"positives"``: then even a perfect list
        has a rank-K average precision below 1.

    Notes
    -----
    ``be.to_frame(result, "queries")`` has all queries of ``per_query=True``, the worst first.

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
    limits = interval_of(interval)
    taus = retrieval_thresholds(thresholds, "re-identification")
    if scores.layout == "top-k":
        from bioeval.tasks.reid import lists

        if taus is not None:
            raise lists.refused_thresholds()
        how = {"max_rank": max_rank, "per_query": per_query}
        result = lists.lists_dataset(scores, rules, limits, **how)
        warn_of_cut_lists(result)
        return result
    counting = plan_reid(scores, rules, thresholds=taus, name_queries=per_query)
    with rows_reported():
        counted = RetrievalCounted(counting(), scores, per_query)
    result = counted.dataset()
    if not int(result["queries"]):
        require_matches(result)
    warn_of_cut_lists(result)
    return result if limits is None else counted.with_intervals(result, limits)


def retrieval_thresholds(thresholds: Any, task: str) -> np.ndarray | None:
    """Return the thresholds of a task on retrieved sets, checked; a number of them is refused."""
    grid = check_thresholds(thresholds)
    if isinstance(grid, int):
        raise DataError(
            f"`thresholds` = {grid}; of {task} expected None or an increasing array, "
            "not a number of them"
        )
    return grid


@dataclass(frozen=True, eq=False)
class RetrievalCounted:
    """What was counted of re-identification or GOM."""

    counts: ReidCounts
    scores: Scores
    per_query: bool = False

    def scalars(self) -> Scalars:
        """Return the numbers of the result besides its curves over the threshold."""
        return Scalars.of_dataset(self.dataset())

    def dataset(self) -> xr.Dataset:
        """Return the result."""
        if isinstance(self.counts, GomCounts):
            return gom_dataset(self.counts, per_query=self.per_query)
        return reid_dataset(self.counts, per_query=self.per_query)

    def with_intervals(self, dataset: xr.Dataset, limits: IntervalMethod) -> xr.Dataset:
        """Return the result with confidence intervals, by the people of the queries."""
        if limits.by_subject:
            require_people(self.scores, method=limits.method)
        if isinstance(self.counts, GomCounts):
            measures, names = gom_measures(self.counts), GOM
        else:
            measures, names = reid_measures(self.counts), REID
        people = self.counts.subject_of_query
        return query_mean_intervals(dataset, measures, people, names, limits)


def plan_retrieval(
    section: str, scores: Scores, card: Protocol, options: EvaluationOptions
) -> Callable[[], RetrievalCounted]:
    """Return what counts ``[reid]`` or ``[gom]`` of a card."""
    tasks, per_query = set(card.tasks), options.per_query
    counting: Callable[[], ReidCounts]
    if section == "gom":
        thresholds = options.thresholds if tasks <= {"reid", "gom"} else None
        counting = gom_of_card(scores, card, thresholds, max_rank=options.max_rank)
        per_query = False
    else:
        rules = convention_of(card, max_rank=options.max_rank)
        taus: Any = card.curve.values
        if tasks == {"reid"} and options.thresholds is not None:
            taus = options.thresholds
        taus = retrieval_thresholds(taus, "re-identification")
        counting = plan_reid(scores, rules, thresholds=taus, name_queries=per_query)
    return lambda: RetrievalCounted(counting(), scores, per_query)


@leaves_out_attacks
def gom(
    scores: Scores,
    *,
    thresholds: Any = None,
    budget: int | None = None,
    scaled: bool | None = None,
    variant: GomVariant | None = None,
    convention: Named = "market1501",
    ties: PlainTies | None = None,
    max_rank: int | None = None,
    interval: IntervalName | IntervalMethod | None = None,
    per_query: bool = False,
) -> xr.Dataset:
    """Evaluate open-world re-identification by GOM: retrieval and verification at a threshold.

    For a query with a match, everything within the threshold tau is retrieved: RP is the average
    precision of that list over the matches in it, VP is ``TP / (TP + FN + FP)``, and ReP is
    ``sqrt(RP VP)``. For a query whose identity is not in the gallery, FR is ``min(FP / B, 1)``.

    Parameters
    ----------
    scores : Scores
        Queries of people in the gallery, and of others, as rows of one matrix.
    thresholds : None or increasing array of float
        Thresholds; the card's, or 0, 0.01 ... 1, by default. On that scale, or in the unit of the
        scores where distances are not scaled. Areas are over these.
    budget : int, optional
        Budget B of mFR: the number of false retrievals at which FR reaches 1. None: the card's, or
        3000.
    scaled : bool, optional
        Whether distances are first scaled to 0 ... 1 over all finite ones of the matrix. None: as
        the card says, or True.
    variant : {"paper", "reference"}, optional
        Definitions of the paper's text, or of the program of its figures. ``"reference"``:
        retrieved entries are counted up to the last match only, the means are over all queries, and
        removed entries stay at distance 1. None: the card's, or the paper's.
    convention : str, path or Protocol
        Card with [gom] or [reid], which defines the gallery of each query. Such as
        ``gom-market1501``; of ``[reid]`` only removal, junk and ties are used.
    ties : {"stable", "pessimistic", "optimistic"}
        In place of the card's.
    max_rank : int, optional
        Number of ranks of CMC and DIR. None: the card's, or 10.
    interval
        As for :func:`reid`.
    per_query : bool
        Also return ``rp``, ``vp``, ``rep`` and ``fr`` over ``probe, threshold``.

    Returns
    -------
    xarray.Dataset
        Over ``threshold``: ``mrp mvp mrep mfr precision recall f1 micro_f1 far ttr ttr_identity
        ftr``; over ``threshold, rank``: ``dir``; over ``rank``: ``cmc``. Scalars ``mrep_area
        mfr_area tau_max tau_nz tau_f1 max_mrep max_mvp max_f1 mean_ap mean_inp``, and ``queries``,
        ``open_queries``, ``skipped`` (their matches are all removed), ``left_out`` (queries that
        are junk or distractors) and ``removed``. With an interval: ``_low`` and ``_high`` of all
        but ``dir``, ``micro_f1`` and the thresholds.

    Notes
    -----
    Definitions: Re-identification = Retrieval + Verification: Back to Essence and Forward with a
    New Metric (arXiv:2011.11506); ``docs/reid.md``, "GOM".

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[0.1, 0.2, 0.4, 0.7, 0.8], [0.4, 0.7, 0.75, 0.8, 0.9]]
    >>> scores = be.Scores(d, [1, 9], [1, 1, 1, 2, 3], probe_meta={"camera": [1, 1]},
    ...                    gallery_meta={"camera": [2, 2, 2, 2, 2]})
    >>> result = be.gom(scores, thresholds=[0.3, 0.6], budget=5, scaled=False)
    >>> result.mvp.values.round(2), result.mfr.values
    (array([0.67, 1.  ]), array([0. , 0.2]))
    """
    require_scores(scores)
    limits = interval_of(interval)
    per_query = require_flag("per_query", per_query)
    require_all_scores(scores)
    options = {"budget": budget, "variant": variant, "ties": ties, "max_rank": max_rank}
    counting = gom_of_card(scores, convention, thresholds, scaled, **options)
    with rows_reported():
        counted = RetrievalCounted(counting(), scores, per_query)
    result = counted.dataset()
    return result if limits is None else counted.with_intervals(result, limits)


def gom_of_card(
    scores: Scores,
    convention: Named,
    thresholds: Any = None,
    scaled: bool | None = None,
    **options: Any,
) -> Callable[[], GomCounts]:
    """Return what counts GOM by a card, with `options` of its section; None leaves the card's."""
    require_values(scores, "GOM")
    rules = convention_of(convention, ("gom", "reid"))
    task = load(convention).section("gom")
    if options.get("ties") is None:
        options["ties"] = rules.ties
    if isinstance(options["ties"], str) and options["ties"] == rules.ties == "expected":
        raise ProtocolError(
            f"the convention {rules.name} has expected ties, under which GOM is not offered; give "
            '`ties="stable"`, "pessimistic" or "optimistic"'
        )
    place = f"protocol {rules.name}: [gom] max_rank"
    if options.get("max_rank") is not None:
        place = "max_rank"
    task = with_options(task, **options)
    rules = with_options(rules, ties=task.ties)
    scores = with_exclusions(scores, rules)
    require_subjects(scores, "GOM")
    grid = retrieval_thresholds(task.thresholds if thresholds is None else thresholds, "GOM")
    if grid is None:
        grid = np.arange(TAUS) / (TAUS - 1.0)
    if scaled is None:
        scaled = task.distances == "scaled"
    if not require_flag("scaled", scaled) and larger_is_closer(scores.kind):
        grid = to_user(grid, scores.kind)[::-1]  # similarities as distances
    check_max_rank(task.max_rank, scores.shape[1], place)
    return plan_gom(scores, rules, task, grid, scaled=scaled)
