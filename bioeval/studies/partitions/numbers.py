"""The numbers of tasks in many parts of the same scores, as arrays with ``partition`` in front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.errors import BioevalError, ProtocolError
from bioeval.base.memory import require_memory
from bioeval.base.progress import reporter, rows_reported, rows_reported_to
from bioeval.counting.points import COSTS
from bioeval.protocol.card import Protocol
from bioeval.results.dataset import Scalars, in_order
from bioeval.results.variables import TASKS
from bioeval.scores.matrix import Scores, require_scores
from bioeval.scores.provenance import Provenance
from bioeval.studies.partitions.masked import PARTITION, may_be_masks, numbers_by_masks
from bioeval.tasks.options import EvaluationOptions
from bioeval.tasks.plan import CardTasks, resolve_card


class NumbersOfParts(NamedTuple):
    """The numbers of all parts by node, and the cards that they were evaluated by, each once."""

    by_node: dict[str, Scalars]
    cards: list[Protocol]


def numbers_of_parts(
    scores: Scores,
    chosen: Sequence[tuple[Any, ...]],
    protocol: str | Protocol,
    options: EvaluationOptions,
    *,
    curves: bool = False,
) -> NumbersOfParts:
    """Return the numbers of every task in each part of the scores, `partition` in front.

    `chosen` has for each part what :meth:`Scores.select` takes. Variables and their other
    dimensions are those of a single evaluation: at the ranks that the card reports or, with
    `curves`, with all that is over thresholds and ranks, at the thresholds of the options. The
    prior and the costs of ``cost`` have no ``partition``. Where a part lacks a variable, or a label
    of a dimension, there is NaN, and counts are float64 then.

    Many parts of a matrix are masks of what is sorted once; others are selected one by one.
    """
    with rows_reported():
        tell = reporter()
    whole = Provenance.of(scores)
    if not curves and may_be_masks(scores, chosen):
        try:
            tasks = tasks_of(scores.select(*chosen[0]), protocol, options, whole)
            by_node = numbers_by_masks(tasks, scores, chosen, tell)
        except BioevalError:  # said below, of its part
            by_node = None
        if by_node is not None:
            return NumbersOfParts(by_node, [tasks.card])
    stacks: dict[str, _Stack] = {}
    cards: list[Protocol] = []
    with rows_reported_to(None):
        for place, sides in enumerate(chosen):
            try:
                tasks = tasks_of(scores.select(*sides), protocol, options, whole)
                of_nodes = _numbers_of_part(tasks, curves=curves)
            except BioevalError as error:
                raise error.preceded_by(f"partition {place}: ") from error
            if not place:
                _require_memory_for(len(chosen), of_nodes, scores)
            for node, numbers in of_nodes.items():
                stacks.setdefault(node, _Stack(len(chosen), node)).put(place, numbers)
            if tasks.card not in cards:
                cards.append(tasks.card)
            tell(place + 1, len(chosen))
    return NumbersOfParts({node: stack.result() for node, stack in stacks.items()}, cards)


def _numbers_of_part(tasks: CardTasks, *, curves: bool) -> dict[str, Scalars]:
    """Return the numbers of a part by node, of searches with the size of the gallery."""
    about = tasks.about
    of_nodes = {}
    for node, task in tasks.count(curves=curves).items():
        if curves:
            numbers = Scalars.of_dataset(task.dataset(), curves=True)
        else:
            numbers = task.scalars().at_ranks(tasks.card.report.ranks)
        of_nodes[node] = numbers
        if not node.startswith("verification"):
            numbers.variables["gallery_templates"] = np.int64(about.gallery_templates)
            if about.people is not None:
                numbers.variables["gallery_subjects"] = np.int64(about.gallery_subjects)
    return of_nodes


def _require_memory_for(parts: int, of_nodes: Mapping[str, Scalars], scores: Scores) -> None:
    """Raise :class:`DataError` where the numbers of all parts, as of the first, are too many."""
    values = sum(
        values.size for numbers in of_nodes.values() for _, values in numbers.arrays().values()
    )
    require_memory(
        8 * parts * values,
        f"the results of {parts:,} partitions",
        "expected fewer `n_thresholds` or `thresholds`, or a smaller `max_rank`",
        limit=scores._memory_limit if scores._limited else None,
    )


def tasks_of(
    scores: Scores,
    protocol: str | Protocol,
    options: EvaluationOptions,
    whole: Provenance | None = None,
) -> CardTasks:
    """Return the tasks of a protocol over scores; `whole` is the provenance of what they are of."""
    require_scores(scores)
    card = resolve_card(scores, protocol)
    if card.has_folds:
        raise ProtocolError(
            f"protocol {card.name} has folds, and each fold has rates of its own: use be.evaluate"
        )
    return CardTasks(scores, card, options, automatic=protocol == "auto", whole=whole)


class _Column(NamedTuple):
    """Values of all parts, in float64, and what they were."""

    dims: tuple[str, ...]
    values: np.ndarray
    dtype: np.dtype


class _Stack:
    """The numbers of a task in all parts, put in one by one."""

    def __init__(self, parts: int, node: str):
        self._parts = parts
        self._table = TASKS[node.partition("/")[0]]
        self._labels: dict[str, np.ndarray] = {}
        self._columns: dict[str, _Column] = {}
        self._filled: dict[str, int] = {}
        self._alike: dict[str, Any] = {}  # the same in all parts

    def put(self, place: int, numbers: Scalars) -> None:
        """Put the numbers of a part at its place."""
        arrays = numbers.arrays()
        places = {dim: self._places(dim, labels) for dim, labels in numbers.labels.items()}
        for name, (dims, values) in arrays.items():
            if name in COSTS:
                self._alike[name] = dims, values
                continue
            if name not in self._columns:
                sizes = []
                for dim, size in zip(dims, values.shape, strict=True):
                    sizes.append(len(self._labels[dim]) if dim in self._labels else size)
                fresh = np.full((self._parts, *sizes), np.nan)
                self._columns[name] = _Column(dims, fresh, values.dtype)
                self._filled[name] = 0
            column = self._columns[name]
            if values.dtype != column.dtype:
                joined = np.result_type(values.dtype, column.dtype)
                self._columns[name] = column._replace(dtype=joined)
            self._filled[name] += values.size
            if all(places.get(dim) is None for dim in dims):
                column.values[place] = values
                continue
            index: list[Any] = []
            for dim, size in zip(dims, values.shape, strict=True):
                of_dim = places.get(dim)
                index.append(np.arange(size) if of_dim is None else of_dim)
            column.values[(place, *np.ix_(*index))] = values

    def _places(self, dim: str, labels: np.ndarray) -> np.ndarray | None:
        """Return the places of labels along a dimension, which grows by those that are new.

        None where they are all labels, in their order.
        """
        known = self._labels.setdefault(dim, labels)
        if known is labels or np.array_equal(known, labels):
            return None
        new = labels[~np.isin(labels, known)]
        if len(new):
            self._labels[dim] = known = np.append(known, new)
            for name, column in self._columns.items():
                if dim in column.dims:
                    axis = column.dims.index(dim) + 1
                    shape = [*column.values.shape]
                    shape[axis] = len(new)
                    more = np.full(shape, np.nan)
                    values = np.concatenate([column.values, more], axis=axis)
                    self._columns[name] = column._replace(values=values)
        order = np.argsort(known, kind="stable")
        return order[np.searchsorted(known, labels, sorter=order)]

    def result(self) -> Scalars:
        """Return the numbers of all parts, ranks in order."""
        labels = dict(self._labels)
        order = np.argsort(labels.get("rank", np.empty(0)))
        variables: dict[str, Any] = {}
        for name, (dims, values, dtype) in self._columns.items():
            if "rank" in dims and (np.diff(order) != 1).any():
                values = values.take(order, axis=dims.index("rank") + 1)
            if self._filled[name] == values.size:
                values = values.astype(dtype, copy=False)
            variables[name] = (PARTITION, *dims), values
        if "rank" in labels:
            labels["rank"] = labels["rank"][order]
        labels.pop("cost", None)
        labels[PARTITION] = np.arange(self._parts)
        return Scalars(in_order(variables | self._alike), labels, self._table)
