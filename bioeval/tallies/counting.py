"""What counts scores, and where: counters, which take blocks, and passes, which executors run.

A counter is filled in one of three ways, with the same counts: by blocks, in this thread
(:meth:`Counter.add`); by the kernel of whole rows, if it serves the counter
(:meth:`Counter.join_kernel`); or by the counts of other rows, made elsewhere
(:meth:`Counter.merge`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np

from bioeval.base.executors import Pass, executor
from bioeval.base.progress import rows_reported_to
from bioeval.kernels.argument_groups import RawRows
from bioeval.scores.blocks import Block, BlockReader
from bioeval.tallies.parts import ConcatenatedRows, Counts, merged

if TYPE_CHECKING:
    from bioeval.tallies.identification_counter import IdentificationCounter
    from bioeval.tallies.verification_counter import VerificationCounter

Result = TypeVar("Result", covariant=True)


class Counter(ABC, Generic[Result]):
    """Counts the scores of its `reader`, of some rows or of all.

    A :meth:`fresh` counter counts other rows, in another thread, process or run. What it has
    counted, its :meth:`counts`, is merged into this one, in the order of the rows.
    """

    reader: BlockReader

    @property
    def depends_on(self) -> Sequence[np.ndarray]:
        """Arrays besides the scores that the counts depend on, such as claims that were drawn."""
        return ()

    @property
    def fuses(self) -> bool:
        """Whether the templates of a subject are fused to one score."""
        return False

    @abstractmethod
    def fresh(self) -> Self:
        """Return the same counter before it has counted anything."""

    @abstractmethod
    def add(self, block: Block) -> None:
        """Count a block of rows."""

    def add_pairs(self) -> None:
        """Count the listed pairs of scores that have no rows."""
        raise TypeError(f"a {type(self).__name__} counts rows, and listed pairs have none")

    @abstractmethod
    def counts(self, low: int, high: int) -> dict[str, Counts]:
        """Return what was counted of rows ``low:high``; see :mod:`bioeval.tallies.parts`."""

    @abstractmethod
    def merge(self, other: dict[str, Counts], low: int, high: int) -> None:
        """Add the :meth:`counts` of rows ``low:high``, which follow those that are counted here."""

    @abstractmethod
    def result(self) -> Result:
        """Return the result, once all rows are counted."""

    def join_kernel(self, kernel: KernelCounters) -> bool:
        """Join the counters that the kernel of whole rows serves; False if it does not."""
        return False


class RawRowCounter(Counter[Result]):
    """A counter that takes rows as they lie in memory, besides what the kernel counts."""

    @abstractmethod
    def add_raw(self, low: int, raw: RawRows, columns: np.ndarray, block: Block | None) -> None:
        """Count the rows from `low` on: of their block if there is one, else of `columns`."""

    def join_kernel(self, kernel: KernelCounters) -> bool:
        """Join the counters of raw rows."""
        kernel.raw.append(self)
        return True


@dataclass(frozen=True, eq=False)
class KernelCounters:
    """Counters of one reader that the kernel of whole rows serves, by what it counts for them."""

    verification: list[VerificationCounter] = field(default_factory=list)
    identification: list[IdentificationCounter] = field(default_factory=list)
    raw: list[RawRowCounter[Any]] = field(default_factory=list)

    @classmethod
    def of(cls, counters: Iterable[Counter[Any]]) -> KernelCounters | None:
        """Return some counters by kind; None if the kernel does not serve all of them."""
        kernel = cls()
        if all(counter.join_kernel(kernel) for counter in counters):
            return kernel
        return None


@rows_reported_to(None)
def counts_of(
    what: str,
    reader: BlockReader,
    count: Callable[[Iterable[Block]], Any],
    depends_on: Sequence[np.ndarray] = (),
) -> Any:
    """Return the sum over all blocks of the counts of a function.

    - `what`: what is counted, in a word or two
    - `count`: counts some blocks, as :func:`bioeval.tallies.parts.merged` takes it. It changes
      nothing, and can be sent to another process
    - `depends_on`: what the counts depend on besides the scores and the options of the evaluation
    """
    chosen = executor()
    if chosen is None or not reader.of_rows:
        return count(reader)
    return chosen.count(BlockPass(what, reader, count, depends_on))


class RowPass(Pass):
    """A pass over all rows, in the blocks of its `reader`."""

    reader: Any

    @property
    def step(self) -> int:
        """Number of rows that are read together."""
        return self.reader.rows_per_block()

    merged = staticmethod(merged)

    @staticmethod
    def watched(reader: BlockReader, low: int, high: int) -> dict[str, ConcatenatedRows]:
        """Return the findings of a reader about failure codes in rows ``low:high``."""
        if reader.scores._streams:
            return {}
        watch, rows = reader.watch, slice(low, high)
        codes = {"value": watch.value[rows], "count": watch.count[rows], "sample": watch.sample}
        return {name: ConcatenatedRows.of(array) for name, array in codes.items()}

    def include_watched(self, watched: dict[str, ConcatenatedRows]) -> None:
        """Give the reader the sentinels that were seen in all rows."""
        for name, joined in watched.items():
            setattr(self.reader.watch, name, joined.array())


class BlockPass(RowPass):
    """Counts of a function, over blocks of rows that may be read in any order."""

    def __init__(
        self,
        what: str,
        reader: BlockReader,
        count: Callable[[Iterable[Block]], Any],
        depends_on: Sequence[np.ndarray] = (),
    ):
        self.what, self.reader, self.scores, self.count = what, reader, reader.scores, count
        self.depends_on = depends_on

    def part(self, low: int, high: int) -> Any:
        """Count rows ``low:high``."""
        return self.count(self.reader.for_rows(low, high).blocks_of(low, high))
