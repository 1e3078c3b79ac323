"""Confidence intervals of the result of a task, from its tally and the subjects of its attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bioeval.scores.blocks import BlockReader
from bioeval.scores.matrix import Scores
from bioeval.stats.identification import closed_set_intervals, open_set_intervals
from bioeval.stats.options import IntervalOptions
from bioeval.stats.verification import verification_intervals
from bioeval.tallies.by_subject import SubjectAttempts, require_people
from bioeval.tallies.counts import IdentificationTally, VerificationTally
from bioeval.tallies.verification_job import VerificationJob

if TYPE_CHECKING:
    import xarray as xr


def with_verification_intervals(
    dataset: xr.Dataset,
    tally: VerificationTally,
    job: VerificationJob,
    reader: BlockReader,
    options: IntervalOptions,
) -> xr.Dataset:
    """Return a result of verification with confidence intervals.

    Raises
    ------
    ProtocolError
        If the method needs the subjects of the attempts and they are not known.
    """
    attempts = None
    if options.by_subject:
        require_people(job.scores, options.method)
        attempts = SubjectAttempts(job, reader)
    return verification_intervals(dataset, tally, attempts, options)


def with_identification_intervals(
    dataset: xr.Dataset, tally: IdentificationTally, scores: Scores, options: IntervalOptions
) -> xr.Dataset:
    """Return a result of open-set or closed-set identification with confidence intervals.

    Raises
    ------
    ProtocolError
        If the method needs the subjects of the probes and they are not known.
    """
    subjects = None
    if options.by_subject:
        require_people(scores, options.method)
        subjects = scores.codes.probe
    add = closed_set_intervals if "cms" in dataset else open_set_intervals
    return add(dataset, tally, subjects, options)
