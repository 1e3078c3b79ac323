"""All tasks of a protocol: one pass over the scores, and a tree of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.messages import Message, message_attrs, messages_of
from bioeval.base.progress import rows_reported
from bioeval.protocol.card import Protocol
from bioeval.results.dataset import tree_above, tree_of
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores
from bioeval.scores.rows import threads_for
from bioeval.stats.options import IntervalMethod, IntervalName, interval_of
from bioeval.tasks.options import EvaluationOptions
from bioeval.tasks.plan import (
    MEAN,
    CardTasks,
    check_systems,
    galleries_of,
    resolve_card,
)
from bioeval.views.messages import warns_of_doubts


@warns_of_doubts
@leaves_out_attacks
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
        Nodes ``/verification/single``, ``/verification/multi``, ``/open_set``, ``/closed_set``,
        ``/reid``, ``/gom``, as far as the card has them; under ``/<system>`` for several systems.
        Of a card with folds each is as of :func:`bioeval.cross_evaluate`, over ``repeat, fold,
        part``; there are no curves then, and options about them are refused. Of a card with several
        galleries, under ``/<gallery>/...`` and ``/mean/...``: the mean of their rates, each at its
        own thresholds, and the sum of their attempts.

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
        interval=interval_of(interval),
    )
    with rows_reported():
        if isinstance(scores, Mapping):
            return _evaluate_systems(scores, protocol, options)
        return _evaluate_system(scores, protocol, options)


def _evaluate_systems(
    scores: Mapping[str, Scores],
    protocol: str | Protocol,
    options: EvaluationOptions,
) -> xr.DataTree:
    """Return the results of several systems, at the operating points of all if these are wanted."""
    check_systems(scores)
    each = dict.fromkeys(scores, options)
    if (extra := options.extra_thresholds) is not None and len(scores) > 1:
        plain = replace(options, extra_thresholds=None, interval=None)
        alone = {k: _evaluate_system(v, protocol, plain) for k, v in scores.items()}
        from bioeval.results.threshold_lookup import shared_points

        each = {}
        for name, points in shared_points(alone).items():
            each[name] = replace(options, extra_thresholds=np.union1d(extra, points))
    trees = {k: _evaluate_system(v, protocol, each[k]) for k, v in scores.items()}
    return tree_above(trees)


def _evaluate_system(
    scores: Scores, protocol: str | Protocol, options: EvaluationOptions
) -> xr.DataTree:
    """Return the results of one system, by the part of the library that its card needs."""
    card = resolve_card(scores, protocol)
    if (galleries := galleries_of(scores, card)) is not None:
        return _evaluate_galleries(galleries, card, options)
    if card.has_folds:
        from bioeval.studies.partitions import cards as folds

        return folds.evaluate_partition(scores, card, options)
    tasks = CardTasks(scores, card, options, automatic=protocol == "auto")
    counted, limits = tasks.count(), options.interval
    ranks, datasets = " ".join(map(str, card.report.ranks)), {}
    for node, part in counted.items():
        datasets[node] = part.dataset()
        datasets[node].attrs |= {"protocol": card.name, "report_ranks": ranks}
    if limits is not None:
        with threads_for(scores):
            for node, part in counted.items():
                datasets[node] = part.with_intervals(datasets[node], limits)
    return tree_of(datasets)


def _evaluate_galleries(
    galleries: Mapping[str, Scores], card: Protocol, options: EvaluationOptions
) -> xr.DataTree:
    """Evaluate each gallery separately, and return its results with the mean rates."""
    alone = replace(card, galleries=None)
    trees = {k: _evaluate_system(x, alone, options) for k, x in galleries.items()}
    datasets = {}
    for gallery, tree in trees.items():
        for node in tree.leaves:
            datasets[f"{gallery}/{node.path.strip('/')}"] = node.to_dataset()
    for node in next(iter(trees.values())).leaves:
        path = node.path.strip("/")
        of_each = {gallery: datasets[f"{gallery}/{path}"] for gallery in trees}
        datasets[f"{MEAN}/{path}"] = mean_over_galleries(of_each)
    return tree_of(datasets)


# -------------------------------------------------------------------------------- several galleries

#: Rates that are averaged, where the results have them.
_MEANS = ("eer", "auc", "frr_at_far", "dir_at_far", "cms", "recognition_rate", "cmc", "mean_ap")

#: Attempts, which are added up; no mean is weighed by them.
_SUMS = ("genuine_attempts", "impostor_attempts", "attempts", "skipped", "queries")


def mean_over_galleries(results: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """Return the mean of the rates of one task over several galleries, by name.

    Each gallery keeps its own threshold at each FAR, and all galleries weigh the same: attempts are
    never pooled. IJB-C's figures are such means, over its galleries G1 and G2. Ranks that not all
    galleries have are left out, and so are curves over thresholds, which differ between them.

    Definition: Maze and others, IARPA Janus Benchmark - C (ICB 2018), 1:N identification;
    ``docs/definitions.md``, "Several galleries".
    """
    every = list(results.values())
    first = every[0]
    shared = []
    dims: dict[Any, None] = {}
    for name in (*_MEANS, *_SUMS):
        if all(name in dataset.variables for dataset in every):
            shared.append(name)
            dims |= dict.fromkeys(first[name].dims)
    coordinates = {}
    for dim in map(str, dims):
        length = min(dataset.sizes[dim] for dataset in every) if dim == "rank" else None
        labels = first[dim].values[:length]
        coordinates[dim] = (dim, labels, first[dim].attrs)
    variables = {}
    for name in shared:
        arrays = []
        for dataset in every:
            array = dataset[name]
            if "rank" in array.dims:  # up to the last rank of all
                array = array.isel(rank=slice(len(coordinates["rank"][1])))
            arrays.append(array.values)
        values = np.stack(arrays)
        together = values.mean(axis=0) if name in _MEANS else values.sum(axis=0)
        variables[name] = (first[name].dims, together, first[name].attrs)
    attrs = dict(first.attrs)
    for dataset in every:
        attrs = {k: v for k, v in attrs.items() if (k, v) in dataset.attrs.items()}
    attrs.pop("enrolled_subjects", None)  # equal numbers of different subjects
    for name in ("gallery_templates", "gallery_subjects"):
        attrs[name] = sum(int(dataset.attrs.get(name, 0)) for dataset in every)
    messages: list[Message] = [Message("mean-over-galleries", galleries=list(results))]
    for dataset in every:
        messages += messages_of(dataset.attrs)
    attrs.pop("messages", None)  # those that all galleries have
    attrs |= {"galleries": " ".join(results), **message_attrs(messages)}
    return xr.Dataset(variables, coordinates, attrs)
