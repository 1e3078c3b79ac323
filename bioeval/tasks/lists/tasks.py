"""The tasks of a card that top-K lists can answer, and how they do."""

from __future__ import annotations

import xarray as xr

from bioeval.protocol.card import Protocol
from bioeval.results.dataset import tree_of
from bioeval.scores.top_k import TopKScores
from bioeval.tasks.lists.results import TOP_K, reid_of_lists
from bioeval.tasks.plan import EvaluationOptions
from bioeval.tasks.reid.convention import convention_of
from bioeval.tasks.reid.intervals import query_mean_intervals
from bioeval.tasks.reid.reid import refuse_thresholds


def evaluate(scores: TopKScores, card: Protocol, options: EvaluationOptions) -> xr.DataTree:
    """Evaluate top-K lists under a card of re-identification."""
    options.refuse_unused(card)
    ranks = " ".join(map(str, card.report.ranks))
    if options.thresholds is not None:
        refuse_thresholds()
    rules = convention_of(card, max_rank=options.max_rank)
    dataset, measures = reid_of_lists(
        scores, rules, max_rank=options.max_rank, per_query=options.per_query
    )
    if options.interval is not None:
        dataset = query_mean_intervals(
            dataset, measures, scores._probe_people, TOP_K, options.interval
        )
    return tree_of({"reid": dataset.assign_attrs(protocol=card.name, report_ranks=ranks)})
