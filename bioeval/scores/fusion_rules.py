"""Rules that fuse the scores of several templates, or of several systems."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.errors import DataError, received
from bioeval.base.kinds import LARGER_IS_CLOSER, Kind

#: Whether a claim is compared with one template of the subject, or with all.
Templates = Literal["single", "multi"]

# Type checkers know K up to 9; a larger K works too.
_Plain = Literal["best", "mean", "worst", "median", "min", "max"]
_Kth = Literal["kth:1", "kth:2", "kth:3", "kth:4", "kth:5", "kth:6", "kth:7", "kth:8", "kth:9"]

#: Rules that fuse the scores of a subject's templates.
FusionRule = Literal[_Plain, _Kth]

#: The rules in words. `min` and `max` become `best` or `worst` by the kind of the scores (see
#: :func:`by_closeness`) before distances are fused.
FUSIONS = {
    "best": "the closest of the subject's templates decides: the smallest distance, the largest "
    "similarity",
    "mean": "the mean over the subject's templates: the exact sum of their scores, rounded once, "
    "over their number",
    "worst": "the farthest of the subject's templates decides: the largest distance, the smallest "
    "similarity",
    "median": "the median over the subject's templates",
    "kth:K": "the K-th closest of the subject's templates decides; a subject with fewer than K "
    "usable templates is not an attempt, and results say how many there are",
    "min": "the smallest score of the subject's templates decides: of distances the best, of "
    "similarities the worst",
    "max": "the largest score of the subject's templates decides: of distances the worst, of "
    "similarities the best",
}


class FewTemplates(NamedTuple):
    """Claims of people with fewer templates than a rule needs, which are no attempts.

    `claims` (int64 (k, 2)) are the identities of the row and of the column of each claim.
    """

    claims: np.ndarray
    needed: int


def parse_fusion(
    fusion: str, argument: str = "fusion", rules: Iterable[str] = FUSIONS
) -> tuple[str, int]:
    """Return the method and the order of a rule: ``"kth:2"`` is ``("kth", 2)``."""
    if isinstance(fusion, str) and fusion.startswith("kth:"):
        order = fusion[4:]
        if order.isdecimal() and 1 <= int(order) < 2**31:
            return "kth", int(order)
        raise DataError(
            f"`{argument}` is {received(fusion)}; expected kth:K, K a whole number >= 1"
        )
    require_choice(argument, fusion, tuple(rules))
    return fusion, 0


def order_of(fusion: str | None) -> int:
    """Return the number of templates that a rule needs: K for ``"kth:K"``, else 1."""
    return max(1, parse_fusion(fusion or "best")[1])


def by_closeness(fusion: str, kind: Kind) -> str:
    """Return the rule that holds for distances: "min" and "max" become best or worst."""
    best, worst = ("max", "min") if kind in LARGER_IS_CLOSER else ("min", "max")
    return {best: "best", worst: "worst"}.get(fusion, fusion)
