"""Numbers of verification attempts within given thresholds, for studies that need only these."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.base.kinds import larger_is_closer
from bioeval.scores.blocks import BlockReader
from bioeval.scores.matrix import Scores
from bioeval.tallies.sweep import run_jobs
from bioeval.tallies.thresholds import to_internal
from bioeval.tallies.verification_job import VerificationJob


@dataclass(frozen=True)
class AttemptsWithin:
    """Numbers of attempts, and how many of them are accepted at each threshold.

    Attributes
    ----------
    genuine, impostor : int64 array, shape (thresholds,)
        Attempts accepted.
    genuine_attempts, impostor_attempts : int
    """

    genuine: np.ndarray
    impostor: np.ndarray
    genuine_attempts: int
    impostor_attempts: int


def attempts_within(
    scores: Scores, thresholds: np.ndarray, templates: str, fusion: str
) -> AttemptsWithin:
    """Count the attempts of verification accepted at increasing thresholds, in one sweep."""
    reader = BlockReader(scores)
    job = VerificationJob(scores, reader, templates=templates, fusion=fusion, thresholds=thresholds)
    (tally,) = run_jobs(scores, reader, [job])
    assert tally.given is not None
    at = to_internal(thresholds, scores.kind)
    within = np.searchsorted(tally.genuine, at, side="right"), tally.given.at_most(at)
    if larger_is_closer(scores.kind):
        within = within[0][::-1], within[1][::-1]
    return AttemptsWithin(*within, len(tally.genuine), tally.impostor.total)
