"""The tasks of a card that top-K lists can answer, and how they do."""

from __future__ import annotations

import xarray as xr

from bioeval import Protocol, TopKScores
from bioeval.evaluation import EvaluationOptions
from bioeval.results import tree_of
from bioeval.studies.lists.cut_lists import gom_of_lists as gom_of_lists, open_set as open_set
from bioeval.studies.lists.results import TOP_K, reid_of_lists
from bioeval.studies.reid.convention import convention_of
from bioeval.studies.reid.intervals import query_mean_intervals
from bioeval.studies.reid.reid import lists_gom, refuse_thresholds
from bioeval.tallies import check_targets


def require_card(scores: TopKScores, card: Protocol) -> None:
    """Raise :class:`ProtocolError` of a card with a task that lists cannot answer.

    They answer conventions, GOM, and open-set identification alone, of the whole gallery.
    """
    tasks = set(card.tasks)
    answered = tasks <= {"reid", "gom"} or tasks == {"open_set"}
    whole = card.open_set is None or card.open_set.gallery == "all"
    if not (answered and whole) or card.has_folds or card.galleries or card.exclude:
        scores._require_matrix()


def evaluate(scores: TopKScores, card: Protocol, options: EvaluationOptions) -> xr.DataTree:
    """Evaluate top-K lists under a card that :func:`require_card` accepts."""
    tasks = set(card.tasks)
    options.refuse_unused(card)
    datasets = {}
    if card.reid is not None:
        datasets["reid"] = _reid_of_lists(scores, card, options)
    elif options.interval is not None:
        scores._require_matrix()
    if card.gom is not None:
        taus = options.thresholds if tasks == {"gom"} else None
        changes = {"max_rank": options.max_rank}
        datasets["gom"] = lists_gom(scores, card, taus, None, changes)
    if card.open_set is not None:
        place = f"{card.name}: [open_set]"
        task = options.with_last_rank(card.open_set, scores.gallery_size, place)
        targets = card.report.far_targets if options.far_targets is None else options.far_targets
        thresholds = card.curve.requested() if options.thresholds is None else options.thresholds
        datasets["open_set"] = open_set(scores, task, thresholds, check_targets(targets))
    attrs = {"protocol": card.name, "report_ranks": " ".join(map(str, card.report.ranks))}
    return tree_of({node: ds.assign_attrs(attrs) for node, ds in datasets.items()})


def _reid_of_lists(scores: TopKScores, card: Protocol, options: EvaluationOptions) -> xr.Dataset:
    """Evaluate top-K lists by a convention of re-identification."""
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
    return dataset
