"""Results over many partitions: datasets over ``partition``, with messages that explain NaN."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import xarray as xr

from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.base.messages import Message, message_attrs
from bioeval.protocol.card import Protocol
from bioeval.results.dataset import Scalars, Variables, dataset
from bioeval.results.trees import tree_of
from bioeval.results.variables import (
    GALLERY,
    QUERY_MEANS,
    TASKS,
    averaged_over_folds,
)
from bioeval.scores.matrix import Scores
from bioeval.scores.score_notes import notes_on_scores
from bioeval.studies.folds.results import (
    parts_without_attempts,
    support_of_parts,
    undefined_in_parts,
)
from bioeval.studies.folds.splits import Place
from bioeval.studies.partitions.numbers import PARTITION, NumbersOfParts
from bioeval.tasks.reid.candidates import Candidates
from bioeval.tasks.reid.convention import convention_of


def partitions_tree(
    scores: Scores, numbers: NumbersOfParts, places: Sequence[Place] | None
) -> xr.DataTree:
    """Return the numbers of all partitions as a tree; `places` are repeats and folds, or None."""
    datasets = {}
    for node, scalars in numbers.by_node.items():
        attrs = _attributes(scores, numbers.cards, node, len(scalars.labels[PARTITION]))
        notes = [*notes_on_scores(scores), *remarks_on_partitions(scalars, node)]
        notes += _notes_on_lists(scores, numbers.cards[-1], node)
        attrs |= message_attrs(notes)
        variables, labels, _ = scalars if places is None else _in_folds(scalars, places)
        table = {**TASKS[node.partition("/")[0]], **GALLERY}
        datasets[node] = dataset(variables, table, labels, attrs)
    return tree_of(datasets)


def _attributes(
    scores: Scores, cards: Sequence[Protocol], node: str, partitions: int
) -> dict[str, str | int | float]:
    task = node.replace("_", "-")
    attrs: dict[str, str | int | float] = {
        "result_type": task.partition("/")[0],
        "protocol": " or ".join(dict.fromkeys(card.name for card in cards)),
        "kind": scores.kind,
        "nan_policy": scores.nan,
        "threshold_units": "similarity" if scores.kind in LARGER_IS_CLOSER else "distance",
    }
    if cards[-1].report.ranks:
        attrs["report_ranks"] = " ".join(map(str, cards[-1].report.ranks))
    attrs["partitions"] = partitions
    attrs["task"] = f"{task.replace('/', ', ')}, over partitions"
    if node.startswith("verification/"):
        attrs["templates"] = node.removeprefix("verification/")
    return attrs


def _notes_on_lists(scores: Scores, card: Protocol, node: str) -> list[Message]:
    if node in ("open_set", "closed_set"):
        return scores.completeness.messages()
    if node not in ("reid", "gom"):
        return []
    queries = Candidates(scores, convention_of(card, (node,)))  # it is the same in all cards
    lists = queries.without_removed(queries.rules.removed).completeness
    return lists.of_probes(~queries.left_out).messages()


def _in_folds(scalars: Scalars, places: Sequence[Place]) -> Scalars:
    """Return numbers over ``repeat, fold`` instead of ``partition``; NaN for a missing fold."""
    repeat_and_fold = np.array(places).T
    repeats, folds = (repeat_and_fold.max(axis=1) + 1).tolist()
    variables: Variables = {}
    for name, (dims, values) in scalars.arrays().items():
        if dims[:1] != (PARTITION,):
            variables[name] = dims, values
            continue
        if len(places) == repeats * folds:  # none is missing: they are in this order
            by_fold = values.reshape(repeats, folds, *values.shape[1:])
        else:
            by_fold = np.full((repeats, folds, *values.shape[1:]), np.nan)
            by_fold[*repeat_and_fold] = values
        variables[name] = ("repeat", "fold", *dims[1:]), by_fold
    labels = {"repeat": np.arange(repeats), "fold": np.arange(folds), **scalars.labels}
    del labels[PARTITION]
    return scalars._replace(variables=variables, labels=labels)


def remarks_on_partitions(scalars: Scalars, node: str) -> Iterator[Message]:
    """Yield messages on numbers that are NaN, such as without attempts, or decided by ties."""
    numbers = {name: values for name, (_, values) in scalars.arrays().items()}
    partitions = len(scalars.labels[PARTITION])
    genuine = "attempts" if node == "closed_set" else "genuine_attempts"
    attempts = {
        f"{role}_attempts": numbers[count]
        for role, count in (("genuine", genuine), ("impostor", "impostor_attempts"))
        if count in numbers
    }
    yield from parts_without_attempts(attempts, partitions, "partition")
    yield from _messages_on_support(numbers, scalars.labels, node)
    has_no_attempt = np.zeros(partitions, dtype=bool)
    for values in attempts.values():
        has_no_attempt |= values == 0
    if "queries" in numbers:
        has_no_attempt |= numbers["queries"] == 0
        if has_no_attempt.any():
            missing = int(has_no_attempt.sum())
            reason = "no query has a match"
            yield undefined_in_parts(["all rates"], missing, partitions, "partition", reason)
    if "tied" in numbers and (tied := int(np.nansum(numbers["tied"]))):
        probes = int(np.nansum(numbers[genuine if genuine in numbers else "queries"]))
        yield Message("ties-in-partitions", tied=tied, probes=probes, number=partitions)
    undefined = _undefined_measures(scalars, has_no_attempt)
    if undefined:
        reason = "a rank may be beyond the gallery, and a class may have scores that are all alike"
        most = max(undefined.values())
        yield undefined_in_parts([*undefined], most, partitions, "partition", reason)


def _undefined_measures(scalars: Scalars, has_no_attempt: np.ndarray) -> dict[str, int]:
    """Return in how many partitions a measure is NaN though all classes have attempts.

    The measures are named with their labels: ``frr_at_far at far_target 0.01``.
    """
    arrays, labels = scalars.arrays(), scalars.labels
    measures = [name for name, x in averaged_over_folds().items() if x.label and not x.detail]
    undefined: dict[str, int] = {}
    for name in filter(arrays.__contains__, (*measures, "min_dcf", "cmc", *QUERY_MEANS)):
        dims, values = arrays[name]
        if "threshold" in dims:
            continue
        for index in np.ndindex(values.shape[1:]):
            missing = int((np.isnan(values[(slice(None), *index)]) & ~has_no_attempt).sum())
            if missing:
                pairs = zip(dims[1:], index, strict=True)
                texts = [f"{dim} {labels[dim][k]}" for dim, k in pairs if dim in labels]
                undefined[" at ".join((name, *texts))] = missing
    return undefined


def _messages_on_support(
    numbers: Mapping[str, np.ndarray], labels: Mapping[str, np.ndarray], node: str
) -> Iterator[Message]:
    pairs, subjects = "impostor_pairs", "subjects"
    if node == "open_set":
        pairs, subjects = "impostor_attempts", "impostor_subjects"
    if pairs not in numbers:
        return
    has_impostors = numbers["impostor_attempts"] > 0
    if not has_impostors.any():
        return
    people = int(numbers[subjects][has_impostors].min()) if subjects in numbers else None
    genuine, impostor = (
        float(numbers[name][has_impostors].min()) for name in ("genuine_attempts", pairs)
    )
    far, frr = (labels.get(name, np.empty(0)).tolist() for name in ("far_target", "frr_target"))
    searched = node == "open_set"
    for message in support_of_parts(far, frr, genuine, impostor, people, searched=searched):
        yield message.concerning("the smallest partition")
