"""Some rows and columns of scores, and the jobs that counted a tally over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bioeval.evaluation.task_counts import Counts
from bioeval.scores.blocks import BlockReader
from bioeval.scores.matrix import Scores
from bioeval.tallies.counts import IdentificationTally, VerificationTally
from bioeval.tallies.identification_job import IdentificationJob
from bioeval.tallies.thresholds import to_user
from bioeval.tallies.verification_job import VerificationJob


@dataclass(frozen=True, eq=False)
class Region:
    """Some rows and columns of the scores."""

    scores: Scores
    rows: np.ndarray
    columns: np.ndarray

    @property
    def empty(self) -> bool:
        """Whether it has no cell."""
        return not (len(self.rows) and len(self.columns))

    @cached_property
    def part(self) -> Scores:
        """The scores of it alone."""
        m, n = self.scores.shape
        chosen = self.scores.select(_but_all(self.rows, m), _but_all(self.columns, n))
        return chosen.reading_own_columns()

    @cached_property
    def reader(self) -> BlockReader:
        """What reads its blocks."""
        return BlockReader(self.part)


def _but_all(index: np.ndarray, number: int) -> np.ndarray | None:
    """Return indices; None where they are all in order, which then are not copied one by one."""
    return None if len(index) == number and (np.diff(index) == 1).all() else index


#: Makes a job over a region.
Maker = Callable[[Region], Any]


def fuses(tally: Counts) -> bool:
    """Return whether a task fuses the templates of a subject."""
    if isinstance(tally, VerificationTally):
        return tally.templates == "multi"
    return isinstance(tally, IdentificationTally) and tally.rank_unit == "subject"


def jobs_of(tally: Counts) -> Maker:
    """Return what makes the job that counted a tally."""
    if isinstance(tally, VerificationTally):
        return verifies(tally)
    assert isinstance(tally, IdentificationTally)
    return ranks(tally)


def verifies(tally: VerificationTally) -> Callable[[Region], VerificationJob]:
    """Return what makes the job that counted a tally."""
    kind = tally.about.kind
    thresholds = None
    if tally.given is not None:
        user = to_user(tally.given.thresholds, kind)
        thresholds = user if len(user) < 2 or user[0] < user[-1] else user[::-1]
    fusion = {} if tally.templates == "single" else {"fusion": tally.fusion}

    def job(region: Region) -> VerificationJob:
        return VerificationJob(
            region.part, region.reader, templates=tally.templates, thresholds=thresholds, **fusion
        )

    return job


def ranks(tally: IdentificationTally) -> Callable[[Region], IdentificationJob]:
    """Return what makes the job that counted a tally."""
    fusion = "min" if tally.fusion == "none" else tally.fusion

    def job(region: Region) -> IdentificationJob:
        return IdentificationJob(
            region.part, region.reader, rank_unit=tally.rank_unit, fusion=fusion
        )

    return job
