"""Scores computed from other scores of the same templates, whenever they are read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bioeval.base.kinds import Kind, larger_is_closer
from bioeval.scores.matrix import Scores, are_pairs

#: New scores, from the float64 scores of each system and from the rows that they are of.
Rule = Callable[[list[np.ndarray], np.ndarray], np.ndarray]


class DerivedRows:
    """A matrix computed row by row from those of one or several systems.

    Where a system's policy is to reject failed comparisons, they enter as its farthest score. A
    score that is undefined though no system's is (infinities of both signs) is the farthest one.
    """

    ndim = 2
    dtype = np.dtype(np.float64)

    def __init__(self, systems: Sequence[Scores], rule: Rule, kind: Kind):
        self.systems, self.rule, self.kind = systems, rule, kind
        self.shape = systems[0].shape
        self._sources = [scores._by_rows for scores in systems]

    def __getitem__(self, rows: Any) -> np.ndarray:
        index = np.arange(self.shape[0])[rows]
        return self.of([source[rows] for source in self._sources], index)

    def of(self, blocks: Sequence[np.ndarray], index: np.ndarray) -> np.ndarray:
        """Return the new scores of some rows."""
        rows_by_system = []
        for scores, block in zip(self.systems, blocks, strict=True):
            values = np.asarray(block, dtype=np.float64)
            if scores.nan == "reject":
                values = np.where(np.isnan(values), farthest(scores.kind), values)
            rows_by_system.append(values)
        with np.errstate(all="ignore"):
            made = self.rule(rows_by_system, index)
        undefined = np.isnan(made)
        if undefined.any():
            for values in rows_by_system:
                undefined &= ~np.isnan(values)
            made[undefined] = farthest(self.kind)
        return made

    def verify(self) -> None:
        """Raise :class:`DataError` where a mapped file of values is damaged."""
        for scores in self.systems:
            scores._verify()


def farthest(kind: str) -> float:
    """Return the score of a comparison that is accepted at no finite threshold."""
    return -math.inf if larger_is_closer(kind) else math.inf


def derived(
    systems: Sequence[Scores],
    rule: Rule,
    kind: Kind,
    origin: str,
    *,
    limit: int = Scores._memory_limit,
) -> Scores:
    """Return scores by a rule over the first system's templates, in blocks beyond `limit` bytes."""
    first = systems[0]
    rows = DerivedRows(systems, rule, kind)
    made: Scores
    if are_pairs(first):
        made = first.with_values(
            rows.of([scores.values for scores in systems], np.arange(first.shape[0])), kind
        )
    elif math.prod(rows.shape) * rows.dtype.itemsize > limit:
        made = first.with_values(rows, kind)._with(_verification=rows)
    else:
        step = max(1, (1 << 19) // rows.shape[1])
        values = np.empty(rows.shape)
        for low in range(0, len(values), step):
            values[low : low + step] = rows[low : low + step]
        rows.verify()
        made = first.with_values(values, kind)
    return made._with(_origin=origin, _metric="", _is_derived=True)
