"""Evaluation of protocol cards with folds."""

from __future__ import annotations

from functools import partial
from typing import Any

import xarray as xr

from bioeval import partition
from bioeval.base.errors import Argument, DataError, ProtocolError, bad_choice
from bioeval.evaluation.cross.assured_folds import Assurance
from bioeval.evaluation.cross.evaluation import evaluate_tasks
from bioeval.evaluation.cross.folds import attacked_scores, require_attacks
from bioeval.evaluation.cross.options import FoldOptions, parse_ranks
from bioeval.evaluation.cross.splits import SplitSides
from bioeval.partition import ClaimSampler, PredefinedFolds, PredefinedPairFolds
from bioeval.protocol.card import PARTITIONS, Protocol, Threshold, Uncertainty
from bioeval.scores.blocks import Progress
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.stats.options import BOOTSTRAPS, REPLICATES, IntervalOptions
from bioeval.tallies.by_subject import require_people
from bioeval.tallies.points import check_far_targets
from bioeval.tallies.threshold_rules import NO_RULE, parse_rule


def splitter_of(card: Protocol, scores: Scores) -> Any:
    """Return the splitter of a card with folds."""
    given = card.partition
    if given is None:
        raise ProtocolError(f"protocol {card.name} has no [partition], so there are no folds")
    if given.by == "given-folds":
        return _predefined(card.name, given.column, scores)
    options = given.options()
    if given.by == "experiment":
        options["gallery_templates"] = _enrolled(given.gallery_templates, scores)
    if given.by == "sample-folds":
        options["stratify"] = given.stratify or "subject"
    return getattr(partition, PARTITIONS[given.by].splitter)(**options)


def _enrolled(templates: Any, scores: Scores) -> Any:
    """Return the templates that are enrolled; of a text ``column=value,value``, the metadata."""
    if not isinstance(templates, str):
        return templates
    column, _, given = templates.partition("=")
    meta = SplitSides(scores).meta
    if column not in meta:
        raise DataError(bad_choice("the metadata column", column, meta))
    words = given.split(",")
    values = [x for x in dict.fromkeys(meta[column].tolist()) if str(x) in words]
    return {column: values or words}


def _predefined(card: str, column: str | None, scores: Scores) -> Any:
    if are_pairs(scores):
        if scores.pair_folds is None:
            raise DataError(
                f"protocol {card} takes the folds as given, but these pairs have none; give "
                "Scores.from_pairs(..., folds=), an array or column fold in the file, or four "
                "columns of pairs with the fold as the third"
            )
        return PredefinedPairFolds(scores.pair_folds)
    meta = SplitSides(scores).meta
    if column not in meta:
        raise DataError(bad_choice("the metadata column", column, meta))
    return PredefinedFolds(meta[column])


def evaluate_folds(
    scores: Scores, card: Protocol, far_targets: Any, *, progress: Progress | None = None
) -> dict[str, xr.Dataset]:
    """Evaluate all tasks of a card in its folds, by node, such as ``folds/verification/single``."""
    from bioeval.evaluation.plan import compared_scores

    attacked, scores = scores.attacked, compared_scores(scores, card)
    if card.verification is not None and card.verification.attempts is not None:
        raise ProtocolError(
            f"{Argument('attempts')} does not apply in folds, for folds divide probes; leave "
            "it out, or take a card without folds"
        )
    uncertainty = card.uncertainty or Uncertainty()
    threshold = card.threshold or Threshold()
    rule = NO_RULE if threshold.rule == NO_RULE.name else parse_rule(threshold.as_rule())
    assurance = Assurance.parse(threshold.assure, threshold.assurance, rule)
    if assurance is not None and card.verification is None:
        raise ProtocolError(
            f"{Argument('assure')} is for the FAR of verification, and protocol {card.name} has "
            "no verification; leave it out"
        )
    make = partial(
        FoldOptions,
        rule=rule,
        ranks=parse_ranks(card.report.ranks),
        interval=uncertainty.interval,
        far_targets=check_far_targets(far_targets),
    )
    drawn = card.claims
    claims = None if drawn is None else ClaimSampler(drawn.per_probe, drawn.genuine, drawn.seed)
    nodes: dict[str, FoldOptions] = {}
    attacks = None
    if card.attacks is not None:
        given = scores if attacked is None else compared_scores(attacked, card)
        attacks = attacked_scores(given, card.attacks.species)
        scores = attacks.bona_fide
    if card.verification is not None:
        for templates in card.verification.templates:
            nodes[f"folds/verification/{templates}"] = make(
                task="verification", templates=templates, fusion=card.verification.fusion,
                claims=claims, assurance=assurance, attacks=attacks,
            )  # fmt: skip
            if attacks is not None:
                require_attacks(nodes[f"folds/verification/{templates}"])
    for name, task in card.tasks.items():
        if name != "verification":
            used = ("rank_unit", "fusion", "ties", "impostors")
            options = {option: task[option] for option in used if hasattr(task, option)}
            nodes[f"folds/{name}"] = make(task=name, **options)
    resampling = None
    if uncertainty.interval in BOOTSTRAPS:
        resampling = IntervalOptions.parse(
            uncertainty.interval, uncertainty.confidence, REPLICATES, 0
        )
        require_people(scores, uncertainty.interval)
    found = evaluate_tasks(
        scores, splitter_of(card, scores), list(nodes.values()), uncertainty.confidence,
        resampling, progress,
    )  # fmt: skip
    for dataset in found:
        dataset.attrs["protocol"] = card.name
    return dict(zip(nodes, found, strict=True))
