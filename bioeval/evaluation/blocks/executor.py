"""Evaluations as lists of blocks: in this process or on a cluster, with a checkpoint or without."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from bioeval.base.errors import Argument, BioevalError, EngineError
from bioeval.base.executors import Pass, counts_here
from bioeval.base.progress import reporter
from bioeval.scores.matrix import Scores
from bioeval.tallies.parts import RowRangeCounts, merged_parts

if TYPE_CHECKING:
    from bioeval.evaluation.blocks.checkpoint import Checkpoint

# Comparisons of one block, about: a few tenths of a second of counting, against which sending and
# merging are little; and of embeddings, of whose product each takes ten times as long.
CELLS, CELLS_STREAMED = 1 << 28, 1 << 25


def row_ranges(row_pass: Pass, workers: int = 4, rows: int | None = None) -> list[tuple[int, int]]:
    """Return the blocks of rows of a pass.

    `rows` is how many rows a block has, rounded up to those that are read together; by default
    as many as make a block worth sending, and few enough for four blocks a worker.
    """
    m, n = row_pass.scores.shape[0], math.prod(row_pass.scores.shape[1:])
    step = row_pass.step
    if rows is None:
        most = (CELLS_STREAMED if row_pass.scores._streams else CELLS) // n
        rows = min(most, -(-m // (4 * workers)))
    size = max(1, -(-rows // step)) * step
    return [(low, min(low + size, m)) for low in range(0, m, size)]


class Workers(Protocol):
    """Interface of executors that compute blocks of rows."""

    distributes: bool

    @property
    def number(self) -> int:
        """Number of blocks that are computed at a time."""

    def parts(
        self, row_pass: Pass, ranges: Sequence[tuple[int, int]], *, merging: bool
    ) -> Iterator[RowRangeCounts]:
        """Yield the counts of blocks of rows, in any order."""

    def close(self) -> None:
        """Release the data sent."""


class LocalWorkers:
    """Computes blocks of rows in this process, one after the other."""

    distributes, number = False, 1

    def parts(
        self, row_pass: Pass, ranges: Sequence[tuple[int, int]], *, merging: bool
    ) -> Iterator[RowRangeCounts]:
        """Yield the counts of blocks of rows in order."""
        for low, high in ranges:
            yield RowRangeCounts(((low, high),), counts_here(row_pass, low, high))

    def close(self) -> None:
        """Do nothing: nothing was sent."""


class BlockExecutor:
    """Engine that counts blocks of rows with an executor and merges the counts.

    `rows` is how many a block has. With a checkpoint, each block that is done is kept there, and
    those that were kept before are not counted again.
    """

    def __init__(
        self, workers: Workers, rows: int | None = None, checkpoint: Checkpoint | None = None
    ):
        self.workers, self.rows, self.checkpoint = workers, rows, checkpoint
        self.distributes = workers.distributes

    def close(self) -> None:
        """Release the checkpoint and the data sent."""
        self.workers.close()
        if self.checkpoint is not None:
            self.checkpoint.close()

    def count(self, row_pass: Pass) -> Any:
        """Return the counts of all rows."""
        total, done, parts = row_pass.scores.shape[0], 0, []
        for part in self._parts(row_pass):
            parts.append(part)
            done += sum(high - low for low, high in part.rows)
            reporter()(done, total)
        return merged_parts(parts).counts

    def _parts(self, row_pass: Pass) -> Iterator[RowRangeCounts]:
        """Yield the counts of all blocks, in any order."""
        if self.checkpoint is None:
            ranges = row_ranges(row_pass, self.workers.number, self.rows)
            yield from self.workers.parts(row_pass, ranges, merging=True)
            return
        kept = self.checkpoint.begin(row_pass, row_ranges(row_pass))
        yield from kept.parts()
        for part in self.workers.parts(row_pass, kept.missing, merging=False):
            kept.keep(part)
            yield part


# Arguments of a call that its counts do not depend on. A key is a secret, and not to be written.
_ASIDE = ("client", "checkpoint", "progress", "protocol", "key", "band")


def executor_of_call(
    client: Any, checkpoint: Any, call: str, arguments: Mapping[str, Any]
) -> BlockExecutor:
    """Return the executor of a call."""
    workers: Workers = LocalWorkers()
    if client is not None:
        from bioeval.evaluation.blocks.cluster import ClusterWorkers

        workers = ClusterWorkers(client)
    scores: dict[str, Scores] = {}
    options = {}
    for name, value in arguments.items():
        systems = value if isinstance(value, Mapping) else {name: value}
        if value is not None and all(isinstance(x, Scores) for x in systems.values()):
            scores |= systems
        elif name not in _ASIDE:
            options[name] = value
    if workers.distributes and any(x.layout in ("pairs", "top-k") for x in scores.values()):
        raise EngineError(
            "lists of pairs and top-K lists are counted in one process, and cannot be "
            "distributed: leave out ",
            Argument("client"),
        )
    if checkpoint is None or not scores:  # nothing to keep: the function refuses what is no scores
        return BlockExecutor(workers)
    from bioeval.evaluation.blocks.checkpoint import Checkpoint

    card = arguments.get("protocol", "")
    known = card is None or isinstance(card, str) and card in ("", "auto")
    if known:
        text = card or ""
    else:
        from bioeval.protocol.loading import load

        text = repr(load(card))
    if "convention" in options:  # a card too, whose file may be changed
        options["convention"] = _loaded(options["convention"])
    kept = Checkpoint(checkpoint, call=call, scores=scores, protocol=text, options=options)
    return BlockExecutor(workers, checkpoint=kept)


def _loaded(card: Any) -> Any:
    """Return a card; what is none is left for the function to refuse."""
    from bioeval.protocol.loading import load

    try:
        return load(card)
    except BioevalError:
        return card
