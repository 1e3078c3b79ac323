"""The tasks of a card with folds, for :func:`bioeval.evaluate`."""

from __future__ import annotations

from typing import Any

import xarray as xr

from bioeval.base import ProtocolError
from bioeval.evaluation import EvaluationOptions
from bioeval.protocol import Protocol, available
from bioeval.results import tree_of
from bioeval.scores import Progress, Scores
from bioeval.studies.folds.cross_evaluate import evaluate_folds


def evaluate(
    scores: Scores, card: Protocol, options: EvaluationOptions, progress: Progress | None
) -> xr.DataTree:
    """Evaluate the tasks of a card with ``[partition]`` in its folds."""
    unused = options.given("thresholds", "max_rank", "interval", "per_query")
    if unused:
        how = "change the card"
        if "interval" in unused:
            how = (
                'write [uncertainty] interval = "subject-bootstrap" in a card without [open_set] '
                "and [closed_set]"
            )
            if card.name in available():
                how += f" (bioeval protocols {card.name} --toml > my.toml copies this card)"
        raise ProtocolError(
            f"protocol {card.name} has folds without curves and intervals of their own: leave "
            f"out {' and '.join(unused)}, or {how}"
        )
    options.refuse_unused(card)
    far_targets: Any = options.far_targets
    frr_targets: Any = options.frr_targets
    if far_targets is None:
        far_targets = card.report.far_targets
    if frr_targets is None:
        frr_targets = card.report.frr_targets
    if frr_targets is None:
        frr_targets = ()
    datasets = evaluate_folds(scores, card, far_targets, frr_targets, progress=progress)
    return tree_of(dict(datasets))
