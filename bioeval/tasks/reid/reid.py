"""Evaluation of re-identification under a convention."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import xarray as xr

from bioeval.base.arguments import require_flag
from bioeval.base.errors import ProtocolError
from bioeval.base.messages import messages_of
from bioeval.base.progress import rows_reported
from bioeval.counting.identification import check_max_rank
from bioeval.counting.thresholds import check_thresholds, require_values, to_internal
from bioeval.protocol.card import Protocol
from bioeval.protocol.fields import (
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
from bioeval.protocol.pairs import with_exclusions
from bioeval.scores.matrix import Scores
from bioeval.scores.score_data import require_scores
from bioeval.showing.messages import sentence_about, warns_of_doubts
from bioeval.stats.options import IntervalMethod, IntervalName, interval_of
from bioeval.tasks.options import EvaluationOptions
from bioeval.tasks.reid.candidates import Candidates, Convention, Named, convention_of
from bioeval.tasks.reid.counts import NO_MATCH, ReidCounts
from bioeval.tasks.reid.gom import plan_gom
from bioeval.tasks.reid.lists import ListCounts


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
    tasks = set(card.tasks)
    if section == "gom":
        thresholds = options.thresholds if tasks <= {"reid", "gom"} else None
        return plan_gom(scores, card, thresholds, max_rank=options.max_rank)
    rules = convention_of(card, max_rank=options.max_rank)
    taus: Any = None if scores.layout == "top-k" else card.curve.thresholds
    if tasks == {"reid"} and options.thresholds is not None:
        taus = options.thresholds
    counting = plan_reid(scores, rules, taus, options.max_rank)
    return partial(counting, per_query=options.per_query)


def require_matches(dataset: xr.Dataset) -> None:
    """Raise :class:`ProtocolError` with the reason if no query is in the means."""
    if int(dataset["queries"]):
        return
    message = next(x for x in messages_of(dataset.attrs) if x.code == NO_MATCH)
    raise ProtocolError(sentence_about(message))
