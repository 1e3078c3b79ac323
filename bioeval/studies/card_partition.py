"""The tasks of a card that divides the data, with ``[partition]``, for :func:`bioeval.evaluate`.

Such a section has folds, of people, samples or given ones, or an experiment: a threshold is chosen
on the training part of each and judged on its test part, as by :func:`bioeval.cross_evaluate`. Or
each template of a person is enrolled in turn (``by = "gallery-folds"``), as by
:func:`bioeval.repeat`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import xarray as xr

from bioeval import partition
from bioeval.base.arguments import require_choice
from bioeval.base.errors import DataError, Message, ProtocolError, backquoted, enumerated
from bioeval.counting.threshold_rules import Rule
from bioeval.counting.verification import Use
from bioeval.protocol.card import Protocol
from bioeval.protocol.tasks import OpenSet
from bioeval.results.attributes import tree_of
from bioeval.scores.labels import is_written
from bioeval.scores.matrix import Scores
from bioeval.stats.options import IntervalMethod
from bioeval.studies.cross_evaluate import evaluate_tasks
from bioeval.studies.fold_results import FoldOptions, FoldTask, parse_ranks
from bioeval.studies.repeat import results_of_partitions
from bioeval.studies.splits import SplitSides
from bioeval.tasks.card_scores import compared
from bioeval.tasks.options import EvaluationOptions

# The prior at which both errors weigh the same.
_EVEN = 0.5


def evaluate_partition(scores: Scores, card: Protocol, options: EvaluationOptions) -> xr.DataTree:
    """Evaluate the tasks of a card with ``[partition]``, in its folds or its galleries."""
    assert card.partition is not None
    unused = options.set_among("thresholds", "n_thresholds", "max_rank", "per_query", "interval")
    if unused:
        raise ProtocolError(
            f"protocol {card.name} divides the data, and no part has curves or intervals: leave "
            f"out {enumerated(map(backquoted, unused))} (intervals over folds are those of the "
            "card's [uncertainty])"
        )
    if card.partition.by == "gallery-folds":
        card_of_part = replace(
            card, layout="probe-against-gallery", partition=None, decision=None, uncertainty=None
        )
        return results_of_partitions(scores, splitter_of(card, scores), card_of_part, options)
    options.refuse_unused(card)
    far_targets, frr_targets = options.targets(card.report)
    scores = compared(scores, card)
    splitter = splitter_of(card, scores)
    if card.partition.by == "subject-folds" and splitter.n_splits < card.partition.folds:
        about = {"usual": card.partition.folds, "there": len(scores.subjects), "what": "people"}
        scores = scores.with_remarks(Message("fewer-folds", folds=splitter.n_splits, **about))

    # The options of each task, by the node of its results.
    uncertainty = card.section("uncertainty")
    decision = card.section("decision")
    fold_options = partial(
        FoldOptions,
        rule=Rule("none") if decision.rule == "none" else Rule.parse(decision.as_rule()),
        interval=IntervalMethod(uncertainty.interval, uncertainty.confidence),
        ranks=parse_ranks(card.report.ranks),
        far_targets=far_targets,
    )
    nodes: dict[str, FoldOptions] = {}
    if card.verification is not None:
        claims = None
        if card.claims is not None:
            drawn = card.claims
            claims = partition.ClaimSampler(drawn.per_probe, drawn.genuine, drawn.seed)
        for templates in card.verification.templates:
            name: str = templates
            if templates == "single" and scores.claim_attempts.name:
                name = scores.claim_attempts.name  # visits or claims, of several tries each
            nodes[f"verification/{name}"] = fold_options(
                task="verification",
                use=Use(templates, card.verification.fusion),
                claims=claims,
                frr_targets=frr_targets,
                # At an even prior, the least cost is the smallest HTER, which tables leave out.
                priors=np.array([x for x in card.report.priors if x != _EVEN]),
            )
    for section, task in card.tasks.items():
        if section != "verification":
            options_of_search = {
                option: task[option]
                for option in ("rank_unit", "fusion", "ties", "impostors")
                if hasattr(task, option)
            }
            nodes[section] = fold_options(
                task=cast("FoldTask", section), search=OpenSet(**options_of_search)
            )
    datasets = evaluate_tasks(scores, splitter, list(nodes.values()))
    for result in datasets:
        result.attrs["protocol"] = card.name
    return tree_of(dict(zip(nodes, datasets, strict=True)))


def splitter_of(card: Protocol, scores: Scores) -> Any:
    """Return the splitter of a card with folds; each subject fold has at least two people."""
    section = card.partition
    if section is None:
        raise ProtocolError(f"protocol {card.name} has no [partition], so there are no folds")
    options = section.options()
    if section.by == "given-folds" and scores.layout == "pairs":
        if scores.pair_folds is None:
            raise DataError(
                f"protocol {card.name} takes the folds as given, but these pairs have none; give "
                "Scores.from_pairs(..., pair_folds=), an array or column fold in the file, or four "
                "columns of pairs with the fold as the third"
            )
        return partition.PredefinedPairFolds(scores.pair_folds)
    if section.by == "given-folds":
        options["fold_of_sample"] = _column(scores, section.column)
    elif section.by == "experiment":
        options["gallery_templates"] = _enrolled_templates(section.gallery_templates, scores)
    elif section.by == "subject-folds":
        options["n_splits"] = min(options["n_splits"], max(2, len(scores.subjects) // 2))
    elif section.by == "sample-folds":
        options["stratify"] = section.stratify or "subject"
    if section.by in ("subject-folds", "sample-folds", "gallery-folds"):
        options["shuffle"] = True
    return getattr(partition, section.splitter)(**options)


def _enrolled_templates(templates: Any, scores: Scores) -> Any:
    """Return the option `gallery_templates` of an experiment, of which a card may have a text.

    ``"session = 1, 2"`` becomes ``{"session": [1, 2]}``, with the values that the column has; if
    none matches, with the words of the card, which the experiment then refuses.
    """
    if not isinstance(templates, str):
        return templates
    column, _, listed = templates.partition("=")
    column = column.strip()
    words = [word.strip() for word in listed.split(",")]
    values = dict.fromkeys(_column(scores, column).tolist())
    matching = [value for value in values if any(is_written(value, word) for word in words)]
    return {column: matching or words}


def _column(scores: Scores, column: Any) -> np.ndarray:
    meta = SplitSides(scores).meta
    require_choice("the metadata column", column, meta)
    return meta[column]
