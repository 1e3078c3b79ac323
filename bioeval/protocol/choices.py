"""Accepted words that several tasks of a card share."""

from __future__ import annotations

from bioeval.protocol.fields import Choice

FUSIONS = {
    "min": Choice("the closest of the subject's templates decides (for similarities, the highest)"),
    "mean": Choice("the mean over the subject's templates, in float64"),
    "max": Choice("the farthest of the subject's templates decides (for similarities, the lowest)"),
    "median": Choice("the median over the subject's templates"),
    "kth:K": Choice(
        "the K-th closest of the subject's templates decides; a subject with fewer than K usable "
        "templates is no attempt"
    ),
}

RANK_UNITS = {
    "template": Choice(
        "the candidate list holds every template, so a subject may be on it more than once"
    ),
    "subject": Choice("the candidate list holds each subject once, at its fused score"),
}

TIES = {
    "pessimistic": Choice("a non-mate exactly as close as the mate ranks before it"),
    "optimistic": Choice("a non-mate exactly as close as the mate ranks after it"),
    "stable": Choice(
        "equal scores keep the order of the gallery's columns (a subject has the column of "
        "its first best template)"
    ),
    "expected": Choice("the mean over all orders of the tied, so counts may hold fractions"),
}

GALLERIES = {
    "all": Choice("every template of the gallery is enrolled"),
    "single": Choice(
        "one template of each subject, drawn uniformly for each probe anew; rates are the exact "
        "means over all such galleries, and counts may hold fractions"
    ),
}
