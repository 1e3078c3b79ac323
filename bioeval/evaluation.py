"""All tasks of a protocol: one pass over the scores, and a tree of results.

A card with folds is evaluated in each fold, and a card with several galleries for each gallery;
several systems are evaluated one after another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.progress import rows_reported
from bioeval.protocol.card import Protocol
from bioeval.results.attributes import tree_above, tree_of
from bioeval.results.dataset import over_galleries
from bioeval.results.support import note_asked_targets
from bioeval.scores.matrix import Scores
from bioeval.scores.rows import threads_for
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.options import IntervalMethod, IntervalName, interval_of
from bioeval.tasks.card_scores import check_systems, galleries_of, resolve_card, thresholds_over
from bioeval.tasks.options import EvaluationOptions
from bioeval.tasks.plan import CardTasks


@warns_of_doubts
def evaluate(
    scores: Scores | Mapping[str, Scores],
    protocol: str | Protocol = "auto",
    *,
    thresholds: Any = None,
    n_thresholds: int | None = None,
    extra_thresholds: Sequence[float] | None = None,
    max_rank: int | None = None,
    far_targets: Sequence[float] | None = None,
    frr_targets: Sequence[float] | None = None,
    auc: bool = True,
    interval: IntervalName | IntervalMethod | None = None,
    per_query: bool = False,
) -> xr.DataTree:
    """Evaluate every task of a protocol, in one pass over the scores.

    Parameters
    ----------
    scores : Scores, or mapping of str to Scores
        One system, or several by name.
    protocol : str or Protocol
        Card of what is evaluated: a name (market1501 for mAP and CMC; bioeval protocols lists all)
        or a path; auto: all of verification and identification. Also a parsed card. ``"auto"``
        is the course card of the layout (of order-only scores, its closed set alone).
    thresholds : float or increasing array of float, optional
        Thresholds at which to report rates (0.5,0.62). In the units of the scores, in place of the
        card's.
    n_thresholds : int, optional
        Number of thresholds of the curves. From the smallest to the largest score, in place of the
        card's.
    max_rank : int, optional
        Number of ranks. In place of the card's.
    far_targets : sequence of float, optional
        FAR at which to report FRR and DIR. In place of the card's.
    extra_thresholds : sequence of float, optional
        Thresholds besides those: every task then has rows at these, and at the operating points of
        all tasks, of several systems at those of all that have the same units. An empty list gives
        the operating points alone. The scores are read once more for them.
    frr_targets : sequence of float, optional
        FRR at which to report FAR of verification. In place of the card's.
    auc : bool
        As for :func:`verification`: without it an evaluation is several times faster.
    interval
        As for :func:`verification`.
    per_query : bool
        As for :func:`reid`: also the values of each query, of a card with re-identification.

    Returns
    -------
    xarray.DataTree
        Nodes ``/verification/single``, ``/verification/multi`` (of :func:`claim_scores`
        ``/verification/visits`` or ``/verification/claims``), ``/open_set``, ``/closed_set``,
        ``/reid``, ``/gom``, as far as the card has them; under ``/<system>`` for several systems.
        With a card that has folds, each node is a result of :func:`bioeval.cross_evaluate`, over
        ``repeat, fold, part``; there are no curves then, and options about them are refused. With a
        card that has several galleries, all variables are over ``gallery``, with curves at the same
        thresholds; ``be.aggregate(tree, "gallery")`` has the mean of rates at the own threshold of
        each gallery, and :func:`show` shows it.

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
        n_thresholds=n_thresholds,
        extra_thresholds=extra_thresholds,
        max_rank=max_rank,
        far_targets=far_targets,
        frr_targets=frr_targets,
        auc=auc,
        per_query=per_query,
        interval=interval_of(interval, takes_unit=True),
    )
    with rows_reported():
        if isinstance(scores, Mapping):
            tree = _evaluate_systems(scores, protocol, options)
        else:
            tree = _evaluate_system(scores, protocol, options)
    if far_targets is not None:
        note_asked_targets(tree)
    return tree


def _evaluate_systems(
    scores: Mapping[str, Scores],
    protocol: str | Protocol,
    options: EvaluationOptions,
) -> xr.DataTree:
    check_systems(scores)
    options_of = dict.fromkeys(scores, options)
    extra = options.extra_thresholds
    if extra is not None and len(scores) > 1:
        # All systems have rows at the operating points of each: these are found first.
        plain = replace(options, extra_thresholds=None, interval=None)
        trees = {k: _evaluate_system(v, protocol, plain) for k, v in scores.items()}
        for name, points in _shared_points(trees).items():
            options_of[name] = replace(options, extra_thresholds=np.union1d(extra, points))
    return tree_above({k: _evaluate_system(v, protocol, options_of[k]) for k, v in scores.items()})


# Operating points that have a threshold each: alone, and at each FAR or FRR target.
_POINTS = ("eer_threshold", "zero_far_threshold", "zero_frr_threshold", "min_cost_threshold")
_POINTS_AT_TARGETS = ("threshold_at_far", "threshold_at_frr")


def _shared_points(trees: Mapping[str, xr.DataTree]) -> dict[str, np.ndarray]:
    """Return for each system the operating points of all systems in its units, at rank 1."""
    by_system = {name: _points_by_units(tree) for name, tree in trees.items()}
    shared = {}
    for name, units_of_system in by_system.items():
        points = [np.empty(0)]
        for points_by_units in by_system.values():
            points += [x for units, x in points_by_units.items() if units in units_of_system]
        thresholds = np.concatenate(points)
        shared[name] = np.unique(thresholds[np.isfinite(thresholds)])
    return shared


def _points_by_units(tree: xr.DataTree) -> dict[str, np.ndarray]:
    """Return the thresholds of the operating points of a system, by their units.

    The units are words: thresholds of two systems are alike if kind, units and metric agree.
    """
    by_units: dict[str, np.ndarray] = {}
    for leaf in tree.leaves:
        dataset = leaf.to_dataset()
        if "threshold" not in dataset.dims:
            continue
        kind = str(dataset.attrs.get("kind", "distance"))
        units = str(dataset.get("threshold", xr.DataArray()).attrs.get("units", ""))
        metric = str(dataset.attrs.get("metric", ""))
        words = " ".join(filter(None, (kind, units, metric)))
        points = [by_units.get(words, np.empty(0))]
        for variable in (*_POINTS, *_POINTS_AT_TARGETS):
            if variable in dataset:
                at_rank_1 = dataset[variable].isel({"rank": 0}, missing_dims="ignore")
                points.append(at_rank_1.values.ravel())
        by_units[words] = np.concatenate(points)
    return by_units


def _evaluate_system(
    scores: Scores, protocol: str | Protocol, options: EvaluationOptions
) -> xr.DataTree:
    card = resolve_card(scores, protocol)
    galleries = galleries_of(scores, card)
    if galleries is not None:
        return _evaluate_galleries(scores, galleries, card, options)
    if card.has_folds:
        from bioeval.studies.card_partition import evaluate_partition

        return evaluate_partition(scores, card, options)
    tasks = CardTasks(scores, card, options, automatic=protocol == "auto")
    counted = tasks.count()
    attrs = {"protocol": card.name, "report_ranks": " ".join(map(str, card.report.ranks))}
    datasets = {node: task.dataset() for node, task in counted.items()}
    for dataset in datasets.values():
        dataset.attrs.update(attrs)  # a copy of the variables takes a tenth of an evaluation
    if options.interval is not None:
        with threads_for(scores):
            for node, task in counted.items():
                datasets[node] = task.with_intervals(datasets[node], options.interval)
    return tree_of(datasets)


def _evaluate_galleries(
    scores: Scores, galleries: Mapping[str, Scores], card: Protocol, options: EvaluationOptions
) -> xr.DataTree:
    """Evaluate each gallery by itself, and join the results over ``gallery``."""
    card_of_gallery = replace(card, galleries=None)
    # Curves of all galleries have the same thresholds: those of the whole scores, unless stated.
    curve = options.curve(card)
    has_thresholds = scores.kind != "order" and not card.only_retrieval
    if has_thresholds and isinstance(curve, int | None):  # their number, or None by default
        thresholds = tuple(thresholds_over(scores, curve).tolist())
        shared_curve = replace(card.curve, thresholds=thresholds, n_thresholds=None)
        card_of_gallery = replace(card_of_gallery, curve=shared_curve)
        options = replace(options, n_thresholds=None)
    trees = _evaluate_systems(galleries, card_of_gallery, options)
    datasets = {}
    first_tree = next(iter(trees.children.values()))
    for leaf in first_tree.leaves:
        _, _, node = leaf.path.strip("/").partition("/")  # without the name of the gallery
        datasets[node] = over_galleries({x: trees[f"{x}/{node}"].to_dataset() for x in galleries})
    return tree_of(datasets)
