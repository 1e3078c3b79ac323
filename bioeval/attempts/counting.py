"""What counts scores: a counter takes blocks of rows, and gives a result at the end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from bioeval.scores.blocks import Block, BlockReader

Result = TypeVar("Result", covariant=True)


class Counter(ABC, Generic[Result]):
    """Counts the scores of its `reader`."""

    reader: BlockReader

    @property
    def of_tiles(self) -> bool:
        """Whether what it counts adds up over tiles of rows and columns."""
        return False

    @abstractmethod
    def add(self, block: Block) -> None:
        """Count a block of rows."""

    @abstractmethod
    def result(self) -> Result:
        """Return the result, once all rows are counted."""
