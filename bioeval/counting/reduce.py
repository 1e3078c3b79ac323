"""The one loop over the blocks of scores, on all threads or on a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from copy import copy
from functools import reduce as joined_by
from typing import Any, ClassVar, Self

import numpy as np

from bioeval.base.options import OPTIONS
from bioeval.base.progress import report_rows
from bioeval.counting.grids import ScoreExtent
from bioeval.counting.parts import ListParts, PairParts, Parts, RowParts, show_blocks
from bioeval.counting.tiles import TileParts
from bioeval.scores.blocks import Block, is_few
from bioeval.scores.matrix import Scores
from bioeval.scores.rows import has_few, threads_for


class Summed:
    """Counts that threads make in copies of their own, which are then merged."""

    #: The names of arrays that are zeros in a fresh copy, and are added when copies are merged.
    sums: ClassVar[tuple[str, ...]] = ()

    def fresh(self) -> Self:
        """Return an empty copy, for a thread."""
        empty = copy(self)
        for name in self.sums:
            counts = getattr(self, name)
            setattr(empty, name, np.zeros(counts.shape, counts.dtype))
        return empty

    def merge(self, other: Self) -> None:
        """Add the counts of a copy."""
        for name in self.sums:
            total = getattr(self, name)
            total += getattr(other, name)


class Reducer(Summed, ABC):
    """A consumer that sums up blocks: attempts, ranks, people, folds.

    :func:`reduce` calls :meth:`prepare`, then :meth:`add` for every block, on copies for threads
    that :meth:`fresh` makes and :meth:`merge` joins, and repeats such a pass while
    :meth:`finish_pass` asks for another; at last, it calls :meth:`result`. Few scores are one
    block: only :meth:`prepare`, :meth:`add` and :meth:`result` are called. The result must depend
    neither on the order of the blocks nor on the threads that count them.
    """

    #: The rule by which the templates of a person are fused; None if they are not fused.
    fusion: str | None = None
    #: Whether the limit of few scores is the same for all layouts: otherwise it is higher for a
    #: matrix that compares one set with itself.
    lists_fewer: ClassVar[bool] = False

    def prepare(self, parts: Parts) -> None:
        """Take the necessary information from the scores, their mates, and a sample of blocks."""
        return

    @abstractmethod
    def add(self, block: Block) -> None:
        """Add the attempts of a block."""

    def finish_pass(self) -> bool:
        """Finish a pass over all blocks; return whether another pass is needed."""
        return False

    def result(self) -> Any:
        """Return the counts, or the numbers that follow from them."""
        return self


def reduce(scores: Scores | Parts, *reducers: Reducer) -> list[Any]:
    """Show all blocks of scores to reducers, and return their results in order.

    Each block is read, or computed, once for all reducers. `scores` have any layout, or are their
    parts, made before.
    """
    if isinstance(scores, Parts):
        parts = scores
    else:
        parts = parts_of(scores, nearest=all(x.fusion in (None, "best") for x in reducers))
        if any(reducer.lists_fewer for reducer in reducers):
            parts.few = parts.few and is_few(parts.size)
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


def parts_of(scores: Scores, *, nearest: bool, grouped: bool = True) -> Parts:
    """Return the parts of scores.

    Tiles of embeddings are possible if templates of a person are not fused, or fused by the
    `nearest` one. If the gallery is not `grouped` by person, templates keep their order, and cannot
    be fused.
    """
    if scores.layout == "pairs":
        return PairParts(scores)
    if scores.layout == "top-k":
        return ListParts(scores)
    if nearest and not has_few(scores):
        tiles = TileParts.from_scores(scores, fused=grouped)
        if tiles is not None:
            return tiles
    return RowParts(scores, grouped=grouped)


class OfEachBlock(Reducer):
    """Calls a function with the impostor scores, without NaN, of each block; lists the values."""

    def __init__(self, function: Callable[[np.ndarray], Any], fusion: str | None = None):
        self.function, self.fusion = function, fusion
        self.value_of_side: dict[tuple[int, int], Any] = {}

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

    def result(self) -> Any:
        return [self.value_of_side[key] for key in sorted(self.value_of_side)]


class Extent(OfEachBlock):
    """Finds the range of all scores, fused by a rule."""

    def __init__(self, fusion: str | None = None):
        super().__init__(ScoreExtent.from_scores, fusion)

    def prepare(self, parts: Parts) -> None:
        self.genuine = ScoreExtent.from_scores(parts.mates.scores(self.fusion)[0])

    def result(self) -> ScoreExtent:
        return joined_by(ScoreExtent.joined, super().result(), self.genuine)
