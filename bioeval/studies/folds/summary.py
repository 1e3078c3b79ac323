"""The scalars of every task of a protocol, as plain numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bioeval.base.errors import ProtocolError
from bioeval.protocol.card import Protocol
from bioeval.results.dataset import Scalars
from bioeval.results.support import KindVerdict
from bioeval.scores.blocks import BlockReader
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores, require_scores
from bioeval.studies.folds.counted_together import scalars_together
from bioeval.tasks.plan import EvaluationOptions, Plan, check_systems, resolve_card
from bioeval.tasks.task_plan import runner_of
from bioeval.views.messages import warn_of_kind


@leaves_out_attacks
def summary(
    scores: Scores | Mapping[str, Scores],
    protocol: str | Protocol = "auto",
    *,
    far_targets: Sequence[float] | None = None,
    frr_targets: Sequence[float] | None = None,
    auc: bool = True,
) -> dict[str, Any]:
    """Return the scalars of every task of a protocol, as plain numbers by name.

    They are those of :func:`evaluate` to the last bit, without its curves and datasets, in a
    fraction of its time: for scripts that evaluate many small sets of scores.

    Parameters
    ----------
    scores : Scores, or mapping of str to Scores
        One system, or several by name.
    protocol, far_targets, frr_targets, auc
        As for :func:`evaluate`.

    Returns
    -------
    dict of str to dict
        By task, such as ``"verification/single"`` or ``"open_set"``, the variables of its dataset
        as floats and ints; of several systems, such a mapping for each. What depends on a target,
        a rank or the prior of a cost is a mapping by it: ``frr_at_far`` and ``far_at_frr`` of the
        targets, ``cms`` and ``cmc`` of the ranks that tables show, ``min_dcf`` of the card's
        priors; ``dir_at_far`` of the targets at rank 1. NaN where a number is not defined.

    Raises
    ------
    CardError, DataError
        As for :func:`evaluate`.
    ProtocolError
        As for :func:`evaluate`, and of a card with folds.

    Examples
    --------
    >>> import bioeval as be
    >>> found = be.summary(be.simulate(20, 4, random_state=1))
    >>> sorted(found)
    ['closed_set', 'open_set', 'verification/multi', 'verification/single']
    >>> sorted(found["closed_set"]["cms"])
    [1, 5, 10]
    >>> found["verification/single"]["genuine_attempts"]
    240
    """
    options = EvaluationOptions.parse(far_targets=far_targets, frr_targets=frr_targets, auc=auc)
    if not isinstance(scores, Mapping):
        return _summary_of_system(scores, protocol, options)
    check_systems(scores)
    return {name: _summary_of_system(each, protocol, options) for name, each in scores.items()}


def _summary_of_system(
    scores: Scores, protocol: str | Protocol, options: EvaluationOptions
) -> dict[str, Any]:
    """Return the scalars of one system, and warn where its kind is doubtful."""
    by_task, ranks = scalars_of(scores, protocol, options)
    for node, scalars in by_task.items():
        if not node.startswith("verification"):
            continue
        known = {"subjects": ((), 0), **scalars.variables}
        genuine = known["genuine_attempts"][1]
        subjects = known["subjects"][1]
        eer = known["eer"][1]
        people, fused = min(genuine, subjects or genuine), node.endswith("multi")
        warn_of_kind(
            KindVerdict.doubt(eer, scores.kind, people, fused=fused, metric=scores._metric)
        )
    return {node: scalars.plain(ranks) for node, scalars in by_task.items()}


def scalars_of(
    scores: Scores, protocol: str | Protocol, options: EvaluationOptions
) -> tuple[dict[str, Scalars], tuple[int, ...]]:
    """Return the scalars of every task of a protocol, and the ranks that tables show."""
    require_scores(scores)
    card = resolve_card(scores, protocol)
    if (runner := runner_of(scores)) is not None:
        tree = runner.evaluate(scores, card, options)
        of_tasks = {str(x.name): Scalars.of_dataset(x.to_dataset()) for x in tree.leaves}
        return of_tasks, card.report.ranks
    if card.has_folds:
        raise ProtocolError(
            f"protocol {card.name} has folds, and each fold has rates of its own: use be.evaluate"
        )
    automatic = protocol == "auto"
    if BlockReader(scores).is_small:  # which spares the steps around counting
        together = scalars_together(scores, card, options, automatic=automatic)
        if together is not None:
            return together, card.report.ranks
    _, counted = Plan.counted(scores, card, options, automatic=automatic)
    return {k: part.scalars(k) for k, part in counted.items()}, card.report.ranks
