"""Evaluation of protocol cards with folds."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bioeval.base.errors import DataError, ProtocolError, bad_choice
from bioeval.evaluation.cross.evaluation import cross_evaluate
from bioeval.evaluation.cross.splits import Sides
from bioeval.partition import (
    PredefinedFolds,
    PredefinedPairFolds,
    RepeatedSampleKFold,
    RepeatedSubjectKFold,
    SubjectShuffleSplit,
)
from bioeval.protocol.card import Protocol, Threshold, Uncertainty
from bioeval.scores.blocks import Progress
from bioeval.scores.matrix import PairScores, Scores

if TYPE_CHECKING:
    import xarray as xr


def splitter_of(card: Protocol, scores: Scores) -> Any:
    """Return the splitter of a card with folds."""
    given = card.partition
    if given is None:
        raise ProtocolError(f"protocol {card.name} has no [partition], so there are no folds")
    if given.by == "given-folds":
        return _predefined(card.name, given.column, scores)
    if given.by == "dev-eval":
        return SubjectShuffleSplit(
            given.repeats,
            test_size=given.test_size,
            random_state=given.seed,
            stratify=given.stratify,
        )
    options: dict[str, Any] = {"n_repeats": given.repeats, "random_state": given.seed}
    if given.by == "sample-folds":
        return RepeatedSampleKFold(given.folds, stratify=given.stratify or "subject", **options)
    return RepeatedSubjectKFold(given.folds, stratify=given.stratify, **options)


def _predefined(card: str, column: str | None, scores: Scores) -> Any:
    if isinstance(scores, PairScores):
        if scores.pair_folds is None:
            raise DataError(
                f"protocol {card} takes the folds as given, but these pairs have none; give "
                "them as Scores.from_pairs(..., folds=), as the array or column fold of a file, "
                "or as the third of four columns of an array of pairs"
            )
        return PredefinedPairFolds(scores.pair_folds)
    meta = Sides(scores).meta
    if column not in meta:
        raise DataError(bad_choice("the metadata column", column, meta))
    return PredefinedFolds(meta[column])


def evaluate_folds(
    scores: Scores, card: Protocol, *, progress: Progress | None = None
) -> dict[str, xr.Dataset]:
    """Evaluate all tasks of a card in its folds, by node, such as ``folds/verification/single``."""
    threshold, uncertainty = card.threshold or Threshold(), card.uncertainty or Uncertainty()
    evaluate = partial(
        cross_evaluate,
        scores,
        splitter_of(card, scores),
        threshold=threshold.as_rule(),
        interval=uncertainty.interval,
        confidence=uncertainty.confidence,
        progress=progress,
    )
    found: dict[str, xr.Dataset] = {}
    if card.verification is not None:
        for templates in card.verification.templates:
            found[f"folds/verification/{templates}"] = evaluate(
                templates=templates, fusion=card.verification.fusion
            )
    for name, task in card.tasks.items():
        if name != "verification":
            used = ("rank_unit", "fusion", "ties", "impostors")
            options = {option: task[option] for option in used if hasattr(task, option)}
            found[f"folds/{name}"] = evaluate(task=name, ranks=card.report.ranks, **options)
    for dataset in found.values():
        dataset.attrs["protocol"] = card.name
    return found
