"""The numbers of tasks in many parts of the same scores, as arrays over ``partition``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.errors import BioevalError, ProtocolError
from bioeval.base.memory import require_memory
from bioeval.base.progress import reporter, rows_reported, rows_reported_to
from bioeval.protocol.card import Protocol
from bioeval.results.dataset import Scalars
from bioeval.results.stacking import Stack
from bioeval.results.variables import TASKS
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import Provenance
from bioeval.scores.requirements import require_scores
from bioeval.scores.row_memory import stated_memory_limit
from bioeval.studies.partitions.masked import PARTITION, may_be_masks, numbers_by_masks
from bioeval.tasks.card_scores import resolve_card
from bioeval.tasks.options import EvaluationOptions
from bioeval.tasks.plan import CardTasks


class NumbersOfParts(NamedTuple):
    """The numbers of all parts by node, and the distinct cards by which they were evaluated."""

    by_node: dict[str, Scalars]
    cards: list[Protocol]


def numbers_of_parts(
    scores: Scores,
    selections: Sequence[tuple[Any, ...]],
    protocol: str | Protocol,
    options: EvaluationOptions,
    *,
    curves: bool = False,
) -> NumbersOfParts:
    """Return the numbers of every task in each part of the scores, ``partition`` first.

    `selections` has the arguments of :meth:`Scores.select` for each part. Variables and their other
    dimensions are the same as in a single evaluation:

    - without `curves`: at the ranks that the card reports
    - with `curves`: over the thresholds and the ranks of the options
    - the prior and the costs of ``cost``: without ``partition``
    - a variable, or a label of a dimension, that a part lacks: NaN; counts are then float64
    """
    with rows_reported():
        tell = reporter()
    provenance = Provenance.from_scores(scores)

    def tasks_of_part(selection: tuple[Any, ...]) -> CardTasks:
        return tasks_of(scores.select(*selection), protocol, options, provenance)

    # Many parts of a matrix are masks of attempts that are sorted once.
    if not curves and may_be_masks(scores, selections):
        try:
            tasks = tasks_of_part(selections[0])
            by_masks = numbers_by_masks(tasks, scores, selections, tell)
        except BioevalError:
            by_masks = None  # the part itself raises the error again, with its number
        if by_masks is not None:
            return NumbersOfParts(by_masks, [tasks.card])

    # Other parts are selected one by one.
    stacks: dict[str, Stack] = {}
    cards: list[Protocol] = []
    with rows_reported_to(None):
        for part, selection in enumerate(selections):
            try:
                tasks = tasks_of_part(selection)
                numbers_of_part = _numbers_of_part(tasks, curves=curves)
            except BioevalError as error:
                raise error.preceded_by(f"partition {part}: ") from error
            if not part:
                _require_memory_for(len(selections), numbers_of_part, scores)
            for node, numbers in numbers_of_part.items():
                table = TASKS[node.partition("/")[0]]
                stacks.setdefault(node, Stack(len(selections), table)).put(part, numbers)
            if tasks.card not in cards:
                cards.append(tasks.card)
            tell(part + 1, len(selections))
    labels = np.arange(len(selections))
    by_node = {node: stack.result(PARTITION, labels) for node, stack in stacks.items()}
    return NumbersOfParts(by_node, cards)


def _numbers_of_part(tasks: CardTasks, *, curves: bool) -> dict[str, Scalars]:
    about = tasks.about
    by_node = {}
    for node, task in tasks.count(curves=curves).items():
        if curves:
            numbers = Scalars.of_dataset(task.dataset(), curves=True)
        else:
            numbers = task.scalars().at_ranks(tasks.card.report.ranks)
        by_node[node] = numbers
        if not node.startswith("verification"):
            numbers.variables["gallery_templates"] = np.int64(about.gallery_templates)
            if about.people is not None:
                numbers.variables["gallery_subjects"] = np.int64(about.gallery_subjects)
    return by_node


def _require_memory_for(parts: int, by_node: Mapping[str, Scalars], scores: Scores) -> None:
    number = sum(
        values.size for numbers in by_node.values() for _, values in numbers.arrays().values()
    )
    require_memory(
        8 * parts * number,
        f"the results of {parts:,} partitions",
        "expected fewer `n_thresholds` or `thresholds`, or a smaller `max_rank`",
        limit=stated_memory_limit(scores),
    )


def tasks_of(
    scores: Scores,
    protocol: str | Protocol,
    options: EvaluationOptions,
    whole: Provenance | None = None,
) -> CardTasks:
    """Return the tasks of a protocol; `whole` describes the whole data if `scores` are a part."""
    require_scores(scores)
    card = resolve_card(scores, protocol)
    if card.has_folds:
        raise ProtocolError(
            f"protocol {card.name} has folds, and each fold has rates of its own: use be.evaluate"
        )
    return CardTasks(scores, card, options, automatic=protocol == "auto", whole=whole)
