"""The tries of which claims were made, which claims keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.scores.arrays import Templates
from bioeval.scores.matrix import Scores


@dataclass(frozen=True, eq=False)
class Tries:
    """The tries of which claims were made, to find the deciding try of a claim.

    - `scores`: the scores that claims were made of
    - `enrolled`: the part with the tries as probes and the enrolled templates as gallery
    - `number` (int64 (tries,)): the attempt of each try
    - `first_id`: the identity of the first attempt; identities of claimed subjects begin at 0
    - `templates`, `fusion`: as of the claims
    """

    scores: Scores
    enrolled: Scores
    number: np.ndarray
    first_id: int
    templates: Templates
    fusion: str

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()  # a worker of a cluster needs no tries


def failures_of_tries(scores: Scores) -> tuple[int, int] | None:
    """Return how many genuine and impostor comparisons of tries failed; None of single tries."""
    tries: Tries | None = scores._tries
    if tries is None:
        return None
    rows = np.flatnonzero(np.isin(tries.number, scores.probe_ids - tries.first_id))
    columns = np.flatnonzero(np.isin(tries.enrolled.gallery_labels, scores.gallery_labels))
    return tries.enrolled.select(rows, columns).failures
