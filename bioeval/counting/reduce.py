"""The one loop over the blocks of scores, on all threads or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np

from bioeval.base.options import OPTIONS
from bioeval.base.progress import report_rows
from bioeval.counting.grids import ScoreExtent
from bioeval.counting.parts import Parts, RowParts, TileParts, parts_of, show_blocks
from bioeval.scores.blocks import Block
from bioeval.scores.matrix import Scores
from bioeval.scores.rows import threads_for


class Reducer:
    """A consumer that sums up blocks: attempts, ranks, people, folds.

    :func:`reduce` calls :meth:`prepare`, then :meth:`add` for every block, on copies for threads
    that :meth:`fresh` makes and :meth:`merge` joins, and repeats such a pass while
    :meth:`finish_pass` asks for another; at last, it calls :meth:`result`. Few scores are one
    block: only :meth:`prepare`, :meth:`add` and :meth:`result` are called. The result must depend
    neither on the order of the blocks nor on the threads that count them.
    """

    #: The names of arrays that are zeros in a fresh copy, and are added when copies are merged.
    sums: ClassVar[tuple[str, ...]] = ()
    #: The rule by which the templates of a person are fused; None if they are not fused.
    fusion: str | None = None
    #: Whether the limit of few scores is the same for all layouts: otherwise it is higher for a
    #: matrix that compares one set with itself.
    lists_fewer: ClassVar[bool] = False

    def prepare(self, parts: Parts) -> None:
        """Take the necessary information from the scores, their mates, and a sample of blocks."""
        raise NotImplementedError

    def fresh(self) -> Self:
        """Return an empty copy, for a thread."""
        empty = copy(self)
        for name in self.sums:
            setattr(empty, name, np.zeros_like(getattr(self, name)))
        return empty

    def add(self, block: Block) -> None:
        raise NotImplementedError

    def merge(self, other: Self) -> None:
        """Add the counts of a copy."""
        for name in self.sums:
            total = getattr(self, name)
            total += getattr(other, name)

    def finish_pass(self) -> bool:
        """Finish a pass over all blocks; return whether another pass is needed."""
        return False

    def result(self) -> Any:
        """Return the counts, or the numbers that follow from them."""
        return self


def reduce(scores: Scores | Parts, *reducers: Reducer) -> list[Any]:
    """Show all blocks of scores to reducers, and return their results in order.

    Parameters
    ----------
    scores : Scores or Parts
        Scores of any layout, or their parts, made before.
    *reducers : Reducer
        Each block is read, or computed, once for all of them.
    """
    parts = scores if isinstance(scores, Parts) else _parts_for(scores, reducers)
    workers = None
    if OPTIONS["client"] is not None and not parts.few and isinstance(parts, RowParts | TileParts):
        from bioeval.counting.cluster import Workers

        workers = Workers(OPTIONS["client"], parts)
        if isinstance(parts, RowParts) and parts.mates_by_cell is None:
            parts.take_mates(workers.mates())
    with nullcontext() if parts.few else threads_for(parts.scores):
        block = parts.whole() if parts.few else None
        for reducer in reducers:
            reducer.prepare(parts)
        if block is not None:
            for reducer in reducers:
                reducer.add(block)
            del block  # as large as the scores
            report_rows(parts.scores.shape[0], parts.scores.shape[0])
        unfinished: Sequence[Reducer] = () if parts.few else reducers
        while unfinished:
            if workers is None:
                copies_of_threads = show_blocks(parts, unfinished)
            else:
                copies_of_threads = [workers.count_blocks(unfinished)]
            for copies in copies_of_threads:
                for reducer, counts in zip(unfinished, copies, strict=True):
                    reducer.merge(counts)
            unfinished = [reducer for reducer in unfinished if reducer.finish_pass()]
        return [reducer.result() for reducer in reducers]


def _parts_for(scores: Scores, reducers: Sequence[Reducer]) -> Parts:
    parts = parts_of(scores, nearest=all(x.fusion in (None, "best") for x in reducers))
    if any(reducer.lists_fewer for reducer in reducers):
        parts.list_fewer()
    return parts


class OfEachBlock(Reducer):
    """Calls a function with the impostor scores, without NaN, of each block; lists the values."""

    def __init__(self, function: Callable[[np.ndarray], Any], fusion: str | None = None):
        self.function, self.fusion = function, fusion
        self.value_of_side: dict[tuple[int, int], Any] = {}

    def prepare(self, parts: Parts) -> None:
        """Do nothing."""

    def fresh(self) -> Self:
        empty = copy(self)
        empty.value_of_side = {}
        return empty

    def add(self, block: Block) -> None:
        for side, values in enumerate(block.sides()):
            values = values if self.fusion is None else values.by_person(self.fusion)
            self.value_of_side[block.order, side] = self.function(values.scores()[0])

    def merge(self, other: Self) -> None:
        self.value_of_side |= other.value_of_side

    def result(self) -> list[Any]:
        return [self.value_of_side[key] for key in sorted(self.value_of_side)]


class Extent(Reducer):
    """Finds the range of all scores, fused by a rule."""

    def __init__(self, fusion: str | None = None):
        self.fusion = fusion
        self.extent = ScoreExtent()

    def prepare(self, parts: Parts) -> None:
        self._take(parts.mates.scores(self.fusion)[0])

    def add(self, block: Block) -> None:
        for side in block.sides():
            self._take((side if self.fusion is None else side.by_person(self.fusion)).scores()[0])

    def _take(self, scores: np.ndarray) -> None:
        self.extent = self.extent.joined(ScoreExtent.from_scores(scores))

    def merge(self, other: Extent) -> None:
        self.extent = self.extent.joined(other.extent)

    def result(self) -> ScoreExtent:
        return self.extent
