"""The one loop over the blocks of scores, on all threads or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np

from bioeval.base.options import OPTIONS
from bioeval.base.progress import report_rows
from bioeval.counting.parts import Parts, RowParts, TileParts, look_at, parts_of
from bioeval.counting.thresholds import extent_of
from bioeval.scores.blocks import Block, is_few
from bioeval.scores.matrix import Scores
from bioeval.scores.rows import threads_for


class Reducer:
    """What sums up blocks: attempts, ranks, people, folds.

    :func:`reduce` calls :meth:`prepare` first; then :meth:`add` with every block, on copies that
    :meth:`fresh` makes for the threads and :meth:`merge` joins; all of it again while
    :meth:`finish_pass` asks for it; :meth:`result` at the end. Few scores are one block, for which
    :meth:`prepare`, :meth:`add` and :meth:`result` are enough. The result must not depend on the
    order of the blocks, nor on which thread has which.
    """

    #: Attributes that are arrays which begin with zeros and add up.
    sums: ClassVar[tuple[str, ...]] = ()
    #: The rule by which the templates of a person are fused; None where templates count by
    #: themselves.
    fusion: str | None = None
    #: Whether of a matrix that compares one set with itself no more scores come as one block than
    #: of any other.
    lists_fewer: ClassVar[bool] = False

    def prepare(self, parts: Parts) -> None:
        """Learn of the scores, of their mates, and of a sample of their blocks if it is needed."""
        raise NotImplementedError

    def fresh(self) -> Self:
        """Return an empty copy, for a thread."""
        other = copy(self)
        for name in self.sums:
            setattr(other, name, np.zeros_like(getattr(self, name)))
        return other

    def add(self, block: Block) -> None:
        """Count a block."""
        raise NotImplementedError

    def merge(self, other: Self) -> None:
        """Add what a copy has counted."""
        for name in self.sums:
            total = getattr(self, name)
            total += getattr(other, name)

    def finish_pass(self) -> bool:
        """Take in that all blocks were counted; return whether all are to be counted again."""
        return False

    def result(self) -> Any:
        """Return what was counted."""
        return self


def reduce(scores: Scores | Parts, *reducers: Reducer) -> list[Any]:
    """Show all blocks of scores to reducers, and return their results in order.

    Parameters
    ----------
    scores : Scores or Parts
        Of any layout; the parts of scores where they were made before.
    *reducers : Reducer
        Each block is read, or computed, once for all of them.
    """
    parts = scores
    if not isinstance(parts, Parts):
        nearest = all(reducer.fusion in (None, "best") for reducer in reducers)
        parts = parts_of(parts, nearest=nearest)
        if any(reducer.lists_fewer for reducer in reducers):
            parts.few = parts.few and is_few(parts.size)
    workers = None
    if OPTIONS["client"] is not None and not parts.few and isinstance(parts, RowParts | TileParts):
        from bioeval.counting.cluster import Workers

        workers = Workers(OPTIONS["client"], parts)
        if isinstance(parts, RowParts) and parts.mates_at_hand is None:
            parts.mates = workers.mates()
    with nullcontext() if parts.few else threads_for(parts.scores):
        for reducer in reducers:
            reducer.prepare(parts)
        if parts.few:
            block = parts.whole()
            for reducer in reducers:
                reducer.add(block)
            report_rows(parts.scores.shape[0], parts.scores.shape[0])
        wanting: Sequence[Reducer] = () if parts.few else reducers
        while wanting:
            read = look_at(parts, wanting) if workers is None else [workers.look(wanting)]
            for copies in read:
                for reducer, counted in zip(wanting, copies, strict=True):
                    reducer.merge(counted)
            wanting = [reducer for reducer in wanting if reducer.finish_pass()]
        return [reducer.result() for reducer in reducers]


class OfEachBlock(Reducer):
    """What a function makes of the impostor scores of each block, in order; NaN is no score."""

    def __init__(self, function: Callable[[np.ndarray], Any], fusion: str | None = None):
        self.function, self.fusion = function, fusion
        self.made: dict[tuple[int, int], Any] = {}

    def prepare(self, parts: Parts) -> None:
        """Do nothing: each block is taken as it is."""

    def fresh(self) -> Self:
        """Return an empty copy, for a thread."""
        other = copy(self)
        other.made = {}
        return other

    def add(self, block: Block) -> None:
        """Call the function; a block that stands for its mirror image is taken twice."""
        for side, one in enumerate(block.sides()):
            one = one if self.fusion is None else one.by_person(self.fusion)
            self.made[block.number, side] = self.function(one.scores()[0])

    def merge(self, other: Self) -> None:
        """Take what a copy has."""
        self.made |= other.made

    def result(self) -> list[Any]:
        """Return all values in the order of the blocks."""
        return [self.made[key] for key in sorted(self.made)]


class Extent(Reducer):
    """The smallest and the largest finite score, and whether -inf and +inf are scores."""

    def __init__(self, fusion: str | None = None):
        self.fusion = fusion
        self.low, self.high, self.negative, self.positive = np.inf, -np.inf, False, False

    def prepare(self, parts: Parts) -> None:
        """Take the genuine scores."""
        self._take(parts.mates.scores(self.fusion)[0])

    def add(self, block: Block) -> None:
        """Take the scores of a block."""
        for side in block.sides():
            self._take((side if self.fusion is None else side.by_person(self.fusion)).scores()[0])

    def _take(self, scores: np.ndarray) -> None:
        low, high, negative, positive = extent_of(scores)
        self.low, self.high = min(self.low, low), max(self.high, high)
        self.negative |= negative
        self.positive |= positive

    def merge(self, other: Extent) -> None:
        """Take what a copy has found."""
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.negative |= other.negative
        self.positive |= other.positive

    def result(self) -> tuple[float, float, bool, bool]:
        """Return all four."""
        return self.low, self.high, self.negative, self.positive
