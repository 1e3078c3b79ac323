"""Rows of scores ready to be counted by fold, straight from memory where that is possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from bioeval.scores.blocks import Block, BlockReader
from bioeval.scores.matrix import Scores

# Scores in one call of the kernels, where they are read from memory as they are.
SWEEP_VALUES = 1 << 24

# Called with the number of rows just done.
Tick = Callable[[int], None]

# Distances, where each row's own subject starts and stops, and the probe's own position.
Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


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

    def of_block(self, block: Block) -> Rows:
        """Return the rows of a block."""
        if not self.multi:
            return block.values, block.own_start, block.own_stop, block.self_position
        no_self = np.full(len(block.values), -1, dtype=np.int64)
        if self.fusion == "min":
            return (*block.nearest(), no_self)
        fused = block.fused(self.fusion)
        return fused.values, fused.own_start, fused.own_stop, no_self

    def sweep(self, tick: Tick | None) -> Iterator[tuple[slice, Rows]]:
        """Yield all rows, and which of the scores they are."""
        for rows, found in self._from_memory() if self.from_memory else self._from_blocks():
            yield rows, found
            if tick is not None:
                tick(rows.stop - rows.start)

    def _from_blocks(self) -> Iterator[tuple[slice, Rows]]:
        for block in self.reader:
            yield slice(block.low, block.low + len(block.values)), self.of_block(block)

    def _from_memory(self) -> Iterator[tuple[slice, Rows]]:
        gallery, base = self.reader.gallery, self.scores.base
        m, n = self.scores.shape
        step = max(1, SWEEP_VALUES // n)
        for low in range(0, m, step):
            rows = slice(low, min(low + step, m))
            self.reader.look(low, base[rows])
            yield rows, (
                base[rows], gallery.own_start[rows], gallery.own_stop[rows],
                gallery.self_position[rows],
            )  # fmt: skip

    def sample(self, number: int) -> list[Rows]:
        """Return about `number` rows of all over the scores, as blocks of rows."""
        m = self.scores.shape[0]
        if self.scores.row_chunk > 1:  # rows that are stored together are read together
            return [self.of_block(self.reader.block(0, min(m, number)))]
        rows = np.unique(np.linspace(0, m - 1, min(m, number)).astype(int)).tolist()
        return [self.of_block(self.reader.block(i, i + 1)) for i in rows]


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
