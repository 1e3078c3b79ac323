"""Rows of scores ready to be counted by fold, straight from memory where that is possible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from typing import Self

import numpy as np

from bioeval.kernels.folds import Rows
from bioeval.scores.aliases import writable_alias
from bioeval.scores.blocks import Block, BlockReader
from bioeval.scores.matrix import Scores

# Scores in one call of the kernels, where they are read from memory as they are.
SWEEP_VALUES = 1 << 24

# Fused scores that are kept for the next sweep, at most.
KEPT_VALUES = 1 << 22

# Called with the number of rows just done.
Tick = Callable[[int], None]


class RowReader:
    """Reads rows of distances: of templates, or of subjects at their fused distance.

    While `from_memory` is set, rows are handed on as they are in memory, without looking for failed
    comparisons; set it to False where there turn out to be some.
    """

    def __init__(self, reader: BlockReader, templates: str, fusion: str):
        self.reader, self.scores = reader, reader.scores
        self.multi, self.fusion = templates == "multi", fusion
        self.from_memory = (
            not self.multi and _is_plain(self.scores) and reader.gallery.order is None
        )
        self.looked_at = 0
        self.kept: list[tuple[slice, Rows]] = []

    def of_block(self, block: Block) -> Rows:
        """Return the rows of a block."""
        if not self.multi:
            return Rows(block.values, block.own_start, block.own_stop, block.self_position)
        no_self = np.full(len(block.values), -1, dtype=np.int64)
        if self.fusion == "min":
            return Rows(*block.nearest(), no_self)
        fused = block.fused(self.fusion)
        return Rows(fused.values, fused.own_start, fused.own_stop, no_self)

    def sweep(self, tick: Tick | None) -> Iterator[tuple[slice, Rows]]:
        """Yield all rows, and which of the scores they are."""
        if self.kept:
            swept: Iterable[tuple[slice, Rows]] = self.kept
        elif self.from_memory:
            swept = self._from_memory(0, self.scores.shape[0])
        else:
            swept = map(self._placed, self.reader)
        kept = []
        for rows, found in swept:
            yield rows, found
            if self.multi and self.scores.shape[0] * found.values.shape[1] <= KEPT_VALUES:
                kept.append((rows, found))
            if tick is not None:
                tick(rows.stop - rows.start)
        self.kept = kept

    def for_rows(self, low: int, high: int) -> Self:
        """Return a reader of rows ``low:high`` that has seen none of them."""
        rows = copy(self)
        rows.reader, rows.kept = self.reader.for_rows(low, high), []
        return rows

    def sweep_of(self, low: int, high: int) -> Iterator[tuple[slice, Rows]]:
        """Yield rows ``low:high``, of which `low` starts a block."""
        if self.from_memory:
            return self._from_memory(low, high)
        return map(self._placed, self.reader.blocks_of(low, high))

    def _placed(self, block: Block) -> tuple[slice, Rows]:
        return slice(block.low, block.low + len(block.values)), self.of_block(block)

    def _from_memory(self, first: int, last: int) -> Iterator[tuple[slice, Rows]]:
        step = max(1, SWEEP_VALUES // self.scores.shape[1])
        for low in range(first, last, step):
            rows = slice(low, min(low + step, last))
            if low >= self.looked_at:  # for sentinels, once
                self.reader.look(low, self.scores.base[rows])
                self.looked_at = rows.stop
            yield rows, self._in_memory(rows)

    def _in_memory(self, rows: slice | np.ndarray) -> Rows:
        gallery = self.reader.gallery
        return Rows(
            writable_alias(self.scores.base[rows]), gallery.own_start[rows],
            gallery.own_stop[rows], gallery.self_position[rows],
        )  # fmt: skip

    def sample(self, number: int) -> list[Rows]:
        """Return about `number` rows of all over the scores, as blocks of rows."""
        m = self.scores.shape[0]
        if self.scores.row_chunk > 1:  # rows that are stored together are read together
            return [self.of_block(self.reader.block(0, min(m, number)))]
        rows = np.unique(np.linspace(0, m - 1, min(m, number)).astype(int))
        if self.from_memory:
            return [self._in_memory(rows)]
        return [self.of_block(self.reader.block(i, i + 1)) for i in rows.tolist()]


def _is_plain(scores: Scores) -> bool:
    """Say whether the kernels can read the scores from memory as they are."""
    base = scores.base
    whole = not scores.selects_columns and not scores.selects_rows
    return (
        whole
        and isinstance(base, np.ndarray)
        and base.dtype in (np.dtype(np.float32), np.dtype(np.float64))
        and scores.kind == "distance"
        and not scores.exclude
        and not scores.has_mask
        and base.dtype.isnative
        and bool(base.flags.c_contiguous and base.flags.aligned and base.flags.writeable)
    )
