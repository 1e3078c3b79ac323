"""Results over many partitions: datasets with a dimension more, and the reasons for NaN."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import xarray as xr

from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.base.messages import Message, message_attrs
from bioeval.results.dataset import Scalars, Variables, dataset, tree_of
from bioeval.results.variables import (
    GALLERY,
    QUERY_MEANS,
    TASKS,
    averaged_over_folds,
)
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import notes_on_scores
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
    """Return the numbers of all partitions as a tree; `places` are their repeats and folds."""
    cards = numbers.cards
    about: dict[str, str | int | float] = {
        "protocol": " or ".join(dict.fromkeys(card.name for card in cards)),
        "kind": scores.kind,
        "nan_policy": scores.nan,
        "threshold_units": "similarity" if scores.kind in LARGER_IS_CLOSER else "distance",
    }
    if cards[-1].report.ranks:
        about["report_ranks"] = " ".join(map(str, cards[-1].report.ranks))
    datasets = {}
    for node, scalars in numbers.by_node.items():
        number = len(scalars.labels[PARTITION])
        task = node.replace("_", "-")
        attrs = {"result_type": task.partition("/")[0], **about, "partitions": number}
        attrs["task"] = f"{task.replace('/', ', ')}, over partitions"
        if node.startswith("verification/"):
            attrs["templates"] = node.removeprefix("verification/")
        notes = [*remarks_on_partitions(scalars, node)]
        if node in ("open_set", "closed_set"):
            notes += scores.completeness.messages()
        elif node in ("reid", "gom"):
            queries = Candidates(scores, convention_of(cards[-1], (node,)))  # the same in all
            lists = queries.without_removed(queries.rules.removed).completeness
            notes += lists.of_probes(~queries.left_out).messages()
        attrs |= message_attrs([*notes_on_scores(scores), *notes])
        variables, labels, _ = scalars if places is None else _in_folds(scalars, places)
        table = {**TASKS[node.partition("/")[0]], **GALLERY}
        datasets[node] = dataset(variables, table, labels, attrs)
    return tree_of(datasets)


def _in_folds(scalars: Scalars, places: Sequence[Place]) -> Scalars:
    """Return numbers over ``repeat, fold`` in place of ``partition``; NaN for a missing fold."""
    repeat_and_fold = np.array(places).T
    repeats, folds = (repeat_and_fold.max(axis=1) + 1).tolist()
    variables: Variables = {}
    for name, (dims, values) in scalars.arrays().items():
        if dims[:1] != (PARTITION,):
            variables[name] = dims, values
            continue
        if len(places) == repeats * folds:  # in this order
            by_fold = values.reshape(repeats, folds, *values.shape[1:])
        else:
            by_fold = np.full((repeats, folds, *values.shape[1:]), np.nan)
            by_fold[*repeat_and_fold] = values
        variables[name] = ("repeat", "fold", *dims[1:]), by_fold
    labels = {"repeat": np.arange(repeats), "fold": np.arange(folds), **scalars.labels}
    del labels[PARTITION]
    return scalars._replace(variables=variables, labels=labels)


def remarks_on_partitions(scalars: Scalars, node: str) -> Iterator[Message]:
    """Yield messages of numbers that are NaN (no attempt ...), or decided by ties."""
    arrays = scalars.arrays()
    values_of = {name: values for name, (_, values) in arrays.items()}
    number = len(scalars.labels[PARTITION])
    genuine = "attempts" if node == "closed_set" else "genuine_attempts"
    attempts = {
        f"{role}_attempts": values_of[count]
        for role, count in (("genuine", genuine), ("impostor", "impostor_attempts"))
        if count in values_of
    }
    yield from parts_without_attempts(attempts, number, "partition")
    yield from _messages_on_support(values_of, scalars.labels, node)
    lacking = np.zeros(number, dtype=bool)
    for values in attempts.values():
        lacking |= values == 0
    if "queries" in values_of:
        lacking |= values_of["queries"] == 0
        if lacking.any():
            missing = int(lacking.sum())
            reason = "no query has a match"
            yield undefined_in_parts(["all rates"], missing, number, "partition", reason)
    if "tied" in values_of and (tied := int(np.nansum(values_of["tied"]))):
        probes = int(np.nansum(values_of[genuine if genuine in values_of else "queries"]))
        yield Message("ties-in-partitions", tied=tied, probes=probes, number=number)
    measures = [name for name, x in averaged_over_folds().items() if x.label and not x.detail]
    undefined: dict[str, int] = {}
    for name in filter(arrays.__contains__, (*measures, "min_dcf", "cmc", *QUERY_MEANS)):
        dims, values = arrays[name]
        if "threshold" in dims:
            continue
        for place in np.ndindex(values.shape[1:]):
            missing = int((np.isnan(values[(slice(None), *place)]) & ~lacking).sum())
            if missing:
                labels = scalars.labels
                pairs = zip(dims[1:], place, strict=True)
                labels_at = [f"{dim} {labels[dim][k]}" for dim, k in pairs if dim in labels]
                undefined[" at ".join((name, *labels_at))] = missing
    if undefined:
        reason = "a rank may be beyond the gallery, and a class may have scores that are all alike"
        yield undefined_in_parts([*undefined], max(undefined.values()), number, "partition", reason)


def _messages_on_support(
    values_of: Mapping[str, np.ndarray], labels: Mapping[str, np.ndarray], node: str
) -> Iterator[Message]:
    pairs, people = "impostor_pairs", "subjects"
    if node == "open_set":
        pairs, people = "impostor_attempts", "impostor_subjects"
    if pairs not in values_of:
        return
    is_attempted = values_of["impostor_attempts"] > 0
    if not is_attempted.any():
        return
    number = int(values_of[people][is_attempted].min()) if people in values_of else None
    genuine, impostor = (
        float(values_of[name][is_attempted].min()) for name in ("genuine_attempts", pairs)
    )
    far, frr = (labels.get(name, np.empty(0)).tolist() for name in ("far_target", "frr_target"))
    searched = node == "open_set"
    for message in support_of_parts(far, frr, genuine, impostor, number, searched=searched):
        yield message.concerning("the smallest partition")
