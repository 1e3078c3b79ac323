"""Evaluation of re-identification under a convention, and GOM."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np
import xarray as xr

from bioeval.attempts.by_subject import SubjectAttempts
from bioeval.attempts.identification_counter import check_max_rank
from bioeval.attempts.thresholds import check_thresholds, require_values, to_user
from bioeval.attempts.tied_places import PlainTies, Ties
from bioeval.base.arguments import require_flag, require_numbers
from bioeval.base.errors import Argument, DataError, ProtocolError, counted
from bioeval.base.progress import rows_reported
from bioeval.base.scalars import Name
from bioeval.base.variables import IntervalName
from bioeval.protocol.card import Protocol
from bioeval.protocol.loading import load
from bioeval.protocol.pairs import with_exclusions
from bioeval.results.query_means import QueryMeasures
from bioeval.scores.blocks import require_subjects
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.labels import CAMERA_COLUMNS, Codes
from bioeval.scores.matrix import Scores, codes_of, require_scores
from bioeval.scores.top_k import TopKScores
from bioeval.stats.options import IntervalMethod, interval_of
from bioeval.tasks.reid.convention import (
    Cmc,
    Convention,
    Junk,
    Removed,
    RemovedForAp,
    convention_of,
)
from bioeval.tasks.reid.intervals import query_mean_intervals
from bioeval.tasks.reid.matches import ApForm, PrecisionOver, RankKOver, Unmatched
from bioeval.tasks.reid.passes import GomPass, RetrievalPass
from bioeval.tasks.reid.results import (
    GOM,
    REID,
    GomOptions,
    GomVariant,
    ReidOptions,
    gom_dataset,
    gom_measures,
    is_turned,
    reid_dataset,
    reid_measures,
    require_matches,
    warn_of_cut_lists,
)

Named: TypeAlias = str | os.PathLike[str] | Protocol

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
        the convention uses cameras. Top-K lists (:class:`TopKScores`) are evaluated by a
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
        identity are resampled together; the gallery is fixed. ``"wilson"`` and
        ``"clopper-pearson"``: of the CMC alone.
    per_query : bool
        Also return ``average_precision``, ``first_match_rank``, ``matches``, ``removed_entries``,
        the value of each other mean, as ``inp``, and the label, ``identity``, of each query, over
        ``probe``.

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
    The ten worst queries are
    ``be.reid(scores, per_query=True).sortby("average_precision").probe[:10]``.

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
    if isinstance(scores, TopKScores):
        if taus is not None:
            refuse_thresholds()
        from bioeval.tasks.lists import tasks as lists

        result, measures = lists.reid_of_lists(
            scores, rules, max_rank=max_rank, per_query=per_query
        )
        warn_of_cut_lists(result)
        return _with_limits(result, measures, scores, lists.TOP_K, limits)
    retrieval = RetrievalPass(scores, rules, thresholds=taus, name_queries=per_query)
    options = ReidOptions(**rules.result_options(), per_query=per_query)
    with rows_reported():
        tally = retrieval.run()
    result = reid_dataset(tally, options)
    if not int(result["queries"]):
        require_matches(result)
    if rules.changed:
        result.attrs["changed"] = ", ".join(rules.changed)
    warn_of_cut_lists(result)
    people = retrieval.lists.query_identity
    return _with_limits(result, reid_measures(tally, options), scores, REID, limits, people)


def retrieval_thresholds(thresholds: Any, task: str) -> np.ndarray | None:
    """Return the thresholds of a task on retrieved sets, checked; a number of them is refused."""
    grid = check_thresholds(thresholds)
    if isinstance(grid, int):
        raise DataError(
            Argument("thresholds"),
            f" = {grid}; of {task} expected None or an increasing array, not a number of them",
        )
    return grid


def refuse_thresholds() -> NoReturn:
    """Refuse thresholds of top-K lists."""
    raise ProtocolError(
        Argument("thresholds"),
        ": lists that are cut do not hold all that is within a threshold; leave them out, or give "
        "a matrix of scores",
    )


def _with_limits(
    result: xr.Dataset,
    measures: QueryMeasures,
    scores: Scores,
    names: Mapping[str, Name],
    options: IntervalMethod | None,
    people: np.ndarray | None = None,
) -> xr.Dataset:
    """Return a result with intervals, if wanted, by the `people` of the queries."""
    if options is None:
        return result
    if options.by_subject:
        SubjectAttempts.require_people(scores, options.method)
    if people is None:
        people = scores._probe_people
    return query_mean_intervals(result, measures, people, names, options)


@leaves_out_attacks
def gom(
    scores: Scores,
    *,
    thresholds: Any = None,
    budget: int | None = None,
    normalize: bool | tuple[float, float] | None = None,
    variant: GomVariant | None = None,
    convention: Named = "market1501",
    ties: PlainTies | None = None,
    max_rank: int | None = None,
    interval: IntervalName | IntervalMethod | None = None,
    per_query: bool = False,
    open_queries: Scores | None = None,
) -> xr.Dataset:
    """Evaluate open-world re-identification by GOM: retrieval and verification at a threshold.

    For a query with a match, everything within the threshold tau is retrieved: RP is the average
    precision of that list over the matches in it, VP is ``TP / (TP + FN + FP)``, and ReP is
    ``sqrt(RP VP)``. For a query whose identity is not in the gallery, FR is ``min(FP / B, 1)``.

    Parameters
    ----------
    scores : Scores
        Enrolled and unenrolled queries may be in one matrix.
    thresholds : None or increasing array of float
        Thresholds; the card's, or 0, 0.01 ... 1, by default. On the normalised scale, or in the
        unit of the scores where they are not normalised. Areas are over these.
    budget : int, optional
        Budget B of mFR: the number of false retrievals at which FR reaches 1. None: the card's, or
        3000.
    normalize : bool or pair of float, optional
        Smallest and largest distance, which are scaled to 0 and 1. Whether distances are first
        scaled to 0 ... 1 over all finite ones of the matrix; a pair: from these, of a whole of
        which the scores are a part (attributes ``normalised_low`` and ``normalised_high``;
        similarities are negated). None: as the card says, or True.
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
    open_queries : Scores, optional
        Queries of another data set against the same gallery. No identity of theirs is in the
        gallery, whatever their labels; for all else they are further rows of `scores`.

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
    >>> result = be.gom(scores, thresholds=[0.3, 0.6], budget=5, normalize=False)
    >>> result.mvp.values.round(2), result.mfr.values
    (array([0.67, 1.  ]), array([0. , 0.2]))
    """
    require_scores(scores)
    limits = interval_of(interval)
    changes = {"budget": budget, "variant": variant, "ties": ties, "max_rank": max_rank}
    changes["per_query"] = require_flag("per_query", per_query)
    if isinstance(scores, TopKScores):
        scores._require_matrix()
    gom_pass, options = plan_gom(scores, convention, thresholds, normalize, changes, open_queries)
    with rows_reported():
        tally = gom_pass.run()
    result = gom_dataset(tally, options)
    people = gom_pass.lists.query_identity
    if open_queries is not None:  # whose people are others, whatever their labels
        people = np.append(people, len(codes_of(scores).values) + codes_of(open_queries).probe)
    return _with_limits(result, gom_measures(tally, options), scores, GOM, limits, people)


def plan_gom(
    scores: Scores,
    convention: Named,
    thresholds: Any = None,
    normalize: bool | tuple[float, float] | None = None,
    changes: Mapping[str, Any] | None = None,
    open_queries: Scores | None = None,
) -> tuple[GomPass, GomOptions]:
    """Return the pass of GOM and the options of its result, as given by a card.

    - `thresholds`, `normalize`: as for :func:`gom`; None leaves the card's
    - `changes`: options of :class:`GomOptions` in place of the card's; None leaves the card's
    - `open_queries`: as for :func:`gom`
    """
    require_values(scores, "GOM")
    rules, options, grid, scale = _gom_rules(scores, convention, thresholds, normalize, changes)
    scores = with_exclusions(scores, rules)
    require_subjects(scores, "GOM")
    appended = None
    if open_queries is not None:
        appended = as_open_queries(open_queries, scores, rules)
    gom_pass = GomPass(
        scores, rules, grid, normalize=scale, variant=options.variant, appended=appended
    )
    return gom_pass, options


def _gom_rules(
    scores: Scores,
    convention: Named,
    thresholds: Any,
    normalize: bool | tuple[float, float] | None,
    changes: Mapping[str, Any] | None,
) -> tuple[Convention, GomOptions, np.ndarray, bool | tuple[float, float]]:
    """Return what a query sees, the options of the result, the thresholds, and the scale."""
    changed = {name: value for name, value in (changes or {}).items() if value is not None}
    GomOptions(**changed)  # refuses what GOM does not have, before the card is read
    rules = convention_of(convention, ("gom", "reid"), ties=changed.get("ties"))
    task = load(convention).section("gom")
    if rules.ties == "expected":
        raise ProtocolError(
            f"the convention {rules.name} has expected ties, under which GOM is not offered; give ",
            Argument("ties", "stable"),
            ", 'pessimistic' or 'optimistic'",
        )
    card_options = {"budget": task.budget, "variant": task.variant, "max_rank": task.max_rank}
    options = GomOptions(**{**card_options, **changed, "ties": rules.ties})
    if thresholds is None:
        thresholds = task.thresholds
    grid = retrieval_thresholds(thresholds, "GOM")
    if grid is None:
        grid = np.arange(TAUS) / (TAUS - 1.0)
    scale = task.distances == "normalized" if normalize is None else _scale(normalize)
    low, high = scale if isinstance(scale, tuple) else (0.0, 1.0)
    if scale is not True and is_turned(scores.kind, low, high):
        grid = to_user(grid, scores.kind)[::-1]  # similarities as distances
    place = "max_rank" if "max_rank" in changed else f"protocol {rules.name}: [gom] max_rank"
    check_max_rank(options.max_rank, scores.shape[1], place)
    return rules, options, grid, scale


def _scale(normalize: Any) -> bool | tuple[float, float]:
    """Return whether distances are normalised, or the distances that become 0 and 1."""
    if isinstance(normalize, (bool, np.bool_)):
        return bool(normalize)
    low, high = require_numbers(
        "normalize",
        normalize,
        "True, False, or the smallest and the largest distance, such as (0.0, 2.0)",
        lambda ends: len(ends) == 2 and ends[0] < ends[1] and np.isfinite(ends[1] - ends[0]),
    ).tolist()
    return low, high


def as_open_queries(queries: Scores, scores: Scores, rules: Convention) -> Scores:
    """Return queries of another data set as queries whose identity is not in the gallery.

    They must be scores of the same kind against the gallery of `scores`, which lends them its
    metadata. Their labels no longer count; their cameras do where a convention removes a whole
    camera from a list.
    """
    argument = Argument("open_queries")
    require_scores(queries, str(argument))
    scores._require_matrix()
    queries._require_matrix()
    for field in ("kind", "nan"):
        mine, theirs = getattr(scores, field), getattr(queries, field)
        if mine != theirs:
            raise DataError(
                argument,
                f" has {field} = {theirs!r}, and the scores have {mine!r}; expected the same of "
                "both",
            )
    if scores._exclusions.of_all:
        raise ProtocolError(
            argument,
            f" has no attempts that exclude = {', '.join(scores.exclude)} could leave out; select "
            "the gallery that these queries see, and give no exclusion of all pairs",
        )
    _require_same_gallery(queries, scores, argument)
    if np.isin(queries.probe_ids, queries.gallery_ids).any():
        raise DataError(
            argument,
            " is an all-against-all matrix: its queries are in the gallery; expected queries of "
            "another data set, against the same gallery",
        )
    of_probes, of_gallery = queries.probe_meta, scores.gallery_meta
    if "same-camera" not in (rules.removed, rules.ap_removed) and rules.needs_cameras:
        of_probes = _of_one_camera(of_probes, queries.shape[0])
        of_gallery = _of_one_camera(of_gallery, queries.shape[1])
    ids = (*rules.junk_ids, *rules.distractor_ids, *scores.distractor_ids)
    view = queries._with(
        _probe_meta=dict(of_probes),
        _gallery_meta=dict(of_gallery),
        distractor_ids=scores.distractor_ids,
        _codes=_codes_of_strangers(scores.gallery_labels, queries.shape[0], ids),
    )
    return view.replace(exclude=())


def _of_one_camera(meta: Mapping[str, np.ndarray], size: int) -> dict[str, np.ndarray]:
    """Return metadata in which all templates are from one camera."""
    kept = {name: x for name, x in meta.items() if name.casefold() not in CAMERA_COLUMNS}
    return {**kept, "camera": np.zeros(size, dtype=np.int64)}


def _require_same_gallery(queries: Scores, scores: Scores, argument: Argument) -> None:
    """Raise :class:`DataError` unless the columns of both are the same templates."""
    sizes = queries.shape[1], scores.shape[1]
    if sizes[0] != sizes[1]:
        raise DataError(
            argument,
            f" has a gallery of {counted(sizes[0], 'templates')}, and the scores have one of "
            f"{sizes[1]:,}; expected the same gallery, in the same order",
        )
    columns = {"label": (queries.gallery_labels, scores.gallery_labels)}
    for name, column in scores.gallery_meta.items():
        if name in queries.gallery_meta:
            columns[name] = queries.gallery_meta[name], column
    for name, (theirs, mine) in columns.items():
        pairs = zip(theirs.tolist(), mine.tolist(), strict=True)
        other = [i for i, (x, y) in enumerate(pairs) if x != y and (x == x or y == y)]
        if other:
            at = other[0]
            raise DataError(
                argument,
                f" has another gallery: the {name} of template {at} is {theirs.tolist()[at]!r}, "
                f"and {mine.tolist()[at]!r} in the scores ({counted(len(other), 'templates')} "
                "differ); expected the same templates in the same order",
            )


def _codes_of_strangers(gallery: np.ndarray, queries: int, ids: Sequence[int]) -> Codes:
    """Return codes in which no query has an identity of the gallery, or one of `ids`."""
    codes = Codes(gallery, gallery)
    stranger = "open query"
    if codes.values.dtype.kind in "iufb":
        free = np.arange(len(codes.values) + len(ids) + 1)
        free = free[~np.isin(free, codes.values) & ~np.isin(free, ids)]
        stranger = free[0].item()
    else:
        while stranger in codes.lookup:
            stranger = f"{stranger}'"
    code = np.full(queries, len(codes.values))
    return Codes.known(np.append(codes.values, np.array([stranger])), code, codes.gallery)
