"""Kinds of scores, and which of two scores is closer."""

from __future__ import annotations

#: Kinds whose scores can be compared across rows; ``llr`` is a natural log-likelihood ratio.
VALUED = ("distance", "similarity", "llr")

KINDS = (*VALUED, "order")

#: Metrics of embeddings, which give distances.
METRICS = ("cosine", "l2", "l1", "linf", "bhattacharyya")

#: Scores of each kind in words.
PLURALS = {
    "distance": "distances",
    "similarity": "similarities",
    "llr": "log-likelihood ratios",
    "order": "orders",
}


def larger_is_closer(kind: str) -> bool:
    """Whether a claim is accepted at or above the threshold."""
    return kind in ("similarity", "llr")


def noun_of(kind: str) -> str:
    """Return a kind of score in words."""
    return PLURALS["llr"].removesuffix("s") if kind == "llr" else kind
