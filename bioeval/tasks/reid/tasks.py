"""Re-identification and GOM as tasks of a card, and the results of their counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import xarray as xr

from bioeval.protocol.card import Protocol
from bioeval.scores.matrix import Scores
from bioeval.stats.options import IntervalMethod
from bioeval.tasks.options import EvaluationOptions
from bioeval.tasks.reid.candidates import kept_scores
from bioeval.tasks.reid.convention import convention_of
from bioeval.tasks.reid.counts import GomCounts, ReidCounts, plan_reid
from bioeval.tasks.reid.intervals import query_mean_intervals
from bioeval.tasks.reid.reid import gom_of_card, retrieval_thresholds
from bioeval.tasks.reid.results import (
    GOM,
    REID,
    gom_dataset,
    gom_measures,
    reid_dataset,
    reid_measures,
)


def plan(
    section: str, scores: Scores, card: Protocol, options: EvaluationOptions
) -> tuple[Callable[[], ReidCounts], dict[str, Any]]:
    """Return what counts ``[reid]`` or ``[gom]``, with the options of its result."""
    tasks = set(card.tasks)
    if section == "reid":
        rules = convention_of(card, max_rank=options.max_rank)
        taus: Any = card.curve.values
        if tasks == {"reid"} and options.thresholds is not None:
            taus = options.thresholds
        taus = retrieval_thresholds(taus, "re-identification")
        counting = plan_reid(scores, rules, thresholds=taus, name_queries=options.per_query)
        return counting, {"per_query": options.per_query}
    thresholds = options.thresholds if tasks <= {"reid", "gom"} else None
    return gom_of_card(scores, card, thresholds, max_rank=options.max_rank), {}


def compared(scores: Scores, card: Protocol) -> Scores:
    """Return the scores of the other tasks of a card: the comparisons that the queries have."""
    return kept_scores(scores, convention_of(card, ("reid", "gom")))


def dataset(tally: ReidCounts, options: dict[str, Any]) -> xr.Dataset:
    """Return the result."""
    if isinstance(tally, GomCounts):
        return gom_dataset(tally, **options)
    return reid_dataset(tally, **options)


def with_intervals(dataset: xr.Dataset, tally: ReidCounts, limits: IntervalMethod) -> xr.Dataset:
    """Return the result with confidence intervals, by the people of the queries."""
    people = tally.subject_of_query
    if isinstance(tally, GomCounts):
        return query_mean_intervals(dataset, gom_measures(tally), people, GOM, limits)
    return query_mean_intervals(dataset, reid_measures(tally), people, REID, limits)
