"""Parts of one matrix that are counted together, in one call of the kernels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from bioeval.base.errors import DataError
from bioeval.evaluation.counted_together import is_plain
from bioeval.evaluation.cross.options import FoldOptions
from bioeval.scores.blocks import threads_for
from bioeval.scores.matrix import Scores
from bioeval.tallies.index_sets import (
    MOST,
    IdentificationRules,
    IndexSet,
    OrderedScores,
    SelectionAttempts,
    attempts_of_index_sets,
)

# Cells of a part that is counted with others (of larger ones counting takes most of the time), and
# rows and columns of the parts that are looked at together.
CELLS, LOOKED_AT = 1 << 16, 1 << 20

#: Repeat and fold.
Place = tuple[int, int]

PartAttempts = SelectionAttempts | None


def counted_parts(
    scores: Scores, parts: Iterable[tuple[Place, IndexSet]], tasks: Sequence[FoldOptions]
) -> Iterator[tuple[Place, IndexSet, PartAttempts]]:
    """Yield each part, rows and columns, with its attempts; None where it is read by itself.

    Parts are counted together where they are small, and have as many cells as the matrix: to put
    its scores in order takes about as long.
    """
    rules = _rules(tasks)
    if rules is None or math.prod(scores.shape) > MOST or not is_plain(scores):
        yield from ((place, part, None) for place, part in parts)
        return
    some: list[tuple[Place, IndexSet]] = []
    size = 0
    for place, part in parts:
        some.append((place, part))
        size += sum(map(len, part))
        if size >= LOOKED_AT:
            yield from _counted(scores, some, rules)
            some, size = [], 0
    yield from _counted(scores, some, rules)


def _counted(
    scores: Scores, parts: Sequence[tuple[Place, IndexSet]], rules: IdentificationRules
) -> Iterator[tuple[Place, IndexSet, PartAttempts]]:
    """Yield some parts with their attempts."""
    small = [0 < len(rows) * len(columns) <= CELLS for _, (rows, columns) in parts]
    attempts = _attempts(scores, [x for _, x in itertools.compress(parts, small)], rules)
    for (place, part), together in zip(parts, small, strict=True):
        found = next(attempts, None) if together else None
        refused = found is not None and found.failed and scores.nan == "raise"
        yield place, part, None if refused else found


def _rules(tasks: Sequence[FoldOptions]) -> IdentificationRules | None:
    """Return the rules of identification of tasks; None where they need another way of counting."""
    by_task = {options.task: options for options in tasks}
    for options in tasks:
        verifies = options.task == "verification"
        fused = options.templates == "multi" if verifies else options.rank_unit == "subject"
        if fused and options.fusion != "min":
            return None
        plain = options.ties in ("pessimistic", "optimistic") and options is by_task[options.task]
        if not verifies and not plain:
            return None
    if all(options.claims is not None for options in tasks):
        return None
    searches = [by_task.get(task) for task in ("open_set", "closed_set")]
    return IdentificationRules(
        by_subject=tuple(x is not None and x.rank_unit == "subject" for x in searches),
        ties_first=tuple(x is None or x.ties == "pessimistic" for x in searches),
    )


def _attempts(
    scores: Scores, parts: Sequence[IndexSet], rules: IdentificationRules
) -> Iterator[SelectionAttempts]:
    """Yield the attempts of parts, or nothing where their cells are fewer than the scores."""
    used = []
    for side, n in enumerate(scores.shape):
        inside = np.zeros(n, dtype=bool)
        for part in parts:
            inside[part[side]] = True
        used.append(np.flatnonzero(inside))
    if math.prod(map(len, used)) >= sum(len(rows) * len(columns) for rows, columns in parts):
        return
    places = [
        (np.searchsorted(used[0], rows), np.searchsorted(used[1], columns))
        for rows, columns in parts
    ]
    try:
        with threads_for(scores):
            ordered = OrderedScores.of(scores.select(*used))
    except DataError:  # raised again where the parts are read
        return
    yield from attempts_of_index_sets(ordered, places, rules)
