"""Scores computed from other scores of the same templates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from bioeval.base.kinds import Kind, larger_is_closer
from bioeval.base.memory import require_memory
from bioeval.scores.matrix import Scores

#: New scores, from the float64 scores of each system and from the rows that they are of.
Rule = Callable[[list[np.ndarray], np.ndarray], np.ndarray]


def derived(systems: Sequence[Scores], rule: Rule, kind: Kind, origin: str) -> Scores:
    """Return scores by a rule over the first system's templates.

    Where a system's policy is to reject failed comparisons, they enter as its farthest score; where
    all of a comparison failed, so has the new one. A score that is undefined though no system's is
    (infinities of both signs) is the farthest one.
    """
    first = systems[0]

    def made(blocks: Sequence[np.ndarray], index: np.ndarray) -> np.ndarray:
        entering = []
        for scores, block in zip(systems, blocks, strict=True):
            values = np.asarray(block, dtype=np.float64)
            if scores.nan == "reject":
                values = np.where(np.isnan(values), _farthest(scores.kind), values)
            entering.append(values)
        with np.errstate(all="ignore"):
            new = rule(entering, index)
        undefined = np.isnan(new) & ~np.any(np.isnan(entering), axis=0)
        new[undefined] = _farthest(kind)
        if first.nan == "reject":
            new[np.all(np.isnan(blocks), axis=0)] = np.nan
        return new

    if first.layout == "pairs":
        values = made([scores.values for scores in systems], np.arange(first.shape[0]))
    else:
        m, n = first.shape
        require_memory(8 * m * n, f"{m:,} x {n:,} new scores", "expected fewer templates")
        sources = [scores.cells for scores in systems]
        values, step = np.empty((m, n)), max(1, (1 << 19) // n)
        for low in range(0, m, step):
            rows = slice(low, min(low + step, m))
            values[rows] = made([source[rows] for source in sources], np.arange(m)[rows])
    return first.derived(values, kind, origin)


def _farthest(kind: str) -> float:
    """Return the score of a comparison that is accepted at no finite threshold."""
    return -math.inf if larger_is_closer(kind) else math.inf
