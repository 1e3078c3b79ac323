"""The tasks of a card with folds, for :func:`bioeval.evaluate`."""

from __future__ import annotations

import xarray as xr

from bioeval.base.errors import ProtocolError
from bioeval.protocol.card import Protocol
from bioeval.protocol.loading import available
from bioeval.results.dataset import tree_of
from bioeval.scores.matrix import Scores
from bioeval.studies.folds.cross_evaluate import evaluate_folds
from bioeval.tasks.plan import EvaluationOptions


def evaluate(scores: Scores, card: Protocol, options: EvaluationOptions) -> xr.DataTree:
    """Evaluate the tasks of a card with ``[partition]`` in its folds."""
    unused = options.those_set("thresholds", "max_rank", "interval", "per_query")
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
    targets = card.report.far_targets if options.far_targets is None else options.far_targets
    at_frr = card.report.frr_targets if options.frr_targets is None else options.frr_targets
    if at_frr is None:
        at_frr = ()
    datasets = evaluate_folds(scores, card, targets, at_frr)
    return tree_of(dict(datasets))
