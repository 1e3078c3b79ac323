"""Open-world re-identification by GOM: retrieval and verification within a threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_flag
from bioeval.base.errors import ProtocolError
from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.base.progress import rows_reported
from bioeval.counting.identification import check_max_rank
from bioeval.counting.thresholds import check_thresholds, require_values, to_user
from bioeval.protocol.choices import GomVariant, PlainTies
from bioeval.protocol.loading import load
from bioeval.protocol.pairs import with_exclusions
from bioeval.scores.matrix import Scores
from bioeval.scores.requirements import require_all_scores, require_scores, require_subjects
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.options import IntervalMethod, IntervalName, interval_of
from bioeval.tasks.reid.candidates import Candidates
from bioeval.tasks.reid.convention import Named, convention_of, with_options
from bioeval.tasks.reid.gom_counts import GomCounts

# Number of thresholds of GOM, unless others are given: 0, 1/100 ... 1.
DEFAULT_THRESHOLDS = 101


@warns_of_doubts
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
    thresholds : float or increasing array of float, optional
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
        Treatment of ties in place of the card's.
    max_rank : int, optional
        Number of ranks of CMC and DIR. None: the card's, or 10.
    interval
        As for :func:`reid`.
    per_query : bool
        Also return ``rp``, ``vp``, ``rep`` and ``fr`` over ``probe, threshold``.

    Returns
    -------
    xarray.Dataset
        - ``mrp``, ``mvp``, ``mrep``, ``mfr``, ``precision``, ``recall``, ``f1``, ``micro_f1``,
          ``far``, ``ttr``, ``ttr_identity`` and ``ftr`` over ``threshold``
        - ``dir`` over ``threshold, rank``, and ``cmc`` over ``rank``
        - ``mrep_area``, ``mfr_area``, ``max_mrep``, ``max_mvp``, ``max_f1``, ``mean_ap``,
          ``mean_inp``
        - ``tau_max``, ``tau_nz``, ``tau_f1``: thresholds
        - ``queries`` and ``open_queries``
        - ``skipped``: queries whose matches are all removed
        - ``left_out``: queries that are junk or distractors
        - ``removed``: gallery entries removed

        With an interval, all but ``dir``, ``micro_f1`` and the thresholds have ``_low`` and
        ``_high``.

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
    interval_method = interval_of(interval)
    per_query = require_flag("per_query", per_query)
    require_all_scores(scores)
    options = {"budget": budget, "variant": variant, "ties": ties, "max_rank": max_rank}
    counting = plan_gom(scores, convention, thresholds, scaled, **options)
    with rows_reported():
        counts = counting(per_query=per_query)
    result = counts.dataset()
    return result if interval_method is None else counts.with_intervals(result, interval_method)


def plan_gom(
    scores: Scores,
    convention: Named,
    thresholds: Any = None,
    scaled: bool | None = None,
    **options: Any,
) -> Callable[..., GomCounts]:
    """Check a card's task of GOM, and return the function that counts it.

    `options` are fields of the card's section; None leaves the card's value.
    """
    require_values(scores, "GOM")
    rules = convention_of(convention, ("gom", "reid"))
    task = load(convention).section("gom")
    if options.get("ties") is None:
        options["ties"] = rules.ties
    if isinstance(options["ties"], str) and options["ties"] == rules.ties == "expected":
        raise ProtocolError(
            f"the convention {rules.name} has expected ties, under which GOM is not defined; give "
            '`ties="stable"`, "pessimistic" or "optimistic"'
        )
    place = f"protocol {rules.name}: [gom] max_rank"
    if options.get("max_rank") is not None:
        place = "max_rank"
    task = with_options(task, **options)
    rules = with_options(rules, ties=task.ties)
    scores = with_exclusions(scores, rules)
    require_subjects(scores, "GOM")
    if thresholds is None:
        thresholds = task.thresholds
    if thresholds is None:
        thresholds = np.arange(DEFAULT_THRESHOLDS) / (DEFAULT_THRESHOLDS - 1.0)
    grid = check_thresholds(thresholds)
    if scaled is None:
        scaled = task.distances == "scaled"
    if not require_flag("scaled", scaled) and scores.kind in LARGER_IS_CLOSER:
        grid = to_user(grid, scores.kind)[::-1]  # similarities as distances
    check_max_rank(task.max_rank, scores.shape[1], place)
    rules = replace(rules, removed_for_ap="as-above", cmc="first-match", max_rank=1)
    return partial(GomCounts.from_candidates_within, Candidates(scores, rules), task, grid, scaled)
