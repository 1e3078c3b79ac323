"""Re-identification and GOM as tasks of a card, and the results of their counts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import xarray as xr

from bioeval.attempts.by_subject import SubjectAttempts
from bioeval.protocol.card import Protocol
from bioeval.results.dataset import Scalars
from bioeval.scores.blocks import BlockReader
from bioeval.scores.matrix import Scores
from bioeval.stats.options import IntervalMethod
from bioeval.tasks.plan import EvaluationOptions
from bioeval.tasks.reid.convention import convention_of
from bioeval.tasks.reid.counts import GomTally, ReidTally
from bioeval.tasks.reid.intervals import query_mean_intervals
from bioeval.tasks.reid.passes import RetrievalPass, kept_scores
from bioeval.tasks.reid.reid import gom, plan_gom, reid, retrieval_thresholds
from bioeval.tasks.reid.results import (
    GOM,
    REID,
    GomOptions,
    ReidOptions,
    gom_dataset,
    gom_measures,
    reid_dataset,
    reid_measures,
)
from bioeval.tasks.task_counts import TaskCounts

#: The calls that evaluate the tasks alone.
CALLS = {"reid": reid, "gom": gom}


def plan(
    section: str, scores: Scores, card: Protocol, options: EvaluationOptions
) -> tuple[Any, dict[str, Any]]:
    """Return the pass of ``[reid]`` or of ``[gom]``, with the options of its result."""
    tasks = set(card.tasks)
    if section == "reid":
        rules = convention_of(card, max_rank=options.max_rank)
        taus: Any = card.curve.values
        if tasks == {"reid"} and options.thresholds is not None:
            taus = options.thresholds
        taus = retrieval_thresholds(taus, "re-identification")
        retrieval = RetrievalPass(scores, rules, thresholds=taus, name_queries=options.per_query)
        result_options = rules.result_options()
        if options.per_query:
            result_options["per_query"] = True
        return retrieval, result_options
    thresholds = options.thresholds if tasks <= {"reid", "gom"} else None
    changes = {"max_rank": options.max_rank}
    search, gom_options = plan_gom(scores, card, thresholds, None, changes)
    return search, {k: v for k, v in asdict(gom_options).items() if k != "per_query"}


def compared(scores: Scores, card: Protocol) -> Scores:
    """Return the scores of the other tasks of a card: the comparisons that the queries have."""
    return kept_scores(scores, convention_of(card, ("reid", "gom")))


def dataset(tally: ReidTally, node: str, options: dict[str, Any]) -> xr.Dataset:
    """Return the result."""
    if isinstance(tally, GomTally):
        return gom_dataset(tally, GomOptions(**options))
    return reid_dataset(tally, ReidOptions(**options))


def scalars(tally: ReidTally, node: str, options: dict[str, Any]) -> Scalars:
    """Return the numbers of the result."""
    return Scalars.of_dataset(dataset(tally, node, options))


def with_intervals(
    dataset: xr.Dataset,
    counts: TaskCounts,
    study_pass: Any,
    reader: BlockReader,
    options: IntervalMethod,
) -> xr.Dataset:
    """Return the result with confidence intervals; `study_pass` made the counts."""
    tally: Any = counts.tally
    people: np.ndarray | None = None
    if options.by_subject:
        SubjectAttempts.require_people(reader.scores, options.method)
        people = study_pass.lists.query_identity
    if tally.form == "reid":
        names, measures = REID, reid_measures(tally, ReidOptions(**counts.options))
    else:
        names, measures = GOM, gom_measures(tally, GomOptions(**counts.options))
    return query_mean_intervals(dataset, measures, people, names, options)
