"""Impostor attempts of pairs of subjects between thresholds: lists, and their consumers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

# Cells of tables that are listed at once.
_ROOM = 1 << 20


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Numbers of attempts of pairs of subjects in each layer, between two thresholds.

    Attributes
    ----------
    left : int64 array, shape (s,)
        Subjects of one side.
    starts : int64 array, shape (s + 1,)
        Where the entries of each begin.
    right, layer : int32 arrays, shape (entries,)
    count : int64 array, shape (entries,)
    """

    left: np.ndarray
    starts: np.ndarray
    right: np.ndarray
    layer: np.ndarray
    count: np.ndarray

    @classmethod
    def of(
        cls, left: np.ndarray, right: np.ndarray, layer: np.ndarray, count: np.ndarray
    ) -> PairCounts:
        """Return entries in increasing order of left subjects."""
        changes = np.flatnonzero(left[1:] != left[:-1]) + 1
        first = np.concatenate([[0] if len(left) else [], changes]).astype(np.int64)
        whole = right.astype(np.int32), layer.astype(np.int32), count.astype(np.int64)
        return cls(left[first].astype(np.int64), np.append(first, len(left)), *whole)

    @property
    def left_of_each(self) -> np.ndarray:
        """The left subject of each entry."""
        return np.repeat(self.left, np.diff(self.starts))

    def renumbered(self, number: np.ndarray) -> PairCounts:
        """Return the same counts with other numbers for the subjects."""
        right = number[self.right].astype(np.int32)
        return replace(self, left=number[self.left].astype(np.int64), right=right)

    def in_layers(self, layer: np.ndarray, kept: np.ndarray | None = None) -> PairCounts:
        """Return the same counts in other layers; entries without a layer are left out."""
        if kept is None:
            return replace(self, layer=layer.astype(np.int32))
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        some = self.right[kept], layer[kept].astype(np.int32), self.count[kept]
        return PairCounts(self.left, starts, *some)


def listed_tables(tables: np.ndarray) -> Iterator[PairCounts]:
    """Yield the entries of tables, of shape (layers, subjects, subjects), in parts of rows."""
    layers, people, others = tables.shape
    step = max(1, _ROOM // max(layers * others, 1))
    for low in range(0, people, step):
        rows = np.moveaxis(tables[:, low : low + step], 0, 1)
        left, layer, right = np.nonzero(rows)
        yield PairCounts.of(left + low, right, layer, rows[left, layer, right])


class Sink(Protocol):
    """A consumer of impostor counts, with one layer between each two thresholds."""

    def add(self, pairs: PairCounts) -> None:
        """Add attempts between different subjects."""


@runtime_checkable
class MergingSink(Sink, Protocol):
    """A sink whose counts of blocks of rows add up."""

    def fresh(self) -> Self:
        """Return the same sink before it has counted anything."""

    def counts(self) -> Any:
        """Return the counts; see :mod:`bioeval.tallies.parts`."""

    def include_counts(self, found: Any) -> None:
        """Include the counts of all rows."""
