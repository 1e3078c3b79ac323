"""What counts scores: a counter takes blocks, and merges what others like it have counted.

A counter is filled in one of three ways, with the same counts: by blocks, in this thread
(:meth:`Counter.add`); by the kernel of whole rows, if it serves the counter
(:meth:`Counter.join_kernel`); or by the counts of other rows, made elsewhere
(:meth:`Counter.merge`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from bioeval.attempts.counters import CellCounter, ThresholdCounter
from bioeval.kernels.argument_groups import RankFacts
from bioeval.scores.blocks import Block, BlockReader

Result = TypeVar("Result", covariant=True)


class Counter(ABC, Generic[Result]):
    """Counts the scores of its `reader`."""

    reader: BlockReader

    #: Whether the kernel of whole rows may serve counters of this kind; see :meth:`join_kernel`.
    suits_kernel: ClassVar[bool] = False

    @property
    def counts_selections(self) -> bool:
        """Whether :mod:`bioeval.attempts.selections` counts the same, many selections at a time."""
        return False

    @property
    def fuses(self) -> bool:
        """Whether the templates of a subject are fused to one score."""
        return False

    @abstractmethod
    def add(self, block: Block) -> None:
        """Count a block of rows."""

    def add_pairs(self) -> None:
        """Count the listed pairs of scores that have no rows."""
        raise TypeError(f"a {type(self).__name__} counts rows, and listed pairs have none")

    @abstractmethod
    def result(self) -> Result:
        """Return the result, once all rows are counted."""

    def join_kernel(self, kernel: KernelCounters) -> bool:
        """Join the counters that the kernel of whole rows serves; False if it does not."""
        return False


class AttemptCounter(Counter[Result]):
    """A counter of attempts that the kernel of whole rows can fill."""

    suits_kernel = True

    templates: str
    farthest = False  # whether the templates of a subject are fused by the farthest
    genuine: list[np.ndarray]  # genuine scores, in pieces
    cells: CellCounter  # impostor scores by cell
    threshold_counter: ThresholdCounter | None  # impostor scores between the given thresholds


class RankCounter(Counter[Result]):
    """A counter of ranks that the kernel of whole rows can fill."""

    suits_kernel = True

    rank_unit: str
    facts: RankFacts


@dataclass(frozen=True, eq=False)
class KernelCounters:
    """Counters of one reader that the kernel of whole rows serves, by what it counts for them."""

    attempts: list[AttemptCounter[Any]] = field(default_factory=list)
    ranks: list[RankCounter[Any]] = field(default_factory=list)

    @property
    def farthest(self) -> bool:
        """Whether subjects are fused by the farthest template, as tiles alone can count them."""
        return any(x.farthest for x in self.attempts)

    @classmethod
    def of(cls, counters: Iterable[Counter[Any]]) -> KernelCounters | None:
        """Return some counters by kind; None if the kernel does not serve all of them."""
        kernel = cls()
        if not all(counter.join_kernel(kernel) for counter in counters):
            return None
        rules = {x.farthest for x in kernel.attempts if x.templates == "multi"}
        return kernel if len(rules) < 2 else None
