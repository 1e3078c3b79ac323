"""Protocol cards with folds: their splitter, their rule, and all their tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bioeval.base.errors import DataError, bad_choice
from bioeval.evaluation.cross.evaluation import cross_evaluate
from bioeval.evaluation.cross.splits import Sides
from bioeval.partition import (
    PredefinedFolds,
    PredefinedPairFolds,
    RepeatedSampleKFold,
    RepeatedSubjectKFold,
    SubjectShuffleSplit,
)
from bioeval.protocol.card import Protocol
from bioeval.scores.blocks import Progress
from bioeval.scores.matrix import PairScores, Scores

if TYPE_CHECKING:
    import xarray as xr


def splitter_of(card: Protocol, scores: Scores) -> Any:
    """Return the splitter that a card names."""
    given = card.settings["partition"]
    by, seed, repeats = given["by"], given["seed"], given["repeats"]
    if by == "given-folds":
        return _given(card, scores)
    stratify = given["stratify"]
    if by == "dev-eval":
        return SubjectShuffleSplit(
            repeats, test_size=given["test_size"], random_state=seed, stratify=stratify
        )
    if by == "subject-folds":
        return RepeatedSubjectKFold(
            given["folds"], n_repeats=repeats, random_state=seed, stratify=stratify
        )
    return RepeatedSampleKFold(
        given["folds"], n_repeats=repeats, random_state=seed, stratify=stratify or "subject"
    )


def _given(card: Protocol, scores: Scores) -> Any:
    if isinstance(scores, PairScores):
        if scores.pair_folds is None:
            raise DataError(
                f"protocol {card.name} takes the folds as given, but these pairs have none; give "
                "them as Scores.from_pairs(..., folds=), as the array or column fold of a file, "
                "or as the third of four columns of an array of pairs"
            )
        return PredefinedPairFolds(scores.pair_folds)
    column = card.settings["partition"]["column"]
    meta = Sides(scores).meta
    if column not in meta:
        raise DataError(bad_choice("the metadata column", column, meta))
    return PredefinedFolds(meta[column])


def rule_of(card: Protocol) -> Any:
    """Return the rule by which a card chooses thresholds."""
    given = card.settings.get("threshold")
    if given is None:
        return "eer"
    name = given["rule"]
    values = {"far": [given["far"]], "cost": given["cost"], "fixed": [given["value"]]}
    return (name, *values[name]) if name in values else name


def evaluate_folds(
    scores: Scores,
    card: Protocol,
    *,
    ranks: Any = None,
    progress: Progress | None = None,
) -> dict[str, xr.Dataset]:
    """Evaluate all tasks of a card in its folds.

    Returns
    -------
    dict of str to Dataset
        By ``folds/verification/single`` and so on, as :func:`bioeval.cross_evaluate` gives them.
    """
    splitter, rule = splitter_of(card, scores), rule_of(card)
    uncertainty = card.settings.get("uncertainty", {})
    shared = {"threshold": rule, "progress": progress}
    shared |= {k: uncertainty[k] for k in ("interval", "confidence") if k in uncertainty}
    reported = ranks or card.settings["report"].get("ranks") or (1,)
    found: dict[str, xr.Dataset] = {}
    for task, given in card.tasks.items():
        if task == "verification":
            for templates in given["templates"]:
                found[f"folds/verification/{templates}"] = cross_evaluate(
                    scores,
                    splitter,
                    templates=templates,
                    fusion=given.get("fusion") or "min",
                    **shared,
                )
            continue
        options = {k: given[k] for k in ("rank_unit", "fusion", "ties", "impostors") if k in given}
        found[f"folds/{task}"] = cross_evaluate(
            scores, splitter, task=task, ranks=reported, **options, **shared
        )
    for dataset in found.values():
        dataset.attrs["protocol"] = card.name
    return found
