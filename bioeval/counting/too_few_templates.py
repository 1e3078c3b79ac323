"""Claims of people with too few templates for the fusion rule ``"kth:K"``: they are no attempts."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from bioeval.counting.parts import Parts
from bioeval.counting.reduce import Reducer, reduce
from bioeval.scores.blocks import Block
from bioeval.scores.distances import order_of
from bioeval.scores.matrix import Scores


class ClaimsLost(NamedTuple):
    """The claims of people with fewer templates than `needed`."""

    genuine: int
    impostor: int
    needed: int


#: For a fusion rule that loses no claim.
NO_CLAIMS_LOST = ClaimsLost(0, 0, 0)


class TooFewTemplates(Reducer):
    """Numbers of genuine and impostor claims with fewer comparisons than the rule needs.

    `needed` is the K of ``"kth:K"``.
    """

    sums = ("impostor",)

    def __init__(self, fusion: str):
        self.fusion = fusion  # read by `reduce`, for which it may be None
        self.rule = fusion  # the same, never None
        self.needed = order_of(fusion)

    @classmethod
    def counters(cls, fusion: str | None) -> list[Self]:
        """Return the counter of the claims that a rule loses; none if the rule loses no claim."""
        return [cls(fusion)] if fusion is not None and order_of(fusion) > 1 else []

    def prepare(self, parts: Parts) -> None:
        mates = parts.mates
        self.impostor = np.zeros((), dtype=np.int64)
        self.genuine = _lost(mates.fused("best"), mates.fused(self.rule))

    def add(self, block: Block) -> None:
        for side in block.sides():
            nearest = side.by_person("best")
            fused = side.by_person(self.rule)
            self.impostor += _lost(nearest.values, fused.values)

    def result(self) -> ClaimsLost:
        return ClaimsLost(self.genuine, int(self.impostor), self.needed)


def claims_lost(scores: Scores, fusion: str | None) -> ClaimsLost:
    """Return the claims that a rule of fusion loses, counted in a pass of their own."""
    counters = TooFewTemplates.counters(fusion)
    return reduce(scores, *counters)[0] if counters else NO_CLAIMS_LOST


def _lost(nearest: np.ndarray, fused: np.ndarray) -> int:
    return int(np.count_nonzero(np.isnan(fused) & ~np.isnan(nearest)))
