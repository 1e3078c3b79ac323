"""The tries of claims, which claims keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.scores.fusion_rules import Templates
from bioeval.scores.matrix import Scores


@dataclass(frozen=True, eq=False)
class Tries:
    """The tries of claims, by which the deciding try of a claim is found.

    - `scores`: the scores of which the claims were made
    - `enrolled`: the part with the tries as probes and the enrolled templates as gallery
    - `attempt` (int64 (tries,)): the number of the attempt to which each try belongs
    - `first_id`: the identity of the first attempt; identities of claimed subjects begin at 0
    - `templates`, `fusion`: the arguments of :func:`claim_scores`; fusion of distances
    """

    scores: Scores
    enrolled: Scores
    attempt: np.ndarray
    first_id: int
    templates: Templates
    fusion: str

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()  # a worker of a cluster needs no tries


def failures_of_tries(scores: Scores) -> tuple[int, int] | None:
    """Return the numbers of failed genuine and impostor comparisons of tries.

    None where the attempts have no tries.
    """
    tries: Tries | None = scores._tries
    if tries is None:
        return None
    rows = np.flatnonzero(np.isin(tries.attempt, scores.probe_ids - tries.first_id))
    columns = np.flatnonzero(np.isin(tries.enrolled.gallery_labels, scores.gallery_labels))
    return tries.enrolled.select(rows, columns).failures
