"""One scale: whether a number of one set of scores has a meaning on another.

A threshold, or a comparison of systems at one threshold, carries a number from one set to another.
Both need the same kind and, where both are known, the same metric, attempts and origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

from bioeval.base.errors import DataError
from bioeval.scores.matrix import Scores


class Scale(NamedTuple):
    """The scale of scores, each part in words; None where it is not known."""

    kind: str
    metric: str | None  # of embeddings; None for scores from elsewhere
    attempts: str | None  # what is accepted or rejected; None for pairs, which a program may fuse
    origin: str | None  # None for scores as they were read

    @classmethod
    def from_scores(cls, scores: Scores) -> Self:
        attempts = scores.claims_title or (None if scores.layout == "pairs" else "comparisons")
        origin = "fused scores" if scores.is_derived else None
        if scores.metric:
            origin = "distances of embeddings"
        return cls(scores.kind, scores.metric or None, attempts, origin)


def require_one_scale(first: Scores, second: Scores, what: str, names: Sequence[str]) -> None:
    """Raise :class:`DataError` where a number of the first scores means nothing to the second.

    `what` is the number, such as "a threshold", and `names` are those of both sets in messages.
    """
    for part, number, other in zip(
        Scale._fields, Scale.from_scores(first), Scale.from_scores(second), strict=True
    ):
        if number is not None and other is not None and number != other:
            raise DataError(
                f"{names[0]} and {names[1]} are on two scales: the {part} of {names[0]} is "
                f"{number!r}, and of {names[1]} {other!r}, so that {what} of one means nothing to "
                "the other; make both in the same way"
            )
