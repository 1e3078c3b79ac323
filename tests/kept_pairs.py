"""The comparisons that a convention of re-identification keeps."""

from typing import Any

import bioeval as be
from bioeval.tasks.reid.candidates import kept_scores
from bioeval.tasks.reid.convention import convention_of


def kept(scores: be.Scores, convention: str = "market1501", **rules: Any) -> be.Scores:
    """Return the scores without what the convention removes."""
    return kept_scores(scores, convention_of(convention, ("reid", "gom"), **rules))
