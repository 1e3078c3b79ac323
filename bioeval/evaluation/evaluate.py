"""All tasks of a protocol: one sweep over the scores, and a tree of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bioeval.base.errors import DataError, ProtocolError
from bioeval.base.random import RandomState
from bioeval.base.variables import TOP_K
from bioeval.evaluation.intervals import with_intervals
from bioeval.evaluation.plan import (
    EvaluationOptions,
    Plan,
    compared_scores,
    refuse_unused,
    resolve_card,
)
from bioeval.evaluation.tally import Tally
from bioeval.protocol import load
from bioeval.protocol.card import Protocol
from bioeval.protocol.reid import convention_of
from bioeval.results.top_k import reid_of_lists
from bioeval.scores.blocks import Progress, threads_for
from bioeval.scores.matrix import Scores
from bioeval.scores.top_k import TopKScores
from bioeval.stats.options import CONFIDENCE, REPLICATES, IntervalOptions
from bioeval.stats.query_means import query_mean_intervals
from bioeval.tallies.by_subject import require_people

if TYPE_CHECKING:
    import xarray as xr


def evaluate(
    scores: Scores | Mapping[str, Scores],
    protocol: str | Protocol = "auto",
    *,
    thresholds: Any = None,
    max_rank: int | None = None,
    far_targets: Sequence[float] | None = None,
    auc: bool = True,
    interval: str | None = None,
    confidence: float = CONFIDENCE,
    replicates: int = REPLICATES,
    random_state: RandomState = 0,
    per_query: bool = False,
    progress: Progress | None = None,
) -> xr.DataTree:
    """Evaluate every task of a protocol, in one sweep over the scores.

    Parameters
    ----------
    scores : Scores, or mapping of str to Scores
        One system, or several by name.
    protocol, thresholds, max_rank, far_targets, progress
        As for :func:`tally`.
    auc : bool
        As for :func:`verification`: without it an evaluation is several times faster.
    interval, confidence, replicates, random_state
        As for :func:`verification`; all tasks and systems share the same resamples.
    per_query : bool
        As for :func:`reid`: also the values of each query, of a card with re-identification.

    Returns
    -------
    xarray.DataTree
        Nodes ``/verification/single``, ``/verification/multi``, ``/open_set``, ``/closed_set``,
        ``/reid``, as far as the card has them; under ``/<system>`` for several systems. Of a card
        with folds, ``/folds/verification/single`` and so on, as :func:`bioeval.cross_evaluate`
        gives them; there are no curves then, and options about them are refused.

    Raises
    ------
    CardError
        If there is no such card, or it is not valid.
    DataError
        Bad options; NaN under ``nan="raise"``.
    ProtocolError
        If the scores cannot support the protocol, or an option has no effect under it.

    Examples
    --------
    >>> import bioeval as be
    >>> tree = be.evaluate(be.simulate(20, 4, random_state=1))
    >>> sorted(node.path for node in tree.leaves)
    ['/closed_set', '/open_set', '/verification/multi', '/verification/single']
    """
    options = EvaluationOptions.parse(
        thresholds=thresholds,
        max_rank=max_rank,
        far_targets=far_targets,
        auc=auc,
        per_query=per_query,
        interval=IntervalOptions.parse(interval, confidence, replicates, random_state),
    )
    if not isinstance(scores, Mapping):
        return _evaluate_system(scores, protocol, options, progress)
    import xarray as xr

    if not scores:
        raise DataError("no systems are given; expected a mapping of name to Scores")
    for name in scores:
        if not isinstance(name, str) or not name or "/" in name:
            raise DataError(f"the system's name is {name!r}; expected a word without '/'")
    trees = {k: _evaluate_system(v, protocol, options, progress) for k, v in scores.items()}
    return xr.DataTree(children=trees)


def _evaluate_system(
    scores: Scores,
    protocol: str | Protocol,
    options: EvaluationOptions,
    progress: Progress | None,
) -> xr.DataTree:
    import xarray as xr

    if isinstance(scores, TopKScores):
        return _evaluate_lists(scores, protocol, options)
    card = resolve_card(scores, protocol)
    if card.has_folds:
        return _evaluate_folds(scores, card, options, progress)
    plan = Plan(scores, card, options, automatic=protocol == "auto")
    if options.interval is not None and options.interval.by_subject:
        require_people(scores, options.interval.method)
    counted = plan.count(progress)
    tally = Tally(card.name, counted, plan.far_targets, card.report.ranks)
    with threads_for(scores):
        plan.refine(counted)
        if options.interval is None:
            return tally.tree()
        found = {}
        for node, part in counted.items():
            job = plan.tasks[node].job if node in plan.tasks else plan.retrieval
            found[f"/{node}"] = with_intervals(
                tally.dataset(node), part, job, plan.reader, options.interval
            )
    return xr.DataTree.from_dict(found)


def _evaluate_folds(
    scores: Scores, card: Protocol, options: EvaluationOptions, progress: Progress | None
) -> xr.DataTree:
    import xarray as xr

    from bioeval.evaluation.cross.card_folds import evaluate_folds

    unused = options.given("thresholds", "max_rank", "far_targets", "interval", "per_query")
    if unused:
        raise ProtocolError(
            f"protocol {card.name} has folds, which have neither curves nor intervals of their "
            f"own: leave out {' and '.join(unused)}, or change the card"
        )
    found = evaluate_folds(compared_scores(scores, card), card, progress=progress)
    return xr.DataTree.from_dict(dict(found))


def _evaluate_lists(
    scores: TopKScores, protocol: str | Protocol, options: EvaluationOptions
) -> xr.DataTree:
    """Evaluate top-K lists by a convention, the one kind of protocol that they support."""
    import xarray as xr

    if protocol == "auto":
        scores.require_matrix()
    card = load(protocol)
    if set(card.tasks) != {"reid"}:
        scores.require_matrix()
    refuse_unused(card, options)
    rules = convention_of(card, max_rank=options.max_rank)
    found, measures = reid_of_lists(
        scores, rules, max_rank=options.max_rank, per_query=options.per_query
    )
    found.attrs |= {
        "protocol": card.name,
        "report_ranks": " ".join(map(str, card.report.ranks)),
    }
    if options.interval is not None:
        found = query_mean_intervals(found, measures, scores.codes.probe, TOP_K, options.interval)
    return xr.DataTree.from_dict({"/reid": found})
