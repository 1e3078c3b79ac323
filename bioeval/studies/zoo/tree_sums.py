"""Sums of floats that are the same in any order of the blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from bioeval import MergeError


@dataclass(frozen=True, eq=False)
class TreeSums:
    """Sums of float64 arrays, one for each chunk of rows, exact to the last bit in any order.

    Floats do not add alike in any order. The chunks are therefore the leaves of a binary tree, and
    two sums are added where they are those of both halves of a node. Keys are ``"level,index"``:
    node ``index`` of a level holds chunk ``index << level`` and those that follow, ``1 << level``
    in all.
    """

    nodes: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, chunk: int, sums: np.ndarray) -> TreeSums:
        """Return the sums of one chunk."""
        return cls({f"0,{chunk}": sums})

    def merge(self, other: TreeSums) -> TreeSums:
        """Return the sums of the chunks of both; the chunks must be distinct."""
        nodes = dict(self.nodes)
        for key, sums in other.nodes.items():
            level, index = map(int, key.split(","))
            while (beside := nodes.pop(f"{level},{index ^ 1}", None)) is not None:
                sums = _added(sums, beside)
                level, index = level + 1, index // 2
            if f"{level},{index}" in nodes:
                raise MergeError("sums of the same rows are in both counts, and would count twice")
            nodes[f"{level},{index}"] = sums
        return TreeSums(nodes)

    def total(self) -> np.ndarray:
        """Return the sums of all chunks, the larger nodes first."""
        places = sorted((-int(key.split(",")[0]), key) for key in self.nodes)
        return reduce(_added, (self.nodes[key] for _, key in places))


def _added(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):  # who reads the sums looks for infinities
        return left + right


CLASSES = {"TreeSums": TreeSums}

#: Of a checkpoint alone.
NODES = ()
